"""Webhooks: their envelope, the causes of them, and what causes none."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from conformance.exchange.clock import now
from conformance.exchange.cuts import Cut
from conformance.exchange.delivery import Delivery
from conformance.platform.given.transactions import FAILED, included_fees
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, arranged_body, arranged_resource
from conformance.scenarios.kit.lost_answers import at_each_cut, lose_answer
from conformance.scenarios.kit.marks import SETTLING, Check, requirement
from conformance.scenarios.kit.notation import arrange_moment
from conformance.scenarios.quotes.kinds import Kind, create_payer, create_quote, pay, quote_body
from conformance.scenarios.webhooks.reports import (
    BALANCE,
    COMPLETED,
    FAILURE,
    PROCESSING,
    REFUND_COMPLETED,
    REFUND_FAILED,
    REFUND_PENDING,
    arrange_event,
    balance_in,
    event_ids,
    event_types,
    expect_event,
    expect_processing,
    expect_refund_reported,
)
from conformance.verdict.decisions import PreconditionFailed

MAX_CLOCK_DIFFERENCE = timedelta(minutes=5)
"""How much the clocks of the suite and of the target may differ."""

REFUNDS = (REFUND_PENDING, REFUND_COMPLETED, REFUND_FAILED)


# --- The envelope ---------------------------------------------------------------------------


@requirement("EVT-001", "EVT-002", "EVT-003", "EVT-004", "EVT-007", "EVT-009", "EVT-020", "EVT-021")
def test_a_webhook_is_an_envelope_around_a_resource(platform: Platform, check: Check) -> None:
    """All webhooks that name a payout have id, type, timestamp and the transaction as data.

    The judge checks the form of these members when a webhook arrives.
    """
    quote = platform.quotes.complete()

    events = platform.webhooks.mentioning(quote["transactionId"], quote["id"])

    if not events:
        raise PreconditionFailed(f"no webhook came that names {quote['transactionId']}")
    with check("EVT-007"):
        assert all(isinstance(event.body, Mapping) for event in events)
    for requirement_id, member in {
        "EVT-001": "id",
        "EVT-002": "type",
        "EVT-003": "timestamp",
    }.items():
        with check(requirement_id):
            assert all(isinstance(_member(event.body, member), str) for event in events)
    with check("EVT-004"):
        assert all(isinstance(event.data, Mapping) for event in events)
    with check("EVT-009"):
        for event in events:
            timestamp = arrange_moment(event.body, "timestamp")
            assert abs(timestamp - now()) < MAX_CLOCK_DIFFERENCE, event.body
    payments = [event.data for event in events if str(event.type).startswith("OUTGOING_PAYMENT.")]
    if not payments:
        raise PreconditionFailed(f"no OUTGOING_PAYMENT webhook names {quote['transactionId']}")
    with check("EVT-021"):
        assert {_member(data, "id") for data in payments} == {quote["transactionId"]}
    with check("EVT-020"):
        for data in payments:
            assert str(_member(data, "id")).startswith("Transaction:"), data
            assert isinstance(data.get("status"), str), data
            assert isinstance(data.get("type"), str), data


@requirement("EVT-005")
def test_different_happenings_have_different_ids(platform: Platform) -> None:
    """The webhooks of two deposits and of two payouts all have different ids."""
    source = platform.internal_accounts.account(amount=0)
    event_ids = [_make_reported_deposit(platform, source, amount).id for amount in (40_000, 50_000)]
    for _ in range(2):
        name = _make_reported_payout(platform, source)["transactionId"]
        event_ids += {event.type: event.id for event in platform.webhooks.about(name)}.values()

    assert len(set(event_ids)) == len(event_ids)


@requirement("EVT-006")
def test_a_transition_has_one_id(platform: Platform) -> None:
    """All PROCESSING webhooks of a payout have one id, and so do all COMPLETED webhooks."""
    source = platform.internal_accounts.account()
    name = _make_reported_payout(platform, source)["transactionId"]

    _make_reported_payout(platform, source)

    for kind in (PROCESSING, COMPLETED):
        event_ids = {event.id for event in platform.webhooks.about(name) if event.type == kind}
        assert len(event_ids) <= 1, f"{kind} was reported under {sorted(map(str, event_ids))}"


# --- What is reported -----------------------------------------------------------------------


@requirement("EVT-010", "EVT-011", "EVT-022", "EVT-034", "EVT-035")
def test_a_payout_that_arrives_is_reported(platform: Platform, check: Check) -> None:
    """A payout is reported as PROCESSING and COMPLETED, and neither as failed nor as refunded."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.execute(platform.quotes.pending(source))
    name = quote["transactionId"]

    completed = platform.webhooks.wait_for(COMPLETED, name)

    with check("EVT-011"):
        assert completed is not None, f"no {COMPLETED} for {name}"
    with check("EVT-010"):
        expect_processing(platform, quote, quote["status"])
    _make_reported_payout(platform, source)
    with check("EVT-022"):
        assert arrange_event(platform, COMPLETED, name).data.get("status") == "COMPLETED"
    with check("EVT-034"):
        assert FAILURE not in event_types(platform, name)
    with check("EVT-035"):
        assert not event_types(platform, name).intersection(REFUNDS)


