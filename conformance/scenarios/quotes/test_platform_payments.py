"""Payments of the platform itself, whose accounts belong to no customer."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_body, arranged_resource
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.quotes.payments import AMOUNT, corridor_from, funded


@requirement("QUO-600", "QUO-601", "TRX-600")
def test_the_platform_moves_money_for_itself(platform: Platform, check: Check) -> None:
    """By a quote from its own account, as for its customers."""
    source = funded(platform)
    corridor = corridor_from(platform, source)
    receiver = platform.external_accounts.account(platform.approved.customer(), corridor.account)

    created = platform.api.create_quote(platform.quotes.body(source, receiver, amount=AMOUNT))

    with check("QUO-600"):
        assert created.accepted, created
    quote = arranged_resource(created)
    executed = platform.api.execute_quote(quote["id"])
    with check("QUO-601"):
        assert executed.accepted, executed
        assert executed.body["status"] in SETTLING, executed
    with check("TRX-600"):
        arranged_body(executed)
        assert platform.transactions.at_status(quote, "COMPLETED")["status"] == "COMPLETED"
