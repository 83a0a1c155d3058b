"""Requests that schemathesis generates from the OpenAPI document, the same for the same seed.

They are generated before any is sent, so that no answer of the target steers them.
"""

from __future__ import annotations

import json
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from typing import Any, TypeVar
from urllib.parse import unquote

import hypothesis
import schemathesis
from hypothesis import HealthCheck, Phase
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from hypothesis.internal.conjecture import providers
from hypothesis.internal.constants_ast import Constants
from schemathesis import GenerationMode
from schemathesis.core import NOT_SET
from schemathesis.generation.case import Case
from schemathesis.schemas import APIOperation
from schemathesis.specs.openapi.schemas import OpenApiSchema

from conformance.contract.document import Operation, document
from conformance.fuzz import forms
from conformance.fuzz.drawn import ABSENT, BOUNDARY_SHARE, Drawn

T = TypeVar("T")

_MAX_CONDITIONS = 3
"""How many parts of one ``allOf`` are generated from."""

_JSON = "application/json"
_ENVELOPE = {"openapi": "3.1.0", "info": {"title": "One operation", "version": "1"}}
_ANY_ANSWER = {"default": {"description": "Any answer."}}
_CONFIG = {
    # A cache on the disk would carry one run's data over to the next.
    "cache": {"enabled": False},
    "generation": {"deterministic": True, "database": "none", "with-security-parameters": False},
    "phases": {
        "coverage": {"unexpected-methods": [], "generate-duplicate-query-parameters": False}
    },
}


def generate(name: str, seed: int, count: int) -> list[Drawn]:
    """Return generated requests of one operation, none of them twice.

    Args:
        name: the ``operationId``.
        seed: decides the data, together with the name.
        count: how many random requests of each kind, valid and invalid, are drawn; of the
            boundary cases there may be ten times as many.
    """
    operation = document().operations[name]
    with _closed_world():
        drawn = [_drawn(operation, case) for case in _cases(operation, seed, count)]
        if not _takes_input(operation):
            drawn += _with_unknown_query(f"{seed}/{name}", count)
    return list({repr(request): request for request in drawn}.values())


