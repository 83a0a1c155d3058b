"""Fixtures of scenarios in several areas."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from conformance.platform.given.configuration import turn_to_change
from conformance.platform.platform import Platform
from conformance.platform.resource import Json


@pytest.fixture(scope="session")
def without_effect() -> dict[str, str]:
    """Return what the tests of a run find out about the parts of a standing fee."""
    return {}


@pytest.fixture
def settings(
    platform: Platform, pytestconfig: pytest.Config, without_effect: dict[str, str]
) -> Iterator[Json]:
    """Return the settings; only this test changes them, and they are put back at its end."""
    platform.configuration.without_effect = without_effect
    with turn_to_change(pytestconfig.rootpath / pytestconfig.getoption("report_dir")):
        before = platform.configuration.before_changes()
        try:
            yield before
        finally:
            platform.configuration.restore(before)
