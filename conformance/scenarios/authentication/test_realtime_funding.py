"""Just-in-time funding by SCA customers: no payment instructions before the proof."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.challenges import decide_reason_of_expiry, expire, wrong_proof
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.realtime import (
    arrange_challenge,
    create_challenged_quote,
    expect_no_instructions,
)


@requirement("SCA-050", "SCA-051")
def test_a_wrong_code_does_not_tell_where_to_pay(platform: Platform, check: Check) -> None:
    """A wrong code is refused, and the refusal has no payment instructions."""
    quote = create_challenged_quote(platform)

    refusal = platform.sca.send_proof(quote, wrong_proof(platform))

    with check("SCA-051"):
        expect_no_instructions(refusal)
    with check("SCA-050"):
        refusal.refused(twin=platform.sca.send_proof(create_challenged_quote(platform)))


@pytest.mark.parametrize(
    ("trigger", "status", "code"),
    [
        case("SCA-052", "lapsed", "sca.session_lapse", 409, "SCA_SESSION_REQUIRED"),
        case("SCA-053", "locked-out", "sca.lock", 423, "ACCOUNT_LOCKED"),
    ],
)
def test_a_customer_who_may_not_prove_is_not_told_where_to_pay(
    platform: Platform, trigger: str, status: int, code: str
) -> None:
    """The right code is refused with 409 after the session lapsed, with 423 after a lock."""
    customer = platform.approved.sca_customer()
    quote = arrange_challenge(platform, platform.quotes.realtime(customer))
    platform.triggers.fire(trigger, customerId=customer["id"])

    refusal = platform.sca.send_proof(quote)

    refusal.refused(status, code, twin=platform.sca.send_proof(create_challenged_quote(platform)))


@requirement("SCA-054", "TRX-045")
def test_the_code_of_an_expired_challenge_does_not_tell_where_to_pay(
    platform: Platform, check: Check
) -> None:
    """The code is refused or answered with a new challenge, without payment instructions.

    A failed transaction has the failureReason SCA_NOT_COMPLETED.
    """
    quote = create_challenged_quote(platform)
    expire(platform, quote)

    answer = platform.sca.send_proof(quote)

    with check("SCA-054"):
        expect_no_instructions(answer)
    decide_reason_of_expiry(platform, check, quote, answer)
