"""What has to be known of a business beside its own data before its review begins."""

from __future__ import annotations

import pytest

from conformance.client.actor import Json, resource
from conformance.client.platform import Platform
from conformance.scenarios.marks import requirement
from conformance.verdict.decisions import ResourceMissing

RESOLVE_ERRORS = "RESOLVE_ERRORS"


@pytest.fixture
def business(platform: Platform) -> Json:
    """A business of which nothing is told yet, where a whole packet is enough for a review."""
    whole = platform.submit(platform.prepared(business=True))
    if resource(whole).get("verificationStatus") == RESOLVE_ERRORS:
        raise ResourceMissing("more has to be known of a business than the suite can tell")
    return platform.unsubmitted(business=True)


@requirement("VER-801")
def test_a_business_tells_who_controls_it(platform: Platform, business: Json) -> None:
    """A director who owns most of it need not be that person."""
    platform.owner(business, roles=["DIRECTOR"], ownershipPercentage=75)
    platform.document(business, "UTILITY_BILL")

    demand_errors(platform, business)


@requirement("VER-802")
def test_a_business_proves_its_address(platform: Platform, business: Json) -> None:
    """Who controls it does not make up for that."""
    roles = [platform.profile.bindings.control_role, "DIRECTOR"]
    platform.owner(business, roles=roles, ownershipPercentage=75)

    demand_errors(platform, business)


@requirement("VER-803")
def test_an_owner_from_abroad_proves_who_that_is(platform: Platform, business: Json) -> None:
    """The rest of the packet does not make up for that."""
    platform.packet(business)
    platform.owner(business, personalInfo=platform.canadian())

    demand_errors(platform, business)


def demand_errors(platform: Platform, business: Json) -> None:
    """Assert that a business is not taken in for review as it is."""
    __tracebackhide__ = True
    answer = platform.submit(business)
    assert answer.accepted, answer
    assert answer.body.get("verificationStatus") == RESOLVE_ERRORS, answer
