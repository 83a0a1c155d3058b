"""Specimens: the files of ``fixtures/documents``, as customers would photograph or download them.

None is a real document, and each says so.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import replace
from datetime import date, timedelta
from functools import cache
from itertools import pairwise

from conformance.contract.data import FIXTURES
from conformance.exchange.clock import now
from conformance.exchange.forms import File

SIDES = ("FRONT", "BACK")

SPECIMENS: Mapping[tuple[str, str | None], str] = {
    ("PASSPORT", None): "passport.jpg",
    ("DRIVERS_LICENSE", "FRONT"): "drivers-license-front.jpg",
    ("DRIVERS_LICENSE", "BACK"): "drivers-license-back.jpg",
    ("NATIONAL_ID", "FRONT"): "national-id-front.png",
    ("NATIONAL_ID", "BACK"): "national-id-back.png",
    ("UTILITY_BILL", None): "utility-bill.pdf",
    ("ELECTRICITY_BILL", None): "electricity-bill.pdf",
    ("RENT_OR_LEASE_AGREEMENT", None): "rent-or-lease-agreement.pdf",
    ("BANK_STATEMENT", None): "bank-statement.pdf",
    ("TAX_RETURN", None): "tax-return.pdf",
}
"""The file of each kind of document and, where it has two, of each of its sides."""

PROOFS_OF_ADDRESS = (
    "UTILITY_BILL",
    "ELECTRICITY_BILL",
    "RENT_OR_LEASE_AGREEMENT",
    "BANK_STATEMENT",
    "TAX_RETURN",
)

MEDIA_TYPES: Mapping[str, str] = {
    ".pdf": "application/pdf",
    ".jpg": "image/jpeg",
    ".png": "image/png",
}
"""The media type of a file by its ending."""

DATE = b"0000-00-00"
"""What stands in the proofs of address where their date has to be."""

_STAND_IN = "tax-return.pdf"
_LINE = b"%" + b" " * 98 + b"\n"
_MAX_JPEG_COMMENT = 65_537
"""The length of the longest comment in a JPEG file, with its marker."""

_PNG_END = 12
"""The length of the last chunk of a PNG file, which is empty."""


def has_sides(kind: str) -> bool:
    """Return whether a kind of document is photographed from both sides."""
    return (kind, SIDES[0]) in SPECIMENS


def specimen(kind: str, side: object = None) -> File:
    """Return the file of a document; proofs of address are dated in the month before this one.

    ``side`` is that of a document with two; the front where it is none of them. For a kind that
    the specification does not name a file stands in that is a document of some kind.
    """
    shown = side if side in SIDES else SIDES[0]
    place = (kind, str(shown) if has_sides(kind) else None)
    name = SPECIMENS.get(place, _STAND_IN)
    content = _content(name).replace(DATE, str(_last_month()).encode())
    return File(name, MEDIA_TYPES[name[name.rindex(".") :]], content)


def padded(file: File, size: int) -> File:
    """Return a file of ``size`` bytes that shows the same page.

    What fills it up nobody sees: comments between the last object of a PDF file and its table of
    objects, so that only the place of the table changes, comments behind the start of a JPEG file,
    and a text before the end of a PNG file.
    """
    fill = {"application/pdf": _padded_pdf, "image/jpeg": _padded_jpeg, "image/png": _padded_png}
    return replace(file, content=fill[file.media_type](file.content, size))


def _padded_pdf(content: bytes, size: int) -> bytes:
    head, xref, rest = content.rpartition(b"xref\n0 ")
    table, start, _ = rest.rpartition(b"startxref\n")
    # The place is written behind the filling, and its digits are a part of the size.
    digits = len(str(size))
    end = b"\n%%EOF\n"
    filling = size - len(head) - len(xref + table + start) - digits - len(end)
    lines = _LINE * (filling // len(_LINE)) + b"\n" * (filling % len(_LINE))
    place = str(len(head) + filling).rjust(digits, "0").encode()
    return head + lines + xref + table + start + place + end


def _padded_jpeg(content: bytes, size: int) -> bytes:
    filling = size - len(content)
    count = -(-filling // _MAX_JPEG_COMMENT)
    ends = [filling * number // count for number in range(count + 1)]
    comments = [_jpeg_comment(end - start) for start, end in pairwise(ends)]
    return b"".join([content[:2], *comments, content[2:]])


def _jpeg_comment(size: int) -> bytes:
    # The length counts itself, and not the marker before it.
    return b"\xff\xfe" + (size - 2).to_bytes(2, "big") + b" " * (size - 4)


def _padded_png(content: bytes, size: int) -> bytes:
    head, end = content[:-_PNG_END], content[-_PNG_END:]
    frame = 12
    text = b"tEXt" + b"Comment\0".ljust(size - len(content) - frame, b" ")
    crc = zlib.crc32(text).to_bytes(4, "big")
    return head + (len(text) - 4).to_bytes(4, "big") + text + crc + end


@cache
def _content(name: str) -> bytes:
    return (FIXTURES / "documents" / name).read_bytes()


def _last_month() -> date:
    """Return the first day of the last month: the same bytes for a month, and never too old."""
    return (now().date().replace(day=1) - timedelta(days=1)).replace(day=1)
