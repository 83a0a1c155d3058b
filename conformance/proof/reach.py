"""Tells which tests come to which places of the reference, so that a change need not meet all.

A place is where a patch changes something: a function or a table. One run of the suite against
the reference as it is notes each use of each place, under the test that runs at that moment.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial, wraps
from pathlib import Path
from typing import Any

import pytest

from conformance.plugin import SESSION
from conformance.proof.mutation import decisions_of, host, spread, turns
from conformance.proof.patch import MutantError, Patch, locate

_READING = ("__getitem__", "__iter__", "__contains__", "__len__", "get", "items", "keys", "values")

Reach = Mapping[str, frozenset[str]]
"""By the node id of a test the places that it comes to."""


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


def reach(places: Iterable[str], processes: int, timing: Mapping[str, float]) -> Reach:
    """Run every scenario once and return the places that each comes to.

    Of what is neither a function nor a table no use can be noted: every test counts as coming to
    it.
    """
    known = sorted(places)
    found = spread(partial(_part, known, timing), processes)
    return dict(found)


def _part(
    places: Sequence[str], timing: Mapping[str, float], folder: Path
) -> list[tuple[str, frozenset[str]]]:
    """Run the share of the tests that falls to this process."""
    return host(lambda _: _Notes(places, folder), timing=timing, options=["--fuzz-examples=0"])


class _Notes:
    """The pytest plugin that runs tests and notes what each of them uses."""

    def __init__(self, places: Sequence[str], folder: Path) -> None:
        self._places = places
        self._folder = folder
        self._used: set[str] = set()
        self.results: list[tuple[str, frozenset[str]]] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        suite = session.config.stash[SESSION]
        suite.reports = False
        with self._noted() as always:
            for test in turns(session.items, self._folder):
                self._used.clear()
                decisions_of(test, suite)
                self.results.append((test.nodeid, always | self._used))
        return True

    @contextmanager
    def _noted(self) -> Iterator[frozenset[str]]:
        """Have each use of a place noted; yield the places whose uses cannot be."""
        before: list[tuple[Any, str, Any]] = []
        blind: set[str] = set()
        try:
            for place in self._places:
                holder, name = locate(place)
                value = inspect.getattr_static(holder, name)
                noting = self._noting(place, value)
                if noting is None:
                    blind.add(place)
                    continue
                before.append((holder, name, value))
                setattr(holder, name, noting)
            yield frozenset(blind)
        finally:
            for holder, name, value in reversed(before):
                setattr(holder, name, value)

    def _noting(self, place: str, value: Any) -> Any:
        if inspect.isfunction(value):

            @wraps(value)
            def function(*arguments: Any, **named: Any) -> Any:
                self._used.add(place)
                return value(*arguments, **named)

            return function
        return _table(value, lambda: self._used.add(place)) if isinstance(value, dict) else None


def _table(rows: dict[Any, Any], note: Callable[[], None]) -> dict[Any, Any]:
    """Return a copy of a table that notes when it is read."""

    def reading(method: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(method)
        def noting(*arguments: Any) -> Any:
            note()
            return method(*arguments)

        return noting

    kind = type("Table", (dict,), {name: reading(getattr(dict, name)) for name in _READING})
    table: dict[Any, Any] = kind(rows)
    return table


def reaching(reach: Reach, places: Iterable[str]) -> frozenset[str]:
    """Return the tests that come to at least one of the places."""
    wanted = frozenset(places)
    return frozenset(test for test, used in reach.items() if used & wanted)
