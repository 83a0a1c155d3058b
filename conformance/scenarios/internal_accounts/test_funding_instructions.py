"""Funding of internal accounts: the entries of ``fundingPaymentInstructions``."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import require_member
from conformance.scenarios.cards.holdings import account_or_wallet_info, account_or_wallet_infos
from conformance.scenarios.kit.marks import requirement
from conformance.verdict.decisions import ResourceMissing

CURRENCIES = (None, "BTC", "USDC", "EUR")
"""The currencies whose accounts are searched; ``None`` is the usual one of the profile."""


@requirement("ACC-090")
def test_there_is_a_way_to_fund_an_active_account(platform: Platform) -> None:
    """``fundingPaymentInstructions`` of an ACTIVE account has at least one entry."""
    account = platform.internal_accounts.account(amount=0)

    entries = require_member(account, "fundingPaymentInstructions")

    if account["status"] != "ACTIVE":
        raise ResourceMissing(f"the account is {account['status']}")
    assert entries


@requirement("ACC-091")
def test_each_way_to_fund_an_account_tells_its_kind(platform: Platform) -> None:
    """Each ``accountOrWalletInfo`` has an ``accountType``, on which its other members depend."""
    account = platform.internal_accounts.account(amount=0)

    funding_infos = account_or_wallet_infos(account)

    if not funding_infos:
        raise ResourceMissing("the account does not say how to fund it")
    assert all(info["accountType"] for info in funding_infos)


@requirement("ACC-092")
def test_the_notes_of_an_instruction_are_text(platform: Platform) -> None:
    """Each ``instructionsNotes`` that is given is a text."""
    account = platform.internal_accounts.account(amount=0)

    notes = [
        entry["instructionsNotes"]
        for entry in require_member(account, "fundingPaymentInstructions")
        if entry.get("instructionsNotes") is not None
    ]

    if not notes:
        raise ResourceMissing("no instruction has notes")
    assert all(isinstance(note, str) for note in notes)


@pytest.mark.parametrize(
    "member",
    [
        pytest.param("reference", marks=requirement("ACC-093"), id="reference"),
        pytest.param("accountNumber", marks=requirement("ACC-094"), id="account-number"),
        pytest.param("routingNumber", marks=requirement("ACC-095"), id="routing-number"),
        pytest.param("accountHolderName", marks=requirement("ACC-096"), id="holder"),
        pytest.param("accountCategory", marks=requirement("ACC-097"), id="category"),
        pytest.param("bankName", marks=requirement("ACC-098"), id="bank"),
        pytest.param("assetType", marks=requirement("ACC-099"), id="asset"),
        pytest.param("address", marks=requirement("ACC-100"), id="address"),
        pytest.param("invoice", marks=requirement("ACC-101"), id="invoice"),
    ],
)
def test_a_member_of_an_instruction_is_text(platform: Platform, member: str) -> None:
    """The member of an ``accountOrWalletInfo`` is a text, where an account has it."""
    info = account_or_wallet_info(platform, lambda info: info.get(member) is not None, CURRENCIES)

    assert isinstance(info[member], str)


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        pytest.param("US_ACCOUNT", ("accountNumber",), marks=requirement("ACC-102"), id="number"),
        pytest.param("US_ACCOUNT", ("routingNumber",), marks=requirement("ACC-103"), id="routing"),
        pytest.param("SOLANA_WALLET", ("address",), marks=requirement("ACC-104"), id="solana"),
        pytest.param("SPARK_WALLET", ("address",), marks=requirement("ACC-105"), id="spark"),
    ],
)
def test_an_instruction_names_where_to_pay(
    platform: Platform, kind: str, members: tuple[str, ...]
) -> None:
    """The ``accountOrWalletInfo`` of this type has the member that a payment needs."""
    info = account_or_wallet_info(
        platform, lambda info: info.get("accountType") == kind, CURRENCIES
    )

    assert all(info.get(member) for member in members), info


@requirement("ACC-106")
def test_two_accounts_are_funded_in_different_ways(platform: Platform) -> None:
    """The instructions of two accounts differ, so that payments to them can be told apart."""
    first, second = (
        require_member(platform.internal_accounts.account(amount=0), "fundingPaymentInstructions")
        for _ in range(2)
    )

    assert first != second
