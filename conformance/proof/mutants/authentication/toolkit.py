"""What mutants of several modules change in authentication."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Handler, Json, Place, around, edited
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import routes
from conformance.reference.app import BasicAuth
from conformance.reference.customers import customers, onboarding
from conformance.reference.store import Customer
from conformance.reference.unit import Ask, Unit

WAITING = "PENDING_AUTHORIZATION"


def showing(place: Place, change: Callable[[Json], Json]) -> Apply:
    """Return the patch by which a challenge is shown with other members."""
    return edited(*place, lambda shown: {**shown, **change(shown)})


def decided_once(patch: Patch) -> None:
    """Let a customer need SCA for good, or never, by what it was created with."""
    known: dict[str, bool] = {}

    def create(original: Handler, unit: Unit, ask: Ask) -> Json:
        shown: Json = original(unit, ask)
        unit.session.flush()
        known[shown["id"]] = customers.needs_sca(unit.session.get_one(Customer, shown["id"]))
        return shown

    def needs_sca(original: Function, customer: Customer) -> bool:
        return known.get(customer.id, bool(original(customer)))

    patch.wrap(onboarding, "create", create)
    patch.wrap(customers, "needs_sca", needs_sca)


Allows = Callable[[Any, Any, bool], bool]
"""Tells by the settings, a request's scope and the right answer whether the request may pass."""


# --- Who may pass ---------------------------------------------------------------------------


def is_call(scope: Any, operation: str) -> bool:
    """Return whether a request is a call of an operation."""
    row = routes.OPERATIONS[operation]
    pattern = re.sub(r"\{\w+\}", "[^/]+", row.path)
    return scope["method"] == row.method and bool(re.search(f"{pattern}$", scope["path"]))


def header_of(scope: Any) -> bytes:
    """Return the ``Authorization`` header of a request."""
    return bytes(dict(scope["headers"]).get(b"authorization", b""))


def authorization(allows: Allows) -> Apply:
    """Return a patch that decides anew who may pass."""
    return around(
        BasicAuth,
        "_is_allowed",
        lambda original, auth, scope: allows(auth._settings, scope, original(auth, scope)),
    )


# --- Operation by operation -----------------------------------------------------------------


def without_credentials(operation: str) -> Apply:
    """Return a patch by which an operation may be called by anybody."""
    return authorization(
        lambda settings, scope, right: right or (is_call(scope, operation) and not header_of(scope))
    )


def without_basic(operation: str) -> Apply:
    """Return a patch by which an operation refuses HTTP Basic credentials."""
    return authorization(lambda settings, scope, right: right and not is_call(scope, operation))
