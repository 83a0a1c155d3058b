"""Addresses: a value of a target stays in its place of a URL, and origins are compared."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.exchange.client import RecordingClient
from conformance.selftest import standins
from conformance.selftest.standins import Behaviour, StandIn
from conformance.text.addresses import (
    MAX_VALUE_BYTES,
    as_text,
    fill,
    origin,
    same_origin,
    segment,
)
from conformance.verdict.decisions import Unusable

Start = Callable[[Behaviour], StandIn]

sends_requests = settings(
    max_examples=60,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
utf_8_text = st.text(st.characters(codec="utf-8"), max_size=40) | st.sampled_from(
    [
        "a/b",
        "a?b",
        "a#b",
        "%2e%2e",
        "../x",
        "a;b",
        "a\\b",
        "a b",
        "+",
        "&x=1",
        "{b}",
        "\0",
        "\r\nx: y",
    ]
)
segments = utf_8_text.filter(lambda text: text not in ("", ".", ".."))

NO_TEXTS = [
    pytest.param(None, id="null"),
    pytest.param(True, id="true"),
    pytest.param([], id="list"),
    pytest.param({"a": 1}, id="object"),
    pytest.param(math.nan, id="nan"),
    pytest.param(math.inf, id="infinity"),
    pytest.param(10**5000, id="long number"),
    pytest.param("\ud800", id="half a character"),
    pytest.param("x" * (MAX_VALUE_BYTES + 1), id="long text"),
    pytest.param("x" * 10_000_000, id="very long text"),
]


@pytest.fixture
def server(stand_in: Start) -> StandIn:
    """Start a target that accepts every request."""
    return stand_in(standins.answers(200, {}))


@pytest.fixture
def client(server: StandIn, connect: Callable[..., RecordingClient]) -> RecordingClient:
    """Return the client of the target."""
    return connect(server.base_url)


class TestFill:
    """``fill`` writes a value as one segment of a path, or as one value of a query."""

    @sends_requests
    @given(first=segments, second=segments, third=utf_8_text)
    def test_a_server_sees_the_values_and_nothing_else(
        self,
        server: StandIn,
        client: RecordingClient,
        first: str,
        second: str,
        third: str,
    ) -> None:
        """Any text arrives as it is, and the path has the segments of the template."""
        values = {"a": first, "b": second, "c": third}

        client.trigger(
            "POST", fill(f"{server.origin}/x/{{a}}/y/p-{{b}}?q={{c}}&r={{a}}", values), {}
        )

        path, _, query = server.received[-1].path.partition("?")
        assert [unquote(part) for part in path.split("/")] == ["", "x", first, "y", f"p-{second}"]
        assert parse_qsl(query, keep_blank_values=True) == [("q", third), ("r", first)]

    @pytest.mark.parametrize("value", ["", ".", ".."])
    def test_a_segment_that_leads_elsewhere_is_refused(self, value: str) -> None:
        """An empty text and dots are refused as a segment, and taken within one."""
        with pytest.raises(Unusable, match=r"a segment of the path in .*/x/\{a\}/review, got a: '"):
            fill("https://ops.example/x/{a}/review", {"a": value})

        assert fill("https://ops.example/x-{a}-y?z={a}", {"a": value}).startswith(
            f"https://ops.example/x-{value}-y?z={value}"
        )

    @pytest.mark.parametrize(
        ("template", "values"),
        [
            ("{a}{b}", {"a": ".", "b": "."}),
            ("{a}{b}", {"a": "", "b": ""}),
            (".{a}", {"a": "."}),
            ("%2e{a}", {"a": "."}),
            ("{a}.", {"a": ""}),
        ],
    )
    def test_parts_of_a_segment_count_together(self, template: str, values: dict[str, str]) -> None:
        """Two values, or a value and the template, may not make dots together."""
        with pytest.raises(Unusable):
            fill(f"https://ops.example/x/{template}/review", values)

    def test_a_value_is_not_filled_in_again(self) -> None:
        """A name in braces within a value stays as it is."""
        url = fill("https://ops.example/{a}/{b}", {"a": "{b}", "b": "secret"})

        assert url == "https://ops.example/%7Bb%7D/secret"

    @pytest.mark.parametrize("value", NO_TEXTS)
    def test_what_is_no_text_is_refused(self, value: Any) -> None:
        """The message has the name of the value, and is short."""
        with pytest.raises(Unusable, match=r"^a: expected ") as error:
            fill("https://ops.example/?q={a}", {"a": value})

        assert len(str(error.value)) < 300

    @pytest.mark.parametrize(("value", "text"), [(7, "7"), (-1.5, "-1.5"), ("é", "é"), ("", "")])
    def test_texts_and_numbers_are_words(self, value: Any, text: str) -> None:
        """``as_text`` returns a text as it is and writes a number in digits."""
        assert as_text(value) == text


class TestSegment:
    """``segment`` encodes a value as one segment of a path."""

    @given(segments)
    def test_it_comes_back_whole(self, value: str) -> None:
        """Decoding gives the value, and no delimiter of a URL stands in the segment."""
        encoded = segment(value)

        assert unquote(encoded) == value
        assert not set(encoded) & set("/?#&= \\")

    @pytest.mark.parametrize("value", ["", ".", "..", *NO_TEXTS])
    def test_what_is_none_is_refused(self, value: Any) -> None:
        """An empty text, dots and values that are no text are refused."""
        with pytest.raises(Unusable):
            segment(value)


class TestOrigin:
    """``origin`` gives scheme, host and port in one form."""

    @pytest.mark.parametrize(
        ("url", "expected"),
        [
            ("http://LOCALHOST:80/x", "http://localhost"),
            ("HTTPS://Api.Example:443", "https://api.example"),
            ("http://localhost:443/", "http://localhost:443"),
            ("http://localhost:/", "http://localhost"),
            ("http://[::1]:80/x", "http://[::1]"),
            ("http://[0:0:0:0:0:0:0:1]/x", "http://[::1]"),
            ("https://bücher.example/", "https://xn--bcher-kva.example"),
            ("http://api.example./", "http://api.example."),
            ("http://user@api.example/", None),
            ("http://user:pass@api.example/", None),
            ("http://api.example\\@evil.example/", None),
            ("http://[::1/", None),
            ("http://api.example:0/", None),
            ("http://%6cocalhost/", None),
            ("http://api.example:99999/", None),
            ("http:///x", None),
            ("ftp://api.example/", None),
            ("api.example", None),
            ("\0", None),
            ("", None),
        ],
    )
    def test_it_is_told(self, url: str, expected: str | None) -> None:
        """The origin is normalized; a URL without a certain host has none."""
        assert origin(url) == expected

    def test_spellings_of_one_are_the_same(self) -> None:
        """Another host, scheme or any user information makes another origin."""
        assert same_origin("http://LOCALHOST:80/x?y", "http://localhost")
        assert not same_origin("http://localhost.", "http://localhost")
        assert not same_origin("http://localhost@evil.example/", "http://localhost")
        assert not same_origin("http://localhost@localhost/", "http://localhost")
        assert not same_origin("http://localhost.evil.example", "http://localhost")
        assert not same_origin("https://localhost", "http://localhost")
        assert not same_origin("nonsense", "nonsense")

    @given(st.text())
    def test_any_text_is_taken(self, text: str) -> None:
        """Any text has no origin, or one whose origin is itself."""
        for url in (text, f"http://{text}", f"http://[{text}]", f"http://x:{text}"):
            result = origin(url)
            assert result is None or origin(result) == result

    def test_credentials_go_to_the_target_in_any_spelling(
        self, stand_in: Start, connect: Callable[..., RecordingClient]
    ) -> None:
        """Requests to the target's host get credentials however it is written, and no others do."""
        server = stand_in(standins.answers(200, {}))
        port = urlsplit(server.origin).port
        client = connect(f"http://localhost:{port}/{standins.VERSION}")

        for host in ("localhost", "LOCALHOST", "127.0.0.1", "me@localhost"):
            client.trigger("POST", f"HTTP://{host}:{port}/x", {})

        headers = [request.headers.get("authorization") for request in server.received]
        assert headers[0] == headers[1] == client._auth._auth_header
        assert headers[2] is None
        assert headers[3] != headers[0]
