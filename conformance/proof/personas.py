"""Judges the second implementation: its personas by false alarms, its planted bugs by findings.

The second implementation was written from the specification by another hand than the reference,
with which it shares nothing. Each of its personas fills what the text leaves open in another way,
so that a check that fails one of them, or cannot decide about it, asserts more than the text says.
Each of its planted bugs breaks a line of the text; a bug is found where a requirement fails.

A survey, one run of the persona `strict`, notes which bugs each test can meet. A bug is then tried
with those tests alone, until one fails: planting it changes nothing in any other test.
"""

import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from conformance.contract.data import FIXTURES
from conformance.proof.asked import CREDENTIALS, NOTES, ORIGIN
from conformance.proof.second.bugs import BUGS
from conformance.proof.second.persona import PERSONAS

PROFILE = FIXTURES / "profiles" / "second.yaml"
STRICT = "strict"

_SECRET = "PAYMENTS_WEBHOOK_SECRET"  # noqa: S105 - the name of a variable
_SHOWN = 20
_NO_ORDER = ("-p", "no:randomly")


@dataclass(frozen=True, slots=True)
class Alarm:
    """A requirement that was failed, or left undecided, with the detail that the report gives."""

    requirement: str
    verdict: str
    detail: str


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a run says: how many requirements it decided, and its alarms; durations in seconds."""

    decided: int
    alarms: tuple[Alarm, ...]
    seconds: float

    @property
    def failed(self) -> tuple[str, ...]:
        """The ids of the requirements that failed."""
        return tuple(alarm.requirement for alarm in self.alarms if alarm.verdict == "failed")


class NotJudged(Exception):
    """The suite or the second implementation did not run."""


def merged(base: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return nested mappings with changes."""
    result = dict(base)
    for key, value in changes.items():
        if isinstance(value, Mapping) and isinstance(result.get(key), Mapping):
            result[key] = merged(result[key], value)
        else:
            result[key] = value
    return result


