"""The kills of a sample, kept so that the one test of each can kill its mutant again.

To draw a sample, one has to know what each test executes, which takes as long as the suite does.
What was killed once is killed again in milliseconds, so that all of them are tried on each day.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from conformance.proof.generic.changes import Change, digest_of, every_change
from conformance.proof.generic.runner import GenericOutcome, Result, Trial

KEPT = Path(__file__).with_name("kept.csv")
"""The kills that the project keeps."""

MAX_SHARE_EXPIRED = 0.1
"""The share of the kept kills whose place may have changed before a sample is to be drawn anew."""


@dataclass(frozen=True, slots=True)
class Kill:
    """A change that a test killed: its id, the digest of what it makes of what, and the test."""

    change: str
    digest: str
    test: str


def kills_of(results: Iterable[Result]) -> list[Kill]:
    """Return the kills among some results."""
    return [
        Kill(one.change.id, _digest_of(one.change), one.killed_by)
        for one in results
        if one.outcome is GenericOutcome.KILLED
    ]


def trials_of(kills: Sequence[Kill]) -> list[Trial]:
    """Return a trial by its one test for each kill whose change can still be made as it was."""
    changes = {one.id: one for one in every_change([kill.change for kill in kills])}
    return [
        Trial(change, (kill.test,), (frozenset(),))
        for kill in kills
        if (change := changes.get(kill.change)) is not None and _digest_of(change) == kill.digest
    ]


def read_kept(path: Path = KEPT) -> list[Kill]:
    """Return the kept kills; none where there is no such file.

    Raises:
        TypeError: a row has other columns than a kill.
    """
    if not path.is_file():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return [Kill(**row) for row in csv.DictReader(file)]


def write_kept(kills: Iterable[Kill], path: Path = KEPT) -> None:
    """Write kills, sorted by change."""
    rows = sorted(astuple(kill) for kill in kills)
    with path.open("w", encoding="utf-8", newline="") as file:
        head = [field.name for field in fields(Kill)]
        csv.writer(file, lineterminator="\n").writerows([head, *rows])


def _digest_of(change: Change) -> str:
    # What an operator puts in may come from another place of the module.
    return digest_of(f"{change.before}\n{change.after}")
