"""Surveys what each test does against the reference as it is: what it comes to, asks and decides.

A change of the reference has to meet only the tests that come to what it changes, and a change of
the profile only those that ask for what it changes. One run of the suite notes it, and what it
notes is remembered as long as the reference, the suite and what both are built on stay the same.

A place of the reference is a function or a table, and what a patch changes. A use is noted for all
functions, and for all tables that nothing but modules and classes refer to; any other place counts
as come to by every test. So nothing has to be measured again for a new patch.

An entry that wrongly says "not come to" would keep a test from a variant that it fails. So nothing
but the digests of all that a test can depend on keeps an entry alive, no entry leaves the checkout,
and a variant that none of the tests it meets comes to is reported as never met.
"""

from __future__ import annotations

import gc
import inspect
import pkgutil
import sys
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial, wraps
from importlib import import_module
from pathlib import Path
from types import FunctionType
from typing import Any

import pytest

from conformance import reference
from conformance import session as session_module
from conformance.contract.catalogue import Requirement
from conformance.exchange.delivery import Delivery
from conformance.exchange.journal import Journal
from conformance.exchange.shard import WHOLE, Shard
from conformance.items import requirements_named_by
from conformance.plugin import SESSION
from conformance.profile.features import Features
from conformance.profile.model import Profile
from conformance.profile.needs import unmet
from conformance.proof.host import (
    host,
    module_of,
    modules_of_tests,
    run_recorded,
    spread,
    turns,
)
from conformance.proof.patch import Holder, MutantError, Patch, place_of, row_of
from conformance.proof.remembered import Known, Remembered
from conformance.run import Connection
from conformance.session import Session
from conformance.verdict.decisions import NO_FACTS, Decision, Facts, Outcome, Reason
from conformance.verdict.recorder import Recorder
from conformance.webhooks.inbox import Inbox

_FUZZ = "fuzz/"
_READING_ROW = ("__getitem__", "__contains__", "get")
_READING_ROWS = (
    "__eq__",
    "__iter__",
    "__len__",
    "__or__",
    "__ror__",
    "copy",
    "items",
    "keys",
    "values",
)


@dataclass(frozen=True, slots=True)
class Seen:
    """What one test does against the reference as it is.

    ``places`` are those that it comes to, as far as that can be noted, ``features`` those of the
    profile that it asks for besides whether its requirements can be decided. Who looks at webhooks
    asks for ``webhooks``. ``delivered`` are the requirements on which it would not have decided the
    same without what webhooks brought while it ran.
    """

    test: str
    module: str
    named: tuple[str, ...]
    places: frozenset[str]
    features: frozenset[str]
    decisions: tuple[Decision, ...]
    delivered: frozenset[str]
    seconds: float


@dataclass
class _Apart(Recorder):
    """Keeps apart what the test decides by itself; ``delivering`` says whether a webhook does."""

    delivering: threading.local = field(default_factory=threading.local)
    own: Recorder = field(default_factory=lambda: Recorder("", ()))

    def decide(
        self,
        requirement: str,
        outcome: Outcome,
        detail: str = "",
        reason: Reason | None = None,
        facts: Facts = NO_FACTS,
    ) -> None:
        """Note what a check found."""
        super().decide(requirement, outcome, detail, reason, facts)
        if not getattr(self.delivering, "now", False):
            self.own.decide(requirement, outcome)

    def delivered(self) -> frozenset[str]:
        """Return the requirements that webhooks decided, or decided otherwise."""
        own = {name: decision.outcome for name, decision in self.own.decisions.items()}
        return frozenset(
            name
            for name, decision in list(self.decisions.items())
            if own.get(name) is not decision.outcome
        )


@dataclass(frozen=True, slots=True)
class Survey:
    """What every test does against the reference as it is, by its node id.

    ``noted`` has the places whose uses were noted, each by all names that it has.
    """

    tests: Mapping[str, Seen]
    noted: Mapping[str, str]

    def reaching(self, places: Iterable[str]) -> list[Seen]:
        """Return the tests that come to one of the places; for one that is not noted, all."""
        wanted: set[str] = set()
        for place in places:
            name, row, key = place.partition("[")
            if name not in self.noted:
                return list(self.tests.values())
            own = self.noted[name]
            wanted |= {own + row + key, row_of(own, ALL)} if row else {own}
        return [seen for seen in self.tests.values() if seen.places & wanted]


def places_of(apply: Callable[[Patch], None]) -> frozenset[str]:
    """Return the places that a patch changes; none where it cannot be applied."""
    patch = Patch()
    try:
        apply(patch)
    except MutantError:
        return frozenset()
    finally:
        patch.revert()
    return frozenset(patch.places)


