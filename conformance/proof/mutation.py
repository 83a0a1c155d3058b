"""Runs mutants against the tests of their requirement and measures the kill matrix.

One process serves many mutants: the reference runs in a thread of it, the suite is collected
once, and each mutant is patched in, tested and taken back. The first check of its requirement
that fails kills it and ends the test: nothing that comes later undoes a failure.

Mutants that the same test meets first are tried in a row. Then each test that killed any of them
runs once more, as a whole, on the restored reference, and only where the requirement passes there
does a kill count. So what a mutant leaves behind costs all kills of its row.

On a busy machine a step may take longer than the short waits of these runs, and settings that an
earlier mutant left behind may hide a later one. So what was not killed is tried once more, with
long waits and on a service that has forgotten everything, before it counts.
"""

from __future__ import annotations

import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from functools import cache, partial
from importlib import import_module
from math import ceil
from pathlib import Path
from statistics import median
from typing import Annotated, Any

import pytest
import typer

from conformance.contract.areas import AreaError, areas
from conformance.contract.catalogue import catalogue
from conformance.contract.completion import requirements
from conformance.effort import is_generated
from conformance.exchange.shard import WHOLE
from conformance.items import requirements_named_by
from conformance.plugin import SESSION
from conformance.proof import mutants as package
from conformance.proof.draw import TODAY, Draw
from conformance.proof.host import host, import_all, outcomes_of, spread, turns
from conformance.proof.mutant import REGISTRY, Mutant
from conformance.proof.naming import Naming
from conformance.proof.patch import MutantError, Patch
from conformance.reference.service import Service
from conformance.reporting.kills import MEASURED, Kills, read_kills, write_kills
from conformance.run import Connection
from conformance.verdict.decisions import Outcome

TIMING = {"request": 5.0, "event": 0.5, "state": 0.45, "quiet": 0.1, "poll": 0.015}
"""A mutant often shows by something that never comes; waiting for it long proves no more.

Pauses between polls double, so that the fifth is over as soon as the time for a state is.
"""

_PATIENT_TIMING = {"event": 5.0, "state": 5.0, "quiet": 0.3}

_MUTANTS_PER_START = 25
"""How many mutants are tried in the time that one more process takes to start."""

_PLAIN_SAMPLE = 12
"""How many mutants meet plain schemathesis, where nothing else is asked for."""


