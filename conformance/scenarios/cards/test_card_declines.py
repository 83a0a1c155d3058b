"""Purchases that are declined: the reason that they show, and that no money moves."""

from __future__ import annotations

import pytest

from conformance.platform.given.cards import PRICE, units
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, require_member
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.purchases import (
    CURRENCY_MEMBERS,
    DECLINE_REASONS,
    DECLINED_PURCHASE,
    attempt_purchase,
    expect_currency_told,
    expect_listed,
)
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

DEPOSIT = 100_000


MOVES_NOTHING = ("CAR-046", "CAR-047", "CAR-048")
"""That a declined purchase leaves both balances as they are, and shows no settledAmount."""

LISTED = ("CAR-010", "CAR-012")
"""That a purchase is listed under the id of its card, and under the type CARD."""


@requirement("CAR-045", "CAR-026", *MOVES_NOTHING, "CAR-033", "CAR-034", *LISTED, *CURRENCY_MEMBERS)
def test_a_declined_purchase_moves_no_money(platform: Platform, check: Check) -> None:
    """A purchase at DECLINED shows a cardDeclinedReason, and the account's balances stay.

    It is a DEBIT without originalTransactionId, tells of its currency, and is listed under its card
    and the type CARD, as other purchases are.
    """
    account = platform.cards.account()
    before = platform.internal_accounts.balances(account)
    card = platform.cards.card(account)

    row = platform.cards.at_status(card, platform.cards.charge(card, DECLINED_PURCHASE), "DECLINED")

    with check("CAR-045"):
        assert row.get("status") == "DECLINED"
    with check("CAR-026"):
        assert isinstance(require_member(row, "cardDeclinedReason"), str)
    with check("CAR-033"):
        assert require_member(row, "direction") == "DEBIT"
    with check("CAR-034"):
        assert not row.get("originalTransactionId")
    expect_listed(platform, check, card, row)
    expect_currency_told(check, account, row)
    expect_nothing_moved(platform, check, account, before, row)


@pytest.mark.parametrize(
    ("trigger", "reason", "reason_id"),
    [
        case(
            # To leave a card without funds, its account may be emptied.
            (requirement_id, *(MOVES_NOTHING if trigger != "purchase.unsourced" else ())),
            trigger.rpartition(".")[2],
            trigger,
            DECLINE_REASONS[trigger],
            requirement_id,
        )
        for requirement_id, trigger in {
            "CAR-100": "purchase.inactive",
            "CAR-101": "purchase.limited",
            "CAR-103": "purchase.unsourced",
            "CAR-104": "purchase.blocked",
            "CAR-105": "purchase.foreign",
            "CAR-106": DECLINED_PURCHASE,
        }.items()
    ],
)
def test_a_declined_purchase_tells_why(
    platform: Platform, check: Check, trigger: str, reason: str, reason_id: str
) -> None:
    """The cardDeclinedReason is the value of the closed list for the cause, and no money moves."""
    account = platform.cards.account()
    before = platform.internal_accounts.balances(account)
    card = platform.cards.card(account)

    row = platform.cards.at_status(card, attempt_purchase(platform, card, trigger), "DECLINED")

    with check(reason_id):
        assert (row.get("status"), row.get("cardDeclinedReason")) == ("DECLINED", reason)
    if trigger != "purchase.unsourced":
        expect_nothing_moved(platform, check, account, before, row)


@requirement("CAR-102", *MOVES_NOTHING)
def test_a_purchase_above_the_balance_is_declined_or_an_exception(
    platform: Platform, check: Check
) -> None:
    """The purchase is DECLINED for INSUFFICIENT_FUNDS, or approved and then an EXCEPTION.

    Where it is declined no money moves.
    """
    account = platform.cards.account(amount=DEPOSIT)
    before = platform.internal_accounts.balances(account)
    card = platform.cards.card(account)
    row = platform.cards.attempt(card, "purchase.underfunded", DEPOSIT + PRICE)

    resolved_row = _resolve(platform, card, row, DEPOSIT + PRICE)

    with check("CAR-102"):
        if resolved_row.get("status") != "EXCEPTION":
            expected = ("DECLINED", "INSUFFICIENT_FUNDS")
            assert (resolved_row.get("status"), resolved_row.get("cardDeclinedReason")) == expected
    if row.get("status") == "DECLINED":
        expect_nothing_moved(platform, check, account, before, resolved_row)
        return
    for requirement_id in MOVES_NOTHING:
        with check(requirement_id):
            raise ResourceMissing(f"a purchase above the balance is {row.get('status')} at first")


