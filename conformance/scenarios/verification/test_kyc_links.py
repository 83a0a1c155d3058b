"""Hosted links: each leads a customer into a verification flow of the service."""

from __future__ import annotations

import base64
import binascii
import contextlib
import re
from collections.abc import Iterator, Mapping
from datetime import timedelta
from urllib.parse import unquote_plus

import pytest

from conformance.contract.moments import parse_moment
from conformance.exchange.answer import Answer
from conformance.exchange.clock import now
from conformance.platform.given.customers import verification_status
from conformance.platform.given.verification import REVIEWED, contact_channels, hosted_link
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_body,
    require_member,
    unknown_id,
)
from conformance.platform.waiting import at_once
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.idempotency import key_of_marks
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import Broken, ResourceMissing, TriggerFailed

MAX_CLOCK_DIFFERENCE = timedelta(minutes=1)
MAX_ENCODINGS = 3


def both(individual: str, business: str) -> pytest.MarkDecorator:
    """Run a test for both types of customer; it decides one requirement for each."""
    return pytest.mark.parametrize(
        "business",
        [
            case(individual, "individual", False),
            case(business, "business", True),
        ],
    )


@requirement("KYC-001", "KYC-002", "KYC-003", "KYC-004", "KYC-005")
def test_a_hosted_link_says_where_the_flow_starts(platform: Platform, check: Check) -> None:
    """A link has an ``expiresAt`` that is still to come, and may have a ``token``.

    That holds of the first and of the second link of a customer. The ``Date`` of its answer tells
    the time, or else our clock does, which may be another.
    """
    customers = [
        platform.verification.reviews.unsubmitted(business=business) for business in (False, True)
    ]
    answers = [
        platform.verification.links.create(customer) for customer in customers for _ in range(2)
    ]
    links = [hosted_link(answer) for answer in answers]

    with check("KYC-003"):
        for answer, link in zip(answers, links, strict=True):
            # The header has whole seconds, so that a link may seem to live for one that does not.
            made = (
                answer.date + timedelta(seconds=1) if answer.date else now() - MAX_CLOCK_DIFFERENCE
            )
            assert parse_moment(link["expiresAt"]) > made, link
    with check("KYC-005"):
        # Not every provider gives a token.
        require_member(max(links, key=lambda link: bool(link.get("token"))), "token")


@both("KYC-006", "KYC-007")
def test_customers_of_both_types_get_a_hosted_link(platform: Platform, *, business: bool) -> None:
    """The request for a link is accepted for an individual and for a business."""
    customer = platform.verification.reviews.unsubmitted(business=business)

    answer = platform.verification.links.create(customer)

    answer.expect_accepted()


@requirement("KYC-027")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_who_has_no_channel_to_verify_gets_a_hosted_link_at_once(
    platform: Platform, *, business: bool
) -> None:
    """A customer without contact channels in ``contactVerification`` gets a link."""
    customer = require_unverified(platform.customers.applicant(business=business))
    if contact_channels(customer):
        raise ResourceMissing("every customer has to verify a contact channel")

    answer = platform.verification.links.create(customer)

    answer.expect_accepted()


@both("KYC-008", "KYC-009")
def test_each_call_brings_another_link(platform: Platform, *, business: bool) -> None:
    """Three requests with different keys are answered with three different URLs."""
    customer = platform.verification.reviews.unsubmitted(business=business)

    urls = {platform.verification.links.link(customer)["kycUrl"] for _ in range(3)}

    assert len(urls) == 3, urls


@both("KYC-008", "KYC-009")
def test_a_call_after_the_flow_brings_another_link(platform: Platform, *, business: bool) -> None:
    """Who has completed the flow is not led to the used link again."""
    customer = platform.verification.reviews.unsubmitted(business=business)
    used = platform.verification.links.link(customer)
    platform.verification.links.follow(customer, used)

    answer = platform.verification.links.create(customer)

    if not answer.accepted:
        raise ResourceMissing(f"who has completed the flow gets no further link: {answer}")
    assert hosted_link(answer)["kycUrl"] != used["kycUrl"], answer


@requirement("KYC-010")
def test_calls_at_the_same_time_bring_different_links(platform: Platform) -> None:
    """Three simultaneous requests are answered with three different URLs."""
    customer = platform.verification.reviews.unsubmitted()

    answers = at_once(*[lambda: platform.verification.links.create(customer)] * 3)

    urls = [arranged_body(answer)["kycUrl"] for answer in answers]
    assert len(set(urls)) == len(urls), urls


