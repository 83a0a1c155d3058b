"""Purchases on cards, and the events that report what becomes of them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from conformance.exchange.delivery import Delivery
from conformance.platform.given.cards import PRICE
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource
from conformance.verdict.decisions import PreconditionFailed

BALANCE = "INTERNAL_ACCOUNT.BALANCE_UPDATED"

PART = PRICE // 5
"""A part of the price, in the smallest unit."""

DECLINED = "CARD_TRANSACTION.DECLINED"
REFUNDED = "CARD_TRANSACTION.REFUNDED"
SETTLED = "CARD_TRANSACTION.SETTLED"
VOIDED = "CARD_TRANSACTION.VOIDED"

VOIDS = ("card.reverse", "card.lapse")
"""The triggers that end an authorization before it is cleared."""

SUSPECT = "purchase.declined"


def is_told(
    platform: Platform,
    account: Resource,
    balance: int,
    known: Collection[str | None] = (),
) -> bool:
    """Return whether a webhook that is not ``known`` reports a balance of an account."""
    told = platform.webhooks.wait_for(
        BALANCE,
        account["id"],
        where=lambda one: balance_after(one) == balance and one.id not in known,
    )
    return told is not None


def arranged_purchase(deliveries: list[Delivery]) -> list[Delivery]:
    """Return deliveries about a card transaction.

    Raises:
        PreconditionFailed: there are none.
    """
    if not deliveries:
        raise PreconditionFailed("no webhook reports the card transaction")
    return deliveries


def expect_not_refunded(platform: Platform, card: Json) -> None:
    """Assert that no webhook says REFUNDED by the time that a later purchase is reported."""
    if not platform.cards.deliveries_about(platform.cards.approved_purchase(card)):
        raise PreconditionFailed("no webhook reports the purchase after it")
    types = {
        one.type
        for row in platform.cards.transactions(card)
        for one in platform.webhooks.about(row["id"])
    }
    assert REFUNDED not in types


def is_told_again(platform: Platform, purchase: Json, known: set[str | None]) -> bool:
    """Return whether the settlement of a purchase is reported by another event than those known."""
    told = platform.webhooks.wait_for(
        SETTLED, purchase["id"], where=lambda one: one.id not in known
    )
    return told is not None


def settlements(platform: Platform, purchase: Json) -> set[str | None]:
    """Return the ids of the webhooks that report a purchase as settled, waiting for the first."""
    platform.webhooks.wait_for(SETTLED, purchase["id"])
    return {one.id for one in platform.webhooks.about(purchase["id"]) if one.type == SETTLED}


def balance_after(delivery: Delivery) -> Any:
    """Return the balance that a webhook about an internal account reports, in the smallest unit."""
    balance = delivery.data.get("balance")
    return balance.get("amount") if isinstance(balance, Mapping) else None
