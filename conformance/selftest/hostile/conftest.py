"""The reference that the targets of the register stand in front of."""

from __future__ import annotations

from collections.abc import Generator

import pytest

from conformance.reference.server import BackgroundServer
from conformance.reference.settings import Settings
from conformance.selftest.hostile.runs import CLIENT_SECRET, TOKEN_ID


@pytest.fixture(scope="session")
def upstream() -> Generator[BackgroundServer]:
    """The reference with the credentials of the register, in a thread of this process."""
    settings = Settings(
        api_token_id=TOKEN_ID, api_client_secret=CLIENT_SECRET, webhook_timeout_seconds=2.0
    )
    with BackgroundServer(settings) as server:
        yield server
