"""Strong customer authentication (SCA): an executed quote waits for its customer's proof."""

from __future__ import annotations

from functools import partial
from http import HTTPStatus

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Body, Resource, arranged_body, require_member
from conformance.platform.waiting import at_once
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.challenges import (
    WAITING,
    decide_reason_of_expiry,
    expect_untouched,
    expire,
    quote_after_proof,
    wrong_proof,
)
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.kit.notation import arrange_moment
from conformance.scenarios.kit.refusals import require_refusal
from conformance.scenarios.kit.shapes import expect_members
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

AT_ONCE = 6
LOCKED = HTTPStatus.LOCKED
"""The status of an answer to a customer whom too many wrong proofs have locked out."""


# --- Execution asks for a proof -------------------------------------------------------------


@requirement(
    "QUO-020",
    "QUO-021",
    "QUO-025",
    "QUO-026",
    "QUO-027",
    "QUO-180",
    "QUO-181",
    "QUO-182",
    "QUO-186",
    "TRX-046",
)
def test_executing_a_quote_of_an_sca_customer_asks_for_a_proof(
    platform: Platform, check: Check
) -> None:
    """A quote of an SCA customer is executed to PENDING_AUTHORIZATION, and carries a challenge."""
    quote = platform.quotes.pending(platform.sca.account())

    answer = platform.api.execute_quote(quote["id"])

    with check("QUO-180"):
        answer.expect_accepted()
        assert answer.body["status"] == WAITING, answer
    with check("QUO-181"):
        answer.expect_accepted()
        assert answer.body.get("scaChallenge"), answer
    with check("QUO-182"):
        answer.expect_accepted()
        assert answer.body["transactionId"] == quote["transactionId"], answer
    with check("QUO-186"):
        challenge = require_member(answer.body, "scaChallenge")
        assert arrange_moment(challenge, "expiresAt") > arrange_moment(quote, "createdAt")
    with check("TRX-046"):
        assert platform.transactions.of_quote(quote)["status"] in ("PENDING", WAITING)


@requirement("QUO-180", "QUO-181", "QUO-183", "QUO-190", "QUO-192", "SCA-092", "SCA-093")
def test_a_conversion_asks_for_a_proof(platform: Platform, check: Check) -> None:
    """A payout of an SCA customer in another currency waits for a proof, and has taken nothing.

    The challenge says what it is for, and by which factors it can be answered. A valid proof
    executes the quote, and debits its total sending amount.
    """
    source, destination = ends_of_conversion(platform)
    quote = platform.quotes.pending(source, destination)
    before, total_before = platform.internal_accounts.balances(source)

    answer = platform.api.execute_quote(quote["id"])

    with check("QUO-180"):
        answer.expect_accepted()
        assert answer.body["status"] == WAITING, answer
    with check("QUO-181"):
        answer.expect_accepted()
        assert answer.body.get("scaChallenge"), answer
    with check("QUO-183"):
        assert platform.internal_accounts.balances(source)[1] == total_before
    challenge = require_member(answer.body, "scaChallenge")
    expect_members(check, challenge, {"SCA-092": "purpose", "SCA-093": "availableFactors"})
    authorization = platform.sca.authorize_fully({**quote, **answer.body})
    with check("QUO-190"):
        authorization.expect_accepted()
        assert authorization.body["status"] in SETTLING, authorization
    with check("QUO-192"):
        expected = before - quote["totalSendingAmount"]
        assert platform.internal_accounts.wait_for_balance(source, expected) == expected


def ends_of_conversion(platform: Platform) -> tuple[Resource, Resource]:
    """Return a funded account of a new SCA customer, and an account of it in another currency."""
    corridor = platform.quotes.corridor(same_currency=False)
    customer = platform.approved.sca_customer(currencies=[corridor.sending])
    source = platform.internal_accounts.account(corridor.sending, customer=customer)
    return source, platform.external_accounts.account(customer, corridor.account)


@requirement("QUO-187")
def test_a_business_proves_its_payments_too(platform: Platform) -> None:
    """A quote of a business in an SCA region is executed to PENDING_AUTHORIZATION."""
    source = platform.internal_accounts.account(customer=platform.approved.sca_business())
    quote = platform.quotes.pending(source)

    answer = platform.api.execute_quote(quote["id"])

    answer.expect_accepted()
    assert answer.body["status"] == WAITING, answer


