"""Executing a quote: the statuses after PENDING, and the money that moves."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_resource
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.quotes.payments import (
    EXPIRED_CODES,
    TRANSFERRED,
    expect_uncovered,
    status_of,
)
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

ROUNDING = 1


@requirement("QUO-080", "QUO-083", "QUO-084", "QUO-085", "QUO-086", "TRX-021")
def test_executing_a_pending_quote_debits_its_source(platform: Platform, check: Check) -> None:
    """The executed quote is PROCESSING or COMPLETED, and its sending amount leaves the balance.

    A later quote between the same accounts, of another amount, still waits.
    """
    source = platform.internal_accounts.account()
    destination = platform.external_accounts.account(source.owner)
    quote = platform.quotes.pending(source, destination)
    later = platform.quotes.pending(source, destination, amount=7_000)
    before, _ = platform.internal_accounts.balances(source)

    answer = platform.api.execute_quote(quote["id"])
    balance_left = before - quote["totalSendingAmount"]

    with check("QUO-083"):
        answer.expect_accepted()
    with check("QUO-080"):
        assert status_of(answer) in SETTLING, answer
    with check("QUO-084"):
        assert answer.body["id"] == quote["id"], answer
    with check("QUO-085"):
        assert answer.body["transactionId"] == quote["transactionId"], answer
    with check("QUO-086"):
        assert platform.internal_accounts.wait_for_balance(source, balance_left) == balance_left
    with check("TRX-021"):
        assert platform.transactions.of_quote(later).get("status") == "PENDING"


@requirement("QUO-086")
def test_the_debit_does_not_wait_for_the_payout(platform: Platform) -> None:
    """The balance falls by the sending amount while the rail still holds the payout."""
    source = platform.internal_accounts.account()
    destination = platform.external_accounts.account(source.owner, trigger="payout.hold")
    quote = platform.quotes.pending(source, destination)
    before, _ = platform.internal_accounts.balances(source)

    platform.quotes.execute(quote)

    balance_left = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(source, balance_left) == balance_left


@requirement("QUO-081")
def test_executing_a_cross_currency_quote_starts_its_settlement(platform: Platform) -> None:
    """An executed cross-currency quote is PROCESSING or COMPLETED, without any other step."""
    corridor = platform.quotes.corridor(same_currency=False)
    source = platform.internal_accounts.account(corridor.sending)
    destination = platform.external_accounts.account(source.owner, corridor.account)
    quote = platform.quotes.pending(source, destination)

    answer = platform.api.execute_quote(quote["id"])

    assert status_of(answer) in SETTLING, answer


@requirement("QUO-081")
def test_what_a_locked_receiving_amount_costs_is_compared_with_the_balance(
    platform: Platform,
) -> None:
    """A source pays for more units than it holds where those of the other currency are cheaper."""
    for corridor in platform.profile.resources.corridors:
        if corridor.sending == corridor.receiving:
            continue
        source, destination = platform.quotes.ends(corridor)
        before, _ = platform.internal_accounts.balances(source)
        # Half of the balance: the price may have moved by the next quote.
        half = platform.api.create_quote(
            platform.quotes.body(source, destination, amount=before // 2)
        )
        if half.accepted and half.body["totalReceivingAmount"] > before:
            break
    else:
        raise ResourceMissing("no corridor receives twice as many units as are sent")
    quote = platform.quotes.pending(
        source, destination, side="RECEIVING", amount=half.body["totalReceivingAmount"]
    )

    answer = platform.api.execute_quote(quote["id"])

    answer.expect_accepted()
    assert status_of(answer) in SETTLING, answer


@requirement("QUO-082")
def test_executing_a_quote_from_a_pullable_source_starts_its_settlement(
    platform: Platform,
) -> None:
    """An executed quote from a pullable source is PROCESSING or COMPLETED, without a deposit."""
    customer = platform.approved.customer()
    destination = platform.internal_accounts.account(amount=0, customer=customer)
    quote = platform.quotes.pending(
        {**platform.external_accounts.pullable(customer), "customerId": customer["id"]}, destination
    )

    answer = platform.api.execute_quote(quote["id"])

    assert status_of(answer) in SETTLING, answer


@requirement("QUO-087", "QUO-088")
def test_a_completed_payout_took_the_sending_amount(platform: Platform, check: Check) -> None:
    """Balance and totalBalance fall by totalSendingAmount, which includes the fees."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    before, total_before = platform.internal_accounts.balances(source)

    platform.quotes.complete(quote)
    balance_left = before - quote["totalSendingAmount"]
    total_left = total_before - quote["totalSendingAmount"]

    with check("QUO-088"):
        assert platform.internal_accounts.wait_for_balance(source, balance_left) == balance_left
    with check("QUO-087"):
        assert total_balance_at(platform, source, total_left) == total_left


