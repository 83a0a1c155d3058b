"""The outline and its ledger: how they are read, and that every line is accounted for."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.contract.catalogue import catalogue
from conformance.contract.outline import Line, Outline, OutlineError, ledger, outline
from conformance.contract.readings import unspecified

LAST_LINE = 511
"""How many lines the specification has."""


def read_outline(folder: Path, *sections: Any) -> Outline:
    """Write an outline with these sections and load it."""
    path = folder / "outline.yaml"
    path.write_text(yaml.safe_dump(list(sections)), encoding="utf-8")
    return Outline.load(path)


class TestReading:
    """Sections become lines, each with the entries that come from it."""

    def test_each_line_has_its_entries(self, tmp_path: Path) -> None:
        """Lines stand in order; one that no entry comes from is not accounted for."""
        loaded = read_outline(
            tmp_path,
            {"section": "Events", "heading": 1, "lines": [2, 4]},
            {"section": "Limits", "heading": 5, "lines": [6]},
        )

        lines = list(loaded.ledger({"EVT-001": (2, 6)}, {"N001": (6,)}))

        assert lines == [
            Line(2, "Events", ("EVT-001",), ()),
            Line(4, "Events", (), ()),
            Line(6, "Limits", ("EVT-001",), ("N001",)),
        ]
        assert [line.accounted for line in lines] == [True, False, True]

    def test_what_comes_from_a_line_that_states_nothing_is_refused(self, tmp_path: Path) -> None:
        """The message names the entry and the line."""
        loaded = read_outline(tmp_path, {"section": "Events", "heading": 1, "lines": [2]})

        with pytest.raises(OutlineError, match="EVT-001 comes from line 3, which states nothing"):
            list(loaded.ledger({"EVT-001": (3,)}, {}))

    @pytest.mark.parametrize(
        ("sections", "message"),
        [
            ([{"section": "Events", "lines": [2]}], "expected {section, heading, lines}"),
            (["Events"], "expected {section, heading, lines}"),
            ([{"section": "Events", "heading": 3, "lines": [2]}], "Events: line 2 comes after 3"),
            (
                [
                    {"section": "Events", "heading": 1, "lines": [2]},
                    {"section": "Limits", "heading": 2, "lines": [3]},
                ],
                "Limits: line 2 comes after 2",
            ),
        ],
    )
    def test_what_is_no_outline_is_refused(
        self, tmp_path: Path, sections: list[Any], message: str
    ) -> None:
        """The message names the file, and the section or what was expected."""
        with pytest.raises(OutlineError, match=r"^outline\.yaml: ") as error:
            read_outline(tmp_path, *sections)

        assert message in str(error.value)

    def test_a_file_that_is_no_list_is_refused(self, tmp_path: Path) -> None:
        """An outline that is a mapping raises OutlineError."""
        (tmp_path / "outline.yaml").write_text("section: Events\n", encoding="utf-8")

        with pytest.raises(OutlineError, match="expected a list of sections"):
            Outline.load(tmp_path / "outline.yaml")


class TestShipped:
    """The shipped outline agrees with the catalogue and the list of open points."""

    def test_every_line_is_accounted_for(self) -> None:
        """At least one entry comes from each line that states something."""
        assert [line.number for line in ledger() if not line.accounted] == []

    def test_it_ends_with_the_specification(self) -> None:
        """The last line of the outline is the last line of the specification."""
        assert max(outline().section_of) == LAST_LINE

    def test_every_entry_stands_in_a_section_of_its_lines(self) -> None:
        """The section of a requirement contains at least one of its lines."""
        section_of = outline().section_of

        strays = {
            entry.id: entry.source.section
            for entry in catalogue().values()
            if entry.source.section not in {section_of[number] for number in entry.source.lines}
        }

        assert strays == {}

    def test_what_is_left_open_stands_in_a_section_of_its_lines(self) -> None:
        """The section of an open point contains at least one of its lines."""
        section_of = outline().section_of

        strays = {
            entry.id: entry.source.section
            for entry in unspecified().values()
            if entry.source.section not in {section_of[number] for number in entry.source.lines}
        }

        assert strays == {}


class TestCommand:
    """``payments-conformance coverage`` shows what comes from each line."""

    def test_a_line_is_shown_with_its_entries(self) -> None:
        """Successive ids are drawn together, as in DOC-080…DOC-088."""
        result = CliRunner().invoke(app, ["coverage", "--lines", "473"])

        assert result.exit_code == 0
        assert result.output == (
            "Errors / Other statuses\n"
            "  473  CNV-010, DOC-080…DOC-088, DOC-690\n"
            "Lines that state something: 1. With requirements: 1. Only left open: 0. Neither: 0.\n"
        )

    def test_the_ledger_is_shown_as_json(self) -> None:
        """``--json`` prints one object for each line that states something."""
        result = CliRunner().invoke(app, ["coverage", "--json"])

        assert [line["number"] for line in json.loads(result.output)] == list(outline().section_of)

    def test_what_is_no_line_is_refused(self) -> None:
        """Exit status 2, and the message says what form is expected."""
        result = CliRunner().invoke(app, ["coverage", "--lines", "forty"])

        assert result.exit_code == 2
        assert "expected a line or first-last" in result.output
