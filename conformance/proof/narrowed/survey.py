"""Surveys which tests come to a function of the reference in which circumstances."""

from __future__ import annotations

import inspect
import threading
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial, wraps
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.exc import SQLAlchemyError

from conformance.plugin import SESSION
from conformance.proof.host import host, module_of, modules_of_tests, outcomes_of, spread, turns
from conformance.proof.narrowed.circumstances import Circumstances, requests_told
from conformance.proof.reach import places_replaced
from conformance.proof.remembered import Known, Remembered
from conformance.reference.service import Service
from conformance.verdict.decisions import Outcome


@dataclass(frozen=True, slots=True)
class Survey:
    """What every test does.

    ``tests`` are those that come to a place in a circumstance, ``passed`` the requirements that a
    test finds kept, ``breadth`` to how many places and circumstances it comes, ``names`` each place
    by all names that it has.
    """

    tests: Mapping[tuple[str, str], frozenset[str]]
    passed: Mapping[str, frozenset[str]]
    breadth: Mapping[str, int]
    names: Mapping[str, str]


class Watch:
    """Tells circumstances of calls from within calls, without telling those of its own."""

    def __init__(self) -> None:
        self.circumstances = Circumstances()
        self._own = threading.local()

    def of(self, place: str, arguments: Sequence[Any]) -> set[str]:
        """Return the circumstances of a call; none of one that is made to tell them."""
        if getattr(self._own, "asking", False):
            return set()
        self._own.asking = True
        try:
            return self.circumstances.of(place, arguments)
        except SQLAlchemyError:
            # The broken reference may have left its transaction in any state.
            return set()
        finally:
            self._own.asking = False


def surveyed(processes: int) -> Survey:
    """Return what every test does; those of modules that have changed are run to see it."""
    remembered = Remembered("narrowed")
    known = remembered.known()
    missing = [name for name in modules_of_tests() if name not in known.modules]
    if missing:
        tests: dict[str, dict[str, Any]] = {name: {} for name in missing}
        names = dict(known.shared or {})
        for share in spread(partial(_part, missing), processes):
            names |= share.names
            for module, test, notes, passed in share.tests:
                tests[module][test] = {"notes": notes, "passed": passed}
        known = Known({**known.modules, **tests}, names)
        remembered.keep(known)
    return _survey_of(known)


def _survey_of(known: Known) -> Survey:
    tests: dict[tuple[str, str], set[str]] = defaultdict(set)
    passed, breadth = {}, {}
    for module in modules_of_tests():
        for test, entry in known.modules[module].items():
            passed[test], breadth[test] = frozenset(entry["passed"]), len(entry["notes"])
            for place, circumstance in entry["notes"]:
                tests[place, circumstance].add(test)
    return Survey(
        {key: frozenset(found) for key, found in tests.items()}, passed, breadth, known.shared
    )


@dataclass(frozen=True, slots=True)
class _Share:
    names: Mapping[str, str]
    tests: Sequence[tuple[str, str, Sequence[tuple[str, str]], Sequence[str]]]


def _part(modules: Sequence[str], folder: Path) -> list[_Share]:
    """Run the share of the tests that falls to this process."""
    paths = modules_of_tests()
    return host(lambda service: _Notes(service, folder), modules=[paths[name] for name in modules])


class _Notes:
    """The pytest plugin that runs tests and notes in which circumstances functions are called."""

    def __init__(self, service: Service, folder: Path) -> None:
        self._service = service
        self._folder = folder
        self._watch = Watch()
        self._notes: set[tuple[str, str]] = set()
        self.results: list[_Share] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        suite = session.config.stash[SESSION]
        suite.reports = False
        tests = []
        with requests_told(self._service), places_replaced(self._noting) as names:
            for test in turns(session.items, self._folder):
                # What another test has learned, this one has to find out by itself.
                suite.connection.forget()
                self._notes.clear()
                self._watch.circumstances.forget()
                outcomes = outcomes_of(test, suite)
                passed = [name for name in outcomes if outcomes[name] is Outcome.PASSED]
                tests.append((module_of(test), test.nodeid, sorted(self._notes), sorted(passed)))
        self.results.append(_Share(names, tests))
        return True

    def _noting(self, value: Any, place: str) -> Any:
        if not inspect.isfunction(value):
            return value

        @wraps(value)
        def function(*arguments: Any, **named: Any) -> Any:
            given = [*arguments, *named.values()]
            self._notes |= {(place, found) for found in self._watch.of(place, given)}
            return value(*arguments, **named)

        return function
