"""Refused customers: each has one fault, and the same customer without it is accepted."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, require_member, without_members
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import REFUSED, listed, names, refused_or_held
from conformance.testdata.examples import ABSENT, Change, Example, example, examples, placed
from conformance.verdict.decisions import ResourceMissing

BUSINESS_FACTS = {
    "legalName": "BUS-010",
    "country": "BUS-011",
    "taxId": "BUS-012",
    "incorporatedOn": "BUS-013",
}
"""What a business cannot be created without, with the rule that its absence is named."""

FAULTS = {
    "birthDate": "1985-13-14",
    "nationality": "USA",
    "address.country": "USA",
    "idType": "PASSPORT",
}
"""Members of an individual, each with a wrong value."""

NAMING = "CUS-019"


ROWS = [
    pytest.param(
        found,
        change,
        marks=requirement(change.requirement, NAMING),
        id=f"{found.name}-{change.member}-{change.name}",
    )
    for found in examples().values()
    for change in found.refused
]
"""All faults of all examples."""


@pytest.mark.parametrize(("found", "change"), ROWS)
def test_a_customer_with_one_fault_is_refused(
    platform: Platform, check: Check, found: Example, change: Change
) -> None:
    """And the error, if it lists fields, names the one that is wrong."""
    answer = platform.api.create_customer(
        platform.customers.example_body(found, change), valid=False
    )
    twin = platform.api.create_customer(platform.customers.example_body(found))

    with check(change.requirement):
        if change.at == "creation":
            answer.refused(*REFUSED, twin=twin)
        else:
            refused_or_held(platform, answer, twin, late=change.at == "submission")
    with check(NAMING):
        if answer.accepted or not twin.accepted:
            raise ResourceMissing("it was not refused for its fault when it was created")
        assert names(answer, *change.names), answer


@requirement("CUS-136")
def test_a_us_individual_needs_an_identification_number(platform: Platform) -> None:
    """At the latest when it is submitted."""
    body = platform.customers.example_body(example("individual"))

    answer = platform.api.create_customer(without_members(body, "idType", "identifier"))

    twin = platform.api.create_customer(platform.customers.example_body(example("individual")))
    refused_or_held(platform, answer, twin, late=True)


@pytest.mark.parametrize(
    ("member", "value"),
    [
        pytest.param("businessInfo", ABSENT, marks=requirement("BUS-008"), id="none"),
        pytest.param("businessInfo", {}, marks=requirement("BUS-009"), id="empty"),
    ],
)
def test_a_business_without_its_facts_is_refused(
    platform: Platform, member: str, value: object
) -> None:
    """All four are missing."""
    facts = platform.customers.example_body(example("business_facts"))

    refusal = platform.api.create_customer(placed(facts, member, value), valid=False)

    refusal.refused(*REFUSED, twin=platform.api.create_customer(facts))


@requirement("BUS-602")
def test_a_tax_number_abroad_is_a_number_too(platform: Platform) -> None:
    """No country gives out one that has neither a letter nor a digit."""
    abroad = platform.profile.bindings.foreign_business
    if not abroad:
        raise ResourceMissing("the profile has no bindings.foreign_business")
    body = platform.customers.example_body(example("business_facts"))
    right = {**body, "businessInfo": {**body["businessInfo"], **abroad}}
    wrong = placed(right, "businessInfo.taxId", "?!-/")

    answer = platform.api.create_customer(wrong, valid=False)

    refused_or_held(platform, answer, platform.api.create_customer(right))


@requirement(*BUSINESS_FACTS.values(), "BUS-014", "CUS-021", "CUS-022", "CUS-023")
def test_missing_facts_of_a_business_are_named(platform: Platform, check: Check) -> None:
    """Each by itself, and all together in one answer."""
    facts = platform.customers.example_body(example("business_facts"))

    alone = {
        name: platform.api.create_customer(
            placed(facts, f"businessInfo.{name}", ABSENT), valid=False
        )
        for name in BUSINESS_FACTS
    }
    together = platform.api.create_customer(placed(facts, "businessInfo", {}), valid=False)
    twin = platform.api.create_customer(facts)

    for name, refusal in alone.items():
        with check(BUSINESS_FACTS[name]):
            refusal.refused(twin=twin)
            assert names(refusal, name), refusal
    with check("BUS-014"):
        together.refused(twin=twin)
        assert all(names(together, name) for name in BUSINESS_FACTS), together
    with check("CUS-021"):
        for refusal in (*alone.values(), together):
            refusal.refused(400, twin=twin)
    with check("CUS-022"):
        require_member(constrained(together), "constraint")
    with check("CUS-023"):
        require_member(formatted(platform, facts), "format")


def constrained(refusal: Answer) -> Json:
    """Return an entry with a constraint, if a refusal lists one; any entry otherwise."""
    entries = listed(refusal)
    return next((entry for entry in entries if entry.get("constraint")), {})


def formatted(platform: Platform, facts: Json) -> Json:
    """Return the constraint of a field whose value has a wrong format."""
    malformed = placed(facts, "businessInfo.incorporatedOn", "in summer")
    refusal = platform.api.create_customer(malformed, valid=False)
    if refusal.accepted:
        raise ResourceMissing("a malformed date was not refused when it was sent")
    constraint = constrained(refusal).get("constraint")
    return constraint if isinstance(constraint, Mapping) else {}


@requirement("CUS-020")
def test_all_faults_of_an_individual_are_named_together(platform: Platform) -> None:
    """Each that is refused by itself is in the list, so that all can be corrected at once."""
    body = platform.customers.example_body(example("individual"))
    alone = {
        path: platform.api.create_customer(placed(body, path, value), valid=False)
        for path, value in FAULTS.items()
    }
    found = [path for path, answer in alone.items() if answer.code == "INVALID_INPUT"]
    if len(found) < 2:
        raise ResourceMissing(f"refused with INVALID_INPUT at creation were {found} alone")
    wrong = body
    for path in found:
        wrong = placed(wrong, path, FAULTS[path])

    refusal = platform.api.create_customer(wrong, valid=False)

    refusal.refused(twin=platform.api.create_customer(body))
    assert all(names(refusal, path.rpartition(".")[2]) for path in found), refusal
