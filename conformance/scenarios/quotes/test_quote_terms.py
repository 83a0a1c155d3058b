"""The terms of a quote: amounts, fees and rate, in every corridor that the profile names."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Sequence
from decimal import Decimal
from fractions import Fraction
from itertools import chain, permutations
from typing import Any

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_resource, require_member
from conformance.platform.waiting import wait_for_another_second
from conformance.profile.resources import Corridor
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.notation import moment
from conformance.scenarios.quotes.realtime import create_realtime_quote
from conformance.scenarios.quotes.terms import (
    LOCKED_TOTALS,
    READINGS,
    ROUNDINGS,
    arrange_rate,
    expect_fee_rule,
    expect_fees_are_the_difference,
    expect_net_amounts_are_converted,
    expect_short_life,
)
from conformance.testdata.accounts import account_examples
from conformance.verdict.decisions import FeatureUndeclared, PreconditionFailed, ResourceMissing

UNROUND = {"few decimals": (10_007, 12_345, 99_991), "many": (1_000_003, 3_333_331, 4_999_999)}
"""Sending amounts, in the smallest unit, that no usual fee or rate divides evenly."""

MANY_DECIMALS = 3
LARGE = 4_999_999
"""A sending amount at which the square of a usual fee is more than rounding."""

NO_FLOAT = 2**53 + 1
"""The first whole number that no float of 64 bits is."""

DOLLARS = ("USD", "USDC", "USDT")
"""US dollars, and the coins among those that the specification names that stand for one each."""

WIDE = 100
"""How far from par dollars may be quoted: fees and toy rates of a sandbox are far below it."""

FUNDED_JUST_IN_TIME = ("USDC", "BTC")
"""Currencies of real-time funding whose decimals are not those of dollars."""


FEW_WHOLE_UNITS = 2
"""A locked receiving amount that is no large payment even where its decimals are ignored."""


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with a corridor once in each corridor of its kind that the profile names."""
    suite: Any = metafunc.config.pluginmanager.get_plugin("payments-conformance-session")
    for name, same_currency in (("same_currency", True), ("cross_currency", False)):
        if name in metafunc.fixturenames:
            corridors = [
                corridor
                for corridor in suite.profile.resources.corridors
                if (corridor.sending == corridor.receiving) is same_currency
            ]
            metafunc.parametrize(name, corridors or [None], ids=label)


@requirement("QUO-044", "QUO-048", "QUO-050", "QUO-051", "QUO-062")
def test_fees_come_off_a_locked_sending_amount(
    platform: Platform, check: Check, same_currency: Corridor | None
) -> None:
    """Within one currency, the receiving amount is the locked sending amount less the fees."""
    source, destination = funded_ends(platform, same_currency)

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
        with check("QUO-062"):
            expect_short_life(quote)


@requirement("QUO-045", "QUO-049", "QUO-050", "QUO-052")
def test_fees_are_added_to_a_locked_receiving_amount(
    platform: Platform, check: Check, same_currency: Corridor | None
) -> None:
    """Within one currency, the sending amount is the locked receiving amount and the fees."""
    source, destination = funded_ends(platform, same_currency)

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


@pytest.mark.parametrize(
    "side", [case("QUO-044", "sending", "SENDING"), case("QUO-045", "receiving", "RECEIVING")]
)
def test_a_locked_amount_is_no_float(platform: Platform, side: str) -> None:
    """A quote shows the amount that it locks; one beyond what floats count may be refused."""
    ends = platform.quotes.ends(platform.quotes.corridor(same_currency=True))

    usual, large = (
        platform.api.create_quote(platform.quotes.body(*ends, side=side, amount=amount))
        for amount in (None, NO_FLOAT)
    )

    shown = arranged_resource(usual)[LOCKED_TOTALS[side]]
    assert shown == usual.exchange.request_body["lockedCurrencyAmount"], usual
    assert not large.accepted or large.body[LOCKED_TOTALS[side]] == NO_FLOAT, large


