"""The ledger: how the outline is read, and that nothing in the specification is unaccounted for."""

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


def read(folder: Path, *sections: Any) -> Outline:
    """Write an outline and load it."""
    path = folder / "outline.yaml"
    path.write_text(yaml.safe_dump(list(sections)), encoding="utf-8")
    return Outline.load(path)


class TestReading:
    """Sections become lines, each with what comes from it."""

    def test_each_line_has_its_entries(self, tmp_path: Path) -> None:
        """In the order of the specification; nothing may come from a line."""
        loaded = read(
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
        """The entry and the line are named."""
        loaded = read(tmp_path, {"section": "Events", "heading": 1, "lines": [2]})

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
        """The file and the section are named."""
        with pytest.raises(OutlineError, match=r"^outline\.yaml: ") as refused:
            read(tmp_path, *sections)

        assert message in str(refused.value)

    def test_a_file_that_is_no_list_is_refused(self, tmp_path: Path) -> None:
        """An outline is a list of sections."""
        (tmp_path / "outline.yaml").write_text("section: Events\n", encoding="utf-8")

        with pytest.raises(OutlineError, match="expected a list of sections"):
            Outline.load(tmp_path / "outline.yaml")


class TestShipped:
    """The outline that the suite ships, against the catalogue and what is left open."""

    def test_every_line_is_accounted_for(self) -> None:
        """Something comes from each line that states something."""
        assert [line.number for line in ledger() if not line.accounted] == []

    def test_it_ends_with_the_specification(self) -> None:
        """It was read to the last line."""
        assert max(outline().section_of) == LAST_LINE

    def test_every_entry_stands_in_a_section_of_its_lines(self) -> None:
        """Of those that the lines lie in it names one."""
        of = outline().section_of

        strays = {
            entry.id: entry.source.section
            for entry in catalogue().values()
            if entry.source.section not in {of[number] for number in entry.source.lines}
        }

        assert strays == {}

    def test_what_is_left_open_stands_in_a_section_of_its_lines(self) -> None:
        """As requirements do."""
        of = outline().section_of

        strays = {
            entry.id: entry.source.section
            for entry in unspecified().values()
            if entry.source.section not in {of[number] for number in entry.source.lines}
        }

        assert strays == {}


class TestCommand:
    """``payments-conformance coverage``."""

    def test_a_line_is_shown_with_its_entries(self) -> None:
        """Those that follow each other are drawn together."""
        done = CliRunner().invoke(app, ["coverage", "--lines", "473"])

        assert done.exit_code == 0
        assert done.output == (
            "Errors / Other statuses\n"
            "  473  CNV-010, DOC-080…DOC-088\n"
            "Lines that state something: 1. With requirements: 1. Only left open: 0. Neither: 0.\n"
        )

    def test_the_ledger_is_shown_as_json(self) -> None:
        """One object for each line that states something."""
        done = CliRunner().invoke(app, ["coverage", "--json"])

        assert [line["number"] for line in json.loads(done.output)] == list(outline().section_of)

    def test_what_is_no_line_is_refused(self) -> None:
        """The form is told."""
        done = CliRunner().invoke(app, ["coverage", "--lines", "forty"])

        assert done.exit_code == 2
        assert "expected a line or first-last" in done.output
