"""Mutants of bodies that cannot be read, and of requests for no operation."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

from sqlalchemy import select
from starlette.responses import PlainTextResponse, Response

from conformance.proof.kit.builders import Json, around, before, together
from conformance.proof.kit.tables import with_columns
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.protocol.toolkit import (
    Scope,
    Sees,
    answered_early,
    crash,
    raw_path,
    reading,
    refuse,
)
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import app, errors, routes
from conformance.reference.customers import customers
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import quotes
from conformance.reference.service import Service
from conformance.reference.stablecoins import stablecoins
from conformance.reference.store import Quote
from conformance.reference.unit import Ask, Unit

# --- Bodies that cannot be read -------------------------------------------------------------


def _kind_of(raw: bytes) -> str:
    try:
        return type(json.loads(raw)).__name__
    except (ValueError, RecursionError):
        return ""


def _completed(_kind: str, raw: bytes) -> bool:
    return not _kind_of(raw) and _kind_of(raw + b"}") == "dict"


def _first(raw: bytes) -> Any:
    return json.JSONDecoder().raw_decode(raw.decode())[0]


def _has_twins(_kind: str, raw: bytes) -> bool:
    found = False

    def note(pairs: list[tuple[str, Any]]) -> None:
        nonlocal found
        found = found or len({name for name, _ in pairs}) < len(pairs)

    try:
        json.loads(raw, object_pairs_hook=note)
    except (ValueError, RecursionError):
        return False
    return found


@dataclass(frozen=True, slots=True)
class Misread:
    """How a careless service misreads some bodies."""

    requirement: str
    name: str
    statement: str
    sees: Sees
    then: Callable[[bytes], Any] = crash


_ARRAYS = b"[" * 100


MISREAD = (
    Misread(
        "CNV-040",
        "completed",
        "a body that breaks off is completed",
        _completed,
        lambda raw: json.loads(raw + b"}"),
    ),
    Misread("CNV-040", "broken", "a body that breaks off breaks the service", _completed),
    Misread("CNV-041", "broken", "words break the service", lambda _, raw: raw == b"not json"),
    Misread(
        "CNV-042",
        "overlooked",
        "what follows the JSON is overlooked",
        lambda _, raw: raw.endswith(b"} and more"),
        _first,
    ),
    Misread(
        "CNV-043",
        "first",
        "of an array the first entry counts",
        lambda _, raw: _kind_of(raw) == "list" and not raw.startswith(_ARRAYS),
        lambda raw: json.loads(raw)[0] if json.loads(raw) else {},
    ),
    Misread(
        "CNV-044",
        "twice",
        "JSON in a string is read",
        lambda _, raw: _kind_of(raw) == "str",
        lambda raw: json.loads(json.loads(raw)),
    ),
    Misread("CNV-045", "broken", "a number breaks the service", lambda _, raw: raw == b"17"),
    Misread("CNV-046", "broken", "true breaks the service", lambda _, raw: raw == b"true"),
    Misread(
        "CNV-047",
        "overlooked",
        "bytes that are no text are overlooked",
        lambda _, raw: raw.startswith(b"\x80"),
        lambda raw: json.loads(raw.decode("utf-8", "ignore")),
    ),
    Misread(
        "CNV-048",
        "broken",
        "arrays in arrays exhaust the stack",
        lambda _, raw: raw.startswith(_ARRAYS),
    ),
    Misread("CNV-049", "broken", "an empty body breaks the service", lambda _, raw: not raw),
    Misread("CNV-050", "broken", "null breaks the service", lambda _, raw: raw == b"null"),
    Misread(
        "CNV-051",
        "broken",
        "plain text breaks the service",
        lambda kind, raw: kind == "text/plain" and not raw.startswith(b"{"),
    ),
    Misread("CNV-052", "broken", "XML breaks the service", lambda _, raw: raw.startswith(b"<")),
    Misread(
        "CNV-053",
        "broken",
        "what browsers send breaks the service",
        lambda kind, _: "urlencoded" in kind,
    ),
    Misread(
        "CNV-060",
        "broken",
        "a long text breaks the service",
        lambda _, raw: len(raw) > 900_000,
    ),
    Misread("CNV-061", "broken", "null breaks the service", lambda _, raw: b"\\u0000" in raw),
    Misread(
        "CNV-062", "broken", "half a pair breaks the service", lambda _, raw: b'\\ud83d"' in raw
    ),
    Misread(
        "CNV-063", "broken", "other bytes break the service", lambda _, raw: b"\xff\xfe" in raw
    ),
    Misread(
        "CNV-064",
        "broken",
        "characters of four bytes break the service",
        lambda _, raw: b"\xf0\x9f" in raw,
    ),
    Misread(
        "CNV-065", "broken", "long numbers break the service", lambda _, raw: b"9" * 400 in raw
    ),
    Misread("CNV-066", "broken", "large numbers break the service", lambda _, raw: b"1e400" in raw),
    Misread(
        "CNV-067",
        "broken",
        "a deep member exhausts the stack",
        lambda _, raw: _ARRAYS in raw and raw.startswith(b"{"),
    ),
    Misread("CNV-068", "broken", "a member twice breaks the service", _has_twins),
    Misread(
        "CNV-069",
        "broken",
        "JSON as plain text breaks the service",
        lambda kind, raw: kind == "text/plain" and raw.startswith(b"{"),
    ),
    Misread(
        "CNV-070",
        "broken",
        "a body without a media type breaks the service",
        lambda kind, raw: not kind and bool(raw),
    ),
)

for _misread in MISREAD:
    declare(
        _misread.requirement,
        _misread.name,
        _misread.statement,
        reading(_misread.sees, _misread.then),
    )


class _Late(Json):
    """A body whose mistake is noticed once everything is done."""


@mutant("CNV-054", "a body is looked at again when its request is done")
def refused_late(patch: Patch) -> None:
    reading(
        lambda _, raw: raw.startswith(b"[{"),
        lambda raw: _Late(json.loads(raw)[0]),
    )(patch)

    def answer(original: Function, self: Any, handler: routes.Handler, ask: Ask) -> Any:
        answered = original(self, handler, ask)
        return refuse(b"") if isinstance(ask.body, _Late) else answered

    patch.wrap(Service, "answer", answer)


def bare_refusal(status: int, told: str) -> Apply:
    """Return a patch after which refusals whose reason begins with ``told`` are plain text."""

    def refuse(original: Function, refusal: errors.Refusal, headers: Any = None) -> Response:
        if refusal.reason.startswith(told):
            return PlainTextResponse(refusal.reason, status)
        answer: Response = original(refusal, headers)
        return answer

    return around(app, "refuse", refuse)


declare(
    "CNV-055",
    "plain",
    "media types are refused in plain text",
    bare_refusal(415, "Expected application/json, got"),
)


declare(
    "LIM-089",
    "plain",
    "a file that is too large is refused in plain text",
    bare_refusal(413, "The request has invalid fields: file."),
)


@mutant(
    "CNV-056",
    "a stablecoin is minted from the members of whatever comes",
    (stablecoins, "mint"),
    before,
)
def minted_from_anything(unit: Unit, ask: Ask) -> None:
    ask.body.items()


declare(
    "CNV-071",
    "body-of-execution",
    "an execution reads a body and does not expect it to be broken",
    together(
        with_columns(routes, "OPERATIONS", "executeQuote", body=True),
        reading(lambda _, raw: raw == b"{"),
    ),
)


# --- What is no operation -------------------------------------------------------------------


def answering(sees: Callable[[Scope], bool], status: int) -> Apply:
    """Return a patch after which requests that ``sees`` is true of are answered with a status."""

    def change(scope: Scope) -> Response | None:
        return PlainTextResponse("Not here", status) if sees(scope) else None

    return lambda patch: answered_early(patch, change)


STRAYS: Mapping[str, tuple[str, Callable[[Scope], bool], int]] = {
    "CNV-080": (
        "any path has a page",
        lambda scope: raw_path(scope).endswith(b"/no-such-thing") and scope["method"] == "GET",
        200,
    ),
    "CNV-081": (
        "any path takes what is sent",
        lambda scope: raw_path(scope).endswith(b"/no-such-thing") and scope["method"] == "POST",
        202,
    ),
    "CNV-082": (
        "a path below a resource breaks the service",
        lambda scope: (
            b"/customers/" in raw_path(scope) and raw_path(scope).endswith(b"/no-such-thing")
        ),
        500,
    ),
    "CNV-083": (
        "paths are refused in plain text",
        lambda scope: raw_path(scope).endswith(b"/no-such-thing"),
        404,
    ),
    "CNV-084": (
        "an empty segment breaks the service",
        lambda scope: b"//" in raw_path(scope),
        500,
    ),
    "CNV-090": (
        "a long identifier breaks the service",
        lambda scope: len(raw_path(scope)) > 4_000,
        500,
    ),
    "CNV-091": (
        "an identifier beyond ASCII breaks the service",
        lambda scope: not scope["path"].isascii() and b"%FF" not in raw_path(scope),
        500,
    ),
    "CNV-092": (
        "a slash in an identifier breaks the service",
        lambda scope: b"%2F" in raw_path(scope),
        500,
    ),
    "CNV-093": (
        "a null character in an identifier breaks the service",
        lambda scope: b"%00" in raw_path(scope),
        500,
    ),
    "CNV-094": (
        "bytes that are no text in an identifier break the service",
        lambda scope: b"%FF" in raw_path(scope),
        500,
    ),
    "CNV-095": (
        "a lone percent sign breaks the service",
        lambda scope: b"%zz" in raw_path(scope),
        500,
    ),
    "CNV-113": (
        "an identifier that is a type alone breaks the service",
        lambda scope: re.search(rb"/[A-Z][A-Za-z]+:(/|$)", raw_path(scope)) is not None,
        500,
    ),
    "CNV-114": (
        "an identifier without a number behind its type breaks the service",
        lambda scope: re.search(rb":no-such-thing(/|$)", raw_path(scope)) is not None,
        500,
    ),
    "CNV-096": (
        "a path that climbs breaks the service",
        lambda scope: b"%2e%2e" in raw_path(scope),
        500,
    ),
    "CNV-100": (
        "an unknown parameter breaks the service",
        lambda scope: b"no-such-parameter" in scope["query_string"],
        500,
    ),
    "CNV-101": (
        "a parameter twice breaks the service",
        lambda scope: b"limit=1&limit=2" in scope["query_string"],
        500,
    ),
    "CNV-102": (
        "a long query breaks the service",
        lambda scope: len(scope["query_string"]) > 4_000,
        500,
    ),
    "CNV-103": (
        "a null character in a query breaks the service",
        lambda scope: b"%00" in scope["query_string"],
        500,
    ),
    "CNV-104": (
        "bytes that are no text in a query break the service",
        lambda scope: b"%FF" in scope["query_string"],
        500,
    ),
    "CNV-105": (
        "a lone percent sign in a query breaks the service",
        lambda scope: b"%zz" in scope["query_string"],
        500,
    ),
    "CNV-106": (
        "a query beyond ASCII breaks the service",
        lambda scope: re.search(b"%F0%9F", scope["query_string"]) is not None,
        500,
    ),
}
"""What a careless service answers to requests that are none of the interface's."""

