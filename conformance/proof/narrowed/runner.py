"""Runs narrowed mutants against the tests that come to them in their circumstance.

One process serves many, as with generic ones. The first requirement that fails kills a mutant,
whichever it is. A mutant that made no difference to any call has not struck, and does not count.
"""

from __future__ import annotations

import inspect
import random
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import partial, wraps
from typing import Any

import pytest

from conformance.contract.catalogue import Level, catalogue
from conformance.plugin import SESSION
from conformance.proof.generic.runner import TIMING
from conformance.proof.generic.workers import Answer, Pool, Server
from conformance.proof.host import host, modules_with, outcomes_of
from conformance.proof.mutant import Mutant
from conformance.proof.mutation import load
from conformance.proof.narrowed.circumstances import requests_told
from conformance.proof.narrowed.survey import Survey, Watch
from conformance.proof.patch import Function, Holder, MutantError, NothingChanged, Patch, place_of
from conformance.reference.service import Service
from conformance.verdict.decisions import Outcome

MAX_TESTS = 150
"""How many tests one mutant meets; then it has survived."""

_HANGING_SECONDS = 900.0
_UNDECIDED = frozenset({Outcome.INCONCLUSIVE, Outcome.NOT_EXERCISED})
_DIFFERENT: Any = object()


class NarrowedOutcome(StrEnum):
    """What became of a narrowed mutant."""

    KILLED = "killed"
    SURVIVED = "survived"
    SILENCED = "silenced"
    WARNED = "warned"
    SPARED = "never struck"
    LOST = "lost"


