"""Fixtures that scenarios of several areas use."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

import conformance
from conformance.platform.platform import Platform
from conformance.platform.resource import Json

_CHECKOUT = Path(__file__).parents[2]


@pytest.hookimpl(trylast=True)
def pytest_configure(config: pytest.Config) -> None:
    """Refuse to run these tests with a suite that is installed from another place.

    Raises:
        pytest.UsageError: the suite does not know these tests as its own.
    """
    if not config.pluginmanager.has_plugin("payments-conformance-session"):
        installed = Path(conformance.__path__[0]).parent
        raise pytest.UsageError(
            f"these tests are in {_CHECKOUT}, but the suite is installed from {installed}; run "
            f"'pip install -e .' in {_CHECKOUT}, or use the environment that belongs to it"
        )


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
