"""Bodies that cannot be read: refused without an effect, and never with a server error.

Each operation with a body is sent all of them; an operation that is added to the document is
covered without a change here.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import pytest

from conformance.contract.document import Operation, document
from conformance.exchange.answer import Answer
from conformance.platform.grounds.request import Request, request
from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.protocol.stray import (
    expect_error_object,
    expect_refused,
    expect_unbroken,
    require_offer,
    require_state,
)

OPERATIONS: Mapping[str, Operation] = document().operations

OPTIONAL_BODIES = frozenset({"createKycLink"})
"""Operations whose body has required members, but may be left out."""

OPTIONAL_OBJECTS = frozenset({"createKycLink", "updateCustomer", "updateConfig"})
"""Operations that require no member, but take only an object as their body."""

REQUIRED_BODIES = frozenset({"authorizeQuote", "transferIn", "transferOut"})
"""Operations that need a body, although the document requires no member by name."""

SHARED = frozenset({"updateConfig"})
"""Operations on what all users of a target share: they get no body that might be accepted."""

LISTED = frozenset({"createStablecoin"})
"""Operations whose resources are in a list that all tests read, for good.

What an implementation keeps of a value there has to leave the list readable for the suite.
"""

_DEPTH = 2_000
_READABLE_DEPTH = 40
_TEXT_LENGTH = 1_000_000
_NESTED = "CNV-067"
_NO_FORM = b"text=none"
_PLACEHOLDER = "a place for what is odd"


@dataclass(frozen=True)
class Unreadable:
    """A body that an operation cannot read, made from the right one."""

    requirement: str
    content: Callable[[Json], bytes]
    media_type: str = "application/json"

    def send(self, valid_request: Request) -> Answer:
        """Send the body; a parser before the service may answer if its media type is not JSON."""
        return valid_request.send(
            content=self.content(json_body(valid_request)),
            headers={"content-type": self.media_type},
            valid=False,
            judged=self.media_type == "application/json"
            and valid_request.operation.form_schema is None,
        )


def encoded(body: Json) -> bytes:
    """Return a body as JSON."""
    return json.dumps(body).encode()


NOT_AN_OBJECT = (
    Unreadable("CNV-040", lambda body: encoded(body)[:-1]),
    Unreadable("CNV-041", lambda _: b"not json"),
    Unreadable("CNV-042", lambda body: encoded(body) + b" and more"),
    Unreadable("CNV-043", lambda body: b"[" + encoded(body) + b"]"),
    Unreadable("CNV-044", lambda body: json.dumps(json.dumps(body)).encode()),
    Unreadable("CNV-045", lambda _: b"17"),
    Unreadable("CNV-046", lambda _: b"true"),
    Unreadable("CNV-047", lambda body: b"\x80\x81" + encoded(body)),
    Unreadable("CNV-048", lambda _: b"[" * _DEPTH + b"]" * _DEPTH),
)
"""Contents that are not one JSON object: every operation that takes an object refuses them."""

LIKE_NO_BODY = (
    Unreadable("CNV-049", lambda _: b""),
    Unreadable("CNV-050", lambda _: b"null"),
    Unreadable("CNV-051", lambda _: b"please do", "text/plain"),
    Unreadable("CNV-052", lambda _: b"<request/>", "application/xml"),
    Unreadable("CNV-053", lambda _: _NO_FORM, "application/x-www-form-urlencoded"),
)
"""Contents that some servers read as no body: operations that need a body refuse them."""


def requires_members(operation: Operation) -> bool:
    """Return whether an operation requires members in its body."""
    schema = operation.request_schema or operation.form_schema or {}
    parts = (schema, *schema.get("allOf", ()))
    has_required = any(part.get("required") for part in parts)
    return operation.id in REQUIRED_BODIES or (
        operation.body_required and has_required and operation.id not in OPTIONAL_BODIES
    )


def takes_objects(operation: Operation) -> bool:
    """Return whether an operation takes only JSON objects as its body."""
    return requires_members(operation) or operation.id in OPTIONAL_OBJECTS


def json_body(valid_request: Request) -> Json:
    """Return the right body of a request as JSON; the parts of a form become texts."""
    body = valid_request.body or {}
    is_form = valid_request.operation.form_schema is not None
    return {name: str(value) for name, value in body.items()} if is_form else body


def unreadable(operation: Operation) -> tuple[Unreadable, ...]:
    """Return the bodies that an operation must refuse."""
    return (*NOT_AN_OBJECT, *LIKE_NO_BODY) if requires_members(operation) else NOT_AN_OBJECT


def with_bodies(*, documented: bool) -> Iterator[object]:
    """Yield the operations with a body as parameters, marked with the ids that each decides.

    ``documented`` selects those whose body the document shows, or the others.
    """
    for operation in OPERATIONS.values():
        if "requestBody" not in operation.raw or takes_objects(operation) is not documented:
            continue
        ids = [fault.requirement for fault in unreadable(operation)] if documented else ["CNV-056"]
        if documented:
            ids += ["CNV-054", "CNV-055"] if requires_members(operation) else ["CNV-054"]
        yield case(ids, operation.id, operation.id)


@pytest.mark.parametrize("name", [*with_bodies(documented=True)])
def test_a_body_that_cannot_be_read_is_refused(platform: Platform, check: Check, name: str) -> None:
    """Each unreadable body is refused and changes nothing; the right body is accepted."""
    valid_request = request(name, platform)
    faults = unreadable(valid_request.operation)
    before = valid_request.state()

    refusals = [fault.send(valid_request) for fault in faults]
    after = valid_request.state()
    # A ground has a twin of its own if many attempts may use up its resource.
    twin = (valid_request.ground.twin or valid_request.send)()

    for fault, refusal in zip(faults, refusals, strict=True):
        with check(fault.requirement):
            expect_refused(refusal, twin)
    with check("CNV-054"):
        require_state(before)
        assert after == before, f"refused bodies changed {before} to {after}"
        require_offer(twin)
    if requires_members(valid_request.operation):
        with check("CNV-055"):
            media_type_refusals = [
                r for f, r in zip(faults, refusals, strict=True) if f in LIKE_NO_BODY[2:]
            ]
            expect_error_object(media_type_refusals)


@pytest.mark.parametrize("name", [*with_bodies(documented=False)])
def test_a_body_that_cannot_be_read_breaks_nothing(platform: Platform, name: str) -> None:
    """Where the document does not show the body, any answer but a server error is accepted."""
    valid_request = request(name, platform)

    answers = [fault.send(valid_request) for fault in (*NOT_AN_OBJECT, *LIKE_NO_BODY)]

    expect_unbroken(answers)


ODD: Mapping[str, str] = {
    "CNV-060": '"' + "a" * _TEXT_LENGTH + '"',
    "CNV-061": '"before\\u0000after"',
    "CNV-062": '"half \\ud83d"',
    "CNV-063": '"\udcff\udcfe"',
    "CNV-064": '"\N{GRINNING FACE}\N{HEBREW LETTER ALEF}e\N{COMBINING ACUTE ACCENT}中"',
    "CNV-065": "9" * 400,
    "CNV-066": "1e400",
    _NESTED: "[" * _DEPTH + "]" * _DEPTH,
}
"""Odd values as JSON, by the requirement that they cause no server error.

