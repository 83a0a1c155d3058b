"""Requests at the same time: no account pays twice, or more than its balance."""

from __future__ import annotations

from functools import partial

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.waiting import at_once
from conformance.scenarios.kit.marks import SETTLING, requirement
from conformance.verdict.decisions import PreconditionFailed

AT_ONCE = 6


@requirement("QUO-094")
def test_executions_of_one_quote_at_the_same_time_debit_once(platform: Platform) -> None:
    """Six executions at the same time debit the source once, whatever they are answered."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    before, _ = platform.internal_accounts.balances(source)

    at_once(*[partial(platform.api.execute_quote, quote.id)] * AT_ONCE)

    balance_left = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(source, balance_left) == balance_left


@requirement("QUO-095")
def test_executions_of_one_quote_at_the_same_time_make_one_transaction(
    platform: Platform,
) -> None:
    """The customer's list has one transaction, the one that the quote named at its creation."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)

    answers = at_once(*[partial(platform.api.execute_quote, quote.id)] * AT_ONCE)

    transaction_ids = {answer.body["transactionId"] for answer in answers if answer.accepted}
    assert transaction_ids == {quote["transactionId"]}
    listed_ids = platform.until(
        lambda: [
            transaction["id"]
            for transaction in platform.transactions.of_customer(source["customerId"])
            if transaction["id"] in transaction_ids or transaction.get("quoteId") == quote["id"]
        ],
        bool,
    )
    assert listed_ids == [quote["transactionId"]]


@requirement("QUO-096")
def test_quotes_executed_at_the_same_time_never_overdraw(platform: Platform) -> None:
    """The balance covers each of six quotes, and not all; the executed ones do not exceed it."""
    source = platform.internal_accounts.account(amount=25_000)
    destination = platform.external_accounts.account(source.owner)
    body = platform.quotes.body(source, destination, amount=10_000)
    # What the balance cannot cover may be refused here already.
    creations = [
        answer for _ in range(AT_ONCE) if (answer := platform.api.create_quote(body)).accepted
    ]

    answers = at_once(
        *[partial(platform.api.execute_quote, answer.body["id"]) for answer in creations]
    )

    assert total_paid(answers) <= 25_000
    assert platform.internal_accounts.balances(source)[0] >= 0


@requirement("QUO-097")
def test_quotes_executed_as_they_are_created_never_overdraw(platform: Platform) -> None:
    """The balance covers each of six quotes with immediatelyExecute; the sum does not exceed it."""
    source = platform.internal_accounts.account(amount=25_000)
    destination = platform.external_accounts.account(source.owner)
    body = platform.quotes.body(source, destination, amount=10_000, immediatelyExecute=True)

    answers = at_once(*[partial(platform.api.create_quote, body)] * AT_ONCE)

    assert total_paid(answers) <= 25_000
    assert platform.internal_accounts.balances(source)[0] >= 0


def total_paid(answers: list[Answer]) -> int:
    """Return the sum of the sending amounts of the executed quotes in answers.

    Raises:
        PreconditionFailed: all requests were refused.
    """
    quotes = [
        answer.body for answer in answers if answer.accepted and answer.body["status"] in SETTLING
    ]
    if not quotes:
        raise PreconditionFailed(f"none of {len(answers)} requests was carried out: {answers[0]}")
    return sum(quote["totalSendingAmount"] for quote in quotes)
