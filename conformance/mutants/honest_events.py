"""Honest variants of webhooks: their order, their repetition, what they show, and returns."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.mutants.mutant import Patch
from conformance.mutants.variant import variant
from conformance.reference import accounts, customers, deposit_returns, transactions
from conformance.reference.deliveries import Deliveries
from conformance.reference.service import Service
from conformance.reference.store import Customer, Transaction
from conformance.reference.unit import Ask, Unit, clock, timestamp

Json = dict[str, Any]
Function = Callable[..., Any]

_REFERENCE = "conformance.reference"
_DELIVERIES = f"{_REFERENCE}.deliveries"
_RETURNS = f"{_REFERENCE}.deposit_returns"

_A_MOMENT = 0.03
_FAR_OFF = 3600.0
_MOST_ATTEMPTS = 100


# --- Order and repetition -------------------------------------------------------------------


@variant("N042", "of the webhooks of a moment the last comes first", "apart")
def the_last_first(patch: Patch) -> None:
    held: list[Json] = []

    def putting(put: Function) -> Function:
        def holding(self: Deliveries, event: Json) -> None:
            held.append(event)
            self._worker.after(_A_MOMENT, partial(hand_on, self))

        def hand_on(self: Deliveries) -> None:
            while held:
                put(self, held.pop())

        return holding

    patch.wrap(f"{_DELIVERIES}:Deliveries.put", putting)


@variant("N042", "what is not acknowledged is not delivered again", "other apart")
def no_repetition(patch: Patch) -> None:
    patch.replace(f"{_DELIVERIES}:is_acknowledged", lambda _status: True)
    patch.replace(f"{_DELIVERIES}:retry_delay", lambda *_: _FAR_OFF)


@variant("N042", "what is not acknowledged is delivered again an hour later", "onboarding")
def late_repetition(patch: Patch) -> None:
    patch.replace(f"{_DELIVERIES}:retry_delay", lambda *_: _FAR_OFF)


@variant("N042", "what is not acknowledged is delivered again three times", "other forms")
def few_repetitions(patch: Patch) -> None:
    most = 3

    def wrapping(deliver: Function) -> Function:
        def delivering(self: Deliveries, endpoint: str, body: bytes, attempt: int) -> None:
            if attempt <= most:
                deliver(self, endpoint, body, attempt)

        return delivering

    patch.wrap(f"{_DELIVERIES}:Deliveries._deliver", wrapping)


@variant("N312", "no webhook is delivered before those before it are acknowledged", "further apart")
def one_after_the_other(patch: Patch) -> None:
    def delivering(self: Deliveries, endpoint: str, body: bytes, _attempt: int) -> None:
        for _ in range(_MOST_ATTEMPTS):
            if self._send(endpoint, body):
                return
            # The pause of a sender between its attempts, which hold the others up.
            time.sleep(_A_MOMENT)

    patch.replace(f"{_DELIVERIES}:Deliveries._deliver", delivering)


@variant("N313", "only 200 acknowledges a webhook", "codes")
def only_200(patch: Patch) -> None:
    ok = 200
    patch.replace(f"{_DELIVERIES}:is_acknowledged", lambda status: status == ok)


# --- What webhooks show ---------------------------------------------------------------------


@variant("N310", "the timestamp of a webhook is the time of its delivery", "codes")
def time_of_delivery(patch: Patch) -> None:
    def wrapping(send: Function) -> Function:
        def sending(self: Deliveries, endpoint: str, body: bytes) -> Any:
            event = {**json.loads(body), "timestamp": timestamp(clock())}
            return send(self, endpoint, json.dumps(event).encode())

        return sending

    patch.wrap(f"{_DELIVERIES}:Deliveries._send", wrapping)


@variant("N311", "webhooks show transactions and customers as they are on delivery", "forms")
def shown_on_delivery(patch: Patch) -> None:
    services: list[Service] = []

    def answering(answer: Function) -> Function:
        def noting(self: Service, handler: Function, ask: Ask) -> Any:
            services[:] = [self]
            return answer(self, handler, ask)

        return noting

    def putting(put: Function) -> Function:
        def later(self: Deliveries, event: Json) -> None:
            self._worker.after(_A_MOMENT, partial(render, self, event))

        def render(self: Deliveries, event: Json) -> None:
            data = event["data"]
            if services and isinstance(data, dict):
                with services[0].unit() as unit:
                    data = _as_it_is(unit, data)
            put(self, {**event, "data": data})

        return later

    patch.wrap(f"{_REFERENCE}.service:Service.answer", answering)
    patch.wrap(f"{_DELIVERIES}:Deliveries.put", putting)


def _as_it_is(unit: Unit, data: Json) -> Json:
    """Return a transaction or a customer as it is now, and anything else as it was."""
    name = data["id"]
    row = unit.session.get(Transaction, name) or unit.session.get(Customer, name)
    if isinstance(row, Transaction):
        return transactions.view(row)
    return data if row is None else customers.view(row)


# --- Returned deposits ----------------------------------------------------------------------


@variant("N314", "webhooks of returned deposits show no refund and no direction", "absent")
def lean_returns(patch: Patch) -> None:
    def viewing(view: Function) -> Function:
        def lean(row: Transaction) -> Json:
            shown: Json = view(row)
            if row.quote_id is not None:
                return shown
            return {k: v for k, v in shown.items() if k not in ("refund", "direction")}

        return lean

    patch.wrap(f"{_REFERENCE}.transactions:view", viewing)


@variant("N314", "the transaction of a returned deposit takes the states of its refund", "codes")
def states_of_refunds(patch: Patch) -> None:
    def reaching(reach: Function) -> Function:
        def moving(unit: Unit, row: Transaction, status: str) -> None:
            row.status = f"REFUND_{status}"
            reach(unit, row, status)

        return moving

    patch.wrap(f"{_RETURNS}:reach", reaching)


@variant("N315", "the transactions of deposits are not listed", "forms")
def unlisted_deposits(patch: Patch) -> None:
    def filtering(filtered: Function) -> Function:
        return lambda query: filtered(query).where(Transaction.quote_id.is_not(None))

    patch.wrap(f"{_REFERENCE}.transactions:filtered", filtering)


@variant("N317", "a returned deposit is taken from the balance when its refund arrives", "slow")
def taken_on_arrival(patch: Patch) -> None:
    move = deposit_returns.move

    def finishing(finish: Function) -> Function:
        def late(unit: Unit, transaction_id: str, outcome: str) -> None:
            row = transactions.get(unit, transaction_id)
            account = accounts.get(unit, row.destination_account or "")
            move(unit, account, -row.receiving_amount)
            finish(unit, transaction_id, outcome)
            if outcome == "FAILED":
                move(unit, account, row.receiving_amount)

        return late

    patch.wrap(f"{_RETURNS}:finish", finishing)
    patch.replace(f"{_RETURNS}:move", lambda *_: None)
