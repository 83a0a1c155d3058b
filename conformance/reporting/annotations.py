"""Failures as annotations of a job of GitHub's CI: lines that its runner reads in the output."""

from __future__ import annotations

from collections.abc import Iterator

from conformance.reporting.digest import headline
from conformance.reporting.report import Entry, Report
from conformance.text.characters import visible
from conformance.verdict.plan import RequirementVerdict

MAX_SHOWN = 9
"""Of each kind; of a step ten are shown, and the verdict is one of them."""

_MAX_CHARS = 600
_IN_MESSAGE = {"%": "%25", "\r": "%0D", "\n": "%0A"}
_IN_PROPERTY = {**_IN_MESSAGE, ":": "%3A", ",": "%2C"}


def as_annotations(report: Report) -> Iterator[str]:
    """Yield a line for the verdict, for the first failures, and for the first warnings.

    What comes from a target is escaped, so that none of it is read as a command.
    """
    failed = report.of(RequirementVerdict.FAILED)
    yield _command("error" if failed else "notice", "Conformance", headline(report))
    for entry in failed[:MAX_SHOWN]:
        yield _command("error", entry.id, _told(entry))
    for entry in report.of(RequirementVerdict.WARNED)[:MAX_SHOWN]:
        yield _command("warning", entry.id, _told(entry))


def _told(entry: Entry) -> str:
    detail = visible(entry.detail)
    short = detail if len(detail) <= _MAX_CHARS else f"{detail[:_MAX_CHARS]}…"
    return f"{entry.statement}\n{short}"


def _command(kind: str, title: str, message: str) -> str:
    return f"::{kind} title={_escaped(title, _IN_PROPERTY)}::{_escaped(message, _IN_MESSAGE)}"


def _escaped(text: str, escapes: dict[str, str]) -> str:
    return "".join(escapes.get(character, character) for character in text)