@requirement("QUO-608")
def test_the_fees_of_the_platform_are_given_within_one_currency_too(platform: Platform) -> None:
    """A same-currency quote has platformFeesIncluded where a cross-currency quote has them."""
    across, within = (
        platform.quotes.pending(*platform.quotes.ends(platform.quotes.corridor(same_currency=same)))
        for same in (False, True)
    )
    require_member(across, "platformFeesIncluded")

    assert within.get("platformFeesIncluded") is not None, within


@requirement("QUO-046", "QUO-053", "QUO-036", "QUO-037", "QUO-062")
def test_what_fees_leave_of_a_locked_sending_amount_is_converted(
    platform: Platform, check: Check, cross_currency: Corridor | None
) -> None:
    """The fees are taken in the sending currency, and the rest is converted at the quoted rate."""
    source, destination = funded_ends(platform, cross_currency)
    quotes = []

    for amount in amounts(source):
        quotes.append(platform.quotes.pending(source, destination, side="SENDING", amount=amount))

        with check("QUO-046"):
            assert quotes[-1]["totalSendingAmount"] == amount
        with check("QUO-062"):
            expect_short_life(quotes[-1])

    with check("QUO-053"):
        expect_net_amounts_are_converted(quotes)
    expect_currencies_of_ends(check, quotes, source, destination)


@requirement("QUO-047", "QUO-054", "QUO-036", "QUO-037")
def test_a_locked_receiving_amount_is_what_fees_leave(
    platform: Platform, check: Check, cross_currency: Corridor | None
) -> None:
    """The sending amount less the fees converts to the locked receiving amount.

    One more unit is kept too, though no whole sending amount may convert to it.
    """
    source, destination = funded_ends(platform, cross_currency)
    quotes = []

    for amount in amounts(source):
        # Some amount of the receiving currency that the source can pay for.
        receiving_amount = platform.quotes.pending(source, destination, amount=amount)[
            "totalReceivingAmount"
        ]
        for locked in (receiving_amount, receiving_amount + 1):
            quotes.append(
                platform.quotes.pending(source, destination, side="RECEIVING", amount=locked)
            )
            with check("QUO-047"):
                assert quotes[-1]["totalReceivingAmount"] == locked

    with check("QUO-054"):
        expect_net_amounts_are_converted(quotes)
    expect_currencies_of_ends(check, quotes, source, destination)


@requirement("QUO-046", "QUO-047", "QUO-053", "QUO-054")
def test_whatever_is_sent_is_converted_alike(platform: Platform, check: Check) -> None:
    """Between internal accounts in two currencies that are sent, the terms are as in a corridor.

    These are pairs that the profile names no corridor for; one that the target does not quote
    gives nothing to check.
    """
    quotes: dict[str, list[tuple[int, Json]]] = {"SENDING": [], "RECEIVING": []}
    for source, target in unnamed_conversions(platform):
        locked = 2 * max(amounts(source)) // 3
        for side, found in quotes.items():
            body = platform.quotes.body(source, target, side=side, amount=locked)
            answer = platform.api.create_quote(body)
            if not answer.accepted:
                platform.observe(f"a conversion is not quoted: {answer}")
                break
            found.append((locked, answer.body))
            locked = answer.body["totalReceivingAmount"]
    if not quotes["SENDING"]:
        raise ResourceMissing("no pair of currencies is quoted that no corridor names")

    for side, kept_id, converted_id in (
        ("SENDING", "QUO-046", "QUO-053"),
        ("RECEIVING", "QUO-047", "QUO-054"),
    ):
        with check(kept_id):
            for locked, quote in quotes[side]:
                assert quote[f"total{side.capitalize()}Amount"] == locked, quote
        with check(converted_id):
            expect_net_amounts_are_converted(quote for _, quote in quotes[side])


def unnamed_conversions(platform: Platform) -> Iterator[tuple[Resource, Resource]]:
    """Yield a funded source and a target of one customer for each pair that no corridor names.

    Raises:
        ResourceMissing: the profile sends too few currencies for that.
    """
    corridors = platform.profile.resources.corridors
    sent = sorted({corridor.sending for corridor in corridors})
    named = {(corridor.sending, corridor.receiving) for corridor in corridors}
    pairs = [pair for pair in permutations(sent, 2) if pair not in named]
    if not pairs:
        raise ResourceMissing("resources.corridors of the profile names each pair that it sends")
    customer = platform.approved.customer(currencies=sent)
    held: dict[str, Resource] = {}
    for currency in sent:
        with contextlib.suppress(ResourceMissing):
            account = platform.internal_accounts.account(currency, customer=customer, amount=0)
            held[currency] = account
    for currency, account in held.items():
        if any(source == currency for source, _ in pairs):
            platform.internal_accounts.deposit(account, 2 * max(amounts(account)))
    for source, target in pairs:
        if source in held and target in held:
            yield held[source], held[target]