@requirement("CAR-102")
def test_what_is_held_cannot_be_spent_again(platform: Platform) -> None:
    """A purchase above what another authorization leaves is declined, or an EXCEPTION.

    Where it is settled, the other one is the EXCEPTION.
    """
    account = platform.cards.account(amount=DEPOSIT)
    card = platform.cards.card(account)
    first = platform.cards.approved_purchase(card, DEPOSIT - PRICE)
    balance_left = platform.internal_accounts.balances(account)[0]
    if balance_left >= 2 * PRICE:
        raise ResourceMissing(f"an authorization leaves the balance at {balance_left}")

    row = platform.cards.attempt(card, amount=2 * PRICE)

    resolved_row = _resolve(platform, card, row, 2 * PRICE)
    if resolved_row.get("status") == "SETTLED":
        resolved_row = _resolve(platform, card, first, DEPOSIT - PRICE)
    if resolved_row.get("status") != "EXCEPTION":
        expected = ("DECLINED", "INSUFFICIENT_FUNDS")
        assert (resolved_row.get("status"), resolved_row.get("cardDeclinedReason")) == expected


@requirement("CAR-107")
def test_an_account_can_be_spent_as_a_whole(platform: Platform) -> None:
    """A purchase of all that the account has is not declined with INSUFFICIENT_FUNDS."""
    card = platform.cards.card(platform.cards.account(amount=DEPOSIT))

    row = platform.cards.attempt(card, amount=DEPOSIT)

    assert row.get("cardDeclinedReason") != "INSUFFICIENT_FUNDS"


@requirement("CAR-107")
def test_what_another_purchase_leaves_can_be_spent(platform: Platform) -> None:
    """A purchase of the balance beside an open authorization is not declined for want of funds."""
    account = platform.cards.account(amount=DEPOSIT)
    card = platform.cards.card(account)
    platform.cards.approved_purchase(card)
    available, _ = platform.internal_accounts.balances(account)

    row = platform.cards.attempt(card, amount=available)

    if row.get("cardDeclinedReason") != "INSUFFICIENT_FUNDS":
        return
    # What is held may be shown a moment later.
    left, _ = platform.until(
        lambda: platform.internal_accounts.balances(account), lambda seen: seen[0] < available
    )
    assert left < available, f"{available} are available, and declined for want of funds: {row}"


def expect_nothing_moved(
    platform: Platform, check: Check, account: Resource, before: tuple[int, int], row: Json
) -> None:
    """Decide whether a declined purchase left the balances, and shows nothing as settled.

    Raises:
        PreconditionFailed: the purchase is not declined.
    """
    if row.get("status") != "DECLINED":
        raise PreconditionFailed(f"the purchase is not declined: {row}")
    with check("CAR-048"):
        assert units(row.get("settledAmount")) == 0
    after = platform.until(
        lambda: platform.internal_accounts.balances(account), lambda balances: balances == before
    )
    with check("CAR-046"):
        assert after[0] == before[0]
    with check("CAR-047"):
        assert after[1] == before[1]


def _resolve(platform: Platform, card: Json, row: Json, amount: int) -> Json:
    """Return an underfunded purchase once it is DECLINED or an EXCEPTION.

    Where the purchase is approved, it is cleared first.
    """
    ends = ("DECLINED", "EXCEPTION")
    if row.get("status") not in ends and platform.triggers.maps("card.settle"):
        try:
            platform.cards.cause(card, row, "card.settle", amount)
        except TriggerFailed as error:
            platform.observe(f"an underfunded purchase is not cleared: {error}")
    return platform.cards.at_status(card, row, *ends)
