"""OUTGOING_PAYMENT.FAILED: payouts that fail for different causes."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.challenges import expire
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.kinds import Kind, create_quote, pay
from conformance.scenarios.webhooks.reports import (
    FAILURE,
    REFUND,
    REFUND_COMPLETED,
    arrange_event,
    expect_event,
    expect_same,
)
from conformance.verdict.decisions import ResourceMissing


@pytest.mark.parametrize(
    ("requirement_id", "trigger"),
    [
        case((id_, *REFUND, "EVT-024", "EVT-230", "EVT-844"), name, id_, trigger)
        for id_, name, trigger in (
            ("EVT-330", "returned", "payout.return"),
            ("EVT-331", "limited", "destination.limited"),
            ("EVT-332", "blocked", "destination.blocked"),
            ("EVT-333", "unknown", "destination.unknown"),
        )
    ],
)
def test_a_failure_is_reported(
    platform: Platform, check: Check, requirement_id: str, trigger: str
) -> None:
    """A payout that fails at the rail or at the receiver is reported as FAILED, with its cause.

    So is its refund. The cause is the one that the transaction is read with.
    """
    quote = platform.quotes.payout(trigger=trigger)
    name = quote["transactionId"]

    for reported_id, kind in {requirement_id: FAILURE, **REFUND}.items():
        with check(reported_id):
            expect_event(platform, kind, name)
    with check("EVT-024"):
        assert arrange_event(platform, FAILURE, name).data.get("failureReason")
    transaction = platform.transactions.refunded(quote)
    for reported_id, kind in {"EVT-230": FAILURE, "EVT-844": REFUND_COMPLETED}.items():
        with check(reported_id):
            data = arrange_event(platform, kind, name).data
            expect_same(data, transaction, "failureReason")


@requirement("EVT-012")
@pytest.mark.parametrize(
    "payment",
    [
        *(
            case((*REFUND,), kind, kind)
            for kind in ("business", "immediate", "authorized", "platform")
        ),
        "pulled",
        "real-time",
    ],
)
def test_a_failure_of_each_kind_of_payment_is_reported(
    platform: Platform, check: Check, payment: Kind
) -> None:
    """A failed payment is reported as FAILED, and so is its refund, whatever executed it.

    Where money goes back to that came from outside the text does not say.
    """
    quote = create_quote(platform, payment, trigger="payout.screen")

    pay(platform, payment, quote)

    name = quote["transactionId"]
    refund = {} if payment in ("pulled", "real-time") else REFUND
    for reported_id, kind in {"EVT-012": FAILURE, **refund}.items():
        with check(reported_id):
            expect_event(platform, kind, name)


@requirement("EVT-334")
def test_a_failure_for_want_of_authorization_is_reported(platform: Platform) -> None:
    """A payout that fails as its challenge expires is reported as FAILED."""
    quote = platform.sca.challenged()
    expire(platform, quote)

    status = platform.transactions.at_status(quote, "FAILED", "EXPIRED").get("status")

    if status != "FAILED":
        raise ResourceMissing(f"an expired challenge leaves the transaction {status}")
    name = quote["transactionId"]
    expect_event(platform, FAILURE, name)
