"""What the service knows: tables of records behind one lock, its clock, and what happens later."""

import datetime as dt
import heapq
import itertools
import random
import secrets
import threading
import traceback
import uuid
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, fields
from typing import Any

from conformance.proof.second.errors import Refusal
from conformance.proof.second.money import Json
from conformance.proof.second.persona import Persona

Table = dict[str, Json]
Task = Callable[[], None]


def now() -> dt.datetime:
    """Return the current time, in UTC."""
    return dt.datetime.now(dt.UTC)


def ahead(seconds: float) -> dt.datetime:
    """Return the time in so many seconds."""
    return now() + dt.timedelta(seconds=seconds)


def public(row: Json) -> Json:
    """Return the members of a record that are shown: those whose names have no underscore."""
    return {name: value for name, value in row.items() if not name.startswith("_")}


class Later:
    """Carries out tasks at their times, one after the other, each with the lock held.

    One that fails is told on standard error, and the others go on.
    """

    def __init__(self, lock: threading.RLock) -> None:
        self._lock = lock
        self._tasks: list[tuple[float, int, Task]] = []
        self._count = itertools.count()
        self._cleared = 0
        self._news = threading.Condition()
        self._clock = threading.Event()
        threading.Thread(target=self._work, name="later", daemon=True).start()

    def call(self, seconds: float, task: Task) -> None:
        """Carry out a task in so many seconds."""
        with self._news:
            heapq.heappush(self._tasks, (ahead(seconds).timestamp(), next(self._count), task))
            self._news.notify()

    def clear(self) -> None:
        """Forget what is not carried out yet; whoever calls this holds the lock."""
        with self._news:
            self._tasks.clear()
            self._cleared += 1

    def _next(self) -> tuple[Task, int]:
        with self._news:
            while True:
                wait = self._tasks[0][0] - now().timestamp() if self._tasks else None
                if wait is not None and wait <= 0:
                    return heapq.heappop(self._tasks)[2], self._cleared
                self._news.wait(wait)

    def _work(self) -> None:
        while True:
            task, cleared = self._next()
            with self._lock:
                if cleared != self._cleared:
                    continue
                try:
                    task()
                except Exception:  # noqa: BLE001 - whatever it is, the next task has its turn
                    traceback.print_exc()


@dataclass
class World:
    """The state of one service, and its persona and planted bug.

    `emit` takes the type of an event and the resource that it concerns.
    """

    persona: Persona
    bug: str = ""
    origin: str = ""
    token_id: str = ""
    client_secret: str = ""
    webhook_secret: str = ""
    lock: threading.RLock = field(default_factory=threading.RLock)
    customers: Table = field(default_factory=dict)
    owners: Table = field(default_factory=dict)
    documents: Table = field(default_factory=dict)
    verifications: Table = field(default_factory=dict)
    links: Table = field(default_factory=dict)
    internals: Table = field(default_factory=dict)
    externals: Table = field(default_factory=dict)
    deleted: Table = field(default_factory=dict)
    lookups: Table = field(default_factory=dict)
    quotes: Table = field(default_factory=dict)
    transactions: Table = field(default_factory=dict)
    resets: Table = field(default_factory=dict)
    challenges: Table = field(default_factory=dict)
    codes: dict[str, str] = field(default_factory=dict)
    """The codes that were sent, by the challenge, or by the customer and the channel."""
    agents: Table = field(default_factory=dict)
    cards: Table = field(default_factory=dict)
    stablecoins: Table = field(default_factory=dict)
    operations: Table = field(default_factory=dict)
    credentials: Table = field(default_factory=dict)
    invitations: Table = field(default_factory=dict)
    idempotent: Table = field(default_factory=dict)
    wallet_requests: Table = field(default_factory=dict)
    config: Json = field(default_factory=dict)
    first_fees: Table = field(default_factory=dict)
    switches: set[str] = field(default_factory=set)
    asked: set[str] = field(default_factory=set)
    answered: dict[tuple[str, str, str], Json] = field(default_factory=dict)
    requests: int = 0
    known_secret: bool = False
    emit: Callable[[str, Json], None] = field(default=lambda _type, _data: None)

    def __post_init__(self) -> None:
        self.timetable = Later(self.lock)
        self.another_checks = threading.Condition(self.lock)
        self._numbers = itertools.count(100_001)

    def forget(self) -> None:
        """Lose all records and settings; whoever calls this holds the lock."""
        self.timetable.clear()
        for one in fields(self):
            kept = getattr(self, one.name)
            if isinstance(kept, dict | set):
                kept.clear()

    def has(self, bug: str) -> bool:
        """Tell whether a bug is planted, and note that it was asked."""
        self.asked.add(bug)
        return self.bug == bug

    def tell_more(self, event: str, data: Json) -> None:
        """Emit an event that the text does not list, where the persona has such events."""
        if self.persona.more_events:
            self.emit(event, data)

    def later(self, seconds: float, task: Task) -> None:
        """Carry out a task in so many seconds, with the lock held."""
        self.timetable.call(seconds, task)

    def number(self) -> int:
        """Return a number that was not returned before."""
        return next(self._numbers)

    def new_id(self, kind: str) -> str:
        """Return a fresh identifier `<Type>:<id>`."""
        forms: dict[str, Callable[[], str]] = {
            "hex": lambda: secrets.token_hex(12),
            "uuid": lambda: str(uuid.uuid4()),
            "digits": lambda: f"{self.number()}{random.randrange(10**6):06}",  # noqa: S311
            "mixed": lambda: secrets.token_urlsafe(15),
            "letters": lambda: "".join(secrets.choice("abcdefghjkmnpqrstvwxyz") for _ in range(16)),
        }
        return f"{kind}:{forms[self.persona.id_form]()}"

    def find(self, table: Table, key: Any, code: str = "NOT_FOUND") -> Json:
        """Return the record of an id, or of its bare form where the persona takes it.

        Raises:
            Refusal: 404, with `code` or `NOT_FOUND`.
        """
        if isinstance(key, str):
            if key in table:
                return table[key]
            if self.persona.bare_ids and ":" not in key:
                for name, row in table.items():
                    if name.partition(":")[2] == key:
                        return row
            bare = key.partition(":")[2]
            same = [row for name, row in table.items() if bare and name.partition(":")[2] == bare]
            if same and self.has("id-type-ignored"):
                return same[0]
        raise Refusal(code if self.persona.own_codes else "NOT_FOUND", "There is no such resource.")

    def named(self, table: Table, key: Any, code: str, member: str) -> Json:
        """Return the record that a member of a body names by its id.

        Raises:
            Refusal: as in `find`, or `INVALID_INPUT` where the persona answers so.
        """
        try:
            return self.find(table, key, code)
        except Refusal:
            if self.persona.body_reference_status == 404:
                raise
            entry = {"field": member, "message": "names nothing that is there"}
            raise Refusal(
                "INVALID_INPUT", "An id is not known.", details={"errors": [entry]}
            ) from None


def newest(rows: Iterable[Json], persona: Persona) -> list[Json]:
    """Return rows, given in the order of their creation, in the order of the persona's lists."""
    ordered = list(rows)
    if persona.list_order == "id":
        return sorted(ordered, key=lambda row: str(row["id"]))
    return ordered[::-1] if persona.list_order == "newest" else ordered


def masked(value: str) -> str:
    """Return a text of which the last four characters alone are shown."""
    return "*" * max(len(value) - 4, 0) + value[-4:]
