"""What has to be known of a business beside its own data before its review begins."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, arranged_resource
from conformance.scenarios.kit.marks import requirement
from conformance.verdict.decisions import ResourceMissing

RESOLVE_ERRORS = "RESOLVE_ERRORS"


@pytest.fixture
def business(platform: Platform) -> Resource:
    """A business of which nothing is told yet, where a whole packet is enough for a review."""
    whole = platform.verification.reviews.submit(
        platform.verification.reviews.prepared(business=True)
    )
    if arranged_resource(whole).get("verificationStatus") == RESOLVE_ERRORS:
        raise ResourceMissing("more has to be known of a business than the suite can tell")
    return platform.verification.reviews.unsubmitted(business=True)


@requirement("VER-801")
def test_a_business_tells_who_controls_it(platform: Platform, business: Resource) -> None:
    """A director who owns most of it need not be that person."""
    platform.verification.owners.owner(business, roles=["DIRECTOR"], ownershipPercentage=75)
    platform.verification.documents.document(business, "UTILITY_BILL")

    expect_errors(platform, business)


@requirement("VER-802")
def test_a_business_proves_its_address(platform: Platform, business: Resource) -> None:
    """Who controls it does not make up for that."""
    roles = [platform.profile.bindings.control_role, "DIRECTOR"]
    platform.verification.owners.owner(business, roles=roles, ownershipPercentage=75)

    expect_errors(platform, business)


@requirement("VER-803")
def test_an_owner_from_abroad_proves_who_that_is(platform: Platform, business: Resource) -> None:
    """The rest of the packet does not make up for that."""
    platform.verification.reviews.prepare_business(business)
    platform.verification.owners.owner(
        business, personalInfo=platform.verification.owners.canadian()
    )

    expect_errors(platform, business)


def expect_errors(platform: Platform, business: Resource) -> None:
    """Assert that a business is not taken in for review as it is."""
    __tracebackhide__ = True
    answer = platform.verification.reviews.submit(business)
    assert answer.accepted, answer
    assert answer.body.get("verificationStatus") == RESOLVE_ERRORS, answer
