"""Fits a body whose members the specification does not show to what a target says of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from conformance.cli.checkup.learned import refused_fields
from conformance.exchange.answer import Answer

Values = tuple[tuple[str, Any], ...]
"""Parts of names, in lower case, each with a value of a member whose name holds it."""

Send = Callable[[dict[str, Any]], Answer]
"""Sends what a template makes."""

MAX_ROUNDS = 12
_NONSENSE = {"no": ["such", "value"]}
_SEPARATOR = re.compile(r"[./\[\]]+")
_LISTED = re.compile(r"(?:one of|(?:allowed|supported) values?(?: are)?)\W*(.+)", re.IGNORECASE)
_WORD = re.compile(r"[\w.+-]+(?: [\w.+-]+)*")
_MAX_LISTED = 50


def fitted(
    template: Mapping[str, Any], values: Values, send: Send, root: str = ""
) -> tuple[dict[str, Any], Answer]:
    """Return a template that a target takes, or the latest one that it refused, with its answer.

    A member that a refusal names gets the first value that was not tried yet, of those that the
    refusal lists and those of its name. Once all were tried it is left out.

    Args:
        template: the template to begin with.
        values: what members can hold.
        send: sends what a template makes.
        root: the member of the body that holds what the template makes; empty for the body itself.
    """
    current = dict(template)
    tried = {(name, repr(value)) for name, value in current.items()}
    answer = send(current)
    for _ in range(MAX_ROUNDS):
        changed = dict(current)
        for row in refused_fields(answer):
            name = _member(row, root)
            changed.pop(name, None)
            for value in (*_listed(row), *_fitting(name, values)):
                if (name, repr(value)) not in tried:
                    tried.add((name, repr(value)))
                    changed[name] = value
                    break
        if answer.accepted or changed == current:
            break
        current = changed
        answer = send(current)
    return current, answer


def heeded(template: Mapping[str, Any], send: Send) -> dict[str, Any]:
    """Return an accepted template less the members that the target does not look at.

    Such a member is not known to the target, and what is wrong with it would be no fault. A target
    may take any value of a member that it needs all the same, so that both are tried; what is
    returned was accepted as it is.

    Args:
        template: the template, which was accepted.
        send: sends what a template makes.
    """
    current = dict(template)
    for name in template:
        without = {other: value for other, value in current.items() if other != name}
        if send({**current, name: _NONSENSE}).accepted and send(without).accepted:
            current = without
    return current


def listed_values(answer: Answer, name: str) -> list[str]:
    """Return the values that a refusal lists for a field; empty where it lists none.

    Args:
        answer: the refusal.
        name: the last segment of the field.
    """
    for row in refused_fields(answer):
        if _path(row)[-1] == name:
            return list(_listed(row))
    return []


def _listed(row: Mapping[str, Any]) -> Iterator[str]:
    constraint = row.get("constraint")
    for value in constraint.values() if isinstance(constraint, Mapping) else ():
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            yield from value[:_MAX_LISTED]
            return
    if found := _LISTED.search(str(row.get("message"))):
        yield from _WORD.findall(found[1])[:_MAX_LISTED]


def _path(row: Mapping[str, Any]) -> list[str]:
    return _SEPARATOR.split(str(row.get("field")).strip("./[]"))


def _member(row: Mapping[str, Any], root: str) -> str:
    """Return the member of what the template makes that a refusal is about."""
    path = _path(row)
    return path[1] if len(path) > 1 and path[0] == root else path[0]


def _fitting(name: str, values: Values) -> Iterator[Any]:
    return (value for part, value in values if part in name.lower())
