"""Waiting, and how it grows shorter where it is in vain."""

from __future__ import annotations

import time
from collections.abc import Callable

from conformance.platform.waiting import LEAST_SHARE, LONGER_THAN_SEEN, Patience, Waiting
from conformance.profile.model import Timing

MOST = 10.0


class TestPatience:
    """How long the next wait of a kind is."""

    def test_waits_for_all_the_time_at_first(self) -> None:
        """Nothing was in vain so far."""
        assert Patience().seconds("refund", MOST) == MOST

    def test_waits_shorter_for_what_never_came(self) -> None:
        """The next wait of that kind is a share of the first; another kind keeps its time."""
        patience = Patience()

        patience.learn("refund", MOST, came=False)

        assert patience.seconds("refund", MOST) == LEAST_SHARE * MOST
        assert patience.seconds("deposit", MOST) == MOST

    def test_waits_longer_than_anything_has_taken(self) -> None:
        """A slow target is given its time."""
        patience = Patience()
        patience.learn("deposit", 3.0, came=True)

        patience.learn("refund", MOST, came=False)

        assert patience.seconds("refund", MOST) == LONGER_THAN_SEEN * 3.0

    def test_waits_for_all_the_time_once_it_came(self) -> None:
        """One success clears a kind."""
        patience = Patience()
        patience.learn("refund", MOST, came=False)

        patience.learn("refund", 0.1, came=True)

        assert patience.seconds("refund", MOST) == MOST

    def test_never_waits_longer_than_the_profile_says(self) -> None:
        """What took long does not make a limit longer."""
        patience = Patience()
        patience.learn("deposit", 9.0, came=True)

        patience.learn("refund", MOST, came=False)

        assert patience.seconds("refund", MOST) == MOST


class TestWaiting:
    """Reading again and again."""

    def test_a_second_wait_in_vain_is_shorter(self) -> None:
        """Both end with the last value, and the second one sooner."""
        waiting = Waiting(Timing(state=0.4, poll=0.01), Patience())

        first = _seconds(lambda: waiting.until(lambda: 1, lambda seen: seen == 2, "two"))
        second = _seconds(lambda: waiting.until(lambda: 1, lambda seen: seen == 2, "two"))

        assert second < first

    def test_a_wait_without_a_kind_keeps_its_length(self) -> None:
        """Nothing is learned of it."""
        patience = Patience()

        assert Waiting(Timing(state=0.05, poll=0.01), patience).until(int, bool) == 0
        assert not patience.in_vain


def _seconds(act: Callable[[], object]) -> float:
    started = time.monotonic()
    act()
    return time.monotonic() - started
