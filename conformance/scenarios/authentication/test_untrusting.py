"""Removing the trust in a beneficiary: its strong authentication, and payouts before and after."""

from __future__ import annotations

import re
from datetime import datetime

import pytest

from conformance.contract.moments import parse_moment
from conformance.exchange.answer import Answer
from conformance.exchange.clock import now
from conformance.platform.given.beneficiaries import challenge_of
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body, require_member
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.challenges import WAITING
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

LOCKED = 423
TRUSTED = "BENEFICIARY_TRUSTED"

# --- Payouts --------------------------------------------------------------------------------


@requirement("SCA-070", "SCA-088")
def test_a_trusted_beneficiary_can_be_paid(platform: Platform, check: Check) -> None:
    """The payout is COMPLETED, with a proof where the target asks for one.

    A payout to another beneficiary of the customer waits for a proof.
    """
    customer = platform.approved.sca_customer()
    source = platform.internal_accounts.account(customer=customer)
    trusted = platform.external_accounts.activate(platform.trust.trusted(customer))

    with check("SCA-070"):
        assert pay_out(platform, platform.quotes.pending(source, trusted)) == "COMPLETED"
    with check("SCA-088"):
        other = platform.external_accounts.account(customer)
        executed = platform.quotes.execute(platform.quotes.pending(source, other))
        assert executed["status"] == WAITING, executed


@requirement("SCA-086", "SCA-087")
def test_a_beneficiary_who_is_no_longer_trusted_can_be_paid(
    platform: Platform, check: Check
) -> None:
    """The external account remains, and a payout to it is COMPLETED with its customer's proof."""
    customer = platform.approved.sca_customer()
    source = platform.internal_accounts.account(customer=customer)
    account = platform.trust.untrusted(
        platform.external_accounts.activate(platform.trust.trusted(customer))
    )

    with check("SCA-086"):
        assert pay_out(platform, platform.quotes.pending(source, account)) == "COMPLETED"
    with check("SCA-087"):
        executed = platform.quotes.execute(platform.quotes.pending(source, account))
        assert executed["status"] == WAITING, executed


# --- The challenge --------------------------------------------------------------------------


@requirement("SCA-071", "SCA-072", "SCA-073", "SCA-074", "SCA-075", "SCA-077")
def test_an_untrusting_asks_for_a_proof_like_a_quote(platform: Platform, check: Check) -> None:
    """A challenge that is shown has the members of any other challenge, in the same forms."""
    _, challenge = request_untrusting(platform)

    with check("SCA-071"):
        assert re.fullmatch(r"ScaChallenge:.+", str(challenge.get("id"))), challenge
    with check("SCA-072"):
        assert expiry_of(challenge) is not None, challenge
    with check("SCA-073"):
        assert isinstance(challenge.get("factor"), str), challenge
    with check("SCA-074"):
        factors = require_member(challenge, "availableFactors")
        assert isinstance(factors, list), challenge
        assert all(isinstance(factor, str) for factor in factors), challenge
    with check("SCA-075"):
        assert isinstance(require_member(challenge, "purpose"), str), challenge
    with check("SCA-077"):
        expiry = expiry_of(challenge)
        if expiry is None:
            raise ResourceMissing(f"no time is named: {challenge}")
        assert expiry > now(), challenge


@requirement("SCA-076")
def test_each_untrusting_has_a_challenge_of_its_own(platform: Platform) -> None:
    """The challenges for two beneficiaries of a customer have different ids."""
    customer = platform.approved.sca_customer()

    _, first = request_untrusting(platform, customer)
    _, second = request_untrusting(platform, customer)

    assert first.get("id") != second.get("id")


