"""Targets whose HTTP is wrong: framing, status lines, headers, encodings, redirects."""

from __future__ import annotations

import gzip
from collections.abc import Callable

from conformance.selftest.hostile.entry import BROKEN, OPEN, UNDECIDED, Entry, Expected, front
from conformance.selftest.hostile.front import (
    EXECUTE,
    READ_CUSTOMER,
    Behaviour,
    Reply,
    Turn,
    content,
    hangs,
    only,
    reply,
    reply_bytes,
    sends,
    status,
)
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import RequirementVerdict

_LOST = Expected((OPEN,), {"CUS-005": Reason.TARGET_LOST, "CUS-006": Reason.TARGET_LOST})
_UNREADABLE = Expected(
    UNDECIDED, {"CUS-005": (Reason.TARGET_LOST, Reason.PRECONDITION, RequirementVerdict.FAILED)}
)
"""The answer may be read in several ways, but never as the right one."""


def _reading_entry(
    name: str, does: str, behaviour: Callable[[], Behaviour], expected: Expected
) -> Entry:
    """Return an entry whose target shows ``behaviour`` where a customer is read."""
    start = front(lambda: only(READ_CUSTOMER, behaviour()))
    return Entry(name, does, start, expected, "customer", {"timing": {"request": 1.0}})


def _status_line(line: bytes) -> Callable[[], Behaviour]:
    """Return a behaviour with another status line and an empty object."""
    rest = b"\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
    return lambda: sends(line + rest)


def _extra_lines(extra: bytes) -> Callable[[], Behaviour]:
    """Return a behaviour that answers rightly, with more lines after the headers."""

    def frame(answer: Reply) -> bytes:
        head = answer.head(content_length=str(len(answer.body)))
        return head[:-2] + extra + b"\r\n" + answer.body

    return lambda: reply_bytes(frame)


def _wrong_length(change: int) -> Callable[[], Behaviour]:
    """Return a behaviour that sends the right body with a wrong length, and does not close."""

    def frame(answer: Reply) -> bytes:
        return answer.head(content_length=str(len(answer.body) + change)) + answer.body

    return lambda: reply_bytes(frame, closes=False)


def _wrong_chunk(lie: bytes) -> Callable[[], Behaviour]:
    """Return a behaviour that answers with one chunk whose size is written as ``lie``."""

    def frame(answer: Reply) -> bytes:
        return answer.head(transfer_encoding="chunked") + lie + b"\r\n" + answer.body

    return lambda: reply_bytes(frame)


def _cuts_gzip(turn: Turn) -> None:
    answer = turn.answer()
    zipped = gzip.compress(answer.body)[:-12]
    turn.send(Reply(answer.status, answer.headers, zipped).with_headers(content_encoding="gzip"))


def _sends_two_answers(turn: Turn) -> None:
    answer = turn.answer()
    second = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
    turn.raw(answer.head(content_length=str(len(answer.body))) + answer.body + second)


