"""Internal accounts: their members, their lists, and deposits."""

from __future__ import annotations

import pytest

from conformance.platform.given.approved import APPROVE
from conformance.platform.given.customers import verification_status
from conformance.platform.given.verification import Road
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, listed_members, require_member
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.customers import for_both_types
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.shapes import expect_members
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

MAX_LABEL_CHARACTERS = 255
LISTED = {
    "ACC-802": "totalBalance",
    "ACC-803": "fundingPaymentInstructions",
    "ACC-804": "createdAt",
    "ACC-805": "updatedAt",
}
"""What an active account should show, by its requirement."""


@requirement("ACC-001", "ACC-002", "ACC-003", "ACC-004", "ACC-005", "ACC-006", "ACC-007", "ACC-008")
def test_an_internal_account_has_its_members(platform: Platform, check: Check) -> None:
    """An account shows its total balance, its funding instructions and its times."""
    account = platform.internal_accounts.account(amount=0)

    with check("ACC-005"):
        require_member(account, "totalBalance")
    with check("ACC-006"):
        require_member(account, "fundingPaymentInstructions")
    with check("ACC-007"):
        require_member(account, "createdAt")
    with check("ACC-008"):
        require_member(account, "updatedAt")


@requirement("ACC-009")
def test_a_label_is_short_or_null(platform: Platform) -> None:
    """The label of an account is null, or a text of at most 255 characters."""
    label = platform.internal_accounts.account(amount=0).get("label")

    assert label is None or (isinstance(label, str) and len(label) <= MAX_LABEL_CHARACTERS)


@requirement("ACC-010")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_a_customer_is_shown_its_own_accounts_alone(platform: Platform, *, business: bool) -> None:
    """Each account in the list of a customer has the id of this customer."""
    others = [platform.internal_accounts.account(amount=0)["customerId"] for _ in range(2)]
    customer = platform.approved.of_type(business)
    owner = platform.internal_accounts.account(amount=0, customer=customer)["customerId"]

    accounts = platform.internal_accounts.of_customer({"id": owner})

    if not accounts:
        raise PreconditionFailed(f"{owner} has no internal account")
    owners = {account.get("customerId") for account in accounts}
    assert owners == {owner}, f"others exist for {others}"


@requirement("ACC-010")
def test_customers_of_one_name_are_shown_their_own_accounts_alone(platform: Platform) -> None:
    """Of two customers with one ``platformCustomerId`` each has a list without the other's."""
    customers = platform.customers.namesakes(platform.approved.customer, platform.approved.customer)
    for customer in customers:
        platform.internal_accounts.account(amount=0, customer=customer)

    lists = [platform.internal_accounts.of_customer(customer) for customer in customers]

    owners = [{account.get("customerId") for account in listed} for listed in lists]
    assert owners == [{customer["id"]} for customer in customers]


@requirement("ACC-011")
def test_the_platform_has_accounts_of_its_own(platform: Platform) -> None:
    """The list of the platform's accounts is answered, in the envelope of the document."""
    answer = platform.api.client.call("listPlatformInternalAccounts")

    answer.expect_accepted()


@requirement("ACC-012")
def test_the_total_balance_contains_what_can_be_spent(platform: Platform) -> None:
    """The total balance of each account is not less than its balance."""
    account = platform.internal_accounts.account()

    for item in platform.internal_accounts.of_customer(account.owner):
        assert require_member(item, "totalBalance")["amount"] >= item["balance"]["amount"]


@requirement(*LISTED)
def test_an_account_shows_the_members_of_its_shape(platform: Platform, check: Check) -> None:
    """An active account shows its balances, how to fund it, and when it was made and changed."""
    account = platform.internal_accounts.account(amount=0)

    expect_members(check, account, LISTED)


@requirement("ACC-013")
def test_a_deposit_raises_the_balance_by_its_amount(platform: Platform) -> None:
    """A deposit of 20 003 smallest units raises the balance by as much."""
    account = platform.internal_accounts.account(amount=0)
    before, _ = platform.internal_accounts.balances(account)

    platform.triggers.fire(
        "deposit.arrive", accountId=account["id"], amount=20_003, currency=platform.profile.currency
    )

    assert platform.internal_accounts.wait_for_balance(account, before + 20_003) == before + 20_003


