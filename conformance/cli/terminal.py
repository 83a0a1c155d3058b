"""Lines of text on a terminal, in colour where that is wanted."""

from __future__ import annotations

import os

import typer


def styled(line: str, colour: str | None = None) -> None:
    """Print a line; in a colour where the usual variables or the terminal allow it.

    Args:
        line: what is printed, without control characters.
        colour: one of the terminal's, such as ``green``; None for none.
    """
    typer.secho(line, fg=colour, color=is_coloured())


def is_coloured() -> bool | None:
    """Return what the usual variables say of colours; None leaves it to the terminal.

    ``PY_COLORS`` goes first, as with pytest; then ``NO_COLOR``, ``FORCE_COLOR`` and ``TERM=dumb``.
    """
    if (wanted := os.environ.get("PY_COLORS")) in ("0", "1"):
        return wanted == "1"
    if os.environ.get("NO_COLOR"):
        return False
    if os.environ.get("FORCE_COLOR"):
        return True
    return False if os.environ.get("TERM") == "dumb" else None
