"""The report of a run: a typed value, and the content of ``report.json``."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import date, timedelta
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from conformance.contract.catalogue import Level, Needs, Requirement
from conformance.contract.classes import classes
from conformance.contract.difference import Kind
from conformance.exchange.chain import USUAL_VARIABLES
from conformance.exchange.curl import curl_chain
from conformance.exchange.journal import Exchange
from conformance.exchange.shell import spell
from conformance.exchange.transcript import transcript
from conformance.reporting.kills import (
    BY_KIND,
    GENERIC,
    MEASURED,
    Kills,
    read_generic,
    read_kills,
    read_kinds,
)
from conformance.text.characters import visible
from conformance.verdict.baseline import EntryState
from conformance.verdict.causes import Cause, causes
from conformance.verdict.claims import Claim, ClassVerdict, Exercised, claims, exercised
from conformance.verdict.decisions import Decision, Outcome, Reason
from conformance.verdict.gate import NO_TERMS, Gate, GateResult, Terms, judge_gate
from conformance.verdict.plan import (
    DECIDED,
    Conclusion,
    Plan,
    RequirementVerdict,
    TargetVerdict,
    target_verdict,
)

_BROKEN_FIRST = (RequirementVerdict.FAILED, RequirementVerdict.WARNED)
BROKEN = frozenset(_BROKEN_FIRST)
_MAX_CAUSE_CHARS = 200
_BASELINE_DAYS = 90
"""How long a new entry of a baseline is good for, where nobody changes it."""
_MAX_EVIDENCE = {
    RequirementVerdict.FAILED: 3,
    RequirementVerdict.WARNED: 3,
    RequirementVerdict.INCONCLUSIVE: 1,
}
_MAX_INCONCLUSIVE = 50
_MAX_TESTS = 20
_MAX_EXCHANGES = 30
_MAX_DETAIL_CHARS = 8_000
_MAX_CURL_CHARS = 100_000
_ROOM = 6_000_000
_DECISIVE = {
    RequirementVerdict.FAILED: Outcome.FAILED,
    RequirementVerdict.WARNED: Outcome.FAILED,
    RequirementVerdict.INCONCLUSIVE: Outcome.INCONCLUSIVE,
}


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class RunInfo(_Part):
    """What a run was, beside its verdicts."""

    implementation: str = Field(description="name of the implementation, from the profile")
    implementation_version: str = ""
    base_url: str
    environment: str = Field(description="sandbox or production, from the profile")
    suite_version: str
    specification_version: str = "2025-10-13"
    started: AwareDatetime
    ended: AwareDatetime
    seconds: float = Field(ge=0)
    seed: int
    workers: int = Field(ge=1)
    python: str
    platform: str
    command: str = Field(description="the command line that started the run")
    options: dict[str, str] = Field(
        description="options of the suite in force, by their names on the command line with the "
        "leading hyphens; a re-run repeats them; an empty text stands for a flag"
    )
    features: tuple[str, ...] = Field(description="features that the profile declares")
    triggers: tuple[str, ...] = Field(description="triggers that the profile maps")
    told_answers: tuple[str, ...] = Field(
        (), description="those of them that name the answer that is to come, and no cause"
    )
    credentials: tuple[str, str] = Field(
        USUAL_VARIABLES, description="the environment variables of token id and client secret"
    )
    interrupted: str | None = Field(None, description="why the run ended early, if it did")
    requests: int | None = Field(None, ge=0, description="requests sent to the target")
    replayed: str | None = Field(
        None, description="id of the recorded run that was judged again; nothing was sent then"
    )


class NotDecided(_Part):
    """A testable requirement without a verdict, and why."""

    id: str
    reason: Reason


class PlanAccount(_Part):
    """What the run was going to decide, and what became of it.

    ``decided`` and ``not_decided`` together are all testable requirements. ``lost`` are those
    that were to be decided and of which the run ended without any word. ``outside`` are those that
    no test of the run names, also where the answers to other tests decided them.
    """

    to_decide: tuple[str, ...]
    decided: tuple[str, ...]
    not_decided: tuple[NotDecided, ...]
    lost: tuple[str, ...]
    outside: tuple[str, ...] = ()


class Share(_Part):
    """How many requirements were decided, of those that the declared features leave to decide."""

    decided: int
    of: int
    percent: int = Field(description="rounded down, so that 100 says that nothing is missing")


class ClassEntry(_Part):
    """The verdict on one conformance class."""

    name: str
    title: str
    text: str
    verdict: ClassVerdict
    exercised: Share
    counts: dict[RequirementVerdict, int] = Field(description="number of its requirements")
    lacks: tuple[str, ...] = Field(
        description="its features that the profile does not declare; their requirements are no "
        "part of the claim"
    )


class BaselineEntry(_Part):
    """An entry of the baseline, and what the run makes of it."""

    id: str
    reason: str
    expires: date
    line: int
    state: EntryState = Field(
        description="known: it fails; stale: it passes; expired: its day is over; open: not decided"
    )


class BaselineInfo(_Part):
    """The known failures that the run was given."""

    file: str
    entries: tuple[BaselineEntry, ...]
    new: tuple[str, ...] = Field(description="failures that it does not have")
    to_paste: str = Field(description="an entry for each new failure, as YAML")


class GateEntry(_Part):
    """What the exit status of the run says, and what was asked for."""

    result: GateResult
    classes: tuple[str, ...] = Field(
        description="the conformance classes that decide it; without any the whole does"
    )
    require_exercised: int = Field(
        ge=0, le=100, description="how many percent have to be decided, of each class or the whole"
    )
    too_little: tuple[str, ...] = Field(
        description="the classes that decide it and of which less was exercised"
    )


class CauseEntry(_Part):
    """What the failures of some requirements have in common: one finding.

    All but the first members are empty where the checks told nothing but a message.
    """

    told: str = Field(description="the cause in one line")
    verdict: RequirementVerdict = Field(description="failed, or warned for recommendations")
    requirements: tuple[str, ...] = Field(description="ids; each stands in one cause")
    kind: Kind | None = Field(None, description="what of the answer is not as it has to be")
    operation: str = ""
    fault: str = Field("", description="members in which the request differs from its twin")
    place: str = Field("", description="where in the answer, or the function that checks it")
    expected: str = Field("", description="statuses, codes, or the JSON Schema keyword")
    got: str = ""


class Place(_Part):
    """Where a requirement stands in the specification."""

    section: str
    lines: tuple[int, ...]

    def __str__(self) -> str:
        word = "line" if len(self.lines) == 1 else "lines"
        return f"{self.section}, {word} {', '.join(map(str, self.lines))}"


class Wanted(_Part):
    """What a target has to offer before a requirement can be decided."""

    trigger: tuple[str, ...]
    feature: tuple[str, ...]


class MutantFigures(_Part):
    """How many deliberately broken implementations the requirement's checks catch."""

    killed: int
    total: int


