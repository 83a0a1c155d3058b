"""Runs mutants against the tests of their requirement and measures the kill matrix.

One process serves many mutants: the reference runs in a thread of it, the suite is collected
once, and each mutant is patched in, tested and taken back. Then a test runs once more against
the restored reference, and only what passes there counts.
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
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path
from statistics import median
from typing import Annotated, Any, Protocol, TypeVar

import pytest
import typer
import yaml

import conformance.mutants as package
from conformance.contract.catalogue import catalogue
from conformance.mutants.mutant import REGISTRY, Mutant, MutantError, Patch
from conformance.plugin import SESSION
from conformance.reference.server import BackgroundServer
from conformance.reference.service import Service
from conformance.reference.settings import Settings
from conformance.run import load_profile
from conformance.session import RECORDER, Session, named_by
from conformance.target.profile import Profile
from conformance.verdict.decisions import Decision, Outcome

_SUITE = Path(package.__file__).parent.parent
_NO_MUTANTS = ("mutant", "runner", "variant", "honest", "tolerance")
_TIMING = {"request": 5.0, "event": 0.5, "state": 0.5, "quiet": 0.1}
"""A mutant often shows by something that never comes; waiting for it long proves no more."""

_FUZZED_PART = "fuzzing"
_SHOWN_TESTS = 1

R = TypeVar("R")
S = TypeVar("S")


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

    ``killed_by`` are the tests in which a check of its own requirement failed; ``elsewhere`` the
    other requirements that failed.
    """

    id: str
    requirement: str
    statement: str
    outcome: Fate
    killed_by: tuple[str, ...] = ()
    elsewhere: tuple[str, ...] = ()
    detail: str = ""
    milliseconds: float = 0.0


def load() -> list[Mutant]:
    """Return all mutants that the modules of this package declare."""
    for module in pkgutil.iter_modules(package.__path__):
        if module.name not in _NO_MUTANTS:
            importlib.import_module(f"{package.__name__}.{module.name}")
    return list(REGISTRY)


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
    shares = [[m.id for m in chosen[i::processes]] for i in range(processes)]
    results = {result.id: result for result in spread(_run_share, shares)}
    return [results[mutant.id] for mutant in chosen]


def spread(run: Callable[[S], list[R]], shares: Sequence[S]) -> list[R]:
    """Run each share in a process of its own and return all results; one share runs here."""
    shares = [share for share in shares if share]
    if len(shares) <= 1:
        return run(shares[0]) if shares else []
    spawn = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(len(shares), mp_context=spawn) as pool:
        return [result for part in pool.map(run, shares) for result in part]


class _Loop:
    """The pytest plugin that runs mutants where pytest would run the tests."""

    def __init__(self, mutants: Sequence[Mutant], service: Service) -> None:
        self._mutants = mutants
        self._service = service
        self.results: list[Result] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        suite = session.config.stash[SESSION]
        suite.reports = False
        by_requirement: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in session.items:
            for identifier in named_by(item):
                by_requirement[identifier].append(item)
        for mutant in self._mutants:
            started = time.perf_counter()
            result = _try(mutant, by_requirement[mutant.requirement], suite, self._service)
            spent = round((time.perf_counter() - started) * 1000, 1)
            self.results.append(Result(**{**_fields(result), "milliseconds": spent}))
        return True


def _try(mutant: Mutant, tests: list[pytest.Item], suite: Session, service: Service) -> Result:
    def result(outcome: Fate, **more: Any) -> Result:
        return Result(mutant.id, mutant.requirement, mutant.statement, outcome, **more)

    if not tests:
        return result(Fate.UNTESTED)
    patch = Patch()
    killers: list[pytest.Item] = []
    elsewhere: set[str] = set()
    try:
        mutant.patch(patch)
        for test in tests:
            outcomes = _outcomes(test, suite)
            failed = {name for name in outcomes if outcomes[name] is Outcome.FAILED}
            if mutant.requirement in failed:
                killers.append(test)
            elsewhere |= failed - {mutant.requirement}
    except MutantError as error:
        return result(Fate.UNCHANGED, detail=str(error))
    finally:
        patch.revert()
        # A webhook of the broken reference would be held against the restored one.
        service.drop_work()
    others = tuple(sorted(elsewhere))
    killed_by = tuple(test.nodeid for test in killers)
    # A kill counts when its test passes on the restored reference, a survival when any does.
    sound = any(
        _outcomes(test, suite).get(mutant.requirement) is Outcome.PASSED
        for test in killers[:1] or tests
    )
    if not sound:
        return result(Fate.UNRELIABLE, killed_by=killed_by, elsewhere=others)
    if killers:
        return result(Fate.KILLED, killed_by=killed_by, elsewhere=others)
    return result(Fate.ELSEWHERE if others else Fate.SURVIVED, elsewhere=others)


