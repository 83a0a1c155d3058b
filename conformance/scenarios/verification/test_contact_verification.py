"""Contact verification: a one-time code proves that an email or phone is the customer's."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.customers import verification_status
from conformance.platform.given.verification import CHANNELS, contact_channels, other_channel
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Body,
    Resource,
    arranged_body,
    arranged_resource,
    unknown_id,
)
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.customers import for_both_types
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import REFUSED, last_name, names
from conformance.scenarios.kit.regions import EU
from conformance.verdict.decisions import ResourceMissing

TOO_MANY = 429


def for_each_channel(email: str, phone: str) -> pytest.MarkDecorator:
    """Run a test for each channel; it decides one requirement for each."""
    rows = zip(CHANNELS, (email, phone), strict=True)
    return pytest.mark.parametrize("channel", [case(id_, name, name) for name, id_ in rows])


@dataclass(frozen=True, slots=True)
class Ids:
    """The requirements that a test decides for a channel."""

    channel: str
    first: str
    second: str


def with_two_requirements(*rows: Ids) -> pytest.MarkDecorator:
    """Run a test for each channel; it decides two requirements for each."""
    return pytest.mark.parametrize(
        "ids",
        [case((row.first, row.second), row.channel, row) for row in rows],
    )


@requirement("CON-001", "CON-002", "CON-003", "CON-004")
def test_a_customer_shows_which_channels_it_has_to_verify(platform: Platform, check: Check) -> None:
    """``contactVerification`` has a status for ``email`` or ``phone``, and for no other channel."""
    customer = platform.verification.contact.customer()

    verification = customer["contactVerification"]

    with check("CON-004"):
        # Members with other values may say something else about the verification.
        names = [key for key, value in verification.items() if value in ("PENDING", "VERIFIED")]
        assert set(names) <= set(CHANNELS), verification
    for id_, channel in (("CON-002", "email"), ("CON-003", "phone")):
        with check(id_):
            require_channel(customer, channel)


@requirement("CON-055")
def test_what_has_to_be_verified_is_shown(platform: Platform) -> None:
    """A customer of a region that verifies contact channels shows which it has to verify."""
    customer = platform.verification.contact.customer()

    assert contact_channels(customer)


@requirement("CON-061")
def test_what_has_to_be_verified_is_shown_after_a_change(platform: Platform) -> None:
    """The answer to a change has the channels in it that the customer shows on reading."""
    customer = platform.verification.contact.customer()

    answer = platform.api.update_customer(customer["id"], {"birthDate": "1985-03-15"})

    changed = arranged_resource(answer)
    assert contact_channels(changed) == contact_channels(platform.customers.read(customer)), changed


@requirement("CON-067")
def test_a_nationality_decides_no_channel(platform: Platform) -> None:
    """A Canadian of the region has the channels to verify that one of its own nationality has."""
    usual = platform.verification.contact.customer(business=False)
    body = {**platform.verification.contact.body(), "nationality": "CA"}

    answer = platform.api.create_customer(body)

    if not answer.accepted:
        raise ResourceMissing(f"no Canadian is taken in the region {body['region']}: {answer}")
    assert contact_channels(answer.body).keys() == contact_channels(usual).keys(), answer


@requirement("CON-054")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_the_whole_eu_verifies_contact_channels(platform: Platform, *, business: bool) -> None:
    """Customers of all countries of the EU have channels to verify, as that of the profile has.

    A country whose customers are not taken is left out.
    """
    contact = platform.verification.contact
    known_region = platform.profile.bindings.contact_region
    contact.customer(business=business)
    if known_region not in EU:
        raise ResourceMissing(f"the region {known_region} is no country of the EU")

    def body_of(region: str) -> Body:
        return contact.business_body(region=region) if business else contact.body(region)

    answers = {
        region: platform.api.create_customer(body_of(region))
        for region in EU
        if region != known_region
    }

    taken = {region: answer for region, answer in answers.items() if answer.accepted}
    if not taken:
        raise ResourceMissing(f"customers of {known_region} alone are taken in the EU")
    missing = [name for name, answer in taken.items() if not contact_channels(answer.body)]
    assert not missing, f"no contact channel has to be verified in {missing}"


@for_each_channel("CON-005", "CON-006")
def test_a_channel_is_pending_at_first(platform: Platform, channel: str) -> None:
    """The channel of a new customer is PENDING."""
    customer = platform.verification.contact.customer(channel)

    assert contact_channels(customer)[channel] == "PENDING"


@for_both_types(("CON-063", "CON-065"), ("CON-064", "CON-065"))
def test_a_new_customer_has_no_channel_that_is_verified(
    platform: Platform, check: Check, ids: tuple[str, ...], *, business: bool
) -> None:
    """No channel is listed as VERIFIED before a code was sent, whatever region it is.

    Where none has to be verified ``contactVerification`` is absent or null, and no empty object.
    """
    body = platform.customers.business_body() if business else platform.customers.body()

    created = arranged_resource(platform.api.create_customer(body))
    seen = platform.customers.read(created)

    verified_id, absent_id = ids
    with check(verified_id):
        for customer in (created, seen):
            assert "VERIFIED" not in contact_channels(customer).values(), customer
    with check(absent_id):
        if contact_channels(seen):
            raise ResourceMissing("every customer has to verify a contact channel")
        for customer in (created, seen):
            assert customer.get("contactVerification") != {}, customer


@with_two_requirements(Ids("email", "CON-007", "CON-009"), Ids("phone", "CON-008", "CON-010"))
def test_a_code_is_sent(platform: Platform, check: Check, ids: Ids) -> None:
    """The request for a code is accepted, and the channel stays PENDING."""
    customer = platform.verification.contact.customer(ids.channel)

    answer = platform.verification.contact.send_code(customer, ids.channel)

    with check(ids.first):
        answer.expect_accepted()
    with check(ids.second):
        assert platform.verification.contact.status(customer, ids.channel) == "PENDING"


@pytest.mark.parametrize("after", ["a code", "a wrong guess"])
@pytest.mark.parametrize(
    ("channel", "ids"),
    [
        case(ids, channel, channel, ids)
        for channel, ids in (
            ("email", ("CON-011", "CON-009", "CON-012")),
            ("phone", ("CON-051", "CON-010", "CON-066")),
        )
    ],
)
def test_a_code_is_sent_again(
    platform: Platform, check: Check, channel: str, ids: tuple[str, str, str], after: str
) -> None:
    """A second request for a code is accepted, and the code alone then verifies the channel."""
    sent_id, left_id, confirmed_id = ids
    customer = platform.verification.contact.customer(channel)
    platform.verification.contact.arrange_code(customer, channel)
    if after == "a wrong guess":
        guess = {"code": platform.profile.bindings.contact_wrong_code}
        platform.verification.contact.confirm_code(customer, channel, guess)

    second_answer = platform.verification.contact.send_code(customer, channel)

    if second_answer.status == TOO_MANY:
        raise ResourceMissing(f"the target limits the pace of codes: {second_answer}")
    with check(sent_id):
        second_answer.expect_accepted()
    with check(left_id):
        assert platform.verification.contact.status(customer, channel) == "PENDING", second_answer
    with check(confirmed_id):
        arranged_body(second_answer)
        confirmed = platform.verification.contact.confirm_code(customer, channel)
        confirmed.expect_accepted()
        assert platform.verification.contact.at_status(customer, channel, "VERIFIED") == "VERIFIED"


@with_two_requirements(Ids("email", "CON-013", "CON-015"), Ids("phone", "CON-014", "CON-016"))
def test_the_right_code_verifies_a_channel(platform: Platform, check: Check, ids: Ids) -> None:
    """The code that was sent is accepted, and the channel becomes VERIFIED."""
    customer = platform.verification.contact.customer(ids.channel)
    platform.verification.contact.arrange_code(customer, ids.channel)

    answer = platform.verification.contact.confirm_code(customer, ids.channel)

    with check(ids.first):
        answer.expect_accepted()
    with check(ids.second):
        arranged_body(answer)
        assert (
            platform.verification.contact.at_status(customer, ids.channel, "VERIFIED") == "VERIFIED"
        )


@for_each_channel("CON-044", "CON-045")
def test_a_business_verifies_its_channels_too(platform: Platform, channel: str) -> None:
    """The code that was sent to a business makes its channel VERIFIED."""
    business = platform.verification.contact.customer(channel, business=True)
    platform.verification.contact.arrange_code(business, channel)

    answer = platform.verification.contact.confirm_code(business, channel)

    answer.expect_accepted()
    assert platform.verification.contact.at_status(business, channel, "VERIFIED") == "VERIFIED"


@with_two_requirements(Ids("email", "CON-017", "CON-019"), Ids("phone", "CON-018", "CON-020"))
def test_each_channel_is_verified_on_its_own(platform: Platform, check: Check, ids: Ids) -> None:
    """The first channel leaves the second PENDING, and the second leaves the first VERIFIED."""
    first, second = ids.channel, other_channel(ids.channel)
    customer = platform.verification.contact.customer(first, second)

    after_first = platform.verification.contact.verify(customer, first)

    with check(ids.first):
        assert contact_channels(after_first).get(second) == "PENDING", after_first
    with check(ids.second):
        after_second = platform.verification.contact.verify(customer, second)
        assert contact_channels(after_second).get(first) == "VERIFIED", after_second


@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
@for_each_channel("CON-021", "CON-022")
def test_a_wrong_code_verifies_nothing(platform: Platform, channel: str, *, business: bool) -> None:
    """The channel stays PENDING; another customer's becomes VERIFIED by the right code."""
    customer = platform.verification.contact.customer(channel, business=business)
    platform.verification.contact.arrange_code(customer, channel)

    answer = platform.verification.contact.confirm_code(
        customer, channel, {"code": platform.profile.bindings.contact_wrong_code}
    )

    platform.verification.contact.verify(platform.verification.contact.customer(channel), channel)
    assert platform.verification.contact.status(customer, channel) == "PENDING", answer
    platform.observe(f"a wrong contact code is answered with {answer.status}")


