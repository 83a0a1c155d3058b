"""Submitting customers for review: what is accepted, what is missing, and what can be read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from conformance.platform.given.verification import submissions_in
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_resource,
    require_member,
    unknown_id,
    without_members,
)
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import FeatureUndeclared, PreconditionFailed, ResourceMissing

IN_PROGRESS = "IN_PROGRESS"
RESOLVE_ERRORS = "RESOLVE_ERRORS"
FIELD = "MISSING_FIELD"
IDENTITY = "MISSING_IDENTITY_DOCUMENT"

NUMBER = ("idType", "identifier")
MEXICAN = {
    "line1": "Avenida Reforma 222",
    "city": "Ciudad de México",
    "state": "CDMX",
    "postalCode": "06600",
    "country": "MX",
}
DROPPABLE = ("birthDate", "nationality", "address", "fullName", *NUMBER)
"""Members of an individual that a review may miss, those that most reviews do first."""


# --- Accepted -------------------------------------------------------------------------------


@requirement("VER-001", "VER-002", "VER-003", "VER-004", "VER-005", "VER-020", "VER-021")
def test_an_individual_is_accepted_for_review(platform: Platform, check: Check) -> None:
    """The answer is the submission; the form of its members is judged on arrival."""
    individual = platform.verification.reviews.prepared()

    submission = platform.verification.reviews.submission(individual)

    with check("VER-002"):
        assert submission["customerId"] == individual["id"]
    with check("VER-020"):
        assert submission["verificationStatus"] == IN_PROGRESS
    with check("VER-021"):
        assert submission["errors"] == []


@requirement("VER-022", "VER-023")
def test_a_business_is_accepted_for_review(platform: Platform, check: Check) -> None:
    """Somebody controls it, and its address is proven."""
    submission = platform.verification.reviews.submission(
        platform.verification.reviews.prepared(business=True)
    )

    with check("VER-022"):
        assert submission["verificationStatus"] == IN_PROGRESS
    with check("VER-023"):
        assert submission["errors"] == []


# --- Incomplete -----------------------------------------------------------------------------


@requirement("VER-006", "VER-007", "VER-008", "VER-011", "VER-012", "VER-033", "VER-036")
def test_a_business_without_owners_is_not_accepted(platform: Platform, check: Check) -> None:
    """The errors tell what is missing of it; the form of their entries is judged on arrival."""
    business = platform.verification.reviews.unsubmitted(business=True)

    answer = platform.verification.reviews.submit(business)

    with check("VER-033"):
        assert answer.accepted, answer
        assert answer.body["verificationStatus"] == RESOLVE_ERRORS
    if arranged_resource(answer).get("verificationStatus") != RESOLVE_ERRORS:
        raise ResourceMissing("a business without owners is taken as it is")
    entries = answer.body.get("errors")
    with check("VER-012"):
        assert entries
    if not entries:
        raise PreconditionFailed("there is no entry to look at")
    with check("VER-036"):
        assert {entry["resourceId"] for entry in entries} == {business["id"]}


@requirement("VER-036")
def test_what_is_missing_of_an_owner_is_told_of_the_owner(platform: Platform) -> None:
    """Or of the business; one from abroad proves by documents who they are."""
    business = platform.verification.reviews.unsubmitted(business=True)
    owner = platform.verification.owners.owner(
        business, personalInfo={"nationality": "MX", "address": MEXICAN}
    )

    entries = require_member(platform.verification.reviews.unresolved(business), "errors")

    assert {entry["resourceId"] for entry in entries} <= {business["id"], owner["id"]}


@requirement("VER-009", "VER-034", "VER-035")
def test_what_is_missing_of_an_individual_is_named(platform: Platform, check: Check) -> None:
    """It is the individual's own, and nothing that was told is asked for again."""
    body = without_members(platform.customers.american_body(), *NUMBER)
    individual = platform.verification.reviews.created(body)

    entries = require_member(platform.verification.reviews.unresolved(individual), "errors")

    with check("VER-035"):
        assert {entry["resourceId"] for entry in entries} == {individual["id"]}
    fields = _of_type(FIELD, entries)
    with check("VER-009"):
        assert all(entry["field"] for entry in fields)
    with check("VER-034"):
        assert not set(_paths(fields)) & body.keys()


@requirement("VER-037", "VER-038")
def test_each_missing_field_has_an_entry(platform: Platform, check: Check) -> None:
    """Two that are told of when one is missing are both told of when both are."""
    first, second = _two_that_are_missed(platform)

    names = Counter(_missed(platform, first, second))

    with check("VER-037"):
        assert {first, second} <= names.keys()
    with check("VER-038"):
        assert max(names.values()) == 1


