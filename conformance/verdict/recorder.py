"""Collects the decisions of one test while it runs."""

from __future__ import annotations

import contextlib
import threading
import traceback
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from conformance.contract.difference import Difference, Kind
from conformance.verdict.assertions import told
from conformance.verdict.decisions import (
    NO_FACTS,
    Broken,
    Decision,
    Facts,
    HarnessError,
    Outcome,
    Reason,
    Unmet,
)

_RANK = {
    Outcome.PASSED: 0,
    Outcome.NOT_EXERCISED: 1,
    Outcome.INCONCLUSIVE: 2,
    Outcome.FAILED: 3,
}


UNREADABLE = (
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    StopIteration,
    TypeError,
    ValueError,
)
"""What a check raises when it reads a message that is not as the document says."""


class ChecksFailed(AssertionError):
    """Some checks of a test that decides several requirements failed; it carries them all."""

    def __init__(self, failures: list[Decision]) -> None:
        super().__init__(
            "\n\n".join(f"{failure.requirement}: {failure.detail}" for failure in failures)
        )


@dataclass
class Recorder:
    """The decisions of one test.

    ``named`` are the requirements that the test's markers name; ``test`` is its node id. The
    worst outcome of several checks of one requirement within the test counts. ``answers`` is how
    many requests of the test were answered.
    """

    test: str
    named: tuple[str, ...]
    decisions: dict[str, Decision] = field(default_factory=dict)
    exchanges: list[str] = field(default_factory=list)
    answers: int = 0
    latest: Difference = field(default_factory=lambda: Difference(Kind.CHECK))
    """What a failed check that says no more is grouped by: the latest answer, but for its place."""
    # Webhooks are judged in the threads that take them.
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def decide(
        self,
        requirement: str,
        outcome: Outcome,
        detail: str = "",
        reason: Reason | None = None,
        facts: Facts = NO_FACTS,
    ) -> None:
        """Note what a check found; a worse outcome replaces a better one."""
        with self._lock:
            known = self.decisions.get(requirement)
            if known is None or _RANK[outcome] > _RANK[known.outcome]:
                chain = self._chain(facts.exchange)
                self.decisions[requirement] = Decision(
                    requirement, outcome, self.test, reason, detail, chain, facts
                )

    def _chain(self, last: str) -> tuple[str, ...]:
        """Return the exchanges of the test up to a number; all of them where it is none."""
        end = self.exchanges.index(last) + 1 if last in self.exchanges else None
        return tuple(self.exchanges[:end])

    @contextlib.contextmanager
    def check(self, *requirements: str) -> Iterator[None]:
        """Decide ``requirements`` by the assertions in the block, and go on after a failure.

        Raises:
            HarnessError: an id is not named by the test's ``@requirement``, so that the plan
                would not know of it.
        """
        for requirement in requirements:
            if requirement not in self.named:
                raise HarnessError(f"{requirement} is checked here but not named by @requirement")
        try:
            yield
        except (AssertionError, Unmet, *UNREADABLE) as error:
            self.decide_by(error, *requirements)
        else:
            for requirement in requirements:
                self.decide(requirement, Outcome.PASSED)

    def decide_by(self, error: BaseException, *requirements: str) -> None:
        """Decide requirements by the exception that ended their check."""
        self._fail_broken(error)
        outcome, reason, detail = self.meaning(error)
        for requirement in requirements:
            self.decide(requirement, outcome, detail, reason, self._facts(error))

    def _facts(self, error: BaseException | None) -> Facts:
        """Return what the end of a check says as data, with what it differs in if it failed."""
        facts = facts_of(error)
        if facts.difference is not None or not isinstance(error, AssertionError):
            return facts
        return replace(facts, difference=replace(self.latest, place=_function(error)))

    def _fail_broken(self, error: BaseException | None) -> None:
        """Fail what the answer to a step before a check breaks."""
        for requirement in error.breaks if isinstance(error, Unmet) else ():
            self.decide(requirement, Outcome.FAILED, str(error), None, facts_of(error))

    def conclude(self, error: BaseException | None) -> None:
        """Decide what the end of the test decides.

        A test of one requirement decides it by its own outcome. In a test of several, each must
        have been decided by a check of its own or by the judge; an assertion outside of any
        check leaves the rest inconclusive.
        """
        self._fail_broken(error)
        outcome, reason, detail = self.meaning(error)
        if len(self.named) == 1:
            self.decide(self.named[0], outcome, detail, reason, self._facts(error))
            return
        for requirement in self.undecided():
            if error is None:
                self.decide(
                    requirement,
                    Outcome.INCONCLUSIVE,
                    "nothing in the test decided it",
                    Reason.NOT_REACHED,
                )
            elif outcome is Outcome.FAILED:
                self.decide(requirement, Outcome.INCONCLUSIVE, detail, Reason.PRECONDITION)
            else:
                self.decide(requirement, outcome, detail, reason, facts_of(error))

    def abort(self, error: BaseException) -> None:
        """Leave open what the test names, because its set-up or tear-down broke.

        What failed stays failed.
        """
        self._fail_broken(error)
        outcome, reason, detail = self.meaning(error)
        if outcome is Outcome.FAILED:
            outcome, reason = Outcome.INCONCLUSIVE, Reason.PRECONDITION
        for requirement in self.named:
            self.decide(requirement, outcome, detail, reason, facts_of(error))

    def undecided(self) -> Iterable[str]:
        """Return the named requirements without a decision so far."""
        return [name for name in self.named if name not in self.decisions]

    def exercised(self) -> Iterable[str]:
        """Return the named requirements but for those that the target does not offer."""
        decided = self.decisions
        return [
            name
            for name in self.named
            if name not in decided or decided[name].outcome is not Outcome.NOT_EXERCISED
        ]

    def failures(self) -> list[Decision]:
        """Return the failed decisions, those of requirements that the test does not name too."""
        # A copy, as a webhook that is just being judged may add one.
        return [d for d in list(self.decisions.values()) if d.outcome is Outcome.FAILED]

    def meaning(self, error: BaseException | None) -> tuple[Outcome, Reason | None, str]:
        """Return what the end of a check means: outcome, reason and message."""
        if error is None:
            return Outcome.PASSED, None, ""
        if isinstance(error, Unmet):
            return error.outcome, error.reason, str(error)
        if isinstance(error, AssertionError):
            return Outcome.FAILED, None, told(error)
        detail = f"{type(error).__name__}: {error}{_place(error)}"
        if failures := self.failures():
            # It stumbled over a message that is known to be wrong.
            detail = f"{detail}, after {failures[0].requirement} failed: {failures[0].detail}"
            return Outcome.INCONCLUSIVE, Reason.PRECONDITION, detail
        reason = Reason.UNREADABLE if isinstance(error, UNREADABLE) else Reason.HARNESS
        return Outcome.INCONCLUSIVE, reason, detail


def facts_of(error: BaseException | None) -> Facts:
    """Return what the end of a check says as data."""
    return error.facts if isinstance(error, Unmet | Broken) else NO_FACTS


def _function(error: BaseException) -> str:
    """Return the function that raised an exception: ``test_quotes.test_an_expired_quote``."""
    frames = traceback.extract_tb(error.__traceback__)
    return f"{Path(frames[-1].filename).stem}.{frames[-1].name}" if frames else ""


def _place(error: BaseException) -> str:
    """Return where an exception was raised, for a message."""
    frames = traceback.extract_tb(error.__traceback__)
    return f" ({Path(frames[-1].filename).name}:{frames[-1].lineno})" if frames else ""