def _falls_silent(turn: Turn) -> None:
    turn.raw(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
    hangs(turn)


def _repeats_the_first() -> Behaviour:
    """Return a behaviour that answers each reading with the answer to the first one."""
    answers: list[Reply] = []

    def behave(turn: Turn) -> None:
        answers.append(turn.answer())
        turn.send(answers[0])

    return behave


ENTRIES = (
    _reading_entry("length-too-long", "Announces more than it sends.", _wrong_length(40), _LOST),
    _reading_entry(
        "length-too-short",
        "Announces less than it sends, so that the JSON is cut.",
        _wrong_length(-20),
        Expected((BROKEN,), {"CNV-002": RequirementVerdict.FAILED}),
    ),
    _reading_entry(
        "two-lengths",
        "Announces two different lengths.",
        _extra_lines(b"content-length: 3\r\n"),
        _LOST,
    ),
    _reading_entry("no-chunk-size", "Sends a chunk of size zz.", _wrong_chunk(b"zz"), _LOST),
    _reading_entry(
        "no-status", "Sends a status line without a number.", _status_line(b"HTTP/1.1 abc"), _LOST
    ),
    _reading_entry(
        "status-999", "Answers with status 999.", _status_line(b"HTTP/1.1 999 High"), _UNREADABLE
    ),
    _reading_entry(
        "http-0.9", "Sends the body alone, as in HTTP/0.9.", lambda: sends(b"{}\n"), _LOST
    ),
    _reading_entry(
        "no-colon", "Sends a header without a colon.", _extra_lines(b"no colon here\r\n"), _LOST
    ),
    _reading_entry(
        "header-of-100-kb",
        "Sends a header of 200 kB.",
        _extra_lines(b"x-long: " + b"x" * 200_000 + b"\r\n"),
        Expected((*UNDECIDED, 0)),
    ),
    _reading_entry(
        "ten-thousand-headers",
        "Sends 10,000 headers.",
        _extra_lines(b"".join(b"x-%d: y\r\n" % n for n in range(10_000))),
        Expected((*UNDECIDED, 0)),
    ),
    _reading_entry(
        "no-gzip",
        "Says gzip and sends plain JSON.",
        lambda: reply(lambda answer: answer.with_headers(content_encoding="gzip")),
        _UNREADABLE,
    ),
    _reading_entry(
        "gzip-cut-short", "Sends gzip without its end.", lambda: _cuts_gzip, _UNREADABLE
    ),
    _reading_entry(
        "unknown-encoding",
        "Says br, which nobody asked for.",
        lambda: content(b"\x0b\x02\x80{}\x03", content_encoding="br"),
        _UNREADABLE,
    ),
    _reading_entry(
        "another-charset",
        "Sends UTF-16 and says so.",
        lambda: reply(
            lambda answer: Reply(
                answer.status, answer.headers, answer.body.decode().encode("utf-16")
            ).with_headers(content_type="application/json; charset=utf-16")
        ),
        Expected((*UNDECIDED, 0)),
    ),
    _reading_entry(
        "no-media-type",
        "Sends JSON without a media type.",
        lambda: sends(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"),
        Expected((BROKEN,), {"CNV-002": RequirementVerdict.FAILED}),
    ),
    _reading_entry(
        "two-answers",
        "Sends a second answer that nobody asked for.",
        lambda: _sends_two_answers,
        Expected((OPEN, BROKEN)),
    ),
    _reading_entry(
        "swapped-answers",
        "Answers a request with the answer to another one.",
        _repeats_the_first,
        Expected(
            (BROKEN,), {"CUS-005": RequirementVerdict.PASSED, "CUS-006": RequirementVerdict.FAILED}
        ),
    ),
    _reading_entry(
        "redirect-to-itself",
        "Redirects a reading to itself.",
        lambda: lambda turn: status(302, {}, location=turn.received.path)(turn),
        Expected((BROKEN,), {"CNV-001": RequirementVerdict.FAILED}, at_most=12),
    ),
    _reading_entry(
        "redirect-elsewhere",
        "Redirects a reading to another path, to see whether credentials follow.",
        lambda: status(307, {}, location="/elsewhere"),
        Expected((BROKEN,), {"CNV-001": RequirementVerdict.FAILED}, never_received=("/elsewhere",)),
    ),
    Entry(
        "redirect-of-a-payment",
        "Redirects the execution of a quote to a second execution.",
        front(
            lambda: only(EXECUTE, lambda t: status(307, {}, location=t.received.path + "?again")(t))
        ),
        Expected((BROKEN,), {"CNV-001": RequirementVerdict.FAILED}, never_received=(r"\?again",)),
        "execution",
    ),
    Entry(
        "silent-after-the-head",
        "Sends the head of an answer, then nothing.",
        front(
            lambda: only(
                READ_CUSTOMER,
                _falls_silent,
            )
        ),
        _LOST,
        "customer",
        {"timing": {"request": 0.5}},
    ),
)
