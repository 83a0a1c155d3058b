"""Conforming variants of the external accounts of the Americas: what is needed and shown."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

from conformance.proof.kit.builders import Json, around
from conformance.proof.mutants.external_accounts.account_rules import (
    guessed,
    kind_changed,
    rule_added,
    rule_changed,
    shown,
)
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import errors
from conformance.reference.external_accounts import externals
from conformance.reference.external_accounts.account_types import ACCOUNT_TYPES, AccountType

TYPES = (
    "USD_ACCOUNT",
    "MXN_ACCOUNT",
    "BRL_ACCOUNT",
    "COP_ACCOUNT",
    "SLV_ACCOUNT",
    "CAD_ACCOUNT",
)
NUMBERS = (
    "accountNumber",
    "routingNumber",
    "clabeNumber",
    "pixKey",
    "taxId",
    "phoneNumber",
    "bankCode",
    "branchCode",
    "intermediaryRoutingNumber",
)
"""The members that tell one account from others."""


def _also_wrong(find: Callable[[Json], Sequence[str]]) -> Apply:
    """Refuse the members of ``accountInfo`` that ``find`` returns, beside those refused anyway."""

    def pairing_errors(original: Function, body: Json, kind: AccountType) -> list[Json]:
        info = body["accountInfo"]
        names = find(info) if info["accountType"] in TYPES else ()
        more = [errors.field_error(f"accountInfo.{name}", "It is not valid.") for name in names]
        return [*original(body, kind), *more]

    return around(externals, "pairing_errors", pairing_errors)


# --- What is asked for ----------------------------------------------------------------------


@variant("M43", "every listed member is needed", "forms")
def all_members_needed(patch: Patch) -> None:
    for account_type, member in (
        ("USD_ACCOUNT", "bankAccountType"),
        ("BRL_ACCOUNT", "pixKeyType"),
        ("BRL_ACCOUNT", "taxId"),
    ):
        rule_changed(account_type, member, required=True)(patch)
    for account_type in ("USD_ACCOUNT", "MXN_ACCOUNT", "BRL_ACCOUNT"):
        rule_added(account_type, "bankName", required=True)(patch)
    for account_type, phone_needs in (("COP_ACCOUNT", ("bankName",)), ("SLV_ACCOUNT", ())):
        beside = {"accountNumber": ("bankName", "bankAccountType"), "phoneNumber": phone_needs}
        kind_changed(account_type, beside=beside)(patch)


def _weighted(digits: str, weights: Sequence[int]) -> int:
    return sum(int(digit) * weight for digit, weight in zip(digits, weights, strict=False))


def is_routing_number(text: str) -> bool:
    """Return whether the check digit of an ABA number is right."""
    return _weighted(text, (3, 7, 1) * 3) % 10 == 0


def is_clabe(text: str) -> bool:
    """Return whether the check digit of a CLABE is right."""
    total = sum(int(d) * w % 10 for d, w in zip(text[:17], (3, 7, 1) * 6, strict=False))
    return -total % 10 == int(text[17])


def is_tax_number(text: str) -> bool:
    """Return whether the check digits of a CPF or CNPJ are right."""
    first = {11: (10, 9, 8, 7, 6, 5, 4, 3, 2), 14: (5, 4, 3, 2, 9, 8, 7, 6, 5, 4, 3, 2)}
    if not text.isdigit() or len(text) not in first:
        return False
    weights = first[len(text)]
    second = ((11,) if len(text) == 11 else (6,)) + weights
    checks = [_weighted(text, w) * 10 % 11 % 10 for w in (weights, second)]
    return text[-2:] == "".join(map(str, checks))


_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_KEYS: dict[str, Callable[[str], object]] = {
    "CPF": is_tax_number,
    "CNPJ": is_tax_number,
    "EMAIL": re.compile(r"[^@\s]+@[^@\s]+\.\w+").fullmatch,
    "PHONE": re.compile(r"\+55\d{10,11}").fullmatch,
    "RANDOM": _UUID.fullmatch,
}


def _mistaken(info: Json) -> list[str]:
    """Return the members of an account of otherwise valid form whose check digits are wrong."""
    tests: dict[str, Callable[[str], object]] = {
        "routingNumber": is_routing_number,
        "intermediaryRoutingNumber": is_routing_number,
        "clabeNumber": is_clabe,
        "taxId": is_tax_number,
        "pixKey": _KEYS.get(str(info.get("pixKeyType")), bool),
    }
    # Those of a wrong length are refused for that.
    lengths = {"routingNumber": 9, "intermediaryRoutingNumber": 9, "clabeNumber": 18}
    return [
        name
        for name, test in tests.items()
        if isinstance(info.get(name), str)
        and (name not in lengths or re.fullmatch(rf"[0-9]{{{lengths[name]}}}", info[name]))
        and not test(info[name])
    ]


declare(
    "M44",
    "check-digits",
    "check digits are looked at, and Pix keys by their kind",
    _also_wrong(_mistaken),
    "other forms",
)
declare(
    "M45",
    "rails-refused",
    "paymentRails in a request are refused",
    _also_wrong(lambda info: [name for name in ("paymentRails",) if name in info]),
    "forms",
)


@variant("M46", "both forms at once are refused", "other forms")
def one_form(patch: Patch) -> None:
    for account_type in ("COP_ACCOUNT", "SLV_ACCOUNT"):
        kind_changed(account_type, exactly_one=True)(patch)


@variant(
    "M46",
    "what belongs to the form of a bank is refused beside a phone number",
    "forms",
    how=_also_wrong,
)
def unmixed_forms(info: Json) -> list[str]:
    if info.get("phoneNumber") is None:
        return []
    return [name for name in ("accountNumber", "bankAccountType") if name in info]


@variant("M48", "the currency follows from the accountType, whichever is sent", "codes")
def currency_of_the_type(patch: Patch) -> None:
    def other_than(code: str) -> Callable[[Any], str | None]:
        return lambda sent: code if isinstance(sent, str) and sent else None

    for account_type in TYPES:
        own = ACCOUNT_TYPES[account_type].currencies[0]
        guessed(account_type, "currency", other_than(own))(patch)


@variant("N211", "numbers are taken for their digits, and phones in any notation", "other codes")
def lenient_notation(patch: Patch) -> None:
    def plain(value: Any) -> Any:
        text = str(value) if isinstance(value, int) else value
        return "".join(str(int(c)) if c.isdecimal() else c for c in text or "") or None

    def international(country: str) -> Callable[[Any], Any]:
        def change(value: Any) -> Any:
            text = plain(value)
            if text is None or re.search("[A-Za-z]", text):
                return None
            number = text.lstrip("+")
            return f"+{number if number.startswith(country) else country + number}"[:16]

        return change

    for account_type in TYPES:
        for name in NUMBERS:
            if name != "phoneNumber":
                guessed(account_type, f"accountInfo.{name}", plain)(patch)
    for account_type, country in (("COP_ACCOUNT", "57"), ("SLV_ACCOUNT", "503")):
        guessed(account_type, "accountInfo.phoneNumber", international(country))(patch)
    guessed("BRL_ACCOUNT", "accountInfo.pixKeyType", lambda kind: kind.upper() if kind else None)(
        patch
    )


# --- How faults are told --------------------------------------------------------------------


@variant("M73", "paths into an account name its type on their way", "forms")
def paths_through_the_type(patch: Patch) -> None:
    def through(path: str) -> str:
        return re.sub(r"^accountInfo\.(?=\w+$)", "accountInfo.[ACCOUNT].", path)

    patch.wrap(
        errors,
        "invalid_input",
        lambda original, *found: original(
            *({**entry, "field": through(entry["field"])} for entry in found)
        ),
    )


@variant("M46", "what lacks a member of either form is at fault as a whole", "other forms")
def neither_form_matches(patch: Patch) -> None:
    forms = ("COP_ACCOUNT", "SLV_ACCOUNT")

    def pairing_errors(original: Function, body: Json, kind: AccountType) -> list[Json]:
        found: list[Json] = original(body, kind)
        if body["accountInfo"]["accountType"] not in forms:
            return found
        return [
            entry if entry["field"] == "currency" else {**entry, "field": "accountInfo"}
            for entry in found
        ]

    patch.wrap(externals, "pairing_errors", pairing_errors)


# --- How accounts are shown -----------------------------------------------------------------


def _numbers(change: Callable[[str], str | None]) -> Apply:
    """Return a patch after which the numbers of accounts are shown as ``change`` returns them."""

    def edit(info: Json) -> Json:
        changed = {name: change(info[name]) for name in NUMBERS if info.get(name) is not None}
        seen = {**info, **changed}
        return {name: value for name, value in seen.items() if name not in changed or value}

    def apply(patch: Patch) -> None:
        for account_type in TYPES:
            shown(account_type, edit)(patch)

    return apply


declare(
    "N210",
    "masked",
    "the numbers of accounts are masked but for their last digits",
    _numbers(lambda text: "*" * len(text[:-4]) + text[-4:]),
    "apart",
)
declare(
    "N210",
    "masked-in-the-middle",
    "the numbers of accounts are masked in the middle",
    _numbers(lambda text: f"{text[0]}{'•' * 6}{text[-2:]}"),
    "other apart",
)
declare(
    "N210",
    "grouped",
    "the numbers of accounts are shown in groups",
    _numbers(lambda text: " ".join(re.findall(".{1,4}", text))),
    "onboarding",
)
declare(
    "N210",
    "hidden",
    "no numbers of accounts are shown",
    _numbers(lambda _: None),
    "other onboarding",
)


@variant("M75", "a US account does not say its rails", "absent")
def rails_untold(patch: Patch) -> None:
    _stored_without_rails(patch, {})


@variant("M75", "the rails of a US account are null", "null")
def rails_null(patch: Patch) -> None:
    _stored_without_rails(patch, {"paymentRails": None})


def _stored_without_rails(patch: Patch, more: Json) -> None:
    def stored_info(original: Function, info: Json, kind: AccountType) -> Json:
        kept: Json = original(info, kind)
        if info["accountType"] != "USD_ACCOUNT":
            return kept
        return {name: kept[name] for name in kept if name != "paymentRails"} | more

    patch.wrap(externals, "stored_info", stored_info)


declare(
    "M80",
    "two-rails",
    "a US account is reached by two rails alone",
    kind_changed("USD_ACCOUNT", rails=("ACH", "WIRE")),
    "forms",
)
declare(
    "M80",
    "one-rail",
    "a US account is reached by one rail alone",
    kind_changed("USD_ACCOUNT", rails=("ACH",)),
    "other forms",
)
