"""The platform's own settings: what currencies ask of customers, the standing fee, card codes.

The whole platform shares them, so that the tests that change one take turns, keep each change as
short as they can, and put back what was there.
"""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal
from functools import cache
from typing import Any

import pytest

from conformance.client.actor import Json, at, members
from conformance.client.configuration import FEES, TOKENIZATION, alone, holds
from conformance.client.http import Answer
from conformance.client.onboarding import standing
from conformance.client.platform import FAILED, Platform
from conformance.client.reviews import without
from conformance.scenarios.marks import Check, requirement
from conformance.target.profile import Corridor
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

REQUIRED_FIELDS = "providerRequiredCustomerFields"

BASIS_POINTS = 150
FIXED = 250
FORMS: dict[str, dict[str, Any]] = {
    "rate": {"basis_points": BASIS_POINTS},
    "amount": {"fixed": FIXED},
    "both": {"basis_points": BASIS_POINTS, "fixed": FIXED},
}
"""The three forms of a standing fee."""

RARE_BASIS_POINTS = 175
"""A rate that is not mistaken for that of a test before, which may be shown late."""

SENT = 100_007
"""A sending amount, in the smallest unit, that no usual rate divides evenly."""

ROUNDINGS = 2
"""The fee and the sending amount may each have been rounded by one smallest unit."""


@pytest.fixture(scope="session")
def unheeded() -> dict[str, str]:
    """Return what the tests of a run find out about the parts of a standing fee."""
    return {}


@pytest.fixture
def settings(
    platform: Platform, pytestconfig: pytest.Config, unheeded: dict[str, str]
) -> Iterator[Json]:
    """Return the settings; only this test changes them, and they are put back at its end."""
    platform.unheeded = unheeded
    with alone(pytestconfig.rootpath / pytestconfig.getoption("report_dir")):
        before = platform.before_changes()
        try:
            yield before
        finally:
            platform.put_back(before)


# --- What currencies ask of customers -------------------------------------------------------


@requirement("CFG-001", "CFG-003")
def test_the_configuration_lists_the_supported_currencies(platform: Platform, check: Check) -> None:
    """The list is an array of its own name, with an object for each."""
    answer = platform.get_config()

    with check("CFG-001"):
        assert answer.accepted, answer
    with check("CFG-003"):
        assert members({"data": answer.body["supportedCurrencies"]}), "no currency is listed"


@requirement("CFG-002")
def test_a_currency_names_the_fields_it_needs_of_a_customer(platform: Platform) -> None:
    """They have to be given before the customer can move money in it."""
    answer = platform.get_config()

    currencies = answer.body.get("supportedCurrencies") if answer.accepted else None
    if not currencies:
        raise PreconditionFailed(f"no supported currency is listed: {answer}")
    if all(currency.get(REQUIRED_FIELDS) is None for currency in currencies):
        raise ResourceMissing(f"no supported currency has {REQUIRED_FIELDS}")


@requirement("CFG-800")
def test_each_currency_tells_which_fields_it_needs(platform: Platform) -> None:
    """Where it needs none, the list is empty."""
    currencies = members({"data": platform.configuration().get("supportedCurrencies")})

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

    lacking = {name: transfer_of(platform, without(whole, name), corridor) for name in needed}
    with check("CFG-005"):
        for steps in lacking.values():
            if len(steps) < len(with_all) or not failed_later(platform, steps):
                steps[-1].refused(twin=with_all[len(steps) - 1])


@requirement("CFG-006")
def test_a_field_that_a_currency_needs_may_be_supplied_later(platform: Platform) -> None:
    """Updating the customer is as good as creating it with the field."""
    corridor, needed = demanding(platform)
    whole = body_for(platform, corridor)
    created = platform.create_customer(
        {**without(whole, *needed), "currencies": [platform.currency]}
    )
    if not created.accepted:
        raise ResourceMissing(f"no customer can be created without {needed}: {created}")
    late = {name: whole[name] for name in needed}
    platform.changed(created.body, **late, currencies=whole["currencies"])

    steps = transfer(platform, created.body, corridor)

    assert steps[-1].accepted, steps[-1]


