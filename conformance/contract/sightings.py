"""Judges the resources in all messages of a run by one another.

A check reads a resource where it looks for something; a row of a list, a webhook or the answer to
another operation may show it otherwise. So each message is judged by those before it. Under
``x-constant`` the document says for each type of resource which members nothing changes, and which
requirement says so; ``relations`` says what hangs together.
"""

from __future__ import annotations

import math
import threading
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import timedelta
from typing import Any, TypeGuard

from conformance.contract.difference import Difference, Kind
from conformance.contract.document import Document
from conformance.contract.judge import Finding, entries
from conformance.contract.moments import parse_moment
from conformance.contract.notation import is_plain, masked_or_same
from conformance.contract.relations import MAX_BITS, MAX_CHARS, ROUNDING, Broken, Relations

MAX_RESOURCES = 20_000
"""Resources that are remembered; what a target shows beyond that is not compared."""

_MAX_ROWS = 2_000
_MAX_DEPTH = 3
_LIST = "list"
_LOOKUP = "lookupExternalAccount"
_CREATIONS = ("createQuote", "createExternalAccount")
_A_PAIR = 2
_SUCCESSES = range(200, 300)
_A_SECOND = timedelta(seconds=1)
_HEAD_OFFICE = "XXX"

Scalar = str | int | float | bool


class Sightings:
    """What the resources of a run have shown so far, and whether a message shows the same.

    Messages may come from several threads.
    """

    def __init__(self, document: Document) -> None:
        self._kinds: Mapping[str, Mapping[str, Any]] = document.raw["x-constant"]
        self._once: str = document.raw["x-judge"]["once"]
        self._lost: str = document.raw["x-judge"]["lost"]
        self._of_event: Mapping[str, str] = {
            member: document.raw["x-judge"][key]
            for member, key in (("type", "event-type"), ("data.id", "event-resource"))
        }
        self._events: dict[str, dict[str, str]] = {}
        self._shown: dict[str, dict[str, Scalar]] = {}
        self._places: dict[str, set[tuple[str, str]]] = {}
        self._given: dict[str, dict[str, str]] = {}
        self._relations = Relations()
        self._lock = threading.Lock()

    def forget(self) -> None:
        """Forget all resources, as the target may have become another one."""
        with self._lock:
            self._shown.clear()
            self._places.clear()
            self._given.clear()
            self._events.clear()
            self._relations.forget()

    def answer(
        self, operation: str, status: int, body: Any, given: Any = None, *, by_platform: bool = True
    ) -> tuple[Finding, ...]:
        """Judge what an answer shows by what was shown before, and remember it.

        Args:
            operation: the operation that was called.
            status: the HTTP status; only a success shows resources.
            body: the decoded JSON value.
            given: the body of the request; ``None`` where it is not valid by the document.
            by_platform: whether the platform asked. Others may be shown less, and what an agent
                asks is for its own customer, whomever it names.
        """
        if status not in _SUCCESSES:
            return ()
        rows = entries(body) or []
        with self._lock:
            self._take_given(operation, body, given)
            is_asked = by_platform and operation in _CREATIONS and isinstance(given, dict)
            asked = given if is_asked else None
            found: list[Finding] = []
            for one in (body, *rows[:_MAX_ROWS]):
                found += self._resource(one, Kind.BODY, operation, asked if one is body else None)
                found += self._losses(one, Kind.BODY, operation) if by_platform else ()
            if operation == _LOOKUP and isinstance(body, dict):
                relations = self._relations.of_lookup(body)
                found += _broken(relations, "the lookup", Kind.BODY, operation)
        if operation.startswith(_LIST):
            found += self._repeated(rows, operation)
        return _one_each(found)

    def delivery(self, body: Any) -> tuple[Finding, ...]:
        """Judge what a webhook shows by what was shown before, and remember it."""
        if not isinstance(body, dict):
            return ()
        name = str(body.get("type"))[:MAX_CHARS]
        with self._lock:
            found = [*self._event(body, name)]
            found += self._resource(body.get("data"), Kind.WEBHOOK, name)
            found += self._losses(body.get("data"), Kind.WEBHOOK, name)
        return _one_each(found)

    def _event(self, body: Mapping[str, Any], name: str) -> Iterator[Finding]:
        """Yield whether a webhook is of the type and about the resource of those of its id."""
        event = body.get("id")
        if not isinstance(event, str) or len(event) > MAX_CHARS:
            return
        if event not in self._events and len(self._events) >= MAX_RESOURCES:
            return
        before = self._events.setdefault(event, {})
        for member, requirement in self._of_event.items():
            value = _value_at(body, member)
            if not isinstance(value, str) or not 0 < len(value) <= MAX_CHARS:
                continue
            if member not in before:
                before[member] = value
            elif value == before[member]:
                yield Finding(requirement, passed=True)
            else:
                detail = f"{member} of {event} is {value!r}, and was {before[member]!r}"
                wanted = Difference(
                    *(Kind.WEBHOOK, name, member), expected=before[member], got=value
                )
                yield Finding(requirement, False, detail, wanted)

    def _repeated(self, rows: Sequence[Any], operation: str) -> Iterator[Finding]:
        """Yield whether the rows of a list, of two at least, have ids of their own."""
        # A payment from one account of a customer to another may have a row on either side.
        shown = Counter(
            (row["id"], row.get("direction") == "CREDIT")
            for row in rows
            if isinstance(row, dict) and row.get("id") and isinstance(row["id"], str)
        )
        if shown.total() < _A_PAIR:
            return
        (name, _), times = shown.most_common(1)[0]
        if times == 1:
            yield Finding(self._once, passed=True)
            return
        detail = f"{name[:MAX_CHARS]} is listed {times} times"
        yield Finding(self._once, False, detail, Difference(Kind.BODY, operation, "data"))

    def _take_given(self, operation: str, body: Any, given: Any) -> None:
        """Remember what a new resource was created with."""
        kind = self._kind_of(body)
        wanted = {} if kind is None else kind.get("given", {})
        if wanted.get("operation") != operation or not isinstance(given, dict):
            return
        if body["id"] not in self._shown and len(self._given) < MAX_RESOURCES:
            member = wanted["member"]
            self._given[body["id"]] = dict(_texts(given.get(member), member))

    def _resource(
        self, resource: Any, message: Kind, name: str, asked: Mapping[str, Any] | None = None
    ) -> Iterator[Finding]:
        kind = self._kind_of(resource)
        if kind is None or not self._has_room_for(resource["id"]):
            return
        yield from self._constants(resource, kind, message, name)
        relations = self._relations.of(resource["id"].partition(":")[0], resource, asked)
        yield from _broken(relations, resource["id"], message, name)
        for place, given in self._given.get(resource["id"], {}).items():
            shown = _value_at(resource, place)
            if not isinstance(shown, str) or not shown:
                continue
            requirement = kind["given"]["requirement"]
            if _is_as_given(shown, given):
                yield Finding(requirement, passed=True)
                continue
            detail = f"{place} of {resource['id']} is shown otherwise than it was given"
            yield Finding(requirement, False, detail, Difference(message, name, place=place))

    def _constants(
        self, resource: Mapping[str, Any], kind: Mapping[str, Any], message: Kind, name: str
    ) -> Iterator[Finding]:
        before = self._shown.setdefault(resource["id"], {})
        for member in kind["members"]:
            value = _value_at(resource, member)
            says_by_nothing = value == "" and member in kind.get("empty", ())
            if not says_by_nothing and not _is_comparable(value):
                continue
            if member not in before:
                before[member] = value
            elif _are_alike(value, before[member]):
                yield Finding(kind["requirement"], passed=True)
            else:
                detail = f"{member} of {resource['id']} is {value!r}, and was {before[member]!r}"
                wanted = Difference(
                    *(message, name, member), expected=str(before[member]), got=str(value)
                )
                yield Finding(kind["requirement"], False, detail, wanted)

    def _losses(self, resource: Any, message: Kind, name: str) -> Iterator[Finding]:
        """Yield whether a message shows again what one like it has shown and nothing changes."""
        kind = self._kind_of(resource)
        if kind is None or resource["id"] not in self._shown:
            return
        known = self._places.setdefault(resource["id"], set())
        for member in kind["members"]:
            place = (name, member)
            if _is_comparable(value := _value_at(resource, member)):
                if place in known:
                    yield Finding(self._lost, passed=True)
                known.add(place)
            elif value is None and place in known:
                detail = f"{member} of {resource['id']} is shown no longer"
                yield Finding(self._lost, False, detail, Difference(message, name, member))

    def _has_room_for(self, name: str) -> bool:
        return name in self._shown or len(self._shown) < MAX_RESOURCES

    def _kind_of(self, resource: Any) -> Mapping[str, Any] | None:
        name = resource.get("id") if isinstance(resource, dict) else None
        if not isinstance(name, str) or len(name) > MAX_CHARS:
            return None
        return self._kinds.get(name.partition(":")[0])


