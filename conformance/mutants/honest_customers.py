"""Honest variants of customers: where their data are looked at, and how they are shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from conformance.mutants.honest import Function, shown, with_null, without
from conformance.mutants.mutant import Patch
from conformance.mutants.variant import declare, variant
from conformance.reference import errors, fields, onboarding, rules, verifications
from conformance.reference.store import Customer
from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]

_REFERENCE = "conformance.reference"
_VIEW = f"{_REFERENCE}.customers:view"
_CREATE = f"{_REFERENCE}.onboarding:create"
_UPDATE = f"{_REFERENCE}.onboarding:update"
_MISSING = f"{_REFERENCE}.verifications:missing_fields"
_NAME_ERRORS = f"{_REFERENCE}.onboarding:name_errors"


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
        shown(_VIEW, partial(without, _member)),
        "onboarding",
    )
    declare(
        "M75",
        f"customer-with-null-{_member}",
        f"{_member} of every customer is null",
        shown(_VIEW, partial(with_null, _member)),
        "other onboarding",
    )


# --- How they are shown ---------------------------------------------------------------------


def masked(text: str) -> str:
    """Return a number with stars in the place of all but its last four digits."""
    return re.sub(r"\d(?=(\D*\d){4})", "*", text)


@variant("N112", "the numbers of people and businesses are masked", "further onboarding")
def masked_numbers(patch: Patch) -> None:
    def change(body: Json) -> Json:
        if body.get("identifier"):
            body = {**body, "identifier": masked(body["identifier"])}
        info = body.get("businessInfo")
        if isinstance(info, dict) and info.get("taxId"):
            body = {**body, "businessInfo": {**info, "taxId": masked(info["taxId"])}}
        return body

    shown(_VIEW, change)(patch)


@variant(
    "N112", "phones are shown with spaces, and mail addresses in capitals", "further onboarding"
)
def other_notation(patch: Patch) -> None:
    def change(body: Json) -> Json:
        if body.get("phoneNumber"):
            number = body["phoneNumber"]
            body = {**body, "phoneNumber": f"{number[:2]} {number[2:5]} {number[5:]}"}
        return {**body, "email": body["email"].upper()} if body.get("email") else body

    shown(_VIEW, change)(patch)


@variant("N112", "the currencies of a customer are shown in another order", "further onboarding")
def currencies_reversed(patch: Patch) -> None:
    shown(_VIEW, lambda body: {**body, "currencies": body["currencies"][::-1]})(patch)


# --- Where they are looked at ---------------------------------------------------------------


def _complaining(patch: Patch, find: Callable[[Customer], Sequence[Json]]) -> None:
    """Let a submission complain about what ``find`` returns beside what is missing."""

    def wrapper(original: Function) -> Function:
        def missing(packet: verifications.Packet) -> list[Json]:
            return [*original(packet), *find(packet.customer)]

        return missing

    patch.wrap(_MISSING, wrapper)


@variant("M27", "the submission complains about a name of a single word", "apart")
def single_word_at_submission(patch: Patch) -> None:
    name_errors = onboarding.name_errors

    def find(customer: Customer) -> list[Json]:
        return [
            verifications.entry(customer.id, "MISSING_FIELD", e["message"], field="fullName")
            for e in name_errors(customer.details)
        ]

    patch.replace(_NAME_ERRORS, lambda _: [])
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
        return [verifications.entry(customer.id, "INVALID_NAME", e["message"]) for e in found]

    patch.replace(_NAME_ERRORS, lambda _: [])
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

    patch.replace(f"{_REFERENCE}.onboarding:creation_rules", loose)
    patch.replace(_NAME_ERRORS, lambda _: [])
    patch.replace(f"{_REFERENCE}.onboarding:diligence_errors", lambda _: [])
    _complaining(patch, find)


@variant("M20", "what a business lacks is refused as missing, and not listed", "onboarding")
def missing_user_info(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def create(unit: Unit, ask: Ask) -> Any:
            try:
                return original(unit, ask)
            except errors.Refusal as refusal:
                listed = (refusal.details or {}).get("errors", ())
                if any(e.get("constraint", {}).get("required") for e in listed):
                    raise errors.Refusal("MISSING_MANDATORY_USER_INFO", "Tell more.") from None
                raise

        return create

    patch.wrap(_CREATE, wrapper)


# --- Notations that are taken too -----------------------------------------------------------


@variant("N054", "tax numbers are digits, however they are grouped", "onboarding")
def loose_tax_ids(patch: Patch) -> None:
    rows = [
        replace(row, pattern=r"[\d -]{4,}") if row.path == "businessInfo.taxId" else row
        for row in rules.BUSINESS_FIELDS
    ]
    patch.replace(f"{_REFERENCE}.rules:BUSINESS_FIELDS", tuple(rows))


# --- Changes --------------------------------------------------------------------------------


@variant("N111", "an object that a change sends replaces the old one", "onboarding")
def replaced_objects(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.onboarding:overlaid", lambda _old, new: new)


@variant("N110", "members that the interface does not name are refused", "further onboarding")
def unknown_refused(patch: Patch) -> None:
    known = {row.path.partition(".")[0] for row in rules.CUSTOMER_FIELDS}

    def wrapper(original: Function) -> Function:
        def handler(unit: Unit, ask: Ask) -> Any:
            unknown = ask.body.keys() - known if isinstance(ask.body, dict) else ()
            if unknown:
                raise errors.invalid_input(*(errors.field_error(n, "Unknown.") for n in unknown))
            return original(unit, ask)

        return handler

    for place in (_CREATE, _UPDATE):
        patch.wrap(place, wrapper)


@variant("N096", "a change that sends the type of a customer is refused", "onboarding")
def fixed_type(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def update(unit: Unit, ask: Ask) -> Any:
            if isinstance(ask.body, dict) and "customerType" in ask.body:
                found = errors.field_error("customerType", "It cannot be changed.")
                raise errors.invalid_input(found)
            return original(unit, ask)

        return update

    patch.wrap(_UPDATE, wrapper)


@variant("M72", "a refused change lists no fields", "onboarding")
def unlisted_changes(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def update(unit: Unit, ask: Ask) -> Any:
            try:
                return original(unit, ask)
            except errors.Refusal as refusal:
                raise errors.Refusal(refusal.code, refusal.reason) from None

        return update

    patch.wrap(_UPDATE, wrapper)


# --- Platforms' own ids ---------------------------------------------------------------------


@variant(
    "N113", "customers that share an id have to come with UMA addresses of their own", "other apart"
)
def told_apart_by_address(patch: Patch) -> None:
    known: set[str] = set()

    def wrapper(original: Function) -> Function:
        def create(unit: Unit, ask: Ask) -> Any:
            body = ask.body if isinstance(ask.body, dict) else {}
            shared = body.get("platformCustomerId")
            if str(shared) in known and "umaAddress" not in body:
                raise errors.Refusal("CONFLICT", "Another customer has it. Give a umaAddress.")
            answer = original(unit, ask)
            known.add(answer["platformCustomerId"])
            return answer

        return create

    patch.wrap(_CREATE, wrapper)


@variant("M40", "a customer that is missing is a user that is missing", "onboarding")
def missing_user(patch: Patch) -> None:
    patch.row(f"{_REFERENCE}.rules:ERROR_STATUS", "USER_NOT_FOUND", 404)

    def wrapper(original: Function) -> Function:
        def get(unit: Unit, customer_id: str) -> Customer:
            try:
                found: Customer = original(unit, customer_id)
            except errors.Refusal as refusal:
                raise errors.Refusal("USER_NOT_FOUND", refusal.reason) from None
            return found

        return get

    patch.wrap(f"{_REFERENCE}.customers:get", wrapper)
