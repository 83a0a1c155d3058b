"""Mutants of the resets of lost factors, and of logins."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import (
    Json,
    Place,
    around,
    before,
    edited,
    instead,
    receives,
    recoded,
    skipped,
)
from conformance.proof.kit.edits import ABSENT, put
from conformance.proof.kit.tables import answers, with_field
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.authentication.toolkit import decided_once
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, rules
from conformance.reference.authentication import factor_resets, logins
from conformance.reference.authentication.factor_resets import MOBILE_FIELDS
from conformance.reference.customers import customers
from conformance.reference.store import Customer, FactorReset
from conformance.reference.unit import Ask, Unit
from conformance.reference.unit import after as moment_after

_LATER = "2040-01-01T00:00:00Z"


# --- Members --------------------------------------------------------------------------------


MEMBERS: tuple[tuple[str, Place, str, Mapping[str, Any]], ...] = (
    (
        "SFR-003",
        (factor_resets, "invitation"),
        "resetId",
        {"missing": ABSENT, "number": 17, "empty": ""},
    ),
    (
        "SFR-004",
        (factor_resets, "invitation"),
        "livenessAccessToken",
        {"missing": ABSENT, "object": {"token": "t"}},
    ),
    (
        "SFR-005",
        (factor_resets, "invitation"),
        "verificationLink",
        {"missing": ABSENT, "relative": "/liveness/17"},
    ),
    (
        "SFR-006",
        (factor_resets, "invitation"),
        "expiresAt",
        {"missing": ABSENT, "seconds": 1_790_000_000},
    ),
    ("SFR-006", (factor_resets, "invitation"), "expiresAt", {"zoneless": "2040-01-01T00:00:00"}),
    ("SFR-008", (factor_resets, "invitation"), "resetId", {"same": "FactorReset:1"}),
    (
        "SFR-031",
        (factor_resets, "view"),
        "status",
        {"missing": ABSENT, "number": 1, "unknown": "STARTED"},
    ),
    ("SFR-032", (factor_resets, "view"), "factor", {"missing": ABSENT, "list": ["TOTP"]}),
    ("SFR-033", (factor_resets, "view"), "factor", {"other": "PASSKEY"}),
    (
        "SFR-034",
        (factor_resets, "view"),
        "enrollmentStatus",
        {"boolean": False, "unknown": "ENROLLED"},
    ),
    ("SFR-035", (factor_resets, "view"), "expiresAt", {"missing": ABSENT, "date": "2040-01-01"}),
    ("SFR-036", (factor_resets, "view"), "expiresAt", {"other": _LATER}),
    (
        "SFR-037",
        (factor_resets, "view"),
        "completedAt",
        {"seconds": 1_790_000_000, "zoneless": _LATER[:-1]},
    ),
    ("SFR-038", (factor_resets, "view"), "completedAt", {"missing": ABSENT, "null": None}),
    ("SFR-039", (factor_resets, "view"), "completedAt", {"other": _LATER}),
    ("SFR-049", (factor_resets, "view"), "completedAt", {"early": _LATER}),
    ("SFR-100", (factor_resets, "view"), "enrollmentStatus", {"early": "COMPLETED"}),
    (
        "SFR-101",
        (factor_resets, "view"),
        "enrollmentStatus",
        {"missing": ABSENT, "early": "COMPLETED"},
    ),
    (
        "SFR-104",
        (factor_resets, "view"),
        "enrollmentStatus",
        {"pending": "PENDING", "done": "COMPLETED"},
    ),
    ("LGN-001", (logins, "complete"), "sessionExpiresAt", {"missing": ABSENT, "days": 180}),
)
"""Requirement, what shows a member, the member, and by their names values that are wrong."""

for _requirement, _place, _member, _wrong in MEMBERS:
    for _name, _value in _wrong.items():
        declare(
            _requirement,
            f"{_member}-{_name}",
            f"{_member} is {'not there' if _value is ABSENT else json.dumps(_value)}",
            edited(*_place, put(_member, _value)),
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
        answers(_operation, _status),
    )

declare(
    "SFR-002",
    "phone-not-resettable",
    "a phone cannot be reset",
    with_field(factor_resets, "START_FIELDS", "factor", enum=("PASSKEY", "TOTP")),
)


@mutant("SFR-007", "the window of a reset closes an hour before it starts")
def born_late(patch: Patch) -> None:
    patch.replace(
        factor_resets, "after", lambda moment, seconds: moment_after(moment, -abs(seconds))
    )


@mutant(
    "SFR-030",
    "a reset can be read once its liveness check is submitted",
    (factor_resets, "read"),
    edited,
)
def read_later(body: Json) -> Json:
    if body["status"] == "INITIATED":
        raise errors.Refusal("NOT_FOUND", "Nothing is submitted yet.")
    return body


@mutant("SFR-806", "the window of a reset is counted from now", (factor_resets, "view"), before)
def window_from_now(reset: FactorReset) -> None:
    lifetime = reset.expires_at - reset.created_at
    reset.expires_at = moment_after(round(time.time() * 1_000_000), lifetime / 1_000_000)


@mutant("SFR-033", "a phone that was replaced is forgotten", (factor_resets, "view"), edited)
def phone_forgotten(body: Json) -> Json:
    done = body["status"] == "COMPLETED" and body["factor"] == factor_resets.PHONE
    return {**body, "factor": "TOTP"} if done else body


# --- Fields of requests ---------------------------------------------------------------------


def _refuse_version_6(_unit: Unit, ask: Ask) -> None:
    if ":" in str(ask.body.get("endUserIpAddress")):
        message = "Expected four numbers with dots."
        raise errors.invalid_input(errors.field_error("endUserIpAddress", message))


for _step in ("start", "complete"):
    declare(
        "SFR-116",
        f"refused-at-{_step}",
        f"an IPv6 address is refused at the {_step} of a reset",
        before(factor_resets, _step, _refuse_version_6),
    )

declare(
    "SFR-009",
    "factor-assumed",
    "a start without a factor resets TOTP",
    receives(factor_resets, "start", lambda body: {"factor": "TOTP", **body}),
)
declare(
    "SFR-010",
    "any-factor",
    "a factor that does not exist is reset",
    with_field(factor_resets, "START_FIELDS", "factor", enum=()),
)
declare(
    "SFR-001",
    "individuals",
    "individuals alone have factors to reset",
    around(
        customers,
        "needs_sca",
        lambda original, customer: customer.customer_type == "INDIVIDUAL" and original(customer),
    ),
)
declare(
    "SFR-047",
    "address-optional",
    "a completion needs no address",
    with_field(factor_resets, "COMPLETE_FIELDS", "endUserIpAddress", required=False),
)

for _requirement, _member in (("SFR-050", "countryCode"), ("SFR-051", "number")):
    declare(
        _requirement,
        f"{_member}-optional",
        f"a mobile needs no {_member}",
        with_field(factor_resets, "MOBILE_FIELDS", f"mobile.{_member}", required=False),
    )

for _requirement, _member in (("SFR-808", "countryCode"), ("SFR-809", "number")):
    declare(
        _requirement,
        f"{_member}-empty",
        f"the {_member} of a mobile may be empty",
        with_field(factor_resets, "MOBILE_FIELDS", f"mobile.{_member}", min_length=0),
    )


@mutant("SFR-044", "a phone is reset without another one")
def phone_without_mobile(patch: Patch) -> None:
    patch.replace(
        factor_resets, "MOBILE_FIELDS", tuple(replace(row, required=False) for row in MOBILE_FIELDS)
    )
    _lenient_mobile(patch)


def _lenient_mobile(patch: Patch) -> None:
    def lenient(complete: Function, unit: Unit, ask: Ask) -> None:
        if isinstance(ask.body, dict):
            ask = replace(ask, body={"mobile": None, **ask.body})
        complete(unit, ask)

    patch.wrap(factor_resets, "complete", lenient)


@mutant("SFR-046", "every completion names a mobile")
def mobile_for_all(patch: Patch) -> None:
    patch.replace(factor_resets, "needs_mobile", lambda _factor: True)


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
    def guessing(customer_of: Function, unit: Unit, ask: Ask) -> Customer:
        named = ask.query.get("customerId")
        customer: Customer = customer_of(unit, ask) if named else _meant(unit, ask)
        return customer

    patch.wrap(factor_resets, "customer_of", guessing)


@mutant("SFR-012", "a reset is read for any customer where the id is empty")
@mutant("SFR-013", "a reset is completed for any customer where the id is empty")
def empty_customer_guessed(patch: Patch) -> None:
    def guessing(customer_of: Function, unit: Unit, ask: Ask) -> Customer:
        is_empty = ask.query.get("customerId") == ""
        customer: Customer = _meant(unit, ask) if is_empty else customer_of(unit, ask)
        return customer

    patch.wrap(factor_resets, "customer_of", guessing)


@mutant("SFR-018", "a start by nobody is about the newest customer")
@mutant("SFR-019", "a reset is read for nobody")
@mutant("SFR-020", "a reset is completed for nobody")
def nobody_known(patch: Patch) -> None:
    def guessing(customer_of: Function, unit: Unit, ask: Ask) -> Customer:
        try:
            customer: Customer = customer_of(unit, ask)
        except errors.Refusal as refusal:
            if refusal.code != "CUSTOMER_NOT_FOUND":
                raise
            return _meant(unit, ask)
        return customer

    patch.wrap(factor_resets, "customer_of", guessing)


@mutant("SFR-015", "customers outside the regions of SCA start resets too")
def everybody_resets(patch: Patch) -> None:
    patch.replace(factor_resets, "refuse_outside", lambda _customer: None)


declare(
    "SFR-803",
    "without-HR",
    "Croatia is forgotten among the regions of SCA",
    instead(rules, "SCA_REGIONS", rules.SCA_REGIONS - {"HR"}),
)


declare(
    "SFR-807",
    "decided-once",
    "whether a customer may reset a factor is decided when it is created",
    decided_once,
)


def _outside_as(code: str) -> Apply:
    def refuse_outside(customer: Customer) -> None:
        if not customers.needs_sca(customer):
            raise errors.Refusal(code, "The customer lives in no region of SCA.")

    return instead(factor_resets, "refuse_outside", refuse_outside)


@mutant(
    "SFR-015",
    "businesses outside the regions of SCA start resets too",
    (factor_resets, "refuse_outside"),
    skipped,
)
def of_a_business(customer: Customer) -> bool:
    return customer.customer_type == "BUSINESS"


declare(
    "SFR-015",
    "answers-400",
    "customers outside the regions of SCA are refused with 400",
    _outside_as("INVALID_REQUEST_FORMAT"),
)


def _kept_after_the_move(get: Function, unit: Unit, ask: Ask) -> FactorReset:
    reset = unit.session.get(FactorReset, ask.params["resetId"])
    if reset is not None and reset.customer_id == ask.query.get("customerId"):
        return reset
    found: FactorReset = get(unit, ask)
    return found


for _requirement, _handler in (("SFR-016", "read"), ("SFR-017", "complete")):
    declare(
        _requirement,
        "kept-after-the-move",
        "who moved out still has the resets from before",
        around(factor_resets, "get", _kept_after_the_move),
    )
    declare(
        _requirement,
        "answers-400",
        "customers outside the regions of SCA are refused with 400",
        recoded(factor_resets, _handler, "INVALID_REQUEST_FORMAT", "CONFLICT"),
    )
    declare(
        _requirement,
        "answers-404",
        "customers outside the regions of SCA are told that there is no reset",
        recoded(factor_resets, _handler, "NOT_FOUND", "CONFLICT"),
    )


@mutant("SFR-016", "every customer has a reset to be read")
@mutant("SFR-021", "a reset that does not exist is shown as EXPIRED")
def shown_from_nothing(patch: Patch) -> None:
    nothing = {"status": "EXPIRED", "factor": "TOTP", "expiresAt": "2025-01-01T00:00:00Z"}
    _instead(patch, (factor_resets, "read"), nothing, "NOT_FOUND", "CONFLICT")


@mutant("SFR-017", "customers outside the regions of SCA complete resets that they do not have")
@mutant("SFR-022", "a reset that does not exist is completed")
def completed_from_nothing(patch: Patch) -> None:
    _instead(patch, (factor_resets, "complete"), None, "NOT_FOUND", "CONFLICT")


def _instead(patch: Patch, place: Place, answer: Any, *codes: str) -> None:
    """Give an answer where a handler refuses with one of the codes."""

    def handler(original: Function, unit: Unit, ask: Ask) -> Any:
        try:
            return original(unit, ask)
        except errors.Refusal as refusal:
            if refusal.code not in codes:
                raise
            return answer

    patch.wrap(*place, handler)


@mutant("SFR-021", "a reset that does not exist is read with 400")
@mutant("SFR-022", "a reset that does not exist is completed with 400")
def unknown_is_invalid(patch: Patch) -> None:
    def checked(get: Function, unit: Unit, ask: Ask) -> FactorReset:
        try:
            reset: FactorReset = get(unit, ask)
        except errors.Refusal as refusal:
            if refusal.code != "NOT_FOUND":
                raise
            raise errors.Refusal("INVALID_REQUEST_FORMAT", refusal.reason) from refusal
        return reset

    patch.wrap(factor_resets, "get", checked)


@mutant("SFR-023", "a reset is read for any customer")
@mutant("SFR-024", "a reset is completed for any customer")
def of_anybody(patch: Patch) -> None:
    patch.replace(factor_resets, "belongs_to", lambda _reset, _customer: True)


# --- Successes, settings, terms and phones --------------------------------------------------


def _mobile_passed_over(fits: Callable[[Any], bool]) -> Apply:
    """Complete resets with another phone where the one that is sent cannot be read."""

    def lenient(complete: Function, unit: Unit, ask: Ask) -> Any:
        body = ask.body
        if isinstance(body, dict) and "mobile" in body and fits(body["mobile"]):
            body = {**body, "mobile": {"countryCode": "49", "number": "15112345678"}}
        return complete(unit, replace(ask, body=body))

    return around(factor_resets, "complete", lenient)


declare(
    "SFR-800",
    "text",
    "a phone may be a text",
    _mobile_passed_over(lambda mobile: isinstance(mobile, str)),
)
declare(
    "SFR-801",
    "null",
    "a phone may be null",
    _mobile_passed_over(lambda mobile: mobile is None),
)
declare(
    "SFR-802",
    "completed",
    "a reset is completed with anything for a phone",
    _mobile_passed_over(lambda mobile: not isinstance(mobile, dict)),
)


@mutant("SFR-030", "who has started too many resets reads none", (factor_resets, "read"), before)
def unread_beyond_the_cap(unit: Unit, ask: Ask) -> None:
    factor_resets.refuse_beyond_cap(unit, factor_resets.customer_of(unit, ask))
