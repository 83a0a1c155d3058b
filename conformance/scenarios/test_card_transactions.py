"""Card purchases: where they are listed, what they show, and what becomes of them."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pytest

from conformance.client.actor import Json, given
from conformance.client.cards import ENDS, PRICE, bare, is_same, objects, units
from conformance.client.listener import Delivery
from conformance.client.platform import Platform
from conformance.scenarios.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

PART = PRICE // 5
VOIDS = ("card.reverse", "card.lapse")
SETTLED, VOIDED = "CARD_TRANSACTION.SETTLED", "CARD_TRANSACTION.VOIDED"
BALANCE = "INTERNAL_ACCOUNT.BALANCE_UPDATED"


# --- The list -------------------------------------------------------------------------------


@requirement("CAR-010", "CAR-011", "CAR-013", "CAR-014")
def test_a_card_has_its_own_transactions(platform: Platform, check: Check) -> None:
    """They are found by its id, with its type or without, and not by another card's."""
    card, other = platform.card(), platform.card()
    row = platform.approved_purchase(card)
    platform.approved_purchase(other)

    with check("CAR-010"):
        assert _lists(_found(platform, card, card["id"]), row)
    with check("CAR-013"):
        assert not _lists(platform.on_card(other), row)
    with check("CAR-011"):
        assert _lists(_found(platform, card, bare(card)), row)
    with check("CAR-014"):
        assert not _lists(platform.on_card(other, bare(other)), row)


@requirement("CAR-800", "CAR-801")
def test_a_card_and_the_type_of_its_transactions_go_together(
    platform: Platform, check: Check
) -> None:
    """Another card has its own."""
    card, other = platform.card(), platform.card()
    row = platform.approved_purchase(card)
    platform.approved_purchase(other)

    answer = platform.list_transactions(cardId=card["id"], type="CARD")

    with check("CAR-800"):
        assert answer.accepted, answer
        assert _lists(platform.on_card(card, type="CARD"), row)
    with check("CAR-801"):
        assert not _lists(platform.on_card(other, type="CARD"), row)


@requirement("CAR-012", "CAR-017")
def test_card_transactions_have_a_type_of_their_own(platform: Platform, check: Check) -> None:
    """They are found by it, and not by that of a payment of the same customer."""
    account = platform.card_account()
    row = platform.approved_purchase(platform.card(account))
    owner = account["customerId"]

    with check("CAR-012"):
        assert _lists(platform.transactions(owner, type="CARD"), row)
    with check("CAR-017"):
        payment = _payment(platform, account)
        assert not _lists(platform.transactions(owner, type=given(payment, "type")), row)


@requirement("CAR-015", "CAR-016")
def test_card_transactions_are_not_found_by_status(platform: Platform, check: Check) -> None:
    """Not by one of their own either: the filter applies to payments."""
    card = platform.card()
    status = given(platform.approved_purchase(card), "status")

    with check("CAR-015"):
        refusal = platform.list_transactions(type="CARD", status=status)
        refusal.refused(400, twin=platform.list_transactions(type="CARD"))
    with check("CAR-016"):
        named = {"type": "CARD", "cardId": card["id"]}
        refusal = platform.list_transactions(**named, status=status)
        refusal.refused(400, twin=platform.list_transactions(**named))


# --- What they show -------------------------------------------------------------------------


@requirement("CAR-020", "CAR-021", "CAR-033", "CAR-034", "CAR-036")
def test_a_purchase_is_a_debit(platform: Platform, check: Check) -> None:
    """It is approved, and for no other transaction."""
    row = platform.approved_purchase(platform.card())

    with check("CAR-020"):
        assert given(row, "direction") in ("DEBIT", "CREDIT")
    with check("CAR-021"):
        assert isinstance(row.get("status"), str)
    with check("CAR-033"):
        assert given(row, "direction") == "DEBIT"
    with check("CAR-034"):
        assert not row.get("originalTransactionId")
    with check("CAR-036"):
        assert not row.get("cardDeclinedReason")


@requirement("CAR-027", "CAR-028", "CAR-029")
def test_a_purchase_is_made_with_a_merchant(platform: Platform, check: Check) -> None:
    """Of whom the network may report city and state."""
    row = platform.approved_purchase(platform.card())

    with check("CAR-027"):
        assert isinstance(given(row, "merchant"), dict)
    for rule, member in (("CAR-028", "city"), ("CAR-029", "state")):
        with check(rule):
            assert isinstance(given(given(row, "merchant"), member), str)


@requirement("CAR-030", "CAR-031", "CAR-032")
def test_a_purchase_tells_of_its_currency(platform: Platform, check: Check) -> None:
    """As a payment in it does; where in the transaction is not shown."""
    account = platform.card_account()
    row = platform.approved_purchase(platform.card(account))
    currency = given(given(_payment(platform, account), "sentAmount"), "currency")

    for rule, member in (("CAR-030", "decimals"), ("CAR-031", "name"), ("CAR-032", "symbol")):
        with check(rule):
            expected = given(currency, member)
            assert any(one.get(member) == expected for one in objects(row)), row


