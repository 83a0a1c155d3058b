"""Returns by merchants: returns of a purchase, standalone returns, and their reversal."""

from __future__ import annotations

from conformance.platform.given.cards import PRICE, expect_currency, is_same, units
from conformance.platform.platform import Platform
from conformance.platform.resource import Body, Json, Resource, require_member, unknown_id
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.purchases import (
    CURRENCY_MEMBERS,
    PART,
    expect_currency_told,
    expect_listed,
)
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

# --- Returns of a purchase ------------------------------------------------------------------

FIRST = PRICE // 10
"""What the first of two returns brings back: each may count twice, and all within the price."""


@requirement("CAR-060", "CAR-024", "CAR-061", "CAR-066", "CAR-068", "CAR-069", "CAR-034", "CAR-036")
def test_a_returned_part_is_noted_on_the_purchase(platform: Platform, check: Check) -> None:
    """A purchase shows the returned part as refundedAmount, and stays SETTLED by its amount.

    A later purchase on the card shows none.
    """
    card = platform.cards.card()
    purchase, later = (platform.cards.settled_purchase(card) for _ in range(2))

    platform.cards.cause(card, purchase, "card.return", PART)

    row = platform.cards.wait_for_return(card, purchase, PART)
    with check("CAR-061"):
        assert units(row.get("refundedAmount")) == PART
        expect_currency(card, row, "refundedAmount")
        assert units(platform.cards.read(card, later).get("refundedAmount")) == 0
    with check("CAR-034"):
        assert not row.get("originalTransactionId")
    with check("CAR-036"):
        assert not row.get("cardDeclinedReason")
    with check("CAR-024"):
        units(require_member(row, "refundedAmount"))
    with check("CAR-060"):
        assert row.get("status") == "SETTLED"
    with check("CAR-066"):
        before = units(require_member(purchase, "settledAmount"))
        assert units(row.get("settledAmount")) == before
    with check("CAR-068"):
        assert require_member(row, "direction") == "DEBIT"
    with check("CAR-069"):
        assert "REFUNDED" not in {
            listed_row.get("status") for listed_row in platform.cards.transactions(card)
        }


@requirement("CAR-062", "CAR-063", "CAR-064", "CAR-079")
def test_two_returned_parts_are_noted_together(platform: Platform, check: Check) -> None:
    """The refundedAmount of a purchase is the sum of two returned parts, which are the whole.

    It stays SETTLED then, as a purchase does that is returned at once.
    """
    card = platform.cards.card()
    purchase = platform.cards.settled_purchase(card)
    platform.cards.cause(card, purchase, "card.return", PART)
    platform.cards.wait_for_return(card, purchase, PART)

    platform.cards.cause(card, purchase, "card.return", PRICE - PART)

    row = platform.cards.wait_for_return(card, purchase, PRICE)
    for requirement_id in ("CAR-062", "CAR-064"):
        with check(requirement_id):
            assert units(row.get("refundedAmount")) == PRICE
    with check("CAR-063"):
        assert row.get("status") == "SETTLED"
    with check("CAR-079"):
        assert "REFUNDED" not in {
            listed_row.get("status") for listed_row in platform.cards.transactions(card)
        }


@requirement("CAR-063", "CAR-064", "CAR-079")
def test_a_returned_purchase_remains_settled(platform: Platform, check: Check) -> None:
    """A purchase that is returned as a whole stays SETTLED, with its price as refundedAmount."""
    card = platform.cards.card()
    purchase = platform.cards.settled_purchase(card)

    platform.cards.cause(card, purchase, "card.return", PRICE)

    row = platform.cards.wait_for_return(card, purchase, PRICE)
    with check("CAR-064"):
        assert units(row.get("refundedAmount")) == PRICE
    with check("CAR-063"):
        assert row.get("status") == "SETTLED"
    with check("CAR-079"):
        assert "REFUNDED" not in {
            listed_row.get("status") for listed_row in platform.cards.transactions(card)
        }


@requirement("CAR-067")
def test_a_return_is_credited(platform: Platform) -> None:
    """A return raises both balances of the account that paid for the purchase by its amount."""
    account, card, purchase = _settled_purchase(platform)
    before = platform.internal_accounts.balances(account)

    platform.cards.cause(card, purchase, "card.return", PART)

    _expect_credit(platform, account, before)


