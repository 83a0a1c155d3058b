"""Webhooks about the verification of customers: what is reported, how, and what is not."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from conformance.exchange.delivery import Delivery
from conformance.platform.given.customers import verification_status
from conformance.platform.given.verification import DECISIONS, UNDECIDED, Road
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, arranged_body, require_member
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import FAMILIES
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

"""How the events of individuals and of businesses begin."""

TYPES = {False: "INDIVIDUAL", True: "BUSINESS"}
STATUS = {False: "kycStatus", True: "kybStatus"}
DECIDED = ("APPROVED", "REJECTED")


# --- What is reported -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "business"),
    [
        pytest.param("directly", False, marks=requirement("EVT-060"), id="individual-directly"),
        pytest.param("hosted", False, marks=requirement("EVT-063"), id="individual-hosted"),
        pytest.param("directly", True, marks=requirement("EVT-066"), id="business-directly"),
        pytest.param("hosted", True, marks=requirement("EVT-069"), id="business-hosted"),
    ],
)
def test_the_beginning_of_a_review_is_reported(
    platform: Platform, path: Road, business: bool
) -> None:
    """Whichever way the customer came to it."""
    customer = platform.verification.reviews.onboarded(path, business=business)

    assert _event(platform, customer, business, "PENDING") is not None


@pytest.mark.parametrize(
    ("path", "business", "fate"),
    [
        pytest.param(path, business, fate, marks=requirement(name), id=f"{name}-{path}")
        for name, path, business, fate in (
            ("EVT-061", "directly", False, "customer.approve"),
            ("EVT-062", "directly", False, "customer.reject"),
            ("EVT-064", "hosted", False, "customer.approve"),
            ("EVT-065", "hosted", False, "customer.reject"),
            ("EVT-067", "directly", True, "customer.approve"),
            ("EVT-068", "directly", True, "customer.reject"),
            ("EVT-070", "hosted", True, "customer.approve"),
            ("EVT-071", "hosted", True, "customer.reject"),
        )
    ],
)
def test_the_decision_of_a_review_is_reported(
    platform: Platform, path: Road, business: bool, fate: str
) -> None:
    """Whichever way the customer came to it."""
    undecided = business and fate == "customer.reject"
    more = {"businessInfo": platform.customers.company(UNDECIDED)} if undecided else {}

    customer = platform.verification.reviews.onboarded(
        path, business=business, trigger=fate, **more
    )

    assert _event(platform, customer, business, DECISIONS[fate]) is not None


@requirement("EVT-105")
def test_a_submission_that_was_repaired_is_reported(platform: Platform) -> None:
    """The one before it had begun no review."""
    number = {"idType": "SSN", "identifier": platform.samples.social_security_number()}
    individual = platform.verification.reviews.incomplete()
    platform.verification.reviews.unresolved(individual)
    platform.customers.change(individual, **number)

    platform.verification.reviews.submission(individual)

    assert _event(platform, individual, False, "PENDING") is not None


# --- How it is reported ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("business", "names"),
    [
        pytest.param(
            False,
            ("EVT-072", "EVT-074", "EVT-082"),
            marks=requirement("EVT-072", "EVT-074", "EVT-076", "EVT-078", "EVT-082"),
            id="individual",
        ),
        pytest.param(
            True,
            ("EVT-073", "EVT-075", "EVT-083"),
            marks=requirement("EVT-073", "EVT-075", "EVT-077", "EVT-079", "EVT-083"),
            id="business",
        ),
    ],
)
def test_an_approval_is_reported_with_the_customer(
    platform: Platform, check: Check, business: bool, names: tuple[str, str, str]
) -> None:
    """Whatever names the customer is one; the status that it shows is judged on arrival."""
    whole, same, typed = names
    customer = platform.verification.reviews.submitted(
        business=business, trigger="customer.approve"
    )
    _decided(platform, customer, "APPROVED")

    data = [one.data for one in _told(platform, customer, business, "PENDING", "APPROVED")]

    with check(same):
        assert {_member(one, "id") for one in data} == {customer["id"]}
    with check(whole):
        for one in data:
            assert str(_member(one, "id")).startswith("Customer:"), one
            assert isinstance(_member(one, STATUS[business]), str), one
    with check(typed):
        assert {require_member(one, "customerType") for one in data} == {TYPES[business]}


@pytest.mark.parametrize(
    ("business", "shown", "alone"),
    [
        pytest.param(
            False,
            "EVT-080",
            "EVT-092",
            marks=requirement("EVT-080", "EVT-092"),
            id="individual",
        ),
        pytest.param(
            True, "EVT-081", "EVT-093", marks=requirement("EVT-081", "EVT-093"), id="business"
        ),
    ],
)
def test_a_rejection_is_reported_with_the_customer(
    platform: Platform, check: Check, business: bool, shown: str, alone: str
) -> None:
    """It is at REJECTED, and was never reported as approved."""
    customer = platform.verification.reviews.submitted(business=business, trigger="customer.reject")
    _decided(platform, customer, "REJECTED")

    told = _told(platform, customer, business, "REJECTED")
    _something_else_is_reported(platform)

    with check(shown):
        rejections = [one.data for one in told if one.type == f"{FAMILIES[business]}REJECTED"]
        assert {_member(one, STATUS[business]) for one in rejections} == {"REJECTED"}
    with check(alone):
        assert f"{FAMILIES[business]}APPROVED" not in _kinds(platform, customer)


@pytest.mark.parametrize(
    ("business", "names"),
    [
        pytest.param(business, names, marks=requirement(*names), id=kind)
        for business, kind, names in (
            (False, "individual", ("EVT-084", "EVT-086", "EVT-090", "EVT-094")),
            (True, "business", ("EVT-085", "EVT-087", "EVT-091", "EVT-095")),
        )
    ],
)
def test_each_step_of_a_review_is_reported_once(
    platform: Platform, check: Check, business: bool, names: tuple[str, str, str, str]
) -> None:
    """Under one id, and as one of the customer's type alone."""
    begun, approved, rejected, other = names
    customer = platform.verification.reviews.submitted(
        business=business, trigger="customer.approve"
    )
    _decided(platform, customer, "APPROVED")
    for status in ("PENDING", "APPROVED"):
        _needed(platform, customer, business, status)

    _something_else_is_reported(platform)

    for name, status in {begun: "PENDING", approved: "APPROVED"}.items():
        with check(name):
            assert len(_ids(platform, customer, f"{FAMILIES[business]}{status}")) == 1
    with check(rejected):
        assert f"{FAMILIES[business]}REJECTED" not in _kinds(platform, customer)
    with check(other):
        assert not [
            kind for kind in _kinds(platform, customer) if kind.startswith(FAMILIES[not business])
        ]


