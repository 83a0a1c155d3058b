"""The suite's tests with the requirements that they name, and the annotations of its document."""

from __future__ import annotations

import contextlib
import io
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import pytest

from conformance.contract.data import SPEC
from conformance.contract.judge import KEY
from conformance.items import requirements_named_by

ROOT = SPEC.parent
"""The checkout: the self-tests are not part of the installed package."""


class _Collector:
    """A pytest plugin that keeps the collected tests with the requirements that they name."""

    def __init__(self) -> None:
        self.tests: list[tuple[str, list[str]]] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.tests = [(item.nodeid, requirements_named_by(item)) for item in session.items]


def node_ids() -> Sequence[str]:
    """Return the node id of every test of the suite."""
    return [test for test, _ in _collect()]


def requirements_by_test() -> Mapping[str, list[str]]:
    """Return the requirements that each test of the suite names, by the node id of the test."""
    return dict(_collect())


@cache
def _collect() -> Sequence[tuple[str, list[str]]]:
    collector = _Collector()
    arguments = [
        str(ROOT / "conformance" / "scenarios"),
        str(ROOT / "conformance" / "fuzz"),
        f"--rootdir={ROOT}",
        "--collect-only",
        "-qq",
        # Embedded, pytest finds modules imported that it would rewrite.
        "-Wignore::pytest.PytestAssertRewriteWarning",
        "-pno:cacheprovider",
        "-pno:randomly",
        "-pno:xdist",
    ]
    with contextlib.redirect_stdout(io.StringIO()) as output:
        status = pytest.main(arguments, plugins=[collector])
    if status != pytest.ExitCode.OK:
        raise RuntimeError(f"the suite cannot be collected:\n{output.getvalue()}")
    return collector.tests


@cache
def requirement_tests() -> Mapping[str, list[str]]:
    """Return the tests that name a requirement, by the id of the requirement."""
    tests: dict[str, list[str]] = defaultdict(list)
    for test, requirements in requirements_by_test().items():
        for requirement in requirements:
            tests[requirement].append(test)
    return tests


def annotated_requirements(node: Any) -> Iterator[str]:
    """Yield each requirement that an annotation at or below ``node`` of the document names."""
    if isinstance(node, dict):
        ids = node.get(KEY, ())
        yield from (ids,) if isinstance(ids, str) else ids
    for member in node.values() if isinstance(node, dict) else node:
        if isinstance(member, dict | list):
            yield from annotated_requirements(member)
