"""External accounts of every type: created as the example, with one change, and with one fault."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_resource
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check
from conformance.scenarios.kit.notation import masked_or_same, require_value_at, same_text
from conformance.scenarios.kit.refusals import REFUSED, names
from conformance.scenarios.protocol.unsaid import with_known_values
from conformance.testdata.accounts import AccountExample, account_examples
from conformance.testdata.examples import Change
from conformance.verdict.decisions import ResourceMissing

WORDS = ("bankAccountType", "bankName", "intermediaryBankName", "pixKeyType", "provider", "rail")
"""Members that hide nothing of an account's holder, so that nobody masks them."""

EXAMPLES = [
    case((example.requirement, *example.shown.values()), example.name, example)
    for example in account_examples().values()
]

ACCEPTED = [
    case(change.requirement, f"{example.name}-{change.member}-{change.name}", example, change)
    for example in account_examples().values()
    for change in example.accepted
]

REFUSALS = [
    case(
        filter(None, (change.requirement, example.naming)),
        f"{example.name}-{change.member}-{change.name}",
        example,
        change,
    )
    for example in account_examples().values()
    for change in example.refused
]


@pytest.mark.parametrize("example", EXAMPLES)
def test_a_valid_account_is_created(
    platform: Platform, check: Check, example: AccountExample
) -> None:
    """A created account shows the currency, the account type and the details that were sent."""
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(example.sender), example.name
    )

    answer = with_known_values(platform, platform.api.create_external_account(body))

    with check(example.requirement):
        answer.expect_accepted()
        assert answer.body.get("currency") == example.currency
        assert require_value_at(answer.body, "accountInfo.accountType") == example.account_type
    for member, requirement_id in example.shown.items():
        with check(requirement_id):
            shown_value = require_value_at(arranged_resource(answer), f"accountInfo.{member}")
            agree = same_text if member in WORDS else masked_or_same
            assert agree(shown_value, require_value_at(body, f"accountInfo.{member}"))


@pytest.mark.parametrize(("example", "change"), ACCEPTED)
def test_another_valid_account_is_created(
    platform: Platform, example: AccountExample, change: Change
) -> None:
    """An account that differs from the example in one member, validly, is accepted."""
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(example.sender), example.name, change=change
    )

    answer = with_known_values(platform, platform.api.create_external_account(body))

    answer.expect_accepted()


@pytest.mark.parametrize(("example", "change"), REFUSALS)
def test_an_account_with_one_fault_is_refused(
    platform: Platform, check: Check, example: AccountExample, change: Change
) -> None:
    """A request with one wrong member is refused with 400 or 422; field errors name the member."""
    customer = platform.external_accounts.account_holder(example.sender)
    faulty_body = platform.external_accounts.body(customer, example.name, change=change)

    refusal = platform.api.create_external_account(faulty_body, valid=False)

    valid_body = platform.external_accounts.body(customer, example.name)
    twin = with_known_values(platform, platform.api.create_external_account(valid_body))
    with check(change.requirement):
        refusal.refused(*REFUSED, twin=twin)
    if example.naming is not None:
        with check(example.naming):
            if refusal.accepted or not twin.accepted:
                raise ResourceMissing("it was not refused for its fault")
            assert names(refusal, *change.names), refusal
