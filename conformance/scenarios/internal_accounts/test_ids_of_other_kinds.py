"""An id of a resource of another kind is as good as none."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.platform.resource import listed_members
from conformance.scenarios.kit.marks import requirement
from conformance.scenarios.kit.refusals import NOT_FOUND
from conformance.verdict.decisions import ResourceMissing


@requirement("ACC-800")
def test_no_deposit_is_simulated_on_an_external_account(platform: Platform) -> None:
    """It is not the service that holds its money."""
    account = platform.internal_accounts.account(amount=0)
    outside = platform.external_accounts.account(account.owner)

    refusal = platform.internal_accounts.fund({**account, "id": outside["id"]}, 10_000)

    twin = platform.internal_accounts.fund(account, 10_000)
    if not twin.accepted:
        raise ResourceMissing(f"no deposit is simulated to a {account.get('type')}: {twin}")
    refusal.refused(*NOT_FOUND, twin=twin)


@requirement("ACC-801")
def test_internal_accounts_are_listed_for_customers(platform: Platform) -> None:
    """Under the id of an account there are none; the request may be refused as well."""
    account = platform.internal_accounts.account(amount=0)

    answer = platform.api.list_customer_internal_accounts({"customerId": account["id"]})

    platform.observe(f"the internal accounts of what is no customer: {answer.status}")
    assert not answer.accepted or listed_members(answer.body) == []


@requirement("RBA-802")
def test_a_rule_based_account_is_for_a_customer(platform: Platform) -> None:
    """An account of the customer's is none."""
    home = platform.rule_based.holder_account()
    payee = platform.rule_based.sweep_destination(home)

    refusal = platform.rule_based.create(
        platform.rule_based.body(home, payee, customer=payee["id"])
    )

    right = platform.rule_based.body(home, payee)
    # Who is no customer holds no account either, which may be what it is refused for.
    refusal.refused(*NOT_FOUND, 409, twin=platform.rule_based.create(right))
