"""Reading a response whose length and encoding cannot be trusted."""

from __future__ import annotations

import gzip
import json
import tracemalloc
import zlib
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from conformance.exchange.client import RecordingClient
from conformance.selftest import standins
from conformance.selftest.standins import Behaviour, StandIn
from conformance.sut.reading import ResponseTooLarge, ResponseUnreadable, retry_after
from conformance.sut.target import NotTheInterface, Target

Connect = Callable[..., RecordingClient]
Start = Callable[[Behaviour], StandIn]

CONTENT = json.dumps({"id": "Customer:1"}).encode()
MEBIBYTE = 2**20


def raw_deflate(content: bytes) -> bytes:
    """Return ``content`` in deflate without the zlib header, as some servers send it."""
    compressor = zlib.compressobj(wbits=-zlib.MAX_WBITS)
    return compressor.compress(content) + compressor.flush()


def answers_encoded(content: bytes, encoding: str) -> Behaviour:
    """Answer with ``content`` and this ``Content-Encoding``."""
    return standins.answers(200, content, headers={"content-encoding": encoding})


def bomb(layers: int) -> bytes:
    """Return 64 mebibytes of zeros in so many layers of gzip; two layers take 600 bytes."""
    content = bytes(64 * MEBIBYTE)
    for _ in range(layers):
        content = gzip.compress(content)
    return content


class TestEncodings:
    """Which encodings are decoded, and how much of them."""

    @pytest.mark.parametrize(
        ("content", "encoding"),
        [
            (CONTENT, ""),
            (CONTENT, "identity, ,"),
            (gzip.compress(CONTENT), "GZIP"),
            (gzip.compress(CONTENT), "x-gzip"),
            (zlib.compress(CONTENT), "deflate"),
            (raw_deflate(CONTENT), "deflate"),
            (gzip.compress(zlib.compress(CONTENT)), "deflate, identity, gzip"),
        ],
        ids=["none", "no encoding", "capitals", "old name", "deflate", "without frame", "layers"],
    )
    def test_what_was_asked_for_is_decoded(
        self, stand_in: Start, connect: Connect, content: bytes, encoding: str
    ) -> None:
        """Gzip and deflate are decoded, in layers and without the zlib header too."""
        server = stand_in(answers_encoded(content, encoding))

        answer = connect(server.base_url).call("getConfig")

        assert answer.body == {"id": "Customer:1"}
        assert server.received[0].headers["accept-encoding"] == "gzip, deflate"

    @pytest.mark.parametrize(
        ("content", "encoding"),
        [
            (CONTENT, "br"),
            (CONTENT, "gzip"),
            (gzip.compress(CONTENT)[:-9], "gzip"),
            (gzip.compress(CONTENT) + b"more", "gzip"),
            (zlib.compress(CONTENT)[:-1], "deflate"),
            (CONTENT, ", ".join(["gzip"] * 5)),
            (CONTENT, "\u00e9"),
        ],
        ids=["not asked for", "none", "cut short", "more", "deflate cut short", "five", "Latin-1"],
    )
    def test_what_cannot_be_decoded_decides_nothing(
        self, stand_in: Start, connect: Connect, content: bytes, encoding: str
    ) -> None:
        """An unknown, wrong or incomplete encoding raises ResponseUnreadable."""
        client = connect(stand_in(answers_encoded(content, encoding)).base_url)

        with pytest.raises(ResponseUnreadable, match="getConfig: the response could not be read"):
            client.call("getConfig")

    @pytest.mark.parametrize("content", [b"", gzip.compress(b"")], ids=["none", "packed"])
    def test_nothing_may_be_encoded(
        self, stand_in: Start, connect: Connect, content: bytes
    ) -> None:
        """An empty body may have a ``Content-Encoding``."""
        assert (
            connect(stand_in(answers_encoded(content, "gzip")).base_url).call("getConfig").body
            is None
        )

    @pytest.mark.parametrize("layers", [1, 2, 3])
    def test_no_layer_fills_the_memory(
        self, stand_in: Start, connect: Connect, layers: int
    ) -> None:
        """Each layer is bounded while it is decompressed, so that memory stays small."""
        behaviour = answers_encoded(bomb(layers), ", ".join(["gzip"] * layers))
        client = connect(stand_in(behaviour).base_url)
        tracemalloc.start()

        with pytest.raises(ResponseTooLarge, match="larger than 8388608 bytes"):
            client.call("getConfig")

        assert tracemalloc.get_traced_memory()[1] < 40 * MEBIBYTE
        tracemalloc.stop()

    @pytest.mark.parametrize(
        ("encoding", "message"),
        [("gzip, gzip", "the response is larger than 1048576"), ("br", "its Content-Encoding has")],
    )
    def test_the_first_question_is_bounded_too(
        self, stand_in: Start, make_target: Callable[..., Target], encoding: str, message: str
    ) -> None:
        """The request of the start, before the collection, has the same bounds."""
        target = make_target(stand_in(answers_encoded(bomb(2), encoding)).base_url)

        with pytest.raises(NotTheInterface, match=message):
            target.check()


class TestRetryAfter:
    """The seconds that ``Retry-After`` asks for."""

    @pytest.mark.parametrize(
        "value",
        ["", "-1", "+1", "1.5", "²", "\u0661", "soon", "1, 2", "0x1", "Mon, 99 Foo 2026", " "],
    )
    def test_other_forms_count_as_none(self, value: str) -> None:
        """A value without plain ASCII digits or a date of HTTP gives ``None``."""
        assert retry_after(value) is None

    def test_digits_are_seconds(self) -> None:
        """Digits are a number of seconds, infinity for very many digits."""
        assert retry_after("0") == 0
        assert retry_after("120") == 120
        assert retry_after("9" * 5_000) == float("inf")

    @pytest.mark.parametrize(
        "form",
        ["%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y"],
    )
    def test_dates_have_three_forms(self, form: str) -> None:
        """The current form of a date and the two obsolete ones are read."""
        moment = datetime.now(UTC) + timedelta(seconds=90)

        assert 80 < (retry_after(moment.strftime(form)) or 0) <= 91

    def test_a_date_is_compared_with_that_of_the_answer(self) -> None:
        """A date is as far away as the clock of the target says, to the end of its second."""
        seconds = retry_after("Sun, 06 Nov 1994 08:49:40 GMT", "Sun, 06 Nov 1994 08:49:37 GMT")

        assert seconds == 4

    def test_a_date_that_is_now_is_waited_for(self) -> None:
        """A date that names this second gives the rest of the second at least."""
        now = "Sun, 06 Nov 1994 08:49:37 GMT"

        assert retry_after(now, now) == 1

    def test_an_answer_without_a_date_has_the_time_here(self) -> None:
        """Where the answer has no ``Date`` that can be read, the clock here counts."""
        moment = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)

        assert 80 < (retry_after(moment, "yesterday") or 0) <= 91

    def test_what_has_passed_asks_for_nothing(self) -> None:
        """A date that has passed gives 0 seconds, as the target's clock may be slow."""
        moment = datetime.now(UTC) - timedelta(days=1)

        assert retry_after(format_datetime(moment, usegmt=True)) == 0

    @given(st.text())
    def test_any_text_is_read(self, value: str) -> None:
        """Any text gives ``None`` or a number of seconds that is not negative."""
        seconds = retry_after(value)

        assert seconds is None or seconds >= 0
