"""Customers: their creation, reading and members."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.platform.resource import require_member, unknown_id
from conformance.scenarios.kit.marks import Check, requirement


@requirement("CUS-001", "CUS-002", "CUS-003")
def test_an_individual_is_created(platform: Platform, check: Check) -> None:
    """The answer is the customer, with how far its verification is."""
    customer = platform.approved.customer()

    with check("CUS-002"):
        require_member(customer, "customerType")
    with check("CUS-003"):
        require_member(customer, "kycStatus")


@requirement("CUS-004")
def test_a_business_has_a_status_of_its_own(platform: Platform) -> None:
    """It takes the same values as that of an individual."""
    business = platform.approved.business()

    require_member(business, "kybStatus")


@requirement("CUS-005", "CUS-006")
def test_a_customer_is_read_by_its_id(platform: Platform, check: Check) -> None:
    """And nothing is read by an id that no customer has."""
    customer = platform.approved.customer()

    answer = platform.api.client.call("getCustomer", path={"customerId": customer["id"]})
    refusal = platform.api.client.call(
        "getCustomer", path={"customerId": unknown_id(customer["id"])}
    )

    with check("CUS-005"):
        assert answer.accepted, answer
        assert answer.body.get("id") == customer["id"]
    with check("CUS-006"):
        refusal.refused(404, twin=answer)


@requirement("CUS-007")
def test_the_end_user_terms_can_be_read(platform: Platform) -> None:
    """They are what a customer accepts."""
    answer = platform.api.client.call("getEndUserTerms")

    assert answer.accepted, answer


@requirement("CUS-008")
def test_a_customer_needs_a_type(platform: Platform) -> None:
    """It is the one field that all customers need."""
    body = platform.customers.body()
    typeless = {name: value for name, value in body.items() if name != "customerType"}

    refusal = platform.api.create_customer(typeless, valid=False)

    refusal.refused(twin=platform.api.create_customer(body))
