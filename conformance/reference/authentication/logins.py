"""Logins of customers who authenticate strongly, and their sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference import errors, fields, rules
from conformance.reference.authentication import factor_resets, sca
from conformance.reference.rules import Field
from conformance.reference.unit import after, new_id, timestamp

if TYPE_CHECKING:
    from conformance.reference.store import Customer, Json
    from conformance.reference.unit import Ask, Unit

SESSION_SECONDS: int = 180 * 86_400
LAPSED: Final = "SCA_SESSION_LAPSED"
_LOGIN: Final = "LOGIN"
_CODED: Final = "SMS_OTP"
"""The factor whose code is sent, and belongs to a challenge."""

_FACTOR = Field("factor", "string", required=True, enum=rules.SCA_FACTORS)
LOGIN_FIELDS: tuple[Field, ...] = (
    _FACTOR,
    Field("endUserIpAddress", "string", required=True, min_length=1, max_length=45),
    Field("challengeId", "string", required=True, when=("factor", _CODED)),
    *rules.AUTHORIZE_FIELDS,
)


def start(unit: Unit, ask: Ask) -> Json:
    """Start a login: ``{challengeId, expiresAt}``."""
    customer = factor_resets.customer_of(unit, ask)
    fields.demand(ask.body, [_FACTOR])
    expiry = timestamp(after(unit.now, unit.settings.challenge_lifetime_seconds))
    challenge = {"challengeId": new_id("ScaChallenge"), "expiresAt": expiry}
    customer.conditions = {**customer.conditions, _LOGIN: challenge}
    return challenge


def complete(unit: Unit, ask: Ask) -> Json:
    """Open the session of a customer who proves to be the one: ``{sessionExpiresAt}``."""
    customer = factor_resets.customer_of(unit, ask)
    body = fields.demand(ask.body, LOGIN_FIELDS)
    fields.demand(body, (), *sca.one_proof_errors(body))
    sca.refuse_locked(customer)
    if not is_challenged(unit, customer, body):
        message = "Expected the challenge of the login that was started last."
        raise errors.invalid_input(errors.field_error("challengeId", message))
    if not sca.is_proof(body):
        raise errors.invalid_input(errors.field_error("code", "The proof is not valid."))
    open_session(customer)
    return {"sessionExpiresAt": timestamp(after(unit.now, SESSION_SECONDS))}


def is_challenged(unit: Unit, customer: Customer, body: Json) -> bool:
    """Return whether a proof answers to a challenge that is still open, where it has to."""
    if body["factor"] != _CODED:
        return True
    challenge = customer.conditions.get(_LOGIN) or {}
    expiry = fields.parse_timestamp(challenge.get("expiresAt", ""))
    right = challenge.get("challengeId") == body["challengeId"]
    return right and expiry is not None and unit.now < expiry


def open_session(customer: Customer) -> None:
    """Open a session, by which the customer may authorize again."""
    over = (LAPSED, _LOGIN)
    customer.conditions = {k: v for k, v in customer.conditions.items() if k not in over}
