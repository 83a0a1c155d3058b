"""Owners and verification documents that a business needs before its review begins."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, arranged_resource
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import requirement
from conformance.testdata.examples import ABSENT, placed
from conformance.verdict.decisions import ResourceMissing

RESOLVE_ERRORS = "RESOLVE_ERRORS"


@pytest.fixture
def business(platform: Platform) -> Resource:
    """A business without owners and documents, where complete ones are enough for a review.

    Raises:
        ResourceMissing: the suite cannot complete what the target asks for.
    """
    answer = platform.verification.reviews.submit(
        platform.verification.reviews.prepared(business=True)
    )
    if arranged_resource(answer).get("verificationStatus") == RESOLVE_ERRORS:
        raise ResourceMissing("more has to be known of a business than the suite can tell")
    return platform.verification.reviews.unsubmitted(business=True)


@requirement("VER-801")
def test_a_business_tells_who_controls_it(platform: Platform, business: Resource) -> None:
    """A submission with a director as the only owner is answered with RESOLVE_ERRORS.

    A control person whose report was refused does not count.
    """
    owners = platform.verification.owners
    roles = [platform.profile.bindings.control_role]
    if roles == ["DIRECTOR"]:
        raise ResourceMissing("a director controls a business here")
    director = owners.owner(business, roles=["DIRECTOR"], ownershipPercentage=75)
    wrong = owners.body(business, roles=roles, ownershipPercentage=101)
    if (answer := platform.api.create_beneficial_owner(wrong, valid=False)).accepted:
        raise ResourceMissing(f"a share of 101 percent is taken: {answer}")
    platform.verification.documents.prove_address(business)
    platform.verification.reviews.hand_in_papers(business, director)

    expect_errors(platform, business)


@requirement("VER-802")
def test_a_business_proves_its_address(platform: Platform, business: Resource) -> None:
    """A submission without a proof of address is answered with RESOLVE_ERRORS."""
    roles = [platform.profile.bindings.control_role, "DIRECTOR"]
    owner = platform.verification.owners.owner(business, roles=roles, ownershipPercentage=75)
    platform.verification.reviews.hand_in_papers(business, owner)

    expect_errors(platform, business)


@requirement("VER-803")
@pytest.mark.parametrize("beside_another", [False, True], ids=["alone", "beside-another"])
def test_an_owner_from_abroad_proves_who_that_is(
    platform: Platform, business: Resource, *, beside_another: bool
) -> None:
    """A submission with a Canadian owner without documents is answered with RESOLVE_ERRORS.

    That holds where another Canadian owner has handed in all of them, too.
    """
    _complete(platform, business, share=50)
    if beside_another:
        proven = platform.verification.owners.owner(
            business, personalInfo=platform.verification.owners.canadian()
        )
        for kind in ("PASSPORT", "NATIONAL_ID"):
            platform.verification.documents.provide(proven, kind, country="CA")
    platform.verification.owners.owner(
        business, personalInfo=platform.verification.owners.canadian()
    )

    expect_errors(platform, business)


@requirement("VER-806")
def test_an_owner_from_abroad_hands_in_a_second_paper(
    platform: Platform, business: Resource
) -> None:
    """A submission with a Canadian owner's passport alone is answered with RESOLVE_ERRORS.

    With a national id beside it, the same business is taken in for its review.
    """
    _complete(platform, business)
    owner = platform.verification.owners.owner(
        business, personalInfo=platform.verification.owners.canadian()
    )
    platform.verification.documents.document(owner, "PASSPORT", country="CA")

    expect_errors(platform, business)

    platform.verification.documents.provide(owner, "NATIONAL_ID", country="CA")
    require_accepted(platform, business)


@pytest.mark.parametrize(
    "member",
    [
        case("VER-807", "address", "address"),
        case("VER-810", "countries", "businessInfo.countriesOfOperation"),
    ],
)
@pytest.mark.usefixtures("business")
def test_a_business_tells_where_it_is_and_where_it_works(platform: Platform, member: str) -> None:
    """A submission of a business without the member is answered with RESOLVE_ERRORS."""
    body = placed(platform.customers.business_body(), member, ABSENT)
    incomplete = platform.verification.reviews.created(body)
    _complete(platform, incomplete)

    expect_errors(platform, incomplete)


def _complete(platform: Platform, business: Resource, share: int = 75) -> None:
    """Bring all that the review of a business is known to need, with who owns a share of it."""
    reviews = platform.verification.reviews
    reviews.hand_in_papers(business, reviews.prepare_business(business, share))


def require_accepted(platform: Platform, business: Resource) -> None:
    """Raise ``ResourceMissing`` where the submission of a business has errors still."""
    submission = arranged_resource(platform.verification.reviews.submit(business))
    if submission.get("verificationStatus") == RESOLVE_ERRORS:
        raise ResourceMissing(f"more is asked for: {submission.get('errors')}")


def expect_errors(platform: Platform, business: Resource) -> None:
    """Assert that the submission of a business is answered with RESOLVE_ERRORS."""
    __tracebackhide__ = True
    answer = platform.verification.reviews.submit(business)
    answer.expect_accepted()
    assert answer.body.get("verificationStatus") == RESOLVE_ERRORS, answer
