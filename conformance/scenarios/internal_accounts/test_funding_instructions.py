"""Funding of internal accounts: the entries of ``fundingPaymentInstructions``."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import require_member, without_members
from conformance.scenarios.cards.holdings import (
    ACCOUNTS,
    account_or_wallet_info,
    account_or_wallet_infos,
)
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import requirement
from conformance.verdict.decisions import ResourceMissing

NO_ROUTE = ("accountHolderName", "accountCategory", "bankName")
"""Members of an instruction that lead a payment to no account."""

CURRENCIES = (None, "BTC", "USDC", "EUR")
"""The currencies whose accounts are searched; ``None`` is the usual one of the profile."""


@requirement("ACC-090")
@pytest.mark.parametrize("kind", ["fiat", "crypto"])
def test_there_is_a_way_to_fund_an_active_account(platform: Platform, kind: str) -> None:
    """``fundingPaymentInstructions`` of an ACTIVE account has at least one entry."""
    account = ACCOUNTS[kind](platform)

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
        case("ACC-093", "reference", "reference"),
        case("ACC-094", "account-number", "accountNumber"),
        case("ACC-095", "routing-number", "routingNumber"),
        case("ACC-096", "holder", "accountHolderName"),
        case("ACC-097", "category", "accountCategory"),
        case("ACC-098", "bank", "bankName"),
        case("ACC-099", "asset", "assetType"),
        case("ACC-100", "address", "address"),
        case("ACC-101", "invoice", "invoice"),
    ],
)
def test_a_member_of_an_instruction_is_text(platform: Platform, member: str) -> None:
    """The member of an ``accountOrWalletInfo`` is a text, where an account has it."""
    info = account_or_wallet_info(platform, lambda info: info.get(member) is not None, CURRENCIES)

    assert isinstance(info[member], str)


@pytest.mark.parametrize(
    ("kind", "members"),
    [
        case("ACC-102", "number", "US_ACCOUNT", ("accountNumber",)),
        case("ACC-103", "routing", "US_ACCOUNT", ("routingNumber",)),
        case("ACC-104", "solana", "SOLANA_WALLET", ("address",)),
        case("ACC-105", "spark", "SPARK_WALLET", ("address",)),
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
@pytest.mark.parametrize("kind", ["fiat", "crypto"])
def test_two_accounts_are_funded_in_different_ways(platform: Platform, kind: str) -> None:
    """The instructions of two accounts differ, so that payments to them can be told apart.

    Banks and networks do so by numbers, addresses and references, not by names.
    """
    accounts = [ACCOUNTS[kind](platform) for _ in range(2)]

    first, second = (
        [
            (
                entry.get("instructionsNotes"),
                without_members(entry["accountOrWalletInfo"], *NO_ROUTE),
            )
            for entry in require_member(account, "fundingPaymentInstructions")
        ]
        for account in accounts
    )
    assert first != second