@pytest.mark.parametrize(
    "member",
    [
        case("QUO-028", "availableFactors", "availableFactors"),
        case("QUO-029", "purpose", "purpose"),
    ],
)
def test_a_challenge_may_say_more(platform: Platform, member: str) -> None:
    """A challenge may leave out the member; the judge checks the form of a given one."""
    quote = platform.sca.challenged()

    require_member(require_member(quote, "scaChallenge"), member)


@requirement("QUO-183")
def test_a_quote_that_waits_for_a_proof_has_taken_nothing(platform: Platform) -> None:
    """The totalBalance stays while a quote waits for a proof; the amount may be kept back."""
    source = platform.sca.account()
    _, before = platform.internal_accounts.balances(source)

    platform.sca.challenged(source=source)

    assert platform.internal_accounts.balances(source)[1] == before


@requirement("QUO-184", "QUO-602")
def test_a_quote_that_waits_for_a_proof_cannot_be_executed_again(
    platform: Platform, check: Check
) -> None:
    """A second execution has 409, and the first challenge still authorizes the quote."""
    quote = platform.quotes.pending(platform.sca.account())
    first = platform.api.execute_quote(quote["id"])

    second = platform.api.execute_quote(quote["id"])

    with check("QUO-184"):
        second.refused(409, twin=first)
    with check("QUO-602"):
        if second.accepted:
            raise PreconditionFailed(f"it was executed again: {second}")
        challenged = {**quote, **arranged_body(first)}
        if challenged.get("status") != "PENDING_AUTHORIZATION":
            raise PreconditionFailed(f"it waits for no proof: {first}", breaks=["QUO-180"])
        authorization = platform.sca.authorize_fully(challenged)
        authorization.expect_accepted()
        assert authorization.body["status"] in SETTLING, authorization


@requirement("QUO-121", "QUO-126", "SCA-092", "SCA-093")
@pytest.mark.parametrize("payment", ["usual", "conversion", "pulled"])
def test_a_quote_of_an_sca_customer_is_not_executed_as_it_is_created(
    platform: Platform, check: Check, payment: str
) -> None:
    """A quote with immediatelyExecute of an SCA customer is refused, or not executed yet.

    Nothing has left its source, if that is an internal account. The quote is answered with 201; its
    challenge shows the members of its shape.
    """
    source, body = sca_payment(platform, payment)
    twin = platform.api.create_quote(body)
    if payment != "usual" and not twin.accepted:
        raise ResourceMissing(f"a customer of an SCA region cannot pay so: {twin}")
    before = platform.internal_accounts.balances(source)[1] if source else None

    answer = platform.api.create_quote({**body, "immediatelyExecute": True})

    with check("QUO-126"):
        if answer.accepted:
            assert answer.body["status"] not in SETTLING, answer
            assert platform.transactions.of_quote(answer.body)["status"] not in SETTLING
        else:
            answer.refused(twin=twin)
        if source is not None:
            assert platform.internal_accounts.balances(source)[1] == before, answer
    platform.observe(f"immediatelyExecute of an SCA customer is answered with {answer.status}")
    if not answer.accepted:
        raise ResourceMissing(f"a customer with SCA is not quoted so: {answer}")
    with check("QUO-121"):
        assert answer.status == HTTPStatus.CREATED, answer
    challenge = require_member(answer.body, "scaChallenge")
    expect_members(check, challenge, {"SCA-092": "purpose", "SCA-093": "availableFactors"})


def sca_payment(platform: Platform, payment: str) -> tuple[Resource | None, Body]:
    """Return the body of a quote of a new SCA customer, and the internal account that it debits.

    Args:
        platform: the suite in the part of a platform.
        payment: ``usual``, to another currency (``conversion``), or ``pulled`` from an external
            account.
    """
    if payment == "pulled":
        platform.quotes.require_pulls_abroad()
        customer = platform.approved.sca_customer()
        puller = platform.external_accounts.pullable(customer)
        return None, platform.quotes.body(puller, platform.external_accounts.account(customer))
    if payment == "conversion":
        source, destination = ends_of_conversion(platform)
        return source, platform.quotes.body(source, destination)
    source = platform.sca.account()
    return source, platform.quotes.body(source)


# --- A valid proof --------------------------------------------------------------------------


