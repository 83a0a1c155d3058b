"""The webhook listener: deliveries are kept in order, acknowledged, and can be waited for."""

from __future__ import annotations

import contextlib
import gc
import json
import re
import socket
import string
import threading
import time
import tracemalloc
from collections.abc import Callable, Generator, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from conformance.contract.judge import judge
from conformance.exchange.content import decode
from conformance.exchange.delivery import Delivery, from_json, to_json
from conformance.exchange.folder import RunFolder
from conformance.run import Connection
from conformance.selftest import standins
from conformance.selftest.standins import Behaviour, StandIn
from conformance.sut.target import Target
from conformance.verdict.decisions import HarnessError
from conformance.webhooks import followed as followed_module
from conformance.webhooks import inbox as inbox_module
from conformance.webhooks import listener as listener_module
from conformance.webhooks.followed import FollowedInbox
from conformance.webhooks.inbox import DeliveriesMissing, Inbox
from conformance.webhooks.listener import STRANGER, ListenerError, WebhookListener
from conformance.webhooks.manner import Manner, Manners

EVENT = {"id": "Webhook:1", "type": "PAYMENT.DONE", "data": {"id": "Transaction:1"}}


@pytest.fixture
def listener() -> Generator[WebhookListener]:
    """Return a listener on a free port."""
    new_listener = WebhookListener("127.0.0.1:0")
    yield new_listener
    new_listener.close()


