"""Limits of single resources: on lengths, sizes, ages and numbers."""

from __future__ import annotations

from collections import Counter
from http import HTTPStatus
from typing import Literal

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.configuration import FEES, holds
from conformance.platform.given.factor_resets import PHONE
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_body,
    arranged_resource,
    require_member,
)
from conformance.scenarios.internal_accounts.unmade import expect_unmade
from conformance.scenarios.kit.fees import FORMS, arrange_quote, corridors_not_from, own_fee
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import REFUSED
from conformance.scenarios.kit.resets import MAX_STARTS, start_resets
from conformance.scenarios.kit.uploads import UNFIT, errors_about, kind_of
from conformance.scenarios.protocol.stray import expect_error_object
from conformance.scenarios.quotes.uma import uma_quote
from conformance.testdata.documents import PROOFS_OF_ADDRESS, padded, specimen
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

MAX_CHARACTERS = 255
"""The length limit of a label and of an Idempotency-Key for an internal account."""
FEW_CHARACTERS = 10

DECIMAL_MEGABYTES = 10_000_000
"""10 MB in bytes, where a megabyte has a million bytes."""

BINARY_MEGABYTES = 10 * 1024 * 1024
"""10 MB in bytes, where a megabyte has 1024 times 1024 bytes."""

MAX_KEY_CHARACTERS = 255
"""The length limit of an Idempotency-Key for a KYC link."""

Form = Literal["usual", "receiving", "immediate", "uma"]
"""How a quote from an internal account differs from the usual one."""


@requirement("LIM-070", "LIM-071", "LIM-072")
@pytest.mark.parametrize(
    ("business", "ending"),
    [
        pytest.param(False, False, id="open"),
        pytest.param(False, True, id="ended"),
        pytest.param(True, False, id="business"),
    ],
)
def test_a_customer_starts_five_resets_a_day(
    platform: Platform, check: Check, *, business: bool, ending: bool
) -> None:
    """The sixth start is refused with 429, while another customer can still start one.

    It is so whether the resets before are open or were rejected.
    """
    factor = platform.profile.bindings.reset_factor
    *allowed, past_limit = start_resets(
        platform, [factor] * (MAX_STARTS + 1), business=business, ending=ending
    )
    # What limits the rate of all requests has 429 too.
    other = platform.resets.start(platform.resets.holder())

    with check("LIM-070"):
        assert all(answer.accepted for answer in allowed), allowed
    with check("LIM-071"):
        past_limit.refused(429, twin=other)
    with check("LIM-072"):
        if past_limit.accepted:
            raise PreconditionFailed(f"the customer can start as many as are wanted: {past_limit}")
        other.expect_accepted()


@requirement("LIM-073")
def test_resets_of_all_factors_count_together(platform: Platform) -> None:
    """Starts for two factors are counted together: the sixth is refused with 429."""
    factor = platform.profile.bindings.reset_factor

    *allowed, past_limit = start_resets(platform, [factor, PHONE] * 3)
    # What limits the rate of all requests has 429 too.
    other = platform.resets.start(platform.resets.holder(PHONE), PHONE)

    for answer in allowed:
        arranged_body(answer)
    past_limit.refused(429, twin=other)


@requirement("LIM-074", "LIM-071", "SFR-030")
def test_who_started_too_many_resets_can_complete_one(platform: Platform, check: Check) -> None:
    """The limit is on starts alone: a reset that passed its liveness check is read and completed.

    Its completion allows no further start.
    """
    customer = platform.resets.holder()
    reset = platform.resets.passed(customer)
    answers = [platform.resets.start(customer) for _ in range(MAX_STARTS)]
    if answers[0].status == HTTPStatus.CONFLICT:
        raise ResourceMissing(f"a customer has one reset at a time: {answers[0]}")
    if answers[-1].accepted:
        raise PreconditionFailed(f"the customer can start as many as are wanted: {answers[-1]}")

    reading = platform.resets.get(reset)
    answer = platform.resets.complete(reset)

    with check("SFR-030"):
        reading.expect_accepted()
    with check("LIM-074"):
        answer.expect_accepted()
    with check("LIM-071"):
        arranged_body(answer)
        # The completed reset has cleared the factor, which may be refused before the limit is.
        factor = platform.profile.bindings.reset_factor
        platform.resets.enroll(customer, factor, required=False)
        refusal = platform.resets.require_factor(platform.resets.start(customer), factor)
        refusal.refused(429, twin=platform.resets.start(platform.resets.holder()))


