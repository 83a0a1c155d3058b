"""How the listener takes deliveries that it does not acknowledge at once."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from typing import Any


class Manner(StrEnum):
    """How the listener takes a delivery, where it does not acknowledge it at once."""

    SLOW = "slow"
    """It answers 200, but not at once."""
    FAILING = "failing"
    """It answers 500."""
    CLOSED = "closed"
    """It closes the connection without an answer."""


Treat = Callable[[str, str, Manner | None], None]

"""Lets the deliveries of one type about one resource be taken in a manner; ``None`` ends that."""


class Manners:
    """Which deliveries the listener does not acknowledge at once. Safe for threads.

    A manner concerns one resource, so that no other test notices.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Manner] = {}

    def set(self, resource: str, kind: str, manner: Manner | None) -> None:
        """Let deliveries of a type about a resource be taken in a manner; ``None`` ends that."""
        if manner is None:
            self._known.pop((resource, kind), None)
        else:
            self._known[resource, kind] = manner

    def of(self, body: Any) -> Manner | None:
        """Return the manner in which a delivery is to be taken, ``None`` for the usual one."""
        data = body.get("data") if isinstance(body, dict) else None
        resource = data.get("id") if isinstance(data, dict) else None
        kind = body.get("type") if isinstance(body, dict) else None
        if not isinstance(resource, str) or not isinstance(kind, str):
            return None
        return self._known.get((resource, kind))
