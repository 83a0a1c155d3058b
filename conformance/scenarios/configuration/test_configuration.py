"""The platform's settings: required customer fields, the standing fee, and card codes.

All tests share the settings. The tests that change one take turns, keep each change as short as
they can, and restore the settings.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from functools import cache
from http import HTTPStatus
from typing import Any, Literal

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.configuration import FEES, TOKENIZATION, holds
from conformance.platform.given.customers import verification_status
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_resource,
    listed_members,
    without_members,
)
from conformance.profile.resources import Corridor
from conformance.scenarios.external_accounts.kinds import kind_of
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
from conformance.scenarios.kit.refusals import field_errors, last_name, listed_errors
from conformance.scenarios.protocol.test_counterparties import uma_quote
from conformance.testdata.accounts import account_example, account_examples
from conformance.text.paths import value_at
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing, TriggerFailed

End = Literal["within", "sent", "received"]
"""Which of the two currencies of a transfer asks for fields."""

REQUIRED_FIELDS = "providerRequiredCustomerFields"


UNUSUAL_BASIS_POINTS = 175
"""A rate unlike those of ``FORMS``, which a target may still show after an earlier test."""

SENDING_AMOUNT = 100_007
"""A sending amount, in the smallest unit, whose fee has to be rounded at usual rates."""

MAX_ROUNDING_DIFFERENCE = 2
"""Smallest units: the fee and the sending amount may each be rounded by one."""


# --- Required customer fields ---------------------------------------------------------------


@requirement("CFG-001", "CFG-003")
def test_the_configuration_lists_the_supported_currencies(platform: Platform, check: Check) -> None:
    """``supportedCurrencies`` is an array that is not empty, and its entries are objects."""
    answer = platform.api.get_config()

    with check("CFG-001"):
        answer.expect_accepted()
    with check("CFG-003"):
        assert listed_members({"data": answer.body["supportedCurrencies"]}), "no currency is listed"


@requirement("CFG-002", "CFG-800")
def test_each_currency_names_the_fields_it_needs_of_a_customer(
    platform: Platform, check: Check
) -> None:
    """Every supported currency has ``providerRequiredCustomerFields``; the list may be empty."""
    answer = platform.api.get_config()

    currencies = listed_members(
        {"data": answer.body.get("supportedCurrencies") if answer.accepted else None}
    )
    if not currencies:
        raise PreconditionFailed(f"no supported currency is listed: {answer}")
    with check("CFG-800"):
        silent = [currency for currency in currencies if currency.get(REQUIRED_FIELDS) is None]
        assert not silent, f"without {REQUIRED_FIELDS}: {silent}"
    with check("CFG-002"):
        named = [currency.get(REQUIRED_FIELDS) for currency in currencies]
        assert all(isinstance(names, list) for names in named), named


@requirement("CFG-049")
def test_each_currency_that_customers_pay_in_is_supported(platform: Platform) -> None:
    """Every currency from which a quote is created is among the supportedCurrencies."""
    corridors = {corridor.sending: corridor for corridor in platform.profile.resources.corridors}
    quoted = []
    for currency, corridor in corridors.items():
        with contextlib.suppress(ResourceMissing):
            source, destination = platform.quotes.ends(corridor)
            platform.quotes.pending(source, destination)
            quoted.append(currency)

    supported = required_fields_by_currency(platform, platform.configuration.read())

    if not quoted:
        raise ResourceMissing(f"customers have no account in any of {', '.join(corridors)}")
    assert set(quoted) <= supported.keys(), supported.keys()


@requirement("CFG-007")
@pytest.mark.parametrize(
    ("end", "needed_id"),
    [
        case("CFG-005", "within", "within", "CFG-005"),
        case("CFG-052", "sent", "sent", "CFG-052"),
        case("CFG-051", "received", "received", "CFG-051"),
    ],
)
def test_a_field_that_a_currency_needs_has_to_be_supplied(
    platform: Platform, check: Check, end: End, needed_id: str
) -> None:
    """A transfer is accepted with all fields; without any one of them it is refused or fails.

    A field counts where a customer without it pays in a currency that does not ask for it: then the
    refusal is not that of a review, which may ask for the same field. Such a customer may have
    begun there, and have added the other currency later.
    """
    corridor, fields = corridor_with_required_fields(platform, end)
    body = body_for(platform, corridor)

    complete_transfer = transfer_of(platform, body, corridor)
    with check("CFG-007"):
        complete_transfer[-1].expect_accepted()

    with check(needed_id):
        elsewhere = {name: found for name in fields if (found := pays_elsewhere(platform, name))}
        if not elsewhere:
            raise ResourceMissing(f"without {fields} a customer pays in no other currency either")
        for name, other in elsewhere.items():
            lacking = without_members(body, name)
            transfers = [transfer_of(platform, lacking, corridor)]
            with contextlib.suppress(ResourceMissing):
                begun = {**lacking, "currencies": other.currencies}
                transfers.append(
                    transfer_of(platform, begun, corridor, currencies=lacking["currencies"])
                )
            for answers in transfers:
                if answers[-1].operation.id == "updateCustomer":
                    answers[-1].refused(twin=update_with_field(platform, body, name, other))
                    continue
                if len(answers) < len(complete_transfer) or not failed_later(platform, answers):
                    answers[-1].refused(twin=complete_transfer[len(answers) - 1])


@requirement("CFG-050")
def test_a_field_that_a_currency_needs_is_needed_just_in_time_too(platform: Platform) -> None:
    """A quote that is funded just in time is accepted with all fields, and refused without one.

    Or what a payment for it starts does not complete. As above, a field counts where a customer
    without it pays in another currency.
    """
    corridor, fields = corridor_with_required_fields(platform, "received")
    body = body_for(platform, corridor)
    twins = transfer_of(platform, body, corridor, in_time=True)
    if not twins[-1].accepted:
        raise ResourceMissing(f"nothing is funded just in time to {corridor.account}: {twins[-1]}")
    name = next((name for name in fields if pays_elsewhere(platform, name)), None)
    if name is None:
        raise ResourceMissing(f"without {fields} a customer pays in no other currency either")

    answers = transfer_of(platform, without_members(body, name), corridor, in_time=True)

    answer = answers[-1]
    if len(answers) < len(twins):
        raise ResourceMissing(f"no customer without {name} comes to a quote: {answer}")
    if answer.accepted:
        quote = arranged_resource(answer)
        customer_id = answers[0].body["id"]
        platform.triggers.fire("quote.fund", quoteId=quote["id"], customerId=customer_id)
        status = platform.transactions.at_status(quote, "COMPLETED", *FAILED).get("status")
        assert status != "COMPLETED", answer
        return
    answer.refused(twin=twins[-1])


@requirement("CFG-006")
def test_a_field_that_a_currency_needs_may_be_supplied_later(platform: Platform) -> None:
    """A transfer is accepted after an update of the customer with the required fields."""
    corridor, fields = corridor_with_required_fields(platform, "received")
    body = body_for(platform, corridor)
    created = platform.api.create_customer(
        {**without_members(body, *fields), "currencies": [platform.profile.currency]}
    )
    if not created.accepted:
        raise ResourceMissing(f"no customer can be created without {fields}: {created}")
    missing_members = {name: body[name] for name in fields}
    platform.customers.change(created.body, **missing_members, currencies=body["currencies"])

    answers = transfer(platform, created.body, corridor)

    answers[-1].expect_accepted()


# --- The standing fee -----------------------------------------------------------------------


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


# --- Card codes -----------------------------------------------------------------------------


@requirement("CFG-030")
@pytest.mark.usefixtures("settings")
def test_the_configuration_shows_how_card_codes_look(platform: Platform) -> None:
    """The settings for card codes are shown with the values that were sent."""
    card_codes = set_card_codes(platform)

    setting = read_setting(platform, TOKENIZATION, card_codes)

    expect_shown(TOKENIZATION, setting, card_codes)


# --- Changes of one setting -----------------------------------------------------------------


@requirement("CFG-015", "CFG-030")
@pytest.mark.usefixtures("settings")
def test_two_settings_are_changed_at_once(platform: Platform, check: Check) -> None:
    """One change of a standing fee and of the look of card codes is shown in both."""
    card_codes = set_card_codes(platform)
    fee = set_fee(platform, **FORMS["both"])
    arrange_no_fee(platform)
    other_codes = {name: f"{value} II" for name, value in card_codes.items()}

    answer = platform.configuration.update({FEES: fee, TOKENIZATION: other_codes})

    if not answer.accepted:
        raise ResourceMissing(f"two settings are not changed at once: {answer}")
    with check("CFG-015"):
        expect_shown(FEES, read_setting(platform, FEES, fee), fee)
    with check("CFG-030"):
        setting = read_setting(platform, TOKENIZATION, other_codes)
        expect_shown(TOKENIZATION, setting, other_codes)


@requirement("CFG-031", "CFG-049")
def test_a_standing_fee_leaves_the_currencies_alone(
    platform: Platform, check: Check, settings: Json
) -> None:
    """The supported currencies and their required fields are the same after a fee was set.

    What an earlier change has lost for good is missed by who knows what customers pay in.
    """
    platform.quotes.pending()
    set_fee(platform, **FORMS["rate"])

    supported = required_fields_by_currency(platform, platform.configuration.read())

    with check("CFG-031"):
        assert supported == required_fields_by_currency(platform, settings)
    with check("CFG-049"):
        assert platform.profile.currency in supported, supported


@requirement("CFG-032")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_leaves_the_card_codes_alone(platform: Platform) -> None:
    """The settings for card codes are the same after a standing fee was set."""
    before = read_shown_setting(platform, TOKENIZATION, set_card_codes(platform))

    set_fee(platform, **FORMS["rate"])

    assert platform.configuration.read().get(TOKENIZATION) == before


@requirement("CFG-033")
@pytest.mark.usefixtures("settings")
def test_the_look_of_card_codes_leaves_the_standing_fee_alone(platform: Platform) -> None:
    """The standing fee is the same after the settings for card codes were changed."""
    before = read_shown_setting(
        platform, FEES, set_fee(platform, basis_points=UNUSUAL_BASIS_POINTS)
    )

    set_card_codes(platform)

    assert platform.configuration.read().get(FEES) == before


# --- Refusals -------------------------------------------------------------------------------


@requirement("CFG-040")
@pytest.mark.usefixtures("settings")
def test_a_change_that_is_no_json_is_refused(platform: Platform) -> None:
    """A body that ends after the first member's name is refused."""
    refusal = platform.api.client.call(
        "updateConfig",
        content=b'{"feeConfigs": ',
        headers={"content-type": "application/json"},
        valid=False,
    )

    refusal.refused(twin=remove_fee(platform))


