"""What a target showed of itself, as keys of a profile."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from conformance.exchange.answer import Answer
from conformance.text.paths import value_at

Key = tuple[str, ...]
"""The keys that lead to a value of a profile."""


@dataclass(frozen=True, slots=True)
class Learned:
    """What the target showed, and the key of the profile that says so.

    ``shown`` is the request that showed it, and what came. A question has no value.
    """

    key: Key
    shown: str
    value: Any = None
    is_question: bool = False


def question(key: str, shown: str) -> Learned:
    """Return what a person has to say, as no request shows it.

    Args:
        key: the key of the profile that says it, such as ``features.cards``.
        shown: the question, and what was seen of it.
    """
    return Learned(tuple(key.split(".", 1)), shown, is_question=True)


def told(answer: Answer) -> str:
    """Return the request and the status of an answer as text."""
    operation = answer.operation
    return f"{operation.method} {operation.path} answered {answer.status}"


def refused_fields(answer: Answer) -> list[Mapping[str, Any]]:
    """Return what a refusal says of each field, as the specification shows it; none otherwise."""
    listed = value_at(answer.body, "details.errors")
    return [row for row in listed if isinstance(row, Mapping)] if isinstance(listed, list) else []


def refusal(answer: Answer) -> str:
    """Return a refusal as text: what it says of each field, where it names any."""
    fields = [
        f"{row.get('field')}: {row.get('message') or row.get('constraint') or 'is refused'}"
        for row in refused_fields(answer)
    ]
    return f"{told(answer)}: {'; '.join(fields)}" if fields else str(answer)
