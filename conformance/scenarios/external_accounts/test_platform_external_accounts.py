"""External accounts of the platform itself."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_body, arranged_resource
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.faults import Fault, having, without
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.payments import (
    AMOUNT,
    corridor_from,
    create_platform_external_account,
    fund_platform_account,
)
from conformance.testdata.accounts import AccountExample, account_examples
from conformance.testdata.beneficiaries import (
    BeneficiaryExample,
    beneficiary_example,
    beneficiary_examples,
)
from conformance.testdata.examples import ABSENT, Change
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing


def _lacks(example: AccountExample) -> list[Change]:
    """Return the changes of an example that leave out a member which it may not go without."""
    return [change for change in example.refused if change.value is ABSENT]


LACKING = [example for example in account_examples().values() if _lacks(example)]
"""The examples of accounts that may not go without a member."""


def unnamed(member: str) -> Fault:
    """Return the change that takes a name from a beneficiary, wherever that stands."""

    def change(body: Json) -> Json:
        return {
            key: change(value) if isinstance(value, Mapping) else value
            for key, value in body.items()
            if key != member
        }

    return change


@requirement("EXT-600")
def test_an_account_of_the_platform_receives_funds(platform: Platform) -> None:
    """A payment from the platform's internal account to its external account completes."""
    source = fund_platform_account(platform)
    corridor = corridor_from(platform, source)
    receiver = create_platform_external_account(platform, corridor.account)

    quote = platform.quotes.pending(source, receiver, amount=AMOUNT)
    platform.quotes.execute(quote)

    assert platform.transactions.at_status(quote, "COMPLETED")["status"] == "COMPLETED"


@pytest.mark.parametrize(
    ("form", "change"),
    [
        case(
            "EXT-807", "short", "individual", having("accountInfo.clabeNumber", "0321800001183597")
        ),
        case("EXT-807", "letter", "individual", having("accountInfo.clabeNumber", f"{'0' * 17}A")),
        case("EXT-807", "individual", "individual", unnamed("fullName")),
        case("EXT-807", "business", "business", unnamed("legalName")),
    ],
)
def test_an_account_of_the_platform_is_refused_as_that_of_a_customer(
    platform: Platform, form: str, change: Fault
) -> None:
    """Where a customer's account is refused for one member, so is one of the platform."""
    customer = platform.external_accounts.account_holder()
    beneficiary = beneficiary_example(form).beneficiary
    valid, faulty = (
        platform.external_accounts.body_with_beneficiary(customer, "MXN", beneficiary)
        for _ in range(2)
    )

    _expect_refused_as_a_customers(platform, valid, change(faulty))


@pytest.mark.parametrize("example", [case("EXT-807", one.name, one) for one in LACKING])
def test_an_account_of_the_platform_has_what_its_type_requires(
    platform: Platform, example: AccountExample
) -> None:
    """Where a customer's account is refused without a member, so is one of the platform."""
    customer = platform.external_accounts.account_holder()
    lacking = platform.samples.drawn("the missing member", _lacks(example))
    valid, faulty = (
        platform.external_accounts.body(customer, example.name, change=change)
        for change in (None, lacking)
    )

    _expect_refused_as_a_customers(platform, valid, faulty)


@pytest.mark.parametrize(
    ("example", "currency"),
    [
        case("EXT-807", f"{one.name}-{currency}", one, currency)
        for one in beneficiary_examples().values()
        if one.sender != "BUSINESS" and one.form is None
        for currency, changes in one.missing.items()
        if changes
    ],
)
def test_a_beneficiary_of_the_platform_is_told_as_that_of_a_customer(
    platform: Platform, example: BeneficiaryExample, currency: str
) -> None:
    """Where a customer's account is refused for its beneficiary, so is one of the platform."""
    customer = platform.external_accounts.account_holder(example.sender)
    lacking = platform.samples.drawn("the missing member", example.missing[currency])
    valid, faulty = (
        platform.external_accounts.body_with_beneficiary(customer, currency, beneficiary)
        for beneficiary in (example.beneficiary, example.changed(lacking))
    )

    _expect_refused_as_a_customers(platform, valid, faulty)


@requirement("EXT-807")
def test_an_account_of_the_platform_is_at_a_listed_institution(platform: Platform) -> None:
    """Where a customer's account is refused for a bank that is not listed, so is the platform's."""
    customer = platform.external_accounts.account_holder()
    valid, faulty = (platform.external_accounts.body(customer, "php_account") for _ in range(2))
    unlisted = having("accountInfo.bankName", f"NO SUCH BANK {platform.samples.reference()}")

    _expect_refused_as_a_customers(platform, valid, unlisted(faulty))


