"""The folder that a run writes to: it belongs to this run alone while the run goes on."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import re
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import IO, Any

JOURNALS = "journal"
"""Name of the folder of journals, below that of the run."""

STATEMENT = "statement.json"
"""Name of the in-toto statement beside the report."""

REPORTS = ("report.json", "report.html", STATEMENT)
PREVIOUS = "previous"
"""Name of the folder that keeps what the run before left."""

GENERATOR = "payments-conformance"
"""What the journals and the HTML report of this suite name as their maker."""

_LOCK = ".run.lock"
_JOURNAL = re.compile(r"\A\{\"kind\": \"\w+\"")
_REPORT_JSON = re.compile(r"\A\{\s*\"format\": \d+,\s*\"verdict\": ")
_REPORT_HTML = re.compile(
    rf"<meta name=\"generator\" content=\"{GENERATOR}|<title>(Not c|C|Inc)on(formant|clusive): "
)
_STATEMENT = re.compile(r"\A\{\s*\"_type\": \"https://in-toto\.io/Statement/")
_HEAD_BYTES = 2000
_MAX_HEAD_LINE_BYTES = 1_000_000


class FolderError(Exception):
    """A run cannot have the folder that it was told to write to."""


class RunFolder:
    """The folder of one run.

    The process that starts a run claims it, and the others of the run join it. A lock on a file
    of the folder shows that the run goes on; the system takes it back when the process ends,
    however that happens.

    Args:
        path: the folder.
        run: id of the run, which stands at the head of each of its journals.
        lock: what shows that the run goes on, in the process that claimed the folder.
        prefix: what the ids of the journal entries begin with.
    """

    def __init__(
        self, path: Path, run: str, lock: IO[str] | None = None, *, prefix: str = ""
    ) -> None:
        self.path = path
        self.run = run
        self.prefix = prefix
        self._lock = lock

    @classmethod
    def claim(cls, path: Path, *, prefix: str = "") -> RunFolder:
        """Take the folder for a new run; what an earlier one left goes to ``previous/``.

        Args:
            path: the folder.
            prefix: what the ids of the journal entries begin with.

        Raises:
            FolderError: it cannot be written, another run has it, or it holds a file of somebody
                else where the run would write one.
        """
        with writing_to(path):
            path.mkdir(parents=True, exist_ok=True)
            lock = (path / _LOCK).open("a+", encoding="utf-8")
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            lock.seek(0)
            holder = lock.read(20).strip() or "unknown"
            lock.close()
            raise FolderError(
                f"{path} belongs to a run that has not ended (process {holder}); wait for it, or "
                "give this one a folder of its own: --report-dir=DIR"
            ) from None
        try:
            with writing_to(path):
                lock.truncate(0)
                lock.write(f"{os.getpid()}\n")
                lock.flush()
                _set_aside(path)
                (path / JOURNALS).mkdir(exist_ok=True)
        except BaseException:
            lock.close()
            raise
        return cls(path, secrets.token_hex(8), lock, prefix=prefix)

    @property
    def journals(self) -> Path:
        """The folder of the journals, one file for each process."""
        return self.path / JOURNALS

    def release(self) -> None:
        """Let other runs have the folder."""
        if self._lock is not None:
            self._lock.close()


def foreign(folder: Path) -> Iterator[Path]:
    """Yield the files of a folder that stand where a run writes, and that no run wrote."""
    made = {
        "report.json": _REPORT_JSON,
        "report.html": _REPORT_HTML,
        STATEMENT: _STATEMENT,
        "main.jsonl": _JOURNAL,
    }
    for place in (folder, folder / PREVIOUS):
        for path in (*(place / name for name in REPORTS), _main(place)):
            if path.exists() and not _looks_like(path, made[path.name]):
                yield path


def journals_of(folder: Path) -> list[Path]:
    """Return the journals below the folder of a run, that of its first process first.

    Of a merged run, what the merging wrote comes last: it says anew what the shards say, each for
    itself. A file beside them that is no journal of the same run is left out.
    """
    main = _main(folder)
    head = head_of(main)
    run, shards = head.get("run"), head.get("shards", [])
    others = sorted(path for path in main.parent.glob("*.jsonl") if path != main)
    if not run:
        return []
    if shards:
        return [*(path for path in others if head_of(path).get("run") in shards), main]
    return [main, *(path for path in others if head_of(path).get("run") == run)]


def _set_aside(folder: Path) -> None:
    """Move what an earlier run left out of the way, so that nothing of it is taken for this one's.

    Raises:
        FolderError: a file that no run wrote is in the way.
        OSError: it cannot be moved.
    """
    if (theirs := next(foreign(folder), None)) is not None:
        raise FolderError(
            f"{theirs} was not written by this suite, and a run would write there; "
            "give the run a folder of its own: --report-dir=DIR"
        )
    left = {*(folder / name for name in REPORTS), _main(folder), *journals_of(folder)}
    for path in sorted(path for path in left if path.exists()):
        place = folder / PREVIOUS / path.relative_to(folder)
        place.parent.mkdir(parents=True, exist_ok=True)
        path.replace(place)


def _main(folder: Path) -> Path:
    return folder / JOURNALS / "main.jsonl"


def _looks_like(path: Path, start: re.Pattern[str]) -> bool:
    if not path.is_file():
        return False
    with path.open("rb") as file:
        head = file.read(_HEAD_BYTES).decode("utf-8", "replace")
    # An empty one is what a run left that was killed at its start.
    return not head or start.search(head) is not None


def head_of(journal: Path) -> Mapping[str, Any]:
    """Return the first entry of a journal, which has the id of its run; empty for others.

    That of a merged run has the ids of its shards too.
    """
    try:
        with journal.open("rb") as file:
            head = json.loads(file.readline(_MAX_HEAD_LINE_BYTES))
    except (OSError, ValueError):
        return {}
    return head if isinstance(head, dict) else {}


@contextlib.contextmanager
def writing_to(folder: Path) -> Iterator[None]:
    """Tell of a folder that cannot be written, and how to give another one.

    Raises:
        FolderError: the block raised ``OSError``, or the name of the folder has NUL in it.
    """
    told = f"the report folder {folder} cannot be written: %s; give another one: --report-dir=DIR"
    if "\0" in str(folder):
        raise FolderError(told % "no name has NUL in it")
    try:
        yield
    except OSError as error:
        raise FolderError(told % (error.strerror or error)) from error
