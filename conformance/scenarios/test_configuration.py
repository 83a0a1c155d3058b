"""The platform's configuration."""

from __future__ import annotations

from conformance.client.platform import Platform
from conformance.scenarios.marks import requirement
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

REQUIRED_FIELDS = "providerRequiredCustomerFields"


@requirement("CFG-001")
def test_the_configuration_lists_the_supported_currencies(platform: Platform) -> None:
    """The list is an array of its own name."""
    answer = platform.client.call("getConfig")

    assert answer.accepted, answer


@requirement("CFG-002")
def test_a_currency_names_the_fields_it_needs_of_a_customer(platform: Platform) -> None:
    """They have to be given before the customer can move money in it."""
    answer = platform.client.call("getConfig")

    currencies = answer.body.get("supportedCurrencies") if answer.accepted else None
    if not currencies:
        raise PreconditionFailed(f"no supported currency is listed: {answer}")
    if all(currency.get(REQUIRED_FIELDS) is None for currency in currencies):
        raise ResourceMissing(f"no supported currency has {REQUIRED_FIELDS}")
