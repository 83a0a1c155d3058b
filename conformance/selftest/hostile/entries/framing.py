"""HTTP that is not right: framing, status lines, headers, encodings, redirects."""

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
    framed,
    hangs,
    only,
    reply,
    sends,
    status,
)
from conformance.verdict.decisions import Reason
from conformance.verdict.plan import RequirementVerdict

_LOST = Expected((OPEN,), {"CUS-005": Reason.TARGET_LOST, "CUS-006": Reason.TARGET_LOST})
_UNREAD = Expected(
    UNDECIDED, {"CUS-005": (Reason.TARGET_LOST, Reason.PRECONDITION, RequirementVerdict.FAILED)}
)
"""What came may be read as one thing or another, but never as the right answer."""


def _read(name: str, does: str, behaviour: Callable[[], Behaviour], expected: Expected) -> Entry:
    """Return an entry whose target spoils the reading of a customer."""
    start = front(lambda: only(READ_CUSTOMER, behaviour()))
    return Entry(name, does, start, expected, "customer", {"timing": {"request": 1.0}})


def _line(line: bytes) -> Callable[[], Behaviour]:
    """Answer with another status line and an empty object."""
    rest = b"\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
    return lambda: sends(line + rest)


def _lines(extra: bytes) -> Callable[[], Behaviour]:
    """Answer rightly, with further lines after the headers."""

    def frame(answer: Reply) -> bytes:
        head = answer.head(content_length=str(len(answer.body)))
        return head[:-2] + extra + b"\r\n" + answer.body

    return lambda: framed(frame)


def _length(change: int) -> Callable[[], Behaviour]:
    """Answer with the right body and a wrong length, on a connection that stays."""

    def frame(answer: Reply) -> bytes:
        return answer.head(content_length=str(len(answer.body) + change)) + answer.body

    return lambda: framed(frame, closes=False)


def _chunks(lie: bytes) -> Callable[[], Behaviour]:
    """Answer with one chunk of a size that is ``lie``."""

    def frame(answer: Reply) -> bytes:
        return answer.head(transfer_encoding="chunked") + lie + b"\r\n" + answer.body

    return lambda: framed(frame)


def _cut(turn: Turn) -> None:
    answer = turn.answer()
    packed = gzip.compress(answer.body)[:-12]
    turn.send(Reply(answer.status, answer.headers, packed).with_headers(content_encoding="gzip"))


def _two_answers(turn: Turn) -> None:
    answer = turn.answer()
    split = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
    turn.raw(answer.head(content_length=str(len(answer.body))) + answer.body + split)


def _falls_silent(turn: Turn) -> None:
    turn.raw(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n")
    hangs(turn)


def _swapped() -> Behaviour:
    """Answer the second reading with what was answered to the first."""
    kept: list[Reply] = []

    def behave(turn: Turn) -> None:
        kept.append(turn.answer())
        turn.send(kept[0])

    return behave


ENTRIES = (
    _read("length-too-long", "Announces more than it sends.", _length(40), _LOST),
    _read(
        "length-too-short",
        "Announces less than it sends, so that the JSON is cut.",
        _length(-20),
        Expected((BROKEN,), {"CNV-002": RequirementVerdict.FAILED}),
    ),
    _read(
        "two-lengths",
        "Announces two different lengths.",
        _lines(b"content-length: 3\r\n"),
        _LOST,
    ),
    _read("no-chunk-size", "Sends a chunk of size zz.", _chunks(b"zz"), _LOST),
    _read("no-status", "Sends a status line without a number.", _line(b"HTTP/1.1 abc"), _LOST),
    _read("status-999", "Answers with status 999.", _line(b"HTTP/1.1 999 High"), _UNREAD),
    _read("http-0.9", "Sends the body alone, as in HTTP/0.9.", lambda: sends(b"{}\n"), _LOST),
    _read("no-colon", "Sends a header without a colon.", _lines(b"no colon here\r\n"), _LOST),
    _read(
        "header-of-100-kb",
        "Sends a header of 200 kB.",
        _lines(b"x-long: " + b"x" * 200_000 + b"\r\n"),
        Expected((*UNDECIDED, 0)),
    ),
    _read(
        "ten-thousand-headers",
        "Sends 10,000 headers.",
        _lines(b"".join(b"x-%d: y\r\n" % n for n in range(10_000))),
        Expected((*UNDECIDED, 0)),
    ),
    _read(
        "no-gzip",
        "Says gzip and sends plain JSON.",
        lambda: reply(lambda answer: answer.with_headers(content_encoding="gzip")),
        _UNREAD,
    ),
    _read("gzip-cut-short", "Sends gzip without its end.", lambda: _cut, _UNREAD),
    _read(
        "unknown-encoding",
        "Says br, which nobody asked for.",
        lambda: content(b"\x0b\x02\x80{}\x03", content_encoding="br"),
        _UNREAD,
    ),
    _read(
        "another-charset",
        "Sends UTF-16 and says so.",
        lambda: reply(
            lambda answer: Reply(
                answer.status, answer.headers, answer.body.decode().encode("utf-16")
            ).with_headers(content_type="application/json; charset=utf-16")
        ),
        Expected((*UNDECIDED, 0)),
    ),
    _read(
        "no-media-type",
        "Sends JSON without a media type.",
        lambda: sends(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"),
        Expected((BROKEN,), {"CNV-002": RequirementVerdict.FAILED}),
    ),
    _read(
        "two-answers",
        "Sends a second answer that nobody asked for.",
        lambda: _two_answers,
        Expected((OPEN, BROKEN)),
    ),
    _read(
        "swapped-answers",
        "Answers a request with the answer to another one.",
        _swapped,
        Expected(
            (BROKEN,), {"CUS-005": RequirementVerdict.PASSED, "CUS-006": RequirementVerdict.FAILED}
        ),
    ),
    _read(
        "redirect-to-itself",
        "Redirects a reading to itself.",
        lambda: lambda turn: status(302, {}, location=turn.received.path)(turn),
        Expected((BROKEN,), {"CNV-001": RequirementVerdict.FAILED}, at_most=12),
    ),
    _read(
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
