"""The exchanges of a run as an HTTP archive (HAR 1.2), which browsers open."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from http import HTTPStatus
from importlib import metadata
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from conformance.exchange.folder import GENERATOR
from conformance.exchange.journal import Exchange

_UNKNOWN_SIZE = -1
_PHRASES = {status.value: status.phrase for status in HTTPStatus}


def as_har(exchanges: Iterable[Exchange]) -> Iterator[str]:
    """Yield the text of the archive piece by piece, as that of a whole run has a hundred MB.

    Secrets have been removed from what the journal holds. The comment of an entry has its number in
    the journal, its operation and its test.
    """
    creator = {"name": GENERATOR, "version": metadata.version(GENERATOR)}
    yield f'{{"log": {{"version": "1.2", "creator": {json.dumps(creator)}, "entries": ['
    for number, exchange in enumerate(exchanges):
        yield f"{',' if number else ''}\n{json.dumps(_entry(exchange))}"
    yield "\n]}}\n"


def _entry(exchange: Exchange) -> dict[str, Any]:
    milliseconds = exchange.seconds * 1000
    started = datetime.fromtimestamp(max(0.0, exchange.at - exchange.seconds), UTC)
    return {
        "startedDateTime": started.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "time": milliseconds,
        "request": _request(exchange),
        "response": _response(exchange),
        "cache": {},
        "timings": {"send": 0, "wait": milliseconds, "receive": 0},
        "comment": f"{exchange.id} {exchange.operation}, {exchange.test}",
    }


def _request(exchange: Exchange) -> dict[str, Any]:
    request: dict[str, Any] = {
        **_message(exchange.request_headers),
        "method": exchange.method,
        "url": exchange.url,
        "queryString": [
            {"name": name, "value": value}
            for name, value in parse_qsl(urlsplit(exchange.url).query, keep_blank_values=True)
        ],
    }
    if exchange.request_body is not None:
        text = _text(exchange.request_body)
        request["postData"] = {"mimeType": _media_type(exchange.request_headers), "text": text}
    return request


def _response(exchange: Exchange) -> dict[str, Any]:
    text = "" if exchange.response_body is None else _text(exchange.response_body)
    return {
        **_message(exchange.response_headers),
        "status": exchange.status,
        "statusText": exchange.error or _PHRASES.get(exchange.status, ""),
        "content": {
            "size": len(text.encode(errors="replace")),
            "mimeType": _media_type(exchange.response_headers),
            "text": text,
        },
        "redirectURL": _header(exchange.response_headers, "location"),
    }


def _message(headers: Mapping[str, str]) -> dict[str, Any]:
    return {
        "httpVersion": "HTTP/1.1",
        "cookies": [],
        "headers": [{"name": name, "value": value} for name, value in headers.items()],
        "headersSize": _UNKNOWN_SIZE,
        "bodySize": _UNKNOWN_SIZE,
    }


def _text(body: Any) -> str:
    return body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)


def _media_type(headers: Mapping[str, str]) -> str:
    return _header(headers, "content-type") or "x-unknown"


def _header(headers: Mapping[str, str], name: str) -> str:
    return next((value for key, value in headers.items() if key.lower() == name), "")
