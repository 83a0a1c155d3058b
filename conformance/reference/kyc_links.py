"""Hosted flows of verification."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference import errors
from conformance.reference.store import Json

if TYPE_CHECKING:
    from conformance.reference.unit import Ask, Unit


def create(unit: Unit, ask: Ask) -> Json:
    """Invite a customer to a hosted flow."""
    raise errors.Refusal("NOT_IMPLEMENTED", "To be written.")
