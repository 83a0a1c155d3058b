"""Amounts, currencies, rates and rounding."""

from __future__ import annotations

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_UP, Context, Decimal
from typing import Any

from conformance.reference import errors, rules

_EXACT = Context(prec=60)
_RATE = Context(prec=10)


def currency_of(code: str) -> rules.Currency:
    """Return the currency of a code; raises ``Refusal`` (INVALID_CURRENCY)."""
    currency = rules.CURRENCIES.get(code)
    if currency is None:
        known = ", ".join(rules.CURRENCIES)
        raise errors.Refusal(
            "INVALID_CURRENCY", f"Expected one of {known}; got {code[:16]!r}. See GET /config."
        )
    return currency


def currency_view(code: str) -> dict[str, Any]:
    """Return the currency object: ``code``, ``name``, ``symbol``, ``decimals``."""
    row = rules.CURRENCIES[code]
    return {"code": row.code, "name": row.name, "symbol": row.symbol, "decimals": row.decimals}


def money_view(amount: int, code: str) -> dict[str, Any]:
    """Return the money object of an amount in the smallest unit."""
    return {"amount": amount, "currency": currency_view(code)}


def market_rate(sending: str, receiving: str) -> Decimal:
    """Return the whole receiving units for one whole sending unit; 1 for the same currency."""
    if sending == receiving:
        return same_currency_rate()
    return _RATE.divide(rules.USD_PRICES[sending], rules.USD_PRICES[receiving])


def same_currency_rate() -> Decimal:
    """Return the rate of a quote whose currencies are the same: exactly 1."""
    return Decimal(1)


def smallest_unit_rate(rate: Decimal, sending: str, receiving: str) -> Decimal:
    """Return the smallest receiving units for one smallest sending unit."""
    shift = rules.CURRENCIES[receiving].decimals - rules.CURRENCIES[sending].decimals
    return rate.scaleb(shift, _EXACT)


def convert(amount: int, rate: Decimal, sending: str, receiving: str) -> int:
    """Return what a net sending amount buys, rounded down to the smallest receiving unit."""
    return floor(_EXACT.multiply(Decimal(amount), smallest_unit_rate(rate, sending, receiving)))


def cost(amount: int, rate: Decimal, sending: str, receiving: str) -> int:
    """Return the net sending amount that buys a receiving amount, rounded up."""
    return ceiling(_EXACT.divide(Decimal(amount), smallest_unit_rate(rate, sending, receiving)))


def half_up(value: Decimal) -> int:
    """Round to the nearest integer, halves upwards."""
    return int(value.to_integral_value(ROUND_HALF_UP))


def floor(value: Decimal) -> int:
    """Round down to an integer."""
    return int(value.to_integral_value(ROUND_FLOOR))


def ceiling(value: Decimal) -> int:
    """Round up to an integer."""
    return int(value.to_integral_value(ROUND_CEILING))


def number(value: Decimal) -> int | float:
    """Return the JSON number of a rate: 1 as the integer 1."""
    return int(value) if value == value.to_integral_value() else float(value)
