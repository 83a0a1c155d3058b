"""How internal accounts are funded: the entries of fundingPaymentInstructions."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import require_member
from conformance.scenarios.cards.holdings import infos, instruction
from conformance.scenarios.kit.marks import requirement
from conformance.verdict.decisions import ResourceMissing

KINDS = (None, "BTC", "USDC", "EUR")
"""The currencies whose accounts are looked at, the usual one first."""


@requirement("ACC-090")
def test_there_is_a_way_to_fund_an_active_account(platform: Platform) -> None:
    """One entry at least says where to pay to."""
    account = platform.internal_accounts.account(amount=0)

    entries = require_member(account, "fundingPaymentInstructions")

    if account["status"] != "ACTIVE":
        raise ResourceMissing(f"the account is {account['status']}")
    assert entries


@requirement("ACC-091")
def test_each_way_to_fund_an_account_tells_its_kind(platform: Platform) -> None:
    """The other members depend on it; its form is judged as it is listed."""
    account = platform.internal_accounts.account(amount=0)

    found = infos(account)

    if not found:
        raise ResourceMissing("the account does not say how to fund it")
    assert all(info["accountType"] for info in found)


@requirement("ACC-092")
def test_the_notes_of_an_instruction_are_text(platform: Platform) -> None:
    """They are for whoever pays."""
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
    """Where the kind of account has it."""
    info = instruction(platform, lambda info: info.get(member) is not None, KINDS)

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
    """Nobody could pay without it."""
    info = instruction(platform, lambda info: info.get("accountType") == kind, KINDS)

    assert all(info.get(member) for member in members), info


@requirement("ACC-106")
def test_two_accounts_are_funded_in_different_ways(platform: Platform) -> None:
    """A payment has to be told apart from one for somebody else."""
    first, second = (
        require_member(platform.internal_accounts.account(amount=0), "fundingPaymentInstructions")
        for _ in range(2)
    )

    assert first != second
