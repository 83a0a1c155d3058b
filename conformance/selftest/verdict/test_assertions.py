"""What is told of an ``assert`` that failed."""

from __future__ import annotations

import pytest

from conformance.verdict.assertions import told


def failure(condition: bool, *words: str) -> AssertionError:
    """Return what a failed assert raises, with words of its own or none."""
    try:
        if words:
            assert (
                condition
                is True
            ), words[0]  # fmt: skip
        assert condition is True
    except AssertionError as error:
        return error
    raise ValueError("the condition holds")


def test_the_expression_comes_before_the_values() -> None:
    """Values alone would not say what they are of."""
    assert told(failure(False)) == "expected condition is True, got False is True"


def test_words_of_its_own_come_after() -> None:
    """They are often what an answer holds; an assert may have several lines."""
    text = told(failure(False, "a row\nof two lines"))

    # pytest indents them.
    assert text == "expected condition is True, got False is True; a row\n  of two lines"


def test_words_that_say_what_was_expected_are_enough() -> None:
    """The values behind them may be whole requests, as Python shows them."""
    assert told(failure(False, "expected no error; 2 were brought about")) == (
        "expected no error; 2 were brought about"
    )


def test_what_no_assert_raised_stays() -> None:
    """An assertion that was raised with words of its own needs no others."""
    assert told(AssertionError("the balance fell\nassert as they say")) == (
        "the balance fell\nassert as they say"
    )


def test_what_has_no_source_stays() -> None:
    """The values are told as pytest explains them."""
    code = compile("raise AssertionError('assert 1 == 2')", "<no file>", "exec")

    with pytest.raises(AssertionError) as caught:
        exec(code)

    assert told(caught.value) == "assert 1 == 2"
