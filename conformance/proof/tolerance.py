"""Runs the suite against conforming variants of the reference: which does it not tolerate?

The dual of the mutant runner, by the same means. A variant meets all scenarios that come to what it
changes, as the survey of ``reach`` tells; none may fail or be left undecided, while a check that
has nothing to decide is fine.

To meet one variant after the other would take hours, so that many are applied at once. That they
are tolerated together says that each is, as long as none of them hides what another does. So those
that change one place of the reference, such as one function, are applied together only where they
are declared to be of one group: who declares them sees to it that they change different things
there. Variants that change different places are combined without regard to groups; where one of
them keeps a test from coming to what another changes, the test meets the other once more without
it. The combinations are drawn so that few tests have to meet many of them.

Where a check complains, the combination shrinks to the variant to blame, or to the few that are to
blame together; and the restored reference meets the test too, so that nobody is blamed for what is
the same there.
"""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import time
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from functools import cache, partial, wraps
from itertools import accumulate, chain, product, zip_longest
from math import ceil
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer

from conformance.contract.catalogue import Level, catalogue
from conformance.effort import is_generated
from conformance.exchange.shard import WHOLE, Shard
from conformance.plugin import SESSION
from conformance.proof import variants as package
from conformance.proof.draw import TODAY, Draw
from conformance.proof.host import (
    decisions_of,
    host,
    import_all,
    modules_of_tests,
    modules_with,
    node_of,
    spread,
    turns,
)
from conformance.proof.patch import Holder, MutantError, Patch
from conformance.proof.reach import Seen, Survey, places_of, survey
from conformance.proof.variant import REGISTRY, Variant
from conformance.reference.service import Service
from conformance.verdict.decisions import Decision, Outcome

_SECONDS_PER_START = 10.0
"""How long tests have to take before one more process is worth its start."""

_SECONDS_AT_ONCE = 3.0
"""For how long the tests of a group run in one process before another may take its next ones."""

_PARTS = 11
"""How many parts the variants are dealt out to; there are more where one fits into none."""

_SHOWN_ALARMS = 6
_TIMING = {"event": 5.0, "state": 5.0}
"""Patient: some variants are slow, but none by as much as a second."""


class VariantOutcome(StrEnum):
    """What the suite says about a conforming variant."""

    TOLERATED = "tolerated"
    FAILED = "wrongly failed"
    OPEN = "left undecided"
    UNCHANGED = "unchanged"
    IDLE = "never met"
    UNRELIABLE = "unreliable"


_ALARMS = frozenset({Outcome.FAILED, Outcome.INCONCLUSIVE})
_REFERENCE = Variant("the reference itself", "", "without any variant", lambda _: None)
_CHANCE = Variant("chance", "", "no variant brings it about again", lambda _: None)
_NOT_USABLE = {
    VariantOutcome.UNCHANGED: "its patch changed nothing",
    VariantOutcome.IDLE: "no test came to what it changes",
}


@dataclass(frozen=True, slots=True)
class FalseAlarm:
    """A decision that a conforming variant should not have got."""

    requirement: str
    outcome: Outcome
    test: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """What became of one variant, or of several that are to blame together."""

    id: str
    point: str
    statement: str
    outcome: VariantOutcome
    alarms: tuple[FalseAlarm, ...] = ()
    detail: str = ""


def load_variants() -> list[Variant]:
    """Return all conforming variants that the suite declares."""
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


@dataclass(frozen=True, slots=True)
class Tolerance:
    """What became of each variant, and how many of the tests that come to one were run."""

    results: Sequence[Result]
    run: int
    coming: int


