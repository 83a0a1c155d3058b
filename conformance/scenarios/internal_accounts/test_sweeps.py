"""Sweeps: a deposit into a rule-based account goes to its destination or the holder's account."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from functools import partial

import pytest

from conformance.platform.given.external_accounts import UNPROVEN
from conformance.platform.given.rule_based_accounts import CURRENCY, numbers
from conformance.platform.platform import Platform
from conformance.platform.resource import Resource, arranged_resource, require_member
from conformance.platform.waiting import at_once
from conformance.scenarios.cards.holdings import FINAL_STATUSES, platform_account
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.kinds import MEASUREMENTS
from conformance.scenarios.webhooks.reports import BALANCE, expect_event
from conformance.text.paths import value_at
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

AMOUNT = 20_003
"""The amount of a payment, in the smallest unit."""

SMALL = 501
"""The amount of a small one."""

DEPOSITS_AT_ONCE = 3
LABEL = "Rent from tenants"


@requirement("RBA-100", "RBA-101")
def test_a_payment_is_swept_to_an_external_account(platform: Platform, check: Check) -> None:
    """The rule-based account is empty, and the balance of the holder's account is unchanged."""
    holder_account = platform.rule_based.holder_account()
    account = platform.rule_based.account(
        holder_account, platform.rule_based.external_destination(holder_account)
    )
    before = platform.internal_accounts.balance(holder_account)

    remaining = platform.rule_based.sweep(account, AMOUNT)

    with check("RBA-100"):
        assert remaining == 0
    with check("RBA-101"):
        assert platform.internal_accounts.balance(holder_account) == before


@requirement("RBA-102", "RBA-103", "RBA-104", "RBA-101")
def test_a_payment_is_swept_to_an_internal_account(platform: Platform, check: Check) -> None:
    """The balance of the internal account grows by at most the deposit; a fee may be taken.

    The balance of the holder's account is not higher.
    """
    holder_account, destination, account = sweeping_inside(platform)
    before, home_before = (
        platform.internal_accounts.balance(destination),
        platform.internal_accounts.balance(holder_account),
    )

    remaining = platform.rule_based.sweep(account, AMOUNT)

    increase = platform.internal_accounts.wait_for_increase(destination, before)
    with check("RBA-102"):
        assert increase > 0
    with check("RBA-101"):
        assert platform.internal_accounts.balance(holder_account) <= home_before
    with check("RBA-103"):
        if increase <= 0:
            raise PreconditionFailed("nothing came of what was swept")
        platform.until(
            lambda: platform.internal_accounts.balances(account), lambda funds: funds == (0, 0)
        )
        assert platform.internal_accounts.balance(destination) - before <= AMOUNT
    with check("RBA-104"):
        assert remaining == 0


@requirement("RBA-102", "RBA-104", "RBA-101")
def test_a_payment_is_swept_to_an_account_of_the_platform(platform: Platform, check: Check) -> None:
    """The balance of the platform's own internal account grows, and not that of the holder's.

    Others pay in and out of it meanwhile, so that they have to wait.
    """
    destination = platform_account(platform)
    if destination["balance"]["currency"]["code"] != CURRENCY:
        raise ResourceMissing(f"the platform has no account in {CURRENCY}")
    holder_account = platform.rule_based.holder_account()
    account = platform.rule_based.account_sweeping_to(holder_account, destination)
    home_before = platform.internal_accounts.balance(holder_account)
    platform.triggers.turn.stay_alone()

    for _ in range(MEASUREMENTS):
        before = platform.internal_accounts.balance(destination)
        remaining = platform.rule_based.sweep(account, AMOUNT)
        increase = platform.internal_accounts.wait_for_increase(destination, before)
        if increase > 0:
            break

    with check("RBA-102"):
        assert increase > 0
    with check("RBA-101"):
        assert platform.internal_accounts.balance(holder_account) <= home_before
    with check("RBA-104"):
        assert remaining == 0


@requirement("RBA-105")
def test_a_payment_is_swept_to_the_holders_own_account(platform: Platform) -> None:
    """The balance of the holder's account grows if its ``sweepRule`` names that account."""
    holder_account = platform.rule_based.holder_account()
    account = platform.rule_based.account_sweeping_to(holder_account, holder_account)
    before = platform.internal_accounts.balance(holder_account)

    platform.internal_accounts.settle_deposit(account, AMOUNT)

    assert platform.internal_accounts.wait_for_increase(holder_account, before) > 0


