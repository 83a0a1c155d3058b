"""Parameters of scenarios that run for both types of customer."""

from __future__ import annotations

import pytest

from conformance.scenarios.kit.cases import case


def for_both_types(individual: tuple[str, ...], business: tuple[str, ...]) -> pytest.MarkDecorator:
    """Parametrize a test over an individual and a business, each with its own requirements."""
    return pytest.mark.parametrize(
        ("ids", "business"),
        [
            case(individual, "individual", individual, False),
            case(business, "business", business, True),
        ],
    )
