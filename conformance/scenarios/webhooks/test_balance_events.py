"""INTERNAL_ACCOUNT.BALANCE_UPDATED: which account it is about, and what it shows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from conformance.platform.resource import Resource, require_member
from conformance.scenarios.cards.holdings import AMOUNT, platform_account, two_accounts
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import BALANCE
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

if TYPE_CHECKING:
    from conformance.exchange.delivery import Delivery
    from conformance.platform.platform import Platform


@requirement("EVT-151", "EVT-158", "EVT-162", "EVT-165")
def test_a_deposit_is_reported_with_the_account_as_it_is(platform: Platform, check: Check) -> None:
    """Its total, owner, currency and type are those of the list."""
    account = platform.internal_accounts.account(amount=0)
    balance, total = platform.internal_accounts.balances(account)

    platform.internal_accounts.deposit(account, AMOUNT)

    data = showing(platform, account, balance + AMOUNT).data
    with check("EVT-151"):
        assert require_member(data, "totalBalance")["amount"] == total + AMOUNT
    with check("EVT-158"):
        assert require_member(data, "customerId") == account["customerId"]
    with check("EVT-162"):
        assert data["balance"]["currency"]["code"] == account["balance"]["currency"]["code"]
    with check("EVT-165"):
        assert data["type"] == account["type"]


@requirement("EVT-154")
def test_each_deposit_is_reported(platform: Platform) -> None:
    """One event shows the balance after each of them."""
    account = platform.internal_accounts.account(amount=0)
    before, _ = platform.internal_accounts.balances(account)

    for _ in range(3):
        platform.internal_accounts.deposit(account, AMOUNT)

    wanted = {before + n * AMOUNT for n in (1, 2, 3)}
    seen = platform.until(lambda: amounts(platform, account), lambda seen: wanted <= set(seen))
    assert wanted <= set(seen), f"deposits to {sorted(wanted)} are reported as {seen}"


@requirement("EVT-155")
def test_a_deposit_is_not_reported_of_another_account(platform: Platform) -> None:
    """Not even of one with the same owner."""
    account, second = two_accounts(platform)
    before = platform.internal_accounts.balances(account)[0]
    known = len(reports(platform, second))

    for _ in range(2):
        platform.internal_accounts.deposit(account, AMOUNT)

    # What the first one had reported too has come by the time the second one is.
    showing(platform, account, before + 2 * AMOUNT)
    assert len(reports(platform, second)) == known, f"{second['id']} is reported"


@requirement("EVT-150")
def test_a_payout_is_reported_with_the_balance_that_it_leaves(platform: Platform) -> None:
    """The event comes with the debit."""
    source = platform.internal_accounts.account()
    before, _ = platform.internal_accounts.balances(source)

    quote = platform.quotes.payout(source)

    left = before - quote["totalSendingAmount"]
    found = platform.webhooks.wait_for(
        BALANCE, source["id"], where=lambda event: balance(event) == left
    )
    assert found is not None, f"no {BALANCE} for {source['id']} shows {left}"


@requirement("EVT-152", "EVT-153")
def test_a_payment_is_reported_to_its_receiver(platform: Platform, check: Check) -> None:
    """With the balance that it makes."""
    source, receiver = (
        platform.internal_accounts.account(),
        platform.internal_accounts.account(amount=0),
    )
    before, _ = platform.internal_accounts.balances(receiver)
    *_, last = platform.quotes.create_and_execute(platform.quotes.body(source, receiver))
    if not last.accepted:
        raise ResourceMissing(f"customers pay nothing into each other's accounts: {last}")

    after = before + last.body["totalReceivingAmount"]

    with check("EVT-152"):
        found = platform.webhooks.wait_for(BALANCE, receiver["id"])
        assert found is not None, f"no {BALANCE} for {receiver['id']}"
    with check("EVT-153"):
        found = platform.webhooks.wait_for(
            BALANCE, receiver["id"], where=lambda event: balance(event) == after
        )
        assert found is not None, f"no {BALANCE} for {receiver['id']} shows {after}"


@requirement("EVT-156")
def test_a_refused_execution_is_not_reported(platform: Platform) -> None:
    """It has moved nothing; a deposit after it is reported."""
    source = platform.internal_accounts.account(amount=AMOUNT)
    before = platform.internal_accounts.balances(source)
    showing(platform, source, before[0])
    known = {event.id for event in reports(platform, source)}

    refused = platform.quotes.create_and_execute(
        platform.quotes.body(source, amount=before[0] + 1)
    )[-1]

    if refused.accepted:
        raise PreconditionFailed(f"more than the balance was sent: {refused}")
    expect_unreported(platform, source, before, known)


@requirement("EVT-157")
def test_a_quote_that_is_not_executed_is_not_reported(platform: Platform) -> None:
    """It has moved nothing; a deposit after it is reported."""
    source = platform.internal_accounts.account(amount=2 * AMOUNT)
    before = platform.internal_accounts.balances(source)
    showing(platform, source, before[0])
    known = {event.id for event in reports(platform, source)}

    platform.quotes.pending(source, amount=AMOUNT)

    if platform.internal_accounts.balances(source) != before:
        raise ResourceMissing("a quote takes its amount before it is executed")
    expect_unreported(platform, source, before, known)


@requirement("EVT-159", "EVT-160")
def test_a_deposit_for_the_platform_is_reported(platform: Platform, check: Check) -> None:
    """Other tests may pay in at the same moment, so that there may be more."""
    account = platform_account(platform)
    before, _ = platform.internal_accounts.balances(account)
    known = {event.id for event in reports(platform, account)}

    try:
        platform.internal_accounts.settle_deposit(account, AMOUNT)
    except TriggerFailed as error:
        raise ResourceMissing(f"deposits are for customers alone: {error}") from error

    found = platform.webhooks.wait_for(
        BALANCE,
        account["id"],
        where=lambda event: event.id not in known and (balance(event) or 0) >= before + AMOUNT,
    )
    with check("EVT-159"):
        assert found is not None, f"no {BALANCE} for {account['id']}"
    with check("EVT-160"):
        if found is None:
            raise PreconditionFailed(f"no {BALANCE} for {account['id']}")
        assert not found.data.get("customerId")


@requirement("EVT-161")
def test_a_deposit_on_its_way_is_not_reported_as_balance(platform: Platform) -> None:
    """It may be reported, but as a part of the total alone."""
    account = platform.internal_accounts.account()
    before, _ = platform.internal_accounts.balances(account)

    platform.internal_accounts.announce_deposit(account, AMOUNT)
    platform.internal_accounts.deposit(account, 3 * AMOUNT)

    showing(platform, account, before + 3 * AMOUNT)
    assert before + AMOUNT not in amounts(platform, account)


def balance(event: Delivery) -> Any:
    """Return the balance in an event, or ``None``."""
    shown = event.data.get("balance") if isinstance(event.data, Mapping) else None
    return shown.get("amount") if isinstance(shown, Mapping) else None


def reports(platform: Platform, account: Resource) -> list[Delivery]:
    """Return the events about an account's balance that have arrived."""
    return [event for event in platform.webhooks.about(account["id"]) if event.type == BALANCE]


def amounts(platform: Platform, account: Resource) -> list[Any]:
    """Return the balances of an account that events have shown."""
    return [balance(event) for event in reports(platform, account)]


def showing(platform: Platform, account: Resource, amount: int) -> Delivery:
    """Return the event that shows a balance of an account."""
    found = platform.webhooks.wait_for(
        BALANCE, account["id"], where=lambda event: balance(event) == amount
    )
    if found is None:
        raise PreconditionFailed(f"no {BALANCE} came for {account['id']} that shows {amount}")
    return found


def expect_unreported(
    platform: Platform, account: Resource, before: tuple[int, int], known: set[str | None]
) -> None:
    """Assert that no new event shows the balances from before, up to that of a deposit made now."""
    __tracebackhide__ = True
    platform.internal_accounts.deposit(account, AMOUNT)
    showing(platform, account, before[0] + AMOUNT)
    for event in reports(platform, account):
        if event.id not in known and balance(event) == before[0]:
            total = (event.data.get("totalBalance") or event.data["balance"]).get("amount")
            assert total != before[1], f"an event shows that nothing has changed: {event.data}"
