"""The register of hostile targets: each comes to what its entry says, and to nothing else."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from conformance.reference.server import BackgroundServer
from conformance.selftest.hostile import runs
from conformance.selftest.hostile.entry import Entry
from conformance.selftest.hostile.register import REGISTER, table
from conformance.selftest.hostile.runs import Outcome
from conformance.selftest.standins import Received
from conformance.verdict.decisions import Reason

pytestmark = pytest.mark.usefixtures("few_requirements")


@pytest.mark.parametrize("entry", [pytest.param(e, id=e.name) for _, e in REGISTER])
def test_entry(
    entry: Entry, upstream: BackgroundServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What must come out comes out; nothing secret, nothing steering and no mistake of ours."""
    folder = tmp_path / "cwd"
    folder.mkdir()
    monkeypatch.chdir(folder)

    with entry.start(upstream.origin, tmp_path) as target:
        outcome = runs.run(entry, target.base_url, folder)

    wrong = [*_unexpected(entry, outcome, target.received), *runs.problems(outcome)]
    if entry.expected.scripts:
        wrong += runs.executed_scripts(outcome, tmp_path / "scripts")
    shown = "\n".join(wrong)
    assert not wrong, f"{entry.does}\n{shown}\n\n{outcome.printed}"


def test_names_are_unique() -> None:
    """And each entry is described by a sentence."""
    names = [entry.name for _, entry in REGISTER]

    assert len(names) == len(set(names))
    assert all(entry.does.endswith(".") for _, entry in REGISTER)


def test_the_table_has_every_entry() -> None:
    """One row each."""
    shown = table()

    assert all(f"| {entry.name} |" in shown for _, entry in REGISTER)


def _unexpected(entry: Entry, outcome: Outcome, received: list[Received]) -> list[str]:
    expected = entry.expected
    found = []
    if outcome.status not in expected.exits:
        found.append(f"expected exit status {expected.exits}, got {outcome.status}")
    if outcome.seconds > expected.seconds:
        found.append(f"expected at most {expected.seconds} s, got {outcome.seconds:.1f} s")
    if outcome.mebibytes > expected.mebibytes:
        found.append(f"expected at most {expected.mebibytes} MiB, got {outcome.mebibytes} MiB")
    if expected.at_most is not None and len(received) > expected.at_most:
        found.append(f"expected at most {expected.at_most} requests, got {len(received)}")
    found += [
        f"{path.name} has {path.stat().st_size} bytes"
        for path in outcome.report_folder.glob("report.*")
        if path.stat().st_size > expected.written * 1_000_000
    ]
    report = outcome.report()
    told = outcome.printed + (report.model_dump_json() if report else "")
    found += [f"expected {text!r} to be said" for text in expected.says if text not in told]
    found += _undecided(entry, outcome)
    for pattern in expected.never_received:
        lines = {f"{one.method} {one.path}" for one in received}
        found += [f"the target got {line}" for line in lines if re.search(pattern, line)]
    return found


def _undecided(entry: Entry, outcome: Outcome) -> list[str]:
    """Return what is wrong with the verdicts on single requirements."""
    found = []
    verdicts = outcome.verdicts()
    for name, wanted in entry.expected.verdicts.items():
        if (verdict := verdicts.get(name)) is None:
            found.append(f"{name} is not in the report")
            continue
        options = wanted if isinstance(wanted, tuple) else (wanted,)
        if Reason.PRECONDITION in options:
            options += (Reason.UNREADABLE,)
        if verdict.verdict not in options and verdict.reason not in options:
            told = f"{verdict.verdict}, {verdict.reason}: {verdict.detail[:300]}"
            found.append(f"{name}: expected {[one.value for one in options]}, got {told}")
    return found