@requirement("CFG-041")
@pytest.mark.usefixtures("settings")
def test_a_change_that_is_no_object_is_refused(platform: Platform) -> None:
    """A body that is an array is refused."""
    refusal = platform.configuration.update([FEES], valid=False)

    refusal.refused(twin=remove_fee(platform))


@requirement("CFG-042")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_that_is_a_text_is_refused(platform: Platform) -> None:
    """``feeConfigs`` with the value "plenty" is refused."""
    refusal = platform.configuration.update({FEES: "plenty"}, valid=False)

    refusal.refused(twin=remove_fee(platform))


@pytest.mark.parametrize(
    "member",
    [
        case("CFG-043", "basis_points", "basis_points"),
        case("CFG-044", "fixed", "fixed"),
    ],
)
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_of_a_word_is_refused(platform: Platform, member: str) -> None:
    """A rate or a fixed amount with the value "plenty" is refused."""
    arrange_effect(platform, member)
    right = platform.configuration.standing_fee(**FORMS["both"])
    wrong = platform.configuration.standing_fee(**{**FORMS["both"], member: "plenty"})

    refusal = platform.configuration.update({FEES: wrong})

    refusal.refused(twin=platform.configuration.update({FEES: right}))


@requirement("CFG-053")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_for_no_currency_breaks_nothing(platform: Platform) -> None:
    """A fee without its currency, or without any member, is answered without a server error."""
    fees = [
        platform.configuration.standing_fee(currency=None, **form) for form in (FORMS["both"], {})
    ]

    answers = [platform.configuration.update({FEES: fee}) for fee in fees]

    for answer in answers:
        assert answer.status != HTTPStatus.INTERNAL_SERVER_ERROR, answer