@at_each_cut("EVT-350")
def test_a_payout_whose_execution_nobody_heard_of_is_reported(platform: Platform, cut: Cut) -> None:
    """An execution whose answer was lost is reported as PROCESSING, if it was carried out."""
    source = platform.internal_accounts.account()
    destination = platform.external_accounts.account(source.owner, trigger="payout.hold")
    quote = platform.quotes.pending(source, destination)
    name = quote["transactionId"]

    lose_answer(partial(platform.api.execute_quote, quote.id), cut)

    unheard = cut is Cut.BEFORE_SENDING
    if (
        unheard
        or platform.transactions.at_status(quote, "PROCESSING").get("status") != "PROCESSING"
    ):
        # Without an execution there is nothing to report.
        platform.quotes.execute(quote)
    expect_event(platform, PROCESSING, name)


@requirement(
    "EVT-012",
    "EVT-013",
    "EVT-014",
    "EVT-023",
    "EVT-024",
    "EVT-025",
    "EVT-026",
    "EVT-033",
    "EVT-039",
)
def test_a_payout_that_fails_is_reported_with_its_refund(platform: Platform, check: Check) -> None:
    """A payout is reported as FAILED, REFUND_PENDING and REFUND_COMPLETED, never as COMPLETED."""
    source = platform.internal_accounts.account()
    name = platform.quotes.payout(source, trigger="payout.screen")["transactionId"]

    for requirement_id, kind in {
        "EVT-012": FAILURE,
        "EVT-013": REFUND_PENDING,
        "EVT-014": REFUND_COMPLETED,
    }.items():
        with check(requirement_id):
            expect_event(platform, kind, name)
    _make_reported_payout(platform, source)

    with check("EVT-023"):
        assert arrange_event(platform, FAILURE, name).data.get("status") in FAILED
    with check("EVT-024"):
        assert arrange_event(platform, FAILURE, name).data.get("failureReason")
    with check("EVT-025"):
        assert isinstance(arrange_event(platform, REFUND_PENDING, name).data.get("refund"), Mapping)
    with check("EVT-026"):
        assert isinstance(
            arrange_event(platform, REFUND_COMPLETED, name).data.get("refund"), Mapping
        )
    with check("EVT-033"):
        assert COMPLETED not in event_types(platform, name)
    with check("EVT-039"):
        assert REFUND_FAILED not in event_types(platform, name)


@requirement("EVT-015", "EVT-027", "EVT-037")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_a_refund_that_cannot_be_delivered_is_reported(
    platform: Platform, check: Check, *, business: bool
) -> None:
    """A refund is reported as REFUND_FAILED, and not as REFUND_COMPLETED."""
    customer = platform.approved.of_type(business)
    source = platform.internal_accounts.account(customer=customer)
    name = platform.quotes.payout(source, trigger="refund.fail")["transactionId"]

    failed = platform.webhooks.wait_for(REFUND_FAILED, name)

    with check("EVT-015"):
        assert failed is not None, f"no {REFUND_FAILED} for {name}"
    _make_reported_payout(platform, source)
    with check("EVT-027"):
        assert isinstance(arrange_event(platform, REFUND_FAILED, name).data.get("refund"), Mapping)
    with check("EVT-037"):
        assert REFUND_COMPLETED not in event_types(platform, name)


