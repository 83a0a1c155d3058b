"""Mutants that treat one kind of payment, one cause of a failure or one approval differently."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import after, around, before, edited, instead, skipped, together
from conformance.proof.kit.edits import copied, put, shows, turned, where, without
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.quotes.toolkit import (
    after_refusal,
    others_of,
    second_never_expires,
    take,
    transaction_of,
    unpulled_at_once,
)
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import control, rules
from conformance.reference.authentication import sca
from conformance.reference.customers import customers
from conformance.reference.external_accounts import externals
from conformance.reference.internal_accounts import accounts, ledger
from conformance.reference.quotes import parties, quotes
from conformance.reference.store import Customer, Json, Quote, Transaction
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Ask, Unit

_A_MINUTE = 60_000_000
"""In microseconds."""


def is_immediate(row: Transaction) -> bool:
    """Return whether one request created and executed a payment."""
    return row.executed_at == row.created_at


# --- One cause of a failure -----------------------------------------------------------------


def _after_refund(change: Callable[[Unit, Quote, Transaction], None]) -> Apply:
    """Return a patch by which something follows when a refund has come to its end."""

    def follow(unit: Unit, transaction_id: str) -> None:
        change(unit, *transactions.locked(unit, transaction_id))

    return after(settlement, "refund", follow)


def _cleared(_unit: Unit, _quote: Quote, transaction: Transaction) -> None:
    transaction.failure_reason = None


for _id in ("TRX-016", "TRX-041"):
    declare(
        _id,
        "cleared-by-refund",
        "a refund takes the failureReason away",
        _after_refund(_cleared),
    )


@mutant(
    "TRX-050", "a payout over the receiver's limit is not refunded", (settlement, "fail"), after
)
def limited_kept(_unit: Unit, _quote: Quote, transaction: Transaction, _result: Any) -> None:
    if transaction.failure_reason == "LIMIT_EXCEEDED":
        transaction.refund = None


@mutant("TRX-051", "what a blocked account was to get does not come back", how=_after_refund)
def blocked_lost(unit: Unit, quote: Quote, transaction: Transaction) -> None:
    if transaction.failure_reason == "ACCOUNT_CANNOT_RECEIVE":
        take(unit, quote.source["accountId"], quote.sending_amount)


@mutant("TRX-051", "what a crypto wallet was to get does not come back", how=_after_refund)
def coins_lost(unit: Unit, quote: Quote, _transaction: Transaction) -> None:
    account = externals.find(unit, str(quote.destination.get("accountId")))
    if account is not None and account.account_type.endswith("_WALLET"):
        take(unit, quote.source["accountId"], quote.sending_amount)


def _is_undelivered(transaction: Transaction) -> bool:
    return transaction.refund is not None and transaction.refund["status"] == "FAILED"


@mutant("TRX-050", "a refund that cannot be delivered is forgotten", how=_after_refund)
def undelivered_forgotten(_unit: Unit, _quote: Quote, transaction: Transaction) -> None:
    if _is_undelivered(transaction):
        transaction.refund = None


@mutant("TRX-053", "a payment whose refund cannot be delivered completes", how=_after_refund)
def undelivered_completed(_unit: Unit, _quote: Quote, transaction: Transaction) -> None:
    if _is_undelivered(transaction):
        transaction.status = "COMPLETED"


# --- One kind of payment --------------------------------------------------------------------


@mutant("TRX-051", "what was executed as it was created does not come back", how=_after_refund)
def immediate_lost(unit: Unit, quote: Quote, transaction: Transaction) -> None:
    if is_immediate(transaction) and quote.source_kind == "INTERNAL":
        take(unit, quote.source["accountId"], quote.sending_amount)


@mutant("TRX-051", "what was approved does not come back", how=_after_refund)
def approved_lost(unit: Unit, quote: Quote, _transaction: Transaction) -> None:
    if quote.agent_initiated:
        take(unit, quote.source["accountId"], quote.sending_amount)


@mutant("TRX-050", "what was approved shows no refund", (settlement, "fail"), after)
def approved_unrefunded(_unit: Unit, quote: Quote, transaction: Transaction, _result: Any) -> None:
    if quote.agent_initiated:
        transaction.refund = None


@mutant("TRX-603", "the refund of an authorized payment has no reference", how=_after_refund)
def unreferenced(_unit: Unit, quote: Quote, transaction: Transaction) -> None:
    if quote.challenge_id is not None and transaction.refund is not None:
        transaction.refund = {"status": transaction.refund["status"]}


@mutant("TRX-044", "an immediate payout that is rejected was returned", (settlement, "fail"), after)
def immediate_returned(_unit: Unit, _quote: Quote, transaction: Transaction, _result: Any) -> None:
    if is_immediate(transaction):
        transaction.failure_reason = "PAYOUT_RETURNED"


@mutant("TRX-024", "an immediate payout is pending until it arrives", (quotes, "perform"), after)
def immediate_pending(unit: Unit, quote: Quote, _action: str) -> None:
    transaction = transaction_of(unit, quote)
    if is_immediate(transaction):
        transaction.status = "PENDING"


@mutant("TRX-027", "an authorized payment has settled at once", (quotes, "perform"), after)
def authorized_settled(unit: Unit, quote: Quote, action: str) -> None:
    if action == "AUTHORIZE":
        transaction_of(unit, quote).settled_at = unit.now


@mutant(
    "TRX-025",
    "a held payment that was funded just in time is not released",
    (settlement, "release"),
    skipped,
)
def realtime_stuck(unit: Unit, transaction_id: str) -> bool:
    return transactions.locked(unit, transaction_id)[0].source_kind == "REALTIME"


@mutant(
    "TRX-606", "an immediate payment settles before it is created", (settlement, "complete"), after
)
def settled_before(unit: Unit, quote: Quote, transaction: Transaction) -> None:
    if is_immediate(transaction):
        transaction.settled_at = transaction.created_at - _A_MINUTE


def _shown(condition: Callable[[Transaction], bool], member: str, value: Any) -> Apply:
    """Return a patch after which some transactions show a member with another value."""

    def view(original: Callable[[Transaction], Json], row: Transaction) -> Json:
        body = original(row)
        return put(member, value)(body) if condition(row) else body

    return around(transactions, "view", view)


def _is_completed_realtime(row: Transaction) -> bool:
    return row.status == "COMPLETED" and row.source.get("sourceType") == "REALTIME_FUNDING"


declare(
    "TRX-033",
    "immediate",
    "the direction of an immediate payout is CREDIT",
    _shown(is_immediate, "direction", "CREDIT"),
)
declare(
    "TRX-812",
    "immediate",
    "the type of an immediate payout is TRANSFER",
    _shown(is_immediate, "type", "TRANSFER"),
)
declare(
    "TRX-057",
    "real-time",
    "a completed payment that was funded just in time shows a refund",
    _shown(_is_completed_realtime, "refund", {"status": "NONE"}),
)
declare(
    "TRX-017",
    "real-time",
    "a completed payment that was funded just in time shows a failureReason",
    _shown(_is_completed_realtime, "failureReason", "NONE"),
)


def _is_to_address(row: Transaction) -> bool:
    return row.destination.get("destinationType") == "UMA_ADDRESS"


def _is_pulled(row: Transaction) -> bool:
    return "ExternalAccount" in str(row.source_account)


for _name, _statement, _condition in (
    ("immediate", "what was executed as it was created", is_immediate),
    ("pulled", "what was pulled", _is_pulled),
    ("real-time", "what was funded just in time", _is_completed_realtime),
    ("uma", "what was paid to an address", _is_to_address),
):
    declare("TRX-808", _name, f"{_statement} shows no quoteId", _shown(_condition, "quoteId", None))


declare(
    "TRX-852",
    "joined-by-execution",
    "what was executed as it was created shows no quoteId",
    _shown(is_immediate, "quoteId", None),
)
declare(
    "TRX-853",
    "settled-by-execution",
    "what was executed as it was created shows no settledAt",
    _shown(is_immediate, "settledAt", None),
)
declare(
    "TRX-063",
    "immediate",
    "an immediate payment shows no platformFees",
    _shown(is_immediate, "platformFees", None),
)


def _to_uma(row: Transaction) -> bool:
    return bool(row.destination.get("destinationType") == "UMA_ADDRESS")


for _id, _member, _value in (
    ("TRX-022", "quoteId", "Quote:00000000-0000-4000-8000-000000000000"),
    ("TRX-028", "sentAmount.amount", 7),
    ("TRX-029", "sentAmount.currency.code", "XXX"),
    ("TRX-030", "receivedAmount.amount", 7),
    ("TRX-031", "receivedAmount.currency.code", "XXX"),
    ("TRX-032", "exchangeRate", 17),
    ("TRX-033", "direction", "CREDIT"),
    ("TRX-034", "description", "UMA payment"),
    ("TRX-812", "type", "UMA"),
):
    declare(
        _id,
        "to-uma",
        f"a payment to a UMA address shows another {_member}",
        _shown(_to_uma, _member, _value),
        at="test_a_payment_to_a_uma_address",
    )

declare(
    "TRX-815",
    "touched",
    "the createdAt of a transaction is the time of its last change",
    edited(transactions, "view", copied("updatedAt", "createdAt")),
)

for _id, _status in (("TRX-830", "COMPLETED"), ("TRX-831", "PROCESSING")):
    declare(
        _id,
        "dropped",
        f"the description is lost once a transaction is {_status}",
        edited(transactions, "view", where(shows("status", _status), without("description"))),
    )


def _reason_kept(kept: Callable[[Quote], bool], reason: str) -> Apply:
    """Return a patch after which some completed transactions still wait for their customer."""

    def keep(_unit: Unit, quote: Quote, transaction: Transaction) -> None:
        if kept(quote):
            transaction.pending_reason = reason

    return together(
        after(settlement, "complete", keep),
        around(transactions, "pending_reason", lambda _original, row: row.pending_reason),
    )


declare(
    "TRX-605",
    "proof-kept",
    "an authorized payment keeps its pendingReason",
    _reason_kept(lambda quote: quote.challenge_id is not None, rules.AWAITED_PROOF),
)
declare(
    "TRX-605",
    "approval-kept",
    "an approved payment keeps its pendingReason",
    _reason_kept(lambda quote: quote.agent_initiated, rules.AWAITED_APPROVAL),
)


declare(
    "TRX-605",
    "ended",
    "what has failed still waits for its customer",
    around(transactions, "pending_reason", lambda _original, row: row.pending_reason),
)


@mutant("TRX-812", "the type of an agent's payment is AGENT", (control, "initiate_by_agent"))
def type_of_agents(original: Function, unit: Unit, ask: Ask) -> Any:
    found = original(unit, ask)
    transactions.get(unit, found["transactionId"]).type = "AGENT"
    return found


@mutant(
    "TRX-816",
    "all that is older than its quote's lifetime expires",
    (transactions, "expire_due"),
    before,
)
def all_expire(unit: Unit) -> None:
    late = select(Transaction).where(
        Transaction.status.in_(("PROCESSING", "COMPLETED")), Transaction.expires_at <= unit.now
    )
    for transaction in unit.session.scalars(late):
        transaction.status = "EXPIRED"


# --- Approvals of what waits for something else ---------------------------------------------


def _approving(status: str, act: Callable[[Unit, Quote], None]) -> Apply:
    """Return a patch by which an approval ends what transactions of a quote's status wait for."""

    def approve(original: Function, unit: Unit, ask: Ask) -> Any:
        quote, transaction = transactions.locked(unit, ask.params["transactionId"])
        if quotes.is_approvable(quote) or quote.status != status:
            return original(unit, ask)
        act(unit, quote)
        return transactions.view(transaction)

    return around(quotes, "approve", approve)


