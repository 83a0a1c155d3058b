"""The judge: which requirement a message counts against, and which it does not decide."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from conformance.contract.document import Document, Operation
from conformance.contract.judge import Finding, Judge, MessageFindings, SchemaJudge
from conformance.contract.judge import judge as shipped_judge

IDS = {"status": "CNV-001", "media-type": "CNV-002", "schema": "CNV-003", "code-status": "CNV-010"}
JSON = "application/json"

QUOTE = {
    "type": "object",
    "required": ["id", "amount", "note"],
    "properties": {
        "id": {"x-requirement": ["QUO-001", "CNV-019"], "type": "string", "pattern": "^Quote:.+$"},
        "status": {"type": "string"},
        "amount": {
            "x-requirement": "QUO-009",
            "type": "object",
            "required": ["value"],
            "properties": {
                "value": {"x-requirement": "QUO-010", "type": "integer"},
                "unit": {"type": "string"},
            },
        },
        "note": {"type": "string"},
        "label": {"x-requirement": "QUO-015", "type": ["string", "null"]},
        "steps": {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"name": {"x-requirement": "QUO-018", "type": "string"}},
            },
        },
    },
    "allOf": [
        {
            "x-requirement": "QUO-020",
            "if": {"required": ["status"], "properties": {"status": {"const": "WAITING"}}},
            "then": {"required": ["challenge"]},
        }
    ],
}
GOOD: dict[str, Any] = {"id": "Quote:1", "amount": {"value": 1}, "note": "n"}
BARE = {"type": "array", "items": QUOTE}
PAGE = {"type": "object", "required": ["data"], "properties": {"data": BARE}}
LIST = {"anyOf": [BARE, {"type": "object", "properties": {"data": BARE}}]}
ERROR = {
    "type": "object",
    "x-requirement": "CNV-004",
    "required": ["code"],
    "properties": {"code": {"x-requirement": "CNV-005", "type": "string"}},
}


def content(schema: Any) -> dict[str, Any]:
    """Return a response or a request body of a schema."""
    return {"content": {JSON: {"schema": schema}}}


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """The judge of a small document with one operation and one webhook."""
    operation = {
        "operationId": "createQuote",
        "requestBody": {
            "required": True,
            **content({"type": "object", "required": ["amount"], "properties": {}}),
        },
        "responses": {"201": content(QUOTE), "204": {}, "400": content(ERROR)},
    }
    listed = {"operationId": "list", "responses": {"200": content(LIST), "203": content(PAGE)}}
    entry = {
        "x-judge": IDS,
        "paths": {"/quotes": {"post": operation, "get": listed}},
        "webhooks": {"PAYMENT.DONE": {"post": {"requestBody": content(QUOTE)}}},
    }
    path = tmp_path / "openapi.yaml"
    path.write_text(yaml.safe_dump(entry, sort_keys=False), encoding="utf-8")
    statuses = {"INVALID_INPUT": frozenset({400}), "LOCKED": frozenset({423})}
    return Judge(Document(path), statuses)


@pytest.fixture
def operation(judge: Judge) -> Operation:
    """The operation of the small document."""
    return judge.document.operations["createQuote"]


def passed(findings: Any) -> set[str]:
    """Return the requirements that passed."""
    return {finding.requirement for finding in findings if finding.passed}


def failed(findings: Any) -> dict[str, str]:
    """Return the requirements that failed, each with what is said about it."""
    return {finding.requirement: finding.detail for finding in findings if not finding.passed}


class TestAttribution:
    """A violation counts against the innermost annotation that it lies in."""

    judge = SchemaJudge(QUOTE, "CNV-003")

    def findings(self, **members: Any) -> list[Finding]:
        """Return the findings on the good value with other members; ``...`` leaves one out."""
        value = {k: v for k, v in {**GOOD, **members}.items() if v is not ...}
        return list(self.judge.judge(value))

    def test_a_valid_value_passes_what_it_decides(self) -> None:
        """An absent optional member decides nothing, and no more does a condition not met."""
        findings = self.findings()

        assert failed(findings) == {}
        assert passed(findings) == {"CNV-003", "QUO-001", "CNV-019", "QUO-009", "QUO-010"}

    def test_the_innermost_annotation_is_blamed(self) -> None:
        """Those around it are not broken by it."""
        findings = self.findings(amount={"value": "1"})

        assert failed(findings) == {"QUO-010": 'amount.value: "1" is not of type "integer"'}
        assert passed(findings) == {"CNV-003", "QUO-001", "CNV-019", "QUO-009"}

    def test_an_annotation_is_blamed_for_what_stands_in_it_unannotated(self) -> None:
        """A member without an annotation of its own belongs to the one around it."""
        findings = self.findings(amount={"value": 1, "unit": 7})

        assert set(failed(findings)) == {"QUO-009"}
        assert "QUO-010" in passed(findings)

    def test_one_failure_does_not_hide_the_next(self) -> None:
        """Neither one beside it, nor one around it, nor one outside of every annotation."""
        findings = self.findings(id="1", amount={"value": "1", "unit": 7}, note=7)

        assert set(failed(findings)) == {"QUO-001", "CNV-019", "QUO-009", "QUO-010", "CNV-003"}
        assert passed(findings) == set()

    def test_a_missing_required_member_counts_against_its_own_annotation(self) -> None:
        """The requirement of the member says that it is there."""
        findings = self.findings(id=...)

        assert failed(findings) == {"QUO-001": "id is missing", "CNV-019": "id is missing"}

    def test_a_missing_member_of_a_member_counts_against_its_own_annotation(self) -> None:
        """At any depth."""
        assert failed(self.findings(amount={})) == {"QUO-010": "amount.value is missing"}

    def test_a_missing_required_member_without_annotation_counts_against_the_schema(self) -> None:
        """The requirement that holds for every message takes what no other takes."""
        findings = self.findings(note=...)

        assert failed(findings) == {"CNV-003": '"note" is a required property'}

    def test_null_in_a_required_member_fails(self) -> None:
        """There is nothing there."""
        assert set(failed(self.findings(id=None))) == {"QUO-001", "CNV-019"}

    def test_null_in_an_optional_member_decides_nothing(self) -> None:
        """Null and absent are alike."""
        findings = self.findings(label=None)

        assert failed(findings) == {}
        assert "QUO-015" not in passed(findings)

    def test_a_present_optional_member_is_decided(self) -> None:
        """Either way."""
        assert "QUO-015" in passed(self.findings(label="mine"))
        assert set(failed(self.findings(label=7))) == {"QUO-015"}

    def test_members_of_lists_are_judged(self) -> None:
        """One wrong one is enough."""
        assert "QUO-018" in passed(self.findings(steps=[{"name": "a"}, {}]))
        assert "QUO-018" not in passed(self.findings(steps=[]))
        assert set(failed(self.findings(steps=[{"name": "a"}, {"name": 7}]))) == {"QUO-018"}

    def test_a_condition_that_is_met_is_decided(self) -> None:
        """One that is not decides nothing."""
        met = self.findings(status="WAITING", challenge={})
        broken = self.findings(status="WAITING")
        other = self.findings(status="DONE")

        assert "QUO-020" in passed(met)
        assert failed(broken) == {"QUO-020": '"challenge" is a required property'}
        assert "QUO-020" not in passed(other) | set(failed(other))

    @pytest.mark.parametrize("value", [None, [], "text", 7])
    def test_a_value_of_another_kind_fails_as_a_whole(self, value: Any) -> None:
        """Nothing in it can be decided."""
        findings = list(self.judge.judge(value))

        assert set(failed(findings)) == {"CNV-003"}
        assert passed(findings) == set()

    def test_an_annotation_on_the_whole_takes_the_place_of_the_general_one(self) -> None:
        """The schema of errors has one."""
        findings = list(SchemaJudge(ERROR, "CNV-003").judge([]))

        assert set(failed(findings)) == {"CNV-004"}
        assert passed(findings) == {"CNV-003"}

    def test_alternatives_are_judged_where_they_apply(self) -> None:
        """A list may stand bare or under data."""
        item = {"type": "object", "properties": {"id": {"x-requirement": "T-1", "type": "string"}}}
        bare = {"type": "array", "items": item}
        wrapped = {"type": "object", "required": ["data"], "properties": {"data": bare}}
        judge = SchemaJudge({"oneOf": [bare, wrapped]}, "CNV-003")

        assert "T-1" in passed(judge.judge([{"id": "a"}]))
        assert "T-1" in passed(judge.judge({"data": [{"id": "a"}]}))
        assert set(failed(judge.judge({"data": [{"id": 7}]}))) == {"T-1"}
        assert set(failed(judge.judge({"items": []}))) == {"CNV-003"}


class TestResponses:
    """Status, media type, body and error code of a response."""

    def judged(
        self, judge: Judge, operation: Operation, status: int, **more: Any
    ) -> MessageFindings:
        """Judge a response that is good but for what is given."""
        response = {"media_type": JSON, "body": GOOD, "intended": True, **more}
        return judge.response(operation, status, **response)

    def test_a_good_response_passes(self, judge: Judge, operation: Operation) -> None:
        """Status, media type and schema each have a requirement of their own."""
        verdict = self.judged(judge, operation, 201)

        assert {"CNV-001", "CNV-002", "CNV-003"} <= passed(verdict.findings)
        assert failed(verdict.findings) == {}
        assert verdict.observations == ()

    def test_an_undocumented_status_for_a_valid_request_fails(
        self, judge: Judge, operation: Operation
    ) -> None:
        """The documented ones are named."""
        verdict = self.judged(judge, operation, 418)

        assert verdict.findings == (
            Finding(
                "CNV-001",
                passed=False,
                detail="createQuote answered 418; documented are 201, 204, 400",
            ),
        )

    def test_an_undocumented_client_error_for_an_invalid_request_is_an_observation(
        self, judge: Judge, operation: Operation
    ) -> None:
        """Outside of the document, servers may refuse as they like."""
        verdict = self.judged(judge, operation, 415, intended=False)

        assert verdict.findings == ()
        assert verdict.observations == ("createQuote answered 415, which it does not list",)

    @pytest.mark.parametrize("status", [200, 302, 500])
    def test_any_other_undocumented_status_for_an_invalid_request_fails(
        self, judge: Judge, operation: Operation, status: int
    ) -> None:
        """It is no refusal."""
        verdict = self.judged(judge, operation, status, intended=False)

        assert set(failed(verdict.findings)) == {"CNV-001"}

    def test_a_wrong_media_type_fails(self, judge: Judge, operation: Operation) -> None:
        """And its body is not looked at."""
        verdict = self.judged(judge, operation, 201, media_type="text/html")

        assert failed(verdict.findings) == {
            "CNV-002": "createQuote answered 201 with text/html; documented is application/json"
        }
        assert passed(verdict.findings) == {"CNV-001"}

    def test_a_body_that_is_no_json_fails(self, judge: Judge, operation: Operation) -> None:
        """Whatever its media type says."""
        verdict = self.judged(judge, operation, 201, body=None, is_json=False)

        assert "a body that is not JSON" in failed(verdict.findings)["CNV-002"]

    def test_a_missing_body_fails(self, judge: Judge, operation: Operation) -> None:
        """A response that is documented with one has one."""
        verdict = self.judged(judge, operation, 201, media_type="", body=None)

        assert "no media type" in failed(verdict.findings)["CNV-002"]

    def test_a_response_without_content_needs_none(
        self, judge: Judge, operation: Operation
    ) -> None:
        """Its status is all there is to judge."""
        verdict = self.judged(judge, operation, 204, media_type="", body=None)

        assert passed(verdict.findings) == {"CNV-001"}

    def test_a_code_with_its_status_passes(self, judge: Judge, operation: Operation) -> None:
        """As the table of errors says."""
        verdict = self.judged(judge, operation, 400, body={"code": "INVALID_INPUT"})

        assert "CNV-010" in passed(verdict.findings)

    def test_a_code_with_another_status_fails(self, judge: Judge, operation: Operation) -> None:
        """The status that it belongs to is named."""
        verdict = self.judged(judge, operation, 400, body={"code": "LOCKED"})

        assert failed(verdict.findings) == {"CNV-010": "LOCKED came with 400; its status is 423"}

    def test_an_unknown_code_decides_nothing(self, judge: Judge, operation: Operation) -> None:
        """The list of codes is open."""
        verdict = self.judged(judge, operation, 400, body={"code": "MADE_UP"})

        assert "CNV-010" not in passed(verdict.findings) | set(failed(verdict.findings))

    @pytest.mark.parametrize(
        "envelope",
        [
            lambda quotes: quotes,
            lambda quotes: {"data": quotes, "links": []},
            lambda quotes: {"items": quotes, "hasMore": False},
        ],
        ids=["bare", "under data", "under another name"],
    )
    def test_the_entries_of_a_list_are_judged_wherever_it_stands(
        self, judge: Judge, envelope: Callable[[list[Any]], Any]
    ) -> None:
        """Unless it is said where that is."""
        listing = judge.document.operations["list"]

        good = self.judged(judge, listing, 200, body=envelope([GOOD]))
        bad = self.judged(judge, listing, 200, body=envelope([{**GOOD, "id": 7}]))

        assert "QUO-001" in passed(good.findings)
        assert set(failed(bad.findings)) == {"QUO-001", "CNV-019"}

    @pytest.mark.parametrize("body", [{}, {"items": [7], "others": [7]}, {"items": {"id": 7}}])
    def test_a_list_that_cannot_be_told_decides_nothing(self, judge: Judge, body: Any) -> None:
        """Neither is any other form excluded."""
        verdict = self.judged(judge, judge.document.operations["list"], 200, body=body)

        assert passed(verdict.findings) == {"CNV-001", "CNV-002", "CNV-003"}
        assert failed(verdict.findings) == {}

    def test_a_list_that_is_said_to_stand_under_data_stands_there(self, judge: Judge) -> None:
        """Under another name it is missing."""
        verdict = self.judged(judge, judge.document.operations["list"], 203, body={"items": []})

        assert set(failed(verdict.findings)) == {"CNV-003"}

    def test_unknown_members_are_observed(self, judge: Judge, operation: Operation) -> None:
        """They are tolerated, and told."""
        verdict = self.judged(judge, operation, 201, body={**GOOD, "extra": 1})

        assert failed(verdict.findings) == {}
        assert verdict.observations == ("answers carry 'extra', which the suite does not look at",)


class TestDeliveries:
    """Webhooks are judged by their type."""

    def test_a_delivery_is_judged_by_the_schema_of_its_type(self, judge: Judge) -> None:
        """As a response is."""
        verdict = judge.delivery({**GOOD, "type": "PAYMENT.DONE", "id": 7})

        assert set(failed(verdict.findings)) == {"QUO-001", "CNV-019"}

    @pytest.mark.parametrize("body", [None, [], {}, {"type": 7}, {"type": "PAYMENT.LOST"}])
    def test_a_delivery_of_an_unknown_type_is_observed(self, judge: Judge, body: Any) -> None:
        """The list of events is open."""
        verdict = judge.delivery(body)

        assert verdict.findings == ()
        assert len(verdict.observations) == 1


class TestRequests:
    """What the suite itself sends is judged too."""

    def test_a_valid_request_has_no_errors(self, judge: Judge, operation: Operation) -> None:
        """By the document's schema."""
        assert judge.request_errors(operation, {"amount": 1}) == []

    def test_an_invalid_request_has(self, judge: Judge, operation: Operation) -> None:
        """Each is told."""
        assert judge.request_errors(operation, {}) == ['"amount" is a required property']

    def test_a_body_that_is_needed_must_be_there(self, judge: Judge, operation: Operation) -> None:
        """The operation is named."""
        assert judge.request_errors(operation, None) == ["createQuote needs a body"]

    def test_a_body_that_is_not_taken_must_not_be_there(self, judge: Judge) -> None:
        """The operation is named."""
        assert judge.request_errors(judge.document.operations["list"], {}) == [
            "list takes no JSON body"
        ]
        assert judge.request_errors(judge.document.operations["list"], None) == []


