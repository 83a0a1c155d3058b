"""Targets with wrong webhooks: floods, forged ones, and some that cannot be read."""

from __future__ import annotations

import http.client
import json
import socket
import threading
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from conformance.selftest.hostile.entry import (
    BROKEN,
    CONFORMANT,
    OPEN,
    UNDECIDED,
    Entry,
    Expected,
    webhook_front,
)
from conformance.selftest.hostile.front import Behaviour, Front, Reply, Turn
from conformance.selftest.hostile.scenarios import REQUIREMENTS
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import RequirementVerdict

_RUNS = "webhook or execution"
_PASSED = Expected(
    (OPEN,),
    {
        "EVT-011": RequirementVerdict.PASSED,
        "QUO-083": RequirementVerdict.PASSED,
        "EVT-251": RequirementVerdict.PASSED,
    },
)
_SAME = Expected((CONFORMANT,), dict.fromkeys(REQUIREMENTS, RequirementVerdict.PASSED))
_FAILED = Expected(
    UNDECIDED, {"EVT-011": RequirementVerdict.FAILED, "QUO-083": RequirementVerdict.PASSED}
)


def _delivery_entry(
    name: str, does: str, change: Callable[[bytes], bytes], expected: Expected, **headers: str
) -> Entry:
    """Return an entry whose target delivers other bodies and headers."""

    def behave(turn: Turn) -> None:
        received = turn.received
        header_values = {key.replace("_", "-"): value for key, value in headers.items()}
        delivery = replace(
            received, body=change(received.body), headers={**received.headers, **header_values}
        )
        with suppress(http.client.HTTPException):
            turn.ask(delivery)
        turn.send(Reply(200, {}, b""))

    return Entry(
        name, does, webhook_front(lambda _: behave), expected, _RUNS, {"timing": {"event": 2.0}}
    )


def _member(name: str, value: Any) -> Callable[[bytes], bytes]:
    return lambda body: json.dumps({**json.loads(body), name: value}).encode()


def _acts_first(action: Callable[[Front, Turn], None]) -> Callable[[Front], Behaviour]:
    """Return what delivers rightly, after ``action`` at the first delivery."""

    def make(front: Front) -> Behaviour:
        acted = threading.Event()

        def behave(turn: Turn) -> None:
            if not acted.is_set():
                acted.set()
                with suppress(OSError, http.client.HTTPException):
                    action(front, turn)
            turn.send(turn.answer())

        return behave

    return make


def _send_bytes(hook: str, content: bytes) -> None:
    """Send bytes to the listener of the suite, and close the connection."""
    parts = urlsplit(hook)
    with closing(socket.create_connection((parts.hostname or "", parts.port or 0), 2)) as sender:
        sender.sendall(content)


def _forges(path: Callable[[str], str]) -> Callable[[Front], Behaviour]:
    """Return what posts garbage to another path, as anybody could, and then delivers rightly."""

    def action(front: Front, turn: Turn) -> None:
        parts = urlsplit(front.hook)
        forged = json.dumps({**json.loads(turn.received.body), "type": "CUSTOMER.KYC_APPROVED"})
        with closing(http.client.HTTPConnection(parts.netloc, timeout=2)) as connection:
            for body in (forged, "{", '{"type": "OUTGOING_PAYMENT.COMPLETED", "data": []}'):
                connection.request("POST", path(parts.path), body)
                connection.getresponse().read()

    return _acts_first(action)


def _flood(front: Front, _turn: Turn) -> None:
    parts = urlsplit(front.hook)
    with closing(http.client.HTTPConnection(parts.netloc, timeout=2)) as connection:
        for number in range(150):
            body = json.dumps({"id": f"{number}", "type": "X.Y", "data": {"note": "x" * 100_000}})
            connection.request("POST", parts.path, body)
            connection.getresponse().read()


def _hold_connections(front: Front, _turn: Turn) -> None:
    parts = urlsplit(front.hook)
    for _ in range(20):
        connection = socket.create_connection((parts.hostname or "", parts.port or 0), 2)
        connection.sendall(b"POST /x HTTP/1.1\r\n")
        # It stays open until the garbage of this process is collected.
        threading.Timer(3.0, connection.close).start()


def _delivers_twice(turn: Turn) -> None:
    turn.answer()
    turn.send(turn.answer())


def _delivers_nothing(turn: Turn) -> None:
    turn.send(Reply(200, {}, b""))


def _send_chunk(chunk: bytes) -> Callable[[Front, Turn], None]:
    def action(front: Front, _turn: Turn) -> None:
        path = urlsplit(front.hook).path.encode()
        head = b"POST " + path + b" HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n"
        _send_bytes(front.hook, head + chunk)

    return action


def _send_head(lines: bytes) -> Callable[[Front, Turn], None]:
    def action(front: Front, _turn: Turn) -> None:
        path = urlsplit(front.hook).path.encode()
        _send_bytes(front.hook, b"POST " + path + b" HTTP/1.1\r\n" + lines)

    return action