@requirement("CAR-057", "CAR-058", "CAR-067", "CAR-111", "CAR-875")
def test_of_two_accounts_the_one_of_the_card_pays_and_is_credited(
    platform: Platform, check: Check
) -> None:
    """A purchase and returns of both forms change the account of the card.

    Another account of the customer stays as it was.
    """
    account, other = _two_accounts(platform)
    before, other_before = map(platform.internal_accounts.balances, (account, other))
    card = platform.cards.card(account)

    purchase = platform.cards.settled_purchase(card)

    paid = (before[0] - PRICE, before[1] - PRICE)
    with check("CAR-057"):
        assert _wait_for_balances(platform, account, paid) == paid
    with check("CAR-058"):
        assert platform.internal_accounts.balances(other) == other_before
    for requirement_id, trigger in {"CAR-067": "card.return", "CAR-111": "card.refund"}.items():
        with check(requirement_id):
            opening = platform.internal_accounts.balances(account)
            platform.cards.cause(card, purchase, trigger, PART)
            _expect_credit(platform, account, opening)
    with check("CAR-875"):
        assert platform.internal_accounts.balances(other) == other_before


# --- Returns on their own -------------------------------------------------------------------


@requirement(
    "CAR-070",
    "CAR-071",
    "CAR-072",
    "CAR-073",
    "CAR-074",
    "CAR-075",
    "CAR-025",
    "CAR-078",
    "CAR-800",
    "CAR-870",
    "CAR-871",
    "CAR-017",
    "CAR-066",
    "CAR-034",
    *CURRENCY_MEMBERS,
)
def test_a_standalone_return_is_a_transaction_of_its_own(platform: Platform, check: Check) -> None:
    """A standalone return is a CREDIT with the purchase's id as originalTransactionId.

    It is neither the first nor the last purchase on the card that is returned. The filters by card
    and type, each alone and both together, list the return as well, with its currency. The types of
    payments do not.
    """
    account = platform.cards.account()
    card = platform.cards.card(account)
    _, purchase, _ = (platform.cards.settled_purchase(card) for _ in range(3))

    row: Json | None = None
    with check("CAR-070"):
        row = _make_standalone_return(platform, card, purchase)
    if row is None and not platform.triggers.maps("card.refund"):
        raise ResourceMissing("the profile maps no return that is a payment of its own")
    if row is None:
        raise PreconditionFailed("the return is not listed")
    settled_row = platform.cards.at_status(card, row, "SETTLED")

    with check("CAR-071"):
        assert settled_row.get("direction") == "CREDIT"
    with check("CAR-072"):
        assert settled_row.get("status") == "SETTLED"
    with check("CAR-073"):
        assert units(settled_row.get("settledAmount")) == PART
        expect_currency(card, settled_row, "settledAmount")
    with check("CAR-074"):
        assert is_same(settled_row.get("originalTransactionId"), purchase["id"])
    with check("CAR-025"):
        assert isinstance(require_member(settled_row, "originalTransactionId"), str)
    returned = platform.cards.read(card, purchase)
    with check("CAR-075"):
        assert returned.get("status") == "SETTLED"
    with check("CAR-066"):
        before = units(require_member(purchase, "settledAmount"))
        assert units(returned.get("settledAmount")) == before
    with check("CAR-034"):
        assert not returned.get("originalTransactionId")
    with check("CAR-078"):
        assert "REFUNDED" not in {
            listed_row.get("status") for listed_row in platform.cards.transactions(card)
        }
    with check("CAR-800"):
        listed_ids = {each.get("id") for each in platform.cards.filtered(card, type="CARD")}
        assert row["id"] in listed_ids
    expect_listed(platform, check, card, row, ("CAR-870", "CAR-871"))
    with check("CAR-017"):
        for payments in ("INCOMING", "OUTGOING"):
            if not platform.api.list_transactions({"type": payments}).accepted:
                platform.observe(f"the filter by type does not take {payments}")
                continue
            rows = platform.transactions.of_customer(card["customerId"], type=payments)
            assert row["id"] not in {each.get("id") for each in rows}, f"listed as {payments}"
    expect_currency_told(check, account, settled_row)


@requirement("CAR-076", "CAR-111", "CAR-075", "CAR-078")
def test_a_standalone_return_is_credited(platform: Platform, check: Check) -> None:
    """A standalone return raises the balances of the account behind the card by its amount.

    Though it is of the whole purchase, this stays SETTLED.
    """
    account, card, purchase = _settled_purchase(platform)
    before = platform.internal_accounts.balances(account)

    platform.cards.refund(card, purchase, PRICE)

    with check("CAR-076"):
        assert _is_balance_above(platform, account, before[0])
    with check("CAR-111"):
        _expect_credit(platform, account, before, PRICE)
    statuses = {row.get("id"): row.get("status") for row in platform.cards.transactions(card)}
    with check("CAR-075"):
        assert statuses.get(purchase["id"]) == "SETTLED"
    with check("CAR-078"):
        assert "REFUNDED" not in statuses.values()