@requirement("QUO-190", "QUO-191", "QUO-192")
def test_a_valid_proof_executes_the_quote(platform: Platform, check: Check) -> None:
    """A valid proof executes the quote and debits its total sending amount once."""
    source = platform.sca.account()
    before, _ = platform.internal_accounts.balances(source)
    quote = platform.sca.challenged(source=source)

    answer = platform.sca.authorize_fully(quote)

    with check("QUO-190"):
        answer.expect_accepted()
        assert answer.body["status"] in SETTLING, answer
    with check("QUO-191"):
        answer.expect_accepted()
        assert answer.body["transactionId"] == quote["transactionId"], answer
    with check("QUO-192"):
        expected = before - quote["totalSendingAmount"]
        assert platform.internal_accounts.wait_for_balance(source, expected) == expected


@requirement("QUO-184", "QUO-190", "QUO-192")
def test_a_quote_that_waits_from_its_creation_on_is_executed_by_a_valid_proof(
    platform: Platform, check: Check
) -> None:
    """A quote with immediatelyExecute that waits for a proof needs no other execution after it.

    Before it an execution is refused with 409.
    """
    source = platform.sca.account()
    before, _ = platform.internal_accounts.balances(source)
    creation = platform.api.create_quote(platform.quotes.body(source, immediatelyExecute=True))
    if not creation.accepted or creation.body["status"] != WAITING:
        raise ResourceMissing(f"no quote waits for a proof from its creation on: {creation}")

    execution = platform.api.execute_quote(creation.body["id"])
    answer = platform.sca.authorize_fully(creation.body)

    with check("QUO-184"):
        other = platform.quotes.pending(platform.sca.account())
        execution.refused(409, twin=platform.api.execute_quote(other["id"]))
    with check("QUO-190"):
        answer.expect_accepted()
        assert answer.body["status"] in SETTLING, answer
    with check("QUO-192"):
        balance_left = before - creation.body["totalSendingAmount"]
        assert platform.internal_accounts.wait_for_balance(source, balance_left) == balance_left


@requirement("QUO-192", "TRX-046")
def test_a_proof_is_for_one_quote(platform: Platform, check: Check) -> None:
    """Of two quotes that wait for a proof, the one that is not authorized is not executed."""
    source = platform.sca.account()
    waiting_quote = platform.sca.challenged(source=source, amount=5_000)
    quote = platform.quotes.pending(source)
    _, before = platform.internal_accounts.balances(source)
    execution = platform.api.execute_quote(quote["id"])
    if not execution.accepted:
        raise ResourceMissing(f"a customer proves one payment after the other: {execution}")

    platform.sca.authorize({**quote, **execution.body})

    with check("QUO-192"):
        # What is held for either is in the total.
        expected = before - quote["totalSendingAmount"]
        total = platform.until(
            lambda: platform.internal_accounts.balances(source)[1], lambda now: now == expected
        )
        assert total == expected
    with check("TRX-046"):
        assert platform.transactions.of_quote(waiting_quote).get("status") not in SETTLING


@requirement("QUO-191", "QUO-193", "QUO-194", "QUO-195", "QUO-196", "SCA-093")
def test_two_challenges_in_sequence_need_two_proofs(platform: Platform, check: Check) -> None:
    """After the first proof the quote has another challenge, and no money has moved.

    The other challenge shows what the first one shows.
    """
    source = platform.sca.account()
    platform.triggers.fire("sca.second_challenge", customerId=source["customerId"])
    quote = platform.sca.challenged(source=source)
    before = platform.internal_accounts.balances(source)

    first = platform.sca.send_proof(quote)

    with check("QUO-193"):
        first.expect_accepted()
        assert first.body["status"] == WAITING, first
    with check("QUO-194"):
        first.expect_accepted()
        next_challenge = first.body.get("scaChallenge") or {}
        assert next_challenge.get("id") not in (None, quote["scaChallenge"]["id"]), first
    with check("SCA-093"):
        for challenge in (quote["scaChallenge"], arranged_body(first).get("scaChallenge") or {}):
            assert challenge.get("availableFactors"), challenge
    with check("QUO-191"):
        first.expect_accepted()
        assert first.body["transactionId"] == quote["transactionId"], first
    with check("QUO-195"):
        expect_untouched(platform, source, before)

    second = platform.sca.send_proof(quote_after_proof(first, quote))

    with check("QUO-196"):
        second.expect_accepted()
        assert second.body["status"] in SETTLING, second


