"""Mutants of beneficiaries: what is asked of them by their account's currency, and their forms."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from functools import partial
from typing import Any

from conformance.proof.kit.builders import Handler, Json, around, edited, together
from conformance.proof.kit.edits import without
from conformance.proof.kit.tables import with_field, with_row, without_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.external_accounts.account_rules import snake_case
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, fields
from conformance.reference.external_accounts import beneficiaries, externals
from conformance.reference.unit import Ask, Unit
from conformance.testdata.beneficiaries import (
    WHOLE,
    BeneficiaryExample,
    beneficiary_example,
    beneficiary_examples,
)

_BUSINESS = "BUSINESS"
_OF_INDIVIDUALS = "INDIVIDUAL_MINIMUM"


# --- One change -----------------------------------------------------------------------------


def checked(currency: str, change: Callable[[Function, Json, Any, Any], Any]) -> Apply:
    """Return a patch of what is found wrong with beneficiaries of accounts in a currency."""

    def check(original: Function, body: Json, kind: Any, sender: Any) -> Any:
        if body["currency"] != currency:
            return original(body, kind, sender)
        return change(original, body, kind, sender)

    return around(beneficiaries, "check", check)


def form(member: str, **changes: Any) -> Apply:
    """Return a patch of the form of a member."""
    path = f"{beneficiaries.PLACE}.{member}"
    return with_field(beneficiaries, "BENEFICIARY_FIELDS", path, **changes)


def table_of(found: BeneficiaryExample, currency: str) -> str:
    """Return the name of the table that tells what an example needs in a currency."""
    if found.beneficiary["beneficiaryType"] != _BUSINESS:
        return _OF_INDIVIDUALS
    return "BUSINESS_SENDER_MINIMUM" if found.sender == _BUSINESS else "BUSINESS_MINIMUM"


def asked_more(found: BeneficiaryExample, currency: str, member: str) -> Apply:
    """Return a patch after which a currency asks for one member more."""
    name = table_of(found, currency)
    row = getattr(beneficiaries, name).get(currency, ())
    return with_row(beneficiaries, name, currency, (*row, member))


def asked_less(found: BeneficiaryExample, currency: str, member: str) -> Apply:
    """Return a patch after which a currency does not ask for a member."""
    name = table_of(found, currency)
    row: Sequence[str] = getattr(beneficiaries, name)[currency]
    kept = tuple(path for path in row if path != member and not path.startswith(f"{member}."))
    return with_row(beneficiaries, name, currency, kept)


def unasked_of_businesses(member: str) -> Apply:
    """Return a patch after which an individual whom a business pays needs a member no more."""

    def due(original: Function, told: Json, currency: str, sender: Any) -> Sequence[str]:
        needed: Sequence[str] = original(told, currency, sender)
        if told.get("beneficiaryType") == _BUSINESS or sender is None:
            return needed
        if sender.customer_type != _BUSINESS:
            return needed
        return [path for path in needed if path != member and not path.startswith(f"{member}.")]

    return around(beneficiaries, "due", due)


def told_anyway(is_told: Callable[[Json, str], bool]) -> Apply:
    """Return a patch after which a member counts as told where ``is_told`` says so."""
    return around(
        beneficiaries,
        "has",
        lambda original, told, path: original(told, path) or is_told(told, path),
    )


def shown(change: Callable[[Json], None]) -> Apply:
    """Return a patch after which accounts show their beneficiary as ``change`` leaves it."""

    def view(original: Function, account: Any) -> Json:
        body = deepcopy(original(account))
        beneficiary = body["accountInfo"].get("beneficiary")
        if isinstance(beneficiary, dict):
            change(beneficiary)
        return dict(body)

    return around(externals, "view", view)


def renamed(change: Callable[[str], str]) -> Apply:
    """Return a patch after which errors about beneficiaries name another field."""

    def check(original: Function, *given: Any) -> list[Json]:
        return [{**entry, "field": change(entry["field"])} for entry in original(*given)]

    return around(beneficiaries, "check", check)


# --- What currencies ask for ----------------------------------------------------------------

FURTHER = {
    "individual": "birthDate",
    "individual-with-address": "nationality",
    "individual-in-the-emirates": "birthDate",
    "business": "registrationNumber",
    "business-paid-by-another": "registrationNumber",
    "business-with-number": "taxId",
    "business-in-china": "taxId",
    "business-elsewhere": "registrationNumber",
    "business-elsewhere-paid-by-another": "taxId",
    "business-in-africa": "documentNumber",
}
"""What a careless reading of a currency's minimum asks for too, by the name of the example."""


