"""Judges what hangs together: members of a resource, and a payment with its quote and accounts.

Each of these requirements has a scenario that looks where it expects a mistake. What is written
here is looked at in each message that shows enough, whichever scenario it belongs to. Only what is
broken is told: that a requirement is kept is for its scenario to say.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from conformance.contract.moments import parse_moment
from conformance.contract.notation import is_plain

Json = Mapping[str, Any]

_REALTIME = "REALTIME_FUNDING"
MAX_CHARS = 300
"""How long a text may be to be kept, or to be told."""

ROUNDING = 1e-6
"""By how much of it a rate may differ from another that is the same."""

MAX_BITS = 128
"""How long a whole number may be to be compared."""

_LONGEST = timedelta(minutes=15, seconds=1)
"""How long a quote may live; its two times may be rounded apart."""

_MAX_CURRENCIES = 1_000
_ENDS = {"source": "QUO-032", "destination": "QUO-034"}
"""The ends of a quote, with the requirement that each shows the account that was sent."""


@dataclass(frozen=True, slots=True)
class _Quoted:
    """What a payment has to agree with: its quote's id, ends, amounts and rate.

    ``accounts`` are the ids of the accounts at its ends, by the names of these.
    """

    id: str
    is_realtime: bool
    accounts: Mapping[str, str | None]
    description: str | None
    sent: tuple[int | None, str | None]
    received: tuple[int | None, str | None]
    rate: float | None

    @classmethod
    def of(cls, quote: Json) -> _Quoted:
        return cls(
            quote["id"],
            _member(quote.get("source"), "sourceType") == _REALTIME,
            {end: _text(_member(quote.get(end), "accountId")) for end in _ENDS},
            _plain(quote.get("description")),
            (_amount(quote.get("totalSendingAmount")), _code(quote.get("sendingCurrency"))),
            (_amount(quote.get("totalReceivingAmount")), _code(quote.get("receivingCurrency"))),
            _number(quote.get("exchangeRate")),
        )


@dataclass(frozen=True, slots=True)
class Broken:
    """A requirement that a resource breaks, and how."""

    requirement: str
    detail: str


class Relations:
    """What accounts and quotes have shown, as far as later messages have to agree with it."""

    def __init__(self) -> None:
        self._currencies: dict[str, str] = {}
        self._quotes: dict[str, _Quoted] = {}
        self._ends: dict[str, set[str]] = {}
        self._metadata: dict[str, dict[str, str | int]] = {}

    def forget(self) -> None:
        """Forget all resources."""
        self._currencies.clear()
        self._quotes.clear()
        self._ends.clear()
        self._metadata.clear()

    def of(self, kind: str, resource: Json, request: Json | None) -> Iterator[Broken]:
        """Yield the requirements that a resource breaks.

        Args:
            kind: the type that its id begins with.
            resource: the resource.
            request: the valid body that asked for it just now.
        """
        match kind:
            case "InternalAccount":
                yield from self._internal_account(resource)
            case "ExternalAccount":
                self._keep_currency(resource, resource.get("currency"))
                if request is not None:
                    yield from _as_registered(resource, request)
            case "Quote":
                yield from self._quote(resource, request)
            case "Transaction":
                yield from self._transaction(resource)

    def of_lookup(self, lookup: Json) -> Iterator[Broken]:
        """Yield the requirements that the answer to a lookup of an external account breaks."""
        listed = lookup.get("supportedCurrencies")
        rows = listed[:_MAX_CURRENCIES] if isinstance(listed, list) else []
        currencies = [_member(row, "currency") for row in rows]
        yield from self._named_alike(lookup.get("sendingCurrency"), *currencies)
        held = self._currencies.get(str(lookup.get("accountId")))
        codes = [_code(currency) for currency in currencies]
        if held is not None and codes:
            told = f"an account in {held}, and supportedCurrencies {codes[:9]}"
            yield from _unless("LKP-021", held in codes, told)

    def _internal_account(self, account: Json) -> Iterator[Broken]:
        balance, total = account.get("balance"), account.get("totalBalance")
        self._keep_currency(account, code_of(balance))
        yield from self._named_alike(_member(balance, "currency"), _member(total, "currency"))
        if (code := code_of(balance)) and (other := code_of(total)):
            yield from _unless(
                "ACC-031", code == other, f"balance in {code}, totalBalance in {other}"
            )
        amount, most = amount_of(balance), amount_of(total)
        if amount is not None and most is not None:
            yield from _unless(
                "ACC-012", amount <= most, f"a totalBalance of {most} below {amount}"
            )

    def _quote(self, quote: Json, request: Json | None) -> Iterator[Broken]:
        transaction = quote.get("transactionId")
        if isinstance(transaction, str) and len(transaction) <= MAX_CHARS:
            self._quotes.setdefault(transaction, _Quoted.of(quote))
        yield from self._named_alike(quote.get("sendingCurrency"), quote.get("receivingCurrency"))
        yield from self._as_shown_before(quote)
        for requirement, end, member in (
            ("QUO-036", "source", "sendingCurrency"),
            ("QUO-037", "destination", "receivingCurrency"),
        ):
            code = _code(quote.get(member))
            wanted = self._currencies.get(str(_member(quote.get(end), "accountId")))
            if code and wanted:
                yield from _unless(
                    requirement, code == wanted, f"{member} {code}, an account in {wanted}"
                )
        if request is not None:
            yield from _as_named(quote, request)
            yield from _as_asked(quote, request)

    def _as_shown_before(self, quote: Json) -> Iterator[Broken]:
        """Yield whether a quote's ends have the accounts that they had before, and no rail."""
        shown = self._ends.setdefault(quote["id"], set())
        for end, requirement in _ENDS.items():
            if not isinstance(quote.get(end), dict):
                continue
            if _member(quote[end], "accountId"):
                shown.add(end)
            elif end in shown:
                yield Broken(requirement, f"a {end} that has lost its accountId")
        rail = _member(quote.get("destination"), "paymentRail")
        yield from _unless("QUO-035", rail is None, f"the paymentRail {rail} in its destination")

    def _transaction(self, payment: Json) -> Iterator[Broken]:
        currencies = (_member(money, "currency") for money in payment.values())
        yield from self._named_alike(payment.get("currency"), *currencies)
        status, settled = payment.get("status"), payment.get("settledAt")
        if payment.get("type") == "OUTGOING" and (direction := payment.get("direction")):
            yield from _unless(
                "TRX-033", direction == "DEBIT", f"an OUTGOING payment is a {direction}"
            )
        quote = self._quotes.get(str(payment.get("id")))
        if quote is None:
            return
        if name := payment.get("quoteId"):
            yield from _unless("TRX-022", name == quote.id, f"quoteId {name}, and not {quote.id}")
        yield from _with_types(payment, quote)
        if (text := payment.get("description")) and quote.description:
            yield from _unless("TRX-034", text == quote.description, f"the description {text}")
        for requirement, waiting in (("TRX-842", "PENDING"), ("TRX-027", "PROCESSING")):
            is_early = status == waiting and settled
            yield from _unless(requirement, not is_early, f"{waiting} with settledAt {settled}")
        if status == "COMPLETED":
            refund = payment.get("refund")
            yield from _unless("TRX-057", not refund, f"a refund {refund} at COMPLETED")
            if not quote.is_realtime:
                yield from _as_quoted(payment, quote)

    def _named_alike(self, *currencies: Any) -> Iterator[Broken]:
        """Yield whether currencies have the name, symbol and decimals that they had before."""
        for currency in currencies:
            code = _code(currency)
            if code is None or not self._has_room_for(code):
                continue
            before = self._metadata.setdefault(code, {})
            for member, value in (
                *((name, _text(currency.get(name))) for name in ("name", "symbol")),
                ("decimals", _amount(currency.get("decimals"))),
            ):
                if value is not None and before.setdefault(member, value) != value:
                    told = f"the {member} {value!r} of {code}, which was {before[member]!r} before"
                    yield Broken("CNV-112", told[:MAX_CHARS])

    def _has_room_for(self, code: str) -> bool:
        return code in self._metadata or len(self._metadata) < _MAX_CURRENCIES

    def _keep_currency(self, account: Json, code: Any) -> None:
        if isinstance(code, str) and 0 < len(code) <= MAX_CHARS:
            self._currencies.setdefault(str(account["id"]), code)


