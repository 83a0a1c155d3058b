"""Runs the suite against honest variants of the reference, and tells which it does not tolerate.

The dual of the mutant runner, by the same means. A variant meets all scenarios that come to what it
changes; none may fail or be left undecided, while a check that has nothing to decide is fine.
Variants of one group are applied together. Where a check complains, its test meets one half of the
group and the other, and halves of these, down to the one to blame; and the restored reference, to
blame none of them for what is the same there.
"""

from __future__ import annotations

import inspect
import json
import os
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from functools import partial, wraps
from itertools import chain
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer

from conformance.contract.catalogue import Level, catalogue
from conformance.plugin import SESSION
from conformance.proof import variants as package
from conformance.proof.mutation import decisions_of, host, import_all, spread, turns
from conformance.proof.patch import Holder, MutantError, Patch
from conformance.proof.reach import Reach, places_of, reach, reaching
from conformance.proof.variant import REGISTRY, Variant
from conformance.reference.service import Service
from conformance.verdict.decisions import Outcome

_FEW_GROUPS = 4
"""Up to so many meet all tests, as to see which they need to would take longer."""

_SHOWN_ALARMS = 6
_TIMING = {"event": 5.0, "state": 5.0}
"""Patient: some variants are slow, but none by as much as a second."""


class Standing(StrEnum):
    """What the suite says about an honest variant."""

    TOLERATED = "tolerated"
    FAILED = "wrongly failed"
    OPEN = "left undecided"
    UNCHANGED = "unchanged"
    IDLE = "never met"
    UNRELIABLE = "unreliable"


_ALARMS = {Outcome.FAILED: Standing.FAILED, Outcome.INCONCLUSIVE: Standing.OPEN}
_ITSELF = "the reference itself"
_NOT_USABLE = {
    Standing.UNCHANGED: "its patch changed nothing",
    Standing.IDLE: "no test came to what it changes",
}


@dataclass(frozen=True, slots=True)
class Alarm:
    """A decision that an honest variant should not have got."""

    requirement: str
    outcome: Outcome
    test: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Treatment:
    """How the suite treats one variant, or several of a group where none alone is to blame.

    ``warnings`` are the rules of level SHOULD that it fails, which is no alarm.
    """

    id: str
    point: str
    statement: str
    outcome: Standing
    alarms: tuple[Alarm, ...] = ()
    warnings: tuple[str, ...] = ()
    detail: str = ""


def load_variants() -> list[Variant]:
    """Return all honest variants that the suite declares."""
    import_all(package)
    return list(REGISTRY)


def choose_variants(variants: Iterable[Variant], only: Sequence[str]) -> list[Variant]:
    """Return the variants that ``only`` names by their id, point or group; all without it.

    Raises:
        MutantError: a name fits none.
    """
    every = list(variants)
    for name in only:
        if not any(name in (v.id, v.point, v.group) for v in every):
            raise MutantError(f"there is no variant {name}, nor one of a point or group {name}")
    return [v for v in every if not only or {v.id, v.point, v.group} & set(only)]


