"""Makes one run of the shards of a run: their journals stay as they are, and one more sums them up.

The report follows from the journals then, as that of any run does.
"""

from __future__ import annotations

import json
import secrets
import shutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from conformance.exchange.folder import GENERATOR, RunFolder, head_of, journals_of, writing_to
from conformance.exchange.journal import Journal
from conformance.exchange.redaction import Redactor
from conformance.exchange.shard import Shard
from conformance.reporting.assemble import assemble, publish
from conformance.reporting.report import Report

_KINDS = frozenset({"started", "collected", "finished"})
_MAX_KIND_CHARS = 30


class MergeRefused(Exception):
    """What was to be merged are not the shards of one run."""


@dataclass(frozen=True, slots=True)
class RecordedShard:
    """What the journals of a shard say of its run.

    ``started``, ``collected`` and ``finished`` are entries of its journals; a shard that was killed
    lacks the later ones.
    """

    folder: Path
    journals: tuple[Path, ...]
    run: str
    shard: Shard
    started: Mapping[str, Any]
    collected: Mapping[str, Any] | None
    finished: Mapping[str, Any] | None

    @property
    def tests(self) -> Mapping[str, str]:
        """The addresses of the tests of all shards together by their node ids."""
        return self.collected["of_all_shards"] if self.collected else {}


_SAME: Mapping[str, Callable[[RecordedShard], object]] = {
    "number of shards": lambda one: one.shard.count,
    "target": lambda one: one.started["options"].get("--base-url"),
    "profile": lambda one: one.started["profile"],
    "version of the suite": lambda one: one.started["suite_version"],
    "seed": lambda one: one.started["seed"],
    "number of generated requests": lambda one: one.started["options"].get("--fuzz-examples"),
    "demands (--class, --require-exercised, --baseline)": lambda one: one.started["terms"],
}
"""What shards of one run have in common, by the name of it."""

_SAME_COLLECTED: Mapping[str, Callable[[Mapping[str, Any]], object]] = {
    "catalogue": lambda collected: collected["catalogue"],
    "selection of tests": lambda collected: sorted(collected["of_all_shards"]),
}
"""What they have in common once their tests are known."""


def merge(folders: Sequence[Path], into: Path, command: str) -> Report:
    """Make the report of the run whose shards wrote to these folders, and publish it.

    What a shard that is missing was going to decide is lost, as are the tests of one that was
    killed.

    Args:
        folders: the report folder of each shard; one without a journal counts as missing.
        into: the folder of the merged run.
        command: what the report says that it was made with.

    Raises:
        MergeRefused: they are not the shards of one run, or none of them came to its tests.
        FolderError: ``into`` cannot be had.
        NoRun: a journal was changed by somebody.
    """
    shards = sorted(
        (shard for folder in folders if (shard := read_shard(folder)) is not None),
        key=lambda one: one.shard.number,
    )
    _demand_one_run(shards)
    if any(into.resolve() == one.folder.resolve() for one in shards):
        raise MergeRefused(f"{into} is the folder of a shard; give another one with --into")
    folder = RunFolder.claim(into)
    try:
        with writing_to(into):
            for one in shards:
                for journal in one.journals:
                    shutil.copyfile(journal, folder.journals / f"{one.shard.prefix}{journal.name}")
            _write_sum(shards, folder, command)
            report = assemble(into)
            publish(report, into)
    finally:
        folder.release()
    return report


def read_shard(folder: Path) -> RecordedShard | None:
    """Return what a shard wrote to its report folder; ``None`` where no run wrote anything.

    Raises:
        MergeRefused: it was a run of its own, or its journal is damaged.
    """
    journals = tuple(journals_of(folder))
    if not journals:
        return None
    entries: dict[str, Mapping[str, Any]] = {}
    try:
        for entry in _entries(journals):
            entries.setdefault(entry["kind"], entry)
        if "started" not in entries:
            return None
        label = entries["started"].get("shard")
        if label is None:
            raise MergeRefused(f"{folder} has the report of a whole run, made without --shard")
        return RecordedShard(
            folder,
            journals,
            head_of(journals[0])["run"],
            Shard.parse(label),
            entries["started"],
            entries.get("collected"),
            entries.get("finished"),
        )
    except (LookupError, TypeError, ValueError, AttributeError, OSError) as error:
        raise MergeRefused(f"the journal in {folder} cannot be read: {error!r}") from error


