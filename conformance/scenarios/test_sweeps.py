"""Sweeps: what settles into a rule-based account goes on to its rule's destination, or home."""

from __future__ import annotations

import json
from functools import partial

import pytest

from conformance.client.actor import Json
from conformance.client.platform import Platform
from conformance.client.rule_based import numbers
from conformance.scenarios.marks import Check, requirement
from conformance.scenarios.reports import BALANCE
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

SETTLED = 20_003
"""The amount of a payment, in the smallest unit."""

AT_ONCE = 3


@requirement("RBA-100", "RBA-101")
def test_a_payment_is_swept_to_an_external_account(platform: Platform, check: Check) -> None:
    """It stays neither where it came in nor in the holder's account."""
    platform.sweeps_to("external account")
    home = platform.home()
    account = platform.rule_based_account(home)
    before = platform.balance_of(home)

    left = platform.swept(account, SETTLED)

    with check("RBA-100"):
        assert left == 0
    with check("RBA-101"):
        assert platform.balance_of(home) == before


@requirement("RBA-102", "RBA-103", "RBA-104")
def test_a_payment_is_swept_to_an_internal_account(platform: Platform, check: Check) -> None:
    """Whether it bears a fee is not said."""
    home, other = platform.home(), platform.home()
    account = platform.sweeping_account(home, other)
    before = platform.balance_of(other)

    left = platform.swept(account, SETTLED)

    gained = platform.gain_of(other, before)
    with check("RBA-102"):
        assert gained > 0
    with check("RBA-103"):
        if gained <= 0:
            raise PreconditionFailed("nothing came of what was swept")
        platform.until(lambda: platform.balances(account), lambda funds: funds == (0, 0))
        assert platform.balance_of(other) - before <= SETTLED
    with check("RBA-104"):
        assert left == 0


@requirement("RBA-105")
def test_a_payment_is_swept_to_the_holders_own_account(platform: Platform) -> None:
    """Where the rule says so."""
    home = platform.home()
    account = platform.sweeping_account(home, home)
    before = platform.balance_of(home)

    platform.arrive(account, SETTLED)

    assert platform.gain_of(home, before) > 0


@requirement("RBA-106")
def test_every_payment_is_swept(platform: Platform) -> None:
    """The second one as the first."""
    home, other = platform.home(), platform.home()
    account = platform.sweeping_account(home, other)
    before = platform.balance_of(other)
    platform.swept(account, SETTLED)
    first = platform.gain_of(other, before)

    left = platform.swept(account, SETTLED)

    assert left == 0
    assert platform.gain_of(other, before + first) > 0


@requirement("RBA-107")
def test_payments_at_the_same_time_are_all_swept(platform: Platform) -> None:
    """None of them is left where it came in, or goes home."""
    platform.sweeps_to("external account")
    home = platform.home()
    account = platform.rule_based_account(home)
    before = platform.balance_of(home)

    platform.at_once(*[partial(platform.arrive, account, SETTLED)] * AT_ONCE)

    assert platform.balance_at(account, 0) == 0
    assert platform.balance_of(home) == before


@requirement("RBA-108", "RBA-109")
def test_a_payment_is_swept_by_the_rule_of_its_own_number(platform: Platform, check: Check) -> None:
    """The holder has another number, with another rule."""
    home, near, far = platform.home(), platform.home(), platform.home()
    account = platform.sweeping_account(home, near)
    platform.sweeping_account(home, far)
    before, elsewhere = platform.balance_of(near), platform.balance_of(far)

    platform.arrive(account, SETTLED)

    gained = platform.gain_of(near, before)
    with check("RBA-108"):
        assert gained > 0
    with check("RBA-109"):
        assert platform.balance_of(far) == elsewhere


@requirement("RBA-110")
def test_a_payment_is_attributed_to_its_number(platform: Platform) -> None:
    """A webhook or a transaction tells into which account, or by which number, it came."""
    account = platform.rule_based_account()
    names = [account["id"], *numbers(account)]
    before = len(told(platform, account, names))

    platform.arrive(account, SETTLED)

    platform.until(lambda: told(platform, account, names), lambda mentions: len(mentions) > before)
    assert len(told(platform, account, names)) > before, f"nothing names any of {names}"