@requirement("QUO-184")
def test_a_quote_between_two_challenges_cannot_be_executed_again(platform: Platform) -> None:
    """After the first of two proofs, an execution of the quote is refused with 409."""
    source = platform.sca.account()
    platform.triggers.fire("sca.second_challenge", customerId=source["customerId"])
    quote = platform.quotes.pending(source)
    execution = platform.api.execute_quote(quote["id"])
    waiting_quote = {**quote, **arranged_body(execution)}
    quote_after_proof(platform.sca.send_proof(waiting_quote), waiting_quote)

    second = platform.api.execute_quote(quote["id"])

    second.refused(409, twin=execution)


@requirement("QUO-184")
def test_a_wrong_proof_does_not_open_the_execution_again(platform: Platform) -> None:
    """After an authorization with a wrong code, another execution of the quote is refused."""
    quote = platform.quotes.pending(platform.sca.account())
    execution = platform.api.execute_quote(quote["id"])
    platform.sca.send_proof({**quote, **arranged_body(execution)}, wrong_proof(platform))

    second = platform.api.execute_quote(quote["id"])

    second.refused(twin=execution)


# --- No valid proof -------------------------------------------------------------------------


@requirement("QUO-197", "QUO-198", "TRX-046")
def test_a_wrong_code_is_refused(platform: Platform, check: Check) -> None:
    """An authorization with a wrong code is refused, and neither money nor the payment moves.

    It is refused again when it is sent again. The payment is still to be authorized after the first
    one, unless its customer is locked out.
    """
    source = platform.sca.account()
    quote = platform.sca.challenged(source=source)
    before = platform.internal_accounts.balances(source)

    first = platform.sca.send_proof(quote, wrong_proof(platform))
    status = platform.transactions.of_quote(quote).get("status")
    refusals = [first, platform.sca.send_proof(quote, wrong_proof(platform))]

    with check("TRX-046"):
        assert platform.transactions.of_quote(quote).get("status") not in SETTLING
        if LOCKED in {refusal.status for refusal in refusals}:
            raise ResourceMissing("a customer is locked out after one wrong code")
        assert status in ("PENDING", WAITING), f"{status} after {first}"
    with check("QUO-198"):
        expect_untouched(platform, source, before)
    with check("QUO-197"):
        twin = platform.sca.send_proof(platform.sca.challenged())
        for refusal in refusals:
            refusal.refused(twin=twin)


@requirement("QUO-980")
def test_a_right_code_after_a_wrong_one_is_accepted(platform: Platform) -> None:
    """The right code executes a quote after a wrong one, unless its customer is locked out."""
    quote = platform.sca.challenged()
    refusal = platform.sca.send_proof(quote, wrong_proof(platform))
    if refusal.accepted:
        raise PreconditionFailed(f"a wrong code is taken: {refusal}")

    answer = platform.sca.authorize_fully(quote)

    if answer.status == LOCKED:
        raise ResourceMissing("a customer is locked out after one wrong code")
    answer.expect_accepted()
    assert answer.body["status"] in SETTLING, answer


@requirement("QUO-197", "QUO-198")
def test_a_wrong_code_for_a_second_challenge_is_refused(platform: Platform, check: Check) -> None:
    """After a right first proof a wrong second one is refused, and no money moves."""
    source = platform.sca.account()
    platform.triggers.fire("sca.second_challenge", customerId=source["customerId"])
    quote = platform.sca.challenged(source=source)
    before = platform.internal_accounts.balances(source)
    waiting_quote = quote_after_proof(platform.sca.send_proof(quote), quote)

    refusal = platform.sca.send_proof(waiting_quote, wrong_proof(platform))

    with check("QUO-198"):
        expect_untouched(platform, source, before)
    with check("QUO-197"):
        refusal.refused(twin=platform.sca.send_proof(platform.sca.challenged()))


@requirement("QUO-199")
def test_an_authorization_without_a_proof_is_refused(platform: Platform) -> None:
    """An authorization with an empty body is refused."""
    quote = platform.sca.challenged()

    refusal = platform.sca.send_proof(quote, {}, valid=False)

    refusal.refused(twin=platform.sca.send_proof(platform.sca.challenged()))


