"""Ids of resources of another kind: they are refused like unknown ids."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.platform.resource import retyped
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import NOT_FOUND


@requirement("EXT-800")
def test_an_external_account_is_read_by_its_own_id_alone(platform: Platform) -> None:
    """A reading by the id of its customer, or of an internal account, is refused.

    So is one by its own id behind the type of a customer.
    """
    inside = platform.internal_accounts.account(amount=0)
    customer = inside.owner
    account = platform.external_accounts.account(customer)

    others = (customer["id"], inside["id"], retyped(account["id"], "Customer"))

    refusals = [platform.api.get_external_account(name) for name in others]

    twin = platform.api.get_external_account(account["id"])
    for refusal in refusals:
        refusal.refused(*NOT_FOUND, twin=twin)


@requirement("EXT-801", "EXT-802")
def test_an_external_account_is_deleted_by_its_own_id_alone(
    platform: Platform, check: Check
) -> None:
    """A deletion by the id of the customer, or of an internal account, is refused.

    So is one by its own id behind the type of a customer. The external account stays.
    """
    inside = platform.internal_accounts.account(amount=0)
    customer = inside.owner
    account, other = (
        platform.external_accounts.account(customer),
        platform.external_accounts.account(platform.external_accounts.account_holder()),
    )

    others = (customer["id"], inside["id"], retyped(account["id"], "Customer"))

    refusals = [platform.api.delete_external_account(name) for name in others]

    with check("EXT-802"):
        assert platform.api.get_external_account(account["id"]).accepted
    with check("EXT-801"):
        twin = platform.api.delete_external_account(other["id"])
        for refusal in refusals:
            refusal.refused(*NOT_FOUND, twin=twin)


@requirement("LKP-800")
def test_an_external_account_is_looked_up_by_its_own_id_alone(platform: Platform) -> None:
    """A receiver lookup by the id of a customer, or of an internal account, is refused.

    So is one by the account's own id behind the type of a customer.
    """
    inside = platform.internal_accounts.account(amount=0)
    customer = inside.owner
    account = platform.external_accounts.account(customer)
    sender = {"customerId": customer["id"]}
    others = (customer["id"], inside["id"], retyped(account["id"], "Customer"))

    refusals = [platform.api.lookup_external_account(name, sender) for name in others]

    twin = platform.api.lookup_external_account(account["id"], sender)
    for refusal in refusals:
        refusal.refused(*NOT_FOUND, twin=twin)
