"""Who stands behind an external account: what each currency asks for, takes and shows."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_resource
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import at, masked_or_same
from conformance.scenarios.kit.refusals import names
from conformance.scenarios.protocol.unsaid import with_known_values
from conformance.scenarios.quotes.payments import refused_or_unpaid
from conformance.testdata.beneficiaries import (
    BeneficiaryExample,
    beneficiary_example,
    beneficiary_examples,
)
from conformance.testdata.examples import ABSENT, Change, placed
from conformance.verdict.decisions import ResourceMissing

EXAMPLES = beneficiary_examples().values()
NAMING = "BEN-001"
WORDS = ("beneficiaryType", "nationality", "address.country", "documentType")

TAKEN = [
    pytest.param(found, currency, marks=requirement(rule), id=f"{found.name}-{currency}")
    for found in EXAMPLES
    for currency, rule in found.taken.items()
]

ACCEPTED = [
    pytest.param(
        found,
        change,
        marks=requirement(change.requirement),
        id=f"{found.name}-{change.member}-{change.name}",
    )
    for found in EXAMPLES
    for change in found.accepted
]

SHOWN = [
    pytest.param(found, marks=requirement(*found.shown.values()), id=found.name)
    for found in EXAMPLES
    if found.shown
]

FAULTS = [
    pytest.param(
        found,
        currency,
        change,
        marks=requirement(change.requirement, NAMING),
        id=f"{found.name}-{currency}-{change.member}-{change.name}",
    )
    for found in EXAMPLES
    for currency, change in found.faults
]


def agree(member: str, shown: object, sent: object) -> bool:
    """Return whether a member is shown as it was sent; only what identifies may be masked."""
    return shown == sent if member in WORDS else masked_or_same(shown, sent)


@pytest.mark.parametrize(("found", "currency"), TAKEN)
def test_an_account_is_created_with_no_more_than_its_currency_asks_for(
    platform: Platform, found: BeneficiaryExample, currency: str
) -> None:
    """Who sends to it matters for some currencies."""
    payer = platform.external_accounts.account_holder(found.sender)

    created = platform.api.create_external_account(
        platform.external_accounts.body_with_beneficiary(payer, currency, found.beneficiary)
    )

    assert with_known_values(platform, created).accepted, created


@pytest.mark.parametrize(("found", "change"), ACCEPTED)
def test_another_valid_beneficiary_is_taken(
    platform: Platform, found: BeneficiaryExample, change: Change
) -> None:
    """It differs from the example in one member."""
    payer = platform.external_accounts.account_holder(found.sender)

    created = platform.api.create_external_account(
        platform.external_accounts.body_with_beneficiary(
            payer, found.currency, found.changed(change)
        )
    )

    assert created.accepted, created


@pytest.mark.parametrize("found", SHOWN)
def test_a_beneficiary_is_shown_as_it_was_sent(
    platform: Platform, check: Check, found: BeneficiaryExample
) -> None:
    """When the account is created and whenever it is read, if it is shown at all."""
    sent = platform.samples.filled(found.beneficiary)
    body = platform.external_accounts.body_with_beneficiary(
        platform.external_accounts.account_holder(found.sender), found.currency, sent
    )

    answer = platform.api.create_external_account(body)

    if found.form is not None and not answer.accepted:
        raise ResourceMissing("a beneficiary is not taken in this form")
    created = arranged_resource(answer)
    read = arranged_resource(platform.api.get_external_account(created["id"]))

    told = {**sent.get("businessInfo", {}), **sent}
    for member, rule in found.shown.items():
        for account in (created, read):
            with check(rule):
                shown = at(platform.external_accounts.beneficiary_of(account), member)
                assert agree(member, shown, at(told, member)), account


@pytest.mark.parametrize(("found", "currency", "change"), FAULTS)
def test_a_beneficiary_with_one_fault_is_refused(
    platform: Platform, check: Check, found: BeneficiaryExample, currency: str, change: Change
) -> None:
    """And the error, if it lists fields, names the one that is wrong."""
    payer = platform.external_accounts.account_holder(found.sender)
    faulty = platform.external_accounts.body_with_beneficiary(
        payer, currency, found.changed(change)
    )

    refusal = platform.api.create_external_account(faulty, valid=False)

    right = platform.external_accounts.body_with_beneficiary(payer, currency, found.twin)
    twin = with_known_values(platform, platform.api.create_external_account(right))
    with check(change.requirement):
        refused_or_unpaid(platform, refusal, twin, found, (currency, change))
    with check(NAMING):
        if refusal.accepted or not twin.accepted:
            raise ResourceMissing("it was not refused for its fault when it was created")
        place = platform.profile.bindings.beneficiary.rpartition(".")[2]
        assert names(refusal, *change.names, place), refusal


@requirement("BEN-002")
def test_all_faults_of_a_beneficiary_are_named_together(platform: Platform) -> None:
    """Each that is refused by itself is in the list, so that all can be corrected at once."""
    right = beneficiary_example("business-with-number")
    payer = platform.external_accounts.account_holder()
    told = right.twin
    members = ("address", "registrationNumber")
    alone = {
        name: platform.api.create_external_account(
            platform.external_accounts.body_with_beneficiary(
                payer, right.currency, placed(told, name, ABSENT)
            ),
            valid=False,
        )
        for name in members
    }
    if any(refusal.code != "INVALID_INPUT" for refusal in alone.values()):
        raise ResourceMissing(f"not each was refused with INVALID_INPUT: {alone}")
    wrong = placed(placed(told, "address", ABSENT), "registrationNumber", ABSENT)

    refusal = platform.api.create_external_account(
        platform.external_accounts.body_with_beneficiary(payer, right.currency, wrong), valid=False
    )

    twin = platform.api.create_external_account(
        platform.external_accounts.body_with_beneficiary(payer, right.currency, told)
    )
    refusal.refused(twin=twin)
    assert all(names(refusal, name) for name in members), refusal
