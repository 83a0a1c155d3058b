"""Card purchases: where they are listed, what they show, and what becomes of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from conformance.platform.given.cards import ENDS, PRICE, bare_id, objects, units
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, require_member
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.purchases import PART, VOIDS

# --- The list -------------------------------------------------------------------------------


@requirement("CAR-010", "CAR-011", "CAR-013", "CAR-014")
def test_a_card_has_its_own_transactions(platform: Platform, check: Check) -> None:
    """They are found by its id, with its type or without, and not by another card's."""
    card, other = platform.cards.card(), platform.cards.card()
    row = platform.cards.approved_purchase(card)
    platform.cards.approved_purchase(other)

    with check("CAR-010"):
        assert _lists(_found(platform, card, card["id"]), row)
    with check("CAR-013"):
        assert not _lists(platform.cards.filtered(other), row)
    with check("CAR-011"):
        assert _lists(_found(platform, card, bare_id(card)), row)
    with check("CAR-014"):
        assert not _lists(platform.cards.filtered(other, bare_id(other)), row)


@requirement("CAR-800", "CAR-801")
def test_a_card_and_the_type_of_its_transactions_go_together(
    platform: Platform, check: Check
) -> None:
    """Another card has its own."""
    card, other = platform.cards.card(), platform.cards.card()
    row = platform.cards.approved_purchase(card)
    platform.cards.approved_purchase(other)

    answer = platform.api.list_transactions({"cardId": card["id"], "type": "CARD"})

    with check("CAR-800"):
        assert answer.accepted, answer
        assert _lists(platform.cards.filtered(card, type="CARD"), row)
    with check("CAR-801"):
        assert not _lists(platform.cards.filtered(other, type="CARD"), row)


@requirement("CAR-012", "CAR-017")
def test_card_transactions_have_a_type_of_their_own(platform: Platform, check: Check) -> None:
    """They are found by it, and not by that of a payment of the same customer."""
    account = platform.cards.account()
    row = platform.cards.approved_purchase(platform.cards.card(account))
    owner = account["customerId"]

    with check("CAR-012"):
        assert _lists(platform.transactions.of_customer(owner, type="CARD"), row)
    with check("CAR-017"):
        payment = _payment(platform, account)
        assert not _lists(
            platform.transactions.of_customer(owner, type=require_member(payment, "type")), row
        )


@requirement("CAR-015", "CAR-016")
def test_card_transactions_are_not_found_by_status(platform: Platform, check: Check) -> None:
    """Not by one of their own either: the filter applies to payments."""
    card = platform.cards.card()
    status = require_member(platform.cards.approved_purchase(card), "status")

    with check("CAR-015"):
        refusal = platform.api.list_transactions({"type": "CARD", "status": status})
        refusal.refused(400, twin=platform.api.list_transactions({"type": "CARD"}))
    with check("CAR-016"):
        named = {"type": "CARD", "cardId": card["id"]}
        refusal = platform.api.list_transactions({**named, "status": status})
        refusal.refused(400, twin=platform.api.list_transactions(named))


# --- What they show -------------------------------------------------------------------------


@requirement("CAR-020", "CAR-021", "CAR-033", "CAR-034", "CAR-036")
def test_a_purchase_is_a_debit(platform: Platform, check: Check) -> None:
    """It is approved, and for no other transaction."""
    row = platform.cards.approved_purchase(platform.cards.card())

    with check("CAR-020"):
        assert require_member(row, "direction") in ("DEBIT", "CREDIT")
    with check("CAR-021"):
        assert isinstance(row.get("status"), str)
    with check("CAR-033"):
        assert require_member(row, "direction") == "DEBIT"
    with check("CAR-034"):
        assert not row.get("originalTransactionId")
    with check("CAR-036"):
        assert not row.get("cardDeclinedReason")


@requirement("CAR-027", "CAR-028", "CAR-029")
def test_a_purchase_is_made_with_a_merchant(platform: Platform, check: Check) -> None:
    """Of whom the network may report city and state."""
    row = platform.cards.approved_purchase(platform.cards.card())

    with check("CAR-027"):
        assert isinstance(require_member(row, "merchant"), Mapping)
    for rule, member in (("CAR-028", "city"), ("CAR-029", "state")):
        with check(rule):
            assert isinstance(require_member(require_member(row, "merchant"), member), str)


@requirement("CAR-030", "CAR-031", "CAR-032")
def test_a_purchase_tells_of_its_currency(platform: Platform, check: Check) -> None:
    """As a payment in it does; where in the transaction is not shown."""
    account = platform.cards.account()
    row = platform.cards.approved_purchase(platform.cards.card(account))
    currency = require_member(require_member(_payment(platform, account), "sentAmount"), "currency")

    for rule, member in (("CAR-030", "decimals"), ("CAR-031", "name"), ("CAR-032", "symbol")):
        with check(rule):
            expected = require_member(currency, member)
            assert any(one.get(member) == expected for one in objects(row)), row


@requirement("CAR-035")
def test_a_payment_is_not_declined_like_a_card(platform: Platform) -> None:
    """It was made without one."""
    payment = _payment(platform, platform.cards.account())

    assert not payment.get("cardDeclinedReason")


