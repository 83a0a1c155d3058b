"""The in-toto statement of a run, for whatever the CI signs with.

The predicate is a test result: https://in-toto.io/attestation/test-result/v0.1
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from conformance.reporting.report import Report
from conformance.verdict.plan import RequirementVerdict, TargetVerdict

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "https://in-toto.io/attestation/test-result/v0.1"


def statement(report: Report, texts: Mapping[str, str]) -> str:
    """Return the statement about a run, as JSON.

    Its subjects are the report and the journals. Requirements are its tests. A run without a
    verdict has failed: whoever gates on the statement must not take it for a pass.

    Args:
        report: what the run found out.
        texts: the files of the report by their names.
    """
    ids = {
        verdict: [entry.id for entry in report.of(verdict)]
        for verdict in (
            RequirementVerdict.PASSED,
            RequirementVerdict.WARNED,
            RequirementVerdict.FAILED,
        )
    }
    digests = report.digests
    journals = dict(digests.journals) if digests else {}
    content = {
        "_type": STATEMENT_TYPE,
        "subject": [
            *(
                _resource(name, hashlib.sha256(text.encode()).hexdigest())
                for name, text in texts.items()
            ),
            *(_resource(f"journal/{name}", digest) for name, digest in journals.items()),
        ],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "result": _result(report),
            "configuration": [
                {
                    "name": f"payments-conformance {report.run.suite_version}",
                    **({"digest": {"sha256": digests.catalogue}} if digests else {}),
                    "annotations": {
                        "specification": report.run.specification_version,
                        "implementation": report.run.implementation,
                        "implementationVersion": report.run.implementation_version,
                        "verdict": report.verdict.value,
                    },
                }
            ],
            "passedTests": ids[RequirementVerdict.PASSED],
            "warnedTests": ids[RequirementVerdict.WARNED],
            "failedTests": ids[RequirementVerdict.FAILED],
        },
    }
    return json.dumps(content, indent=2) + "\n"


def _result(report: Report) -> str:
    if report.verdict is not TargetVerdict.CONFORMANT:
        return "FAILED"
    return "WARNED" if report.of(RequirementVerdict.WARNED) else "PASSED"


def _resource(name: str, sha256: str) -> dict[str, Any]:
    return {"name": name, "digest": {"sha256": sha256}}
