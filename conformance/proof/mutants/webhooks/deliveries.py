"""Mutants of deliveries: repetition, signatures, and what does not wait for a webhook."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Handler, Json, around, instead
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.webhooks.toolkit import OUTGOING
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors
from conformance.reference.customers import onboarding
from conformance.reference.internal_accounts import ledger
from conformance.reference.quotes import quotes
from conformance.reference.service import Service
from conformance.reference.store import Customer
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Ask, Unit, new_id
from conformance.reference.webhooks import signing
from conformance.reference.webhooks.deliveries import Deliveries

# --- Delivered again ------------------------------------------------------------------------


def _again(change: Callable[[Json], Json]) -> Apply:
    """Return the patch that changes what is delivered again."""

    def delivering(
        deliver: Function, self: Deliveries, endpoint: str, body: bytes, attempt: int
    ) -> None:
        told = json.dumps(change(json.loads(body))).encode() if attempt else body
        deliver(self, endpoint, told, attempt)

    return around(Deliveries, "_deliver", delivering)


for _id, _statement, _change in (
    ("EVT-260", "a repetition has an id of its own", lambda e: {**e, "id": new_id("Webhook")}),
    ("EVT-261", "a repetition has an id of its own", lambda e: {**e, "id": new_id("Webhook")}),
    ("EVT-263", "a repetition says so in its type", lambda e: {**e, "type": f"{e['type']}.RETRY"}),
    (
        "EVT-264",
        "a repetition is about the webhook",
        lambda e: {**e, "data": {**e["data"], "id": "Transaction:1"}},
    ),
):
    declare(_id, "again", _statement, _again(_change))


def _numbered_by(number: Callable[[Json], str]) -> Apply:
    """Return the patch that numbers the webhooks about anything but payments."""

    def emit(original: Function, unit: Unit, event_type: str, data: Json) -> None:
        original(unit, event_type, data)
        if not event_type.startswith("OUTGOING_PAYMENT"):
            unit.events[-1]["id"] = f"Webhook:{number(data)}"

    return around(Unit, "emit", emit)


declare(
    "EVT-263",
    "by-resource",
    "all webhooks about a customer have one id",
    _numbered_by(lambda data: str(data["id"].partition(":")[2])),
)
declare(
    "EVT-264",
    "alike",
    "all webhooks that are not about a payment have one id",
    _numbered_by(lambda _: "1"),
)


@mutant("EVT-262", "what is acknowledged late is reported as something new")
def new_after_patience(patch: Patch) -> None:
    patience = 0.15

    def sending(send: Function, self: Deliveries, endpoint: str, body: bytes) -> bool:
        started = time.perf_counter()
        acknowledged: bool = send(self, endpoint, body)
        if time.perf_counter() - started > patience:
            send(self, endpoint, json.dumps(_anew(json.loads(body))).encode())
        return acknowledged

    patch.wrap(Deliveries, "_send", sending)


def _anew(event: Json) -> Json:
    return {**event, "id": new_id("Webhook")}


# --- What goes on ---------------------------------------------------------------------------


def _unacknowledged(patch: Patch) -> set[str]:
    """Keep the ids of the resources of webhooks that are not acknowledged yet."""
    known: set[str] = set()

    def noting(put_: Function, self: Deliveries, event: Json) -> None:
        known.add(event["data"]["id"])
        put_(self, event)

    def sending(send: Function, self: Deliveries, endpoint: str, body: bytes) -> bool:
        acknowledged: bool = send(self, endpoint, body)
        if acknowledged:
            known.discard(json.loads(body)["data"]["id"])
        return acknowledged

    patch.wrap(Deliveries, "put", noting)
    patch.wrap(Deliveries, "_send", sending)
    return known


def _waits_for_acknowledgement(patch: Patch) -> None:
    waiting = _unacknowledged(patch)

    def patient(settle: Function, unit: Unit, transaction_id: str, **more: Any) -> None:
        if transaction_id not in waiting:
            settle(unit, transaction_id, **more)

    patch.wrap(settlement, "settle", patient)


for _id in ("EVT-265", "EVT-266", "EVT-267"):
    declare(
        _id,
        "waits",
        "a payout waits until its webhooks are acknowledged",
        _waits_for_acknowledgement,
    )


@mutant("EVT-268", "what is not acknowledged is carried out again")
def debited_again(patch: Patch) -> None:
    services: list[Service] = []

    def noting(answer: Function, self: Service, handler: Handler, ask: Ask) -> Any:
        services[:] = [self]
        return answer(self, handler, ask)

    def delivering(
        deliver: Function, self: Deliveries, endpoint: str, body: bytes, attempt: int
    ) -> None:
        event = json.loads(body)
        if attempt == 1 and event["type"] == f"{OUTGOING}PROCESSING":
            with services[0].unit() as unit:
                _debit(unit, event["data"]["id"])
        deliver(self, endpoint, body, attempt)

    patch.wrap(Service, "answer", noting)
    patch.wrap(Deliveries, "_deliver", delivering)


def _debit(unit: Unit, transaction_id: str) -> None:
    row = transactions.get(unit, transaction_id)
    source, currency = ledger.available(row.source_account or ""), row.sending_currency
    fees = ledger.system("fees", currency)
    ledger.post(unit, [ledger.Leg(source, currency, -1), ledger.Leg(fees, currency, 1)])


@mutant("EVT-269", "nothing is taken while webhooks are not acknowledged")
def refuses_meanwhile(patch: Patch) -> None:
    refused: set[str] = set()

    def sending(send: Function, self: Deliveries, endpoint: str, body: bytes) -> bool:
        acknowledged: bool = send(self, endpoint, body)
        change = refused.discard if acknowledged else refused.add
        change(json.loads(body)["id"])
        return acknowledged

    def hesitant(create: Handler, unit: Unit, ask: Ask) -> Any:
        if refused:
            raise errors.Refusal("CONFLICT", "Acknowledge the webhooks first.")
        return create(unit, ask)

    patch.wrap(Deliveries, "_send", sending)
    patch.wrap(quotes, "create", hesitant)


@mutant("EVT-270", "a review waits until its webhooks are acknowledged")
def review_waits(patch: Patch) -> None:
    waiting = _unacknowledged(patch)

    def patient(decide: Function, unit: Unit, customer: Customer, decision: str) -> None:
        if customer.id not in waiting:
            decide(unit, customer, decision)

    patch.wrap(onboarding, "decide", patient)


# --- Signatures -----------------------------------------------------------------------------


_SIGNATURES: tuple[tuple[str, str, str, Callable[[bytes], Json]], ...] = (
    ("EVT-250", "missing", "webhooks are not signed", lambda _: {}),
    (
        "EVT-250",
        "renamed",
        "the signature stands in another header",
        lambda body: {"X-Signature": signing.sign(body)},
    ),
    (
        "EVT-251",
        "spaces",
        "the signature is of the body as it is printed elsewhere",
        lambda body: {
            signing.HEADER: signing.sign(json.dumps(json.loads(body), indent=1).encode())
        },
    ),
    (
        "EVT-251",
        "data",
        "the signature is of the data alone",
        lambda body: {signing.HEADER: signing.sign(json.dumps(json.loads(body)["data"]).encode())},
    ),
    (
        "EVT-251",
        "hex",
        "the signature is spelled otherwise",
        lambda body: {signing.HEADER: signing.sign(body).encode().hex()},
    ),
    ("EVT-251", "constant", "the signature is always the same", lambda _: {signing.HEADER: "MEUC"}),
)

for _id, _name, _statement, _headers in _SIGNATURES:
    declare(_id, _name, _statement, instead(signing, "headers", _headers))


@mutant("EVT-251", "webhooks are signed with another key")
def another_key(patch: Patch) -> None:
    patch.replace(signing, "SANDBOX_KEY", signing.SANDBOX_KEY + 1)
    patch.replace(signing, "private_key", signing.private_key.__wrapped__)
