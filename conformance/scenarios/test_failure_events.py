"""Webhooks about payouts that fail, whatever the reason."""

from __future__ import annotations

import pytest

from conformance.client.platform import Platform
from conformance.scenarios.challenges import expire
from conformance.scenarios.marks import requirement
from conformance.scenarios.reports import FAILURE
from conformance.verdict.decisions import ResourceMissing


@pytest.mark.parametrize(
    "fate",
    [
        pytest.param("payout.return", marks=requirement("EVT-330"), id="returned"),
        pytest.param("destination.limited", marks=requirement("EVT-331"), id="limited"),
        pytest.param("destination.blocked", marks=requirement("EVT-332"), id="blocked"),
        pytest.param("destination.unknown", marks=requirement("EVT-333"), id="unknown"),
    ],
)
def test_a_failure_is_reported(platform: Platform, fate: str) -> None:
    """The rail decides on it."""
    name = platform.payout(fate=fate)["transactionId"]

    assert platform.event(FAILURE, name) is not None, f"no {FAILURE} for {name}"


@requirement("EVT-334")
def test_a_failure_for_want_of_authorization_is_reported(platform: Platform) -> None:
    """Nobody answered the challenge in time."""
    quote = platform.challenged()
    expire(platform, quote)

    status = platform.transaction_in(quote, "FAILED", "EXPIRED").get("status")

    if status != "FAILED":
        raise ResourceMissing(f"an expired challenge leaves the transaction {status}")
    name = quote["transactionId"]
    assert platform.event(FAILURE, name) is not None, f"no {FAILURE} for {name}"
