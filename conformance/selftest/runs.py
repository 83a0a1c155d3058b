"""Runs of pytest for the self-tests, in a process of their own or within this one."""

from __future__ import annotations

import contextlib
import io
import itertools
import os
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import pytest

from conformance import plugin
from conformance.contract import catalogue as catalogue_module
from conformance.contract.catalogue import catalogue
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

TINY_SUITE = ("-ptiny_suite",)
"""Arguments of pytest that put the tiny suite in the place of the suite."""

SPARING = tuple(
    f"-pno:{name}" for name in ("anyio", "cacheprovider", "schemathesis", "unraisableexception")
)
"""Arguments of pytest that leave out plugins which cost each run a part of a second.

The last one collects garbage five times at the end of a run.
"""

_WITHIN = (
    *SPARING,
    *("--import-mode=importlib", "-pno:randomly", "-pno:xdist"),
    # Within a process, pytest finds modules imported that it would rewrite.
    "-Wignore::pytest.PytestAssertRewriteWarning",
)

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
        [sys.executable, "-c", PYTEST, *SPARING, *arguments],
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


def run_within(folder: Path, *arguments: str) -> tuple[int, str]:
    """Run pytest in ``folder`` within this process, which takes a second less than another one.

    Return its exit status and its output.
    """
    output = io.StringIO()
    with (
        contextlib.chdir(folder),
        contextlib.redirect_stdout(output),
        contextlib.redirect_stderr(output),
    ):
        status = pytest.main([*_WITHIN, *arguments])
    return int(status), output.getvalue()


@contextlib.contextmanager
def tiny_suite_within(folder: Path) -> Iterator[None]:
    """Put the tiny suite in ``folder`` in the place of the suite, in this process."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plugin, "_SUITE", (folder / "scenarios",))
        patch.setattr(catalogue_module, "SPEC", folder)
        catalogue.cache_clear()
        yield
    catalogue.cache_clear()
    # Python would take them for those of the next folder, whose names are the same.
    for name in [name for name in sys.modules if name.partition(".")[0] == "scenarios"]:
        del sys.modules[name]


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
        return run_within(self.folder, "scenarios", *arguments)

    def entries(self) -> dict[str, Entry]:
        """Return the entries of the latest report, by requirement."""
        return {entry.id: entry for entry in read_report(self.folder).requirements}