def tolerance(
    chosen: Sequence[Variant],
    processes: int,
    *,
    alone: bool,
    budget: float | None = None,
    tests: Sequence[str] = (),
) -> Tolerance:
    """Run the variants, together where they can be.

    Args:
        chosen: the variants.
        processes: how many processes share the tests.
        alone: run each by itself.
        budget: how many seconds of tests to run at most under those that are together; all tests
            without it.
        tests: parts of the node ids of the tests to run, and of no others; variants that these do
            not come to have no result then. All tests without any.

    Raises:
        MutantError: one of them is part of no node id.
    """
    every = survey(processes // 2 or 1, fuzz_examples=0)
    if tests:
        every = named(every, tests)
        chosen = [one for one in chosen if every.reaching(places_of(one.patch))]
    coming = every.reaching(chain.from_iterable(places_of(variant.patch) for variant in chosen))
    seen = every if budget is None else affordable(every, coming, budget)
    meetings = [
        Meeting(tuple(combination.variants), tests)
        for combination in combined(chosen, seen, alone=alone)
        for tests in _shares(combination.tests, seen)
    ]
    # The longest first, so that no process has to wait for another at the end.
    meetings.sort(key=lambda meeting: -sum(seen.tests[name].seconds for name in meeting.tests))
    seconds = sum(seen.tests[name].seconds for meeting in meetings for name in meeting.tests)
    worthwhile = ceil(seconds / _SECONDS_PER_START) or 1
    met = spread(partial(_meet_part, meetings), min(processes, worthwhile), among=len(meetings))
    by_id = _by_id(met)
    own = [_judged(by_id.pop(variant.id)) for variant in chosen]
    if tests:
        own = [one for one in own if one.outcome is not VariantOutcome.IDLE]
    run = {name for meeting in meetings for name in meeting.tests}
    return Tolerance([*own, *map(_judged, by_id.values())], len(run), len(coming))


def named(every: Survey, names: Sequence[str]) -> Survey:
    """Return a survey of those tests alone whose node ids have one of the names in them."""
    for name in names:
        if not any(name in test for test in every.tests):
            raise MutantError(f"there is no test that has {name} in its node id")
    kept = {test: one for test, one in every.tests.items() if any(name in test for name in names)}
    return replace(every, tests=kept)


def affordable(every: Survey, coming: Iterable[Seen], seconds: float) -> Survey:
    """Return a survey of those tests alone that take so many seconds together.

    Each function of tests gives one of its cases before any gives a second one; which functions go
    first is chance, but always the same.
    """
    functions: dict[str, list[Seen]] = defaultdict(list)
    for one in coming:
        functions[one.test.partition("[")[0]].append(one)
    drawn = sorted(functions, key=lambda name: hashlib.sha256(name.encode()).digest())
    rounds = zip_longest(*(functions[name] for name in drawn))
    ordered = [one for cases in rounds for one in cases if one is not None]
    spent = accumulate(one.seconds for one in ordered)
    kept = {one.test: one for one, total in zip(ordered, spent, strict=True) if total <= seconds}
    return replace(every, tests=kept)


def tolerance_drawn(
    chosen: Sequence[Variant], processes: int, draw: Draw
) -> tuple[list[Result], int]:
    """Run a share of the scenarios once, under one part of the variants that is drawn.

    What a test comes to is not surveyed before, so that a variant that others hide is not met, and
    has no result.

    Returns:
        What became of each variant that was met, and how many were drawn.
    """
    parts = partitioned(chosen)
    names = parts[draw.seed // draw.shares % len(parts)]
    return _met(spread(partial(_meet_all, [names], None, draw.shard), processes)), len(names)


def tolerance_of_generated(chosen: Sequence[Variant], processes: int, seed: int) -> list[Result]:
    """Run the generated requests and the models of a seed under all variants that can go together.

    Returns:
        What became of each variant that was met.
    """
    together = partitioned(chosen)
    return _met(spread(partial(_meet_all, together, seed, WHOLE), processes))


def _met(encounters: Iterable[Encounter]) -> list[Result]:
    """Return what became of the variants that were met."""
    results = map(_judged, _by_id(encounters).values())
    return [one for one in results if one.outcome is not VariantOutcome.IDLE]


def _by_id(encounters: Iterable[Encounter]) -> dict[str, list[Encounter]]:
    found: dict[str, list[Encounter]] = defaultdict(list)
    for encounter in encounters:
        found[encounter.id].append(encounter)
    return found


def partitioned(variants: Sequence[Variant]) -> list[list[str]]:
    """Return the ids of all variants in few parts, each of variants that can be applied together.

    A variant has its part by chance, but always the same: another variant that is declared leaves
    nearly all where they are, so that no new ones meet.
    """
    places = {variant.id: places_of(variant.patch) for variant in variants}
    tables = {name: [place.partition("[")[0] for place in places[name]] for name in places}
    wanted = Counter(chain.from_iterable(map(set, tables.values())))
    found = [Combination(number) for number in range(_PARTS)]

    def needed(variant: Variant) -> tuple[int, str]:
        # What many change goes first: each of these needs a part of its own.
        return -max((wanted[table] for table in tables[variant.id]), default=0), variant.id

    def drawn(variant: Variant, part: Combination) -> tuple[bool, bytes]:
        # Those of a group stand together, as they keep all others out.
        stranger = not part.has(variant.group or variant.id, places[variant.id])
        return stranger, hashlib.sha256(f"{variant.id} {part.number}".encode()).digest()

    for variant in sorted(variants, key=needed):
        best = min(_fitting(variant, places[variant.id], found), key=partial(drawn, variant))
        best.take(variant, places[variant.id], {})
    return [one.variants for one in found if one.variants]


def _fitting(
    variant: Variant, places: Collection[str], found: list[Combination], *, alone: bool = False
) -> list[Combination]:
    """Return the combinations that can take a variant in; one that is put to them if none can.

    ``alone``: none of them may.
    """
    group = variant.group or variant.id
    fitting = [one for one in found if not alone and one.takes(group, places)]
    if not fitting:
        fitting = [Combination(len(found))]
        found += fitting
    return fitting


@dataclass
class Combination:
    """Variants that are applied together, the one of a number among others.

    ``tests`` has the tests that come to what any of them changes, each with the ids of those that
    it was seen to come to. ``groups`` has the groups of those that change a place, by the name of
    the place; ``name[`` is any row of a table.
    """

    number: int
    variants: list[str] = field(default_factory=list)
    tests: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    groups: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))

    def takes(self, group: str, places: Iterable[str]) -> bool:
        """Return whether a variant of a group can change these places beside the others."""
        return all(
            self.groups[other] <= {group}
            for place in places
            for name, row, _ in [place.partition("[")]
            for other in (place, name if row else f"{name}[")
        )

    def has(self, group: str, places: Iterable[str]) -> bool:
        """Return whether variants of a group change one of these places."""
        return any(group in self.groups[place] for place in places)

    def take(self, variant: Variant, places: Iterable[str], tests: Mapping[str, bool]) -> None:
        """Take in a variant with the tests that may come to it: were they seen to?"""
        self.variants.append(variant.id)
        for test, is_seen in tests.items():
            self.tests[test] += [variant.id] if is_seen else []
        group = variant.group or variant.id
        for place in places:
            name, row, _ = place.partition("[")
            self.groups[place].add(group)
            if row:
                self.groups[f"{name}["].add(group)


