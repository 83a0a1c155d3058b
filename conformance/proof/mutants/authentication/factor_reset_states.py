"""Mutants of the states of a reset, and of what a completed reset replaces."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import object_session

from conformance.proof.kit.builders import (
    Handler,
    Json,
    after,
    around,
    edited,
    instead,
    rescued,
    skipped,
)
from conformance.proof.kit.edits import Edit, put, shows, where
from conformance.proof.kit.tables import with_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors
from conformance.reference.authentication import factor_resets, factors, logins, sca
from conformance.reference.authentication.factor_resets import PHONE
from conformance.reference.service import Service
from conformance.reference.store import Customer, FactorReset, Quote
from conformance.reference.unit import Ask, Unit
from conformance.reference.unit import after as moment_after

# --- States ---------------------------------------------------------------------------------


LEADS: tuple[tuple[str, str, str, str], ...] = (
    ("SFR-041", "LIVENESS_PASSED", "COMPLETE", "LIVENESS_PASSED"),
    ("SFR-052", "INITIATED", "COMPLETE", "COMPLETED"),
    ("SFR-054", "PENDING_REVIEW", "COMPLETE", "COMPLETED"),
    ("SFR-056", "REJECTED", "COMPLETE", "COMPLETED"),
    ("SFR-058", "EXPIRED", "COMPLETE", "COMPLETED"),
    ("SFR-060", "COMPLETED", "COMPLETE", "LIVENESS_PASSED"),
    ("SFR-071", "INITIATED", "SUBMITTED", "INITIATED"),
    ("SFR-072", "PENDING_REVIEW", "PASSED", "PENDING_REVIEW"),
    ("SFR-073", "INITIATED", "PASSED", "PENDING_REVIEW"),
    ("SFR-075", "INITIATED", "FAILED", "INITIATED"),
    ("SFR-076", "PENDING_REVIEW", "FAILED", "INITIATED"),
    ("SFR-123", "LIVENESS_PASSED", "FAILED", "LIVENESS_PASSED"),
    ("SFR-077", "INITIATED", "CLOSED", "INITIATED"),
    ("SFR-078", "PENDING_REVIEW", "CLOSED", "REJECTED"),
    ("SFR-079", "LIVENESS_PASSED", "CLOSED", "LIVENESS_PASSED"),
    ("SFR-080", "REJECTED", "SUBMITTED", "PENDING_REVIEW"),
    ("SFR-081", "REJECTED", "PASSED", "LIVENESS_PASSED"),
    ("SFR-082", "REJECTED", "CLOSED", "EXPIRED"),
    ("SFR-083", "EXPIRED", "SUBMITTED", "PENDING_REVIEW"),
    ("SFR-084", "EXPIRED", "PASSED", "LIVENESS_PASSED"),
    ("SFR-085", "EXPIRED", "FAILED", "REJECTED"),
    ("SFR-086", "COMPLETED", "SUBMITTED", "PENDING_REVIEW"),
    ("SFR-087", "COMPLETED", "PASSED", "LIVENESS_PASSED"),
    ("SFR-088", "COMPLETED", "FAILED", "REJECTED"),
    ("SFR-089", "COMPLETED", "CLOSED", "EXPIRED"),
)
"""Requirement, status, action, and the wrong status that it leads to."""


def _leading(status: str, action: str, reached: str) -> Apply:
    def apply(patch: Patch) -> None:
        patch.row(factor_resets, "MOVES", (status, action), reached)
        if status == "EXPIRED":
            # Its window stays closed, which would bring it back.
            patch.replace(factor_resets, "close_if_due", _closing_once)

    return apply


def _closing_once(unit: Unit, reset: FactorReset) -> None:
    """Close the window of a reset that nobody has decided or taken up again."""
    if unit.now >= reset.expires_at and reset.status == "INITIATED":
        reset.status = "EXPIRED"


for _requirement, _from, _action, _reached in LEADS:
    declare(
        _requirement,
        f"{_from}-{_action}",
        f"{_action} leads a reset from {_from} to {_reached}",
        _leading(_from, _action, _reached),
    )


def _phone_for_liveness(status: str) -> Apply:
    """Return a patch after which a new phone is enough to complete a reset at a status."""

    def move(original: Function, reset: FactorReset, action: str) -> None:
        phone = action == "COMPLETE" and factor_resets.needs_mobile(reset.factor)
        if phone and reset.status == status:
            reset.status = "LIVENESS_PASSED"
        original(reset, action)

    return around(factor_resets, "move", move)


for _requirement, _from in (
    ("SFR-052", "INITIATED"),
    ("SFR-054", "PENDING_REVIEW"),
    ("SFR-056", "REJECTED"),
    ("SFR-058", "EXPIRED"),
):
    declare(
        _requirement,
        "phone-for-liveness",
        f"a new phone stands for the liveness check where the reset is {_from}",
        _phone_for_liveness(_from),
    )


for _requirement, _from in (("SFR-052", "INITIATED"), ("SFR-054", "PENDING_REVIEW")):
    declare(
        _requirement,
        "answers-409",
        f"the completion of a reset at {_from} is refused with 409",
        with_row(factor_resets, "COMPLETION_REFUSALS", _from, "INVALID_STATE_TRANSITION"),
    )


def _spoiling(status: str, applies: Callable[[FactorReset, Ask], bool]) -> Apply:
    """Refuse a completion, and bring the reset to a status nevertheless."""

    def spoiled(complete: Function, unit: Unit, ask: Ask) -> None:
        reset = unit.session.get(FactorReset, ask.params["resetId"])
        try:
            complete(unit, ask)
        except errors.Refusal as refusal:
            if reset is None or not applies(reset, ask):
                raise
            reset.status = status
            raise errors.Rejection(refusal.code, refusal.reason, refusal.details) from refusal

    return around(factor_resets, "complete", spoiled)


def _anyhow(_reset: FactorReset, _ask: Ask) -> bool:
    return True


for _requirement, _reached, _what in (
    ("SFR-014", "COMPLETED", "a completion without a customer is refused once it is done"),
    ("SFR-025", "COMPLETED", "a completion for another customer is refused once it is done"),
    ("SFR-045", "COMPLETED", "a completion without a mobile is refused once it is done"),
    ("SFR-048", "COMPLETED", "a completion without an address is refused once it is done"),
    ("SFR-053", "REJECTED", "an early completion ends the reset"),
    ("SFR-055", "REJECTED", "a completion during the review ends the reset"),
    ("SFR-057", "COMPLETED", "the completion of a REJECTED reset is refused once it is done"),
    ("SFR-059", "COMPLETED", "the completion of an EXPIRED reset is refused once it is done"),
    ("SFR-060", "REJECTED", "another completion takes the first one back"),
):
    declare(_requirement, "spoilt", _what, _spoiling(_reached, _anyhow))


@mutant(
    "SFR-043", "a new phone is reviewed after the completion", (factor_resets, "complete"), after
)
def phone_reviewed(unit: Unit, ask: Ask) -> None:
    reset = unit.session.get_one(FactorReset, ask.params["resetId"])
    if reset.factor == PHONE:
        reset.status = "PENDING_REVIEW"


def _born(status: str, *factors: str) -> Apply:
    """Let a reset start at a status: of each factor, unless some are named."""

    def start(original: Handler, unit: Unit, ask: Ask) -> Json:
        body: Json = original(unit, ask)
        unit.session.flush()
        reset = unit.session.get_one(FactorReset, body["resetId"])
        if not factors or reset.factor in factors:
            reset.status = status
        return body

    return around(factor_resets, "start", start)


declare("SFR-070", "rejected", "a new reset is over at once", _born("REJECTED"))
declare("SFR-070", "reviewed", "a new reset waits for a review", _born("PENDING_REVIEW"))
declare(
    "SFR-070",
    "phone_under_review",
    "a new reset of a phone waits for a review",
    _born("PENDING_REVIEW", PHONE),
)


@mutant("SFR-074", "a reset that was reviewed cannot be completed")
def reviewed_for_nothing(patch: Patch) -> None:
    reviewed: set[str] = set()

    def remembering(move: Function, reset: FactorReset, action: str) -> None:
        if reset.status == "PENDING_REVIEW":
            reviewed.add(reset.id)
        if action == "COMPLETE" and reset.id in reviewed:
            raise errors.Refusal("CONFLICT", "The reset is still reviewed.")
        move(reset, action)

    patch.wrap(factor_resets, "move", remembering)


def _of_status(unit: Unit, customer: Customer, status: str) -> FactorReset | None:
    query = select(FactorReset).where(FactorReset.customer_id == customer.id)
    return unit.session.scalar(query.where(FactorReset.status == status).limit(1))


def _once(status: str) -> Apply:
    def refuse(unit: Unit, customer: Customer) -> None:
        if _of_status(unit, customer, status) is not None:
            raise errors.Refusal("CONFLICT", f"An earlier reset is {status}.")

    return instead(factor_resets, "refuse_beyond_cap", refuse)


def _revived(status: str) -> Apply:
    def reviving(start: Function, unit: Unit, ask: Ask) -> Json:
        earlier = _of_status(unit, factor_resets.customer_of(unit, ask), status)
        if earlier is None:
            begun: Json = start(unit, ask)
            return begun
        earlier.status = "INITIATED"
        earlier.expires_at = moment_after(unit.now, 3_600)
        return factor_resets.invitation(earlier)

    return around(factor_resets, "start", reviving)


for _status_, _started, _kept in (
    ("REJECTED", "SFR-090", "SFR-092"),
    ("EXPIRED", "SFR-091", "SFR-093"),
):
    declare(
        _started,
        "once",
        f"a customer whose reset is {_status_} starts no other",
        _once(_status_),
    )
    declare(
        _kept,
        "revived",
        f"a start takes up the {_status_} reset again",
        _revived(_status_),
    )


def _over_with_the_last(original: Handler, unit: Unit, ask: Ask) -> Json:
    customer = factor_resets.customer_of(unit, ask)
    over = any(_of_status(unit, customer, status) for status in ("REJECTED", "EXPIRED"))
    body: Json = original(unit, ask)
    if over:
        unit.session.flush()
        unit.session.get_one(FactorReset, body["resetId"]).status = "REJECTED"
    return body


declare(
    "SFR-070",
    "over-with-the-last",
    "a new reset after one that failed has failed, too",
    around(factor_resets, "start", _over_with_the_last),
)


def _stuck_after_failure(original: Function, reset: FactorReset, action: str) -> None:
    session = object_session(reset)
    assert session is not None
    query = select(FactorReset.id).where(FactorReset.customer_id == reset.customer_id)
    failed = session.scalars(query.where(FactorReset.status.in_(("REJECTED", "EXPIRED")))).first()
    if action != "COMPLETE" or failed is None:
        original(reset, action)


declare(
    "SFR-041",
    "after-failure",
    "a reset after one that failed is not completed",
    around(factor_resets, "move", _stuck_after_failure),
)


# --- The replacement ------------------------------------------------------------------------


def _earlier(unit: Unit, ask: Ask) -> list[FactorReset]:
    """Return the other completed resets of the factor of a reset that is completed now."""
    reset = factor_resets.known(unit, ask)
    query = select(FactorReset).where(
        FactorReset.customer_id == reset.customer_id,
        FactorReset.factor == reset.factor,
        FactorReset.status == "COMPLETED",
        FactorReset.id != reset.id,
    )
    return list(unit.session.scalars(query))


@mutant(
    "SFR-101",
    "an enrollment counts for the next reset of the factor",
    (factor_resets, "complete"),
    after,
)
def enrolled_before(unit: Unit, ask: Ask) -> None:
    if any(reset.enrollment == "COMPLETED" for reset in _earlier(unit, ask)):
        factor_resets.known(unit, ask).enrollment = "COMPLETED"


@mutant(
    "SFR-102",
    "with the next reset of a factor the last one waits for its enrollment again",
    (factor_resets, "complete"),
    after,
)
def enrollment_taken_back(unit: Unit, ask: Ask) -> None:
    for reset in _earlier(unit, ask):
        reset.enrollment = "PENDING"


declare(
    "SFR-102",
    "passkey",
    "that a passkey is enrolled again is not noted",
    skipped(
        factor_resets, "finish_enrollment", lambda _unit, _customer, factor: factor == "PASSKEY"
    ),
)


@mutant("SFR-102", "a reset never learns that the factor is enrolled again")
def enrollment_unnoticed(patch: Patch) -> None:
    patch.replace(factor_resets, "finish_enrollment", lambda _unit, _customer, _factor: None)


@mutant("SFR-102", "an enrollment counts for the first reset of the factor alone")
def first_enrollment_alone(patch: Patch) -> None:
    enrolled: set[tuple[str, str]] = set()

    def finish(original: Function, unit: Unit, customer: Customer, factor: str) -> None:
        if (customer.id, factor) not in enrolled:
            enrolled.add((customer.id, factor))
            original(unit, customer, factor)

    patch.wrap(factor_resets, "finish_enrollment", finish)


@mutant("SFR-103", "a phone waits for an enrollment too")
def phone_pending(patch: Patch) -> None:
    patch.replace(factor_resets, "first_enrollment", lambda _factor: "PENDING")


@mutant("SFR-110", "a completed reset leaves the factor")
def factor_left(patch: Patch) -> None:
    patch.replace(factors, "clear", lambda _customer, _factor: None)


@mutant(
    "SFR-112",
    "a new phone has to be enrolled as any other factor",
    (factor_resets, "complete"),
    after,
)
def phone_cleared(unit: Unit, ask: Ask) -> None:
    reset = unit.session.get_one(FactorReset, ask.params["resetId"])
    customer = unit.session.get_one(Customer, reset.customer_id)
    factors.clear(customer, reset.factor)


@mutant("SFR-111", "a factor that was cleared once stays so")
def cleared_for_good(patch: Patch) -> None:
    patch.replace(factors, "restore", lambda _customer, _factor: None)


for _status_ in ("REJECTED", "EXPIRED"):
    for _requirement, _member, _value in (
        ("SFR-049", "completedAt", "2026-01-01T00:00:00Z"),
        ("SFR-100", "enrollmentStatus", "COMPLETED"),
    ):
        declare(
            _requirement,
            _status_,
            f"the {_member} of a reset that is {_status_} is {_value}",
            edited(factor_resets, "view", where(shows("status", _status_), put(_member, _value))),
        )


@mutant("SFR-114", "a factor is cleared as its reset is started", (factor_resets, "start"), after)
def cleared_early(unit: Unit, ask: Ask) -> None:
    factors.clear(factor_resets.customer_of(unit, ask), ask.body["factor"])


@mutant(
    "SFR-114",
    "a factor is cleared by the liveness check",
    (factor_resets, "conclude_liveness"),
    after,
)
def cleared_by_liveness(unit: Unit, ask: Ask) -> None:
    reset = factor_resets.known(unit, ask)
    if reset.status == "LIVENESS_PASSED":
        factors.clear(unit.session.get_one(Customer, reset.customer_id), reset.factor)


def _cleared_by_refusal(
    refusal: errors.Refusal, service: Service, served: Handler, ask: Ask
) -> None:
    if served is factor_resets.complete:
        with service.unit() as unit:
            reset = unit.session.get_one(FactorReset, ask.params["resetId"])
            factors.clear(unit.session.get_one(Customer, reset.customer_id), reset.factor)
    raise refusal


for _requirement in ("SFR-111", "SFR-114"):
    declare(
        _requirement,
        "refused",
        "a completion that is refused clears the factor nevertheless",
        rescued(Service, "answer", _cleared_by_refusal),
    )


@mutant("SFR-113", "a completed reset clears a second factor too", (factors, "clear"))
def two_cleared(clear: Function, customer: Customer, factor: str) -> None:
    clear(customer, factor)
    clear(customer, PHONE)


@mutant(
    "SFR-115", "after a completed reset no proof of the customer is right", (sca, "check_proof")
)
def none_right(check: Function, unit: Unit, quote: Quote, body: Json) -> None:
    query = select(FactorReset).where(FactorReset.customer_id == quote.customer_id)
    was_reset = unit.session.scalars(query.where(FactorReset.status == "COMPLETED")).first()
    check(unit, quote, {} if was_reset else body)


def _of_customer(unit: Unit, customer: Customer, factor: str) -> list[FactorReset]:
    query = select(FactorReset).where(FactorReset.customer_id == customer.id)
    return list(unit.session.scalars(query.where(FactorReset.factor == factor)))


@mutant(
    "SFR-039",
    "an enrollment puts the time of the completion off",
    (factor_resets, "finish_enrollment"),
    after,
)
def completed_by_enrollment(unit: Unit, customer: Customer, factor: str) -> None:
    for reset in _of_customer(unit, customer, factor):
        if reset.completed_at is not None:
            reset.completed_at = moment_after(unit.now, 60)


def _read_now(timespec: str) -> Edit:
    def edit(body: Json) -> Json:
        if body["completedAt"] is not None:
            body["completedAt"] = datetime.now(UTC).isoformat(timespec=timespec)
        return body

    return edit


for _timespec in ("microseconds", "seconds"):
    declare(
        "SFR-039",
        f"read-now-{_timespec}",
        f"a reset is completed at the time of its reading, told in {_timespec}",
        edited(factor_resets, "view", _read_now(_timespec)),
    )


@mutant(
    "SFR-101",
    "the enrollment of another factor is taken for that of the one that was reset",
    (factor_resets, "finish_enrollment"),
    instead,
)
def enrolled_by_anything(unit: Unit, customer: Customer, _factor: str) -> None:
    query = select(FactorReset).where(FactorReset.customer_id == customer.id)
    for reset in unit.session.scalars(query):
        if reset.status == "COMPLETED" and reset.enrollment == "PENDING":
            reset.enrollment = "COMPLETED"


@mutant(
    "SFR-101",
    "the enrollment of a factor by any customer is taken for that of all",
    (factor_resets, "finish_enrollment"),
    instead,
)
def enrolled_by_anybody(unit: Unit, _customer: Customer, factor: str) -> None:
    query = select(FactorReset).where(FactorReset.factor == factor)
    for reset in unit.session.scalars(query):
        if reset.status == "COMPLETED" and reset.enrollment == "PENDING":
            reset.enrollment = "COMPLETED"


def _completing_again(change: Callable[[Unit, FactorReset], None]) -> Apply:
    """Take another completion of a COMPLETED reset, which changes it."""

    def completed(complete: Function, unit: Unit, ask: Ask) -> None:
        reset = factor_resets.get(unit, ask)
        if reset.status == "COMPLETED":
            change(unit, reset)
        else:
            complete(unit, ask)

    return around(factor_resets, "complete", completed)


def _put_off(unit: Unit, reset: FactorReset) -> None:
    reset.completed_at = moment_after(unit.now, 60)


def _waits_again(_unit: Unit, reset: FactorReset) -> None:
    reset.enrollment = "PENDING"


declare(
    "SFR-060",
    "put-off",
    "another completion puts the time of the first one off",
    _completing_again(_put_off),
)
declare(
    "SFR-060",
    "waits-again",
    "after another completion the factor is to be enrolled once more",
    _completing_again(_waits_again),
)


declare(
    "SFR-033",
    "of-the-completed",
    "a completed reset shows another factor",
    edited(factor_resets, "view", where(shows("status", "COMPLETED"), put("factor", "PASSKEY"))),
)


@mutant("SFR-041", "the reset of a business stays as it is", (factor_resets, "complete"), around)
def business_stays(original: Handler, unit: Unit, ask: Ask) -> Any:
    if factor_resets.customer_of(unit, ask).customer_type != "BUSINESS":
        return original(unit, ask)
    return None


def _together(status: str) -> Callable[[Unit, Ask], None]:
    """Let all resets of a customer come to a status by the liveness check of one of them."""

    def follow(unit: Unit, ask: Ask) -> None:
        reset = factor_resets.known(unit, ask)
        query = select(FactorReset).where(FactorReset.customer_id == reset.customer_id)
        for other in unit.session.scalars(query):
            if other.status == "INITIATED" and reset.status == status:
                other.status = status

    return follow


for _name, _status, _statement in (
    ("passed-together", "LIVENESS_PASSED", "counts for all resets of the customer"),
    ("rejected-together", "REJECTED", "that fails rejects all resets of the customer"),
):
    declare(
        "SFR-122",
        _name,
        f"a liveness check {_statement}",
        after(factor_resets, "conclude_liveness", _together(_status)),
    )


@mutant(
    "SFR-122",
    "a completion completes all resets of the customer",
    (factor_resets, "complete"),
    after,
)
def completed_together(unit: Unit, ask: Ask) -> None:
    for factor in ("PASSKEY", "TOTP"):
        for other in _of_customer(unit, factor_resets.customer_of(unit, ask), factor):
            other.status = "COMPLETED"


@mutant("SFR-122", "all resets of a customer expire with one", (factor_resets, "expire"), after)
def expired_together(unit: Unit, ask: Ask) -> None:
    reset = factor_resets.known(unit, ask)
    query = select(FactorReset).where(FactorReset.customer_id == reset.customer_id)
    for other in unit.session.scalars(query):
        other.status = "EXPIRED" if other.status == "INITIATED" else other.status


def _newest(original: Handler, unit: Unit, ask: Ask) -> FactorReset:
    reset: FactorReset = original(unit, ask)
    query = select(FactorReset).where(FactorReset.customer_id == reset.customer_id)
    return max(unit.session.scalars(query), key=lambda one: one.created_at)


for _name, _place, _statement in (
    ("newest-checked", (factor_resets, "known"), "a liveness check is that of the newest reset"),
    ("newest-completed", (factor_resets, "get"), "a completion is that of the newest reset"),
):
    declare("SFR-122", _name, _statement, around(*_place, _newest))


@mutant("SFR-058", "that a window has closed is noticed by who reads the reset")
@mutant("SFR-059", "that a window has closed is noticed by who reads the reset")
def closed_by_reading(patch: Patch) -> None:
    def read(original: Function, unit: Unit, ask: Ask) -> Json:
        reset = unit.session.get(FactorReset, ask.params["resetId"])
        if reset is not None:
            close(unit, reset)
        body: Json = original(unit, ask)
        return body

    def expire(unit: Unit, ask: Ask) -> None:
        reset = factor_resets.known(unit, ask)
        reset.expires_at = min(reset.expires_at, unit.now)

    close = factor_resets.close_if_due
    patch.replace(factor_resets, "close_if_due", lambda _unit, _reset: None)
    patch.wrap(factor_resets, "read", read)
    patch.replace(factor_resets, "expire", expire)


def _with_mobile_without(member: str) -> Callable[[FactorReset, Ask], bool]:
    """Return whether a completion has a mobile that lacks a member."""

    def lacks(_reset: FactorReset, ask: Ask) -> bool:
        mobile = ask.body.get("mobile")
        return isinstance(mobile, dict) and member not in mobile

    return lacks


for _member in ("countryCode", "number"):
    declare(
        "SFR-802",
        f"without-{_member}",
        f"a completion whose mobile has no {_member} is refused once it is done",
        _spoiling(
            "COMPLETED",
            _with_mobile_without(_member),
        ),
    )


# --- Limits ---------------------------------------------------------------------------------


@mutant("LGN-002", "a login opens no session where one lapsed")
def login_for_nothing(patch: Patch) -> None:
    patch.replace(logins, "open_session", lambda _customer: None)


@mutant("LGN-003", "a login opens the sessions of all customers", (logins, "open_session"))
def session_for_all(open_session: Function, customer: Customer) -> None:
    session = object_session(customer)
    assert session is not None
    for found in session.scalars(select(Customer)):
        if logins.LAPSED in found.conditions:
            open_session(found)
    open_session(customer)


def _phone_stays(*actions: str) -> Apply:
    """Return a patch after which actions leave the reset of a phone where it is."""

    def move(original: Function, reset: FactorReset, action: str) -> None:
        if reset.factor != PHONE or action not in actions:
            original(reset, action)

    return around(factor_resets, "move", move)


declare("SFR-075", "of-a-phone", "the reset of a phone is not rejected", _phone_stays("FAILED"))
declare(
    "SFR-079",
    "of-a-phone",
    "the reset of a phone does not expire",
    skipped(factor_resets, "close_if_due", lambda _unit, reset: reset.factor == PHONE),
)
declare(
    "SFR-103",
    "once-passed",
    "the reset of a phone waits for an enrollment once its liveness check is passed",
    edited(
        factor_resets,
        "view",
        where(shows("status", "LIVENESS_PASSED"), put("enrollmentStatus", "PENDING")),
    ),
)
declare(
    "SFR-040",
    "phone-for-a-passkey",
    "the reset of a passkey needs a phone too",
    instead(factor_resets, "needs_mobile", lambda factor: factor != "TOTP"),
)
declare(
    "SFR-101",
    "passkey-not-noted",
    "the reset of a passkey waits for no enrollment",
    instead(
        factor_resets,
        "first_enrollment",
        lambda factor: "PENDING" if factor == "TOTP" else None,
    ),
)