def _without_anybody(original: Function, body: Json, kind: Any, sender: Any) -> Any:
    if body["accountInfo"].get("beneficiary") is None:
        return []
    return original(body, kind, sender)


def _individual_by_default(original: Function, body: Json, kind: Any, sender: Any) -> Any:
    told = {"beneficiaryType": "INDIVIDUAL", **body["accountInfo"]["beneficiary"]}
    info = {**body["accountInfo"], "beneficiary": told}
    return original({**body, "accountInfo": info}, kind, sender)


ANYWHERE = {WHOLE: _without_anybody, "beneficiaryType": _individual_by_default}
"""What all currencies ask for, and what is made of it if it is missing."""


def _declare_from_examples() -> None:
    for found in beneficiary_examples().values():
        for currency, rule in found.taken.items():
            if found.name in FURTHER:
                more = FURTHER[found.name]
                declare(
                    rule,
                    f"{currency}-asks-for-{more}",
                    f"the beneficiary of an account in {currency} needs {more} too",
                    asked_more(found, currency, more),
                )
        for currency, changes in found.missing.items():
            for change in changes:
                member = change.member.removeprefix("businessInfo.")
                if found.sender == _BUSINESS and table_of(found, currency) == _OF_INDIVIDUALS:
                    declare(
                        change.requirement,
                        f"{currency}-{member}-not-asked-of-businesses",
                        f"an individual whom businesses pay in {currency} needs no {member}",
                        unasked_of_businesses(member),
                    )
                    continue
                declare(
                    change.requirement,
                    f"{currency}-{change.member.replace('.', '-')}-not-asked-for",
                    f"the beneficiary of an account in {currency} needs no {member}",
                    checked(currency, ANYWHERE[member])
                    if member in ANYWHERE
                    else asked_less(found, currency, member),
                )
        for member, rule in found.shown.items():
            declare(
                rule,
                f"{found.name}-{member.replace('.', '-')}-cut",
                f"{member} of a beneficiary is shown without its last character",
                shown(partial(_cut, member)),
            )


def _cut(path: str, beneficiary: Json) -> None:
    *holders, name = path.split(".")
    for place in (beneficiary, beneficiary.get("businessInfo")):
        node: Any = place
        for holder in holders:
            node = node.get(holder) if isinstance(node, dict) else None
        if isinstance(node, dict) and isinstance(node.get(name), str):
            node[name] = node[name][:-1]


_declare_from_examples()


# --- What stands for what -------------------------------------------------------------------


for _requirement, _member in (("BEN-060", "legalName"), ("BEN-061", "taxId")):
    declare(
        _requirement,
        "nested-unread",
        f"{_member} under businessInfo is not looked at",
        without_row(beneficiaries, "NESTED", _member),
    )


def unwelcome(member: str, beside: str | None = None) -> Apply:
    """Return a patch after which a member is refused, by itself or beside another one."""

    def check(original: Function, body: Json, kind: Any, sender: Any) -> list[Json]:
        told = body["accountInfo"].get("beneficiary") or {}
        found = list(original(body, kind, sender))
        if told.get(member) is not None and (beside is None or told.get(beside) is not None):
            path = f"{beneficiaries.PLACE}.{member}"
            found.append(errors.field_error(path, "It is not taken."))
        return found

    return around(beneficiaries, "check", check)