def combined(variants: Sequence[Variant], seen: Survey, *, alone: bool) -> list[Combination]:
    """Return the variants in few combinations, each of variants that can be applied together."""
    places = {variant.id: places_of(variant.patch) for variant in variants}
    tests = {name: _coming(seen, places[name]) for name in places}
    found: list[Combination] = []

    def seconds(names: Iterable[str], besides: Collection[str] = ()) -> float:
        return sum(seen.tests[name].seconds for name in names if name not in besides)

    # Those that meet most tests first, so that the others find a place beside them.
    for variant in sorted(variants, key=lambda one: -seconds(tests[one.id])):
        name = variant.id
        fitting = _fitting(variant, places[name], found, alone=alone)
        best = min(fitting, key=lambda one: seconds(tests[name], one.tests))
        best.take(variant, places[name], tests[name])
    return found


def _coming(seen: Survey, places: Collection[str]) -> dict[str, bool]:
    """Return the tests that may come to places; whether they were seen to come to one."""
    noted = [place for place in places if place.partition("[")[0] in seen.noted]
    sure = {one.test for one in seen.reaching(noted)}
    return {one.test: one.test in sure for one in seen.reaching(places)}


def _shares(tests: Mapping[str, Sequence[str]], seen: Survey) -> Iterator[dict[str, Sequence[str]]]:
    """Yield the tests in parts that take some seconds each; one part where there are none."""
    part: dict[str, Sequence[str]] = {}
    seconds = 0.0
    for name, variants in tests.items():
        part[name] = variants
        seconds += seen.tests[name].seconds
        if seconds > _SECONDS_AT_ONCE:
            yield part
            part, seconds = {}, 0.0
    if part or not tests:
        yield part