class GenericFigures(_Part):
    """How many implementations that a machine broke, anywhere, the suite notices."""

    killed: int = Field(description="a requirement failed")
    accepted: int = Field(description="no client can see it, or the specification leaves it open")
    total: int


class KindFigures(_Part):
    """How many broken implementations, of a sample, one kind of tests notices by itself."""

    kind: str
    found: int = Field(description="a requirement failed in one of its tests")
    met: int = Field(description="its tests come to what is broken")
    total: int


class Evidence(_Part):
    """What one test saw, and how to see it again."""

    test: str = Field(description="node id of the test")
    detail: str = Field(description="what the check says")
    expected: str = Field(description="what it expected; empty where it is not put so")
    got: str = Field(description="what came in the place of that")
    also: str = Field(description="what the check says beside that")
    transcript: str = Field(description="the test's requests and responses as text")
    curl: str = Field(description="a shell script that sends the requests again")
    rerun: str = Field(description="the command that runs this test alone")


class Entry(_Part):
    """One requirement and its verdict."""

    id: str
    level: Level
    area: str
    classes: tuple[str, ...] = Field((), description="the conformance classes that it belongs to")
    statement: str
    source: Place
    operations: tuple[str, ...]
    needs: Wanted
    verdict: RequirementVerdict
    reason: Reason | None
    missing: tuple[str, ...] = Field(
        description="triggers or features to add to the profile, for a verdict of not exercised"
    )
    detail: str
    tests: tuple[str, ...] = Field(description="node ids of tests that decide it; the first ones")
    checks: dict[Outcome, int] = Field(description="how many checks ended in which way")
    mutants: MutantFigures | None
    told: tuple[str, ...] = Field(
        (), description="triggers that told the target its answer, where such a one decided it"
    )
    evidence: tuple[Evidence, ...]


