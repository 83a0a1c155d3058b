"""What the page and the terminal say alike: the verdict in a sentence, open rules by reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass

from conformance.reporting.report import Entry, Report
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import DECIDED, RequirementVerdict, TargetVerdict

ADVICE: Mapping[Reason, str] = {
    Reason.PRECONDITION: "A step that arranges the check was refused. Read the transcript and mend "
    "that step first, in the target or in the profile.",
    Reason.TWIN_REFUSED: "The same request without the fault has to be accepted. See in the "
    "transcript why it was not.",
    Reason.TRIGGER_FAILED: "Look at how the profile maps the trigger: what it should bring about "
    "was not seen.",
    Reason.TARGET_LOST: "See whether the target is up and can be reached, and run again.",
    Reason.BUDGET_SPENT: "Raise the budget in the profile, or select fewer tests.",
    Reason.NOT_RECORDED: "The suite that recorded the run sent other requests. Run against the "
    "target itself to decide {these}.",
    Reason.NOT_REACHED: "Mend what ended the check early, and run again.",
    Reason.UNREADABLE: (
        "A message lacks what the check reads, or has it in another form. See the transcript."
    ),
    Reason.HARNESS: "A mistake of the suite, not of the target. Report it with the transcript.",
    Reason.LOST: "The run ended early or a worker was lost. Run again.",
    Reason.TRIGGER_MISSING: "Map {missing} in the profile to exercise {these}.",
    Reason.FEATURE_UNDECLARED: "Declare {missing} under features in the profile to exercise "
    "{these}, if the implementation offers it.",
    Reason.RESOURCE_MISSING: "Offer on the target, or name under resources in the profile, what "
    "the check asks for.",
    Reason.READ_ONLY: "If the target moves no real money, say environment: sandbox in the profile.",
    Reason.IRREVERSIBLE: "Say irreversible.account_numbers: true in the profile to exercise "
    "{these}, if it does no harm that the account numbers stay on the target for good.",
    Reason.DESELECTED: "Run without the selection to decide {these}.",
    Reason.NO_CHECK: "Run the whole suite to decide {these}. What stays is not checked by it yet.",
}
"""What to do about an open requirement, the most pressing reason first."""


@dataclass(frozen=True, slots=True)
class Group:
    """Requirements that are open for one reason, and for want of the same things."""

    reason: Reason
    missing: tuple[str, ...]
    entries: tuple[Entry, ...]

    @property
    def advice(self) -> str:
        """What to do to get verdicts on them."""
        number = len(self.entries)
        return ADVICE[self.reason].format(
            missing=" and ".join(_in_profile(name) for name in self.missing)
            or "what the check names",
            these="this one" if number == 1 else f"these {number}",
        )


def groups(report: Report, verdict: RequirementVerdict) -> list[Group]:
    """Return the requirements with an open verdict by reason, the most pressing reason first."""
    found: dict[tuple[Reason, tuple[str, ...]], list[Entry]] = defaultdict(list)
    for entry in report.of(verdict):
        if entry.reason is not None:
            found[entry.reason, entry.missing].append(entry)
    urgency = list(ADVICE)
    return sorted(
        (Group(reason, missing, tuple(entries)) for (reason, missing), entries in found.items()),
        key=lambda group: (urgency.index(group.reason), -len(group.entries), group.missing),
    )


def headline(report: Report) -> str:
    """Return the verdict on the target in one sentence."""
    tally = report.tally()
    target = " ".join(filter(None, (report.run.implementation, report.run.implementation_version)))
    decided = sum(tally[verdict] for verdict in DECIDED)
    if report.verdict is TargetVerdict.NOT_CONFORMANT:
        broken = _count(tally[RequirementVerdict.FAILED], "requirement")
        return f"{target} is not conformant: it breaks {broken} of the {decided} decided."
    warned = tally[RequirementVerdict.WARNED]
    aside = f"; {_count(warned, 'recommendation')} not followed" if warned else ""
    silent = tally[RequirementVerdict.NOT_EXERCISED]
    if report.verdict is TargetVerdict.CONFORMANT:
        rest = f"; {silent} more not exercised" if silent else ""
        return (
            f"{target} is conformant: none of the {decided} decided requirements is broken"
            f"{aside}{rest}."
        )
    if not decided:
        return f"Nothing was decided about {target}, so it is neither conformant nor not."
    left = tally[RequirementVerdict.INCONCLUSIVE] or silent
    return (
        f"No verdict on {target}: of the {decided} decided requirements none is broken{aside}, "
        f"but {left} more could not be decided."
    )


def duration(seconds: float) -> str:
    """Return a duration as a person says it: ``4.2 s``, ``3 min 12 s``, ``2 h 5 min``."""
    if seconds < 60:  # noqa: PLR2004 - seconds of a minute
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _in_profile(name: str) -> str:
    if name in ("regulated", "unregulated"):
        return f"platform: {name}"
    return f"the trigger {name}" if "." in name else name