declare("BEN-010", "nationality", "a nationality is refused", unwelcome("nationality"))
declare("BEN-010", "birth-date", "a birthDate is refused", unwelcome("birthDate"))
declare(
    "BEN-047",
    "two-numbers",
    "a taxId is refused beside a registrationNumber",
    unwelcome("taxId", "registrationNumber"),
)
declare(
    "BEN-062",
    "twice",
    "a businessInfo is refused beside a legalName",
    unwelcome("businessInfo", "legalName"),
)

_KNOWN = beneficiaries.DOCUMENT_TYPES["COP"]
_DOCUMENTED = beneficiary_example("individual-with-document")
_DOCUMENTS = {
    _DOCUMENTED.beneficiary["documentType"]: _DOCUMENTED.taken["COP"],
    **{change.value: change.requirement for change in _DOCUMENTED.accepted},
}


def _unknown(kind: str) -> Apply:
    def apply(patch: Patch) -> None:
        patch.row(beneficiaries, "DOCUMENT_TYPES", "COP", tuple(k for k in _KNOWN if k != kind))

    return apply


for _kind, _requirement in _DOCUMENTS.items():
    declare(
        _requirement,
        "unknown",
        f"banks in Colombia know no {_kind}",
        _unknown(_kind),
    )


@mutant("BEN-095", "every document is known in Colombia")
def any_document(patch: Patch) -> None:
    patch.drop(beneficiaries, "DOCUMENT_TYPES", "COP")


# --- Forms ----------------------------------------------------------------------------------

_DATE = r"\d{4}-\d\d-\d\d"

FORMS: tuple[tuple[str, str, str, Json], ...] = (
    ("BEN-003", "beneficiaryType", "any-word", {"enum": ()}),
    ("BEN-004", "beneficiaryType", "null", {"required": False}),
    (
        "BEN-005",
        "beneficiaryType",
        "lower-case",
        {"enum": ("INDIVIDUAL", "BUSINESS", "individual", "business")},
    ),
    ("BEN-006", "fullName", "empty", {"min_length": None, "pattern": None}),
    ("BEN-008", "fullName", "kind", {"kind": "any"}),
    ("BEN-009", "fullName", "spaces", {"pattern": None}),
    ("BEN-011", "birthDate", "no-leap-day", {"pattern": r"(?!\d{4}-02-29).*"}),
    ("BEN-012", "birthDate", "any-text", {"format": None}),
    ("BEN-013", "birthDate", "dots", {"format": None, "pattern": rf"{_DATE}|[\d.]{{10}}"}),
    ("BEN-013", "birthDate", "slashes", {"format": None, "pattern": rf"{_DATE}|[\d/]{{10}}"}),
    ("BEN-014", "birthDate", "digits-alone", {"format": None, "pattern": _DATE}),
    ("BEN-015", "birthDate", "digits-alone", {"format": None, "pattern": _DATE}),
    (
        "BEN-015",
        "birthDate",
        "months-of-31",
        {"format": None, "pattern": r"\d{4}-(0[1-9]|1[0-2])-([012]\d|3[01])"},
    ),
    ("BEN-016", "birthDate", "time", {"format": None, "pattern": rf"{_DATE}(T.*)?"}),
    ("BEN-017", "birthDate", "no-hyphens", {"format": None, "pattern": r"\d{4}-?\d\d-?\d\d"}),
    ("BEN-018", "nationality", "three-letters", {"format": None, "pattern": "[A-Z]{2,3}"}),
    ("BEN-019", "nationality", "digits", {"format": None, "pattern": "[A-Z0-9]{2}"}),
    ("BEN-023", "address.line1", "empty", {"min_length": None}),
    ("BEN-024", "address.city", "empty", {"min_length": None}),
    ("BEN-025", "address.postalCode", "empty", {"min_length": None}),
    ("BEN-026", "address.country", "empty", {"min_length": None, "format": None}),
    ("BEN-027", "address.country", "three-letters", {"format": None, "pattern": "[A-Z]{2,3}"}),
    ("BEN-028", "address.country", "digits", {"format": None, "pattern": "[A-Z0-9]{2}"}),
    ("BEN-040", "legalName", "empty", {"min_length": None, "pattern": None}),
    ("BEN-042", "legalName", "kind", {"kind": "any"}),
    ("BEN-043", "legalName", "spaces", {"pattern": None}),
    ("BEN-045", "address", "kind", {"kind": "any"}),
    ("BEN-050", "registrationNumber", "empty", {"min_length": None}),
    ("BEN-052", "registrationNumber", "kind", {"kind": "any"}),
    ("BEN-053", "taxId", "empty", {"min_length": None}),
    ("BEN-055", "taxId", "kind", {"kind": "any"}),
    ("BEN-064", "businessInfo.legalName", "empty", {"min_length": None, "pattern": None}),
)
"""Requirement, member, name, and what is changed of its form."""

