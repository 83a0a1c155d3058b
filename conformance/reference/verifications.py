"""Submitting customers for review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference import errors
from conformance.reference.store import Json

if TYPE_CHECKING:
    from conformance.reference.unit import Ask, Unit


def create(unit: Unit, ask: Ask) -> Json:
    """Submit a customer for review."""
    raise errors.Refusal("NOT_IMPLEMENTED", "To be written.")


def list_for_customer(unit: Unit, ask: Ask) -> Json:
    """List the submissions of a customer."""
    raise errors.Refusal("NOT_IMPLEMENTED", "To be written.")
