"""Fixtures that scenarios of several areas use."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.platform.platform import Platform
from conformance.platform.resource import Json


@pytest.fixture(scope="session")
def without_effect() -> dict[str, str]:
    """Return one dictionary for all tests of a run: why a part of a standing fee has no effect."""
    return {}


@pytest.fixture
def settings(
    platform: Platform, pytestconfig: pytest.Config, without_effect: dict[str, str]
) -> Iterator[Json]:
    """Return the platform's settings as they were before the test, and restore them after it.

    No other process of the run changes the settings meanwhile.
    """
    platform.configuration.without_effect = without_effect
    with platform.configuration.turn(pytestconfig.rootpath / pytestconfig.getoption("report_dir")):
        before = platform.configuration.before_changes()
        try:
            yield before
        finally:
            platform.configuration.restore(before)
