"""What the rail does with payouts, and their refunds."""

from __future__ import annotations

import uuid
from functools import partial
from typing import TYPE_CHECKING

from conformance.reference import errors, rules
from conformance.reference.external_accounts.account_types import ACCOUNT_TYPES
from conformance.reference.internal_accounts import accounts, ledger, sweeps
from conformance.reference.store import ExternalAccount, Json, Quote, Transaction
from conformance.reference.transactions import transactions
from conformance.reference.unit import new_id

if TYPE_CHECKING:
    from conformance.reference.unit import Unit


def holding_account(quote: Quote) -> str:
    """Return the ledger account that holds a payment until the rail's result."""
    if quote.source_kind == "INTERNAL":
        return ledger.held(quote.source["accountId"])
    return ledger.system("transit", quote.sending_currency)


def result_of(unit: Unit, quote: Quote) -> rules.PayoutResult:
    """Return what the rail does with a quote's payout."""
    if quote.destination_kind != "EXTERNAL":
        return rules.PAYOUT_RESULTS["NORMAL"]
    account = unit.session.get_one(ExternalAccount, quote.destination["accountId"])
    return rules.PAYOUT_RESULTS[account.condition]


def announce_source(unit: Unit, quote: Quote) -> None:
    """Emit the event of the source's changed balance, if it has one."""
    if quote.source_kind == "INTERNAL":
        _announce_account(unit, quote.source["accountId"])


def _announce_account(unit: Unit, account_id: str) -> None:
    account = accounts.find(unit, account_id)
    if account is not None:
        accounts.announce_balance(unit, account)


def settle(unit: Unit, transaction_id: str, *, released: bool = False) -> None:
    """Take the rail's result of a processing payout; a held one waits for its release."""
    quote, transaction = transactions.locked(unit, transaction_id)
    if transaction.status != "PROCESSING":
        return
    result = result_of(unit, quote)
    if result.held and not released:
        return
    if result.failure_reason is None:
        complete(unit, quote, transaction)
    else:
        fail(unit, quote, transaction, result)


def complete(unit: Unit, quote: Quote, transaction: Transaction) -> None:
    """Deliver the money."""
    ledger.post(unit, completion_legs(quote))
    reach(quote, transaction, "COMPLETED")
    transaction.pending_reason = None
    transaction.settled_at = unit.now
    record_on_chain(unit, quote, transaction)
    transactions.announce(unit, transaction, "COMPLETED")
    announce_source(unit, quote)
    if quote.destination_kind == "INTERNAL":
        _announce_account(unit, quote.destination["accountId"])
        sweeps.take_in(unit, quote.destination["accountId"])


def reach(quote: Quote, transaction: Transaction, status: str) -> None:
    """Give a quote and its transaction the status of the rail's result."""
    quote.status = status
    transaction.status = rules.TRANSACTION_STATUS[status]


def target_account(quote: Quote) -> str:
    """Return the ledger account that a completed payment ends in."""
    if quote.destination_kind == "INTERNAL":
        return ledger.available(quote.destination["accountId"])
    return ledger.system("rail", quote.receiving_currency)


def completion_legs(quote: Quote) -> list[ledger.Leg]:
    """Return the movement of a completion: the fees stay, the rest is converted and paid."""
    sending, receiving = quote.sending_currency, quote.receiving_currency
    all_fees = quote.variable_fee + quote.platform_fee
    return [
        ledger.Leg(holding_account(quote), sending, -quote.sending_amount),
        ledger.Leg(ledger.system("fees", sending), sending, all_fees),
        ledger.Leg(ledger.system("conversion", sending), sending, quote.sending_amount - all_fees),
        ledger.Leg(ledger.system("conversion", receiving), receiving, -quote.receiving_amount),
        ledger.Leg(target_account(quote), receiving, quote.receiving_amount),
    ]


def network_of(unit: Unit, quote: Quote) -> str | None:
    """Return the network of a payment to a crypto wallet, or ``None``."""
    if quote.destination_kind != "EXTERNAL":
        return None
    account = unit.session.get_one(ExternalAccount, quote.destination["accountId"])
    return ACCOUNT_TYPES[account.account_type].network


