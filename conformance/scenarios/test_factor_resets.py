"""Resets of lost factors: how one is started, read and completed, and what is refused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from http import HTTPStatus

import httpx
import pytest

from conformance.client.actor import Json, given, unknown
from conformance.client.factor_resets import PHONE
from conformance.client.http import Answer
from conformance.client.platform import Platform
from conformance.scenarios.faults import having, without
from conformance.scenarios.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

ANONYMOUS = httpx.Auth()
MOST_STARTS = 5
SKEW = timedelta(minutes=5)
"""By how much the clocks of the suite and of the target may differ."""


# --- The start ------------------------------------------------------------------------------


@requirement("SFR-001", "SFR-003", "SFR-004", "SFR-005", "SFR-006", "SFR-007")
def test_a_reset_is_started(platform: Platform, check: Check) -> None:
    """The answer leads the customer into a liveness check, which has its time."""
    customer = platform.factor_holder()

    answer = platform.start_reset(customer)

    with check("SFR-001"):
        assert answer.status == HTTPStatus.CREATED, answer
    with check("SFR-007"):
        body = platform.arranged(answer)
        assert moment(body, "expiresAt") > datetime.now(UTC) - SKEW, body


@requirement("SFR-002")
def test_the_reset_of_a_phone_is_started(platform: Platform) -> None:
    """The new phone is named at the completion only."""
    answer = platform.start_reset(platform.factor_holder(PHONE), PHONE)

    assert answer.status == HTTPStatus.CREATED, answer


@requirement("SFR-008")
def test_every_reset_has_an_id_of_its_own(platform: Platform) -> None:
    """That of another customer is another one."""
    first, second = platform.factor_reset(), platform.factor_reset()

    assert first["resetId"] != second["resetId"]


@requirement("SFR-009")
def test_a_start_without_a_factor_is_refused(platform: Platform) -> None:
    """It says nothing of what was lost."""
    body = {"endUserIpAddress": platform.profile.bindings.end_user_ip}

    refusal = platform.start_reset(platform.factor_holder(), body=body, valid=False)

    refusal.refused(twin=platform.start_reset(platform.factor_holder()))


@requirement("SFR-010")
def test_a_factor_that_does_not_exist_is_not_reset(platform: Platform) -> None:
    """Nobody can have lost it."""
    refusal = platform.start_reset(platform.factor_holder(), "CARRIER_PIGEON")

    refusal.refused(twin=platform.start_reset(platform.factor_holder()))


# --- What a reset shows ---------------------------------------------------------------------


@requirement("SFR-030", "SFR-031", "SFR-032", "SFR-033", "SFR-035", "SFR-036")
def test_a_started_reset_can_be_read(platform: Platform, check: Check) -> None:
    """It shows what was lost and until when there is time."""
    reset = platform.factor_reset()

    answer = platform.read_reset(reset)

    with check("SFR-030"):
        assert answer.accepted, answer
    with check("SFR-033"):
        assert platform.arranged(answer)["factor"] == reset["factor"], answer
    with check("SFR-036"):
        shown, told = moment(platform.arranged(answer), "expiresAt"), moment(reset, "expiresAt")
        # One of them may be rounded.
        assert abs(shown - told) <= timedelta(seconds=1), f"the start told {told}, then {shown}"


@requirement("SFR-049", "SFR-100")
def test_a_reset_that_is_not_completed_says_so(platform: Platform, check: Check) -> None:
    """Neither at the start nor once the liveness check is passed."""
    reset = platform.factor_reset()

    seen = [platform.reset_now(reset), platform.reset_now(platform.passed_reset())]

    with check("SFR-049"):
        assert [now.get("completedAt") for now in seen] == [None, None], seen
    with check("SFR-100"):
        assert not [now for now in seen if now.get("enrollmentStatus") == "COMPLETED"], seen


# --- The completion -------------------------------------------------------------------------


@requirement("SFR-037", "SFR-038", "SFR-039", "SFR-040", "SFR-041", "SFR-046")
def test_a_passed_reset_is_completed(platform: Platform, check: Check) -> None:
    """The reset of a factor other than a phone needs no mobile."""
    reset = platform.passed_reset()

    answer = platform.complete_reset(reset)

    with check("SFR-046"):
        assert answer.accepted, answer
    with check("SFR-040"):
        assert answer.status == HTTPStatus.NO_CONTENT, answer
    platform.arranged(answer)
    now = platform.reset_in(reset, "COMPLETED")
    with check("SFR-041"):
        assert now["status"] == "COMPLETED", now
    with check("SFR-038"):
        assert now.get("completedAt") is not None, now
    with check("SFR-037", "SFR-039"):
        given(now, "completedAt")
        assert abs(moment(now, "completedAt") - datetime.now(UTC)) < SKEW, now


@requirement("SFR-042", "SFR-043")
def test_the_reset_of_a_phone_is_completed_with_another(platform: Platform, check: Check) -> None:
    """The mobile takes the place of the lost one."""
    reset = platform.passed_reset(factor=PHONE)

    answer = platform.complete_reset(reset)

    with check("SFR-042"):
        assert answer.status == HTTPStatus.NO_CONTENT, answer
    platform.arranged(answer)
    with check("SFR-043"):
        now = platform.reset_in(reset, "COMPLETED")
        assert now["status"] == "COMPLETED", now


@requirement("SFR-044", "SFR-045")
def test_the_reset_of_a_phone_needs_another_one(platform: Platform, check: Check) -> None:
    """Without a mobile it can still be completed with one."""
    reset = platform.passed_reset(factor=PHONE)
    whole = platform.completion_body(reset)

    refusal = platform.complete_reset(reset, without("mobile")(whole))

    with check("SFR-045"):
        demand_status(platform, reset, "LIVENESS_PASSED")
    with check("SFR-044"):
        refusal.refused(twin=platform.complete_reset(reset, whole))


@pytest.mark.parametrize(
    "member",
    [
        pytest.param("countryCode", marks=requirement("SFR-050"), id="countryCode"),
        pytest.param("number", marks=requirement("SFR-051"), id="number"),
    ],
)
def test_a_phone_is_named_wholly(platform: Platform, member: str) -> None:
    """Half a mobile cannot be called."""
    reset = platform.passed_reset(factor=PHONE)
    whole = platform.completion_body(reset)

    refusal = platform.complete_reset(reset, without(f"mobile.{member}")(whole), valid=False)

    refusal.refused(twin=platform.complete_reset(reset, whole))


@pytest.mark.parametrize(
    ("mobile", "rule"),
    [
        pytest.param("+4915112345678", "SFR-800", marks=requirement("SFR-800", "SFR-802")),
        pytest.param(None, "SFR-801", marks=requirement("SFR-801", "SFR-802")),
    ],
    ids=["text", "null"],
)
def test_a_phone_is_named_by_an_object(
    platform: Platform, check: Check, mobile: str | None, rule: str
) -> None:
    """Anything else is as good as none."""
    reset = platform.passed_reset(factor=PHONE)
    whole = platform.completion_body(reset)

    refusal = platform.complete_reset(reset, having("mobile", mobile)(whole), valid=False)

    with check("SFR-802"):
        demand_status(platform, reset, "LIVENESS_PASSED")
    with check(rule):
        refusal.refused(twin=platform.complete_reset(reset, whole))


@requirement("SFR-047", "SFR-048")
def test_a_completion_names_the_address_of_the_customer(platform: Platform, check: Check) -> None:
    """Without it the reset can still be completed with it."""
    reset = platform.passed_reset()

    refusal = platform.complete_reset(reset, {}, valid=False)

    with check("SFR-048"):
        demand_status(platform, reset, "LIVENESS_PASSED")
    with check("SFR-047"):
        refusal.refused(twin=platform.complete_reset(reset))


# --- Enrollment of the replacement ----------------------------------------------------------


@requirement("SFR-034", "SFR-101", "SFR-102")
def test_a_cleared_factor_is_enrolled_again(platform: Platform, check: Check) -> None:
    """The reset tells how far that is."""
    reset = platform.completed_reset()
    before = platform.reset_now(reset)

    with check("SFR-034"):
        given(before, "enrollmentStatus")
    with check("SFR-101"):
        assert before.get("enrollmentStatus") == "PENDING", before
    with check("SFR-102"):
        platform.enroll({"id": reset["customerId"]}, reset["factor"])
        now = platform.until(
            lambda: platform.reset_now(reset),
            lambda seen: seen.get("enrollmentStatus") == "COMPLETED",
        )
        assert now.get("enrollmentStatus") == "COMPLETED", now


@requirement("SFR-103")
def test_a_phone_is_not_enrolled_again(platform: Platform) -> None:
    """So that there is nothing to tell of it."""
    now = platform.reset_now(platform.factor_reset(factor=PHONE))

    assert now.get("enrollmentStatus") is None, now


@requirement("SFR-104")
def test_a_phone_is_enrolled_at_the_completion(platform: Platform) -> None:
    """There is nothing left to wait for."""
    now = platform.reset_now(platform.completed_reset(factor=PHONE))

    assert now.get("enrollmentStatus") is None, now


@requirement("SFR-110", "SFR-111")
def test_a_cleared_factor_is_not_offered(platform: Platform, check: Check) -> None:
    """Until it is enrolled again."""
    lost = platform.profile.bindings.reset_factor
    customer = platform.factor_holder(lost)
    source = platform.account(customer=customer)
    if lost not in offered(platform, source):
        raise ResourceMissing(f"{lost} is not offered before its reset either")

    platform.completed_reset(customer, lost)

    with check("SFR-110"):
        now = offered(platform, source)
        assert lost not in now, f"{lost} is cleared, and offered among {now}"
    with check("SFR-111"):
        platform.enroll(customer, lost)
        now = platform.until(lambda: offered(platform, source), lambda seen: lost in seen)
        assert lost in now, f"{lost} is enrolled again, and {now} is offered"


@requirement("SFR-112")
def test_a_new_phone_is_offered(platform: Platform) -> None:
    """It is enrolled at the completion, so that there is nothing left to do."""
    customer = platform.factor_holder(PHONE)
    source = platform.account(customer=customer)
    if PHONE not in offered(platform, source):
        raise ResourceMissing(f"{PHONE} is not offered before its reset either")

    platform.completed_reset(customer, PHONE)

    now = platform.until(lambda: offered(platform, source), lambda seen: PHONE in seen)
    assert PHONE in now, f"a new phone is enrolled, and {now} is offered"


# --- Whose reset it is ----------------------------------------------------------------------


@requirement("SFR-011")
def test_a_start_names_its_customer(platform: Platform) -> None:
    """Otherwise nobody knows who lost the factor."""
    twin = platform.start_reset(platform.factor_holder())

    refusal = platform.start_reset({"id": None}, valid=False)

    refusal.refused(twin=twin)


@requirement("SFR-012")
def test_reading_a_reset_names_its_customer(platform: Platform) -> None:
    """The id of the reset is not enough."""
    reset = platform.factor_reset()

    refusal = platform.read_reset({**reset, "customerId": None}, valid=False)

    refusal.refused(twin=platform.read_reset(reset))


@requirement("SFR-013", "SFR-014")
def test_completing_a_reset_names_its_customer(platform: Platform, check: Check) -> None:
    """The id of the reset is not enough."""
    reset = platform.passed_reset()

    refusal = platform.complete_reset({**reset, "customerId": None}, valid=False)

    with check("SFR-014"):
        demand_status(platform, reset, "LIVENESS_PASSED")
    with check("SFR-013"):
        refusal.refused(twin=platform.complete_reset(reset))


@requirement("SFR-015")
def test_a_customer_outside_sca_regions_starts_no_reset(platform: Platform) -> None:
    """Such a customer authenticates in no strong way."""
    twin = platform.start_reset(platform.factor_holder())

    refusal = platform.start_reset(platform.customer_outside_sca())

    refusal.refused(409, twin=twin)


@requirement("SFR-016")
def test_a_customer_outside_sca_regions_reads_no_reset(platform: Platform) -> None:
    """There is none to be read, which may be noticed first."""
    reset = platform.factor_reset()

    refusal = platform.read_reset(foreign(platform, reset))

    refusal.refused(409, 404, twin=platform.read_reset(reset))


@requirement("SFR-017")
def test_a_customer_outside_sca_regions_completes_no_reset(platform: Platform) -> None:
    """There is none to be completed, which may be noticed first."""
    reset = platform.passed_reset()

    refusal = platform.complete_reset(foreign(platform, reset))

    refusal.refused(409, 404, twin=platform.complete_reset(reset))


@requirement("SFR-018")
def test_a_customer_who_does_not_exist_starts_no_reset(platform: Platform) -> None:
    """What is answered first is left open."""
    customer = platform.factor_holder()

    refusal = platform.start_reset({"id": unknown(customer["id"])})

    refusal.refused(twin=platform.start_reset(customer))


@requirement("SFR-019")
def test_a_reset_is_not_read_for_a_customer_who_does_not_exist(platform: Platform) -> None:
    """The customer who started it reads it."""
    reset = platform.factor_reset()

    refusal = platform.read_reset({**reset, "customerId": unknown(reset["customerId"])})

    refusal.refused(twin=platform.read_reset(reset))


@requirement("SFR-020")
def test_a_reset_is_not_completed_for_a_customer_who_does_not_exist(platform: Platform) -> None:
    """The customer who started it completes it."""
    reset = platform.passed_reset()

    refusal = platform.complete_reset({**reset, "customerId": unknown(reset["customerId"])})

    refusal.refused(twin=platform.complete_reset(reset))


@requirement("SFR-021")
def test_a_reset_that_does_not_exist_cannot_be_read(platform: Platform) -> None:
    """It was never started."""
    reset = platform.factor_reset()

    refusal = platform.read_reset({**reset, "resetId": unknown(reset["resetId"])})

    refusal.refused(404, twin=platform.read_reset(reset))


@requirement("SFR-022")
def test_a_reset_that_does_not_exist_cannot_be_completed(platform: Platform) -> None:
    """It was never started."""
    reset = platform.passed_reset()

    refusal = platform.complete_reset({**reset, "resetId": unknown(reset["resetId"])})

    refusal.refused(404, twin=platform.complete_reset(reset))


@requirement("SFR-023")
def test_a_reset_is_not_read_for_another_customer(platform: Platform) -> None:
    """It is the affair of the one who lost the factor."""
    reset, other = platform.factor_reset(), platform.factor_holder()

    refusal = platform.read_reset({**reset, "customerId": other["id"]})

    refusal.refused(twin=platform.read_reset(reset))


@requirement("SFR-024", "SFR-025")
def test_a_reset_is_not_completed_for_another_customer(platform: Platform, check: Check) -> None:
    """It is the affair of the one who lost the factor."""
    reset, other = platform.passed_reset(), platform.factor_holder()

    refusal = platform.complete_reset({**reset, "customerId": other["id"]})

    with check("SFR-025"):
        demand_status(platform, reset, "LIVENESS_PASSED")
    with check("SFR-024"):
        refusal.refused(twin=platform.complete_reset(reset))


# --- Credentials ----------------------------------------------------------------------------


@requirement("SFR-026")
def test_a_start_needs_credentials(platform: Platform) -> None:
    """A customer's lost factor is not for anybody to reset."""
    customer = platform.factor_holder()
    call = anonymous(
        platform,
        "startFactorReset",
        query={"customerId": customer["id"]},
        body={
            "factor": platform.profile.bindings.reset_factor,
            "endUserIpAddress": platform.profile.bindings.end_user_ip,
        },
    )

    refusal = call()

    refusal.refused(401, twin=platform.start_reset(customer))


