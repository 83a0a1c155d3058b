"""Beneficial owners: the persons who own or control a business."""

from __future__ import annotations

from decimal import Decimal
from typing import TYPE_CHECKING, Any

from sqlalchemy import select

from conformance.reference import errors, fields, rules
from conformance.reference.customers import customers
from conformance.reference.rules import Field
from conformance.reference.store import BeneficialOwner
from conformance.reference.unit import new_id

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.store import Customer, Json
    from conformance.reference.unit import Ask, Unit

PERSON: tuple[str, ...] = (
    "firstName",
    "lastName",
    "birthDate",
    "nationality",
    "address",
    "idType",
    "identifier",
    "countryOfIssuance",
)
"""What is kept of ``personalInfo``."""

_ADDRESS = ("line1", "line2", "city", "state", "postalCode")

OWNER_FIELDS: tuple[Field, ...] = (
    Field("customerId", "string", required=True, min_length=1),
    Field("roles", "array", required=True, items="string"),
    Field("personalInfo", "object", required=True),
    Field("personalInfo.firstName", "string", required=True, min_length=1, max_length=255),
    Field("personalInfo.lastName", "string", required=True, min_length=1, max_length=255),
    Field("personalInfo.birthDate", "string", required=True, format=rules.DATE),
    Field("personalInfo.nationality", "string", format=rules.COUNTRY),
    Field("personalInfo.address", "object"),
    *(
        Field(f"personalInfo.address.{name}", "string", max_length=255, nullable=True)
        for name in _ADDRESS
    ),
    Field("personalInfo.address.country", "string", format=rules.COUNTRY),
    Field("personalInfo.idType", "string", enum=("SSN", "ITIN")),
    Field("personalInfo.identifier", "string", max_length=255),
    Field(
        "personalInfo.identifier",
        "string",
        pattern=r"\d{3}-\d{2}-\d{4}",
        when=("personalInfo.idType", "SSN"),
    ),
    Field("personalInfo.countryOfIssuance", "string", max_length=255),
)

SHARE: tuple[int, int] = (0, 100)
"""The least and the greatest percentage of a business that a person can own."""

NEEDED_FOR_REVIEW: tuple[str, ...] = ("address", "idType", "identifier")
"""What an owner may be reported without, and the review of the business asks for."""


def create(unit: Unit, ask: Ask) -> Json:
    """Report a person who owns or controls a business."""
    body = fields.demand(ask.body, OWNER_FIELDS, *share_errors(ask.body))
    business = customers.get(unit, body["customerId"])
    refuse_person(business)
    owner = BeneficialOwner(
        id=new_id("BeneficialOwner"),
        customer_id=business.id,
        roles=body["roles"],
        ownership=str(body["ownershipPercentage"]),
        person=kept(body["personalInfo"]),
        conditions={},
        created_at=unit.now,
    )
    unit.session.add(owner)
    return view(owner)


def share_errors(body: Any) -> list[Json]:
    """Return the error of an ``ownershipPercentage`` that is missing or no share of a whole."""
    path = "ownershipPercentage"
    if not isinstance(body, dict):
        return []
    if path not in body:
        return [errors.field_error(path, "A value is required.", required=True)]
    share, (least, most) = body[path], SHARE
    if isinstance(share, bool) or not isinstance(share, int | float):
        message = f"Expected number, got {fields.json_kind(share)}."
        return [errors.field_error(path, message, type="number")]
    if not least <= share <= most:
        message = f"Expected a percentage from {least} to {most}."
        return [errors.field_error(path, message, minimum=least, maximum=most)]
    return []


def refuse_person(customer: Customer) -> None:
    """Refuse owners of an individual."""
    if customer.customer_type != "BUSINESS":
        message = "Expected a business. Individuals have no beneficial owners."
        raise errors.invalid_input(errors.field_error("customerId", message))


def kept(person: Json) -> Json:
    """Return what is kept of a person."""
    return {name: person[name] for name in PERSON if person.get(name) is not None}


def of(unit: Unit, customer_id: str) -> Sequence[BeneficialOwner]:
    """Return the owners reported for a business, the first one first."""
    query = select(BeneficialOwner).where(BeneficialOwner.customer_id == customer_id)
    return list(unit.session.scalars(query.order_by(BeneficialOwner.created_at)))


def missing(owner: BeneficialOwner) -> list[str]:
    """Return the dotted paths of what the review of an owner's business still asks for."""
    return [f"personalInfo.{name}" for name in NEEDED_FOR_REVIEW if not owner.person.get(name)]


def view(owner: BeneficialOwner) -> Json:
    """Return the owner as clients see it."""
    share = Decimal(owner.ownership)
    return {
        "id": owner.id,
        "customerId": owner.customer_id,
        "roles": owner.roles,
        "ownershipPercentage": int(share) if share == int(share) else float(share),
        "personalInfo": owner.person,
    }
