"""Fixtures of the self-tests: stand-ins, profiles, targets, clients, the reference, small runs."""

from __future__ import annotations

import gc
import secrets
import zipfile
from collections.abc import Callable, Generator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

# It reads FORCE_COLOR as it is imported, which a test may set that happens to be the first.
import typer.rich_utils  # noqa: F401
from hatchling.builders.wheel import WheelBuilder
from hypothesis import settings
from typer import BadParameter

from conformance import plugin
from conformance.contract.judge import judge
from conformance.exchange.budget import Budget
from conformance.exchange.client import RecordingClient
from conformance.exchange.journal import Journal
from conformance.exchange.redaction import Redactor
from conformance.profile.model import Profile
from conformance.proof.draw import TODAY, Draw
from conformance.reference.server import BackgroundServer
from conformance.reference.settings import Settings
from conformance.run import load_profile
from conformance.selftest.collection import ROOT
from conformance.selftest.runs import TINY, Inside, tiny_suite_within, write
from conformance.selftest.standins import Behaviour, StandIn
from conformance.sut.target import Target

pytest_plugins = ["pytester"]

TOKEN_ID = "token-" + secrets.token_hex(8)
CLIENT_SECRET = secrets.token_urlsafe(32)

# On a busy machine any example may be slow; what has to be fast is measured by a test of its own.
settings.register_profile("busy", deadline=None)
settings.load_profile("busy")


_SHARES = 4


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option for a share of the slow tests."""
    parser.addoption(
        "--draw",
        metavar="SEED",
        help=f"a quarter of the slow self-tests, drawn by chance: a number, or {TODAY}",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker of the slow tests."""
    config.addinivalue_line(
        "markers", "slow: takes seconds, or is one of hundreds; --draw takes a quarter of them"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out the slow tests that are not in the share that was drawn."""
    seed = config.getoption("--draw", None)
    if seed is None:
        return
    try:
        shard = Draw.parse(seed, _SHARES).shard
    except BadParameter as error:
        raise pytest.UsageError(str(error)) from error

    def is_drawn(item: pytest.Item) -> bool:
        return item.get_closest_marker("slow") is None or shard.has(item.nodeid)

    left_out = [item for item in items if not is_drawn(item)]
    items[:] = [item for item in items if is_drawn(item)]
    config.hook.pytest_deselected(items=left_out)


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Generator[None, object, object]:
    """Let Python look for garbage neither during the collection nor among what comes of it."""
    gc.disable()
    try:
        return (yield)
    finally:
        # Modules and tests stay until the end.
        gc.freeze()
        gc.enable()


@pytest.fixture
def stand_in() -> Generator[Callable[[Behaviour], StandIn]]:
    """Return a function that starts a misbehaving server, which stops with the test."""
    with ExitStack() as stack:
        yield lambda behaviour: stack.enter_context(StandIn(behaviour))


@pytest.fixture
def make_profile() -> Callable[..., Profile]:
    """Return a function that makes the profile of a sandbox; it takes parts of a profile."""

    def make(**parts: Any) -> Profile:
        content = {"implementation": {"name": "stand-in"}, "environment": "sandbox", **parts}
        return Profile.model_validate(content)

    return make


@pytest.fixture
def make_target(make_profile: Callable[..., Profile]) -> Callable[..., Target]:
    """Return a function that makes a target from a base URL and parts of a profile."""

    def make(base_url: str, **parts: Any) -> Target:
        return Target(base_url, TOKEN_ID, CLIENT_SECRET, make_profile(**parts))

    return make


@pytest.fixture
def connect(
    make_target: Callable[..., Target], tmp_path: Path
) -> Generator[Callable[..., RecordingClient]]:
    """Return a function that makes a client of a base URL, with its journal in ``tmp_path``."""
    with ExitStack() as stack:

        def connect(base_url: str, **parts: Any) -> RecordingClient:
            target = make_target(base_url, **parts)
            redactor = Redactor(target.secrets)
            journal = Journal(tmp_path / "journal" / "main.jsonl", "main", redactor)
            stack.callback(journal.close)
            budget = Budget.start(tmp_path / "budget", target.profile.budget)
            stack.callback(budget.close)
            client = RecordingClient(target, judge(), journal, budget, redactor)
            stack.callback(client.close)
            return client

        yield connect


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel and return the folder of its package, unpacked."""
    folder = tmp_path_factory.mktemp("wheel")
    (built,) = WheelBuilder(str(ROOT)).build(directory=str(folder), versions=["standard"])
    with zipfile.ZipFile(built) as archive:
        archive.extractall(folder / "installed")
    return folder / "installed" / "conformance"


@pytest.fixture(scope="session")
def reference() -> Generator[BackgroundServer]:
    """Start the reference implementation in a thread of this process, once a session."""
    settings = Settings(api_token_id=TOKEN_ID, api_client_secret=CLIENT_SECRET)
    with BackgroundServer(settings) as server:
        yield server


@pytest.fixture
def reference_target(reference: BackgroundServer) -> Target:
    """Return the reference as a target, with its own profile."""
    return Target(reference.base_url, TOKEN_ID, CLIENT_SECRET, load_profile("reference"))


@pytest.fixture
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Put the credentials of the reference into the environment, where a run looks for them."""
    monkeypatch.setenv("PAYMENTS_API_TOKEN_ID", TOKEN_ID)
    monkeypatch.setenv("PAYMENTS_API_CLIENT_SECRET", CLIENT_SECRET)


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    """Write the tiny suite below ``tmp_path`` and return its folder."""
    return write(tmp_path, {**TINY, "pytest.ini": "[pytest]\n"})


@pytest.fixture
def tiny_within(tiny: Path) -> Generator[Path]:
    """Return the folder of the tiny suite, which stands in the place of the suite meanwhile."""
    with tiny_suite_within(tiny):
        yield tiny


@pytest.fixture
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Inside:
    """Return what runs scenarios within this process, in the place of the suite's own."""
    monkeypatch.setattr(plugin, "_SUITE", (tmp_path / "scenarios",))
    return Inside(tmp_path)


@pytest.fixture
def against(reference: BackgroundServer, credentials: None) -> tuple[str, str]:
    """Return the arguments of pytest that make the reference of this process the target."""
    assert credentials is None
    return (f"--base-url={reference.base_url}", "--profile=reference")
