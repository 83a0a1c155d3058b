"""Mutants of errors: of their objects, of what they list, and of their codes and statuses."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from functools import partial
from typing import Any

from conformance.contract.catalogue import catalogue
from conformance.mutants.execution import (
    change_body,
    change_field,
    debit_though_refused,
    refuse_as,
)
from conformance.mutants.execution import (
    change_status as at,
)
from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import errors, routes
from conformance.reference.unit import Unit

Json = dict[str, Any]
Message = MutableMapping[str, Any]
Send = Callable[[Message], Awaitable[None]]
Priced = Callable[[Unit, Json], str]
Middleware = Callable[[Any, Message, Any, Send], Awaitable[None]]

_REFERENCE = "conformance.reference"
_QUOTES = f"{_REFERENCE}.quotes"
_UMA = f"{_REFERENCE}.uma"
_SENDER = f"{_REFERENCE}.receivers:sender_currency"
_NAMED_LOOKUP = f"{_REFERENCE}.receivers:refuse_unknown_lookup"
_LOOKED_UP = f"{_REFERENCE}.receivers:COUNTERPARTY_FAILURES"
_PAID = f"{_REFERENCE}.receivers:PAYMENT_FAILURES"
_GATE = f"{_REFERENCE}.app:BasicAuth.__call__"
_REFUSED = 400


# --- The error object of each operation -----------------------------------------------------


def answering_plainly(operation: str, change: Callable[[Json], Any]) -> Callable[[Patch], None]:
    """Return a patch after which one operation's refusals are what ``change`` makes of them."""
    row = routes.OPERATIONS[operation]
    path = re.compile(r"/[^/]+" + re.sub(r"\{\w+\}", "[^/]+", row.path))

    def wrapper(original: Middleware) -> Middleware:
        async def call(gate: Any, scope: Message, receive: Any, send: Send) -> None:
            meant = scope["type"] == "http" and scope["method"] == row.method
            if not meant or path.fullmatch(scope["path"]) is None:
                await original(gate, scope, receive, send)
                return
            started: list[Message] = []

            async def changed(message: Message) -> None:
                if message["type"] == "http.response.start" and message["status"] >= _REFUSED:
                    started.append(message)
                    return
                if started:
                    body = json.dumps(change(json.loads(message["body"]))).encode()
                    start = started.pop()
                    lengthless = [h for h in start["headers"] if h[0] != b"content-length"]
                    start["headers"] = [*lengthless, (b"content-length", b"%d" % len(body))]
                    await send(start)
                    message["body"] = body
                await send(message)

            await original(gate, scope, receive, changed)

        return call

    return lambda patch: patch.wrap(_GATE, wrapper)


PLAIN: tuple[tuple[str, str, Callable[[Json], Any]], ...] = (
    ("message", "a mere text", lambda error: error["reason"]),
    ("codeless", "an object without a code", lambda error: {"reason": error["reason"]}),
    ("reasonless", "an object without a reason", lambda error: {"code": error["code"]}),
)
"""Name, what refusals are, and the change to that."""

OBJECTS = {
    entry.id: entry.operations[0]
    for entry in catalogue().values()
    if re.fullmatch(r"ERR-1\d\d", entry.id)
}
"""For each requirement about the error object of one operation that operation."""

for _number, (_id, _operation) in enumerate(OBJECTS.items()):
    _name, _shape, _change = PLAIN[_number % len(PLAIN)]
    declare(
        _id,
        _name,
        f"what {_operation} refuses is answered with {_shape}",
        answering_plainly(_operation, _change),
    )


# --- Counterparties -------------------------------------------------------------------------


def unseen(table: str, state: str) -> Callable[[Patch], None]:
    """Return a patch by which nobody notices what is the matter with a counterparty."""
    return lambda patch: patch.drop(table, state)


def called(table: str, state: str, code: str) -> Callable[[Patch], None]:
    """Return a patch by which what is the matter with a counterparty has another code."""
    return lambda patch: patch.row(table, state, code)


def _of_the_platform(code: str) -> Callable[[Priced], Priced]:
    """Return what prices a lookup for the platform where its sender is refused with a code."""

    def wrapper(original: Priced) -> Priced:
        def currency(unit: Unit, query: Json) -> str:
            try:
                return original(unit, query)
            except errors.Refusal as refusal:
                if refusal.code != code:
                    raise
                return unit.settings.platform_currency

        return currency

    return wrapper