class Observation(_Part):
    """Something worth knowing that is no verdict."""

    text: str
    count: int


class Latency(_Part):
    """How long the target took over the answers of one operation, in seconds.

    Half of the answers came within ``p50``, nine of ten within ``p90``, 99 of 100 within ``p99``.
    """

    operation: str = Field(description="operationId; `trigger` for requests of the profile")
    answers: int = Field(ge=1)
    p50: float = Field(ge=0)
    p90: float = Field(ge=0)
    p99: float = Field(ge=0)
    longest: float = Field(ge=0)


class StateTime(_Part):
    """How long it took from a request until a kind of resource was seen in a state, in seconds.

    Half of the resources were seen in it within ``p50``, nine of ten within ``p90``, 99 of 100
    within ``p99``.
    """

    resource: str = Field(description="the kind of resource, as its state machine is called")
    request: str = Field(
        description="the request that started it: an operationId, or `trigger` for one of the "
        "profile's"
    )
    state: str
    times: int = Field(ge=1, description="how often it was seen")
    p50: float = Field(ge=0)
    p90: float = Field(ge=0)
    p99: float = Field(ge=0)
    longest: float = Field(ge=0)


class TestTime(_Part):
    """How long one test took, in seconds."""

    __test__ = False

    test: str
    seconds: float = Field(ge=0)


class TimeSpent(_Part):
    """What the time of the tests went into, in seconds; that of all workers together.

    What a test does at once, in several threads, counts as often.
    """

    tests: float = Field(ge=0, description="from the set-up of each test to its tear-down")
    target: float = Field(ge=0, description="of that, requests on their way")
    waiting: float = Field(ge=0, description="pauses between two polls, and waiting for webhooks")
    suite: float = Field(ge=0, description="the rest")
    slowest: tuple[TestTime, ...] = Field(description="the ten tests that took the longest")


class Digests(_Part):
    """SHA-256, in hexadecimal, of what a report was made from."""

    journals: dict[str, str] = Field(description="of each file of the journal, by its name")
    catalogue: str = Field(
        description="of all files of the specification as data, with its own way to put them "
        "together; the same for every copy of one version of the suite"
    )


