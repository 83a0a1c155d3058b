"""What the client does about a target that breaks, cannot be reached, or is gone."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from conformance.contract.judge import Finding
from conformance.exchange import network
from conformance.exchange.client import RecordingClient
from conformance.exchange.journal import Exchange
from conformance.exchange.outage import TargetGone
from conformance.exchange.response import ConnectionBroken, ResponseTooSlow
from conformance.selftest import standins
from conformance.selftest.standins import Behaviour, Received, StandIn
from conformance.verdict.decisions import TargetLost

Connect = Callable[..., RecordingClient]
Start = Callable[[Behaviour], StandIn]

QUOTE = {
    "source": {"sourceType": "ACCOUNT", "accountId": "InternalAccount:1"},
    "destination": {"destinationType": "ACCOUNT", "accountId": "ExternalAccount:1"},
    "lockedCurrencySide": "SENDING",
    "lockedCurrencyAmount": 10_000,
}
ERROR = {"code": "INTERNAL_ERROR", "reason": "Broken."}


class Heard:
    """What a client tells its listener."""

    def __init__(self, client: RecordingClient) -> None:
        self.exchanges: list[Exchange] = []
        self.failed: list[str] = []
        self.observations: list[str] = []
        client.listener = self._hear

    def _hear(
        self, exchange: Exchange, findings: tuple[Finding, ...], observations: tuple[str, ...]
    ) -> None:
        self.exchanges.append(exchange)
        self.failed += [finding.requirement for finding in findings if not finding.passed]
        self.observations += observations


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """Answer with each in turn, then with the last."""
    left = list(behaviours)

    def behave(connection: socket.socket, received: Received, stopped: threading.Event) -> None:
        chosen = left.pop(0) if len(left) > 1 else left[0]
        chosen(connection, received, stopped)

    return behave


def at(path: str, behaviour: Behaviour, other: Behaviour) -> Behaviour:
    """Answer requests to ``path`` otherwise than all others."""

    def behave(connection: socket.socket, received: Received, stopped: threading.Event) -> None:
        chosen = behaviour if received.path.endswith(path) else other
        chosen(connection, received, stopped)

    return behave


def silent(_: socket.socket, __: Received, ___: threading.Event) -> None:
    """Close the connection without a word."""


def bare(status: int) -> Behaviour:
    """Answer with a page that something in front of the implementation has for an error."""
    return standins.answers(status, b"<h1>Error</h1>", kind="text/html")


def closes_idle(connection: socket.socket, _: Received, __: threading.Event) -> None:
    """Answer a first request, and close the connection as soon as a second one arrives."""
    content = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
    connection.sendall(content)
    connection.recv(65536)


class TestFaults:
    """Faults that may pass."""

    @pytest.mark.parametrize(
        ("fault", "told"),
        [
            (bare(502), "answered 502"),
            (bare(503), "answered 503"),
            (standins.answers(504, {"message": "upstream"}), "answered 504"),
            (silent, "got no response"),
            (standins.dies_half_way(), "got no response"),
        ],
        ids=["502", "503", "504", "no answer", "half an answer"],
    )
    def test_a_safe_request_is_sent_again(
        self, stand_in: Start, connect: Connect, fault: Behaviour, told: str
    ) -> None:
        """The last answer counts; all are in the journal, and an observation says so."""
        server = stand_in(in_turn(fault, fault, standins.answers(200, {})))
        client = connect(server.base_url)
        heard = Heard(client)

        answer = client.call("getConfig")

        assert (answer.status, len(server.received)) == (200, 3)
        assert len(heard.exchanges) == 3
        assert heard.observations == [f"getConfig {told} and was asked again"] * 2
        assert answer.exchange is heard.exchanges[-1]

    @pytest.mark.parametrize("status", [500, 501, 404])
    def test_other_answers_count_at_once(
        self, stand_in: Start, connect: Connect, status: int
    ) -> None:
        """They are of the implementation."""
        server = stand_in(bare(status))

        assert connect(server.base_url).call("getConfig").status == status
        assert len(server.received) == 1

    @pytest.mark.parametrize("status", [502, 503, 504])
    def test_an_error_object_is_of_the_implementation(
        self, stand_in: Start, connect: Connect, status: int
    ) -> None:
        """It is judged, whatever the method."""
        server = stand_in(standins.answers(status, ERROR))
        client = connect(server.base_url)

        assert client.call("getConfig").status == status
        assert client.call("createQuote", body=QUOTE).status == status
        assert len(server.received) == 2

    @pytest.mark.parametrize("fault", [bare(502), bare(503), silent])
    def test_what_may_have_changed_something_is_not_sent_again(
        self, stand_in: Start, connect: Connect, fault: Behaviour
    ) -> None:
        """Nothing is decided on the implementation."""
        server = stand_in(fault)
        client = connect(server.base_url)
        heard = Heard(client)

        with pytest.raises(TargetLost):
            client.call("createQuote", body=QUOTE)

        assert len(server.received) == 1
        assert (len(heard.exchanges), heard.failed) == (1, [])

    def test_what_is_answered_so_alone_is_judged(self, stand_in: Start, connect: Connect) -> None:
        """While others are answered, it is the implementation that breaks."""
        server = stand_in(at("/config", bare(502), standins.answers(400, ERROR)))
        client = connect(server.base_url)
        heard = Heard(client)

        assert client.call("getConfig").status == 502

        assert heard.failed == ["CNV-001"]
        assert [exchange.operation for exchange in heard.exchanges] == [
            *["getConfig"] * 3,
            "listTransactions",
            "getConfig",
        ]

    def test_what_is_answered_so_with_all_else_is_not(
        self, stand_in: Start, connect: Connect
    ) -> None:
        """The implementation was not reached."""
        client = connect(stand_in(bare(503)).base_url)
        heard = Heard(client)

        with pytest.raises(TargetLost, match="answered 503 without an error object"):
            client.call("getConfig")

        assert heard.failed == []

    def test_nothing_is_sent_again_after_its_time(self, stand_in: Start, connect: Connect) -> None:
        """All of it together has ``timing.request``."""
        server = stand_in(silent)
        client = connect(server.base_url, timing={"request": 0.1})

        with pytest.raises(ConnectionBroken):
            client.call("getConfig")

        assert len(server.received) < 4


class TestIdleConnections:
    """Connections that the server closed while nobody used them."""

    def test_a_safe_request_goes_over_another(self, stand_in: Start, connect: Connect) -> None:
        """It is no fault of the target, and nothing is noted."""
        server = stand_in(closes_idle)
        client = connect(server.base_url)
        heard = Heard(client)

        for _ in range(3):
            assert client.call("getConfig").status == 200

        assert len(heard.exchanges) == 3
        assert not any("again" in seen for seen in heard.observations)

    def test_what_may_have_changed_something_is_not_sent_again(
        self, stand_in: Start, connect: Connect
    ) -> None:
        """The server may have worked on it."""
        server = stand_in(closes_idle)
        client = connect(server.base_url)
        client.call("getConfig")

        with pytest.raises(ConnectionBroken):
            client.call("createQuote", body=QUOTE)

        assert len(server.received) == 1

    def test_they_are_closed_before_servers_close_them(
        self, stand_in: Start, connect: Connect, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """After a second; here at once."""
        monkeypatch.setattr(network, "_KEEP_ALIVE_SECONDS", 0)
        server = stand_in(closes_idle)
        client = connect(server.base_url)
        client.call("getConfig")

        client.call("createQuote", body=QUOTE)

        assert len(server.received) == 2


class TestAbandonedRequests:
    """Requests that took too long."""

    @pytest.mark.parametrize(
        "behaviour", [standins.hangs(), standins.drips_header(), standins.drips_body()]
    )
    def test_they_keep_no_connection_and_no_thread(
        self, stand_in: Start, connect: Connect, behaviour: Behaviour
    ) -> None:
        """There are 64 connections, and the 65th request fails for the same reason."""
        client = connect(stand_in(behaviour).base_url, timing={"request": 0.2, "outage": 60})
        before = {thread for thread in threading.enumerate() if thread.name == "deadline"}

        def hang(_: int) -> None:
            with pytest.raises(ResponseTooSlow, match=r"longer than timing\.request"):
                client.call("getConfig")

        with ThreadPoolExecutor(16) as pool:
            list(pool.map(hang, range(80)))

        left = [t for t in threading.enumerate() if t.name == "deadline" and t not in before]
        for thread in left:
            thread.join(1)
        assert not any(thread.is_alive() for thread in left)


class TestOutage:
    """A target that is gone."""

    @pytest.mark.parametrize(
        ("behaviour", "last"),
        [
            (standins.answers(429, {}, headers={"retry-after": "0"}), "answered 429"),
            (standins.answers(429, {}), "answered 429"),
            (bare(503), "answered 503"),
            (silent, "got no response"),
            (standins.hangs(), "got no response"),
        ],
        ids=["pace", "pace without time", "gateway", "no answer", "hanging"],
    )
    def test_it_is_given_up(
        self, stand_in: Start, connect: Connect, behaviour: Behaviour, last: str
    ) -> None:
        """All that comes after is inconclusive at once, and says so."""
        client = connect(stand_in(behaviour).base_url, timing={"request": 0.1, "outage": 0.5})
        started = time.monotonic()
        while time.monotonic() - started < 20:
            try:
                client.call("getConfig")
            except TargetGone:
                break
            except TargetLost:
                continue

        with pytest.raises(TargetGone) as gone:
            client.call("createQuote", body=QUOTE)

        assert (
            f"longer than timing.outage of the profile, 0.5 s; the last: getConfig {last}"
            in str(gone.value)
        )
        started = time.monotonic()
        for _ in range(2_500):
            with pytest.raises(TargetGone):
                client.call("getConfig")
        assert time.monotonic() - started < 5
        for send in (
            lambda: client.stray("getConfig"),
            lambda: client.trigger("GET", "http://x/", {}),
        ):
            with pytest.raises(TargetGone):
                send()

    def test_nothing_listens(self, connect: Connect) -> None:
        """The connection is refused."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        client = connect(f"http://127.0.0.1:{port}/2025-10-13", timing={"outage": 0.2})

        for _ in range(5):
            with pytest.raises(TargetLost):
                client.call("getConfig")

        with pytest.raises(TargetGone):
            client.call("getConfig")

    def test_one_answer_is_enough(self, stand_in: Start, connect: Connect) -> None:
        """Then it is not gone."""
        server = stand_in(at("/quotes", silent, standins.answers(404, ERROR)))
        client = connect(server.base_url, timing={"outage": 0.001})

        for _ in range(3):
            for _ in range(4):
                with pytest.raises(ConnectionBroken):
                    client.call("createQuote", body=QUOTE)
            assert client.call("getConfig").status == 404

    def test_a_few_are_not_enough(self, stand_in: Start, connect: Connect) -> None:
        """A request may take longer than that by itself."""
        client = connect(
            stand_in(standins.hangs()).base_url, timing={"request": 0.05, "outage": 0.01}
        )

        for _ in range(5):
            with pytest.raises(ResponseTooSlow):
                client.call("getConfig")

        with pytest.raises(TargetGone):
            client.call("getConfig")

    def test_other_limits_are_answers(self, stand_in: Start, connect: Connect) -> None:
        """The volume of a day has been used up, and the target is there."""
        body: Any = {"code": "DAILY_VOLUME_LIMIT_EXCEEDED", "reason": "x"}
        client = connect(stand_in(standins.answers(429, body)).base_url, timing={"outage": 0.01})

        for _ in range(10):
            assert client.call("createQuote", body=QUOTE).status == 429
