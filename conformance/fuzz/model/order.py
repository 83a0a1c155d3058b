"""Whether what several clients were answered is what some order of their requests brings.

That is linearizability: each request that was accepted takes effect at one moment between its
sending and its answer, and all that is read in the end follows from these moments.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

MAX_REQUESTS = 14
"""Of more requests than these the orders are too many to be tried."""

Balances = tuple[tuple[str, int], ...]
Members = tuple[tuple[str, object], ...]
Value = TypeVar("Value")


@dataclass(frozen=True, slots=True)
class Effect:
    """What an accepted request does.

    Attributes:
        moves: what it adds to balances by account, in smallest units.
        once: a name; of all effects of one name only the first does anything.
        follows: the name of an effect that has to come before.
        writes: the members that it sets.
    """

    moves: Mapping[str, int] = field(default_factory=dict)
    once: str = ""
    follows: str = ""
    writes: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Happening:
    """An effect, and between which moments it took place, in seconds of one clock."""

    effect: Effect
    earliest: float
    latest: float = float("inf")


@dataclass(frozen=True, slots=True)
class State:
    """Balances by account, members by name, and the names of the effects that have happened."""

    balances: Balances = ()
    members: Members = ()
    happened: frozenset[str] = frozenset()

    @classmethod
    def of(
        cls, balances: Mapping[str, int] | None = None, members: Mapping[str, object] | None = None
    ) -> State:
        """Return the state of balances and members before anything has happened."""
        return cls(_sorted(balances or {}), _sorted(members or {}))

    def after(self, effect: Effect) -> State | None:
        """Return the state after an effect; None where it cannot happen now."""
        if effect.follows and effect.follows not in self.happened:
            return None
        if effect.once and effect.once in self.happened:
            return self
        balances = dict(self.balances)
        for account, amount in effect.moves.items():
            balances[account] = balances.get(account, 0) + amount
        if min(balances.values(), default=0) < 0:
            return None
        happened = self.happened | {effect.once} if effect.once else self.happened
        members = _sorted({**dict(self.members), **effect.writes})
        return State(_sorted(balances), members, happened)


def is_explained(start: State, happenings: Sequence[Happening], end: State) -> bool:
    """Return whether some order of all happenings leads from one state to another.

    The names of what has happened do not matter in ``end``.
    """
    seen: set[tuple[int, State]] = set()
    ahead = [(0, start)]
    everything = (1 << len(happenings)) - 1
    while ahead:
        done, state = here = ahead.pop()
        if here in seen:
            continue
        seen.add(here)
        if done == everything:
            if (state.balances, state.members) == (end.balances, end.members):
                return True
            continue
        for number in _next(happenings, done):
            following = state.after(happenings[number].effect)
            if following is not None:
                ahead.append((done | 1 << number, following))
    return False


def _next(happenings: Sequence[Happening], done: int) -> Iterator[int]:
    """Yield what may come next: whatever did not begin after something else had ended."""
    left = [number for number in range(len(happenings)) if not done >> number & 1]
    first_end = min(happenings[number].latest for number in left)
    return (number for number in left if happenings[number].earliest <= first_end)


def _sorted(values: Mapping[str, Value]) -> tuple[tuple[str, Value], ...]:
    return tuple(sorted(values.items(), key=lambda pair: pair[0]))


def drawn(lanes: Mapping[int, Iterable[tuple[float, float, str]]]) -> str:
    """Return the requests of clients as lines, in the order of their sending.

    Args:
        lanes: by client, when each request was sent and answered, in seconds, and what it was.
    """
    rows = sorted(
        (sent, answered, client, text)
        for client, requests in lanes.items()
        for sent, answered, text in requests
    )
    start = rows[0][0] if rows else 0.0
    width = max(lanes, default=0)
    return "\n".join(
        f"  {_lane(client, width)} {1000 * (sent - start):6.0f}-{1000 * (answered - start):<6.0f}"
        f"ms client {client}: {text}"
        for sent, answered, client, text in rows
    )


def _lane(client: int, width: int) -> str:
    return "".join("#" if one == client else "|" for one in range(1, width + 1))
