"""Proof that a customer owns an external account."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference import errors

if TYPE_CHECKING:
    from conformance.reference.store import Json
    from conformance.reference.unit import Ask, Unit


def challenge(_unit: Unit, _ask: Ask) -> Json:
    """Start the proof: by a signature, or by a hosted liveness check."""
    raise errors.Refusal("NOT_IMPLEMENTED", "Not offered.")


def verify(_unit: Unit, _ask: Ask) -> Json:
    """Complete a proof by signature."""
    raise errors.Refusal("NOT_IMPLEMENTED", "Not offered.")
