"""The catalogue: every rule of the specification as one entry under one id."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from conformance.contract.areas import AreaError, areas
from conformance.contract.data import SPEC
from conformance.contract.spec_files import parsed
from conformance.contract.vocabulary import FEATURES, TRIGGERS, did_you_mean, nearest

_ID = re.compile(r"[A-Z]{3}-\d{3,4}")
PLACEHOLDER = "TODO"
"""What stands in the skeleton of an entry until it is filled in."""

_KEYS = {"id", "level", "statement", "source", "operations", "each", "needs", "untestable"}


_RETIRED = SPEC / "retired.yaml"


class Level(StrEnum):
    """How strongly the specification binds an implementation (RFC 2119)."""

    MUST = "MUST"
    SHOULD = "SHOULD"
    MAY = "MAY"


class CatalogueError(Exception):
    """The catalogue cannot be used as it is written."""


class DuplicateId(CatalogueError):
    """Two entries carry one id."""

    def __init__(self, identifier: str, first: str, second: str) -> None:
        super().__init__(f"{second}: {identifier} stands already in {first}; give it a new number")


class RetiredId(CatalogueError):
    """An entry carries the id of a requirement that was taken out of the catalogue."""

    def __init__(self, identifier: str, place: str) -> None:
        super().__init__(
            f"{place}: {identifier} was another requirement once ({retired()[identifier]}); "
            "give it a new number"
        )


class BadEntry(CatalogueError):
    """An entry misses a key, has one too many, or holds a value outside its vocabulary."""


class UnknownRequirement(CatalogueError):
    """An id is used that the catalogue does not have."""

    def __init__(self, identifier: str, where: str, known: Mapping[str, object]) -> None:
        super().__init__(
            f"{where} names {identifier}, which is not in the catalogue{_hint(identifier, known)}"
        )


@dataclass(frozen=True, slots=True)
class Source:
    """Where in the specification a requirement comes from."""

    section: str
    lines: tuple[int, ...]

    def __str__(self) -> str:
        return f"{self.section} (line {', '.join(map(str, self.lines))})"


@dataclass(frozen=True, slots=True)
class Needs:
    """What a target has to offer before a requirement can be decided."""

    triggers: tuple[str, ...] = ()
    features: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Requirement:
    """One observable fact that the specification states.

    ``each``: it is decided on each of its operations by itself, so that one which the target does
    not offer leaves it to the others.
    """

    id: str
    level: Level
    statement: str
    source: Source
    operations: tuple[str, ...]
    area: str
    needs: Needs = field(default_factory=Needs)
    untestable: str | None = None
    each: bool = False

    @classmethod
    def from_entry(cls, entry: Any, area: str, where: str) -> Requirement:
        """Read one mapping of a catalogue file in the folder of an area.

        Raises:
            BadEntry: naming the file, the id and the key to change.
        """
        if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
            raise BadEntry(f"{where}: expected a mapping with an id, got {entry!r}")
        where = f"{where}: {entry['id']}"
        if not _ID.fullmatch(entry["id"]):
            raise BadEntry(f"{where}: an id is three capitals, a hyphen and three digits")
        _check_area(entry["id"], area, where)
        for key in entry.keys() - _KEYS:
            raise BadEntry(f"{where}: unknown key {key!r}; {did_you_mean(key, _KEYS)}")
        for key in ("level", "statement", "source", "operations"):
            if key not in entry:
                raise BadEntry(f"{where}: the key {key!r} is missing")
            if PLACEHOLDER in str(entry[key]):
                raise BadEntry(f"{where}: {key} is not filled in yet, it is still {entry[key]!r}")
        if entry["level"] not in Level.__members__:
            raise BadEntry(f"{where}: level {entry['level']!r} is none of {', '.join(Level)}")
        return cls(
            id=entry["id"],
            level=Level(entry["level"]),
            statement=" ".join(entry["statement"].split()),
            source=_source(entry["source"], where),
            operations=tuple(entry["operations"]),
            area=area,
            needs=_needs(entry.get("needs") or {}, where),
            untestable=entry.get("untestable"),
            each=entry.get("each") is True,
        )


class Catalogue(Mapping[str, Requirement]):
    """All requirements by id, in the order in which the files list them."""

    def __init__(self, requirements: Mapping[str, Requirement]) -> None:
        self._requirements = dict(requirements)

    @classmethod
    def load(cls, folder: Path) -> Catalogue:
        """Read every ``*.yaml`` in the folders of the areas below ``folder``.

        Raises:
            DuplicateId: two entries carry one id.
            RetiredId: an entry carries an id that is not given out again.
            BadEntry: an entry is not what the module describes.
        """
        found: dict[str, Requirement] = {}
        origin: dict[str, str] = {}
        order = list(areas())
        for path in sorted(folder.glob("*/*.yaml"), key=lambda path: _place(path, order)):
            place = f"{path.parent.name}/{path.name}"
            entries = parsed(path)
            if not isinstance(entries, list):
                raise BadEntry(f"{place}: expected a list of entries")
            for entry in entries:
                requirement = Requirement.from_entry(entry, path.parent.name, place)
                if requirement.id in retired():
                    raise RetiredId(requirement.id, place)
                if requirement.id in found:
                    raise DuplicateId(requirement.id, origin[requirement.id], place)
                found[requirement.id] = requirement
                origin[requirement.id] = place
        return cls(found)

    def require(self, identifier: str, where: str) -> Requirement:
        """Return the entry of ``identifier`` for its user ``where``.

        Raises:
            UnknownRequirement: naming the user and the nearest id.
        """
        try:
            return self._requirements[identifier]
        except KeyError:
            raise UnknownRequirement(identifier, where, self._requirements) from None

    def check_operations(self, known: set[str]) -> None:
        """Refuse entries that name an operation which the OpenAPI document does not have.

        Raises:
            BadEntry: naming the entry and the nearest operation.
        """
        for requirement in self.values():
            for operation in requirement.operations:
                if operation not in known:
                    raise BadEntry(
                        f"{requirement.id}: unknown operation {operation!r}; "
                        f"{did_you_mean(operation, known)}"
                    )

    def __getitem__(self, identifier: str) -> Requirement:
        return self._requirements[identifier]

    def __iter__(self) -> Iterator[str]:
        return iter(self._requirements)

    def __len__(self) -> int:
        return len(self._requirements)


def _hint(identifier: str, known: Mapping[str, object]) -> str:
    """Return what became of an id that is unknown, or which one may be meant; or nothing."""
    if identifier in retired():
        return f"; it was taken out: {retired()[identifier]}"
    meant = nearest(identifier, known)
    return f"; the nearest id is {meant}" if meant else ""


def _place(path: Path, order: Sequence[str]) -> tuple[int, str]:
    """Return what a file of the catalogue is sorted by: its area, and its name in it."""
    area = path.parent.name
    if area not in order:
        raise BadEntry(f"{area}/{path.name}: there is no area {area}; {did_you_mean(area, order)}")
    return order.index(area), path.name


def _check_area(identifier: str, area: str, where: str) -> None:
    try:
        belongs = areas().of(identifier).name
    except AreaError as error:
        raise BadEntry(f"{where}: {error}") from error
    if belongs != area:
        raise BadEntry(f"{where}: it belongs to the area {belongs}, and stands in {area}")


def _source(source: Any, where: str) -> Source:
    if (
        not isinstance(source, dict)
        or source.keys() != {"section", "lines"}
        or not source["lines"]
        or not all(isinstance(line, int) for line in source["lines"])
    ):
        raise BadEntry(f"{where}: source is {{section: text, lines: [numbers]}}, got {source}")
    return Source(source["section"], tuple(source["lines"]))


def _needs(needs: Any, where: str) -> Needs:
    for key in needs.keys() - {"trigger", "feature"}:
        raise BadEntry(f"{where}: needs has trigger and feature, not {key!r}")
    for kind, vocabulary in (("trigger", TRIGGERS), ("feature", FEATURES)):
        for name in needs.get(kind, ()):
            if name not in vocabulary:
                raise BadEntry(
                    f"{where}: unknown {kind} {name!r}; {did_you_mean(name, vocabulary)}"
                )
    return Needs(tuple(needs.get("trigger", ())), tuple(needs.get("feature", ())))


@cache
def retired() -> Mapping[str, str]:
    """Return what became of each id that requirements had and have no longer."""
    return MappingProxyType(parsed(_RETIRED))


@cache
def catalogue() -> Catalogue:
    """Return the catalogue that the suite ships."""
    return Catalogue.load(SPEC / "requirements")
