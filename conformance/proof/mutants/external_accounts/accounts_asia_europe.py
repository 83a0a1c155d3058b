"""Mutants of the account types of Europe and Asia."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from conformance.proof.kit.builders import Json, before, edited, instead
from conformance.proof.kit.edits import without
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.external_accounts.account_rules import (
    as_text,
    declare_guesses,
    declare_kinds,
    declare_rules,
    declare_strict,
    read_without_rails,
    rule_added,
    rule_changed,
    shown,
    shown_member,
)
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors
from conformance.reference.external_accounts import externals, institutions
from conformance.reference.external_accounts.account_types import AccountType

AED, BDT, CNY = "AED_ACCOUNT", "BDT_ACCOUNT", "CNY_ACCOUNT"
EUR, GBP, ILS = "EUR_ACCOUNT", "GBP_ACCOUNT", "ILS_ACCOUNT"
INR, PHP = "INR_ACCOUNT", "PHP_ACCOUNT"

ANY: Json = {"kind": "any"}
ANY_TEXT: Json = {"pattern": None, "min_length": None}
OPTIONAL: Json = {"required": False}


# --- Members without which no payment can be routed -----------------------------------------

IDENTIFIERS: tuple[tuple[str, str, str, str, str, str], ...] = (
    (EUR, "iban", "EUA-006", "EUA-007", "EUA-008", "EUA-009"),
    (GBP, "sortCode", "EUA-104", "EUA-105", "EUA-106", "EUA-107"),
    (GBP, "accountNumber", "EUA-113", "EUA-114", "EUA-115", "EUA-116"),
    (AED, "iban", "ASA-006", "ASA-007", "ASA-008", "ASA-009"),
    (ILS, "iban", "ASA-054", "ASA-055", "ASA-056", "ASA-057"),
    (PHP, "accountNumber", "ASA-106", "ASA-107", "ASA-108", "ASA-109"),
)
"""Account type, member, and the rules on none of it, null, empty text and an object."""


def _identifiers() -> Iterator[tuple[str, str, str, str, Json | None]]:
    for kind, member, none, null, empty, other in IDENTIFIERS:
        yield none, kind, member, "optional", OPTIONAL
        yield none, kind, member, "unruled", None
        yield null, kind, member, "optional", OPTIONAL
        yield null, kind, member, "any-kind", ANY
        yield empty, kind, member, "any-text", ANY_TEXT
        yield other, kind, member, "any-kind", ANY


declare_rules(_identifiers())


# --- What is taken for right ----------------------------------------------------------------


def _pattern(pattern: str | None, **more: Any) -> Json:
    return {"pattern": pattern, **more}


_IBAN = r"[A-Z]{2}\d{2}[A-Z0-9]"

LOOSENED: tuple[tuple[str, str, str, str, Json | None], ...] = (
    ("EUA-010", EUR, "iban", "any-text", ANY_TEXT),
    ("EUA-010", EUR, "iban", "words", _pattern(r"[\w ]+")),
    ("EUA-011", EUR, "iban", "no-country", _pattern(r"[A-Z0-9]{15,34}")),
    ("EUA-012", EUR, "iban", "short", _pattern(rf"{_IBAN}{{10,30}}")),
    ("EUA-013", EUR, "iban", "long", _pattern(rf"{_IBAN}{{11,}}")),
    ("EUA-015", EUR, "swiftCode", "any-kind", ANY),
    ("EUA-108", GBP, "sortCode", "short", _pattern(r"\d{5,6}")),
    ("EUA-109", GBP, "sortCode", "long", _pattern(r"\d{6,}")),
    ("EUA-110", GBP, "sortCode", "letters", _pattern(r"\w{6}")),
    ("EUA-112", GBP, "sortCode", "hyphens", _pattern(r"\d\d-?\d\d-?\d\d")),
    ("EUA-117", GBP, "accountNumber", "short", _pattern(r"\d{7,8}")),
    ("EUA-118", GBP, "accountNumber", "long", _pattern(r"\d{8,}")),
    ("EUA-119", GBP, "accountNumber", "letters", _pattern(r"\w{8}")),
    ("EUA-121", GBP, "accountNumber", "spaces", _pattern(r"(\d ?){8}")),
    ("ASA-010", AED, "iban", "short", _pattern(r"AE[A-Z0-9]{20,21}")),
    ("ASA-011", AED, "iban", "long", _pattern(r"AE[A-Z0-9]{21,}")),
    ("ASA-012", AED, "iban", "any-country", _pattern(r"[A-Z]{2}[A-Z0-9]{21}")),
    ("ASA-013", AED, "iban", "no-country", _pattern(r"(AE)?\d{21,23}")),
    ("ASA-014", AED, "iban", "lower-case", _pattern(r"(?i:AE[A-Z0-9]{21})")),
    ("ASA-015", AED, "iban", "spaces", _pattern(r"AE([A-Z0-9] ?){21}")),
    ("ASA-016", AED, "swiftCode", "any-kind", ANY),
    ("ASA-058", ILS, "iban", "short", _pattern(r"IL[A-Z0-9]{20,21}")),
    ("ASA-059", ILS, "iban", "long", _pattern(r"IL[A-Z0-9]{21,}")),
    ("ASA-060", ILS, "iban", "any-country", _pattern(r"[A-Z]{2}[A-Z0-9]{21}")),
    ("ASA-061", ILS, "iban", "no-country", _pattern(r"(IL)?\d{21,23}")),
    ("ASA-062", ILS, "iban", "lower-case", _pattern(r"(?i:IL[A-Z0-9]{21})")),
    ("ASA-063", ILS, "iban", "spaces", _pattern(r"IL([A-Z0-9] ?){21}")),
    ("ASA-064", ILS, "bankName", "optional", OPTIONAL),
    ("ASA-065", ILS, "bankName", "optional", OPTIONAL),
    ("ASA-066", ILS, "bankName", "any-text", ANY_TEXT),
    ("ASA-110", PHP, "accountNumber", "short", _pattern(r"\d{7,16}")),
    ("ASA-111", PHP, "accountNumber", "long", _pattern(r"\d{8,}")),
    ("ASA-112", PHP, "accountNumber", "letters", _pattern(r"\w{8,16}")),
    ("ASA-114", PHP, "accountNumber", "hyphens", _pattern(r"[\d-]{8,16}")),
    ("ASA-115", PHP, "bankName", "any-text", ANY_TEXT),
    ("ASA-157", INR, "vpa", "any-text", ANY_TEXT),
    ("ASA-158", INR, "vpa", "any-kind", ANY),
    ("ASA-159", INR, "vpa", "no-at-sign", _pattern(None)),
    ("ASA-170", INR, "accountNumber", "any-text", ANY_TEXT),
    ("ASA-171", INR, "accountNumber", "any-kind", ANY),
    ("ASA-172", INR, "accountNumber", "short", _pattern(r"\d{8,18}")),
    ("ASA-173", INR, "accountNumber", "long", _pattern(r"\d{9,}")),
    ("ASA-174", INR, "accountNumber", "letters", _pattern(r"\w{9,18}")),
    ("ASA-178", INR, "ifsc", "any-text", ANY_TEXT),
    ("ASA-179", INR, "ifsc", "any-kind", ANY),
    ("ASA-180", INR, "ifsc", "short", _pattern(r"[A-Z0-9]{10,11}")),
    ("ASA-181", INR, "ifsc", "long", _pattern(r"[A-Z0-9]{11,}")),
    ("ASA-182", INR, "rail", "imps", {"enum": ("NEFT", "RTGS", "IMPS")}),
    ("ASA-182", INR, "rail", "any-word", {"enum": ()}),
    ("ASA-183", INR, "rail", "upi", {"enum": ("NEFT", "RTGS", "UPI")}),
    ("ASA-184", INR, "rail", "lower-case", {"enum": ("NEFT", "RTGS", "neft", "rtgs")}),
    ("ASA-185", INR, "rail", "any-kind", ANY),
    ("ASA-258", BDT, "bankName", "optional", OPTIONAL),
    ("ASA-259", BDT, "bankName", "optional", OPTIONAL),
    ("ASA-260", BDT, "bankName", "any-text", ANY_TEXT),
    ("ASA-264", BDT, "accountNumber", "any-text", ANY_TEXT),
    ("ASA-265", BDT, "accountNumber", "any-kind", ANY),
    ("ASA-266", BDT, "branchCode", "any-kind", ANY),
    ("ASA-267", BDT, "swiftCode", "any-kind", ANY),
    ("ASA-271", BDT, "bankName", "optional", OPTIONAL),
    ("ASA-272", BDT, "bankName", "optional", OPTIONAL),
    ("ASA-273", BDT, "bankName", "any-text", ANY_TEXT),
    ("ASA-276", BDT, "phoneNumber", "any-text", ANY_TEXT),
    ("ASA-277", BDT, "phoneNumber", "any-kind", ANY),
    ("ASA-278", BDT, "phoneNumber", "words", _pattern(None)),
    ("ASA-306", CNY, "accountNumber", "any-text", ANY_TEXT),
    ("ASA-307", CNY, "accountNumber", "any-kind", ANY),
    ("ASA-313", CNY, "phoneNumber", "any-text", ANY_TEXT),
    ("ASA-314", CNY, "phoneNumber", "any-kind", ANY),
    ("ASA-315", CNY, "phoneNumber", "words", _pattern(None)),
)
"""Requirement, account type, member, name, and the rule as it is then."""

declare_rules(LOOSENED)


def _without(signs: str) -> Callable[[Any], Any]:
    return lambda value: re.sub(signs, "", value) if isinstance(value, str) else None


def _capitals(value: Any) -> Any:
    return value.upper() if isinstance(value, str) else None


GUESSED: tuple[tuple[str, str, str, str, Callable[[Any], Any]], ...] = (
    ("EUA-111", GBP, "accountInfo.sortCode", "number", as_text),
    ("EUA-112", GBP, "accountInfo.sortCode", "hyphens-taken-out", _without("-")),
    ("EUA-120", GBP, "accountInfo.accountNumber", "number", as_text),
    ("EUA-121", GBP, "accountInfo.accountNumber", "spaces-taken-out", _without(" ")),
    ("ASA-014", AED, "accountInfo.iban", "capitals", _capitals),
    ("ASA-015", AED, "accountInfo.iban", "spaces-taken-out", _without(" ")),
    ("ASA-062", ILS, "accountInfo.iban", "capitals", _capitals),
    ("ASA-063", ILS, "accountInfo.iban", "spaces-taken-out", _without(" ")),
    ("ASA-113", PHP, "accountInfo.accountNumber", "number", as_text),
    ("ASA-114", PHP, "accountInfo.accountNumber", "hyphens-taken-out", _without("-")),
    ("ASA-175", INR, "accountInfo.accountNumber", "number", as_text),
    ("ASA-184", INR, "accountInfo.rail", "capitals", _capitals),
)
"""Requirement, account type, member, name, and what is made of the member before it is judged."""

declare_guesses(GUESSED)

_NEITHER: Json = {"one_of": ()}
_RAIL_ALONE: Json = {"beside": {"accountNumber": ("rail",)}}

KINDS: tuple[tuple[str, str, str, Json], ...] = (
    ("ASA-155", INR, "neither", _NEITHER),
    ("ASA-156", INR, "neither", _NEITHER),
    ("ASA-168", INR, "neither", _NEITHER),
    ("ASA-168", INR, "ifsc-alone", {"one_of": ("vpa", "accountNumber", "ifsc")}),
    ("ASA-169", INR, "neither", _NEITHER),
    ("ASA-176", INR, "no-branch", _RAIL_ALONE),
    ("ASA-177", INR, "no-branch", _RAIL_ALONE),
    ("ASA-187", INR, "no-rails", {"rails": ()}),
    ("ASA-262", BDT, "neither", _NEITHER),
    ("ASA-262", BDT, "branch-alone", {"one_of": ("accountNumber", "phoneNumber", "branchCode")}),
    ("ASA-263", BDT, "neither", _NEITHER),
    ("ASA-274", BDT, "neither", _NEITHER),
    ("ASA-275", BDT, "neither", _NEITHER),
    ("ASA-304", CNY, "neither", _NEITHER),
    ("ASA-305", CNY, "neither", _NEITHER),
    ("ASA-312", CNY, "neither", _NEITHER),
    ("EUA-016", EUR, "dollars", {"currencies": ("EUR", "USD")}),
    ("EUA-122", GBP, "dollars", {"currencies": ("GBP", "USD")}),
    ("ASA-017", AED, "dollars", {"currencies": ("AED", "USD")}),
    ("ASA-068", ILS, "dollars", {"currencies": ("ILS", "USD")}),
    ("ASA-117", PHP, "dollars", {"currencies": ("PHP", "USD")}),
    ("ASA-160", INR, "dollars", {"currencies": ("INR", "USD")}),
    ("ASA-268", BDT, "dollars", {"currencies": ("BDT", "USD")}),
    ("ASA-309", CNY, "dollars", {"currencies": ("CNY", "USD")}),
    ("ASA-118", PHP, "any-bank", {"listed_banks": False}),
)
"""Requirement, account type, name, and what is changed of the type."""

declare_kinds(KINDS)


# --- What is refused though it is right -----------------------------------------------------


def _longer_than(length: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and len(value) > length


def _shorter_than(length: int) -> Callable[[Any], bool]:
    return lambda value: isinstance(value, str) and len(value) < length


def _with_letters(value: Any) -> bool:
    return isinstance(value, str) and not value[2:].isdigit()


def _from_zero(value: Any) -> bool:
    return isinstance(value, str) and value.startswith("0")


def _missing(value: Any) -> bool:
    return value is None


STRICT: tuple[tuple[str, str, str, str, Callable[[Any], bool]], ...] = (
    ("EUA-017", EUR, "accountInfo.iban", "eighteen-characters", _shorter_than(18)),
    ("EUA-018", EUR, "accountInfo.iban", "digits-alone", _with_letters),
    ("EUA-019", EUR, "accountInfo.iban", "as-in-spain", _longer_than(24)),
    ("EUA-020", EUR, "accountInfo.iban", "column-of-30", _longer_than(30)),
    ("EUA-020", EUR, "accountInfo.iban", "column-of-28", _longer_than(28)),
    ("EUA-123", GBP, "accountInfo.sortCode", "from-zero", _from_zero),
    ("EUA-124", GBP, "accountInfo.accountNumber", "from-zero", _from_zero),
    ("ASA-001", AED, "accountInfo.iban", "twenty-two", _longer_than(22)),
    ("ASA-005", AED, "accountInfo.swiftCode", "demanded", _missing),
    ("ASA-050", ILS, "accountInfo.iban", "twenty-two", _longer_than(22)),
    ("ASA-104", PHP, "accountInfo.accountNumber", "nine-digits", _shorter_than(9)),
    ("ASA-105", PHP, "accountInfo.accountNumber", "fifteen-digits", _longer_than(15)),
    ("ASA-166", INR, "accountInfo.accountNumber", "ten-digits", _shorter_than(10)),
    ("ASA-167", INR, "accountInfo.accountNumber", "seventeen-digits", _longer_than(17)),
    ("ASA-256", BDT, "accountInfo.branchCode", "demanded", _missing),
    ("ASA-257", BDT, "accountInfo.swiftCode", "demanded", _missing),
)
"""Requirement, account type, member, name, and which values are refused."""

declare_strict(STRICT)

DEMANDED: tuple[tuple[str, str, str], ...] = (
    ("ASA-154", INR, "bankName"),
    ("ASA-165", INR, "bankName"),
    ("ASA-269", BDT, "accountNumber"),
    ("ASA-310", CNY, "accountNumber"),
    ("ASA-161", INR, "vpa"),
    ("ASA-150", INR, "accountNumber"),
)
"""Requirement, account type, and a member that is demanded of every account of it."""

for _id, _type, _member in DEMANDED:
    declare(
        _id,
        f"{_member}-always-demanded",
        f"every {_type} needs {_member}",
        rule_added(_type, _member, required=True)
        if _member == "bankName"
        else rule_changed(_type, _member, required=True),
    )

for _id, _rail, _others in (("ASA-161", "NEFT", ("RTGS",)), ("ASA-186", "RTGS", ("NEFT",))):
    declare(
        _id,
        f"no-{_rail.lower()}",
        f"{_rail} is no rail",
        rule_changed(INR, "rail", enum=_others),
    )


# --- Names of banks -------------------------------------------------------------------------


def any_bank_name(account_type: str) -> Apply:
    """Return a patch after which whatever stands there is the name of a bank."""

    def apply(patch: Patch) -> None:
        rows = externals.EXTERNAL_ACCOUNT_FIELDS
        patch.replace(
            externals,
            "EXTERNAL_ACCOUNT_FIELDS",
            tuple(row for row in rows if row.path != "accountInfo.bankName"),
        )
        rule_changed(account_type, "bankName", **ANY)(patch)

    return apply


for _id, _type in (
    ("EUA-014", EUR),
    ("ASA-067", ILS),
    ("ASA-116", PHP),
    ("ASA-261", BDT),
    ("ASA-308", CNY),
):
    declare(_id, "any-kind", f"the bank of a {_type} is an object", any_bank_name(_type))


def listing(test: Callable[[tuple[str, str, str, str], Any, tuple[str, ...]], bool]) -> Apply:
    """Return a patch after which a name is looked for among the institutions otherwise."""

    def is_listed(bank_name: Any, currencies: tuple[str, ...]) -> bool:
        return any(test(row, bank_name, currencies) for row in institutions.INSTITUTIONS)

    return instead(institutions, "is_listed", is_listed)


declare(
    "ASA-119",
    "labels",
    "the label of an institution is taken for its name",
    listing(lambda row, name, currencies: name in row[:2] and row[3] in currencies),
)
declare(
    "ASA-120",
    "everywhere",
    "the institutions of all countries are one list",
    listing(lambda row, name, _: name == row[0]),
)
declare(
    "ASA-100",
    "labels-alone",
    "accounts are registered under the label of an institution",
    listing(lambda row, name, currencies: name == row[1] and row[3] in currencies),
)


@mutant("ASA-118", "any bank of a business is taken", (externals, "pairing_errors"))
def any_bank_of_a_business(
    original: Callable[[Json, AccountType], list[Json]], body: Json, kind: AccountType
) -> list[Json]:
    beneficiary = body["accountInfo"].get("beneficiary") or {}
    is_business = beneficiary.get("beneficiaryType") == "BUSINESS"
    return original(body, replace(kind, listed_banks=False) if is_business else kind)


declare(
    "ASA-118",
    "any-name-for-one",
    "it is enough that a currency has institutions",
    listing(lambda row, _, currencies: row[3] in currencies),
)


# --- SWIFT codes ----------------------------------------------------------------------------


def _complaining(complaint: errors.Refusal) -> Apply:
    """Return a patch after which an account in euros without a SWIFT code is refused so."""

    def completed(info: Json, kind: AccountType) -> None:
        if info["accountType"] == EUR and info.get("swiftCode") is None:
            raise complaint

    return before(externals, "completed", completed)


declare(
    "EUA-021",
    "iban-blamed",
    "an IBAN without a SWIFT code is called wrong",
    _complaining(errors.invalid_input(errors.field_error("accountInfo.iban", "Unknown bank."))),
)
declare(
    "EUA-021",
    "conflict",
    "a missing SWIFT code is a conflict",
    _complaining(errors.Refusal("CONFLICT", "The bank is not known.")),
)


declare(
    "EUA-906",
    "demanded",
    "each account in euros needs a SWIFT code",
    _complaining(
        errors.invalid_input(errors.field_error("accountInfo.swiftCode", "It is needed."))
    ),
)


@mutant("EUA-907", "an IBAN leads to the SWIFT code of another bank")
def other_bank(patch: Patch) -> None:
    patch.row(institutions, "SWIFT_CODES", "DE37040044", "DEUTDEFF")


@mutant("EUA-022", "an IBAN leads to the SWIFT code of the bank in another country")
def other_country(patch: Patch) -> None:
    patch.row(institutions, "SWIFT_CODES", "DE37040044", "COBAFRPP")


@mutant(
    "EUA-023", "a SWIFT code is derived although one was sent", (externals, "completed"), instead
)
def derived_always(info: Json, kind: AccountType) -> Json:
    return {
        **info,
        **{name: derive(info) or info.get(name) for name, derive in kind.derived.items()},
    }


def _read_as(change: Callable[[str], str | None]) -> Apply:
    """Return a patch after which a SWIFT code is read otherwise than it was answered at first."""

    def edit(account: Json) -> Json:
        info = account["accountInfo"]
        if not info.get("swiftCode"):
            return account
        return {**account, "accountInfo": {**info, "swiftCode": change(info["swiftCode"])}}

    return edited(externals, "read", edit)


declare(
    "EUA-022",
    "read-otherwise",
    "a derived SWIFT code is read as that of another bank",
    _read_as(lambda _: "DEUTDEFF"),
)
declare(
    "EUA-905",
    "not-kept",
    "a derived SWIFT code is not shown when an account is read",
    _read_as(lambda _: None),
)
declare(
    "EUA-905",
    "unlisted",
    "a derived SWIFT code is not listed",
    edited(externals, "list_for_customers", without("data.*.accountInfo.swiftCode")),
)
declare(
    "EUA-023",
    "read-with-branch",
    "a SWIFT code is read as that of another branch",
    _read_as(lambda code: f"{code[:8]}500"),
)
declare(
    "EUA-005",
    "head-office",
    "the SWIFT code of the head office is shown in the place of the one sent",
    shown_member(EUR, "swiftCode", lambda code: f"{code[:4]}LULL"),
)


# --- Rails ----------------------------------------------------------------------------------


declare(
    "ASA-188",
    "rails-as-text",
    "the rails are one text",
    shown_member(INR, "paymentRails", ", ".join),
)
declare(
    "ASA-188",
    "rails-as-objects",
    "the rails are objects",
    shown_member(INR, "paymentRails", lambda rails: [{"name": rail} for rail in rails]),
)


declare(
    "ASA-190", "unread", "who reads an INR account is not told its rails", read_without_rails(INR)
)


@mutant("ASA-191", "an INR account by UPI shows no rails", (externals, "stored_info"))
def without_rails_by_upi(
    original: Callable[[Json, AccountType], Json], info: Json, kind: AccountType
) -> Json:
    kept = original(info, kind)
    return without("paymentRails")(kept) if "vpa" in kept else kept


@mutant("ASA-187", "the rails are shown under another name")
def rails_renamed(patch: Patch) -> None:
    def change(info: Json) -> Json:
        return {"rails" if name == "paymentRails" else name: v for name, v in info.items()}

    shown(INR, change)(patch)


@mutant("ASA-189", "the rails that are sent are kept")
def rails_taken_over(patch: Patch) -> None:
    patch.wrap(
        externals, "stored_info", lambda original, info, kind: {**original(info, kind), **info}
    )
