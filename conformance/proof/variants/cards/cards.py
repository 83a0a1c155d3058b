"""Conforming variants of cards: other names, shapes, moments and bookings.

Of cards the specification says the states of a card transaction, what it shows, and how returns
are told. It leaves the rest open.
"""

from __future__ import annotations

import uuid
from copy import deepcopy
from functools import partial
from typing import Any

from conformance.proof.kit.builders import Json, after, before, edited
from conformance.proof.kit.edits import bare, with_null, without
from conformance.proof.kit.tables import answers
from conformance.proof.patch import Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import errors
from conformance.reference.cards import card_simulators, card_transactions, cards
from conformance.reference.customers import customers
from conformance.reference.internal_accounts import ledger
from conformance.reference.store import Card, CardTransaction, Customer
from conformance.reference.transactions import transactions
from conformance.reference.unit import Ask, Unit, clock, new_id

_AMOUNTS = ("authorizedAmount", "settledAmount", "refundedAmount")
_A_MOMENT = 0.05


# --- Members of a card transaction ----------------------------------------------------------


def _of_purchases(name: str, body: Json) -> Json:
    """Return a purchase without a member; a refund is said to have it."""
    return body if "originalTransactionId" in body else without(name)(body)


for _name in ("direction", "settledAmount"):
    declare(
        "M75",
        f"purchase-without-{_name}",
        f"no card purchase shows its {_name}",
        edited(card_transactions, "view", partial(_of_purchases, _name)),
        "absent",
    )
declare(
    "M75",
    "card-transaction-without-merchant",
    "no card transaction shows the merchant",
    edited(card_transactions, "view", without("merchant")),
    "null",
)


def _or_null(name: str, body: Json) -> Json:
    return {name: None, **body}


for _name in ("settledAmount", "refundedAmount", "originalTransactionId", "cardDeclinedReason"):
    declare(
        "M75",
        f"card-transaction-with-null-{_name}",
        f"a card transaction that has no {_name} shows null",
        edited(card_transactions, "view", partial(_or_null, _name)),
        "null",
    )
declare(
    "M75",
    "card-transaction-with-null-createdAt",
    "no card transaction tells when it was created",
    edited(card_transactions, "view", with_null("createdAt")),
    "null",
)


@variant("M75", "the network reports neither city nor state of merchants", "forms")
def nameless_places(patch: Patch) -> None:
    patch.replace(card_transactions, "MERCHANT", {"name": "Corner Coffee", "city": None})


def _in_units(body: Json) -> Json:
    return {name: value["amount"] if name in _AMOUNTS else value for name, value in body.items()}


declare(
    "N027",
    "card-amounts-as-integers",
    "amounts of card transactions are integers beside their currency",
    edited(card_transactions, "view", _in_units),
    "forms",
)


def _flat(body: Json) -> Json:
    currency = body["currency"]
    return {**_in_units(body), **currency, "currency": currency["code"]}


declare(
    "N027",
    "flat-currency",
    "a card transaction has the members of its currency among its own",
    edited(card_transactions, "view", _flat),
    "other forms",
)


def _with_zeros(body: Json) -> Json:
    nothing = {"amount": 0, "currency": deepcopy(body["currency"])}
    return {"settledAmount": nothing, "refundedAmount": nothing, **body}


declare(
    "M75",
    "card-amounts-of-zero",
    "amounts of card transactions are zero from the start",
    edited(card_transactions, "view", _with_zeros),
    "other codes",
)


@variant("M78", "card transactions are numbered like payments", "forms")
def numbered_like_payments(patch: Patch) -> None:
    patch.replace(card_transactions, "new_id", lambda _: new_id("Transaction"))


@variant("M78", "card transactions have ids without a type", "other forms")
def bare_card_transactions(patch: Patch) -> None:
    patch.replace(card_transactions, "new_id", lambda _: str(uuid.uuid4()))


