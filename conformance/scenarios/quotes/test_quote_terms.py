"""What a quote fixes: amounts, fees and the rate, in every corridor that the profile names."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from itertools import product
from typing import Any

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, require_member
from conformance.profile.resources import Corridor
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import moment
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

UNROUND = {"few decimals": (10_007, 12_345, 99_991), "many": (1_000_003, 3_333_331, 4_999_999)}
"""Sending amounts, in the smallest unit, that no usual fee or rate divides evenly."""

MANY_DECIMALS = 3
LARGE = 4_999_999
"""A sending amount at which the square of a usual fee is more than rounding."""

ROUNDINGS = 2
"""The fees and the amount that is left may each have been rounded by one smallest unit."""

RATE_PRECISION = Decimal("1e-9")
"""A rate is a JSON number, of which no more than double precision may be left."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test that asks for a corridor once in each of its kind that the profile names."""
    suite: Any = metafunc.config.pluginmanager.get_plugin("payments-conformance-session")
    for name, same_currency in (("same_currency", True), ("cross_currency", False)):
        if name in metafunc.fixturenames:
            found = [
                corridor
                for corridor in suite.profile.resources.corridors
                if (corridor.sending == corridor.receiving) is same_currency
            ]
            metafunc.parametrize(name, found or [None], ids=label)


@requirement("QUO-044", "QUO-048", "QUO-050", "QUO-051")
def test_fees_come_off_a_locked_sending_amount(
    platform: Platform, check: Check, same_currency: Corridor | None
) -> None:
    """Within one currency the receiver gets what is left."""
    source, destination = ends(platform, same_currency)

    for amount in amounts(source):
        quote = platform.quotes.pending(source, destination, side="SENDING", amount=amount)

        with check("QUO-044"):
            assert quote["totalSendingAmount"] == amount
        with check("QUO-048"):
            assert quote["exchangeRate"] == 1
        with check("QUO-050"):
            assert quote.get("feesIncluded") is not None, "feesIncluded is not populated"
        with check("QUO-051"):
            expect_fees_are_the_difference(quote)


@requirement("QUO-045", "QUO-049", "QUO-050", "QUO-052")
def test_fees_are_added_to_a_locked_receiving_amount(
    platform: Platform, check: Check, same_currency: Corridor | None
) -> None:
    """Within one currency the sender pays them on top."""
    source, destination = ends(platform, same_currency)

    for amount in amounts(source):
        quote = platform.quotes.pending(source, destination, side="RECEIVING", amount=amount)

        with check("QUO-045"):
            assert quote["totalReceivingAmount"] == amount
        with check("QUO-049"):
            assert quote["exchangeRate"] == 1
        with check("QUO-050"):
            assert quote.get("feesIncluded") is not None, "feesIncluded is not populated"
        with check("QUO-052"):
            expect_fees_are_the_difference(quote)


@requirement("QUO-608")
def test_the_fees_of_the_platform_are_given_within_one_currency_too(platform: Platform) -> None:
    """Where they are given across currencies."""
    across, within = (
        platform.quotes.pending(*platform.quotes.ends(platform.quotes.corridor(same_currency=same)))
        for same in (False, True)
    )
    require_member(across, "platformFeesIncluded")

    assert within.get("platformFeesIncluded") is not None, within


@requirement("QUO-046", "QUO-053")
def test_what_fees_leave_of_a_locked_sending_amount_is_converted(
    platform: Platform, check: Check, cross_currency: Corridor | None
) -> None:
    """The fee is taken in the sending currency, the rest converted at the quoted rate."""
    source, destination = ends(platform, cross_currency)
    quotes = []

    for amount in amounts(source):
        quotes.append(platform.quotes.pending(source, destination, side="SENDING", amount=amount))

        with check("QUO-046"):
            assert quotes[-1]["totalSendingAmount"] == amount

    with check("QUO-053"):
        expect_net_amounts_are_converted(quotes)


@requirement("QUO-047", "QUO-054")
def test_a_locked_receiving_amount_is_what_fees_leave(
    platform: Platform, check: Check, cross_currency: Corridor | None
) -> None:
    """The sender pays what converts to it, and the fees on top."""
    source, destination = ends(platform, cross_currency)
    quotes = []

    for amount in amounts(source):
        # Some amount of the receiving currency that the source can pay for.
        wanted = platform.quotes.pending(source, destination, amount=amount)["totalReceivingAmount"]
        quotes.append(platform.quotes.pending(source, destination, side="RECEIVING", amount=wanted))

        with check("QUO-047"):
            assert quotes[-1]["totalReceivingAmount"] == wanted

    with check("QUO-054"):
        expect_net_amounts_are_converted(quotes)