@requirement("CFG-047")
@pytest.mark.usefixtures("settings")
def test_all_that_is_wrong_of_a_standing_fee_is_listed(platform: Platform) -> None:
    """A refusal of a fee with two faults lists what the refusals of each fault alone list."""
    right, wrong = FORMS["both"], dict.fromkeys(FORMS["both"], "plenty")

    alone = [refused_fee(platform, **{**right, name: value}) for name, value in wrong.items()]
    both = refused_fee(platform, **wrong)

    both.refused(
        twin=platform.configuration.update({FEES: platform.configuration.standing_fee(**right)})
    )
    wanted = [listed_names(one) for one in alone]
    if not all(wanted) or wanted[0] == wanted[1]:
        raise ResourceMissing(f"the refusals of single faults do not list them apart: {wanted}")
    assert listed_names(both) >= wanted[0] | wanted[1], both


@requirement("CFG-048")
@pytest.mark.usefixtures("settings")
def test_what_is_wrong_of_each_standing_fee_is_listed(platform: Platform) -> None:
    """A refusal of two fees with a fault each lists what the refusals of each alone list."""
    right = FORMS["both"]
    faulty = [{**right, name: "plenty"} for name in right]

    alone = [refused_fee(platform, **fee) for fee in faulty]
    both = platform.configuration.update({FEES: fees_of(platform, *faulty)})

    twin = platform.configuration.update({FEES: fees_of(platform, right, right)})
    if not twin.accepted:
        raise ResourceMissing(f"two standing fees at once are not taken: {twin}")
    both.refused(twin=twin)
    wanted = [listed_names(one) for one in alone]
    if not all(wanted) or wanted[0] == wanted[1]:
        raise ResourceMissing(f"the refusals of single faults do not list them apart: {wanted}")
    assert listed_names(both) >= wanted[0] | wanted[1], both


