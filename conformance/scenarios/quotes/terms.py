"""The terms of a quote: its amounts, fees, rate and lifetime, and how they fit together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from itertools import product

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_resource
from conformance.scenarios.kit.marks import Check
from conformance.scenarios.kit.notation import arrange_moment, moment
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

MAX_LIFETIME = timedelta(minutes=15, seconds=1)
"""The longest life of a quote; each of its moments may be rounded, or read after the other."""

LOCKED_TOTALS = {"SENDING": "totalSendingAmount", "RECEIVING": "totalReceivingAmount"}
"""The amount of a quote that is locked, by its side."""

FEE_RULES = {
    "SENDING": {True: "QUO-051", False: "QUO-053"},
    "RECEIVING": {True: "QUO-052", False: "QUO-054"},
}
"""By side that is locked, the requirements on fees within one currency and between two."""

ROUNDINGS = 2
"""The fees and the rest of the amount may each be rounded by one smallest unit."""

RATE_PRECISION = Decimal("1e-9")
"""The relative error of a rate: a JSON number may be read in double precision."""


def arranged_quote(answer: Answer) -> Resource:
    """Return the quote in an answer.

    Raises:
        PreconditionFailed: the answer is no quote with a source and a destination.
    """
    quote = arranged_resource(answer)
    for side in ("source", "destination"):
        if not isinstance(quote.get(side), Mapping):
            raise PreconditionFailed(f"the quote shows no {side}: {answer}")
    return quote


@dataclass(frozen=True, slots=True)
class Reading:
    """A reading of fees and rate that the specification allows.

    ``beside``: the platform's fees are not contained in ``feesIncluded``. ``inverse``: the rate is
    the price of one receiving unit. ``whole``: the rate is between whole units, and not between
    smallest units.
    """

    beside: bool
    inverse: bool
    whole: bool

    @property
    def way(self) -> str:
        """How the rate is read."""
        units = "whole" if self.whole else "smallest"
        return f"price in {units} units" if self.inverse else f"factor of {units} units"

    def fits(self, quote: Json) -> bool:
        """Return whether the net sending amount converts to the receiving amount."""
        least, most = self.missing(quote)
        return least <= 0 <= most

    def missing(self, quote: Json) -> tuple[Decimal, Decimal]:
        """Return the least and the most that may be missing of the converted net amount.

        What is rounded lies between the two.
        """
        rate = Decimal(str(quote["exchangeRate"]))
        factor = 1 / rate if self.inverse else rate
        if self.whole:
            to, of = quote["receivingCurrency"]["decimals"], quote["sendingCurrency"]["decimals"]
            factor = factor.scaleb(to - of)
        converted = (quote["totalSendingAmount"] - fees(quote, beside=self.beside)) * factor
        tolerance = 1 + ROUNDINGS * factor + converted * RATE_PRECISION
        missing = converted - quote["totalReceivingAmount"]
        return missing - tolerance, missing + tolerance

    def fits_with_fixed_fee(self, quotes: Sequence[Json]) -> bool:
        """Return whether nothing but one amount is missing, or too much, in all quotes or in some.

        A fixed fee in the receiving currency shifts each quote between two accounts at one rate as
        far as the others; some may be free of it.
        """
        found: dict[str, list[tuple[Decimal, Decimal]]] = {}
        for quote in quotes:
            if not self.fits(quote):
                terms = [quote.get("source"), quote.get("destination"), quote["exchangeRate"]]
                found.setdefault(str(terms), []).append(self.missing(quote))
        return all(
            max(least for least, _ in ranges) <= min(most for _, most in ranges)
            for ranges in found.values()
        )


READINGS = [Reading(*ways) for ways in product([False, True], repeat=3)]


def fees(quote: Json, *, beside: bool) -> int:
    """Return the fees in the sending amount; with ``beside`` also the platform's fee."""
    included: int = quote["feesIncluded"]
    return included + (quote.get("platformFeesIncluded") or 0) if beside else included


def expect_short_life(quote: Json) -> None:
    """Assert that a quote expires a quarter of an hour after its creation, or earlier."""
    __tracebackhide__ = True
    lifetime = arrange_moment(quote, "expiresAt") - arrange_moment(quote, "createdAt")
    assert lifetime <= MAX_LIFETIME, f"it lives for {lifetime.total_seconds()} s: {quote}"


def decide_fee_rule(check: Check, quote: Json, side: str) -> None:
    """Decide the FEE_RULES of a side on a quote that locks it, as far as its currencies allow."""
    __tracebackhide__ = True
    within = is_within(quote)
    for same_currency, requirement_id in FEE_RULES[side].items():
        with check(requirement_id):
            if within is not same_currency:
                raise ResourceMissing(f"the quote has {1 if within else 2} currencies")
            expect_fee_rule(quote)


