"""The kit: each builder says what becomes of a function or a table, each edit of a value."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType
from typing import Any

import pytest

from conformance.proof.kit.builders import (
    after,
    around,
    before,
    edited,
    instead,
    invented,
    receives,
    recoded,
    rescued,
    skipped,
    together,
)
from conformance.proof.kit.edits import (
    ABSENT,
    ALL,
    Edit,
    copied,
    derived,
    put,
    renamed,
    replaced,
    shows,
    turned,
    where,
    with_null,
    without,
)
from conformance.proof.kit.tables import answers, with_field, with_row, with_status, without_row
from conformance.proof.patch import NoSuchTarget, Patch
from conformance.reference import fields, routes, rules
from conformance.reference.errors import Refusal
from conformance.reference.unit import Ask


@pytest.fixture
def patch() -> Iterator[Patch]:
    """A patch that is taken back after the test."""
    patching = Patch()
    yield patching
    patching.revert()


@pytest.fixture
def place() -> Any:
    """Return a module with a function, a handler and a table."""

    def handler(_unit: Any, ask: Ask) -> Any:
        if ask.body is None:
            raise Refusal("INVALID_INPUT", "no body", {"errors": []})
        return {"body": ask.body}

    held = ModuleType("stand_in")
    held.total = lambda number, extra=0: number + extra  # type: ignore[attr-defined]
    held.handler = handler  # type: ignore[attr-defined]
    held.ROWS = {"a": 1}  # type: ignore[attr-defined]
    held.FIELDS = (  # type: ignore[attr-defined]
        rules.Field("name", "string", max_length=80),
        rules.Field("name", "string", when=("type", "A")),
        rules.Field("amount", "integer"),
    )
    return held


class TestFunctions:
    """What becomes of a function."""

    def test_around(self, place: Any, patch: Patch) -> None:
        """The function gets the original first."""
        around(place, "total", lambda total, number: 10 * total(number))(patch)

        assert place.total(2) == 20

    def test_instead(self, place: Any, patch: Patch) -> None:
        """Another one stands in its place."""
        instead(place, "total", lambda _number: 0)(patch)

        assert place.total(2) == 0

    def test_before_and_after(self, place: Any, patch: Patch) -> None:
        """``before`` and ``after`` get the arguments; the result is the original's."""
        seen: list[Any] = []

        together(
            before(place, "total", lambda *given, **named: seen.append(("before", given, named))),
            after(place, "total", lambda *given, **named: seen.append(("after", given, named))),
        )(patch)

        assert place.total(2, extra=1) == 3
        assert seen == [("before", (2,), {"extra": 1}), ("after", (2,), {"extra": 1})]

    def test_what_is_raised_before_keeps_the_function_from_running(
        self, place: Any, patch: Patch
    ) -> None:
        """An error that ``before`` raises comes in the place of the function's result."""

        def refuse(_number: int) -> None:
            raise Refusal("CONFLICT", "not now")

        before(place, "total", refuse)(patch)

        with pytest.raises(Refusal, match="not now"):
            place.total(2)

    def test_skipped(self, place: Any, patch: Patch) -> None:
        """Where the condition holds, nothing is done."""
        skipped(place, "total", lambda number: number > 5)(patch)

        assert (place.total(2), place.total(6)) == (2, None)

    def test_edited_gets_a_copy(self, place: Any, patch: Patch) -> None:
        """What the function keeps is not changed by an edit that writes."""
        kept = {"list": [1]}
        place.handler = lambda: kept

        def change(body: Any) -> Any:
            body["list"].append(2)
            return body

        edited(place, "handler", change)(patch)

        assert place.handler() == {"list": [1, 2]}
        assert kept == {"list": [1]}

    def test_edited_leaves_none(self, place: Any, patch: Patch) -> None:
        """Nothing is shown of what is not there."""
        place.handler = lambda: None

        edited(place, "handler", lambda _body: {})(patch)

        assert place.handler() is None

    def test_receives(self, place: Any, patch: Patch) -> None:
        """A body that is no object comes through."""
        receives(place, "handler", lambda body: {**body, "more": 1})(patch)

        assert place.handler(None, Ask(body={"a": 1})) == {"body": {"a": 1, "more": 1}}
        assert place.handler(None, Ask(body=[1])) == {"body": [1]}

    @pytest.mark.parametrize(
        ("codes", "code"),
        [((), "CONFLICT"), (("INVALID_INPUT",), "CONFLICT"), (("NOT_FOUND",), "INVALID_INPUT")],
    )
    def test_recoded(self, place: Any, patch: Patch, codes: tuple[str, ...], code: str) -> None:
        """A refusal with another code than the named ones stays."""
        recoded(place, "handler", "CONFLICT", *codes)(patch)

        with pytest.raises(Refusal, match="no body") as caught:
            place.handler(None, Ask())

        assert (caught.value.code, caught.value.details) == (code, {"errors": []})

    def test_rescued(self, place: Any, patch: Patch) -> None:
        """The refusal comes before the arguments."""
        rescued(place, "handler", lambda refusal, _unit, ask: (refusal.code, ask.body))(patch)

        assert place.handler(None, Ask()) == ("INVALID_INPUT", None)

    def test_invented(self, place: Any, patch: Patch) -> None:
        """The id is the one that was asked for."""
        invented(place, "handler", "quoteId")(patch)

        assert place.handler(None, Ask({"quoteId": "Quote:1"})) == {"id": "Quote:1"}


