"""The standing fee of the platform: a test sets it, and sees it in a quote."""

from __future__ import annotations

from decimal import Decimal
from functools import cache
from typing import Any

from conformance.exchange.answer import Answer
from conformance.platform.given.configuration import FEES
from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.profile.resources import Corridor
from conformance.scenarios.external_accounts.kinds import kind_of
from conformance.scenarios.kit.fees import FORMS, arrange_quote, own_fee
from conformance.testdata.accounts import account_example
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

UNUSUAL_BASIS_POINTS = 175
"""A rate unlike those of ``FORMS``, which a target may still show after an earlier test."""

SENDING_AMOUNT = 100_007
"""A sending amount, in the smallest unit, whose fee has to be rounded at usual rates."""

MAX_ROUNDING_DIFFERENCE = 2
"""Smallest units: the fee and the sending amount may each be rounded by one."""


def set_fee(platform: Platform, **fee: Any) -> Any:
    """Set a standing fee whose parts all have an effect; return it as it was sent."""
    for part in fee:
        arrange_effect(platform, part)
    value = platform.configuration.standing_fee(**fee)
    platform.configuration.change({FEES: value})
    return value


def arrange_no_fee(platform: Platform) -> None:
    """Remove the standing fee, as a step before a check."""
    platform.configuration.change({FEES: platform.profile.bindings.no_fee_configs})


def remove_fee(platform: Platform) -> Answer:
    """Remove the standing fee."""
    return platform.configuration.update({FEES: platform.profile.bindings.no_fee_configs})


def arrange_effect(platform: Platform, part: str) -> None:
    """Check that a part of a standing fee is shown, or changes a quote."""
    body = cache(lambda: dollar_quote(platform))
    platform.configuration.arrange_effect(part, lambda: own_fee(arrange_quote(platform, body())))


def with_and_without_fee(platform: Platform, side: str) -> tuple[Json, Json]:
    """Return a quote without a standing fee, and the same quote with one.

    Raises:
        PreconditionFailed: quotes do not show the fee.
    """
    body = dollar_quote(platform, side)
    arrange_no_fee(platform)
    without_fee = platform.until(
        lambda: arrange_quote(platform, body), lambda quote: own_fee(quote) == 0
    )
    set_fee(platform, **FORMS["both"])
    with_fee = platform.until(
        lambda: arrange_quote(platform, body), lambda quote: own_fee(quote) > 0
    )
    if own_fee(without_fee) or not own_fee(with_fee):
        raise PreconditionFailed(f"the standing fee does not show in a quote: {with_fee}")
    return without_fee, with_fee


def quote_bearing(platform: Platform, body: Json, fee: dict[str, Any]) -> Json:
    """Create quotes until one shows a standing fee, as it may have an effect late; return it."""
    return platform.until(
        lambda: arrange_quote(platform, body), lambda quote: shows_fee(quote, fee)
    )


def shows_fee(quote: Json, fee: dict[str, Any]) -> bool:
    """Return whether a quote shows a standing fee, apart from rounding.

    Where there is a fixed amount too, the rate may apply to what is left of the sending amount.
    """
    rate, fixed = Decimal(fee.get("basis_points", 0)) / 10_000, fee.get("fixed", 0)
    most = quote["totalSendingAmount"] * rate + fixed
    rounding = MAX_ROUNDING_DIFFERENCE if rate else 0
    return bool(most - rate * fixed - rounding <= own_fee(quote) <= most + rounding)


def dollar_quote(platform: Platform, side: str = "SENDING") -> Json:
    """Return the body of an individual's quote to which a standing fee applies."""
    corridor = dollar_corridor(platform)
    customer = platform.approved.individual(
        currencies=sorted({platform.profile.currency, *corridor.currencies})
    )
    source, destination = platform.quotes.ends(
        corridor, amount=2 * SENDING_AMOUNT, customer=customer
    )
    body = platform.quotes.body(source, destination, amount=SENDING_AMOUNT)
    if side == "SENDING":
        return body
    # The source can pay for this amount of the receiving currency.
    receiving_amount = arrange_quote(platform, body)["totalReceivingAmount"]
    return {**body, "lockedCurrencySide": side, "lockedCurrencyAmount": receiving_amount}


def dollar_corridor(platform: Platform, *, to_a_wallet: bool = False) -> Corridor:
    """Return a corridor from US dollars to another currency, or to a crypto wallet.

    Raises:
        ResourceMissing: the profile has none.
    """
    for corridor in platform.profile.resources.corridors:
        fits = not to_a_wallet or kind_of(account_example(corridor.account)) == "crypto wallet"
        if fits and corridor.sending == "USD" != corridor.receiving:
            return corridor
    raise ResourceMissing("resources.corridors of the profile has none from USD to another")
