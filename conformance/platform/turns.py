"""Turns that the processes of one run take at what the whole platform shares."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path

from conformance.verdict.decisions import TriggerFailed

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
    path = folder / f"{name}.lock"
    # What a test does at once it does in several threads.
    with closing(sqlite3.connect(path, timeout=_MAX_TURN_SECONDS, check_same_thread=False)) as lock:
        lock.isolation_level = None
        lock.execute("BEGIN DEFERRED" if shared else "BEGIN EXCLUSIVE")
        # A shared lock is taken with the first reading.
        lock.execute("SELECT * FROM sqlite_master").fetchall()
        yield


class TurnOfTest:
    """Lets tests run beside each other, until one does what happens to all of them.

    Args:
        folder: the report folder of the run; None where no other process runs tests.
    """

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._held = ExitStack()
        self._is_alone = False

    def begin(self) -> None:
        """Wait until no other test is alone.

        Where the report folder cannot be locked, tests run beside each other nevertheless.

        Raises:
            TriggerFailed: one has been for ten minutes.
        """
        with suppress(sqlite3.OperationalError):
            self._take(shared=True)

    def stay_alone(self) -> None:
        """Wait until no other test runs, and keep others waiting until the test ends.

        Raises:
            TriggerFailed: others have run for ten minutes, or the report folder cannot be locked.
        """
        if self._is_alone:
            return
        self.end()
        try:
            self._take(shared=False)
        except sqlite3.OperationalError as error:
            raise TriggerFailed(
                f"tests cannot take turns, as no file in {self._folder} can be locked: {error}"
            ) from error
        self._is_alone = True

    def end(self) -> None:
        """Let others go on."""
        self._is_alone = False
        self._held.close()

    def _take(self, *, shared: bool) -> None:
        if self._folder is None:
            return
        try:
            self._held.enter_context(turn(self._folder, "tests", shared=shared))
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY:
                raise
            raise TriggerFailed(
                f"other tests have kept this one waiting for {_MAX_TURN_SECONDS:g} s, as one "
                "happens to all"
            ) from error
