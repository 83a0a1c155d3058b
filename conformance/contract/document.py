"""The OpenAPI document: loaded, its references resolved, its operations by id."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any
from urllib.parse import unquote

from conformance.contract.data import SPEC
from conformance.contract.spec_files import parsed

REQUIREMENTS = "x-requirements"
"""The extension of an operation that names the requirements which it has by itself, by kind."""

_METHODS = ("get", "post", "put", "patch", "delete")


class DocumentError(Exception):
    """The OpenAPI document cannot be read as it is written."""


class BrokenReference(DocumentError):
    """A ``$ref`` leads nowhere, or back to itself."""


class MissingRequirement(DocumentError):
    """An operation does not name the requirement that it has to have."""

    def __init__(self, operation: str, kind: str) -> None:
        super().__init__(
            f"{operation}: its {REQUIREMENTS} name none for {kind}; write {REQUIREMENTS}: "
            f"{{{kind}: ID}} below its operationId"
        )


JSON = "application/json"
"""The media type that the document gives all JSON."""

_JSON_TYPE = re.compile(r"application/(?:[^\s/;+]+\+)*json")


def media_type_of(content_type: str) -> str:
    """Return the media type of a ``Content-Type`` header, without its parameters.

    All types of JSON count as ``application/json``: the specification says that bodies are JSON
    (Introduction, line 3), and not which of its media types they have.
    """
    media_type = content_type.partition(";")[0].strip().lower()
    return JSON if _JSON_TYPE.fullmatch(media_type) else media_type


@dataclass(frozen=True)
class Operation:
    """One operation of the document, its references resolved."""

    id: str
    method: str
    path: str
    raw: Mapping[str, Any]

    @cached_property
    def request_schema(self) -> Mapping[str, Any] | None:
        """The schema of the JSON request body, if the operation takes one."""
        media = self.raw.get("requestBody", {}).get("content", {}).get(JSON)
        return None if media is None else media.get("schema", {})

    @cached_property
    def form_schema(self) -> Mapping[str, Any] | None:
        """The schema of the multipart form, if the operation takes one."""
        media = self.raw.get("requestBody", {}).get("content", {}).get("multipart/form-data")
        return None if media is None else media.get("schema", {})

    @property
    def requirements(self) -> Mapping[str, str]:
        """The ids of requirements that each operation has by itself, by their kind.

        ``server-error``: no request makes it answer with one; ``error-object``: it refuses by one;
        ``faulty-body``: it refuses a body outside the stated types, presence and values;
        ``accepted``: a request that nothing speaks against is accepted.
        """
        named: Mapping[str, str] = self.raw.get(REQUIREMENTS, {})
        return named

    def requirement(self, kind: str) -> str:
        """Return the id of a requirement that every operation has.

        Raises:
            MissingRequirement: this one has none of the kind.
        """
        if kind not in self.requirements:
            raise MissingRequirement(self.id, kind)
        return self.requirements[kind]

    @property
    def body_required(self) -> bool:
        """Whether a request without a body is outside the document."""
        return bool(self.raw.get("requestBody", {}).get("required"))

    def response(self, status: int) -> Mapping[str, Any] | None:
        """Return the response object documented for ``status``, if there is one."""
        responses: Mapping[str, Any] = self.raw["responses"]
        found: Mapping[str, Any] | None = responses.get(str(status))
        return found


class Document:
    """An OpenAPI document read from files, with every reference resolved in place."""

    def __init__(self, entry: Path) -> None:
        self.entry = entry.resolve()
        """The file that all others are reached from."""
        self._files: dict[Path, Any] = {}
        self._resolved: dict[tuple[Path, str], Any] = {}
        self.raw: Mapping[str, Any] = self._resolve(self._read(self.entry), self.entry, ())
        """The whole document as one tree without references."""

    @cached_property
    def operations(self) -> Mapping[str, Operation]:
        """Every operation by its ``operationId``."""
        return {
            item[method]["operationId"]: Operation(
                item[method]["operationId"],
                method.upper(),
                path,
                # A path item's parameters belong to each of its operations.
                {
                    **item[method],
                    "parameters": [
                        *item.get("parameters", ()),
                        *item[method].get("parameters", ()),
                    ],
                },
            )
            for path, item in self.raw["paths"].items()
            for method in _METHODS
            if method in item
        }

    def _read(self, path: Path) -> Any:
        if path not in self._files:
            if not path.is_file():
                raise BrokenReference(f"{path}: no such file")
            self._files[path] = parsed(path)
        return self._files[path]

    def _resolve(self, node: Any, file: Path, trail: tuple[tuple[Path, str], ...]) -> Any:
        if isinstance(node, list):
            return [self._resolve(member, file, trail) for member in node]
        if not isinstance(node, dict):
            return node
        if not isinstance(node.get("$ref"), str):
            return {key: self._resolve(value, file, trail) for key, value in node.items()}
        target = self._target(node["$ref"], file, trail)
        beside = {
            key: self._resolve(value, file, trail) for key, value in node.items() if key != "$ref"
        }
        if not beside:
            return target
        # Both may conjoin, and the one beside the reference is the more specific.
        return {**target, **beside}

    def _target(self, reference: str, file: Path, trail: tuple[tuple[Path, str], ...]) -> Any:
        key = located(reference, file)
        if key in trail:
            raise BrokenReference(f"{file.name}: {reference} leads back to itself")
        if key not in self._resolved:
            self._resolved[key] = self._resolve(self.part(reference, file), key[0], (*trail, key))
        return self._resolved[key]

    def part(self, reference: str, file: Path) -> Any:
        """Return what ``reference`` leads to from within ``file``, as it is written there."""
        path, pointer = located(reference, file)
        node = self._read(path)
        for token in pointer.split("/")[1:]:
            token = unquote(token).replace("~1", "/").replace("~0", "~")  # noqa: PLW2901
            if not isinstance(node, dict) or token not in node:
                raise BrokenReference(f"{file.name}: {reference} does not lead anywhere")
            node = node[token]
        return node


def located(reference: str, file: Path) -> tuple[Path, str]:
    """Return the file and the pointer in it that ``reference`` leads to from within ``file``."""
    name, _, pointer = reference.partition("#")
    return _file(file.parent, name) if name else file, pointer


@cache
def _file(folder: Path, name: str) -> Path:
    return (folder / name).resolve()


@cache
def document() -> Document:
    """Return the OpenAPI document that the suite ships."""
    return Document(SPEC / "openapi.yaml")
