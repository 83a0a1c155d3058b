"""Runs mutants that nothing is aimed at, and tells which kinds of tests find each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import typer

from conformance.plugin import SESSION
from conformance.proof.host import (
    SUITE,
    decisions_of,
    host,
    module_of,
    modules_of_tests,
    spread,
    turns,
)
from conformance.proof.mutation import TIMING
from conformance.proof.patch import MutantError, Patch
from conformance.proof.unaimed.mutants import MUTANTS
from conformance.reference.service import Service
from conformance.verdict.decisions import Outcome

KINDS = ("curated", "generated", "model", "lost answers", "clients")
"""The kinds of tests."""

_MODULES = {"test_operations": "generated", "test_model": "model", "test_clients": "clients"}
_AREAS = ("quotes", "transactions", "internal_accounts", "webhooks", "customers")
"""The areas whose curated tests move money, hear of it, or change a customer."""

_CUTS = ("before-sending", "after-sending", "within-answer")


@dataclass(frozen=True, slots=True)
class Finding:
    """Which requirement one kind of tests found a mutant by; an empty text where it did not."""

    mutant: str
    kind: str
    requirement: str


def kind_of(test: pytest.Item) -> str:
    """Return the kind of a test."""
    if any(cut in test.name for cut in _CUTS):
        return "lost answers"
    module = Path(module_of(test))
    return _MODULES.get(module.stem, "curated") if module.parts[0] == "fuzz" else "curated"


def judge(names: Sequence[str], kinds: Sequence[str], processes: int) -> list[Finding]:
    """Return what each kind of tests finds of each mutant.

    Raises:
        MutantError: there is no such mutant, no such kind, or the suite cannot be run.
    """
    for known, wanted in ((MUTANTS, names), (KINDS, kinds)):
        for name in wanted:
            if name not in known:
                raise MutantError(f"there is no {name!r}; there are {', '.join(known)}")
    part = partial(_run_part, list(names or MUTANTS), list(kinds or KINDS))
    return spread(part, min(processes, len(names or MUTANTS)))


class _Loop:
    """The pytest plugin that runs mutants where pytest would run the tests."""

    def __init__(
        self, names: Sequence[str], kinds: Sequence[str], folder: Path, service: Service
    ) -> None:
        self._names, self._kinds, self._folder, self._service = names, kinds, folder, service
        self.results: list[Finding] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._suite = session.config.stash[SESSION]
        self._suite.reports = False
        by_kind = {kind: [t for t in session.items if kind_of(t) == kind] for kind in self._kinds}
        for name in turns(self._names, self._folder):
            self.results.extend(self._findings(name, by_kind))
        return True

    def _findings(
        self, name: str, by_kind: Mapping[str, Sequence[pytest.Item]]
    ) -> Iterator[Finding]:
        for kind, tests in by_kind.items():
            patch = Patch()
            failed: set[str] = set()
            try:
                MUTANTS[name](patch)
                for test in tests:
                    if failed := self._failed(test):
                        break
            finally:
                patch.revert()
                self._service.drop_work()
                self._suite.connection.memory.forget()
            # What fails on the restored reference too was not found.
            sound = failed - self._failed(test) if failed else failed
            yield Finding(name, kind, ", ".join(sorted(sound)))

    def _failed(self, test: pytest.Item) -> set[str]:
        decisions = decisions_of(test, self._suite)
        return {name for name, one in decisions.items() if one.outcome is Outcome.FAILED}


def _run_part(names: Sequence[str], kinds: Sequence[str], folder: Path) -> list[Finding]:
    """Run mutants of these names in this process."""
    modules = [
        path for name, path in modules_of_tests().items() if any(map(partial(_has, name), kinds))
    ]
    return host(partial(_Loop, names, kinds, folder), timing=TIMING, modules=modules)


def _has(module: str, kind: str) -> bool:
    """Return whether a file of the suite holds tests of a kind that payments can matter to."""
    if module.startswith("fuzz/"):
        return _MODULES.get(Path(module).stem) == kind
    area = Path(module).parts[1]
    if kind == "lost answers":
        return "at_each_cut" in (SUITE / module).read_text(encoding="utf-8")
    return kind == "curated" and area in _AREAS


def unaimed(names: Sequence[str], kinds: Sequence[str], processes: int) -> None:
    """Print which kinds of tests find each mutant, and how many each kind finds.

    Raises:
        typer.Exit: with 2, where a mutant or a kind does not exist; with 1, where no kind finds
            one of the mutants.
    """
    try:
        findings = judge(names, kinds, processes)
    except MutantError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    chosen = list(dict.fromkeys(finding.mutant for finding in findings))
    for name in chosen:
        by = [f"{f.kind} ({f.requirement})" for f in findings if f.mutant == name and f.requirement]
        typer.echo(f"{name:26}{', '.join(by) or 'NOT FOUND'}")
    found = {finding.mutant for finding in findings if finding.requirement}
    for kind in kinds or KINDS:
        count = sum(bool(f.requirement) for f in findings if f.kind == kind)
        typer.echo(f"{kind}: {count} of {len(chosen)}")
    typer.echo(f"found by any of them: {len(found)} of {len(chosen)}")
    if len(found) < len(chosen):
        raise typer.Exit(1)
