"""The gate of a run: what its exit status says, by what was asked of the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from enum import StrEnum

from conformance.contract.classes import Classes
from conformance.verdict.baseline import OUTDATED, Baseline, EntryState, states_of
from conformance.verdict.claims import exercised, verdict_on_class
from conformance.verdict.plan import Conclusion, RequirementVerdict, TargetVerdict, target_verdict


class GateResult(StrEnum):
    """What comes of a run. The first two open the gate."""

    CONFORMANT = "conformant"
    NO_NEW_FAILURE = "no new failure"
    NOT_CONFORMANT = "not conformant"
    BASELINE_OUTDATED = "baseline out of date"
    INCONCLUSIVE = "inconclusive"
    TOO_LITTLE_EXERCISED = "too little exercised"


@dataclass(frozen=True, slots=True)
class Terms:
    """What a run asks of the target.

    ``classes`` are the names of the conformance classes that decide; without any the whole does.
    ``require_exercised`` is how many percent of each, or of the whole, have to be decided.
    ``baseline`` are the failures that do not count.
    """

    classes: tuple[str, ...] = ()
    require_exercised: int = 0
    baseline: Baseline | None = None


NO_TERMS = Terms()


@dataclass(frozen=True, slots=True)
class Gate:
    """What came of a run.

    ``too_little`` are the classes of which too little was exercised, ``entries`` the states of the
    entries of the baseline by their ids, and ``new`` the failures that it does not have.
    """

    result: GateResult
    too_little: tuple[str, ...] = ()
    entries: dict[str, EntryState] = field(default_factory=dict)
    new: tuple[str, ...] = ()


def judge_gate(
    conclusions: Sequence[Conclusion], terms: Terms, classes: Classes, today: date
) -> Gate:
    """Return what comes of a run with these conclusions.

    The worst of the classes that were asked for decides, whatever else was not run. A failure that
    the baseline has is left out of the verdict, so that a run which decided nothing else stays
    inconclusive.
    """
    parts = {
        name: [each for each in conclusions if name in classes.of(each.requirement)]
        for name in terms.classes
    } or {"": list(conclusions)}
    deciding = [each for members in parts.values() for each in members]
    entries = states_of(terms.baseline.entries if terms.baseline else (), deciding, today)
    failed = [each.requirement.id for each in deciding if each.verdict is RequirementVerdict.FAILED]
    new = tuple(dict.fromkeys(name for name in failed if name not in entries))
    judge = verdict_on_class if terms.classes else target_verdict
    verdicts = {
        judge(
            each
            for each in members
            if each.verdict is not RequirementVerdict.FAILED or each.requirement.id in new
        )
        for members in parts.values()
    }
    too_little = tuple(
        name
        for name, members in parts.items()
        if exercised(members).percent < terms.require_exercised
    )
    if TargetVerdict.NOT_CONFORMANT in verdicts:
        result = GateResult.NOT_CONFORMANT
    elif OUTDATED.intersection(entries.values()):
        result = GateResult.BASELINE_OUTDATED
    elif TargetVerdict.INCONCLUSIVE in verdicts:
        result = GateResult.INCONCLUSIVE
    elif too_little:
        result = GateResult.TOO_LITTLE_EXERCISED
    else:
        result = GateResult.NO_NEW_FAILURE if failed else GateResult.CONFORMANT
    return Gate(result, tuple(filter(None, too_little)), entries, new)
