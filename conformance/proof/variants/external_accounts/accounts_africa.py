"""Conforming variants of the external accounts of Africa: what is needed, corrected and shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from conformance.proof.kit.builders import Json, around, before
from conformance.proof.mutants.external_accounts.account_rules import (
    rule_changed,
    shown,
    type_alone,
)
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import errors, fields
from conformance.reference.external_accounts import externals
from conformance.reference.external_accounts.account_types import ACCOUNT_TYPES
from conformance.reference.unit import Ask, Unit

BANKS = ("NGN_ACCOUNT", "ZAR_ACCOUNT")
LISTED = ("KES_ACCOUNT", "TZS_ACCOUNT", "ZMW_ACCOUNT", "RWF_ACCOUNT", "MWK_ACCOUNT", "UGX_ACCOUNT")
"""Account types whose operators are a closed list."""

CODES = dict(zip(LISTED, ("+254", "+255", "+260", "+250", "+265", "+256"), strict=True))
"""The code of the country of each of them."""

MOBILE = (*LISTED, "XOF_ACCOUNT", "BWP_ACCOUNT")


def before_creation(change: Callable[[Json], Json]) -> Apply:
    """Return a patch after which accounts are created from what ``change`` makes of a body."""

    def create(original: Function, unit: Unit, ask: Ask) -> Any:
        info = fields.at(ask.body, "accountInfo")
        return original(
            unit, replace(ask, body=change(ask.body)) if isinstance(info, dict) else ask
        )

    return around(externals, "create", create)


# --- What is needed -------------------------------------------------------------------------


@variant("M43", "accounts of Nigeria and South Africa need the name of their bank", "forms")
def african_banks_named(patch: Patch) -> None:
    for kind in BANKS:
        rule_changed(kind, "bankName", required=True)(patch)


@variant("N230", "mobile money needs its operator in each currency", "forms")
def operator_needed(patch: Patch) -> None:
    for kind in MOBILE[:-1]:
        rule_changed(kind, "provider", required=True)(patch)


# --- Names that are not shown ---------------------------------------------------------------


@variant("N006", "operators of some countries have other names than the profile says", "apart")
def other_operators(patch: Patch) -> None:
    rule_changed("MWK_ACCOUNT", "provider", enum=("AIRTEL_MONEY_MW", "TNM_MPAMBA"))(patch)
    rule_changed("BWP_ACCOUNT", "provider", enum=("ORANGE_BW", "MASCOM"))(patch)


@variant("N006", "the operators of Benin are other ones than those of Senegal", "apart")
def operators_by_country(patch: Patch) -> None:
    operators = {"+221": ("ORANGE", "FREE"), "+225": ("ORANGE", "MTN"), "+229": ("MTN", "MOOV")}

    def create(original: Function, unit: Unit, ask: Ask) -> Any:
        phone = fields.at(ask.body, "accountInfo.phoneNumber")
        name = fields.at(ask.body, "accountInfo.provider")
        known = operators.get(phone[:4], (name,)) if isinstance(phone, str) else (name,)
        if name in known or fields.at(ask.body, "currency") != "XOF":
            return original(unit, ask)
        found = errors.field_error("accountInfo.provider", f"Expected {' or '.join(known)}.")
        raise errors.invalid_input(found)

    patch.wrap(externals, "create", create)


# --- What is corrected ----------------------------------------------------------------------


@variant(
    "M48", "the currency of an African account follows from its type", "absent", how=before_creation
)
def african_currency_of_the_type(body: Json) -> Json:
    kind = body["accountInfo"].get("accountType")
    if kind not in (*BANKS, *MOBILE):
        return body
    return {**body, "currency": ACCOUNT_TYPES[kind].currencies[0]}


@variant("N211", "signs that group the digits of African numbers are left out", "absent")
def african_numbers_compacted(patch: Patch) -> None:
    def compact(value: Any) -> Any:
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return re.sub(r"[ ()-]", "", value) if isinstance(value, str) else value

    def change(body: Json) -> Json:
        info = body["accountInfo"]
        if info.get("accountType") not in (*BANKS, *MOBILE):
            return body
        members = info.keys() & {"accountNumber", "phoneNumber"}
        compacted = {**info, **{name: compact(info[name]) for name in members}}
        phone = compacted.get("phoneNumber")
        if isinstance(phone, str) and re.fullmatch(r"2\d{10,12}", phone):
            compacted["phoneNumber"] = f"+{phone}"
        elif isinstance(phone, str) and phone.startswith("0"):
            code = CODES.get(info["accountType"], "+")
            compacted["phoneNumber"] = code + phone[1:]
        return {**body, "accountInfo": compacted}

    before_creation(change)(patch)


# --- What is shown --------------------------------------------------------------------------


def _shown(kinds: Sequence[str], change: Callable[[Json], Json]) -> Apply:
    def apply(patch: Patch) -> None:
        for kind in kinds:
            shown(kind, change)(patch)

    return apply


def _masked(info: Json) -> Json:
    numbers = {name: info[name] for name in ("phoneNumber", "accountNumber") if info.get(name)}
    return {**info, **{name: f"•••• {number[-4:]}" for name, number in numbers.items()}}


def _spaced(info: Json) -> Json:
    phone = info["phoneNumber"]
    return {**info, "phoneNumber": f"{phone[:4]} {phone[4:6]} {phone[6:]}"}


declare(
    "N210",
    "african-numbers-masked",
    "the numbers of African accounts are masked",
    _shown((*BANKS, *MOBILE), _masked),
    "codes",
)
declare(
    "N210",
    "african-phones-spaced",
    "the phones of mobile money are shown with spaces",
    _shown(MOBILE, _spaced),
    "other codes",
)
declare(
    "M75",
    "african-types-alone",
    "of African accounts the type alone is shown",
    _shown((*BANKS, *MOBILE), type_alone),
    "absent",
)


# --- How faults are refused -----------------------------------------------------------------


@variant(
    "M20",
    "faults of an African account are told as an invalid bank account",
    "slow",
    (externals, "create"),
)
def african_invalid_bank_account(original: Function, unit: Unit, ask: Ask) -> Any:
    kind = fields.at(ask.body, "accountInfo.accountType")
    try:
        return original(unit, ask)
    except errors.Refusal as refusal:
        if kind in (*BANKS, *MOBILE) and refusal.code == "INVALID_INPUT":
            raise errors.Refusal("INVALID_BANK_ACCOUNT", refusal.reason) from None
        raise


@variant(
    "N006", "operators are known by their names in any case", "forms", (externals, "create"), before
)
def operators_in_any_case(unit: Unit, ask: Ask) -> None:
    name = fields.at(ask.body, "accountInfo.provider")
    if isinstance(name, str):
        ask.body["accountInfo"]["provider"] = name.upper()
