"""Patches: one changes a place and puts it back, or says that it changed nothing."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from conformance.proof.patch import NoSuchTarget, NothingChanged, Patch, place_of, row_of
from conformance.reference.quotes import quotes
from conformance.reference.service import Service
from conformance.verdict.decisions import Outcome


class Thing:
    """A class that can be patched."""

    def doubled(self, number: int) -> int:
        """Return twice a number."""
        return 2 * number


@pytest.fixture
def place() -> Any:
    """Return a module that can be patched."""
    held = ModuleType("stand_in")
    held.LIMIT = 80  # type: ignore[attr-defined]
    held.ROWS = {"a": 1, "b": 2, "c": 3}  # type: ignore[attr-defined]
    held.double = lambda number: 2 * number  # type: ignore[attr-defined]
    return held


def test_a_value_is_replaced_and_put_back(place: Any) -> None:
    """Places are written with the name of the module."""
    patch = Patch()

    patch.replace(place, "LIMIT", 81)
    changed = place.LIMIT
    patch.revert()

    assert (changed, place.LIMIT) == (81, 80)
    assert patch.places == {"stand_in:LIMIT"}


def test_a_wrapped_function_gets_the_original_first(place: Any) -> None:
    """A wrapping function gets the original first, and may call it or not."""
    patch = Patch()

    patch.wrap(place, "double", lambda double, number: double(number) + 1)
    changed = place.double(4)
    patch.revert()

    assert (changed, place.double(4)) == (9, 8)


def test_a_method_is_wrapped_with_its_object() -> None:
    """The object comes after the original."""
    patch = Patch()

    patch.wrap(Thing, "doubled", lambda doubled, thing, number: doubled(thing, number) + 1)
    changed = Thing().doubled(4)
    patch.revert()

    assert (changed, Thing().doubled(4)) == (9, 8)
    assert patch.places == {f"{__name__}:Thing.doubled"}


def test_a_row_is_changed_and_another_added(place: Any) -> None:
    """A row that was changed and one that was added are taken back."""
    patch = Patch()

    patch.row(place, "ROWS", "a", 7)
    patch.row(place, "ROWS", "z", 8)
    changed = dict(place.ROWS)
    patch.revert()

    assert changed == {"a": 7, "b": 2, "c": 3, "z": 8}
    assert place.ROWS == {"a": 1, "b": 2, "c": 3}


def test_a_row_is_dropped_and_put_back_in_its_order(place: Any) -> None:
    """The order of rows may matter."""
    patch = Patch()

    patch.drop(place, "ROWS", "a")
    changed = dict(place.ROWS)
    patch.revert()

    assert changed == {"b": 2, "c": 3}
    assert list(place.ROWS) == ["a", "b", "c"]


def test_changes_of_one_place_are_taken_back_in_order(place: Any) -> None:
    """The last change is taken back first."""
    patch = Patch()

    for value in (1, 2, 3):
        patch.replace(place, "LIMIT", value)
    patch.revert()

    assert place.LIMIT == 80


def test_what_was_done_before_an_error_is_taken_back(place: Any) -> None:
    """A patch of several changes may break half way."""
    patch = Patch()
    patch.replace(place, "LIMIT", 81)

    with pytest.raises(NoSuchTarget):
        patch.replace(place, "ABSENT", 1)
    patch.revert()

    assert place.LIMIT == 80


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("replace", ("LIMIT", 80), "stand_in:LIMIT is 80 already"),
        ("replace", ("ROWS", {"a": 1, "b": 2, "c": 3}), "already"),
        ("row", ("ROWS", "a", 1), "row 'a' of stand_in:ROWS is 1 already"),
    ],
)
def test_a_patch_that_changes_nothing_is_told(
    place: Any, name: str, arguments: tuple[Any, ...], message: str
) -> None:
    """A mutant without a change would survive, and nobody would know why."""
    with pytest.raises(NothingChanged, match=message):
        getattr(Patch(), name)(place, *arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "message"),
    [
        ("replace", ("ABSENT", 1), "the reference has no stand_in:ABSENT"),
        ("wrap", ("ABSENT", print), "the reference has no stand_in:ABSENT"),
        ("row", ("ABSENT", "a", 1), "the reference has no stand_in:ABSENT"),
        ("row", ("LIMIT", "a", 1), "is no table whose rows can be changed"),
        ("drop", ("ROWS", "z"), "has no row 'z'"),
    ],
)
def test_a_place_that_is_not_there_is_told(
    place: Any, name: str, arguments: tuple[Any, ...], message: str
) -> None:
    """The reference may have changed since the patch was written."""
    with pytest.raises(NoSuchTarget, match=message):
        getattr(Patch(), name)(place, *arguments)


def test_a_place_is_written_with_its_module_and_class() -> None:
    """A place is a text, so that one process can tell another of it."""
    assert place_of(quotes, "view") == "conformance.reference.quotes.quotes:view"
    assert place_of(Service, "answer") == "conformance.reference.service:Service.answer"


def test_a_row_is_a_place_of_its_own(place: Any) -> None:
    """A word of an enumeration is the same row as its text; another key stands for the table."""
    patch = Patch()

    patch.row(place, "ROWS", "a", 9)
    patch.drop(place, "ROWS", "b")

    assert patch.places == {"stand_in:ROWS[a]", "stand_in:ROWS[b]"}
    assert row_of("m:T", Outcome.FAILED) == row_of("m:T", "failed") == "m:T[failed]"
    assert row_of("m:T", ("a", 1)) == "m:T"


def test_a_place_that_is_concerned_is_left_as_it_is(place: Any) -> None:
    """It is named beside those that are changed; one that is not there is told."""
    patch = Patch()

    patch.concern(place, "double")

    assert (patch.places, patch.changes) == ({"stand_in:double"}, 0)
    with pytest.raises(NoSuchTarget, match="stand_in:halve"):
        patch.concern(place, "halve")
