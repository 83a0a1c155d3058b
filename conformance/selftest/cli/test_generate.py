"""What is generated: it is up to date, each part has one place, and its form is the right one."""

from __future__ import annotations

import inspect
import shutil
from pathlib import Path
from typing import Any

import pytest
import typer.main
import yaml
from typer.testing import CliRunner

from conformance.cli import generate as command
from conformance.cli.generate import generated, stale_figures, with_contents
from conformance.cli.generation.api_class import api_class
from conformance.cli.generation.flow import flow, member
from conformance.cli.generation.places import Place, PlaceError, filled, places_in
from conformance.cli.generation.tables import tables
from conformance.cli.generation.template import sections
from conformance.cli.main import app
from conformance.contract.document import Document, document
from conformance.contract.judge import error_codes
from conformance.contract.vocabulary import FEATURES, TRIGGERS
from conformance.platform.api import Api
from conformance.reporting.kills import MEASURED, read_kills
from conformance.selftest.collection import ROOT
from conformance.session import EXIT_MEANING, EXIT_STATUS

PAGE = "# Page\n<!-- generated: one -->\nold\n<!-- end of one -->\nrest\n"
PROGRAM = typer.main.get_command(app)


def cells(name: str) -> list[list[str]]:
    """Return the rows of a table without its head, cell by cell."""
    _, _, _, *rows, _ = tables(PROGRAM)[name]
    return [row[2:-2].split(" | ") for row in rows]


def named(name: str) -> set[str]:
    """Return what stands in the first column of a table."""
    return {row[0].strip("`") for row in cells(name)}


class TestPlaces:
    """Where a generated text stands."""

    def test_the_lines_between_two_marks_are_put_in(self) -> None:
        """All else stays."""
        assert filled(PAGE, "page.md", {"one": ["new", "lines"]}) == PAGE.replace(
            "old", "new\nlines"
        )

    def test_several_places_are_put_in(self) -> None:
        """In YAML too, where marks are indented."""
        text = "a:\n  # generated: one\n  # end of one\nb:\n  # generated: two\n  # end of two\n"

        done = filled(text, "page.yaml", {"one": ["  x: 1", "  y: 2"], "two": ["  z: 3"]})

        assert yaml.safe_load(done) == {"a": {"x": 1, "y": 2}, "b": {"z": 3}}
        assert filled(done, "page.yaml", {"one": [], "two": []}) == text

    def test_a_place_is_found(self) -> None:
        """By the lines of its marks; words within a line are none."""
        text = f"say <!-- generated: two --> so\n{PAGE}"

        assert places_in(text, "page.md") == [Place("one", 2, 4)]

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            (PAGE.replace("<!-- end of one -->\n", ""), "page.md:2: the place one does not end"),
            (PAGE.replace("end of one", "end of two"), "page.md:4: no place two has begun"),
            (PAGE.replace("old", "<!-- generated: two -->"), "page.md:3: the place one has not"),
            (PAGE.replace(" one ", " three "), "page.md:2: nothing is generated for three; there"),
        ],
    )
    def test_a_wrong_mark_is_refused(self, text: str, message: str) -> None:
        """The message names file and line."""
        with pytest.raises(PlaceError, match=message):
            filled(text, "page.md", {"one": [], "two": []})

    def test_what_is_generated_has_one_place(self, tmp_path: Path) -> None:
        """In whichever of the files."""
        first, second = tmp_path / "a.md", tmp_path / "b.md"
        first.write_text(PAGE, encoding="utf-8")
        second.write_text("nothing\n", encoding="utf-8")

        texts = with_contents(tmp_path, [first, second], {"one": ["new"]})

        assert texts == {first: PAGE.replace("old", "new")}
        with pytest.raises(PlaceError, match="two has no place: put a line 'generated: two'"):
            with_contents(tmp_path, [first, second], {"one": [], "two": []})
        second.write_text(PAGE, encoding="utf-8")
        with pytest.raises(PlaceError, match=r"one has two places, a\.md:2 and b\.md:2; take"):
            with_contents(tmp_path, [first, second], {"one": []})


