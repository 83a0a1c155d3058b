"""What the client does with a target that breaks, cannot be reached, or is gone."""

from __future__ import annotations

import re
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


class Listener:
    """Keeps the exchanges, failed requirements and observations that a client reports."""

    def __init__(self, client: RecordingClient) -> None:
        self.exchanges: list[Exchange] = []
        self.failures: list[str] = []
        self.observations: list[str] = []
        client.listener = self._hear

    def _hear(
        self, exchange: Exchange, findings: tuple[Finding, ...], observations: tuple[str, ...]
    ) -> None:
        self.exchanges.append(exchange)
        self.failures += [finding.requirement for finding in findings if not finding.passed]
        self.observations += observations


def in_turn(*behaviours: Behaviour) -> Behaviour:
    """Answer with each behaviour in turn, then always with the last."""
    remaining = list(behaviours)

    def behave(connection: socket.socket, received: Received, stopped: threading.Event) -> None:
        chosen = remaining.pop(0) if len(remaining) > 1 else remaining[0]
        chosen(connection, received, stopped)

    return behave


def answers_at(path: str, behaviour: Behaviour, other: Behaviour) -> Behaviour:
    """Answer requests to ``path`` with one behaviour and all others with the other."""

    def behave(connection: socket.socket, received: Received, stopped: threading.Event) -> None:
        chosen = behaviour if received.path.endswith(path) else other
        chosen(connection, received, stopped)

    return behave


def closes_silently(_: socket.socket, __: Received, ___: threading.Event) -> None:
    """Close the connection without an answer."""


def error_page(status: int) -> Behaviour:
    """Answer with an HTML page, as something in front of the implementation does."""
    return standins.answers(status, b"<h1>Error</h1>", kind="text/html")


def closes_idle(connection: socket.socket, _: Received, __: threading.Event) -> None:
    """Answer the first request, and close the connection as soon as a second one arrives."""
    content = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}"
    connection.sendall(content)
    connection.recv(65536)


class TestFaults:
    """Faults that may pass."""

    @pytest.mark.parametrize(
        ("fault", "cause"),
        [
            (error_page(502), "answered 502"),
            (error_page(503), "answered 503"),
            (standins.answers(504, {"message": "upstream"}), "answered 504"),
            (closes_silently, "got no response"),
            (standins.dies_half_way(), "got no response"),
        ],
        ids=["502", "503", "504", "no answer", "half an answer"],
    )
    def test_a_safe_request_is_sent_again(
        self, stand_in: Start, connect: Connect, fault: Behaviour, cause: str
    ) -> None:
        """The last answer counts; the listener hears of all, and of each fault."""
        server = stand_in(in_turn(fault, fault, standins.answers(200, {})))
        client = connect(server.base_url)
        listener = Listener(client)

        answer = client.call("getConfig")

        assert (answer.status, len(server.received)) == (200, 3)
        assert len(listener.exchanges) == 3
        assert listener.observations == [f"getConfig {cause} and was asked again"] * 2
        assert answer.exchange is listener.exchanges[-1]

    @pytest.mark.parametrize("status", [500, 501, 404])
    def test_other_answers_count_at_once(
        self, stand_in: Start, connect: Connect, status: int
    ) -> None:
        """An error page with 500, 501 or 404 is not asked for again."""
        server = stand_in(error_page(status))

        assert connect(server.base_url).call("getConfig").status == status
        assert len(server.received) == 1

    def test_a_date_to_wait_for_is_one_of_the_targets_clock(
        self, stand_in: Start, connect: Connect
    ) -> None:
        """A ``Retry-After`` that names this second of the target is waited for to its end."""
        now = "Sun, 06 Nov 1994 08:49:37 GMT"
        limited = standins.answers(
            429, {"code": "RATE_LIMITED"}, headers={"retry-after": now, "date": now}
        )
        target = stand_in(in_turn(limited, standins.answers(200, {})))

        answer = connect(target.base_url).call("getConfig")

        first, second = (request.at for request in target.received)
        assert answer.status == 200
        assert second - first >= 1

    @pytest.mark.parametrize("status", [502, 503, 504])
    def test_an_error_object_is_of_the_implementation(
        self, stand_in: Start, connect: Connect, status: int
    ) -> None:
        """An answer with an error object counts at once, for GET and for POST."""
        server = stand_in(standins.answers(status, ERROR))
        client = connect(server.base_url)

        assert client.call("getConfig").status == status
        assert client.call("createQuote", body=QUOTE).status == status
        assert len(server.received) == 2

    @pytest.mark.parametrize("fault", [error_page(502), error_page(503), closes_silently])
    def test_what_may_have_changed_something_is_not_sent_again(
        self, stand_in: Start, connect: Connect, fault: Behaviour
    ) -> None:
        """A POST is sent once; the fault is inconclusive and fails no requirement."""
        server = stand_in(fault)
        client = connect(server.base_url)
        listener = Listener(client)

        with pytest.raises(TargetLost):
            client.call("createQuote", body=QUOTE)

        assert len(server.received) == 1
        assert (len(listener.exchanges), listener.failures) == (1, [])

    def test_what_is_answered_so_alone_is_judged(self, stand_in: Start, connect: Connect) -> None:
        """A 502 of one operation is judged where another operation is answered."""
        server = stand_in(answers_at("/config", error_page(502), standins.answers(400, ERROR)))
        client = connect(server.base_url)
        listener = Listener(client)

        assert client.call("getConfig").status == 502

        assert listener.failures == ["CNV-001"]
        assert [exchange.operation for exchange in listener.exchanges] == [
            *["getConfig"] * 3,
            "listTransactions",
            "getConfig",
        ]

    def test_what_is_answered_so_with_all_else_is_not(
        self, stand_in: Start, connect: Connect
    ) -> None:
        """A 503 of every operation is inconclusive, and fails no requirement."""
        client = connect(stand_in(error_page(503)).base_url)
        listener = Listener(client)

        with pytest.raises(TargetLost, match="answered 503 without an error object"):
            client.call("getConfig")

        assert listener.failures == []

    def test_nothing_is_sent_again_after_its_time(self, stand_in: Start, connect: Connect) -> None:
        """All attempts together have the time of ``timing.request``."""
        server = stand_in(closes_silently)
        client = connect(server.base_url, timing={"request": 0.1})

        with pytest.raises(ConnectionBroken):
            client.call("getConfig")

        assert len(server.received) < 4


