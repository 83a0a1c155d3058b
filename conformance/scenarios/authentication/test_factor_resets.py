"""Resets of lost factors: their start, reading and completion, and refusals of these."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from http import HTTPStatus

import pytest

from conformance.exchange.answer import Answer
from conformance.exchange.clock import now as clock_now
from conformance.platform.given.factor_resets import OVER, PHONE
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_body,
    arranged_resource,
    require_member,
    unknown_id,
)
from conformance.platform.waiting import wait_for_another_second, wait_until
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.challenges import offered_factors
from conformance.scenarios.kit.faults import having, without
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import arrange_moment
from conformance.scenarios.kit.regions import EU, moved_to_sca
from conformance.scenarios.kit.resets import expect_status
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

MAX_CLOCK_DIFFERENCE = timedelta(minutes=5)
"""How much the clocks of the suite and of the target may differ."""

OTHER_FACTORS = ("PASSKEY", "TOTP")
"""The factors that are no phone."""


# --- The start ------------------------------------------------------------------------------


@requirement("SFR-001", "SFR-003", "SFR-004", "SFR-005", "SFR-006", "SFR-007")
def test_a_reset_is_started(platform: Platform, check: Check) -> None:
    """The start is answered with 201 and an ``expiresAt`` that lies in the future."""
    customer = platform.resets.holder()

    answer = platform.resets.start(customer)

    with check("SFR-001"):
        platform.resets.require_factor(answer, platform.profile.bindings.reset_factor)
        assert answer.status == HTTPStatus.CREATED, answer
    with check("SFR-007"):
        body = arranged_body(answer)
        assert arrange_moment(body, "expiresAt") > clock_now() - MAX_CLOCK_DIFFERENCE, body


@requirement("SFR-002")
def test_the_reset_of_a_phone_is_started(platform: Platform) -> None:
    """The reset of a phone factor is started with 201; the new phone is named at the completion."""
    answer = platform.resets.start(platform.resets.holder(PHONE), PHONE)

    platform.resets.require_factor(answer, PHONE)
    assert answer.status == HTTPStatus.CREATED, answer


@requirement("SFR-001", "SFR-040", "SFR-041")
def test_a_business_resets_a_factor_too(platform: Platform, check: Check) -> None:
    """The reset of a business in an SCA region is started with 201, and completed with 204."""
    business = platform.approved.sca_business()
    factor = platform.profile.bindings.reset_factor
    platform.resets.enroll(business, factor, required=False)

    answer = platform.resets.start(business)

    with check("SFR-001"):
        platform.resets.require_factor(answer, factor)
        assert answer.status == HTTPStatus.CREATED, answer
    reset = platform.resets.passed_from(platform.resets.begun(answer, business, factor))
    completion = platform.resets.complete(reset)
    with check("SFR-040"):
        assert completion.status == HTTPStatus.NO_CONTENT, completion
    with check("SFR-041"):
        arranged_body(completion)
        now = platform.resets.at_status(reset, "COMPLETED")
        assert now["status"] == "COMPLETED", now


@requirement("SFR-008")
def test_every_reset_has_an_id_of_its_own(platform: Platform) -> None:
    """The resets of two customers have different ids."""
    first, second = platform.resets.started(), platform.resets.started()

    assert first["resetId"] != second["resetId"]


@requirement("SFR-116")
def test_an_end_user_has_an_address_of_any_version(platform: Platform) -> None:
    """A start and a completion that name an IPv6 address are accepted, as with the usual one."""
    address = {"endUserIpAddress": "2001:db8:85a3::8a2e:370:7334"}
    customer = platform.resets.holder()
    factor = platform.profile.bindings.reset_factor

    start = platform.resets.start(customer, body={"factor": factor, **address})

    if not start.accepted:
        arranged_body(platform.resets.start(customer))
    start.expect_accepted()
    reset = platform.resets.passed_from(platform.resets.begun(start, customer, factor))
    completion = platform.resets.complete(
        reset, {**platform.resets.completion_body(reset), **address}
    )
    if not completion.accepted:
        arranged_body(platform.resets.complete(reset))
    completion.expect_accepted()


@requirement("SFR-009")
def test_a_start_without_a_factor_is_refused(platform: Platform) -> None:
    """A body without ``factor`` is refused."""
    body = {"endUserIpAddress": platform.profile.bindings.end_user_ip}

    refusal = platform.resets.start(platform.resets.holder(), body=body, valid=False)

    refusal.refused(twin=platform.resets.start(platform.resets.holder()))


@requirement("SFR-010")
def test_a_factor_that_does_not_exist_is_not_reset(platform: Platform) -> None:
    """The start of a reset of CARRIER_PIGEON is refused."""
    refusal = platform.resets.start(platform.resets.holder(), "CARRIER_PIGEON")

    refusal.refused(twin=platform.resets.start(platform.resets.holder()))


# --- What a reset shows ---------------------------------------------------------------------


@requirement("SFR-030", "SFR-031", "SFR-032", "SFR-033", "SFR-035", "SFR-036")
def test_a_started_reset_can_be_read(platform: Platform, check: Check) -> None:
    """The reset shows the factor and the ``expiresAt`` that its start was answered with."""
    reset = platform.resets.started()

    answer = platform.resets.get(reset)

    with check("SFR-030"):
        answer.expect_accepted()
    with check("SFR-033"):
        assert arranged_body(answer)["factor"] == reset["factor"], answer
    with check("SFR-036"):
        read_expiry, start_expiry = (
            arrange_moment(arranged_body(answer), "expiresAt"),
            arrange_moment(reset, "expiresAt"),
        )
        # The target may round one of the two times.
        assert abs(read_expiry - start_expiry) <= timedelta(seconds=1), (
            f"the start told {start_expiry}, then {read_expiry}"
        )


@requirement("SFR-806")
def test_the_window_of_a_reset_is_fixed(platform: Platform) -> None:
    """Two readings of a reset that are seconds apart show one ``expiresAt``."""
    reset = platform.resets.started()
    before = platform.resets.read(reset)

    wait_until(clock_now())

    now = platform.resets.read(reset)
    if now.get("status") != before.get("status"):
        raise ResourceMissing(f"the sandbox moves a reset by itself: {now}")
    difference = arrange_moment(now, "expiresAt") - arrange_moment(before, "expiresAt")
    # The target may keep how many seconds are left, and round the end.
    assert abs(difference) <= timedelta(seconds=1), f"before it was {before}, then {now}"


@requirement("SFR-008", "SFR-033", "SFR-036")
def test_two_resets_of_a_customer_are_told_apart(platform: Platform, check: Check) -> None:
    """Of two resets of one customer each shows its own factor and ``expiresAt``."""
    customer = platform.resets.holder()
    platform.resets.enroll(customer, PHONE, required=False)
    first = platform.resets.started(customer)
    answer = platform.resets.start(customer, PHONE)
    if not answer.accepted:
        raise ResourceMissing(f"a customer has one reset at a time: {answer}")
    second = first.but(**{**answer.body, "factor": PHONE})

    with check("SFR-008"):
        assert first["resetId"] != second["resetId"]
    for reset in (first, second):
        current = platform.resets.read(reset)
        if current.get("status") in OVER:
            raise ResourceMissing(f"a second reset ends the first: {current}")
        with check("SFR-033"):
            assert current["factor"] == reset["factor"], current
        with check("SFR-036"):
            difference = arrange_moment(current, "expiresAt") - arrange_moment(reset, "expiresAt")
            assert abs(difference) <= timedelta(seconds=1), current


@requirement("SFR-049", "SFR-100")
def test_a_reset_that_is_not_completed_says_so(platform: Platform, check: Check) -> None:
    """INITIATED and LIVENESS_PASSED resets show no ``completedAt`` and no completed enrollment."""
    reset = platform.resets.started()

    resets = [platform.resets.read(reset), platform.resets.read(platform.resets.passed())]

    with check("SFR-049"):
        assert [now.get("completedAt") for now in resets] == [None, None], resets
    with check("SFR-100"):
        assert not [now for now in resets if now.get("enrollmentStatus") == "COMPLETED"], resets


# --- The completion -------------------------------------------------------------------------


@requirement("SFR-033", "SFR-037", "SFR-038", "SFR-039", "SFR-040", "SFR-041", "SFR-046")
def test_a_passed_reset_is_completed(platform: Platform, check: Check) -> None:
    """The completion is answered with 204; the reset is COMPLETED with a ``completedAt`` of now.

    It is no other when the reset is read again. The factor is that of the start.
    """
    reset = platform.resets.passed()

    answer = platform.resets.complete(reset)

    with check("SFR-046"):
        answer.expect_accepted()
    with check("SFR-040"):
        assert answer.status == HTTPStatus.NO_CONTENT, answer
    arranged_body(answer)
    now = platform.resets.at_status(reset, "COMPLETED")
    with check("SFR-041"):
        assert now["status"] == "COMPLETED", now
    with check("SFR-033"):
        assert now.get("factor") == reset["factor"], now
    with check("SFR-038"):
        assert now.get("completedAt") is not None, now
    with check("SFR-037", "SFR-039"):
        require_member(now, "completedAt")
        completed_at = arrange_moment(now, "completedAt")
        assert abs(completed_at - clock_now()) < MAX_CLOCK_DIFFERENCE, now
    with check("SFR-039"):
        wait_for_another_second(require_member(now, "completedAt"))
        again = platform.resets.read(reset)
        assert arrange_moment(again, "completedAt") == arrange_moment(now, "completedAt"), again


@requirement("SFR-033", "SFR-042", "SFR-043")
def test_the_reset_of_a_phone_is_completed_with_another(platform: Platform, check: Check) -> None:
    """A completion with ``mobile`` is answered with 204, and the reset is COMPLETED then.

    It is one of a phone.
    """
    reset = platform.resets.passed(factor=PHONE)

    answer = platform.resets.complete(reset)

    with check("SFR-042"):
        assert answer.status == HTTPStatus.NO_CONTENT, answer
    arranged_body(answer)
    now = platform.resets.at_status(reset, "COMPLETED")
    with check("SFR-043"):
        assert now["status"] == "COMPLETED", now
    with check("SFR-033"):
        assert now.get("factor") == PHONE, now


@requirement("SFR-040", "SFR-041", "SFR-101", "SFR-102")
def test_a_factor_that_is_no_phone_is_completed_without_one(
    platform: Platform, check: Check
) -> None:
    """The reset of another factor than the usual one and a phone is completed with 204.

    The factor waits for its enrollment then, which ends its ``enrollmentStatus`` PENDING.
    """
    factor = next(name for name in OTHER_FACTORS if name != platform.profile.bindings.reset_factor)
    customer = platform.resets.holder(factor)
    start = platform.resets.start(customer, factor)
    if not start.accepted:
        raise ResourceMissing(f"a lost {factor} is not reset: {start}")
    reset = platform.resets.passed_from(platform.resets.begun(start, customer, factor))

    answer = platform.resets.complete(reset)

    with check("SFR-040"):
        assert answer.status == HTTPStatus.NO_CONTENT, answer
    arranged_body(answer)
    now = platform.resets.at_status(reset, "COMPLETED")
    with check("SFR-041"):
        assert now["status"] == "COMPLETED", now
    with check("SFR-101"):
        assert now.get("enrollmentStatus") == "PENDING", now
    with check("SFR-102"):
        platform.resets.enroll(customer, factor)
        now = platform.until(
            lambda: platform.resets.read(reset),
            lambda current: current.get("enrollmentStatus") == "COMPLETED",
        )
        assert now.get("enrollmentStatus") == "COMPLETED", now


@requirement("SFR-044", "SFR-045")
def test_the_reset_of_a_phone_needs_another_one(platform: Platform, check: Check) -> None:
    """A completion without ``mobile`` is refused, and the reset can still be completed with one."""
    reset = platform.resets.passed(factor=PHONE)
    body = platform.resets.completion_body(reset)

    refusal = platform.resets.complete(reset, without("mobile")(body))

    with check("SFR-045"):
        expect_status(platform, reset, "LIVENESS_PASSED")
    with check("SFR-044"):
        refusal.refused(twin=platform.resets.complete(reset, body))


@pytest.mark.parametrize(
    ("member", "refused_id"),
    [
        case(("SFR-050", "SFR-802"), "countryCode", "countryCode", "SFR-050"),
        case(("SFR-051", "SFR-802"), "number", "number", "SFR-051"),
    ],
)
def test_a_phone_is_named_wholly(
    platform: Platform, check: Check, member: str, refused_id: str
) -> None:
    """A ``mobile`` without country code or number is refused, and the reset keeps its status."""
    reset = platform.resets.passed(factor=PHONE)
    body = platform.resets.completion_body(reset)

    refusal = platform.resets.complete(reset, without(f"mobile.{member}")(body), valid=False)

    with check("SFR-802"):
        expect_status(platform, reset, "LIVENESS_PASSED")
    with check(refused_id):
        refusal.refused(twin=platform.resets.complete(reset, body))


@pytest.mark.parametrize(
    "member", [case("SFR-808", "countryCode", "countryCode"), case("SFR-809", "number", "number")]
)
def test_a_phone_has_no_empty_name(platform: Platform, member: str) -> None:
    """A ``mobile`` whose country code or number is empty is refused, and a whole one accepted."""
    reset = platform.resets.passed(factor=PHONE)
    body = platform.resets.completion_body(reset)

    refusal = platform.resets.complete(reset, having(f"mobile.{member}", "")(body), valid=False)

    refusal.refused(twin=platform.resets.complete(reset, body))


@pytest.mark.parametrize(
    ("mobile", "refused_id"),
    [
        case(("SFR-800", "SFR-802"), "text", "+4915112345678", "SFR-800"),
        case(("SFR-801", "SFR-802"), "null", None, "SFR-801"),
    ],
)
def test_a_phone_is_named_by_an_object(
    platform: Platform, check: Check, mobile: str | None, refused_id: str
) -> None:
    """A ``mobile`` that is a text or null is refused, and the reset keeps its status."""
    reset = platform.resets.passed(factor=PHONE)
    body = platform.resets.completion_body(reset)

    refusal = platform.resets.complete(reset, having("mobile", mobile)(body), valid=False)

    with check("SFR-802"):
        expect_status(platform, reset, "LIVENESS_PASSED")
    with check(refused_id):
        refusal.refused(twin=platform.resets.complete(reset, body))


@requirement("SFR-047", "SFR-048")
@pytest.mark.parametrize("factor", [None, PHONE], ids=["usual", "phone"])
def test_a_completion_names_the_address_of_the_customer(
    platform: Platform, check: Check, factor: str | None
) -> None:
    """A completion without ``endUserIpAddress`` is refused, and the reset keeps its status."""
    reset = platform.resets.passed(factor=factor)
    body = without("endUserIpAddress")(platform.resets.completion_body(reset))

    refusal = platform.resets.complete(reset, body, valid=False)

    with check("SFR-048"):
        expect_status(platform, reset, "LIVENESS_PASSED")
    with check("SFR-047"):
        refusal.refused(twin=platform.resets.complete(reset))


# --- Enrollment of the replacement ----------------------------------------------------------


@requirement("SFR-034", "SFR-101", "SFR-102", "SFR-039")
def test_a_cleared_factor_is_enrolled_again(platform: Platform, check: Check) -> None:
    """``enrollmentStatus`` is PENDING after the completion, and COMPLETED after the enrollment.

    That another customer enrolls the factor changes nothing, nor does that the customer enrolls
    another factor. ``completedAt`` remains the time of the completion.
    """
    reset = platform.resets.completed()
    if reset["factor"] != PHONE:
        platform.resets.enroll(reset.owner, PHONE, required=False)
    platform.resets.enroll(platform.approved.sca_customer(), reset["factor"], required=False)
    before = platform.resets.read(reset)

    with check("SFR-034"):
        require_member(before, "enrollmentStatus")
    with check("SFR-101"):
        assert before.get("enrollmentStatus") == "PENDING", before
    platform.resets.enroll(reset.owner, reset["factor"])
    now = platform.until(
        lambda: platform.resets.read(reset),
        lambda current: current.get("enrollmentStatus") == "COMPLETED",
    )
    with check("SFR-102"):
        assert now.get("enrollmentStatus") == "COMPLETED", now
    with check("SFR-039"):
        if now.get("enrollmentStatus") != "COMPLETED":
            raise PreconditionFailed(f"the factor is not enrolled again: {now}")
        completed_at = [arrange_moment(seen, "completedAt") for seen in (before, now)]
        assert completed_at[0] == completed_at[1], completed_at


@requirement("SFR-103")
def test_a_phone_is_not_enrolled_again(platform: Platform) -> None:
    """A reset of a phone that was just started shows no ``enrollmentStatus``."""
    now = platform.resets.read(platform.resets.started(factor=PHONE))

    assert now.get("enrollmentStatus") is None, now


@requirement("SFR-104")
def test_a_phone_is_enrolled_at_the_completion(platform: Platform) -> None:
    """A completed reset of a phone shows no ``enrollmentStatus``, whatever is enrolled since."""
    reset = platform.resets.completed(factor=PHONE)
    now = platform.resets.read(reset)

    assert now.get("enrollmentStatus") is None, now
    platform.resets.enroll(reset.owner, PHONE, required=False)
    later = platform.resets.read(reset)
    assert later.get("enrollmentStatus") is None, later


@requirement("SFR-110", "SFR-111", "SFR-113", "SFR-114")
def test_a_cleared_factor_is_not_offered(platform: Platform, check: Check) -> None:
    """Challenges do not offer a factor from its reset until it is enrolled again.

    They offer it until the reset is completed, and go on offering the others. Another completion of
    the same reset does not clear the factor that was enrolled since.
    """
    factor = platform.profile.bindings.reset_factor
    customer = platform.resets.holder(factor)
    platform.resets.enroll(customer, PHONE, required=False)
    source = platform.internal_accounts.account(customer=customer)
    before = offered_factors(platform, source)
    if factor not in before:
        raise ResourceMissing(f"{factor} is not offered before its reset either")

    reset = platform.resets.passed(customer, factor)
    with check("SFR-114"):
        now = offered_factors(platform, source)
        assert factor in now, f"{factor} is not cleared yet, and {now} is offered"
    arranged_body(platform.resets.complete(reset))

    now = offered_factors(platform, source)
    with check("SFR-110"):
        assert factor not in now, f"{factor} is cleared, and offered among {now}"
    with check("SFR-113"):
        if {factor}.issuperset(before):
            raise ResourceMissing(f"{factor} alone is offered before its reset")
        assert {*before} - {factor} <= {*now}, f"of {before} a reset of {factor} leaves {now}"
    with check("SFR-111"):
        platform.resets.enroll(customer, factor)
        now = platform.until(
            lambda: offered_factors(platform, source), lambda factors: factor in factors
        )
        assert factor in now, f"{factor} is enrolled again, and {now} is offered"
        again = platform.resets.complete(reset)
        now = offered_factors(platform, source)
        assert factor in now, f"{factor} was enrolled again, and {now} is offered after {again}"


@requirement("SFR-115")
def test_a_reset_clears_its_own_factor_alone(platform: Platform) -> None:
    """A payment is authorized by the proof that it asks for, before the reset and after it."""
    factor = platform.profile.bindings.reset_factor
    customer = platform.resets.holder(factor)
    platform.resets.enroll(customer, PHONE, required=False)
    source = platform.internal_accounts.account(customer=customer)
    before = platform.sca.send_proof(platform.sca.challenged(source=source, amount=1_000))
    arranged_body(platform.resets.complete(platform.resets.passed(customer, factor)))
    quote = platform.sca.challenged(source=source, amount=1_000)
    asked_for = require_member(require_member(quote, "scaChallenge"), "factor")
    if asked_for == factor:
        raise ResourceMissing(f"the challenge asks for {factor}, which was cleared")

    answer = platform.sca.send_proof(quote)

    if not before.accepted:
        raise ResourceMissing(f"no payment was authorized before the reset either: {before}")
    answer.expect_accepted()


@requirement("SFR-114")
def test_a_refused_completion_clears_nothing(platform: Platform) -> None:
    """A factor is still offered after a completion before the liveness check was refused."""
    factor = platform.profile.bindings.reset_factor
    customer = platform.resets.holder(factor)
    source = platform.internal_accounts.account(customer=customer)
    if factor not in offered_factors(platform, source):
        raise ResourceMissing(f"{factor} is not offered before its reset either")

    refusal = platform.resets.complete(platform.resets.started(customer, factor))

    if refusal.accepted:
        raise ResourceMissing("a liveness check is passed as soon as a reset is started")
    now = offered_factors(platform, source)
    assert factor in now, f"{factor} is not cleared yet, and {now} is offered"


@requirement("SFR-112")
def test_a_new_phone_is_offered(platform: Platform) -> None:
    """Challenges offer the phone factor again once its reset is completed."""
    customer = platform.resets.holder(PHONE)
    source = platform.internal_accounts.account(customer=customer)
    if PHONE not in offered_factors(platform, source):
        raise ResourceMissing(f"{PHONE} is not offered before its reset either")

    platform.resets.completed(customer, PHONE)

    now = platform.until(
        lambda: offered_factors(platform, source), lambda factors: PHONE in factors
    )
    assert PHONE in now, f"a new phone is enrolled, and {now} is offered"


# --- Whose reset it is ----------------------------------------------------------------------


@requirement("SFR-011")
def test_a_start_names_its_customer(platform: Platform) -> None:
    """The start of a reset without ``customerId`` is refused."""
    twin = platform.resets.start(platform.resets.holder())

    refusal = platform.resets.start({"id": None}, valid=False)

    refusal.refused(twin=twin)


@requirement("SFR-012")
@pytest.mark.parametrize("nobody", [None, ""], ids=["absent", "empty"])
def test_reading_a_reset_names_its_customer(platform: Platform, nobody: str | None) -> None:
    """Reading a reset by its id without ``customerId``, or with an empty one, is refused."""
    reset = platform.resets.started()

    refusal = platform.resets.get({**reset, "customerId": nobody}, valid=False)

    refusal.refused(twin=platform.resets.get(reset))


@requirement("SFR-013", "SFR-014")
@pytest.mark.parametrize("nobody", [None, ""], ids=["absent", "empty"])
def test_completing_a_reset_names_its_customer(
    platform: Platform, check: Check, nobody: str | None
) -> None:
    """A completion without ``customerId`` is refused, and the reset keeps its status.

    So is one whose ``customerId`` is empty.
    """
    reset = platform.resets.passed()

    refusal = platform.resets.complete({**reset, "customerId": nobody}, valid=False)

    with check("SFR-014"):
        expect_status(platform, reset, "LIVENESS_PASSED")
    with check("SFR-013"):
        refusal.refused(twin=platform.resets.complete(reset))


@requirement("SFR-015")
def test_a_customer_outside_sca_regions_starts_no_reset(platform: Platform) -> None:
    """The start is refused with 409."""
    twin = platform.resets.start(platform.resets.holder())

    refusal = platform.resets.start(platform.approved.customer_outside_sca())

    refusal.refused(409, twin=twin)


@requirement("SFR-015")
def test_a_business_outside_sca_regions_starts_no_reset(platform: Platform) -> None:
    """The start is refused with 409 for a business of the United States too."""
    twin = platform.resets.start(platform.resets.holder())
    business = platform.api.create_customer(platform.customers.business_body())
    if not business.accepted or business.body.get("region") != "US":
        raise ResourceMissing(f"the usual business is none of the United States: {business}")

    refusal = platform.resets.start(arranged_resource(business))

    refusal.refused(409, twin=twin)


@requirement("SFR-803")
def test_the_whole_eu_is_in_the_regions_of_sca(platform: Platform) -> None:
    """New customers of all countries of the EU start a reset as one of the profile's region does.

    A country whose customers are not taken is left out.
    """
    known_region = platform.profile.bindings.sca_region
    if known_region not in EU:
        raise ResourceMissing(f"the region {known_region} is no country of the EU")
    customers = {
        region: platform.api.create_customer(
            platform.customers.body(**platform.customers.residence(region))
        )
        for region in EU
    }

    starts: dict[str, Answer] = {}
    for region, answer in customers.items():
        if answer.accepted:
            customer = arranged_resource(answer)
            platform.resets.enroll(customer, platform.profile.bindings.reset_factor, required=False)
            starts[region] = platform.resets.start(customer)

    known = starts.pop(known_region, None)
    if known is None or not known.accepted or not starts:
        raise ResourceMissing(f"no new customer starts a reset, or {known_region} is alone")
    refused = [region for region, answer in starts.items() if answer.status == HTTPStatus.CONFLICT]
    assert not refused, f"customers of {refused} are taken for customers outside of SCA"


@requirement("SFR-807")
def test_a_customer_who_moved_to_an_sca_region_starts_a_reset(platform: Platform) -> None:
    """The start is not refused with 409 for a customer who was created in another region."""
    factor = platform.profile.bindings.reset_factor
    customer = moved_to_sca(platform)
    platform.resets.enroll(customer, factor, required=False)

    start = platform.resets.require_factor(platform.resets.start(customer), factor)

    if not start.accepted:
        # Anybody may be refused for want of a factor.
        arranged_body(platform.resets.start(platform.resets.holder()))
    assert start.status != HTTPStatus.CONFLICT, start


@requirement("SFR-016")
def test_a_customer_outside_sca_regions_reads_no_reset(platform: Platform) -> None:
    """Reading is refused with 409, though the reset exists."""
    twin_reset = platform.resets.started()
    moved_reset = reset_before_move(platform, platform.resets.started)

    refusal = platform.resets.get(moved_reset or made_up_reset(platform, twin_reset))

    if moved_reset is None:
        require_told_apart(refusal)
    refusal.refused(409, twin=platform.resets.get(twin_reset))


@requirement("SFR-017")
def test_a_customer_outside_sca_regions_completes_no_reset(platform: Platform) -> None:
    """The completion is refused with 409, though the liveness check is passed."""
    twin_reset = platform.resets.passed()
    moved_reset = reset_before_move(platform, platform.resets.passed)

    refusal = platform.resets.complete(moved_reset or made_up_reset(platform, twin_reset))

    if moved_reset is None:
        require_told_apart(refusal)
    refusal.refused(409, twin=platform.resets.complete(twin_reset))


@requirement("SFR-018")
def test_a_customer_who_does_not_exist_starts_no_reset(platform: Platform) -> None:
    """The start for an unknown customer id is refused; the specification gives no status."""
    customer = platform.resets.holder()

    refusal = platform.resets.start({"id": unknown_id(customer["id"])})

    refusal.refused(twin=platform.resets.start(customer))


@requirement("SFR-019")
def test_a_reset_is_not_read_for_a_customer_who_does_not_exist(platform: Platform) -> None:
    """Reading with an unknown customer id is refused; its own customer can read the reset."""
    reset = platform.resets.started()

    refusal = platform.resets.get({**reset, "customerId": unknown_id(reset["customerId"])})

    refusal.refused(twin=platform.resets.get(reset))


@requirement("SFR-020")
def test_a_reset_is_not_completed_for_a_customer_who_does_not_exist(platform: Platform) -> None:
    """A completion with an unknown customer id is refused; the reset's customer can complete it."""
    reset = platform.resets.passed()

    refusal = platform.resets.complete({**reset, "customerId": unknown_id(reset["customerId"])})

    refusal.refused(twin=platform.resets.complete(reset))


