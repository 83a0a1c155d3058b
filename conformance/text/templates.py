"""Texts with names in braces, as the triggers of a profile have them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

_BRACES = re.compile(r"\{([^{}]+)\}")
# What stands behind a dollar sign is a variable of a shell.
_NAME = re.compile(r"(?<!\$)\{([A-Za-z_][A-Za-z0-9_]*)\}")


def named(text: str, names: Iterable[str]) -> list[str]:
    """Return those of ``names`` that a text has in braces."""
    return [name for name in names if f"{{{name}}}" in text]


def unknown(text: str, names: Collection[str]) -> list[str]:
    """Return what a text has in braces and looks like a name, and is none of ``names``."""
    return [name for name in dict.fromkeys(_NAME.findall(text)) if name not in names]


def fill(text: str, texts: Mapping[str, str]) -> str:
    """Return a text with the names in braces replaced.

    All are replaced at once: names in braces within what is filled in stay as they are.
    """
    return _BRACES.sub(lambda found: texts.get(found[1], found[0]), text)


def own_words(variables: Mapping[str, str], origin: str, base_url: str) -> dict[str, str]:
    """Return the names that come from whoever runs the suite, with the texts they stand for.

    A variable may hold ``{origin}`` and ``{base_url}``.
    """
    places = {"origin": origin, "base_url": base_url}
    return {**{name: fill(text, places) for name, text in variables.items()}, **places}


def fill_json(value: Any, words: Mapping[str, Any]) -> Any:
    """Return a JSON value with the names in braces replaced in all its texts.

    A text that is all name becomes the word itself, whatever its type; among other text a word
    that is none stands as JSON.
    """
    texts = {name: as_json_text(word) for name, word in words.items()}

    def replace(text: str) -> Any:
        whole = _BRACES.fullmatch(text)
        return words[whole[1]] if whole and whole[1] in words else fill(text, texts)

    return _in_texts(value, replace)


def as_json_text(word: Any) -> str:
    """Return a text as it is, and any other JSON value as JSON.

    Raises:
        ValueError: JSON has no form for it.
        RecursionError: it is nested too deep.
    """
    if isinstance(word, str):
        return word
    return json.dumps(word, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _in_texts(value: Any, change: Callable[[str], Any]) -> Any:
    if isinstance(value, dict):
        return {key: _in_texts(member, change) for key, member in value.items()}
    if isinstance(value, list):
        return [_in_texts(member, change) for member in value]
    return change(value) if isinstance(value, str) else value
