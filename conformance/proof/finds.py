"""The finds of planted bugs, kept so that the one test of each can find its bug again.

To know which tests a bug can matter to, all of them have to be run without it. The one that found
it once finds it again in a second, so that a share of all bugs is planted on each day.
"""

from __future__ import annotations

import csv
from collections.abc import Iterable
from dataclasses import astuple, dataclass, fields
from pathlib import Path

from conformance.proof import second

FINDS = Path(second.__file__).with_name("finds.csv")
"""The finds that the project keeps: one for each bug of the table."""

FAILED = "failed"
WARNED = "warned"


@dataclass(frozen=True, slots=True, order=True)
class Find:
    """A bug, the test that found it, and what that test makes of it.

    The verdict is ``failed``, or ``warned`` where only recommendations say so.
    """

    bug: str
    verdict: str
    test: str


def read_finds(path: Path = FINDS) -> list[Find]:
    """Return the kept finds.

    Raises:
        TypeError: a row has other columns than a find.
        OSError: the file cannot be read.
    """
    with path.open(encoding="utf-8", newline="") as file:
        return [Find(**row) for row in csv.DictReader(file)]


def write_finds(finds: Iterable[Find], path: Path = FINDS) -> None:
    """Write finds, sorted by bug."""
    with path.open("w", encoding="utf-8", newline="") as file:
        head = [field.name for field in fields(Find)]
        rows = (astuple(find) for find in sorted(finds))
        csv.writer(file, lineterminator="\n").writerows([head, *rows])