@requirement("RBA-106", "RBA-103")
def test_every_payment_is_swept(platform: Platform, check: Check) -> None:
    """A second, small deposit is swept too, after the first arrived, and the first not again."""
    _, destination, account = sweeping_inside(platform)
    before = platform.internal_accounts.balance(destination)
    platform.rule_based.sweep(account, AMOUNT)
    first = platform.internal_accounts.wait_for_increase(destination, before)

    remaining = platform.rule_based.sweep(account, SMALL)

    second = platform.internal_accounts.wait_for_increase(destination, before + first)
    with check("RBA-106"):
        assert remaining == 0
        assert second > 0
    with check("RBA-103"):
        platform.until(
            lambda: platform.internal_accounts.balances(account), lambda funds: funds == (0, 0)
        )
        assert platform.internal_accounts.balance(destination) - before <= AMOUNT + SMALL


@requirement("RBA-957")
def test_what_a_quote_pays_is_swept(platform: Platform) -> None:
    """The balance of the destination grows, after a customer paid the rule-based account."""
    _, destination, account = sweeping_inside(platform)
    source = platform.internal_accounts.account(CURRENCY, amount=2 * AMOUNT)
    before = platform.internal_accounts.balance(destination)
    answer = platform.api.create_quote(
        platform.quotes.body(source, account, lockedCurrencyAmount=AMOUNT)
    )
    if not answer.accepted:
        raise ResourceMissing(f"customers pay nothing into a rule-based account: {answer}")

    platform.quotes.complete(arranged_resource(answer))

    assert platform.internal_accounts.wait_for_increase(destination, before) > 0


@requirement("RBA-107")
def test_payments_at_the_same_time_are_all_swept(platform: Platform) -> None:
    """After three deposits at once the rule-based account is empty; the holder's is unchanged."""
    holder_account = platform.rule_based.holder_account()
    account = platform.rule_based.account(
        holder_account, platform.rule_based.external_destination(holder_account)
    )
    before = platform.internal_accounts.balance(holder_account)

    at_once(
        *[partial(platform.internal_accounts.settle_deposit, account, AMOUNT)] * DEPOSITS_AT_ONCE
    )

    assert platform.internal_accounts.wait_for_balance(account, 0) == 0
    assert platform.internal_accounts.balance(holder_account) == before


@requirement("RBA-108", "RBA-109")
def test_a_payment_is_swept_by_the_rule_of_its_own_number(platform: Platform, check: Check) -> None:
    """Of two rule-based accounts of a holder, only the destination of the paid one gets money.

    First the older one is paid, and then the other.
    """
    holder_account, own_destination, other_destination = (
        platform.rule_based.holder_account(),
        platform.rule_based.holder_account(),
        platform.rule_based.holder_account(),
    )
    account = platform.rule_based.account_sweeping_to(holder_account, own_destination)
    other = platform.rule_based.account_sweeping_to(holder_account, other_destination)
    before, other_before = (
        platform.internal_accounts.balance(own_destination),
        platform.internal_accounts.balance(other_destination),
    )

    platform.internal_accounts.settle_deposit(account, AMOUNT)

    increase = platform.internal_accounts.wait_for_increase(own_destination, before)
    with check("RBA-108"):
        assert increase > 0
    with check("RBA-109"):
        assert platform.internal_accounts.balance(other_destination) == other_before

    platform.internal_accounts.settle_deposit(other, AMOUNT)

    other_increase = platform.internal_accounts.wait_for_increase(other_destination, other_before)
    with check("RBA-108"):
        assert other_increase > 0
    with check("RBA-109"):
        assert platform.internal_accounts.balance(own_destination) == before + increase


@requirement("RBA-024")
def test_a_label_is_kept_when_a_payment_is_swept(platform: Platform) -> None:
    """The list shows the label that was sent after a payment as it does before."""
    account = platform.rule_based.account(label=LABEL)
    before = platform.internal_accounts.read(account)
    require_member(before, "label")

    platform.rule_based.sweep(account, AMOUNT)

    after = platform.internal_accounts.read(account)
    assert [before["label"], after.get("label", LABEL)] == [LABEL, LABEL]


@requirement("RBA-110")
def test_a_payment_is_attributed_to_its_number(platform: Platform) -> None:
    """A new webhook or transaction names the rule-based account or its account number."""
    account = platform.rule_based.account()
    names = [account["id"], *numbers(account)]
    before = len(texts_naming(platform, account, names))

    platform.internal_accounts.settle_deposit(account, AMOUNT)

    platform.until(
        lambda: texts_naming(platform, account, names), lambda mentions: len(mentions) > before
    )
    assert len(texts_naming(platform, account, names)) > before, f"nothing names any of {names}"


