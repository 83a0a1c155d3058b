"""The tables of error codes and limits are complete; each row is checked or says why not."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
import yaml

from conformance.contract.catalogue import catalogue
from conformance.contract.data import SPEC
from conformance.contract.document import document
from conformance.contract.judge import Judge, error_codes, judge

CODES: list[dict[str, Any]] = yaml.safe_load((SPEC / "errors.yaml").read_text(encoding="utf-8"))
LIMITS: list[dict[str, Any]] = yaml.safe_load((SPEC / "limits.yaml").read_text(encoding="utf-8"))
STATED_LINES = range(485, 500)
"""The lines of the specification that state a limit each."""

CODES_BY_STATUS = {400: 60, 401: 7, 404: 23, 409: 2, 412: 1, 422: 7, 423: 1, 424: 6, 429: 1, 500: 2}
"""How many codes may come with each status.

The reasons for which a document is rejected count under 400 and 422."""

CODES_WITHOUT_STATUS = 7
"""The code whose status is not stated, and six that are reasons of failed payouts."""


def checked_requirements(row: dict[str, Any]) -> list[str]:
    """Return the requirements of a row that a check can decide."""
    return [i for i in row.get("requirements", ()) if catalogue()[i].untestable is None]


def parameters_of(rows: list[dict[str, Any]], key: str) -> list[Any]:
    """Return the rows of a table as parameters of a test."""
    return [pytest.param(row, id=str(row[key])) for row in rows]


@pytest.mark.parametrize("row", parameters_of(CODES, "code"))
class TestEachCode:
    """Each row of ``errors.yaml``."""

    def test_is_provoked_or_says_why_not(self, row: dict[str, Any]) -> None:
        """A code has a requirement that a check decides, or ``never_provoked`` with a reason."""
        assert ("never_provoked" in row) != bool(checked_requirements(row))

    def test_names_requirements_of_its_operations(self, row: dict[str, Any]) -> None:
        """Each operation that may answer with the code exists in the document."""
        assert set(row["operations"]) <= set(document().operations)

    def test_says_when_it_comes(self, row: dict[str, Any]) -> None:
        """``when`` is a sentence that ends with a full stop."""
        assert row["when"].endswith(".")


def test_no_code_stands_twice() -> None:
    """``errors.yaml`` has one row for each code."""
    assert len(error_codes()) == len(CODES)


def test_every_code_of_the_specification_is_there() -> None:
    """Each status has as many codes as the specification gives it."""
    counts = Counter(status for statuses in error_codes().values() for status in statuses)

    assert counts == CODES_BY_STATUS
    assert sum(not statuses for statuses in error_codes().values()) == CODES_WITHOUT_STATUS


@pytest.mark.parametrize("code", [row["code"] for row in CODES if row["statuses"]])
def test_the_judge_knows_the_status_of_each_code(code: str) -> None:
    """The judge takes a code under its own statuses, and reports it under another one."""
    right = error_codes()[code]
    wrong = next(status for status in (400, 404) if status not in right)

    assert all(_verdict(judge(), code, status) is True for status in right)
    assert _verdict(judge(), code, wrong) is False


def test_the_judge_leaves_a_code_without_a_status_alone() -> None:
    """The judge says nothing about a code without a stated status, nor about an unknown one."""
    assert _verdict(judge(), "END_USER_TERMS_NOT_ACCEPTED", 400) is None
    assert _verdict(judge(), "A_CODE_OF_ITS_OWN", 404) is None


def _verdict(judge: Judge, code: str, status: int) -> bool | None:
    """Return whether the judge takes a code under a status; ``None`` where it says nothing."""
    operation = next(o for o in document().operations.values() if o.response(status) is not None)
    body = {"code": code, "reason": "It is refused."}
    verdict = judge.response(operation, status, "application/json", body, intended=True)
    name = document().raw["x-judge"]["code-status"]
    return next((f.passed for f in verdict.findings if f.requirement == name), None)


@pytest.mark.parametrize("row", parameters_of(LIMITS, "limit"))
class TestEachLimit:
    """Each row of ``limits.yaml``."""

    def test_is_checked_or_says_why_not(self, row: dict[str, Any]) -> None:
        """A limit has a requirement that a check decides, or ``untestable`` with a reason."""
        assert ("untestable" in row) != bool(checked_requirements(row))

    def test_names_operations_of_the_document(self, row: dict[str, Any]) -> None:
        """Each operation that a limit names exists in the document."""
        assert set(row["operations"]) <= set(document().operations)


def test_no_limit_stands_twice() -> None:
    """``limits.yaml`` has one row for each limit."""
    assert [name for name, n in Counter(row["limit"] for row in LIMITS).items() if n > 1] == []


def test_every_limit_of_the_specification_is_there() -> None:
    """Each line of the specification that states a limit stands in a row."""
    assert set(STATED_LINES) <= {line for row in LIMITS for line in row["lines"]}


def test_every_limit_has_its_row() -> None:
    """Each testable ``LIM-`` requirement of the catalogue stands in a row of the table."""
    listed = {i for row in LIMITS for i in row.get("requirements", ())}
    limits = {e.id for e in catalogue().values() if e.id.startswith("LIM-") and not e.untestable}

    assert limits - listed == set()
