"""Wallets: accounts that money reaches by an address, with nobody named behind it."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import requirement
from conformance.scenarios.protocol.unsaid import with_known_values

UNNAMED = {
    "base_wallet": "WAL-027",
    "polygon_wallet": "WAL-047",
    "solana_wallet": "WAL-125",
    "tron_wallet": "WAL-067",
    "plasma_wallet": "WAL-087",
    "arbitrum_wallet": "WAL-107",
    "spark_wallet": "WAL-145",
}
"""By example the rule that such wallets need no beneficiary."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=requirement(rule), id=name) for name, rule in UNNAMED.items()]
)
def test_a_wallet_needs_no_beneficiary(platform: Platform, name: str) -> None:
    """Nothing about its owner is sent."""
    body = platform.external_accounts.body(platform.external_accounts.account_holder(), name)

    created = platform.api.create_external_account(body)

    assert with_known_values(platform, created).accepted, created
