"""Writes words of a POSIX shell, so that nothing in them is live but the script's own variables."""

from __future__ import annotations

import re
from dataclasses import dataclass

from conformance.text.characters import runs

_BARE = re.compile(r"[A-Za-z0-9_%+,./:=@-]+")


@dataclass(frozen=True, slots=True)
class Variable:
    """A variable of the script; ``expression`` is what stands between its braces."""

    expression: str


Part = str | Variable
"""A piece of a word: a literal as it is meant, or a variable of the script."""


def spell(*parts: Part) -> str:
    """Return the word that the parts make together, as a script has it.

    Each literal is quoted once. What is not seen, or steers a terminal, is spelled in octal, so
    that the script holds none of it and the command gets the very bytes. A lone surrogate becomes
    the three bytes that UTF-8 would have for it.

    Raises:
        ValueError: a literal holds NUL, which no argument of a command can.
    """
    if len(parts) == 1 and isinstance(parts[0], str) and _BARE.fullmatch(parts[0]):
        return parts[0]
    return "".join(_spell(part) for part in parts if part) or "''"


def _spell(part: Part) -> str:
    if isinstance(part, Variable):
        return f'"${{{part.expression}}}"'
    if "\0" in part:
        raise ValueError("no argument of a command holds NUL")
    return "".join(_quote(piece) if shown else _octal(piece) for shown, piece in runs(part))


def _quote(piece: str) -> str:
    return "'" + piece.replace("'", "'\"'\"'") + "'"


def _octal(piece: str) -> str:
    # What is substituted loses newlines at its end; there is none, as a newline can be shown.
    octets = "".join(f"\\{octet:03o}" for octet in piece.encode("utf-8", "surrogatepass"))
    return f"\"$(printf '{octets}')\""
