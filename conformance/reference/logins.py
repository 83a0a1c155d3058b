"""Logins of customers who authenticate strongly, and their sessions."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from conformance.reference import errors

if TYPE_CHECKING:
    from conformance.reference.unit import Ask, Unit


def complete(_unit: Unit, _ask: Ask) -> NoReturn:
    """Refuse."""
    raise errors.Refusal("NOT_IMPLEMENTED", "Not offered.")
