"""Reports side by side: what the page says, and that everybody can read it."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.reporting.assemble import publish
from conformance.reporting.compare import read_columns
from conformance.reporting.report import as_json
from conformance.selftest.collection import ROOT
from conformance.selftest.reporting.test_reporting import BROKEN, HOSTILE, make_report

axe = pytest.importorskip("axe_playwright_python.sync_playwright")


@pytest.fixture
def page(tmp_path: Path) -> Path:
    """Compare a report without failures and one with some; return the page."""
    publish(make_report(implementation="Fine"), tmp_path / "fine")
    publish(make_report(*BROKEN, implementation=f"Broken {HOSTILE}"), tmp_path / "broken")
    output = tmp_path / "compare.html"
    arguments = ["compare", str(tmp_path / "fine"), str(tmp_path / "broken"), f"--output={output}"]
    result = CliRunner().invoke(app, arguments)
    assert result.exit_code == 0, result.output
    return output


@pytest.fixture
def opened(browser: Any, page: Path) -> Iterator[Any]:
    """Open the comparison in a narrow and dark window, with all areas unfolded."""
    context = browser.new_context(viewport={"width": 390, "height": 900}, color_scheme="dark")
    shown = context.new_page()
    shown.goto(page.as_uri())
    shown.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    yield shown
    context.close()


def test_requirements_stand_beside_each_other(opened: Any) -> None:
    """Each requirement has its verdict in each report, and leads to the evidence there."""
    heads = opened.locator("section >> nth=0 >> thead th").all_text_contents()
    row = opened.locator("tr", has_text="QUO-002")

    assert heads == ["Area", f"Broken {HOSTILE} 4.2.1", "Fine 4.2.1"]
    assert [text.strip() for text in row.locator("td .badge").all_text_contents()] == [
        "✗ failed",
        "✓ passed",
    ]
    assert row.locator("a").get_attribute("href") == "broken/report.html#about-QUO-002"


def test_classes_stand_beside_each_other(opened: Any) -> None:
    """Each conformance class has its verdict in each report."""
    rows = opened.locator("section[aria-labelledby=h-classes] tbody tr")
    cells = rows.first.locator("td").all_text_contents()

    assert rows.count() == len(make_report().classes)
    assert cells == ["✗ not conformant71 % exercised", "✓ conformant85 % exercised"]


def test_only_differences_are_shown_on_request(opened: Any) -> None:
    """The box hides what all reports agree on."""
    before = opened.locator("details tbody tr:visible").count()

    opened.locator(".only input").check()

    rows = opened.locator("details tbody tr:visible")
    assert before == 9
    assert sorted(rows.locator("th").all_text_contents()) == ["QUO-002", "QUO-003", "TRX-001"]


def test_everybody_can_read_it(opened: Any) -> None:
    """Axe finds no violation, and nothing makes the page wider than the window."""
    results = axe.Axe().run(opened)

    assert results.violations_count == 0, results.generate_report()
    assert opened.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_gzipped_report_is_read(tmp_path: Path) -> None:
    """A report that was submitted gzipped is compared, told and diffed like any other."""
    for name in ("fine", "broken"):
        (tmp_path / name).mkdir()
        decisions = BROKEN if name == "broken" else ()
        text = as_json(make_report(*decisions, implementation=name))
        (tmp_path / name / "report.json.gz").write_bytes(gzip.compress(text.encode()))
    folders = [str(tmp_path / name) for name in ("fine", "broken")]

    compared = CliRunner().invoke(app, ["compare", *folders, f"--output={tmp_path}/x.html"])
    diffed = CliRunner().invoke(app, ["diff", *folders])

    assert compared.exit_code == 0, compared.output
    assert "broken 4.2.1" in (tmp_path / "x.html").read_text(encoding="utf-8")
    assert diffed.exit_code == 1
    assert diffed.output.startswith("Regression from fine")


def test_the_submitted_reports_are_read() -> None:
    """Those of the reference and of the second implementation are there, and both are whole."""
    folders = [path.parent for path in (ROOT / "reports").glob("*/report.json.gz")]

    columns = read_columns(folders, ROOT / "reports" / "compare.html")

    names = [column.name for column in columns]
    assert {"payments-conformance reference", "second implementation 1"} <= {*names}
    assert all(not column.report.plan.outside for column in columns)


@pytest.mark.parametrize(
    "content",
    [b"no gzip", gzip.compress(b"{}")[:9], gzip.compress(b"{}")],
    # A packed text has the time in it, and would make a name that differs from worker to worker.
    ids=["no gzip", "cut off", "no report"],
)
def test_what_is_no_gzipped_report_is_told(tmp_path: Path, content: bytes) -> None:
    """A damaged file ends with exit status 2 and its name."""
    (tmp_path / "report.json.gz").write_bytes(content)

    result = CliRunner().invoke(app, ["compare", str(tmp_path), f"--output={tmp_path}/x.html"])

    assert result.exit_code == 2
    assert str(tmp_path / "report.json.gz") in result.output


@pytest.mark.parametrize("content", [None, "{}", "no JSON"])
def test_what_is_no_report_is_told(tmp_path: Path, content: str | None) -> None:
    """A folder without a report, or with something else, ends with exit status 2."""
    if content is not None:
        (tmp_path / "report.json").write_text(content, encoding="utf-8")

    result = CliRunner().invoke(app, ["compare", str(tmp_path), f"--output={tmp_path}/x.html"])

    assert result.exit_code == 2
    assert str(tmp_path / "report.json") in result.output
    assert not (tmp_path / "x.html").exists()
