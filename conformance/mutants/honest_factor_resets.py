"""The honest variants of the resets of lost factors, and of logins.

What a group holds can be applied together, as in the other modules of variants.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import select

from conformance.mutants.fields import answering
from conformance.mutants.mutant import Patch
from conformance.mutants.variant import declare, variant
from conformance.reference import customers, errors, factor_resets, factors, rules
from conformance.reference.factor_resets import MOVES, PHONE, START_FIELDS
from conformance.reference.store import Customer, FactorReset, Json
from conformance.reference.unit import Ask, Unit, present, timestamp

Function = Callable[..., Any]

_REFERENCE = "conformance.reference"
_RESETS = f"{_REFERENCE}.factor_resets"
_LOGINS = f"{_REFERENCE}.logins"
_MOVES = f"{_RESETS}:MOVES"
_CODES = f"{_REFERENCE}.rules:ERROR_STATUS"
_A_WHILE = 0.15
_DAY = 86_400 * 1_000_000


def refusing(place: str, code: str, other: str, patch: Patch) -> None:
    """Refuse by another code where a function refuses by ``code``."""

    def wrapper(original: Function) -> Function:
        def function(*arguments: Any) -> Any:
            try:
                return original(*arguments)
            except errors.Refusal as refusal:
                if refusal.code != code:
                    raise
                raise errors.Refusal(other, refusal.reason, refusal.details) from refusal

        return function

    patch.wrap(place, wrapper)


# --- Codes and statuses ---------------------------------------------------------------------


@variant("N099", "too many starts are told by a code of their own, and for how long", "codes")
def own_code_of_the_cap(patch: Patch) -> None:
    patch.row(_CODES, "SCA_RESET_LIMIT_EXCEEDED", 429)
    refusing(f"{_RESETS}:refuse_beyond_cap", "RATE_LIMITED", "SCA_RESET_LIMIT_EXCEEDED", patch)

    def wrapper(refuse: Function) -> Function:
        def told(refusal: errors.Refusal, headers: dict[str, str] | None = None) -> Any:
            late = refusal.code == "SCA_RESET_LIMIT_EXCEEDED"
            more = {"Retry-After": "86399"} if late else {}
            return refuse(refusal, {**(headers or {}), **more} or None)

        return told

    patch.wrap(f"{_REFERENCE}.app:refuse", wrapper)


@variant("N099", "too many starts count as too much volume", "other codes")
def code_of_the_volume(patch: Patch) -> None:
    refusing(f"{_RESETS}:refuse_beyond_cap", "RATE_LIMITED", "DAILY_VOLUME_LIMIT_EXCEEDED", patch)


@variant("N097", "customers outside the regions of SCA are refused by a code of their own", "codes")
def own_code_of_regions(patch: Patch) -> None:
    patch.row(_CODES, "SCA_NOT_APPLICABLE", 409)
    refusing(f"{_RESETS}:refuse_outside", "CONFLICT", "SCA_NOT_APPLICABLE", patch)


@variant("M40", "an unknown reset is refused by another code of 404", "codes")
def unknown_reference(patch: Patch) -> None:
    patch.row(_CODES, "REFERENCE_NOT_FOUND", 404)
    refusing(f"{_RESETS}:get", "NOT_FOUND", "REFERENCE_NOT_FOUND", patch)


@variant("M40", "the reset of another customer is refused with 403", "other codes")
def foreign_reset_forbidden(patch: Patch) -> None:
    def wrapper(belongs_to: Function) -> Function:
        def told(reset: FactorReset, customer: Customer) -> bool:
            if not belongs_to(reset, customer):
                raise errors.Refusal("FORBIDDEN", "The reset is another customer's.")
            return True

        return told

    patch.wrap(f"{_RESETS}:belongs_to", wrapper)


@variant("M41", "an unknown customer lives in no region of SCA", "codes")
def unknown_outside(patch: Patch) -> None:
    refusing(f"{_RESETS}:customer_of", "CUSTOMER_NOT_FOUND", "CONFLICT", patch)


@variant("M41", "an unknown customer is an invalid value of the query", "other codes")
def unknown_invalid(patch: Patch) -> None:
    refusing(f"{_RESETS}:customer_of", "CUSTOMER_NOT_FOUND", "INVALID_REQUEST_FORMAT", patch)


@variant("M61", "an unknown reset is noticed before the region of the customer", "forms")
def region_last(patch: Patch) -> None:
    def get(unit: Unit, ask: Ask) -> FactorReset:
        customer = customers.get(unit, factor_resets.named_customer(ask))
        reset = unit.session.get(FactorReset, ask.params["resetId"])
        if reset is None or reset.customer_id != customer.id:
            raise errors.Refusal("NOT_FOUND", "The customer has no reset of this id.")
        factor_resets.refuse_outside(customer)
        factor_resets.close_if_due(unit, reset)
        return reset

    patch.replace(f"{_RESETS}:get", get)


@variant("M62", "the completion of a reset that is over is refused with 400", "codes")
def over_is_invalid(patch: Patch) -> None:
    for status in ("COMPLETED", "REJECTED", "EXPIRED"):
        patch.row(f"{_RESETS}:COMPLETION_REFUSALS", status, "INVALID_INPUT")


@variant("M62", "a completed reset is completed again with 204", "other codes")
def completed_again(patch: Patch) -> None:
    def wrapper(complete: Function) -> Function:
        def idempotent(unit: Unit, ask: Ask) -> None:
            if factor_resets.get(unit, ask).status != "COMPLETED":
                complete(unit, ask)

        return idempotent

    patch.wrap(f"{_RESETS}:complete", wrapper)


for _operation, _status, _group in (
    ("completeScaLogin", 201, "forms"),
    ("completeScaLogin", 202, "other forms"),
):
    declare(
        "N069",
        f"{_operation}-{_status}",
        f"{_operation} answers {_status}",
        answering(_operation, _status),
        _group,
    )


# --- Forms ----------------------------------------------------------------------------------


@variant("M78", "resets have identifiers without a type", "forms")
def bare_resets(patch: Patch) -> None:
    patch.wrap(f"{_RESETS}:new_id", lambda new_id: lambda kind: new_id(kind).partition(":")[2])


@variant("M77", "timestamps of resets end in +00:00 and have no fraction", "forms")
def whole_seconds(patch: Patch) -> None:
    for module in (_RESETS, _LOGINS):
        patch.replace(
            f"{module}:timestamp", lambda moment: f"{timestamp(moment).partition('.')[0]}+00:00"
        )


@variant("M75", "a reset shows no member without a value", "absent")
def without_nulls(patch: Patch) -> None:
    patch.wrap(f"{_RESETS}:view", lambda view: lambda reset: present(view(reset)))


@variant("N087", "a login tells more than the end of its session", "other forms")
def more_of_the_session(patch: Patch) -> None:
    def wrapper(complete: Function) -> Function:
        return lambda unit, ask: {"status": "AUTHENTICATED", **complete(unit, ask)}

    patch.wrap(f"{_LOGINS}:complete", wrapper)


@variant("M64", "enrollmentStatus is null until the reset is completed", "null")
def enrollment_later(patch: Patch) -> None:
    def wrapper(view: Function) -> Function:
        def later(reset: FactorReset) -> Json:
            shown: Json = view(reset)
            done = reset.status == "COMPLETED"
            return shown if done else {**shown, "enrollmentStatus": None}

        return later

    patch.wrap(f"{_RESETS}:view", wrapper)


# --- What is asked for ----------------------------------------------------------------------


@variant("M82", "the address of the customer need not be told at the start", "forms")
def address_optional(patch: Patch) -> None:
    rows = (START_FIELDS[0], replace(START_FIELDS[1], required=False))
    patch.replace(f"{_RESETS}:START_FIELDS", rows)


@variant("M65", "a mobile is refused where it is not needed", "forms")
def mobile_unwanted(patch: Patch) -> None:
    def wrapper(complete: Function) -> Function:
        def strict(unit: Unit, ask: Ask) -> None:
            reset = factor_resets.get(unit, ask)
            given = isinstance(ask.body, dict) and ask.body.get("mobile") is not None
            if given and reset.factor != PHONE:
                raise errors.invalid_input(errors.field_error("mobile", "None is needed."))
            complete(unit, ask)

        return strict

    patch.wrap(f"{_RESETS}:complete", wrapper)


@variant("N034", "a factor has to be enrolled before it can be reset", "other forms")
def enrolled_first(patch: Patch) -> None:
    enrolled: set[tuple[str, str]] = set()

    def noting(enroll: Function) -> Function:
        def noted(unit: Unit, ask: Ask) -> None:
            enroll(unit, ask)
            enrolled.add((factors.holder(unit, ask).id, factors.named(ask)))

        return noted

    def demanding(start: Function) -> Function:
        def checked(unit: Unit, ask: Ask) -> Json:
            customer = factor_resets.customer_of(unit, ask)
            factor = ask.body.get("factor") if isinstance(ask.body, dict) else None
            if factor in rules.SCA_FACTORS and (customer.id, factor) not in enrolled:
                raise errors.Refusal("NOT_FOUND", "The customer has no such factor.")
            begun: Json = start(unit, ask)
            return begun

        return checked

    patch.wrap(f"{_RESETS}:enroll", noting)
    patch.wrap(f"{_RESETS}:start", demanding)


@variant("M86", "a login is open to everybody", "other forms")
def login_for_everybody(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def handler(unit: Unit, ask: Ask) -> Any:
            try:
                return original(unit, ask)
            except errors.Refusal as refusal:
                if refusal.code != "CONFLICT":
                    raise
                return {"challengeId": "ScaChallenge:none", "sessionExpiresAt": timestamp(unit.now)}

        return handler

    patch.wrap(f"{_LOGINS}:start", wrapper)
    patch.wrap(f"{_LOGINS}:complete", wrapper)


# --- What counts as a start -----------------------------------------------------------------


@variant("M66", "starts are counted by the calendar", "forms")
def by_the_calendar(patch: Patch) -> None:
    def starts(unit: Unit, customer: Customer) -> list[str]:
        query = select(FactorReset.factor).where(FactorReset.customer_id == customer.id)
        return list(unit.session.scalars(query.where(FactorReset.created_at >= since(unit))))

    def since(unit: Unit) -> int:
        return unit.now - unit.now % _DAY

    patch.replace(f"{_RESETS}:starts", starts)


@variant("M66", "starts that are refused count too", "other forms")
def attempts_count(patch: Patch) -> None:
    attempts: Counter[str] = Counter()

    def wrapper(start: Function) -> Function:
        def counting(unit: Unit, ask: Ask) -> Json:
            customer = factor_resets.customer_of(unit, ask)
            attempts[customer.id] += 1
            if attempts[customer.id] > factor_resets.MOST_STARTS:
                raise errors.Refusal("RATE_LIMITED", "The customer tried too often.")
            begun: Json = start(unit, ask)
            return begun

        return counting

    patch.wrap(f"{_RESETS}:start", wrapper)


@variant("M66", "a customer has one reset at a time", "apart")
def one_at_a_time(patch: Patch) -> None:
    def wrapper(start: Function) -> Function:
        def alone(unit: Unit, ask: Ask) -> Json:
            customer = factor_resets.customer_of(unit, ask)
            query = select(FactorReset).where(FactorReset.customer_id == customer.id)
            if any((r.status, "CLOSED") in MOVES for r in unit.session.scalars(query)):
                raise errors.Refusal("CONFLICT", "Another reset is under way.")
            begun: Json = start(unit, ask)
            return begun

        return alone

    patch.wrap(f"{_RESETS}:start", wrapper)


# --- How the liveness check goes ------------------------------------------------------------


@variant("M63", "a liveness check that is passed is not failed any more", "forms")
def passed_for_good(patch: Patch) -> None:
    patch.drop(_MOVES, ("LIVENESS_PASSED", "FAILED"))


@variant("M62", "liveness results of a reset that is over are not heard", "other forms")
def unheard(patch: Patch) -> None:
    def wrapper(conclude: Function) -> Function:
        def deaf(unit: Unit, ask: Ask) -> None:
            try:
                conclude(unit, ask)
            except errors.Refusal as refusal:
                if refusal.code != "INVALID_STATE_TRANSITION":
                    raise

        return deaf

    patch.wrap(f"{_RESETS}:conclude_liveness", wrapper)


@variant("M63", "a submitted liveness check is decided at once", "other apart")
def decided_at_once(patch: Patch) -> None:
    patch.row(_MOVES, ("INITIATED", "SUBMITTED"), "LIVENESS_PASSED")


@variant("M63", "the sandbox passes every liveness check at once")
def passed_at_once(patch: Patch) -> None:
    def wrapper(start: Function) -> Function:
        def passing(unit: Unit, ask: Ask) -> Json:
            begun: Json = start(unit, ask)
            unit.session.flush()
            unit.session.get_one(FactorReset, begun["resetId"]).status = "LIVENESS_PASSED"
            return begun

        return passing

    patch.wrap(f"{_RESETS}:start", wrapper)


@variant("M63", "what becomes of a reset shows a while later", "slow")
def noticed_later(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def handler(unit: Unit, ask: Ask) -> None:
            unit.later(_A_WHILE, partial(_try, original, ask))

        return handler

    patch.wrap(f"{_RESETS}:conclude_liveness", wrapper)
    patch.wrap(f"{_RESETS}:expire", wrapper)
    patch.wrap(f"{_RESETS}:enroll", wrapper)


def _try(handler: Function, ask: Ask, unit: Unit) -> None:
    """Let a control request take effect, if it can."""
    try:
        handler(unit, ask)
    except errors.Refusal:
        return
