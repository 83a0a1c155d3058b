"""What plain schemathesis, from its own command line, finds of the mutants beside the suite.

It gets the same document, credentials and reference, and at least as many requests as the tests of
the mutant's requirement send, if it can think of so many. It is told which operations to ask: those
that the requirement names, and those from which links of the document lead to them, so that it
wastes no request on others and finds what it needs. What it reports of the sound reference does not
count.
"""

from __future__ import annotations

import json
import random
import secrets
import shutil
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from importlib.metadata import version
from math import ceil
from pathlib import Path

import pytest
import typer

from conformance.contract.catalogue import catalogue
from conformance.contract.document import document
from conformance.fuzz.generation import narrowed
from conformance.items import requirements_named_by
from conformance.plugin import SESSION
from conformance.proof.compared import KEPT, Comparison, Comparisons
from conformance.proof.host import host, run_recorded
from conformance.proof.mutant import Mutant
from conformance.proof.mutation import TIMING, MutantOutcome, choose, load, measure
from conformance.proof.naming import Naming
from conformance.proof.patch import MutantError, Patch
from conformance.reference.server import BackgroundServer
from conformance.reference.settings import Settings
from conformance.verdict.recorder import Recorder

_EXAMPLES = 5
_MAX_EXAMPLES = 320
"""How many requests it thinks up for each operation, at the least and at the most."""

_MAX_SECONDS = 1800

Failures = frozenset[tuple[str, str]]
"""Kinds of failures, and the operations that have them."""


@dataclass(frozen=True, slots=True)
class Run:
    """What one run of schemathesis reported, and how many requests it sent."""

    failures: Failures
    requests: int


def sample(size: int, seed: int) -> list[Mutant]:
    """Return mutants by chance whose requirement needs no trigger and names operations."""
    known = catalogue()
    fit = [
        mutant
        for mutant in load()
        if not known[mutant.requirement].needs.triggers and known[mutant.requirement].operations
    ]
    return random.Random(seed).sample(fit, min(size, len(fit)))  # noqa: S311 - nothing secret


def leading_to(operations: Collection[str]) -> tuple[str, ...]:
    """Return operations and all from which links lead to them, in the order of the document."""
    sources: dict[str, set[str]] = defaultdict(set)
    for operation in document().operations.values():
        for response in operation.raw["responses"].values():
            for link in response.get("links", {}).values():
                sources[link["operationId"]].add(operation.id)
    found: set[str] = set()
    left = set(operations)
    while left:
        found |= left
        left = set().union(*(sources[name] for name in left)) - found
    return tuple(name for name in document().operations if name in found)


def compare(chosen: Sequence[Mutant], seed: int) -> Iterator[Comparison]:
    """Yield what is found of each mutant; ``seed`` is that of schemathesis.

    Raises:
        MutantError: schemathesis is not installed, or cannot be run.
    """
    killed = {result.id for result in measure(chosen, 1) if result.outcome is MutantOutcome.KILLED}
    sent = _requests_of_tests({mutant.requirement for mutant in chosen})
    settings = Settings(
        api_token_id=f"token-{secrets.token_hex(8)}", api_client_secret=secrets.token_urlsafe(32)
    )
    with tempfile.TemporaryDirectory() as name, BackgroundServer(settings) as server:
        folder = Path(name)
        # It gives up on the conditions of all types of accounts at once.
        raw = narrowed(document().raw, with_examples=True)
        (folder / "document.json").write_text(json.dumps(raw), encoding="utf-8")
        plain = _Plain(folder, server.base_url, settings, seed)
        service = server.app.state.service
        for mutant in chosen:
            operations = leading_to(catalogue()[mutant.requirement].operations)
            examples, sound = plain.run_as_often(operations, sent[mutant.requirement])
            service.reset()
            patch = Patch()
            try:
                mutant.patch(patch)
                found = plain.run(operations, examples)
            finally:
                patch.revert()
                service.reset()
            new = found.failures - sound.failures
            if new:
                # No two runs of one seed send the same.
                new -= plain.run(operations, examples).failures
                service.reset()
            yield Comparison(
                mutant.id,
                mutant.statement,
                mutant.id in killed,
                sent[mutant.requirement],
                tuple(sorted(f"{kind} of {operation}" for kind, operation in new)),
                found.requests,
            )