@requirement("SFR-021")
def test_a_reset_that_does_not_exist_cannot_be_read(platform: Platform) -> None:
    """Reading an unknown reset id is refused with 404."""
    reset = platform.resets.started()

    refusal = platform.resets.get({**reset, "resetId": unknown_id(reset["resetId"])})

    refusal.refused(404, twin=platform.resets.get(reset))


@requirement("SFR-022")
def test_a_reset_that_does_not_exist_cannot_be_completed(platform: Platform) -> None:
    """Completing an unknown reset id is refused with 404."""
    reset = platform.resets.passed()

    refusal = platform.resets.complete({**reset, "resetId": unknown_id(reset["resetId"])})

    refusal.refused(404, twin=platform.resets.complete(reset))


@requirement("SFR-023")
def test_a_reset_is_not_read_for_another_customer(platform: Platform) -> None:
    """Reading a reset with the id of another customer is refused."""
    reset, other = platform.resets.started(), platform.resets.holder()

    refusal = platform.resets.get({**reset, "customerId": other["id"]})

    refusal.refused(twin=platform.resets.get(reset))


@requirement("SFR-024", "SFR-025")
def test_a_reset_is_not_completed_for_another_customer(platform: Platform, check: Check) -> None:
    """A completion with the id of another customer is refused, and the reset keeps its status."""
    reset, other = platform.resets.passed(), platform.resets.holder()

    refusal = platform.resets.complete({**reset, "customerId": other["id"]})

    with check("SFR-025"):
        expect_status(platform, reset, "LIVENESS_PASSED")
    with check("SFR-024"):
        refusal.refused(twin=platform.resets.complete(reset))


