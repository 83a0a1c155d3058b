"""Over a slow line the suite comes to the same verdicts: a round trip is no fact about a target."""

from __future__ import annotations

import contextlib
import http.client
import io
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from conformance.reference.server import BackgroundServer
from conformance.reporting.report import Report
from conformance.selftest.collection import ROOT
from conformance.selftest.slow_line import SlowLine
from conformance.selftest.standins import VERSION
from conformance.verdict.plan import RequirementVerdict

ROUND_TRIP_SECONDS = 0.05

MODELS = "customers/test_platform_models.py::"
TELLING = (
    # The sandbox decides some reviews by itself, soon after they have begun.
    MODELS + "test_no_money_moves_before_the_approval_of_a_business[rejected]",
    MODELS + "test_no_money_moves_before_the_approval_of_a_business[hold]",
    MODELS + "test_both_ways_bring_the_same_events_of_a_rejection",
    # A payout settles by itself, and its failure is followed by a refund.
    "transactions/test_payout_failures.py::test_a_failed_payout_gets_a_refund[payout.return]",
    # A trigger acts between two requests.
    "quotes/test_quote_execution.py::test_an_expired_quote_cannot_be_executed",
)
"""Scenarios about what the target does by itself, while the suite is about to ask for it."""

DECIDED = ("PLM-602", "PLM-603", "PLM-604", "PLM-605", "PLM-606", "PLM-607", "QUO-110")
"""Some of what they decide."""


def test_a_line_adds_its_round_trip(reference: BackgroundServer) -> None:
    """The same answer comes, one round trip later, and a further one where it has to connect."""
    upstream = reference.base_url.removesuffix(f"/{VERSION}")

    expected, _ = first_and_second_seconds(upstream)
    with SlowLine(upstream, ROUND_TRIP_SECONDS) as line:
        answer, (first, second) = first_and_second_seconds(line.origin)

    assert answer == expected
    assert first >= 2 * ROUND_TRIP_SECONDS
    assert second >= ROUND_TRIP_SECONDS


@pytest.mark.slow
@pytest.mark.usefixtures("credentials")
def test_verdicts_are_the_same_over_a_slow_line(
    reference: BackgroundServer, tmp_path: Path
) -> None:
    """The verdicts of telling scenarios are the same with 0 and with 50 ms of round trip."""
    upstream = reference.base_url.removesuffix(f"/{VERSION}")

    with SlowLine(upstream, ROUND_TRIP_SECONDS) as line:
        near = verdicts_at(upstream, tmp_path / "near")
        far = verdicts_at(line.origin, tmp_path / "far")

    assert far == near
    assert {name: near[name] for name in DECIDED} == dict.fromkeys(
        DECIDED, RequirementVerdict.PASSED
    )


def first_and_second_seconds(origin: str) -> tuple[tuple[int, bytes], tuple[float, float]]:
    """Ask twice over one connection; return the last status and body, and the seconds of each."""
    connection = http.client.HTTPConnection(urlsplit(origin).netloc, timeout=10)
    moments = [time.monotonic()]
    with contextlib.closing(connection):
        for _ in range(2):
            connection.request("GET", f"/{VERSION}/config")
            response = connection.getresponse()
            answer = response.status, response.read()
            moments.append(time.monotonic())
    return answer, (moments[1] - moments[0], moments[2] - moments[1])


def verdicts_at(origin: str, folder: Path) -> dict[str, RequirementVerdict]:
    """Run the telling scenarios against an origin; return the verdict of each requirement."""
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        pytest.main(
            [
                *(str(ROOT / "conformance" / "scenarios" / place) for place in TELLING),
                f"--rootdir={ROOT}",
                f"--base-url={origin}/{VERSION}",
                "--profile=reference",
                f"--report-dir={folder}",
                "--import-mode=importlib",
                *(f"-pno:{name}" for name in ("cacheprovider", "randomly", "xdist")),
                "-Wignore::pytest.PytestAssertRewriteWarning",
            ]
        )
    report = Report.model_validate_json((folder / "report.json").read_text("utf-8"))
    return {entry.id: entry.verdict for entry in report.requirements}