@dataclass(frozen=True, slots=True)
class Meeting:
    """The ids of variants that are applied together, and the tests that they meet.

    Each test has with it the ids of those that it was seen to come to.
    """

    variants: tuple[str, ...]
    tests: Mapping[str, Sequence[str]]


@dataclass(frozen=True, slots=True)
class Encounter:
    """What came of one variant in one meeting: the false alarms that it alone brings about.

    ``unusable`` says why it cannot be applied, where it cannot; ``met`` whether a test came to what
    it changes.
    """

    id: str
    point: str
    statement: str
    alarms: tuple[FalseAlarm, ...]
    met: bool
    unusable: str

    @classmethod
    def of(
        cls,
        variant: Variant,
        alarms: Iterable[FalseAlarm] = (),
        *,
        met: bool = False,
        unusable: str = "",
    ) -> Encounter:
        """Return what came of a variant, which cannot go from one process to another itself."""
        return cls(variant.id, variant.point, variant.statement, tuple(alarms), met, unusable)


def _meet_part(meetings: Sequence[Meeting], folder: Path) -> list[Encounter]:
    """Run the share of the meetings that falls to this process."""
    return host(
        lambda service: _VariantLoop(lambda _: turns(meetings, folder), service),
        timing=_TIMING,
        options=["--fuzz-examples=0"],
        modules=modules_with(test for meeting in meetings for test in meeting.tests),
    )


def _meet_all(
    together: Sequence[Sequence[str]], seed: int | None, shard: Shard, folder: Path
) -> list[Encounter]:
    """Run the tests that fall to this process under each combination of variants of these ids.

    They are those of a shard. With ``seed`` they are those that generate what they send, by it; the
    scenarios without it.
    """
    return host(
        lambda service: _VariantLoop(partial(_by_module, together, shard, folder), service),
        timing=_TIMING,
        options=["--fuzz-examples=0" if seed is None else f"--run-seed={seed}"],
        modules=[
            path
            for path in modules_of_tests().values()
            if is_generated(node_of(path)) == (seed is not None)
        ],
    )


def _by_module(
    together: Sequence[Sequence[str]], shard: Shard, folder: Path, tests: Iterable[pytest.Item]
) -> Iterator[Meeting]:
    """Yield the meetings of combinations with the modules that fall to this process."""
    by_module: dict[Path, dict[str, Sequence[str]]] = defaultdict(dict)
    for test in tests:
        if shard.has(test.nodeid):
            by_module[test.path][test.nodeid] = ()
    for names, module in turns(product(together, by_module), folder):
        yield Meeting(tuple(names), by_module[module])


