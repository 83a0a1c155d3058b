"""Runs generic mutants against the tests that execute them, the most specific first.

One process serves many mutants, as with the aimed ones: the reference in a thread of it, the suite
collected once. The first requirement that fails kills a mutant, and the killing test has to find
nothing amiss when the change is taken back. After each mutant the service forgets everything; a
process whose service does not recover is replaced.
"""

from __future__ import annotations

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cache, partial

import pytest
from starlette.applications import Starlette

from conformance.contract.catalogue import Level, catalogue
from conformance.plugin import SESSION
from conformance.proof.generic.changes import Change
from conformance.proof.generic.executed import Survey
from conformance.proof.generic.swap import Swap, Unusable
from conformance.proof.generic.workers import Answer, Pool, Server
from conformance.proof.host import host, modules_with, outcomes_of
from conformance.proof.nearness import distances, words_of, words_of_test
from conformance.reference.service import Service
from conformance.verdict.decisions import Outcome

TIMING = {"request": 20.0, "event": 5.0, "state": 5.0, "quiet": 0.2, "poll": 0.02}
"""Patient enough that a busy machine kills nobody."""

MAX_TESTS = 600
"""How many tests one mutant meets; then it has survived. No time, as a busy machine is slower."""

_HANGING_SECONDS = 900.0
"""After how long a process that says nothing is ended."""

_UNDECIDED = frozenset({Outcome.INCONCLUSIVE, Outcome.NOT_EXERCISED})


class GenericOutcome(StrEnum):
    """What became of a generic mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    SILENCED = "silenced"
    WARNED = "warned"
    UNREACHED = "unreached"
    HUNG = "hung"
    UNRELIABLE = "unreliable"
    UNUSABLE = "unusable"


MEANING = {
    GenericOutcome.KILLED: "a requirement failed",
    GenericOutcome.SURVIVED: "no check noticed it",
    GenericOutcome.SILENCED: "nothing failed, but some checks could not decide any more",
    GenericOutcome.WARNED: "nothing but recommended requirements failed",
    GenericOutcome.UNREACHED: "no test executes it",
    GenericOutcome.HUNG: "it did not come to an end, or broke the process",
    GenericOutcome.UNRELIABLE: "what killed it fails on the unbroken reference too",
    GenericOutcome.UNUSABLE: "it makes no difference, or the reference does not start with it",
}


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one change.

    ``requirements`` are those that failed, or that were not decided any more, first in the test
    ``silenced_by``; ``met`` says how many of the ``reaching`` tests it met. It is ``doubted`` where
    that test decides nothing without the change either: then the process was out of order, maybe
    since an earlier change.
    """

    change: Change
    outcome: GenericOutcome
    killed_by: str = ""
    requirements: tuple[str, ...] = ()
    met: int = 0
    reaching: int = 0
    detail: str = ""
    seconds: float = 0.0
    silenced_by: str = ""
    doubted: bool = False


@dataclass(frozen=True, slots=True)
class Trial:
    """A change and the tests that it meets, each with what passes without it.

    Those that execute ``seldom`` lines of what is changed come first, then the others, in this
    order. One that was in doubt is tried ``again``, in another process.
    """

    change: Change
    tests: tuple[str, ...]
    passed: tuple[frozenset[str], ...]
    seldom: frozenset[str] = frozenset()
    again: bool = False


@dataclass(frozen=True, slots=True)
class Confirmation:
    """A kill whose test has to pass on a fresh service."""

    result: Result


Task = Trial | Confirmation


def measure(
    trials: Sequence[Trial],
    processes: int,
    tell: Callable[[Result], None] = lambda _: None,
) -> list[Result]:
    """Try changes, spread over processes, and return what became of each, in their order.

    ``tell`` hears of each result as it comes; a later one on the same change is the right one.
    """
    results = {
        one.change.id: Result(one.change, GenericOutcome.UNREACHED)
        for one in trials
        if not one.tests
    }
    pool: Pool[Task, Result] = Pool(
        partial(_serve, {test for one in trials for test in one.tests}),
        _lost,
        processes,
        _HANGING_SECONDS,
    )
    pool.left += [one for one in trials if one.tests]
    by_id = {one.change.id: one for one in trials}
    for result in pool.results():
        results[result.change.id] = result
        tell(result)
        if result.outcome is GenericOutcome.UNRELIABLE and not result.detail:
            pool.left.insert(0, Confirmation(result))
        if result.doubted:
            pool.left.insert(0, replace(by_id[result.change.id], again=True))
    return [results[one.change.id] for one in trials]


def trial_of(change: Change, survey: Survey) -> Trial:
    """Return a change with all the tests that execute it."""
    reaching = survey.reaching(change)
    return Trial(
        change,
        tuple(one.test for one in reaching),
        tuple(one.passed for one in reaching),
        survey.seldom(change, reaching),
    )


def _lost(task: Task, why: str) -> Result:
    if isinstance(task, Confirmation):
        return replace(task.result, detail=why)
    return Result(task.change, GenericOutcome.HUNG, reaching=len(task.tests), detail=why)


def _serve(
    tests: set[str],
    tasks: Iterator[Task],
    answer: Callable[[Answer[Result]], None],
) -> None:
    """Answer tasks in this process."""
    host(
        lambda service: _Loop(service, tasks, answer),
        timing=TIMING,
        modules=modules_with(tests),
    )


