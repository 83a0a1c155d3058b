"""The standing fee of the platform: how it is set, and what quotes bear it.

All tests share the settings. The tests that change one take turns, keep each change as short as
they can, and restore the settings.
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Literal

import pytest

from conformance.platform.given.configuration import FEES, holds
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_resource
from conformance.scenarios.configuration.settings import expect_shown, read_setting
from conformance.scenarios.configuration.standing_fees import (
    MAX_ROUNDING_DIFFERENCE,
    SENDING_AMOUNT,
    arrange_no_fee,
    dollar_corridor,
    dollar_quote,
    quote_bearing,
    set_fee,
    shows_fee,
    with_and_without_fee,
)
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.fees import (
    BASIS_POINTS,
    FIXED,
    FORMS,
    arrange_quote,
    corridors_not_from,
    own_fee,
)
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.quotes.uma import uma_quote
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing


@requirement("CFG-010", "CFG-011", "CFG-012")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_is_a_rate_an_amount_or_both(platform: Platform, check: Check) -> None:
    """A fee with a rate, with a fixed amount and with both is accepted."""
    answers = {
        form: platform.configuration.update({FEES: platform.configuration.standing_fee(**fee)})
        for form, fee in FORMS.items()
    }

    if not any(answer.accepted for answer in answers.values()):
        raise PreconditionFailed(f"bindings.fee_configs is refused: {answers['both']}")
    with check("CFG-010"):
        answers["rate"].expect_accepted()
    with check("CFG-011"):
        answers["amount"].expect_accepted()
    with check("CFG-012"):
        answers["both"].expect_accepted()


@pytest.mark.parametrize(
    "form",
    [
        case("CFG-013", "rate", "rate"),
        case("CFG-014", "amount", "amount"),
        case("CFG-015", "both", "both"),
    ],
)
@pytest.mark.usefixtures("settings")
def test_the_configuration_shows_the_standing_fee(platform: Platform, form: str) -> None:
    """A fee that was accepted is shown with the values that were sent."""
    fee = set_fee(platform, **FORMS[form])

    setting = read_setting(platform, FEES, fee)

    expect_shown(FEES, setting, fee)


@pytest.mark.parametrize(
    ("form", "side"),
    [
        case("CFG-016", "rate-SENDING", "rate", "SENDING"),
        case("CFG-017", "amount-SENDING", "amount", "SENDING"),
        case("CFG-018", "both-SENDING", "both", "SENDING"),
        case("CFG-019", "rate-RECEIVING", "rate", "RECEIVING"),
        case("CFG-020", "amount-RECEIVING", "amount", "RECEIVING"),
        case("CFG-021", "both-RECEIVING", "both", "RECEIVING"),
    ],
)
@pytest.mark.usefixtures("settings")
def test_a_cross_currency_quote_bears_the_standing_fee(
    platform: Platform, form: str, side: str
) -> None:
    """The rate applies to the sending amount, whichever side is locked."""
    body = dollar_quote(platform, side)
    fee = FORMS[form]
    set_fee(platform, **fee)

    quote = quote_bearing(platform, body, fee)

    assert shows_fee(quote, fee), (
        f"a standing fee of {fee} shows as {quote.get('platformFeesIncluded')} of "
        f"{quote['totalSendingAmount']}"
    )


@requirement("CFG-018")
@pytest.mark.parametrize(
    "kind",
    ["business", "conversion", "immediate", "pulled", "real-time", "to-a-wallet", "to-an-address"],
)
@pytest.mark.usefixtures("settings")
def test_a_quote_of_each_kind_bears_the_standing_fee(
    platform: Platform,
    kind: Literal[
        "business", "conversion", "immediate", "pulled", "real-time", "to-a-wallet", "to-an-address"
    ],
) -> None:
    """So do quotes of a business, such as are executed at once, pulled, or funded in time.

    And so do those that are paid out in a crypto currency, to a UMA address, or to the sender's own
    account in another currency.
    """
    corridor = dollar_corridor(platform, to_a_wallet=kind == "to-a-wallet")
    approve = platform.approved.business if kind == "business" else platform.approved.customer
    receiving = dollar_receivers(platform) if kind == "conversion" else [corridor.receiving]
    customer = approve(currencies=sorted({platform.profile.currency, "USD", *receiving}))
    receiver = (
        own_account_in(platform, customer, receiving)
        if kind == "conversion"
        else platform.external_accounts.account(customer, corridor.account)
    )
    if kind == "real-time":
        body = platform.quotes.realtime_body(customer, receiver, currency="USD")
        body["lockedCurrencyAmount"] = SENDING_AMOUNT
    elif kind == "pulled":
        platform.quotes.require_pulls_abroad()
        source = platform.external_accounts.pullable(customer)
        if source.get("currency") != "USD":
            raise ResourceMissing(f"what can be pulled is in {source.get('currency')}")
        body = platform.quotes.body(source, receiver, amount=SENDING_AMOUNT)
    else:
        source = platform.internal_accounts.account(
            "USD", amount=2 * SENDING_AMOUNT, customer=customer
        )
        body = platform.quotes.body(source, receiver, amount=SENDING_AMOUNT)
        if kind == "to-an-address":
            body = dict(uma_quote(platform, source, currency=corridor.receiving))
            body["lockedCurrencyAmount"] = SENDING_AMOUNT
    usual_body = dollar_quote(platform)
    fee = FORMS["both"]
    set_fee(platform, **fee)
    usual = quote_bearing(platform, usual_body, fee)
    if not shows_fee(usual, fee):
        raise PreconditionFailed(f"the standing fee does not show in a quote: {usual}")

    members = {"immediatelyExecute": True} if kind == "immediate" else {}
    answer = platform.api.create_quote({**body, **members})

    if not answer.accepted or answer.body["receivingCurrency"]["code"] == "USD":
        raise ResourceMissing(f"US dollars are not converted by such a quote: {answer}")
    assert shows_fee(answer.body, fee), (
        f"a standing fee of {fee} shows as {own_fee(answer.body)} of "
        f"{answer.body['totalSendingAmount']}"
    )


@requirement("CFG-035")
@pytest.mark.usefixtures("settings")
def test_a_quote_within_one_currency_bears_no_standing_fee(platform: Platform) -> None:
    """It shows no fee of the platform, while a cross-currency quote shows the standing fee.

    Neither does one that is funded just in time.
    """
    corridor = platform.quotes.corridor(same_currency=True)
    at_home = platform.quotes.body(*platform.quotes.ends(corridor))
    just_in_time = realtime_bodies(platform, "USD")
    _, abroad = with_and_without_fee(platform, "SENDING")

    quotes = [arrange_quote(platform, at_home), *created_quotes(platform, just_in_time)]

    for quote in quotes:
        if quote["sendingCurrency"]["code"] == quote["receivingCurrency"]["code"]:
            assert own_fee(quote) == 0, f"{quote} while {own_fee(abroad)} are taken abroad"


@requirement("CFG-036")
@pytest.mark.usefixtures("settings")
def test_a_quote_from_another_currency_bears_no_standing_fee(platform: Platform) -> None:
    """It shows no fee of the platform, while a quote from US dollars shows the standing fee.

    Neither does one that is funded just in time, be it in a coin that stands for US dollars.
    """
    bodies = realtime_bodies(platform, "USDC", "BTC")
    first, *others = corridors_not_from("USD", platform, crossing=True)
    usual = platform.quotes.body(*platform.quotes.ends(first))
    for corridor in others:
        with contextlib.suppress(ResourceMissing):
            bodies.append(platform.quotes.body(*platform.quotes.ends(corridor)))
    _, from_dollars = with_and_without_fee(platform, "SENDING")

    quotes = [arrange_quote(platform, usual), *created_quotes(platform, bodies)]

    for quote in quotes:
        assert own_fee(quote) == 0, f"{quote} while {own_fee(from_dollars)} are taken of USD"


@requirement("CFG-022")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_can_be_taken_away(platform: Platform) -> None:
    """A new quote shows no fee once the standing fee is removed, nor does the configuration."""
    body = dollar_quote(platform)
    fee = set_fee(platform, **FORMS["both"])
    quote_with_fee = platform.until(
        lambda: arrange_quote(platform, body), lambda quote: own_fee(quote) > 0
    )
    if not own_fee(quote_with_fee):
        raise PreconditionFailed(f"the standing fee does not show in a quote: {quote_with_fee}")

    arrange_no_fee(platform)
    quote = platform.until(lambda: arrange_quote(platform, body), lambda quote: own_fee(quote) == 0)

    assert own_fee(quote) == 0
    setting = platform.until(
        lambda: platform.configuration.read().get(FEES),
        lambda shown: not shown or not holds(shown, fee),
    )
    assert not setting or not holds(setting, fee), f"{fee} was removed, and {setting} is shown"


@requirement("CFG-023")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_replaces_the_one_before(platform: Platform) -> None:
    """A new quote shows the later fee alone, be it a rate or an amount."""
    body = dollar_quote(platform)
    set_fee(platform, **FORMS["both"])

    for later in ({"basis_points": BASIS_POINTS // 2}, {"fixed": FIXED // 2}):
        set_fee(platform, **later)
        quote = quote_bearing(platform, body, later)

        assert shows_fee(quote, later), quote


@requirement("CFG-024")
@pytest.mark.usefixtures("settings")
def test_a_quote_keeps_the_fee_that_it_was_created_with(platform: Platform) -> None:
    """A quote that was created before a standing fee was set is executed with its earlier fee."""
    quote = arrange_quote(platform, dollar_quote(platform))
    set_fee(platform, **FORMS["both"])

    execution = platform.quotes.execute(quote)

    assert own_fee(execution) == own_fee(quote)


@requirement("CFG-025", "CFG-026")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_comes_off_a_locked_sending_amount(platform: Platform, check: Check) -> None:
    """The sending amount stays as it was locked, and the receiving amount is reduced."""
    without_fee, with_fee = with_and_without_fee(platform, "SENDING")

    with check("CFG-025"):
        assert with_fee["totalSendingAmount"] == SENDING_AMOUNT
    with check("CFG-026"):
        assert with_fee["totalReceivingAmount"] < without_fee["totalReceivingAmount"]


@requirement("CFG-027", "CFG-028")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_is_added_to_the_cost_of_a_locked_receiving_amount(
    platform: Platform, check: Check
) -> None:
    """The receiving amount stays as it was locked, and the sending amount is raised."""
    without_fee, with_fee = with_and_without_fee(platform, "RECEIVING")

    with check("CFG-027"):
        assert with_fee["totalReceivingAmount"] == without_fee["totalReceivingAmount"]
    with check("CFG-028"):
        difference = with_fee["totalSendingAmount"] - without_fee["totalSendingAmount"]
        # The rate may have changed, or include the fees.
        same_rate = with_fee["exchangeRate"] == without_fee["exchangeRate"]
        assert difference >= (own_fee(with_fee) - MAX_ROUNDING_DIFFERENCE if same_rate else 1)


@requirement("CFG-029")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_is_debited_as_a_part_of_the_sending_amount(platform: Platform) -> None:
    """The balance falls by ``totalSendingAmount``, and by nothing else.

    It does so where the standing fee is another one by then.
    """
    source, external_account = platform.quotes.ends(
        dollar_corridor(platform), amount=2 * SENDING_AMOUNT
    )
    before, _ = platform.internal_accounts.balances(source)
    set_fee(platform, **FORMS["both"])
    body = platform.quotes.body(source, external_account, amount=SENDING_AMOUNT)
    quote = platform.until(
        lambda: arrange_quote(platform, body), lambda current: own_fee(current) > 0
    )
    if not own_fee(quote):
        raise PreconditionFailed(f"the standing fee does not show in a quote: {quote}")
    set_fee(platform, basis_points=BASIS_POINTS // 2, fixed=FIXED // 2)

    platform.quotes.complete(quote)

    remaining = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(source, remaining) == remaining


# --- Helpers --------------------------------------------------------------------------------


def dollar_receivers(platform: Platform) -> list[str]:
    """Return the currencies to which the corridors of the profile convert US dollars."""
    corridors = platform.profile.resources.corridors
    return sorted({one.receiving for one in corridors if one.sending == "USD" != one.receiving})


def own_account_in(platform: Platform, customer: Resource, currencies: list[str]) -> Resource:
    """Return an internal account of a customer in one of some currencies.

    Raises:
        ResourceMissing: the customer has none.
    """
    for currency in currencies:
        with contextlib.suppress(ResourceMissing):
            return platform.internal_accounts.account(currency, amount=0, customer=customer)
    raise ResourceMissing(f"customers get no internal account in {', '.join(currencies)}")


def realtime_bodies(platform: Platform, *currencies: str) -> list[Json]:
    """Return bodies of quotes that are funded just in time; none where nothing is funded so."""
    if not platform.profile.features.declares("realtime_funding"):
        return []
    customer = platform.approved.customer()
    # The receiving amount is locked: in any currency of the source it is not too small.
    return [
        platform.quotes.realtime_body(customer, currency=currency, lockedCurrencySide="RECEIVING")
        for currency in currencies
    ]


def created_quotes(platform: Platform, bodies: Sequence[Json]) -> list[Json]:
    """Return the quotes of those bodies that the target takes."""
    answers = [platform.api.create_quote(body) for body in bodies]
    return [arranged_resource(answer) for answer in answers if answer.accepted]
