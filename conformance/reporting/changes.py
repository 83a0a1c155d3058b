"""What changed between the reports of two runs."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from conformance.reporting.digest import counted, listed
from conformance.reporting.markdown import escaped, table
from conformance.reporting.report import Entry, Report
from conformance.text.characters import visible
from conformance.verdict.claims import ClassVerdict
from conformance.verdict.plan import DECIDED, RequirementVerdict

_FAILED = RequirementVerdict.FAILED
_NAME = "report.json"
_ZIPPED = ".gz"
_MAX_UNZIPPED_BYTES = 100_000_000


class UnusableReport(Exception):
    """A file is no report that this version of the suite can read; the message names it."""


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Change(_Part):
    """A requirement whose verdict changed. ``was`` is absent where the old report lacks it."""

    id: str
    statement: str
    was: RequirementVerdict | None
    now: RequirementVerdict
    why: str = Field(description="the first line of what the check says, or why none decided it")


class ClassChange(_Part):
    """A conformance class whose verdict or share changed; percentages are of what is exercised."""

    name: str
    title: str
    was: ClassVerdict
    now: ClassVerdict
    percent_was: int
    percent_now: int


class Changes(_Part):
    """What changed from one report to another."""

    model_config = ConfigDict(title="Changes between two conformance reports")

    format: Literal[1] = 1
    old: str = Field(description="the implementation and version of the old report")
    new: str
    regression: bool = Field(description="whether there are new failures or newly undecided ones")
    new_failures: tuple[Change, ...]
    newly_undecided: tuple[Change, ...]
    new_warnings: tuple[Change, ...]
    repaired: tuple[Change, ...]
    newly_decided: tuple[Change, ...]
    not_compared: int = Field(
        description="requirements outside of the selection of one of the runs"
    )
    classes: tuple[ClassChange, ...]
    observations_new: tuple[str, ...]
    observations_gone: tuple[str, ...]


GROUPS: Mapping[str, str] = {
    "new_failures": "New failures",
    "newly_undecided": "Newly undecided",
    "new_warnings": "Recommendations no longer followed",
    "repaired": "Repaired",
    "newly_decided": "Newly decided",
}
"""The groups of changed requirements by their members, what matters most first."""


def read_report(path: Path) -> Report:
    """Return the report in a file, or in ``report.json`` of a folder, which may be gzipped.

    Raises:
        UnusableReport: it cannot be read, or is no report of the format that this suite writes.
    """
    file = path / _NAME if path.is_dir() else path
    if not file.exists() and (zipped := path / f"{_NAME}{_ZIPPED}").is_file():
        file = zipped
    try:
        return Report.model_validate_json(_content(file))
    except (OSError, EOFError, zlib.error) as error:
        told = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise UnusableReport(f"{file} cannot be read: {told}") from error
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        told = f"{place}: {first['msg']}" if place else first["msg"]
        raise UnusableReport(f"{file} is no report of this suite: {told}") from error


def _content(file: Path) -> bytes:
    if file.suffix != _ZIPPED:
        return file.read_bytes()
    with gzip.open(file) as stream:
        content = stream.read(_MAX_UNZIPPED_BYTES + 1)
    if len(content) > _MAX_UNZIPPED_BYTES:
        raise UnusableReport(f"{file} has more than {_MAX_UNZIPPED_BYTES} bytes once unzipped")
    return content


def changes(old: Report, new: Report) -> Changes:
    """Return what changed. What one of the runs was not going to decide is not compared."""
    before = {entry.id: entry for entry in old.requirements}
    outside = {*old.plan.outside, *new.plan.outside}
    groups: dict[str, list[Change]] = {name: [] for name in GROUPS}
    compared = 0
    for entry in new.requirements:
        was = before.get(entry.id)
        group = _group(was, entry)
        # What is broken is told, also where it was found by the way.
        if entry.id in outside and group != "new_failures":
            continue
        compared += 1
        if group is not None:
            groups[group].append(_change(was, entry))
    seen, seen_before = ({item.text for item in each.observations} for each in (new, old))
    return Changes(
        old=_subject(old),
        new=_subject(new),
        regression=bool(groups["new_failures"] or groups["newly_undecided"]),
        not_compared=len(new.requirements) - compared,
        classes=tuple(_class_changes(old, new)),
        observations_new=tuple(sorted(seen - seen_before)),
        observations_gone=tuple(sorted(seen_before - seen)),
        **{name: tuple(found) for name, found in groups.items()},
    )


def headline(found: Changes) -> str:
    """Return in one sentence whether the new run is worse, and in what."""
    numbers = {name: len(getattr(found, name)) for name in GROUPS}
    worse = [
        counted(numbers["new_failures"], "new failure") if numbers["new_failures"] else "",
        f"{numbers['newly_undecided']} newly undecided" if numbers["newly_undecided"] else "",
    ]
    better = f"{numbers['repaired']} repaired, {numbers['newly_decided']} newly decided"
    told = f"{listed([text for text in worse if text])}; {better}" if any(worse) else better
    word = "Regression" if found.regression else "No regression"
    return f"{word} from {found.old} to {found.new}: {told}."


def as_text(found: Changes) -> str:
    """Return the changes for a terminal."""
    lines = [headline(found)]
    for name, title in GROUPS.items():
        of_group: tuple[Change, ...] = getattr(found, name)
        if of_group:
            lines.append(f"{title} ({len(of_group)})")
        for change in of_group:
            lines.append(f"  {change.id} {change.statement} ({change.was or 'new'} → {change.now})")
            lines += [f"    {change.why}"] if change.why else []
    lines += [f"{one.title}: {_told(one)}" for one in found.classes]
    lines += [f"New observation: {text}" for text in found.observations_new]
    lines += [f"Observation gone: {text}" for text in found.observations_gone]
    if found.not_compared:
        lines.append(f"{found.not_compared} were outside of the selection of one of the runs.")
    # A report that others hand in need not have been written by this suite.
    return "\n".join(map(visible, lines)) + "\n"


def as_markdown(found: Changes) -> str:
    """Return the changes as Markdown, for the summary of a job or a comment."""
    lines = [f"### {escaped(headline(found))}"]
    for name, title in GROUPS.items():
        of_group: tuple[Change, ...] = getattr(found, name)
        if of_group:
            rows = ((c.id, c.statement, c.was or "new", c.now, c.why) for c in of_group)
            head = ("Requirement", "Statement", "Was", "Now", "Why")
            lines += ["", f"#### {title} ({len(of_group)})", "", *table(head, rows)]
    if found.classes:
        lines += ["", "#### Conformance classes", ""]
        lines += table(("Class", "Change"), ((one.title, _told(one)) for one in found.classes))
    seen = [("new", text) for text in found.observations_new]
    seen += [("gone", text) for text in found.observations_gone]
    if seen:
        lines += ["", "#### Observations", "", *table(("", "Observation"), seen)]
    return "\n".join(lines) + "\n"


def _group(was: Entry | None, now: Entry) -> str | None:
    before = was.verdict if was else None
    if now.verdict == before:
        return None
    decided_before = before in DECIDED
    if now.verdict is _FAILED:
        return "new_failures"
    if now.verdict not in DECIDED:
        return "newly_undecided" if decided_before else None
    if before is _FAILED:
        return "repaired"
    if now.verdict is RequirementVerdict.WARNED:
        return "new_warnings"
    return None if decided_before else "newly_decided"


def _change(was: Entry | None, now: Entry) -> Change:
    why = now.reason if now.reason is not None else now.detail.strip().partition("\n")[0]
    return Change(
        id=now.id,
        statement=now.statement,
        was=was.verdict if was else None,
        now=now.verdict,
        why=why,
    )


def _class_changes(old: Report, new: Report) -> Iterator[ClassChange]:
    before = {one.name: one for one in old.classes}
    for one in new.classes:
        was = before.get(one.name)
        if was and (was.verdict, was.exercised.percent) != (one.verdict, one.exercised.percent):
            yield ClassChange(
                name=one.name,
                title=one.title,
                was=was.verdict,
                now=one.verdict,
                percent_was=was.exercised.percent,
                percent_now=one.exercised.percent,
            )


def _told(change: ClassChange) -> str:
    return (
        f"{change.was}, {change.percent_was} % exercised → "
        f"{change.now}, {change.percent_now} % exercised"
    )


def _subject(report: Report) -> str:
    return " ".join(filter(None, (report.run.implementation, report.run.implementation_version)))