class Report(_Part):
    """Everything that a run found out. ``format`` changes when a reader would have to."""

    model_config = ConfigDict(
        title="Conformance report",
        json_schema_extra={
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "$id": "urn:payments-conformance:report:1",
        },
    )

    format: Literal[1] = 1
    verdict: TargetVerdict = Field(description="on the whole, whatever the run was asked for")
    gate: GateEntry
    baseline: BaselineInfo | None = None
    exercised: Share
    classes: tuple[ClassEntry, ...]
    run: RunInfo
    plan: PlanAccount
    counts: dict[str, dict[Level, dict[RequirementVerdict, int]]] = Field(
        description="number of requirements by area, level and verdict"
    )
    causes: tuple[CauseEntry, ...] = Field(
        description="what the broken requirements fail for, the most frequent first"
    )
    requirements: tuple[Entry, ...]
    observations: tuple[Observation, ...]
    generic: GenericFigures | None = Field(
        None, description="as last measured for this version of the suite, on a sample"
    )
    kinds: tuple[KindFigures, ...] = Field(
        (), description="as last measured for this version of the suite, on a sample"
    )
    latencies: tuple[Latency, ...] = Field(
        (), description="by operation; that which took the longest in all is the first"
    )
    state_times: tuple[StateTime, ...] = Field(
        (), description="from a request until a state was seen, in the order of the state machines"
    )
    time: TimeSpent | None = Field(
        None, description="what the run's time went into; none of a run that was judged again"
    )
    digests: Digests | None = Field(None, description="of what the report was made from")

    def of(self, *verdicts: RequirementVerdict) -> tuple[Entry, ...]:
        """Return the requirements with one of these verdicts, in the order of the catalogue."""
        return tuple(entry for entry in self.requirements if entry.verdict in verdicts)

    def entry(self, requirement: str) -> Entry:
        """Return the entry of a requirement.

        Raises:
            StopIteration: it has none.
        """
        return next(entry for entry in self.requirements if entry.id == requirement)

    def selected(self) -> tuple[Entry, ...]:
        """Return the requirements that the run is about, in the order of the catalogue.

        They are those that its tests name, and those that it found broken by the way. Where the
        tests name all that can be tested, those that cannot be are here as well.
        """
        outside = set(self.plan.outside)
        if not outside:
            return self.requirements
        return tuple(
            entry
            for entry in self.requirements
            if entry.verdict in BROKEN
            or (entry.id not in outside and entry.verdict is not RequirementVerdict.UNTESTABLE)
        )

    def classes_concerned(self) -> tuple[ClassEntry, ...]:
        """Return the conformance classes of the selected requirements, in the order of the list."""
        concerned = {name for entry in self.selected() for name in entry.classes}
        return tuple(one for one in self.classes if one.name in concerned)

    def deciding(self) -> tuple[Entry, ...]:
        """Return the requirements that decide the exit status: of the classes asked for, or all."""
        wanted = set(self.gate.classes)
        return tuple(
            entry for entry in self.selected() if not wanted or wanted.intersection(entry.classes)
        )

    def tally(self, area: str | None = None) -> dict[RequirementVerdict, int]:
        """Return the number of selected requirements by verdict, of one area or of all."""
        return tally(entry for entry in self.selected() if area is None or entry.area == area)


def tally(entries: Iterable[Entry]) -> dict[RequirementVerdict, int]:
    """Return the number of requirements by verdict."""
    found = Counter(entry.verdict for entry in entries)
    return {verdict: found[verdict] for verdict in RequirementVerdict}