def _as_registered(account: Json, request: Json) -> Iterator[Broken]:
    """Yield whether a new external account has the owner that its request named."""
    sent = request.get("customerId")
    if isinstance(sent, str) and sent:
        shown = _text(account.get("customerId"))
        yield from _unless("EXT-823", shown == sent, f"the customerId {shown}, and {sent} was sent")


def _as_named(quote: Json, request: Json) -> Iterator[Broken]:
    """Yield whether a new quote is between the ends that its request names."""
    for end, requirement in _ENDS.items():
        named, told = (_member(one.get(end), "accountId") for one in (request, quote))
        if isinstance(named, str) and isinstance(told, str):
            yield from _unless(requirement, told == named, f"the {end} {told}, and not {named}")
    if _member(request.get("source"), "sourceType") == _REALTIME:
        for name in ("customerId", "currency"):
            asked, shown = (_member(one.get("source"), name) for one in (request, quote))
            if isinstance(asked, str) and isinstance(shown, str):
                told = f"the {name} {shown} in its source, and not {asked}"
                yield from _unless("QUO-827", shown == asked, told)


def _as_asked(quote: Json, request: Json) -> Iterator[Broken]:
    """Yield whether a new quote has the amount that its request locked, its rate and its life."""
    side, amount = request.get("lockedCurrencySide"), request.get("lockedCurrencyAmount")
    sending, receiving = _code(quote.get("sendingCurrency")), _code(quote.get("receivingCurrency"))
    if sending and receiving and side in _LOCKED and _amount(amount) is not None:
        member, at_home, abroad, rate_at_home = _LOCKED[side]
        shown, rate = quote.get(member), quote.get("exchangeRate")
        is_home = sending == receiving
        if shown is not None:
            wanted = f"{member} {shown}, and {amount} was locked"
            yield from _unless(at_home if is_home else abroad, shown == amount, wanted)
        if is_home and rate is not None:
            yield from _unless(rate_at_home, rate == 1, f"exchangeRate {rate} within {sending}")
    sent, description = _plain(request.get("description")), quote.get("description")
    if sent and description:
        told = f"the description {description}, and not {sent}"
        yield from _unless("QUO-039", description == sent, told)
    if quote.get("status") == "PENDING":
        try:
            created, ends = (parse_moment(str(quote.get(n))) for n in ("createdAt", "expiresAt"))
            yield from _unless(
                "QUO-030", created < ends, f"created at {created}, expires at {ends}"
            )
            yield from _unless("QUO-062", ends - created <= _LONGEST, f"it lives {ends - created}")
        except (ValueError, TypeError, OverflowError):
            return


