"""What holds of every transaction, for quotes that no call executes from a funded account."""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import timedelta

import pytest

from conformance.platform.given.transactions import FAILED, included_fees
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, arranged_resource, require_member
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.challenges import expire
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import moment
from conformance.scenarios.kit.shapes import expect_members
from conformance.scenarios.quotes.kinds import (
    MEASUREMENTS,
    Kind,
    create_payer,
    create_quote,
    create_quote_alone,
    pay,
    quote_body,
)
from conformance.scenarios.transactions.records import DESCRIBED, expect_settled_by_now
from conformance.scenarios.webhooks.reports import (
    BALANCE,
    PROCESSING,
    event_ids,
    expect_refund_reported,
)
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

AMOUNTS = {
    "sentAmount": ("totalSendingAmount", "sendingCurrency", "TRX-028", "TRX-029"),
    "receivedAmount": ("totalReceivingAmount", "receivingCurrency", "TRX-030", "TRX-031"),
}
"""The amounts of a transaction: amount and currency of its quote, and their requirements."""


PAYOUTS = ("business", "immediate", "authorized")
"""The kinds of payments that an internal account of a customer sends out."""

PAYOUT = ("TRX-033", "TRX-812")
"""What holds of payments that an internal account sends out."""

WAITING = ("TRX-021", "TRX-842")
"""What holds of payments that wait for their execution: the status, and that none has settled."""

ENDED = {"TRX-017": "failureReason", "TRX-057": "refund", "TRX-605": "pendingReason"}
"""What a completed transaction does not show, by its requirement."""

OF_ALL_PAYOUTS = (
    *("direction", "sentAmount", "receivedAmount", "exchangeRate"),
    *("createdAt", "settledAt"),
)
"""Members that a completed payout shows by itself, whatever was sent for it."""


@requirement("TRX-022", "TRX-026", "TRX-028", "TRX-029", "TRX-030", "TRX-031", "TRX-032", "TRX-034")
@requirement("TRX-606", "TRX-815", "TRX-830", "TRX-986", *ENDED, *DESCRIBED)
@pytest.mark.parametrize(
    "kind",
    [
        case((*PAYOUT, *WAITING), "business", "business"),
        case(PAYOUT, "immediate", "immediate"),
        case((*PAYOUT, *WAITING), "authorized", "authorized"),
        case((*PAYOUT, *WAITING), "platform", "platform"),
        case(WAITING, "pulled", "pulled"),
        case(WAITING, "real-time", "real-time"),
    ],
)
@pytest.mark.parametrize("side", ["SENDING", "RECEIVING"])
def test_a_payment_of_each_kind_has_the_terms_of_its_quote(
    platform: Platform, check: Check, kind: Kind, side: str
) -> None:
    """A completed transaction has its quote's id, description, amounts, currencies and rate.

    It shows all of them, was created when it was created before, and shows nothing that is over or
    never was.
    """
    quote = create_quote(platform, kind, lockedCurrencySide=side, description="Invoice 2212")
    created = platform.transactions.of_quote(quote)
    pay(platform, kind, quote)

    transaction = platform.transactions.at_status(quote, "COMPLETED")

    if transaction.get("status") != "COMPLETED":
        raise PreconditionFailed(f"the payment is {transaction.get('status')}")
    if kind != "immediate":
        with check("TRX-021"):
            assert created.get("status") == "PENDING", created
        with check("TRX-842"):
            assert not created.get("settledAt"), created
    with check("TRX-022"):
        for seen in (created, transaction):
            assert require_member(seen, "quoteId") == quote["id"], seen
    with check("TRX-026"):
        assert transaction.get("settledAt"), transaction
    for member, (amount, currency, amount_id, currency_id) in AMOUNTS.items():
        with check(amount_id):
            assert require_member(transaction, member)["amount"] == quote[amount], transaction
        with check(currency_id):
            code = require_member(transaction, member)["currency"]["code"]
            assert code == quote[currency]["code"], transaction
    with check("TRX-032"):
        rate = require_member(transaction, "exchangeRate")
        assert math.isclose(rate, quote["exchangeRate"], rel_tol=1e-6), transaction
    with check("TRX-034"):
        assert require_member(transaction, "description") == "Invoice 2212"
    with check("TRX-830"):
        assert transaction.get("description") == require_member(created, "description")
    with check("TRX-815"):
        created_at = moment(require_member(created, "createdAt"))
        assert moment(require_member(transaction, "createdAt")) == created_at
    with check("TRX-606"):
        expect_settled_by_now(transaction)
    with check("TRX-986"):
        expect_settled_once(transaction, platform.transactions.of_quote(quote))
    for requirement_id, member in ENDED.items():
        with check(requirement_id):
            assert not transaction.get(member), transaction
    expect_members(check, transaction, DESCRIBED)
    if kind in (*PAYOUTS, "platform"):
        with check("TRX-033"):
            assert require_member(transaction, "direction") == "DEBIT"
        with check("TRX-812"):
            assert transaction.get("type") == "OUTGOING", transaction


