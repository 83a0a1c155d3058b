"""Which kinds of tests find a mutant: what is asked, what is told, and what is kept."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.proof import kinds
from conformance.proof.kinds import judge, kind_of
from conformance.proof.mutation import load
from conformance.proof.patch import MutantError
from conformance.reporting.kills import (
    BY_KIND,
    KINDS,
    FiguresError,
    Finding,
    KindScore,
    read_kinds,
    write_findings,
)
from conformance.selftest.collection import ROOT

LIMITS = "conformance/scenarios/protocol/test_limits.py"


@pytest.mark.parametrize(
    ("module", "name", "kind"),
    [
        ("fuzz/test_operations.py", "test_createQuote", "generated"),
        ("fuzz/test_links.py", "test_what_links_lead_to_is_answered", "generated"),
        ("fuzz/test_model.py", "test_payments_agree_with_the_model", "model"),
        ("fuzz/test_clients.py", "test_payments_of_several_clients", "clients"),
        ("scenarios/quotes/test_lost_answers.py", "test_x[after-sending]", "lost answers"),
        ("scenarios/quotes/test_quote_execution.py", "test_x[PROCESSING]", "curated"),
    ],
)
def test_each_test_is_of_a_kind(module: str, name: str, kind: str) -> None:
    """Its file tells the kind, or the moment at which it cuts the line."""
    item: Any = SimpleNamespace(name=name, path=ROOT / "conformance" / module)

    assert kind_of(item) == kind


def test_what_does_not_exist_is_told() -> None:
    """A mutant or a kind of another name is refused before anything runs."""
    with pytest.raises(MutantError, match="there is no 'x'"):
        judge(["x"], [], 1)
    with pytest.raises(MutantError, match="there is no 'luck'"):
        judge([], ["luck"], 1)


def test_a_kind_finds_what_its_tests_come_to() -> None:
    """A test of the mutant's requirement finds it, and a kind without such a test never met it."""
    mutant = next(one.id for one in load() if one.requirement == "LIM-002")
    test = f"{LIMITS}::test_remittance_information_is_at_most_80_characters"

    findings = judge([mutant], ["curated", "model"], 1, {mutant: {test}})

    assert findings == [
        Finding(mutant, "curated", ("LIM-002",)),
        Finding(mutant, "model", (), is_met=False),
    ]


def test_what_was_found_is_kept_and_read(tmp_path: Path) -> None:
    """A row for each mutant, a column for each kind, and above them the command."""
    file = tmp_path / "by_kind.csv"
    assert read_kinds(file) == ()
    findings = [
        *(Finding("B-1/x", kind, ("B-1",) if kind == "model" else ()) for kind in KINDS),
        *(Finding("A-1/x", kind, (), is_met=kind == "curated") for kind in KINDS),
    ]

    write_findings(findings, "--sample 2 --seed 1", file)

    lines = file.read_text(encoding="utf-8").splitlines()
    assert lines == [
        "# payments-conformance mutants --by-kind --sample 2 --seed 1 --figures",
        "mutant,curated,generated,model,lost answers,clients",
        "A-1/x,missed,not met,not met,not met,not met",
        "B-1/x,missed,missed,found,missed,missed",
    ]
    scores = {score.kind: score for score in read_kinds(file)}
    assert scores["curated"] == KindScore("curated", found=0, met=2, total=2)
    assert scores["model"] == KindScore("model", found=1, met=1, total=2)
    file.write_text("mutant,curated\nA-1/x,luck\n", encoding="utf-8")
    with pytest.raises(FiguresError, match=r"^by_kind\.csv: expected found, missed or not met"):
        read_kinds(file)


def test_each_kind_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The output names what found each mutant, and the total; with --figures it is kept."""
    file = tmp_path / "by_kind.csv"
    found = [Finding("A-1/x", kind, ("A-1",) if kind == "clients" else ()) for kind in KINDS]
    monkeypatch.setattr(kinds, "BY_KIND", file)
    monkeypatch.setattr(kinds, "_reaching", lambda *_: {"A-1/x": set()})
    monkeypatch.setattr(kinds, "judge", lambda *_, **__: found)

    result = CliRunner().invoke(app, ["mutants", "--by-kind", "--sample=1", "--figures"])

    assert result.exit_code == 0, result.output
    assert "A-1/x: clients (A-1)\n" in result.output
    assert "clients: 1 of 1; its tests come to 1 of them\n" in result.output
    assert [score.found for score in read_kinds(file)] == [0, 0, 0, 0, 1]


@pytest.mark.parametrize("option", ["--only=LIM-002", "--with=model", "--unaimed"])
def test_figures_are_of_a_sample_and_of_all_kinds(option: str) -> None:
    """A part of it is not kept."""
    result = CliRunner().invoke(app, ["mutants", "--by-kind", "--figures", option])

    assert result.exit_code == 2
    assert "figures are of a sample" in result.output


def test_the_kept_figures_are_of_mutants_that_there_are() -> None:
    """Each mutant of the kept file is declared."""
    lines = BY_KIND.read_text(encoding="utf-8").splitlines()[2:]

    assert {line.partition(",")[0] for line in lines} <= {mutant.id for mutant in load()}