@requirement("CAR-077", "CAR-073", "CAR-074", "CAR-075")
def test_two_standalone_returns_are_two_transactions(platform: Platform, check: Check) -> None:
    """The card's list has the purchase and both standalone returns, each with its own amount.

    Together they are of the whole purchase, and this stays SETTLED.
    """
    card = platform.cards.card()
    purchase = platform.cards.settled_purchase(card)
    returns = {platform.cards.refund(card, purchase, PART)["id"]: PART}

    with check("CAR-077"):
        second = _make_standalone_return(platform, card, purchase, PRICE - PART)
        returns[second["id"]] = PRICE - PART
        listed_ids = {row.get("id") for row in platform.cards.transactions(card)}
        assert {*returns, purchase["id"]} <= listed_ids
    with check("CAR-073"):
        rows = [platform.cards.at_status(card, {"id": name}, "SETTLED") for name in returns]
        assert {row["id"]: units(row.get("settledAmount")) for row in rows} == returns
    with check("CAR-074"):
        listed = {row.get("id"): row for row in platform.cards.transactions(card)}
        pointed = [listed[name].get("originalTransactionId") for name in returns]
        assert all(is_same(one, purchase["id"]) for one in pointed), pointed
    with check("CAR-075"):
        assert platform.cards.read(card, purchase).get("status") == "SETTLED"


# --- The reversal of a return ---------------------------------------------------------------


@requirement("CAR-080", "CAR-089", "CAR-081")
def test_a_return_can_be_reversed(platform: Platform, check: Check) -> None:
    """A reversal by the id of the refund is accepted, and no transaction is REFUNDED.

    Where nothing of the purchase is returned any more then, a second reversal is refused.
    """
    card = platform.cards.card()
    purchase, row = platform.cards.returned_purchase(card)

    answer = platform.cards.reverse_return(card, row["id"])

    with check("CAR-080"):
        answer.expect_accepted()
    with check("CAR-089"):
        assert "REFUNDED" not in {
            listed_row.get("status") for listed_row in platform.cards.transactions(card)
        }
    with check("CAR-081"):
        if units(platform.cards.read(card, purchase).get("refundedAmount")):
            raise ResourceMissing("a purchase shows what was returned of it after a reversal too")
        platform.cards.reverse_return(card, row["id"]).refused(twin=answer)


@requirement("CAR-061")
def test_the_reversal_of_a_return_leaves_another_one(platform: Platform) -> None:
    """After one of two returns was reversed, refundedAmount has the other one still.

    Whether it has the reversed one still is not said. Another purchase has its own still.
    """
    card = platform.cards.card()
    purchase, row = returned_twice(platform, card)
    other, _ = platform.cards.returned_purchase(card, PART)
    of_other = units(platform.cards.read(card, other).get("refundedAmount"))

    expect_another_left(platform, card, purchase, row, FIRST)

    assert units(platform.cards.read(card, other).get("refundedAmount")) == of_other


@requirement("CAR-061")
def test_the_reversal_of_the_second_return_leaves_the_first(platform: Platform) -> None:
    """After the second of two returns was reversed, refundedAmount has the first one still.

    Whether it has the reversed one still is not said.
    """
    card = platform.cards.card()
    purchase, _ = returned_twice(platform, card)
    row = next(
        (
            row
            for row in platform.cards.transactions(card)
            if is_same(row.get("originalTransactionId"), purchase["id"])
            and units(row.get("settledAmount")) == 2 * FIRST
        ),
        None,
    ) or platform.cards.refund(card, purchase, 2 * FIRST)

    expect_another_left(platform, card, purchase, row, 2 * FIRST)


def returned_twice(platform: Platform, card: Json) -> tuple[Body, Body]:
    """Return a purchase with two returns, the second twice as large, and the row of the first."""
    purchase, row = platform.cards.returned_purchase(card, FIRST)
    # The row may be of a return on its own, and may count as one of the purchase.
    first = units(platform.cards.read(card, purchase).get("refundedAmount"))
    both = first + 2 * FIRST
    platform.cards.cause(card, purchase, "card.return", 2 * FIRST)
    seen = platform.cards.wait_for_return(card, purchase, both)
    if units(seen.get("refundedAmount")) != both:
        raise PreconditionFailed(f"two returns are not noted together: {seen}")
    return purchase, row


