"""The command that narrows mutants, and tells which are noticed no more."""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

import typer

from conformance.proof.mutation import load
from conformance.proof.narrowed.circumstances import CIRCUMSTANCES
from conformance.proof.narrowed.runner import NarrowedOutcome, Result, measure, trials
from conformance.proof.narrowed.survey import surveyed

_SAMPLE = 200


def narrow(
    only: Sequence[str], sample: int | None, seed: int, processes: int, json_file: Path | None
) -> None:
    """Narrow mutants, print those that nothing notices any more, and how many there are."""
    survey = surveyed(processes)
    chosen = trials(survey, sample or _SAMPLE, seed, only)
    started = time.perf_counter()
    statements = {mutant.id: mutant.statement for mutant in load()}
    results = []
    for result in measure(chosen, survey.names, processes):
        results.append(result)
        if result.outcome not in (NarrowedOutcome.KILLED, NarrowedOutcome.SPARED):
            _print(result, statements[result.mutant])
    _print_table(results)
    counts = Counter(one.outcome for one in results)
    shown = ", ".join(f"{counts[one]} {one}" for one in NarrowedOutcome if counts[one])
    typer.echo(f"{len(results)} in {time.perf_counter() - started:.0f} s: {shown}")
    if json_file is not None:
        content = [asdict(one) for one in results]
        json_file.write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")


def _print(result: Result, statement: str) -> None:
    detail = result.detail or ", ".join(result.requirements[:8])
    typer.echo(
        f"{result.outcome.upper():10}{result.mutant}  {statement}: "
        f"{CIRCUMSTANCES.get(result.circumstance, result.circumstance)}"
        + (f" ({detail})" if detail else "")
        + f"; {result.strikes} strikes in {result.met} tests"
    )


def _print_table(results: Sequence[Result]) -> None:
    typer.echo(f"{'circumstance':34}{'killed':>8}{'not':>6}{'never struck':>14}")
    for name in sorted({one.circumstance for one in results}):
        counts = Counter(one.outcome for one in results if one.circumstance == name)
        killed, spared = counts[NarrowedOutcome.KILLED], counts[NarrowedOutcome.SPARED]
        typer.echo(f"  {name:32}{killed:8}{counts.total() - killed - spared:6}{spared:14}")
