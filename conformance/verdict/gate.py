"""The gate of a run: what its exit status says, by what was asked of the target."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from conformance.contract.classes import Classes
from conformance.verdict.claims import exercised
from conformance.verdict.plan import Conclusion, TargetVerdict, target_verdict


class GateResult(StrEnum):
    """What comes of a run. The first one opens the gate."""

    CONFORMANT = "conformant"
    NOT_CONFORMANT = "not conformant"
    INCONCLUSIVE = "inconclusive"
    TOO_LITTLE_EXERCISED = "too little exercised"


@dataclass(frozen=True, slots=True)
class Terms:
    """What a run asks of the target.

    ``classes`` are the names of the conformance classes that decide; without any the whole does.
    ``require_exercised`` is how many percent of each, or of the whole, have to be decided.
    """

    classes: tuple[str, ...] = ()
    require_exercised: int = 0


NO_TERMS = Terms()


@dataclass(frozen=True, slots=True)
class Gate:
    """What came of a run. ``too_little`` are the classes of which too little was exercised."""

    result: GateResult
    too_little: tuple[str, ...] = ()


def judge_gate(conclusions: Sequence[Conclusion], terms: Terms, classes: Classes) -> Gate:
    """Return what comes of a run with these conclusions.

    The worst of the classes that were asked for decides, whatever else was not run.
    """
    parts = {
        name: [each for each in conclusions if name in classes.of(each.requirement)]
        for name in terms.classes
    } or {"": list(conclusions)}
    verdicts = {target_verdict(members) for members in parts.values()}
    for verdict in (TargetVerdict.NOT_CONFORMANT, TargetVerdict.INCONCLUSIVE):
        if verdict in verdicts:
            return Gate(GateResult(verdict.value))
    too_little = tuple(
        name
        for name, members in parts.items()
        if exercised(members).percent < terms.require_exercised
    )
    if too_little:
        return Gate(GateResult.TOO_LITTLE_EXERCISED, tuple(filter(None, too_little)))
    return Gate(GateResult.CONFORMANT)