def reset_before_move(platform: Platform, begin: Callable[[Resource], Resource]) -> Resource | None:
    """Return a reset that a customer began before it moved out of the regions of SCA.

    That it has moved shows by a start: refused with 409 now, and accepted twice before. Where
    customers do not move, or have one reset at a time, there is none.

    Args:
        platform: the suite in the part of a platform.
        begin: starts a reset of a customer, and brings it to where it is wanted.
    """
    customer = platform.resets.holder()
    before = [platform.resets.start(customer) for _ in range(2)]
    if not all(answer.accepted for answer in before):
        platform.observe(f"a customer has one reset at a time: {before[-1]}")
        return None
    reset = begin(customer)
    home = ("region", "nationality", "address", "idType", "identifier", "phoneNumber")
    american = platform.customers.american_body()
    move = platform.api.update_customer(customer["id"], {name: american[name] for name in home})
    if not move.accepted or platform.resets.start(customer).status != HTTPStatus.CONFLICT:
        platform.observe(f"a customer does not move out of the regions of SCA: {move}")
        return None
    return reset


def made_up_reset(platform: Platform, reset: Json) -> Json:
    """Return a reset that does not exist, of a customer outside the SCA regions."""
    outsider = platform.approved.customer_outside_sca()
    return {**reset, "resetId": unknown_id(reset["resetId"]), "customerId": outsider["id"]}


def require_told_apart(refusal: Answer) -> None:
    """Raise ``ResourceMissing`` where a made-up reset was refused because it does not exist."""
    if refusal.status == HTTPStatus.NOT_FOUND:
        raise ResourceMissing(f"a reset that does not exist is not found by anybody: {refusal}")
