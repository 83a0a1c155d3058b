"""Waiting: for a value, for a moment, and for several actions at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import TypeVar

from conformance.contract.moments import is_utc_moment, parse_moment
from conformance.exchange.clock import clock, now
from conformance.exchange.recording import NotRecorded
from conformance.profile.model import Timing

T = TypeVar("T")

MAX_PAUSE_SECONDS = 1.0
CLOCK_SKEW = timedelta(seconds=2)


LEAST_SHARE = 0.25
"""How much of its time a wait has left after others of its kind were in vain."""

LONGER_THAN_SEEN = 3


@dataclass
class Patience:
    """For how long to wait: after a wait in vain, for less of the same kind of thing.

    What a broken target never does would otherwise be waited for to the end by each test that needs
    it. The short waits are still longer than whatever came so far has taken, of any kind, and after
    one of them that was not in vain the next is as long as before.
    """

    longest: float = 0.0
    in_vain: set[str] = field(default_factory=set)

    def seconds(self, kind: str, most: float) -> float:
        """Return for how long to wait for a kind of thing that may take ``most`` seconds."""
        if kind not in self.in_vain:
            return most
        return min(most, max(LEAST_SHARE * most, LONGER_THAN_SEEN * self.longest))

    def learn(self, kind: str, seconds: float, *, came: bool, waited: bool = True) -> None:
        """Take in how long a wait for a kind of thing was, and whether the thing came.

        What was there already (``waited`` is False) says nothing of what is still to come.
        """
        if not came:
            self.in_vain.add(kind)
            return
        self.longest = max(self.longest, seconds)
        if waited:
            self.in_vain.discard(kind)

    def forget(self) -> None:
        """Wait for everything as long as at first."""
        self.longest = 0.0
        self.in_vain.clear()


class Waiting:
    """Reads again and again until a value is the wanted one."""

    def __init__(self, timing: Timing, patience: Patience) -> None:
        self._timing = timing
        self._patience = patience

    def until(
        self, read: Callable[[], T], wanted: Callable[[T], bool], kind: str | None = None
    ) -> T:
        """Read again and again until the value is wanted or ``timing.state`` has passed.

        Args:
            read: reads the value.
            wanted: whether a value is the wanted one.
            kind: what is waited for, by default what these two functions are about; after a wait
                in vain the next of that kind is shorter.

        Returns:
            the last value read.
        """
        started = clock().monotonic()
        most = self._timing.state
        kind = kind or f"{place_of(read)} {place_of(wanted)}"
        end = started + self._patience.seconds(kind, most)
        pause = self._timing.poll
        value = read()
        waited = not wanted(value)
        while not wanted(value) and (left := end - clock().monotonic()) > 0:
            # Nothing tells of a change but another reading.
            clock().sleep(min(pause, left))
            pause = min(2 * pause, MAX_PAUSE_SECONDS)
            try:
                value = read()
            except NotRecorded:
                # The clocks of the two runs do not agree to the millisecond on when it was over,
                # and what was in vain in another process was waited for more briefly.
                if clock().monotonic() - started < LEAST_SHARE * most / 2:
                    raise
                break
        seconds = clock().monotonic() - started
        self._patience.learn(kind, seconds, came=wanted(value), waited=waited)
        return value


def place_of(function: Callable[..., object]) -> str:
    """Return where a function is written: whoever waits with it waits for the same kind of thing.

    Each time that a test or a helper comes to the place, it has another function object.
    """
    code = getattr(getattr(function, "func", function), "__code__", None)
    return repr(function) if code is None else f"{code.co_filename}:{code.co_firstlineno}"


def wait_until(moment: datetime) -> None:
    """Return once ``moment`` has passed, also by a clock that is two seconds behind ours."""
    while (left := (moment + CLOCK_SKEW - now()).total_seconds()) > 0:
        # Only time brings the moment on; the clock may be set meanwhile, and is asked anew.
        clock().sleep(left)


def wait_for_another_second(timestamp: object) -> None:
    """Let a second pass, where what a target shows is a timestamp without any part of one.

    What is said of a later moment differs from it then.
    """
    if not isinstance(timestamp, str) or not is_utc_moment(timestamp):
        return
    if parse_moment(timestamp).microsecond == 0:
        clock().sleep(1)


def at_once(*actions: Callable[[], T]) -> list[T]:
    """Run all actions at the same time, each in a thread of its own; return their results."""
    return clock().at_once(actions)
