"""Approving what an agent initiated."""

from __future__ import annotations

from conformance.client.actor import Json, unknown
from conformance.client.platform import Platform
from conformance.scenarios.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing


@requirement("TRX-080", "TRX-081")
def test_a_payment_of_an_agent_waits_for_approval(platform: Platform, check: Check) -> None:
    """No money moves before; a payout that began later has arrived by then."""
    source = platform.account()
    before, _ = platform.balances(source)
    payment = platform.initiated(source)
    other = platform.completed(platform.quote(source))

    waiting = platform.transaction(payment)

    with check("TRX-080"):
        assert waiting.get("status") == "PENDING"
    left = before - other["totalSendingAmount"]
    with check("TRX-081"):
        assert platform.balance_at(source, left) == left


@requirement("TRX-082", "TRX-083", "TRX-084")
def test_an_approved_payment_is_made(platform: Platform, check: Check) -> None:
    """The platform's approval takes the place of an execution."""
    source = platform.account()
    before, _ = platform.balances(source)
    payment = platform.initiated(source)

    answer = platform.approve(payment["transactionId"])

    with check("TRX-082"):
        assert answer.accepted, answer
    approved = platform.transaction_in(payment, "COMPLETED")
    with check("TRX-083"):
        assert approved.get("status") == "COMPLETED"
    with check("TRX-084"):
        left = before - _sent(approved)
        assert platform.balance_at(source, left) == left


@requirement("TRX-085")
def test_a_payment_that_is_approved_twice_is_made_once(platform: Platform) -> None:
    """Whatever the second approval is answered, it moves no money."""
    source = platform.account()
    before, _ = platform.balances(source)
    payment = platform.initiated(source)

    answers = platform.at_once(
        lambda: platform.approve(payment["transactionId"]),
        lambda: platform.approve(payment["transactionId"]),
    )
    if not any(answer.accepted for answer in answers):
        raise PreconditionFailed(f"no approval was accepted: {answers[0]}, {answers[1]}")
    approved = platform.transaction_in(payment, "COMPLETED")
    platform.approve(payment["transactionId"])

    left = before - _sent(approved)
    assert platform.balance_at(source, left) == left


@requirement("TRX-086")
def test_approving_a_completed_payout_of_the_platform_moves_nothing(platform: Platform) -> None:
    """Its money has arrived; whatever the approval is answered, it is not sent again."""
    source = platform.account()
    opening, _ = platform.balances(source)
    quote = platform.completed(platform.quote(source))
    # A debit that is shown late would look like another one.
    before = platform.balance_at(source, opening - quote["totalSendingAmount"])

    platform.approve(quote["transactionId"])

    assert platform.balances(source)[0] == before


@requirement("TRX-802")
def test_approving_a_payout_that_nobody_executed_moves_nothing(platform: Platform) -> None:
    """No agent initiated it; it is the platform that executes its quote, if anybody does."""
    source = platform.account()
    quote = platform.quote(source)
    before, _ = platform.balances(source)

    answer = platform.approve(quote["transactionId"])
    other = platform.completed(platform.quote(source))

    # A payout that began later has been debited by then.
    left = before - other["totalSendingAmount"]
    assert platform.balance_at(source, left) == left, answer


@requirement("TRX-087", "TRX-088")
def test_a_transaction_that_does_not_exist_cannot_be_approved(
    platform: Platform, check: Check
) -> None:
    """One that waits for its approval can."""
    payment = platform.initiated(platform.account())

    refusal = platform.approve(unknown(payment["transactionId"]))

    approval = platform.approve(payment["transactionId"])
    with check("TRX-087"):
        refusal.refused(404, twin=approval)
    with check("TRX-088"):
        refusal.refused("TRANSACTION_NOT_FOUND", "NOT_FOUND", twin=approval)


def _sent(transaction: Json) -> int:
    """Return the amount that an approval debits; it is the service that names it."""
    sent = transaction.get("sentAmount")
    if not isinstance(sent, dict):
        raise ResourceMissing(f"the transaction names no sentAmount: {transaction}")
    amount: int = sent["amount"]
    return amount
