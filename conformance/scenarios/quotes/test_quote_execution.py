"""Executing a quote: the transitions out of PENDING, and the money that they move."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_resource
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

ROUNDING = 1


@requirement("QUO-080", "QUO-083", "QUO-084", "QUO-085", "QUO-086")
def test_executing_a_pending_quote_debits_its_source(platform: Platform, check: Check) -> None:
    """Settlement begins, and the funds are no longer there to spend."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    before, _ = platform.internal_accounts.balances(source)

    answer = platform.api.execute_quote(quote["id"])
    left = before - quote["totalSendingAmount"]

    with check("QUO-083"):
        assert answer.accepted, answer
    with check("QUO-080"):
        assert status_of(answer) in SETTLING, answer
    with check("QUO-084"):
        assert answer.body["id"] == quote["id"], answer
    with check("QUO-085"):
        assert answer.body["transactionId"] == quote["transactionId"], answer
    with check("QUO-086"):
        assert platform.internal_accounts.wait_for_balance(source, left) == left


@requirement("QUO-086")
def test_the_debit_does_not_wait_for_the_payout(platform: Platform) -> None:
    """The funds are gone from the balance while the rail takes its time."""
    source = platform.internal_accounts.account()
    destination = platform.external_accounts.account(source.owner, trigger="payout.hold")
    quote = platform.quotes.pending(source, destination)
    before, _ = platform.internal_accounts.balances(source)

    platform.quotes.execute(quote)

    left = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(source, left) == left


@requirement("QUO-081")
def test_executing_a_cross_currency_quote_starts_its_settlement(platform: Platform) -> None:
    """Conversion needs no step of its own."""
    corridor = platform.quotes.corridor(same_currency=False)
    source = platform.internal_accounts.account(corridor.sending)
    destination = platform.external_accounts.account(source.owner, corridor.account)
    quote = platform.quotes.pending(source, destination)

    answer = platform.api.execute_quote(quote["id"])

    assert status_of(answer) in SETTLING, answer


@requirement("QUO-082")
def test_executing_a_quote_from_a_pullable_source_starts_its_settlement(
    platform: Platform,
) -> None:
    """What is pulled need not be deposited before."""
    customer = platform.approved.customer()
    destination = platform.internal_accounts.account(amount=0, customer=customer)
    quote = platform.quotes.pending(
        {**platform.external_accounts.pullable(customer), "customerId": customer["id"]}, destination
    )

    answer = platform.api.execute_quote(quote["id"])

    assert status_of(answer) in SETTLING, answer


@requirement("QUO-087", "QUO-088")
def test_a_completed_payout_took_the_sending_amount(platform: Platform, check: Check) -> None:
    """Fees are part of the sending amount and come on top of nothing."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    before, total_before = platform.internal_accounts.balances(source)

    platform.quotes.complete(quote)
    left = before - quote["totalSendingAmount"]
    total_left = total_before - quote["totalSendingAmount"]

    with check("QUO-088"):
        assert platform.internal_accounts.wait_for_balance(source, left) == left
    with check("QUO-087"):
        assert total_balance_at(platform, source, total_left) == total_left


@requirement("QUO-089", "QUO-090")
def test_a_completed_transfer_arrives_but_for_its_fees(platform: Platform, check: Check) -> None:
    """Between internal accounts both ends can be seen."""
    source, destination = (
        platform.internal_accounts.account(),
        platform.internal_accounts.account(amount=0),
    )
    quote = between_customers(platform, source, destination)
    sent_from, _ = platform.internal_accounts.balances(source)
    arrived_on, _ = platform.internal_accounts.balances(destination)

    platform.quotes.complete(quote)
    left = platform.internal_accounts.wait_for_balance(
        source, sent_from - quote["totalSendingAmount"]
    )
    arrived = platform.internal_accounts.wait_for_balance(
        destination, arrived_on + quote["totalReceivingAmount"]
    )
    lost, gained = sent_from - left, arrived - arrived_on

    with check("QUO-089"):
        assert gained == quote["totalReceivingAmount"]
    with check("QUO-090"):
        # The platform's own fees may be a part of feesIncluded or stand beside it.
        own = quote.get("platformFeesIncluded") or 0
        sums = (quote["feesIncluded"], quote["feesIncluded"] + own)
        astray = min(abs(lost - gained - fees) for fees in sums)
        assert astray <= ROUNDING, (
            f"the source lost {lost}, the destination gained {gained}, the fees are {sums[0]}"
        )


@requirement("QUO-092")
def test_executing_a_quote_twice_in_a_row_debits_once(platform: Platform) -> None:
    """A client that repeats itself, because an answer got lost, pays once."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    before, _ = platform.internal_accounts.balances(source)
    platform.quotes.execute(quote)

    platform.api.execute_quote(quote["id"])

    left = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(source, left) == left