@requirement("QUO-200", "QUO-201")
@pytest.mark.parametrize("needs_proof", [True, False], ids=["sca", "no-sca"])
def test_a_pending_quote_cannot_be_authorized(
    platform: Platform, check: Check, needs_proof: bool
) -> None:
    """An authorization of a quote that was not executed is refused, and no money moves.

    It stands in for no execution either where a customer needs no proof.
    """
    source = platform.sca.account() if needs_proof else platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    before = platform.internal_accounts.balances(source)

    refusal = platform.sca.send_proof(quote)

    with check("QUO-201"):
        expect_untouched(platform, source, before)
    with check("QUO-200"):
        refusal.refused(twin=platform.sca.send_proof(platform.sca.challenged()))


@requirement("QUO-206", "QUO-207", "TRX-045", "TRX-047", "TRX-605")
def test_an_expired_challenge_ends_its_quote(platform: Platform, check: Check) -> None:
    """A proof of an expired challenge executes nothing, and the transaction is FAILED or EXPIRED.

    The proof may be refused or answered with a new challenge. A failed transaction has the
    failureReason SCA_NOT_COMPLETED.
    """
    source = platform.sca.account()
    opening, _ = platform.internal_accounts.balances(source)
    quote = platform.sca.challenged(source=source)
    before = platform.internal_accounts.balances(source)
    expire(platform, quote)

    answer = platform.sca.send_proof(quote)

    expect_nothing_executed(platform, check, answer, source, before)
    if answer.accepted and answer.body["status"] == WAITING:
        raise ResourceMissing("an expired challenge is followed by a new one")
    transaction = platform.transactions.at_status(quote, "FAILED", "EXPIRED")
    status = transaction["status"]
    with check("TRX-047"):
        assert status in ("FAILED", "EXPIRED"), transaction
    with check("TRX-605"):
        assert not transaction.get("pendingReason"), transaction
    decide_reason_of_expiry(platform, check, quote, answer)
    with check("QUO-207"):
        # What was kept back for the payment can be spent again.
        assert platform.internal_accounts.wait_for_balance(source, opening) == opening
    with check("QUO-207"):
        # A call may ask for a new proof, and for nothing less.
        again = platform.api.execute_quote(quote["id"])
        assert not again.accepted or again.body.get("status") not in SETTLING, again
        expect_untouched(platform, source, before)
    platform.observe(f"an expired challenge leaves its transaction at {status}")


@requirement("QUO-206", "QUO-207", "TRX-045", "TRX-047")
def test_an_expired_second_challenge_ends_its_quote(platform: Platform, check: Check) -> None:
    """After a right first proof, that of an expired second challenge executes nothing.

    A failed transaction has the failureReason SCA_NOT_COMPLETED.
    """
    source = platform.sca.account()
    platform.triggers.fire("sca.second_challenge", customerId=source["customerId"])
    quote = platform.sca.challenged(source=source)
    before = platform.internal_accounts.balances(source)
    waiting_quote = quote_after_proof(platform.sca.send_proof(quote), quote)
    expire(platform, waiting_quote)

    answer = platform.sca.send_proof(waiting_quote)

    expect_nothing_executed(platform, check, answer, source, before)
    with check("TRX-047"):
        if answer.accepted and answer.body["status"] == WAITING:
            raise ResourceMissing("an expired challenge is followed by a new one")
        transaction = platform.transactions.at_status(quote, "FAILED", "EXPIRED")
        assert transaction["status"] in ("FAILED", "EXPIRED"), transaction
    decide_reason_of_expiry(platform, check, quote, answer)


# --- Customers who may not authorize --------------------------------------------------------


@requirement("ERR-008", "QUO-204", "SCA-844")
def test_a_lapsed_session_authorizes_nothing(platform: Platform, check: Check) -> None:
    """After the session has lapsed, a right code is refused with 409 SCA_SESSION_REQUIRED.

    That of another customer is accepted.
    """
    source = platform.sca.account()
    quote = platform.sca.challenged(source=source)
    before = platform.internal_accounts.balances(source)
    platform.triggers.fire("sca.session_lapse", customerId=source["customerId"])

    refusal = platform.sca.send_proof(quote)

    with check("QUO-204"):
        expect_untouched(platform, source, before)
    twin = platform.sca.send_proof(platform.sca.challenged())
    with check("ERR-008"):
        refusal.refused(409, "SCA_SESSION_REQUIRED", twin=twin)
    with check("SCA-844"):
        require_refusal(refusal)
        twin.expect_accepted()


