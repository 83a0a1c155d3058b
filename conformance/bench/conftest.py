"""What the benchmarks share: a target, a connection to it, and what becomes of their figures."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Protocol

import pytest
from pytest_benchmark.fixture import BenchmarkFixture

from conformance.bench.figures import Figure, read_figures, to_json
from conformance.exchange.folder import RunFolder
from conformance.run import Connection, load_profile
from conformance.sut.sandbox import Sandbox
from conformance.sut.target import Target
from conformance.verdict.recorder import Recorder

_FIGURES = pytest.StashKey[Sequence[Figure]]()

Keep = Callable[[Figure], None]


class Repeat(Protocol):
    """Runs a function so many times, by default as many as ``--benchmark-min-rounds`` says."""

    def __call__(self, measure: Callable[[], None], rounds: int | None = None) -> None:
        """Run it."""


def pytest_configure(config: pytest.Config) -> None:
    """Begin without figures."""
    config.stash[_FIGURES] = ()


@pytest.hookimpl(tryfirst=True)
def pytest_benchmark_update_json(config: pytest.Config, output_json: dict[str, Any]) -> None:
    """Write the figures alone: what the plugin would write has every sample of every round."""
    output_json.clear()
    output_json.update(to_json(config.stash[_FIGURES]))


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the figures."""
    for figure in terminalreporter.config.stash[_FIGURES]:
        apart = f"{figure.low:g} to {figure.high:g}"
        terminalreporter.write_line(
            f"{figure.name}: {figure.value:g} {figure.unit} ({apart}, {figure.samples} samples)"
        )


@pytest.fixture
def repeat(benchmark: BenchmarkFixture, pytestconfig: pytest.Config) -> Repeat:
    """Return a function that runs another one so many times."""

    def run(measure: Callable[[], None], rounds: int | None = None) -> None:
        benchmark.pedantic(  # type: ignore[no-untyped-call]
            measure, rounds=rounds or pytestconfig.getoption("benchmark_min_rounds")
        )

    return run


@pytest.fixture
def keep(pytestconfig: pytest.Config) -> Keep:
    """Return a function that notes a figure, and fails if it is worse than the kept one."""
    kept = read_figures()

    def note(figure: Figure) -> None:
        pytestconfig.stash[_FIGURES] = (*pytestconfig.stash[_FIGURES], figure)
        before = kept.get(figure.name)
        if before is not None:
            assert not figure.is_worse_than(before), (
                f"{figure.name}: {figure.value:g} {figure.unit}, and {before.value:g} is kept"
            )

    return note


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """Start the reference in a process of its own, with its credentials in the environment."""
    target = Sandbox()
    with pytest.MonkeyPatch.context() as patch:
        for name, value in target.credentials(load_profile("reference")).items():
            patch.setenv(name, value)
        yield target
    target.stop()


@pytest.fixture(scope="session")
def connection(sandbox: Sandbox, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Connection]:
    """Connect to the reference as a run does, but for its webhooks."""
    profile = load_profile("reference")
    features = profile.features.model_copy(update={"webhooks": False})
    limits = profile.budget.model_copy(update={"requests": 10**9, "created": 10**9})
    quiet = profile.model_copy(update={"features": features, "budget": limits})
    target = Target.resolve(sandbox.base_url, quiet, os.environ)
    folder = RunFolder.claim(Path(tmp_path_factory.mktemp("run")))
    opened = Connection.open(target, seed=1, folder=folder)
    with opened.recording(Recorder("bench", ())):
        yield opened
    opened.close()
    folder.release()