@pytest.mark.parametrize(
    ("fate", "statuses"),
    [
        pytest.param("payout.hold", ("PROCESSING",), marks=requirement("QUO-092"), id="PROCESSING"),
        pytest.param(None, ("COMPLETED",), marks=requirement("QUO-093"), id="COMPLETED"),
        pytest.param("refund.hold", FAILED, marks=requirement("QUO-092"), id="FAILED"),
    ],
)
def test_executing_a_quote_that_left_pending_debits_nothing(
    platform: Platform, fate: str | None, statuses: tuple[str, ...]
) -> None:
    """The caller may be refused or shown the quote; its source is left alone."""
    source = platform.internal_accounts.account()
    destination = platform.external_accounts.account(source.owner, trigger=fate)
    opening, _ = platform.internal_accounts.balances(source)
    quote = platform.quotes.execute(platform.quotes.pending(source, destination))
    reached = reach(platform, quote, statuses)
    # A debit that is shown late would look like a second one.
    before = platform.internal_accounts.wait_for_balance(
        source, opening - quote["totalSendingAmount"]
    )

    again = platform.api.execute_quote(quote["id"])

    assert platform.internal_accounts.balances(source)[0] >= before
    platform.observe(f"executing a quote at {reached} again is answered with {again.status}")


@requirement("QUO-110")
def test_an_expired_quote_cannot_be_executed(platform: Platform) -> None:
    """The caller has to request a new quote."""
    source = platform.internal_accounts.account()
    expired = expired_quote(platform, source)

    refusal = platform.api.execute_quote(expired["id"])

    refusal.refused(
        400,
        409,
        "QUOTE_EXPIRED",
        "QUOTE_RATE_UNAVAILABLE",
        twin=platform.api.execute_quote(platform.quotes.pending(source)["id"]),
    )
    platform.observe(f"executing an expired quote is refused with {refusal.status} {refusal.code}")


@requirement("QUO-603", "QUO-604")
def test_a_new_quote_takes_the_place_of_an_expired_one(platform: Platform, check: Check) -> None:
    """The same request is answered with new terms."""
    source = platform.internal_accounts.account()
    body = platform.quotes.body(source)
    expired = arranged_resource(platform.api.create_quote(body))
    platform.triggers.fire("quote.expire", quoteId=expired["id"], expiresAt=expired["expiresAt"])

    created = platform.api.create_quote(body)

    with check("QUO-603"):
        assert created.accepted, created
    executed = platform.api.execute_quote(arranged_resource(created)["id"])
    with check("QUO-604"):
        assert executed.accepted, executed
        assert executed.body["status"] in SETTLING, executed


@requirement("QUO-111")
def test_executing_an_expired_quote_debits_nothing(platform: Platform) -> None:
    """The terms of the quote are void, so nothing may move by them."""
    source = platform.internal_accounts.account()
    expired = expired_quote(platform, source)
    before, _ = platform.internal_accounts.balances(source)

    platform.api.execute_quote(expired["id"])

    assert platform.internal_accounts.balances(source)[0] == before


