"""Resets of authentication factors that customers lost.

A reset waits for a liveness check of the customer, and is then completed: the factor is cleared,
and the customer enrolls it anew. A lost phone is replaced at once by the one that is named.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

from sqlalchemy import select

from conformance.reference import errors, fields, rules
from conformance.reference.authentication import factors
from conformance.reference.customers import customers
from conformance.reference.rules import Field
from conformance.reference.store import Customer, FactorReset, Json
from conformance.reference.unit import after, new_id, timestamp

if TYPE_CHECKING:
    from conformance.reference.unit import Ask, Unit

PHONE: Final = "SMS_OTP"
"""The factor that a reset enrolls anew by itself."""

MAX_STARTS: int = 5
WINDOW_SECONDS: int = 86_400
"""How many resets a customer may start in which time."""

LIVENESS_URL: Final = "https://liveness.reference.example/start"

MOVES: dict[tuple[str, str], str] = {
    ("INITIATED", "SUBMITTED"): "PENDING_REVIEW",
    ("INITIATED", "PASSED"): "LIVENESS_PASSED",
    ("INITIATED", "FAILED"): "REJECTED",
    ("INITIATED", "CLOSED"): "EXPIRED",
    ("PENDING_REVIEW", "PASSED"): "LIVENESS_PASSED",
    ("PENDING_REVIEW", "FAILED"): "REJECTED",
    ("PENDING_REVIEW", "CLOSED"): "EXPIRED",
    ("LIVENESS_PASSED", "FAILED"): "REJECTED",
    ("LIVENESS_PASSED", "CLOSED"): "EXPIRED",
    ("LIVENESS_PASSED", "COMPLETE"): "COMPLETED",
}
"""The status that an action leads to; any other action leads nowhere."""

COMPLETION_REFUSALS: dict[str, str] = {
    "INITIATED": "INVALID_INPUT",
    "PENDING_REVIEW": "INVALID_INPUT",
    "COMPLETED": "INVALID_STATE_TRANSITION",
    "REJECTED": "INVALID_STATE_TRANSITION",
    "EXPIRED": "INVALID_STATE_TRANSITION",
}
"""The code of the refusal to complete a reset, by its status."""

RESULTS: Final = ("SUBMITTED", "PASSED", "FAILED")
"""What the control path can say of a liveness check."""

_MAX_ADDRESS_CHARS = 45

START_FIELDS: tuple[Field, ...] = (
    Field("factor", "string", required=True, enum=rules.SCA_FACTORS),
    Field("endUserIpAddress", "string", required=True, min_length=1, max_length=_MAX_ADDRESS_CHARS),
)
COMPLETE_FIELDS: tuple[Field, ...] = (
    Field("endUserIpAddress", "string", required=True, min_length=1, max_length=_MAX_ADDRESS_CHARS),
)
MOBILE_FIELDS: tuple[Field, ...] = (
    Field("mobile", "object", required=True),
    Field("mobile.countryCode", "string", required=True, min_length=1, max_length=8),
    Field("mobile.number", "string", required=True, min_length=1, max_length=32),
)
"""What the completion says beside, where the factor is a phone."""


def start(unit: Unit, ask: Ask) -> Json:
    """Start a reset: ``{resetId, livenessAccessToken, verificationLink, expiresAt}``."""
    customer = customer_of(unit, ask)
    body = fields.demand(ask.body, START_FIELDS)
    refuse_beyond_cap(unit, customer)
    reset = FactorReset(
        id=new_id("FactorReset"),
        customer_id=customer.id,
        factor=body["factor"],
        status="INITIATED",
        enrollment=first_enrollment(body["factor"]),
        mobile=None,
        expires_at=after(unit.now, unit.settings.factor_reset_lifetime_seconds),
        completed_at=None,
        created_at=unit.now,
    )
    unit.session.add(reset)
    return invitation(reset)


def read(unit: Unit, ask: Ask) -> Json:
    """Return how far a reset is."""
    return view(get(unit, ask))


def complete(unit: Unit, ask: Ask) -> None:
    """Clear the factor of a customer who passed the liveness check."""
    reset = get(unit, ask)
    rows = COMPLETE_FIELDS + (MOBILE_FIELDS if needs_mobile(reset.factor) else ())
    body = fields.demand(ask.body, rows)
    move(reset, "COMPLETE")
    reset.completed_at = unit.now
    if needs_mobile(reset.factor):
        reset.mobile = body["mobile"]
    else:
        factors.clear(unit.session.get_one(Customer, reset.customer_id), reset.factor)


def customer_of(unit: Unit, ask: Ask) -> Customer:
    """Return the customer that the query names, who lives where authentication is strong."""
    customer = customers.get(unit, named_customer(ask))
    refuse_outside(customer)
    return customer


def named_customer(ask: Ask) -> str:
    """Return the ``customerId`` of the query; raises ``Refusal`` (INVALID_INPUT) without one."""
    name = ask.query.get("customerId")
    if not name:
        raise errors.invalid_input(
            errors.field_error("customerId", "A value is required in the query.", required=True)
        )
    return name


def refuse_outside(customer: Customer) -> None:
    """Refuse customers who need no strong authentication."""
    if not customers.needs_sca(customer):
        raise errors.Refusal("CONFLICT", "The customer lives in no region of SCA.")


def refuse_beyond_cap(unit: Unit, customer: Customer) -> None:
    """Refuse the start of a reset by a customer who started too many of late."""
    if len(starts(unit, customer)) >= MAX_STARTS:
        raise errors.Refusal(
            "RATE_LIMITED",
            f"The customer started {MAX_STARTS} resets in 24 hours. Try again later.",
        )


def starts(unit: Unit, customer: Customer) -> list[str]:
    """Return the factors of the resets that a customer started within the window."""
    since = after(unit.now, -WINDOW_SECONDS)
    query = select(FactorReset.factor).where(FactorReset.customer_id == customer.id)
    return list(unit.session.scalars(query.where(FactorReset.created_at > since)))


def needs_mobile(factor: str) -> bool:
    """Return whether a reset of a factor is completed with a new phone."""
    return factor == PHONE


def first_enrollment(factor: str) -> str | None:
    """Return how the enrollment of the replacement stands at first; a phone has none."""
    return None if factor == PHONE else "PENDING"


def invitation(reset: FactorReset) -> Json:
    """Return what leads the customer into the liveness check."""
    return {
        "resetId": reset.id,
        "livenessAccessToken": secrets.token_urlsafe(24),
        "verificationLink": f"{LIVENESS_URL}?session={secrets.token_urlsafe(12)}",
        "expiresAt": timestamp(reset.expires_at),
    }


def view(reset: FactorReset) -> Json:
    """Return a reset as clients see it."""
    completed = None if reset.completed_at is None else timestamp(reset.completed_at)
    return {
        "status": reset.status,
        "factor": reset.factor,
        "enrollmentStatus": reset.enrollment,
        "expiresAt": timestamp(reset.expires_at),
        "completedAt": completed,
    }


def get(unit: Unit, ask: Ask) -> FactorReset:
    """Return the reset of the path, as it is now; raises ``Refusal`` (NOT_FOUND)."""
    customer = customer_of(unit, ask)
    reset = unit.session.get(FactorReset, ask.params["resetId"])
    if reset is None or not belongs_to(reset, customer):
        raise errors.Refusal("NOT_FOUND", "The customer has no reset of this id.")
    close_if_due(unit, reset)
    return reset


def belongs_to(reset: FactorReset, customer: Customer) -> bool:
    """Return whether a reset is one of a customer."""
    return reset.customer_id == customer.id


def close_if_due(unit: Unit, reset: FactorReset) -> None:
    """End a reset whose window has closed."""
    if unit.now >= reset.expires_at:
        reset.status = MOVES.get((reset.status, "CLOSED"), reset.status)


def move(reset: FactorReset, action: str) -> None:
    """Bring a reset to the status that an action leads to; raises ``Refusal`` if there is none."""
    following = MOVES.get((reset.status, action))
    if following is None:
        raise refusal(reset)
    reset.status = following


def refusal(reset: FactorReset) -> errors.Refusal:
    """Return the refusal of what cannot be done with a reset in its status."""
    code = COMPLETION_REFUSALS.get(reset.status, "INVALID_STATE_TRANSITION")
    reason = f"The reset is {reset.status}."
    if code == "INVALID_INPUT":
        return errors.invalid_input(errors.field_error("resetId", reason))
    return errors.Refusal(code, reason)


# --- The control path -----------------------------------------------------------------------


def conclude_liveness(unit: Unit, ask: Ask) -> None:
    """Let the liveness check of a reset be submitted, passed or failed: ``{result}``."""
    row = Field("result", "string", required=True, enum=RESULTS)
    result = fields.demand(ask.body, [row])["result"]
    reset = known(unit, ask)
    close_if_due(unit, reset)
    if (reset.status, result) not in MOVES:
        raise errors.Refusal("INVALID_STATE_TRANSITION", f"The reset is {reset.status}.")
    move(reset, result)


def expire(unit: Unit, ask: Ask) -> None:
    """Let the window of a reset close."""
    reset = known(unit, ask)
    reset.expires_at = min(reset.expires_at, unit.now)
    close_if_due(unit, reset)


def enroll(unit: Unit, ask: Ask) -> None:
    """Let a customer enroll a factor: ``{factor}``."""
    customer, factor = factors.holder(unit, ask), factors.named(ask)
    factors.restore(customer, factor)
    finish_enrollment(unit, customer, factor)


def finish_enrollment(unit: Unit, customer: Customer, factor: str) -> None:
    """Note of the completed resets of a factor that it was enrolled anew."""
    query = select(FactorReset).where(FactorReset.customer_id == customer.id)
    for reset in unit.session.scalars(query.where(FactorReset.factor == factor)):
        if reset.status == "COMPLETED" and reset.enrollment == "PENDING":
            reset.enrollment = "COMPLETED"


def known(unit: Unit, ask: Ask) -> FactorReset:
    """Return the reset of the path, whosever it is."""
    reset = unit.session.get(FactorReset, ask.params["resetId"])
    if reset is None:
        raise errors.Refusal("NOT_FOUND", "No reset has this id.")
    return reset
