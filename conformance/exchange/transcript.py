"""Shows exchanges to a person."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from itertools import groupby, islice
from typing import Any

from conformance.exchange.chain import MAX_CHARS, TOO_DEEP, cut
from conformance.exchange.journal import Exchange
from conformance.text.characters import visible

_MAX_HEADERS = 30
_ENCODER = json.JSONEncoder(ensure_ascii=False)


def transcript(exchanges: Iterable[Exchange]) -> str:
    """Return the requests and responses as text, in the order in which they happened.

    What was asked again and answered in the same way, as while something is waited for, stands once
    with its count.
    """
    runs = [list(run) for _, run in groupby(exchanges, key=_told_by)]
    return visible("\n".join(_describe(run[-1]) + _again(len(run)) for run in runs))


def of_webhook(at: float, headers: Mapping[str, str], body: Any) -> str:
    """Return a webhook as text: the second of its arrival since the epoch, headers, and body."""
    came = datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
    shown = (f"{name}: {value}" for name, value in islice(headers.items(), _MAX_HEADERS))
    lines = (f"The webhook came at {came}:", *(f"    {cut(line)}" for line in shown))
    return visible("\n".join(map(_within, (*lines, f"    {_short(body)}"))))


def _told_by(exchange: Exchange) -> tuple[Any, ...]:
    """Return what one exchange has in common with another that tells nothing else."""
    request = (exchange.method, exchange.url, exchange.request_body)
    return (*request, exchange.status, exchange.response_body, exchange.error)


def _again(times: int) -> str:
    return f"\n    (the last of {times} in a row with the same answer)" if times > 1 else ""


def _describe(exchange: Exchange) -> str:
    lines = [f"[{exchange.id}] {exchange.method} {cut(exchange.url)}"]
    if exchange.request_body is not None:
        lines.append(f"    → {_short(exchange.request_body)}")
    if exchange.error:
        lines.append(f"    ← no response: {cut(exchange.error)}")
    else:
        lines.append(
            f"    ← {exchange.status} ({exchange.seconds * 1000:.0f} ms) "
            f"{_short(exchange.response_body)}"
        )
    return "\n".join(map(_within, lines))


def _within(line: str) -> str:
    """Return a line; none of a message that it holds can pass for one of the transcript."""
    return line.replace("\n", "\n      ")


def _short(value: Any) -> str:
    """Return the start of a body as text; of a long one no more is written than is shown."""
    if isinstance(value, str):
        return cut(value)
    text = ""
    try:
        for piece in _ENCODER.iterencode(value):
            text += piece
            if len(text) > MAX_CHARS:
                return f"{text[:MAX_CHARS]}… (more than {MAX_CHARS} characters)"
    except RecursionError:
        return text + TOO_DEEP
    return text
