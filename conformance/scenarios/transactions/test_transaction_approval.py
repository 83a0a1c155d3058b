"""Approvals of payments that an agent initiated."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import pytest

from conformance.exchange.cuts import Cut
from conformance.platform.given.transactions import included_fees
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, require_member, unknown_id
from conformance.platform.waiting import at_once
from conformance.scenarios.kit.approvals import expect_unpaid
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.challenges import expect_untouched
from conformance.scenarios.kit.lost_answers import at_each_cut, lose_answer
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.kit.refusals import NOT_FOUND
from conformance.scenarios.kit.shapes import expect_members
from conformance.scenarios.transactions.records import LISTED
from conformance.scenarios.webhooks.reports import (
    BALANCE,
    event_ids,
    expect_failure_and_refund,
    expect_refund_reported,
)
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed


@requirement("TRX-080", "TRX-081", "TRX-811")
def test_a_payment_of_an_agent_waits_for_approval(platform: Platform, check: Check) -> None:
    """The transaction of an agent's payment is PENDING, and no money moves before the approval.

    A later payout has completed by then.
    """
    source = platform.internal_accounts.account()
    _, before = platform.internal_accounts.balances(source)
    payment = platform.agents.initiate(source)
    other = platform.quotes.complete(platform.quotes.pending(source))

    transaction = platform.transactions.of_quote(payment)

    with check("TRX-080"):
        assert transaction.get("status") == "PENDING"
    with check("TRX-811"):
        assert transaction.get("pendingReason"), transaction
    with check("TRX-081"):
        _expect_total(platform, source, before - other["totalSendingAmount"])


@requirement("TRX-082", "TRX-083", "TRX-084", "TRX-605", "TRX-812", *LISTED)
def test_an_approved_payment_is_made(platform: Platform, check: Check) -> None:
    """The approval is accepted, and the payment completes without an execution.

    It shows what other completed payments show.
    """
    source = platform.internal_accounts.account()
    before, _ = platform.internal_accounts.balances(source)
    payment = platform.agents.initiate(source)

    answer = platform.api.approve_transaction(payment["transactionId"])

    with check("TRX-082"):
        answer.expect_accepted()
    transaction = platform.transactions.at_status(payment, "COMPLETED")
    with check("TRX-083"):
        assert transaction.get("status") == "COMPLETED"
    with check("TRX-084"):
        balance_left = before - _sent_amount(transaction)
        assert platform.internal_accounts.wait_for_balance(source, balance_left) == balance_left
    with check("TRX-605"):
        if transaction.get("status") != "COMPLETED":
            raise PreconditionFailed(f"the approved payment is {transaction.get('status')}")
        assert not transaction.get("pendingReason"), transaction
    with check("TRX-812"):
        assert transaction.get("type") == "OUTGOING", transaction
    if transaction.get("status") == "COMPLETED":
        expect_members(check, transaction, LISTED)


@requirement("TRX-082", "TRX-083")
def test_a_payment_for_a_business_is_approved(platform: Platform, check: Check) -> None:
    """What an agent of a business initiated is approved, and completes."""
    business = platform.approved.business()
    payment = platform.agents.initiate(platform.internal_accounts.account(customer=business))

    answer = platform.api.approve_transaction(payment["transactionId"])

    with check("TRX-082"):
        answer.expect_accepted()
    with check("TRX-083"):
        if not answer.accepted:
            raise ResourceMissing(f"the approval is refused: {answer}")
        transaction = platform.transactions.at_status(payment, "COMPLETED")
        assert transaction.get("status") == "COMPLETED", transaction


@requirement("TRX-080", "TRX-081", "TRX-083")
def test_an_approval_is_for_one_payment(platform: Platform, check: Check) -> None:
    """Of two payments of an agent, the one that is not approved is PENDING and debits nothing.

    The later one, which is approved, completes.
    """
    source = platform.internal_accounts.account()
    _, before = platform.internal_accounts.balances(source)
    waiting, payment = (platform.agents.initiate(source) for _ in range(2))

    answer = platform.api.approve_transaction(payment["transactionId"])

    if not answer.accepted:
        raise PreconditionFailed(f"the approval is refused: {answer}", breaks=["TRX-082"])
    transaction = platform.transactions.at_status(payment, "COMPLETED")
    with check("TRX-083"):
        assert transaction.get("status") == "COMPLETED", answer
    later = platform.quotes.complete(platform.quotes.pending(source, amount=7_000))
    with check("TRX-080"):
        assert platform.transactions.of_quote(waiting).get("status") == "PENDING"
    with check("TRX-081"):
        if transaction.get("status") != "COMPLETED":
            raise PreconditionFailed(f"the approved payment is {transaction.get('status')}")
        # What was executed before the later payout has left the total by then.
        expected = before - _sent_amount(transaction) - later["totalSendingAmount"]
        _expect_total(platform, source, expected)


@requirement("TRX-050", "TRX-051", "EVT-012", "EVT-013", "EVT-014", "EVT-055")
def test_an_approved_payment_is_refunded_where_it_fails(platform: Platform, check: Check) -> None:
    """What an approved payment of an agent took in vain is back, but for fees, and is reported."""
    source = platform.internal_accounts.account()
    before = platform.internal_accounts.balance(source)
    account = platform.external_accounts.account(source.owner, trigger="payout.screen")
    payment = platform.agents.initiate(source, account)
    known_ids = event_ids(platform, BALANCE, source["id"])
    answer = platform.api.approve_transaction(payment["transactionId"])
    if not answer.accepted:
        raise PreconditionFailed(f"the approval is refused: {answer}", breaks=["TRX-082"])

    refunded = platform.transactions.refunded(payment)

    with check("TRX-050"):
        assert isinstance(refunded.get("refund"), Mapping), refunded
    with check("TRX-051"):
        fees = _shown_fees(payment)
        balance = platform.internal_accounts.wait_for_refund(source, before, fees)
        assert before - fees <= balance <= before
    expect_failure_and_refund(platform, check, payment)
    with check("EVT-055"):
        restored = range(before - _shown_fees(payment), before + 1)
        expect_refund_reported(platform, source, restored, known_ids)


@requirement("TRX-085")
def test_a_payment_that_is_approved_twice_is_made_once(platform: Platform) -> None:
    """Three approvals, two of them at the same time, debit the source once."""
    source = platform.internal_accounts.account()
    before, _ = platform.internal_accounts.balances(source)
    payment = platform.agents.initiate(source)

    answers = at_once(
        lambda: platform.api.approve_transaction(payment["transactionId"]),
        lambda: platform.api.approve_transaction(payment["transactionId"]),
    )
    if not any(answer.accepted for answer in answers):
        raise PreconditionFailed(f"no approval was accepted: {answers[0]}, {answers[1]}")
    transaction = platform.transactions.at_status(payment, "COMPLETED")
    platform.api.approve_transaction(payment["transactionId"])

    balance_left = before - _sent_amount(transaction)
    assert platform.internal_accounts.wait_for_balance(source, balance_left) == balance_left


@at_each_cut("TRX-850")
def test_an_approval_that_is_repeated_debits_once(platform: Platform, cut: Cut) -> None:
    """The answer to an approval is lost; after it was sent again, the source is debited once."""
    source = platform.internal_accounts.account()
    before, _ = platform.internal_accounts.balances(source)
    payment = platform.agents.initiate(source)
    approve = partial(platform.api.approve_transaction, payment["transactionId"])

    lose_answer(approve, cut)
    approve()

    transaction = platform.transactions.at_status(payment, "COMPLETED")
    balance_left = before - _sent_amount(transaction)
    if transaction.get("status") == "PENDING":
        raise PreconditionFailed("the repeated approval moved nothing")
    assert platform.internal_accounts.wait_for_balance(source, balance_left) == balance_left


@requirement("TRX-086")
def test_approving_a_completed_payout_of_the_platform_moves_nothing(platform: Platform) -> None:
    """The approval of a completed payout does not debit again, however it is answered."""
    source = platform.internal_accounts.account()
    opening, _ = platform.internal_accounts.balances(source)
    quote = platform.quotes.complete(platform.quotes.pending(source))
    # A debit that shows late would look like another debit.
    before = platform.internal_accounts.wait_for_balance(
        source, opening - quote["totalSendingAmount"]
    )

    platform.api.approve_transaction(quote["transactionId"])

    assert platform.internal_accounts.balances(source)[0] == before


@requirement("TRX-802")
def test_approving_a_payout_that_nobody_executed_moves_nothing(platform: Platform) -> None:
    """The approval of a pending quote's transaction, which no agent initiated, executes nothing."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    before, _ = platform.internal_accounts.balances(source)

    answer = platform.api.approve_transaction(quote["transactionId"])
    other = platform.quotes.complete(platform.quotes.pending(source))

    # A later payout has been debited by then.
    balance_left = before - other["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(source, balance_left) == balance_left, answer
    assert platform.transactions.of_quote(quote).get("status") not in SETTLING, answer


@requirement("TRX-845")
def test_approving_an_expired_payout_moves_nothing(platform: Platform) -> None:
    """The approval of the transaction of a quote that expired debits nothing; it is EXPIRED."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    platform.triggers.fire("quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"])
    status = platform.transactions.at_status(quote, "EXPIRED").get("status")
    if status != "EXPIRED":
        raise PreconditionFailed(f"the payment is {status} after its quote", breaks=["TRX-035"])
    before, _ = platform.internal_accounts.balances(source)

    answer = platform.api.approve_transaction(quote["transactionId"])
    other = platform.quotes.complete(platform.quotes.pending(source))

    # A later payout has been debited by then, and what was kept for the quote may be free again.
    balance_left = before - other["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(source, balance_left) >= balance_left, answer
    assert platform.transactions.of_quote(quote).get("status") == "EXPIRED", answer


@requirement("TRX-802", "TRX-046")
def test_an_approval_is_no_proof_of_the_customer(platform: Platform, check: Check) -> None:
    """The approval of a payment that waits for its customer's proof debits and executes nothing."""
    source = platform.sca.account()
    quote = platform.sca.challenged(source=source)
    before = platform.internal_accounts.balances(source)

    answer = platform.api.approve_transaction(quote["transactionId"])

    with check("TRX-046"):
        status = platform.transactions.of_quote(quote).get("status")
        assert status in ("PENDING", "PENDING_AUTHORIZATION"), answer
    with check("TRX-802"):
        expect_untouched(platform, source, before)


@requirement("TRX-817")
def test_approvals_never_overdraw(platform: Platform) -> None:
    """Of two approved payments that together exceed the balance, one is not executed."""
    source = platform.internal_accounts.account(amount=15_000)
    try:
        payments = [platform.agents.initiate(source) for _ in range(2)]
    except TriggerFailed as error:
        raise ResourceMissing(f"what is waiting is counted as spent: {error}") from error

    answers = [platform.api.approve_transaction(one["transactionId"]) for one in payments]

    if not answers[0].accepted:
        raise PreconditionFailed(f"the first approval is refused: {answers[0]}")
    statuses = [platform.transactions.of_quote(one).get("status") for one in payments]
    assert not set(statuses) <= set(SETTLING), f"both payments are {statuses}"
    assert platform.internal_accounts.balances(source)[0] >= 0


@pytest.mark.parametrize(
    "status",
    [
        case("TRX-818", "frozen", "FROZEN"),
        case("TRX-844", "closed", "CLOSED"),
    ],
)
def test_an_approval_pays_from_no_stopped_account(platform: Platform, status: str) -> None:
    """The approval of a payment from an account that was frozen or closed since pays nothing.

    The payment may be taken, and fail.
    """
    source = platform.internal_accounts.account()
    twin = platform.agents.initiate(platform.internal_accounts.account())
    payment = platform.agents.initiate(source)
    platform.internal_accounts.stop(source, status)

    answer = platform.api.approve_transaction(payment["transactionId"])

    expect_unpaid(platform, payment, answer, twin)


@requirement("TRX-062")
def test_an_approval_does_not_end_a_compliance_review(platform: Platform) -> None:
    """The approval of a payout under review, which no agent initiated, does not complete it."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.payout(source, trigger="payout.review")
    platform.until(
        lambda: platform.transactions.of_quote(quote),
        lambda transaction: bool(transaction.get("pendingReason")),
    )

    answer = platform.api.approve_transaction(quote["transactionId"])
    # A later payout has completed by then.
    platform.quotes.complete(platform.quotes.pending(source))

    assert platform.transactions.of_quote(quote).get("status") != "COMPLETED", answer
    platform.triggers.fire("payout.release", transactionId=quote["transactionId"])


@requirement("TRX-087", "TRX-088")
def test_a_transaction_that_does_not_exist_cannot_be_approved(
    platform: Platform, check: Check
) -> None:
    """The approval of an unknown transaction is refused with 404 and a code for it.

    The id of its quote is none of a transaction.
    """
    source = platform.internal_accounts.account()
    payment, other = (platform.agents.initiate(source) for _ in range(2))
    quote_id = platform.transactions.of_quote(other).get("quoteId")

    refusal = platform.api.approve_transaction(unknown_id(payment["transactionId"]))
    quote_refusal = platform.api.approve_transaction(quote_id) if quote_id else refusal

    approval = platform.api.approve_transaction(payment["transactionId"])
    with check("TRX-087"):
        refusal.refused(404, twin=approval)
        quote_refusal.refused(*NOT_FOUND, twin=approval)
    with check("TRX-088"):
        refusal.refused("TRANSACTION_NOT_FOUND", "NOT_FOUND", twin=approval)


def _expect_total(platform: Platform, source: Resource, expected: int) -> None:
    """Assert that the totalBalance of an account comes to be what is expected.

    What waits for an approval may be kept back, and is in the total.

    Raises:
        ResourceMissing: the account shows no total.
    """
    __tracebackhide__ = True
    require_member(platform.internal_accounts.read(source), "totalBalance")
    total = platform.until(
        lambda: platform.internal_accounts.balances(source)[1], lambda now: now == expected
    )
    assert total == expected, f"the totalBalance is {total}"


def _sent_amount(transaction: Json) -> int:
    """Return the sentAmount of a transaction in the smallest unit.

    Raises:
        ResourceMissing: the transaction shows no sentAmount.
    """
    sent_amount = transaction.get("sentAmount")
    if not isinstance(sent_amount, Mapping):
        raise ResourceMissing(f"the transaction names no sentAmount: {transaction}")
    amount: int = sent_amount["amount"]
    return amount


def _shown_fees(payment: Json) -> int:
    """Return the fees of an agent's payment in the smallest unit.

    Raises:
        ResourceMissing: its transaction does not show them.
    """
    if "feesIncluded" not in payment:
        raise ResourceMissing("no transaction shows what the payment of an agent costs")
    return included_fees(payment)
