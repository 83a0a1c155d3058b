"""The webhook listener: what arrives is kept in order, acknowledged, and can be waited for."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Generator
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest

from conformance.client.listener import (
    Delivery,
    Follower,
    Inbox,
    ListenerError,
    Manner,
    WebhookListener,
)

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
    return httpx.post(listener.url, content=content, trust_env=False, **more)


def raw(listener: WebhookListener, message: bytes) -> bytes:
    """Send bytes to the listener and return what it answers."""
    address = urlsplit(listener.url)
    with socket.create_connection((address.hostname, address.port), timeout=5) as connection:
        connection.sendall(message)
        connection.shutdown(socket.SHUT_WR)
        return b"".join(iter(lambda: connection.recv(4096), b""))


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

    @pytest.mark.parametrize(
        "message",
        [
            b"POST / HTTP/1.1\r\ncontent-length: 9999999\r\n\r\n",
            b"POST / HTTP/1.1\r\ncontent-length: many\r\n\r\n",
            b"POST / HTTP/1.1\r\ncontent-length: -1\r\n\r\n",
            b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nfffffff\r\n",
            b"POST / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\nzz\r\n",
        ],
        ids=["too long", "no number", "negative", "too long a chunk", "no chunk"],
    )
    def test_a_flood_is_refused(self, listener: WebhookListener, message: bytes) -> None:
        """It is not read, and nothing is kept."""
        answered = raw(listener, message)

        assert answered.startswith(b"HTTP/1.1 413 ")
        assert listener.inbox.all(lambda _: True) == []

    def test_the_path_is_of_no_account(self, listener: WebhookListener) -> None:
        """A tunnel may lead here by any."""
        origin = listener.url.rpartition("/")[0]

        httpx.post(f"{origin}/hooks/acme?x=1", json=EVENT, trust_env=False)

        assert len(listener.inbox.all(lambda _: True)) == 1

    def test_others_cannot_read_the_deliveries(self, listener: WebhookListener) -> None:
        """The address for that is a secret of the run."""
        origin = listener.url.rpartition("/")[0]

        answers = [
            httpx.get(url, trust_env=False).status_code
            for url in (listener.url, f"{origin}/follow/x?since=0", listener.follow_url)
        ]

        assert answers == [404, 404, 404]


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


class TestStarting:
    """Where the profile asks for it, or an error that names the key."""

    def test_the_public_url_is_told_to_targets(self) -> None:
        """A tunnel leads to the listener."""
        listening = WebhookListener("127.0.0.1:0", "https://tunnel.example/hooks")
        listening.close()

        assert listening.url == "https://tunnel.example/hooks"
        assert listening.follow_url.startswith("http://127.0.0.1:")

    @pytest.mark.parametrize("listen", ["8080", "localhost", "localhost:http", ":8080", ""])
    def test_a_malformed_address_is_refused(self, listen: str) -> None:
        """With the form that is expected."""
        with pytest.raises(ListenerError, match=r"webhooks\.listen is host:port, got"):
            WebhookListener(listen)

    @pytest.mark.parametrize(
        ("listen", "message"),
        [
            ("127.0.0.1:99999", "there is no such port"),
            ("absent.invalid:0", r"cannot listen for webhooks on absent\.invalid:0"),
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
