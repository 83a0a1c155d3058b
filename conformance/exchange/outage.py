"""Gives a target up that has stopped to answer, so that a run against it comes to its end."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime

from conformance.verdict.decisions import TargetLost

MIN_UNANSWERED = 5


class TargetGone(TargetLost):
    """The target has not answered for so long that nothing more is sent to it."""


class Outage:
    """Knows for how long the target has not answered, and when that is enough.

    Safe to use from several threads.
    """

    def __init__(self, max_seconds: float) -> None:
        """Start with a target that answers.

        Args:
            max_seconds: for how long it may not answer; at least five requests in a row have to
                go without answer too.
        """
        self._max_seconds = max_seconds
        self._lock = threading.Lock()
        self._count = 0
        self._since = 0.0
        self._gone: str | None = None

    def check(self) -> None:
        """Do nothing while the target may be asked.

        Raises:
            TargetGone: it has been given up; the message says since when and for what.
        """
        if self._gone is not None:
            raise TargetGone(self._gone)

    def answered(self) -> None:
        """Take note that the target has answered a request."""
        with self._lock:
            self._count = 0

    def unanswered(self, error: str, seconds: float) -> None:
        """Take note that it has not answered a request, which was sent ``seconds`` ago."""
        with self._lock:
            now = time.monotonic()
            if self._count == 0:
                self._since = now - seconds
            self._count += 1
            lasted = now - self._since
            if self._count >= MIN_UNANSWERED and lasted >= self._max_seconds:
                since = datetime.fromtimestamp(time.time() - lasted, UTC)
                self._gone = self._gone or (
                    f"nothing more is sent to the target: it has answered none of "
                    f"{self._count} requests since {since:%H:%M:%S} UTC, longer than "
                    f"timing.outage of the profile, {self._max_seconds:g} s; the last: {error}"
                )
