"""``payments-conformance generate``: its texts are up to date, correct, and in one place each."""

from __future__ import annotations

import inspect
import shutil
from itertools import takewhile
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
from conformance.exit_status import EXIT_MEANING, EXIT_STATUS
from conformance.platform.api import Api
from conformance.proof.compared import Comparisons
from conformance.reporting.kills import MEASURED, read_kills
from conformance.selftest.collection import ROOT

PAGE = "# Page\n<!-- generated: one -->\nold\n<!-- end of one -->\nrest\n"
PROGRAM = typer.main.get_command(app)


def cells(name: str) -> list[list[str]]:
    """Return the rows of a table without its head, cell by cell."""
    _, _, *rows = lines_of(name)
    return [row[2:-2].split(" | ") for row in rows]


def lines_of(name: str) -> list[str]:
    """Return the lines of a table, without what stands below it after an empty line."""
    return list(takewhile(bool, tables(PROGRAM)[name][1:]))


def names_in(name: str) -> set[str]:
    """Return the names in the first column of a table."""
    return {row[0].strip("`") for row in cells(name)}


class TestPlaces:
    """A generated text stands between two marks of a file."""

    def test_the_lines_between_two_marks_are_put_in(self) -> None:
        """The lines between the two marks are replaced, and all other lines stay."""
        assert filled(PAGE, "page.md", {"one": ["new", "lines"]}) == PAGE.replace(
            "old", "new\nlines"
        )

    def test_several_places_are_put_in(self) -> None:
        """One call fills in several places; in YAML their marks may be indented."""
        text = "a:\n  # generated: one\n  # end of one\nb:\n  # generated: two\n  # end of two\n"

        result = filled(text, "page.yaml", {"one": ["  x: 1", "  y: 2"], "two": ["  z: 3"]})

        assert yaml.safe_load(result) == {"a": {"x": 1, "y": 2}, "b": {"z": 3}}
        assert filled(result, "page.yaml", {"one": [], "two": []}) == text

    def test_a_place_is_found(self) -> None:
        """A mark is a line of its own; the same words within a line are no mark."""
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
        """A mark without its pair, a nested or an unknown one: the error names file and line."""
        with pytest.raises(PlaceError, match=message):
            filled(text, "page.md", {"one": [], "two": []})

    def test_what_is_generated_has_one_place(self, tmp_path: Path) -> None:
        """Each generated text has exactly one place in all files; none or two raise PlaceError."""
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
    """The generated tables of triggers, features, error codes, exit statuses and commands."""

    @pytest.mark.parametrize(
        ("name", "entries"),
        [
            ("triggers", set(TRIGGERS)),
            ("features", set(FEATURES)),
            ("error-codes", set(error_codes())),
            ("exit-statuses", {str(status) for status in EXIT_MEANING}),
        ],
    )
    def test_nothing_is_left_out(self, name: str, entries: set[str]) -> None:
        """A table has one row for each entry of its source."""
        assert names_in(name) == entries

    @pytest.mark.parametrize("name", tables(PROGRAM))
    def test_no_cell_of_a_first_and_last_column_is_empty(self, name: str) -> None:
        """Each row has a name, no "None", and as many cells as the head of the table."""
        head, _, *rows = lines_of(name)

        for row in rows:
            assert row.replace("\\|", "").count("|") == head.count("|"), row
            assert "None" not in row
        assert all(row[0] for row in cells(name))

    def test_what_schemathesis_finds_stands_below_what_a_run_costs(self) -> None:
        """The sentence is that of the kept figures, and has a line of its own."""
        *_, empty, first, second, _ = tables(PROGRAM)["benchmark"]

        assert empty == ""
        assert f"{first} {second}" == str(Comparisons.read())

    def test_a_request_is_called_one(self) -> None:
        """The row of a request trigger has its parameters, its results and the word "Request"."""
        (row,) = (row for row in cells("triggers") if row[0] == "`card.issue`")

        assert row[1:3] == ["`customerId`, `accountId`", "`cardId`"]
        assert row[3].startswith("Request: ")

    def test_a_command_is_told_with_its_options(self) -> None:
        """The row of a command lists its options."""
        options = dict(row[0::2] for row in cells("contributor-commands"))

        assert options["`payments-conformance generate`"] == "`--check`"

    @pytest.mark.parametrize(
        ("table", "command"),
        [
            ("commands", "run"),
            ("report-commands", "diff"),
            ("report-commands", "compare"),
            ("contributor-commands", "new rule"),
        ],
    )
    def test_a_command_stands_in_one_table(self, table: str, command: str) -> None:
        """Each command is told where those look who need it, and nowhere else."""
        tables_of_commands = ("commands", "report-commands", "contributor-commands")
        told = {name: {row[0] for row in cells(name)} for name in tables_of_commands}

        name = f"`payments-conformance {command}`"
        assert [table for table in told if name in told[table]] == [table]

    def test_every_exit_status_has_a_meaning(self) -> None:
        """The meanings cover the exit statuses of pytest and those of verdicts, and no others."""
        pytest_statuses = {int(status) for status in pytest.ExitCode}

        assert set(EXIT_MEANING) == pytest_statuses | set(EXIT_STATUS.values())


class TestYaml:
    """Values are written as YAML of the template profile."""

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
        """A value is written on one line, and YAML reads it back as it was."""
        assert flow(value) == text
        assert yaml.safe_load(text) == value

    @pytest.mark.parametrize("width", [200, 40, 20, 0])
    def test_a_long_one_is_divided(self, width: int) -> None:
        """A long value is divided into several lines, and YAML reads it back as it was."""
        value = {"a": [{"first": "x" * 9, "second": ["y" * 9]}, "z"], "b": {"c": {"d": 1}}, "e": []}

        lines = list(member("key", value, width))

        assert yaml.safe_load("\n".join(lines)) == {"key": value}
        assert len(lines) == 1 if width == 200 else all(len(line) <= 30 for line in lines)