@requirement("CFG-045")
@pytest.mark.usefixtures("settings")
def test_a_refused_change_changes_nothing(platform: Platform) -> None:
    """The standing fee is the same after an update with an invalid fee was refused."""
    before = read_shown_setting(
        platform, FEES, set_fee(platform, basis_points=UNUSUAL_BASIS_POINTS)
    )

    arrange_refusal(platform, {FEES: platform.configuration.standing_fee(basis_points="plenty")})

    assert platform.configuration.read().get(FEES) == before


@requirement("CFG-046")
@pytest.mark.usefixtures("settings")
def test_a_change_is_taken_as_a_whole_or_not_at_all(platform: Platform) -> None:
    """The settings for card codes are the same after an update was refused for its fee."""
    card_codes = set_card_codes(platform)
    before = read_shown_setting(platform, TOKENIZATION, card_codes)
    other = {name: f"{value} II" for name, value in card_codes.items()}

    invalid_fee = platform.configuration.standing_fee(basis_points="plenty")
    arrange_refusal(platform, {TOKENIZATION: other, FEES: invalid_fee})

    assert platform.configuration.read().get(TOKENIZATION) == before


def refused_fee(platform: Platform, **fee: Any) -> Answer:
    """Return the refusal of a standing fee for what is wrong in it.

    Raises:
        ResourceMissing: it is not refused with INVALID_INPUT.
    """
    answer = platform.configuration.update({FEES: platform.configuration.standing_fee(**fee)})
    if answer.code != "INVALID_INPUT":
        raise ResourceMissing(f"a fee of {fee} is not refused with INVALID_INPUT: {answer}")
    return answer


