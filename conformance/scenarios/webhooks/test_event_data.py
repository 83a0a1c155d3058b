"""Data of webhooks: they agree with the resource as it is read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

import pytest

from conformance.platform.given.customers import verification_status
from conformance.platform.given.transactions import FAILED
from conformance.platform.given.verification import DECISIONS, contact_channels
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, require_member
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.kinds import Kind, create_quote, pay
from conformance.scenarios.transactions.records import ON_CHAIN, on_chain_transactions
from conformance.scenarios.webhooks.reports import (
    BALANCE,
    COMPLETED,
    FAILURE,
    FAMILIES,
    PROCESSING,
    REFUND_COMPLETED,
    REFUND_FAILED,
    REFUND_PENDING,
    arrange_event,
    expect_same,
    expect_same_where_shown,
)
from conformance.text.paths import value_at
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

FIXED_MEMBERS = {
    "EVT-220": "type",
    "EVT-221": "direction",
    "EVT-225": "createdAt",
    "EVT-226": "description",
    "EVT-227": "quoteId",
}
"""By requirement the members of a transaction that never change."""

TRANSACTION_MEMBERS = {
    **FIXED_MEMBERS,
    "EVT-222": "sentAmount",
    "EVT-223": "receivedAmount",
    "EVT-224": "exchangeRate",
    "EVT-228": "settledAt",
    "EVT-229": "platformFees",
}
"""By requirement the members of a completed transaction, which do not change any more."""

AMOUNTS = ("sentAmount", "receivedAmount", "exchangeRate")
"""Members of a transaction that are final once it is in processing."""

ACCOUNT_MEMBERS = ("customerId", "totalBalance", "createdAt", "updatedAt")
"""Members of an internal account that no other requirement about its webhooks asks for."""

CUSTOMER_MEMBERS = {
    False: {
        "EVT-306": "platformCustomerId",
        "EVT-307": "region",
        "EVT-308": "fullName",
        "EVT-309": "birthDate",
        "EVT-310": "nationality",
        "EVT-311": "currencies",
        "EVT-312": "address",
        "EVT-840": "email",
        "EVT-841": "phoneNumber",
    },
    True: {
        "EVT-313": "platformCustomerId",
        "EVT-314": "region",
        "EVT-315": "currencies",
        "EVT-316": "businessInfo.legalName",
        "EVT-317": "businessInfo.country",
        "EVT-318": "businessInfo.incorporatedOn",
        "EVT-319": "businessInfo.registrationNumber",
        "EVT-842": "email",
        "EVT-843": "phoneNumber",
    },
}
"""By requirement the members of an individual and of a business, which stay as they were sent."""


# --- Transactions ---------------------------------------------------------------------------


@requirement(*TRANSACTION_MEMBERS, "EVT-022", "EVT-232", "EVT-238", "EVT-988")
@pytest.mark.parametrize(
    "kind",
    [
        *("executed", "converted", "immediate", "authorized"),
        *("business", "pulled", "real-time", "platform"),
    ],
)
def test_a_completion_is_reported_with_the_transaction(
    platform: Platform, check: Check, kind: Kind | Literal["executed", "converted"]
) -> None:
    """The COMPLETED webhook agrees with the transaction that is read once it has come.

    So it does for payments of every kind, and where the currencies are two.
    """
    quote = _make_payment(platform, kind)
    data = arrange_event(platform, COMPLETED, quote["transactionId"]).data

    transaction = platform.transactions.at_status(quote, "COMPLETED")

    with check("EVT-022"):
        assert data.get("status") == "COMPLETED", data
    with check("EVT-232"):
        assert transaction.get("status") == "COMPLETED", transaction
    for requirement_id, member in TRANSACTION_MEMBERS.items():
        with check(requirement_id):
            expect_same(data, transaction, member)
    with check("EVT-988"):
        read = {name for name in TRANSACTION_MEMBERS.values() if transaction.get(name) is not None}
        missing = sorted(name for name in read if data.get(name) is None)
        assert not missing, f"the webhook is without {missing}, which a reading shows"
    with check("EVT-238"):
        processing = platform.webhooks.wait_for(PROCESSING, quote["transactionId"])
        if processing is None:
            raise ResourceMissing("the payout was never reported as being in processing")
        assert processing.data.get("status") not in ("PENDING", "EXPIRED")


def _make_payment(platform: Platform, kind: Kind | Literal["executed", "converted"]) -> Resource:
    """Return the quote of a payment of a kind, which is described and paid for."""
    if kind == "executed":
        return platform.quotes.execute(platform.quotes.pending(description="Invoice 1742"))
    if kind == "converted":
        ends = platform.quotes.ends(platform.quotes.corridor(same_currency=False))
        return platform.quotes.execute(platform.quotes.pending(*ends, description="Invoice 1742"))
    quote = create_quote(platform, kind, description="Invoice 1742")
    pay(platform, kind, quote)
    return quote


@requirement("EVT-246", "EVT-247", "EVT-845")
def test_a_completion_tells_where_it_settled(platform: Platform, check: Check) -> None:
    """The COMPLETED webhook of a payout to a crypto wallet has the list's onChainTransaction."""
    corridor = next(
        (one for one in platform.profile.resources.corridors if one.account in ON_CHAIN), None
    )
    if corridor is None:
        raise ResourceMissing("resources.corridors of the profile has none to a wallet on a chain")
    source = platform.internal_accounts.account(corridor.sending)
    quote = platform.quotes.payout(source, account=corridor.account)
    data = arrange_event(platform, COMPLETED, quote["transactionId"]).data

    transaction = platform.transactions.at_status(quote, "COMPLETED")

    told, listed = on_chain_transactions(data), on_chain_transactions(transaction)
    with check("EVT-246"):
        assert told, data
    for requirement_id, member in {"EVT-247": "transactionHash", "EVT-845": "network"}.items():
        with check(requirement_id):
            if not (told and listed):
                raise ResourceMissing("what has settled is not both in the webhook and in the list")
            assert [one.get(member) for one in told] == [one.get(member) for one in listed], (
                f"the webhook shows {told}, a reading {listed}"
            )


