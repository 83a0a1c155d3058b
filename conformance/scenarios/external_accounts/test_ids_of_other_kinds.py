"""Ids of resources of another kind: they are refused like unknown ids."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import NOT_FOUND


@requirement("EXT-800")
def test_an_external_account_is_read_by_its_own_id_alone(platform: Platform) -> None:
    """A reading of an external account by the id of its customer is refused."""
    customer = platform.external_accounts.account_holder()
    account = platform.external_accounts.account(customer)

    refusal = platform.api.get_external_account(customer["id"])

    refusal.refused(*NOT_FOUND, twin=platform.api.get_external_account(account["id"]))


@requirement("EXT-801", "EXT-802")
def test_an_external_account_is_deleted_by_its_own_id_alone(
    platform: Platform, check: Check
) -> None:
    """A deletion by the id of the customer is refused, and the external account stays."""
    customer = platform.external_accounts.account_holder()
    account, other = (
        platform.external_accounts.account(customer),
        platform.external_accounts.account(platform.external_accounts.account_holder()),
    )

    refusal = platform.api.delete_external_account(customer["id"])

    with check("EXT-802"):
        assert platform.api.get_external_account(account["id"]).accepted
    with check("EXT-801"):
        refusal.refused(*NOT_FOUND, twin=platform.api.delete_external_account(other["id"]))


@requirement("LKP-800")
def test_an_external_account_is_looked_up_by_its_own_id_alone(platform: Platform) -> None:
    """A receiver lookup by the id of a customer is refused."""
    customer = platform.approved.customer()
    account = platform.external_accounts.account(customer)

    refusal = platform.api.lookup_external_account(customer["id"], {"customerId": customer["id"]})

    refusal.refused(
        *NOT_FOUND,
        twin=platform.api.lookup_external_account(account["id"], {"customerId": customer["id"]}),
    )