@requirement("RBA-111")
def test_what_settles_into_the_holders_account_stays(platform: Platform) -> None:
    """A deposit into the holder's account stays, while one into the rule-based account is swept."""
    holder_account, destination, account = sweeping_inside(platform)
    before, other_before = (
        platform.internal_accounts.balance(holder_account),
        platform.internal_accounts.balance(destination),
    )

    platform.internal_accounts.settle_deposit(holder_account, AMOUNT)
    platform.internal_accounts.settle_deposit(account, AMOUNT)

    increase = platform.internal_accounts.wait_for_increase(destination, other_before)
    whole = before + AMOUNT
    assert platform.internal_accounts.wait_for_balance(holder_account, whole) == whole
    assert increase <= AMOUNT


@requirement("RBA-112")
def test_the_balance_that_a_sweep_raises_is_announced(platform: Platform) -> None:
    """An INTERNAL_ACCOUNT.BALANCE_UPDATED event names the internal account of the destination."""
    _, destination, account = sweeping_inside(platform)

    platform.internal_accounts.settle_deposit(account, AMOUNT)

    expect_event(platform, BALANCE, destination["id"])


@requirement("RBA-113", "RBA-120", "RBA-122")
@pytest.mark.parametrize("accounts", ["one", "several"])
def test_a_sweep_that_cannot_complete_ends_at_home(
    platform: Platform, check: Check, accounts: str
) -> None:
    """The whole amount arrives on the holder's account, and an event reports its balance.

    The account is the one in the same currency, where the holder has several. A second deposit is
    treated like the first.
    """
    currencies = {platform.profile.currency, CURRENCY}
    if accounts == "several":
        corridors = platform.profile.resources.corridors
        others = [corridor.sending for corridor in corridors if corridor.sending != CURRENCY]
        if not others:
            raise ResourceMissing(f"resources.corridors of the profile sends {CURRENCY} alone")
        currencies.add(others[0])
    holder_account = platform.rule_based.holder_account(currencies=sorted(currencies))
    account = platform.rule_based.account(holder_account)
    before = platform.internal_accounts.balance(holder_account)
    platform.triggers.fire("sweep.fail", accountId=account["id"])

    remaining = platform.rule_based.sweep(account, AMOUNT)

    with check("RBA-120"):
        assert (
            platform.internal_accounts.wait_for_increase(holder_account, before, at_least=AMOUNT)
            == AMOUNT
        )
    with check("RBA-122"):
        assert remaining == 0
    with check("RBA-113"):
        expect_event(platform, BALANCE, holder_account["id"])
    remaining = platform.rule_based.sweep(account, AMOUNT)
    with check("RBA-120"):
        increase = platform.internal_accounts.wait_for_increase(
            holder_account, before, at_least=2 * AMOUNT
        )
        assert increase == 2 * AMOUNT
    with check("RBA-122"):
        assert remaining == 0


@requirement("RBA-121")
def test_a_sweep_that_cannot_complete_brings_its_destination_nothing(platform: Platform) -> None:
    """The amount arrives on the holder's account, and the destination's balance is unchanged."""
    holder_account, destination, account = sweeping_inside(platform)
    before, other_before = (
        platform.internal_accounts.balance(holder_account),
        platform.internal_accounts.balance(destination),
    )
    platform.triggers.fire("sweep.fail", accountId=account["id"])

    platform.internal_accounts.settle_deposit(account, AMOUNT)

    platform.internal_accounts.wait_for_increase(holder_account, before)
    assert platform.internal_accounts.balance(destination) == other_before


def expect_home(
    platform: Platform, holder_account: Resource, before: int, failing: Resource | None = None
) -> None:
    """Assert that the amount of a sweep arrives on the holder's account.

    It may lack the fees of a payout that was tried.

    Raises:
        ResourceMissing: the payout to ``failing`` did not fail, as its transaction shows.
    """
    __tracebackhide__ = True
    increase = platform.internal_accounts.wait_for_increase(holder_account, before)
    if not increase and failing is not None and is_paid(platform, holder_account, failing):
        raise ResourceMissing(f"the sandbox completes sweeps to {failing['id']}")
    assert 0 < increase <= AMOUNT, (
        f"of {AMOUNT} that were swept, {increase} came to {holder_account['id']}"
    )
    if increase < AMOUNT:
        platform.observe("the funds of a sweep whose payout failed come back without its fees")


