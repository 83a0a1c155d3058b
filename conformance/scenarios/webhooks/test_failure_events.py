"""OUTGOING_PAYMENT.FAILED: payouts that fail for different causes."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.challenges import expire
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import (
    FAILURE,
    REFUND_COMPLETED,
    REFUND_PENDING,
    arrange_event,
)
from conformance.verdict.decisions import ResourceMissing

REFUND_REPORTS = {"EVT-013": REFUND_PENDING, "EVT-014": REFUND_COMPLETED}
"""By requirement the webhooks about the refund of a failed payout."""


@pytest.mark.parametrize(
    ("trigger", "failure_id"),
    [
        case((failure_id, *REFUND_REPORTS, "EVT-024"), kind, trigger, failure_id)
        for failure_id, kind, trigger in (
            ("EVT-330", "returned", "payout.return"),
            ("EVT-331", "limited", "destination.limited"),
            ("EVT-332", "blocked", "destination.blocked"),
            ("EVT-333", "unknown", "destination.unknown"),
        )
    ],
)
def test_a_failure_is_reported(
    platform: Platform, check: Check, trigger: str, failure_id: str
) -> None:
    """A payout that fails at the rail or at the receiver is reported as FAILED, with its cause.

    So is its refund.
    """
    name = platform.quotes.payout(trigger=trigger)["transactionId"]

    with check(failure_id):
        assert platform.webhooks.wait_for(FAILURE, name) is not None, f"no {FAILURE} for {name}"
    for requirement_id, kind in REFUND_REPORTS.items():
        with check(requirement_id):
            assert platform.webhooks.wait_for(kind, name) is not None, f"no {kind} for {name}"
    with check("EVT-024"):
        assert arrange_event(platform, FAILURE, name).data.get("failureReason")


@requirement("EVT-334")
def test_a_failure_for_want_of_authorization_is_reported(platform: Platform) -> None:
    """A payout that fails as its challenge expires is reported as FAILED."""
    quote = platform.sca.challenged()
    expire(platform, quote)

    status = platform.transactions.at_status(quote, "FAILED", "EXPIRED").get("status")

    if status != "FAILED":
        raise ResourceMissing(f"an expired challenge leaves the transaction {status}")
    name = quote["transactionId"]
    assert platform.webhooks.wait_for(FAILURE, name) is not None, f"no {FAILURE} for {name}"
