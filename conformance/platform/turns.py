"""Turns that the processes of one run take at what the whole platform shares."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

_MAX_TURN_SECONDS = 600.0


@contextmanager
def turn(folder: Path, name: str, *, shared: bool = False) -> Iterator[None]:
    """Wait for this process's turn, and keep others waiting until it ends.

    The lock is one of a database's, so that it ends with its process in every system.

    Args:
        folder: the report folder of the run.
        name: what is taken turns at.
        shared: whether others whose turn is shared may have theirs meanwhile.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with closing(sqlite3.connect(folder / f"{name}.lock", timeout=_MAX_TURN_SECONDS)) as lock:
        lock.isolation_level = None
        lock.execute("BEGIN DEFERRED" if shared else "BEGIN EXCLUSIVE")
        # A shared lock is taken with the first reading.
        lock.execute("SELECT * FROM sqlite_master").fetchall()
        yield
