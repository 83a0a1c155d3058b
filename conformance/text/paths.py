"""Dotted paths, which lead to a value within a JSON value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def value_at(value: Any, path: str) -> Any:
    """Return the value at a dotted path such as ``a.0.b``, or None.

    A number is a place in a list. The empty path leads to the value itself.
    """
    for name in path.split(".") if path else ():
        if isinstance(value, list) and name.isdigit():
            value = dict(enumerate(value)).get(int(name))
        else:
            value = value.get(name) if isinstance(value, Mapping) else None
    return value
