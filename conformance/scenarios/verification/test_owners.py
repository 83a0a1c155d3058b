"""Beneficial owners: individuals who own or control a business, as the platform reports them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import pytest

from conformance.contract.notation import masked_or_same
from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_body,
    require_member,
    unknown_id,
    without_members,
)
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.faults import Fault, having, without
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import NOT_FOUND, REFUSED
from conformance.text.paths import value_at
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

PERSON = "personalInfo"

COLLECTING = "003"
"""The ending of a registrationNumber at which a sandbox collects owners and documents."""

JUDGED_MEMBERS: dict[str, str] = {
    "OWN-006": "firstName",
    "OWN-007": "lastName",
    "OWN-008": "birthDate",
    "OWN-009": "nationality",
    "OWN-010": "address",
    "OWN-011": "address.country",
    "OWN-012": "idType",
    "OWN-013": "identifier",
    "OWN-014": "countryOfIssuance",
}
"""Members of ``personalInfo`` whose form is judged where the target shows them."""

KEPT_MEMBERS: dict[str, str] = {
    "OWN-023": "firstName",
    "OWN-024": "lastName",
    "OWN-025": "birthDate",
    "OWN-026": "nationality",
    "OWN-027": "address.line1",
    "OWN-028": "address.city",
    "OWN-029": "address.state",
    "OWN-030": "address.postalCode",
    "OWN-031": "address.country",
    "OWN-032": "idType",
    "OWN-033": "countryOfIssuance",
    "OWN-601": "address.line2",
}
"""Members of ``personalInfo`` that come back as they were sent, where the target shows them."""


FOREIGN_MEMBERS = {
    identifier: member
    for identifier, member in KEPT_MEMBERS.items()
    if member in ("nationality", "address.state", "address.country", "idType", "countryOfIssuance")
}
"""Members of ``personalInfo`` in which an owner from abroad differs from others.