@requirement("SFR-027")
def test_reading_a_reset_needs_credentials(platform: Platform) -> None:
    """Its id is no secret."""
    reset = platform.factor_reset()
    call = anonymous(platform, "getFactorReset", **place(reset))

    refusal = call()

    refusal.refused(401, twin=platform.read_reset(reset))


@requirement("SFR-028", "SFR-029")
def test_completing_a_reset_needs_credentials(platform: Platform, check: Check) -> None:
    """Otherwise it clears nothing."""
    reset = platform.passed_reset()
    call = anonymous(
        platform, "completeFactorReset", **place(reset), body=platform.completion_body(reset)
    )

    refusal = call()

    with check("SFR-029"):
        demand_status(platform, reset, "LIVENESS_PASSED")
    with check("SFR-028"):
        refusal.refused(401, twin=platform.complete_reset(reset))


# --- How many may be started ----------------------------------------------------------------


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
        answer = platform.start_reset(platform.factor_holder())
        assert answer.accepted, answer


@requirement("LIM-073")
def test_resets_of_all_factors_count_together(platform: Platform) -> None:
    """The limit is that of the customer."""
    lost = platform.profile.bindings.reset_factor

    *taken, past = starts(platform, [lost, PHONE] * 3)

    for answer in taken:
        platform.arranged(answer)
    past.refused(429, twin=taken[-1])


