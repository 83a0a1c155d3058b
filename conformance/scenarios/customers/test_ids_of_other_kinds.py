"""Requests for a customer with the id of a resource of another kind."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.platform.resource import retyped
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import NOT_FOUND
from conformance.verdict.decisions import ResourceMissing


@requirement("CUS-800", "CUS-801")
def test_a_customer_is_found_by_its_own_id_alone(platform: Platform, check: Check) -> None:
    """Reading and updating by the id of the customer's external account are refused.

    So are they by the customer's own id behind the type of an external account.
    """
    customer = platform.external_accounts.account_holder()
    account = platform.external_accounts.account(customer)
    name = {"fullName": "Omar Bauer"}
    others = (account["id"], retyped(customer["id"], "ExternalAccount"))

    readings = [platform.api.get_customer(other) for other in others]
    updates = [platform.api.update_customer(other, name) for other in others]

    with check("CUS-800"):
        twin = platform.api.get_customer(customer["id"])
        for refusal in readings:
            refusal.refused(*NOT_FOUND, twin=twin)
    with check("CUS-801"):
        twin = platform.api.update_customer(customer["id"], name)
        if not twin.accepted:
            raise ResourceMissing(f"the name of the customer cannot be changed: {twin}")
        for refusal in updates:
            refusal.refused(*NOT_FOUND, twin=twin)
