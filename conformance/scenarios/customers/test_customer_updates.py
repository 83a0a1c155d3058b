"""Changes of customers: what they change, what they leave alone, and which are refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body, require_member, unknown_id
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import same
from conformance.scenarios.kit.refusals import listed, names, refused_or_held
from conformance.testdata.examples import ABSENT, Change, Example, example, examples, placed
from conformance.verdict.decisions import ResourceMissing

ADDRESS = {
    "line1": "12 Harbor Street",
    "city": "Boston",
    "state": "MA",
    "postalCode": "02110",
    "country": "US",
}

CHANGES: dict[str, tuple[str, Any]] = {
    "fullName": ("CUS-034", "Ines Marchetti"),
    "birthDate": ("CUS-035", "1985-03-15"),
    "nationality": ("CUS-036", "CA"),
    "address": ("CUS-037", ADDRESS),
    "email": ("CUS-038", "ines-############@example.com"),
    "phoneNumber": ("CUS-039", "+1617555####"),
}
"""Members of an individual, each with the rule that it can be changed and another value."""

MISSING = ("CUSTOMER_NOT_FOUND", "NOT_FOUND", "USER_NOT_FOUND", "REFERENCE_NOT_FOUND")
"""The code of a missing customer, and those of anything that is missing."""

FAULTS = [
    pytest.param(
        found,
        change,
        marks=requirement(change.update, "CUS-033"),
        id=f"{found.name}-{change.member}-{change.name}",
    )
    for found in examples().values()
    for change in found.refused
    if change.update is not None
]
"""The faults of examples that are sent as changes too."""

UNDESCRIBED = [
    pytest.param(name, marks=requirement(rule), id=name)
    for name, rule in (("Funds", "EDD-024"), ("Wealth", "EDD-025"))
]


@requirement("CUS-027", "CUS-028", "CUS-029", "CUS-030")
def test_a_change_changes_what_it_sends(platform: Platform, check: Check) -> None:
    """And nothing else, in its answer and whenever the customer is read again."""
    before = platform.customers.read(platform.customers.of_example(example("individual")))
    new = platform.samples.filled("changed-############@example.com")

    answer = platform.api.update_customer(before["id"], {"email": new})

    with check("CUS-027"):
        assert answer.accepted, answer
        assert answer.body.get("id") == before["id"]
    with check("CUS-028"):
        assert same("email", require_member(arranged_body(answer), "email"), new)
    with check("CUS-029"):
        require_member(before, "email")
        assert same("email", reread(platform, before, "email", new).get("email"), new)
    with check("CUS-030"):
        after = platform.customers.read(before)
        assert told(after) == {**told(before), "email": after.get("email")}


@pytest.mark.parametrize(
    ("member", "value"),
    [pytest.param(m, value, marks=requirement(r), id=m) for m, (r, value) in CHANGES.items()],
)
def test_a_member_can_be_changed(platform: Platform, member: str, value: Any) -> None:
    """It is there when the customer is read again."""
    customer = platform.customers.read(platform.customers.of_example(example("individual")))
    new = platform.samples.filled(value)

    answer = platform.api.update_customer(customer["id"], {member: new})

    assert answer.accepted, answer
    require_member(customer, member)
    assert same(member, reread(platform, customer, member, new).get(member), new)


@requirement("CUS-040")
def test_the_currencies_can_be_changed(platform: Platform) -> None:
    """A customer comes to deal in another one of the corridors."""
    customer = platform.customers.read(platform.customers.of_example(example("individual")))
    corridors = platform.profile.resources.corridors
    known = {platform.profile.currency, *require_member(customer, "currencies")}
    others = [c.sending for c in corridors if c.sending not in known]
    if not others:
        raise ResourceMissing("the profile's resources.corridors send one currency alone")
    new = [*customer["currencies"], others[0]]

    answer = platform.api.update_customer(customer["id"], {"currencies": new})

    assert answer.accepted, answer
    after = platform.until(
        lambda: platform.customers.read(customer), lambda c: others[0] in c["currencies"]
    )
    assert sorted(after["currencies"]) == sorted(new)


@requirement("CUS-041")
def test_an_identification_number_can_follow(platform: Platform) -> None:
    """An individual is created without one, and gets it by a change."""
    body = platform.customers.example_body(example("individual"))
    identification = {name: body.pop(name) for name in ("idType", "identifier")}
    created = platform.api.create_customer(body)
    if not created.accepted:
        raise ResourceMissing("an individual is not created without an identification number")

    answer = platform.api.update_customer(created.body["id"], identification)

    assert answer.accepted, answer


@requirement("BUS-024")
def test_the_data_of_a_business_can_be_changed(platform: Platform) -> None:
    """Here its registered name."""
    body = platform.customers.example_body(example("business"))
    customer = platform.customers.read(arranged_body(platform.api.create_customer(body)))
    name = platform.samples.filled("Marchetti Freight LLC ####")
    new = {**body["businessInfo"], "legalName": name}

    answer = platform.api.update_customer(customer["id"], {"businessInfo": new})

    assert answer.accepted, answer
    require_member(require_member(customer, "businessInfo"), "legalName")
    after = platform.until(
        lambda: platform.customers.read(customer),
        lambda seen: seen.get("businessInfo", {}).get("legalName") == name,
    )
    assert after["businessInfo"]["legalName"] == name


@requirement("CUS-031")
def test_a_change_of_one_customer_is_none_of_another(platform: Platform) -> None:
    """Not even of one with the same data in all but its numbers."""
    other = platform.customers.read(platform.customers.of_example(example("individual")))
    customer = platform.customers.of_example(example("individual"))

    platform.customers.change(customer, fullName="Omar Bauer", birthDate="1980-01-31")

    assert told(platform.customers.read(other)) == told(other)


@requirement("CUS-024", "CUS-025", "CUS-026")
def test_nobody_is_read_or_changed_by_an_unknown_id(platform: Platform, check: Check) -> None:
    """The id has the form of the target's own, and nobody has it."""
    customer = platform.customers.of_example(example("individual"))
    nobody = {"id": unknown_id(customer["id"])}
    name = {"fullName": "Omar Bauer"}

    unread, unchanged = (
        platform.api.get_customer(nobody["id"]),
        platform.api.update_customer(nobody["id"], name),
    )
    read, changed = (
        platform.api.get_customer(customer["id"]),
        platform.api.update_customer(customer["id"], name),
    )

    with check("CUS-024"):
        unread.refused(*MISSING, twin=read)
    with check("CUS-025"):
        unchanged.refused(404, twin=changed)
    with check("CUS-026"):
        unchanged.refused(*MISSING, twin=changed)


