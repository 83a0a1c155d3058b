"""Strong customer authentication: who is challenged, by which factor, how often, and for what."""

from __future__ import annotations

from contextlib import suppress

import pytest

from conformance.platform.given.factor_resets import PHONE
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_body, require_member
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.challenges import (
    WAITING,
    expect_untouched,
    expire,
    offered_factors,
    quote_after_proof,
    wrong_proof,
)
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.kit.regions import EU, moved_to_sca
from conformance.scenarios.kit.shapes import expect_members
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

LOCKED = 423


@requirement("SCA-092", "SCA-093")
def test_a_challenge_shows_the_members_of_its_shape(platform: Platform, check: Check) -> None:
    """A challenge says what it is for, and by which factors it can be answered."""
    challenge = require_member(platform.sca.challenged(), "scaChallenge")

    expect_members(check, challenge, {"SCA-092": "purpose", "SCA-093": "availableFactors"})


@requirement("SCA-094")
def test_a_challenge_offers_each_factor(platform: Platform) -> None:
    """A customer who has enrolled the factor of the profile and a phone is offered both."""
    source = platform.sca.account()
    enrolled = set()
    for factor in (platform.profile.bindings.reset_factor, PHONE):
        with suppress(TriggerFailed):
            platform.resets.enroll(source.owner, factor)
            enrolled.add(factor)
    if len(enrolled) == 1:
        raise ResourceMissing("a second factor is not enrolled, or is not known to be")

    now = platform.until(
        lambda: offered_factors(platform, source), lambda factors: enrolled <= {*factors}
    )

    assert enrolled <= {*now}, f"{enrolled} are enrolled, and {now} is offered"


# --- Who is asked ---------------------------------------------------------------------------


@requirement("SCA-001")
def test_a_payout_to_another_currency_asks_for_a_proof(platform: Platform) -> None:
    """The execution of a cross-currency quote is answered with PENDING_AUTHORIZATION."""
    corridor = platform.quotes.corridor(same_currency=False)
    currencies = sorted({platform.profile.currency, corridor.sending})
    customer = platform.approved.sca_customer(currencies=currencies)
    source = platform.internal_accounts.account(corridor.sending, customer=customer)
    quote = create_sca_quote(
        platform, source, platform.external_accounts.account(customer, corridor.account)
    )

    answer = platform.api.execute_quote(quote["id"])

    answer.expect_accepted()
    assert answer.body["status"] == WAITING, answer


@requirement("QUO-190", "SCA-002")
def test_a_payment_that_is_pulled_asks_for_a_proof(platform: Platform, check: Check) -> None:
    """The execution of a quote from a pullable external account is PENDING_AUTHORIZATION.

    A valid proof starts its payment.
    """
    customer = platform.approved.sca_customer()
    platform.quotes.require_pulls_abroad()
    source = platform.external_accounts.pullable(customer)
    quote = create_sca_quote(platform, source, platform.external_accounts.account(customer))

    answer = platform.api.execute_quote(quote["id"])

    with check("SCA-002"):
        answer.expect_accepted()
        assert answer.body["status"] == WAITING, answer
    if arranged_body(answer)["status"] != WAITING:
        raise PreconditionFailed(f"no proof is asked for: {answer}")
    authorization = platform.sca.authorize_fully({**quote, **answer.body})
    with check("QUO-190"):
        authorization.expect_accepted()
        assert authorization.body["status"] in SETTLING, authorization
        status = platform.until(
            lambda: platform.transactions.of_quote(quote).get("status"),
            lambda current: current not in ("PENDING", WAITING),
        )
        assert status not in ("PENDING", WAITING), f"the payment is {status}: {authorization}"


@requirement("SCA-003")
def test_a_payout_of_a_fixed_receiving_amount_asks_for_a_proof(platform: Platform) -> None:
    """The execution of a quote that locks the receiving side is PENDING_AUTHORIZATION."""
    quote = platform.quotes.pending(platform.sca.account(), side="RECEIVING")

    answer = platform.api.execute_quote(quote["id"])

    answer.expect_accepted()
    assert answer.body["status"] == WAITING, answer


