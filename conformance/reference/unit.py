"""One unit of work: a database transaction and what follows its commit."""

from __future__ import annotations

import threading
import time
import uuid
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy.orm import Session

    from conformance.reference.settings import Settings
    from conformance.reference.store import Json

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_clock_lock = threading.Lock()
_last_time = 0


@dataclass(frozen=True, slots=True)
class Seed:
    """What the platform owns from the start: the id of its own internal account."""

    account_id: str


@dataclass(frozen=True, slots=True)
class Upload:
    """A file of a form."""

    name: str
    content_type: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Ask:
    """A request: path and query parameters, headers in lower case, and what its body holds.

    ``body`` is the decoded JSON or the texts of a form (``None``: no body), ``files`` are those of
    a form. ``agent`` is the customer whom the caller acts for (``None``: it is the platform).
    """

    params: dict[str, str] = field(default_factory=dict)
    query: dict[str, str] = field(default_factory=dict)
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    files: dict[str, Upload] = field(default_factory=dict)
    agent: str | None = None


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer whose status is not always the operation's usual one."""

    status: int
    body: Any


@dataclass(slots=True)
class Unit:
    """A database transaction, the time it happens at, and what follows its commit."""

    session: Session
    settings: Settings
    seed: Seed
    now: int
    events: list[Json] = field(default_factory=list)
    jobs: list[tuple[float, Callable[[Unit], None]]] = field(default_factory=list)
    arrivals: list[str] = field(default_factory=list)

    def emit(self, event_type: str, data: Json) -> None:
        """Send a webhook after the commit; ``data`` is the resource as it is now."""
        self.events.append(
            {
                "id": new_id("Webhook"),
                "type": event_type,
                "timestamp": timestamp(self.now),
                "data": data,
            }
        )

    def later(self, seconds: float, job: Callable[[Unit], None]) -> None:
        """Run ``job`` in a unit of its own, ``seconds`` after the commit."""
        self.jobs.append((seconds, job))

    def arrive(self, account_id: str) -> None:
        """Sweep what a rule-based account has received, once that has settled."""
        self.arrivals.append(account_id)


def new_id(kind: str) -> str:
    """Return an identifier of the form ``<Type>:<id>``."""
    return f"{kind}:{uuid.uuid4()}"


def clock() -> int:
    """Return the microseconds since 1970, later than any returned before."""
    global _last_time  # noqa: PLW0603 - one clock for the process
    with _clock_lock:
        _last_time = max(_last_time + 1, time.time_ns() // 1000)
        return _last_time


def timestamp(microseconds: int) -> str:
    """Return the ISO 8601 UTC form of a time."""
    moment = _EPOCH + timedelta(microseconds=microseconds)
    return moment.isoformat(timespec="microseconds").replace("+00:00", "Z")


def after(moment: int, seconds: float) -> int:
    """Return the time ``seconds`` after a moment."""
    return moment + round(seconds * 1_000_000)


def present(view: Json) -> Json:
    """Return a view without the members that have no value."""
    return {name: value for name, value in view.items() if value is not None}
