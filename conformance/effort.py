"""How much a run has to send, what it is at, and how long what is left of it will take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable

import pytest

from conformance.contract.areas import areas

REQUESTS_OF_A_SCENARIO = 10
"""How many requests a test that is written by hand sends, on average of a whole run."""

REQUESTS_OF_AN_EXAMPLE = 4
"""How many requests a generated test sends for each of ``--fuzz-examples``, likewise."""

MIN_SECONDS = 20.0
"""How long a run has been going on when it says for the first time how long it will take."""

PAUSE_SECONDS = 30.0
"""How long it says nothing about it then."""

_MINUTE = 60.0
_GENERATED = "fuzz/"


def expected_requests(tests: Iterable[str], examples: int) -> int:
    """Return about how many requests these tests send.

    Args:
        tests: their node ids.
        examples: the generated requests for each operation.
    """
    return sum(_expected(test, examples) for test in tests)


def minutes(requests: int, round_trip_seconds: float, workers: int) -> float:
    """Return how many minutes some processes wait for the answers to requests, at the least."""
    return requests * round_trip_seconds / workers / _MINUTE


def _expected(test: str, examples: int) -> int:
    return REQUESTS_OF_AN_EXAMPLE * examples if is_generated(test) else REQUESTS_OF_A_SCENARIO


def is_generated(test: str) -> bool:
    """Return whether a test, by its node id, sends requests that are generated."""
    return _GENERATED in test.partition("::")[0]


def _about(test: str) -> str:
    """Return what a test is about: the title of its area, where it has one."""
    if is_generated(test):
        return "Generated requests"
    folders = test.partition("::")[0].split("/")
    return next((areas()[name].title for name in folders if name in areas()), folders[-1])


class Progress:
    """A plugin of pytest that tells a person what a run is at, and how long it will still take.

    It goes by the requests that the tests are expected to send, as a generated test sends many
    times those of another one. Where nobody watches, it says nothing.

    Args:
        terminal: where to write.
        examples: the generated requests for each operation.
        clock: the seconds of a clock that never goes back.
    """

    def __init__(
        self,
        terminal: pytest.TerminalReporter,
        examples: int,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._terminal = terminal
        self._examples = examples
        self._clock = clock
        self._left: set[str] = set()
        self._all = 0
        self._started = self._told = 0.0

    def begin(self, tests: Iterable[str]) -> None:
        """Take in what is going to be run; of the workers of a run the first one says it."""
        if not self._all:
            self._left = set(tests)
            self._all = expected_requests(self._left, self._examples)
            self._started = self._clock()
            self._told = self._started + MIN_SECONDS - PAUSE_SECONDS

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        """Take in the tests of a run in this process."""
        if session.items:
            self.begin(item.nodeid for item in session.items)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, ids: list[str]) -> None:
        """Take in the tests of a run in several processes."""
        self.begin(ids)

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        """Tell what the run is at, and how long it will still take, from time to time."""
        self._left.discard(nodeid)
        now = self._clock()
        if not self._left or now - self._told < PAUSE_SECONDS:
            return
        self._told = now
        left = expected_requests(self._left, self._examples)
        sent = self._all - left
        seconds = (now - self._started) * left / max(sent, 1)
        told = (
            f"{_about(nodeid)}: about {sent} of {self._all} requests sent. "
            f"Tests left: {len(self._left)}, {_in_words(seconds)}"
        )
        # It may stand in a row of dots, of which the reporter knows in a run of one process alone.
        self._terminal.write_line(f"\n{told}", bold=True)


def _in_words(seconds: float) -> str:
    if seconds < _MINUTE:
        return "less than a minute"
    return f"about {round(seconds / _MINUTE)} min"