@dataclass(frozen=True, slots=True)
class Trial:
    """A mutant, its circumstance, and the tests that it meets in this order."""

    mutant: str
    circumstance: str
    tests: tuple[str, ...]
    passed: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a narrowed mutant.

    ``requirements`` are those that failed, or were not decided any more; ``strikes`` says how often
    it made a difference to a call, in ``met`` tests.
    """

    mutant: str
    circumstance: str
    outcome: NarrowedOutcome
    requirements: tuple[str, ...] = ()
    killed_by: str = ""
    strikes: int = 0
    met: int = 0
    seconds: float = 0.0
    detail: str = ""


class NarrowPatch(Patch):
    """Changes functions of the reference for the calls in one circumstance alone.

    Args:
        circumstance: the circumstance.
        watch: tells the circumstances of a call.
        names: each place of the reference by all names that it has.
    """

    def __init__(self, circumstance: str, watch: Watch, names: Mapping[str, str]) -> None:
        super().__init__()
        self._circumstance = circumstance
        self._watch = watch
        self._names = names
        self.strikes = 0

    def put(self, holder: Holder, name: str, value: Any) -> None:
        """Put ``value`` in the place of a function, for the calls in the circumstance.

        Raises:
            NoSuchTarget: the holder has no such attribute.
            NothingChanged: it is no function, so that nothing can be narrowed.
        """
        old = getattr(holder, name, None)
        place = place_of(holder, name)
        if not inspect.isroutine(old) or not inspect.isroutine(value):
            raise NothingChanged(f"{place} is no function, and cannot be narrowed")
        place = self._names.get(place, place)

        @wraps(old)
        def narrowed(*arguments: Any, **named: Any) -> Any:
            given = [*arguments, *named.values()]
            if self._circumstance not in self._watch.of(place, given):
                return old(*arguments, **named)
            self.strikes += 1
            return value(*arguments, **named)

        super().put(holder, name, narrowed)

    def replace(self, holder: Holder, name: str, value: Any) -> None:
        """Put ``value`` in the place of a function, for the calls in the circumstance.

        Where both say the same, yes or no, it makes no difference.

        Raises:
            NoSuchTarget: the holder has no such attribute.
            NothingChanged: it is no function, so that nothing can be narrowed.
        """
        old = getattr(holder, name, None)

        def comparing(*arguments: Any, **named: Any) -> Any:
            result = value(*arguments, **named)
            # What only answers a question changes nothing by being asked twice.
            if isinstance(result, bool) and callable(old):
                self.strikes -= result is old(*arguments, **named)
            return result

        super().replace(holder, name, comparing if inspect.isroutine(value) else value)

    def row(self, holder: Holder, name: str, key: Any, value: Any) -> None:  # noqa: ARG002 - as the base
        """Refuse to change a row, as whoever reads it does so in all circumstances."""
        raise NothingChanged(f"{place_of(holder, name)} is a table, and cannot be narrowed")

    def drop(self, holder: Holder, name: str, key: Any) -> None:  # noqa: ARG002 - as the base
        """Refuse to take out a row, as whoever reads it does so in all circumstances."""
        raise NothingChanged(f"{place_of(holder, name)} is a table, and cannot be narrowed")

    def wrap(self, holder: Holder, name: str, function: Function) -> None:
        """Have ``function`` called in the place of another, for the calls in the circumstance.

        Where it does no more than to call that other once and to hand on its result, it makes no
        difference, and has not struck.
        """

        def noticing(original: Function, *arguments: Any, **named: Any) -> Any:
            seen: list[Any] = []

            def called(*others: Any, **more: Any) -> Any:
                same = (others, more) == (arguments, named)
                try:
                    result = original(*others, **more)
                except Exception as error:
                    seen.append(error if same else _DIFFERENT)
                    raise
                seen.append(result if same else _DIFFERENT)
                return result

            try:
                result = function(called, *arguments, **named)
            except Exception as error:
                self.strikes -= seen == [error]
                raise
            self.strikes -= seen == [result]
            return result

        super().wrap(holder, name, noticing)


def trials(survey: Survey, count: int, seed: int, only: Iterable[str] = ()) -> list[Trial]:
    """Return narrowed mutants drawn by chance, each with the tests that it meets.

    What breaks a recommendation alone is not among them, as it ends no run red.

    Args:
        survey: what every test does.
        count: how many, of each circumstance as many as of any other.
        seed: which are drawn.
        only: circumstances, requirements or mutants; all of them without it.
    """
    wanted = set(only)
    chance = random.Random(seed)  # noqa: S311 - no secret
    pairs: dict[str, list[tuple[Mutant, frozenset[str]]]] = {}
    for mutant in load():
        if catalogue()[mutant.requirement].level is not Level.MUST:
            continue
        places = _functions(mutant, survey)
        for circumstance in sorted({found for _, found in survey.tests}):
            tests = frozenset().union(
                *(survey.tests.get((place, circumstance), frozenset()) for place in places)
            )
            names = {circumstance, mutant.id, mutant.requirement}
            if tests and (not wanted or wanted & names):
                pairs.setdefault(circumstance, []).append((mutant, tests))
    chosen: list[Trial] = []
    while len(chosen) < count and any(pairs.values()):
        for circumstance, left in pairs.items():
            if left and len(chosen) < count:
                mutant, tests = left.pop(chance.randrange(len(left)))
                chosen.append(_trial(mutant, circumstance, tests, survey))
    return chosen


def _functions(mutant: Mutant, survey: Survey) -> set[str]:
    """Return the functions that a mutant changes; none where it changes anything else."""
    patch = NarrowPatch("", Watch(), survey.names)
    try:
        mutant.patch(patch)
    except MutantError:
        return set()
    finally:
        patch.revert()
    return {survey.names.get(place, place) for place in patch.places}


def _trial(mutant: Mutant, circumstance: str, tests: frozenset[str], survey: Survey) -> Trial:
    area = mutant.module.split(".")[3]

    def distance(test: str) -> tuple[bool, bool, int, str]:
        is_own = mutant.requirement in survey.passed[test]
        return not is_own, f"/{area}/" not in test, survey.breadth[test], test

    nearest = tuple(sorted(tests, key=distance)[:MAX_TESTS])
    return Trial(mutant.id, circumstance, nearest, {one: survey.passed[one] for one in nearest})


def measure(chosen: Sequence[Trial], names: Mapping[str, str], processes: int) -> Iterator[Result]:
    """Try narrowed mutants, spread over processes, and yield what became of each as it is known."""
    modules = {test for one in chosen for test in one.tests}
    pool: Pool[Trial, Result] = Pool(
        partial(_serve, modules, names), _lost, processes, _HANGING_SECONDS
    )
    pool.left += chosen
    yield from pool.results()


def _lost(trial: Trial, why: str) -> Result:
    return Result(trial.mutant, trial.circumstance, NarrowedOutcome.LOST, detail=why)


def _serve(
    tests: set[str],
    names: Mapping[str, str],
    tasks: Iterator[Trial],
    answer: Callable[[Answer[Result]], None],
) -> None:
    """Answer tasks in this process."""
    host(
        lambda service: _Loop(service, tasks, answer, names),
        timing=TIMING,
        modules=modules_with(tests),
    )


class _Loop(Server[Trial, Result]):
    """The pytest plugin that tries narrowed mutants where pytest would run the tests."""

    def __init__(
        self,
        service: Service,
        tasks: Iterator[Trial],
        answer: Callable[[Answer[Result]], None],
        names: Mapping[str, str],
    ) -> None:
        super().__init__(service, tasks, answer)
        self._names = names
        self._watch = Watch()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._suite = session.config.stash[SESSION]
        self._suite.reports = False
        self._tests = {item.nodeid: item for item in session.items}
        self._mutants = {mutant.id: mutant for mutant in load()}
        with requests_told(self._service):
            for trial in self._tasks:
                self._answer(Answer(self._tried(trial)))
        return True

    def _tried(self, trial: Trial) -> Result:
        """Run the tests of a trial under its mutant until a requirement fails."""
        patch = NarrowPatch(trial.circumstance, self._watch, self._names)
        started = time.perf_counter()
        warned: set[str] = set()
        silenced: set[str] = set()
        met = 0

        def result(outcome: NarrowedOutcome, requirements: set[str], by: str = "") -> Result:
            return Result(
                trial.mutant,
                trial.circumstance,
                outcome,
                tuple(sorted(requirements)),
                by,
                patch.strikes,
                met,
                round(time.perf_counter() - started, 1),
            )

        try:
            self._mutants[trial.mutant].patch(patch)
            for test in trial.tests:
                outcomes = outcomes_of(self._tests[test], self._suite)
                met += 1
                failed = {name for name in outcomes if outcomes[name] is Outcome.FAILED}
                if broken := {name for name in failed if catalogue()[name].level is Level.MUST}:
                    return result(NarrowedOutcome.KILLED, broken, test)
                warned |= failed
                undecided = {name for name in outcomes if outcomes[name] in _UNDECIDED}
                silenced |= undecided & trial.passed[test]
        finally:
            patch.revert()
            self._watch.circumstances.forget()
            self._service.reset()
            self._suite.connection.forget()
        if not patch.strikes:
            return result(NarrowedOutcome.SPARED, set())
        if warned:
            return result(NarrowedOutcome.WARNED, warned)
        if silenced:
            return result(NarrowedOutcome.SILENCED, silenced)
        return result(NarrowedOutcome.SURVIVED, set())
