"""Each target of the register leads to the result of its entry, and to nothing else."""

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


@pytest.mark.slow
@pytest.mark.parametrize("entry", [pytest.param(e, id=e.name) for _, e in REGISTER])
def test_entry(
    entry: Entry, upstream: BackgroundServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A run ends as its entry expects, and tells no secret and no control character."""
    folder = tmp_path / "cwd"
    folder.mkdir()
    monkeypatch.chdir(folder)

    with entry.start(upstream.origin, tmp_path) as target:
        outcome = runs.run(entry, target.base_url, folder)

    problems = [*_differences(entry, outcome, target.received), *runs.problems(outcome)]
    if entry.expected.scripts:
        problems += runs.execute_scripts(outcome, tmp_path / "scripts")
    text = "\n".join(problems)
    assert not problems, f"{entry.does}\n{text}\n\n{outcome.output}"


def test_names_are_unique() -> None:
    """Names of entries are unique, and each entry is described by a sentence."""
    names = [entry.name for _, entry in REGISTER]

    assert len(names) == len(set(names))
    assert all(entry.does.endswith(".") for _, entry in REGISTER)


def test_the_table_has_every_entry() -> None:
    """The table has a row with the name of each entry."""
    text = table()

    assert all(f"| {entry.name} |" in text for _, entry in REGISTER)


def _differences(entry: Entry, outcome: Outcome, received: list[Received]) -> list[str]:
    expected = entry.expected
    differences = []
    if outcome.status not in expected.exits:
        differences.append(f"expected exit status {expected.exits}, got {outcome.status}")
    if outcome.seconds > expected.seconds:
        differences.append(f"expected at most {expected.seconds} s, got {outcome.seconds:.1f} s")
    if outcome.mebibytes > expected.mebibytes:
        differences.append(
            f"expected at most {expected.mebibytes} MiB, got {outcome.mebibytes} MiB"
        )
    if expected.at_most is not None and len(received) > expected.at_most:
        differences.append(f"expected at most {expected.at_most} requests, got {len(received)}")
    differences += [
        f"{path.name} has {path.stat().st_size} bytes"
        for path in outcome.report_folder.glob("report.*")
        if path.stat().st_size > expected.report_megabytes * 1_000_000
    ]
    report = outcome.report()
    texts = outcome.output + (report.model_dump_json() if report else "")
    differences += [f"expected {text!r} to be said" for text in expected.says if text not in texts]
    differences += _verdict_differences(entry, outcome)
    for pattern in expected.never_received:
        lines = {f"{request.method} {request.path}" for request in received}
        differences += [f"the target got {line}" for line in lines if re.search(pattern, line)]
    return differences


def _verdict_differences(entry: Entry, outcome: Outcome) -> list[str]:
    """Return what is wrong with the verdicts on single requirements."""
    differences = []
    verdicts = outcome.verdicts()
    for name, expected in entry.expected.verdicts.items():
        if (verdict := verdicts.get(name)) is None:
            differences.append(f"{name} is not in the report")
            continue
        options = expected if isinstance(expected, tuple) else (expected,)
        if Reason.PRECONDITION in options:
            options += (Reason.UNREADABLE,)
        if verdict.verdict not in options and verdict.reason not in options:
            actual = f"{verdict.verdict}, {verdict.reason}: {verdict.detail[:300]}"
            differences.append(
                f"{name}: expected {[option.value for option in options]}, got {actual}"
            )
    return differences
