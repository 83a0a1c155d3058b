"""Executing a quote: the transitions out of PENDING, and the money that they move."""

from __future__ import annotations


from conformance.client.platform import Platform
from conformance.scenarios.marks import Check, requirement

SETTLING = ("PROCESSING", "COMPLETED")


@requirement("QUO-080", "QUO-083", "QUO-084", "QUO-085", "QUO-086")
def test_executing_a_pending_quote_debits_its_source(platform: Platform, check: Check) -> None:
    """Settlement begins, and the funds are no longer there to spend."""
    source = platform.account()
    quote = platform.quote(source)
    before, _ = platform.balances(source)

    answer = platform.execute(quote)

    with check("QUO-083"):
        assert answer.accepted, answer
    with check("QUO-080"):
        assert answer.body["status"] in SETTLING
    with check("QUO-084"):
        assert answer.body["id"] == quote["id"]
    with check("QUO-085"):
        assert answer.body["transactionId"] == quote["transactionId"]
    with check("QUO-086"):
        assert platform.balances(source)[0] == before - quote["totalSendingAmount"]


@requirement("QUO-110")
def test_an_expired_quote_cannot_be_executed(platform: Platform) -> None:
    """The caller has to request a new quote."""
    source = platform.account()
    expired = platform.quote(source)
    platform.cause("quote.expire", quoteId=expired["id"], expiresAt=expired["expiresAt"])

    refusal = platform.execute(expired)

    refusal.refused(
        400, 409, "QUOTE_EXPIRED", "QUOTE_RATE_UNAVAILABLE", twin=platform.execute(platform.quote(source))
    )