def tolerance(chosen: Sequence[Variant], processes: int, *, alone: bool) -> list[Treatment]:
    """Run the variants, together where they can be, and return how each is treated."""
    groups: dict[str, list[str]] = defaultdict(list)
    for variant in chosen:
        groups[variant.id if alone or variant.group is None else variant.group].append(variant.id)
    known_reach: Reach | None = None
    if len(groups) > _FEW_GROUPS:
        places = {v.id: places_of(v.patch) for v in chosen}
        known_reach = reach(frozenset().union(*places.values()), processes // 2 or 1, _TIMING)
    meetings = [
        Meeting(
            tuple(ids),
            None
            if known_reach is None
            else reaching(known_reach, chain.from_iterable(places[name] for name in ids)),
        )
        for ids in groups.values()
    ]
    # The longest first, so that no process has to wait for another at the end.
    meetings.sort(key=lambda meeting: -len(meeting.tests or ()))
    treatments = spread(partial(_treat_part, meetings), min(processes, len(meetings)))
    known = {treatment.id: treatment for treatment in treatments}
    own = [known.pop(variant.id) for variant in chosen]
    return [*own, *known.values()]


@dataclass(frozen=True, slots=True)
class Meeting:
    """The ids of variants that are applied together, and the tests that they meet (all: None)."""

    variants: tuple[str, ...]
    tests: frozenset[str] | None


def _treat_part(meetings: Sequence[Meeting], folder: Path) -> list[Treatment]:
    """Run the share of the meetings that falls to this process."""
    return host(
        lambda service: _VariantLoop(turns(meetings, folder), service),
        timing=_TIMING,
        options=["--fuzz-examples=0"],
    )


class _Watch(Patch):
    """A patch that notes whether what it put in place is ever used."""

    used = False

    def replace(self, holder: Holder, name: str, value: Any) -> None:
        """Put ``value`` in the place of an attribute; only of functions the use can be noted."""
        if not inspect.isfunction(value):
            self.used = True
            super().replace(holder, name, value)
            return

        @wraps(value)
        def noting(*arguments: Any, **named: Any) -> Any:
            self.used = True
            return value(*arguments, **named)

        super().replace(holder, name, noting)

    def row(self, holder: Holder, name: str, key: Any, value: Any) -> None:
        """Change one row of a table, or add one."""
        self.used = True
        super().row(holder, name, key, value)

    def drop(self, holder: Holder, name: str, key: Any) -> None:
        """Take one row out of a table."""
        self.used = True
        super().drop(holder, name, key)


class _VariantLoop:
    """The pytest plugin that runs tests under each group of variants."""

    def __init__(self, meetings: Iterable[Meeting], service: Service) -> None:
        self._meetings = meetings
        self._service = service
        self.results: list[Treatment] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._suite = session.config.stash[SESSION]
        self._suite.reports = False
        known = {variant.id: variant for variant in load_variants()}
        for meeting in self._meetings:
            met = meeting.tests
            tests = [test for test in session.items if met is None or test.nodeid in met]
            self.results += self._treat([known[name] for name in meeting.variants], tests)
        return True

    def _treat(self, group: Sequence[Variant], tests: Sequence[pytest.Item]) -> list[Treatment]:
        treatments = {variant.id: _tried(variant) for variant in group}
        usable = [v for v in group if treatments[v.id].outcome is Standing.TOLERATED]
        if not usable:
            return list(treatments.values())
        alarms, watches = self._alarms(usable, tests)
        # No variant is to be blamed for what the reference as it is brings about too.
        common = self._alarms((), _loud(tests, alarms))[0]
        usual = _places(common)
        if common:
            treatments[_ITSELF] = Treatment(
                _ITSELF, "", "without any variant", Standing.UNRELIABLE, tuple(common)
            )
        alarms = _besides(alarms, usual)
        loud = _loud(tests, alarms)
        own = self._blamed(usable, alarms, loud, usual)
        for variant, watch in zip(usable, watches, strict=True):
            treatments[variant.id] = _judged(variant, own[variant.id], met=watch.used)
        blamed = _places(chain.from_iterable(own.values()))
        if rest := _besides(alarms, blamed):
            treatments[""] = _judged(_together(usable), rest, met=True)
        return list(treatments.values())

    def _blamed(
        self,
        group: Sequence[Variant],
        alarms: Sequence[Alarm],
        tests: Iterable[pytest.Item],
        usual: set[tuple[str, str]],
    ) -> Mapping[str, list[Alarm]]:
        """Return by the id of a variant the alarms of a group that it brings about alone."""
        found: dict[str, list[Alarm]] = defaultdict(list)
        if len(group) == 1:
            found[group[0].id] += alarms
            return found
        for test in tests:
            parts = _halves(group)
            while parts:
                part = parts.pop()
                alarms = _besides(self._alarms(part, [test])[0], usual)
                if alarms and len(part) == 1:
                    found[part[0].id] += alarms
                elif alarms:
                    parts += _halves(part)
        return found

    def _alarms(
        self, variants: Sequence[Variant], tests: Sequence[pytest.Item]
    ) -> tuple[list[Alarm], list[_Watch]]:
        """Run tests under variants and return the decisions that should not have come."""
        watches = [_Watch() for _ in variants]
        alarms: list[Alarm] = []
        try:
            for variant, watch in zip(variants, watches, strict=True):
                variant.patch(watch)
            for test in tests:
                decisions = decisions_of(test, self._suite)
                alarms += [
                    Alarm(name, decision.outcome, test.nodeid, decision.detail)
                    for name, decision in decisions.items()
                    if decision.outcome in _ALARMS
                ]
        finally:
            for watch in reversed(watches):
                watch.revert()
            self._service.drop_work()
            self._suite.connection.memory.forget()
        return alarms, watches


def _halves(variants: Sequence[Variant]) -> list[Sequence[Variant]]:
    middle = len(variants) // 2
    return [variants[:middle], variants[middle:]]


def _places(alarms: Iterable[Alarm]) -> set[tuple[str, str]]:
    return {(alarm.requirement, alarm.test) for alarm in alarms}


def _besides(alarms: Iterable[Alarm], known: set[tuple[str, str]]) -> list[Alarm]:
    return [alarm for alarm in alarms if (alarm.requirement, alarm.test) not in known]


def _loud(tests: Iterable[pytest.Item], alarms: Iterable[Alarm]) -> list[pytest.Item]:
    """Return the tests that alarms come from."""
    names = {alarm.test for alarm in alarms}
    return [test for test in tests if test.nodeid in names]


def _tried(variant: Variant) -> Treatment:
    """Apply and take back a variant; nobody but its author can make it usable."""
    patch = Patch()
    try:
        variant.patch(patch)
        detail = "" if patch.changes else "it names no place"
    except MutantError as error:
        detail = str(error)
    finally:
        patch.revert()
    outcome = Standing.UNCHANGED if detail else Standing.TOLERATED
    return Treatment(variant.id, variant.point, variant.statement, outcome, detail=detail)


def _together(variants: Sequence[Variant]) -> Variant:
    """Return what stands for several variants none of which alone is to blame."""
    name = f"{variants[0].group or variants[0].id} together"
    return Variant(name, name, "all of the group, or chance", lambda _: None)


def _judged(variant: Variant, alarms: Sequence[Alarm], *, met: bool) -> Treatment:
    """Return how a variant is treated by its alarms."""
    known = catalogue()
    warnings = {
        alarm.requirement
        for alarm in alarms
        if alarm.outcome is Outcome.FAILED and known[alarm.requirement].level is Level.SHOULD
    }
    serious = tuple(alarm for alarm in alarms if alarm.requirement not in warnings)
    outcome = Standing.TOLERATED if met else Standing.IDLE
    if serious:
        failed = any(alarm.outcome is Outcome.FAILED for alarm in serious)
        outcome = Standing.FAILED if failed else Standing.OPEN
    return Treatment(
        variant.id, variant.point, variant.statement, outcome, serious, tuple(sorted(warnings))
    )


def variants(
    only: Annotated[
        list[str] | None,
        typer.Option(help="a variant, or all of one point or group; may be given several times"),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="write the result to this file too")
    ] = None,
    # Four for each core, as slow variants mostly wait.
    processes: Annotated[int, typer.Option(min=1)] = 4 * len(os.sched_getaffinity(0)),
    alone: Annotated[
        bool, typer.Option(help="run each variant by itself, in place of whole groups")
    ] = False,
) -> None:
    """Make other honest choices in the reference, and see whether the suite accepts each."""
    started = time.perf_counter()
    try:
        chosen = choose_variants(load_variants(), only or ())
        treatments = tolerance(chosen, processes, alone=alone)
    except MutantError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    seconds = time.perf_counter() - started
    for treatment in treatments:
        _print_treatment(treatment)
    counts = Counter(treatment.outcome for treatment in treatments)
    shown = ", ".join(f"{counts[standing]} {standing}" for standing in Standing if counts[standing])
    typer.echo(f"\n{len(treatments)} variants in {seconds:.1f} s: {shown}")
    if json_file is not None:
        content = {"variants": [asdict(treatment) for treatment in treatments]}
        text = json.dumps(content, indent=1, ensure_ascii=False)
        json_file.write_text(text + "\n", encoding="utf-8")
    if not treatments or any(t.outcome is not Standing.TOLERATED for t in treatments):
        raise typer.Exit(1)


def _print_treatment(treatment: Treatment) -> None:
    if treatment.outcome is Standing.TOLERATED:
        warned = f"  (warned by {', '.join(treatment.warnings)})" if treatment.warnings else ""
        typer.echo(f"{treatment.outcome:15}{treatment.id}  {treatment.statement}{warned}")
        return
    why = _NOT_USABLE.get(treatment.outcome)
    detail = f" ({treatment.detail})" if treatment.detail else ""
    typer.echo(
        f"{treatment.outcome.upper():15}{treatment.id}  {treatment.statement}"
        + (f": {why}{detail}" if why else "")
    )
    for alarm in treatment.alarms[:_SHOWN_ALARMS]:
        test = alarm.test.rpartition("/")[2]
        first = alarm.detail.partition("\n")[0]
        typer.echo(f"    {alarm.requirement} {alarm.outcome.upper()} by {test}: {first}")
    more = len(treatment.alarms) - _SHOWN_ALARMS
    if more > 0:
        typer.echo(f"    and {more} more")
