"""Changes the reference from the outside and puts it back, so that it stays free of switches."""

from __future__ import annotations

from collections.abc import Callable, MutableMapping
from types import ModuleType
from typing import Any

Function = Callable[..., Any]
Holder = ModuleType | type
"""A module or a class of the reference, which has what is changed as an attribute."""

_ABSENT: Any = object()


class MutantError(Exception):
    """A mutant or a variant cannot be used as it is declared."""


class NothingChanged(MutantError):
    """A patch leaves the reference as it is."""


class NoSuchTarget(MutantError):
    """A patch names something that the reference does not have."""


class Patch:
    """Changes of the reference that can be taken back."""

    def __init__(self) -> None:
        self._undo: list[Callable[[], None]] = []
        self.places: set[str] = set()
        """What was changed or is concerned; kept after a revert.

        Written as ``module:name`` or ``module:Class.name``, a row of a table as by ``row_of``.
        """

    def replace(self, holder: Holder, name: str, value: Any) -> None:
        """Put ``value`` in the place of an attribute.

        Raises:
            NoSuchTarget: the holder has no such attribute.
            NothingChanged: it is the value that stands there already.
        """
        self.put(holder, name, value)

    def put(self, holder: Holder, name: str, value: Any) -> None:
        """Put ``value`` in the place of an attribute: what :meth:`replace` and :meth:`wrap` do.

        Raises:
            NoSuchTarget, NothingChanged: as of :meth:`replace`.
        """
        place, old = _found(holder, name)
        if old is value or (not callable(old) and old == value):
            raise NothingChanged(f"{place} is {value!r} already")
        setattr(holder, name, value)
        self.places.add(place)
        self._undo.append(lambda: setattr(holder, name, old))

    def wrap(self, holder: Holder, name: str, function: Function) -> None:
        """Have ``function`` called in the place of another, with that one as its first argument.

        Raises:
            NoSuchTarget: the holder has no such function.
        """
        _, original = _found(holder, name)

        # A function, as it may become a method.
        def around(*arguments: Any, **named: Any) -> Any:
            return function(original, *arguments, **named)

        self.put(holder, name, around)

    def row(self, holder: Holder, name: str, key: Any, value: Any) -> None:
        """Change one row of a table, or add one.

        Raises:
            NoSuchTarget: the holder has no such table.
            NothingChanged: the row is like that already.
        """
        place, table = _table(holder, name)
        old = table.get(key, _ABSENT)
        if old is not _ABSENT and old == value:
            raise NothingChanged(f"row {key!r} of {place} is {value!r} already")
        table[key] = value
        self.places.add(row_of(place, key))
        self._undo.append(lambda: _restore(table, key, old))

    def drop(self, holder: Holder, name: str, key: Any) -> None:
        """Take one row out of a table.

        Raises:
            NoSuchTarget: the holder has no such table, or the table no such row.
        """
        place, table = _table(holder, name)
        if key not in table:
            raise NoSuchTarget(f"{place} has no row {key!r}")
        # The order of rows may matter, so that all of them are put back.
        rows = dict(table)
        del table[key]
        self.places.add(row_of(place, key))
        self._undo.append(lambda: _refill(table, rows))

    def concern(self, holder: Holder, name: str) -> None:
        """Name a place that is left as it is, but shows or relies on what is changed elsewhere.

        Raises:
            NoSuchTarget: the holder has no such attribute.
        """
        place, _ = _found(holder, name)
        self.places.add(place)

    @property
    def changes(self) -> int:
        """How many places are changed now."""
        return len(self._undo)

    def revert(self) -> None:
        """Put everything back."""
        while self._undo:
            self._undo.pop()()


Apply = Callable[[Patch], None]
"""Makes the changes of one mutant or variant."""


def place_of(holder: Holder, name: str) -> str:
    """Return how the place of an attribute is written."""
    if isinstance(holder, ModuleType):
        return f"{holder.__name__}:{name}"
    return f"{holder.__module__}:{holder.__qualname__}.{name}"


def row_of(place: str, key: Any) -> str:
    """Return how a row of a table is written, ``place[key]``; the table where a key is no text."""
    # A word of an enumeration is the same key as its text.
    return f"{place}[{str.__str__(key)}]" if isinstance(key, str) else place


def _found(holder: Holder, name: str) -> tuple[str, Any]:
    """Return the text of a place and what stands there."""
    place = place_of(holder, name)
    try:
        return place, getattr(holder, name)
    except AttributeError as error:
        raise NoSuchTarget(f"the reference has no {place}: {error}") from error


def _table(holder: Holder, name: str) -> tuple[str, MutableMapping[Any, Any]]:
    place, table = _found(holder, name)
    if not isinstance(table, MutableMapping):
        raise NoSuchTarget(f"{place} is no table whose rows can be changed")
    return place, table


def _refill(table: MutableMapping[Any, Any], rows: MutableMapping[Any, Any]) -> None:
    table.clear()
    table.update(rows)


def _restore(table: MutableMapping[Any, Any], key: Any, old: Any) -> None:
    if old is _ABSENT:
        del table[key]
    else:
        table[key] = old
