"""Mutants of customers: their creation, members, changes, and how their verification stands."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from typing import Any

from sqlalchemy import select

from conformance.mutants.fields import Edit, asked, edited, put, taken
from conformance.mutants.mutant import NoSuchTarget, Patch, declare, mutant
from conformance.reference import customers, errors, fields, rules
from conformance.reference.store import Customer
from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]
Change = Callable[[Json], Json]
Handler = Callable[[Unit, Ask], Any]

_REFERENCE = "conformance.reference"
_VIEW = f"{_REFERENCE}.customers:view"
_CREATE = f"{_REFERENCE}.onboarding:create"
_UPDATE = f"{_REFERENCE}.onboarding:update"
_READ = f"{_REFERENCE}.onboarding:read"
_PERSON = f"{_REFERENCE}.rules:CUSTOMER_FIELDS"
_COMPANY = f"{_REFERENCE}.rules:BUSINESS_FIELDS"
_STATUSES = f"{_REFERENCE}.rules:ERROR_STATUS"

TABLES = {_PERSON: rules.CUSTOMER_FIELDS, _COMPANY: rules.BUSINESS_FIELDS}
INFO = "businessInfo"
FACTS = ("legalName", "country", "taxId", "incorporatedOn")


# --- Rules of the members of a request ------------------------------------------------------


def changed(
    path: str, changes: Json, when: tuple[str, str] | None = None
) -> Callable[[Patch], None]:
    """Return a patch that changes the rows of a member, or those that hold under ``when``."""

    def is_meant(field: rules.Field) -> bool:
        return field.path == path and (when is None or field.when == when)

    def apply(patch: Patch) -> None:
        found = [name for name, table in TABLES.items() if any(map(is_meant, table))]
        if not found:
            raise NoSuchTarget(f"the reference has no rule of {path}")
        if changes.get("kind") == "any":
            patch.row(f"{_REFERENCE}.fields:_TYPES", "any", (object,))
        for name in found:
            rows = [replace(f, **changes) if is_meant(f) else f for f in TABLES[name]]
            patch.replace(name, tuple(rows))

    return apply


_SSN = ("idType", "SSN")
_ITIN = ("idType", "ITIN")
_US = (f"{INFO}.country", "US")

LOOSENED: tuple[tuple[str, str, str, Json, tuple[str, str] | None], ...] = (
    ("CUS-102", "fullName", "kind", {"kind": "any"}, None),
    ("CUS-125", "idType", "passport", {"enum": ("SSN", "ITIN", "PASSPORT")}, None),
    ("CUS-125", "idType", "any-word", {"enum": ()}, None),
    ("CUS-126", "idType", "license", {"enum": ("SSN", "ITIN", "DRIVERS_LICENSE")}, None),
    ("CUS-126", "idType", "national-id", {"enum": ("SSN", "ITIN", "NATIONAL_ID")}, None),
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
    ("BUS-073", f"{INFO}.taxId", "short", {"pattern": r"\d{2}-\d{6,7}"}, _US),
    ("BUS-073", f"{INFO}.taxId", "long", {"pattern": r"\d{2}-\d{7,}"}, _US),
    ("BUS-074", f"{INFO}.taxId", "of-any-country", {"when": ("", "")}, _US),
    ("BUS-075", f"{INFO}.legalName", "kind", {"kind": "any"}, None),
    ("BUS-602", f"{INFO}.taxId", "any-character", {"pattern": r".+", "when": None}, None),
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


def more_dates(test: Callable[[str], object]) -> Callable[[Patch], None]:
    """Return a patch after which texts that pass ``test`` are dates too."""

    def wrapper(original: Callable[[str], bool]) -> Callable[[str], bool]:
        return lambda text: original(text) or bool(test(text))

    return lambda patch: patch.wrap(f"{_REFERENCE}.fields:_is_date", wrapper)


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


def _lined_address(body: Json) -> Json:
    found = body.get("address")
    return {**body, "address": {"line1": found}} if isinstance(found, str) else body


_MADE_UP = {
    "country": "US",
    "taxId": "12-3456789",
    "incorporatedOn": "2000-01-01",
    "registrationNumber": "700000009",
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

for _id, _statement, _change in GUESSED:
    declare(_id, "guessed", _statement, asked(_CREATE, _change))


@mutant("CUS-103", "any word is a full name")
def any_name(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.onboarding:has_given_and_family_name", bool)


@mutant("CUS-104", "a space makes a full name, wherever it stands")
def a_space_makes_a_name(patch: Patch) -> None:
    patch.replace(
        f"{_REFERENCE}.onboarding:has_given_and_family_name", lambda name: " " in name or not name
    )


@mutant("BUS-016", "a name of a business may be blank")
def blank_name(patch: Patch) -> None:
    changed(f"{INFO}.legalName", {"min_length": None})(patch)
    needs = tuple(path for path in rules.BUSINESS_NEEDS if path != f"{INFO}.legalName")
    patch.replace(f"{_REFERENCE}.rules:BUSINESS_NEEDS", needs)


def dropped(place: str, *keys: str) -> Callable[[Patch], None]:
    """Return a patch that takes rows out of a table."""

    def patch(patch: Patch) -> None:
        for key in keys:
            patch.drop(place, key)

    return patch


_NEEDS = f"{_REFERENCE}.rules:INDIVIDUAL_NEEDS"
_OTHERS = f"{_REFERENCE}.rules:OTHER_DESCRIPTIONS"
declare(
    "CUS-134", "identifier-not-needed", "nobody needs an identifier", dropped(_NEEDS, "identifier")
)
declare("CUS-135", "id-type-not-needed", "nobody needs an idType", dropped(_NEEDS, "idType"))
declare(
    "CUS-136",
    "no-number-needed",
    "nobody needs an identification number",
    dropped(_NEEDS, "idType", "identifier"),
)
declare(
    "EDD-002",
    "funds-undescribed",
    "other funds need no description",
    dropped(_OTHERS, "sourceOfFundsCategories"),
)
declare(
    "EDD-004",
    "wealth-undescribed",
    "other wealth needs no description",
    dropped(_OTHERS, "sourceOfWealthCategories"),
)


# --- What is asked for beside it ------------------------------------------------------------


def refusing(handler: str, path: str, is_wrong: Callable[[Json], bool]) -> Callable[[Patch], None]:
    """Return a patch after which a handler refuses bodies that are right."""

    def wrapper(original: Handler) -> Handler:
        def checked(unit: Unit, ask: Ask) -> Any:
            if isinstance(ask.body, dict) and is_wrong(ask.body):
                raise errors.invalid_input(errors.field_error(path, "It is not taken."))
            return original(unit, ask)

        return checked

    return lambda patch: patch.wrap(handler, wrapper)


def lacks(path: str) -> Callable[[Json], bool]:
    """Return whether a body lacks a member."""
    return lambda body: fields.at(body, path) in (fields.ABSENT, None)


def has(path: str, *values: Any) -> Callable[[Json], bool]:
    """Return whether a body has a member, or one of some values of it."""
    return lambda body: not lacks(path)(body) and (not values or fields.at(body, path) in values)


def _is_leap(path: str) -> Callable[[Json], bool]:
    return lambda body: str(fields.at(body, path)).endswith("-02-29")


def _full_name(test: Callable[[str], bool]) -> Callable[[Json], bool]:
    return lambda body: test(str(body.get("fullName", "")))


STRICT: tuple[tuple[str, str, str, Callable[[Json], bool]], ...] = (
    ("CUS-010", "needs-a-name", "fullName", lacks("fullName")),
    ("CUS-010", "needs-a-region", "region", lacks("region")),
    ("CUS-010", "needs-an-id", "platformCustomerId", lacks("platformCustomerId")),
    ("CUS-018", "no-second-line", "address.line2", has("address.line2")),
    ("CUS-018", "no-region-of-the-us", "region", has("region", "US")),
    ("CUS-090", "no-leap-days", "birthDate", _is_leap("birthDate")),
    ("CUS-091", "two-words", "fullName", _full_name(lambda name: len(name.split()) > 2)),
    ("CUS-091", "ascii", "fullName", _full_name(lambda name: not name.isascii())),
    ("CUS-092", "no-itin", "idType", has("idType", "ITIN")),
    ("BUS-001", "needs-a-registration", INFO, lacks(f"{INFO}.registrationNumber")),
    ("BUS-001", "needs-an-address", "address", lacks("address")),
    ("BUS-003", "no-contact", INFO, has(f"{INFO}.primaryContactFirstName")),
    ("BUS-060", "no-leap-days", INFO, _is_leap(f"{INFO}.incorporatedOn")),
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
        _id, _name_of, f"customers are refused: {_name_of}", refusing(_CREATE, _path, _is_wrong)
    )


# --- Platforms' own ids ---------------------------------------------------------------------


def creating(then: Callable[[Unit, Customer], None]) -> Callable[[Patch], None]:
    """Return a patch after which something is done to each new customer."""

    def wrapper(original: Handler) -> Handler:
        def create(unit: Unit, ask: Ask) -> Any:
            body = original(unit, ask)
            unit.session.flush()
            customer = customers.get(unit, body["id"])
            then(unit, customer)
            return customers.view(customer)

        return create

    return lambda patch: patch.wrap(_CREATE, wrapper)


def _own_id(_unit: Unit, customer: Customer) -> None:
    customer.platform_customer_id = customer.id


def _address_of_id(_unit: Unit, customer: Customer) -> None:
    customer.uma_address = f"${customer.platform_customer_id}@uma.example"


declare("CUS-012", "replaced", "the id is generated always", creating(_own_id))
declare(
    "CUS-017",
    "address-of-id",
    "the UMA address follows from the platformCustomerId",
    creating(_address_of_id),
)


@mutant("CUS-013", "none is generated")
def none_generated(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.onboarding:generated_platform_id", str)


@mutant("CUS-014", "the same is generated for all")
def one_for_all(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.onboarding:generated_platform_id", lambda: "default")


def on_known_id(answer: Callable[[Customer], Any]) -> Callable[[Patch], None]:
    """Return a patch after which a platformCustomerId that is known is answered otherwise."""

    def wrapper(original: Handler) -> Handler:
        # Tests send the same ids in every run, so that those of earlier ones do not count.
        known: dict[str, str] = {}

        def create(unit: Unit, ask: Ask) -> Any:
            shared = ask.body.get("platformCustomerId")
            if shared in known:
                return answer(customers.get(unit, known[shared]))
            body = original(unit, ask)
            known[body["platformCustomerId"]] = body["id"]
            return body

        return create

    return lambda patch: patch.wrap(_CREATE, wrapper)


def _taken(_customer: Customer) -> None:
    raise errors.Refusal("CONFLICT", "Another customer has this platformCustomerId.")


declare("CUS-015", "unique", "a platformCustomerId is unique", on_known_id(_taken))
declare("CUS-016", "same", "the customer known by it is answered", on_known_id(customers.view))


# --- Errors ---------------------------------------------------------------------------------

_FIELD_ERROR = f"{_REFERENCE}.errors:field_error"
_INVALID = f"{_REFERENCE}.errors:invalid_input"


def naming(path_of: Callable[[str], str]) -> Callable[[Patch], None]:
    """Return a patch after which field errors name another path."""

    def wrapper(original: Callable[..., Json]) -> Callable[..., Json]:
        return lambda path, message, **more: original(path_of(path), message, **more)

    return lambda patch: patch.wrap(_FIELD_ERROR, wrapper)


@mutant("CUS-019", "no field is listed")
def nothing_listed(patch: Patch) -> None:
    patch.replace(_INVALID, lambda *_: errors.Refusal("INVALID_INPUT", "Something is wrong."))


def _first(original: Callable[..., Any]) -> Callable[..., Any]:
    return lambda *found: original(*found[:1])


def first_alone(patch: Patch) -> None:
    """List the first invalid field alone."""
    patch.wrap(_INVALID, _first)


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


@mutant("CUS-021", "what is missing is answered with 422")
def unprocessable(patch: Patch) -> None:
    patch.row(_STATUSES, "INVALID_INPUT", 422)


def constraint_of(edit: Callable[[Any], Any]) -> Callable[[Patch], None]:
    """Return a patch after which the constraint of a field error is another."""

    def change(entry: Json) -> Json:
        if "constraint" in entry:
            return {**entry, "constraint": edit(entry["constraint"])}
        return entry

    return edited(_FIELD_ERROR, change)


declare("CUS-022", "text", "a constraint is a text", constraint_of(str))
declare("CUS-022", "list", "a constraint is a list", constraint_of(list))
declare(
    "CUS-023",
    "list",
    "the format of a constraint is a list",
    constraint_of(lambda c: {**c, "format": [c["format"]]} if "format" in c else c),
)


def instead_of_missing(handler: str, code: str) -> Callable[[Patch], None]:
    """Return a patch after which a handler answers a missing customer with another code."""

    def wrapper(original: Handler) -> Handler:
        def answer(unit: Unit, ask: Ask) -> Any:
            try:
                return original(unit, ask)
            except errors.Refusal as refusal:
                if refusal.code == "CUSTOMER_NOT_FOUND":
                    raise errors.Refusal(code, refusal.reason) from refusal
                raise

        return answer

    return lambda patch: patch.wrap(handler, wrapper)


for _id, _handler, _code in (
    ("CUS-024", _READ, "TRANSACTION_NOT_FOUND"),
    ("CUS-024", _READ, "INVALID_INPUT"),
    ("CUS-025", _UPDATE, "INVALID_INPUT"),
    ("CUS-025", _UPDATE, "CONFLICT"),
    ("CUS-026", _UPDATE, "QUOTE_NOT_FOUND"),
    ("CUS-026", _UPDATE, "INVALID_INPUT"),
):
    declare(
        _id,
        f"as-{_code.lower().replace('_', '-')}",
        f"an unknown customer is answered with {_code}",
        instead_of_missing(_handler, _code),
    )


# --- Changes --------------------------------------------------------------------------------


def updating(update: Callable[[Handler, Unit, Ask], Any]) -> Callable[[Patch], None]:
    """Return a patch after which customers are changed in another way."""

    def wrapper(original: Handler) -> Handler:
        return lambda unit, ask: update(original, unit, ask)

    return lambda patch: patch.wrap(_UPDATE, wrapper)


def _as_before(original: Handler, unit: Unit, ask: Ask) -> Any:
    before = customers.view(customers.get(unit, ask.params["customerId"]))
    original(unit, ask)
    return before


def _not_kept(_original: Handler, unit: Unit, ask: Ask) -> Any:
    return {**customers.view(customers.get(unit, ask.params["customerId"])), **ask.body}


def _replaced(original: Handler, unit: Unit, ask: Ask) -> Any:
    original(unit, ask)
    customer = customers.get(unit, ask.params["customerId"])
    customer.details = dict(ask.body)
    return customers.view(customer)


def _elsewhere_too(original: Handler, unit: Unit, ask: Ask) -> Any:
    answer = original(unit, ask)
    for customer in unit.session.scalars(select(Customer)):
        customer.details = {**customer.details, **ask.body}
    return answer


def _in_part(original: Handler, unit: Unit, ask: Ask) -> Any:
    try:
        return original(unit, ask)
    except errors.Refusal as refusal:
        if refusal.code == "INVALID_INPUT" and "email" in ask.body:
            customer = customers.get(unit, ask.params["customerId"])
            customer.details = {**customer.details, "email": ask.body["email"]}
            unit.session.commit()
        raise


declare(
    "CUS-027", "nothing", "a change is answered with nothing of use", edited(_UPDATE, lambda _: {})
)
declare(
    "CUS-027",
    "other-id",
    "a change makes another customer",
    edited(_UPDATE, put("id", "Customer:0")),
)
declare(
    "CUS-028", "as-before", "the answer is the customer before the change", updating(_as_before)
)
declare("CUS-029", "not-kept", "a change is answered and not kept", updating(_not_kept))
declare("CUS-030", "replaced", "a change takes away what it does not send", updating(_replaced))
declare("CUS-031", "elsewhere", "a change is made to all customers", updating(_elsewhere_too))
declare("CUS-032", "in-part", "what is right of a refused change is kept", updating(_in_part))

CHANGEABLE = {
    "fullName": "CUS-034",
    "birthDate": "CUS-035",
    "nationality": "CUS-036",
    "address": "CUS-037",
    "email": "CUS-038",
    "phoneNumber": "CUS-039",
    "currencies": "CUS-040",
    INFO: "BUS-024",
}


def without(name: str) -> Change:
    """Return a change of a body that takes a member out."""
    return lambda body: {key: value for key, value in body.items() if key != name}


for _member, _id in CHANGEABLE.items():
    declare(_id, "ignored", f"{_member} is not changed", asked(_UPDATE, without(_member)))
    declare(_id, "fixed", f"{_member} cannot be changed", refusing(_UPDATE, _member, has(_member)))
declare("CUS-041", "fixed", "no number can follow", refusing(_UPDATE, "idType", has("idType")))


def unchecked(path: str) -> Callable[[Patch], None]:
    """Return a patch after which changes do not look at one member."""

    def wrapper(original: Callable[[Any], Any]) -> Callable[[Any], Any]:
        return lambda wanted: [row for row in original(wanted) if row.path != path]

    return lambda patch: patch.wrap(f"{_REFERENCE}.onboarding:change_rules", wrapper)


for _id, _path in (
    ("CUS-150", "birthDate"),
    ("CUS-151", "nationality"),
    ("CUS-152", "address.country"),
    ("CUS-153", "idType"),
    ("CUS-154", "identifier"),
    ("BUS-090", f"{INFO}.country"),
    ("BUS-091", f"{INFO}.incorporatedOn"),
    ("BUS-092", f"{INFO}.taxId"),
):
    declare(_id, "unchecked", f"changes do not look at {_path}", unchecked(_path))

for _id in ("CUS-155", "EDD-024", "EDD-025"):
    declare(
        _id,
        "unchecked",
        "changes do not look at names and descriptions",
        lambda patch: patch.replace(f"{_REFERENCE}.onboarding:change_errors", lambda _: []),
    )


# --- What a customer shows ------------------------------------------------------------------

_NO_TEXT = {"number": 17, "object": {"value": "US"}}
_NO_LIST = {"text": "USD", "objects": [{"code": "USD"}]}
_NO_OBJECT = {"text": "12 Harbor Street", "list": ["12 Harbor Street"]}
_NO_CODE = {"number": 840, "alpha-3": "USA", "name": "United States"}
_NO_DATE = {"number": 479606400, "dots": "14.03.1985", "moment": "1985-03-14T00:00:00Z"}

FORMS: tuple[tuple[str, str, Mapping[str, Any], Any], ...] = (
    ("CUS-050", "platformCustomerId", _NO_TEXT, None),
    ("CUS-051 CUS-070", "region", _NO_TEXT, "CA"),
    ("CUS-052 CUS-071", "currencies", _NO_LIST, ["GBP"]),
    ("CUS-053 CUS-072", "fullName", _NO_TEXT, "MIREILLE CASTILLO"),
    ("CUS-054 CUS-073", "birthDate", _NO_DATE, "1985-03-13"),
    ("CUS-055 CUS-074", "nationality", _NO_CODE, "CA"),
    ("CUS-056", "address", _NO_OBJECT, None),
    ("CUS-057 CUS-075", "address.line1", _NO_TEXT, "500 Market Street, Suite 210"),
    ("CUS-058 CUS-076", "address.line2", _NO_TEXT, "210"),
    ("CUS-059 CUS-077", "address.city", _NO_TEXT, "SAN FRANCISCO"),
    ("CUS-060 CUS-078", "address.state", _NO_TEXT, "California"),
    ("CUS-061 CUS-079", "address.postalCode", {"number": 94105}, "94105-0000"),
    ("CUS-062 CUS-080", "address.country", _NO_CODE, "CA"),
    ("CUS-063 CUS-081", "email", _NO_TEXT, "hidden@example.com"),
    ("CUS-064 CUS-082", "phoneNumber", {"number": 14155550100}, "+14155550100"),
    ("CUS-065 CUS-083", "idType", _NO_TEXT, "ITIN"),
    ("CUS-066 CUS-084", "identifier", {"number": 345678901}, "900-70-0000"),
    ("BUS-030", INFO, _NO_OBJECT, None),
    ("BUS-031 BUS-040", f"{INFO}.legalName", _NO_TEXT, "LINDQVIST"),
    ("BUS-032 BUS-041", f"{INFO}.country", _NO_CODE, "CA"),
    ("BUS-033 BUS-042", f"{INFO}.taxId", {"number": 123456789}, "98-0000000"),
    ("BUS-034 BUS-043", f"{INFO}.incorporatedOn", _NO_DATE, "2014-06-01"),
    ("BUS-035 BUS-044", f"{INFO}.registrationNumber", {"number": 7}, "0"),
    ("BUS-036 BUS-045", f"{INFO}.primaryContactFirstName", _NO_TEXT, "Lindqvist"),
    ("BUS-037 BUS-046", f"{INFO}.primaryContactLastName", _NO_TEXT, "Ada"),
    ("EDD-010 EDD-014", "sourceOfFundsCategories", _NO_LIST, []),
    ("EDD-011 EDD-015", "sourceOfFundsOtherDescription", _NO_TEXT, "other"),
    ("EDD-012 EDD-016", "sourceOfWealthCategories", _NO_LIST, []),
    ("EDD-013 EDD-017", "sourceOfWealthOtherDescription", _NO_TEXT, "other"),
)
"""The rules of a member's form and of its value, wrong forms of it, and another value."""

