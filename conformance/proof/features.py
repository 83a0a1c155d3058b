"""Switches off one feature of the profile after the other, and tells what else changes.

What a target does not offer, its profile does not declare. Then the requirements of that feature,
and these alone, are not exercised. Here the reference goes on offering everything, so that whatever
a check takes from an undeclared feature shows as a verdict that should not have changed.

A feature changes nothing in a test that neither asks the profile for it nor names a requirement
that needs it: the test sends the same to the same target, and decides the same. So a survey of all
tests with the whole profile notes what each of them asks for, and only those that the feature can
matter to run again without it. Their decisions take the place of the earlier ones, and the plan and
the accounting of a run make verdicts of all of them, as at the end of a run with that profile.
What one test learns about the target another does not get to know in the survey, so that none has
its question asked for it by another. Where a feature decides how the suite is connected to the
target, it matters to every test.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer

from conformance.contract.catalogue import Catalogue, catalogue
from conformance.contract.completion import feature_names
from conformance.exchange.folder import RunFolder
from conformance.exchange.shard import WHOLE
from conformance.plugin import SESSION, USUAL_EXAMPLES
from conformance.profile.model import Profile
from conformance.profile.needs import unmet
from conformance.proof.draw import TODAY, Draw
from conformance.proof.host import decisions_of, host, modules_with, spread, turns
from conformance.proof.patch import MutantError
from conformance.proof.reach import Seen, Survey, features_noted, survey
from conformance.run import Connection, load_profile
from conformance.session import Session
from conformance.verdict.decisions import Decision, Reason
from conformance.verdict.plan import Accounting, Plan, RequirementVerdict

_SHOWN = 20

_TESTS_AT_ONCE = 40
_WEBHOOKS = "webhooks"
_CONNECTING = {_WEBHOOKS, "webhook_signatures"}
"""Features by which the suite is connected to the target otherwise.

Without the one no webhooks come, and without the other none is verified. Tests know of neither but
by asking for webhooks; what is decided on the way is kept apart, or is of the feature itself.
"""

Verdicts = Mapping[str, tuple[str, str]]
"""By requirement its verdict, and the reason where it has none."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A verdict that is not what switching a feature off should make of it."""

    requirement: str
    expected: tuple[str, str]
    found: tuple[str, str]
    detail: str


def declared(profile: Profile) -> list[str]:
    """Return the features that a profile declares and could leave out."""
    return [name for name, value in profile.features if value is True]


def without(content: Mapping[str, Any], feature: str) -> dict[str, Any]:
    """Return the content of a profile that does not declare a feature."""
    return {**content, "features": {**content["features"], feature: False}}


UNDECLARED = (RequirementVerdict.NOT_EXERCISED.value, Reason.FEATURE_UNDECLARED.value)
"""The verdict on a requirement that needs a feature which is switched off."""


def expected(entries: Catalogue, feature: str, usual: Verdicts) -> Verdicts:
    """Return the verdicts of a run without a feature: the usual ones but for what needs it."""
    return {
        name: UNDECLARED
        if feature in entries[name].needs.features and entries[name].untestable is None
        else verdict
        for name, verdict in usual.items()
    }


def differences(wanted: Verdicts, found: Verdicts, details: Mapping[str, str]) -> list[Difference]:
    """Return where the verdicts found are not the wanted ones."""
    nothing = ("", "")
    return [
        Difference(name, verdict, found.get(name, nothing), details.get(name, ""))
        for name, verdict in wanted.items()
        if found.get(name, nothing) != verdict
    ]


def concerned(seen: Seen, feature: str) -> bool:
    """Return whether a test may do something else without a feature.

    Without webhooks none is judged. That changes the end of a test that names what they decide.
    """
    known = catalogue()
    return (
        feature in seen.features
        or any(feature in known[name].needs.features for name in seen.named)
        or (feature == _WEBHOOKS and not seen.delivered.isdisjoint(seen.named))
    )


