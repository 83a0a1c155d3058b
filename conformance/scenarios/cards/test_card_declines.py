"""Purchases that are declined: why, and that no money moves."""

from __future__ import annotations

import pytest

from conformance.platform.given.cards import PRICE, units
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, require_member
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.purchases import DECLINED_PURCHASE
from conformance.verdict.decisions import TriggerFailed

DEPOSIT = 100_000


@requirement("CAR-045", "CAR-026", "CAR-048", "CAR-046", "CAR-047")
def test_a_declined_purchase_moves_no_money(platform: Platform, check: Check) -> None:
    """It is listed, with the reason, and nothing is taken from the account."""
    account = platform.cards.account()
    before = platform.internal_accounts.balances(account)
    card = platform.cards.card(account)

    seen = platform.cards.at_status(
        card, platform.cards.charge(card, DECLINED_PURCHASE), "DECLINED"
    )

    with check("CAR-045"):
        assert seen.get("status") == "DECLINED"
    with check("CAR-026"):
        assert isinstance(require_member(seen, "cardDeclinedReason"), str)
    with check("CAR-048"):
        assert units(seen.get("settledAmount")) == 0
    after = platform.until(
        lambda: platform.internal_accounts.balances(account), lambda found: found == before
    )
    with check("CAR-046"):
        assert after[0] == before[0]
    with check("CAR-047"):
        assert after[1] == before[1]


@pytest.mark.parametrize(
    ("trigger", "reason"),
    [
        pytest.param(f"purchase.{cause}", reason, marks=requirement(f"CAR-{number}"), id=cause)
        for number, cause, reason in (
            (100, "inactive", "CARD_NOT_ACTIVE"),
            (101, "limited", "SPEND_LIMIT_EXCEEDED"),
            (103, "unsourced", "NO_ELIGIBLE_FUNDING_SOURCE"),
            (104, "blocked", "BLOCKED"),
            (105, "foreign", "UNSUPPORTED_NETWORK"),
            (106, "declined", "OTHER"),
        )
    ],
)
def test_a_declined_purchase_tells_why(platform: Platform, trigger: str, reason: str) -> None:
    """By a word of a closed list."""
    card = platform.cards.card()
    ask = platform.cards.charge if reason == "CARD_NOT_ACTIVE" else platform.cards.attempt

    seen = platform.cards.at_status(card, ask(card, trigger), "DECLINED")

    assert (seen.get("status"), seen.get("cardDeclinedReason")) == ("DECLINED", reason)


@requirement("CAR-102")
def test_a_purchase_above_the_balance_is_declined_or_an_exception(platform: Platform) -> None:
    """A sandbox may decline it, and what is approved in spite of it does not settle."""
    card = platform.cards.card(platform.cards.account(amount=DEPOSIT))
    row = platform.cards.attempt(card, "purchase.underfunded", DEPOSIT + PRICE)

    seen = _resolved(platform, card, row)

    if seen.get("status") != "EXCEPTION":
        expected = ("DECLINED", "INSUFFICIENT_FUNDS")
        assert (seen.get("status"), seen.get("cardDeclinedReason")) == expected


def _resolved(platform: Platform, card: Json, row: Json) -> Json:
    """Return an underfunded purchase once it is over, clearing it where it was approved."""
    ends = ("DECLINED", "EXCEPTION")
    if row.get("status") not in ends and platform.triggers.maps("card.settle"):
        try:
            platform.cards.cause(card, row, "card.settle", DEPOSIT + PRICE)
        except TriggerFailed as error:
            platform.observe(f"an underfunded purchase is not cleared: {error}")
    return platform.cards.at_status(card, row, *ends)
