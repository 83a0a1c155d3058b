"""Mobile money: the operators that each currency has, and that no others are taken."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.scenarios.kit.marks import requirement
from conformance.scenarios.kit.refusals import REFUSED
from conformance.scenarios.protocol.unsaid import with_known_values
from conformance.testdata.accounts import account_example
from conformance.testdata.examples import ABSENT, Change
from conformance.verdict.decisions import ResourceMissing, expect

NOBODY = "No Such Operator"
UNNAMED = Change("", "none", "accountInfo.provider", ABSENT, ())

OPERATORS = {
    "kes_account": ("AFA-036", "AFA-035"),
    "tzs_account": ("AFA-056", "AFA-055"),
    "zmw_account": ("AFA-076", "AFA-075"),
    "rwf_account": ("AFA-016", "AFA-015"),
    "mwk_account": ("AFA-096", "AFA-095"),
    "ugx_account": ("AFA-116", "AFA-115"),
}
"""By example the rules that the named operators are taken, and that others are not."""


COUNTED = {
    "kes_account": ("AFA-039", 1),
    "tzs_account": ("AFA-059", 2),
    "zmw_account": ("AFA-079", 4),
    "rwf_account": ("AFA-019", 2),
    "mwk_account": ("AFA-099", 2),
    "ugx_account": ("AFA-119", 2),
}
"""By example how many operators its currency has, with the rule that there are no more."""


@pytest.mark.parametrize(
    "name",
    [
        pytest.param(name, marks=requirement(named), id=name)
        for name, (named, _) in OPERATORS.items()
    ],
)
def test_the_operators_that_the_profile_names_are_taken(platform: Platform, name: str) -> None:
    """Whether one is needed at all is open, so that it is only recorded."""
    currency = account_example(name).currency
    operators = platform.profile.bindings.providers.get(currency)
    if not operators:
        raise ResourceMissing(f"bindings.providers of the profile has none for {currency}")
    payer = platform.external_accounts.account_holder()
    bodies = {
        operator: platform.external_accounts.body(payer, name, accountInfo={"provider": operator})
        for operator in operators
    }

    answers = {key: platform.api.create_external_account(body) for key, body in bodies.items()}

    without = platform.api.create_external_account(
        platform.external_accounts.body(payer, name, change=UNNAMED)
    )
    platform.observe(f"{currency} without a provider is answered with {without.status}")
    refused = {key: answer for key, answer in answers.items() if not answer.accepted}
    assert not refused, f"bindings.providers of the profile names {', '.join(refused)}: {refused}"


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=requirement(rule), id=name) for name, (_, rule) in OPERATORS.items()],
)
def test_an_operator_that_does_not_exist_is_refused(platform: Platform, name: str) -> None:
    """The list of each currency is closed."""
    payer = platform.external_accounts.account_holder()
    right = platform.external_accounts.body(payer, name)
    wrong = platform.external_accounts.body(payer, name, accountInfo={"provider": NOBODY})

    refusal = platform.api.create_external_account(wrong)

    twin = platform.api.create_external_account(right)
    refusal.refused(*REFUSED, twin=with_known_values(platform, twin))


@pytest.mark.parametrize(
    ("name", "count"),
    [
        pytest.param(name, count, marks=requirement(rule), id=name)
        for name, (rule, count) in COUNTED.items()
    ],
)
def test_a_currency_has_no_more_operators_than_are_told(
    platform: Platform, name: str, count: int
) -> None:
    """Those of other currencies are not taken, where the profile knows all of its own."""
    named = platform.profile.bindings.providers
    currency = account_example(name).currency
    elsewhere = sorted({operator for names in named.values() for operator in names})
    payer = platform.external_accounts.account_holder()

    taken = {
        operator.casefold()
        for operator in dict.fromkeys([*named.get(currency, []), *elsewhere])
        if platform.api.create_external_account(
            platform.external_accounts.body(payer, name, accountInfo={"provider": operator})
        ).accepted
    }

    if len(taken) < count:
        raise ResourceMissing(
            f"bindings.providers of the profile has {len(taken)} of {count} operators in {currency}"
        )
    expect(len(taken) == count, f"{count} operators in {currency}", f"{sorted(taken)}")