for _requirement, (_statement, _sees, _status) in STRAYS.items():
    declare(_requirement, f"answered-{_status}", _statement, answering(_sees, _status))


_TAKEN = ("taken", 200, "whatever is named is said to be done")
_BREAKING = (
    "behind-a-type",
    500,
    "what follows the type of an identifier is not looked at before it is used",
)

for _requirement, _wild, (_name, _status, _statement) in (
    ("CNV-090", b"xxxxxxxxxx", _TAKEN),
    ("CNV-091", b"%F0%9F", _TAKEN),
    ("CNV-092", b"%2F", _TAKEN),
    ("CNV-093", b"%00", _TAKEN),
    ("CNV-094", b"%FF", _TAKEN),
    ("CNV-095", b"%zz", _TAKEN),
    ("CNV-090", b":xxxxxxxxxx", _BREAKING),
    ("CNV-091", b":%D7", _BREAKING),
    ("CNV-092", b":no-such%2F", _BREAKING),
    ("CNV-093", b":no-such%00", _BREAKING),
    ("CNV-094", b":no-such%FF", _BREAKING),
    ("CNV-095", b":no-such%zz", _BREAKING),
):

    def _holds_wild(scope: Scope, wild: bytes = _wild) -> bool:
        return wild in raw_path(scope)

    declare(_requirement, _name, _statement, answering(_holds_wild, _status))


