"""Bodies that cannot be read: refused without an effect, and never with a server error.

Each operation that takes a body is sent all of them, so that one that is added to the document is
covered by itself.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import pytest

from conformance.contract.document import Operation, document
from conformance.exchange.answer import Answer
from conformance.platform.grounds.request import Request, request
from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.protocol.stray import (
    expect_error_object,
    expect_refused,
    expect_unbroken,
    require_offer,
    require_state,
)

OPERATIONS: Mapping[str, Operation] = document().operations

TAKES_NOTHING = frozenset({"createKycLink"})
"""What names a member, and may do without it."""

TAKES_OBJECTS = frozenset({"createKycLink", "updateCustomer", "updateConfig"})
"""What may do without any member, but takes nothing else than an object."""

NAMES_NOTHING = frozenset({"authorizeQuote", "transferIn", "transferOut"})
"""What cannot do without a body, although the document demands no member of a certain name."""

SHARED = frozenset({"updateConfig"})
"""What every user of the target shares: it gets no body that might be taken."""

_DEEP = 2_000
_LONG = 1_000_000
_NO_FORM = b"text=none"
_PLACE = "a place for what is odd"


@dataclass(frozen=True)
class Unreadable:
    """A body that cannot be read as what an operation takes, made from the right one."""

    requirement: str
    content: Callable[[Json], bytes]
    media_type: str = "application/json"

    def send(self, found: Request) -> Answer:
        """Send it; of what is no JSON by its media type a parser before the service may tell."""
        return found.send(
            content=self.content(plain(found)),
            headers={"content-type": self.media_type},
            valid=False,
            judged=self.media_type == "application/json" and found.operation.form_schema is None,
        )


def encoded(body: Json) -> bytes:
    """Return a body as JSON."""
    return json.dumps(body).encode()


NO_OBJECTS = (
    Unreadable("CNV-040", lambda body: encoded(body)[:-1]),
    Unreadable("CNV-041", lambda _: b"not json"),
    Unreadable("CNV-042", lambda body: encoded(body) + b" and more"),
    Unreadable("CNV-043", lambda body: b"[" + encoded(body) + b"]"),
    Unreadable("CNV-044", lambda body: json.dumps(json.dumps(body)).encode()),
    Unreadable("CNV-045", lambda _: b"17"),
    Unreadable("CNV-046", lambda _: b"true"),
    Unreadable("CNV-047", lambda body: b"\x80\x81" + encoded(body)),
    Unreadable("CNV-048", lambda _: b"[" * _DEEP + b"]" * _DEEP),
)
"""What is no JSON object, and so no body of an operation that takes one."""

NOTHING = (
    Unreadable("CNV-049", lambda _: b""),
    Unreadable("CNV-050", lambda _: b"null"),
    Unreadable("CNV-051", lambda _: b"please do", "text/plain"),
    Unreadable("CNV-052", lambda _: b"<request/>", "application/xml"),
    Unreadable("CNV-053", lambda _: _NO_FORM, "application/x-www-form-urlencoded"),
)
"""What some read as no body at all, and so none of an operation that cannot do without one."""


def demands(operation: Operation) -> bool:
    """Return whether an operation cannot do without members of its body."""
    schema = operation.request_schema or operation.form_schema or {}
    parts = (schema, *schema.get("allOf", ()))
    named = any(part.get("required") for part in parts)
    return operation.id in NAMES_NOTHING or (
        operation.body_required and named and operation.id not in TAKES_NOTHING
    )


def takes_objects(operation: Operation) -> bool:
    """Return whether what an operation takes can be nothing else than an object of JSON."""
    return demands(operation) or operation.id in TAKES_OBJECTS


def plain(found: Request) -> Json:
    """Return the right body as JSON; of a form, its parts as texts."""
    body = found.body or {}
    return body if found.operation.form_schema is None else {k: str(v) for k, v in body.items()}


def unreadable(operation: Operation) -> tuple[Unreadable, ...]:
    """Return the bodies that an operation has to refuse."""
    return (*NO_OBJECTS, *NOTHING) if demands(operation) else NO_OBJECTS


def with_bodies(*, shown: bool) -> Iterator[object]:
    """Yield the operations with bodies, as parameters with the ids that each decides."""
    for operation in OPERATIONS.values():
        if "requestBody" not in operation.raw or takes_objects(operation) is not shown:
            continue
        ids = [fault.requirement for fault in unreadable(operation)] if shown else ["CNV-056"]
        if shown:
            ids += ["CNV-054", "CNV-055"] if demands(operation) else ["CNV-054"]
        yield pytest.param(operation.id, marks=requirement(*ids), id=operation.id)


@pytest.mark.parametrize("name", [*with_bodies(shown=True)])
def test_a_body_that_cannot_be_read_is_refused(platform: Platform, check: Check, name: str) -> None:
    """It changes nothing, and the same request with the right body is accepted."""
    found = request(name, platform)
    faults = unreadable(found.operation)
    before = found.state()

    refusals = [fault.send(found) for fault in faults]
    after = found.state()
    # With what is its own, where so many attempts may have used the other up.
    twin = (found.ground.twin or found.send)()

    for fault, refusal in zip(faults, refusals, strict=True):
        with check(fault.requirement):
            expect_refused(refusal, twin)
    with check("CNV-054"):
        require_state(before)
        assert after == before, f"refused bodies changed {before} to {after}"
        require_offer(twin)
    if demands(found.operation):
        with check("CNV-055"):
            typed = [r for f, r in zip(faults, refusals, strict=True) if f in NOTHING[2:]]
            expect_error_object(typed)


@pytest.mark.parametrize("name", [*with_bodies(shown=False)])
def test_a_body_that_cannot_be_read_breaks_nothing(platform: Platform, name: str) -> None:
    """Where its shape is not shown, somebody may do without it."""
    found = request(name, platform)

    answers = [fault.send(found) for fault in (*NO_OBJECTS, *NOTHING)]

    expect_unbroken(answers)


ODD: Mapping[str, str] = {
    "CNV-060": '"' + "a" * _LONG + '"',
    "CNV-061": '"before\\u0000after"',
    "CNV-062": '"half \\ud83d"',
    "CNV-063": '"\udcff\udcfe"',
    "CNV-064": '"\N{GRINNING FACE}\N{HEBREW LETTER ALEF}e\N{COMBINING ACUTE ACCENT}中"',
    "CNV-065": "9" * 400,
    "CNV-066": "1e400",
    "CNV-067": "[" * _DEEP + "]" * _DEEP,
}
"""Values as JSON by the requirement that none of them breaks an operation.

