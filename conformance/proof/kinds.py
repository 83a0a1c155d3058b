"""Runs mutants against one kind of tests after the other, and tells which kinds find each.

What is broken is either one of the mutants that nothing is aimed at, or one of the others, drawn by
chance. Of a kind the mutant meets the tests that come to what it breaks. It is found where a
requirement fails, whichever it is: twice under the mutant, and not on the restored reference.
"""

from __future__ import annotations

import random
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest
import typer

from conformance.contract.catalogue import catalogue
from conformance.items import requirements_named_by
from conformance.plugin import SESSION
from conformance.proof.host import (
    SUITE,
    decisions_of,
    host,
    module_of,
    modules_of_tests,
    modules_with,
    spread,
    turns,
)
from conformance.proof.mutation import TIMING, choose, load
from conformance.proof.patch import Apply, MutantError, Patch
from conformance.proof.reach import places_of, survey
from conformance.proof.unaimed.mutants import MUTANTS
from conformance.reference.service import Service
from conformance.reporting.kills import BY_KIND, KINDS, Finding, write_findings
from conformance.verdict.decisions import Outcome

_MODULES = {
    "test_operations": "generated",
    "test_links": "generated",
    "test_model": "model",
    "test_clients": "clients",
}
_AREAS = ("quotes", "transactions", "internal_accounts", "webhooks", "customers")
"""The areas whose curated tests move money, hear of it, or change a customer."""

_CUTS = ("before-sending", "after-sending", "within-answer")
_FUZZ_EXAMPLES = 20
"""How many requests are made up for each operation, as in a run of which nothing else is said."""

_SAMPLE = 40
"""How many of the aimed mutants are drawn, where nothing else is asked for."""

Reaching = Mapping[str, Collection[str]]
"""The node ids of the tests that come to what a mutant breaks, by its name."""


@dataclass(frozen=True, slots=True)
class _Subject:
    """A mutant, and the requirement that it was made for; none of one that is not aimed."""

    name: str
    patch: Apply
    requirement: str = ""


def kind_of(test: pytest.Item) -> str:
    """Return the kind of a test."""
    if any(cut in test.name for cut in _CUTS):
        return "lost answers"
    module = Path(module_of(test))
    return _MODULES.get(module.stem, "curated") if module.parts[0] == "fuzz" else "curated"


def judge(
    names: Sequence[str],
    kinds: Sequence[str],
    processes: int,
    reaching: Reaching | None = None,
    *,
    budget: float = 0.0,
) -> list[Finding]:
    """Return what each kind of tests finds of each mutant.

    Args:
        names: the mutants: unaimed ones, or the ids of aimed ones with ``reaching``.
        kinds: the kinds; all of them where none is named.
        processes: how many processes share the mutants.
        reaching: the tests that each of them meets. Without it that is every test of a kind that
            payments and customers can matter to.
        budget: for how many seconds each kind of walks and programs goes on, beyond the default.

    Raises:
        MutantError: there is no such mutant, no such kind, or the suite cannot be run.
    """
    mutants = MUTANTS if reaching is None else reaching
    for known, wanted in ((mutants, names), (KINDS, kinds)):
        for name in wanted:
            if name not in known:
                raise MutantError(f"there is no {name!r}; there are {', '.join(known)}")
    part = partial(_run_part, list(names or mutants), list(kinds or KINDS), reaching, budget)
    return spread(part, min(processes, len(names or mutants)))


class _Loop:
    """The pytest plugin that runs mutants where pytest would run the tests."""

    def __init__(
        self,
        subjects: Sequence[_Subject],
        kinds: Sequence[str],
        reaching: Reaching | None,
        folder: Path,
        service: Service,
    ) -> None:
        self._subjects, self._kinds, self._reaching = subjects, kinds, reaching
        self._folder, self._service = folder, service
        self.results: list[Finding] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        self._suite = session.config.stash[SESSION]
        self._suite.reports = False
        by_kind = {kind: [t for t in session.items if kind_of(t) == kind] for kind in self._kinds}
        for subject in turns(self._subjects, self._folder):
            self.results.extend(self._findings(subject, by_kind))
        return True

    def _findings(
        self, subject: _Subject, by_kind: Mapping[str, Sequence[pytest.Item]]
    ) -> Iterator[Finding]:
        for kind, every in by_kind.items():
            tests = [
                test
                for test in every
                if self._reaching is None or test.nodeid in self._reaching[subject.name]
            ]
            found = self._found(subject, sorted(tests, key=partial(_is_far_from, subject)))
            yield Finding(subject.name, kind, tuple(sorted(found)), is_met=bool(tests))

    def _found(self, subject: _Subject, tests: Sequence[pytest.Item]) -> set[str]:
        """Return the requirements that fail in the first test that finds a mutant."""
        for test in tests:
            failed = self._failed(test, subject.patch)
            # On a busy machine any test may fail once; and some fail on the reference as it is.
            if failed and (again := self._failed(test, subject.patch)):
                usual = self._failed(test)
                if again - usual and failed - usual:
                    return failed - usual
        return set()

    def _failed(self, test: pytest.Item, apply: Apply | None = None) -> set[str]:
        """Return the requirements that fail in a test, under a patch or without one."""
        patch = Patch()
        try:
            if apply is not None:
                apply(patch)
            decisions = decisions_of(test, self._suite)
        finally:
            patch.revert()
            self._service.drop_work()
            self._suite.connection.forget()
        return {name for name, one in decisions.items() if one.outcome is Outcome.FAILED}