def deliver(listener: WebhookListener, body: Any, **more: Any) -> httpx.Response:
    """Send one delivery as a target does; bytes are sent as they are."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    # httpx is much faster where it need not read certificates.
    return httpx.post(listener.url, content=content, trust_env=False, verify=False, **more)


@contextmanager
def connect_to(listener: WebhookListener) -> Iterator[socket.socket]:
    """Connect to the listener and send nothing."""
    address = urlsplit(listener.follow_url)
    with socket.create_connection((address.hostname, address.port), timeout=5) as connection:
        yield connection


def send_raw(listener: WebhookListener, message: bytes) -> bytes:
    """Send bytes to the listener and return its answer."""
    with connect_to(listener) as connection:
        connection.sendall(message)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(4096), b""))


def message_of(listener: WebhookListener, content: bytes = b"{}", *headers: bytes) -> bytes:
    """Return the bytes of a request that delivers ``content``."""
    path = urlsplit(listener.url).path.encode()
    lines = [b"host: x", b"content-length: %d" % len(content), *headers]
    return b"POST " + path + b" HTTP/1.1\r\n" + b"\r\n".join([*lines, b"", content])


def status_of(connection: socket.socket) -> int:
    """Return the status of the next response, which has no body."""
    received = b""
    while b"\r\n\r\n" not in received:
        received += connection.recv(1)
    return int(received.split()[1])


def is_cut(connection: socket.socket) -> bool:
    """Return whether the listener ends the connection within five seconds."""
    try:
        return connection.recv(1) == b""
    except ConnectionResetError:
        return True


def delivery(number: int = 0, **members: Any) -> Delivery:
    """Return a delivery as the inbox holds it."""
    return Delivery(number, 0.0, {}, {**EVENT, **members}, b"")


class TestTaking:
    """Every delivery is acknowledged and kept as it came."""

    def test_a_delivery_is_kept(self, listener: WebhookListener) -> None:
        """The inbox has the delivery with its headers, its text and its time."""
        before = time.time()

        answer = deliver(listener, EVENT, headers={"X-Signature": "s"})

        assert answer.status_code == 200
        (entry,) = listener.inbox.all(lambda _: True)
        assert (entry.number, entry.id, entry.type) == (0, "Webhook:1", "PAYMENT.DONE")
        assert entry.concerns("Transaction:1")
        assert entry.headers["x-signature"] == "s"
        assert entry.text == json.dumps(EVENT)
        assert before <= entry.at <= time.time()

    def test_a_duplicate_is_kept_beside_the_first(self, listener: WebhookListener) -> None:
        """Each of three equal deliveries has a number of its own, as duplicates are allowed."""
        for _ in range(3):
            assert deliver(listener, EVENT).status_code == 200

        assert [d.number for d in listener.inbox.all(lambda d: d.id == "Webhook:1")] == [0, 1, 2]

    def test_deliveries_at_the_same_time_are_numbered(self, listener: WebhookListener) -> None:
        """Ten deliveries of ten threads have the numbers 0 to 9."""
        threads = [
            threading.Thread(target=deliver, args=[listener, {**EVENT, "id": f"Webhook:{n}"}])
            for n in range(10)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        entry = listener.inbox.all(lambda _: True)
        assert [d.number for d in entry] == list(range(10))
        assert len({d.id for d in entry}) == 10

    @pytest.mark.parametrize(
        "content", [b"", b"{", b"\xff\xfe", b"null", b"[]", b'"text"', b"NaN", b"[" * 100_000]
    )
    def test_a_malformed_delivery_is_kept_and_acknowledged(
        self, listener: WebhookListener, content: bytes
    ) -> None:
        """A body that is no JSON object gets 200, and has no id, type and data."""
        answer = deliver(listener, content)

        assert answer.status_code == 200
        (entry,) = listener.inbox.all(lambda _: True)
        assert (entry.id, entry.type, entry.data) == (None, None, None)
        assert not entry.concerns("Transaction:1")

    @pytest.mark.parametrize("members", [{"id": 7, "type": []}, {"data": "text"}, {"data": None}])
    def test_members_of_another_kind_are_absent(self, members: dict[str, Any]) -> None:
        """An id or type that is no text is ``None``; wrong data concerns no resource."""
        entry = delivery(**members)

        values_read = [getattr(entry, name) for name in ("id", "type") if name in members]
        assert values_read == [None] * len(values_read)
        assert entry.concerns("Transaction:1") is ("data" not in members)

    def test_a_delivery_in_chunks_is_kept(self, listener: WebhookListener) -> None:
        """A body without ``content-length``, in two chunks, is kept whole."""
        content = json.dumps(EVENT).encode()

        httpx.post(listener.url, content=iter([content[:9], content[9:]]), trust_env=False)

        (entry,) = listener.inbox.all(lambda _: True)
        assert entry.raw == content

    def test_a_sender_may_ask_whether_to_go_on(self, listener: WebhookListener) -> None:
        """``expect: 100-continue`` is answered with 100 before the body and 200 after it."""
        message = message_of(listener, b"{}", b"expect: 100-continue")

        with connect_to(listener) as connection:
            connection.sendall(message[:-2])
            interim = status_of(connection)
            connection.sendall(message[-2:])
            final = status_of(connection)

        assert [interim, final] == [100, 200]

    def test_deliveries_that_follow_each_other_closely_are_kept(
        self, listener: WebhookListener
    ) -> None:
        """50 requests in one write get 50 answers on their connection."""
        message = b"".join(message_of(listener, b"%d" % number) for number in range(50))

        answer = send_raw(listener, message)

        assert answer.count(b"HTTP/1.1 200 ") == 50
        assert [d.body for d in listener.inbox.all(lambda _: True)] == list(range(50))

    @pytest.mark.parametrize("cut", [-1, -10, 20])
    def test_a_delivery_that_breaks_off_is_not_kept(
        self, listener: WebhookListener, cut: int
    ) -> None:
        """An incomplete delivery is left out, and the next one is acknowledged."""
        send_raw(listener, message_of(listener, b'{"id": "Webhook:1"}')[:cut])

        assert listener.inbox.all(lambda _: True) == []
        assert deliver(listener, EVENT).status_code == 200

    def test_others_cannot_read_the_deliveries(self, listener: WebhookListener) -> None:
        """A GET of the webhook URL, a guessed one and one without a number get 404."""
        origin = listener.url.rpartition("/")[0]

        answers = [
            httpx.get(url, trust_env=False).status_code
            for url in (listener.url, f"{origin}/follow/x?since=0&wait=0", listener.follow_url)
        ]

        assert answers == [404, 404, 404]


class TestPaths:
    """Only a request to the announced URL is a delivery."""

    @pytest.fixture
    def registered_listener(self) -> Generator[WebhookListener]:
        """Return a listener whose URL the run registers with the target."""
        new_listener = WebhookListener("127.0.0.1:0", registered=True)
        yield new_listener
        new_listener.close()

    def test_the_url_that_the_run_registers_ends_in_a_secret(
        self, registered_listener: WebhookListener
    ) -> None:
        """The last segment of the path has 32 hexadecimal digits, new for each run."""
        other = WebhookListener("127.0.0.1:0", registered=True)
        other.close()

        assert re.fullmatch(
            r"http://127\.0\.0\.1:\d+/webhooks/[0-9a-f]{32}", registered_listener.url
        )
        assert registered_listener.url.rpartition("/")[2] != other.url.rpartition("/")[2]
        assert deliver(registered_listener, EVENT).status_code == 200

    @pytest.mark.parametrize(
        ("public_url", "expected"),
        [
            ("https://h.example/hooks", r"https://h\.example/hooks/[0-9a-f]{32}"),
            ("https://h.example:8/hooks/", r"https://h\.example:8/hooks/[0-9a-f]{32}"),
            ("https://h.example", r"https://h\.example/[0-9a-f]{32}"),
            ("https://h.example/in?key=a/b&c=", r"https://h\.example/in/[0-9a-f]{32}\?key=a/b&c="),
        ],
    )
    def test_a_public_url_is_extended_by_the_secret(self, public_url: str, expected: str) -> None:
        """The secret becomes the last segment of the path, and the query stays behind it."""
        new_listener = WebhookListener("127.0.0.1:0", public_url, registered=True)
        new_listener.close()

        assert re.fullmatch(expected, new_listener.url)

    @pytest.mark.parametrize(
        "form", ["/{}", "/a/b/{}", "/webhooks/{}/", "/{}?x=1/2", "http://h.example/hooks/{}"]
    )
    def test_a_proxy_may_change_what_stands_before_the_secret(
        self, registered_listener: WebhookListener, form: str
    ) -> None:
        """A prefix, a slash at the end or a query makes no difference."""
        path = urlsplit(registered_listener.url).path
        target = form.format(path.rpartition("/")[2])

        answer = send_raw(
            registered_listener,
            message_of(registered_listener).replace(path.encode(), target.encode()),
        )

        assert answer.startswith(b"HTTP/1.1 200 ")
        assert len(registered_listener.inbox.all(lambda _: True)) == 1

    @pytest.mark.parametrize(
        "form", ["/", "/webhooks", "/{}0", "/{}/x", "/x?{}", "/x?/{}", "/%00{}", "*", "/x#/{}é"]
    )
    def test_strangers_are_answered_with_404(
        self, registered_listener: WebhookListener, form: str
    ) -> None:
        """A request to another path gets 404 or 400, and is counted but not kept or judged."""
        observations: list[str] = []
        judged_deliveries: list[Delivery] = []
        registered_listener.observe = observations.append
        registered_listener.inbox.watcher = judged_deliveries.append
        path = urlsplit(registered_listener.url).path
        target = form.format(path.rpartition("/")[2])
        message = message_of(registered_listener, b"{" * 500_000).replace(
            path.encode(), target.encode()
        )

        answer = send_raw(registered_listener, message)

        assert answer.startswith((b"HTTP/1.1 404 ", b"HTTP/1.1 400 "))
        assert (registered_listener.strangers, observations, judged_deliveries) == (
            1,
            [STRANGER],
            [],
        )
        assert registered_listener.inbox.all(lambda _: True) == []
        assert deliver(registered_listener, EVENT).status_code == 200

    @pytest.mark.parametrize("method", ["GET", "PUT", "HEAD", "OPTIONS", "CONNECT"])
    def test_other_methods_are_of_strangers(
        self, registered_listener: WebhookListener, method: str
    ) -> None:
        """A request to the right path with another method than POST gets 404."""
        answer = send_raw(
            registered_listener, message_of(registered_listener).replace(b"POST", method.encode())
        )

        assert answer.startswith(b"HTTP/1.1 404 ")
        assert registered_listener.strangers == 1

    @pytest.mark.parametrize(
        ("public_url", "path", "status"),
        [
            (None, "/webhooks", 200),
            (None, "/added/by/a/proxy/webhooks/", 200),
            (None, "/", 404),
            ("https://h.example/hooks/k-7c1d?x=1", "/k-7c1d", 200),
            ("https://h.example/hooks/k-7c1d", "/hooks", 404),
            ("https://h.example/caf%C3%A9", "/caf%c3%a9", 200),
            ("https://h.example/café", "/caf%C3%A9", 200),
            ("https://h.example/", "/whatever", 200),
            ("https://h.example", "/", 200),
        ],
    )
    def test_a_url_registered_by_hand_stays(
        self, public_url: str | None, path: str, status: int
    ) -> None:
        """The last segment of a public URL, if it has one, decides what is a delivery."""
        new_listener = WebhookListener("127.0.0.1:0", public_url)
        origin = new_listener.follow_url.partition("/follow/")[0]

        answer = httpx.post(origin + path, json=EVENT, trust_env=False)
        new_listener.close()

        assert answer.status_code == status
        assert public_url is None or new_listener.url == public_url


class TestBounds:
    """No sender can take more than its share of memory, time or connections."""

    @pytest.mark.parametrize(
        "message",
        [
            b"content-length: 9999999\r\n\r\n",
            b"transfer-encoding: chunked\r\n\r\n" + b"fffff\r\n" + b" " * 0xFFFFF + b"\r\nf\r\n  ",
            b"transfer-encoding: chunked\r\n\r\n" + b"1\r\nx\r\n" * 11_000,
            b"content-length: 2\r\n" + b"x: y\r\n" * 100 + b"\r\n{}",
        ],
        ids=["announced", "in chunks", "in too many chunks", "too many headers"],
    )
    def test_a_delivery_that_is_too_large_is_refused(
        self, listener: WebhookListener, message: bytes
    ) -> None:
        """A refused delivery is noted, so that no check takes it for one that did not come."""
        answer = send_raw(listener, b"POST /webhooks HTTP/1.1\r\nhost: x\r\n" + message)

        assert answer.startswith((b"HTTP/1.1 413 ", b"HTTP/1.1 431 "))
        with pytest.raises(DeliveriesMissing, match="a webhook was refused with 4"):
            listener.inbox.wait(lambda _: True, within=60)

    @pytest.mark.parametrize(
        "message",
        [
            b"POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: many\r\n\r\n",
            b"POST /webhooks HTTP/1.1\r\nhost: x\r\ncontent-length: -1\r\n\r\n",
            b"POST /webhooks HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
            b"POST /webhooks HTTP/1.1\r\nhost: x\r\n" + b"x" * 200_000,
            b"POST /" + b"x" * 200_000,
        ],
        ids=["no number", "negative", "no chunk", "a long header", "a long path"],
    )
    def test_what_is_no_http_is_refused(self, listener: WebhookListener, message: bytes) -> None:
        """Wrong HTTP gets 400 or 431 and is not kept; the next delivery gets 200."""
        answer = send_raw(listener, message)

        assert answer.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 431 "))
        assert listener.inbox.all(lambda _: True) == []
        assert deliver(listener, EVENT).status_code == 200

    @pytest.mark.parametrize(
        ("bound", "value"), [("MAX_DELIVERIES", 3), ("MAX_KEPT_BYTES", 3 * 3000)]
    )
    def test_a_flood_of_deliveries_is_refused(
        self,
        listener: WebhookListener,
        monkeypatch: pytest.MonkeyPatch,
        bound: str,
        value: int,
    ) -> None:
        """Further deliveries get 503; a check for one that is not kept has the reason."""
        monkeypatch.setattr(inbox_module, bound, value)
        follower = FollowedInbox(listener.follow_url)
        text = {"id": "Webhook:0", "text": "x" * 500}

        answers = [deliver(listener, text).status_code for _ in range(9)]

        kept_count = answers.count(200)
        assert answers == [200] * kept_count + [503] * (9 - kept_count)
        assert kept_count <= 7
        for inbox in (listener.inbox, follower):
            last = inbox.wait(lambda d: d.number == kept_count - 1, within=10)
            assert last is not None
            with pytest.raises(DeliveriesMissing, match="more webhooks than the suite keeps"):
                inbox.wait(lambda d: d.id == "Webhook:1", within=60)
            with pytest.raises(DeliveriesMissing):
                inbox.all(lambda _: True)
        follower.close()

    @pytest.mark.parametrize(
        "content",
        [
            b"[" + b"[]," * 50_000 + b"0]",
            b"[" + b"{}," * 50_000 + b"0]",
            b"[" + b'{"a":1},' * 20_000 + b"0]",
            b"[" + b"1.5," * 20_000 + b"0]",
            b"{" + b",".join(b'"%d":{}' % n for n in range(20_000)) + b"}",
            json.dumps("\N{GRINNING FACE}" + "a" * 100_000, ensure_ascii=False).encode(),
            json.dumps([EVENT] * 1000).encode(),
        ],
        ids=["lists", "objects", "members", "numbers", "names", "wide text", "events"],
    )
    def test_the_memory_of_a_delivery_is_not_underrated(self, content: bytes) -> None:
        """The estimate is within half and five times of what the decoded body takes."""
        tracemalloc.start()
        body, _ = decode(content)
        used_bytes, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()

        estimate = Delivery(0, 0.0, {}, body, content).memory

        assert 0.5 * used_bytes < estimate < 5 * used_bytes

    @pytest.mark.parametrize("start", [b"P", b"POST /webhooks HTTP/1.1\r\nx: ", None])
    def test_a_sender_that_drips_is_cut_off(
        self, listener: WebhookListener, monkeypatch: pytest.MonkeyPatch, start: bytes | None
    ) -> None:
        """The whole delivery has a time limit, however often a byte is sent: 408."""
        monkeypatch.setattr(listener_module, "MAX_DELIVERY_SECONDS", 0.2)
        over = threading.Event()

        with connect_to(listener) as connection:
            connection.sendall(start or message_of(listener, b" " * 9999)[:-9990])

            def drip() -> None:
                with contextlib.suppress(OSError):
                    while not over.wait(0.02):
                        connection.sendall(b"x")

            thread = threading.Thread(target=drip)
            thread.start()
            status = status_of(connection)
            over.set()
            thread.join()

        assert status == 408
        assert listener.inbox.all(lambda _: True) == []

    def test_connections_that_are_left_open_starve_nobody(
        self, listener: WebhookListener, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A new connection replaces the one that has been idle for the longest time."""
        monkeypatch.setattr(listener_module, "MAX_CONNECTIONS", 4)

        with contextlib.ExitStack() as stack:
            connections = [stack.enter_context(connect_to(listener)) for _ in range(4)]
            statuses = []
            for connection in [*connections, *(None,) * 10]:
                current = connection or stack.enter_context(connect_to(listener))
                current.sendall(message_of(listener))
                statuses.append(status_of(current))
                connections.append(current)
            first_is_cut = is_cut(connections[0])

        assert statuses == [200] * 14
        assert first_is_cut

    def test_idle_strangers_starve_nobody(
        self, listener: WebhookListener, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """20 connections that send nothing, or half a request, leave room for a delivery."""
        monkeypatch.setattr(listener_module, "MAX_CONNECTIONS", 4)

        with contextlib.ExitStack() as stack:
            for start in (b"", b"POST /x HTTP/1.1\r\n") * 10:
                stack.enter_context(connect_to(listener)).sendall(start)
            answer = deliver(listener, EVENT, timeout=2)

        assert answer.status_code == 200

    def test_a_delivery_that_is_under_way_is_not_cut_off(
        self, listener: WebhookListener, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A delivery that waits for its body is not idle, although it is the oldest."""
        monkeypatch.setattr(listener_module, "MAX_CONNECTIONS", 2)
        message = message_of(listener, b"{}", b"expect: 100-continue")

        with connect_to(listener) as connection:
            connection.sendall(message[:-2])
            first_status = status_of(connection)
            others = [deliver(listener, EVENT).status_code for _ in range(5)]
            connection.sendall(message[-2:])
            last_status = status_of(connection)

        assert [first_status, *others, last_status] == [100, *[200] * 5, 200]


class TestManners:
    """A test may choose how deliveries about its resource are answered."""

    def test_a_delivery_is_answered_with_500(self, listener: WebhookListener) -> None:
        """A delivery that got 500 is kept as not acknowledged; the next one gets 200."""
        listener.treat("Transaction:1", "PAYMENT.DONE", Manner.FAILING)

        first = deliver(listener, EVENT)
        listener.treat("Transaction:1", "PAYMENT.DONE", None)
        second = deliver(listener, EVENT)

        assert [first.status_code, second.status_code] == [500, 200]
        assert [d.acknowledged for d in listener.inbox.all(lambda _: True)] == [False, True]

    def test_a_delivery_is_not_answered(self, listener: WebhookListener) -> None:
        """The connection is closed without an answer, and the delivery is not acknowledged."""
        listener.treat("Transaction:1", "PAYMENT.DONE", Manner.CLOSED)

        with pytest.raises(httpx.RemoteProtocolError):
            deliver(listener, EVENT)

        (entry,) = listener.inbox.all(lambda _: True)
        assert not entry.acknowledged

    def test_a_delivery_is_acknowledged_late(self, listener: WebhookListener) -> None:
        """The delivery is in the inbox before it is acknowledged."""
        listener.treat("Transaction:1", "PAYMENT.DONE", Manner.SLOW)
        started = time.time()

        answer = deliver(listener, EVENT)

        (entry,) = listener.inbox.all(lambda _: True)
        assert answer.status_code == 200
        assert entry.acknowledged
        assert started <= entry.at < time.time() - 0.2

    @pytest.mark.parametrize(
        "other",
        [{**EVENT, "type": "PAYMENT.BEGUN"}, {**EVENT, "data": {"id": "Transaction:2"}}, [], "x"],
        ids=["another type", "another resource", "a list", "a text"],
    )
    def test_others_are_acknowledged(self, listener: WebhookListener, other: Any) -> None:
        """A delivery of another type or about another resource gets 200."""
        listener.treat("Transaction:1", "PAYMENT.DONE", Manner.FAILING)

        assert deliver(listener, other).status_code == 200

    def test_a_follower_may_ask_for_it(self, listener: WebhookListener) -> None:
        """A follower, which does not listen itself, can choose the answer too."""
        follower = FollowedInbox(listener.follow_url)

        follower.treat("Transaction:1", "PAYMENT.DONE", Manner.FAILING)
        first = deliver(listener, EVENT)
        follower.treat("Transaction:1", "PAYMENT.DONE", None)
        second = deliver(listener, EVENT)
        acknowledged = [d.acknowledged for d in follower.all(lambda _: True)]
        follower.close()

        assert [first.status_code, second.status_code] == [500, 200]
        assert acknowledged == [False, True]

    def test_others_cannot_ask_for_it(self, listener: WebhookListener) -> None:
        """The choice of an answer at the webhook URL is a delivery, and changes nothing."""
        choice = {"resource": "Transaction:1", "type": "PAYMENT.DONE", "manner": "failing"}

        deliver(listener, choice)

        assert deliver(listener, EVENT).status_code == 200


class TestWaiting:
    """A check goes on as soon as its delivery has arrived."""

    def test_what_has_arrived_is_found_at_once(self) -> None:
        """Of the deliveries that match, the first is returned."""
        inbox = Inbox()
        for number in range(3):
            inbox.put(delivery(number, id=f"Webhook:{number}"))

        event = inbox.wait(lambda d: d.number > 0, within=0)

        assert event is not None
        assert event.number == 1

    def test_what_arrives_later_wakes_the_check(self) -> None:
        """A delivery that arrives later ends the wait at once."""
        inbox = Inbox()
        timer = threading.Timer(0.05, inbox.put, [delivery()])
        started = time.monotonic()

        timer.start()
        event = inbox.wait(lambda d: d.type == "PAYMENT.DONE", within=30)

        assert event is not None
        assert time.monotonic() - started < 5

    def test_each_delivery_is_looked_at_once(self) -> None:
        """The condition is called once for each delivery that arrives during the wait."""
        inbox = Inbox()
        numbers: list[int] = []

        def fill() -> None:
            for number in range(20):
                inbox.put(delivery(number))

        def is_last(candidate: Delivery) -> bool:
            numbers.append(candidate.number)
            return candidate.number == 19

        filler = threading.Timer(0.01, fill)
        filler.start()
        inbox.wait(is_last, within=10)
        filler.join()

        assert numbers == list(range(20))

    def test_what_does_not_arrive_is_given_up(self) -> None:
        """The wait ends in time, although other deliveries arrive."""
        inbox = Inbox()
        stop = threading.Event()

        def disturb() -> None:
            while not stop.wait(0.01):
                inbox.put(delivery(type="OTHER"))

        disturber = threading.Thread(target=disturb)
        disturber.start()
        started = time.monotonic()
        event = inbox.wait(lambda d: d.type == "PAYMENT.DONE", within=0.2)
        seconds = time.monotonic() - started
        stop.set()
        disturber.join()

        assert event is None
        assert 0.2 <= seconds < 2


class TestClearing:
    """An inbox that is cleared is one of another target."""

    def test_what_came_before_is_lost(self) -> None:
        """What arrives after it is found, and nothing that arrived before."""
        inbox = Inbox()
        inbox.put(delivery(1))

        inbox.clear()
        inbox.put(delivery(2))

        assert [one.number for one in inbox.all(lambda _: True)] == [2]

    def test_it_is_complete_again(self) -> None:
        """That a delivery was missing before proves nothing about what is missing now."""
        inbox = Inbox()
        inbox.mark_incomplete("the listener was away")

        inbox.clear()

        assert inbox.wait(lambda _: True, within=0) is None


class TestFollowing:
    """The workers of a run read the deliveries of its one listener."""

    def test_a_follower_gets_all_in_order(self, listener: WebhookListener) -> None:
        """The follower has deliveries from before and after its start, as the listener has."""
        deliver(listener, {**EVENT, "id": "Webhook:0"})
        follower = FollowedInbox(listener.follow_url)
        deliver(listener, {**EVENT, "id": "Webhook:1"})
        deliver(listener, b"{")

        deliveries = follower.all(lambda _: True)
        follower.close()

        assert [d.id for d in deliveries] == ["Webhook:0", "Webhook:1", None]
        assert deliveries == listener.inbox.all(lambda _: True)

    def test_followers_do_not_disturb_each_other(self, listener: WebhookListener) -> None:
        """Each of two followers has the delivery."""
        followers = [FollowedInbox(listener.follow_url) for _ in range(2)]
        deliver(listener, EVENT)

        events_of_followers = [f.wait(lambda d: d.id == "Webhook:1", within=10) for f in followers]
        for follower in followers:
            follower.close()

        assert None not in events_of_followers

    def test_a_follower_without_its_listener_says_so(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """A follower whose listener was closed raises DeliveriesMissing, and asks no more."""
        monkeypatch.setattr(followed_module, "_MAX_FAILURES", 1)
        new_listener = WebhookListener("127.0.0.1:0")
        follower = FollowedInbox(new_listener.follow_url)
        new_listener.close()

        for _ in range(2):
            with pytest.raises(DeliveriesMissing, match="does not hand on the webhooks"):
                follower.wait(lambda _: True, within=30)
        follower.close()

    def test_a_follower_hears_of_what_is_missing(self, listener: WebhookListener) -> None:
        """A follower that waits is told at once, and gets what still arrives within a moment."""
        follower = FollowedInbox(listener.follow_url)
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(follower.wait, lambda d: d.id == "Webhook:1", 60)
            listener._loop.call_soon_threadsafe(listener._miss, "a webhook was refused")
            deliver(listener, EVENT)

            assert waiting.result(30) is not None

        with pytest.raises(DeliveriesMissing, match="a webhook was refused"):
            follower.wait(lambda d: d.id == "Webhook:2", within=60)
        follower.close()

    def test_a_follower_does_not_wait_longer_than_asked(self, listener: WebhookListener) -> None:
        """Whoever waits a tenth of a second waits about as long."""
        follower = FollowedInbox(listener.follow_url)
        started = time.monotonic()

        event = follower.wait(lambda _: True, within=0.1)
        seconds = time.monotonic() - started
        follower.close()

        assert event is None
        assert 0.09 <= seconds < 0.9

    @pytest.mark.parametrize(
        "body",
        [
            None,
            [],
            "manner",
            {},
            {"resource": "a", "type": "b"},
            {"resource": "a", "type": "b", "manner": "rude"},
            {"resource": "a", "type": "b", "manner": ["slow"]},
            {"resource": ["a"], "type": "b", "manner": None},
        ],
    )
    def test_what_cannot_be_understood_is_refused(
        self, listener: WebhookListener, body: Any
    ) -> None:
        """A wrong choice of an answer gets 404, and the listener goes on."""
        answer = httpx.post(listener.follow_url, json=body, trust_env=False)

        assert answer.status_code == 404
        assert deliver(listener, EVENT).status_code == 200

    @pytest.mark.parametrize(
        "query",
        [
            "",
            "?since=",
            "?since=x&wait=0",
            "?since=²&wait=0",
            f"?since={'9' * 5000}&wait=0",
            "?since=0",
        ],
    )
    def test_a_number_that_is_none_is_refused(self, listener: WebhookListener, query: str) -> None:
        """A wrong ``since`` gets 404."""
        answer = httpx.get(listener.follow_url + query, trust_env=False)

        assert answer.status_code == 404

    def test_many_deliveries_come_in_batches(
        self, listener: WebhookListener, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """An answer to a follower is bounded, and the follower asks until it has all."""
        monkeypatch.setattr(listener_module, "_BATCH_BYTES", 10)
        for number in range(20):
            deliver(listener, {**EVENT, "id": f"Webhook:{number}"})

        answer = httpx.get(f"{listener.follow_url}?since=0&wait=0", trust_env=False)
        follower = FollowedInbox(listener.follow_url)
        last = follower.wait(lambda d: d.id == "Webhook:19", within=10)
        follower.close()

        assert len(answer.json()["deliveries"]) == 1
        assert last is not None

    @pytest.mark.parametrize(
        "content",
        [
            b"",
            b"<html>",
            b"null",
            b"[" * 100_000,
            b'{"deliveries": 7}',
            b'{"deliveries": [], "missing": null}',
            b'{"deliveries": [null], "more": false, "missing": null}',
            b'{"deliveries": [{"raw": "\xc3\xa9"}], "more": false, "missing": null}',
            b'{"deliveries": [{"raw": "", "x": 1}], "more": false, "missing": null}',
        ],
    )
    def test_a_follower_that_gets_no_answer_says_so(
        self,
        stand_in: Callable[[Behaviour], StandIn],
        monkeypatch: pytest.MonkeyPatch,
        content: bytes,
    ) -> None:
        """After wrong answers of the listener a check raises DeliveriesMissing."""
        monkeypatch.setattr(followed_module, "_MAX_FAILURES", 1)
        server = stand_in(standins.answers(200, content))
        follower = FollowedInbox(server.origin)

        with pytest.raises(DeliveriesMissing, match="does not hand on the webhooks"):
            follower.wait(lambda _: True, within=30)
        follower.close()

    def test_a_follower_overcomes_a_failure(self, listener: WebhookListener) -> None:
        """A follower whose connection breaks asks again."""
        follower = FollowedInbox(listener.follow_url)
        for connection in list(listener._open):
            listener._loop.call_soon_threadsafe(connection.cut)
        deliver(listener, EVENT)

        event = follower.wait(lambda d: d.id == "Webhook:1", within=10)
        follower.close()

        assert event is not None

    def test_a_manner_that_cannot_be_asked_for_is_no_fault_of_the_target(self) -> None:
        """HarnessError is raised, and does not show the secret URL."""
        new_listener = WebhookListener("127.0.0.1:0")
        new_listener.close()
        follower = FollowedInbox(new_listener.follow_url)

        with pytest.raises(HarnessError) as raised:
            follower.treat("Transaction:1", "PAYMENT.DONE", Manner.SLOW)
        follower.close()

        assert "/follow/" not in str(raised.value)


class TestClosing:
    """A listener that is closed leaves nothing open."""

    @pytest.mark.filterwarnings("error::ResourceWarning")
    def test_senders_that_connect_at_the_last_moment(self) -> None:
        """Each connection is closed; what is not complains as it is thrown away, and fails."""
        addresses: list[tuple[str, int]] = []
        ended = threading.Event()

        def connect() -> None:
            while not ended.is_set():
                with contextlib.suppress(OSError, IndexError):
                    socket.create_connection(addresses[-1], timeout=1).close()

        senders = [threading.Thread(target=connect) for _ in range(2)]
        for sender in senders:
            sender.start()
        for _ in range(50):
            listener = WebhookListener("127.0.0.1:0")
            addresses.append(("127.0.0.1", urlsplit(listener.url).port or 0))
            time.sleep(0.002)
            listener.close()
        ended.set()
        for sender in senders:
            sender.join()

        gc.collect()


class TestStarting:
    """The listener starts where the profile says, or an error names the key."""

    def test_the_public_url_is_told_to_targets(self) -> None:
        """The announced URL is the public one; followers use the local address."""
        new_listener = WebhookListener("127.0.0.1:0", "https://tunnel.example/hooks")
        new_listener.close()

        assert new_listener.url == "https://tunnel.example/hooks"
        assert new_listener.follow_url.startswith("http://127.0.0.1:")

    @pytest.mark.parametrize(
        "listen",
        ["8080", "localhost", "localhost:http", ":8080", "", "::1:80", "[::1]", "[]:80", "a:²"],
    )
    def test_a_malformed_address_is_refused(self, listen: str) -> None:
        """The message has the key and the form of ``host:port``."""
        with pytest.raises(ListenerError, match=r"webhooks\.listen is host:port, got") as error:
            WebhookListener(listen)

        assert "write it like 127.0.0.1:8099, or [::1]:8099 for IPv6" in str(error.value)

    @pytest.mark.parametrize(
        "url", ["hooks.example.com/x", "ftp://x/y", "https://", "http://[::1", "http://x:99999/"]
    )
    def test_a_malformed_public_url_is_refused(self, url: str) -> None:
        """The message has the key and an example."""
        with pytest.raises(ListenerError, match=r"webhooks\.public_url is the URL") as error:
            WebhookListener("127.0.0.1:0", url)

        assert "https://hooks.example.com/conformance" in str(error.value)

    @pytest.mark.parametrize(
        ("listen", "message"),
        [
            ("127.0.0.1:99999", "there is no such port"),
            ("absent.invalid:0", r"cannot listen for webhooks on absent\.invalid:0"),
            ("a\0b:0", "cannot listen for webhooks on a"),
            (f"{'a' * 70}.example:0", "there is no such host"),
            ("192.0.2.1:0", "Cannot assign requested address"),
        ],
    )
    def test_an_address_that_cannot_be_had_is_refused(self, listen: str, message: str) -> None:
        """The message has the cause and the key of the profile."""
        with pytest.raises(ListenerError, match=message) as error:
            WebhookListener(listen)

        assert "webhooks.listen of the profile" in str(error.value)

    def test_a_port_that_is_taken_is_refused(self, listener: WebhookListener) -> None:
        """A port on which another listener listens raises ListenerError."""
        port = urlsplit(listener.url).port

        with pytest.raises(ListenerError, match="Address already in use"):
            WebhookListener(f"127.0.0.1:{port}")

    def test_it_can_be_closed_twice(self) -> None:
        """The second ``close`` does nothing."""
        new_listener = WebhookListener("127.0.0.1:0")

        new_listener.close()
        new_listener.close()


def has_ipv6() -> bool:
    """Return whether this machine has a loopback address of IPv6."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


class TestAddresses:
    """The listener takes each kind of address, and announces one that can be reached."""

    @pytest.mark.parametrize(
        ("listen", "url_prefix", "follow_prefix"),
        [
            ("localhost:0", "http://localhost:", "http://127.0.0.1:"),
            ("0.0.0.0:0", "http://127.0.0.1:", "http://127.0.0.1:"),
            pytest.param(
                *("[::1]:0", "http://[::1]:", "http://[::1]:"),
                marks=pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6"),
            ),
            pytest.param(
                *("[::]:0", "http://[::1]:", "http://[::1]:"),
                marks=pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6"),
            ),
        ],
    )
    def test_it_can_be_reached(self, listen: str, url_prefix: str, follow_prefix: str) -> None:
        """A delivery to the announced URL gets 200 and reaches a follower."""
        new_listener = WebhookListener(listen, registered=True)
        follower = FollowedInbox(new_listener.follow_url)

        status = deliver(new_listener, EVENT).status_code
        event = follower.wait(lambda d: d.id == "Webhook:1", within=10)
        follower.close()
        new_listener.close()

        assert status == 200
        assert event is not None
        assert new_listener.url.startswith(url_prefix)
        assert new_listener.follow_url.startswith(follow_prefix)

    @pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
    def test_a_name_that_stands_for_ipv6_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The name is announced, and followers use the IPv6 address."""
        resolve = socket.getaddrinfo

        def resolve_name(host: Any, *arguments: Any, **more: Any) -> Any:
            return resolve("::1" if host == "six.example" else host, *arguments, **more)

        monkeypatch.setattr(socket, "getaddrinfo", resolve_name)
        new_listener = WebhookListener("six.example:0")

        status = deliver(new_listener, EVENT).status_code
        new_listener.close()

        assert status == 200
        assert new_listener.url.startswith("http://six.example:")
        assert new_listener.follow_url.startswith("http://[::1]:")


class TestRun:
    """A run takes the deliveries of its target, and counts those of strangers."""

    def test_the_target_is_told_the_secret(self, reference_target: Target, tmp_path: Path) -> None:
        """The target's event arrives; a stranger's event is counted and not kept."""
        connection = Connection.open(reference_target, seed=1, folder=RunFolder(tmp_path, "1"))
        try:
            platform = connection.platform("test")
            customer = platform.approved.customer()
            assert connection.follow_url is not None
            origin = connection.follow_url.partition("/follow/")[0]
            httpx.post(f"{origin}/webhooks", json=EVENT, trust_env=False)
            deliveries = platform.webhooks.mentioning(customer["id"])
        finally:
            connection.close()

        assert deliveries
        assert connection.observations[STRANGER] == 1
        assert connection.inbox.all(lambda d: d.id == EVENT["id"]) == []


# Values of JSON, and values that only some parsers take for JSON.
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(), max_size=8)
    | st.sampled_from(["Transaction:1", "PAYMENT.DONE", "\ud800", "\udfff\ud800"])
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["id", "type", "data", "manner"]), inner, max_size=4)
    ),
    max_leaves=8,
)
events = st.fixed_dictionaries(
    {},
    optional={
        "id": values,
        "type": values | st.sampled_from(["OUTGOING_PAYMENT.COMPLETED", "CUSTOMER.KYC_APPROVED"]),
        "timestamp": values,
        "data": values,
    },
)


def json_bytes(value: Any) -> bytes:
    """Return a value as JSON; lone surrogates become bytes that are not UTF-8."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


contents = (
    st.binary(max_size=40)
    | (values | events).map(json_bytes)
    | (values | events).map(json.dumps).map(str.encode)
    | st.integers(1, 100_000).map(lambda depth: b"[" * depth)
    | st.sampled_from(
        [b"NaN", b"-Infinity", b"1e999", b"9" * 5000, b'"\\ud800"', b"[" * 60 + b"]" * 60]
    )
)
tokens = st.text(string.printable, max_size=12).map(str.encode) | st.binary(max_size=12)
header_lines = (
    st.tuples(tokens, tokens).map(b": ".join)
    | tokens
    | st.sampled_from(
        [
            b"content-length: 0",
            b"content-length: 5",
            b"content-length: 99999999999999999999999",
            b"content-length: 1, 1",
            b"transfer-encoding: chunked",
            b"transfer-encoding: gzip, chunked",
            b"expect: 100-continue",
            b"connection: close",
            b"connection: upgrade",
            b"upgrade: h2c",
            b"x-webhook-signature: \xff\xfe",
            b" folded",
        ]
    )
)


@st.composite
def messages(draw: st.DrawFn) -> bytes:
    """Draw bytes that are more or less a request to the listener."""
    method = draw(st.sampled_from([b"POST", b"POST", b"POST", b"GET", b"CONNECT", b""]) | tokens)
    path = draw(st.sampled_from([b"/webhooks", b"/webhooks", b"/follow/x?since=0&wait=0"]) | tokens)
    version = draw(st.sampled_from([b"HTTP/1.1", b"HTTP/1.1", b"HTTP/1.0", b"HTTP/9"]) | tokens)
    lines = draw(st.lists(header_lines, max_size=4))
    content = draw(contents)
    length = len(content) + draw(st.sampled_from([0, 0, 0, -1, 1, 9999]))
    if draw(st.booleans()):
        lines += [b"host: x", b"content-length: %d" % length]
    elif draw(st.booleans()):
        lines += [b"host: x", b"transfer-encoding: chunked"]
        end = draw(st.sampled_from([b"\r\n0\r\n\r\n", b"\r\n0\r\nx: y\r\n\r\n", b"0", b""]))
        content = b"%x\r\n" % max(length, 0) + content + end
    start = b" ".join([method, path, version])
    return b"\r\n".join([start, *lines, b"", content])


@pytest.fixture(scope="module")
def listener_and_follower() -> Generator[tuple[WebhookListener, FollowedInbox]]:
    """Return a listener that judges deliveries, and its follower; errors of its loop fail."""
    new_listener = WebhookListener("127.0.0.1:0")
    errors: list[dict[str, Any]] = []
    new_listener._loop.set_exception_handler(lambda _, context: errors.append(context))

    def judge_body(delivery: Delivery) -> None:
        judge().delivery(delivery.body)

    new_listener.inbox.watcher = judge_body
    follower = FollowedInbox(new_listener.follow_url)
    yield new_listener, follower
    follower.close()
    new_listener.close()
    gc.collect()
    assert errors == []


class TestWhateverComes:
    """Nothing that a sender sends stops the listener, a follower or a check."""

    @settings(max_examples=100, suppress_health_check=[HealthCheck.too_slow], database=None)
    @given(
        message=st.binary(max_size=200)
        | messages()
        | st.lists(messages(), max_size=3).map(b"".join)
    )
    def test_an_honest_delivery_still_arrives(
        self, listener_and_follower: tuple[WebhookListener, FollowedInbox], message: bytes
    ) -> None:
        """After any bytes the next delivery gets 200 soon, and reaches the follower."""
        new_listener, follower = listener_and_follower
        with contextlib.suppress(OSError):
            send_raw(new_listener, message)
        started = time.monotonic()

        with connect_to(new_listener) as connection:
            name = f"Webhook:{new_listener.inbox.next_number()}:conforming"
            connection.sendall(message_of(new_listener, json.dumps({**EVENT, "id": name}).encode()))
            status = status_of(connection)

        assert status == 200
        assert time.monotonic() - started < 5
        assert follower.wait(lambda d: d.id == name, within=10)
        assert new_listener.inbox.missing is None

    @settings(max_examples=150)
    @given(content=contents)
    @example(b'{"data": {"id": {}}, "type": []}')
    def test_a_delivery_can_be_read(self, content: bytes) -> None:
        """Any content can be read, matched, judged and handed on to a follower."""
        body, _ = decode(content)
        entry = Delivery(0, 0.0, {"x": "y"}, body, content)
        manners = Manners()
        manners.set("Transaction:1", "PAYMENT.DONE", Manner.SLOW)

        members = [entry.id, entry.type, entry.text, entry.concerns("Transaction:1"), entry.memory]
        results = [entry.holds("Transaction:1"), manners.of(body), judge().delivery(body)]

        assert len(members) + len(results) == 8
        reloaded = from_json(json.loads(json.dumps(to_json(entry))))
        assert (reloaded.raw, repr(reloaded.body)) == (content, repr(body))

    def test_what_cannot_be_judged_is_kept_and_acknowledged(
        self, listener: WebhookListener
    ) -> None:
        """The delivery gets 200; a check that finds nothing learns that one was not judged."""

        def stumble(_: Delivery) -> None:
            raise RuntimeError("a disk is full")

        listener.inbox.watcher = stumble

        status = deliver(listener, EVENT).status_code

        assert status == 200
        assert listener.inbox.wait(lambda d: d.id == "Webhook:1", within=0)
        with pytest.raises(DeliveriesMissing, match="webhook 0 could not be judged: RuntimeError"):
            listener.inbox.wait(lambda d: d.id == "Webhook:2", within=60)

    @pytest.mark.parametrize(
        ("content", "breaks_off"), [(b'{"id":', True), (b'{"name":', False), (b'{"id":7}', False)]
    )
    def test_the_beginning_of_another_delivery_broke_off(
        self, content: bytes, *, breaks_off: bool
    ) -> None:
        """What is no JSON, and with which another delivery begins, is the same one cut off."""
        whole = Delivery(1, 0.0, {}, {"id": 7}, b'{"id":7}')
        body, _ = decode(content)

        assert Delivery(0, 0.0, {}, body, content).breaks_off_before(whole) is breaks_off

    def test_an_id_may_be_spelled_with_escapes(self) -> None:
        """An id is found where JSON spells a character by its number."""
        content = json.dumps({"id": "Customer:é"}).encode()
        body, _ = decode(content)

        assert Delivery(0, 0.0, {}, body, content).holds("Customer:é")
