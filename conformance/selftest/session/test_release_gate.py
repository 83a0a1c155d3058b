"""A gate from end to end: a release of the reference with one mutant is stopped, and told why."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from pathlib import Path

import pytest
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.proof.mutation import choose, load
from conformance.proof.patch import Patch
from conformance.selftest.collection import ROOT
from conformance.selftest.runs import BROKEN, OK, run_within

OUTDATED = 8
BROKEN_ID = "ERR-050"
MUTANT = f"{BROKEN_ID}/conflict"
# Those that name a requirement of the class; to read all others takes longer than to run these.
FILES = (
    "conformance/scenarios/external_accounts/test_receiver_lookup.py",
    "conformance/scenarios/protocol/test_counterparties.py",
)


@dataclass(frozen=True)
class Outcome:
    """What came of a run: its exit status, the lines of its summary, and its report folder."""

    status: int
    lines: list[str]
    folder: Path


@dataclass(frozen=True)
class Gate:
    """Runs one conformance class of the suite against the reference, with a baseline."""

    folder: Path
    target: tuple[str, str]

    def release(self, name: str, baseline: str) -> Outcome:
        """Judge the reference as it is now; ``name`` is that of the report folder."""
        known, reports = self.folder / "known.yaml", self.folder / name
        known.write_text(baseline, encoding="utf-8")
        status, output = run_within(
            ROOT,
            *self.target,
            *("--class=uma", "--require-exercised=100"),
            f"--baseline={known}",
            f"--report-dir={reports}",
            *FILES,
        )
        _, _, summary = output.partition(" conformance ===")
        lines = [line for line in (summary or output).splitlines() if line.strip("=")]
        return Outcome(status, lines, reports)


@pytest.fixture
def gate(tmp_path: Path, against: tuple[str, str]) -> Gate:
    """Return the gate of a project that releases the reference of this process."""
    return Gate(tmp_path, against)


@pytest.fixture
def patch() -> Generator[Patch]:
    """Return what changes the reference until the test ends."""
    patching = Patch()
    yield patching
    patching.revert()


@pytest.mark.slow
def test_a_broken_release_is_stopped(gate: Gate, patch: Patch) -> None:
    """One mutant is stopped by class, diff and baseline; its entry opens the gate until mended."""
    (mutant,) = choose(load([BROKEN_ID]), [MUTANT])
    good = gate.release("good", baseline="")
    mutant.patch(patch)
    broken = gate.release("broken", baseline="")
    diff = CliRunner().invoke(app, ["diff", str(good.folder), str(broken.folder)])
    assert broken.status == BROKEN, broken.lines
    at = broken.lines.index(f"- id: {BROKEN_ID}")
    entry = "\n".join(broken.lines[at : at + 3])
    known = gate.release("known", baseline=entry)
    patch.revert()
    mended = gate.release("mended", baseline=entry)

    assert good.status == OK, good.lines
    assert good.lines[0] == (
        "payments-conformance reference is conformant to UMA, 100 % exercised: none of the 14 "
        "decided requirements is broken."
    )
    assert broken.lines[0] == (
        "payments-conformance reference is not conformant to UMA: it breaks 1 requirement of the "
        f"14 decided, for 1 cause; new is {BROKEN_ID}; outside of what was asked for, "
        "2 requirements broken."
    )
    # What is broken outside of the class stands below what stops the release.
    assert broken.lines[1] == "FAILED createQuote: answers 409 INVALID_UMA_ADDRESS, not 400 or 422"
    assert diff.exit_code == 1
    assert diff.output.splitlines()[0] == (
        "Regression from payments-conformance reference to payments-conformance reference: "
        "3 new failures; 0 repaired, 0 newly decided."
    )
    assert f"  {BROKEN_ID} " in diff.output
    assert known.status == OK, known.lines
    assert known.lines[0].startswith("No new failure of payments-conformance reference in UMA")
    assert mended.status == OUTDATED, mended.lines
    assert mended.lines[0] == (
        f"The baseline is out of date: {gate.folder / 'known.yaml'}:1: {BROKEN_ID} passes now, "
        "take the entry out."
    )