@variant(
    "M78",
    "a refund points to its purchase by the id without its type",
    "codes",
    (card_transactions, "view"),
    edited,
)
def bare_purchase(body: Json) -> Json:
    purchase = body.get("originalTransactionId")
    return body if purchase is None else {**body, "originalTransactionId": bare(purchase)}


# --- States and webhooks --------------------------------------------------------------------

_NAMES = {"AUTHORIZED": "APPROVED", "PARTIALLY_SETTLED": "PARTIALLY_CLEARED"}

declare(
    "N020",
    "other-card-states",
    "states whose names are open are called APPROVED and PARTIALLY_CLEARED",
    edited(
        card_transactions,
        "view",
        lambda body: {**body, "status": _NAMES.get(body["status"], body["status"])},
    ),
    "forms",
)


for _point, _group, _words in (
    ("M67", "codes", {"AUTHORIZED": "AUTHORISED", "PARTIALLY_SETTLED": "PARTIAL"}),
    ("N091", "other codes", {"AUTHORIZED": "AUTHORIZATION", "EXCEPTION": "ANOMALY"}),
):

    def _call(patch: Patch, *, words: dict[str, str] = _words) -> None:
        for state, word in words.items():
            patch.row(card_transactions, "EVENTS", state, f"CARD_TRANSACTION.{word}")

    declare(
        _point,
        f"events-of-{_group.replace(' ', '-')}",
        "webhooks of cards are called otherwise",
        _call,
        _group,
    )


@variant("N040", "webhooks of cards tell the id of the transaction alone", "absent", (Unit, "emit"))
def lean_webhooks(emit: Function, unit: Unit, event_type: str, data: Json) -> None:
    is_card = event_type.startswith("CARD_TRANSACTION.")
    emit(unit, event_type, {"id": data["id"]} if is_card else data)


@variant("M68", "an underfunded purchase is approved, and its clearing is an exception", "codes")
def underfunded_exception(patch: Patch) -> None:
    def approved(
        approve: Function, unit: Unit, card: Card, amount: int, merchant: Json | None
    ) -> Any:
        available, _ = ledger.balances(unit, [card.account_id])[card.account_id]
        if amount <= available:
            return approve(unit, card, amount, merchant)
        return card_transactions.record(
            unit, card, "PURCHASE", "AUTHORIZED", merchant, authorized=amount
        )

    def obstacle(obstacle_of: Function, *arguments: Any) -> str | None:
        found: str | None = obstacle_of(*arguments)
        return None if found == "UNDERFUNDED" else found

    def cleared(clear: Function, unit: Unit, ask: Ask) -> Json:
        row = card_transactions.find(unit, ask.body["transactionId"])
        if row is None or row.held:
            return dict(clear(unit, ask))
        card_transactions.reach(unit, row, "EXCEPTION")
        return {"transactionId": row.id}

    patch.wrap(card_simulators, "approve", approved)
    patch.wrap(card_simulators, "obstacle_of", obstacle)
    patch.wrap(card_simulators, "clear", cleared)


@variant(
    "M68",
    "an underfunded purchase is an exception from the start",
    "other codes",
    (card_simulators, "decline"),
)
def underfunded_at_once(
    decline: Function, unit: Unit, card: Card, amount: int, merchant: Json | None, reason: str
) -> Any:
    if reason != "INSUFFICIENT_FUNDS":
        return decline(unit, card, amount, merchant, reason)
    return card_transactions.record(
        unit, card, "PURCHASE", "EXCEPTION", merchant, authorized=amount
    )


# --- Returns --------------------------------------------------------------------------------


@variant(
    "N027",
    "a return of a purchase has a row of its own as well",
    "apart",
    (card_simulators, "return_purchase"),
    after,
)
def returns_have_rows(unit: Unit, ask: Ask) -> None:
    purchase = card_transactions.find(unit, ask.body["transactionId"])
    assert purchase is not None
    card_simulators.credit_row(unit, purchase, "SETTLED", int(ask.body["amount"]))


