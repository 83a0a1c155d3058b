"""Runs of pytest for the self-tests, in a process of their own or within this one."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from conformance.reporting.report import Entry, Report

OK, BROKEN, INTERRUPTED, USAGE, OPEN = 0, 1, 2, 4, 6

# A catalogue of three requirements and a suite of two tests: a whole run takes a second.
TINY = {
    "tiny_suite.py": """
        from pathlib import Path

        import conformance.contract.catalogue as catalogue
        import conformance.plugin as plugin

        plugin._SUITE = (Path(__file__).parent / "scenarios",)
        catalogue.SPEC = Path(__file__).parent
        """,
    "requirements/quotes/tiny.yaml": """
        - id: QUO-083
          level: MUST
          statement: An execution is accepted.
          source: {section: Endpoints / Quotes, lines: [386]}
          operations: [executeQuote]
        - id: QUO-084
          level: MUST
          statement: A quote has an id.
          source: {section: Resources / Quote, lines: [173]}
          operations: [createQuote]
        - id: QUO-015
          level: SHOULD
          statement: A quote has a wish.
          source: {section: Resources / Quote, lines: [174]}
          operations: [createQuote]
        """,
    "scenarios/test_tiny.py": """
        from conformance.scenarios.kit.marks import requirement

        @requirement("QUO-083")
        def test_execution(platform):
            answer = platform.api.execute_quote(platform.quotes.pending()["id"])
            assert answer.accepted, answer

        @requirement("QUO-084", "QUO-015")
        def test_quote(platform, check):
            quote = platform.quotes.pending()
            with check("QUO-084"):
                assert quote["id"]
            with check("QUO-015"):
                assert "wish" in quote
        """,
}

TINY_SUITE = ("-p", "tiny_suite", "-p", "no:schemathesis")
"""Arguments of pytest that put the tiny suite in the place of the suite."""

# A shell may let its background jobs ignore Ctrl-C; this process inherits that.
PYTEST = """
import runpy, signal
signal.signal(signal.SIGINT, signal.default_int_handler)
runpy.run_module("pytest", run_name="__main__", alter_sys=True)
"""


def unindented(text: str) -> str:
    """Return a text without the indentation that it has in this file."""
    return textwrap.dedent(text).lstrip()


def write(folder: Path, files: dict[str, str]) -> Path:
    """Write files below a folder and return the folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(unindented(content), encoding="utf-8")
    return folder


def read_report(folder: Path) -> Report:
    """Return the report of the latest run in a folder."""
    text = (folder / "reports" / "latest" / "report.json").read_text(encoding="utf-8")
    return Report.model_validate_json(text)


def start(folder: Path, *arguments: str, **environment: str) -> subprocess.Popen[str]:
    """Start pytest in a process of its own, in ``folder``."""
    # Without bytecode of its plugins pytest takes seconds to start.
    inherited = {
        name: value
        for name, value in os.environ.items()
        if "PYTEST" not in name and name != "PYTHONDONTWRITEBYTECODE"
    }
    return subprocess.Popen(
        [sys.executable, "-c", PYTEST, "-p", "no:cacheprovider", *arguments],
        cwd=folder,
        env={**inherited, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def run(folder: Path, *arguments: str, **environment: str) -> tuple[int, str]:
    """Run pytest in a process of its own; return its exit status and its output."""
    with start(folder, *arguments, **environment) as process:
        output, _ = process.communicate(timeout=120)
        return process.returncode, output


@dataclass
class Inside:
    """Runs scenarios against a target within this process, which is faster than a process."""

    folder: Path
    _numbers: ClassVar = itertools.count()

    def __call__(self, scenario: str, *arguments: str) -> tuple[int, str]:
        """Run a module of scenarios; return the exit status and the output of pytest."""
        # Python would take a module of the same name as an earlier one for that one.
        name = f"scenarios/test_inside_{next(self._numbers)}.py"
        write(self.folder, {name: scenario, "pytest.ini": "[pytest]\n"})
        output = io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
            status = pytest.main(
                [
                    str(self.folder / "scenarios"),
                    f"--rootdir={self.folder}",
                    f"--report-dir={self.folder / 'reports' / 'latest'}",
                    "--import-mode=importlib",
                    *(f"-pno:{name}" for name in ("cacheprovider", "randomly", "xdist")),
                    "-Wignore::pytest.PytestAssertRewriteWarning",
                    *arguments,
                ]
            )
        return int(status), output.getvalue()

    def entries(self) -> dict[str, Entry]:
        """Return the entries of the latest report, by requirement."""
        return {entry.id: entry for entry in read_report(self.folder).requirements}
