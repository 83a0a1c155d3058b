"""Tells which modules of the suite have tests that name a requirement, without importing them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path

import pytest

from conformance.items import requirements_named_by
from conformance.proof.host import module_of, modules_of_tests
from conformance.proof.remembered import Known, Remembered


class Naming:
    """The requirements that the tests of each module name, as far as that is known.

    A wrong entry could keep a test from a mutant, which would survive then: nothing is killed but
    by a test that was collected with its markers.
    """

    def __init__(self) -> None:
        self._remembered = Remembered("named", besides=("reference",))
        self._known: dict[str, list[str]] = dict(self._remembered.known().modules)

    def modules(self, requirements: Iterable[str]) -> list[Path]:
        """Return the modules that name one of the requirements, or may do so."""
        wanted = set(requirements)
        return [
            path
            for name, path in modules_of_tests().items()
            if name not in self._known or wanted & set(self._known[name])
        ]

    def learn(self, tests: Collection[pytest.Item], modules: Iterable[Path]) -> None:
        """Take in the tests of modules that were collected, and keep what they name."""
        named: dict[str, set[str]] = defaultdict(set)
        for test in tests:
            named[module_of(test)].update(requirements_named_by(test))
        paths = {path: name for name, path in modules_of_tests().items()}
        found = {paths[path]: sorted(named[paths[path]]) for path in modules if path in paths}
        if any(name not in self._known for name in found):
            self._known |= found
            self._remembered.keep(Known(self._known))
