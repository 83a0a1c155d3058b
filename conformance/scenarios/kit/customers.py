"""Kinds of customers that a scenario meets."""

from __future__ import annotations

import pytest

from conformance.scenarios.kit.marks import requirement


def both(individual: tuple[str, ...], business: tuple[str, ...]) -> pytest.MarkDecorator:
    """Run a test for both types of customer, where it decides requirements of their own."""
    return pytest.mark.parametrize(
        ("ids", "business"),
        [
            pytest.param(individual, False, marks=requirement(*individual), id="individual"),
            pytest.param(business, True, marks=requirement(*business), id="business"),
        ],
    )
