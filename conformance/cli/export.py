"""``payments-conformance export``: a report in the formats of other tools."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from conformance.exchange.folder import FolderError
from conformance.reporting.annotations import as_annotations
from conformance.reporting.assemble import NoRun, exchanges
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
    ANNOTATIONS = "annotations"


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
        str, typer.Option(help="for har: only the tests that name this requirement")
    ] = "",
) -> None:
    """Write a report as SARIF, Markdown for a job, badges, annotations for GitHub, or HAR.

    The exit status is 2 where there is no report, or nothing can be written.
    """
    if form is Format.BADGES and output is None:
        raise typer.BadParameter("badges are several files: give a folder with --output")
    try:
        if form is Format.HAR:
            _write(as_har(exchanges(folder, requirement)), output)
            return
        report = read_report(folder)
        match form:
            case Format.SARIF:
                _write([as_sarif(report)], output)
            case Format.MARKDOWN:
                _write([as_markdown(report)], output)
            case Format.ANNOTATIONS:
                _write((f"{line}\n" for line in as_annotations(report)), output)
            case Format.BADGES if output is not None:
                put({output / name: image for name, image in badges(report).items()})
    except (FolderError, NoRun, UnusableReport) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    except OSError as error:
        typer.echo(f"{output}: {error.strerror or error}", err=True)
        raise typer.Exit(2) from error


def _write(pieces: Iterable[str], output: Path | None) -> None:
    if output is None:
        for piece in pieces:
            typer.echo(piece, nl=False)
        return
    with output.open("w", encoding="utf-8", errors="backslashreplace") as file:
        file.writelines(pieces)
