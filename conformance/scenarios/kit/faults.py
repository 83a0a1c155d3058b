"""Faults: what makes one thing wrong with a body, and leaves the rest as it is."""

from __future__ import annotations

from collections.abc import Callable

from conformance.platform.resource import Json

Fault = Callable[[Json], Json]
"""Returns a body with a fault."""


def without(path: str) -> Fault:
    """Return the fault of a body that lacks the member at a dotted path."""

    def apply(body: Json) -> Json:
        name, _, rest = path.partition(".")
        if rest:
            return {**body, name: without(rest)(body[name])}
        return {key: value for key, value in body.items() if key != name}

    return apply


def having(path: str, value: object) -> Fault:
    """Return the fault of a body whose member at a dotted path has a wrong value."""

    def apply(body: Json) -> Json:
        name, _, rest = path.partition(".")
        return {**body, name: having(rest, value)(body[name]) if rest else value}

    return apply
