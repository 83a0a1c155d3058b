"""External accounts of the platform itself."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.faults import Fault, without
from conformance.scenarios.kit.marks import requirement
from conformance.scenarios.quotes.payments import (
    AMOUNT,
    corridor_from,
    create_platform_external_account,
    fund_platform_account,
)
from conformance.testdata.beneficiaries import beneficiary_example
from conformance.verdict.decisions import ResourceMissing


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
        case("EXT-807", "account-number", "individual", without("accountInfo.clabeNumber")),
        case("EXT-807", "individual", "individual", unnamed("fullName")),
        case("EXT-807", "business", "business", unnamed("legalName")),
    ],
)
def test_an_account_of_the_platform_is_refused_as_that_of_a_customer(
    platform: Platform, form: str, change: Fault
) -> None:
    """Where a customer's account that lacks a member is refused, so is one of the platform."""
    customer = platform.external_accounts.account_holder()
    beneficiary = beneficiary_example(form).beneficiary
    valid, faulty = (
        platform.external_accounts.body_with_beneficiary(customer, "MXN", beneficiary)
        for _ in range(2)
    )
    of_platform = without("customerId")
    if platform.api.create_external_account(change(faulty), valid=False).accepted:
        raise ResourceMissing("the fault is not told when a customer's account is created")

    refusal = platform.api.create_external_account(of_platform(change(faulty)), valid=False)

    refusal.refused(twin=platform.api.create_external_account(of_platform(valid)))
