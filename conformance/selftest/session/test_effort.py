"""What a run still has to do: the requests that it will send, and what is told in a terminal."""

from __future__ import annotations

import io

import pytest

from conformance.effort import (
    REQUESTS_OF_A_SCENARIO,
    REQUESTS_OF_AN_EXAMPLE,
    Progress,
    expected_requests,
    minutes,
)

SCENARIO = "conformance/scenarios/quotes/test_quotes.py::test_it"
GENERATED = "conformance/fuzz/test_operations.py::test_createQuote"


class Clock:
    """A clock that is set by hand, in seconds."""

    seconds = 1000.0

    def __call__(self) -> float:
        """Return the seconds."""
        return self.seconds


@pytest.fixture
def written() -> io.StringIO:
    """Return the text that is written to the terminal."""
    return io.StringIO()


@pytest.fixture
def terminal(request: pytest.FixtureRequest, written: io.StringIO) -> pytest.TerminalReporter:
    """Return a reporter that writes to a text."""
    return pytest.TerminalReporter(request.config, written)


@pytest.fixture
def clock() -> Clock:
    """Return a clock to be set."""
    return Clock()


def test_generated_tests_send_by_their_examples() -> None:
    """A written test counts the same whatever is generated."""
    assert expected_requests([SCENARIO, GENERATED], 0) == REQUESTS_OF_A_SCENARIO
    assert expected_requests([SCENARIO, GENERATED], 20) == (
        REQUESTS_OF_A_SCENARIO + 20 * REQUESTS_OF_AN_EXAMPLE
    )


def test_minutes_are_requests_by_round_trip_by_workers() -> None:
    """24,000 requests of 50 ms with 8 workers are two and a half minutes."""
    assert minutes(24_000, 0.05, 8) == pytest.approx(2.5)


class TestProgress:
    """What is left is told by the requests of the tests that are left."""

    def test_what_is_left_is_told(
        self, terminal: pytest.TerminalReporter, written: io.StringIO, clock: Clock
    ) -> None:
        """After a quarter of the requests in a minute, three minutes are left."""
        progress = Progress(terminal, 0, clock)
        tests = [f"{SCENARIO}[{number}]" for number in range(400)]
        progress.begin(tests)
        for test in tests[:99]:
            progress.pytest_runtest_logfinish(test)
        assert not written.getvalue()

        clock.seconds += 60
        progress.pytest_runtest_logfinish(tests[99])

        assert written.getvalue().split("\n")[-2] == (
            "Quotes: about 1000 of 4000 requests sent. Tests left: 300, about 3 min"
        )

    def test_a_generated_test_takes_longer(
        self, terminal: pytest.TerminalReporter, written: io.StringIO, clock: Clock
    ) -> None:
        """One scenario is done, and eight times as many requests are left."""
        progress = Progress(terminal, 20, clock)
        progress.begin([SCENARIO, GENERATED])

        clock.seconds += 60
        progress.pytest_runtest_logfinish(SCENARIO)

        assert "Tests left: 1, about 8 min" in written.getvalue()

    def test_generated_tests_belong_to_all_areas(
        self, terminal: pytest.TerminalReporter, written: io.StringIO, clock: Clock
    ) -> None:
        """A generated test is told as such."""
        progress = Progress(terminal, 20, clock)
        progress.begin([SCENARIO, GENERATED])

        clock.seconds += 60
        progress.pytest_runtest_logfinish(GENERATED)

        assert "Generated requests: about 80 of 90 requests sent." in written.getvalue()

    def test_it_is_told_from_time_to_time(
        self, terminal: pytest.TerminalReporter, written: io.StringIO, clock: Clock
    ) -> None:
        """Of a test each second, a few are followed by a line, and the last one is not."""
        tests = [f"{SCENARIO}[{number}]" for number in range(81)]
        progress = Progress(terminal, 0, clock)
        progress.begin(tests)

        for test in tests:
            clock.seconds += 1
            progress.pytest_runtest_logfinish(test)

        told = [line for line in written.getvalue().splitlines() if line]
        assert [line.partition(". ")[2].split(",")[0] for line in told] == [
            "Tests left: 61",
            "Tests left: 31",
            "Tests left: 1",
        ]
        assert told[-1].endswith("less than a minute")

    def test_the_workers_of_a_run_have_the_same_tests(
        self, terminal: pytest.TerminalReporter, written: io.StringIO, clock: Clock
    ) -> None:
        """What a second worker has collected does not begin anew."""
        progress = Progress(terminal, 0, clock)
        progress.pytest_xdist_node_collection_finished([SCENARIO, f"{SCENARIO}[1]"])
        progress.pytest_runtest_logfinish(SCENARIO)

        progress.pytest_xdist_node_collection_finished([SCENARIO, f"{SCENARIO}[1]"])
        clock.seconds += 60
        progress.pytest_runtest_logfinish(SCENARIO)

        assert "Tests left: 1, about 1 min" in written.getvalue()