def _entries(journals: Sequence[Path]) -> Iterator[Mapping[str, Any]]:
    """Yield the entries that say what a run is, and skip the many others unread."""
    for path in journals:
        with path.open(encoding="utf-8", errors="replace") as lines:
            for line in lines:
                kind = line[:_MAX_KIND_CHARS].removeprefix('{"kind": "').partition('"')[0]
                # The last line of a killed process may be cut short.
                if kind in _KINDS and line.endswith("}\n"):
                    yield json.loads(line)


def _demand_one_run(shards: Sequence[RecordedShard]) -> None:
    """Refuse what are not the shards of one run.

    Raises:
        MergeRefused: they are not.
    """
    collected = [one for one in shards if one.collected is not None]
    if not collected:
        raise MergeRefused("no shard came to its tests, so that nobody knows what was to be run")
    for name, what in _SAME.items():
        _demand_same(name, [(one, what(one)) for one in shards])
    for name, of_tests in _SAME_COLLECTED.items():
        _demand_same(name, [(one, of_tests(one.collected or {})) for one in collected])
    by_number: dict[int, RecordedShard] = {}
    for one in shards:
        other = by_number.setdefault(one.shard.number, one)
        if other is not one:
            raise MergeRefused(f"{other.folder} and {one.folder} both are shard {one.shard}")


def _demand_same(name: str, values: Sequence[tuple[RecordedShard, object]]) -> None:
    first, expected = values[0]
    for one, value in values:
        if value != expected:
            raise MergeRefused(
                f"{first.folder} and {one.folder} are no shards of one run: they differ in the "
                f"{name}{_told(expected, value)}"
            )


def _told(one: object, other: object) -> str:
    """Return two values in brackets, where they are short ones."""
    plain = isinstance(one, str | int | None) and isinstance(other, str | int | None)
    return f" ({one or 'none given'} and {other or 'none given'})" if plain else ""


def _write_sum(shards: Sequence[RecordedShard], folder: RunFolder, command: str) -> None:
    """Write the journal of the merged run, which says what all shards are together.

    Raises:
        OSError: it cannot be written.
    """
    # The journals of the shards have no secrets any more.
    journal = Journal(folder.journals / "main.jsonl", "merged", Redactor(()))
    known = next(one for one in shards if one.collected is not None)
    started = min(shards, key=lambda one: str(one.started["started"])).started
    ends = [one.finished["ended"] for one in shards if one.finished is not None]
    journal.write(
        "journal",
        {
            "suite": GENERATOR,
            "run": secrets.token_hex(8),
            "worker": "merged",
            "shards": [one.run for one in shards],
        },
    )
    workers = sum(one.started["workers"] for one in shards)
    journal.write(
        "started", {**_content(started), "command": command, "workers": workers, "shard": None}
    )
    journal.write(
        "collected",
        {
            "named": (known.collected or {})["named"],
            "selected": list(known.tests),
            "addresses": known.tests,
        },
    )
    journal.write(
        "finished",
        {
            "ended": max([*ends, *(one.started["started"] for one in shards)]),
            "interrupted": "; ".join(_losses(shards)) or None,
        },
    )
    journal.close()
    if journal.failure is not None:
        raise OSError(journal.failure)


def _content(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "kind"}


def _losses(shards: Sequence[RecordedShard]) -> Iterator[str]:
    """Yield what is missing of the run, shard by shard."""
    there = {one.shard.number: one for one in shards}
    count = shards[0].shard.count
    for number in range(1, count + 1):
        label = f"shard {Shard(number, count)}"
        one = there.get(number)
        if one is None:
            yield f"{label} is missing"
        elif one.finished is None:
            yield f"{label} was killed"
        elif one.finished["interrupted"] is not None:
            yield f"{label}: {one.finished['interrupted']}"
