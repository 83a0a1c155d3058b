"""Conforming variants of the resets of lost factors, and of logins."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from functools import partial
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Place, before, instead, recoded, skipped
from conformance.proof.kit.tables import answers
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import app, errors, rules
from conformance.reference.authentication import factor_resets, factors, logins
from conformance.reference.authentication.factor_resets import MOVES, PHONE, START_FIELDS
from conformance.reference.customers import customers
from conformance.reference.store import Customer, FactorReset, Json
from conformance.reference.unit import Ask, Unit, after, present, timestamp

_A_WHILE = 0.15
_DAY = 86_400 * 1_000_000


def refusing(place: Place, code: str, other: str) -> Apply:
    """Refuse by another code where a function refuses by ``code``."""
    return recoded(*place, other, code)


# --- Codes and statuses ---------------------------------------------------------------------


def _told_until(when: Callable[[], str]) -> Apply:
    """Refuse too many starts by a code of their own, and say by a header when to come back."""

    def apply(patch: Patch) -> None:
        patch.row(rules, "ERROR_STATUS", "SCA_RESET_LIMIT_EXCEEDED", 429)
        refusing((factor_resets, "refuse_beyond_cap"), "RATE_LIMITED", "SCA_RESET_LIMIT_EXCEEDED")(
            patch
        )

        def told(
            refuse: Function, refusal: errors.Refusal, headers: dict[str, str] | None = None
        ) -> Any:
            late = refusal.code == "SCA_RESET_LIMIT_EXCEEDED"
            more = {"Retry-After": when()} if late else {}
            return refuse(refusal, {**(headers or {}), **more} or None)

        patch.wrap(app, "refuse", told)

    return apply


def _tomorrow() -> str:
    return format_datetime(datetime.now(UTC) + timedelta(days=1), usegmt=True)


declare(
    "N099",
    "own-code-of-the-cap",
    "too many starts are told by a code of their own, and for how long",
    _told_until(lambda: "86399"),
    "codes",
)
declare(
    "N099",
    "own-code-until-a-date",
    "too many starts are told by a code of their own, and until which date",
    _told_until(_tomorrow),
    "forms",
)
declare(
    "N099",
    "code-of-the-volume",
    "too many starts count as too much volume",
    refusing((factor_resets, "refuse_beyond_cap"), "RATE_LIMITED", "DAILY_VOLUME_LIMIT_EXCEEDED"),
    "other codes",
)


@variant("N097", "customers outside the regions of SCA are refused by a code of their own", "codes")
def own_code_of_regions(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "SCA_NOT_APPLICABLE", 409)
    refusing((factor_resets, "refuse_outside"), "CONFLICT", "SCA_NOT_APPLICABLE")(patch)


@variant("M40", "an unknown reset is refused by another code of 404", "codes")
def unknown_reference(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "REFERENCE_NOT_FOUND", 404)
    refusing((factor_resets, "get"), "NOT_FOUND", "REFERENCE_NOT_FOUND")(patch)


@variant(
    "M40",
    "the reset of another customer is refused with 403",
    "other codes",
    (factor_resets, "belongs_to"),
)
def foreign_reset_forbidden(belongs_to: Function, reset: FactorReset, customer: Customer) -> bool:
    if not belongs_to(reset, customer):
        raise errors.Refusal("FORBIDDEN", "The reset is another customer's.")
    return True


declare(
    "M41",
    "unknown-outside",
    "an unknown customer lives in no region of SCA",
    refusing((factor_resets, "customer_of"), "CUSTOMER_NOT_FOUND", "CONFLICT"),
    "codes",
)
declare(
    "M41",
    "unknown-invalid",
    "an unknown customer is an invalid value of the query",
    refusing((factor_resets, "customer_of"), "CUSTOMER_NOT_FOUND", "INVALID_REQUEST_FORMAT"),
    "other codes",
)


@variant(
    "M61",
    "an unknown reset is noticed before the region of the customer",
    "forms",
    (factor_resets, "get"),
    instead,
)
def region_last(unit: Unit, ask: Ask) -> FactorReset:
    customer = customers.get(unit, factor_resets.named_customer(ask))
    reset = unit.session.get(FactorReset, ask.params["resetId"])
    if reset is None or reset.customer_id != customer.id:
        raise errors.Refusal("NOT_FOUND", "The customer has no reset of this id.")
    factor_resets.refuse_outside(customer)
    factor_resets.close_if_due(unit, reset)
    return reset


@variant("M62", "the completion of a reset that is over is refused with 400", "codes")
def over_is_invalid(patch: Patch) -> None:
    for status in ("COMPLETED", "REJECTED", "EXPIRED"):
        patch.row(factor_resets, "COMPLETION_REFUSALS", status, "INVALID_INPUT")


@variant(
    "M62",
    "a completed reset is completed again with 204",
    "other codes",
    (factor_resets, "complete"),
    skipped,
)
def completed_again(unit: Unit, ask: Ask) -> bool:
    return factor_resets.get(unit, ask).status == "COMPLETED"


for _operation, _status, _group in (
    ("completeScaLogin", 201, "forms"),
    ("completeScaLogin", 202, "other forms"),
):
    declare(
        "N069",
        f"{_operation}-{_status}",
        f"{_operation} answers {_status}",
        answers(_operation, _status),
        _group,
    )


# --- Forms ----------------------------------------------------------------------------------


@variant("M78", "resets have identifiers without a type", "forms")
def bare_resets(patch: Patch) -> None:
    patch.wrap(factor_resets, "new_id", lambda new_id, kind: new_id(kind).partition(":")[2])


@variant("M77", "timestamps of resets end in +00:00 and have no fraction", "forms")
def whole_seconds(patch: Patch) -> None:
    for module in (factor_resets, logins):
        patch.replace(
            module, "timestamp", lambda moment: f"{timestamp(moment).partition('.')[0]}+00:00"
        )


@variant("M75", "a reset shows no member without a value", "absent")
def without_nulls(patch: Patch) -> None:
    patch.wrap(factor_resets, "view", lambda view, reset: present(view(reset)))


@variant("N087", "a login tells more than the end of its session", "other forms")
def more_of_the_session(patch: Patch) -> None:
    patch.wrap(
        logins,
        "complete",
        lambda complete, unit, ask: {"status": "AUTHENTICATED", **complete(unit, ask)},
    )


@variant(
    "M64", "enrollmentStatus is null until the reset is completed", "null", (factor_resets, "view")
)
def enrollment_later(view: Function, reset: FactorReset) -> Json:
    shown: Json = view(reset)
    done = reset.status == "COMPLETED"
    return shown if done else {**shown, "enrollmentStatus": None}


@variant(
    "M90",
    "the start of a reset shows when its access token expires",
    "other forms",
    (factor_resets, "invitation"),
)
def expiry_of_the_token(invitation: Function, reset: FactorReset) -> Json:
    soon = timestamp(after(reset.created_at, 60))
    return {**invitation(reset), "expiresAt": soon}


@variant(
    "M64",
    "the start of a reset shows all that a reading shows, too",
    "absent",
    (factor_resets, "invitation"),
)
def whole_at_the_start(invitation: Function, reset: FactorReset) -> Json:
    return {**factor_resets.view(reset), **invitation(reset)}


# --- What is asked for ----------------------------------------------------------------------


@variant("M82", "the address of the customer need not be told at the start", "forms")
def address_optional(patch: Patch) -> None:
    rows = (START_FIELDS[0], replace(START_FIELDS[1], required=False))
    patch.replace(factor_resets, "START_FIELDS", rows)


@variant(
    "M65",
    "a mobile is refused where it is not needed",
    "forms",
    (factor_resets, "complete"),
    before,
)
def mobile_unwanted(unit: Unit, ask: Ask) -> None:
    reset = factor_resets.get(unit, ask)
    given = isinstance(ask.body, dict) and ask.body.get("mobile") is not None
    if given and reset.factor != PHONE:
        raise errors.invalid_input(errors.field_error("mobile", "None is needed."))


@variant("N034", "a factor has to be enrolled before it can be reset", "other forms")
def enrolled_first(patch: Patch) -> None:
    enrolled: set[tuple[str, str]] = set()

    def noted(enroll: Function, unit: Unit, ask: Ask) -> None:
        enroll(unit, ask)
        enrolled.add((factors.holder(unit, ask).id, factors.named(ask)))

    def checked(start: Function, unit: Unit, ask: Ask) -> Json:
        customer = factor_resets.customer_of(unit, ask)
        factor = ask.body.get("factor") if isinstance(ask.body, dict) else None
        if factor in rules.SCA_FACTORS and (customer.id, factor) not in enrolled:
            raise errors.Refusal("NOT_FOUND", "The customer has no such factor.")
        begun: Json = start(unit, ask)
        return begun

    patch.wrap(factor_resets, "enroll", noted)
    patch.wrap(factor_resets, "start", checked)


@variant("M86", "a login is open to everybody", "other forms")
def login_for_everybody(patch: Patch) -> None:
    def handler(original: Function, unit: Unit, ask: Ask) -> Any:
        try:
            return original(unit, ask)
        except errors.Refusal as refusal:
            if refusal.code != "CONFLICT":
                raise
            return {"challengeId": "ScaChallenge:none", "sessionExpiresAt": timestamp(unit.now)}

    patch.wrap(logins, "start", handler)
    patch.wrap(logins, "complete", handler)


# --- What counts as a start -----------------------------------------------------------------


@variant("M66", "starts are counted by the calendar", "forms")
def by_the_calendar(patch: Patch) -> None:
    def starts(unit: Unit, customer: Customer) -> list[str]:
        query = select(FactorReset.factor).where(FactorReset.customer_id == customer.id)
        return list(unit.session.scalars(query.where(FactorReset.created_at >= since(unit))))

    def since(unit: Unit) -> int:
        return unit.now - unit.now % _DAY

    patch.replace(factor_resets, "starts", starts)


@variant("M66", "starts that are refused count too", "other forms")
def attempts_count(patch: Patch) -> None:
    attempts: Counter[str] = Counter()

    def counting(start: Function, unit: Unit, ask: Ask) -> Json:
        customer = factor_resets.customer_of(unit, ask)
        attempts[customer.id] += 1
        if attempts[customer.id] > factor_resets.MAX_STARTS:
            raise errors.Refusal("RATE_LIMITED", "The customer tried too often.")
        begun: Json = start(unit, ask)
        return begun

    patch.wrap(factor_resets, "start", counting)


@variant("M66", "a customer has one reset at a time", "apart", (factor_resets, "start"), before)
def one_at_a_time(unit: Unit, ask: Ask) -> None:
    customer = factor_resets.customer_of(unit, ask)
    query = select(FactorReset).where(FactorReset.customer_id == customer.id)
    if any((r.status, "CLOSED") in MOVES for r in unit.session.scalars(query)):
        raise errors.Refusal("CONFLICT", "Another reset is under way.")


# --- How the liveness check goes ------------------------------------------------------------


@variant("M63", "a liveness check that is passed is not failed any more", "forms")
def passed_for_good(patch: Patch) -> None:
    patch.drop(factor_resets, "MOVES", ("LIVENESS_PASSED", "FAILED"))


@variant(
    "M62",
    "liveness results of a reset that is over are not heard",
    "other forms",
    (factor_resets, "conclude_liveness"),
)
def unheard(conclude: Function, unit: Unit, ask: Ask) -> None:
    try:
        conclude(unit, ask)
    except errors.Refusal as refusal:
        if refusal.code != "INVALID_STATE_TRANSITION":
            raise


@variant("M63", "a submitted liveness check is decided at once", "other apart")
def decided_at_once(patch: Patch) -> None:
    patch.row(factor_resets, "MOVES", ("INITIATED", "SUBMITTED"), "LIVENESS_PASSED")


@variant("M63", "the sandbox passes every liveness check at once", place=(factor_resets, "start"))
def passed_at_once(start: Function, unit: Unit, ask: Ask) -> Json:
    begun: Json = start(unit, ask)
    unit.session.flush()
    unit.session.get_one(FactorReset, begun["resetId"]).status = "LIVENESS_PASSED"
    return begun


@variant(
    "N454",
    "a factor that was cleared cannot be lost again, however many resets were started",
    place=(factor_resets, "start"),
    how=before,
)
def lost_already(unit: Unit, ask: Ask) -> None:
    factor = ask.body.get("factor") if isinstance(ask.body, dict) else None
    customer = factor_resets.customer_of(unit, ask)
    if factor in rules.SCA_FACTORS and factor not in factors.of(customer):
        raise errors.invalid_input(errors.field_error("factor", "The customer has none."))


@variant("M63", "what becomes of a reset shows a while later", "slow")
def noticed_later(patch: Patch) -> None:
    def handler(original: Function, unit: Unit, ask: Ask) -> None:
        unit.later(_A_WHILE, partial(_try, original, ask))

    patch.wrap(factor_resets, "conclude_liveness", handler)
    patch.wrap(factor_resets, "expire", handler)
    patch.wrap(factor_resets, "enroll", handler)
    # Until it shows, the reset is not over for who may have one at a time.
    patch.concern(factor_resets, "start")


def _try(handler: Function, ask: Ask, unit: Unit) -> None:
    """Let a control request take effect, if it can."""
    try:
        handler(unit, ask)
    except errors.Refusal:
        return
