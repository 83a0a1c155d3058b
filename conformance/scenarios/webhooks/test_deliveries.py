"""Deliveries that the listener acknowledges late or not at all: repetition, and what goes on."""

from __future__ import annotations

import pytest

from conformance.exchange.delivery import Delivery
from conformance.platform.given.customers import verification_status
from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import (
    COMPLETED,
    PROCESSING,
    arrange_event,
    expect_one_id,
    let_reports_arrive,
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
        case("EVT-260", "answered-with-500", Manner.FAILING),
        case("EVT-261", "not-answered", Manner.CLOSED),
    ],
)
def test_what_is_delivered_again_has_the_same_id(platform: Platform, manner: Manner) -> None:
    """A repeated delivery has the id of the first; whether and when it comes is open."""
    first, second = _arrange_repetition(platform, manner)

    assert second.id == first.id


@requirement("EVT-263", "EVT-264")
def test_what_is_delivered_again_is_the_same_event(platform: Platform, check: Check) -> None:
    """Deliveries of one id have one type and are about one resource."""
    first, _ = _arrange_repetition(platform, Manner.FAILING)

    deliveries = platform.webhooks.all(lambda delivery: delivery.id == first.id)

    if len(deliveries) == 1:
        raise ResourceMissing("what was delivered again carries another id")
    with check("EVT-263"):
        assert {delivery.type for delivery in deliveries} == {first.type}
    with check("EVT-264"):
        assert all(delivery.concerns(first.data["id"]) for delivery in deliveries)


@requirement("EVT-262")
def test_what_is_acknowledged_late_has_one_id(platform: Platform) -> None:
    """A webhook that is acknowledged late, and maybe delivered again, has one id."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    name = quote["transactionId"]
    with platform.webhooks.taking(Manner.SLOW, name, COMPLETED):
        platform.quotes.execute(quote)
        arrange_event(platform, COMPLETED, name)

        let_reports_arrive(platform, source)

    expect_one_id(platform, COMPLETED, name)


# --- What goes on ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "manner",
    [
        case("EVT-265", "answered-with-500", Manner.FAILING),
        case("EVT-266", "not-answered", Manner.CLOSED),
        case("EVT-267", "answered-late", Manner.SLOW),
    ],
)
def test_a_payout_completes_without_its_platform(platform: Platform, manner: Manner) -> None:
    """A payout completes although the platform does not acknowledge its webhooks."""
    quote = platform.quotes.pending()
    name = quote["transactionId"]

    with platform.webhooks.taking(manner, name, *PAYOUT):
        platform.quotes.execute(quote)
        transaction = platform.transactions.at_status(quote, "COMPLETED")

    assert transaction.get("status") == "COMPLETED", transaction
    _observe_what_comes_later(platform, quote, manner)


@requirement("EVT-268", "EVT-269")
def test_payments_go_on_without_acknowledgements(platform: Platform, check: Check) -> None:
    """The next quote is executed, and the source is debited once for each quote."""
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
    """A customer is approved although the platform does not acknowledge the webhooks."""
    customer = platform.verification.reviews.prepared(trigger="customer.approve")

    with platform.webhooks.taking(Manner.FAILING, customer["id"], *REVIEW):
        platform.verification.reviews.submission(customer)
        if platform.triggers.magic("customer.approve") is None:
            platform.verification.reviews.in_review(customer)
            platform.triggers.fire("customer.approve", customerId=customer["id"])
        approved_customer = platform.customers.at_status(customer, "APPROVED")

    assert verification_status(approved_customer) == "APPROVED", approved_customer


def _arrange_repetition(platform: Platform, manner: Manner) -> tuple[Delivery, Delivery]:
    """Return a webhook that was not acknowledged, and its repeated delivery.

    Raises:
        PreconditionFailed: no webhook comes, or it was acknowledged.
        ResourceMissing: no repeated delivery comes within ``timing.event`` of the profile.
    """
    quote = platform.quotes.pending()
    name = quote["transactionId"]
    with platform.webhooks.taking(manner, name, COMPLETED):
        platform.quotes.execute(quote)
        first = arrange_event(platform, COMPLETED, name)
    if first.acknowledged:
        raise PreconditionFailed("the webhook was acknowledged")

    def is_repetition(delivery: Delivery) -> bool:
        is_same_event = delivery.id == first.id or (
            delivery.type == COMPLETED and delivery.concerns(name)
        )
        return is_same_event and delivery.number != first.number

    second = platform.webhooks.wait_for_any(is_repetition)
    if second is None:
        platform.observe("a webhook that was not acknowledged is not delivered again soon")
        raise ResourceMissing("nothing is delivered again within timing.event of the profile")
    delay = "after more than" if second.at - first.at > SOON else "within"
    platform.observe(f"a webhook that was not acknowledged is delivered again {delay} a second")
    return first, second


def _observe_what_comes_later(platform: Platform, quote: Json, manner: Manner) -> None:
    """Record whether a payout is reported once its webhooks are acknowledged again."""
    report = platform.webhooks.wait_for_any(
        lambda delivery: (
            delivery.type == COMPLETED
            and delivery.concerns(quote["transactionId"])
            and delivery.acknowledged
        )
    )
    result = "is not reported soon" if report is None else "is reported after all"
    platform.observe(f"what came to a listener that was {manner.value} {result}")
