"""Internal accounts that a check needs, and whether money comes in or goes out of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.exchange.answer import Answer
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource
from conformance.scenarios.kit.marks import SETTLING
from conformance.text.paths import value_at
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

AMOUNT = 10_000
FINAL_STATUSES = ("COMPLETED", "EXPIRED", *FAILED)


def account_in(platform: Platform, currency: str, *, amount: int = 0) -> Resource:
    """Create a customer with an internal account in a currency, and return the account.

    Raises:
        ResourceMissing: ``GET /config`` does not list the currency, or no account is in it.
    """
    code_member = platform.profile.bindings.require("config_currency")
    currencies = platform.configuration.read().get("supportedCurrencies") or ()
    if currency not in [value_at(entry, code_member) for entry in currencies]:
        raise ResourceMissing(f"{currency} is not among the supportedCurrencies")
    return platform.internal_accounts.account(currency, amount=amount)


def crypto_account(platform: Platform) -> Resource:
    """Create a customer with an internal account in BTC, USDC or USDT, and return the account.

    Raises:
        ResourceMissing: customers get no account in these currencies.
    """
    for currency in ("BTC", "USDC", "USDT"):
        try:
            return account_in(platform, currency)
        except ResourceMissing:
            continue
    raise ResourceMissing("customers get no internal account in BTC, USDC or USDT")


ACCOUNTS: Mapping[str, Callable[[Platform], Resource]] = {
    "fiat": lambda platform: platform.internal_accounts.account(amount=0),
    "crypto": crypto_account,
    "wallet": lambda platform: platform.wallets.wallet(),
}
"""By kind of internal account how that of a new customer is arranged."""


def two_accounts(platform: Platform) -> tuple[Resource, Resource]:
    """Create a customer with two internal accounts, and return the usual and the other one.

    Raises:
        ResourceMissing: the corridors of the profile have only one sending currency.
    """
    corridors = platform.profile.resources.corridors
    for currency in dict.fromkeys(corridor.sending for corridor in corridors):
        if currency != platform.profile.currency:
            customer = platform.approved.individual(
                currencies=[platform.profile.currency, currency]
            )
            usual = platform.internal_accounts.account(amount=0, customer=customer)
            return usual, platform.internal_accounts.account(currency, amount=0, customer=customer)
    raise ResourceMissing("resources.corridors of the profile names one sending currency alone")


def platform_account(platform: Platform) -> Resource:
    """Return an internal account of the platform that is ACTIVE, in the usual currency if any is.

    Raises:
        ResourceMissing: the platform has no such account.
    """
    accounts = platform.internal_accounts.of_platform()
    active = [account for account in accounts if account.get("status") == "ACTIVE"]
    if not active:
        raise ResourceMissing("the platform has no internal account that is ACTIVE")
    usual = platform.profile.currency
    return min(active, key=lambda account: account["balance"]["currency"]["code"] != usual)


def expect_no_deposit(platform: Platform, account: Resource) -> None:
    """Assert that a deposit to an account is refused, or does not raise its balance.

    Raises:
        PreconditionFailed: no deposit arrives on another account in the currency either.
        ResourceMissing: the deposit is accepted, and the account's balance cannot be read.
    """
    __tracebackhide__ = True
    platform.internal_accounts.account(account["balance"]["currency"]["code"], amount=AMOUNT)
    try:
        before = platform.internal_accounts.balances(account)[0]
    except PreconditionFailed:
        before = None
    try:
        platform.internal_accounts.settle_deposit(account, AMOUNT)
    except TriggerFailed as error:
        platform.observe(f"deposits are refused: {error}")
        return
    if before is None:
        raise ResourceMissing("the account is not shown, nor what has arrived on it")
    after = platform.until(
        lambda: platform.internal_accounts.balances(account)[0], lambda balance: balance != before
    )
    assert after <= before, f"a deposit has arrived: the balance went from {before} to {after}"


def expect_no_payment(platform: Platform, answers: list[Answer], twins: list[Answer]) -> None:
    """Assert that a payment is refused at one of its steps, or does not complete in the end.

    Args:
        platform: the suite in the part of a platform.
        answers: the answers to the steps of the payment, up to a refusal.
        twins: the answers to the same steps of a payment that is accepted.
    """
    __tracebackhide__ = True
    last = answers[-1]
    if not last.accepted:
        last.refused(twin=twins[: len(answers)][-1])
    elif last.body.get("status") in SETTLING:
        status = platform.transactions.at_status(answers[0].body, *FINAL_STATUSES).get("status")
        assert status != "COMPLETED", f"the payment has arrived: {last}"


def require_no_payment_into(platform: Platform, account: Resource) -> None:
    """Assert that a payment of another customer into an account does not arrive.

    Raises:
        ResourceMissing: customers cannot pay into each other's accounts at all.
    """
    __tracebackhide__ = True
    currency = account["balance"]["currency"]["code"]
    source, active_account = (
        platform.internal_accounts.account(),
        platform.internal_accounts.account(currency, amount=0),
    )
    twin_body, body = (
        platform.quotes.body(source, destination, amount=AMOUNT)
        for destination in (active_account, account)
    )
    twins = platform.quotes.create_and_execute(twin_body)
    if not twins[-1].accepted:
        raise ResourceMissing(f"customers pay nothing into each other's accounts: {twins[-1]}")

    expect_no_payment(platform, platform.quotes.create_and_execute(body), twins)

    at_once = {"immediatelyExecute": True}
    twin = platform.api.create_quote({**twin_body, **at_once})
    if twin.accepted:
        expect_no_payment(platform, [platform.api.create_quote({**body, **at_once})], [twin])


def account_or_wallet_info(
    platform: Platform, fits: Callable[[Json], bool], currencies: tuple[str | None, ...] = (None,)
) -> Json:
    """Return the first accountOrWalletInfo of new customers' accounts for which ``fits`` is true.

    ``None`` in ``currencies`` stands for the usual currency.

    Raises:
        ResourceMissing: no account has such an accountOrWalletInfo.
    """
    for currency in currencies:
        try:
            account = account_in(platform, currency or platform.profile.currency)
        except ResourceMissing:
            continue
        for info in account_or_wallet_infos(account):
            if fits(info):
                return info
    raise ResourceMissing("no internal account is funded in such a way")


def account_or_wallet_infos(account: Resource) -> list[Json]:
    """Return the accountOrWalletInfo of each of an account's fundingPaymentInstructions."""
    entries: Any = account.get("fundingPaymentInstructions") or ()
    return [
        entry["accountOrWalletInfo"]
        for entry in entries
        if isinstance(entry, Mapping) and isinstance(entry.get("accountOrWalletInfo"), Mapping)
    ]


def arrange_status(platform: Platform, account: Resource, status: str) -> None:
    """Raise ``PreconditionFailed`` unless an internal account comes to a status."""
    current = platform.internal_accounts.at_status(account, status).get("status")
    if current != status:
        raise PreconditionFailed(f"{account['id']} is {current} in place of {status}")
