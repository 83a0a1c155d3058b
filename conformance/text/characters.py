"""Tells characters that a person sees from those that hide something or steer a terminal."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import groupby

# Letters, marks and symbols by their category, and yet nothing is seen of them.
_UNSEEN = "\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0"
_UNSEEN_BEYOND = "\U0001d159\U000e0100-\U000e01ef"
_HIDDEN = re.compile(f"[{_UNSEEN}{_UNSEEN_BEYOND}]")


def runs(text: str) -> Iterator[tuple[bool, str]]:
    """Yield ``text`` in pieces, each with whether all of its characters can be shown as they are.

    What cannot are controls but the newline, marks of direction, lone surrogates, and whatever
    else is not seen where it stands. A text without any of them is one piece.
    """
    if _is_shown(text.replace("\n", " ")):
        yield True, text
        return
    for shown, characters in groupby(text, lambda char: char == "\n" or _is_shown(char)):
        yield shown, "".join(characters)


def visible(text: str) -> str:
    """Return ``text`` with escapes for what a target could hide or steer a terminal with."""
    return "".join(
        piece if shown else piece.encode("unicode_escape").decode() for shown, piece in runs(text)
    )


def _is_shown(text: str) -> bool:
    return text.isprintable() and (text.isascii() or not _HIDDEN.search(text))
