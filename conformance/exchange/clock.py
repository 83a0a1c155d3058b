"""The time of a run: that of the machine, or the time at which a recorded run got its answers.

Whoever judges a recording again has to see it with the eyes of that time: a link that was to be
used within the hour has expired long since, and nobody has to wait for what came then.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from threading import Barrier
from typing import TypeVar

from conformance.exchange.lanes import in_lane

T = TypeVar("T")


class Clock:
    """The clock of the machine. Times are in seconds since the epoch."""

    waited = 0.0
    """For how many seconds the process has waited so far, without a request on its way."""

    def time(self) -> float:
        """Return what time it is."""
        return time.time()

    def monotonic(self) -> float:
        """Return the seconds since any moment; nobody sets this clock back."""
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        """Return after so many seconds."""
        with self.waiting():
            time.sleep(seconds)

    def at_once(self, actions: Sequence[Callable[[], T]]) -> list[T]:
        """Begin all actions at the same moment, in a thread each; return their results."""
        ready = Barrier(len(actions))

        def begin(number: int, action: Callable[[], T]) -> T:
            ready.wait()
            with in_lane(number):
                return action()

        with ThreadPoolExecutor(len(actions)) as pool:
            begun = [pool.submit(begin, number, one) for number, one in enumerate(actions, 1)]
            return [future.result() for future in begun]

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time of the block as time that was waited."""
        started = time.perf_counter()
        try:
            yield
        finally:
            self.waited += time.perf_counter() - started


class RecordedClock(Clock):
    """The clock of a recording: it stands at the last answer, and waiting costs nothing."""

    def __init__(self) -> None:
        self._time = 0.0

    def time(self) -> float:
        """Return when the last answer came, and what was waited for since."""
        return self._time

    monotonic = time

    def sleep(self, seconds: float) -> None:
        """Go on by so many seconds at once."""
        self._time += max(0.0, seconds)

    def at_once(self, actions: Sequence[Callable[[], T]]) -> list[T]:
        """Carry out one action after the other, each from the same moment on.

        In threads each of them would set this clock for all others.
        """
        began, ended, results = self._time, self._time, []
        for number, action in enumerate(actions, start=1):
            self._time = began
            with in_lane(number):
                results.append(action())
            ended = max(ended, self._time)
        self._time = ended
        return results

    def set(self, moment: float) -> None:
        """Go to the moment of an answer; a test that ran beside others may begin before them."""
        self._time = moment


_SYSTEM = Clock()
_current: Clock = _SYSTEM


def clock() -> Clock:
    """Return the clock of the run."""
    return _current


def now() -> datetime:
    """Return what time it is for the run, in UTC."""
    return datetime.fromtimestamp(_current.time(), UTC)


@contextlib.contextmanager
def running_by(other: Clock) -> Iterator[None]:
    """Let the run go by another clock until the block ends."""
    global _current  # noqa: PLW0603 - there is one time, as there is one machine
    _current = other
    try:
        yield
    finally:
        _current = _SYSTEM
