"""Puts a report together from the journals of a run, also of one that was killed."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from conformance.contract.catalogue import catalogue
from conformance.contract.spec_files import spec_digest
from conformance.contract.vocabulary import FEATURES
from conformance.exchange.folder import JOURNALS, STATEMENT, FolderError, foreign, journals_of
from conformance.exchange.journal import Exchange
from conformance.profile.model import Profile
from conformance.profile.needs import unmet
from conformance.reporting import html
from conformance.reporting.attestation import statement
from conformance.reporting.files import put
from conformance.reporting.latency import Latencies
from conformance.reporting.report import (
    Digests,
    Report,
    RunInfo,
    TestTime,
    TimeSpent,
    as_json,
    build,
)
from conformance.reporting.state_times import StateTimes
from conformance.verdict.baseline import Baseline, KnownFailure
from conformance.verdict.decisions import Decision, Outcome
from conformance.verdict.gate import Terms
from conformance.verdict.plan import Accounting, Plan

_AT = re.compile(r'"at": ([\d.]+)')
_SLOWEST = 10
_EXCHANGE = '{"kind": "exchange", "id": "'
_GRAVEST = (Outcome.FAILED, Outcome.INCONCLUSIVE, Outcome.PASSED, Outcome.NOT_EXERCISED)
_DAMAGED = (LookupError, TypeError, ValueError, AttributeError, OSError)
"""What reading a journal raises where somebody has changed it."""


class NoRun(Exception):
    """There is no journal of a run where one was expected, or it is damaged."""


@dataclass
class _Run:
    started: dict[str, Any] = field(default_factory=dict)
    finished: dict[str, Any] = field(default_factory=dict)
    named: dict[str, list[str]] = field(default_factory=dict)
    selected: list[str] = field(default_factory=list)
    addresses: dict[str, str] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    ended: set[str] = field(default_factory=set)
    observations: Counter[str] = field(default_factory=Counter)
    requests: int = 0
    last: float = 0.0
    latencies: Latencies = field(default_factory=Latencies)
    state_times: StateTimes = field(default_factory=StateTimes)
    seconds: dict[str, float] = field(default_factory=dict)
    waiting: float = 0.0


def assemble(folder: Path) -> Report:
    """Return the report of the run whose journals are below ``folder``.

    Raises:
        NoRun: no run has written there, it ended before its tests were known, or what is there
            was changed since.
    """
    journals = journals_of(folder)
    run = _Run()
    try:
        for line in _lines(journals):
            if _is_exchange(line):
                run.requests += 1
                run.latencies.take_in(line)
                run.state_times.take_in(line)
                found = _AT.match(line, line.rfind('"at": '))
                run.last = max(run.last, float(found[1]) if found else 0.0)
            else:
                _take_in(run, line)
        if not run.started or not run.selected:
            raise NoRun(f"{folder / JOURNALS} holds no journal of a run that came to its tests")
        return _report(run, journals)
    except _DAMAGED as error:
        raise _damaged(folder, error) from error


def _report(run: _Run, journals: Sequence[Path]) -> Report:
    profile = Profile.model_validate(run.started["profile"])
    # In the order of the tests, however these were spread over processes.
    places = {test: place for place, test in enumerate(run.selected)}
    decisions = sorted(run.decisions, key=lambda one: places.get(one.test, len(places)))
    plan = Plan(catalogue(), run.named, run.selected, lambda entry: unmet(profile, entry))
    accounting = Accounting(plan, ended=run.ended)
    accounting.add(decisions)
    needed = {
        name
        for decision in run.decisions
        if decision.outcome in (Outcome.FAILED, Outcome.INCONCLUSIVE)
        for name in decision.exchanges
    }
    return build(
        accounting.conclude(),
        plan,
        _run_info(run, profile),
        dict(_exchanges(journals, needed)),
        run.observations,
        addresses=run.addresses,
        latencies=run.latencies.by_operation(),
        state_times=run.state_times.by_resource(),
        time=_time_spent(run),
        digests=Digests(
            journals={path.name: sha256_of(path) for path in journals}, catalogue=spec_digest()
        ),
        terms=_terms(run.started.get("terms", {})),
    )


def _time_spent(run: _Run) -> TimeSpent | None:
    """Return what the time of the tests went into; ``None`` where no target was waited for."""
    if not run.seconds or run.started.get("replayed"):
        return None
    total, target = sum(run.seconds.values()), run.latencies.total_seconds
    slowest = sorted(run.seconds.items(), key=lambda item: -item[1])[:_SLOWEST]
    return TimeSpent(
        tests=round(total, 3),
        target=round(target, 3),
        waiting=round(run.waiting, 3),
        suite=round(max(0.0, total - target - run.waiting), 3),
        slowest=tuple(TestTime(test=test, seconds=round(time, 3)) for test, time in slowest),
    )


def exchanges(folder: Path, requirement: str = "") -> Iterator[Exchange]:
    """Return the exchanges of the run below ``folder``, those of each process in their order.

    Args:
        folder: where the run wrote.
        requirement: only those of tests that name it; all without one.

    Raises:
        NoRun: no run has written there, none of its tests names the requirement, or what is there
            was changed since; the last one may be raised after some exchanges.
    """
    journals = _journals_in(folder)
    try:
        tests = _tests_naming(requirement, journals) if requirement else None
    except _DAMAGED as error:
        raise _damaged(folder, error) from error
    return _exchanges_of(folder, journals, tests)


def exchanges_that_show(folder: Path, requirement: str) -> list[Exchange]:
    """Return the exchanges of the test that shows best what became of a requirement.

    Of several that broke it this is the one with the fewest requests.

    Raises:
        NoRun: no run has written to ``folder``, or none of its tests came to the requirement.
    """
    journals = _journals_in(folder)
    try:
        decisions = [one for one in _read(journals).decisions if one.requirement == requirement]
        if not decisions:
            raise NoRun(f"no test of the run came to {requirement}")
        gravest = min(decisions, key=lambda one: (_GRAVEST.index(one.outcome), len(one.exchanges)))
        if not gravest.exchanges:
            return list(_exchanges_of(folder, journals, frozenset((gravest.test,))))
        found = dict(_exchanges(journals, set(gravest.exchanges)))
    except _DAMAGED as error:
        raise _damaged(folder, error) from error
    return [found[name] for name in gravest.exchanges if name in found]


def _journals_in(folder: Path) -> Sequence[Path]:
    journals = journals_of(folder)
    if not journals:
        raise NoRun(f"{folder / JOURNALS} holds no journal of a run")
    return journals


def _exchanges_of(
    folder: Path, journals: Sequence[Path], tests: frozenset[str] | None
) -> Iterator[Exchange]:
    try:
        for line in filter(_is_exchange, _lines(journals)):
            exchange = _read_exchange(line)
            if exchange is not None and (tests is None or exchange.test in tests):
                yield exchange
    except _DAMAGED as error:
        raise _damaged(folder, error) from error


def _is_exchange(line: str) -> bool:
    return line.startswith(_EXCHANGE)


def _damaged(folder: Path, error: Exception) -> NoRun:
    return NoRun(f"a journal in {folder / JOURNALS} cannot be read: {error!r}")


def _tests_naming(requirement: str, journals: Sequence[Path]) -> frozenset[str]:
    tests = frozenset(_read(journals).named.get(requirement, ()))
    if not tests:
        raise NoRun(f"no test of the run names {requirement}")
    return tests


def _read(journals: Sequence[Path]) -> _Run:
    """Return what the journals hold beside exchanges."""
    run = _Run()
    for line in _lines(journals):
        if not _is_exchange(line):
            _take_in(run, line)
    return run


def publish(report: Report, folder: Path) -> None:
    """Write the report in all its forms to ``folder``, all of them or none.

    Raises:
        FolderError: a file that no run wrote is in the way.
        OSError: they cannot be written.
    """
    if (theirs := next(foreign(folder), None)) is not None:
        raise FolderError(f"{theirs} was not written by this suite, and is left as it is")
    put({folder / name: text for name, text in texts_of(report).items()})


def texts_of(report: Report) -> dict[str, str]:
    """Return the texts of the files that a report is published as, by their names."""
    texts = {"report.json": as_json(report), "report.html": html.render(report)}
    return {**texts, STATEMENT: statement(report, texts)}


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal.

    Raises:
        OSError: it cannot be read.
    """
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _take_in(run: _Run, line: str) -> None:
    try:
        entry: Mapping[str, Any] = json.loads(line)
    except json.JSONDecodeError:
        # The last line of a killed process may be cut short.
        return
    match entry["kind"]:
        case "started":
            run.started = dict(entry)
        case "finished":
            run.finished = dict(entry)
        case "collected":
            run.named, run.selected = entry["named"], entry["selected"]
            run.addresses = entry.get("addresses", {})
        case "decisions":
            test = entry["test"]
            run.decisions.extend(Decision.from_json(told, test) for told in entry["decisions"])
            run.ended.add(test)
            if "seconds" in entry:
                run.seconds[test] = entry["seconds"]
                run.waiting += entry["waiting"]
        case "command":
            run.state_times.command(entry)
        case "delivery":
            run.state_times.delivery(entry)
        case "observations":
            run.observations.update(entry["observations"])


