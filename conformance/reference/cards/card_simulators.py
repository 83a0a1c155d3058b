"""The sandbox simulators of cards: what merchants and networks do."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference import errors, fields
from conformance.reference.cards import card_transactions, cards
from conformance.reference.internal_accounts import accounts, ledger
from conformance.reference.rules import Field

if TYPE_CHECKING:
    from conformance.reference.store import Card, CardTransaction, Json
    from conformance.reference.unit import Ask, Unit

CONDITIONS: dict[str, str] = {
    "INACTIVE": "CARD_NOT_ACTIVE",
    "LIMITED": "SPEND_LIMIT_EXCEEDED",
    "UNDERFUNDED": "INSUFFICIENT_FUNDS",
    "UNSOURCED": "NO_ELIGIBLE_FUNDING_SOURCE",
    "BLOCKED": "BLOCKED",
    "FOREIGN": "UNSUPPORTED_NETWORK",
    "SUSPICIOUS": "OTHER",
}
"""Why a purchase is declined, by what stands in its way."""

_MAX_AMOUNT = 10**15
_AMOUNT = Field("amount", "integer", required=True, minimum=1, maximum=_MAX_AMOUNT)
_MERCHANT = (
    Field("merchant", "object"),
    *(Field(f"merchant.{name}", "string", max_length=255) for name in ("name", "city", "state")),
)
_NAMED = Field("transactionId", "string", required=True, min_length=1)
AUTHORIZATION_FIELDS: tuple[Field, ...] = (
    _AMOUNT,
    Field("currency", "string"),
    Field("condition", "string", enum=tuple(CONDITIONS)),
    *_MERCHANT,
)
MOVEMENT_FIELDS: tuple[Field, ...] = (_NAMED, _AMOUNT, Field("currency", "string"))
NAMING_FIELDS: tuple[Field, ...] = (_NAMED,)


def authorize(unit: Unit, ask: Ask) -> Json:
    """Let a merchant ask for a purchase: ``{amount, currency?, condition?, merchant?}``."""
    body = fields.demand(ask.body, AUTHORIZATION_FIELDS)
    card = _card(unit, ask)
    _refuse_other_currency(card, body)
    amount, merchant = int(body["amount"]), body.get("merchant")
    obstacle = obstacle_of(unit, card, amount, body.get("condition"))
    if obstacle is not None:
        return _answer(decline(unit, card, amount, merchant, CONDITIONS[obstacle]))
    return _answer(approve(unit, card, amount, merchant))


def obstacle_of(unit: Unit, card: Card, amount: int, condition: str | None) -> str | None:
    """Return what stands in the way of a purchase: a key of ``CONDITIONS``, or ``None``."""
    if condition is not None:
        return condition
    if card.state != "ACTIVE":
        return "INACTIVE"
    account = accounts.get(unit, card.account_id)
    if not accounts.card_members(account):
        return "UNSOURCED"
    available, _ = ledger.balances(unit, [account.id])[account.id]
    return "UNDERFUNDED" if amount > available else None


def decline(
    unit: Unit, card: Card, amount: int, merchant: Json | None, reason: str
) -> CardTransaction:
    """Decline a purchase; no money moves."""
    return card_transactions.record(
        unit, card, "PURCHASE", "DECLINED", merchant, authorized=amount, decline_reason=reason
    )


def approve(unit: Unit, card: Card, amount: int, merchant: Json | None) -> CardTransaction:
    """Approve a purchase, and hold its amount."""
    row = card_transactions.record(
        unit, card, "PURCHASE", "AUTHORIZED", merchant, authorized=amount, held=amount
    )
    card_transactions.move(unit, row, "available", "held", amount)
    card_transactions.announce_balance(unit, row)
    return row


def clear(unit: Unit, ask: Ask) -> Json:
    """Clear a purchase as a whole: ``{transactionId, amount}``."""
    row, amount = _named(unit, ask)
    state = card_transactions.next_state(row, "CLEAR")
    settle(unit, row, amount)
    release(unit, row)
    card_transactions.reach(unit, row, state)
    card_transactions.announce_balance(unit, row)
    return _answer(row)


def clear_partly(unit: Unit, ask: Ask) -> Json:
    """Clear a part of a purchase: ``{transactionId, amount}``."""
    row, amount = _named(unit, ask)
    state = card_transactions.next_state(row, "CLEAR_PARTLY")
    if amount >= row.held:
        raise _too_much("Expected less than what is left of the authorization.")
    settle(unit, row, amount)
    card_transactions.reach(unit, row, state)
    card_transactions.announce_balance(unit, row)
    return _answer(row)


def misclear(unit: Unit, ask: Ask) -> Json:
    """Clear a purchase in a way that does not fit its authorization: nothing is paid."""
    row, _ = _named(unit, ask)
    state = card_transactions.next_state(row, "MISCLEAR")
    release(unit, row)
    card_transactions.reach(unit, row, state)
    card_transactions.announce_balance(unit, row)
    return _answer(row)


def reverse(unit: Unit, ask: Ask) -> Json:
    """Let a merchant take an authorization back as a whole: ``{transactionId, amount}``."""
    row, amount = _named(unit, ask)
    state = card_transactions.next_state(row, "REVERSE")
    if amount != row.held:
        raise _too_much("Expected the amount of the authorization: it is taken back as a whole.")
    return _answer(void(unit, row, state))


def lapse(unit: Unit, ask: Ask) -> Json:
    """Let an authorization expire before it is cleared: ``{transactionId}``."""
    body = fields.demand(ask.body, NAMING_FIELDS)
    row = card_transactions.get(unit, _card(unit, ask), body["transactionId"])
    return _answer(void(unit, row, card_transactions.next_state(row, "LAPSE")))


def void(unit: Unit, row: CardTransaction, state: str) -> CardTransaction:
    """Give back what an authorization held."""
    release(unit, row)
    card_transactions.reach(unit, row, state)
    card_transactions.announce_balance(unit, row)
    return row


def return_purchase(unit: Unit, ask: Ask) -> Json:
    """Let a merchant return a purchase, or a part of it: ``{transactionId, amount}``."""
    row, amount = _named(unit, ask)
    state = card_transactions.next_state(row, "RETURN")
    _refuse_refund_row(row)
    if row.refunded + amount > row.settled:
        raise _too_much("Expected no more than what was settled and not returned yet.")
    row.refunded = refunded_after(row, amount)
    card_transactions.move(unit, row, "network", "available", amount)
    card_transactions.reach(unit, row, state)
    card_transactions.announce_balance(unit, row)
    return _answer(row)


def refunded_after(row: CardTransaction, amount: int) -> int:
    """Return what of a purchase is returned after another return."""
    return row.refunded + amount


def refund(unit: Unit, ask: Ask) -> Json:
    """Let a merchant return a purchase in a payment of its own: ``{transactionId, amount}``."""
    purchase, amount = _named(unit, ask)
    state = card_transactions.next_state(purchase, "REFUND")
    _refuse_refund_row(purchase)
    row = credit_row(unit, purchase, state, amount)
    card_transactions.move(unit, row, "network", "available", amount)
    card_transactions.announce_balance(unit, row)
    return _answer(row)


def credit_row(unit: Unit, purchase: CardTransaction, state: str, amount: int) -> CardTransaction:
    """Put down a merchant's payment back, which points to its purchase."""
    return card_transactions.record(
        unit,
        cards.get(unit, purchase.card_id),
        "REFUND",
        state,
        purchase.merchant,
        settled=amount,
        original_id=purchase.id,
    )


