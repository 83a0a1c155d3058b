"""What scenarios take for the value that was sent: masks, and other ways to write it."""

from __future__ import annotations

import pytest

from conformance.contract.notation import masked_or_same, same_text

SENT = "021-000 021"


@pytest.mark.parametrize(
    "shown",
    [
        pytest.param(SENT, id="as sent"),
        pytest.param("021000021", id="without marks"),
        pytest.param("*****0021", id="masked"),
        pytest.param("0210 **** 21", id="masked in the middle"),
        pytest.param("XXXXXXXXX", id="masked wholly"),
        pytest.param("0021", id="last characters"),
    ],
)
def test_a_mask_of_a_number_is_taken(shown: str) -> None:
    """A number may be masked, and its last characters may stand for it."""
    assert masked_or_same(shown, SENT)


@pytest.mark.parametrize(
    "shown",
    [
        pytest.param("", id="nothing"),
        pytest.param("1", id="one character"),
        pytest.param("*****0022", id="mask of another"),
        pytest.param("021000022", id="another"),
        pytest.param(21000021, id="number"),
        pytest.param("21-000 021", id="number as a text"),
        pytest.param(None, id="null"),
    ],
)
def test_what_is_no_mask_is_not_taken(shown: object) -> None:
    """Another number, and too little of the right one, are not what was sent."""
    assert not masked_or_same(shown, SENT)


def test_words_differ_in_case_and_marks_alone() -> None:
    """A word may be written in another case or with other marks, and is never a part of itself."""
    assert same_text("chase-bank", "Chase Bank")
    assert not same_text("Bank", "Chase Bank")