for _id in ("TRX-046", "TRX-802"):
    declare(
        _id,
        "approved-unproven",
        "an approval takes the place of the customer's proof",
        _approving(
            "PENDING_AUTHORIZATION", lambda unit, quote: quotes.perform(unit, quote, "AUTHORIZE")
        ),
    )
declare(
    "TRX-062",
    "approved",
    "an approval ends the compliance review of any payout",
    _approving("PROCESSING", lambda unit, quote: settlement.release(unit, quote.transaction_id)),
)


# --- The list -------------------------------------------------------------------------------


for _status in (
    "PROCESSING",
    "COMPLETED",
    "FAILED",
    "EXPIRED",
    "SETTLED",
    "DECLINED",
    "VOIDED",
    "EXCEPTION",
):
    declare(
        "TRX-075",
        f"{_status.lower()}-taken",
        f"cards can be listed by the status {_status}",
        skipped(transactions, "refuse_status_of_cards", shows("status", _status)),
    )


# --- Another payment ------------------------------------------------------------------------


@mutant("TRX-021", "an execution is for all quotes of the source", (quotes, "perform"), after)
def all_in_processing(unit: Unit, quote: Quote, _action: str) -> None:
    for other in others_of(unit, quote, "PENDING"):
        transaction_of(unit, other).status = "PROCESSING"


