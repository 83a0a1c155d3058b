"""Mutants of the external accounts of Africa: mobile money, and bank accounts of two countries."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Json
from conformance.proof.mutant import declare
from conformance.proof.mutants.external_accounts.account_rules import (
    Create,
    creating,
    declare_guesses,
    declare_kinds,
    declare_rules,
    declare_strict,
)
from conformance.proof.patch import Apply
from conformance.reference import errors
from conformance.reference.external_accounts.account_types import PROVIDERS
from conformance.reference.unit import Ask, Unit

_PHONE = "phoneNumber"
_OPERATOR = "provider"
_NUMBER = "accountNumber"
_BANK = "bankName"


def compact(value: Any) -> Any:
    """Return a text without its spaces."""
    return value.replace(" ", "") if isinstance(value, str) else None


def completed(code: str) -> Callable[[Any], Any]:
    """Return what puts the code of a country in front of a number that has none."""

    def change(value: Any) -> Any:
        is_national = isinstance(value, str) and value.isdigit() and not value.startswith(code)
        return f"+{code}{value.removeprefix('0')}" if is_national else None

    return change


def lettered(value: Any) -> bool:
    """Return whether a name has a hyphen or a space in it."""
    return isinstance(value, str) and not value.isalnum()


# --- Mobile money of one country ------------------------------------------------------------

COUNTRIES = (
    ("RWF", "250", 0),
    ("KES", "254", 20),
    ("TZS", "255", 40),
    ("ZMW", "260", 60),
    ("MWK", "265", 80),
    ("UGX", "256", 100),
)
"""Currency, code of the country, and the number before that of its first rule."""

_ALL = tuple(sorted({operator for known in PROVIDERS.values() for operator in known}))


def _others(currency: str) -> list[str]:
    """Return the operators that other currencies have, and a currency has not."""
    return [operator for operator in _ALL if operator not in PROVIDERS[currency]]


for _currency, _code, _before in COUNTRIES:
    _type = f"{_currency}_ACCOUNT"
    _ids = [f"AFA-{_before + number:03d}" for number in range(21)]
    _known = PROVIDERS[_currency]
    declare_rules(
        (_ids[number], _type, member, name, changes)
        for number, member, name, changes in (
            (5, _PHONE, "optional", {"required": False}),
            (5, _PHONE, "unruled", None),
            (6, _PHONE, "nullable", {"required": False}),
            (7, _PHONE, "short", {"pattern": rf"\+{_code}\d{{8,9}}"}),
            (7, _PHONE, "international", {"pattern": r"\+[1-9]\d{6,14}"}),
            (8, _PHONE, "long", {"pattern": rf"\+{_code}\d{{9,10}}"}),
            (8, _PHONE, "begun", {"pattern": rf"\+{_code}\d{{9}}.*"}),
            (9, _PHONE, "any-country", {"pattern": r"\+\d{12}"}),
            (10, _PHONE, "letters", {"pattern": rf"\+{_code}\w{{9}}"}),
            (11, _PHONE, "any-kind", {"kind": "any"}),
            (12, _PHONE, "or-empty", {"min_length": None, "pattern": rf"(\+{_code}\d{{9}})?"}),
            (13, _PHONE, "no-plus", {"pattern": rf"\+?{_code}\d{{9}}"}),
            (15, _OPERATOR, "any", {"enum": ()}),
            (15, _OPERATOR, "unruled", None),
            (16, _OPERATOR, "one-less", {"enum": _known[:-1] or ("NONE",)}),
            (16, _OPERATOR, "lower-case", {"enum": tuple(map(str.lower, _known))}),
            (17, _OPERATOR, "any-kind", {"kind": "any"}),
            (19, _OPERATOR, "of-any-currency", {"enum": _ALL}),
            (19, _OPERATOR, "one-more", {"enum": (*_known, *_others(_currency)[:1])}),
        )
    )
    declare_guesses(
        (
            (_ids[14], _type, f"accountInfo.{_PHONE}", "spaces", compact),
            (_ids[20], _type, f"accountInfo.{_PHONE}", "country", completed(_code)),
        )
    )
    declare_kinds([(_ids[18], _type, "dollars-too", {"currencies": (_currency, "USD")})])


# --- Mobile money of several countries, and of none that is named ----------------------------

_SENEGAL, _COAST, _BENIN = r"\+221\d{9}", r"\+225\d{10}", r"\+229\d{8,9}"


def of(*patterns: str) -> dict[str, Any]:
    """Return the change to a rule after which a phone number fits one of the patterns."""
    return {"pattern": "|".join(patterns)}


_WEST = of(_SENEGAL, _COAST, _BENIN)["pattern"]

declare_rules(
    (requirement, "XOF_ACCOUNT", _PHONE, name, changes)
    for requirement, name, changes in (
        ("AFA-121", "no-senegal", of(_COAST, _BENIN)),
        ("AFA-125", "optional", {"required": False}),
        ("AFA-126", "nullable", {"required": False}),
        ("AFA-127", "short", of(r"\+221\d{8,9}", _COAST, _BENIN)),
        ("AFA-127", "one-rule", of(r"\+22[159]\d{8,10}")),
        ("AFA-128", "long", of(r"\+221\d{9,10}", _COAST, _BENIN)),
        ("AFA-128", "one-rule", of(r"\+22[159]\d{8,10}")),
        ("AFA-129", "any-country", of(r"\+\d{12}", _COAST, _BENIN)),
        ("AFA-147", "whole-union", of(_SENEGAL, _COAST, _BENIN, r"\+22[3678]\d{8}")),
        ("AFA-130", "letters", of(r"\+221\w{9}", _COAST, _BENIN)),
        ("AFA-131", "any-kind", {"kind": "any"}),
        ("AFA-132", "or-empty", {"min_length": None, "pattern": f"({_WEST})?"}),
        ("AFA-133", "no-plus", of(r"\+?221\d{9}", _COAST, _BENIN)),
        ("AFA-137", "no-ivory-coast", of(_SENEGAL, _BENIN)),
        ("AFA-137", "nine-digits", of(_SENEGAL, r"\+225\d{9}", _BENIN)),
        ("AFA-138", "short", of(_SENEGAL, r"\+225\d{9,10}", _BENIN)),
        ("AFA-138", "one-rule", of(r"\+22[159]\d{8,10}")),
        ("AFA-139", "long", of(_SENEGAL, r"\+225\d{10,11}", _BENIN)),
        ("AFA-140", "letters", of(_SENEGAL, r"\+225\w{10}", _BENIN)),
        ("AFA-141", "no-benin", of(_SENEGAL, _COAST)),
        ("AFA-141", "nine-digits-alone", of(_SENEGAL, _COAST, r"\+229\d{9}")),
        ("AFA-142", "eight-digits-alone", of(_SENEGAL, _COAST, r"\+229\d{8}")),
        ("AFA-143", "short", of(_SENEGAL, _COAST, r"\+229\d{7,9}")),
        ("AFA-144", "long", of(_SENEGAL, _COAST, r"\+229\d{8,10}")),
        ("AFA-144", "one-rule", of(r"\+22[159]\d{8,10}")),
        ("AFA-145", "longer", of(_SENEGAL, _COAST, r"\+229\d{8,}")),
        ("AFA-146", "letters", of(_SENEGAL, _COAST, r"\+229\w{8,9}")),
    )
)
declare_guesses(
    (
        ("AFA-134", "XOF_ACCOUNT", f"accountInfo.{_PHONE}", "spaces", compact),
        ("AFA-135", "XOF_ACCOUNT", f"accountInfo.{_PHONE}", "country", completed("221")),
    )
)


def _unpaid(number: str) -> Apply:
    """Return a patch after which an account with such a number is refused without a reason."""

    def create(create: Create, unit: Unit, ask: Ask, body: Json) -> Any:
        if re.fullmatch(number, str(body["accountInfo"].get(_PHONE))):
            raise errors.Refusal("INVALID_BANK_ACCOUNT", "It cannot be paid.")
        return create(unit, ask, body)

    return creating("XOF_ACCOUNT", create)


for _id, _number in (
    ("AFA-137", _COAST),
    ("AFA-141", r"\+229\d{8}"),
    ("AFA-142", r"\+229\d{9}"),
):
    declare(_id, "unpaid", f"what fits {_number} is refused without a reason", _unpaid(_number))

declare_rules(
    (requirement, "BWP_ACCOUNT", member, name, changes)
    for requirement, member, name, changes in (
        ("AFA-165", _PHONE, "optional", {"required": False}),
        ("AFA-166", _PHONE, "nullable", {"required": False}),
        ("AFA-167", _PHONE, "letters", {"pattern": r"\+\w{7,15}"}),
        ("AFA-167", _PHONE, "any-text", {"pattern": None}),
        ("AFA-168", _PHONE, "any-kind", {"kind": "any"}),
        ("AFA-169", _PHONE, "or-empty", {"min_length": None, "pattern": r"(\+\d{7,15})?"}),
        ("AFA-170", _PHONE, "national", {"pattern": r"\+?\d{7,15}"}),
        ("AFA-171", _PHONE, "no-plus", {"pattern": r"\+?267\d{8}"}),
        ("AFA-173", _PHONE, "endless", {"pattern": r"\+[1-9]\d{6,}"}),
        ("AFA-174", _OPERATOR, "optional", {"required": False}),
        ("AFA-174", _OPERATOR, "unruled", None),
        ("AFA-175", _OPERATOR, "nullable", {"required": False}),
        ("AFA-176", _OPERATOR, "or-empty", {"min_length": None}),
        ("AFA-177", _OPERATOR, "any-kind", {"kind": "any"}),
    )
)
declare_guesses(
    (
        ("AFA-170", "BWP_ACCOUNT", f"accountInfo.{_PHONE}", "country", completed("267")),
        ("AFA-172", "BWP_ACCOUNT", f"accountInfo.{_PHONE}", "spaces", compact),
        ("AFA-174", "BWP_ACCOUNT", f"accountInfo.{_OPERATOR}", "usual", lambda v: v or "ORANGE"),
    )
)


# --- Banks ----------------------------------------------------------------------------------

for _type, _before, _fewest, _most in (("NGN_ACCOUNT", 180, 10, 10), ("ZAR_ACCOUNT", 200, 9, 13)):
    _ids = [f"AFA-{_before + number:03d}" for number in range(17)]
    declare_rules(
        (_ids[number], _type, _NUMBER, name, changes)
        for number, name, changes in (
            (5, "optional", {"required": False}),
            (5, "unruled", None),
            (6, "nullable", {"required": False}),
            (7, "short", {"pattern": rf"\d{{{_fewest - 1},{_most}}}"}),
            (8, "long", {"pattern": rf"\d{{{_fewest},{_most + 1}}}"}),
            (8, "begun", {"pattern": rf"\d{{{_fewest},{_most}}}.*"}),
            (9, "letters", {"pattern": rf"\w{{{_fewest},{_most}}}"}),
            (10, "any-kind", {"kind": "any"}),
            (11, "or-empty", {"min_length": None, "pattern": rf"(\d{{{_fewest},{_most}}})?"}),
            (12, "any-kind", {"kind": "any"}),
        )
    )
    declare_guesses(
        (
            (_ids[12], _type, f"accountInfo.{_NUMBER}", "text", lambda v: v and str(v)),
            (_ids[13], _type, f"accountInfo.{_NUMBER}", "spaces", compact),
        )
    )
    declare_strict([(_ids[1], _type, f"accountInfo.{_BANK}", "one-word", lettered)])

declare_rules(
    (
        ("AFA-215", "ZAR_ACCOUNT", _NUMBER, "ten-digits", {"pattern": r"\d{10,13}"}),
        ("AFA-216", "ZAR_ACCOUNT", _NUMBER, "twelve-digits", {"pattern": r"\d{9,12}"}),
    )
)
declare_kinds(
    (requirement, f"{currency}_ACCOUNT", "dollars-too", {"currencies": (currency, "USD")})
    for requirement, currency in (
        ("AFA-136", "XOF"),
        ("AFA-178", "BWP"),
        ("AFA-194", "NGN"),
        ("AFA-214", "ZAR"),
    )
)
