"""Mutants of the states of a reset, and of what a completed reset replaces."""

from __future__ import annotations

from collections.abc import Callable

from sqlalchemy import select
from sqlalchemy.orm import object_session

from conformance.proof.kit.builders import Json, after, around, instead
from conformance.proof.kit.tables import with_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors
from conformance.reference.authentication import factor_resets, factors, logins
from conformance.reference.authentication.factor_resets import PHONE
from conformance.reference.store import Customer, FactorReset
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


@mutant("SFR-052", "a new phone stands for the liveness check", (factor_resets, "move"))
def phone_for_liveness(original: Function, reset: FactorReset, action: str) -> None:
    if action == "COMPLETE" and factor_resets.needs_mobile(reset.factor):
        reset.status = "LIVENESS_PASSED"
    original(reset, action)


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


@mutant("SFR-070", "a new reset waits for a review", (factor_resets, "start"))
def born_rejected(start: Function, unit: Unit, ask: Ask) -> Json:
    body: Json = start(unit, ask)
    unit.session.flush()
    unit.session.get_one(FactorReset, body["resetId"]).status = "REJECTED"
    return body


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


# --- The replacement ------------------------------------------------------------------------


@mutant("SFR-102", "a reset never learns that the factor is enrolled again")
def enrollment_unnoticed(patch: Patch) -> None:
    patch.replace(factor_resets, "finish_enrollment", lambda _unit, _customer, _factor: None)


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