@requirement("EVT-015")
@pytest.mark.parametrize("kind", ["immediate", "authorized", "platform"])
def test_a_refund_of_each_kind_of_payment_that_cannot_be_delivered_is_reported(
    platform: Platform, kind: Kind
) -> None:
    """A refund is reported as REFUND_FAILED, whatever executed the payment."""
    quote = create_quote(platform, kind, trigger="refund.fail")

    pay(platform, kind, quote)

    expect_event(platform, REFUND_FAILED, quote["transactionId"])


@requirement("EVT-016", "EVT-010")
def test_a_payout_executed_at_the_creation_of_its_quote_is_reported(
    platform: Platform, check: Check
) -> None:
    """The payout of a quote with immediatelyExecute is reported as PROCESSING and COMPLETED."""
    quote = platform.quotes.pending(immediatelyExecute=True)

    with check("EVT-016"):
        _expect_completion(platform, quote)
    with check("EVT-010"):
        expect_processing(platform, quote, quote["status"])


@requirement("EVT-017", "EVT-010")
def test_an_authorized_payout_is_reported(platform: Platform, check: Check) -> None:
    """The payout of an SCA customer is reported as PROCESSING and COMPLETED once it is authorized.

    The webhooks come after the proof.
    """
    quote = platform.sca.challenged()

    authorized = platform.sca.authorize(quote)

    with check("EVT-017"):
        _expect_completion(platform, quote)
    with check("EVT-010"):
        expect_processing(platform, quote, authorized["status"])


@requirement("EVT-010")
def test_a_payout_to_a_trusted_beneficiary_is_reported(platform: Platform) -> None:
    """It is reported as PROCESSING, whether a proof is asked for or not."""
    customer = platform.approved.sca_customer()
    source = platform.internal_accounts.account(customer=customer)
    account = platform.external_accounts.activate(platform.trust.trusted(customer))
    quote = platform.quotes.pending(source, account)

    executed = platform.quotes.execute(quote)
    if executed["status"] == "PENDING_AUTHORIZATION":
        executed = platform.sca.authorize(executed)

    expect_processing(platform, quote, executed["status"])


@requirement("EVT-010", "EVT-011")
@pytest.mark.parametrize("kind", ["business", "pulled", "platform"])
def test_a_payout_of_a_kind_is_reported(platform: Platform, check: Check, kind: Kind) -> None:
    """The payout of a business, one that pulls its money and one of the platform are reported.

    They are PROCESSING and then COMPLETED.
    """
    quote = platform.quotes.execute(create_quote(platform, kind))

    with check("EVT-011"):
        _expect_completion(platform, quote)
    with check("EVT-010"):
        expect_processing(platform, quote, quote["status"])


@requirement("EVT-010", "EVT-011", "EVT-022")
def test_a_payout_that_was_approved_is_reported(platform: Platform, check: Check) -> None:
    """The payout of an agent is reported as PROCESSING and COMPLETED once it is approved."""
    payment = platform.agents.initiate(platform.internal_accounts.account())

    approval = arranged_body(platform.api.approve_transaction(payment["transactionId"]))

    with check("EVT-011"):
        _expect_completion(platform, payment)
    with check("EVT-022"):
        completed = arrange_event(platform, COMPLETED, payment["transactionId"])
        assert completed.data.get("status") == "COMPLETED", completed.data
    with check("EVT-010"):
        expect_processing(platform, payment, str(_member(approval, "status")))


@requirement("EVT-018", "EVT-010")
def test_a_payout_that_is_funded_just_in_time_is_reported(platform: Platform, check: Check) -> None:
    """A payment to the instructions of a quote is followed by PROCESSING and COMPLETED."""
    customer = platform.approved.customer()
    quote = platform.quotes.realtime(customer)

    platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=customer["id"])

    transaction = platform.transactions.at_status(quote, "PROCESSING", "COMPLETED")
    with check("EVT-018"):
        _expect_completion(platform, quote)
    with check("EVT-010"):
        if transaction["status"] not in SETTLING:
            raise PreconditionFailed(f"the payment leaves the transaction {transaction['status']}")
        expect_processing(platform, quote, transaction["status"])


