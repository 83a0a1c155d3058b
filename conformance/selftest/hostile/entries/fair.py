"""Strange but honest targets: judged exactly as the reference is."""

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
    framed,
    json_body,
    late,
    once,
    only,
    pass_on,
    reply,
    resets,
    spelled,
    status,
)
from conformance.selftest.hostile.scenarios import REQUIREMENTS
from conformance.verdict.plan import RequirementVerdict

PASSED = Expected((CONFORMANT,), dict.fromkeys(REQUIREMENTS, RequirementVerdict.PASSED))
"""As the reference."""


def _fair(name: str, does: str, behaviour: Callable[[], Behaviour], **options: Any) -> Entry:
    return Entry(f"fair-{name}", does, front(behaviour, **options), PASSED)


def _chunked(size: int, trailers: bytes = b"", extension: bytes = b"") -> Behaviour:
    """Answer in chunks of some bytes."""

    def frame(answer: Reply) -> bytes:
        if not answer.body:
            return answer.head(content_length="0")
        body = answer.body
        parts = [body[at : at + size] for at in range(0, len(body), size)]
        sent = b"".join(b"%x%s\r\n%s\r\n" % (len(part), extension, part) for part in parts)
        return answer.head(transfer_encoding="chunked") + sent + b"0\r\n" + trailers + b"\r\n"

    return framed(frame, closes=False)


def _packed(answer: Reply) -> Reply:
    if not answer.body:
        return answer
    packed = replace(answer, body=gzip.compress(answer.body, mtime=0))
    return packed.with_headers(content_encoding="gzip", vary="Accept-Encoding")


def _spelled(value: Any) -> str:
    """Return JSON with each character of a text as an escape, and much white space."""
    if isinstance(value, str):
        return '"' + "".join(_escaped(character) for character in value) + '"'
    if isinstance(value, dict):
        members = (f"{_spelled(name)}\r\n :\t{_spelled(one)}" for name, one in value.items())
        return "{ " + " ,\n".join(members) + " }"
    if isinstance(value, list):
        return "[\n" + " , ".join(map(_spelled, value)) + "\t]"
    return json.dumps(value)


def _escaped(character: str) -> str:
    units = character.encode("utf-16-be")
    return "".join(f"\\u{units[at : at + 2].hex().upper()}" for at in range(0, len(units), 2))


def _further(value: Any) -> Any:
    """Return a value with a further member in each object."""
    if isinstance(value, dict):
        return {"_links": None, **{name: _further(one) for name, one in value.items()}}
    return [_further(one) for one in value] if isinstance(value, list) else value


def _reversed(value: Any) -> Any:
    """Return a value with the members of each object in the other order."""
    if isinstance(value, dict):
        return {name: _reversed(one) for name, one in reversed(value.items())}
    return [_reversed(one) for one in value] if isinstance(value, list) else value


def _older(answer: Reply) -> bytes:
    """Return an answer of HTTP/1.0, whose body ends with the connection."""
    return answer.head().replace(b"HTTP/1.1", b"HTTP/1.0", 1) + answer.body


def _interim(turn: Turn) -> None:
    turn.raw(b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n")
    pass_on(turn)


def _closes_silently(turn: Turn) -> None:
    pass_on(turn)
    turn.closes = True


def _capitals(answer: Reply) -> bytes:
    head = answer.head(content_length=str(len(answer.body)), connection="Keep-Alive")
    lines = [
        re.sub(rb"^[\w-]+:", lambda found: found[0].upper(), line)
        for line in head.split(b"\r\n")[1:]
    ]
    return b"\r\n".join([head.split(b"\r\n")[0], *lines]) + answer.body


def _bare(body: Any) -> Any:
    return body["data"]


def _lists(name: str, does: str, change: Callable[[Any], Any]) -> Entry:
    """Return an entry whose target lists transactions in another way."""
    start = front(lambda: only(TRANSACTIONS, json_body(change)))
    expected = Expected(
        (OPEN,), {"TRX-070": RequirementVerdict.PASSED, "CNV-003": RequirementVerdict.PASSED}
    )
    return Entry(f"fair-{name}", does, start, expected, "transactions")


def _throttles(**headers: str) -> Callable[[], Behaviour]:
    """Answer each path once with 429, then rightly."""
    refusal = status(429, {"status": 429, "code": "RATE_LIMITED", "message": "slowly"}, **headers)
    return lambda: only("GET", only(INTERFACE, once(refusal)))


def _seldom(fault: Behaviour) -> Behaviour:
    """Do wrong by each tenth reading, and answer all else rightly."""
    lock = threading.Lock()
    readings = 0

    def behave(turn: Turn) -> None:
        nonlocal readings
        with lock:
            readings += 1
            wrong = readings % 10 == 0
        (fault if wrong else pass_on)(turn)

    return only("GET", only(INTERFACE, behave))


def _faulty(name: str, does: str, fault: Behaviour) -> Entry:
    return _fair(name, does, lambda: _seldom(fault))


def _six() -> Start | None:
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET6) as probe:
        probe.bind(("::1", 0))
        return front(lambda: pass_on, host="::1")
    return None


_UNAVAILABLE = {"status": 503, "code": "UNAVAILABLE", "message": "soon"}
_IPV6 = _six()

ENTRIES: tuple[Entry, ...] = (
    _fair("unchanged", "Answers as the reference does.", lambda: pass_on),
    _fair("further-members", "Has further members everywhere.", lambda: json_body(_further)),
    _fair(
        "escapes",
        "Writes each character of a text as an escape, and much white space.",
        lambda: spelled(lambda b: _spelled(json.loads(b)).encode() if b else b),
    ),
    _fair("chunks", "Answers in chunks of 7 bytes.", lambda: _chunked(7)),
    _fair("gzip", "Answers in gzip.", lambda: reply(_packed)),
    _fair("capitals", "Writes headers in capitals.", lambda: framed(_capitals, closes=False)),
    _fair("http-1.0", "Speaks HTTP/1.0, and ends a body by closing.", lambda: framed(_older)),
    _fair(
        "close",
        "Closes each connection, and says so.",
        lambda: framed(
            lambda a: a.head(content_length=str(len(a.body)), connection="close") + a.body
        ),
    ),
    _fair(
        "closes-idle",
        "Closes each connection once it is idle, and does not say so.",
        lambda: _closes_silently,
    ),
    _fair("early-hints", "Sends 103 Early Hints before each answer.", lambda: _interim),
    _fair("slow", "Takes its time over each request, within timing.request.", lambda: late(0.03)),
    _lists("bare-lists", "Lists transactions without anything around.", _bare),
    _lists("items", "Lists transactions under another name.", lambda b: {"items": b["data"]}),
    _fair(
        "capital-host",
        "Is known by a host name in capitals.",
        lambda: pass_on,
        known_as="LOCALHOST",
    ),
    _fair(
        "throttles-at-once",
        "Throttles each reading once, and asks to wait for 0 seconds.",
        _throttles(retry_after="0"),
    ),
    _fair(
        "throttles-by-date",
        "Throttles each reading once, and names a time that has passed.",
        _throttles(retry_after="Sun, 06 Nov 1994 08:49:37 GMT"),
    ),
    _faulty("seldom-reset", "Resets each tenth reading.", resets),
    _faulty("seldom-503", "Answers each tenth reading with 503.", status(503, _UNAVAILABLE)),
    *([Entry("fair-ipv6", "Listens on IPv6 alone.", _IPV6, PASSED)] if _IPV6 else []),
)
