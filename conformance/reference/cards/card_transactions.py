"""What happens on cards: purchases, and merchants' payments back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from sqlalchemy import Select, select

from conformance.reference import errors, money
from conformance.reference.internal_accounts import accounts, ledger
from conformance.reference.store import Card, CardTransaction, Customer, Json
from conformance.reference.unit import Unit, new_id, present, timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

TYPE: Final = "CARD"

TRANSITIONS: dict[tuple[str, str], str] = {
    ("AUTHORIZED", "CLEAR"): "SETTLED",
    ("AUTHORIZED", "CLEAR_PARTLY"): "PARTIALLY_SETTLED",
    ("AUTHORIZED", "MISCLEAR"): "EXCEPTION",
    ("AUTHORIZED", "REVERSE"): "VOIDED",
    ("AUTHORIZED", "LAPSE"): "VOIDED",
    ("PARTIALLY_SETTLED", "CLEAR"): "SETTLED",
    ("PARTIALLY_SETTLED", "CLEAR_PARTLY"): "PARTIALLY_SETTLED",
    ("PARTIALLY_SETTLED", "MISCLEAR"): "EXCEPTION",
    ("SETTLED", "RETURN"): "SETTLED",
    ("SETTLED", "REFUND"): "SETTLED",
    ("SETTLED", "REVERSE_RETURN"): "SETTLED",
}
"""The state that an action leads to from each state; other pairs are refused."""

EVENTS: dict[str, str] = {
    state: f"CARD_TRANSACTION.{state}"
    for state in (
        "AUTHORIZED",
        "PARTIALLY_SETTLED",
        "SETTLED",
        "DECLINED",
        "VOIDED",
        "EXCEPTION",
    )
}
"""What is emitted when a card transaction comes to a state, also to the one that it is in."""

DIRECTIONS: dict[str, str] = {"PURCHASE": "DEBIT", "REFUND": "CREDIT"}

MERCHANT: Final = {"name": "Corner Coffee", "city": "Portland", "state": "OR", "country": "US"}
"""The merchant that the sandbox's network reports where none is named."""


def find(unit: Unit, transaction_id: str) -> CardTransaction | None:
    """Return the card transaction of an id, locked, or ``None``."""
    return unit.session.get(CardTransaction, transaction_id, with_for_update=True)


def get(unit: Unit, card: Card, transaction_id: str) -> CardTransaction:
    """Return a card's transaction; raises ``Refusal`` (TRANSACTION_NOT_FOUND)."""
    row = find(unit, transaction_id)
    if row is None or row.card_id != card.id:
        raise errors.Refusal("TRANSACTION_NOT_FOUND", "The card has no such transaction.")
    return row


def record(
    unit: Unit, card: Card, kind: str, status: str, merchant: Json | None, **members: Any
) -> CardTransaction:
    """Put down a new card transaction of a ``kind`` of ``DIRECTIONS``, and announce it."""
    row = CardTransaction(
        id=new_id("CardTransaction"),
        card_id=card.id,
        customer_id=card.cardholder_id,
        account_id=card.account_id,
        status=status,
        direction=DIRECTIONS[kind],
        currency=card.currency,
        merchant=merchant or MERCHANT,
        created_at=unit.now,
        updated_at=unit.now,
        **{"authorized": 0, "held": 0, "settled": 0, "refunded": 0, **members},
    )
    unit.session.add(row)
    announce(unit, row)
    return row


def next_state(row: CardTransaction, action: str) -> str:
    """Return the state that an action leads to; raises ``Refusal`` where it leads to none."""
    state = TRANSITIONS.get((row.status, action))
    if state is None:
        raise errors.Refusal(
            "INVALID_STATE_TRANSITION", f"The card transaction is {row.status}; this comes late."
        )
    return state


def reach(unit: Unit, row: CardTransaction, state: str) -> None:
    """Let a card transaction come to a state, and announce it."""
    row.status = state
    announce(unit, row)


def announce(unit: Unit, row: CardTransaction) -> None:
    """Emit the event of a card transaction's state."""
    row.updated_at = unit.now
    event = EVENTS.get(row.status)
    if event is not None:
        unit.emit(event, view(row))


def move(unit: Unit, row: CardTransaction, origin: str, target: str, amount: int) -> None:
    """Book ``amount`` from one to another of ``available``, ``held`` and ``network``."""
    if not amount:
        return
    places = {
        "available": ledger.available(row.account_id),
        "held": ledger.held(row.account_id),
        "network": ledger.system("rail", row.currency),
    }
    ledger.post(
        unit,
        [
            ledger.Leg(places[origin], row.currency, -amount),
            ledger.Leg(places[target], row.currency, amount),
        ],
    )


def announce_balance(unit: Unit, row: CardTransaction) -> None:
    """Emit the event of the changed balance of the account that funds the card."""
    accounts.announce_balance(unit, accounts.get(unit, row.account_id))


def view(row: CardTransaction) -> Json:
    """Return the card transaction as clients see it."""
    return present(
        {
            "id": row.id,
            "type": TYPE,
            "status": row.status,
            "direction": row.direction,
            "cardId": row.card_id,
            "customerId": row.customer_id,
            "accountId": row.account_id,
            "authorizedAmount": amount_view(row.authorized, row.currency),
            "settledAmount": amount_view(row.settled, row.currency),
            "refundedAmount": amount_view(row.refunded, row.currency),
            "originalTransactionId": row.original_id,
            "cardDeclinedReason": row.decline_reason,
            "currency": money.currency_view(row.currency),
            "merchant": row.merchant,
            "createdAt": timestamp(row.created_at),
            "updatedAt": timestamp(row.updated_at),
        }
    )


def amount_view(amount: int, currency: str) -> Json | None:
    """Return the money object of an amount, or ``None`` where there is nothing yet."""
    return money.money_view(amount, currency) if amount else None


def filtered(query: Mapping[str, str]) -> Select[Any] | None:
    """Return the query of the card transactions that a list's filters let through, if any can."""
    if "status" in query or query.get("type", TYPE) != TYPE:
        return None
    payments_alone = ("reference", "senderAccountIdentifier", "receiverAccountIdentifier")
    if any(name in query for name in payments_alone):
        return None
    rows = select(CardTransaction)
    if "cardId" in query:
        rows = rows.where(CardTransaction.card_id == query["cardId"])
    if "customerId" in query:
        rows = rows.where(CardTransaction.customer_id == query["customerId"])
    if "accountIdentifier" in query:
        rows = rows.where(CardTransaction.account_id == query["accountIdentifier"])
    if "platformCustomerId" in query:
        wanted = Customer.platform_customer_id == query["platformCustomerId"]
        owners = select(Customer.id).where(wanted)
        rows = rows.where(CardTransaction.customer_id.in_(owners))
    return rows
