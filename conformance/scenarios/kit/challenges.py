"""What the scenarios of strong authentication share."""

from __future__ import annotations

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource
from conformance.verdict.decisions import PreconditionFailed

WAITING = "PENDING_AUTHORIZATION"


def wrong(platform: Platform) -> Json:
    """Return the proof of a customer who guessed the code."""
    return {"code": platform.profile.bindings.sca_wrong_code}


def expect_untouched(platform: Platform, account: Resource, before: tuple[int, int]) -> None:
    """Assert that nothing left an account; what was kept back may have been let go."""
    __tracebackhide__ = True
    now = platform.internal_accounts.balances(account)
    assert now[0] >= before[0], f"balance fell from {before[0]} to {now[0]}"
    assert now[1] >= before[1], f"totalBalance fell from {before[1]} to {now[1]}"


def followed(answer: Answer, quote: Json) -> Json:
    """Return a quote as a proof answered with it, when another proof is asked for.

    Raises:
        PreconditionFailed: none is.
    """
    if not answer.accepted or answer.body.get("status") != WAITING:
        raise PreconditionFailed(f"a proof was not followed by another challenge: {answer}")
    return {**quote, **answer.body}


def expire(platform: Platform, quote: Json) -> None:
    """Let the lifetime of the challenge that a quote carries pass."""
    challenge = quote["scaChallenge"]
    platform.triggers.fire(
        "sca.challenge_expire",
        quoteId=quote["id"],
        challengeId=challenge["id"],
        expiresAt=challenge["expiresAt"],
    )
