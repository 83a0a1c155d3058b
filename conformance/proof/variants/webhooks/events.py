"""Conforming variants of webhooks: order, repetition, content, and returned deposits."""

from __future__ import annotations

import itertools
import json
import threading
import time
from functools import partial
from typing import Any

from conformance.proof.kit.builders import Json, after, before, instead
from conformance.proof.patch import Function, Patch
from conformance.proof.variant import variant
from conformance.proof.variants.protocol.toolkit import A_MOMENT
from conformance.reference import rules
from conformance.reference.customers import customers
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import quotes
from conformance.reference.service import Service
from conformance.reference.store import Customer, InternalAccount, Quote, Transaction
from conformance.reference.transactions import deposit_returns, transactions
from conformance.reference.unit import Ask, Unit, clock, new_id, timestamp
from conformance.reference.webhooks import deliveries
from conformance.reference.webhooks.deliveries import Deliveries

_A_MOMENT = 0.03
_FAR_OFF = 3600.0
_MAX_ATTEMPTS = 100


# --- Content ----------------------------------------------------------------------------------


@variant(
    "N001",
    "webhooks about a review show the customer without its status",
    "apart",
    (Unit, "emit"),
)
def reviews_without_status(emit: Function, unit: Unit, kind: str, data: Json) -> None:
    hidden = ("kycStatus", "kybStatus") if kind.startswith("CUSTOMER.") else ()
    emit(unit, kind, {name: value for name, value in data.items() if name not in hidden})


# --- Order and repetition -------------------------------------------------------------------


@variant("N042", "of the webhooks of a moment the last comes first", "apart")
def the_last_first(patch: Patch) -> None:
    held: list[Json] = []

    def hand_on(put: Function, self: Deliveries) -> None:
        while held:
            put(self, held.pop())

    def holding(put: Function, self: Deliveries, event: Json) -> None:
        held.append(event)
        self._worker.after(_A_MOMENT, partial(hand_on, put, self))

    patch.wrap(Deliveries, "put", holding)


@variant("N316", "changes of a balance soon after one another are reported together", "json")
def changes_together(patch: Patch) -> None:
    last: dict[str, Json] = {}
    access = threading.Lock()

    def hand_on(put: Function, self: Deliveries, account_id: str) -> None:
        with access:
            event = last.pop(account_id)
        put(self, event)

    def holding(put: Function, self: Deliveries, event: Json) -> None:
        if event["type"] != "INTERNAL_ACCOUNT.BALANCE_UPDATED":
            put(self, event)
            return
        account_id = event["data"]["id"]
        with access:
            is_first = account_id not in last
            last[account_id] = event
        if is_first:
            self._worker.after(A_MOMENT, partial(hand_on, put, self, account_id))

    patch.wrap(Deliveries, "put", holding)