def decided(seen: Seen, feature: str) -> Sequence[Decision]:
    """Return what a test decides without a feature that it is not concerned by."""
    if feature != _WEBHOOKS:
        return seen.decisions
    return [one for one in seen.decisions if one.requirement not in seen.delivered]


def concluded(
    profile: Profile, tests: Mapping[str, Seen], decisions: Iterable[Decision]
) -> tuple[Verdicts, dict[str, str]]:
    """Return the verdicts of a run that made these decisions, and their details."""
    named: dict[str, list[str]] = defaultdict(list)
    for seen in tests.values():
        for identifier in seen.named:
            named[identifier].append(seen.test)
    plan = Plan(catalogue(), named, list(tests), lambda entry: unmet(profile, entry))
    accounting = Accounting(plan, ended=set(tests))
    accounting.add(decisions)
    conclusions = accounting.conclude()
    verdicts = {
        one.requirement.id: (one.verdict.value, one.reason.value if one.reason else "")
        for one in conclusions
    }
    return verdicts, {one.requirement.id: one.detail for one in conclusions}


@dataclass(frozen=True, slots=True)
class Share:
    """Tests that one process runs with a profile that does not declare a feature."""

    feature: str
    tests: frozenset[str]


Decided = tuple[str, str, tuple[Decision, ...]]
"""A feature, a test, and what the test decided without the feature."""


def judge_without(
    chosen: Sequence[str], seen: Survey, processes: int, fuzz_examples: int
) -> dict[str, dict[str, tuple[Decision, ...]]]:
    """Run without each feature the tests that it concerns; return what they decided, by feature.

    Raises:
        MutantError: the suite cannot be run.
    """
    shares = []
    for feature in chosen:
        tests = [one.test for one in seen.tests.values() if concerned(one, feature)]
        shares += [
            Share(feature, frozenset(tests[start : start + _TESTS_AT_ONCE]))
            for start in range(0, len(tests), _TESTS_AT_ONCE)
        ]
    options = [f"--fuzz-examples={fuzz_examples}"]
    found: dict[str, dict[str, tuple[Decision, ...]]] = {name: {} for name in chosen}
    if shares:
        for feature, test, decisions in spread(partial(_part, shares, options), processes):
            found[feature][test] = decisions
    return found


def _part(shares: Sequence[Share], options: Sequence[str], folder: Path) -> list[Decided]:
    """Run what falls to this process."""
    return host(
        lambda _: _Switches(turns(shares, folder)),
        options=options,
        modules=modules_with(test for share in shares for test in share.tests),
    )


class _Switches:
    """The pytest plugin that runs tests without one feature after the other."""

    def __init__(self, shares: Iterable[Share]) -> None:
        self._shares = shares
        self.results: list[Decided] = []

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        suite = session.config.stash[SESSION]
        suite.reports = False
        for share in self._shares:
            tests = [test for test in session.items if test.nodeid in share.tests]
            with _without(suite, share.feature):
                for test in tests:
                    # As in the survey.
                    suite.connection.forget()
                    decisions = tuple(decisions_of(test, suite).values())
                    self.results.append((share.feature, test.nodeid, decisions))
        return True


@contextmanager
def _without(suite: Session, feature: str) -> Iterator[None]:
    """Let a session have a profile that does not declare a feature, and a connection by it.

    Raises:
        MutantError: the feature decides how the suite is connected, in a way unknown here.
    """
    before = suite.profile, suite.connection
    content = before[0].model_dump(mode="json", by_alias=True, exclude_none=True)
    suite.profile = Profile.model_validate(without(content, feature))
    asked: set[str] = set()
    with tempfile.TemporaryDirectory() as name:
        folder = RunFolder.claim(Path(name))
        with features_noted(asked.add):
            suite.connection = Connection.open(
                replace(before[1].target, profile=suite.profile), seed=before[1].seed, folder=folder
            )
        try:
            if feature in asked - _CONNECTING:
                raise MutantError(
                    f"features.{feature} decides how the suite is connected: which tests does "
                    "that concern?"
                )
            yield
        finally:
            suite.connection.close()
            folder.release()
            suite.profile, suite.connection = before


