"""Mutants: the reference, broken on purpose, so that it breaks one requirement.

A mutant is declared from the outside, so that the reference stays free of test switches.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from conformance.proof.kit.builders import Builder, Place, around, patch_of
from conformance.proof.patch import Apply, Function, MutantError


class DuplicateMutant(MutantError):
    """Two mutants of one requirement carry one name."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """One broken reference: which requirement it breaks, how, and the patch that does it.

    Where many tests decide the requirement, ``at`` is a part of the name of the one to try first.
    ``module`` is the one that declares it.
    """

    id: str
    requirement: str
    statement: str
    patch: Apply
    at: str = ""
    module: str = ""


class Registry:
    """All declared mutants by id, in the order of their declaration."""

    def __init__(self) -> None:
        self._mutants: dict[str, Mutant] = {}

    def declare(
        self,
        requirement: str,
        name: str,
        statement: str,
        patch: Apply,
        *,
        at: str = "",
    ) -> None:
        """Declare a mutant ``REQUIREMENT/name``; ``at`` as in :class:`Mutant`.

        Raises:
            DuplicateMutant: the requirement has one of that name already.
        """
        identifier = f"{requirement}/{name.replace('_', '-').strip('-')}"
        if identifier in self._mutants:
            raise DuplicateMutant(f"{identifier} is declared twice")
        self._mutants[identifier] = Mutant(
            identifier, requirement, statement, patch, at, declaring_module()
        )

    def __iter__(self) -> Iterator[Mutant]:
        return iter(self._mutants.values())

    def __len__(self) -> int:
        return len(self._mutants)


REGISTRY = Registry()
declare = REGISTRY.declare


def mutant(
    requirement: str, statement: str, place: Place | None = None, how: Builder = around
) -> Callable[[Function], Apply]:
    """Declare the decorated function as a mutant of ``requirement``, named as the function is.

    ``place`` and ``how`` say what the function is; see :func:`patch_of`.
    """

    def register(function: Function) -> Apply:
        patch = patch_of(function, place, how)
        declare(requirement, function.__name__, statement, patch)
        return patch

    return register


def declaring_module() -> str:
    """Return the name of the module that is being imported now; empty where none is."""
    frame = inspect.currentframe()
    while frame is not None and frame.f_code.co_name != "<module>":
        frame = frame.f_back
    return str(frame.f_globals["__name__"]) if frame is not None else ""
