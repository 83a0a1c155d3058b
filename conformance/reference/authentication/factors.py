"""The authentication factors that customers have."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from conformance.reference import fields, rules
from conformance.reference.customers import customers
from conformance.reference.rules import Field

if TYPE_CHECKING:
    from conformance.reference.store import Customer
    from conformance.reference.unit import Ask, Unit

_CLEARED: Final = "CLEARED_FACTORS"


def of(customer: Customer) -> list[str]:
    """Return the factors that a customer may use: all but those that a reset cleared."""
    cleared = customer.conditions.get(_CLEARED, ())
    return [name for name in rules.SCA_FACTORS if name not in cleared]


def clear(customer: Customer, factor: str) -> None:
    """Take a factor away from a customer."""
    cleared = [*customer.conditions.get(_CLEARED, ()), factor]
    customer.conditions = {**customer.conditions, _CLEARED: cleared}


def restore(customer: Customer, factor: str) -> None:
    """Give a factor to a customer."""
    cleared = [name for name in customer.conditions.get(_CLEARED, ()) if name != factor]
    customer.conditions = {**customer.conditions, _CLEARED: cleared}


def named(ask: Ask) -> str:
    """Return the factor that a request names: ``{factor}``."""
    row = Field("factor", "string", required=True, enum=rules.SCA_FACTORS)
    factor: str = fields.demand(ask.body, [row])["factor"]
    return factor


def holder(unit: Unit, ask: Ask) -> Customer:
    """Return the customer in the path of a request, to be changed."""
    return customers.get(unit, ask.params["customerId"], lock=True)
