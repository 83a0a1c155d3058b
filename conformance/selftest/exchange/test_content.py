"""The decoder of response bodies takes any bytes."""

from __future__ import annotations

import json
import time
from typing import Any, NoReturn

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from conformance.exchange.content import MAX_BRACKETS, MAX_LEVELS, decode, is_beyond_bounds

NOTHING = (None, False)
MAX_FLOAT = 1.7976931348623157e308


def refuse(constant: str) -> NoReturn:
    """Raise ValueError, as ``constant`` is no JSON."""
    raise ValueError(constant)


def json_values() -> st.SearchStrategy[Any]:
    """Return a strategy for values of every kind of JSON, halves of surrogate pairs too."""
    scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters())
    return st.recursive(
        scalars, lambda inner: st.lists(inner) | st.dictionaries(st.text(st.characters()), inner)
    )


@given(st.binary() | json_values().map(lambda value: json.dumps(value).encode()))
@example(b"\xed\xa0\x80")
@example(b'"\xed\xa0\x80"')
@example(b"1e999")
@example(b'"\\ud800\\u0041"')
@example(b"9" * 100_000)
@example(b"[" * 100_000)
def test_any_bytes_are_decoded(content: bytes) -> None:
    """The decoded value can be written as JSON in UTF-8, and is read as the same."""
    value, is_json = decode(content)

    encoded = json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    assert json.loads(encoded, parse_constant=refuse) == value
    assert is_json or value is None


@pytest.mark.parametrize(
    "content",
    [
        b"\xed\xa0\x80",
        b'"\xed\xa0\x80"',
        b'"\xff"',
        '"é"'.encode("latin-1"),
        '{"id": "é"}'.encode("utf-16"),
        '{"id": 1}'.encode("utf-16-le"),
        b"\xff\xfe\x00\xd8",
        "[1]".encode("utf-32"),
        b"NaN",
        b"[-Infinity]",
        b"{'a': 1}",
        b"[1,]",
        b"01",
        b'"\x00"',
        b"[1] [2]",
        b" ",
        b"{",
        b"\xef\xbb\xbf\xef\xbb\xbf1",
        b"[" * (MAX_LEVELS + 1) + b"]" * (MAX_LEVELS + 1),
        b'{"a":' * 1_000 + b"1" + b"}" * 1_000,
        b"[" + b"[]," * MAX_BRACKETS + b"1]",
    ],
)
def test_what_is_not_well_formed_is_no_json(content: bytes) -> None:
    """Wrong syntax, other encodings than UTF-8, and too many levels or brackets are no JSON."""
    assert decode(content) == NOTHING


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"[" * (MAX_LEVELS + 1) + b"]" * (MAX_LEVELS + 1), True),
        (b'{"a":' * 2_000 + b"1" + b"}" * 2_000, True),
        (b"[" + b"[]," * MAX_BRACKETS + b"1]", True),
        (b"[" * MAX_LEVELS + b"]" * MAX_LEVELS, False),
        (b'{"a": "' + b"[" * 100 + b'"', False),
        (b'"' + b'\\"' * 1_000_000 + b"\\", False),
        (b"[[]," * 60 + b"oops", False),
    ],
)
def test_what_is_too_deep_is_told_from_what_is_no_json(content: bytes, expected: bool) -> None:
    """Brackets within texts and lists beside one another do not count as levels."""
    assert is_beyond_bounds(content) is expected


@pytest.mark.parametrize(
    ("content", "value"),
    [
        (b"", None),
        (b"null", None),
        (b"\xef\xbb\xbf[1]", [1]),
        (b'{"a": 1, "a": 2}', {"a": 2}),
        (b'"\\ud800"', "?"),
        (b'"\\ud83d\\ude00"', "\N{GRINNING FACE}"),
        (b"1e999", MAX_FLOAT),
        (b"-1e999", -MAX_FLOAT),
        (b"1e-999", 0.0),
        (b"9" * 100_000, int(MAX_FLOAT)),
        (b"-" + b"9" * 400, -int(MAX_FLOAT)),
        (b"9" * 300, int("9" * 300)),
        (b'"' + b"[" * 100 + b'"', "[" * 100),
        (b"[" * MAX_LEVELS + b"]" * MAX_LEVELS, json.loads("[" * MAX_LEVELS + "]" * MAX_LEVELS)),
    ],
)
def test_what_is_well_formed_is_read(content: bytes, value: Any) -> None:
    """A lone surrogate and a number out of range are replaced by the nearest value."""
    assert decode(content) == (value, True)


def test_eight_mebibytes_are_decoded_soon() -> None:
    """Decoding takes less than five seconds of processor time, a tenth of which is usual."""
    row = b'{"id":"Customer:1","name":"\\u00e9","amount":12}'
    started = time.process_time()

    decode(b"[" + b",".join([row] * (8 * 2**20 // len(row))) + b"]")

    assert time.process_time() - started < 5
