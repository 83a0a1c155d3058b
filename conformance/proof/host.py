"""Runs tests of the suite in this process, against the reference in a thread of it.

The suite is collected once, and a guest runs its tests as often as it likes, under changes of the
reference that it makes and takes back.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
import multiprocessing
import os
import pkgutil
import secrets
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor, wait
from dataclasses import dataclass
from multiprocessing.context import ForkServerContext
from pathlib import Path
from types import ModuleType
from typing import Protocol, TypeVar

import pytest
import typer

from conformance.items import requirements_named_by
from conformance.profile.model import Profile
from conformance.proof.patch import MutantError
from conformance.reference.server import BackgroundServer
from conformance.reference.service import Service
from conformance.reference.settings import Settings
from conformance.run import load_profile
from conformance.session import RECORDER, Session
from conformance.verdict.decisions import NO_FACTS, Decision, Facts, Outcome, Reason
from conformance.verdict.recorder import Recorder

SUITE = Path(__file__).parents[1]
"""The package that has the rooms of the tests."""

EMBEDDED = (
    "--capture=no",
    # Embedded, pytest finds modules imported that it would rewrite.
    "-Wignore::pytest.PytestAssertRewriteWarning",
    "-pno:cacheprovider",
    "-pno:randomly",
    "-pno:logging",
    "-pno:allure_pytest",
    "-pno:threadexception",
    "-pno:unraisableexception",
    "-pno:xdist",
)
"""Options of a pytest that runs within this process."""

_ROOMS = ("scenarios", "fuzz")
_READY = "conformance.proof.ready"
"""What is imported once, in a process that the others are copies of."""

_SECONDS_BETWEEN_TELLINGS = 2.0
_SECONDS_BETWEEN_LINES = 60.0

R = TypeVar("R")
T = TypeVar("T")


def import_all(package: ModuleType) -> None:
    """Import every module below a package."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


def modules_of_tests() -> dict[str, Path]:
    """Return the files of the suite that hold tests, by their paths in the package."""
    return {
        path.relative_to(SUITE).as_posix(): path
        for room in _ROOMS
        for path in sorted((SUITE / room).rglob("test_*.py"))
    }


def modules_with(tests: Iterable[str]) -> list[Path]:
    """Return the files of the suite that hold the tests of these node ids."""
    wanted = {test.partition("::")[0] for test in tests}
    return [path for path in modules_of_tests().values() if node_of(path) in wanted]


def node_of(module: Path) -> str:
    """Return the node id of a file of the suite, with which those of its tests begin."""
    return module.relative_to(SUITE.parent).as_posix()


def module_of(test: pytest.Item) -> str:
    """Return the file that holds a test, by its path in the package."""
    return test.path.relative_to(SUITE).as_posix()


def copying_context() -> ForkServerContext:
    """Return a way to start processes as copies of one that has imported everything.

    They start a second earlier than others.
    """
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload([_READY])
    return context


