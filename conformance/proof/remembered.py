"""Keeps in the checkout what was found out about the tests of each module, while nothing changed.

A file holds what is known by module, with the digest of the module that it was found out about and
one digest of all that every module builds on. What has another digest now is as good as not there,
and so is a file that is not as it should be. The files are JSON in a folder of the checkout that
Git ignores: whoever can write there can change the tests themselves.
"""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from conformance.contract.data import FIXTURES, SPEC
from conformance.contract.kept import digest, write_whole
from conformance.proof import host

_FOLDER = ".conformance_cache"
_APART = ("bench", "selftest", "cli", "reporting", "proof")
"""What no test of the suite comes to when it is run here."""

_MEANS = (
    "proof/host.py",
    "proof/narrowed/circumstances.py",
    "proof/narrowed/survey.py",
    "proof/patch.py",
    "proof/reach.py",
)
"""By what it is found out what tests do."""

_PROSE = ("README.md", "outline.yaml", "readings.yaml", "retired.yaml")
"""What people read, and no test of the suite does."""


@dataclass(frozen=True, slots=True)
class Known:
    """What is known of each module of tests, as JSON, and what all of that shares."""

    modules: Mapping[str, Any] = field(default_factory=dict)
    shared: Any = None


class Remembered:
    """The file of what is known of each module of tests.

    Args:
        kind: what is known; each has a file of its own.
        besides: parts of the package that what is known does not depend on.
    """

    def __init__(self, kind: str, besides: Collection[str] = ()) -> None:
        self._file = host.SUITE.parent / _FOLDER / f"{kind}.json"
        self._digests = {name: _digest([path]) for name, path in host.modules_of_tests().items()}
        self._base = _base({*_APART, *besides})

    def known(self) -> Known:
        """Return what is known; a module that has changed is not there."""
        with contextlib.suppress(OSError, ValueError, LookupError, TypeError, AttributeError):
            content = json.loads(self._file.read_bytes())
            if content["base"] == self._base:
                modules = {
                    name: entry["known"]
                    for name, entry in content["modules"].items()
                    if entry["digest"] == self._digests.get(name)
                }
                return Known(modules, content["shared"])
        return Known()

    def keep(self, known: Known) -> None:
        """Keep what is known; nothing is kept where this is no checkout."""
        if not (host.SUITE.parent / "pyproject.toml").is_file():
            return
        modules = {
            name: {"digest": self._digests[name], "known": value}
            for name, value in known.modules.items()
            if name in self._digests
        }
        content = {"base": self._base, "modules": modules, "shared": known.shared}
        write_whole(self._file, json.dumps(content).encode())


def _base(apart: Collection[str]) -> str:
    """Return the digest of all that every module of tests builds on."""
    outside = [host.SUITE / name for name in apart]
    tests = set(host.modules_of_tests().values())
    code = (
        path
        for path in host.SUITE.rglob("*.py")
        if path not in tests and not any(place in path.parents for place in outside)
    )
    means = [host.SUITE / name for name in _MEANS if (host.SUITE / name).is_file()]
    data = (
        path
        for room in (SPEC, FIXTURES)
        for path in room.rglob("*")
        if path.is_file() and path.name not in _PROSE
    )
    return _digest([*code, *means, *data], [sys.version, *_versions()])


def _versions() -> Iterator[str]:
    """Yield the names and versions of the packages that are installed."""
    for folder in sys.path:
        yield from (path.name for path in Path(folder).glob("*.dist-info"))


def _digest(files: Iterable[Path], facts: Iterable[str] = ()) -> str:
    parts = [part for path in sorted(files) for part in (str(path).encode(), path.read_bytes())]
    return digest([*parts, *(fact.encode() for fact in sorted(facts))])