@variant("N027", "a return on its own is noted on its purchase as well", "other apart")
def refunds_are_noted(patch: Patch) -> None:
    def note(unit: Unit, purchase: CardTransaction, state: str, amount: int) -> None:
        purchase.refunded += amount
        card_transactions.announce(unit, purchase)

    before(card_simulators, "credit_row", note)(patch)
    # A return that has a row of its own would be noted twice.
    patch.concern(card_simulators, "return_purchase")


for _code, _group in (("INVALID_INPUT", "codes"), ("NOT_FOUND", "other codes")):

    def _refuse(patch: Patch, *, code: str = _code) -> None:
        def found(purchase_of: Function, *arguments: Any) -> Any:
            try:
                return purchase_of(*arguments)
            except errors.Refusal as refusal:
                raise errors.Refusal(code, refusal.reason) from refusal

        patch.wrap(card_simulators, "returned_purchase", found)

    declare(
        "N027",
        f"no-return-is-{_code.lower().replace('_', '-')}",
        f"what was not returned cannot be reversed, and the code is {_code}",
        _refuse,
        _group,
    )


# --- Cards and answers ----------------------------------------------------------------------


@variant("N021", "a card of an unapproved customer waits for the approval", "onboarding")
def pending_cards(patch: Patch) -> None:
    def obstacle(obstacle_of: Function, unit: Unit, card: Card, *more: Any) -> str | None:
        holder = unit.session.get_one(Customer, card.cardholder_id)
        if not customers.is_verified(holder):
            return "INACTIVE"
        found: str | None = obstacle_of(unit, card, *more)
        return found

    patch.replace(cards, "refuse_unapproved", lambda _: None)
    patch.wrap(card_simulators, "obstacle_of", obstacle)


@variant(
    "N021",
    "a card can be used a moment after it is issued",
    "slow",
    (card_simulators, "obstacle_of"),
)
def activated_later(obstacle_of: Function, unit: Unit, card: Card, *more: Any) -> str | None:
    if unit.now - card.created_at < _A_MOMENT * 1_000_000:
        return "INACTIVE"
    found: str | None = obstacle_of(unit, card, *more)
    return found


declare(
    "N069",
    "card-is-taken",
    "a card is taken to be issued (202)",
    answers("issueCard", 202),
    "codes",
)
for _status, _group in ((200, "codes"), (204, "other codes")):
    declare(
        "N069",
        f"reversal-of-a-return-is-{_status}",
        f"the reversal of a return is answered with {_status}",
        answers("simulateReturnReversal", _status),
        _group,
    )


# --- Time and money -------------------------------------------------------------------------


@variant("M88", "what happens on a card happens a moment later", "slow")
def cards_later(patch: Patch) -> None:
    def taken(simulate: Function, unit: Unit, ask: Ask) -> Json:
        unit.later(_A_MOMENT, lambda later_unit: simulate(later_unit, ask))
        return {}

    for name in ("clear", "clear_partly", "misclear", "reverse", "lapse", "return_purchase"):
        patch.wrap(card_simulators, name, taken)
    patch.wrap(card_simulators, "refund", taken)


@variant(
    "M88",
    "card transactions are listed a moment later",
    "other apart",
    (transactions, "made_with_cards"),
    edited,
)
def card_transactions_listed_later(rows: Any) -> Any:
    if rows is None:
        return None
    return rows.where(CardTransaction.created_at < clock() - _A_MOMENT * 1_000_000)


@variant(
    "N020",
    "an authorization holds nothing; the account pays when it is cleared",
    "apart",
    (card_transactions, "move"),
)
def nothing_held_for_cards(
    move: Function, unit: Unit, row: CardTransaction, origin: str, target: str, amount: int
) -> None:
    if {origin, target} != {"available", "held"}:
        move(unit, row, "available" if origin == "held" else origin, target, amount)


@variant("N026", "card transactions are listed only where a card or their type is named", "absent")
def apart_from_payments(patch: Patch) -> None:
    patch.wrap(
        transactions,
        "made_with_cards",
        lambda made_with_cards, query: (
            made_with_cards(query) if {"cardId", "type"} & set(query) else None
        ),
    )