@requirement("EVT-233", "EVT-986", *FIXED_MEMBERS)
def test_what_is_reported_as_processed_is(platform: Platform, check: Check) -> None:
    """A payout that is reported as PROCESSING is read with neither PENDING nor EXPIRED.

    The members that never change agree too, and so do its amounts.
    """
    quote = platform.quotes.payout(trigger="payout.hold", description="Invoice 1743")
    data = arrange_event(platform, PROCESSING, quote["transactionId"]).data

    transaction = platform.until(
        lambda: platform.transactions.of_quote(quote),
        lambda seen: seen.get("status") not in ("PENDING", "EXPIRED"),
    )

    with check("EVT-233"):
        assert transaction.get("status") not in ("PENDING", "EXPIRED")
    with check("EVT-986"):
        if transaction.get("status") != "PROCESSING":
            raise ResourceMissing(f"the payout is {transaction.get('status')} by then")
        expect_same_where_shown(data, transaction, *AMOUNTS)
    for requirement_id, member in FIXED_MEMBERS.items():
        with check(requirement_id):
            expect_same(data, transaction, member)


@requirement("EVT-230", "EVT-231", "EVT-234", "EVT-236", "EVT-239", "EVT-240", "EVT-844")
@requirement("EVT-847", "EVT-987")
@requirement(*FIXED_MEMBERS)
def test_a_failure_is_reported_with_the_transaction(platform: Platform, check: Check) -> None:
    """The FAILED and REFUND_COMPLETED webhooks agree with the transaction that is read."""
    quote = platform.quotes.payout(trigger="payout.screen", description="Invoice 1744")
    name = quote["transactionId"]
    failure_data = arrange_event(platform, FAILURE, name).data
    refund_data = arrange_event(platform, REFUND_COMPLETED, name).data

    transaction = platform.transactions.refunded(quote)

    with check("EVT-234"):
        assert transaction.get("status") in FAILED, transaction
    with check("EVT-230"):
        expect_same(failure_data, transaction, "failureReason")
    with check("EVT-844"):
        expect_same(refund_data, transaction, "failureReason")
    for requirement_id, member in FIXED_MEMBERS.items():
        with check(requirement_id):
            for data in (failure_data, refund_data):
                expect_same(data, transaction, member)
    with check("EVT-236"):
        assert "PENDING" not in str((transaction.get("refund") or {}).get("status")).upper(), (
            transaction
        )
    with check("EVT-231"):
        expect_same(refund_data, transaction, "refund.reference")
    with check("EVT-987"):
        expect_same_where_shown(refund_data, transaction, *AMOUNTS)
    with check("EVT-847"):
        if not value_at(transaction, "refund.reference"):
            raise ResourceMissing("the refund of the transaction shows no reference")
        assert value_at(refund_data, "refund.reference"), refund_data
    for requirement_id, kind in {"EVT-239": REFUND_PENDING, "EVT-240": REFUND_COMPLETED}.items():
        with check(requirement_id):
            assert arrange_event(platform, kind, name).data.get("status") in FAILED
    with check("EVT-236"):
        reported = (refund_data.get("refund") or {}).get("status")
        assert "PENDING" not in str(reported).upper(), refund_data


