"""Honest variants of cards: other names, shapes, moments and books.

What the specification leaves open about them is nearly all but the states of a card transaction,
what it shows, and how returns are told.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import TYPE_CHECKING, Any

from conformance.mutants.fields import answering
from conformance.mutants.honest import shown, with_null, without
from conformance.mutants.variant import declare, variant
from conformance.reference import card_simulators, card_transactions, customers, errors, ledger
from conformance.reference.store import CardTransaction, Customer
from conformance.reference.unit import clock, new_id

if TYPE_CHECKING:
    from conformance.mutants.mutant import Patch
    from conformance.reference.store import Card
    from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]
Function = Callable[..., Any]

_REFERENCE = "conformance.reference"
_CARDS = f"{_REFERENCE}.cards"
_ROWS = f"{_REFERENCE}.card_transactions"
_SIMULATORS = f"{_REFERENCE}.card_simulators"
_VIEW = f"{_ROWS}:view"
_EVENTS = f"{_ROWS}:EVENTS"
_AMOUNTS = ("authorizedAmount", "settledAmount", "refundedAmount")
_A_MOMENT = 0.05


# --- Members of a card transaction ----------------------------------------------------------


def _of_purchases(name: str, body: Json) -> Json:
    """Return a purchase without a member; a refund is said to have it."""
    return body if "originalTransactionId" in body else without(name, body)


for _name in ("direction", "settledAmount"):
    declare(
        "M75",
        f"purchase-without-{_name}",
        f"no card purchase shows its {_name}",
        shown(_VIEW, partial(_of_purchases, _name)),
        "absent",
    )
declare(
    "M75",
    "card-transaction-without-merchant",
    "no card transaction shows the merchant",
    shown(_VIEW, partial(without, "merchant")),
    "null",
)


def _or_null(name: str, body: Json) -> Json:
    return {name: None, **body}


for _name in ("settledAmount", "refundedAmount", "originalTransactionId", "cardDeclinedReason"):
    declare(
        "M75",
        f"card-transaction-with-null-{_name}",
        f"a card transaction that has no {_name} shows null",
        shown(_VIEW, partial(_or_null, _name)),
        "null",
    )
declare(
    "M75",
    "card-transaction-with-null-createdAt",
    "no card transaction tells when it was created",
    shown(_VIEW, partial(with_null, "createdAt")),
    "null",
)


@variant("M75", "the network reports neither city nor state of merchants", "forms")
def nameless_places(patch: Patch) -> None:
    patch.replace(f"{_ROWS}:MERCHANT", {"name": "Corner Coffee", "city": None})


def _in_units(body: Json) -> Json:
    return {name: value["amount"] if name in _AMOUNTS else value for name, value in body.items()}


@variant("N027", "amounts of card transactions are integers beside their currency", "forms")
def card_amounts_as_integers(patch: Patch) -> None:
    shown(_VIEW, _in_units)(patch)


def _flat(body: Json) -> Json:
    currency = body["currency"]
    return {**_in_units(body), **currency, "currency": currency["code"]}


@variant("N027", "a card transaction has the members of its currency among its own", "other forms")
def flat_currency(patch: Patch) -> None:
    shown(_VIEW, _flat)(patch)


def _with_zeros(body: Json) -> Json:
    nothing = {"amount": 0, "currency": deepcopy(body["currency"])}
    return {"settledAmount": nothing, "refundedAmount": nothing, **body}


@variant("M75", "amounts of card transactions are zero from the start", "other codes")
def card_amounts_of_zero(patch: Patch) -> None:
    shown(_VIEW, _with_zeros)(patch)


@variant("M78", "card transactions are numbered like payments", "forms")
def numbered_like_payments(patch: Patch) -> None:
    patch.replace(f"{_ROWS}:new_id", lambda _: new_id("Transaction"))


@variant("M78", "card transactions have ids without a type", "other forms")
def bare_card_transactions(patch: Patch) -> None:
    patch.replace(f"{_ROWS}:new_id", lambda _: str(uuid.uuid4()))


@variant("M78", "a refund points to its purchase by the id without its type", "codes")
def bare_purchase(patch: Patch) -> None:
    def edit(body: Json) -> Json:
        purchase = body.get("originalTransactionId")
        return body if purchase is None else {**body, "originalTransactionId": _bare(purchase)}

    shown(_VIEW, edit)(patch)


def _bare(identifier: str) -> str:
    return identifier.rpartition(":")[2]


# --- States and webhooks --------------------------------------------------------------------

_NAMES = {"AUTHORIZED": "APPROVED", "PARTIALLY_SETTLED": "PARTIALLY_CLEARED"}


@variant("N020", "states whose names are open are called APPROVED and PARTIALLY_CLEARED", "forms")
def other_card_states(patch: Patch) -> None:
    shown(_VIEW, lambda body: {**body, "status": _NAMES.get(body["status"], body["status"])})(patch)


for _point, _group, _words in (
    ("M67", "codes", {"AUTHORIZED": "AUTHORISED", "PARTIALLY_SETTLED": "PARTIAL"}),
    ("N091", "other codes", {"AUTHORIZED": "AUTHORIZATION", "EXCEPTION": "ANOMALY"}),
):

    def _call(patch: Patch, *, words: dict[str, str] = _words) -> None:
        for state, word in words.items():
            patch.row(_EVENTS, state, f"CARD_TRANSACTION.{word}")

    declare(
        _point,
        f"events-of-{_group.replace(' ', '-')}",
        "webhooks of cards are called otherwise",
        _call,
        _group,
    )


@variant("N040", "webhooks of cards tell the id of the transaction alone", "absent")
def lean_webhooks(patch: Patch) -> None:
    def wrapper(emit: Function) -> Function:
        def emitting(unit: Unit, event_type: str, data: Json) -> None:
            is_card = event_type.startswith("CARD_TRANSACTION.")
            emit(unit, event_type, {"id": data["id"]} if is_card else data)

        return emitting

    patch.wrap(f"{_REFERENCE}.unit:Unit.emit", wrapper)


@variant("M68", "an underfunded purchase is approved, and its clearing is an exception", "codes")
def underfunded_exception(patch: Patch) -> None:
    def approving(approve: Function) -> Function:
        def approved(unit: Unit, card: Card, amount: int, merchant: Json | None) -> Any:
            available, _ = ledger.balances(unit, [card.account_id])[card.account_id]
            if amount <= available:
                return approve(unit, card, amount, merchant)
            return card_transactions.record(
                unit, card, "PURCHASE", "AUTHORIZED", merchant, authorized=amount
            )

        return approved

    def obstructing(obstacle_of: Function) -> Function:
        def obstacle(*arguments: Any) -> str | None:
            found: str | None = obstacle_of(*arguments)
            return None if found == "UNDERFUNDED" else found

        return obstacle

    def clearing(clear: Function) -> Function:
        def cleared(unit: Unit, ask: Ask) -> Json:
            row = card_transactions.find(unit, ask.body["transactionId"])
            if row is None or row.held:
                return dict(clear(unit, ask))
            card_transactions.reach(unit, row, "EXCEPTION")
            return {"transactionId": row.id}

        return cleared

    patch.wrap(f"{_SIMULATORS}:approve", approving)
    patch.wrap(f"{_SIMULATORS}:obstacle_of", obstructing)
    patch.wrap(f"{_SIMULATORS}:clear", clearing)


@variant("M68", "an underfunded purchase is an exception from the start", "other codes")
def underfunded_at_once(patch: Patch) -> None:
    def wrapper(decline: Function) -> Function:
        def declined(
            unit: Unit, card: Card, amount: int, merchant: Json | None, reason: str
        ) -> Any:
            if reason != "INSUFFICIENT_FUNDS":
                return decline(unit, card, amount, merchant, reason)
            return card_transactions.record(
                unit, card, "PURCHASE", "EXCEPTION", merchant, authorized=amount
            )

        return declined

    patch.wrap(f"{_SIMULATORS}:decline", wrapper)


# --- Returns --------------------------------------------------------------------------------


@variant("N027", "a return of a purchase has a row of its own as well", "apart")
def returns_have_rows(patch: Patch) -> None:
    def wrapper(give_back: Function) -> Function:
        def returned(unit: Unit, ask: Ask) -> Json:
            body: Json = give_back(unit, ask)
            purchase = card_transactions.find(unit, ask.body["transactionId"])
            assert purchase is not None
            card_simulators.credit_row(unit, purchase, "SETTLED", int(ask.body["amount"]))
            return body

        return returned

    patch.wrap(f"{_SIMULATORS}:return_purchase", wrapper)


@variant("N027", "a return on its own is noted on its purchase as well", "other apart")
def refunds_are_noted(patch: Patch) -> None:
    def wrapper(credit: Function) -> Function:
        def credited(unit: Unit, purchase: CardTransaction, state: str, amount: int) -> Any:
            purchase.refunded += amount
            card_transactions.announce(unit, purchase)
            return credit(unit, purchase, state, amount)

        return credited

    patch.wrap(f"{_SIMULATORS}:credit_row", wrapper)


for _code, _group in (("INVALID_INPUT", "codes"), ("NOT_FOUND", "other codes")):

    def _refuse(patch: Patch, *, code: str = _code) -> None:
        def wrapper(purchase_of: Function) -> Function:
            def found(*arguments: Any) -> Any:
                try:
                    return purchase_of(*arguments)
                except errors.Refusal as refusal:
                    raise errors.Refusal(code, refusal.reason) from refusal

            return found

        patch.wrap(f"{_SIMULATORS}:returned_purchase", wrapper)

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
    def wrapper(obstacle_of: Function) -> Function:
        def obstacle(unit: Unit, card: Card, *more: Any) -> str | None:
            holder = unit.session.get_one(Customer, card.cardholder_id)
            if not customers.is_verified(holder):
                return "INACTIVE"
            found: str | None = obstacle_of(unit, card, *more)
            return found

        return obstacle

    patch.replace(f"{_CARDS}:refuse_unapproved", lambda _: None)
    patch.wrap(f"{_SIMULATORS}:obstacle_of", wrapper)


@variant("N021", "a card can be used a moment after it is issued", "slow")
def activated_later(patch: Patch) -> None:
    def wrapper(obstacle_of: Function) -> Function:
        def obstacle(unit: Unit, card: Card, *more: Any) -> str | None:
            if unit.now - card.created_at < _A_MOMENT * 1_000_000:
                return "INACTIVE"
            found: str | None = obstacle_of(unit, card, *more)
            return found

        return obstacle

    patch.wrap(f"{_SIMULATORS}:obstacle_of", wrapper)


declare(
    "N069",
    "card-is-taken",
    "a card is taken to be issued (202)",
    answering("issueCard", 202),
    "codes",
)
for _status, _group in ((200, "codes"), (204, "other codes")):
    declare(
        "N069",
        f"reversal-of-a-return-is-{_status}",
        f"the reversal of a return is answered with {_status}",
        answering("simulateReturnReversal", _status),
        _group,
    )


# --- Time and money -------------------------------------------------------------------------


@variant("timing", "what happens on a card happens a moment later", "slow")
def cards_later(patch: Patch) -> None:
    def wrapper(simulate: Function) -> Function:
        def taken(unit: Unit, ask: Ask) -> Json:
            unit.later(_A_MOMENT, lambda later_unit: simulate(later_unit, ask))
            return {}

        return taken

    for name in ("clear", "clear_partly", "misclear", "reverse", "lapse", "return_purchase"):
        patch.wrap(f"{_SIMULATORS}:{name}", wrapper)
    patch.wrap(f"{_SIMULATORS}:refund", wrapper)


@variant("timing", "card transactions are listed a moment later", "other apart")
def card_transactions_listed_later(patch: Patch) -> None:
    def wrapper(made_with_cards: Function) -> Function:
        def found(query: Json) -> Any:
            rows = made_with_cards(query)
            if rows is None:
                return None
            return rows.where(CardTransaction.created_at < clock() - _A_MOMENT * 1_000_000)

        return found

    patch.wrap(f"{_REFERENCE}.transactions:made_with_cards", wrapper)


@variant("N020", "an authorization holds nothing; the account pays when it is cleared", "apart")
def nothing_held_for_cards(patch: Patch) -> None:
    def wrapper(move: Function) -> Function:
        def moving(unit: Unit, row: CardTransaction, origin: str, target: str, amount: int) -> None:
            if {origin, target} != {"available", "held"}:
                move(unit, row, "available" if origin == "held" else origin, target, amount)

        return moving

    patch.wrap(f"{_ROWS}:move", wrapper)


@variant("N026", "card transactions are listed only where a card or their type is named", "absent")
def apart_from_payments(patch: Patch) -> None:
    def wrapper(made_with_cards: Function) -> Function:
        return lambda query: made_with_cards(query) if {"cardId", "type"} & set(query) else None

    patch.wrap(f"{_REFERENCE}.transactions:made_with_cards", wrapper)
