"""Strong customer authentication: who is asked, by which factor, how often, and for what."""

from __future__ import annotations

import pytest

from conformance.client.actor import Json, given
from conformance.client.platform import Platform
from conformance.scenarios.challenges import (
    WAITING,
    demand_untouched,
    expire,
    followed,
    wrong,
)
from conformance.scenarios.marks import SETTLING, Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

LOCKED = 423

# --- Who is asked ---------------------------------------------------------------------------


@requirement("SCA-001")
def test_a_payout_to_another_currency_asks_for_a_proof(platform: Platform) -> None:
    """It is the customer who needs it, not the corridor."""
    corridor = platform.corridor(same_currency=False)
    currencies = sorted({platform.currency, corridor.sending})
    customer = platform.sca_customer(currencies=currencies)
    source = platform.account(corridor.sending, customer=customer)
    quote = offered(platform, source, platform.destination(customer, corridor.account))

    answer = platform.execute(quote)

    assert answer.accepted, answer
    assert answer.body["status"] == WAITING, answer


@requirement("SCA-002")
def test_a_payment_that_is_pulled_asks_for_a_proof(platform: Platform) -> None:
    """Money from an account outside the service is the customer's as well."""
    customer = platform.sca_customer()
    source = platform.pullable_account(customer)
    quote = offered(platform, source, platform.destination(customer))

    answer = platform.execute(quote)

    assert answer.accepted, answer
    assert answer.body["status"] == WAITING, answer


@requirement("SCA-003")
def test_a_payout_of_a_fixed_receiving_amount_asks_for_a_proof(platform: Platform) -> None:
    """Whichever side is locked."""
    quote = platform.quote(platform.sca_account(), side="RECEIVING")

    answer = platform.execute(quote)

    assert answer.accepted, answer
    assert answer.body["status"] == WAITING, answer


@requirement("SCA-004")
def test_a_customer_outside_the_sca_regions_is_not_challenged(platform: Platform) -> None:
    """The payout begins without a proof."""
    quote = platform.quote()

    answer = platform.execute(quote)

    assert answer.accepted, answer
    assert not answer.body.get("scaChallenge"), answer


@requirement("SCA-005", "SCA-006")
def test_a_proof_executes_no_quote_of_a_customer_outside_the_sca_regions(
    platform: Platform, check: Check
) -> None:
    """Where no challenge was raised there is nothing to prove."""
    source = platform.account()
    quote = platform.quote(source)
    before = platform.balances(source)

    refusal = platform.authorize(quote)

    with check("SCA-006"):
        demand_untouched(platform, source, before)
    with check("SCA-005"):
        refusal.refused(twin=platform.authorize(platform.challenged()))
    platform.observe(f"a proof outside the SCA regions is answered with {refusal.status}")


# --- The challenge --------------------------------------------------------------------------


@requirement("SCA-012")
def test_a_conversion_has_a_purpose_of_its_own(platform: Platform) -> None:
    """Money that stays the customer's is not paid out."""
    corridor = platform.corridor(same_currency=False)
    customer = platform.sca_customer(currencies=sorted({corridor.sending, corridor.receiving}))
    source = platform.account(corridor.sending, customer=customer)
    target = platform.account(corridor.receiving, customer=customer, amount=0)
    executed = platform.execute(offered(platform, source, target))
    if not executed.accepted or executed.body["status"] != WAITING:
        raise ResourceMissing(f"a conversion between own accounts asks for no proof: {executed}")

    paid = given(given(platform.challenged(), "scaChallenge"), "purpose")

    converted = given(given(executed.body, "scaChallenge"), "purpose")

    assert converted != paid


@requirement("SCA-007")
def test_a_challenge_that_was_satisfied_is_gone(platform: Platform) -> None:
    """A client that looks for challenges is not led to prove again."""
    authorized = platform.authorized(platform.challenged())

    assert not authorized.get("scaChallenge")


# --- The proof ------------------------------------------------------------------------------


