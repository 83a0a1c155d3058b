"""What mutants of several modules change in authentication."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import Json, Place, around, edited
from conformance.proof.patch import Apply
from conformance.reference import routes
from conformance.reference.app import BasicAuth

WAITING = "PENDING_AUTHORIZATION"


def showing(place: Place, change: Callable[[Json], Json]) -> Apply:
    """Return the patch by which a challenge is shown with other members."""
    return edited(*place, lambda shown: {**shown, **change(shown)})


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