class _Watch(Patch):
    """A patch that notes whether what it put in place is used.

    Of what is no function no use can be noted: it counts as used.
    """

    used = False
    is_blind = False

    def put(self, holder: Holder, name: str, value: Any) -> None:
        """Put ``value`` in the place of an attribute."""
        if not inspect.isfunction(value):
            self.is_blind = True
            super().put(holder, name, value)
            return

        @wraps(value)
        def noting(*arguments: Any, **named: Any) -> Any:
            self.used = True
            return value(*arguments, **named)

        super().put(holder, name, noting)

    def row(self, holder: Holder, name: str, key: Any, value: Any) -> None:
        """Change one row of a table, or add one."""
        self.is_blind = True
        super().row(holder, name, key, value)

    def drop(self, holder: Holder, name: str, key: Any) -> None:
        """Take one row out of a table."""
        self.is_blind = True
        super().drop(holder, name, key)


@dataclass(frozen=True, slots=True)
class _Run:
    """One test under some variants: the false alarms, and the ids of the variants it came to."""

    test: pytest.Item
    alarms: Sequence[FalseAlarm]
    used: Collection[str]


class _VariantLoop:
    """The pytest plugin that runs tests under each group of variants.

    ``meetings`` says which, of all tests that were collected.
    """

    def __init__(
        self, meetings: Callable[[Sequence[pytest.Item]], Iterable[Meeting]], service: Service
    ) -> None:
        self._meetings = meetings
        self._service = service
        self._unusable = cache(_unusable)
        self.results: list[Encounter] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._suite = session.config.stash[SESSION]
        self._suite.reports = False
        known = load_variants()
        for meeting in self._meetings(session.items):
            group = [variant for variant in known if variant.id in meeting.variants]
            tests = [test for test in session.items if test.nodeid in meeting.tests]
            self.results += self._meet(group, tests, meeting.tests)
        return True

    def _meet(
        self,
        group: Sequence[Variant],
        tests: Sequence[pytest.Item],
        coming: Mapping[str, Sequence[str]],
    ) -> Iterator[Encounter]:
        """Yield what each of several variants brings about, and what they do together.

        ``coming`` has by the id of a test the variants that it came to in the survey.
        """
        reasons = {variant.id: self._unusable(variant) for variant in group}
        for variant in group:
            if reasons[variant.id]:
                yield Encounter.of(variant, unusable=reasons[variant.id])
        usable = [variant for variant in group if not reasons[variant.id]]
        met: set[str] = set()
        for run in self._runs(usable, tests) if usable else ():
            met.update(run.used)
            yield from self._blamed(usable, run)
            hidden = _hidden(usable, run, coming)
            # Whatever hides them is among the others.
            while hidden:
                again = self._runs(hidden, [run.test])[0]
                met.update(again.used)
                yield from self._blamed(hidden, again)
                left = _hidden(hidden, again, coming)
                hidden = left if len(left) < len(hidden) else []
        for variant in usable:
            yield Encounter.of(variant, met=variant.id in met)

    def _blamed(self, group: Sequence[Variant], run: _Run) -> Iterator[Encounter]:
        """Yield the false alarms of a run by the variants of a group that bring them about."""
        if not run.alarms:
            return
        # No variant is to be blamed for what the reference as it is brings about too.
        common = self._runs((), [run.test])[0].alarms
        if common:
            yield Encounter.of(_REFERENCE, common)
        usual = {alarm.requirement for alarm in common}

        def alarms(variants: Sequence[Variant]) -> list[FalseAlarm]:
            return _besides(self._runs(variants, [run.test])[0].alarms, usual)

        unexplained = _besides(run.alarms, usual)
        while again := alarms(group):
            unexplained = []
            blamed = shrunk(group, alarms)
            own = alarms(blamed) or again
            yield Encounter.of(blamed[0] if len(blamed) == 1 else _together(blamed), own, met=True)
            group = [variant for variant in group if variant not in blamed]
        if unexplained:
            yield Encounter.of(_CHANCE, unexplained, met=True)

    def _runs(self, variants: Sequence[Variant], tests: Sequence[pytest.Item]) -> list[_Run]:
        """Run tests under variants, and return what came of each."""
        watches = {variant.id: _Watch() for variant in variants}
        runs: list[_Run] = []
        try:
            for variant in variants:
                variant.patch(watches[variant.id])
            for test in tests:
                for watch in watches.values():
                    watch.used = watch.is_blind
                alarms = [
                    FalseAlarm(name, decision.outcome, test.nodeid, decision.detail)
                    for name, decision in decisions_of(test, self._suite).items()
                    if _is_alarm(decision)
                ]
                used = frozenset(name for name, watch in watches.items() if watch.used)
                runs.append(_Run(test, alarms, used))
        finally:
            for watch in reversed(watches.values()):
                watch.revert()
            self._service.reset()
            self._suite.connection.forget()
        return runs


