"""Beneficial owners of businesses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference import errors
from conformance.reference.store import Json

if TYPE_CHECKING:
    from conformance.reference.unit import Ask, Unit


def create(unit: Unit, ask: Ask) -> Json:
    """Report a person who owns or controls a business."""
    raise errors.Refusal("NOT_IMPLEMENTED", "To be written.")
