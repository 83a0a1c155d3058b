"""Mutants of the rules of a request for a customer, and of the errors that name them."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from typing import Any

from conformance.proof.kit.builders import Json, around, edited, receives, recoded
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.customers.toolkit import (
    FIRST_CATEGORY,
    INFO,
    changed,
    dropped,
    has,
    lacks,
    refusing,
)
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors, fields, rules
from conformance.reference.customers import onboarding
from conformance.testdata.examples import placed

Change = Callable[[Json], Json]


FACTS = ("legalName", "country", "taxId", "incorporatedOn")


# --- Rules of the members of a request ------------------------------------------------------


_SSN = ("idType", "SSN")


_ITIN = ("idType", "ITIN")


_US = (f"{INFO}.country", "US")


LOOSENED: tuple[tuple[str, str, str, Json, tuple[str, str] | None], ...] = (
    ("CUS-102", "fullName", "kind", {"kind": "any"}, None),
    ("CUS-125", "idType", "passport", {"enum": ("SSN", "ITIN", "PASSPORT")}, None),
    ("CUS-125", "idType", "any-word", {"enum": ()}, None),
    ("CUS-126", "idType", "license", {"enum": ("SSN", "ITIN", "DRIVERS_LICENSE")}, None),
    ("CUS-126", "idType", "national-id", {"enum": ("SSN", "ITIN", "NATIONAL_ID")}, None),
    ("CUS-126", "idType", "ein", {"enum": ("SSN", "ITIN", "EIN")}, None),
    ("CUS-127", "idType", "lower-case", {"enum": ("SSN", "ITIN", "ssn", "itin")}, None),
    ("CUS-128", "identifier", "short", {"pattern": r"\d{3}-\d{2}-\d{3,4}"}, _SSN),
    ("CUS-128", "identifier", "any", {"pattern": None}, _SSN),
    ("CUS-129", "identifier", "long", {"pattern": r"\d{3}-\d{2}-\d{4,}"}, _SSN),
    ("CUS-130", "identifier", "letters", {"pattern": r"\w{3}-\w{2}-\w{4,5}"}, _SSN),
    ("CUS-131", "identifier", "no-hyphens", {"pattern": r"\d{3}[- ]?\d{2}[- ]?\d{4}"}, _SSN),
    ("CUS-132", "identifier", "hyphens-anywhere", {"pattern": r"[\d-]{11}"}, _SSN),
    ("CUS-133", "identifier", "words", {"pattern": None}, _ITIN),
    ("CUS-137", "email", "format", {"format": None}, None),
    ("CUS-138", "phoneNumber", "format", {"format": None}, None),
    ("BUS-004", f"{INFO}.legalName", "optional", {"required": False}, None),
    ("BUS-005", f"{INFO}.country", "optional", {"required": False}, None),
    ("BUS-006", f"{INFO}.taxId", "optional", {"required": False}, None),
    ("BUS-007", f"{INFO}.incorporatedOn", "optional", {"required": False}, None),
    ("BUS-008", INFO, "optional", {"required": False}, ("customerType", "BUSINESS")),
    ("BUS-072", f"{INFO}.taxId", "words", {"pattern": None}, None),
    ("BUS-072", f"{INFO}.taxId", "single-word", {"pattern": r"[A-Z0-9-]+"}, None),
    ("BUS-073", f"{INFO}.taxId", "short", {"pattern": r"\d{2}-\d{6,7}"}, _US),
    ("BUS-073", f"{INFO}.taxId", "long", {"pattern": r"\d{2}-\d{7,}"}, _US),
    ("BUS-608", f"{INFO}.taxId", "american", {"pattern": r"\d{2}-\d{7}", "when": None}, None),
    ("BUS-074", f"{INFO}.taxId", "of-any-country", {"when": ("", "")}, _US),
    ("BUS-075", f"{INFO}.legalName", "kind", {"kind": "any"}, None),
    ("BUS-602", f"{INFO}.taxId", "any-character", {"pattern": r".+", "when": None}, None),
    ("BUS-606", f"{INFO}.taxId", "any-length", {"pattern": r"[0-9A-Z]+", "when": None}, None),
)
"""Requirement, member, name, the changed rule, and the condition of the row that it stands in."""

for _id, _path, _name, _changes, _when in LOOSENED:
    declare(
        _id,
        f"{_path.replace('.', '-')}-{_name}",
        f"the rule of {_path} lets more through ({_name})",
        changed(_path, _changes, _when),
    )


COUNTRIES = {
    "nationality": ("CUS-114", "CUS-115", "CUS-116", "CUS-117"),
    "address.country": ("CUS-118", "CUS-119", "CUS-120", "CUS-121"),
    f"{INFO}.country": ("BUS-062", "BUS-063", "BUS-064", "BUS-065"),
}
"""Members that hold a country, with the rules on three letters, digits, case, assignment."""

_CODES = (
    ("three-letters", r"[A-Z]{2,3}"),
    ("digits", r"[A-Z0-9]{2}"),
    ("lower-case", r"[A-Za-z]{2}"),
    ("unassigned", r"[A-Z]{2}"),
)

for _path, _ids in COUNTRIES.items():
    for _id, (_name, _pattern) in zip(_ids, _CODES, strict=True):
        declare(
            _id,
            f"{_path.replace('.', '-')}-{_name}",
            f"a {_path} is whatever matches {_pattern}",
            changed(_path, {"format": None, "pattern": _pattern}),
        )


def _julian(text: str) -> bool:
    return text[5:] == "02-29" and int(text[:4]) % 4 == 0


def _any_leap(text: str) -> bool:
    return text[5:] == "02-29"


def _is_moment(text: str) -> bool:
    try:
        datetime.fromisoformat(text)
    except ValueError:
        return False
    return True


def _is_basic(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


DATES: tuple[tuple[tuple[str, str | None], str, Callable[[str], object]], ...] = (
    (("CUS-105", "BUS-066"), "every-year-is-a-leap-year", _any_leap),
    (("CUS-106", None), "every-fourth-year-is-a-leap-year", _julian),
    (("CUS-107", "BUS-067"), "month-unchecked", partial(re.fullmatch, r"\d{4}-\d\d-[0-2]\d")),
    (("CUS-107", "BUS-067"), "thirteen-months", partial(re.fullmatch, r"\d{4}-13-\d\d")),
    (("CUS-108", "BUS-068"), "day-unchecked", partial(re.fullmatch, r"\d{4}-[01]\d-\d\d")),
    (("CUS-108", "BUS-068"), "months-of-31", partial(re.fullmatch, r"\d{4}-[01]\d-3[01]")),
    (("CUS-109", "BUS-069"), "any-text", bool),
    (("CUS-110", "BUS-070"), "dots", partial(re.fullmatch, r"\d\d\.\d\d\.\d{4}")),
    (("CUS-110", "BUS-070"), "strokes", partial(re.fullmatch, r"\d\d/\d\d/\d{4}")),
    (("CUS-111", "BUS-071"), "times-of-day", _is_moment),
    (("CUS-112", None), "no-hyphens", _is_basic),
    (("CUS-112", None), "one-digit", partial(re.fullmatch, r"\d{4}-\d{1,2}-\d{1,2}")),
)
"""Rules on dates of birth and of incorporation, a name, and what is taken for a date too."""


def more_dates(test: Callable[[str], object]) -> Apply:
    """Return a patch after which texts that pass ``test`` are dates too."""
    return around(fields, "_is_date", lambda original, text: original(text) or bool(test(text)))


for _ids_of_dates, _name, _test in DATES:
    for _date_id in filter(None, _ids_of_dates):
        declare(_date_id, f"dates-{_name}", f"what is a date: {_name}", more_dates(_test))


def _text_of(name: str) -> Change:
    def change(body: Json) -> Json:
        found = body.get(name)
        return {**body, name: str(*found.values())} if isinstance(found, dict) else body

    return change


def _typed(body: Json) -> Json:
    known = body.get("customerType") in ("INDIVIDUAL", "BUSINESS")
    return body if known or "customerType" not in body else {**body, "customerType": "INDIVIDUAL"}


def _typed_in_any_case(body: Json) -> Json:
    found = body.get("customerType")
    return {**body, "customerType": found.upper()} if isinstance(found, str) else body


def _null_typed(body: Json) -> Json:
    return {**body, "customerType": body.get("customerType") or "INDIVIDUAL"}


def _listed_currencies(body: Json) -> Json:
    found = body.get("currencies")
    return {**body, "currencies": list(found.values())} if isinstance(found, dict) else body


def _plain_currencies(body: Json) -> Json:
    found = body.get("currencies")
    if not isinstance(found, list):
        return body
    return {**body, "currencies": [c["code"] if isinstance(c, dict) else c for c in found]}


def _plain_behind_the_first(body: Json) -> Json:
    found = body.get("currencies")
    if not isinstance(found, list):
        return body
    rest = _plain_currencies({"currencies": found[1:]})["currencies"]
    return {**body, "currencies": [*found[:1], *rest]}


def _lined_address(body: Json) -> Json:
    found = body.get("address")
    return {**body, "address": {"line1": found}} if isinstance(found, str) else body


_MADE_UP = {
    "country": "US",
    "taxId": "12-3456789",
    "incorporatedOn": "2000-01-01",
    "registrationNumber": "700000009",
    "countriesOfOperation": ["US"],
}


def _named_business(body: Json) -> Json:
    found = body.get(INFO)
    return {**body, INFO: {"legalName": found, **_MADE_UP}} if isinstance(found, str) else body


def _filled_business(body: Json) -> Json:
    if body.get("customerType") != "BUSINESS" or body.get(INFO) != {}:
        return body
    return {**body, INFO: {"legalName": "Unknown", **_MADE_UP}}


GUESSED: tuple[tuple[str, str, Change], ...] = (
    ("CUS-100", "an unknown type is taken for that of individuals", _typed),
    ("CUS-141", "the case of a type does not matter", _typed_in_any_case),
    ("CUS-101", "a type of null is taken for that of individuals", _null_typed),
    ("CUS-122", "a text is taken for the first line of an address", _lined_address),
    ("CUS-123", "an object is taken for the list of its values", _listed_currencies),
    ("CUS-124", "objects are taken for the codes in them", _plain_currencies),
    ("CUS-139", "an object is taken for the text in it", _text_of("platformCustomerId")),
    ("CUS-140", "an object is taken for the text in it", _text_of("region")),
    ("BUS-009", "an empty businessInfo is filled", _filled_business),
    ("BUS-061", "a text is taken for the name of a business", _named_business),
)
"""Requirement, statement, and what is made of a wrong body instead of refusing it."""

declare(
    "CUS-124",
    "first-alone",
    "only the first of the currencies has to be a code",
    receives(onboarding, "create", _plain_behind_the_first),
)

for _id, _statement, _change in GUESSED:
    declare(_id, "guessed", _statement, receives(onboarding, "create", _change))


@mutant("CUS-103", "any word is a full name")
def any_name(patch: Patch) -> None:
    patch.replace(onboarding, "has_given_and_family_name", bool)


@mutant("CUS-104", "a space makes a full name, wherever it stands")
def a_space_makes_a_name(patch: Patch) -> None:
    patch.replace(onboarding, "has_given_and_family_name", lambda name: " " in name or not name)


@mutant("CUS-104", "a space behind a word makes a full name")
def a_space_behind_makes_a_name(patch: Patch) -> None:
    patch.replace(
        onboarding, "has_given_and_family_name", lambda name: " " in name.lstrip() or not name
    )


@mutant("BUS-016", "a name of a business may be blank")
def blank_name(patch: Patch) -> None:
    changed(f"{INFO}.legalName", {"min_length": None})(patch)
    needs = tuple(path for path in rules.BUSINESS_NEEDS if path != f"{INFO}.legalName")
    patch.replace(rules, "BUSINESS_NEEDS", needs)


declare(
    "CUS-134",
    "identifier-not-needed",
    "nobody needs an identifier",
    dropped((rules, "INDIVIDUAL_NEEDS"), "identifier"),
)
declare(
    "CUS-135",
    "id-type-not-needed",
    "nobody needs an idType",
    dropped((rules, "INDIVIDUAL_NEEDS"), "idType"),
)
declare(
    "CUS-136",
    "no-number-needed",
    "nobody needs an identification number",
    dropped((rules, "INDIVIDUAL_NEEDS"), "idType", "identifier"),
)
declare(
    "EDD-002",
    "funds-undescribed",
    "other funds need no description",
    dropped((rules, "OTHER_DESCRIPTIONS"), "sourceOfFundsCategories"),
)
declare(
    "EDD-004",
    "wealth-undescribed",
    "other wealth needs no description",
    dropped((rules, "OTHER_DESCRIPTIONS"), "sourceOfWealthCategories"),
)
for _id in ("EDD-002", "EDD-004"):
    declare(_id, "first", "OTHER counts where it is the first category", FIRST_CATEGORY)


def _passports_of_foreigners(original: Callable[[Any], Any], body: Any) -> Any:
    rows = original(body)
    if not isinstance(body, dict) or body.get("nationality") == "US":
        return rows
    return [replace(row, enum=()) if row.path == "idType" else row for row in rows]


declare(
    "CUS-125",
    "of-foreigners",
    "the idType of a foreigner is not looked at",
    around(onboarding, "creation_rules", _passports_of_foreigners),
)


def _named_by_full_name(body: Json) -> Json:
    info = body.get(INFO)
    if not isinstance(info, dict) or "legalName" in info or not body.get("fullName"):
        return body
    return {**body, INFO: {**info, "legalName": body["fullName"]}}


declare(
    "BUS-004",
    "full-name-instead",
    "the fullName of a business counts as its legalName",
    receives(onboarding, "create", _named_by_full_name),
)


# --- What is asked for beside it ------------------------------------------------------------


def _is_leap(path: str) -> Callable[[Json], bool]:
    return lambda body: str(fields.at(body, path)).endswith("-02-29")


def _is_early(path: str) -> Callable[[Json], bool]:
    return lambda body: "1800" < str(fields.at(body, path)) < "1970"


def _full_name(test: Callable[[str], bool]) -> Callable[[Json], bool]:
    return lambda body: test(str(body.get("fullName", "")))


STRICT: tuple[tuple[str, str, str, Callable[[Json], bool]], ...] = (
    ("CUS-010", "needs-a-name", "fullName", lacks("fullName")),
    ("CUS-010", "needs-a-region", "region", lacks("region")),
    ("CUS-010", "needs-an-id", "platformCustomerId", lacks("platformCustomerId")),
    (
        "CUS-617",
        "no-phone-alone",
        "email",
        lambda body: "phoneNumber" in body and "email" not in body,
    ),
    (
        "CUS-617",
        "no-email-alone",
        "phoneNumber",
        lambda body: "email" in body and "phoneNumber" not in body,
    ),
    (
        "CUS-617",
        "no-address-alone",
        "birthDate",
        lambda body: "address" in body and "birthDate" not in body,
    ),
    ("CUS-018", "no-second-line", "address.line2", has("address.line2")),
    ("CUS-018", "no-region-of-the-us", "region", has("region", "US")),
    ("CUS-090", "no-leap-days", "birthDate", _is_leap("birthDate")),
    ("CUS-960", "since-the-epoch", "birthDate", _is_early("birthDate")),
    ("CUS-091", "two-words", "fullName", _full_name(lambda name: len(name.split()) > 2)),
    ("CUS-093", "ascii", "fullName", _full_name(lambda name: not name.isascii())),
    (
        "CUS-091",
        "letters-alone",
        "fullName",
        _full_name(lambda name: not name.replace(" ", "").isalpha()),
    ),
    (
        "CUS-091",
        "long-names",
        "fullName",
        _full_name(lambda name: any(len(word) < 2 for word in name.split()) or len(name) < 6),
    ),
    ("CUS-094", "no-plus", "email", lambda body: "+" in str(body.get("email"))),
    ("CUS-094", "no-underscore", "email", lambda body: "_" in str(body.get("email"))),
    ("CUS-094", "no-hyphen", "email", lambda body: "-" in str(body.get("email")).partition("@")[2]),
    ("CUS-092", "no-itin", "idType", has("idType", "ITIN")),
    ("BUS-001", "needs-a-registration", INFO, lacks(f"{INFO}.registrationNumber")),
    ("BUS-001", "needs-an-address", "address", lacks("address")),
    ("BUS-003", "no-contact", INFO, has(f"{INFO}.primaryContactFirstName")),
    ("BUS-060", "no-leap-days", INFO, _is_leap(f"{INFO}.incorporatedOn")),
    ("BUS-960", "since-the-epoch", INFO, _is_early(f"{INFO}.incorporatedOn")),
    ("BUS-080", "not-listed", INFO, has(f"{INFO}.entityType", "PUBLICLY_LISTED_COMPANY")),
    ("BUS-081", "no-trusts", INFO, has(f"{INFO}.entityType", "TRUST")),
    ("BUS-082", "no-foundations", INFO, has(f"{INFO}.entityType", "PRIVATE_FOUNDATION")),
    ("BUS-083", "no-charities", INFO, has(f"{INFO}.entityType", "CHARITY")),
    ("EDD-001", "no-other-funds", "sourceOfFundsCategories", has("sourceOfFundsCategories")),
    ("EDD-003", "no-other-wealth", "sourceOfWealthCategories", has("sourceOfWealthCategories")),
    ("EDD-005", "needs-a-purpose", "purposeOfAccount", lacks("purposeOfAccount")),
    ("EDD-005", "needs-pep-status", "pepStatus", lacks("pepStatus")),
)
"""Requirement, name, the member that is complained about, and which customers are refused."""

for _id, _name_of, _path, _is_wrong in STRICT:
    declare(
        _id,
        _name_of,
        f"customers are refused: {_name_of}",
        refusing((onboarding, "create"), _path, _is_wrong),
    )


# --- Errors ---------------------------------------------------------------------------------


def naming(path_of: Callable[[str], str]) -> Apply:
    """Return a patch after which field errors name another path."""
    return around(
        errors,
        "field_error",
        lambda original, path, message, **more: original(path_of(path), message, **more),
    )


@mutant("CUS-019", "no field is listed")
def nothing_listed(patch: Patch) -> None:
    patch.replace(
        errors, "invalid_input", lambda *_: errors.Refusal("INVALID_INPUT", "Something is wrong.")
    )


def first_alone(patch: Patch) -> None:
    """List the first invalid field alone."""
    patch.wrap(errors, "invalid_input", lambda original, *found: original(*found[:1]))


for _id in ("CUS-020", "BUS-014"):
    declare(_id, "first-alone", "the first invalid field is listed alone", first_alone)

for _id in ("CUS-019", "CUS-020", "CUS-033", "BUS-010", "BUS-011", "BUS-012", "BUS-013", "BUS-014"):
    declare(_id, "body", "every error is about the body", naming(lambda _: "body"))


def as_holder(fact: str, path: str) -> str:
    """Return the path of the object in the place of that of a fact in it."""
    return INFO if path.endswith(fact) else path


for _id, _fact in zip(("BUS-010", "BUS-011", "BUS-012", "BUS-013"), FACTS, strict=True):
    declare(
        _id,
        "nameless",
        f"an error about {_fact} names the object that it belongs to",
        naming(partial(as_holder, _fact)),
    )


@mutant("CUS-021", "what is missing is a conflict")
def conflict(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "INVALID_INPUT", 409)


def constraint_of(edit: Callable[[Any], Any]) -> Apply:
    """Return a patch after which the constraint of a field error is another."""

    def change(entry: Json) -> Json:
        if "constraint" in entry:
            return {**entry, "constraint": edit(entry["constraint"])}
        return entry

    return edited(errors, "field_error", change)


declare("CUS-022", "text", "a constraint is a text", constraint_of(str))
declare("CUS-022", "list", "a constraint is a list", constraint_of(list))
declare(
    "CUS-023",
    "list",
    "the format of a constraint is a list",
    constraint_of(lambda c: {**c, "format": [c["format"]]} if "format" in c else c),
)

for _id, _handler, _code in (
    ("CUS-024", (onboarding, "read"), "TRANSACTION_NOT_FOUND"),
    ("CUS-024", (onboarding, "read"), "INVALID_INPUT"),
    ("CUS-025", (onboarding, "update"), "INVALID_INPUT"),
    ("CUS-025", (onboarding, "update"), "CONFLICT"),
    ("CUS-026", (onboarding, "update"), "QUOTE_NOT_FOUND"),
    ("CUS-026", (onboarding, "update"), "INVALID_INPUT"),
):
    declare(
        _id,
        f"as-{_code.lower().replace('_', '-')}",
        f"an unknown customer is answered with {_code}",
        recoded(*_handler, _code, "CUSTOMER_NOT_FOUND"),
    )


# --- Of businesses --------------------------------------------------------------------------


def _unchecked_of_business(original: Callable[[Any], Any], body: Any) -> Any:
    found = original(body)
    if not isinstance(body, dict) or body.get("customerType") != "BUSINESS":
        return found
    return [row for row in found if row.path != "address.country"]


for _id in ("CUS-118", "CUS-152"):
    declare(
        _id,
        "of-a-business",
        "the country in the address of a business is not looked at",
        around(onboarding, "creation_rules", _unchecked_of_business),
    )


def _filled(path: str, value: str) -> Change:
    def change(body: Json) -> Json:
        return placed(body, path, value) if fields.at(body, path) == "" else body

    return change


for _id, _path, _value in (
    ("BUS-063", f"{INFO}.country", "US"),
    ("BUS-069", f"{INFO}.incorporatedOn", "2000-01-01"),
    ("BUS-072", f"{INFO}.taxId", "12-3456789"),
):
    declare(
        _id,
        "empty",
        f"an empty {_path} is not looked at",
        receives(onboarding, "create", _filled(_path, _value)),
    )
