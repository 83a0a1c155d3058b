"""``payments-conformance explain``: a requirement with all that belongs to it, as text."""

from __future__ import annotations

import json
import os
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from conformance.cli.explained import CannotExplain, Declared, Explained, explained
from conformance.contract.areas import areas
from conformance.contract.catalogue import Requirement, UnknownRequirement, catalogue
from conformance.contract.completion import area_names, requirements
from conformance.contract.vocabulary import did_you_mean
from conformance.reporting.files import put
from conformance.text.characters import visible

_WIDTH = 100
_REPORT = "report.json"
_INDEX = "README.md"


class Form(StrEnum):
    """In which form requirements are explained."""

    TEXT = "text"
    MARKDOWN = "markdown"
    JSON = "json"


def explain(
    identifiers: Annotated[
        list[str] | None,
        typer.Argument(metavar="[ID]...", help="such as QUO-031", autocompletion=requirements),
    ] = None,
    *,
    area: Annotated[
        str,
        typer.Option(help="all requirements of this area instead", autocompletion=area_names),
    ] = "",
    form: Annotated[Form, typer.Option("--format", help="of the output")] = Form.TEXT,
    report: Annotated[
        Path, typer.Option(help="the report folder whose results are shown, if there is one")
    ] = Path("reports/latest"),
    pages: Annotated[
        Path | None,
        typer.Option(help="write a page in Markdown for each area to this folder, and an index"),
    ] = None,
) -> None:
    """Explain a requirement: its source, what is sent and expected, what proves it, its result."""
    report = report.parent if report.is_file() else report
    results = _results(report)
    try:
        if pages is not None:
            if identifiers or area:
                raise typer.BadParameter("--pages are of all areas: leave out ids and --area")
            beside = Path(os.path.relpath(report, pages))
            put({pages / name: text for name, text in _pages(results, beside).items()})
            typer.echo(str(pages / _INDEX))
            return
        chosen = [explained(name) for name in _chosen(identifiers or [], area)]
    except (UnknownRequirement, CannotExplain) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    except OSError as error:
        raise typer.BadParameter(f"{pages}: {error.strerror or error}") from error
    if form is Form.JSON:
        content = [{**asdict(one), "result": results.get(one.requirement.id)} for one in chosen]
        typer.echo(json.dumps(content, indent=2))
        return
    if form is Form.MARKDOWN:
        typer.echo(_page(chosen, results, report, area))
        return
    texts = ("\n".join(_as_text(one, results.get(one.requirement.id), report)) for one in chosen)
    typer.echo("\n\n".join(texts))


def _page(
    chosen: Sequence[Explained], results: Mapping[str, Any], report: Path, area: str = ""
) -> str:
    """Return a page of requirements in Markdown, with what their lines leave open at its end."""
    lines = []
    if area:
        about = areas()[area]
        lines += [f"# {about.title}", "", " ".join(about.description.split()), ""]
    for one in chosen:
        lines += [*_as_markdown(one, results.get(one.requirement.id), report), ""]
    # Many requirements come from the same lines.
    for latitude in {latitude.id: latitude for one in chosen for latitude in one.latitude}.values():
        lines += [
            f"## {latitude.id}",
            "",
            f"Left open: {latitude.question}. {latitude.accepted}",
            "",
        ]
        lines += [f"- `{variant.id}`: {variant.statement}" for variant in latitude.variants]
        lines += [""] if latitude.variants else []
    return "\n".join(lines).rstrip()


def _pages(results: Mapping[str, Any], report: Path) -> Mapping[str, str]:
    """Return the pages of all areas in Markdown, and one that leads to them, by their names."""
    rows = ["| Area | Requirements | What it is about |", "| --- | --- | --- |"]
    pages = {}
    for name, about in areas().items():
        chosen = [explained(identifier) for identifier in _chosen([], name)]
        pages[f"{name}.md"] = f"{_page(chosen, results, report, name)}\n"
        told = " ".join(about.description.split())
        rows.append(f"| [{about.title}]({name}.md) | {len(chosen)} | {told} |")
    table = "\n".join(rows)
    return {_INDEX: f"# The requirements, area by area\n\n{table}\n", **pages}


def _chosen(identifiers: list[str], area: str) -> list[str]:
    """Return the ids to explain.

    Raises:
        typer.BadParameter: neither ids nor an area are given, or both, or no area has this name.
    """
    if bool(identifiers) == bool(area):
        raise typer.BadParameter("give the id of a requirement such as QUO-031, or --area=NAME")
    if not area:
        return identifiers
    if area not in areas():
        raise typer.BadParameter(f"there is no area {area}; {did_you_mean(area, areas())}")
    return [entry.id for entry in catalogue().values() if entry.area == area]


