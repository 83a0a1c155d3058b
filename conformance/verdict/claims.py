"""What a run says about each conformance class, and how much of it was exercised."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from conformance.contract.classes import Classes, ConformanceClass
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import (
    DECIDED,
    Conclusion,
    RequirementVerdict,
    TargetVerdict,
    target_verdict,
)


class ClassVerdict(StrEnum):
    """The verdict on one conformance class."""

    CONFORMANT = "conformant"
    NOT_CONFORMANT = "not conformant"
    INCONCLUSIVE = "inconclusive"
    NOT_CLAIMED = "not claimed"


@dataclass(frozen=True, slots=True)
class Exercised:
    """How many requirements were decided, of those that the declared features leave to decide.

    A requirement that no client can test, or that needs a feature which the profile does not
    declare, counts on neither side.
    """

    decided: int
    of: int

    @property
    def percent(self) -> int:
        """The share in percent, rounded down: 100 says that nothing is missing."""
        return 100 * self.decided // self.of if self.of else 0


@dataclass(frozen=True, slots=True)
class Claim:
    """The verdict on one class. ``lacks`` are its features that the profile does not declare."""

    subject: ConformanceClass
    verdict: ClassVerdict
    exercised: Exercised
    counts: Mapping[RequirementVerdict, int]
    lacks: tuple[str, ...] = ()


def exercised(conclusions: Iterable[Conclusion]) -> Exercised:
    """Return how much was decided of what could have been."""
    counted = [
        conclusion
        for conclusion in conclusions
        if conclusion.verdict in DECIDED
        or not (
            conclusion.verdict is RequirementVerdict.UNTESTABLE
            or conclusion.reason is Reason.FEATURE_UNDECLARED
        )
    ]
    return Exercised(sum(conclusion.verdict in DECIDED for conclusion in counted), len(counted))


def verdict_on_class(members: Iterable[Conclusion]) -> TargetVerdict:
    """Return the verdict on the requirements of a class.

    It is that on a target that consists of nothing else. What the selection leaves out is open,
    also where the answers to other tests kept to it: a class may be so small that these decide it.
    """
    seen = list(members)
    verdict = target_verdict(seen)
    if verdict is TargetVerdict.CONFORMANT and not all(each.selected for each in seen):
        return TargetVerdict.INCONCLUSIVE
    return verdict


def claims(
    conclusions: Iterable[Conclusion], classes: Classes, declares: Callable[[str], bool]
) -> list[Claim]:
    """Return the verdict on each class, in the order of the list.

    A class is conformant as a target is: nothing in it is broken, something was decided, and
    nothing that the profile lets be exercised was left open. One that the profile does not claim is
    only judged where something in it is broken.

    Args:
        conclusions: the verdict on each requirement of the plan.
        classes: the classes.
        declares: tells of a feature whether the profile declares it.
    """
    members: dict[str, list[Conclusion]] = {name: [] for name in classes}
    for conclusion in conclusions:
        for name in classes.of(conclusion.requirement):
            members[name].append(conclusion)
    return [_claim(classes[name], found, declares) for name, found in members.items()]


def _claim(
    subject: ConformanceClass, members: list[Conclusion], declares: Callable[[str], bool]
) -> Claim:
    verdict = ClassVerdict(verdict_on_class(members).value)
    if verdict.value != TargetVerdict.NOT_CONFORMANT and not subject.is_claimed(declares):
        verdict = ClassVerdict.NOT_CLAIMED
    counts = Counter(conclusion.verdict for conclusion in members)
    return Claim(
        subject,
        verdict,
        exercised(members),
        {each: counts[each] for each in RequirementVerdict},
        subject.lacks(declares),
    )
