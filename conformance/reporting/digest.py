"""What the page and the terminal say alike: the verdict in a sentence, open rules by reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from conformance.reporting.report import Entry, Report, tally
from conformance.verdict.baseline import EntryState
from conformance.verdict.claims import ClassVerdict
from conformance.verdict.decisions import Reason
from conformance.verdict.gate import GateResult
from conformance.verdict.plan import DECIDED, RequirementVerdict

_MAX_NEW = 5
ADVICE: Mapping[Reason, str] = {
    Reason.PRECONDITION: "A step that arranges the check was refused. Read the transcript and mend "
    "that step first, in the target or in the profile. A target that keeps what an earlier run "
    "sent, and takes nothing twice, needs another --run-seed.",
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
    """Return the selected requirements with an open verdict, the most pressing reason first."""
    found: dict[tuple[Reason, tuple[str, ...]], list[Entry]] = defaultdict(list)
    for entry in report.selected():
        if entry.verdict is verdict and entry.reason is not None:
            found[entry.reason, entry.missing].append(entry)
    urgency = list(ADVICE)
    return sorted(
        (Group(reason, missing, tuple(entries)) for (reason, missing), entries in found.items()),
        key=lambda group: (urgency.index(group.reason), -len(group.entries), group.missing),
    )


def headline(report: Report) -> str:
    """Return in one sentence what came of the run, and why."""
    gate = report.gate
    found = tally(report.deciding())
    decided = sum(found[verdict] for verdict in DECIDED)
    target = " ".join(filter(None, (report.run.implementation, report.run.implementation_version)))
    subject = listed([one.title for one in report.classes if one.name in gate.classes])
    to_class = f" to {subject}" if subject else ""
    aside = _aside(report, found[RequirementVerdict.WARNED])
    broken = counted(found[RequirementVerdict.FAILED], "requirement")
    unbroken = f"none of the {decided} decided requirements is broken"
    match gate.result:
        case GateResult.NOT_CONFORMANT:
            told = f"it breaks {broken} of the {decided} decided, for {_causes(report)}"
            return (
                f"{target} is not conformant{to_class}: {told}{_new(report)}{_elsewhere(report)}."
            )
        case GateResult.BASELINE_OUTDATED:
            return f"The baseline is out of date: {'; '.join(outdated(report))}."
        case GateResult.NO_NEW_FAILURE:
            return (
                f"No new failure of {target}{f' in {subject}' if subject else ''}, "
                f"{_shares(report)} exercised: the {broken} broken of the {decided} decided "
                f"{'is' if found[RequirementVerdict.FAILED] == 1 else 'are'} known to the baseline"
                f"{aside}."
            )
        case GateResult.CONFORMANT:
            silent = found[RequirementVerdict.NOT_EXERCISED]
            rest = f"; {silent} more not exercised" if silent else ""
            return (
                f"{target} is conformant{to_class}, {_shares(report)} exercised: {unbroken}"
                f"{aside}{rest}."
            )
        case GateResult.TOO_LITTLE_EXERCISED:
            return (
                f"Too little of {target} was exercised{f' for {subject}' if subject else ''}: "
                f"{_shares(report)}, asked for {gate.require_exercised} %; {unbroken}{aside}."
            )
        case GateResult.INCONCLUSIVE:
            return _open_headline(report, target, subject, found)


def _new(report: Report) -> str:
    """Return which failures the baseline does not have, where there is one."""
    if report.baseline is None:
        return ""
    names = list(report.baseline.new[:_MAX_NEW])
    more = len(report.baseline.new) - len(names)
    verb = "is" if len(names) == 1 else "are"
    return f"; new {verb} {listed([*names, *([f'{more} more'] if more else [])])}"


def outdated(report: Report) -> list[str]:
    """Return for each entry of the baseline that has to go its line, and why."""
    if report.baseline is None:
        return []
    why = {
        EntryState.STALE: "{0.id} passes now, take the entry out",
        EntryState.EXPIRED: "{0.id} was known until {0.expires}",
    }
    return [
        f"{report.baseline.file}:{entry.line}: {why[entry.state].format(entry)}"
        for entry in report.baseline.entries
        if entry.state in why
    ]


def _causes(report: Report) -> str:
    """Return how many causes the failures that decide have."""
    deciding = {entry.id for entry in report.deciding()}
    number = sum(
        cause.verdict is RequirementVerdict.FAILED and not deciding.isdisjoint(cause.requirements)
        for cause in report.causes
    )
    return counted(number, "cause")


def _open_headline(
    report: Report, target: str, subject: str, found: Mapping[RequirementVerdict, int]
) -> str:
    decided = sum(found[verdict] for verdict in DECIDED)
    about = f"{target} and {subject}" if subject else target
    outside = _outside(report)
    if not decided:
        return f"Nothing was decided about {about}, so it is neither conformant nor not."
    left = found[RequirementVerdict.INCONCLUSIVE]
    if not left and not outside:
        left = found[RequirementVerdict.NOT_EXERCISED]
    rest = [f"{left} more could not be decided"] if left else []
    rest += [f"{outside} more are outside of the selection"] if outside else []
    return (
        f"No verdict on {about}: of the {decided} decided requirements none is broken"
        f"{_aside(report, found[RequirementVerdict.WARNED])}, but {' and '.join(rest)}."
    )


def _outside(report: Report) -> int:
    """Return how many requirements would have decided as well, had the run named them."""
    wanted = set(report.gate.classes)
    outside = set(report.plan.outside)
    return sum(
        entry.id in outside and (not wanted or bool(wanted.intersection(entry.classes)))
        for entry in report.requirements
    )


def _aside(report: Report, warned: int) -> str:
    """Return what is not well although it does not decide, for the middle of a sentence."""
    told = f"; {counted(warned, 'recommendation')} not followed" if warned else ""
    return told + _elsewhere(report)


def _elsewhere(report: Report) -> str:
    """Return what is broken beside the classes that decide, for the middle of a sentence."""
    deciding = {entry.id for entry in report.deciding()}
    number = sum(entry.id not in deciding for entry in report.of(RequirementVerdict.FAILED))
    broken = counted(number, "requirement")
    return f"; outside of what was asked for, {broken} broken" if number else ""


def _shares(report: Report) -> str:
    """Return how much was exercised, of the whole or of each class that was asked for."""
    asked = [one for one in report.classes if one.name in report.gate.classes]
    if len(asked) <= 1:
        return f"{(asked[0] if asked else report).exercised.percent} %"
    return listed([f"{one.title} {one.exercised.percent} %" for one in asked])


def told_classes(report: Report) -> list[str]:
    """Return a few words on each class that the run is about, those that are not claimed last."""
    shown = report.classes_concerned()
    judged = [one for one in shown if one.verdict is not ClassVerdict.NOT_CLAIMED]
    words = [f"{one.title} {one.verdict}, {one.exercised.percent} % exercised" for one in judged]
    unclaimed = [one.title for one in shown if one.verdict is ClassVerdict.NOT_CLAIMED]
    return [*words, *([f"not claimed: {', '.join(unclaimed)}"] if unclaimed else [])]


def listed(words: Sequence[str]) -> str:
    """Return words as a person lists them: ``a, b and c``."""
    return " and ".join(filter(None, (", ".join(words[:-1]), *words[-1:])))


def told(report: Report) -> str:
    """Return in a sentence what a target that was told its answers decided; empty for nothing."""
    entries = [entry for entry in report.requirements if entry.told]
    if not entries:
        return ""
    names = ", ".join(sorted({name for entry in entries for name in entry.told}))
    return (
        f"{counted(len(entries), 'requirement')} of the decided ones rest on triggers that tell "
        f"the target its answer, which proves nothing: {names}."
    )


def duration(seconds: float) -> str:
    """Return a duration as a person says it: ``4.2 s``, ``3 min 12 s``, ``2 h 5 min``."""
    if seconds < 60:  # noqa: PLR2004 - seconds of a minute
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s"


def counted(number: int, noun: str) -> str:
    """Return a number of things in words: ``1 requirement``, ``2 requirements``."""
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _in_profile(name: str) -> str:
    if name in ("regulated", "unregulated"):
        return f"platform: {name}"
    return f"the trigger {name}" if "." in name else name