@requirement("EVT-241", "EVT-975", *FIXED_MEMBERS)
def test_a_refund_that_failed_is_reported_with_a_failed_transaction(
    platform: Platform, check: Check
) -> None:
    """The REFUND_FAILED webhook shows the transaction with a failed status.

    Its refund is not pending any more. The members that never change agree with what is read.
    """
    quote = platform.quotes.payout(trigger="refund.fail", description="Invoice 1745")

    data = arrange_event(platform, REFUND_FAILED, quote["transactionId"]).data

    transaction = platform.transactions.of_quote(quote)
    with check("EVT-241"):
        assert data.get("status") in FAILED, data
    with check("EVT-975"):
        status = value_at(data, "refund.status")
        if status is None:
            raise ResourceMissing("the refund in the webhook shows no status")
        assert "PENDING" not in str(status).upper(), data
    for requirement_id, member in FIXED_MEMBERS.items():
        with check(requirement_id):
            expect_same(data, transaction, member)


@requirement("EVT-235", *FIXED_MEMBERS)
def test_what_is_reported_as_being_refunded_is(platform: Platform, check: Check) -> None:
    """A payout that is reported as REFUND_PENDING is read with a refund.

    The members that never change agree with what is read.
    """
    quote = platform.quotes.payout(trigger="refund.hold", description="Invoice 1746")
    data = arrange_event(platform, REFUND_PENDING, quote["transactionId"]).data

    transaction = platform.transactions.refunding(quote)

    with check("EVT-235"):
        assert isinstance(transaction.get("refund"), Mapping), transaction
    for requirement_id, member in FIXED_MEMBERS.items():
        with check(requirement_id):
            expect_same(data, transaction, member)


# --- Internal accounts ----------------------------------------------------------------------


