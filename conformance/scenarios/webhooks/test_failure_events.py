"""OUTGOING_PAYMENT.FAILED: payouts that fail for different causes."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.challenges import expire
from conformance.scenarios.kit.marks import requirement
from conformance.scenarios.webhooks.reports import FAILURE
from conformance.verdict.decisions import ResourceMissing


@pytest.mark.parametrize(
    "trigger",
    [
        case("EVT-330", "returned", "payout.return"),
        case("EVT-331", "limited", "destination.limited"),
        case("EVT-332", "blocked", "destination.blocked"),
        case("EVT-333", "unknown", "destination.unknown"),
    ],
)
def test_a_failure_is_reported(platform: Platform, trigger: str) -> None:
    """A payout that fails at the rail or at the receiver is reported as FAILED."""
    name = platform.quotes.payout(trigger=trigger)["transactionId"]

    assert platform.webhooks.wait_for(FAILURE, name) is not None, f"no {FAILURE} for {name}"


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
