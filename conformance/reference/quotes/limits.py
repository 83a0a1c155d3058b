"""Limits on what a customer may send."""

from __future__ import annotations

from sqlalchemy import bindparam, func, select

from conformance.reference import errors, money
from conformance.reference.customers import customers
from conformance.reference.store import Customer, Transaction
from conformance.reference.unit import Unit, after

NEARLY_REACHED: str = "VOLUME_NEARLY_REACHED"
"""The condition of a customer that tells how much of its daily volume is left."""

_DAY_SECONDS = 24 * 60 * 60
_MOVED = select(func.sum(Transaction.sending_amount)).where(
    Transaction.customer_id == bindparam("customer"),
    Transaction.sending_currency == bindparam("currency"),
    Transaction.executed_at >= bindparam("since"),
    Transaction.status != "FAILED",
)


def limit_in(limits: dict[str, int], currency: str) -> int:
    """Return a limit in a currency: its own, or the equivalent of the one in US dollars."""
    if currency in limits:
        return limits[currency]
    return money.convert(limits["USD"], money.market_rate("USD", currency), "USD", currency)


def is_over_transaction_limit(amount: int, limit: int) -> bool:
    """Return whether one transaction is too large; the limit itself is allowed."""
    return amount > limit


def is_over_daily_limit(moved: int, amount: int, limit: int) -> bool:
    """Return whether a day's volume would be exceeded; the limit itself is allowed."""
    return moved + amount > limit


def refuse_large(unit: Unit, amount: int, currency: str) -> None:
    """Refuse a sending amount above the maximum single transaction."""
    limit = limit_in(unit.settings.transaction_limits, currency)
    if is_over_transaction_limit(amount, limit):
        raise errors.Refusal(
            "TRANSACTION_SIZE_LIMIT_EXCEEDED",
            f"Expected a sending amount of at most {limit} {currency}. Send less at once.",
        )


def refuse_unproven(unit: Unit, amount: int, currency: str) -> None:
    """Refuse a sending amount for which the destination's ownership has to be proved first."""
    limit = limit_in(unit.settings.unproven_limits, currency)
    if is_over_transaction_limit(amount, limit):
        raise errors.Refusal(
            "EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED",
            f"Above {limit} {currency} the destination's ownership has to be verified first.",
        )


def refuse_volume(unit: Unit, customer: Customer, amount: int, currency: str) -> None:
    """Refuse what would exceed the customer's daily volume."""
    limit = limit_in(unit.settings.daily_limits, currency)
    if is_over_daily_limit(moved_today(unit, customer, currency), amount, limit):
        raise errors.Refusal(
            "DAILY_VOLUME_LIMIT_EXCEEDED",
            f"The customer may send {limit} {currency} in 24 hours. Try again later.",
        )


def moved_today(unit: Unit, customer: Customer, currency: str) -> int:
    """Return what the customer has sent in the last 24 hours."""
    limit = limit_in(unit.settings.daily_limits, currency)
    if customers.has_condition(customer, "VOLUME_REACHED"):
        return limit
    before = limit - customer.conditions.get(NEARLY_REACHED, limit)
    since = after(unit.now, -_DAY_SECONDS)
    values = {"customer": customer.id, "currency": currency, "since": since}
    return int(before) + int(unit.session.scalar(_MOVED, values) or 0)
