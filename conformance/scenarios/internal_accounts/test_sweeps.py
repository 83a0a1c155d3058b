"""Sweeps: what settles into a rule-based account goes on to its rule's destination, or home."""

from __future__ import annotations

import json
from functools import partial

import pytest

from conformance.platform.given.rule_based_accounts import numbers
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource
from conformance.platform.waiting import at_once
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import BALANCE
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

SETTLED = 20_003
"""The amount of a payment, in the smallest unit."""

AT_ONCE = 3


@requirement("RBA-100", "RBA-101")
def test_a_payment_is_swept_to_an_external_account(platform: Platform, check: Check) -> None:
    """It stays neither where it came in nor in the holder's account."""
    platform.rule_based.require_choice_of_destination("external account")
    home = platform.rule_based.holder_account()
    account = platform.rule_based.account(home)
    before = platform.internal_accounts.balance(home)

    left = platform.rule_based.sweep(account, SETTLED)

    with check("RBA-100"):
        assert left == 0
    with check("RBA-101"):
        assert platform.internal_accounts.balance(home) == before


@requirement("RBA-102", "RBA-103", "RBA-104")
def test_a_payment_is_swept_to_an_internal_account(platform: Platform, check: Check) -> None:
    """Whether it bears a fee is not said."""
    home, other = platform.rule_based.holder_account(), platform.rule_based.holder_account()
    account = platform.rule_based.account_sweeping_to(home, other)
    before = platform.internal_accounts.balance(other)

    left = platform.rule_based.sweep(account, SETTLED)

    gained = platform.internal_accounts.wait_for_increase(other, before)
    with check("RBA-102"):
        assert gained > 0
    with check("RBA-103"):
        if gained <= 0:
            raise PreconditionFailed("nothing came of what was swept")
        platform.until(
            lambda: platform.internal_accounts.balances(account), lambda funds: funds == (0, 0)
        )
        assert platform.internal_accounts.balance(other) - before <= SETTLED
    with check("RBA-104"):
        assert left == 0


@requirement("RBA-105")
def test_a_payment_is_swept_to_the_holders_own_account(platform: Platform) -> None:
    """Where the rule says so."""
    home = platform.rule_based.holder_account()
    account = platform.rule_based.account_sweeping_to(home, home)
    before = platform.internal_accounts.balance(home)

    platform.internal_accounts.settle_deposit(account, SETTLED)

    assert platform.internal_accounts.wait_for_increase(home, before) > 0


@requirement("RBA-106")
def test_every_payment_is_swept(platform: Platform) -> None:
    """The second one as the first."""
    home, other = platform.rule_based.holder_account(), platform.rule_based.holder_account()
    account = platform.rule_based.account_sweeping_to(home, other)
    before = platform.internal_accounts.balance(other)
    platform.rule_based.sweep(account, SETTLED)
    first = platform.internal_accounts.wait_for_increase(other, before)

    left = platform.rule_based.sweep(account, SETTLED)

    assert left == 0
    assert platform.internal_accounts.wait_for_increase(other, before + first) > 0


@requirement("RBA-107")
def test_payments_at_the_same_time_are_all_swept(platform: Platform) -> None:
    """None of them is left where it came in, or goes home."""
    platform.rule_based.require_choice_of_destination("external account")
    home = platform.rule_based.holder_account()
    account = platform.rule_based.account(home)
    before = platform.internal_accounts.balance(home)

    at_once(*[partial(platform.internal_accounts.settle_deposit, account, SETTLED)] * AT_ONCE)

    assert platform.internal_accounts.wait_for_balance(account, 0) == 0
    assert platform.internal_accounts.balance(home) == before


@requirement("RBA-108", "RBA-109")
def test_a_payment_is_swept_by_the_rule_of_its_own_number(platform: Platform, check: Check) -> None:
    """The holder has another number, with another rule."""
    home, near, far = (
        platform.rule_based.holder_account(),
        platform.rule_based.holder_account(),
        platform.rule_based.holder_account(),
    )
    account = platform.rule_based.account_sweeping_to(home, near)
    platform.rule_based.account_sweeping_to(home, far)
    before, elsewhere = (
        platform.internal_accounts.balance(near),
        platform.internal_accounts.balance(far),
    )

    platform.internal_accounts.settle_deposit(account, SETTLED)

    gained = platform.internal_accounts.wait_for_increase(near, before)
    with check("RBA-108"):
        assert gained > 0
    with check("RBA-109"):
        assert platform.internal_accounts.balance(far) == elsewhere


@requirement("RBA-110")
def test_a_payment_is_attributed_to_its_number(platform: Platform) -> None:
    """A webhook or a transaction tells into which account, or by which number, it came."""
    account = platform.rule_based.account()
    names = [account["id"], *numbers(account)]
    before = len(told(platform, account, names))

    platform.internal_accounts.settle_deposit(account, SETTLED)

    platform.until(lambda: told(platform, account, names), lambda mentions: len(mentions) > before)
    assert len(told(platform, account, names)) > before, f"nothing names any of {names}"


@requirement("RBA-111")
def test_what_settles_into_the_holders_account_stays(platform: Platform) -> None:
    """The rule is for its own number alone, by which another payment is swept meanwhile."""
    home, other = platform.rule_based.holder_account(), platform.rule_based.holder_account()
    account = platform.rule_based.account_sweeping_to(home, other)
    before, elsewhere = (
        platform.internal_accounts.balance(home),
        platform.internal_accounts.balance(other),
    )

    platform.internal_accounts.settle_deposit(home, SETTLED)
    platform.internal_accounts.settle_deposit(account, SETTLED)

    gained = platform.internal_accounts.wait_for_increase(other, elsewhere)
    whole = before + SETTLED
    assert platform.internal_accounts.wait_for_balance(home, whole) == whole
    assert gained <= SETTLED


