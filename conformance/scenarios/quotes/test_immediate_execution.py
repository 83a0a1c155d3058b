"""Quotes with ``immediatelyExecute``: one request creates and executes them."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import arranged_body, arranged_resource
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.quotes.realtime import platform_funded_body


@requirement("QUO-120", "QUO-121", "QUO-122")
@pytest.mark.parametrize(
    ("within", "side"),
    [(True, "SENDING"), (True, "RECEIVING"), (False, "SENDING"), (False, "RECEIVING")],
    ids=["same-currency", "same-currency-receiving", "cross-currency", "cross-currency-receiving"],
)
def test_a_quote_can_be_executed_as_it_is_created(
    platform: Platform, check: Check, within: bool, side: str
) -> None:
    """The request answers 201, the quote is PROCESSING or COMPLETED, and its source is debited."""
    source, destination = platform.quotes.ends(platform.quotes.corridor(same_currency=within))
    amount = 10_007
    if side == "RECEIVING":
        # Some amount of the receiving currency that the source can pay for.
        amount = platform.quotes.pending(source, destination, amount=amount)["totalReceivingAmount"]
    before, _ = platform.internal_accounts.balances(source)

    answer = platform.api.create_quote(
        platform.quotes.body(source, destination, side=side, amount=amount, immediatelyExecute=True)
    )

    with check("QUO-121"):
        assert answer.status == 201, answer
    with check("QUO-120"):
        answer.expect_accepted()
        assert answer.body["status"] in SETTLING, answer
    with check("QUO-122"):
        answer.expect_accepted()
        balance_left = before - answer.body["totalSendingAmount"]
        assert platform.internal_accounts.wait_for_balance(source, balance_left) == balance_left


@requirement("QUO-075", "QUO-076", "QUO-120", "QUO-122")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_two_equal_quotes_are_both_executed_as_they_are_created(
    platform: Platform, check: Check, *, business: bool
) -> None:
    """Each of two requests with the same body makes a quote of its own, which is executed."""
    customer = platform.approved.of_type(business)
    source = platform.internal_accounts.account(customer=customer)
    body = platform.quotes.body(source, immediatelyExecute=True)
    before, _ = platform.internal_accounts.balances(source)

    first, second = (arranged_resource(platform.api.create_quote(body)) for _ in range(2))

    with check("QUO-075"):
        assert first["id"] != second["id"]
    with check("QUO-076"):
        assert first["transactionId"] != second["transactionId"]
    with check("QUO-120"):
        for quote in (first, second):
            assert quote["status"] in SETTLING, quote
    with check("QUO-122"):
        balance_left = before - first["totalSendingAmount"] - second["totalSendingAmount"]
        assert platform.internal_accounts.wait_for_balance(source, balance_left) == balance_left


@requirement("QUO-089", "QUO-123", "QUO-817", "TRX-037")
def test_a_quote_from_a_pullable_source_can_be_executed_as_it_is_created(
    platform: Platform, check: Check
) -> None:
    """A quote with immediatelyExecute from a pullable source needs no deposit before it.

    It is answered with 201, and what is pulled arrives.
    """
    customer = platform.approved.customer()
    source = {**platform.external_accounts.pullable(customer), "customerId": customer["id"]}
    destination = platform.internal_accounts.account(amount=0, customer=customer)
    before = platform.internal_accounts.balance(destination)

    answer = platform.api.create_quote(
        platform.quotes.body(source, destination, immediatelyExecute=True)
    )

    with check("QUO-123"):
        answer.expect_accepted()
        assert answer.body["status"] in SETTLING, answer
    with check("QUO-817"):
        arranged_body(answer)
        assert answer.status == 201, answer
    quote = arranged_body(answer)
    with check("TRX-037"):
        assert platform.transactions.at_status(quote, "COMPLETED").get("status") == "COMPLETED"
    with check("QUO-089"):
        expected = before + quote["totalReceivingAmount"]
        assert platform.internal_accounts.wait_for_balance(destination, expected) == expected


@requirement("QUO-831")
def test_a_text_that_says_false_executes_nothing(platform: Platform) -> None:
    """A quote whose immediatelyExecute is the text "false" is refused, or is not executed."""
    body = platform.quotes.body()

    answer = platform.api.create_quote({**body, "immediatelyExecute": "false"}, valid=False)

    if not answer.accepted:
        answer.refused(twin=platform.api.create_quote(body))
        return
    assert answer.body["status"] not in SETTLING, answer
    assert platform.transactions.of_quote(answer.body).get("status") not in SETTLING


@requirement("QUO-124", "QUO-835")
@pytest.mark.parametrize("payer", ["customer", "platform"])
def test_a_real_time_funded_quote_is_not_executed_as_it_is_created(
    platform: Platform, check: Check, payer: str
) -> None:
    """One with immediatelyExecute is not executed yet, and should be refused.

    The same request without it is accepted.
    """
    by_customer = payer == "customer"
    body = platform.quotes.realtime_body() if by_customer else platform_funded_body(platform)

    answer = platform.api.create_quote({**body, "immediatelyExecute": True})

    twin = platform.api.create_quote(body)
    with check("QUO-124"):
        if answer.accepted:
            assert answer.body["status"] not in SETTLING, answer
        else:
            answer.refused(twin=twin)
    with check("QUO-835"):
        answer.refused(twin=twin)
    platform.observe(
        f"immediatelyExecute of a real-time funded quote is answered with {answer.status}"
    )