@mutant("TRX-021", "what is pulled is on its way from its quote on", (quotes, "transaction_of"))
def pulled_at_once(original: Function, unit: Unit, quote: Quote, order: Any) -> Transaction:
    transaction: Transaction = original(unit, quote, order)
    if quote.source_kind == "EXTERNAL":
        transaction.status = "PROCESSING"
    return transaction


declare(
    "TRX-022",
    "pulled",
    "what waits to be pulled names no quote",
    _shown(
        lambda row: row.status == "PENDING" and _is_pulled(row),
        "quoteId",
        "Quote:1",
    ),
)


@mutant("TRX-046", "a proof is for all quotes of the customer", (quotes, "perform"), after)
def all_proven(unit: Unit, quote: Quote, action: str) -> None:
    for other in others_of(unit, quote, "PENDING_AUTHORIZATION"):
        transaction_of(unit, other).status = "PROCESSING"


def _unexpired(which: Callable[[Customer], bool]) -> Apply:
    """Let the transactions of some customers stay pending when their quotes expire."""

    def stay(unit: Unit) -> None:
        unit.session.flush()
        query = (
            select(Transaction, Customer)
            .join(Customer, Customer.id == Transaction.customer_id)
            .where(Transaction.status == "EXPIRED")
        )
        for transaction, customer in unit.session.execute(query):
            if which(customer):
                transaction.status = "PENDING"

    return after(transactions, "expire_due", stay)


