"""Resources of the target, and what is read out of its answers."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from conformance.contract.judge import entries
from conformance.exchange.answer import Answer
from conformance.exchange.content import MAX_BRACKETS, MAX_LEVELS
from conformance.verdict.decisions import Facts, HarnessError, PreconditionFailed, ResourceMissing

Json = Mapping[str, Any]
"""A JSON object that is read."""

Body = dict[str, Any]
"""A JSON object that is sent."""

_COUNTED = re.compile(r"(|.*[^0-9A-Fa-f])[1-9]\d{,10}")
"""What is written of an identifier where resources are counted; longer numbers are random."""

_HIGH_NUMBER = 1_999_999_973
"""Fits in 32 bits, and is far beyond what a target has given out."""


@dataclass(frozen=True, slots=True, eq=False)
class Resource(Mapping[str, Any]):
    """A resource as the target showed it, and the customer that it belongs to.

    ``shown`` are its members, which are read as those of a dictionary.
    """

    shown: Json
    customer: Resource | None = None

    @property
    def id(self) -> str:
        """The ``id``, such as ``Quote:…``."""
        return str(self.shown["id"])

    @property
    def owner(self) -> Resource:
        """The customer that it belongs to.

        Raises:
            HarnessError: it was arranged without one.
        """
        if self.customer is None:
            raise HarnessError(f"{self.shown.get('id')} was arranged without an owner")
        return self.customer

    def but(self, /, **members: Any) -> Resource:
        """Return the resource with other members."""
        return Resource({**self.shown, **members}, self.customer)

    def __getitem__(self, name: str) -> Any:
        return self.shown[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.shown)

    def __len__(self) -> int:
        return len(self.shown)

    def __repr__(self) -> str:
        return repr(dict(self.shown))


def as_resource(value: Json, owner: Json | None = None) -> Resource:
    """Return a JSON object as a resource; one that is a resource already keeps its owner."""
    customer = None if owner is None else as_resource(owner)
    if isinstance(value, Resource):
        return value if customer is None else Resource(value.shown, customer)
    return Resource(value, customer)


def owner_of(account: Json) -> Resource:
    """Return the customer that an account belongs to, by its own word if it was only read."""
    if isinstance(account, Resource) and account.customer is not None:
        return account.customer
    return Resource({"id": account["customerId"]})


def arranged_body(answer: Answer) -> Any:
    """Return the body of the answer to a step that arranges a check.

    Raises:
        PreconditionFailed: the request was refused, or the body was not read.
    """
    if not answer.accepted:
        facts = Facts(difference=answer.refusal)
        raise PreconditionFailed(f"refused: {answer}", facts, breaks=answer.breaks)
    if answer.body is None and isinstance(answer.exchange.response_body, str):
        raise PreconditionFailed(
            "a step before the check brought what is not read: it is no JSON, or it is nested more "
            f"than {MAX_LEVELS} levels deep or has more than {MAX_BRACKETS:,} brackets: {answer}"
        )
    return answer.body


def arranged_resource(answer: Answer, owner: Json | None = None) -> Resource:
    """Return the resource in the answer to a step that arranges a check.

    Raises:
        PreconditionFailed: the request was refused, or the answer holds no resource.
    """
    body = arranged_body(answer)
    if not isinstance(body, Mapping) or not isinstance(body.get("id"), str):
        raise PreconditionFailed(f"a step before the check brought no resource: {answer}")
    return as_resource(body, owner)


def listed_members(body: Any) -> list[dict[str, Any]]:
    """Return the members of a list response, which may stand bare, under ``data`` or elsewhere.

    Raises:
        PreconditionFailed: no one list is found in it.
    """
    listed = entries(body)
    if listed is None:
        raise PreconditionFailed(f"expected a list, got {body!r}")
    return listed


def require_member(resource: Json, member: str) -> Any:
    """Return a member that need not be there.

    Raises:
        ResourceMissing: it is absent or null, so that there is nothing to check.
    """
    value = resource.get(member)
    if value is None:
        raise ResourceMissing(f"{resource.get('id', 'what came')} has no {member}")
    return value


def unknown_id(identifier: str) -> str:
    """Return an identifier of the same form that no resource has.

    Only the second half of what is random differs: what stands before may be a time, a version or
    the size of a number, and another one might be refused as malformed.
    """
    kind, colon, rest = identifier.rpartition(":")
    if counted := _COUNTED.fullmatch(rest):
        return f"{kind}{colon}{counted[1]}{_HIGH_NUMBER}"
    kept, tail = rest[: len(rest) // 2], rest[len(rest) // 2 :]
    for changed in (re.sub(r"\d", "9", tail), tail[::-1]):
        if changed != tail:
            return f"{kind}{colon}{kept}{changed}"
    return f"{identifier}9"


def retyped(identifier: str, kind: str) -> str:
    """Return an identifier with another type in the place of its own."""
    return f"{kind}:{identifier.rpartition(':')[2]}"


def without_members(body: Json, *names: str) -> dict[str, Any]:
    """Return a body without some of its members."""
    return {name: value for name, value in body.items() if name not in names}


def merged(body: Json, values: Json) -> dict[str, Any]:
    """Return ``body`` with ``values`` merged in, objects member by member."""
    result = dict(body)
    for name, value in values.items():
        inner = result.get(name)
        if isinstance(value, Mapping) and isinstance(inner, Mapping):
            result[name] = merged(inner, value)
        else:
            result[name] = value
    return result


def fill_template(template: Any, words: Json) -> Any:
    """Return a template with its words filled in, less the members whose word has no value."""
    if isinstance(template, Mapping):
        found = {name: fill_template(member, words) for name, member in template.items()}
        return {
            name: value
            for name, value in found.items()
            if value is not None or template[name] is None
        }
    if isinstance(template, list):
        return [fill_template(member, words) for member in template]
    return words.get(template, template) if isinstance(template, str) else template