@requirement("LIM-007", "CFG-045")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_needs_a_source_in_us_dollars(platform: Platform, check: Check) -> None:
    """A standing fee in another currency is refused, or quotes from that currency show no fee.

    It stands alone in its list, or behind or before one in US dollars.
    """
    fee_from_dollars = platform.configuration.standing_fee(**FORMS["rate"])
    for corridor in corridors_not_from("USD", platform, crossing=True):
        fee = platform.configuration.standing_fee(**FORMS["rate"], currency=corridor.sending)
        if fee == fee_from_dollars:
            raise ResourceMissing("bindings.fee_configs names no source currency")
        body = platform.quotes.body(*platform.quotes.ends(corridor))
        twin = platform.configuration.update({FEES: fee_from_dollars})
        answer = platform.configuration.update({FEES: fee})
        with check("LIM-007"):
            expect_no_fee(platform, answer, twin, body)
        if isinstance(fee, list):
            for fees in ([*fee_from_dollars, *fee], [*fee, *fee_from_dollars]):
                beside = platform.configuration.update({FEES: fees})
                with check("LIM-007"):
                    expect_no_fee(platform, beside, twin, body)
        with check("CFG-045"):
            shown = platform.configuration.read().get(FEES)
            if answer.accepted or not shown:
                raise ResourceMissing("the fee is not refused, or GET /config does not show any")
            assert not holds(shown, fee), f"{fee} was refused, and {shown} is shown"


def expect_no_fee(platform: Platform, change: Answer, twin: Answer, body: Json) -> None:
    """Assert that a change of the standing fee is refused, or a quote bears none of its fee."""
    __tracebackhide__ = True
    if change.accepted:
        assert own_fee(arrange_quote(platform, body)) == 0
    else:
        change.refused(twin=twin)


@requirement("LIM-052", "LIM-053", "LIM-055", "RBA-022", "RBA-055")
def test_a_key_has_at_most_255_characters(platform: Platform, check: Check) -> None:
    """A key of 255 characters is accepted and, sent again, names its account; 256 are refused.

    One with a capital in the place of its last character brings another account.
    """
    internal_account = platform.rule_based.holder_account()
    body = platform.rule_based.body(internal_account)
    key = platform.samples.idempotency_key(body).ljust(MAX_CHARACTERS, "k")

    at_limit = platform.rule_based.create(body, key=key)
    past_limit = platform.rule_based.create(body, key=f"{key}k", valid=False)
    again = platform.rule_based.create(body, key=key)

    with check("LIM-052"):
        at_limit.expect_accepted()
    with check("LIM-053"):
        past_limit.refused(twin=at_limit)
    with check("LIM-055"):
        first = arranged_resource(at_limit)
        again.expect_accepted()
        assert arranged_resource(again)["id"] == first["id"]
    known = [arranged_resource(at_limit)["id"]]
    expect_unmade(platform, check, internal_account, past_limit, beside=known)
    with check("RBA-022"):
        other = platform.rule_based.create(body, key=f"{key[:-1]}K")
        if not other.accepted:
            raise ResourceMissing(f"a holder gets no second rule-based account: {other}")
        assert arranged_resource(other)["id"] not in known, other


