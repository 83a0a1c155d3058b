"""A recorded run, read from its journals: what came of each request, and which webhooks arrived."""

from __future__ import annotations

import json
import re
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.exchange.content import decode
from conformance.exchange.delivery import Delivery
from conformance.exchange.folder import JOURNALS, journals_of
from conformance.exchange.journal import Exchange
from conformance.verdict.decisions import Reason, Unmet

_TEST = re.compile(rb'\{"kind": "exchange", "id": "[^"]*", "test": ("(?:[^"\\]|\\.)*+")')

_SAME_IN_ALL_SHARDS = ("base_url", "established")

Key = str
"""Stands for what was sent, without secrets: operation, method, URL, body and lane."""


class NoRecording(Exception):
    """What was to be judged again is no journal of a run, or is damaged."""


class NotRecorded(Unmet):
    """The recording does not have the answer to a request, or only a part of it."""

    reason = Reason.NOT_RECORDED


@dataclass(frozen=True, slots=True)
class _Line:
    """Where an exchange stands: its file, and its place and length there in bytes."""

    path: Path
    place: int
    length: int


@dataclass
class Recording:
    """One recorded run.

    ``run`` is its id, ``started`` the entry of its start. ``tests`` are, for each process of it,
    the addresses of its tests in the order in which they ended; what a test sends may depend on
    those before it. ``deliveries`` are the webhooks, in the order of their arrival.
    """

    folder: Path
    run: str
    started: Mapping[str, Any]
    tests: tuple[tuple[str, ...], ...]
    deliveries: tuple[Delivery, ...]
    _lines: Mapping[str, Sequence[_Line]]
    _commands: Mapping[str, Sequence[Mapping[str, Any]]]
    _left: dict[Key, deque[Exchange]] = field(default_factory=dict)
    _commands_left: dict[Key, deque[Mapping[str, Any]]] = field(default_factory=dict)

    @classmethod
    def read(cls, place: Path) -> Recording:
        """Read a recording.

        Args:
            place: the report folder of a run, its folder of journals, or the first of these.

        Raises:
            NoRecording: there is none, or it cannot be read.
        """
        folder = _folder_of(place)
        journals = journals_of(folder)
        if not journals:
            raise NoRecording(f"{place} is not the report folder of a run, nor its journal")
        try:
            return _Reader(folder).read(journals)
        except (LookupError, TypeError, ValueError, AttributeError, OSError) as error:
            raise NoRecording(f"the journal in {folder} cannot be read: {error!r}") from error

    def begin(self, test: str) -> float:
        """Make what the test of this address was answered what is there to be taken.

        Returns:
            when it sent its first request, in seconds since the epoch; 0 where it sent none.
        """
        began = 0.0
        self._left = defaultdict(deque)
        for line in self._lines.get(test, ()):
            with line.path.open("rb") as file:
                file.seek(line.place)
                entry = json.loads(file.read(line.length))
            exchange = Exchange.from_entry(entry)
            self._left[key_of(exchange)].append(exchange)
            began = began or exchange.at - exchange.seconds
        self._commands_left = defaultdict(deque)
        for entry in self._commands.get(test, ()):
            self._commands_left[_key_of_command(entry["by"], entry["command"])].append(entry)
        return began

    def take(self, key: Key, name: str) -> Exchange:
        """Return what came of the next request of this key in the test.

        Raises:
            NotRecorded: the test sent no such request, or no further one.
        """
        try:
            return self._left[key].popleft()
        except LookupError:
            raise NotRecorded(f"the recorded test did not send this request to {name}") from None

    def take_command(self, by: str, command: Sequence[str]) -> Mapping[str, Any]:
        """Return the entry of the next command of these words that the test had run.

        Raises:
            NotRecorded: the test had no such command run, or no further one.
        """
        try:
            return self._commands_left[_key_of_command(by, command)].popleft()
        except LookupError:
            raise NotRecorded(f"the recorded test did not run this command for {by}") from None


def _key_of_command(by: str, command: Sequence[str]) -> Key:
    return json.dumps([by, command])


def key_of(exchange: Exchange) -> Key:
    """Return the key of an exchange, as it stands in a journal."""
    return key(
        exchange.operation, exchange.method, exchange.url, exchange.request_body, exchange.lane
    )


def key(operation: str, method: str, url: str, body: object, number: int = 0) -> Key:
    """Return the key of what was sent, in the lane of a number."""
    return json.dumps([operation, method, url, body, number], sort_keys=True, default=str)


@dataclass
class _Reader:
    """Reads the journals of a run."""

    folder: Path
    run: str = ""
    started: dict[str, Any] = field(default_factory=dict)
    is_apart: bool = False
    """Whether shards of the run stand for different targets, as far as what was sent goes."""
    addresses: dict[str, str] = field(default_factory=dict)
    ended: list[list[str]] = field(default_factory=list)
    deliveries: list[Delivery] = field(default_factory=list)
    lines: dict[str, list[_Line]] = field(default_factory=lambda: defaultdict(list))
    commands: dict[str, list[dict[str, Any]]] = field(default_factory=lambda: defaultdict(list))

    def read(self, journals: Sequence[Path]) -> Recording:
        for path in journals:
            self.ended.append([])
            place = 0
            with path.open("rb") as file:
                for line in file:
                    self._take_in(line, _Line(path, place, len(line)))
                    place += len(line)
        if not self.started:
            raise ValueError("it has no start")
        if self.is_apart:
            raise NoRecording(
                f"{self.folder} was merged from shards with several base URLs, or whose `setup` "
                "returned different things; each shard's own folder can be judged again"
            )
        return Recording(
            self.folder,
            self.run,
            self.started,
            tuple(tuple(self._address(test) for test in tests) for tests in self.ended),
            tuple(sorted(self.deliveries, key=lambda delivery: delivery.at)),
            {self._address(test): lines for test, lines in self.lines.items()},
            {self._address(test): entries for test, entries in self.commands.items()},
        )

    def _take_in(self, line: bytes, where: _Line) -> None:
        if (found := _TEST.match(line)) is not None:
            # What it holds is decoded once its test begins: there may be hundreds of megabytes.
            if line.endswith(b"\n"):
                self.lines[json.loads(found[1])].append(where)
            return
        try:
            entry = json.loads(line)
        except ValueError:
            # The last line of a killed process may be cut short.
            return
        match entry["kind"]:
            case "journal":
                self.run = entry["run"]
            case "started":
                self.is_apart |= bool(self.started) and any(
                    entry.get(name) != self.started.get(name) for name in _SAME_IN_ALL_SHARDS
                )
                self.started = entry
            case "collected":
                self.addresses.update(entry["addresses"])
            case "decisions":
                self.ended[-1].append(entry["test"])
            case "command":
                self.commands[entry["test"]].append(entry)
            case "delivery":
                self.deliveries.append(_delivery(entry))

    def _address(self, test: str) -> str:
        return self.addresses.get(test, test)


def _delivery(entry: Mapping[str, Any]) -> Delivery:
    """Return a delivery as it stands in a journal; its bytes only where they hold no secret."""
    raw = entry.get("raw")
    body = entry["body"]
    if raw is not None:
        body, _ = decode(raw.encode())
    return Delivery(
        entry["number"],
        entry["at"],
        entry["headers"],
        body,
        (json.dumps(body) if raw is None else raw).encode(),
        acknowledged=entry.get("acknowledged", True),
        whole=raw is not None,
    )


def _folder_of(place: Path) -> Path:
    if place.is_file():
        place = place.parent
    return place.parent if place.name == JOURNALS else place
