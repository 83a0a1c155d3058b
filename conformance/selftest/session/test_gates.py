"""Gates: runs that a class or a share of what is exercised decides."""

from __future__ import annotations

import json
from collections.abc import Generator
from pathlib import Path

import pytest

from conformance.reporting.assemble import assemble
from conformance.reporting.job_summary import VARIABLE
from conformance.selftest.runs import (
    BROKEN,
    OK,
    OPEN,
    TINY,
    USAGE,
    read_report,
    run_within,
    tiny_suite_within,
    write,
)
from conformance.verdict.claims import ClassVerdict
from conformance.verdict.gate import GateResult

UNEXERCISED, OUTDATED = 7, 8
# A class with a requirement that passes and one whose trigger can be left out, beside Core.
CARDS = {
    "requirements/cards/tiny.yaml": """
        - id: CAR-001
          level: MUST
          statement: The configuration can be read.
          source: {section: Endpoints / Cards, lines: [420]}
          operations: [getConfig]
          needs: {feature: [cards]}
        - id: CAR-002
          level: MUST
          statement: The configuration can be read after a purchase.
          source: {section: Endpoints / Cards, lines: [421]}
          operations: [getConfig]
          needs: {feature: [cards], trigger: [payout.hold]}
        """,
    "scenarios/test_tiny_cards.py": """
        from conformance.scenarios.kit.marks import requirement

        @requirement("CAR-001")
        def test_reading(platform):
            assert platform.api.get_config().accepted

        @requirement("CAR-002")
        def test_reading_after_a_purchase(platform):
            assert platform.api.get_config().accepted
        """,
    "profile.yaml": """
        implementation: {name: Acme}
        environment: sandbox
        features: {platform: unregulated, cards: true}
        """,
}

BROKEN_CORE = """
    from conformance.scenarios.kit.marks import requirement

    @requirement("QUO-083")
    def test_execution(platform):
        assert platform.api.get_config().status == 418
    """

# Of two requirements of Core the first is broken.
TWO_OF_CORE = {
    "requirements/quotes/tiny.yaml": """
        - id: QUO-083
          level: MUST
          statement: An execution is accepted.
          source: {section: Endpoints / Quotes, lines: [386]}
          operations: [executeQuote]
        - id: QUO-084
          level: MUST
          statement: A quote has an id.
          source: {section: Resources / Quote, lines: [173]}
          operations: [createQuote]
        """,
    "scenarios/test_tiny.py": """
        from conformance.scenarios.kit.marks import requirement

        @requirement("QUO-083")
        def test_execution(platform):
            assert platform.api.get_config().status == 418

        @requirement("QUO-084")
        def test_quote(platform):
            assert platform.api.get_config().accepted
        """,
}


@pytest.fixture
def suite(tmp_path: Path) -> Generator[Path]:
    """Write the tiny suite with two requirements of cards and return its folder."""
    with tiny_suite_within(write(tmp_path, {**TINY, **CARDS, "pytest.ini": "[pytest]\n"})):
        yield tmp_path


@pytest.fixture
def target(against: tuple[str, str]) -> str:
    """Return the argument of pytest that makes the reference of this process the target."""
    return against[0]


def run_suite(suite: Path, *arguments: str) -> tuple[int, list[str]]:
    """Run the tiny suite; return its exit status and the lines of its summary, verdict first."""
    status, output = run_within(suite, "--profile=profile.yaml", *arguments, "scenarios")
    _, _, summary = output.partition(" conformance ===")
    return status, [line for line in (summary or output).splitlines() if line.strip("=")]


