"""Runs mutants against the tests of their requirement and measures the kill matrix.

One process serves many mutants: the reference runs in a thread of it, the suite is collected
once, and each mutant is patched in, tested and taken back. The first check of its requirement
that fails kills it and ends the test: nothing that comes later undoes a failure.

Mutants that the same test meets first are tried in a row. Then each test that killed any of them
runs once more, as a whole, on the restored reference, and only where the requirement passes there
does a kill count. So what a mutant leaves behind costs all kills of its row.
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
import tempfile
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from statistics import median
from types import ModuleType
from typing import Annotated, Any, Protocol, TypeVar

import pytest
import typer
import yaml

from conformance.contract.catalogue import catalogue
from conformance.plugin import SESSION
from conformance.profile.model import Profile
from conformance.proof import mutants as package
from conformance.proof.mutant import REGISTRY, Mutant
from conformance.proof.patch import MutantError, Patch
from conformance.reference.server import BackgroundServer
from conformance.reference.service import Service
from conformance.reference.settings import Settings
from conformance.reporting.kills import MEASURED, Kills, read_kills, write_kills
from conformance.run import load_profile
from conformance.session import RECORDER, Session, named_by
from conformance.verdict.decisions import NO_FACTS, Decision, Facts, Outcome, Reason
from conformance.verdict.recorder import Recorder

_SUITE = Path(__file__).parents[1]
_TIMING = {"request": 5.0, "event": 0.5, "state": 0.45, "quiet": 0.1, "poll": 0.015}
"""A mutant often shows by something that never comes; waiting for it long proves no more.

Pauses between polls double, so that the fifth is over as soon as the time for a state is.
"""

R = TypeVar("R")
T = TypeVar("T")


class Fate(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    ELSEWHERE = "caught elsewhere"
    UNCHANGED = "unchanged"
    UNRELIABLE = "unreliable"
    UNTESTED = "untested"


_MEANING = {
    Fate.SURVIVED: "no check noticed it",
    Fate.ELSEWHERE: "only checks of other requirements noticed it",
    Fate.UNCHANGED: "its patch changed nothing",
    Fate.UNRELIABLE: "its tests do not pass on the unbroken reference either",
    Fate.UNTESTED: "no test names its requirement",
}


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one mutant.

    ``killed_by`` is the first test in which a check of its own requirement failed; ``elsewhere``
    are the other requirements that failed, where it did not. The first mutant that a test killed
    bears the time of that test on the restored reference.
    """

    id: str
    requirement: str
    statement: str
    outcome: Fate
    killed_by: str = ""
    elsewhere: tuple[str, ...] = ()
    detail: str = ""
    milliseconds: float = 0.0


def load() -> list[Mutant]:
    """Return all mutants that the modules of this package declare."""
    import_all(package)
    return list(REGISTRY)


def import_all(package: ModuleType) -> None:
    """Import every module below a package."""
    for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}."):
        importlib.import_module(module.name)


def choose(mutants: Iterable[Mutant], only: Sequence[str]) -> list[Mutant]:
    """Return the mutants that ``only`` names by their id or their requirement; all without it.

    Raises:
        MutantError: a name fits none.
    """
    every = list(mutants)
    for name in only:
        if not any(name in (mutant.id, mutant.requirement) for mutant in every):
            raise MutantError(f"there is no mutant {name}, nor one of a requirement {name}")
    return [m for m in every if not only or m.id in only or m.requirement in only]


def measure(chosen: Sequence[Mutant], processes: int) -> list[Result]:
    """Run the mutants, spread over processes, and return what became of each."""
    identifiers = [mutant.id for mutant in chosen]
    found = spread(partial(_run_part, identifiers), min(processes, len(chosen)))
    results = {result.id: result for result in found}
    return [results[identifier] for identifier in identifiers]