@requirement("EVT-242", "EVT-243", "EVT-244", "EVT-846")
def test_a_balance_is_reported_with_the_account(platform: Platform, check: Check) -> None:
    """The BALANCE_UPDATED webhook agrees with the account in balance, status and createdAt.

    It leaves out nothing of the account that a reading shows.
    """
    account = platform.internal_accounts.account(amount=0)
    before = platform.internal_accounts.balances(account)[0]
    platform.internal_accounts.deposit(account, 40_000)
    report = platform.webhooks.wait_for(
        BALANCE,
        account["id"],
        where=lambda event: (event.data.get("balance") or {}).get("amount") not in (None, before),
    )
    if report is None:
        raise PreconditionFailed(f"no {BALANCE} came for {account['id']} that shows a change")
    amount = report.data["balance"]["amount"]

    balance = platform.internal_accounts.wait_for_balance(account, amount)

    with check("EVT-242"):
        assert balance == amount, f"reported was {amount}, read is {balance}"
    account_read = platform.internal_accounts.read(account)
    for requirement_id, member in {"EVT-243": "status", "EVT-244": "createdAt"}.items():
        with check(requirement_id):
            expect_same(report.data, account_read, member)
    with check("EVT-846"):
        read_members = {name for name in ACCOUNT_MEMBERS if account_read.get(name) is not None}
        missing = sorted(read_members - report.data.keys())
        assert not missing, f"the webhook leaves out {', '.join(missing)}: {report.data}"


# --- Customers ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("business", "pending_id", "approved_id"),
    [
        case(
            (pending_id, approved_id, *CUSTOMER_MEMBERS[business]),
            kind,
            business,
            pending_id,
            approved_id,
        )
        for business, pending_id, approved_id, kind in (
            (False, "EVT-304", "EVT-300", "individual"),
            (True, "EVT-305", "EVT-301", "business"),
        )
    ],
)
def test_an_approval_is_reported_with_what_is_known_of_the_customer(
    platform: Platform, check: Check, business: bool, pending_id: str, approved_id: str
) -> None:
    """The webhooks of a review agree with the customer who is read once they have come."""
    customer = platform.verification.reviews.submitted(
        business=business, trigger="customer.approve"
    )
    pending = arrange_event(platform, f"{FAMILIES[business]}PENDING", customer["id"]).data
    with check(pending_id):
        status = platform.until(
            lambda: verification_status(platform.customers.read(customer)),
            lambda current: current != "UNVERIFIED",
        )
        assert status != "UNVERIFIED"
    data = arrange_event(platform, f"{FAMILIES[business]}APPROVED", customer["id"]).data

    approved_customer = platform.customers.at_status(customer, "APPROVED")

    with check(approved_id):
        assert verification_status(approved_customer) == "APPROVED", approved_customer
    for requirement_id, member in CUSTOMER_MEMBERS[business].items():
        with check(requirement_id):
            expect_same(unmasked(data, member), approved_customer, member)
            if value_at(pending, member) is not None:
                expect_same(unmasked(pending, member), approved_customer, member)


@requirement("EVT-308", "EVT-309")
def test_a_review_is_reported_with_what_was_changed_before_it(
    platform: Platform, check: Check
) -> None:
    """The PENDING webhook agrees with an individual whose name and birth date were corrected."""
    customer = platform.verification.reviews.prepared(business=False)
    platform.customers.change(customer, fullName="Ines Marchetti", birthDate="1985-03-15")
    platform.verification.reviews.submission(customer)
    data = arrange_event(platform, f"{FAMILIES[False]}PENDING", customer["id"]).data

    corrected = platform.customers.read(customer)

    for requirement_id, member in {"EVT-308": "fullName", "EVT-309": "birthDate"}.items():
        with check(requirement_id):
            expect_same(data, corrected, member)


@requirement("EVT-316")
def test_a_review_of_a_business_is_reported_with_what_was_changed_before_it(
    platform: Platform,
) -> None:
    """The PENDING webhook agrees with a business whose legal name was corrected."""
    info = platform.customers.business_members({})["businessInfo"]
    business = platform.verification.reviews.prepared(business=True, businessInfo=info)
    changed = {**info, "legalName": "Marchetti Instruments LLC"}
    platform.customers.change(business, businessInfo=changed)
    platform.verification.reviews.submission(business)

    data = arrange_event(platform, f"{FAMILIES[True]}PENDING", business["id"]).data

    expect_same(data, platform.customers.read(business), "businessInfo.legalName")


