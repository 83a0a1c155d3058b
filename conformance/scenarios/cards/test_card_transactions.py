"""Card purchases: where they are listed, what they show, and their statuses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from conformance.platform.given.cards import ENDS, PRICE, bare_id, expect_currency, objects, units
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, require_member
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.purchases import (
    CURRENCY_MEMBERS,
    PART,
    SETTLED,
    VOIDS,
    expect_currency_told,
    expect_listed,
)
from conformance.scenarios.webhooks.reports import expect_event
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

ALWAYS = ("CAR-033", "CAR-036", "CAR-010", "CAR-012", *CURRENCY_MEMBERS)
"""What holds of an approved purchase whatever becomes of it."""


# --- The list -------------------------------------------------------------------------------


@requirement("CAR-010", "CAR-011", "CAR-013", "CAR-014")
def test_a_card_has_its_own_transactions(platform: Platform, check: Check) -> None:
    """The filter by a card's id lists its purchase, and the filter by another card's id does not.

    The id is sent with its type and without.
    """
    card, other = platform.cards.card(), platform.cards.card()
    row = platform.cards.approved_purchase(card)
    platform.cards.approved_purchase(other)

    with check("CAR-010"):
        assert _contains(_list_by_card(platform, card, card["id"]), row)
    with check("CAR-013"):
        assert not _contains(platform.cards.filtered(other), row)
    with check("CAR-011"):
        assert _contains(_list_by_card(platform, card, bare_id(card)), row)
    with check("CAR-014"):
        assert not _contains(platform.cards.filtered(other, bare_id(other)), row)


@requirement("CAR-800", "CAR-801")
def test_a_card_and_the_type_of_its_transactions_go_together(
    platform: Platform, check: Check
) -> None:
    """The filter by a cardId and the type CARD lists the card's purchase, and no other card's."""
    card, other = platform.cards.card(), platform.cards.card()
    row = platform.cards.approved_purchase(card)
    platform.cards.approved_purchase(other)

    answer = platform.api.list_transactions({"cardId": card["id"], "type": "CARD"})

    with check("CAR-800"):
        answer.expect_accepted()
        assert _contains(platform.cards.filtered(card, type="CARD"), row)
    with check("CAR-801"):
        assert not _contains(platform.cards.filtered(other, type="CARD"), row)


@requirement("CAR-010", "CAR-013", "CAR-014", "CAR-801")
def test_two_cards_of_a_customer_have_their_own_transactions(
    platform: Platform, check: Check
) -> None:
    """The filters by one card do not list a purchase with the other card of the account.

    Nor do they on a later page, where pages have one purchase each.
    """
    account = platform.cards.account()
    card = platform.cards.card(account)
    row = platform.cards.approved_purchase(card)
    try:
        other = platform.cards.card(account)
    except PreconditionFailed as error:
        raise ResourceMissing(f"an account funds one card alone: {error}") from error
    others = [platform.cards.approved_purchase(other) for _ in range(2)]
    rows = list(platform.api.by_pages("listTransactions", 1, {"cardId": other["id"]}))

    with check("CAR-013"):
        assert not _contains(platform.cards.filtered(other), row)
        assert not _contains(rows, row), rows
    with check("CAR-010"):
        assert all(_contains(rows, one) for one in others), rows
    with check("CAR-801"):
        assert not _contains(platform.cards.filtered(other, type="CARD"), row)
    with check("CAR-014"):
        assert not _contains(platform.cards.filtered(other, bare_id(other)), row)


@requirement("CAR-012", "CAR-017", "CAR-112", "CAR-113")
def test_card_transactions_have_a_type_of_their_own(platform: Platform, check: Check) -> None:
    """The filter by the type CARD lists a purchase, and the filter by a payment's type does not.

    Nor does it together with the id of the card. Neither the type CARD nor the id of the card lists
    the payment.
    """
    account = platform.cards.account()
    card = platform.cards.card(account)
    row = platform.cards.approved_purchase(card)
    owner = account["customerId"]

    with check("CAR-012"):
        assert _contains(platform.transactions.of_customer(owner, type="CARD"), row)
    payment = _quote_transaction(platform, account)
    with check("CAR-017"):
        payments = {"type": require_member(payment, "type")}
        assert not _contains(platform.transactions.of_customer(owner, **payments), row)
        assert not _contains(platform.cards.filtered(card, **payments), row)
    with check("CAR-112"):
        assert not _contains(platform.transactions.of_customer(owner, type="CARD"), payment)
    with check("CAR-113"):
        assert not _contains(platform.cards.filtered(card), payment)


@requirement("CAR-015", "CAR-016")
def test_card_transactions_are_not_found_by_status(platform: Platform, check: Check) -> None:
    """A filter by status with the type CARD is refused with 400, also with a cardId."""
    card = platform.cards.card()
    status = require_member(platform.cards.approved_purchase(card), "status")

    with check("CAR-015"):
        refusal = platform.api.list_transactions({"type": "CARD", "status": status})
        refusal.refused(400, twin=platform.api.list_transactions({"type": "CARD"}))
    with check("CAR-016"):
        filters = {"type": "CARD", "cardId": card["id"]}
        refusal = platform.api.list_transactions({**filters, "status": status})
        refusal.refused(400, twin=platform.api.list_transactions(filters))


# --- What they show -------------------------------------------------------------------------


@requirement("CAR-020", "CAR-021", "CAR-033", "CAR-034", "CAR-036", "CAR-877")
def test_a_purchase_is_a_debit(platform: Platform, check: Check) -> None:
    """A purchase is a DEBIT without originalTransactionId and cardDeclinedReason."""
    row = platform.cards.approved_purchase(platform.cards.card())

    with check("CAR-877"):
        assert row.get("direction") is not None, row
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


@requirement("CAR-027", "CAR-028", "CAR-029", "CAR-878")
def test_a_purchase_is_made_with_a_merchant(platform: Platform, check: Check) -> None:
    """A purchase shows its merchant, and may show a text as the city and as the state."""
    row = platform.cards.approved_purchase(platform.cards.card())

    with check("CAR-878"):
        assert row.get("merchant") is not None, row
    with check("CAR-027"):
        assert isinstance(require_member(row, "merchant"), Mapping)
    for requirement_id, member in (("CAR-028", "city"), ("CAR-029", "state")):
        with check(requirement_id):
            assert isinstance(require_member(require_member(row, "merchant"), member), str)


@requirement(*CURRENCY_MEMBERS)
def test_a_purchase_tells_of_its_currency(platform: Platform, check: Check) -> None:
    """A purchase shows decimals, name and symbol of its currency as a payment does.

    Any object in the transaction may have them.
    """
    account = platform.cards.account()
    row = platform.cards.approved_purchase(platform.cards.card(account))
    currency = require_member(
        require_member(_quote_transaction(platform, account), "sentAmount"), "currency"
    )

    for requirement_id, member in CURRENCY_MEMBERS.items():
        with check(requirement_id):
            expected = require_member(currency, member)
            assert any(part.get(member) == expected for part in objects(row)), row


@requirement("CAR-035")
def test_a_payment_is_not_declined_like_a_card(platform: Platform) -> None:
    """The transaction of a payment has no cardDeclinedReason."""
    payment = _quote_transaction(platform, platform.cards.account())

    assert not payment.get("cardDeclinedReason")


# --- Statuses -------------------------------------------------------------------------------


@requirement("CAR-040", "CAR-872")
def test_an_authorized_purchase_is_not_over(platform: Platform, check: Check) -> None:
    """The status of an authorized purchase is none of the final ones, and nothing is settled."""
    row = platform.cards.approved_purchase(platform.cards.card())

    with check("CAR-040"):
        assert row.get("status") not in ENDS
    with check("CAR-872"):
        if row.get("status") in ENDS:
            raise PreconditionFailed(f"the purchase is over already: {row}")
        assert units(row.get("settledAmount")) == 0


@requirement("CAR-041", "CAR-042", "CAR-873", "CAR-033", "CAR-034", "CAR-010", "CAR-012")
def test_a_partly_settled_purchase_is_not_over(platform: Platform, check: Check) -> None:
    """A partly cleared purchase has another status than before, and no final one.

    No more than that part is settled. It is a DEBIT still, and is listed under its card and under
    the type CARD.
    """
    card = platform.cards.card()
    row = platform.cards.approved_purchase(card)
    status_before = row.get("status")

    platform.cards.cause(card, row, "card.settle_partly", PART)

    status_after = platform.until(
        lambda: platform.cards.read(card, row).get("status"), lambda status: status != status_before
    )
    with check("CAR-042"):
        assert status_after != status_before
    with check("CAR-041"):
        assert status_after not in ENDS
    with check("CAR-873"):
        if status_after in ENDS:
            raise PreconditionFailed(f"the purchase is {status_after} after a part of it")
        assert units(platform.cards.read(card, row).get("settledAmount")) <= PART
    _expect_purchase(check, platform.cards.read(card, row))
    expect_listed(platform, check, card, row)


@requirement(
    "CAR-043",
    "CAR-022",
    "CAR-023",
    "CAR-044",
    "CAR-879",
    "CAR-065",
    "CAR-033",
    "CAR-034",
    "CAR-010",
    "CAR-012",
)
def test_a_cleared_purchase_is_settled(platform: Platform, check: Check) -> None:
    """A cleared purchase is SETTLED with its price as settledAmount, and nothing is refunded.

    It is a DEBIT still, and is listed under its card and under the type CARD.
    """
    card = platform.cards.card()
    purchase = platform.cards.approved_purchase(card)

    platform.cards.cause(card, purchase, "card.settle")

    row = platform.cards.at_status(card, purchase, "SETTLED")
    with check("CAR-043"):
        assert row.get("status") == "SETTLED"
    with check("CAR-022"):
        assert row.get("status") != "REFUNDED"
    with check("CAR-023"):
        units(require_member(row, "settledAmount"))
    with check("CAR-879"):
        assert row.get("settledAmount") is not None, row
    with check("CAR-044"):
        assert units(require_member(row, "settledAmount")) == PRICE
        expect_currency(card, row, "settledAmount")
    with check("CAR-065"):
        assert units(row.get("refundedAmount")) == 0
    _expect_purchase(check, row)
    expect_listed(platform, check, card, row)


@requirement("CAR-108", "CAR-057", "EVT-172", "CAR-063", "CAR-064")
def test_the_parts_that_are_cleared_add_up(platform: Platform, check: Check) -> None:
    """A purchase that is cleared in two parts shows its price as settledAmount, and costs it.

    Its settlement is reported. It can be returned as a whole.
    """
    account = platform.cards.account()
    before = platform.internal_accounts.balances(account)
    card = platform.cards.card(account)
    purchase = platform.cards.approved_purchase(card)
    platform.cards.cause(card, purchase, "card.settle_partly", PART)

    platform.cards.cause(card, purchase, "card.settle", PRICE - PART)

    row = platform.cards.arrange_status(card, purchase, "SETTLED")
    with check("CAR-108"):
        assert units(require_member(row, "settledAmount")) == PRICE
    with check("CAR-057"):
        _expect_debit(platform, account, before, row)
    with check("EVT-172"):
        expect_event(platform, SETTLED, row["id"])
    returned: Json = row
    with check("CAR-064"):
        platform.cards.cause(card, purchase, "card.return", PRICE)
        returned = platform.cards.wait_for_return(card, purchase, PRICE)
        assert units(returned.get("refundedAmount")) == PRICE
    with check("CAR-063"):
        if not units(returned.get("refundedAmount")):
            raise PreconditionFailed("nothing of the purchase is returned")
        assert returned.get("status") == "SETTLED"


@requirement("CAR-056", "CAR-057", "CAR-058")
def test_a_settled_purchase_is_paid_by_its_account(platform: Platform, check: Check) -> None:
    """The settledAmount leaves the account of the card, and another account stays as it was."""
    account, other = platform.cards.account(), platform.cards.account()
    balances, other_balances = (
        platform.internal_accounts.balances(account),
        platform.internal_accounts.balances(other),
    )
    before = balances[0]

    row = platform.cards.settled_purchase(platform.cards.card(account))

    with check("CAR-056"):
        after = platform.until(
            lambda: platform.internal_accounts.balances(account)[0], lambda after: after < before
        )
        assert after < before
    with check("CAR-057"):
        _expect_debit(platform, account, balances, row)
    with check("CAR-058"):
        assert platform.internal_accounts.balances(other) == other_balances


@pytest.mark.parametrize(
    ("trigger", "requirement_ids"),
    [
        case(requirement_ids, trigger.rpartition(".")[2], trigger, requirement_ids)
        for trigger, requirement_ids in zip(
            VOIDS,
            (
                ("CAR-049", "CAR-051", "CAR-109", "CAR-053", "CAR-874", *ALWAYS),
                ("CAR-050", "CAR-052", "CAR-110", "CAR-054", "CAR-874", *ALWAYS),
            ),
            strict=True,
        )
    ],
)
def test_an_authorization_that_comes_to_nothing_is_void(
    platform: Platform, check: Check, trigger: str, requirement_ids: tuple[str, ...]
) -> None:
    """A reversed or lapsed authorization is VOIDED, and the account has both balances back.

    The purchase remains a DEBIT, and one that was neither declined nor returned. It is listed under
    its card and under the type CARD still, and tells of its currency.
    """
    account = platform.cards.account()
    before = platform.internal_accounts.balances(account)
    card = platform.cards.card(account)
    purchase = platform.cards.approved_purchase(card)

    platform.cards.cause(card, purchase, trigger)

    status_id, balance_id, total_id, amount_id, *_ = requirement_ids
    row = platform.cards.at_status(card, purchase, "VOIDED")
    with check(status_id):
        assert row.get("status") == "VOIDED"
    after = platform.until(
        lambda: platform.internal_accounts.balances(account), lambda balances: balances == before
    )
    with check(balance_id):
        assert after[0] == before[0]
    with check(total_id):
        assert after[1] == before[1]
    with check(amount_id):
        assert units(row.get("settledAmount")) == 0
    with check("CAR-874"):
        assert units(row.get("refundedAmount")) == 0
    with check("CAR-033"):
        assert require_member(row, "direction") == "DEBIT"
    with check("CAR-036"):
        assert not row.get("cardDeclinedReason")
    expect_listed(platform, check, card, row)
    expect_currency_told(check, account, row)


@requirement("CAR-055", "CAR-033", "CAR-034", "CAR-010", "CAR-012")
def test_a_clearing_that_does_not_fit_is_an_exception(platform: Platform, check: Check) -> None:
    """A purchase whose clearing does not fit its authorization comes to EXCEPTION.

    It is a DEBIT still, and is listed under its card and under the type CARD.
    """
    card = platform.cards.card()
    purchase = platform.cards.approved_purchase(card)

    platform.cards.cause(card, purchase, "card.misclear")

    row = platform.cards.at_status(card, purchase, "EXCEPTION")
    with check("CAR-055"):
        assert row.get("status") == "EXCEPTION"
    _expect_purchase(check, row)
    expect_listed(platform, check, card, row)


def _expect_purchase(check: Check, row: Json) -> None:
    """Decide whether a purchase is a DEBIT, and none that points to another."""
    with check("CAR-033"):
        assert require_member(row, "direction") == "DEBIT"
    with check("CAR-034"):
        assert not row.get("originalTransactionId")


def _expect_debit(
    platform: Platform, account: Resource, before: tuple[int, int], row: Json
) -> None:
    """Assert that both balances of an account come to be lower by what a purchase settled at."""
    __tracebackhide__ = True
    price = units(require_member(row, "settledAmount"))
    after = (before[0] - price, before[1] - price)
    balances = platform.until(
        lambda: platform.internal_accounts.balances(account), lambda current: current == after
    )
    assert balances == after, f"a purchase of {price} makes {balances} of {before}"


def _contains(rows: Any, row: Json) -> bool:
    return row["id"] in {each.get("id") for each in rows}


def _list_by_card(platform: Platform, card: Json, card_id: str) -> Sequence[Json]:
    """Check that the filter by a card's id is accepted; return the transactions that it lists."""
    answer = platform.api.list_transactions({"cardId": card_id})
    answer.expect_accepted()
    return platform.cards.filtered(card, card_id)


def _quote_transaction(platform: Platform, account: Resource) -> Resource:
    """Return the transaction of a quote from an account, which no card is part of."""
    corridor = platform.quotes.corridors_from(platform.profile.resources.card_currency)[0]
    destination = platform.external_accounts.account(account.owner, corridor.account)
    return platform.transactions.of_quote(platform.quotes.pending(account, destination))
