"""The states of resources, and what moves them: the tables of ``spec/states``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache

from conformance.contract.data import SPEC
from conformance.contract.spec_files import parsed


@dataclass(frozen=True, slots=True)
class Transition:
    """One row of a table of states.

    ``source`` is None where the resource is new. ``action`` is an ``operationId`` or the name of a
    trigger; it is None where nobody outside moves the resource.
    """

    source: str | None
    action: str | None
    targets: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class StateTable:
    """The states of one kind of resource, and its transitions."""

    resource: str
    states: frozenset[str]
    transitions: tuple[Transition, ...]

    @property
    def actions(self) -> frozenset[str]:
        """What may move the resource from outside: operations and triggers."""
        return frozenset(row.action for row in self.transitions if row.action is not None)

    def actions_at(self, state: str) -> frozenset[str]:
        """Return what may move a resource from outside that is at a state."""
        return frozenset(
            row.action for row in self.transitions if row.action is not None and row.source == state
        )

    def reachable(
        self, state: str | None, happens: Callable[[str | None], bool]
    ) -> frozenset[str | None]:
        """Return the state and all to which it may come by actions that ``happens`` tells of."""
        found: set[str | None] = set()
        ahead: list[str | None] = [state]
        while ahead:
            if (here := ahead.pop()) in found:
                continue
            found.add(here)
            for row in self.transitions:
                if row.source == here and happens(row.action):
                    ahead.extend(row.targets)
        return frozenset(found)


@cache
def state_table(name: str) -> StateTable:
    """Return the table in the file ``spec/states/<name>.yaml``.

    Raises:
        OSError: there is no such file.
    """
    content = parsed(SPEC / "states" / f"{name}.yaml")
    return StateTable(
        content["resource"],
        frozenset(content["states"]),
        tuple(
            Transition(row["from"], row["action"], tuple(row["to"]))
            for row in content["transitions"]
        ),
    )
