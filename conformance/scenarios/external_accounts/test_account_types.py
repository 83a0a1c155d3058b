"""External accounts of every type: what is taken, what is shown again, and what is refused."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_resource
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import at, masked_or_same
from conformance.scenarios.kit.refusals import REFUSED, names
from conformance.scenarios.protocol.unsaid import with_known_values
from conformance.testdata.accounts import AccountExample, account_examples
from conformance.testdata.examples import Change
from conformance.verdict.decisions import ResourceMissing

EXAMPLES = [
    pytest.param(found, marks=requirement(found.requirement, *found.shown.values()), id=found.name)
    for found in account_examples().values()
]

ACCEPTED = [
    pytest.param(
        found,
        change,
        marks=requirement(change.requirement),
        id=f"{found.name}-{change.member}-{change.name}",
    )
    for found in account_examples().values()
    for change in found.accepted
]

REFUSALS = [
    pytest.param(
        found,
        change,
        marks=requirement(*filter(None, (change.requirement, found.naming))),
        id=f"{found.name}-{change.member}-{change.name}",
    )
    for found in account_examples().values()
    for change in found.refused
]


@pytest.mark.parametrize("found", EXAMPLES)
def test_a_valid_account_is_created(
    platform: Platform, check: Check, found: AccountExample
) -> None:
    """What is shown of it again is what was sent."""
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(found.sender), found.name
    )

    created = with_known_values(platform, platform.api.create_external_account(body))

    with check(found.requirement):
        assert created.accepted, created
        assert created.body.get("currency") == found.currency
        assert at(created.body, "accountInfo.accountType") == found.account_type
    for member, rule in found.shown.items():
        with check(rule):
            shown = at(arranged_resource(created), f"accountInfo.{member}")
            assert masked_or_same(shown, at(body, f"accountInfo.{member}"))


@pytest.mark.parametrize(("found", "change"), ACCEPTED)
def test_another_valid_account_is_created(
    platform: Platform, found: AccountExample, change: Change
) -> None:
    """It differs from the example in one member."""
    body = platform.external_accounts.body(
        platform.external_accounts.account_holder(found.sender), found.name, change=change
    )

    created = with_known_values(platform, platform.api.create_external_account(body))

    assert created.accepted, created


@pytest.mark.parametrize(("found", "change"), REFUSALS)
def test_an_account_with_one_fault_is_refused(
    platform: Platform, check: Check, found: AccountExample, change: Change
) -> None:
    """And the error, if it lists fields, names the one that is wrong."""
    payer = platform.external_accounts.account_holder(found.sender)
    faulty = platform.external_accounts.body(payer, found.name, change=change)

    refusal = platform.api.create_external_account(faulty, valid=False)

    right = platform.external_accounts.body(payer, found.name)
    twin = with_known_values(platform, platform.api.create_external_account(right))
    with check(change.requirement):
        refusal.refused(*REFUSED, twin=twin)
    if found.naming is not None:
        with check(found.naming):
            if refusal.accepted or not twin.accepted:
                raise ResourceMissing("it was not refused for its fault")
            assert names(refusal, *change.names), refusal