class MutantOutcome(StrEnum):
    """What became of a mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    ELSEWHERE = "caught elsewhere"
    UNCHANGED = "unchanged"
    UNRELIABLE = "unreliable"
    UNTESTED = "untested"


_MEANING = {
    MutantOutcome.SURVIVED: "no check noticed it",
    MutantOutcome.ELSEWHERE: "only checks of other requirements noticed it",
    MutantOutcome.UNCHANGED: "its patch changed nothing",
    MutantOutcome.UNRELIABLE: "its tests do not pass on the unbroken reference either",
    MutantOutcome.UNTESTED: "no test names its requirement",
}


_DOUBTFUL = (MutantOutcome.SURVIVED, MutantOutcome.ELSEWHERE, MutantOutcome.UNRELIABLE)
"""What may be chance on a busy machine."""


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
    outcome: MutantOutcome
    killed_by: str = ""
    elsewhere: tuple[str, ...] = ()
    detail: str = ""
    milliseconds: float = 0.0


def load(only: Sequence[str] = ()) -> list[Mutant]:
    """Return the mutants that the suite declares, or at least those that ``only`` may name.

    The mutants of a requirement stand in the modules of its area.
    """
    try:
        rooms = {areas().of(name).name for name in only}
    except AreaError:
        rooms = set()
    for room in rooms:
        import_all(import_module(f"{package.__name__}.{room}"))
    if not rooms:
        import_all(package)
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


def measure(chosen: Sequence[Mutant], processes: int, seed: int = 1) -> list[Result]:
    """Run the mutants, spread over processes, and return what became of each.

    ``seed`` decides what the tests send, as ``--run-seed`` does.
    """
    identifiers = [mutant.id for mutant in chosen]
    worthwhile = ceil(len(chosen) / _MUTANTS_PER_START)
    found = spread(partial(_run_part, identifiers, seed), min(processes, worthwhile))
    results = {result.id: result for result in found}
    return [results[identifier] for identifier in identifiers]


class _Loop:
    """The pytest plugin that runs mutants where pytest would run the tests."""

    def __init__(
        self,
        mutants: Sequence[Mutant],
        service: Service,
        folder: Path,
        learn: Callable[[Sequence[pytest.Item]], None],
    ) -> None:
        self._mutants = mutants
        self._service = service
        self._folder = folder
        self._learn = learn
        self.results: list[Result] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._suite = session.config.stash[SESSION]
        self._suite.reports = False
        self._learn(session.items)
        self._tests: dict[str, list[pytest.Item]] = defaultdict(list)
        for item in session.items:
            for identifier in requirements_named_by(item):
                self._tests[identifier].append(item)
        rows: dict[str, list[Mutant]] = defaultdict(list)
        for mutant in self._mutants:
            tests = self._tests[mutant.requirement]
            rows[tests[0].nodeid if tests else ""].append(mutant)
        # The longest first, so that no process has to wait for another at the end: those whose
        # tests generate what they send, and then those of most mutants.
        slow = sorted(rows, key=lambda test: (is_generated(test), len(rows[test])), reverse=True)
        for test in turns(slow, self._folder):
            self._row(rows[test])
        return True

    def _row(self, mutants: Sequence[Mutant]) -> None:
        """Try mutants one after the other, and then see which results count."""
        tried = [self._try(mutant) for mutant in mutants]
        restored = cache(lambda test: outcomes_of(test, self._suite))
        for mutant, first in zip(mutants, tried, strict=True):
            result = self._counted(first, restored)
            if result.outcome in _DOUBTFUL:
                # An earlier mutant may have left settings behind that hide this one.
                self._service.reset()
                with _patiently(self._suite.connection):
                    result = self._counted(
                        self._try(mutant), lambda test: outcomes_of(test, self._suite)
                    )
            self.results.append(result)

    def _counted(
        self, result: Result, restored: Callable[[pytest.Item], dict[str, Outcome]]
    ) -> Result:
        """Return a result as it counts: for nothing where the restored reference does no better.

        For a kill its own test has to pass on the restored reference, for a survival any.
        """
        started = time.perf_counter()
        sound = result.outcome in (MutantOutcome.UNTESTED, MutantOutcome.UNCHANGED) or any(
            restored(test).get(result.requirement) is Outcome.PASSED
            for test in self._tests[result.requirement]
            if result.killed_by in ("", test.nodeid)
        )
        return replace(
            result,
            outcome=result.outcome if sound else MutantOutcome.UNRELIABLE,
            milliseconds=round(result.milliseconds + _since(started), 1),
        )

    def _try(self, mutant: Mutant) -> Result:
        """Run the tests of a mutant's requirement under it until a check of it fails."""
        started = time.perf_counter()

        def result(outcome: MutantOutcome, **more: Any) -> Result:
            spent = _since(started)
            return Result(
                mutant.id, mutant.requirement, mutant.statement, outcome, milliseconds=spent, **more
            )

        tests = self._tests[mutant.requirement]
        if not tests:
            return result(MutantOutcome.UNTESTED)
        tests = sorted(tests, key=lambda test: mutant.at not in test.nodeid)
        patch = Patch()
        elsewhere: set[str] = set()
        try:
            mutant.patch(patch)
            for test in tests:
                outcomes = outcomes_of(test, self._suite, mutant.requirement)
                failed = {name for name in outcomes if outcomes[name] is Outcome.FAILED}
                if mutant.requirement in failed:
                    return result(MutantOutcome.KILLED, killed_by=test.nodeid)
                elsewhere |= failed
        except MutantError as error:
            return result(MutantOutcome.UNCHANGED, detail=str(error))
        finally:
            patch.revert()
            # A webhook of the broken reference would be held against the restored one.
            self._service.drop_work()
            self._suite.connection.forget()
        return result(
            MutantOutcome.ELSEWHERE if elsewhere else MutantOutcome.SURVIVED,
            elsewhere=tuple(sorted(elsewhere)),
        )


