"""Changes of JSON, such as a body or what a resource shows.

Each function returns a change, which returns a new value and leaves the one that it is given as it
is. A path is dotted, ``*`` in it is every entry of a list, as in ``details.errors.*.field``. Where
nothing stands at the way to a member, nothing is changed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Json

Edit = Callable[[Any], Any]

ALL = "*"
"""In a path: every entry of a list."""

ABSENT: Any = object()
"""In a table, in the place of a value: the member is not there."""


def put(path: str, value: Any) -> Edit:
    """Give a member a value; null only where it is shown. The path "" is the whole.

    ``ABSENT`` takes the member out.
    """
    if value is ABSENT:
        return without(path)

    def change(holder: Json, name: str) -> Json:
        return {**holder, name: value} if name in holder or value is not None else holder

    return _at(path, change) if path else lambda _whole: value


def turned(path: str, change: Edit) -> Edit:
    """Give a member, where it is shown with a value, what ``change`` makes of that value."""

    def turn(holder: Json, name: str) -> Json:
        value = holder.get(name)
        return holder if value is None else {**holder, name: change(value)}

    return _at(path, turn)


def replaced(path: str, value: Any) -> Edit:
    """Give a member, where it is shown with a value, another one."""
    return turned(path, lambda _: value)


def derived(name: str, of: Callable[[Json], Any]) -> Edit:
    """Give a member, where it is shown, what ``of`` makes of the whole."""
    return lambda body: {**body, name: of(body)} if name in body else body


def copied(source: str, target: str) -> Edit:
    """Give one member the value of another, where that is shown."""
    return lambda body: {**body, target: body[source]} if source in body else body


def without(*paths: str) -> Edit:
    """Take members out."""

    def edit(value: Any) -> Any:
        for path in paths:
            value = _at(path, _less)(value)
        return value

    return edit


def with_null(name: str) -> Edit:
    """Show null in the place of a member, or where it would be."""
    return lambda body: {**body, name: None}


def renamed(name: str, other: str) -> Edit:
    """Show a member under another name."""
    return lambda body: {other if key == name else key: value for key, value in body.items()}


def where(condition: Callable[[Any], bool], edit: Edit) -> Edit:
    """Make a change where a condition holds for the whole."""
    return lambda body: edit(body) if condition(body) else body


def shows(name: str, value: Any) -> Callable[[Json], bool]:
    """Return the condition that a member has a value."""
    return lambda body: body.get(name) == value


def bare(identifier: str) -> str:
    """Return an identifier without its type."""
    return identifier.rpartition(":")[2]


def as_number(value: Any) -> Any:
    """Return a text of digits as a number, and any other value as it is."""
    return int(value) if isinstance(value, str) and value.isdigit() else value


def _at(path: str, change: Callable[[Json, str], Json]) -> Edit:
    *way, name = path.split(".")
    return lambda value: _below(value, way, lambda holder: change(holder, name))


def _below(value: Any, way: list[str], change: Callable[[Json], Json]) -> Any:
    if way and way[0] == ALL:
        return [_below(v, way[1:], change) for v in value] if isinstance(value, list) else value
    if not isinstance(value, dict):
        return value
    if not way:
        return change(value)
    step, *rest = way
    return {**value, step: _below(value[step], rest, change)} if step in value else value


def _less(holder: Json, name: str) -> Json:
    return {key: value for key, value in holder.items() if key != name}