def survey(processes: int, *, fuzz_examples: int, shard: Shard = WHOLE) -> Survey:
    """Return what every test does; those of modules that have changed are run to see it.

    Args:
        processes: how many processes share the tests.
        fuzz_examples: the requests that are made up for each operation; without any, the tests that
            send them are left out.
        shard: which modules of tests to take.
    """
    remembered = Remembered("seen")
    known = remembered.known()
    # How many requests are made up concerns the tests that send them alone.
    wanted = {
        name: fuzz_examples if name.startswith(_FUZZ) else 0
        for name in modules_of_tests()
        if shard.has(name) and (fuzz_examples or not name.startswith(_FUZZ))
    }
    missing = [
        name for name in wanted if known.modules.get(name, {}).get("fuzz_examples") != wanted[name]
    ]
    if missing:
        options = [f"--fuzz-examples={fuzz_examples}"]
        shares = spread(partial(_part, missing, options), processes)
        known = _kept(known, shares, missing, wanted)
        remembered.keep(known)
    return _survey_of(known, wanted)


@dataclass(frozen=True, slots=True)
class _Share:
    """What one process saw, and the places whose uses it noted, each by all names that it has."""

    noted: Mapping[str, str]
    tests: Sequence[Seen]


def _part(modules: Sequence[str], options: Sequence[str], folder: Path) -> list[_Share]:
    """Run the share of the tests that falls to this process."""
    paths = modules_of_tests()
    return host(
        lambda _: _Notes(folder), options=options, modules=[paths[name] for name in modules]
    )