def fees_of(platform: Platform, *fees: Mapping[str, Any]) -> list[Any]:
    """Return a value of ``feeConfigs`` with several standing fees.

    Raises:
        ResourceMissing: the bindings of the profile write no list.
    """
    values = [platform.configuration.standing_fee(**fee) for fee in fees]
    if not all(isinstance(value, list) for value in values):
        raise ResourceMissing(f"the bindings write {FEES} as no list: {values}")
    return [entry for value in values for entry in value]


def listed_names(refusal: Answer) -> set[str]:
    """Return the last names of the fields that a refusal lists; none without a list."""
    entries = listed_errors(refusal) if field_errors(refusal) else []
    return {last_name(entry.get("field")) for entry in entries}


# --- Helpers --------------------------------------------------------------------------------


def corridor_with_required_fields(platform: Platform, end: End) -> tuple[Corridor, list[str]]:
    """Return the corridor that requires the most fields, and those that can be left out.

    They are those of a currency ``within`` which money moves, or else of the one that is ``sent``
    or ``received`` and that the other does not ask for, too. Their names may be in capitals or with
    underscores. Where no corridor of the profile requires any, others are tried, within the
    currencies that do and between them and its usual one, as long as the target pays there; so is
    the one of these that requires the most, where it requires more.

    Raises:
        ResourceMissing: no currency that is paid requires a field that can be left out.
    """
    required = required_fields_by_currency(platform, platform.configuration.read())
    members = {letters_of(name): name for name in platform.customers.body()}

    def fields_of(corridor: Corridor) -> list[str]:
        sent, received = (
            {
                members[known]
                for name in required.get(code, ())
                if (known := letters_of(name)) in members
            }
            for code in (corridor.sending, corridor.receiving)
        )
        if (corridor.sending == corridor.receiving) != (end == "within"):
            return []
        return sorted({"within": sent, "sent": sent - received, "received": received - sent}[end])

    most = max(
        platform.profile.resources.corridors,
        key=lambda corridor: len(fields_of(corridor)),
        default=None,
    )
    fewest = 0 if most is None else len(fields_of(most))
    richer = sorted(
        (one for one in unnamed_corridors(platform, required) if len(fields_of(one)) > fewest),
        key=lambda corridor: -len(fields_of(corridor)),
    )
    # That one field is enough shows where several are asked for; one such corridor is tried.
    for corridor in richer[:1] if fewest else richer:
        if is_paid_along(platform, corridor):
            return corridor, fields_of(corridor)
    if most is not None and fewest:
        return most, fields_of(most)
    raise ResourceMissing(
        f"no currency that is paid here has {REQUIRED_FIELDS} that the suite can leave out"
    )


def unnamed_corridors(platform: Platform, currencies: Iterable[str]) -> Iterator[Corridor]:
    """Yield corridors between the usual currency and others, in each direction."""
    usual = platform.quotes.corridor(same_currency=True)
    accounts = {one.currency: one.name for one in [*account_examples().values()][::-1]}
    for code in currencies:
        if code in accounts and code != usual.sending:
            yield Corridor(sending=code, receiving=code, account=accounts[code])
            yield Corridor(sending=usual.sending, receiving=code, account=accounts[code])
            yield Corridor(sending=code, receiving=usual.receiving, account=usual.account)


def is_paid_along(platform: Platform, corridor: Corridor) -> bool:
    """Return whether a customer who supplies everything can pay along a corridor."""
    try:
        answers = transfer_of(platform, body_for(platform, corridor), corridor)
    except (PreconditionFailed, ResourceMissing, TriggerFailed) as error:
        platform.observe(f"{corridor.sending} to {corridor.receiving} is not paid: {error}")
        return False
    return answers[-1].accepted


