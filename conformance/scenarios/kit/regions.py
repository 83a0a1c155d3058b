"""Regions of customers, where a profile names them by ISO 3166-1 alpha-2 codes."""

from __future__ import annotations

from conformance.platform.given.customers import verification_status
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource
from conformance.verdict.decisions import ResourceMissing

EU = (
    *("AT", "BE", "BG", "CY", "CZ", "DE", "DK", "EE", "ES", "FI", "FR", "GR", "HR", "HU", "IE"),
    *("IT", "LT", "LU", "LV", "MT", "NL", "PL", "PT", "RO", "SE", "SI", "SK"),
)
"""The countries of the European Union."""


def moved_to_sca(platform: Platform) -> Resource:
    """Return an approved customer of a region of SCA who was created in the United States.

    Raises:
        ResourceMissing: customers do not move there, or not without another review.
    """
    region = platform.profile.bindings.sca_region
    customer = platform.approved.customer_outside_sca()
    residence = platform.customers.residence(region)
    home = {name: value for name, value in residence.items() if value is not None}
    move = platform.api.update_customer(customer["id"], home)
    if not move.accepted:
        raise ResourceMissing(f"a customer does not move to {region}: {move}")
    now = platform.customers.read(customer)
    if now.get("region") != region or verification_status(now) != "APPROVED":
        raise ResourceMissing(f"a customer who moved to {region} is not approved there: {now}")
    return customer