@contextmanager
def _patiently(connection: Connection) -> Iterator[None]:
    """Let the tests of a connection wait long for what may come, until the block ends."""
    target = connection.target
    timing = target.profile.timing.model_copy(update=_PATIENT_TIMING)
    profile = target.profile.model_copy(update={"timing": timing})
    connection.target = replace(target, profile=profile)
    try:
        yield
    finally:
        connection.target = target


def _since(started: float) -> float:
    """Return the milliseconds since then."""
    return (time.perf_counter() - started) * 1000


def _run_part(identifiers: Sequence[str], seed: int, folder: Path) -> list[Result]:
    """Run mutants of these ids in this process."""
    wanted = set(identifiers)
    mutants = [mutant for mutant in load(identifiers) if mutant.id in wanted]
    naming = Naming()
    modules = naming.modules(mutant.requirement for mutant in mutants)

    def loop(service: Service) -> _Loop:
        return _Loop(mutants, service, folder, lambda tests: naming.learn(tests, modules))

    return host(loop, timing=TIMING, modules=modules, options=[f"--run-seed={seed}"])


def mutants(  # noqa: PLR0917 - typer passes all of them by name
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="a mutant, or all of one requirement; may be given several times",
            autocompletion=requirements,
        ),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="write the kill matrix to this file too")
    ] = None,
    figures: Annotated[
        bool,
        typer.Option("--figures", help="keep what was found, to be shown with the suite"),
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="print what is as it should be, too")
    ] = False,
    # Two for each core, as many mutants show by what never comes.
    processes: Annotated[int, typer.Option("--processes", "-n", min=1)] = 2
    * len(os.sched_getaffinity(0)),
    generic: Annotated[
        bool, typer.Option("--generic", help="break it by machine, wherever it can be broken")
    ] = False,
    sample: Annotated[
        int | None,
        typer.Option(min=1, help="how many are drawn by chance, where not all are tried"),
    ] = None,
    kept: Annotated[
        bool,
        typer.Option("--kept", help="see the kept kills of --generic again, each by its one test"),
    ] = False,
    draw: Annotated[
        str | None,
        typer.Option(
            metavar="SEED",
            help=f"a share of them, or of those of --kept, drawn by chance: a number, or {TODAY}",
        ),
    ] = None,
    shares: Annotated[int, typer.Option(min=1, help="with --draw: one of so many shares")] = 1,
    whole_run: Annotated[
        bool,
        typer.Option(
            "--whole-run",
            help="run all tests under a sample of aimed and generic ones: does the run end red?",
        ),
    ] = False,
    seed: Annotated[
        int,
        typer.Option(help="which sample is drawn; where nothing is, the --run-seed of the tests"),
    ] = 1,
    narrowed: Annotated[
        bool,
        typer.Option(
            "--narrowed",
            help="let each strike in one circumstance alone, such as for businesses or in lists",
        ),
    ] = False,
    unaimed: Annotated[
        bool, typer.Option("--unaimed", help="break it in ways that no scenario was written for")
    ] = False,
    budget: Annotated[
        float,
        typer.Option(
            min=0,
            help="with --by-kind or --unaimed: seconds that walks go on for, of each kind",
        ),
    ] = 0.0,
    kinds: Annotated[
        list[str] | None,
        typer.Option("--with", help="with --by-kind or --unaimed: a kind of tests; otherwise all"),
    ] = None,
    by_kind: Annotated[
        bool, typer.Option("--by-kind", help="tell which kinds of tests find those of a sample")
    ] = False,
    plain: Annotated[
        bool,
        typer.Option("--plain", help="compare a sample with what plain schemathesis finds of it"),
    ] = False,
) -> None:
    """Break the reference on purpose, and see whether the suite notices each break.

    Prints each break that is not noticed, and the total.
    """
    shard = WHOLE if draw is None else Draw.parse(draw, shares).shard
    if generic or kept or whole_run or narrowed:
        # What makes the changes is installed with the extra `test` alone.
        import_module("conformance.proof.generic.command").by_machine(
            kept=kept,
            shard=shard,
            whole_run=whole_run,
            narrowed=narrowed,
            sample=sample,
            seed=seed,
            places=only or (),
            processes=processes,
            json_file=json_file,
            figures=figures,
            verbose=verbose,
        )
        return
    if plain:
        import_module("conformance.proof.plain").plain(
            only or (), sample or _PLAIN_SAMPLE, seed, figures=figures
        )
        return
    if unaimed or by_kind:
        import_module("conformance.proof.kinds").by_kind(
            *(only or (), kinds or (), processes, sample, seed),
            unaimed=unaimed,
            budget=budget,
            figures=figures,
        )
        return
    started = time.perf_counter()
    try:
        chosen = [one for one in choose(load(only or ()), only or ()) if shard.has(one.id)]
        if figures:
            _check_whole(chosen)
        results = measure(chosen, processes, seed)
    except MutantError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    _print_all(results, time.perf_counter() - started, verbose=verbose)
    is_part = bool(only) or shard != WHOLE
    if not is_part:
        _print_unguarded(results)
    if json_file is not None:
        _write_json(results, json_file)
    if figures:
        others = read_kills(MEASURED) if is_part else {}
        write_kills({**others, **kills_of(results)}, MEASURED)
    if not results or any(result.outcome is not MutantOutcome.KILLED for result in results):
        raise typer.Exit(1)


