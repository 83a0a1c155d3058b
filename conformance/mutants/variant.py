"""Honest variants: the dual of mutants.

A mutant breaks one rule and has to be noticed. An honest variant makes another choice where the
specification leaves one, and no check may fail for it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from conformance.mutants.mutant import MutantError, Patch


class DuplicateVariant(MutantError):
    """Two variants of one open point carry one name."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One honest variant of the reference.

    ``point`` is what is open: ``N…`` is an entry of ``spec/unspecified.yaml``, ``M…`` a place of
    the specification that has several readings. Variants of one ``group`` can be applied together;
    one without a group cannot be combined with any other.
    """

    id: str
    point: str
    statement: str
    patch: Callable[[Patch], None]
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
        patch: Callable[[Patch], None],
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
    point: str, statement: str, group: str | None = None
) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    """Declare the decorated patch as a variant of ``point``, named as the function is."""

    def register(patch: Callable[[Patch], None]) -> Callable[[Patch], None]:
        declare(point, patch.__name__, statement, patch, group)
        return patch

    return register
