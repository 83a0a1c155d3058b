"""What a run says of each state machine: which moves it saw, and which refusals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from conformance.contract.states import Machine, Transition, machines
from conformance.reporting.drawing import Arc, Drawing, Stub, draw
from conformance.reporting.report import Report
from conformance.verdict.plan import RequirementVerdict

NEW = "(new)"
"""Where a resource comes from that is made."""


class Seen(StrEnum):
    """What a run says of one move."""

    FAILED = "failed"
    UNDECIDED = "undecided"
    EXERCISED = "exercised"
    REFUSED = "refused as it must be"
    NOT_EXERCISED = "not exercised"


_GRAVEST_FIRST: Sequence[tuple[RequirementVerdict, Seen]] = (
    (RequirementVerdict.FAILED, Seen.FAILED),
    (RequirementVerdict.INCONCLUSIVE, Seen.UNDECIDED),
    (RequirementVerdict.PASSED, Seen.EXERCISED),
    (RequirementVerdict.WARNED, Seen.EXERCISED),
)

STYLES: Mapping[Seen, str] = {
    Seen.FAILED: "failed",
    Seen.UNDECIDED: "inconclusive",
    Seen.EXERCISED: "passed",
    Seen.REFUSED: "passed",
    Seen.NOT_EXERCISED: "not-exercised",
}
"""The colour of each, by the name of the verdict that has the same one."""


@dataclass(frozen=True, slots=True)
class Move:
    """One move of a machine under its number in the drawing, and what the run says of it."""

    number: int
    transition: Transition
    seen: Seen
    requirements: tuple[str, ...]

    @property
    def origin(self) -> str:
        """The state before."""
        return self.transition.origin or NEW


@dataclass(frozen=True, slots=True)
class MachineSeen:
    """A machine with what the run says of its moves, and its drawing."""

    machine: Machine
    moves: tuple[Move, ...]
    drawing: Drawing

    @property
    def tally(self) -> Mapping[Seen, int]:
        """How many moves are in which way, those that there are."""
        counts = Counter(move.seen for move in self.moves)
        return {seen: counts[seen] for seen in Seen if counts[seen]}


def machines_seen(report: Report) -> list[MachineSeen]:
    """Return all machines as a run saw them; one of which no requirement is known is left out."""
    verdicts = {entry.id: entry.verdict for entry in report.requirements}
    found = (_seen_by(machine, verdicts) for machine in machines())
    return [one for one in found if any(move.requirements for move in one.moves)]


def _seen_by(machine: Machine, verdicts: Mapping[str, RequirementVerdict]) -> MachineSeen:
    moves = tuple(_moves(machine, verdicts))
    arcs = [
        Arc(move.number, move.origin, target, STYLES[move.seen])
        for move in moves
        for target in move.transition.targets
    ]
    stubs = [
        Stub(move.number, move.origin, STYLES[move.seen])
        for move in moves
        if not move.transition.targets
    ]
    starts = [NEW] if any(move.origin == NEW for move in moves) else []
    # A reading may lead to a state that the specification does not list.
    targets = [arc.target for arc in arcs]
    states = dict.fromkeys([*starts, *machine.states, *targets])
    return MachineSeen(machine, moves, draw(list(states), arcs, stubs))


def _moves(machine: Machine, verdicts: Mapping[str, RequirementVerdict]) -> Iterator[Move]:
    for number, move in enumerate((*machine.transitions, *machine.forbidden), start=1):
        known = tuple(name for name in move.requirements if name in verdicts)
        there = {verdicts[name] for name in known}
        seen = next((seen for verdict, seen in _GRAVEST_FIRST if verdict in there), None)
        if seen is Seen.EXERCISED and not move.targets:
            seen = Seen.REFUSED
        yield Move(number, move, seen or Seen.NOT_EXERCISED, known)