def expect_completion(platform: Platform, customer: Json, link: Json, *, twin: Json) -> None:
    """Let the flow of a link be completed.

    Raises:
        Broken: it cannot be completed, while that of its twin, a link to the same flow, can.
        TriggerFailed: neither can.
    """
    try:
        platform.verification.links.follow(customer, link)
    except TriggerFailed as refused:
        platform.verification.links.follow(customer, twin)
        raise Broken("the flow of the earlier link to be completed", refused) from refused


@both("KYC-011", "KYC-012")
def test_an_earlier_link_still_works(platform: Platform, *, business: bool) -> None:
    """The flow of the first of two links can be completed, and begins the review."""
    customer = platform.verification.reviews.unsubmitted(business=business)
    earlier = platform.verification.links.link(customer)
    later = platform.verification.links.link(customer)

    expect_completion(platform, customer, earlier, twin=later)

    assert verification_status(platform.customers.at_status(customer, *REVIEWED)) in REVIEWED


@requirement("KYC-028")
def test_a_link_is_used_once(platform: Platform) -> None:
    """A second completion by one link begins no review, while one by a new link does.

    The sandbox asks for more after the first completion of such a business, so that a second one
    has something to begin.
    """
    business, used_url = asked_for_more(platform)
    twin, _ = asked_for_more(platform)

    # The link may not lead into the flow any more, which is as good.
    with contextlib.suppress(TriggerFailed):
        platform.triggers.fire("hosted_flow.complete", customerId=business["id"], kycUrl=used_url)
    try:
        platform.verification.links.complete_flow(twin)
    except TriggerFailed as error:
        raise ResourceMissing(f"a second flow by a new link is not completed: {error}") from error

    if verification_status(platform.customers.at_status(twin, *REVIEWED)) not in REVIEWED:
        raise ResourceMissing("a second completion by a new link begins no review either")
    assert verification_status(platform.customers.read(business)) not in REVIEWED


@both("KYC-035", "KYC-036")
def test_a_used_link_begins_no_review_after_an_approval(
    platform: Platform, *, business: bool
) -> None:
    """Who is approved stays so when the used link is followed again, and no webhook reports more.

    That is looked at once the review of another customer has begun by a new link.
    """
    flow = platform.profile.triggers.get("hosted_flow.complete")
    if flow is not None and "{kycUrl}" not in flow.model_dump_json():
        raise ResourceMissing("the profile completes the flow of a customer, whatever link it has")
    customer = platform.verification.reviews.unsubmitted(
        business=business, trigger="customer.approve"
    )
    link = platform.verification.links.link(customer)
    platform.verification.links.follow(customer, link)
    platform.customers.at_status(customer, *REVIEWED)
    if platform.triggers.magic("customer.approve") is None:
        # The sandbox may have approved the customer by itself.
        with contextlib.suppress(TriggerFailed):
            platform.triggers.fire("customer.approve", customerId=customer["id"])
    if verification_status(platform.customers.at_status(customer, "APPROVED")) != "APPROVED":
        raise ResourceMissing("who completes the flow is not approved")

    # The link may not lead into the flow any more, which is as good.
    with contextlib.suppress(TriggerFailed):
        platform.verification.links.follow(customer, link)
    other = platform.verification.reviews.hosted(business=business)

    platform.customers.at_status(other, *REVIEWED)
    assert verification_status(platform.customers.read(customer)) == "APPROVED"
    if platform.profile.features.webhooks:
        begun = "CUSTOMER.KYB_PENDING" if business else "CUSTOMER.KYC_PENDING"
        platform.webhooks.wait_for(begun, other["id"])
        reports = platform.webhooks.about(customer["id"])
        assert len({report.id for report in reports if report.type == begun}) <= 1, reports


@both("KYC-013", "KYC-014")
def test_the_link_knows_where_to_lead_the_customer_afterwards(
    platform: Platform, *, business: bool
) -> None:
    """The ``kycUrl`` contains the ``redirectUri``, plain or encoded."""
    customer = platform.verification.reviews.unsubmitted(business=business)

    url = platform.verification.links.link(customer)["kycUrl"]

    assert contains_url(url, platform.profile.bindings.redirect_uri), url


