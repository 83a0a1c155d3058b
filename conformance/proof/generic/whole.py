"""Runs the whole selection under a mutant: does a broken reference end a run red?

A mutant that its own tests kill may still leave a run inconclusive, where other tests meet the
break first, or silence many requirements. So for a sample of mutants, aimed and generic, the run's
verdict is what its accounting says of every test. Those that do not come to what is broken are not
run again: they decide what the survey saw them decide.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pytest

from conformance.contract.catalogue import Level, catalogue
from conformance.plugin import SESSION, USUAL_EXAMPLES
from conformance.proof.generic.changes import Change, sampled
from conformance.proof.generic.executed import surveyed
from conformance.proof.generic.runner import TIMING, app_of
from conformance.proof.generic.swap import Swap
from conformance.proof.generic.workers import Answer, Pool, Server
from conformance.proof.host import decisions_of, host
from conformance.proof.mutation import load
from conformance.proof.patch import MutantError, Patch
from conformance.proof.reach import Survey, places_of, survey
from conformance.reference.service import Service
from conformance.verdict.plan import (
    Accounting,
    Conclusion,
    RequirementVerdict,
    TargetVerdict,
    target_verdict,
)

MANY_SILENCED = 20
"""More requirements than this that a mutant silences, and it is named."""

_MAX_SECONDS = 3600.0

Subject = Change | str
"""What is put into the reference: a change, or an aimed mutant by its id."""


@dataclass(frozen=True, slots=True)
class WholeRun:
    """What a whole run says about a broken reference; ``detail`` where it says nothing.

    The reference as it is leaves nothing undecided and nothing unexercised.
    """

    id: str
    verdict: TargetVerdict | None
    failed: tuple[str, ...] = ()
    inconclusive: tuple[str, ...] = ()
    unexercised: tuple[str, ...] = ()
    seconds: float = 0.0
    detail: str = ""

    @property
    def silenced(self) -> tuple[str, ...]:
        """The requirements that the break keeps from being decided."""
        return self.inconclusive + self.unexercised

    @property
    def is_killed(self) -> bool:
        """Whether the run ended red."""
        return self.verdict is TargetVerdict.NOT_CONFORMANT


def subjects(count: int, seed: int) -> list[Subject]:
    """Return mutants drawn by chance, half of them aimed and half of them generic.

    What breaks a recommendation alone is not among the aimed ones, as it ends no run red.
    """
    chance = random.Random(seed)  # noqa: S311 - no secret
    broken = [one.id for one in load() if catalogue()[one.requirement].level is Level.MUST]
    aimed = chance.sample(sorted(broken), count // 2)
    return [*aimed, *sampled(count - len(aimed), seed)]


def run_whole(chosen: Sequence[Subject], processes: int) -> Iterator[WholeRun]:
    """Yield what the whole run says under each mutant, as the runs end."""
    executed = surveyed(processes)
    seen = survey(processes, fuzz_examples=USUAL_EXAMPLES)
    aimed = {mutant.id: mutant for mutant in load()}

    def task(subject: Subject) -> _Task:
        if isinstance(subject, str):
            reaching = [one.test for one in seen.reaching(places_of(aimed[subject].patch))]
        else:
            reaching = [one.test for one in executed.reaching(subject)]
        return _Task(subject, frozenset(reaching))

    pool: Pool[_Task, WholeRun] = Pool(
        partial(_serve, seen), _lost, min(processes, len(chosen)), _MAX_SECONDS
    )
    pool.left += [task(subject) for subject in chosen]
    yield from pool.results()


@dataclass(frozen=True, slots=True)
class _Task:
    """A mutant and the tests that come to what it breaks."""

    subject: Subject
    reaching: frozenset[str]


def _lost(task: _Task, why: str) -> WholeRun:
    return WholeRun(_id_of(task.subject), None, detail=why)


def _id_of(subject: Subject) -> str:
    return subject if isinstance(subject, str) else subject.id


def _serve(
    seen: Survey, tasks: Iterator[_Task], answer: Callable[[Answer[WholeRun]], None]
) -> None:
    """Run the tests of each task under its mutant in this process."""
    host(
        lambda service: _Loop(service, tasks, answer, seen),
        options=[f"--fuzz-examples={USUAL_EXAMPLES}"],
        timing=TIMING,
    )


class _Loop(Server[_Task, WholeRun]):
    """The pytest plugin that runs tests under each mutant, and takes the others as seen."""

    def __init__(
        self,
        service: Service,
        tasks: Iterator[_Task],
        answer: Callable[[Answer[WholeRun]], None],
        seen: Survey,
    ) -> None:
        super().__init__(service, tasks, answer)
        self._seen = seen

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        suite = session.config.stash[SESSION]
        suite.reports = False
        swap = Swap(self._service, app_of(self._service).router)
        aimed = {mutant.id: mutant for mutant in load()}
        for task in self._tasks:
            subject = task.subject
            started = time.perf_counter()
            patch = Patch()
            accounting = Accounting(suite.plan(), {item.nodeid for item in session.items})
            try:
                if isinstance(subject, str):
                    aimed[subject].patch(patch)
                else:
                    swap.put(subject)
                for test in session.items:
                    accounting.add(
                        decisions_of(test, suite).values()
                        if test.nodeid in task.reaching
                        else self._seen.tests[test.nodeid].decisions
                    )
            except MutantError as error:
                self._answer(Answer(_lost(task, str(error))))
                continue
            finally:
                patch.revert()
                swap.take_back()
                self._service.reset()
                suite.connection.forget()
            seconds = time.perf_counter() - started
            # What it left behind must not be held against the next one.
            self._answer(Answer(_concluded(subject, accounting.conclude(), seconds), is_last=True))
        return True


def _concluded(subject: Subject, conclusions: Sequence[Conclusion], seconds: float) -> WholeRun:
    by_verdict = {
        verdict: tuple(one.requirement.id for one in conclusions if one.verdict is verdict)
        for verdict in (
            RequirementVerdict.FAILED,
            RequirementVerdict.INCONCLUSIVE,
            RequirementVerdict.NOT_EXERCISED,
        )
    }
    return WholeRun(
        _id_of(subject),
        target_verdict(conclusions),
        by_verdict[RequirementVerdict.FAILED],
        by_verdict[RequirementVerdict.INCONCLUSIVE],
        by_verdict[RequirementVerdict.NOT_EXERCISED],
        round(seconds, 1),
    )
