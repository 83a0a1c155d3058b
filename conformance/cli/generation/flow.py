"""Values as YAML: on one line where they fit, else a line for each member."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import yaml


def flow(value: Any) -> str:
    """Return a value on one line, as ``{currency: USD, amount: 100}``."""
    text: str = yaml.safe_dump(
        value, default_flow_style=True, sort_keys=False, allow_unicode=True, width=math.inf
    )
    # It ends a document whose only value is a text or number.
    return text.removesuffix("...\n").strip()


def member(key: str, value: Any, width: int) -> Iterator[str]:
    """Yield the lines of ``key: value``, none of which is longer than ``width`` if that can be."""
    line = f"{flow(key)}: {flow(value)}"
    if len(line) <= width or not _divisible(value):
        yield line
        return
    yield f"{flow(key)}:"
    yield from (f"  {text}" for text in _members(value, width - 2))


def _members(value: Any, width: int) -> Iterator[str]:
    """Yield the lines of an object or a list."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from member(name, inner, width)
        return
    for item in value:
        line = flow(item)
        whole = len(line) <= width - 2 or not _divisible(item)
        lines = [line] if whole else _members(item, width - 2)
        yield from (f"{'  ' if number else '- '}{text}" for number, text in enumerate(lines))


def _divisible(value: Any) -> bool:
    return isinstance(value, dict | list) and bool(value)
