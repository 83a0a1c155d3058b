"""The console command: each of its commands, and what they print."""

from __future__ import annotations

import contextlib
import io
import itertools
import json
import os
import secrets
import subprocess
import sys
import textwrap
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup

from conformance.cli.new import new
from conformance.cli.terminal import is_coloured
from conformance.contract.bundle import as_json as json_of
from conformance.contract.bundle import as_yaml as yaml_of
from conformance.contract.bundle import bundled
from conformance.contract.document import document
from conformance.contract.outline import ledger

if TYPE_CHECKING:
    import pytest

    from conformance.verdict.plan import Plan

_PACKAGE = Path(__file__).parents[1]
_WIDTH = 100

_LATE = {
    "diff": "conformance.cli.diff",
    "export": "conformance.cli.export",
    "explain": "conformance.cli.explain",
    "merge": "conformance.cli.merge",
    "verify": "conformance.cli.verify",
    "doctor": "conformance.cli.doctor",
    "init": "conformance.cli.init",
    "mutants": "conformance.proof.mutation",
    "variants": "conformance.proof.tolerance",
    "personas": "conformance.proof.personas",
    "features": "conformance.proof.features",
    "generate": "conformance.cli.generate",
}
"""Commands by the modules that have them, which are imported where the command is asked for."""

FOR_CONTRIBUTORS = "For contributors"
FOR_REPORTS = "Reports"

_PANELS = {
    **dict.fromkeys(("diff", "export", "merge", "verify"), FOR_REPORTS),
    **dict.fromkeys(("mutants", "variants", "personas", "features", "generate"), FOR_CONTRIBUTORS),
}
"""Under which heading a late command is told, if under none of its own."""


class _Commands(TyperGroup):
    """The commands, some of which are imported when they are asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of all commands."""
        return [*super().list_commands(ctx), *_LATE]

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a command; help obeys the same variables of colour as all else."""
        if (wanted := is_coloured()) is None:
            return super().main(*args, **options)
        from typer import rich_utils  # noqa: PLC0415 - help alone needs it

        usual = rich_utils.FORCE_TERMINAL
        rich_utils.FORCE_TERMINAL = wanted
        try:
            return super().main(*args, **options)
        finally:
            rich_utils.FORCE_TERMINAL = usual

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command by its name."""
        if cmd_name not in _LATE:
            return super().get_command(ctx, cmd_name)
        late = typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        command = getattr(import_module(_LATE[cmd_name]), cmd_name)
        late.command(cmd_name, rich_help_panel=_PANELS.get(cmd_name))(command)
        return typer.main.get_command(late)


