"""Shows exchanges to a person."""

from __future__ import annotations

import json
from collections.abc import Iterable
from itertools import groupby
from typing import Any

from conformance.exchange.chain import MAX_CHARS, TOO_DEEP, cut
from conformance.exchange.journal import Exchange
from conformance.text.characters import visible

_ENCODER = json.JSONEncoder(ensure_ascii=False)


def transcript(exchanges: Iterable[Exchange]) -> str:
    """Return the requests and responses as text, in the order in which they happened.

    What was asked again and answered in the same way, as while something is waited for, stands once
    with its count.
    """
    runs = [list(run) for _, run in groupby(exchanges, key=_told_by)]
    return visible("\n".join(_describe(run[-1]) + _again(len(run)) for run in runs))


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
    # No line of a message can pass for one of the transcript.
    return "\n".join(line.replace("\n", "\n      ") for line in lines)


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
