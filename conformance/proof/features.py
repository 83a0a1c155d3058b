"""Switches off one feature of the profile after the other, and tells what else changes.

What a target does not offer, its profile does not declare. Then the rules of that feature, and
these alone, are not exercised. Here the reference goes on offering everything, so that whatever a
check takes from an undeclared feature shows as a verdict that should not have changed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer
import yaml

from conformance.contract.catalogue import Catalogue, catalogue
from conformance.profile.model import Profile
from conformance.proof.patch import MutantError
from conformance.run import load_profile
from conformance.sut.sandbox import Sandbox
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import RequirementVerdict

_SHOWN = 20
_REPORT = "report.json"

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


def expected(entries: Catalogue, feature: str, usual: Verdicts) -> Verdicts:
    """Return the verdicts of a run without a feature: the usual ones but for its own rules."""
    undeclared = (RequirementVerdict.NOT_EXERCISED.value, Reason.FEATURE_UNDECLARED.value)
    return {
        name: undeclared
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


def _judge(content: Mapping[str, Any], options: Sequence[str]) -> tuple[Verdicts, dict[str, str]]:
    """Run the suite against the reference with a profile; return verdicts and their details."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        profile = folder / "profile.yaml"
        profile.write_text(yaml.safe_dump(dict(content)), encoding="utf-8")
        command = [sys.executable, "-P", "-m", "pytest", "--pyargs", "conformance", "-q"]
        command += [f"--profile={profile}", f"--report-dir={folder}", f"--rootdir={folder}"]
        sandbox = Sandbox()
        try:
            done = subprocess.run(  # noqa: S603 - this very program
                [*command, f"--base-url={sandbox.base_url}", *options],
                capture_output=True,
                text=True,
                cwd=folder,
                env={**os.environ, **sandbox.credentials(load_profile("reference"))},
                check=False,
            )
        finally:
            sandbox.stop()
        try:
            report = json.loads((folder / _REPORT).read_text(encoding="utf-8"))
        except OSError as error:
            raise MutantError(f"a run brought no report:\n{done.stdout}{done.stderr}") from error
    rows = report["requirements"]
    verdicts = {row["id"]: (row["verdict"], row["reason"] or "") for row in rows}
    return verdicts, {row["id"]: row["detail"] for row in rows}


def features(
    only: Annotated[
        list[str] | None, typer.Option(help="a feature; may be given several times")
    ] = None,
    processes: Annotated[int, typer.Option(min=1)] = len(os.sched_getaffinity(0)),
    fuzz_examples: Annotated[int, typer.Option(min=0)] = 20,
) -> None:
    """Switch each feature of the profile off, and see whether exactly its rules go unexercised."""
    started = time.perf_counter()
    profile = load_profile("reference")
    known = declared(profile)
    if unknown := set(only or ()) - set(known):
        typer.echo(f"the reference declares no {', '.join(sorted(unknown))}", err=True)
        raise typer.Exit(2)
    chosen = [name for name in known if not only or name in only]
    options = [f"--fuzz-examples={fuzz_examples}"]
    whole = profile.model_dump(mode="json", by_alias=True, exclude_none=True)
    contents = [whole, *(without(whole, name) for name in chosen)]
    try:
        with ThreadPoolExecutor(processes) as pool:
            runs = list(pool.map(lambda content: _judge(content, options), contents))
    except MutantError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    usual, _ = runs[0]
    wrong = 0
    for name, (verdicts, details) in zip(chosen, runs[1:], strict=True):
        wanted = expected(catalogue(), name, usual)
        found = differences(wanted, verdicts, details)
        wrong += bool(found)
        off = sum(wanted[identifier] != usual[identifier] for identifier in wanted)
        _print(name, off, found)
    seconds = time.perf_counter() - started
    typer.echo(f"\n{len(chosen)} features in {seconds:.1f} s: {wrong} change other verdicts")
    if wrong:
        raise typer.Exit(1)


def _print(feature: str, off: int, found: Sequence[Difference]) -> None:
    typer.echo(f"{feature}: {off} rules not exercised, {len(found)} others changed")
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
