"""Embedded wallets: whose they are, what they show, and what comes in."""

from __future__ import annotations

from conformance.platform.given.embedded_wallets import WALLET
from conformance.platform.platform import Platform
from conformance.platform.resource import require_member
from conformance.scenarios.cards.holdings import AMOUNT, OVER
from conformance.scenarios.embedded_wallets.signing import whole
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.webhooks.reports import BALANCE
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

# --- Provisioning ---------------------------------------------------------------------------


@requirement("EMW-001")
def test_customers_get_a_wallet_by_themselves(platform: Platform) -> None:
    """Nobody has asked for it by the time they are approved."""
    customer = platform.wallets.holder()

    wallets = platform.wallets.of_customer(customer)

    assert wallets, f"{customer['id']} has no account of the type {WALLET}"


@requirement("EMW-002")
def test_a_wallet_is_its_customers(platform: Platform) -> None:
    """Where the list of a customer's accounts says whose they are."""
    customer = platform.wallets.holder()
    name = platform.wallets.wallet(customer=customer)["id"]

    listed = {
        account["id"]: account for account in platform.internal_accounts.of_customer(customer)
    }

    assert require_member(listed[name], "customerId") == customer["id"]


@requirement("EMW-003")
def test_each_customer_has_a_wallet_of_its_own(platform: Platform) -> None:
    """Two customers share none."""
    mine, yours = (platform.wallets.of_customer(platform.wallets.holder()) for _ in range(2))

    if not mine or not yours:
        raise PreconditionFailed("a customer has no embedded wallet")
    assert not {wallet["id"] for wallet in mine} & {wallet["id"] for wallet in yours}


# --- What it shows --------------------------------------------------------------------------


@requirement("EMW-004")
def test_other_accounts_of_the_owner_of_a_wallet_are_not_private(platform: Platform) -> None:
    """The flag is shown on the wallet, and not on the accounts beside it."""
    customer = platform.wallets.holder()
    require_member(
        platform.wallets.wallet(customer=customer), platform.profile.bindings.wallet_privacy
    )

    beside = [
        account
        for account in platform.internal_accounts.of_customer(customer)
        if account["type"] != WALLET
    ]

    if not beside:
        raise ResourceMissing("customers with an embedded wallet have no other account")
    flags = {
        account["id"]: account.get(platform.profile.bindings.wallet_privacy) for account in beside
    }
    assert set(flags.values()) == {None}, flags


@requirement("EMW-005")
def test_a_wallet_has_no_sweep_rule(platform: Platform) -> None:
    """What settles into it stays there."""
    wallet = platform.wallets.wallet()

    assert wallet.get("sweepRule") is None


@requirement("EMW-006")
def test_nobody_has_labelled_a_wallet(platform: Platform) -> None:
    """A label is what the platform supplies."""
    wallet = platform.wallets.wallet()

    assert not wallet.get("label")


@requirement("EMW-007")
def test_a_wallet_says_how_it_is_funded(platform: Platform) -> None:
    """Where ways to fund it are given at all, there is one."""
    wallet = platform.wallets.wallet()

    if wallet.get("fundingPaymentInstructions") is None:
        raise ResourceMissing(f"{wallet['id']} has no fundingPaymentInstructions")
    assert wallet["fundingPaymentInstructions"], wallet


# --- What comes in --------------------------------------------------------------------------


@requirement("EMW-010")
def test_a_deposit_is_not_signed(platform: Platform) -> None:
    """It can be spent without anything from the owner's device."""
    wallet = platform.wallets.wallet()
    before, _ = platform.internal_accounts.balances(wallet)
    amount = whole(wallet)

    platform.internal_accounts.settle_deposit(wallet, amount)

    assert platform.internal_accounts.wait_for_balance(wallet, before + amount) == before + amount


@requirement("EMW-011")
def test_a_deposit_to_a_wallet_is_reported(platform: Platform) -> None:
    """The event shows the wallet with the balance that the deposit leaves."""
    wallet = platform.wallets.wallet()
    before, _ = platform.internal_accounts.balances(wallet)
    amount = whole(wallet)

    platform.internal_accounts.deposit(wallet, amount)

    found = platform.webhooks.wait_for(
        BALANCE,
        wallet["id"],
        where=lambda event: event.data["balance"]["amount"] == before + amount,
    )
    assert found is not None, f"no {BALANCE} for {wallet['id']} shows {before + amount}"


@requirement("EMW-012", "EMW-014")
def test_a_payment_into_a_wallet_is_not_signed(platform: Platform, check: Check) -> None:
    """It is executed as any other payment out of the account that pays."""
    customer = platform.wallets.holder()
    wallet = platform.wallets.wallet(customer=customer)
    before, _ = platform.internal_accounts.balances(wallet)
    source = platform.internal_accounts.account(customer=customer)
    created = platform.api.create_quote(platform.quotes.body(source, wallet, amount=AMOUNT))
    if not created.accepted:
        raise ResourceMissing(f"{source['id']} does not pay into an embedded wallet: {created}")

    answer = platform.api.execute_quote(created.body["id"])

    with check("EMW-012"):
        assert answer.accepted, answer
        assert not platform.wallets.asks_again(answer), answer
    with check("EMW-014"):
        status = platform.transactions.at_status(created.body, *OVER)["status"]
        if status != "COMPLETED":
            raise PreconditionFailed(f"the payment did not complete, but is {status}")
        arrived = before + created.body["totalReceivingAmount"]
        assert platform.internal_accounts.wait_for_balance(wallet, arrived) == arrived
