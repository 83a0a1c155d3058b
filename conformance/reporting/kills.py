"""The kill figures: how many mutants of each requirement the suite notices, as last measured.

They are kept in a file of one line a requirement, ``QUO-110 3/3``: killed, and how many there are.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

MEASURED = Path(__file__).parents[1] / "proof" / "measured.txt"
"""The figures that the suite ships."""


class FiguresError(Exception):
    """The file of the figures cannot be read as it is written; the message names the line."""


class Kills(NamedTuple):
    """How many mutants of a requirement were killed, of how many."""

    killed: int
    total: int


def read_kills(path: Path) -> dict[str, Kills]:
    """Return the figures by requirement; none where there is no such file.

    Raises:
        FiguresError: a line is not like ``QUO-110 3/3``.
    """
    if not path.is_file():
        return {}
    kills: dict[str, Kills] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        requirement, _, counts = line.partition(" ")
        killed, _, total = counts.partition("/")
        if not (killed.isdecimal() and total.isdecimal()):
            raise FiguresError(
                f"{path.name}:{number}: expected a line like QUO-110 3/3, got {line}"
            )
        kills[requirement] = Kills(int(killed), int(total))
    return kills


def write_kills(kills: Mapping[str, Kills], path: Path) -> None:
    """Write the figures, sorted by requirement."""
    lines = (f"{name} {killed}/{total}\n" for name, (killed, total) in sorted(kills.items()))
    path.write_text("".join(lines), encoding="utf-8")