@requirement("LIM-074")
def test_who_started_too_many_resets_can_complete_one(platform: Platform) -> None:
    """Starts alone are limited."""
    customer = platform.factor_holder()
    reset = platform.passed_reset(customer)
    answers = [platform.start_reset(customer) for _ in range(MOST_STARTS)]
    if answers[0].status == HTTPStatus.CONFLICT:
        raise ResourceMissing(f"a customer has one reset at a time: {answers[0]}")
    if answers[-1].accepted:
        raise PreconditionFailed(f"the customer can start as many as are wanted: {answers[-1]}")

    answer = platform.complete_reset(reset)

    assert answer.accepted, answer


def starts(platform: Platform, lost: Sequence[str], *, ending: bool = False) -> list[Answer]:
    """Return the answers to one start after the other by a new customer.

    Where a customer has one reset at a time, each is ended before the next.
    """
    customer = platform.factor_holder()
    platform.enroll(customer, PHONE, demanded=False)
    answers: list[Answer] = []
    for factor in lost:
        if ending and answers and answers[-1].accepted:
            platform.liveness({**answers[-1].body, "customerId": customer["id"]}, "fail")
        answers.append(platform.start_reset(customer, factor))
    if not ending and answers[1].status == HTTPStatus.CONFLICT:
        return starts(platform, lost, ending=True)
    return answers