@requirement("QUO-037", "QUO-046", "QUO-047", "QUO-053")
def test_each_account_receives_its_own_currency(platform: Platform, check: Check) -> None:
    """A quote to an account of each type and currency brings what was locked, in that currency.

    What the fees leave of an amount that is sent is converted at the quoted rate.
    """
    source = platform.internal_accounts.account()
    quotes: dict[str, list[tuple[Json, Answer]]] = {"SENDING": [], "RECEIVING": []}
    for receiver in accounts_of_each_kind(platform, source.owner):
        for side, found in quotes.items():
            answer = platform.api.create_quote(platform.quotes.body(source, receiver, side=side))
            if not answer.accepted:
                platform.observe(f"nothing is quoted in {receiver['currency']}: {answer}")
                break
            found.append((receiver, answer))

    if not quotes["SENDING"]:
        raise ResourceMissing("no external account is quoted")
    with check("QUO-037"):
        for account, answer in chain(*quotes.values()):
            assert answer.body["receivingCurrency"].get("code") == account["currency"], answer
    for side, requirement_id in {"SENDING": "QUO-046", "RECEIVING": "QUO-047"}.items():
        with check(requirement_id):
            for answer in converting(quotes[side], platform.profile.currency):
                locked = answer.exchange.request_body["lockedCurrencyAmount"]
                assert answer.body[f"total{side.capitalize()}Amount"] == locked, answer
    with check("QUO-053"):
        sent = converting(quotes["SENDING"], platform.profile.currency)
        expect_net_amounts_are_converted(answer.body for answer in sent)


def accounts_of_each_kind(platform: Platform, owner: Resource) -> Iterator[Resource]:
    """Yield an external account of each type and currency that the target takes."""
    kinds = {(one.account_type, one.currency): one.name for one in account_examples().values()}
    for name in kinds.values():
        try:
            body = platform.external_accounts.body(owner, name)
        except ResourceMissing as missing:
            platform.observe(str(missing))
            continue
        creation = platform.api.create_external_account(body)
        if not creation.accepted:
            platform.observe(f"{name} is no account of the target: {creation}")
            continue
        account = arranged_resource(creation, owner)
        if platform.external_accounts.waits_for_trigger(account):
            account = platform.external_accounts.activate(account)
        yield account


def converting(quotes: Iterable[tuple[Json, Answer]], sent: str) -> list[Answer]:
    """Return the quotes to accounts in another currency than the one that is sent.

    Raises:
        ResourceMissing: there are none.
    """
    found = [answer for account, answer in quotes if account["currency"] != sent]
    if not found:
        raise ResourceMissing("nothing is quoted between two currencies")
    return found


@requirement("QUO-618", "QUO-619")
def test_a_conversion_minds_the_decimals_of_its_currencies(
    platform: Platform, check: Check
) -> None:
    """A US dollar is roughly one whole unit of a coin that stands for it, whichever side is locked.

    In all corridors, for both sides and for what a payment funds, the rate is between whole units,
    or it is between smallest units. It multiplies what is sent, or always tells what one unit of
    the other currency costs.
    """
    quotes = [quote for corridor in conversions(platform) for quote in quoted(platform, corridor)]
    for currency in FUNDED_JUST_IN_TIME:
        with contextlib.suppress(FeatureUndeclared, ResourceMissing):
            quotes.append(create_realtime_quote(platform, currency))

    with check("QUO-618"):
        expect_about_par(quotes)
    with check("QUO-619"):
        expect_rates_alike(quotes)


