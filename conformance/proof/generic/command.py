"""``payments-conformance mutants --generic``: measures, prints, keeps the score, and compares."""

from __future__ import annotations

import json
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import typer

from conformance.contract.areas import areas
from conformance.contract.catalogue import catalogue
from conformance.exchange.shard import Shard
from conformance.proof.generic.accepted import Acceptances, as_entry, read_accepted
from conformance.proof.generic.changes import Change, every_change, full_names, sampled, sources
from conformance.proof.generic.executed import surveyed
from conformance.proof.generic.kept import (
    MAX_SHARE_EXPIRED,
    kills_of,
    read_kept,
    trials_of,
    write_kept,
)
from conformance.proof.generic.runner import MEANING, GenericOutcome, Result, measure, trial_of
from conformance.proof.generic.whole import MANY_SILENCED, WholeRun, run_whole, subjects
from conformance.proof.narrowed.command import narrow
from conformance.proof.patch import MutantError
from conformance.reporting.kills import GENERIC, GenericScore, read_generic, write_generic

_SECONDS_PER_CHANGE = 6.0
"""What one change costs one process, as last seen on two cores."""

_WHOLE_RUNS = 300
"""Under how many mutants all tests are run, where nothing else is asked for."""


@dataclass(frozen=True, slots=True)
class Account:
    """The results of a measurement beside what is accepted."""

    results: Sequence[Result]
    accepted: Acceptances

    @property
    def usable(self) -> list[Result]:
        """The results that say something about the suite."""
        return [one for one in self.results if one.outcome is not GenericOutcome.UNUSABLE]

    @property
    def left(self) -> list[Result]:
        """The changes that no requirement killed and nobody accepted."""
        return [
            one
            for one in self.usable
            if one.outcome is not GenericOutcome.KILLED and self.accepted.of(one.change) is None
        ]

    def score(self) -> GenericScore:
        """Return the figures that are kept."""
        killed = sum(one.outcome is GenericOutcome.KILLED for one in self.usable)
        left = len(self.left)
        total = len(self.usable)
        return GenericScore(killed=killed, accepted=total - killed - left, total=total)


def by_machine(
    *,
    kept: bool,
    shard: Shard,
    whole_run: bool,
    narrowed: bool,
    sample: int | None,
    seed: int,
    places: Sequence[str],
    processes: int,
    json_file: Path | None,
    figures: bool,
    verbose: bool,
) -> None:
    """Measure changes, print what became of them, and end with 1 where too many are left.

    With ``whole_run`` all tests are run under each mutant of a sample, aimed ones among them; with
    ``narrowed`` aimed ones strike in one circumstance alone; with
    ``kept`` the kills of an earlier sample are tried again, each by its one test: those whose test
    is in ``shard``.
    """
    if kept:
        _try_kept(shard, processes, figures=figures, verbose=verbose)
        return
    if narrowed:
        narrow(places, sample, seed, processes, json_file)
        return
    if whole_run:
        _run_whole_sample(sample or _WHOLE_RUNS, seed, processes, json_file)
        return
    try:
        chosen_places = full_names(places)
    except MutantError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    accepted = read_accepted()
    for entry in accepted.expired(sources()):
        typer.echo(f"EXPIRED  {entry.place} has changed: read its accepted survivor again")
    survey = surveyed(processes)
    chosen = (
        list(every_change(chosen_places))
        if sample is None
        else sampled(sample, seed, chosen_places)
    )
    typer.echo(f"{len(chosen)} changes, about {_minutes(len(chosen), processes)} minutes")
    started = time.perf_counter()
    trials = [trial_of(change, survey) for change in chosen]
    results = measure(trials, processes, _print_line if verbose else _keep_silent)
    account = Account(results, accepted)
    _print(account, time.perf_counter() - started)
    if json_file is not None:
        content = [_as_json(one, accepted) for one in account.results]
        json_file.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")
    score, allowed = account.score(), read_generic(GENERIC)
    if figures:
        write_generic(score, GENERIC)
        write_kept(kills_of(results))
    elif score.share_left > (most := allowed.share_left if allowed is not None else 0.0):
        typer.echo(
            f"{score.share_left:.1%} are left that nobody accepted, more than the {most:.1%} that "
            f"{GENERIC.name} allows"
        )
        raise typer.Exit(1)


def _minutes(count: int, processes: int) -> int:
    return max(1, round(count * _SECONDS_PER_CHANGE / processes / 60))


def _print(account: Account, seconds: float) -> None:
    left = account.left
    for one in left:
        _print_survivor(one)
    _print_table("operator", account, lambda one: one.change.operator)
    _print_table("room", account, lambda one: one.change.room)
    _print_table("area of the killing requirement", account, _area)
    counts = Counter(one.outcome for one in account.results)
    shown = ", ".join(f"{counts[one]} {one}" for one in GenericOutcome if counts[one])
    score = account.score()
    typer.echo(
        f"{len(account.results)} generic mutants in {seconds:.0f} s: {shown}; "
        f"{score.accepted} accepted, {len(left)} left ({score.share_left:.1%})"
    )