def required_fields_by_currency(platform: Platform, configuration: Json) -> dict[str, list[str]]:
    """Return the fields that each supported currency requires of a customer, by its code."""
    place = platform.profile.bindings.require("config_currency")
    return {
        str(value_at(currency, place)): currency.get(REQUIRED_FIELDS) or []
        for currency in listed_members({"data": configuration.get("supportedCurrencies")})
    }


def body_for(platform: Platform, corridor: Corridor) -> Json:
    """Return the body of a customer who can move money along a corridor."""
    return platform.customers.body(
        currencies=corridor.currencies,
        endUserTermsConsent=platform.customers.terms_consent(),
    )


def pays_elsewhere(platform: Platform, name: str) -> Corridor | None:
    """Return where a customer who lacks a field pays in currencies that do not ask for it."""
    required = required_fields_by_currency(platform, platform.configuration.read())
    asking = {
        currency
        for currency, names in required.items()
        if letters_of(name) in map(letters_of, names)
    }
    for corridor in platform.profile.resources.corridors:
        if asking.isdisjoint(corridor.currencies):
            body = without_members(body_for(platform, corridor), name)
            with contextlib.suppress(ResourceMissing):
                if transfer_of(platform, body, corridor)[-1].accepted:
                    return corridor
            return None
    return None


def update_with_field(platform: Platform, body: Json, name: str, other: Corridor) -> Answer:
    """Add a field and the currencies that ask for it to a customer who had neither."""
    begun = {**without_members(body, name), "currencies": other.currencies}
    created = arranged_resource(create_like(platform, begun))
    members = {name: body[name], "currencies": body["currencies"]}
    return platform.api.update_customer(created["id"], members)


def transfer_of(
    platform: Platform, body: Json, corridor: Corridor, *, in_time: bool = False, **changes: Any
) -> list[Answer]:
    """Create a customer and send money along a corridor; return the answers up to a refusal.

    With ``in_time`` the last one is to a quote that is funded just in time. ``changes`` are members
    of the customer that are updated before the transfer; a refusal of them takes the place of the
    answer to the creation.
    """
    created = create_like(platform, body)
    if changes and created.accepted:
        updated = platform.api.update_customer(created.body["id"], changes)
        if not updated.accepted:
            return [updated]
    if not created.accepted:
        return [created]
    return [created, *transfer(platform, created.body, corridor, in_time=in_time)]


def create_like(platform: Platform, body: Json) -> Answer:
    """Create a customer who has a reference and an email address of its own."""
    return platform.api.create_customer(platform.customers.alike(body))


def transfer(
    platform: Platform, customer: Resource, corridor: Corridor, *, in_time: bool = False
) -> list[Answer]:
    """Send money of a customer along a corridor; return the answers up to a refusal.

    With ``in_time`` the last one is to a quote that is funded just in time.

    Raises:
        ResourceMissing: the customer is not approved, and moves no money at all.
    """
    approved = platform.customers.read(platform.approved.approve(customer))
    if (
        platform.profile.features.declares("unregulated")
        and verification_status(approved) != "APPROVED"
    ):
        raise ResourceMissing(
            f"the customer is {verification_status(approved)}, and moves no money at all"
        )
    created = platform.api.create_external_account(
        platform.external_accounts.body(customer, corridor.account)
    )
    if not created.accepted:
        return [created]
    account = platform.external_accounts.activate(created.body)
    if in_time:
        body = platform.quotes.realtime_body(customer, account)
        return [created, platform.api.create_quote(body)]
    source = platform.internal_accounts.account(corridor.sending, customer=customer)
    return [
        created,
        *platform.quotes.create_and_execute(platform.quotes.body(source, account)),
    ]