def reverse_return(unit: Unit, ask: Ask) -> Json:
    """Take a posted return back: ``{transactionId}`` is the refund row's."""
    body = fields.demand(ask.body, NAMING_FIELDS)
    row = card_transactions.get(unit, _card(unit, ask), body["transactionId"])
    purchase = returned_purchase(unit, row)
    state = card_transactions.next_state(purchase, "REVERSE_RETURN")
    amount = min(row.settled, purchase.refunded)
    purchase.refunded -= amount
    try:
        card_transactions.move(unit, purchase, "available", "network", amount)
    except ledger.OverdrawnError as error:
        raise errors.Refusal("INSUFFICIENT_FUNDS", "What was returned is spent.") from error
    card_transactions.reach(unit, purchase, state)
    card_transactions.announce_balance(unit, purchase)
    return _answer(purchase)


def returned_purchase(unit: Unit, row: CardTransaction) -> CardTransaction:
    """Return the purchase of a refund row, of which something has been returned."""
    purchase = None if row.original_id is None else card_transactions.find(unit, row.original_id)
    if purchase is None:
        raise errors.Refusal("CONFLICT", "Expected the id of a refund row.")
    if not purchase.refunded:
        raise errors.Refusal("CONFLICT", "Nothing of the purchase has been returned.")
    return purchase


def inquire(unit: Unit, ask: Ask) -> Json:
    """Let a merchant ask for the balance behind a card; nothing comes of it."""
    return {"cardId": _card(unit, ask).id}


def settle(unit: Unit, row: CardTransaction, amount: int) -> None:
    """Pay an amount that is held to the merchant."""
    if amount > row.held:
        raise _too_much("Expected no more than what is left of the authorization.")
    card_transactions.move(unit, row, "held", "network", amount)
    row.held -= amount
    row.settled += amount


def release(unit: Unit, row: CardTransaction) -> None:
    """Give back what is still held for a purchase."""
    card_transactions.move(unit, row, "held", "available", row.held)
    row.held = 0


def _card(unit: Unit, ask: Ask) -> Card:
    return cards.get(unit, ask.params["id"])


def _named(unit: Unit, ask: Ask) -> tuple[CardTransaction, int]:
    body = fields.demand(ask.body, MOVEMENT_FIELDS)
    card = _card(unit, ask)
    _refuse_other_currency(card, body)
    return card_transactions.get(unit, card, body["transactionId"]), int(body["amount"])


def _refuse_other_currency(card: Card, body: Json) -> None:
    if body.get("currency") not in (None, card.currency):
        message = f"Expected {card.currency}, the currency of the card."
        raise errors.invalid_input(errors.field_error("currency", message))


def _refuse_refund_row(row: CardTransaction) -> None:
    if row.original_id is not None:
        raise errors.Refusal("CONFLICT", "Expected the id of a purchase.")


def _too_much(message: str) -> errors.Refusal:
    return errors.invalid_input(errors.field_error("amount", message))


def _answer(row: CardTransaction) -> Json:
    return {"transactionId": row.id}