@requirement("ERR-009", "QUO-205", "SCA-843")
def test_a_locked_out_customer_authorizes_nothing(platform: Platform, check: Check) -> None:
    """The right code of a locked customer is refused with 423 ACCOUNT_LOCKED.

    That of another customer is accepted.
    """
    source = platform.sca.account()
    quote = platform.sca.challenged(source=source)
    before = platform.internal_accounts.balances(source)
    platform.triggers.fire("sca.lock", customerId=source["customerId"])

    refusal = platform.sca.send_proof(quote)

    with check("QUO-205"):
        expect_untouched(platform, source, before)
    twin = platform.sca.send_proof(platform.sca.challenged())
    with check("ERR-009"):
        refusal.refused(423, "ACCOUNT_LOCKED", twin=twin)
    with check("SCA-843"):
        require_refusal(refusal)
        twin.expect_accepted()


# --- More than there is ---------------------------------------------------------------------


@requirement("QUO-983")
def test_proofs_never_overdraw(platform: Platform) -> None:
    """Of two proved payments that together exceed the balance, one is not executed."""
    source = platform.internal_accounts.account(
        amount=15_000, customer=platform.approved.sca_customer()
    )
    first = platform.sca.challenged(source=source, amount=10_000)
    *_, other = platform.quotes.create_and_execute(platform.quotes.body(source, amount=10_000))
    if not other.accepted:
        raise ResourceMissing(f"what waits for a proof is counted as spent: {other}")
    payments = [first, other.body]

    answers = [platform.sca.authorize_fully(payment) for payment in payments]

    if not any(answer.accepted for answer in answers):
        raise PreconditionFailed(f"both proofs are refused: {answers[0]}")
    statuses = [platform.transactions.of_quote(payment).get("status") for payment in payments]
    assert not set(statuses) <= set(SETTLING), f"both payments are {statuses}"
    assert platform.internal_accounts.balances(source)[0] >= 0


# --- Repeated authorization -----------------------------------------------------------------


@requirement("QUO-202")
def test_authorizing_a_processing_quote_again_debits_nothing(platform: Platform) -> None:
    """A second authorization of a quote in PROCESSING does not debit the source again."""
    source = platform.sca.account()
    destination = platform.external_accounts.account(source.owner, trigger="payout.hold")
    before, _ = platform.internal_accounts.balances(source)
    quote = platform.sca.challenged(source=source, destination=destination)
    platform.sca.authorize(quote)

    second = platform.sca.send_proof(quote)

    expected = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(source, expected) == expected
    platform.observe(f"authorizing a processing quote again is answered with {second.status}")


@requirement("QUO-202")
def test_authorizing_a_completed_quote_again_debits_nothing(platform: Platform) -> None:
    """A second authorization of a quote in COMPLETED does not debit the source again."""
    source = platform.sca.account()
    before, _ = platform.internal_accounts.balances(source)
    quote = platform.sca.challenged(source=source)
    platform.sca.authorize(quote)
    status = platform.transactions.at_status(quote, "COMPLETED")["status"]
    if status != "COMPLETED":
        raise PreconditionFailed(f"the payout did not complete: its transaction is {status}")

    second = platform.sca.send_proof(quote)

    expected = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(source, expected) == expected
    platform.observe(f"authorizing a completed quote again is answered with {second.status}")


@requirement("QUO-203")
def test_authorizations_of_one_quote_at_the_same_time_debit_once(platform: Platform) -> None:
    """Six authorizations at the same time debit the source once, whatever they are answered."""
    source = platform.sca.account()
    before, _ = platform.internal_accounts.balances(source)
    quote = platform.sca.challenged(source=source)

    answers = at_once(*[partial(platform.sca.send_proof, quote)] * AT_ONCE)

    if not any(answer.accepted and answer.body["status"] in SETTLING for answer in answers):
        raise PreconditionFailed(f"none of {AT_ONCE} authorizations was the last: {answers[0]}")
    expected = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(source, expected) == expected


def expect_nothing_executed(
    platform: Platform, check: Check, answer: Answer, source: Resource, before: tuple[int, int]
) -> None:
    """Decide whether the proof of an expired challenge left a source as it was, and was refused.

    It may be answered with a new challenge in the place of a refusal.
    """
    with check("QUO-207"):
        expect_untouched(platform, source, before)
    with check("QUO-206"):
        if answer.accepted:
            assert answer.body["status"] not in SETTLING, answer
        else:
            answer.refused(twin=platform.sca.send_proof(platform.sca.challenged()))
