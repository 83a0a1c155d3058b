"""The report as one HTML file for a person."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined, Template
from markupsafe import Markup

from conformance.contract.areas import areas
from conformance.contract.catalogue import Level
from conformance.exchange.folder import GENERATOR
from conformance.reporting.digest import duration, groups, headline, outdated, told
from conformance.reporting.machines import STYLES, machines_seen
from conformance.reporting.report import CauseEntry, Entry, Report
from conformance.verdict.claims import ClassVerdict
from conformance.verdict.gate import GateResult
from conformance.verdict.plan import RequirementVerdict

_SYMBOLS: Mapping[str, str] = {
    RequirementVerdict.PASSED: "✓",
    RequirementVerdict.FAILED: "✗",
    RequirementVerdict.WARNED: "!",
    RequirementVerdict.INCONCLUSIVE: "?",
    RequirementVerdict.NOT_EXERCISED: "○",
    RequirementVerdict.UNTESTABLE: "∅",
}
_TONES: Mapping[GateResult | ClassVerdict, RequirementVerdict] = {
    GateResult.CONFORMANT: RequirementVerdict.PASSED,
    GateResult.NO_NEW_FAILURE: RequirementVerdict.PASSED,
    GateResult.NOT_CONFORMANT: RequirementVerdict.FAILED,
    GateResult.BASELINE_OUTDATED: RequirementVerdict.FAILED,
    GateResult.INCONCLUSIVE: RequirementVerdict.INCONCLUSIVE,
    GateResult.TOO_LITTLE_EXERCISED: RequirementVerdict.FAILED,
    ClassVerdict.NOT_CLAIMED: RequirementVerdict.NOT_EXERCISED,
}
"""The verdict on a requirement whose colour and symbol stand for a result; words that are alike
in two vocabularies have one."""


def render(report: Report) -> str:
    """Return the report as one HTML file that loads nothing from anywhere."""
    of_area: dict[str, list[Entry]] = defaultdict(list)
    for entry in report.selected():
        of_area[entry.area].append(entry)
    page = template("report.html.j2").render(
        report=report,
        of_area=of_area,
        areas=areas().values(),
        run=report.run,
        headline=headline(report),
        told=told(report),
        failed=report.of(RequirementVerdict.FAILED),
        warned=report.of(RequirementVerdict.WARNED),
        outdated=outdated(report),
        entries={entry.id: entry for entry in report.requirements},
        failed_causes=_causes(report, RequirementVerdict.FAILED),
        warned_causes=_causes(report, RequirementVerdict.WARNED),
        inconclusive=groups(report, RequirementVerdict.INCONCLUSIVE),
        not_exercised=groups(report, RequirementVerdict.NOT_EXERCISED),
        tally=report.tally(),
        machines=machines_seen(report),
        styles=STYLES,
        Level=Level,
        RequirementVerdict=RequirementVerdict,
        symbols=_SYMBOLS,
        lead=_TONES[report.gate.result],
        class_badges=class_badges(report),
        badges=badges(),
        generator=GENERATOR,
    )
    return f"{page.strip()}\n"


def badges() -> dict[RequirementVerdict, Markup]:
    """Return each verdict as it is shown."""
    return {verdict: _badge(verdict, verdict) for verdict in RequirementVerdict}


def class_badges(report: Report) -> dict[str, Markup]:
    """Return the verdict on each conformance class as it is shown, by the name of the class."""
    return {one.name: _badge(one.verdict, _TONES[one.verdict]) for one in report.classes}


def _causes(report: Report, verdict: RequirementVerdict) -> list[CauseEntry]:
    return [cause for cause in report.causes if cause.verdict is verdict]


def _badge(word: str, tone: RequirementVerdict) -> Markup:
    """Return a verdict as it is shown: with the symbol and in the colour of ``tone``."""
    return Markup('<span class="badge {}"><span aria-hidden="true">{}</span> {}</span>').format(
        _slug(tone), _SYMBOLS[tone], word
    )


@cache
def template(name: str) -> Template:
    """Return a template of this folder."""
    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        duration=duration, milliseconds=_milliseconds, moment=_moment, slug=_slug
    )
    return environment.get_template(name)


def _moment(moment: datetime) -> str:
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _milliseconds(seconds: float) -> str:
    return f"{1000 * seconds:,.1f}"


def _slug(words: str) -> str:
    return words.replace(" ", "-")
