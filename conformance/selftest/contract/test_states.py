"""The tables of states, as code reads them."""

from __future__ import annotations

import pytest

from conformance.contract.catalogue import Source
from conformance.contract.document import document
from conformance.contract.states import Machine, Shown, Transition, machine_of, machines
from conformance.contract.vocabulary import triggers


@pytest.mark.parametrize("machine", machines(), ids=lambda machine: machine.name)
def test_a_machine_can_be_walked(machine: Machine) -> None:
    """Something leads to each state that a transition leaves, from where the resource is new."""
    reached = machine.reachable(None, lambda _: True)

    left = {row.origin for row in machine.transitions}
    assert left - {None} <= machine.states.keys() | reached


@pytest.mark.parametrize("machine", machines(), ids=lambda machine: machine.name)
def test_a_state_is_shown_somewhere(machine: Machine) -> None:
    """Messages show it by the type in an id, or an operation by the id in its path; never both."""
    shown = machine.shown

    assert shown.members
    assert bool(shown.type) != bool(shown.operation)
    assert not shown.operation or shown.operation in document().operations


def test_payments_are_moved_by_what_is_known() -> None:
    """Each action of a quote or a transaction is an operation or a trigger."""
    for name in ("quote", "transaction"):
        assert machine_of(name).actions <= document().operations.keys() | triggers().keys()


def test_a_state_is_reached_by_what_happens_alone() -> None:
    """Transitions whose action has not happened lead nowhere, and none leads back by itself."""
    table = Machine(
        "made up",
        "made up",
        Source("nowhere", (1,)),
        Shown(("status",), "Thing"),
        dict.fromkeys("ABC", ""),
        (_move(None, "make", "A"), _move("A", "move", "B"), _move("B", None, "C")),
        (),
    )

    assert table.reachable("A", lambda _: False) == {"A"}
    assert table.reachable("A", lambda action: action in (None, "move")) == {"A", "B", "C"}
    assert table.reachable("C", lambda _: True) == {"C"}
    assert table.actions_at("A") == {"move"}


def test_the_requirement_that_a_state_is_reached_stands_first() -> None:
    """That of a move comes first; where no transition leads to a state, there is none."""
    resets = machine_of("factor-reset")

    assert resets.moving("LIVENESS_PASSED", "COMPLETED") == ("SFR-041",)
    assert resets.moving("INITIATED", "COMPLETED") == ()


def _move(origin: str | None, action: str | None, target: str) -> Transition:
    return Transition(origin, action, "", (target,), "", ())