for _requirement, _member, _name, _changes in FORMS:
    declare(
        _requirement,
        f"{_member.replace('.', '-')}-{_name}",
        f"{_member} of a beneficiary has another form ({_name})",
        form(_member, **_changes),
    )


def _is_null(told: Json, path: str) -> bool:
    """Return whether a member is null, or what it stands in is."""
    first = path.partition(".")[0]
    return None in (told.get(first, ""), fields.at(told, path))


NULLS = (
    "BEN-007",
    "BEN-021",
    "BEN-029",
    "BEN-030",
    "BEN-031",
    "BEN-032",
    "BEN-041",
    "BEN-044",
    "BEN-051",
    "BEN-054",
)
"""Rules that null is no value of something that is asked for."""

for _requirement in NULLS:
    declare(
        _requirement,
        "null-is-a-value",
        "a member that is null counts as told",
        told_anyway(_is_null),
    )


def _is_empty_address(told: Json, path: str) -> bool:
    return path.startswith("address") and told.get("address") == {}


def _is_text_address(told: Json, path: str) -> bool:
    return path.startswith("address") and isinstance(told.get("address"), str)


for _requirement in ("BEN-022", "BEN-046"):
    declare(
        _requirement,
        "empty-is-an-address",
        "an address without any member counts as one",
        told_anyway(_is_empty_address),
    )

declare(
    "BEN-020",
    "text-is-an-address",
    "a text counts as an address",
    together(form("address", kind="any"), told_anyway(_is_text_address)),
)


def _named_otherwise(own: str, other: str) -> Callable[[Json, str], bool]:
    return lambda told, path: path == own and bool(told.get(other))


for _id, _own, _other in (
    ("BEN-201", "legalName", "fullName"),
    ("BEN-206", "legalName", "fullName"),
    ("BEN-211", "legalName", "fullName"),
    ("BEN-401", "legalName", "fullName"),
    ("BEN-103", "fullName", "legalName"),
):
    declare(
        _id,
        f"{_other}-instead",
        f"a {_other} counts as the {_own}",
        told_anyway(_named_otherwise(_own, _other)),
    )


def _at_home(beneficiary: Json) -> None:
    place = (beneficiary.get("address") or {}).get("country")
    if place and "nationality" in beneficiary:
        beneficiary["nationality"] = place


declare(
    "BEN-073",
    "of-its-address",
    "a beneficiary is shown with the country of its address as its nationality",
    shown(_at_home),
)


# --- Errors ---------------------------------------------------------------------------------