class TestLongValues:
    """What does not fit is told without quoting all of it."""

    NAMES: ClassVar = {"type": "array", "items": {"type": "string", "maxLength": 30_000}}

    def test_of_a_long_list_the_first_wrong_entry_is_told(self) -> None:
        """By its number."""
        names: list[Any] = ["abc"] * 50_000
        names[1_500] = 7

        (finding,) = SchemaJudge(self.NAMES, "A").judge(names)

        assert not finding.passed
        assert finding.detail == '1500: 7 is not of type "string"'

    @pytest.mark.parametrize(
        "names", [["x" * 40_000], ["abc"] * 50_000 + [7], {"a": ["b"] * 50_000}]
    )
    def test_what_else_is_long_is_not_told(self, names: Any) -> None:
        """That it does not fit is still found."""
        (finding,) = SchemaJudge(self.NAMES, "A").judge(names)

        assert not finding.passed
        assert finding.detail == "it does not fit, and is too long to be shown"

    def test_details_are_shortened(self) -> None:
        """To a thousand characters."""
        (finding,) = SchemaJudge({"type": "integer"}, "A").judge("x" * 5_000)

        assert len(finding.detail) == 1_000

    def test_observations_are_few_and_short(self) -> None:
        """Whatever the members are called, and however many there are."""
        body = {f"{'x' * 500}{number}": 1 for number in range(1_000)}
        operation = shipped_judge().document.operations["getConfig"]

        verdict = shipped_judge().response(operation, 200, "application/json", body, intended=True)

        assert len(verdict.observations) == 20
        assert max(map(len, verdict.observations)) == 200
        (event,) = shipped_judge().delivery({"type": "x" * 5_000}).observations
        assert len(event) == 200