class TestTables:
    """What each table tells about."""

    @pytest.mark.parametrize(
        ("name", "told"),
        [
            ("triggers", set(TRIGGERS)),
            ("features", set(FEATURES)),
            ("error-codes", set(error_codes())),
            ("exit-statuses", {str(status) for status in EXIT_MEANING}),
        ],
    )
    def test_nothing_is_left_out(self, name: str, told: set[str]) -> None:
        """A row for each entry."""
        assert named(name) == told

    @pytest.mark.parametrize("name", tables(PROGRAM))
    def test_no_cell_of_a_first_and_last_column_is_empty(self, name: str) -> None:
        """Each entry has a name and something to say, and as many cells as the head has."""
        head, _, *rows = tables(PROGRAM)[name][1:-1]

        for row in rows:
            assert row.replace("\\|", "").count("|") == head.count("|"), row
            assert "None" not in row
        assert all(row[0] for row in cells(name))

    def test_a_request_is_called_one(self) -> None:
        """With its parameters and results."""
        (row,) = (row for row in cells("triggers") if row[0] == "`card.issue`")

        assert row[1:3] == ["`customerId`, `accountId`", "`cardId`"]
        assert row[3].startswith("Request: ")

    def test_a_command_is_told_with_its_options(self) -> None:
        """Also one that is a part of another."""
        told = dict(row[0::2] for row in cells("commands"))

        assert told["`payments-conformance generate`"] == "`--check`"

    def test_every_exit_status_has_a_meaning(self) -> None:
        """Those of pytest and those of verdicts."""
        of_pytest = {int(status) for status in pytest.ExitCode}

        assert set(EXIT_MEANING) == of_pytest | set(EXIT_STATUS.values())


class TestYaml:
    """Values as they stand in the template profile."""

    @pytest.mark.parametrize(
        ("value", "text"),
        [
            ("USD", "USD"),
            ("123456", "'123456'"),
            ("{amount}", "'{amount}'"),
            (30.0, "30.0"),
            (None, "null"),
            ({"currency": "USD", "amounts": [1, 2]}, "{currency: USD, amounts: [1, 2]}"),
        ],
    )
    def test_a_value_stands_on_one_line(self, value: Any, text: str) -> None:
        """And reads back as it was."""
        assert flow(value) == text
        assert yaml.safe_load(text) == value

    @pytest.mark.parametrize("width", [200, 40, 20, 0])
    def test_a_long_one_is_divided(self, width: int) -> None:
        """No line is longer than it may be, where that can be."""
        value = {"a": [{"first": "x" * 9, "second": ["y" * 9]}, "z"], "b": {"c": {"d": 1}}, "e": []}

        lines = list(member("key", value, width))

        assert yaml.safe_load("\n".join(lines)) == {"key": value}
        assert len(lines) == 1 if width == 200 else all(len(line) <= 30 for line in lines)


def test_the_template_tells_what_may_stand_at_a_key_without_a_default() -> None:
    """Possible values and defaults of its members."""
    text = "\n".join(sections()["webhooks"])

    assert "# - encoding: How the header spells the signature. One of hex, base64. By def" in text
    assert "# - header: The header that holds the signature.\n" in text


