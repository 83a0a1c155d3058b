"""The beneficiary of an external account: a person or a business, and what is asked about them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from conformance.reference import errors, fields, rules
from conformance.reference.rules import Field

if TYPE_CHECKING:
    from collections.abc import Sequence

    from conformance.reference.external_accounts.account_types import AccountType
    from conformance.reference.store import Customer, Json

PLACE = "accountInfo.beneficiary"
_SOME_TEXT = r"[\s\S]*\S[\s\S]*"
_NAME = ("fullName",)
_WHERE = ("address.line1", "address.city", "address.postalCode", "address.country")
_FIRM = ("legalName", "address")
_NUMBER = ("registrationNumber",)
_REGISTERED = (*_FIRM, *_NUMBER)
_TAXED = (*_REGISTERED, "taxId")


def _text(name: str, **more: Any) -> Field:
    return Field(f"{PLACE}.{name}", "string", min_length=1, **more)


BENEFICIARY_FIELDS: tuple[Field, ...] = (
    Field(PLACE, "object", required=True),
    _text("beneficiaryType", required=True, enum=("INDIVIDUAL", "BUSINESS")),
    _text("fullName", pattern=_SOME_TEXT),
    _text("birthDate", format=rules.DATE),
    _text("nationality", format=rules.COUNTRY),
    Field(f"{PLACE}.address", "object"),
    _text("address.line1"),
    Field(f"{PLACE}.address.line2", "string"),
    _text("address.city"),
    Field(f"{PLACE}.address.state", "string"),
    _text("address.postalCode"),
    _text("address.country", format=rules.COUNTRY),
    _text("legalName", pattern=_SOME_TEXT),
    _text("registrationNumber"),
    _text("taxId"),
    Field(f"{PLACE}.businessInfo", "object"),
    _text("businessInfo.legalName", pattern=_SOME_TEXT),
    _text("businessInfo.taxId"),
    _text("documentType"),
    _text("documentNumber"),
)
"""The forms of a beneficiary's members, where they are given."""

INDIVIDUAL_MINIMUM: dict[str, tuple[str, ...]] = {
    "USD": (*_NAME, *_WHERE),
    "EUR": (*_NAME, *_WHERE),
    "GBP": (*_NAME, *_WHERE),
    "MXN": _NAME,
    "BRL": _NAME,
    "PHP": _NAME,
    "AED": (*_NAME, "address"),
}
"""What an individual needs beside its type to receive a currency; in others its name."""

BUSINESS_MINIMUM: dict[str, tuple[str, ...]] = {
    "USD": _FIRM,
    "MXN": _FIRM,
    "EUR": _REGISTERED,
    "GBP": _FIRM,
    "INR": _FIRM,
    "BRL": _FIRM,
    "DKK": _FIRM,
    "PHP": _FIRM,
    "HKD": _FIRM,
    "IDR": _FIRM,
    "MYR": _FIRM,
    "SGD": _FIRM,
    "THB": _FIRM,
    "VND": _FIRM,
    "AED": _FIRM,
    "ILS": _FIRM,
    "CNY": _REGISTERED,
    "NGN": _TAXED,
    "ZAR": _TAXED,
    "KES": _TAXED,
    "TZS": _TAXED,
    "RWF": _TAXED,
    "ZMW": _TAXED,
    "UGX": _TAXED,
    "BWP": _TAXED,
    "MWK": _TAXED,
    "XOF": _TAXED,
    "XAF": _TAXED,
}
"""What a business needs beside its type to receive a currency; in others its name."""

BUSINESS_SENDER_MINIMUM: dict[str, tuple[str, ...]] = {
    "GBP": _NUMBER,
    "INR": _NUMBER,
    "BRL": _NUMBER,
    "DKK": _NUMBER,
    "PHP": _NUMBER,
    "HKD": _NUMBER,
    "IDR": _NUMBER,
    "MYR": _NUMBER,
    "SGD": _NUMBER,
    "THB": _NUMBER,
    "VND": _NUMBER,
    "AED": _NUMBER,
    "ILS": _NUMBER,
}
"""What a business needs beside that to receive a currency from another business."""

NESTED: dict[str, str] = {"legalName": "businessInfo.legalName", "taxId": "businessInfo.taxId"}
"""Members of a business that may stand elsewhere."""

DOCUMENT_TYPES: dict[str, tuple[str, ...]] = {"COP": ("CC", "CE", "TI", "NIT", "PP")}
"""The documents that identify a beneficiary in a currency, where they are known."""


def check(body: Json, _kind: AccountType, sender: Customer | None) -> list[Json]:
    """Return the errors of the beneficiary in the body of a new account.

    ``sender`` is the customer who will pay to it; the platform's accounts have none.
    """
    found = fields.check(body, BENEFICIARY_FIELDS)
    beneficiary = fields.at(body, PLACE)
    if not isinstance(beneficiary, dict):
        return found
    wrong = {entry["field"] for entry in found}
    more = [
        *document_errors(beneficiary, body["currency"]),
        *missing_errors(beneficiary, due(beneficiary, body["currency"], sender)),
    ]
    return [*found, *(entry for entry in more if entry["field"] not in wrong)]


def due(beneficiary: Json, currency: str, sender: Customer | None) -> Sequence[str]:
    """Return the members that a beneficiary needs to receive a currency."""
    if beneficiary.get("beneficiaryType") != "BUSINESS":
        return INDIVIDUAL_MINIMUM.get(currency, _NAME)
    needed = BUSINESS_MINIMUM.get(currency, ("legalName",))
    if sender is not None and sender.customer_type == "BUSINESS":
        return (*needed, *BUSINESS_SENDER_MINIMUM.get(currency, ()))
    return needed


def missing_errors(beneficiary: Json, needed: Sequence[str]) -> list[Json]:
    """Return an error for each needed member that is missing."""
    return [
        errors.field_error(f"{PLACE}.{path}", "A value is required.", required=True)
        for path in dict.fromkeys(needed)
        if not has(beneficiary, path)
    ]


def has(beneficiary: Json, path: str) -> bool:
    """Return whether a beneficiary has a member, at its own place or at another one."""
    places = [place for place in (path, NESTED.get(path)) if place is not None]
    return any(fields.at(beneficiary, place) not in (fields.ABSENT, None, {}) for place in places)


def document_errors(beneficiary: Json, currency: str) -> list[Json]:
    """Return the error of a document that the destination does not know."""
    known = DOCUMENT_TYPES.get(currency)
    given = beneficiary.get("documentType")
    if known is None or given is None or given in known:
        return []
    message = f"Expected one of {', '.join(known)}."
    return [errors.field_error(f"{PLACE}.documentType", message, enum=list(known))]
