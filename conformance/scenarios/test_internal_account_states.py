"""The states of an internal account: what leads to them, and what each of them blocks."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from conformance.scenarios.holdings import (
    AMOUNT,
    demand_no_deposit,
    demand_no_payment,
    demand_no_payment_into,
    demand_status,
)
from conformance.scenarios.marks import SETTLING, Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

if TYPE_CHECKING:
    from conformance.client.platform import Platform

FATES = {
    "ACTIVE": "internal_account.provide",
    "FAILED": "internal_account.fail",
    "CLOSED": "internal_account.close",
    "FROZEN": "internal_account.freeze",
}
"""The trigger that leads to each state."""


# --- Provisioning ---------------------------------------------------------------------------


@requirement("ACC-140")
def test_an_account_that_is_being_provisioned_is_pending(platform: Platform) -> None:
    """Its owner is approved already."""
    accounts = platform.awaited_accounts()

    statuses = {account["status"] for account in accounts}

    if statuses <= {"ACTIVE"}:
        raise PreconditionFailed(f"internal_account.await left the accounts at {statuses}")
    assert "PENDING" in statuses


@requirement("ACC-141", "ACC-142", "ACC-143")
def test_an_account_is_active_once_it_is_provisioned(platform: Platform, check: Check) -> None:
    """It receives, and it sends."""
    account = platform.awaited_account()

    platform.cause(FATES["ACTIVE"], accountId=account["id"])

    with check("ACC-141"):
        assert platform.account_in(account, "ACTIVE")["status"] == "ACTIVE"
    before, _ = platform.balances(account)
    with check("ACC-142"):
        platform.arrive(account, AMOUNT)
        assert platform.balance_at(account, before + AMOUNT) == before + AMOUNT
    paid = platform.transfer(platform.quote_body(account, amount=AMOUNT // 2))
    with check("ACC-143"):
        assert paid[-1].accepted, paid[-1]
        assert paid[-1].body["status"] in SETTLING, paid[-1]


@requirement("ACC-164")
def test_a_pending_account_takes_no_deposit(platform: Platform) -> None:
    """It can receive once it is active."""
    demand_no_deposit(platform, platform.awaited_account())


@requirement("ACC-165")
def test_a_pending_account_takes_no_payment(platform: Platform) -> None:
    """It can receive once it is active."""
    demand_no_payment_into(platform, platform.awaited_account())


@requirement("ACC-144", "ACC-145", "ACC-146", "ACC-055")
def test_an_account_that_cannot_be_provisioned_fails(platform: Platform, check: Check) -> None:
    """It does not receive, nor fund a card."""
    account = platform.awaited_account()

    platform.cause(FATES["FAILED"], accountId=account["id"])

    failed = platform.account_in(account, "FAILED")
    with check("ACC-144"):
        assert failed["status"] == "FAILED"
    with check("ACC-145"):
        demand_status(platform, account, "FAILED")
        demand_no_deposit(platform, account)
    with check("ACC-146"):
        demand_status(platform, account, "FAILED")
        demand_no_payment_into(platform, account)
    with check("ACC-055"):
        name = platform.profile.bindings.card_funding
        if name is None:
            raise ResourceMissing("bindings.card_funding of the profile names no member")
        if not platform.account(amount=0).get(name):
            raise ResourceMissing("no account can fund a card")
        demand_status(platform, account, "FAILED")
        assert not failed.get(name)


# --- Closing and freezing -------------------------------------------------------------------


@pytest.mark.parametrize(
    "status",
    [
        pytest.param("CLOSED", marks=requirement("ACC-148"), id="closed"),
        pytest.param("FROZEN", marks=requirement("ACC-154"), id="frozen"),
    ],
)
def test_an_active_account_comes_to_an_end(platform: Platform, status: str) -> None:
    """Its owner has it closed, or the service stops it."""
    account = platform.account(amount=0)

    platform.cause(FATES[status], accountId=account["id"])

    assert platform.account_in(account, status)["status"] == status


@pytest.mark.parametrize(
    "before",
    [
        pytest.param("PENDING", marks=requirement("ACC-155"), id="pending"),
        pytest.param("FAILED", marks=requirement("ACC-156"), id="failed"),
    ],
)
def test_an_account_that_was_never_active_is_frozen_too(platform: Platform, before: str) -> None:
    """Each can be that is not closed."""
    account = platform.awaited_account()
    if before != "PENDING":
        platform.cause(FATES[before], accountId=account["id"])
        demand_status(platform, account, before)

    platform.cause(FATES["FROZEN"], accountId=account["id"])

    assert platform.account_in(account, "FROZEN")["status"] == "FROZEN"


STOPPED = {
    "CLOSED": {"new": "ACC-149", "earlier": "ACC-150", "immediate": "ACC-151"},
    "FROZEN": {"new": "ACC-157", "earlier": "ACC-158", "immediate": "ACC-159"},
}
"""By the state of an account, and the way that it would send: what one test decides."""


@pytest.mark.parametrize(
    ("status", "ids"),
    [
        pytest.param(status, ids, marks=requirement(*ids.values()), id=status.lower())
        for status, ids in STOPPED.items()
    ],
)
def test_nothing_is_sent_from_a_stopped_account(
    platform: Platform, check: Check, status: str, ids: dict[str, str]
) -> None:
    """Neither by a new quote nor by one from before; an account that goes on sends."""
    account, usual = platform.account(), platform.account()
    body = platform.quote_body(account, amount=AMOUNT)
    of_usual = platform.quote_body(usual, amount=AMOUNT)
    created = platform.create_quote(body)
    quote = platform.arranged(created)
    platform.stop(account, status)

    executed = platform.execute(quote)
    paid = platform.transfer(body)
    at_once = platform.create_quote({**body, "immediatelyExecute": True})

    twins = platform.transfer(of_usual)
    with check(ids["earlier"]):
        demand_no_payment(platform, [created, executed], twins)
    with check(ids["new"]):
        demand_no_payment(platform, paid, twins)
    with check(ids["immediate"]):
        twin = platform.create_quote({**of_usual, "immediatelyExecute": True})
        demand_no_payment(platform, [at_once], [twin])


@requirement("ACC-152")
def test_a_closed_account_takes_no_deposit(platform: Platform) -> None:
    """It did before."""
    account = platform.account(amount=0)
    platform.stop(account, "CLOSED")

    demand_no_deposit(platform, account)


@pytest.mark.parametrize(
    "status",
    [
        pytest.param("CLOSED", marks=requirement("ACC-153"), id="closed"),
        pytest.param("FROZEN", marks=requirement("ACC-160"), id="frozen"),
    ],
)
def test_a_stopped_account_takes_no_payment(platform: Platform, status: str) -> None:
    """Another customer's money does not arrive there."""
    account = platform.account(amount=0)
    platform.stop(account, status)

    demand_no_payment_into(platform, account)


@pytest.mark.parametrize(
    ("status", "stands"),
    [
        pytest.param("FROZEN", "ACC-161", marks=requirement("ACC-161", "ACC-162"), id="frozen"),
        pytest.param("CLOSED", "ACC-163", marks=requirement("ACC-163"), id="closed"),
    ],
)
def test_another_customers_account_goes_on(
    platform: Platform, check: Check, status: str, stands: str
) -> None:
    """It is neither stopped nor kept from sending."""
    account, other = platform.account(amount=0), platform.account()

    platform.stop(account, status)

    with check(stands):
        assert platform.account_now(other)["status"] == "ACTIVE"
    if status == "FROZEN":
        paid = platform.transfer(platform.quote_body(other, amount=AMOUNT))
        with check("ACC-162"):
            assert paid[-1].accepted, paid[-1]
