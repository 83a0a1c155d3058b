"""The OpenAPI document: how it is read, and that the shipped one is what the suite relies on."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from openapi_spec_validator import OpenAPIV31SpecValidator

from conformance.contract.catalogue import catalogue
from conformance.contract.data import SPEC
from conformance.contract.document import (
    BrokenReference,
    Document,
    MissingRequirement,
    document,
    media_type_of,
)
from conformance.contract.judge import KEY, decided_by_schema
from conformance.selftest.collection import annotated_requirements


def read_document(folder: Path, **files: Any) -> Document:
    """Write each file to ``folder`` and return the document that starts at ``openapi.yaml``."""
    for name, content in files.items():
        (folder / f"{name}.yaml").write_text(yaml.safe_dump(content), encoding="utf-8")
    return Document(folder / "openapi.yaml")


@pytest.mark.parametrize(
    ("content_type", "media_type"),
    [
        ("application/json", "application/json"),
        ("Application/JSON; charset=utf-8", "application/json"),
        ("application/problem+json", "application/json"),
        ("application/vnd.payments.v1+json;v=2", "application/json"),
        ("application/jsonp", "application/jsonp"),
        ("text/html; charset=utf-8", "text/html"),
        ("", ""),
    ],
)
def test_all_types_of_json_are_one(content_type: str, media_type: str) -> None:
    """Every type of JSON counts as application/json, and others as they are."""
    assert media_type_of(content_type) == media_type


class TestReading:
    """References are resolved in place, across files."""

    def test_a_reference_leads_to_another_file(self, tmp_path: Path) -> None:
        """A reference takes a whole file, or the part of it that a pointer names."""
        loaded = read_document(
            tmp_path,
            openapi={"whole": {"$ref": "part.yaml"}, "inner": {"$ref": "part.yaml#/a~1b/c"}},
            part={"a/b": {"c": 7}},
        )

        assert loaded.raw == {"whole": {"a/b": {"c": 7}}, "inner": 7}

    def test_a_reference_within_a_part_is_relative_to_it(self, tmp_path: Path) -> None:
        """A reference in a file is relative to that file, also where another one refers to it."""
        (tmp_path / "schemas").mkdir()
        (tmp_path / "schemas" / "b.yaml").write_text("deep: true\n", encoding="utf-8")

        loaded = read_document(
            tmp_path / "schemas", a={"$ref": "b.yaml"}, openapi={"x": {"$ref": "a.yaml"}}
        )

        assert loaded.raw == {"x": {"deep": True}}

    def test_what_stands_beside_a_reference_is_kept(self, tmp_path: Path) -> None:
        """Members beside a reference are kept, and win over those that it leads to."""
        loaded = read_document(
            tmp_path,
            openapi={"x": {"$ref": "part.yaml", KEY: "QUO-001", "title": "mine"}},
            part={"type": "string", "title": "theirs"},
        )

        assert loaded.raw["x"] == {"type": "string", KEY: "QUO-001", "title": "mine"}

    def test_a_member_called_ref_is_no_reference(self, tmp_path: Path) -> None:
        """A member ``$ref`` whose value is an object, not a text, stays as it is."""
        loaded = read_document(tmp_path, openapi={"properties": {"$ref": {"type": "string"}}})

        assert loaded.raw == {"properties": {"$ref": {"type": "string"}}}

    @pytest.mark.parametrize(
        ("reference", "message"),
        [
            ("absent.yaml", r"absent\.yaml: no such file"),
            ("#/absent", r"openapi\.yaml: #/absent does not lead anywhere"),
            ("#/x", r"openapi\.yaml: #/x leads back to itself"),
        ],
    )
    def test_a_reference_that_leads_nowhere_is_refused(
        self, tmp_path: Path, reference: str, message: str
    ) -> None:
        """The message names the file and the reference that is missing or circular."""
        with pytest.raises(BrokenReference, match=message):
            read_document(tmp_path, openapi={"x": {"$ref": reference}})

    def test_parameters_of_a_path_belong_to_each_operation(self, tmp_path: Path) -> None:
        """An operation has the parameters of its path item before its own."""
        get = {"operationId": "read", "parameters": [{"name": "page"}], "responses": {}}

        loaded = read_document(
            tmp_path, openapi={"paths": {"/x/{id}": {"parameters": [{"name": "id"}], "get": get}}}
        )

        operation = loaded.operations["read"]
        assert (operation.method, operation.path) == ("GET", "/x/{id}")
        assert [p["name"] for p in operation.raw["parameters"]] == ["id", "page"]
        assert operation.request_schema is None
        assert operation.response(200) is None

    def test_an_operation_names_the_requirements_that_it_has_by_itself(
        self, tmp_path: Path
    ) -> None:
        """A kind without an id in ``x-requirements`` raises MissingRequirement."""
        get = {
            "operationId": "read",
            "responses": {},
            "x-requirements": {"server-error": "FUZ-001"},
        }

        operation = read_document(tmp_path, openapi={"paths": {"/x": {"get": get}}}).operations[
            "read"
        ]

        assert operation.requirements == {"server-error": "FUZ-001"}
        assert operation.requirement("server-error") == "FUZ-001"
        with pytest.raises(
            MissingRequirement, match=r"^read: .* name none for error-object; write x-requirements:"
        ):
            operation.requirement("error-object")


class TestShipped:
    """The OpenAPI document that the suite ships."""

    def test_it_is_valid_openapi(self) -> None:
        """The OpenAPI Initiative's schema of version 3.1 finds no error in the document."""
        errors = OpenAPIV31SpecValidator(document().raw).iter_errors()

        assert [f"{list(error.absolute_path)}: {error.message}" for error in errors] == []

    def test_every_schema_is_valid(self) -> None:
        """The meta-schema of JSON Schema takes the schemas of all messages."""
        for schema in (*judged_schemas(), *request_schemas()):
            jsonschema_rs.meta.validate(schema)

    def test_every_operation_has_an_id_of_its_own(self) -> None:
        """No operation is without an operationId, and no two have the same."""
        counts = Counter(
            operation.get("operationId")
            for item in document().raw["paths"].values()
            for method, operation in item.items()
            if method != "parameters"
        )

        assert {name: count for name, count in counts.items() if count > 1 or not name} == {}

    def test_every_operation_has_requirements_of_its_own(self) -> None:
        """``x-requirements`` has the kinds that it must, under ids of this one operation."""
        entries = [
            (kind, requirement, operation.id)
            for operation in document().operations.values()
            for kind, requirement in operation.requirements.items()
        ]

        for operation in document().operations.values():
            kinds = set(operation.requirements)
            assert {"server-error", "error-object"} <= kinds, operation.id
            assert kinds <= {"server-error", "error-object", "faulty-body", "accepted"}, (
                operation.id
            )
        assert {
            name: catalogue()[name].operations for kind, name, _ in entries if kind != "accepted"
        } == {name: (operation,) for kind, name, operation in entries if kind != "accepted"}
        assert all(
            operation in catalogue()[name].operations
            for kind, name, operation in entries
            if kind == "accepted"
        )
        assert len({name for _, name, _ in entries}) == len(entries)

    def test_every_parameter_of_a_path_is_described(self) -> None:
        """The names in braces of a path are those of its described parameters."""
        for operation in document().operations.values():
            names = {p["name"] for p in operation.raw["parameters"] if p["in"] == "path"}

            assert names == set(re.findall(r"{(\w+)}", operation.path)), operation.id

    def test_every_response_has_a_schema(self) -> None:
        """The judge needs a schema for each media type of each response."""
        for operation in document().operations.values():
            for status, response in operation.raw["responses"].items():
                for media in response.get("content", {}).values():
                    assert "schema" in media, (operation.id, status)

    def test_every_annotation_can_be_decided(self) -> None:
        """Each annotation stands where the judge looks for it."""
        decidable = {name for schema in judged_schemas() for name in decided_by_schema(schema)}

        assert set(annotated_requirements(document().raw)) - decidable == set()

    def test_requests_are_not_annotated(self) -> None:
        """Schemas of requests name no requirement, as the suite itself writes requests."""
        assert [name for schema in request_schemas() for name in decided_by_schema(schema)] == []

    def test_null_stands_for_absence_in_every_response(self) -> None:
        """An optional member of a response may be null, as the specification writes both."""
        strict = {
            ".".join(path) for schema in judged_schemas() for path in intolerant_of_null(schema, ())
        }

        assert strict == set()

    def test_no_object_of_a_response_is_closed(self) -> None:
        """No schema of a response forbids unknown members, as clients tolerate them."""
        schemas = [
            schema
            for schema in judged_schemas()
            if {"additionalProperties", "unevaluatedProperties"} & set(keywords(schema))
        ]

        assert schemas == []

    def test_every_error_status_is_documented(self) -> None:
        """Each status of spec/errors.yaml is one that each of its operations lists."""
        codes = yaml.safe_load((SPEC / "errors.yaml").read_text(encoding="utf-8"))
        operations = document().operations

        missing = [
            (entry["code"], name, status)
            for entry in codes
            for name in entry["operations"]
            for status in entry.get("statuses") or ()
            if operations[name].response(status) is None
        ]

        assert missing == []


