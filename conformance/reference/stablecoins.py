"""Stablecoins of the platform, and what is minted and burnt of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from conformance.reference import errors

if TYPE_CHECKING:
    from conformance.reference.unit import Ask, Unit


def list_all(_unit: Unit, _ask: Ask) -> NoReturn:
    """Refuse."""
    raise errors.Refusal("NOT_IMPLEMENTED", "Not offered.")


def create(_unit: Unit, _ask: Ask) -> NoReturn:
    """Refuse."""
    raise errors.Refusal("NOT_IMPLEMENTED", "Not offered.")


def mint(_unit: Unit, _ask: Ask) -> NoReturn:
    """Refuse."""
    raise errors.Refusal("NOT_IMPLEMENTED", "Not offered.")


def burn(_unit: Unit, _ask: Ask) -> NoReturn:
    """Refuse."""
    raise errors.Refusal("NOT_IMPLEMENTED", "Not offered.")


def operations(_unit: Unit, _ask: Ask) -> NoReturn:
    """Refuse."""
    raise errors.Refusal("NOT_IMPLEMENTED", "Not offered.")
