"""Requirements that a target decides because it is told the answer are counted apart."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from conformance.reporting import html
from conformance.reporting.digest import told
from conformance.selftest.reporting.test_reporting import (
    REQUIREMENTS,
    TESTS,
    make_report,
    text_of,
)
from conformance.verdict.decisions import Decision, Outcome

CAUSED = next(entry for entry in REQUIREMENTS if entry.needs.triggers)
DECIDED = Decision(CAUSED.id, Outcome.PASSED, TESTS[CAUSED.id][0])


def test_they_are_decided_and_not_proven(tmp_path: Path) -> None:
    """The verdict stays, the trigger is named, and no figures of mutants stand beside it."""
    measured = tmp_path / "measured.txt"
    measured.write_text("".join(f"{entry.id} 3/3\n" for entry in REQUIREMENTS), encoding="utf-8")

    report = make_report(
        DECIDED, measured=measured, triggers=CAUSED.needs.triggers, told_answers=("quote.expire",)
    )

    entry = next(entry for entry in report.requirements if entry.id == CAUSED.id)
    assert (entry.verdict, entry.told, entry.mutants) == ("passed", ("quote.expire",), None)
    others = [other for other in report.requirements if other.id != CAUSED.id]
    assert all(other.mutants is not None and not other.told for other in others)


def test_the_report_says_how_many_they_are() -> None:
    """Page and terminal have one sentence with the number and the triggers."""
    report = make_report(
        DECIDED, triggers=CAUSED.needs.triggers, told_answers=("quote.expire", "payout.hold")
    )

    sentence = told(report)

    assert sentence == (
        "1 requirement of the decided ones rest on triggers that tell the target its answer, which "
        "proves nothing: payout.hold, quote.expire."
    )
    assert sentence in text_of(html.render(report))


def test_nothing_is_said_where_there_are_none() -> None:
    """Without such triggers, and where they decided nothing, the sentence is empty."""
    open_entry = dataclasses.replace(DECIDED, outcome=Outcome.INCONCLUSIVE)

    assert told(make_report(DECIDED)) == ""
    assert told(make_report(open_entry, told_answers=("quote.expire",))) == ""
