"""Customers of both types, and those who tell more than the specification shows values of."""

from __future__ import annotations

from typing import Any

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Json
from conformance.scenarios.kit.cases import case
from conformance.verdict.decisions import ResourceMissing

MEXICAN = {
    "line1": "Avenida Reforma 222",
    "city": "Ciudad de México",
    "state": "CDMX",
    "postalCode": "06600",
    "country": "MX",
}
"""An address in a country that asks for neither contacts nor an identification."""


def for_both_types(individual: tuple[str, ...], business: tuple[str, ...]) -> pytest.MarkDecorator:
    """Parametrize a test over an individual and a business, each with its own requirements."""
    return pytest.mark.parametrize(
        ("ids", "business"),
        [
            case(individual, "individual", individual, False),
            case(business, "business", business, True),
        ],
    )


def value_of_profile(bindings: Json, member: str) -> Any:
    """Return the profile's value of a member.

    Raises:
        ResourceMissing: the profile has no value for it.
    """
    if member not in bindings:
        raise ResourceMissing(f"the profile has no value for {member}")
    return bindings[member]


def source_behind_another(platform: Platform, source: str) -> Json:
    """Return the members that tell of two categories of a source, the second of which is OTHER.

    Args:
        platform: the suite in the part of a platform.
        source: what the source is of: ``Funds`` or ``Wealth``.

    Raises:
        ResourceMissing: the profile has no category beside OTHER.
    """
    categories = f"sourceOf{source}Categories"
    listed = value_of_profile(platform.profile.bindings.due_diligence, categories)
    return {
        categories: [*listed, "OTHER"],
        f"sourceOf{source}OtherDescription": "Prize of a literary competition",
    }