# --- What is not reported -------------------------------------------------------------------


@pytest.mark.parametrize(
    "business",
    [
        pytest.param(False, marks=requirement("EVT-088"), id="individual"),
        pytest.param(True, marks=requirement("EVT-089"), id="business"),
    ],
)
def test_no_decision_is_reported_before_it_is_made(platform: Platform, business: bool) -> None:
    """Only that the review has begun."""
    customer = platform.verification.reviews.submitted(business=business)
    _needed(platform, customer, business, "PENDING")
    _something_else_is_reported(platform)

    told = _kinds(platform, customer).intersection(_decisions(business))

    if told:
        # The sandbox may have decided by itself, and shows it a moment later.
        platform.verification.reviews.in_review(
            platform.customers.at_status(customer, "APPROVED", "REJECTED")
        )
    assert not told


@pytest.mark.parametrize(
    "business",
    [
        pytest.param(False, marks=requirement("EVT-096"), id="individual"),
        pytest.param(True, marks=requirement("EVT-097"), id="business"),
    ],
)
def test_a_submission_with_errors_is_not_reported(platform: Platform, business: bool) -> None:
    """The number of an individual is missing, the owners of a business."""
    customer = platform.verification.reviews.incomplete(business=business)
    platform.verification.reviews.unresolved(customer)

    _something_else_is_reported(platform)

    assert f"{FAMILIES[business]}PENDING" not in _kinds(platform, customer)


@pytest.mark.parametrize(
    "business",
    [
        pytest.param(False, marks=requirement("EVT-098"), id="individual"),
        pytest.param(True, marks=requirement("EVT-099"), id="business"),
    ],
)
def test_a_customer_who_is_not_submitted_is_not_reported(
    platform: Platform, business: bool
) -> None:
    """What is known of it may be complete."""
    customer = platform.verification.reviews.prepared(business=business)

    _something_else_is_reported(platform)

    reviews = {f"{FAMILIES[business]}PENDING", *_decisions(business)}
    assert not _kinds(platform, customer) & reviews


