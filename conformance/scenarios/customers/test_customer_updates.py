"""Updates of customers: what they change, what they leave unchanged, and which are refused."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from conformance.contract.notation import masked_or_same
from conformance.platform.given.verification import REVIEWED
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Body,
    Json,
    Resource,
    arranged_body,
    arranged_resource,
    require_member,
    unknown_id,
)
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.customers import source_behind_another, value_of_profile
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import require_value_at, same
from conformance.scenarios.kit.refusals import (
    expect_refused_or_reported,
    listed_errors,
    names_fault,
)
from conformance.testdata.examples import ABSENT, Change, Example, example, examples, placed
from conformance.verdict.decisions import ResourceMissing

BUSINESS_INFO = example("business").customer["businessInfo"]

ADDRESS = {
    "line1": "31 Elm Street",
    "line2": "Floor 4",
    "city": "Hartford",
    "state": "CT",
    "postalCode": "06103",
    "country": "US",
}
"""An address of none of the examples."""

CHANGES: dict[str, tuple[str, Any]] = {
    "fullName": ("CUS-034", "Ines Anne-Marie Marchetti"),
    "birthDate": ("CUS-035", "1985-03-15"),
    "nationality": ("CUS-036", "CA"),
    "address": ("CUS-037", ADDRESS),
    "email": ("CUS-038", "ines-############@example.com"),
    "phoneNumber": ("CUS-039", "+1617555####"),
}
"""Members of an individual, each with the requirement that it can be changed and a new value."""

FOREIGN = "MX"
"""The nationality of who is a citizen of none of the countries of addresses."""

OF_BUSINESSES = ("email", "phoneNumber", "address")
"""What a business may change as an individual may."""

RESIDENCE = ("region", "address", "phoneNumber")
"""What changes with any customer who moves to another region."""

NEW_INFO = {
    "legalName": "Marchetti Freight LLC ####",
    "taxId": "45-6######",
    "incorporatedOn": "2012-11-30",
    "registrationNumber": "5#######8",
    "primaryContactFirstName": "Ines",
    "primaryContactLastName": "Marchetti",
}
"""What is changed of a business, which stays in its country."""

DUE_DILIGENCE = {
    "purposeOfAccount": "EDD-028",
    "expectedMonthlyTransactionCount": "EDD-029",
    "expectedMonthlyTransactionVolume": "EDD-030",
    "annualIncomeRange": "EDD-031",
    "netWorthRange": "EDD-032",
    "pepStatus": "EDD-033",
}
"""Members of an individual whose valid values only the profile gives."""

CONSENT = "endUserTermsConsent"

NOT_FOUND_CODES = ("CUSTOMER_NOT_FOUND", "NOT_FOUND", "USER_NOT_FOUND", "REFERENCE_NOT_FOUND")
"""The code of a missing customer, and those of anything that is missing."""

FAULTS = [
    case((change.update, "CUS-033"), f"{sample.name}-{change.member}-{change.name}", sample, change)
    for sample in examples().values()
    for change in sample.refused
    if change.update is not None
]
"""Faults of the examples that are sent in updates too."""

IDENTIFICATION = ("idType", "identifier")

LONE_FAULTS = [
    case(change.update, f"{sample.name}-{change.member}-{change.name}", sample, change)
    for sample in examples().values()
    for change in sample.refused
    if change.update is not None and change.member in IDENTIFICATION
]
"""Faults of an identification that are sent in updates without its other part too."""

FAULTS_IN_OBJECTS = [
    case(change.update, f"{sample.name}-{change.member}-{change.name}", sample, change)
    for sample in examples().values()
    for change in sample.refused
    if change.update is not None and "." in change.member
]
"""Faults of a member of an object that are sent in updates without the rest of it too."""

WRONG: list[tuple[str, Json]] = [
    ("individual", {"birthDate": "1985-13-14"}),
    ("individual", {"fullName": "Ines"}),
    ("individual", {"idType": "SSN", "identifier": "12-34"}),
    ("individual", {"sourceOfFundsCategories": ["OTHER"]}),
    ("business", {"businessInfo": {**BUSINESS_INFO, "taxId": "applied for"}}),
]
"""An example, and what is wrong in an update of it: by a form, by the whole, or by a country."""

UNDESCRIBED = [case(id_, name, name) for name, id_ in (("Funds", "EDD-024"), ("Wealth", "EDD-025"))]


@requirement("CUS-027", "CUS-028", "CUS-029", "CUS-030")
@pytest.mark.parametrize("name", ["individual", "business"])
def test_a_change_changes_what_it_sends(platform: Platform, check: Check, name: str) -> None:
    """An update of ``email`` shows the new value, and leaves all other members unchanged."""
    before = platform.customers.read(fully_told(platform, name))
    new = platform.samples.filled("changed-############@example.com")

    answer = platform.api.update_customer(before["id"], {"email": new})

    with check("CUS-027"):
        answer.expect_accepted()
        assert answer.body.get("id") == before["id"]
        assert answer.body.get("customerType") in (None, before.get("customerType")), answer
        others = {
            name: value
            for name, value in sent_members(before).items()
            if name != "email" and value is not None
        }
        shown = {name: answer.body[name] for name in others if answer.body.get(name) is not None}
        assert [name for name in shown if not _agree(name, shown[name], others[name])] == []
    with check("CUS-028"):
        assert same("email", require_member(arranged_body(answer), "email"), new)
    with check("CUS-029"):
        require_member(before, "email")
        assert same("email", read_until_changed(platform, before, "email", new).get("email"), new)
    with check("CUS-030"):
        expect_only_changed(before, platform.customers.read(before), ["email"])


def expect_all_parts(before: Any, after: Any, sent: Any) -> None:
    """Assert that no part of an object that was shown before a change is lost, if it was sent."""
    __tracebackhide__ = True
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        lost = [part for part in sent if before.get(part) and not after.get(part)]
        assert not lost, f"the change has lost {', '.join(lost)}: {after}"


@pytest.mark.parametrize(
    ("id_", "member", "value"),
    [case((r, "CUS-028", "CUS-030"), m, r, m, value) for m, (r, value) in CHANGES.items()],
)
def test_a_member_can_be_changed(
    platform: Platform, check: Check, id_: str, member: str, value: Any
) -> None:
    """The answer shows the new value of the member, as the customer does who is read again.

    All other members of that customer are unchanged. The customer is of another country than the
    one of the address, if the target lets one be.
    """
    told = fully_told(platform, "individual")
    platform.api.update_customer(told["id"], {"nationality": FOREIGN})
    customer = platform.customers.read(told)
    new = platform.samples.filled(value)

    answer = platform.api.update_customer(customer["id"], {member: new})

    with check(id_):
        answer.expect_accepted()
        require_member(customer, member)
        after = read_until_changed(platform, customer, member, new)
        assert same(member, after.get(member), new)
        expect_all_parts(customer[member], after[member], new)
    with check("CUS-028"):
        assert same(member, require_member(arranged_body(answer), member), new)
    with check("CUS-030"):
        expect_only_changed(customer, platform.customers.read(customer), [member])


@requirement("CUS-028", "CUS-030", *(CHANGES[member][0] for member in OF_BUSINESSES))
def test_the_contacts_of_a_business_can_be_changed(platform: Platform, check: Check) -> None:
    """The answer shows a new email, phone number and address, as the business does on reading."""
    business = platform.customers.read(fully_told(platform, "business"))
    new = {member: platform.samples.filled(CHANGES[member][1]) for member in OF_BUSINESSES}

    answer = platform.api.update_customer(business["id"], new)

    for member in OF_BUSINESSES:
        with check(CHANGES[member][0]):
            answer.expect_accepted()
            require_member(business, member)
            after = read_until_changed(platform, business, member, new[member])
            assert same(member, after.get(member), new[member]), after
            expect_all_parts(business[member], after[member], new[member])
    with check("CUS-028"):
        answer_body = arranged_body(answer)
        told = [member for member in OF_BUSINESSES if answer_body.get(member) is not None]
        assert [name for name in told if not same(name, answer_body[name], new[name])] == []
    with check("CUS-030"):
        expect_only_changed(business, platform.customers.read(business), OF_BUSINESSES)


@pytest.mark.parametrize(
    ("member", "business"),
    [
        case("CUS-003", "individual", "kycStatus", False),
        case("CUS-004", "business", "kybStatus", True),
    ],
)
def test_an_update_in_review_shows_the_status(
    platform: Platform, member: str, *, business: bool
) -> None:
    """The answer to an update of a customer in review has one of the statuses that there are."""
    reviews = platform.verification.reviews
    customer = reviews.in_review(reviews.submitted(business=business))
    name = {"platformCustomerId": platform.samples.own_id()}

    answer = platform.api.update_customer(customer["id"], name)

    if not answer.accepted:
        raise ResourceMissing(f"a customer in review cannot be changed: {answer}")
    assert require_member(arranged_body(answer), member) in (*REVIEWED, "UNVERIFIED"), answer


@requirement("CUS-040", "CUS-028", "CUS-030")
@pytest.mark.parametrize("name", ["individual", "business", "approved"])
def test_the_currencies_can_be_changed(platform: Platform, check: Check, name: str) -> None:
    """The customer's currencies are extended by the sending currency of another corridor.

    What an update takes away again, and is accepted, is not shown any more. Nothing else changes.
    """
    created = (
        platform.approved.customer(currencies=[platform.profile.currency])
        if name == "approved"
        else fully_told(platform, name)
    )
    customer = platform.customers.read(created)
    corridors = platform.profile.resources.corridors
    known = {platform.profile.currency, *require_member(customer, "currencies")}
    others = [c.sending for c in corridors if c.sending not in known]
    if not others:
        raise ResourceMissing("the profile's resources.corridors send one currency alone")
    new = [*customer["currencies"], others[0]]

    answer = platform.api.update_customer(customer["id"], {"currencies": new})

    if answer.code == "MISSING_MANDATORY_USER_INFO":
        raise ResourceMissing(f"more has to be known of a customer who pays in {new}: {answer}")
    with check("CUS-040"):
        answer.expect_accepted()
        after = platform.until(
            lambda: platform.customers.read(customer), lambda c: others[0] in c["currencies"]
        )
        assert sorted(after["currencies"]) == sorted(new)
    with check("CUS-028"):
        assert same("currencies", require_member(arranged_body(answer), "currencies"), new)
    with check("CUS-030"):
        expect_only_changed(customer, platform.customers.read(customer), ["currencies"])
    with check("CUS-040"):
        old = customer["currencies"]
        if platform.api.update_customer(customer["id"], {"currencies": old}).accepted:
            shown = read_until_changed(platform, customer, "currencies", old)
            assert sorted(shown["currencies"]) == sorted(old)


@requirement("CUS-810", "CUS-028")
@pytest.mark.parametrize(
    ("name", "members"),
    [("individual", (*RESIDENCE, "nationality")), ("business", RESIDENCE)],
    ids=["individual", "business"],
)
def test_another_region_is_kept(
    platform: Platform, check: Check, name: str, members: tuple[str, ...]
) -> None:
    """A ``region`` that an update sent and that was accepted is answered, and shown from then on.

    The customer moves there with its address and its phone, and an individual with its nationality.
    """
    customer = platform.customers.read(platform.customers.of_example(example(name)))
    residence = platform.customers.residence(platform.profile.bindings.contact_region)
    moved = {member: residence[member] for member in members}
    if require_member(customer, "region") == moved["region"]:
        raise ResourceMissing("bindings of the profile name one region alone")

    answer = platform.api.update_customer(customer["id"], moved)

    if not answer.accepted:
        raise ResourceMissing(f"the region stays as it is: {answer}")
    with check("CUS-810"):
        shown = read_until_changed(platform, customer, "region", moved["region"])
        assert shown.get("region") == moved["region"]
    with check("CUS-028"):
        assert require_member(arranged_body(answer), "region") == moved["region"]


@requirement("CUS-802", "CUS-015", "CUS-028", "CUS-030")
@pytest.mark.parametrize("name", ["individual", "business"])
def test_another_id_of_the_platform_is_kept(platform: Platform, check: Check, name: str) -> None:
    """A ``platformCustomerId`` that an update sent and that was accepted is shown from then on.

    All other members are unchanged. Another customer may get the same one by an update.
    """
    customer = platform.customers.read(fully_told(platform, name))
    new = platform.samples.reference()

    answer = platform.api.update_customer(customer["id"], {"platformCustomerId": new})

    if not answer.accepted:
        raise ResourceMissing(f"the platformCustomerId stays as it is: {answer}")
    with check("CUS-802"):
        require_member(customer, "platformCustomerId")
    shown = read_until_changed(platform, customer, "platformCustomerId", new)
    with check("CUS-802"):
        assert require_member(shown, "platformCustomerId") == new
    with check("CUS-028"):
        assert require_member(arranged_body(answer), "platformCustomerId") == new
    with check("CUS-030"):
        expect_only_changed(customer, shown, ["platformCustomerId"])
    with check("CUS-015"):
        other = platform.customers.read(platform.customers.applicant(business=False))
        shared = platform.api.update_customer(other["id"], {"platformCustomerId": new})
        if not shared.accepted:
            # What tells two customers of one id apart are their UMA addresses.
            member = platform.profile.bindings.uma_address or "umaAddress"
            if len({require_value_at(one, member) for one in (shown, other)}) == 1:
                raise ResourceMissing("two customers have one UMA address")
        shared.expect_accepted()


@pytest.mark.parametrize(
    ("id_", "source"),
    [
        case(("EDD-026", "CUS-030"), "funds", "EDD-026", "Funds"),
        case(("EDD-027", "CUS-030"), "wealth", "EDD-027", "Wealth"),
    ],
)
def test_sources_can_follow(platform: Platform, check: Check, id_: str, source: str) -> None:
    """Where funds or wealth come from is told by an update, and shown from then on.

    There are two categories where the profile has one beside OTHER.
    """
    given = example(f"source_of_{source.lower()}").customer
    told: Json = {name: value for name, value in given.items() if name.startswith("sourceOf")}
    with contextlib.suppress(ResourceMissing):
        told = source_behind_another(platform, source)

    expect_to_follow(platform, check, id_, told)


@pytest.mark.parametrize(
    ("id_", "member"),
    [case((id_, "CUS-030"), m, id_, m) for m, id_ in DUE_DILIGENCE.items()],
)
def test_diligence_can_follow(platform: Platform, check: Check, id_: str, member: str) -> None:
    """A member for due diligence with a value from the profile is told by an update, and shown."""
    value = value_of_profile(platform.profile.bindings.due_diligence, member)

    expect_to_follow(platform, check, id_, {member: value})


@requirement("CUS-041")
def test_an_identification_number_can_follow(platform: Platform) -> None:
    """An individual that was created without an identification number gets one by an update.

    It is shown where an individual shows it who was created with it.
    """
    body = platform.customers.example_body(example("individual"))
    identification = {name: body.pop(name) for name in ("idType", "identifier")}
    created = platform.api.create_customer(body)
    if not created.accepted:
        raise ResourceMissing("an individual is not created without an identification number")

    answer = platform.api.update_customer(created.body["id"], identification)

    answer.expect_accepted()
    complete = platform.customers.read(platform.customers.of_example(example("individual")))
    for member in (name for name in identification if complete.get(name) is not None):
        shown = read_until_changed(platform, created.body, member, identification[member])
        assert same(member, shown.get(member) or "", identification[member]), shown


@requirement("CUS-084", "CUS-030")
def test_another_identification_number_is_kept(platform: Platform, check: Check) -> None:
    """The number that an individual is known by, once changed, is not shown as the earlier one.

    All other members are unchanged.
    """
    customer = platform.customers.read(fully_told(platform, "individual"))
    other_body = platform.customers.example_body(example("individual_itin"))
    new = {name: other_body[name] for name in ("idType", "identifier")}

    answer = platform.api.update_customer(customer["id"], new)

    if not answer.accepted:
        raise ResourceMissing(f"the identification number stays as it is: {answer}")
    with check("CUS-084"):
        require_member(customer, "identifier")
    shown = platform.until(
        lambda: platform.customers.read(customer),
        lambda now: masked_or_same(now.get("identifier"), new["identifier"]),
    )
    with check("CUS-084"):
        assert masked_or_same(require_member(shown, "identifier"), new["identifier"]), shown
    with check("CUS-030"):
        expect_only_changed(customer, shown, IDENTIFICATION)


@requirement("BUS-024", "CUS-028", "CUS-030")
def test_the_data_of_a_business_can_be_changed(platform: Platform, check: Check) -> None:
    """A business shows what its new ``businessInfo`` says, and everything else as before."""
    consent = {CONSENT: platform.customers.terms_consent()}
    body = {**platform.customers.example_body(example("business")), **consent}
    customer = platform.customers.read(arranged_body(platform.api.create_customer(body)))
    new = {**body["businessInfo"], **platform.samples.filled(NEW_INFO)}
    if new["country"] != "US":
        # A profile may have its businesses elsewhere, where a taxId has another form.
        new["taxId"] = body["businessInfo"]["taxId"]
    shown_before = require_member(customer, "businessInfo")
    members = [name for name in new if shown_before.get(name) is not None]

    answer = platform.api.update_customer(customer["id"], {"businessInfo": new})

    with check("BUS-024"):
        answer.expect_accepted()
        require_member(shown_before, "legalName")
        after = platform.until(
            lambda: platform.customers.read(customer),
            lambda current: (
                (current.get("businessInfo") or {}).get("legalName") == new["legalName"]
            ),
        )
        shown = require_member(after, "businessInfo")
        assert [name for name in members if not same(name, shown.get(name) or "", new[name])] == []
    with check("CUS-028"):
        told = require_member(arranged_body(answer), "businessInfo")
        told_names = [name for name in members if told.get(name) is not None]
        assert [name for name in told_names if not same(name, told[name], new[name])] == []
    with check("CUS-030"):
        now = sent_members(platform.customers.read(customer))
        assert {**now, "businessInfo": None} == {**sent_members(customer), "businessInfo": None}


@requirement("CUS-031")
def test_a_change_of_one_customer_is_none_of_another(platform: Platform) -> None:
    """An older and a newer customer, created from the same example, keep all their members."""
    older, customer, newer = (
        platform.customers.read(platform.customers.of_example(example("individual")))
        for _ in range(3)
    )

    platform.customers.change(customer, fullName="Omar Bauer", birthDate="1980-01-31")

    for other in (older, newer):
        assert sent_members(platform.customers.read(other)) == sent_members(other)


@requirement("CUS-024", "CUS-025", "CUS-026")
def test_nobody_is_read_or_changed_by_an_unknown_id(platform: Platform, check: Check) -> None:
    """Reading and updating with an unknown id are refused with a code for a missing customer."""
    customer = platform.customers.of_example(example("individual"))
    unknown = {"id": unknown_id(customer["id"])}
    name = {"fullName": "Omar Bauer"}

    read_refusal, update_refusal = (
        platform.api.get_customer(unknown["id"]),
        platform.api.update_customer(unknown["id"], name),
    )
    read_answer, update_answer = (
        platform.api.get_customer(customer["id"]),
        platform.api.update_customer(customer["id"], name),
    )

    with check("CUS-024"):
        read_refusal.refused(*NOT_FOUND_CODES, twin=read_answer)
    with check("CUS-025"):
        update_refusal.refused(404, twin=update_answer)
    with check("CUS-026"):
        update_refusal.refused(*NOT_FOUND_CODES, twin=update_answer)


@pytest.mark.parametrize(("sample", "change"), FAULTS)
def test_a_change_with_one_fault_is_refused(
    platform: Platform, check: Check, sample: Example, change: Change
) -> None:
    """The update is refused, or the submission reports the fault; listed fields include it."""
    top_member = change.member.partition(".")[0]
    body = platform.customers.example_body(sample)
    wrong = platform.samples.filled(change.applied(body))
    customer, other = (platform.customers.of_example(sample) for _ in range(2))

    answer = platform.api.update_customer(customer["id"], update_of(wrong, top_member), valid=False)
    twin = platform.api.update_customer(other["id"], update_of(body, top_member))

    assert change.update is not None
    with check(change.update):
        expect_refused_or_reported(platform, answer, twin, late=change.at == "submission")
    with check("CUS-033"):
        if answer.accepted or not twin.accepted or not invalid_fields(answer):
            raise ResourceMissing("no invalid field was listed")
        assert names_fault(answer, sample, change), answer


@pytest.mark.parametrize(("sample", "change"), LONE_FAULTS)
def test_a_part_of_an_identification_is_held_to_the_other_one(
    platform: Platform, sample: Example, change: Change
) -> None:
    """An update to a wrong ``idType`` or ``identifier`` alone is refused, or reported later."""
    body = platform.customers.example_body(sample)
    wrong = platform.samples.filled(change.applied(body))
    customer, other = (platform.customers.of_example(sample) for _ in range(2))

    answer = platform.api.update_customer(
        customer["id"], {change.member: wrong[change.member]}, valid=False
    )
    twin = platform.api.update_customer(other["id"], {change.member: body[change.member]})

    if not twin.accepted:
        raise ResourceMissing(f"the {change.member} is not changed alone: {twin}")
    expect_refused_or_reported(platform, answer, twin)


@pytest.mark.parametrize(("sample", "change"), FAULTS_IN_OBJECTS)
def test_a_part_of_an_object_is_held_to_the_rest_of_it(
    platform: Platform, sample: Example, change: Change
) -> None:
    """An update to a wrong member of an object, without the rest, is refused or reported later."""
    top_member, _, name = change.member.partition(".")
    right = platform.customers.example_body(sample)[top_member][name]
    wrong = platform.samples.filled(change.value)
    customer, other = (platform.customers.of_example(sample) for _ in range(2))
    whole = require_member(platform.customers.read(other), top_member)

    answer = platform.api.update_customer(customer["id"], {top_member: {name: wrong}}, valid=False)
    twin = platform.api.update_customer(other["id"], {top_member: {name: right}})

    if not twin.accepted:
        raise ResourceMissing(f"the {change.member} is not changed alone: {twin}")
    if (platform.customers.read(other).get(top_member) or {}).keys() != whole.keys():
        # What is left of an object that was replaced cannot be wrong beside the rest.
        raise ResourceMissing(f"the rest of the {top_member} is taken away")
    expect_refused_or_reported(platform, answer, twin)


@pytest.mark.parametrize("source", UNDESCRIBED)
def test_a_change_to_another_source_needs_its_description(platform: Platform, source: str) -> None:
    """An update to the category OTHER alone is refused, or the submission reports it."""
    categories, description = f"sourceOf{source}Categories", f"sourceOf{source}OtherDescription"
    first, second = (platform.customers.of_example(example("individual")) for _ in range(2))
    update = {categories: ["OTHER"], description: "Prize of a literary competition"}

    answer = platform.api.update_customer(
        first["id"], placed(update, description, ABSENT), valid=False
    )

    expect_refused_or_reported(platform, answer, platform.api.update_customer(second["id"], update))


@pytest.mark.parametrize("source", UNDESCRIBED)
def test_a_change_needs_the_description_wherever_other_is_listed(
    platform: Platform, source: str
) -> None:
    """An update to OTHER behind another category is refused, or the submission reports it."""
    update = source_behind_another(platform, source)
    first, second = (platform.customers.of_example(example("individual")) for _ in range(2))

    answer = platform.api.update_customer(
        first["id"], placed(update, f"sourceOf{source}OtherDescription", ABSENT), valid=False
    )

    expect_refused_or_reported(platform, answer, platform.api.update_customer(second["id"], update))


@pytest.mark.parametrize("emptied", ["", None], ids=["empty", "null"])
@pytest.mark.parametrize(
    ("source", "sample"),
    [
        case("EDD-024", "funds", "Funds", "source_of_funds"),
        case("EDD-025", "wealth", "Wealth", "source_of_wealth"),
    ],
)
def test_a_description_is_not_taken_away_from_another_source(
    platform: Platform, source: str, sample: str, emptied: str | None
) -> None:
    """An update that empties the description of OTHER is refused, or the submission reports it.

    What an update with null means is not said, so that it may also leave the description.
    """
    description = f"sourceOf{source}OtherDescription"
    customer, other = (platform.customers.of_example(example(sample)) for _ in range(2))
    require_member(platform.customers.read(customer), description)

    answer = platform.api.update_customer(customer["id"], {description: emptied}, valid=False)

    if answer.accepted and platform.customers.read(customer).get(description):
        raise ResourceMissing("an empty description leaves the one that is known")
    twin = platform.api.update_customer(other["id"], {description: "Prize of a competition"})
    expect_refused_or_reported(platform, answer, twin)


@requirement("CUS-032")
@pytest.mark.parametrize(("name", "wrong"), WRONG, ids=[next(iter(wrong)) for _, wrong in WRONG])
def test_a_refused_change_changes_nothing(platform: Platform, name: str, wrong: Json) -> None:
    """A valid ``email`` beside a faulty member is not changed, and neither is that member."""
    customer = platform.customers.read(platform.customers.of_example(example(name)))
    change = {"email": platform.samples.filled("changed-############@example.com")}
    require_member(customer, "email")

    refusal = platform.api.update_customer(customer["id"], {**change, **wrong}, valid=False)

    if refusal.accepted:
        raise ResourceMissing("the fault was not refused when it was sent")
    members = {*sent_members(customer), *wrong}
    after = platform.customers.read(customer)
    assert {m: after.get(m) for m in members} == {m: customer.get(m) for m in members}


def test_how_a_part_of_an_object_is_changed_is_recorded(platform: Platform) -> None:
    """The specification does not say if the address keeps its city, so the answer is recorded."""
    body = platform.customers.example_body(example("business"))
    customer = arranged_body(platform.api.create_customer(body))

    platform.api.update_customer(customer["id"], {"address": {"line1": "7 Quay Street"}})

    keeps_city = "city" in (platform.customers.read(customer).get("address") or {})
    platform.observe(
        f"a change of an address's first line {'keeps' if keeps_city else 'drops'} its town"
    )


def update_of(body: Json, member: str) -> Json:
    """Return the update that sends a member; ``idType`` and ``identifier`` go together."""
    together = IDENTIFICATION if member in IDENTIFICATION else (member,)
    return {name: body[name] for name in together}


def invalid_fields(refusal: Any) -> list[Json]:
    """Return the invalid fields that a refusal lists, or an empty list without ``details``."""
    body = refusal.body if isinstance(refusal.body, Mapping) else {}
    return listed_errors(refusal) if isinstance(body.get("details"), Mapping) else []


def expect_only_changed(before: Resource, after: Resource, changed: Iterable[str]) -> None:
    """Assert that of the members that a client sends, no others differ than the changed ones."""
    __tracebackhide__ = True
    new = {member: after.get(member) for member in changed}
    assert sent_members(after) == {**sent_members(before), **new}


def read_until_changed(platform: Platform, customer: Resource, member: str, value: Any) -> Resource:
    """Read a customer until a member shows its new value; return the customer."""
    return platform.until(
        lambda: platform.customers.read(customer),
        lambda current: same(member, current.get(member), value),
    )


def expect_to_follow(platform: Platform, check: Check, id_: str, told: Json) -> None:
    """Decide whether an update tells members of an individual who was created without them.

    They are shown where an individual shows them who was created with them, and nothing else
    changes of one who was created with all others. A later change of another member leaves them.
    """
    __tracebackhide__ = True
    body = platform.customers.example_body(example("individual"))
    complete = arranged_resource(platform.api.create_customer({**body, **told}))
    customer = fully_told(platform, "individual", untold=told)
    before = platform.customers.read(customer)

    answer = platform.api.update_customer(customer["id"], told)

    with check(id_):
        answer.expect_accepted()
        for member, value in told.items():
            require_member(platform.customers.read(complete), member)
            shown = read_until_changed(platform, customer, member, value)
            assert same(member, shown.get(member), value), answer
    now = platform.customers.read(customer)
    with check("CUS-030"):
        expect_only_changed(before, now, told)
    platform.customers.change(customer, email=platform.samples.filled(CHANGES["email"][1]))
    with check("CUS-030"):
        expect_only_changed(now, platform.customers.read(customer), ["email"])


def fully_told(platform: Platform, name: str, *, untold: Iterable[str] = ()) -> Resource:
    """Create the customer of an example, who tells of its consent and its due diligence too.

    What of these only the profile can tell is left out where it does not, and ``untold`` are left
    out anyway. A target that takes none of them creates the customer of the example alone.
    """
    bindings = platform.profile.bindings
    body = platform.customers.example_body(example(name))
    more: Body = {CONSENT: platform.customers.terms_consent()}
    if "businessInfo" in body:
        more["businessInfo"] = {**body["businessInfo"], **bindings.business_details}
    else:
        sources = example("sources_of_both").customer
        more |= {member: sources[member] for member in sources if member.startswith("sourceOf")}
        known = bindings.due_diligence
        more |= {member: known[member] for member in DUE_DILIGENCE if member in known}
    more = {member: value for member, value in more.items() if member not in untold}
    answer = platform.api.create_customer({**body, **more})
    if not answer.accepted:
        answer = platform.api.create_customer(body)
    return arranged_resource(answer)


def sent_members(customer: Resource) -> Json:
    """Return the members of a customer that the platform can send, as the customer shows them."""
    names = (*example("sources_of_both").customer, "businessInfo", *DUE_DILIGENCE, CONSENT)
    return {name: customer.get(name) for name in names}


def _agree(member: str, shown: Any, read: Any) -> bool:
    """Return whether an answer and a reading show the same; numbers may be masked in either."""
    if isinstance(shown, Mapping) and isinstance(read, Mapping):
        common = shown.keys() & read.keys()
        return all(_agree(name, shown[name], read[name]) for name in common)
    return shown == read or same(member, shown, read) or same(member, read, shown)
