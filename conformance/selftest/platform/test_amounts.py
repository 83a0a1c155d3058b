"""Self-tests of what is paid where a test does not say."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.platform.given.amounts import usual_amount


def _internal(currency: Any) -> dict[str, Any]:
    return {"id": "InternalAccount:1", "balance": {"amount": 0, "currency": currency}}


@pytest.mark.parametrize(
    ("account", "amount"),
    [
        (_internal({"code": "USD", "decimals": 2}), 10_000),
        (_internal({"code": "JPY", "decimals": 0}), 10_000),
        (_internal({"code": "BTC", "decimals": 8}), 10_000),
        (_internal({"code": "EURC", "decimals": 6}), 1_000_000),
        ({"id": "ExternalAccount:1", "currency": "USDT"}, 1_000_000),
        ({"id": "ExternalAccount:1", "currency": "MXN"}, 10_000),
        (_internal(None), 10_000),
        (_internal({"decimals": "6"}), 10_000),
        ({"balance": 7, "currency": ["USDC"]}, 10_000),
    ],
)
def test_one_whole_of_a_coin_with_six_decimals_is_paid(
    account: dict[str, Any], amount: int
) -> None:
    """Of any other currency, or of what shows none, it is always the same number."""
    assert usual_amount(account) == amount
