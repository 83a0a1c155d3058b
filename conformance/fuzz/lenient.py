"""What a forgiving implementation may read in a body that the OpenAPI document calls invalid.

Many honest implementations read ``"100"`` as 100, 1.0 as 1, ``"true"`` as true and null as not
sent, ignore unknown members, and look at words without regard to case. A body has to be refused
only if nothing of the kind makes it valid.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from typing import Any

import jsonschema_rs

Schema = Mapping[str, Any]

_BOOLEANS = {
    **dict.fromkeys(("true", "t", "yes", "y", "on", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "off", "0"), False),
}
_KINDS: Mapping[type, str] = {
    bool: "boolean",
    int: "integer",
    float: "number",
    str: "string",
    list: "array",
    dict: "object",
}
_ANYTHING: Schema = {}
_SEPARATORS = re.compile(r"[\s\-_./()]")
_validators: dict[int, tuple[Schema, jsonschema_rs.Draft202012Validator]] = {}


def must_be_refused(schema: Schema, body: Any) -> bool:
    """Return whether a body is invalid however forgivingly it is read."""
    return not _is_valid(schema, body) and not _is_valid(schema, reading(schema, body))


def reading(schema: Schema, value: Any) -> Any:
    """Return ``value`` as a forgiving implementation may read it where ``schema`` stands.

    ``None`` stands for a member that counts as not sent.
    """
    for part in schema.get("allOf", ()):
        value = reading(part, value)
    for part in (*schema.get("oneOf", ()), *schema.get("anyOf", ())):
        read = reading(part, value)
        if _is_valid(part, read):
            value = read
            break
    if "then" in schema and _is_valid(schema["if"], value):
        value = reading(schema["then"], value)
    kinds = _kinds(schema)
    value = _unwrapped(value, kinds)
    if isinstance(value, dict):
        return _members(schema, value)
    if isinstance(value, list):
        return [reading(schema.get("items", _ANYTHING), item) for item in value]
    return _scalar(schema, value, kinds) if kinds and value is not None else value


def _members(schema: Schema, value: dict[str, Any]) -> dict[str, Any]:
    read = {}
    for name, member in value.items():
        of_member: Schema = schema.get("properties", {}).get(name, _ANYTHING)
        read[name] = reading(of_member, member)
        if read[name] is None and not _is_valid(of_member, None):
            del read[name]
    return read


def _kinds(schema: Schema) -> frozenset[str]:
    """Return the types that a schema names, or that the values it lists have."""
    named = schema.get("type", ())
    kinds = {named} if isinstance(named, str) else set(named)
    if not kinds:
        listed = [*schema.get("enum", ()), *([schema["const"]] if "const" in schema else ())]
        kinds = {_KINDS[type(item)] for item in listed if item is not None}
    if not kinds and "pattern" in schema:
        kinds = {"string"}
    return frozenset(kinds - {"null"})


def _unwrapped(value: Any, kinds: frozenset[str]) -> Any:
    """Read a list of one value as the value, a value as a list of one, and ``[]`` as ``{}``."""
    if kinds == {"array"} and not isinstance(value, list | None):
        return [value]
    if isinstance(value, list) and kinds and "array" not in kinds:
        if len(value) == 1:
            return value[0]
        if not value and "object" in kinds:
            return {}
    return value


def _scalar(schema: Schema, value: Any, kinds: frozenset[str]) -> Any:
    if value == "" and "string" not in kinds:
        return None
    if kinds == {"boolean"}:
        return _boolean(value)
    if kinds & {"integer", "number"} and "string" not in kinds:
        return _number(value)
    if kinds == {"string"}:
        return _text(schema, value)
    return value


def _boolean(value: Any) -> Any:
    if isinstance(value, int | float):
        return bool(value)
    return _BOOLEANS.get(value.strip().lower(), value) if isinstance(value, str) else value


def _number(value: Any) -> Any:
    """Return a text or a boolean as the number it may stand for, whole ones as integers."""
    if isinstance(value, bool):
        return int(value)
    number = value
    if isinstance(value, str):
        text = value.strip().replace(",", "")
        for read in (int, lambda text: int(text, 0), float):
            try:
                number = read(text)
                break
            except ValueError:
                continue
    return int(number) if isinstance(number, float) and number.is_integer() else number


def _text(schema: Schema, value: Any) -> Any:
    """Return a scalar as the text that fits best: spaces, separators and case may not count."""
    listed = schema.get("enum") or ([schema["const"]] if "const" in schema else None)
    if isinstance(value, bool):
        value = str(value).lower()
    elif isinstance(value, int | float):
        if listed:
            # Some read a number as the place of a word in the list.
            return listed[0]
        value = str(value)
    if not isinstance(value, str):
        return value
    if listed:
        words = {_bare(word).lower(): word for word in listed if isinstance(word, str)}
        return words.get(_bare(value).lower(), value)
    if "pattern" in schema:
        digits = _bare(unicodedata.normalize("NFKC", value))
        value = digits if _is_valid(schema, digits) else value
    longest: int | None = schema.get("maxLength")
    if longest is not None and _shortest_length(value) <= longest:
        # What is counted where a text is not plain is left open.
        value = value[:longest]
    return value


def _bare(text: str) -> str:
    return _SEPARATORS.sub("", text)


def _shortest_length(text: str) -> int:
    """Return the length by the most forgiving count: printable ASCII alone."""
    return sum("!" <= character <= "~" for character in text)


def _is_valid(schema: Schema, value: Any) -> bool:
    """Return whether a value is valid; what is no JSON at all is not."""
    key = id(schema)
    if key not in _validators:
        validator = jsonschema_rs.Draft202012Validator(dict(schema), validate_formats=False)
        # The schema is kept, so that nothing else takes its place in memory.
        _validators[key] = (schema, validator)
    try:
        return _validators[key][1].is_valid(value)
    except ValueError:
        return False
