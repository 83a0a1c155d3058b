"""The report as one HTML file for a person."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template

from conformance.client.folder import GENERATOR
from conformance.contract.catalogue import Level
from conformance.reporting.digest import Told, duration, groups, headline
from conformance.reporting.report import Report
from conformance.verdict.plan import RunVerdict, Status

_SYMBOLS: Mapping[str, str] = {
    Status.PASSED: "✓",
    Status.FAILED: "✗",
    Status.WARNED: "!",
    Status.INCONCLUSIVE: "?",
    Status.NOT_EXERCISED: "○",
    Status.UNTESTABLE: "∅",
    RunVerdict.CONFORMANT: "✓",
    RunVerdict.NOT_CONFORMANT: "✗",
}
_PROPER: Mapping[str, str] = {
    "africa": "Africa",
    "americas": "Americas",
    "asia": "Asia",
    "europe": "Europe",
    "kyc": "KYC",
    "sca": "SCA",
}
"""Words of the catalogue's parts that are written in another way in a text."""


def render(report: Report) -> str:
    """Return the report as one HTML file that loads nothing from anywhere."""
    page = _template().render(
        report=report,
        run=report.run,
        headline=headline(report),
        failed=report.of(Status.FAILED),
        warned=report.of(Status.WARNED),
        inconclusive=groups(report, Status.INCONCLUSIVE),
        not_exercised=groups(report, Status.NOT_EXERCISED),
        tally=report.tally(),
        Level=Level,
        Status=Status,
        symbols=_SYMBOLS,
        told=Told.from_detail,
        generator=GENERATOR,
    )
    return f"{page.strip()}\n"


@cache
def _template() -> Template:
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(duration=duration, moment=_moment, slug=_slug, part=_part)
    return environment.get_template("report.html.j2")


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _slug(words: str) -> str:
    return words.replace(" ", "-")


def _part(name: str) -> str:
    first, *others = name.split("_")
    return " ".join([_PROPER.get(first, first.capitalize()), *(_PROPER.get(w, w) for w in others)])
