"""The OpenAPI document as readers see it: described, with examples and links, and as one file."""

from __future__ import annotations

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
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

_EXPRESSION = re.compile(r"\$response\.body#(/\S+)|\$request\.(path|query)\.(\S+)")
_BRANCHES = ("allOf", "anyOf", "oneOf")


class TestDescriptions:
    """Whoever reads the document is told what everything is."""

    def test_every_operation_and_event_is_described(self) -> None:
        """In short and in full, under a name of its own and one of the tags."""
        tags = {tag["name"] for tag in document().raw["tags"]}
        found = [*operations(), *webhooks()]

        for _, raw in found:
            assert raw["summary"], raw
            assert raw["description"] != raw["summary"], raw
            assert set(raw["tags"]) < tags, raw
        assert max(Counter(raw["operationId"] for _, raw in found).values()) == 1

    def test_an_event_is_named_as_what_handles_it(self) -> None:
        """So that generated code reads well."""
        for name, raw in webhooks():
            words = re.split(r"[._]", name)

            assert raw["operationId"] == "on" + "".join(word.capitalize() for word in words)
            assert raw["tags"] == ["Webhooks"]

    def test_every_parameter_and_response_is_described(self) -> None:
        """Also those that a part of the document shares with others."""
        for name, raw in [*operations(), *webhooks()]:
            for part in (*raw.get("parameters", ()), *raw["responses"].values()):
                assert part["description"], (name, part)

    def test_every_schema_is_described(self) -> None:
        """What is sent and what is answered, as a whole and in each member of it."""
        bare = {
            f"{place}: {'.'.join(path) or 'the whole'}"
            for place, media in media_types()
            for path, told in described(media["schema"]).items()
            if not told
        }

        assert bare == set()

    def test_what_is_deprecated_is_marked(self) -> None:
        """And nothing else is."""
        marked = {name for name, raw in operations() if raw.get("deprecated")}
        told = {name for name, raw in operations() if "deprecated" in raw["summary"]}

        assert marked == told == {"transferIn", "transferOut"}


class TestExamples:
    """Examples show what the schemas say."""

    def test_every_body_has_an_example(self) -> None:
        """Of a request, of its success where something is shown of it, and of each event."""
        without = [
            place
            for place, media in media_types()
            if shows_a_shape(media["schema"]) and not media.get("examples")
            if " 4" not in place and " 5" not in place
        ]

        assert without == []

    def test_every_example_is_valid(self) -> None:
        """By the schema that it stands with."""
        for place, media in media_types():
            validator = validator_of(media["schema"])
            for name, example in media.get("examples", {}).items():
                errors = [error.message for error in validator.iter_errors(example["value"])]

                assert errors == [], f"{place} {name}"

    def test_every_example_within_a_schema_is_valid(self) -> None:
        """By that schema; parameters have theirs too."""
        assert list(misplaced(document().raw)) == []

    def test_an_example_of_a_request_is_one_that_the_suite_might_send(self) -> None:
        """The client's own check of requests lets it pass."""
        for operation in document().operations.values():
            for example in examples(operation.raw.get("requestBody", {})):
                assert judge().request_errors(operation, example) == [], operation.id

    def test_an_example_of_an_error_has_a_code_of_its_status(self) -> None:
        """As the table of error codes has it."""
        for operation in document().operations.values():
            for status, response in operation.raw["responses"].items():
                if status >= "4":
                    codes = [error_code(example) for example in examples(response)]

                    assert all(int(status) in error_codes()[code or ""] for code in codes)

    def test_an_example_of_an_event_is_one_of_its_type(self) -> None:
        """And the judge has nothing against it."""
        for name, raw in webhooks():
            for example in examples(raw["requestBody"]):
                verdict = judge().delivery(example)

                assert example["type"] == name
                assert [found for found in verdict.findings if not found.passed] == []

    def test_every_example_is_used(self) -> None:
        """None is left over in the files."""
        written = [
            name
            for file in (SPEC / "examples").glob("*.yaml")
            for name in yaml.safe_load(file.read_text(encoding="utf-8"))
        ]

        assert len(bundled(document())["components"]["examples"]) == len(written)