@requirement("SCA-042")
def test_a_payment_to_another_customer_asks_for_a_proof(platform: Platform) -> None:
    """The execution of a quote to an internal account of another is PENDING_AUTHORIZATION."""
    receiver = platform.internal_accounts.account(amount=0)
    quote = create_sca_quote(platform, platform.sca.account(), receiver)

    answer = platform.api.execute_quote(quote["id"])

    answer.expect_accepted()
    assert answer.body["status"] == WAITING, answer


@requirement("SCA-840")
@pytest.mark.parametrize("region", ["FR", "IE", "MT"])
def test_customers_of_another_country_of_the_eu_are_asked_for_a_proof(
    platform: Platform, region: str
) -> None:
    """The execution is PENDING_AUTHORIZATION for a customer of another country than the profile's.

    Small countries are of the EU like large ones. A country whose customers are not taken gives
    nothing to check.
    """
    known_region = platform.profile.bindings.sca_region
    if known_region not in EU:
        raise ResourceMissing(f"the region {known_region} is no country of the EU")
    if region == known_region:
        raise ResourceMissing(f"{region} is the region that the profile names")
    try:
        customer = platform.approved.sca_individual(**platform.customers.residence(region))
    except PreconditionFailed as error:
        raise ResourceMissing(f"no customer of {region} is taken: {error}") from error
    quote = platform.quotes.pending(platform.internal_accounts.account(customer=customer))

    answer = platform.api.execute_quote(quote["id"])

    answer.expect_accepted()
    assert answer.body["status"] == WAITING, answer


@requirement("SCA-004")
def test_a_customer_outside_the_sca_regions_is_not_challenged(platform: Platform) -> None:
    """The execution is accepted, and its answer has no ``scaChallenge``."""
    require_outside(platform)
    quote = platform.quotes.pending()

    answer = platform.api.execute_quote(quote["id"])

    answer.expect_accepted()
    assert not answer.body.get("scaChallenge"), answer


@requirement("SCA-004")
def test_who_is_paid_is_not_asked_for_a_proof(platform: Platform) -> None:
    """A payment from a customer outside the SCA regions to one of them has no ``scaChallenge``."""
    require_outside(platform)
    receiver = platform.internal_accounts.account(
        customer=platform.approved.sca_customer(), amount=0
    )
    creation = platform.api.create_quote(
        platform.quotes.body(platform.internal_accounts.account(), receiver)
    )
    if not creation.accepted:
        raise ResourceMissing(f"a customer cannot pay one of an SCA region so: {creation}")

    answer = platform.api.execute_quote(arranged_body(creation)["id"])

    answer.expect_accepted()
    assert not answer.body.get("scaChallenge"), answer


@requirement("SCA-842", "SCA-845")
def test_a_customer_who_moved_to_an_sca_region_is_asked_for_a_proof(
    platform: Platform, check: Check
) -> None:
    """The execution is PENDING_AUTHORIZATION for a customer who was created in another region.

    It is refused at least, and pays nothing without a proof.
    """
    customer = moved_to_sca(platform)
    quote = platform.quotes.pending(platform.internal_accounts.account(customer=customer))

    answer = platform.api.execute_quote(quote["id"])

    with check("SCA-845"):
        assert not answer.accepted or answer.body["status"] == WAITING, answer
    with check("SCA-842"):
        answer.expect_accepted()
        assert answer.body["status"] == WAITING, answer


@requirement("SCA-005", "SCA-006")
def test_a_proof_executes_no_quote_of_a_customer_outside_the_sca_regions(
    platform: Platform, check: Check
) -> None:
    """A proof for a quote without a challenge is refused, and the source's balances do not fall."""
    require_outside(platform)
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    before = platform.internal_accounts.balances(source)

    refusal = platform.sca.send_proof(quote)

    with check("SCA-006"):
        expect_untouched(platform, source, before)
    with check("SCA-005"):
        refusal.refused(twin=platform.sca.send_proof(platform.sca.challenged()))
    platform.observe(f"a proof outside the SCA regions is answered with {refusal.status}")


# --- The challenge --------------------------------------------------------------------------