def build(
    conclusions: Sequence[Conclusion],
    plan: Plan,
    run: RunInfo,
    evidence: Mapping[str, Exchange],
    observations: Mapping[str, int],
    *,
    addresses: Mapping[str, str] | None = None,
    terms: Terms = NO_TERMS,
    measured: Path = MEASURED,
    generic: Path = GENERIC,
    by_kind: Path = BY_KIND,
    latencies: tuple[Latency, ...] = (),
    state_times: tuple[StateTime, ...] = (),
    time: TimeSpent | None = None,
    digests: Digests | None = None,
) -> Report:
    """Put a report together.

    Args:
        conclusions: the verdict on every requirement of the plan.
        plan: what the run was going to decide.
        run: what the run was.
        evidence: the journal's exchanges by their ids. Those that no decision names, and those
            of passed requirements, are not used; one that is missing is said to be missing.
        observations: how often what was observed.
        addresses: what leads pytest to a test from any folder, by its node id; the node id is
            taken where there is none.
        terms: what the run asks of the target.
        measured: the file of the kill figures.
        generic: the file of the score of the mutants that a machine made.
        by_kind: the file that says which kinds of tests find the mutants of a sample.
        latencies: how long the target took over its answers, by operation.
        state_times: how long it took until states were seen, by kind of resource.
        time: what the time of the tests went into.
        digests: of what the report is made from.
    """
    known = classes()
    kills = read_kills(measured)
    score = read_generic(generic)
    gate = judge_gate(conclusions, terms, known, run.started.date())
    details = {conclusion.requirement.id: conclusion.detail for conclusion in conclusions}
    found = tuple(
        _cause_entry(cause, verdict, details)
        for verdict in _BROKEN_FIRST
        for cause in causes(c for c in conclusions if c.verdict is verdict)
    )
    shown = _evidence(conclusions, run, evidence, addresses or {})
    return Report(
        verdict=target_verdict(conclusions),
        gate=GateEntry(
            result=gate.result,
            classes=terms.classes,
            require_exercised=terms.require_exercised,
            too_little=gate.too_little,
        ),
        baseline=_baseline(gate, terms, found, run),
        exercised=_share(exercised(conclusions)),
        classes=tuple(map(_class_entry, claims(conclusions, known, run.features.__contains__))),
        run=run,
        plan=PlanAccount(
            to_decide=tuple(plan.to_decide()),
            decided=tuple(c.requirement.id for c in conclusions if c.verdict in DECIDED),
            not_decided=tuple(
                NotDecided(id=c.requirement.id, reason=c.reason)
                for c in conclusions
                if c.verdict not in DECIDED and c.reason is not None
            ),
            lost=tuple(c.requirement.id for c in conclusions if c.reason is Reason.LOST),
            outside=tuple(c.requirement.id for c in conclusions if not c.selected),
        ),
        counts=_counts(conclusions),
        causes=found,
        requirements=tuple(
            _entry(
                conclusion,
                plan.entries[conclusion.requirement.id].tests,
                run,
                of_classes=known.of(conclusion.requirement),
                kills=kills.get(conclusion.requirement.id),
                evidence=shown.get(conclusion.requirement.id, ()),
            )
            for conclusion in conclusions
        ),
        observations=tuple(
            Observation(text=visible(text), count=count)
            for text, count in sorted(observations.items(), key=lambda item: (-item[1], item[0]))
        ),
        generic=None if score is None else GenericFigures(**score._asdict()),
        kinds=tuple(KindFigures(**one._asdict()) for one in read_kinds(by_kind)),
        latencies=latencies,
        state_times=state_times,
        time=time,
        digests=digests,
    )


def as_json(report: Report) -> str:
    """Return the content of ``report.json``."""
    return report.model_dump_json(indent=2) + "\n"


def _counts(
    conclusions: Iterable[Conclusion],
) -> dict[str, dict[Level, dict[RequirementVerdict, int]]]:
    counts: dict[str, dict[Level, dict[RequirementVerdict, int]]] = {}
    for conclusion in conclusions:
        levels = counts.setdefault(conclusion.requirement.area, {})
        if conclusion.requirement.level not in levels:
            levels[conclusion.requirement.level] = dict.fromkeys(RequirementVerdict, 0)
        levels[conclusion.requirement.level][conclusion.verdict] += 1
    return counts


def _baseline(
    gate: Gate, terms: Terms, found: Iterable[CauseEntry], run: RunInfo
) -> BaselineInfo | None:
    if terms.baseline is None:
        return None
    told = {name: cause.told for cause in found for name in cause.requirements}
    expires = run.started.date() + timedelta(days=_BASELINE_DAYS)
    return BaselineInfo(
        file=terms.baseline.file,
        entries=tuple(
            BaselineEntry(**asdict(entry), state=gate.entries[entry.id])
            for entry in terms.baseline.entries
        ),
        new=gate.new,
        # JSON texts are YAML texts, whatever stands in them.
        to_paste="".join(
            f'- id: {name}\n  reason: {json.dumps(told[name])}\n  expires: "{expires}"\n'
            for name in gate.new
        ),
    )


