"""Webhooks about the verification of customers: what they report, and what they do not."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import pytest

from conformance.exchange.delivery import Delivery
from conformance.platform.given.customers import verification_status
from conformance.platform.given.verification import DECISIONS, Road
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, arranged_body, require_member
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import FAMILIES, arrange_event, expect_event
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

TYPES = {False: "INDIVIDUAL", True: "BUSINESS"}
STATUS = {False: "kycStatus", True: "kybStatus"}
DECIDED = ("APPROVED", "REJECTED")


# --- What is reported -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("road", "business"),
    [
        case("EVT-060", "individual-directly", "directly", False),
        case("EVT-063", "individual-hosted", "hosted", False),
        case("EVT-066", "business-directly", "directly", True),
        case("EVT-069", "business-hosted", "hosted", True),
    ],
)
def test_the_beginning_of_a_review_is_reported(
    platform: Platform, road: Road, business: bool
) -> None:
    """A submitted customer is reported by a PENDING webhook, directly or by the hosted flow."""
    customer = platform.verification.reviews.onboarded(road, business=business)

    expect_event(platform, f"{FAMILIES[business]}PENDING", customer["id"])


@pytest.mark.parametrize(
    "business", [case("EVT-063", "individual", False), case("EVT-069", "business", True)]
)
@pytest.mark.parametrize("way", ["after-errors", "by-an-earlier-link"])
def test_a_review_is_reported_however_the_flow_was_come_to(
    platform: Platform, way: str, *, business: bool
) -> None:
    """The hosted flow is reported after a submission with errors, and by the first of two links."""
    reviews = platform.verification.reviews
    complete = {
        "after-errors": reviews.hosted_after_errors,
        "by-an-earlier-link": reviews.hosted_by_earlier_link,
    }[way]

    customer = complete(business=business)

    expect_event(platform, f"{FAMILIES[business]}PENDING", customer["id"])


@pytest.mark.parametrize(
    ("road", "business", "trigger"),
    [
        case(name, f"{name}-{road}", road, business, trigger)
        for name, road, business, trigger in (
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
    platform: Platform, road: Road, business: bool, trigger: str
) -> None:
    """An approval or a rejection is reported, directly or by the hosted flow."""
    customer = platform.verification.reviews.onboarded(road, business=business, trigger=trigger)

    expect_event(platform, f"{FAMILIES[business]}{DECISIONS[trigger]}", customer["id"])


@requirement("EVT-105")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_a_submission_that_was_repaired_is_reported(platform: Platform, *, business: bool) -> None:
    """A submission after one with errors is reported by a PENDING webhook."""
    customer = platform.verification.reviews.sent_back(business=business)
    if business:
        platform.verification.reviews.prepare_business(customer)
    else:
        number = {"idType": "SSN", "identifier": platform.samples.social_security_number()}
        platform.customers.change(customer, **number)

    platform.verification.reviews.submission(customer)

    expect_event(platform, f"{FAMILIES[business]}PENDING", customer["id"])


# --- How it is reported ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("business", "requirement_ids"),
    [
        case(
            ("EVT-072", "EVT-074", "EVT-076", "EVT-078", "EVT-082", "EVT-372"),
            "individual",
            False,
            ("EVT-072", "EVT-074", "EVT-082", "EVT-372"),
        ),
        case(
            ("EVT-073", "EVT-075", "EVT-077", "EVT-079", "EVT-083", "EVT-373"),
            "business",
            True,
            ("EVT-073", "EVT-075", "EVT-083", "EVT-373"),
        ),
    ],
)
def test_an_approval_is_reported_with_the_customer(
    platform: Platform, check: Check, business: bool, requirement_ids: tuple[str, str, str, str]
) -> None:
    """All webhooks of a review have the customer's id, customerType and status as data.

    The judge checks the status that they show when they arrive.
    """
    whole_id, same_id, type_id, members_id = requirement_ids
    customer = platform.verification.reviews.submitted(
        business=business, trigger="customer.approve"
    )
    _arrange_status(platform, customer, "APPROVED")

    data = [
        each.data for each in _arrange_events(platform, customer, business, "PENDING", "APPROVED")
    ]

    with check(same_id):
        assert {_member(each, "id") for each in data} == {customer["id"]}
    with check(whole_id):
        for each in data:
            assert str(_member(each, "id")).startswith("Customer:"), each
            assert each.keys() - {"id"}, f"the data is an id alone: {each}"
    with check(type_id):
        assert {require_member(each, "customerType") for each in data} == {TYPES[business]}
    with check(members_id):
        of_review = {"customerType", "kybStatus" if business else "kycStatus"}
        shown = of_review & platform.customers.read(customer).keys()
        if not shown:
            raise ResourceMissing("the customer shows neither its type nor its status")
        for each in data:
            assert shown <= each.keys(), each


@pytest.mark.parametrize(
    "business",
    [
        case("EVT-074", "individual", False),
        case("EVT-075", "business", True),
    ],
)
def test_a_review_is_reported_of_nobody_who_has_the_same_name(
    platform: Platform, business: bool
) -> None:
    """No webhook of a review names an older customer with the same platformCustomerId."""
    reviews = platform.verification.reviews
    older, customer = platform.customers.namesakes(
        partial(reviews.unsubmitted, business=business),
        partial(reviews.submitted, business=business, trigger="customer.approve"),
    )
    _arrange_status(platform, customer, "APPROVED")

    report = platform.webhooks.wait_for(f"{FAMILIES[business]}APPROVED", customer["id"])

    reports = {f"{FAMILIES[business]}PENDING", *_decision_types(business)}
    misnamed = _event_types(platform, older) & reports
    assert not misnamed, f"{older['id']} was not submitted, and {misnamed} came"
    if report is None:
        raise PreconditionFailed(f"the approval of {customer['id']} is not reported")


@pytest.mark.parametrize(
    ("business", "status_id", "alone_id"),
    [
        case(("EVT-080", "EVT-092"), "individual", False, "EVT-080", "EVT-092"),
        case(("EVT-081", "EVT-093"), "business", True, "EVT-081", "EVT-093"),
    ],
)
def test_a_rejection_is_reported_with_the_customer(
    platform: Platform, check: Check, business: bool, status_id: str, alone_id: str
) -> None:
    """A status that the webhook shows is REJECTED, and no webhook reports an approval."""
    customer = platform.verification.reviews.submitted(business=business, trigger="customer.reject")
    _arrange_status(platform, customer, "REJECTED")

    events = _arrange_events(platform, customer, business, "REJECTED")
    _let_reports_arrive(platform)

    with check(status_id):
        rejections = [
            event.data for event in events if event.type == f"{FAMILIES[business]}REJECTED"
        ]
        statuses = {_member(event, STATUS[business]) for event in rejections} - {None}
        if not statuses:
            raise ResourceMissing(f"the webhooks show no {STATUS[business]}")
        assert statuses == {"REJECTED"}
    with check(alone_id):
        assert f"{FAMILIES[business]}APPROVED" not in _event_types(platform, customer)


@pytest.mark.parametrize("road", ["directly", "hosted"])
@pytest.mark.parametrize(
    ("business", "requirement_ids"),
    [
        case(requirement_ids, kind, business, requirement_ids)
        for business, kind, requirement_ids in (
            (False, "individual", ("EVT-084", "EVT-086", "EVT-090", "EVT-094")),
            (True, "business", ("EVT-085", "EVT-087", "EVT-091", "EVT-095")),
        )
    ],
)
def test_each_step_of_a_review_is_reported_once(
    platform: Platform,
    check: Check,
    business: bool,
    requirement_ids: tuple[str, str, str, str],
    road: Road,
) -> None:
    """PENDING and APPROVED have one id each, and no webhook is of the other customer type.

    That holds after a direct onboarding as after the hosted flow.
    """
    pending_id, approved_id, rejected_id, other_id = requirement_ids
    customer = platform.verification.reviews.onboarded(
        road, business=business, trigger="customer.approve"
    )
    _arrange_status(platform, customer, "APPROVED")
    for status in ("PENDING", "APPROVED"):
        _arrange_event(platform, customer, business, status)

    _let_reports_arrive(platform)

    for requirement_id, status in {pending_id: "PENDING", approved_id: "APPROVED"}.items():
        with check(requirement_id):
            assert len(_event_ids(platform, customer, f"{FAMILIES[business]}{status}")) == 1
    with check(rejected_id):
        assert f"{FAMILIES[business]}REJECTED" not in _event_types(platform, customer)
    with check(other_id):
        assert not [
            kind
            for kind in _event_types(platform, customer)
            if kind.startswith(FAMILIES[not business])
        ]


# --- What is not reported -------------------------------------------------------------------


@pytest.mark.parametrize(
    "business",
    [
        case("EVT-088", "individual", False),
        case("EVT-089", "business", True),
    ],
)
def test_no_decision_is_reported_before_it_is_made(platform: Platform, business: bool) -> None:
    """No webhook reports an approval or a rejection of a customer who is under review."""
    customer = platform.verification.reviews.submitted(business=business)
    _arrange_event(platform, customer, business, "PENDING")
    _let_reports_arrive(platform)

    decisions = _event_types(platform, customer).intersection(_decision_types(business))

    if decisions:
        # The sandbox may have decided by itself and show the status a moment later.
        platform.verification.reviews.in_review(
            platform.customers.at_status(customer, "APPROVED", "REJECTED")
        )
    assert not decisions


@pytest.mark.parametrize(
    "business",
    [
        case("EVT-096", "individual", False),
        case("EVT-097", "business", True),
    ],
)
def test_a_submission_with_errors_is_not_reported(platform: Platform, business: bool) -> None:
    """A submission without the individual's number or the business's owners is not reported."""
    customer = platform.verification.reviews.sent_back(business=business)

    _let_reports_arrive(platform)

    assert f"{FAMILIES[business]}PENDING" not in _event_types(platform, customer)


@pytest.mark.parametrize(
    "business",
    [
        case("EVT-320", "individual", False),
        case("EVT-321", "business", True),
    ],
)
def test_a_submission_during_a_review_is_not_reported(platform: Platform, business: bool) -> None:
    """A second submission of a customer at PENDING, however it is answered, is not reported."""
    customer = platform.verification.reviews.submitted(business=business)
    _arrange_event(platform, customer, business, "PENDING")
    _let_reports_arrive(platform)
    kind = f"{FAMILIES[business]}PENDING"
    known_ids = _event_ids(platform, customer, kind)
    platform.verification.reviews.in_review(customer)

    answer = platform.verification.reviews.submit(customer)

    platform.observe(f"a submission during a review is answered with {answer.status}")
    _let_reports_arrive(platform)
    assert _event_ids(platform, customer, kind) == known_ids


@pytest.mark.parametrize(
    "business",
    [
        case("EVT-098", "individual", False),
        case("EVT-099", "business", True),
    ],
)
def test_a_customer_who_is_not_submitted_is_not_reported(
    platform: Platform, business: bool
) -> None:
    """A customer with all data is not reported before the submission."""
    customer = platform.verification.reviews.prepared(business=business)

    _let_reports_arrive(platform)

    reviews = {f"{FAMILIES[business]}PENDING", *_decision_types(business)}
    assert not _event_types(platform, customer) & reviews


@pytest.mark.parametrize(
    "business",
    [
        case("EVT-100", "individual", False),
        case("EVT-101", "business", True),
    ],
)
def test_a_hold_is_not_reported_as_a_decision(platform: Platform, business: bool) -> None:
    """A review that comes to HOLD is not reported as an approval or a rejection."""
    customer = platform.verification.reviews.submitted(business=business, trigger="customer.hold")
    _arrange_status(platform, customer, "HOLD")

    _let_reports_arrive(platform)

    assert not _event_types(platform, customer).intersection(_decision_types(business))


@requirement("EVT-102")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_a_link_that_nobody_follows_is_not_reported(platform: Platform, business: bool) -> None:
    """The creation of a hosted link is not reported as the beginning of a review."""
    customer = platform.verification.reviews.unsubmitted(business=business)
    arranged_body(platform.verification.links.create(customer))

    _let_reports_arrive(platform)

    assert f"{FAMILIES[business]}PENDING" not in _event_types(platform, customer)


@pytest.mark.parametrize(
    ("business", "trigger"),
    [
        case("EVT-103", "approved", False, "customer.approve"),
        case("EVT-104", "rejected", False, "customer.reject"),
        case("EVT-901", "approved-business", True, "customer.approve"),
        case("EVT-902", "rejected-business", True, "customer.reject"),
    ],
)
def test_another_name_is_not_reported_as_a_decision(
    platform: Platform, trigger: str, *, business: bool
) -> None:
    """After a decided customer is renamed, the webhooks of the decision are the same as before."""
    info = platform.customers.business_members({})["businessInfo"]
    if business and platform.triggers.magic(trigger) is not None:
        raise ResourceMissing(f"a magic value of the business decides: {trigger}")
    customer = platform.verification.reviews.submitted(
        business=business, trigger=trigger, **({"businessInfo": info} if business else {})
    )
    _arrange_status(platform, customer, DECISIONS[trigger])
    decision = _arrange_event(platform, customer, business, DECISIONS[trigger])
    person = {"fullName": "Beatrix Halloway002"}
    company = {"businessInfo": {**info, "legalName": "Halloway Instruments LLC"}}

    answer = platform.api.update_customer(customer["id"], company if business else person)

    if not answer.accepted:
        raise ResourceMissing(f"a decided customer cannot be renamed: {answer}")
    _let_reports_arrive(platform)
    decisions = [
        event
        for event in platform.webhooks.about(customer["id"])
        if event.type in _decision_types(business)
    ]
    assert {(event.type, event.id) for event in decisions} == {(decision.type, decision.id)}


def _arrange_event(platform: Platform, customer: Resource, business: bool, status: str) -> Delivery:
    """Wait for the webhook about a status of a customer's review, and return it.

    Raises:
        PreconditionFailed: no such webhook comes.
    """
    return arrange_event(platform, f"{FAMILIES[business]}{status}", customer["id"])


def _arrange_events(
    platform: Platform, customer: Resource, business: bool, *statuses: str
) -> list[Delivery]:
    """Wait for the webhooks about statuses of a customer's review; return all that name it.

    Raises:
        PreconditionFailed: a status is not reported.
    """
    expected_types = {f"{FAMILIES[business]}{status}" for status in statuses}

    def read_events() -> list[Delivery]:
        events = platform.webhooks.mentioning(customer["id"])
        return [event for event in events if str(event.type).startswith(FAMILIES[business])]

    events = platform.until(
        read_events,
        lambda events_so_far: expected_types <= {str(event.type) for event in events_so_far},
    )
    missing = expected_types - {str(event.type) for event in events}
    if missing:
        raise PreconditionFailed(f"no {' and '.join(missing)} came that names {customer['id']}")
    return events


def _arrange_status(platform: Platform, customer: Resource, status: str) -> None:
    """Wait until a customer's review has come to a status.

    Raises:
        PreconditionFailed: the review comes to another status.
    """
    current = verification_status(platform.customers.at_status(customer, status))
    if current != status:
        raise PreconditionFailed(f"the review left {customer['id']} at {current}")


def _let_reports_arrive(platform: Platform) -> None:
    """Wait for the webhook of another customer's review; earlier webhooks have arrived by then.

    Raises:
        PreconditionFailed: no such webhook comes.
    """
    _arrange_event(
        platform, platform.verification.reviews.submitted(business=False), False, "PENDING"
    )


def _decision_types(business: bool) -> set[str]:
    return {f"{FAMILIES[business]}{status}" for status in DECIDED}


def _event_types(platform: Platform, customer: Resource) -> set[str]:
    return {str(event.type) for event in platform.webhooks.about(customer["id"])}


def _event_ids(platform: Platform, customer: Resource, kind: str) -> set[str | None]:
    return {event.id for event in platform.webhooks.about(customer["id"]) if event.type == kind}


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None