@requirement("SCA-012", "SCA-043")
def test_a_conversion_has_a_purpose_of_its_own(platform: Platform, check: Check) -> None:
    """A conversion between own accounts is challenged, with another ``purpose`` than a payout."""
    corridor = platform.quotes.corridor(same_currency=False)
    customer = platform.approved.sca_customer(currencies=corridor.currencies)
    source = platform.internal_accounts.account(corridor.sending, customer=customer)
    target = platform.internal_accounts.account(corridor.receiving, customer=customer, amount=0)
    execution = platform.api.execute_quote(create_sca_quote(platform, source, target)["id"])

    with check("SCA-043"):
        execution.expect_accepted()
        assert execution.body["status"] == WAITING, execution
    with check("SCA-012"):
        conversion, payout = (
            require_member(require_member(quote, "scaChallenge"), "purpose")
            for quote in (arranged_body(execution), platform.sca.challenged())
        )
        assert conversion != payout


@requirement("SCA-007")
def test_a_challenge_that_was_satisfied_is_gone(platform: Platform) -> None:
    """An authorized quote has no ``scaChallenge`` any more."""
    authorized = platform.sca.authorize(platform.sca.challenged())

    assert not authorized.get("scaChallenge")


# --- The proof ------------------------------------------------------------------------------


@requirement("SCA-020")
def test_the_factor_of_a_challenge_proves(platform: Platform) -> None:
    """The proof of the profile for the factor of the challenge is accepted."""
    quote = platform.sca.challenged()
    proof = platform.sca.proof(quote, quote["scaChallenge"]["factor"])
    if proof is None:
        raise ResourceMissing(f"bindings.sca_proofs has none of {quote['scaChallenge']}")

    answer = platform.sca.send_proof(quote, proof)

    answer.expect_accepted()
    assert answer.body["status"] in (*SETTLING, WAITING), answer


@pytest.mark.parametrize(
    "factor",
    [
        case("SCA-021", "SMS_OTP", "SMS_OTP"),
        case("SCA-022", "PASSKEY", "PASSKEY"),
        case("SCA-023", "TOTP", "TOTP"),
    ],
)
def test_each_factor_that_a_challenge_offers_proves(platform: Platform, factor: str) -> None:
    """The proof of an offered factor is accepted, whichever one the challenge was raised for."""
    quote = platform.sca.challenged()
    challenge = quote["scaChallenge"]
    proof = platform.sca.proof(quote, factor)
    if factor not in (challenge["factor"], *(challenge.get("availableFactors") or ())):
        raise ResourceMissing(f"{factor} is not offered by {challenge}")
    if proof is None:
        raise ResourceMissing(f"bindings.sca_proofs of the profile has no {factor}")

    answer = platform.sca.send_proof(quote, proof)

    answer.expect_accepted()
    assert answer.body["status"] in (*SETTLING, WAITING), answer


# --- Several quotes of one customer ---------------------------------------------------------


@requirement("SCA-013", "SCA-025", "SCA-026", "SCA-041")
def test_a_proof_is_for_one_quote(platform: Platform, check: Check) -> None:
    """The proof for one quote neither settles nor debits another quote of the customer.

    A quote that is executed afterwards needs a proof of its own.
    """
    source = platform.sca.account()
    _, opening = platform.internal_accounts.balances(source)
    first = platform.sca.challenged(source=source)
    second = platform.sca.challenged(source=source)

    with check("SCA-013"):
        assert first["scaChallenge"]["id"] != second["scaChallenge"]["id"]
    platform.sca.authorize(first)
    platform.transactions.at_status(first, "COMPLETED")
    with check("SCA-025"):
        assert platform.transactions.of_quote(second)["status"] not in SETTLING
    with check("SCA-026"):
        remaining = opening - first["totalSendingAmount"]
        total = platform.until(
            lambda: platform.internal_accounts.balances(source)[1], lambda value: value == remaining
        )
        assert total == remaining
    with check("SCA-041"):
        answer = platform.api.execute_quote(platform.quotes.pending(source)["id"])
        answer.expect_accepted()
        assert answer.body["status"] == WAITING, answer


