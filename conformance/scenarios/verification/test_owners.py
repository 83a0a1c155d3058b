"""Beneficial owners: who owns or controls a business, as the platform reports them."""

from __future__ import annotations

import re
from typing import Any

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body, require_member, unknown_id
from conformance.scenarios.kit.faults import Fault, having, without
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import masked_or_same

PERSON = "personalInfo"

GIVEN: dict[str, str] = {
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

KEPT: dict[str, str] = {
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


def shown(owner: Json, path: str) -> Any:
    """Return a member of an owner's ``personalInfo`` that need not be there."""
    *holders, name = path.split(".")
    person = owner[PERSON]
    for holder in holders:
        person = require_member(person, holder)
    return require_member(person, name)


def errors_of(platform: Platform, business: Resource, owner: Resource) -> list[Json]:
    """Submit a business and return the errors that are about one of its owners."""
    submission = arranged_body(platform.verification.reviews.submit(business))
    return [error for error in submission["errors"] if error.get("resourceId") == owner["id"]]


def names(error: Json, *members: str) -> bool:
    """Return whether an error is about one of some members, or about a thing inside it."""
    path = error.get("field")
    if isinstance(path, str):
        return not {*members}.isdisjoint(re.split(r"[.\[\]/]+", path))
    # Only missing fields are said to be named by a path.
    return any(member in str(error.get("reason")) for member in members)


def expect_noticed(
    platform: Platform, business: Resource, answer: Answer, *members: str, twin: Answer
) -> None:
    """Assert that an owner was refused, or is found wanting when the business is submitted."""
    __tracebackhide__ = True
    if not answer.accepted:
        answer.refused(400, twin=twin)
        return
    platform.observe(f"an owner with a wrong {members[0]} is taken in at first")
    found = errors_of(platform, business, answer.body)
    assert any(names(error, *members) for error in found), (
        f"expected an error about {members[0]} of {answer.body['id']} when its business was "
        f"submitted, got {found}"
    )


# --- What comes back ------------------------------------------------------------------------


@requirement("OWN-001", "OWN-002", "OWN-003", "OWN-004", "OWN-005", *GIVEN)
def test_a_beneficial_owner_is_reported(platform: Platform, check: Check) -> None:
    """The answer is the owner: who it is, and what it is to the business."""
    owner = platform.verification.owners.owner(platform.customers.applicant(business=True))

    for identifier, member in GIVEN.items():
        with check(identifier):
            shown(owner, member)


@requirement("OWN-020", "OWN-021", "OWN-022", "OWN-600", *KEPT)
def test_an_owner_is_kept_as_it_was_reported(platform: Platform, check: Check) -> None:
    """Numbers of identification may be masked."""
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
    for identifier, member in KEPT.items():
        with check(identifier):
            assert shown(owner, member) == shown(body, member)
    with check("OWN-600"):
        assert masked_or_same(shown(owner, "identifier"), shown(body, "identifier")), owner
    masked = owner[PERSON].get("identifier") != body[PERSON]["identifier"]
    platform.observe(
        f"identification numbers of owners are shown {'masked' if masked else 'whole'}"
    )


# --- Who is accepted ------------------------------------------------------------------------


@requirement("OWN-040")
def test_a_director_can_be_an_owner(platform: Platform) -> None:
    """It is one of several roles."""
    body = platform.verification.owners.body(
        platform.customers.applicant(business=True), roles=["DIRECTOR"]
    )

    answer = platform.api.create_beneficial_owner(body)

    assert answer.accepted, answer


@requirement("OWN-041", "LIM-031", "LIM-032")
def test_a_control_person_need_not_own_a_quarter(platform: Platform, check: Check) -> None:
    """Who controls a business is told whatever the person owns of it."""
    roles = [platform.profile.bindings.control_role]

    def report(**members: Any) -> Answer:
        business = platform.customers.applicant(business=True)
        return platform.api.create_beneficial_owner(
            platform.verification.owners.body(business, roles=roles, **members)
        )

    owning = report(ownershipPercentage=40)
    owning_less = report(ownershipPercentage=10)
    owning_nothing = report(ownershipPercentage=0)

    with check("OWN-041"):
        assert owning.accepted, owning
    with check("LIM-031"):
        assert owning_less.accepted, owning_less
    with check("LIM-032"):
        assert owning_nothing.accepted, owning_nothing


@requirement("OWN-042")
def test_an_owner_can_have_several_roles(platform: Platform) -> None:
    """Whoever controls a business is often its director too."""
    roles = ["DIRECTOR", platform.profile.bindings.control_role]
    body = platform.verification.owners.body(
        platform.customers.applicant(business=True), roles=roles
    )

    answer = platform.api.create_beneficial_owner(body)

    assert answer.accepted, answer


@requirement("OWN-043", "OWN-044", "OWN-045")
def test_an_owner_is_identified_by_a_number(platform: Platform, check: Check) -> None:
    """Persons without a social security number have one of the tax office."""
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

    by_security, by_tax = report(idType="SSN"), report(**number)
    by_tax_abroad = report(**foreigner)

    with check("OWN-043"):
        assert by_security.accepted, by_security
    with check("OWN-044"):
        assert by_tax.accepted, by_tax
    with check("OWN-045"):
        assert by_tax_abroad.accepted, by_tax_abroad


@requirement("OWN-046", "LIM-030")
def test_an_owner_has_a_quarter_or_all_of_a_business(platform: Platform, check: Check) -> None:
    """From 25 percent on an individual is an owner who has to be told."""
    quarter, whole = (
        platform.api.create_beneficial_owner(
            platform.verification.owners.body(
                platform.customers.applicant(business=True), ownershipPercentage=share
            )
        )
        for share in (25, 100)
    )

    with check("LIM-030"):
        assert quarter.accepted, quarter
    with check("OWN-046"):
        assert whole.accepted, whole


@requirement("OWN-047", "OWN-048")
def test_a_business_can_have_four_owners(platform: Platform, check: Check) -> None:
    """There is room for as many quarters."""
    business = platform.customers.applicant(business=True)

    answers = [
        platform.api.create_beneficial_owner(platform.verification.owners.body(business))
        for _ in range(4)
    ]

    with check("OWN-047"):
        assert all(answer.accepted for answer in answers), answers
    with check("OWN-048"):
        found = [arranged_body(answer)["id"] for answer in answers]
        assert len(set(found)) == len(found), found


def test_what_shares_are_taken_is_recorded(platform: Platform) -> None:
    """Who owns less than a quarter may be told, and a share may have a fraction."""
    business = platform.customers.applicant(business=True)

    for share in (24.99, 33.5):
        answer = platform.api.create_beneficial_owner(
            platform.verification.owners.body(business, ownershipPercentage=share)
        )
        back = answer.body.get("ownershipPercentage") if answer.accepted else "nothing"
        platform.observe(
            f"a director who owns {share} percent is answered with {answer.status}, "
            f"and {back} is shown"
        )


# --- Who is refused -------------------------------------------------------------------------


@requirement("OWN-060")
def test_an_owner_belongs_to_a_business(platform: Platform) -> None:
    """Without one there is nothing to own."""
    body = platform.verification.owners.body(platform.customers.applicant(business=True))

    refusal = platform.api.create_beneficial_owner(without("customerId")(body), valid=False)

    refusal.refused(400, 404, twin=platform.api.create_beneficial_owner(body))


@requirement("OWN-061")
def test_an_owner_of_an_unknown_customer_is_refused(platform: Platform) -> None:
    """The id has the form of the target's own, and nobody has it."""
    body = platform.verification.owners.body(platform.customers.applicant(business=True))
    nobody = unknown_id(body["customerId"])

    refusal = platform.api.create_beneficial_owner(having("customerId", nobody)(body))

    refusal.refused(400, 404, twin=platform.api.create_beneficial_owner(body))
    platform.observe(f"an owner of an unknown customer is refused with {refusal.status}")


@requirement("OWN-062")
def test_an_individual_has_no_owners(platform: Platform) -> None:
    """Owners are a part of what is collected about a business."""
    body = platform.verification.owners.body(platform.customers.applicant(business=True))
    person = platform.customers.applicant()

    refusal = platform.api.create_beneficial_owner(having("customerId", person["id"])(body))

    refusal.refused(twin=platform.api.create_beneficial_owner(body))


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(having(path, value), marks=requirement(identifier), id=name)
        for identifier, name, path, value in (
            ("OWN-071", "share-as-word", "ownershipPercentage", "a quarter"),
            ("OWN-072", "share-above-100", "ownershipPercentage", 101),
            ("OWN-073", "share-below-0", "ownershipPercentage", -1),
            ("OWN-074", "person-as-text", PERSON, "Ada Okafor"),
        )
    ],
)
def test_an_owner_with_one_fault_is_refused(platform: Platform, fault: Fault) -> None:
    """Nothing else is wrong with it."""
    body = platform.verification.owners.body(platform.customers.applicant(business=True))

    refusal = platform.api.create_beneficial_owner(fault(body), valid=False)

    refusal.refused(400, twin=platform.api.create_beneficial_owner(body))


@pytest.mark.parametrize(
    ("fault", "members"),
    [
        pytest.param(fault, members, marks=requirement(identifier), id=name)
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
    """At once, or among the errors of the submission at the latest."""
    business = platform.verification.contact.ready(platform.customers.applicant(business=True))
    body = platform.verification.owners.body(business)

    # Where it is taken in at first, what is shown of it may lack the same.
    answer = platform.api.client.call(
        "createBeneficialOwner", body=fault(body), valid=False, judged=False
    )
    twin = platform.api.create_beneficial_owner(body)

    expect_noticed(platform, business, answer, *members, twin=twin)