# --- Who may not prove ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("trigger", "ids", "expected"),
    [
        case(
            ("SCA-080", "SCA-081"),
            "locked-out",
            "sca.lock",
            ("SCA-080", "SCA-081"),
            (LOCKED, "ACCOUNT_LOCKED"),
        ),
        case(
            ("SCA-082", "SCA-083"),
            "lapsed",
            "sca.session_lapse",
            ("SCA-082", "SCA-083"),
            (409, "SCA_SESSION_REQUIRED"),
        ),
    ],
)
def test_a_customer_who_may_not_prove_takes_no_trust_away(
    platform: Platform,
    check: Check,
    trigger: str,
    ids: tuple[str, str],
    expected: tuple[int, str],
) -> None:
    """The request or its confirmation is refused, and the beneficiary stays trusted."""
    customer = platform.approved.sca_customer()
    account = platform.trust.trusted(customer)
    twins = remove_trust(platform, platform.approved.sca_customer())
    platform.triggers.fire(trigger, customerId=customer["id"])

    refusal = platform.trust.ask_to_untrust(account)
    if refusal.accepted:
        refusal = platform.trust.confirm(account)

    trust_kept, refused = ids
    with check(trust_kept):
        expect_trusted(platform, account, customer)
    with check(refused):
        twin = next((t for t in twins if t.operation.id == refusal.operation.id), None)
        if twin is None:
            raise ResourceMissing(f"no twin of {refusal}")
        refusal.refused(*expected, twin=twin)


@requirement("SCA-084")
def test_a_confirmation_comes_after_a_question(platform: Platform) -> None:
    """A confirmation without a request before it leaves the beneficiary trusted."""
    request_untrusting(platform)
    customer = platform.approved.sca_customer()
    account = platform.trust.trusted(customer)

    platform.trust.confirm(account)

    expect_trusted(platform, account, customer)


def request_untrusting(platform: Platform, customer: Json | None = None) -> tuple[Json, Json]:
    """Return a trusted external account whose untrusting waits for a proof, and the challenge.

    Raises:
        ResourceMissing: the target asks for no proof, or does not show the challenge.
    """
    account = platform.trust.trusted(customer or platform.approved.sca_customer())
    challenge = challenge_of(arranged_body(platform.trust.ask_to_untrust(account)))
    if challenge is None:
        raise ResourceMissing("an untrusting asks for no proof, or shows no challenge")
    return account, challenge


def remove_trust(platform: Platform, customer: Resource) -> tuple[Answer, Answer]:
    """Remove the trust in a beneficiary with a proof; return the answer of each step.

    Raises:
        ResourceMissing: the target asks for no proof, or does not show the challenge.
    """
    account = platform.trust.trusted(customer)
    request = platform.trust.ask_to_untrust(account)
    if challenge_of(arranged_body(request)) is None:
        raise ResourceMissing("an untrusting asks for no proof, or shows no challenge")
    return request, platform.trust.confirm(account)


def expect_trusted(platform: Platform, account: Resource, owner: Resource) -> None:
    """Assert that an external account cannot be deleted because its beneficiary is trusted."""
    __tracebackhide__ = True
    refusal = platform.api.delete_external_account(account["id"])
    other = platform.external_accounts.account(owner)
    refusal.refused(409, TRUSTED, twin=platform.api.delete_external_account(other["id"]))


def pay_out(platform: Platform, quote: Json) -> str:
    """Execute a quote, with a proof if one is asked for; return the final status of its payout.

    Raises:
        PreconditionFailed: the quote is not executed.
    """
    result = platform.quotes.execute(quote)
    waits = result["status"] == WAITING
    platform.observe(
        f"a payout to the beneficiary {'asks' if waits else 'does not ask'} for a proof"
    )
    if waits:
        result = platform.sca.authorize(result)
    if result["status"] not in SETTLING:
        raise PreconditionFailed(f"the quote was executed to {result['status']}")
    return str(platform.transactions.at_status(quote, "COMPLETED").get("status"))


def expiry_of(challenge: Json) -> datetime | None:
    """Return when a challenge expires, or ``None`` unless it gives a time in UTC."""
    try:
        expiry = parse_moment(challenge["expiresAt"])
    except (KeyError, TypeError, ValueError):
        return None
    offset = expiry.utcoffset()
    return expiry if offset is not None and not offset else None