def expect_another_left(
    platform: Platform, card: Json, purchase: Json, row: Json, amount: int
) -> None:
    """Assert that the reversal of a return of an amount takes no other return with it."""
    __tracebackhide__ = True
    noted = units(platform.cards.read(card, purchase).get("refundedAmount"))

    answer = platform.cards.reverse_return(card, row["id"])

    if not answer.accepted:
        raise PreconditionFailed(f"the return is not reversed: {answer}", breaks=["CAR-080"])
    # A later purchase has settled by then.
    platform.cards.settled_purchase(card)
    left = units(platform.cards.read(card, purchase).get("refundedAmount"))
    assert left in (noted - amount, noted), f"{noted} returned, {amount} reversed, {left} left"


@requirement("CAR-081")
def test_what_was_not_returned_cannot_be_reversed(platform: Platform) -> None:
    """A reversal of a standalone return is refused, as the purchase has no refundedAmount.

    The reversal of a return of another purchase is accepted.
    """
    card = platform.cards.card()
    purchase = platform.cards.settled_purchase(card)
    row = platform.cards.refund(card, purchase, PART)
    if units(platform.cards.read(card, purchase).get("refundedAmount")):
        raise ResourceMissing("a return on its own counts as one of the purchase")
    _, other = platform.cards.returned_purchase(card)

    refusal = platform.cards.reverse_return(card, row["id"])

    refusal.refused(twin=platform.cards.reverse_return(card, other["id"]))


@requirement("CAR-082", "CAR-876")
def test_a_return_that_does_not_exist_cannot_be_reversed(platform: Platform, check: Check) -> None:
    """A reversal by an unknown id of the right form is refused.

    So is one of a return that exists under the id of a card that does not.
    """
    card = platform.cards.card()
    _, row = platform.cards.returned_purchase(card)
    unknown_card = {**card, "id": unknown_id(card["id"])}

    unknown_return = platform.cards.reverse_return(card, unknown_id(row["id"]))
    of_no_card = platform.cards.reverse_return(unknown_card, row["id"])

    # What the wrong card has reversed cannot be reversed again.
    twin = of_no_card if of_no_card.accepted else platform.cards.reverse_return(card, row["id"])
    with check("CAR-082"):
        unknown_return.refused(twin=twin)
    with check("CAR-876"):
        if "{cardId}" not in platform.profile.bindings.return_reversal_id:
            raise ResourceMissing("bindings.return_reversal_id has no place for the card's id")
        of_no_card.refused(twin=twin)


def _settled_purchase(platform: Platform) -> tuple[Resource, Resource, Json]:
    """Create an account, a card and a settled purchase, which the account has paid for."""
    account = platform.cards.account()
    before = platform.internal_accounts.balances(account)
    card = platform.cards.card(account)
    purchase = platform.cards.settled_purchase(card)
    _wait_for_balances(platform, account, (before[0] - PRICE, before[1] - PRICE))
    return account, card, purchase


def _two_accounts(platform: Platform) -> tuple[Resource, Resource]:
    """Create a customer with money in two accounts; return the one that funds cards, and the other.

    Raises:
        ResourceMissing: no corridor of the profile sends in another currency than that of cards.
    """
    usual = platform.profile.resources.card_currency
    for corridor in platform.profile.resources.corridors:
        if corridor.sending != usual:
            owner = platform.approved.individual(currencies=[corridor.sending, usual])
            other = platform.internal_accounts.account(corridor.sending, customer=owner)
            return platform.internal_accounts.account(usual, customer=owner), other
    raise ResourceMissing(f"resources.corridors of the profile sends nothing but {usual}")


def _wait_for_balances(
    platform: Platform, account: Resource, expected: tuple[int, int]
) -> tuple[int, int]:
    """Return the balances of an account, once they are as expected if they come to be so."""
    return platform.until(
        lambda: platform.internal_accounts.balances(account), lambda now: now == expected
    )


def _is_balance_above(platform: Platform, account: Resource, before: int) -> bool:
    after = platform.until(
        lambda: platform.internal_accounts.balances(account)[0], lambda balance: balance > before
    )
    return after > before


def _expect_credit(
    platform: Platform, account: Resource, before: tuple[int, int], amount: int = PART
) -> None:
    """Assert that both balances of an account come to be higher by what was returned."""
    __tracebackhide__ = True
    after = (before[0] + amount, before[1] + amount)
    balances = _wait_for_balances(platform, account, after)
    assert balances == after, f"a return of {amount} makes {balances} of {before}"


def _make_standalone_return(
    platform: Platform, card: Json, purchase: Json, amount: int = PART
) -> Json:
    """Make a standalone return and return its row; fail where no list shows it."""
    try:
        return platform.cards.refund(card, purchase, amount)
    except PreconditionFailed as error:
        raise AssertionError(str(error)) from error