def test_the_template_tells_what_may_stand_at_a_key_without_a_default() -> None:
    """The template lists the members of ``webhooks``, with their possible values and defaults."""
    text = "\n".join(sections()["webhooks"])

    assert "# - encoding: How the header spells the signature. One of hex, base64. By def" in text
    assert "# - header: The header that holds the signature.\n" in text


class TestApiClass:
    """The generated API class has a method for each operation of the document."""

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
        """The method of an operation without parameters and body takes options only."""
        assert self.method(tmp_path, "/things", "createThing") == (
            "    def create_thing(self, **options: Unpack[Options]) -> Answer:\n"
            '        """Send ``POST /things``."""\n'
            '        return self._send("createThing", **options)\n'
        )

    def test_parameters_come_in_their_order(self, tmp_path: Path) -> None:
        """Parameters of the path come first, then query and body; names of Python get a "_"."""
        method = self.method(
            tmp_path,
            "/{class}/{id}/{thingId}",
            "changeThing",
            parameters=[{"name": "page", "in": "query"}, {"name": "Request-Id", "in": "header"}],
            requestBody={"content": {"application/json": {"schema": {}}}},
        )

        assert method == (
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
        """The method of an operation with a multipart body takes ``form``, and no ``body``."""
        method = self.method(
            tmp_path,
            "/things",
            "uploadThing",
            requestBody={"content": {"multipart/form-data": {"schema": {}}}},
        )

        assert "(self, form: Form | None = None, **options: Unpack[Options])" in method
        assert 'self._send("uploadThing", form=form, **options)' in method

    @pytest.mark.parametrize("name", document().operations)
    def test_an_operation_is_sent(self, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
        """The method of an operation sends its name, the parameters of its path and options."""
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
    """The kill figures are compared with the mutants that are declared."""

    def test_what_does_not_fit_is_named(self, tmp_path: Path) -> None:
        """Each requirement whose figure differs is named with both numbers of mutants."""
        others = MEASURED.read_text(encoding="utf-8").partition("\n")[2]
        first, total = next((name, kills.total) for name, kills in read_kills(MEASURED).items())
        file = tmp_path / "measured.txt"
        file.write_text(f"AAA-001 2/2\n{others}", encoding="utf-8")

        assert list(stale_figures(file)) == [
            "  AAA-001: 2 measured, there are 0",
            f"  {first}: 0 measured, there are {total}",
        ]


class TestCommand:
    """``payments-conformance generate`` writes the generated texts, or checks them."""

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
        """``--check`` finds no difference; if it does, run ``payments-conformance generate``."""
        result = CliRunner().invoke(app, ["generate", "--check"])

        assert (result.exit_code, result.output) == (0, "")

    def test_what_would_change_is_told(self, checkout: Path) -> None:
        """``--check`` names each stale file with lines of the difference, and writes nothing."""
        api = checkout / "conformance" / "platform" / "api.py"
        api.write_text(api.read_text(encoding="utf-8") + "# more\n", encoding="utf-8")
        schema = checkout / "conformance" / "profile" / "profile.schema.json"
        schema.unlink()

        result = CliRunner().invoke(app, ["generate", "--check"])

        assert result.exit_code == 1
        assert "conformance/platform/api.py would change:\n" in result.output
        assert "\n  -# more\n" in result.output
        assert "conformance/profile/profile.schema.json would change:\n" in result.output
        assert " more lines\n" in result.output
        assert "payments-conformance generate writes them." in result.output
        assert "# more" in api.read_text(encoding="utf-8")

    def test_it_is_written(self, checkout: Path) -> None:
        """``generate`` writes and names the one missing file; ``--check`` then finds nothing."""
        api = checkout / "conformance" / "platform" / "api.py"
        api.unlink()

        result = CliRunner().invoke(app, ["generate"])
        again = CliRunner().invoke(app, ["generate", "--check"])

        assert (result.exit_code, result.output) == (0, "wrote conformance/platform/api.py\n")
        assert (again.exit_code, again.output) == (0, "")

    def test_stale_figures_are_told(
        self, checkout: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Kill figures of other mutants: exit status 1, and the command that measures them."""
        assert checkout
        file = tmp_path / "measured.txt"
        file.write_text("", encoding="utf-8")
        monkeypatch.setattr(command, "MEASURED", file)

        result = CliRunner().invoke(app, ["generate"])

        assert result.exit_code == 1
        assert "measured.txt is not of these mutants:\n" in result.output
        assert "payments-conformance mutants --figures measures them" in result.output

    def test_a_place_that_is_missing_is_told(self, checkout: Path) -> None:
        """A missing place ends in exit status 1, with the line of the mark to add."""
        (checkout / "fixtures" / "profiles" / "template.yaml").write_text("", encoding="utf-8")

        result = CliRunner().invoke(app, ["generate", "--check"])

        assert result.exit_code == 1
        assert "has no place: put a line 'generated: credentials'" in result.output

    def test_there_is_nothing_to_write_to_without_a_checkout(
        self, checkout: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Outside a checkout the command ends with exit status 2."""
        monkeypatch.setattr(command, "SPEC", checkout / "conformance" / "spec")

        result = CliRunner().invoke(app, ["generate"])

        assert result.exit_code == 2
        assert "this is none" in result.output
