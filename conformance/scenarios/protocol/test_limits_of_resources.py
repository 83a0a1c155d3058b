"""Limits of single resources: how long, how large, how often."""

from __future__ import annotations

from collections import Counter
from http import HTTPStatus

import pytest

from conformance.platform.given.configuration import FEES
from conformance.platform.given.factor_resets import PHONE
from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_body, arranged_resource, require_member
from conformance.scenarios.kit.fees import FORMS, not_from, own_fee, quoted
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.resets import MOST_STARTS, starts
from conformance.scenarios.kit.uploads import UNFIT, errors_about, kind_of
from conformance.testdata.documents import padded, specimen
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

LONGEST = 255
"""How many characters a label and an Idempotency-Key may have."""

MOST_AT_LEAST = 10_000_000

MOST_AT_MOST = 10 * 1024 * 1024
"""10 MB, as one reads it or the other."""

LONGEST_KEY = 255


@requirement("LIM-070", "LIM-071", "LIM-072")
def test_a_customer_starts_five_resets_a_day(platform: Platform, check: Check) -> None:
    """The sixth is too many, but for the customer alone."""
    lost = platform.profile.bindings.reset_factor
    *taken, past = starts(platform, [lost] * (MOST_STARTS + 1))

    with check("LIM-070"):
        assert all(answer.accepted for answer in taken), taken
    with check("LIM-071"):
        past.refused(429, twin=taken[-1])
    with check("LIM-072"):
        if past.accepted:
            raise PreconditionFailed(f"the customer can start as many as are wanted: {past}")
        answer = platform.resets.start(platform.resets.holder())
        assert answer.accepted, answer


@requirement("LIM-073")
def test_resets_of_all_factors_count_together(platform: Platform) -> None:
    """The limit is that of the customer."""
    lost = platform.profile.bindings.reset_factor

    *taken, past = starts(platform, [lost, PHONE] * 3)

    for answer in taken:
        arranged_body(answer)
    past.refused(429, twin=taken[-1])


@requirement("LIM-074")
def test_who_started_too_many_resets_can_complete_one(platform: Platform) -> None:
    """Starts alone are limited."""
    customer = platform.resets.holder()
    reset = platform.resets.passed(customer)
    answers = [platform.resets.start(customer) for _ in range(MOST_STARTS)]
    if answers[0].status == HTTPStatus.CONFLICT:
        raise ResourceMissing(f"a customer has one reset at a time: {answers[0]}")
    if answers[-1].accepted:
        raise PreconditionFailed(f"the customer can start as many as are wanted: {answers[-1]}")

    answer = platform.resets.complete(reset)

    assert answer.accepted, answer


@requirement("LIM-007")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_needs_a_source_in_us_dollars(platform: Platform) -> None:
    """Elsewhere it is refused, or not taken."""
    corridor = next(
        (
            corridor
            for corridor in platform.profile.resources.corridors
            if "USD" != corridor.sending != corridor.receiving
        ),
        None,
    )
    if corridor is None:
        raise ResourceMissing(
            "resources.corridors of the profile has no cross-currency one from another than USD"
        )
    dollars = platform.configuration.standing_fee(**FORMS["rate"])
    others = platform.configuration.standing_fee(**FORMS["rate"], currency=corridor.sending)
    if dollars == others:
        raise ResourceMissing("bindings.fee_configs names no source currency")
    source, destination = platform.quotes.ends(corridor)
    body = platform.quotes.body(source, destination)
    twin = platform.configuration.update({FEES: dollars})

    answer = platform.configuration.update({FEES: others})

    if answer.accepted:
        assert own_fee(quoted(platform, body)) == 0
    else:
        answer.refused(twin=twin)


@requirement("LIM-052", "LIM-053", "LIM-055")
def test_a_key_has_at_most_255_characters(platform: Platform, check: Check) -> None:
    """255 pass, and stand for their account; 256 do not."""
    body = platform.rule_based.body(platform.rule_based.holder_account())
    key = platform.samples.idempotency_key(body).ljust(LONGEST, "k")

    at_limit = platform.rule_based.create(body, key=key)
    past_limit = platform.rule_based.create(body, key=f"{key}k", valid=False)
    again = platform.rule_based.create(body, key=key)

    with check("LIM-052"):
        assert at_limit.accepted, at_limit
    with check("LIM-053"):
        past_limit.refused(twin=at_limit)
    with check("LIM-055"):
        first = arranged_resource(at_limit)
        assert again.accepted, again
        assert arranged_resource(again)["id"] == first["id"]


