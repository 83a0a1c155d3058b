"""What the sandbox makes of marked names and numbers, in the place of a review."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference import rules
from conformance.reference.store import Paperwork

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.store import BeneficialOwner, Customer
    from conformance.reference.unit import Unit


def suffix_of(customer: Customer, owners: Sequence[BeneficialOwner]) -> str | None:
    """Return the suffix that decides about a customer, or ``None``."""
    for text in marked(customer, owners):
        for suffix in rules.SUFFIX_OUTCOMES:
            if text.endswith(suffix):
                return suffix
    return None


def marked(customer: Customer, owners: Sequence[BeneficialOwner]) -> list[str]:
    """Return the texts that may carry a suffix."""
    if customer.customer_type == "INDIVIDUAL":
        return [customer.details.get("fullName") or ""]
    number = (customer.details.get("businessInfo") or {}).get("registrationNumber") or ""
    return [number, *(owner.person.get("lastName") or "" for owner in owners)]


def asks_first(customer: Customer) -> bool:
    """Return whether the first submission of a complete business is answered with an error."""
    number = (customer.details.get("businessInfo") or {}).get("registrationNumber") or ""
    return customer.customer_type == "BUSINESS" and number.endswith("002")


def outcome_of(suffix: str | None, customer: Customer, *, hosted: bool) -> str | None:
    """Return the decision on what was submitted, or ``None`` where a review has to decide."""
    if suffix is not None:
        return rules.SUFFIX_OUTCOMES[suffix]
    return rules.HOSTED_OUTCOMES[customer.customer_type] if hosted else None


def outcome_at_creation(unit: Unit, customer: Customer) -> str | None:
    """Return the decision on a new individual where paperwork is skipped; mostly none."""
    suffix = suffix_of(customer, ())
    if customer.customer_type != "INDIVIDUAL" or suffix is None:
        return None
    return rules.SUFFIX_OUTCOMES[suffix] if is_paperless(unit, customer, suffix) else None


def is_paperless(unit: Unit, customer: Customer, suffix: str | None) -> bool:
    """Return whether a customer is reviewed without papers."""
    return skips_paperwork(unit, customer) and suffix not in rules.PACKET_SUFFIXES


def skips_paperwork(unit: Unit, customer: Customer) -> bool:
    """Return whether the option that skips paperwork is on for a customer."""
    return unit.session.get(Paperwork, customer.platform_customer_id) is not None


def choose_paperwork(unit: Unit, platform_customer_id: str, *, skipped: bool) -> None:
    """Turn the option on or off for the customers of a platform's own id."""
    row = unit.session.get(Paperwork, platform_customer_id)
    if skipped and row is None:
        unit.session.add(Paperwork(id=platform_customer_id))
    elif row is not None and not skipped:
        unit.session.delete(row)
