"""What plain schemathesis, from its own command line, finds of the mutants beside the suite.

It gets the same document, credentials and reference, and only the operations that the mutant's
requirement names, so that it wastes no request on others. What it reports of the sound reference
does not count.
"""

from __future__ import annotations

import json
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import typer

from conformance.contract.catalogue import catalogue
from conformance.contract.document import document
from conformance.proof.mutant import Mutant
from conformance.proof.mutation import MutantOutcome, choose, load, measure
from conformance.proof.patch import MutantError, Patch
from conformance.reference.server import BackgroundServer
from conformance.reference.settings import Settings

_EXAMPLES = 5
_MAX_SECONDS = 600

Failures = frozenset[tuple[str, str]]
"""Kinds of failures, and the operations that have them."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of schemathesis reported, and how many requests it sent."""

    failures: Failures
    requests: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """What was found of one mutant: new failures of schemathesis, and whether the suite did."""

    mutant: str
    failures: Failures
    requests: int
    by_suite: bool


def sample(size: int, seed: int) -> list[Mutant]:
    """Return mutants by chance whose requirement needs no trigger and names operations."""
    known = catalogue()
    fit = [
        mutant
        for mutant in load()
        if not known[mutant.requirement].needs.triggers and known[mutant.requirement].operations
    ]
    return random.Random(seed).sample(fit, min(size, len(fit)))  # noqa: S311 - nothing secret


def compare(chosen: Sequence[Mutant], examples: int, seed: int) -> Iterator[Comparison]:
    """Yield what is found of each mutant.

    Args:
        chosen: the mutants.
        examples: ``--max-examples`` of schemathesis.
        seed: its seed.

    Raises:
        MutantError: schemathesis is not installed, or cannot be run.
    """
    killed = {result.id for result in measure(chosen, 1) if result.outcome is MutantOutcome.KILLED}
    settings = Settings(
        api_token_id=f"token-{secrets.token_hex(8)}", api_client_secret=secrets.token_urlsafe(32)
    )
    known: dict[tuple[str, ...], Failures] = {}
    with tempfile.TemporaryDirectory() as name, BackgroundServer(settings) as server:
        folder = Path(name)
        (folder / "document.json").write_text(json.dumps(document().raw), encoding="utf-8")
        runner = _Plain(folder, server.base_url, settings, examples, seed)
        for mutant in chosen:
            operations = tuple(catalogue()[mutant.requirement].operations)
            if operations not in known:
                known[operations] = runner.run(operations).failures
            patch = Patch()
            try:
                mutant.patch(patch)
                found = runner.run(operations)
            finally:
                patch.revert()
                server.app.state.service.drop_work()
            new = found.failures - known[operations]
            yield Comparison(mutant.id, new, found.requests, mutant.id in killed)


@dataclass(frozen=True, slots=True)
class _Plain:
    """Runs schemathesis against a reference."""

    folder: Path
    base_url: str
    settings: Settings
    examples: int
    seed: int

    def run(self, operations: Iterable[str]) -> Run:
        """Run it over some operations."""
        program = shutil.which("schemathesis", path=str(Path(sys.executable).parent))
        if program is None:
            raise MutantError("schemathesis is not installed: install the extra `test`")
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        chosen = [word for name in operations for word in ("--include-operation-id", name)]
        credentials = f"{self.settings.api_token_id}:{self.settings.api_client_secret}"
        done = subprocess.run(  # noqa: S603 - the program beside this Python
            [
                *(program, "run", "document.json", f"--url={self.base_url}"),
                *(f"--auth={credentials}", f"--max-examples={self.examples}"),
                *(f"--seed={self.seed}", "--continue-on-failure", "--no-shrink", "--no-color"),
                *("--generation-database=none", "--report=json"),
                *(f"--report-json-path={report}", f"--max-time={_MAX_SECONDS}", *chosen),
            ],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        if not report.is_file():
            raise MutantError(f"schemathesis could not be run:\n{done.stdout[-2000:]}")
        told = json.loads(report.read_text(encoding="utf-8"))
        failures = frozenset(
            (each["type"], operation)
            for each in told["failures"]
            for operation in each["operations"]
        )
        return Run(failures, told["test_cases"]["generated"])


def plain(only: Sequence[str], size: int, seed: int) -> None:
    """Print what schemathesis and the suite find of mutants: of a sample where none are named.

    Raises:
        typer.Exit: with 2, where a mutant does not exist or schemathesis cannot be run.
    """
    found: list[Comparison] = []
    try:
        chosen = choose(load(only), only) if only else sample(size, seed)
        for one in compare(chosen, _EXAMPLES, seed):
            found.append(one)
            new = ", ".join(sorted(f"{kind} of {operation}" for kind, operation in one.failures))
            suite = "found" if one.by_suite else "NOT FOUND"
            typer.echo(
                f"{one.mutant}: {suite}; schemathesis, {one.requests} requests: {new or '-'}"
            )
    except MutantError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    typer.echo(f"found by the suite: {sum(one.by_suite for one in found)} of {len(found)}")
    by_plain = sum(bool(one.failures) for one in found)
    requests = sum(one.requests for one in found)
    typer.echo(f"found by schemathesis: {by_plain} of {len(found)}, with {requests} requests")