The number of such an owner is of another country than the owner is.
"""


def personal_member(owner: Json, path: str) -> Any:
    """Return a member of an owner's ``personalInfo``.

    Raises:
        ResourceMissing: the member is not shown.
    """
    *holders, name = path.split(".")
    person = owner[PERSON]
    for holder in holders:
        person = require_member(person, holder)
    return require_member(person, name)


def submission_errors(platform: Platform, business: Resource, owner: Resource) -> list[Json]:
    """Submit a business and return the errors about one of its owners."""
    submission = arranged_body(platform.verification.reviews.submit(business))
    return [error for error in submission["errors"] if error.get("resourceId") == owner["id"]]


def is_about(error: Json, *members: str) -> bool:
    """Return whether an error is about one of some members, or about a member of these."""
    path = error.get("field")
    if isinstance(path, str):
        return not {*members}.isdisjoint(re.split(r"[.\[\]/]+", path))
    # The specification gives a path to the errors about missing fields alone.
    return any(member in str(error.get("reason")) for member in members)


def businesses(platform: Platform) -> Iterator[Resource]:
    """Yield a business, and one with the suffix at which a sandbox collects owners in any case."""
    collecting = {"businessInfo": platform.customers.company(COLLECTING)}
    for members in ({}, collecting):
        business = platform.customers.applicant(business=True, **members)
        yield platform.verification.contact.ready(business)


def expect_refusal_or_error(platform: Platform, fault: Fault, *members: str) -> None:
    """Assert that a faulty owner is refused, or that submitting its business reports an error."""
    __tracebackhide__ = True
    found: list[Json] = []
    for business in businesses(platform):
        body = platform.verification.owners.body(business)
        # If the owner is accepted at first, the answer may have the same fault.
        answer = platform.api.client.call(
            "createBeneficialOwner", body=fault(body), valid=False, judged=False
        )
        twin = platform.api.create_beneficial_owner(body)
        if not answer.accepted:
            answer.refused(*REFUSED, twin=twin)
            return
        platform.observe(f"an owner with a wrong {members[0]} is taken in at first")
        if platform.samples.drawn("the owner has handed in a passport", (False, True)):
            with suppress(PreconditionFailed):
                platform.verification.documents.provide(answer.body, "PASSPORT")
        found = submission_errors(platform, business, answer.body)
        if any(is_about(error, *members) for error in found):
            return
    raise AssertionError(
        f"expected an error about {members[0]} of an owner when its business was submitted, "
        f"got {found}"
    )


# --- What comes back ------------------------------------------------------------------------


@requirement("OWN-001", "OWN-002", "OWN-003", "OWN-004", "OWN-005", *JUDGED_MEMBERS)
def test_a_beneficial_owner_is_reported(platform: Platform, check: Check) -> None:
    """The answer is the owner, with members of ``personalInfo`` in their forms."""
    owner = platform.verification.owners.owner(platform.customers.applicant(business=True))

    for identifier, member in JUDGED_MEMBERS.items():
        with check(identifier):
            personal_member(owner, member)


@requirement("OWN-020", "OWN-021", "OWN-022", "OWN-600", "OWN-602", *KEPT_MEMBERS)
def test_an_owner_is_kept_as_it_was_reported(platform: Platform, check: Check) -> None:
    """The answer shows the members as they were sent; identification numbers may be masked.

    The business is not the first one with an owner.
    """
    platform.verification.owners.owner(platform.customers.applicant(business=True))
    business = platform.customers.applicant(business=True)
    body = platform.verification.owners.body(
        business, personalInfo={"address": {"line2": "Unit 4"}}
    )

    owner = arranged_body(platform.api.create_beneficial_owner(body))

    with check("OWN-020"):
        assert owner["customerId"] == business["id"]
    with check("OWN-021"):
        assert set(body["roles"]) <= set(owner["roles"])
    with check("OWN-022"):
        assert owner["ownershipPercentage"] == body["ownershipPercentage"]
    for identifier, member in KEPT_MEMBERS.items():
        with check(identifier):
            assert personal_member(owner, member) == personal_member(body, member)
    # What may be alike is told apart: the owner lives elsewhere than it is from.
    foreigner = without_members(platform.verification.owners.canadian(), "address")
    sent = platform.verification.owners.body(business, personalInfo=foreigner)
    settler = platform.api.create_beneficial_owner(sent)
    for identifier, member in KEPT_MEMBERS.items():
        if settler.accepted and member in ("nationality", "address.country"):
            with check(identifier):
                assert personal_member(settler.body, member) == personal_member(sent, member)
    with check("OWN-602"):
        shown = owner[PERSON]
        assert not [name for name in KEPT_MEMBERS.values() if value_at(shown, name) is None], owner
    with check("OWN-600"):
        assert masked_or_same(
            personal_member(owner, "identifier"), personal_member(body, "identifier")
        ), owner
    masked = owner[PERSON].get("identifier") != body[PERSON]["identifier"]
    platform.observe(
        f"identification numbers of owners are shown {'masked' if masked else 'whole'}"
    )


# --- Who is accepted ------------------------------------------------------------------------


@requirement("OWN-040")
def test_a_director_can_be_an_owner(platform: Platform) -> None:
    """An owner with the role DIRECTOR is accepted."""
    body = platform.verification.owners.body(
        platform.customers.applicant(business=True), roles=["DIRECTOR"]
    )

    answer = platform.api.create_beneficial_owner(body)

    answer.expect_accepted()


@requirement("OWN-041", "LIM-031", "LIM-032")
def test_a_control_person_need_not_own_a_quarter(platform: Platform, check: Check) -> None:
    """A control person who owns 40, 10 or 0 percent of a business is accepted."""
    roles = [platform.profile.bindings.control_role]

    def report(**members: Any) -> Answer:
        business = platform.customers.applicant(business=True)
        body = platform.verification.owners.body(business, roles=roles, **members)
        return platform.verification.owners.require_role(platform.api.create_beneficial_owner(body))

    owner_of_40 = report(ownershipPercentage=40)
    owner_of_10 = report(ownershipPercentage=10)
    owner_of_0 = report(ownershipPercentage=0)

    with check("OWN-041"):
        owner_of_40.expect_accepted()
    with check("LIM-031"):
        owner_of_10.expect_accepted()
    with check("LIM-032"):
        owner_of_0.expect_accepted()


@requirement("OWN-021", "OWN-042")
def test_an_owner_can_have_several_roles(platform: Platform, check: Check) -> None:
    """An owner who is both a director and the control person is accepted, and shown as both."""
    roles = ["DIRECTOR", platform.profile.bindings.control_role]
    body = platform.verification.owners.body(
        platform.customers.applicant(business=True), roles=roles
    )

    answer = platform.verification.owners.require_role(platform.api.create_beneficial_owner(body))

    with check("OWN-042"):
        answer.expect_accepted()
    with check("OWN-021"):
        assert set(roles) <= set(arranged_body(answer)["roles"])


@requirement("OWN-043", "OWN-044", "OWN-045", *FOREIGN_MEMBERS)
def test_an_owner_is_identified_by_a_number(platform: Platform, check: Check) -> None:
    """Owners with an SSN or with an ITIN, and a Canadian with an ITIN, are accepted.

    The Canadian is shown as one.
    """
    business = platform.customers.applicant(business=True)
    foreigner, other = (
        platform.verification.owners.canadian(),
        platform.verification.owners.canadian(),
    )
    number = {name: other[name] for name in ("idType", "identifier")}

    def report(**person: Any) -> Answer:
        return platform.api.create_beneficial_owner(
            platform.verification.owners.body(business, personalInfo=person)
        )

    ssn_answer, itin_answer = report(idType="SSN"), report(**number)
    foreign_answer = report(**foreigner)

    with check("OWN-043"):
        ssn_answer.expect_accepted()
    with check("OWN-044"):
        itin_answer.expect_accepted()
    with check("OWN-045"):
        foreign_answer.expect_accepted()
    sent = platform.verification.owners.body(business, personalInfo=foreigner)
    for identifier, member in FOREIGN_MEMBERS.items():
        with check(identifier):
            shown = personal_member(arranged_body(foreign_answer), member)
            assert shown == personal_member(sent, member)


@requirement("OWN-046", "LIM-030")
def test_an_owner_has_a_quarter_or_all_of_a_business(platform: Platform, check: Check) -> None:
    """Owners of 25 and of 100 percent are accepted."""
    quarter, entire = (
        platform.api.create_beneficial_owner(
            platform.verification.owners.body(
                platform.customers.applicant(business=True), ownershipPercentage=share
            )
        )
        for share in (25, 100)
    )

    with check("LIM-030"):
        quarter.expect_accepted()
    with check("OWN-046"):
        entire.expect_accepted()


@requirement("OWN-047", "OWN-048")
def test_a_business_can_have_four_owners(platform: Platform, check: Check) -> None:
    """Four owners of 25 percent are accepted, and have different ids."""
    business = platform.customers.applicant(business=True)

    answers = [
        platform.api.create_beneficial_owner(platform.verification.owners.body(business))
        for _ in range(4)
    ]

    with check("OWN-047"):
        assert all(answer.accepted for answer in answers), answers
    with check("OWN-048"):
        ids = [arranged_body(answer)["id"] for answer in answers]
        assert len(set(ids)) == len(ids), ids


@requirement("OWN-022")
def test_a_share_with_a_fraction_is_kept(platform: Platform) -> None:
    """Shares of 24.99 and of 33.5 percent need not be taken; those that are taken are kept."""
    business = platform.customers.applicant(business=True)
    shares = (24.99, 33.5)

    answers = [
        platform.api.create_beneficial_owner(
            platform.verification.owners.body(business, ownershipPercentage=share), valid=False
        )
        for share in shares
    ]

    kept = {
        share: arranged_body(answer)["ownershipPercentage"]
        for share, answer in zip(shares, answers, strict=True)
        if answer.accepted
    }
    for share, answer in zip(shares, answers, strict=True):
        platform.observe(f"a director who owns {share} percent is answered with {answer.status}")
    if not kept:
        raise ResourceMissing("no share with a fraction is taken")
    assert all(shown == share for share, shown in kept.items()), kept


# --- Who is refused -------------------------------------------------------------------------


@requirement("OWN-060")
def test_an_owner_belongs_to_a_business(platform: Platform) -> None:
    """An owner without ``customerId`` is refused."""
    body = platform.verification.owners.body(platform.customers.applicant(business=True))

    refusal = platform.api.create_beneficial_owner(without("customerId")(body), valid=False)

    refusal.refused(*NOT_FOUND, twin=platform.api.create_beneficial_owner(body))


@requirement("OWN-061")
def test_an_owner_of_an_unknown_customer_is_refused(platform: Platform) -> None:
    """An owner with an unknown ``customerId`` is refused with 400, 404 or 422."""
    body = platform.verification.owners.body(platform.customers.applicant(business=True))
    unknown = unknown_id(body["customerId"])

    refusal = platform.api.create_beneficial_owner(having("customerId", unknown)(body))

    refusal.refused(*NOT_FOUND, twin=platform.api.create_beneficial_owner(body))
    platform.observe(f"an owner of an unknown customer is refused with {refusal.status}")


@requirement("OWN-062")
def test_an_individual_has_no_owners(platform: Platform) -> None:
    """An owner whose ``customerId`` is that of an individual is refused."""
    body = platform.verification.owners.body(platform.customers.applicant(business=True))
    person = platform.customers.applicant(business=False)

    refusal = platform.api.create_beneficial_owner(having("customerId", person["id"])(body))

    refusal.refused(twin=platform.api.create_beneficial_owner(body))


@pytest.mark.parametrize(
    "fault",
    [
        case(identifier, name, having(path, value))
        for identifier, name, path, value in (
            ("OWN-071", "share-as-word", "ownershipPercentage", "a quarter"),
            ("OWN-072", "share-above-100", "ownershipPercentage", 101),
            ("OWN-073", "share-below-0", "ownershipPercentage", -1),
            ("OWN-074", "person-as-text", PERSON, "Ada Okafor"),
        )
    ],
)
def test_an_owner_with_one_fault_is_refused(platform: Platform, fault: Fault) -> None:
    """An impossible share, or a ``personalInfo`` that is a text, is refused with 400 or 422."""
    body = platform.verification.owners.body(platform.customers.applicant(business=True))

    refusal = platform.api.create_beneficial_owner(fault(body), valid=False)

    refusal.refused(*REFUSED, twin=platform.api.create_beneficial_owner(body))


@pytest.mark.parametrize(
    ("fault", "members"),
    [
        case(identifier, name, fault, members)
        for identifier, name, fault, members in (
            ("OWN-063", "no-roles", without("roles"), ("roles",)),
            ("OWN-064", "no-share", without("ownershipPercentage"), ("ownershipPercentage",)),
            ("OWN-065", "no-person", without(PERSON), (PERSON,)),
            ("OWN-066", "no-first-name", without(f"{PERSON}.firstName"), ("firstName",)),
            ("OWN-067", "no-last-name", without(f"{PERSON}.lastName"), ("lastName",)),
            ("OWN-068", "no-birth-date", without(f"{PERSON}.birthDate"), ("birthDate",)),
            ("OWN-069", "no-address", without(f"{PERSON}.address"), ("address",)),
            (
                "OWN-070",
                "no-identifier",
                without(f"{PERSON}.identifier"),
                ("identifier", "idType"),
            ),
            (
                "OWN-075",
                "birth-date-in-words",
                having(f"{PERSON}.birthDate", "21 July 1979"),
                ("birthDate",),
            ),
            (
                "OWN-076",
                "birth-date-on-no-calendar",
                having(f"{PERSON}.birthDate", "1979-02-30"),
                ("birthDate",),
            ),
            (
                "OWN-077",
                "nationality-in-words",
                having(f"{PERSON}.nationality", "American"),
                ("nationality",),
            ),
            (
                "OWN-078",
                "country-in-words",
                having(f"{PERSON}.address.country", "United States"),
                ("country", "address"),
            ),
            (
                "OWN-079",
                "ssn-too-short",
                having(f"{PERSON}.identifier", "123-45-678"),
                ("identifier",),
            ),
        )
    ],
)
def test_an_owner_who_is_not_told_rightly_is_noticed(
    platform: Platform, fault: Fault, members: tuple[str, ...]
) -> None:
    """The owner is refused, or the submission of the business reports the wrong member."""
    expect_refusal_or_error(platform, fault, *members)


@requirement("OWN-083")
@pytest.mark.parametrize(
    "members",
    [("birthDate",), ("address",), ("identifier", "idType")],
    ids=["birth-date", "address", "identifier"],
)
def test_a_control_person_is_told_rightly_too(platform: Platform, members: tuple[str, ...]) -> None:
    """So it is where a control person who owns a tenth lacks the member."""
    role = platform.profile.bindings.control_role

    def fault(body: Json) -> Json:
        controlling = {**body, "roles": [role], "ownershipPercentage": 10}
        return without(f"{PERSON}.{members[0]}")(controlling)

    expect_refusal_or_error(platform, fault, *members)