@for_each_channel("CON-023", "CON-024")
def test_an_empty_code_verifies_nothing(platform: Platform, channel: str) -> None:
    """The channel stays PENDING; another customer's becomes VERIFIED by the right code."""
    customer = platform.verification.contact.customer(channel)
    platform.verification.contact.arrange_code(customer, channel)

    answer = platform.verification.contact.confirm_code(customer, channel, {"code": ""})

    platform.verification.contact.verify(platform.verification.contact.customer(channel), channel)
    assert platform.verification.contact.status(customer, channel) == "PENDING", answer


@for_each_channel("CON-052", "CON-053")
def test_a_code_that_was_not_sent_verifies_nothing(platform: Platform, channel: str) -> None:
    """The channel stays PENDING by the code that verifies it once it was sent."""
    customer = platform.verification.contact.customer(channel)

    answer = platform.verification.contact.confirm_code(customer, channel)

    seen = platform.verification.contact.status(customer, channel)
    platform.verification.contact.verify(platform.verification.contact.customer(channel), channel)
    assert seen == "PENDING", answer


@for_each_channel("CON-025", "CON-026")
def test_a_confirmation_needs_a_code(platform: Platform, channel: str) -> None:
    """A confirmation with an empty object as its body is refused."""
    customer = platform.verification.contact.customer(channel)
    platform.verification.contact.arrange_code(customer, channel)

    refusal = platform.verification.contact.confirm_code(customer, channel, {}, valid=False)

    refusal.refused(twin=platform.verification.contact.confirm_code(customer, channel))