@requirement("CAR-035")
def test_a_payment_is_not_declined_like_a_card(platform: Platform) -> None:
    """It was made without one."""
    payment = _payment(platform, platform.card_account())

    assert not payment.get("cardDeclinedReason")


# --- States ---------------------------------------------------------------------------------


@requirement("CAR-040")
def test_an_authorized_purchase_is_not_over(platform: Platform) -> None:
    """How its state is called is not shown."""
    row = platform.approved_purchase(platform.card())

    assert row.get("status") not in ENDS


@requirement("CAR-041", "CAR-042")
def test_a_partly_settled_purchase_is_not_over(platform: Platform, check: Check) -> None:
    """More is to be cleared, and its state is another than before."""
    card = platform.card()
    row = platform.approved_purchase(card)
    authorized = row.get("status")

    platform.happens(card, row, "card.settle_partly", PART)

    seen = platform.until(
        lambda: platform.row_now(card, row).get("status"), lambda status: status != authorized
    )
    with check("CAR-042"):
        assert seen != authorized
    with check("CAR-041"):
        assert seen not in ENDS


@requirement("CAR-043", "CAR-022", "CAR-023", "CAR-044", "CAR-065")
def test_a_cleared_purchase_is_settled(platform: Platform, check: Check) -> None:
    """By what was cleared, of which nothing was returned."""
    card = platform.card()
    row = platform.approved_purchase(card)

    platform.happens(card, row, "card.settle")

    seen = platform.row_in(card, row, "SETTLED")
    with check("CAR-043"):
        assert seen.get("status") == "SETTLED"
    with check("CAR-022"):
        assert seen.get("status") != "REFUNDED"
    with check("CAR-023"):
        units(given(seen, "settledAmount"))
    with check("CAR-044"):
        assert units(given(seen, "settledAmount")) == PRICE
    with check("CAR-065"):
        assert units(seen.get("refundedAmount")) == 0


@requirement("CAR-056", "CAR-057", "CAR-058")
def test_a_settled_purchase_is_paid_by_its_account(platform: Platform, check: Check) -> None:
    """The card was issued against it, and against no other."""
    account, other = platform.card_account(), platform.card_account()
    before, others = platform.balances(account)[0], platform.balances(other)

    row = platform.settled_purchase(platform.card(account))

    with check("CAR-056"):
        seen = platform.until(lambda: platform.balances(account)[0], lambda seen: seen < before)
        assert seen < before
    with check("CAR-057"):
        left = before - units(given(row, "settledAmount"))
        assert platform.balance_at(account, left) == left
    with check("CAR-058"):
        assert platform.balances(other) == others


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
    account = platform.card_account()
    before = platform.balances(account)[0]
    card = platform.card(account)
    row = platform.approved_purchase(card)

    platform.happens(card, row, trigger)

    state, balance, amount = rules
    seen = platform.row_in(card, row, "VOIDED")
    with check(state):
        assert seen.get("status") == "VOIDED"
    with check(balance):
        assert platform.balance_at(account, before) == before
    with check(amount):
        assert units(seen.get("settledAmount")) == 0


@requirement("CAR-055")
def test_a_clearing_that_does_not_fit_is_an_exception(platform: Platform) -> None:
    """It is an anomaly of the settlement."""
    card = platform.card()
    row = platform.approved_purchase(card)

    platform.happens(card, row, "card.misclear")

    assert platform.row_in(card, row, "EXCEPTION").get("status") == "EXCEPTION"


# --- Webhooks -------------------------------------------------------------------------------


@requirement("EVT-170")
def test_an_authorization_is_reported(platform: Platform) -> None:
    """Under a name that is not shown in full."""
    row = platform.approved_purchase(platform.card())

    assert platform.told_of(row)


@pytest.mark.parametrize(
    ("trigger", "amount"),
    [
        pytest.param("card.settle_partly", PART, marks=requirement("EVT-171"), id="partly"),
        pytest.param("card.misclear", PRICE, marks=requirement("EVT-176"), id="anomaly"),
    ],
)
def test_a_change_is_reported(platform: Platform, trigger: str, amount: int) -> None:
    """After the authorization, and by a webhook of its own."""
    card = platform.card()
    row = platform.approved_purchase(card)
    known = len(_arranged(platform.told_of(row)))

    platform.happens(card, row, trigger, amount)

    assert len(platform.told_of(row, known)) > known


