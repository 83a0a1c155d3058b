"""Money under concurrency: whatever comes at the same time, no account pays twice or too much."""

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
    """One of them wins; the others are refused or shown what it did."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    before, _ = platform.internal_accounts.balances(source)

    at_once(*[partial(platform.api.execute_quote, quote.id)] * AT_ONCE)

    left = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(source, left) == left


@requirement("QUO-095")
def test_executions_of_one_quote_at_the_same_time_make_one_transaction(
    platform: Platform,
) -> None:
    """It is the transaction that the quote named from the start."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)

    answers = at_once(*[partial(platform.api.execute_quote, quote.id)] * AT_ONCE)

    named = {answer.body["transactionId"] for answer in answers if answer.accepted}
    assert named == {quote["transactionId"]}
    listed = platform.until(
        lambda: [
            transaction["id"]
            for transaction in platform.transactions.of_customer(source["customerId"])
            if transaction["id"] in named or transaction.get("quoteId") == quote["id"]
        ],
        bool,
    )
    assert listed == [quote["transactionId"]]


@requirement("QUO-096")
def test_quotes_executed_at_the_same_time_never_overdraw(platform: Platform) -> None:
    """Each is covered by the balance; all together are not."""
    source = platform.internal_accounts.account(amount=25_000)
    destination = platform.external_accounts.account(source.owner)
    body = platform.quotes.body(source, destination)
    # What the balance cannot cover may be refused here already.
    created = [
        answer for _ in range(AT_ONCE) if (answer := platform.api.create_quote(body)).accepted
    ]

    answers = at_once(
        *[partial(platform.api.execute_quote, answer.body["id"]) for answer in created]
    )

    assert paid(answers) <= 25_000
    assert platform.internal_accounts.balances(source)[0] >= 0


@requirement("QUO-097")
def test_quotes_executed_as_they_are_created_never_overdraw(platform: Platform) -> None:
    """Creating and executing in one request checks the balance no less."""
    source = platform.internal_accounts.account(amount=25_000)
    destination = platform.external_accounts.account(source.owner)
    body = platform.quotes.body(source, destination, immediatelyExecute=True)

    answers = at_once(*[partial(platform.api.create_quote, body)] * AT_ONCE)

    assert paid(answers) <= 25_000
    assert platform.internal_accounts.balances(source)[0] >= 0


def paid(answers: list[Answer]) -> int:
    """Return the sum of what was debited; raises PreconditionFailed if all were refused."""
    settling = [a.body for a in answers if a.accepted and a.body["status"] in SETTLING]
    if not settling:
        raise PreconditionFailed(f"none of {len(answers)} requests was carried out: {answers[0]}")
    return sum(quote["totalSendingAmount"] for quote in settling)
