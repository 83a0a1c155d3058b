"""Long answers as the journal keeps them: compressed, as long as that makes them short enough."""

from __future__ import annotations

import base64
import binascii
import zlib

MAX_PACKED_CHARS = 200_000
"""A journal has no more characters of one answer than these."""

MAX_BODY_BYTES = 8 * 1024 * 1024
"""What a target may answer at most."""


def pack(text: str) -> str:
    """Return a text compressed, in base64; empty where that has more characters than are kept."""
    packed = base64.b64encode(zlib.compress(text.encode(errors="replace"))).decode()
    return packed if len(packed) <= MAX_PACKED_CHARS else ""


def unpack(packed: str) -> str:
    """Return what was packed.

    Raises:
        ValueError: it is damaged, or larger than any answer.
    """
    opener = zlib.decompressobj()
    try:
        # Each character of an answer that was no UTF-8 has become three bytes.
        content = opener.decompress(base64.b64decode(packed, validate=True), 3 * MAX_BODY_BYTES)
    except (binascii.Error, zlib.error) as error:
        raise ValueError(f"what was packed is damaged: {error}") from error
    if not opener.eof:
        raise ValueError("what was packed is cut short, or larger than any answer")
    return content.decode()