@pytest.mark.parametrize(
    "business",
    [
        pytest.param(False, marks=requirement("EVT-100"), id="individual"),
        pytest.param(True, marks=requirement("EVT-101"), id="business"),
    ],
)
def test_a_hold_is_not_reported_as_a_decision(platform: Platform, business: bool) -> None:
    """More may be asked for, and then it is decided."""
    customer = platform.verification.reviews.submitted(business=business, trigger="customer.hold")
    _decided(platform, customer, "HOLD")

    _something_else_is_reported(platform)

    assert not _kinds(platform, customer).intersection(_decisions(business))


@requirement("EVT-102")
def test_a_link_that_nobody_follows_is_not_reported(platform: Platform) -> None:
    """No review has begun."""
    individual = platform.verification.reviews.unsubmitted()
    arranged_body(platform.verification.links.create(individual))

    _something_else_is_reported(platform)

    assert "CUSTOMER.KYC_PENDING" not in _kinds(platform, individual)


@pytest.mark.parametrize(
    "fate",
    [
        pytest.param("customer.approve", marks=requirement("EVT-103"), id="approved"),
        pytest.param("customer.reject", marks=requirement("EVT-104"), id="rejected"),
    ],
)
def test_another_name_is_not_reported_as_a_decision(platform: Platform, fate: str) -> None:
    """The one that was made stays the only one."""
    individual = platform.verification.reviews.submitted(trigger=fate)
    _decided(platform, individual, DECISIONS[fate])
    decision = _needed(platform, individual, False, DECISIONS[fate])

    answer = platform.api.update_customer(individual["id"], {"fullName": "Beatrix Halloway002"})

    if not answer.accepted:
        raise ResourceMissing(f"a decided customer cannot be renamed: {answer}")
    _something_else_is_reported(platform)
    decisions = [
        one for one in platform.webhooks.about(individual["id"]) if one.type in _decisions(False)
    ]
    assert {(one.type, one.id) for one in decisions} == {(decision.type, decision.id)}


def _event(platform: Platform, customer: Resource, business: bool, status: str) -> Delivery | None:
    return platform.webhooks.wait_for(f"{FAMILIES[business]}{status}", customer["id"])


def _needed(platform: Platform, customer: Resource, business: bool, status: str) -> Delivery:
    """Return an event that a check builds on."""
    event = _event(platform, customer, business, status)
    if event is None:
        raise PreconditionFailed(f"no {FAMILIES[business]}{status} came for {customer['id']}")
    return event


def _told(platform: Platform, customer: Resource, business: bool, *statuses: str) -> list[Delivery]:
    """Return the events of a family that name a customer anywhere, once those of statuses came."""
    wanted = {f"{FAMILIES[business]}{status}" for status in statuses}

    def named() -> list[Delivery]:
        told = platform.webhooks.mentioning(customer["id"])
        return [one for one in told if str(one.type).startswith(FAMILIES[business])]

    told = platform.until(named, lambda seen: wanted <= {str(one.type) for one in seen})
    missing = wanted - {str(one.type) for one in told}
    if missing:
        raise PreconditionFailed(f"no {' and '.join(missing)} came that names {customer['id']}")
    return told


def _decided(platform: Platform, customer: Resource, status: str) -> None:
    """Wait until a review has come to a status that a check builds on."""
    seen = verification_status(platform.customers.at_status(customer, status))
    if seen != status:
        raise PreconditionFailed(f"the review left {customer['id']} at {seen}")


def _something_else_is_reported(platform: Platform) -> None:
    """Let the review of another customer be reported, and with it all that came before."""
    _needed(platform, platform.verification.reviews.submitted(), False, "PENDING")


def _decisions(business: bool) -> set[str]:
    return {f"{FAMILIES[business]}{status}" for status in DECIDED}


def _kinds(platform: Platform, customer: Resource) -> set[str]:
    return {str(one.type) for one in platform.webhooks.about(customer["id"])}


def _ids(platform: Platform, customer: Resource, kind: str) -> set[str | None]:
    return {one.id for one in platform.webhooks.about(customer["id"]) if one.type == kind}


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None