def _is_far_from(subject: _Subject, test: pytest.Item) -> tuple[bool, bool]:
    """Return a key that puts those tests first that were made for what a mutant breaks."""
    if not subject.requirement:
        return False, False
    operations = catalogue()[subject.requirement].operations
    return (
        subject.requirement not in requirements_named_by(test),
        test.name.removeprefix("test_") not in operations,
    )


def _run_part(
    names: Sequence[str],
    kinds: Sequence[str],
    reaching: Reaching | None,
    budget: float,
    folder: Path,
) -> list[Finding]:
    """Run mutants of these names in this process."""
    if reaching is None:
        known = {name: _Subject(name, patch) for name, patch in MUTANTS.items()}
        modules = [
            path
            for name, path in modules_of_tests().items()
            if any(map(partial(_has, name), kinds))
        ]
    else:
        known = {one.id: _Subject(one.id, one.patch, one.requirement) for one in load()}
        modules = modules_with(test for name in names for test in reaching[name])
    subjects = [known[name] for name in names]
    return host(
        partial(_Loop, subjects, kinds, reaching, folder),
        options=[f"--fuzz-examples={_FUZZ_EXAMPLES}", f"--budget={budget}"],
        timing=TIMING,
        modules=modules,
    )


def _has(module: str, kind: str) -> bool:
    """Return whether a file of the suite holds tests of a kind that payments can matter to."""
    if module.startswith("fuzz/"):
        return _MODULES.get(Path(module).stem) == kind
    area = Path(module).parts[1]
    if kind == "lost answers":
        return "at_each_cut" in (SUITE / module).read_text(encoding="utf-8")
    return kind == "curated" and area in _AREAS


def by_kind(
    only: Sequence[str],
    kinds: Sequence[str],
    processes: int,
    sample: int | None,
    seed: int,
    *,
    unaimed: bool,
    budget: float,
    figures: bool,
) -> None:
    """Print which kinds of tests find each mutant that is named, or of a sample without names.

    With ``unaimed`` these are the mutants that nothing is aimed at, without names all of them.
    ``budget`` is how many seconds walks and programs go on for under each. With ``figures`` what is
    found of a sample is kept.

    Raises:
        typer.Exit: with 2, where a mutant or a kind does not exist, or only a part is to be kept;
            with 1, where no kind finds one of the mutants.
    """
    if figures and (only or kinds or unaimed or budget):
        typer.echo("figures are of a sample of aimed mutants, and of all kinds of tests", err=True)
        raise typer.Exit(2)
    size = sample or _SAMPLE
    try:
        if unaimed:
            findings = judge(only, kinds, processes, budget=budget)
        else:
            reaching = _reaching(only, size, seed, processes)
            findings = judge(list(reaching), kinds, processes, reaching, budget=budget)
    except MutantError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    if figures:
        write_findings(findings, f"--sample {size} --seed {seed}", BY_KIND)
    _print(findings)


def _reaching(only: Sequence[str], size: int, seed: int, processes: int) -> Reaching:
    """Return the tests that come to what aimed mutants break: named ones, or a sample."""
    mutants = {one.id: one for one in (choose(load(only), only) if only else load())}
    names = list(mutants)
    if not only:
        names = random.Random(seed).sample(sorted(names), min(size, len(names)))  # noqa: S311 - no secret
    seen = survey(processes, fuzz_examples=_FUZZ_EXAMPLES)
    return {
        name: {one.test for one in seen.reaching(places_of(mutants[name].patch))} for name in names
    }


def _print(findings: Sequence[Finding]) -> None:
    """Print which kinds find each mutant, and how many each kind finds.

    Raises:
        typer.Exit: with 1, where no kind finds one of the mutants.
    """
    chosen = list(dict.fromkeys(finding.mutant for finding in findings))
    for name in chosen:
        by = [
            f"{one.kind} ({', '.join(one.requirements)})"
            for one in findings
            if one.mutant == name and one.requirements
        ]
        typer.echo(f"{name}: {', '.join(by) or 'NOT FOUND'}")
    for kind in dict.fromkeys(finding.kind for finding in findings):
        own = [one for one in findings if one.kind == kind]
        found, met = sum(bool(one.requirements) for one in own), sum(one.is_met for one in own)
        typer.echo(f"{kind}: {found} of {len(chosen)}; its tests come to {met} of them")
    by_any = {finding.mutant for finding in findings if finding.requirements}
    typer.echo(f"found by any of them: {len(by_any)} of {len(chosen)}")
    if len(by_any) < len(chosen):
        raise typer.Exit(1)
