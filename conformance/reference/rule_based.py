"""Rule-based accounts: further account numbers whose deposits are swept on."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference import errors

if TYPE_CHECKING:
    from conformance.reference.store import Json
    from conformance.reference.unit import Ask, Unit


def create(_unit: Unit, _ask: Ask) -> Json:
    """Create a rule-based account."""
    raise errors.Refusal("NOT_IMPLEMENTED", "Not offered.")