@requirement("SCA-020")
def test_the_factor_of_a_challenge_proves(platform: Platform) -> None:
    """By the body that the profile has for it."""
    quote = platform.challenged()
    proof = platform.proof(quote["scaChallenge"]["factor"])
    if proof is None:
        raise ResourceMissing(f"bindings.sca_proofs has none of {quote['scaChallenge']}")

    answer = platform.authorize(quote, proof)

    assert answer.accepted, answer
    assert answer.body["status"] in (*SETTLING, WAITING), answer


@pytest.mark.parametrize(
    "factor",
    [
        pytest.param("SMS_OTP", marks=requirement("SCA-021"), id="SMS_OTP"),
        pytest.param("PASSKEY", marks=requirement("SCA-022"), id="PASSKEY"),
        pytest.param("TOTP", marks=requirement("SCA-023"), id="TOTP"),
    ],
)
def test_each_factor_that_a_challenge_offers_proves(platform: Platform, factor: str) -> None:
    """Which one is used is the customer's choice."""
    quote = platform.challenged()
    challenge = quote["scaChallenge"]
    proof = platform.proof(factor)
    if factor not in (challenge["factor"], *(challenge.get("availableFactors") or ())):
        raise ResourceMissing(f"{factor} is not offered by {challenge}")
    if proof is None:
        raise ResourceMissing(f"bindings.sca_proofs of the profile has no {factor}")

    answer = platform.authorize(quote, proof)

    assert answer.accepted, answer
    assert answer.body["status"] in (*SETTLING, WAITING), answer


# --- Several quotes of one customer ---------------------------------------------------------


@requirement("SCA-013", "SCA-025", "SCA-026")
def test_a_proof_is_for_one_quote(platform: Platform, check: Check) -> None:
    """Another quote of the customer goes on waiting for its own."""
    source = platform.sca_account()
    _, opening = platform.balances(source)
    first = platform.challenged(source=source)
    second = platform.challenged(source=source)

    with check("SCA-013"):
        assert first["scaChallenge"]["id"] != second["scaChallenge"]["id"]
    platform.authorized(first)
    platform.transaction_in(first, "COMPLETED")
    with check("SCA-025"):
        assert platform.transaction(second)["status"] not in SETTLING
    with check("SCA-026"):
        left = opening - first["totalSendingAmount"]
        total = platform.until(lambda: platform.balances(source)[1], lambda seen: seen == left)
        assert total == left


@requirement("SCA-027")
def test_a_new_quote_can_be_authorized_after_an_expired_challenge(platform: Platform) -> None:
    """The customer was late once, and is not shut out for it."""
    source = platform.sca_account()
    expire(platform, platform.challenged(source=source))
    quote = platform.challenged(source=source)

    answer = platform.authorize_fully(quote)

    assert answer.accepted, answer
    assert answer.body["status"] in SETTLING, answer


@requirement("SCA-028", "SCA-029")
def test_a_quote_that_waits_from_its_creation_on_takes_no_wrong_code(
    platform: Platform, check: Check
) -> None:
    """Being created and executed in one request makes no difference."""
    source = platform.sca_account()
    quote = waiting_from_creation(platform, source)
    before = platform.balances(source)

    refusal = platform.authorize(quote, wrong(platform))

    with check("SCA-029"):
        demand_untouched(platform, source, before)
    with check("SCA-028"):
        other = waiting_from_creation(platform, platform.sca_account())
        refusal.refused(twin=platform.authorize(other))


# --- Challenges in sequence -----------------------------------------------------------------


