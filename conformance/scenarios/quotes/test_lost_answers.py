"""The line breaks while a payment is asked for, and the client does what a careful one does.

Whether a request is carried out whose client is gone is open. Where the first bytes of an answer
have arrived, it has been decided; the client knows it from reading alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import partial

from conformance.exchange.cuts import Cut
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource
from conformance.scenarios.kit.lost_answers import at_each_cut, expect_one_debit, lose_answer
from conformance.scenarios.kit.marks import SETTLING
from conformance.verdict.decisions import PreconditionFailed

AMOUNT = 10_000
ROUNDING = 1
OPEN = ("PENDING", "PENDING_AUTHORIZATION", *SETTLING)


@at_each_cut("QUO-950")
def test_an_execution_that_is_repeated_debits_once(platform: Platform, cut: Cut) -> None:
    """The answer to an execution is lost; after it was sent again, the source is debited once."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    before, _ = platform.internal_accounts.balances(source)

    lose_answer(partial(platform.api.execute_quote, quote.id), cut)
    platform.api.execute_quote(quote.id)

    expect_one_debit(platform, source, quote, before)


@at_each_cut("QUO-951")
def test_an_execution_is_carried_out_as_a_whole(platform: Platform, cut: Cut) -> None:
    """What is read agrees: the transaction is PENDING and all is there, or both have moved."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    before, _ = platform.internal_accounts.balances(source)
    left = before - quote["totalSendingAmount"]

    lose_answer(partial(platform.api.execute_quote, quote.id), cut)
    if cut is not Cut.BEFORE_SENDING:
        # What is read at once may be from before the request was served.
        platform.until(
            lambda: platform.transactions.of_quote(quote).get("status"),
            lambda status: status in SETTLING,
            f"an execution whose line broke {cut}",
        )
    status, balance = platform.until(
        lambda: (
            platform.transactions.of_quote(quote).get("status"),
            platform.internal_accounts.balance(source),
        ),
        lambda seen: seen[1] == (left if seen[0] in SETTLING else before),
    )

    if status not in OPEN:
        raise PreconditionFailed(f"the payment came to {status}")
    assert balance == (left if status in SETTLING else before), (
        f"the transaction is {status}, and of {before} the source has {balance}"
    )
    done = "carried out" if status in SETTLING else "not carried out"
    platform.observe(f"an execution is {done} where the line breaks {cut}")


@at_each_cut("QUO-952")
def test_a_payment_within_one_request_is_made_once_or_not(platform: Platform, cut: Cut) -> None:
    """A quote with immediatelyExecute debits once and is listed once, or it does neither."""
    source = platform.internal_accounts.account()
    destination = platform.external_accounts.account(source.owner)
    before, _ = platform.internal_accounts.balances(source)
    known = {payment["id"] for payment in _payments_of(platform, source)}
    body = platform.quotes.body(source, destination, amount=AMOUNT, immediatelyExecute=True)

    lose_answer(partial(platform.api.create_quote, body), cut)
    payments, debited = platform.until(
        lambda: (
            [each for each in _payments_of(platform, source) if each["id"] not in known],
            before - platform.internal_accounts.balance(source),
        ),
        lambda seen: _is_told(*seen),
    )
    for payment in payments:
        _note(platform, payment, (source, destination))

    statuses = [str(payment.get("status")) for payment in payments]
    if any(status not in SETTLING for status in statuses):
        raise PreconditionFailed(f"the payment came to {' and '.join(statuses)}")
    # Where the list does not tell whose a transaction is, one may be missing from it.
    complete = platform.profile.bindings.transactions_of_customer is not None
    assert _is_told(payments, debited) or (not complete and _is_told([{}], debited)), (
        f"one payment of {AMOUNT} was asked for; {debited} was debited, and the list has "
        f"{len(payments)} of them ({', '.join(statuses)})"
    )
    done = "made" if payments else "not made"
    platform.observe(f"a payment within one request is {done} where the line breaks {cut}")


@at_each_cut("QUO-954")
def test_an_authorization_that_is_repeated_debits_once(platform: Platform, cut: Cut) -> None:
    """The answer to a proof is lost; after it was sent again, the source is debited once."""
    source = platform.sca.account()
    before, _ = platform.internal_accounts.balances(source)
    quote = platform.sca.challenged(source=source)
    proof = platform.sca.proof_for(quote)

    lose_answer(partial(platform.api.authorize_quote, quote.id, proof), cut)
    answer = platform.sca.send_proof(quote)
    if answer.accepted and answer.body.get("status") == "PENDING_AUTHORIZATION":
        platform.sca.authorize_fully({**quote, **answer.body})

    expect_one_debit(platform, source, quote, before)


def _payments_of(platform: Platform, source: Resource) -> Iterator[Json]:
    """Yield the transactions of the owner of an account that take money, or have taken it."""
    for transaction in platform.transactions.known_of_customer(source["customerId"]):
        is_payout = transaction.get("direction") != "CREDIT"
        if is_payout and transaction.get("status") not in ("PENDING", "EXPIRED"):
            yield transaction


def _is_told(payments: list[Json], debited: int) -> bool:
    """Return whether no payment and no debit were seen, or one of each."""
    return len(payments) <= 1 and abs(debited - AMOUNT * len(payments)) <= ROUNDING


def _note(platform: Platform, payment: Json, ends: tuple[Resource, Resource]) -> None:
    """Tell the ledger of a payment whose quote nobody has seen."""
    sent = payment.get("sentAmount")
    amount = sent.get("amount") if isinstance(sent, Mapping) else None
    moved = amount if isinstance(amount, int) else AMOUNT
    platform.ledger.note_transfer(f"lost {payment['id']}", payment["id"], ends, (moved, moved))
