"""The report in a terminal: what a person reads when the run ends."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from conformance.contract.areas import areas
from conformance.reporting.digest import (
    Group,
    counted,
    duration,
    groups,
    headline,
    outdated,
    told,
    told_classes,
)
from conformance.reporting.report import CauseEntry, Entry, Report, TimeSpent
from conformance.text.legible import legible
from conformance.verdict.decisions import Reason
from conformance.verdict.gate import GateResult
from conformance.verdict.plan import RequirementVerdict

_COLOURS = {
    GateResult.CONFORMANT: "green",
    GateResult.NO_NEW_FAILURE: "green",
    GateResult.NOT_CONFORMANT: "red",
    GateResult.BASELINE_OUTDATED: "red",
    GateResult.INCONCLUSIVE: "yellow",
    GateResult.TOO_LITTLE_EXERCISED: "red",
}
_MAX_CAUSES = {RequirementVerdict.FAILED: 20, RequirementVerdict.WARNED: 5}
_MAX_LAID_OUT = 3
"""Up to so many causes take several lines each; more of them take few each, to fit a screen."""

_MAX_STATEMENT_CHARS = 100
_WIDTH = 100
_INDENT = " " * 4
_MAX_NAMES = 12
_MAX_PASTED_LINES = 60
_FIRST_IDS = 5
_MAX_DETAILS = 6
_DETAIL_CHARS = 90


def summary(report: Report, terminal: pytest.TerminalReporter, folder: Path | None = None) -> None:
    """Write a compact summary of the report.

    Args:
        report: what the run found out.
        terminal: where to write.
        folder: where ``report.json`` and ``report.html`` are, if they were written.
    """
    run = report.run
    terminal.section("conformance")
    terminal.write_line(headline(report), bold=True, **{_COLOURS[report.gate.result]: True})
    for verdict in _MAX_CAUSES:
        _write_causes(report, terminal, verdict)
    requests = "" if run.requests is None else f", {run.requests} requests"
    terminal.write_line(f"{run.base_url} ({run.environment}), seed {run.seed}{requests}")
    early = "" if run.interrupted is None else f"The run ended early: {run.interrupted}"
    for aside in filter(None, (early, told(report))):
        terminal.write_line(aside, yellow=True)
    if report.time is not None:
        terminal.write_line(_time(report.time))
    for line in (*_classes(report), *_table(report)):
        terminal.write_line(line)
    for line in _baseline(report):
        terminal.write_line(line)
    for verdict in (RequirementVerdict.INCONCLUSIVE, RequirementVerdict.NOT_EXERCISED):
        for line in _open(verdict, groups(report, verdict)):
            terminal.write_line(line)
    if folder is not None:
        terminal.write_line(f"reports: {folder / 'report.html'} and {folder / 'report.json'}")


def _write_causes(
    report: Report, terminal: pytest.TerminalReporter, verdict: RequirementVerdict
) -> None:
    """Write what requirements are broken for, failed or warned ones; first what decides."""
    most = _MAX_CAUSES[verdict]
    deciding = {entry.id for entry in report.deciding()}
    causes = sorted(
        (cause for cause in report.causes if cause.verdict is verdict),
        key=lambda cause: deciding.isdisjoint(cause.requirements),
    )
    lay_out = _broken if len(causes) <= _MAX_LAID_OUT else _broken_in_short
    for cause in causes[:most]:
        first, *others = lay_out(report, cause)
        terminal.write_line(first, red=verdict is RequirementVerdict.FAILED, bold=True)
        for line in others:
            terminal.write_line(f"{_INDENT}{line}")
    if len(causes) > most:
        rest = sum(len(cause.requirements) for cause in causes[most:])
        more = counted(len(causes) - most, "more cause")
        terminal.write_line(f"and {more} ({rest} {verdict}), see the report")


def _time(time: TimeSpent) -> str:
    """Return what the time of the tests went into."""
    parts = {"on requests": time.target, "waiting": time.waiting, "within the suite": time.suite}
    told = ", ".join(f"{duration(seconds)} {name}" for name, seconds in parts.items())
    return f"time of the tests: {duration(time.tests)}, of that {told}"


def _classes(report: Report) -> Iterable[str]:
    """Yield the verdict on each conformance class that the run is about."""
    text = f"classes: {'; '.join(told_classes(report))}"
    return textwrap.wrap(text, _WIDTH, subsequent_indent="    ", break_on_hyphens=False)


def _baseline(report: Report) -> Iterator[str]:
    """Yield what has to be changed in the baseline, and entries for what is new."""
    yield from outdated(report)
    if report.baseline is not None and report.baseline.new:
        yield f"If they may stay, these entries go to {report.baseline.file}:"
        lines = report.baseline.to_paste.splitlines()
        yield from lines[:_MAX_PASTED_LINES]
        if len(lines) > _MAX_PASTED_LINES:
            yield "# and more, see baseline.to_paste of the report"


def _table(report: Report) -> Iterable[str]:
    selected = {entry.area for entry in report.selected()}
    titles = {name: areas()[name].title for name in report.counts if name in selected}
    wide = max(map(len, (*titles.values(), "total")))
    yield " " * wide + "".join(f"  {verdict}" for verdict in RequirementVerdict)
    rows = [(title, report.tally(name)) for name, title in titles.items()]
    for name, counts in (*rows, ("total", report.tally())):
        cells = (f"  {counts[verdict] or '-':>{len(verdict)}}" for verdict in RequirementVerdict)
        yield f"{name:{wide}}" + "".join(cells)
    if report.plan.outside:
        yield f"{len(report.plan.outside)} more are outside of the selection."


def _broken(report: Report, cause: CauseEntry) -> Iterator[str]:
    """Yield the lines on a cause: what it is, the first requirement, the others, and a test."""
    yield f"{cause.verdict.upper()} {cause.told}"
    first = report.entry(cause.requirements[0])
    statement = textwrap.shorten(first.statement, _MAX_STATEMENT_CHARS, placeholder="…")
    yield f"{first.id} {statement} ({first.source})"
    if others := cause.requirements[1:]:
        more = f" and {len(others) - _MAX_NAMES} more" if len(others) > _MAX_NAMES else ""
        yield f"also {', '.join(others[:_MAX_NAMES])}{more}"
    yield from first.tests[:1]


def _broken_in_short(report: Report, cause: CauseEntry) -> Iterator[str]:
    """Yield few lines on a cause: its first requirement, how many others there are; what it is."""
    wide = _WIDTH - len(_INDENT)
    first, *others = cause.requirements
    ids = f"{first} and {len(others)} more" if others else first
    text = f"{cause.verdict.upper()} {ids}: {report.entry(first).statement}"
    yield from textwrap.wrap(text, wide, break_on_hyphens=False)
    yield textwrap.shorten(cause.told, wide, placeholder="…")


def _open(verdict: RequirementVerdict, found: Iterable[Group]) -> Iterable[str]:
    """Yield some lines for each reason: how many, why, and for want of what.

    What a profile does not name as missing, the details tell.
    """
    by_reason: dict[Reason, list[Group]] = {}
    for group in found:
        by_reason.setdefault(group.reason, []).append(group)
    for reason, of_reason in by_reason.items():
        entries = [entry for group in of_reason for entry in group.entries]
        wanted = Counter(name for entry in entries for name in entry.missing)
        names = [f"{name} ({count})" for name, count in wanted.most_common(_MAX_NAMES)]
        if more := len(wanted) - len(names):
            names.append(f"{more} more")
        if not names:
            names = [entry.id for entry in entries[:_FIRST_IDS]]
            names += ["…"] if len(entries) > _FIRST_IDS else []
        text = f"{len(entries)} {verdict}, {reason}: {', '.join(names)}"
        yield from textwrap.wrap(text, _WIDTH, subsequent_indent="    ", break_on_hyphens=False)
        if not wanted:
            yield from _details(reason, entries)


def _details(reason: Reason, entries: Iterable[Entry]) -> Iterator[str]:
    """Yield a line for each of the most frequent details of requirements that are open."""
    details = (entry.detail.removeprefix(reason).removeprefix(": ") for entry in entries)
    counts = Counter(
        textwrap.shorten(legible(detail), _DETAIL_CHARS, placeholder="…")
        for detail in details
        if detail
    )
    shown = counts.most_common(_MAX_DETAILS)
    for detail, count in shown:
        yield f"    {count:>3} {detail}"
    if more := len(counts) - len(shown):
        rest = counts.total() - sum(count for _, count in shown)
        yield f"    {rest:>3} for {counted(more, 'other cause')}: see their detail in report.json"
