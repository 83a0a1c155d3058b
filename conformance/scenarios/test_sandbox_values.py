"""Names and numbers that a sandbox knows, as far as it is told what they decide."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.client.actor import resource
from conformance.client.configuration import alone
from conformance.client.onboarding import standing
from conformance.client.platform import Platform
from conformance.scenarios.marks import requirement
from conformance.verdict.decisions import ResourceMissing

DECIDED = ("APPROVED", "REJECTED")
SUFFIXES = ("001", "002", "003")
ORDINARY = ("100", "0019")
"""Endings that hold a suffix, but not at the end."""


@pytest.fixture
def paperless(platform: Platform, pytestconfig: pytest.Config) -> Iterator[str]:
    """Return a platformCustomerId whose paperwork is skipped; in the end it is needed again."""
    name = platform.samples.reference()
    with alone(pytestconfig.rootpath / pytestconfig.getoption("report_dir")):
        platform.cause("paperwork.skip", platformCustomerId=name)
        try:
            yield name
        finally:
            platform.cause("paperwork.require", platformCustomerId=name)


@requirement("VER-150")
def test_a_business_whose_number_ends_in_002_reports_errors_first(platform: Platform) -> None:
    """Another one of which the same is known is accepted."""
    ordinary = platform.prepared(business=True)
    marked = platform.prepared(business=True, businessInfo=platform.company("002"))
    if resource(platform.submit(ordinary)).get("verificationStatus") != "IN_PROGRESS":
        raise ResourceMissing("more has to be known of a business than the suite can tell")

    submission = resource(platform.submit(marked))

    assert submission["verificationStatus"] == "RESOLVE_ERRORS"


@pytest.mark.parametrize("ending", ORDINARY)
@requirement("VER-151")
def test_a_business_with_another_number_is_approved(platform: Platform, ending: str) -> None:
    """The hosted flow is all that it takes; nobody has to decide."""
    business = platform.hosted(business=True, businessInfo=platform.company(ending))

    seen = standing(platform.customer_in(business, *DECIDED))

    assert seen == "APPROVED"


@pytest.mark.parametrize(
    "suffix",
    [
        pytest.param("001", marks=requirement("VER-152"), id="001"),
        pytest.param("003", marks=requirement("VER-153"), id="003"),
    ],
)
def test_a_marked_business_needs_its_packet_without_paperwork_too(
    platform: Platform, paperless: str, suffix: str
) -> None:
    """Nobody is reported who owns it, and no document is there."""
    business = platform.unsubmitted(
        business=True, platformCustomerId=paperless, businessInfo=platform.company(suffix)
    )

    submission = resource(platform.submit(business))

    assert submission["verificationStatus"] == "RESOLVE_ERRORS"


@pytest.mark.parametrize(
    "suffix",
    [
        pytest.param("001", marks=requirement("VER-154"), id="001"),
        pytest.param("003", marks=requirement("VER-155"), id="003"),
    ],
)
def test_a_marked_individual_is_not_decided_without_a_packet(
    platform: Platform, paperless: str, suffix: str
) -> None:
    """A US individual without a number, of whom not even the address is known."""
    nothing = dict.fromkeys(("birthDate", "address", "idType", "identifier"))
    answer = platform.create_customer(
        platform.customer_body(
            platformCustomerId=paperless,
            region="US",
            nationality="US",
            fullName=f"Beatrix Halloway{suffix}",
            **nothing,
        )
    )
    if not answer.accepted:
        raise ResourceMissing(f"so little is not enough to create a customer: {answer}")

    seen = standing(platform.customer_now(resource(answer)))

    assert seen not in DECIDED


@pytest.mark.parametrize("suffix", SUFFIXES)
@requirement("VER-156")
def test_a_number_decides_nothing_at_creation(platform: Platform, suffix: str) -> None:
    """The submission has to be in."""
    business = platform.applicant(business=True, businessInfo=platform.company(suffix))

    seen = standing(platform.customer_now(business))

    assert seen == "UNVERIFIED"


@pytest.mark.parametrize("suffix", SUFFIXES)
@requirement("VER-157")
def test_the_name_of_an_owner_decides_nothing_when_it_is_reported(
    platform: Platform, suffix: str
) -> None:
    """The submission has to be in."""
    business = platform.unsubmitted(business=True)
    platform.owner(business, personalInfo={"lastName": f"Halloway{suffix}"})

    seen = standing(platform.customer_now(business))

    assert seen == "UNVERIFIED"
