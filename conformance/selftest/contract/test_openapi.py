"""The OpenAPI document for its readers: descriptions, examples, links, and one bundled file."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from itertools import pairwise
from pathlib import Path
from typing import Any

import jsonschema_rs
import pytest
import yaml
from openapi_spec_validator import OpenAPIV31SpecValidator
from typer.testing import CliRunner

from conformance.cli.main import app
from conformance.contract.bundle import as_json, as_yaml, bundled
from conformance.contract.data import SPEC
from conformance.contract.document import Document, DocumentError, Operation, document
from conformance.contract.judge import error_code, error_codes, judge
from conformance.contract.moments import UTC_MOMENT, is_utc_moment

_EXPRESSION = re.compile(r"\$response\.body#(/\S+)|\$request\.(path|query)\.(\S+)")
_BRANCHES = ("allOf", "anyOf", "oneOf")


class TestDescriptions:
    """Every part of the document is described."""

    def test_every_operation_and_event_is_described(self) -> None:
        """Each has a summary, another description, known tags and an operationId of its own."""
        tags = {tag["name"] for tag in document().raw["tags"]}
        entries = [*operations(), *webhooks()]

        for _, raw in entries:
            assert raw["summary"], raw
            assert raw["description"] != raw["summary"], raw
            assert set(raw["tags"]) < tags, raw
        assert max(Counter(raw["operationId"] for _, raw in entries).values()) == 1

    def test_an_event_is_named_as_what_handles_it(self) -> None:
        """The operationId of an event reads as the name of its handler in generated code."""
        for name, raw in webhooks():
            # The names of some events of a family are not shown.
            words = re.split(r"[._]", name.replace("*", "OTHER"))

            assert raw["operationId"] == "on" + "".join(word.capitalize() for word in words)
            assert raw["tags"] == ["Webhooks"]

    def test_every_parameter_and_response_is_described(self) -> None:
        """Parameters and responses of operations and events have descriptions."""
        for name, raw in [*operations(), *webhooks()]:
            for part in (*raw.get("parameters", ()), *raw["responses"].values()):
                assert part["description"], (name, part)

    def test_every_schema_is_described(self) -> None:
        """Each schema of a body is described, as a whole and in each of its members."""
        undescribed = {
            f"{place}: {'.'.join(path) or 'the whole'}"
            for place, media in media_types()
            for path, is_described in members_described(media["schema"]).items()
            if not is_described
        }

        assert undescribed == set()

    def test_what_is_deprecated_is_marked(self) -> None:
        """Only transferIn and transferOut are marked as deprecated and say so in their summary."""
        marked = {name for name, raw in operations() if raw.get("deprecated")}
        summarized = {name for name, raw in operations() if "deprecated" in raw["summary"]}

        assert marked == summarized == {"transferIn", "transferOut"}


class TestExamples:
    """Examples agree with the schemas of the document."""

    def test_every_body_has_an_example(self) -> None:
        """Requests, successes and events whose schema shows members have an example."""
        without = [
            place
            for place, media in media_types()
            if shows_a_shape(media["schema"]) and not media.get("examples")
            if " 4" not in place and " 5" not in place
        ]

        assert without == []

    def test_every_example_is_valid(self) -> None:
        """The schema beside an example takes its value."""
        for place, media in media_types():
            validator = validator_of(media["schema"])
            for name, example in media.get("examples", {}).items():
                errors = [error.message for error in validator.iter_errors(example["value"])]

                assert errors == [], f"{place} {name}"

    def test_every_example_within_a_schema_is_valid(self) -> None:
        """The examples of schemas and of parameters fit their own schema."""
        assert list(invalid_examples(document().raw)) == []

    def test_an_example_of_a_request_is_one_that_the_suite_might_send(self) -> None:
        """The judge, which checks requests of the suite, has no error for an example."""
        for operation in document().operations.values():
            for example in examples(operation.raw.get("requestBody", {})):
                assert judge().request_errors(operation, example) == [], operation.id

    def test_an_example_of_an_error_has_a_code_of_its_status(self) -> None:
        """The table of error codes lists the status of each example of an error."""
        for operation in document().operations.values():
            for status, response in operation.raw["responses"].items():
                if status >= "4":
                    codes = [error_code(example) for example in examples(response)]

                    assert all(int(status) in error_codes()[code or ""] for code in codes)

    def test_an_example_of_an_event_is_one_of_its_type(self) -> None:
        """The example of an event has its type, and the judge finds no failure in it."""
        for name, raw in webhooks():
            for example in examples(raw["requestBody"]):
                judgement = judge().delivery(example)

                assert fnmatchcase(example["type"], name)
                assert [finding for finding in judgement.findings if not finding.passed] == []

    def test_every_example_is_used(self) -> None:
        """The bundle has as many examples as stand in the files."""
        written = [
            name
            for file in (SPEC / "examples").glob("*.yaml")
            for name in yaml.safe_load(file.read_text(encoding="utf-8"))
        ]

        assert len(bundled(document())["components"]["examples"]) == len(written)


class TestLinks:
    """Links lead from a response to the requests that may follow it."""

    def test_every_link_leads_to_an_operation(self) -> None:
        """A link gives all required parameters of its operation, and no unknown one."""
        for place, _, _, link in links():
            target = document().operations[link["operationId"]]
            known = {p["name"]: p for p in target.raw["parameters"] if p["in"] != "header"}
            needed = {name for name, parameter in known.items() if parameter.get("required")}
            parameters = set(link.get("parameters", ()))

            assert link["description"], place
            assert needed <= parameters <= set(known), place

    def test_every_expression_leads_to_something(self) -> None:
        """An expression names a member of the response or a parameter of the request."""
        for place, operation, response, link in links():
            for expression in expressions(link):
                match = _EXPRESSION.fullmatch(expression)
                assert match, (place, expression)
                pointer, kind, name = match.groups()
                if pointer is not None:
                    media = response["content"]["application/json"]
                    assert leads_to_a_member(media["schema"], pointer.split("/")[1:]), place
                else:
                    parameters = {(p["in"], p["name"]) for p in operation.raw["parameters"]}
                    assert (kind, name) in parameters, place

    def test_every_link_is_used(self) -> None:
        """Each link among the components stands with a response."""
        used = [json.dumps(link, sort_keys=True) for _, _, _, link in links()]

        for name, link in document().raw["components"]["links"].items():
            assert json.dumps(link, sort_keys=True) in used, name

    @pytest.mark.parametrize(
        "flow",
        [
            "createQuote executeQuote authorizeQuote listTransactions",
            "createCustomer createKycLink getCustomer",
            "createCustomer sendEmailCode confirmEmail createKycLink",
            "createCustomer sendPhoneCode confirmPhone createKycLink",
            "createCustomer createBeneficialOwner createDocument createVerification",
            "createCustomer createVerification listVerifications",
            "createCustomer listCustomerInternalAccounts",
            "createCustomer createExternalAccount lookupExternalAccount createQuote",
            "createExternalAccount challengeOwnership verifyOwnership getExternalAccount",
            "createExternalAccount untrustBeneficiary confirmUntrust deleteExternalAccount",
            "createInternalAccount fundInternalAccount",
            "startFactorReset getFactorReset completeFactorReset",
            "createStablecoin mintStablecoin listStablecoinOperations",
            "createStablecoin burnStablecoin listStablecoinOperations",
        ],
    )
    def test_a_flow_can_be_followed(self, flow: str) -> None:
        """Links lead from each operation of a flow to the next one."""
        linked = {(operation.id, link["operationId"]) for _, operation, _, link in links()}
        steps = flow.split()

        assert set(pairwise(steps)) - linked == set()


class TestBundle:
    """The bundle is the whole document as one file."""

    def test_it_refers_to_itself_alone(self) -> None:
        """Each reference of the bundle leads to a place within the bundle."""
        assert {reference[:2] for reference in references(bundled(document()))} == {"#/"}

    def test_it_says_what_the_document_says(self, tmp_path: Path) -> None:
        """The bundle, as YAML and as JSON, has the operations and schemas of the document."""
        bundle = bundled(document())
        (tmp_path / "bundle.yaml").write_text(as_yaml(bundle), encoding="utf-8")
        (tmp_path / "bundle.json").write_text(as_json(bundle), encoding="utf-8")

        for name in ("bundle.yaml", "bundle.json"):
            loaded = Document(tmp_path / name)

            assert loaded.operations == document().operations
            assert without_components(loaded.raw) == without_components(document().raw)
            for room, parts in document().raw["components"].items():
                assert {key: loaded.raw["components"][room][key] for key in parts} == parts

    def test_it_is_valid_openapi(self) -> None:
        """The OpenAPI Initiative's schema of version 3.1 takes the bundle."""
        errors = OpenAPIV31SpecValidator(bundled(document())).iter_errors()

        assert [f"{list(error.absolute_path)}: {error.message}" for error in errors] == []

    def test_it_is_the_same_each_time(self) -> None:
        """A document that is read anew has the same bundle."""
        fresh = Document(SPEC / "openapi.yaml")

        assert as_yaml(bundled(fresh)) == as_yaml(bundled(document()))

    def test_it_names_no_place_on_this_machine(self) -> None:
        """The path of the checkout does not stand in the bundle."""
        assert str(SPEC.parent) not in as_yaml(bundled(document()))

    def test_components_are_named_after_their_parts(self, tmp_path: Path) -> None:
        """A component is named after its file and the part of it; paths stand in place."""
        write(
            tmp_path,
            {
                "openapi.yaml": {"a": {"$ref": "paths/x.yaml"}, "components": {"links": {}}},
                "paths/x.yaml": {
                    "whole": {"$ref": "../schemas/deep/some-thing.yaml", "title": "mine"},
                    "part": {"$ref": "../schemas/deep/some-thing.yaml#/inner-part"},
                    "own": {"$ref": "../openapi.yaml#/components/links"},
                },
                "schemas/deep/some-thing.yaml": {
                    "inner-part": {"type": "string"},
                    "same": {"$ref": "#/inner-part"},
                },
            },
        )

        bundle = bundled(Document(tmp_path / "openapi.yaml"))

        inner = {"$ref": "#/components/schemas/SomeThingInnerPart"}
        assert bundle == {
            "a": {
                "whole": {"$ref": "#/components/schemas/SomeThing", "title": "mine"},
                "part": inner,
                "own": {"$ref": "#/components/links"},
            },
            "components": {
                "links": {},
                "schemas": {
                    "SomeThing": {"inner-part": {"type": "string"}, "same": inner},
                    "SomeThingInnerPart": {"type": "string"},
                },
            },
        }

    def test_two_parts_of_one_name_are_refused(self, tmp_path: Path) -> None:
        """Two files whose components would have one name raise DocumentError."""
        write(
            tmp_path,
            {
                "openapi.yaml": {"x": [{"$ref": "schemas/a.yaml"}, {"$ref": "schemas/b/a.yaml"}]},
                "schemas/a.yaml": {"type": "string"},
                "schemas/b/a.yaml": {"type": "number"},
            },
        )

        with pytest.raises(
            DocumentError, match=r"schemas/b/a\.yaml in openapi\.yaml: A is a\.yaml"
        ):
            bundled(Document(tmp_path / "openapi.yaml"))

    @pytest.mark.parametrize("text", ["0189", "1e5", "2026-01-15", "12:30", ".5", "yes", "~"])
    def test_a_text_stays_a_text(self, text: str) -> None:
        """Texts that YAML 1.1 or 1.2 might read as another type are quoted."""
        assert as_yaml({"x": text}) == f"x: '{text}'\n"