def _terms(entry: Mapping[str, Any]) -> Terms:
    return Terms(
        tuple(entry.get("classes", ())),
        entry.get("require_exercised", 0),
        _baseline(entry.get("baseline")),
    )


def _baseline(entry: Mapping[str, Any] | None) -> Baseline | None:
    if entry is None:
        return None
    known = (
        KnownFailure(**{**one, "expires": date.fromisoformat(one["expires"])})
        for one in entry["entries"]
    )
    return Baseline(entry["file"], tuple(known))


def _run_info(run: _Run, profile: Profile) -> RunInfo:
    started = datetime.fromisoformat(run.started["started"])
    # The same however often the report of a killed run is made.
    last = datetime.fromtimestamp(run.last, UTC) if run.last else started
    ended = datetime.fromisoformat(run.finished["ended"]) if run.finished else max(started, last)
    interrupted = run.finished["interrupted"] if run.finished else "the run was killed"
    return RunInfo(
        implementation=profile.implementation.name,
        implementation_version=profile.implementation.version,
        base_url=run.started["base_url"],
        environment=profile.environment,
        suite_version=run.started.get("suite_version") or suite_version(),
        started=started,
        ended=ended,
        seconds=(ended - started).total_seconds(),
        seed=run.started["seed"],
        workers=run.started["workers"],
        python=run.started.get("python", ""),
        platform=run.started.get("platform", ""),
        command=run.started["command"],
        options=run.started["options"],
        features=tuple(sorted(name for name in FEATURES if profile.features.declares(name))),
        triggers=tuple(sorted(profile.triggers)),
        told_answers=tuple(
            sorted(name for name, trigger in profile.triggers.items() if trigger.by == "answer")
        ),
        credentials=(profile.credentials.token_id, profile.credentials.client_secret),
        interrupted=interrupted,
        requests=run.requests,
        replayed=run.started.get("replayed"),
    )


def suite_version() -> str:
    """Return the version of the suite that is installed."""
    return metadata.version("payments-conformance")


def _exchanges(journals: Sequence[Path], needed: set[str]) -> Iterator[tuple[str, Exchange]]:
    for line in _lines(journals):
        # Most exchanges are not needed, and decoding them all would take seconds.
        if not _is_exchange(line) or line[len(_EXCHANGE) :].partition('"')[0] not in needed:
            continue
        if (exchange := _read_exchange(line)) is not None:
            yield exchange.id, exchange


def _read_exchange(line: str) -> Exchange | None:
    """Return the exchange of a line of a journal; ``None`` for one that was cut short."""
    try:
        entry = json.loads(line)
    except json.JSONDecodeError:
        return None
    return Exchange.from_entry(entry)


def _lines(journals: Sequence[Path]) -> Iterator[str]:
    for path in journals:
        # A killed process may have been in the middle of a character.
        with path.open(encoding="utf-8", errors="replace") as lines:
            yield from lines
