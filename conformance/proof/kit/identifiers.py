"""Mutants that take the id of one resource for that of another, declared from tables."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Handler, Place, around
from conformance.proof.mutant import declare
from conformance.reference.external_accounts import externals
from conformance.reference.internal_accounts import accounts
from conformance.reference.store import ExternalAccount, InternalAccount
from conformance.reference.unit import Ask, Unit

Lookup = Callable[[Unit, str], str]
"""Returns the id that is meant by another one; an id without such a meaning as it is."""


def owner_of(unit: Unit, name: str) -> str:
    """Return the id of the customer whose account has an id."""
    found = externals.find(unit, name) or accounts.find(unit, name)
    return name if found is None or found.customer_id is None else found.customer_id


def external_account_of(unit: Unit, name: str) -> str:
    """Return the id of an external account of the customer of an id."""
    query = select(ExternalAccount.id).where(ExternalAccount.customer_id == name)
    return unit.session.scalar(query.limit(1)) or name


def internal_account_of(unit: Unit, name: str) -> str:
    """Return the id of an internal account of the owner of an id."""
    query = select(InternalAccount.id).where(InternalAccount.customer_id == owner_of(unit, name))
    return name if accounts.find(unit, name) else unit.session.scalar(query.limit(1)) or name


def of_type(kind: str) -> Lookup:
    """Return what looks ids up by what follows their type, whatever that is."""
    return lambda _, name: f"{kind}:{name.rpartition(':')[2]}"


def declare_lookups(rows: Iterable[tuple[str, str, Place, str, Lookup]]) -> None:
    """Declare mutants of handlers that take another kind of id for their own.

    A row has the requirement, a name, the handler, the parameter of the path or the query or the
    member of the body where the id stands, and what looks the meant id up.
    """
    for requirement, name, (holder, function), member, lookup in rows:

        def looking(
            handler: Handler, unit: Unit, ask: Ask, member: str = member, lookup: Lookup = lookup
        ) -> Any:
            return handler(unit, _changed(ask, member, lambda known: lookup(unit, known)))

        declare(
            requirement,
            name,
            f"the {member} of another resource of the same customer, or another type, will do",
            around(holder, function, looking),
        )


def _changed(ask: Ask, member: str, change: Callable[[str], str]) -> Ask:
    for name in ("params", "query", "body"):
        held = getattr(ask, name)
        if isinstance(held, dict) and isinstance(held.get(member), str):
            changed: dict[str, Any] = {name: {**held, member: change(held[member])}}
            return replace(ask, **changed)
    return ask