@requirement("KYC-015")
def test_each_link_leads_to_the_place_of_its_own_request(platform: Platform) -> None:
    """Two links of one customer each contain the ``redirectUri`` of their own request, as sent."""
    customer = platform.verification.reviews.unsubmitted()
    usual = platform.profile.bindings.redirect_uri
    special = f"{usual}{'&' if '?' in usual else '?'}visit={platform.samples.reference()}&to=Home"

    first = platform.verification.links.link(customer)["kycUrl"]
    answer = platform.verification.links.create(customer, {"redirectUri": special})

    if not answer.accepted:
        raise ResourceMissing(f"the target takes no redirectUri but the profile's: {answer}")
    assert contains_url(answer.body["kycUrl"], special), answer
    assert not contains_url(first, special), first


@requirement("KYC-015")
def test_a_link_leads_to_a_place_within_a_page(platform: Platform) -> None:
    """A link contains a ``redirectUri`` with a fragment whole, where the target takes one."""
    customer = platform.verification.reviews.unsubmitted()
    within = f"{platform.profile.bindings.redirect_uri.partition('#')[0]}#/finished"

    answer = platform.verification.links.create(customer, {"redirectUri": within})

    if not answer.accepted:
        raise ResourceMissing(f"the target takes no redirectUri with a fragment: {answer}")
    assert contains_url(answer.body["kycUrl"], within), answer


@requirement("KYC-017")
def test_a_link_alone_verifies_no_business(platform: Platform) -> None:
    """A link that nobody follows does not change the status of a business."""
    business = platform.verification.reviews.unsubmitted(business=True)

    platform.verification.links.link(business)

    assert verification_status(platform.customers.read(business)) == verification_status(business)


@requirement("KYC-018", "KYC-019")
def test_an_unknown_customer_gets_no_link(platform: Platform, check: Check) -> None:
    """The request is refused with 404 and CUSTOMER_NOT_FOUND or NOT_FOUND."""
    customer = platform.verification.reviews.unsubmitted()

    refusal = platform.verification.links.create({"id": unknown_id(customer["id"])})
    twin = platform.verification.links.create(customer)

    with check("KYC-018"):
        refusal.refused(404, twin=twin)
    with check("KYC-019"):
        refusal.refused("CUSTOMER_NOT_FOUND", "NOT_FOUND", twin=twin)


@pytest.mark.parametrize(
    ("business", "ids"),
    [
        case(
            ("KYC-020", "KYC-021", "KYC-024"),
            "individual",
            False,
            ("KYC-020", "KYC-021", "KYC-024"),
        ),
        case(("KYC-025", "KYC-026"), "business", True, ("KYC-025", "KYC-026")),
    ],
)
def test_there_is_no_link_before_the_channels_are_verified(
    platform: Platform, check: Check, ids: tuple[str, ...], *, business: bool
) -> None:
    """Requests before the verification are refused with 409; one after it is accepted."""
    customer = require_unverified(platform.verification.contact.customer(business=business))

    first_refusal = platform.verification.links.create(customer)
    for channel in contact_channels(customer):
        platform.verification.contact.arrange_code(customer, channel)
    second_refusal = platform.verification.links.create(customer)
    platform.verification.contact.confirm(customer, *contact_channels(customer))
    last_answer = platform.verification.links.create(customer)

    before_code, *after_code, after_verification = ids
    with check(after_verification):
        last_answer.expect_accepted()
    with check(before_code):
        first_refusal.refused(409, twin=last_answer)
    for id_ in after_code:
        with check(id_):
            second_refusal.refused(409, twin=last_answer)


@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
@pytest.mark.parametrize(
    ("first", "second"),
    [
        case("KYC-022", "email-alone", "email", "phone"),
        case("KYC-023", "phone-alone", "phone", "email"),
    ],
)
def test_one_verified_channel_of_two_is_not_enough(
    platform: Platform, first: str, second: str, *, business: bool
) -> None:
    """The request is refused with 409 until the second channel is verified."""
    customer = require_unverified(
        platform.verification.contact.customer(first, second, business=business)
    )
    platform.verification.contact.verify(customer, first)

    refusal = platform.verification.links.create(customer)

    platform.verification.contact.verify(customer, second)
    refusal.refused(409, twin=platform.verification.links.create(customer))


@requirement("KYC-020")
def test_who_moves_has_its_channels_verified_before_there_is_a_link(platform: Platform) -> None:
    """An individual who has moved to where contacts are verified is refused with 409 at first."""
    customer = require_unverified(platform.customers.applicant())
    move = {name: v for name, v in platform.verification.contact.place().items() if v is not None}
    answer = platform.api.update_customer(customer["id"], move)
    if not answer.accepted:
        raise ResourceMissing(f"the region stays as it is: {answer}")
    moved = platform.customers.read(customer)
    if "PENDING" not in contact_channels(moved).values():
        raise ResourceMissing(f"no channel has to be verified after the move: {moved}")

    refusal = platform.verification.links.create(moved)

    platform.verification.contact.verify(moved)
    refusal.refused(409, twin=platform.verification.links.create(moved))


