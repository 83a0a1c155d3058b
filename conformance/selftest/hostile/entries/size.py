"""Targets whose answers are too large, or become it when they are unpacked."""

from __future__ import annotations

import gzip
import zlib
from functools import cache

from conformance.selftest.hostile.entry import BROKEN, OPEN, UNDECIDED, Entry, Expected, front
from conformance.selftest.hostile.front import (
    READ_CUSTOMER,
    content,
    goes_on,
    json_body,
    only,
    sends,
)
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import RequirementVerdict

MEBIBYTE = 1 << 20


def bomb(mebibytes: int = 512) -> bytes:
    """Return gzip of that many MiB of spaces, made of one part repeated."""
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    part = packer.compress(b" " * MEBIBYTE) + packer.flush(zlib.Z_FULL_FLUSH)
    return b"\x1f\x8b\x08\0\0\0\0\0\0\x03" + part * mebibytes + packer.flush()


@cache
def _nested() -> bytes:
    return gzip.compress(bomb(), mtime=0)


NESTED_BOMB = _nested()
"""512 MiB, packed by gzip twice into some KiB."""

_LOST = Expected((OPEN,), {"CUS-005": Reason.TARGET_LOST}, seconds=8)
_JSON = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"

ENTRIES = (
    Entry(
        "body-above-the-bound",
        "Announces and sends 9 MB for a customer.",
        front(lambda: only(READ_CUSTOMER, content(b'"' + b"x" * 9_000_000 + b'"'))),
        _LOST,
        "customer",
    ),
    Entry(
        "body-below-the-bound",
        "Sends a customer with a member of 8,000,000 characters.",
        front(lambda: only(READ_CUSTOMER, json_body(lambda b: {**b, "note": "x" * 8_000_000}))),
        Expected((*UNDECIDED, 0), seconds=8),
        "customer",
    ),
    Entry(
        "body-of-many-members",
        "Sends a customer with 30,000 members that nobody knows.",
        front(
            lambda: only(
                READ_CUSTOMER,
                json_body(lambda b: {**b, **{f"member{n}": n for n in range(30_000)}}),
            )
        ),
        Expected((*UNDECIDED, 0), report_megabytes=2),
        "customer",
    ),
    Entry(
        "body-without-end",
        "Sends a customer without end.",
        front(lambda: only(READ_CUSTOMER, goes_on(_JSON + b"\r\n", b" " * 65536))),
        _LOST,
        "customer",
    ),
    Entry(
        "one-header-without-end",
        "Sends one header without end.",
        front(lambda: only(READ_CUSTOMER, goes_on(_JSON + b"x-long: ", b"x" * 65536))),
        _LOST,
        "customer",
        {"timing": {"request": 1.0}},
    ),
    Entry(
        "gzip-bomb",
        "Sends 512 MiB in half a MiB of gzip.",
        front(lambda: only(READ_CUSTOMER, content(bomb(), content_encoding="gzip"))),
        _LOST,
        "customer",
    ),
    Entry(
        "nested-gzip-bomb",
        "Sends 512 MiB in some KiB of gzip in gzip.",
        front(lambda: only(READ_CUSTOMER, content(NESTED_BOMB, content_encoding="gzip, gzip"))),
        _LOST,
        "customer",
    ),
    Entry(
        "nested-gzip-bomb-in-capitals",
        "Sends the same, and names the encodings in capitals and in two headers.",
        front(
            lambda: only(
                READ_CUSTOMER,
                sends(
                    _JSON
                    + b"Content-Encoding: GZIP\r\nContent-Encoding: x-gzip , gzip\r\n"
                    + b"content-length: %d\r\n\r\n" % len(NESTED_BOMB)
                    + NESTED_BOMB
                ),
            )
        ),
        Expected(
            UNDECIDED,
            {"CUS-005": (Reason.TARGET_LOST, RequirementVerdict.FAILED, Reason.PRECONDITION)},
        ),
        "customer",
    ),
    Entry(
        "many-encodings",
        "Names gzip 5,000 times for a body that is none.",
        front(lambda: only(READ_CUSTOMER, content(b"{}", content_encoding="gzip," * 5_000))),
        Expected(
            UNDECIDED,
            {"CUS-005": (Reason.TARGET_LOST, RequirementVerdict.FAILED, Reason.PRECONDITION)},
        ),
        "customer",
    ),
    Entry(
        "large-message-of-an-error",
        "Explains each refusal in 4 MB.",
        front(
            lambda: only(
                READ_CUSTOMER,
                content(b'{"code": "' + b"A" * 4_000_000 + b'", "message": "' + b"\\n" * 9 + b'"}'),
            )
        ),
        Expected((BROKEN, OPEN), seconds=8),
        "customer",
    ),
)