def _hidden(
    group: Sequence[Variant], run: _Run, coming: Mapping[str, Sequence[str]]
) -> list[Variant]:
    """Return the variants that a test did not come to, although it does where they are not."""
    missed = set(coming[run.test.nodeid]) - set(run.used)
    return [variant for variant in group if variant.id in missed]


def _is_alarm(decision: Decision) -> bool:
    """Return whether a conforming variant should not have got a decision.

    To fail what is merely recommended is a warning, and no alarm.
    """
    recommended = catalogue()[decision.requirement].level is Level.SHOULD
    return decision.outcome in _ALARMS and not (recommended and decision.outcome is Outcome.FAILED)


def _besides(alarms: Iterable[FalseAlarm], usual: Collection[str]) -> list[FalseAlarm]:
    """Return the alarms on other requirements than the usual ones."""
    return [alarm for alarm in alarms if alarm.requirement not in usual]


def shrunk(
    group: Sequence[Variant], alarms: Callable[[Sequence[Variant]], object]
) -> list[Variant]:
    """Return the few variants of a group that bring about alarms, as the whole group does.

    Each of them is found as the last of the shortest beginning that does so beside those found.
    """
    needed: list[Variant] = []
    rest = list(group)
    while rest and not (needed and alarms(needed)):
        shortest = bisect_left(
            range(1, len(rest)), True, key=lambda size: bool(alarms([*rest[:size], *needed]))
        )
        needed.insert(0, rest[shortest])
        rest = rest[:shortest]
    return needed


def _unusable(variant: Variant) -> str:
    """Apply and take back a variant; return why it cannot be used, nothing where it can."""
    patch = Patch()
    try:
        variant.patch(patch)
    except MutantError as error:
        return str(error)
    else:
        return "" if patch.changes else "it names no place"
    finally:
        patch.revert()


def _together(variants: Sequence[Variant]) -> Variant:
    """Return what stands for several variants none of which alone is to blame."""
    name = " + ".join(variant.id for variant in variants)
    return Variant(name, "", "they contradict each other, or it is chance", lambda _: None)


def _judged(encounters: Sequence[Encounter]) -> Result:
    """Return what became of a variant in all its encounters."""
    first = encounters[0]
    alarms = tuple(alarm for encounter in encounters for alarm in encounter.alarms)
    met = any(encounter.met for encounter in encounters)
    outcome = VariantOutcome.TOLERATED if met else VariantOutcome.IDLE
    if first.unusable:
        outcome = VariantOutcome.UNCHANGED
    elif first.id == _REFERENCE.id:
        outcome = VariantOutcome.UNRELIABLE
    elif alarms:
        failed = any(alarm.outcome is Outcome.FAILED for alarm in alarms)
        outcome = VariantOutcome.FAILED if failed else VariantOutcome.OPEN
    return Result(first.id, first.point, first.statement, outcome, alarms, first.unusable)


