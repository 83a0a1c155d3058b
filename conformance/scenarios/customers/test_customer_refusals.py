"""Refused customers: each has one fault, and the same customer without it is accepted."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    arranged_resource,
    require_member,
    without_members,
)
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.customers import source_behind_another
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import (
    REFUSED,
    expect_refused_or_reported,
    listed_errors,
    names,
    names_fault,
)
from conformance.testdata.examples import ABSENT, Change, Example, example, examples, placed
from conformance.verdict.decisions import ResourceMissing

BUSINESS_FACTS = {
    "legalName": "BUS-010",
    "country": "BUS-011",
    "taxId": "BUS-012",
    "incorporatedOn": "BUS-013",
}
"""Required members of a business, with the requirement that a refusal names a missing one."""

FAULTS = {
    "birthDate": "1985-13-14",
    "nationality": "USA",
    "address.country": "USA",
    "idType": "PASSPORT",
}
"""Members of an individual, each with a wrong value."""

NAMING = "CUS-019"


ROWS = [
    case(
        (change.requirement, NAMING), f"{sample.name}-{change.member}-{change.name}", sample, change
    )
    for sample in examples().values()
    for change in sample.refused
]
"""All faults of all examples."""


@pytest.mark.parametrize(("sample", "change"), ROWS)
def test_a_customer_with_one_fault_is_refused(
    platform: Platform, check: Check, sample: Example, change: Change
) -> None:
    """The creation is refused, or the submission reports the fault; listed fields include it."""
    answer = platform.api.create_customer(
        platform.customers.example_body(sample, change), valid=False
    )
    twin = platform.api.create_customer(platform.customers.example_body(sample))

    with check(change.requirement):
        if change.at == "creation":
            answer.refused(*REFUSED, twin=twin)
        else:
            expect_refused_or_reported(platform, answer, twin, late=change.at == "submission")
    with check(NAMING):
        if answer.accepted or not twin.accepted:
            raise ResourceMissing("it was not refused for its fault when it was created")
        assert names_fault(answer, sample, change), answer


@pytest.mark.parametrize(
    ("source", "needed", "shown"),
    [
        case(("EDD-002", "EDD-014"), "Funds", "Funds", "EDD-002", "EDD-014"),
        case(("EDD-004", "EDD-016"), "Wealth", "Wealth", "EDD-004", "EDD-016"),
    ],
)
def test_another_source_needs_its_description_wherever_it_is_listed(
    platform: Platform, check: Check, source: str, needed: str, shown: str
) -> None:
    """A creation with OTHER behind another category is refused, or the submission reports it.

    With the description it is accepted, and both categories are shown.
    """
    members = source_behind_another(platform, source)
    described, undescribed = (
        {**platform.customers.example_body(example("individual")), **members} for _ in range(2)
    )
    del undescribed[f"sourceOf{source}OtherDescription"]

    answer = platform.api.create_customer(undescribed, valid=False)
    twin = platform.api.create_customer(platform.customers.alike(described))

    with check(shown):
        categories = f"sourceOf{source}Categories"
        told = require_member(platform.customers.read(arranged_resource(twin)), categories)
        assert sorted(told) == sorted(members[categories])
    with check(needed):
        expect_refused_or_reported(platform, answer, twin)


@requirement("CUS-136")
def test_a_us_individual_needs_an_identification_number(platform: Platform) -> None:
    """A creation without ``idType`` and ``identifier`` is refused, or the submission reports it."""
    body = platform.customers.example_body(example("individual"))

    answer = platform.api.create_customer(without_members(body, "idType", "identifier"))

    twin = platform.api.create_customer(platform.customers.example_body(example("individual")))
    expect_refused_or_reported(platform, answer, twin, late=True)


@requirement("BUS-004")
def test_the_name_of_a_person_names_no_business(platform: Platform) -> None:
    """A business with a ``fullName`` in the place of its ``legalName`` is refused."""
    facts = platform.customers.example_body(example("business_facts"))
    name = facts["businessInfo"]["legalName"]
    misnamed = placed({**facts, "fullName": name}, "businessInfo.legalName", ABSENT)

    refusal = platform.api.create_customer(misnamed, valid=False)

    refusal.refused(*REFUSED, twin=platform.api.create_customer(facts))


@pytest.mark.parametrize(
    ("member", "value"),
    [
        case("BUS-008", "none", "businessInfo", ABSENT),
        case("BUS-009", "empty", "businessInfo", {}),
    ],
)
def test_a_business_without_its_facts_is_refused(
    platform: Platform, member: str, value: object
) -> None:
    """A business with no or with an empty ``businessInfo`` is refused."""
    facts = platform.customers.example_body(example("business_facts"))

    refusal = platform.api.create_customer(placed(facts, member, value), valid=False)

    refusal.refused(*REFUSED, twin=platform.api.create_customer(facts))


@pytest.mark.parametrize(
    "tax_id",
    [
        case("BUS-602", "punctuation", "?!-/"),
        case("BUS-606", "single-digit", "7"),
    ],
)
def test_a_tax_number_abroad_is_a_number_too(platform: Platform, tax_id: str) -> None:
    """A foreign ``taxId`` that no country has is refused, or the submission reports it.

    The business tells of its contact channels too, which some regions verify.
    """
    foreign_business = platform.profile.bindings.foreign_business
    if not foreign_business:
        raise ResourceMissing("the profile has no bindings.foreign_business")
    body = platform.customers.business_body()
    right = {**body, "businessInfo": {**body["businessInfo"], **foreign_business}}
    wrong = placed(right, "businessInfo.taxId", tax_id)

    answer = platform.api.create_customer(wrong, valid=False)

    twin = platform.api.create_customer(platform.customers.alike(right))
    expect_refused_or_reported(platform, answer, twin)


@requirement(*BUSINESS_FACTS.values(), "BUS-014", "CUS-021", "CUS-022", "CUS-023")
def test_missing_facts_of_a_business_are_named(platform: Platform, check: Check) -> None:
    """A refusal names a fact that is missing alone, and all four facts when they are missing."""
    facts = platform.customers.example_body(example("business_facts"))

    single_refusals = {
        name: platform.api.create_customer(
            placed(facts, f"businessInfo.{name}", ABSENT), valid=False
        )
        for name in BUSINESS_FACTS
    }
    joint_refusal = platform.api.create_customer(placed(facts, "businessInfo", {}), valid=False)
    twin = platform.api.create_customer(facts)

    for name, refusal in single_refusals.items():
        with check(BUSINESS_FACTS[name]):
            refusal.refused(twin=twin)
            assert names(refusal, name), refusal
    with check("BUS-014"):
        joint_refusal.refused(twin=twin)
        assert all(names(joint_refusal, name) for name in BUSINESS_FACTS), joint_refusal
    with check("CUS-021"):
        for refusal in (*single_refusals.values(), joint_refusal):
            refusal.refused(*REFUSED, twin=twin)
    with check("CUS-022"):
        require_member(entry_with_constraint(joint_refusal), "constraint")
    with check("CUS-023"):
        require_member(constraint_on_format(platform, facts), "format")


def entry_with_constraint(refusal: Answer) -> Json:
    """Return the first entry with a constraint that a refusal lists, or an empty object."""
    entries = listed_errors(refusal)
    return next((entry for entry in entries if entry.get("constraint")), {})


def constraint_on_format(platform: Platform, facts: Json) -> Json:
    """Return the constraint that a refusal lists for a malformed date, or an empty object.

    Raises:
        ResourceMissing: the malformed date was accepted.
    """
    malformed = placed(facts, "businessInfo.incorporatedOn", "in summer")
    refusal = platform.api.create_customer(malformed, valid=False)
    if refusal.accepted:
        raise ResourceMissing("a malformed date was not refused when it was sent")
    constraint = entry_with_constraint(refusal).get("constraint")
    return constraint if isinstance(constraint, Mapping) else {}


@requirement("CUS-020")
def test_all_faults_of_an_individual_are_named_together(platform: Platform) -> None:
    """One refusal lists every field that is refused with INVALID_INPUT by itself."""
    body = platform.customers.example_body(example("individual"))
    single_refusals = {
        path: platform.api.create_customer(placed(body, path, value), valid=False)
        for path, value in FAULTS.items()
    }
    paths = [path for path, answer in single_refusals.items() if answer.code == "INVALID_INPUT"]
    if len(paths) < 2:
        raise ResourceMissing(f"refused with INVALID_INPUT at creation were {paths} alone")
    wrong = body
    for path in paths:
        wrong = placed(wrong, path, FAULTS[path])

    refusal = platform.api.create_customer(wrong, valid=False)

    refusal.refused(twin=platform.api.create_customer(body))
    assert all(names(refusal, path.rpartition(".")[2]) for path in paths), refusal
