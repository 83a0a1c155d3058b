"""Mutants: a patch changes one place and puts it back, or says that it changed nothing."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from conformance.mutants import mutant as module
from conformance.mutants.mutant import (
    DuplicateMutant,
    MutantError,
    NoSuchTarget,
    NothingChanged,
    Patch,
    Registry,
    mutant,
)


@pytest.fixture
def place() -> Iterator[Any]:
    """A module that can be patched, as ``stand_in_place``."""
    held = ModuleType("stand_in_place")
    held.LIMIT = 80  # type: ignore[attr-defined]
    held.ROWS = {"a": 1, "b": 2, "c": 3}  # type: ignore[attr-defined]
    held.holder = SimpleNamespace(name="old")  # type: ignore[attr-defined]
    held.double = lambda number: 2 * number  # type: ignore[attr-defined]
    sys.modules["stand_in_place"] = held
    yield held
    del sys.modules["stand_in_place"]


class TestPatch:
    """Every change is taken back."""

    def test_replace(self, place: Any) -> None:
        """A value of a module, or an attribute of something in it."""
        patch = Patch()

        patch.replace("stand_in_place:LIMIT", 81)
        patch.replace("stand_in_place:holder.name", "new")
        changed = (place.LIMIT, place.holder.name)
        patch.revert()

        assert changed == (81, "new")
        assert (place.LIMIT, place.holder.name) == (80, "old")

    def test_wrap(self, place: Any) -> None:
        """The new function knows the original."""
        patch = Patch()

        patch.wrap("stand_in_place:double", lambda original: lambda number: original(number) + 1)
        changed = place.double(4)
        patch.revert()

        assert (changed, place.double(4)) == (9, 8)

    def test_row(self, place: Any) -> None:
        """One is changed, another is added."""
        patch = Patch()

        patch.row("stand_in_place:ROWS", "a", 7)
        patch.row("stand_in_place:ROWS", "z", 8)
        changed = dict(place.ROWS)
        patch.revert()

        assert changed == {"a": 7, "b": 2, "c": 3, "z": 8}
        assert place.ROWS == {"a": 1, "b": 2, "c": 3}

    def test_drop(self, place: Any) -> None:
        """The order of rows is put back too, as it may matter."""
        patch = Patch()

        patch.drop("stand_in_place:ROWS", "a")
        changed = dict(place.ROWS)
        patch.revert()

        assert changed == {"b": 2, "c": 3}
        assert list(place.ROWS) == ["a", "b", "c"]

    def test_changes_of_one_place_are_taken_back_in_order(self, place: Any) -> None:
        """The last first."""
        patch = Patch()

        for value in (1, 2, 3):
            patch.replace("stand_in_place:LIMIT", value)
        patch.revert()

        assert place.LIMIT == 80

    def test_what_was_done_before_an_error_is_taken_back(self, place: Any) -> None:
        """A patch of several changes may break half way."""
        patch = Patch()
        patch.replace("stand_in_place:LIMIT", 81)

        with pytest.raises(NoSuchTarget):
            patch.replace("stand_in_place:ABSENT", 1)
        patch.revert()

        assert place.LIMIT == 80

    @pytest.mark.usefixtures("place")
    @pytest.mark.parametrize(
        ("name", "arguments", "message"),
        [
            ("replace", ("stand_in_place:LIMIT", 80), "LIMIT is 80 already"),
            ("replace", ("stand_in_place:ROWS", {"a": 1, "b": 2, "c": 3}), "already"),
            ("wrap", ("stand_in_place:double", lambda original: original), "already"),
            ("row", ("stand_in_place:ROWS", "a", 1), "row 'a' of stand_in_place:ROWS is 1 already"),
        ],
    )
    def test_a_patch_that_changes_nothing_is_told(
        self, name: str, arguments: tuple[Any, ...], message: str
    ) -> None:
        """It would survive, and nobody would know why."""
        with pytest.raises(NothingChanged, match=message):
            getattr(Patch(), name)(*arguments)

    @pytest.mark.usefixtures("place")
    @pytest.mark.parametrize(
        ("name", "arguments", "message"),
        [
            ("replace", ("absent_place:LIMIT", 1), "No module named 'absent_place'"),
            ("replace", ("stand_in_place:ABSENT", 1), "the reference has no stand_in_place:ABSENT"),
            ("replace", ("stand_in_place:holder.absent.name", 1), "has no attribute 'absent'"),
            ("row", ("stand_in_place:LIMIT", "a", 1), "is no table whose rows can be changed"),
            ("drop", ("stand_in_place:ROWS", "z"), "has no row 'z'"),
        ],
    )
    def test_a_place_that_is_not_there_is_told(
        self, name: str, arguments: tuple[Any, ...], message: str
    ) -> None:
        """The reference has changed since."""
        with pytest.raises(NoSuchTarget, match=message):
            getattr(Patch(), name)(*arguments)


class TestRegistry:
    """Mutants are known by requirement and name."""

    def test_a_mutant_is_named_after_its_function(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """With hyphens."""
        registry = Registry()
        monkeypatch.setattr(module, "declare", registry.declare)

        @mutant("QUO-110", "an expired quote can still be executed")
        def expired_executes(patch: Patch) -> None:
            patch.replace("stand_in_place:LIMIT", 1)

        (declared,) = registry
        assert (declared.id, declared.requirement) == ("QUO-110/expired-executes", "QUO-110")
        assert declared.statement == "an expired quote can still be executed"
        assert declared.patch is expired_executes

    def test_one_requirement_may_have_several(self) -> None:
        """In the order of their declaration."""
        registry = Registry()

        for name in ("b", "a"):
            registry.declare("QUO-110", name, "x", lambda _patch: None)

        assert [declared.id for declared in registry] == ["QUO-110/b", "QUO-110/a"]
        assert len(registry) == 2

    def test_two_of_one_name_are_refused(self) -> None:
        """One would hide the other."""
        registry = Registry()
        registry.declare("QUO-110", "same_name", "x", lambda _patch: None)

        with pytest.raises(DuplicateMutant, match="QUO-110/same-name is declared twice"):
            registry.declare("QUO-110", "same-name", "y", lambda _patch: None)


def test_every_way_to_be_unusable_is_a_mutant_error() -> None:
    """The runner needs one name."""
    assert all(
        issubclass(kind, MutantError) for kind in (DuplicateMutant, NoSuchTarget, NothingChanged)
    )