app = typer.Typer(
    cls=_Commands,
    help="Conformance suite for a payments interface.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def run(context: typer.Context) -> None:
    """Run the suite; everything after `run` goes to pytest, for example --base-url=URL."""
    if find_spec("xdist") is None and any(word.startswith("-n") for word in context.args):
        # pytest knows no such option then, and would not say where to get it.
        typer.echo(
            "-n needs pytest-xdist: install this package again with [parallel] behind its name",
            err=True,
        )
        raise typer.Exit(4)
    # A pytest of its own rewrites the suite's assertions, and takes the current folder as its root.
    command = [sys.executable, "-P", "-m", "pytest", "--pyargs", "conformance", *context.args]
    os.execv(sys.executable, command)  # noqa: S606 - this very program


@app.command()
def serve(
    port: Annotated[int, typer.Option(help="0 takes a free one")] = 8080,
    database_url: Annotated[
        str, typer.Option(help="any SQLAlchemy URL; by default a database in memory")
    ] = "sqlite://",
    settlement_seconds: Annotated[
        float, typer.Option(help="time from the execution of a quote to the rail's result")
    ] = 0.02,
) -> None:
    """Run the reference implementation as a sandbox, until Ctrl-C.

    The credentials come from PAYMENTS_API_TOKEN_ID and PAYMENTS_API_CLIENT_SECRET; without
    them fresh ones are made. They are printed once, for the shell of the client.
    """
    names = ("PAYMENTS_API_TOKEN_ID", "PAYMENTS_API_CLIENT_SECRET")
    fresh = (f"token-{secrets.token_hex(8)}", secrets.token_urlsafe(32))
    credentials = {
        name: os.environ.get(name) or value for name, value in zip(names, fresh, strict=True)
    }
    command = [
        sys.executable,
        "-m",
        "conformance.reference.server",
        f"--port={port}",
        f"--database-url={database_url}",
        f"--settlement-seconds={settlement_seconds}",
        # It ends with this process in any case, also when that is killed.
        "--exit-with-parent",
    ]
    with subprocess.Popen(  # noqa: S603 - this very program
        command,
        env={**os.environ, **credentials},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        first = server.stdout.readline() if server.stdout else ""
        if not first:
            raise typer.Exit(server.wait())
        try:
            typer.echo(f"base URL: {json.loads(first)['base_url']}")
            for name, value in credentials.items():
                typer.echo(f"export {name}={value}")
            typer.echo("Ctrl-C stops it.")
            code = server.wait()
        except KeyboardInterrupt:
            # The server got the same signal and ends by itself.
            code = 0 if server.wait() in (0, -2) else 1
    raise typer.Exit(code)


class _Planner:
    """The pytest plugin that keeps the plan of a collection."""

    plan: Plan | None = None
    requests = 0
    """About how many requests the collected tests send."""
    unbound: Sequence[str] = ()
    """The bindings that the profile leaves at null."""

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        from conformance.effort import expected_requests  # noqa: PLC0415 - as below
        from conformance.plugin import SESSION  # noqa: PLC0415 - with pytest, half a second

        run = session.config.stash[SESSION]
        self.plan = run.plan()
        self.unbound = [name for name, value in run.profile.bindings if value is None]
        needed = {
            test for one in self.plan.entries.values() if not one.reason for test in one.tests
        }
        self.requests = expected_requests(needed, session.config.option.fuzz_examples)


@app.command(context_settings={"allow_extra_args": True, "ignore_unknown_options": True})
def plan(
    context: typer.Context,
    *,
    round_trip: Annotated[
        float, typer.Option(min=0, metavar="SECONDS", help="how long an answer takes to come")
    ] = 0.05,
    workers: Annotated[int, typer.Option(min=1, help="the -n of the run that is meant")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="print the plan as JSON")] = False,
) -> None:
    """Show what a run would decide, without sending anything; other options go to pytest."""
    import pytest  # noqa: PLC0415 - half a second that other commands do not need

    from conformance.effort import minutes  # noqa: PLC0415 - likewise

    planner = _Planner()
    # What would be told of tests that leave something behind takes most of half a second.
    silent = ("-pno:threadexception", "-pno:unraisableexception")
    arguments = [*_suite(), "--collect-only", "-Wignore", *silent, *context.args]
    with contextlib.redirect_stdout(io.StringIO()) as output:
        status = pytest.main(arguments, plugins=[planner])
    if planner.plan is None:
        typer.echo(output.getvalue(), err=True)
        raise typer.Exit(int(status) or 1)
    entries = planner.plan.entries.values()
    undecided = [entry for entry in entries if entry.reason is not None]
    untestable = [entry for entry in entries if entry.requirement.untestable is not None]
    to_decide = planner.plan.to_decide()
    if as_json:
        content = {
            "to_decide": [
                {"id": name, "tests": list(planner.plan.entries[name].tests)} for name in to_decide
            ],
            "not_decided": [
                {"id": entry.requirement.id, "reason": entry.reason, "detail": entry.detail}
                for entry in undecided
            ],
            "untestable": [entry.requirement.id for entry in untestable],
            "null_bindings": list(planner.unbound),
            "requests": planner.requests,
        }
        typer.echo(json.dumps(content, indent=2))
        return
    typer.echo(f"{len(to_decide)} requirements would be decided:")
    for area, count in Counter(
        planner.plan.entries[name].requirement.area for name in to_decide
    ).items():
        typer.echo(f"  {area:20}{count:5}")
    typer.echo(f"{len(undecided)} would not be decided:")
    for (reason, detail), count in Counter((e.reason, e.detail) for e in undecided).items():
        typer.echo(f"  {count:5}  {reason}" + (f": {detail}" if detail else ""))
    typer.echo(f"{len(untestable)} cannot be tested by any client.")
    if planner.unbound:
        telling = (
            "Bindings that are null, so that a check which needs one of them has nothing to "
            f"decide: {', '.join(planner.unbound)}."
        )
        typer.echo(textwrap.fill(telling, _WIDTH, break_on_hyphens=False))
    waiting = minutes(planner.requests, round_trip, workers)
    typer.echo(
        f"About {planner.requests} requests: with a round trip of {round_trip * 1000:g} ms and "
        f"{workers} workers their answers take {waiting:.1f} minutes, beside other waiting."
    )


@app.command(rich_help_panel=FOR_CONTRIBUTORS)
def coverage(
    lines: Annotated[
        str, typer.Option(help="only these lines of the specification, for example 40-60")
    ] = "",
    as_json: Annotated[bool, typer.Option("--json", help="print the ledger as JSON")] = False,
) -> None:
    """Show for each line of the specification the entries that come from it; fails for a gap."""
    first, _, last = lines.partition("-")
    if lines and not (first.isdigit() and (last or first).isdigit()):
        raise typer.BadParameter(f"expected a line or first-last, got {lines!r}")
    wanted = range(int(first), int(last or first) + 1) if lines else None
    shown = [line for line in ledger() if wanted is None or line.number in wanted]
    gaps = [line for line in shown if not line.accounted]
    if as_json:
        typer.echo(json.dumps([asdict(line) for line in shown], indent=2))
    else:
        for section, of_section in itertools.groupby(shown, lambda line: line.section):
            typer.echo(section)
            for line in of_section:
                entries = ", ".join(_ranges((*line.requirements, *line.unspecified))) or "nothing"
                typer.echo(
                    textwrap.fill(
                        f"{line.number:5}  {entries}",
                        _WIDTH,
                        subsequent_indent=" " * 7,
                        break_on_hyphens=False,
                    )
                )
        stated = sum(bool(line.requirements) for line in shown)
        typer.echo(
            f"Lines that state something: {len(shown)}. With requirements: {stated}. "
            f"Only left open: {len(shown) - stated - len(gaps)}. Neither: {len(gaps)}."
        )
    raise typer.Exit(1 if gaps else 0)


def _ranges(identifiers: Iterable[str]) -> Iterator[str]:
    """Yield the ids in their order, those that follow each other as ``QUO-001…QUO-003``."""
    numbered = enumerate(sorted(set(identifiers)))
    for _, run in itertools.groupby(
        numbered, lambda item: (item[1].rstrip("0123456789"), _number(item[1]) - item[0])
    ):
        first, *others = (identifier for _, identifier in run)
        yield f"{first}…{others[-1]}" if others else first


def _number(identifier: str) -> int:
    return int(identifier.lstrip("ABCDEFGHIJKLMNOPQRSTUVWXYZ-"))


@app.command(rich_help_panel=FOR_REPORTS)
def report(
    folder: Annotated[
        Path, typer.Argument(help="the report folder of a run, with its journal")
    ] = Path("reports/latest"),
) -> None:
    """Make the report of a run anew from its journal, also of a run that was killed."""
    from conformance.exchange.folder import FolderError, writing_to  # noqa: PLC0415 - as above
    from conformance.exit_status import EXIT_STATUS  # noqa: PLC0415 - as above
    from conformance.reporting.assemble import (  # noqa: PLC0415 - as above
        NoRun,
        assemble,
        publish,
    )
    from conformance.reporting.digest import headline  # noqa: PLC0415 - as above

    try:
        made = assemble(folder)
        with writing_to(folder):
            publish(made, folder)
    except (FolderError, NoRun) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    if made.run.interrupted is not None:
        typer.echo(f"The run ended early: {made.run.interrupted}")
    typer.echo(f"{headline(made)}\n{folder / 'report.html'}")
    raise typer.Exit(EXIT_STATUS[made.gate.result])


@app.command(rich_help_panel=FOR_REPORTS)
def compare(
    folders: Annotated[
        list[Path] | None,
        typer.Argument(help="folders of reports; by default those below reports/, but latest"),
    ] = None,
    *,
    output: Annotated[Path, typer.Option(help="the page")] = Path("reports/compare.html"),
) -> None:
    """Make one page of the reports of several implementations, side by side."""
    from conformance.reporting.changes import UnusableReport  # noqa: PLC0415 - as above
    from conformance.reporting.compare import (  # noqa: PLC0415 - as above
        NoReports,
        read_columns,
    )
    from conformance.reporting.compare import compare as compared  # noqa: PLC0415 - as above
    from conformance.reporting.files import put  # noqa: PLC0415 - as above

    submitted = (path.parent for path in Path("reports").glob("*/report.json*"))
    chosen = folders or [folder for folder in {*submitted} if folder.name != "latest"]
    try:
        put({output: compared(read_columns(chosen, output))})
    except (NoReports, UnusableReport) as error:
        typer.echo(str(error), err=True)
        raise typer.Exit(2) from error
    except OSError as error:
        raise typer.BadParameter(f"{output}: {error.strerror}") from error
    typer.echo(str(output))


@app.command()
def spec(
    file: Annotated[
        Path | None, typer.Argument(help="where the bundle is written; printed without it")
    ] = None,
    bundle: Annotated[bool, typer.Option("--bundle", help="write it as one file")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="as JSON instead of YAML")] = False,
) -> None:
    """Tell where the OpenAPI document is; with --bundle, write the whole of it as one file."""
    if not bundle:
        if file is not None or as_json:
            raise typer.BadParameter("the document is written with --bundle alone")
        typer.echo(document().entry)
        return
    text = (json_of if as_json else yaml_of)(bundled(document()))
    if file is None:
        typer.echo(text, nl=False)
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{file}: {error.strerror}") from error


def _suite() -> list[str]:
    return [str(_PACKAGE / "scenarios"), str(_PACKAGE / "fuzz")]


app.add_typer(new, name="new", rich_help_panel=FOR_CONTRIBUTORS)
