"""``payments-conformance new rule``: where its skeletons stand, and that none looks done."""

from __future__ import annotations

import ast
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner

from conformance.cli import new as command
from conformance.cli.main import app
from conformance.cli.skeleton import Draft, home, neighbours, with_entry, with_mutant, with_scenario
from conformance.contract.catalogue import BadEntry, Catalogue, Level, catalogue
from conformance.proof.mutant import REGISTRY, Registry
from conformance.proof.patch import MutantError, Patch
from conformance.selftest.collection import ROOT

ALL_OPTIONS = (
    *("--statement", "An expired quote cannot be executed: it is refused."),
    *("--level", "SHOULD"),
    *("--section", "Endpoints / Quotes"),
    *("--lines", "372,386"),
    *("--operation", "executeQuote"),
    *("--operation", "authorizeQuote"),
)
DRAFT = Draft("QUO-912", statement="It is refused.")
SCENARIOS = "conformance/scenarios/quotes"
MUTANTS = "conformance/proof/mutants/quotes"
ENTRIES = "spec/requirements/quotes"


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a copy of the rooms of one area, for the command to work on."""
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    for room in (SCENARIOS, MUTANTS, ENTRIES):
        shutil.copytree(ROOT / room, tmp_path / room, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(command, "SPEC", tmp_path / "spec")
    return tmp_path


def run(*arguments: str) -> tuple[int, str]:
    """Run the command; return its exit status, and what it prints on one line."""
    result = CliRunner().invoke(app, ["new", "rule", *arguments])
    return result.exit_code, " ".join(result.output.split())


def read_files(folder: Path) -> dict[Path, str]:
    """Return the texts of all files below a folder, by path."""
    return {
        path: path.read_text(encoding="utf-8") for path in folder.rglob("*.*") if path.is_file()
    }


class TestWriting:
    """The command writes an entry, a scenario and a mutant."""

    def test_everything_that_is_said_stands_in_the_entry(self, checkout: Path) -> None:
        """All options of the command stand in the new entry, which the catalogue loads."""
        status, output = run("QUO-912", *ALL_OPTIONS)

        assert status == 0, output
        entry = Catalogue.load(checkout / "spec" / "requirements")["QUO-912"]
        assert entry.statement == "An expired quote cannot be executed: it is refused."
        assert entry.level is Level.SHOULD
        assert str(entry.source) == "Endpoints / Quotes (line 372, 386)"
        assert entry.operations == ("executeQuote", "authorizeQuote")

    def test_what_is_not_said_is_refused_until_it_is_filled_in(self, checkout: Path) -> None:
        """The catalogue refuses an entry with placeholders; the message names file, id and key."""
        assert run("QUO-912")[0] == 0

        with pytest.raises(BadEntry, match=r"quotes\.yaml: QUO-912: level is not filled in yet"):
            Catalogue.load(checkout / "spec" / "requirements")

    @pytest.mark.parametrize("left_out", ["--statement", "--level", "--lines", "--operation"])
    def test_each_placeholder_is_refused(self, checkout: Path, left_out: str) -> None:
        """One placeholder is enough for the catalogue to refuse the entry."""
        words = [
            word
            for name, value in zip(ALL_OPTIONS[::2], ALL_OPTIONS[1::2], strict=True)
            if name != left_out
            for word in (name, value)
        ]
        assert run("QUO-912", *words)[0] == 0

        with pytest.raises(BadEntry, match=r"QUO-912: \w+ is not filled in yet"):
            Catalogue.load(checkout / "spec" / "requirements")

    def test_the_section_is_that_of_the_lines(self, checkout: Path) -> None:
        """Without ``--section`` the entry has the section of its lines."""
        assert run("QUO-912", "--lines", "386")[0] == 0

        text = (checkout / ENTRIES / "quotes.yaml").read_text(encoding="utf-8")
        assert yaml.safe_load(text)[-1]["source"] == {
            "section": "Endpoints / Quotes",
            "lines": [386],
        }

    def test_it_stands_with_its_neighbours(self, checkout: Path) -> None:
        """The skeletons go to three files that name ids of the prefix; no other file changes."""
        before = read_files(checkout)

        status, output = run("TRF-912")

        after = read_files(checkout)
        changed = [path for path in after if after[path] != before[path]]
        assert status == 0
        assert len(changed) == 3
        assert after.keys() == before.keys()
        for path in changed:
            assert str(path.relative_to(checkout)) in output
            assert set(before[path].splitlines()) <= set(after[path].splitlines())
            assert re.search(r"TRF-\d", before[path])

    def test_it_stands_in_the_files_that_are_named(self, checkout: Path) -> None:
        """Options name the files of entry, scenario and mutant by their names within the area."""
        names = ("transfers.yaml", "test_quote_ends.py", "execution.py")
        options = zip(("--entry", "--scenario", "--mutant"), names, strict=True)

        assert run("QUO-912", *(word for option in options for word in option))[0] == 0

        for room, name in zip((ENTRIES, SCENARIOS, MUTANTS), names, strict=True):
            assert "QUO-912" in (checkout / room / name).read_text(encoding="utf-8")

    def test_it_says_what_is_left_to_do(self, checkout: Path) -> None:
        """The output names the document, the reference and the command to run at the end."""
        assert checkout

        output = run("QUO-912")[1]

        assert "the OpenAPI document: " in output
        assert "the reference: " in output
        assert "payments-conformance mutants --only QUO-912 --figures" in output


@pytest.mark.usefixtures("checkout")
class TestRefusals:
    """Wrong arguments end in exit status 2, and nothing is written."""

    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            (["QUO-001"], "QUO-001 is in the catalogue already: A quote has an id of the form"),
            (["QUO-001"], f"The last id of QUO is {max(i for i in catalogue() if 'QUO-' in i)}"),
            (["XYZ-001"], "XYZ-001: no area has the prefix XYZ; add it in spec/areas.yaml"),
            (["QUO-1"], "QUO-1: an id is three capitals, a hyphen and three digits"),
            (
                ["QUO-912", "--section", "Endpoints / Quote"],
                "there is no section 'Endpoints / Quote'; the nearest is 'Endpoints / Quotes'",
            ),
            (
                ["QUO-912", "--lines", "386", "--section", "Limits"],
                "none of the lines 386 stands in the section 'Limits'",
            ),
            (["QUO-912", "--lines", "386, 385"], "line 385 of the specification states nothing"),
            (["QUO-912", "--lines", "386-390"], "expected numbers of lines such as 386,391"),
            (
                ["QUO-912", "--operation", "executeQuot"],
                "there is no operation 'executeQuot'; the nearest is 'executeQuote'",
            ),
            (
                ["QUO-912", "--scenario", "test_quote_end.py"],
                "quotes has no file 'test_quote_end.py'; the nearest is 'test_quote_ends.py'",
            ),
        ],
    )
    def test_it_is_told(self, checkout: Path, arguments: list[str], message: str) -> None:
        """The message says what is wrong and what is right, and no file changes."""
        before = read_files(checkout)

        status, output = run(*arguments)

        assert status == 2
        assert message in output
        assert read_files(checkout) == before

    def test_nothing_is_added_to_what_is_installed(self, checkout: Path) -> None:
        """A folder without pyproject.toml is no checkout: exit status 2."""
        (checkout / "pyproject.toml").unlink()

        assert run("QUO-912") == (2, "a requirement is added to a checkout, and this is none")


class TestSkeleton:
    """Each skeleton fails until it is filled in."""

    def execute(self, text: str) -> dict[str, Any]:
        """Run a module and return its names."""
        names: dict[str, Any] = {"__name__": "skeleton"}
        exec(compile(text, "skeleton.py", "exec"), names)
        return names

    def test_the_scenario_fails(self) -> None:
        """The new scenario is marked with its id, and fails as nothing is checked yet."""
        names = self.execute(with_scenario('"""Scenarios."""\n', DRAFT))
        scenario = names["test_quo_912"]

        assert [mark.args for mark in scenario.pytestmark] == [("QUO-912",)]
        assert scenario.__doc__ == "It is refused."
        with pytest.raises(AssertionError, match="QUO-912 is not checked yet"):
            scenario()

    def test_the_mutant_changes_nothing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The new mutant is registered under its id, and applying it raises MutantError."""
        registry = Registry()
        monkeypatch.setattr(REGISTRY, "_mutants", registry._mutants)

        names = self.execute(with_mutant('"""Mutants."""\n', DRAFT))

        assert [mutant.id for mutant in registry] == ["QUO-912/quo-912"]
        with pytest.raises(MutantError):
            names["quo_912"](Patch())

    def test_imports_come_after_those_that_are_there(self) -> None:
        """Missing imports are added after the existing ones, and none is made twice."""
        head = '"""Mutants."""\n\nimport json\nfrom conformance.proof.mutant import mutant\n'

        text = with_mutant(f"{head}\nX = 1\n", DRAFT)

        assert text.startswith(
            f"{head}from conformance.proof.patch import Patch\n"
            "from conformance.reference import rules\n\nX = 1\n\n\n@mutant("
        )
        assert with_mutant(text, DRAFT).count("import Patch") == 1
        assert ast.parse(text)

    def test_a_long_statement_is_wrapped(self) -> None:
        """The entry wraps a long statement; the docstring of the scenario says TODO instead."""
        draft = Draft("QUO-912", statement="It is refused, " * 10 + "and so on.")

        entry = with_entry("", draft)

        assert yaml.safe_load(entry)[0]["statement"] == draft.statement
        assert max(map(len, entry.splitlines())) <= 100
        assert '"""TODO."""' in with_scenario("", draft)

    def test_an_entry_comes_after_an_empty_line(self) -> None:
        """A new entry comes after one empty line at the end of the file."""
        text = with_entry("- id: QUO-001\n\n\n", DRAFT)

        assert text.startswith("- id: QUO-001\n\n- id: QUO-912\n")


class TestNeighbours:
    """The existing requirements beside which a new one is written."""

    def test_the_nearest_number_comes_first(self) -> None:
        """Ids of one prefix are sorted by distance, the lower of two first."""
        ids = ["QUO-001", "QUO-008", "QUO-012", "TRX-010", "QUO-1010"]

        assert neighbours("QUO-010", ids) == ["QUO-008", "QUO-012", "QUO-001", "QUO-1010"]

    def test_they_are_at_home_where_they_are_named(self, tmp_path: Path) -> None:
        """The file that names the nearest neighbour is taken, or else the first file."""
        first, second = tmp_path / "a.py", tmp_path / "b.py"
        first.write_text("QUO-001", encoding="utf-8")
        second.write_text("QUO-002", encoding="utf-8")

        assert home([first, second], ["QUO-003", "QUO-002", "QUO-001"]) == second
        assert home([first, second], ["QUO-004"]) == first
        assert home([], ["QUO-001"]) is None
