"""Conforming variants: the dual of mutants.

A mutant breaks one requirement and has to be noticed. A conforming variant makes another choice
where the specification leaves one, and no check may fail for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from conformance.proof.kit.builders import Builder, Place, around, patch_of
from conformance.proof.patch import Apply, Function, MutantError


class DuplicateVariant(MutantError):
    """Two variants of one open point carry one name."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One conforming variant of the reference.

    ``point`` is what is open: ``M…`` is an entry of ``spec/readings.yaml``, ``N…`` one of
    ``spec/unspecified.yaml``. Variants of one ``group`` can be applied together; one without a
    group cannot be combined with any other.
    """

    id: str
    point: str
    statement: str
    patch: Apply
    group: str | None = None


class Registry:
    """All declared variants by id, in the order of their declaration."""

    def __init__(self) -> None:
        self._variants: dict[str, Variant] = {}

    def declare(
        self,
        point: str,
        name: str,
        statement: str,
        patch: Apply,
        group: str | None = None,
    ) -> None:
        """Declare a variant ``POINT/name``.

        Raises:
            DuplicateVariant: the point has one of that name already.
        """
        identifier = f"{point}/{name.replace('_', '-').strip('-')}"
        if identifier in self._variants:
            raise DuplicateVariant(f"{identifier} is declared twice")
        self._variants[identifier] = Variant(identifier, point, statement, patch, group)

    def __iter__(self) -> Iterator[Variant]:
        return iter(self._variants.values())

    def __len__(self) -> int:
        return len(self._variants)


REGISTRY = Registry()
declare = REGISTRY.declare


def variant(
    point: str,
    statement: str,
    group: str | None = None,
    place: Place | None = None,
    how: Builder = around,
) -> Callable[[Function], Apply]:
    """Declare the decorated function as a variant of ``point``, named as the function is.

    ``place`` and ``how`` say what the function is; see :func:`patch_of`.
    """

    def register(function: Function) -> Apply:
        patch = patch_of(function, place, how)
        declare(point, function.__name__, statement, patch, group)
        return patch

    return register