OTHERWISE: tuple[tuple[str, str, Any], ...] = (
    ("BUS-047", f"{INFO}.entityType", "CORPORATION"),
    ("BUS-048", f"{INFO}.businessType", "RETAIL_TRADE"),
    ("BUS-049", f"{INFO}.countriesOfOperation", ["US"]),
    ("BUS-050", f"{INFO}.purposeOfAccount", "OTHER"),
    ("BUS-051", f"{INFO}.sourceOfFunds", "OTHER"),
    ("BUS-052", "email", "hidden@example.com"),
    ("BUS-053", "phoneNumber", "+14155550100"),
    ("EDD-018", "purposeOfAccount", "OTHER"),
    ("EDD-019", "expectedMonthlyTransactionCount", 0),
    ("EDD-020", "expectedMonthlyTransactionVolume", 2500),
    ("EDD-021", "annualIncomeRange", "UNKNOWN"),
    ("EDD-022", "netWorthRange", "UNKNOWN"),
    ("EDD-023", "pepStatus", "UNKNOWN"),
)
"""Requirement, member, and another value that it shows."""


def shown(path: str, value: Any) -> Callable[[Patch], None]:
    """Return a patch after which customers that show a member show another value of it."""

    def edit(body: Any) -> Any:
        return put(path, deepcopy(value))(body) if has(path)(body) else body

    return edited(_VIEW, edit)


