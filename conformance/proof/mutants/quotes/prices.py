"""Mutants of the amounts, rates and fees of quotes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from typing import Any, cast

from conformance.proof.kit.builders import around, edited, instead, together
from conformance.proof.kit.edits import Edit, without
from conformance.proof.mutant import declare, mutant
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import money, rules
from conformance.reference.external_accounts import externals
from conformance.reference.quotes import fees, quotes
from conformance.reference.store import Quote
from conformance.reference.unit import Unit

Reprice = Callable[[fees.Price], fees.Price]


def priced(side: str, *, same_currency: bool, change: Reprice) -> Apply:
    """Return a patch after which quotes of one side and kind have other amounts."""
    return priced_where(
        lambda corridor: (corridor.sending == corridor.receiving) is same_currency, side, change
    )


def priced_where(meant: Callable[[fees.Corridor], bool], side: str, change: Reprice) -> Apply:
    """Return a patch after which quotes of one side in some corridors have other amounts."""

    def patch(patch: Patch) -> None:
        def price(
            original: Callable[..., fees.Price],
            locked: str,
            amount: int,
            corridor: fees.Corridor,
            terms: Any,
        ) -> fees.Price:
            result = original(locked, amount, corridor, terms)
            return change(result) if locked == side and meant(corridor) else result

        patch.wrap(fees, "price", price)

    return patch


def fees_on_top(price: fees.Price) -> fees.Price:
    """Fees are added to the sending amount."""
    return replace(price, sending=price.sending + price.fees)


def fees_left_out(price: fees.Price) -> fees.Price:
    """Fees are shown, but not contained in the sending amount."""
    return replace(price, sending=price.sending - price.fees)


def hidden_margin(price: fees.Price) -> fees.Price:
    """A hundredth of the receiving amount does not arrive."""
    return replace(price, receiving=price.receiving * 99 // 100)


def fees_not_shown(price: fees.Price) -> fees.Price:
    """Fees are taken, but not shown."""
    return replace(price, variable_fee=0)


PRICES: tuple[tuple[str, str, bool, Reprice], ...] = (
    ("QUO-044", "SENDING", True, fees_on_top),
    ("QUO-045", "RECEIVING", True, hidden_margin),
    ("QUO-046", "SENDING", False, fees_on_top),
    ("QUO-047", "RECEIVING", False, hidden_margin),
    ("QUO-051", "SENDING", True, hidden_margin),
    ("QUO-051", "SENDING", True, fees_not_shown),
    ("QUO-052", "RECEIVING", True, fees_left_out),
    ("QUO-052", "RECEIVING", True, fees_not_shown),
    ("QUO-053", "SENDING", False, hidden_margin),
    ("QUO-053", "SENDING", False, fees_not_shown),
    ("QUO-054", "RECEIVING", False, fees_left_out),
    ("QUO-054", "RECEIVING", False, fees_not_shown),
)
"""Prices of one locked side, within one currency or not, that are made up carelessly."""

for requirement, side, within, change in PRICES:
    declare(
        requirement,
        change.__name__,
        f"{change.__doc__}"[:-1].lower(),
        priced(side, same_currency=within, change=change),
    )


for requirement, side, change in (
    ("QUO-046", "SENDING", fees_on_top),
    ("QUO-047", "RECEIVING", hidden_margin),
    ("QUO-053", "SENDING", hidden_margin),
    ("QUO-054", "RECEIVING", fees_left_out),
):
    declare(
        requirement,
        "without-dollars",
        f"between two currencies but the dollar, {change.__doc__}"[:-1].lower(),
        priced_where(
            lambda corridor: (
                corridor.sending != corridor.receiving
                and "USD" not in (corridor.sending, corridor.receiving)
            ),
            side,
            change,
        ),
    )
for requirement, side, change in (
    ("QUO-053", "SENDING", hidden_margin),
    ("QUO-054", "RECEIVING", fees_left_out),
):
    declare(
        requirement,
        "without-details",
        f"between two currencies, and without rateDetails, {change.__doc__}"[:-1].lower(),
        together(
            priced(side, same_currency=False, change=change),
            edited(quotes, "view", without("rateDetails")),
        ),
    )
declare(
    "QUO-064",
    "capped",
    "the variable fee is a hundred dollars at most",
    around(fees, "variable_fee", lambda fee, *given: min(fee(*given), 10_000)),
)
declare(
    "QUO-053",
    "rupees",
    "of quotes to INR, a hundredth of the receiving amount does not arrive",
    priced_where(lambda corridor: corridor.receiving == "INR", "SENDING", hidden_margin),
)


for requirement in ("QUO-051", "QUO-053"):

    @mutant(requirement, "the whole sending amount is passed on")
    def gross_converted(patch: Patch) -> None:
        patch.replace(fees, "net_of", lambda sending, _fees: sending)


declare(
    "QUO-618",
    "decimals-ignored",
    "a conversion takes no notice of the decimals of its currencies",
    instead(money, "smallest_unit_rate", lambda rate, _sending, _receiving: rate),
)


@mutant("QUO-618", "what a receiving amount costs is counted in its own decimals", (money, "cost"))
def cost_in_other_decimals(
    _original: Function, amount: int, rate: Decimal, _sending: str, _receiving: str
) -> int:
    return money.ceiling(amount / rate)


@mutant(
    "QUO-619",
    "a currency without decimals is counted in hundredths",
    (money, "smallest_unit_rate"),
)
def in_hundredths(original: Function, rate: Decimal, sending: str, receiving: str) -> Decimal:
    factor = 1 if rules.CURRENCIES[receiving].decimals else 100
    return factor * Decimal(original(rate, sending, receiving))


def _inverse_where(condition: Callable[[quotes.Order], bool]) -> Apply:
    """Return a patch by which some quotes show what one receiving unit costs."""

    def draft(original: Function, unit: Unit, order: quotes.Order) -> Quote:
        quote: Quote = original(unit, order)
        if condition(order):
            quote.rate = str(1 / Decimal(quote.rate))
        return quote

    return around(quotes, "draft", draft)


declare(
    "QUO-619",
    "inverse-of-received",
    "where the receiving side is locked, the rate is what one receiving unit costs",
    _inverse_where(lambda order: order.side == "RECEIVING"),
)
declare(
    "QUO-619",
    "inverse-to-pesos",
    "a rate to MXN is what one peso costs",
    _inverse_where(lambda order: order.destination.currency == "MXN"),
)


def _counted_in_cents(original: Function, unit: Unit, order: quotes.Order) -> Quote:
    quote: Quote = original(unit, order)
    if order.source.kind == "REALTIME":
        shown = 10 ** (rules.CURRENCIES[quote.sending_currency].decimals - 2)
        quote.sending_amount //= shown
        quote.variable_fee //= shown
    return quote


for requirement in ("QUO-618", "QUO-619"):
    declare(
        requirement,
        "paid-in-hundredths",
        "what is to be paid just in time is counted in hundredths of its currency",
        around(quotes, "draft", _counted_in_cents),
    )


@mutant("QUO-054", "what is to be paid in BTC has its fees twice", (quotes, "draft"))
def fees_twice(original: Function, unit: Unit, order: quotes.Order) -> Quote:
    quote: Quote = original(unit, order)
    if order.source.kind == "REALTIME" and order.source.currency == "BTC":
        quote.sending_amount += quote.variable_fee
    return quote


@mutant("QUO-037", "what Arbitrum receives is shown as USDC", (quotes, "view"))
def arbitrum_in_usdc(original: Function, unit: Unit, quote: Quote) -> Any:
    account = externals.find(unit, quote.destination.get("accountId", ""))
    shown = original(unit, quote)
    if account is None or account.account_type != "ARBITRUM_WALLET":
        return shown
    return {**shown, "receivingCurrency": money.currency_view("USDC")}


@mutant("QUO-047", "an amount of XOF is counted in hundredths", (quotes, "draft"))
def hundredths_of_a_franc(original: Function, unit: Unit, order: quotes.Order) -> Quote:
    quote: Quote = original(unit, order)
    if order.destination.currency == "XOF":
        quote.receiving_amount *= 100
    return quote


for requirement in ("QUO-055", "QUO-056"):

    @mutant(
        requirement,
        "where the receiving side is locked, the fee is a fraction of the net",
        (fees, "gross_of"),
        instead,
    )
    def fee_of_the_net(net: int, terms: fees.Terms) -> int:
        fraction = terms.variable + terms.platform_variable
        return net + int(net * fraction) + terms.platform_fixed


QUOTED = (
    ("QUO-057", "totalSendingAmount"),
    ("QUO-058", "totalReceivingAmount"),
    ("QUO-059", "exchangeRate"),
    ("QUO-060", "feesIncluded"),
)


def requoted(name: str) -> Edit:
    """Return an edit that moves one of a quote's terms by one."""
    return lambda quote: {**quote, name: quote[name] + 1}


