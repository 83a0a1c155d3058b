"""The platform's settings as a test reads them."""

from __future__ import annotations

from typing import Any

from conformance.platform.given.configuration import holds
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, listed_members
from conformance.scenarios.kit.shapes import names_in
from conformance.text.paths import value_at
from conformance.verdict.decisions import ResourceMissing

REQUIRED_FIELDS = "providerRequiredCustomerFields"


def required_fields_by_currency(platform: Platform, configuration: Json) -> dict[str, list[str]]:
    """Return the fields that each supported currency requires of a customer, by its code."""
    place = platform.profile.bindings.require("config_currency")
    return {
        str(value_at(currency, place)): currency.get(REQUIRED_FIELDS) or []
        for currency in listed_members({"data": configuration.get("supportedCurrencies")})
    }


def read_setting(platform: Platform, name: str, expected: Any) -> Any:
    """Read a setting until it is shown as it was sent, or in another shape; return it."""

    def is_final(setting: Any) -> bool:
        return setting is None or is_of_another_shape(setting, expected) or holds(setting, expected)

    return platform.until(lambda: platform.configuration.read().get(name), is_final)


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


def supported_codes(platform: Platform) -> set[str]:
    """Return the codes of the ``supportedCurrencies`` of the configuration."""
    return set(required_fields_by_currency(platform, platform.configuration.read()))
