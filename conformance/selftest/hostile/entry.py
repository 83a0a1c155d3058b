"""An entry of the register: what a target does, and how a run against it has to end."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from conformance.selftest.hostile.front import Behaviour, Front
from conformance.selftest.standins import Received
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import RequirementVerdict

CONFORMANT, BROKEN, USAGE, OPEN = 0, 1, 4, 6
"""Exit statuses: conformant, not conformant, a wrong configuration, no verdict."""

UNDECIDED = (BROKEN, OPEN)
"""For targets that break, or may break, more requirements than the one of the entry."""


class RunningTarget(Protocol):
    """A running target, as a run sees it."""

    base_url: str

    @property
    def received(self) -> list[Received]:
        """The requests that the target got so far."""


Start = Callable[[str, Path], AbstractContextManager[RunningTarget]]
"""Starts a target before the reference at an origin; the path is a folder to write in."""


@dataclass(frozen=True, slots=True)
class Expected:
    """The expected result of a run.

    Attributes:
        exits: the exit statuses that are right.
        verdicts: by requirement, the verdict or the reason why there is none.
        says: texts that have to be printed or stand in the report.
        never_received: expressions that no method and path which the target got may match.
        at_most: how many requests the target may get.
        seconds: bound on the time of the run.
        mebibytes: bound on the growth of memory during the run.
        report_megabytes: bound on the size of ``report.json`` and ``report.html`` each, in MB.
        scripts: whether the scripts of the evidence are executed, to see that they run nothing
            of the target's.
    """

    exits: tuple[int, ...]
    verdicts: Mapping[
        str, RequirementVerdict | Reason | tuple[RequirementVerdict | Reason, ...]
    ] = field(default_factory=dict)
    says: tuple[str, ...] = ()
    never_received: tuple[str, ...] = ()
    at_most: int | None = None
    seconds: float = 8.0
    mebibytes: int = 160
    report_megabytes: int = 12
    scripts: bool = False

    def __str__(self) -> str:
        return "; ".join(self._words())

    def _words(self) -> list[str]:
        words = ["exit status " + " or ".join(map(str, self.exits))]
        words += [f"{name} {_either(verdict)}" for name, verdict in self.verdicts.items()]
        words += [f"says “{text}”" for text in self.says]
        words += [f"never asked for `{path}`" for path in self.never_received]
        if self.at_most is not None:
            words.append(f"at most {self.at_most} requests")
        if self.scripts:
            words.append("its scripts run nothing of the target's")
        return [*words, f"{self.seconds:g} s", f"{self.mebibytes} MiB"]


@dataclass(frozen=True, slots=True)
class Entry:
    """One hostile target, or a strange but conforming one.

    Attributes:
        name: a short name, unique in the register.
        does: a sentence on what the target does.
        start: starts the target.
        expected: how the run has to end.
        runs: the scenarios that are run, all by default; an expression of pytest's ``-k``.
        profile: parts of the profile in the place of the usual ones.
        arguments: further arguments of the run.
    """

    name: str
    does: str
    start: Start
    expected: Expected
    runs: str = ""
    profile: Mapping[str, Any] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()


def front(behaviour: Callable[[], Behaviour], **options: Any) -> Start:
    """Return what starts a front of the reference.

    Args:
        behaviour: makes the behaviour, anew for each run.
        options: further arguments of :class:`Front`.
    """
    return lambda upstream, _: Front(behaviour(), upstream, **options)


def webhook_front(behaviour: Callable[[Front], Behaviour]) -> Start:
    """Return what starts a front that changes webhooks alone."""

    def start(upstream: str, _: Path) -> Front:
        server = Front(lambda turn: turn.send(turn.answer()), upstream)
        server.delivers = behaviour(server)
        return server

    return start


def _either(verdict: RequirementVerdict | Reason | tuple[RequirementVerdict | Reason, ...]) -> str:
    if not isinstance(verdict, tuple):
        verdict = (verdict,)
    if verdict == tuple(Reason):
        return "not decided"
    return " or ".join(
        f"inconclusive ({one.value})" if isinstance(one, Reason) else one.value for one in verdict
    )
