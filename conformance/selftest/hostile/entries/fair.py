"""Strange but conforming targets, which are judged exactly as the reference is."""

from __future__ import annotations

import contextlib
import gzip
import json
import re
import socket
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.selftest.hostile.entry import CONFORMANT, OPEN, Entry, Expected, Start, front
from conformance.selftest.hostile.front import (
    INTERFACE,
    TRANSACTIONS,
    Behaviour,
    Reply,
    Turn,
    body_bytes,
    json_body,
    late,
    once,
    only,
    pass_on,
    reply,
    reply_bytes,
    resets,
    status,
)
from conformance.selftest.hostile.scenarios import REQUIREMENTS
from conformance.verdict.plan import RequirementVerdict

PASSED = Expected((CONFORMANT,), dict.fromkeys(REQUIREMENTS, RequirementVerdict.PASSED))
"""Every requirement passes, as with the reference."""


def _fair_entry(name: str, does: str, behaviour: Callable[[], Behaviour], **options: Any) -> Entry:
    return Entry(f"fair-{name}", does, front(behaviour, **options), PASSED)


def _sends_chunks(size: int, trailers: bytes = b"", extension: bytes = b"") -> Behaviour:
    """Return a behaviour that answers in chunks of ``size`` bytes."""

    def frame(answer: Reply) -> bytes:
        if not answer.body:
            return answer.head(content_length="0")
        body = answer.body
        parts = [body[at : at + size] for at in range(0, len(body), size)]
        chunks = b"".join(b"%x%s\r\n%s\r\n" % (len(part), extension, part) for part in parts)
        return answer.head(transfer_encoding="chunked") + chunks + b"0\r\n" + trailers + b"\r\n"

    return reply_bytes(frame, closes=False)


def _compressed(answer: Reply) -> Reply:
    if not answer.body:
        return answer
    zipped = replace(answer, body=gzip.compress(answer.body, mtime=0))
    return zipped.with_headers(content_encoding="gzip", vary="Accept-Encoding")


def _as_escapes(value: Any) -> str:
    """Return JSON with each character of a text as an escape, and much white space."""
    if isinstance(value, str):
        return '"' + "".join(_escape(character) for character in value) + '"'
    if isinstance(value, dict):
        members = (f"{_as_escapes(name)}\r\n :\t{_as_escapes(one)}" for name, one in value.items())
        return "{ " + " ,\n".join(members) + " }"
    if isinstance(value, list):
        return "[\n" + " , ".join(map(_as_escapes, value)) + "\t]"
    return json.dumps(value)


def _escape(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex().upper()}" for at in range(0, len(units), 2))


def _with_further_members(value: Any) -> Any:
    """Return a value with one more member in each object."""
    if isinstance(value, dict):
        return {"_links": None, **{name: _with_further_members(one) for name, one in value.items()}}
    return [_with_further_members(one) for one in value] if isinstance(value, list) else value


def _with_members_reversed(value: Any) -> Any:
    """Return a value with the members of each object in reverse order."""
    if isinstance(value, dict):
        return {name: _with_members_reversed(one) for name, one in reversed(value.items())}
    return [_with_members_reversed(one) for one in value] if isinstance(value, list) else value


def _as_http_1_0(answer: Reply) -> bytes:
    """Return an answer of HTTP/1.0, whose body ends with the connection."""
    return answer.head().replace(b"HTTP/1.1", b"HTTP/1.0", 1) + answer.body


