"""What exists on a target for the requests of one operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.exchange.answer import Answer
from conformance.platform.resource import Body


def read_nothing() -> None:
    """Read nothing: the operation changes nothing that can be seen."""


def move_nothing(_: Answer) -> None:
    """Note nothing: the operation moves no money."""


@dataclass(frozen=True)
class Ground:
    """What exists on the target for the requests of one operation.

    ``path`` and ``query`` are values of parameters, ``live`` values of members by their dotted
    paths. ``body`` is a valid one (of a form, its parts), and ``twin`` sends one that the operation
    accepts. In a value of ``headers``, ``{key}`` stands for a text of each request's own.

    Generated requests are many, and their ``body`` is one that may be sent often. Of a whole
    request, ``right`` is the body where it is another one, and ``asking`` further values of the
    query.

    ``state`` reads what the operation would change, as far as that can be seen: two readings are
    equal unless something has changed it. ``settle`` tells the audit what an accepted request
    moved.
    """

    path: Mapping[str, str] = field(default_factory=dict)
    query: Mapping[str, str] = field(default_factory=dict)
    live: Mapping[str, Any] = field(default_factory=dict)
    body: Body = field(default_factory=dict)
    headers: Mapping[str, str] = field(default_factory=dict)
    twin: Callable[[], Answer] | None = None
    right: Body | None = None
    asking: Mapping[str, str] = field(default_factory=dict)
    state: Callable[[], Any] = read_nothing
    settle: Callable[[Answer], None] = move_nothing