def _area(one: Result) -> str:
    if one.outcome is not GenericOutcome.KILLED:
        return "(not killed)"
    return areas().of(catalogue()[one.requirements[0]].id).name


def _print_survivor(one: Result) -> None:
    typer.echo(f"{one.outcome.upper():12}{one.change.id}: {MEANING[one.outcome]}")
    if one.detail or one.requirements:
        typer.echo(f"  {one.detail or ', '.join(one.requirements[:12])}")
    typer.echo(f"  {one.met} of {one.reaching} tests that execute it, {one.seconds:.0f} s")
    typer.echo(_indented(one.change.diff))
    typer.echo(_indented(as_entry(one.change)))


def _print_line(one: Result) -> None:
    by = one.killed_by.rpartition("/")[2]
    detail = f"  {', '.join(one.requirements)} by {by}" if by else f"  {one.detail}"
    typer.echo(f"{one.outcome:12}{one.change.id}{detail}  ({one.seconds:.1f} s)")


def _keep_silent(_: Result) -> None:
    pass


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" for line in text.splitlines())


def _print_table(title: str, account: Account, key: Callable[[Result], str]) -> None:
    groups: dict[str, list[Result]] = defaultdict(list)
    for one in account.usable:
        groups[key(one)].append(one)
    left = {one.change.id for one in account.left}
    typer.echo(f"{title:34}{'killed':>8}{'accepted':>10}{'left':>6}")
    for name, group in sorted(groups.items()):
        killed = sum(one.outcome is GenericOutcome.KILLED for one in group)
        remaining = sum(one.change.id in left for one in group)
        accepted = len(group) - killed - remaining
        typer.echo(f"  {name:32}{killed:8}{accepted:10}{remaining:6}")


def _as_json(one: Result, accepted: Acceptances) -> dict[str, object]:
    entry = accepted.of(one.change)
    return {
        "id": one.change.id,
        "operator": one.change.operator,
        "place": one.change.place,
        "outcome": one.outcome,
        "accepted": None if entry is None else entry.model_dump(exclude_defaults=True),
        "killed_by": one.killed_by,
        "requirements": one.requirements,
        "met": one.met,
        "reaching": one.reaching,
        "detail": one.detail,
        "seconds": one.seconds,
        "diff": one.change.diff,
    }


def _try_kept(shard: Shard, processes: int, *, figures: bool, verbose: bool) -> None:
    """Try kept kills again; end with 1 where one is lost, or too many of them have expired.

    With ``figures`` only those that were seen again are kept, and those that were not tried.
    """
    kept = read_kept()
    unchanged = trials_of(kept)
    trials = [one for one in unchanged if shard.has(one.tests[0])]
    started = time.perf_counter()
    results = measure(trials, processes, _print_line if verbose else _keep_silent)
    lost = [one for one in results if one.outcome is not GenericOutcome.KILLED]
    for one in lost:
        _print_survivor(one)
    expired = len(kept) - len(unchanged)
    typer.echo(
        f"{len(trials)} kept kills in {time.perf_counter() - started:.0f} s: "
        f"{len(trials) - len(lost)} seen again, {len(lost)} lost; "
        f"{expired} of all {len(kept)} have expired, as the reference has changed"
    )
    if figures:
        write_kept([one for one in kept if not shard.has(one.test)] + kills_of(results))
        return
    if expired > MAX_SHARE_EXPIRED * len(kept):
        typer.echo("too many have expired: draw a sample anew, with --figures")
        raise typer.Exit(1)
    if lost or not trials:
        raise typer.Exit(1)


def _run_whole_sample(sample: int, seed: int, processes: int, json_file: Path | None) -> None:
    """Run the whole selection under a sample of mutants; end with 1 where a run is not red.

    Survivors that somebody has accepted are told, and not counted.
    """
    chosen = subjects(sample, seed)
    known = read_accepted()
    accepted = {
        one.id: entry
        for one in chosen
        if isinstance(one, Change) and (entry := known.of(one)) is not None
    }
    runs: list[WholeRun] = []
    for run in run_whole(chosen, processes):
        runs.append(run)
        verdict = run.verdict or run.detail
        typer.echo(
            f"{verdict:15}{run.id}: {len(run.failed)} failed, "
            f"{len(run.inconclusive)} inconclusive, {len(run.unexercised)} not exercised "
            f"({run.seconds:.0f} s)"
        )
        if not run.is_killed and run.id in accepted:
            typer.echo(f"  accepted: {' '.join(accepted[run.id].why.split())}")
        elif len(run.silenced) > MANY_SILENCED or (run.silenced and not run.is_killed):
            typer.echo(f"  it silences {', '.join(run.silenced)}")
    killed = sum(run.is_killed for run in runs)
    left_open = sum(run.id in accepted for run in runs if not run.is_killed)
    typer.echo(f"{killed} of {len(runs)} mutants end the run red; {left_open} others are accepted")
    if json_file is not None:
        content = [asdict(run) for run in runs]
        json_file.write_text(json.dumps(content, indent=1) + "\n", "utf-8")
    if killed + left_open < len(runs):
        raise typer.Exit(1)
