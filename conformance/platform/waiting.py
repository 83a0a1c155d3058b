"""Waiting: for a value, for a moment, and for several actions at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import TypeVar

from conformance.exchange.clock import clock, now
from conformance.profile.model import Timing

T = TypeVar("T")

MAX_PAUSE_SECONDS = 1.0
CLOCK_SKEW = timedelta(seconds=2)


class Waiting:
    """Reads again and again until a value is the wanted one."""

    def __init__(self, timing: Timing) -> None:
        self._timing = timing

    def until(self, read: Callable[[], T], wanted: Callable[[T], bool]) -> T:
        """Read again and again until the value is wanted or ``timing.state`` has passed.

        Returns:
            the last value read.
        """
        end = clock().monotonic() + self._timing.state
        pause = self._timing.poll
        while not wanted(value := read()) and (left := end - clock().monotonic()) > 0:
            # Nothing tells of a change but another reading.
            clock().sleep(min(pause, left))
            pause = min(2 * pause, MAX_PAUSE_SECONDS)
        return value


def wait_until(moment: datetime) -> None:
    """Return once ``moment`` has passed, also by a clock that is two seconds behind ours."""
    while (left := (moment + CLOCK_SKEW - now()).total_seconds()) > 0:
        # Only time brings the moment on; the clock may be set meanwhile, and is asked anew.
        clock().sleep(left)


def at_once(*actions: Callable[[], T]) -> list[T]:
    """Run all actions at the same time, each in a thread of its own; return their results."""
    with ThreadPoolExecutor(len(actions)) as pool:
        return [future.result() for future in [pool.submit(action) for action in actions]]