@mutant("EXT-141", "a beneficiary is looked at once its account is right", (externals, "create"))
def beneficiary_later(original: Handler, unit: Unit, ask: Ask) -> Any:
    try:
        return original(unit, ask)
    except errors.Refusal as refusal:
        found = (refusal.details or {}).get("errors", [])
        of_account = [one for one in found if beneficiaries.PLACE not in one["field"]]
        raise errors.invalid_input(*(of_account or found)) if found else refusal from refusal


@mutant("BEN-002", "the first fault of a beneficiary alone is listed")
def first_fault_alone(patch: Patch) -> None:
    patch.wrap(beneficiaries, "check", lambda original, *given: original(*given)[:1])


declare(
    "BEN-001",
    "account",
    "errors about a beneficiary name the account",
    renamed(lambda _: "accountInfo"),
)
declare("BEN-001", "snake-case", "errors name the columns of a table", renamed(snake_case))


# --- Listed ---------------------------------------------------------------------------------


def _listed_cut(member: str) -> Apply:
    """Return a patch after which lists show a member of beneficiaries but for its last letter."""

    def changed(account: Any) -> Any:
        info = account["accountInfo"]
        told = info.get("beneficiary") or {}
        if member not in told:
            return account
        beneficiary = {**told, member: told[member][:-1]}
        return {**account, "accountInfo": {**info, "beneficiary": beneficiary}}

    return edited(
        externals,
        "list_for_customers",
        lambda body: {**body, "data": [changed(one) for one in body["data"]]},
    )


for _requirement, _member in (
    ("BEN-071", "fullName"),
    ("BEN-081", "legalName"),
    ("BEN-097", "documentNumber"),
):
    declare(
        _requirement,
        "listed-cut",
        f"{_member} is listed without its last character",
        _listed_cut(_member),
    )


def _shown_as(change: Callable[[Json], Json]) -> Callable[[Any], Any]:
    """Return a change of an account that shows its beneficiary, if it has one, otherwise."""

    def changed(account: Any) -> Any:
        info = account["accountInfo"]
        if "beneficiary" not in info:
            return account
        return {**account, "accountInfo": {**info, "beneficiary": change(info["beneficiary"])}}

    return changed


def _with_document(told: Json) -> Json:
    return {**told, "documentType": "CC"} if "documentType" in told else told


declare(
    "BEN-096",
    "always-cc",
    "each document is shown as a citizen's card",
    edited(externals, "view", _shown_as(_with_document)),
)


def _with_birth_date(told: Json) -> Json:
    if not str(told.get("birthDate")).endswith("-02-29"):
        return told
    return {**told, "birthDate": f"{told['birthDate'][:4]}-03-01"}


declare(
    "BEN-072",
    "no-leap-day",
    "who was born on a leap day is said to be born a day later",
    edited(externals, "view", _shown_as(_with_birth_date)),
)
declare(
    "BEN-072",
    "read-no-leap-day",
    "an account is read with another day of birth of who was born on a leap day",
    edited(externals, "read", _shown_as(_with_birth_date)),
)


def _by_name_alone(told: Json) -> Json:
    kept = {"beneficiaryType", "fullName", "legalName"}
    return {name: value for name, value in told.items() if name in kept}


def _without_document(told: Json) -> Json:
    return {name: value for name, value in told.items() if not name.startswith("document")}


declare(
    "EXT-831",
    "beneficiary-by-name",
    "an account is read with no more of its beneficiary than the name",
    edited(externals, "read", _shown_as(_by_name_alone)),
)
declare(
    "EXT-833",
    "unread",
    "who reads an account is told no legalName of its beneficiary",
    edited(externals, "read", without("accountInfo.beneficiary.legalName")),
)
declare(
    "EXT-833",
    "unlisted",
    "accounts are listed without the fullName of their beneficiaries",
    edited(externals, "list_for_customers", without("data.*.accountInfo.beneficiary.fullName")),
)
declare(
    "EXT-831",
    "no-document",
    "no account shows the document of its beneficiary",
    edited(externals, "view", _shown_as(_without_document)),
)