# --- States ---------------------------------------------------------------------------------


@requirement("CAR-040")
def test_an_authorized_purchase_is_not_over(platform: Platform) -> None:
    """How its state is called is not shown."""
    row = platform.cards.approved_purchase(platform.cards.card())

    assert row.get("status") not in ENDS


@requirement("CAR-041", "CAR-042")
def test_a_partly_settled_purchase_is_not_over(platform: Platform, check: Check) -> None:
    """More is to be cleared, and its state is another than before."""
    card = platform.cards.card()
    row = platform.cards.approved_purchase(card)
    authorized = row.get("status")

    platform.cards.cause(card, row, "card.settle_partly", PART)

    seen = platform.until(
        lambda: platform.cards.read(card, row).get("status"), lambda status: status != authorized
    )
    with check("CAR-042"):
        assert seen != authorized
    with check("CAR-041"):
        assert seen not in ENDS


@requirement("CAR-043", "CAR-022", "CAR-023", "CAR-044", "CAR-065")
def test_a_cleared_purchase_is_settled(platform: Platform, check: Check) -> None:
    """By what was cleared, of which nothing was returned."""
    card = platform.cards.card()
    row = platform.cards.approved_purchase(card)

    platform.cards.cause(card, row, "card.settle")

    seen = platform.cards.at_status(card, row, "SETTLED")
    with check("CAR-043"):
        assert seen.get("status") == "SETTLED"
    with check("CAR-022"):
        assert seen.get("status") != "REFUNDED"
    with check("CAR-023"):
        units(require_member(seen, "settledAmount"))
    with check("CAR-044"):
        assert units(require_member(seen, "settledAmount")) == PRICE
    with check("CAR-065"):
        assert units(seen.get("refundedAmount")) == 0


@requirement("CAR-056", "CAR-057", "CAR-058")
def test_a_settled_purchase_is_paid_by_its_account(platform: Platform, check: Check) -> None:
    """The card was issued against it, and against no other."""
    account, other = platform.cards.account(), platform.cards.account()
    before, others = (
        platform.internal_accounts.balances(account)[0],
        platform.internal_accounts.balances(other),
    )

    row = platform.cards.settled_purchase(platform.cards.card(account))

    with check("CAR-056"):
        seen = platform.until(
            lambda: platform.internal_accounts.balances(account)[0], lambda seen: seen < before
        )
        assert seen < before
    with check("CAR-057"):
        left = before - units(require_member(row, "settledAmount"))
        assert platform.internal_accounts.wait_for_balance(account, left) == left
    with check("CAR-058"):
        assert platform.internal_accounts.balances(other) == others


@pytest.mark.parametrize(
    ("trigger", "rules"),
    [
        pytest.param(trigger, rules, marks=requirement(*rules), id=trigger.rpartition(".")[2])
        for trigger, rules in zip(
            VOIDS,
            (("CAR-049", "CAR-051", "CAR-053"), ("CAR-050", "CAR-052", "CAR-054")),
            strict=True,
        )
    ],
)
def test_an_authorization_that_comes_to_nothing_is_void(
    platform: Platform, check: Check, trigger: str, rules: tuple[str, str, str]
) -> None:
    """Nothing was cleared, and the account has its balance back."""
    account = platform.cards.account()
    before = platform.internal_accounts.balances(account)[0]
    card = platform.cards.card(account)
    row = platform.cards.approved_purchase(card)

    platform.cards.cause(card, row, trigger)

    state, balance, amount = rules
    seen = platform.cards.at_status(card, row, "VOIDED")
    with check(state):
        assert seen.get("status") == "VOIDED"
    with check(balance):
        assert platform.internal_accounts.wait_for_balance(account, before) == before
    with check(amount):
        assert units(seen.get("settledAmount")) == 0


@requirement("CAR-055")
def test_a_clearing_that_does_not_fit_is_an_exception(platform: Platform) -> None:
    """It is an anomaly of the settlement."""
    card = platform.cards.card()
    row = platform.cards.approved_purchase(card)

    platform.cards.cause(card, row, "card.misclear")

    assert platform.cards.at_status(card, row, "EXCEPTION").get("status") == "EXCEPTION"


# --- Webhooks -------------------------------------------------------------------------------


def _lists(rows: Any, row: Json) -> bool:
    return row["id"] in {one.get("id") for one in rows}


def _found(platform: Platform, card: Json, card_id: str) -> Sequence[Json]:
    """Return the transactions of a card by its id in one of its forms, which has to be taken."""
    answer = platform.api.list_transactions({"cardId": card_id})
    assert answer.accepted, answer
    return platform.cards.filtered(card, card_id)


def _payment(platform: Platform, account: Resource) -> Resource:
    """Return the transaction of a payment from an account, made without a card."""
    corridor = platform.quotes.corridors_from(platform.profile.resources.card_currency)[0]
    destination = platform.external_accounts.account(account.owner, corridor.account)
    return platform.transactions.of_quote(platform.quotes.pending(account, destination))
