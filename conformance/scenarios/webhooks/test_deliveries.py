"""Deliveries of webhooks: acknowledged late or not at all, delivered again, and what goes on."""

from __future__ import annotations

import pytest

from conformance.exchange.delivery import Delivery
from conformance.platform.given.customers import verification_status
from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import (
    COMPLETED,
    PROCESSING,
    expect_one_id,
    let_reports_arrive,
    needed,
)
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing
from conformance.webhooks.manner import Manner

WAITING = "OUTGOING_PAYMENT.PENDING"
PAYOUT = (WAITING, PROCESSING, COMPLETED)
REVIEW = ("CUSTOMER.KYC_PENDING", "CUSTOMER.KYC_APPROVED")
SOON = 1.0


# --- Delivered again ------------------------------------------------------------------------


@pytest.mark.parametrize(
    "manner",
    [
        pytest.param(Manner.FAILING, marks=requirement("EVT-260"), id="answered-with-500"),
        pytest.param(Manner.CLOSED, marks=requirement("EVT-261"), id="not-answered"),
    ],
)
def test_what_is_delivered_again_has_the_same_id(platform: Platform, manner: Manner) -> None:
    """Whether and when it is delivered again is open."""
    first, again = _twice(platform, manner)

    assert again.id == first.id


@requirement("EVT-263", "EVT-264")
def test_what_is_delivered_again_is_the_same_event(platform: Platform, check: Check) -> None:
    """Of the same type, about the same resource."""
    first, _ = _twice(platform, Manner.FAILING)

    known = platform.webhooks.all(lambda one: one.id == first.id)

    if len(known) == 1:
        raise ResourceMissing("what was delivered again carries another id")
    with check("EVT-263"):
        assert {one.type for one in known} == {first.type}
    with check("EVT-264"):
        assert all(one.concerns(first.data["id"]) for one in known)


@requirement("EVT-262")
def test_what_is_acknowledged_late_has_one_id(platform: Platform) -> None:
    """A sender that lost patience may deliver it again."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    name = quote["transactionId"]
    with platform.webhooks.taking(Manner.SLOW, name, COMPLETED):
        platform.quotes.execute(quote)
        needed(platform, COMPLETED, name)

        let_reports_arrive(platform, source)

    expect_one_id(platform, COMPLETED, name)


# --- What goes on ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "manner",
    [
        pytest.param(Manner.FAILING, marks=requirement("EVT-265"), id="answered-with-500"),
        pytest.param(Manner.CLOSED, marks=requirement("EVT-266"), id="not-answered"),
        pytest.param(Manner.SLOW, marks=requirement("EVT-267"), id="answered-late"),
    ],
)
def test_a_payout_completes_without_its_platform(platform: Platform, manner: Manner) -> None:
    """The rail decides on it alone."""
    quote = platform.quotes.pending()
    name = quote["transactionId"]

    with platform.webhooks.taking(manner, name, *PAYOUT):
        platform.quotes.execute(quote)
        read = platform.transactions.at_status(quote, "COMPLETED")

    assert read.get("status") == "COMPLETED", read
    _observe_what_comes_later(platform, quote, manner)


@requirement("EVT-268", "EVT-269")
def test_payments_go_on_without_acknowledgements(platform: Platform, check: Check) -> None:
    """The next quote is taken, and each is debited once."""
    source = platform.internal_accounts.account()
    before = platform.internal_accounts.balances(source)[0]
    first = platform.quotes.pending(source)

    with platform.webhooks.taking(Manner.FAILING, first["transactionId"], *PAYOUT):
        platform.quotes.complete(first)
        answers = platform.quotes.create_and_execute(platform.quotes.body(source))
        second = answers[0].body
        expected = before - first["totalSendingAmount"]
        with check("EVT-269"):
            assert all(answer.accepted for answer in answers), answers
            expected -= second["totalSendingAmount"]
            platform.transactions.at_status(second, "COMPLETED")

    with check("EVT-268"):
        assert platform.internal_accounts.wait_for_balance(source, expected) == expected


@requirement("EVT-270")
def test_a_review_goes_on_without_acknowledgements(platform: Platform) -> None:
    """The customer is approved."""
    customer = platform.verification.reviews.prepared(trigger="customer.approve")

    with platform.webhooks.taking(Manner.FAILING, customer["id"], *REVIEW):
        platform.verification.reviews.submission(customer)
        if platform.triggers.magic("customer.approve") is None:
            platform.verification.reviews.in_review(customer)
            platform.triggers.fire("customer.approve", customerId=customer["id"])
        read = platform.customers.at_status(customer, "APPROVED")

    assert verification_status(read) == "APPROVED", read


def _twice(platform: Platform, manner: Manner) -> tuple[Delivery, Delivery]:
    """Return a webhook that was not acknowledged, and what was delivered of it again.

    Raises:
        ResourceMissing: nothing was, within the time for an event.
    """
    quote = platform.quotes.pending()
    name = quote["transactionId"]
    with platform.webhooks.taking(manner, name, COMPLETED):
        platform.quotes.execute(quote)
        first = needed(platform, COMPLETED, name)
    if first.acknowledged:
        raise PreconditionFailed("the webhook was acknowledged")

    def is_again(one: Delivery) -> bool:
        same = one.id == first.id or (one.type == COMPLETED and one.concerns(name))
        return same and one.number != first.number

    again = platform.webhooks.wait_for_any(is_again)
    if again is None:
        platform.observe("a webhook that was not acknowledged is not delivered again soon")
        raise ResourceMissing("nothing is delivered again within timing.event of the profile")
    late = "after more than" if again.at - first.at > SOON else "within"
    platform.observe(f"a webhook that was not acknowledged is delivered again {late} a second")
    return first, again


def _observe_what_comes_later(platform: Platform, quote: Json, manner: Manner) -> None:
    """Note whether a payout is reported after all, once its webhooks are acknowledged again."""
    found = platform.webhooks.wait_for_any(
        lambda one: (
            one.type == COMPLETED and one.concerns(quote["transactionId"]) and one.acknowledged
        )
    )
    told = "is not reported soon" if found is None else "is reported after all"
    platform.observe(f"what came to a listener that was {manner.value} {told}")