CAUSES: tuple[tuple[str, str, str, str, str], ...] = (
    ("ERR-020", "ERR-021", _LOOKED_UP, "LOOKUP_REFUSED", "INVALID_RECEIVER"),
    ("ERR-022", "ERR-023", _LOOKED_UP, "LOOKUP_GARBLED", "PARSE_PAYREQ_RESPONSE_ERROR"),
    ("ERR-024", "ERR-025", _LOOKED_UP, "SENDER_REFUSED", "INVALID_RECEIVER"),
    ("ERR-026", "ERR-027", _LOOKED_UP, "CERTIFICATE_FORGED", "CERT_CHAIN_EXPIRED"),
    ("ERR-028", "ERR-029", _LOOKED_UP, "CERTIFICATE_EXPIRED", "CERT_CHAIN_INVALID"),
    ("ERR-030", "ERR-031", _LOOKED_UP, "KEY_HIDDEN", "INVALID_PUBKEY_FORMAT"),
    ("ERR-032", "ERR-033", _LOOKED_UP, "KEY_GARBLED", "COUNTERPARTY_PUBKEY_FETCH_ERROR"),
    ("ERR-034", "ERR-035", _LOOKED_UP, "PARAMETERS_OMITTED", "INVALID_INPUT"),
    ("ERR-036", "ERR-037", _PAID, "PAYMENT_UNANSWERED", "INVALID_PAYREQ_RESPONSE"),
    ("ERR-038", "ERR-039", _PAID, "PAYMENT_GARBLED", "PARSE_LNURLP_RESPONSE_ERROR"),
    ("ERR-040", "ERR-041", _PAID, "PAYMENT_FALSIFIED", "PARSE_PAYREQ_RESPONSE_ERROR"),
    ("ERR-042", "ERR-043", _PAID, "RECEIVER_REFUSED", "SENDER_NOT_ACCEPTED"),
)
"""The rules about a cause and its code, the table, what is the matter, and the code that comes."""

for _refusing, _naming, _table, _state, _other in CAUSES:
    declare(_refusing, "unseen", "the counterparty's trouble is not seen", unseen(_table, _state))
    declare(
        _refusing,
        "failure",
        "the counterparty's trouble counts as a failure of the service",
        called(_table, _state, "INTERNAL_ERROR"),
    )
    declare(_naming, _other, f"it is refused with {_other}", called(_table, _state, _other))

for _naming, _code, _status in (
    ("ERR-027", "CERT_CHAIN_INVALID", 424),
    ("ERR-031", "COUNTERPARTY_PUBKEY_FETCH_ERROR", 400),
    ("ERR-037", "PAYREQ_REQUEST_FAILED", 400),
    ("ERR-043", "INVALID_RECEIVER", 404),
):
    declare(_naming, f"{_code}-at-{_status}", f"{_code} comes with {_status}", at(_code, _status))

declare(
    "ERR-044",
    "another-code",
    "a counterparty that does not answer counts as one without a version in common",
    called(_LOOKED_UP, "DOWN", "UNSUPPORTED_UMA_VERSION"),
)


declare(
    "ERR-045",
    "debited",
    "what a counterparty does not agree to is debited",
    debit_though_refused("PAYREQ_REQUEST_FAILED"),
)

declare(
    "ERR-060",
    "accounts-alone",
    "no UMA address can be paid",
    lambda patch: patch.replace(f"{_UMA}:is_address", lambda _: False),
)
declare(
    "ERR-050",
    "anything",
    "whatever is sent counts as a UMA address",
    lambda patch: patch.replace(f"{_UMA}:is_address", lambda _: True),
)
declare("ERR-050", "unprocessable", "it is unprocessable", at("INVALID_UMA_ADDRESS", 422))
declare(
    "ERR-051",
    "receiver",
    "it is called a receiver who cannot be paid",
    refuse_as(f"{_UMA}:refuse_malformed", "INVALID_UMA_ADDRESS", "INVALID_RECEIVER"),
)
declare(
    "ERR-052",
    "anybody",
    "a receiver is not asked for",
    lambda patch: patch.replace(f"{_UMA}:has_receiver", lambda _: True),
)
declare(
    "ERR-053",
    "receiver",
    "it is called a receiver who cannot be paid",
    refuse_as(f"{_UMA}:refuse_nobody", "UMA_NOT_FOUND", "INVALID_RECEIVER"),
)
declare("ERR-053", "bad-request", "it is a bad request", at("UMA_NOT_FOUND", 400))


