"""Strong Customer Authentication: the challenges that quotes wait for."""

from __future__ import annotations

import hmac
from functools import partial

from conformance.reference import errors, fields, rules
from conformance.reference.authentication import factors
from conformance.reference.customers import customers
from conformance.reference.store import Challenge, Customer, Json, Quote
from conformance.reference.transactions import transactions
from conformance.reference.unit import Unit, after, new_id, timestamp

CHALLENGES: dict[str, int] = {"SECOND_CHALLENGE": 2, "THIRD_CHALLENGE": 3}
"""How many challenges an authorization asks for, by the condition of the customer."""


def challenges_wanted(customer: Customer) -> int:
    """Return how many challenges the customer's next authorization asks for."""
    return max((CHALLENGES.get(name, 1) for name in customer.conditions), default=1)


def begin(unit: Unit, quote: Quote, customer: Customer) -> None:
    """Open the first challenge of a quote's authorization."""
    quote.challenges_left = challenges_wanted(customer)
    customer.conditions = {
        name: value for name, value in customer.conditions.items() if name not in CHALLENGES
    }
    open_challenge(unit, quote)


def purpose_of(quote: Quote) -> str:
    """Return what a challenge authorizes: a payout, or a conversion between own accounts."""
    converts = quote.sending_currency != quote.receiving_currency
    internal = quote.destination_kind == "INTERNAL"
    return "CURRENCY_CONVERSION" if internal and converts else "PAYOUT"


def open_challenge(unit: Unit, quote: Quote) -> None:
    """Open a new challenge, which takes the place of the quote's earlier one."""
    challenge = Challenge(
        id=new_id("ScaChallenge"),
        quote_id=quote.id,
        factor=rules.SCA_FACTORS[0],
        purpose=purpose_of(quote),
        expires_at=after(unit.now, unit.settings.challenge_lifetime_seconds),
        created_at=unit.now,
    )
    unit.session.add(challenge)
    unit.session.flush()
    quote.challenge_id = challenge.id
    lifetime = unit.settings.challenge_lifetime_seconds
    unit.later(lifetime, partial(expire_if_due, challenge_id=challenge.id))


def view(unit: Unit, quote: Quote) -> Json | None:
    """Return the challenge that a quote waits for, or ``None``."""
    if quote.status != "PENDING_AUTHORIZATION" or quote.challenge_id is None:
        return None
    challenge = unit.session.get_one(Challenge, quote.challenge_id)
    return {
        "id": challenge.id,
        "expiresAt": timestamp(challenge.expires_at),
        "factor": challenge.factor,
        "availableFactors": available(unit, quote),
        "purpose": challenge.purpose,
    }


def available(unit: Unit, quote: Quote) -> list[str]:
    """Return the factors by which the owner of a quote may satisfy its challenge."""
    return factors.of(unit.session.get_one(Customer, quote.customer_id))


def refuse_locked(customer: Customer) -> None:
    """Refuse a customer whom too many failures locked out."""
    if customers.has_condition(customer, "SCA_LOCKED"):
        raise errors.Refusal(
            "ACCOUNT_LOCKED", "The customer is locked out. Reset the factor before trying again."
        )


def refuse_lapsed(customer: Customer) -> None:
    """Refuse a customer whose SCA session has lapsed."""
    if customers.has_condition(customer, "SCA_SESSION_LAPSED"):
        raise errors.Refusal(
            "SCA_SESSION_REQUIRED", "The customer's SCA session has lapsed. Log in again."
        )


def one_proof_errors(body: Json) -> list[Json]:
    """Return the errors of a body that has not exactly one proof."""
    given = [name for name in ("code", "passkeyAssertion") if body.get(name) is not None]
    if len(given) != 1:
        message = f"Expected exactly one of code and passkeyAssertion, got {len(given)}."
        return [errors.field_error("code", message)]
    if given == ["passkeyAssertion"] and body.get("origin") is None:
        return [errors.field_error("origin", "A passkeyAssertion needs its origin.")]
    return []


def is_proof(body: Json) -> bool:
    """Return whether a proof is valid: the sandbox's code, or any assertion with content."""
    code = body.get("code")
    if code is not None:
        return hmac.compare_digest(code.encode(), rules.SANDBOX_CODE.encode())
    return bool(body["passkeyAssertion"])


def check_proof(unit: Unit, quote: Quote, body: Json) -> None:
    """Check the proof of the quote's challenge; raises ``Refusal`` (INVALID_INPUT)."""
    fields.demand(body, (), *one_proof_errors(body))
    challenge = unit.session.get_one(Challenge, quote.challenge_id)
    name = "code" if body.get("code") is not None else "passkeyAssertion"
    if is_expired(challenge, unit.now):
        raise errors.invalid_input(errors.field_error(name, "The challenge has expired."))
    if not is_proof(body):
        raise errors.invalid_input(errors.field_error(name, "The proof is not valid."))


def is_expired(challenge: Challenge, now: int) -> bool:
    """Return whether the challenge's ``expiresAt`` has passed."""
    return now >= challenge.expires_at


def expire_if_due(unit: Unit, challenge_id: str) -> None:
    """Fail the transaction of a challenge that ran out before it was satisfied."""
    challenge = unit.session.get(Challenge, challenge_id)
    if challenge is not None and is_expired(challenge, unit.now):
        expire(unit, challenge)


def expire(unit: Unit, challenge: Challenge) -> None:
    """End a quote whose current challenge has expired: nothing was debited."""
    quote = unit.session.get_one(Quote, challenge.quote_id, with_for_update=True)
    if quote.challenge_id != challenge.id or quote.status != "PENDING_AUTHORIZATION":
        return
    quote.status = "FAILED"
    transaction = transactions.get(unit, quote.transaction_id, lock=True)
    transaction.status = rules.TRANSACTION_STATUS[quote.status]
    transaction.failure_reason = rules.SCA_FAILURE_REASON
    transactions.announce(unit, transaction, "FAILED")
