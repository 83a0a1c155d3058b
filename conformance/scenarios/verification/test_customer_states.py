"""The verification of customers: how it begins, how it is decided, and what does not change it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from conformance.platform.given.customers import verification_status
from conformance.platform.given.verification import DECISIONS, REVIEWED, Road
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, arranged_body, arranged_resource
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import REFUSED
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

SANDBOX_SUFFIXES = ("001", "002", "003")


# --- How it begins --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "business"),
    [
        case("VER-110", "individual-directly", "directly", False),
        case("VER-111", "business-directly", "directly", True),
        case("VER-112", "individual-hosted", "hosted", False),
        case("VER-113", "business-hosted", "hosted", True),
    ],
)
def test_a_review_begins(platform: Platform, path: Road, business: bool) -> None:
    """The status becomes PENDING, or at once the one that the sandbox decides."""
    customer = platform.verification.reviews.onboarded(path, business=business)

    status = verification_status(platform.customers.at_status(customer, *REVIEWED))

    platform.observe(f"the status after a submission: {status}")
    assert status in REVIEWED


@pytest.mark.parametrize(
    "business",
    [case("VER-112", "individual", False), case("VER-113", "business", True)],
)
def test_a_review_begins_after_a_submission_with_errors(
    platform: Platform, *, business: bool
) -> None:
    """Who completes the hosted flow is in review, also after a submission that lacked something."""
    customer = platform.verification.reviews.hosted_after_errors(business=business)

    assert verification_status(platform.customers.at_status(customer, *REVIEWED)) in REVIEWED


@pytest.mark.parametrize(
    "business",
    [
        case("VER-125", "individual", False),
        case("VER-126", "business", True),
    ],
)
def test_no_review_begins_while_something_is_missing(platform: Platform, business: bool) -> None:
    """An individual without a number, or a business without owners, stays UNVERIFIED."""
    customer = platform.verification.reviews.sent_back(business=business)

    _let_another_review_begin(platform)

    assert verification_status(platform.customers.read(customer)) == "UNVERIFIED"


@requirement("VER-127")
def test_a_link_that_nobody_follows_begins_no_review(platform: Platform) -> None:
    """An individual who got a link to the hosted flow is UNVERIFIED."""
    individual = platform.verification.reviews.unsubmitted(business=False)
    arranged_body(platform.verification.links.create(individual))

    status = verification_status(platform.customers.read(individual))

    assert status == "UNVERIFIED"


@requirement("VER-128")
def test_owners_and_documents_alone_begin_no_review(platform: Platform) -> None:
    """A business with owners and documents that was not submitted is UNVERIFIED."""
    business = platform.verification.reviews.prepared(business=True)

    status = verification_status(platform.customers.read(business))

    assert status == "UNVERIFIED"


@pytest.mark.parametrize(
    ("ids", "member", "business"),
    [
        case(("VER-170", "VER-172"), "individual", ("VER-170", "VER-172"), "kycStatus", False),
        case(("VER-171", "VER-173"), "business", ("VER-171", "VER-173"), "kybStatus", True),
    ],
)
def test_a_status_that_is_sent_decides_nothing(
    platform: Platform, check: Check, ids: tuple[str, str], member: str, *, business: bool
) -> None:
    """A status of APPROVED in a creation or an update leaves the customer UNVERIFIED."""
    if platform.triggers.magic("customer.approve") is not None:
        raise ResourceMissing("the profile has customers approved as they are created")
    customer = platform.verification.reviews.unsubmitted(business=business)
    body = platform.customers.business_body() if business else platform.customers.body()
    claim = {member: "APPROVED"}

    created = platform.api.create_customer({**body, **claim}, valid=False)
    updated = platform.api.update_customer(customer["id"], claim, valid=False)

    by_creation, by_update = ids
    with check(by_creation):
        if created.accepted:
            seen = platform.customers.read(arranged_resource(created))
            assert verification_status(seen) == "UNVERIFIED", created
        else:
            again = {**body, "platformCustomerId": platform.samples.own_id()}
            created.refused(*REFUSED, twin=platform.api.create_customer(again))
    with check(by_update):
        assert verification_status(platform.customers.read(customer)) == "UNVERIFIED", updated


# --- How it is decided ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "business", "trigger"),
    [
        case(name, f"{name}-{path}", path, business, trigger)
        for name, path, business, trigger in (
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
def test_a_review_is_decided(platform: Platform, path: Road, business: bool, trigger: str) -> None:
    """The status becomes APPROVED or REJECTED, after a direct and after a hosted onboarding."""
    customer = platform.verification.reviews.onboarded(path, business=business, trigger=trigger)

    status = verification_status(platform.customers.at_status(customer, DECISIONS[trigger]))

    assert status == DECISIONS[trigger]


# --- What does not change it ----------------------------------------------------------------


@pytest.mark.parametrize(
    "trigger",
    [
        case("VER-140", "approved", "customer.approve"),
        case("VER-143", "rejected", "customer.reject"),
    ],
)
def test_another_name_leaves_the_decision_alone(platform: Platform, trigger: str) -> None:
    """An update of ``fullName`` leaves an individual APPROVED or REJECTED."""
    individual = _decided_customer(platform, trigger)

    renamed = _rename(platform, individual, fullName="Beatrix Halloway")

    expect_decided(platform, renamed, DECISIONS[trigger])


@requirement("VER-140")
def test_who_was_renamed_may_still_pay(platform: Platform) -> None:
    """A quote from the account of an individual is created before and after a renaming."""
    source = platform.internal_accounts.account()
    arranged_resource(platform.api.create_quote(platform.quotes.body(source)))

    _rename(platform, source.owner, fullName="Beatrix Halloway")

    platform.api.create_quote(platform.quotes.body(source)).expect_accepted()


@pytest.mark.parametrize("suffix", SANDBOX_SUFFIXES)
@pytest.mark.parametrize(
    "trigger",
    [
        case("VER-141", "approved", "customer.approve"),
        case("VER-144", "rejected", "customer.reject"),
    ],
)
def test_a_sandbox_name_leaves_the_decision_alone(
    platform: Platform, trigger: str, suffix: str
) -> None:
    """A new ``fullName`` with a sandbox suffix leaves an individual APPROVED or REJECTED."""
    individual = _decided_customer(platform, trigger)

    renamed = _rename(platform, individual, fullName=f"Beatrix Halloway{suffix}")

    expect_decided(platform, renamed, DECISIONS[trigger])


@pytest.mark.parametrize(
    "trigger",
    [
        case("VER-142", "approved", "customer.approve"),
        case("VER-145", "rejected", "customer.reject"),
    ],
)
def test_another_legal_name_leaves_the_decision_alone(platform: Platform, trigger: str) -> None:
    """An update of ``legalName``, with the whole ``businessInfo``, leaves a business as decided."""
    company = platform.customers.business_body()["businessInfo"]
    business = _decided_customer(platform, trigger, business=True, businessInfo=company)

    renamed = _rename(
        platform, business, businessInfo={**company, "legalName": "Halloway Holdings LLC"}
    )

    expect_decided(platform, renamed, DECISIONS[trigger])


def expect_decided(platform: Platform, renamed: Resource, decision: str) -> None:
    """Assert that a decision stands, in a reading and in the answer to the renaming."""
    __tracebackhide__ = True
    assert verification_status(platform.customers.read(renamed)) == decision
    assert verification_status(renamed) in (None, decision), renamed


def _decided_customer(platform: Platform, trigger: str, **more: Any) -> Resource:
    """Return a customer whose review is decided.

    Raises:
        PreconditionFailed: the customer does not come to the status.
    """
    customer = platform.customers.at_status(
        platform.verification.reviews.submitted(trigger=trigger, **more), DECISIONS[trigger]
    )
    if verification_status(customer) != DECISIONS[trigger]:
        raise PreconditionFailed(f"the review left the customer at {verification_status(customer)}")
    return customer


def _rename(platform: Platform, customer: Resource, **name: Any) -> Resource:
    """Rename a customer, and wait until another review has begun; return what is answered.

    Raises:
        ResourceMissing: the update is refused.
    """
    answer = platform.api.update_customer(customer["id"], name)
    if not answer.accepted:
        raise ResourceMissing(f"such a customer cannot be renamed so: {answer}")
    _let_another_review_begin(platform)
    body = answer.body if isinstance(answer.body, Mapping) else {}
    return Resource({**body, "id": customer["id"]})


def _let_another_review_begin(platform: Platform) -> None:
    """Let the review of another customer begin, so that earlier work of the target is done."""
    platform.customers.at_status(platform.verification.reviews.submitted(), *REVIEWED)
