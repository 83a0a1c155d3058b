"""Safeguards of payments, which hold for the deprecated transfers as well."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

import pytest

from conformance.platform.given.customers import verification_status
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body
from conformance.platform.waiting import at_once
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.quotes.transfers import (
    AMOUNT,
    ENDED,
    Ends,
    arrange_ends,
    expect_unmade,
    make_and_debit,
    make_transfer,
    send,
    transaction_at,
)
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

AT_ONCE = 6
DEPOSIT = 25_000
UNMOVED = ("PENDING", "EXPIRED", *FAILED)


@pytest.mark.parametrize(
    "status",
    [
        case("TRF-120", "frozen", "FROZEN"),
        case("TRF-840", "closed", "CLOSED"),
    ],
)
def test_nothing_is_transferred_out_of_a_stopped_account(platform: Platform, status: str) -> None:
    """A transfer out of a FROZEN or CLOSED account is refused, or does not complete."""
    ends = arrange_ends(platform, "out")
    twin = make_transfer(platform, ends, AMOUNT)
    platform.internal_accounts.stop(ends.internal_account, status)

    answer = send(platform, ends, AMOUNT // 2)

    expect_unmade(platform, ends, answer, twin)


@pytest.mark.parametrize(
    "status",
    [
        case("TRF-121", "frozen", "FROZEN"),
        case("TRF-122", "closed", "CLOSED"),
    ],
)
def test_nothing_is_transferred_into_a_stopped_account(platform: Platform, status: str) -> None:
    """A transfer into a FROZEN or CLOSED account is refused, or does not complete."""
    ends = arrange_ends(platform, "in")
    twin = make_transfer(platform, arrange_ends(platform, "in"))
    platform.internal_accounts.stop(ends.internal_account, status)

    answer = send(platform, ends)

    expect_unmade(platform, ends, answer, twin)


@requirement("TRF-123")
@pytest.mark.parametrize("trigger", ["external_account.disable", "external_account.review"])
def test_nothing_is_transferred_to_a_disabled_account(platform: Platform, trigger: str) -> None:
    """A transfer to an INACTIVE or UNDER_REVIEW account is refused, or does not complete."""
    ends = arrange_ends(platform, "out")
    twin = make_transfer(platform, ends)
    inactive_account = platform.external_accounts.moved({"id": ends.owner}, trigger)
    wrong_ends = replace(ends, destination=inactive_account)

    answer = send(platform, wrong_ends, AMOUNT // 2)

    expect_unmade(platform, wrong_ends, answer, twin)


@requirement("TRF-841")
def test_nothing_is_transferred_to_a_deleted_account(platform: Platform) -> None:
    """A transfer to an account that was paid before it was deleted is refused, or fails."""
    ends = arrange_ends(platform, "out")
    twin = make_transfer(platform, ends)
    transaction_at(platform, ends, twin, *ENDED)
    deletion = platform.api.delete_external_account(ends.destination["id"])
    if not deletion.accepted:
        raise ResourceMissing(f"an account that was paid cannot be deleted: {deletion}")

    answer = send(platform, ends, AMOUNT // 2)

    if answer.accepted and platform.transfers.transaction_id(answer) is None:
        # The transaction of the first transfer would be found.
        raise ResourceMissing("the answer does not tell which transaction it is")
    expect_unmade(platform, ends, answer, twin)


@requirement("TRF-850")
def test_nothing_is_transferred_from_a_deleted_account(platform: Platform) -> None:
    """A transfer in from an account that was deleted is refused, or does not complete."""
    ends = arrange_ends(platform, "in")
    twin = make_transfer(platform, arrange_ends(platform, "in"))
    arranged_body(platform.api.delete_external_account(ends.source["id"]))

    answer = send(platform, ends)

    expect_unmade(platform, ends, answer, twin)


@requirement("TRF-124")
def test_a_transfer_does_not_pass_by_strong_authentication(platform: Platform) -> None:
    """A transfer of an SCA customer is refused, or not executed without an authorization.

    Nothing has left its source.
    """
    twin = make_transfer(platform, arrange_ends(platform, "out"))
    corridor = platform.quotes.corridor(same_currency=True)
    customer = platform.approved.sca_customer(currencies=[corridor.sending])
    source = platform.internal_accounts.account(corridor.sending, customer=customer)
    ends = Ends(
        "out", source, platform.external_accounts.account(customer, corridor.account), source
    )
    _, before = platform.internal_accounts.balances(source)

    answer = send(platform, ends)

    if not answer.accepted:
        answer.refused(twin=twin)
    else:
        status = transaction_at(platform, ends, answer).get("status")
        assert status not in SETTLING, f"nobody has authorized it, and it is {status}"
    assert platform.internal_accounts.balances(source)[1] == before, answer


@requirement("TRF-125")
def test_nothing_is_transferred_in_for_an_unverified_customer(platform: Platform) -> None:
    """A transfer into an account of an unverified customer is refused, or does not complete."""
    twin = make_transfer(platform, arrange_ends(platform, "in"))
    customer = platform.verification.reviews.unsubmitted(currencies=[platform.profile.currency])
    ends = Ends("in", *accounts_of_unverified(platform, customer))

    answer = send(platform, ends)

    expect_unmade(platform, ends, answer, twin)


@requirement("TRF-960")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_nothing_is_transferred_in_while_a_review_is_pending(
    platform: Platform, *, business: bool
) -> None:
    """A transfer into an account of a customer under review is refused, or does not complete."""
    twin = make_transfer(platform, arrange_ends(platform, "in"))
    reviews = platform.verification.reviews
    customer = reviews.in_review(
        reviews.submitted(business=business, currencies=[platform.profile.currency])
    )
    ends = Ends("in", *accounts_of_unverified(platform, customer))

    answer = send(platform, ends)

    with undecided(platform, customer):
        expect_unmade(platform, ends, answer, twin)


@requirement("TRF-134")
def test_nothing_is_transferred_out_while_a_review_is_pending(platform: Platform) -> None:
    """A transfer out of the account of a customer under review is refused, or does not complete.

    The customer was approved before, so that there is money on the account.
    """
    ends = arrange_ends(platform, "out")
    twin = make_transfer(platform, ends, AMOUNT)
    owner = ends.source.owner
    if not platform.approved.can_be_lost:
        raise ResourceMissing("no approval can be withdrawn")
    try:
        platform.approved.lose_approval(owner, "PENDING")
    except (PreconditionFailed, TriggerFailed) as error:
        raise ResourceMissing(f"no approved customer comes to PENDING: {error}") from error

    answer = send(platform, ends, AMOUNT // 2)

    with undecided(platform, owner):
        expect_unmade(platform, ends, answer, twin)


@requirement("TRF-126")
def test_transfers_at_the_same_time_never_overdraw(platform: Platform) -> None:
    """The balance covers each of six transfers, and not all; the sum of them does not exceed it."""
    ends = arrange_ends(platform, "out", deposit=DEPOSIT)
    make_transfer(platform, arrange_ends(platform, "out"))
    # A deposit may be listed as a transaction too.
    known_ids = {row["id"] for row in platform.transactions.known_of_customer(ends.owner)}

    answers = at_once(*[partial(send, platform, ends, AMOUNT)] * AT_ONCE)

    if not any(answer.accepted for answer in answers):
        raise PreconditionFailed(f"none of {AT_ONCE} transfers was made: {answers[0]}")
    transactions = platform.transactions.known_of_customer(ends.owner)
    rows = [row for row in transactions if row["id"] not in known_ids and moves(row)]
    assert sum(row["sentAmount"]["amount"] for row in rows) <= DEPOSIT, rows
    assert platform.internal_accounts.balances(ends.internal_account)[0] >= 0


@requirement("TRF-127")
def test_a_transfer_is_at_most_as_large_as_its_corridor_allows(platform: Platform) -> None:
    """A transfer of one smallest unit above the limit is refused with 400.

    The amount of a transfer is what is sent. Where the limit may be on what arrives, a transfer of
    twice the limit is refused.
    """
    limit = platform.quotes.largest_transaction()
    if limit.currency != platform.quotes.corridor(same_currency=True).sending:
        raise ResourceMissing(f"transfers of the suite are not in {limit.currency}")
    make_transfer(platform, arrange_ends(platform, "out"))
    larger = limit.amount + 1 if limit.side == "SENDING" else 2 * limit.amount
    ends = arrange_ends(platform, "out", deposit=larger)
    # The balance covers the second transfer even where the first is made.
    platform.internal_accounts.deposit(ends.internal_account, limit.amount)

    past_limit = send(platform, ends, larger)
    at_limit = send(platform, ends, limit.amount)

    past_limit.refused(400, "TRANSACTION_SIZE_LIMIT_EXCEEDED", twin=at_limit)


@requirement("TRF-851")
def test_a_transfer_in_is_held_to_the_maximum_too(platform: Platform) -> None:
    """A transfer in of a quarter more than the limit is refused with 400, one of half is made.

    Fees are below that quarter, so that what arrives is above the limit as well.
    """
    limit = platform.quotes.largest_transaction()
    if limit.currency != platform.quotes.corridor(same_currency=True).sending:
        raise ResourceMissing(f"transfers of the suite are not in {limit.currency}")
    ends = arrange_ends(platform, "in")
    make_transfer(platform, ends)

    past_limit, within_limit = (
        send(platform, ends, amount) for amount in (limit.amount * 5 // 4, limit.amount // 2)
    )

    if past_limit.code == "DAILY_VOLUME_LIMIT_EXCEEDED":
        raise ResourceMissing("the daily volume is less than a quarter more than the limit")
    if not within_limit.accepted:
        raise ResourceMissing(f"half of the limit is not pulled either: {within_limit}")
    past_limit.refused(400, "TRANSACTION_SIZE_LIMIT_EXCEEDED", twin=within_limit)


@requirement("TRF-128", "TRF-129")
def test_a_transfer_past_the_daily_volume_is_refused(platform: Platform, check: Check) -> None:
    """A transfer past the daily volume has 429 DAILY_VOLUME_LIMIT_EXCEEDED; the balance stays."""
    ends = arrange_ends(platform, "out")
    twin = make_transfer(platform, arrange_ends(platform, "out"))
    before = make_and_debit(platform, ends)
    platform.triggers.fire(
        "volume.reached",
        customerId=ends.owner,
        currency=platform.quotes.corridor(same_currency=True).sending,
    )

    answer = send(platform, ends)

    with check("TRF-128"):
        answer.refused(429, "DAILY_VOLUME_LIMIT_EXCEEDED", twin=twin)
    with check("TRF-129"):
        assert platform.internal_accounts.balances(ends.internal_account)[0] == before


@contextmanager
def undecided(platform: Platform, customer: Resource) -> Iterator[None]:
    """Raise ``ResourceMissing`` at the end if the review of a customer is over meanwhile."""
    try:
        yield
    finally:
        if verification_status(platform.customers.read(customer)) != "PENDING":
            raise ResourceMissing("the review was decided meanwhile")


def accounts_of_unverified(
    platform: Platform, customer: Resource
) -> tuple[Resource, Resource, Resource]:
    """Return the ends of a transfer into an unverified customer's account, and that account again.

    Raises:
        ResourceMissing: the customer gets no accounts before its verification.
    """
    accounts = platform.internal_accounts.of_customer(customer)
    if not accounts:
        raise ResourceMissing("before its verification a customer gets no internal account")
    body = platform.external_accounts.body(customer, platform.profile.resources.pullable_account)
    answer = platform.api.create_external_account(body)
    if not answer.accepted:
        raise ResourceMissing(f"before its verification a customer registers no account: {answer}")
    external_account = platform.external_accounts.activate(arranged_body(answer))
    codes = [account["balance"]["currency"]["code"] for account in accounts]
    if external_account.get("currency") not in codes:
        raise ResourceMissing(
            f"the customer has no internal account in {external_account.get('currency')}"
        )
    internal_account = accounts[codes.index(external_account["currency"])].but(
        customerId=customer.id
    )
    return external_account, internal_account, internal_account


def moves(row: Json) -> bool:
    """Return whether a transaction has moved or will move money, and shows its sentAmount."""
    return row.get("status") not in UNMOVED and isinstance(row.get("sentAmount"), Mapping)