class TestCommand:
    """``payments-conformance spec`` says where the document is, and writes its bundle."""

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run the command; return its exit status and output."""
        result = CliRunner().invoke(app, ["spec", *arguments])
        return result.exit_code, result.output

    def test_it_tells_where_the_document_is(self) -> None:
        """Without arguments the command prints the path of the document."""
        assert self.run() == (0, f"{SPEC / 'openapi.yaml'}\n")

    def test_it_prints_the_bundle(self) -> None:
        """``--bundle`` prints YAML, and with ``--json`` JSON."""
        assert self.run("--bundle") == (0, as_yaml(bundled(document())))
        assert self.run("--bundle", "--json") == (0, as_json(bundled(document())))

    def test_it_writes_the_bundle(self, tmp_path: Path) -> None:
        """``--bundle`` with a file name writes the bundle to that file and prints nothing."""
        file = tmp_path / "payments.yaml"

        assert self.run("--bundle", str(file)) == (0, "")
        assert file.read_text(encoding="utf-8") == as_yaml(bundled(document()))

    def test_a_mistake_is_told(self, tmp_path: Path) -> None:
        """Wrong arguments and an absent folder end in exit status 2, and nothing is written."""
        assert self.run("--json")[0] == 2
        assert self.run(str(tmp_path / "payments.yaml"))[0] == 2
        assert self.run("--bundle", str(tmp_path / "absent" / "payments.yaml"))[0] == 2
        assert list(tmp_path.iterdir()) == []


def operations() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the operationId and the content of every operation."""
    for operation in document().operations.values():
        yield operation.id, operation.raw


