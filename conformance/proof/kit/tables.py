"""Builders of patches of the tables of the reference."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from conformance.proof.patch import Apply, Holder, NoSuchTarget, Patch
from conformance.reference import fields, routes, rules


def with_row(holder: Holder, name: str, key: Any, value: Any) -> Apply:
    """Change a row of a table, or add one."""
    return lambda patch: patch.row(holder, name, key, value)


def without_row(holder: Holder, name: str, key: Any) -> Apply:
    """Take a row out of a table."""
    return lambda patch: patch.drop(holder, name, key)


def with_status(code: str, status: int) -> Apply:
    """Answer an error code with another HTTP status."""
    return with_row(rules, "ERROR_STATUS", code, status)


def with_columns(holder: Holder, name: str, key: Any, /, **changes: Any) -> Apply:
    """Change columns of one row of a table."""

    def apply(patch: Patch) -> None:
        table = getattr(holder, name, {})
        if key not in table:
            raise NoSuchTarget(f"the reference has no row {key!r} in {name}")
        patch.row(holder, name, key, replace(table[key], **changes))

    return apply


def answers(operation: str, status: int) -> Apply:
    """Answer an operation with another status where it succeeds."""
    return with_columns(routes, "OPERATIONS", operation, status=status)


def with_field(
    holder: Holder, name: str, path: str, when: tuple[str, str] | None = None, /, **changes: Any
) -> Apply:
    """Change the rules of a member in a table of fields, or those alone that hold under ``when``.

    ``changes`` are columns of the table, as ``max_length=80``; ``kind="any"`` takes any value.
    """

    def is_meant(field: rules.Field) -> bool:
        return field.path == path and (when is None or field.when == when)

    def apply(patch: Patch) -> None:
        table = getattr(holder, name, ())
        if not any(map(is_meant, table)):
            raise NoSuchTarget(f"the reference has no rule of {path} in {name}")
        if changes.get("kind") == "any":
            patch.row(fields, "_TYPES", "any", (object,))
        rows = [replace(field, **changes) if is_meant(field) else field for field in table]
        patch.replace(holder, name, tuple(rows))

    return apply
