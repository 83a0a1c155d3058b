"""Payouts that fail: the failureReason that they show, and the refunds of their money."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from conformance.platform.given.transactions import FAILED, included_fees
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, require_member
from conformance.scenarios.external_accounts.kinds import corridor_to
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import FAILURE, REFUND_COMPLETED, expect_event
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

REFUNDED = ("TRX-050", "TRX-051")
"""That a failed payout gets a refund, and that its money comes back."""


@pytest.mark.parametrize(
    ("requirement_id", "trigger", "reason"),
    [
        case((id_, *REFUNDED), name, id_, trigger, reason)
        for id_, name, trigger, reason in (
            ("TRX-040", "returned", "payout.return", "PAYOUT_RETURNED"),
            ("TRX-041", "limited", "destination.limited", "LIMIT_EXCEEDED"),
            ("TRX-042", "blocked", "destination.blocked", "ACCOUNT_CANNOT_RECEIVE"),
            ("TRX-043", "unknown", "destination.unknown", "ACCOUNT_INVALID"),
            ("TRX-044", "screened", "payout.screen", "COMPLIANCE_REJECTED"),
        )
    ],
)
def test_a_failed_payout_says_why(
    platform: Platform, check: Check, requirement_id: str, trigger: str, reason: str
) -> None:
    """A payout that fails for a cause has the failureReason of it, before its refund and after.

    Whatever the cause was, the money comes back but for fees, and it has not settled.
    """
    source = platform.internal_accounts.account()
    before, _ = platform.internal_accounts.balances(source)
    quote = platform.quotes.payout(source, trigger=trigger)

    failed = platform.transactions.failed(quote)
    refunded = platform.transactions.refunded(quote)

    with check(requirement_id):
        for transaction in (failed, refunded):
            assert transaction.get("status") in FAILED, transaction
            assert transaction.get("failureReason") == reason, transaction
    with check("TRX-050"):
        assert isinstance(refunded.get("refund"), Mapping), refunded
    with check("TRX-051"):
        fees = included_fees(quote)
        balance = platform.internal_accounts.wait_for_refund(source, before, fees)
        assert before - fees <= balance <= before


@requirement("TRX-012", "TRX-014", "TRX-015", "TRX-016", "TRX-050", "TRX-053", "TRX-603")
@pytest.mark.parametrize("trigger", ["payout.screen", "payout.return"])
def test_a_failed_payout_gets_a_refund(platform: Platform, check: Check, trigger: str) -> None:
    """A failed payout shows a refund with status and reference, and stays failed."""
    quote = platform.quotes.payout(trigger=trigger)

    failed = platform.transactions.failed(quote)
    refunded = platform.transactions.refunded(quote)

    with check("TRX-016"):
        assert failed.get("status") in FAILED
        assert failed.get("failureReason")
    with check("TRX-012"):
        require_member(failed, "failureReason")
    with check("TRX-050"):
        assert isinstance(refunded.get("refund"), Mapping)
    with check("TRX-014"):
        require_member(refunded, "refund")
    with check("TRX-015"):
        refund = require_member(refunded, "refund")
        assert isinstance(refund, Mapping)
        assert refund.get("status")
    with check("TRX-603"):
        assert require_member(refunded, "refund").get("reference"), refunded
    with check("TRX-053"):
        assert refunded.get("status") in FAILED


@requirement("TRX-078")
def test_what_was_pulled_is_refunded_too(platform: Platform) -> None:
    """A failed payment from a pullable external account shows a refund."""
    customer = platform.approved.customer()
    platform.quotes.require_pulls_abroad()
    source = {**platform.external_accounts.pullable(customer), "customerId": customer["id"]}
    destination = platform.external_accounts.account(customer, trigger="payout.screen")
    quote = platform.quotes.pending(source, destination)
    platform.quotes.execute(quote)
    platform.transactions.failed(quote)

    transaction = platform.transactions.refunded(quote)

    assert isinstance(transaction.get("refund"), Mapping), transaction


@requirement("TRX-051", "TRX-052")
@pytest.mark.parametrize("same_currency", [True, False], ids=["same-currency", "cross-currency"])
def test_a_failed_payout_is_refunded_once(
    platform: Platform, check: Check, *, same_currency: bool
) -> None:
    """A refund restores the balance but for fees, and that of a later payout adds nothing to it."""
    corridor = platform.quotes.corridor(same_currency=same_currency)
    source = platform.internal_accounts.account(corridor.sending)
    before, _ = platform.internal_accounts.balances(source)
    first = platform.quotes.payout(source, account=corridor.account, trigger="payout.screen")
    platform.transactions.refunded(first)
    after_first = platform.internal_accounts.wait_for_refund(source, before, included_fees(first))

    second = platform.quotes.payout(
        source, account=corridor.account, trigger="payout.screen", amount=5_000
    )
    platform.transactions.refunded(second)
    after_second = platform.internal_accounts.wait_for_refund(
        source, after_first, included_fees(second)
    )

    with check("TRX-051"):
        assert before - included_fees(first) <= after_first <= before
    with check("TRX-052"):
        assert after_first - included_fees(second) <= after_second <= after_first


@requirement("TRX-016", "TRX-050", "TRX-053", "TRX-054", "TRX-840")
def test_a_refund_that_cannot_be_delivered_raises_no_balance(
    platform: Platform, check: Check
) -> None:
    """While a refund has failed, the balance lacks the sending amount of the payout.

    The transaction still says that it failed, why, and that there is a refund. It does not read as
    one whose refund was delivered.
    """
    source = platform.internal_accounts.account()
    before, _ = platform.internal_accounts.balances(source)
    other_source = platform.internal_accounts.account()
    other_before, _ = platform.internal_accounts.balances(other_source)
    other = platform.quotes.payout(other_source, trigger="payout.screen")
    delivered = _delivered(platform, other, other_source, other_before)

    quote = platform.quotes.payout(source, trigger="refund.fail")
    transaction = platform.transactions.refunded(quote)

    with check("TRX-054"):
        expected = before - quote["totalSendingAmount"]
        assert platform.internal_accounts.wait_for_balance(source, expected) == expected
    with check("TRX-053"):
        assert transaction.get("status") in FAILED, transaction
    with check("TRX-016"):
        assert transaction.get("failureReason"), transaction
    with check("TRX-050"):
        assert isinstance(transaction.get("refund"), Mapping), transaction
    with check("TRX-840"):
        assert _refund_state(transaction) != _refund_state(delivered), transaction


@requirement("TRX-055", "TRX-056", "TRX-841")
def test_a_pending_refund_raises_the_balance_once_it_is_released(
    platform: Platform, check: Check
) -> None:
    """The balance lacks the sending amount until the refund is released, and then only fees.

    Another payout fails later and is refunded first, so that the held refund would show as well.
    Until it is released it does not read as the other one.
    """
    source = platform.internal_accounts.account()
    before, _ = platform.internal_accounts.balances(source)
    quote = platform.quotes.payout(source, trigger="refund.hold")
    platform.transactions.refunding(quote)
    other = platform.quotes.payout(source, trigger="payout.screen", amount=5_000)

    fees = included_fees(other)
    while_held = before - quote["totalSendingAmount"]
    delivered = _delivered(platform, other, source, while_held)
    with check("TRX-841"):
        held = platform.transactions.of_quote(quote)
        assert _refund_state(held) != _refund_state(delivered), held
    with check("TRX-055"):
        balance = platform.internal_accounts.wait_for_refund(source, while_held, fees)
        assert while_held - fees <= balance <= while_held

    platform.triggers.fire("refund.release", transactionId=quote["transactionId"])

    fees += included_fees(quote)
    with check("TRX-056"):
        balance = platform.internal_accounts.wait_for_refund(source, before, fees)
        assert before - fees <= balance <= before


@requirement("TRX-050", "TRX-051", "EVT-012", "EVT-014")
@pytest.mark.parametrize("kind", ["mobile money", "crypto wallet"])
def test_what_an_account_of_each_kind_did_not_get_is_refunded(
    platform: Platform, check: Check, kind: str
) -> None:
    """A payout that a compliance review rejects is refunded, wherever it was to go.

    Webhooks report the failure and the refund.
    """
    corridor = corridor_to(platform, kind)
    if platform.triggers.magic("payout.screen") is not None:
        raise ResourceMissing("payout.screen is a magic value of other accounts")
    source = platform.internal_accounts.account(corridor.sending)
    before = platform.internal_accounts.balance(source)
    try:
        destination = platform.external_accounts.account(
            source.owner, corridor.account, trigger="payout.screen"
        )
    except (PreconditionFailed, TriggerFailed) as error:
        raise ResourceMissing(f"no payout to {corridor.account} is rejected: {error}") from error
    quote = platform.quotes.execute(platform.quotes.pending(source, destination))

    status = platform.transactions.at_status(quote, "COMPLETED", *FAILED).get("status")

    if status not in FAILED:
        raise ResourceMissing(f"a payout to {corridor.account} that is rejected is {status}")
    refunded = platform.transactions.refunded(quote)
    with check("TRX-050"):
        assert isinstance(refunded.get("refund"), Mapping), refunded
    with check("TRX-051"):
        fees = included_fees(quote)
        balance = platform.internal_accounts.wait_for_refund(source, before, fees)
        assert before - fees <= balance <= before
    for requirement_id, event in {"EVT-012": FAILURE, "EVT-014": REFUND_COMPLETED}.items():
        with check(requirement_id):
            if event == REFUND_COMPLETED and refunded.get("refund") is None:
                raise PreconditionFailed("there is no refund")
            name = quote["transactionId"]
            expect_event(platform, event, name)


def _delivered(platform: Platform, quote: Json, source: Resource, before: int) -> Json:
    """Return the transaction of a failed payout once its refund has arrived on its source.

    The words of a refund's status are open, so that ``before``, the balance of the source without
    the payout, tells it.
    """
    platform.internal_accounts.wait_for_refund(source, before, included_fees(quote))
    return platform.transactions.refunded(quote)


def _refund_state(transaction: Json) -> tuple[object, object]:
    """Return the statuses of a transaction and of its refund, as either may tell how it stands.

    Raises:
        ResourceMissing: the refund shows no status.
    """
    status = require_member(require_member(transaction, "refund"), "status")
    return transaction.get("status"), status
