"""The ledger of the specification: which entries come from each of its lines."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance.contract.catalogue import catalogue
from conformance.contract.data import SPEC
from conformance.contract.readings import unspecified
from conformance.contract.spec_files import parsed


class OutlineError(Exception):
    """The outline cannot be used as it is written."""


@dataclass(frozen=True, slots=True)
class Section:
    """A section of the specification: its name, the line it begins at, and those that state."""

    name: str
    heading: int
    lines: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """One line of the specification that states something, and what comes from it.

    ``requirements`` are ids of the catalogue, ``unspecified`` those of what is left open.
    """

    number: int
    section: str
    requirements: tuple[str, ...]
    unspecified: tuple[str, ...]

    @property
    def accounted(self) -> bool:
        """Whether anything comes from the line."""
        return bool(self.requirements or self.unspecified)


class Outline:
    """The sections of the specification in their order, each with its stating lines."""

    def __init__(self, sections: Collection[Section]) -> None:
        self.sections = tuple(sections)
        self.section_of: Mapping[int, str] = {
            number: section.name for section in self.sections for number in section.lines
        }

    @classmethod
    def load(cls, path: Path) -> Outline:
        """Read the outline.

        Raises:
            OutlineError: an entry is no section, or the numbers do not ascend from one section
                to the next; the message names the first one that does not.
        """
        entries = parsed(path)
        if not isinstance(entries, list):
            raise OutlineError(f"{path.name}: expected a list of sections")
        sections: list[Section] = []
        last = 0
        for entry in entries:
            section = _section(entry, path.name)
            for number in (section.heading, *section.lines):
                if number <= last:
                    raise OutlineError(
                        f"{path.name}: {section.name}: line {number} comes after {last}"
                    )
                last = number
            sections.append(section)
        return cls(sections)

    def ledger(
        self, required: Mapping[str, Collection[int]], left_open: Mapping[str, Collection[int]]
    ) -> Iterator[Line]:
        """Yield every stating line in its order.

        Args:
            required: the lines that each requirement comes from, by its id.
            left_open: the same of what is left open.

        Raises:
            OutlineError: an entry comes from a line that states nothing.
        """
        requirements, unspecified = self._by_line(required), self._by_line(left_open)
        for number, section in self.section_of.items():
            yield Line(
                number,
                section,
                tuple(requirements.get(number, ())),
                tuple(unspecified.get(number, ())),
            )

    def _by_line(self, entries: Mapping[str, Collection[int]]) -> Mapping[int, list[str]]:
        found: dict[int, list[str]] = {}
        for identifier, lines in entries.items():
            for number in lines:
                if number not in self.section_of:
                    raise OutlineError(
                        f"{identifier} comes from line {number}, which states nothing"
                    )
                found.setdefault(number, []).append(identifier)
        return found


def _section(entry: Any, where: str) -> Section:
    if not isinstance(entry, dict) or entry.keys() != {"section", "heading", "lines"}:
        raise OutlineError(f"{where}: expected {{section, heading, lines}}, got {entry!r}")
    return Section(entry["section"], entry["heading"], tuple(entry["lines"]))


@cache
def outline() -> Outline:
    """Return the outline that the suite ships."""
    return Outline.load(SPEC / "outline.yaml")


def ledger() -> list[Line]:
    """Return every stating line of the specification with what comes from it.

    Raises:
        OutlineError: an entry comes from a line that states nothing.
    """
    return list(
        outline().ledger(
            {entry.id: entry.source.lines for entry in catalogue().values()},
            {entry.id: entry.source.lines for entry in unspecified().values()},
        )
    )