@with_two_requirements(Ids("email", "CON-027", "CON-029"), Ids("phone", "CON-028", "CON-030"))
def test_a_verified_channel_stays_verified(platform: Platform, check: Check, ids: Ids) -> None:
    """A used code and a wrong code leave the channel VERIFIED."""
    customer = platform.verification.contact.customer(ids.channel)
    platform.verification.contact.verify(customer, ids.channel)

    used_answer = platform.verification.contact.confirm_code(customer, ids.channel)
    after_used = platform.verification.contact.status(customer, ids.channel)
    wrong_answer = platform.verification.contact.confirm_code(
        customer, ids.channel, {"code": platform.profile.bindings.contact_wrong_code}
    )
    after_wrong = platform.verification.contact.status(customer, ids.channel)

    with check(ids.second):
        assert after_used == "VERIFIED", used_answer
    with check(ids.first):
        assert after_wrong == "VERIFIED", wrong_answer
    platform.observe(f"a contact code that was used already is answered with {used_answer.status}")


@for_each_channel("CON-059", "CON-060")
def test_another_code_leaves_a_verified_channel_alone(platform: Platform, channel: str) -> None:
    """A channel that is VERIFIED stays so, whether another code is sent to it or refused."""
    customer = platform.verification.contact.customer(channel)
    platform.verification.contact.verify(customer, channel)

    answer = platform.verification.contact.send_code(customer, channel)

    assert platform.verification.contact.status(customer, channel) == "VERIFIED", answer
    platform.observe(f"a code to a contact channel that is VERIFIED is answered: {answer.status}")