class TestTables:
    """What becomes of a table."""

    def test_rows(self, place: Any, patch: Patch) -> None:
        """One is added, another taken out."""
        together(with_row(place, "ROWS", "b", 2), without_row(place, "ROWS", "a"))(patch)

        assert place.ROWS == {"b": 2}

    def test_a_status_of_a_code_and_one_of_an_operation(self, patch: Patch) -> None:
        """``with_status`` changes the status of an error code, ``answers`` that of an operation."""
        together(with_status("CONFLICT", 418), answers("createQuote", 207))(patch)

        assert rules.ERROR_STATUS["CONFLICT"] == 418
        assert routes.OPERATIONS["createQuote"].status == 207

    def test_an_operation_that_is_not_there_is_told(self, patch: Patch) -> None:
        """The reference may have changed."""
        with pytest.raises(NoSuchTarget, match="no row 'absent' in OPERATIONS"):
            answers("absent", 200)(patch)

    def test_the_rules_of_a_field(self, place: Any, patch: Patch) -> None:
        """``with_field`` changes a member under the one condition that is named, and no other."""
        with_field(place, "FIELDS", "name", ("type", "A"), max_length=3)(patch)

        assert [field.max_length for field in place.FIELDS] == [80, 3, None]

    def test_a_field_of_any_kind(self, place: Any, patch: Patch) -> None:
        """The reference gets a kind that every value is of."""
        with_field(place, "FIELDS", "amount", kind="any")(patch)

        assert place.FIELDS[2].kind == "any"
        assert fields._TYPES["any"] == (object,)

    @pytest.mark.parametrize("name", ["FIELDS", "ABSENT"])
    def test_a_field_that_is_not_there_is_told(self, place: Any, patch: Patch, name: str) -> None:
        """A table or a member that does not exist makes the mutant unusable."""
        with pytest.raises(NoSuchTarget, match=f"no rule of absent in {name}"):
            with_field(place, name, "absent", required=True)(patch)


BODY = {
    "id": "Quote:1",
    "fee": None,
    "list": [{"a": 1, "b": 2}, {"b": 3}],
    "deep": {"in": {"a": 1}},
}


@pytest.mark.parametrize(
    ("edit", "changes"),
    [
        pytest.param(put("id", 7), {"id": 7}, id="put"),
        pytest.param(put("new", 7), {"new": 7}, id="put what is not there"),
        pytest.param(put("new", None), {}, id="null is put in the place of a member alone"),
        pytest.param(put("deep.in.a", 7), {"deep": {"in": {"a": 7}}}, id="put deep"),
        pytest.param(put("deep.out.a", 7), {}, id="there is no way to it"),
        pytest.param(put("fee.code", 7), {}, id="null has no members"),
        pytest.param(
            put(f"list.{ALL}.a", 7), {"list": [{"a": 7, "b": 2}, {"b": 3, "a": 7}]}, id="put in all"
        ),
        pytest.param(put(f"deep.{ALL}.a", 7), {}, id="an object has no entries"),
        pytest.param(turned("id", str.lower), {"id": "quote:1"}, id="turned"),
        pytest.param(turned("fee", str), {}, id="null is not turned"),
        pytest.param(replaced("id", 7), {"id": 7}, id="replaced"),
        pytest.param(replaced("new", 7), {}, id="what is not there is not replaced"),
        pytest.param(derived("fee", lambda body: body["id"]), {"fee": "Quote:1"}, id="derived"),
        pytest.param(derived("new", lambda body: body["id"]), {}, id="derived from nothing"),
        pytest.param(copied("id", "fee"), {"fee": "Quote:1"}, id="copied"),
        pytest.param(copied("new", "fee"), {}, id="nothing is copied"),
        pytest.param(with_null("id"), {"id": None}, id="with null"),
        pytest.param(
            without(f"list.{ALL}.a", "deep.in"),
            {"list": [{"b": 2}, {"b": 3}], "deep": {}},
            id="without",
        ),
        pytest.param(where(shows("id", "Quote:1"), put("id", 7)), {"id": 7}, id="where"),
        pytest.param(where(shows("id", "Quote:2"), put("id", 7)), {}, id="where not"),
    ],
)
def test_an_edit_returns_a_changed_copy(edit: Edit, changes: dict[str, Any]) -> None:
    """The value that it is given stays as it is."""
    before = repr(BODY)

    assert edit(BODY) == {**BODY, **changes}
    assert repr(BODY) == before


def test_edits_that_take_members_away() -> None:
    """Under another name, or for good."""
    assert renamed("id", "name")({"id": 1, "a": 2}) == {"name": 1, "a": 2}
    assert put("id", ABSENT)({"id": 1, "a": 2}) == {"a": 2}
    assert put("", [])({"id": 1}) == []
