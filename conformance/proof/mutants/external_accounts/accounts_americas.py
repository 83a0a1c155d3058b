"""Mutants of external accounts of the Americas, from Canada to Brazil."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Handler, Json, before, edited
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
)
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors, rules
from conformance.reference.external_accounts import externals
from conformance.reference.quotes import parties
from conformance.reference.store import ExternalAccount
from conformance.reference.unit import Ask, Unit

USD, MXN, BRL = "USD_ACCOUNT", "MXN_ACCOUNT", "BRL_ACCOUNT"
COP, SLV, CAD = "COP_ACCOUNT", "SLV_ACCOUNT", "CAD_ACCOUNT"

_OPTIONAL: Json = {"required": False}


def as_phone(value: Any) -> Any:
    """Return a number as a phone number, and nothing for all else."""
    return f"+{value}" if isinstance(value, int) else None


# --- Members of so many digits --------------------------------------------------------------

_FAULTS = ("none", "null", "empty", "short", "long", "letter", "number", "full-width")

NUMBERS: tuple[tuple[str, str, int, int, tuple[int, ...]], ...] = (
    (USD, "accountNumber", 4, 17, (10, 21, 23, 11, 12, 13, 25, 308)),
    (USD, "routingNumber", 9, 9, (15, 22, 24, 16, 17, 18, 26, 309)),
    (MXN, "clabeNumber", 18, 18, (34, 35, 36, 37, 38, 39, 40, 42)),
    (CAD, "bankCode", 3, 3, (257, 258, 259, 260, 261, 262, 263)),
    (CAD, "branchCode", 5, 5, (264, 265, 266, 267, 268, 269, 270)),
    (CAD, "accountNumber", 7, 12, (271, 272, 273, 274, 275, 276, 277)),
)
"""Account type, member, least and most digits, and the rules on each of the faults above."""


def _looser(low: int, high: int) -> dict[str, tuple[tuple[str, Json], ...]]:
    length = f"{{{low},{high}}}"
    return {
        "none": (("optional", _OPTIONAL),),
        "null": (("nullable", _OPTIONAL),),
        "empty": (("blank", {"pattern": rf"(\d{length})?", "min_length": None}),),
        "short": (
            ("one-digit-less", {"pattern": rf"\d{{{low - 1},{high}}}"}),
            ("at-most", {"pattern": rf"\d{{1,{high}}}"}),
        ),
        "long": (
            ("one-digit-more", {"pattern": rf"\d{{{low},{high + 1}}}"}),
            ("at-least", {"pattern": rf"\d{{{low},}}"}),
        ),
        "letter": (
            ("alphanumeric", {"pattern": rf"[A-Z0-9]{length}"}),
            ("length-alone", {"pattern": rf".{length}"}),
        ),
        "full-width": (("digits-of-any-script", {"pattern": rf"[\d\uff10-\uff19]{length}"}),),
    }


for _type, _member, _low, _high, _numbers in NUMBERS:
    _patterns = _looser(_low, _high)
    for _fault, _number in zip(_FAULTS, _numbers, strict=False):
        _id = f"AMR-{_number:03}"
        if _fault == "number":
            declare_guesses([(_id, _type, f"accountInfo.{_member}", "as-text", as_text)])
            continue
        declare_rules((_id, _type, _member, *changed) for changed in _patterns[_fault])


# --- Other rules of members -----------------------------------------------------------------

_PIX = ("CPF", "CNPJ", "EMAIL", "PHONE", "RANDOM")
_CHECKING: Json = {"enum": ("CHECKING",)}
_ANY_CASE: Json = {"enum": ("CHECKING", "SAVINGS", "checking", "savings")}
_ANY_WORD: Json = {"enum": ()}
_BLANK: Json = {"min_length": None}
_BLANK_PHONE: Json = {"pattern": r"(\+[1-9]\d{6,14})?", "min_length": None}


def _but(word: str) -> Json:
    return {"enum": tuple(kind for kind in _PIX if kind != word)}


declare_rules(
    (
        ("AMR-007", USD, "accountNumber", "five-digits-at-least", {"pattern": r"\d{5,17}"}),
        ("AMR-008", USD, "accountNumber", "sixteen-digits-at-most", {"pattern": r"\d{4,16}"}),
        ("AMR-009", USD, "bankAccountType", "checking-alone", _CHECKING),
        ("AMR-019", USD, "bankAccountType", "any-word", _ANY_WORD),
        ("AMR-019", USD, "bankAccountType", "unruled", None),
        ("AMR-312", USD, "bankAccountType", "any-case", _ANY_CASE),
        ("AMR-300", USD, "fiToFiInformation", "four-characters", {"max_length": 4}),
        ("AMR-300", USD, "intermediaryRoutingNumber", "swift", {"pattern": r"[A-Z]{6}\w{2,5}"}),
        ("AMR-100", BRL, "pixKeyType", "unknown", _but("CPF")),
        ("AMR-100", BRL, "taxId", "dotted", {"pattern": r"\d{3}\.\d{3}\.\d{3}-\d{2}"}),
        ("AMR-106", BRL, "pixKeyType", "unknown", _but("CNPJ")),
        ("AMR-106", BRL, "pixKey", "twelve-digits", {"pattern": r"\d{1,12}|\+\d+|.*[@-].*"}),
        ("AMR-107", BRL, "pixKeyType", "unknown", _but("EMAIL")),
        ("AMR-107", BRL, "pixKey", "no-mail-address", {"pattern": r"[^@]+"}),
        ("AMR-108", BRL, "pixKeyType", "unknown", _but("PHONE")),
        ("AMR-108", BRL, "pixKey", "no-plus", {"pattern": r"[^+]+"}),
        ("AMR-109", BRL, "pixKeyType", "unknown", _but("RANDOM")),
        ("AMR-109", BRL, "pixKeyType", "evp", {"enum": (*_PIX[:-1], "EVP")}),
        ("AMR-109", BRL, "pixKey", "short", {"max_length": 32}),
        ("AMR-110", BRL, "pixKey", "optional", _OPTIONAL),
        ("AMR-110", BRL, "pixKey", "unruled", None),
        ("AMR-111", BRL, "pixKey", "nullable", _OPTIONAL),
        ("AMR-112", BRL, "pixKey", "blank", _BLANK),
        ("AMR-114", BRL, "pixKeyType", "any-word", _ANY_WORD),
        ("AMR-114", BRL, "pixKeyType", "unruled", None),
        ("AMR-114", BRL, "pixKeyType", "evp", {"enum": (*_PIX, "EVP")}),
        ("AMR-116", BRL, "pixKeyType", "any-case", {"enum": (*_PIX, *map(str.lower, _PIX))}),
        ("AMR-155", COP, "bankAccountType", "checking-alone", _CHECKING),
        ("AMR-162", COP, "bankName", "blank", _BLANK),
        ("AMR-163", COP, "accountNumber", "blank", _BLANK),
        ("AMR-164", COP, "bankAccountType", "any-word", _ANY_WORD),
        ("AMR-164", COP, "bankAccountType", "unruled", None),
        ("AMR-150", COP, "phoneNumber", "demanded", {"required": True}),
        ("AMR-170", COP, "accountNumber", "demanded", {"required": True}),
        ("AMR-170", COP, "bankAccountType", "demanded", {"required": True}),
        ("AMR-205", SLV, "bankAccountType", "checking-alone", _CHECKING),
        ("AMR-208", SLV, "accountNumber", "blank", _BLANK),
        ("AMR-209", SLV, "bankAccountType", "any-word", _ANY_WORD),
        ("AMR-200", SLV, "phoneNumber", "demanded", {"required": True}),
        ("AMR-215", SLV, "accountNumber", "demanded", {"required": True}),
        ("AMR-215", SLV, "bankAccountType", "demanded", {"required": True}),
        ("AMR-255", CAD, "accountNumber", "eight-digits-at-least", {"pattern": r"\d{8,12}"}),
        ("AMR-256", CAD, "accountNumber", "eleven-digits-at-most", {"pattern": r"\d{7,11}"}),
    )
)

PHONES: tuple[tuple[str, str, str, tuple[int, ...]], ...] = (
    (COP, "57", r"3\d{9}", (174, 175, 176, 177, 178, 179)),
    (SLV, "503", r"[267]\d{7}", (219, 220, 221, 222, 223, 224)),
)
"""Account type, country code, national number, and the rules on the faults of phone numbers."""

for _type, _country, _national, _numbers in PHONES:
    _empty, _letter, _no_plus, _no_country, _long, _number_kind = (
        f"AMR-{number}" for number in _numbers
    )
    _rule = r"\+[1-9]\d{6,14}"
    declare_rules(
        (
            (_empty, _type, "phoneNumber", "blank", _BLANK_PHONE),
            (_letter, _type, "phoneNumber", "alphanumeric", {"pattern": r"\+[A-Z0-9]{7,15}"}),
            (_letter, _type, "phoneNumber", "unruled", {"pattern": None}),
            (_no_plus, _type, "phoneNumber", "plus-optional", {"pattern": r"\+?[1-9]\d{6,14}"}),
            (_no_plus, _type, "phoneNumber", "own", {"pattern": rf"{_rule}|{_country}\d+"}),
            (_no_country, _type, "phoneNumber", "local", {"pattern": rf"{_rule}|{_national}"}),
            (_long, _type, "phoneNumber", "of-any-length", {"pattern": r"\+[1-9]\d{6,}"}),
        )
    )
    declare_guesses([(_number_kind, _type, "accountInfo.phoneNumber", "as-text", as_phone)])

declare_guesses(
    (
        ("AMR-113", BRL, "accountInfo.pixKey", "as-text", as_text),
        ("AMR-165", COP, "accountInfo.bankName", "as-text", as_text),
        ("AMR-166", COP, "accountInfo.accountNumber", "as-text", as_text),
        ("AMR-210", SLV, "accountInfo.accountNumber", "as-text", as_text),
    )
)

CURRENCIES = {USD: 27, MXN: 41, BRL: 115, COP: 167, SLV: 211, CAD: 278}
"""The rule on another currency of each account type."""

for _type, _number in CURRENCIES.items():
    _every = {"currencies": tuple(rules.CURRENCIES)}
    declare_kinds([(f"AMR-{_number:03}", _type, "of-any-currency", _every)])

_NAME_ALONE: Json = {"beside": {"accountNumber": ("bankName",)}}
_KIND_ALONE: Json = {"beside": {"accountNumber": ("bankAccountType",)}}
_ANY_FORM: Json = {"one_of": ()}

declare_kinds(
    (
        ("AMR-156", COP, "bank-unnamed", _KIND_ALONE),
        ("AMR-156", COP, "nothing-beside-a-number", {"beside": {}}),
        ("AMR-159", COP, "bank-unnamed", _KIND_ALONE),
        ("AMR-158", COP, "kind-unsaid", _NAME_ALONE),
        ("AMR-158", COP, "nothing-beside-a-number", {"beside": {}}),
        ("AMR-161", COP, "kind-unsaid", _NAME_ALONE),
        ("AMR-157", COP, "neither-form", _ANY_FORM),
        ("AMR-160", COP, "neither-form", _ANY_FORM),
        ("AMR-172", COP, "neither-form", _ANY_FORM),
        ("AMR-173", COP, "neither-form", _ANY_FORM),
        ("AMR-206", SLV, "neither-form", _ANY_FORM),
        ("AMR-207", SLV, "neither-form", _ANY_FORM),
        ("AMR-217", SLV, "neither-form", _ANY_FORM),
        ("AMR-218", SLV, "neither-form", _ANY_FORM),
        ("AMR-014", USD, "paid-by-swift", {"rails": ("ACH", "WIRE", "SWIFT")}),
        ("AMR-014", USD, "rails-in-lower-case", {"rails": ("ach", "wire", "rtp", "fednow")}),
        ("AMR-028", USD, "rails-untold", {"rails": ()}),
        ("AMR-029", USD, "rail-told-twice", {"rails": ("ACH", "WIRE", "ACH")}),
    )
)


declare(
    "AMR-028",
    "not-listed",
    "accounts are listed without their rails",
    edited(externals, "list_for_customers", without("data.*.accountInfo.paymentRails")),
)


# --- What is refused though it is right -----------------------------------------------------


def is_there(value: Any) -> bool:
    """Return whether a member is given."""
    return value is not None


def starts_with_zero(value: Any) -> bool:
    """Return whether a number has a first digit that counts for nothing."""
    return str(value).startswith("0")


declare_strict(
    (
        ("AMR-001", USD, "accountInfo.routingNumber", "no-first-zero", starts_with_zero),
        ("AMR-030", MXN, "accountInfo.clabeNumber", "no-first-zero", starts_with_zero),
        ("AMR-250", CAD, "accountInfo.bankCode", "no-first-zero", starts_with_zero),
        ("AMR-250", CAD, "accountInfo.branchCode", "no-first-zero", starts_with_zero),
        ("AMR-300", USD, "accountInfo.intermediaryBankName", "not-taken", is_there),
        ("AMR-150", COP, "accountInfo.bankName", "not-taken", is_there),
        ("AMR-215", SLV, "accountInfo.phoneNumber", "not-taken", is_there),
    )
)

DEMANDED = (
    ("AMR-001", USD, "swiftCode"),
    ("AMR-030", MXN, "swiftCode"),
    ("AMR-100", BRL, "accountNumber"),
    ("AMR-150", COP, "branchCode"),
    ("AMR-170", COP, "provider"),
    ("AMR-200", SLV, "branchCode"),
    ("AMR-215", SLV, "provider"),
    ("AMR-215", SLV, "bankName"),
    ("AMR-250", CAD, "bankName"),
)
"""Requirement, account type, and a member that the type does not have and that is demanded."""

for _id, _type, _member in DEMANDED:
    declare(
        _id,
        f"{_member}-demanded",
        f"{_type} needs a {_member} too",
        rule_added(_type, _member, required=True),
    )


# --- Rails of US accounts -------------------------------------------------------------------


declare(
    "AMR-311", "unread", "who reads a US account is not told its rails", read_without_rails(USD)
)


@mutant("AMR-020", "the rails that a request sends are kept")
def rails_taken_over(patch: Patch) -> None:
    patch.replace(externals, "stored_info", lambda info, kind: dict(info))


@mutant("AMR-020", "the platform's accounts keep the rails that are sent", (externals, "create"))
def rails_of_the_platform(original: Handler, unit: Unit, ask: Ask) -> Any:
    body = original(unit, ask)
    rails = ask.body["accountInfo"].get("paymentRails")
    if not rails or ask.body.get("customerId"):
        return body
    account = unit.session.get_one(ExternalAccount, body["id"])
    account.info = {**account.info, "paymentRails": rails}
    return externals.view(account)


@mutant(
    "AMR-020",
    "the rails that a request sends are kept where they are known ones",
    (externals, "stored_info"),
)
def known_rails_taken_over(original: Callable[..., Json], info: Json, kind: Any) -> Json:
    wanted = [rail for rail in info.get("paymentRails") or () if rail in kind.rails]
    kept = original(info, kind)
    return {**kept, "paymentRails": wanted} if wanted else kept


def refusing_intermediary(rail: str) -> Apply:
    """Return a patch after which accounts with an intermediary bank are not paid by a rail."""

    def refuse(account: ExternalAccount, wanted: str | None) -> None:
        if wanted == rail and account.info.get("intermediaryBankName"):
            raise errors.Refusal("INVALID_BANK_ACCOUNT", f"{rail} has no intermediary banks.")

    return before(parties, "refuse_rail", refuse)


RAILS = {"WIRE": "AMR-304", "ACH": "AMR-305", "RTP": "AMR-306", "FEDNOW": "AMR-307"}

for _rail, _id in RAILS.items():
    declare(
        _id,
        "intermediary-refused",
        f"accounts with an intermediary bank are not paid by {_rail}",
        refusing_intermediary(_rail),
    )
