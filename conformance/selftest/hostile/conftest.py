"""The reference behind the hostile targets, and a catalogue of few requirements."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
import typer

from conformance import plugin
from conformance.contract import catalogue as catalogue_module
from conformance.contract.catalogue import catalogue
from conformance.exchange.shard import Shard
from conformance.proof.draw import Draw
from conformance.reference.server import BackgroundServer
from conformance.reference.settings import Settings
from conformance.selftest.hostile.entry import Entry
from conformance.selftest.hostile.few import small_catalogue
from conformance.selftest.hostile.runs import CLIENT_SECRET, TOKEN_ID

_SHARES = 6


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the targets of the register that are not in the share that was drawn."""
    seed = config.getoption("--draw", None)
    if seed is None:
        return
    try:
        shard = Draw.parse(seed, _SHARES).shard
    except typer.BadParameter as error:
        raise pytest.UsageError(str(error)) from error
    kept: list[pytest.Item] = []
    left_out: list[pytest.Item] = []
    for item in items:
        (kept if _is_drawn(item, shard) else left_out).append(item)
    items[:] = kept
    config.hook.pytest_deselected(items=left_out)


def _is_drawn(item: pytest.Item, shard: Shard) -> bool:
    callspec = getattr(item, "callspec", None)
    entry = None if callspec is None else callspec.params.get("entry")
    return not isinstance(entry, Entry) or shard.has(entry.name)


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
