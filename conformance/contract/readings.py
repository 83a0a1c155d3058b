"""What the text of the specification does not decide, so that no check may decide it either.

``spec/readings.yaml`` has the places that can be read in several ways, ``spec/unspecified.yaml``
what is not shown at all. Conforming variants of the reference cite the ids of both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance.contract.catalogue import Source
from conformance.contract.data import SPEC
from conformance.contract.spec_files import parsed
from conformance.contract.vocabulary import nearest

_READING_ID = re.compile(r"M\d{2,3}")
_OPEN_POINT_ID = re.compile(r"N\d{3}")
_READING_KEYS = frozenset({"id", "area", "question", "readings", "accepted", "source"})
_OPEN_POINT_KEYS = frozenset(
    {"id", "area", "open", "never_assert", "section", "lines", "said_to_be_open"}
)


class ReadingsError(Exception):
    """A list of what the specification does not decide cannot be used as it is written."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A place of the specification that has several readings.

    ``readings`` are those that are known, two at least. ``accepted`` says which behaviour the suite
    takes there, and what it asserts all the same.
    """

    id: str
    area: str
    question: str
    readings: tuple[str, ...]
    accepted: str
    source: Source


@dataclass(frozen=True, slots=True)
class OpenPoint:
    """Something that the specification does not show.

    ``never_assert`` says what no check may ask of a target for it. ``said_to_be_open`` is true
    where the specification itself calls it "not shown".
    """

    id: str
    area: str
    open: str
    never_assert: str
    source: Source
    said_to_be_open: bool


def load_readings(path: Path) -> dict[str, Reading]:
    """Read the places with several readings, by id and in the order of the file.

    Raises:
        ReadingsError: naming the file, the id and the key to change.
    """
    found: dict[str, Reading] = {}
    for where, entry in _entries(path, _READING_ID, _READING_KEYS):
        source = entry["source"]
        if not isinstance(source, dict) or source.keys() != {"section", "lines"}:
            raise ReadingsError(
                f"{where}: source is {{section: text, lines: [numbers]}}, got {source}"
            )
        readings = entry["readings"]
        if not isinstance(readings, list) or len(readings) < 2:  # noqa: PLR2004 - one is none to choose from
            raise ReadingsError(f"{where}: readings is a list of two texts or more, got {readings}")
        found[entry["id"]] = Reading(
            id=entry["id"],
            area=_text(entry["area"], "area", where),
            question=_text(entry["question"], "question", where),
            readings=tuple(_text(reading, "each of readings", where) for reading in readings),
            accepted=_text(entry["accepted"], "accepted", where),
            source=_source(source, where),
        )
    return found


def load_unspecified(path: Path) -> dict[str, OpenPoint]:
    """Read what is not shown, by id and in the order of the file.

    Raises:
        ReadingsError: naming the file, the id and the key to change.
    """
    found: dict[str, OpenPoint] = {}
    for where, entry in _entries(path, _OPEN_POINT_ID, _OPEN_POINT_KEYS):
        if not isinstance(entry["said_to_be_open"], bool):
            raise ReadingsError(f"{where}: said_to_be_open is true or false")
        found[entry["id"]] = OpenPoint(
            id=entry["id"],
            area=_text(entry["area"], "area", where),
            open=_text(entry["open"], "open", where),
            never_assert=_text(entry["never_assert"], "never_assert", where),
            source=_source(entry, where),
            said_to_be_open=entry["said_to_be_open"],
        )
    return found


def _entries(
    path: Path, form: re.Pattern[str], keys: frozenset[str]
) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield each entry of a file with exactly these keys, and how messages name its place."""
    entries = parsed(path)
    if not isinstance(entries, list):
        raise ReadingsError(f"{path.name}: expected a list of entries")
    seen: set[str] = set()
    for entry in entries:
        if not isinstance(entry, dict) or not isinstance(entry.get("id"), str):
            raise ReadingsError(f"{path.name}: expected a mapping with an id, got {entry!r}")
        where = f"{path.name}: {entry['id']}"
        if not form.fullmatch(entry["id"]):
            raise ReadingsError(f"{where}: an id is of the form {form.pattern}")
        if entry["id"] in seen:
            raise ReadingsError(f"{where}: the id stands twice; give the later entry a new number")
        seen.add(entry["id"])
        for key in sorted(map(str, entry.keys() - keys)):
            hint = nearest(key, keys)
            known = f"the nearest is {hint!r}" if hint else f"known are {', '.join(sorted(keys))}"
            raise ReadingsError(f"{where}: unknown key {key!r}; {known}")
        for key in sorted(keys - entry.keys()):
            raise ReadingsError(f"{where}: the key {key!r} is missing")
        yield where, entry


def _text(value: Any, key: str, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise ReadingsError(f"{where}: {key} is a text, got {value!r}")
    return " ".join(value.split())


def _source(place: Mapping[str, Any], where: str) -> Source:
    lines = place["lines"]
    if not isinstance(lines, list) or not lines or not all(type(line) is int for line in lines):
        raise ReadingsError(f"{where}: lines is a list of numbers, got {lines!r}")
    return Source(_text(place["section"], "section", where), tuple(lines))


@cache
def readings() -> Mapping[str, Reading]:
    """Return the places with several readings that the suite ships, by id."""
    return load_readings(SPEC / "readings.yaml")


@cache
def unspecified() -> Mapping[str, OpenPoint]:
    """Return what the specification does not show, by id, as the suite ships it."""
    return load_unspecified(SPEC / "unspecified.yaml")
