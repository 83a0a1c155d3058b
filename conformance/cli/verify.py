"""``payments-conformance verify``: does a report say what its journal says, by this catalogue?"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from pydantic import ValidationError

from conformance.contract.spec_files import spec_digest
from conformance.exchange.folder import JOURNALS, journals_of
from conformance.reporting.assemble import NoRun, assemble, sha256_of, suite_version, texts_of
from conformance.reporting.report import BROKEN, Entry, Report
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import RequirementVerdict

_MAX_SHOWN = 20
_OPEN = frozenset({RequirementVerdict.INCONCLUSIVE, RequirementVerdict.NOT_EXERCISED})


class CannotVerify(Exception):
    """There is no report to verify, or nothing to verify it by."""


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found: ``problems`` say what does not fit, ``notes`` what could not be told."""

    problems: tuple[str, ...]
    notes: tuple[str, ...] = ()


def verify(
    report: Annotated[
        Path, typer.Argument(help="the folder of the report, or its report.json")
    ] = Path("reports/latest"),
    *,
    digests_only: Annotated[
        bool, typer.Option("--digests-only", help="do not judge what the journal holds again")
    ] = False,
) -> None:
    """Judge the journal of a report again: do report, journal and catalogue fit each other?"""
    folder = report.parent if report.name == "report.json" else report
    try:
        published = _published(folder)
        findings = [fits_digests(published, folder), fits_journal(published, folder)]
        if not digests_only and not any(finding.problems for finding in findings):
            findings.append(fits_again(published, folder))
    except CannotVerify as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    problems = [problem for finding in findings for problem in finding.problems]
    for line in (*problems, *(note for finding in findings for note in finding.notes)):
        typer.echo(line)
    if problems:
        typer.echo(f"{folder} does not fit.")
        raise typer.Exit(1)
    again = "its digests alone were compared" if digests_only else "judged again"
    typer.echo(f"{folder} fits its journal and this catalogue; {again}.")


def _published(folder: Path) -> Report:
    path = folder / "report.json"
    try:
        return Report.model_validate_json(path.read_bytes())
    except OSError as error:
        raise CannotVerify(f"{path} cannot be read: {error.strerror}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise CannotVerify(f"{path} is no report: {place}: {first['msg']}") from error


def fits_digests(published: Report, folder: Path) -> Findings:
    """Compare the digests that a report holds with the journal beside it and our catalogue.

    Raises:
        CannotVerify: it holds none, or there is no journal.
    """
    if published.digests is None:
        raise CannotVerify(f"{folder / 'report.json'} has no digests to verify it by")
    there = {path.name: path for path in journals_of(folder)}
    if not there:
        raise CannotVerify(f"{folder / JOURNALS} holds no journal of a run")
    told = published.digests.journals
    problems = [
        f"{JOURNALS}/{name} is not the one that the report was made from"
        for name, path in there.items()
        if name in told and sha256_of(path) != told[name]
    ]
    problems += [f"{JOURNALS}/{name} is missing" for name in sorted(told.keys() - there.keys())]
    problems += [f"{JOURNALS}/{name} is none of the run" for name in sorted(there.keys() - told)]
    if published.digests.catalogue != spec_digest():
        problems.append(
            f"the report was made with the catalogue of payments-conformance "
            f"{published.run.suite_version}, and this one ({suite_version()}) has another"
        )
    return Findings(tuple(problems))


def fits_journal(published: Report, folder: Path) -> Findings:
    """Make the report anew from the decisions in its journal, and compare it byte by byte."""
    try:
        made = assemble(folder)
    except NoRun as error:
        return Findings((str(error),))
    problems = []
    # Another version of the suite has other figures, and maybe other words.
    same_version = published.run.suite_version == suite_version()
    for name, text in texts_of(made).items() if same_version else ():
        path = folder / name
        # The page and the statement may be left out where only the report is published.
        if name != "report.json" and not path.is_file():
            continue
        if path.read_bytes() != text.encode():
            problems.append(f"{name} is not what its journal says")
    problems += _differences(published, made, "the decisions in its journal say")
    return Findings(tuple(problems))


def fits_again(published: Report, folder: Path) -> Findings:
    """Judge the exchanges in the journal again, and compare the verdicts.

    Raises:
        CannotVerify: they cannot be judged; the message has what pytest told.
    """
    with tempfile.TemporaryDirectory() as place:
        command = [
            *(sys.executable, "-P", "-m", "pytest", "--pyargs", "conformance", "-q", "-Wignore"),
            *("-pno:cacheprovider", "-pno:randomly", "-pno:xdist"),
            # These plugins are not needed, and cost every session up to half a second.
            *("-pno:schemathesis", "-pno:anyio"),
            *(f"--replay={folder.resolve()}", f"--report-dir={place}"),
        ]
        done = subprocess.run(  # noqa: S603 - this very program
            command, capture_output=True, text=True, check=False, cwd=place
        )
        try:
            again = _published(Path(place))
        except CannotVerify as error:
            raise CannotVerify(f"it cannot be judged again:\n{done.stdout}{done.stderr}") from error
    entries = {entry.id: entry for entry in again.requirements}
    unknown = [
        entry.id
        for entry in published.requirements
        if entry.verdict not in _OPEN
        and entry.id in entries
        and entries[entry.id].reason in (Reason.NOT_RECORDED, Reason.DESELECTED, Reason.NOT_REACHED)
    ]
    # Of these, tests were still to come: what those before them found is no verdict yet.
    lost = [
        entry.id
        for entry in published.requirements
        if entry.reason is Reason.LOST
        and entry.id in entries
        and entries[entry.id].verdict not in BROKEN
    ]
    notes = []
    if unknown:
        shown = ", ".join(unknown[:_MAX_SHOWN]) + (", …" if len(unknown) > _MAX_SHOWN else "")
        notes.append(f"The journal does not hold what decided {len(unknown)} of them: {shown}")
    besides = frozenset((*unknown, *lost))
    problems = _differences(published, again, "its exchanges say", besides=besides)
    return Findings(tuple(problems), tuple(notes))


def _differences(
    published: Report, made: Report, who: str, besides: frozenset[str] = frozenset()
) -> Iterator[str]:
    entries = {entry.id: entry for entry in made.requirements}
    different = [
        (entry, entries[entry.id])
        for entry in published.requirements
        if entry.id in entries and entry.id not in besides and _differ(entry, entries[entry.id])
    ]
    for entry, other in different[:_MAX_SHOWN]:
        reason = f" ({other.reason})" if other.reason else ""
        yield f"{entry.id} is {entry.verdict} in the report; {who}: {other.verdict}{reason}"
    if len(different) > _MAX_SHOWN:
        yield f"and {len(different) - _MAX_SHOWN} more"


def _differ(one: Entry, other: Entry) -> bool:
    return one.verdict is not other.verdict and not (
        one.verdict in _OPEN and other.verdict in _OPEN
    )
