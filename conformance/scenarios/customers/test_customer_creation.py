"""Creation of customers: required and optional members, and the ids of the platform."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_resource, require_member
from conformance.scenarios.customers.members import BUSINESS, INDIVIDUAL, shown_values
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.customers import MEXICAN
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import require_value_at, same
from conformance.scenarios.kit.refusals import names
from conformance.testdata.examples import Change, Example, example, examples, placed
from conformance.text.paths import value_at
from conformance.verdict.decisions import ResourceMissing

FOREIGN_KINDS = {
    "publicly_listed_company": "BUS-080",
    "trust": "BUS-081",
    "private_foundation": "BUS-082",
    "charity": "BUS-083",
}
"""Kinds of businesses outside the US, with the requirement that they are accepted."""


OWN_ID = "platformCustomerId"

SHOWN = {
    kind: {member.path: member.value_id for member in members if member.value_id is not None}
    for kind, members in (("INDIVIDUAL", INDIVIDUAL), ("BUSINESS", BUSINESS))
}
"""By type of customer and member the requirement that it is shown as it was sent."""


def shown_by(sample: Example, change: Change) -> str | None:
    """Return the requirement that the changed member of an example is shown as it was sent."""
    return SHOWN[sample.customer["customerType"]].get(change.member)


EDGE_CASES = [
    case(
        filter(None, (change.requirement, shown_by(sample, change))),
        f"{sample.name}-{change.member}-{change.name}",
        sample,
        change,
    )
    for sample in examples().values()
    for change in sample.accepted
]
"""Valid changes of the examples."""


@requirement("CUS-010", "CUS-011")
def test_the_type_alone_makes_an_individual(platform: Platform, check: Check) -> None:
    """A body with only ``customerType`` creates an individual of that type."""
    answer = platform.api.create_customer({"customerType": "INDIVIDUAL"})

    with check("CUS-010"):
        answer.expect_accepted()
    with check("CUS-011"):
        assert (
            require_member(platform.customers.read(arranged_resource(answer)), "customerType")
            == "INDIVIDUAL"
        )


CONTACTS = ("email", "phoneNumber", "platformCustomerId")
"""Members of individuals and businesses that ask for no other one."""


@requirement("CUS-617")
@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("individual", (*CONTACTS, "birthDate", "fullName", "nationality", "address")),
        ("business_facts", CONTACTS),
    ],
    ids=["individual", "business"],
)
def test_one_more_member_asks_for_no_other(
    platform: Platform, name: str, members: tuple[str, ...]
) -> None:
    """A body with one member alone beside what is required, such as a phone, creates a customer.

    It names no region, as some regions ask for both contacts, and no address in the US, as who has
    an account there needs an identification.
    """

    def required_alone() -> Json:
        body = platform.customers.example_body(example(name))
        return {key: body[key] for key in ("customerType", "businessInfo") if key in body}

    arranged_resource(platform.api.create_customer(required_alone()))
    told = {**platform.customers.example_body(example("individual")), "address": MEXICAN}

    answers = [
        platform.api.create_customer({**required_alone(), member: told[member]})
        for member in members
    ]

    for answer in answers:
        answer.expect_accepted()


@requirement("BUS-001", "BUS-002")
def test_four_facts_make_a_business(platform: Platform, check: Check) -> None:
    """A legal name, country, tax id and incorporation date create a customer of type BUSINESS."""
    answer = platform.api.create_customer(
        platform.customers.example_body(example("business_facts"))
    )

    with check("BUS-001"):
        answer.expect_accepted()
    with check("BUS-002"):
        assert (
            require_member(platform.customers.read(arranged_resource(answer)), "customerType")
            == "BUSINESS"
        )


@pytest.mark.parametrize(
    "name",
    [
        case("CUS-018", "individual", "individual"),
        case("CUS-092", "individual_itin", "individual_itin"),
        case("BUS-003", "business", "business"),
        case("EDD-001", "source_of_funds", "source_of_funds"),
        case("EDD-600", "sources_of_both", "sources_of_both"),
        case("EDD-003", "source_of_wealth", "source_of_wealth"),
    ],
)
def test_an_example_is_accepted(platform: Platform, name: str) -> None:
    """An example that is valid by the specification is accepted with all its members."""
    answer = platform.api.create_customer(platform.customers.example_body(example(name)))

    answer.expect_accepted()


@requirement("EDD-005")
def test_enhanced_due_diligence_is_optional(platform: Platform) -> None:
    """An individual is created without any member for enhanced due diligence."""
    body = platform.customers.example_body(example("individual"))

    answer = platform.api.create_customer(body)

    answer.expect_accepted()


@pytest.mark.parametrize(("sample", "change"), EDGE_CASES)
def test_a_customer_at_the_edge_of_a_rule_is_accepted(
    platform: Platform, check: Check, sample: Example, change: Change
) -> None:
    """An example with an unusual but valid value is accepted, and shown as it was sent."""
    body = platform.customers.example_body(sample, change)

    answer = platform.api.create_customer(body)

    with check(change.requirement):
        answer.expect_accepted()
    value_id = shown_by(sample, change)
    if value_id is not None and (sent := value_at(body, change.member)) is not None:
        with check(value_id):
            if not answer.accepted:
                raise ResourceMissing(f"such a value is not taken: {answer}")
            created = arranged_resource(answer)
            for value in shown_values(change.member, created, platform.customers.read(created)):
                assert same(change.member, value, sent), value


@requirement("CUS-012", "CUS-013", "CUS-014", "CUS-030")
def test_a_platform_customer_id_is_kept_or_generated(platform: Platform, check: Check) -> None:
    """A sent id is shown again; customers of both types without one get different ids that stay.

    One of the ids that are sent is of digits and begins with zeros, the other has capitals.
    """
    name = platform.samples.digits(8)
    bodies = [
        {**platform.customers.example_body(example(kind)), OWN_ID: own_id}
        for kind, own_id in (("individual", f"00{name}"), ("business", f"Client-{name}-B"))
    ]
    with_id = [arranged_resource(platform.api.create_customer(body)) for body in bodies]
    facts = platform.customers.example_body(example("business_facts"))
    without_id = [
        arranged_resource(platform.api.create_customer(body))
        for body in ({"customerType": "INDIVIDUAL"}, {"customerType": "INDIVIDUAL"}, facts)
    ]
    named = [platform.customers.read(customer) for customer in with_id]
    unnamed = [platform.customers.read(customer) for customer in without_id]

    with check("CUS-012"):
        for body, created, customer in zip(bodies, with_id, named, strict=True):
            shown_ids = {require_member(customer, OWN_ID), created.get(OWN_ID) or body[OWN_ID]}
            assert shown_ids == {body[OWN_ID]}
    with check("CUS-013"):
        require_member(named[0], OWN_ID)
        for created, customer in zip(without_id, unnamed, strict=True):
            assert customer.get(OWN_ID), f"nothing was generated: {customer}"
            assert created.get(OWN_ID) in (None, customer[OWN_ID]), "another one is read"
    with check("CUS-014"):
        ids = [require_member(customer, OWN_ID) for customer in unnamed]
        assert len(set(ids)) == len(ids), ids
    with check("CUS-030"):
        before = require_member(unnamed[0], OWN_ID)
        answer = platform.api.update_customer(unnamed[0]["id"], {"fullName": "Omar Bauer"})
        if not answer.accepted:
            raise ResourceMissing(f"a customer of whom nothing is known is not changed: {answer}")
        assert platform.customers.read(unnamed[0]).get(OWN_ID) == before


@requirement("CUS-614", "CUS-615")
def test_an_individual_may_say_who_issued_its_number(platform: Platform, check: Check) -> None:
    """A foreigner with a ``countryOfIssuance`` in the US is created, and shows it."""
    foreigner = platform.customers.example_body(example("individual_itin"))
    body = {**foreigner, "countryOfIssuance": "US"}

    answer = platform.api.create_customer(body)

    with check("CUS-614"):
        answer.expect_accepted()
    with check("CUS-615"):
        if not answer.accepted:
            raise ResourceMissing(f"no individual says who issued its number: {answer}")
        customer = platform.customers.read(arranged_resource(answer))
        assert require_member(customer, "countryOfIssuance") == "US"


@requirement("CUS-015", "CUS-016", "CUS-017", "CUS-031")
def test_customers_may_share_a_platform_customer_id(platform: Platform, check: Check) -> None:
    """Customers with one id are accepted, with different ids of their own and UMA addresses.

    Two are individuals, and the third one is a business. A change of one is none of another.
    """
    named = platform.profile.bindings.uma_address
    address_member = named or "umaAddress"
    answers = [platform.api.create_customer(body) for body in bodies_with_shared_id(platform)]
    if answers[0].accepted and not all(answer.accepted for answer in answers):
        # The target may need different UMA addresses to tell the customers apart.
        if not named:
            require_value_at(platform.customers.read(arranged_resource(answers[0])), address_member)
        bodies = [
            placed(body, address_member, f"${platform.samples.reference()}@uma.example")
            for body in bodies_with_shared_id(platform)
        ]
        answers = [platform.api.create_customer(body) for body in bodies]

    with check("CUS-015"):
        arranged_resource(answers[0])
        answers[1].expect_accepted()
        answers[2].expect_accepted()
    customers = [platform.customers.read(arranged_resource(answer)) for answer in answers]
    with check("CUS-015"):
        shown = {customer.get("platformCustomerId") for customer in customers} - {None}
        assert len(shown) <= 1, f"of one platformCustomerId came {shown}"
    with check("CUS-016"):
        assert len({customer["id"] for customer in customers}) == len(customers)
    with check("CUS-017"):
        addresses = [require_value_at(customer, address_member) for customer in customers]
        assert len(set(addresses)) == len(addresses), f"several customers have one of {addresses}"
    with check("CUS-031"):
        others = customers[::2]
        platform.customers.change(customers[1], fullName="Omar Bauer", birthDate="1980-01-31")
        for other in others:
            after = platform.customers.read(other)
            for member in ("fullName", "birthDate", "businessInfo"):
                assert after.get(member) == other.get(member), after


@requirement("CUS-803")
def test_a_known_number_makes_another_customer(platform: Platform) -> None:
    """Where a second customer may have the number of the first, it is one of its own."""
    body, other_body = (platform.customers.american_body() for _ in range(2))
    customer = arranged_resource(platform.api.create_customer(body))

    answer = platform.api.create_customer({**other_body, "identifier": body["identifier"]})

    if not answer.accepted:
        raise ResourceMissing(f"a number is that of one customer: {answer}")
    other = arranged_resource(answer)
    assert other["id"] != customer["id"], answer
    shown = other.get("platformCustomerId")
    assert shown in (None, other_body["platformCustomerId"]), answer


def bodies_with_shared_id(platform: Platform) -> list[Json]:
    """Return the bodies of three customers with one ``platformCustomerId``."""
    shared_id = platform.samples.reference()
    names = ("individual", "individual", "business")
    bodies = [platform.customers.example_body(example(name)) for name in names]
    return [{**body, "platformCustomerId": shared_id} for body in bodies]


@requirement("BUS-041", "BUS-608", "CUS-070", "CUS-080")
def test_a_business_is_of_the_country_that_it_names(platform: Platform, check: Check) -> None:
    """One from abroad shows that country, and beside it its region and that of its address."""
    abroad = platform.profile.bindings.require("foreign_business")
    body = platform.customers.example_body(example("business"))
    info = {**body["businessInfo"], **abroad}

    answer = platform.api.create_customer({**body, "businessInfo": info})

    with check("BUS-608"):
        assert answer.accepted or not names(answer, "taxId"), answer
    if not answer.accepted:
        raise ResourceMissing(f"no business from abroad is taken in {body['region']}: {answer}")
    for customer in (answer.body, platform.customers.read(answer.body)):
        with check("BUS-041"):
            shown = (customer.get("businessInfo") or {}).get("country")
            assert shown in (None, abroad["country"]), customer
        with check("CUS-070"):
            assert customer.get("region") in (None, body["region"]), customer
        with check("CUS-080"):
            place = (customer.get("address") or {}).get("country")
            assert place in (None, body["address"]["country"]), customer


@pytest.mark.parametrize("kind", [case(v, k, k) for k, v in FOREIGN_KINDS.items()])
def test_a_business_outside_the_us_may_be_of_this_kind(platform: Platform, kind: str) -> None:
    """The entity type that the profile gives for this kind of business is accepted.

    The business tells of its contact channels too, which some regions verify.
    """
    bindings = platform.profile.bindings
    if kind not in bindings.entity_types or not bindings.foreign_business:
        raise ResourceMissing(f"the profile has no bindings.entity_types.{kind} outside the US")
    body = platform.customers.business_body()
    entity = {"entityType": bindings.entity_types[kind]}
    info = {**body["businessInfo"], **bindings.foreign_business, **entity}

    answer = platform.api.create_customer({**body, "businessInfo": info})

    answer.expect_accepted()


def test_how_a_currency_that_is_none_is_answered_is_recorded(platform: Platform) -> None:
    """The specification does not say what becomes of it; a server error fails by itself."""
    body = {**platform.customers.example_body(example("individual")), "currencies": ["XTS"]}

    answer = platform.api.create_customer(body)

    platform.observe(f"a customer in a currency that is none is answered with {answer.status}")


def test_how_an_unknown_member_is_answered_is_recorded(platform: Platform) -> None:
    """The specification does not say if it is refused, so the answer is recorded, not judged."""
    body = {**platform.customers.example_body(example("individual")), "favouriteColour": "blue"}

    answer = platform.api.create_customer(body)

    platform.observe(f"a customer with a member that nobody knows is answered {answer.status}")