def _write_json(results: Iterable[Result], path: Path) -> None:
    """Write the kill matrix to a file."""
    content = {"mutants": [asdict(result) for result in results]}
    text = json.dumps(content, indent=1, ensure_ascii=False)
    path.write_text(text + "\n", encoding="utf-8")


def _print_all(results: Sequence[Result], seconds: float, *, verbose: bool) -> None:
    """Print what is not as it should be, or all, and how many mutants came to each outcome."""
    for result in results:
        if verbose or result.outcome is not MutantOutcome.KILLED:
            _print(result)
    counts = Counter(result.outcome for result in results)
    shown = ", ".join(
        f"{counts[outcome]} {outcome}" for outcome in MutantOutcome if counts[outcome]
    )
    pace = median(result.milliseconds for result in results) if results else 0.0
    typer.echo(f"{len(results)} mutants in {seconds:.1f} s ({pace:.0f} ms each): {shown}")


def _check_whole(chosen: Iterable[Mutant]) -> None:
    """Refuse to keep figures of a part of a requirement's mutants.

    Raises:
        MutantError: naming the requirement.
    """
    chosen = list(chosen)
    total = Counter(m.requirement for m in load([mutant.requirement for mutant in chosen]))
    for requirement, count in Counter(mutant.requirement for mutant in chosen).items():
        if count < total[requirement]:
            raise MutantError(
                f"figures are of all {total[requirement]} mutants of {requirement}, "
                f"and only {count} of them are chosen"
            )


def kills_of(results: Iterable[Result]) -> dict[str, Kills]:
    """Return how many mutants each requirement has, and how many of them were killed."""
    total = Counter(result.requirement for result in results)
    killed = Counter(
        result.requirement for result in results if result.outcome is MutantOutcome.KILLED
    )
    return {name: Kills(killed[name], count) for name, count in total.items()}


def _print(result: Result) -> None:
    if result.outcome is MutantOutcome.KILLED:
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
