"""Conforming variants of the account types of Europe and Asia."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.proof.kit.builders import Json, around, before
from conformance.proof.mutants.external_accounts.account_rules import (
    guessed,
    kind_changed,
    refusing,
    rule_changed,
    shown,
    shown_member,
    type_alone,
)
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import errors
from conformance.reference.external_accounts import externals, institutions
from conformance.reference.external_accounts.account_types import ACCOUNT_TYPES, AccountType

Pairing = Callable[[Json, AccountType], list[Json]]


CURRENCIES = {
    "EUR_ACCOUNT": "EUR",
    "GBP_ACCOUNT": "GBP",
    "AED_ACCOUNT": "AED",
    "ILS_ACCOUNT": "ILS",
    "PHP_ACCOUNT": "PHP",
    "INR_ACCOUNT": "INR",
    "BDT_ACCOUNT": "BDT",
    "CNY_ACCOUNT": "CNY",
}
TWO_FORMS = ("INR_ACCOUNT", "BDT_ACCOUNT", "CNY_ACCOUNT")
NUMBERS = ("accountNumber", "iban", "phoneNumber", "sortCode", "vpa")
IBAN = "accountInfo.iban"


# --- Members that are not marked ------------------------------------------------------------

declare(
    "M43",
    "euro-bank-demanded",
    "an account in euros needs the name of its bank",
    rule_changed("EUR_ACCOUNT", "bankName", required=True),
    "apart",
)
for _type in ("PHP_ACCOUNT", "CNY_ACCOUNT"):
    declare(
        "M43",
        f"{_type.lower()}-of-any-bank",
        f"a {_type} need not say its bank",
        rule_changed(_type, "bankName", required=False),
        "other apart",
    )
declare(
    "M43",
    "rail-chosen",
    "the rail of an account number and an IFSC need not be said",
    kind_changed("INR_ACCOUNT", beside={"accountNumber": ("ifsc",)}),
    "apart",
)


# --- Check digits ---------------------------------------------------------------------------


def has_check_digits(iban: str) -> bool:
    """Return whether the check digits of an IBAN are right (ISO 7064, MOD 97-10)."""
    text = iban[4:] + iban[:4]
    return (
        text.isalnum() and text.isascii() and int("".join(str(int(c, 36)) for c in text)) % 97 == 1
    )


def has_last_digit(number: str) -> bool:
    """Return whether the last digit of a card number is right (ISO/IEC 7812-1)."""
    doubled = [2 * int(digit) for digit in number[-2::-2]]
    return (sum(map(int, number[-1::-2])) + sum(d // 10 + d % 10 for d in doubled)) % 10 == 0


def _wrong_iban(value: Any) -> bool:
    return isinstance(value, str) and len(value) > len("DE89") and not has_check_digits(value)


def _wrong_card(value: Any) -> bool:
    return isinstance(value, str) and value.isdigit() and not has_last_digit(value)


def _wrong_branch(value: Any) -> bool:
    return isinstance(value, str) and re.fullmatch(r"[A-Z]{4}0[A-Z0-9]{6}", value) is None


CHECKED: tuple[tuple[str, str, Callable[[Any], bool]], ...] = (
    ("EUR_ACCOUNT", IBAN, _wrong_iban),
    ("AED_ACCOUNT", IBAN, _wrong_iban),
    ("ILS_ACCOUNT", IBAN, _wrong_iban),
    ("CNY_ACCOUNT", "accountInfo.accountNumber", _wrong_card),
    ("INR_ACCOUNT", "accountInfo.ifsc", _wrong_branch),
)

for _type, _member, _is_wrong in CHECKED:
    declare(
        "M44",
        f"{_type.lower()}-checked",
        f"{_member} of {_type} is looked at more closely",
        refusing(_type, _member, _is_wrong),
        "codes",
    )


# --- Rails ----------------------------------------------------------------------------------

declare(
    "M45",
    "rupee-rails-refused",
    "the rails of an account in rupees are refused when they are sent",
    refusing("INR_ACCOUNT", "accountInfo.paymentRails", lambda value: value is not None),
    "forms",
)


# --- Two forms of one type ------------------------------------------------------------------

for _type in TWO_FORMS:
    declare(
        "M46",
        f"{_type.lower()}-one-form",
        f"a {_type} has exactly one form",
        kind_changed(_type, exactly_one=True),
        "apart",
    )


def _neither_named(name: str) -> Apply:
    """Let the error about none of several members name something else."""

    def pairing_errors(original: Pairing, body: Json, kind: AccountType) -> list[Json]:
        found = original(body, kind)
        info = body["accountInfo"]
        if info["accountType"] in TWO_FORMS and not any(info.get(n) for n in kind.one_of):
            first = f"accountInfo.{kind.one_of[0]}"
            found = [{**e, "field": name} if e["field"] == first else e for e in found]
        return found

    return around(externals, "pairing_errors", pairing_errors)


declare(
    "M46",
    "neither-names-the-object",
    "where neither form is there, the error names accountInfo",
    _neither_named("accountInfo"),
    "apart",
)


# --- Currencies -----------------------------------------------------------------------------


def _always(currency: str, value: Any) -> Any:
    return currency if value else None


for _type, _currency in CURRENCIES.items():
    declare(
        "M48",
        f"{_type.lower()}-says-it",
        f"whatever the currency of a {_type}, it is {_currency}",
        guessed(_type, "currency", partial(_always, _currency)),
        "other apart",
    )


@variant(
    "M48",
    "the error about another currency names the accountType",
    "codes",
    (externals, "pairing_errors"),
)
def type_does_not_fit(original: Pairing, body: Json, kind: AccountType) -> list[Json]:
    found = original(body, kind)
    if body["accountInfo"]["accountType"] not in CURRENCIES:
        return found
    named = {"currency": "accountInfo.accountType"}
    return [{**entry, "field": named.get(entry["field"], entry["field"])} for entry in found]


# --- SWIFT codes ----------------------------------------------------------------------------

declare(
    "N061",
    "never-derived",
    "the SWIFT code of an account in euros is always asked for",
    kind_changed("EUR_ACCOUNT", derived={}),
    "other apart",
)


@variant("N061", "a derived SWIFT code is not shown", "apart")
def derived_in_silence(patch: Patch) -> None:
    rule_changed("EUR_ACCOUNT", "swiftCode", required=False)(patch)
    kind_changed("EUR_ACCOUNT", derived={})(patch)


@variant("N061", "a derived SWIFT code is that of the branch", "codes")
def code_of_the_branch(patch: Patch) -> None:
    patch.row(institutions, "SWIFT_CODES", "DE37040044", "COBADEFF370")


@variant("N061", "a derived SWIFT code is of a bank that the sandbox made up", "banks")
def code_of_a_made_up_bank(patch: Patch) -> None:
    patch.row(institutions, "SWIFT_CODES", "DE37040044", "SNDBDEFF")


@variant(
    "N061",
    "a missing SWIFT code is an invalid bank account, and no field is listed",
    "forms",
    (externals, "completed"),
    before,
)
def no_such_bank(info: Json, kind: AccountType) -> None:
    if info["accountType"] == "EUR_ACCOUNT" and info.get("swiftCode") is None:
        raise errors.Refusal("INVALID_BANK_ACCOUNT", "The bank is not known.")


# --- What is shown --------------------------------------------------------------------------


def _grouped(text: str) -> str:
    return re.sub(r"(.{4})(?=.)", r"\1 ", text)


def _starred(text: str) -> str:
    name, at, handle = text.partition("@")
    return f"{name[:2]}***@{handle}" if at else "*" * (len(text) - 4) + text[-4:]


def _edited(info: Json, change: Callable[[str], str]) -> Json:
    return {name: change(value) if name in NUMBERS else value for name, value in info.items()}


for _type in CURRENCIES:
    declare(
        "N210",
        f"{_type.lower()}-masked",
        f"the numbers of a {_type} are masked",
        shown(_type, partial(_edited, change=_starred)),
        "absent",
    )
    declare(
        "N210",
        f"{_type.lower()}-grouped",
        f"the numbers of a {_type} are shown in groups",
        shown(_type, partial(_edited, change=_grouped)),
        "forms",
    )
    declare(
        "N210",
        f"{_type.lower()}-bare",
        f"nothing is shown of a {_type} but its type",
        shown(_type, type_alone),
        "other forms",
    )

for _type in ("EUR_ACCOUNT", "AED_ACCOUNT", "BDT_ACCOUNT"):
    declare(
        "N210",
        f"{_type.lower()}-long-code",
        f"a SWIFT code of a {_type} is shown with that of the head office",
        shown_member(_type, "swiftCode", lambda code: code.ljust(len("COBADEFFXXX"), "X")),
        "null",
    )


# --- Notations that are taken ---------------------------------------------------------------


def _digits(value: Any) -> Any:
    return re.sub(r"[ -]", "", str(value)) if isinstance(value, str | int) else None


def _written(value: Any) -> Any:
    return re.sub(" ", "", value).upper() if isinstance(value, str) else None


TAKEN: tuple[tuple[str, str, Callable[[Any], Any]], ...] = (
    ("EUR_ACCOUNT", IBAN, _written),
    ("AED_ACCOUNT", IBAN, _written),
    ("ILS_ACCOUNT", IBAN, _written),
    ("GBP_ACCOUNT", "accountInfo.sortCode", _digits),
    ("GBP_ACCOUNT", "accountInfo.accountNumber", _digits),
    ("PHP_ACCOUNT", "accountInfo.accountNumber", _digits),
    ("INR_ACCOUNT", "accountInfo.accountNumber", _digits),
    ("INR_ACCOUNT", "accountInfo.rail", _written),
)

for _type, _member, _change in TAKEN:
    declare(
        "N211",
        f"{_type.lower()}-{_member.rpartition('.')[2]}",
        f"{_member} of a {_type} is taken in other notations too",
        guessed(_type, _member, _change),
        "forms",
    )

for _type in ("BDT_ACCOUNT", "CNY_ACCOUNT"):
    declare(
        "N211",
        f"{_type.lower()}-any-phone",
        f"the phone number of a {_type} is not looked at",
        rule_changed(_type, "phoneNumber", pattern=None),
        "forms",
    )
declare(
    "N211",
    "euro-any-iban",
    "whatever stands for an IBAN is left to the bank",
    rule_changed("EUR_ACCOUNT", "iban", pattern=None),
    "codes",
)
declare(
    "N211",
    "any-virtual-address",
    "whatever stands for a virtual payment address is left to the bank",
    rule_changed("INR_ACCOUNT", "vpa", pattern=None),
    "codes",
)


# --- Names of banks -------------------------------------------------------------------------


@variant("N211", "a bank may be called by its label too", "apart")
def banks_by_label(patch: Patch) -> None:
    labels = {"BDO Unibank", "Bank of the Philippine Islands", "GCash"}

    def is_listed(original: Function, name: str, currencies: Any) -> bool:
        return name in labels or original(name, currencies)

    patch.wrap(institutions, "is_listed", is_listed)


@variant(
    "M20",
    "a bank that is not listed is an invalid bank account, and no field is",
    "forms",
    (externals, "pairing_errors"),
)
def unlisted_bank(original: Pairing, body: Json, kind: AccountType) -> list[Json]:
    found = original(body, kind)
    banks = [entry for entry in found if entry["field"].endswith("bankName")]
    if kind is ACCOUNT_TYPES["PHP_ACCOUNT"] and banks:
        raise errors.Refusal("INVALID_BANK_ACCOUNT", "No such institution.")
    return found
