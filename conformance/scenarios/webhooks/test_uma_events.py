"""Webhooks about payments to UMA addresses."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_resource
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.protocol.test_counterparties import uma_quote
from conformance.scenarios.webhooks.reports import COMPLETED, PROCESSING, expect_event
from conformance.verdict.decisions import ResourceMissing


@requirement("EVT-010", "EVT-011")
def test_a_payment_to_a_uma_address_is_reported(platform: Platform, check: Check) -> None:
    """It is reported as PROCESSING once it was executed, and as COMPLETED once it is."""
    creation = platform.api.create_quote(uma_quote(platform))
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
