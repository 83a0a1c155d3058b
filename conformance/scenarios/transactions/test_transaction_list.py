"""The list of transactions, and the filters that the specification names."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import pytest

from conformance.platform.given.cards import ENDS
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    Resource,
    as_resource,
    listed_members,
    require_member,
)
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.kinds import Kind, create_quote
from conformance.verdict.decisions import FeatureUndeclared, PreconditionFailed, ResourceMissing

STATUSES = ("PENDING", "PROCESSING", "COMPLETED", "FAILED", "EXPIRED", *ENDS)
"""The statuses of payments and of card transactions whose names the specification shows."""

DEPOSITED = 30_000
"""The amount of a deposit, in the smallest unit."""

NO_CARD = "Card:00000000-0000-4000-8000-000000000000"


@requirement("TRX-070")
def test_transactions_can_be_listed(platform: Platform) -> None:
    """GET /transactions without a filter is accepted, and its answer contains a list."""
    answer = platform.api.list_transactions()

    answer.expect_accepted()
    # Where in the answer the list stands is not shown.
    members = answer.body.values() if isinstance(answer.body, Mapping) else [answer.body]
    assert any(isinstance(member, list) for member in members), answer


@requirement("TRX-987")
def test_what_comes_in_is_a_credit(platform: Platform) -> None:
    """A deposit that is listed as INCOMING is no DEBIT, be it listed at once or once returned."""
    assert all(row.get("direction") != "DEBIT" for row in incoming(platform)), DEPOSITED


def incoming(platform: Platform) -> list[Resource]:
    """Return the transactions of a deposit that are listed, at once or after it was returned.

    Each names its customer, though the target may not show it.

    Raises:
        ResourceMissing: no transaction of the type INCOMING is listed.
    """
    account = platform.internal_accounts.account(amount=0)
    platform.internal_accounts.deposit(account, DEPOSITED)
    for return_it in (False, True):
        if return_it:
            platform.internal_accounts.return_deposit(account, DEPOSITED)
        listed = platform.transactions.known_of_customer(account["customerId"])
        if rows := [row for row in listed if row.get("type") == "INCOMING"]:
            return [as_resource(row).but(customerId=account["customerId"]) for row in rows]
    raise ResourceMissing("no deposit is listed as INCOMING")


@requirement("TRX-071", "TRX-072")
def test_a_status_keeps_to_the_transactions_at_it(platform: Platform, check: Check) -> None:
    """The filter by status lists a transaction at that status, and none at another."""
    source = platform.internal_accounts.account()
    completed_row = platform.transactions.of_quote(
        platform.quotes.complete(platform.quotes.pending(source))
    )
    pending_row = platform.transactions.of_quote(platform.quotes.pending(source))

    for expected in (completed_row, pending_row):
        rows = _list_filtered(
            platform, source, check, "TRX-072", status=require_member(expected, "status")
        )

        with check("TRX-071"):
            assert {row.get("status") for row in rows} <= {require_member(expected, "status")}
        with check("TRX-072"):
            assert expected["id"] in {row.get("id") for row in rows}


@requirement("TRX-072")
def test_a_status_lists_what_came_in(platform: Platform, check: Check) -> None:
    """The filter by status lists a deposit that is at that status before and after the list."""
    before = incoming(platform)[0]
    status = require_member(before, "status")
    if status not in STATUSES:
        raise ResourceMissing(f"the specification names no status {status} to filter by")

    listed = _list_filtered(platform, before, check, "TRX-072", status=status)

    after = platform.transactions.known_of_customer(before["customerId"])
    if (before["id"], status) not in {(row["id"], row.get("status")) for row in after}:
        raise ResourceMissing(f"the deposit does not stay at {status} while it is listed")
    with check("TRX-072"):
        assert before["id"] in {row.get("id") for row in listed}


@requirement("TRX-071", "TRX-072")
@pytest.mark.parametrize(
    ("end", "trigger"),
    [("PROCESSING", "payout.hold"), ("FAILED", "refund.hold"), ("EXPIRED", None)],
    ids=["processing", "failed", "expired"],
)
def test_each_status_keeps_to_the_transactions_at_it(
    platform: Platform, check: Check, end: str, trigger: str | None
) -> None:
    """The filter lists a held, a failed or an expired payment by its status, and no other one."""
    source = platform.internal_accounts.account()
    # What only waits may expire meanwhile.
    other = platform.quotes.complete(platform.quotes.pending(source))
    if trigger is None:
        quote = platform.quotes.pending(source)
        platform.triggers.fire("quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"])
    else:
        quote = platform.quotes.payout(source, trigger=trigger)
    if end == "FAILED":
        platform.transactions.refunding(quote)
    expected = platform.transactions.at_status(quote, *(FAILED if end == "FAILED" else (end,)))
    status = require_member(expected, "status")
    if status == "PENDING":
        raise PreconditionFailed(f"the payment does not come to {end}: {expected}")
    if status != end:
        raise ResourceMissing(f"the payment is at {status}, and not at {end}")

    rows = _list_filtered(platform, source, check, "TRX-072", status=status)

    with check("TRX-071"):
        assert {row.get("status") for row in rows} <= {status}
        assert other["transactionId"] not in {row.get("id") for row in rows}
    with check("TRX-072"):
        assert expected["id"] in {row.get("id") for row in rows}
    if end == "EXPIRED" and platform.triggers.maps("refund.hold"):
        _expect_told_apart(platform, source, check, expected)


def _expect_told_apart(
    platform: Platform, source: Resource, check: Check, expired: Resource
) -> None:
    """Check that neither of an expired and a failed payment is listed by the other's status.

    One that shows how far its refund is may be listed as it stands without it.
    """
    failed = platform.transactions.refunding(platform.quotes.payout(source, trigger="refund.hold"))
    if failed.get("status") not in STATUSES:
        return
    for listed, left_out in ((failed, expired), (expired, failed)):
        status = require_member(listed, "status")
        rows = _list_filtered(platform, source, check, "TRX-072", status=status)
        with check("TRX-071"):
            assert left_out["id"] not in {row.get("id") for row in rows}, status
        with check("TRX-072"):
            assert listed["id"] in {row.get("id") for row in rows}, status


@requirement("TRX-073", "TRX-074")
def test_a_type_keeps_to_the_transactions_of_it(platform: Platform, check: Check) -> None:
    """The filter by type lists a transaction of that type, and none of another.

    A filter by a type that the text does not name lists that one alone too, where it is taken.
    """
    source = platform.internal_accounts.account()
    expected = platform.transactions.of_quote(platform.quotes.pending(source))

    rows = _list_filtered(platform, source, check, "TRX-074", type=require_member(expected, "type"))

    with check("TRX-074"):
        assert expected["id"] in {row.get("id") for row in rows}
    with check("TRX-073"):
        assert {row.get("type") for row in rows} <= {require_member(expected, "type")}
        cards = platform.api.list_transactions({"type": "CARD"})
        if cards.accepted:
            # Among the members of card transactions the type is not listed.
            assert {row.get("type") for row in listed_members(cards.body)} <= {"CARD", None}
        incoming = platform.api.list_transactions({"type": "INCOMING"})
        if incoming.accepted:
            assert {row.get("type") for row in listed_members(incoming.body)} <= {"INCOMING", None}


@requirement("TRX-800", "TRX-801")
def test_a_status_and_a_type_keep_to_the_transactions_of_both(
    platform: Platform, check: Check
) -> None:
    """The filters by status and type together list a transaction of both, and no other."""
    source = platform.internal_accounts.account()
    platform.quotes.complete(platform.quotes.pending(source))
    expected = platform.transactions.of_quote(platform.quotes.pending(source))
    both = {name: require_member(expected, name) for name in ("status", "type")}

    rows = _list_filtered(platform, source, check, "TRX-801", **both)

    with check("TRX-801"):
        assert expected["id"] in {row.get("id") for row in rows}
    with check("TRX-800"):
        assert all({name: row.get(name) for name in both} == both for row in rows), rows


@requirement("TRX-072", "TRX-074", "TRX-801")
@pytest.mark.parametrize("kind", ["business", "platform"])
def test_payments_of_others_than_individuals_are_found(
    platform: Platform, check: Check, kind: Kind
) -> None:
    """A payment of a business or of the platform is listed by its status, its type, and both."""
    quote = create_quote(platform, kind)
    payment = platform.transactions.of_quote(quote)
    customer_id = None if kind == "platform" else quote.owner["id"]

    for requirement_id, names in {
        "TRX-072": ("status",),
        "TRX-074": ("type",),
        "TRX-801": ("status", "type"),
    }.items():
        with check(requirement_id):
            filters = {name: require_member(payment, name) for name in names}
            rows = platform.transactions.of_customer(customer_id, **filters)
            assert any(row.get("id") == payment["id"] for row in rows), filters


@requirement("TRX-813", "TRX-814")
def test_all_transactions_are_listed_on_however_many_pages(
    platform: Platform, check: Check
) -> None:
    """Pages of two show each of five payments once; a filter by status holds on every page."""
    source = platform.internal_accounts.account()
    quotes = [platform.quotes.pending(source) for _ in range(5)]
    executed = platform.transactions.of_quote(platform.quotes.complete(quotes[1]))
    waiting = platform.transactions.of_quote(quotes[4])
    ids = {quote["transactionId"] for quote in quotes}

    rows = platform.transactions.of_customer_by_pages(source["customerId"], 2)

    with check("TRX-813"):
        listed = [str(row.get("id")) for row in rows]
        assert ids <= set(listed)
        assert len(set(listed)) == len(listed)
    with check("TRX-814"):
        status = require_member(waiting, "status")
        if status == require_member(executed, "status"):
            raise ResourceMissing(f"all payments are {status}")
        rows = platform.transactions.of_customer_by_pages(source["customerId"], 2, status=status)
        listed = [str(row.get("id")) for row in rows]
        assert ids.intersection(listed) == ids - {executed["id"]}
        assert len(set(listed)) == len(listed)


@requirement("TRX-073", "TRX-074", "TRX-800")
def test_a_type_keeps_to_the_transactions_of_it_on_however_many_pages(
    platform: Platform, check: Check
) -> None:
    """Pages of two list each of four payments by their type, and no deposit that was returned.

    No payment is listed by its status and the type of the deposit.
    """
    source = platform.internal_accounts.account()
    quotes = [platform.quotes.pending(source) for _ in range(2)]
    # In the middle, so that it would follow the first page whichever way the list is sorted.
    platform.internal_accounts.deposit(source, 1_000)
    platform.internal_accounts.return_deposit(source, 1_000)
    quotes += [platform.quotes.pending(source) for _ in range(2)]
    payment = platform.transactions.of_quote(quotes[-1])
    of_type = require_member(payment, "type")
    types = platform.until(
        lambda: {
            row.get("type") for row in platform.transactions.of_customer(source["customerId"])
        },
        lambda seen: len(seen) > 1,
    )
    if types == {of_type}:
        raise ResourceMissing("a returned deposit is no transaction of another type")

    rows = platform.transactions.of_customer_by_pages(source["customerId"], 2, type=of_type)

    with check("TRX-073"):
        assert {row.get("type") for row in rows} <= {of_type}
    ids = {quote["transactionId"] for quote in quotes}
    with check("TRX-800"):
        status = require_member(payment, "status")
        if not (other_types := types - {of_type, None}):
            raise ResourceMissing("a returned deposit does not show its type")
        for other_type in other_types:
            both = platform.transactions.of_customer(
                source["customerId"], type=other_type, status=status
            )
            assert not ids & {row.get("id") for row in both}, other_type
    with check("TRX-074"):
        listed = [row.get("id") for row in rows if row.get("id") in ids]
        assert sorted(map(str, listed)) == sorted(map(str, ids))


def test_what_an_unknown_type_or_status_finds_is_recorded(platform: Platform) -> None:
    """A filter by an unknown value may be answered in any way."""
    for name in ("type", "status"):
        unknown: dict[str, Any] = {name: "BURIED_TREASURE"}

        answer = platform.api.list_transactions(unknown)

        platform.observe(f"transactions of an unknown {name} are answered with {answer.status}")


@requirement("TRX-075")
def test_a_status_cannot_be_asked_of_card_transactions(platform: Platform) -> None:
    """The filter by status is refused with 400 for the type CARD, and accepted for another type.

    No other status of payments or of cards is taken. The type CARD is accepted without a status.
    """
    transaction = platform.transactions.of_quote(platform.quotes.pending())
    status = {"status": require_member(transaction, "status")}
    cards = platform.api.list_transactions({"type": "CARD"})
    if not cards.accepted:
        raise ResourceMissing(f"card transactions are not listed at all: {cards}")

    refusals = [
        platform.api.list_transactions(filters)
        for filters in (
            {"type": "CARD", **status},
            *({"status": name, "type": "CARD"} for name in STATUSES),
        )
    ]

    of_payments = {**status, "type": require_member(transaction, "type")}
    twin = platform.api.list_transactions(of_payments)
    for refusal in refusals:
        refusal.refused(400, twin=twin)


@requirement("TRX-076")
def test_card_transactions_can_be_listed(platform: Platform) -> None:
    """The filter by the type CARD alone is accepted."""
    answer = platform.api.list_transactions({"type": "CARD"})

    broken = answer.status >= HTTPStatus.INTERNAL_SERVER_ERROR
    if not answer.accepted and not broken and not platform.profile.features.cards:
        raise FeatureUndeclared("cards", because=f"their type is refused: {answer}")
    answer.expect_accepted()


@requirement("TRX-077")
def test_a_card_keeps_to_its_own_transactions(platform: Platform) -> None:
    """The filter by a cardId, or by its UUID, lists no payout, which was not made with a card."""
    source = platform.internal_accounts.account()
    payout = platform.quotes.complete(platform.quotes.pending(source))

    card_ids = (NO_CARD, NO_CARD.removeprefix("Card:"))
    answers = {name: platform.api.list_transactions({"cardId": name}) for name in card_ids}

    known = [name for name, answer in answers.items() if answer.accepted]
    if not known:
        refusal = answers[NO_CARD]
        raise ResourceMissing(f"the target lists by no card that it does not know: {refusal}")
    for name in known:
        rows = platform.transactions.of_customer(source["customerId"], cardId=name)
        assert payout["transactionId"] not in {row.get("id") for row in rows}


def _list_filtered(
    platform: Platform, source: Resource, check: Check, name: str, **filters: Any
) -> list[Json]:
    """Check that a request with ``filters`` is accepted; return the customer's transactions."""
    answer = platform.api.list_transactions(filters)
    with check(name):
        answer.expect_accepted()
    return (
        list(platform.transactions.of_customer(source["customerId"], **filters))
        if answer.accepted
        else []
    )
