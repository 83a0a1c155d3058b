"""Requests for an internal account with the id of a resource of another kind."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.platform.resource import listed_members, retyped
from conformance.scenarios.kit.marks import requirement
from conformance.scenarios.kit.refusals import NOT_FOUND
from conformance.verdict.decisions import ResourceMissing


@requirement("ACC-800")
def test_no_deposit_is_simulated_on_an_external_account(platform: Platform) -> None:
    """A simulated deposit to the id of an external account is refused.

    So is one to the account's own id behind the type of an external account.
    """
    account = platform.internal_accounts.account(amount=0)
    external_account = platform.external_accounts.account(account.owner)

    refusals = [
        platform.internal_accounts.fund({**account, "id": name}, 10_000)
        for name in (external_account["id"], retyped(account["id"], "ExternalAccount"))
    ]

    twin = platform.internal_accounts.fund(account, 10_000)
    if not twin.accepted:
        raise ResourceMissing(f"no deposit is simulated to a {account.get('type')}: {twin}")
    for refusal in refusals:
        refusal.refused(*NOT_FOUND, twin=twin)


@requirement("ACC-801")
def test_internal_accounts_are_listed_for_customers(platform: Platform) -> None:
    """The list for the id of an internal account is refused or empty."""
    account = platform.internal_accounts.account(amount=0)

    answer = platform.api.list_customer_internal_accounts({"customerId": account["id"]})

    platform.observe(f"the internal accounts of what is no customer: {answer.status}")
    assert not answer.accepted or listed_members(answer.body) == []


@requirement("RBA-802")
def test_a_rule_based_account_is_for_a_customer(platform: Platform) -> None:
    """A rule-based account for the id of an external account is refused."""
    holder_account = platform.rule_based.holder_account()
    external_account = platform.rule_based.sweep_destination(holder_account)

    refusal = platform.rule_based.create(
        platform.rule_based.body(holder_account, external_account, customer=external_account["id"])
    )

    body = platform.rule_based.body(holder_account, external_account)
    # The target may refuse it because such a holder has no internal account either.
    refusal.refused(*NOT_FOUND, 409, twin=platform.rule_based.create(body))
