"""Deposits that settled and go back to their senders."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from conformance.reference import errors, fields, rules
from conformance.reference.internal_accounts import accounts, ledger
from conformance.reference.rules import Field
from conformance.reference.store import InternalAccount, Transaction
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import new_id

if TYPE_CHECKING:
    from conformance.reference.store import Json
    from conformance.reference.unit import Ask, Unit

EVENTS: dict[str, str] = {
    "PENDING": "INCOMING_PAYMENT.REFUND_PENDING",
    "COMPLETED": "INCOMING_PAYMENT.REFUND_COMPLETED",
    "FAILED": "INCOMING_PAYMENT.REFUND_FAILED",
}
"""What is emitted when the refund of a deposit comes to a status."""

_FIELDS = (*rules.FUND_FIELDS, Field("delivered", "boolean", required=True))


def start(unit: Unit, ask: Ask) -> Json:
    """Let a deposit go back: ``{amount, delivered}``; returns ``{transactionId}``."""
    body = fields.demand(ask.body, _FIELDS)
    account = accounts.get(unit, ask.params["accountId"])
    amount = int(body["amount"])
    if ledger.balances(unit, [account.id])[account.id][0] < amount:
        raise errors.Refusal("INSUFFICIENT_FUNDS", "The deposit was spent.")
    row = record(unit, account, amount)
    unit.session.add(row)
    move(unit, account, -amount)
    reach(unit, row, "PENDING")
    job = partial(finish, transaction_id=row.id, outcome=outcome(delivered=body["delivered"]))
    unit.later(unit.settings.settlement_seconds, job)
    return {"transactionId": row.id}


def outcome(*, delivered: bool) -> str:
    """Return the status that a refund ends in."""
    return "COMPLETED" if delivered else "FAILED"


def finish(unit: Unit, transaction_id: str, outcome: str) -> None:
    """Finish the refund: what cannot be delivered stays with the account."""
    row = transactions.get(unit, transaction_id, lock=True)
    account = accounts.get(unit, row.destination_account or "")
    if outcome == "FAILED":
        move(unit, account, row.receiving_amount)
    else:
        ledger.post(
            unit,
            [
                ledger.Leg(_transit(account), account.currency, -row.receiving_amount),
                ledger.Leg(
                    ledger.system("rail", account.currency), account.currency, row.receiving_amount
                ),
            ],
        )
    reach(unit, row, outcome)


def reach(unit: Unit, row: Transaction, status: str) -> None:
    """Let a refund come to a status, and announce it."""
    reference = (row.refund or {}).get("reference") or new_id("Refund")
    settlement.set_refund(row, status, reference)
    announce(unit, row, status)


def announce(unit: Unit, row: Transaction, status: str) -> None:
    """Emit the event of a refund."""
    row.updated_at = unit.now
    unit.emit(EVENTS[status], transactions.view(row))


def move(unit: Unit, account: InternalAccount, amount: int) -> None:
    """Book what leaves an account (or, positive, returns to it), and announce its balance."""
    ledger.post(
        unit,
        [
            ledger.Leg(_transit(account), account.currency, -amount),
            ledger.Leg(ledger.available(account.id), account.currency, amount),
        ],
    )
    accounts.announce_balance(unit, account)


def record(unit: Unit, account: InternalAccount, amount: int) -> Transaction:
    """Return the transaction of a deposit that settled."""
    return Transaction(
        id=new_id("Transaction"),
        quote_id=None,
        customer_id=account.customer_id,
        status="COMPLETED",
        type="INCOMING",
        direction="CREDIT",
        source={"sourceType": "ACCOUNT", "currency": account.currency},
        destination={
            "destinationType": "ACCOUNT",
            "accountId": account.id,
            "currency": account.currency,
        },
        source_account=None,
        destination_account=account.id,
        sending_currency=account.currency,
        sending_amount=amount,
        receiving_currency=account.currency,
        receiving_amount=amount,
        rate="1",
        platform_fee=0,
        description=None,
        reference=new_id("REF").replace(":", "-"),
        failure_reason=None,
        pending_reason=None,
        refund=None,
        expires_at=unit.now,
        executed_at=None,
        settled_at=unit.now,
        created_at=unit.now,
        updated_at=unit.now,
    )


def _transit(account: InternalAccount) -> str:
    return ledger.system("transit", account.currency)
