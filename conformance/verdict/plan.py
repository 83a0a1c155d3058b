"""The plan of a run and its accounting: what was going to be decided, and what was."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from conformance.contract.catalogue import Catalogue, Level, Requirement
from conformance.verdict.decisions import Decision, Outcome, Reason


class RequirementVerdict(StrEnum):
    """The verdict on one requirement."""

    PASSED = "passed"
    FAILED = "failed"
    WARNED = "warned"
    INCONCLUSIVE = "inconclusive"
    NOT_EXERCISED = "not exercised"
    UNTESTABLE = "untestable"


class TargetVerdict(StrEnum):
    """The verdict on the whole target."""

    CONFORMANT = "conformant"
    NOT_CONFORMANT = "not conformant"
    INCONCLUSIVE = "inconclusive"


DECIDED = frozenset(
    {RequirementVerdict.PASSED, RequirementVerdict.FAILED, RequirementVerdict.WARNED}
)


@dataclass(frozen=True, slots=True)
class Planned:
    """What a run intends for one requirement.

    ``tests`` are the selected tests that name it. ``reason`` says why none will decide it.
    """

    requirement: Requirement
    tests: tuple[str, ...]
    reason: Reason | None = None
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Conclusion:
    """The verdict on one requirement, with the decisions that it follows from."""

    requirement: Requirement
    verdict: RequirementVerdict
    reason: Reason | None
    detail: str
    decisions: tuple[Decision, ...] = ()
    missing: tuple[str, ...] = ()
    """The triggers and features that the profile would have to offer, where a check told them."""
    selected: bool = True
    """Whether a test of the run names it, where a client can test it at all."""


class Plan:
    """What a run is going to check, known before it starts.

    Args:
        catalogue: all requirements.
        named: for each requirement the tests of the suite that name it.
        selected: the tests that the run will carry out.
        unmet: tells which reason, if any, keeps the target from deciding a requirement.
    """

    def __init__(
        self,
        catalogue: Catalogue,
        named: Mapping[str, Collection[str]],
        selected: Collection[str],
        unmet: Callable[[Requirement], tuple[Reason, str] | None],
    ) -> None:
        chosen = set(selected)
        self.entries: dict[str, Planned] = {}
        for requirement in catalogue.values():
            tests = tuple(test for test in named.get(requirement.id, ()) if test in chosen)
            reason: tuple[Reason, str] | None = None
            if requirement.untestable is None:
                if not named.get(requirement.id):
                    reason = (Reason.NO_CHECK, "")
                elif not tests:
                    reason = (Reason.DESELECTED, "")
                else:
                    reason = unmet(requirement)
            self.entries[requirement.id] = Planned(requirement, tests, *(reason or (None, "")))

    def to_decide(self) -> list[str]:
        """Return the requirements that the run is going to decide."""
        return [
            name
            for name, entry in self.entries.items()
            if entry.reason is None and entry.requirement.untestable is None
        ]


@dataclass
class Accounting:
    """Takes in the decisions of a run and concludes on each requirement of its plan.

    ``ended`` are the tests that came to their end. A test that did not may have been about to
    find a requirement broken, whatever others found out about it.
    """

    plan: Plan
    ended: Collection[str]
    decisions: dict[str, list[Decision]] = field(default_factory=lambda: defaultdict(list))

    def add(self, decisions: Iterable[Decision]) -> None:
        """Take in decisions."""
        for decision in decisions:
            self.decisions[decision.requirement].append(decision)

    def conclude(self) -> list[Conclusion]:
        """Return the verdict on each requirement, in the order of the catalogue."""
        return [
            _conclude(entry, self.decisions.get(name, []), self.ended)
            for name, entry in self.plan.entries.items()
        ]


def target_verdict(conclusions: Iterable[Conclusion]) -> TargetVerdict:
    """Return the verdict on the target.

    One broken MUST makes it not conformant. It is conformant only when something was decided and
    nothing that could have been decided was left open; a requirement whose feature or trigger the
    profile does not offer counts as neither. A target that only safe methods may be sent to was
    hardly looked at, and gets no verdict.
    """
    seen = list(conclusions)
    if any(conclusion.verdict is RequirementVerdict.FAILED for conclusion in seen):
        return TargetVerdict.NOT_CONFORMANT
    decided = any(conclusion.verdict in DECIDED for conclusion in seen)
    left_open = any(
        conclusion.verdict is RequirementVerdict.INCONCLUSIVE
        or conclusion.reason is Reason.READ_ONLY
        for conclusion in seen
    )
    return TargetVerdict.CONFORMANT if decided and not left_open else TargetVerdict.INCONCLUSIVE


_OUTSIDE = frozenset({Reason.DESELECTED, Reason.NO_CHECK})
_OFFERED = frozenset(
    {
        Reason.TRIGGER_MISSING,
        Reason.FEATURE_UNDECLARED,
        Reason.RESOURCE_MISSING,
        Reason.IRREVERSIBLE,
    }
)


def _conclude(entry: Planned, decisions: list[Decision], ended: Collection[str]) -> Conclusion:
    requirement = entry.requirement
    if entry.reason is Reason.FEATURE_UNDECLARED:
        # Whatever the target showed of it by the way, it does not claim to offer it.
        decisions = [decision for decision in decisions if decision.outcome is Outcome.FAILED]
    by_outcome: dict[Outcome, list[Decision]] = defaultdict(list)
    for decision in decisions:
        by_outcome[decision.outcome].append(decision)

    def conclusion(
        verdict: RequirementVerdict,
        reason: Reason | None = None,
        detail: str = "",
        missing: tuple[str, ...] = (),
    ) -> Conclusion:
        selected = entry.reason not in _OUTSIDE
        return Conclusion(requirement, verdict, reason, detail, tuple(decisions), missing, selected)

    if failed := by_outcome[Outcome.FAILED]:
        broken = (
            RequirementVerdict.FAILED
            if requirement.level is Level.MUST
            else RequirementVerdict.WARNED
        )
        return conclusion(broken, None, failed[0].detail)
    if requirement.untestable is not None:
        return conclusion(RequirementVerdict.UNTESTABLE, None, requirement.untestable)
    if unclear := [*by_outcome[Outcome.INCONCLUSIVE], *_lost(entry, ended)]:
        first = unclear[0]
        return conclusion(
            RequirementVerdict.INCONCLUSIVE, first.reason, first.detail, first.facts.missing
        )
    if by_outcome[Outcome.PASSED]:
        return conclusion(RequirementVerdict.PASSED)
    if missing := by_outcome[Outcome.NOT_EXERCISED]:
        first = missing[0]
        return conclusion(
            RequirementVerdict.NOT_EXERCISED, first.reason, first.detail, first.facts.missing
        )
    reason = entry.reason or Reason.LOST
    verdict = (
        RequirementVerdict.NOT_EXERCISED if reason in _OFFERED else RequirementVerdict.INCONCLUSIVE
    )
    return conclusion(verdict, reason, entry.detail)


def _lost(entry: Planned, ended: Collection[str]) -> Iterator[Decision]:
    """Yield what tests leave open that were going to decide a requirement and came to no end."""
    for test in entry.tests if entry.reason is None else ():
        if test not in ended:
            yield Decision(
                entry.requirement.id,
                Outcome.INCONCLUSIVE,
                test,
                Reason.LOST,
                f"{test} came to no end",
            )