# --- What is not reported -------------------------------------------------------------------


@requirement("EVT-030")
def test_a_quote_that_is_not_executed_is_not_reported(platform: Platform) -> None:
    """A pending quote is not reported as PROCESSING, COMPLETED or FAILED."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)

    _make_reported_payout(platform, source)

    types = event_types(platform, quote["transactionId"])
    assert not types.intersection((PROCESSING, COMPLETED, FAILURE))


@requirement("EVT-031")
def test_a_quote_that_expires_is_not_reported_as_paid(platform: Platform) -> None:
    """An expired quote is not reported as PROCESSING or COMPLETED, even after an execution."""
    source = platform.internal_accounts.account()
    quote = platform.quotes.pending(source)
    platform.triggers.fire("quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"])
    platform.api.execute_quote(quote["id"])
    platform.transactions.at_status(quote, "EXPIRED")

    _make_reported_payout(platform, source)

    types = event_types(platform, quote["transactionId"]).intersection((PROCESSING, COMPLETED))
    assert not types, f"the expired quote was reported by {' and '.join(sorted(map(str, types)))}"


@requirement("EVT-032")
def test_a_quote_that_waits_for_its_authorization_is_not_reported_as_paid(
    platform: Platform,
) -> None:
    """A quote that waits for a proof is not reported as PROCESSING or COMPLETED."""
    quote = platform.sca.challenged()

    _make_reported_payout(platform, platform.internal_accounts.account())

    assert not event_types(platform, quote["transactionId"]).intersection((PROCESSING, COMPLETED))


@requirement("EVT-036")
def test_a_payout_that_the_rail_holds_is_not_reported_as_arrived(platform: Platform) -> None:
    """A held payout is reported as COMPLETED only once the rail settles it."""
    source = platform.internal_accounts.account()
    name = platform.quotes.payout(source, trigger="payout.hold")["transactionId"]
    _make_reported_payout(platform, source)

    assert COMPLETED not in event_types(platform, name)

    platform.triggers.fire("payout.release", transactionId=name)
    arrange_event(platform, COMPLETED, name)


@requirement("EVT-038")
def test_a_refund_that_is_held_is_reported_as_pending_alone(platform: Platform) -> None:
    """A held refund is reported as REFUND_COMPLETED only once it is released."""
    source = platform.internal_accounts.account()
    name = platform.quotes.payout(source, trigger="refund.hold")["transactionId"]
    arrange_event(platform, REFUND_PENDING, name)
    later = platform.quotes.payout(source, trigger="payout.screen")["transactionId"]
    arrange_event(platform, REFUND_COMPLETED, later)

    assert not event_types(platform, name).intersection((REFUND_COMPLETED, REFUND_FAILED))

    platform.triggers.fire("refund.release", transactionId=name)
    arrange_event(platform, REFUND_COMPLETED, name)


# --- Balances -------------------------------------------------------------------------------


@requirement("EVT-050", "EVT-052", "EVT-053", "EVT-054")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_a_deposit_is_reported_with_the_new_balance(
    platform: Platform, check: Check, *, business: bool
) -> None:
    """A webhook about the account of a deposit shows its balance after the deposit."""
    customer = platform.approved.of_type(business)
    source = platform.internal_accounts.account(amount=0, customer=customer)
    after = platform.internal_accounts.balances(source)[0] + 40_000
    known_ids = {event.id for event in platform.webhooks.about(source["id"])}

    platform.internal_accounts.deposit(source, 40_000)

    first_report = platform.webhooks.wait_for(
        BALANCE, source["id"], where=lambda event: event.id not in known_ids
    )
    with check("EVT-050"):
        assert first_report is not None, f"no {BALANCE} for {source['id']}"
    with check("EVT-054"):
        balance_report = platform.webhooks.wait_for(
            BALANCE, source["id"], where=lambda event: balance_in(event) == after
        )
        assert balance_report is not None, f"no {BALANCE} for {source['id']} shows {after}"
    reports = [
        event
        for event in platform.webhooks.mentioning(source["id"], source["customerId"])
        if event.type == BALANCE and balance_in(event) == after
    ]
    if not reports:
        raise PreconditionFailed(f"no {BALANCE} names {source['id']} and shows {after}")
    with check("EVT-052"):
        for event in reports:
            assert isinstance(event.data.get("type"), str), event.data
            assert isinstance(event.data.get("status"), str), event.data
    with check("EVT-053"):
        assert {_member(event.data, "id") for event in reports} == {source["id"]}


@requirement("EVT-051")
def test_the_debit_of_an_execution_is_reported(platform: Platform) -> None:
    """A webhook about the source of a payout comes beside that of its deposit."""
    source = platform.internal_accounts.account(amount=0)
    deposit_report = _make_reported_deposit(platform, source, 40_000)

    platform.quotes.payout(source)

    debit_report = platform.webhooks.wait_for(
        BALANCE, source["id"], where=lambda event: event.id != deposit_report.id
    )
    assert debit_report is not None, f"no {BALANCE} for {source['id']} after its deposit"


@requirement("EVT-051")
def test_the_debit_of_the_platform_is_reported(platform: Platform) -> None:
    """A webhook about the platform's account comes beside those that went before."""
    quote = create_quote(platform, "platform")
    source = quote["source"]["accountId"]
    arrange_event(platform, BALANCE, source)
    known_ids = event_ids(platform, BALANCE, source)

    platform.quotes.execute(quote)

    report = platform.webhooks.wait_for(
        BALANCE, source, where=lambda event: event.id not in known_ids
    )
    assert report is not None, f"no {BALANCE} for {source} after those of deposits"