# --- The standing fee -----------------------------------------------------------------------


@requirement("CFG-010", "CFG-011", "CFG-012")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_is_a_rate_an_amount_or_both(platform: Platform, check: Check) -> None:
    """Where one form is taken the others are too."""
    answers = {
        form: platform.update_config({FEES: platform.standing_fee(**fee)})
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

    assert_shown(FEES, shown, fee)


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
    platform.arranged(platform.update_config({FEES: none}))
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

    executed = platform.executed(quote)

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
    source, destination = platform.ends(dollar_corridor(platform), amount=2 * SENT)
    before, _ = platform.balances(source)
    set_fee(platform, **FORMS["both"])
    body = platform.quote_body(source, destination, amount=SENT)
    quote = platform.until(lambda: quoted(platform, body), lambda seen: own_fee(seen) > 0)
    if not own_fee(quote):
        raise PreconditionFailed(f"the standing fee does not show in a quote: {quote}")

    platform.completed(quote)

    left = before - quote["totalSendingAmount"]
    assert platform.balance_at(source, left) == left


@requirement("LIM-007")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_needs_a_source_in_us_dollars(platform: Platform) -> None:
    """Elsewhere it is refused, or not taken."""
    corridor = next(
        (
            corridor
            for corridor in platform.profile.resources.corridors
            if "USD" != corridor.sending != corridor.receiving
        ),
        None,
    )
    if corridor is None:
        raise ResourceMissing(
            "resources.corridors of the profile has no cross-currency one from another than USD"
        )
    dollars = platform.standing_fee(**FORMS["rate"])
    others = platform.standing_fee(**FORMS["rate"], currency=corridor.sending)
    if dollars == others:
        raise ResourceMissing("bindings.fee_configs names no source currency")
    source, destination = platform.ends(corridor)
    body = platform.quote_body(source, destination)
    twin = platform.update_config({FEES: dollars})

    answer = platform.update_config({FEES: others})

    if answer.accepted:
        assert own_fee(quoted(platform, body)) == 0
    else:
        answer.refused(twin=twin)


# --- The look of card codes -----------------------------------------------------------------


@requirement("CFG-030")
@pytest.mark.usefixtures("settings")
def test_the_configuration_shows_how_card_codes_look(platform: Platform) -> None:
    """As it was set."""
    look = set_look(platform)

    shown = shown_after(platform, TOKENIZATION, look)

    assert_shown(TOKENIZATION, shown, look)


# --- Changes of one setting -----------------------------------------------------------------


@requirement("CFG-031")
def test_a_standing_fee_leaves_the_currencies_alone(platform: Platform, settings: Json) -> None:
    """A change says nothing about the settings that it does not name."""
    set_fee(platform, **FORMS["rate"])

    assert demands(platform, platform.configuration()) == demands(platform, settings)


@requirement("CFG-032")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_leaves_the_card_codes_alone(platform: Platform) -> None:
    """A change says nothing about the settings that it does not name."""
    before = known_after(platform, TOKENIZATION, set_look(platform))

    set_fee(platform, **FORMS["rate"])

    assert platform.configuration().get(TOKENIZATION) == before


@requirement("CFG-033")
@pytest.mark.usefixtures("settings")
def test_the_look_of_card_codes_leaves_the_standing_fee_alone(platform: Platform) -> None:
    """A change says nothing about the settings that it does not name."""
    before = known_after(platform, FEES, set_fee(platform, basis_points=RARE_BASIS_POINTS))

    set_look(platform)

    assert platform.configuration().get(FEES) == before


# --- Refusals -------------------------------------------------------------------------------


@requirement("CFG-040")
@pytest.mark.usefixtures("settings")
def test_a_change_that_is_no_json_is_refused(platform: Platform) -> None:
    """The same body is taken once it is whole."""
    refusal = platform.client.call(
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
    refusal = platform.update_config([FEES], valid=False)

    refusal.refused(twin=unfeed(platform))


@requirement("CFG-042")
@pytest.mark.usefixtures("settings")
def test_a_standing_fee_that_is_a_text_is_refused(platform: Platform) -> None:
    """It can be no rate and no amount."""
    refusal = platform.update_config({FEES: "plenty"}, valid=False)

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
    demand_effect(platform, member)
    right = platform.standing_fee(**FORMS["both"])
    wrong = platform.standing_fee(**{**FORMS["both"], member: "plenty"})

    refusal = platform.update_config({FEES: wrong})

    refusal.refused(twin=platform.update_config({FEES: right}))


@requirement("CFG-045")
@pytest.mark.usefixtures("settings")
def test_a_refused_change_changes_nothing(platform: Platform) -> None:
    """The standing fee before it stays."""
    before = known_after(platform, FEES, set_fee(platform, basis_points=RARE_BASIS_POINTS))

    refused(platform, {FEES: platform.standing_fee(basis_points="plenty")})

    assert platform.configuration().get(FEES) == before


@requirement("CFG-046")
@pytest.mark.usefixtures("settings")
def test_a_change_is_taken_as_a_whole_or_not_at_all(platform: Platform) -> None:
    """A setting is not changed by a request that is refused for another one."""
    look = set_look(platform)
    before = known_after(platform, TOKENIZATION, look)
    other = {name: f"{value} II" for name, value in look.items()}

    broken = platform.standing_fee(basis_points="plenty")
    refused(platform, {TOKENIZATION: other, FEES: broken})

    assert platform.configuration().get(TOKENIZATION) == before


# --- Shared mechanics -----------------------------------------------------------------------


def demanding(platform: Platform) -> tuple[Corridor, list[str]]:
    """Return a corridor one of whose currencies asks for fields, and those that can be left out.

    The currency's own names for them may be in capitals or with underscores.
    """
    asked = demands(platform, platform.configuration())
    known = {plain(name): name for name in platform.customer_body()}
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
        str(at(currency, place)): currency.get(REQUIRED_FIELDS) or []
        for currency in members({"data": configuration.get("supportedCurrencies")})
    }


def body_for(platform: Platform, corridor: Corridor) -> Json:
    """Return the body of a customer who may move money along a corridor."""
    return platform.customer_body(
        currencies=sorted({corridor.sending, corridor.receiving}),
        endUserTermsConsent=platform.terms_consent(),
    )


def transfer_of(platform: Platform, body: Json, corridor: Corridor) -> list[Answer]:
    """Create a customer and send money along a corridor; return the answers up to a refusal."""
    # Each customer of a platform has a reference and an address of its own.
    own = {
        "platformCustomerId": platform.samples.reference(),
        "email": f"{platform.samples.reference()}@example.com",
    }
    created = platform.create_customer({**body, **{n: v for n, v in own.items() if n in body}})
    return [created, *(transfer(platform, created.body, corridor) if created.accepted else ())]


def transfer(platform: Platform, customer: Json, corridor: Corridor) -> list[Answer]:
    """Send money of a customer along a corridor; return the answers up to a refusal."""
    seen = platform.customer_now(platform.approved(customer))
    if platform.profile.features.declares("unregulated") and standing(seen) != "APPROVED":
        raise ResourceMissing(f"the customer is {standing(seen)}, and moves no money at all")
    source = platform.account(corridor.sending, customer=customer)
    destination = platform.create_external_account(
        platform.destination_body(customer, corridor.account)
    )
    if not destination.accepted:
        return [destination]
    return [
        destination,
        *platform.transfer(platform.quote_body(source, platform.active(destination.body))),
    ]


def failed_later(platform: Platform, steps: list[Answer]) -> bool:
    """Return whether a transfer, each of whose steps was accepted, failed on its way."""
    if not steps[-1].accepted:
        return False
    status = platform.transaction_in(steps[-1].body, "COMPLETED", *FAILED).get("status")
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
    source, destination = platform.ends(dollar_corridor(platform), amount=2 * SENT)
    body = platform.quote_body(source, destination, amount=SENT)
    if side == "SENDING":
        return body
    # Some amount of the receiving currency that the source can pay for.
    brought = quoted(platform, body)["totalReceivingAmount"]
    return {**body, "lockedCurrencySide": side, "lockedCurrencyAmount": brought}


def quoted(platform: Platform, body: Json) -> Json:
    """Create a quote and return it."""
    quote = platform.arranged(platform.create_quote(body))
    if not isinstance(quote, dict):
        raise PreconditionFailed(f"expected a quote, got {quote!r}")
    return quote


def with_and_without_fee(platform: Platform, side: str) -> tuple[Json, Json]:
    """Return a quote before a standing fee was set, and the same one after."""
    body = dollar_quote(platform, side)
    platform.arranged(unfeed(platform))
    free = platform.until(lambda: quoted(platform, body), lambda quote: own_fee(quote) == 0)
    set_fee(platform, **FORMS["both"])
    charged = platform.until(lambda: quoted(platform, body), lambda quote: own_fee(quote) > 0)
    if own_fee(free) or not own_fee(charged):
        raise PreconditionFailed(f"the standing fee does not show in a quote: {charged}")
    return free, charged


def set_fee(platform: Platform, **fee: Any) -> Any:
    """Set a standing fee, each part of which has an effect, and return it as it was sent."""
    for part in fee:
        demand_effect(platform, part)
    value = platform.standing_fee(**fee)
    platform.arranged(platform.update_config({FEES: value}))
    return value


def demand_effect(platform: Platform, part: str) -> None:
    """Make certain that a part of a standing fee is shown, or changes a quote."""
    body = cache(lambda: dollar_quote(platform))
    platform.demand_effect(part, lambda: own_fee(quoted(platform, body())))


def unfeed(platform: Platform) -> Answer:
    """Take the standing fee away."""
    return platform.update_config({FEES: platform.profile.bindings.no_fee_configs})


def shown_after(platform: Platform, name: str, sent: Any) -> Any:
    """Return a setting once it is shown as it was sent, if it is shown in the same shape."""

    def is_final(shown: Any) -> bool:
        return shown is None or is_of_another_shape(shown, sent) or holds(shown, sent)

    return platform.until(lambda: platform.configuration().get(name), is_final)


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
    answer = platform.update_config({TOKENIZATION: look})
    if not answer.accepted:
        raise ResourceMissing(f"bindings.card_tokenization_2fa_config is refused: {answer}")
    return look


def refused(platform: Platform, body: Json) -> None:
    """Send a change that has to be refused, as a step before a check."""
    answer = platform.update_config(body)
    if answer.accepted:
        raise PreconditionFailed(f"a broken change was not refused: {answer}")


def own_fee(quote: Json) -> int:
    """Return what the platform takes of a quote; nothing where that is not shown."""
    fee = quote.get("platformFeesIncluded") or 0
    if not isinstance(fee, int):
        raise PreconditionFailed(f"platformFeesIncluded is {fee!r}")
    return fee


def bears(quote: Json, fee: dict[str, Any]) -> bool:
    """Return whether a quote shows a standing fee, but for rounding."""
    rate = Decimal(fee.get("basis_points", 0)) / 10_000
    expected = quote["totalSendingAmount"] * rate + fee.get("fixed", 0)
    return bool(abs(own_fee(quote) - expected) <= (ROUNDINGS if rate else 0))


def assert_shown(name: str, shown: Any, sent: Any) -> None:
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
    inner = list(value.values()) if isinstance(value, dict) else value
    if not isinstance(inner, list):
        return set()
    own = set(value) if isinstance(value, dict) else set()
    return own.union(*map(names, inner))