def _typed_parsed(find: Function, unit: Unit, name: str, *more: Any, **named: Any) -> Any:
    """Take what stands behind the type of an identifier for a number."""
    UUID(name.partition(":")[2])
    return find(unit, name, *more, **named)


declare(
    "CNV-115",
    "parsed",
    "what follows the type of an identifier is read as a number",
    together(
        around(accounts, "find", _typed_parsed),
        around(customers, "get", _typed_parsed),
    ),
)


@mutant("CNV-085", "a wrong method breaks the service")
def method_breaks(patch: Patch) -> None:
    patch.row(app, "UNROUTED", 405, ("INTERNAL_ERROR", "The service failed."))


declare(
    "CNV-086",
    "plain",
    "methods are refused in plain text",
    bare_refusal(405, "This path does not take this method"),
)


@mutant("CNV-087", "any method executes a quote")
def any_method_executes(patch: Patch) -> None:
    def change(scope: Scope) -> None:
        if scope["path"].endswith("/execute"):
            scope["method"] = "POST"

    answered_early(patch, change)


@mutant("CNV-097", "a quote that is not found is taken to be the last one", (quotes, "execute"))
def last_quote_executed(original: Function, unit: Unit, ask: Ask) -> Any:
    if unit.session.get(Quote, ask.params["quoteId"]) is not None:
        return original(unit, ask)
    last = unit.session.scalars(select(Quote).order_by(Quote.created_at.desc())).first()
    if last is not None:
        original(unit, replace(ask, params={"quoteId": last.id}))
    raise errors.Rejection("QUOTE_NOT_FOUND", "There is no such quote.")