@requirement("EVT-055")
def test_the_refund_of_a_payout_is_reported_with_its_account(platform: Platform) -> None:
    """A new webhook shows the balance before the payout, less its fees at most."""
    source = platform.internal_accounts.account(amount=0)
    deposit_report = _make_reported_deposit(platform, source, 40_000)

    quote = platform.quotes.payout(source, trigger="payout.screen")

    _expect_refund_reported(platform, quote, source, deposit_report)


@requirement("EVT-055")
@pytest.mark.parametrize("kind", ["business", "immediate", "authorized"])
def test_the_refund_of_a_payment_of_each_kind_is_reported(platform: Platform, kind: Kind) -> None:
    """A new webhook shows the balance before the payment, whose it was and what executed it."""
    customer = create_payer(platform, kind)
    destination = platform.external_accounts.account(customer, trigger="payout.screen")
    source = platform.internal_accounts.account(amount=0, customer=customer)
    deposit_report = _make_reported_deposit(platform, source, 40_000)
    body = quote_body(platform, kind, customer, destination, account=source)
    quote = arranged_resource(platform.api.create_quote(body), customer)

    pay(platform, kind, quote)

    _expect_refund_reported(platform, quote, source, deposit_report)


def _expect_refund_reported(
    platform: Platform, quote: Resource, source: Resource, deposit_report: Delivery
) -> None:
    """Assert that a webhook beside that of the deposit shows the balance with the refund."""
    __tracebackhide__ = True
    platform.transactions.refunded(quote)
    before: int = balance_in(deposit_report)
    restored = range(before - included_fees(quote), before + 1)
    expect_refund_reported(platform, source, restored, {deposit_report.id})


def _make_reported_payout(platform: Platform, source: Resource) -> Resource:
    """Make a payout and wait for its COMPLETED webhook; earlier webhooks have arrived by then."""
    quote = platform.quotes.payout(source)
    arrange_event(platform, COMPLETED, quote["transactionId"])
    return quote


def _make_reported_deposit(platform: Platform, account: Resource, amount: int) -> Delivery:
    """Make a deposit, and return the webhook that shows the balance after it.

    Raises:
        PreconditionFailed: no webhook shows the balance.
    """
    after = platform.internal_accounts.balances(account)[0] + amount
    platform.internal_accounts.deposit(account, amount)
    report = platform.webhooks.wait_for(
        BALANCE, account["id"], where=lambda event: balance_in(event) == after
    )
    if report is None:
        raise PreconditionFailed(f"no {BALANCE} came for {account['id']} that shows {after}")
    return report


def _expect_completion(platform: Platform, quote: Resource) -> None:
    """Assert that the payout of a quote is reported as COMPLETED."""
    __tracebackhide__ = True
    name = quote["transactionId"]
    expect_event(platform, COMPLETED, name)


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, Mapping) else None
