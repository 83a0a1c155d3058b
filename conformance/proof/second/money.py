"""Currencies, rates between them, and amounts in smallest units."""

from dataclasses import dataclass
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from typing import Any

from conformance.proof.second.errors import Refusal

Json = dict[str, Any]

_RATES = Context(prec=8)


@dataclass(frozen=True)
class Coin:
    """A currency: its name, its symbol, its decimals, and what one unit is worth in US dollars."""

    code: str
    name: str
    symbol: str
    decimals: int
    worth: Decimal
    crypto: bool = False


_TABLE = """
USD|US Dollar|$|2|1
EUR|Euro|€|2|1.12
GBP|Pound Sterling|£|2|1.28
MXN|Mexican Peso|$|2|0.054
BRL|Brazilian Real|R$|2|0.18
COP|Colombian Peso|$|2|0.00025
PHP|Philippine Peso|₱|2|0.0175
INR|Indian Rupee|₹|2|0.0118
NGN|Nigerian Naira|₦|2|0.00065
ZAR|South African Rand|R|2|0.056
CAD|Canadian Dollar|$|2|0.72
AED|UAE Dirham|AED|2|0.2723
ILS|Israeli New Shekel|₪|2|0.28
BDT|Bangladeshi Taka|৳|2|0.0083
CNY|Chinese Yuan|¥|2|0.139
KES|Kenyan Shilling|KSh|2|0.0077
TZS|Tanzanian Shilling|TSh|2|0.00037
ZMW|Zambian Kwacha|ZK|2|0.041
RWF|Rwandan Franc|FRw|0|0.0007
MWK|Malawian Kwacha|MK|2|0.00058
UGX|Ugandan Shilling|USh|0|0.00028
XOF|West African CFA Franc|CFA|0|0.0017
BWP|Botswana Pula|P|2|0.074
DKK|Danish Krone|kr|2|0.15
HKD|Hong Kong Dollar|HK$|2|0.128
IDR|Indonesian Rupiah|Rp|2|0.000061
MYR|Malaysian Ringgit|RM|2|0.225
SGD|Singapore Dollar|S$|2|0.76
THB|Thai Baht|฿|2|0.029
VND|Vietnamese Dong|₫|0|0.000039
XAF|Central African CFA Franc|FCFA|0|0.0017
BTC|Bitcoin|₿|8|100000
USDC|USD Coin|USDC|6|1
USDT|Tether|USDT|6|1
USDB|Brale Dollar|USDB|6|1
"""


def _coin(line: str) -> Coin:
    code, name, symbol, decimals, worth = line.split("|")
    crypto = code in {"BTC", "USDC", "USDT", "USDB"}
    return Coin(code, name, symbol, int(decimals), Decimal(worth), crypto)


COINS = {coin.code: coin for coin in map(_coin, _TABLE.strip().splitlines())}


def coin(code: Any) -> Coin:
    """Return the currency of a code.

    Raises:
        Refusal: with `INVALID_CURRENCY` for any other value.
    """
    found = COINS.get(code) if isinstance(code, str) else None
    if not found:
        raise Refusal("INVALID_CURRENCY", "This currency is not offered.")
    return found


def shown(code: str) -> Json:
    """Return the currency object of a code."""
    found = COINS[code]
    return {
        "code": found.code,
        "name": found.name,
        "symbol": found.symbol,
        "decimals": found.decimals,
    }


def money(amount: int, code: str) -> Json:
    """Return the money object of so many smallest units."""
    return {"amount": amount, "currency": shown(code)}


def rate(sending: str, receiving: str) -> Decimal:
    """Return what one whole unit of a currency is in another one; 1 within one currency."""
    if sending == receiving:
        return Decimal(1)
    return _RATES.divide(COINS[sending].worth, COINS[receiving].worth)


def unit_rate(sending: str, receiving: str) -> Decimal:
    """Return what one smallest unit of a currency is in smallest units of another one."""
    shift = COINS[receiving].decimals - COINS[sending].decimals
    return rate(sending, receiving).scaleb(shift)


def floor(value: Decimal) -> int:
    """Round down to a whole number."""
    return int(value.to_integral_value(ROUND_FLOOR))


def ceiling(value: Decimal) -> int:
    """Round up to a whole number."""
    return int(value.to_integral_value(ROUND_CEILING))


def half_up(value: Decimal) -> int:
    """Round to the nearest whole number, halves up."""
    return int(value.to_integral_value(ROUND_HALF_UP))
