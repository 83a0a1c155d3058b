"""Places in files written by hand where a generated text stands, between two marks.

In Markdown they are ``<!-- generated: NAME -->`` and ``<!-- end of NAME -->``, in YAML
``# generated: NAME`` and ``# end of NAME``, each on a line of its own.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

_BEGIN = re.compile(r" *(?:<!--|#) generated: ([a-z-]+)(?: -->)?")
_END = re.compile(r" *(?:<!--|#) end of ([a-z-]+)(?: -->)?")


class PlaceError(Exception):
    """A place cannot be filled in; the message names it and what to change."""


@dataclass(frozen=True, slots=True)
class Place:
    """The lines of a file between two marks, whose indices are ``first`` and ``last``."""

    name: str
    first: int
    last: int


def places_in(text: str, file: str) -> list[Place]:
    """Return the places of a file, from the top to the bottom.

    Raises:
        PlaceError: a mark has no other one, or stands within another place.
    """
    found: list[Place] = []
    open_mark: tuple[str, int] | None = None
    for number, line in enumerate(text.splitlines()):
        if match := _BEGIN.fullmatch(line):
            if open_mark is not None:
                raise PlaceError(f"{file}:{number + 1}: the place {open_mark[0]} has not ended yet")
            open_mark = match[1], number
        elif match := _END.fullmatch(line):
            if open_mark is None or open_mark[0] != match[1]:
                raise PlaceError(f"{file}:{number + 1}: no place {match[1]} has begun")
            found.append(Place(match[1], open_mark[1], number))
            open_mark = None
    if open_mark is not None:
        raise PlaceError(f"{file}:{open_mark[1] + 1}: the place {open_mark[0]} does not end")
    return found


def filled(text: str, file: str, contents: Mapping[str, Sequence[str]]) -> str:
    """Return a file with the lines of each of its places put in.

    Raises:
        PlaceError: as for :func:`places_in`, or nothing is generated for a place.
    """
    lines = text.splitlines()
    # From the bottom, so that the numbers of lines above stay right.
    for place in reversed(places_in(text, file)):
        if place.name not in contents:
            raise PlaceError(
                f"{file}:{place.first + 1}: nothing is generated for {place.name}; "
                f"there are {', '.join(contents)}"
            )
        lines[place.first + 1 : place.last] = contents[place.name]
    return "\n".join(lines) + "\n"
