"""Judges the second implementation: its personas by false alarms, its planted bugs by findings.

The second implementation was written from the specification by another hand than the reference,
with which it shares nothing. Each of its personas fills what the text leaves open in another way,
so that a check that fails one of them, or cannot decide about it, asserts more than the text says.
Each of its planted bugs breaks a line of the text; a bug is found where a requirement fails.
"""

import json
import os
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from conformance.exchange.shard import WHOLE, Shard
from conformance.platform.resource import merged
from conformance.proof.draw import TODAY, Draw
from conformance.proof.finds import FAILED, Find, read_finds, write_finds
from conformance.proof.host import SUITE, spread
from conformance.proof.planting import (
    CLIENT_SECRET,
    PROFILE,
    TOKEN_ID,
    WEBHOOK_SECRET,
    NotJudged,
    planted,
)
from conformance.proof.second.bugs import BUGS
from conformance.proof.second.persona import PERSONAS
from conformance.verdict.decisions import Reason

_SHOWN = 20
_DRAWN = 2
"""How many personas are judged in one draw."""


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


@contextmanager
def running(persona: str) -> Iterator[tuple[str, dict[str, str]]]:
    """Run the second implementation; yields its base URL and the environment of a run against it.

    Raises:
        NotJudged: it did not start.
    """
    names = (TOKEN_ID, CLIENT_SECRET, WEBHOOK_SECRET)
    environment = {
        **os.environ,
        **{name: f"second-{secrets.token_urlsafe(24)}" for name in names},
    }
    command = [sys.executable, "-P", "-m", "conformance.proof.second", f"--persona={persona}"]
    with subprocess.Popen(  # noqa: S603 - this very program
        [*command, "--with-parent"], env=environment, stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            first = server.stdout.readline() if server.stdout else ""
            if not first:
                raise NotJudged(f"the second implementation ended with {server.wait()}")
            yield json.loads(first)["url"], environment
        finally:
            server.terminate()


def judged(
    persona: str, arguments: Sequence[str] = ("conformance",), reports: Path | None = None
) -> Judgement:
    """Run the suite against a persona.

    Args:
        persona: its name.
        arguments: what goes to pytest: the tests and more options.
        reports: the folder of the run's report; without one it is not kept.

    Raises:
        NotJudged: the suite did not come to its report.
    """
    since = time.monotonic()
    profile = merged(yaml.safe_load(PROFILE.read_text()), PERSONAS[persona].profile)
    with tempfile.TemporaryDirectory() as folder, running(persona) as (url, environment):
        place = Path(folder)
        (place / "profile.yaml").write_text(yaml.safe_dump(profile))
        reports = reports or place / "report"
        command = [sys.executable, "-P", "-m", "pytest", "--pyargs", "-q"]
        command += [f"--base-url={url}", f"--profile={place / 'profile.yaml'}"]
        command += [f"--report-dir={reports}", "-p", "no:cacheprovider", *arguments]
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
        and entry.get("reason") != Reason.DESELECTED
    )
    decided = sum(entry["verdict"] in {"passed", "failed", "warned"} for entry in entries)
    return Judgement(decided, alarms, seconds)


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
    processes: Annotated[int, typer.Option(min=1, help="processes that share the work")] = 1,
    kept: Annotated[
        bool, typer.Option("--kept", help="with --bugs: plant each for the one test that found it")
    ] = False,
    figures: Annotated[
        bool, typer.Option("--figures", help="with --bugs: keep which test finds each bug")
    ] = False,
    draw: Annotated[
        str | None,
        typer.Option(
            metavar="SEED",
            help=f"two personas, or with --kept some finds, drawn by chance: a number, or {TODAY}",
        ),
    ] = None,
    shares: Annotated[
        int, typer.Option(min=1, help="with --draw: one of so many parts of the tests, or finds")
    ] = 1,
    verbose: Annotated[bool, typer.Option("--verbose", help="print every alarm")] = False,
) -> None:
    """Judge an implementation by another hand, in all its personas: is any of them failed?"""
    known: Mapping[str, object] = BUGS if bugs else PERSONAS
    chosen = names or list(known)
    for name in chosen:
        if name not in known:
            raise typer.BadParameter(f"{name} is none of {', '.join(known)}")
    if (kept or figures) and not bugs:
        raise typer.BadParameter("--kept and --figures are for --bugs")
    if bugs and draw is not None and not kept:
        raise typer.BadParameter("--draw with --bugs is for --kept")
    shard, selection = WHOLE, list[str]()
    if draw is not None:
        by_chance = Draw.parse(draw, shares)
        shard, selection = by_chance.shard, [f"--shard={by_chance.shard}"]
        typer.echo(f"drawn by {by_chance}")
        if not bugs:
            first = by_chance.seed // shares * _DRAWN
            drawn = (chosen[(first + place) % len(chosen)] for place in range(_DRAWN))
            chosen = list(dict.fromkeys(drawn))
    try:
        if kept:
            good = _plant_kept(
                [find for find in read_finds() if find.bug in chosen], shard, processes
            )
        elif bugs:
            good = _plant(chosen, processes, figures=figures)
        else:
            arguments = ("conformance", *selection, *(("-n", str(processes)) * (processes > 1)))
            good = _judge(chosen, arguments, report_dir, verbose=verbose)
    except NotJudged as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(3) from None
    raise typer.Exit(0 if good else 1)


def _judge(
    names: Sequence[str], arguments: Sequence[str], report_dir: Path | None, *, verbose: bool
) -> bool:
    good = True
    for name in names:
        judgement = judged(name, arguments, report_dir / name if report_dir else None)
        good = good and not judgement.alarms
        typer.echo(
            f"{name}: {judgement.decided} requirements decided in {judgement.seconds:.0f} s,"
            f" {len(judgement.alarms)} false alarms"
        )
        for alarm in judgement.alarms if verbose else judgement.alarms[:_SHOWN]:
            typer.echo(f"  {alarm.requirement} {alarm.verdict}: {alarm.detail}"[:200])
    return good


def _plant_kept(finds: Sequence[Find], shard: Shard, processes: int) -> bool:
    """Plant the bugs whose kept test is in a share, each for that test; tell whether all show."""
    wanted = {find.bug: find for find in finds if shard.has(find.test)}
    tests = sorted({str(SUITE.parent / find.test) for find in wanted.values()})
    results = spread(partial(planted, list(wanted), tests), processes, among=len(wanted))
    lost = [
        one.bug
        for one in results
        if not one.failed and (wanted[one.bug].verdict == FAILED or not one.warned)
    ]
    typer.echo(
        f"{len(results)} kept finds of planted bugs: {len(results) - len(lost)} seen again, "
        f"{len(lost)} lost"
    )
    for name in lost:
        typer.echo(f"  {name}: {wanted[name].test} does not see it any more")
    return bool(results) and not lost


def _plant(names: Sequence[str], processes: int, *, figures: bool) -> bool:
    results = spread(partial(planted, names, ()), processes, among=len(names))
    if figures:
        others = [find for find in read_finds() if find.bug in BUGS and find.bug not in names]
        write_finds([*others, *(find for one in results if (find := one.find))])
    missed = [result for result in results if not result.failed]
    warned = [result for result in missed if result.warned]
    typer.echo(
        f"{len(results) - len(missed)} of {len(results)} planted bugs found"
        + (f", {len(warned)} more warned of" if warned else "")
    )
    for result in missed:
        bug = BUGS[result.bug]
        typer.echo(f"  {result.bug}, line {bug.line}: {result.outcome}. {bug.statement}")
    return len(missed) == len(warned)
