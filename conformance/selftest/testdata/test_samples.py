"""Samples: the same seed and test give the same data."""

from __future__ import annotations

import re

import pytest

from conformance.contract.data import FIXTURES
from conformance.testdata.samples import Samples

ACCOUNTS = sorted(path.stem for path in (FIXTURES / "accounts").glob("*.yaml"))


def data_of(samples: Samples) -> list[object]:
    """Return some data of each kind."""
    return [
        samples.full_name(),
        samples.digits(9),
        samples.reference(),
        samples.amount(1, 10**9),
        samples.filled({"number": "1####", "others": ["##"]}),
    ]


def test_the_same_seed_and_test_give_the_same_data() -> None:
    """Two runs with one seed send the same values."""
    assert data_of(Samples(1, "test_x")) == data_of(Samples(1, "test_x"))


@pytest.mark.parametrize("other", [Samples(2, "test_x"), Samples(1, "test_y")])
def test_another_seed_or_test_gives_other_data(other: Samples) -> None:
    """Tests do not share values on a target."""
    assert data_of(Samples(1, "test_x")) != data_of(other)


def test_references_are_not_used_twice() -> None:
    """1,000 references of one test differ."""
    samples = Samples(1, "test_x")

    assert len({samples.reference() for _ in range(1000)}) == 1000


def test_some_tests_have_ids_in_capitals() -> None:
    """Whoever keeps ids of the platform in lower case is met by some of the tests."""
    ids = [Samples(1, f"test_{number}").own_id() for number in range(40)]

    assert {text.isupper() for text in ids} == {False, True}
    assert all(text in (text.upper(), text.lower()) for text in ids)


@pytest.mark.parametrize("count", [1, 2, 3, 9, 18])
def test_digits_are_as_many_as_asked_for(count: int) -> None:
    """The first digit is not 0, and the last is 9, so that no sandbox gives them a meaning."""
    samples = Samples(1, "test_x")

    for _ in range(200):
        digits = samples.digits(count)
        assert re.fullmatch(rf"[1-9]\d{{{count - 1}}}", digits)
        assert digits.endswith("9")
