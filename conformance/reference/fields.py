"""Judging a request body against rows of field rules."""

from __future__ import annotations

import re
from datetime import UTC, date, datetime
from functools import cache
from typing import TYPE_CHECKING, Any

from conformance.reference import errors, rules

if TYPE_CHECKING:
    from collections.abc import Sequence

ABSENT: Any = object()

_TYPES: dict[str, tuple[type, ...]] = {
    "string": (str,),
    "boolean": (bool,),
    "object": (dict,),
    "array": (list,),
}
_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s.]+(\.[^@\s.]+)+")
_PHONE = re.compile(r"\+[1-9]\d{4,14}")


def at(body: Any, path: str) -> Any:
    """Return the value at a dotted path, or ``ABSENT``."""
    value = body
    for name in path.split("."):
        if not isinstance(value, dict) or name not in value:
            return ABSENT
        value = value[name]
    return value


def demand(body: Any, fields: Sequence[rules.Field], *more: dict[str, Any]) -> dict[str, Any]:
    """Return ``body`` if it is an object that keeps every rule.

    ``more`` are field errors found elsewhere, to be reported in the same answer.

    Raises ``Refusal`` (INVALID_INPUT) with one entry for each invalid field.
    """
    if not isinstance(body, dict):
        raise errors.Refusal(
            "INVALID_REQUEST_FORMAT",
            f"Expected a JSON object as body, got {json_kind(body)}. Send an object.",
        )
    found = [*check(body, fields), *more]
    if found:
        raise errors.invalid_input(*found)
    return body


def check(body: dict[str, Any], fields: Sequence[rules.Field]) -> list[dict[str, Any]]:
    """Return an error for each field that breaks its rule; at most one for each path."""
    found: dict[str, dict[str, Any]] = {}
    for field in fields:
        if field.path in found or not _applies(body, field):
            continue
        error = _judge(at(body, field.path), field)
        if error is not None:
            found[field.path] = error
    return list(found.values())


def json_kind(value: Any) -> str:
    """Return the JSON name of a value's kind."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return next(name for name, types in _TYPES.items() if isinstance(value, types))


def parse_timestamp(text: str) -> int | None:
    """Return the microseconds since 1970 of an ISO 8601 timestamp, or ``None``."""
    try:
        moment = datetime.fromisoformat(text)
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=UTC)
        return round(moment.timestamp() * 1_000_000)
    except (ValueError, OverflowError):
        return None


def _applies(body: dict[str, Any], field: rules.Field) -> bool:
    if field.when is not None and at(body, field.when[0]) != field.when[1]:
        return False
    parent = field.path.rpartition(".")[0]
    return not parent or isinstance(at(body, parent), dict)


def _judge(value: Any, field: rules.Field) -> dict[str, Any] | None:
    if value is ABSENT and field.required:
        return errors.field_error(field.path, "A value is required.", required=True)
    if value is ABSENT or (value is None and not field.required):
        return None
    if not _has_kind(value, field.kind):
        message = f"Expected {field.kind}, got {json_kind(value)}."
        return errors.field_error(field.path, message, type=field.kind)
    if isinstance(value, str):
        return _judge_text(value, field)
    if field.kind == "integer":
        return _judge_integer(int(value), field)
    return _judge_items(value, field) if isinstance(value, list) else None


def _judge_items(values: list[Any], field: rules.Field) -> dict[str, Any] | None:
    if field.items is None:
        return None
    for index, item in enumerate(values):
        if not _has_kind(item, field.items):
            message = f"Expected {field.items}, got {json_kind(item)}."
            return errors.field_error(f"{field.path}.{index}", message, type=field.items)
    return None


def _has_kind(value: Any, kind: str) -> bool:
    if kind == "integer":
        whole = isinstance(value, float) and value.is_integer()
        return (isinstance(value, int) or whole) and not isinstance(value, bool)
    return isinstance(value, _TYPES[kind])


def _judge_integer(value: int, field: rules.Field) -> dict[str, Any] | None:
    if field.minimum is not None and value < field.minimum:
        message = f"Expected at least {field.minimum}, got {value}."
        return errors.field_error(field.path, message, minimum=field.minimum)
    if field.maximum is not None and value > field.maximum:
        message = f"Expected at most {field.maximum}."
        return errors.field_error(field.path, message, maximum=field.maximum)
    return None


def _judge_text(value: str, field: rules.Field) -> dict[str, Any] | None:
    if field.enum and value not in field.enum:
        message = f"Expected one of {', '.join(field.enum)}."
        return errors.field_error(field.path, message, enum=list(field.enum))
    if field.min_length is not None and len(value) < field.min_length:
        message = f"Expected at least {field.min_length} characters."
        return errors.field_error(field.path, message, minLength=field.min_length)
    if field.max_length is not None and len(value) > field.max_length:
        message = f"Expected at most {field.max_length} characters, got {len(value)}."
        return errors.field_error(field.path, message, maxLength=field.max_length)
    if field.pattern is not None and _compiled(field.pattern).fullmatch(value) is None:
        message = f"Expected text of the form {field.pattern}."
        return errors.field_error(field.path, message, pattern=f"^(?:{field.pattern})$")
    if field.format is not None and not _has_format(value, field.format):
        message = f"Expected text in the format {field.format}."
        return errors.field_error(field.path, message, format=field.format)
    return None


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(pattern, re.ASCII)


def _has_format(value: str, name: str) -> bool:
    if name == "email":
        return _EMAIL.fullmatch(value) is not None
    if name == "tel":
        return _PHONE.fullmatch(value) is not None
    if name == "date-time":
        return parse_timestamp(value) is not None
    if name == rules.COUNTRY:
        return value in rules.COUNTRIES
    return _is_date(value)


def _is_date(value: str) -> bool:
    try:
        return date.fromisoformat(value).isoformat() == value
    except ValueError:
        return False
