"""What mutants of several modules change in customers."""

from __future__ import annotations

from collections.abc import Callable
from contextvars import ContextVar
from copy import deepcopy
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import (
    Handler,
    Json,
    Place,
    around,
    before,
    edited,
    instead,
    skipped,
    together,
)
from conformance.proof.kit.edits import put
from conformance.proof.kit.tables import with_field
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import errors, fields, rules
from conformance.reference.customers import customers, onboarding
from conformance.reference.internal_accounts import accounts
from conformance.reference.store import Customer
from conformance.reference.unit import Ask, Unit

INFO = "businessInfo"


def changed(path: str, changes: Json, when: tuple[str, str] | None = None) -> Apply:
    """Return a patch of the rules of a member, in each table that has it.

    ``when`` chooses the rules that hold under a condition alone.
    """
    tables = {"CUSTOMER_FIELDS": rules.CUSTOMER_FIELDS, "BUSINESS_FIELDS": rules.BUSINESS_FIELDS}
    found = [
        name
        for name, fields in tables.items()
        if any(field.path == path and when in (None, field.when) for field in fields)
    ]
    # Without any, the patch tells that there is none.
    names = found or ["CUSTOMER_FIELDS"]
    return together(*(with_field(rules, name, path, when, **changes) for name in names))


def dropped(place: Place, *keys: str) -> Apply:
    """Return a patch that takes rows out of a table."""

    def patch(patch: Patch) -> None:
        for key in keys:
            patch.drop(*place, key)

    return patch


def refusing(handler: Place, path: str, is_wrong: Callable[[Json], bool]) -> Apply:
    """Return a patch after which a handler refuses bodies that are right."""

    def checked(unit: Unit, ask: Ask) -> None:
        if isinstance(ask.body, dict) and is_wrong(ask.body):
            raise errors.invalid_input(errors.field_error(path, "It is not taken."))

    return before(*handler, checked)


def lacks(path: str) -> Callable[[Json], bool]:
    """Return whether a body lacks a member."""
    return lambda body: fields.at(body, path) in (fields.ABSENT, None)


def has(path: str, *values: Any) -> Callable[[Json], bool]:
    """Return whether a body has a member, or one of some values of it."""
    return lambda body: not lacks(path)(body) and (not values or fields.at(body, path) in values)


FIRST_CATEGORY = instead(
    onboarding,
    "includes_other",
    lambda listed: isinstance(listed, list) and listed[:1] == ["OTHER"],
)
"""A patch after which a list of categories includes OTHER where it is the first of them."""


def unchecked(path: str) -> Apply:
    """Return a patch after which changes do not look at one member."""
    return around(
        onboarding,
        "change_rules",
        lambda original, wanted: [row for row in original(wanted) if row.path != path],
    )


def shown(path: str, value: Any) -> Apply:
    """Return a patch after which customers that show a member show another value of it."""

    def edit(body: Any) -> Any:
        return put(path, deepcopy(value))(body) if has(path)(body) else body

    return edited(customers, "view", edit)


def of_all_who_share(original: Handler, unit: Unit, ask: Ask) -> Any:
    """List what is a customer's, and what is others' who have the same platformCustomerId."""
    customer = unit.session.get(Customer, str(ask.query.get("customerId")))
    if customer is None:
        return original(unit, ask)
    shared = Customer.platform_customer_id == customer.platform_customer_id
    ids = unit.session.scalars(select(Customer.id).where(shared))
    answers = [original(unit, replace(ask, query={**ask.query, "customerId": id_})) for id_ in ids]
    return {**answers[0], "data": [row for answer in answers for row in answer["data"]]}


def trusted(module: ModuleType, kind: str, status: str) -> Apply:
    """Let one module of the reference take customers of a type and a status for approved ones."""

    def refuse_unverified(customer: Customer) -> None:
        if (customer.customer_type, customer.status) != (kind, status):
            customers.refuse_unverified(customer)

    careless = {**vars(customers), "refuse_unverified": refuse_unverified}
    return instead(module, "customers", SimpleNamespace(**careless))


def unasked(handler: Place, status: str, *kinds: str) -> Apply:
    """Let one operation take customers of a status, and of some types, for approved ones."""
    is_running = ContextVar("is_running", default=False)

    def handle(original: Handler, unit: Unit, ask: Ask) -> Any:
        token = is_running.set(True)
        try:
            return original(unit, ask)
        finally:
            is_running.reset(token)

    def is_overlooked(customer: Customer) -> bool:
        known = customer.status == status and customer.customer_type in kinds
        return is_running.get() and known

    return together(
        around(*handler, handle), skipped(customers, "refuse_unverified", is_overlooked)
    )


def accounts_with_approval(patch: Patch) -> None:
    """Provision internal accounts with the approval of a customer, and none before."""

    def provided(provide: Function, unit: Unit, customer_id: str, wanted: list[str]) -> None:
        unit.session.flush()
        if customers.is_verified(customers.get(unit, customer_id)):
            provide(unit, customer_id, wanted)

    def reached(reach: Function, unit: Unit, customer: Customer, status: str) -> None:
        reach(unit, customer, status)
        accounts.provision_for_customer(unit, customer.id, customer.currencies)

    patch.wrap(accounts, "provision_for_customer", provided)
    patch.wrap(onboarding, "reach", reached)
