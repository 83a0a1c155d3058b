"""The broken requirements of a report in SARIF 2.1.0, for code scanning."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.exchange.folder import GENERATOR
from conformance.reporting.report import BROKEN, CauseEntry, Entry, Report
from conformance.verdict.baseline import EntryState
from conformance.verdict.plan import RequirementVerdict

_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_LEVELS = {RequirementVerdict.FAILED: "error", RequirementVerdict.WARNED: "warning"}
_DOCUMENT = "specification"
"""The name of the document that the lines of requirements are lines of."""


def as_sarif(report: Report) -> str:
    """Return a SARIF log: a rule and a result for each broken requirement.

    A result is placed in the specification, as no source of the target is known. A known failure is
    suppressed, with its reason.
    """
    broken = [entry for entry in report.requirements if entry.verdict in BROKEN]
    causes = {name: cause for cause in report.causes for name in cause.requirements}
    run = report.run
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": GENERATOR,
                        "version": run.suite_version,
                        "rules": [_rule(entry) for entry in broken],
                    }
                },
                "invocations": [
                    {
                        "executionSuccessful": run.interrupted is None,
                        "commandLine": run.command,
                        "startTimeUtc": _moment(run.started.isoformat()),
                        "endTimeUtc": _moment(run.ended.isoformat()),
                    }
                ],
                "columnKind": "unicodeCodePoints",
                "results": list(_results(report, broken, causes)),
            }
        ],
    }
    return json.dumps(log, indent=2) + "\n"


def _moment(text: str) -> str:
    return text.replace("+00:00", "Z")


def _rule(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "shortDescription": {"text": entry.statement},
        "help": {"text": f"Specification: {entry.source}"},
        "defaultConfiguration": {"level": _LEVELS[entry.verdict]},
        "properties": {"level": entry.level, "area": entry.area, "classes": list(entry.classes)},
    }


def _results(
    report: Report, broken: list[Entry], causes: Mapping[str, CauseEntry]
) -> Iterator[dict[str, Any]]:
    known = {
        entry.id: entry
        for entry in (report.baseline.entries if report.baseline else ())
        if entry.state is EntryState.KNOWN
    }
    for number, entry in enumerate(broken):
        cause = causes[entry.id].told
        result: dict[str, Any] = {
            "ruleId": entry.id,
            "ruleIndex": number,
            "level": _LEVELS[entry.verdict],
            "message": {"text": "\n".join(dict.fromkeys(filter(None, (cause, entry.detail))))},
            "locations": [_location(entry)],
            "partialFingerprints": {"requirement/v1": entry.id},
            "properties": {"cause": cause, "tests": list(entry.tests)},
        }
        if report.baseline is not None:
            result["baselineState"] = "unchanged" if entry.id in known else "new"
        if entry.id in known:
            result["suppressions"] = [{"kind": "external", "justification": known[entry.id].reason}]
        yield result


def _location(entry: Entry) -> dict[str, Any]:
    return {
        "physicalLocation": {
            "artifactLocation": {"uri": _DOCUMENT},
            "region": {"startLine": min(entry.source.lines)},
        },
        "logicalLocations": [{"name": name, "kind": "function"} for name in entry.operations],
    }
