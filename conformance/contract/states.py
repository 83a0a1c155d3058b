"""The state machines of the specification, as ``spec/states`` has them."""

from __future__ import annotations

from collections.abc import Mapping
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
class Machine:
    """The states of one kind of resource, by name with their meaning, and the moves between them.

    ``name`` is that of its file.
    """

    name: str
    resource: str
    source: Source
    states: Mapping[str, str]
    transitions: tuple[Transition, ...]
    forbidden: tuple[Transition, ...]


def load_machine(path: Path) -> Machine:
    """Read one file of state machines; that it is as it should be is tested where it is written."""
    content = parsed(path)
    return Machine(
        path.stem,
        content["resource"],
        Source(content["source"]["section"], tuple(content["source"]["lines"])),
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
