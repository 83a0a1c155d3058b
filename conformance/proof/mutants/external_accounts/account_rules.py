"""Patches of external accounts of one ``accountType``, and declarations of mutants from tables.

A module for some account types lists what is wrong with their rows, and gives each table to the
function that declares it: ``declare_rules`` for the rule of a member, ``declare_kinds`` for what
members have to do with each other and with the currency, ``declare_guesses`` for a wrong value that
is corrected in the place of a refusal, ``declare_strict`` for right values that are refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from conformance.proof.kit.builders import Handler, Json, around, edited
from conformance.proof.kit.edits import where, without
from conformance.proof.kit.tables import with_columns
from conformance.proof.mutant import declare
from conformance.proof.patch import Apply, NoSuchTarget, Patch
from conformance.reference import errors, fields
from conformance.reference.external_accounts import account_types, externals
from conformance.reference.external_accounts.account_types import ACCOUNT_TYPES, AccountType
from conformance.reference.rules import Field
from conformance.reference.unit import Ask, Unit

Edit = Callable[[Any], Any]


INFO = "accountInfo"


# --- One change -----------------------------------------------------------------------------


def kind_changed(account_type: str, **changes: Any) -> Apply:
    """Return a patch of the row of a type, such as ``one_of`` or ``currencies``."""
    return with_columns(account_types, "ACCOUNT_TYPES", account_type, **changes)


def rule_changed(account_type: str, member: str, **changes: Any) -> Apply:
    """Return a patch of the rules of a member of ``accountInfo``, in the row of a type."""

    def apply(patch: Patch) -> None:
        if changes.get("kind") == "any":
            patch.row(fields, "_TYPES", "any", (object,))
        rows = [
            replace(rule, **changes) if rule.path == f"{INFO}.{member}" else rule
            for rule in ruling(account_type, member).fields
        ]
        kind_changed(account_type, fields=tuple(rows))(patch)

    return apply


def rule_dropped(account_type: str, member: str) -> Apply:
    """Return a patch after which a type has no rule of a member: it may be missing, or be wrong."""

    def apply(patch: Patch) -> None:
        kind = ruling(account_type, member)
        rows = [rule for rule in kind.fields if rule.path != f"{INFO}.{member}"]
        one_of = tuple(name for name in kind.one_of if name != member)
        kind_changed(account_type, fields=tuple(rows), one_of=one_of if len(one_of) > 1 else ())(
            patch
        )

    return apply


def rule_added(account_type: str, member: str, **rule: Any) -> Apply:
    """Return a patch after which a type has one more rule of a member, as ``required=True``."""

    def apply(patch: Patch) -> None:
        rows = ACCOUNT_TYPES[account_type].fields
        added = Field(f"{INFO}.{member}", **{"kind": "string", **rule})
        kind_changed(account_type, fields=(*rows, added))(patch)

    return apply


def guessed(account_type: str, member: str, change: Edit) -> Apply:
    """Return a patch after which what a body says is taken for something else.

    ``member`` is dotted, from the body. ``change`` gets its value, ``None`` without one, and
    returns what is taken in its place; ``None`` leaves it as it is.
    """

    def corrected(body: Json) -> Json:
        found = fields.at(body, member)
        better = change(None if found is fields.ABSENT else found)
        return body if better is None else placed(body, member, better)

    return creating(
        account_type, lambda create, unit, ask, body: create(unit, ask, corrected(body))
    )


def refusing(account_type: str, member: str, is_wrong: Callable[[Any], bool]) -> Apply:
    """Return a patch after which values of a member are refused that are right.

    ``member`` is dotted, from the body; ``is_wrong`` gets ``None`` where it is missing.
    """

    def create(create: Create, unit: Unit, ask: Ask, body: Json) -> Any:
        found = fields.at(body, member)
        if is_wrong(None if found is fields.ABSENT else found):
            raise errors.invalid_input(errors.field_error(member, "It is not taken."))
        return create(unit, ask, body)

    return creating(account_type, create)


def shown(account_type: str, change: Callable[[Json], Json]) -> Apply:
    """Return a patch after which accounts of a type show another ``accountInfo``."""

    def view(body: Json) -> Json:
        info = body[INFO]
        if info["accountType"] != account_type:
            return body
        return {**body, INFO: change(dict(info))}

    return edited(externals, "view", view)


def shown_member(account_type: str, member: str, change: Edit) -> Apply:
    """Return a patch after which accounts of a type show a member otherwise, if they have it."""

    def edit(info: Json) -> Json:
        return {**info, member: change(info[member])} if info.get(member) is not None else info

    return shown(account_type, edit)


def read_without_rails(account_type: str) -> Apply:
    """Return a patch after which readings of accounts of a type leave out their rails."""

    def is_concerned(body: Json) -> bool:
        return bool(body["accountInfo"].get("accountType") == account_type)

    return edited(externals, "read", where(is_concerned, without("accountInfo.paymentRails")))


def misnamed(account_type: str, change: Callable[[str], str]) -> Apply:
    """Return a patch after which errors about a type name another field."""

    def create(create: Create, unit: Unit, ask: Ask, body: Json) -> Any:
        try:
            return create(unit, ask, body)
        except errors.Refusal as refusal:
            listed = (refusal.details or {}).get("errors", ())
            for entry in listed:
                entry["field"] = change(entry["field"])
            raise

    return creating(account_type, create)


Create = Callable[[Unit, Ask, Json], Any]


def creating(account_type: str, change: Callable[[Create, Unit, Ask, Json], Any]) -> Apply:
    """Return a patch of the creation of accounts of one type."""

    def create(original: Handler, unit: Unit, ask: Ask) -> Any:
        def plain(unit: Unit, ask: Ask, body: Json) -> Any:
            return original(unit, replace(ask, body=body))

        if fields.at(ask.body, f"{INFO}.accountType") != account_type:
            return original(unit, ask)
        return change(plain, unit, ask, ask.body)

    return around(externals, "create", create)


def ruling(account_type: str, member: str) -> AccountType:
    """Return the row of a type; raises ``NoSuchTarget`` without a rule of the member in it."""
    kind = ACCOUNT_TYPES.get(account_type)
    if kind is None or all(rule.path != f"{INFO}.{member}" for rule in kind.fields):
        raise NoSuchTarget(f"the reference has no rule of {member} in {account_type}")
    return kind


def placed(body: Json, path: str, value: Any) -> Json:
    name, _, rest = path.partition(".")
    return {**body, name: placed(body.get(name) or {}, rest, value) if rest else value}


# --- Tables ---------------------------------------------------------------------------------


def declare_rules(rows: Iterable[tuple[str, str, str, str, Json | None]]) -> None:
    """Declare mutants of rules of members.

    A row has the requirement, the account type, the member of ``accountInfo``, a name, and what is
    changed of the member's rule; ``None``: it has none any more.
    """
    for requirement, account_type, member, name, changes in rows:
        declare(
            requirement,
            f"{member}-{name}",
            f"{member} of {account_type} has another rule ({name})",
            rule_dropped(account_type, member)
            if changes is None
            else rule_changed(account_type, member, **changes),
        )


def declare_kinds(rows: Iterable[tuple[str, str, str, Json]]) -> None:
    """Declare mutants of account types as such.

    A row has the requirement, the account type, a name, and what is changed of the type's row.
    """
    for requirement, account_type, name, changes in rows:
        declare(
            requirement,
            f"{account_type.lower()}-{name}",
            f"{account_type} is another kind of account ({name})",
            kind_changed(account_type, **changes),
        )


def declare_guesses(rows: Iterable[tuple[str, str, str, str, Edit]]) -> None:
    """Declare mutants that make something of a wrong value instead of refusing it.

    A row has the requirement, the account type, the member (dotted, from the body), a name, and
    what is made of its value (``None`` if it is missing or null) before it is judged.
    """
    for requirement, account_type, member, name, change in rows:
        declare(
            requirement,
            f"{member.rpartition('.')[2]}-{name}",
            f"{member} of {account_type} is corrected in silence ({name})",
            guessed(account_type, member, change),
        )


def declare_strict(rows: Iterable[tuple[str, str, str, str, Callable[[Any], bool]]]) -> None:
    """Declare mutants that refuse a value that is right.

    A row has the requirement, the account type, the member (dotted, from the body), a name, and
    which of its values (``None`` if it is missing or null) are refused.
    """
    for requirement, account_type, member, name, is_wrong in rows:
        declare(
            requirement,
            f"{member.rpartition('.')[2]}-{name}",
            f"{member} of {account_type} is refused though it is right ({name})",
            refusing(account_type, member, is_wrong),
        )


def snake_case(path: str) -> str:
    """Return a dotted path with its last name in snake case, or with another end."""
    *holders, name = path.split(".")
    changed = re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return ".".join([*holders, changed if changed != name else f"{name}_value"])


def as_text(value: Any) -> Any:
    """Return a number as its digits, and nothing for all else."""
    return str(value) if isinstance(value, int) else None


def type_alone(info: Json) -> Json:
    """Return an ``accountInfo`` without anything but its type."""
    return {"accountType": info["accountType"]}
