"""The files of fixtures/documents have the type of their ending, and are small."""

from __future__ import annotations

import re
import struct
import zlib
from datetime import UTC, date, datetime
from pathlib import Path

import pytest

from conformance.contract.data import FIXTURES
from conformance.selftest.collection import ROOT
from conformance.testdata.documents import (
    DATE,
    MEDIA_TYPES,
    PROOFS_OF_ADDRESS,
    SPECIMENS,
    padded,
    specimen,
)

FILES = sorted((FIXTURES / "documents").iterdir())
MAX_FILE_BYTES = 8_192
SIZES = (10_000, 200_000, 10_000_000, 10_485_761)


def check_pdf(content: bytes) -> None:
    """Assert that the cross-reference table of a PDF file leads to its objects."""
    assert content.startswith(b"%PDF-1.")
    assert content.endswith(b"\n%%EOF\n")
    (start,) = re.findall(rb"startxref\n(\d+)\n%%EOF\n$", content)
    table = content[int(start) :]
    assert table.startswith(b"xref\n0 ")
    offsets = re.findall(rb"(\d{10}) 00000 n \n", table)
    assert offsets
    for number, offset in enumerate(offsets, 1):
        assert content[int(offset) :].startswith(b"%d 0 obj\n" % number)


def check_jpeg(content: bytes) -> None:
    """Assert that a JPEG file consists of segments, and that its picture has three colors."""
    assert content.startswith(b"\xff\xd8")
    assert content.endswith(b"\xff\xd9")
    place, components = 2, 0
    while content[place + 1] != 0xDA:
        marker, length = struct.unpack(">xBH", content[place : place + 4])
        if marker in (0xC0, 0xC2):
            components = content[place + 9]
        place += 2 + length
        assert content[place] == 0xFF
    assert components == 3


def check_png(content: bytes) -> None:
    """Assert that a PNG file consists of whole chunks, and that its picture has a palette."""
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    place, names = 8, []
    while place < len(content):
        (length,) = struct.unpack(">I", content[place : place + 4])
        name, data = content[place + 4 : place + 8], content[place + 8 : place + 8 + length]
        end = content[place + 8 + length : place + 12 + length]
        assert struct.unpack(">I", end) == (zlib.crc32(name + data),)
        names.append(name)
        place += 12 + length
    assert (names[0], names[-1]) == (b"IHDR", b"IEND")
    assert b"PLTE" in names


CHECKS = {"application/pdf": check_pdf, "image/jpeg": check_jpeg, "image/png": check_png}


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.name))
class TestEachFile:
    """Each file as it lies in the folder."""

    def test_is_what_its_ending_says(self, path: Path) -> None:
        """The bytes have the type of the ending, which changed line ends would break."""
        CHECKS[MEDIA_TYPES[path.suffix]](path.read_bytes())

    def test_is_small(self, path: Path) -> None:
        """A file has 8,192 bytes at most, as each run sends it many times."""
        assert path.stat().st_size <= MAX_FILE_BYTES

    def test_is_used(self, path: Path) -> None:
        """A file is the specimen of a kind of document."""
        assert path.name in SPECIMENS.values()


@pytest.mark.parametrize("kind", PROOFS_OF_ADDRESS)
def test_a_proof_of_address_is_dated_in_the_last_month(kind: str) -> None:
    """A proof of address is dated 28 to 62 days ago, so that it is never too old."""
    file = specimen(kind)

    (written_date,) = re.findall(rb"\(Date: (\S+)\)", file.content)
    today = datetime.now(UTC).date()

    assert 28 <= (today - date.fromisoformat(written_date.decode())).days <= 62
    assert DATE not in file.content
    check_pdf(file.content)


@pytest.mark.parametrize("kind", PROOFS_OF_ADDRESS)
def test_a_proof_of_address_says_that_it_is_none(kind: str) -> None:
    """The page says SPECIMEN - NOT A REAL DOCUMENT."""
    assert b"SPECIMEN - NOT A REAL DOCUMENT" in specimen(kind).content


def test_a_side_that_there_is_not_is_shown_by_the_front() -> None:
    """A side that does not exist gets the front, as scenarios name wrong sides."""
    assert specimen("NATIONAL_ID", "LEFT") == specimen("NATIONAL_ID", "FRONT")
    assert specimen("NATIONAL_ID", "BACK") != specimen("NATIONAL_ID", "FRONT")
    assert specimen("PASSPORT", "FRONT") == specimen("PASSPORT")


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["UTILITY_BILL", "PASSPORT", "NATIONAL_ID"])
def test_a_padded_file_is_of_its_kind_and_of_the_size_wanted(kind: str, size: int) -> None:
    """The file has exactly the size, the same name and type, and is whole."""
    file = specimen(kind)

    large = padded(file, size)

    assert len(large.content) == size
    assert (large.name, large.media_type) == (file.name, file.media_type)
    CHECKS[large.media_type](large.content)


def test_git_leaves_the_files_alone() -> None:
    """``.gitattributes`` says that the files are binary, so that no line ends change."""
    attributes = (ROOT / ".gitattributes").read_text(encoding="utf-8")

    assert {f"*{ending} binary" for ending in MEDIA_TYPES} <= set(attributes.splitlines())
