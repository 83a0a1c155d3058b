"""What the time of a run went into: requests, waiting, the suite."""

from __future__ import annotations

import json
import time

import pytest

from conformance.exchange.clock import Clock, RecordedClock, clock
from conformance.reporting.assemble import assemble
from conformance.reporting.latency import Latencies
from conformance.selftest.runs import Inside, read_report
from conformance.webhooks.inbox import Inbox

SCENARIO = """
    import time

    from conformance.exchange.clock import clock
    from conformance.scenarios.kit.marks import requirement

    @requirement("CFG-001")
    def test_waiting(platform):
        assert platform.api.get_config().accepted
        clock().sleep(0.3)

    @requirement("CFG-001")
    def test_computing(platform):
        assert platform.api.get_config().accepted
        # It stands for what the suite computes: no clock of the run counts it as waiting.
        time.sleep(0.5)

    @requirement("CFG-001")
    def test_asking(platform):
        assert platform.api.get_config().accepted
    """


def test_time_is_told_by_what_it_went_into(inside: Inside, against: tuple[str, str]) -> None:
    """Pauses, requests and the rest are the whole; the slowest test is the first."""
    _, output = inside(SCENARIO, *against)

    spent = read_report(inside.folder).time
    assert spent is not None, output
    assert 0.3 <= spent.waiting < 0.5
    assert spent.suite >= 0.5
    assert 0 < spent.target < spent.tests
    assert spent.target + spent.waiting + spent.suite == pytest.approx(spent.tests, abs=0.01)
    assert [one.test.rpartition("::")[2] for one in spent.slowest] == [
        *("test_computing", "test_waiting", "test_asking")
    ]
    assert "time of the tests: " in output
    page = (inside.folder / "reports" / "latest" / "report.html").read_text("utf-8")
    assert "Where the time went" in page


def test_a_journal_without_times_has_none(inside: Inside, against: tuple[str, str]) -> None:
    """Of the run of an older version nobody knows what its time went into."""
    inside(SCENARIO, *against)
    folder = inside.folder / "reports" / "latest"
    path = folder / "journal" / "main.jsonl"
    entries = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for entry in entries:
        if entry["kind"] == "decisions":
            del entry["seconds"], entry["waiting"]
    path.write_text("".join(json.dumps(entry) + "\n" for entry in entries), encoding="utf-8")

    assert assemble(folder).time is None


def test_what_has_no_answer_is_time_on_requests() -> None:
    """It counts for the whole, and for the percentiles of no operation."""
    latencies = Latencies()

    latencies.take_in('{"operation": "getConfig", "seconds": 0.25, "error": "", "at": 1.0}')
    latencies.take_in('{"operation": "getConfig", "seconds": 30.0, "error": "too slow", "at": 2.0}')

    assert latencies.total_seconds == pytest.approx(30.25)
    (one,) = latencies.by_operation()
    assert (one.answers, one.longest) == (1, 0.25)


def test_waiting_for_a_webhook_is_waiting() -> None:
    """What does not come is waited for; it is counted."""
    before = clock().waited

    assert Inbox().wait(lambda _: True, 0.1) is None

    assert clock().waited - before >= 0.09


def test_a_recorded_clock_waits_for_nothing() -> None:
    """It goes on, and no time passes; that of the machine counts what it slept."""
    recorded, machine = RecordedClock(), Clock()
    started = time.monotonic()

    recorded.sleep(60)
    machine.sleep(0.05)

    assert time.monotonic() - started < 30
    assert recorded.waited == 0
    assert machine.waited >= 0.05