@contextmanager
def running(persona: str, bug: str = "") -> Iterator[tuple[str, dict[str, str]]]:
    """Run the second implementation; yields its base URL and the environment of a run against it.

    Raises:
        NotJudged: it did not start.
    """
    environment = {
        **os.environ,
        **{name: f"second-{secrets.token_urlsafe(24)}" for name in (*CREDENTIALS, _SECRET)},
    }
    command = [sys.executable, "-P", "-m", "conformance.proof.second", f"--persona={persona}"]
    command += ["--with-parent", *([f"--bug={bug}"] if bug else [])]
    with subprocess.Popen(  # noqa: S603 - this very program
        command, env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            first = server.stdout.readline() if server.stdout else ""
            if not first:
                raise NotJudged(f"the second implementation ended with {server.wait()}")
            yield json.loads(first)["url"], environment
        finally:
            server.terminate()


def judged(
    persona: str, bug: str = "", arguments: Sequence[str] = (), reports: Path | None = None
) -> Judgement:
    """Run the suite against a persona with a planted bug.

    Args:
        persona: its name.
        bug: the name of the bug, or an empty text for none.
        arguments: what goes to pytest.
        reports: the folder of the run's report; none keeps it.

    Raises:
        NotJudged: the suite did not come to its report.
    """
    since = time.monotonic()
    profile = merged(yaml.safe_load(PROFILE.read_text()), PERSONAS[persona].profile)
    with tempfile.TemporaryDirectory() as folder, running(persona, bug) as (url, environment):
        place = Path(folder)
        (place / "profile.yaml").write_text(yaml.safe_dump(profile))
        command = [sys.executable, "-P", "-m", "pytest", "--pyargs", "-q"]
        command += [f"--base-url={url}", f"--profile={place / 'profile.yaml'}"]
        reports = reports or place / "report"
        command += [f"--report-dir={reports}", "-p", "no:cacheprovider", *arguments]
        environment[ORIGIN] = url.rpartition("/")[0]
        done = subprocess.run(  # noqa: S603 - this very program
            command, env=environment, capture_output=True, text=True, check=False
        )
        report = reports / "report.json"
        if not report.is_file():
            raise NotJudged(f"no report:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
        content = json.loads(report.read_text())
    return _judgement(content, time.monotonic() - since)


def _judgement(content: Mapping[str, Any], seconds: float) -> Judgement:
    entries = content["requirements"]
    alarms = tuple(
        Alarm(entry["id"], entry["verdict"], str(entry.get("detail") or entry.get("reason") or ""))
        for entry in entries
        if entry["verdict"] in {"failed", "inconclusive"}
    )
    decided = sum(entry["verdict"] in {"passed", "failed", "warned"} for entry in entries)
    return Judgement(decided, alarms, seconds)


def survey() -> tuple[Judgement, dict[str, list[str]]]:
    """Judge the persona `strict`; return that, and by bug the node ids of the tests it can meet.

    Raises:
        NotJudged: the suite did not come to its report.
    """
    with tempfile.TemporaryDirectory() as folder:
        notes = Path(folder) / "notes.jsonl"
        os.environ[NOTES] = str(notes)
        try:
            arguments = ("conformance", "-p", "conformance.proof.asked", *_NO_ORDER)
            judgement = judged(STRICT, arguments=arguments)
        finally:
            del os.environ[NOTES]
        tests: dict[str, list[str]] = defaultdict(list)
        for line in notes.read_text().splitlines():
            node, bugs = json.loads(line)
            for bug in bugs:
                tests[bug].append(node)
    return judgement, tests


def finding(bug: str, tests: Sequence[str]) -> Judgement:
    """Judge the persona `strict` with a planted bug by some tests, until one fails.

    Raises:
        NotJudged: the suite did not come to its report.
    """
    with tempfile.TemporaryDirectory() as folder:
        chosen = Path(folder) / "tests"
        chosen.write_text("\n".join(tests))
        return judged(STRICT, bug, (f"@{chosen}", "--maxfail=1", *_NO_ORDER))


def personas(
    names: Annotated[
        list[str] | None, typer.Argument(help="personas, or bugs with --bugs; by default all")
    ] = None,
    *,
    bugs: Annotated[
        bool, typer.Option("--bugs", help="plant the bugs instead, and tell which are found")
    ] = False,
    report_dir: Annotated[
        Path | None, typer.Option(help="keep the report of each persona in a folder here")
    ] = None,
    processes: Annotated[
        int, typer.Option(min=1, help="processes of a run; of --bugs, bugs at once")
    ] = 1,
    verbose: Annotated[bool, typer.Option("--verbose", help="print every alarm")] = False,
) -> None:
    """Judge an implementation by another hand, in all its personas: is any of them failed?"""
    known: Mapping[str, object] = BUGS if bugs else PERSONAS
    chosen = names or list(known)
    for name in chosen:
        if name not in known:
            raise typer.BadParameter(f"{name} is none of {', '.join(known)}")
    try:
        if bugs:
            good = _plant(chosen, processes)
        else:
            good = _judge(chosen, report_dir, processes, verbose=verbose)
    except NotJudged as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(3) from None
    raise typer.Exit(0 if good else 1)


def _judge(names: Sequence[str], report_dir: Path | None, processes: int, *, verbose: bool) -> bool:
    good = True
    arguments = ("conformance", *(("-n", str(processes)) if processes > 1 else ()))
    for name in names:
        reports = report_dir / name if report_dir else None
        judgement = judged(name, arguments=arguments, reports=reports)
        good = good and not judgement.alarms
        typer.echo(
            f"{name}: {judgement.decided} requirements decided in {judgement.seconds:.0f} s,"
            f" {len(judgement.alarms)} false alarms"
        )
        shown = judgement.alarms if verbose else judgement.alarms[:_SHOWN]
        for alarm in shown:
            typer.echo(f"  {alarm.requirement} {alarm.verdict}: {alarm.detail}"[:200])
    return good


def _plant(names: Sequence[str], processes: int) -> bool:
    judgement, tests = survey()
    before = set(judgement.failed)

    def found_by(name: str) -> list[str]:
        met = tests.get(name, [])
        return sorted(set(finding(name, met).failed) - before) if met else []

    missed = []
    with ThreadPoolExecutor(processes) as pool:
        for name, found in zip(names, pool.map(found_by, names), strict=True):
            if not found:
                missed.append(name)
            outcome = f"found by {', '.join(found[:3])}" if found else "missed"
            met = len(tests.get(name, []))
            typer.echo(f"{name} (line {BUGS[name].line}): {outcome}, {met} tests can meet it")
    typer.echo(f"{len(names) - len(missed)} of {len(names)} planted bugs found")
    return not missed
