"""What holds of every transaction, for quotes that no call executes from a funded account."""

from __future__ import annotations

import math
from collections.abc import Mapping

import pytest

from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, require_member
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.kinds import Kind, create_quote, pay
from conformance.scenarios.webhooks.reports import (
    BALANCE,
    COMPLETED,
    FAILURE,
    REFUND_COMPLETED,
    REFUND_PENDING,
)
from conformance.text.paths import value_at
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

AMOUNTS = {
    "sentAmount": ("totalSendingAmount", "sendingCurrency", "TRX-028", "TRX-029"),
    "receivedAmount": ("totalReceivingAmount", "receivingCurrency", "TRX-030", "TRX-031"),
}
"""The amounts of a transaction: amount and currency of its quote, and their requirements."""

FAILURE_REPORTS = {
    "EVT-012": FAILURE,
    "EVT-013": REFUND_PENDING,
    "EVT-014": REFUND_COMPLETED,
}
"""By requirement the webhooks about a payout that fails."""


@requirement(
    "TRX-022",
    "TRX-026",
    "TRX-028",
    "TRX-029",
    "TRX-030",
    "TRX-031",
    "TRX-032",
    "TRX-034",
    "EVT-011",
    "EVT-150",
)
@pytest.mark.parametrize("kind", ["business", "immediate", "pulled", "real-time", "authorized"])
@pytest.mark.parametrize("side", ["SENDING", "RECEIVING"])
def test_a_payment_of_each_kind_has_the_terms_of_its_quote(
    platform: Platform, check: Check, kind: Kind, side: str
) -> None:
    """A completed transaction has its quote's id, description, amounts, currencies and rate.

    It is reported by webhooks, and so is the balance that it leaves.
    """
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
    with check("EVT-011"):
        name = quote["transactionId"]
        assert platform.webhooks.wait_for(COMPLETED, name) is not None, f"no {COMPLETED} for {name}"
    with check("EVT-150"):
        if kind in ("pulled", "real-time"):
            raise ResourceMissing("no internal account pays")
        expect_balance_reported(platform, quote)


@requirement("TRX-016", "TRX-050", "TRX-053", *FAILURE_REPORTS)
@pytest.mark.parametrize("kind", ["business", "immediate", "real-time", "authorized"])
def test_a_payment_of_each_kind_is_refunded_where_it_fails(
    platform: Platform, check: Check, kind: Kind
) -> None:
    """A failed payment shows a failureReason and a refund, and stays failed.

    Webhooks report its failure and its refund.
    """
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
    name = quote["transactionId"]
    for requirement_id, report in FAILURE_REPORTS.items():
        with check(requirement_id):
            assert platform.webhooks.wait_for(report, name) is not None, f"no {report} for {name}"


@requirement("TRX-035")
@pytest.mark.parametrize("kind", ["pulled", "real-time"])
def test_a_quote_of_each_kind_expires(platform: Platform, kind: Kind) -> None:
    """The transaction of a pulled or real-time funded quote that expires comes to EXPIRED."""
    quote = create_quote(platform, kind)

    platform.triggers.fire("quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"])

    assert platform.transactions.at_status(quote, "EXPIRED").get("status") == "EXPIRED"


def expect_balance_reported(platform: Platform, quote: Resource) -> None:
    """Assert that a webhook shows the balance that a completed payment has left.

    The account had more before, so that no earlier webhook can have shown as little.
    """
    __tracebackhide__ = True
    account_id = quote["source"]["accountId"]
    accounts = platform.internal_accounts.of_customer(quote.owner)
    balances = [one["balance"]["amount"] for one in accounts if one["id"] == account_id]
    if not balances:
        raise PreconditionFailed(f"{account_id} is not listed")
    report = platform.webhooks.wait_for(
        BALANCE, account_id, where=lambda event: value_at(event.data, "balance.amount") in balances
    )
    assert report is not None, f"no {BALANCE} for {account_id} shows {balances[0]}"