@mutant("ERR-054", "a UMA destination without an address is the platform's own")
def own_address(patch: Patch) -> None:
    def own(_unit: Unit, body: Json) -> Json:
        destination = body.get("destination")
        if not isinstance(destination, dict) or "umaAddress" in destination:
            return body
        return {**body, "destination": {**destination, "umaAddress": "$platform@uma.example"}}

    change_body(own)(patch)


declare(
    "ERR-055",
    "currency",
    "a UMA destination without an address is told as a wrong currency",
    refuse_as(f"{_QUOTES}:create", "INVALID_INPUT", "INVALID_CURRENCY"),
)
declare(
    "ERR-056",
    "priced",
    "a lookup is priced for the platform where the sender's address is none",
    lambda patch: patch.wrap(_SENDER, _of_the_platform("INVALID_UMA_ADDRESS")),
)
declare(
    "ERR-057",
    "sender",
    "it is called a sender who is not accepted",
    refuse_as(_SENDER, "INVALID_UMA_ADDRESS", "SENDER_NOT_ACCEPTED"),
)
declare(
    "ERR-058",
    "priced",
    "a lookup is priced for the platform where nobody has the sender's address",
    lambda patch: patch.wrap(_SENDER, _of_the_platform("CUSTOMER_NOT_FOUND")),
)
declare(
    "ERR-058",
    "counterparty",
    "a sender whom nobody knows is the counterparty's failure",
    refuse_as(_SENDER, "CUSTOMER_NOT_FOUND", "LNURLP_REQUEST_FAILED"),
)
declare(
    "ERR-059",
    "account",
    "a sender whom nobody knows is called an account",
    refuse_as(_SENDER, "CUSTOMER_NOT_FOUND", "ACCOUNT_NOT_FOUND"),
)
declare(
    "ERR-065",
    "anything",
    "any lookup can be named",
    lambda patch: patch.replace(_NAMED_LOOKUP, lambda *_: None),
)
declare(
    "ERR-065",
    "failure",
    "a lookup that was never made is a failure of the service",
    refuse_as(_NAMED_LOOKUP, "LOOKUP_REQUEST_NOT_FOUND", "INTERNAL_ERROR"),
)
declare(
    "ERR-066",
    "quote",
    "a lookup that was never made is called a quote",
    refuse_as(_NAMED_LOOKUP, "LOOKUP_REQUEST_NOT_FOUND", "QUOTE_NOT_FOUND"),
)


# --- Codes ----------------------------------------------------------------------------------

MISCODED: tuple[tuple[str, str, str, str], ...] = (
    ("ERR-071", f"{_QUOTES}:create", "INVALID_INPUT", "INVALID_CURRENCY"),
    ("ERR-072", f"{_QUOTES}:create", "INVALID_INPUT", "INVALID_BANK_ACCOUNT"),
    ("ERR-073", f"{_QUOTES}:create", "INVALID_INPUT", "QUOTE_REQUEST_FAILED"),
    ("ERR-074", f"{_QUOTES}:create", "INVALID_CURRENCY", "INVALID_AMOUNT"),
    ("ERR-075", f"{_REFERENCE}.onboarding:create", "INVALID_INPUT", "INVALID_CURRENCY"),
    ("ERR-076", f"{_REFERENCE}.externals:create", "INVALID_INPUT", "INVALID_CURRENCY"),
    ("ERR-077", f"{_REFERENCE}.externals:read", "ACCOUNT_NOT_FOUND", "CONFLICT"),
    ("ERR-078", f"{_QUOTES}:create", "ACCOUNT_NOT_FOUND", "INVALID_CURRENCY"),
)
"""Requirement, where it is refused, the code that is due and the one that comes."""

for _id, _place, _code, _other in MISCODED:
    declare(
        _id, _other, f"{_other} comes in the place of {_code}", refuse_as(_place, _code, _other)
    )