for _name, _statement, _customers in (
    ("of-sca", "a customer who needs SCA", customers.needs_sca),
    ("of-a-business", "a business", lambda customer: customer.customer_type == "BUSINESS"),
):
    declare(
        "TRX-035",
        _name,
        f"what {_statement} does not execute stays pending",
        _unexpired(_customers),
    )

declare(
    "TRX-037",
    "unpulled",
    "the transaction of what is to be pulled at once stays pending",
    around(quotes, "perform", unpulled_at_once),
)
declare(
    "TRX-035",
    "tried",
    "an attempt to execute an expired quote fails its transaction",
    after_refusal(quotes.execute, "QUOTE_EXPIRED", "FAILED"),
)
declare(
    "TRX-046",
    "wrong-code",
    "a wrong code is refused, and the payment is on its way",
    after_refusal(quotes.authorize, "INVALID_INPUT", "PROCESSING"),
)
declare(
    "TRX-046",
    "wrong-code-ends",
    "a wrong code is refused, and the payment has failed",
    after_refusal(quotes.authorize, "INVALID_INPUT", "FAILED"),
)


declare(
    "TRX-047",
    "second",
    "the second challenge of a quote never expires",
    second_never_expires,
)


declare(
    "TRX-851",
    "on-attempt",
    "that a challenge has expired is noticed by the next proof alone",
    together(
        instead(sca, "expire", lambda _unit, _challenge: None),
        after_refusal(quotes.authorize, "INVALID_INPUT", "FAILED"),
    ),
)


# --- Approvals that should not pay ----------------------------------------------------------


@mutant("TRX-817", "an approval does not look at the balance")
def approval_covers(patch: Patch) -> None:
    approving: list[bool] = []

    def start(original: Function, unit: Unit, quote: Quote, action: str = "EXECUTE") -> None:
        approving.append(action == "APPROVE")
        try:
            original(unit, quote, action)
            unit.session.flush()
        finally:
            approving.pop()

    patch.wrap(quotes, "start", start)
    patch.wrap(quotes, "has_funds", lambda original, *both: any(approving) or original(*both))
    patch.wrap(ledger, "is_overdrawn", lambda original, row: not any(approving) and original(row))


def _is_approved_from(status: str, unit: Unit, quote: Quote) -> bool:
    """Return whether an agent's payment comes from an account at a status."""
    source = accounts.find(unit, str(quote.source.get("accountId")))
    return quote.agent_initiated and source is not None and source.status == status


for _id, _status in (("TRX-818", "FROZEN"), ("TRX-844", "CLOSED")):
    declare(
        _id,
        "approved",
        f"an approval pays from an account that is {_status} by then",
        skipped(parties, "refuse_blocked_later", partial(_is_approved_from, _status)),
    )


# --- One currency ---------------------------------------------------------------------------


def _shown_in(member: str, currency: str, change: Callable[[Json], Json]) -> Apply:
    """Return a patch after which an amount in one currency is shown otherwise."""
    return edited(
        transactions,
        "view",
        turned(
            member, lambda money: change(money) if money["currency"]["code"] == currency else money
        ),
    )


def _in_whole_units(money: Json) -> Json:
    return {**money, "amount": money["amount"] // 100}


def _with_two_decimals(money: Json) -> Json:
    return {**money, "currency": {**money["currency"], "decimals": 2}}


for _id, _change, _member, _currency in (
    ("TRX-028", _in_whole_units, "sentAmount", "RWF"),
    ("TRX-029", _with_two_decimals, "sentAmount", "BTC"),
    ("TRX-030", _in_whole_units, "receivedAmount", "RWF"),
    ("TRX-031", _with_two_decimals, "receivedAmount", "USDC"),
):
    declare(
        _id,
        _currency.lower(),
        f"the {_member} of a payment in {_currency} has the decimals of US dollars",
        _shown_in(_member, _currency, _change),
    )