@requirement("LIM-050", "LIM-051", "LIM-054", "RBA-055")
def test_a_label_has_at_most_255_characters(platform: Platform, check: Check) -> None:
    """A label of 255 characters is accepted and shown whole; one of 256 is refused."""
    internal_account = platform.rule_based.holder_account()
    external_account = platform.rule_based.sweep_destination(internal_account)
    label = platform.samples.reference().ljust(MAX_CHARACTERS, "l")

    at_limit = platform.rule_based.create(
        platform.rule_based.body(internal_account, external_account, label=label)
    )
    past_limit = platform.rule_based.create(
        platform.rule_based.body(internal_account, external_account, label=f"{label}l"), valid=False
    )

    with check("LIM-050"):
        at_limit.expect_accepted()
    with check("LIM-051"):
        past_limit.refused(twin=at_limit)
    with check("LIM-054"):
        assert require_member(arranged_resource(at_limit), "label") == label
    known = [arranged_resource(at_limit)["id"]]
    expect_unmade(platform, check, internal_account, past_limit, beside=known)


@requirement("LIM-056")
def test_letters_of_a_label_may_have_accents(platform: Platform) -> None:
    """Where a label of 10 letters with accents is accepted, one of 255 is accepted too."""
    # Of a holder each, who may have one such account alone.
    short, at_limit = (
        platform.rule_based.create(
            platform.rule_based.body(platform.rule_based.holder_account(), label="é" * length)
        )
        for length in (FEW_CHARACTERS, MAX_CHARACTERS)
    )

    if not short.accepted:
        raise ResourceMissing(f"a label has no letters with accents: {short}")
    at_limit.expect_accepted()


@requirement("LIM-034", "LIM-035", "LIM-089")
def test_a_file_has_at_most_10_megabytes(platform: Platform, check: Check) -> None:
    """10 000 000 bytes are accepted; one byte more than 10 MiB is refused.

    Sizes between are open.
    """
    holder = platform.customers.applicant()
    bill = specimen("UTILITY_BILL")

    at_limit = platform.verification.documents.upload(
        holder, "UTILITY_BILL", file=padded(bill, DECIMAL_MEGABYTES)
    )
    past_limit = platform.api.create_document(
        platform.verification.documents.form(
            holder, "UTILITY_BILL", file=padded(bill, BINARY_MEGABYTES + 1)
        ),
        valid=False,
    )

    with check("LIM-034"):
        at_limit.expect_accepted()
    with check("LIM-035"):
        past_limit.refused(*UNFIT, twin=at_limit)
    with check("LIM-089"):
        expect_error_object([past_limit])


@requirement("LIM-035")
@pytest.mark.parametrize("kind", ["PASSPORT", "NATIONAL_ID"], ids=["jpeg", "png"])
def test_an_image_has_at_most_10_megabytes(platform: Platform, kind: str) -> None:
    """An image of one byte more than 10 MiB is refused, which is taken as it is."""
    form = platform.verification.documents.form(platform.verification.owners.person(), kind)
    large = padded(specimen(kind), BINARY_MEGABYTES + 1)

    refusal = platform.api.create_document({**form, "file": large}, valid=False)

    refusal.refused(*UNFIT, twin=platform.api.create_document(form))


@requirement("LIM-036")
@pytest.mark.parametrize("kind", PROOFS_OF_ADDRESS)
def test_a_proof_of_address_of_last_month_is_accepted(platform: Platform, kind: str) -> None:
    """The document is at most two months old; the specification allows three."""
    answer = platform.verification.documents.upload(platform.verification.owners.person(), kind)

    answer.expect_accepted()


@requirement("LIM-037")
@pytest.mark.parametrize("kind", PROOFS_OF_ADDRESS)
def test_a_proof_of_address_that_is_too_old_is_noticed(platform: Platform, kind: str) -> None:
    """The upload is refused, or the submission of its holder lists an error for it."""
    late_holder, timely_holder = (
        platform.customers.applicant(business=True),
        platform.customers.applicant(business=True),
    )

    late_answer = platform.verification.documents.upload(
        late_holder, kind, trigger="document.outdated"
    )
    twin = platform.verification.documents.upload(timely_holder, kind)

    if not late_answer.accepted:
        late_answer.refused(*REFUSED, twin=twin)
        return
    arranged_body(twin)
    late_errors, usual_errors = (
        Counter(map(kind_of, errors_about(platform, holder)))
        for holder in (late_holder, timely_holder)
    )
    assert late_errors - usual_errors, (
        f"expected an error of the submission beside the usual {list(usual_errors)}"
    )