def judged_schemas() -> Iterator[Any]:
    """Yield the schema of every response and of every webhook."""
    for operation in document().operations.values():
        for response in operation.raw["responses"].values():
            for media in response.get("content", {}).values():
                yield media["schema"]
    for webhook in document().raw["webhooks"].values():
        yield webhook["post"]["requestBody"]["content"]["application/json"]["schema"]


def request_schemas() -> Iterator[Any]:
    """Yield the schema of every request body."""
    for operation in document().operations.values():
        if operation.request_schema is not None:
            yield operation.request_schema


def keywords(schema: Any) -> Iterator[str]:
    """Yield every key below ``schema``."""
    if isinstance(schema, dict):
        yield from schema
    for member in schema.values() if isinstance(schema, dict) else schema:
        if isinstance(member, dict | list):
            yield from keywords(member)


def intolerant_of_null(schema: Any, path: tuple[str, ...]) -> Iterator[tuple[str, ...]]:
    """Yield the path of each optional member that may not be null."""
    if not isinstance(schema, dict) or "if" in schema:
        return
    required = set(schema.get("required", ()))
    for branch in schema.get("allOf", ()):
        required |= set(branch.get("required", ()))
    for name, member in schema.get("properties", {}).items():
        validator = jsonschema_rs.Draft202012Validator(member)
        if name not in required and not validator.is_valid(None):
            yield (*path, name)
        yield from intolerant_of_null(member, (*path, name))
    yield from intolerant_of_null(schema.get("items"), (*path, "*"))
    for keyword in ("allOf", "anyOf", "oneOf"):
        for branch in schema.get(keyword, ()):
            if "x-requirement" not in branch:
                yield from intolerant_of_null(branch, path)
