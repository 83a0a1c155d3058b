"""Fits a body whose members the specification does not show to what a target says of it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from conformance.cli.checkup.learned import refused_fields
from conformance.exchange.answer import Answer

Values = tuple[tuple[str, Any], ...]
"""Parts of names, in lower case, each with the value of a member whose name holds it."""

MAX_ROUNDS = 8
_LISTED = re.compile(r"(?:one of|(?:allowed|supported) values?(?: are)?)\W*(.+)", re.IGNORECASE)
_WORD = re.compile(r"[\w.+-]+(?: [\w.+-]+)*")
_MAX_LISTED = 50


def fitted(
    template: Mapping[str, Any], values: Values, send: Callable[[dict[str, Any]], Answer]
) -> tuple[dict[str, Any], Answer]:
    """Return a template that a target takes, or the latest one that it refused, with its answer.

    A member that a refusal names gets the first value that the refusal lists for it. Where it
    lists none, the member is taken out if it was sent, and otherwise added with the value of its
    name.

    Args:
        template: the template to begin with.
        values: what members can hold.
        send: sends what a template makes.
    """
    current = dict(template)
    answer = send(current)
    for _ in range(MAX_ROUNDS):
        named = [_last(row) for row in refused_fields(answer)]
        changed = {name: value for name, value in current.items() if name not in named}
        for name in named:
            listed = listed_values(answer, name)
            value = listed[0] if listed else _fitting(name, values)
            if listed or (name not in current and value is not None):
                changed[name] = value
        if answer.accepted or changed == current:
            break
        current = changed
        answer = send(current)
    return current, answer


def listed_values(answer: Answer, name: str) -> list[str]:
    """Return the values that a refusal lists for a field; empty where it lists none.

    Args:
        answer: the refusal.
        name: the last segment of the field.
    """
    for row in refused_fields(answer):
        if _last(row) == name:
            return list(_listed(row))[:_MAX_LISTED]
    return []


def _listed(row: Mapping[str, Any]) -> Iterator[str]:
    constraint = row.get("constraint")
    for value in constraint.values() if isinstance(constraint, Mapping) else ():
        if isinstance(value, list) and all(isinstance(one, str) for one in value):
            yield from value
            return
    if found := _LISTED.search(str(row.get("message"))):
        yield from _WORD.findall(found[1])


def _last(row: Mapping[str, Any]) -> str:
    return re.split(r"[./\[\]]+", str(row.get("field")).rstrip("]"))[-1]


def _fitting(name: str, values: Values) -> Any:
    return next((value for part, value in values if part in name.lower()), None)
