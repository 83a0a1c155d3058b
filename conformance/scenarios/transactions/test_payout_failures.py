"""Payouts that fail: why they say they did, and how their money comes back."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import require_member
from conformance.scenarios.kit.marks import Check, requirement


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
    quote = platform.quotes.payout(trigger=fate)

    transaction = platform.transactions.failed(quote)

    assert transaction.get("status") in FAILED
    assert transaction.get("failureReason") == reason


@requirement("TRX-012", "TRX-014", "TRX-015", "TRX-016", "TRX-050", "TRX-053", "TRX-603")
@pytest.mark.parametrize("fate", ["payout.screen", "payout.return"])
def test_a_failed_payout_gets_a_refund(platform: Platform, check: Check, fate: str) -> None:
    """Nobody has to ask for it, and the payout itself stays failed."""
    quote = platform.quotes.payout(trigger=fate)

    failed = platform.transactions.failed(quote)
    refunded = platform.transactions.refunded(quote)

    with check("TRX-016"):
        assert failed.get("status") in FAILED
        assert failed.get("failureReason")
    with check("TRX-012"):
        require_member(failed, "failureReason")
    with check("TRX-050"):
        assert isinstance(refunded.get("refund"), Mapping)
    with check("TRX-014"):
        require_member(refunded, "refund")
    with check("TRX-015"):
        refund = require_member(refunded, "refund")
        assert isinstance(refund, Mapping)
        assert refund.get("status")
    with check("TRX-603"):
        assert require_member(refunded, "refund").get("reference"), refunded
    with check("TRX-053"):
        assert refunded.get("status") in FAILED


@requirement("TRX-051", "TRX-052")
def test_a_failed_payout_is_refunded_once(platform: Platform, check: Check) -> None:
    """The whole debit comes back; the refund of a later payout does not bring it again."""
    source = platform.internal_accounts.account()
    before = platform.internal_accounts.balances(source)
    first = platform.quotes.payout(source, trigger="payout.screen")
    platform.transactions.refunded(first)
    once = platform.until(
        lambda: platform.internal_accounts.balances(source), lambda seen: seen == before
    )

    second = platform.quotes.payout(source, trigger="payout.screen", amount=5_000)
    platform.transactions.refunded(second)
    twice = platform.until(
        lambda: platform.internal_accounts.balances(source), lambda seen: seen == before
    )

    with check("TRX-051"):
        assert once == before
    with check("TRX-052"):
        assert twice == before


@requirement("TRX-054")
def test_a_refund_that_cannot_be_delivered_raises_no_balance(platform: Platform) -> None:
    """The money is not the customer's to spend before it is back."""
    source = platform.internal_accounts.account()
    before, _ = platform.internal_accounts.balances(source)

    quote = platform.quotes.payout(source, trigger="refund.fail")
    platform.transactions.refunded(quote)

    owed = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(source, owed) == owed


@requirement("TRX-055", "TRX-056")
def test_a_pending_refund_raises_the_balance_once_it_is_released(
    platform: Platform, check: Check
) -> None:
    """A payout that failed later has its money back by then."""
    source = platform.internal_accounts.account()
    before, _ = platform.internal_accounts.balances(source)
    quote = platform.quotes.payout(source, trigger="refund.hold")
    platform.transactions.refunding(quote)
    platform.transactions.refunded(
        platform.quotes.payout(source, trigger="payout.screen", amount=5_000)
    )

    owed = before - quote["totalSendingAmount"]
    with check("TRX-055"):
        assert platform.internal_accounts.wait_for_balance(source, owed) == owed

    platform.triggers.fire("refund.release", transactionId=quote["transactionId"])

    with check("TRX-056"):
        assert platform.internal_accounts.wait_for_balance(source, before) == before
