"""The platform's settings: card codes, changes of one of them, and changes that are refused.

All tests share the settings. The tests that change one take turns, keep each change as short as
they can, and restore the settings.
"""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

import pytest

from conformance.exchange.answer import Answer
from conformance.platform.given.configuration import FEES, TOKENIZATION
from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.scenarios.configuration.settings import (
    expect_shown,
    read_setting,
    required_fields_by_currency,
)
from conformance.scenarios.configuration.standing_fees import (
    UNUSUAL_BASIS_POINTS,
    arrange_effect,
    arrange_no_fee,
    remove_fee,
    set_fee,
)
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.fees import FORMS
from conformance.scenarios.kit.marks import Check, requirement
from conformance.scenarios.kit.refusals import field_errors, last_name, listed_errors
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

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
    "member", [case("CFG-043", "basis_points", "basis_points"), case("CFG-044", "fixed", "fixed")]
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


# --- Helpers --------------------------------------------------------------------------------


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
