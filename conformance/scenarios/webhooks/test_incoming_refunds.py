"""Deposits that are returned to their senders, and the webhooks about their refunds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest

from conformance.exchange.delivery import Delivery
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, require_member
from conformance.scenarios.cards.holdings import platform_account
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import BALANCE, event_ids, let_reports_arrive
from conformance.text.paths import value_at
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

INCOMING = "INCOMING_PAYMENT."
PENDING = f"{INCOMING}REFUND_PENDING"
COMPLETED = f"{INCOMING}REFUND_COMPLETED"
FAILED = f"{INCOMING}REFUND_FAILED"
AMOUNT = 40_000


@dataclass(frozen=True, slots=True)
class ReturnedDeposit:
    """A deposit that is returned: its account, and the ids that its webhooks may have.

    ``names`` has the id of its transaction where the trigger gives it (``identified``), and
    otherwise the ids of the account and of its owner.
    """

    platform: Platform
    account: Resource
    names: tuple[str, ...]
    identified: bool

    def arrived_reports(self, *kinds: str) -> list[Delivery]:
        """Return the webhooks of these types about the deposit that have arrived."""
        return self.platform.webhooks.all(
            lambda event: event.type in kinds and event.holds(*self.names)
        )

    def await_report(self, kind: str) -> Delivery | None:
        """Wait for the webhook of a type about the deposit; return it, or None."""
        return self.platform.webhooks.wait_for_any(
            lambda event: event.type == kind and event.holds(*self.names)
        )

    def expect_report(self, kind: str) -> Delivery:
        """Assert that a webhook of a type reports the deposit, and return it.

        Raises:
            ResourceMissing: no webhook names the account, and the transaction's id is not known.
        """
        __tracebackhide__ = True
        report = self.await_report(kind)
        if report is None and not self.identified:
            raise ResourceMissing(f"no {kind} names the account, and the trigger tells no other id")
        assert report is not None, f"no {kind} for {self.names[0]}"
        return report

    def arrange_report(self, kind: str) -> Delivery:
        """Wait for the webhook of a type about the deposit, and return it.

        Raises:
            PreconditionFailed: no such webhook comes.
        """
        report = self.await_report(kind)
        if report is None:
            raise PreconditionFailed(f"no {kind} came for {self.names[0]}")
        return report


def send_back_new_deposit(
    platform: Platform, *, business: bool | None = None, delivered: bool = True
) -> ReturnedDeposit:
    """Make a deposit to a new account and send it back; return the deposit.

    Without ``delivered`` the refund does not arrive at the sender.
    """
    customer = platform.approved.of_type(business)
    account = platform.internal_accounts.account(amount=0, customer=customer)
    platform.internal_accounts.deposit(account, AMOUNT)
    return send_back_deposit(platform, account, delivered=delivered)


def send_back_deposit(
    platform: Platform, account: Resource, *, delivered: bool = True
) -> ReturnedDeposit:
    """Send a deposit on an account back to its sender; return the deposit.

    Without ``delivered`` the refund does not arrive at the sender.
    """
    name = platform.internal_accounts.return_deposit(account, AMOUNT, delivered=delivered)
    names = (account["id"], account["customerId"]) if name is None else (name,)
    return ReturnedDeposit(platform, account, names, name is not None)


@requirement("EVT-280", "EVT-281", "EVT-283", "EVT-284", "EVT-285", "EVT-287", "EVT-288", "EVT-291")
def test_a_returned_deposit_is_reported(platform: Platform, check: Check) -> None:
    """A returned deposit is reported as REFUND_PENDING and REFUND_COMPLETED, each under one id.

    A refund that is reported as completed is not shown as pending.
    """
    deposit = send_back_new_deposit(platform)

    for requirement_id, kind in {"EVT-280": PENDING, "EVT-281": COMPLETED}.items():
        with check(requirement_id):
            deposit.expect_report(kind)
    completed = deposit.arrange_report(COMPLETED)
    with check("EVT-281"):
        shown = value_at(completed.data, "refund.status")
        assert "PENDING" not in str(shown).upper(), completed.data
    let_reports_arrive(platform, deposit.account)

    events = deposit.arrived_reports(PENDING, COMPLETED)
    with check("EVT-283"):
        for event in events:
            assert str(event.data.get("id")).startswith("Transaction:"), event.data
            assert isinstance(event.data.get("status"), str), event.data
    with check("EVT-284"):
        reported_ids = {str(event.data.get("id")) for event in events}
        assert reported_ids == (set(deposit.names) if deposit.identified else {min(reported_ids)})
    with check("EVT-285"):
        assert not deposit.arrived_reports(FAILED)
    for requirement_id, kind in {"EVT-287": PENDING, "EVT-288": COMPLETED}.items():
        with check(requirement_id):
            assert len({event.id for event in deposit.arrived_reports(kind)}) == 1
    with check("EVT-291"):
        name = events[0].data["id"]
        assert not _reports_about(platform, name, lambda kind: kind.startswith("OUTGOING_PAYMENT."))


@requirement("EVT-280", "EVT-281")
def test_a_deposit_that_a_business_returns_is_reported(platform: Platform, check: Check) -> None:
    """The refund of a deposit to the account of a business is PENDING, and then COMPLETED."""
    deposit = send_back_new_deposit(platform, business=True)

    for requirement_id, kind in {"EVT-280": PENDING, "EVT-281": COMPLETED}.items():
        with check(requirement_id):
            deposit.expect_report(kind)


@requirement("EVT-280", "EVT-281")
def test_a_deposit_that_the_platform_returns_is_reported(platform: Platform, check: Check) -> None:
    """The refund of a deposit to the platform's account is PENDING, and then COMPLETED."""
    account = platform_account(platform)
    try:
        platform.internal_accounts.settle_deposit(account, AMOUNT)
        platform.until(
            lambda: platform.internal_accounts.balances(account)[0],
            lambda balance: balance >= AMOUNT,
        )
        name = platform.internal_accounts.return_deposit(account, AMOUNT)
    except TriggerFailed as error:
        raise ResourceMissing(f"deposits are for customers alone: {error}") from error

    deposit = ReturnedDeposit(platform, account, (name or account["id"],), name is not None)

    for requirement_id, kind in {"EVT-280": PENDING, "EVT-281": COMPLETED}.items():
        with check(requirement_id):
            deposit.expect_report(kind)