@pytest.mark.parametrize(
    ("side", "ids"),
    [
        case((*ids, "QUO-089", "QUO-090"), side.lower(), side, ids)
        for side, ids in (
            ("SENDING", ("QUO-044", "QUO-048")),
            ("RECEIVING", ("QUO-045", "QUO-049")),
        )
    ],
)
def test_a_completed_transfer_arrives_but_for_its_fees(
    platform: Platform, check: Check, side: str, ids: tuple[str, str]
) -> None:
    """The receiver gains totalReceivingAmount, and the sender loses that and the fees.

    Both accounts are internal accounts in one currency, so both balances can be read. The quote has
    the rate 1, and the amount that was locked on its side.
    """
    source, destination = (
        platform.internal_accounts.account(),
        platform.internal_accounts.account(amount=0),
    )
    quote = quote_between_customers(platform, source, destination, lockedCurrencySide=side)
    source_before, _ = platform.internal_accounts.balances(source)
    destination_before, _ = platform.internal_accounts.balances(destination)

    platform.quotes.complete(quote)
    source_after = platform.internal_accounts.wait_for_balance(
        source, source_before - quote["totalSendingAmount"]
    )
    destination_after = platform.internal_accounts.wait_for_balance(
        destination, destination_before + quote["totalReceivingAmount"]
    )
    loss, gain = source_before - source_after, destination_after - destination_before

    of_amount, of_rate = ids
    with check(of_amount):
        assert quote[f"total{side.capitalize()}Amount"] == TRANSFERRED, quote
    with check(of_rate):
        assert quote["exchangeRate"] == 1, quote
    with check("QUO-089"):
        assert gain == quote["totalReceivingAmount"]
    with check("QUO-090"):
        # The platform's own fees may be a part of feesIncluded or stand beside it.
        own_fee = quote.get("platformFeesIncluded") or 0
        sums = (quote["feesIncluded"], quote["feesIncluded"] + own_fee)
        difference = min(abs(loss - gain - fees) for fees in sums)
        assert difference <= ROUNDING, (
            f"the source lost {loss}, the destination gained {gain}, the fees are {sums[0]}"
        )


