"""Resets of authentication factors that customers lost."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from conformance.reference import errors

if TYPE_CHECKING:
    from conformance.reference.unit import Ask, Unit


def start(_unit: Unit, _ask: Ask) -> NoReturn:
    """Refuse."""
    raise errors.Refusal("NOT_IMPLEMENTED", "Not offered.")


def read(_unit: Unit, _ask: Ask) -> NoReturn:
    """Refuse."""
    raise errors.Refusal("NOT_IMPLEMENTED", "Not offered.")


def complete(_unit: Unit, _ask: Ask) -> NoReturn:
    """Refuse."""
    raise errors.Refusal("NOT_IMPLEMENTED", "Not offered.")
