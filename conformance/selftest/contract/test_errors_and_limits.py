"""The tables of error codes and limits: complete, and checked by something or said why not."""

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
STATED = range(485, 500)
"""The lines of the specification that state a limit each."""

PLACED = {400: 60, 401: 7, 404: 23, 409: 4, 412: 1, 422: 7, 423: 1, 424: 6, 429: 1, 500: 2}
"""How many codes may come with each status: what is listed there, the reasons for which a document
is rejected under 400 and 422, and the two codes of an expired quote under 400 and 409."""

PLACELESS = 7
"""The code whose status is not stated, and six that are reasons of failed payouts."""


def checked_by(row: dict[str, Any]) -> list[str]:
    """Return the requirements of a row that a check decides."""
    return [i for i in row.get("requirements", ()) if catalogue()[i].untestable is None]


def ids(rows: list[dict[str, Any]], key: str) -> list[Any]:
    """Return the parameters of a test over a table."""
    return [pytest.param(row, id=str(row[key])) for row in rows]


@pytest.mark.parametrize("row", ids(CODES, "code"))
class TestEachCode:
    """A row of ``errors.yaml``."""

    def test_is_provoked_or_says_why_not(self, row: dict[str, Any]) -> None:
        """By a requirement that a check decides."""
        assert ("never_provoked" in row) != bool(checked_by(row))

    def test_names_requirements_of_its_operations(self, row: dict[str, Any]) -> None:
        """An operation that is said to answer with it is one that the document has."""
        assert set(row["operations"]) <= set(document().operations)

    def test_says_when_it_comes(self, row: dict[str, Any]) -> None:
        """In a sentence."""
        assert row["when"].endswith(".")


def test_no_code_stands_twice() -> None:
    """One row says all of it."""
    assert len(error_codes()) == len(CODES)


def test_every_code_of_the_specification_is_there() -> None:
    """As many as stand under each status."""
    placed = Counter(status for statuses in error_codes().values() for status in statuses)

    assert placed == PLACED
    assert sum(not statuses for statuses in error_codes().values()) == PLACELESS


@pytest.mark.parametrize("code", [row["code"] for row in CODES if row["statuses"]])
def test_the_judge_knows_the_status_of_each_code(code: str) -> None:
    """One under another status is found, wherever it comes."""
    right = error_codes()[code]
    wrong = next(status for status in (400, 404) if status not in right)

    assert all(_verdict(judge(), code, status) is True for status in right)
    assert _verdict(judge(), code, wrong) is False


def test_the_judge_leaves_a_code_without_a_status_alone() -> None:
    """It may come with any."""
    assert _verdict(judge(), "END_USER_TERMS_NOT_ACCEPTED", 400) is None
    assert _verdict(judge(), "A_CODE_OF_ITS_OWN", 404) is None


def _verdict(judge: Judge, code: str, status: int) -> bool | None:
    """Return whether the judge takes a code under a status, ``None`` where it says nothing."""
    operation = next(o for o in document().operations.values() if o.response(status) is not None)
    body = {"code": code, "reason": "It is refused."}
    verdict = judge.response(operation, status, "application/json", body, intended=True)
    name = document().raw["x-judge"]["code-status"]
    return next((f.passed for f in verdict.findings if f.requirement == name), None)


@pytest.mark.parametrize("row", ids(LIMITS, "limit"))
class TestEachLimit:
    """A row of ``limits.yaml``."""

    def test_is_checked_or_says_why_not(self, row: dict[str, Any]) -> None:
        """By a requirement that a check decides."""
        assert ("untestable" in row) != bool(checked_by(row))

    def test_names_operations_of_the_document(self, row: dict[str, Any]) -> None:
        """Nothing is limited that does not exist."""
        assert set(row["operations"]) <= set(document().operations)


def test_no_limit_stands_twice() -> None:
    """One row says all of it."""
    assert [name for name, n in Counter(row["limit"] for row in LIMITS).items() if n > 1] == []


def test_every_limit_of_the_specification_is_there() -> None:
    """Each line that states one stands in a row."""
    assert set(STATED) <= {line for row in LIMITS for line in row["lines"]}


def test_every_limit_has_its_row() -> None:
    """What the catalogue calls a limit and can be checked is in the table."""
    listed = {i for row in LIMITS for i in row.get("requirements", ())}
    limits = {e.id for e in catalogue().values() if e.id.startswith("LIM-") and not e.untestable}

    assert limits - listed == set()
