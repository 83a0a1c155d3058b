"""The judge: which requirement a message counts against, and what it does not decide."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import pytest
import yaml

from conformance.contract.difference import Difference, Kind
from conformance.contract.document import Document, Operation, document
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
    """Return a response or a request body with a schema."""
    return {"content": {JSON: {"schema": schema}}}


@pytest.fixture
def judge(tmp_path: Path) -> Judge:
    """Return the judge of a small document with two operations and one webhook."""
    operation = {
        "operationId": "createQuote",
        "requestBody": {
            "required": True,
            **content({"type": "object", "required": ["amount"], "properties": {}}),
        },
        "responses": {"201": content(QUOTE), "204": {}, "400": content(ERROR)},
    }
    list_operation = {
        "operationId": "list",
        "responses": {"200": content(LIST), "203": content(PAGE)},
    }
    entry = {
        "x-judge": IDS,
        "paths": {"/quotes": {"post": operation, "get": list_operation}},
        "webhooks": {"PAYMENT.DONE": {"post": {"requestBody": content(QUOTE)}}},
    }
    path = tmp_path / "openapi.yaml"
    path.write_text(yaml.safe_dump(entry, sort_keys=False), encoding="utf-8")
    statuses = {"INVALID_INPUT": frozenset({400}), "LOCKED": frozenset({423})}
    return Judge(Document(path), statuses)


@pytest.fixture
def operation(judge: Judge) -> Operation:
    """Return the operation createQuote of the small document."""
    return judge.document.operations["createQuote"]


def passed_ids(findings: Any) -> set[str]:
    """Return the requirements of the findings that passed."""
    return {finding.requirement for finding in findings if finding.passed}


def failures(findings: Any) -> dict[str, str]:
    """Return the details of the findings that failed, by requirement."""
    return {finding.requirement: finding.detail for finding in findings if not finding.passed}


class TestAttribution:
    """A violation counts against the innermost annotation around it."""

    judge = SchemaJudge(QUOTE, "CNV-003")

    def findings(self, **members: Any) -> list[Finding]:
        """Return the findings on the good value with other members; ``...`` leaves one out."""
        value = {k: v for k, v in {**GOOD, **members}.items() if v is not ...}
        return list(self.judge.judge(value))

    def test_a_valid_value_passes_what_it_decides(self) -> None:
        """An absent optional member and a condition that is not met decide nothing."""
        findings = self.findings()

        assert failures(findings) == {}
        assert passed_ids(findings) == {"CNV-003", "QUO-001", "CNV-019", "QUO-009", "QUO-010"}

    @pytest.mark.parametrize(
        ("members", "place", "keyword"),
        [
            ({"id": "Quote"}, "id", "pattern"),
            ({"id": ...}, "id", "required"),
            ({"note": ...}, "note", "required"),
            ({"amount": {"value": "1"}}, "amount.value", "type"),
            ({"steps": [{}, {"name": 1}]}, "steps.*.name", "type"),
            ({"status": "WAITING"}, "challenge", "required"),
        ],
    )
    def test_the_place_is_told_as_data(
        self, members: dict[str, Any], place: str, keyword: str
    ) -> None:
        """What fails has the place in the body, an asterisk for each index, and the keyword."""
        differences = {
            finding.difference for finding in self.findings(**members) if not finding.passed
        }

        assert differences == {Difference(Kind.BODY, place=place, expected=keyword)}

    def test_the_innermost_annotation_is_blamed(self) -> None:
        """The annotations around the innermost one still pass."""
        findings = self.findings(amount={"value": "1"})

        assert failures(findings) == {"QUO-010": 'amount.value: "1" is not of type "integer"'}
        assert passed_ids(findings) == {"CNV-003", "QUO-001", "CNV-019", "QUO-009"}

    def test_an_annotation_is_blamed_for_what_stands_in_it_unannotated(self) -> None:
        """A wrong member without an annotation counts against the annotation around it."""
        findings = self.findings(amount={"value": 1, "unit": 7})

        assert set(failures(findings)) == {"QUO-009"}
        assert "QUO-010" in passed_ids(findings)

    def test_one_failure_does_not_hide_the_next(self) -> None:
        """Failures beside, around and outside of each other are all found."""
        findings = self.findings(id="1", amount={"value": "1", "unit": 7}, note=7)

        assert set(failures(findings)) == {"QUO-001", "CNV-019", "QUO-009", "QUO-010", "CNV-003"}
        assert passed_ids(findings) == set()

    def test_a_missing_required_member_counts_against_its_own_annotation(self) -> None:
        """A missing member fails every requirement that its annotation names."""
        findings = self.findings(id=...)

        assert failures(findings) == {"QUO-001": "id is missing", "CNV-019": "id is missing"}

    def test_a_missing_member_of_a_member_counts_against_its_own_annotation(self) -> None:
        """A missing member of a nested object counts against its own annotation too."""
        assert failures(self.findings(amount={})) == {"QUO-010": "amount.value is missing"}

    def test_a_missing_required_member_without_annotation_counts_against_the_schema(self) -> None:
        """The requirement for the schema of every message takes what no annotation takes."""
        findings = self.findings(note=...)

        assert failures(findings) == {"CNV-003": '"note" is a required property'}

    def test_null_in_a_required_member_fails(self) -> None:
        """A required member that is null fails as a missing one does."""
        assert set(failures(self.findings(id=None))) == {"QUO-001", "CNV-019"}

    def test_null_in_an_optional_member_decides_nothing(self) -> None:
        """An optional member that is null is judged as if it were absent."""
        findings = self.findings(label=None)

        assert failures(findings) == {}
        assert "QUO-015" not in passed_ids(findings)

    def test_a_present_optional_member_is_decided(self) -> None:
        """A value of the right type passes, and one of another type fails."""
        assert "QUO-015" in passed_ids(self.findings(label="mine"))
        assert set(failures(self.findings(label=7))) == {"QUO-015"}

    def test_members_of_lists_are_judged(self) -> None:
        """One wrong entry fails the requirement; an empty list decides nothing."""
        assert "QUO-018" in passed_ids(self.findings(steps=[{"name": "a"}, {}]))
        assert "QUO-018" not in passed_ids(self.findings(steps=[]))
        assert set(failures(self.findings(steps=[{"name": "a"}, {"name": 7}]))) == {"QUO-018"}

    def test_a_condition_that_is_met_is_decided(self) -> None:
        """A met condition decides by its consequence; one that is not met decides nothing."""
        valid = self.findings(status="WAITING", challenge={})
        invalid = self.findings(status="WAITING")
        other = self.findings(status="DONE")

        assert "QUO-020" in passed_ids(valid)
        assert failures(invalid) == {"QUO-020": '"challenge" is a required property'}
        assert "QUO-020" not in passed_ids(other) | set(failures(other))

    @pytest.mark.parametrize("value", [None, [], "text", 7])
    def test_a_value_of_another_kind_fails_as_a_whole(self, value: Any) -> None:
        """A value that is no object fails the schema alone, and no requirement within passes."""
        findings = list(self.judge.judge(value))

        assert set(failures(findings)) == {"CNV-003"}
        assert passed_ids(findings) == set()

    def test_an_annotation_on_the_whole_takes_the_place_of_the_general_one(self) -> None:
        """The annotation of a whole schema, as errors have one, fails in the place of CNV-003."""
        findings = list(SchemaJudge(ERROR, "CNV-003").judge([]))

        assert set(failures(findings)) == {"CNV-004"}
        assert passed_ids(findings) == {"CNV-003"}

    def test_alternatives_are_judged_where_they_apply(self) -> None:
        """Under ``oneOf`` the entries of a list are judged, bare as well as under ``data``."""
        item = {"type": "object", "properties": {"id": {"x-requirement": "T-1", "type": "string"}}}
        bare = {"type": "array", "items": item}
        wrapped = {"type": "object", "required": ["data"], "properties": {"data": bare}}
        judge = SchemaJudge({"oneOf": [bare, wrapped]}, "CNV-003")

        assert "T-1" in passed_ids(judge.judge([{"id": "a"}]))
        assert "T-1" in passed_ids(judge.judge({"data": [{"id": "a"}]}))
        assert set(failures(judge.judge({"data": [{"id": 7}]}))) == {"T-1"}
        assert set(failures(judge.judge({"items": []}))) == {"CNV-003"}


class TestResponses:
    """Status, media type, body and error code of a response are judged."""

    def judge_response(
        self, judge: Judge, operation: Operation, status: int, **more: Any
    ) -> MessageFindings:
        """Judge a response that is good but for the members of ``more``."""
        response = {"media_type": JSON, "body": GOOD, "intended": True, **more}
        return judge.response(operation, status, **response)

    def test_a_good_response_passes(self, judge: Judge, operation: Operation) -> None:
        """Status, media type and schema each pass a requirement of their own."""
        judgement = self.judge_response(judge, operation, 201)

        assert {"CNV-001", "CNV-002", "CNV-003"} <= passed_ids(judgement.findings)
        assert failures(judgement.findings) == {}
        assert judgement.observations == ()

    @pytest.mark.parametrize(
        ("kind", "is_judged"),
        [("CARD_TRANSACTION.AUTHORIZED", True), ("CARD.AUTHORIZED", False)],
    )
    def test_an_event_may_be_described_with_its_family(self, kind: str, *, is_judged: bool) -> None:
        """An event without a description of its own is judged by that of its family."""
        findings = shipped_judge().delivery({"type": kind, "data": []}).findings

        assert ("EVT-187" in failures(findings)) is is_judged

    def test_a_change_of_a_customer_may_have_to_be_signed_first(self) -> None:
        """The 202 of an update is the customer, or a demand for a signature."""
        update = document().operations["updateCustomer"]

        demand, customer = (
            self.judge_response(shipped_judge(), update, 202, body=body).findings
            for body in ({"payloadToSign": "text"}, {"id": 7, "customerType": "INDIVIDUAL"})
        )

        assert failures(demand) == {}
        assert "CUS-001" in failures(customer)

    @pytest.mark.parametrize("intended", [True, False])
    def test_a_server_error_fails_whatever_was_sent(self, *, intended: bool) -> None:
        """The requirement is the operation's own, and the error object is judged as any other."""
        operation = document().operations["getConfig"]
        body = {"code": "INTERNAL_ERROR", "reason": "The service failed."}

        findings = self.judge_response(
            shipped_judge(), operation, 500, body=body, intended=intended
        ).findings

        assert failures(findings) == {"FUZ-010": "getConfig answered 500, whatever it was sent"}

    def test_an_undocumented_status_for_a_valid_request_fails(
        self, judge: Judge, operation: Operation
    ) -> None:
        """The finding names the operation, its answer and the documented statuses."""
        judgement = self.judge_response(judge, operation, 418)

        assert judgement.findings == (
            Finding(
                "CNV-001",
                passed=False,
                detail="createQuote answered 418; documented are 201, 204, 400",
                difference=Difference(
                    Kind.STATUS, "createQuote", expected="201, 204, 400", got="418"
                ),
            ),
        )

    def test_an_undocumented_client_error_for_an_invalid_request_is_an_observation(
        self, judge: Judge, operation: Operation
    ) -> None:
        """A server may refuse an invalid request with a client error of its choice."""
        judgement = self.judge_response(judge, operation, 415, intended=False)

        assert judgement.findings == ()
        assert judgement.observations == ("createQuote answered 415, which it does not list",)

    @pytest.mark.parametrize("status", [200, 302, 500])
    def test_any_other_undocumented_status_for_an_invalid_request_fails(
        self, judge: Judge, operation: Operation, status: int
    ) -> None:
        """A status that is no client error is no refusal of an invalid request."""
        judgement = self.judge_response(judge, operation, status, intended=False)

        assert set(failures(judgement.findings)) == {"CNV-001"}

    def test_a_wrong_media_type_fails(self, judge: Judge, operation: Operation) -> None:
        """The finding names both media types, and the body is not judged."""
        judgement = self.judge_response(judge, operation, 201, media_type="text/html")

        assert failures(judgement.findings) == {
            "CNV-002": "createQuote answered 201 with text/html; documented is application/json"
        }
        assert passed_ids(judgement.findings) == {"CNV-001"}

    def test_a_body_that_is_no_json_fails(self, judge: Judge, operation: Operation) -> None:
        """A body that is not JSON fails under the requirement for media types."""
        judgement = self.judge_response(judge, operation, 201, body=None, is_json=False)

        assert "a body that is not JSON" in failures(judgement.findings)["CNV-002"]

    def test_a_body_that_is_too_deep_is_not_judged(
        self, judge: Judge, operation: Operation
    ) -> None:
        """Nothing but the status is decided, and the body is an observation."""
        judgement = self.judge_response(
            judge, operation, 201, body=None, is_json=False, is_bounded=False
        )

        assert failures(judgement.findings) == {}
        assert passed_ids(judgement.findings) == {"CNV-001"}
        assert "too deep" in judgement.observations[0]

    def test_a_missing_body_fails(self, judge: Judge, operation: Operation) -> None:
        """A response that is documented with a body and has none fails."""
        judgement = self.judge_response(judge, operation, 201, media_type="", body=None)

        assert "no media type" in failures(judgement.findings)["CNV-002"]

    @pytest.mark.parametrize("status", [200, 201, 202])
    def test_a_body_of_which_nothing_is_shown_may_be_missing(
        self, judge: Judge, status: int
    ) -> None:
        """What the specification says nothing about need not be sent; as text it is no JSON."""
        fund = document().operations["fundInternalAccount"]

        empty = self.judge_response(judge, fund, status, media_type="", body=None)
        text = self.judge_response(judge, fund, status, media_type="text/plain", body=None)

        assert failures(empty.findings) == {}
        assert set(failures(text.findings)) == {"CNV-002"}

    def test_a_response_without_content_needs_none(
        self, judge: Judge, operation: Operation
    ) -> None:
        """A response that is documented without content is judged by its status alone."""
        judgement = self.judge_response(judge, operation, 204, media_type="", body=None)

        assert passed_ids(judgement.findings) == {"CNV-001"}

    def test_a_code_with_its_status_passes(self, judge: Judge, operation: Operation) -> None:
        """An error code under the status of the table of errors passes."""
        judgement = self.judge_response(judge, operation, 400, body={"code": "INVALID_INPUT"})

        assert "CNV-010" in passed_ids(judgement.findings)

    def test_a_code_with_another_status_fails(self, judge: Judge, operation: Operation) -> None:
        """The finding names the code, its status and the status that came."""
        judgement = self.judge_response(judge, operation, 400, body={"code": "LOCKED"})

        assert failures(judgement.findings) == {
            "CNV-010": "LOCKED came with 400; its status is 423"
        }

    def test_an_unknown_code_decides_nothing(self, judge: Judge, operation: Operation) -> None:
        """The list of error codes is open, so that an unknown code is not judged."""
        judgement = self.judge_response(judge, operation, 400, body={"code": "MADE_UP"})

        assert "CNV-010" not in passed_ids(judgement.findings) | set(failures(judgement.findings))

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
        """A list may stand bare or under any name, where the document does not say which."""
        listing = judge.document.operations["list"]

        good = self.judge_response(judge, listing, 200, body=envelope([GOOD]))
        bad = self.judge_response(judge, listing, 200, body=envelope([{**GOOD, "id": 7}]))

        assert "QUO-001" in passed_ids(good.findings)
        assert set(failures(bad.findings)) == {"QUO-001", "CNV-019"}

    @pytest.mark.parametrize("body", [{}, {"items": [7], "others": [7]}, {"items": {"id": 7}}])
    def test_a_list_that_cannot_be_told_decides_nothing(self, judge: Judge, body: Any) -> None:
        """A body in which no one list of objects can be chosen passes and fails nothing more."""
        judgement = self.judge_response(judge, judge.document.operations["list"], 200, body=body)

        assert passed_ids(judgement.findings) == {"CNV-001", "CNV-002", "CNV-003"}
        assert failures(judgement.findings) == {}

    def test_a_list_that_is_said_to_stand_under_data_stands_there(self, judge: Judge) -> None:
        """Where the document requires ``data``, a list under another name fails the schema."""
        judgement = self.judge_response(
            judge, judge.document.operations["list"], 203, body={"items": []}
        )

        assert set(failures(judgement.findings)) == {"CNV-003"}

    def test_unknown_members_are_observed(self, judge: Judge, operation: Operation) -> None:
        """An unknown member fails nothing, and is reported as an observation."""
        judgement = self.judge_response(judge, operation, 201, body={**GOOD, "extra": 1})

        assert failures(judgement.findings) == {}
        assert judgement.observations == (
            "answers carry 'extra', which the suite does not look at",
        )