class TestLinks:
    """Links lead from an answer to the requests that may follow it."""

    def test_every_link_leads_to_an_operation(self) -> None:
        """And brings all that its path and query need, and nothing that it does not know."""
        for place, _, _, link in links():
            target = document().operations[link["operationId"]]
            known = {p["name"]: p for p in target.raw["parameters"] if p["in"] != "header"}
            needed = {name for name, parameter in known.items() if parameter.get("required")}
            given = set(link.get("parameters", ()))

            assert link["description"], place
            assert needed <= given <= set(known), place

    def test_every_expression_leads_to_something(self) -> None:
        """To a member of the answer, or to a parameter of the request."""
        for place, operation, response, link in links():
            for expression in expressions(link):
                found = _EXPRESSION.fullmatch(expression)
                assert found, (place, expression)
                pointer, kind, name = found.groups()
                if pointer is not None:
                    media = response["content"]["application/json"]
                    assert leads_to_a_member(media["schema"], pointer.split("/")[1:]), place
                else:
                    parameters = {(p["in"], p["name"]) for p in operation.raw["parameters"]}
                    assert (kind, name) in parameters, place

    def test_every_link_is_used(self) -> None:
        """None is left over among the components."""
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
        """From its first request to its last."""
        following = {(operation.id, link["operationId"]) for _, operation, _, link in links()}
        steps = flow.split()

        assert set(pairwise(steps)) - following == set()


class TestBundle:
    """The whole document as one file."""

    def test_it_refers_to_itself_alone(self) -> None:
        """No file has to come along with it."""
        assert {reference[:2] for reference in references(bundled(document()))} == {"#/"}

    def test_it_says_what_the_document_says(self, tmp_path: Path) -> None:
        """Operation by operation and schema by schema, in YAML as in JSON."""
        bundle = bundled(document())
        (tmp_path / "bundle.yaml").write_text(as_yaml(bundle), encoding="utf-8")
        (tmp_path / "bundle.json").write_text(as_json(bundle), encoding="utf-8")

        for name in ("bundle.yaml", "bundle.json"):
            read = Document(tmp_path / name)

            assert read.operations == document().operations
            assert whole(read.raw) == whole(document().raw)
            for room, parts in document().raw["components"].items():
                assert {key: read.raw["components"][room][key] for key in parts} == parts

    def test_it_is_valid_openapi(self) -> None:
        """With its references in place."""
        errors = OpenAPIV31SpecValidator(bundled(document())).iter_errors()

        assert [f"{list(error.absolute_path)}: {error.message}" for error in errors] == []

    def test_it_is_the_same_each_time(self) -> None:
        """Whatever was read before."""
        fresh = Document(SPEC / "openapi.yaml")

        assert as_yaml(bundled(fresh)) == as_yaml(bundled(document()))

    def test_it_names_no_place_on_this_machine(self) -> None:
        """It can be given away."""
        assert str(SPEC.parent) not in as_yaml(bundled(document()))

    def test_components_are_named_after_their_parts(self, tmp_path: Path) -> None:
        """After the file, and after what of it is referred to; other parts are put in place."""
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
        """One would hide the other."""
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
        """Also for readers of YAML 1.2, who take other things for numbers than those of 1.1."""
        assert as_yaml({"x": text}) == f"x: '{text}'\n"


