"""Text of a target or a command, made fit to be shown to a person."""

from __future__ import annotations

from conformance.text.characters import visible

MAX_SHOWN_CHARS = 200


def legible(text: str, limit: int = MAX_SHOWN_CHARS) -> str:
    """Return ``text`` in at most ``limit`` characters and an ellipsis, the rest left out.

    Whatever could steer a terminal or hide something, line breaks included, is written as an
    escape.
    """
    shown = visible(text[: limit + 1]).replace("\n", "\\n")
    return shown if len(shown) <= limit else f"{shown[:limit]}…"