def spread(run: Callable[[Path], list[R]], processes: int, *, among: int | None = None) -> list[R]:
    """Let each process run what it gets by ``turns`` in a folder; of one it is this process.

    A terminal is told now and then how many turns have been taken, and the standard error of what
    is no terminal by a line a minute; ``among`` is how many there are, where that is known.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if processes <= 1:
            return run(folder)
        telling = Telling(folder, among, time.monotonic())
        with ProcessPoolExecutor(processes, mp_context=copying_context()) as pool:
            parts = [pool.submit(run, folder) for _ in range(processes)]
            while wait(parts, timeout=_SECONDS_BETWEEN_TELLINGS).not_done:
                telling.tell(time.monotonic())
            return [result for part in parts for result in part.result()]


class Telling:
    """Tells how many turns have been taken in a folder, ``among`` how many.

    Times are seconds of a clock that never goes back; ``since`` is when the work began.
    """

    def __init__(self, folder: Path, among: int | None, since: float) -> None:
        self._folder = folder
        self._among = "" if among is None else f" of {among}"
        self._told = since

    def tell(self, seconds: float) -> None:
        """Tell it over what a terminal was told before, or by a line where the last one is old."""
        told = f"{sum(1 for _ in self._folder.iterdir())}{self._among} turns taken"
        if sys.stdout.isatty():
            typer.echo(f"\r{told}\r", nl=False)
        elif seconds - self._told >= _SECONDS_BETWEEN_LINES:
            self._told = seconds
            typer.echo(told, err=True)


def turns(items: Iterable[T], folder: Path) -> Iterator[T]:
    """Yield the items that no other process has taken; all of them have the same."""
    for number, item in enumerate(items):
        try:
            (folder / str(number)).touch(exist_ok=False)
        except FileExistsError:
            continue
        yield item


class Guest(Protocol[R]):
    """A pytest plugin that takes the place of pytest's own loop over the tests."""

    results: list[R]

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests in its own way."""


def host(
    make: Callable[[Service], Guest[R]],
    *,
    timing: Mapping[str, float] | None = None,
    options: Sequence[str] = (),
    modules: Iterable[Path] | None = None,
) -> list[R]:
    """Start the reference, collect tests, let a guest run them, and return its results.

    Args:
        make: makes the guest, given the reference.
        timing: what the profile says about timing, where it is not the usual.
        options: more options of pytest.
        modules: the files whose tests are collected; all of them without it.

    Raises:
        MutantError: the suite cannot be run.
    """
    credentials = Settings(
        api_token_id=f"token-{secrets.token_hex(8)}",
        api_client_secret=secrets.token_urlsafe(32),
    )
    profile = load_profile("reference")
    chosen = [SUITE / room for room in _ROOMS] if modules is None else list(modules)
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(BackgroundServer(credentials))
        loop = make(server.app.state.service)
        stack.enter_context(_environment(profile, credentials))
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            status = pytest.main(
                [
                    # Without any file pytest would take what it takes by default.
                    *map(str, chosen or [*modules_of_tests().values()][:1]),
                    f"--rootdir={SUITE.parent}",
                    f"--base-url={server.base_url}",
                    f"--profile={_with_timing(profile, timing or {}, folder)}",
                    f"--report-dir={folder}",
                    *options,
                    *EMBEDDED,
                ],
                plugins=[loop],
            )
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        raise MutantError(
            f"the suite could not be run (pytest ended with {status}):\n{output.getvalue()}"
        )
    return loop.results


@contextlib.contextmanager
def _environment(profile: Profile, settings: Settings) -> Iterator[None]:
    values = {
        profile.credentials.token_id: settings.api_token_id,
        profile.credentials.client_secret: settings.api_client_secret,
    }
    before = {name: os.environ.get(name) for name in values}
    os.environ.update(values)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                del os.environ[name]
            else:
                os.environ[name] = value


def _with_timing(profile: Profile, timing: Mapping[str, float], folder: Path) -> Path:
    """Write ``profile`` with other limits to a file and return its path."""
    content = profile.model_dump(mode="json", by_alias=True, exclude_none=True)
    content["timing"].update(timing)
    # The target is this process, and serves as many runs as there are.
    content["budget"].update(dict.fromkeys(("requests", "created"), 10**9))
    path = folder / "profile.yaml"
    # Which is YAML too, and written much faster.
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@dataclass
class _Impatient(Recorder):
    """Ends its test when a check of the awaited requirement fails."""

    awaited: str | None = None

    def decide(
        self,
        requirement: str,
        outcome: Outcome,
        detail: str = "",
        reason: Reason | None = None,
        facts: Facts = NO_FACTS,
    ) -> None:
        """Note what a check found; nothing undoes that it failed, so that the test may end."""
        super().decide(requirement, outcome, detail, reason, facts)
        awaited = requirement == self.awaited and outcome is Outcome.FAILED
        # Other threads take webhooks, or have to be joined.
        if awaited and threading.current_thread() is threading.main_thread():
            pytest.fail("it is noticed")


def outcomes_of(
    test: pytest.Item, suite: Session, awaited: str | None = None
) -> dict[str, Outcome]:
    """Run a test and return the outcome of each requirement that it decided."""
    decisions = decisions_of(test, suite, awaited)
    return {name: decision.outcome for name, decision in decisions.items()}


def decisions_of(
    test: pytest.Item, suite: Session, awaited: str | None = None
) -> dict[str, Decision]:
    """Run a test, until the awaited requirement fails, and return its decision on each one."""
    recorder = _Impatient(test.nodeid, tuple(requirements_named_by(test)), awaited=awaited)
    run_recorded(test, suite, recorder, awaited)
    # A copy, as a late webhook may still be judged.
    return dict(recorder.decisions)


def run_recorded(
    test: pytest.Item, suite: Session, recorder: Recorder, awaited: str | None = None
) -> None:
    """Run a test, and let a recorder hear of it; what it moved is audited unless that failed."""
    test.stash[RECORDER] = recorder
    with suite.connection.recording(recorder):
        # What pytest's own protocol does, less the reports, which cost more than the test.
        if hasattr(test, "_initrequest"):
            test._initrequest()  # noqa: SLF001 - what pytest does for a test that runs again
        set_up = pytest.CallInfo.from_call(
            lambda: test.ihook.pytest_runtest_setup(item=test), when="setup"
        )
        if set_up.excinfo is None:
            pytest.CallInfo.from_call(
                lambda: test.ihook.pytest_runtest_call(item=test), when="call"
            )
        known = recorder.decisions.get(awaited or "")
        if known is not None and known.outcome is Outcome.FAILED:
            _leave_unaudited(test)
        pytest.CallInfo.from_call(
            # Whichever test comes next, it has to find nothing that this one set up.
            lambda: test.ihook.pytest_runtest_teardown(item=test, nextitem=None),
            when="teardown",
        )


def _leave_unaudited(test: pytest.Item) -> None:
    """Spare a test that has failed the audit of what it moved."""
    platform = getattr(test, "funcargs", {}).get("platform")
    if platform is not None:
        platform.ledger.deposits.clear()
