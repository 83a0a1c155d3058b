"""The deprecated transfers: targets still serve them."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import requirement
from conformance.scenarios.quotes.transfers import expect_served


@requirement("TRX-090")
def test_the_deprecated_transfer_in_is_served(platform: Platform) -> None:
    """A transfer in may be answered in any way, except as an operation that does not exist."""
    account = platform.internal_accounts.account()
    external_account = platform.external_accounts.account(account.owner)

    answer = platform.transfers.send_in(external_account, account, 10_000)

    expect_served(platform, answer)


@requirement("TRX-091")
def test_the_deprecated_transfer_out_is_served(platform: Platform) -> None:
    """A transfer out may be answered in any way, except as an operation that does not exist."""
    account = platform.internal_accounts.account()
    external_account = platform.external_accounts.account(account.owner)

    answer = platform.transfers.send_out(account, external_account, 10_000)

    expect_served(platform, answer)