def expect_settled_once(first: Json, second: Json) -> None:
    """Assert that two readings of a transaction at COMPLETED show one settledAt.

    Raises:
        PreconditionFailed: the second one shows another status.
        ResourceMissing: one shows no settledAt.
    """
    __tracebackhide__ = True
    if second.get("status") != first.get("status"):
        raise PreconditionFailed(f"the payment is {second.get('status')} when it is read again")
    one, other = (str(require_member(reading, "settledAt")) for reading in (first, second))
    # Parts of a second may be cut where the moment is kept.
    is_cut = len(one) != len(other) and abs(moment(one) - moment(other)) < timedelta(seconds=1)
    assert one == other or is_cut, f"it settled at {one}, and then at {other}"


@requirement("TRX-852", "TRX-853")
def test_an_immediate_payment_is_shown_as_others_are(platform: Platform, check: Check) -> None:
    """What the transaction of an executed quote shows, its quoteId too, an immediate one's does."""
    executed, immediate = platform.quotes.pending(), create_quote(platform, "immediate")
    platform.quotes.execute(executed)

    usual, at_once = (
        platform.transactions.at_status(quote, "COMPLETED") for quote in (executed, immediate)
    )

    with check("TRX-852"):
        require_member(usual, "quoteId")
        assert at_once.get("quoteId") == immediate["id"], at_once
    with check("TRX-853"):
        if usual.get("status") != "COMPLETED" or at_once.get("status") != "COMPLETED":
            raise PreconditionFailed("not both payments are COMPLETED")
        absent = [
            name
            for name in OF_ALL_PAYOUTS
            if usual.get(name) is not None and at_once.get(name) is None
        ]
        assert not absent, f"without {', '.join(absent)}: {at_once}"


@requirement("TRX-016", "TRX-044", "TRX-050", "TRX-053", "TRX-603", "TRX-605")
@pytest.mark.parametrize(
    "kind",
    [*(case(("TRX-051", "ACC-079"), kind, kind) for kind in PAYOUTS), "real-time", "platform"],
)
def test_a_payment_of_each_kind_is_refunded_where_it_fails(
    platform: Platform, check: Check, kind: Kind
) -> None:
    """A failed payment shows a failureReason and a refund, and stays failed.

    What a customer's internal account paid is back on it; others pay from the platform's too.
    """
    customer = create_payer(platform, kind)
    destination = platform.external_accounts.account(customer, trigger="payout.screen")
    account = platform.internal_accounts.account(customer=customer) if kind in PAYOUTS else None
    before, total_before = platform.internal_accounts.balances(account) if account else (0, 0)
    body = quote_body(platform, kind, customer, destination, account=account)
    quote = arranged_resource(platform.api.create_quote(body), customer)
    pay(platform, kind, quote)

    failed = platform.transactions.failed(quote)
    refunded = platform.transactions.refunded(quote)

    with check("TRX-016"):
        for transaction in (failed, refunded):
            assert transaction.get("status") in FAILED, transaction
            assert transaction.get("failureReason"), transaction
    with check("TRX-044"):
        assert refunded.get("failureReason") == "COMPLIANCE_REJECTED", refunded
    with check("TRX-050"):
        assert isinstance(refunded.get("refund"), Mapping), refunded
    with check("TRX-605"):
        assert not refunded.get("pendingReason"), refunded
    with check("TRX-603"):
        assert require_member(refunded, "refund").get("reference"), refunded
    with check("TRX-053"):
        assert refunded.get("status") in FAILED, refunded
    if account is not None:
        with check("TRX-051"):
            fees = included_fees(quote)
            balance = platform.internal_accounts.wait_for_refund(account, before, fees)
            assert before - fees <= balance <= before
        with check("ACC-079"):
            require_member(account, "totalBalance")
            restored = range(total_before - included_fees(quote), total_before + 1)
            assert platform.internal_accounts.wait_for_total(account, restored) in restored


@requirement("TRX-051", "ACC-079", "EVT-055")
def test_what_the_platform_paid_in_vain_is_back(platform: Platform, check: Check) -> None:
    """Once a payment of the platform has failed, both its balances lack fees at most.

    That the money is back is reported.
    """
    for _ in range(MEASUREMENTS):
        quote, source, before = create_quote_alone(platform, trigger="payout.screen")
        _, total_before = platform.internal_accounts.balances(source)
        known_ids = event_ids(platform, BALANCE, source["id"])
        platform.quotes.execute(quote)
        platform.transactions.refunded(quote)
        fees = included_fees(quote)
        balance = platform.internal_accounts.wait_for_refund(source, before, fees)
        restored = range(total_before - fees, total_before + 1)
        total = platform.internal_accounts.wait_for_total(source, restored)
        if before - fees <= balance <= before and total in restored:
            break

    with check("TRX-051"):
        assert before - fees <= balance <= before
    with check("ACC-079"):
        assert total in restored, f"of {total_before} in all {total} came back"
    with check("EVT-055"):
        if not before - fees <= balance <= before:
            raise PreconditionFailed(f"of {before} on the account there are {balance}")
        expect_refund_reported(platform, source, range(before - fees, before + 1), known_ids)