@requirement("LIM-050", "LIM-051", "LIM-054")
def test_a_label_has_at_most_255_characters(platform: Platform, check: Check) -> None:
    """255 pass, and are answered whole; 256 do not."""
    home = platform.rule_based.holder_account()
    payee = platform.rule_based.sweep_destination(home)
    label = platform.samples.reference().ljust(LONGEST, "l")

    at_limit = platform.rule_based.create(platform.rule_based.body(home, payee, label=label))
    past_limit = platform.rule_based.create(
        platform.rule_based.body(home, payee, label=f"{label}l"), valid=False
    )

    with check("LIM-050"):
        assert at_limit.accepted, at_limit
    with check("LIM-051"):
        past_limit.refused(twin=at_limit)
    with check("LIM-054"):
        assert require_member(arranged_resource(at_limit), "label") == label


@requirement("LIM-034", "LIM-035")
def test_a_file_has_at_most_10_megabytes(platform: Platform, check: Check) -> None:
    """Whether a megabyte has a million bytes or more is not said, and both are fine."""
    holder = platform.customers.applicant()
    bill = specimen("UTILITY_BILL")

    at_limit = platform.verification.documents.upload(
        holder, "UTILITY_BILL", file=padded(bill, MOST_AT_LEAST)
    )
    past_limit = platform.api.create_document(
        platform.verification.documents.form(
            holder, "UTILITY_BILL", file=padded(bill, MOST_AT_MOST + 1)
        ),
        valid=False,
    )

    with check("LIM-034"):
        assert at_limit.accepted, at_limit
    with check("LIM-035"):
        past_limit.refused(*UNFIT, twin=at_limit)


@requirement("LIM-036")
def test_a_proof_of_address_of_last_month_is_accepted(platform: Platform) -> None:
    """Three months may have passed since its date, and these are two at most."""
    answer = platform.verification.documents.upload(platform.customers.applicant(), "UTILITY_BILL")

    assert answer.accepted, answer


@requirement("LIM-037")
def test_a_proof_of_address_that_is_too_old_is_noticed(platform: Platform) -> None:
    """At once, or among the errors of the submission at the latest."""
    late, timely = (
        platform.customers.applicant(business=True),
        platform.customers.applicant(business=True),
    )

    outdated = platform.verification.documents.upload(
        late, "UTILITY_BILL", trigger="document.outdated"
    )
    twin = platform.verification.documents.upload(timely, "UTILITY_BILL")

    if not outdated.accepted:
        outdated.refused(400, 422, twin=twin)
        return
    arranged_body(twin)
    told, usual = (Counter(map(kind_of, errors_about(platform, who))) for who in (late, timely))
    assert told - usual, f"expected an error of the submission beside the usual {list(usual)}"


@requirement("LIM-020", "LIM-021")
def test_an_idempotency_key_has_at_most_255_characters(platform: Platform, check: Check) -> None:
    """255 pass, and 256 do not."""
    customer = platform.verification.reviews.unsubmitted()
    key = platform.samples.reference().ljust(LONGEST_KEY, "k")

    at_limit = platform.verification.links.create(customer, key=key)
    past_limit = platform.verification.links.create(customer, key=f"{key}k", valid=False)

    with check("LIM-020"):
        assert at_limit.accepted, at_limit
    with check("LIM-021"):
        past_limit.refused(twin=at_limit)


@requirement("LIM-008")
def test_a_platform_fee_needs_a_source_in_us_dollars(platform: Platform) -> None:
    """Elsewhere it is refused, or not taken."""
    override = platform.profile.bindings.platform_fee_override
    in_dollars = platform.quotes.ends(platform.quotes.corridors_from("USD")[0])
    platform.quotes.pending(*in_dollars, platformFeeOverride=override)
    body = platform.quotes.body(*platform.quotes.ends(not_from("USD", platform)))

    answer = platform.api.create_quote({**body, "platformFeeOverride": override})

    if answer.accepted:
        assert not answer.body.get("platformFeesIncluded")
    else:
        answer.refused(twin=platform.api.create_quote(body))
