"""Generated requests of one operation, the same for the same seed; they are kept on the disk.

To generate them takes longer than to send them, and the document and the seed rarely change.
"""

from __future__ import annotations

import base64
import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from conformance.contract.kept import digest, kept, place_beside
from conformance.contract.spec_files import spec_digest
from conformance.fuzz import forms

Query = Mapping[str, str | list[str]]

BOUNDARY_SHARE = 10
"""How many boundary cases are kept for each random one that was asked for."""

_GENERATORS = ("schemathesis", "hypothesis", "jsonschema-rs")
_BYTES = "conformance.bytes"
"""The only member of an object that stands for bytes, which JSON does not have."""


class Absent:
    """The type of :data:`ABSENT`."""

    def __repr__(self) -> str:
        return "ABSENT"


ABSENT = Absent()
"""Stands for a body or member that is not sent; ``None`` is JSON's null."""


@dataclass(frozen=True)
class Drawn:
    """One generated request, with the JSON value, bytes or absence of its body.

    ``valid`` tells whether it keeps to what it was generated from; ``note`` what was generated.
    ``files`` are the file parts of a body that is sent as a form, ``None`` where it is sent as
    JSON.
    """

    path: Mapping[str, str]
    query: Query
    body: Any
    content_type: str
    valid: bool
    note: str
    files: frozenset[str] | None = None

    @property
    def content(self) -> bytes | None:
        """The body as it is sent."""
        return None if self.body is ABSENT else encoded(self.body, self.files)


def encoded(body: Any, files: frozenset[str] | None = None) -> bytes:
    """Return the bytes of a JSON value, or of a form with ``files``; bytes stay as they are."""
    if isinstance(body, bytes):
        return body
    if files is not None and isinstance(body, dict):
        return forms.encoded(body, files)
    return json.dumps(body, ensure_ascii=False, separators=(",", ":")).encode()


@cache
def draw(name: str, seed: int, count: int) -> tuple[Drawn, ...]:
    """Return generated requests of one operation, none of them twice.

    Args:
        name: the ``operationId``.
        seed: decides the data, together with the name.
        count: how many random requests of each kind, valid and invalid, are drawn; of the
            boundary cases there may be ten times as many.
    """

    def generated() -> list[Any]:
        # It takes a second to import, and most runs need nothing of it.
        from conformance.fuzz.generation import generate  # noqa: PLC0415 - see above

        return [_to_json(drawn) for drawn in generate(name, seed, count)]

    place = place_beside(__file__, f"drawn-{name}-{count}.json")
    key = f"{seed}-{_makers()}"
    return tuple(map(_from_json, kept(place, key, generated)))


@cache
def _makers() -> str:
    """Return a digest of all that decides the requests of a seed: document, code and libraries."""
    code = [path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py"))]
    facts = [sys.version, spec_digest(), *map(version, _GENERATORS)]
    return digest([*code, *(fact.encode() for fact in facts)])


def _to_json(drawn: Drawn) -> Any:
    return [
        dict(drawn.path),
        dict(drawn.query),
        [] if drawn.body is ABSENT else [_without_bytes(drawn.body)],
        drawn.content_type,
        drawn.valid,
        drawn.note,
        None if drawn.files is None else sorted(drawn.files),
    ]


def _from_json(value: Any) -> Drawn:
    path, query, body, content_type, valid, note, files = value
    return Drawn(
        path,
        query,
        _with_bytes(body[0]) if body else ABSENT,
        content_type,
        valid,
        note,
        None if files is None else frozenset(files),
    )


def _without_bytes(value: Any) -> Any:
    """Return a value with texts in the place of bytes."""
    if isinstance(value, bytes):
        return {_BYTES: base64.b64encode(value).decode()}
    if isinstance(value, list):
        return list(map(_without_bytes, value))
    if isinstance(value, dict):
        return {name: _without_bytes(member) for name, member in value.items()}
    return value


def _with_bytes(value: Any) -> Any:
    if isinstance(value, list):
        return list(map(_with_bytes, value))
    if isinstance(value, dict):
        if value.keys() == {_BYTES}:
            return base64.b64decode(value[_BYTES])
        return {name: _with_bytes(member) for name, member in value.items()}
    return value
