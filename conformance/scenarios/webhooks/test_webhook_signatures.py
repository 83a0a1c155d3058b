"""Signatures of webhooks, in the form that the profile gives."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import requirement
from conformance.scenarios.webhooks.reports import COMPLETED, let_reports_arrive, needed


@requirement("EVT-250", "EVT-251")
def test_webhooks_are_signed(platform: Platform) -> None:
    """Each delivery is verified over its raw body when it arrives."""
    source = platform.internal_accounts.account()
    let_reports_arrive(platform, source)

    quote = platform.quotes.complete(platform.quotes.pending(source))

    needed(platform, COMPLETED, quote["transactionId"])
