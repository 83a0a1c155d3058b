"""What a test does at the same time stands in lanes, which the journal tells apart."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar

_LANE: ContextVar[int] = ContextVar("lane", default=0)


def lane() -> int:
    """Return the lane of the caller, counted from 1; 0 where nothing else is done meanwhile."""
    return _LANE.get()


@contextlib.contextmanager
def in_lane(number: int) -> Iterator[None]:
    """Let what the block sends stand in a lane."""
    token = _LANE.set(number)
    try:
        yield
    finally:
        _LANE.reset(token)
