"""The state machines of the specification, as ``spec/states`` has them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from conformance.contract.catalogue import Source
from conformance.contract.data import SPEC
from conformance.contract.spec_files import parsed


@dataclass(frozen=True, slots=True)
class Transition:
    """One move between states, or one that has to be refused.

    ``origin`` is the state before, ``None`` where the resource is made. ``action`` is an operation
    or a trigger, ``None`` where the service moves by itself. ``targets`` are the states that it may
    come to; a forbidden move has none, and ``refusal`` says how it is answered.
    """

    origin: str | None
    action: str | None
    condition: str
    targets: tuple[str, ...]
    refusal: str
    requirements: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Shown:
    """How a message shows the state of a resource.

    ``type`` is that in the resource's id; where messages hold no id, it is empty, and the path of
    ``operation`` has the id. ``members`` are dotted paths to a state each. ``made_with`` is the
    member with the id of what the resource is made with, where no request makes it alone.
    """

    members: tuple[str, ...]
    type: str = ""
    operation: str = ""
    made_with: str = ""


@dataclass(frozen=True, slots=True)
class Machine:
    """The states of one kind of resource, by name with their meaning, and the moves between them.

    ``name`` is that of its file.
    """

    name: str
    resource: str
    source: Source
    shown: Shown
    states: Mapping[str, str]
    transitions: tuple[Transition, ...]
    forbidden: tuple[Transition, ...]

    @property
    def actions(self) -> frozenset[str]:
        """What may move the resource from outside: operations and triggers."""
        return frozenset(row.action for row in self.transitions if row.action is not None)

    def actions_at(self, state: str | None) -> frozenset[str]:
        """Return what may move a resource from outside that is at a state; None where it is new."""
        return frozenset(
            row.action for row in self.transitions if row.action is not None and row.origin == state
        )

    def moving(self, origin: str | None, target: str) -> tuple[str, ...]:
        """Return the requirement that a resource comes from one state to another.

        It is the first that the transition has; there is none where no transition leads there.
        """
        rows = (one for one in self.transitions if one.origin == origin and target in one.targets)
        return next((row.requirements[:1] for row in rows), ())

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
                if row.origin == here and happens(row.action):
                    ahead.extend(row.targets)
        return frozenset(found)


def load_machine(path: Path) -> Machine:
    """Read one file of state machines; that it is as it should be is tested where it is written."""
    content = parsed(path)
    return Machine(
        path.stem,
        content["resource"],
        Source(content["source"]["section"], tuple(content["source"]["lines"])),
        Shown(**{**content["shown"], "members": tuple(content["shown"]["members"])}),
        content["states"],
        tuple(map(_transition, content["transitions"])),
        tuple(map(_transition, content["forbidden"])),
    )


def _transition(entry: Mapping[str, Any]) -> Transition:
    return Transition(
        entry["from"],
        entry["action"],
        " ".join(entry.get("condition", "").split()),
        tuple(entry.get("to", ())),
        entry.get("refusal", ""),
        tuple(entry["requirements"]),
    )


@cache
def machines() -> tuple[Machine, ...]:
    """Return all state machines, in the order of the lines that they come from."""
    found = map(load_machine, sorted((SPEC / "states").glob("*.yaml")))
    return tuple(sorted(found, key=lambda machine: max(machine.source.lines[:2])))


def machine_of(name: str) -> Machine:
    """Return the state machine of the file ``spec/states/<name>.yaml``.

    Raises:
        KeyError: there is no such file.
    """
    return _by_name()[name]


@cache
def _by_name() -> Mapping[str, Machine]:
    return {machine.name: machine for machine in machines()}