for _ids_of_form, _path, _wrong, _value in FORMS:
    _form, _, _kept = _ids_of_form.partition(" ")
    _shown = _path.replace(".", "-")
    for _name, _wrong_value in _wrong.items():
        declare(
            _form, f"{_shown}-{_name}", f"{_path} is {_wrong_value}", shown(_path, _wrong_value)
        )
    if _kept:
        declare(_kept, f"{_shown}-otherwise", f"{_path} becomes {_value}", shown(_path, _value))

for _id, _path, _value in OTHERWISE:
    declare(
        _id, f"{_path.replace('.', '-')}-otherwise", f"it becomes {_value}", shown(_path, _value)
    )

declare(
    "CUS-011", "all-business", "all show BUSINESS", edited(_VIEW, put("customerType", "BUSINESS"))
)
declare(
    "BUS-002",
    "all-individual",
    "all show INDIVIDUAL",
    edited(_VIEW, put("customerType", "INDIVIDUAL")),
)


# --- How a customer stands ------------------------------------------------------------------

_WORDS = {"APPROVED": "VERIFIED", "REJECTED": "DECLINED", "HOLD": "ON_HOLD"}


def beside(member: str) -> Edit:
    """Return an edit that gives one status the value of the other one, where it has none."""

    def edit(body: Json) -> Json:
        status = body.get("kycStatus") or body.get("kybStatus")
        return body if body.get(member) else {**body, member: status}

    return edit


