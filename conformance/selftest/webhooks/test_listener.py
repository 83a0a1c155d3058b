"""The webhook listener: what arrives is kept in order, acknowledged, and can be waited for."""

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
from conformance.webhooks import follower as follower_module
from conformance.webhooks import inbox as inbox_module
from conformance.webhooks import listener as listener_module
from conformance.webhooks.follower import Follower
from conformance.webhooks.inbox import DeliveriesMissing, Inbox
from conformance.webhooks.listener import STRANGER, ListenerError, WebhookListener
from conformance.webhooks.manner import Manner, Manners

EVENT = {"id": "Webhook:1", "type": "PAYMENT.DONE", "data": {"id": "Transaction:1"}}


@pytest.fixture
def listener() -> Generator[WebhookListener]:
    """A listener on a free port."""
    listening = WebhookListener("127.0.0.1:0")
    yield listening
    listening.close()


def deliver(listener: WebhookListener, body: Any, **more: Any) -> httpx.Response:
    """Send one delivery as a target would; bytes are sent as they are."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    # Without certificates to read it is much faster.
    return httpx.post(listener.url, content=content, trust_env=False, verify=False, **more)


@contextmanager
def connected(listener: WebhookListener) -> Iterator[socket.socket]:
    """Connect to the listener without saying anything."""
    address = urlsplit(listener.follow_url)
    with socket.create_connection((address.hostname, address.port), timeout=5) as connection:
        yield connection


def raw(listener: WebhookListener, message: bytes) -> bytes:
    """Send bytes to the listener and return what it answers."""
    with connected(listener) as connection:
        connection.sendall(message)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(4096), b""))


def post(listener: WebhookListener, content: bytes = b"{}", *headers: bytes) -> bytes:
    """Return a delivery as it stands on the wire."""
    path = urlsplit(listener.url).path.encode()
    lines = [b"host: x", b"content-length: %d" % len(content), *headers]
    return b"POST " + path + b" HTTP/1.1\r\n" + b"\r\n".join([*lines, b"", content])


def status_of(connection: socket.socket) -> int:
    """Return the status of the next answer, which has no body."""
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
        """With its headers, its raw text and the time."""
        before = time.time()

        answer = deliver(listener, EVENT, headers={"X-Signature": "s"})

        assert answer.status_code == 200
        (kept,) = listener.inbox.all(lambda _: True)
        assert (kept.number, kept.id, kept.type) == (0, "Webhook:1", "PAYMENT.DONE")
        assert kept.concerns("Transaction:1")
        assert kept.headers["x-signature"] == "s"
        assert kept.text == json.dumps(EVENT)
        assert before <= kept.at <= time.time()

    def test_a_duplicate_is_kept_beside_the_first(self, listener: WebhookListener) -> None:
        """Delivery at least once is allowed; whether it happened can be seen."""
        for _ in range(3):
            assert deliver(listener, EVENT).status_code == 200

        assert [d.number for d in listener.inbox.all(lambda d: d.id == "Webhook:1")] == [0, 1, 2]

    def test_deliveries_at_the_same_time_are_numbered(self, listener: WebhookListener) -> None:
        """None is lost, and none has the number of another."""
        threads = [
            threading.Thread(target=deliver, args=[listener, {**EVENT, "id": f"Webhook:{n}"}])
            for n in range(10)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        kept = listener.inbox.all(lambda _: True)
        assert [d.number for d in kept] == list(range(10))
        assert len({d.id for d in kept}) == 10

    @pytest.mark.parametrize(
        "content", [b"", b"{", b"\xff\xfe", b"null", b"[]", b'"text"', b"NaN", b"[" * 100_000]
    )
    def test_a_malformed_delivery_is_kept_and_acknowledged(
        self, listener: WebhookListener, content: bytes
    ) -> None:
        """Its members are absent; a target that repeats it for ever would help nobody."""
        answer = deliver(listener, content)

        assert answer.status_code == 200
        (kept,) = listener.inbox.all(lambda _: True)
        assert (kept.id, kept.type, kept.data) == (None, None, None)
        assert not kept.concerns("Transaction:1")

    @pytest.mark.parametrize("members", [{"id": 7, "type": []}, {"data": "text"}, {"data": None}])
    def test_members_of_another_kind_are_absent(self, members: dict[str, Any]) -> None:
        """Nothing that reads them breaks."""
        kept = delivery(**members)

        absent = [getattr(kept, name) for name in ("id", "type") if name in members]
        assert absent == [None] * len(absent)
        assert kept.concerns("Transaction:1") is ("data" not in members)

    def test_a_delivery_in_chunks_is_kept(self, listener: WebhookListener) -> None:
        """Some clients do not announce a length."""
        content = json.dumps(EVENT).encode()

        httpx.post(listener.url, content=iter([content[:9], content[9:]]), trust_env=False)

        (kept,) = listener.inbox.all(lambda _: True)
        assert kept.raw == content

    def test_a_sender_may_ask_whether_to_go_on(self, listener: WebhookListener) -> None:
        """Some do before they send a body."""
        whole = post(listener, b"{}", b"expect: 100-continue")

        with connected(listener) as connection:
            connection.sendall(whole[:-2])
            asked = status_of(connection)
            connection.sendall(whole[-2:])
            answered = status_of(connection)

        assert [asked, answered] == [100, 200]

    def test_deliveries_that_follow_each_other_closely_are_kept(
        self, listener: WebhookListener
    ) -> None:
        """Each is answered on the same connection."""
        message = b"".join(post(listener, b"%d" % number) for number in range(50))

        answered = raw(listener, message)

        assert answered.count(b"HTTP/1.1 200 ") == 50
        assert [d.body for d in listener.inbox.all(lambda _: True)] == list(range(50))

    @pytest.mark.parametrize("cut", [-1, -10, 20])
    def test_a_delivery_that_breaks_off_is_not_kept(
        self, listener: WebhookListener, cut: int
    ) -> None:
        """It has not arrived, and its sender may try again."""
        raw(listener, post(listener, b'{"id": "Webhook:1"}')[:cut])

        assert listener.inbox.all(lambda _: True) == []
        assert deliver(listener, EVENT).status_code == 200

    def test_others_cannot_read_the_deliveries(self, listener: WebhookListener) -> None:
        """The address for that is a secret of the run."""
        origin = listener.url.rpartition("/")[0]

        answers = [
            httpx.get(url, trust_env=False).status_code
            for url in (listener.url, f"{origin}/follow/x?since=0", listener.follow_url)
        ]

        assert answers == [404, 404, 404]


class TestPaths:
    """Only what comes to the URL that was announced is a delivery."""

    @pytest.fixture
    def secretive(self) -> Generator[WebhookListener]:
        """A listener whose URL the run tells the target."""
        listening = WebhookListener("127.0.0.1:0", registered=True)
        yield listening
        listening.close()

    def test_the_url_that_the_run_registers_ends_in_a_secret(
        self, secretive: WebhookListener
    ) -> None:
        """It is new for each run."""
        other = WebhookListener("127.0.0.1:0", registered=True)
        other.close()

        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/webhooks/[0-9a-f]{32}", secretive.url)
        assert secretive.url.rpartition("/")[2] != other.url.rpartition("/")[2]
        assert deliver(secretive, EVENT).status_code == 200

    @pytest.mark.parametrize(
        ("public_url", "announced"),
        [
            ("https://h.example/hooks", r"https://h\.example/hooks/[0-9a-f]{32}"),
            ("https://h.example:8/hooks/", r"https://h\.example:8/hooks/[0-9a-f]{32}"),
            ("https://h.example", r"https://h\.example/[0-9a-f]{32}"),
            ("https://h.example/in?key=a/b&c=", r"https://h\.example/in/[0-9a-f]{32}\?key=a/b&c="),
        ],
    )
    def test_a_public_url_is_extended_by_the_secret(self, public_url: str, announced: str) -> None:
        """Its query stays where it was."""
        listening = WebhookListener("127.0.0.1:0", public_url, registered=True)
        listening.close()

        assert re.fullmatch(announced, listening.url)

    @pytest.mark.parametrize(
        "form", ["/{}", "/a/b/{}", "/webhooks/{}/", "/{}?x=1/2", "http://h.example/hooks/{}"]
    )
    def test_a_proxy_may_change_what_stands_before_the_secret(
        self, secretive: WebhookListener, form: str
    ) -> None:
        """It may add or take away a prefix, a slash or a query."""
        path = urlsplit(secretive.url).path
        target = form.format(path.rpartition("/")[2])

        answered = raw(secretive, post(secretive).replace(path.encode(), target.encode()))

        assert answered.startswith(b"HTTP/1.1 200 ")
        assert len(secretive.inbox.all(lambda _: True)) == 1

    @pytest.mark.parametrize(
        "form", ["/", "/webhooks", "/{}0", "/{}/x", "/x?{}", "/x?/{}", "/%00{}", "*", "/x#/{}é"]
    )
    def test_strangers_are_answered_with_404(self, secretive: WebhookListener, form: str) -> None:
        """What they send is neither read nor judged nor kept, but they are counted."""
        observed: list[str] = []
        judged: list[Delivery] = []
        secretive.observe = observed.append
        secretive.inbox.watcher = judged.append
        path = urlsplit(secretive.url).path
        target = form.format(path.rpartition("/")[2])
        message = post(secretive, b"{" * 500_000).replace(path.encode(), target.encode())

        answered = raw(secretive, message)

        assert answered.startswith((b"HTTP/1.1 404 ", b"HTTP/1.1 400 "))
        assert (secretive.strangers, observed, judged) == (1, [STRANGER], [])
        assert secretive.inbox.all(lambda _: True) == []
        assert deliver(secretive, EVENT).status_code == 200

    @pytest.mark.parametrize("method", ["GET", "PUT", "HEAD", "OPTIONS", "CONNECT"])
    def test_other_methods_are_of_strangers(self, secretive: WebhookListener, method: str) -> None:
        """No webhook is sent by them."""
        answered = raw(secretive, post(secretive).replace(b"POST", method.encode()))

        assert answered.startswith(b"HTTP/1.1 404 ")
        assert secretive.strangers == 1

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
        """Its last segment decides, if it has one."""
        listening = WebhookListener("127.0.0.1:0", public_url)
        origin = listening.follow_url.partition("/follow/")[0]

        answer = httpx.post(origin + path, json=EVENT, trust_env=False)
        listening.close()

        assert answer.status_code == status
        assert public_url is None or listening.url == public_url


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
        """It is not kept, so that nothing can be said of what is absent."""
        answered = raw(listener, b"POST /webhooks HTTP/1.1\r\nhost: x\r\n" + message)

        assert answered.startswith((b"HTTP/1.1 413 ", b"HTTP/1.1 431 "))
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
        """Nothing is kept, and others can go on."""
        answered = raw(listener, message)

        assert answered.startswith((b"HTTP/1.1 400 ", b"HTTP/1.1 431 "))
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
        """What was kept can be found; who misses another one is told why."""
        monkeypatch.setattr(inbox_module, bound, value)
        follower = Follower(listener.follow_url)
        text = {"id": "Webhook:0", "text": "x" * 500}

        answers = [deliver(listener, text).status_code for _ in range(9)]

        kept = answers.count(200)
        assert answers == [200] * kept + [503] * (9 - kept)
        assert kept <= 7
        for inbox in (listener.inbox, follower.inbox):
            found = inbox.wait(lambda d: d.number == kept - 1, within=10)
            assert found is not None
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
        """A few bytes of JSON can take many when decoded."""
        tracemalloc.start()
        body, _ = decode(content)
        taken, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()

        estimate = Delivery(0, 0.0, {}, body, content).memory

        assert 0.5 * taken < estimate < 5 * taken

    @pytest.mark.parametrize("start", [b"P", b"POST /webhooks HTTP/1.1\r\nx: ", None])
    def test_a_sender_that_drips_is_cut_off(
        self, listener: WebhookListener, monkeypatch: pytest.MonkeyPatch, start: bytes | None
    ) -> None:
        """However often it sends a byte; the time of the whole delivery counts."""
        monkeypatch.setattr(listener_module, "MAX_DELIVERY_SECONDS", 0.2)
        over = threading.Event()

        with connected(listener) as connection:
            connection.sendall(start or post(listener, b" " * 9999)[:-9990])

            def drip() -> None:
                with contextlib.suppress(OSError):
                    while not over.wait(0.02):
                        connection.sendall(b"x")

            dripping = threading.Thread(target=drip)
            dripping.start()
            status = status_of(connection)
            over.set()
            dripping.join()

        assert status == 408
        assert listener.inbox.all(lambda _: True) == []

    def test_connections_that_are_left_open_starve_nobody(
        self, listener: WebhookListener, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """The one that has been idle for the longest time makes room."""
        monkeypatch.setattr(listener_module, "MAX_CONNECTIONS", 4)

        with contextlib.ExitStack() as stack:
            opened = [stack.enter_context(connected(listener)) for _ in range(4)]
            statuses = []
            for connection in [*opened, *(None,) * 10]:
                used = connection or stack.enter_context(connected(listener))
                used.sendall(post(listener))
                statuses.append(status_of(used))
                opened.append(used)
            ended = is_cut(opened[0])

        assert statuses == [200] * 14
        assert ended

    def test_idle_strangers_starve_nobody(
        self, listener: WebhookListener, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Neither those that say nothing nor those that stop in the middle of a request."""
        monkeypatch.setattr(listener_module, "MAX_CONNECTIONS", 4)

        with contextlib.ExitStack() as stack:
            for start in (b"", b"POST /x HTTP/1.1\r\n") * 10:
                stack.enter_context(connected(listener)).sendall(start)
            answer = deliver(listener, EVENT, timeout=2)

        assert answer.status_code == 200

    def test_a_delivery_that_is_under_way_is_not_cut_off(
        self, listener: WebhookListener, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """It is not idle, though it was there first."""
        monkeypatch.setattr(listener_module, "MAX_CONNECTIONS", 2)
        whole = post(listener, b"{}", b"expect: 100-continue")

        with connected(listener) as connection:
            connection.sendall(whole[:-2])
            begun = status_of(connection)
            others = [deliver(listener, EVENT).status_code for _ in range(5)]
            connection.sendall(whole[-2:])
            ended = status_of(connection)

        assert [begun, *others, ended] == [100, *[200] * 5, 200]


class TestManners:
    """A test may let the deliveries about its resource be taken otherwise."""

    def test_a_delivery_is_answered_with_500(self, listener: WebhookListener) -> None:
        """It is kept all the same, and what comes after the end is acknowledged."""
        listener.treat("Transaction:1", "PAYMENT.DONE", Manner.FAILING)

        refused = deliver(listener, EVENT)
        listener.treat("Transaction:1", "PAYMENT.DONE", None)
        taken = deliver(listener, EVENT)

        assert [refused.status_code, taken.status_code] == [500, 200]
        assert [d.acknowledged for d in listener.inbox.all(lambda _: True)] == [False, True]

    def test_a_delivery_is_not_answered(self, listener: WebhookListener) -> None:
        """The connection is closed."""
        listener.treat("Transaction:1", "PAYMENT.DONE", Manner.CLOSED)

        with pytest.raises(httpx.RemoteProtocolError):
            deliver(listener, EVENT)

        (kept,) = listener.inbox.all(lambda _: True)
        assert not kept.acknowledged

    def test_a_delivery_is_acknowledged_late(self, listener: WebhookListener) -> None:
        """It is known before."""
        listener.treat("Transaction:1", "PAYMENT.DONE", Manner.SLOW)
        started = time.time()

        answer = deliver(listener, EVENT)

        (kept,) = listener.inbox.all(lambda _: True)
        assert answer.status_code == 200
        assert kept.acknowledged
        assert started <= kept.at < time.time() - 0.2

    @pytest.mark.parametrize(
        "other",
        [{**EVENT, "type": "PAYMENT.BEGUN"}, {**EVENT, "data": {"id": "Transaction:2"}}, [], "x"],
        ids=["another type", "another resource", "a list", "a text"],
    )
    def test_others_are_acknowledged(self, listener: WebhookListener, other: Any) -> None:
        """They belong to other tests."""
        listener.treat("Transaction:1", "PAYMENT.DONE", Manner.FAILING)

        assert deliver(listener, other).status_code == 200

    def test_a_follower_may_ask_for_it(self, listener: WebhookListener) -> None:
        """Its process does not listen itself."""
        follower = Follower(listener.follow_url)

        follower.treat("Transaction:1", "PAYMENT.DONE", Manner.FAILING)
        refused = deliver(listener, EVENT)
        follower.treat("Transaction:1", "PAYMENT.DONE", None)
        taken = deliver(listener, EVENT)
        follower.inbox.wait(lambda d: d.number == 1, within=10)
        follower.close()

        assert [refused.status_code, taken.status_code] == [500, 200]
        assert [d.acknowledged for d in follower.inbox.all(lambda _: True)] == [False, True]

    def test_others_cannot_ask_for_it(self, listener: WebhookListener) -> None:
        """The address for that is a secret of the run; elsewhere it is a delivery."""
        wanted = {"resource": "Transaction:1", "type": "PAYMENT.DONE", "manner": "failing"}

        deliver(listener, wanted)

        assert deliver(listener, EVENT).status_code == 200


class TestWaiting:
    """A check goes on as soon as what it waits for has arrived."""

    def test_what_has_arrived_is_found_at_once(self) -> None:
        """The first that is wanted."""
        inbox = Inbox()
        for number in range(3):
            inbox.put(delivery(number, id=f"Webhook:{number}"))

        found = inbox.wait(lambda d: d.number > 0, within=0)

        assert found is not None
        assert found.number == 1

    def test_what_arrives_later_wakes_the_check(self) -> None:
        """Without polling: it goes on long before its time is over."""
        inbox = Inbox()
        timer = threading.Timer(0.05, inbox.put, [delivery()])
        started = time.monotonic()

        timer.start()
        found = inbox.wait(lambda d: d.type == "PAYMENT.DONE", within=30)

        assert found is not None
        assert time.monotonic() - started < 5

    def test_each_delivery_is_looked_at_once(self) -> None:
        """However many arrive while a check waits."""
        inbox = Inbox()
        looked_at: list[int] = []

        def fill() -> None:
            for number in range(20):
                inbox.put(delivery(number))

        def wanted(seen: Delivery) -> bool:
            looked_at.append(seen.number)
            return seen.number == 19

        filler = threading.Timer(0.01, fill)
        filler.start()
        inbox.wait(wanted, within=10)
        filler.join()

        assert looked_at == list(range(20))

    def test_what_does_not_arrive_is_given_up(self) -> None:
        """Others that arrive do not lengthen the wait."""
        inbox = Inbox()
        stop = threading.Event()

        def disturb() -> None:
            while not stop.wait(0.01):
                inbox.put(delivery(type="OTHER"))

        disturber = threading.Thread(target=disturb)
        disturber.start()
        started = time.monotonic()
        found = inbox.wait(lambda d: d.type == "PAYMENT.DONE", within=0.2)
        spent = time.monotonic() - started
        stop.set()
        disturber.join()

        assert found is None
        assert 0.2 <= spent < 2


class TestFollowing:
    """The workers of a run read the deliveries of its one listener."""

    def test_a_follower_gets_all_in_order(self, listener: WebhookListener) -> None:
        """Those before it and those after."""
        deliver(listener, {**EVENT, "id": "Webhook:0"})
        follower = Follower(listener.follow_url)
        deliver(listener, {**EVENT, "id": "Webhook:1"})
        deliver(listener, b"{")

        last = follower.inbox.wait(lambda d: d.number == 2, within=10)
        follower.close()

        assert last is not None
        assert [d.id for d in follower.inbox.all(lambda _: True)] == [
            "Webhook:0",
            "Webhook:1",
            None,
        ]
        assert follower.inbox.all(lambda _: True) == listener.inbox.all(lambda _: True)

    def test_followers_do_not_disturb_each_other(self, listener: WebhookListener) -> None:
        """Each has everything."""
        followers = [Follower(listener.follow_url) for _ in range(2)]
        deliver(listener, EVENT)

        found = [f.inbox.wait(lambda d: d.id == "Webhook:1", within=10) for f in followers]
        for follower in followers:
            follower.close()

        assert None not in found

    def test_a_follower_ends_with_its_listener(self) -> None:
        """The run is over then."""
        listening = WebhookListener("127.0.0.1:0")
        follower = Follower(listening.follow_url)
        listening.close()

        follower._thread.join(10)

        assert not follower._thread.is_alive()

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
        """The listener goes on."""
        answer = httpx.post(listener.follow_url, json=body, trust_env=False)

        assert answer.status_code == 404
        assert deliver(listener, EVENT).status_code == 200

    @pytest.mark.parametrize(
        "query", ["", "?since=", "?since=x", "?since=²", f"?since={'9' * 5000}"]
    )
    def test_a_number_that_is_none_is_refused(self, listener: WebhookListener, query: str) -> None:
        """The listener goes on."""
        answer = httpx.get(listener.follow_url + query, trust_env=False)

        assert answer.status_code == 404

    def test_many_deliveries_come_in_batches(
        self, listener: WebhookListener, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A follower that is late does not get all in one answer."""
        monkeypatch.setattr(listener_module, "_BATCH_BYTES", 10)
        for number in range(20):
            deliver(listener, {**EVENT, "id": f"Webhook:{number}"})

        answer = httpx.get(f"{listener.follow_url}?since=0", trust_env=False)
        follower = Follower(listener.follow_url)
        last = follower.inbox.wait(lambda d: d.id == "Webhook:19", within=10)
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
            b'{"deliveries": [null], "missing": null}',
            b'{"deliveries": [{"raw": "\xc3\xa9"}], "missing": null}',
            b'{"deliveries": [{"raw": "", "x": 1}], "missing": null}',
        ],
    )
    def test_a_follower_that_gets_no_answer_says_so(
        self,
        stand_in: Callable[[Behaviour], StandIn],
        monkeypatch: pytest.MonkeyPatch,
        content: bytes,
    ) -> None:
        """Whoever waits is not told that nothing came."""
        monkeypatch.setattr(follower_module, "_MAX_FAILURES", 1)
        server = stand_in(standins.answers(200, content))
        follower = Follower(server.origin)

        with pytest.raises(DeliveriesMissing, match="does not hand on the webhooks"):
            follower.inbox.wait(lambda _: True, within=30)

    def test_a_follower_overcomes_a_failure(self, listener: WebhookListener) -> None:
        """One answer that is broken off is asked for again."""
        follower = Follower(listener.follow_url)
        for connection in list(listener._open):
            listener._loop.call_soon_threadsafe(connection.cut)
        deliver(listener, EVENT)

        found = follower.inbox.wait(lambda d: d.id == "Webhook:1", within=10)
        follower.close()

        assert found is not None

    def test_a_manner_that_cannot_be_asked_for_is_no_fault_of_the_target(self) -> None:
        """The secret URL is not told."""
        listening = WebhookListener("127.0.0.1:0")
        listening.close()
        follower = Follower(listening.follow_url)
        follower.close()

        with pytest.raises(HarnessError) as raised:
            follower.treat("Transaction:1", "PAYMENT.DONE", Manner.SLOW)

        assert "/follow/" not in str(raised.value)


class TestStarting:
    """Where the profile asks for it, or an error that names the key."""

    def test_the_public_url_is_told_to_targets(self) -> None:
        """A tunnel leads to the listener."""
        listening = WebhookListener("127.0.0.1:0", "https://tunnel.example/hooks")
        listening.close()

        assert listening.url == "https://tunnel.example/hooks"
        assert listening.follow_url.startswith("http://127.0.0.1:")

    @pytest.mark.parametrize(
        "listen",
        ["8080", "localhost", "localhost:http", ":8080", "", "::1:80", "[::1]", "[]:80", "a:²"],
    )
    def test_a_malformed_address_is_refused(self, listen: str) -> None:
        """With the form that is expected."""
        with pytest.raises(ListenerError, match=r"webhooks\.listen is host:port, got") as refused:
            WebhookListener(listen)

        assert "write it like 127.0.0.1:8099, or [::1]:8099 for IPv6" in str(refused.value)

    @pytest.mark.parametrize(
        "url", ["hooks.example.com/x", "ftp://x/y", "https://", "http://[::1", "http://x:99999/"]
    )
    def test_a_malformed_public_url_is_refused(self, url: str) -> None:
        """With its key and an example."""
        with pytest.raises(ListenerError, match=r"webhooks\.public_url is the URL") as refused:
            WebhookListener("127.0.0.1:0", url)

        assert "https://hooks.example.com/conformance" in str(refused.value)

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
        """With the key of the profile."""
        with pytest.raises(ListenerError, match=message) as refused:
            WebhookListener(listen)

        assert "webhooks.listen of the profile" in str(refused.value)

    def test_a_port_that_is_taken_is_refused(self, listener: WebhookListener) -> None:
        """Two runs on one machine need two."""
        port = urlsplit(listener.url).port

        with pytest.raises(ListenerError, match="Address already in use"):
            WebhookListener(f"127.0.0.1:{port}")

    def test_it_can_be_closed_twice(self) -> None:
        """However a run ends."""
        listening = WebhookListener("127.0.0.1:0")

        listening.close()
        listening.close()


def has_ipv6() -> bool:
    """Return whether this machine has a loopback address of IPv6."""
    try:
        socket.create_server(("::1", 0), family=socket.AF_INET6).close()
    except OSError:
        return False
    return True


class TestAddresses:
    """It listens on each kind of address, and tells one that can be reached."""

    @pytest.mark.parametrize(
        ("listen", "announced", "followed"),
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
    def test_it_can_be_reached(self, listen: str, announced: str, followed: str) -> None:
        """By the target and by the other processes of the run."""
        listening = WebhookListener(listen, registered=True)
        follower = Follower(listening.follow_url)

        status = deliver(listening, EVENT).status_code
        found = follower.inbox.wait(lambda d: d.id == "Webhook:1", within=10)
        follower.close()
        listening.close()

        assert status == 200
        assert found is not None
        assert listening.url.startswith(announced)
        assert listening.follow_url.startswith(followed)

    @pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
    def test_a_name_that_stands_for_ipv6_alone(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """The name is announced."""
        resolve = socket.getaddrinfo

        def resolved(host: Any, *arguments: Any, **more: Any) -> Any:
            return resolve("::1" if host == "six.example" else host, *arguments, **more)

        monkeypatch.setattr(socket, "getaddrinfo", resolved)
        listening = WebhookListener("six.example:0")

        status = deliver(listening, EVENT).status_code
        listening.close()

        assert status == 200
        assert listening.url.startswith("http://six.example:")
        assert listening.follow_url.startswith("http://[::1]:")


class TestRun:
    """A run takes the deliveries of its target, and tells how many strangers came."""

    def test_the_target_is_told_the_secret(self, reference_target: Target, tmp_path: Path) -> None:
        """A stranger's event decides nothing."""
        connection = Connection.open(reference_target, seed=1, folder=RunFolder(tmp_path, "1"))
        try:
            platform = connection.platform("test")
            customer = platform.approved.customer()
            assert connection.follow_url is not None
            origin = connection.follow_url.partition("/follow/")[0]
            httpx.post(f"{origin}/webhooks", json=EVENT, trust_env=False)
            mentioned = platform.webhooks.mentioning(customer["id"])
        finally:
            connection.close()

        assert mentioned
        assert connection.observations[STRANGER] == 1
        assert connection.inbox.all(lambda d: d.id == EVENT["id"]) == []


# Whatever JSON can spell, and what only some parsers take for JSON.
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


def spelled(value: Any) -> bytes:
    """Return JSON bytes; halves of characters stand as they are, which no UTF-8 has."""
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")


contents = (
    st.binary(max_size=40)
    | (values | events).map(spelled)
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
    """Return what looks like a request to the listener, more or less."""
    method = draw(st.sampled_from([b"POST", b"POST", b"POST", b"GET", b"CONNECT", b""]) | tokens)
    path = draw(st.sampled_from([b"/webhooks", b"/webhooks", b"/follow/x?since=0"]) | tokens)
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
def followed() -> Generator[tuple[WebhookListener, Follower]]:
    """A listener that judges what comes, and its follower; nothing may go wrong in either."""
    listening = WebhookListener("127.0.0.1:0")
    troubles: list[dict[str, Any]] = []
    listening._loop.set_exception_handler(lambda _, context: troubles.append(context))

    def judged(delivery: Delivery) -> None:
        judge().delivery(delivery.body)

    listening.inbox.watcher = judged
    follower = Follower(listening.follow_url)
    yield listening, follower
    follower.close()
    listening.close()
    gc.collect()
    assert troubles == []


class TestWhateverComes:
    """Nothing that a sender sends stops the listener, a follower or a check."""

    @settings(
        max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None
    )
    @given(
        message=st.binary(max_size=200)
        | messages()
        | st.lists(messages(), max_size=3).map(b"".join)
    )
    def test_an_honest_delivery_still_arrives(
        self, followed: tuple[WebhookListener, Follower], message: bytes
    ) -> None:
        """It is acknowledged soon, and found."""
        listening, follower = followed
        with contextlib.suppress(OSError):
            raw(listening, message)
        started = time.monotonic()

        with connected(listening) as connection:
            name = f"Webhook:{listening.inbox.next_number()}:honest"
            connection.sendall(post(listening, json.dumps({**EVENT, "id": name}).encode()))
            status = status_of(connection)

        assert status == 200
        assert time.monotonic() - started < 5
        assert follower.inbox.wait(lambda d: d.id == name, within=10)
        assert listening.inbox.missing is None

    @settings(max_examples=150, deadline=None)
    @given(content=contents)
    @example(b'{"data": {"id": {}}, "type": []}')
    def test_a_delivery_can_be_read(self, content: bytes) -> None:
        """Whatever its members are."""
        body, _ = decode(content)
        kept = Delivery(0, 0.0, {"x": "y"}, body, content)
        manners = Manners()
        manners.set("Transaction:1", "PAYMENT.DONE", Manner.SLOW)

        read = [kept.id, kept.type, kept.text, kept.concerns("Transaction:1"), kept.memory]
        found = [kept.holds("Transaction:1"), manners.of(body), judge().delivery(body)]

        assert len(read) + len(found) == 8
        handed_on = from_json(json.loads(json.dumps(to_json(kept))))
        assert (handed_on.raw, repr(handed_on.body)) == (content, repr(body))

    def test_what_cannot_be_judged_is_kept_and_acknowledged(
        self, listener: WebhookListener
    ) -> None:
        """Whoever misses a delivery is told of it."""

        def stumble(_: Delivery) -> None:
            raise RuntimeError("a disk is full")

        listener.inbox.watcher = stumble

        status = deliver(listener, EVENT).status_code

        assert status == 200
        assert listener.inbox.wait(lambda d: d.id == "Webhook:1", within=0)
        with pytest.raises(DeliveriesMissing, match="webhook 0 could not be judged: RuntimeError"):
            listener.inbox.wait(lambda d: d.id == "Webhook:2", within=60)

    def test_an_id_may_be_spelled_with_escapes(self) -> None:
        """It is found all the same."""
        content = json.dumps({"id": "Customer:é"}).encode()
        body, _ = decode(content)

        assert Delivery(0, 0.0, {}, body, content).holds("Customer:é")
