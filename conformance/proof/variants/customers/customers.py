"""Conforming variants of customers: when their data are checked, and how they are shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from conformance.proof.kit.builders import Json, before, edited, recoded, rescued
from conformance.proof.kit.edits import with_null, without
from conformance.proof.kit.optional import declare_optional
from conformance.proof.mutants.customers.toolkit import accounts_with_approval
from conformance.proof.patch import Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import errors, fields, rules
from conformance.reference.customers import customers, onboarding
from conformance.reference.store import Customer
from conformance.reference.unit import Ask, Unit
from conformance.reference.verification import verifications

# --- Members that need not be there ---------------------------------------------------------


OPTIONAL = (
    "platformCustomerId",
    "birthDate",
    "nationality",
    "email",
    "phoneNumber",
    "idType",
    "identifier",
    "businessInfo",
    "sourceOfFundsCategories",
    "sourceOfFundsOtherDescription",
    "sourceOfWealthCategories",
    "sourceOfWealthOtherDescription",
    "purposeOfAccount",
    "expectedMonthlyTransactionCount",
    "expectedMonthlyTransactionVolume",
    "annualIncomeRange",
    "netWorthRange",
    "pepStatus",
    "umaAddress",
    "createdAt",
    "updatedAt",
    "isDeleted",
)

for _member in OPTIONAL:
    declare(
        "N001",
        f"customer-without-{_member}",
        f"no customer shows {_member}",
        edited(customers, "view", without(_member)),
        "onboarding",
    )
    declare(
        "M75",
        f"customer-with-null-{_member}",
        f"{_member} of every customer is null",
        edited(customers, "view", with_null(_member)),
        "other onboarding",
    )


# --- How they are shown ---------------------------------------------------------------------


def masked(text: str) -> str:
    """Return a number with stars in the place of all but its last four digits."""
    return re.sub(r"\d(?=(\D*\d){4})", "*", text)


@variant(
    "N112",
    "the numbers of people and businesses are masked",
    "further onboarding",
    (customers, "view"),
    edited,
)
def masked_numbers(body: Json) -> Json:
    if body.get("identifier"):
        body = {**body, "identifier": masked(body["identifier"])}
    info = body.get("businessInfo")
    if isinstance(info, dict) and info.get("taxId"):
        body = {**body, "businessInfo": {**info, "taxId": masked(info["taxId"])}}
    return body


@variant(
    "N112",
    "phones are shown with spaces, and mail addresses in capitals",
    "further onboarding",
    (customers, "view"),
    edited,
)
def other_notation(body: Json) -> Json:
    if body.get("phoneNumber"):
        number = body["phoneNumber"]
        body = {**body, "phoneNumber": f"{number[:2]} {number[2:5]} {number[5:]}"}
    return {**body, "email": body["email"].upper()} if body.get("email") else body


declare(
    "N112",
    "currencies-reversed",
    "the currencies of a customer are shown in another order",
    edited(customers, "view", lambda body: {**body, "currencies": body["currencies"][::-1]}),
    "further onboarding",
)


# --- Where they are looked at ---------------------------------------------------------------


_TWO_WORDS = "A name has two words or more."


def _complaining(patch: Patch, find: Callable[[Customer], Sequence[Json]]) -> None:
    """Let a submission complain about what ``find`` returns beside what is missing."""

    def missing(original: Function, packet: verifications.Packet) -> list[Json]:
        return [*original(packet), *find(packet.customer)]

    patch.wrap(verifications, "missing_fields", missing)


@variant("M27", "the submission complains about a name of a single word", "apart")
def single_word_at_submission(patch: Patch) -> None:
    name_errors = onboarding.name_errors

    def find(customer: Customer) -> list[Json]:
        return [
            verifications.entry(customer.id, "MISSING_FIELD", _TWO_WORDS, field="fullName")
            for _ in name_errors(customer.details)
        ]

    patch.replace(onboarding, "name_errors", lambda _: [])
    _complaining(patch, find)


@variant(
    "M27",
    "the submission complains about a single word, and does not name the field",
    "other apart",
)
def single_word_without_field(patch: Patch) -> None:
    name_errors = onboarding.name_errors

    def find(customer: Customer) -> list[Json]:
        found = name_errors(customer.details)
        return [verifications.entry(customer.id, "INVALID_NAME", _TWO_WORDS) for _ in found]

    patch.replace(onboarding, "name_errors", lambda _: [])
    _complaining(patch, find)


@variant(
    "M28", "the forms of a customer's members are looked at when it is submitted", "last apart"
)
def forms_at_submission(patch: Patch) -> None:
    rules_of = onboarding.creation_rules
    others = (onboarding.name_errors, onboarding.diligence_errors)
    kept = ("customerType", "businessInfo", "endUserTermsConsent", "platformCustomerId", "region")

    def loose(body: Any) -> list[rules.Field]:
        return [
            row
            if row.path in kept or row.path.startswith("endUserTermsConsent.")
            # What a business is created by is still asked for.
            else replace(row, enum=(), pattern=None, format=None, min_length=None)
            for row in rules_of(body)
        ]

    def find(customer: Customer) -> list[Json]:
        told = {
            "customerType": customer.customer_type,
            "currencies": customer.currencies,
            **customer.details,
        }
        found = [*fields.check(told, rules_of(told)), *(e for other in others for e in other(told))]
        return [
            verifications.entry(customer.id, "INVALID_FIELD", e["message"], field=e["field"])
            for e in found
        ]

    patch.replace(onboarding, "creation_rules", loose)
    patch.replace(onboarding, "name_errors", lambda _: [])
    patch.replace(onboarding, "diligence_errors", lambda _: [])
    _complaining(patch, find)


@variant(
    "M20",
    "what a business lacks is refused as missing, and not listed",
    "onboarding",
    (onboarding, "create"),
)
def missing_user_info(original: Function, unit: Unit, ask: Ask) -> Any:
    try:
        return original(unit, ask)
    except errors.Refusal as refusal:
        listed = (refusal.details or {}).get("errors", ())
        if any(e.get("constraint", {}).get("required") for e in listed):
            raise errors.Refusal("MISSING_MANDATORY_USER_INFO", "Tell more.") from None
        raise


# --- Notations that are taken too -----------------------------------------------------------


@variant("N054", "tax numbers are digits behind a country, however they are grouped", "onboarding")
def loose_tax_ids(patch: Patch) -> None:
    loose = r"(?:[A-Z]{2})?[\d -]{4,}"
    rows = [
        replace(row, pattern=loose) if row.path == "businessInfo.taxId" else row
        for row in rules.BUSINESS_FIELDS
    ]
    patch.replace(rules, "BUSINESS_FIELDS", tuple(rows))


# --- Changes --------------------------------------------------------------------------------


@variant("N111", "an object that a change sends replaces the old one", "onboarding")
def replaced_objects(patch: Patch) -> None:
    patch.replace(onboarding, "overlaid", lambda _old, new: new)


@variant("N110", "members that the interface does not name are refused", "further onboarding")
def unknown_refused(patch: Patch) -> None:
    known = {row.path.partition(".")[0] for row in rules.CUSTOMER_FIELDS}

    def handler(original: Function, unit: Unit, ask: Ask) -> Any:
        unknown = ask.body.keys() - known if isinstance(ask.body, dict) else ()
        if unknown:
            raise errors.invalid_input(*(errors.field_error(n, "Unknown.") for n in unknown))
        return original(unit, ask)

    for place in ((onboarding, "create"), (onboarding, "update")):
        patch.wrap(*place, handler)


@variant(
    "N096",
    "a change that sends the type or the platform's id of a customer is refused",
    "onboarding",
    (onboarding, "update"),
    before,
)
def fixed_members(unit: Unit, ask: Ask) -> None:
    sent = ask.body if isinstance(ask.body, dict) else {}
    if fixed := [name for name in ("customerType", "platformCustomerId") if name in sent]:
        raise errors.invalid_input(
            *(errors.field_error(name, "It cannot be changed.") for name in fixed)
        )


@variant(
    "N004",
    "customers are taken who live in the United States or in Germany, and businesses of the former",
    "other apart",
    (onboarding, "create"),
    before,
)
def few_regions(unit: Unit, ask: Ask) -> None:
    body = ask.body if isinstance(ask.body, dict) else {}
    regions = ("US",) if body.get("customerType") == "BUSINESS" else ("US", "DE")
    if body.get("region") not in (None, *regions):
        raise errors.invalid_input(errors.field_error("region", "It is not served."))


@variant("M72", "a refused change lists no fields", "onboarding", (onboarding, "update"), rescued)
def unlisted_changes(refusal: errors.Refusal, unit: Unit, ask: Ask) -> Any:
    raise errors.Refusal(refusal.code, refusal.reason) from None


# --- Platforms' own ids ---------------------------------------------------------------------


@variant(
    "N113", "customers that share an id have to come with UMA addresses of their own", "other apart"
)
def told_apart_by_address(patch: Patch) -> None:
    known: set[str] = set()

    def create(original: Function, unit: Unit, ask: Ask) -> Any:
        body = ask.body if isinstance(ask.body, dict) else {}
        shared = body.get("platformCustomerId")
        if str(shared) in known and "umaAddress" not in body:
            raise errors.Refusal("CONFLICT", "Another customer has it. Give a umaAddress.")
        answer = original(unit, ask)
        known.add(answer["platformCustomerId"])
        return answer

    patch.wrap(onboarding, "create", create)


@variant("M40", "a customer that is missing is a user that is missing", "onboarding")
def missing_user(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "USER_NOT_FOUND", 404)
    recoded(customers, "get", "USER_NOT_FOUND")(patch)


declare_optional(
    "customer",
    (customers, "view"),
    *("customerType", "fullName", "address", "currencies", "endUserTermsConsent", "region"),
)
declare(
    "M31",
    "other-status-null",
    "the status of the other kind of customer is there as null",
    edited(customers, "view", lambda body: {"kycStatus": None, "kybStatus": None, **body}),
    "null",
)


# --- States ---------------------------------------------------------------------------------


@variant("M30", "customers are unverified at first, and get accounts when approved", "other forms")
def unverified_at_first(patch: Patch) -> None:
    patch.row(rules, "INITIAL_CUSTOMER_STATUS", "REGULATED", "UNVERIFIED")
    accounts_with_approval(patch)


@variant("N342", "a change of nothing is refused", "codes", (onboarding, "update"), before)
def empty_change(unit: Unit, ask: Ask) -> None:
    if ask.body == {}:
        raise errors.Refusal("INVALID_INPUT", "Send a field to change.")
