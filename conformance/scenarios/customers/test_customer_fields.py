"""Members of a customer: they have their forms, and are shown as they were sent."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_resource, require_member
from conformance.scenarios.customers.members import BUSINESS, INDIVIDUAL, Member, shown_values
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.customers import value_of_profile
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import require_value_at, same, well_formed
from conformance.testdata.examples import Example, example, placed
from conformance.text.paths import value_at
from conformance.verdict.decisions import ResourceMissing

FOREIGNER = (
    Member("region", "CUS-051", "CUS-070"),
    Member("address.country", "CUS-062", "CUS-080"),
    Member("nationality", "CUS-055", "CUS-074"),
    Member("idType", "CUS-065", "CUS-083"),
    Member("identifier", "CUS-066", "CUS-084"),
)
"""What an individual from abroad tells otherwise than others."""


FUNDS = (
    Member("sourceOfFundsCategories", "EDD-010", "EDD-014"),
    Member("sourceOfFundsOtherDescription", "EDD-011", "EDD-015"),
)

WEALTH = (
    Member("sourceOfWealthCategories", "EDD-012", "EDD-016"),
    Member("sourceOfWealthOtherDescription", "EDD-013", "EDD-017"),
)

BUSINESS_DETAILS = {
    "entityType": "BUS-047",
    "businessType": "BUS-048",
    "countriesOfOperation": "BUS-049",
    "purposeOfAccount": "BUS-050",
    "sourceOfFunds": "BUS-051",
}
"""Members of ``businessInfo`` whose valid values only the profile gives."""

BUSINESS_KINDS = {"entityType": "BUS-600", "businessType": "BUS-601"}
"""Members of ``businessInfo`` that are texts, whatever their values are."""

DUE_DILIGENCE = {
    "purposeOfAccount": "EDD-018",
    "expectedMonthlyTransactionCount": "EDD-019",
    "expectedMonthlyTransactionVolume": "EDD-020",
    "annualIncomeRange": "EDD-021",
    "netWorthRange": "EDD-022",
    "pepStatus": "EDD-023",
}
"""Members of an individual whose valid values only the profile gives."""


MAIN_PARTS = {"address": "line1", "businessInfo": "legalName"}
"""Objects of a customer, each with a member without which it is withheld."""

PERSONAL = ("taxId", "primaryContactFirstName", "primaryContactLastName")
"""Members of ``businessInfo`` that a target may keep to itself."""

PLACE = ("address.city", "address.state", "address.postalCode", "address.country")
"""What an address is not complete without."""

WHOLE, ANY = "CUS-619", "CUS-620"
"""The requirements that a reading shows what the creation does: in its objects, and of all."""

COMPLETE = "CUS-621"
"""The requirement that an address is shown with all that it was sent with."""


def parameters(name: str, members: tuple[Member, ...]) -> object:
    """Return the parameters of a test for the members of an example."""
    ids = [id_ for member in members for id_ in member.requirements]
    paths = [member.path for member in members]
    has_objects = any("." in path for path in paths)
    objects = [*([WHOLE] if has_objects else []), *([COMPLETE] if has_address(paths) else [])]
    return case([*ids, *objects, ANY], name, example(name), members)


def has_address(paths: list[str]) -> bool:
    """Return whether all of an address is among the members of a customer."""
    return set(PLACE) <= set(paths)


@pytest.mark.parametrize(
    ("case", "members"),
    [
        parameters("individual", INDIVIDUAL),
        parameters("individual_itin", FOREIGNER),
        parameters("business", BUSINESS),
        parameters("source_of_funds", FUNDS),
        parameters("source_of_wealth", WEALTH),
    ],
)
def test_what_is_told_about_a_customer_is_kept(
    platform: Platform, check: Check, case: Example, members: tuple[Member, ...]
) -> None:
    """A member that is shown has its form and its value as sent; a member may be left out.

    That holds for the answer to the creation as for the customer who is read. What the former shows
    is not left out of the latter.
    """
    body = platform.customers.example_body(case)

    created = arranged_resource(platform.api.create_customer(body))
    customer = platform.customers.read(created)

    for member in members:
        with check(member.form_id):
            for value in shown_values(member.path, created, customer):
                assert well_formed(member.path, value), value
        if member.value_id is not None:
            with check(member.value_id):
                sent = require_value_at(body, member.path)
                for value in shown_values(member.path, created, customer):
                    assert same(member.path, value, sent), value
    paths = [member.path for member in members]
    expect_not_lost(check, paths, created, customer)
    if has_address(paths):
        with check(COMPLETE):
            expect_complete_address(customer)


@requirement("BUS-040")
def test_an_ampersand_in_a_name_is_kept(platform: Platform) -> None:
    """A ``legalName`` with an ampersand, where it is taken, is shown so."""
    path, name = "businessInfo.legalName", "Lindqvist & Sons LLC"
    body = platform.customers.example_body(example("business"))

    answer = platform.api.create_customer(placed(body, path, name))

    if not answer.accepted:
        raise ResourceMissing(f"an ampersand is not taken in a name: {answer}")
    created = arranged_resource(answer)
    for shown in shown_values(path, created, platform.customers.read(created)):
        assert shown == name


@requirement("CUS-071")
@pytest.mark.parametrize("name", ["individual", "business"])
def test_several_currencies_are_kept(platform: Platform, name: str) -> None:
    """A customer who is created with two currencies shows both of them."""
    body = platform.customers.example_body(example(name))
    others = [
        corridor.sending
        for corridor in platform.profile.resources.corridors
        if corridor.sending not in body["currencies"]
    ]
    if not others:
        raise ResourceMissing("the profile's resources.corridors send one currency alone")
    two = [*body["currencies"], others[0]]

    answer = platform.api.create_customer({**body, "currencies": two})

    if answer.code == "MISSING_MANDATORY_USER_INFO":
        raise ResourceMissing(f"more has to be known of a customer who pays in {two}: {answer}")
    created = arranged_resource(answer)
    for value in shown_values("currencies", created, platform.customers.read(created)):
        assert same("currencies", value, two), value


def expect_not_lost(check: Check, paths: list[str], created: Json, customer: Json) -> None:
    """Decide whether a customer and the answer to its creation show the same members.

    An object may show fewer of them in the answer.
    """
    __tracebackhide__ = True
    told = [path for path in paths if value_at(created, path) is not None]
    lost = [path for path in told if value_at(customer, path) is None]
    untold = [path for path in paths if path not in told and value_at(customer, path) is not None]
    parts = [path for path in told if is_due(path, customer)]
    if any("." in path for path in paths):
        with check(WHOLE):
            if not parts:
                raise ResourceMissing("no part of an address or a businessInfo is shown")
            cut = [path for path in parts if path in lost]
            assert not cut, f"{cut} are not shown: {customer}"
    with check(ANY):
        if not told and not untold:
            raise ResourceMissing(f"none of {paths} is shown")
        withheld = [path for path in lost if path not in parts]
        assert not withheld, f"{withheld} are not shown: {customer}"
        assert not untold, f"the answer to the creation does not show {untold}: {created}"


def expect_complete_address(customer: Json) -> None:
    """Raise unless an address that is shown has a city, a state, a postalCode and a country."""
    __tracebackhide__ = True
    if not is_due(PLACE[0], customer):
        raise ResourceMissing("the address is not shown")
    missing = [path for path in PLACE if value_at(customer, path) is None]
    assert not missing, f"{missing} are not shown: {customer}"


def is_due(path: str, customer: Json) -> bool:
    """Return whether a path leads into an object that a customer shows, to nothing personal."""
    holder, _, name = path.partition(".")
    main = MAIN_PARTS.get(holder)
    return (
        bool(name) and name not in PERSONAL and value_at(customer, f"{holder}.{main}") is not None
    )


@pytest.mark.parametrize(
    "member", [case((r, WHOLE, ANY), m, m) for m, r in BUSINESS_DETAILS.items()]
)
def test_a_detail_of_a_business_is_kept(platform: Platform, check: Check, member: str) -> None:
    """A member of ``businessInfo`` with a value from the profile is shown as it was sent.

    That holds for the answer to the creation as for the business that is read, which does not leave
    out what the former shows.
    """
    value = value_of_profile(platform.profile.bindings.business_details, member)
    body = platform.customers.example_body(example("business"))
    info = {**body["businessInfo"], member: value}

    created = arranged_resource(platform.api.create_customer({**body, "businessInfo": info}))

    path = f"businessInfo.{member}"
    business = platform.customers.read(created)
    with check(BUSINESS_DETAILS[member]):
        for shown in shown_values(path, created, business):
            assert same(member, shown, value), shown
    expect_not_lost(check, [path], created, business)


@requirement(*BUSINESS_KINDS.values())
def test_what_kind_of_business_it_is_is_a_text(platform: Platform, check: Check) -> None:
    """``entityType`` and ``businessType`` are shown as texts; the specification lists no values."""
    for member, id_ in BUSINESS_KINDS.items():
        with check(id_):
            value = value_of_profile(platform.profile.bindings.business_details, member)
            body = platform.customers.example_body(example("business"))
            info = {**body["businessInfo"], member: value}

            created = arranged_resource(
                platform.api.create_customer({**body, "businessInfo": info})
            )

            business_info = require_value_at(platform.customers.read(created), "businessInfo")
            assert isinstance(require_member(business_info or {}, member), str), business_info


@pytest.mark.parametrize("member", [case((r, ANY), m, m) for m, r in DUE_DILIGENCE.items()])
def test_a_detail_of_due_diligence_is_kept(platform: Platform, check: Check, member: str) -> None:
    """A member for due diligence with a value from the profile is shown as it was sent.

    That holds for the answer to the creation as for the individual who is read, which does not
    leave out what the former shows.
    """
    value = value_of_profile(platform.profile.bindings.due_diligence, member)
    body = platform.customers.example_body(example("individual"))

    created = arranged_resource(platform.api.create_customer({**body, member: value}))

    individual = platform.customers.read(created)
    with check(DUE_DILIGENCE[member]):
        for shown in shown_values(member, created, individual):
            assert shown == value
    expect_not_lost(check, [member], created, individual)