def variants(  # noqa: PLR0917 - typer passes all of them by name
    only: Annotated[
        list[str] | None,
        typer.Option(help="a variant, or all of one point or group; may be given several times"),
    ] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="write the result to this file too")
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="print what is as it should be, too")
    ] = False,
    test: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME",
            help="run the tests that have this in their node ids, such as a module that was "
            "changed, and no others; may be given several times",
        ),
    ] = None,
    # Four for each core, as slow variants mostly wait.
    processes: Annotated[int, typer.Option(min=1)] = 4 * len(os.sched_getaffinity(0)),
    alone: Annotated[
        bool, typer.Option(help="run each variant by itself, in place of whole groups")
    ] = False,
    budget: Annotated[
        float | None,
        typer.Option(
            min=1,
            metavar="SECONDS",
            help="run as many of the tests as take so long in one process, as different ones as "
            "there are",
        ),
    ] = None,
    draw: Annotated[
        str | None,
        typer.Option(
            metavar="SEED",
            help=f"run each scenario once at most, under one part of the variants: a number, or "
            f"{TODAY}",
        ),
    ] = None,
    shares: Annotated[
        int, typer.Option(min=1, help="with --draw: one of so many shares of the scenarios")
    ] = 1,
    fuzz: Annotated[
        int | None,
        typer.Option(
            metavar="SEED", help="run the generated requests and the models of a seed, and no other"
        ),
    ] = None,
) -> None:
    """Make other allowed choices in the reference, and see whether the suite accepts each.

    Prints each choice that is not accepted, and the total.
    """
    started = time.perf_counter()
    try:
        chosen = choose_variants(load_variants(), only or ())
        if fuzz is not None:
            results = tolerance_of_generated(chosen, processes, fuzz)
            met = {one.id for one in results} & {one.id for one in chosen}
            typer.echo(f"{len(met)} of {len(chosen)} variants met by requests of seed {fuzz}")
        elif draw is not None:
            by_chance = Draw.parse(draw, shares)
            results, together = tolerance_drawn(chosen, processes, by_chance)
            typer.echo(f"{together} of {len(chosen)} variants drawn together by {by_chance}")
        else:
            found = tolerance(chosen, processes, alone=alone, budget=budget, tests=test or ())
            results = [*found.results]
            if budget is not None:
                typer.echo(f"{found.run} of the {found.coming} tests that come to them were run")
    except MutantError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    seconds = time.perf_counter() - started
    for result in results:
        if verbose or result.outcome is not VariantOutcome.TOLERATED:
            _print(result)
    counts = Counter(result.outcome for result in results)
    shown = ", ".join(
        f"{counts[outcome]} {outcome}" for outcome in VariantOutcome if counts[outcome]
    )
    typer.echo(f"{len(results)} variants in {seconds:.1f} s: {shown}")
    if json_file is not None:
        content = {"variants": [asdict(result) for result in results]}
        text = json.dumps(content, indent=1, ensure_ascii=False)
        json_file.write_text(text + "\n", encoding="utf-8")
    if not results or any(one.outcome is not VariantOutcome.TOLERATED for one in results):
        raise typer.Exit(1)


def _print(result: Result) -> None:
    if result.outcome is VariantOutcome.TOLERATED:
        typer.echo(f"{result.outcome:15}{result.id}  {result.statement}")
        return
    why = _NOT_USABLE.get(result.outcome)
    detail = f" ({result.detail})" if result.detail else ""
    typer.echo(
        f"{result.outcome.upper():15}{result.id}  {result.statement}"
        + (f": {why}{detail}" if why else "")
    )
    for alarm in result.alarms[:_SHOWN_ALARMS]:
        test = alarm.test.rpartition("/")[2]
        first = alarm.detail.partition("\n")[0]
        typer.echo(f"    {alarm.requirement} {alarm.outcome.upper()} by {test}: {first}")
    more = len(result.alarms) - _SHOWN_ALARMS
    if more > 0:
        typer.echo(f"    and {more} more")
