"""The budget of a run, which all of its processes spend together."""

from __future__ import annotations

import fcntl
import os
import threading
from pathlib import Path
from typing import Self

from conformance.profile.model import Budget as Limits
from conformance.verdict.decisions import BudgetSpent

_COUNTS = "{:20} requests, {:20} of which create a resource\n"
_SIZE = len(_COUNTS.format(0, 0))


class Budget:
    """Counts the requests and the created resources of a run in a file that its processes share.

    Safe to use from several threads and processes.
    """

    def __init__(self, path: Path, limits: Limits) -> None:
        """Open the file at ``path``, which :meth:`start` has made, to spend what ``limits`` allow.

        Raises:
            OSError: there is no such file, or it cannot be written to.
        """
        self._limits = limits
        self._file = os.open(path, os.O_RDWR | os.O_CLOEXEC)
        # A lock on the file holds back other processes, but not the threads of this one.
        self._lock = threading.Lock()

    @classmethod
    def start(cls, path: Path, limits: Limits) -> Self:
        """Make the file at ``path`` with nothing spent yet, and open it.

        Raises:
            OSError: it cannot be written.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(_COUNTS.format(0, 0), encoding="ascii")
        return cls(path, limits)

    def spend(self, *, created: bool) -> None:
        """Count one request, which may create a resource.

        Raises:
            BudgetSpent: the profile allows no more of them; nothing is counted then.
        """
        with self._lock:
            fcntl.flock(self._file, fcntl.LOCK_EX)
            try:
                counts = os.pread(self._file, _SIZE, 0)
                os.pwrite(self._file, self._counted(counts, created=created), 0)
            finally:
                fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        """Close the file."""
        os.close(self._file)

    def _counted(self, counts: bytes, *, created: bool) -> bytes:
        requests, resources = (int(word) for word in counts.split() if word.isdigit())
        if requests >= self._limits.requests:
            raise BudgetSpent(f"budget.requests of {self._limits.requests} is spent")
        if created and resources >= self._limits.created:
            raise BudgetSpent(f"budget.created of {self._limits.created} is spent")
        return _COUNTS.format(requests + 1, resources + created).encode("ascii")