def _harmless_entry(name: str, does: str, action: Callable[[Front, Turn], None]) -> Entry:
    """Return an entry whose target does something more than right, without effect."""
    return Entry(name, does, webhook_front(_acts_first(action)), _PASSED, _RUNS)


ENTRIES = (
    Entry(
        "webhooks-never",
        "Delivers nothing.",
        webhook_front(lambda _: _delivers_nothing),
        _FAILED,
        _RUNS,
        {"timing": {"event": 0.3}},
    ),
    _delivery_entry("webhooks-of-null", "Delivers null.", lambda _: b"null", _FAILED),
    _delivery_entry(
        "webhooks-in-latin-1", "Delivers bytes that are no UTF-8.", lambda _: b"\xff\xfe{", _FAILED
    ),
    _delivery_entry(
        "webhooks-of-surrogates",
        "Delivers half surrogates everywhere.",
        lambda _: rb'{"id": "\ud800", "type": "\udfff", "data": {"id": "\ud800"}}',
        _FAILED,
    ),
    _delivery_entry(
        "webhooks-of-lists-as-types", "Delivers a list as the type.", _member("type", [1]), _FAILED
    ),
    _delivery_entry(
        "webhooks-100,000-deep",
        "Delivers 100,000 lists in each other.",
        lambda _: b"[" * 100_000,
        _FAILED,
    ),
    _delivery_entry(
        "webhooks-of-2-mb",
        "Delivers 2 MB.",
        _member("note", "x" * 2_000_000),
        Expected(UNDECIDED, {"EVT-011": Reason.UNREADABLE, "QUO-083": RequirementVerdict.PASSED}),
    ),
    _delivery_entry(
        "webhooks-of-escapes",
        "Delivers escape codes, bidirectional marks and HTML as types.",
        _member("type", "\x1b[31m\u202e<script>alert(1)</script>"),
        _FAILED,
    ),
    _delivery_entry(
        "webhooks-wrongly-signed",
        "Signs with another key.",
        lambda body: body,
        Expected(
            (BROKEN,),
            {"EVT-251": RequirementVerdict.FAILED, "EVT-011": RequirementVerdict.PASSED},
            says=("The webhook came at 20", "x-webhook-signature: MEUCIQDx"),
        ),
        x_webhook_signature="MEUCIQDx",
    ),
    _delivery_entry(
        "webhooks-signed-by-nonsense",
        "Signs with escape codes of 5,000 characters.",
        lambda body: body,
        Expected((BROKEN,), {"EVT-251": RequirementVerdict.FAILED}),
        x_webhook_signature="\x9b" + "=" * 5_000,
    ),
    _delivery_entry(
        "webhooks-of-another-resource",
        "Delivers each event with the data of somebody else.",
        _member("data", {"id": "Transaction:other", "status": "COMPLETED"}),
        _FAILED,
    ),
    Entry(
        "webhooks-twice",
        "Delivers everything twice, which is allowed.",
        webhook_front(lambda _: _delivers_twice),
        _SAME,
    ),
    Entry(
        "webhooks-forged-elsewhere",
        "Is right, while somebody posts forged events to other paths of the listener.",
        webhook_front(_forges(lambda _: "/webhooks")),
        _SAME,
    ),
    Entry(
        "webhooks-forged-beside",
        "Is right, while somebody posts forged events to a path that begins like the right one.",
        webhook_front(_forges(lambda path: path[:-1])),
        _SAME,
    ),
    Entry(
        "webhooks-flood",
        "Delivers 150 unsigned events of 100 kB before the first of its own.",
        webhook_front(_acts_first(_flood)),
        Expected(
            UNDECIDED, {"EVT-011": RequirementVerdict.PASSED, "QUO-083": RequirementVerdict.PASSED}
        ),
        _RUNS,
    ),
    _harmless_entry(
        "webhooks-idle", "Holds 20 connections with half a request each.", _hold_connections
    ),
    _harmless_entry("webhooks-chunk-of-zz", "Delivers chunks of no size.", _send_chunk(b"zz\r\n")),
    _harmless_entry(
        "webhooks-tiny-chunks",
        "Delivers a megabyte in chunks of a byte, without an end.",
        _send_chunk(b"1\r\nx\r\n" * 100_000),
    ),
    _harmless_entry(
        "webhooks-length-of-minus-1",
        "Announces a delivery of -1 bytes.",
        _send_head(b"content-length: -1\r\n\r\n{}"),
    ),
    _harmless_entry(
        "webhooks-of-1,000-headers",
        "Delivers with 1,000 headers.",
        _send_head(b"".join(b"x-%d: \x1b[31m\r\n" % n for n in range(1_000)) + b"\r\n"),
    ),
    _harmless_entry(
        "webhooks-of-no-http",
        "Speaks another protocol to the listener.",
        lambda front, _: _send_bytes(front.hook, b"SSH-2.0-x\r\n\0\xff\r\n\r\n"),
    ),
)
