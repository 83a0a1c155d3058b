"""The command that looks at target and profile before a run."""

from __future__ import annotations

import secrets
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from conformance.cli.checkup import reviews, start, trial
from conformance.cli.checkup.findings import Finding, Grade, fine, guarded, obstacle, problem
from conformance.cli.terminal import styled
from conformance.contract.judge import judge
from conformance.exchange.budget import Budget
from conformance.exchange.client import RecordingClient
from conformance.exchange.journal import Journal
from conformance.exchange.redaction import Redactor
from conformance.plugin import USUAL_EXAMPLES
from conformance.profile.model import Profile
from conformance.profile.part import ProfileError
from conformance.run import load_profile
from conformance.sut.target import Target

OBSTACLES, PROBLEMS = 4, 9
"""Exit statuses: nothing can be tested, or something would not be decided."""

_SEED_BITS = 31

_STYLE = {Grade.FINE: "green", Grade.NOTE: None, Grade.PROBLEM: "yellow", Grade.OBSTACLE: "red"}


def doctor(
    *,
    base_url: Annotated[str, typer.Option(help="the base URL of the target")],
    profile: Annotated[str, typer.Option(help="a file, or the name of a shipped profile")],
    seconds: Annotated[
        float, typer.Option(min=0, help="how long features and triggers may be tried; 0 tries none")
    ] = 300.0,
    workers: Annotated[int, typer.Option(min=1, help="the -n of the run that is meant")] = 1,
    verbose: Annotated[
        bool, typer.Option(help="print each feature and trigger that works")
    ] = False,
    examples: Annotated[
        int, typer.Option("--fuzz-examples", min=0, help="the --fuzz-examples of that run")
    ] = USUAL_EXAMPLES,
    run_seed: Annotated[
        int | None, typer.Option(help="seed of all data that is sent; by default another each time")
    ] = None,
) -> None:
    """Look at target and profile, apart from any verdict: what works, and which key mends the rest.

    Exit status 0: nothing to mend. 9: something would not be decided. 4: nothing can be tested.
    """
    grades: Counter[Grade] = Counter()
    hidden = 0
    # A target may take some data once, and those of seed 1 are for the run that follows.
    seed = secrets.randbits(_SEED_BITS) if run_seed is None else run_seed
    for finding in _findings(base_url, profile, seconds, trial.Meant(workers, examples, seed)):
        grades[finding.grade] += 1
        if finding.grade is Grade.FINE and finding.key and not verbose:
            hidden += 1
        else:
            styled(finding.line, _STYLE[finding.grade])
    if hidden:
        typer.echo(f"{hidden} features and triggers work (--verbose names them)")
    typer.echo(", ".join(f"{grades[grade]} {grade}" for grade in Grade))
    if Grade.OBSTACLE in grades:
        raise typer.Exit(OBSTACLES)
    raise typer.Exit(PROBLEMS if Grade.PROBLEM in grades else 0)


def _findings(base_url: str, name: str, seconds: float, meant: trial.Meant) -> Iterator[Finding]:
    try:
        profile = load_profile(name)
    except ProfileError as error:
        yield obstacle("profile", str(error), "--profile")
        return
    yield from start.look_at_environment(profile)
    target = start.resolve(base_url, profile)
    if isinstance(target, Finding):
        yield target
        return
    with tempfile.TemporaryDirectory(prefix="payments-conformance-") as folder:
        place = Path(folder)
        before: list[Finding] = []
        for finding in _before_tests(target, place):
            before.append(finding)
            yield finding
        if seconds and all(finding.grade is not Grade.OBSTACLE for finding in before):
            yield from guarded("trial", lambda: _trial(target, name, place / "run", seconds, meant))


def _before_tests(target: Target, folder: Path) -> Iterator[Finding]:
    profile = target.profile
    for subject, look in (
        ("name", lambda: start.look_at_name(target.base_url)),
        ("TLS", lambda: start.look_at_certificate(target.base_url, profile)),
        ("base URL", lambda: start.look_at_target(target)),
    ):
        for finding in guarded(subject, look):
            yield finding
            if finding.grade is Grade.OBSTACLE:
                return
    redactor = Redactor(target.secrets)
    journal = Journal(folder / "doctor.jsonl", "doctor", redactor, run="doctor")
    budget = Budget.start(folder / "budget", profile.budget)
    client = RecordingClient(target, judge(), journal, budget, redactor)
    try:
        yield from guarded("clock", lambda: start.look_at_clock(client))
        yield from guarded("wrong credentials", lambda: start.look_at_wrong_credentials(client))
        yield from guarded("round trip", lambda: start.look_at_pace(client))
    finally:
        client.close()
        budget.close()
        journal.close()


def _trial(
    target: Target, name: str, folder: Path, seconds: float, meant: trial.Meant
) -> Iterator[Finding]:
    profile: Profile = target.profile
    try:
        collected = trial.collect(name)
    except trial.NoPlan as error:
        yield problem("trial", f"the suite cannot be collected: {error}")
        return
    yield from trial.untold_results(profile)
    subjects = list(trial.subjects(collected, profile))
    tests = [subject.test for subject in subjects if subject.test is not None]
    told = None
    if tests:
        told = trial.run(tests, target.base_url, name, folder, seconds=seconds, seed=meant.seed)
    if told is not None:
        yield problem("trial", f"did not start: {told}")
        return
    yield from guarded("trial", lambda: trial.findings(subjects, folder))
    review = folder.with_name("review")
    yield from guarded(
        "external_account.approve",
        lambda: reviews.look_at_approval(target, collected.plan, review, meant.seed),
    )
    trace = trial.Trace.of(folder)
    yield from trial.webhooks(trace, profile)
    yield from trial.pace(trace)
    yield from trial.cost(trace, collected, profile, meant)
    if not tests:
        yield fine("trial", "the profile declares no feature and maps no trigger to try")
