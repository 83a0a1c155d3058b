"""Places values that a target sent into addresses, where they must not lead elsewhere."""

from __future__ import annotations

from typing import Any
from urllib.parse import quote

from conformance.verdict.decisions import Unusable


def segment(value: Any) -> str:
    """Return ``value`` as one segment of the path of a URL; colons stay as they are.

    Raises:
        Unusable: it is no text, or text that is no segment: it would lead to another address.
    """
    if not isinstance(value, str):
        raise Unusable(f"expected an id for a path, got {str(value)[:200]}")
    if value in ("", ".", ".."):
        raise Unusable(f"expected an id for a path, got {value!r}, which leads elsewhere")
    try:
        return quote(value, safe=":")
    except UnicodeEncodeError:
        raise Unusable(f"expected an id for a path, got {value[:200]!r}") from None
