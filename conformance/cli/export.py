"""``payments-conformance export``: a report in the formats of other tools."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from conformance.contract.completion import requirements
from conformance.exchange.curl import curl_chain
from conformance.exchange.folder import FolderError
from conformance.exchange.journal import Exchange
from conformance.exchange.python_script import python_chain
from conformance.reporting.annotations import as_annotations
from conformance.reporting.assemble import NoRun, exchanges, exchanges_that_show
from conformance.reporting.badges import badges
from conformance.reporting.changes import UnusableReport, read_report
from conformance.reporting.files import put
from conformance.reporting.har import as_har
from conformance.reporting.job_summary import as_markdown
from conformance.reporting.sarif import as_sarif


class Format(StrEnum):
    """What a report is written as."""

    SARIF = "sarif"
    MARKDOWN = "markdown"
    BADGES = "badges"
    HAR = "har"
    CURL = "curl"
    PYTHON = "python"
    ANNOTATIONS = "annotations"


_SCRIPTS: Mapping[Format, Callable[[Iterable[Exchange], str, tuple[str, str]], str]] = {
    Format.CURL: curl_chain,
    Format.PYTHON: python_chain,
}


def export(
    form: Annotated[Format, typer.Argument(metavar="FORMAT", help=", ".join(Format))],
    folder: Annotated[Path, typer.Argument(help="the report folder of a run")] = Path(
        "reports/latest"
    ),
    output: Annotated[
        Path | None,
        typer.Option(help="the file to write, or for badges the folder; a file is printed without"),
    ] = None,
    requirement: Annotated[
        str,
        typer.Option(
            help="for har: the tests that name it; for curl and python: the test that shows it",
            autocompletion=requirements,
        ),
    ] = "",
) -> None:
    """Write a report as SARIF, Markdown, badges, annotations or HAR, or a test as a script.

    The exit status is 2 where there is no report, or nothing can be written.
    """
    if form is Format.BADGES and output is None:
        raise typer.BadParameter("badges are several files: give a folder with --output")
    if form in _SCRIPTS and not requirement:
        raise typer.BadParameter("a script is of one test: give --requirement, such as QUO-031")
    try:
        if form is Format.BADGES and output is not None:
            images = badges(read_report(folder))
            put({output / name: image for name, image in images.items()})
        else:
            _write(_pieces(form, folder, requirement), output)
    except (FolderError, NoRun, UnusableReport) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    except OSError as error:
        typer.echo(f"{output}: {error.strerror or error}", err=True)
        raise typer.Exit(2) from error


def _pieces(form: Format, folder: Path, requirement: str) -> Iterable[str]:
    """Return the text of a format that is one file, in pieces."""
    if form is Format.HAR:
        return as_har(exchanges(folder, requirement))
    report = read_report(folder)
    match form:
        case Format.CURL | Format.PYTHON:
            chain = exchanges_that_show(folder, requirement)
            return [_SCRIPTS[form](chain, report.run.base_url, report.run.credentials)]
        case Format.SARIF:
            return [as_sarif(report)]
        case Format.MARKDOWN:
            return [as_markdown(report)]
    return (f"{line}\n" for line in as_annotations(report))


def _write(pieces: Iterable[str], output: Path | None) -> None:
    if output is None:
        for piece in pieces:
            typer.echo(piece, nl=False)
        return
    with output.open("w", encoding="utf-8", errors="backslashreplace") as file:
        file.writelines(pieces)
