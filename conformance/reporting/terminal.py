"""The report in a terminal: what a person reads when the run ends."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import pytest

from conformance.contract.areas import areas
from conformance.reporting.digest import Group, groups, headline, told
from conformance.reporting.report import Entry, Report
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import RequirementVerdict, TargetVerdict

_COLOURS = {
    TargetVerdict.CONFORMANT: "green",
    TargetVerdict.NOT_CONFORMANT: "red",
    TargetVerdict.INCONCLUSIVE: "yellow",
}
_MAX_LINES = {RequirementVerdict.FAILED: 40, RequirementVerdict.WARNED: 10}
_MAX_STATEMENT_CHARS = 100
_WIDTH = 100
_MAX_NAMES = 12
_FIRST_IDS = 5


def summary(report: Report, terminal: pytest.TerminalReporter, folder: Path | None = None) -> None:
    """Write a compact summary of the report.

    Args:
        report: what the run found out.
        terminal: where to write.
        folder: where ``report.json`` and ``report.html`` are, if they were written.
    """
    run = report.run
    terminal.section("conformance")
    terminal.write_line(headline(report), bold=True, **{_COLOURS[report.verdict]: True})
    requests = "" if run.requests is None else f", {run.requests} requests"
    terminal.write_line(f"{run.base_url} ({run.environment}), seed {run.seed}{requests}")
    early = "" if run.interrupted is None else f"The run ended early: {run.interrupted}"
    for aside in filter(None, (early, told(report))):
        terminal.write_line(aside, yellow=True)
    for line in _table(report):
        terminal.write_line(line)
    for verdict, most in _MAX_LINES.items():
        entries = report.of(verdict)
        for entry in entries[:most]:
            terminal.write_line(_broken(entry), red=verdict is RequirementVerdict.FAILED, bold=True)
            for test in entry.tests[:1]:
                terminal.write_line(f"    {test}")
        if len(entries) > most:
            terminal.write_line(f"and {len(entries) - most} more {verdict}, see the report")
    for verdict in (RequirementVerdict.INCONCLUSIVE, RequirementVerdict.NOT_EXERCISED):
        for line in _open(verdict, groups(report, verdict)):
            terminal.write_line(line)
    if folder is not None:
        terminal.write_line(f"reports: {folder / 'report.html'} and {folder / 'report.json'}")


def _table(report: Report) -> Iterable[str]:
    titles = {name: areas()[name].title for name in report.counts}
    wide = max(map(len, (*titles.values(), "total")))
    yield " " * wide + "".join(f"  {verdict}" for verdict in RequirementVerdict)
    rows = [(title, report.tally(name)) for name, title in titles.items()]
    for name, tally in (*rows, ("total", report.tally())):
        cells = (f"  {tally[verdict] or '-':>{len(verdict)}}" for verdict in RequirementVerdict)
        yield f"{name:{wide}}" + "".join(cells)


def _broken(entry: Entry) -> str:
    statement = textwrap.shorten(entry.statement, _MAX_STATEMENT_CHARS, placeholder="…")
    return f"{entry.verdict.upper()} {entry.id} {statement} ({entry.source})"


def _open(verdict: RequirementVerdict, found: Iterable[Group]) -> Iterable[str]:
    """Yield a line or a few for each reason: how many, why, and for want of what."""
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
