"""How long the target took over its answers, operation by operation."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from math import ceil

from conformance.reporting.report import Latency

_PERCENTILES = (50, 90, 99)
_OPERATION = re.compile(r'"operation": "(\w+)"')
_ANSWERED = re.compile(r'"seconds": ([\d.e-]+), "error": "("?)')


class Latencies:
    """Collects the seconds of answers, and says what is usual."""

    def __init__(self) -> None:
        self._seconds: dict[str, list[float]] = defaultdict(list)
        self.total_seconds = 0.0
        """How long all requests were on their way, also those that got no answer."""

    def take_in(self, line: str) -> None:
        """Take in an exchange, as a line of the journal.

        Of tens of thousands, only two values are looked for: to decode them all takes seconds.
        Within a text every quote has a backslash before it, so that no text looks like either.
        """
        operation = _OPERATION.search(line)
        seconds = _ANSWERED.match(line, line.rfind('"seconds": '))
        if seconds is not None:
            self.total_seconds += float(seconds[1])
        if operation is not None and seconds is not None and seconds[2]:
            self._seconds[operation[1]].append(float(seconds[1]))

    def by_operation(self) -> tuple[Latency, ...]:
        """Return the percentiles of each operation, that which took the longest in all first."""
        ranked = sorted(self._seconds.items(), key=lambda item: -sum(item[1]))
        return tuple(
            Latency(operation=operation, answers=len(seconds), **percentiles(seconds))
            for operation, seconds in ranked
        )


def percentiles(seconds: Iterable[float]) -> dict[str, float]:
    """Return within how many seconds half, 90 % and 99 % were done, and the last of them.

    Args:
        seconds: at least one.
    """
    ascending = sorted(seconds)
    count = len(ascending)
    found = {f"p{p}": ascending[ceil(p * count / 100) - 1] for p in _PERCENTILES}
    return {**found, "longest": ascending[-1]}
