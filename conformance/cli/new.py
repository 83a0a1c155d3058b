"""``payments-conformance new``: skeletons of what is added to the suite."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from conformance.cli.skeleton import (
    Draft,
    Rooms,
    home,
    neighbours,
    with_entry,
    with_mutant,
    with_scenario,
)
from conformance.contract.areas import AreaError
from conformance.contract.catalogue import CatalogueError, Level, RetiredId, catalogue, retired
from conformance.contract.completion import new_requirements
from conformance.contract.data import SPEC
from conformance.contract.document import document
from conformance.contract.outline import outline
from conformance.contract.vocabulary import did_you_mean

_ID = re.compile(r"[A-Z]{3}-\d{3,4}")
_TO_DO = """
Left to do, and CONTRIBUTING.md shows how:
- the places above: fill in the entry, write the scenario and the mutant, and give them names
- the OpenAPI document: where a schema decides it, `x-requirement` with its id; a limit has a row in
  spec/limits.yaml too, an error code in spec/errors.yaml, a transition in spec/states
- the reference: its line, in words of its own
- `needs:` in the entry, where a trigger or a feature has to be there
Then:
  ruff check --fix && ruff format
  pytest {scenario} -k {name}
  payments-conformance mutants --only {id} --figures
"""

new = typer.Typer(help="Write the skeleton of something new.", no_args_is_help=True)


class CannotWrite(Exception):
    """A skeleton cannot be written; the message says what to change."""


@new.callback()
def _group() -> None:
    """Write the skeleton of something new."""


@new.command()
def rule(
    identifier: Annotated[
        str,
        typer.Argument(metavar="ID", help="such as QUO-212", autocompletion=new_requirements),
    ],
    *,
    statement: Annotated[str, typer.Option(help="one observable fact, as a sentence")] = "",
    level: Annotated[Level | None, typer.Option(help="how strongly it binds")] = None,
    section: Annotated[
        str, typer.Option(help="where it stands; by default the section of the first line")
    ] = "",
    lines: Annotated[str, typer.Option(help="lines of the specification, such as 386,391")] = "",
    operation: Annotated[
        list[str] | None, typer.Option(help="an operationId; may be given several times")
    ] = None,
    entry: Annotated[
        str, typer.Option(help="file of the area's entries; by default that of its neighbours")
    ] = "",
    scenario: Annotated[
        str, typer.Option(help="module of the area's scenarios; by default that of its neighbours")
    ] = "",
    mutant: Annotated[
        str, typer.Option(help="module of the area's mutants; by default that of its neighbours")
    ] = "",
) -> None:
    """Write the skeleton of a requirement: its entry, a scenario and a mutant to fill in.

    What no option says becomes a placeholder, and the suite refuses to run until it is filled in.
    """
    root = SPEC.parent
    try:
        draft = _checked(
            identifier,
            statement=" ".join(statement.split()),
            level=level or "",
            section=section,
            lines=_numbers(lines),
            operations=operation or [],
        )
        written = write_rule(root, draft, entry, scenario, mutant)
    except (AreaError, CannotWrite, CatalogueError) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    names = [str(path.relative_to(root)) for path in written]
    for name in names:
        typer.echo(f"{draft.id} stands at the end of {name}")
    typer.echo(_TO_DO.format(id=draft.id, name=draft.name, scenario=names[1]), nl=False)


def write_rule(
    root: Path, draft: Draft, entry: str = "", scenario: str = "", mutant: str = ""
) -> list[Path]:
    """Write a draft to the files of a checkout; return those of its entry, scenario and mutant.

    Raises:
        AreaError: no area has its prefix.
        CannotWrite: there is no such file in its area, or no checkout.
    """
    if not (root / "pyproject.toml").is_file():
        raise CannotWrite("a requirement is added to a checkout, and this is none")
    rooms, near = Rooms.of(root, draft.id), neighbours(draft.id, catalogue())
    places: list[tuple[Path, Callable[[str, Draft], str]]] = [
        (_file(rooms.entries, "*.yaml", entry, near), with_entry),
        (_file(rooms.scenarios, "test_*.py", scenario, near), with_scenario),
        (_file(rooms.mutants, "[!_]*.py", mutant, near), with_mutant),
    ]
    texts = [(path, add(path.read_text(encoding="utf-8"), draft)) for path, add in places]
    for path, text in texts:
        path.write_text(text, encoding="utf-8")
    return [path for path, _ in places]


def _file(folder: Path, pattern: str, name: str, near: Sequence[str]) -> Path:
    """Return the file of an area that has a name, or else the one that its neighbours stand in."""
    files = sorted(folder.glob(pattern))
    if not name:
        found = home(files, near)
        if found is None:
            raise CannotWrite(f"{folder}: there is no file yet; make one")
        return found
    if folder / name not in files:
        known = [path.name for path in files]
        raise CannotWrite(f"{folder.name} has no file {name!r}; {did_you_mean(name, known)}")
    return folder / name


def _checked(identifier: str, *, section: str, lines: Sequence[int], **more: Any) -> Draft:
    """Return the draft of a requirement; its section is that of its first line if none is said.

    Raises:
        CannotWrite: what is said of it cannot be.
    """
    if not _ID.fullmatch(identifier):
        raise CannotWrite(f"{identifier}: an id is three capitals, a hyphen and three digits")
    if identifier in catalogue():
        prefix = identifier.partition("-")[0]
        last = max(other for other in catalogue() if other.startswith(f"{prefix}-"))
        raise CannotWrite(
            f"{identifier} is in the catalogue already: {catalogue()[identifier].statement} "
            f"The last id of {prefix} is {last}"
        )
    if identifier in retired():
        raise CannotWrite(str(RetiredId(identifier, "new")))
    section = section or (outline().section_of[lines[0]] if lines else "")
    sections = [known.name for known in outline().sections]
    if section and section not in sections:
        raise CannotWrite(f"there is no section {section!r}; {did_you_mean(section, sections)}")
    if lines and section not in {outline().section_of[number] for number in lines}:
        shown = ", ".join(map(str, lines))
        raise CannotWrite(f"none of the lines {shown} stands in the section {section!r}")
    draft = Draft(identifier, section=section, lines=lines, **more)
    for name in draft.operations:
        if name not in document().operations:
            raise CannotWrite(
                f"there is no operation {name!r}; {did_you_mean(name, document().operations)}"
            )
    return draft


def _numbers(lines: str) -> list[int]:
    """Return the numbers of some lines of the specification.

    Raises:
        CannotWrite: one is no number, or the line states nothing.
    """
    numbers: list[int] = []
    for word in filter(None, re.split(r"[,\s]+", lines)):
        if not word.isdecimal():
            raise CannotWrite(f"expected numbers of lines such as 386,391, got {lines!r}")
        if int(word) not in outline().section_of:
            raise CannotWrite(
                f"line {word} of the specification states nothing; "
                "payments-conformance coverage shows those that do"
            )
        numbers.append(int(word))
    return numbers