def _cases(operation: Operation, seed: int, count: int) -> Iterator[Case[Any]]:
    schemas = _schemas(operation)
    share = -(-count // len(schemas))
    for mode in GenerationMode:
        boundary: list[Case[Any]] = []
        generated: list[Case[Any]] = []
        for kind, schema in schemas.items():
            found: APIOperation[Any, Any, Any, Any] = schema.find_operation_by_id(operation.id)
            generation = schema.config.generation_for(operation=found, phase="coverage")
            boundary += schema.iter_coverage_cases(
                found, generation_modes=[mode], generation_config=generation
            )
            # Every text is a valid path parameter, so that there is nothing to get wrong.
            if mode is GenerationMode.POSITIVE or _takes_more_than_a_path(operation):
                strategy = found.as_strategy(generation_mode=mode)
                generated += _many(strategy, share, _key(seed, operation, kind, mode))
        yield from _sample(boundary, BOUNDARY_SHARE * count, _key(seed, operation, "", mode))
        yield from generated


def _key(seed: int, operation: Operation, kind: str, mode: GenerationMode) -> str:
    return "/".join(filter(None, (str(seed), operation.id, kind, mode.value)))


def _many(strategy: st.SearchStrategy[T], count: int, key: str) -> list[T]:
    """Return up to ``count`` values of a strategy."""
    values: list[T] = []

    @hypothesis.seed(random.Random(key).getrandbits(64))  # noqa: S311 - not for secrets
    @hypothesis.settings(
        max_examples=count,
        database=None,
        deadline=None,
        phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )
    @hypothesis.given(strategy)
    def collect(value: T) -> None:
        values.append(value)

    try:
        collect()
    except Unsatisfiable:
        return []
    return values


def _with_unknown_query(key: str, count: int) -> list[Drawn]:
    """Return requests of an operation without any input: parameters that it does not know."""
    names = st.text(st.characters(codec="utf-8"), min_size=1)
    queries = st.dictionaries(names, st.text(st.characters(codec="utf-8")), min_size=1, max_size=3)
    return [
        Drawn({}, query, ABSENT, "", valid=False, note="unknown query parameters")
        for query in _many(queries, count, key)
    ]


def _drawn(operation: Operation, case: Case[Any]) -> Drawn:
    meta = case.meta
    body = ABSENT if case.body is NOT_SET else case.body
    usual = _JSON if operation.form_schema is None else forms.FORM
    return Drawn(
        # They come percent-encoded, which the client does itself.
        path={name: unquote(str(value)) for name, value in case.path_parameters.items()},
        query={name: _parameter(value) for name, value in case.query.items()},
        body=body,
        content_type=case.headers.get("Content-Type", "" if body is ABSENT else usual),
        valid=meta is not None and meta.generation.mode.is_positive,
        note=_description(case),
        files=None if operation.form_schema is None else forms.files_of(operation.form_schema),
    )


def _parameter(value: Any) -> str | list[str]:
    if isinstance(value, list):
        return [_word(item) for item in value]
    return _word(value)


def _word(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _sample(cases: list[Case[Any]], most: int, key: str) -> list[Case[Any]]:
    """Return ``most`` of the cases in their order; as many as can be of different faults."""
    if len(cases) <= most:
        return cases
    order = random.Random(key).sample(range(len(cases)), len(cases))  # noqa: S311 - not for secrets
    times: Counter[str] = Counter()
    turns = {}
    for index in order:
        turns[index] = times[fault := _description(cases[index])]
        times[fault] += 1
    chosen = sorted(order, key=lambda index: turns[index])[:most]
    return [cases[index] for index in sorted(chosen)]


def _description(case: Case[Any]) -> str:
    data = None if case.meta is None else case.meta.phase.data
    return str(getattr(data, "description", None) or "generated")


def _takes_more_than_a_path(operation: Operation) -> bool:
    places = {parameter["in"] for parameter in operation.raw["parameters"]}
    return "requestBody" in operation.raw or bool(places - {"path"})


def _takes_input(operation: Operation) -> bool:
    return bool(operation.raw["parameters"]) or "requestBody" in operation.raw


def _schemas(operation: Operation) -> Mapping[str, OpenApiSchema]:
    """Return what an operation is generated from, by the kind of body; most have one, ``""``.

    Schemathesis multiplies the conditions of a schema out, and gives up on those of all types of
    accounts at once. So each type has a schema of its own, without conditions.
    """
    kinds = sorted(_kinds(operation.request_schema))
    if not kinds:
        return {"": _schema()}
    path, method = operation.path, operation.method.lower()
    whole = document().raw["paths"][path][method]
    body = whole["requestBody"]
    media_type = body["content"][_JSON]
    found = {}
    for kind in kinds:
        content = {_JSON: {**media_type, "schema": _of_kind(media_type["schema"], kind)}}
        # Of the answers nothing is generated, and to copy them for each kind takes long.
        raw = {**whole, "requestBody": {**body, "content": content}, "responses": _ANY_ANSWER}
        found[kind] = _loaded({**_ENVELOPE, "paths": {path: {method: narrowed(raw)}}})
    return found


def _kinds(node: Any) -> Iterator[str]:
    """Yield the constants that more than a few conditions in one place of a schema ask for."""
    if isinstance(node, dict):
        parts = node.get("allOf", ())
        if len(parts) > _MAX_CONDITIONS:
            for part in parts:
                yield from _constants(part.get("if"))
        for inner in node.get("properties", {}).values():
            yield from _kinds(inner)


def _constants(node: Any) -> Iterator[str]:
    if isinstance(node, dict):
        if "const" in node:
            yield node["const"]
        for inner in node.get("properties", {}).values():
            yield from _constants(inner)


def _of_kind(node: Any, kind: str) -> Any:
    """Return a schema as it is for one kind: its conditions are decided, and left out."""
    if not isinstance(node, dict):
        return node
    names = {name: _of_kind(inner, kind) for name, inner in node.get("properties", {}).items()}
    found = {**node, "properties": names} if names else dict(node)
    if len(node.get("allOf", ())) > _MAX_CONDITIONS:
        conditions = [part for part in found.pop("allOf") if kind in _constants(part.get("if"))]
        for part in conditions:
            then = part["then"]
            own = part["if"]["properties"]
            told = {name: inner for name, inner in own.items() if "const" in inner}
            found["properties"] = {**names, **then.get("properties", {}), **told}
            found["required"] = [*found.get("required", ()), *then.get("required", ())]
            found |= {word: then[word] for word in ("anyOf", "oneOf") if word in then}
    return found


@cache
def _schema() -> OpenApiSchema:
    # It is schemathesis's to change, and the judge reads the original.
    return _loaded(narrowed(document().raw))


def _loaded(raw: Mapping[str, Any]) -> OpenApiSchema:
    return schemathesis.openapi.from_dict(dict(raw), config=schemathesis.Config.from_dict(_CONFIG))


def narrowed(node: Any, *, with_examples: bool = False) -> Any:
    """Return a copy of a document without what goes beyond a few conditions in one place of it.

    Without ``with_examples`` whole examples go too: schemathesis would send one of them in the
    place of every other body.
    """
    if isinstance(node, list):
        return [narrowed(item, with_examples=with_examples) for item in node]
    if not isinstance(node, dict):
        return node
    inner = {
        name: narrowed(value, with_examples=with_examples)
        for name, value in node.items()
        if with_examples or name != "examples" or "schema" not in node
    }
    if isinstance(parts := inner.get("allOf"), list) and len(parts) > _MAX_CONDITIONS:
        inner["allOf"] = parts[:_MAX_CONDITIONS]
    return inner


@contextmanager
def _closed_world() -> Iterator[None]:
    """Let nothing but the seed and the document decide what is generated.

    Hypothesis mixes in literals that it finds in the modules loaded so far, which differ from
    run to run with the selection and order of the tests.
    """
    original: Callable[[], Constants] = providers._get_local_constants  # noqa: SLF001
    providers._get_local_constants = Constants  # noqa: SLF001
    providers.CONSTANTS_CACHE.cache.clear()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        providers._get_local_constants = original  # noqa: SLF001
        providers.CONSTANTS_CACHE.cache.clear()