def test_a_class_is_green_although_others_were_not_run(
    suite: Path, target: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The run of a conformant class ends with 0; only its tests run, and only they are counted."""
    monkeypatch.setenv(VARIABLE, str(suite / "job.md"))

    status, lines = run_suite(suite, target, "--class=cards")

    assert status == OK, lines
    assert lines[0] == (
        "Acme is conformant to Cards, 50 % exercised: none of the 1 decided requirements is "
        "broken; 1 more not exercised."
    )
    assert "classes: Cards conformant, 50 % exercised" in lines
    assert "3 more are outside of the selection." in lines
    report = read_report(suite)
    assert report.gate.result is GateResult.CONFORMANT
    assert report.verdict == "inconclusive", "the whole was not decided"
    assert assemble(suite / "reports" / "latest").gate.classes == ("cards",), "the journal knows"
    assert (suite / "job.md").read_text(encoding="utf-8").startswith("## Acme is conformant to")
    verdicts = {one.name: one.verdict for one in report.classes}
    assert verdicts["core"] is ClassVerdict.INCONCLUSIVE
    assert {entry.id for entry in report.selected()} == {"CAR-001", "CAR-002"}


def test_a_part_of_a_class_is_open(suite: Path, target: str) -> None:
    """A selection within a class decides not all of it: 6, and the summary counts the rest."""
    status, lines = run_suite(suite, target, "--class=cards", "-k=after")

    assert status == OPEN, lines
    assert lines[0].startswith("Nothing was decided about Acme and Cards")


def test_too_little_is_red(suite: Path, target: str) -> None:
    """A conformant class of which too little was exercised ends with a status of its own."""
    status, lines = run_suite(suite, target, "--class=cards", "--require-exercised=51")

    assert status == UNEXERCISED, lines
    assert lines[0].startswith("Too little of Acme was exercised for Cards: 50 %, asked for 51 %")


def test_a_selection_counts_what_it_names(suite: Path, target: str) -> None:
    """Without a class a selection stays open, and says how many requirements it leaves out."""
    status, lines = run_suite(suite, target, "-k=test_reading and not after")

    assert status == OPEN, lines
    assert lines[0] == (
        "No verdict on Acme: of the 1 decided requirements none is broken, but 4 more are outside "
        "of the selection."
    )
    assert not any(line.startswith("4 inconclusive") for line in lines), lines


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        ("--class=card", "no conformance class 'card'; the nearest is 'cards'"),
        ("--class=uma", "--class=uma: the profile does not claim this class"),
        ("--require-exercised=101", "--require-exercised=101: expected 0 to 100 percent"),
    ],
)
def test_wrong_terms(suite: Path, target: str, argument: str, message: str) -> None:
    """An unknown or unclaimed class, or a share above 100, ends the run at once with 4."""
    status, lines = run_suite(suite, target, argument)

    assert status == USAGE, lines
    assert message in "\n".join(lines)


def test_allure_gets_the_transcript(suite: Path, target: str) -> None:
    """A failed test has its requests, and the script that sends them again, as attachments."""
    write(suite, {"scenarios/test_tiny.py": BROKEN_CORE})

    status, lines = run_suite(suite, target, "--class=core", "--alluredir=allure")

    assert status == BROKEN, lines
    (result,) = (json.loads(path.read_text()) for path in (suite / "allure").glob("*-result.json"))
    attached = {
        one["name"]: (suite / "allure" / one["source"]).read_text(encoding="utf-8")
        for one in result["attachments"]
    }
    assert "GET http://127.0.0.1" in attached["transcript"]
    assert attached["reproduce"].startswith("#!/bin/sh")


def test_a_broken_class_is_red(suite: Path, target: str) -> None:
    """What breaks the class ends the run with 1; what breaks another one does not."""
    write(suite, {"scenarios/test_tiny.py": BROKEN_CORE})

    status, lines = run_suite(suite, target, "--class=core")
    assert status == BROKEN, lines
    assert lines[0].startswith("Acme is not conformant to Core: it breaks 1 requirement of the ")

    status, lines = run_suite(suite, target, "--class=cards")
    assert status == OK, lines


def test_a_baseline(suite: Path, target: str) -> None:
    """A new failure is red with an entry to paste; pasted, it is known and the run green."""
    write(suite, {**TWO_OF_CORE, "known.yaml": "[]"})
    arguments = (target, "--class=core", "--baseline=known.yaml")

    status, lines = run_suite(suite, *arguments)
    assert status == BROKEN, lines
    assert lines[0].endswith("for 1 cause; new is QUO-083.")
    at = lines.index("- id: QUO-083")

    write(suite, {"known.yaml": "\n".join(lines[at : at + 3])})
    status, lines = run_suite(suite, *arguments)
    assert status == OK, lines
    assert lines[0].startswith("No new failure of Acme in Core, 100 % exercised: the 1 requirement")


@pytest.mark.parametrize(
    ("known", "told"),
    [
        (
            {"QUO-083": "2999-01-01", "QUO-084": "2999-01-01"},
            "known.yaml:4: QUO-084 passes now, take the entry out",
        ),
        ({"QUO-083": "2020-01-01"}, "known.yaml:1: QUO-083 was known until 2020-01-01"),
    ],
    ids=["stale", "expired"],
)
def test_an_outdated_baseline(suite: Path, target: str, known: dict[str, str], told: str) -> None:
    """A stale or expired entry ends the run with a status of its own, and is told with its line."""
    entries = (
        f'- id: {name}\n  reason: ticket 7\n  expires: "{day}"\n' for name, day in known.items()
    )
    write(suite, {**TWO_OF_CORE, "known.yaml": "".join(entries)})

    status, lines = run_suite(suite, target, "--class=core", "--baseline=known.yaml")

    assert status == OUTDATED, lines
    assert lines[0] == f"The baseline is out of date: {told}."
