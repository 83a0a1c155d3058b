"""The verification of customers: how it begins, how it is decided, and what leaves it alone."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.client.actor import Json
from conformance.client.onboarding import standing
from conformance.client.platform import Platform
from conformance.client.reviews import FATES, REVIEWED, UNDECIDED, Path
from conformance.scenarios.marks import requirement
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
def test_a_review_begins(platform: Platform, path: Path, business: bool) -> None:
    """The customer is PENDING then, unless the sandbox has decided already."""
    customer = platform.onboarded(path, business=business)

    seen = standing(platform.customer_in(customer, *REVIEWED))

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
    customer = platform.incomplete(business=business)
    platform.unresolved(customer)

    _something_else_happens(platform)

    assert standing(platform.customer_now(customer)) == "UNVERIFIED"


@requirement("VER-127")
def test_a_link_that_nobody_follows_begins_no_review(platform: Platform) -> None:
    """The flow has to be completed."""
    individual = platform.unsubmitted()
    platform.arranged(platform.create_kyc_link(individual))

    seen = standing(platform.customer_now(individual))

    assert seen == "UNVERIFIED"


@requirement("VER-128")
def test_owners_and_documents_alone_begin_no_review(platform: Platform) -> None:
    """They are brought for a submission that comes later."""
    business = platform.prepared(business=True)

    seen = standing(platform.customer_now(business))

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
def test_a_review_is_decided(platform: Platform, path: Path, business: bool, fate: str) -> None:
    """Whichever way the customer came to it."""
    undecided = business and fate == "customer.reject"
    more = {"businessInfo": platform.company(UNDECIDED)} if undecided else {}
    customer = platform.onboarded(path, business=business, fate=fate, **more)

    seen = standing(platform.customer_in(customer, FATES[fate]))

    assert seen == FATES[fate]


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

    assert standing(platform.customer_now(individual)) == FATES[fate]


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

    assert standing(platform.customer_now(individual)) == FATES[fate]


@pytest.mark.parametrize(
    "fate",
    [
        pytest.param("customer.approve", marks=requirement("VER-142"), id="approved"),
        pytest.param("customer.reject", marks=requirement("VER-145"), id="rejected"),
    ],
)
def test_another_legal_name_leaves_the_decision_alone(platform: Platform, fate: str) -> None:
    """The rest of the business is sent along, as it may be replaced as a whole."""
    company = platform.business_body()["businessInfo"]
    business = _settled(platform, fate, business=True, businessInfo=company)

    _renamed(platform, business, businessInfo={**company, "legalName": "Halloway Holdings LLC"})

    assert standing(platform.customer_now(business)) == FATES[fate]


def _settled(platform: Platform, fate: str, **more: Any) -> Json:
    """Return a customer whose review is decided."""
    customer = platform.customer_in(platform.submitted(fate=fate, **more), FATES[fate])
    if standing(customer) != FATES[fate]:
        raise PreconditionFailed(f"the review left the customer at {standing(customer)}")
    return customer


def _renamed(platform: Platform, customer: Json, **name: Any) -> None:
    """Rename a customer, and let the target do something else after it."""
    answer = platform.update_customer(customer, name)
    if not answer.accepted:
        raise ResourceMissing(f"such a customer cannot be renamed so: {answer}")
    _something_else_happens(platform)


def _something_else_happens(platform: Platform) -> None:
    """Let another customer come to its review, so that what was under way is done."""
    platform.customer_in(platform.submitted(), *REVIEWED)
