"""What merchants give back: returns of a purchase, returns on their own, and their reversal."""

from __future__ import annotations

from conformance.platform.given.cards import PRICE, is_same, units
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, require_member, unknown_id
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.purchases import PART
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

# --- Returns of a purchase ------------------------------------------------------------------


@requirement("CAR-060", "CAR-024", "CAR-061", "CAR-066", "CAR-068", "CAR-069")
def test_a_returned_part_is_noted_on_the_purchase(platform: Platform, check: Check) -> None:
    """It remains settled, by as much as before."""
    card = platform.cards.card()
    purchase = platform.cards.settled_purchase(card)

    platform.cards.cause(card, purchase, "card.return", PART)

    seen = platform.cards.wait_for_return(card, purchase, PART)
    with check("CAR-061"):
        assert units(seen.get("refundedAmount")) == PART
    with check("CAR-024"):
        units(require_member(seen, "refundedAmount"))
    with check("CAR-060"):
        assert seen.get("status") == "SETTLED"
    with check("CAR-066"):
        before = units(require_member(purchase, "settledAmount"))
        assert units(seen.get("settledAmount")) == before
    with check("CAR-068"):
        assert require_member(seen, "direction") == "DEBIT"
    with check("CAR-069"):
        assert "REFUNDED" not in {row.get("status") for row in platform.cards.transactions(card)}


@requirement("CAR-062")
def test_two_returned_parts_are_noted_together(platform: Platform) -> None:
    """What was returned in all is shown."""
    card = platform.cards.card()
    purchase = platform.cards.settled_purchase(card)
    platform.cards.cause(card, purchase, "card.return", PART)
    platform.cards.wait_for_return(card, purchase, PART)

    platform.cards.cause(card, purchase, "card.return", 2 * PART)

    seen = platform.cards.wait_for_return(card, purchase, 3 * PART)
    assert units(seen.get("refundedAmount")) == 3 * PART


@requirement("CAR-063", "CAR-064", "CAR-079")
def test_a_returned_purchase_remains_settled(platform: Platform, check: Check) -> None:
    """Although nothing is left of it."""
    card = platform.cards.card()
    purchase = platform.cards.settled_purchase(card)

    platform.cards.cause(card, purchase, "card.return", PRICE)

    seen = platform.cards.wait_for_return(card, purchase, PRICE)
    with check("CAR-064"):
        assert units(seen.get("refundedAmount")) == PRICE
    with check("CAR-063"):
        assert seen.get("status") == "SETTLED"
    with check("CAR-079"):
        assert "REFUNDED" not in {row.get("status") for row in platform.cards.transactions(card)}


@requirement("CAR-067")
def test_a_return_is_credited(platform: Platform) -> None:
    """The account that paid for the purchase has more than before."""
    account, card, purchase = _paid(platform)
    before = platform.internal_accounts.balances(account)[0]

    platform.cards.cause(card, purchase, "card.return", PART)

    assert _raised(platform, account, before)


# --- Returns on their own -------------------------------------------------------------------


@requirement("CAR-070", "CAR-071", "CAR-072", "CAR-073", "CAR-074", "CAR-075", "CAR-025", "CAR-078")
def test_a_standalone_return_is_a_transaction_of_its_own(platform: Platform, check: Check) -> None:
    """It points to the purchase, which remains as it was."""
    card = platform.cards.card()
    purchase = platform.cards.settled_purchase(card)

    row: Json | None = None
    with check("CAR-070"):
        row = _given_back(platform, card, purchase)
    if row is None:
        raise PreconditionFailed("the return is not listed")
    seen = platform.cards.at_status(card, row, "SETTLED")

    with check("CAR-071"):
        assert seen.get("direction") == "CREDIT"
    with check("CAR-072"):
        assert seen.get("status") == "SETTLED"
    with check("CAR-073"):
        assert units(seen.get("settledAmount")) == PART
    with check("CAR-074"):
        assert is_same(seen.get("originalTransactionId"), purchase["id"])
    with check("CAR-025"):
        assert isinstance(require_member(seen, "originalTransactionId"), str)
    with check("CAR-075"):
        assert platform.cards.read(card, purchase).get("status") == "SETTLED"
    with check("CAR-078"):
        assert "REFUNDED" not in {one.get("status") for one in platform.cards.transactions(card)}


@requirement("CAR-076")
def test_a_standalone_return_is_credited(platform: Platform) -> None:
    """The account has more than before."""
    account, card, purchase = _paid(platform)
    before = platform.internal_accounts.balances(account)[0]

    platform.cards.refund(card, purchase, PART)

    assert _raised(platform, account, before)


@requirement("CAR-077")
def test_two_standalone_returns_are_two_transactions(platform: Platform) -> None:
    """Each of them is listed."""
    card = platform.cards.card()
    purchase = platform.cards.settled_purchase(card)
    first = platform.cards.refund(card, purchase, PART)

    second = _given_back(platform, card, purchase)

    listed = {row.get("id") for row in platform.cards.transactions(card)}
    assert {first["id"], second["id"], purchase["id"]} <= listed


# --- The reversal of a return ---------------------------------------------------------------


@requirement("CAR-080", "CAR-089")
def test_a_return_can_be_reversed(platform: Platform, check: Check) -> None:
    """The refund row names it."""
    card = platform.cards.card()
    _, row = platform.cards.returned_purchase(card)

    answer = platform.cards.reverse_return(card, row["id"])

    with check("CAR-080"):
        assert answer.accepted, answer
    with check("CAR-089"):
        assert "REFUNDED" not in {one.get("status") for one in platform.cards.transactions(card)}


@requirement("CAR-081")
def test_what_was_not_returned_cannot_be_reversed(platform: Platform) -> None:
    """The purchase shows no refundedAmount; that of the other does."""
    card = platform.cards.card()
    purchase = platform.cards.settled_purchase(card)
    row = platform.cards.refund(card, purchase, PART)
    if units(platform.cards.read(card, purchase).get("refundedAmount")):
        raise ResourceMissing("a return on its own counts as one of the purchase")
    _, other = platform.cards.returned_purchase(card)

    refusal = platform.cards.reverse_return(card, row["id"])

    refusal.refused(twin=platform.cards.reverse_return(card, other["id"]))


@requirement("CAR-082")
def test_a_return_that_does_not_exist_cannot_be_reversed(platform: Platform) -> None:
    """Nor is it taken for another one."""
    card = platform.cards.card()
    _, row = platform.cards.returned_purchase(card)

    refusal = platform.cards.reverse_return(card, unknown_id(row["id"]))

    refusal.refused(twin=platform.cards.reverse_return(card, row["id"]))


# --- Webhooks -------------------------------------------------------------------------------


def _paid(platform: Platform) -> tuple[Resource, Resource, Json]:
    """Return an account, a card, and a purchase that has been taken from the account."""
    account = platform.cards.account()
    before = platform.internal_accounts.balances(account)[0]
    card = platform.cards.card(account)
    purchase = platform.cards.settled_purchase(card)
    platform.internal_accounts.wait_for_balance(account, before - PRICE)
    return account, card, purchase


def _raised(platform: Platform, account: Resource, before: int) -> bool:
    seen = platform.until(
        lambda: platform.internal_accounts.balances(account)[0], lambda balance: balance > before
    )
    return seen > before


def _given_back(platform: Platform, card: Json, purchase: Json) -> Json:
    """Return the row of a standalone return, which has to be listed."""
    try:
        return platform.cards.refund(card, purchase, PART)
    except PreconditionFailed as error:
        raise AssertionError(str(error)) from error
