"""Conforming variants of identifiers that are looked up, and of lists of accounts."""

from __future__ import annotations

import re
from typing import Any

from conformance.proof.kit.builders import Place, around, before, concerning, together
from conformance.proof.patch import Apply, Function
from conformance.proof.variant import declare
from conformance.reference import errors
from conformance.reference import unit as reference_unit
from conformance.reference.customers import customers
from conformance.reference.external_accounts import externals
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import quotes
from conformance.reference.unit import Ask, Unit

_LISTS: dict[str, Place] = {
    "accounts": (accounts, "list_for_customers"),
    "externals": (externals, "list_for_customers"),
}


_UUID_4 = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}")


# --- Ids ------------------------------------------------------------------------------------


def _formed(kind: str, place: Place) -> Apply:
    """Return a patch after which an id of another kind is no valid value."""

    def found(unit: Unit, name: str, *_: Any, **__: Any) -> None:
        if not name.startswith(f"{kind}:"):
            raise errors.invalid_input(errors.field_error("id", f"Expected {kind}:<id>."))

    return before(*place, found)


for _kind, _place in (
    ("Customer", (customers, "get")),
    ("ExternalAccount", (externals, "get")),
    ("InternalAccount", (accounts, "get")),
    ("Quote", (quotes, "get")),
):
    declare(
        "N346",
        f"formed-{_kind}",
        f"what is no id of the form {_kind}:<id> is refused with 400",
        _formed(_kind, _place),
        "other codes",
    )


def _random(place: Place) -> Apply:
    """Return a patch after which an id that ends in no UUID of version 4 is no valid value."""

    def found(unit: Unit, name: str, *_: Any, **__: Any) -> None:
        if _UUID_4.fullmatch(name.rpartition(":")[2]) is None:
            raise errors.invalid_input(errors.field_error("id", "Expected a UUID of version 4."))

    # It would refuse the identifiers that other variants make.
    return together(before(*place, found), concerning(reference_unit, "uuid"))


for _kind, _place in (("Customer", (customers, "get")), ("Quote", (quotes, "get"))):
    declare(
        "N346",
        f"random-{_kind}",
        f"what is no id of a {_kind} with a UUID of version 4 is refused with 400",
        _random(_place),
        "further codes",
    )


def _untyped(kind: str, place: Place) -> Apply:
    """Return a patch after which an id is found without its type too."""

    def found(get: Function, unit: Unit, name: str, **named: Any) -> Any:
        return get(unit, name if ":" in name else f"{kind}:{name}", **named)

    return around(*place, found)


for _kind, _place in (("Customer", (customers, "get")), ("ExternalAccount", (externals, "find"))):
    declare(
        "M78",
        f"untyped-{_kind}",
        f"an id of a {_kind} may leave its type out",
        _untyped(_kind, _place),
        "forms",
    )


# --- Lists ----------------------------------------------------------------------------------


def _of_a_customer(place: Place) -> Apply:
    """Return a patch after which a list is one customer's alone."""

    def listed(unit: Unit, ask: Ask) -> None:
        if "customerId" not in ask.query:
            raise errors.invalid_input(errors.field_error("customerId", "Name a customer."))

    return before(*place, listed)


for _name, _list in _LISTS.items():
    declare(
        "N343",
        f"{_name}-of-a-customer",
        "a list of accounts without a customer is refused",
        _of_a_customer(_list),
        "codes",
    )