Half pairs of surrogates in them stand for bytes that are no UTF-8.
"""

WHOLE = ("CNV-068", "CNV-069", "CNV-070")


def odd_bodies(body: Json) -> Iterator[tuple[str, bytes]]:
    """Yield each odd value in a member that is not known, and in one that is, with its id."""
    bodies = [{**body, "furtherMember": _PLACE}]
    if texts := [name for name, value in body.items() if isinstance(value, str)]:
        bodies.append({**body, texts[-1]: _PLACE})
    for identifier, value in ODD.items():
        # One that is long is enough.
        for holder in bodies if len(value) < _LONG else bodies[-1:]:
            text = json.dumps(holder).replace(json.dumps(_PLACE), value)
            yield identifier, text.encode("utf-8", "surrogateescape")


@requirement(*ODD, *WHOLE)
@pytest.mark.parametrize(
    "name",
    [
        operation.id
        for operation in OPERATIONS.values()
        if operation.request_schema is not None and operation.id not in SHARED
    ],
)
def test_an_odd_body_breaks_nothing(platform: Platform, check: Check, name: str) -> None:
    """Whether it is taken is for the service to say."""
    found = request(name, platform)
    answers: dict[str, list[Answer]] = {identifier: [] for identifier in (*ODD, *WHOLE)}

    for identifier, content in odd_bodies(found.body or {}):
        answers[identifier].append(found.send(content=content, valid=False))
    right = encoded(found.body or {})
    answers["CNV-068"].append(found.send(content=twice(found.body or {}), valid=False))
    for identifier, media_type in (("CNV-069", "text/plain"), ("CNV-070", "")):
        headers = {"content-type": media_type}
        sent = found.send(content=right, headers=headers, valid=False, judged=False)
        answers[identifier].append(sent)

    for identifier, seen in answers.items():
        with check(identifier):
            expect_unbroken(seen)


@requirement("CNV-071")
@pytest.mark.parametrize("name", [o.id for o in OPERATIONS.values() if "requestBody" not in o.raw])
def test_a_body_without_a_use_breaks_nothing(platform: Platform, name: str) -> None:
    """Clients send empty objects, and worse, where no body is asked for."""
    found = request(name, platform)

    answers = [
        found.send(content=content, valid=False, judged=False) for content in (b"{", b"[]", b"{}")
    ]

    expect_unbroken(answers)


def twice(body: Json) -> bytes:
    """Return a body of JSON that has each of its members twice."""
    members = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in body.items()]
    return ("{" + ", ".join(members + members) + "}").encode()