def _broken(
    relations: Iterable[Broken], subject: str, message: Kind, name: str
) -> Iterator[Finding]:
    """Yield a finding for each relation that does not hold."""
    for broken in relations:
        difference = Difference(message, name, got=broken.detail)
        yield Finding(broken.requirement, False, f"{subject} has {broken.detail}", difference)


def _one_each(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Return one finding of each requirement, the first that is broken."""
    found: dict[str, Finding] = {}
    for finding in findings:
        known = found.get(finding.requirement)
        if known is None or (known.passed and not finding.passed):
            found[finding.requirement] = finding
    return tuple(found.values())


def _is_comparable(value: Any) -> TypeGuard[Scalar]:
    """Return whether a value is no object or list, not empty, and not too long to be kept."""
    if isinstance(value, str):
        return 0 < len(value) <= MAX_CHARS
    return isinstance(value, float) or (isinstance(value, int) and value.bit_length() <= MAX_BITS)


def _value_at(resource: Mapping[str, Any], place: str) -> Any:
    value: Any = resource
    for name in place.split("."):
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _texts(value: Any, place: str, depth: int = 0) -> Iterator[tuple[str, str]]:
    """Yield the texts in an object by their dotted places; those that nobody writes otherwise."""
    if isinstance(value, dict) and depth < _MAX_DEPTH:
        for name, inner in value.items():
            yield from _texts(inner, f"{place}.{name}", depth + 1)
    elif isinstance(value, str) and is_plain(value):
        yield place, value


def _is_as_given(shown: str, given: str) -> bool:
    """Return whether a text is shown as it was given; a bank's code may name its head office."""
    if shown == given or masked_or_same(shown, given):
        return True
    return masked_or_same(shown.removesuffix(_HEAD_OFFICE), given.removesuffix(_HEAD_OFFICE))


def _are_alike(value: Scalar, before: Scalar) -> bool:
    """Return whether two values are the same but for rounding: a moment to the second, a rate."""
    if value == before:
        return True
    if isinstance(value, str) and isinstance(before, str):
        try:
            return abs(parse_moment(value) - parse_moment(before)) < _A_SECOND
        except (ValueError, TypeError, OverflowError):
            return False
    try:
        return math.isclose(float(value), float(before), rel_tol=ROUNDING)
    except (ValueError, OverflowError):
        return False