def foreign(platform: Platform, reset: Json) -> Json:
    """Return a reset of a customer outside the regions of SCA, which is none."""
    outsider = platform.customer_outside_sca()
    return {**reset, "resetId": unknown(reset["resetId"]), "customerId": outsider["id"]}


def place(reset: Json) -> Json:
    """Return where a reset is called."""
    return {"path": {"resetId": reset["resetId"]}, "query": {"customerId": reset["customerId"]}}


def anonymous(platform: Platform, operation: str, **request: object) -> Callable[[], Answer]:
    """Return a call of an operation without credentials."""
    call: Callable[..., Answer] = platform.client.call
    return lambda: call(operation, auth=ANONYMOUS, **request)


def offered(platform: Platform, source: Json) -> list[str]:
    """Return the factors that a new challenge of the owner of an account offers."""
    quote = platform.challenged(source=source, amount=1_000)
    factors = given(given(quote, "scaChallenge"), "availableFactors")
    return [str(factor) for factor in factors]


def demand_status(platform: Platform, reset: Json, status: str) -> None:
    """Assert that a reset is at a status."""
    __tracebackhide__ = True
    now = platform.reset_now(reset)
    assert now.get("status") == status, f"expected {status}, got {now}"


def moment(resource: Json, name: str) -> datetime:
    """Return the time in a member."""
    try:
        return datetime.fromisoformat(resource[name])
    except (KeyError, TypeError, ValueError) as error:
        raise PreconditionFailed(f"{name} is no timestamp: {resource.get(name)}") from error
