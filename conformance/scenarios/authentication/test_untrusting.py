"""Strong authentication of those who take trust away, and payouts to those who are trusted."""

from __future__ import annotations

import re
from datetime import UTC, datetime

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.beneficiaries import challenge_of
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body, require_member
from conformance.scenarios.kit.challenges import WAITING
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

LOCKED = 423
TRUSTED = "BENEFICIARY_TRUSTED"

# --- Payouts --------------------------------------------------------------------------------


@requirement("SCA-070")
def test_a_trusted_beneficiary_can_be_paid(platform: Platform) -> None:
    """Whether the customer still has to prove it is not said."""
    customer = platform.approved.sca_customer()
    source = platform.internal_accounts.account(customer=customer)
    quote = platform.quotes.pending(
        source, platform.external_accounts.activate(platform.trust.trusted(customer))
    )

    assert paid(platform, quote) == "COMPLETED"


@requirement("SCA-086")
def test_a_beneficiary_who_is_no_longer_trusted_can_be_paid(platform: Platform) -> None:
    """The trust is gone, the account is not."""
    customer = platform.approved.sca_customer()
    source = platform.internal_accounts.account(customer=customer)
    account = platform.trust.untrusted(
        platform.external_accounts.activate(platform.trust.trusted(customer))
    )

    assert paid(platform, platform.quotes.pending(source, account)) == "COMPLETED"


# --- The challenge --------------------------------------------------------------------------


@requirement("SCA-071", "SCA-072", "SCA-073", "SCA-074", "SCA-075", "SCA-077")
def test_an_untrusting_asks_for_a_proof_like_a_quote(platform: Platform, check: Check) -> None:
    """Where it shows its challenge, this has the form of any other."""
    _, challenge = challenged(platform)

    with check("SCA-071"):
        assert re.fullmatch(r"ScaChallenge:.+", str(challenge.get("id"))), challenge
    with check("SCA-072"):
        assert moment(challenge) is not None, challenge
    with check("SCA-073"):
        assert isinstance(challenge.get("factor"), str), challenge
    with check("SCA-074"):
        factors = require_member(challenge, "availableFactors")
        assert isinstance(factors, list), challenge
        assert all(isinstance(factor, str) for factor in factors), challenge
    with check("SCA-075"):
        assert isinstance(require_member(challenge, "purpose"), str), challenge
    with check("SCA-077"):
        expiry = moment(challenge)
        if expiry is None:
            raise ResourceMissing(f"no time is named: {challenge}")
        assert expiry > datetime.now(UTC), challenge


@requirement("SCA-076")
def test_each_untrusting_has_a_challenge_of_its_own(platform: Platform) -> None:
    """A proof for one beneficiary is none for another."""
    customer = platform.approved.sca_customer()

    _, first = challenged(platform, customer)
    _, second = challenged(platform, customer)

    assert first.get("id") != second.get("id")


# --- Who may not prove ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trigger", "names", "expected"),
    [
        pytest.param(
            "sca.lock",
            ("SCA-080", "SCA-081"),
            (LOCKED, "ACCOUNT_LOCKED"),
            marks=requirement("SCA-080", "SCA-081"),
            id="locked-out",
        ),
        pytest.param(
            "sca.session_lapse",
            ("SCA-082", "SCA-083"),
            (409, "SCA_SESSION_REQUIRED"),
            marks=requirement("SCA-082", "SCA-083"),
            id="lapsed",
        ),
    ],
)
def test_a_customer_who_may_not_prove_takes_no_trust_away(
    platform: Platform,
    check: Check,
    trigger: str,
    names: tuple[str, str],
    expected: tuple[int, str],
) -> None:
    """It may be refused as it is asked for, or as it is confirmed."""
    customer = platform.approved.sca_customer()
    account = platform.trust.trusted(customer)
    twins = taken_away(platform, platform.approved.sca_customer())
    platform.triggers.fire(trigger, customerId=customer["id"])

    refusal = platform.trust.ask_to_untrust(account)
    if refusal.accepted:
        refusal = platform.trust.confirm(account)

    kept, refused = names
    with check(kept):
        expect_trusted(platform, account, customer)
    with check(refused):
        twin = next((t for t in twins if t.operation.id == refusal.operation.id), None)
        if twin is None:
            raise ResourceMissing(f"no twin of {refusal}")
        refusal.refused(*expected, twin=twin)


@requirement("SCA-084")
def test_a_confirmation_comes_after_a_question(platform: Platform) -> None:
    """Without one there is nothing that it could confirm."""
    challenged(platform)
    customer = platform.approved.sca_customer()
    account = platform.trust.trusted(customer)

    platform.trust.confirm(account)

    expect_trusted(platform, account, customer)


def challenged(platform: Platform, customer: Json | None = None) -> tuple[Json, Json]:
    """Return a trusted account whose untrusting waits for a proof, and the challenge.

    Raises:
        ResourceMissing: none is asked for, or it is not shown.
    """
    account = platform.trust.trusted(customer or platform.approved.sca_customer())
    challenge = challenge_of(arranged_body(platform.trust.ask_to_untrust(account)))
    if challenge is None:
        raise ResourceMissing("an untrusting asks for no proof, or shows no challenge")
    return account, challenge


def taken_away(platform: Platform, customer: Resource) -> tuple[Answer, Answer]:
    """Take the trust in a beneficiary away by a proof; return the answer of each step.

    Raises:
        ResourceMissing: no proof is asked for, or it is not shown.
    """
    account = platform.trust.trusted(customer)
    asked = platform.trust.ask_to_untrust(account)
    if challenge_of(arranged_body(asked)) is None:
        raise ResourceMissing("an untrusting asks for no proof, or shows no challenge")
    return asked, platform.trust.confirm(account)


def expect_trusted(platform: Platform, account: Resource, owner: Resource) -> None:
    """Assert that an account cannot be deleted for the trust in its beneficiary."""
    __tracebackhide__ = True
    refusal = platform.api.delete_external_account(account["id"])
    other = platform.external_accounts.account(owner)
    refusal.refused(409, TRUSTED, twin=platform.api.delete_external_account(other["id"]))


def paid(platform: Platform, quote: Json) -> str:
    """Execute a quote, with a proof where one is asked for; return what becomes of its payout."""
    executed = platform.quotes.execute(quote)
    challenged = executed["status"] == WAITING
    platform.observe(
        f"a payout to the beneficiary {'asks' if challenged else 'does not ask'} for a proof"
    )
    if challenged:
        executed = platform.sca.authorize(executed)
    if executed["status"] not in SETTLING:
        raise PreconditionFailed(f"the quote was executed to {executed['status']}")
    return str(platform.transactions.at_status(quote, "COMPLETED").get("status"))


def moment(challenge: Json) -> datetime | None:
    """Return when a challenge expires, if it says so by a time in UTC."""
    try:
        expiry = datetime.fromisoformat(challenge["expiresAt"])
    except (KeyError, TypeError, ValueError):
        return None
    offset = expiry.utcoffset()
    return expiry if offset is not None and not offset else None