@requirement("QUO-055")
def test_both_sides_take_the_same_fee_within_one_currency(
    platform: Platform, same_currency: Corridor | None
) -> None:
    """The same payment costs the same, whether its sending or its receiving amount is locked."""
    sending, receiving = quote_both_sides(platform, same_currency)

    assert abs(receiving["totalSendingAmount"] - sending["totalSendingAmount"]) <= ROUNDINGS + 1


@requirement("QUO-064")
def test_fees_are_one_fraction_of_each_amount(
    platform: Platform, same_currency: Corridor | None
) -> None:
    """From each amount to the next, fees grow by the same fraction of what is sent in addition."""
    source, destination = funded_ends(platform, same_currency, 2 * LARGE)
    quotes = []
    # Fees of a percent or a tenth of it come to whole units of none of them.
    for amount in (LARGE // 5 + 4_321, LARGE // 2 + 1_717, LARGE):
        answer = platform.api.create_quote(platform.quotes.body(source, destination, amount=amount))
        if not answer.accepted:
            raise ResourceMissing(f"the target does not quote an amount of {amount}: {answer}")
        quotes.append(answer.body)

    sent = [quote["totalSendingAmount"] for quote in quotes]
    fees = [quote["totalSendingAmount"] - quote["totalReceivingAmount"] for quote in quotes]
    expected = fees[0] + Fraction(fees[2] - fees[0], sent[2] - sent[0]) * (sent[1] - sent[0])
    assert abs(fees[1] - expected) <= ROUNDINGS, f"fees of {fees} for amounts of {sent}"


@requirement("QUO-056")
def test_both_sides_take_the_same_fee_between_currencies(
    platform: Platform, cross_currency: Corridor | None
) -> None:
    """The same payment costs the same at one rate, whichever of its amounts is locked."""
    sending, receiving = quote_both_sides(platform, cross_currency)

    if sending["exchangeRate"] != receiving["exchangeRate"]:
        raise ResourceMissing("the rate moved between two quotes")
    unit = sending["totalSendingAmount"] / sending["totalReceivingAmount"]
    assert (
        abs(receiving["totalSendingAmount"] - sending["totalSendingAmount"]) <= ROUNDINGS + 1 + unit
    )


@requirement("QUO-057", "QUO-058", "QUO-059", "QUO-060")
@requirement("QUO-609", "QUO-610", "QUO-611", "QUO-612", "QUO-613", "QUO-614")
@requirement("QUO-031", "QUO-033", "QUO-041", "QUO-814", "QUO-830", "QUO-902")
@pytest.mark.parametrize("within", [True, False], ids=["same-currency", "cross-currency"])
@pytest.mark.parametrize("side", ["SENDING", "RECEIVING"])
def test_execution_leaves_the_terms_as_they_were_quoted(
    platform: Platform, check: Check, side: str, within: bool
) -> None:
    """An executed quote shows the accounts, times, amounts, rate and fees that it showed before."""
    source, destination = platform.quotes.ends(platform.quotes.corridor(same_currency=within))
    amount = 10_007
    if side == "RECEIVING":
        # Some amount of the receiving currency that the source can pay for.
        amount = platform.quotes.pending(source, destination, amount=amount)["totalReceivingAmount"]
    quote = platform.quotes.pending(
        source, destination, side=side, amount=amount, description="Rent, July"
    )
    wait_for_another_second(quote.get("createdAt"))

    execution = platform.quotes.execute(quote)

    with check("QUO-609"):
        assert execution["source"].get("accountId") == source["id"], execution
    with check("QUO-610"):
        assert execution["destination"].get("accountId") == destination["id"], execution
    with check("QUO-611"):
        assert moment(execution["expiresAt"]) == moment(quote["expiresAt"])
    with check("QUO-612"):
        assert moment(execution["createdAt"]) == moment(quote["createdAt"])
    with check("QUO-613"):
        for member in ("sendingCurrency", "receivingCurrency"):
            assert execution[member]["code"] == quote[member]["code"], execution
    with check("QUO-614"):
        assert require_member(execution, "description") == "Rent, July"
    with check("QUO-902"):
        require_member(quote, "description")
        assert execution.get("description"), execution
    with check("QUO-057"):
        assert execution["totalSendingAmount"] == quote["totalSendingAmount"]
    with check("QUO-058"):
        assert execution["totalReceivingAmount"] == quote["totalReceivingAmount"]
    with check("QUO-059"):
        assert execution["exchangeRate"] == quote["exchangeRate"]
    with check("QUO-060"):
        assert execution["feesIncluded"] == quote["feesIncluded"]
    with check("QUO-830"):
        fee = require_member(quote, "platformFeesIncluded")
        assert require_member(execution, "platformFeesIncluded") == fee
    with check("QUO-031"):
        assert execution["source"].get("sourceType") == "ACCOUNT", execution
    with check("QUO-033"):
        assert execution["destination"].get("destinationType") == "ACCOUNT", execution
    with check("QUO-041"):
        assert not execution.get("paymentInstructions"), execution
    with check("QUO-814"):
        assert execution["destination"].get("paymentRail") is None, execution


@requirement("QUO-161", "QUO-086", "QUO-830", "QUO-975")
@pytest.mark.parametrize(
    ("side", "within", "ids"),
    [
        case(ids, f"{side}-{name}", side, name == "same-currency", ids)
        for side, name, *ids in (
            ("SENDING", "same-currency", "QUO-044", "QUO-051"),
            ("RECEIVING", "same-currency", "QUO-045", "QUO-052"),
            ("SENDING", "cross-currency", "QUO-046", "QUO-053"),
            ("RECEIVING", "cross-currency", "QUO-047", "QUO-054"),
        )
    ],
)
def test_a_platform_fee_of_one_quote_shows_in_it(
    platform: Platform, check: Check, side: str, within: bool, ids: Sequence[str]
) -> None:
    """A quote from USD with platformFeeOverride has platformFeesIncluded above 0.

    So has one that is executed as it is created. The locked amount stays, and what arrives is
    without the fee: less arrives, or more is sent, than without the override. An execution leaves
    the fee as it is, and debits the sending amount, which includes it.
    """
    locked_id, net_id = ids
    override = platform.profile.bindings.require("platform_fee_override")
    source, destination = platform.quotes.ends(corridor_from_dollars(platform, within=within))
    amount = 10_000
    if side == "RECEIVING":
        amount = platform.quotes.pending(source, destination)["totalReceivingAmount"]
    body = platform.quotes.body(
        source, destination, side=side, amount=amount, platformFeeOverride=override
    )
    before, _ = platform.internal_accounts.balances(source)
    free = platform.quotes.pending(source, destination, side=side, amount=amount)

    quote = arranged_resource(platform.api.create_quote(body))
    execution = platform.quotes.execute(quote)
    balance_left = platform.internal_accounts.wait_for_balance(
        source, before - quote["totalSendingAmount"]
    )
    immediate = platform.api.create_quote({**body, "immediatelyExecute": True})

    with check("QUO-161"):
        for shown in (quote, arranged_resource(immediate)):
            assert (shown.get("platformFeesIncluded") or 0) > 0, shown
    with check("QUO-975"):
        expect_fee_is_taken(free, quote, side)
    with check(locked_id):
        assert quote[LOCKED_TOTALS[side]] == amount, quote
    with check(net_id):
        expect_fee_rule(quote)
    with check("QUO-830"):
        fee = require_member(quote, "platformFeesIncluded")
        assert require_member(execution, "platformFeesIncluded") == fee
    with check("QUO-086"):
        assert before - balance_left == quote["totalSendingAmount"]


WAYS = {reading.way for reading in READINGS}
"""How rates can be read: which units they relate, and in which direction."""


def expect_currencies_of_ends(
    check: Check, quotes: Iterable[Json], source: Json, destination: Json
) -> None:
    """Decide whether quotes are in the currencies of their accounts, whichever side is locked."""
    for quote in quotes:
        with check("QUO-036"):
            code = source["balance"]["currency"]["code"]
            assert quote["sendingCurrency"].get("code") == code, quote
        with check("QUO-037"):
            assert quote["receivingCurrency"].get("code") == destination["currency"], quote


def expect_fee_is_taken(free: Json, quote: Json, side: str) -> None:
    """Assert that a fee comes off what arrives, or is added to what is sent.

    Args:
        free: a quote of the same locked amount, with no fee of its own.
        quote: the quote with the fee.
        side: which amount is locked.

    Raises:
        ResourceMissing: the rate moved between the quotes, or the fee is too small to tell.
    """
    __tracebackhide__ = True
    if free["exchangeRate"] != quote["exchangeRate"]:
        raise ResourceMissing("the rate moved between two quotes, or has the fees in it")
    # A standing fee may be taken where a quote has none of its own.
    fee = (quote.get("platformFeesIncluded") or 0) - (free.get("platformFeesIncluded") or 0)
    taken = quote["totalSendingAmount"] - free["totalSendingAmount"]
    unit = 1.0
    if side == "SENDING":
        taken = free["totalReceivingAmount"] - quote["totalReceivingAmount"]
        unit = free["totalReceivingAmount"] / free["totalSendingAmount"]
    if (fee - ROUNDINGS) * unit <= ROUNDINGS:
        raise ResourceMissing(f"a fee of {fee} cannot be told from what is rounded")
    assert taken > 0, f"the fee of {fee} is not taken: {quote}, and without it {free}"


def expect_about_par(quotes: Iterable[Json]) -> None:
    """Assert that dollars are converted to about as many dollars, in whole units.

    Raises:
        ResourceMissing: no quote converts between dollars.
    """
    __tracebackhide__ = True
    between_dollars = [quote for quote in quotes if is_between_dollars(quote)]
    if not between_dollars:
        raise ResourceMissing(f"no two of {DOLLARS} are converted into each other")
    for quote in between_dollars:
        sent, received = whole_units(quote, "Sending"), whole_units(quote, "Receiving")
        assert received <= WIDE * sent, f"{sent} dollars become {received}: {quote}"
        assert sent <= WIDE * received, f"{sent} dollars become {received}: {quote}"


def expect_rates_alike(quotes: Iterable[Json]) -> None:
    """Assert that the rates of all quotes relate the same units, in the same direction.

    A quote that no reading explains, or that all explain, says nothing about that.

    Raises:
        ResourceMissing: there are not two currencies whose quotes can be read in some ways alone.
    """
    __tracebackhide__ = True
    found = [(ways_of(quote), quote) for quote in quotes]
    telling = [(ways, quote) for ways, quote in found if 0 < len(ways) < len(WAYS)]
    common = WAYS.intersection(*(ways for ways, _ in telling))
    assert common, "read in whichever way, the rates do not fit all amounts: " + "; ".join(
        f"{' or '.join(sorted(ways))} in {quote}" for ways, quote in telling
    )
    if len({quote["receivingCurrency"]["code"] for _, quote in telling}) <= 1:
        raise ResourceMissing(
            "of the currencies that resources.corridors converts into, no two show how their rates "
            "are to be read"
        )


def ways_of(quote: Json) -> set[str]:
    """Return in which of ``WAYS`` the rate of a quote can be read.

    Nothing is returned where a fixed fee is hidden in the amounts.
    """
    try:
        arrange_rate(quote)
    except PreconditionFailed:
        return set()
    return {reading.way for reading in READINGS if reading.fits(quote)}


def is_between_dollars(quote: Json) -> bool:
    """Return whether a quote converts between two of ``DOLLARS``."""
    return all(quote[f"{side}Currency"].get("code") in DOLLARS for side in ("sending", "receiving"))


def whole_units(quote: Json, side: str) -> Decimal:
    """Return the ``Sending`` or the ``Receiving`` amount of a quote in whole units."""
    return Decimal(quote[f"total{side}Amount"]).scaleb(-decimals_of(quote, side))


def decimals_of(quote: Json, side: str) -> int:
    """Return how many decimals a quote says that its ``Sending`` or its other currency has."""
    decimals = quote[f"{side.lower()}Currency"].get("decimals")
    if not isinstance(decimals, int):
        raise PreconditionFailed(f"the quote does not say how many decimals it has: {quote}")
    return decimals


def corridor_from_dollars(platform: Platform, *, within: bool) -> Corridor:
    """Return the first corridor of the profile from US dollars that is (not) within them.

    Raises:
        ResourceMissing: the profile names none.
    """
    for corridor in platform.quotes.corridors_from("USD"):
        if (corridor.receiving == "USD") is within:
            return corridor
    raise ResourceMissing("resources.corridors of the profile has none of this kind from USD")


def conversions(platform: Platform) -> list[Corridor]:
    """Return the corridors of the profile between two currencies, one for each pair of them.

    Raises:
        ResourceMissing: the profile names none.
    """
    found: dict[tuple[str, str], Corridor] = {}
    for corridor in platform.profile.resources.corridors:
        if corridor.sending != corridor.receiving:
            found.setdefault((corridor.sending, corridor.receiving), corridor)
    if not found:
        raise ResourceMissing("resources.corridors of the profile has no cross-currency one")
    return list(found.values())


def quoted(platform: Platform, corridor: Corridor) -> list[Json]:
    """Return quotes of a corridor with either side locked; none for what is not quoted."""
    source, destination = funded_ends(platform, corridor)
    amount = max(amounts(source))
    sending = platform.api.create_quote(platform.quotes.body(source, destination, amount=amount))
    if not sending.accepted:
        platform.observe(f"{amount} {corridor.sending} are not quoted: {sending}")
        return []
    quotes: list[Json] = [arranged_resource(sending)]
    amount = quotes[0]["totalReceivingAmount"]
    if is_between_dollars(quotes[0]):
        amount = FEW_WHOLE_UNITS * int(10 ** decimals_of(quotes[0], "Receiving"))
    body = platform.quotes.body(source, destination, side="RECEIVING", amount=amount)
    receiving = platform.api.create_quote(body)
    if receiving.accepted:
        quotes.append(arranged_resource(receiving))
    else:
        platform.observe(f"{amount} {corridor.receiving} are not quoted: {receiving}")
    return quotes


def funded_ends(
    platform: Platform, corridor: Corridor | None, funds: int | None = None
) -> tuple[Resource, Resource]:
    """Return a source with ``funds``, by default for all of :func:`amounts`, and a destination.

    Raises:
        ResourceMissing: the profile has no corridor of this kind.
    """
    if corridor is None:
        raise ResourceMissing("resources.corridors of the profile has none of this kind")
    source, destination = platform.quotes.ends(corridor, amount=0)
    platform.internal_accounts.deposit(source, funds or 2 * max(amounts(source)))
    return source, destination


def quote_both_sides(platform: Platform, corridor: Corridor | None) -> tuple[Resource, Resource]:
    """Quote a large sending amount, and then the receiving amount of that quote; return both.

    Where the platform's standing fee changes in between, both quotes are made again.

    Raises:
        ResourceMissing: there is no corridor of this kind, or the target does not quote so much.
    """
    source, destination = funded_ends(platform, corridor, 2 * LARGE)

    def pair() -> tuple[Resource, Resource]:
        sending = platform.api.create_quote(platform.quotes.body(source, destination, amount=LARGE))
        if not sending.accepted:
            raise ResourceMissing(f"the target does not quote an amount of {LARGE}: {sending}")
        amount = sending.body["totalReceivingAmount"]
        receiving = platform.quotes.pending(source, destination, side="RECEIVING", amount=amount)
        return sending.body, receiving

    return platform.until(pair, lambda quotes: have_same_own_fees(*quotes))


def have_same_own_fees(*quotes: Json) -> bool:
    """Return whether all quotes have the same fees of the platform, except for rounding."""
    own_fees = [quote.get("platformFeesIncluded") or 0 for quote in quotes]
    return bool(max(own_fees) - min(own_fees) <= ROUNDINGS)


def amounts(source: Resource) -> tuple[int, ...]:
    """Return sending amounts, in the smallest unit, at which fees and rates have to be rounded."""
    decimals = source["balance"]["currency"].get("decimals")
    if not isinstance(decimals, int):
        raise PreconditionFailed(f"{source['id']} does not say how many decimals it has")
    return UNROUND["many" if decimals >= MANY_DECIMALS else "few decimals"]


def label(corridor: Corridor | None) -> str:
    """Return a corridor as a part of the name of a test."""
    return "none" if corridor is None else f"{corridor.sending}-{corridor.receiving}"
