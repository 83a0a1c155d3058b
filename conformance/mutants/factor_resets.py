"""Mutants of the resets of lost factors, and of logins."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import object_session

from conformance.mutants.authentication import authorization, is_call
from conformance.mutants.fields import ABSENT, answering, asked, edited, put, taken
from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import customers, errors, factor_resets, factors, logins
from conformance.reference.factor_resets import COMPLETE_FIELDS, MOBILE_FIELDS, PHONE, START_FIELDS
from conformance.reference.rules import Field
from conformance.reference.store import Customer, FactorReset
from conformance.reference.unit import Ask, Unit, after

Json = dict[str, Any]
Function = Callable[..., Any]

_RESETS = "conformance.reference.factor_resets"
_LOGINS = "conformance.reference.logins"
_MOVES = f"{_RESETS}:MOVES"
_STATUSES = "conformance.reference.rules:ERROR_STATUS"
_LATER = "2040-01-01T00:00:00Z"


# --- Members --------------------------------------------------------------------------------

_START = f"{_RESETS}:invitation"
_VIEW = f"{_RESETS}:view"
_SESSION = f"{_LOGINS}:complete"

MEMBERS: tuple[tuple[str, str, str, Mapping[str, Any]], ...] = (
    ("SFR-003", _START, "resetId", {"missing": ABSENT, "number": 17, "empty": ""}),
    ("SFR-004", _START, "livenessAccessToken", {"missing": ABSENT, "object": {"token": "t"}}),
    ("SFR-005", _START, "verificationLink", {"missing": ABSENT, "relative": "/liveness/17"}),
    ("SFR-006", _START, "expiresAt", {"missing": ABSENT, "seconds": 1_790_000_000}),
    ("SFR-006", _START, "expiresAt", {"zoneless": "2040-01-01T00:00:00"}),
    ("SFR-008", _START, "resetId", {"same": "FactorReset:1"}),
    ("SFR-031", _VIEW, "status", {"missing": ABSENT, "number": 1, "unknown": "STARTED"}),
    ("SFR-032", _VIEW, "factor", {"missing": ABSENT, "list": ["TOTP"]}),
    ("SFR-033", _VIEW, "factor", {"other": "PASSKEY"}),
    ("SFR-034", _VIEW, "enrollmentStatus", {"boolean": False, "unknown": "ENROLLED"}),
    ("SFR-035", _VIEW, "expiresAt", {"missing": ABSENT, "date": "2040-01-01"}),
    ("SFR-036", _VIEW, "expiresAt", {"other": _LATER}),
    ("SFR-037", _VIEW, "completedAt", {"seconds": 1_790_000_000, "zoneless": _LATER[:-1]}),
    ("SFR-038", _VIEW, "completedAt", {"missing": ABSENT, "null": None}),
    ("SFR-039", _VIEW, "completedAt", {"other": _LATER}),
    ("SFR-049", _VIEW, "completedAt", {"early": _LATER}),
    ("SFR-100", _VIEW, "enrollmentStatus", {"early": "COMPLETED"}),
    ("SFR-101", _VIEW, "enrollmentStatus", {"missing": ABSENT, "early": "COMPLETED"}),
    ("SFR-104", _VIEW, "enrollmentStatus", {"pending": "PENDING", "done": "COMPLETED"}),
    ("LGN-001", _SESSION, "sessionExpiresAt", {"missing": ABSENT, "days": 180}),
)
"""Requirement, what shows a member, the member, and by their names values that are wrong."""

for _requirement, _place, _member, _wrong in MEMBERS:
    for _name, _value in _wrong.items():
        _absent = _value is ABSENT
        declare(
            _requirement,
            f"{_member}-{_name}",
            f"{_member} is {'not there' if _absent else json.dumps(_value)}",
            edited(_place, taken(_member) if _absent else put(_member, _value)),
        )

for _requirement, _operation, _status in (
    ("SFR-001", "startFactorReset", 200),
    ("SFR-001", "startFactorReset", 202),
    ("SFR-002", "startFactorReset", 200),
    ("SFR-040", "completeFactorReset", 200),
    ("SFR-042", "completeFactorReset", 202),
):
    declare(
        _requirement,
        f"answers-{_status}",
        f"{_operation} is answered with {_status}",
        answering(_operation, _status),
    )


@mutant("SFR-002", "a phone cannot be reset")
def phone_not_resettable(patch: Patch) -> None:
    factor = replace(START_FIELDS[0], enum=("PASSKEY", "TOTP"))
    patch.replace(f"{_RESETS}:START_FIELDS", (factor, *START_FIELDS[1:]))


@mutant("SFR-007", "the window of a reset closes an hour before it starts")
def born_late(patch: Patch) -> None:
    patch.replace(f"{_RESETS}:after", lambda moment, seconds: after(moment, -abs(seconds)))


@mutant("SFR-030", "a reset can be read once its liveness check is submitted")
def read_later(patch: Patch) -> None:
    def wrapper(read: Function) -> Function:
        def later(unit: Unit, ask: Ask) -> Json:
            body: Json = read(unit, ask)
            if body["status"] == "INITIATED":
                raise errors.Refusal("NOT_FOUND", "Nothing is submitted yet.")
            return body

        return later

    patch.wrap(f"{_RESETS}:read", wrapper)


# --- Fields of requests ---------------------------------------------------------------------


def _rows(
    table: str, rows: tuple[Field, ...], path: str, **changes: Any
) -> Callable[[Patch], None]:
    changed = tuple(replace(row, **changes) if row.path == path else row for row in rows)
    return lambda patch: patch.replace(f"{_RESETS}:{table}", changed)


declare(
    "SFR-009",
    "factor-assumed",
    "a start without a factor resets TOTP",
    asked(f"{_RESETS}:start", lambda body: {"factor": "TOTP", **body}),
)
declare(
    "SFR-010",
    "any-factor",
    "a factor that does not exist is reset",
    _rows("START_FIELDS", START_FIELDS, "factor", enum=()),
)
declare(
    "SFR-047",
    "address-optional",
    "a completion needs no address",
    _rows("COMPLETE_FIELDS", COMPLETE_FIELDS, "endUserIpAddress", required=False),
)
for _requirement, _member in (("SFR-050", "countryCode"), ("SFR-051", "number")):
    declare(
        _requirement,
        f"{_member}-optional",
        f"a mobile needs no {_member}",
        _rows("MOBILE_FIELDS", MOBILE_FIELDS, f"mobile.{_member}", required=False),
    )


@mutant("SFR-044", "a phone is reset without another one")
def phone_without_mobile(patch: Patch) -> None:
    patch.replace(
        f"{_RESETS}:MOBILE_FIELDS", tuple(replace(row, required=False) for row in MOBILE_FIELDS)
    )
    _lenient_mobile(patch)


def _lenient_mobile(patch: Patch) -> None:
    def wrapper(complete: Function) -> Function:
        def lenient(unit: Unit, ask: Ask) -> None:
            if isinstance(ask.body, dict):
                ask = replace(ask, body={"mobile": None, **ask.body})
            complete(unit, ask)

        return lenient

    patch.wrap(f"{_RESETS}:complete", wrapper)


@mutant("SFR-046", "every completion names a mobile")
def mobile_for_all(patch: Patch) -> None:
    patch.replace(f"{_RESETS}:needs_mobile", lambda _factor: True)


def _guessed(kinds: Mapping[str, type], usual: Json, place: str) -> Callable[[Patch], None]:
    """Return a patch after which members of another kind count as the usual ones."""
    return asked(
        place,
        lambda body: {
            **body,
            **{n: v for n, v in usual.items() if not isinstance(body.get(n), kinds[n])},
        },
    )


declare(
    "FUZ-112",
    "factor-of-any-kind",
    "a factor that is no text counts as TOTP",
    _guessed({"factor": str}, {"factor": "TOTP"}, f"{_RESETS}:start"),
)
declare(
    "FUZ-113",
    "address-of-any-kind",
    "an address that is no text is not looked at",
    _guessed({"endUserIpAddress": str}, {"endUserIpAddress": "unknown"}, f"{_RESETS}:complete"),
)


@mutant("FUZ-112", "a start whose body is no object resets TOTP")
def start_of_any_kind(patch: Patch) -> None:
    _objects(patch, f"{_RESETS}:start", {"factor": "TOTP", "endUserIpAddress": "unknown"})


@mutant("FUZ-113", "the body of a completion may be of any kind")
def completion_of_any_kind(patch: Patch) -> None:
    _objects(patch, f"{_RESETS}:complete", {"endUserIpAddress": "unknown"})


def _objects(patch: Patch, place: str, usual: Json) -> None:
    def wrapper(original: Function) -> Function:
        def lax(unit: Unit, ask: Ask) -> Any:
            return original(unit, ask if isinstance(ask.body, dict) else replace(ask, body=usual))

        return lax

    patch.wrap(place, wrapper)


# --- Whose reset it is ----------------------------------------------------------------------


def _newest(unit: Unit) -> Customer:
    """Return the newest customer of a region of SCA."""
    query = select(Customer).order_by(Customer.created_at.desc())
    return next(found for found in unit.session.scalars(query) if customers.needs_sca(found))


def _meant(unit: Unit, ask: Ask) -> Customer:
    """Return the customer whose reset the path names; without one, the newest."""
    reset = unit.session.get(FactorReset, ask.params.get("resetId", ""))
    return _newest(unit) if reset is None else unit.session.get_one(Customer, reset.customer_id)


@mutant("SFR-011", "a start without a customer is about the newest one")
@mutant("SFR-012", "a reset is read without its customer")
@mutant("SFR-013", "a reset is completed without its customer")
def customer_guessed(patch: Patch) -> None:
    def wrapper(customer_of: Function) -> Function:
        def guessing(unit: Unit, ask: Ask) -> Customer:
            named = ask.query.get("customerId")
            customer: Customer = customer_of(unit, ask) if named else _meant(unit, ask)
            return customer

        return guessing

    patch.wrap(f"{_RESETS}:customer_of", wrapper)


@mutant("SFR-018", "a start by nobody is about the newest customer")
@mutant("SFR-019", "a reset is read for nobody")
@mutant("SFR-020", "a reset is completed for nobody")
def nobody_known(patch: Patch) -> None:
    def wrapper(customer_of: Function) -> Function:
        def guessing(unit: Unit, ask: Ask) -> Customer:
            try:
                customer: Customer = customer_of(unit, ask)
            except errors.Refusal as refusal:
                if refusal.code != "CUSTOMER_NOT_FOUND":
                    raise
                return _meant(unit, ask)
            return customer

        return guessing

    patch.wrap(f"{_RESETS}:customer_of", wrapper)


@mutant("SFR-015", "customers outside the regions of SCA start resets too")
def everybody_resets(patch: Patch) -> None:
    patch.replace(f"{_RESETS}:refuse_outside", lambda _customer: None)


def _outside_as(code: str, patch: Patch) -> None:
    def refuse_outside(customer: Customer) -> None:
        if not customers.needs_sca(customer):
            raise errors.Refusal(code, "The customer lives in no region of SCA.")

    patch.replace(f"{_RESETS}:refuse_outside", refuse_outside)


for _requirement in ("SFR-015", "SFR-016", "SFR-017"):
    declare(
        _requirement,
        "answers-400",
        "customers outside the regions of SCA are refused with 400",
        partial(_outside_as, "INVALID_REQUEST_FORMAT"),
    )


@mutant("SFR-016", "every customer has a reset to be read")
@mutant("SFR-021", "a reset that does not exist is shown as EXPIRED")
def shown_from_nothing(patch: Patch) -> None:
    nothing = {"status": "EXPIRED", "factor": "TOTP", "expiresAt": "2025-01-01T00:00:00Z"}
    _instead(patch, f"{_RESETS}:read", nothing, "NOT_FOUND", "CONFLICT")


@mutant("SFR-017", "customers outside the regions of SCA complete resets that they do not have")
@mutant("SFR-022", "a reset that does not exist is completed")
def completed_from_nothing(patch: Patch) -> None:
    _instead(patch, f"{_RESETS}:complete", None, "NOT_FOUND", "CONFLICT")


def _instead(patch: Patch, place: str, answer: Any, *codes: str) -> None:
    """Give an answer where a handler refuses with one of the codes."""

    def wrapper(original: Function) -> Function:
        def handler(unit: Unit, ask: Ask) -> Any:
            try:
                return original(unit, ask)
            except errors.Refusal as refusal:
                if refusal.code not in codes:
                    raise
                return answer

        return handler

    patch.wrap(place, wrapper)


@mutant("SFR-021", "a reset that does not exist is read with 400")
@mutant("SFR-022", "a reset that does not exist is completed with 400")
def unknown_is_invalid(patch: Patch) -> None:
    def wrapper(get: Function) -> Function:
        def checked(unit: Unit, ask: Ask) -> FactorReset:
            try:
                reset: FactorReset = get(unit, ask)
            except errors.Refusal as refusal:
                if refusal.code != "NOT_FOUND":
                    raise
                raise errors.Refusal("INVALID_REQUEST_FORMAT", refusal.reason) from refusal
            return reset

        return checked

    patch.wrap(f"{_RESETS}:get", wrapper)


@mutant("SFR-023", "a reset is read for any customer")
@mutant("SFR-024", "a reset is completed for any customer")
def of_anybody(patch: Patch) -> None:
    patch.replace(f"{_RESETS}:belongs_to", lambda _reset, _customer: True)


def _open(operation: str, _settings: Any, scope: Any, right: bool) -> bool:
    return right or is_call(scope, operation)


for _requirement, _operation in (
    ("SFR-026", "startFactorReset"),
    ("SFR-027", "getFactorReset"),
    ("SFR-028", "completeFactorReset"),
    ("LGN-004", "completeScaLogin"),
):
    declare(
        _requirement,
        "open",
        f"{_operation} needs no credentials",
        authorization(partial(_open, _operation)),
    )


@mutant("SFR-029", "the credentials of a completion are looked at once it is done")
def completed_for_anybody(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        async def call(auth: Any, scope: Any, receive: Any, send: Any) -> None:
            async def swallow(message: Any) -> None:
                pass

            completes = scope["type"] == "http" and is_call(scope, "completeFactorReset")
            if completes and not auth._is_allowed(scope):
                await auth._app(scope, receive, swallow)
            await original(auth, scope, receive, send)

        return call

    patch.wrap("conformance.reference.app:BasicAuth.__call__", wrapper)


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


def _leading(status: str, action: str, reached: str, patch: Patch) -> None:
    patch.row(_MOVES, (status, action), reached)
    if status == "EXPIRED":
        # Its window stays closed, which would bring it back.
        patch.replace(f"{_RESETS}:close_if_due", _closing_once)


def _closing_once(unit: Unit, reset: FactorReset) -> None:
    """Close the window of a reset that nobody has decided or taken up again."""
    if unit.now >= reset.expires_at and reset.status == "INITIATED":
        reset.status = "EXPIRED"


for _requirement, _from, _action, _reached in LEADS:
    declare(
        _requirement,
        f"{_from}-{_action}",
        f"{_action} leads a reset from {_from} to {_reached}",
        partial(_leading, _from, _action, _reached),
    )


def _conflicting(status: str, patch: Patch) -> None:
    patch.row(f"{_RESETS}:COMPLETION_REFUSALS", status, "INVALID_STATE_TRANSITION")


for _requirement, _from in (("SFR-052", "INITIATED"), ("SFR-054", "PENDING_REVIEW")):
    declare(
        _requirement,
        "answers-409",
        f"the completion of a reset at {_from} is refused with 409",
        partial(_conflicting, _from),
    )


def _spoiling(status: str, applies: Callable[[FactorReset, Ask], bool], patch: Patch) -> None:
    """Refuse a completion, and bring the reset to a status nevertheless."""

    def wrapper(complete: Function) -> Function:
        def spoiled(unit: Unit, ask: Ask) -> None:
            reset = unit.session.get(FactorReset, ask.params["resetId"])
            try:
                complete(unit, ask)
            except errors.Refusal as refusal:
                if reset is None or not applies(reset, ask):
                    raise
                reset.status = status
                raise errors.Rejection(refusal.code, refusal.reason, refusal.details) from refusal

        return spoiled

    patch.wrap(f"{_RESETS}:complete", wrapper)


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
    declare(_requirement, "spoilt", _what, partial(_spoiling, _reached, _anyhow))


@mutant("SFR-043", "a new phone is reviewed after the completion")
def phone_reviewed(patch: Patch) -> None:
    def wrapper(complete: Function) -> Function:
        def reviewing(unit: Unit, ask: Ask) -> None:
            complete(unit, ask)
            reset = unit.session.get_one(FactorReset, ask.params["resetId"])
            if reset.factor == PHONE:
                reset.status = "PENDING_REVIEW"

        return reviewing

    patch.wrap(f"{_RESETS}:complete", wrapper)


@mutant("SFR-070", "a new reset waits for a review")
def born_rejected(patch: Patch) -> None:
    def wrapper(start: Function) -> Function:
        def rejecting(unit: Unit, ask: Ask) -> Json:
            body: Json = start(unit, ask)
            unit.session.flush()
            unit.session.get_one(FactorReset, body["resetId"]).status = "REJECTED"
            return body

        return rejecting

    patch.wrap(f"{_RESETS}:start", wrapper)


@mutant("SFR-074", "a reset that was reviewed cannot be completed")
def reviewed_for_nothing(patch: Patch) -> None:
    reviewed: set[str] = set()

    def wrapper(move: Function) -> Function:
        def remembering(reset: FactorReset, action: str) -> None:
            if reset.status == "PENDING_REVIEW":
                reviewed.add(reset.id)
            if action == "COMPLETE" and reset.id in reviewed:
                raise errors.Refusal("CONFLICT", "The reset is still reviewed.")
            move(reset, action)

        return remembering

    patch.wrap(f"{_RESETS}:move", wrapper)


def _of_status(unit: Unit, customer: Customer, status: str) -> FactorReset | None:
    query = select(FactorReset).where(FactorReset.customer_id == customer.id)
    return unit.session.scalar(query.where(FactorReset.status == status).limit(1))


def _once(status: str, patch: Patch) -> None:
    def refuse(unit: Unit, customer: Customer) -> None:
        if _of_status(unit, customer, status) is not None:
            raise errors.Refusal("CONFLICT", f"An earlier reset is {status}.")

    patch.replace(f"{_RESETS}:refuse_beyond_cap", refuse)


def _revived(status: str, patch: Patch) -> None:
    def wrapper(start: Function) -> Function:
        def reviving(unit: Unit, ask: Ask) -> Json:
            earlier = _of_status(unit, factor_resets.customer_of(unit, ask), status)
            if earlier is None:
                begun: Json = start(unit, ask)
                return begun
            earlier.status = "INITIATED"
            earlier.expires_at = after(unit.now, 3_600)
            return factor_resets.invitation(earlier)

        return reviving

    patch.wrap(f"{_RESETS}:start", wrapper)


for _status_, _started, _kept in (
    ("REJECTED", "SFR-090", "SFR-092"),
    ("EXPIRED", "SFR-091", "SFR-093"),
):
    declare(
        _started,
        "once",
        f"a customer whose reset is {_status_} starts no other",
        partial(_once, _status_),
    )
    declare(
        _kept,
        "revived",
        f"a start takes up the {_status_} reset again",
        partial(_revived, _status_),
    )


# --- The replacement ------------------------------------------------------------------------


@mutant("SFR-102", "a reset never learns that the factor is enrolled again")
def enrollment_unnoticed(patch: Patch) -> None:
    patch.replace(f"{_RESETS}:finish_enrollment", lambda _unit, _customer, _factor: None)


@mutant("SFR-103", "a phone waits for an enrollment too")
def phone_pending(patch: Patch) -> None:
    patch.replace(f"{_RESETS}:first_enrollment", lambda _factor: "PENDING")


@mutant("SFR-110", "a completed reset leaves the factor")
def factor_left(patch: Patch) -> None:
    patch.replace("conformance.reference.factors:clear", lambda _customer, _factor: None)


@mutant("SFR-112", "a new phone has to be enrolled as any other factor")
def phone_cleared(patch: Patch) -> None:
    def wrapper(complete: Function) -> Function:
        def clearing(unit: Unit, ask: Ask) -> None:
            complete(unit, ask)
            reset = unit.session.get_one(FactorReset, ask.params["resetId"])
            customer = unit.session.get_one(Customer, reset.customer_id)
            factors.clear(customer, reset.factor)

        return clearing

    patch.wrap(f"{_RESETS}:complete", wrapper)


@mutant("SFR-111", "a factor that was cleared once stays so")
def cleared_for_good(patch: Patch) -> None:
    patch.replace("conformance.reference.factors:restore", lambda _customer, _factor: None)


# --- Limits ---------------------------------------------------------------------------------


@mutant("LIM-070", "a customer starts four resets a day")
def four_starts(patch: Patch) -> None:
    patch.replace(f"{_RESETS}:MOST_STARTS", 4)


@mutant("LIM-071", "a customer starts six resets a day")
def six_starts(patch: Patch) -> None:
    patch.replace(f"{_RESETS}:MOST_STARTS", 6)


@mutant("LIM-071", "too many starts are refused with 409")
def too_many_conflict(patch: Patch) -> None:
    patch.row(_STATUSES, "RATE_LIMITED", 409)


@mutant("LIM-072", "the starts of all customers count together")
def starts_of_all(patch: Patch) -> None:
    patch.replace(
        f"{_RESETS}:starts", lambda unit, _: list(unit.session.scalars(select(FactorReset.factor)))
    )


@mutant("LIM-073", "the starts count for each factor alone")
def starts_by_factor(patch: Patch) -> None:
    def wrapper(start: Function) -> Function:
        def counting(unit: Unit, ask: Ask) -> Json:
            customer = factor_resets.customer_of(unit, ask)
            same = [f for f in factor_resets.starts(unit, customer) if f == ask.body["factor"]]
            if len(same) >= factor_resets.MOST_STARTS:
                raise errors.Refusal("RATE_LIMITED", "The factor was reset too often.")
            begun: Json = start(unit, ask)
            return begun

        return counting

    patch.wrap(f"{_RESETS}:start", wrapper)
    patch.replace(f"{_RESETS}:refuse_beyond_cap", lambda _unit, _customer: None)


@mutant("LIM-074", "who started too many resets completes none either")
def completions_limited(patch: Patch) -> None:
    def wrapper(complete: Function) -> Function:
        def limited(unit: Unit, ask: Ask) -> None:
            factor_resets.refuse_beyond_cap(unit, factor_resets.customer_of(unit, ask))
            complete(unit, ask)

        return limited

    patch.wrap(f"{_RESETS}:complete", wrapper)


@mutant("LIM-075", "a session ends after 90 days")
def short_session(patch: Patch) -> None:
    patch.replace(f"{_LOGINS}:SESSION_SECONDS", 90 * 86_400)


@mutant("LIM-075", "a session of 180 days is counted in hours")
def session_in_hours(patch: Patch) -> None:
    patch.replace(f"{_LOGINS}:SESSION_SECONDS", 180 * 3_600)


@mutant("LGN-002", "a login opens no session where one lapsed")
def login_for_nothing(patch: Patch) -> None:
    patch.replace(f"{_LOGINS}:open_session", lambda _customer: None)


@mutant("LGN-003", "a login opens the sessions of all customers")
def session_for_all(patch: Patch) -> None:
    def wrapper(open_session: Function) -> Function:
        def opening(customer: Customer) -> None:
            session = object_session(customer)
            assert session is not None
            for found in session.scalars(select(Customer)):
                if logins.LAPSED in found.conditions:
                    open_session(found)
            open_session(customer)

        return opening

    patch.wrap(f"{_LOGINS}:open_session", wrapper)