def features(  # noqa: PLR0917 - typer passes all of them by name
    only: Annotated[
        list[str] | None,
        typer.Option(help="a feature; may be given several times", autocompletion=feature_names),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="print what is as it should be, too")
    ] = False,
    processes: Annotated[int, typer.Option(min=1)] = 2 * len(os.sched_getaffinity(0)),
    fuzz_examples: Annotated[int, typer.Option(min=0)] = USUAL_EXAMPLES,
    draw: Annotated[
        str | None,
        typer.Option(
            metavar="SEED",
            help=f"take a share of the scenarios alone, drawn by chance: a number, or {TODAY}",
        ),
    ] = None,
    shares: Annotated[
        int, typer.Option(min=1, help="with --draw: one of so many shares of the scenarios")
    ] = 1,
) -> None:
    """Switch each feature of the profile off; does exactly what needs it go unexercised?

    Prints each feature that changes anything else, and the total.
    """
    started = time.perf_counter()
    profile = load_profile("reference")
    known = declared(profile)
    if unknown := set(only or ()) - set(known):
        typer.echo(f"the reference declares no {', '.join(sorted(unknown))}", err=True)
        raise typer.Exit(2)
    chosen = [name for name in known if not only or name in only]
    whole = profile.model_dump(mode="json", by_alias=True, exclude_none=True)
    shard = WHOLE
    if draw is not None:
        by_chance = Draw.parse(draw, shares)
        shard, fuzz_examples = by_chance.shard, 0
        typer.echo(f"drawn by {by_chance}")
    try:
        seen = survey(processes, fuzz_examples=fuzz_examples, shard=shard)
        found = judge_without(chosen, seen, processes, fuzz_examples)
    except MutantError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    tests = seen.tests
    named = {identifier for one in tests.values() for identifier in one.named}
    usual, _ = concluded(profile, tests, (d for one in tests.values() for d in one.decisions))
    wrong = 0
    for name in chosen:
        verdicts, details = concluded(
            Profile.model_validate(without(whole, name)),
            tests,
            (
                decision
                for one in tests.values()
                for decision in found[name].get(one.test, decided(one, name))
            ),
        )
        wanted = expected(catalogue(), name, usual)
        if draw is not None:
            # Of what the share does not name, a run of it decides nothing.
            wanted = {identifier: wanted[identifier] for identifier in wanted.keys() & named}
        others = differences(wanted, verdicts, details)
        if draw is not None:
            # Tests that need no such feature, and decide it, may be in another share.
            others = [row for row in others if row.found != UNDECLARED]
        wrong += bool(others)
        off = sum(wanted[identifier] != usual[identifier] for identifier in wanted)
        if verbose or others:
            _print(name, off, len(found[name]), others)
    seconds = time.perf_counter() - started
    typer.echo(f"{len(chosen)} features in {seconds:.1f} s: {wrong} change other verdicts")
    if wrong:
        raise typer.Exit(1)


def _print(feature: str, off: int, run: int, found: Sequence[Difference]) -> None:
    typer.echo(
        f"{feature}: {off} requirements not exercised, {len(found)} others changed "
        f"({run} tests concerned)"
    )
    for row in found[:_SHOWN]:
        typer.echo(
            f"    {row.requirement} {_shown(row.found)} in the place of {_shown(row.expected)}: "
            + row.detail.partition("\n")[0]
        )
    if len(found) > _SHOWN:
        typer.echo(f"    and {len(found) - _SHOWN} more")


def _shown(verdict: tuple[str, str]) -> str:
    status, reason = verdict
    return f"{status} ({reason})" if reason else status
