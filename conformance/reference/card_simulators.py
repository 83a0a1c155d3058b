"""The sandbox simulators of cards: what merchants and networks do."""

from __future__ import annotations

from typing import TYPE_CHECKING, NoReturn

from conformance.reference import errors

if TYPE_CHECKING:
    from conformance.reference.unit import Ask, Unit


def reverse_return(_unit: Unit, _ask: Ask) -> NoReturn:
    """Refuse."""
    raise errors.Refusal("NOT_IMPLEMENTED", "Not offered.")
