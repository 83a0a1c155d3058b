"""Shards: how they are written, and that each test belongs to exactly one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.exchange.shard import Shard


@given(test=st.text(), count=st.integers(1, 40))
def test_each_test_belongs_to_one_shard(test: str, count: int) -> None:
    """Of all shards of a run exactly one has a test."""
    assert [Shard(number, count).has(test) for number in range(1, count + 1)].count(True) == 1


def test_the_shards_of_a_suite_are_of_like_size() -> None:
    """None of four shards of a thousand tests has more than a third of them."""
    tests = [f"scenarios/test_it.py::test_it[{number}]" for number in range(1000)]

    sizes = [sum(map(Shard(number, 4).has, tests)) for number in range(1, 5)]

    assert sum(sizes) == len(tests)
    assert max(sizes) < len(tests) / 3


def test_a_shard_is_written_as_it_is_read() -> None:
    """``2/3`` is the second of three."""
    assert Shard.parse("2/3") == Shard(2, 3)
    assert str(Shard(2, 3)) == "2/3"


@pytest.mark.parametrize("text", ["", "1", "0/2", "3/2", "1/0", "-1/2", "1/2/3", "a/b", "1/2 "])
def test_what_is_no_shard_is_refused(text: str) -> None:
    """The message has what was written, and an example."""
    with pytest.raises(ValueError, match="expected i/n with i from 1 to n, such as 2/3"):
        Shard.parse(text)
