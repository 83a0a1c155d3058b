"""Transactions: how clients see, list and approve them."""

from __future__ import annotations

import re
from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlalchemy import Select, bindparam, or_, select

from conformance.reference import errors, fields, money, pages, rules
from conformance.reference.cards import card_transactions, cards
from conformance.reference.store import CardTransaction, Customer, Json, Quote, Transaction
from conformance.reference.unit import Ask, Unit, present, timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

_CARD_ID = re.compile(r"(Card:[!-~]{1,200})|([0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12})")

_DUE = (
    select(Quote)
    .where(Quote.status == "PENDING", Quote.expires_at <= bindparam("now"))
    .with_for_update()
)


def get(unit: Unit, transaction_id: str, *, lock: bool = False) -> Transaction:
    """Return the transaction of an id; raises ``Refusal`` (TRANSACTION_NOT_FOUND)."""
    found = unit.session.get(Transaction, transaction_id, with_for_update=lock or None)
    if found is None:
        raise errors.Refusal("TRANSACTION_NOT_FOUND", "No transaction has this id.")
    return found


def locked(unit: Unit, transaction_id: str) -> tuple[Quote, Transaction]:
    """Return a quote and its transaction, locked in this order everywhere."""
    quote_id = get(unit, transaction_id).quote_id
    quote = unit.session.get_one(Quote, quote_id, with_for_update=True)
    return quote, get(unit, transaction_id, lock=True)


def view(row: Transaction) -> Json:
    """Return the transaction as clients see it."""
    return present(
        {
            "id": row.id,
            "status": row.status,
            "type": row.type,
            "direction": row.direction,
            "customerId": row.customer_id,
            "source": row.source,
            "destination": row.destination,
            "sentAmount": money.money_view(row.sending_amount, row.sending_currency),
            "receivedAmount": money.money_view(row.receiving_amount, row.receiving_currency),
            "exchangeRate": money.number(Decimal(row.rate)),
            "platformFees": platform_fees(row),
            "description": row.description,
            "reference": row.reference,
            "quoteId": row.quote_id,
            "failureReason": row.failure_reason,
            "pendingReason": pending_reason(row),
            "refund": row.refund,
            "settledAt": None if row.settled_at is None else timestamp(row.settled_at),
            "createdAt": timestamp(row.created_at),
            "updatedAt": timestamp(row.updated_at),
        }
    )


def pending_reason(row: Transaction) -> str | None:
    """Return what a transaction that has not ended waits for."""
    return row.pending_reason if row.status in ("PENDING", "PROCESSING") else None


def platform_fees(row: Transaction) -> int | None:
    """Return the platform's fee on an outgoing transaction, as its quote shows it."""
    return row.platform_fee if row.type == "OUTGOING" else None


def announce(unit: Unit, row: Transaction, happening: str) -> None:
    """Emit the event of an outgoing transaction: the transaction as of the transition."""
    row.updated_at = unit.now
    event = rules.TRANSACTION_EVENTS.get(happening)
    if row.type == "OUTGOING" and event is not None:
        unit.emit(event, view(row))


def expire_due(unit: Unit) -> None:
    """Mark what was not executed before its quote's ``expiresAt``."""
    for quote in unit.session.scalars(_DUE, {"now": unit.now}).all():
        quote.status = "EXPIRED"
        unit.session.get_one(Transaction, quote.transaction_id).status = "EXPIRED"


def list_all(unit: Unit, ask: Ask) -> Json:
    """List transactions, the newest first."""
    query = filtered(ask.query)
    wanted = pages.read(ask.query, descending=True)
    expire_due(unit)
    page = pages.take(unit, query, Transaction, wanted)
    on_cards = made_with_cards(ask.query)
    if on_cards is not None:
        page = pages.merge([page, pages.take(unit, on_cards, CardTransaction, wanted)], wanted)
    return page.view([view_of(row) for row in page.rows])


def view_of(row: Transaction | CardTransaction) -> Json:
    """Return a transaction of either kind as clients see it."""
    return card_transactions.view(row) if isinstance(row, CardTransaction) else view(row)


def made_with_cards(query: Mapping[str, str]) -> Select[Any] | None:
    """Return the query of the card transactions that a list's filters let through, if any can."""
    named = {"cardId": cards.full_id(query["cardId"])} if "cardId" in query else {}
    rows = card_transactions.filtered({**query, **named})
    return None if rows is None else within(rows, CardTransaction, query)


def refuse_status_of_cards(query: Mapping[str, str]) -> None:
    """Refuse ``status`` together with ``type=CARD``: it is for payments alone."""
    if "status" in query and query.get("type") == "CARD":
        message = "Expected no status with type=CARD: it filters payment transactions only."
        raise errors.invalid_input(errors.field_error("status", message))


def filtered(query: Mapping[str, str]) -> Select[Any]:
    """Return the query of a list's filters; raises ``Refusal`` (INVALID_INPUT)."""
    refuse_status_of_cards(query)
    rows = select(Transaction)
    columns = {
        "customerId": Transaction.customer_id,
        "status": Transaction.status,
        "type": Transaction.type,
        "reference": Transaction.reference,
        "senderAccountIdentifier": Transaction.source_account,
        "receiverAccountIdentifier": Transaction.destination_account,
    }
    for name, column in columns.items():
        if name in query:
            rows = rows.where(column == query[name])
    if "accountIdentifier" in query:
        wanted = query["accountIdentifier"]
        rows = rows.where(
            or_(Transaction.source_account == wanted, Transaction.destination_account == wanted)
        )
    if "platformCustomerId" in query:
        owners = select(Customer.id).where(
            Customer.platform_customer_id == query["platformCustomerId"]
        )
        rows = rows.where(Transaction.customer_id.in_(owners))
    if "cardId" in query:
        rows = rows.where(Transaction.source_account == card_id(query["cardId"]))
    return within(rows, Transaction, query)


def within(rows: Select[Any], table: Any, query: Mapping[str, str]) -> Select[Any]:
    """Keep to the rows that were created from ``startDate`` to ``endDate``."""
    for name, at_least in (("startDate", True), ("endDate", False)):
        if name in query:
            moment = moment_of(query[name], name)
            created = table.created_at
            rows = rows.where(created >= moment if at_least else created <= moment)
    return rows


def card_id(text: str) -> str:
    """Return the id of a card given as ``Card:<id>`` or UUID."""
    if _CARD_ID.fullmatch(text) is None:
        raise errors.invalid_input(errors.field_error("cardId", "Expected Card:<id> or a UUID."))
    return text


def moment_of(text: str, name: str) -> int:
    """Return the time of a timestamp in the query."""
    moment = fields.parse_timestamp(text)
    if moment is None:
        raise errors.invalid_input(errors.field_error(name, "Expected an ISO 8601 timestamp."))
    return moment