@requirement("SCA-841")
def test_a_newer_challenge_leaves_an_older_one_as_it_is(platform: Platform) -> None:
    """The first of two challenged quotes of a customer can still be authorized."""
    source = platform.sca.account()
    first = platform.sca.challenged(source=source)
    second = platform.api.execute_quote(platform.quotes.pending(source)["id"])
    if not second.accepted or second.body["status"] != WAITING:
        raise ResourceMissing(f"a customer has one challenge at a time: {second}")

    answer = platform.sca.authorize_fully(first)

    answer.expect_accepted()
    assert answer.body["status"] in SETTLING, answer


@requirement("SCA-027")
def test_a_new_quote_can_be_authorized_after_an_expired_challenge(platform: Platform) -> None:
    """A customer whose challenge expired can authorize another quote."""
    source = platform.sca.account()
    expire(platform, platform.sca.challenged(source=source))
    quote = platform.sca.challenged(source=source)

    answer = platform.sca.authorize_fully(quote)

    answer.expect_accepted()
    assert answer.body["status"] in SETTLING, answer


@requirement("SCA-028", "SCA-029")
def test_a_quote_that_waits_from_its_creation_on_takes_no_wrong_code(
    platform: Platform, check: Check
) -> None:
    """A wrong code for an ``immediatelyExecute`` quote is refused, and nothing is debited."""
    source = platform.sca.account()
    quote = create_waiting_quote(platform, source)
    before = platform.internal_accounts.balances(source)

    refusal = platform.sca.send_proof(quote, wrong_proof(platform))

    with check("SCA-029"):
        expect_untouched(platform, source, before)
    with check("SCA-028"):
        other = create_waiting_quote(platform, platform.sca.account())
        refusal.refused(twin=platform.sca.send_proof(other))


# --- Challenges in sequence -----------------------------------------------------------------


@requirement("SCA-030", "SCA-031", "SCA-032", "SCA-033", "SCA-034")
def test_three_challenges_in_sequence_need_three_proofs(platform: Platform, check: Check) -> None:
    """The three challenges have different ids, and only the last proof moves the money."""
    source = platform.sca.account()
    platform.triggers.fire("sca.third_challenge", customerId=source["customerId"])
    quote = platform.sca.challenged(source=source)
    before = platform.internal_accounts.balances(source)
    second = quote_after_proof(platform.sca.send_proof(quote), quote)

    answer = platform.sca.send_proof(second)

    with check("SCA-030"):
        answer.expect_accepted()
        assert answer.body["status"] == WAITING, answer
    with check("SCA-031"):
        answer.expect_accepted()
        ids = {body["scaChallenge"]["id"] for body in (quote, second, answer.body)}
        assert len(ids) == 3, answer
    with check("SCA-032"):
        expect_untouched(platform, source, before)
    last = platform.sca.send_proof(quote_after_proof(answer, second))
    with check("SCA-033"):
        last.expect_accepted()
        assert last.body["status"] in SETTLING, last
    with check("SCA-034"):
        transaction_ids = {body["transactionId"] for body in (second, answer.body, last.body)}
        assert transaction_ids == {quote["transactionId"]}


@requirement("SCA-035", "SCA-036")
def test_a_wrong_code_for_a_second_challenge_is_refused(platform: Platform, check: Check) -> None:
    """A wrong code after one right proof is refused, and nothing is debited."""
    source, quote = arrange_second_challenge(platform)
    before = platform.internal_accounts.balances(source)

    refusal = platform.sca.send_proof(quote, wrong_proof(platform))

    with check("SCA-036"):
        expect_untouched(platform, source, before)
    with check("SCA-035"):
        refusal.refused(twin=platform.sca.send_proof(arrange_second_challenge(platform)[1]))


