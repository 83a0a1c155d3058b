"""Contact verification: a one-time code proves that a mail address or phone is the customer's."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from conformance.platform.given.customers import verification_status
from conformance.platform.given.verification import CHANNELS, contact_channels, other_channel
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, arranged_body, unknown_id
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import ResourceMissing

TOO_MANY = 429


def each(email: str, phone: str) -> pytest.MarkDecorator:
    """Run a test for each channel, where it decides one requirement each."""
    rows = zip(CHANNELS, (email, phone), strict=True)
    return pytest.mark.parametrize(
        "channel", [pytest.param(name, marks=requirement(id_), id=name) for name, id_ in rows]
    )


@dataclass(frozen=True, slots=True)
class Ids:
    """The requirements that one test decides for a channel."""

    channel: str
    first: str
    second: str


def pairs(*rows: Ids) -> pytest.MarkDecorator:
    """Run a test for each channel, where it decides two requirements each."""
    return pytest.mark.parametrize(
        "ids",
        [
            pytest.param(row, marks=requirement(row.first, row.second), id=row.channel)
            for row in rows
        ],
    )


@requirement("CON-001", "CON-002", "CON-003", "CON-004")
def test_a_customer_shows_which_channels_it_has_to_verify(platform: Platform, check: Check) -> None:
    """They are the mail address, the phone, or both."""
    customer = platform.verification.contact.customer()

    shown = customer["contactVerification"]

    with check("CON-004"):
        # Other members may tell something else about the verification.
        extra = [name for name, value in shown.items() if value in ("PENDING", "VERIFIED")]
        assert set(extra) <= set(CHANNELS), shown
    for id_, name in (("CON-002", "email"), ("CON-003", "phone")):
        with check(id_):
            require_listed(customer, name)


@each("CON-005", "CON-006")
def test_a_channel_is_pending_at_first(platform: Platform, channel: str) -> None:
    """Nothing was proven yet."""
    customer = platform.verification.contact.customer(channel)

    assert contact_channels(customer)[channel] == "PENDING"


@pairs(Ids("email", "CON-007", "CON-009"), Ids("phone", "CON-008", "CON-010"))
def test_a_code_is_sent(platform: Platform, check: Check, ids: Ids) -> None:
    """That alone proves nothing."""
    customer = platform.verification.contact.customer(ids.channel)

    answer = platform.verification.contact.send_code(customer, ids.channel)

    with check(ids.first):
        assert answer.accepted, answer
    with check(ids.second):
        assert platform.verification.contact.status(customer, ids.channel) == "PENDING"


@requirement("CON-011", "CON-012")
def test_a_code_is_sent_again(platform: Platform, check: Check) -> None:
    """The new code is as good as the first one."""
    customer = platform.verification.contact.customer("email")
    platform.verification.contact.arrange_code(customer, "email")

    again = platform.verification.contact.send_code(customer, "email")

    with check("CON-011"):
        if again.status == TOO_MANY:
            raise ResourceMissing(f"the target limits the pace of codes: {again}")
        assert again.accepted, again
    with check("CON-012"):
        arranged_body(again)
        confirmed = platform.verification.contact.confirm_code(customer, "email")
        assert confirmed.accepted, confirmed
        assert platform.verification.contact.at_status(customer, "email", "VERIFIED") == "VERIFIED"


@pairs(Ids("email", "CON-013", "CON-015"), Ids("phone", "CON-014", "CON-016"))
def test_the_right_code_verifies_a_channel(platform: Platform, check: Check, ids: Ids) -> None:
    """It was sent before."""
    customer = platform.verification.contact.customer(ids.channel)
    platform.verification.contact.arrange_code(customer, ids.channel)

    answer = platform.verification.contact.confirm_code(customer, ids.channel)

    with check(ids.first):
        assert answer.accepted, answer
    with check(ids.second):
        arranged_body(answer)
        assert (
            platform.verification.contact.at_status(customer, ids.channel, "VERIFIED") == "VERIFIED"
        )


@each("CON-044", "CON-045")
def test_a_business_verifies_its_channels_too(platform: Platform, channel: str) -> None:
    """They are those of its primary contact."""
    business = platform.verification.contact.customer(channel, business=True)
    platform.verification.contact.arrange_code(business, channel)

    answer = platform.verification.contact.confirm_code(business, channel)

    assert answer.accepted, answer
    assert platform.verification.contact.at_status(business, channel, "VERIFIED") == "VERIFIED"


@pairs(Ids("email", "CON-017", "CON-019"), Ids("phone", "CON-018", "CON-020"))
def test_each_channel_is_verified_on_its_own(platform: Platform, check: Check, ids: Ids) -> None:
    """The first leaves the second pending, and the second leaves the first verified."""
    first, second = ids.channel, other_channel(ids.channel)
    customer = platform.verification.contact.customer(first, second)

    halfway = platform.verification.contact.verify(customer, first)

    with check(ids.first):
        assert contact_channels(halfway).get(second) == "PENDING", halfway
    with check(ids.second):
        verified = platform.verification.contact.verify(customer, second)
        assert contact_channels(verified).get(first) == "VERIFIED", verified


@each("CON-021", "CON-022")
def test_a_wrong_code_verifies_nothing(platform: Platform, channel: str) -> None:
    """The right one does, for another customer."""
    mistaken = platform.verification.contact.customer(channel)
    platform.verification.contact.arrange_code(mistaken, channel)

    answer = platform.verification.contact.confirm_code(
        mistaken, channel, {"code": platform.profile.bindings.contact_wrong_code}
    )

    platform.verification.contact.verify(platform.verification.contact.customer(channel), channel)
    assert platform.verification.contact.status(mistaken, channel) == "PENDING", answer
    platform.observe(f"a wrong contact code is answered with {answer.status}")


@each("CON-023", "CON-024")
def test_an_empty_code_verifies_nothing(platform: Platform, channel: str) -> None:
    """The right one does, for another customer."""
    mistaken = platform.verification.contact.customer(channel)
    platform.verification.contact.arrange_code(mistaken, channel)

    answer = platform.verification.contact.confirm_code(mistaken, channel, {"code": ""})

    platform.verification.contact.verify(platform.verification.contact.customer(channel), channel)
    assert platform.verification.contact.status(mistaken, channel) == "PENDING", answer


@each("CON-025", "CON-026")
def test_a_confirmation_needs_a_code(platform: Platform, channel: str) -> None:
    """It is all that a confirmation says."""
    customer = platform.verification.contact.customer(channel)
    platform.verification.contact.arrange_code(customer, channel)

    refusal = platform.verification.contact.confirm_code(customer, channel, {}, valid=False)

    refusal.refused(twin=platform.verification.contact.confirm_code(customer, channel))


@pairs(Ids("email", "CON-027", "CON-029"), Ids("phone", "CON-028", "CON-030"))
def test_a_verified_channel_stays_verified(platform: Platform, check: Check, ids: Ids) -> None:
    """Whatever code comes afterwards."""
    customer = platform.verification.contact.customer(ids.channel)
    platform.verification.contact.verify(customer, ids.channel)

    used = platform.verification.contact.confirm_code(customer, ids.channel)
    after_used = platform.verification.contact.status(customer, ids.channel)
    wrong = platform.verification.contact.confirm_code(
        customer, ids.channel, {"code": platform.profile.bindings.contact_wrong_code}
    )
    after_wrong = platform.verification.contact.status(customer, ids.channel)

    with check(ids.second):
        assert after_used == "VERIFIED", used
    with check(ids.first):
        assert after_wrong == "VERIFIED", wrong
    platform.observe(f"a contact code that was used already is answered with {used.status}")


@requirement("CON-031")
def test_a_code_verifies_one_customer(platform: Platform) -> None:
    """Another customer of the same platform, who got a code too, is left alone."""
    customer, bystander = (
        platform.verification.contact.customer(),
        platform.verification.contact.customer(),
    )
    channel = next(iter(contact_channels(customer)))
    platform.verification.contact.arrange_code(bystander, channel)

    platform.verification.contact.verify(customer, channel)

    assert platform.verification.contact.status(bystander, channel) == "PENDING"


@requirement("CON-032")
def test_a_verified_channel_outlasts_an_update(platform: Platform) -> None:
    """The update says nothing new."""
    body = platform.verification.contact.body()
    customer = platform.verification.contact.customer(body=body)
    channel = next(iter(contact_channels(platform.verification.contact.verify(customer))))

    platform.customers.change(customer, fullName=body["fullName"])

    assert platform.verification.contact.status(customer, channel) == "VERIFIED"


@requirement("CON-046")
def test_channels_are_verified_before_the_customer_is(platform: Platform) -> None:
    """They are one step towards its verification, and no more."""
    customer = platform.verification.contact.customer()

    verified = platform.verification.contact.verify(customer)

    assert verification_status(verified) == verification_status(customer), verified


@each("CON-033", "CON-034")
def test_no_code_is_sent_to_a_channel_that_need_not_be_verified(
    platform: Platform, channel: str
) -> None:
    """The twin is a customer who has to verify it."""
    twin = platform.verification.contact.customer(channel)
    customer = free_of(platform, channel)

    refusal = platform.verification.contact.send_code(customer, channel)

    refusal.refused(409, twin=platform.verification.contact.send_code(twin, channel))


@each("CON-035", "CON-036")
def test_no_code_confirms_a_channel_that_need_not_be_verified(
    platform: Platform, channel: str
) -> None:
    """The twin is a customer who has to verify it."""
    twin = platform.verification.contact.customer(channel)
    platform.verification.contact.arrange_code(twin, channel)
    customer = free_of(platform, channel)

    refusal = platform.verification.contact.confirm_code(customer, channel)

    refusal.refused(twin=platform.verification.contact.confirm_code(twin, channel))


@pairs(Ids("email", "CON-037", "CON-041"), Ids("phone", "CON-038", "CON-041"))
def test_no_code_is_sent_for_an_unknown_customer(
    platform: Platform, check: Check, ids: Ids
) -> None:
    """The twin is a customer who exists."""
    customer = platform.verification.contact.customer(ids.channel)

    refusal = platform.verification.contact.send_code(
        {"id": unknown_id(customer["id"])}, ids.channel
    )
    twin = platform.verification.contact.send_code(customer, ids.channel)

    with check(ids.first):
        refusal.refused(404, twin=twin)
    with check(ids.second):
        refusal.refused("CUSTOMER_NOT_FOUND", "NOT_FOUND", twin=twin)


@pairs(Ids("email", "CON-039", "CON-041"), Ids("phone", "CON-040", "CON-041"))
def test_no_code_confirms_a_channel_of_an_unknown_customer(
    platform: Platform, check: Check, ids: Ids
) -> None:
    """The twin is a customer who exists."""
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


@each("CON-042", "CON-043")
def test_a_channel_to_be_verified_needs_an_address(platform: Platform, channel: str) -> None:
    """It may be asked for when the customer is created, or when it is submitted for review."""
    body = platform.verification.contact.body()
    twin = platform.api.create_customer(body)
    if channel not in contact_channels(arranged_body(twin)):
        raise ResourceMissing(f"no {channel} has to be verified in the region {body['region']}")
    addressless = {name: value for name, value in body.items() if name != CHANNELS[channel]}

    created = platform.api.create_customer(
        {**addressless, "platformCustomerId": platform.samples.reference()}
    )

    if not created.accepted:
        created.refused(twin=twin)
        return
    submitted = platform.verification.reviews.submit(created.body)
    if submitted.accepted:
        status = submitted.body.get("verificationStatus")
        assert status != "IN_PROGRESS", f"taken in for review without {CHANNELS[channel]}"
    platform.observe(f"a customer without {CHANNELS[channel]} is found wanting at its submission")


def free_of(platform: Platform, channel: str) -> Resource:
    """Return a customer who need not verify a channel."""
    # The region of the profile may want the other one alone.
    for customer in (platform.customers.applicant(), platform.verification.contact.customer()):
        if channel not in contact_channels(customer):
            return customer
    raise ResourceMissing(f"every region that the profile names wants the {channel} verified")


def require_listed(customer: Resource, channel: str) -> None:
    """Leave a requirement of a channel open that no customer of the target has."""
    if channel not in contact_channels(customer):
        raise ResourceMissing(f"no {channel} has to be verified in the region of the profile")
