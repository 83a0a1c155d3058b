"""Signatures of webhooks, in the form that the profile gives."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import requirement
from conformance.scenarios.webhooks.reports import COMPLETED, arrange_event, let_reports_arrive


@requirement("EVT-250", "EVT-251")
def test_webhooks_are_signed(platform: Platform) -> None:
    """Webhooks of a deposit and a payout arrive; each signature is verified over the raw body."""
    source = platform.internal_accounts.account()
    let_reports_arrive(platform, source)

    quote = platform.quotes.complete(platform.quotes.pending(source))

    arrange_event(platform, COMPLETED, quote["transactionId"])
