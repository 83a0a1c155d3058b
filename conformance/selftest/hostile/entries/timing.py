"""Targets that are slow, ask to wait, or are gone."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any

from conformance.selftest.hostile.entry import (
    BROKEN,
    OPEN,
    UNDECIDED,
    USAGE,
    Entry,
    Expected,
    front,
)
from conformance.selftest.hostile.front import (
    CONFIG,
    EXECUTE,
    INTERFACE,
    READ_CUSTOMER,
    Behaviour,
    Front,
    Turn,
    closes,
    content,
    goes_on,
    hangs,
    late,
    once,
    only,
    pass_on,
    resets,
    sends,
    status,
)
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import RequirementVerdict

_LOST = Expected((OPEN,), {"CUS-005": Reason.TARGET_LOST}, seconds=5)
_SOON = {"timing": {"request": 0.5}}
_GONE = Expected(
    (OPEN,),
    {
        "QUO-083": (Reason.TARGET_LOST, Reason.LOST),
        "LIM-002": (Reason.TARGET_LOST, Reason.LOST),
        "TRX-070": (Reason.TARGET_LOST, Reason.LOST),
        # What was never exercised is not decided.
        "ACC-014": tuple(Reason),
    },
)
_HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
_FUTURE = format_datetime(datetime.now(UTC) + timedelta(days=3650), usegmt=True)


def _reading_entry(
    name: str, does: str, behaviour: Callable[[], Behaviour], **profile: Any
) -> Entry:
    """Return an entry whose target is lost where a customer is read."""
    start = front(lambda: only(READ_CUSTOMER, behaviour()))
    return Entry(name, does, start, _LOST, "customer", profile or _SOON)


def _gone_entry(name: str, does: str, behaviour: Callable[[], Behaviour], **profile: Any) -> Entry:
    """Return an entry whose target is lost after the request of the start."""
    start = front(lambda: only(INTERFACE, behaviour()))
    return Entry(name, does, start, _GONE, profile=profile or _SOON)


def _pace_entry(name: str, does: str, expected: Expected, **headers: str) -> Entry:
    """Return an entry whose target answers each reading of a customer with 429."""
    refusal = status(429, {"status": 429, "code": "RATE_LIMITED", "message": "slowly"}, **headers)
    start = front(lambda: only(READ_CUSTOMER, refusal))
    return Entry(name, does, start, expected, "customer")


_THROTTLED = Expected(UNDECIDED, seconds=6)


def _starts_and_leaves(number: int) -> Callable[[str, Path], Front]:
    """Return what starts a target that closes its port after ``number`` answers."""

    def start(upstream: str, _: Path) -> Front:
        def behave(turn: Turn) -> None:
            if turn.number > number:
                server.stop_listening()
                turn.closes = True
                return
            pass_on(turn)

        server = Front(behave, upstream)
        return server

    return start


def _start_nobody(_upstream: str, _: Path) -> Front:
    """Take a port on which nobody listens for as long as the run takes."""
    server = Front(pass_on, _upstream)
    server.stop_listening()
    return server


def _from_the_second(behaviour: Behaviour) -> Behaviour:
    """Return a behaviour that is shown from the second request of a path on."""
    return once(pass_on, behaviour)


ENTRIES = (
    _reading_entry("hangs", "Never answers a reading.", lambda: hangs),
    _reading_entry(
        "drips-a-body",
        "Sends a body a byte at a time, each before any time-out.",
        lambda: goes_on(_HEAD + b"content-length: 99999\r\n\r\n", b" ", 0.05),
    ),
    _reading_entry(
        "drips-gzip",
        "Sends gzip that never brings a byte.",
        lambda: goes_on(
            _HEAD + b"content-encoding: gzip\r\n\r\n\x1f\x8b\x08\0\0\0\0\0\0\x03",
            b"\0\0\0\xff\xff",
            0.02,
        ),
    ),
    _reading_entry(
        "endless-interim",
        "Sends 103 Early Hints without end.",
        lambda: goes_on(b"", b"HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n", 0.001),
    ),
    _reading_entry("too-late", "Answers rightly, after timing.request.", lambda: late(1.2)),
    _reading_entry(
        "dies-in-the-body",
        "Dies in the middle of a body.",
        lambda: sends(_HEAD + b'content-length: 100\r\n\r\n{"id": '),
    ),
    Entry(
        "closes-a-payment",
        "Closes each execution without an answer, which is not sent again.",
        front(lambda: only(EXECUTE, closes)),
        Expected((OPEN,), {"QUO-083": Reason.TARGET_LOST}),
        "execution",
    ),
    _gone_entry(
        "resets-everything", "Resets each request after the question at the start.", lambda: resets
    ),
    Entry(
        "hangs-for-ever",
        "Never answers again after the question at the start; the run ends soon and says so.",
        front(lambda: only(INTERFACE, hangs)),
        Expected((OPEN,), {**_GONE.verdicts}, says=("timing.outage",), seconds=10),
        profile={"timing": {"request": 0.4, "outage": 1.0}},
    ),
    Entry(
        "refuses-after-20",
        "Refuses connections once it has answered 20 requests.",
        _starts_and_leaves(20),
        Expected(
            (OPEN,), {"CUS-005": RequirementVerdict.PASSED, "TRX-070": _GONE.verdicts["TRX-070"]}
        ),
        profile=_SOON,
    ),
    Entry(
        "nobody",
        "Is not there: nothing listens on its port.",
        _start_nobody,
        Expected((USAGE,), says=("connection refused",), at_most=0),
        "configuration",
    ),
    Entry(
        "always-500",
        "Answers everything with 500 after the question at the start.",
        front(
            lambda: only(
                INTERFACE, status(500, {"status": 500, "code": "INTERNAL_ERROR", "message": "no"})
            )
        ),
        Expected(UNDECIDED, {"QUO-083": Reason.PRECONDITION}),
    ),
    Entry(
        "always-503-html",
        "Shows a page of a gateway with 503.",
        front(
            lambda: only(
                INTERFACE,
                sends(
                    b"HTTP/1.1 503 Unavailable\r\ncontent-type: text/html\r\n"
                    b"content-length: 6\r\n\r\n<html>"
                ),
            )
        ),
        Expected(UNDECIDED, {"QUO-083": (Reason.PRECONDITION, Reason.TARGET_LOST, Reason.LOST)}),
    ),
    Entry(
        "always-429",
        "Answers everything with 429 and asks to wait a second; the run ends soon and says so.",
        front(
            lambda: only(
                INTERFACE,
                status(
                    429, {"status": 429, "code": "RATE_LIMITED", "message": ""}, retry_after="1"
                ),
            )
        ),
        Expected((OPEN,), says=("timing.outage",), seconds=15, at_most=40),
        profile={"timing": {"outage": 2.0}},
    ),
    _pace_entry("429-without-a-time", "Throttles and does not say for how long.", _THROTTLED),
    _pace_entry("429-superscript", "Asks to wait for ² seconds.", _THROTTLED, retry_after="\xb2"),
    _pace_entry(
        "429-far-date", "Asks to wait for ten years, as a date.", _THROTTLED, retry_after=_FUTURE
    ),
    Entry(
        "config-changes",
        "Is another service from the second question on.",
        front(lambda: only(CONFIG, _from_the_second(content(b"<html>", content_type="text/html")))),
        Expected((BROKEN, OPEN), {"CFG-001": (Reason.PRECONDITION, RequirementVerdict.FAILED)}),
        "configuration",
    ),
)
