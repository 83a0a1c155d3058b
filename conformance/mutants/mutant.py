"""Mutants: deliberately broken variants of the reference, each breaking one rule.

A mutant is declared from the outside, so that the reference stays free of test switches.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, MutableMapping
from dataclasses import dataclass
from typing import Any

_ABSENT: Any = object()


class MutantError(Exception):
    """A mutant cannot be used as it is declared."""


class DuplicateMutant(MutantError):
    """Two mutants of one requirement carry one name."""


class NothingChanged(MutantError):
    """The patch of a mutant leaves the reference as it is."""


class NoSuchTarget(MutantError):
    """The patch names something that the reference does not have."""


class Patch:
    """Changes the reference, and puts it back.

    A place is written ``module:name`` or ``module:name.attribute``.
    """

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self.places: set[str] = set()
        """Where something is changed, or was before it was put back."""

    def replace(self, place: str, value: Any) -> None:
        """Put ``value`` in the place of an attribute.

        Raises:
            NoSuchTarget: there is no such place.
            NothingChanged: it is the value that stands there already.
        """
        holder, name = locate(place)
        old = getattr(holder, name)
        if old is value or (not callable(old) and old == value):
            raise NothingChanged(f"{place} is {value!r} already")
        setattr(holder, name, value)
        self.places.add(place)
        self._undo.append(lambda: setattr(holder, name, old))

    def wrap(self, place: str, wrapper: Callable[[Any], Any]) -> None:
        """Put ``wrapper(original)`` in the place of a function."""
        holder, name = locate(place)
        self.replace(place, wrapper(getattr(holder, name)))

    def row(self, place: str, key: Any, value: Any) -> None:
        """Change one row of a table, or add one.

        Raises:
            NoSuchTarget: there is no such table.
            NothingChanged: the row is like that already.
        """
        table = self._table(place)
        old = table.get(key, _ABSENT)
        if old is not _ABSENT and old == value:
            raise NothingChanged(f"row {key!r} of {place} is {value!r} already")
        table[key] = value
        self.places.add(place)
        self._undo.append(lambda: _restore(table, key, old))

    def drop(self, place: str, key: Any) -> None:
        """Take one row out of a table.

        Raises:
            NoSuchTarget: there is no such table or row.
        """
        table = self._table(place)
        if key not in table:
            raise NoSuchTarget(f"{place} has no row {key!r}")
        # The order of rows may matter, so that all of them are put back.
        rows = dict(table)
        del table[key]
        self.places.add(place)
        self._undo.append(lambda: _refill(table, rows))

    @property
    def changes(self) -> int:
        """How many places are changed now."""
        return len(self._undo)

    def revert(self) -> None:
        """Put everything back."""
        while self._undo:
            self._undo.pop()()

    def _table(self, place: str) -> MutableMapping[Any, Any]:
        holder, name = locate(place)
        table = getattr(holder, name)
        if not isinstance(table, MutableMapping):
            raise NoSuchTarget(f"{place} is no table whose rows can be changed")
        return table


@dataclass(frozen=True, slots=True)
class Mutant:
    """One broken variant: which requirement it breaks, how, and the patch that does it.

    Where many tests decide the requirement, ``at`` is a part of the name of the one to try first.
    """

    id: str
    requirement: str
    statement: str
    patch: Callable[[Patch], None]
    at: str = ""


class Registry:
    """All declared mutants by id, in the order of their declaration."""

    def __init__(self) -> None:
        self._mutants: dict[str, Mutant] = {}

    def declare(
        self,
        requirement: str,
        name: str,
        statement: str,
        patch: Callable[[Patch], None],
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
        self._mutants[identifier] = Mutant(identifier, requirement, statement, patch, at)

    def __iter__(self) -> Iterator[Mutant]:
        return iter(self._mutants.values())

    def __len__(self) -> int:
        return len(self._mutants)


REGISTRY = Registry()
declare = REGISTRY.declare


def mutant(
    requirement: str, statement: str
) -> Callable[[Callable[[Patch], None]], Callable[[Patch], None]]:
    """Declare the decorated patch as a mutant of ``requirement``, named as the function is."""

    def register(patch: Callable[[Patch], None]) -> Callable[[Patch], None]:
        declare(requirement, patch.__name__, statement, patch)
        return patch

    return register


def locate(place: str) -> tuple[Any, str]:
    """Return the holder and the name of the attribute at ``module:name.attribute``.

    Raises:
        NoSuchTarget: the reference has no such place.
    """
    module, _, path = place.partition(":")
    *holders, name = path.split(".")
    try:
        holder: Any = importlib.import_module(module)
        for step in holders:
            holder = getattr(holder, step)
        getattr(holder, name)
    except (ImportError, AttributeError) as error:
        raise NoSuchTarget(f"the reference has no {place}: {error}") from error
    return holder, name


def _refill(table: MutableMapping[Any, Any], rows: MutableMapping[Any, Any]) -> None:
    table.clear()
    table.update(rows)


def _restore(table: MutableMapping[Any, Any], key: Any, old: Any) -> None:
    if old is _ABSENT:
        del table[key]
    else:
        table[key] = old