class TestDeliveries:
    """Webhooks are judged by the schema of their type."""

    def test_a_delivery_is_judged_by_the_schema_of_its_type(self, judge: Judge) -> None:
        """A wrong member of a delivery fails the requirements of its annotation."""
        judgement = judge.delivery({**GOOD, "type": "PAYMENT.DONE", "id": 7})

        assert set(failures(judgement.findings)) == {"QUO-001", "CNV-019"}

    @pytest.mark.parametrize("body", [None, [], {}, {"type": 7}, {"type": "PAYMENT.LOST"}])
    def test_a_delivery_of_an_unknown_type_is_observed(self, judge: Judge, body: Any) -> None:
        """The list of events is open, so that an unknown type is one observation and no finding."""
        judgement = judge.delivery(body)

        assert judgement.findings == ()
        assert len(judgement.observations) == 1


class TestRequests:
    """The judge checks the requests that the suite itself means to be valid."""

    def test_a_valid_request_has_no_errors(self, judge: Judge, operation: Operation) -> None:
        """A body that fits the schema of the operation has no errors."""
        assert judge.request_errors(operation, {"amount": 1}) == []

    def test_an_invalid_request_has(self, judge: Judge, operation: Operation) -> None:
        """Each error of a body is returned as a text."""
        assert judge.request_errors(operation, {}) == ['"amount" is a required property']

    def test_a_body_that_is_needed_must_be_there(self, judge: Judge, operation: Operation) -> None:
        """The error of a missing body names the operation."""
        assert judge.request_errors(operation, None) == ["createQuote needs a body"]

    def test_a_body_that_is_not_taken_must_not_be_there(self, judge: Judge) -> None:
        """A body for an operation without one is an error that names the operation."""
        assert judge.request_errors(judge.document.operations["list"], {}) == [
            "list takes no JSON body"
        ]
        assert judge.request_errors(judge.document.operations["list"], None) == []


