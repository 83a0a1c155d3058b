"""Challenges of strong customer authentication (SCA), and the proofs that answer them."""

from __future__ import annotations

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, require_member
from conformance.scenarios.kit.marks import Check
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

WAITING = "PENDING_AUTHORIZATION"


def wrong_proof(platform: Platform) -> Json:
    """Return a proof with the wrong code that the profile's bindings name."""
    return {"code": platform.profile.bindings.sca_wrong_code}


def expect_untouched(platform: Platform, account: Resource, before: tuple[int, int]) -> None:
    """Assert that the balance and the totalBalance of an account have not fallen.

    They may have risen, because funds that were kept back may have been released.
    """
    __tracebackhide__ = True
    after = platform.internal_accounts.balances(account)
    assert after[0] >= before[0], f"balance fell from {before[0]} to {after[0]}"
    assert after[1] >= before[1], f"totalBalance fell from {before[1]} to {after[1]}"


def quote_after_proof(answer: Answer, quote: Json) -> Json:
    """Return a quote with the members of the answer to a proof, which asks for another proof.

    Raises:
        PreconditionFailed: the proof is refused, or the answer does not ask for another one.
    """
    if not answer.accepted or answer.body.get("status") != WAITING:
        raise PreconditionFailed(f"a proof was not followed by another challenge: {answer}")
    return {**quote, **answer.body}


def expire(platform: Platform, quote: Json) -> None:
    """Let the challenge of a quote expire, by the trigger ``sca.challenge_expire``."""
    challenge = quote["scaChallenge"]
    platform.triggers.fire(
        "sca.challenge_expire",
        quoteId=quote["id"],
        challengeId=challenge["id"],
        expiresAt=challenge["expiresAt"],
    )


def decide_reason_of_expiry(platform: Platform, check: Check, quote: Json, answer: Answer) -> None:
    """Decide TRX-045 on the payment of a quote whose challenge has expired.

    ``answer`` is that to a proof of the challenge.
    """
    with check("TRX-045"):
        if answer.accepted and answer.body.get("status") == WAITING:
            raise ResourceMissing("an expired challenge is followed by a new one")
        transaction = platform.transactions.at_status(quote, "FAILED", "EXPIRED")
        if transaction["status"] != "FAILED":
            raise ResourceMissing(f"it leaves its transaction at {transaction['status']}")
        assert transaction.get("failureReason") == "SCA_NOT_COMPLETED", transaction


def offered_factors(platform: Platform, source: Resource) -> list[str]:
    """Return the factors that a new challenge of an account's owner offers."""
    quote = platform.sca.challenged(source=source, amount=1_000)
    factors = require_member(require_member(quote, "scaChallenge"), "availableFactors")
    return [str(factor) for factor in factors]