@requirement("QUO-092")
def test_executing_a_quote_twice_in_a_row_debits_once(platform: Platform) -> None:
    """A second execution, which a client sends if an answer is lost, does not debit again."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    before, _ = platform.internal_accounts.balances(source)
    platform.quotes.execute(quote)

    platform.api.execute_quote(quote["id"])

    balance_left = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(source, balance_left) == balance_left


@pytest.mark.parametrize(
    ("trigger", "statuses"),
    [
        case("QUO-092", "PROCESSING", "payout.hold", ("PROCESSING",)),
        case("QUO-093", "COMPLETED", None, ("COMPLETED",)),
        case("QUO-092", "FAILED", "refund.hold", FAILED),
    ],
)
def test_executing_a_quote_that_left_pending_debits_nothing(
    platform: Platform, trigger: str | None, statuses: tuple[str, ...]
) -> None:
    """Executing a PROCESSING, COMPLETED or failed quote does not debit, however it is answered."""
    source = platform.internal_accounts.account()
    destination = platform.external_accounts.account(source.owner, trigger=trigger)
    opening, _ = platform.internal_accounts.balances(source)
    quote = platform.quotes.execute(platform.quotes.pending(source, destination))
    status = arrange_status(platform, quote, statuses)
    # A debit that shows late would look like a second debit.
    before = platform.internal_accounts.wait_for_balance(
        source, opening - quote["totalSendingAmount"]
    )

    second = platform.api.execute_quote(quote["id"])

    assert platform.internal_accounts.balances(source)[0] >= before
    platform.observe(f"executing a quote at {status} again is answered with {second.status}")


@requirement("QUO-110")
def test_an_expired_quote_cannot_be_executed(platform: Platform) -> None:
    """An execution is refused with 400 and QUOTE_EXPIRED or QUOTE_RATE_UNAVAILABLE, twice so."""
    source = platform.internal_accounts.account()
    quote = create_expired_quote(platform, source)

    refusals = [platform.api.execute_quote(quote["id"]) for _ in range(2)]

    twin = platform.api.execute_quote(platform.quotes.pending(source)["id"])
    for refusal in refusals:
        refusal.refused(400, *EXPIRED_CODES, twin=twin)
    platform.observe(f"executing an expired quote is refused with {refusal.status} {refusal.code}")


@requirement("QUO-110", "QUO-111")
def test_an_expired_quote_between_currencies_cannot_be_executed(
    platform: Platform, check: Check
) -> None:
    """An execution is refused, and debits nothing, whichever side is locked.

    It does not bring the quote another rate either.
    """
    source, destination = platform.quotes.ends(platform.quotes.corridor(same_currency=False))
    sending = platform.quotes.pending(source, destination)
    receiving_body = platform.quotes.body(
        source, destination, side="RECEIVING", amount=sending["totalReceivingAmount"]
    )
    quotes = [sending, arranged_resource(platform.api.create_quote(receiving_body))]
    for quote in quotes:
        platform.triggers.fire("quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"])
    before, _ = platform.internal_accounts.balances(source)

    refusals = [platform.api.execute_quote(quote["id"]) for quote in quotes]
    balance_left, _ = platform.internal_accounts.balances(source)

    twin = arranged_resource(platform.api.create_quote(receiving_body))
    twin_answer = platform.api.execute_quote(twin["id"])
    with check("QUO-110"):
        for refusal in refusals:
            refusal.refused(400, *EXPIRED_CODES, twin=twin_answer)
    with check("QUO-111"):
        assert balance_left == before, refusals


@requirement("QUO-603", "QUO-604")
def test_a_new_quote_takes_the_place_of_an_expired_one(platform: Platform, check: Check) -> None:
    """The same request creates another quote after the first has expired, and it is executed."""
    source = platform.internal_accounts.account()
    body = platform.quotes.body(source)
    expired = arranged_resource(platform.api.create_quote(body))
    platform.triggers.fire("quote.expire", quoteId=expired["id"], expiresAt=expired["expiresAt"])

    creation = platform.api.create_quote(body)

    with check("QUO-603"):
        creation.expect_accepted()
    execution = platform.api.execute_quote(arranged_resource(creation)["id"])
    with check("QUO-604"):
        execution.expect_accepted()
        assert execution.body["status"] in SETTLING, execution


@requirement("QUO-111", "TRX-035")
def test_executing_an_expired_quote_debits_nothing(platform: Platform, check: Check) -> None:
    """The balance is the same before and after two executions of an expired quote.

    Its transaction is EXPIRED after the attempts too.
    """
    source = platform.internal_accounts.account()
    quote = create_expired_quote(platform, source)
    before, _ = platform.internal_accounts.balances(source)

    answers = [platform.api.execute_quote(quote["id"]) for _ in range(2)]

    with check("QUO-111"):
        assert platform.internal_accounts.balances(source)[0] == before, answers
    with check("TRX-035"):
        assert platform.transactions.at_status(quote, "EXPIRED").get("status") == "EXPIRED"


@requirement("QUO-112")
def test_a_quote_that_expires_costs_nothing(platform: Platform) -> None:
    """The balance is the same before a quote is created and after it has expired."""
    source = platform.internal_accounts.account()
    before, _ = platform.internal_accounts.balances(source)
    quote = create_expired_quote(platform, source)

    platform.transactions.at_status(quote, "EXPIRED")

    assert platform.internal_accounts.balances(source)[0] == before


@requirement("QUO-114")
def test_a_quote_whose_rate_is_refused_debits_nothing(platform: Platform) -> None:
    """An execution at a stale rate is refused, and the balance stays."""
    corridor = platform.quotes.corridor(same_currency=False)
    source = platform.internal_accounts.account(corridor.sending)
    destination = platform.external_accounts.account(source.owner, corridor.account)
    quote = platform.quotes.pending(source, destination)
    platform.triggers.fire("rate.stale", quoteId=quote["id"])
    before, _ = platform.internal_accounts.balances(source)

    refusal = platform.api.execute_quote(quote["id"])

    assert platform.internal_accounts.balances(source)[0] == before
    refusal.refused(
        twin=platform.api.execute_quote(platform.quotes.pending(source, destination)["id"])
    )


@requirement("QUO-100")
def test_the_whole_balance_can_be_sent(platform: Platform) -> None:
    """A quote of the whole balance is executed, because the sending amount includes the fees."""
    source = platform.internal_accounts.account(amount=20_000)

    *_, answer = platform.quotes.create_and_execute(platform.quotes.body(source, amount=20_000))

    assert status_of(answer) in SETTLING, answer


@requirement("QUO-098", "QUO-099")
def test_a_quote_above_the_balance_moves_no_money(platform: Platform, check: Check) -> None:
    """A quote of one smallest unit above the balance is not executed, and the balance stays.

    A second attempt does not execute it either, and its transaction is not under way.
    """
    source = platform.internal_accounts.account(amount=20_000)
    destination = platform.external_accounts.account(source.owner)
    before, _ = platform.internal_accounts.balances(source)

    *_, refusal = steps = platform.quotes.create_and_execute(
        platform.quotes.body(source, destination, amount=20_001)
    )
    again = [platform.api.execute_quote(step.body["id"]) for step in steps[:1] if step.accepted]
    begun = [platform.transactions.of_quote(step.body) for step in steps[:1] if step.accepted]
    balance_left, _ = platform.internal_accounts.balances(source)
    twin = platform.quotes.create_and_execute(
        platform.quotes.body(source, destination, amount=20_000)
    )

    with check("QUO-098"):
        if not refusal.accepted:
            refusal.refused(twin=twin[: len(steps)][-1])
        assert all(status_of(step) not in SETTLING for step in (*steps, *again)), refusal
        assert all(transaction["status"] not in SETTLING for transaction in begun), begun
    with check("QUO-099"):
        assert balance_left == before
    platform.observe(f"insufficient funds are refused by {refusal.operation.id}")


@requirement("ERR-001", "QUO-098", "QUO-099")
def test_another_customer_is_not_paid_from_nothing(platform: Platform, check: Check) -> None:
    """A quote of one smallest unit above the balance pays no internal account either."""
    source = platform.internal_accounts.account(amount=TRANSFERRED)
    body = platform.quotes.body(source, platform.internal_accounts.account(amount=0))

    expect_uncovered(platform, check, source, body)


@requirement("QUO-617")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_a_quote_waits_for_its_money(platform: Platform, *, business: bool) -> None:
    """A quote whose execution was refused for lack of money is executed once that is there."""
    customer = platform.approved.of_type(business)
    source = platform.internal_accounts.account(amount=20_000, customer=customer)
    *_, refusal = steps = platform.quotes.create_and_execute(
        platform.quotes.body(source, amount=20_001)
    )
    if len(steps) < 2 or refusal.code != "INSUFFICIENT_FUNDS":
        raise ResourceMissing(f"no execution was refused for lack of money: {refusal}")
    platform.internal_accounts.deposit(source, 20_000)

    answer = platform.api.execute_quote(steps[0].body["id"])

    if answer.code in EXPIRED_CODES:
        raise PreconditionFailed(f"the quote did not live until the deposit: {answer}")
    answer.expect_accepted()
    assert answer.body["status"] in SETTLING, answer


@pytest.mark.parametrize(
    ("at_once", "error_id"),
    [
        case(("QUO-098", "QUO-099", "ERR-001"), "executed", False, "ERR-001"),
        case(("QUO-098", "QUO-099", "ERR-002"), "immediate", True, "ERR-002"),
    ],
)
@pytest.mark.parametrize("within", [True, False], ids=["same-currency", "cross-currency"])
def test_what_arrives_has_to_be_paid_with_its_fees(
    platform: Platform, check: Check, within: bool, at_once: bool, error_id: str
) -> None:
    """A locked receiving amount that costs more than the balance is refused, and moves nothing.

    Within one currency the amount itself is below the balance where there are fees.
    """
    source, destination = platform.quotes.ends(
        platform.quotes.corridor(same_currency=within), amount=20_000
    )
    before, _ = platform.internal_accounts.balances(source)
    affordable = platform.quotes.pending(source, destination, amount=before)["totalReceivingAmount"]
    # Roundings are below ten smallest units, and a rate does not move by a fiftieth in between.
    above = affordable + (10 if within else max(10, affordable // 50))

    def send(amount: int) -> list[Answer]:
        body = platform.quotes.body(source, destination, side="RECEIVING", amount=amount)
        if at_once:
            return [platform.api.create_quote({**body, "immediatelyExecute": True})]
        return platform.quotes.create_and_execute(body)

    *_, refusal = steps = send(above)
    balance_left, _ = platform.internal_accounts.balances(source)
    twin = send(affordable // 2)[: len(steps)][-1]

    if steps[0].accepted and steps[0].body["totalSendingAmount"] <= before:
        raise ResourceMissing(f"the balance of {before} covers it: {steps[0]}")
    with check("QUO-098"):
        if not refusal.accepted:
            refusal.refused(twin=twin)
        assert all(status_of(step) not in SETTLING for step in steps), refusal
    with check("QUO-099"):
        assert balance_left == before
    with check(error_id):
        refusal.refused(400, "INSUFFICIENT_FUNDS", twin=twin)


def total_balance_at(platform: Platform, account: Resource, expected: int) -> int:
    """Return the totalBalance of an account once it is ``expected``, or as it is at the end.

    Raises:
        ResourceMissing: the account shows no totalBalance.
    """
    for listed_account in platform.internal_accounts.of_customer(account.owner):
        if listed_account["id"] == account["id"] and listed_account.get("totalBalance"):
            return platform.until(
                lambda: platform.internal_accounts.balances(account)[1],
                lambda total: total == expected,
            )
    raise ResourceMissing("internal accounts are shown without totalBalance")


def create_expired_quote(platform: Platform, source: Resource) -> Resource:
    """Create a quote and let it expire, by the trigger ``quote.expire``."""
    quote = platform.quotes.pending(source)
    platform.triggers.fire("quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"])
    return quote


def arrange_status(platform: Platform, quote: Json, statuses: tuple[str, ...]) -> str:
    """Wait until the transaction of a quote has one of some statuses, and return the status.

    Raises:
        PreconditionFailed: the transaction has another status at the end.
    """
    status = platform.transactions.at_status(quote, *statuses).get("status")
    if status not in statuses:
        raise PreconditionFailed(f"the transaction came to {status} instead of {statuses[0]}")
    return str(status)


def quote_between_customers(
    platform: Platform, source: Resource, destination: Resource, **members: Any
) -> Json:
    """Create a quote between internal accounts of two customers.

    Raises:
        ResourceMissing: the target refuses such quotes.
    """
    body = platform.quotes.body(source, destination, amount=TRANSFERRED, **members)
    answer = platform.api.create_quote(body)
    if not answer.accepted:
        raise ResourceMissing(f"the target does not transfer between customers: {answer}")
    quote: Json = answer.body
    return quote
