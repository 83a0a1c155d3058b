"""Waiting, and how it grows shorter where it is in vain."""

from __future__ import annotations

import time
from collections.abc import Callable
from functools import partial

import pytest

from conformance.platform.waiting import LEAST_SHARE, LONGER_THAN_SEEN, Patience, Waiting
from conformance.platform.webhooks import Webhooks
from conformance.profile.features import Features
from conformance.profile.model import Implementation, Profile, Timing
from conformance.webhooks.inbox import Inbox

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

    def test_learns_nothing_from_what_was_there(self) -> None:
        """A wait stays short after one in vain, where another thing was there at once."""
        patience = Patience()
        patience.learn("refund", MOST, came=False)

        patience.learn("refund", 0.1, came=True, waited=False)

        assert patience.seconds("refund", MOST) < MOST

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

    def test_what_waits_at_one_place_waits_for_one_kind_of_thing(self) -> None:
        """Without a kind, a wait is as long as at first, and shorter where one was in vain."""
        patience = Patience()
        waiting = Waiting(Timing(state=0.4, poll=0.01), patience)

        def here(wanted: Callable[[int], bool]) -> float:
            return _seconds(lambda: waiting.until(lambda: 1, wanted))

        def is_two(seen: int) -> bool:
            return seen == 2

        first, second = (here(is_two) for _ in range(2))
        elsewhere = here(lambda seen: seen == 3)

        assert first >= 0.4
        assert LEAST_SHARE * 0.4 <= second < 0.4
        assert elsewhere >= 0.4

    def test_a_short_wait_is_as_long_as_three_of_the_slowest(self) -> None:
        """What came at any place, and took long, makes the next wait long enough for it."""
        patience = Patience()
        waiting = Waiting(Timing(state=0.6, poll=0.01), patience)
        moment = time.monotonic() + 0.1
        waiting.until(lambda: time.monotonic() > moment, bool)

        def in_vain() -> float:
            return _seconds(lambda: waiting.until(int, bool))

        in_vain()

        assert patience.longest > LEAST_SHARE * 0.6 / LONGER_THAN_SEEN
        assert in_vain() >= min(0.6, LONGER_THAN_SEEN * patience.longest)


class TestWebhooks:
    """Waiting for deliveries, of any type and about any resource."""

    @pytest.fixture
    def webhooks(self) -> Webhooks:
        profile = Profile(
            implementation=Implementation(name="x"),
            features=Features(webhooks=True),
            timing=Timing(event=0.4),
        )
        return Webhooks(Inbox(), profile, Patience())

    def test_a_second_wait_for_any_delivery_is_shorter(self, webhooks: Webhooks) -> None:
        """That is so for each place that waits; another one waits as long as at first."""

        def here() -> float:
            return _seconds(lambda: webhooks.wait_for_any(lambda _: True))

        first, second = here(), here()
        elsewhere = _seconds(lambda: webhooks.wait_for_any(lambda _: False))

        assert first >= 0.4
        assert LEAST_SHARE * 0.4 <= second < 0.4
        assert elsewhere >= 0.4

    def test_a_second_wait_for_a_mention_is_shorter(self, webhooks: Webhooks) -> None:
        """That is so for each type of resource."""
        first, second, of_quote = (
            _seconds(partial(webhooks.mentioning, name))
            for name in ("Customer:1", "Customer:2", "Quote:1")
        )

        assert first >= 0.4
        assert LEAST_SHARE * 0.4 <= second < 0.4
        assert of_quote >= 0.4


def _seconds(act: Callable[[], object]) -> float:
    started = time.monotonic()
    act()
    return time.monotonic() - started
