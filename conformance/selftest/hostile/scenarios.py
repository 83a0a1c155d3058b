"""The few scenarios by which each target of the register is judged."""

from __future__ import annotations

import string

from conformance.platform.platform import Platform
from conformance.platform.resource import (
    arranged_body,
    arranged_resource,
    require_member,
    unknown_id,
)
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import COMPLETED

MAX_ID_CHARS = 80

REQUIREMENTS = (
    "ACC-014",
    "AUT-043",
    "CFG-001",
    "CNV-001",
    "CNV-002",
    "CNV-003",
    "CUS-005",
    "CUS-006",
    "EVT-011",
    "EVT-250",
    "EVT-251",
    "LIM-001",
    "LIM-002",
    "QUO-083",
    "QUO-084",
    "QUO-110",
    "TRX-070",
)
"""The requirements that the scenarios, the judge and the audit decide."""


TRIGGERS = ("customer.approve", "quote.expire", "webhook.register")
"""The triggers that the scenarios need, beside those that the specification offers itself."""


@requirement("CFG-001")
def test_configuration(platform: Platform) -> None:
    """The configuration lists the supported currencies."""
    body = arranged_body(platform.api.client.call("getConfig"))

    assert isinstance(body, dict), body
    assert isinstance(body.get("supportedCurrencies"), list), body


@requirement("CUS-005", "CUS-006")
def test_customer(platform: Platform, check: Check) -> None:
    """A customer is read by its own id, and another id is refused with 404."""
    customer = platform.approved.customer()

    answer = platform.api.client.call("getCustomer", path={"customerId": customer["id"]})
    refusal = platform.api.client.call(
        "getCustomer", path={"customerId": unknown_id(customer["id"])}
    )

    with check("CUS-005"):
        assert arranged_resource(answer)["id"] == customer["id"], answer
    with check("CUS-006"):
        refusal.refused(404, twin=answer)


@requirement("QUO-083", "QUO-084")
def test_execution(platform: Platform, check: Check) -> None:
    """A pending quote is executed, and the answer has its id."""
    quote = platform.quotes.pending()

    answer = platform.api.execute_quote(quote["id"])

    with check("QUO-083"):
        assert answer.accepted, answer
    with check("QUO-084"):
        assert arranged_resource(answer)["id"] == quote["id"], answer


@requirement("LIM-001", "LIM-002")
def test_limit(platform: Platform, check: Check) -> None:
    """A remittanceInformation of 80 characters passes, one of 81 is refused with 400."""
    text = ((string.ascii_letters + string.digits) * 2)[: MAX_ID_CHARS + 1]
    body = platform.quotes.body(*platform.quotes.ends(platform.quotes.corridor_to("usd_account")))

    at_limit = platform.api.create_quote({**body, "remittanceInformation": text[:MAX_ID_CHARS]})
    past_limit = platform.api.create_quote({**body, "remittanceInformation": text}, valid=False)

    with check("LIM-001"):
        assert at_limit.accepted, at_limit
    with check("LIM-002"):
        past_limit.refused(400, twin=at_limit)


@requirement("QUO-110")
def test_expiry(platform: Platform) -> None:
    """A quote that a trigger lets expire is refused with QUOTE_EXPIRED."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    platform.triggers.fire(
        "quote.expire", quoteId=quote["id"], expiresAt=require_member(quote, "expiresAt")
    )

    refusal = platform.api.execute_quote(quote["id"])

    refusal.refused(
        400,
        409,
        "QUOTE_EXPIRED",
        twin=platform.api.execute_quote(platform.quotes.pending(source)["id"]),
    )


@requirement("TRX-070")
def test_transactions(platform: Platform) -> None:
    """The transaction of a quote is in the list of transactions."""
    quote = platform.quotes.pending()

    assert platform.transactions.of_quote(quote).get("id") == require_member(quote, "transactionId")


@requirement("EVT-011")
def test_webhook(platform: Platform) -> None:
    """A completed payout is reported by a webhook, whose signature the judge checks."""
    quote = platform.quotes.complete()

    event = platform.webhooks.wait_for(COMPLETED, require_member(quote, "transactionId"))

    assert event is not None, f"no {COMPLETED} came for {quote['transactionId']}"