@requirement("VER-010", "VER-039", "VER-052")
def test_a_missing_identity_document_is_asked_for_until_it_is_there(
    platform: Platform, check: Check
) -> None:
    """One of the types that are accepted is enough, and any of them will do."""
    individual = _from_abroad(platform)
    entries = _of_type(IDENTITY, platform.verification.reviews.unresolved(individual)["errors"])

    with check("VER-039"):
        assert {entry["resourceId"] for entry in entries} == {individual["id"]}
    with check("VER-010"):
        assert all(entry["acceptedDocumentTypes"] for entry in entries)
    platform.verification.reviews.supply(individual, {"errors": entries})
    with check("VER-052"):
        again = (
            arranged_resource(platform.verification.reviews.submit(individual)).get("errors") or []
        )
        assert IDENTITY not in {entry.get("type") for entry in again}


def test_how_a_submission_before_its_contact_is_verified_is_answered(platform: Platform) -> None:
    """That comes first, but what keeps the order is left open."""
    if not platform.profile.features.direct_onboarding:
        raise FeatureUndeclared("direct_onboarding")

    answer = platform.verification.reviews.submit(platform.verification.contact.customer())

    told = answer.body.get("verificationStatus") if answer.accepted else answer.code
    platform.observe(f"a submission while a contact channel is PENDING: {answer.status} {told}")


# --- Repaired -------------------------------------------------------------------------------


@requirement("VER-050")
def test_an_individual_is_accepted_once_the_missing_fields_are_supplied(
    platform: Platform,
) -> None:
    """Fixing and submitting again is all that is needed."""
    body = platform.customers.american_body()
    individual = platform.verification.reviews.created(without_members(body, *NUMBER))
    platform.verification.reviews.unresolved(individual)
    platform.customers.change(individual, **{name: body[name] for name in NUMBER})

    submission = _submitted_as(platform.verification.reviews.prepared(), individual, platform)

    assert submission["verificationStatus"] == IN_PROGRESS


@requirement("VER-051")
def test_a_business_is_accepted_once_owner_and_documents_are_supplied(platform: Platform) -> None:
    """Fixing and submitting again is all that is needed."""
    business = platform.verification.reviews.unsubmitted(business=True)
    platform.verification.reviews.unresolved(business)
    platform.verification.reviews.prepare_business(business)

    submission = _submitted_as(
        platform.verification.reviews.prepared(business=True), business, platform
    )

    assert submission["verificationStatus"] == IN_PROGRESS


@requirement("VER-053", "VER-054")
def test_a_second_submission_asks_for_what_is_still_missing(
    platform: Platform, check: Check
) -> None:
    """What was supplied in between is not asked for again."""
    first, second = _two_that_are_missed(platform)
    body = platform.customers.american_body()
    individual = platform.verification.reviews.created(without_members(body, first, second))
    platform.verification.reviews.unresolved(individual)
    platform.customers.change(individual, **{first: body[first]})

    names = _paths(
        arranged_resource(platform.verification.reviews.submit(individual)).get("errors") or []
    )

    with check("VER-053"):
        assert first not in names
    with check("VER-054"):
        assert second in names


# --- Read -----------------------------------------------------------------------------------


@requirement("VER-060", "VER-061", "VER-062", "VER-063", "VER-067")
def test_a_submission_is_found_by_its_customer(platform: Platform, check: Check) -> None:
    """As one object or in a list, it says what the answer to it said."""
    business = platform.verification.reviews.unsubmitted(business=True)
    submission = platform.verification.reviews.unresolved(business)

    listed = platform.verification.reviews.submissions(business)

    same = [one for one in listed if one.get("id") == submission["id"]]
    with check("VER-060"):
        assert same, f"{submission['id']} is not among {[one.get('id') for one in listed]}"
    with check("VER-063"):
        assert {one.get("customerId") or business["id"] for one in listed} == {business["id"]}
    if not same:
        raise PreconditionFailed("the submission is not found")
    with check("VER-061"):
        assert same[0]["verificationStatus"] == RESOLVE_ERRORS
    with check("VER-062"):
        assert len(same[0]["errors"]) == len(submission["errors"])


@requirement("VER-068")
def test_an_accepted_submission_is_found_without_errors(platform: Platform) -> None:
    """What was missing before has been supplied."""
    individual = platform.verification.reviews.prepared()
    submission = platform.verification.reviews.submission(individual)

    same = [
        o
        for o in platform.verification.reviews.submissions(individual)
        if o.get("id") == submission["id"]
    ]

    if not same:
        raise PreconditionFailed("the submission is not found")
    assert not same[0].get("errors")


@requirement("VER-064")
def test_a_submission_is_not_found_by_another_customer(platform: Platform) -> None:
    """Each of two customers has its own."""
    one, other = platform.verification.reviews.prepared(), platform.verification.reviews.prepared()
    submissions = [
        platform.verification.reviews.submission(customer)["id"] for customer in (one, other)
    ]

    seen = [
        {found["id"] for found in platform.verification.reviews.submissions(who)}
        for who in (one, other)
    ]

    assert submissions[1] not in seen[0]
    assert submissions[0] not in seen[1]


