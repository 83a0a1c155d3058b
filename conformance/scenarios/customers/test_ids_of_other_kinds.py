"""Requests for a customer with the id of a resource of another kind."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import NOT_FOUND


@requirement("CUS-800", "CUS-801")
def test_a_customer_is_found_by_its_own_id_alone(platform: Platform, check: Check) -> None:
    """Reading and updating by the id of the customer's external account are refused."""
    customer = platform.external_accounts.account_holder()
    account = platform.external_accounts.account(customer)
    name = {"fullName": "Omar Bauer"}

    read_refusal, update_refusal = (
        platform.api.get_customer(account["id"]),
        platform.api.update_customer(account["id"], name),
    )

    with check("CUS-800"):
        read_refusal.refused(*NOT_FOUND, twin=platform.api.get_customer(customer["id"]))
    with check("CUS-801"):
        update_refusal.refused(*NOT_FOUND, twin=platform.api.update_customer(customer["id"], name))
