"""Removes secrets, and what is known of real people, from what leaves the process."""

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
_PERSONAL_MEMBERS = frozenset(
    {
        *("fullName", "firstName", "lastName", "displayName", "accountHolderName"),
        *("primaryContactFirstName", "primaryContactLastName", "birthDate", "nationality"),
        *("email", "phoneNumber", "phone", "mobile", "endUserIpAddress", "ipAddress"),
        *("address", "line1", "line2", "city", "postalCode", "personalInfo"),
        *("identifier", "documentNumber", "taxId"),
        *("accountNumber", "iban", "clabeNumber", "pixKey", "vpa", "lightningAddress", "bolt12"),
    }
)
_MIN_PERSONAL_CHARS = 3
_MIN_SECRET_CHARS = 4


class Redactor:
    """Removes secrets from whatever is about to be written.

    A secret goes wherever it stands, in plain, in base64 (alone or as part of something) and as
    URLs and JSON spell it; headers and JSON members that carry secrets by their nature lose their
    values. One redactor serves all of a process. Safe to use from several threads.

    Args:
        secrets: the secrets of the run; those of fewer than four characters are passed over.
        of_people: whether the target holds data of real people. Then members that tell who
            somebody is, or how to reach or pay them, lose their values where a message is written.
    """

    def __init__(self, secrets: Iterable[str], *, of_people: bool = False) -> None:
        self._of_run = tuple(secrets)
        self._of_test: frozenset[str] = frozenset()
        self._of_people = of_people
        self._told: frozenset[str] = frozenset()
        self._spell()

    def learn(self, *secrets: str) -> None:
        """Remove further secrets too, until :meth:`forget`."""
        self._of_test |= set(secrets)
        self._spell()

    def forget(self) -> None:
        """Keep to the secrets of the run; those of a test are not met again after its end."""
        self._told = frozenset()
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

    def without_people(self, value: Any) -> Any:
        """Return a JSON value without what it tells of people; the very value if that is nothing.

        What was taken out is taken out of the remarks of the test too.
        """
        if not self._of_people:
            return value
        told: set[str] = set()
        masked = self._without_people(value, told)
        self._told |= {text for text in told if len(text) >= _MIN_PERSONAL_CHARS}
        return masked if told else value

    def _without_people(self, value: Any, told: set[str]) -> Any:
        if isinstance(value, list):
            return [self._without_people(member, told) for member in value]
        if not isinstance(value, dict):
            return value
        shown = {}
        for name, member in value.items():
            if name in _PERSONAL_MEMBERS and member not in (None, "", [], {}):
                told.update(_scalars(member))
                shown[name] = self._masked(member)
            else:
                shown[name] = self._without_people(member, told)
        return shown

    def remark(self, text: str) -> str:
        """Return what a check or a program says, without secrets and what it quotes of people."""
        text = self.text(text)
        for value in sorted(self._told, key=len, reverse=True):
            if value in text:
                text = re.sub(rf"(?<!\w){re.escape(value)}(?!\w)", MASK, text)
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
                self.text(name): self._masked(member)
                if name in masked
                else self.json(member, members=members)
                for name, member in value.items()
            }
        return value

    def _masked(self, value: Any) -> Any:
        """Return what stands for the value of a secret member: nothing of it but its type.

        A value of the wrong type is a failure, also for whoever judges the journal again.
        """
        if isinstance(value, list):
            return [self._masked(member) for member in value]
        if isinstance(value, dict):
            return {self.text(name): self._masked(member) for name, member in value.items()}
        if value is None or isinstance(value, bool) or value == "":
            return value
        return MASK if isinstance(value, str) else 0

    def finds_secret(self, text: str) -> bool:
        """Return whether ``text`` holds any of the secrets."""
        return any(secret in text for secret in self._secrets) or (
            "%" in text and any(pattern.search(text) for pattern in self._in_urls)
        )

    def finds_member(self, text: str) -> bool:
        """Return whether ``text`` holds the name of a member that carries a secret."""
        return any(name in text for name in _SECRET_MEMBERS)


def _scalars(value: Any) -> Iterator[str]:
    """Yield the texts and numbers within a JSON value, as a message would quote them."""
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        for member in value:
            yield from _scalars(member)
    elif value is not None and not isinstance(value, bool):
        yield str(value)


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
