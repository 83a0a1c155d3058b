"""What a quote costs: the fee rules for both locked sides."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from conformance.reference import errors, money


@dataclass(frozen=True, slots=True)
class Terms:
    """The fees that apply: fractions of the sending amount, and a fixed sending amount."""

    variable: Decimal
    platform_variable: Decimal = Decimal(0)
    platform_fixed: int = 0


@dataclass(frozen=True, slots=True)
class Price:
    """The amounts of a quote, each in its currency's smallest unit; ``fees`` include all."""

    sending: int
    receiving: int
    variable_fee: int
    platform_fee: int

    @property
    def fees(self) -> int:
        """All fees included in the sending amount."""
        return self.variable_fee + self.platform_fee


@dataclass(frozen=True, slots=True)
class Corridor:
    """Two currencies and the rate between whole units of them."""

    sending: str
    receiving: str
    rate: Decimal


def variable_fee(sending: int, terms: Terms) -> int:
    """Return the variable fee: a fraction of the sending amount."""
    return money.half_up(sending * terms.variable)


def platform_fee(sending: int, terms: Terms) -> int:
    """Return the platform's own fee: a fraction of the sending amount and a fixed amount."""
    return money.half_up(sending * terms.platform_variable) + terms.platform_fixed


def net_of(sending: int, fees: int) -> int:
    """Return what is left of the sending amount for the receiver: fees come out of it."""
    return sending - fees


def gross_of(net: int, terms: Terms) -> int:
    """Return the sending amount whose net is ``net``: (net + fixed) / (1 - fee)."""
    fraction = 1 - terms.variable - terms.platform_variable
    return money.half_up((Decimal(net) + terms.platform_fixed) / fraction)


def price_sending(amount: int, corridor: Corridor, terms: Terms) -> Price:
    """Price a quote whose sending amount is fixed: the fee comes off, the rest is converted."""
    variable, platform = variable_fee(amount, terms), platform_fee(amount, terms)
    net = net_of(amount, variable + platform)
    receiving = money.convert(max(net, 0), corridor.rate, corridor.sending, corridor.receiving)
    return Price(amount, receiving, variable, platform)


def price_receiving(amount: int, corridor: Corridor, terms: Terms) -> Price:
    """Price a quote whose receiving amount is fixed: the fee is added to what it costs."""
    net = money.cost(amount, corridor.rate, corridor.sending, corridor.receiving)
    sending = gross_of(net, terms)
    platform = platform_fee(sending, terms)
    return Price(sending, amount, max(sending - net - platform, 0), platform)


def price(side: str, amount: int, corridor: Corridor, terms: Terms) -> Price:
    """Price a quote; raises ``Refusal`` (AMOUNT_OUT_OF_RANGE) when nothing would arrive."""
    pricer = price_receiving if side == "RECEIVING" else price_sending
    result = pricer(amount, corridor, terms)
    if result.receiving < 1:
        raise errors.Refusal(
            "AMOUNT_OUT_OF_RANGE",
            f"After fees and conversion of {amount} nothing would arrive. Send a larger amount.",
        )
    return result
