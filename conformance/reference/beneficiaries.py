"""Who stands behind an external account: a person or a business, and what is asked about them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference import fields
from conformance.reference.rules import Field

if TYPE_CHECKING:
    from conformance.reference.account_types import AccountType
    from conformance.reference.store import Customer, Json

BENEFICIARY_FIELDS: tuple[Field, ...] = (
    Field("accountInfo.beneficiary", "object", required=True),
    Field(
        "accountInfo.beneficiary.beneficiaryType",
        "string",
        required=True,
        enum=("INDIVIDUAL", "BUSINESS"),
    ),
    Field(
        "accountInfo.beneficiary.fullName",
        "string",
        required=True,
        min_length=1,
        when=("accountInfo.beneficiary.beneficiaryType", "INDIVIDUAL"),
    ),
)


def check(body: Json, _kind: AccountType, _sender: Customer | None) -> list[Json]:
    """Return the errors of the beneficiary in the body of a new account.

    ``_sender`` is the customer who will pay to it; the platform's accounts have none.
    """
    return fields.check(body, BENEFICIARY_FIELDS)
