"""Mutants of webhooks: reported twice or in vain, shown otherwise, delivered again, signed."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from copy import deepcopy
from functools import partial
from typing import Any

from conformance.mutants.fields import Edit, edited, put, taken
from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import (
    accounts,
    app,
    deposit_returns,
    errors,
    externals,
    ledger,
    quotes,
    rules,
    settlement,
    signing,
    transactions,
)
from conformance.reference.deliveries import Deliveries
from conformance.reference.service import Service
from conformance.reference.store import Customer, Quote, Transaction
from conformance.reference.unit import Ask, Unit, new_id, timestamp

Json = dict[str, Any]
Function = Callable[..., Any]
Handler = Callable[[Unit, Ask], Any]

_REFERENCE = "conformance.reference"
_EMIT = f"{_REFERENCE}.unit:Unit.emit"
_DELIVER = f"{_REFERENCE}.deliveries:Deliveries._deliver"
_SEND = f"{_REFERENCE}.deliveries:Deliveries._send"
_PUT = f"{_REFERENCE}.deliveries:Deliveries.put"
_READ = f"{_REFERENCE}.transactions:view_of"
_SIGNED = f"{_REFERENCE}.signing:headers"
_OUTGOING = "OUTGOING_PAYMENT."
_REFUND = "INCOMING_PAYMENT.REFUND_"
_PAST = "2019-03-05T10:20:30Z"


# --- Once -----------------------------------------------------------------------------------


def _emitting(emitted: Callable[[Function, Unit, str, Json], None]) -> Callable[[Patch], None]:
    """Return the patch by which ``emitted`` decides what is emitted."""

    def wrapping(emit: Function) -> Function:
        return lambda unit, event_type, data: emitted(emit, unit, event_type, data)

    return lambda patch: patch.wrap(_EMIT, wrapping)


def _twice(kind: str) -> Callable[[Patch], None]:
    """Return the patch that reports what happens once under two ids."""

    def emitted(emit: Function, unit: Unit, event_type: str, data: Json) -> None:
        emit(unit, event_type, data)
        if event_type == kind:
            emit(unit, event_type, data)

    return _emitting(emitted)


_SINGLE = {
    "EVT-192": f"{_OUTGOING}FAILED",
    "EVT-193": f"{_OUTGOING}REFUND_PENDING",
    "EVT-194": f"{_OUTGOING}REFUND_COMPLETED",
    "EVT-195": f"{_OUTGOING}REFUND_FAILED",
    "EVT-196": "CUSTOMER.KYC_REJECTED",
    "EVT-197": "CUSTOMER.KYB_REJECTED",
    **dict.fromkeys((f"EVT-{number}" for number in range(198, 203)), externals.STATUS_EVENT),
    "EVT-203": rules.BALANCE_EVENT,
    "EVT-204": "CARD_TRANSACTION.SETTLED",
    "EVT-205": "CARD_TRANSACTION.DECLINED",
    "EVT-206": "CARD_TRANSACTION.VOIDED",
    "EVT-207": "CARD_TRANSACTION.SETTLED",
    "EVT-287": f"{_REFUND}PENDING",
    "EVT-288": f"{_REFUND}COMPLETED",
    "EVT-289": f"{_REFUND}FAILED",
}

for _id, _kind in _SINGLE.items():
    declare(_id, "twice", f"{_kind} is reported under two ids", _twice(_kind))


@mutant("EVT-208", "that a quote waits is reported when it is made and when it is executed")
def waits_twice(patch: Patch) -> None:
    patch.row(f"{_REFERENCE}.rules:TRANSACTION_EVENTS", "PENDING", f"{_OUTGOING}PENDING")

    def performing(perform: Function) -> Function:
        def reporting(unit: Unit, quote: Quote, action: rules.Action) -> None:
            for _ in range(2):
                transactions.announce(unit, _of(unit, quote), "PENDING")
            perform(unit, quote, action)

        return reporting

    patch.wrap(f"{_REFERENCE}.quotes:perform", performing)


# --- In vain --------------------------------------------------------------------------------


def _though_refused(place: str, report: Callable[[Unit, Ask], None]) -> Callable[[Patch], None]:
    """Return the patch that reports what was asked for and refused."""

    def wrapping(handler: Handler) -> Handler:
        def handling(unit: Unit, ask: Ask) -> Any:
            try:
                return handler(unit, ask)
            except errors.Refusal as refusal:
                report(unit, ask)
                raise errors.Rejection(refusal.code, refusal.reason, refusal.details) from refusal

        return handling

    return lambda patch: patch.wrap(f"{_REFERENCE}.{place}", wrapping)


def _payment(happening: str) -> Callable[[Unit, Ask], None]:
    def report(unit: Unit, ask: Ask) -> None:
        quote = quotes.get(unit, ask.params["quoteId"])
        unit.emit(f"{_OUTGOING}{happening}", transactions.view(_of(unit, quote)))

    return report


def _new_payment(unit: Unit, ask: Ask) -> None:
    source = ask.body.get("source")
    data = {"id": new_id("Transaction"), "status": "FAILED", "type": "OUTGOING", "source": source}
    unit.emit(f"{_OUTGOING}FAILED", {**data, "createdAt": timestamp(unit.now)})


def _account(unit: Unit, ask: Ask) -> None:
    externals.announce(unit, externals.get(unit, ask.params["externalAccountId"]))


def _review(unit: Unit, ask: Ask) -> None:
    customer = unit.session.get_one(Customer, ask.params["customerId"])
    unit.emit("CUSTOMER.KYC_PENDING", {"id": customer.id, "kycStatus": "PENDING"})


def _balance(unit: Unit, ask: Ask) -> None:
    accounts.announce_balance(unit, accounts.get(unit, ask.params["accountId"]))


_IN_VAIN: tuple[tuple[str, str, str, Callable[[Unit, Ask], None]], ...] = (
    ("EVT-209", "a refused quote", "quotes:create", _new_payment),
    ("EVT-211", "a refused execution", "quotes:execute", _payment("PROCESSING")),
    ("EVT-212", "a refused authorization", "quotes:authorize", _payment("PROCESSING")),
    ("EVT-213", "a second execution", "quotes:execute", _payment("COMPLETED")),
    ("EVT-214", "a refused deletion", "externals:remove", _account),
    ("EVT-215", "a refused update", "onboarding:update", _review),
    ("EVT-216", "a refused deposit", "rule_based:fund", _balance),
)

for _id, _what, _place, _report in _IN_VAIN:
    declare(_id, "reported", f"{_what} is reported", _though_refused(_place, _report))


@mutant("EVT-210", "requests are carried out before their credentials are looked at")
def carried_out_before_authentication(patch: Patch) -> None:
    def calling(call: Function) -> Function:
        async def first(self: app.BasicAuth, scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http" and not self._is_allowed(scope):
                await self._app(scope, receive, _nowhere)
            await call(self, scope, receive, send)

        return first

    patch.wrap(f"{_REFERENCE}.app:BasicAuth.__call__", calling)


async def _nowhere(_message: Any) -> None:
    """Drop a part of an answer."""


# --- Shown otherwise ------------------------------------------------------------------------


def _showing(kind: str, edit: Edit) -> Callable[[Patch], None]:
    """Return the patch that changes the data of all events whose type begins with ``kind``."""

    def emitted(emit: Function, unit: Unit, event_type: str, data: Json) -> None:
        changed = edit(deepcopy(data)) if event_type.startswith(kind) else data
        emit(unit, event_type, changed)

    return _emitting(emitted)


_SHOWN: tuple[tuple[str, str, str, Any], ...] = (
    ("EVT-220", f"{_OUTGOING}COMPLETED", "type", "PAYOUT"),
    ("EVT-221", f"{_OUTGOING}COMPLETED", "direction", "CREDIT"),
    ("EVT-222", f"{_OUTGOING}COMPLETED", "sentAmount.amount", 1),
    ("EVT-223", f"{_OUTGOING}COMPLETED", "receivedAmount.amount", 1),
    ("EVT-224", f"{_OUTGOING}COMPLETED", "exchangeRate", 1.5),
    ("EVT-225", f"{_OUTGOING}COMPLETED", "createdAt", _PAST),
    ("EVT-226", f"{_OUTGOING}COMPLETED", "description", "A payment"),
    ("EVT-227", f"{_OUTGOING}COMPLETED", "quoteId", "Quote:1"),
    ("EVT-228", f"{_OUTGOING}COMPLETED", "settledAt", _PAST),
    ("EVT-229", f"{_OUTGOING}COMPLETED", "platformFees.amount", 1),
    ("EVT-230", f"{_OUTGOING}FAILED", "failureReason", "FAILED"),
    ("EVT-231", f"{_OUTGOING}REFUND_COMPLETED", "refund.reference", "Refund:1"),
    ("EVT-238", f"{_OUTGOING}PROCESSING", "status", "PENDING"),
    ("EVT-239", f"{_OUTGOING}REFUND_PENDING", "status", "PROCESSING"),
    ("EVT-240", f"{_OUTGOING}REFUND_COMPLETED", "status", "COMPLETED"),
    ("EVT-241", f"{_OUTGOING}REFUND_FAILED", "status", "COMPLETED"),
    ("EVT-242", rules.BALANCE_EVENT, "balance.amount", 41_337),
    ("EVT-243", rules.BALANCE_EVENT, "status", "PENDING"),
    ("EVT-244", rules.BALANCE_EVENT, "createdAt", _PAST),
    ("EVT-306", "CUSTOMER.KYC", "platformCustomerId", "1"),
    ("EVT-307", "CUSTOMER.KYC", "region", "FR"),
    ("EVT-308", "CUSTOMER.KYC", "fullName", "Ada Other"),
    ("EVT-309", "CUSTOMER.KYC", "birthDate", "1901-01-01"),
    ("EVT-310", "CUSTOMER.KYC", "nationality", "FR"),
    ("EVT-311", "CUSTOMER.KYC", "currencies", ["XTS"]),
    ("EVT-312", "CUSTOMER.KYC", "address.city", "Elsewhere"),
    ("EVT-313", "CUSTOMER.KYB", "platformCustomerId", "1"),
    ("EVT-314", "CUSTOMER.KYB", "region", "FR"),
    ("EVT-315", "CUSTOMER.KYB", "currencies", ["XTS"]),
    ("EVT-316", "CUSTOMER.KYB", "businessInfo.legalName", "Other Ltd"),
    ("EVT-317", "CUSTOMER.KYB", "businessInfo.country", "FR"),
    ("EVT-318", "CUSTOMER.KYB", "businessInfo.incorporatedOn", "1901-01-01"),
    ("EVT-319", "CUSTOMER.KYB", "businessInfo.registrationNumber", "1"),
    ("EVT-284", f"{_REFUND}COMPLETED", "id", None),
    ("EVT-293", _REFUND, "id", None),
)
"""Requirement, event, and the member of its data that is shown as something else."""


def _renamed(data: Json) -> Json:
    return {**data, "id": "Transaction:1", "deposit": data["id"]}


for _id, _kind, _path, _value in _SHOWN:
    _edit = put(_path, _value) if _path != "id" else _renamed
    declare(_id, "other", f"{_kind} shows another {_path}", _showing(_kind, _edit))

for _id, _name, _change in (
    ("EVT-283", "nested", lambda data: {"transaction": data}),
    ("EVT-283", "reduced", lambda data: {"id": data["id"]}),
):
    declare(_id, _name, "a returned deposit is no transaction", _showing(_REFUND, _change))


def _stale(condition: Callable[[Json], bool], edit: Edit) -> Callable[[Patch], None]:
    """Return the patch that lists transactions otherwise than they are reported."""
    return edited(_READ, lambda row: edit(row) if condition(row) else row)


def _is_at(status: str) -> Callable[[Json], bool]:
    return lambda row: row["status"] == status


def _is_refunded(row: Json) -> bool:
    return "refund" in row


_READINGS: tuple[tuple[str, Callable[[Json], bool], Edit], ...] = (
    ("EVT-232", _is_at("COMPLETED"), put("status", "PROCESSING")),
    ("EVT-233", _is_at("PROCESSING"), put("status", "PENDING")),
    ("EVT-234", _is_at("FAILED"), put("status", "PROCESSING")),
    ("EVT-235", _is_refunded, taken("refund")),
    ("EVT-236", _is_refunded, put("refund.status", "PENDING")),
)

for _id, _condition, _edit in _READINGS:
    declare(_id, "stale", "a reading lags behind for ever", _stale(_condition, _edit))

for _id, _member, _now, _before in (
    ("EVT-300", "kycStatus", "APPROVED", "PENDING"),
    ("EVT-301", "kybStatus", "APPROVED", "PENDING"),
    ("EVT-302", "kycStatus", "REJECTED", "PENDING"),
    ("EVT-303", "kybStatus", "REJECTED", "PENDING"),
    ("EVT-304", "kycStatus", "", "UNVERIFIED"),
    ("EVT-305", "kybStatus", "", "UNVERIFIED"),
):

    def _lag(member: str, now: str, before: str, row: Json) -> Json:
        late = member in row and now in ("", row[member])
        return {**row, member: before} if late else row

    _reading = edited(f"{_REFERENCE}.onboarding:read", partial(_lag, _member, _now, _before))
    declare(_id, "stale", "a reading of a customer lags behind for ever", _reading)


# --- Delivered again ------------------------------------------------------------------------


def _again(change: Callable[[Json], Json]) -> Callable[[Patch], None]:
    """Return the patch that changes what is delivered again."""

    def wrapping(deliver: Function) -> Function:
        def delivering(self: Deliveries, endpoint: str, body: bytes, attempt: int) -> None:
            told = json.dumps(change(json.loads(body))).encode() if attempt else body
            deliver(self, endpoint, told, attempt)

        return delivering

    return lambda patch: patch.wrap(_DELIVER, wrapping)


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


@mutant("EVT-262", "what is acknowledged late is reported as something new")
def new_after_patience(patch: Patch) -> None:
    patience = 0.15

    def wrapping(send: Function) -> Function:
        def sending(self: Deliveries, endpoint: str, body: bytes) -> bool:
            started = time.perf_counter()
            acknowledged: bool = send(self, endpoint, body)
            if time.perf_counter() - started > patience:
                send(self, endpoint, json.dumps(_anew(json.loads(body))).encode())
            return acknowledged

        return sending

    patch.wrap(_SEND, wrapping)


def _anew(event: Json) -> Json:
    return {**event, "id": new_id("Webhook")}


# --- What goes on ---------------------------------------------------------------------------


def _unacknowledged(patch: Patch) -> set[str]:
    """Keep the ids of the resources of webhooks that are not acknowledged yet."""
    known: set[str] = set()

    def putting(put_: Function) -> Function:
        def noting(self: Deliveries, event: Json) -> None:
            known.add(event["data"]["id"])
            put_(self, event)

        return noting

    def wrapping(send: Function) -> Function:
        def sending(self: Deliveries, endpoint: str, body: bytes) -> bool:
            acknowledged: bool = send(self, endpoint, body)
            if acknowledged:
                known.discard(json.loads(body)["data"]["id"])
            return acknowledged

        return sending

    patch.wrap(_PUT, putting)
    patch.wrap(_SEND, wrapping)
    return known


def _waits_for_acknowledgement(patch: Patch) -> None:
    waiting = _unacknowledged(patch)

    def settling(settle: Function) -> Function:
        def patient(unit: Unit, transaction_id: str, **more: Any) -> None:
            if transaction_id not in waiting:
                settle(unit, transaction_id, **more)

        return patient

    patch.wrap(f"{_REFERENCE}.settlement:settle", settling)


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

    def answering(answer: Function) -> Function:
        def noting(self: Service, handler: Handler, ask: Ask) -> Any:
            services[:] = [self]
            return answer(self, handler, ask)

        return noting

    def wrapping(deliver: Function) -> Function:
        def delivering(self: Deliveries, endpoint: str, body: bytes, attempt: int) -> None:
            event = json.loads(body)
            if attempt == 1 and event["type"] == f"{_OUTGOING}PROCESSING":
                with services[0].unit() as unit:
                    _debit(unit, event["data"]["id"])
            deliver(self, endpoint, body, attempt)

        return delivering

    patch.wrap(f"{_REFERENCE}.service:Service.answer", answering)
    patch.wrap(_DELIVER, wrapping)


def _debit(unit: Unit, transaction_id: str) -> None:
    row = transactions.get(unit, transaction_id)
    source, currency = ledger.available(row.source_account or ""), row.sending_currency
    fees = ledger.system("fees", currency)
    ledger.post(unit, [ledger.Leg(source, currency, -1), ledger.Leg(fees, currency, 1)])


@mutant("EVT-269", "nothing is taken while webhooks are not acknowledged")
def refuses_meanwhile(patch: Patch) -> None:
    refused: set[str] = set()

    def wrapping(send: Function) -> Function:
        def sending(self: Deliveries, endpoint: str, body: bytes) -> bool:
            acknowledged: bool = send(self, endpoint, body)
            change = refused.discard if acknowledged else refused.add
            change(json.loads(body)["id"])
            return acknowledged

        return sending

    def creating(create: Handler) -> Handler:
        def hesitant(unit: Unit, ask: Ask) -> Any:
            if refused:
                raise errors.Refusal("CONFLICT", "Acknowledge the webhooks first.")
            return create(unit, ask)

        return hesitant

    patch.wrap(_SEND, wrapping)
    patch.wrap(f"{_REFERENCE}.quotes:create", creating)


@mutant("EVT-270", "a review waits until its webhooks are acknowledged")
def review_waits(patch: Patch) -> None:
    waiting = _unacknowledged(patch)

    def deciding(decide: Function) -> Function:
        def patient(unit: Unit, customer: Customer, decision: str) -> None:
            if customer.id not in waiting:
                decide(unit, customer, decision)

        return patient

    patch.wrap(f"{_REFERENCE}.onboarding:decide", deciding)


# --- Signatures -----------------------------------------------------------------------------


def _signing(headers: Callable[[bytes], Json]) -> Callable[[Patch], None]:
    return lambda patch: patch.replace(_SIGNED, headers)


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
    declare(_id, _name, _statement, _signing(_headers))


@mutant("EVT-251", "webhooks are signed with another key")
def another_key(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.signing:SANDBOX_KEY", signing.SANDBOX_KEY + 1)
    patch.replace(f"{_REFERENCE}.signing:private_key", signing.private_key.__wrapped__)


# --- Returned deposits ----------------------------------------------------------------------


def _silent(status: str) -> Callable[[Patch], None]:
    def announcing(announce: Function) -> Function:
        def silent(unit: Unit, row: Transaction, happening: str) -> None:
            if happening != status:
                announce(unit, row, happening)

        return silent

    return lambda patch: patch.wrap(f"{_REFERENCE}.deposit_returns:announce", announcing)


def _also(status: str, other: str) -> Callable[[Patch], None]:
    """Return the patch that reports another status too when a refund comes to one."""

    def announcing(announce: Function) -> Function:
        def talkative(unit: Unit, row: Transaction, happening: str) -> None:
            announce(unit, row, happening)
            if happening == status:
                unit.emit(other, transactions.view(row))

        return talkative

    return lambda patch: patch.wrap(f"{_REFERENCE}.deposit_returns:announce", announcing)


def _as_of_a_payout(status: str) -> Callable[[Patch], None]:
    kind = f"{_OUTGOING}REFUND_{status}"
    return lambda patch: patch.row(f"{_REFERENCE}.deposit_returns:EVENTS", status, kind)


for _id, _status in {"EVT-280": "PENDING", "EVT-281": "COMPLETED", "EVT-282": "FAILED"}.items():
    declare(_id, "silent", f"a refund that is {_status} is not reported", _silent(_status))
    declare(
        _id,
        "outgoing",
        f"a refund that is {_status} is reported as that of a payout",
        _as_of_a_payout(_status),
    )

for _id, _status, _other in (
    ("EVT-285", "COMPLETED", f"{_REFUND}FAILED"),
    ("EVT-286", "FAILED", f"{_REFUND}COMPLETED"),
    ("EVT-291", "COMPLETED", f"{_OUTGOING}REFUND_COMPLETED"),
):
    declare(_id, "also", f"it is reported as {_other} too", _also(_status, _other))


@mutant("EVT-290", "every deposit is reported as if it went back")
def all_go_back(patch: Patch) -> None:
    def funding(fund: Handler) -> Handler:
        def reporting(unit: Unit, ask: Ask) -> Any:
            answer = fund(unit, ask)
            account = accounts.get(unit, ask.params["accountId"])
            row = deposit_returns.record(unit, account, int(ask.body["amount"]))
            settlement.set_refund(row, "PENDING", new_id("Refund"))
            unit.emit(f"{_REFUND}PENDING", transactions.view(row))
            return answer

        return reporting

    patch.wrap(f"{_REFERENCE}.rule_based:fund", funding)


@mutant("EVT-292", "the balance after a returned deposit is not reported")
def silent_balance(patch: Patch) -> None:
    def moving(move: Function) -> Function:
        def silent(unit: Unit, account: Any, amount: int) -> None:
            move(unit, account, amount)
            unit.events[:] = [e for e in unit.events if e["type"] != rules.BALANCE_EVENT]

        return silent

    patch.wrap(f"{_REFERENCE}.deposit_returns:move", moving)


def _of(unit: Unit, quote: Quote) -> Transaction:
    return transactions.get(unit, quote.transaction_id)


# --- Failures -------------------------------------------------------------------------------


def _unreported_for(reason: str) -> Callable[[Patch], None]:
    """Return the patch that does not report what fails for a reason."""

    def announcing(announce: Function) -> Function:
        def silent(unit: Unit, row: Transaction, happening: str) -> None:
            if happening != "FAILED" or row.failure_reason != reason:
                announce(unit, row, happening)

        return silent

    return lambda patch: patch.wrap(f"{_REFERENCE}.transactions:announce", announcing)


for _id, _reason in {
    "EVT-330": "PAYOUT_RETURNED",
    "EVT-331": "LIMIT_EXCEEDED",
    "EVT-332": "ACCOUNT_CANNOT_RECEIVE",
    "EVT-333": "ACCOUNT_INVALID",
    "EVT-334": rules.SCA_FAILURE_REASON,
}.items():
    declare(_id, "silent", f"{_reason} is not reported", _unreported_for(_reason))
