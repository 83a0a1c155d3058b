"""Mutants of the webhooks of cards."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Json, after, around
from conformance.proof.kit.tables import with_row, without_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference.cards import card_simulators, card_transactions
from conformance.reference.store import Card, CardTransaction
from conformance.reference.unit import Ask, Unit

_REFUNDED = "CARD_TRANSACTION.REFUNDED"


_UNTOLD = {
    "EVT-170": "AUTHORIZED",
    "EVT-171": "PARTIALLY_SETTLED",
    "EVT-172": "SETTLED",
    "EVT-173": "DECLINED",
    "EVT-174": "VOIDED",
    "EVT-175": "VOIDED",
    "EVT-176": "EXCEPTION",
}

for _id, _state in _UNTOLD.items():
    declare(
        _id,
        "missing",
        f"{_state} is not reported",
        without_row(card_transactions, "EVENTS", _state),
    )


_MISNAMED = {
    "EVT-171": ("PARTIALLY_SETTLED", "CARD_TRANSACTION.SETTLED"),
    "EVT-172": ("SETTLED", "CARD_TRANSACTION.CLEARED"),
    "EVT-173": ("DECLINED", "CARD_TRANSACTION.REJECTED"),
    "EVT-174": ("VOIDED", "CARD_TRANSACTION.REVERSED"),
    "EVT-175": ("VOIDED", "CARD_TRANSACTION.EXPIRED"),
    "EVT-176": ("EXCEPTION", "CARD_TRANSACTION.SETTLED"),
}

for _id, (_state, _event) in _MISNAMED.items():
    declare(
        _id,
        "name",
        f"{_state} is reported as {_event}",
        with_row(card_transactions, "EVENTS", _state, _event),
    )


def _silent_about_returns(announce: Function, unit: Unit, row: CardTransaction) -> None:
    if not row.refunded:
        announce(unit, row)


def _as_before(announce: Function, unit: Unit, row: CardTransaction) -> None:
    if not row.refunded:
        announce(unit, row)
    else:
        shown = card_transactions.view(row)
        money = {**shown["refundedAmount"], "amount": 0}
        unit.emit("CARD_TRANSACTION.SETTLED", {**shown, "refundedAmount": money})


def _amount_settled(amount: int) -> Callable[[Function, Unit, CardTransaction], None]:
    """Tell another settled amount than that of a row that is SETTLED."""

    def telling(announce: Function, unit: Unit, row: CardTransaction) -> None:
        shown = card_transactions.view(row)
        if row.status != "SETTLED":
            announce(unit, row)
        else:
            money = {**shown["settledAmount"], "amount": amount}
            unit.emit("CARD_TRANSACTION.SETTLED", {**shown, "settledAmount": money})

    return telling


def _silent_about_the_last(announce: Function, unit: Unit, row: CardTransaction) -> None:
    if not row.refunded or row.refunded < row.settled:
        announce(unit, row)


def _silent_about_refunds(announce: Function, unit: Unit, row: CardTransaction) -> None:
    if row.original_id is None:
        announce(unit, row)


def _silent_about_later_refunds(announce: Function, unit: Unit, row: CardTransaction) -> None:
    query = select(CardTransaction).where(
        CardTransaction.original_id == row.original_id, CardTransaction.id != row.id
    )
    if row.original_id is None or unit.session.scalars(query).first() is None:
        announce(unit, row)


def _silent_about_decline(reason: str) -> Callable[[Function, Unit, CardTransaction], None]:
    def telling(announce: Function, unit: Unit, row: CardTransaction) -> None:
        if row.decline_reason != reason:
            announce(unit, row)

    return telling


def _on_its_purchase(announce: Function, unit: Unit, row: CardTransaction) -> None:
    purchase = card_transactions.find(unit, row.original_id) if row.original_id else None
    announce(unit, purchase or row)


def _return_told_of_newest(announce: Function, unit: Unit, row: CardTransaction) -> None:
    if not row.refunded:
        announce(unit, row)
        return
    query = (
        select(CardTransaction)
        .where(CardTransaction.card_id == row.card_id, CardTransaction.status == "SETTLED")
        .order_by(CardTransaction.created_at.desc())
    )
    announce(unit, unit.session.scalars(query).first() or row)


def _also_refunded(announce: Function, unit: Unit, row: CardTransaction) -> None:
    announce(unit, row)
    if row.refunded or row.original_id:
        unit.emit(_REFUNDED, card_transactions.view(row))


def _refunded_instead(announce: Function, unit: Unit, row: CardTransaction) -> None:
    if row.refunded or row.original_id:
        unit.emit(_REFUNDED, card_transactions.view(row))
    else:
        announce(unit, row)


def _whole_as_refunded(announce: Function, unit: Unit, row: CardTransaction) -> None:
    announce(unit, row)
    purchase = card_transactions.find(unit, row.original_id) if row.original_id else None
    if purchase is not None and row.settled == purchase.settled:
        unit.emit(_REFUNDED, card_transactions.view(row))


def _also(event: str, status: str) -> Callable[[Function, Unit, CardTransaction], None]:
    def telling(announce: Function, unit: Unit, row: CardTransaction) -> None:
        announce(unit, row)
        if row.status == status:
            unit.emit(f"CARD_TRANSACTION.{event}", card_transactions.view(row))

    return telling


def _authorized_before_decline(reason: str) -> Callable[[Function, Unit, CardTransaction], None]:
    def telling(announce: Function, unit: Unit, row: CardTransaction) -> None:
        if row.decline_reason == reason:
            unit.emit("CARD_TRANSACTION.AUTHORIZED", card_transactions.view(row))
        announce(unit, row)

    return telling


def _silent_after_the_first(status: str) -> Callable[[Function, Unit, CardTransaction], None]:
    def telling(announce: Function, unit: Unit, row: CardTransaction) -> None:
        query = select(CardTransaction).where(
            CardTransaction.card_id == row.card_id,
            CardTransaction.status == status,
            CardTransaction.id != row.id,
        )
        if row.status != status or unit.session.scalars(query).first() is None:
            announce(unit, row)

    return telling


def _of_newest(original: Function, unit: Unit, card: Card, name: str) -> CardTransaction:
    row: CardTransaction = original(unit, card, name)
    query = select(CardTransaction).where(
        CardTransaction.card_id == row.card_id, CardTransaction.held > 0
    )
    held = list(unit.session.scalars(query))
    return max(held, key=lambda one: (one.created_at, one.id)) if row in held else row


for _id in ("EVT-172", "EVT-174", "EVT-175"):
    declare(
        _id,
        "newest",
        "what becomes of a purchase becomes of the newest one that is open",
        around(card_transactions, "get", _of_newest),
    )


_ANNOUNCED: tuple[tuple[str, str, str, Callable[[Function, Unit, CardTransaction], None]], ...] = (
    ("EVT-177", "missing", "returns are not reported", _silent_about_returns),
    ("EVT-172", "before", "settlements are reported with nothing settled", _amount_settled(0)),
    ("EVT-179", "before", "returns on their own are reported with nothing", _amount_settled(0)),
    ("EVT-177", "newest", "returns are told of the newest purchase", _return_told_of_newest),
    ("EVT-177", "before", "returns are reported without what is returned", _as_before),
    ("EVT-178", "before", "returns are reported without what is returned", _as_before),
    ("EVT-178", "whole", "the return of all is not reported", _silent_about_the_last),
    ("EVT-179", "missing", "returns on their own are not reported", _silent_about_refunds),
    (
        "EVT-179",
        "second",
        "the first return on its own of a purchase is reported alone",
        _silent_about_later_refunds,
    ),
    ("EVT-179", "purchase", "returns on their own are told of the purchase", _on_its_purchase),
    ("EVT-180", "also", "a return is reported as refunded too", _also_refunded),
    ("EVT-180", "instead", "a return is reported as refunded", _refunded_instead),
    ("EVT-181", "also", "a return is reported as refunded too", _also_refunded),
    ("EVT-181", "instead", "a return is reported as refunded", _refunded_instead),
    ("EVT-182", "also", "a return on its own is reported as refunded too", _also_refunded),
    ("EVT-182", "instead", "a return on its own is reported as refunded", _refunded_instead),
    ("EVT-182", "whole", "one of the whole is reported as refunded too", _whole_as_refunded),
    *(
        ("EVT-173", f"for-{reason}", f"{reason} is not reported", _silent_about_decline(reason))
        for reason in card_simulators.CONDITIONS.values()
    ),
    *(
        (
            "EVT-184",
            f"for-{reason}",
            f"what is declined for {reason} is reported as authorized before",
            _authorized_before_decline(reason),
        )
        for reason in card_simulators.CONDITIONS.values()
        if reason != "OTHER"
    ),
    ("EVT-184", "also", "a declined purchase is reported as settled", _also("SETTLED", "DECLINED")),
    (
        "EVT-184",
        "begun",
        "a declined purchase is reported as authorized",
        _also("AUTHORIZED", "DECLINED"),
    ),
    ("EVT-185", "also", "a void purchase is reported as settled", _also("SETTLED", "VOIDED")),
    *(
        (
            requirement,
            "second-of-a-card",
            f"the first purchase of a card alone is reported as {status}",
            _silent_after_the_first(status),
        )
        for requirement, status in (
            ("EVT-170", "AUTHORIZED"),
            ("EVT-172", "SETTLED"),
            ("EVT-173", "DECLINED"),
            ("EVT-174", "VOIDED"),
            ("EVT-175", "VOIDED"),
        )
    ),
)

for _id, _name, _statement, _telling in _ANNOUNCED:
    declare(_id, _name, _statement, around(card_transactions, "announce", _telling))


@mutant("EVT-172", "the settlement of a last part is not reported")
def last_part_untold(patch: Patch) -> None:
    parts: set[str] = set()

    def telling(announce: Function, unit: Unit, row: CardTransaction) -> None:
        if row.status != "SETTLED" or row.id not in parts:
            announce(unit, row)
        if row.status == "PARTIALLY_SETTLED":
            parts.add(row.id)

    around(card_transactions, "announce", telling)(patch)


@mutant("EVT-178", "the first return alone is reported")
def second_return_untold(patch: Patch) -> None:
    told: set[str] = set()

    def telling(announce: Function, unit: Unit, row: CardTransaction) -> None:
        if row.id not in told:
            announce(unit, row)
        if row.refunded:
            told.add(row.id)

    around(card_transactions, "announce", telling)(patch)


@mutant(
    "EVT-183",
    "the reversal of a return is reported as refunded",
    (card_simulators, "reverse_return"),
)
def reversal_as_refunded(reverse: Function, unit: Unit, ask: Ask) -> Json:
    body: Json = reverse(unit, ask)
    row = card_transactions.find(unit, body["transactionId"])
    assert row is not None
    unit.emit(_REFUNDED, card_transactions.view(row))
    return body


@mutant("EVT-186", "the balance after a purchase is not reported")
def balance_untold(patch: Patch) -> None:
    patch.replace(card_transactions, "announce_balance", lambda *_: None)


def _balances_untold(condition: Callable[[CardTransaction], bool]) -> Apply:
    """Return the patch that reports no balance after card transactions of a condition."""
    return around(
        card_transactions,
        "announce_balance",
        lambda announce, unit, row: None if condition(row) else announce(unit, row),
    )


declare(
    "EVT-190",
    "missing",
    "the balance after a return is not reported",
    _balances_untold(lambda row: row.original_id is not None),
)
declare(
    "EVT-191",
    "missing",
    "the balance after a reversal is not reported",
    _balances_untold(lambda row: row.status == "VOIDED"),
)


declare(
    "EVT-190",
    "purchase",
    "the balance after a return of a purchase is not reported",
    _balances_untold(lambda row: row.refunded > 0),
)


def _no_balances(unit: Unit, *_: Any, **__: Any) -> None:
    unit.events[:] = [
        event for event in unit.events if event["type"] != "INTERNAL_ACCOUNT.BALANCE_UPDATED"
    ]


declare(
    "EVT-186",
    "authorization",
    "the balance after an authorization is not reported",
    after(card_simulators, "approve", _no_balances),
)
declare(
    "EVT-191",
    "lapse",
    "the balance after an authorization has expired is not reported",
    after(card_simulators, "lapse", _no_balances),
)

declare(
    "EVT-362",
    "missing",
    "the balance after the reversal of a return is not reported",
    after(card_simulators, "reverse_return", _no_balances),
)

for _id, _event in {"EVT-185": "SETTLED", "EVT-206": "VOIDED"}.items():

    @mutant(
        _id,
        f"an authorization that has expired is reported as {_event} besides",
        (card_simulators, "lapse"),
        after,
    )
    def lapse_told(unit: Unit, ask: Ask, *, told: str = _event) -> None:
        row = card_transactions.find(unit, ask.body["transactionId"])
        assert row is not None
        unit.emit(f"CARD_TRANSACTION.{told}", card_transactions.view(row))


def _sent(change: Callable[[Json], Json]) -> Apply:
    """Return the patch that sends each webhook of cards changed."""

    def emitting(unit: Unit, event_type: str, data: Json) -> None:
        if event_type.startswith("CARD_TRANSACTION."):
            unit.events[-1] = change(unit.events[-1])

    return after(Unit, "emit", emitting)


def _nameless(event: Json) -> Json:
    data = {"transactionId" if name == "id" else name: v for name, v in event["data"].items()}
    return {**event, "data": data}


_DELIVERED: tuple[tuple[str, str, str, Callable[[Json], Json]], ...] = (
    (
        "EVT-179",
        "debit",
        "a return on its own is told as a DEBIT",
        lambda e: {**e, "data": {**e["data"], "direction": "DEBIT"}},
    ),
    (
        "EVT-179",
        "itself",
        "a return on its own is told as one of itself",
        lambda e: {**e, "data": {**e["data"], "originalTransactionId": e["data"]["id"]}},
    ),
    ("EVT-187", "list", "the data are a list", lambda e: {**e, "data": [e["data"]]}),
    ("EVT-187", "text", "the data are the id alone", lambda e: {**e, "data": e["data"]["id"]}),
    ("EVT-188", "missing", "the data have no id", _nameless),
    (
        "EVT-188",
        "card",
        "the data have the id of the card",
        lambda e: {**e, "data": {**e["data"], "id": e["data"]["cardId"], "of": e["data"]["id"]}},
    ),
    (
        "EVT-189",
        "same",
        "all webhooks about a transaction have one id",
        lambda e: {**e, "id": f"Webhook:{e['data']['id']}"},
    ),
)

for _id, _name, _statement, _delivered in _DELIVERED:
    declare(_id, _name, _statement, _sent(_delivered))