class TestCommand:
    """``payments-conformance spec``."""

    def run(self, *arguments: str) -> tuple[int, str]:
        """Run the command; return its exit status and output."""
        done = CliRunner().invoke(app, ["spec", *arguments])
        return done.exit_code, done.output

    def test_it_tells_where_the_document_is(self) -> None:
        """With the wheel it is not easy to find."""
        assert self.run() == (0, f"{SPEC / 'openapi.yaml'}\n")

    def test_it_prints_the_bundle(self) -> None:
        """In YAML, or in JSON."""
        assert self.run("--bundle") == (0, as_yaml(bundled(document())))
        assert self.run("--bundle", "--json") == (0, as_json(bundled(document())))

    def test_it_writes_the_bundle(self, tmp_path: Path) -> None:
        """To the file that is named."""
        file = tmp_path / "payments.yaml"

        assert self.run("--bundle", str(file)) == (0, "")
        assert file.read_text(encoding="utf-8") == as_yaml(bundled(document()))

    def test_a_mistake_is_told(self, tmp_path: Path) -> None:
        """Nothing is written then."""
        assert self.run("--json")[0] == 2
        assert self.run(str(tmp_path / "payments.yaml"))[0] == 2
        assert self.run("--bundle", str(tmp_path / "absent" / "payments.yaml"))[0] == 2
        assert list(tmp_path.iterdir()) == []


def operations() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every operation with its name."""
    for operation in document().operations.values():
        yield operation.id, operation.raw


def webhooks() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every event with its type."""
    for name, item in document().raw["webhooks"].items():
        yield name, item["post"]


def media_types() -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Yield every body of the document with its place."""
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
    """Yield every link with its place, and the operation and the response that it stands with."""
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


def described(schema: Any) -> Mapping[tuple[str, ...], bool]:
    """Return the path of each member of ``schema``, and whether anything describes it."""
    found: defaultdict[tuple[str, ...], bool] = defaultdict(bool)

    def walk(node: Any, path: tuple[str, ...]) -> None:
        if not isinstance(node, dict):
            return
        for name, member in node.get("properties", {}).items():
            found[*path, name] |= isinstance(member, dict) and bool(member.get("description"))
            walk(member, (*path, name))
        walk(node.get("items"), (*path, "*"))
        walk(node.get("then"), path)
        for keyword in _BRANCHES:
            for branch in node.get(keyword, ()):
                walk(branch, path)

    found[()] = bool(schema.get("description") or schema.get("allOf"))
    walk(schema, ())
    return found


def shows_a_shape(schema: Mapping[str, Any]) -> bool:
    """Tell whether a schema says more than that there is something."""
    return set(schema) - {"description"} != set()


def leads_to_a_member(schema: Mapping[str, Any], path: list[str]) -> bool:
    """Tell whether the schema names a member at ``path``, or shows nothing at all."""
    if not path or not shows_a_shape(schema):
        return True
    member = schema.get("properties", {}).get(path[0])
    if member is not None and leads_to_a_member(member, path[1:]):
        return True
    branches = (branch for keyword in _BRANCHES for branch in schema.get(keyword, ()))
    return any(shows_a_shape(branch) and leads_to_a_member(branch, path) for branch in branches)


def misplaced(node: Any) -> Iterator[Any]:
    """Yield every example below ``node`` that its schema does not allow."""
    if isinstance(node, list):
        for member in node:
            yield from misplaced(member)
    if not isinstance(node, dict):
        return
    if isinstance(shown := node.get("examples"), list):
        yield from (value for value in shown if not validator_of(node).is_valid(value))
    if "example" in node and not validator_of(node["schema"]).is_valid(node["example"]):
        yield node["example"]
    for name, member in node.items():
        if name not in ("examples", "example"):
            yield from misplaced(member)


def validator_of(schema: Mapping[str, Any]) -> jsonschema_rs.Draft202012Validator:
    """Return the validator of a schema, forms of texts included."""
    return jsonschema_rs.Draft202012Validator(dict(schema), validate_formats=True)


def references(node: Any) -> Iterator[str]:
    """Yield every reference below ``node``."""
    if isinstance(node, list):
        for member in node:
            yield from references(member)
    elif isinstance(node, dict):
        if isinstance(node.get("$ref"), str):
            yield node["$ref"]
        for member in node.values():
            yield from references(member)


def whole(raw: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document without its components, which may have got more."""
    return {key: value for key, value in raw.items() if key != "components"}


def write(folder: Path, files: Mapping[str, Any]) -> None:
    """Write each of the files below ``folder``."""
    for name, content in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(yaml.safe_dump(content), encoding="utf-8")