@pytest.mark.parametrize(
    "shared",
    [
        case("CON-031", "own-addresses", False),
        case("CON-062", "shared-addresses", True),
    ],
)
def test_a_code_verifies_one_customer(platform: Platform, *, shared: bool) -> None:
    """The channels of another customer who got codes too stay PENDING.

    That holds for one with the same email and phone number, where there can be two such customers.
    """
    body, other_body = (platform.verification.contact.body() for _ in range(2))
    if shared:
        other_body |= {name: body[name] for name in CHANNELS.values()}
    customer = platform.verification.contact.customer(body=body)
    creation = platform.api.create_customer(other_body)
    if shared and not creation.accepted:
        raise ResourceMissing(f"no two customers have the same addresses: {creation}")
    other = arranged_resource(creation)
    for channel in contact_channels(other):
        platform.verification.contact.arrange_code(other, channel)

    platform.verification.contact.verify(customer)

    seen = contact_channels(platform.customers.read(other))
    assert set(seen.values()) == {"PENDING"}, seen


@requirement("CON-032", "CON-061")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_a_verified_channel_outlasts_an_update(
    platform: Platform, check: Check, *, business: bool
) -> None:
    """An update with the name that the customer has leaves its channels VERIFIED, and says so.

    So does one of its date of birth or of incorporation, and one that would change the addresses of
    the channels, and is refused.
    """
    contact = platform.verification.contact
    body = contact.business_body() if business else contact.body()
    customer = contact.customer(body=body)
    verified = contact_channels(contact.verify(customer))
    name = "businessInfo" if business else "fullName"

    changed = platform.customers.change(customer, **{name: body[name]})

    seen = contact_channels(platform.customers.read(customer))
    with check("CON-032"):
        assert seen == verified
    with check("CON-061"):
        assert contact_channels(changed) == seen, changed
    with check("CON-032"):
        info = {**body.get("businessInfo", {}), "incorporatedOn": "2012-11-30"}
        dated = {"businessInfo": info} if business else {"birthDate": "1985-03-15"}
        dated_answer = platform.api.update_customer(customer["id"], dated)
        seen = contact_channels(platform.customers.read(customer))
        assert seen == verified, dated_answer
    with check("CON-032"):
        email = platform.samples.filled("changed-############@example.com")
        wrong = {"email": email, "phoneNumber": "+4915123000000", "birthDate": "1985-13-14"}
        if not platform.api.update_customer(customer["id"], wrong, valid=False).accepted:
            assert contact_channels(platform.customers.read(customer)) == verified


@for_both_types(("CON-061", "CON-015", "CON-016"), ("CON-061", "CON-044", "CON-045"))
def test_what_was_changed_can_be_verified_again(
    platform: Platform, check: Check, ids: tuple[str, ...], *, business: bool
) -> None:
    """A new address of a verified channel is verified by a code, where it is PENDING from then on.

    The answer to the change says of the channels what the customer shows on reading.
    """
    contact = platform.verification.contact
    answer_id, *verified_ids = ids
    customer = contact.customer(business=business)
    contact.verify(customer)
    other = contact.business_body() if business else contact.body()

    change = platform.api.update_customer(
        customer["id"], {member: other[member] for member in CHANNELS.values()}
    )

    if not change.accepted:
        raise ResourceMissing(f"addresses that are verified stay as they are: {change}")
    seen = contact_channels(platform.customers.read(customer))
    platform.observe(f"other addresses leave contact channels that were VERIFIED at {seen}")
    with check(answer_id):
        assert contact_channels(change.body) == seen, change
    for id_, channel in zip(verified_ids, CHANNELS, strict=True):
        with check(id_):
            if seen.get(channel) != "PENDING":
                raise ResourceMissing(f"the {channel} has not to be verified again")
            code = contact.send_code(customer, channel)
            if code.status == TOO_MANY:
                raise ResourceMissing(f"the target limits the pace of codes: {code}")
            arranged_body(code)
            contact.confirm_code(customer, channel).expect_accepted()
            assert contact.at_status(customer, channel, "VERIFIED") == "VERIFIED"