def test_what_a_repeated_key_brings_is_recorded(platform: Platform) -> None:
    """The specification does not say what a repeated key does, so the answers are recorded."""
    customer = platform.verification.reviews.unsubmitted()
    key = platform.samples.reference()

    first, again = (platform.verification.links.create(customer, key=key) for _ in range(2))

    platform.observe(
        f"a repeated Idempotency-Key on kyc-link brings {describe_repetition(first, again)}"
    )


@requirement("KYC-037")
def test_an_idempotency_key_has_any_characters(platform: Platform) -> None:
    """A KYC link is created with a key as a URL with an e-mail address."""
    customer = platform.verification.reviews.unsubmitted()

    answer = platform.verification.links.create(
        customer, key=key_of_marks(platform, {"id": customer["id"]})
    )

    if not answer.accepted:
        arranged_body(platform.verification.links.create(customer))
    answer.expect_accepted()


@requirement("KYC-034")
def test_a_key_brings_nobody_the_link_of_another(platform: Platform) -> None:
    """With one key for two customers, the second request is refused or brings another link."""
    customer, other = (platform.verification.reviews.unsubmitted() for _ in range(2))
    key = platform.samples.reference()

    first, second = (platform.verification.links.create(one, key=key) for one in (customer, other))

    link = require_member(arranged_body(first), "kycUrl")
    assert not second.accepted or arranged_body(second).get("kycUrl") != link, second


def test_what_a_missing_key_brings_is_recorded(platform: Platform) -> None:
    """The specification does not say whether it is refused, so the answer is recorded."""
    answer = platform.verification.links.create(platform.verification.reviews.unsubmitted(), key="")

    platform.observe(f"kyc-link without an Idempotency-Key is answered with {answer.status}")


def require_unverified(customer: Resource) -> Resource:
    """Return a new customer, if its review is not decided.

    The specification does not say whether customers who are approved get links.

    Raises:
        ResourceMissing: the customer is not UNVERIFIED.
    """
    if verification_status(customer) not in (None, "UNVERIFIED"):
        raise ResourceMissing(f"a new customer is {verification_status(customer)}")
    return customer


def contains_url(url: str, other_url: str) -> bool:
    """Return whether a URL contains another one, plain or encoded up to three times."""
    for _ in range(MAX_ENCODINGS + 1):
        if any(other_url in text for text in (url, *decoded_parts(url))):
            return True
        url = unquote_plus(url)
    return False


def decoded_parts(url: str) -> Iterator[str]:
    """Yield the decoded Base64 texts in a URL, as tokens contain them."""
    for letters in (r"[\w+/-]{8,}", r"[\w-]{8,}"):
        for part in re.findall(letters, url, re.ASCII):
            padded = part + "=" * (-len(part) % 4)
            with contextlib.suppress(binascii.Error):
                decoded = base64.b64decode(padded.replace("-", "+").replace("_", "/"))
                yield decoded.decode(errors="ignore")


def describe_repetition(first: Answer, again: Answer) -> str:
    """Describe the answer to a repeated request."""
    if not again.accepted:
        return f"a refusal with {again.status}"
    same = platform_url(first) == platform_url(again)
    return "the same link" if same else "another link"


def platform_url(answer: Answer) -> str | None:
    """Return the kycUrl of an answer, if it has one."""
    return answer.body.get("kycUrl") if isinstance(answer.body, Mapping) else None


def asked_for_more(platform: Platform) -> tuple[Resource, str]:
    """Return a business that has completed the flow in vain, and the link that it followed.

    Raises:
        ResourceMissing: the sandbox asks such a business for nothing more.
    """
    business = platform.verification.reviews.unsubmitted(
        business=True, businessInfo=platform.customers.company("002")
    )
    url = platform.verification.links.link(business)["kycUrl"]
    platform.triggers.fire("hosted_flow.complete", customerId=business["id"], kycUrl=url)
    submissions = platform.until(lambda: platform.verification.reviews.submissions(business), bool)
    seen = {submission.get("verificationStatus") for submission in submissions}
    if seen != {"RESOLVE_ERRORS"}:
        raise ResourceMissing(f"after its first completion a business is at {seen or 'nothing'}")
    return business, url
