"""Webhooks about payments to UMA addresses."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_resource
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.quotes.uma import uma_quote
from conformance.scenarios.webhooks.reports import (
    BALANCE,
    COMPLETED,
    PROCESSING,
    balance_in,
    expect_event,
)
from conformance.verdict.decisions import ResourceMissing


@requirement("EVT-010", "EVT-011", "EVT-150")
def test_a_payment_to_a_uma_address_is_reported(platform: Platform, check: Check) -> None:
    """It is reported as PROCESSING once it was executed, and as COMPLETED once it is.

    A webhook shows the balance that it leaves.
    """
    source = platform.internal_accounts.account()
    before, _ = platform.internal_accounts.balances(source)
    creation = platform.api.create_quote(uma_quote(platform, source))
    if not creation.accepted:
        raise ResourceMissing(f"no quote to a UMA address is created: {creation}")
    quote = arranged_resource(creation)
    executed = platform.quotes.execute(quote)
    if executed["status"] not in SETTLING:
        raise ResourceMissing(f"the payment is not executed: {executed}")
    status = platform.transactions.at_status(quote, "COMPLETED").get("status")

    name = quote["transactionId"]
    with check("EVT-010"):
        if executed["status"] != "PROCESSING":
            raise ResourceMissing("the payment is not seen at PROCESSING")
        expect_event(platform, PROCESSING, name)
    with check("EVT-011"):
        if status != "COMPLETED":
            raise ResourceMissing(f"the payment is {status}")
        expect_event(platform, COMPLETED, name)
    with check("EVT-150"):
        balance_left = before - quote["totalSendingAmount"]
        report = platform.webhooks.wait_for(
            BALANCE, source["id"], where=lambda event: balance_in(event) == balance_left
        )
        assert report is not None, f"no {BALANCE} for {source['id']} shows {balance_left}"
