"""Customers: finding them, what they may do, and how clients see them."""

from __future__ import annotations

from conformance.reference import errors, rules
from conformance.reference.store import Customer, Json
from conformance.reference.unit import Unit, present, timestamp


def get(unit: Unit, customer_id: str, *, lock: bool = False) -> Customer:
    """Return the customer of an id; raises ``Refusal`` (CUSTOMER_NOT_FOUND).

    Whoever changes some members of a column and keeps the others has to lock it.
    """
    customer = unit.session.get(Customer, customer_id, with_for_update=lock or None)
    if customer is None:
        raise errors.Refusal("CUSTOMER_NOT_FOUND", "No customer has this id.")
    return customer


def is_new(unit: Unit, customer_id: str) -> bool:
    """Return whether a customer is being created in this unit, so that no query would find it."""
    return any(isinstance(row, Customer) and row.id == customer_id for row in unit.session.new)


def is_verified(customer: Customer) -> bool:
    """Return whether the customer may fund accounts and move money."""
    return customer.status == "APPROVED"


def refuse_unverified(customer: Customer) -> None:
    """Refuse money movement of a customer whose verification is not approved."""
    if not is_verified(customer):
        raise errors.Refusal(
            "CONFLICT",
            f"The customer's verification is {customer.status}. Wait until it is APPROVED.",
        )


def has_accepted_terms(customer: Customer) -> bool:
    """Return whether the acceptance of the end-user terms is on file."""
    return customer.consent is not None


def refuse_without_terms(customer: Customer) -> None:
    """Refuse quotes of a customer who has not accepted the end-user terms."""
    if not has_accepted_terms(customer):
        raise errors.Refusal(
            "END_USER_TERMS_NOT_ACCEPTED",
            "The customer has not accepted the end-user terms. Record endUserTermsConsent first.",
        )


def missing_fields(customer: Customer, currency: str) -> list[str]:
    """Return the fields that a currency's provider asks for and the customer has not supplied.

    They are about a person; a business is known by its registration.
    """
    if customer.customer_type == "BUSINESS":
        return []
    wanted = rules.PROVIDER_REQUIRED_FIELDS.get(currency, ())
    return [name for name in wanted if not customer.details.get(name)]


def refuse_incomplete(customer: Customer, *currencies: str) -> None:
    """Refuse money movement in currencies whose providers know too little of the customer."""
    for currency in currencies:
        if missing := missing_fields(customer, currency):
            raise errors.Refusal(
                "MISSING_MANDATORY_USER_INFO",
                f"To move money in {currency} the customer needs {', '.join(missing)}. "
                "Update the customer first.",
            )


def needs_sca(customer: Customer) -> bool:
    """Return whether the customer authorizes money movement with a challenge."""
    country = (customer.details.get("address") or {}).get("country")
    return bool({customer.region, country} & rules.SCA_REGIONS)


def has_condition(customer: Customer, name: str) -> bool:
    """Return whether something that a client cannot cause holds for the customer."""
    return name in customer.conditions


def contact_verification(customer: Customer) -> Json | None:
    """Return how far each channel is that has to be verified; ``None`` where none has to be."""
    return {name: entry["status"] for name, entry in customer.contact.items()} or None


def unverified_channels(customer: Customer) -> list[str]:
    """Return the channels that have to be verified and are not yet."""
    return [name for name, entry in customer.contact.items() if entry["status"] != "VERIFIED"]


def view(customer: Customer) -> Json:
    """Return the customer as clients see it."""
    return present(
        {
            **customer.details,
            "id": customer.id,
            "customerType": customer.customer_type,
            "platformCustomerId": customer.platform_customer_id,
            "umaAddress": customer.uma_address,
            "region": customer.region,
            "currencies": customer.currencies,
            rules.STATUS_FIELD[customer.customer_type]: customer.status,
            "contactVerification": contact_verification(customer),
            "endUserTermsConsent": customer.consent,
            "createdAt": timestamp(customer.created_at),
            "updatedAt": timestamp(customer.updated_at),
            "isDeleted": False,
        }
    )