@requirement("EVT-172", "EVT-187", "EVT-188", "EVT-189")
def test_a_settlement_is_reported(platform: Platform, check: Check) -> None:
    """With the card transaction, whatever else is shown of it."""
    card = platform.card()
    row = platform.approved_purchase(card)
    authorized = platform.told_of(row)

    platform.happens(card, row, "card.settle")

    told = platform.event(SETTLED, row["id"])
    with check("EVT-172"):
        assert told is not None
    with check("EVT-189"):
        ids = {one.id for one in _arranged(authorized)}
        assert told is None or told.id not in ids
    about = [one for one in platform.mentions(row["id"]) if one.type == SETTLED]
    _arranged(about)
    with check("EVT-187"):
        assert all(isinstance(one.data, dict) for one in about)
    with check("EVT-188"):
        assert all(is_same(one.data.get("id"), row["id"]) for one in about)


@pytest.mark.parametrize(
    "trigger",
    [
        pytest.param(trigger, marks=requirement(rule), id=trigger.rpartition(".")[2])
        for rule, trigger in zip(("EVT-174", "EVT-175"), VOIDS, strict=True)
    ],
)
def test_a_void_authorization_is_reported(platform: Platform, trigger: str) -> None:
    """Whether the merchant took it back or it expired."""
    card = platform.card()
    row = platform.approved_purchase(card)

    platform.happens(card, row, trigger)

    assert platform.event(VOIDED, row["id"]) is not None


@requirement("EVT-185")
def test_a_void_authorization_is_not_reported_as_settled(platform: Platform) -> None:
    """Nothing of it was cleared."""
    card = platform.card()
    row = platform.approved_purchase(card)

    platform.happens(card, row, "card.reverse")

    platform.row_at(card, row, "VOIDED")
    _arranged(platform.told_of(platform.approved_purchase(card)))
    assert SETTLED not in {one.type for one in platform.events(row["id"])}


@requirement("EVT-186")
def test_the_balance_after_a_purchase_is_reported(platform: Platform) -> None:
    """It is what is left on the account."""
    account = platform.card_account()
    before = platform.balances(account)[0]
    platform.settled_purchase(platform.card(account))

    left = platform.until(lambda: platform.balances(account)[0], lambda seen: seen < before)

    if left >= before:
        raise PreconditionFailed(f"the balance is still {left} after a settled purchase")
    assert _is_told(platform, account, left)


@requirement("EVT-190")
def test_the_balance_after_a_return_is_reported(platform: Platform) -> None:
    """It is what the account has then."""
    account = platform.card_account()
    deposited = platform.balances(account)[0]
    card = platform.card(account)
    purchase = platform.settled_purchase(card)
    before = platform.until(
        lambda: platform.balances(account)[0], lambda balance: balance < deposited
    )
    platform.give_back(card, purchase, PART)

    after = platform.until(lambda: platform.balances(account)[0], lambda seen: seen > before)

    if after <= before:
        raise PreconditionFailed(f"the balance is still {after} after a return")
    assert _is_told(platform, account, after)


@requirement("EVT-191")
def test_the_balance_after_a_reversal_is_reported(platform: Platform) -> None:
    """It is what the account had before the authorization."""
    account = platform.card_account()
    before = platform.balances(account)[0]
    if not _is_told(platform, account, before):
        raise PreconditionFailed("the deposit is not reported")
    card = platform.card(account)
    row = platform.approved_purchase(card)
    if platform.balances(account)[0] >= before:
        raise ResourceMissing("an authorization leaves the balance as it is")
    known = {one.id for one in platform.events(account["id"])}

    platform.happens(card, row, "card.reverse")

    assert _is_told(platform, account, before, known)


def _is_told(
    platform: Platform,
    account: Json,
    balance: int,
    known: Collection[str | None] = (),
) -> bool:
    """Return whether a webhook that is not ``known`` reports a balance of an account."""
    told = platform.event(
        BALANCE,
        account["id"],
        where=lambda one: _balance(one) == balance and one.id not in known,
    )
    return told is not None


def _balance(delivery: Delivery) -> Any:
    balance = delivery.data.get("balance")
    return balance.get("amount") if isinstance(balance, dict) else None


def _arranged(deliveries: list[Delivery]) -> list[Delivery]:
    if not deliveries:
        raise PreconditionFailed("no webhook reports the card transaction")
    return deliveries


def _lists(rows: Any, row: Json) -> bool:
    return row["id"] in {one.get("id") for one in rows}


def _found(platform: Platform, card: Json, card_id: str) -> list[Json]:
    """Return the transactions of a card by its id in one of its forms, which has to be taken."""
    answer = platform.list_transactions(cardId=card_id)
    assert answer.accepted, answer
    return platform.on_card(card, card_id)


def _payment(platform: Platform, account: Json) -> Json:
    """Return the transaction of a payment from an account, made without a card."""
    corridor = platform.corridors_from(platform.profile.resources.card_currency)[0]
    destination = platform.destination({"id": account["customerId"]}, corridor.account)
    return platform.transaction(platform.quote(account, destination))