_LOCKED = {
    "SENDING": ("totalSendingAmount", "QUO-044", "QUO-046", "QUO-048"),
    "RECEIVING": ("totalReceivingAmount", "QUO-045", "QUO-047", "QUO-049"),
}
"""By the locked side: the member that shows it, and the requirements on it and on the rate."""


def _with_types(payment: Json, quote: _Quoted) -> Iterator[Broken]:
    """Yield whether the accounts of a payment have lost the types that their ids begin with."""
    for end, whole in quote.accounts.items():
        told = _text(_member(payment.get(end), "accountId"))
        if whole and told:
            is_bare = told == whole.partition(":")[2]
            yield from _unless(
                "CNV-019", not is_bare, f"the {end} {told}, and {whole} in the quote"
            )


def _as_quoted(payment: Json, quote: _Quoted) -> Iterator[Broken]:
    """Yield whether a completed payment moved what its quote says."""
    for member, (amount, code), of_amount, of_currency in (
        ("sentAmount", quote.sent, "TRX-028", "TRX-029"),
        ("receivedAmount", quote.received, "TRX-030", "TRX-031"),
    ):
        shown, currency = amount_of(payment.get(member)), code_of(payment.get(member))
        if shown is not None and amount is not None:
            yield from _unless(
                of_amount, shown == amount, f"{member} {shown}, and {amount} in the quote"
            )
        if currency and code:
            yield from _unless(
                of_currency, currency == code, f"{member} in {currency}, and not {code}"
            )
    rate = _number(payment.get("exchangeRate"))
    if rate is not None and quote.rate is not None:
        is_same = math.isclose(rate, quote.rate, rel_tol=ROUNDING)
        yield from _unless(
            "TRX-032", is_same, f"exchangeRate {rate}, and {quote.rate} in the quote"
        )


def _unless(requirement: str, kept: bool, otherwise: str) -> Iterator[Broken]:
    """Yield a requirement and how it is broken, unless it is kept."""
    if not kept:
        yield Broken(requirement, otherwise[:MAX_CHARS])


def amount_of(money: Any) -> int | None:
    """Return the amount of a money object; ``None`` where it shows none."""
    return _amount(_member(money, "amount"))


def code_of(money: Any) -> str | None:
    """Return the currency code of a money object; ``None`` where it shows none."""
    return _code(_member(money, "currency"))


def _code(currency: Any) -> str | None:
    return _text(_member(currency, "code"))


def _amount(value: Any) -> int | None:
    is_whole = isinstance(value, int) and not isinstance(value, bool)
    return value if is_whole and value.bit_length() <= MAX_BITS else None


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and len(value) <= MAX_CHARS else None


def _plain(value: Any) -> str | None:
    return value if isinstance(value, str) and is_plain(value) else None


def _number(value: Any) -> float | None:
    try:
        return float(value) if isinstance(value, int | float) else None
    except OverflowError:
        return None


def _member(value: Any, name: str) -> Any:
    return value.get(name) if isinstance(value, dict) else None
