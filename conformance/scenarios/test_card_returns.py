"""What merchants give back: returns of a purchase, returns on their own, and their reversal."""

from __future__ import annotations

import pytest

from conformance.client.actor import Json, given, unknown
from conformance.client.cards import PRICE, is_same, units
from conformance.client.platform import Platform
from conformance.scenarios.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

PART = PRICE // 5
SETTLED, REFUNDED = "CARD_TRANSACTION.SETTLED", "CARD_TRANSACTION.REFUNDED"


# --- Returns of a purchase ------------------------------------------------------------------


@requirement("CAR-060", "CAR-024", "CAR-061", "CAR-066", "CAR-068", "CAR-069")
def test_a_returned_part_is_noted_on_the_purchase(platform: Platform, check: Check) -> None:
    """It remains settled, by as much as before."""
    card = platform.card()
    purchase = platform.settled_purchase(card)

    platform.happens(card, purchase, "card.return", PART)

    seen = platform.returned(card, purchase, PART)
    with check("CAR-061"):
        assert units(seen.get("refundedAmount")) == PART
    with check("CAR-024"):
        units(given(seen, "refundedAmount"))
    with check("CAR-060"):
        assert seen.get("status") == "SETTLED"
    with check("CAR-066"):
        before = units(given(purchase, "settledAmount"))
        assert units(seen.get("settledAmount")) == before
    with check("CAR-068"):
        assert given(seen, "direction") == "DEBIT"
    with check("CAR-069"):
        assert "REFUNDED" not in {row.get("status") for row in platform.card_rows(card)}


@requirement("CAR-062")
def test_two_returned_parts_are_noted_together(platform: Platform) -> None:
    """What was returned in all is shown."""
    card = platform.card()
    purchase = platform.settled_purchase(card)
    platform.happens(card, purchase, "card.return", PART)
    platform.returned(card, purchase, PART)

    platform.happens(card, purchase, "card.return", 2 * PART)

    seen = platform.returned(card, purchase, 3 * PART)
    assert units(seen.get("refundedAmount")) == 3 * PART


@requirement("CAR-063", "CAR-064", "CAR-079")
def test_a_returned_purchase_remains_settled(platform: Platform, check: Check) -> None:
    """Although nothing is left of it."""
    card = platform.card()
    purchase = platform.settled_purchase(card)

    platform.happens(card, purchase, "card.return", PRICE)

    seen = platform.returned(card, purchase, PRICE)
    with check("CAR-064"):
        assert units(seen.get("refundedAmount")) == PRICE
    with check("CAR-063"):
        assert seen.get("status") == "SETTLED"
    with check("CAR-079"):
        assert "REFUNDED" not in {row.get("status") for row in platform.card_rows(card)}


@requirement("CAR-067")
def test_a_return_is_credited(platform: Platform) -> None:
    """The account that paid for the purchase has more than before."""
    account, card, purchase = _paid(platform)
    before = platform.balances(account)[0]

    platform.happens(card, purchase, "card.return", PART)

    assert _raised(platform, account, before)


# --- Returns on their own -------------------------------------------------------------------


@requirement("CAR-070", "CAR-071", "CAR-072", "CAR-073", "CAR-074", "CAR-075", "CAR-025", "CAR-078")
def test_a_standalone_return_is_a_transaction_of_its_own(platform: Platform, check: Check) -> None:
    """It points to the purchase, which remains as it was."""
    card = platform.card()
    purchase = platform.settled_purchase(card)

    row: Json | None = None
    with check("CAR-070"):
        row = _given_back(platform, card, purchase)
    if row is None:
        raise PreconditionFailed("the return is not listed")
    seen = platform.row_in(card, row, "SETTLED")

    with check("CAR-071"):
        assert seen.get("direction") == "CREDIT"
    with check("CAR-072"):
        assert seen.get("status") == "SETTLED"
    with check("CAR-073"):
        assert units(seen.get("settledAmount")) == PART
    with check("CAR-074"):
        assert is_same(seen.get("originalTransactionId"), purchase["id"])
    with check("CAR-025"):
        assert isinstance(given(seen, "originalTransactionId"), str)
    with check("CAR-075"):
        assert platform.row_now(card, purchase).get("status") == "SETTLED"
    with check("CAR-078"):
        assert "REFUNDED" not in {one.get("status") for one in platform.card_rows(card)}


@requirement("CAR-076")
def test_a_standalone_return_is_credited(platform: Platform) -> None:
    """The account has more than before."""
    account, card, purchase = _paid(platform)
    before = platform.balances(account)[0]

    platform.give_back(card, purchase, PART)

    assert _raised(platform, account, before)


@requirement("CAR-077")
def test_two_standalone_returns_are_two_transactions(platform: Platform) -> None:
    """Each of them is listed."""
    card = platform.card()
    purchase = platform.settled_purchase(card)
    first = platform.give_back(card, purchase, PART)

    second = _given_back(platform, card, purchase)

    listed = {row.get("id") for row in platform.card_rows(card)}
    assert {first["id"], second["id"], purchase["id"]} <= listed


