"""Crypto wallets as external accounts: they have an address, and need no beneficiary."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.scenarios.kit.cases import case
from conformance.scenarios.protocol.unsaid import with_known_values

WALLETS = {
    "base_wallet": "WAL-027",
    "polygon_wallet": "WAL-047",
    "solana_wallet": "WAL-125",
    "tron_wallet": "WAL-067",
    "plasma_wallet": "WAL-087",
    "arbitrum_wallet": "WAL-107",
    "spark_wallet": "WAL-145",
}
"""By example the requirement that such wallets need no beneficiary."""


@pytest.mark.parametrize(
    "name",
    [case(requirement_id, name, name) for name, requirement_id in WALLETS.items()],
)
def test_a_wallet_needs_no_beneficiary(platform: Platform, name: str) -> None:
    """A request with the example of a wallet, which has no beneficiary, is accepted."""
    body = platform.external_accounts.body(platform.external_accounts.account_holder(), name)

    answer = platform.api.create_external_account(body)

    assert with_known_values(platform, answer).accepted, answer
