"""``payments-conformance merge``: one report of the shards of a run."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import pytest
import typer

from conformance.exchange.folder import FolderError, journals_of
from conformance.exit_status import EXIT_STATUS
from conformance.reporting.assemble import NoRun
from conformance.reporting.digest import headline
from conformance.reporting.merge import MergeRefused
from conformance.reporting.merge import merge as merged


def merge(
    folders: Annotated[
        list[Path], typer.Argument(metavar="DIR…", help="the report folder of each shard")
    ],
    *,
    into: Annotated[Path, typer.Option(metavar="DIR", help="the folder of the merged report")],
) -> None:
    """Make one report of the shards of a run, as one run would have made it.

    What a shard that is missing was going to decide is lost, and the run is not conformant then.
    The exit status is that of one run.
    """
    command = shlex.join(["payments-conformance", "merge", *map(str, folders), "--into", str(into)])
    for folder in folders:
        if not journals_of(folder):
            typer.echo(f"{folder} has no journal of a run: this shard is missing", err=True)
    try:
        made = merged(folders, into, command)
    except (FolderError, MergeRefused, NoRun) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(int(pytest.ExitCode.USAGE_ERROR)) from error
    if made.run.interrupted is not None:
        typer.echo(f"The run is not whole: {made.run.interrupted}")
    typer.echo(f"{headline(made)}\n{into / 'report.html'}")
    status = EXIT_STATUS[made.gate.result]
    # What a lost shard had to say of requirements that nobody names is not known either.
    is_open = status == pytest.ExitCode.OK and made.run.interrupted is not None
    raise typer.Exit(int(pytest.ExitCode.INTERRUPTED) if is_open else status)