class _Loop(Server[Task, Result]):
    """The pytest plugin that tries changes where pytest would run the tests."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._suite = session.config.stash[SESSION]
        self._suite.reports = False
        self._tests = {item.nodeid: item for item in session.items}
        self._swap = Swap(self._service, app_of(self._service).router)
        for task in self._tasks:
            if isinstance(task, Confirmation):
                self._answer(Answer(self._confirmed(task.result)))
                continue
            started = time.perf_counter()
            result = self._tried(task)
            if result.outcome is GenericOutcome.KILLED and not self._passes(result):
                # Either the test is not to be relied on, or the service has not recovered.
                result = replace(result, outcome=GenericOutcome.UNRELIABLE)
            is_broken = result.outcome is GenericOutcome.UNRELIABLE or self._stays_silent(
                task, result
            )
            result = replace(
                result,
                seconds=round(time.perf_counter() - started, 2),
                doubted=is_broken and bool(result.silenced_by) and not task.again,
            )
            self._answer(Answer(result, is_broken))
        return True

    def _stays_silent(self, trial: Trial, result: Result) -> bool:
        """Return whether a test that decided nothing under a change does so without it, too."""
        if not result.silenced_by:
            return False
        passed = trial.passed[trial.tests.index(result.silenced_by)]
        outcomes = outcomes_of(self._tests[result.silenced_by], self._suite)
        return any(outcomes.get(name) in _UNDECIDED for name in passed)

    def _tried(self, trial: Trial) -> Result:
        """Run the tests of a trial under its change until a requirement fails."""
        silenced: set[str] = set()
        warned: set[str] = set()
        met, silenced_by = 0, ""

        def result(outcome: GenericOutcome, requirements: set[str], killed_by: str = "") -> Result:
            names = tuple(sorted(requirements))
            return Result(
                *(trial.change, outcome, killed_by, names, met, len(trial.tests)),
                silenced_by="" if killed_by else silenced_by,
            )

        if unknown := [test for test in trial.tests if test not in self._tests]:
            detail = f"there is no test {unknown[0]}"
            return Result(trial.change, GenericOutcome.UNUSABLE, detail=detail)
        try:
            self._swap.put(trial.change)
            for test, passed in self._nearest(trial):
                outcomes = outcomes_of(self._tests[test], self._suite)
                met += 1
                failed = {name for name in outcomes if outcomes[name] is Outcome.FAILED}
                if broken := {name for name in failed if catalogue()[name].level is Level.MUST}:
                    return result(GenericOutcome.KILLED, broken, test)
                warned |= failed
                undecided = {name for name in outcomes if outcomes[name] in _UNDECIDED} & passed
                silenced_by = silenced_by or (test if undecided else "")
                silenced |= undecided
        except Unusable as error:
            return replace(result(GenericOutcome.UNUSABLE, set()), detail=str(error))
        finally:
            self._swap.take_back()
            self._service.reset()
            self._suite.connection.forget()
        if warned:
            return result(GenericOutcome.WARNED, warned)
        if silenced:
            return result(GenericOutcome.SILENCED, silenced)
        return result(GenericOutcome.SURVIVED, set())

    def _nearest(self, trial: Trial) -> list[tuple[str, frozenset[str]]]:
        """Return the tests that a trial meets.

        First come those that seldom lines lead to, then those that speak of what is changed.
        """
        own = words_of(f"{trial.change.lines} {trial.change.name}")
        words = {test: self._words(test) for test in trial.tests}
        distance = distances(words, own, words_of(f"{trial.change.diff} {trial.change.before}"))
        tests = zip(trial.tests, trial.passed, strict=True)
        return sorted(
            _taken_in_turn(tests),
            key=lambda test: (test[0] not in trial.seldom, distance[test[0]]),
        )[:MAX_TESTS]

    @cache  # noqa: B019 - lives as long as the process
    def _words(self, test: str) -> frozenset[str]:
        return words_of_test(self._tests[test])

    def _passes(self, result: Result) -> bool:
        """Return whether the killing test finds nothing amiss on the restored reference."""
        outcomes = outcomes_of(self._tests[result.killed_by], self._suite)
        return not {Outcome.FAILED, Outcome.INCONCLUSIVE} & set(outcomes.values())

    def _confirmed(self, result: Result) -> Result:
        if self._passes(result):
            return replace(result, outcome=GenericOutcome.KILLED, detail="the service stays broken")
        return replace(result, detail="on a fresh service too")


def _taken_in_turn(
    tests: Iterable[tuple[str, frozenset[str]]],
) -> list[tuple[str, frozenset[str]]]:
    """Return tests so that each module has its first before any has its second.

    Those of one module often do the same.
    """
    places: Counter[str] = Counter()
    order = {}
    for test in tests:
        module = test[0].partition("::")[0]
        order[test] = places[module]
        places[module] += 1
    return sorted(order, key=lambda test: order[test])


def app_of(service: Service) -> Starlette:
    """Return the application of a running service."""
    return next(
        value
        for value in gc.get_objects()
        if isinstance(value, Starlette) and getattr(value.state, "service", None) is service
    )
