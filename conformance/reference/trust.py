"""Trusted beneficiaries: how an account loses its trust."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference import errors

if TYPE_CHECKING:
    from conformance.reference.store import Json
    from conformance.reference.unit import Ask, Unit


def untrust(_unit: Unit, _ask: Ask) -> Json:
    """Ask for the trust in an account to be taken away."""
    raise errors.Refusal("NOT_IMPLEMENTED", "Not offered.")


def confirm(_unit: Unit, _ask: Ask) -> Json:
    """Confirm that the trust in an account is taken away."""
    raise errors.Refusal("NOT_IMPLEMENTED", "Not offered.")
