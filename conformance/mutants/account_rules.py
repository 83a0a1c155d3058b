"""Mutants of external accounts of one ``accountType``, declared from tables.

A module for some account types lists what is wrong with their rows, and gives each table to the
function that declares it: ``declare_rules`` for the rule of a member, ``declare_kinds`` for what
members have to do with each other and with the currency, ``declare_guesses`` for what is made of a
wrong value instead of refusing it, ``declare_strict`` for values that are refused though they are
right. What follows from ``fixtures/accounts`` for every type alike is declared at the end of this
module: accounts of an unknown type, members shown otherwise than sent, and errors that name
something else.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from conformance.client.account_examples import account_examples
from conformance.mutants.mutant import NoSuchTarget, Patch, declare
from conformance.reference import errors, fields
from conformance.reference.account_types import ACCOUNT_TYPES, AccountType
from conformance.reference.rules import Field
from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]
Apply = Callable[[Patch], None]
Handler = Callable[[Unit, Ask], Any]
Edit = Callable[[Any], Any]

_REFERENCE = "conformance.reference"
_TABLE = f"{_REFERENCE}.account_types:ACCOUNT_TYPES"
_CREATE = f"{_REFERENCE}.externals:create"
_VIEW = f"{_REFERENCE}.externals:view"
_INFO = "accountInfo"


# --- One change -----------------------------------------------------------------------------


def kind_changed(account_type: str, **changes: Any) -> Apply:
    """Return a patch of the row of a type, such as ``one_of`` or ``currencies``."""
    return lambda patch: patch.row(
        _TABLE, account_type, replace(ACCOUNT_TYPES[account_type], **changes)
    )


def rule_changed(account_type: str, member: str, **changes: Any) -> Apply:
    """Return a patch of the rules of a member of ``accountInfo``, in the row of a type."""

    def apply(patch: Patch) -> None:
        if changes.get("kind") == "any":
            patch.row(f"{_REFERENCE}.fields:_TYPES", "any", (object,))
        rows = [
            replace(rule, **changes) if rule.path == f"{_INFO}.{member}" else rule
            for rule in _ruling(account_type, member).fields
        ]
        kind_changed(account_type, fields=tuple(rows))(patch)

    return apply


def rule_dropped(account_type: str, member: str) -> Apply:
    """Return a patch after which a type has no rule of a member: it may be missing, or be wrong."""

    def apply(patch: Patch) -> None:
        kind = _ruling(account_type, member)
        rows = [rule for rule in kind.fields if rule.path != f"{_INFO}.{member}"]
        one_of = tuple(name for name in kind.one_of if name != member)
        kind_changed(account_type, fields=tuple(rows), one_of=one_of if len(one_of) > 1 else ())(
            patch
        )

    return apply


def rule_added(account_type: str, member: str, **rule: Any) -> Apply:
    """Return a patch after which a type has one more rule of a member, as ``required=True``."""

    def apply(patch: Patch) -> None:
        rows = ACCOUNT_TYPES[account_type].fields
        added = Field(f"{_INFO}.{member}", **{"kind": "string", **rule})
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
        return body if better is None else _placed(body, member, better)

    return _creating(
        account_type, lambda create, unit, ask, body: create(unit, ask, corrected(body))
    )


def refusing(account_type: str, member: str, is_wrong: Callable[[Any], bool]) -> Apply:
    """Return a patch after which values of a member are refused that are right.

    ``member`` is dotted, from the body; ``is_wrong`` gets ``None`` where it is missing.
    """

    def create(create: _Create, unit: Unit, ask: Ask, body: Json) -> Any:
        found = fields.at(body, member)
        if is_wrong(None if found is fields.ABSENT else found):
            raise errors.invalid_input(errors.field_error(member, "It is not taken."))
        return create(unit, ask, body)

    return _creating(account_type, create)


def shown(account_type: str, change: Callable[[Json], Json]) -> Apply:
    """Return a patch after which accounts of a type show another ``accountInfo``."""

    def wrapper(original: Callable[[Any], Json]) -> Callable[[Any], Json]:
        def view(account: Any) -> Json:
            body = original(account)
            info = body[_INFO]
            if info["accountType"] != account_type:
                return body
            return {**body, _INFO: change(dict(info))}

        return view

    return lambda patch: patch.wrap(_VIEW, wrapper)


def shown_member(account_type: str, member: str, change: Edit) -> Apply:
    """Return a patch after which accounts of a type show a member otherwise, if they have it."""

    def edit(info: Json) -> Json:
        return {**info, member: change(info[member])} if info.get(member) is not None else info

    return shown(account_type, edit)


def misnamed(account_type: str, change: Callable[[str], str]) -> Apply:
    """Return a patch after which errors about a type name another field."""

    def create(create: _Create, unit: Unit, ask: Ask, body: Json) -> Any:
        try:
            return create(unit, ask, body)
        except errors.Refusal as refusal:
            listed = (refusal.details or {}).get("errors", ())
            for entry in listed:
                entry["field"] = change(entry["field"])
            raise

    return _creating(account_type, create)


_Create = Callable[[Unit, Ask, Json], Any]


def _creating(account_type: str, change: Callable[[_Create, Unit, Ask, Json], Any]) -> Apply:
    """Return a patch of the creation of accounts of one type."""

    def wrapper(original: Handler) -> Handler:
        def plain(unit: Unit, ask: Ask, body: Json) -> Any:
            return original(unit, replace(ask, body=body))

        def create(unit: Unit, ask: Ask) -> Any:
            if fields.at(ask.body, f"{_INFO}.accountType") != account_type:
                return original(unit, ask)
            return change(plain, unit, ask, ask.body)

        return create

    return lambda patch: patch.wrap(_CREATE, wrapper)


def _ruling(account_type: str, member: str) -> AccountType:
    """Return the row of a type; raises ``NoSuchTarget`` without a rule of the member in it."""
    kind = ACCOUNT_TYPES.get(account_type)
    if kind is None or all(rule.path != f"{_INFO}.{member}" for rule in kind.fields):
        raise NoSuchTarget(f"the reference has no rule of {member} in {account_type}")
    return kind


def _placed(body: Json, path: str, value: Any) -> Json:
    name, _, rest = path.partition(".")
    return {**body, name: _placed(body.get(name) or {}, rest, value) if rest else value}


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


# --- What every file of examples calls for --------------------------------------------------


def _cut(value: Any) -> Any:
    return value[:-1] if isinstance(value, str) else value


def _counted(value: Any) -> Any:
    return int(value) if isinstance(value, str) else value


def _snake_case(path: str) -> str:
    *holders, name = path.split(".")
    changed = re.sub("(?<=[a-z])(?=[A-Z])", "_", name).lower()
    return ".".join([*holders, changed if changed != name else f"{name}_value"])


def _holder(path: str) -> str:
    return path.rpartition(".")[0] or "body"


def _unknown(account_type: str) -> Apply:
    return lambda patch: patch.drop(_TABLE, account_type)


def _declare_from_examples() -> None:
    declared: set[tuple[str, str]] = set()

    def once(requirement: str, name: str, statement: str, patch: Apply) -> None:
        if (requirement, name) not in declared:
            declared.add((requirement, name))
            declare(requirement, name, statement, patch)

    for found in account_examples().values():
        kind = found.account_type
        about = kind.lower()
        once(found.requirement, f"{about}-unknown", f"there is no {kind}", _unknown(kind))
        for member, requirement in found.shown.items():
            sent = str(found.body[_INFO].get(member, "")).replace("#", "0")
            once(
                requirement,
                f"{about}-{member}-cut",
                f"{member} of {kind} is shown without its last character",
                shown_member(kind, member, _cut),
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
                misnamed(kind, _snake_case),
            )


_declare_from_examples()
