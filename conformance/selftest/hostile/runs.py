"""Run the suite against one target within this process, and describe the result."""

from __future__ import annotations

import contextlib
import html
import io
import json
import os
import re
import shutil
import subprocess
import time
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any
from urllib.parse import unquote_plus

import pytest
import yaml

from conformance.contract.data import FIXTURES
from conformance.reporting.report import Entry as ReportEntry
from conformance.reporting.report import Report
from conformance.selftest.hostile import scenarios
from conformance.selftest.hostile.entry import Entry
from conformance.verdict.decisions import Reason

TOKEN_ID = 'token-Qv7x2LmR+/="&8tWzK6pE'
CLIENT_SECRET = 'secret-Hj4kP9sD+/="&5bNcY3rF'
"""Their characters are written in other ways in JSON, URLs, HTML and base64."""

_NEEDLES = ("Qv7x2LmR", "8tWzK6pE", "Hj4kP9sD", "5bNcY3rF")
_HIDDEN = re.compile(
    # C0 but for tab and line feeds, C1, and what turns the direction of a text.
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]"
)
_OWN_MISTAKE = re.compile(
    r"^(?:E +|\S+:\d+: )((?!AssertionError)[A-Z]\w*(?:Error|Iteration|InvalidURL)\b.*)",
    re.MULTILINE,
)
_EXCEPTION = re.compile(r"[A-Z]\w*(?:Error|Iteration): ")
_SCRIPT = Path(scenarios.__file__)
PLUGINS = ("allure_pytest.plugin", "conformance.plugin", "pytest_base_url.plugin")
"""The plugins of a run, beside those of pytest itself."""

_NO_PLUGINS = (
    "cacheprovider",
    # This plugin collects garbage five times at the end of each run.
    "unraisableexception",
)

ARGUMENTS = (
    str(_SCRIPT),
    # An ini-file of its own, and nothing of the self-tests.
    "-c/dev/null",
    "--noconftest",
    "--import-mode=importlib",
    # To look for plugins takes a tenth of a run.
    "--disable-plugin-autoload",
    *(f"-pno:{name}" for name in _NO_PLUGINS),
    "-Wignore::pytest.PytestAssertRewriteWarning",
    "--strict-markers",
    "-Werror",
    # Long tracebacks are slow to make; some entries ask for them.
    "--tb=line",
)
"""The arguments of pytest for each run of the few scenarios."""

FAST = {"request": 4.0, "event": 4.0, "state": 4.0, "quiet": 0.05, "outage": 1.0}
"""Bounds that a conforming target keeps on a loaded machine."""


@dataclass(frozen=True)
class Outcome:
    """The result of a run.

    ``seconds`` is the time of the run, ``mebibytes`` the growth of memory at its peak.
    """

    status: int
    output: str
    seconds: float
    mebibytes: int
    folder: Path

    @property
    def report_folder(self) -> Path:
        """The folder of the report, if there is one."""
        return self.folder / "reports" / "latest"

    def report(self) -> Report | None:
        """Return the report; ``None`` where the run wrote none."""
        path = self.report_folder / "report.json"
        return Report.model_validate_json(path.read_text("utf-8")) if path.exists() else None

    def verdicts(self) -> dict[str, ReportEntry]:
        """Return the entries of the report by requirement."""
        report = self.report()
        return {} if report is None else {entry.id: entry for entry in report.requirements}

    def files(self) -> dict[str, str]:
        """Return the text of every file that the run left, by its path in the folder."""
        return {
            str(path.relative_to(self.folder)): path.read_text("utf-8", "replace")
            for path in sorted(self.folder.rglob("*"))
            if path.is_file()
        }


def run(entry: Entry, base_url: str, folder: Path) -> Outcome:
    """Judge the target of an entry by the few scenarios, within this process."""
    profile = write_profile(folder.parent / f"{folder.name}.yaml", entry.profile)
    return judge(
        folder,
        f"--base-url={base_url}",
        f"--profile={profile}",
        "--junitxml=junit.xml",
        "--alluredir=allure",
        *([f"-k={entry.runs}"] if entry.runs else []),
        *entry.arguments,
    )


