"""``payments-conformance generate``: what follows from data and code, written or checked."""

from __future__ import annotations

import difflib
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Annotated, Any

import typer

from conformance.cli.generation.api_class import api_class
from conformance.cli.generation.places import PlaceError, filled, places_in
from conformance.cli.generation.tables import tables
from conformance.cli.generation.template import sections
from conformance.contract.data import SPEC
from conformance.contract.document import document
from conformance.profile.baseline import BaselineFile
from conformance.profile.model import Profile
from conformance.proof.mutation import load
from conformance.reporting.kills import MEASURED, read_kills
from conformance.reporting.report import Report

_ROOMS = ("conformance", "fixtures", "reports", "spec")
_MAX_DIFF_LINES = 12


def generate(
    context: typer.Context,
    check: Annotated[
        bool, typer.Option("--check", help="write nothing; fail where anything would change")
    ] = False,
) -> None:
    """Write what follows from data and code: tables, JSON Schemas, template profile, API class."""
    root = SPEC.parent
    if not (root / "pyproject.toml").is_file():
        typer.echo("generate writes to the files of a checkout, and this is none", err=True)
        raise typer.Exit(2)
    try:
        texts = generated(root, context.find_root().command)
    except PlaceError as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(1) from error
    changed = {path: text for path, text in texts.items() if _read(path) != text}
    for path, text in changed.items():
        if check:
            typer.echo(f"{path.relative_to(root)} would change:\n{_difference(path, text)}")
        else:
            path.write_text(text, encoding="utf-8")
            typer.echo(f"wrote {path.relative_to(root)}")
    if check and changed:
        typer.echo("payments-conformance generate writes them.")
    stale = list(stale_figures(measured=MEASURED))
    if stale:
        typer.echo(
            f"{MEASURED.name} is not of these mutants:\n"
            + _shortened(stale)
            + "\npayments-conformance mutants --figures measures them, with --only those of one."
        )
    raise typer.Exit(1 if stale or (check and changed) else 0)


def generated(root: Path, program: Any) -> Mapping[Path, str]:
    """Return the text of each file of a checkout that is generated, or has a part that is.

    Args:
        root: the folder of the checkout.
        program: the console command, as click has it.

    Raises:
        PlaceError: a table has no place or several, or a place is not marked as it has to be.
    """
    package, template = root / "conformance", root / "fixtures" / "profiles" / "template.yaml"
    return {
        package / "profile" / "profile.schema.json": _as_json(Profile.model_json_schema()),
        package / "profile" / "baseline.schema.json": _as_json(BaselineFile.model_json_schema()),
        package / "reporting" / "report.schema.json": _as_json(Report.model_json_schema()),
        package / "platform" / "api.py": api_class(document()),
        **with_contents(root, [template], sections()),
        **with_contents(root, _pages(root), tables(program)),
    }


def with_contents(
    root: Path, paths: Sequence[Path], contents: Mapping[str, Sequence[str]]
) -> dict[Path, str]:
    """Return the texts of those files that have places, with the contents put in.

    Raises:
        PlaceError: one of the contents has no place or several, or a place is not marked as it has
            to be.
    """
    texts: dict[Path, str] = {}
    found: dict[str, list[str]] = {name: [] for name in contents}
    for path in paths:
        file, text = str(path.relative_to(root)), _read(path)
        for place in places_in(text, file):
            found.setdefault(place.name, []).append(f"{file}:{place.first + 1}")
            texts[path] = ""
        if path in texts:
            texts[path] = filled(text, file, contents)
    for name, places in found.items():
        if len(places) != 1:
            raise PlaceError(
                f"{name} has two places, {' and '.join(places)}; take all but one out"
                if places
                else f"{name} has no place: put a line 'generated: {name}' and a line "
                f"'end of {name}', as comments, into {_either(root, paths)}"
            )
    return texts


def stale_figures(measured: Path) -> Iterator[str]:
    """Yield what is wrong with the kill figures: they are not of the mutants that there are."""
    kills = read_kills(measured)
    mutants = Counter(mutant.requirement for mutant in load())
    for requirement in sorted(kills.keys() | mutants.keys()):
        figure = kills[requirement].total if requirement in kills else 0
        if figure != mutants[requirement]:
            yield f"  {requirement}: {figure} measured, there are {mutants[requirement]}"


def _pages(root: Path) -> list[Path]:
    """Return the Markdown files of a checkout."""
    rooms = (path for room in _ROOMS for path in sorted((root / room).rglob("*.md")))
    return [*sorted(root.glob("*.md")), *rooms]


def _either(root: Path, paths: Sequence[Path]) -> str:
    return str(paths[0].relative_to(root)) if len(paths) == 1 else "one of the Markdown files"


def _read(path: Path) -> str:
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def _as_json(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, indent=2) + "\n"


def _difference(path: Path, text: str) -> str:
    """Return the first lines of a file that would change."""
    lines = difflib.unified_diff(_read(path).splitlines(), text.splitlines(), n=0, lineterm="")
    return _shortened([f"  {line}" for line in islice(lines, 2, None)])


def _shortened(lines: Sequence[str]) -> str:
    more = len(lines) - _MAX_DIFF_LINES
    shown = lines if more <= 0 else [*lines[:_MAX_DIFF_LINES], f"  … and {more} more lines"]
    return "\n".join(shown)