Unpaired surrogates in them stand for bytes that are not UTF-8.
"""

ODD_FORMS = ("CNV-068", "CNV-069", "CNV-070")


_BRANCHES = ("allOf", "oneOf", "anyOf")
"""The keywords of a schema under which there are further ones."""


def lists_of_texts(operation: Operation) -> list[str]:
    """Return the members of an operation's body that are lists of texts."""
    schema = operation.request_schema or {}
    parts = (schema, *(part for word in _BRANCHES for part in schema.get(word, ())))
    members = {name: row for part in parts for name, row in part.get("properties", {}).items()}
    return [
        name
        for name, row in members.items()
        if "array" in row.get("type", ()) and (row.get("items") or {}).get("type") == "string"
    ]


def odd_bodies(
    body: Json, lists: Sequence[str] = (), *, listed: bool
) -> Iterator[tuple[str, bytes]]:
    """Yield the id and content of bodies with an odd value in an unknown or in a known member.

    Args:
        body: the right body.
        lists: its members that are lists of texts; in the first of them the odd value is an entry.
        listed: whether what is kept of them is listed to all tests.
    """
    bodies = [{**body, "furtherMember": _PLACEHOLDER}]
    bodies += [{**body, name: [_PLACEHOLDER]} for name in lists[:1]]
    if texts := [name for name, value in body.items() if isinstance(value, str)]:
        bodies.append({**body, texts[-1]: _PLACEHOLDER})
    odd = {**ODD, _NESTED: "[" * _READABLE_DEPTH + "]" * _READABLE_DEPTH} if listed else ODD
    for identifier, value in odd.items():
        # One long body is enough.
        for template in bodies if len(value) < _TEXT_LENGTH else bodies[-1:]:
            text = json.dumps(template).replace(json.dumps(_PLACEHOLDER), value)
            yield identifier, text.encode("utf-8", "surrogateescape")


@requirement(*ODD, *ODD_FORMS)
@pytest.mark.parametrize(
    "name",
    [
        operation.id
        for operation in OPERATIONS.values()
        if operation.request_schema is not None and operation.id not in SHARED
    ],
)
def test_an_odd_body_breaks_nothing(platform: Platform, check: Check, name: str) -> None:
    """Odd values, repeated members and other media types may be refused, without a server error."""
    valid_request = request(name, platform)
    body, lists = valid_request.body or {}, lists_of_texts(valid_request.operation)
    answers: dict[str, list[Answer]] = {identifier: [] for identifier in (*ODD, *ODD_FORMS)}

    for identifier, content in odd_bodies(body, lists, listed=name in LISTED):
        answers[identifier].append(valid_request.send(content=content, valid=False))
    right = encoded(body)
    answers["CNV-068"].append(valid_request.send(content=duplicated_members(body), valid=False))
    for identifier, media_type in (("CNV-069", "text/plain"), ("CNV-070", "")):
        headers = {"content-type": media_type}
        answer = valid_request.send(content=right, headers=headers, valid=False, judged=False)
        answers[identifier].append(answer)

    for identifier, group in answers.items():
        with check(identifier):
            expect_unbroken(group)


@requirement("CNV-071")
@pytest.mark.parametrize("name", [o.id for o in OPERATIONS.values() if "requestBody" not in o.raw])
def test_a_body_without_a_use_breaks_nothing(platform: Platform, name: str) -> None:
    """Operations without a body answer ``{``, ``[]`` and ``{}`` without a server error."""
    valid_request = request(name, platform)

    answers = [
        valid_request.send(content=content, valid=False, judged=False)
        for content in (b"{", b"[]", b"{}")
    ]

    expect_unbroken(answers)


def duplicated_members(body: Json) -> bytes:
    """Return a JSON body that has each of its members twice."""
    members = [f"{json.dumps(name)}: {json.dumps(value)}" for name, value in body.items()]
    return ("{" + ", ".join(members + members) + "}").encode()
