"""Embedded wallets: whose they are, what they show, and what comes in."""

from __future__ import annotations

from conformance.client.actor import given
from conformance.client.embedded_wallets import WALLET
from conformance.client.platform import Platform
from conformance.scenarios.holdings import AMOUNT, OVER
from conformance.scenarios.marks import Check, requirement
from conformance.scenarios.reports import BALANCE
from conformance.scenarios.signing import whole
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

# --- Provisioning ---------------------------------------------------------------------------


@requirement("EMW-001")
def test_customers_get_a_wallet_by_themselves(platform: Platform) -> None:
    """Nobody has asked for it by the time they are approved."""
    customer = platform.wallet_holder()

    wallets = platform.wallets(customer)

    assert wallets, f"{customer['id']} has no account of the type {WALLET}"


@requirement("EMW-002")
def test_a_wallet_is_its_customers(platform: Platform) -> None:
    """Where the list of a customer's accounts says whose they are."""
    customer = platform.wallet_holder()
    name = platform.wallet(customer=customer)["id"]

    listed = {account["id"]: account for account in platform.internal_accounts(customer)}

    assert given(listed[name], "customerId") == customer["id"]


@requirement("EMW-003")
def test_each_customer_has_a_wallet_of_its_own(platform: Platform) -> None:
    """Two customers share none."""
    mine, yours = (platform.wallets(platform.wallet_holder()) for _ in range(2))

    if not mine or not yours:
        raise PreconditionFailed("a customer has no embedded wallet")
    assert not {wallet["id"] for wallet in mine} & {wallet["id"] for wallet in yours}


# --- What it shows --------------------------------------------------------------------------


@requirement("ACC-051")
def test_whether_a_wallet_is_private_is_said_by_a_boolean(platform: Platform) -> None:
    """Where a flag of the profile's name is shown."""
    wallet = platform.wallet()

    private = given(wallet, platform.profile.bindings.wallet_privacy)

    assert isinstance(private, bool), private


@requirement("EMW-004")
def test_other_accounts_of_the_owner_of_a_wallet_are_not_private(platform: Platform) -> None:
    """The flag is shown on the wallet, and not on the accounts beside it."""
    customer = platform.wallet_holder()
    given(platform.wallet(customer=customer), platform.profile.bindings.wallet_privacy)

    beside = [
        account for account in platform.internal_accounts(customer) if account["type"] != WALLET
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
    wallet = platform.wallet()

    assert wallet.get("sweepRule") is None


@requirement("EMW-006")
def test_nobody_has_labelled_a_wallet(platform: Platform) -> None:
    """A label is what the platform supplies."""
    wallet = platform.wallet()

    assert not wallet.get("label")


@requirement("EMW-007")
def test_a_wallet_says_how_it_is_funded(platform: Platform) -> None:
    """Where ways to fund it are given at all, there is one."""
    wallet = platform.wallet()

    if wallet.get("fundingPaymentInstructions") is None:
        raise ResourceMissing(f"{wallet['id']} has no fundingPaymentInstructions")
    assert wallet["fundingPaymentInstructions"], wallet


# --- What comes in --------------------------------------------------------------------------


@requirement("EMW-010")
def test_a_deposit_is_not_signed(platform: Platform) -> None:
    """It can be spent without anything from the owner's device."""
    wallet = platform.wallet()
    before, _ = platform.balances(wallet)
    amount = whole(wallet)

    platform.arrive(wallet, amount)

    assert platform.balance_at(wallet, before + amount) == before + amount


@requirement("EMW-011")
def test_a_deposit_to_a_wallet_is_reported(platform: Platform) -> None:
    """The event shows the wallet with the balance that the deposit leaves."""
    wallet = platform.wallet()
    before, _ = platform.balances(wallet)
    amount = whole(wallet)

    platform.deposit(wallet, amount)

    found = platform.event(
        BALANCE,
        wallet["id"],
        where=lambda event: event.data["balance"]["amount"] == before + amount,
    )
    assert found is not None, f"no {BALANCE} for {wallet['id']} shows {before + amount}"


@requirement("EMW-012", "EMW-014")
def test_a_payment_into_a_wallet_is_not_signed(platform: Platform, check: Check) -> None:
    """It is executed as any other payment out of the account that pays."""
    customer = platform.wallet_holder()
    wallet = platform.wallet(customer=customer)
    before, _ = platform.balances(wallet)
    source = platform.account(customer=customer)
    created = platform.create_quote(platform.quote_body(source, wallet, amount=AMOUNT))
    if not created.accepted:
        raise ResourceMissing(f"{source['id']} does not pay into an embedded wallet: {created}")

    answer = platform.execute(created.body)

    with check("EMW-012"):
        assert answer.accepted, answer
        assert not platform.asks_again(answer), answer
    with check("EMW-014"):
        status = platform.transaction_in(created.body, *OVER)["status"]
        if status != "COMPLETED":
            raise PreconditionFailed(f"the payment did not complete, but is {status}")
        arrived = before + created.body["totalReceivingAmount"]
        assert platform.balance_at(wallet, arrived) == arrived
