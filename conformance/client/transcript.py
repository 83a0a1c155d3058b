"""Shows exchanges to a person, and as commands that repeat them."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterable
from typing import Any
from urllib.parse import urljoin

from conformance.client.journal import Exchange

_LONGEST = 1200
_TOLD = frozenset({"idempotency-key", "service-wallet-signature", "request-id"})
_FORM = "multipart/form-data"
_FILE = re.compile(r"<file (.+), ([^,]+), (\d+) bytes>")
_FILES = [
    "# Files come from the folder $DOCUMENTS, cut or filled up to the size that was sent.",
    "DOCUMENTS=${DOCUMENTS:-fixtures/documents}",
    'paper() { { cat "$DOCUMENTS/$1" || :; head -c "$2" /dev/zero; } | head -c "$2"; }',
]


def transcript(exchanges: Iterable[Exchange]) -> str:
    """Return the requests and responses as text, in the order in which they happened."""
    return visible("\n".join(_describe(exchange) for exchange in exchanges))


def visible(text: str) -> str:
    """Return ``text`` with escapes for what a target could hide or steer a terminal with."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char == "\n" else char.encode("unicode_escape").decode()
        for char in text
    )


def curl_chain(exchanges: Iterable[Exchange], base_url: str) -> str:
    """Return a shell script that repeats the requests with curl.

    The secrets and the base URL are variables. An id that a response brought and a later request
    uses is taken from the repeated response, so that the chain works on fresh resources.
    """
    chain = list(exchanges)
    lines = [
        "#!/bin/sh",
        "# Needs curl and jq, PAYMENTS_API_TOKEN_ID and PAYMENTS_API_CLIENT_SECRET.",
        f"BASE_URL=${{BASE_URL:-{base_url}}}",
        'api() { curl -sS -u "$PAYMENTS_API_TOKEN_ID:$PAYMENTS_API_CLIENT_SECRET" "$@"; echo; }',
    ]
    if any(_is_form(exchange) for exchange in chain):
        lines += _FILES
    origin = urljoin(base_url, "/")
    known = {base_url: "BASE_URL", base_url.rpartition("/")[0]: "BASE_URL%/*"}
    for number, exchange in enumerate(chain, 1):
        later = json.dumps([(_legible(e.url), e.request_body) for e in chain[number:]])
        used: dict[str, str] = {}
        for pointer, value in _ids(exchange.response_body, ""):
            if value in later and value not in known:
                # The first place is the nearest to the resource itself.
                used.setdefault(value, pointer)
        command = " ".join(_command(exchange, origin, known))
        lines.append(f"# {number}. {exchange.operation}: answered {exchange.status or 'nothing'}")
        if not used:
            lines.append(command)
            continue
        lines.append(f'r{number}=$({command}); echo "$r{number}"')
        for value, pointer in used.items():
            variable = f"id{len(known) - 1}"
            known[value] = variable
            lines.append(f"{variable}=$(printf '%s' \"$r{number}\" | jq -r {shlex.quote(pointer)})")
    return "\n".join(lines) + "\n"


def _command(exchange: Exchange, origin: str, known: dict[str, str]) -> list[str]:
    """Return the words of a command that repeats one request."""
    # The credentials are for the target alone; a trigger may be caused elsewhere.
    curl = "api" if exchange.url.startswith(origin) else "curl -sS"
    command = [curl, "-X", exchange.method, _quote(_legible(exchange.url), known)]
    for name, value in exchange.request_headers.items():
        if name in _TOLD:
            command += ["-H", shlex.quote(f"{name}: {value}")]
    if _is_form(exchange):
        pipe, parts = _form(exchange.request_body, known)
        return [*pipe, *command, *parts]
    if exchange.request_body is not None:
        body = exchange.request_body
        if not isinstance(body, str):
            body = json.dumps(body, ensure_ascii=False)
        kind = exchange.request_headers.get("content-type", "application/json")
        command += ["-H", shlex.quote(f"content-type: {kind}")]
        command += ["--data-raw", _quote(body, known)]
    return command


def _is_form(exchange: Exchange) -> bool:
    kind = exchange.request_headers.get("content-type", "")
    parts = exchange.request_body
    # A hostile request may send JSON, and call it a form.
    return (
        kind.startswith(_FORM)
        and isinstance(parts, dict)
        and all(isinstance(part, str) for part in parts.values())
    )


def _form(body: dict[str, str], known: dict[str, str]) -> tuple[list[str], list[str]]:
    """Return the words of a command that pipes the file of a form, and those that send its parts.

    A form has one file at most.
    """
    pipe: list[str] = []
    parts: list[str] = []
    for name, part in body.items():
        if file := _FILE.fullmatch(part):
            pipe = ["paper", shlex.quote(file[1]), file[3], "|"]
            sent = f'{name}=@-;filename="{file[1]}";type={file[2]}'
            parts += ["--form", shlex.quote(sent)]
        else:
            parts += ["--form-string", _quote(f"{name}={part}", known)]
    return pipe, parts


def _describe(exchange: Exchange) -> str:
    lines = [f"[{exchange.id}] {exchange.method} {exchange.url}"]
    if exchange.request_body is not None:
        lines.append(f"    → {_short(exchange.request_body)}")
    if exchange.error:
        lines.append(f"    ← no response: {exchange.error}")
    else:
        lines.append(
            f"    ← {exchange.status} ({exchange.seconds * 1000:.0f} ms) "
            f"{_short(exchange.response_body)}"
        )
    return "\n".join(lines)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}… ({len(text)} characters)"


def _ids(value: Any, pointer: str) -> Iterable[tuple[str, str]]:
    if isinstance(value, dict):
        for name, member in value.items():
            yield from _ids(member, f"{pointer}.{json.dumps(name)}")
    elif isinstance(value, list):
        for index, member in enumerate(value):
            yield from _ids(member, f"{pointer or '.'}[{index}]")
    elif isinstance(value, str) and ":" in value and value.partition(":")[0].isalpha():
        yield pointer or ".", value


def _legible(url: str) -> str:
    # In a query the colon of an id is written %3A, and has the same meaning as it is.
    return url.replace("%3A", ":")


def _quote(text: str, known: dict[str, str]) -> str:
    """Return ``text`` as one word of a shell, in which nothing but our variables is live."""
    quoted = "'" + text.replace("'", "'\"'\"'") + "'"
    for value in sorted(known, key=len, reverse=True):
        quoted = quoted.replace(value, f"'\"${{{known[value]}}}\"'")
    return quoted.removeprefix("''")