@pytest.mark.parametrize(("found", "change"), FAULTS)
def test_a_change_with_one_fault_is_refused(
    platform: Platform, check: Check, found: Example, change: Change
) -> None:
    """And the error, if it lists fields, names the one that is wrong."""
    top = change.member.partition(".")[0]
    body = platform.customers.example_body(found)
    wrong = platform.samples.filled(change.applied(body))
    changed, other = (platform.customers.of_example(found) for _ in range(2))

    answer = platform.api.update_customer(changed["id"], sent(wrong, top), valid=False)
    twin = platform.api.update_customer(other["id"], sent(body, top))

    assert change.update is not None
    with check(change.update):
        refused_or_held(platform, answer, twin, late=change.at == "submission")
    with check("CUS-033"):
        if answer.accepted or not twin.accepted or not entries(answer):
            raise ResourceMissing("no invalid field was listed")
        assert names(answer, *change.names), answer


@pytest.mark.parametrize("source", UNDESCRIBED)
def test_a_change_to_another_source_needs_its_description(platform: Platform, source: str) -> None:
    """As it is at the creation."""
    categories, description = f"sourceOf{source}Categories", f"sourceOf{source}OtherDescription"
    first, second = (platform.customers.of_example(example("individual")) for _ in range(2))
    whole = {categories: ["OTHER"], description: "Prize of a literary competition"}

    answer = platform.api.update_customer(
        first["id"], placed(whole, description, ABSENT), valid=False
    )

    refused_or_held(platform, answer, platform.api.update_customer(second["id"], whole))


@requirement("CUS-032")
def test_a_refused_change_changes_nothing(platform: Platform) -> None:
    """Not the members either that are right."""
    customer = platform.customers.read(platform.customers.of_example(example("individual")))
    right = {"email": platform.samples.filled("changed-############@example.com")}
    require_member(customer, "email")

    refusal = platform.api.update_customer(
        customer["id"], {**right, "birthDate": "1985-13-14"}, valid=False
    )

    if refusal.accepted:
        raise ResourceMissing("the fault was not refused when it was sent")
    assert told(platform.customers.read(customer)) == told(customer)


def test_how_a_part_of_an_object_is_changed_is_recorded(platform: Platform) -> None:
    """Whether the rest of it stays is left open, so the answer decides nothing."""
    body = platform.customers.example_body(example("business"))
    customer = arranged_body(platform.api.create_customer(body))

    platform.api.update_customer(customer["id"], {"address": {"line1": "7 Quay Street"}})

    kept = "city" in (platform.customers.read(customer).get("address") or {})
    platform.observe(f"a change of an address's first line {'keeps' if kept else 'drops'} its town")


def sent(body: Json, member: str) -> Json:
    """Return the change that sends a member; a number goes with its kind."""
    together = ("idType", "identifier") if member in ("idType", "identifier") else (member,)
    return {name: body[name] for name in together}


def entries(refusal: Any) -> list[Json]:
    """Return the invalid fields that a refused change lists, if it lists any."""
    body = refusal.body if isinstance(refusal.body, Mapping) else {}
    return listed(refusal) if isinstance(body.get("details"), Mapping) else []


def reread(platform: Platform, customer: Resource, member: str, value: Any) -> Resource:
    """Return a customer as it is read once a member shows its new value."""
    return platform.until(
        lambda: platform.customers.read(customer),
        lambda seen: same(member, seen.get(member), value),
    )


def told(customer: Resource) -> Json:
    """Return what the platform has told about a customer, as the customer shows it."""
    return {name: customer.get(name) for name in (*example("individual").customer, "businessInfo")}
