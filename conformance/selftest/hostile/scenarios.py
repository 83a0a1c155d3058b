"""The few scenarios that each entry of the register is judged by."""

from __future__ import annotations

import string

from conformance.client.actor import given, resource, unknown
from conformance.client.platform import Platform
from conformance.scenarios.marks import Check, requirement
from conformance.scenarios.reports import COMPLETED

LONGEST = 80

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
"""All that they decide, by their own checks, by the judge and by the audit."""


@requirement("CFG-001")
def test_configuration(platform: Platform) -> None:
    """The configuration lists the currencies."""
    body = platform.arranged(platform.client.call("getConfig"))

    assert isinstance(body, dict), body
    assert isinstance(body.get("supportedCurrencies"), list), body


@requirement("CUS-005", "CUS-006")
def test_customer(platform: Platform, check: Check) -> None:
    """A customer is read by its id, and by no other."""
    customer = platform.customer()

    answer = platform.client.call("getCustomer", path={"customerId": customer["id"]})
    refusal = platform.client.call("getCustomer", path={"customerId": unknown(customer["id"])})

    with check("CUS-005"):
        assert resource(answer)["id"] == customer["id"], answer
    with check("CUS-006"):
        refusal.refused(404, twin=answer)


@requirement("QUO-083", "QUO-084")
def test_execution(platform: Platform, check: Check) -> None:
    """A quote is executed."""
    quote = platform.quote()

    answer = platform.execute(quote)

    with check("QUO-083"):
        assert answer.accepted, answer
    with check("QUO-084"):
        assert resource(answer)["id"] == quote["id"], answer


@requirement("LIM-001", "LIM-002")
def test_limit(platform: Platform, check: Check) -> None:
    """A text of 80 characters passes, one of 81 does not."""
    text = ((string.ascii_letters + string.digits) * 2)[: LONGEST + 1]
    body = platform.quote_body(*platform.ends(platform.corridor_to("usd_account")))

    at_limit = platform.create_quote({**body, "remittanceInformation": text[:LONGEST]})
    past_limit = platform.create_quote({**body, "remittanceInformation": text}, valid=False)

    with check("LIM-001"):
        assert at_limit.accepted, at_limit
    with check("LIM-002"):
        past_limit.refused(400, twin=at_limit)


@requirement("QUO-110")
def test_expiry(platform: Platform) -> None:
    """A quote that a trigger lets expire is not executed."""
    source = platform.account()
    quote = platform.quote(source)
    platform.cause("quote.expire", quoteId=quote["id"], expiresAt=given(quote, "expiresAt"))

    refusal = platform.execute(quote)

    refusal.refused(400, 409, "QUOTE_EXPIRED", twin=platform.execute(platform.quote(source)))


@requirement("TRX-070")
def test_transactions(platform: Platform) -> None:
    """The transaction of a quote is among those listed."""
    quote = platform.quote()

    assert platform.transaction(quote).get("id") == given(quote, "transactionId")


@requirement("EVT-011")
def test_webhook(platform: Platform) -> None:
    """A payout that completes is told by a webhook, whose signature the judge looks at."""
    quote = platform.completed()

    event = platform.event(COMPLETED, given(quote, "transactionId"))

    assert event is not None, f"no {COMPLETED} came for {quote['transactionId']}"
