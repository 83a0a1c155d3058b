"""What the suite says about requirements: its tests, collected once, and its document."""

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
from conformance.session import named_by

ROOT = SPEC.parent
"""The checkout: the self-tests are not part of the installed package."""


class _Collector:
    """The pytest plugin that keeps what is collected."""

    def __init__(self) -> None:
        self.named: list[tuple[str, list[str]]] = []

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        self.named = [(item.nodeid, named_by(item)) for item in session.items]


def node_ids() -> Sequence[str]:
    """Return the node id of every test of the suite."""
    return [test for test, _ in _collect()]


def collected() -> Mapping[str, list[str]]:
    """Return the requirements that each test of the suite names, by its node id."""
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
    return collector.named


@cache
def named_by_suite() -> Mapping[str, list[str]]:
    """Return every requirement that a test names, with the tests that do."""
    tests: dict[str, list[str]] = defaultdict(list)
    for test, requirements in collected().items():
        for requirement in requirements:
            tests[requirement].append(test)
    return tests


def annotated(node: Any) -> Iterator[str]:
    """Yield every requirement that an annotation below ``node`` of the document names."""
    if isinstance(node, dict):
        named = node.get(KEY, ())
        yield from (named,) if isinstance(named, str) else named
    for member in node.values() if isinstance(node, dict) else node:
        if isinstance(member, dict | list):
            yield from annotated(member)