class _Counting:
    """The pytest plugin that counts the requests of tests where pytest would run them."""

    def __init__(self, requirements: AbstractSet[str]) -> None:
        self._requirements = requirements
        self.results: list[tuple[str, int]] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        suite = session.config.stash[SESSION]
        suite.reports = False
        for test in session.items:
            named = self._requirements & set(requirements_named_by(test))
            if named:
                recorder = Recorder(test.nodeid, tuple(requirements_named_by(test)))
                run_recorded(test, suite, recorder)
                self.results += ((name, len(recorder.exchanges)) for name in named)
        return True


def _requests_of_tests(requirements: AbstractSet[str]) -> Mapping[str, int]:
    """Return how many requests the tests of requirements send, to the sound reference."""
    counts: Counter[str] = Counter()
    modules = Naming().modules(requirements)
    for name, count in host(lambda _: _Counting(requirements), timing=TIMING, modules=modules):
        counts[name] += count
    return counts


@dataclass(frozen=True, slots=True)
class _Plain:
    """Runs schemathesis against a reference."""

    folder: Path
    base_url: str
    settings: Settings
    seed: int

    def run_as_often(self, operations: Sequence[str], requests: int) -> tuple[int, Run]:
        """Run it over some operations with at least so many requests, if it thinks of so many.

        Returns:
            How many examples of each operation that took, and the run.
        """
        examples = max(_EXAMPLES, ceil(requests / len(operations)))
        run = self.run(operations, examples)
        while run.requests < requests and examples < _MAX_EXAMPLES:
            examples *= 4
            run = self.run(operations, examples)
        return examples, run

    def run(self, operations: Sequence[str], examples: int) -> Run:
        """Run it over some operations, with so many examples of each.

        Raises:
            MutantError: it is not installed, or does not come to an end.
        """
        program = shutil.which("schemathesis", path=str(Path(sys.executable).parent))
        if program is None:
            raise MutantError("schemathesis is not installed: install the extra `test`")
        report = self.folder / "report.json"
        report.unlink(missing_ok=True)
        chosen = [word for name in operations for word in ("--include-operation-id", name)]
        credentials = f"{self.settings.api_token_id}:{self.settings.api_client_secret}"
        try:
            done = subprocess.run(  # noqa: S603 - the program beside this Python
                [
                    *(program, "run", "document.json", f"--url={self.base_url}"),
                    *(f"--auth={credentials}", f"--max-examples={examples}"),
                    *(f"--seed={self.seed}", "--continue-on-failure", "--no-shrink", "--no-color"),
                    *("--generation-database=none", "--report=json"),
                    *(f"--report-json-path={report}", *chosen),
                ],
                cwd=self.folder,
                capture_output=True,
                text=True,
                check=False,
                timeout=_MAX_SECONDS,
            )
        except subprocess.TimeoutExpired as error:
            raise MutantError(f"schemathesis did not end within {_MAX_SECONDS} s") from error
        if not report.is_file():
            raise MutantError(f"schemathesis could not be run:\n{done.stdout[-2000:]}")
        told = json.loads(report.read_text(encoding="utf-8"))
        failures = frozenset(
            (each["type"], operation)
            for each in told["failures"]
            for operation in each["operations"]
        )
        return Run(failures, told["test_cases"]["generated"])


def plain(only: Sequence[str], size: int, seed: int, *, figures: bool) -> None:
    """Print what schemathesis and the suite find of mutants: of a sample where none are named.

    With ``figures`` what is found of a sample is kept.

    Raises:
        typer.Exit: with 2, where a mutant does not exist, schemathesis cannot be run, or only a
            part is to be kept.
    """
    if figures and only:
        typer.echo("figures are of a sample", err=True)
        raise typer.Exit(2)
    found: list[Comparison] = []
    try:
        chosen = choose(load(only), only) if only else sample(size, seed)
        for one in compare(chosen, seed):
            found.append(one)
            typer.echo(str(one))
    except MutantError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    command = f"payments-conformance mutants --plain --sample {size} --seed {seed}"
    comparisons = Comparisons(version("schemathesis"), command, tuple(found))
    typer.echo(str(comparisons))
    if figures:
        comparisons.write(KEPT)
