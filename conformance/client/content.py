"""Decodes what a target sent, so that nothing it sends can upset what comes after."""

from __future__ import annotations

import json
from typing import Any, NoReturn

_DEEPEST = 64


def decode(content: bytes) -> tuple[Any, bool]:
    """Return the decoded JSON value and whether there was one (no content counts as one).

    JSON of more than 64 levels counts as none. Half surrogate pairs, which JSON can spell and
    UTF-8 cannot, become question marks.
    """
    if not content:
        return None, True
    try:
        value = json.loads(content, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None, False
    if not _within(value, _DEEPEST):
        return None, False
    if b"\\u" in content:
        spelled = json.dumps(value, ensure_ascii=False)
        value = json.loads(spelled.encode("utf-8", "replace"))
    return value, True


def text(content: bytes) -> str:
    """Return bytes as text; what is no UTF-8 becomes replacement characters."""
    return content.decode("utf-8", "replace")


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no JSON")


def _within(value: Any, levels: int) -> bool:
    if levels == 0:
        return False
    if isinstance(value, dict):
        return all(_within(member, levels - 1) for member in value.values())
    if isinstance(value, list):
        return all(_within(member, levels - 1) for member in value)
    return True
