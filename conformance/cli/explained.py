"""What is known of a requirement: where it stands, what checks it, what proves and tolerates it.

The tests, mutants and conforming variants are only known to Python once their modules are imported,
which takes seconds. So what they say of themselves is kept beside Python's bytecode, under a digest
of everything that it was read from.
"""

from __future__ import annotations

import ast
import contextlib
import inspect
import io
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conformance.contract.areas import areas
from conformance.contract.catalogue import Requirement, catalogue
from conformance.contract.data import FIXTURES, SPEC
from conformance.contract.document import document
from conformance.contract.kept import digest, kept, place_beside
from conformance.contract.readings import readings, unspecified

if TYPE_CHECKING:
    import pytest

_PACKAGE = Path(__file__).parents[1]
_ROOMS = ("scenarios", "fuzz", "proof/mutants", "proof/variants")
_MAX_CASES = 6


class CannotExplain(Exception):
    """What the suite says of its tests cannot be read; the message has what went wrong."""


@dataclass(frozen=True, slots=True)
class DecidingTest:
    """A function of the suite that decides a requirement.

    ``place`` is its file within the package and its line. ``says`` is its docstring, ``code`` its
    source. ``cases`` are the names of those parameters with which it decides the requirement, the
    first ones; ``count`` is how many there are.
    """

    place: str
    name: str
    says: str
    code: str
    cases: tuple[str, ...]
    count: int


@dataclass(frozen=True, slots=True)
class Declared:
    """A mutant or a conforming variant: its id, and what it does, as a sentence."""

    id: str
    statement: str


@dataclass(frozen=True, slots=True)
class Latitude:
    """Something that the same lines of the specification leave open.

    ``question`` is what is open, ``accepted`` what the suite takes there or never asserts.
    """

    id: str
    question: str
    accepted: str
    variants: tuple[Declared, ...]


@dataclass(frozen=True, slots=True)
class Explained:
    """A requirement with all that belongs to it."""

    requirement: Requirement
    area: str
    requests: tuple[str, ...]
    tests: tuple[DecidingTest, ...]
    mutants: tuple[Declared, ...]
    latitude: tuple[Latitude, ...]


def explained(identifier: str) -> Explained:
    """Return what belongs to the requirement of this id.

    Raises:
        UnknownRequirement: the catalogue has none of this id.
        CannotExplain: the tests cannot be collected.
    """
    requirement = catalogue().require(identifier, "the command")
    known = _known()
    operations = document().operations
    shown = [operations[name] for name in requirement.operations]
    return Explained(
        requirement,
        areas()[requirement.area].title,
        tuple(f"{operation.method} {operation.path}" for operation in shown),
        tuple(_tests(known, identifier)),
        tuple(Declared(*pair) for pair in known["mutants"].get(identifier, ())),
        tuple(_latitude(requirement, known["variants"])),
    )


def _tests(known: Mapping[str, Any], identifier: str) -> Iterable[DecidingTest]:
    for name, cases in known["named"].get(identifier, {}).items():
        place, says, code = known["tests"][name]
        yield DecidingTest(
            place, name.partition("::")[2], says, code, tuple(cases[:_MAX_CASES]), len(cases)
        )


def _latitude(
    requirement: Requirement, variants: Mapping[str, list[tuple[str, str]]]
) -> Iterable[Latitude]:
    """Yield what is left open by a line that the requirement comes from."""
    lines = set(requirement.source.lines)
    for reading in readings().values():
        if lines & set(reading.source.lines):
            following = tuple(Declared(*pair) for pair in variants.get(reading.id, ()))
            yield Latitude(reading.id, reading.question, reading.accepted, following)
    for point in unspecified().values():
        if lines & set(point.source.lines):
            following = tuple(Declared(*pair) for pair in variants.get(point.id, ()))
            yield Latitude(point.id, point.open, f"never asserted: {point.never_assert}", following)


@cache
def _known() -> Mapping[str, Any]:
    known: Mapping[str, Any] = kept(place_beside(__file__, "explained.json"), _digest(), _read)
    return known


def _digest() -> str:
    """Return a digest of all files that tests, mutants and variants are made from."""
    code = chain.from_iterable((_PACKAGE / room).rglob("*.py") for room in _ROOMS)
    data = (path for room in (SPEC, FIXTURES) for path in room.rglob("*.yaml"))
    files = sorted([*code, *data, Path(__file__)])
    return digest(part for path in files for part in (str(path).encode(), path.read_bytes()))


def _read() -> dict[str, Any]:
    """Import all that declares something, and return what it says of itself."""
    # Only the first call takes the time for these.
    from conformance.proof.mutation import load  # noqa: PLC0415 - with pytest, seconds
    from conformance.proof.tolerance import load_variants  # noqa: PLC0415 - as above

    mutants: dict[str, list[list[str]]] = defaultdict(list)
    for mutant in load():
        mutants[mutant.requirement].append([mutant.id, mutant.statement])
    variants: dict[str, list[list[str]]] = defaultdict(list)
    for variant in load_variants():
        variants[variant.point].append([variant.id, variant.statement])
    return {**_tests_of(_collected()), "mutants": mutants, "variants": variants}


class _Collector:
    """The pytest plugin that keeps what was collected."""

    items: tuple[pytest.Item, ...] = ()

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.items = tuple(session.items)


def _collected() -> tuple[pytest.Item, ...]:
    import pytest  # noqa: PLC0415 - as above

    collector = _Collector()
    rooms = [str(_PACKAGE / "scenarios"), str(_PACKAGE / "fuzz")]
    options = ("--collect-only", "-Wignore", "-pno:cacheprovider", "-pno:randomly", "-pno:xdist")
    root = f"--rootdir={_PACKAGE.parent}"
    with contextlib.redirect_stdout(io.StringIO()) as output:
        pytest.main([*rooms, root, *options], plugins=[collector])
    if not collector.items:
        raise CannotExplain(f"the tests cannot be collected:\n{output.getvalue()}")
    return collector.items


def _tests_of(items: Iterable[pytest.Item]) -> dict[str, Any]:
    from conformance.items import requirements_named_by  # noqa: PLC0415 - as above

    tests: dict[str, list[str]] = {}
    named: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for item in items:
        function = getattr(item, "function", None)
        path, line, _ = item.location
        place = Path(path).as_posix()
        name, bracket, case = item.nodeid.partition("[")
        if name not in tests:
            says = " ".join((inspect.getdoc(function) or "").split())
            tests[name] = [f"{place}:{(line or 0) + 1}", says, _code(item.path, name)]
        for identifier in requirements_named_by(item):
            named[identifier][name].extend([case.removesuffix("]")] if bracket else [])
    return {"tests": tests, "named": named}


@cache
def _functions(path: Path) -> Mapping[str, str]:
    """Return the source of each function and method of a file, by its name and class."""
    text = path.read_text(encoding="utf-8")
    found: dict[str, str] = {}
    for node in ast.parse(text).body:
        within = node.body if isinstance(node, ast.ClassDef) else [node]
        prefix = f"{node.name}::" if isinstance(node, ast.ClassDef) else ""
        for part in within:
            if isinstance(part, ast.FunctionDef):
                source = ast.get_source_segment(text, part, padded=True) or ""
                found[prefix + part.name] = inspect.cleandoc(f"\n{source}")
    return found


def _code(path: Path, name: str) -> str:
    return _functions(path).get(name.partition("::")[2], "")