def _cause_entry(
    cause: Cause, verdict: RequirementVerdict, details: Mapping[str, str]
) -> CauseEntry:
    difference = cause.difference
    told = details[cause.requirements[0]].strip().partition("\n")[0]
    if difference is not None and difference.kind is not Kind.CHECK:
        told = str(difference)
    elif difference is not None and told:
        # The message of the assertion says more than that it failed.
        about = f"{difference.operation}: " if difference.operation else ""
        told = f"{about}{told} ({difference.place})"
    data = {} if difference is None else asdict(difference)
    return CauseEntry(
        told=_shortened(told),
        verdict=verdict,
        requirements=cause.requirements,
        **{name: value if name == "kind" else _shortened(value) for name, value in data.items()},
    )


def _shortened(text: str) -> str:
    shown = visible(text)
    return shown if len(shown) <= _MAX_CAUSE_CHARS else f"{shown[: _MAX_CAUSE_CHARS - 1]}…"


def _share(found: Exercised) -> Share:
    return Share(decided=found.decided, of=found.of, percent=found.percent)


def _class_entry(claim: Claim) -> ClassEntry:
    return ClassEntry(
        name=claim.subject.name,
        title=claim.subject.title,
        text=claim.subject.text,
        verdict=claim.verdict,
        exercised=_share(claim.exercised),
        counts=dict(claim.counts),
        lacks=claim.lacks,
    )


def _entry(
    conclusion: Conclusion,
    planned: tuple[str, ...],
    run: RunInfo,
    *,
    of_classes: tuple[str, ...],
    kills: Kills | None,
    evidence: tuple[Evidence, ...],
) -> Entry:
    requirement = conclusion.requirement
    is_decided = conclusion.verdict in DECIDED
    told = tuple(name for name in requirement.needs.triggers if name in run.told_answers)
    # A target that is told its answer proves nothing.
    proof = None if told else kills
    deciders = planned or tuple(decision.test for decision in conclusion.decisions)
    tests = dict.fromkeys((*(item.test for item in evidence), *deciders))
    return Entry(
        id=requirement.id,
        level=requirement.level,
        area=requirement.area,
        classes=of_classes,
        statement=requirement.statement,
        source=Place(section=requirement.source.section, lines=requirement.source.lines),
        operations=requirement.operations,
        needs=Wanted(trigger=requirement.needs.triggers, feature=requirement.needs.features),
        verdict=conclusion.verdict,
        reason=conclusion.reason,
        missing=_missing(conclusion, requirement, run),
        # The message is that of the evidence that is shown first.
        detail=next((item.detail for item in evidence), _bounded(conclusion.detail)),
        tests=tuple(tests)[:_MAX_TESTS],
        checks=dict(Counter(decision.outcome for decision in conclusion.decisions)),
        mutants=None if proof is None else MutantFigures(killed=proof.killed, total=proof.total),
        told=told if is_decided else (),
        evidence=evidence,
    )


def _missing(conclusion: Conclusion, requirement: Requirement, run: RunInfo) -> tuple[str, ...]:
    """Return what the profile would have to offer.

    The catalogue names it; where a check needs more than its entry says, the check does.
    """
    needs: Needs = requirement.needs
    wanted: Mapping[Reason | None, tuple[Iterable[str], Iterable[str]]] = {
        Reason.TRIGGER_MISSING: (needs.triggers, run.triggers),
        Reason.FEATURE_UNDECLARED: (needs.features, run.features),
    }
    if conclusion.reason not in wanted:
        return ()
    named, offered = wanted[conclusion.reason]
    by_entry = tuple(name for name in named if name not in offered)
    return by_entry or conclusion.missing


@dataclass
class _Room:
    """How many characters of evidence the report still takes."""

    left: int

    def take(self, text: str) -> str:
        if len(text) > self.left:
            return ""
        self.left -= len(text)
        return text


