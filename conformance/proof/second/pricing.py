"""What a quote costs: fees in the sending currency, the rest converted at the rate."""

from dataclasses import dataclass
from decimal import Decimal

from conformance.proof.second.check import integer, many, record, text
from conformance.proof.second.errors import Refusal
from conformance.proof.second.money import COINS, Json, ceiling, floor, half_up, rate, unit_rate
from conformance.proof.second.world import World

SERVICE_FEE = Decimal("0.02")
SERVICE_FEE_AT_HOME = Decimal("0.01")
MAX_AMOUNT = 10**15

_FEE = {"basisPoints": integer(0, 5000), "fixedAmount": integer(0, 10**9)}
OVERRIDE = record(_FEE)
CONFIGS = many(
    record({"sendingCurrency": text(most=12), **_FEE}, needs=("sendingCurrency",)), most=20
)


@dataclass(frozen=True)
class Price:
    """Amounts of a quote in smallest units; `fee` is the service's own."""

    sending: str
    receiving: str
    sent: int
    received: int
    fee: int
    platform_fee: int
    fee_rate: Decimal
    drift: Decimal = Decimal(1)

    @property
    def rate(self) -> Decimal:
        """What one whole unit of the sending currency is in the receiving one."""
        return rate(self.sending, self.receiving) * self.drift


def _is_overruled(world: World, sending: str, receiving: str) -> bool:
    """Tell whether a planted bug prefers a standing fee to the one of a quote."""
    standing = any(row["sendingCurrency"] == sending for row in world.config["feeConfigs"])
    return standing and sending != receiving and world.has("standing-fee-before-override")


def platform_fee(world: World, sending: str, receiving: str, override: Json | None) -> Json:
    """Return the platform's fee on a quote: `basisPoints` and `fixedAmount`.

    Raises:
        Refusal: for an override of a quote that does not send dollars.
    """
    if override is not None and _is_overruled(world, sending, receiving):
        override = None
    if override is not None:
        if sending == "USD" or world.has("fee-in-any-currency"):
            return override
        if world.has("override-in-any-currency"):
            return override
        if sending == "USDC" and world.has("override-in-usdc"):
            return override
        if receiving == "USD" and world.has("override-by-receiving-dollars"):
            return override
        if world.persona.foreign_fee == "refused":
            raise Refusal("INVALID_CURRENCY", "Platform fees are taken in USD.", status=400)
        return {}
    configs: list[Json] = world.config["feeConfigs"]
    fee: Json = next((row for row in configs if row["sendingCurrency"] == sending), {})
    if fee and sending != receiving:
        first = world.first_fees.setdefault(sending, fee)
        fee = first if first != fee and world.has("standing-fee-cached") else fee
    both = fee.get("basisPoints") and fee.get("fixedAmount")
    if both and sending != receiving and world.has("rate-without-fixed"):
        fee = {name: value for name, value in fee.items() if name != "fixedAmount"}
    at_home = sending == receiving and not (fee and world.has("fee-at-home"))
    return {} if at_home else fee


def _lock(world: World, corridor: tuple[str, str], amount: int, one: Decimal) -> tuple[str, int]:
    """Return the side that is locked, and its amount: by a planted bug not what is received."""
    is_at_home = corridor[0] == corridor[1]
    if not is_at_home and world.has("receiving-lock-pays-fee"):
        return "SENDING", ceiling(amount / one)
    if is_at_home and world.has("home-lock-ignored"):
        return "SENDING", amount
    return "RECEIVING", amount


def shown_rate(world: World, priced: Price) -> Decimal:
    """Return the rate that quotes and payments show, in the persona's units."""
    if world.persona.rate_scale == "smallest":
        return unit_rate(priced.sending, priced.receiving)
    return priced.rate


def least_received(world: World, receiving: str) -> int:
    """Return the least that is paid out in a currency, in its smallest units."""
    worth = world.persona.min_cents * unit_rate("USD", receiving)
    return max(1, ceiling(worth))


def _unit_rate(world: World, sending: str, receiving: str) -> Decimal:
    """Return what one smallest unit is in those of another currency, but for planted bugs."""
    if COINS[sending].decimals != COINS[receiving].decimals and world.has("conversion-unscaled"):
        return rate(sending, receiving)
    one = unit_rate(sending, receiving)
    if sending != receiving and not COINS[receiving].decimals and world.has("zero-as-two-decimals"):
        one *= 100
    return one


def price(world: World, corridor: tuple[str, str], side: str, amount: int, extra: Json) -> Price:
    """Price a quote; `side` says which amount is given, `extra` is the platform's fee.

    Raises:
        Refusal: where nothing would be received, or more than can be counted.
    """
    sending, receiving = corridor
    one = _unit_rate(world, sending, receiving)
    fee_rate = SERVICE_FEE_AT_HOME if sending == receiving else SERVICE_FEE
    if not world.persona.with_service_fee:
        fee_rate = Decimal(0)
    share = Decimal(extra.get("basisPoints") or 0) / 10_000
    fixed = extra.get("fixedAmount") or 0
    rounded = floor if world.persona.rounding == "down" else half_up
    if side == "RECEIVING":
        side, amount = _lock(world, corridor, amount, one)
    if side == "SENDING" and not world.has("sides-swapped"):
        sent = amount
        fee, own = rounded(sent * fee_rate), rounded(sent * share) + fixed
        received = rounded((sent - fee - own) * one)
        if own and world.has("platform-fee-on-top"):
            sent, received = amount + own, rounded((amount - fee) * one)
        if sending != receiving and world.has("whole-amount-converted"):
            received = rounded(sent * one)
        if world.has("converted-before-fee"):
            received = rounded(sent * one) - fee
    else:
        received = amount
        net = ceiling(received / one)
        sent = ceiling((net + fixed) / (1 - fee_rate - share))
        at_home = sending == receiving and world.has("home-fee-on-net")
        if world.has("fee-on-net") or at_home:
            sent = ceiling(net * (1 + fee_rate + share)) + fixed
        own = rounded(sent * share) + fixed
        fee = sent - net - own
        back = rounded(net * one)
        if back != received and world.has("receiving-lock-drifts"):
            received = back
    free = amount == 0 and world.has("zero-amount")
    small = received < least_received(world, receiving) and not free
    if small or sent > MAX_AMOUNT or received > MAX_AMOUNT:
        raise Refusal("AMOUNT_OUT_OF_RANGE", "The amount is too small or too large.", status=400)
    return Price(sending, receiving, sent, received, fee, own, fee_rate)
