"""The members of a customer that a platform may send, and what is shown of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from conformance.platform.resource import Json
from conformance.text.paths import value_at
from conformance.verdict.decisions import ResourceMissing


@dataclass(frozen=True)
class Member:
    """A member of a customer, with the ids of the requirements on its form and on its value."""

    path: str
    form_id: str
    value_id: str | None = None

    @property
    def requirements(self) -> tuple[str, ...]:
        """The ids of the requirements that the member decides."""
        return (self.form_id,) if self.value_id is None else (self.form_id, self.value_id)


_OF_ALL = (
    Member("platformCustomerId", "CUS-050"),
    Member("region", "CUS-051", "CUS-070"),
    Member("currencies", "CUS-052", "CUS-071"),
)

_ADDRESS = (
    Member("address", "CUS-056"),
    Member("address.line1", "CUS-057", "CUS-075"),
    Member("address.line2", "CUS-058", "CUS-076"),
    Member("address.city", "CUS-059", "CUS-077"),
    Member("address.state", "CUS-060", "CUS-078"),
    Member("address.postalCode", "CUS-061", "CUS-079"),
    Member("address.country", "CUS-062", "CUS-080"),
)

INDIVIDUAL = (
    *_OF_ALL,
    Member("fullName", "CUS-053", "CUS-072"),
    Member("birthDate", "CUS-054", "CUS-073"),
    Member("nationality", "CUS-055", "CUS-074"),
    *_ADDRESS,
    Member("email", "CUS-063", "CUS-081"),
    Member("phoneNumber", "CUS-064", "CUS-082"),
    Member("idType", "CUS-065", "CUS-083"),
    Member("identifier", "CUS-066", "CUS-084"),
)

BUSINESS = (
    *_OF_ALL,
    *_ADDRESS,
    Member("businessInfo", "BUS-030"),
    Member("businessInfo.legalName", "BUS-031", "BUS-040"),
    Member("businessInfo.country", "BUS-032", "BUS-041"),
    Member("businessInfo.taxId", "BUS-033", "BUS-042"),
    Member("businessInfo.incorporatedOn", "BUS-034", "BUS-043"),
    Member("businessInfo.registrationNumber", "BUS-035", "BUS-044"),
    Member("businessInfo.primaryContactFirstName", "BUS-036", "BUS-045"),
    Member("businessInfo.primaryContactLastName", "BUS-037", "BUS-046"),
    Member("email", "CUS-063", "BUS-052"),
    Member("phoneNumber", "CUS-064", "BUS-053"),
)


def shown_values(path: str, *customers: Json) -> list[Any]:
    """Return the value at a dotted path of each customer that shows one.

    Raises:
        ResourceMissing: none shows one.
    """
    values = [value_at(customer, path) for customer in customers]
    if not (shown := [value for value in values if value is not None]):
        raise ResourceMissing(f"{path} is not shown")
    return shown