@requirement("LIM-037")
def test_a_proof_of_address_of_an_owner_may_not_be_old_either(platform: Platform) -> None:
    """The upload of an owner's proof of address that is too old is refused.

    Where it is taken at first, whether the review notices is not for the suite to see.
    """
    business = platform.customers.applicant(business=True)
    late_owner, timely_owner = (platform.verification.owners.owner(business) for _ in range(2))

    late_answer = platform.verification.documents.upload(
        late_owner, "BANK_STATEMENT", trigger="document.outdated"
    )
    twin = platform.verification.documents.upload(timely_owner, "BANK_STATEMENT")

    if late_answer.accepted:
        of_customer = platform.verification.documents.upload(
            platform.customers.applicant(business=True),
            "BANK_STATEMENT",
            trigger="document.outdated",
        )
        if of_customer.accepted:
            raise ResourceMissing("documents are looked at after their upload")
    late_answer.refused(*REFUSED, twin=twin)


@requirement("LIM-020", "LIM-021")
def test_an_idempotency_key_has_at_most_255_characters(platform: Platform, check: Check) -> None:
    """A KYC link is created with a key of 255 characters, and refused with one of 256."""
    customer = platform.verification.reviews.unsubmitted()
    key = platform.samples.reference().ljust(MAX_KEY_CHARACTERS, "k")

    at_limit = platform.verification.links.create(customer, key=key)
    past_limit = platform.verification.links.create(customer, key=f"{key}k", valid=False)

    with check("LIM-020"):
        at_limit.expect_accepted()
    with check("LIM-021"):
        past_limit.refused(twin=at_limit)


@requirement("LIM-008")
@pytest.mark.parametrize("form", ["usual", "receiving", "immediate", "uma"])
def test_a_platform_fee_needs_a_source_in_us_dollars(
    platform: Platform, check: Check, form: Form
) -> None:
    """A fee override on a quote from another currency is refused, or the quote includes no fee.

    Each sending currency of the profile is tried, stablecoins of the dollar among them, and each
    that is changed to dollars. It is so too where the receiving side is locked, where one request
    creates and executes the quote, and where a UMA address is paid, as far as such quotes are
    accepted.
    """
    override = platform.profile.bindings.require("platform_fee_override")
    in_dollars = platform.quotes.ends(platform.quotes.corridors_from("USD")[0])
    platform.quotes.pending(*in_dollars, platformFeeOverride=override)
    firsts = corridors_not_from("USD", platform)
    to_dollars = [
        corridor
        for corridor in platform.profile.resources.corridors
        if corridor.sending != "USD" and corridor.receiving == "USD" and corridor not in firsts
    ]
    for corridor in (*firsts, *to_dollars):
        with check("LIM-008"):
            body = body_of_form(platform, form, *platform.quotes.ends(corridor))

            answer = platform.api.create_quote({**body, "platformFeeOverride": override})

            if answer.accepted:
                assert not answer.body.get("platformFeesIncluded")
            else:
                twin = platform.api.create_quote(body)
                if form != "usual" and not twin.accepted:
                    raise ResourceMissing(f"there is no such quote: {twin}")
                answer.refused(twin=twin)


def body_of_form(platform: Platform, form: Form, source: Resource, destination: Resource) -> Json:
    """Return the body of a quote of a form, from an account."""
    if form == "uma":
        return uma_quote(platform, source)
    if form == "immediate":
        return platform.quotes.body(source, destination, immediatelyExecute=True)
    side = "RECEIVING" if form == "receiving" else None
    return platform.quotes.body(source, destination, side=side)