@pytest.mark.parametrize(
    "business", [case("EVT-370", "individual", False), case("EVT-900", "business", True)]
)
def test_a_review_is_reported_with_the_channels_of_the_customer(
    platform: Platform, *, business: bool
) -> None:
    """The PENDING and the APPROVED webhook show the channels that a reading shows.

    A webhook without them would say that the customer has none to verify.
    """
    customer = _reviewed_where_channels_are_verified(platform, business=business)
    reported = [
        arrange_event(platform, f"{FAMILIES[business]}{status}", customer["id"]).data
        for status in ("PENDING", "APPROVED")
    ]

    channels = contact_channels(platform.customers.read(customer))

    if not channels:
        raise ResourceMissing("no contact channel has to be verified any more")
    for data in reported:
        # A webhook that says little of a customer says nothing by leaving the channels out.
        require_member(data, "region")
        assert contact_channels(data) == channels, data


def _reviewed_where_channels_are_verified(platform: Platform, *, business: bool) -> Resource:
    """Submit a customer of a region that verifies contact channels, who is to be approved.

    Raises:
        ResourceMissing: no business is taken there, or more has to be known of it.
    """
    place = platform.verification.contact.place()
    if not business:
        return platform.verification.reviews.submitted(trigger="customer.approve", **place)
    members = {name: place[name] for name in ("region", "phoneNumber")}
    try:
        return platform.verification.reviews.submitted(
            business=True, trigger="customer.approve", **members
        )
    except PreconditionFailed as error:
        raise ResourceMissing(f"no business of {place['region']} is reviewed: {error}") from error


@requirement("EVT-371")
@pytest.mark.parametrize("status", ["APPROVED", "REJECTED"])
def test_a_decision_is_reported_with_what_the_business_is(platform: Platform, status: str) -> None:
    """The webhooks of a review show the businessInfo of a business, as a reading does."""
    trigger = next(name for name, decision in DECISIONS.items() if decision == status)
    business = platform.verification.reviews.submitted(business=True, trigger=trigger)
    reported = [
        arrange_event(platform, f"{FAMILIES[True]}{one}", business["id"]).data
        for one in ("PENDING", status)
    ]

    info = require_member(platform.customers.read(business), "businessInfo")

    for data in reported:
        # A webhook that says little of a customer says nothing by leaving the business out.
        require_member(data, "region")
        assert set(data.get("businessInfo") or ()) >= {"legalName"} & set(info), data


@pytest.mark.parametrize(
    ("business", "rejected_id"),
    [
        case((rejected_id, *CUSTOMER_MEMBERS[business]), kind, business, rejected_id)
        for business, rejected_id, kind in (
            (False, "EVT-302", "individual"),
            (True, "EVT-303", "business"),
        )
    ],
)
def test_a_rejection_is_reported_with_what_is_known_of_the_customer(
    platform: Platform, check: Check, business: bool, rejected_id: str
) -> None:
    """The REJECTED webhook agrees with the customer who is read once it has come."""
    customer = platform.verification.reviews.submitted(business=business, trigger="customer.reject")
    data = arrange_event(platform, f"{FAMILIES[business]}REJECTED", customer["id"]).data

    rejected_customer = platform.customers.at_status(customer, "REJECTED")

    with check(rejected_id):
        assert verification_status(rejected_customer) == "REJECTED", rejected_customer
    for requirement_id, member in CUSTOMER_MEMBERS[business].items():
        with check(requirement_id):
            expect_same(unmasked(data, member), rejected_customer, member)


def unmasked(data: Json, member: str) -> Json:
    """Return the data of a webhook, which has to show a member in the clear.

    Raises:
        ResourceMissing: it is masked, as webhooks may go by way of more machines than answers.
    """
    if "*" in str(value_at(data, member)):
        raise ResourceMissing(f"{member} is masked in the webhook: {data}")
    return data