declare(
    "ERR-070",
    "amount",
    "a body that cannot be read is told as a wrong amount",
    lambda patch: patch.replace(
        f"{_REFERENCE}.app:malformed", lambda reason: errors.Refusal("INVALID_AMOUNT", reason)
    ),
)

MISPLACED: tuple[tuple[str, int], ...] = (
    ("CUSTOMER_NOT_FOUND", 400),
    ("ACCOUNT_NOT_FOUND", 400),
    ("QUOTE_NOT_FOUND", 400),
    ("TRANSACTION_NOT_FOUND", 400),
    ("END_USER_TERMS_VERSION_NOT_FOUND", 404),
    ("SELF_PAYMENT", 409),
    ("INSUFFICIENT_FUNDS", 409),
    ("UNAUTHORIZED", 403),
)
"""Codes, each with a status of another one."""

for _code, _status in MISPLACED:
    declare("CNV-010", f"{_code}-at-{_status}", f"{_code} comes with {_status}", at(_code, _status))


# --- Invalid fields -------------------------------------------------------------------------


def told_of(change: Callable[[list[Json]], list[Json]]) -> Callable[[Patch], None]:
    """Return a patch that changes the list of invalid fields."""

    def wrapper(original: Callable[..., errors.Refusal]) -> Callable[..., errors.Refusal]:
        return lambda *found: original(*change(list(found)))

    return lambda patch: patch.wrap(f"{_REFERENCE}.errors:invalid_input", wrapper)


def beside(path: str) -> Callable[[list[Json]], list[Json]]:
    """Return a change that lists another field as well."""
    return lambda found: [*found, {"field": path, "message": "Check this field, too."}]


for _id, _path in (("ERR-090", "fullName"), ("ERR-093", "accountInfo.bankName")):
    declare(_id, "another", f"{_path} is listed with whatever is wrong", told_of(beside(_path)))

for _id in ("ERR-091", "ERR-094"):
    declare(_id, "first", "the first field is listed alone", told_of(lambda found: found[:1]))
    declare(_id, "two", "two fields are listed at most", told_of(lambda found: found[:2]))

declare("ERR-096", "none", "no field is listed", told_of(lambda _: []))
declare(
    "ERR-096",
    "object",
    "an object is listed in the place of its members",
    told_of(lambda found: [{**e, "field": e["field"].partition(".")[0]} for e in found]),
)


def remembering(patch: Patch) -> None:
    """List what was wrong before, too."""
    before: list[Json] = []

    def change(found: list[Json]) -> list[Json]:
        new = [entry for entry in found if entry not in before]
        before.extend(new)
        return list(before)

    told_of(change)(patch)


declare(
    "ERR-097",
    "body",
    "whatever is missing, the body is listed",
    told_of(lambda found: [{**e, "field": "body"} for e in found]),
)

for _id in ("ERR-092", "ERR-095"):
    declare(_id, "remembered", "what was wrong before is still listed", remembering)
    declare(_id, "first", "the first field is listed alone", told_of(lambda found: found[:1]))


# --- Limits ---------------------------------------------------------------------------------


def _unlimited(function: str, patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.limits:{function}", lambda *_: False)


for _id, _check in (
    ("LIM-080", "is_over_transaction_limit"),
    ("LIM-081", "is_over_transaction_limit"),
    ("LIM-082", "is_over_daily_limit"),
    ("LIM-083", "is_over_daily_limit"),
):
    declare(
        _id,
        "unlimited",
        "there is no limit",
        partial(_unlimited, _check),
    )

declare("LIM-080", "at-409", "it is a conflict", at("TRANSACTION_SIZE_LIMIT_EXCEEDED", 409))
declare("LIM-082", "at-400", "it is a bad request", at("DAILY_VOLUME_LIMIT_EXCEEDED", 400))
declare(
    "LIM-081",
    "debited",
    "the debit is not rolled back",
    debit_though_refused("TRANSACTION_SIZE_LIMIT_EXCEEDED"),
)
declare(
    "LIM-083",
    "debited",
    "the debit is not rolled back",
    debit_though_refused("DAILY_VOLUME_LIMIT_EXCEEDED"),
)


@mutant("QUO-160", "no reason of a payment is taken")
def no_purpose(patch: Patch) -> None:
    change_field("purposeOfPayment", {"enum": ("NONE",)})(patch)
