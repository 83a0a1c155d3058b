"""What is paid, and what is there to be paid, where a test does not say."""

from __future__ import annotations

from collections.abc import Mapping

from conformance.platform.resource import Json

USUAL = 10_000
DEPOSITS = 10
"""How many usual payments a usual deposit is enough for."""

_COINS = frozenset({"USDC", "USDT", "USDB"})
_COIN_DECIMALS = 6


def usual_amount(account: Json) -> int:
    """Return what is usually paid from, or to, an account, in the smallest unit.

    It is a hundred dollars, or what that number is of another currency. Of a coin with six decimals
    it is one whole, as many pay out no smaller amount.

    Args:
        account: an internal account, or an external one, which tells no more than a code.
    """
    balance = account.get("balance")
    currency = balance.get("currency") if isinstance(balance, Mapping) else account.get("currency")
    decimals = currency.get("decimals") if isinstance(currency, Mapping) else None
    is_coin = decimals == _COIN_DECIMALS or (isinstance(currency, str) and currency in _COINS)
    return 10**_COIN_DECIMALS if is_coin else USUAL
