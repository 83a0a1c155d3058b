"""Embedded wallets: their owners, their members, and payments into them."""

from __future__ import annotations

import pytest

from conformance.platform.given.embedded_wallets import WALLET
from conformance.platform.platform import Platform
from conformance.platform.resource import require_member
from conformance.scenarios.cards.holdings import AMOUNT, FINAL_STATUSES
from conformance.scenarios.embedded_wallets.signing import whole_unit
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.terms import FEE_RULES, decide_fee_rule
from conformance.scenarios.webhooks.reports import BALANCE
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

# --- Provisioning ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    "business",
    [
        case("EMW-001", "individual", False),
        case("EMW-001", "business", True),
    ],
)
def test_customers_get_a_wallet_by_themselves(platform: Platform, business: bool) -> None:
    """An approved customer has an account of the wallet type, without any request for it."""
    customer = platform.wallets.transacting(business=business)

    wallets = platform.wallets.of_customer(customer)

    assert wallets, f"{customer['id']} has no account of the type {WALLET}"


@requirement("EMW-002")
def test_a_wallet_is_its_customers(platform: Platform) -> None:
    """A wallet in the list of its owner's accounts shows the owner's customerId, if any."""
    customer = platform.wallets.holder()
    name = platform.wallets.wallet(customer=customer)["id"]

    accounts = {
        account["id"]: account for account in platform.internal_accounts.of_customer(customer)
    }

    assert require_member(accounts[name], "customerId") == customer["id"]


@requirement("EMW-003")
def test_each_customer_has_a_wallet_of_its_own(platform: Platform) -> None:
    """The wallets of two customers have different ids."""
    first, second = (platform.wallets.of_customer(platform.wallets.holder()) for _ in range(2))

    if not first or not second:
        raise PreconditionFailed("a customer has no embedded wallet")
    assert not {wallet["id"] for wallet in first} & {wallet["id"] for wallet in second}


# --- What it shows --------------------------------------------------------------------------


@requirement("EMW-004")
def test_other_accounts_of_the_owner_of_a_wallet_are_not_private(platform: Platform) -> None:
    """The wallet shows the privacy flag, and no other account of its owner does."""
    customer = platform.wallets.holder()
    require_member(
        platform.wallets.wallet(customer=customer),
        platform.profile.bindings.require("wallet_privacy"),
    )

    other_accounts = [
        account
        for account in platform.internal_accounts.of_customer(customer)
        if account["type"] != WALLET
    ]

    if not other_accounts:
        raise ResourceMissing("customers with an embedded wallet have no other account")
    flags = {
        account["id"]: account.get(platform.profile.bindings.require("wallet_privacy"))
        for account in other_accounts
    }
    assert set(flags.values()) == {None}, flags


@requirement("EMW-005")
def test_a_wallet_has_no_sweep_rule(platform: Platform) -> None:
    """A wallet shows no sweepRule."""
    wallet = platform.wallets.wallet()

    assert wallet.get("sweepRule") is None


@requirement("EMW-006")
def test_nobody_has_labelled_a_wallet(platform: Platform) -> None:
    """A wallet shows no label, because only the platform supplies labels."""
    wallet = platform.wallets.wallet()

    assert not wallet.get("label")


@requirement("EMW-007")
def test_a_wallet_says_how_it_is_funded(platform: Platform) -> None:
    """The fundingPaymentInstructions of a wallet, if it shows them, are not empty."""
    wallet = platform.wallets.wallet()

    if wallet.get("fundingPaymentInstructions") is None:
        raise ResourceMissing(f"{wallet['id']} has no fundingPaymentInstructions")
    assert wallet["fundingPaymentInstructions"], wallet


# --- What comes in --------------------------------------------------------------------------


@requirement("EMW-010")
def test_a_deposit_is_not_signed(platform: Platform) -> None:
    """A deposit to a wallet raises its balance without a signature."""
    wallet = platform.wallets.wallet()
    before, _ = platform.internal_accounts.balances(wallet)
    amount = whole_unit(wallet)

    platform.internal_accounts.settle_deposit(wallet, amount)

    assert platform.internal_accounts.wait_for_balance(wallet, before + amount) == before + amount


@requirement("EMW-011")
def test_a_deposit_to_a_wallet_is_reported(platform: Platform) -> None:
    """A webhook shows the wallet with the balance after the deposit."""
    wallet = platform.wallets.wallet()
    before, _ = platform.internal_accounts.balances(wallet)
    amount = whole_unit(wallet)

    platform.internal_accounts.deposit(wallet, amount)

    report = platform.webhooks.wait_for(
        BALANCE,
        wallet["id"],
        where=lambda event: event.data["balance"]["amount"] == before + amount,
    )
    assert report is not None, f"no {BALANCE} for {wallet['id']} shows {before + amount}"


@requirement("EMW-012", "EMW-014", *FEE_RULES["SENDING"].values())
def test_a_payment_into_a_wallet_is_not_signed(platform: Platform, check: Check) -> None:
    """A quote into a wallet is executed without a signature, and its receiving amount arrives.

    It keeps to the rule of fees.
    """
    customer = platform.wallets.holder()
    wallet = platform.wallets.wallet(customer=customer)
    before, _ = platform.internal_accounts.balances(wallet)
    source = platform.internal_accounts.account(customer=customer)
    creation = platform.api.create_quote(platform.quotes.body(source, wallet, amount=AMOUNT))
    if not creation.accepted:
        raise ResourceMissing(f"{source['id']} does not pay into an embedded wallet: {creation}")

    answer = platform.api.execute_quote(creation.body["id"])

    decide_fee_rule(check, creation.body, "SENDING")
    with check("EMW-012"):
        answer.expect_accepted()
        assert not platform.wallets.asks_again(answer), answer
    with check("EMW-014"):
        status = platform.transactions.at_status(creation.body, *FINAL_STATUSES)["status"]
        if status != "COMPLETED":
            raise PreconditionFailed(f"the payment did not complete, but is {status}")
        expected = before + creation.body["totalReceivingAmount"]
        assert platform.internal_accounts.wait_for_balance(wallet, expected) == expected
