"""Mutants of error objects, of the fields that they list, and of their codes and statuses."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from conformance.contract.catalogue import catalogue
from conformance.proof.kit.builders import Json, Place, around, instead, recoded
from conformance.proof.kit.tables import with_status
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.external_accounts.toolkit import REFUSED_UNPROVEN
from conformance.proof.patch import Apply, Patch
from conformance.reference import app, errors, routes, rules
from conformance.reference.app import BasicAuth
from conformance.reference.cards import cards
from conformance.reference.customers import onboarding
from conformance.reference.external_accounts import externals
from conformance.reference.quotes import quotes

Message = MutableMapping[str, Any]


Send = Callable[[Message], Awaitable[None]]


Middleware = Callable[[Any, Message, Any, Send], Awaitable[None]]


_REFUSED = 400


# --- The error object of each operation -----------------------------------------------------


def answering_plainly(operation: str, change: Callable[[Json], Any]) -> Apply:
    """Return a patch after which one operation's refusals are what ``change`` makes of them."""
    row = routes.OPERATIONS[operation]
    path = re.compile(r"/[^/]+" + re.sub(r"\{\w+\}", "[^/]+", row.path))

    async def call(
        original: Middleware, gate: Any, scope: Message, receive: Any, send: Send
    ) -> None:
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

    return around(BasicAuth, "__call__", call)


PLAIN: tuple[tuple[str, str, Callable[[Json], Any]], ...] = (
    ("message", "a mere text", lambda error: error["reason"]),
    ("codeless", "an object without a code", lambda error: {"reason": error["reason"]}),
    ("reasonless", "an object without a reason", lambda error: {"code": error["code"]}),
)
"""Name, what refusals are, and the change to that."""

OBJECTS = {
    entry.id: entry.operations[0]
    for entry in catalogue().values()
    if re.fullmatch(r"ERR-1\d\d", entry.id) and entry.untestable is None
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


# --- Codes ----------------------------------------------------------------------------------


MISCODED: tuple[tuple[str, Place, str, str], ...] = (
    ("ERR-071", (quotes, "create"), "INVALID_INPUT", "INVALID_CURRENCY"),
    ("ERR-072", (quotes, "create"), "INVALID_INPUT", "INVALID_BANK_ACCOUNT"),
    ("ERR-073", (quotes, "create"), "INVALID_INPUT", "QUOTE_REQUEST_FAILED"),
    ("ERR-074", (quotes, "create"), "INVALID_CURRENCY", "INVALID_AMOUNT"),
    ("ERR-075", (onboarding, "create"), "INVALID_INPUT", "INVALID_CURRENCY"),
    ("ERR-076", (externals, "create"), "INVALID_INPUT", "INVALID_CURRENCY"),
    ("ERR-077", (externals, "read"), "ACCOUNT_NOT_FOUND", "CONFLICT"),
    ("ERR-078", (quotes, "create"), "ACCOUNT_NOT_FOUND", "INVALID_CURRENCY"),
)
"""Requirement, where it is refused, the code that is due and the one that comes."""

for _id, _place, _code, _other in MISCODED:
    declare(_id, _other, f"{_other} comes in the place of {_code}", recoded(*_place, _other, _code))

declare(
    "ERR-070",
    "amount",
    "a body that cannot be read is told as a wrong amount",
    instead(app, "malformed", lambda reason: errors.Refusal("INVALID_AMOUNT", reason)),
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
    declare(
        "CNV-010",
        f"{_code}-at-{_status}",
        f"{_code} comes with {_status}",
        with_status(_code, _status),
    )


# --- Invalid fields -------------------------------------------------------------------------


def told_of(change: Callable[[list[Json]], list[Json]]) -> Apply:
    """Return a patch that changes the list of invalid fields."""
    return around(errors, "invalid_input", lambda original, *found: original(*change(list(found))))


def beside(path: str) -> Callable[[list[Json]], list[Json]]:
    """Return a change that lists another field as well."""
    return lambda found: [*found, {"field": path, "message": "Check this field, too."}]


for _id, _path in (("ERR-090", "fullName"), ("ERR-093", "accountInfo.bankName")):
    declare(_id, "another", f"{_path} is listed with whatever is wrong", told_of(beside(_path)))

for _id in ("ERR-091", "ERR-094", "ERR-098"):
    declare(_id, "first", "the first field is listed alone", told_of(lambda found: found[:1]))
    declare(_id, "two", "two fields are listed at most", told_of(lambda found: found[:2]))
declare("ERR-098", "none", "no field is listed", told_of(lambda _found: []))


def _address_as_one(found: list[Json]) -> list[Json]:
    parts = [entry for entry in found if str(entry["field"]).startswith("address.")]
    if len(parts) < 2:
        return found
    rest = [entry for entry in found if entry not in parts]
    return [*rest, {**parts[0], "field": "address"}]


declare(
    "ERR-091",
    "address",
    "of what is wrong with an address the address is listed",
    told_of(_address_as_one),
)


declare(
    "ERR-091",
    "in-turn",
    "a single-word name is told once nothing else is wrong",
    told_of(lambda found: [entry for entry in found if entry["field"] != "fullName"] or found),
)


def _business(entry: Json) -> bool:
    return str(entry["field"]).startswith("businessInfo.")


declare(
    "ERR-091",
    "business",
    "of what is wrong with a business one field is listed",
    told_of(
        lambda found: [
            *(entry for entry in found if not _business(entry)),
            *[entry for entry in found if _business(entry)][:1],
        ]
    ),
)
declare(
    "ERR-090",
    "business",
    "whatever is wrong with a business, its taxId is listed too",
    told_of(
        lambda found: (
            [*found, {"field": "businessInfo.taxId", "message": "Check it."}]
            if any(map(_business, found))
            else found
        )
    ),
)
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

for _name, _statement, _apply in REFUSED_UNPROVEN:
    declare("ERR-014", _name, _statement, _apply)

declare(
    "ERR-017",
    "unapproved-with-other-code",
    "an unapproved cardholder is told as a conflict of another kind",
    recoded(cards, "refuse_unapproved", "INVALID_INPUT"),
)


@mutant("ERR-017", "an unapproved cardholder is a conflict")
def unapproved_with_other_status(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "CARDHOLDER_KYC_NOT_APPROVED", 409)
