"""Runs the suite against one target within this process, and says what came out."""

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

TOKEN_ID = 'token-Qv7x2LmR+/="&8tWz'
CLIENT_SECRET = 'secret-Hj4kP9sD+/="&5bNc'
"""Such as are written in another way in JSON, in URLs, in HTML and in base64."""

_NEEDLES = ("Qv7x2LmR", "8tWz", "Hj4kP9sD", "5bNc")
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
_NO_PLUGINS = (
    *("anyio", "cacheprovider", "hypothesispytest", "randomly", "schemathesis", "xdist"),
    # It collects garbage five times at the end of each run.
    "unraisableexception",
)

ARGUMENTS = (
    str(_SCRIPT),
    # An ini-file of its own, and nothing of the self-tests.
    "-c/dev/null",
    "--noconftest",
    "--import-mode=importlib",
    *(f"-pno:{name}" for name in _NO_PLUGINS),
    "-Wignore::pytest.PytestAssertRewriteWarning",
    "--strict-markers",
    "-Werror",
    # Long ones are slow to make; some entries ask for them.
    "--tb=line",
)
"""What each run of the few scenarios is called with."""

FAST = {"request": 4.0, "event": 4.0, "state": 4.0, "quiet": 0.05, "outage": 1.0}
"""Bounds that an honest target keeps on a loaded machine."""


@dataclass(frozen=True)
class Outcome:
    """What came out of a run.

    ``seconds`` and ``mebibytes`` are its time and the growth of memory at its highest.
    """

    status: int
    printed: str
    seconds: float
    mebibytes: int
    folder: Path

    @property
    def report_folder(self) -> Path:
        """Where the report is, if there is one."""
        return self.folder / "reports" / "latest"

    def report(self) -> Report | None:
        """Return the report; ``None`` where there is none."""
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
        status = int(pytest.main([*ARGUMENTS, f"--rootdir={folder}", *arguments]))
    seconds = time.monotonic() - started
    grown = max(0, _peak() - before)
    return Outcome(status, output.getvalue(), seconds, grown // 1024, folder)


def write_profile(path: Path, parts: Mapping[str, Any]) -> Path:
    """Write the usual profile with other parts in it to ``path``, and return that."""
    path.write_text(json.dumps(merged(usual_profile(), parts)), encoding="utf-8")
    return path


def usual_profile() -> dict[str, Any]:
    """Return the profile of the reference, with bounds that end an entry soon."""
    path = FIXTURES / "profiles" / "reference.yaml"
    profile: dict[str, Any] = yaml.load(path.read_text("utf-8"), Loader=yaml.CSafeLoader)
    return {**profile, "timing": FAST}


def merged(known: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``known`` with the members of ``other`` in it, mappings member by member."""
    result = dict(known)
    for name, value in other.items():
        old = result.get(name)
        both = isinstance(old, dict) and isinstance(value, dict)
        result[name] = merged(old, value) if both else value  # type: ignore[arg-type]
    return result


# --- What holds of every run ----------------------------------------------------------------


def problems(outcome: Outcome) -> Iterator[str]:
    """Yield what is wrong with a run, whatever its target did."""
    files = outcome.files()
    written = {"what was printed": outcome.printed, **files}
    for place, text in written.items():
        for secret in told_secrets(text):
            yield f"{place} tells a credential: …{secret}…"
        if found := _HIDDEN.search(text):
            around = text[max(0, found.start() - 60) : found.end() + 20]
            yield f"{place} holds a control character: {around!r}"
    for word in ("Traceback", "INTERNALERROR"):
        if word in outcome.printed:
            yield f"{word} was printed"
    if found := _OWN_MISTAKE.search(outcome.printed):
        yield f"a test ended with a mistake of ours: {found[1]}"
    yield from _misplaced(files)
    yield from _unfinished(outcome)


def told_secrets(text: str) -> Iterator[str]:
    """Yield what of the credentials stands in a text, in whatever way it is spelled."""
    plain = {text, html.unescape(text), unquote_plus(text), _unescaped(text)}
    for needle in (*_NEEDLES, *_coded()):
        for one in plain:
            if needle in one:
                at = one.index(needle)
                yield one[max(0, at - 60) : at + 30]
                break


def _coded() -> Iterator[str]:
    """Yield the credentials in base64, whatever stands before them."""
    for secret in (f"{TOKEN_ID}:{CLIENT_SECRET}", TOKEN_ID, CLIENT_SECRET):
        for before in range(3):
            coded = b64encode(b"\0" * before + secret.encode()).decode()
            yield coded[4:24]
            yield coded[4:24].replace("+", "-").replace("/", "_")


def _unescaped(text: str) -> str:
    """Return a text with the escapes of JSON replaced, however often they are escaped."""
    return re.sub(r"\\+u([0-9a-fA-F]{4})", lambda found: chr(int(found[1], 16)), text)


def _misplaced(files: Mapping[str, str]) -> Iterator[str]:
    for name in files:
        if name != "junit.xml" and not name.startswith(("reports/latest/", "allure/")):
            yield f"the run left {name}"


def _unfinished(outcome: Outcome) -> Iterator[str]:
    """Yield what is wrong with the report: one that is neither whole nor absent, for example."""
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
        # What the suite refuses to read it says in words of its own.
        stumbled = verdict.reason is Reason.UNREADABLE and _EXCEPTION.match(verdict.detail)
        if verdict.reason is Reason.HARNESS or stumbled:
            yield f"{name}: {verdict.reason}: {verdict.detail}"


# --- Scripts ----------------------------------------------------------------------------------


def executed_scripts(outcome: Outcome, folder: Path) -> Iterator[str]:
    """Execute the scripts of the evidence, with a curl that does nothing; yield what they left."""
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
    scripts = {one.curl for entry in outcome.verdicts().values() for one in entry.evidence}
    if not scripts:
        yield "there is no script to execute"
    for script in scripts:
        done = subprocess.run(
            ["sh"],
            input=script.encode(),
            cwd=place,
            env=environment,
            capture_output=True,
            timeout=20,
            check=False,
        )
        if left := [path.name for path in place.iterdir()]:
            yield f"a script of the evidence left {left}"
        # It ends early where the answer that it gets holds no id.
        whole = done.returncode == 0 or b"the answer has no id" in done.stderr
        if b"pwned" in done.stdout.splitlines() or not whole:
            yield f"a script of the evidence ended with {done.returncode}: {done.stderr[-200:]!r}"
    shutil.rmtree(folder)


# --- Memory -----------------------------------------------------------------------------------


def _reset_peak() -> int:
    """Forget the peak of memory so far; return the memory in use, in KiB."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _memory("VmRSS")


def _peak() -> int:
    return _memory("VmHWM")


def _memory(name: str) -> int:
    try:
        status = Path("/proc/self/status").read_text()
    except OSError:
        # Not every system tells; the bound is checked where it does.
        return 0
    found = re.search(rf"^{name}:\s*(\d+) kB", status, re.MULTILINE)
    return int(found[1]) if found else 0
