"""``payments-conformance diff``: what changed between two reports."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from conformance.reporting.changes import (
    UnusableReport,
    as_markdown,
    as_text,
    changes,
    read_report,
)


class Format(StrEnum):
    """How changes are written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


def diff(
    old: Annotated[Path, typer.Argument(help="report.json of the earlier run, or its folder")],
    new: Annotated[Path, typer.Argument(help="report.json of the later run, or its folder")],
    written: Annotated[
        Format, typer.Option("--format", help="text, json or markdown")
    ] = Format.TEXT,
) -> None:
    """Show what changed between two reports; fails for a new failure or a newly undecided one.

    The exit status is 0 without a regression, 1 with one, and 2 where a report cannot be read.
    """
    try:
        found = changes(read_report(old), read_report(new))
    except UnusableReport as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    match written:
        case Format.TEXT:
            text = as_text(found)
        case Format.JSON:
            text = found.model_dump_json(indent=2) + "\n"
        case Format.MARKDOWN:
            text = as_markdown(found)
    typer.echo(text, nl=False)
    raise typer.Exit(1 if found.regression else 0)
