"""Mutants of what card transactions show."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.proof.kit.builders import Json, around, edited
from conformance.proof.kit.edits import Edit, copied, put, shows, turned, where, without
from conformance.proof.mutant import declare
from conformance.proof.patch import Apply, Function
from conformance.reference.cards import card_transactions
from conformance.reference.transactions import transactions
from conformance.reference.unit import Unit


def _has(member: str, body: Json) -> bool:
    return member in body


def _refund(body: Json) -> bool:
    return "originalTransactionId" in body


def _purchase_at(status: str, body: Json) -> bool:
    return bool(body["status"] == status and not _refund(body))


def _each_currency(change: Callable[[Json], None]) -> Edit:
    """Return the edit of all currencies that a card transaction shows."""

    def edit(body: Any) -> Any:
        if isinstance(body, dict):
            if "decimals" in body:
                change(body)
            for member in body.values():
                edit(member)
        return body

    return edit


def _drop(name: str) -> Edit:
    return _each_currency(lambda currency: currency.pop(name, None))


def _put(name: str, value: Any) -> Edit:
    return _each_currency(lambda currency: currency.update({name: value}))


def _flat(name: str) -> Edit:
    """Return the edit that writes an amount as a text in whole units."""
    return turned(name, lambda amount: f"{amount['amount'] / 100:.2f}")


def _in_whole_units(name: str) -> Edit:
    return turned(name, lambda amount: amount["amount"] / 1000)


def _shifted(name: str, by: int) -> Edit:
    return turned(f"{name}.amount", lambda amount: amount + by)


def _less_refunds(body: Json) -> Json:
    if "refundedAmount" in body:
        body["settledAmount"]["amount"] -= body["refundedAmount"]["amount"]
    return body


_SHOWN: tuple[tuple[str, str, str, Edit], ...] = (
    ("CAR-020", "word", "the direction is OUT", put("direction", "OUT")),
    ("CAR-020", "case", "the direction is in lower case", put("direction", "debit")),
    ("CAR-021", "number", "the status is a number", put("status", 17)),
    ("CAR-021", "missing", "there is no status", without("status")),
    (
        "CAR-022",
        "word",
        "settled is called refunded",
        where(shows("status", "SETTLED"), put("status", "REFUNDED")),
    ),
    ("CAR-023", "text", "settledAmount is a text", _flat("settledAmount")),
    ("CAR-023", "fraction", "settledAmount is a fraction", _in_whole_units("settledAmount")),
    ("CAR-024", "text", "refundedAmount is a text", _flat("refundedAmount")),
    ("CAR-024", "fraction", "refundedAmount is a fraction", _in_whole_units("refundedAmount")),
    (
        "CAR-025",
        "number",
        "the purchase is a number",
        where(_refund, put("originalTransactionId", 7)),
    ),
    (
        "CAR-025",
        "object",
        "the purchase is an object",
        lambda body: (
            {**body, "originalTransactionId": {"id": body["originalTransactionId"]}}
            if _refund(body)
            else body
        ),
    ),
    (
        "CAR-026",
        "word",
        "the reason is none of those listed",
        where(shows("status", "DECLINED"), put("cardDeclinedReason", "SUSPECTED_FRAUD")),
    ),
    (
        "CAR-026",
        "case",
        "the reason is in lower case",
        where(shows("status", "DECLINED"), put("cardDeclinedReason", "other")),
    ),
    ("CAR-027", "text", "the merchant is a text", put("merchant", "Corner Coffee")),
    ("CAR-028", "number", "the city is a number", put("merchant.city", 17)),
    ("CAR-028", "object", "the city is an object", put("merchant.city", {"name": "Portland"})),
    ("CAR-029", "number", "the state is a number", put("merchant.state", 17)),
    ("CAR-029", "object", "the state is an object", put("merchant.state", {"code": "OR"})),
    ("CAR-877", "missing", "there is no direction", without("direction")),
    ("CAR-878", "missing", "there is no merchant", without("merchant")),
    ("CAR-879", "missing", "there is no settledAmount", without("settledAmount")),
    ("CAR-030", "missing", "currencies have no decimals", _drop("decimals")),
    ("CAR-030", "other", "currencies have no decimal places", _put("decimals", 0)),
    ("CAR-031", "missing", "currencies have no name", _drop("name")),
    ("CAR-031", "code", "the name of the currency is its code", _put("name", "USD")),
    ("CAR-032", "missing", "currencies have no symbol", _drop("symbol")),
    ("CAR-032", "code", "the symbol of the currency is its code", _put("symbol", "USD")),
    ("CAR-034", "own", "a purchase points to itself", copied("id", "originalTransactionId")),
    ("CAR-036", "reason", "each has a reason", put("cardDeclinedReason", "OTHER")),
    (
        "CAR-040",
        "settled",
        "authorized is settled",
        where(shows("status", "AUTHORIZED"), put("status", "SETTLED")),
    ),
    (
        "CAR-040",
        "void",
        "authorized is void",
        where(shows("status", "AUTHORIZED"), put("status", "VOIDED")),
    ),
    (
        "CAR-041",
        "settled",
        "what is settled in part is settled",
        where(shows("status", "PARTIALLY_SETTLED"), put("status", "SETTLED")),
    ),
    (
        "CAR-042",
        "authorized",
        "what is settled in part is authorized",
        where(shows("status", "PARTIALLY_SETTLED"), put("status", "AUTHORIZED")),
    ),
    (
        "CAR-043",
        "word",
        "settled is called cleared",
        where(shows("status", "SETTLED"), put("status", "CLEARED")),
    ),
    ("CAR-044", "more", "one unit more is shown as settled", _shifted("settledAmount", 1)),
    ("CAR-044", "less", "one unit less is shown as settled", _shifted("settledAmount", -1)),
    (
        "CAR-048",
        "settled",
        "a declined purchase shows its amount as settled",
        where(shows("status", "DECLINED"), copied("authorizedAmount", "settledAmount")),
    ),
    *(
        (
            _rule,
            "settled",
            "what came to nothing shows its amount as settled",
            where(shows("status", "VOIDED"), copied("authorizedAmount", "settledAmount")),
        )
        for _rule in ("CAR-053", "CAR-054")
    ),
    (
        "CAR-065",
        "settled",
        "what was settled counts as returned",
        where(shows("status", "SETTLED"), copied("settledAmount", "refundedAmount")),
    ),
    ("CAR-066", "less", "settledAmount is less what was returned", _less_refunds),
    (
        "CAR-068",
        "credit",
        "a purchase with a return is a credit",
        where(lambda body: "refundedAmount" in body, put("direction", "CREDIT")),
    ),
    (
        "CAR-074",
        "missing",
        "a refund does not tell of its purchase",
        without("originalTransactionId"),
    ),
    (
        "CAR-074",
        "card",
        "a refund points to the card",
        where(_refund, copied("cardId", "originalTransactionId")),
    ),
)

_LATER: tuple[tuple[str, str, str, Edit], ...] = (
    (
        "CAR-034",
        "returned",
        "a purchase of which something was returned points to itself",
        where(lambda body: "refundedAmount" in body, copied("id", "originalTransactionId")),
    ),
    (
        "CAR-034",
        "declined",
        "a declined purchase points to itself",
        where(shows("status", "DECLINED"), copied("id", "originalTransactionId")),
    ),
    (
        "CAR-036",
        "void",
        "a void authorization has a reason",
        where(shows("status", "VOIDED"), put("cardDeclinedReason", "OTHER")),
    ),
    (
        "CAR-036",
        "returned",
        "a purchase of which something was returned has a reason",
        where(lambda body: "refundedAmount" in body, put("cardDeclinedReason", "OTHER")),
    ),
    *(
        ("CAR-033", state.lower(), f"the direction of what is {state} is CREDIT", edit)
        for state in ("DECLINED", "VOIDED", "PARTIALLY_SETTLED", "SETTLED", "EXCEPTION")
        for edit in (where(partial(_purchase_at, state), put("direction", "CREDIT")),)
    ),
    *(
        ("CAR-034", state.lower(), f"what is {state} points to itself", edit)
        for state in ("PARTIALLY_SETTLED", "SETTLED", "EXCEPTION")
        for edit in (where(partial(_purchase_at, state), copied("id", "originalTransactionId")),)
    ),
    *(
        (rule, state.lower(), f"the currency of what is {state} has no {name}", edit)
        for rule, name in {"CAR-030": "decimals", "CAR-031": "name", "CAR-032": "symbol"}.items()
        for state in ("DECLINED", "VOIDED")
        for edit in (where(shows("status", state), _drop(name)),)
    ),
    *(
        (rule, "return", f"the currency of a return has no {name}", where(_refund, _drop(name)))
        for rule, name in {"CAR-030": "decimals", "CAR-031": "name", "CAR-032": "symbol"}.items()
    ),
    *(
        (
            rule,
            "euros",
            f"{member} is in another currency than the card",
            where(partial(_has, member), put(f"{member}.currency.code", "EUR")),
        )
        for rule, member in (
            ("CAR-044", "settledAmount"),
            ("CAR-061", "refundedAmount"),
            ("CAR-073", "settledAmount"),
        )
    ),
    (
        "CAR-048",
        "blocked",
        "a purchase that is declined as blocked shows its amount as settled",
        where(shows("cardDeclinedReason", "BLOCKED"), copied("authorizedAmount", "settledAmount")),
    ),
)

for _id, _name, _statement, _edit in (*_SHOWN, *_LATER):
    declare(_id, _name, _statement, edited(card_transactions, "view", _edit))

declare(
    "CAR-035",
    "reason",
    "each payment has a reason",
    edited(transactions, "view", put("cardDeclinedReason", "OTHER")),
)


def _refunded_where(which: Callable[[Json], bool]) -> Apply:
    """Return the patch by which webhooks alone show some card transactions at REFUNDED."""

    def emitting(emit: Function, unit: Unit, event_type: str, data: Json) -> None:
        told = event_type.startswith("CARD_TRANSACTION.") and which(data)
        emit(unit, event_type, {**data, "status": "REFUNDED"} if told else data)

    return around(Unit, "emit", emitting)


declare(
    "CAR-022",
    "returned-told",
    "what is returned is told as refunded",
    _refunded_where(partial(_has, "refundedAmount")),
)
declare(
    "CAR-022", "refund-told", "a return on its own is told as refunded", _refunded_where(_refund)
)
