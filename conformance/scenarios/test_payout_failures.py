"""Payouts that fail: why they say they did, and how their money comes back."""

from __future__ import annotations

import pytest

from conformance.client.actor import given
from conformance.client.platform import FAILED, Platform
from conformance.scenarios.marks import Check, requirement


@pytest.mark.parametrize(
    ("fate", "reason"),
    [
        pytest.param(
            "payout.return", "PAYOUT_RETURNED", marks=requirement("TRX-040"), id="returned"
        ),
        pytest.param(
            "destination.limited", "LIMIT_EXCEEDED", marks=requirement("TRX-041"), id="limited"
        ),
        pytest.param(
            "destination.blocked",
            "ACCOUNT_CANNOT_RECEIVE",
            marks=requirement("TRX-042"),
            id="blocked",
        ),
        pytest.param(
            "destination.unknown", "ACCOUNT_INVALID", marks=requirement("TRX-043"), id="unknown"
        ),
        pytest.param(
            "payout.screen", "COMPLIANCE_REJECTED", marks=requirement("TRX-044"), id="screened"
        ),
    ],
)
def test_a_failed_payout_says_why(platform: Platform, fate: str, reason: str) -> None:
    """Each cause has a reason of its own."""
    quote = platform.payout(fate=fate)

    transaction = platform.failed(quote)

    assert transaction.get("status") in FAILED
    assert transaction.get("failureReason") == reason


@requirement("TRX-012", "TRX-014", "TRX-015", "TRX-016", "TRX-050", "TRX-053", "TRX-603")
@pytest.mark.parametrize("fate", ["payout.screen", "payout.return"])
def test_a_failed_payout_gets_a_refund(platform: Platform, check: Check, fate: str) -> None:
    """Nobody has to ask for it, and the payout itself stays failed."""
    quote = platform.payout(fate=fate)

    failed = platform.failed(quote)
    refunded = platform.refunded(quote)

    with check("TRX-016"):
        assert failed.get("status") in FAILED
        assert failed.get("failureReason")
    with check("TRX-012"):
        given(failed, "failureReason")
    with check("TRX-050"):
        assert isinstance(refunded.get("refund"), dict)
    with check("TRX-014"):
        given(refunded, "refund")
    with check("TRX-015"):
        refund = given(refunded, "refund")
        assert isinstance(refund, dict)
        assert refund.get("status")
    with check("TRX-603"):
        assert given(refunded, "refund").get("reference"), refunded
    with check("TRX-053"):
        assert refunded.get("status") in FAILED


@requirement("TRX-051", "TRX-052")
def test_a_failed_payout_is_refunded_once(platform: Platform, check: Check) -> None:
    """The whole debit comes back; the refund of a later payout does not bring it again."""
    source = platform.account()
    before = platform.balances(source)
    first = platform.payout(source, fate="payout.screen")
    platform.refunded(first)
    once = platform.until(lambda: platform.balances(source), lambda seen: seen == before)

    second = platform.payout(source, fate="payout.screen", amount=5_000)
    platform.refunded(second)
    twice = platform.until(lambda: platform.balances(source), lambda seen: seen == before)

    with check("TRX-051"):
        assert once == before
    with check("TRX-052"):
        assert twice == before


@requirement("TRX-054")
def test_a_refund_that_cannot_be_delivered_raises_no_balance(platform: Platform) -> None:
    """The money is not the customer's to spend before it is back."""
    source = platform.account()
    before, _ = platform.balances(source)

    quote = platform.payout(source, fate="refund.fail")
    platform.refunded(quote)

    owed = before - quote["totalSendingAmount"]
    assert platform.balance_at(source, owed) == owed


@requirement("TRX-055", "TRX-056")
def test_a_pending_refund_raises_the_balance_once_it_is_released(
    platform: Platform, check: Check
) -> None:
    """A payout that failed later has its money back by then."""
    source = platform.account()
    before, _ = platform.balances(source)
    quote = platform.payout(source, fate="refund.hold")
    platform.refunding(quote)
    platform.refunded(platform.payout(source, fate="payout.screen", amount=5_000))

    owed = before - quote["totalSendingAmount"]
    with check("TRX-055"):
        assert platform.balance_at(source, owed) == owed

    platform.cause("refund.release", transactionId=quote["transactionId"])

    with check("TRX-056"):
        assert platform.balance_at(source, before) == before
