"""Debit cards: who gets one, what it spends from, and whether it may be used."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from sqlalchemy import select

from conformance.reference import errors, fields, pages
from conformance.reference.customers import customers
from conformance.reference.internal_accounts import accounts
from conformance.reference.rules import Field
from conformance.reference.store import Card, InternalAccount, Json
from conformance.reference.unit import Ask, Unit, new_id, present, timestamp

if TYPE_CHECKING:
    from conformance.reference.store import Customer

ISSUE_FIELDS: tuple[Field, ...] = (
    Field("cardholderId", "string", required=True, min_length=1),
    Field("fundingSource", "string", required=True, min_length=1),
    Field("form", "string", enum=("VIRTUAL", "PHYSICAL")),
)

STATES: dict[str, tuple[str, ...]] = {
    "ACTIVE": ("FROZEN", "CLOSED"),
    "FROZEN": ("ACTIVE", "CLOSED"),
    "CLOSED": (),
}
"""Where a card may go from each of its states."""

_LIFETIME: Final = (12, 2031)


def get(unit: Unit, card_id: str) -> Card:
    """Return the card of an id, with or without its type; raises ``Refusal`` (NOT_FOUND)."""
    card = unit.session.get(Card, full_id(card_id))
    if card is None:
        raise errors.Refusal("NOT_FOUND", "No card has this id.")
    return card


def full_id(card_id: str) -> str:
    """Return the id of a card that may be given as a bare UUID."""
    return card_id if ":" in card_id else f"Card:{card_id}"


def refuse_unapproved(cardholder: Customer) -> None:
    """Refuse a card to whoever's verification is not approved."""
    if not customers.is_verified(cardholder):
        raise errors.Refusal(
            "CARDHOLDER_KYC_NOT_APPROVED",
            f"The cardholder's verification is {cardholder.status}. Wait until it is APPROVED.",
        )


def refuse_unfit(account: InternalAccount) -> None:
    """Refuse an account that cannot fund a card."""
    if not accounts.card_members(account):
        raise errors.Refusal("CONFLICT", "The account cannot fund a card.")


def source_of(unit: Unit, cardholder: Customer, account_id: str) -> InternalAccount:
    """Return the cardholder's account of an id; raises ``Refusal`` (ACCOUNT_NOT_FOUND)."""
    account = accounts.find(unit, account_id)
    if account is None or account.customer_id != cardholder.id:
        raise errors.Refusal("ACCOUNT_NOT_FOUND", "The cardholder has no such account.")
    return account


def issue(unit: Unit, ask: Ask) -> Json:
    """Issue a card against an internal account: ``{cardholderId, fundingSource, form?}``."""
    body = fields.demand(ask.body, ISSUE_FIELDS)
    cardholder = customers.get(unit, body["cardholderId"])
    refuse_unapproved(cardholder)
    account = source_of(unit, cardholder, body["fundingSource"])
    refuse_unfit(account)
    card = Card(
        id=new_id("Card"),
        cardholder_id=cardholder.id,
        account_id=account.id,
        currency=account.currency,
        state="ACTIVE",
        form=body.get("form") or "VIRTUAL",
        created_at=unit.now,
        updated_at=unit.now,
    )
    unit.session.add(card)
    return view(card)


def list_all(unit: Unit, ask: Ask) -> Json:
    """List cards, the newest first."""
    query = select(Card)
    if "cardholderId" in ask.query:
        query = query.where(Card.cardholder_id == ask.query["cardholderId"])
    page = pages.take(unit, query, Card, pages.read(ask.query, descending=True))
    return page.view([view(card) for card in page.rows])


def read(unit: Unit, ask: Ask) -> Json:
    """Return one card."""
    return view(get(unit, ask.params["cardId"]))


def update(unit: Unit, ask: Ask) -> Json:
    """Freeze, unfreeze or close a card: ``{state}``."""
    known = tuple(STATES)
    body = fields.demand(ask.body, [Field("state", "string", required=True, enum=known)])
    card = get(unit, ask.params["cardId"])
    if body["state"] not in STATES[card.state]:
        raise errors.Refusal(
            "INVALID_STATE_TRANSITION", f"The card is {card.state}; see its possible states."
        )
    card.state = body["state"]
    card.updated_at = unit.now
    return view(card)


def view(card: Card) -> Json:
    """Return the card as clients see it."""
    month, year = _LIFETIME
    return present(
        {
            "id": card.id,
            "cardholderId": card.cardholder_id,
            "state": card.state,
            "brand": "VISA",
            "form": card.form,
            "last4": str(int(card.id.rpartition(":")[2].replace("-", ""), 16))[-4:],
            "expMonth": month,
            "expYear": year,
            "fundingSource": card.account_id,
            "currency": card.currency,
            "createdAt": timestamp(card.created_at),
            "updatedAt": timestamp(card.updated_at),
        }
    )