@requirement("CON-046")
def test_channels_are_verified_before_the_customer_is(platform: Platform) -> None:
    """Verified channels do not change the verification status of the customer.

    A customer of a regulated platform may be APPROVED meanwhile, whatever is verified.
    """
    customer = platform.verification.contact.customer()
    expected = {verification_status(customer)}
    if platform.profile.features.declares("regulated"):
        expected.add("APPROVED")

    verified = platform.verification.contact.verify(customer)

    assert verification_status(verified) in expected, verified


@for_each_channel("CON-052", "CON-053")
def test_the_code_of_another_channel_verifies_nothing(platform: Platform, channel: str) -> None:
    """The channel that no code was sent to stays PENDING by the one that was sent to the other."""
    customer = platform.verification.contact.customer("email", "phone")
    platform.verification.contact.arrange_code(customer, other_channel(channel))

    answer = platform.verification.contact.confirm_code(customer, channel)

    seen = platform.verification.contact.status(customer, channel)
    platform.verification.contact.verify(platform.verification.contact.customer(channel), channel)
    assert seen == "PENDING", answer


@pytest.mark.parametrize(
    ("ids", "business"),
    [
        case(("CON-057", "CON-058"), "individual", ("CON-057", "CON-058"), False),
        case(("CON-057", "CON-058"), "business", ("CON-057", "CON-058"), True),
    ],
)
def test_nobody_says_that_a_channel_is_verified(
    platform: Platform, check: Check, ids: tuple[str, str], *, business: bool
) -> None:
    """A ``contactVerification`` in a creation or an update leaves the channels PENDING."""
    contact = platform.verification.contact
    make_body = contact.business_body if business else contact.body
    customer = contact.customer(body=make_body())
    claim = {"contactVerification": dict.fromkeys(contact_channels(customer), "VERIFIED")}

    created = platform.api.create_customer({**make_body(), **claim}, valid=False)
    updated = platform.api.update_customer(customer["id"], claim, valid=False)

    by_creation, by_update = ids
    with check(by_creation):
        if created.accepted:
            seen = contact_channels(platform.customers.read(arranged_resource(created)))
            assert "VERIFIED" not in seen.values(), created
        else:
            created.refused(*REFUSED, twin=platform.api.create_customer(make_body()))
    with check(by_update):
        seen = contact_channels(platform.customers.read(customer))
        assert set(seen.values()) == {"PENDING"}, updated


@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
@for_each_channel("CON-033", "CON-034")
def test_no_code_is_sent_to_a_channel_that_need_not_be_verified(
    platform: Platform, channel: str, *, business: bool
) -> None:
    """The request is refused with 409; the twin is a customer who must verify the channel.

    Where no customer must, it is not accepted.
    """
    twin = platform.verification.contact.customer()
    for customer in customers_without(platform, channel, business=business):
        refusal = platform.verification.contact.send_code(customer, channel)

        if refusal.accepted or channel in contact_channels(twin):
            refusal.refused(409, twin=platform.verification.contact.send_code(twin, channel))
        assert platform.verification.contact.status(customer, channel) is None, refusal
    require_channel(twin, channel)


