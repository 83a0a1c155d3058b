"""Beneficiaries of external accounts: what each currency requires, accepts and shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from conformance.contract.notation import masked_or_same
from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_resource
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import require_value_at
from conformance.scenarios.kit.refusals import (
    REFUSED,
    last_name,
    listed_errors,
    names,
    names_within,
)
from conformance.scenarios.protocol.unsaid import with_known_values
from conformance.scenarios.quotes.payments import expect_refused_or_unpaid
from conformance.testdata.beneficiaries import (
    BeneficiaryExample,
    beneficiary_example,
    beneficiary_examples,
)
from conformance.testdata.examples import ABSENT, Change, placed
from conformance.text.paths import value_at
from conformance.verdict.decisions import ResourceMissing

EXAMPLES = beneficiary_examples().values()
NAMING = "BEN-001"
TYPE = "beneficiaryType"
NAMES = ("fullName", "legalName")
WORDS = (TYPE, "nationality", "address.country", "documentType")

REQUIRED_ONLY = [
    case(requirement_id, f"{example.name}-{currency}", example, currency)
    for example in EXAMPLES
    for currency, requirement_id in example.taken.items()
]

ACCEPTED = [
    case(
        filter(None, (change.requirement, example.shown.get(change.member))),
        f"{example.name}-{change.member}-{change.name}",
        example,
        change,
    )
    for example in EXAMPLES
    for change in example.accepted
]

SHOWN_MEMBERS = [
    case((*example.shown.values(), "EXT-831", "EXT-833"), example.name, example)
    for example in EXAMPLES
    if example.shown
]

FAULTS = [
    case(
        (change.requirement, NAMING),
        f"{example.name}-{currency}-{change.member}-{change.name}",
        example,
        currency,
        change,
    )
    for example in EXAMPLES
    for currency, change in example.faults
]

NAMELESS = [
    case(change.requirement, f"{example.name}-{currency}", example, currency, change.member)
    for example in EXAMPLES
    for currency, changes in example.missing.items()
    for change in changes
    if change.member in NAMES
]


def agree(member: str, shown_value: object, sent_value: object) -> bool:
    """Return whether a member shows what was sent; only members outside of WORDS may be masked."""
    return shown_value == sent_value if member in WORDS else masked_or_same(shown_value, sent_value)


@pytest.mark.parametrize(("example", "currency"), REQUIRED_ONLY)
def test_an_account_is_created_with_no_more_than_its_currency_asks_for(
    platform: Platform, example: BeneficiaryExample, currency: str
) -> None:
    """An account whose beneficiary has only the required members is accepted."""
    customer = platform.external_accounts.account_holder(example.sender)

    answer = platform.api.create_external_account(
        platform.external_accounts.body_with_beneficiary(customer, currency, example.beneficiary)
    )

    assert with_known_values(platform, answer).accepted, answer


@requirement("BEN-165")
@pytest.mark.parametrize("account", ["cny_account", "cny_account.wallet_app"])
def test_a_business_has_either_form_of_a_chinese_account(platform: Platform, account: str) -> None:
    """A business stands behind an account number, and behind the phone number of a wallet app."""
    accounts = platform.external_accounts
    business = beneficiary_example("business-in-china").twin

    answer = platform.api.create_external_account(
        accounts.body(accounts.account_holder(), account, beneficiary=business)
    )

    assert with_known_values(platform, answer).accepted, answer


@pytest.mark.parametrize(("example", "change"), ACCEPTED)
def test_another_valid_beneficiary_is_taken(
    platform: Platform, check: Check, example: BeneficiaryExample, change: Change
) -> None:
    """A beneficiary that differs from the example in one member is accepted.

    The answer to the creation and a reading show it so.
    """
    customer = platform.external_accounts.account_holder(example.sender)

    answer = platform.api.create_external_account(
        platform.external_accounts.body_with_beneficiary(
            customer, example.currency, example.changed(change)
        )
    )

    with check(change.requirement):
        answer.expect_accepted()
    if change.member in example.shown:
        account = arranged_resource(answer)
        for shown in (account, platform.external_accounts.read(account)):
            with check(example.shown[change.member]):
                shown_value = require_value_at(
                    platform.external_accounts.beneficiary_of(shown), change.member
                )
                assert agree(change.member, shown_value, change.value), shown


@pytest.mark.parametrize("example", SHOWN_MEMBERS)
def test_a_beneficiary_is_shown_as_it_was_sent(
    platform: Platform, check: Check, example: BeneficiaryExample
) -> None:
    """A created account, a later reading and the list show members as they were sent, or masked.

    Who shows something of a beneficiary should not leave out what else was sent, and does not leave
    out a name that the answer to the creation showed.
    """
    beneficiary = platform.samples.filled(example.beneficiary)
    customer = platform.external_accounts.account_holder(example.sender)
    body = platform.external_accounts.body_with_beneficiary(customer, example.currency, beneficiary)

    answer = platform.api.create_external_account(body)

    if example.form is not None and not answer.accepted:
        raise ResourceMissing("a beneficiary is not taken in this form")
    created_account = arranged_resource(answer)
    account_read = arranged_resource(platform.api.get_external_account(created_account["id"]))
    account_listed: Json = platform.external_accounts.as_listed(customer, created_account) or {}

    sent_members = {**beneficiary.get("businessInfo", {}), **beneficiary}
    for member, requirement_id in example.shown.items():
        for account in (created_account, account_read, account_listed):
            with check(requirement_id):
                shown_value = require_value_at(
                    platform.external_accounts.beneficiary_of(account), member
                )
                assert agree(member, shown_value, require_value_at(sent_members, member)), account
    with check("EXT-831"):
        if not platform.external_accounts.beneficiary_of(created_account):
            raise ResourceMissing("the creation shows nothing of the beneficiary")
        for account in filter(None, (created_account, account_read, account_listed)):
            told = platform.external_accounts.beneficiary_of(account)
            assert not [name for name in example.shown if value_at(told, name) is None], account
    with check("EXT-833"):
        told = platform.external_accounts.beneficiary_of(created_account)
        names = [name for name in NAMES if value_at(told, name) is not None]
        later = [
            told
            for account in (account_read, account_listed)
            if (told := platform.external_accounts.beneficiary_of(account)).keys() - {TYPE}
        ]
        if not names or not later:
            raise ResourceMissing("nobody is told again who the beneficiary is")
        for told in later:
            assert all(value_at(told, name) is not None for name in names), told


@pytest.mark.parametrize(("example", "currency", "change"), FAULTS)
def test_a_beneficiary_with_one_fault_is_refused(
    platform: Platform, check: Check, example: BeneficiaryExample, currency: str, change: Change
) -> None:
    """An account with one wrong member of its beneficiary is refused, or a payment to it.

    Field errors of the refused account, if any, name the wrong member.
    """
    customer = platform.external_accounts.account_holder(example.sender)
    sender = (
        platform.external_accounts.unregistered_business()
        if example.unregistered_sender
        else customer
    )
    faulty_body = platform.external_accounts.body_with_beneficiary(
        sender, currency, example.changed(change)
    )

    refusal = platform.api.create_external_account(faulty_body, valid=False)

    valid_body = platform.external_accounts.body_with_beneficiary(customer, currency, example.twin)
    twin = with_known_values(platform, platform.api.create_external_account(valid_body))
    with check(change.requirement):
        expect_refused_or_unpaid(platform, refusal, twin, example, (currency, change))
    with check(NAMING):
        if refusal.accepted or not twin.accepted:
            raise ResourceMissing("it was not refused for its fault when it was created")
        beneficiary_member = platform.profile.bindings.beneficiary.rpartition(".")[2]
        is_named = any(names_within(refusal, name) for name in change.names)
        assert is_named or names(refusal, beneficiary_member), refusal


@pytest.mark.parametrize(
    "member",
    [case("BEN-201", "legalName", "legalName"), case("BEN-202", "address", "address")],
)
def test_a_currency_asks_the_same_in_each_type_of_account(platform: Platform, member: str) -> None:
    """A fault of a business in USD is refused in an SLV_ACCOUNT too, if it is in a USD_ACCOUNT."""
    accounts = platform.external_accounts
    owner = accounts.account_holder()
    business = beneficiary_example("business").twin
    faulty = {name: value for name, value in business.items() if name != member}

    usual, refusal = (
        platform.api.create_external_account(
            accounts.body(owner, name, beneficiary=faulty), valid=False
        )
        for name in ("usd_account", "slv_account")
    )

    if usual.accepted:
        raise ResourceMissing("what is wrong of a beneficiary is not refused with the account")
    twin = platform.api.create_external_account(
        accounts.body(owner, "slv_account", beneficiary=business)
    )
    if not twin.accepted:
        raise ResourceMissing(f"a business has no SLV_ACCOUNT: {twin}")
    refusal.refused(*REFUSED, twin=twin)


@pytest.mark.parametrize(("example", "currency", "own_name"), NAMELESS)
def test_a_beneficiary_has_the_name_of_its_type(
    platform: Platform, example: BeneficiaryExample, currency: str, own_name: str
) -> None:
    """A business with a fullName alone, or a person with a legalName alone, is refused."""
    beneficiary = example.twin
    other_name = NAMES[own_name == NAMES[0]]
    wrong = placed({**beneficiary, other_name: beneficiary[own_name]}, own_name, ABSENT)
    customer = platform.external_accounts.account_holder(example.sender)

    def register(told: Mapping[str, Any], *, valid: bool) -> Answer:
        body = platform.external_accounts.body_with_beneficiary(customer, currency, told)
        return platform.api.create_external_account(body, valid=valid)

    refusal = register(wrong, valid=False)

    twin = with_known_values(platform, register(beneficiary, valid=True))
    if refusal.accepted and register(placed(wrong, other_name, ABSENT), valid=False).accepted:
        raise ResourceMissing("what a beneficiary lacks is not told when its account is created")
    refusal.refused(*REFUSED, twin=twin)


@requirement("EXT-141")
def test_faults_of_an_account_and_of_its_beneficiary_are_named_together(
    platform: Platform,
) -> None:
    """A wrong number and a beneficiary without a name: one refusal lists both.

    Only targets that refuse each fault by itself with INVALID_INPUT are checked.
    """
    customer = platform.external_accounts.account_holder()
    beneficiary = beneficiary_example("individual-with-address").twin

    def register(number: str | None, told: Mapping[str, Any]) -> Answer:
        body = platform.external_accounts.body_with_beneficiary(customer, "USD", told)
        if number is not None:
            body = placed(body, "accountInfo.accountNumber", number)
        return platform.api.create_external_account(body, valid=False)

    nameless = placed(beneficiary, "fullName", ABSENT)
    alone = [register("12", beneficiary), register(None, nameless)]
    if any(refusal.code != "INVALID_INPUT" for refusal in alone):
        raise ResourceMissing(f"not each was refused with INVALID_INPUT: {alone}")

    refusal = register("12", nameless)

    refusal.refused(twin=register(None, beneficiary))
    wanted = {last_name(entry.get("field")) for one in alone for entry in listed_errors(one)}
    listed = {last_name(entry.get("field")) for entry in listed_errors(refusal)}
    assert listed >= wanted, refusal


@requirement("BEN-002")
def test_all_faults_of_a_beneficiary_are_named_together(platform: Platform) -> None:
    """Two members are missing, and one refusal lists both.

    In the place of the address, which is an object, its members may be listed.
    Only targets that refuse each missing member by itself with INVALID_INPUT are checked.
    """
    example = beneficiary_example("business-with-number")
    customer = platform.external_accounts.account_holder()
    beneficiary = example.twin
    members = ("address", "registrationNumber")
    refusals = {
        name: platform.api.create_external_account(
            platform.external_accounts.body_with_beneficiary(
                customer, example.currency, placed(beneficiary, name, ABSENT)
            ),
            valid=False,
        )
        for name in members
    }
    if any(refusal.code != "INVALID_INPUT" for refusal in refusals.values()):
        raise ResourceMissing(f"not each was refused with INVALID_INPUT: {refusals}")
    faulty_beneficiary = placed(
        placed(beneficiary, "address", ABSENT), "registrationNumber", ABSENT
    )

    refusal = platform.api.create_external_account(
        platform.external_accounts.body_with_beneficiary(
            customer, example.currency, faulty_beneficiary
        ),
        valid=False,
    )

    twin = platform.api.create_external_account(
        platform.external_accounts.body_with_beneficiary(customer, example.currency, beneficiary)
    )
    refusal.refused(twin=twin)
    assert all(names_within(refusal, name) for name in members), refusal