def _sends_early_hints(turn: Turn) -> None:
    turn.raw(b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n")
    pass_on(turn)


def _closes_silently(turn: Turn) -> None:
    pass_on(turn)
    turn.closes = True


def _with_capital_headers(answer: Reply) -> bytes:
    head = answer.head(content_length=str(len(answer.body)), connection="Keep-Alive")
    lines = [
        re.sub(rb"^[\w-]+:", lambda match: match[0].upper(), line)
        for line in head.split(b"\r\n")[1:]
    ]
    return b"\r\n".join([head.split(b"\r\n")[0], *lines]) + answer.body


def _bare_list(body: Any) -> Any:
    return body["data"]


def _list_entry(name: str, does: str, change: Callable[[Any], Any]) -> Entry:
    """Return an entry whose target lists transactions in another shape."""
    start = front(lambda: only(TRANSACTIONS, json_body(change)))
    expected = Expected(
        (OPEN,), {"TRX-070": RequirementVerdict.PASSED, "CNV-003": RequirementVerdict.PASSED}
    )
    return Entry(f"fair-{name}", does, start, expected, "transactions")


def _throttles_once(**headers: str) -> Callable[[], Behaviour]:
    """Return a behaviour that answers each path once with 429, then rightly."""
    refusal = status(429, {"status": 429, "code": "RATE_LIMITED", "message": "slowly"}, **headers)
    return lambda: only("GET", only(INTERFACE, once(refusal)))


def _each_tenth(fault: Behaviour) -> Behaviour:
    """Return a behaviour that shows a fault at each tenth reading, and answers all else rightly."""
    lock = threading.Lock()
    readings = 0

    def behave(turn: Turn) -> None:
        nonlocal readings
        with lock:
            readings += 1
            is_tenth = readings % 10 == 0
        (fault if is_tenth else pass_on)(turn)

    return only("GET", only(INTERFACE, behave))


def _faulty_entry(name: str, does: str, fault: Behaviour) -> Entry:
    return _fair_entry(name, does, lambda: _each_tenth(fault))


def _start_on_ipv6() -> Start | None:
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        return front(lambda: pass_on, host="::1")
    return None


_UNAVAILABLE = {"status": 503, "code": "UNAVAILABLE", "message": "soon"}
_IPV6 = _start_on_ipv6()

ENTRIES: tuple[Entry, ...] = (
    _fair_entry("unchanged", "Answers as the reference does.", lambda: pass_on),
    _fair_entry(
        "further-members",
        "Has further members everywhere.",
        lambda: json_body(_with_further_members),
    ),
    _fair_entry(
        "escapes",
        "Writes each character of a text as an escape, and much white space.",
        lambda: body_bytes(lambda b: _as_escapes(json.loads(b)).encode() if b else b),
    ),
    _fair_entry("chunks", "Answers in chunks of 7 bytes.", lambda: _sends_chunks(7)),
    _fair_entry("gzip", "Answers in gzip.", lambda: reply(_compressed)),
    _fair_entry(
        "capitals",
        "Writes headers in capitals.",
        lambda: reply_bytes(_with_capital_headers, closes=False),
    ),
    _fair_entry(
        "http-1.0",
        "Speaks HTTP/1.0, and ends a body by closing.",
        lambda: reply_bytes(_as_http_1_0),
    ),
    _fair_entry(
        "close",
        "Closes each connection, and says so.",
        lambda: reply_bytes(
            lambda a: a.head(content_length=str(len(a.body)), connection="close") + a.body
        ),
    ),
    _fair_entry(
        "closes-idle",
        "Closes each connection once it is idle, and does not say so.",
        lambda: _closes_silently,
    ),
    _fair_entry(
        "early-hints", "Sends 103 Early Hints before each answer.", lambda: _sends_early_hints
    ),
    _fair_entry(
        "slow", "Takes its time over each request, within timing.request.", lambda: late(0.03)
    ),
    _list_entry("bare-lists", "Lists transactions without anything around.", _bare_list),
    _list_entry("items", "Lists transactions under another name.", lambda b: {"items": b["data"]}),
    _fair_entry(
        "capital-host",
        "Is known by a host name in capitals.",
        lambda: pass_on,
        known_as="LOCALHOST",
    ),
    _fair_entry(
        "throttles-at-once",
        "Throttles each reading once, and asks to wait for 0 seconds.",
        _throttles_once(retry_after="0"),
    ),
    _fair_entry(
        "throttles-by-date",
        "Throttles each reading once, and names a time that has passed.",
        _throttles_once(retry_after="Sun, 06 Nov 1994 08:49:37 GMT"),
    ),
    _faulty_entry("seldom-reset", "Resets each tenth reading.", resets),
    _faulty_entry("seldom-503", "Answers each tenth reading with 503.", status(503, _UNAVAILABLE)),
    *([Entry("fair-ipv6", "Listens on IPv6 alone.", _IPV6, PASSED)] if _IPV6 else []),
)