def webhooks() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the type and the content of every event."""
    for name, item in document().raw["webhooks"].items():
        yield name, item["post"]


def media_types() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield the place and the content of every body of the document."""
    for name, raw in [*operations(), *webhooks()]:
        for media in raw.get("requestBody", {}).get("content", {}).values():
            yield f"{name} request", media
        for status, response in raw["responses"].items():
            for media in response.get("content", {}).values():
                yield f"{name} {status}", media


def examples(part: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the values of the examples of a request body or response."""
    for media in part.get("content", {}).values():
        for example in media.get("examples", {}).values():
            yield example["value"]


def links() -> Iterator[tuple[str, Operation, Mapping[str, Any], Mapping[str, Any]]]:
    """Yield the place of every link, its operation, its response and the link itself."""
    for operation in document().operations.values():
        for status, response in operation.raw["responses"].items():
            for name, link in response.get("links", {}).items():
                yield f"{operation.id} {status} {name}", operation, response, link


def expressions(node: Any) -> Iterator[str]:
    """Yield every runtime expression of a link."""
    if isinstance(node, dict):
        for member in node.values():
            yield from expressions(member)
    elif isinstance(node, str) and node.startswith("$"):
        yield node


def members_described(schema: Any) -> Mapping[tuple[str, ...], bool]:
    """Return whether anything describes each member of ``schema``, by its path."""
    descriptions: defaultdict[tuple[str, ...], bool] = defaultdict(bool)

    def walk(node: Any, path: tuple[str, ...]) -> None:
        if not isinstance(node, dict):
            return
        for name, member in node.get("properties", {}).items():
            descriptions[*path, name] |= isinstance(member, dict) and bool(
                member.get("description")
            )
            walk(member, (*path, name))
        walk(node.get("items"), (*path, "*"))
        walk(node.get("then"), path)
        for keyword in _BRANCHES:
            for branch in node.get(keyword, ()):
                walk(branch, path)

    descriptions[()] = bool(schema.get("description") or schema.get("allOf"))
    walk(schema, ())
    return descriptions


def shows_a_shape(schema: Mapping[str, Any]) -> bool:
    """Return whether a schema has any keyword besides a description."""
    return set(schema) - {"description"} != set()


def leads_to_a_member(schema: Mapping[str, Any], path: list[str]) -> bool:
    """Return whether the schema names a member at ``path``, or has no keywords at all."""
    if not path or not shows_a_shape(schema):
        return True
    member = schema.get("properties", {}).get(path[0])
    if member is not None and leads_to_a_member(member, path[1:]):
        return True
    branches = (branch for keyword in _BRANCHES for branch in schema.get(keyword, ()))
    return any(shows_a_shape(branch) and leads_to_a_member(branch, path) for branch in branches)


def invalid_examples(node: Any) -> Iterator[Any]:
    """Yield every example at or below ``node`` that its schema does not allow."""
    if isinstance(node, list):
        for member in node:
            yield from invalid_examples(member)
    if not isinstance(node, dict):
        return
    if isinstance(values := node.get("examples"), list):
        yield from (value for value in values if not validator_of(node).is_valid(value))
    if "example" in node and not validator_of(node["schema"]).is_valid(node["example"]):
        yield node["example"]
    for name, member in node.items():
        if name not in ("examples", "example"):
            yield from invalid_examples(member)


def validator_of(schema: Mapping[str, Any]) -> jsonschema_rs.Draft202012Validator:
    """Return the validator of a schema, which also checks the formats of texts."""
    return jsonschema_rs.Draft202012Validator(
        dict(schema), validate_formats=True, formats={UTC_MOMENT: is_utc_moment}
    )


def references(node: Any) -> Iterator[str]:
    """Yield every reference at or below ``node``."""
    if isinstance(node, list):
        for member in node:
            yield from references(member)
    elif isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for member in node.values():
            yield from references(member)


def without_components(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document without its components, of which a bundle has more."""
    return {key: value for key, value in raw.items() if key != "components"}


def write(folder: Path, files: Mapping[str, Any]) -> None:
    """Write each of the files below ``folder`` as YAML."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(yaml.safe_dump(content), encoding="utf-8")
