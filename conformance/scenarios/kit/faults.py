"""Faults of request bodies: each makes one member wrong and leaves the others as they are."""

from __future__ import annotations

from collections.abc import Callable

from conformance.platform.resource import Json

Fault = Callable[[Json], Json]
"""A function from a request body to a copy of it with one fault."""


def without(path: str) -> Fault:
    """Return a fault that removes the member at a dotted path."""

    def apply(body: Json) -> Json:
        name, _, rest = path.partition(".")
        if rest:
            return {**body, name: without(rest)(body[name])}
        return {key: value for key, value in body.items() if key != name}

    return apply


def having(path: str, value: object) -> Fault:
    """Return a fault that sets the member at a dotted path to a wrong value."""

    def apply(body: Json) -> Json:
        name, _, rest = path.partition(".")
        return {**body, name: having(rest, value)(body[name]) if rest else value}

    return apply
