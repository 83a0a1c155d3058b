"""Conforming variants of beneficiaries: where they stand, and when they are checked."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.platform.given import external_accounts
from conformance.proof.kit.builders import Json, edited, instead
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import errors, fields, rules
from conformance.reference.customers import customers
from conformance.reference.external_accounts import account_types, beneficiaries, externals
from conformance.reference.external_accounts.account_types import ACCOUNT_TYPES
from conformance.reference.quotes import parties, quotes
from conformance.reference.rules import Field
from conformance.reference.store import Customer, ExternalAccount, Quote
from conformance.reference.transactions import settlement
from conformance.reference.unit import Ask, Unit

# Where a target reads a beneficiary is a word of its profile, here as by `bindings.beneficiary`.

_INFO = "accountInfo"
_WHO = "beneficiary"
_PLACED = ("address.line1", "address.city", "address.postalCode", "address.country")
_MEMBERS = (
    "beneficiaryType",
    "fullName",
    "birthDate",
    "nationality",
    "address",
    "legalName",
    "registrationNumber",
    "taxId",
    "businessInfo",
    "documentType",
    "documentNumber",
)
_LEAST = ("beneficiaryType", "fullName")
_AMONG_OTHERS = (_INFO, "")
_NUMBERS = ("registrationNumber", "taxId", "documentNumber")


# --- Where they stand -----------------------------------------------------------------------


def _taken_from(body: Any) -> tuple[Any, Json]:
    """Return an object without the members of a beneficiary, and these."""
    if not isinstance(body, dict):
        return body, {}
    told = {name: body[name] for name in _MEMBERS if name in body}
    return {name: value for name, value in body.items() if name not in told}, told


def _from_the_top(body: Json) -> Json:
    info = body.get(_INFO)
    if not isinstance(info, dict) or _WHO not in body:
        return body
    rest = {name: value for name, value in body.items() if name != _WHO}
    return {**rest, _INFO: {**info, _WHO: body[_WHO]}}


def _to_the_top(body: Json) -> Json:
    info = dict(body[_INFO])
    who = info.pop(_WHO, None)
    return {**body, _INFO: info, **({} if who is None else {_WHO: who})}


def _from_the_account(body: Json) -> Json:
    info, told = _taken_from(body.get(_INFO))
    # The tax number may be of the account, too, and the address is that of a wallet.
    both = {name: told[name] for name in ("taxId",) if name in told}
    if not told.keys() - {"taxId", "address"}:
        return body
    return {**body, _INFO: {**info, **both, _WHO: told}}


def _to_the_account(body: Json) -> Json:
    info = dict(body[_INFO])
    return {**body, _INFO: {**info.pop(_WHO, {}), **info}}


def _from_the_body(body: Json) -> Json:
    rest, told = _taken_from(body)
    info = body.get(_INFO)
    return {**rest, _INFO: {**info, _WHO: told}} if told and isinstance(info, dict) else body


def _to_the_body(body: Json) -> Json:
    info = dict(body[_INFO])
    return {**body, **info.pop(_WHO, {}), _INFO: info}


def _standing(place: str, lifted: Callable[[Json], Json], lowered: Callable[[Json], Json]) -> Apply:
    """Have beneficiaries stand at a place, in requests, responses and errors alike."""

    def apply(patch: Patch) -> None:
        def create(original: Function, unit: Unit, ask: Ask) -> Any:
            body = lifted(ask.body) if isinstance(ask.body, dict) else ask.body
            return original(unit, replace(ask, body=body))

        def check(original: Function, *given: Any) -> list[Json]:
            found: list[Json] = original(*given)
            if place in _AMONG_OTHERS and [e["field"] for e in found] == [beneficiaries.PLACE]:
                # There is no object that could be missing.
                found = [{**found[0], "field": f"{beneficiaries.PLACE}.{n}"} for n in _LEAST]
            return [{**entry, "field": named(entry["field"])} for entry in found]

        def named(path: str) -> str:
            rest = path.removeprefix(beneficiaries.PLACE).removeprefix(".")
            return ".".join(part for part in (place, rest) if part)

        patch.wrap(
            external_accounts,
            "with_beneficiary_at",
            lambda original, body, _: original(body, place),
        )
        patch.wrap(externals, "create", create)
        patch.wrap(beneficiaries, "check", check)
        patch.wrap(externals, "view", lambda original, account: lowered(original(account)))
        # The profile does not say where a beneficiary stands that a wallet should not need.
        patch.concern(account_types, "ACCOUNT_TYPES")

    return apply


PLACES = {
    "at-the-top": ("beneficiary", _from_the_top, _to_the_top, "codes"),
    "among-the-account": (_INFO, _from_the_account, _to_the_account, "other codes"),
    "among-the-body": ("", _from_the_body, _to_the_body, "slow"),
}

for _name, (_place, _lifted, _lowered, _group) in PLACES.items():
    declare(
        "M42",
        f"beneficiary-{_name}",
        f"the beneficiary stands at {_place or 'the body itself'}",
        _standing(_place, _lifted, _lowered),
        _group,
    )


# --- When they are looked at ----------------------------------------------------------------


def _later_errors(unit: Unit, account: ExternalAccount) -> list[Json]:
    """Return what is wrong with the beneficiary of an account that is there."""
    if account.account_type not in _WITH_BENEFICIARY:
        return []
    kind = ACCOUNT_TYPES[account.account_type]
    owner = None if account.customer_id is None else customers.get(unit, account.customer_id)
    return _checking({"currency": account.currency, _INFO: account.info}, kind, owner)


_checking = beneficiaries.check
_WITH_BENEFICIARY = frozenset(name for name, kind in ACCOUNT_TYPES.items() if kind.beneficiary)
"""The types that need a beneficiary, whatever other variants make of them."""


def _not_at_creation(patch: Patch) -> None:
    patch.replace(beneficiaries, "check", lambda *_: [])


@variant("M49", "a beneficiary is looked at when a payment to it is quoted", "apart")
def when_quoted(patch: Patch) -> None:
    def wrapped(original: Function, unit: Unit, destination: Json) -> Any:
        party = original(unit, destination)
        if party.external is not None and _later_errors(unit, party.external):
            raise errors.Refusal("INVALID_BANK_ACCOUNT", "Tell more of the beneficiary.")
        return party

    _not_at_creation(patch)
    patch.wrap(parties, "destination_of", wrapped)


@variant("M49", "a beneficiary is looked at when a payment to it is executed", "other apart")
def when_executed(patch: Patch) -> None:
    def wrapped(original: Function, unit: Unit, quote: Quote, *more: Any) -> Any:
        account = externals.find(unit, quote.destination.get("accountId") or "")
        if account is not None and (found := _later_errors(unit, account)):
            raise errors.invalid_input(*found)
        return original(unit, quote, *more)

    _not_at_creation(patch)
    patch.wrap(quotes, "start", wrapped)


@variant("M49", "payments to a beneficiary who lacks something fail")
def payments_fail(patch: Patch) -> None:
    def failing(result_of: Function, unit: Unit, quote: Quote) -> rules.PayoutResult:
        found: rules.PayoutResult = result_of(unit, quote)
        account = externals.find(unit, quote.destination.get("accountId") or "")
        faulty = account is not None and _later_errors(unit, account)
        return rules.PAYOUT_RESULTS["BLOCKED"] if faulty else found

    _not_at_creation(patch)
    patch.wrap(settlement, "result_of", failing)


@variant("M49", "an account whose beneficiary lacks something never becomes active", "last apart")
def never_active(patch: Patch) -> None:
    def wrapped(original: Function, unit: Unit, ask: Ask) -> Any:
        view = original(unit, ask)
        unit.session.flush()
        account = externals.get(unit, view["id"])
        if _later_errors(unit, account):
            account.status = "INACTIVE"
        return externals.view(account)

    _not_at_creation(patch)
    patch.wrap(externals, "create", wrapped)


# --- What is asked for ----------------------------------------------------------------------


@variant("M89", "a business sender gives its own number", "absent", (beneficiaries, "due"))
def own_number(due: Function, beneficiary: Json, currency: str, sender: Customer | None) -> Any:
    info = (sender.details.get("businessInfo") or {}) if sender is not None else {}
    needed = due(beneficiary, currency, None)
    return needed if info.get("registrationNumber") else due(beneficiary, currency, sender)


@variant("M50", "a business in Africa without a taxId has its registrationNumber for it", "absent")
def tax_number_optional(patch: Patch) -> None:
    for currency, row in beneficiaries.BUSINESS_MINIMUM.items():
        if "taxId" in row:
            patch.row(
                beneficiaries,
                "BUSINESS_MINIMUM",
                currency,
                tuple(name for name in row if name != "taxId"),
            )


@variant("M51", "any address will do in GBP", "absent")
def any_british_address(patch: Patch) -> None:
    patch.row(beneficiaries, "INDIVIDUAL_MINIMUM", "GBP", ("fullName", "address"))


@variant("M51", "an address has its four members wherever one is asked for", "null")
def whole_addresses(patch: Patch) -> None:
    for name, table in (
        ((beneficiaries, "INDIVIDUAL_MINIMUM"), beneficiaries.INDIVIDUAL_MINIMUM),
        ((beneficiaries, "BUSINESS_MINIMUM"), beneficiaries.BUSINESS_MINIMUM),
    ):
        for currency, row in table.items():
            if "address" in row:
                patch.row(*name, currency, (*row, *_PLACED))


@variant("M49", "no business in China needs a number", "absent")
def china_without_number(patch: Patch) -> None:
    patch.row(beneficiaries, "BUSINESS_MINIMUM", "CNY", ("legalName", "address"))


def _without_forms(*members: str) -> Apply:
    paths = [f"{beneficiaries.PLACE}.{name}" for name in members]

    def loose(row: Field) -> Field:
        loosened = replace(row, format=None, pattern=None, min_length=None)
        return loosened if row.path in paths else row

    return instead(
        beneficiaries,
        "BENEFICIARY_FIELDS",
        tuple(loose(row) for row in beneficiaries.BENEFICIARY_FIELDS),
    )


declare(
    "M43",
    "countries-of-beneficiaries",
    "the countries of a beneficiary are any texts, and so are its streets and towns",
    _without_forms("nationality", *_PLACED),
    "forms",
)


@variant("M43", "names under businessInfo are for reading alone", "other forms")
def nested_unread(patch: Patch) -> None:
    for member in list(beneficiaries.NESTED):
        patch.drop(beneficiaries, "NESTED", member)


# --- How they are refused -------------------------------------------------------------------


def _is_missing(entry: Json) -> bool:
    return bool(entry.get("constraint", {}).get("required"))


@variant(
    "M20",
    "what a beneficiary lacks is refused as missing, and not listed",
    "onboarding",
    (beneficiaries, "check"),
    edited,
)
def missing_information(found: list[Json]) -> list[Json]:
    if any(map(_is_missing, found)):
        raise errors.Refusal("MISSING_MANDATORY_USER_INFO", "Tell more.")
    return found


@variant(
    "M73",
    "an address that is missing is named itself",
    "other onboarding",
    (beneficiaries, "missing_errors"),
)
def whole_address_named(original: Function, told: Json, needed: Any) -> list[Json]:
    absent = not isinstance(told.get("address"), dict)
    paths = ["address" if absent and path.startswith("address.") else path for path in needed]
    return list(original(told, paths))


@variant(
    "M73",
    "an address that is missing is named by its members",
    "onboarding",
    (beneficiaries, "missing_errors"),
)
def parts_of_the_address_named(original: Function, told: Json, needed: Any) -> list[Json]:
    parts = [f"address.{name}" for name in ("line1", "city", "country")]
    is_missing = "address" in needed and not told.get("address")
    paths = [*needed, *parts] if is_missing else needed
    whole = f"{beneficiaries.PLACE}.address"
    return [entry for entry in original(told, paths) if entry["field"] != whole]


# --- How they show --------------------------------------------------------------------------


def _shown(change: Callable[[Json], Json | None]) -> Apply:
    """Return a patch after which accounts show what ``change`` returns for their beneficiary."""

    def view(body: Json) -> Json:
        told = fields.at(body, beneficiaries.PLACE)
        if not isinstance(told, dict):
            return body
        info = {name: value for name, value in body[_INFO].items() if name != _WHO}
        changed = change(told)
        return {**body, _INFO: info if changed is None else {**info, _WHO: changed}}

    return edited(externals, "view", view)


def _masked(told: Json) -> Json:
    def mask(value: Any) -> Any:
        return re.sub(r"\w(?=\w{3})", "*", value) if isinstance(value, str) else value

    return {name: mask(value) if name in _NUMBERS else value for name, value in told.items()}


def _in_capitals(told: Json) -> Json:
    names = [n for n in ("fullName", "legalName") if isinstance(told.get(n), str)]
    return {**told, **{name: told[name].upper() for name in names}}


def _nested(told: Json) -> Json:
    inner = {name: told[name] for name in beneficiaries.NESTED if told.get(name) is not None}
    if not inner:
        return told
    rest = {name: value for name, value in told.items() if name not in inner}
    return {**rest, "businessInfo": {**(told.get("businessInfo") or {}), **inner}}


def _unnested(told: Json) -> Json:
    rest = {name: value for name, value in told.items() if name != "businessInfo"}
    return {**(told.get("businessInfo") or {}), **rest}


def _with_nulls(told: Json) -> Json:
    return {**dict.fromkeys(_MEMBERS), **told}


SHOWN = (
    ("N112", "masked-beneficiary", "the numbers of beneficiaries are masked", _masked, "forms"),
    ("N112", "beneficiary-in-capitals", "names are in capitals", _in_capitals, "other forms"),
    ("M75", "no-beneficiary", "no account shows its beneficiary", lambda _: None, "absent"),
    ("M75", "beneficiary-of-nulls", "what is not told is null", _with_nulls, "null"),
    ("M42", "nested-business", "a business is shown under businessInfo", _nested, "onboarding"),
    ("M42", "no-nesting", "businessInfo is not shown", _unnested, "other onboarding"),
)

for _point, _name, _statement, _change, _group in SHOWN:
    declare(_point, _name, _statement, _shown(_change), _group)