@requirement("TRX-024", "TRX-025", "TRX-027", "TRX-831", "EVT-010")
@pytest.mark.parametrize("kind", ["immediate", "real-time", "authorized", "platform"])
def test_a_payment_of_each_kind_is_in_processing_while_the_rail_holds_it(
    platform: Platform, check: Check, kind: Kind
) -> None:
    """A held payment is PROCESSING without settledAt, and COMPLETED once the rail settles it.

    It keeps its description, and that it is in processing is reported.
    """
    quote = create_quote(platform, kind, trigger="payout.hold", description="Invoice 2213")
    created = platform.transactions.of_quote(quote)
    pay(platform, kind, quote)

    held = platform.transactions.at_status(quote, "PROCESSING")

    with check("TRX-024"):
        assert held.get("status") == "PROCESSING", held
    with check("TRX-027"):
        assert not held.get("settledAt"), held
    with check("TRX-831"):
        assert held.get("description") == require_member(created, "description"), held
    with check("EVT-010"):
        if held.get("status") != "PROCESSING":
            raise PreconditionFailed(f"the payment is {held.get('status')}")
        report = platform.webhooks.wait_for(PROCESSING, quote["transactionId"])
        assert report is not None, f"no {PROCESSING} for {quote['transactionId']}"

    platform.triggers.fire("payout.release", transactionId=quote["transactionId"])

    with check("TRX-025"):
        assert platform.transactions.at_status(quote, "COMPLETED").get("status") == "COMPLETED"


@requirement("TRX-816")
def test_what_was_executed_in_time_does_not_expire(platform: Platform, check: Check) -> None:
    """Payments stay PROCESSING and COMPLETED when the lifetime of their quotes passes."""
    source = platform.internal_accounts.account()
    held = platform.quotes.payout(source, trigger="payout.hold")
    completed = platform.quotes.complete(platform.quotes.pending(source))
    if platform.transactions.at_status(held, "PROCESSING").get("status") != "PROCESSING":
        raise PreconditionFailed("the payout is not held")

    for quote in (held, completed):
        try:
            platform.triggers.fire(
                "quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"]
            )
        except TriggerFailed as error:
            raise ResourceMissing(f"quotes that were executed are left alone: {error}") from error

    with check("TRX-816"):
        statuses = [platform.transactions.of_quote(one).get("status") for one in (held, completed)]
        assert statuses == ["PROCESSING", "COMPLETED"]
        platform.triggers.fire("payout.release", transactionId=held["transactionId"])
        assert platform.transactions.at_status(held, "COMPLETED").get("status") == "COMPLETED"


@requirement("TRX-851")
def test_an_expired_challenge_ends_its_payment_by_itself(platform: Platform) -> None:
    """The transaction is FAILED or EXPIRED although nobody sent a proof after the expiry."""
    quote = platform.sca.challenged()
    expire(platform, quote)

    transaction = platform.transactions.at_status(quote, "FAILED", "EXPIRED")

    status = transaction.get("status")
    if status not in ("FAILED", "EXPIRED"):
        answer = platform.sca.send_proof(quote)
        if answer.accepted and answer.body["status"] == "PENDING_AUTHORIZATION":
            raise ResourceMissing("an expired challenge is followed by a new one")
    assert status in ("FAILED", "EXPIRED"), transaction


@requirement("TRX-035", "TRX-843")
@pytest.mark.parametrize("kind", ["business", "pulled", "real-time", "authorized", "platform"])
def test_a_quote_of_each_kind_expires(platform: Platform, check: Check, kind: Kind) -> None:
    """The transaction of a quote comes to EXPIRED with it, whatever would have paid for it.

    It has not settled.
    """
    quote = create_quote(platform, kind)

    platform.triggers.fire("quote.expire", quoteId=quote["id"], expiresAt=quote["expiresAt"])

    transaction = platform.transactions.at_status(quote, "EXPIRED")
    with check("TRX-035"):
        assert transaction.get("status") == "EXPIRED"
    with check("TRX-843"):
        if transaction.get("status") != "EXPIRED":
            raise PreconditionFailed(f"the transaction is {transaction.get('status')}")
        assert not transaction.get("settledAt"), transaction
