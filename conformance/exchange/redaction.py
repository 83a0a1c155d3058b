"""Removes secrets from what leaves the process."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from html import escape
from typing import Any
from urllib.parse import quote, quote_plus

MASK = "***"
"""What stands in the place of a secret."""

_SECRET_HEADERS = frozenset({"authorization", "cookie", "set-cookie", "proxy-authorization"})
_SECRET_MEMBERS = frozenset({"clientSecret", "livenessAccessToken", "accessToken"})
_MIN_SECRET_CHARS = 4


class Redactor:
    """Removes secrets from whatever is about to be written.

    A secret goes wherever it stands, in plain, in base64 (alone or as part of something) and as
    URLs and JSON spell it; headers and JSON members that carry secrets by their nature lose their
    values. One redactor serves all of a process. Safe to use from several threads.

    Args:
        secrets: the secrets of the run; those of fewer than four characters are passed over.
    """

    def __init__(self, secrets: Iterable[str]) -> None:
        self._of_run = tuple(secrets)
        self._of_test: frozenset[str] = frozenset()
        self._spell()

    def learn(self, *secrets: str) -> None:
        """Remove further secrets too, until :meth:`forget`."""
        self._of_test |= set(secrets)
        self._spell()

    def forget(self) -> None:
        """Keep to the secrets of the run; those of a test are not met again after its end."""
        if self._of_test:
            self._of_test = frozenset()
            self._spell()

    def _spell(self) -> None:
        known = {*self._of_run, *self._of_test}
        long_enough = [secret for secret in known if len(secret) >= _MIN_SECRET_CHARS]
        forms = {form for secret in long_enough for form in _forms(secret)}
        self._secrets = sorted(forms, key=len, reverse=True)
        self._in_urls = [
            _in_url(secret) for secret in long_enough if quote(secret, safe="") != secret
        ]

    def text(self, text: str) -> str:
        """Return ``text`` without any of the secrets."""
        for secret in self._secrets:
            if secret in text:
                text = text.replace(secret, MASK)
        if "%" in text:
            for pattern in self._in_urls:
                text = pattern.sub(MASK, text)
        return text

    def headers(self, headers: Mapping[str, str]) -> dict[str, str]:
        """Return ``headers`` without secrets."""
        return {
            name: MASK if name.lower() in _SECRET_HEADERS else self.text(value)
            for name, value in headers.items()
        }

    def json(self, value: Any, *, members: bool = True) -> Any:
        """Return a JSON value without secrets.

        Args:
            value: the value.
            members: whether members that carry secrets by their nature lose their values.
        """
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.json(member, members=members) for member in value]
        if isinstance(value, dict):
            masked = _SECRET_MEMBERS if members else ()
            return {
                self.text(name): MASK if name in masked else self.json(member, members=members)
                for name, member in value.items()
            }
        return value

    def finds_secret(self, text: str) -> bool:
        """Return whether ``text`` holds any of the secrets."""
        return any(secret in text for secret in self._secrets) or (
            "%" in text and any(pattern.search(text) for pattern in self._in_urls)
        )

    def finds_member(self, text: str) -> bool:
        """Return whether ``text`` holds the name of a member that carries a secret."""
        return any(name in text for name in _SECRET_MEMBERS)


def _in_url(secret: str) -> re.Pattern[str]:
    """Match a secret, however many of its characters are percent-encoded."""
    return re.compile(
        "".join(
            f"(?:{re.escape(character)}|(?i:{''.join(f'%{b:02x}' for b in character.encode())}))"
            for character in secret
        )
    )


def _forms(secret: str) -> Iterator[str]:
    """Yield the ways in which a secret may be written."""
    yield from (secret, quote_plus(secret), repr(secret)[1:-1])
    yield from (escape(secret, quote=False), escape(secret))
    yield escape(secret).replace("&quot;", "&#34;").replace("&#x27;", "&#39;")
    yield from (json.dumps(secret, ensure_ascii=short)[1:-1] for short in (True, False))
    for before in range(3):
        # Base64 spells three bytes at a time, so that what stands before the secret matters.
        coded = base64.b64encode(b"\0" * before + secret.encode()).decode().rstrip("=")
        first = (0, 2, 3)[before]
        last = len(coded) - ((before + len(secret.encode())) % 3 != 0)
        yield coded[first:last]
        yield coded[first:last].replace("+", "-").replace("/", "_")