class TestLongValues:
    """A finding on a long value does not quote all of it."""

    NAMES: ClassVar = {"type": "array", "items": {"type": "string", "maxLength": 30_000}}

    def test_of_a_long_list_the_first_wrong_entry_is_told(self) -> None:
        """The detail names the index of the first wrong entry."""
        names: list[Any] = ["abc"] * 50_000
        names[1_500] = 7

        (finding,) = SchemaJudge(self.NAMES, "A").judge(names)

        assert not finding.passed
        assert finding.detail == '1500: 7 is not of type "string"'

    @pytest.mark.parametrize(
        "names", [["x" * 40_000], ["abc"] * 50_000 + [7], {"a": ["b"] * 50_000}]
    )
    def test_what_else_is_long_is_not_told(self, names: Any) -> None:
        """A long value that does not fit still fails, and the detail does not quote it."""
        (finding,) = SchemaJudge(self.NAMES, "A").judge(names)

        assert not finding.passed
        assert finding.detail == "it does not fit, and is too long to be shown"

    def test_details_are_shortened(self) -> None:
        """The detail of a finding has a thousand characters at most."""
        (finding,) = SchemaJudge({"type": "integer"}, "A").judge("x" * 5_000)

        assert len(finding.detail) == 1_000

    def test_observations_are_few_and_short(self) -> None:
        """At most 20 observations of at most 200 characters are made of unknown members."""
        body = {f"{'x' * 500}{number}": 1 for number in range(1_000)}
        operation = shipped_judge().document.operations["getConfig"]

        judgement = shipped_judge().response(
            operation, 200, "application/json", body, intended=True
        )

        assert len(judgement.observations) == 20
        assert max(map(len, judgement.observations)) == 200
        (event,) = shipped_judge().delivery({"type": "x" * 5_000}).observations
        assert len(event) == 200