@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
@for_each_channel("CON-035", "CON-036")
def test_no_code_confirms_a_channel_that_need_not_be_verified(
    platform: Platform, channel: str, *, business: bool
) -> None:
    """The confirmation is refused; the twin is a customer who must verify the channel.

    Where no customer must, it is not accepted.
    """
    contact = platform.verification.contact
    customers = customers_without(platform, channel, business=business)
    twin = contact.customer()
    if channel in contact_channels(twin):
        contact.arrange_code(twin, channel)

    refusals = [contact.confirm_code(customer, channel) for customer in customers]

    confirmation = contact.confirm_code(twin, channel)
    for customer, refusal in zip(customers, refusals, strict=True):
        if refusal.accepted or channel in contact_channels(twin):
            refusal.refused(twin=confirmation)
        assert contact.status(customer, channel) is None, refusal
    require_channel(twin, channel)


@with_two_requirements(Ids("email", "CON-037", "CON-041"), Ids("phone", "CON-038", "CON-041"))
def test_no_code_is_sent_for_an_unknown_customer(
    platform: Platform, check: Check, ids: Ids
) -> None:
    """The request is refused with 404 and CUSTOMER_NOT_FOUND or NOT_FOUND."""
    customer = platform.verification.contact.customer(ids.channel)

    refusal = platform.verification.contact.send_code(
        {"id": unknown_id(customer["id"])}, ids.channel
    )
    twin = platform.verification.contact.send_code(customer, ids.channel)

    with check(ids.first):
        refusal.refused(404, twin=twin)
    with check(ids.second):
        refusal.refused("CUSTOMER_NOT_FOUND", "NOT_FOUND", twin=twin)


@with_two_requirements(Ids("email", "CON-039", "CON-041"), Ids("phone", "CON-040", "CON-041"))
def test_no_code_confirms_a_channel_of_an_unknown_customer(
    platform: Platform, check: Check, ids: Ids
) -> None:
    """The confirmation is refused with 404 and CUSTOMER_NOT_FOUND or NOT_FOUND."""
    customer = platform.verification.contact.customer(ids.channel)
    platform.verification.contact.arrange_code(customer, ids.channel)

    refusal = platform.verification.contact.confirm_code(
        {"id": unknown_id(customer["id"])}, ids.channel
    )
    twin = platform.verification.contact.confirm_code(customer, ids.channel)

    with check(ids.first):
        refusal.refused(404, twin=twin)
    with check(ids.second):
        refusal.refused("CUSTOMER_NOT_FOUND", "NOT_FOUND", twin=twin)


@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
@with_two_requirements(Ids("email", "CON-042", "VER-053"), Ids("phone", "CON-043", "VER-053"))
def test_a_channel_to_be_verified_needs_an_address(
    platform: Platform, check: Check, ids: Ids, *, business: bool
) -> None:
    """Without the email or phone number, the creation is refused or no review begins.

    It is not missed any more once an update has told it.
    """
    channel = ids.channel
    contact = platform.verification.contact
    body = contact.business_body() if business else contact.body()
    twin = platform.api.create_customer(body)
    if business and not twin.accepted:
        raise ResourceMissing(f"no business is taken in {body['region']}: {twin}")
    if channel not in contact_channels(arranged_body(twin)):
        raise ResourceMissing(f"no {channel} has to be verified in the region {body['region']}")
    without_address = {name: value for name, value in body.items() if name != CHANNELS[channel]}

    created = platform.api.create_customer(
        {**without_address, "platformCustomerId": platform.samples.own_id()}
    )

    if not created.accepted:
        with check(ids.first):
            created.refused(twin=twin)
        with check(ids.second):
            raise ResourceMissing(f"{CHANNELS[channel]} is asked for at the creation")
        return
    status, twin_status = (
        review_status(platform, arranged_resource(answer), business=business)
        for answer in (created, twin)
    )
    with check(ids.first):
        assert status != "IN_PROGRESS", f"taken in for review without {CHANNELS[channel]}"
    if twin_status != "IN_PROGRESS":
        raise ResourceMissing(f"with {CHANNELS[channel]} the submission is {twin_status} as well")
    platform.observe(f"a customer without {CHANNELS[channel]} is found wanting at its submission")
    with check(ids.second):
        told = {CHANNELS[channel]: body[CHANNELS[channel]]}
        if not platform.api.update_customer(created.body["id"], told).accepted:
            raise ResourceMissing(f"{CHANNELS[channel]} cannot be told later")
        # An entry of another type may tell that the channel is to be verified.
        missed = missed_fields(platform, arranged_resource(created), "MISSING_FIELD")
        assert CHANNELS[channel] not in missed


