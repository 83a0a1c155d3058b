"""Names and numbers that a sandbox knows, as far as it is told what they decide."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.platform.given.configuration import turn_to_change
from conformance.platform.given.customers import verification_status
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body, arranged_resource
from conformance.scenarios.kit.marks import requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

DECIDED = ("APPROVED", "REJECTED")
SUFFIXES = ("001", "002", "003")
ORDINARY = ("100", "0019")
"""Endings that hold a suffix, but not at the end."""


@pytest.fixture
def paperless(platform: Platform, pytestconfig: pytest.Config) -> Iterator[str]:
    """Return a platformCustomerId whose paperwork is skipped; in the end it is needed again."""
    name = platform.samples.reference()
    with turn_to_change(_reports(pytestconfig)):
        platform.triggers.fire("paperwork.skip", platformCustomerId=name)
        try:
            yield name
        finally:
            platform.triggers.fire("paperwork.require", platformCustomerId=name)


@requirement("VER-150")
def test_a_business_whose_number_ends_in_002_reports_errors_first(platform: Platform) -> None:
    """Another one of which the same is known is accepted."""
    ordinary = platform.verification.reviews.prepared(business=True)
    marked = platform.verification.reviews.prepared(
        business=True, businessInfo=platform.customers.company("002")
    )
    if (
        arranged_resource(platform.verification.reviews.submit(ordinary)).get("verificationStatus")
        != "IN_PROGRESS"
    ):
        raise ResourceMissing("more has to be known of a business than the suite can tell")

    submission = arranged_resource(platform.verification.reviews.submit(marked))

    assert submission["verificationStatus"] == "RESOLVE_ERRORS"


@pytest.mark.parametrize("ending", ORDINARY)
@requirement("VER-151")
def test_a_business_with_another_number_is_approved(platform: Platform, ending: str) -> None:
    """The hosted flow is all that it takes; nobody has to decide."""
    business = platform.verification.reviews.hosted(
        business=True, businessInfo=platform.customers.company(ending)
    )

    seen = verification_status(platform.customers.at_status(business, *DECIDED))

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
    business = platform.verification.reviews.unsubmitted(
        business=True, platformCustomerId=paperless, businessInfo=platform.customers.company(suffix)
    )

    submission = arranged_resource(platform.verification.reviews.submit(business))

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
    answer = platform.api.create_customer(
        platform.customers.body(
            platformCustomerId=paperless,
            region="US",
            nationality="US",
            fullName=f"Beatrix Halloway{suffix}",
            **nothing,
        )
    )
    if not answer.accepted:
        raise ResourceMissing(f"so little is not enough to create a customer: {answer}")

    seen = verification_status(platform.customers.read(arranged_resource(answer)))

    assert seen not in DECIDED


@pytest.mark.parametrize("suffix", SUFFIXES)
@requirement("VER-156")
def test_a_number_decides_nothing_at_creation(platform: Platform, suffix: str) -> None:
    """The submission has to be in."""
    business = platform.customers.applicant(
        business=True, businessInfo=platform.customers.company(suffix)
    )

    seen = verification_status(platform.customers.read(business))

    assert seen == "UNVERIFIED"


@pytest.mark.parametrize("suffix", SUFFIXES)
@requirement("VER-157")
def test_the_name_of_an_owner_decides_nothing_when_it_is_reported(
    platform: Platform, suffix: str
) -> None:
    """The submission has to be in."""
    business = platform.verification.reviews.unsubmitted(business=True)
    platform.verification.owners.owner(business, personalInfo={"lastName": f"Halloway{suffix}"})

    seen = verification_status(platform.customers.read(business))

    assert seen == "UNVERIFIED"


@pytest.mark.parametrize("suffix", SUFFIXES)
@requirement("SBX-001")
def test_the_name_of_an_individual_decides_nothing_at_creation(
    platform: Platform, pytestconfig: pytest.Config, suffix: str
) -> None:
    """Unless the sandbox skips paperwork, the submission has to be in."""
    name = platform.samples.reference()
    with turn_to_change(_reports(pytestconfig)):
        platform.triggers.fire("paperwork.require", platformCustomerId=name)

        individual = platform.customers.applicant(
            platformCustomerId=name, fullName=f"Beatrix Halloway{suffix}"
        )

    assert verification_status(platform.customers.read(individual)) not in DECIDED


@requirement("SBX-002")
def test_another_legal_name_leaves_what_the_sandbox_decided_alone(platform: Platform) -> None:
    """It was approved by the hosted flow, and has a name that would not be."""
    company = platform.customers.company(ORDINARY[0])
    business = _approved_by_itself(platform, company)

    answer = platform.api.update_customer(
        business["id"], {"businessInfo": {**company, "legalName": "Halloway Holdings 002"}}
    )

    if not answer.accepted:
        raise ResourceMissing(f"an approved business is not renamed: {answer}")
    _approved_by_itself(platform, platform.customers.company(ORDINARY[0]))
    assert verification_status(platform.customers.read(business)) == "APPROVED"


@requirement("SBX-003")
def test_the_approval_by_the_sandbox_is_reported(platform: Platform) -> None:
    """As one by a reviewer is."""
    business = _approved_by_itself(platform, platform.customers.company(ORDINARY[0]))

    seen = platform.webhooks.wait_for("CUSTOMER.KYB_APPROVED", business["id"])

    assert seen is not None, f"no CUSTOMER.KYB_APPROVED for {business['id']}"


@requirement("SBX-004")
def test_a_business_whose_number_ends_in_002_is_not_decided_at_first(platform: Platform) -> None:
    """What it reports first has to be resolved."""
    business = platform.verification.reviews.prepared(
        business=True, businessInfo=platform.customers.company("002")
    )

    arranged_body(platform.verification.reviews.submit(business))

    assert verification_status(platform.customers.read(business)) not in DECIDED


@requirement("SBX-005")
def test_a_business_whose_number_ends_in_002_is_taken_later(platform: Platform) -> None:
    """Errors come first, and a submission with what they ask for after them."""
    business = platform.verification.reviews.prepared(
        business=True, businessInfo=platform.customers.company("002")
    )
    first = arranged_resource(platform.verification.reviews.submit(business))
    if first.get("verificationStatus") != "RESOLVE_ERRORS":
        raise PreconditionFailed(f"it reports no errors first: {first}")
    vain = ""
    try:
        platform.verification.reviews.supply(business, first)
    except PreconditionFailed as error:
        # It may ask, once, for what it has.
        vain = str(error)

    later = arranged_resource(platform.verification.reviews.submit(business))

    if vain and later["verificationStatus"] == "RESOLVE_ERRORS":
        raise ResourceMissing(f"the suite does not know what would be enough: {vain}")
    assert later["verificationStatus"] != "RESOLVE_ERRORS", later


def _reports(config: pytest.Config) -> Path:
    """Return the folder in which the processes of a run wait for each other."""
    folder: Path = config.rootpath / config.getoption("report_dir")
    return folder


def _approved_by_itself(platform: Platform, company: Json) -> Resource:
    """Return a business that the sandbox approved once it had completed the hosted flow."""
    business = platform.verification.reviews.hosted(business=True, businessInfo=company)
    seen = verification_status(platform.customers.at_status(business, *DECIDED))
    if seen != "APPROVED":
        raise PreconditionFailed(f"after the hosted flow the business is at {seen}")
    return business
