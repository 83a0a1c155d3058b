"""The platform's own settings: what currencies ask of customers, the standing fee, card codes.

The whole platform shares them, so that the tests that change one take turns, keep each change as
short as they can, and put back what was there.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import Any

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.configuration import FEES, TOKENIZATION, holds
from conformance.platform.given.customers import verification_status
from conformance.platform.given.transactions import FAILED
from conformance.platform.platform import Platform
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_body,
    listed_members,
    value_at,
    without_members,
)
from conformance.profile.resources import Corridor
from conformance.scenarios.kit.fees import BASIS_POINTS, FORMS, own_fee, quoted
from conformance.scenarios.kit.marks import Check, requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

REQUIRED_FIELDS = "providerRequiredCustomerFields"


RARE_BASIS_POINTS = 175
"""A rate that is not mistaken for that of a test before, which may be shown late."""

SENT = 100_007
"""A sending amount, in the smallest unit, that no usual rate divides evenly."""

ROUNDINGS = 2
"""The fee and the sending amount may each have been rounded by one smallest unit."""


# --- What currencies ask of customers -------------------------------------------------------


@requirement("CFG-001", "CFG-003")
def test_the_configuration_lists_the_supported_currencies(platform: Platform, check: Check) -> None:
    """The list is an array of its own name, with an object for each."""
    answer = platform.api.get_config()

    with check("CFG-001"):
        assert answer.accepted, answer
    with check("CFG-003"):
        assert listed_members({"data": answer.body["supportedCurrencies"]}), "no currency is listed"


@requirement("CFG-002")
def test_a_currency_names_the_fields_it_needs_of_a_customer(platform: Platform) -> None:
    """They have to be given before the customer can move money in it."""
    answer = platform.api.get_config()

    currencies = answer.body.get("supportedCurrencies") if answer.accepted else None
    if not currencies:
        raise PreconditionFailed(f"no supported currency is listed: {answer}")
    if all(currency.get(REQUIRED_FIELDS) is None for currency in currencies):
        raise ResourceMissing(f"no supported currency has {REQUIRED_FIELDS}")


@requirement("CFG-800")
def test_each_currency_tells_which_fields_it_needs(platform: Platform) -> None:
    """Where it needs none, the list is empty."""
    currencies = listed_members({"data": platform.configuration.read().get("supportedCurrencies")})

    silent = [currency for currency in currencies if currency.get(REQUIRED_FIELDS) is None]

    assert not silent, f"without {REQUIRED_FIELDS}: {silent}"


@requirement("CFG-005", "CFG-007")
def test_a_field_that_a_currency_needs_has_to_be_supplied(platform: Platform, check: Check) -> None:
    """Without it some step of a transfer is refused, or the payout fails; with it none is."""
    corridor, needed = demanding(platform)
    whole = body_for(platform, corridor)

    with_all = transfer_of(platform, whole, corridor)
    with check("CFG-007"):
        assert with_all[-1].accepted, with_all[-1]

    lacking = {
        name: transfer_of(platform, without_members(whole, name), corridor) for name in needed
    }
    with check("CFG-005"):
        for steps in lacking.values():
            if len(steps) < len(with_all) or not failed_later(platform, steps):
                steps[-1].refused(twin=with_all[len(steps) - 1])


@requirement("CFG-006")
def test_a_field_that_a_currency_needs_may_be_supplied_later(platform: Platform) -> None:
    """Updating the customer is as good as creating it with the field."""
    corridor, needed = demanding(platform)
    whole = body_for(platform, corridor)
    created = platform.api.create_customer(
        {**without_members(whole, *needed), "currencies": [platform.profile.currency]}
    )
    if not created.accepted:
        raise ResourceMissing(f"no customer can be created without {needed}: {created}")
    late = {name: whole[name] for name in needed}
    platform.customers.change(created.body, **late, currencies=whole["currencies"])

    steps = transfer(platform, created.body, corridor)

    assert steps[-1].accepted, steps[-1]


# --- The standing fee -----------------------------------------------------------------------


@requirement("CFG-010", "CFG-011", "CFG-012")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_is_a_rate_an_amount_or_both(platform: Platform, check: Check) -> None:
    """Where one form is taken the others are too."""
    answers = {
        form: platform.configuration.update({FEES: platform.configuration.standing_fee(**fee)})
        for form, fee in FORMS.items()
    }

    if not any(answer.accepted for answer in answers.values()):
        raise PreconditionFailed(f"bindings.fee_configs is refused: {answers['both']}")
    with check("CFG-010"):
        assert answers["rate"].accepted, answers["rate"]
    with check("CFG-011"):
        assert answers["amount"].accepted, answers["amount"]
    with check("CFG-012"):
        assert answers["both"].accepted, answers["both"]


@pytest.mark.parametrize(
    "form",
    [
        pytest.param("rate", marks=requirement("CFG-013")),
        pytest.param("amount", marks=requirement("CFG-014")),
        pytest.param("both", marks=requirement("CFG-015")),
    ],
)
@pytest.mark.usefixtures("settings")
def test_the_configuration_shows_the_standing_fee(platform: Platform, form: str) -> None:
    """As it was set."""
    fee = set_fee(platform, **FORMS[form])

    shown = shown_after(platform, FEES, fee)

    expect_shown(FEES, shown, fee)


@pytest.mark.parametrize(
    ("form", "side"),
    [
        pytest.param("rate", "SENDING", marks=requirement("CFG-016")),
        pytest.param("amount", "SENDING", marks=requirement("CFG-017")),
        pytest.param("both", "SENDING", marks=requirement("CFG-018")),
        pytest.param("rate", "RECEIVING", marks=requirement("CFG-019")),
        pytest.param("amount", "RECEIVING", marks=requirement("CFG-020")),
        pytest.param("both", "RECEIVING", marks=requirement("CFG-021")),
    ],
)
@pytest.mark.usefixtures("settings")
def test_a_cross_currency_quote_bears_the_standing_fee(
    platform: Platform, form: str, side: str
) -> None:
    """The rate is of the sending amount, whichever side is locked."""
    body = dollar_quote(platform, side)
    fee = FORMS[form]
    set_fee(platform, **fee)

    quote = platform.until(lambda: quoted(platform, body), lambda seen: bears(seen, fee))

    assert bears(quote, fee), (
        f"a standing fee of {fee} shows as {quote.get('platformFeesIncluded')} of "
        f"{quote['totalSendingAmount']}"
    )


@requirement("CFG-022")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_can_be_taken_away(platform: Platform) -> None:
    """The next quote bears none."""
    body = dollar_quote(platform)
    set_fee(platform, **FORMS["both"])
    seen = platform.until(lambda: quoted(platform, body), lambda quote: own_fee(quote) > 0)
    if not own_fee(seen):
        raise PreconditionFailed(f"the standing fee does not show in a quote: {seen}")

    none = platform.profile.bindings.no_fee_configs
    arranged_body(platform.configuration.update({FEES: none}))
    quote = platform.until(lambda: quoted(platform, body), lambda quote: own_fee(quote) == 0)

    assert own_fee(quote) == 0


@requirement("CFG-023")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_replaces_the_one_before(platform: Platform) -> None:
    """They do not add up."""
    body = dollar_quote(platform)
    later = {"basis_points": BASIS_POINTS // 2}
    set_fee(platform, **FORMS["both"])

    set_fee(platform, **later)
    quote = platform.until(lambda: quoted(platform, body), lambda seen: bears(seen, later))

    assert bears(quote, later), quote


@requirement("CFG-024")
@pytest.mark.usefixtures("settings")
def test_a_quote_keeps_the_fee_that_it_was_created_with(platform: Platform) -> None:
    """Fees are locked for its lifetime."""
    quote = quoted(platform, dollar_quote(platform))
    set_fee(platform, **FORMS["both"])

    executed = platform.quotes.execute(quote)

    assert own_fee(executed) == own_fee(quote)


@requirement("CFG-025", "CFG-026")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_comes_off_a_locked_sending_amount(platform: Platform, check: Check) -> None:
    """The receiver gets less."""
    free, charged = with_and_without_fee(platform, "SENDING")

    with check("CFG-025"):
        assert charged["totalSendingAmount"] == SENT
    with check("CFG-026"):
        assert charged["totalReceivingAmount"] < free["totalReceivingAmount"]


@requirement("CFG-027", "CFG-028")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_is_added_to_the_cost_of_a_locked_receiving_amount(
    platform: Platform, check: Check
) -> None:
    """The sender pays more."""
    free, charged = with_and_without_fee(platform, "RECEIVING")

    with check("CFG-027"):
        assert charged["totalReceivingAmount"] == free["totalReceivingAmount"]
    with check("CFG-028"):
        more = charged["totalSendingAmount"] - free["totalSendingAmount"]
        # The rate may have moved, or be shown with the fees in it.
        same_rate = charged["exchangeRate"] == free["exchangeRate"]
        assert more >= (own_fee(charged) - ROUNDINGS if same_rate else 1)


@requirement("CFG-029")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_is_debited_as_a_part_of_the_sending_amount(platform: Platform) -> None:
    """And not beside it."""
    source, destination = platform.quotes.ends(dollar_corridor(platform), amount=2 * SENT)
    before, _ = platform.internal_accounts.balances(source)
    set_fee(platform, **FORMS["both"])
    body = platform.quotes.body(source, destination, amount=SENT)
    quote = platform.until(lambda: quoted(platform, body), lambda seen: own_fee(seen) > 0)
    if not own_fee(quote):
        raise PreconditionFailed(f"the standing fee does not show in a quote: {quote}")

    platform.quotes.complete(quote)

    left = before - quote["totalSendingAmount"]
    assert platform.internal_accounts.wait_for_balance(source, left) == left


# --- The look of card codes -----------------------------------------------------------------


@requirement("CFG-030")
@pytest.mark.usefixtures("settings")
def test_the_configuration_shows_how_card_codes_look(platform: Platform) -> None:
    """As it was set."""
    look = set_look(platform)

    shown = shown_after(platform, TOKENIZATION, look)

    expect_shown(TOKENIZATION, shown, look)


# --- Changes of one setting -----------------------------------------------------------------


@requirement("CFG-031")
def test_a_standing_fee_leaves_the_currencies_alone(platform: Platform, settings: Json) -> None:
    """A change says nothing about the settings that it does not name."""
    set_fee(platform, **FORMS["rate"])

    assert demands(platform, platform.configuration.read()) == demands(platform, settings)


@requirement("CFG-032")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_leaves_the_card_codes_alone(platform: Platform) -> None:
    """A change says nothing about the settings that it does not name."""
    before = known_after(platform, TOKENIZATION, set_look(platform))

    set_fee(platform, **FORMS["rate"])

    assert platform.configuration.read().get(TOKENIZATION) == before


@requirement("CFG-033")
@pytest.mark.usefixtures("settings")
def test_the_look_of_card_codes_leaves_the_standing_fee_alone(platform: Platform) -> None:
    """A change says nothing about the settings that it does not name."""
    before = known_after(platform, FEES, set_fee(platform, basis_points=RARE_BASIS_POINTS))

    set_look(platform)

    assert platform.configuration.read().get(FEES) == before


# --- Refusals -------------------------------------------------------------------------------


@requirement("CFG-040")
@pytest.mark.usefixtures("settings")
def test_a_change_that_is_no_json_is_refused(platform: Platform) -> None:
    """The same body is taken once it is whole."""
    refusal = platform.api.client.call(
        "updateConfig",
        content=b'{"feeConfigs": ',
        headers={"content-type": "application/json"},
        valid=False,
    )

    refusal.refused(twin=unfeed(platform))


@requirement("CFG-041")
@pytest.mark.usefixtures("settings")
def test_a_change_that_is_no_object_is_refused(platform: Platform) -> None:
    """There is no setting in it."""
    refusal = platform.configuration.update([FEES], valid=False)

    refusal.refused(twin=unfeed(platform))


@requirement("CFG-042")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_that_is_a_text_is_refused(platform: Platform) -> None:
    """It can be no rate and no amount."""
    refusal = platform.configuration.update({FEES: "plenty"}, valid=False)

    refusal.refused(twin=unfeed(platform))


@pytest.mark.parametrize(
    "member",
    [
        pytest.param("basis_points", marks=requirement("CFG-043")),
        pytest.param("fixed", marks=requirement("CFG-044")),
    ],
)
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_of_a_word_is_refused(platform: Platform, member: str) -> None:
    """Rate and amount are numbers."""
    arrange_effect(platform, member)
    right = platform.configuration.standing_fee(**FORMS["both"])
    wrong = platform.configuration.standing_fee(**{**FORMS["both"], member: "plenty"})

    refusal = platform.configuration.update({FEES: wrong})

    refusal.refused(twin=platform.configuration.update({FEES: right}))


@requirement("CFG-045")
@pytest.mark.usefixtures("settings")
def test_a_refused_change_changes_nothing(platform: Platform) -> None:
    """The standing fee before it stays."""
    before = known_after(platform, FEES, set_fee(platform, basis_points=RARE_BASIS_POINTS))

    refused(platform, {FEES: platform.configuration.standing_fee(basis_points="plenty")})

    assert platform.configuration.read().get(FEES) == before


@requirement("CFG-046")
@pytest.mark.usefixtures("settings")
def test_a_change_is_taken_as_a_whole_or_not_at_all(platform: Platform) -> None:
    """A setting is not changed by a request that is refused for another one."""
    look = set_look(platform)
    before = known_after(platform, TOKENIZATION, look)
    other = {name: f"{value} II" for name, value in look.items()}

    broken = platform.configuration.standing_fee(basis_points="plenty")
    refused(platform, {TOKENIZATION: other, FEES: broken})

    assert platform.configuration.read().get(TOKENIZATION) == before


# --- Shared mechanics -----------------------------------------------------------------------


def demanding(platform: Platform) -> tuple[Corridor, list[str]]:
    """Return a corridor one of whose currencies asks for fields, and those that can be left out.

    The currency's own names for them may be in capitals or with underscores.
    """
    asked = demands(platform, platform.configuration.read())
    known = {plain(name): name for name in platform.customers.body()}
    for corridor in platform.profile.resources.corridors:
        named = [*asked.get(corridor.receiving, ()), *asked.get(corridor.sending, ())]
        needed = [known[plain(name)] for name in named if plain(name) in known]
        if needed:
            return corridor, sorted(set(needed))
    raise ResourceMissing(
        f"no currency of resources.corridors has {REQUIRED_FIELDS} that the suite can leave out"
    )


def demands(platform: Platform, configuration: Json) -> dict[str, list[str]]:
    """Return what each supported currency asks of a customer, by its code."""
    place = platform.profile.bindings.config_currency
    return {
        str(value_at(currency, place)): currency.get(REQUIRED_FIELDS) or []
        for currency in listed_members({"data": configuration.get("supportedCurrencies")})
    }


def body_for(platform: Platform, corridor: Corridor) -> Json:
    """Return the body of a customer who may move money along a corridor."""
    return platform.customers.body(
        currencies=sorted({corridor.sending, corridor.receiving}),
        endUserTermsConsent=platform.customers.terms_consent(),
    )


def transfer_of(platform: Platform, body: Json, corridor: Corridor) -> list[Answer]:
    """Create a customer and send money along a corridor; return the answers up to a refusal."""
    # Each customer of a platform has a reference and an address of its own.
    own = {
        "platformCustomerId": platform.samples.reference(),
        "email": f"{platform.samples.reference()}@example.com",
    }
    created = platform.api.create_customer({**body, **{n: v for n, v in own.items() if n in body}})
    return [created, *(transfer(platform, created.body, corridor) if created.accepted else ())]


def transfer(platform: Platform, customer: Resource, corridor: Corridor) -> list[Answer]:
    """Send money of a customer along a corridor; return the answers up to a refusal."""
    seen = platform.customers.read(platform.approved.approve(customer))
    if (
        platform.profile.features.declares("unregulated")
        and verification_status(seen) != "APPROVED"
    ):
        raise ResourceMissing(
            f"the customer is {verification_status(seen)}, and moves no money at all"
        )
    source = platform.internal_accounts.account(corridor.sending, customer=customer)
    destination = platform.api.create_external_account(
        platform.external_accounts.body(customer, corridor.account)
    )
    if not destination.accepted:
        return [destination]
    return [
        destination,
        *platform.quotes.create_and_execute(
            platform.quotes.body(source, platform.external_accounts.activate(destination.body))
        ),
    ]


def failed_later(platform: Platform, steps: list[Answer]) -> bool:
    """Return whether a transfer, each of whose steps was accepted, failed on its way."""
    if not steps[-1].accepted:
        return False
    status = platform.transactions.at_status(steps[-1].body, "COMPLETED", *FAILED).get("status")
    platform.observe(f"a payout in a currency that needs more of the customer ends at {status}")
    return status in FAILED


def plain(name: Any) -> str:
    """Return the letters of a name, in lower case."""
    return "".join(filter(str.isalpha, str(name))).lower()


def dollar_corridor(platform: Platform) -> Corridor:
    """Return a corridor from US dollars to another currency."""
    for corridor in platform.profile.resources.corridors:
        if corridor.sending == "USD" != corridor.receiving:
            return corridor
    raise ResourceMissing("resources.corridors of the profile has none from USD to another")


def dollar_quote(platform: Platform, side: str = "SENDING") -> Json:
    """Return the body of a quote that a standing fee applies to."""
    source, destination = platform.quotes.ends(dollar_corridor(platform), amount=2 * SENT)
    body = platform.quotes.body(source, destination, amount=SENT)
    if side == "SENDING":
        return body
    # Some amount of the receiving currency that the source can pay for.
    brought = quoted(platform, body)["totalReceivingAmount"]
    return {**body, "lockedCurrencySide": side, "lockedCurrencyAmount": brought}


def with_and_without_fee(platform: Platform, side: str) -> tuple[Json, Json]:
    """Return a quote before a standing fee was set, and the same one after."""
    body = dollar_quote(platform, side)
    arranged_body(unfeed(platform))
    free = platform.until(lambda: quoted(platform, body), lambda quote: own_fee(quote) == 0)
    set_fee(platform, **FORMS["both"])
    charged = platform.until(lambda: quoted(platform, body), lambda quote: own_fee(quote) > 0)
    if own_fee(free) or not own_fee(charged):
        raise PreconditionFailed(f"the standing fee does not show in a quote: {charged}")
    return free, charged


def set_fee(platform: Platform, **fee: Any) -> Any:
    """Set a standing fee, each part of which has an effect, and return it as it was sent."""
    for part in fee:
        arrange_effect(platform, part)
    value = platform.configuration.standing_fee(**fee)
    arranged_body(platform.configuration.update({FEES: value}))
    return value


def arrange_effect(platform: Platform, part: str) -> None:
    """Make certain that a part of a standing fee is shown, or changes a quote."""
    body = cache(lambda: dollar_quote(platform))
    platform.configuration.arrange_effect(part, lambda: own_fee(quoted(platform, body())))


def unfeed(platform: Platform) -> Answer:
    """Take the standing fee away."""
    return platform.configuration.update({FEES: platform.profile.bindings.no_fee_configs})


def shown_after(platform: Platform, name: str, sent: Any) -> Any:
    """Return a setting once it is shown as it was sent, if it is shown in the same shape."""

    def is_final(shown: Any) -> bool:
        return shown is None or is_of_another_shape(shown, sent) or holds(shown, sent)

    return platform.until(lambda: platform.configuration.read().get(name), is_final)


def known_after(platform: Platform, name: str, sent: Any) -> Any:
    """Return a setting once it is shown as it was sent; it has to be shown."""
    shown = shown_after(platform, name, sent)
    if not shown:
        raise ResourceMissing(f"GET /config does not show {name}")
    return shown


def set_look(platform: Platform) -> Json:
    """Set the look of card codes and return it as it was sent."""
    look = platform.profile.bindings.card_tokenization_2fa_config
    if look is None:
        raise ResourceMissing("bindings.card_tokenization_2fa_config of the profile is null")
    answer = platform.configuration.update({TOKENIZATION: look})
    if not answer.accepted:
        raise ResourceMissing(f"bindings.card_tokenization_2fa_config is refused: {answer}")
    return look


def refused(platform: Platform, body: Json) -> None:
    """Send a change that has to be refused, as a step before a check."""
    answer = platform.configuration.update(body)
    if answer.accepted:
        raise PreconditionFailed(f"a broken change was not refused: {answer}")


def bears(quote: Json, fee: dict[str, Any]) -> bool:
    """Return whether a quote shows a standing fee, but for rounding."""
    rate = Decimal(fee.get("basis_points", 0)) / 10_000
    expected = quote["totalSendingAmount"] * rate + fee.get("fixed", 0)
    return bool(abs(own_fee(quote) - expected) <= (ROUNDINGS if rate else 0))


def expect_shown(name: str, shown: Any, sent: Any) -> None:
    """Assert that a setting is shown as it was sent, where it is shown in the same shape."""
    __tracebackhide__ = True
    if shown is None:
        raise ResourceMissing(f"GET /config does not show {name}")
    if is_of_another_shape(shown, sent):
        raise ResourceMissing(f"GET /config shows {name} in a shape of its own: {shown}")
    assert holds(shown, sent), f"{sent} was set, and {shown} is shown"


def is_of_another_shape(shown: Any, sent: Any) -> bool:
    """Return whether a setting is shown with none of the members that it was sent with."""
    return bool(shown) and not names(shown) & names(sent)


def names(value: Any) -> set[str]:
    """Return the names of all members anywhere in a JSON value."""
    inner = list(value.values()) if isinstance(value, Mapping) else value
    if not isinstance(inner, list):
        return set()
    own = set(value) if isinstance(value, Mapping) else set()
    return own.union(*map(names, inner))