def _outcomes(test: pytest.Item, suite: Session) -> dict[str, Outcome]:
    """Run a test and return the outcome of each requirement that it decided."""
    return {name: decision.outcome for name, decision in decisions_of(test, suite).items()}


def decisions_of(test: pytest.Item, suite: Session) -> dict[str, Decision]:
    """Run a test and return its decision on each requirement."""
    with suite.recording(test):
        # What pytest's own protocol does, less the reports, which cost more than the test.
        if hasattr(test, "_initrequest"):
            test._initrequest()
        set_up = pytest.CallInfo.from_call(
            lambda: test.ihook.pytest_runtest_setup(item=test), when="setup"
        )
        if set_up.excinfo is None:
            pytest.CallInfo.from_call(
                lambda: test.ihook.pytest_runtest_call(item=test), when="call"
            )
        pytest.CallInfo.from_call(
            # Whichever test comes next, it has to find nothing that this one set up.
            lambda: test.ihook.pytest_runtest_teardown(item=test, nextitem=None),
            when="teardown",
        )
    # A copy, as a late webhook may still be judged.
    return dict(test.stash[RECORDER].decisions)


def _run_share(identifiers: Sequence[str]) -> list[Result]:
    """Run the mutants of these ids in this process."""
    mutants = [mutant for mutant in load() if mutant.id in set(identifiers)]
    return host(
        lambda service: _Loop(mutants, service), timing=_TIMING, options=_without_fuzzing(mutants)
    )


class Guest(Protocol[R]):
    """A pytest plugin that takes the place of pytest's own loop over the tests."""

    results: list[R]

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """Run the tests in its own way."""


def host(
    make: Callable[[Service], Guest[R]], *, timing: Mapping[str, float], options: Sequence[str]
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


def _without_fuzzing(mutants: Iterable[Mutant]) -> list[str]:
    """Return the option that spares the collection of fuzz tests, where no mutant needs them."""
    known = catalogue()
    needed = any(known[m.requirement].part == _FUZZED_PART for m in mutants)
    return [] if needed else ["--fuzz-examples=0"]


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


def _fields(result: Result) -> dict[str, Any]:
    return {name: getattr(result, name) for name in Result.__slots__}


def mutants(
    only: Annotated[
        list[str] | None,
        typer.Option(help="a mutant, or all of one requirement; may be given several times"),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="write the kill matrix to this file too")
    ] = None,
    processes: Annotated[int, typer.Option(min=1)] = len(os.sched_getaffinity(0)),
) -> None:
    """Break the reference on purpose, and see whether the suite notices each break."""
    started = time.perf_counter()
    try:
        results = measure(choose(load(), only or ()), processes)
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
        for entry in content["mutants"]:
            # Times differ from run to run, and the file is kept in the repository.
            del entry["milliseconds"]
        text = json.dumps(content, indent=1, ensure_ascii=False)
        json_file.write_text(text + "\n", encoding="utf-8")
    if not results or any(result.outcome is not Fate.KILLED for result in results):
        raise typer.Exit(1)


def _print(result: Result) -> None:
    tests = [name.rpartition("/")[2] for name in result.killed_by[:_SHOWN_TESTS]]
    more = len(result.killed_by) - len(tests)
    if result.outcome is Fate.KILLED:
        by = ", ".join(tests) + (f" and {more} more" if more else "")
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
