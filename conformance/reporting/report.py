"""The report of a run: a typed value, and the content of ``report.json``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from conformance.contract.catalogue import Level, Needs, Requirement
from conformance.exchange.journal import Exchange
from conformance.exchange.shell import spell
from conformance.exchange.transcript import curl_chain, transcript
from conformance.reporting.kills import GENERIC, MEASURED, Kills, read_generic, read_kills
from conformance.text.characters import visible
from conformance.verdict.decisions import Decision, Outcome, Reason
from conformance.verdict.plan import (
    DECIDED,
    Conclusion,
    Plan,
    RequirementVerdict,
    TargetVerdict,
    target_verdict,
)

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
    that were to be decided and of which the run ended without any word.
    """

    to_decide: tuple[str, ...]
    decided: tuple[str, ...]
    not_decided: tuple[NotDecided, ...]
    lost: tuple[str, ...]


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


class Digests(_Part):
    """SHA-256, in hexadecimal, of what a report was made from."""

    journals: dict[str, str] = Field(description="of each file of the journal, by its name")
    catalogue: str = Field(
        description="of all files of the specification as data, with its own way to put them "
        "together; the same for every copy of one version of the suite"
    )


class Report(_Part):
    """Everything that a run found out. ``format`` changes when a reader would have to."""

    model_config = ConfigDict(title="Conformance report")

    format: Literal[1] = 1
    verdict: TargetVerdict
    run: RunInfo
    plan: PlanAccount
    counts: dict[str, dict[Level, dict[RequirementVerdict, int]]] = Field(
        description="number of requirements by area, level and verdict"
    )
    requirements: tuple[Entry, ...]
    observations: tuple[Observation, ...]
    generic: GenericFigures | None = Field(
        None, description="as last measured for this version of the suite, on a sample"
    )
    latencies: tuple[Latency, ...] = Field(
        (), description="by operation; that which took the longest in all is the first"
    )

    digests: Digests | None = Field(None, description="of what the report was made from")

    def of(self, *verdicts: RequirementVerdict) -> tuple[Entry, ...]:
        """Return the requirements with one of these verdicts, in the order of the catalogue."""
        return tuple(entry for entry in self.requirements if entry.verdict in verdicts)

    def tally(self, area: str | None = None) -> dict[RequirementVerdict, int]:
        """Return the number of requirements by verdict, of one area or of all."""
        chosen = self.counts.values() if area is None else [self.counts[area]]
        return {
            verdict: sum(by_verdict[verdict] for levels in chosen for by_verdict in levels.values())
            for verdict in RequirementVerdict
        }


def build(
    conclusions: Sequence[Conclusion],
    plan: Plan,
    run: RunInfo,
    evidence: Mapping[str, Exchange],
    observations: Mapping[str, int],
    *,
    addresses: Mapping[str, str] | None = None,
    measured: Path = MEASURED,
    generic: Path = GENERIC,
    latencies: tuple[Latency, ...] = (),
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
        measured: the file of the kill figures.
        generic: the file of the score of the mutants that a machine made.
        latencies: how long the target took over its answers, by operation.
        digests: of what the report is made from.
    """
    kills = read_kills(measured)
    score = read_generic(generic)
    shown = _evidence(conclusions, run, evidence, addresses or {})
    return Report(
        verdict=target_verdict(conclusions),
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
        ),
        counts=_counts(conclusions),
        requirements=tuple(
            _entry(
                conclusion,
                plan.entries[conclusion.requirement.id].tests,
                run,
                kills.get(conclusion.requirement.id),
                shown.get(conclusion.requirement.id, ()),
            )
            for conclusion in conclusions
        ),
        observations=tuple(
            Observation(text=visible(text), count=count)
            for text, count in sorted(observations.items(), key=lambda item: (-item[1], item[0]))
        ),
        generic=None if score is None else GenericFigures(**score._asdict()),
        latencies=latencies,
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


def _entry(
    conclusion: Conclusion,
    planned: tuple[str, ...],
    run: RunInfo,
    kills: Kills | None,
    evidence: tuple[Evidence, ...],
) -> Entry:
    requirement = conclusion.requirement
    deciders = planned or tuple(decision.test for decision in conclusion.decisions)
    tests = dict.fromkeys((*(item.test for item in evidence), *deciders))
    return Entry(
        id=requirement.id,
        level=requirement.level,
        area=requirement.area,
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
        mutants=None if kills is None else MutantFigures(killed=kills.killed, total=kills.total),
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
                    base_url=run.base_url,
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
    base_url: str,
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
        curl=_curl(chain, base_url, room),
        rerun=rerun,
    )


def _transcript(decision: Decision, chain: list[Exchange], room: _Room) -> str:
    if not decision.exchanges:
        return ""
    notes = []
    if lost := len(decision.exchanges) - len(chain):
        notes.append(f"({lost} of {len(decision.exchanges)} exchanges are not in the journal)\n")
    if early := chain[:-_MAX_EXCHANGES]:
        span = f"{early[0].id} to {early[-1].id}"
        notes.append(f"({len(early)} earlier exchanges, {span}, are in the journal)\n")
    text = "".join(notes) + transcript(chain[-_MAX_EXCHANGES:])
    span = f"{decision.exchanges[0]} to {decision.exchanges[-1]}"
    return room.take(text) or f"(no room left in the report; the journal has {span})"


def _curl(chain: list[Exchange], base_url: str, room: _Room) -> str:
    if not chain:
        return ""
    script = curl_chain(chain, base_url)
    return room.take(script) if len(script) <= _MAX_CURL_CHARS else ""


def _rerun(address: str, options: Mapping[str, str]) -> str:
    words = [f"{name}={value}" if value else name for name, value in options.items()]
    return " ".join(spell(word) for word in ("pytest", "--pyargs", address, *words))


def _bounded(text: str) -> str:
    shown = visible(text)
    if len(shown) <= _MAX_DETAIL_CHARS:
        return shown
    return f"{shown[:_MAX_DETAIL_CHARS]}… ({len(shown)} characters)"
