"""The tables of states, as code reads them."""

from __future__ import annotations

import pytest

from conformance.contract.data import SPEC
from conformance.contract.document import document
from conformance.contract.states import StateTable, Transition, state_table
from conformance.contract.vocabulary import triggers

NAMES = sorted(path.stem for path in (SPEC / "states").glob("*.yaml"))


@pytest.mark.parametrize("name", NAMES)
def test_a_table_can_be_walked(name: str) -> None:
    """Something leads to each state that a transition leaves, from where the resource is new."""
    table = state_table(name)

    reached = table.reachable(None, lambda _: True)

    left = {row.source for row in table.transitions}
    assert left - {None} <= table.states | reached


def test_payments_are_moved_by_what_is_known() -> None:
    """Each action of a quote or a transaction is an operation or a trigger."""
    for name in ("quote", "transaction"):
        assert state_table(name).actions <= document().operations.keys() | triggers().keys()


def test_a_state_is_reached_by_what_happens_alone() -> None:
    """Transitions whose action has not happened lead nowhere, and none leads back by itself."""
    table = StateTable(
        "made up",
        frozenset("ABC"),
        (
            Transition(None, "make", ("A",)),
            Transition("A", "move", ("B",)),
            Transition("B", None, ("C",)),
        ),
    )

    assert table.reachable("A", lambda _: False) == {"A"}
    assert table.reachable("A", lambda action: action in (None, "move")) == {"A", "B", "C"}
    assert table.reachable("C", lambda _: True) == {"C"}
    assert table.actions_at("A") == {"move"}