def judge(folder: Path, *arguments: str) -> Outcome:
    """Run the few scenarios within this process, whose working directory is ``folder``."""
    output = io.StringIO()
    before = _reset_peak()
    started = time.monotonic()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        words = [*ARGUMENTS, f"--rootdir={folder}", *arguments]
        status = int(pytest.main(words, plugins=[*map(import_module, PLUGINS)]))
    seconds = time.monotonic() - started
    growth = max(0, _peak() - before)
    return Outcome(status, output.getvalue(), seconds, growth // 1024, folder)


def write_profile(path: Path, parts: Mapping[str, Any]) -> Path:
    """Write the usual profile with other parts to ``path``, and return the path."""
    path.write_text(json.dumps(merge(usual_profile(), parts)), encoding="utf-8")
    return path


def usual_profile() -> dict[str, Any]:
    """Return the profile of the reference, with the triggers of the few scenarios.

    Its bounds end an entry soon. A profile of all triggers takes longer to read than some runs.
    """
    triggers = {name: whole_profile()["triggers"][name] for name in scenarios.TRIGGERS}
    return {**whole_profile(), "triggers": triggers, "timing": FAST}


@cache
def whole_profile() -> Mapping[str, Any]:
    """Return the profile of the reference."""
    path = FIXTURES / "profiles" / "reference.yaml"
    profile: dict[str, Any] = yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
    return profile


def merge(base: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with the members of ``other``, mappings member by member."""
    result = dict(base)
    for name, value in other.items():
        old = result.get(name)
        both = isinstance(old, dict) and isinstance(value, dict)
        result[name] = merge(old, value) if both else value  # type: ignore[arg-type]
    return result


# --- What holds of every run ----------------------------------------------------------------


def problems(outcome: Outcome) -> Iterator[str]:
    """Yield what is wrong with a run, whatever its target did."""
    files = outcome.files()
    texts = {"the output": outcome.output, **files}
    for place, text in texts.items():
        for secret in leaked_secrets(text):
            yield f"{place} tells a credential: …{secret}…"
        if match := _HIDDEN.search(text):
            around = text[max(0, match.start() - 60) : match.end() + 20]
            yield f"{place} holds a control character: {around!r}"
    for word in ("Traceback", "INTERNALERROR"):
        if word in outcome.output:
            yield f"{word} was printed"
    if match := _OWN_MISTAKE.search(outcome.output):
        yield f"a test ended with a mistake of ours: {match[1]}"
    yield from _misplaced_files(files)
    yield from _report_problems(outcome)


def leaked_secrets(text: str) -> Iterator[str]:
    """Yield the first place of a credential in each reading of a text that has one."""
    for reading in {text, html.unescape(text), unquote_plus(text), _unescape(text)}:
        if found := _parts_of_secrets().search(reading):
            yield reading[max(0, found.start() - 60) : found.start() + 30]


@cache
def _parts_of_secrets() -> re.Pattern[str]:
    """Return an expression for the parts of the credentials, plain and in base64."""
    # It looks through megabytes ten times as fast as a search for each of them.
    return re.compile("|".join(map(re.escape, (*_NEEDLES, *_base64_parts()))))


def _base64_parts() -> Iterator[str]:
    """Yield parts of the credentials in base64, for whatever stands before them."""
    for secret in (f"{TOKEN_ID}:{CLIENT_SECRET}", TOKEN_ID, CLIENT_SECRET):
        for before in range(3):
            encoded = b64encode(b"\0" * before + secret.encode()).decode()
            yield encoded[4:24]
            yield encoded[4:24].replace("+", "-").replace("/", "_")


def _unescape(text: str) -> str:
    """Return a text with the Unicode escapes of JSON replaced, however often they are escaped."""
    return re.sub(r"\\+u([0-9a-fA-F]{4})", lambda match: chr(int(match[1], 16)), text)


def _misplaced_files(files: Mapping[str, str]) -> Iterator[str]:
    for name in files:
        if name != "junit.xml" and not name.startswith(("reports/latest/", "allure/")):
            yield f"the run left {name}"


def _report_problems(outcome: Outcome) -> Iterator[str]:
    """Yield what is wrong with the report, such as a missing or an incomplete file."""
    ran = outcome.status not in (3, 4)
    report, page = (outcome.report_folder / f"report.{kind}" for kind in ("json", "html"))
    for path in (report, page):
        if path.exists() is not ran:
            yield f"exit status {outcome.status}, and {path.name} " + (
                "is missing" if ran else "was written"
            )
    if page.exists():
        text = page.read_text("utf-8")
        if not text.rstrip().endswith("</html>"):
            yield "report.html is cut short"
        if "<script>alert" in text or "<img src=x" in text:
            yield "report.html holds markup of the target"
    for name, verdict in outcome.verdicts().items():
        # The suite says in its own words what it refuses to read.
        is_exception = verdict.reason is Reason.UNREADABLE and _EXCEPTION.match(verdict.detail)
        if verdict.reason is Reason.HARNESS or is_exception:
            yield f"{name}: {verdict.reason}: {verdict.detail}"


# --- Scripts ----------------------------------------------------------------------------------


def execute_scripts(outcome: Outcome, folder: Path) -> Iterator[str]:
    """Execute the scripts of the evidence with a curl that does nothing; yield problems."""
    tools = folder / "tools"
    place = folder / "place"
    tools.mkdir(parents=True)
    place.mkdir()
    stub = tools / "curl"
    stub.write_text("#!/bin/sh\nprintf '{}'\n")
    stub.chmod(0o700)
    environment = {
        "PATH": f"{tools}:{os.environ['PATH']}",
        "PAYMENTS_API_TOKEN_ID": "t",
        "PAYMENTS_API_CLIENT_SECRET": "s",
    }
    scripts = {
        evidence.curl for entry in outcome.verdicts().values() for evidence in entry.evidence
    }
    if not scripts:
        yield "there is no script to execute"
    for script in scripts:
        completed = subprocess.run(
            ["sh"],
            input=script.encode(),
            cwd=place,
            env=environment,
            capture_output=True,
            timeout=20,
            check=False,
        )
        if files := [path.name for path in place.iterdir()]:
            yield f"a script of the evidence left {files}"
        # A script ends early where the answer has no id.
        is_complete = completed.returncode == 0 or b"the answer has no id" in completed.stderr
        if b"pwned" in completed.stdout.splitlines() or not is_complete:
            ending = f"{completed.returncode}: {completed.stderr[-200:]!r}"
            yield f"a script of the evidence ended with {ending}"
    shutil.rmtree(folder)


# --- Memory -----------------------------------------------------------------------------------


def _reset_peak() -> int:
    """Reset the peak of memory; return the memory in use, in KiB."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _peak() -> int:
    return _memory("VmHWM")


def _memory(name: str) -> int:
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        # Not every system has this file; the bound is checked where it is there.
        return 0
    match = re.search(rf"^{name}:\s*(\d+) kB", status, re.MULTILINE)
    return int(match[1]) if match else 0