def spread(run: Callable[[Path], list[R]], processes: int) -> list[R]:
    """Let each process run what it gets by ``turns`` in a folder; of one it is this process."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        if processes <= 1:
            return run(folder)
        spawn = multiprocessing.get_context("spawn")
        with ProcessPoolExecutor(processes, mp_context=spawn) as pool:
            return [result for part in pool.map(run, [folder] * processes) for result in part]


def turns(items: Iterable[T], folder: Path) -> Iterator[T]:
    """Yield the items that no other process has taken; all of them have the same."""
    for number, item in enumerate(items):
        try:
            (folder / str(number)).touch(exist_ok=False)
        except FileExistsError:
            continue
        yield item


class _Loop:
    """The pytest plugin that runs mutants where pytest would run the tests."""

    def __init__(self, mutants: Sequence[Mutant], service: Service, folder: Path) -> None:
        self._mutants = mutants
        self._service = service
        self._folder = folder
        self.results: list[Result] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._suite = session.config.stash[SESSION]
        self._suite.reports = False
        self._tests: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in session.items:
            for identifier in named_by(item):
                self._tests[identifier].append(item)
        rows: dict[str, list[Mutant]] = defaultdict(list)
        for mutant in self._mutants:
            tests = self._tests[mutant.requirement]
            rows[tests[0].nodeid if tests else ""].append(mutant)
        # The longest first, so that no process has to wait for another at the end.
        for row in turns(sorted(rows.values(), key=len, reverse=True), self._folder):
            self._row(row)
        return True

    def _row(self, mutants: Sequence[Mutant]) -> None:
        """Try mutants one after the other, and then see which results count."""
        tried = [self._try(mutant) for mutant in mutants]
        restored = cache(lambda test: _outcomes(test, self._suite))
        for result in tried:
            started = time.perf_counter()
            # For a kill its test has to pass on the restored reference, for a survival any.
            sound = result.outcome in (Fate.UNTESTED, Fate.UNCHANGED) or any(
                restored(test).get(result.requirement) is Outcome.PASSED
                for test in self._tests[result.requirement]
                if result.killed_by in ("", test.nodeid)
            )
            self.results.append(
                replace(
                    result,
                    outcome=result.outcome if sound else Fate.UNRELIABLE,
                    milliseconds=round(result.milliseconds + _since(started), 1),
                )
            )

    def _try(self, mutant: Mutant) -> Result:
        """Run the tests of a mutant's requirement under it until a check of it fails."""
        started = time.perf_counter()

        def result(outcome: Fate, **more: Any) -> Result:
            spent = _since(started)
            return Result(
                mutant.id, mutant.requirement, mutant.statement, outcome, milliseconds=spent, **more
            )

        tests = self._tests[mutant.requirement]
        if not tests:
            return result(Fate.UNTESTED)
        tests = sorted(tests, key=lambda test: mutant.at not in test.nodeid)
        patch = Patch()
        elsewhere: set[str] = set()
        try:
            mutant.patch(patch)
            for test in tests:
                outcomes = _outcomes(test, self._suite, mutant.requirement)
                failed = {name for name in outcomes if outcomes[name] is Outcome.FAILED}
                if mutant.requirement in failed:
                    return result(Fate.KILLED, killed_by=test.nodeid)
                elsewhere |= failed
        except MutantError as error:
            return result(Fate.UNCHANGED, detail=str(error))
        finally:
            patch.revert()
            # A webhook of the broken reference would be held against the restored one.
            self._service.drop_work()
            self._suite.connection.memory.forget()
        return result(
            Fate.ELSEWHERE if elsewhere else Fate.SURVIVED, elsewhere=tuple(sorted(elsewhere))
        )


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


def _outcomes(test: pytest.Item, suite: Session, awaited: str | None = None) -> dict[str, Outcome]:
    """Run a test and return the outcome of each requirement that it decided."""
    decisions = decisions_of(test, suite, awaited)
    return {name: decision.outcome for name, decision in decisions.items()}


def decisions_of(
    test: pytest.Item, suite: Session, awaited: str | None = None
) -> dict[str, Decision]:
    """Run a test, until the awaited requirement fails, and return its decision on each one."""
    recorder = _Impatient(test.nodeid, tuple(named_by(test)), awaited=awaited)
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
    # A copy, as a late webhook may still be judged.
    return dict(recorder.decisions)


def _leave_unaudited(test: pytest.Item) -> None:
    """Spare a test that has failed the audit of what it moved."""
    platform = getattr(test, "funcargs", {}).get("platform")
    if platform is not None:
        platform.ledger.deposits.clear()


def _since(started: float) -> float:
    """Return the milliseconds since then."""
    return (time.perf_counter() - started) * 1000


def _run_part(identifiers: Sequence[str], folder: Path) -> list[Result]:
    """Run mutants of these ids in this process."""
    mutants = [mutant for mutant in load() if mutant.id in set(identifiers)]
    return host(lambda service: _Loop(mutants, service, folder), timing=_TIMING)


