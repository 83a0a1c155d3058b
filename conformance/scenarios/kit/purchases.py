"""Purchases on cards, and the webhooks that report what becomes of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from conformance.exchange.delivery import Delivery
from conformance.platform.given.cards import PRICE, objects, units
from conformance.platform.platform import Platform
from conformance.platform.resource import Body, Json, Resource, require_member
from conformance.scenarios.kit.marks import Check
from conformance.verdict.decisions import PreconditionFailed

BALANCE = "INTERNAL_ACCOUNT.BALANCE_UPDATED"

PART = PRICE // 5
"""A part of the price, in the smallest unit."""

DECLINED = "CARD_TRANSACTION.DECLINED"
REFUNDED = "CARD_TRANSACTION.REFUNDED"
SETTLED = "CARD_TRANSACTION.SETTLED"
VOIDED = "CARD_TRANSACTION.VOIDED"

CURRENCY_MEMBERS = {"CAR-030": "decimals", "CAR-031": "name", "CAR-032": "symbol"}
"""By requirement what a card transaction tells of its currency."""

VOIDS = ("card.reverse", "card.lapse")
"""The triggers that end an authorization before it is cleared."""

DECLINED_PURCHASE = "purchase.declined"
"""The trigger of a purchase that is declined."""

DECLINE_REASONS = {
    "purchase.inactive": "CARD_NOT_ACTIVE",
    "purchase.limited": "SPEND_LIMIT_EXCEEDED",
    "purchase.unsourced": "NO_ELIGIBLE_FUNDING_SOURCE",
    "purchase.blocked": "BLOCKED",
    "purchase.foreign": "UNSUPPORTED_NETWORK",
    DECLINED_PURCHASE: "OTHER",
}
"""By the trigger of a purchase that is always declined, the cardDeclinedReason that it shows."""


def attempt_purchase(platform: Platform, card: Resource, trigger: str) -> Body:
    """Let a merchant ask for a purchase, and return its transaction once it is listed.

    A card that cannot be used yet is waited for, unless that is what stands in the way.
    """
    is_inactive = DECLINE_REASONS.get(trigger) == "CARD_NOT_ACTIVE"
    purchase = platform.cards.charge if is_inactive else platform.cards.attempt
    return purchase(card, trigger)


def expect_listed(
    platform: Platform,
    check: Check,
    card: Json,
    row: Json,
    ids: tuple[str, str] = ("CAR-010", "CAR-012"),
) -> None:
    """Decide whether the filter by a card and the one by type each list a card transaction.

    What the suite reads elsewhere is listed by either of the two.
    """
    by_card, by_type = ids
    with check(by_card):
        assert row["id"] in {each.get("id") for each in platform.cards.filtered(card)}
    with check(by_type):
        rows = platform.transactions.of_customer(card["customerId"], type="CARD")
        assert any(each.get("id") == row["id"] for each in rows)


def expect_currency_told(check: Check, account: Resource, row: Json) -> None:
    """Decide whether a card transaction tells of its currency as the account of the card does.

    Any object in the transaction may tell it.
    """
    for requirement_id, member in CURRENCY_MEMBERS.items():
        with check(requirement_id):
            expected = require_member(account["balance"]["currency"], member)
            assert any(part.get(member) == expected for part in objects(row)), row


def is_balance_reported(
    platform: Platform,
    account: Resource,
    balance: int,
    known_ids: Collection[str | None] = (),
) -> bool:
    """Return whether a webhook whose id is not in ``known_ids`` reports a balance of an account."""
    report = platform.webhooks.wait_for(
        BALANCE,
        account["id"],
        where=lambda delivery: balance_after(delivery) == balance and delivery.id not in known_ids,
    )
    return report is not None


def arrange_reports(deliveries: list[Delivery]) -> list[Delivery]:
    """Return webhooks about a card transaction, of which there has to be at least one.

    Raises:
        PreconditionFailed: there is no webhook.
    """
    if not deliveries:
        raise PreconditionFailed("no webhook reports the card transaction")
    return deliveries


def expect_not_refunded(platform: Platform, card: Json) -> None:
    """Assert that no webhook about a card's transactions has the type CARD_TRANSACTION.REFUNDED.

    A later purchase is made and reported first, so that earlier webhooks have arrived by then.

    Raises:
        PreconditionFailed: no webhook reports the later purchase.
    """
    if not platform.cards.deliveries_about(platform.cards.approved_purchase(card)):
        raise PreconditionFailed("no webhook reports the purchase after it")
    types = {
        delivery.type
        for row in platform.cards.transactions(card)
        for delivery in platform.webhooks.about(row["id"])
    }
    assert REFUNDED not in types


def is_settlement_reported_again(
    platform: Platform, purchase: Json, known_ids: set[str | None], returned: int
) -> bool:
    """Return whether a webhook whose id is not in ``known_ids`` reports a purchase as settled.

    Where it shows a status, that has to be SETTLED. Where it shows a refundedAmount, that has to be
    what is returned by then.
    """

    def tells(delivery: Delivery) -> bool:
        return (
            delivery.id not in known_ids
            and delivery.data.get("status") in (None, "SETTLED")
            and is_shown(delivery, "refundedAmount", returned)
        )

    return platform.webhooks.wait_for(SETTLED, purchase["id"], where=tells) is not None


def is_shown(delivery: Delivery, member: str, amount: int) -> bool:
    """Return whether a webhook shows an amount of a card transaction, if it shows that member."""
    shown = delivery.data.get(member)
    return shown is None or units(shown) == amount


def settlement_ids(platform: Platform, purchase: Json) -> set[str | None]:
    """Wait for a webhook that reports a purchase as settled; return the ids of all of them."""
    platform.webhooks.wait_for(SETTLED, purchase["id"])
    return {
        delivery.id
        for delivery in platform.webhooks.about(purchase["id"])
        if delivery.type == SETTLED
    }


def balance_after(delivery: Delivery) -> Any:
    """Return the balance in a webhook about an internal account, in the smallest unit.

    Without a balance in the webhook it is None.
    """
    balance = delivery.data.get("balance")
    return balance.get("amount") if isinstance(balance, Mapping) else None
