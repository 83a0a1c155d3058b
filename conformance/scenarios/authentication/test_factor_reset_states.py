"""The states of a factor reset: every action is tried in every state."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import pytest

from conformance.platform.given.factor_resets import OVER, PHONE
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, arranged_body
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import arrange_moment
from conformance.scenarios.kit.resets import expect_status
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

NEW_RESET_AT: Mapping[str, Callable[..., Resource]] = {
    "INITIATED": lambda platform, factor=None: platform.resets.initiated(factor=factor),
    "PENDING_REVIEW": lambda platform, factor=None: platform.resets.in_review(factor),
    "LIVENESS_PASSED": lambda platform, factor=None: platform.resets.passed(factor=factor),
    "COMPLETED": lambda platform, factor=None: platform.resets.completed(factor=factor),
    "REJECTED": lambda platform, factor=None: platform.resets.rejected(factor),
    "EXPIRED": lambda platform, factor=None: platform.resets.expired(factor),
}
"""Functions that return a new reset in a state, by that state: of the usual factor or another."""

of_a_phone_too = pytest.mark.parametrize("factor", [None, PHONE], ids=["usual", "phone"])
"""Run a test with a reset of the usual factor, and with one of a phone."""


def closed_after_passing(platform: Platform, factor: str | None = None) -> Resource:
    """Return a reset whose window closed after its liveness check was passed.

    Nobody has read it since, which might bring it to EXPIRED by itself.
    """
    reset = platform.resets.passed(factor=factor)
    platform.resets.close_window(reset)
    return reset


# --- From state to state --------------------------------------------------------------------


@requirement("SFR-070")
@pytest.mark.parametrize("factor", [None, PHONE], ids=["usual", "phone"])
def test_a_new_reset_is_initiated(platform: Platform, factor: str | None) -> None:
    """A reset that was just started shows the status INITIATED.

    It is at PENDING_REVIEW where the profile knows no way to submit a liveness check.
    """
    reset = platform.resets.started(factor=factor)

    expect_initiated(platform, reset)


def expect_initiated(platform: Platform, reset: Resource) -> None:
    """Assert that a reset that was just started is INITIATED.

    Raises:
        ResourceMissing: the sandbox brings it further at once.
    """
    __tracebackhide__ = True
    status = platform.resets.read(reset).get("status")
    submits = platform.triggers.maps("factor_reset.submit")
    if status == "LIVENESS_PASSED" or (status == "PENDING_REVIEW" and not submits):
        raise ResourceMissing(f"the sandbox brings a reset to {status} at once")
    assert status == "INITIATED"


@requirement("SFR-070", "SFR-101", "SFR-102")
def test_a_second_reset_of_a_factor_begins_anew(platform: Platform, check: Check) -> None:
    """What a customer did for a completed reset does not count for the next one of the factor.

    That is the liveness check, and the enrollment of the factor. The first reset keeps its own.
    """
    resets = platform.resets
    first = resets.initiated()
    arranged_body(resets.complete(resets.passed_from(first)))
    resets.at_status(first, "COMPLETED")
    enrollment = enroll_again(platform, first)
    answer = resets.start(first.owner, first["factor"])
    if not answer.accepted:
        raise ResourceMissing(f"a customer who completed a reset starts no other: {answer}")

    second = resets.begun(answer, first.owner, first["factor"])

    with check("SFR-070"):
        assert resets.read(second).get("status") == "INITIATED"
    arranged_body(resets.complete(resets.passed_from(second)))
    resets.at_status(second, "COMPLETED")
    if enrollment != "COMPLETED":
        raise ResourceMissing(f"the enrollmentStatus of the first reset is {enrollment}")
    with check("SFR-101"):
        now = resets.read(second)
        assert now.get("enrollmentStatus") == "PENDING", now
    with check("SFR-102"):
        now = resets.read(first)
        assert now.get("enrollmentStatus") == "COMPLETED", now
        assert enroll_again(platform, second) == "COMPLETED", "of the second reset"


def enroll_again(platform: Platform, reset: Resource) -> str | None:
    """Let the factor of a completed reset be enrolled, and return the reset's enrollmentStatus.

    Where the profile knows no way to enroll it, it stays as it is.
    """
    if not platform.triggers.maps("sca.enroll"):
        return None
    platform.resets.enroll(reset.owner, reset["factor"], required=False)
    return platform.until(
        lambda: platform.resets.read(reset).get("enrollmentStatus"),
        lambda status: status in ("COMPLETED", None),
    )


@requirement("SFR-071")
@pytest.mark.parametrize("factor", [None, PHONE], ids=["usual", "phone"])
def test_a_submitted_liveness_check_is_reviewed(platform: Platform, factor: str | None) -> None:
    """A submitted check that is not decided brings its reset to PENDING_REVIEW."""
    reset = platform.resets.initiated(factor=factor)

    platform.resets.liveness(reset, "submit")

    status = platform.resets.at_status(reset, "PENDING_REVIEW", "LIVENESS_PASSED").get("status")
    if status in ("LIVENESS_PASSED", "REJECTED"):
        raise ResourceMissing(f"the sandbox decides a submitted check at once: {status}")
    assert status == "PENDING_REVIEW"


@pytest.mark.parametrize(
    ("state", "outcome", "expected"),
    [
        case("SFR-072", "reviewed", "PENDING_REVIEW", "pass", "LIVENESS_PASSED"),
        case("SFR-073", "at-once", "INITIATED", "pass", "LIVENESS_PASSED"),
        case("SFR-075", "failed-at-once", "INITIATED", "fail", "REJECTED"),
        case("SFR-076", "failed", "PENDING_REVIEW", "fail", "REJECTED"),
        case("SFR-123", "failed-after-all", "LIVENESS_PASSED", "fail", "REJECTED"),
    ],
)
def test_the_liveness_check_decides(
    platform: Platform, state: str, outcome: str, expected: str
) -> None:
    """The result brings a reset to LIVENESS_PASSED or REJECTED, with or without a review."""
    reset = NEW_RESET_AT[state](platform)

    platform.resets.liveness(reset, outcome)

    now = platform.resets.at_status(reset, expected)
    assert now["status"] == expected, now


@requirement("SFR-122")
def test_what_happens_to_one_reset_does_not_happen_to_another(platform: Platform) -> None:
    """A reset is not passed and completed with another one of its customer."""
    first, second = two_resets(platform)

    platform.resets.liveness(second, "pass")
    platform.resets.at_status(second, "LIVENESS_PASSED")
    statuses = [platform.resets.read(first).get("status")]
    arranged_body(platform.resets.complete(second))
    statuses.append(platform.resets.read(first).get("status"))

    # The second reset may have ended the first one.
    assert not {"LIVENESS_PASSED", "COMPLETED"}.intersection(statuses), statuses


@requirement("SFR-122")
def test_a_reset_is_not_rejected_with_another(platform: Platform) -> None:
    """A reset is not REJECTED by the liveness check of another one of its customer that failed."""
    first, second = two_resets(platform)
    if platform.resets.read(first).get("status") in OVER:
        raise ResourceMissing("a second reset ends the first")

    platform.resets.liveness(second, "fail")

    if platform.resets.at_status(second, "REJECTED").get("status") != "REJECTED":
        raise PreconditionFailed("a liveness check that failed does not reject its own reset")
    assert platform.resets.read(first).get("status") != "REJECTED"


@requirement("SFR-122")
def test_a_reset_does_not_expire_with_another(platform: Platform) -> None:
    """The end of the window of a reset leaves a newer one of its customer as it is."""
    older, newer = two_resets(platform)
    if platform.resets.read(older).get("status") in OVER:
        raise ResourceMissing("a second reset ends the first")

    platform.resets.close_window(older)

    if platform.resets.at_status(older, "EXPIRED").get("status") != "EXPIRED":
        raise PreconditionFailed("the end of its window does not let a reset expire")
    now = platform.resets.read(newer)
    assert now.get("status") != "EXPIRED", now


@requirement("SFR-041", "SFR-071", "SFR-122")
def test_the_older_of_two_resets_goes_its_own_way(platform: Platform, check: Check) -> None:
    """The liveness check and the completion of the older reset move that one, not the newer one."""
    older, newer = two_resets(platform)

    platform.resets.liveness(older, "submit")

    now = platform.resets.at_status(older, "PENDING_REVIEW", "LIVENESS_PASSED")
    other = platform.resets.read(newer)
    if {now.get("status"), other.get("status")}.intersection(OVER):
        raise ResourceMissing("a second reset ends the first")
    with check("SFR-071"):
        if now.get("status") == "LIVENESS_PASSED":
            raise ResourceMissing("the sandbox decides a submitted check at once")
        assert now.get("status") == "PENDING_REVIEW", now
    with check("SFR-122"):
        assert other.get("status") == "INITIATED", other
    for reset in (older, newer):
        if platform.resets.read(reset).get("status") != "LIVENESS_PASSED":
            platform.resets.liveness(reset, "pass")
            platform.resets.at_status(reset, "LIVENESS_PASSED")
    if platform.resets.read(older).get("status") in OVER:
        raise ResourceMissing("a reset that is passed ends another one")
    arranged_body(platform.resets.complete(older))
    completed = platform.resets.at_status(older, "COMPLETED")
    with check("SFR-041"):
        assert completed.get("status") == "COMPLETED", completed
    with check("SFR-122"):
        other = platform.resets.read(newer)
        assert other.get("status") != "COMPLETED", other


@pytest.mark.parametrize(
    "state",
    [
        case("SFR-077", "INITIATED", "INITIATED"),
        case("SFR-078", "PENDING_REVIEW", "PENDING_REVIEW"),
        case("SFR-079", "LIVENESS_PASSED", "LIVENESS_PASSED"),
    ],
)
def test_a_reset_expires(platform: Platform, state: str) -> None:
    """The end of its window brings a reset that is not over to EXPIRED."""
    reset = NEW_RESET_AT[state](platform)

    platform.resets.close_window(reset)

    now = platform.resets.at_status(reset, "EXPIRED")
    assert now["status"] == "EXPIRED", now


@requirement("SFR-075")
def test_the_reset_of_a_phone_is_rejected(platform: Platform) -> None:
    """A liveness check that failed brings the reset of a phone to REJECTED."""
    reset = platform.resets.initiated(factor=PHONE)

    platform.resets.liveness(reset, "fail")

    now = platform.resets.at_status(reset, "REJECTED")
    assert now["status"] == "REJECTED", now


@requirement("SFR-079", "SFR-103")
def test_the_reset_of_a_phone_expires(platform: Platform, check: Check) -> None:
    """The end of its window brings the reset of a phone from LIVENESS_PASSED to EXPIRED.

    It shows no ``enrollmentStatus`` at either.
    """
    reset = platform.resets.passed(factor=PHONE)
    before = platform.resets.read(reset)

    platform.resets.close_window(reset)

    now = platform.resets.at_status(reset, "EXPIRED")
    with check("SFR-079"):
        assert now["status"] == "EXPIRED", now
    with check("SFR-103"):
        assert [seen.get("enrollmentStatus") for seen in (before, now)] == [None, None], now


@requirement("SFR-074")
def test_a_reviewed_reset_is_completed(platform: Platform) -> None:
    """A reset whose liveness check passed a review can be completed, and is COMPLETED then."""
    reset = platform.resets.in_review()
    platform.resets.liveness(reset, "pass")
    platform.resets.at_status(reset, "LIVENESS_PASSED")

    answer = platform.resets.complete(reset)

    answer.expect_accepted()
    now = platform.resets.at_status(reset, "COMPLETED")
    assert now["status"] == "COMPLETED", now


# --- Completions that come too early or too late --------------------------------------------


@pytest.mark.parametrize(
    ("state", "ids"),
    [
        case((*ids, "SFR-049", "SFR-100"), state, state, ids)
        for state, ids in {
            "INITIATED": ("SFR-052", "SFR-053"),
            "PENDING_REVIEW": ("SFR-054", "SFR-055"),
        }.items()
    ],
)
@of_a_phone_too
def test_a_reset_is_not_completed_before_the_liveness_check_is_passed(
    platform: Platform, check: Check, state: str, ids: tuple[str, str], factor: str | None
) -> None:
    """Completing it is refused with 400, and its status stays; a new phone changes nothing."""
    refused_id, kept_id = ids
    reset = NEW_RESET_AT[state](platform, factor)

    refusal = platform.resets.complete(reset)

    expect_uncompleted(platform, check, kept_id, reset, state)
    with check(refused_id):
        # After an accepted completion the same reset could not be the twin.
        twin = platform.resets.complete(platform.resets.passed(factor=factor))
        refusal.refused(400, twin=twin)


@pytest.mark.parametrize(
    ("begin", "ids"),
    [
        case((*ids, "SFR-049", "SFR-100"), name, begin, ids)
        for name, begin, ids in (
            ("REJECTED", NEW_RESET_AT["REJECTED"], ("SFR-056", "SFR-057")),
            ("EXPIRED", NEW_RESET_AT["EXPIRED"], ("SFR-058", "SFR-059")),
            ("passed-and-EXPIRED", closed_after_passing, ("SFR-058", "SFR-059")),
        )
    ],
)
@of_a_phone_too
def test_a_reset_that_failed_is_not_completed(
    platform: Platform,
    check: Check,
    begin: Callable[..., Resource],
    ids: tuple[str, str],
    factor: str | None,
) -> None:
    """Completing a REJECTED or EXPIRED reset is refused, and its status stays."""
    refused_id, kept_id = ids
    reset = begin(platform, factor)

    refusal = platform.resets.complete(reset)

    if refusal.accepted and begin is closed_after_passing:
        require_window_closed(platform, reset)
    state = "REJECTED" if begin is NEW_RESET_AT["REJECTED"] else "EXPIRED"
    expect_uncompleted(platform, check, kept_id, reset, state)
    with check(refused_id):
        refusal.refused(twin=platform.resets.complete(platform.resets.passed(factor=factor)))


@requirement("SFR-060")
def test_a_completed_reset_stays_completed(platform: Platform) -> None:
    """A second completion may be refused or repeat the answer; the status stays COMPLETED.

    So do the time of the completion, and the enrollment that may have followed it.
    """
    reset = platform.resets.completed()
    platform.resets.enroll(reset.owner, reset["factor"], required=False)
    before = platform.resets.read(reset)

    again = platform.resets.complete(reset)

    expect_status(platform, reset, "COMPLETED")
    now = platform.resets.read(reset)
    for member in ("completedAt", "enrollmentStatus"):
        # An enrollment may be noted late.
        assert now.get(member) == before.get(member) or before.get(member) == "PENDING", (
            f"{member} was {before.get(member)}, and is {now.get(member)}"
        )
    platform.observe(f"completing a completed reset again is answered with {again.status}")


# --- Terminal states ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("state", "action"),
    [
        case("SFR-080", "REJECTED-submit", "REJECTED", "submit"),
        case("SFR-081", "REJECTED-pass", "REJECTED", "pass"),
        case("SFR-082", "REJECTED-expire", "REJECTED", "expire"),
        case("SFR-083", "EXPIRED-submit", "EXPIRED", "submit"),
        case("SFR-084", "EXPIRED-pass", "EXPIRED", "pass"),
        case("SFR-085", "EXPIRED-fail", "EXPIRED", "fail"),
        case("SFR-086", "COMPLETED-submit", "COMPLETED", "submit"),
        case("SFR-087", "COMPLETED-pass", "COMPLETED", "pass"),
        case("SFR-088", "COMPLETED-fail", "COMPLETED", "fail"),
        case("SFR-089", "COMPLETED-expire", "COMPLETED", "expire"),
    ],
)
def test_nothing_follows_a_terminal_state(platform: Platform, state: str, action: str) -> None:
    """Liveness checks and the end of the window may be refused; the status of the reset stays."""
    reset = NEW_RESET_AT[state](platform)

    try:
        if action == "expire":
            platform.resets.close_window(reset)
        else:
            platform.resets.liveness(reset, action)
    except TriggerFailed as error:
        platform.observe(f"factor_reset.{action} of a reset at {state} is refused: {error}")

    expect_status(platform, reset, state)


@pytest.mark.parametrize(
    ("state", "started_id", "kept_id"),
    [
        case((*ids, "SFR-041", "SFR-070"), state, state, *ids)
        for state, ids in {
            "REJECTED": ("SFR-090", "SFR-092"),
            "EXPIRED": ("SFR-091", "SFR-093"),
        }.items()
    ],
)
def test_a_new_reset_follows_one_that_failed(
    platform: Platform, check: Check, state: str, started_id: str, kept_id: str
) -> None:
    """The new reset has another id, and the first one keeps its status.

    It is INITIATED as any other, and comes to COMPLETED once its liveness check is passed.
    """
    reset = NEW_RESET_AT[state](platform)

    answer = platform.resets.start(reset.owner)

    with check(started_id):
        answer.expect_accepted()
    with check(kept_id):
        assert arranged_body(answer)["resetId"] != reset["resetId"], answer
        expect_status(platform, reset, state)
    second = platform.resets.begun(answer, reset.owner, reset["factor"])
    with check("SFR-070"):
        expect_initiated(platform, second)
    with check("SFR-041"):
        arranged_body(platform.resets.complete(platform.resets.passed_from(second)))
        now = platform.resets.at_status(second, "COMPLETED")
        assert now.get("status") == "COMPLETED", now


def two_resets(platform: Platform) -> tuple[Resource, Resource]:
    """Return a reset that is INITIATED, and another one of its customer that follows it.

    Raises:
        ResourceMissing: a customer has one reset at a time.
    """
    customer = platform.resets.holder()
    platform.resets.enroll(customer, PHONE, required=False)
    first = platform.resets.initiated(customer)
    answer = platform.resets.start(customer, PHONE)
    if not answer.accepted:
        raise ResourceMissing(f"a customer has one reset at a time: {answer}")
    return first, platform.resets.begun(answer, customer, PHONE)


def expect_uncompleted(
    platform: Platform, check: Check, kept_id: str, reset: Resource, state: str
) -> None:
    """Decide whether a refused completion left a reset as it was: at a status, and not completed.

    That its window has closed may show a moment after.
    """
    now = platform.resets.at_status(reset, state)
    with check(kept_id):
        assert now.get("status") == state, now
    with check("SFR-049"):
        assert now.get("completedAt") is None, now
    with check("SFR-100"):
        assert now.get("enrollmentStatus") != "COMPLETED", now


def require_window_closed(platform: Platform, reset: Resource) -> None:
    """Raise ``ResourceMissing`` where a reset was completed before its window had closed.

    What closes a window may take effect late.
    """
    now = platform.resets.read(reset)
    if arrange_moment(now, "expiresAt") >= arrange_moment(now, "completedAt"):
        raise ResourceMissing(f"the window was still open at the completion: {now}")