class _Notes:
    """The pytest plugin that runs tests and notes what each of them uses."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._places: set[str] = set()
        self._features: set[str] = set()
        self._delivering = threading.local()
        self.results: list[_Share] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        suite = session.config.stash[SESSION]
        suite.reports = False
        with (
            places_replaced(partial(_noting, self._places.add)) as noted,
            features_noted(self._features.add),
            _deliveries_noted(suite.connection, self._delivering, self._features.add),
        ):
            tests = [self._see(test, suite) for test in turns(session.items, self._folder)]
        self.results.append(_Share(noted, tests))
        return True

    def _see(self, test: pytest.Item, suite: Session) -> Seen:
        # What another test has learned, this one has to find out by itself.
        suite.connection.forget()
        self._places.clear()
        self._features.clear()
        started = time.perf_counter()
        recorder = _Apart(
            test.nodeid, tuple(requirements_named_by(test)), delivering=self._delivering
        )
        run_recorded(test, suite, recorder)
        clean = suite.connection.redactor.text
        return Seen(
            test.nodeid,
            module_of(test),
            tuple(requirements_named_by(test)),
            frozenset(self._places),
            frozenset(self._features),
            tuple(
                replace(decision, detail=clean(decision.detail), exchanges=())
                for decision in list(recorder.decisions.values())
            ),
            recorder.delivered(),
            round(time.perf_counter() - started, 3),
        )


# --- Places of the reference ----------------------------------------------------------------


ALL = "*"
"""In the place of a key: all rows of a table, as far as the reader looked."""


def _noted() -> dict[str, list[tuple[Holder, str]]]:
    """Return the places of the reference whose uses can be noted: where each of them is found."""
    found: dict[Any, list[tuple[Holder, str]]] = defaultdict(list)
    tables: dict[int, dict[Any, Any]] = {}
    for holder in _holders():
        for name, value in vars(holder).items():
            # What Python calls by itself is left alone.
            if inspect.isfunction(value) and not name.startswith("__"):
                found[holder, name].append((holder, name))
            elif type(value) is dict and not name.startswith("__"):
                found[id(value)].append((holder, name))
                tables[id(value)] = value
    for hidden in _referred_to(tables):
        del found[hidden]
    return {place_of(*places[0]): places for places in found.values()}


def _holders() -> Iterator[Holder]:
    """Yield the modules of the reference and the classes that they define."""
    for info in pkgutil.walk_packages(reference.__path__, f"{reference.__name__}."):
        module = import_module(info.name)
        yield module
        for value in vars(module).values():
            if inspect.isclass(value) and value.__module__ == module.__name__:
                yield value


def _referred_to(tables: Mapping[int, dict[Any, Any]]) -> set[int]:
    """Return the ids of tables that something else than a module refers to.

    Who keeps a table for itself reads it under no name.
    """
    spaces = {id(vars(module)) for module in list(sys.modules.values())}
    found: set[int] = set()
    for referrer in gc.get_referrers(*tables.values()):
        if id(referrer) in spaces or referrer is tables or inspect.isframe(referrer):
            continue
        found |= {id(value) for value in gc.get_referents(referrer) if id(value) in tables}
    return found


@contextmanager
def places_replaced(make: Callable[[Any, str], Any]) -> Iterator[Mapping[str, str]]:
    """Put what ``make`` makes of it in each place that can be noted, until the block ends.

    Args:
        make: gets the function or table, and the name of its place.

    Yields:
        the places by all their names.
    """
    before: list[tuple[Holder, str, Any]] = []
    noted: dict[str, str] = {}
    try:
        for place, holders in _noted().items():
            value = inspect.getattr_static(*holders[0])
            made = make(value, place)
            for holder, name in holders:
                before.append((holder, name, value))
                setattr(holder, name, made)
                noted[place_of(holder, name)] = place
        yield noted
    finally:
        for holder, name, value in before:
            setattr(holder, name, value)


def _noting(note: Callable[[str], None], value: FunctionType | dict[Any, Any], place: str) -> Any:
    """Return a function or table that has its uses noted."""
    if isinstance(value, dict):
        return _table(value, place, note)

    @wraps(value)
    def function(*arguments: Any, **named: Any) -> Any:
        note(place)
        return value(*arguments, **named)

    return function


def _table(rows: dict[Any, Any], place: str, note: Callable[[str], None]) -> dict[Any, Any]:
    """Return a copy of a table that notes which of its rows are read."""

    def row(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def noting(table: dict[Any, Any], key: Any, *default: Any) -> Any:
            note(place)
            note(row_of(place, key))
            return method(table, key, *default)

        return noting

    def rows_of(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def noting(*arguments: Any) -> Any:
            note(place)
            note(row_of(place, ALL))
            return method(*arguments)

        return noting

    kind = type(
        "Table",
        (dict,),
        {name: row(getattr(dict, name)) for name in _READING_ROW}
        | {name: rows_of(getattr(dict, name)) for name in _READING_ROWS},
    )
    table: dict[Any, Any] = kind(rows)
    return table


# --- Features of the profile ----------------------------------------------------------------


@contextmanager
def features_noted(note: Callable[[str], None]) -> Iterator[None]:
    """Have each question for a feature noted until the block ends.

    Whether the requirements of a test can be decided is asked of every profile anew.
    """
    names = frozenset(Features.model_fields)
    silent = False

    def reading(features: object, name: str) -> Any:
        if name in names and not silent:
            note(name)
        return object.__getattribute__(features, name)

    def asking(profile: Profile, requirement: Requirement) -> tuple[Reason, str] | None:
        nonlocal silent
        silent = True
        try:
            return unmet(profile, requirement)
        finally:
            silent = False

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(session_module, "unmet", asking)
        patch.setattr(Features, "__getattribute__", reading)
        yield


@contextmanager
def _deliveries_noted(
    connection: Connection, delivering: threading.local, note: Callable[[str], None]
) -> Iterator[None]:
    """Have each look at webhooks noted, and each webhook that is judged, until the block ends."""
    judge = connection.delivered

    def judging(delivery: Delivery, written: Journal | None) -> None:
        delivering.now = True
        try:
            judge(delivery, written)
        finally:
            delivering.now = False

    def looking(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def noting(*arguments: Any, **named: Any) -> Any:
            note("webhooks")
            return method(*arguments, **named)

        return noting

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(connection, "delivered", judging)
        for name in ("wait", "all"):
            patch.setattr(Inbox, name, looking(getattr(Inbox, name)))
        yield


# --- What is kept ---------------------------------------------------------------------------


def _kept(
    known: Known, shares: Sequence[_Share], modules: Iterable[str], options: Mapping[str, int]
) -> Known:
    """Return what was known with what processes saw of the tests of some modules.

    Processes may differ in what they can note: what counts is what all of them did. Of what passed,
    which is nearly everything, the ids are kept, and the places as bits, as there are hundreds.
    """
    noted = [set(share.noted.items()) for share in shares]
    if known.shared:
        noted.append(set(known.shared["noted"].items()))
    names = list(known.shared["names"]) if known.shared else []
    names += sorted(
        {place for share in shares for one in share.tests for place in one.places} - set(names)
    )
    number = {place: 1 << index for index, place in enumerate(names)}
    tests: dict[str, list[dict[str, Any]]] = {name: [] for name in modules}
    for share in shares:
        for seen in share.tests:
            others = [d.to_json() for d in seen.decisions if d.outcome is not Outcome.PASSED]
            tests[seen.module].append(
                {
                    "test": seen.test,
                    "named": seen.named,
                    "places": f"{sum(number[place] for place in seen.places):x}",
                    "features": sorted(seen.features),
                    "delivered": sorted(seen.delivered),
                    "passed": [
                        d.requirement for d in seen.decisions if d.outcome is Outcome.PASSED
                    ],
                    "others": others,
                    "seconds": seen.seconds,
                }
            )
    return Known(
        {**known.modules}
        | {name: {"fuzz_examples": options[name], "tests": tests[name]} for name in tests},
        {"noted": dict(set.intersection(*noted)), "names": names},
    )


def _survey_of(known: Known, modules: Iterable[str]) -> Survey:
    """Return what is known of the tests of some modules."""
    names: Sequence[str] = known.shared["names"]
    return Survey(
        {
            entry["test"]: _seen_of(module, entry, names)
            for module in modules
            for entry in known.modules[module]["tests"]
        },
        known.shared["noted"],
    )


def _seen_of(module: str, entry: Mapping[str, Any], names: Sequence[str]) -> Seen:
    bits = f"{int(entry['places'], 16):b}"
    return Seen(
        entry["test"],
        module,
        tuple(entry["named"]),
        frozenset(name for name, bit in zip(names, reversed(bits), strict=False) if bit == "1"),
        frozenset(entry["features"]),
        (
            *(Decision(name, Outcome.PASSED, entry["test"]) for name in entry["passed"]),
            *(Decision.from_json(other, entry["test"]) for other in entry["others"]),
        ),
        frozenset(entry["delivered"]),
        entry["seconds"],
    )