def _evidence(
    conclusions: Sequence[Conclusion],
    run: RunInfo,
    exchanges: Mapping[str, Exchange],
    addresses: Mapping[str, str],
) -> dict[str, tuple[Evidence, ...]]:
    """Return what to show for each requirement, failures first as long as there is room."""
    room = _Room(_ROOM)
    shown: dict[str, tuple[Evidence, ...]] = {}
    for verdict, most in _MAX_EVIDENCE.items():
        with_verdict = [conclusion for conclusion in conclusions if conclusion.verdict is verdict]
        # A requirement that no test came to has no evidence, and takes nobody's place.
        looked_at = [(c.requirement.id, found) for c in with_verdict if (found := _decisive(c))]
        for number, (name, decisions) in enumerate(looked_at):
            full = verdict is not RequirementVerdict.INCONCLUSIVE or number < _MAX_INCONCLUSIVE
            shown[name] = tuple(
                _piece(
                    decision,
                    exchanges,
                    room if full else _Room(0),
                    run=run,
                    rerun=_rerun(addresses.get(decision.test, decision.test), run.options),
                )
                for decision in decisions[:most]
            )
    return shown


def _decisive(conclusion: Conclusion) -> list[Decision]:
    """Return the decisions that a verdict follows from; of failures the easiest to follow first.

    What is inconclusive has its reason from the first.
    """
    outcome = _DECISIVE[conclusion.verdict]
    decisions = [decision for decision in conclusion.decisions if decision.outcome is outcome]
    if outcome is Outcome.INCONCLUSIVE:
        return decisions
    return sorted(decisions, key=lambda decision: len(decision.exchanges))


def _piece(
    decision: Decision,
    exchanges: Mapping[str, Exchange],
    room: _Room,
    *,
    run: RunInfo,
    rerun: str,
) -> Evidence:
    chain = [exchanges[name] for name in decision.exchanges if name in exchanges]
    return Evidence(
        test=decision.test,
        detail=_bounded(decision.detail),
        expected=_bounded(decision.facts.expected),
        got=_bounded(decision.facts.got),
        also=_bounded(decision.facts.also),
        transcript=_transcript(decision, chain, room),
        curl=_curl(chain, run, room),
        rerun=rerun,
    )


def _transcript(decision: Decision, chain: list[Exchange], room: _Room) -> str:
    if not decision.exchanges:
        return ""
    notes = []
    if lost := len(decision.exchanges) - len(chain):
        notes.append(f"({lost} of {len(decision.exchanges)} exchanges are not in the journal)\n")
    shown = chain
    if len(chain) > _MAX_EXCHANGES:
        shown = _telling(chain)[-_MAX_EXCHANGES:]
        span = f"{chain[0].id} to {chain[-1].id}"
        notes.append(
            f"({len(chain) - len(shown)} of the exchanges {span} are in the journal alone: earlier "
            "ones, and readings that a later one repeats)\n"
        )
    text = "".join(notes) + transcript(shown)
    span = f"{decision.exchanges[0]} to {decision.exchanges[-1]}"
    return room.take(text) or f"(no room left in the report; the journal has {span})"


def _telling(chain: Sequence[Exchange]) -> list[Exchange]:
    """Return a chain without the readings that a later one repeats, with the same answer."""
    later: dict[str, Exchange] = {}
    telling = []
    for exchange in reversed(chain):
        if exchange.method == "GET":
            again = later.get(exchange.url)
            later[exchange.url] = exchange
            if again is not None and (again.status, again.response_body) == (
                exchange.status,
                exchange.response_body,
            ):
                continue
        telling.append(exchange)
    return telling[::-1]


def _curl(chain: list[Exchange], run: RunInfo, room: _Room) -> str:
    if not chain:
        return ""
    script = curl_chain(chain, run.base_url, run.credentials)
    return room.take(script) if len(script) <= _MAX_CURL_CHARS else ""


def _rerun(address: str, options: Mapping[str, str]) -> str:
    words = [f"{name}={value}" if value else name for name, value in options.items()]
    return " ".join(spell(word) for word in ("pytest", "--pyargs", address, *words))


def _bounded(text: str) -> str:
    shown = visible(text)
    if len(shown) <= _MAX_DETAIL_CHARS:
        return shown
    return f"{shown[:_MAX_DETAIL_CHARS]}… ({len(shown)} characters)"