@requirement("CON-056")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_each_address_that_is_missing_is_told(platform: Platform, *, business: bool) -> None:
    """Whoever lacks two addresses is told of those that one is told of who lacks each alone.

    The refusal of the creation tells it, or the submission of who was created without.
    """
    contact = platform.verification.contact
    body = contact.business_body() if business else contact.body()
    twin = platform.api.create_customer(body)
    if business and not twin.accepted:
        raise ResourceMissing(f"no business is taken in {body['region']}: {twin}")
    wanted = [CHANNELS[name] for name in contact_channels(arranged_body(twin))]

    def lacking(*names: str) -> Answer:
        rest = {name: value for name, value in body.items() if name not in names}
        reference = {"platformCustomerId": platform.samples.own_id()}
        return platform.api.create_customer({**rest, **reference})

    alone = [lacking(name) for name in wanted]
    answered = {True if one.accepted else one.code for one in alone}
    if len(alone) < 2 or answered not in ({True}, {"INVALID_INPUT"}):
        raise ResourceMissing(f"there are no two addresses that are asked for alike: {alone}")
    listed = [
        name for name, one in zip(wanted, alone, strict=True) if name in _missed(platform, one)
    ]
    both = lacking(*wanted)

    if not alone[0].accepted:
        both.refused(twin=twin)
    if len(listed) < len(wanted):
        raise ResourceMissing(f"nobody is told that {wanted} are missing: {alone}")
    missed = _missed(platform, both)
    assert {*listed} <= missed, f"told of {sorted(missed)}, and {listed} are missing"


def _missed(platform: Platform, creation: Answer) -> set[str]:
    """Return the addresses that a refused creation, or else the submission, says are missing."""
    if not creation.accepted:
        return {name for name in CHANNELS.values() if names(creation, name)}
    return missed_fields(platform, arranged_resource(creation))


def missed_fields(platform: Platform, customer: Resource, type_: str | None = None) -> set[str]:
    """Submit a customer as it is, and return the names of the fields that are missed.

    With ``type_`` they are those of entries of that type alone.

    Raises:
        ResourceMissing: the submission is refused, as where a channel is to be verified first.
    """
    answer = platform.verification.reviews.submit(customer)
    if not answer.accepted:
        raise ResourceMissing(f"the submission is refused: {answer}")
    entries = answer.body.get("errors") or ()
    fields = (entry.get("field") for entry in entries if type_ in (None, entry.get("type")))
    return {last_name(field) for field in fields if field}


def review_status(platform: Platform, customer: Resource, *, business: bool) -> str | None:
    """Return the status of a customer's submission, with all there that can be; None if refused.

    The sandbox's code is sent for each channel, and the documents that are asked for are supplied,
    as are the owners of a business.
    """
    if business:
        platform.verification.reviews.prepare_business(customer)
    for channel in contact_channels(customer):
        platform.verification.contact.send_code(customer, channel)
        platform.verification.contact.confirm_code(customer, channel)
    answer = platform.verification.reviews.submit_with_documents(customer)
    return str(answer.body.get("verificationStatus")) if answer.accepted else None


def customers_without(platform: Platform, channel: str, *, business: bool) -> list[Resource]:
    """Return customers who need not verify a channel, of the usual region and of the profile's.

    Raises:
        ResourceMissing: the customers of every region must verify it.
    """
    customers = [platform.customers.applicant(business=business)]
    # That region may require the other channel alone, and take no business.
    with contextlib.suppress(ResourceMissing):
        customers.append(platform.verification.contact.customer(business=business))
    found = [customer for customer in customers if channel not in contact_channels(customer)]
    if not found:
        raise ResourceMissing(f"every region that the profile names wants the {channel} verified")
    return found


def require_channel(customer: Resource, channel: str) -> None:
    """Raise ``ResourceMissing`` unless a customer has to verify a channel."""
    if channel not in contact_channels(customer):
        raise ResourceMissing(f"no {channel} has to be verified in the region of the profile")
