"""Mutants of external accounts of every type, declared from the examples in ``fixtures/accounts``.

Accounts of an unknown type, members that are shown otherwise than sent, and errors that name
something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Json, edited, receives
from conformance.proof.kit.tables import without_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.external_accounts.account_rules import (
    INFO,
    misnamed,
    shown_member,
    snake_case,
)
from conformance.proof.patch import Apply
from conformance.reference.external_accounts import account_types, externals
from conformance.reference.external_accounts.account_types import ACCOUNT_TYPES
from conformance.testdata.accounts import account_examples


def _cut(value: Any) -> Any:
    return value[:-1] if isinstance(value, str) else value


def _counted(value: Any) -> Any:
    return int(value) if isinstance(value, str) else value


def _ending(value: Any) -> Any:
    return value[-1] if isinstance(value, str) else value


def _emptied(value: Any) -> Any:
    return "" if isinstance(value, str) else value


def _holder(path: str) -> str:
    return path.rpartition(".")[0] or "body"


def _declare_from_examples() -> None:
    declared: set[tuple[str, str]] = set()

    def once(requirement: str, name: str, statement: str, patch: Apply) -> None:
        if (requirement, name) not in declared:
            declared.add((requirement, name))
            declare(requirement, name, statement, patch)

    for found in account_examples().values():
        kind = found.account_type
        about = kind.lower()
        once(
            found.requirement,
            f"{about}-unknown",
            f"there is no {kind}",
            without_row(account_types, "ACCOUNT_TYPES", kind),
        )
        for member, requirement in found.shown.items():
            sent = str(found.body[INFO].get(member, "")).replace("#", "0")
            once(
                requirement,
                f"{about}-{member}-cut",
                f"{member} of {kind} is shown without its last character",
                shown_member(kind, member, _cut),
            )
            once(
                requirement,
                f"{about}-{member}-emptied",
                f"{member} of {kind} is shown without a character",
                shown_member(kind, member, _emptied),
            )
            once(
                requirement,
                f"{about}-{member}-ending",
                f"{member} of {kind} is shown by its last character alone",
                shown_member(kind, member, _ending),
            )
            if re.fullmatch(r"\+?\d+", sent):
                once(
                    requirement,
                    f"{about}-{member}-number",
                    f"{member} of {kind} is shown as a number",
                    shown_member(kind, member, _counted),
                )
        if found.naming is not None:
            once(
                found.naming,
                f"{about}-holder",
                f"errors about {kind} name the object alone",
                misnamed(kind, _holder),
            )
            once(
                found.naming,
                f"{about}-snake-case",
                f"errors about {kind} name the columns of a table",
                misnamed(kind, snake_case),
            )


_declare_from_examples()


# --- Read and listed ------------------------------------------------------------------------


def _otherwise(member: str, change: Callable[[Any], Any]) -> Callable[[Json], Json]:
    """Return a change of an account: a text of its ``accountInfo`` is another one."""

    def edit(account: Json) -> Json:
        info = account[INFO]
        if not isinstance(info.get(member), str):
            return account
        return {**account, INFO: {**info, member: change(info[member])}}

    return edit


def _each(change: Callable[[Json], Json]) -> Callable[[Json], Json]:
    """Return a change of a list: that of each of its accounts."""
    return lambda body: {**body, "data": [change(one) for one in body["data"]]}


def _as_first(name: str) -> Callable[[Json], Json]:
    """Return a change of a list: all accounts have a member of the first one."""

    def edit(body: Json) -> Json:
        rows = body["data"]
        return {**body, "data": [{**row, name: rows[0][name]} for row in rows]}

    return edit


def _in_first_currency(account: Json) -> Json:
    return {**account, "currency": ACCOUNT_TYPES[account[INFO]["accountType"]].currencies[0]}


def _without_zeros(text: str) -> str:
    return text.lstrip("0")


def _named_alone(account: Json) -> Json:
    kept = {"accountType", "bankName"}
    info = {name: value for name, value in account[INFO].items() if name in kept}
    return {**account, INFO: info}


for _example in account_examples().values():
    for _member, _requirement in list(_example.shown.items())[:1]:
        if "." not in _example.name:
            declare(
                _requirement,
                f"{_example.name}-read-cut",
                f"{_member} is read without its last character",
                edited(externals, "read", _otherwise(_member, _cut)),
            )


@mutant("WAL-166", "an offer is shown as an invoice", (externals, "view"), edited)
def offer_as_invoice(account: Json) -> Json:
    info = dict(account["accountInfo"])
    if "bolt12" in info:
        info["invoice"] = info.pop("bolt12")
    return {**account, "accountInfo": info}


for _requirement, _member in (
    ("AMR-252", "bankCode"),
    ("EUA-102", "sortCode"),
    ("EUA-103", "accountNumber"),
):
    declare(
        _requirement,
        "zeros-lost",
        f"{_member} is shown without the zeros that it begins with",
        edited(externals, "view", _otherwise(_member, _without_zeros)),
    )

declare(
    "AMR-003",
    "zeros-lost",
    "an account number is read without the zeros that it begins with",
    edited(externals, "read", _otherwise("accountNumber", _without_zeros)),
)
for _member in ("phoneNumber", "pixKey"):
    declare(
        "EXT-832",
        f"{_member}-without-plus",
        f"{_member} is read without the plus that it begins with",
        edited(externals, "read", _otherwise(_member, lambda text: text.lstrip("+"))),
    )
for _member in ("bankName", "provider", "bolt12"):
    declare(
        "EXT-835",
        f"{_member}-unread",
        f"an account is read without the {_member} that its creation showed",
        edited(externals, "read", _otherwise(_member, lambda _: None)),
    )
declare(
    "EXT-831",
    "listed-type-alone",
    "accounts are listed with their type and the names of their banks alone",
    edited(externals, "list_for_customers", _each(_named_alone)),
)

for _requirement, _kind in (
    ("AMR-005", "USD_ACCOUNT"),
    ("AMR-154", "COP_ACCOUNT"),
    ("AMR-204", "SLV_ACCOUNT"),
):
    declare(
        _requirement,
        "always-checking",
        f"each {_kind} is shown as one for checking",
        shown_member(_kind, "bankAccountType", lambda _: "CHECKING"),
    )

declare(
    "AFA-123",
    "one-length",
    "a phoneNumber of Benin is shown with no more than 8 digits",
    shown_member("XOF_ACCOUNT", "phoneNumber", lambda it: it[:12] if it[:4] == "+229" else it),
)
declare(
    "AFA-183",
    "as-number",
    "the accountNumber of an NGN_ACCOUNT is shown without the zeros that it begins with",
    shown_member("NGN_ACCOUNT", "accountNumber", lambda it: it.lstrip("0")),
)
declare(
    "EXT-831",
    "phone-number-lost",
    "the phoneNumber of a CNY_ACCOUNT is not shown",
    shown_member("CNY_ACCOUNT", "phoneNumber", lambda _: None),
)
declare(
    "WAL-110",
    "read-in-first-currency",
    "an account is read in the first currency of its type",
    edited(externals, "read", _in_first_currency),
)
declare(
    "EXT-091",
    "first-currency",
    "all accounts are listed in the currency of the first one",
    edited(externals, "list_for_customers", _as_first("currency")),
)
declare(
    "EXT-092",
    "first-details",
    "all accounts are listed with the details of the first one",
    edited(externals, "list_for_customers", _as_first(INFO)),
)
for _requirement, _kind in (("WAL-120", "SOLANA_WALLET"), ("WAL-062", "TRON_WALLET")):
    declare(
        _requirement,
        "lower-case",
        f"the address of a {_kind} is shown in lower case",
        shown_member(_kind, "address", str.lower),
    )
declare(
    "EXT-092",
    "other-operator",
    "accounts of mobile money are listed with another operator",
    edited(externals, "list_for_customers", _each(_otherwise("provider", lambda _: "OPERATOR"))),
)
declare(
    "EXT-821",
    "first-details",
    "all accounts of the platform are listed with the details of the first one",
    edited(externals, "list_for_platform", _as_first(INFO)),
)
declare(
    "EXT-092",
    "zeros-lost",
    "an account number is listed without the zeros that it begins with",
    edited(externals, "list_for_customers", _each(_otherwise("accountNumber", _without_zeros))),
)


# --- Under another name ---------------------------------------------------------------------


def _named_too(kind: str, member: str, other: str) -> Apply:
    """Return a patch after which a type of accounts takes a member under another name too."""

    def renamed(body: Json) -> Json:
        info = body.get("accountInfo")
        if not isinstance(info, dict) or info.get("accountType") != kind or member in info:
            return body
        if other not in info:
            return body
        told = {name: value for name, value in info.items() if name != other}
        return {**body, "accountInfo": {**told, member: info[other]}}

    return receives(externals, "create", renamed)


for _id, _kind, _member, _other in (
    ("AMR-034", "MXN_ACCOUNT", "clabeNumber", "accountNumber"),
    ("EUA-006", "EUR_ACCOUNT", "iban", "accountNumber"),
    ("ASA-006", "AED_ACCOUNT", "iban", "accountNumber"),
    ("EUA-104", "GBP_ACCOUNT", "sortCode", "routingNumber"),
    ("AFA-025", "KES_ACCOUNT", "phoneNumber", "accountNumber"),
    ("WAL-121", "SOLANA_WALLET", "address", "accountNumber"),
):
    declare(
        _id,
        f"{_other}-instead",
        f"a {_other} counts as the {_member}",
        _named_too(_kind, _member, _other),
    )
