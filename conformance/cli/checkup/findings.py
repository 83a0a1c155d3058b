"""Findings: what was looked at, what came of it, and which key changes it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from conformance.text.legible import legible

_MAX_TEXT_CHARS = 600


class Grade(StrEnum):
    """How much a finding matters."""

    FINE = "fine"
    NOTE = "note"
    PROBLEM = "problem"
    OBSTACLE = "obstacle"
    """Nothing can be tested before it is mended."""


@dataclass(frozen=True, slots=True)
class Finding:
    """What came of one thing that was looked at.

    ``subject`` is what was looked at, ``key`` the key of the profile, the variable or the option
    that changes it, empty where none does.
    """

    subject: str
    grade: Grade
    text: str
    key: str = ""

    @property
    def line(self) -> str:
        """The finding as a line of text, without control characters."""
        told = f"{self.subject}: {legible(self.text, _MAX_TEXT_CHARS)}"
        return f"{self.grade:9}{told}" + (f" [{legible(self.key)}]" if self.key else "")


def fine(subject: str, text: str, key: str = "") -> Finding:
    """Return a finding that asks for nothing."""
    return Finding(subject, Grade.FINE, text, key)


def note(subject: str, text: str, key: str = "") -> Finding:
    """Return a finding that one may want to know."""
    return Finding(subject, Grade.NOTE, text, key)


def problem(subject: str, text: str, key: str = "") -> Finding:
    """Return a finding that keeps a run from deciding something."""
    return Finding(subject, Grade.PROBLEM, text, key)


def obstacle(subject: str, text: str, key: str = "") -> Finding:
    """Return a finding that keeps a run from deciding anything."""
    return Finding(subject, Grade.OBSTACLE, text, key)


def guarded(subject: str, look: Callable[[], Iterable[Finding]]) -> Iterator[Finding]:
    """Yield the findings of a look at something; one that comes to no end is a problem itself."""
    try:
        yield from look()
    except Exception as error:  # noqa: BLE001 - whatever a target sends, the others are looked at
        yield problem(subject, f"could not be looked at: {type(error).__name__}: {error}")
