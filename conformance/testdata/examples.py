"""Valid customers with what differs from each in one member, from ``fixtures/customers``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal

import yaml

from conformance.contract.data import FIXTURES

Json = dict[str, Any]

ABSENT: Any = object()
"""In the place of a value: the member is left out."""


@dataclass(frozen=True, slots=True)
class Change:
    """A member of an example that is sent otherwise, and the rule which that decides.

    ``names`` are the members any of which an error about it may name. ``update`` is the rule which
    it decides when it is sent as a change of a customer. What is refused ``at`` its creation
    may not be left for the customer's submission; what is refused at its submission needs one.
    """

    requirement: str
    name: str
    member: str
    value: Any
    names: Sequence[str]
    update: str | None = None
    at: Literal["creation", "submission"] | None = None

    def applied(self, body: Json) -> Json:
        """Return ``body`` with the member sent otherwise."""
        return placed(body, self.member, self.value)


@dataclass(frozen=True, slots=True)
class Example:
    """A customer who is accepted, with changes that are, and with others that are refused.

    One that goes ``alone`` is sent without the profile's additions.
    """

    name: str
    requirement: str
    customer: Mapping[str, Any]
    accepted: Sequence[Change]
    refused: Sequence[Change]
    alone: bool


def placed(body: Mapping[str, Any], path: str, value: Any) -> Json:
    """Return ``body`` with ``value`` at a dotted path, or without the member if it is absent."""
    name, _, rest = path.partition(".")
    if rest:
        return {**body, name: placed(body[name], rest, value)}
    others = {key: inner for key, inner in body.items() if key != name}
    return others if value is ABSENT else {**others, name: deepcopy(value)}


@cache
def examples() -> Mapping[str, Example]:
    """Return every example by its name."""
    files = sorted((FIXTURES / "customers").glob("*.yaml"))
    return {path.stem: _example(path.stem, path.read_text(encoding="utf-8")) for path in files}


def example(name: str) -> Example:
    """Return the example of one file of ``fixtures/customers``."""
    return examples()[name]


def _example(name: str, text: str) -> Example:
    content = yaml.load(text, Loader=yaml.CSafeLoader)
    return Example(
        name=name,
        requirement=content["requirement"],
        customer=content["customer"],
        accepted=[change(row) for row in content.get("accepted", ())],
        refused=[change(row) for row in content.get("refused", ())],
        alone=content.get("alone", False),
    )


def change(row: Mapping[str, Any]) -> Change:
    """Return the change that a row of a file describes."""
    return Change(
        requirement=row["requirement"],
        name=row["name"],
        member=row["member"],
        value=row.get("value", ABSENT),
        names=row.get("names", [row["member"].rpartition(".")[2]]),
        update=row.get("update"),
        at=row.get("at"),
    )