@requirement("EXT-808")
@pytest.mark.parametrize(
    ("name", "asset"),
    [
        ("base_wallet", "USDT"),
        ("polygon_wallet", "BTC"),
        ("solana_wallet", "USDT"),
        ("tron_wallet", "USDC"),
        ("spark_wallet", "USDC"),
    ],
)
def test_a_wallet_of_the_platform_holds_the_assets_of_its_network(
    platform: Platform, name: str, asset: str
) -> None:
    """Where a customer's wallet in another asset is refused, so is one of the platform."""
    customer = platform.external_accounts.account_holder()
    valid, faulty = (platform.external_accounts.body(customer, name) for _ in range(2))

    _expect_refused_as_a_customers(platform, valid, {**faulty, "currency": asset})


def _expect_refused_as_a_customers(platform: Platform, valid: Json, faulty: Json) -> None:
    """Assert that the platform is refused an account that is refused to a customer.

    Raises:
        ResourceMissing: the customer is not refused it, or the platform has no such accounts.
    """
    __tracebackhide__ = True
    of_platform = without("customerId")
    if platform.api.create_external_account(faulty, valid=False).accepted:
        raise ResourceMissing("the fault is not told when a customer's account is created")
    twin = platform.api.create_external_account(of_platform(valid))
    if not twin.accepted:
        raise ResourceMissing(f"no account is created without a customer: {twin}")

    platform.api.create_external_account(of_platform(faulty), valid=False).refused(twin=twin)


@requirement("EXT-011", "EXT-101", "EXT-102")
def test_an_account_of_the_platform_is_named_and_deleted(platform: Platform, check: Check) -> None:
    """It shows the platformAccountId that was sent, and is read and listed until it is deleted.

    The text has one path for readings and deletions, which may be for accounts of customers alone.
    """
    body = without("customerId")(platform.external_accounts.body({"id": ""}))
    answer = platform.api.create_external_account(body)
    if not answer.accepted:
        raise ResourceMissing(f"no account is created without a customer: {answer}")
    account = answer.body

    with check("EXT-011"):
        assert account.get("platformAccountId") == body["platformAccountId"]
    before = platform.api.get_external_account(account["id"])
    deletion = platform.api.delete_external_account(account["id"])
    if not deletion.accepted:
        raise ResourceMissing(f"only accounts of customers are deleted so: {deletion}")
    with check("EXT-101"):
        if not before.accepted:
            raise ResourceMissing(f"only accounts of customers are read so: {before}")
        after = platform.until(
            lambda: platform.api.get_external_account(account["id"]),
            lambda reading: not reading.accepted,
        )
        after.refused(404, twin=before)
    with check("EXT-102"):
        row = platform.until(
            lambda: platform.external_accounts.listed_for_platform(account["id"]),
            lambda found: found is None,
        )
        assert row is None


@requirement("EXT-093")
def test_an_account_of_the_platform_is_in_no_list_of_a_customer(platform: Platform) -> None:
    """A customer's list has the customer's own account, and not the one that nobody owns."""
    account = create_platform_external_account(platform, platform.profile.usual_corridor.account)
    customer = platform.external_accounts.account_holder()
    body = platform.external_accounts.body(customer)
    own = arranged_resource(platform.api.create_external_account(body))

    listed = platform.external_accounts.as_listed(customer, own)
    rows = platform.external_accounts.of_customer(customer)

    if listed is None:
        raise PreconditionFailed(f"{own['id']} is not listed for {customer['id']}")
    assert account["id"] not in {row.get("id") for row in rows}


@requirement("LKP-804")
def test_an_account_of_the_platform_is_looked_up(platform: Platform) -> None:
    """A lookup of an external account that belongs to no customer is answered with 200.

    A customer asks who can look up an account of its own.
    """
    customer = platform.approved.customer()
    own = platform.external_accounts.account(customer)
    account = create_platform_external_account(platform, platform.profile.usual_corridor.account)
    query = {"customerId": customer["id"]}
    arranged_body(platform.api.lookup_external_account(own["id"], query))

    answer = platform.api.lookup_external_account(account["id"], query)

    assert answer.status == HTTPStatus.OK, answer
    assert answer.body.get("accountId") == account["id"], answer
