"""The kill figures: how many mutants of each requirement the suite notices, as last measured.

They are kept in a file of one line a requirement, ``QUO-110 3/3``: killed, and how many there are.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

MEASURED = Path(__file__).parents[1] / "proof" / "measured.txt"
"""The figures that the suite ships."""

GENERIC = MEASURED.with_name("generic.txt")
"""The score of the mutants that a machine made, as the suite ships it."""

BY_KIND = MEASURED.with_name("by_kind.csv")
"""Which kinds of tests find each mutant of a sample, as the suite ships it."""

KINDS = ("curated", "generated", "model", "lost answers", "clients")
"""The kinds of tests: written by hand, generated requests, walks through the model of payments,
requests whose answer is lost, and programs of several clients."""

_FOUND, _MISSED, _NOT_MET = "found", "missed", "not met"


class FiguresError(Exception):
    """The file of the figures cannot be read as it is written; the message names the line."""


class Kills(NamedTuple):
    """How many mutants of a requirement were killed, of how many."""

    killed: int
    total: int


class GenericScore(NamedTuple):
    """How many mutants that a machine made were killed, and accepted as survivors, of how many."""

    killed: int
    accepted: int
    total: int

    @property
    def share_left(self) -> float:
        """The share of those that survived and that nobody accepted, from 0 to 1."""
        judged = self.total - self.accepted
        return (judged - self.killed) / judged if judged else 0.0


@dataclass(frozen=True, slots=True)
class Finding:
    """Which requirements one kind of tests found a mutant by; none where it did not.

    ``is_met`` tells whether any test of the kind comes to what the mutant breaks.
    """

    mutant: str
    kind: str
    requirements: tuple[str, ...]
    is_met: bool = True


class KindScore(NamedTuple):
    """How many mutants of a sample a kind of tests finds, and how many its tests come to."""

    kind: str
    found: int
    met: int
    total: int


def read_kinds(path: Path) -> tuple[KindScore, ...]:
    """Return how many mutants each kind of tests finds; nothing where there is no such file.

    Raises:
        FiguresError: the file is not a table that :func:`write_findings` has written.
    """
    if not path.is_file():
        return ()
    lines = path.read_text(encoding="utf-8").splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    for row in rows:
        for kind in KINDS:
            if row.get(kind) not in {_FOUND, _MISSED, _NOT_MET}:
                raise FiguresError(
                    f"{path.name}: expected {_FOUND}, {_MISSED} or {_NOT_MET} under {kind}, "
                    f"got {row.get(kind)}"
                )
    return tuple(
        KindScore(
            kind,
            sum(row[kind] == _FOUND for row in rows),
            sum(row[kind] != _NOT_MET for row in rows),
            len(rows),
        )
        for kind in KINDS
    )


def write_findings(findings: Iterable[Finding], options: str, path: Path) -> None:
    """Write which kinds of tests find each mutant, sorted by mutant.

    Args:
        findings: of each mutant one for each kind.
        options: those of the command that measures the same again.
        path: the file.
    """
    by_mutant: dict[str, dict[str, str]] = {}
    for one in findings:
        found = _FOUND if one.requirements else _MISSED if one.is_met else _NOT_MET
        by_mutant.setdefault(one.mutant, {})[one.kind] = found
    head: Sequence[str] = ("mutant", *KINDS)
    rows = ((name, *(row[kind] for kind in KINDS)) for name, row in sorted(by_mutant.items()))
    with path.open("w", encoding="utf-8", newline="") as file:
        file.write(f"# payments-conformance mutants --by-kind {options} --figures\n")
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


def read_generic(path: Path) -> GenericScore | None:
    """Return the score of the generic mutants; None where there is no such file.

    Raises:
        FiguresError: the file is not one line like ``killed 281 accepted 12 of 296``.
    """
    if not path.is_file():
        return None
    text = path.read_text(encoding="utf-8").strip()
    match = re.fullmatch(r"killed (\d+) accepted (\d+) of (\d+)", text, re.ASCII)
    if match is None:
        raise FiguresError(
            f"{path.name}: expected a line like killed 281 accepted 12 of 296, got {text}"
        )
    return GenericScore(*map(int, match.groups()))


def write_generic(score: GenericScore, path: Path) -> None:
    """Write the score of the generic mutants."""
    text = f"killed {score.killed} accepted {score.accepted} of {score.total}\n"
    path.write_text(text, encoding="utf-8")


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