class Guest(Protocol[R]):
    """A pytest plugin that takes the place of pytest's own loop over the tests."""

    results: list[R]

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests in its own way."""


def host(
    make: Callable[[Service], Guest[R]], *, timing: Mapping[str, float], options: Sequence[str] = ()
) -> list[R]:
    """Start the reference, collect the suite, let a loop run in it, and return its results.

    Raises:
        MutantError: the suite cannot be run.
    """
    credentials = Settings(
        api_token_id=f"token-{secrets.token_hex(8)}",
        api_client_secret=secrets.token_urlsafe(32),
    )
    profile = load_profile("reference")
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        server = stack.enter_context(BackgroundServer(credentials))
        loop = make(server.app.state.service)
        stack.enter_context(_environment(profile, credentials))
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            status = pytest.main(
                [
                    str(_SUITE / "scenarios"),
                    str(_SUITE / "fuzz"),
                    f"--rootdir={_SUITE.parent}",
                    f"--base-url={server.base_url}",
                    f"--profile={_with_timing(profile, timing, folder)}",
                    f"--report-dir={folder}",
                    *options,
                    "--capture=no",
                    # Embedded, pytest finds modules imported that it would rewrite.
                    "-Wignore::pytest.PytestAssertRewriteWarning",
                    "-pno:cacheprovider",
                    "-pno:randomly",
                    "-pno:logging",
                    "-pno:allure_pytest",
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
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def mutants(
    only: Annotated[
        list[str] | None,
        typer.Option(help="a mutant, or all of one requirement; may be given several times"),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="write the kill matrix to this file too")
    ] = None,
    figures: Annotated[
        bool,
        typer.Option("--figures", help="keep how many of each requirement's mutants were killed"),
    ] = False,
    # Two for each core, as many mutants show by what never comes.
    processes: Annotated[int, typer.Option(min=1)] = 2 * len(os.sched_getaffinity(0)),
) -> None:
    """Break the reference on purpose, and see whether the suite notices each break."""
    started = time.perf_counter()
    try:
        chosen = choose(load(), only or ())
        if figures:
            _check_whole(chosen)
        results = measure(chosen, processes)
    except MutantError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    seconds = time.perf_counter() - started
    for result in results:
        _print(result)
    counts = Counter(result.outcome for result in results)
    shown = ", ".join(f"{counts[fate]} {fate}" for fate in Fate if counts[fate])
    pace = median(result.milliseconds for result in results) if results else 0.0
    typer.echo(f"\n{len(results)} mutants in {seconds:.1f} s ({pace:.0f} ms each): {shown}")
    if not only:
        _print_unguarded(results)
    if json_file is not None:
        content = {"mutants": [asdict(result) for result in results]}
        text = json.dumps(content, indent=1, ensure_ascii=False)
        json_file.write_text(text + "\n", encoding="utf-8")
    if figures:
        others = read_kills(MEASURED) if only else {}
        write_kills({**others, **kills_of(results)}, MEASURED)
    if not results or any(result.outcome is not Fate.KILLED for result in results):
        raise typer.Exit(1)


def _check_whole(chosen: Iterable[Mutant]) -> None:
    """Refuse to keep figures of a part of a requirement's mutants.

    Raises:
        MutantError: naming the requirement.
    """
    total = Counter(mutant.requirement for mutant in load())
    for requirement, count in Counter(mutant.requirement for mutant in chosen).items():
        if count < total[requirement]:
            raise MutantError(
                f"figures are of all {total[requirement]} mutants of {requirement}, "
                f"and only {count} of them are chosen"
            )


def kills_of(results: Iterable[Result]) -> dict[str, Kills]:
    """Return how many mutants each requirement has, and how many of them were killed."""
    total = Counter(result.requirement for result in results)
    killed = Counter(result.requirement for result in results if result.outcome is Fate.KILLED)
    return {name: Kills(killed[name], count) for name, count in total.items()}


def _print(result: Result) -> None:
    if result.outcome is Fate.KILLED:
        by = result.killed_by.rpartition("/")[2]
        typer.echo(f"{result.outcome:17}{result.id}  by {by}  ({result.milliseconds:.0f} ms)")
        return
    detail = result.detail or ", ".join(result.elsewhere)
    typer.echo(
        f"{result.outcome.upper():17}{result.id}  {result.statement}: {_MEANING[result.outcome]}"
        + (f" ({detail})" if detail else "")
    )


def _print_unguarded(results: Iterable[Result]) -> None:
    guarded = {result.requirement for result in results}
    bare = [
        entry.id
        for entry in catalogue().values()
        if entry.untestable is None and entry.id not in guarded
    ]
    if bare:
        typer.echo(f"{len(bare)} testable requirements have no mutant: {', '.join(bare)}")


if __name__ == "__main__":
    typer.run(mutants)
