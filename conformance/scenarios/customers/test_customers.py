"""Customers: their creation, reading and members."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.platform.resource import require_member, unknown_id
from conformance.scenarios.kit.marks import Check, requirement


@requirement("CUS-001", "CUS-002", "CUS-003")
def test_an_individual_is_created(platform: Platform, check: Check) -> None:
    """The answer shows a ``customerType`` and a ``kycStatus``."""
    customer = platform.approved.individual()

    with check("CUS-002"):
        require_member(customer, "customerType")
    with check("CUS-003"):
        require_member(customer, "kycStatus")


@requirement("CUS-004")
def test_a_business_has_a_status_of_its_own(platform: Platform) -> None:
    """A business shows a ``kybStatus``."""
    business = platform.approved.business()

    require_member(business, "kybStatus")


@requirement("CUS-005", "CUS-006")
def test_a_customer_is_read_by_its_id(platform: Platform, check: Check) -> None:
    """The answer is the customer with that id; an unknown id is refused with 404."""
    customer = platform.approved.customer()

    answer = platform.api.client.call("getCustomer", path={"customerId": customer["id"]})
    refusal = platform.api.client.call(
        "getCustomer", path={"customerId": unknown_id(customer["id"])}
    )

    with check("CUS-005"):
        answer.expect_accepted()
        assert answer.body.get("id") == customer["id"]
    with check("CUS-006"):
        refusal.refused(404, twin=answer)


@requirement("CUS-007")
def test_the_end_user_terms_can_be_read(platform: Platform) -> None:
    """The request for the terms that customers accept is answered with success."""
    answer = platform.api.client.call("getEndUserTerms")

    answer.expect_accepted()


@requirement("CUS-008")
def test_a_customer_needs_a_type(platform: Platform) -> None:
    """A body without ``customerType`` is refused."""
    body = platform.customers.body()
    without_type = {name: value for name, value in body.items() if name != "customerType"}

    refusal = platform.api.create_customer(without_type, valid=False)

    refusal.refused(twin=platform.api.create_customer(body))
