"""Compares texts as people read them: other ways to write one thing, and masks over a part."""

from __future__ import annotations

import re
from typing import Any

_MASK = re.compile(r"[*•xX]{2,}[\W_]*")
_MIN_CLEAR_CHARS = 2
_MAX_PLAIN_CHARS = 64


def masked_or_same(shown_value: Any, sent_value: Any) -> bool:
    """Return whether a member shows the text that was sent, or a part of it beside a mask.

    Only letters and digits are compared, in any case; other characters group or mask them. Without
    a mask the last characters will do, two of them at least. What lacks nothing but the zeros that
    it began with was taken for a number.
    """
    if same_text(shown_value, sent_value):
        return True
    if not isinstance(shown_value, str) or not isinstance(sent_value, str):
        return False
    sent_text = letters_and_digits(sent_value)
    if sent_text.startswith("0") and letters_and_digits(shown_value) == sent_text.lstrip("0"):
        return False
    *masked, clear_text = _MASK.split(shown_value)
    tail = letters_and_digits(clear_text)
    return sent_text.endswith(tail) and (bool(masked) or len(tail) >= _MIN_CLEAR_CHARS)


def same_text(shown_value: Any, sent_value: Any) -> bool:
    """Return whether a member shows the text that was sent, in any case and with any marks."""
    if not isinstance(shown_value, str) or not isinstance(sent_value, str):
        return bool(shown_value == sent_value)
    return letters_and_digits(shown_value) == letters_and_digits(sent_value)


def letters_and_digits(text: str) -> str:
    """Return the letters and digits of a text, in one case."""
    return re.sub(r"[\W_]", "", text).casefold()


def is_plain(text: str) -> bool:
    """Return whether a text is stored as it is written: short, in ASCII, without blanks around it.

    Others may be cut, or stored in another form.
    """
    is_written_so = text.isascii() and text.isprintable() and text.strip() == text
    return is_written_so and len(text) <= _MAX_PLAIN_CHARS