@requirement("RBA-112")
def test_the_balance_that_a_sweep_raises_is_announced(platform: Platform) -> None:
    """It is another internal account's."""
    home, other = platform.rule_based.holder_account(), platform.rule_based.holder_account()
    account = platform.rule_based.account_sweeping_to(home, other)

    platform.internal_accounts.settle_deposit(account, SETTLED)

    assert platform.webhooks.wait_for(BALANCE, other["id"]) is not None


@requirement("RBA-113", "RBA-120", "RBA-122")
def test_a_sweep_that_cannot_complete_ends_at_home(platform: Platform, check: Check) -> None:
    """The holder's account in the same currency has all of it then."""
    home = platform.rule_based.holder_account()
    account = platform.rule_based.account(home)
    before = platform.internal_accounts.balance(home)
    platform.triggers.fire("sweep.fail", accountId=account["id"])

    left = platform.rule_based.sweep(account, SETTLED)

    with check("RBA-120"):
        assert (
            platform.internal_accounts.wait_for_increase(home, before, at_least=SETTLED) == SETTLED
        )
    with check("RBA-122"):
        assert left == 0
    with check("RBA-113"):
        assert platform.webhooks.wait_for(BALANCE, home["id"]) is not None


@requirement("RBA-121")
def test_a_sweep_that_cannot_complete_brings_its_destination_nothing(platform: Platform) -> None:
    """Nobody has the money twice."""
    home, other = platform.rule_based.holder_account(), platform.rule_based.holder_account()
    account = platform.rule_based.account_sweeping_to(home, other)
    before, elsewhere = (
        platform.internal_accounts.balance(home),
        platform.internal_accounts.balance(other),
    )
    platform.triggers.fire("sweep.fail", accountId=account["id"])

    platform.internal_accounts.settle_deposit(account, SETTLED)

    platform.internal_accounts.wait_for_increase(home, before)
    assert platform.internal_accounts.balance(other) == elsewhere


@pytest.mark.parametrize(
    "fate",
    [
        pytest.param("destination.blocked", marks=requirement("RBA-123"), id="blocked"),
        pytest.param("destination.unknown", marks=requirement("RBA-124"), id="unknown"),
        pytest.param("payout.return", marks=requirement("RBA-127"), id="returned"),
    ],
)
def test_a_sweep_whose_payout_fails_ends_at_home(platform: Platform, fate: str) -> None:
    """The receiving bank decides it after the sweep has begun."""
    platform.rule_based.require_choice_of_destination("external account")
    home = platform.rule_based.holder_account()
    account = platform.rule_based.account(
        home, platform.rule_based.sweep_destination(home, trigger=fate)
    )
    before = platform.internal_accounts.balance(home)

    platform.internal_accounts.settle_deposit(account, SETTLED)

    assert platform.internal_accounts.wait_for_increase(home, before, at_least=SETTLED) == SETTLED


@requirement("RBA-125")
def test_a_sweep_to_an_account_that_is_disabled_ends_at_home(platform: Platform) -> None:
    """Only active accounts can receive."""
    platform.rule_based.require_choice_of_destination("external account")
    home = platform.rule_based.holder_account()
    payee = platform.rule_based.sweep_destination(home)
    account = platform.rule_based.account(home, payee)
    before = platform.internal_accounts.balance(home)
    platform.triggers.fire("external_account.disable", externalAccountId=payee["id"])
    platform.external_accounts.at_status(payee, "INACTIVE")

    platform.internal_accounts.settle_deposit(account, SETTLED)

    assert platform.internal_accounts.wait_for_increase(home, before, at_least=SETTLED) == SETTLED


@requirement("RBA-126")
def test_a_sweep_to_an_account_that_was_deleted_ends_at_home(platform: Platform) -> None:
    """Where an account that a rule names can be deleted at all."""
    platform.rule_based.require_choice_of_destination("external account")
    home = platform.rule_based.holder_account()
    payee = platform.rule_based.sweep_destination(home)
    account = platform.rule_based.account(home, payee)
    before = platform.internal_accounts.balance(home)
    deletion = platform.api.delete_external_account(payee["id"])
    if not deletion.accepted:
        raise ResourceMissing(f"the destination of a rule cannot be deleted: {deletion}")

    platform.internal_accounts.settle_deposit(account, SETTLED)

    assert platform.internal_accounts.wait_for_increase(home, before, at_least=SETTLED) == SETTLED


def test_what_a_sweep_costs_is_recorded(platform: Platform) -> None:
    """Whether it bears a fee is left open, so that the amounts decide nothing."""
    home, other = platform.rule_based.holder_account(), platform.rule_based.holder_account()
    account = platform.rule_based.account_sweeping_to(home, other)
    before = platform.internal_accounts.balance(other)

    platform.internal_accounts.settle_deposit(account, SETTLED)

    costs = SETTLED - platform.internal_accounts.wait_for_increase(other, before)
    platform.observe(f"a sweep {'bears a fee' if costs else 'is free of charge'}")


def told(platform: Platform, account: Resource, names: list[str]) -> list[str]:
    """Return what webhooks and transactions tell by one of some names."""
    listed = list(platform.transactions.of_customer(account["customerId"]))
    said = [
        *(json.dumps(t) for t in listed),
        *(d.text for d in platform.webhooks.about(account["id"])),
    ]
    return [text for text in said if any(name in text for name in names)]
