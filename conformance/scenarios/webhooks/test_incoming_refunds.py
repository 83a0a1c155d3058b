"""Deposits that go back to their senders, and the webhooks about their refunds."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from conformance.exchange.delivery import Delivery
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, value_at
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import BALANCE, ids, let_reports_arrive
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

INCOMING = "INCOMING_PAYMENT."
PENDING = f"{INCOMING}REFUND_PENDING"
COMPLETED = f"{INCOMING}REFUND_COMPLETED"
FAILED = f"{INCOMING}REFUND_FAILED"
AMOUNT = 40_000


@dataclass(frozen=True, slots=True)
class Returned:
    """A deposit that goes back: its account, and what names it in webhooks.

    That is its transaction where it is told, and otherwise its account or that one's owner.
    """

    platform: Platform
    account: Resource
    names: tuple[str, ...]
    identified: bool

    def told(self, *kinds: str) -> list[Delivery]:
        """Return the webhooks of these types about the deposit that have arrived."""
        return self.platform.webhooks.all(lambda one: one.type in kinds and one.holds(*self.names))

    def awaited(self, kind: str) -> Delivery | None:
        """Return the webhook of a type about the deposit; wait for it if need be."""
        return self.platform.webhooks.wait_for_any(
            lambda one: one.type == kind and one.holds(*self.names)
        )

    def demand(self, kind: str) -> Delivery:
        """Assert that the deposit is reported by a webhook of a type."""
        __tracebackhide__ = True
        found = self.awaited(kind)
        if found is None and not self.identified:
            raise ResourceMissing(f"no {kind} names the account, and the trigger tells no other id")
        assert found is not None, f"no {kind} for {self.names[0]}"
        return found

    def needed(self, kind: str) -> Delivery:
        """Return the webhook of a type, which a check builds on."""
        found = self.awaited(kind)
        if found is None:
            raise PreconditionFailed(f"no {kind} came for {self.names[0]}")
        return found


def returned(platform: Platform, *, delivered: bool = True) -> Returned:
    """Return a deposit on a new account that goes back, and arrives at its sender or not."""
    account = platform.internal_accounts.account(amount=0)
    platform.internal_accounts.deposit(account, AMOUNT)
    return returned_from(platform, account, delivered=delivered)


def returned_from(platform: Platform, account: Resource, *, delivered: bool = True) -> Returned:
    """Let what was deposited on an account go back; as above."""
    name = platform.internal_accounts.return_deposit(account, AMOUNT, delivered=delivered)
    names = (account["id"], account["customerId"]) if name is None else (name,)
    return Returned(platform, account, names, name is not None)


@requirement("EVT-280", "EVT-281", "EVT-283", "EVT-284", "EVT-285", "EVT-287", "EVT-288", "EVT-291")
def test_a_returned_deposit_is_reported(platform: Platform, check: Check) -> None:
    """Its refund is begun and delivered, each once."""
    deposit = returned(platform)

    for requirement_id, kind in {"EVT-280": PENDING, "EVT-281": COMPLETED}.items():
        with check(requirement_id):
            deposit.demand(kind)
    deposit.needed(COMPLETED)
    let_reports_arrive(platform, deposit.account)

    told = deposit.told(PENDING, COMPLETED)
    with check("EVT-283"):
        for one in told:
            assert str(one.data.get("id")).startswith("Transaction:"), one.data
            assert isinstance(one.data.get("status"), str), one.data
    with check("EVT-284"):
        about = {str(one.data.get("id")) for one in told}
        assert about == (set(deposit.names) if deposit.identified else {min(about)})
    with check("EVT-285"):
        assert not deposit.told(FAILED)
    for requirement_id, kind in {"EVT-287": PENDING, "EVT-288": COMPLETED}.items():
        with check(requirement_id):
            assert len({one.id for one in deposit.told(kind)}) == 1
    with check("EVT-291"):
        name = told[0].data["id"]
        assert not _about(platform, name, lambda kind: kind.startswith("OUTGOING_PAYMENT."))


@requirement("EVT-282", "EVT-286", "EVT-289")
def test_a_deposit_that_cannot_be_returned_is_reported(platform: Platform, check: Check) -> None:
    """Its refund fails, and is not reported as delivered."""
    deposit = returned(platform, delivered=False)

    with check("EVT-282"):
        deposit.demand(FAILED)
    deposit.needed(FAILED)
    let_reports_arrive(platform, deposit.account)

    with check("EVT-286"):
        assert not deposit.told(COMPLETED)
    with check("EVT-289"):
        assert len({one.id for one in deposit.told(FAILED)}) == 1


@requirement("EVT-293")
def test_two_returned_deposits_are_two_transactions(platform: Platform) -> None:
    """On accounts of two customers."""
    first, second = (returned(platform).demand(COMPLETED) for _ in range(2))

    assert first.data.get("id") != second.data.get("id")


@requirement("EVT-292")
def test_a_returned_deposit_is_reported_with_the_balance_that_it_leaves(
    platform: Platform,
) -> None:
    """It is what the account was without it."""
    account = platform.internal_accounts.account(amount=AMOUNT)
    platform.internal_accounts.deposit(account, AMOUNT)
    before = platform.internal_accounts.balances(account)[0]
    known = ids(platform, BALANCE, account["id"])

    returned_from(platform, account)

    left = platform.until(
        lambda: platform.internal_accounts.balances(account)[0], lambda seen: seen < before
    )
    if left >= before:
        raise ResourceMissing("a returned deposit does not lower the balance")
    found = platform.webhooks.wait_for(
        BALANCE,
        account["id"],
        # The first of the deposits left the same balance.
        where=lambda one: one.id not in known and value_at(one.data, "balance.amount") == left,
    )
    assert found is not None, f"no {BALANCE} for {account['id']} shows {left}"


@requirement("EVT-290")
def test_a_deposit_that_stays_is_not_reported_as_returned(platform: Platform) -> None:
    """Another one goes back at the same time."""
    account = platform.internal_accounts.account(amount=0)
    platform.internal_accounts.deposit(account, AMOUNT)
    returned(platform).needed(COMPLETED)

    let_reports_arrive(platform, account)

    told = {
        str(one.type) for one in platform.webhooks.mentioning(account["id"], account["customerId"])
    }
    assert not [kind for kind in told if kind.startswith(f"{INCOMING}REFUND_")]


def _about(platform: Platform, name: str, fits: Callable[[str], bool]) -> list[Delivery]:
    return [one for one in platform.webhooks.about(name) if fits(str(one.type))]
