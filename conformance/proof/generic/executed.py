"""Surveys which lines of the reference each test executes, and what it decides there.

A change has to meet only the tests that execute its lines; one of a table those that execute a line
which names the table, or a table made from it. The survey is kept as long as nothing changes that
the tests depend on.
"""

from __future__ import annotations

import ast
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import coverage
import pytest

from conformance.plugin import SESSION
from conformance.proof.generic.changes import ROOT, Change, modules, path_of
from conformance.proof.generic.swap import made_by, made_from, names_in
from conformance.proof.host import host, module_of, modules_of_tests, outcomes_of, spread, turns
from conformance.proof.remembered import Known, Remembered
from conformance.session import Session
from conformance.verdict.decisions import Outcome

_FEW = 40
"""By how many tests a line is executed seldom."""


@dataclass(frozen=True, slots=True)
class Execution:
    """What one test does against the reference as it is.

    ``lines`` has for each module of the reference the lines that it executes, as the bits of a
    number, ``passed`` the requirements that it finds kept, ``seconds`` how long it takes.
    """

    test: str
    module: str
    passed: frozenset[str]
    lines: Mapping[str, int]
    seconds: float

    @property
    def area(self) -> str:
        """The area of the test; that of a generated request is ``fuzz``."""
        parts = self.module.split("/")
        return parts[1] if parts[0] == "scenarios" else parts[0]

    @property
    def breadth(self) -> int:
        """How many lines of the reference the test executes."""
        return sum(bits.bit_count() for bits in self.lines.values())


@dataclass(frozen=True, slots=True)
class Survey:
    """What every test does."""

    tests: Sequence[Execution]

    def reaching(self, change: Change) -> list[Execution]:
        """Return the tests that execute a change, the most specific first.

        First come those of the change's own area, and among them those that execute least.
        """
        wanted = {
            module: sum(1 << line for line in lines) for module, lines in lines_of(change).items()
        }
        found = [
            one
            for one in self.tests
            if any(one.lines.get(module, 0) & bits for module, bits in wanted.items())
        ]
        return sorted(found, key=lambda one: (one.area != change.room, one.breadth, one.test))

    def seldom(self, change: Change, reaching: Sequence[Execution]) -> frozenset[str]:
        """Return the tests that execute a line of the changed piece that few others execute.

        A guard is met by every test that comes by, and what it guards against by these alone.
        """
        module = change.module
        found: set[str] = set()
        for line in range(change.start, change.start + len(change.before.splitlines())):
            tests = [one.test for one in reaching if one.lines.get(module, 0) >> line & 1]
            if len(tests) <= _FEW:
                found.update(tests)
        return frozenset(found)


def lines_of(change: Change) -> dict[str, set[int]]:
    """Return the lines of the reference by module; a test that executes one may see the change."""
    if change.is_function:
        names = {table.name for table in made_by(change.module, change.name)}
    else:
        name = change.name.partition(".")[0]
        names = {name, *(table.name for table in made_from(name))}
    found = {module: lines for module in modules() if (lines := _lines_naming(module, names))}
    if change.is_function:
        own = set(range(change.first, change.last + 1))
        found[change.module] = found.get(change.module, set()) | own
    return found


def _lines_naming(module: str, names: set[str]) -> set[int]:
    """Return the lines of the statements in functions that use one of the names."""
    if not names:
        return set()
    return {line for lines, used in _statements(module) if used & names for line in lines}


@cache
def _statements(module: str) -> list[tuple[range, frozenset[str]]]:
    """Return the statements of a module's functions: their lines, and the names that they use."""
    tree = ast.parse(path_of(module).read_text("utf-8"))
    return [
        (range(inner.lineno, _end_of_header(inner) + 1), frozenset(names_in(inner)))
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        for statement in node.body
        for inner in ast.walk(statement)
        if isinstance(inner, ast.stmt)
    ]


def _end_of_header(statement: ast.stmt) -> int:
    body = getattr(statement, "body", None)
    return max(statement.lineno, body[0].lineno - 1) if body else statement.end_lineno or 0


def surveyed(processes: int) -> Survey:
    """Return what every test does; those of modules that have changed are run to see it."""
    remembered = Remembered("executed")
    known = remembered.known()
    missing = [name for name in modules_of_tests() if name not in known.modules]
    if missing:
        seen = spread(partial(_part, missing), processes)
        tests: dict[str, list[dict[str, Any]]] = {name: [] for name in missing}
        for one in seen:
            tests[one.module].append(_as_json(one))
        known = Known({**known.modules, **tests})
        remembered.keep(known)
    return Survey(
        [
            _from_json(module, entry)
            for module in modules_of_tests()
            for entry in known.modules[module]
        ]
    )


def _as_json(one: Execution) -> dict[str, Any]:
    return {
        "test": one.test,
        "passed": sorted(one.passed),
        "lines": {module: f"{bits:x}" for module, bits in one.lines.items()},
        "seconds": one.seconds,
    }


def _from_json(module: str, entry: Mapping[str, Any]) -> Execution:
    lines = {name: int(bits, 16) for name, bits in entry["lines"].items()}
    return Execution(entry["test"], module, frozenset(entry["passed"]), lines, entry["seconds"])


def _part(missing: Sequence[str], folder: Path) -> list[Execution]:
    """Run the share of the tests that falls to this process."""
    paths = modules_of_tests()
    # Before the service starts its threads, so that they are watched too.
    watch = coverage.Coverage(
        data_file=None,
        config_file=False,
        include=[f"{ROOT}/*"],
        concurrency=["thread"],
        messages=False,
    )
    watch.start()
    try:
        return host(lambda _: _Guest(watch, folder), modules=[paths[name] for name in missing])
    finally:
        watch.stop()


class _Guest:
    """The pytest plugin that runs tests and has their lines noted."""

    def __init__(self, watch: coverage.Coverage, folder: Path) -> None:
        self._watch = watch
        self._folder = folder
        self.results: list[Execution] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        suite = session.config.stash[SESSION]
        suite.reports = False
        seen = [self._see(test, suite) for test in turns(session.items, self._folder)]
        lines = self._lines()
        self.results += [
            Execution(test.nodeid, module_of(test), passed, lines.get(test.nodeid, {}), seconds)
            for test, passed, seconds in seen
        ]
        return True

    def _see(self, test: pytest.Item, suite: Session) -> tuple[pytest.Item, frozenset[str], float]:
        # What another test has learned, this one has to find out by itself.
        suite.connection.forget()
        self._watch.switch_context(test.nodeid)
        started = time.perf_counter()
        outcomes = outcomes_of(test, suite)
        passed = frozenset(name for name in outcomes if outcomes[name] is Outcome.PASSED)
        return test, passed, round(time.perf_counter() - started, 3)

    def _lines(self) -> dict[str, dict[str, int]]:
        """Return the lines as bits, by test and module."""
        found: dict[str, dict[str, int]] = {}
        data = self._watch.get_data()
        for module, path in _files():
            for line, tests in data.contexts_by_lineno(str(path)).items():
                for test in tests:
                    bits = found.setdefault(test, {})
                    bits[module] = bits.get(module, 0) | 1 << line
        return found


def _files() -> Iterator[tuple[str, Path]]:
    names: Iterable[str] = modules()
    return ((name, path_of(name)) for name in names)
