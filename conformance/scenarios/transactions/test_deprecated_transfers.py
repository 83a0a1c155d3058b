"""The transactions of the deprecated transfers."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import requirement
from conformance.scenarios.quotes.transfers import expect_served


@requirement("TRX-090")
def test_the_deprecated_transfer_in_is_served(platform: Platform) -> None:
    """What its body looks like is not shown, so that any other answer may come."""
    account = platform.internal_accounts.account()
    pulled = platform.external_accounts.account(account.owner)

    answer = platform.transfers.send_in(pulled, account, 10_000)

    expect_served(platform, answer)


@requirement("TRX-091")
def test_the_deprecated_transfer_out_is_served(platform: Platform) -> None:
    """What its body looks like is not shown, so that any other answer may come."""
    account = platform.internal_accounts.account()
    paid = platform.external_accounts.account(account.owner)

    answer = platform.transfers.send_out(account, paid, 10_000)

    expect_served(platform, answer)
