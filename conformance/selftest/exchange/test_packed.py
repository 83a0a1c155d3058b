"""Long answers are packed for the journal, and unpacked without trust in who packed them."""

from __future__ import annotations

import base64
import random
import zlib

import pytest

from conformance.exchange.packed import MAX_BODY_BYTES, MAX_PACKED_CHARS, pack, unpack


@pytest.mark.parametrize("text", ["", "x" * 300_000, "é\n\x00" * 100_000, '{"a": 1}'])
def test_a_text_comes_back(text: str) -> None:
    """What was packed is the same once it is unpacked."""
    packed = pack(text)

    assert len(packed) <= MAX_PACKED_CHARS
    assert unpack(packed) == text


def test_what_stays_long_is_not_packed() -> None:
    """Noise, which cannot be compressed, is not kept."""
    noise = random.Random(1).randbytes(MAX_PACKED_CHARS).hex()

    assert pack(noise) == ""


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("***", "is damaged"),
        (base64.b64encode(b"no zlib").decode(), "is damaged"),
        (base64.b64encode(zlib.compress(b"x" * 100)[:-5]).decode(), "is cut short"),
        (base64.b64encode(zlib.compress(bytes(3 * MAX_BODY_BYTES + 1))).decode(), "or larger"),
        (base64.b64encode(zlib.compress(b"\xff")).decode(), "invalid start byte"),
    ],
    ids=["no base64", "not compressed", "cut", "too large", "no UTF-8"],
)
def test_what_somebody_made_up_is_refused(content: str, told: str) -> None:
    """A journal of somebody else may hold anything: it ends in an error, and takes no memory."""
    with pytest.raises(ValueError, match=told):
        unpack(content)