@requirement("SCA-030", "SCA-031", "SCA-032", "SCA-033", "SCA-034")
def test_three_challenges_in_sequence_need_three_proofs(platform: Platform, check: Check) -> None:
    """Each has an id of its own, and the last one moves the money."""
    source = platform.sca_account()
    platform.cause("sca.third_challenge", customerId=source["customerId"])
    quote = platform.challenged(source=source)
    before = platform.balances(source)
    second = followed(platform.authorize(quote), quote)

    answer = platform.authorize(second)

    with check("SCA-030"):
        assert answer.accepted, answer
        assert answer.body["status"] == WAITING, answer
    with check("SCA-031"):
        assert answer.accepted, answer
        ids = {waiting["scaChallenge"]["id"] for waiting in (quote, second, answer.body)}
        assert len(ids) == 3, answer
    with check("SCA-032"):
        demand_untouched(platform, source, before)
    last = platform.authorize(followed(answer, second))
    with check("SCA-033"):
        assert last.accepted, last
        assert last.body["status"] in SETTLING, last
    with check("SCA-034"):
        kept = {seen["transactionId"] for seen in (second, answer.body, last.body)}
        assert kept == {quote["transactionId"]}


@requirement("SCA-035", "SCA-036")
def test_a_wrong_code_for_a_second_challenge_is_refused(platform: Platform, check: Check) -> None:
    """The first proof does not speak for the second."""
    source, quote = between_challenges(platform)
    before = platform.balances(source)

    refusal = platform.authorize(quote, wrong(platform))

    with check("SCA-036"):
        demand_untouched(platform, source, before)
    with check("SCA-035"):
        refusal.refused(twin=platform.authorize(between_challenges(platform)[1]))


@pytest.mark.parametrize(
    ("trigger", "status", "code"),
    [
        pytest.param(
            "sca.session_lapse",
            409,
            "SCA_SESSION_REQUIRED",
            marks=requirement("SCA-037"),
            id="lapsed",
        ),
        pytest.param(
            "sca.lock", LOCKED, "ACCOUNT_LOCKED", marks=requirement("SCA-038"), id="locked-out"
        ),
    ],
)
def test_a_customer_may_lose_the_right_to_prove_between_two_challenges(
    platform: Platform, trigger: str, status: int, code: str
) -> None:
    """It is looked at with each proof."""
    source, quote = between_challenges(platform)
    platform.cause(trigger, customerId=source["customerId"])

    refusal = platform.authorize(quote)

    twin = platform.authorize(between_challenges(platform)[1])
    refusal.refused(status, code, twin=twin)


@requirement("SCA-039", "SCA-040")
def test_a_second_challenge_expires_like_the_first(platform: Platform, check: Check) -> None:
    """Its code moves no money any more."""
    source, quote = between_challenges(platform)
    before = platform.balances(source)
    expire(platform, quote)

    answer = platform.authorize(quote)

    with check("SCA-040"):
        demand_untouched(platform, source, before)
    with check("SCA-039"):
        if answer.accepted:
            assert answer.body["status"] not in SETTLING, answer
        else:
            answer.refused(twin=platform.authorize(between_challenges(platform)[1]))


def offered(platform: Platform, source: Json, destination: Json) -> Json:
    """Return a quote of a customer who needs SCA.

    Raises:
        ResourceMissing: such payments are not offered in its region.
    """
    created = platform.create_quote(platform.quote_body(source, destination))
    if not created.accepted:
        raise ResourceMissing(f"a customer of an SCA region cannot pay so: {created}")
    quote: Json = created.body
    return quote


def waiting_from_creation(platform: Platform, source: Json) -> Json:
    """Return a quote that waits for a proof as it was created.

    Raises:
        ResourceMissing: such quotes are refused, or created without a challenge.
    """
    created = platform.create_quote(platform.quote_body(source, immediatelyExecute=True))
    if not created.accepted or created.body["status"] != WAITING:
        raise ResourceMissing(f"no quote waits for a proof from its creation on: {created}")
    quote: Json = created.body
    return quote


def between_challenges(platform: Platform) -> tuple[Json, Json]:
    """Return an account, and a quote from it of whose two challenges the first is satisfied."""
    source = platform.sca_account()
    platform.cause("sca.second_challenge", customerId=source["customerId"])
    quote = platform.challenged(source=source)
    second = followed(platform.authorize(quote), quote)
    if not second.get("scaChallenge"):
        raise PreconditionFailed("the second challenge is not shown")
    return source, second
