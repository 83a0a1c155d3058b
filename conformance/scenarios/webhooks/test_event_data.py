"""Webhooks: what they show of a resource is what a reading shows."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.platform.given.customers import verification_status
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import (
    BALANCE,
    COMPLETED,
    FAILURE,
    FAMILIES,
    PROCESSING,
    REFUND_COMPLETED,
    REFUND_FAILED,
    REFUND_PENDING,
    expect_same,
    needed,
)
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

OF_A_TRANSACTION = {
    "EVT-220": "type",
    "EVT-221": "direction",
    "EVT-222": "sentAmount",
    "EVT-223": "receivedAmount",
    "EVT-224": "exchangeRate",
    "EVT-225": "createdAt",
    "EVT-226": "description",
    "EVT-227": "quoteId",
    "EVT-228": "settledAt",
    "EVT-229": "platformFees",
}
"""The members of a transaction that completed do not change any more."""

OF_A_CUSTOMER = {
    False: {
        "EVT-306": "platformCustomerId",
        "EVT-307": "region",
        "EVT-308": "fullName",
        "EVT-309": "birthDate",
        "EVT-310": "nationality",
        "EVT-311": "currencies",
        "EVT-312": "address",
    },
    True: {
        "EVT-313": "platformCustomerId",
        "EVT-314": "region",
        "EVT-315": "currencies",
        "EVT-316": "businessInfo.legalName",
        "EVT-317": "businessInfo.country",
        "EVT-318": "businessInfo.incorporatedOn",
        "EVT-319": "businessInfo.registrationNumber",
    },
}
"""What is known of a customer stays as it was given."""


# --- Transactions ---------------------------------------------------------------------------


@requirement(*OF_A_TRANSACTION, "EVT-232", "EVT-238")
def test_a_completion_is_reported_with_the_transaction(platform: Platform, check: Check) -> None:
    """As it is read, once the webhook has come."""
    quote = platform.quotes.pending(description="Invoice 1742")
    platform.quotes.execute(quote)
    told = needed(platform, COMPLETED, quote["transactionId"]).data

    read = platform.transactions.at_status(quote, "COMPLETED")

    with check("EVT-232"):
        assert read.get("status") == "COMPLETED", read
    for requirement_id, member in OF_A_TRANSACTION.items():
        with check(requirement_id):
            expect_same(told, read, member)
    with check("EVT-238"):
        processing = platform.webhooks.wait_for(PROCESSING, quote["transactionId"])
        if processing is None:
            raise ResourceMissing("the payout was never reported as being in processing")
        assert processing.data.get("status") not in ("PENDING", "EXPIRED")


@requirement("EVT-233")
def test_what_is_reported_as_processed_is(platform: Platform) -> None:
    """The rail holds it there."""
    quote = platform.quotes.payout(trigger="payout.hold")
    needed(platform, PROCESSING, quote["transactionId"])

    read = platform.until(
        lambda: platform.transactions.of_quote(quote).get("status"),
        lambda status: status not in ("PENDING", "EXPIRED"),
    )

    assert read not in ("PENDING", "EXPIRED")


@requirement("EVT-230", "EVT-231", "EVT-234", "EVT-236", "EVT-239", "EVT-240")
def test_a_failure_is_reported_with_the_transaction(platform: Platform, check: Check) -> None:
    """As it is read, and so is what its refund has come to."""
    quote = platform.quotes.payout(trigger="payout.screen")
    name = quote["transactionId"]
    failure = needed(platform, FAILURE, name).data
    refunded = needed(platform, REFUND_COMPLETED, name).data

    read = platform.transactions.refunded(quote)

    with check("EVT-234"):
        assert read.get("status") in FAILED, read
    with check("EVT-230"):
        expect_same(failure, read, "failureReason")
    with check("EVT-236"):
        assert "PENDING" not in str((read.get("refund") or {}).get("status")).upper(), read
    with check("EVT-231"):
        expect_same(refunded, read, "refund.reference")
    for requirement_id, kind in {"EVT-239": REFUND_PENDING, "EVT-240": REFUND_COMPLETED}.items():
        with check(requirement_id):
            assert needed(platform, kind, name).data.get("status") in FAILED


@requirement("EVT-241")
def test_a_refund_that_failed_is_reported_with_a_failed_transaction(platform: Platform) -> None:
    """The payout did not arrive either."""
    name = platform.quotes.payout(trigger="refund.fail")["transactionId"]

    told = needed(platform, REFUND_FAILED, name).data

    assert told.get("status") in FAILED, told


@requirement("EVT-235")
def test_what_is_reported_as_being_refunded_is(platform: Platform) -> None:
    """The refund is held there."""
    quote = platform.quotes.payout(trigger="refund.hold")
    needed(platform, REFUND_PENDING, quote["transactionId"])

    read = platform.transactions.refunding(quote)

    assert isinstance(read.get("refund"), Mapping), read


# --- Internal accounts ----------------------------------------------------------------------


@requirement("EVT-242", "EVT-243", "EVT-244")
def test_a_balance_is_reported_with_the_account(platform: Platform, check: Check) -> None:
    """As it is read after the last change."""
    account = platform.internal_accounts.account(amount=0)
    before = platform.internal_accounts.balances(account)[0]
    platform.internal_accounts.deposit(account, 40_000)
    shown = platform.webhooks.wait_for(
        BALANCE,
        account["id"],
        where=lambda d: (d.data.get("balance") or {}).get("amount") not in (None, before),
    )
    if shown is None:
        raise PreconditionFailed(f"no {BALANCE} came for {account['id']} that shows a change")
    amount = shown.data["balance"]["amount"]

    read = platform.internal_accounts.wait_for_balance(account, amount)

    with check("EVT-242"):
        assert read == amount, f"reported was {amount}, read is {read}"
    for requirement_id, member in {"EVT-243": "status", "EVT-244": "createdAt"}.items():
        with check(requirement_id):
            expect_same(shown.data, platform.internal_accounts.read(account), member)


# --- Customers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("business", "begun", "approved"),
    [
        pytest.param(
            business,
            begun,
            approved,
            marks=requirement(begun, approved, *OF_A_CUSTOMER[business]),
            id=kind,
        )
        for business, begun, approved, kind in (
            (False, "EVT-304", "EVT-300", "individual"),
            (True, "EVT-305", "EVT-301", "business"),
        )
    ],
)
def test_an_approval_is_reported_with_what_is_known_of_the_customer(
    platform: Platform, check: Check, business: bool, begun: str, approved: str
) -> None:
    """As it is read, once the webhook has come."""
    customer = platform.verification.reviews.submitted(
        business=business, trigger="customer.approve"
    )
    needed(platform, f"{FAMILIES[business]}PENDING", customer["id"])
    with check(begun):
        seen = platform.until(
            lambda: verification_status(platform.customers.read(customer)),
            lambda now: now != "UNVERIFIED",
        )
        assert seen != "UNVERIFIED"
    told = needed(platform, f"{FAMILIES[business]}APPROVED", customer["id"]).data

    read = platform.customers.at_status(customer, "APPROVED")

    with check(approved):
        assert verification_status(read) == "APPROVED", read
    for requirement_id, member in OF_A_CUSTOMER[business].items():
        with check(requirement_id):
            expect_same(told, read, member)


@pytest.mark.parametrize(
    "business",
    [
        pytest.param(False, marks=requirement("EVT-302"), id="individual"),
        pytest.param(True, marks=requirement("EVT-303"), id="business"),
    ],
)
def test_who_is_reported_as_rejected_is(platform: Platform, business: bool) -> None:
    """It is final."""
    customer = platform.verification.reviews.submitted(business=business, trigger="customer.reject")
    needed(platform, f"{FAMILIES[business]}REJECTED", customer["id"])

    read = platform.customers.at_status(customer, "REJECTED")

    assert verification_status(read) == "REJECTED", read