@variant(
    "N423",
    "each webhook breaks off half-way, and is sent again as a whole",
    "onboarding",
    (Deliveries, "_send"),
)
def broken_off(send: Function, self: Deliveries, endpoint: str, body: bytes) -> bool:
    send(self, endpoint, body[: len(body) // 2])
    delivered: bool = send(self, endpoint, body)
    return delivered


@variant("N042", "what is not acknowledged is not delivered again", "other apart")
def no_repetition(patch: Patch) -> None:
    patch.replace(deliveries, "is_acknowledged", lambda _status: True)
    patch.replace(deliveries, "retry_delay", lambda *_: _FAR_OFF)


@variant("N042", "what is not acknowledged is delivered again an hour later", "onboarding")
def late_repetition(patch: Patch) -> None:
    patch.replace(deliveries, "retry_delay", lambda *_: _FAR_OFF)


@variant("N042", "what is not acknowledged is delivered again three times", "other forms")
def few_repetitions(patch: Patch) -> None:
    most = 3

    def delivering(
        deliver: Function, self: Deliveries, endpoint: str, body: bytes, attempt: int
    ) -> None:
        if attempt <= most:
            deliver(self, endpoint, body, attempt)

    patch.wrap(Deliveries, "_deliver", delivering)


@variant("N042", "each delivery has an id of its own", "forms", (Deliveries, "_deliver"))
def id_of_each_delivery(
    deliver: Function, self: Deliveries, endpoint: str, body: bytes, attempt: int
) -> None:
    event = {**json.loads(body), "id": new_id("Webhook")} if attempt else None
    deliver(self, endpoint, json.dumps(event).encode() if event else body, attempt)


@variant(
    "N312",
    "no webhook is delivered before those before it are acknowledged",
    "further apart",
    (Deliveries, "_deliver"),
    instead,
)
def one_after_the_other(self: Deliveries, endpoint: str, body: bytes, _attempt: int) -> None:
    for _ in range(_MAX_ATTEMPTS):
        if self._send(endpoint, body):
            return
        # The pause of a sender between its attempts, which hold the others up.
        time.sleep(_A_MOMENT)


@variant("N313", "only 200 acknowledges a webhook", "codes")
def only_200(patch: Patch) -> None:
    ok = 200
    patch.replace(deliveries, "is_acknowledged", lambda status: status == ok)


# --- What webhooks show ---------------------------------------------------------------------


@variant(
    "N310", "the timestamp of a webhook is the time of its delivery", "codes", (Deliveries, "_send")
)
def time_of_delivery(send: Function, self: Deliveries, endpoint: str, body: bytes) -> Any:
    event = {**json.loads(body), "timestamp": timestamp(clock())}
    return send(self, endpoint, json.dumps(event).encode())


@variant("N311", "webhooks show their resources as they are on delivery", "forms")
def shown_on_delivery(patch: Patch) -> None:
    services: list[Service] = []

    def noting(answer: Function, self: Service, handler: Function, ask: Ask) -> Any:
        services[:] = [self]
        return answer(self, handler, ask)

    def render(put: Function, self: Deliveries, event: Json) -> None:
        data = event["data"]
        if services and isinstance(data, dict):
            with services[0].unit() as unit:
                data = _as_it_is(unit, data)
        put(self, {**event, "data": data})

    def later(put: Function, self: Deliveries, event: Json) -> None:
        self._worker.after(_A_MOMENT, partial(render, put, self, event))

    patch.wrap(Service, "answer", noting)
    patch.wrap(Deliveries, "put", later)


def _as_it_is(unit: Unit, data: Json) -> Json:
    """Return a transaction, customer or internal account as it is now, anything else as it was."""
    name = data["id"]
    if (transaction := unit.session.get(Transaction, name)) is not None:
        return transactions.view(transaction)
    if (customer := unit.session.get(Customer, name)) is not None:
        return customers.view(customer)
    if (account := unit.session.get(InternalAccount, name)) is not None:
        return accounts.view(unit, account)
    return data


# --- Returned deposits ----------------------------------------------------------------------


@variant(
    "N314",
    "webhooks of returned deposits show no refund and no direction",
    "absent",
    (transactions, "view"),
)
def lean_returns(view: Function, row: Transaction) -> Json:
    shown: Json = view(row)
    if row.quote_id is not None:
        return shown
    return {k: v for k, v in shown.items() if k not in ("refund", "direction")}


@variant(
    "N314",
    "the transaction of a returned deposit takes the states of its refund",
    "codes",
    (deposit_returns, "reach"),
    before,
)
def states_of_refunds(unit: Unit, row: Transaction, status: str) -> None:
    row.status = f"REFUND_{status}"


@variant("N315", "the transactions of deposits are not listed", "forms")
def unlisted_deposits(patch: Patch) -> None:
    patch.wrap(
        transactions,
        "filtered",
        lambda filtered, query: filtered(query).where(Transaction.quote_id.is_not(None)),
    )


@variant("N317", "a returned deposit is taken from the balance when its refund arrives", "slow")
def taken_on_arrival(patch: Patch) -> None:
    move = deposit_returns.move

    def late(finish: Function, unit: Unit, transaction_id: str, outcome: str) -> None:
        row = transactions.get(unit, transaction_id)
        account = accounts.get(unit, row.destination_account or "")
        move(unit, account, -row.receiving_amount)
        finish(unit, transaction_id, outcome)
        if outcome == "FAILED":
            move(unit, account, row.receiving_amount)

    patch.wrap(deposit_returns, "finish", late)
    patch.replace(deposit_returns, "move", lambda *_: None)


# --- Webhooks -------------------------------------------------------------------------------


@variant("N042", "every webhook is delivered twice", "codes", (Deliveries, "put"))
def delivered_twice(put: Function, self: Deliveries, event: Json) -> None:
    put(self, event)
    self._worker.after(A_MOMENT, partial(put, self, event))


@variant("N042", "the first attempt of every delivery is lost", "other codes")
def delivered_at_the_second_attempt(patch: Patch) -> None:
    tried: set[bytes] = set()

    def attempt(send: Function, self: Deliveries, endpoint: str, body: bytes) -> bool:
        if body in tried:
            return bool(send(self, endpoint, body))
        tried.add(body)
        return False

    patch.wrap(Deliveries, "_send", attempt)
    # Who does not try again delivers nothing then.
    patch.concern(deliveries, "retry_delay")


@variant("N042", "webhooks come late, and not in the order of their events", "slow")
def delivered_out_of_order(patch: Patch) -> None:
    delays = itertools.cycle((0.06, 0.0, 0.03))

    def later(put: Function, self: Deliveries, event: Json) -> None:
        self._worker.after(next(delays), partial(put, self, event))

    patch.wrap(Deliveries, "put", later)


@variant(
    "N092",
    "a deposit is also reported as an incoming payment",
    "forms",
    (accounts, "announce_balance"),
    after,
)
def incoming_payments(unit: Unit, account: InternalAccount) -> None:
    unit.emit("INCOMING_PAYMENT.COMPLETED", {"id": account.id, "status": "COMPLETED"})


def _pending_event(patch: Patch) -> None:
    patch.row(rules, "TRANSACTION_EVENTS", "PENDING", "OUTGOING_PAYMENT.PENDING")


@variant("M12", "a payout is reported as pending when its quote is created", "codes")
def pending_at_creation(patch: Patch) -> None:
    def announced(draft: Function, unit: Unit, order: quotes.Order) -> Quote:
        quote: Quote = draft(unit, order)
        row = transactions.get(unit, quote.transaction_id)
        transactions.announce(unit, row, "PENDING")
        return quote

    _pending_event(patch)
    patch.wrap(quotes, "draft", announced)


@variant("M12", "a payout is reported as pending when it is executed", "other codes")
def pending_at_execution(patch: Patch) -> None:
    def announced(perform: Function, unit: Unit, quote: Quote, action: rules.Action) -> None:
        row = transactions.get(unit, quote.transaction_id)
        transactions.announce(unit, row, "PENDING")
        perform(unit, quote, action)

    _pending_event(patch)
    patch.wrap(quotes, "perform", announced)