def failed_later(platform: Platform, answers: list[Answer]) -> bool:
    """Return whether a transfer whose steps were all accepted failed afterwards."""
    if not answers[-1].accepted:
        return False
    status = platform.transactions.at_status(answers[-1].body, "COMPLETED", *FAILED).get("status")
    platform.observe(f"a payout in a currency that needs more of the customer ends at {status}")
    return status in FAILED


def letters_of(name: Any) -> str:
    """Return the letters of a name, in lower case."""
    return "".join(filter(str.isalpha, str(name))).lower()


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


def set_fee(platform: Platform, **fee: Any) -> Any:
    """Set a standing fee whose parts all have an effect; return it as it was sent."""
    for part in fee:
        arrange_effect(platform, part)
    value = platform.configuration.standing_fee(**fee)
    platform.configuration.change({FEES: value})
    return value


def arrange_effect(platform: Platform, part: str) -> None:
    """Check that a part of a standing fee is shown, or changes a quote."""
    body = cache(lambda: dollar_quote(platform))
    platform.configuration.arrange_effect(part, lambda: own_fee(arrange_quote(platform, body())))


def remove_fee(platform: Platform) -> Answer:
    """Remove the standing fee."""
    return platform.configuration.update({FEES: platform.profile.bindings.no_fee_configs})


def arrange_no_fee(platform: Platform) -> None:
    """Remove the standing fee, as a step before a check."""
    platform.configuration.change({FEES: platform.profile.bindings.no_fee_configs})


def read_setting(platform: Platform, name: str, expected: Any) -> Any:
    """Read a setting until it is shown as it was sent, or in another shape; return it."""

    def is_final(setting: Any) -> bool:
        return setting is None or is_of_another_shape(setting, expected) or holds(setting, expected)

    return platform.until(lambda: platform.configuration.read().get(name), is_final)


def read_shown_setting(platform: Platform, name: str, expected: Any) -> Any:
    """Read a setting until it is shown as it was sent; return it.

    Raises:
        ResourceMissing: the setting is not shown.
    """
    setting = read_setting(platform, name, expected)
    if not setting:
        raise ResourceMissing(f"GET /config does not show {name}")
    return setting


def set_card_codes(platform: Platform) -> Json:
    """Change the settings for card codes; return them as they were sent.

    Raises:
        ResourceMissing: the profile has none, or they are refused.
    """
    card_codes = platform.profile.bindings.card_tokenization_2fa_config
    if card_codes is None:
        raise ResourceMissing("bindings.card_tokenization_2fa_config of the profile is null")
    answer = platform.configuration.update({TOKENIZATION: card_codes})
    if not answer.accepted:
        raise ResourceMissing(f"bindings.card_tokenization_2fa_config is refused: {answer}")
    return card_codes


def arrange_refusal(platform: Platform, body: Json) -> None:
    """Send an update that has to be refused, as a step before a check.

    Raises:
        PreconditionFailed: the update is accepted.
    """
    answer = platform.configuration.update(body)
    if answer.accepted:
        raise PreconditionFailed(f"a broken change was not refused: {answer}")


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


def expect_shown(name: str, setting: Any, expected: Any) -> None:
    """Assert that a setting is shown as it was sent.

    Raises:
        ResourceMissing: the setting is not shown, or in another shape.
    """
    __tracebackhide__ = True
    if setting is None:
        raise ResourceMissing(f"GET /config does not show {name}")
    if is_of_another_shape(setting, expected):
        raise ResourceMissing(f"GET /config shows {name} in a shape of its own: {setting}")
    assert holds(setting, expected), f"{expected} was set, and {setting} is shown"


def is_of_another_shape(setting: Any, expected: Any) -> bool:
    """Return whether a setting is shown with none of the members that were sent."""
    return bool(setting) and not names_in(setting) & names_in(expected)


def names_in(value: Any) -> set[str]:
    """Return the names of the members at every depth of a JSON value."""
    inner = list(value.values()) if isinstance(value, Mapping) else value
    if not isinstance(inner, list):
        return set()
    own = set(value) if isinstance(value, Mapping) else set()
    return own.union(*map(names_in, inner))