# --- The reversal of a return ---------------------------------------------------------------


@requirement("CAR-080", "CAR-089")
def test_a_return_can_be_reversed(platform: Platform, check: Check) -> None:
    """The refund row names it."""
    card = platform.card()
    _, row = platform.reversible(card)

    answer = platform.reverse_return(card, row["id"])

    with check("CAR-080"):
        assert answer.accepted, answer
    with check("CAR-089"):
        assert "REFUNDED" not in {one.get("status") for one in platform.card_rows(card)}


@requirement("CAR-081")
def test_what_was_not_returned_cannot_be_reversed(platform: Platform) -> None:
    """The purchase shows no refundedAmount; that of the other does."""
    card = platform.card()
    purchase = platform.settled_purchase(card)
    row = platform.give_back(card, purchase, PART)
    if units(platform.row_now(card, purchase).get("refundedAmount")):
        raise ResourceMissing("a return on its own counts as one of the purchase")
    _, other = platform.reversible(card)

    refusal = platform.reverse_return(card, row["id"])

    refusal.refused(twin=platform.reverse_return(card, other["id"]))


@requirement("CAR-082")
def test_a_return_that_does_not_exist_cannot_be_reversed(platform: Platform) -> None:
    """Nor is it taken for another one."""
    card = platform.card()
    _, row = platform.reversible(card)

    refusal = platform.reverse_return(card, unknown(row["id"]))

    refusal.refused(twin=platform.reverse_return(card, row["id"]))


# --- Webhooks -------------------------------------------------------------------------------


@requirement("EVT-177", "EVT-178")
def test_each_return_is_reported_as_settled(platform: Platform, check: Check) -> None:
    """By a webhook about the purchase, as when it was settled."""
    card = platform.card()
    purchase = platform.settled_purchase(card)
    known = _settlements(platform, purchase)
    if not known:
        raise PreconditionFailed("no webhook reports the settled purchase")

    for rule in ("EVT-177", "EVT-178"):
        platform.happens(card, purchase, "card.return", PART)
        with check(rule):
            assert _is_told_again(platform, purchase, known)
        known |= _settlements(platform, purchase)


@requirement("EVT-179")
def test_a_standalone_return_is_reported_on_its_own(platform: Platform) -> None:
    """The webhook is about its own transaction."""
    card = platform.card()
    purchase = platform.settled_purchase(card)

    row = platform.give_back(card, purchase, PART)

    assert platform.told_of(row)


@pytest.mark.parametrize(
    ("trigger", "amount"),
    [
        pytest.param("card.return", PART, marks=requirement("EVT-180"), id="part"),
        pytest.param("card.return", PRICE, marks=requirement("EVT-181"), id="whole"),
        pytest.param("card.refund", PART, marks=requirement("EVT-182"), id="standalone"),
    ],
)
def test_nothing_is_reported_as_refunded(platform: Platform, trigger: str, amount: int) -> None:
    """There is no such webhook any more."""
    card = platform.card()
    purchase = platform.settled_purchase(card)

    platform.happens(card, purchase, trigger, amount)

    _assert_not_refunded(platform, card)


@requirement("EVT-183")
def test_a_reversal_is_not_reported_as_refunded(platform: Platform) -> None:
    """Nor what it takes back."""
    card = platform.card()
    _, row = platform.reversible(card)

    platform.arranged(platform.reverse_return(card, row["id"]))

    _assert_not_refunded(platform, card)


def _assert_not_refunded(platform: Platform, card: Json) -> None:
    """Assert that no webhook says REFUNDED by the time that a later purchase is reported."""
    if not platform.told_of(platform.approved_purchase(card)):
        raise PreconditionFailed("no webhook reports the purchase after it")
    types = {one.type for row in platform.card_rows(card) for one in platform.events(row["id"])}
    assert REFUNDED not in types


def _is_told_again(platform: Platform, purchase: Json, known: set[str | None]) -> bool:
    told = platform.event(SETTLED, purchase["id"], where=lambda one: one.id not in known)
    return told is not None


def _settlements(platform: Platform, purchase: Json) -> set[str | None]:
    """Return the ids of the webhooks that report a purchase as settled, waiting for the first."""
    platform.event(SETTLED, purchase["id"])
    return {one.id for one in platform.events(purchase["id"]) if one.type == SETTLED}


def _paid(platform: Platform) -> tuple[Json, Json, Json]:
    """Return an account, a card, and a purchase that has been taken from the account."""
    account = platform.card_account()
    before = platform.balances(account)[0]
    card = platform.card(account)
    purchase = platform.settled_purchase(card)
    platform.balance_at(account, before - PRICE)
    return account, card, purchase


def _raised(platform: Platform, account: Json, before: int) -> bool:
    seen = platform.until(lambda: platform.balances(account)[0], lambda balance: balance > before)
    return seen > before


def _given_back(platform: Platform, card: Json, purchase: Json) -> Json:
    """Return the row of a standalone return, which has to be listed."""
    try:
        return platform.give_back(card, purchase, PART)
    except PreconditionFailed as error:
        raise AssertionError(str(error)) from error
