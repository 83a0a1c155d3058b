"""The verification of customers: how it begins, how it is decided, and what leaves it alone."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.platform.given.customers import verification_status
from conformance.platform.given.verification import DECISIONS, REVIEWED, UNDECIDED, Road
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, arranged_body
from conformance.scenarios.kit.marks import requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

SANDBOX_SUFFIXES = ("001", "002", "003")


# --- How it begins --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "business"),
    [
        pytest.param("directly", False, marks=requirement("VER-110"), id="individual-directly"),
        pytest.param("directly", True, marks=requirement("VER-111"), id="business-directly"),
        pytest.param("hosted", False, marks=requirement("VER-112"), id="individual-hosted"),
        pytest.param("hosted", True, marks=requirement("VER-113"), id="business-hosted"),
    ],
)
def test_a_review_begins(platform: Platform, path: Road, business: bool) -> None:
    """The customer is PENDING then, unless the sandbox has decided already."""
    customer = platform.verification.reviews.onboarded(path, business=business)

    seen = verification_status(platform.customers.at_status(customer, *REVIEWED))

    platform.observe(f"the status after a submission: {seen}")
    assert seen in REVIEWED


@pytest.mark.parametrize(
    "business",
    [
        pytest.param(False, marks=requirement("VER-125"), id="individual"),
        pytest.param(True, marks=requirement("VER-126"), id="business"),
    ],
)
def test_no_review_begins_while_something_is_missing(platform: Platform, business: bool) -> None:
    """The number of an individual, the owners of a business."""
    customer = platform.verification.reviews.incomplete(business=business)
    platform.verification.reviews.unresolved(customer)

    _something_else_happens(platform)

    assert verification_status(platform.customers.read(customer)) == "UNVERIFIED"


@requirement("VER-127")
def test_a_link_that_nobody_follows_begins_no_review(platform: Platform) -> None:
    """The flow has to be completed."""
    individual = platform.verification.reviews.unsubmitted()
    arranged_body(platform.verification.links.create(individual))

    seen = verification_status(platform.customers.read(individual))

    assert seen == "UNVERIFIED"


@requirement("VER-128")
def test_owners_and_documents_alone_begin_no_review(platform: Platform) -> None:
    """They are brought for a submission that comes later."""
    business = platform.verification.reviews.prepared(business=True)

    seen = verification_status(platform.customers.read(business))

    assert seen == "UNVERIFIED"


# --- How it is decided ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "business", "fate"),
    [
        pytest.param(path, business, fate, marks=requirement(name), id=f"{name}-{path}")
        for name, path, business, fate in (
            ("VER-115", "directly", False, "customer.approve"),
            ("VER-116", "directly", False, "customer.reject"),
            ("VER-117", "directly", True, "customer.approve"),
            ("VER-118", "directly", True, "customer.reject"),
            ("VER-119", "hosted", False, "customer.approve"),
            ("VER-120", "hosted", False, "customer.reject"),
            ("VER-121", "hosted", True, "customer.approve"),
            ("VER-122", "hosted", True, "customer.reject"),
        )
    ],
)
def test_a_review_is_decided(platform: Platform, path: Road, business: bool, fate: str) -> None:
    """Whichever way the customer came to it."""
    undecided = business and fate == "customer.reject"
    more = {"businessInfo": platform.customers.company(UNDECIDED)} if undecided else {}
    customer = platform.verification.reviews.onboarded(
        path, business=business, trigger=fate, **more
    )

    seen = verification_status(platform.customers.at_status(customer, DECISIONS[fate]))

    assert seen == DECISIONS[fate]


# --- What leaves it alone -------------------------------------------------------------------


@pytest.mark.parametrize(
    "fate",
    [
        pytest.param("customer.approve", marks=requirement("VER-140"), id="approved"),
        pytest.param("customer.reject", marks=requirement("VER-143"), id="rejected"),
    ],
)
def test_another_name_leaves_the_decision_alone(platform: Platform, fate: str) -> None:
    """The individual keeps the name from then on, and the status that it had."""
    individual = _settled(platform, fate)

    _renamed(platform, individual, fullName="Beatrix Halloway")

    assert verification_status(platform.customers.read(individual)) == DECISIONS[fate]


@pytest.mark.parametrize("suffix", SANDBOX_SUFFIXES)
@pytest.mark.parametrize(
    "fate",
    [
        pytest.param("customer.approve", marks=requirement("VER-141"), id="approved"),
        pytest.param("customer.reject", marks=requirement("VER-144"), id="rejected"),
    ],
)
def test_a_sandbox_name_leaves_the_decision_alone(
    platform: Platform, fate: str, suffix: str
) -> None:
    """It would have decided before, and comes too late."""
    individual = _settled(platform, fate)

    _renamed(platform, individual, fullName=f"Beatrix Halloway{suffix}")

    assert verification_status(platform.customers.read(individual)) == DECISIONS[fate]


@pytest.mark.parametrize(
    "fate",
    [
        pytest.param("customer.approve", marks=requirement("VER-142"), id="approved"),
        pytest.param("customer.reject", marks=requirement("VER-145"), id="rejected"),
    ],
)
def test_another_legal_name_leaves_the_decision_alone(platform: Platform, fate: str) -> None:
    """The rest of the business is sent along, as it may be replaced as a whole."""
    company = platform.customers.business_body()["businessInfo"]
    business = _settled(platform, fate, business=True, businessInfo=company)

    _renamed(platform, business, businessInfo={**company, "legalName": "Halloway Holdings LLC"})

    assert verification_status(platform.customers.read(business)) == DECISIONS[fate]


def _settled(platform: Platform, fate: str, **more: Any) -> Resource:
    """Return a customer whose review is decided."""
    customer = platform.customers.at_status(
        platform.verification.reviews.submitted(trigger=fate, **more), DECISIONS[fate]
    )
    if verification_status(customer) != DECISIONS[fate]:
        raise PreconditionFailed(f"the review left the customer at {verification_status(customer)}")
    return customer


def _renamed(platform: Platform, customer: Resource, **name: Any) -> None:
    """Rename a customer, and let the target do something else after it."""
    answer = platform.api.update_customer(customer["id"], name)
    if not answer.accepted:
        raise ResourceMissing(f"such a customer cannot be renamed so: {answer}")
    _something_else_happens(platform)


def _something_else_happens(platform: Platform) -> None:
    """Let another customer come to its review, so that what was under way is done."""
    platform.customers.at_status(platform.verification.reviews.submitted(), *REVIEWED)