@requirement("QUO-112")
def test_a_quote_that_expires_costs_nothing(platform: Platform) -> None:
    """What was only quoted is neither debited nor kept back."""
    source = platform.internal_accounts.account()
    before, _ = platform.internal_accounts.balances(source)
    expired = expired_quote(platform, source)

    platform.transactions.at_status(expired, "EXPIRED")

    assert platform.internal_accounts.balances(source)[0] == before


@requirement("QUO-114")
def test_a_quote_whose_rate_is_refused_debits_nothing(platform: Platform) -> None:
    """A refused execution leaves no trace on the source."""
    corridor = platform.quotes.corridor(same_currency=False)
    source = platform.internal_accounts.account(corridor.sending)
    destination = platform.external_accounts.account(source.owner, corridor.account)
    quote = platform.quotes.pending(source, destination)
    platform.triggers.fire("rate.stale", quoteId=quote["id"])
    before, _ = platform.internal_accounts.balances(source)

    refusal = platform.api.execute_quote(quote["id"])

    assert platform.internal_accounts.balances(source)[0] == before
    refusal.refused(
        twin=platform.api.execute_quote(platform.quotes.pending(source, destination)["id"])
    )


@requirement("QUO-100")
def test_the_whole_balance_can_be_sent(platform: Platform) -> None:
    """Fees are included in the sending amount, so nothing has to be left for them."""
    source = platform.internal_accounts.account(amount=20_000)

    *_, answer = platform.quotes.create_and_execute(platform.quotes.body(source, amount=20_000))

    assert status_of(answer) in SETTLING, answer


@requirement("QUO-098", "QUO-099")
def test_a_quote_above_the_balance_moves_no_money(platform: Platform, check: Check) -> None:
    """One smallest unit too much is too much."""
    source = platform.internal_accounts.account(amount=20_000)
    destination = platform.external_accounts.account(source.owner)
    before, _ = platform.internal_accounts.balances(source)

    *_, refusal = steps = platform.quotes.create_and_execute(
        platform.quotes.body(source, destination, amount=20_001)
    )
    left, _ = platform.internal_accounts.balances(source)
    twin = platform.quotes.create_and_execute(
        platform.quotes.body(source, destination, amount=20_000)
    )

    with check("QUO-098"):
        if not refusal.accepted:
            refusal.refused(twin=twin[: len(steps)][-1])
        assert all(status_of(step) not in SETTLING for step in steps), refusal
    with check("QUO-099"):
        assert left == before
    platform.observe(f"insufficient funds are refused by {refusal.operation.id}")


def status_of(answer: Answer) -> Any:
    """Return the status of the quote that was answered with, if it was one."""
    return answer.body.get("status") if isinstance(answer.body, Mapping) else None


def total_balance_at(platform: Platform, account: Resource, expected: int) -> int:
    """Return an account's totalBalance, if it is given, once it is as expected."""
    for seen in platform.internal_accounts.of_customer(account.owner):
        if seen["id"] == account["id"] and seen.get("totalBalance"):
            return platform.until(
                lambda: platform.internal_accounts.balances(account)[1],
                lambda total: total == expected,
            )
    raise ResourceMissing("internal accounts are shown without totalBalance")


def expired_quote(platform: Platform, source: Resource) -> Resource:
    """Return a quote whose lifetime has passed."""
    quote = platform.quotes.pending(source)
    platform.triggers.fire("quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"])
    return quote


def reach(platform: Platform, quote: Json, statuses: tuple[str, ...]) -> str:
    """Wait until the transaction of a quote has one of some statuses, and return it."""
    seen = platform.transactions.at_status(quote, *statuses).get("status")
    if seen not in statuses:
        raise PreconditionFailed(f"the transaction came to {seen} instead of {statuses[0]}")
    return str(seen)


def between_customers(platform: Platform, source: Resource, destination: Resource) -> Json:
    """Create a quote between internal accounts of two customers, which not all may offer."""
    created = platform.api.create_quote(platform.quotes.body(source, destination))
    if not created.accepted:
        raise ResourceMissing(f"the target does not transfer between customers: {created}")
    quote: Json = created.body
    return quote