@requirement("VER-065")
def test_nothing_is_found_by_a_customer_who_does_not_exist(platform: Platform) -> None:
    """Whether that is refused or nothing is listed is left open."""
    individual = platform.verification.reviews.prepared()
    submission = platform.verification.reviews.submission(individual)

    answer = platform.api.list_verifications({"customerId": unknown_id(individual["id"])})

    platform.observe(f"the verifications of an unknown customer: {answer.status}")
    if answer.accepted:
        shown = [one.get("id") for one in _readable(answer.body)]
        assert not [name for name in shown if name], f"found {shown}, but not {submission['id']}"
    else:
        answer.refused(twin=platform.api.list_verifications({"customerId": individual["id"]}))


@requirement("VER-066")
def test_a_customer_who_was_never_submitted_is_not_in_progress(platform: Platform) -> None:
    """Whether nothing is listed, or something that says so, is left open."""
    answer = platform.api.list_verifications(
        {"customerId": platform.verification.reviews.unsubmitted()["id"]}
    )

    platform.observe(f"the verifications of a customer without any: {answer.status}")
    listed = _readable(answer.body) if answer.accepted else []
    assert IN_PROGRESS not in [one.get("verificationStatus") for one in listed]


# --- Refused --------------------------------------------------------------------------------


@requirement("VER-070")
def test_a_customer_who_does_not_exist_cannot_be_submitted(platform: Platform) -> None:
    """Its id is refused as that of no customer, or as a wrong value of the body."""
    individual = platform.verification.reviews.prepared()

    refusal = platform.verification.reviews.submit({"id": unknown_id(individual["id"])})

    refusal.refused(404, 400, twin=platform.verification.reviews.submit(individual))


@pytest.mark.parametrize(
    "body",
    [
        pytest.param({}, marks=requirement("VER-071"), id="absent"),
        pytest.param({"customerId": 17}, marks=requirement("VER-072"), id="number"),
        pytest.param({"customerId": ["Customer:1"]}, marks=requirement("VER-072"), id="list"),
    ],
)
def test_a_submission_names_a_customer(platform: Platform, body: Json) -> None:
    """Its body holds nothing else."""
    refusal = platform.api.client.call("createVerification", body=body, valid=False)

    refusal.refused(
        400,
        404,
        422,
        twin=platform.verification.reviews.submit(platform.verification.reviews.prepared()),
    )


def _from_abroad(platform: Platform) -> Resource:
    """Create an individual who has no US number that could stand for a document."""
    return platform.verification.reviews.created(
        platform.customers.body(
            region="MX",
            nationality="MX",
            idType=None,
            identifier=None,
            phoneNumber=f"+525512{platform.samples.digits(6)}",
            address=MEXICAN,
        ),
    )


def _submitted_as(twin: Json, customer: Resource, platform: Platform) -> Resource:
    """Submit a customer of whom the same is known as of its twin, and so as easily."""
    if (
        arranged_resource(platform.verification.reviews.submit(twin)).get("verificationStatus")
        == RESOLVE_ERRORS
    ):
        return platform.verification.reviews.submission(customer)
    return arranged_resource(platform.verification.reviews.submit(customer))


def _of_type(kind: str, entries: Sequence[Json]) -> list[Json]:
    """Return the entries of a type."""
    same = [entry for entry in entries if entry.get("type") == kind]
    if not same:
        raise ResourceMissing(f"what is missing is not told by an entry of the type {kind}")
    return same


def _paths(entries: Sequence[Json]) -> list[str]:
    """Return the fields that entries name, by their paths in the customer."""
    named = [entry.get("field") for entry in entries if entry.get("type") == FIELD]
    return [path.removeprefix("customer.") for path in named if isinstance(path, str)]


def _missed(platform: Platform, *lacking: str) -> list[str]:
    """Return the fields that the review of a new individual misses; none of one not created."""
    answer = platform.api.create_customer(
        without_members(platform.customers.american_body(), *lacking)
    )
    if not answer.accepted:
        return []
    individual = platform.verification.contact.verify(arranged_resource(answer))
    return _paths(
        arranged_resource(platform.verification.reviews.submit(individual)).get("errors") or []
    )


def _two_that_are_missed(platform: Platform) -> tuple[str, str]:
    """Return two fields that the review misses, each where it alone is missing."""
    missed: list[str] = []
    for name in DROPPABLE:
        if name in _missed(platform, name):
            missed.append(name)
        if len(missed) > 1:
            return missed[0], missed[1]
    raise ResourceMissing(f"the review misses no two of {', '.join(DROPPABLE)}")


def _readable(body: Any) -> Sequence[Json]:
    """Return the submissions in an answer that need not hold any."""
    return submissions_in(body) if body else []
