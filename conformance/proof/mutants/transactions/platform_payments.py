"""Mutants of the transactions of the platform's own accounts."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Json, after, around, edited, skipped
from conformance.proof.kit.edits import put, shows, where, without
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.quotes.toolkit import take, transaction_of
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference.quotes import quotes
from conformance.reference.store import Quote, Transaction
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Unit, timestamp

# --- The platform's own payments ------------------------------------------------------------


@mutant(
    "TRX-600", "payouts of the platform's own money do not settle", (settlement, "settle"), skipped
)
def never_settled(unit: Unit, transaction_id: str, *, released: bool = False) -> bool:
    return transactions.get(unit, transaction_id).customer_id is None


def _is_of_platform(_unit: Unit, _quote: Quote, row: Transaction, _result: Any = None) -> bool:
    return row.customer_id is None


@mutant("TRX-050", "what the platform paid in vain is not refunded", (settlement, "fail"), after)
def platform_kept(unit: Unit, quote: Quote, row: Transaction, result: Any) -> None:
    if _is_of_platform(unit, quote, row):
        row.refund = None


@mutant("TRX-051", "the refund of the platform stays with the service", (settlement, "refund"))
def platform_refund_lost(original: Function, unit: Unit, transaction_id: str) -> None:
    quote, row = transactions.locked(unit, transaction_id)
    original(unit, transaction_id)
    if row.customer_id is None and quote.source_kind == "INTERNAL":
        take(unit, quote.source["accountId"], quote.sending_amount)


@mutant(
    "TRX-024", "a payment of the platform is pending until it arrives", (quotes, "perform"), after
)
def platform_pending(unit: Unit, quote: Quote, _action: str) -> None:
    transaction = transaction_of(unit, quote)
    if transaction.customer_id is None:
        transaction.status = "PENDING"


@mutant("TRX-035", "what the platform does not execute stays pending", (transactions, "view"))
def platform_never_expires(original: Function, row: Transaction) -> Json:
    body: Json = original(row)
    stays = row.customer_id is None and body["status"] == "EXPIRED"
    return {**body, "status": "PENDING"} if stays else body


def told_of_platform(member: str, value: Any) -> Apply:
    """Return a patch after which transactions of the platform show a member otherwise."""

    def view(original: Function, row: Transaction) -> Json:
        body: Json = original(row)
        return put(member, value)(body) if row.customer_id is None else body

    return around(transactions, "view", view)


for _id, _member, _value in (
    ("TRX-016", "failureReason", None),
    ("TRX-022", "quoteId", "Quote:8d0cf2a4"),
    ("TRX-028", "sentAmount.amount", 1),
    ("TRX-030", "receivedAmount.amount", 1),
    ("TRX-033", "direction", "CREDIT"),
    ("TRX-812", "type", "INTERNAL"),
):
    declare(
        _id,
        "of-the-platform",
        f"a payment of the platform shows another {_member}",
        told_of_platform(_member, _value),
    )


# --- What a transaction tells ---------------------------------------------------------------


def told(member: str, value: Any) -> Apply:
    """Return a patch after which completed transactions show a member."""

    def edit(body: Json) -> Json:
        return put(member, value)(body) if body.get("status") == "COMPLETED" else body

    return edited(transactions, "view", edit)


for _id in ("TRX-601", "TRX-605"):
    declare(
        _id,
        "kept",
        "a completed transaction still says what it waits for",
        told("pendingReason", "COMPLIANCE_REVIEW"),
    )


@mutant("TRX-602", "every payout is said to have settled on a chain")
def always_on_chain(patch: Patch) -> None:
    patch.wrap(
        settlement,
        "network_of",
        lambda original, unit, quote: original(unit, quote) or "SOLANA",
    )


declare(
    "TRX-603",
    "no-reference",
    "a refund has no reference",
    edited(transactions, "view", without("refund.reference")),
)


@mutant("TRX-604", "where a payment from a wallet was settled is not kept")
def deposit_off_chain(patch: Patch) -> None:
    patch.replace(settlement, "record_deposit", lambda *_: None)


# --- What execution leaves as it was --------------------------------------------------------


def _settled(moment: Callable[[], str]) -> Apply:
    """Return a patch by which what has settled shows that it did so at a moment."""
    return edited(
        transactions,
        "view",
        lambda body: {**body, "settledAt": moment()} if body.get("settledAt") else body,
    )


declare(
    "TRX-606",
    "before-its-time",
    "a transaction settles before it is created",
    _settled(lambda: "2025-10-13T00:00:00Z"),
)
declare(
    "TRX-606",
    "ahead",
    "a transaction has settled in days to come",
    _settled(lambda: "2999-10-13T00:00:00Z"),
)
declare(
    "TRX-986",
    "now",
    "a transaction has settled whenever it is read",
    _settled(lambda: timestamp(time.time_ns() // 1_000)),
)

declare(
    "TRX-987",
    "debit",
    "a deposit is a debit",
    edited(
        transactions,
        "view",
        where(shows("type", "INCOMING"), put("direction", "DEBIT")),
    ),
)
