"""Mobile money: the operators that each currency has, and that no others are accepted."""

from __future__ import annotations

import pytest

from conformance.platform.platform import Platform
from conformance.scenarios.kit.cases import case
from conformance.scenarios.kit.refusals import REFUSED
from conformance.scenarios.protocol.unsaid import with_known_values
from conformance.testdata.accounts import account_example
from conformance.testdata.examples import ABSENT, Change
from conformance.verdict.decisions import ResourceMissing, expect

UNKNOWN_OPERATOR = "No Such Operator"
WITHOUT_OPERATOR = Change("", "none", "accountInfo.provider", ABSENT, ())

OPERATORS = {
    "kes_account": ("AFA-036", "AFA-035"),
    "tzs_account": ("AFA-056", "AFA-055"),
    "zmw_account": ("AFA-076", "AFA-075"),
    "rwf_account": ("AFA-016", "AFA-015"),
    "mwk_account": ("AFA-096", "AFA-095"),
    "ugx_account": ("AFA-116", "AFA-115"),
}
"""By example the requirements that named operators are accepted, and that others are refused."""


COUNTS = {
    "kes_account": ("AFA-039", 1),
    "tzs_account": ("AFA-059", 2),
    "zmw_account": ("AFA-079", 4),
    "rwf_account": ("AFA-019", 2),
    "mwk_account": ("AFA-099", 2),
    "ugx_account": ("AFA-119", 2),
}
"""By example the requirement that its currency has no more operators, and their number."""


@pytest.mark.parametrize(
    "name",
    [case(requirement_id, name, name) for name, (requirement_id, _) in OPERATORS.items()],
)
def test_the_operators_that_the_profile_names_are_taken(platform: Platform, name: str) -> None:
    """An account with each operator of ``bindings.providers`` is accepted.

    It is open whether an operator is required, so an account without one is only recorded.
    """
    currency = account_example(name).currency
    operators = platform.profile.bindings.providers.get(currency)
    if not operators:
        raise ResourceMissing(f"bindings.providers of the profile has none for {currency}")
    customer = platform.external_accounts.account_holder()
    bodies = {
        operator: platform.external_accounts.body(
            customer, name, accountInfo={"provider": operator}
        )
        for operator in operators
    }

    answers = {key: platform.api.create_external_account(body) for key, body in bodies.items()}

    without_operator = platform.api.create_external_account(
        platform.external_accounts.body(customer, name, change=WITHOUT_OPERATOR)
    )
    platform.observe(f"{currency} without a provider is answered with {without_operator.status}")
    refusals = {key: answer for key, answer in answers.items() if not answer.accepted}
    assert not refusals, (
        f"bindings.providers of the profile names {', '.join(refusals)}: {refusals}"
    )


@pytest.mark.parametrize(
    "name",
    [case(requirement_id, name, name) for name, (_, requirement_id) in OPERATORS.items()],
)
def test_an_operator_that_does_not_exist_is_refused(platform: Platform, name: str) -> None:
    """An account with an invented operator is refused, as each currency has a closed list."""
    customer = platform.external_accounts.account_holder()
    valid_body = platform.external_accounts.body(customer, name)
    faulty_body = platform.external_accounts.body(
        customer, name, accountInfo={"provider": UNKNOWN_OPERATOR}
    )

    refusal = platform.api.create_external_account(faulty_body)

    twin = platform.api.create_external_account(valid_body)
    refusal.refused(*REFUSED, twin=with_known_values(platform, twin))


@pytest.mark.parametrize(
    ("name", "count"),
    [case(requirement_id, name, name, count) for name, (requirement_id, count) in COUNTS.items()],
)
def test_a_currency_has_no_more_operators_than_are_told(
    platform: Platform, name: str, count: int
) -> None:
    """Exactly the specified number of operators is accepted in each currency.

    The operators of other currencies are tried as well. The profile has to name all operators of
    the currency.
    """
    providers = platform.profile.bindings.providers
    currency = account_example(name).currency
    all_operators = sorted({operator for names in providers.values() for operator in names})
    customer = platform.external_accounts.account_holder()

    accepted_operators = {
        operator.casefold()
        for operator in dict.fromkeys([*providers.get(currency, []), *all_operators])
        if platform.api.create_external_account(
            platform.external_accounts.body(customer, name, accountInfo={"provider": operator})
        ).accepted
    }

    named = {operator.casefold() for operator in providers.get(currency, [])}
    if len(accepted_operators) < count and len(named) < count:
        raise ResourceMissing(
            f"bindings.providers of the profile has {len(named)} of {count} operators in {currency}"
        )
    if named and not named & accepted_operators:
        raise ResourceMissing(f"bindings.providers of the profile has none that {currency} takes")
    expect(
        len(accepted_operators) == count,
        f"{count} operators in {currency}",
        f"{sorted(accepted_operators)}",
    )
