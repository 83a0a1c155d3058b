"""Addresses: what a target sends stays within its place, and origins are compared as they are."""

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

over_the_wire = settings(
    max_examples=60,
    deadline=None,
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

NO_WORDS = [
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
    """The target, which accepts whatever comes."""
    return stand_in(standins.answers(200, {}))


@pytest.fixture
def client(server: StandIn, connect: Callable[..., RecordingClient]) -> RecordingClient:
    """The client of the target."""
    return connect(server.base_url)


class TestFill:
    """A value is one segment of a path, or one value of a query."""

    @over_the_wire
    @given(first=segments, second=segments, third=utf_8_text)
    def test_a_server_sees_the_values_and_nothing_else(
        self,
        server: StandIn,
        client: RecordingClient,
        first: str,
        second: str,
        third: str,
    ) -> None:
        """Whatever text they are, the path has the segments of the template."""
        values = {"a": first, "b": second, "c": third}

        client.trigger(
            "POST", fill(f"{server.origin}/x/{{a}}/y/p-{{b}}?q={{c}}&r={{a}}", values), {}
        )

        path, _, query = server.received[-1].path.partition("?")
        assert [unquote(part) for part in path.split("/")] == ["", "x", first, "y", f"p-{second}"]
        assert parse_qsl(query, keep_blank_values=True) == [("q", third), ("r", first)]

    @pytest.mark.parametrize("value", ["", ".", ".."])
    def test_a_segment_that_leads_elsewhere_is_refused(self, value: str) -> None:
        """Servers and clients take it out of a path; within a segment it is harmless."""
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
        """What stands beside a value may be half of it."""
        with pytest.raises(Unusable):
            fill(f"https://ops.example/x/{template}/review", values)

    def test_a_value_is_not_filled_in_again(self) -> None:
        """Names in braces that a target sends are its own text."""
        url = fill("https://ops.example/{a}/{b}", {"a": "{b}", "b": "secret"})

        assert url == "https://ops.example/%7Bb%7D/secret"

    @pytest.mark.parametrize("value", NO_WORDS)
    def test_what_is_no_text_is_refused(self, value: Any) -> None:
        """With its name, and in a short message."""
        with pytest.raises(Unusable, match=r"^a: expected ") as refused:
            fill("https://ops.example/?q={a}", {"a": value})

        assert len(str(refused.value)) < 300

    @pytest.mark.parametrize(("value", "text"), [(7, "7"), (-1.5, "-1.5"), ("é", "é"), ("", "")])
    def test_texts_and_numbers_are_words(self, value: Any, text: str) -> None:
        """A number is written in digits."""
        assert as_text(value) == text


class TestSegment:
    """A value can be the whole of a segment."""

    @given(segments)
    def test_it_comes_back_whole(self, value: str) -> None:
        """Nothing in it is a delimiter of a URL."""
        spelled = segment(value)

        assert unquote(spelled) == value
        assert not set(spelled) & set("/?#&= \\")

    @pytest.mark.parametrize("value", ["", ".", "..", *NO_WORDS])
    def test_what_is_none_is_refused(self, value: Any) -> None:
        """It would lead elsewhere, or is no text."""
        with pytest.raises(Unusable):
            segment(value)


class TestOrigin:
    """Scheme, host and port have one spelling."""

    @pytest.mark.parametrize(
        ("url", "spelled"),
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
    def test_it_is_told(self, url: str, spelled: str | None) -> None:
        """Where a URL leads to nobody for sure, there is none."""
        assert origin(url) == spelled

    def test_spellings_of_one_are_the_same(self) -> None:
        """Others are not, nor is one with user information."""
        assert same_origin("http://LOCALHOST:80/x?y", "http://localhost")
        assert not same_origin("http://localhost.", "http://localhost")
        assert not same_origin("http://localhost@evil.example/", "http://localhost")
        assert not same_origin("http://localhost@localhost/", "http://localhost")
        assert not same_origin("http://localhost.evil.example", "http://localhost")
        assert not same_origin("https://localhost", "http://localhost")
        assert not same_origin("nonsense", "nonsense")

    @given(st.text())
    def test_any_text_is_taken(self, text: str) -> None:
        """Whatever a profile or a target holds."""
        for url in (text, f"http://{text}", f"http://[{text}]", f"http://x:{text}"):
            found = origin(url)
            assert found is None or origin(found) == found

    def test_credentials_go_to_the_target_in_any_spelling(
        self, stand_in: Start, connect: Callable[..., RecordingClient]
    ) -> None:
        """And nowhere else."""
        server = stand_in(standins.answers(200, {}))
        port = urlsplit(server.origin).port
        client = connect(f"http://localhost:{port}/{standins.VERSION}")

        for host in ("localhost", "LOCALHOST", "127.0.0.1", "me@localhost"):
            client.trigger("POST", f"HTTP://{host}:{port}/x", {})

        sent = [request.headers.get("authorization") for request in server.received]
        assert sent[0] == sent[1] == client._auth._auth_header
        assert sent[2] is None
        assert sent[3] != sent[0]
