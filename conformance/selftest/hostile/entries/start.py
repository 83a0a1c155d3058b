"""Targets that fail at the request of the start, ``GET /config``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.selftest.hostile.entries.size import NESTED_BOMB, bomb
from conformance.selftest.hostile.entry import BROKEN, USAGE, Entry, Expected, front
from conformance.selftest.hostile.front import (
    CONFIG,
    Behaviour,
    closes,
    content,
    goes_on,
    hangs,
    json_body,
    only,
    resets,
    sends,
    status,
)
from conformance.selftest.hostile.runs import CLIENT_SECRET

_OK = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


def _start_entry(
    name: str,
    does: str,
    behaviour: Callable[[], Behaviour],
    *says: str,
    **bounds: Any,
) -> Entry:
    """Return an entry whose target fails at the start, so that no POST is sent."""
    expected = Expected((USAGE,), says=says, never_received=("^POST",), **bounds)
    return Entry(name, does, front(lambda: only(CONFIG, behaviour())), expected, "configuration")


ENTRIES = (
    _start_entry("start-closes", "Closes each connection at once.", lambda: closes, "cannot reach"),
    _start_entry("start-resets", "Resets each connection.", lambda: resets, "cannot reach"),
    _start_entry(
        "start-ssh",
        "Speaks another protocol.",
        lambda: sends(b"SSH-2.0-OpenSSH_9.6\r\n"),
        "cannot reach",
    ),
    _start_entry(
        "start-welcome",
        "Shows the page of a web server.",
        lambda: content(b"<!doctype html><title>Welcome</title>", content_type="text/html"),
        "/config answered 200 with text/html",
    ),
    _start_entry(
        "start-404",
        "Knows no such path.",
        lambda: status(404, {"code": "NOT_FOUND", "message": "none"}),
        "answered 404",
    ),
    _start_entry(
        "start-401",
        "Refuses the credentials.",
        lambda: status(401, {"code": "UNAUTHORIZED", "message": "no"}),
        "PAYMENTS_API_TOKEN_ID",
        "PAYMENTS_API_CLIENT_SECRET",
    ),
    _start_entry(
        "start-500",
        "Answers GET /config with 500.",
        lambda: status(500, {"code": "INTERNAL", "message": "oops"}),
        "answered 500",
    ),
    _start_entry(
        "start-429",
        "Answers GET /config with 429 without end.",
        lambda: status(429, {"code": "RATE_LIMITED", "message": "slowly"}),
        "answered 429",
    ),
    _start_entry(
        "start-redirect",
        "Leads to another host.",
        lambda: status(302, {}, location="https://elsewhere.invalid/2025-10-13/config"),
        "redirects to https://elsewhere.invalid",
    ),
    _start_entry(
        "start-redirect-to-itself",
        "Leads to itself for ever.",
        lambda: status(302, {}, location="/2025-10-13/config"),
        "redirect",
        at_most=2,
    ),
    _start_entry(
        "start-redirect-with-escapes",
        "Leads to a Location of escape codes that holds the client secret.",
        lambda: sends(
            b"HTTP/1.1 302 Found\r\nlocation: https://x.invalid/\x1b]0;owned\x07\x1b[31m"
            + CLIENT_SECRET.encode()
            + b"\r\ncontent-length: 0\r\n\r\n"
        ),
        "/2025-10-13",
    ),
    _start_entry(
        "start-content-type-with-escapes",
        "Names a media type of C1 codes that holds the client secret.",
        lambda: sends(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/\x9b31m"
            + CLIENT_SECRET.encode()
            + b"\r\ncontent-length: 2\r\n\r\n{}"
        ),
        "/2025-10-13",
    ),
    _start_entry(
        "start-header-with-the-secret",
        "Sends a line that is no header and holds the client secret.",
        lambda: sends(_OK + CLIENT_SECRET.encode() + b"\x1b[31m\r\n\r\n{}"),
        "/2025-10-13",
    ),
    _start_entry("start-hangs", "Never answers.", lambda: hangs, "within 4 seconds"),
    _start_entry(
        "start-drips-headers",
        "Sends a header a byte at a time, without end.",
        lambda: goes_on(b"HTTP/1.1 200 OK\r\nx-long: ", b"x", 0.05),
        "cannot reach",
    ),
    _start_entry(
        "start-endless-interim",
        "Sends 100 Continue without end.",
        lambda: goes_on(b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.001),
        "cannot reach",
    ),
    _start_entry(
        "start-floods",
        "Sends a body without end.",
        lambda: goes_on(_OK + b"\r\n", b" " * 65536),
        "/2025-10-13",
    ),
    _start_entry(
        "start-bomb",
        "Sends 512 MiB in half a MiB of gzip.",
        lambda: content(bomb(), content_encoding="gzip"),
        "/2025-10-13",
    ),
    _start_entry(
        "start-nested-bomb",
        "Sends 512 MiB in some KiB of gzip in gzip.",
        lambda: content(NESTED_BOMB, content_encoding="gzip, gzip"),
        "/2025-10-13",
    ),
    _start_entry(
        "start-cut-short",
        "Dies in the middle of the body.",
        lambda: sends(_OK + b'content-length: 100\r\n\r\n{"supportedCurr'),
        "/2025-10-13",
    ),
    _start_entry(
        "start-deep",
        "Answers with 100,000 lists in each other.",
        lambda: content(b"[" * 100_000 + b"]" * 100_000),
        "/2025-10-13",
    ),
    Entry(
        "start-null",
        "Answers with null in the place of the configuration.",
        front(lambda: only(CONFIG, json_body(lambda _: None))),
        Expected((BROKEN, USAGE)),
        "configuration",
    ),
)