@pytest.mark.parametrize(
    "trigger",
    [
        case("RBA-123", "blocked", "destination.blocked"),
        case("RBA-124", "unknown", "destination.unknown"),
        case("RBA-127", "returned", "payout.return"),
        case("RBA-840", "limited", "destination.limited"),
        case("RBA-841", "screened", "payout.screen"),
    ],
)
def test_a_sweep_whose_payout_fails_ends_at_home(platform: Platform, trigger: str) -> None:
    """The amount of a failed payout, which may lack its fees, arrives on the holder's account.

    Where the sandbox lets sweeps to such an account complete all the same, none has failed.
    """
    holder_account = platform.rule_based.holder_account()
    destination = platform.rule_based.external_destination(holder_account, trigger=trigger)
    account = platform.rule_based.account(holder_account, destination)
    before = platform.internal_accounts.balance(holder_account)

    platform.internal_accounts.settle_deposit(account, AMOUNT)

    expect_home(platform, holder_account, before, failing=destination)


def is_paid(platform: Platform, holder_account: Resource, destination: Resource) -> bool:
    """Return whether a transaction of a holder shows a payment to a destination as COMPLETED."""
    transactions = platform.transactions.known_of_customer(holder_account["customerId"])
    return any(
        transaction.get("status") == "COMPLETED"
        and value_at(transaction, "destination.accountId") == destination["id"]
        for transaction in transactions
    )


@requirement("RBA-128")
def test_a_refund_of_a_sweep_that_cannot_be_delivered_ends(platform: Platform) -> None:
    """The refund of a sweep whose payout fails does not stay pending in its transaction."""
    holder_account = platform.rule_based.holder_account()
    destination = platform.rule_based.external_destination(holder_account, trigger="refund.fail")
    account = platform.rule_based.account(holder_account, destination)

    platform.internal_accounts.settle_deposit(account, AMOUNT)

    refunds = platform.until(
        lambda: refund_statuses(platform, holder_account),
        lambda statuses: bool(statuses) and not any("PENDING" in status for status in statuses),
    )
    if not refunds:
        raise ResourceMissing("no transaction of the holder shows the refund of a sweep")
    assert not any("PENDING" in status for status in refunds), refunds


def sweeping_inside(platform: Platform) -> tuple[Resource, Resource, Resource]:
    """Return a holder's account, another's, and a rule-based one that is swept to the latter."""
    holder_account, destination = (
        platform.rule_based.holder_account(),
        platform.rule_based.holder_account(),
    )
    account = platform.rule_based.account_sweeping_to(holder_account, destination)
    return holder_account, destination, account


def sweeping_abroad(platform: Platform) -> tuple[Resource, Resource, Resource]:
    """Return a holder's account, an external account, and a rule-based one that is swept to it."""
    holder_account = platform.rule_based.holder_account()
    external_account = platform.rule_based.external_destination(holder_account)
    account = platform.rule_based.account(holder_account, external_account)
    return holder_account, external_account, account


@requirement("RBA-125")
def test_a_sweep_to_an_account_that_is_disabled_ends_at_home(platform: Platform) -> None:
    """The amount arrives on the holder's account if the external account is INACTIVE."""
    holder_account, external_account, account = sweeping_abroad(platform)
    before = platform.internal_accounts.balance(holder_account)
    platform.triggers.fire("external_account.disable", externalAccountId=external_account["id"])
    platform.external_accounts.at_status(external_account, "INACTIVE")

    platform.internal_accounts.settle_deposit(account, AMOUNT)

    expect_home(platform, holder_account, before)


@requirement("RBA-900")
def test_a_sweep_does_not_pay_an_account_under_review(platform: Platform) -> None:
    """The amount arrives on the holder's account, or waits: here, or in a transaction."""
    holder_account, external_account, account = sweeping_abroad(platform)
    before = platform.internal_accounts.balance(holder_account)
    platform.triggers.fire("external_account.review", externalAccountId=external_account["id"])
    platform.external_accounts.arrange_status(external_account, "UNDER_REVIEW")

    platform.internal_accounts.settle_deposit(account, AMOUNT)

    expect_home_or_waiting(platform, holder_account, account, before)


@requirement("RBA-950")
def test_a_sweep_does_not_pay_an_account_whose_proof_failed(platform: Platform) -> None:
    """The amount arrives on the holder's account, or waits, if the destination is UNVERIFIED."""
    holder_account, external_account, account = sweeping_abroad(platform)
    before = platform.internal_accounts.balance(holder_account)
    platform.triggers.fire("ownership.demand", externalAccountId=external_account["id"])
    platform.external_accounts.arrange_status(external_account, UNPROVEN)
    platform.ownership.disprove(external_account)
    platform.external_accounts.arrange_status(external_account, "UNVERIFIED")

    platform.internal_accounts.settle_deposit(account, AMOUNT)

    expect_home_or_waiting(platform, holder_account, account, before)