@pytest.mark.parametrize(
    ("trigger", "status", "code"),
    [
        case("SCA-037", "lapsed", "sca.session_lapse", 409, "SCA_SESSION_REQUIRED"),
        case("SCA-038", "locked-out", "sca.lock", LOCKED, "ACCOUNT_LOCKED"),
    ],
)
def test_a_customer_may_lose_the_right_to_prove_between_two_challenges(
    platform: Platform, trigger: str, status: int, code: str
) -> None:
    """The second proof is refused with 409 after the session lapsed, with 423 after a lock."""
    source, quote = arrange_second_challenge(platform)
    platform.triggers.fire(trigger, customerId=source["customerId"])

    refusal = platform.sca.send_proof(quote)

    twin = platform.sca.send_proof(arrange_second_challenge(platform)[1])
    refusal.refused(status, code, twin=twin)


@requirement("SCA-039", "SCA-040")
def test_a_second_challenge_expires_like_the_first(platform: Platform, check: Check) -> None:
    """The code of an expired second challenge settles nothing and debits nothing."""
    source, quote = arrange_second_challenge(platform)
    before = platform.internal_accounts.balances(source)
    expire(platform, quote)

    answer = platform.sca.send_proof(quote)

    with check("SCA-040"):
        expect_untouched(platform, source, before)
    with check("SCA-039"):
        if answer.accepted:
            assert answer.body["status"] not in SETTLING, answer
        else:
            answer.refused(twin=platform.sca.send_proof(arrange_second_challenge(platform)[1]))


@requirement("SCA-846")
def test_a_challenge_that_was_satisfied_ends_no_payment(platform: Platform) -> None:
    """A payment is still COMPLETED once the lifetime of its challenge is over."""
    quote = platform.sca.challenged()
    platform.sca.authorize(quote)
    if platform.transactions.at_status(quote, "COMPLETED").get("status") != "COMPLETED":
        raise PreconditionFailed("an authorized payment is not completed")

    try:
        expire(platform, quote)
    except TriggerFailed as error:
        raise ResourceMissing(f"a challenge that was satisfied does not expire: {error}") from error

    assert platform.transactions.of_quote(quote).get("status") == "COMPLETED"


def require_outside(platform: Platform) -> None:
    """Raise ``ResourceMissing`` where the usual customers are of a region that needs SCA."""
    region = platform.customers.body().get("region")
    known_region = platform.profile.bindings.sca_region
    if region == known_region or {region, known_region} <= {*EU}:
        raise ResourceMissing(f"the customers of the profile are of {region}, which needs SCA")


def create_sca_quote(platform: Platform, source: Resource, destination: Resource) -> Json:
    """Return a new quote of a customer who needs SCA.

    Raises:
        ResourceMissing: the target refuses such payments in the customer's region.
    """
    answer = platform.api.create_quote(platform.quotes.body(source, destination))
    if not answer.accepted:
        raise ResourceMissing(f"a customer of an SCA region cannot pay so: {answer}")
    quote: Json = answer.body
    return quote


def create_waiting_quote(platform: Platform, source: Resource) -> Json:
    """Return a quote that waits for a proof since its creation.

    Raises:
        ResourceMissing: such quotes are refused, or created without a challenge.
    """
    answer = platform.api.create_quote(platform.quotes.body(source, immediatelyExecute=True))
    if not answer.accepted or answer.body["status"] != WAITING:
        raise ResourceMissing(f"no quote waits for a proof from its creation on: {answer}")
    quote: Json = answer.body
    return quote


def arrange_second_challenge(platform: Platform) -> tuple[Resource, Json]:
    """Return an account, and a quote from it whose first of two challenges is satisfied.

    Raises:
        PreconditionFailed: the second challenge is not asked for or not shown.
    """
    source = platform.sca.account()
    platform.triggers.fire("sca.second_challenge", customerId=source["customerId"])
    quote = platform.sca.challenged(source=source)
    second = quote_after_proof(platform.sca.send_proof(quote), quote)
    if not second.get("scaChallenge"):
        raise PreconditionFailed("the second challenge is not shown")
    return source, second


@requirement("AUT-019")
def test_no_payout_of_an_sca_customer_starts_without_a_proof(platform: Platform) -> None:
    """Neither an execution nor a wrong code settles the transaction of the quote."""
    quote = platform.quotes.pending(platform.sca.account())

    platform.api.execute_quote(quote["id"])
    platform.sca.send_proof(quote, wrong_proof(platform))

    assert platform.transactions.of_quote(quote)["status"] not in SETTLING
