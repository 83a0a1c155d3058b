"""Parameters of scenarios that run for both types of customer."""

from __future__ import annotations

import pytest

from conformance.scenarios.kit.marks import requirement


def for_both_types(individual: tuple[str, ...], business: tuple[str, ...]) -> pytest.MarkDecorator:
    """Parametrize a test over an individual and a business, each with its own requirements."""
    return pytest.mark.parametrize(
        ("ids", "business"),
        [
            pytest.param(individual, False, marks=requirement(*individual), id="individual"),
            pytest.param(business, True, marks=requirement(*business), id="business"),
        ],
    )
