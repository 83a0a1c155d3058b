"""Created customers: what suffices, what may be told too, and by which id a platform knows them."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_resource, require_member
from conformance.scenarios.kit.marks import Check, requirement
from conformance.testdata.examples import Change, Example, example, examples
from conformance.verdict.decisions import ResourceMissing

FOREIGN_KINDS = {
    "publicly_listed_company": "BUS-080",
    "trust": "BUS-081",
    "private_foundation": "BUS-082",
    "charity": "BUS-083",
}
"""What a business outside the US may be, with the rule that it is accepted."""


EDGES = [
    pytest.param(
        found,
        change,
        marks=requirement(change.requirement),
        id=f"{found.name}-{change.member}-{change.name}",
    )
    for found in examples().values()
    for change in found.accepted
]
"""What all examples may say otherwise."""


@requirement("CUS-010", "CUS-011")
def test_the_type_alone_makes_an_individual(platform: Platform, check: Check) -> None:
    """It is the one field that all customers need."""
    answer = platform.api.create_customer({"customerType": "INDIVIDUAL"})

    with check("CUS-010"):
        assert answer.accepted, answer
    with check("CUS-011"):
        assert (
            require_member(platform.customers.read(arranged_resource(answer)), "customerType")
            == "INDIVIDUAL"
        )


@requirement("BUS-001", "BUS-002")
def test_four_facts_make_a_business(platform: Platform, check: Check) -> None:
    """The rest may follow later."""
    answer = platform.api.create_customer(
        platform.customers.example_body(example("business_facts"))
    )

    with check("BUS-001"):
        assert answer.accepted, answer
    with check("BUS-002"):
        assert (
            require_member(platform.customers.read(arranged_resource(answer)), "customerType")
            == "BUSINESS"
        )


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("individual", marks=requirement("CUS-018")),
        pytest.param("individual_itin", marks=requirement("CUS-092")),
        pytest.param("business", marks=requirement("BUS-003")),
        pytest.param("source_of_funds", marks=requirement("EDD-001")),
        pytest.param("sources_of_both", marks=requirement("EDD-600")),
        pytest.param("source_of_wealth", marks=requirement("EDD-003")),
    ],
)
def test_an_example_is_accepted(platform: Platform, name: str) -> None:
    """All of it is valid by the specification."""
    answer = platform.api.create_customer(platform.customers.example_body(example(name)))

    assert answer.accepted, answer


@requirement("EDD-005")
def test_enhanced_due_diligence_is_optional(platform: Platform) -> None:
    """An individual is created without any of its fields."""
    body = platform.customers.example_body(example("individual"))

    answer = platform.api.create_customer(body)

    assert answer.accepted, answer


@pytest.mark.parametrize(("found", "change"), EDGES)
def test_a_customer_at_the_edge_of_a_rule_is_accepted(
    platform: Platform, found: Example, change: Change
) -> None:
    """It is unusual, and right."""
    answer = platform.api.create_customer(platform.customers.example_body(found, change))

    assert answer.accepted, answer


@requirement("CUS-012", "CUS-013", "CUS-014")
def test_a_platform_customer_id_is_kept_or_generated(platform: Platform, check: Check) -> None:
    """Whoever sends none gets one."""
    body = platform.customers.example_body(example("individual"))
    own = arranged_resource(platform.api.create_customer(body))
    alone = [{"customerType": "INDIVIDUAL"}, {"customerType": "INDIVIDUAL"}]
    first, second = (arranged_resource(platform.api.create_customer(body)) for body in alone)

    with check("CUS-012"):
        shown = require_member(platform.customers.read(own), "platformCustomerId")
        assert shown == body["platformCustomerId"]
    with check("CUS-013"):
        require_member(platform.customers.read(own), "platformCustomerId")
        generated = platform.customers.read(first).get("platformCustomerId")
        assert generated, "nothing was generated"
    with check("CUS-014"):
        ids = [
            require_member(platform.customers.read(c), "platformCustomerId")
            for c in (first, second)
        ]
        assert ids[0] != ids[1]


@requirement("CUS-614", "CUS-615")
def test_an_individual_may_say_who_issued_its_number(platform: Platform, check: Check) -> None:
    """Individuals and owners of businesses are identified by the same members."""
    body = {**platform.customers.example_body(example("individual")), "countryOfIssuance": "US"}

    answer = platform.api.create_customer(body)

    with check("CUS-614"):
        assert answer.accepted, answer
    with check("CUS-615"):
        customer = platform.customers.read(arranged_resource(answer))
        assert require_member(customer, "countryOfIssuance") == "US"


@requirement("CUS-015", "CUS-016", "CUS-017")
def test_customers_may_share_a_platform_customer_id(platform: Platform, check: Check) -> None:
    """Each has a UMA address of its own."""
    answers = [platform.api.create_customer(body) for body in sharing(platform)]
    if answers[0].accepted and not answers[1].accepted:
        # It may want to be told the addresses by which it is to tell them apart.
        require_member(platform.customers.read(arranged_resource(answers[0])), "umaAddress")
        addressed = [
            {**body, "umaAddress": f"${platform.samples.reference()}@uma.example"}
            for body in sharing(platform)
        ]
        answers = [platform.api.create_customer(body) for body in addressed]

    with check("CUS-015"):
        arranged_resource(answers[0])
        assert answers[1].accepted, answers[1]
    customers = [platform.customers.read(arranged_resource(answer)) for answer in answers]
    with check("CUS-016"):
        assert customers[0]["id"] != customers[1]["id"]
    with check("CUS-017"):
        addresses = [require_member(customer, "umaAddress") for customer in customers]
        assert addresses[0] != addresses[1]


def sharing(platform: Platform) -> list[Json]:
    """Return the bodies of two customers with one ``platformCustomerId``."""
    shared = platform.samples.reference()
    bodies = [platform.customers.example_body(example("individual")) for _ in range(2)]
    return [{**body, "platformCustomerId": shared} for body in bodies]


@pytest.mark.parametrize(
    "kind", [pytest.param(k, marks=requirement(v), id=k) for k, v in FOREIGN_KINDS.items()]
)
def test_a_business_outside_the_us_may_be_of_this_kind(platform: Platform, kind: str) -> None:
    """The implementation's word for it is said by the profile."""
    bindings = platform.profile.bindings
    if kind not in bindings.entity_types or not bindings.foreign_business:
        raise ResourceMissing(f"the profile has no bindings.entity_types.{kind} outside the US")
    body = platform.customers.example_body(example("business_facts"))
    entity = {"entityType": bindings.entity_types[kind]}
    info = {**body["businessInfo"], **bindings.foreign_business, **entity}

    answer = platform.api.create_customer({**body, "businessInfo": info})

    assert answer.accepted, answer


def test_how_an_unknown_member_is_answered_is_recorded(platform: Platform) -> None:
    """The specification leaves it open, so the answer decides nothing."""
    body = {**platform.customers.example_body(example("individual")), "favouriteColour": "blue"}

    answer = platform.api.create_customer(body)

    platform.observe(f"a customer with a member that nobody knows is answered {answer.status}")
