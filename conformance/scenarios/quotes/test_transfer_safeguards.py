"""What keeps money from moving keeps the deprecated transfers from moving it too."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body
from conformance.platform.waiting import at_once
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.quotes.transfers import (
    AMOUNT,
    Ends,
    debited,
    ends,
    found,
    made,
    send,
    transaction,
)
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

AT_ONCE = 6
DEPOSIT = 25_000
ENDED = ("COMPLETED", "EXPIRED", *FAILED)
UNMOVED = ("PENDING", "EXPIRED", *FAILED)


@requirement("TRF-120")
def test_nothing_is_transferred_out_of_a_frozen_account(platform: Platform) -> None:
    """It was before."""
    between = ends(platform, "out")
    twin = made(platform, between, AMOUNT)
    platform.internal_accounts.stop(between.held, "FROZEN")

    answer = send(platform, between, AMOUNT // 2)

    expect_unmade(platform, between, answer, twin)


@pytest.mark.parametrize(
    "status",
    [
        pytest.param("FROZEN", marks=requirement("TRF-121"), id="frozen"),
        pytest.param("CLOSED", marks=requirement("TRF-122"), id="closed"),
    ],
)
def test_nothing_is_transferred_into_a_stopped_account(platform: Platform, status: str) -> None:
    """Into another customer's it is."""
    between = ends(platform, "in")
    twin = made(platform, ends(platform, "in"))
    platform.internal_accounts.stop(between.held, status)

    answer = send(platform, between)

    expect_unmade(platform, between, answer, twin)


@requirement("TRF-123")
def test_nothing_is_transferred_to_a_disabled_account(platform: Platform) -> None:
    """To an active one of the same customer it is."""
    between = ends(platform, "out")
    twin = made(platform, between)
    disabled = platform.external_accounts.moved({"id": between.owner}, "external_account.disable")
    wrong = replace(between, destination=disabled)

    answer = send(platform, wrong, AMOUNT // 2)

    expect_unmade(platform, wrong, answer, twin)


@requirement("TRF-124")
def test_a_transfer_does_not_pass_by_strong_authentication(platform: Platform) -> None:
    """A customer who has to authorize what a quote moves has to authorize this as well."""
    twin = made(platform, ends(platform, "out"))
    corridor = platform.quotes.corridor(same_currency=True)
    customer = platform.approved.sca_customer(currencies=[corridor.sending])
    source = platform.internal_accounts.account(corridor.sending, customer=customer)
    between = Ends(
        "out", source, platform.external_accounts.account(customer, corridor.account), source
    )

    answer = send(platform, between)

    if not answer.accepted:
        answer.refused(twin=twin)
    else:
        status = transaction(platform, between, answer).get("status")
        assert status not in SETTLING, f"nobody has authorized it, and it is {status}"


@requirement("TRF-125")
def test_nothing_is_transferred_in_for_an_unverified_customer(platform: Platform) -> None:
    """Accounts may be set up before the verification, and not be funded."""
    twin = made(platform, ends(platform, "in"))
    customer = platform.verification.reviews.unsubmitted(currencies=[platform.profile.currency])
    between = Ends("in", *set_up(platform, customer))

    answer = send(platform, between)

    expect_unmade(platform, between, answer, twin)


@requirement("TRF-126")
def test_transfers_at_the_same_time_never_overdraw(platform: Platform) -> None:
    """Each is covered by the balance; all together are not."""
    if not platform.profile.bindings.transactions_of_customer:
        raise ResourceMissing("no filter tells which transactions are the customer's")
    between = ends(platform, "out", deposit=DEPOSIT)
    made(platform, ends(platform, "out"))
    # A deposit may be listed as a transaction too.
    known = {row["id"] for row in platform.transactions.of_customer(between.owner)}

    answers = at_once(*[partial(send, platform, between, AMOUNT)] * AT_ONCE)

    if not any(answer.accepted for answer in answers):
        raise PreconditionFailed(f"none of {AT_ONCE} transfers was made: {answers[0]}")
    listed = platform.transactions.of_customer(between.owner)
    rows = [row for row in listed if row["id"] not in known and moves(row)]
    assert sum(row["sentAmount"]["amount"] for row in rows) <= DEPOSIT, rows
    assert platform.internal_accounts.balances(between.held)[0] >= 0


@requirement("TRF-127")
def test_a_transfer_is_at_most_as_large_as_its_corridor_allows(platform: Platform) -> None:
    """The limit itself passes; one smallest unit more does not."""
    limit = platform.profile.resources.single_transaction_limit
    if limit is None:
        raise ResourceMissing("the profile gives no resources.single_transaction_limit")
    if limit.currency != platform.quotes.corridor(same_currency=True).sending:
        raise ResourceMissing(f"transfers of the suite are not in {limit.currency}")
    made(platform, ends(platform, "out"))
    between = ends(platform, "out", deposit=limit.amount + 1)
    # Whatever becomes of the first transfer, the second is covered.
    platform.internal_accounts.deposit(between.held, limit.amount)

    past_limit = send(platform, between, limit.amount + 1)
    at_limit = send(platform, between, limit.amount)

    past_limit.refused(400, "TRANSACTION_SIZE_LIMIT_EXCEEDED", twin=at_limit)


@requirement("TRF-128", "TRF-129")
def test_a_transfer_past_the_daily_volume_is_refused(platform: Platform, check: Check) -> None:
    """And the source keeps what it holds."""
    between = ends(platform, "out")
    twin = made(platform, ends(platform, "out"))
    before = debited(platform, between)
    platform.triggers.fire(
        "volume.reached",
        customerId=between.owner,
        currency=platform.quotes.corridor(same_currency=True).sending,
    )

    answer = send(platform, between)

    with check("TRF-128"):
        answer.refused(429, "DAILY_VOLUME_LIMIT_EXCEEDED", twin=twin)
    with check("TRF-129"):
        assert platform.internal_accounts.balances(between.held)[0] == before


def expect_unmade(platform: Platform, between: Ends, answer: Answer, twin: Answer) -> None:
    """Assert that a transfer is refused, or does not complete in the end."""
    __tracebackhide__ = True
    if not answer.accepted:
        answer.refused(twin=twin)
        return
    row = found(platform, between, answer)
    if row is None:
        raise PreconditionFailed(f"what becomes of the transfer is not listed: {answer}")
    status = transaction(platform, between, answer, *ENDED).get("status")
    assert status != "COMPLETED", f"the transfer has arrived: {answer}"


def set_up(platform: Platform, customer: Resource) -> tuple[Resource, Resource, Resource]:
    """Return the ends of a transfer in, and the internal one again, of a customer.

    Raises:
        ResourceMissing: such a customer gets no accounts yet.
    """
    accounts = platform.internal_accounts.of_customer(customer)
    if not accounts:
        raise ResourceMissing("before its verification a customer gets no internal account")
    body = platform.external_accounts.body(customer, platform.profile.resources.pullable_account)
    created = platform.api.create_external_account(body)
    if not created.accepted:
        raise ResourceMissing(f"before its verification a customer registers no account: {created}")
    pulled = platform.external_accounts.activate(arranged_body(created))
    codes = [account["balance"]["currency"]["code"] for account in accounts]
    if pulled.get("currency") not in codes:
        raise ResourceMissing(f"the customer has no internal account in {pulled.get('currency')}")
    held = accounts[codes.index(pulled["currency"])].but(customerId=customer.id)
    return pulled, held, held


def moves(row: Json) -> bool:
    """Return whether a transaction has moved money, or will, and says how much."""
    return row.get("status") not in UNMOVED and isinstance(row.get("sentAmount"), Mapping)
