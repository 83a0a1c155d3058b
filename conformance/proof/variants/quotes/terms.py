"""Conforming variants of the terms of quotes."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from dataclasses import replace
from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from typing import Any

from conformance.platform.given.quotes import Quotes
from conformance.proof.kit.builders import Json, around, before, edited, instead, together
from conformance.proof.kit.edits import without
from conformance.proof.kit.optional import declare_optional
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import errors, money, rules
from conformance.reference.external_accounts import externals
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import fees, limits, parties, quotes, transfers
from conformance.reference.store import Quote
from conformance.reference.transactions import transactions
from conformance.reference.unit import Ask, Unit

# --- Members that need not be there ---------------------------------------------------------


declare_optional("quote", (quotes, "view"), "description", "rateDetails")
declare(
    "M75",
    "rateDetails-of-the-counterparty",
    "rateDetails show nothing of the service but its variable fee",
    edited(quotes, "view", without("rateDetails.gridApiMultiplier", "rateDetails.gridApiFixedFee")),
    "codes",
)


@variant(
    "M75",
    "platformFeesIncluded is left out where the platform takes no fee",
    "absent",
    (quotes, "view"),
    edited,
)
def no_platform_fee_no_member(body: Json) -> Json:
    return body if body["platformFeesIncluded"] else without("platformFeesIncluded")(body)


# --- What is taken by default ---------------------------------------------------------------


@variant("M92", "the sending amount is fixed where no side is named", "apart", (quotes, "create"))
def sending_by_default(create: Function, unit: Unit, ask: Ask) -> Any:
    if isinstance(ask.body, dict) and "lockedCurrencySide" not in ask.body:
        ask = replace(ask, body={**ask.body, "lockedCurrencySide": "SENDING"})
    return create(unit, ask)


# --- How an amount may be written -----------------------------------------------------------


def _digits_read(member: str) -> Callable[..., Any]:
    """Return a handler that reads a text of digits in a member of its body as an integer."""

    def read(handler: Function, unit: Unit, ask: Ask) -> Any:
        amount = ask.body.get(member) if isinstance(ask.body, dict) else None
        if isinstance(amount, str) and amount.isdecimal():
            ask = replace(ask, body={**ask.body, member: int(amount)})
        return handler(unit, ask)

    return read


declare(
    "N446",
    "digits-read",
    "an amount that is a text of digits is read as an integer",
    together(
        around(quotes, "create", _digits_read("lockedCurrencyAmount")),
        around(transfers, "transfer_in", _digits_read("amount")),
        around(transfers, "transfer_out", _digits_read("amount")),
    ),
    "apart",
)


# --- What a limit is on ---------------------------------------------------------------------


def _maximum(limited: Callable[[Quote], tuple[int, str]], side: str | None) -> Apply:
    """Have the maximum of a transaction be on an amount of its quote, in a currency.

    ``side`` is what the profile says that it is on; None where it does not say it.
    """

    def apply(patch: Patch) -> None:
        refuse_large = limits.refuse_large

        def drafted(draft: Function, unit: Unit, order: quotes.Order) -> Quote:
            quote: Quote = draft(unit, order)
            refuse_large(unit, *limited(quote))
            return quote

        def told(limit: Function, self: Quotes) -> Any:
            return limit(self).model_copy(update={"side": side})

        patch.replace(limits, "refuse_large", lambda *_: None)
        patch.wrap(quotes, "draft", drafted)
        patch.wrap(Quotes, "largest_transaction", told)

    return apply


def _sent_without_fees(quote: Quote) -> tuple[int, str]:
    return quote.sending_amount - quotes.fees_included(quote), quote.sending_currency


def _arriving(quote: Quote) -> tuple[int, str]:
    return quote.receiving_amount, quote.receiving_currency


declare(
    "M94",
    "maximum-without-fees",
    "the maximum of a transaction is on what is sent without its fees",
    _maximum(_sent_without_fees, None),
    "apart",
)
declare(
    "M94",
    "maximum-of-what-arrives",
    "the maximum of a transaction is on what arrives, as the profile says",
    _maximum(_arriving, "RECEIVING"),
    "other apart",
)
declare(
    "M94",
    "maximum-of-what-arrives-untold",
    "the maximum of a transaction is on what arrives, and the profile does not say it",
    _maximum(_arriving, None),
    "further apart",
)


# --- Where something is refused -------------------------------------------------------------


@variant(
    "M74",
    "a platform fee of a source that is not in US dollars is not taken",
    "codes",
    (quotes, "terms_for"),
)
def foreign_fee_ignored(terms_for: Function, unit: Unit, order: quotes.Order) -> Any:
    foreign = order.source.currency != rules.PLATFORM_FEE_CURRENCY
    return terms_for(unit, replace(order, fee_override=None) if foreign else order)


@variant("M80", "a rail that the destination does not have falls back to its default", "codes")
def rail_falls_back(patch: Patch) -> None:
    patch.replace(parties, "refuse_rail", lambda account, rail: None)


@variant(
    "N094",
    "a character beyond the basic plane counts twice in a remittanceInformation",
    "codes",
    (quotes, "create"),
    before,
)
def units_counted(unit: Unit, ask: Ask) -> None:
    text = ask.body.get("remittanceInformation") if isinstance(ask.body, dict) else None
    if isinstance(text, str) and len(text.encode("utf-16-le")) > 2 * 80:
        raise errors.Refusal("INVALID_REQUEST_FORMAT", "more than 80 units")


@variant(
    "N094",
    "a letter and its combining signs are one character of a remittanceInformation",
    "forms",
    (quotes, "create"),
    around,
)
def letters_counted(original: Function, unit: Unit, ask: Ask) -> Any:
    text = ask.body.get("remittanceInformation") if isinstance(ask.body, dict) else None
    if isinstance(text, str):
        composed = unicodedata.normalize("NFC", text)
        ask = replace(ask, body={**ask.body, "remittanceInformation": composed})
    return original(unit, ask)


@variant(
    "M79",
    "remittanceInformation is of printable ASCII characters",
    "other codes",
    (quotes, "create"),
    before,
)
def ascii_alone(unit: Unit, ask: Ask) -> None:
    text = ask.body.get("remittanceInformation") if isinstance(ask.body, dict) else None
    if isinstance(text, str) and not text.isascii():
        raise errors.Refusal("INVALID_REQUEST_FORMAT", "the rail has no such characters")


@variant("M83", "money can be pulled from every external account", "codes")
def all_pullable(patch: Patch) -> None:
    patch.replace(externals, "is_pullable", lambda account: True)


@variant(
    "N455",
    "what is pulled goes to internal accounts alone",
    "codes",
    (quotes, "draft"),
    before,
)
def pulled_home(unit: Unit, order: quotes.Order) -> None:
    if order.source.external is not None and order.destination.kind != "INTERNAL":
        raise errors.invalid_input(
            errors.field_error("destination.accountId", "Expected an internal account.")
        )


# --- States ---------------------------------------------------------------------------------


def _lifetime(seconds: float) -> Apply:
    return instead(quotes, "expiry_of", lambda unit: unit.now + round(seconds * 1_000_000))


for _seconds, _group in ((900, "codes"), (60, "other codes"), (20, "forms")):
    declare(
        "M21",
        f"lives-{_seconds}-seconds",
        f"quotes live for {_seconds} seconds",
        _lifetime(_seconds),
        _group,
    )


# --- Money ----------------------------------------------------------------------------------


ROUNDINGS = {
    "down": (ROUND_FLOOR, "codes"),
    "up": (ROUND_CEILING, "other forms"),
    "half-even": (ROUND_HALF_EVEN, "forms"),
}


def _rounded(how: str) -> Apply:
    def apply(patch: Patch) -> None:
        def rounded(value: Decimal) -> int:
            return int(value.to_integral_value(how))

        for name in ("half_up", "floor", "ceiling"):
            patch.replace(money, name, rounded)

    return apply


for _name, (_how, _group) in ROUNDINGS.items():
    declare(
        "N084",
        f"rounded-{_name}",
        f"fees and converted amounts are rounded {_name}",
        _rounded(_how),
        _group,
    )


@variant("M15", "feesIncluded does not contain the platform's fees", "codes")
def platform_fees_beside(patch: Patch) -> None:
    patch.replace(quotes, "fees_included", lambda quote: quote.variable_fee)


_FIXED = 30


@variant("M15", "the service takes a fixed fee beside the fraction", "other forms")
def fixed_fee(patch: Patch) -> None:
    patch.wrap(
        fees,
        "variable_fee",
        lambda variable_fee, sending, terms: variable_fee(sending, terms) + _FIXED,
    )
    patch.wrap(fees, "gross_of", lambda gross_of, net, terms: gross_of(net + _FIXED, terms))
    edited(
        quotes,
        "rate_details",
        lambda body: {
            **body,
            "gridApiFixedFee": _FIXED,
            "gridApiVariableFeeAmount": body["gridApiVariableFeeAmount"] - _FIXED,
        },
    )(patch)


@variant("M15", "the counterparty keeps a fixed fee that nothing tells of", "apart")
def fixed_fee_untold(patch: Patch) -> None:
    def kept(corridor: fees.Corridor) -> int:
        return 0 if corridor.sending == corridor.receiving else _FIXED

    def sending(
        price: Function, amount: int, corridor: fees.Corridor, terms: fees.Terms
    ) -> fees.Price:
        result: fees.Price = price(amount, corridor, terms)
        return replace(result, receiving=result.receiving - kept(corridor))

    def receiving(
        price: Function, amount: int, corridor: fees.Corridor, terms: fees.Terms
    ) -> fees.Price:
        result: fees.Price = price(amount + kept(corridor), corridor, terms)
        return replace(result, receiving=amount)

    patch.wrap(fees, "price_sending", sending)
    patch.wrap(fees, "price_receiving", receiving)
    edited(quotes, "view", without("rateDetails"))(patch)


def _rate(change: Callable[[Decimal, str, str], Decimal]) -> Apply:
    """Let quotes and transactions show a rate that is meant in another way."""

    def apply(patch: Patch) -> None:
        def quoted(body: Json) -> Json:
            return _with_rate(
                body, body["sendingCurrency"]["code"], body["receivingCurrency"]["code"]
            )

        def moved(body: Json) -> Json:
            sent, received = (
                body[f"{way}Amount"]["currency"]["code"] for way in ("sent", "received")
            )
            return _with_rate(body, sent, received)

        def _with_rate(body: Json, sending: str, receiving: str) -> Json:
            rate = change(money.market_rate(sending, receiving), sending, receiving)
            return {**body, "exchangeRate": money.number(rate)}

        edited(quotes, "view", quoted)(patch)
        edited(transactions, "view", moved)(patch)

    return apply


declare(
    "M16",
    "rate-of-smallest-units",
    "the rate is between smallest units",
    _rate(money.smallest_unit_rate),
    "codes",
)
declare(
    "M16",
    "rate-of-a-receiving-unit",
    "the rate is what one receiving unit costs",
    _rate(lambda rate, sending, receiving: 1 / rate),
    "other forms",
)


@variant("M14", "source and destination are shown by type and account alone", "codes")
def echo_reduced(patch: Patch) -> None:
    for name in ("source", "destination"):
        kept = (f"{name}Type", "accountId")

        def echo(end: Json, kept: tuple[str, ...] = kept) -> Json:
            return {key: end[key] for key in kept if key in end}

        patch.replace(parties, f"echo_{name}", echo)


@variant(
    "M14",
    "source and destination are shown with more than was sent",
    "other forms",
    (quotes, "view"),
    edited,
)
def echo_enriched(body: Json) -> Json:
    more = {"currency": body["sendingCurrency"]["code"], "label": None}
    ends = {name: {**more, **body[name]} for name in ("source", "destination")}
    return {**body, **ends}


_COINS = frozenset({"USD", "USDB", "USDC", "USDT"})


def _at_par(rate: Function, sending: str, receiving: str) -> Any:
    """Return the rate of US dollars for each of the coins that stand for them."""
    return rate(*("USD" if code in _COINS else code for code in (sending, receiving)))


@variant("M16", "a coin that stands for US dollars is worth as much", "other apart")
def coins_at_par(patch: Patch) -> None:
    patch.wrap(money, "market_rate", _at_par)


# --- What a quote tells ---------------------------------------------------------------------


def texts(body: Json) -> Json:
    """Show the parts of a rate as texts."""
    details = {name: str(value) for name, value in body["rateDetails"].items()}
    return {**body, "rateDetails": details}


declare("N323", "texts", "the parts of a rate are texts", edited(quotes, "view", texts), "codes")
declare(
    "N323",
    "none",
    "the parts of a rate are not shown",
    edited(quotes, "view", without("rateDetails")),
    "absent",
)


@variant("N325", "Bitcoin is received on Lightning alone", "codes")
def lightning_alone(patch: Patch) -> None:
    def instructions_for(currency: str, digits: str) -> list[Json]:
        found = original(currency, digits)
        if currency != "BTC":
            return found
        kinds = [entry["accountOrWalletInfo"]["accountType"] for entry in found]
        return [found[kinds.index("LIGHTNING")]]

    original = accounts.instructions_for
    patch.replace(accounts, "instructions_for", instructions_for)