def worded(status: str, word: str) -> Edit:
    """Return an edit that shows one status in another word."""

    def edit(body: Json) -> Json:
        return {**body, **{m: word for m in ("kycStatus", "kybStatus") if body.get(m) == status}}

    return edit


for _member, _present, _alone, _decided in (
    ("kycStatus", "CUS-042", "BUS-018", ("CUS-046", "CUS-047", "CUS-048")),
    ("kybStatus", "BUS-017", "CUS-043", ("BUS-021", "BUS-022", "BUS-023")),
):
    declare(_present, "missing", f"nobody shows {_member}", edited(_VIEW, taken(_member)))
    declare(_present, "null", f"{_member} is null", shown(_member, None))
    declare(_alone, "both", f"everybody shows {_member}", edited(_VIEW, beside(_member)))
    for _id, (_status, _word) in zip(_decided, _WORDS.items(), strict=True):
        declare(
            _id,
            "other-word",
            f"{_status} is shown as {_word}",
            edited(_VIEW, worded(_status, _word)),
        )

_INITIAL = f"{_REFERENCE}.rules:INITIAL_CUSTOMER_STATUS"


def beginning(status: str) -> Callable[[Patch], None]:
    """Return a patch after which new customers have a status."""
    return lambda patch: patch.row(_INITIAL, "UNREGULATED", status)


for _id, _begun in (
    *((i, s) for i in ("CUS-044", "BUS-019") for s in ("APPROVED", "PENDING")),
    *((i, s) for i in ("CUS-045", "BUS-020") for s in ("REJECTED", "HOLD")),
):
    declare(_id, f"begins-{_begun.lower()}", f"a new customer is {_begun}", beginning(_begun))