@requirement("EVT-282", "EVT-286", "EVT-289")
@pytest.mark.parametrize("business", [False, True], ids=["individual", "business"])
def test_a_deposit_that_cannot_be_returned_is_reported(
    platform: Platform, check: Check, *, business: bool
) -> None:
    """A refund that fails is reported as REFUND_FAILED once, and not as REFUND_COMPLETED."""
    deposit = send_back_new_deposit(platform, business=business, delivered=False)

    with check("EVT-282"):
        deposit.expect_report(FAILED)
    deposit.arrange_report(FAILED)
    let_reports_arrive(platform, deposit.account)

    with check("EVT-286"):
        assert not deposit.arrived_reports(COMPLETED)
    with check("EVT-289"):
        assert len({event.id for event in deposit.arrived_reports(FAILED)}) == 1


@requirement("EVT-293")
def test_two_returned_deposits_are_two_transactions(platform: Platform) -> None:
    """The webhooks about two returned deposits have different transaction ids as data."""
    first, second = (send_back_new_deposit(platform).expect_report(COMPLETED) for _ in range(2))

    assert first.data.get("id") != second.data.get("id")


@requirement("EVT-292")
def test_a_returned_deposit_is_reported_with_the_balance_that_it_leaves(
    platform: Platform,
) -> None:
    """A new webhook shows the balance of the account after the deposit was returned."""
    account = platform.internal_accounts.account(amount=AMOUNT)
    platform.internal_accounts.deposit(account, AMOUNT)
    before = platform.internal_accounts.balances(account)[0]
    known_ids = event_ids(platform, BALANCE, account["id"])

    send_back_deposit(platform, account)

    balance_left = platform.until(
        lambda: platform.internal_accounts.balances(account)[0], lambda balance: balance < before
    )
    if balance_left >= before:
        raise ResourceMissing("a returned deposit does not lower the balance")
    report = platform.webhooks.wait_for(
        BALANCE,
        account["id"],
        # The first deposit led to the same balance.
        where=lambda event: (
            event.id not in known_ids and value_at(event.data, "balance.amount") == balance_left
        ),
    )
    assert report is not None, f"no {BALANCE} for {account['id']} shows {balance_left}"


@requirement("EVT-290")
def test_a_deposit_that_stays_is_not_reported_as_returned(platform: Platform) -> None:
    """No webhook about a refund names an account whose deposit is not returned."""
    account = platform.internal_accounts.account(amount=0)
    platform.internal_accounts.deposit(account, AMOUNT)
    send_back_new_deposit(platform).arrange_report(COMPLETED)

    let_reports_arrive(platform, account)

    types = {
        str(event.type)
        for event in platform.webhooks.mentioning(account["id"], account["customerId"])
    }
    assert not [kind for kind in types if kind.startswith(f"{INCOMING}REFUND_")]


@requirement("EVT-294", "EVT-960")
def test_a_deposit_is_gone_once_its_refund_is_completed(platform: Platform, check: Check) -> None:
    """After REFUND_COMPLETED the balance and the totalBalance of the account lack the deposit."""
    account = platform.internal_accounts.account(amount=AMOUNT)
    platform.internal_accounts.deposit(account, AMOUNT)
    before = platform.internal_accounts.balances(account)

    send_back_deposit(platform, account).arrange_report(COMPLETED)

    balance, total = platform.until(
        lambda: platform.internal_accounts.balances(account),
        lambda now: all(new <= old - AMOUNT for old, new in zip(before, now, strict=True)),
    )
    with check("EVT-294"):
        assert balance <= before[0] - AMOUNT
    with check("EVT-960"):
        require_member(platform.internal_accounts.read(account), "totalBalance")
        assert total <= before[1] - AMOUNT


def _reports_about(platform: Platform, name: str, fits: Callable[[str], bool]) -> list[Delivery]:
    return [event for event in platform.webhooks.about(name) if fits(str(event.type))]
