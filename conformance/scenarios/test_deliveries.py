"""Deliveries of webhooks: acknowledged late or not at all, delivered again, and what goes on."""

from __future__ import annotations

import pytest

from conformance.client.actor import Json
from conformance.client.listener import Delivery, Manner
from conformance.client.onboarding import standing
from conformance.client.platform import Platform
from conformance.scenarios.marks import Check, requirement
from conformance.scenarios.reports import (
    COMPLETED,
    PROCESSING,
    demand_one_id,
    let_reports_arrive,
    needed,
)
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

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

    known = platform.deliveries(lambda one: one.id == first.id)

    if len(known) == 1:
        raise ResourceMissing("what was delivered again carries another id")
    with check("EVT-263"):
        assert {one.type for one in known} == {first.type}
    with check("EVT-264"):
        assert all(one.concerns(first.data["id"]) for one in known)


@requirement("EVT-262")
def test_what_is_acknowledged_late_has_one_id(platform: Platform) -> None:
    """A sender that lost patience may deliver it again."""
    source = platform.account()
    quote = platform.quote(source)
    name = quote["transactionId"]
    with platform.receiving(Manner.SLOW, name, COMPLETED):
        platform.executed(quote)
        needed(platform, COMPLETED, name)

        let_reports_arrive(platform, source)

    demand_one_id(platform, COMPLETED, name)


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
    quote = platform.quote()
    name = quote["transactionId"]

    with platform.receiving(manner, name, *PAYOUT):
        platform.executed(quote)
        read = platform.transaction_in(quote, "COMPLETED")

    assert read.get("status") == "COMPLETED", read
    _observe_what_comes_later(platform, quote, manner)


@requirement("EVT-268", "EVT-269")
def test_payments_go_on_without_acknowledgements(platform: Platform, check: Check) -> None:
    """The next quote is taken, and each is debited once."""
    source = platform.account()
    before = platform.balances(source)[0]
    first = platform.quote(source)

    with platform.receiving(Manner.FAILING, first["transactionId"], *PAYOUT):
        platform.completed(first)
        answers = platform.transfer(platform.quote_body(source))
        second = answers[0].body
        expected = before - first["totalSendingAmount"]
        with check("EVT-269"):
            assert all(answer.accepted for answer in answers), answers
            expected -= second["totalSendingAmount"]
            platform.transaction_in(second, "COMPLETED")

    with check("EVT-268"):
        assert platform.balance_at(source, expected) == expected


@requirement("EVT-270")
def test_a_review_goes_on_without_acknowledgements(platform: Platform) -> None:
    """The customer is approved."""
    customer = platform.prepared(fate="customer.approve")

    with platform.receiving(Manner.FAILING, customer["id"], *REVIEW):
        platform.submission(customer)
        if platform.triggers.magic("customer.approve") is None:
            platform.in_review(customer)
            platform.cause("customer.approve", customerId=customer["id"])
        read = platform.customer_in(customer, "APPROVED")

    assert standing(read) == "APPROVED", read


def _twice(platform: Platform, manner: Manner) -> tuple[Delivery, Delivery]:
    """Return a webhook that was not acknowledged, and what was delivered of it again.

    Raises:
        ResourceMissing: nothing was, within the time for an event.
    """
    quote = platform.quote()
    name = quote["transactionId"]
    with platform.receiving(manner, name, COMPLETED):
        platform.executed(quote)
        first = needed(platform, COMPLETED, name)
    if first.acknowledged:
        raise PreconditionFailed("the webhook was acknowledged")

    def is_again(one: Delivery) -> bool:
        same = one.id == first.id or (one.type == COMPLETED and one.concerns(name))
        return same and one.number != first.number

    again = platform.delivery(is_again)
    if again is None:
        platform.observe("a webhook that was not acknowledged is not delivered again soon")
        raise ResourceMissing("nothing is delivered again within timing.event of the profile")
    late = "after more than" if again.at - first.at > SOON else "within"
    platform.observe(f"a webhook that was not acknowledged is delivered again {late} a second")
    return first, again


def _observe_what_comes_later(platform: Platform, quote: Json, manner: Manner) -> None:
    """Note whether a payout is reported after all, once its webhooks are acknowledged again."""
    found = platform.delivery(
        lambda one: (
            one.type == COMPLETED and one.concerns(quote["transactionId"]) and one.acknowledged
        )
    )
    told = "is not reported soon" if found is None else "is reported after all"
    platform.observe(f"what came to a listener that was {manner.value} {told}")
