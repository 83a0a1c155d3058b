"""Mutants of what an external account shows."""

from __future__ import annotations

import json
from typing import Any

from conformance.proof.kit.builders import Handler, Json, Place, edited
from conformance.proof.kit.edits import ALL, as_number, put, turned, with_null, without
from conformance.proof.kit.members import FORMLESS_ID, UNKNOWN_WORD, Member, declare_members
from conformance.proof.kit.tables import with_field
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.external_accounts.toolkit import CREATE, siblings
from conformance.reference.external_accounts import externals
from conformance.reference.unit import Ask, Unit

READ: Place = (externals, "read")


# --- What is shown --------------------------------------------------------------------------


SHOWN: tuple[tuple[str, str, Place, str, Any], ...] = (
    ("EXT-009", "number", (externals, "view"), "customerId", 17),
    ("EXT-009", "object", (externals, "view"), "customerId", {"id": "Customer:1"}),
    ("EXT-010", "number", (externals, "view"), "platformAccountId", 17),
    ("EXT-010", "object", (externals, "view"), "platformAccountId", {}),
    ("EXT-011", "another", CREATE, "platformAccountId", "account-1"),
    ("EXT-012", "another", READ, "platformAccountId", "account-1"),
    ("EXT-014", "another", READ, "customerId", "Customer:1"),
    ("EXT-015", "another", READ, "currency", "EUR"),
    ("EXT-016", "another", CREATE, "accountInfo.accountType", "BANK_ACCOUNT"),
    ("EXT-017", "another", READ, "accountInfo.accountType", "BANK_ACCOUNT"),
    (
        "EXT-081",
        "another",
        (externals, "list_for_customers"),
        f"data.{ALL}.customerId",
        "Customer:1",
    ),
    ("EXT-091", "another", (externals, "list_for_customers"), f"data.{ALL}.currency", "EUR"),
    (
        "EXT-092",
        "another",
        (externals, "list_for_customers"),
        f"data.{ALL}.accountInfo.accountType",
        "BANK_ACCOUNT",
    ),
    (
        "EXT-806",
        "another",
        (externals, "list_for_customers"),
        f"data.{ALL}.platformAccountId",
        "account-1",
    ),
    ("EXT-037", "stale", (externals, "list_for_customers"), f"data.{ALL}.status", "ACTIVE"),
    ("EXT-087", "hidden", (externals, "list_for_platform"), "data", []),
    (
        "EXT-821",
        "another-id",
        (externals, "list_for_platform"),
        f"data.{ALL}.platformAccountId",
        "account-0",
    ),
)
"""Requirement, name, what shows it, and the member with its wrong value."""

for _requirement, _name, _place, _path, _value in SHOWN:
    declare(
        _requirement,
        _name,
        f"{_path.replace(f'data.{ALL}.', '')} is {json.dumps(_value)}",
        edited(*_place, put(_path, _value)),
    )

for _requirement, _place, _path in (
    ("EXT-011", CREATE, "platformAccountId"),
    ("EXT-012", READ, "platformAccountId"),
    ("EXT-806", (externals, "list_for_customers"), f"data.{ALL}.platformAccountId"),
):
    declare(
        _requirement,
        "number",
        "a platformAccountId of digits is shown as a number",
        edited(*_place, turned(_path, as_number)),
    )
    declare(
        _requirement,
        "lower-case",
        "a platformAccountId is shown in lower case",
        edited(*_place, turned(_path, str.lower)),
    )


def _of_a_wallet(body: Json) -> Json:
    is_bank = body["accountInfo"]["accountType"].endswith("_ACCOUNT")
    return body if is_bank else {**body, "platformAccountId": None}


declare(
    "EXT-011",
    "of-a-wallet",
    "the platformAccountId of a wallet is not kept",
    edited(externals, "create", _of_a_wallet),
)

for _requirement, _place in (("EXT-011", CREATE), ("EXT-012", READ)):
    declare(
        _requirement,
        "cut",
        "a platformAccountId has at most 32 characters, and is cut",
        edited(*_place, turned("platformAccountId", lambda text: text and text[:32])),
    )

for _requirement, _member in (("EXT-011", "platformAccountId"), ("EXT-823", "customerId")):
    declare(
        _requirement,
        "left-out",
        f"the answer to a creation has no {_member}",
        edited(*CREATE, without(_member)),
    )
    declare(
        _requirement,
        "null",
        f"the {_member} is null in the answer to a creation",
        edited(*CREATE, with_null(_member)),
    )

declare(
    "EXT-013",
    "own-id-required",
    "the platform has to have an id of its own",
    with_field(
        externals, "EXTERNAL_ACCOUNT_FIELDS", "platformAccountId", required=True, nullable=False
    ),
)


@mutant("EXT-018", "a customer has one account of a type", (externals, "create"))
def one_of_a_type(create: Handler, unit: Unit, ask: Ask) -> Any:
    made: Json = create(unit, ask)
    unit.session.flush()
    account = externals.get(unit, made["id"])
    first = next(
        one
        for one in siblings(unit, account)
        if one.account_type == account.account_type and not one.deleted
    )
    return externals.view(first)


@mutant("EXT-019", "the data of a customer's first account are read", (externals, "read"))
def first_one_read(read: Handler, unit: Unit, ask: Ask) -> Any:
    body: Json = read(unit, ask)
    account = externals.get(unit, body["id"])
    return {**externals.view(next(iter(siblings(unit, account)))), "id": account.id}


# --- Members of resources -------------------------------------------------------------------


MEMBERS = (
    Member("EXT-001", (externals, "view"), "id", FORMLESS_ID),
    Member("EXT-002", (externals, "view"), "status", UNKNOWN_WORD),
    Member("EXT-003", (externals, "view"), "currency", {"object": {"code": "USD"}, "null": None}),
    Member("EXT-004", (externals, "view"), "accountInfo", {"text": "USD_ACCOUNT"}),
    Member("EXT-004", (externals, "view"), "accountInfo.accountType", {"number": 17}),
    Member("EXT-803", (externals, "view"), "customerId", {}),
    Member("EXT-804", (externals, "view"), "platformAccountId", {}),
)

declare_members(MEMBERS)