def expect_fee_rule(quote: Json) -> None:
    """Assert that a quote keeps to the rule of fees, within one currency or between two."""
    __tracebackhide__ = True
    if is_within(quote):
        expect_fees_are_the_difference(quote)
    else:
        expect_net_amounts_are_converted([quote])


def is_within(quote: Json) -> bool:
    """Return whether a quote sends and receives one currency."""
    return bool(quote["sendingCurrency"]["code"] == quote["receivingCurrency"]["code"])


def expect_fees_are_the_difference(quote: Json) -> None:
    """Assert that the two amounts of a same-currency quote differ by its fees."""
    __tracebackhide__ = True
    difference = quote["totalSendingAmount"] - quote["totalReceivingAmount"]
    included = [fees(quote, beside=beside) for beside in (False, True)]
    assert any(abs(difference - fee) <= ROUNDINGS for fee in included), (
        f"the amounts differ by {difference}, the fees included are {included[0]} "
        f"({included[1]} with the platform's): {quote}"
    )


def expect_net_amounts_are_converted(quotes: Iterable[Json]) -> None:
    """Assert that one reading of fees and rate explains the amounts of all quotes.

    Raises:
        ResourceMissing: none does, and a fixed fee may be hidden in the amounts.
    """
    __tracebackhide__ = True
    all_quotes = list(quotes)
    for quote in all_quotes:
        arrange_rate(quote)
    if any(all(reading.fits(quote) for quote in all_quotes) for reading in READINGS):
        return
    require_no_fixed_fee(all_quotes)
    raise AssertionError(
        "read in whichever way, the rate does not convert the sending amounts less the fees to "
        f"the receiving amounts: {all_quotes}"
    )


def arrange_rate(quote: Json) -> None:
    """Raise ``PreconditionFailed`` where a quote has no exchangeRate above 0."""
    rate = quote.get("exchangeRate")
    if not isinstance(rate, int | float) or rate <= 0:
        raise PreconditionFailed(f"expected a rate above 0, got {rate!r}")


def require_no_fixed_fee(quotes: Sequence[Json]) -> None:
    """Raise ``ResourceMissing`` where a fixed fee may be hidden in the amounts of quotes.

    The rateDetails tell it. Without them one may be taken that explains the amounts of all quotes.
    """
    for quote in quotes:
        details = quote.get("rateDetails")
        if isinstance(details, Mapping):
            for name in ("counterpartyFixedFee", "gridApiFixedFee"):
                if details.get(name) not in (None, 0, "0"):
                    raise ResourceMissing(f"the quote takes a fixed fee, {name}: {details[name]}")
        elif any(reading.fits_with_fixed_fee(quotes) for reading in READINGS):
            raise ResourceMissing("without rateDetails a fixed fee may be hidden in the amounts")


def expect_own_fee(platform: Platform, answer: Answer) -> None:
    """Assert that a created quote with platformFeeOverride bears a fee of the platform.

    Raises:
        ResourceMissing: the quote is refused, or is not from US dollars.
    """
    __tracebackhide__ = True
    if not answer.accepted:
        platform.observe(f"a quote with platformFeeOverride is answered with {answer.status}")
        raise ResourceMissing(f"no fee of the platform is taken from such a quote: {answer}")
    quote = arranged_resource(answer)
    if quote["sendingCurrency"]["code"] != "USD":
        raise ResourceMissing(f"the quote is not from US dollars: {quote}")
    assert (quote.get("platformFeesIncluded") or 0) > 0, quote


def expect_same_terms(later: Json, quote: Json) -> None:
    """Assert that a quote shows what its lifetime leaves as it is, as it did before.

    Members that need not be there are compared where both show them.
    """
    __tracebackhide__ = True
    for name in ("id", "totalSendingAmount", "totalReceivingAmount", "exchangeRate"):
        assert later.get(name) == quote[name], later
    for name in ("feesIncluded", "platformFeesIncluded", "description"):
        assert None in (later.get(name), quote.get(name)) or later[name] == quote[name], later
    for name in ("sendingCurrency", "receivingCurrency"):
        assert later[name].get("code") == quote[name].get("code"), later
    for name in ("source", "destination"):
        for member in (f"{name}Type", "accountId"):
            assert later[name].get(member) == quote[name].get(member), later
    assert moment(later["createdAt"]) == moment(quote["createdAt"]), later