@requirement("QUO-055")
def test_both_sides_take_the_same_fee_within_one_currency(
    platform: Platform, same_currency: Corridor | None
) -> None:
    """It is a fraction of the sending amount, also where the receiving amount is locked."""
    there, back = there_and_back(platform, same_currency)

    assert abs(back["totalSendingAmount"] - there["totalSendingAmount"]) <= ROUNDINGS + 1


@requirement("QUO-056")
def test_both_sides_take_the_same_fee_between_currencies(
    platform: Platform, cross_currency: Corridor | None
) -> None:
    """It is taken in the sending currency, also where the receiving amount is locked."""
    there, back = there_and_back(platform, cross_currency)

    if there["exchangeRate"] != back["exchangeRate"]:
        raise ResourceMissing("the rate moved between two quotes")
    unit = there["totalSendingAmount"] / there["totalReceivingAmount"]
    assert abs(back["totalSendingAmount"] - there["totalSendingAmount"]) <= ROUNDINGS + 1 + unit


@requirement("QUO-057", "QUO-058", "QUO-059", "QUO-060")
@requirement("QUO-609", "QUO-610", "QUO-611", "QUO-612", "QUO-613", "QUO-614")
@pytest.mark.parametrize("within", [True, False], ids=["same-currency", "cross-currency"])
@pytest.mark.parametrize("side", ["SENDING", "RECEIVING"])
def test_execution_leaves_the_terms_as_they_were_quoted(
    platform: Platform, check: Check, side: str, within: bool
) -> None:
    """They hold for the quote's lifetime."""
    source, destination = platform.quotes.ends(platform.quotes.corridor(same_currency=within))
    amount = 10_007
    if side == "RECEIVING":
        # Some amount of the receiving currency that the source can pay for.
        amount = platform.quotes.pending(source, destination, amount=amount)["totalReceivingAmount"]
    quote = platform.quotes.pending(
        source, destination, side=side, amount=amount, description="Rent, July"
    )

    executed = platform.quotes.execute(quote)

    with check("QUO-609"):
        assert executed["source"].get("accountId") == source["id"], executed
    with check("QUO-610"):
        assert executed["destination"].get("accountId") == destination["id"], executed
    with check("QUO-611"):
        assert moment(executed["expiresAt"]) == moment(quote["expiresAt"])
    with check("QUO-612"):
        assert moment(executed["createdAt"]) == moment(quote["createdAt"])
    with check("QUO-613"):
        for member in ("sendingCurrency", "receivingCurrency"):
            assert executed[member]["code"] == quote[member]["code"], executed
    with check("QUO-614"):
        assert require_member(executed, "description") == "Rent, July"
    with check("QUO-057"):
        assert executed["totalSendingAmount"] == quote["totalSendingAmount"]
    with check("QUO-058"):
        assert executed["totalReceivingAmount"] == quote["totalReceivingAmount"]
    with check("QUO-059"):
        assert executed["exchangeRate"] == quote["exchangeRate"]
    with check("QUO-060"):
        assert executed["feesIncluded"] == quote["feesIncluded"]


@requirement("QUO-161")
def test_a_platform_fee_of_one_quote_shows_in_it(platform: Platform) -> None:
    """The platform may set a fee for a single transfer out of US dollars."""
    override = platform.profile.bindings.platform_fee_override
    source, destination = platform.quotes.ends(platform.quotes.corridors_from("USD")[0])

    quote = platform.quotes.pending(source, destination, platformFeeOverride=override)

    assert (quote.get("platformFeesIncluded") or 0) > 0


@dataclass(frozen=True, slots=True)
class Reading:
    """One of the ways in which fees and rate may honestly be meant.

    ``beside``: the platform's fees are not contained in ``feesIncluded``. ``inverse``: the rate
    is what one receiving unit costs. ``whole``: it is between whole units, not smallest ones.
    """

    beside: bool
    inverse: bool
    whole: bool

    def fits(self, quote: Json) -> bool:
        """Return whether the net sending amount converts to the receiving amount."""
        rate = Decimal(str(quote["exchangeRate"]))
        factor = 1 / rate if self.inverse else rate
        if self.whole:
            to, of = quote["receivingCurrency"]["decimals"], quote["sendingCurrency"]["decimals"]
            factor = factor.scaleb(to - of)
        converted = (quote["totalSendingAmount"] - fees(quote, beside=self.beside)) * factor
        tolerance = 1 + ROUNDINGS * factor + converted * RATE_PRECISION
        return bool(abs(converted - quote["totalReceivingAmount"]) <= tolerance)


