"""Secrets, and whether they can be told from ordinary words."""

from __future__ import annotations

from functools import cache

from conformance.contract.data import SPEC
from conformance.sut.errors import TargetError

MIN_SECRET_CHARS = 8
_MIN_WORD_CHARS = 16
"""A word or a number of fewer characters may stand anywhere."""


class WeakSecret(TargetError):
    """A secret cannot be told from ordinary words, so that it cannot be kept out of reports."""


@cache
def weakness(secret: str) -> str | None:
    """Return why a secret cannot be told from ordinary words, ``None`` where it can.

    Such a secret stands in answers and reports by chance. It can neither be looked for nor be
    removed without harm to what is right.
    """
    if len(secret) < MIN_SECRET_CHARS:
        return f"it has fewer than {MIN_SECRET_CHARS} characters"
    if len(secret) < _MIN_WORD_CHARS:
        if secret.isdecimal():
            return f"it is a number of fewer than {_MIN_WORD_CHARS} digits"
        if secret.isalpha() and secret in (secret.lower(), secret.upper(), secret.capitalize()):
            return f"it is one word of fewer than {_MIN_WORD_CHARS} letters"
    if _stands_in_interface(secret.lower()):
        return "it stands in the description of the interface"
    return None


def problem_of(variable: str, secret: str) -> str | None:
    """Return the message about a secret that cannot be told from ordinary words, if it cannot.

    It has the environment variable that holds the secret, never its value.
    """
    if (reason := weakness(secret)) is None:
        return None
    return (
        f"the secret in {variable} cannot be told from ordinary text, and so cannot be kept out of "
        f"reports: {reason}; have a random one of at least {_MIN_WORD_CHARS} characters"
    )


def _stands_in_interface(text: str) -> bool:
    return any(text in path.read_text(encoding="utf-8").lower() for path in SPEC.rglob("*.yaml"))
