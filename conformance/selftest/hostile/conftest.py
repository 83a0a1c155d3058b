"""The reference behind the hostile targets, and a catalogue of few requirements."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest

from conformance import plugin
from conformance.contract import catalogue as catalogue_module
from conformance.contract.catalogue import catalogue
from conformance.reference.server import BackgroundServer
from conformance.reference.settings import Settings
from conformance.selftest.hostile.few import small_catalogue
from conformance.selftest.hostile.runs import CLIENT_SECRET, TOKEN_ID


@pytest.fixture(scope="session")
def upstream() -> Generator[BackgroundServer]:
    """Start the reference with the credentials of the register, in a thread of this process."""
    settings = Settings(
        api_token_id=TOKEN_ID, api_client_secret=CLIENT_SECRET, webhook_timeout_seconds=2.0
    )
    with BackgroundServer(settings) as server:
        yield server


@pytest.fixture(scope="module")
def few_requirements() -> Generator[None]:
    """Reduce the catalogue to what the few scenarios decide, so that a run can be conformant."""
    requirements = small_catalogue()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(catalogue_module.Catalogue, "load", lambda *_: requirements)
        patch.setattr(plugin, "_SUITE", (Path(__file__).parent,))
        patch.setenv("PAYMENTS_API_TOKEN_ID", TOKEN_ID)
        patch.setenv("PAYMENTS_API_CLIENT_SECRET", CLIENT_SECRET)
        patch.delenv("BASE_URL", raising=False)
        catalogue.cache_clear()
        yield
    catalogue.cache_clear()