READINGS = [Reading(*ways) for ways in product([False, True], repeat=3)]


def fees(quote: Json, *, beside: bool) -> int:
    """Return all fees in the sending amount."""
    included: int = quote["feesIncluded"]
    return included + (quote.get("platformFeesIncluded") or 0) if beside else included


def expect_fees_are_the_difference(quote: Json) -> None:
    """Assert that a same-currency quote's two amounts differ by its fees."""
    __tracebackhide__ = True
    difference = quote["totalSendingAmount"] - quote["totalReceivingAmount"]
    included = [fees(quote, beside=beside) for beside in (False, True)]
    assert any(abs(difference - fee) <= ROUNDINGS for fee in included), (
        f"the amounts differ by {difference}, the fees included are {included[0]} "
        f"({included[1]} with the platform's): {quote}"
    )


def expect_net_amounts_are_converted(quotes: Iterable[Json]) -> None:
    """Assert that fees and rate, read in one way, explain the amounts of all quotes."""
    __tracebackhide__ = True
    seen = list(quotes)
    for quote in seen:
        arrange_rate(quote)
        require_no_fixed_fee(quote)
    assert any(all(reading.fits(quote) for quote in seen) for reading in READINGS), (
        "read in whichever way, the rate does not convert the sending amounts less the fees to "
        f"the receiving amounts: {seen}"
    )


def arrange_rate(quote: Json) -> None:
    """Leave a quote alone that has no rate to convert at."""
    rate = quote.get("exchangeRate")
    if not isinstance(rate, int | float) or rate <= 0:
        raise PreconditionFailed(f"expected a rate above 0, got {rate!r}")


def require_no_fixed_fee(quote: Json) -> None:
    """Leave a quote alone whose fixed fees may be in the receiving currency."""
    details = quote.get("rateDetails")
    if not isinstance(details, Mapping):
        raise ResourceMissing("without rateDetails a fixed fee may be hidden in the amounts")
    for name in ("counterpartyFixedFee", "gridApiFixedFee"):
        if details.get(name) not in (None, 0, "0"):
            raise ResourceMissing(f"the quote takes a fixed fee, {name}: {details[name]}")


def ends(platform: Platform, corridor: Corridor | None) -> tuple[Resource, Resource]:
    """Return an account with the funds for all of :func:`amounts`, and a destination."""
    if corridor is None:
        raise ResourceMissing("resources.corridors of the profile has none of this kind")
    source, destination = platform.quotes.ends(corridor, amount=0)
    platform.internal_accounts.deposit(source, 2 * max(amounts(source)))
    return source, destination


def there_and_back(platform: Platform, corridor: Corridor | None) -> tuple[Resource, Resource]:
    """Quote a large sending amount, and then the receiving amount that it brings.

    The platform's standing fee may be changed for everybody in between; then both are quoted anew.
    """
    if corridor is None:
        raise ResourceMissing("resources.corridors of the profile has none of this kind")
    source, destination = platform.quotes.ends(corridor, amount=0)
    platform.internal_accounts.deposit(source, 2 * LARGE)

    def pair() -> tuple[Resource, Resource]:
        there = platform.api.create_quote(platform.quotes.body(source, destination, amount=LARGE))
        if not there.accepted:
            raise ResourceMissing(f"the target does not quote an amount of {LARGE}: {there}")
        brought = there.body["totalReceivingAmount"]
        back = platform.quotes.pending(source, destination, side="RECEIVING", amount=brought)
        return there.body, back

    return platform.until(pair, lambda quotes: own_fees_are_alike(*quotes))


def own_fees_are_alike(*quotes: Json) -> bool:
    """Return whether all quotes bear the same fees of the platform, but for rounding."""
    own = [quote.get("platformFeesIncluded") or 0 for quote in quotes]
    return bool(max(own) - min(own) <= ROUNDINGS)


def amounts(source: Resource) -> tuple[int, ...]:
    """Return sending amounts that force rounding."""
    decimals = source["balance"]["currency"].get("decimals")
    if not isinstance(decimals, int):
        raise PreconditionFailed(f"{source['id']} does not say how many decimals it has")
    return UNROUND["many" if decimals >= MANY_DECIMALS else "few decimals"]


def label(corridor: Corridor | None) -> str:
    """Return the name of a corridor in the name of a test."""
    return "none" if corridor is None else f"{corridor.sending}-{corridor.receiving}"