def expect_home_or_waiting(
    platform: Platform, holder_account: Resource, account: Resource, before: int
) -> None:
    """Assert that the amount of a sweep comes home, or waits: here, or in a transaction."""
    __tracebackhide__ = True
    increase = platform.internal_accounts.wait_for_increase(holder_account, before)
    waits = any(platform.internal_accounts.balances(account)) or any(
        transaction.get("status") not in FINAL_STATUSES
        for transaction in platform.transactions.of_customer(holder_account["customerId"])
    )
    assert 0 < increase <= AMOUNT or waits, "what was swept is neither at home, nor does it wait"
    if waits:
        platform.observe("a sweep waits while its destination can receive nothing")


@requirement("RBA-129")
def test_a_sweep_to_an_account_that_is_closed_ends_at_home(platform: Platform) -> None:
    """The amount arrives on the holder's account if the internal account of another is CLOSED."""
    holder_account, destination, account = sweeping_inside(platform)
    before = platform.internal_accounts.balance(holder_account)
    platform.internal_accounts.stop(destination, "CLOSED")

    platform.internal_accounts.settle_deposit(account, AMOUNT)

    expect_home(platform, holder_account, before)


@pytest.mark.parametrize(
    "status",
    [
        case("RBA-955", "closed", "CLOSED"),
        case("RBA-956", "frozen", "FROZEN"),
    ],
)
def test_a_stopped_account_sweeps_nothing(platform: Platform, status: str) -> None:
    """What is paid into a CLOSED or FROZEN rule-based account does not come to its destination.

    It may be refused, wait, or land in the holder's account. What is paid into an ACTIVE one with
    the same destination comes there.
    """
    holder_account, destination = (
        platform.rule_based.holder_account(),
        platform.rule_based.holder_account(),
    )
    account, active_account = (
        platform.rule_based.account_sweeping_to(holder_account, destination) for _ in range(2)
    )
    before = platform.internal_accounts.balance(destination)
    platform.internal_accounts.stop(account, status)

    # More than the other deposit, so that it is told apart, whichever is swept first.
    with suppress(TriggerFailed):
        platform.internal_accounts.settle_deposit(account, 3 * AMOUNT)

    platform.internal_accounts.settle_deposit(active_account, AMOUNT)
    increase = platform.internal_accounts.wait_for_increase(destination, before)
    if increase <= 0:
        raise PreconditionFailed("nothing is swept from an ACTIVE account either")
    assert increase <= AMOUNT, f"{increase} came to {destination['id']}"


@requirement("RBA-126")
def test_a_sweep_to_an_account_that_was_deleted_ends_at_home(platform: Platform) -> None:
    """The amount arrives on the holder's account, if the external account can be deleted."""
    holder_account, external_account, account = sweeping_abroad(platform)
    before = platform.internal_accounts.balance(holder_account)
    deletion = platform.api.delete_external_account(external_account["id"])
    if not deletion.accepted:
        raise ResourceMissing(f"the destination of a rule cannot be deleted: {deletion}")

    platform.internal_accounts.settle_deposit(account, AMOUNT)

    expect_home(platform, holder_account, before)


def test_what_a_sweep_costs_is_recorded(platform: Platform) -> None:
    """The specification does not say whether a sweep bears a fee, so the amounts are recorded."""
    _, destination, account = sweeping_inside(platform)
    before = platform.internal_accounts.balance(destination)

    platform.internal_accounts.settle_deposit(account, AMOUNT)

    costs = AMOUNT - platform.internal_accounts.wait_for_increase(destination, before)
    platform.observe(f"a sweep {'bears a fee' if costs else 'is free of charge'}")


def refund_statuses(platform: Platform, account: Resource) -> list[str]:
    """Return the statuses of the refunds that the transactions of an account's owner show."""
    transactions = platform.transactions.known_of_customer(account["customerId"])
    refunds = [transaction.get("refund") for transaction in transactions]
    return [str(refund.get("status")) for refund in refunds if isinstance(refund, Mapping)]


def texts_naming(platform: Platform, account: Resource, names: list[str]) -> list[str]:
    """Return the webhooks and transactions that contain one of some names, as texts."""
    transactions = list(platform.transactions.of_customer(account["customerId"]))
    texts = [
        *(json.dumps(transaction) for transaction in transactions),
        *(delivery.text for delivery in platform.webhooks.about(account["id"])),
    ]
    return [text for text in texts if any(name in text for name in names)]
