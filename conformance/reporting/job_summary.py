"""The report in short as Markdown, for the summary of a job of CI."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from conformance.reporting.digest import counted, duration, groups, headline, outdated
from conformance.reporting.markdown import escaped, table
from conformance.reporting.report import Report
from conformance.verdict.claims import ClassVerdict
from conformance.verdict.plan import RequirementVerdict

VARIABLE = "GITHUB_STEP_SUMMARY"
"""The environment variable that names the file of a job's summary."""

_MAX_CAUSES = 50
_MAX_IDS = 10


def as_markdown(report: Report) -> str:
    """Return the verdict, the classes, the causes of failures and what is open."""
    run = report.run
    lines = [f"## {escaped(headline(report))}", ""]
    if run.interrupted is not None:
        lines += [f"**The run ended early:** {escaped(run.interrupted)}", ""]
    requests = "" if run.requests is None else f", {run.requests} requests"
    told = f"{run.base_url} ({run.environment}), in {duration(run.seconds)}{requests}"
    lines += [escaped(told), ""]
    lines += [f"- {escaped(text)}" for text in outdated(report)]
    concerned = report.classes_concerned()
    shown = [one for one in concerned if one.verdict is not ClassVerdict.NOT_CLAIMED]
    lines += ["", "### Conformance classes", ""]
    lines += table(
        ("Class", "Verdict", "Exercised"),
        ((one.title, one.verdict, f"{one.exercised.percent} %") for one in shown),
    )
    if report.causes:
        lines += ["", f"### {counted(len(report.causes), 'cause')} of what is broken", ""]
        lines += table(
            ("Verdict", "Cause", "Requirements"),
            (
                (cause.verdict, cause.told, _ids(cause.requirements))
                for cause in report.causes[:_MAX_CAUSES]
            ),
        )
        if len(report.causes) > _MAX_CAUSES:
            lines += ["", f"and {len(report.causes) - _MAX_CAUSES} more, see the report"]
    open_groups = [
        (verdict, group)
        for verdict in (RequirementVerdict.INCONCLUSIVE, RequirementVerdict.NOT_EXERCISED)
        for group in groups(report, verdict)
    ]
    if open_groups:
        lines += ["", "### What was not decided", ""]
        lines += table(
            ("Verdict", "Requirements", "Why", "What to do"),
            (
                (verdict, len(group.entries), group.reason, group.advice)
                for verdict, group in open_groups[:_MAX_CAUSES]
            ),
        )
    return "\n".join(lines) + "\n"


def append_to_job(report: Report, environment: Mapping[str, str]) -> None:
    """Append the summary to the file that CI names, if it names one.

    Raises:
        OSError: it cannot be written.
    """
    if file := environment.get(VARIABLE):
        with Path(file).open("a", encoding="utf-8") as summary:
            summary.write(as_markdown(report))


def _ids(identifiers: tuple[str, ...]) -> str:
    more = len(identifiers) - _MAX_IDS
    return ", ".join(identifiers[:_MAX_IDS]) + (f" and {more} more" if more > 0 else "")
