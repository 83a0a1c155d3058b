"""Names and numbers with sandbox suffixes, as far as the specification says what they decide."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from conformance.platform.given.customers import verification_status
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body, arranged_resource
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

FINAL_STATUSES = ("APPROVED", "REJECTED")
SUFFIXES = ("001", "002", "003")
ORDINARY_ENDINGS = ("100", "0029", "0019", "0039", "101", "202", "303", "-B")
"""Endings of a number, some of which contain a suffix before the end, or end as one does."""


@pytest.fixture
def id_without_paperwork(platform: Platform, pytestconfig: pytest.Config) -> Iterator[str]:
    """Return a ``platformCustomerId`` whose paperwork is skipped; require it again at the end."""
    name = platform.samples.reference()
    with platform.configuration.turn(_report_folder(pytestconfig)):
        platform.triggers.fire("paperwork.skip", platformCustomerId=name)
        try:
            yield name
        finally:
            platform.triggers.fire("paperwork.require", platformCustomerId=name)


@requirement("VER-150")
@pytest.mark.parametrize("by_change", [False, True], ids=["created-so", "changed-so"])
def test_a_business_whose_number_ends_in_002_reports_errors_first(
    platform: Platform, *, by_change: bool
) -> None:
    """The first submission is RESOLVE_ERRORS, while that of a like business is IN_PROGRESS.

    It does not matter whether the business was created with the number or got it by an update, nor
    whether the number of the other one has 002 before its end.
    """
    ordinary, near = (
        platform.verification.reviews.prepared(
            business=True, businessInfo=platform.customers.company(ending)
        )
        for ending in ORDINARY_ENDINGS[:2]
    )
    company = platform.customers.company("002")
    if by_change:
        marked = platform.verification.reviews.prepared(business=True)
        _change_company(platform, marked, company)
    else:
        marked = platform.verification.reviews.prepared(business=True, businessInfo=company)
    if (
        arranged_resource(platform.verification.reviews.submit(ordinary)).get("verificationStatus")
        != "IN_PROGRESS"
    ):
        raise ResourceMissing("more has to be known of a business than the suite can tell")

    submission, near_submission = (
        arranged_resource(platform.verification.reviews.submit(one)) for one in (marked, near)
    )

    assert submission["verificationStatus"] == "RESOLVE_ERRORS"
    assert near_submission["verificationStatus"] == "IN_PROGRESS"


@pytest.mark.parametrize("ending", ORDINARY_ENDINGS)
@requirement("VER-151")
def test_a_business_with_another_number_is_approved(platform: Platform, ending: str) -> None:
    """The business is APPROVED after the hosted flow, without a decision by a reviewer."""
    business = platform.verification.reviews.hosted(
        business=True, businessInfo=platform.customers.company(ending)
    )

    status = verification_status(platform.customers.at_status(business, *FINAL_STATUSES))

    assert status == "APPROVED"


@requirement("VER-151")
def test_the_number_of_a_business_may_follow(platform: Platform) -> None:
    """A business whose number ended in 001 until an update is APPROVED after the hosted flow."""
    business = platform.verification.reviews.unsubmitted(
        business=True, businessInfo=platform.customers.company("001")
    )
    _change_company(platform, business, platform.customers.company(ORDINARY_ENDINGS[0]))

    platform.verification.links.complete_flow(business)

    status = verification_status(platform.customers.at_status(business, *FINAL_STATUSES))
    assert status == "APPROVED"


@pytest.mark.parametrize(
    "suffix",
    [
        case("VER-152", "001", "001"),
        case("VER-153", "003", "003"),
    ],
)
def test_a_marked_business_needs_its_packet_without_paperwork_too(
    platform: Platform, id_without_paperwork: str, suffix: str
) -> None:
    """A business without owners and documents is answered with RESOLVE_ERRORS."""
    business = platform.verification.reviews.unsubmitted(
        business=True,
        platformCustomerId=id_without_paperwork,
        businessInfo=platform.customers.company(suffix),
    )

    submission = arranged_resource(platform.verification.reviews.submit(business))

    assert submission["verificationStatus"] == "RESOLVE_ERRORS"


@pytest.mark.parametrize(
    "suffix",
    [
        case("VER-154", "001", "001"),
        case("VER-155", "003", "003"),
    ],
)
def test_a_marked_individual_is_not_decided_without_a_packet(
    platform: Platform, id_without_paperwork: str, suffix: str
) -> None:
    """A US individual without a number and an address is neither APPROVED nor REJECTED."""
    missing_members = dict.fromkeys(("birthDate", "address", "idType", "identifier"))
    answer = platform.api.create_customer(
        platform.customers.body(
            platformCustomerId=id_without_paperwork,
            region="US",
            nationality="US",
            fullName=f"Beatrix Halloway{suffix}",
            **missing_members,
        )
    )
    if not answer.accepted:
        raise ResourceMissing(f"so little is not enough to create a customer: {answer}")

    status = verification_status(platform.customers.read(arranged_resource(answer)))

    assert status not in FINAL_STATUSES


@pytest.mark.parametrize("suffix", SUFFIXES)
@requirement("VER-156")
def test_a_number_decides_nothing_at_creation(platform: Platform, suffix: str) -> None:
    """A business with the suffix that was not submitted is UNVERIFIED."""
    business = platform.customers.applicant(
        business=True, businessInfo=platform.customers.company(suffix)
    )

    status = verification_status(platform.customers.read(business))

    assert status == "UNVERIFIED"


@pytest.mark.parametrize("suffix", SUFFIXES)
@requirement("VER-164")
def test_a_number_decides_nothing_at_creation_without_paperwork_either(
    platform: Platform, id_without_paperwork: str, suffix: str
) -> None:
    """A business with the suffix that was not submitted is neither APPROVED nor REJECTED."""
    business = platform.customers.applicant(
        business=True,
        platformCustomerId=id_without_paperwork,
        businessInfo=platform.customers.company(suffix),
    )

    status = verification_status(platform.customers.read(business))

    assert status not in FINAL_STATUSES


@pytest.mark.parametrize("suffix", SUFFIXES)
@requirement("VER-157")
def test_the_name_of_an_owner_decides_nothing_when_it_is_reported(
    platform: Platform, suffix: str
) -> None:
    """A business with such an owner that was not submitted is UNVERIFIED."""
    business = platform.verification.reviews.unsubmitted(business=True)
    platform.verification.owners.owner(business, personalInfo={"lastName": f"Halloway{suffix}"})

    status = verification_status(platform.customers.read(business))

    assert status == "UNVERIFIED"


@pytest.mark.parametrize("suffix", SUFFIXES)
@requirement("SBX-001")
def test_the_name_of_an_individual_decides_nothing_at_creation(
    platform: Platform, pytestconfig: pytest.Config, suffix: str
) -> None:
    """An individual whose paperwork is not skipped is neither APPROVED nor REJECTED."""
    name = platform.samples.reference()
    with platform.configuration.turn(_report_folder(pytestconfig)):
        platform.triggers.fire("paperwork.require", platformCustomerId=name)

        individual = platform.customers.applicant(
            platformCustomerId=name, fullName=f"Beatrix Halloway{suffix}"
        )

    assert verification_status(platform.customers.read(individual)) not in FINAL_STATUSES


@requirement("SBX-002")
def test_another_legal_name_leaves_what_the_sandbox_decided_alone(platform: Platform) -> None:
    """A business that the hosted flow approved stays APPROVED with a name that ends in 002."""
    company = platform.customers.company(ORDINARY_ENDINGS[0])
    business = _sandbox_approved_business(platform, company)

    answer = platform.api.update_customer(
        business["id"], {"businessInfo": {**company, "legalName": "Halloway Holdings 002"}}
    )

    if not answer.accepted:
        raise ResourceMissing(f"an approved business is not renamed: {answer}")
    _sandbox_approved_business(platform, platform.customers.company(ORDINARY_ENDINGS[0]))
    assert verification_status(platform.customers.read(business)) == "APPROVED"


@requirement("SBX-003")
def test_the_approval_by_the_sandbox_is_reported(platform: Platform) -> None:
    """A CUSTOMER.KYB_APPROVED event reports the approval after the hosted flow."""
    business = _sandbox_approved_business(platform, platform.customers.company(ORDINARY_ENDINGS[0]))

    event = platform.webhooks.wait_for("CUSTOMER.KYB_APPROVED", business["id"])

    assert event is not None, f"no CUSTOMER.KYB_APPROVED for {business['id']}"


@requirement("SBX-004")
def test_a_business_whose_number_ends_in_002_is_not_decided_at_first(platform: Platform) -> None:
    """After its first submission the business is neither APPROVED nor REJECTED."""
    business = platform.verification.reviews.prepared(
        business=True, businessInfo=platform.customers.company("002")
    )

    arranged_body(platform.verification.reviews.submit(business))

    assert verification_status(platform.customers.read(business)) not in FINAL_STATUSES


@requirement("SBX-005")
def test_a_business_whose_number_ends_in_002_is_taken_later(platform: Platform) -> None:
    """A second submission, with what the first one asked for, is not RESOLVE_ERRORS."""
    business = platform.verification.reviews.prepared(
        business=True, businessInfo=platform.customers.company("002")
    )
    first = arranged_resource(platform.verification.reviews.submit(business))
    if first.get("verificationStatus") != "RESOLVE_ERRORS":
        raise PreconditionFailed(f"it reports no errors first: {first}")
    supply_error = ""
    try:
        platform.verification.reviews.supply(business, first)
    except (PreconditionFailed, ResourceMissing) as error:
        # The target may ask for what the business has already, or names nothing to hand in.
        supply_error = str(error)

    later = arranged_resource(platform.verification.reviews.submit(business))

    if supply_error and later["verificationStatus"] == "RESOLVE_ERRORS":
        raise ResourceMissing(f"the suite does not know what would be enough: {supply_error}")
    assert later["verificationStatus"] != "RESOLVE_ERRORS", later


def _change_company(platform: Platform, business: Resource, company: Json) -> None:
    """Change the businessInfo of a business.

    Raises:
        ResourceMissing: the number of a business is not changed.
    """
    answer = platform.api.update_customer(business["id"], {"businessInfo": company})
    if not answer.accepted:
        raise ResourceMissing(f"the number of a business stays as it is: {answer}")


def _report_folder(config: pytest.Config) -> Path:
    """Return the folder in which the processes of a run wait for each other."""
    folder: Path = config.rootpath / config.getoption("report_dir")
    return folder


def _sandbox_approved_business(platform: Platform, company: Json) -> Resource:
    """Return a business that the sandbox approved after the hosted flow.

    Raises:
        PreconditionFailed: the business is not APPROVED.
    """
    business = platform.verification.reviews.hosted(business=True, businessInfo=company)
    status = verification_status(platform.customers.at_status(business, *FINAL_STATUSES))
    if status != "APPROVED":
        raise PreconditionFailed(f"after the hosted flow the business is at {status}")
    return business