class TestApiClass:
    """A method for each operation."""

    def method(self, folder: Path, path: str, identifier: str, **more: Any) -> str:
        """Return the method of the only operation of a document."""
        operation = {"operationId": identifier, "tags": ["Things"], "responses": {}, **more}
        content = {
            "tags": [{"name": "Nothing"}, {"name": "Things"}],
            "paths": {path: {"post": operation}},
        }
        file = folder / "openapi.yaml"
        file.write_text(yaml.safe_dump(content), encoding="utf-8")
        text = api_class(Document(file))
        assert "# Nothing" not in text
        return text.partition("    # Things\n\n")[2]

    def test_an_operation_without_anything_takes_options(self, tmp_path: Path) -> None:
        """On one line each."""
        assert self.method(tmp_path, "/things", "createThing") == (
            "    def create_thing(self, **options: Unpack[Options]) -> Answer:\n"
            '        """Send ``POST /things``."""\n'
            '        return self._send("createThing", **options)\n'
        )

    def test_parameters_come_in_their_order(self, tmp_path: Path) -> None:
        """Of the path, the query, the body; none hides a name of Python."""
        told = self.method(
            tmp_path,
            "/{class}/{id}/{thingId}",
            "changeThing",
            parameters=[{"name": "page", "in": "query"}, {"name": "Request-Id", "in": "header"}],
            requestBody={"content": {"application/json": {"schema": {}}}},
        )

        assert told == (
            "    def change_thing(\n"
            "        self,\n"
            "        class_: Any,\n"
            "        id_: Any,\n"
            "        thing_id: Any,\n"
            "        query: Query | None = None,\n"
            "        body: Any = None,\n"
            "        **options: Unpack[Options],\n"
            "    ) -> Answer:\n"
            '        """Send ``POST /{class}/{id}/{thingId}``."""\n'
            "        return self._send(\n"
            '            "changeThing",\n'
            '            path={"class": class_, "id": id_, "thingId": thing_id},\n'
            "            query=query,\n"
            "            body=body,\n"
            "            **options,\n"
            "        )\n"
        )

    def test_a_form_takes_the_place_of_a_body(self, tmp_path: Path) -> None:
        """It has a type of its own."""
        told = self.method(
            tmp_path,
            "/things",
            "uploadThing",
            requestBody={"content": {"multipart/form-data": {"schema": {}}}},
        )

        assert "(self, form: Form | None = None, **options: Unpack[Options])" in told
        assert 'self._send("uploadThing", form=form, **options)' in told

    @pytest.mark.parametrize("name", document().operations)
    def test_an_operation_is_sent(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """With whatever its path needs."""
        sent: list[tuple[Any, Any]] = []
        monkeypatch.setattr(Api, "_send", lambda _, *name, **more: sent.append((name, more)))
        methods = {
            method.__doc__: method
            for _, method in inspect.getmembers(Api, inspect.isfunction)
            if not method.__name__.startswith("_")
        }
        operation = document().operations[name]
        method = methods[f"Send ``{operation.method} {operation.path}``."]
        in_path = [p["name"] for p in operation.raw["parameters"] if p["in"] == "path"]

        method(object.__new__(Api), *in_path, valid=False)

        ((identifiers, more),) = sent
        assert identifiers == (name,)
        assert more.pop("path", {}) == {parameter: parameter for parameter in in_path}
        assert more.pop("valid") is False
        assert set(more.values()) <= {None}


class TestFigures:
    """The kill figures are those of the mutants that there are."""

    def test_what_does_not_fit_is_named(self, tmp_path: Path) -> None:
        """By its requirement."""
        others = MEASURED.read_text(encoding="utf-8").partition("\n")[2]
        first, total = next((name, kills.total) for name, kills in read_kills(MEASURED).items())
        file = tmp_path / "measured.txt"
        file.write_text(f"AAA-001 2/2\n{others}", encoding="utf-8")

        assert list(stale_figures(file)) == [
            "  AAA-001: 2 measured, there are 0",
            f"  {first}: 0 measured, there are {total}",
        ]


class TestCommand:
    """``payments-conformance generate``."""

    @pytest.fixture
    def checkout(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """Return a copy of what is generated in this checkout, for the command to work on."""
        for path in (ROOT / "pyproject.toml", *generated(ROOT, PROGRAM)):
            copy = tmp_path / path.relative_to(ROOT)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, copy)
        monkeypatch.setattr(command, "SPEC", tmp_path / "spec")
        return tmp_path

    def test_this_checkout_is_up_to_date(self) -> None:
        """Else run ``payments-conformance generate``."""
        done = CliRunner().invoke(app, ["generate", "--check"])

        assert (done.exit_code, done.output) == (0, "")

    def test_what_would_change_is_told(self, checkout: Path) -> None:
        """File by file, with a few lines of the difference; nothing is written."""
        api = checkout / "conformance" / "platform" / "api.py"
        api.write_text(api.read_text(encoding="utf-8") + "# more\n", encoding="utf-8")
        schema = checkout / "conformance" / "profile" / "profile.schema.json"
        schema.unlink()

        done = CliRunner().invoke(app, ["generate", "--check"])

        assert done.exit_code == 1
        assert "conformance/platform/api.py would change:\n" in done.output
        assert "\n  -# more\n" in done.output
        assert "conformance/profile/profile.schema.json would change:\n" in done.output
        assert " more lines\n" in done.output
        assert "payments-conformance generate writes them." in done.output
        assert "# more" in api.read_text(encoding="utf-8")

    def test_it_is_written(self, checkout: Path) -> None:
        """And then nothing would change any more."""
        api = checkout / "conformance" / "platform" / "api.py"
        api.unlink()

        done = CliRunner().invoke(app, ["generate"])
        again = CliRunner().invoke(app, ["generate", "--check"])

        assert (done.exit_code, done.output) == (0, "wrote conformance/platform/api.py\n")
        assert (again.exit_code, again.output) == (0, "")

    def test_stale_figures_are_told(
        self, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """They are measured by another command."""
        assert checkout
        file = tmp_path / "measured.txt"
        file.write_text("", encoding="utf-8")
        monkeypatch.setattr(command, "MEASURED", file)

        done = CliRunner().invoke(app, ["generate"])

        assert done.exit_code == 1
        assert "measured.txt is not of these mutants:\n" in done.output
        assert "payments-conformance mutants --figures measures them" in done.output

    def test_a_place_that_is_missing_is_told(self, checkout: Path) -> None:
        """Exit status 1, and what to put where."""
        (checkout / "fixtures" / "profiles" / "template.yaml").write_text("", encoding="utf-8")

        done = CliRunner().invoke(app, ["generate", "--check"])

        assert done.exit_code == 1
        assert "has no place: put a line 'generated: credentials'" in done.output

    def test_there_is_nothing_to_write_to_without_a_checkout(
        self, checkout: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Exit status 2."""
        monkeypatch.setattr(command, "SPEC", checkout / "conformance" / "spec")

        done = CliRunner().invoke(app, ["generate"])

        assert done.exit_code == 2
        assert "this is none" in done.output