def _results(folder: Path) -> Mapping[str, Any]:
    """Return the entries of a report by their ids; none where there is no report."""
    try:
        content = json.loads((folder / _REPORT).read_bytes())
        return {entry["id"]: entry for entry in content["requirements"]}
    except (OSError, ValueError, LookupError, TypeError):
        return {}


def _needed(requirement: Requirement) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the kinds of things that a requirement needs, each with their names."""
    needs = {"triggers": requirement.needs.triggers, "features": requirement.needs.features}
    return ((kind, names) for kind, names in needs.items() if names)


def _as_text(one: Explained, result: Mapping[str, Any] | None, folder: Path) -> Iterator[str]:
    requirement = one.requirement
    yield f"{requirement.id}  {requirement.level}  {one.area}"
    yield from _wrapped(requirement.statement, "  ")
    yield f"  Specification: {requirement.source}"
    for kind, names in _needed(requirement):
        yield f"  Needs the {kind} {', '.join(names)}"
    if requirement.untestable is not None:
        yield from _wrapped(f"No client can observe it: {requirement.untestable}", "  ")
    yield from _section("Operations", one.requests)
    for test in one.tests:
        yield f"\nWhat is sent, and what is expected ({test.place})"
        if test.count:
            more = test.count - len(test.cases)
            cases = ", ".join(test.cases) + (f" and {more} more" if more else "")
            yield from _wrapped(f"With {cases}", "  ")
        yield textwrap.indent(test.code or test.says, "  ")
    yield from _section("Proven by mutants, each of which its check has to notice", one.mutants)
    for latitude in one.latitude:
        yield f"\nLeft open by the same lines: {latitude.id}"
        yield from _wrapped(latitude.question, "  ")
        yield from _wrapped(f"Accepted: {latitude.accepted}", "  ")
        yield from _declared(latitude.variants)
    yield from _result_as_text(requirement.id, result, folder)


def _result_as_text(
    identifier: str, result: Mapping[str, Any] | None, folder: Path
) -> Iterator[str]:
    if result is None:
        yield f"\nNo report in {folder} has a result."
        return
    yield f"\nIn the latest report: {result['verdict']}"
    if result["reason"]:
        yield f"  {result['reason']}"
    if result["detail"]:
        yield from _wrapped(visible(result["detail"]), "  ")
    if result["evidence"]:
        yield f"  Evidence: {folder / 'report.html'}#about-{identifier}"
        yield f"  Again: {result['evidence'][0]['rerun']}"


def _section(title: str, items: tuple[str, ...] | tuple[Declared, ...]) -> Iterator[str]:
    if items:
        yield f"\n{title}"
        yield from _declared(items)


def _declared(items: tuple[str, ...] | tuple[Declared, ...]) -> Iterator[str]:
    for item in items:
        shown = item if isinstance(item, str) else f"{item.id}: {item.statement}"
        yield from _wrapped(shown, "  - ", "    ")


def _wrapped(text: str, first: str, others: str | None = None) -> list[str]:
    return textwrap.wrap(
        text,
        _WIDTH,
        initial_indent=first,
        subsequent_indent=first if others is None else others,
        break_on_hyphens=False,
        break_long_words=False,
    )


def _as_markdown(one: Explained, result: Mapping[str, Any] | None, folder: Path) -> Iterator[str]:
    requirement = one.requirement
    yield f"## {requirement.id}\n"
    yield f"**{requirement.level}** {requirement.statement}\n"
    yield f"- Specification: {requirement.source}"
    if one.requests:
        yield f"- Operations: {', '.join(f'`{request}`' for request in one.requests)}"
    for kind, names in _needed(requirement):
        yield f"- Needs the {kind} {', '.join(f'`{name}`' for name in names)}"
    if requirement.untestable is not None:
        yield f"- No client can observe it: {requirement.untestable}"
    for test in one.tests:
        yield f"- Checked by `{test.place}`: {test.says}"
    for mutant in one.mutants:
        yield f"- Proven by `{mutant.id}`: {mutant.statement}"
    if one.latitude:
        links = ", ".join(f"[{latitude.id}](#{latitude.id.lower()})" for latitude in one.latitude)
        yield f"- Left open by the same lines: {links}"
    if result is not None:
        place = f" ([evidence]({folder / 'report.html'}#about-{requirement.id}))"
        yield f"- In the latest report: {result['verdict']}{place if result['evidence'] else ''}"
