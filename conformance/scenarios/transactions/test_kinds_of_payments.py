"""What holds of every transaction, for quotes that no call executes from a funded account."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import require_member
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.kinds import Kind, create_quote, pay
from conformance.verdict.decisions import PreconditionFailed

AMOUNTS = {
    "sentAmount": ("totalSendingAmount", "sendingCurrency", "TRX-028", "TRX-029"),
    "receivedAmount": ("totalReceivingAmount", "receivingCurrency", "TRX-030", "TRX-031"),
}
"""The amounts of a transaction: amount and currency of its quote, and their requirements."""


@requirement("TRX-022", "TRX-026", "TRX-028", "TRX-029", "TRX-030", "TRX-031", "TRX-032", "TRX-034")
@pytest.mark.parametrize("kind", ["business", "immediate", "pulled", "real-time", "authorized"])
@pytest.mark.parametrize("side", ["SENDING", "RECEIVING"])
def test_a_payment_of_each_kind_has_the_terms_of_its_quote(
    platform: Platform, check: Check, kind: Kind, side: str
) -> None:
    """A completed transaction has its quote's id, description, amounts, currencies and rate."""
    quote = create_quote(platform, kind, lockedCurrencySide=side, description="Invoice 2212")
    pay(platform, kind, quote)

    transaction = platform.transactions.at_status(quote, "COMPLETED")

    if transaction.get("status") != "COMPLETED":
        raise PreconditionFailed(f"the payment is {transaction.get('status')}")
    with check("TRX-022"):
        assert transaction.get("quoteId") == quote["id"], transaction
    with check("TRX-026"):
        assert transaction.get("settledAt"), transaction
    for member, (amount, currency, amount_id, currency_id) in AMOUNTS.items():
        with check(amount_id):
            assert require_member(transaction, member)["amount"] == quote[amount], transaction
        with check(currency_id):
            code = require_member(transaction, member)["currency"]["code"]
            assert code == quote[currency]["code"], transaction
    with check("TRX-032"):
        rate = require_member(transaction, "exchangeRate")
        assert math.isclose(rate, quote["exchangeRate"], rel_tol=1e-6), transaction
    with check("TRX-034"):
        assert require_member(transaction, "description") == "Invoice 2212"


@requirement("TRX-016", "TRX-050", "TRX-053")
@pytest.mark.parametrize("kind", ["business", "immediate", "real-time", "authorized"])
def test_a_payment_of_each_kind_is_refunded_where_it_fails(
    platform: Platform, check: Check, kind: Kind
) -> None:
    """A failed payment shows a failureReason and a refund, and stays failed."""
    quote = create_quote(platform, kind, trigger="payout.screen")
    pay(platform, kind, quote)

    failed = platform.transactions.failed(quote)
    refunded = platform.transactions.refunded(quote)

    with check("TRX-016"):
        assert failed.get("status") in FAILED, failed
        assert failed.get("failureReason"), failed
    with check("TRX-050"):
        assert isinstance(refunded.get("refund"), Mapping), refunded
    with check("TRX-053"):
        assert refunded.get("status") in FAILED, refunded


@requirement("TRX-035")
@pytest.mark.parametrize("kind", ["pulled", "real-time"])
def test_a_quote_of_each_kind_expires(platform: Platform, kind: Kind) -> None:
    """The transaction of a pulled or real-time funded quote that expires comes to EXPIRED."""
    quote = create_quote(platform, kind)

    platform.triggers.fire("quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"])

    assert platform.transactions.at_status(quote, "EXPIRED").get("status") == "EXPIRED"