@requirement("ACC-014")
def test_money_is_neither_made_nor_lost(platform: Platform) -> None:
    """The audit finds the right balances after a payout, a transfer and unexecuted quotes."""
    source, receiver = (
        platform.internal_accounts.account(),
        platform.internal_accounts.account(amount=1_000),
    )

    platform.quotes.complete(platform.quotes.pending(source, amount=12_345))
    *_, transfer = platform.quotes.create_and_execute(
        platform.quotes.body(source, receiver, amount=23_457)
    )
    # Some targets do not let customers pay each other.
    if transfer.accepted:
        platform.transactions.at_status(transfer.body, "COMPLETED")
    platform.api.create_quote(
        platform.quotes.body(source, receiver, side="RECEIVING", amount=9_999)
    )
    platform.quotes.pending(source, amount=9_999)

    # The audit after the test compares the balances with the movements of the test.


@for_both_types(("ACC-020", "ACC-022"), ("ACC-021", "ACC-022"))
def test_an_approved_customer_has_internal_accounts(
    platform: Platform, check: Check, ids: tuple[str, ...], *, business: bool
) -> None:
    """The customer has an internal account without a request for one, and no RULE_BASED one."""
    customer = platform.approved.of_type(business)
    if verification_status(customer) != "APPROVED":
        customer = platform.customers.at_status(customer, "APPROVED")

    accounts = platform.until(lambda: platform.internal_accounts.of_customer(customer), bool)

    has_account, types = ids
    with check(has_account):
        if verification_status(customer) != "APPROVED":
            raise PreconditionFailed(f"the customer is {verification_status(customer)}")
        assert accounts, "there is no internal account after the approval"
    with check(types):
        for account in accounts:
            assert account["type"] != "RULE_BASED", account


@pytest.mark.parametrize(
    ("road", "business"),
    [
        case(id_, f"{road}-{'business' if business else 'individual'}", road, business)
        for id_, business in (("ACC-020", False), ("ACC-021", True))
        for road in ("directly", "hosted")
    ],
)
def test_whoever_a_review_approves_has_internal_accounts(
    platform: Platform, road: Road, business: bool
) -> None:
    """The customer has an internal account whichever way its review came about."""
    customer = platform.verification.reviews.onboarded(road, business=business, trigger=APPROVE)
    customer = platform.customers.at_status(customer, "APPROVED")
    if verification_status(customer) != "APPROVED":
        raise PreconditionFailed(f"the customer is {verification_status(customer)}")

    expect_account_after_approval(platform, customer)


@requirement("ACC-021")
def test_a_business_that_the_sandbox_approves_has_internal_accounts(platform: Platform) -> None:
    """The business completes the hosted flow, and no operator decides its review."""
    business = platform.customers.at_status(
        platform.verification.reviews.hosted(business=True), "APPROVED"
    )
    if verification_status(business) != "APPROVED":
        raise ResourceMissing("a business that completes the hosted flow is not approved by itself")

    expect_account_after_approval(platform, business)


def expect_account_after_approval(platform: Platform, customer: Resource) -> None:
    """Assert that an approved customer comes to an internal account."""
    __tracebackhide__ = True
    accounts = platform.until(lambda: platform.internal_accounts.of_customer(customer), bool)
    assert accounts, "there is no internal account after the approval"


@requirement("ACC-023")
def test_internal_accounts_are_listed_before_an_approval(platform: Platform) -> None:
    """The list of a customer who is not approved is answered; it may be empty."""
    customer = platform.customers.applicant()

    answer = platform.api.client.call(
        "listCustomerInternalAccounts", query={"customerId": customer["id"]}
    )

    answer.expect_accepted()
    listed_members(answer.body)


@requirement("ACC-051")
def test_whether_a_wallet_is_private_is_said_by_a_boolean(platform: Platform) -> None:
    """The member that the profile names for a wallet's privacy is a boolean, where it is shown."""
    wallet = platform.wallets.wallet()

    flag = require_member(wallet, platform.profile.bindings.require("wallet_privacy"))

    assert isinstance(flag, bool), flag
