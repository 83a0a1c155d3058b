"""External accounts of the platform itself."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import requirement
from conformance.scenarios.quotes.payments import (
    AMOUNT,
    corridor_from,
    create_platform_external_account,
    fund_platform_account,
)


@requirement("EXT-600")
def test_an_account_of_the_platform_receives_funds(platform: Platform) -> None:
    """A payment from the platform's internal account to its external account completes."""
    source = fund_platform_account(platform)
    corridor = corridor_from(platform, source)
    receiver = create_platform_external_account(platform, corridor)

    quote = platform.quotes.pending(source, receiver, amount=AMOUNT)
    platform.quotes.execute(quote)

    assert platform.transactions.at_status(quote, "COMPLETED")["status"] == "COMPLETED"