@requirement("RBA-111")
def test_what_settles_into_the_holders_account_stays(platform: Platform) -> None:
    """The rule is for its own number alone, by which another payment is swept meanwhile."""
    home, other = platform.home(), platform.home()
    account = platform.sweeping_account(home, other)
    before, elsewhere = platform.balance_of(home), platform.balance_of(other)

    platform.arrive(home, SETTLED)
    platform.arrive(account, SETTLED)

    gained = platform.gain_of(other, elsewhere)
    assert platform.balance_of(home) == before + SETTLED
    assert gained <= SETTLED


@requirement("RBA-112")
def test_the_balance_that_a_sweep_raises_is_announced(platform: Platform) -> None:
    """It is another internal account's."""
    home, other = platform.home(), platform.home()
    account = platform.sweeping_account(home, other)

    platform.arrive(account, SETTLED)

    assert platform.event(BALANCE, other["id"]) is not None


@requirement("RBA-113", "RBA-120", "RBA-122")
def test_a_sweep_that_cannot_complete_ends_at_home(platform: Platform, check: Check) -> None:
    """The holder's account in the same currency has all of it then."""
    home = platform.home()
    account = platform.rule_based_account(home)
    before = platform.balance_of(home)
    platform.cause("sweep.fail", accountId=account["id"])

    left = platform.swept(account, SETTLED)

    with check("RBA-120"):
        assert platform.gain_of(home, before, at_least=SETTLED) == SETTLED
    with check("RBA-122"):
        assert left == 0
    with check("RBA-113"):
        assert platform.event(BALANCE, home["id"]) is not None


@requirement("RBA-121")
def test_a_sweep_that_cannot_complete_brings_its_destination_nothing(platform: Platform) -> None:
    """Nobody has the money twice."""
    home, other = platform.home(), platform.home()
    account = platform.sweeping_account(home, other)
    before, elsewhere = platform.balance_of(home), platform.balance_of(other)
    platform.cause("sweep.fail", accountId=account["id"])

    platform.arrive(account, SETTLED)

    platform.gain_of(home, before)
    assert platform.balance_of(other) == elsewhere


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
    platform.sweeps_to("external account")
    home = platform.home()
    account = platform.rule_based_account(home, platform.payee(home, fate=fate))
    before = platform.balance_of(home)

    platform.arrive(account, SETTLED)

    assert platform.gain_of(home, before, at_least=SETTLED) == SETTLED


@requirement("RBA-125")
def test_a_sweep_to_an_account_that_is_disabled_ends_at_home(platform: Platform) -> None:
    """Only active accounts can receive."""
    platform.sweeps_to("external account")
    home = platform.home()
    payee = platform.payee(home)
    account = platform.rule_based_account(home, payee)
    before = platform.balance_of(home)
    platform.cause("external_account.disable", externalAccountId=payee["id"])
    platform.external_account_in(payee, "INACTIVE")

    platform.arrive(account, SETTLED)

    assert platform.gain_of(home, before, at_least=SETTLED) == SETTLED


@requirement("RBA-126")
def test_a_sweep_to_an_account_that_was_deleted_ends_at_home(platform: Platform) -> None:
    """Where an account that a rule names can be deleted at all."""
    platform.sweeps_to("external account")
    home = platform.home()
    payee = platform.payee(home)
    account = platform.rule_based_account(home, payee)
    before = platform.balance_of(home)
    deletion = platform.delete_external_account(payee)
    if not deletion.accepted:
        raise ResourceMissing(f"the destination of a rule cannot be deleted: {deletion}")

    platform.arrive(account, SETTLED)

    assert platform.gain_of(home, before, at_least=SETTLED) == SETTLED


def test_what_a_sweep_costs_is_recorded(platform: Platform) -> None:
    """Whether it bears a fee is left open, so that the amounts decide nothing."""
    home, other = platform.home(), platform.home()
    account = platform.sweeping_account(home, other)
    before = platform.balance_of(other)

    platform.arrive(account, SETTLED)

    costs = SETTLED - platform.gain_of(other, before)
    platform.observe(f"a sweep {'bears a fee' if costs else 'is free of charge'}")


def told(platform: Platform, account: Json, names: list[str]) -> list[str]:
    """Return what webhooks and transactions tell by one of some names."""
    listed = list(platform.transactions(account["customerId"]))
    said = [*(json.dumps(t) for t in listed), *(d.text for d in platform.events(account["id"]))]
    return [text for text in said if any(name in text for name in names)]