class TestIdleConnections:
    """Connections that the server closed while they were idle."""

    def test_a_safe_request_goes_over_another(self, stand_in: Start, connect: Connect) -> None:
        """A GET goes over a new connection, and no observation is made."""
        server = stand_in(closes_idle)
        client = connect(server.base_url)
        listener = Listener(client)

        for _ in range(3):
            assert client.call("getConfig").status == 200

        assert len(listener.exchanges) == 3
        assert not any("again" in observation for observation in listener.observations)

    def test_what_may_have_changed_something_is_not_sent_again(
        self, stand_in: Start, connect: Connect
    ) -> None:
        """A POST is not sent again, as the server may have worked on it."""
        server = stand_in(closes_idle)
        client = connect(server.base_url)
        client.call("getConfig")

        with pytest.raises(ConnectionBroken):
            client.call("createQuote", body=QUOTE)

        assert len(server.received) == 1

    def test_they_are_closed_before_servers_close_them(
        self, stand_in: Start, connect: Connect, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The client closes an idle connection after a second, in this test at once."""
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
        """80 requests time out alike, more than the 64 connections; no thread of theirs is left."""
        client = connect(stand_in(behaviour).base_url, timing={"request": 0.2, "outage": 60})
        before = {thread for thread in threading.enumerate() if thread.name == "deadline"}

        def hang(_: int) -> None:
            with pytest.raises(ResponseTooSlow, match=r"longer than timing\.request"):
                client.call("getConfig")

        with ThreadPoolExecutor(16) as pool:
            list(pool.map(hang, range(80)))

        threads = [t for t in threading.enumerate() if t.name == "deadline" and t not in before]
        for thread in threads:
            thread.join(1)
        assert not any(thread.is_alive() for thread in threads)


class TestOutage:
    """A target that is gone."""

    @pytest.mark.parametrize(
        ("behaviour", "last"),
        [
            (standins.answers(429, {}, headers={"retry-after": "0"}), "answered 429"),
            (standins.answers(429, {}), "answered 429"),
            (error_page(503), "answered 503"),
            (closes_silently, "got no response"),
            (standins.hangs(), "got no response"),
        ],
        ids=["pace", "pace without time", "gateway", "no answer", "hanging"],
    )
    def test_it_is_given_up(
        self, stand_in: Start, connect: Connect, behaviour: Behaviour, last: str
    ) -> None:
        """After ``timing.outage`` without an answer each request raises TargetGone at once."""
        # A busy machine may answer late, too; only a silent target is given little time.
        patience = 0.1 if last == "got no response" else 5
        client = connect(stand_in(behaviour).base_url, timing={"request": patience, "outage": 0.5})
        started = time.monotonic()
        while time.monotonic() - started < 20:
            try:
                client.call("getConfig")
            except TargetGone:
                break
            except TargetLost:
                continue

        with pytest.raises(TargetGone) as error:
            client.call("createQuote", body=QUOTE)

        assert re.search(
            rf"longer than timing\.outage of the profile, 0\.5 s; the last: \w+ {last}",
            str(error.value),
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
        """A target whose port refuses connections is given up."""
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
        client = connect(f"http://127.0.0.1:{port}/2025-10-13", timing={"outage": 0.2})

        for _ in range(5):
            with pytest.raises(TargetLost):
                client.call("getConfig")

        with pytest.raises(TargetGone):
            client.call("getConfig")

    def test_one_answer_is_enough(self, stand_in: Start, connect: Connect) -> None:
        """One answered request after several broken ones shows that the target is there."""
        server = stand_in(answers_at("/quotes", closes_silently, standins.answers(404, ERROR)))
        client = connect(server.base_url, timing={"outage": 0.001})

        for _ in range(3):
            for _ in range(4):
                with pytest.raises(ConnectionBroken):
                    client.call("createQuote", body=QUOTE)
            assert client.call("getConfig").status == 404

    def test_a_few_are_not_enough(self, stand_in: Start, connect: Connect) -> None:
        """A target is given up after five broken requests, however short ``timing.outage`` is."""
        client = connect(
            stand_in(standins.hangs()).base_url, timing={"request": 0.05, "outage": 0.01}
        )

        for _ in range(5):
            with pytest.raises(ResponseTooSlow):
                client.call("getConfig")

        with pytest.raises(TargetGone):
            client.call("getConfig")

    def test_other_limits_are_answers(self, stand_in: Start, connect: Connect) -> None:
        """A 429 for the volume of a day is an answer, so that the target is not given up."""
        body: Any = {"code": "DAILY_VOLUME_LIMIT_EXCEEDED", "reason": "x"}
        client = connect(stand_in(standins.answers(429, body)).base_url, timing={"outage": 0.01})

        for _ in range(10):
            assert client.call("createQuote", body=QUOTE).status == 429
