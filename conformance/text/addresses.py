"""URLs that hold values of a target, and the origins that URLs lead to."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Collection, Mapping
from ipaddress import IPv6Address
from typing import Any
from urllib.parse import quote, unquote

import httpx

from conformance.text import templates
from conformance.verdict.decisions import Unusable

MAX_VALUE_BYTES = 100_000
"""The longest value that goes into a URL or a command; Linux takes words of up to 131,072."""

_DEFAULT_PORTS = {"http": 80, "https": 443}
_MAX_PORT = 65535
# Clients and servers take out such segments before they look at a path, some also encoded ones.
_NO_SEGMENTS = frozenset({"", ".", ".."})
_MARK = "\0"
_WHOLE_URL = re.compile(r"\{([A-Za-z_]\w*(?<=Url)|url)\}(?=[/?]|$)")
_shortened = reprlib.Repr()
_shortened.maxstring = _shortened.maxlong = _shortened.maxother = 60


def origin(url: str) -> str | None:
    """Return scheme, host and port of an HTTP URL, spelled in one way.

    Scheme and host are in lower case, a port that goes without saying is left out, and an IPv6
    address is in its short form. ``None`` for what is no HTTP URL, and for a URL with user
    information, which may be made to be mistaken for another.
    """
    try:
        parts = httpx.URL(url)
        host = parts.raw_host.decode("ascii")
        if ":" in host:
            host = f"[{IPv6Address(host)}]"
    except (httpx.InvalidURL, ValueError):
        return None
    usual = _DEFAULT_PORTS.get(parts.scheme)
    if usual is None or not host or "%" in host or parts.userinfo:
        return None
    port = usual if parts.port is None else parts.port
    if not 0 < port <= _MAX_PORT:
        return None
    return f"{parts.scheme}://{host}" + ("" if port == usual else f":{port}")


def same_origin(one: str, other: str) -> bool:
    """Return whether two URLs lead to the same scheme, host and port."""
    found = origin(one)
    return found is not None and found == origin(other)


def as_text(value: Any) -> str:
    """Return a value as the text that a URL or a command has for it.

    Raises:
        Unusable: it is no text or finite number, UTF-8 cannot spell it, or it is longer than
            100,000 bytes.
    """
    text = value if isinstance(value, str) else _digits(value)
    if text is None:
        raise Unusable(f"expected a text or a number, got {shortened(value)}")
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise Unusable(f"expected text that UTF-8 can spell, got {shortened(value)}") from None
    if size > MAX_VALUE_BYTES:
        raise Unusable(f"expected at most {MAX_VALUE_BYTES} bytes, got {size}: {shortened(value)}")
    return text


def segment(value: Any) -> str:
    """Return a value as one whole segment of a path, percent-encoded.

    Raises:
        Unusable: it is no text or number (as of :func:`as_text`), or it would lead elsewhere: it
            is empty, ``.`` or ``..``.
    """
    text = as_text(value)
    if text in _NO_SEGMENTS:
        raise Unusable(f"expected what can be a segment of a path, got {shortened(value)}")
    return _encoded(text)


def fill(template: str, values: Mapping[str, Any]) -> str:
    """Return a URL with the names in braces replaced by ``values``, percent-encoded.

    Each value stays within its segment of the path, or its part of the query.

    Raises:
        Unusable: a value cannot stand where it would; the message has its name.
    """
    names = templates.named(template, values)
    encoded: dict[str, str] = {}
    for name in names:
        try:
            encoded[name] = _MARK + _encoded(as_text(values[name]))
        except Unusable as error:
            raise Unusable(f"{name}: {error}") from None
    marked = templates.fill(template, encoded)
    for part in re.split("[?#]", marked, maxsplit=1)[0].split("/"):
        if _MARK in part and unquote(part.replace(_MARK, "")) in _NO_SEGMENTS:
            got = ", ".join(f"{name}: {shortened(values[name])}" for name in names)
            raise Unusable(f"expected what can be a segment of the path in {template}, got {got}")
    return marked.replace(_MARK, "")


def whole_url_name(template: str, names: Collection[str]) -> str | None:
    """Return the name of ``names`` whose value is a whole URL with which a template begins.

    Such a name ends in `url`, or in `Url`, and nothing but a path or a query may follow it.
    """
    start = _WHOLE_URL.match(template)
    return start[1] if start and start[1] in names else None


def fill_whole_url(
    template: str, name: str, values: Mapping[str, Any], origins: Collection[str]
) -> str:
    """Return a URL with which the value of ``name`` begins, unquoted, and others are filled in.

    Raises:
        Unusable: it leads to none of ``origins``, or another value cannot stand where it would.
    """
    try:
        start = as_text(values[name])
    except Unusable as error:
        raise Unusable(f"{name}: {error}") from None
    url = start + fill(template.removeprefix(f"{{{name}}}"), values)
    if not any(same_origin(url, origin) for origin in origins):
        raise Unusable(
            f"{name}: expected a URL of {' or '.join(origins)}, got {shortened(start)}; the key "
            "origins of the request says where else it may lead"
        )
    return url


def names_in_host(template: str, names: Collection[str]) -> list[str]:
    """Return those of ``names`` that a URL has in braces before its path, as in its host."""
    start = re.match(r"(?:[^/?#]*://)?[^/?#]*", template)
    return templates.named(start[0], names) if start else []


def shortened(value: Any) -> str:
    """Return a value of any kind and size as a message shows it."""
    try:
        return _shortened.repr(value)
    except ValueError:
        return "a number of thousands of digits"


def _encoded(text: str) -> str:
    return quote(text, safe=":")


def _digits(value: Any) -> str | None:
    """Return a number as it is written; ``None`` for what is no finite number of usual size."""
    if isinstance(value, bool):
        return None
    try:
        finite = isinstance(value, int | float) and math.isfinite(value)
    except OverflowError:
        return None
    return str(value) if finite else None