for requirement, name in QUOTED:
    declare(
        requirement,
        f"{name}-requoted",
        f"execution changes the {name}",
        edited(quotes, "execute", requoted(name)),
    )


@mutant("QUO-161", "the fee of a single transfer is ignored")
def override_ignored(patch: Patch) -> None:
    patch.wrap(
        quotes,
        "draft",
        lambda original, unit, order: original(unit, replace(order, fee_override=None)),
    )


def _override_shown_where(side: str) -> Apply:
    """Return a patch by which the fee of a quote of its own is shown, and not taken."""

    def draft(original: Function, unit: Unit, order: quotes.Order) -> Quote:
        if order.side != side or order.fee_override is None:
            return cast(Quote, original(unit, order))
        quote: Quote = original(unit, replace(order, fee_override=None))
        quote.platform_fee = fees.platform_fee(quote.sending_amount, quotes.terms_for(unit, order))
        return quote

    return together(
        around(quotes, "draft", draft),
        instead(quotes, "fees_included", lambda quote: quote.variable_fee),
    )


for side in ("SENDING", "RECEIVING"):
    declare(
        "QUO-975",
        f"shown-alone-{side.lower()}",
        f"a fee of one quote is shown, and not taken, where the {side.lower()} side is locked",
        _override_shown_where(side),
    )


@mutant(
    "QUO-047",
    "a receiving amount is what the rounded sending amount converts to",
    (fees, "price_receiving"),
)
def worked_out_again(
    original: Function, amount: int, corridor: fees.Corridor, terms: fees.Terms
) -> fees.Price:
    price: fees.Price = original(amount, corridor, terms)
    if corridor.sending == corridor.receiving:
        return price
    again = fees.price_sending(price.sending, corridor, terms)
    return replace(price, receiving=again.receiving)