def record_on_chain(unit: Unit, quote: Quote, transaction: Transaction) -> None:
    """Record where a payment to a wallet was settled."""
    network = network_of(unit, quote)
    if network is not None:
        transaction.destination = {**transaction.destination, **on_chain(network)}


def on_chain(network: str) -> Json:
    """Return ``onChainTransaction``: ``transactionHash`` and ``network``."""
    digest = f"0x{uuid.uuid4().hex}{uuid.uuid4().hex}"
    return {"onChainTransaction": {"transactionHash": digest, "network": network}}


def fail(unit: Unit, quote: Quote, transaction: Transaction, result: rules.PayoutResult) -> None:
    """Give up a payout, and start its refund."""
    reach(quote, transaction, "FAILED")
    transaction.pending_reason = None
    transaction.failure_reason = result.failure_reason
    transactions.announce(unit, transaction, "FAILED")
    set_refund(transaction, "PENDING", new_id("Refund"))
    transactions.announce(unit, transaction, "REFUND_PENDING")
    if result.refund != "HELD":
        job = partial(refund, transaction_id=transaction.id)
        unit.later(unit.settings.settlement_seconds, job)


def set_refund(transaction: Transaction, status: str, reference: str) -> None:
    """Record a refund: its status and reference."""
    transaction.refund = {"status": status, "reference": reference}


def refund(unit: Unit, transaction_id: str) -> None:
    """Finish the refund of a failed payout: the money returns, or cannot be delivered."""
    quote, transaction = transactions.locked(unit, transaction_id)
    if not is_refund_pending(transaction):
        return
    outcome = "FAILED" if result_of(unit, quote).refund == "FAILS" else "COMPLETED"
    ledger.post(unit, refund_legs(quote, outcome))
    set_refund(transaction, outcome, (transaction.refund or {})["reference"])
    transactions.announce(unit, transaction, f"REFUND_{outcome}")
    announce_source(unit, quote)
    sweeps.land_refund(unit, quote)


def is_refund_pending(transaction: Transaction) -> bool:
    """Return whether a transaction's refund is under way."""
    return transaction.refund is not None and transaction.refund["status"] == "PENDING"


def refund_total(quote: Quote) -> int:
    """Return what a refund gives back: all that was debited."""
    return quote.sending_amount


def refund_legs(quote: Quote, outcome: str) -> list[ledger.Leg]:
    """Return the movement of a refund: back to the source, or to suspense where that fails."""
    currency, amount = quote.sending_currency, refund_total(quote)
    target = ledger.system("rail", currency)
    if outcome == "FAILED":
        target = ledger.system("suspense", currency)
    elif quote.source_kind == "INTERNAL":
        target = ledger.available(quote.source["accountId"])
    return [
        ledger.Leg(holding_account(quote), currency, -amount),
        ledger.Leg(target, currency, amount),
    ]


def release(unit: Unit, transaction_id: str) -> None:
    """Let a held payout or refund go on; raises ``Refusal`` where nothing is held."""
    transaction = transactions.get(unit, transaction_id)
    if transaction.status == "PROCESSING":
        settle(unit, transaction_id, released=True)
    elif is_refund_pending(transaction):
        refund(unit, transaction_id)
    else:
        raise errors.Refusal("INVALID_STATE_TRANSITION", "The transaction is not held.")


def is_meant(quote: Quote, reference: str | None) -> bool:
    """Return whether a payment is for a quote: whoever names a reference names the quote's."""
    known = [entry["accountOrWalletInfo"].get("reference") for entry in quote.instructions]
    return reference is None or reference in known


def record_deposit(quote: Quote, transaction: Transaction) -> None:
    """Record where a deposit from a crypto wallet was settled."""
    network = rules.DEPOSIT_NETWORKS.get(quote.sending_currency)
    if network is not None:
        transaction.source = {**transaction.source, **on_chain(network)}
