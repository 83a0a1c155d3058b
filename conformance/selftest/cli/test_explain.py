"""``payments-conformance explain`` says of a requirement all that belongs to it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from conformance.cli.explained import explained
from conformance.cli.main import app
from conformance.contract.areas import areas
from conformance.contract.catalogue import catalogue

MAX_PAGE_BYTES = 1_000_000
NOWHERE = "--report=/nonexistent"
SLOW_MODULES = ("conformance.reference", "pytest", "httpx", "jinja2")


def explain(*arguments: str) -> tuple[int, str]:
    """Run the command; return its exit status and its output."""
    result = CliRunner().invoke(app, ["explain", *arguments])
    return result.exit_code, result.output


def entry(verdict: str, **members: Any) -> dict[str, Any]:
    """Return what a report says of QUO-031."""
    return {
        "id": "QUO-031",
        "verdict": verdict,
        "reason": None,
        "detail": "",
        "evidence": [],
        **members,
    }


def with_report(folder: Path, result: dict[str, Any]) -> str:
    """Write a report with one result; return the option that names its folder."""
    (folder / "report.json").write_text(json.dumps({"requirements": [result]}), encoding="utf-8")
    return f"--report={folder}"


class TestText:
    """The text for a terminal has the requirement, its check, its proof, and what is left open."""

    def test_it_has_what_belongs_to_the_requirement(self) -> None:
        """Statement, lines, operation, the code of the check, mutants and variants are shown."""
        status, output = explain("QUO-031", NOWHERE)

        assert status == 0, output
        assert output.startswith("QUO-031  MUST  Quotes\n")
        assert catalogue()["QUO-031"].statement in output
        assert "(line 176, 376)" in output
        assert "POST /quotes" in output
        assert 'with check("QUO-031"):' in output
        assert "- QUO-031/" in output
        assert "- M14/echo-reduced: " in output
        assert "No report in /nonexistent has a result." in output

    def test_it_says_why_a_requirement_is_untestable(self) -> None:
        """A requirement that no client can observe is shown with the reason."""
        untestable = next(one for one in catalogue().values() if one.untestable)

        status, output = explain(untestable.id, NOWHERE)

        assert status == 0
        assert "No client can observe it: " in output

    def test_it_has_the_latest_result(self, tmp_path: Path) -> None:
        """A failure is shown with its message, the place of its evidence, and how to run it."""
        evidence = [{"rerun": "pytest --pyargs conformance.scenarios"}]
        option = with_report(tmp_path, entry("failed", detail="it is\x1b[2J", evidence=evidence))

        _, output = explain("QUO-031", option)

        assert "In the latest report: failed\n" in output
        assert f"{tmp_path}/report.html#about-QUO-031" in output
        assert "Again: pytest --pyargs" in output
        assert "\x1b" not in output

    @pytest.mark.parametrize("content", ["", "[]", '{"requirements": 3}', '{"requirements": [1]}'])
    def test_a_damaged_report_is_no_report(self, tmp_path: Path, content: str) -> None:
        """Where the report cannot be read, the rest is explained all the same."""
        (tmp_path / "report.json").write_text(content, encoding="utf-8")

        status, output = explain("QUO-031", f"--report={tmp_path}")

        assert status == 0
        assert f"No report in {tmp_path} has a result." in output


class TestArea:
    """All requirements of an area are explained at once."""

    def test_markdown_is_a_page_of_the_area(self) -> None:
        """The page begins with the title of the area and has a heading for each requirement."""
        status, output = explain("--area=cards", "--format=markdown", NOWHERE)

        ids = [one.id for one in catalogue().values() if one.area == "cards"]
        headings = [line[3:] for line in output.splitlines() if line.startswith("## ")]
        left_open = headings[len(ids) :]
        assert status == 0
        assert output.startswith(f"# {areas()['cards'].title}\n")
        assert headings[: len(ids)] == ids
        assert left_open
        assert len(set(left_open)) == len(left_open)
        assert all(f"[{name}](#{name.lower()})" in output for name in left_open)

    def test_json_has_every_requirement(self) -> None:
        """The JSON is a list with the same ids."""
        _, output = explain("--area=cards", "--format=json", NOWHERE)

        ids = [one.id for one in catalogue().values() if one.area == "cards"]
        assert [one["requirement"]["id"] for one in json.loads(output)] == ids


@pytest.mark.slow
def test_pages_are_written_for_all_areas(tmp_path: Path) -> None:
    """An index leads to a page of each area, none of which is too long for a forge to show."""
    status, output = explain(f"--pages={tmp_path / 'pages'}", NOWHERE)

    assert status == 0, output
    index = (tmp_path / "pages" / "README.md").read_text(encoding="utf-8")
    for name, area in areas().items():
        page = tmp_path / "pages" / f"{name}.md"
        assert f"[{area.title}]({name}.md)" in index
        assert page.read_text(encoding="utf-8").startswith(f"# {area.title}\n")
        assert page.stat().st_size < MAX_PAGE_BYTES


class TestMistakes:
    """What cannot be explained is told in one message, with exit status 2."""

    @pytest.mark.parametrize(
        ("arguments", "told"),
        [
            (["QUO-999"], "the nearest id is"),
            ([], "give the id of a requirement"),
            (["QUO-031", "--area=quotes"], "give the id of a requirement"),
            (["--area=quote"], "quotes"),
            (["--pages=x", "--area=quotes"], "leave out ids and --area"),
            (["--pages=/dev/null/x"], "/dev/null/x: Not a directory"),
        ],
    )
    def test_a_mistake_is_told(self, arguments: list[str], told: str) -> None:
        """The message says what to change."""
        status, output = explain(*arguments)

        assert status == 2
        assert told in output


def test_every_testable_requirement_has_tests_and_mutants() -> None:
    """What is not untestable is explained by tests that say something, and by mutants."""
    bare = [
        name
        for name, one in catalogue().items()
        if one.untestable is None
        and not (
            all(test.code or test.says for test in explained(name).tests)
            and explained(name).mutants
        )
    ]

    assert bare == []


def test_the_second_call_imports_nothing_slow() -> None:
    """Once its facts are kept, the command imports neither pytest nor the reference."""
    explained("QUO-031")
    code = (
        "import sys; from conformance.cli.explain import _as_text, explained;"
        "list(_as_text(explained('QUO-031'), None, None));"
        f"print([name for name in {SLOW_MODULES!r} if name in sys.modules])"
    )

    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=60
    ).stdout

    assert output == "[]\n"
