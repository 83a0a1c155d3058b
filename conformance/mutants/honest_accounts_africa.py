"""Honest variants of the external accounts of Africa: what they need, know, correct and show."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from conformance.mutants.account_rules import rule_changed, shown
from conformance.mutants.honest import Function
from conformance.mutants.mutant import Patch
from conformance.mutants.variant import variant
from conformance.reference import errors, fields
from conformance.reference.account_types import ACCOUNT_TYPES
from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]

_CREATE = "conformance.reference.externals:create"

BANKS = ("NGN_ACCOUNT", "ZAR_ACCOUNT")
LISTED = ("KES_ACCOUNT", "TZS_ACCOUNT", "ZMW_ACCOUNT", "RWF_ACCOUNT", "MWK_ACCOUNT", "UGX_ACCOUNT")
"""Account types whose operators are a closed list."""

CODES = dict(zip(LISTED, ("+254", "+255", "+260", "+250", "+265", "+256"), strict=True))
"""The code of the country of each of them."""

MOBILE = (*LISTED, "XOF_ACCOUNT", "BWP_ACCOUNT")


def before_creation(change: Callable[[Json], Json]) -> Callable[[Patch], None]:
    """Return a patch after which accounts are created from what ``change`` makes of a body."""

    def wrapper(original: Function) -> Function:
        def create(unit: Unit, ask: Ask) -> Any:
            info = fields.at(ask.body, "accountInfo")
            return original(
                unit, replace(ask, body=change(ask.body)) if isinstance(info, dict) else ask
            )

        return create

    return lambda patch: patch.wrap(_CREATE, wrapper)


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

    def wrapper(original: Function) -> Function:
        def create(unit: Unit, ask: Ask) -> Any:
            phone = fields.at(ask.body, "accountInfo.phoneNumber")
            name = fields.at(ask.body, "accountInfo.provider")
            known = operators.get(phone[:4], (name,)) if isinstance(phone, str) else (name,)
            if name in known or fields.at(ask.body, "currency") != "XOF":
                return original(unit, ask)
            found = errors.field_error("accountInfo.provider", f"Expected {' or '.join(known)}.")
            raise errors.invalid_input(found)

        return create

    patch.wrap(_CREATE, wrapper)


# --- What is corrected ----------------------------------------------------------------------


@variant("M48", "the currency of an African account follows from its type", "absent")
def african_currency_of_the_type(patch: Patch) -> None:
    def change(body: Json) -> Json:
        kind = body["accountInfo"].get("accountType")
        if kind not in (*BANKS, *MOBILE):
            return body
        return {**body, "currency": ACCOUNT_TYPES[kind].currencies[0]}

    before_creation(change)(patch)


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


def _shown(kinds: Sequence[str], change: Callable[[Json], Json]) -> Callable[[Patch], None]:
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


def _bare(info: Json) -> Json:
    return {"accountType": info["accountType"]}


@variant("N210", "the numbers of African accounts are masked", "codes")
def african_numbers_masked(patch: Patch) -> None:
    _shown((*BANKS, *MOBILE), _masked)(patch)


@variant("N210", "the phones of mobile money are shown with spaces", "other codes")
def african_phones_spaced(patch: Patch) -> None:
    _shown(MOBILE, _spaced)(patch)


@variant("M75", "of African accounts the type alone is shown", "absent")
def african_types_alone(patch: Patch) -> None:
    _shown((*BANKS, *MOBILE), _bare)(patch)


# --- How faults are refused -----------------------------------------------------------------


@variant("M20", "faults of an African account are told as an invalid bank account", "slow")
def african_invalid_bank_account(patch: Patch) -> None:
    def wrapper(original: Function) -> Function:
        def create(unit: Unit, ask: Ask) -> Any:
            kind = fields.at(ask.body, "accountInfo.accountType")
            try:
                return original(unit, ask)
            except errors.Refusal as refusal:
                if kind in (*BANKS, *MOBILE) and refusal.code == "INVALID_INPUT":
                    raise errors.Refusal("INVALID_BANK_ACCOUNT", refusal.reason) from None
                raise

        return create

    patch.wrap(_CREATE, wrapper)
