"""The webhook listener: takes deliveries, acknowledges them, and lets checks wait for them."""

from __future__ import annotations

import base64
import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import httpx

from conformance.client.content import decode, text

_LARGEST_DELIVERY = 1024 * 1024
_LONGEST_LINE = 1024
_SLOW_SECONDS = 0.25


class ListenerError(Exception):
    """The listener cannot be started where the profile asks for it."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One webhook delivery as it arrived.

    ``body`` is the decoded JSON value, or ``None`` if it was not JSON; ``raw`` are the bytes.
    ``at`` is the time of arrival in seconds since the epoch. ``acknowledged`` says whether it was
    answered with 200.
    """

    number: int
    at: float
    headers: Mapping[str, str]
    body: Any
    raw: bytes
    acknowledged: bool = True

    @property
    def text(self) -> str:
        """The raw bytes as text."""
        return text(self.raw)

    @property
    def id(self) -> str | None:
        """The event's id, the same in every delivery of one event."""
        return self._member("id")

    @property
    def type(self) -> str | None:
        """The event's type, for example ``OUTGOING_PAYMENT.COMPLETED``."""
        return self._member("type")

    @property
    def data(self) -> Any:
        """The affected resource."""
        return self.body.get("data") if isinstance(self.body, dict) else None

    def concerns(self, resource: str) -> bool:
        """Return whether ``data`` is the resource of that id."""
        return isinstance(self.data, dict) and self.data.get("id") == resource

    def holds(self, *names: str) -> bool:
        """Return whether one of ``names`` stands anywhere in it."""
        # A sender may write characters of an id as escapes.
        shown = json.dumps(self.body, ensure_ascii=False)
        return any(name in shown or name in self.text for name in names)

    def _member(self, name: str) -> str | None:
        value = self.body.get(name) if isinstance(self.body, dict) else None
        return value if isinstance(value, str) else None


class Manner(StrEnum):
    """How the listener takes a delivery, where it does not acknowledge it at once."""

    SLOW = "slow"
    """It answers 200, but not at once."""
    FAILING = "failing"
    """It answers 500."""
    CLOSED = "closed"
    """It closes the connection without an answer."""


Treat = Callable[[str, str, Manner | None], None]
"""Lets the deliveries of one type about one resource be taken in a manner; ``None`` ends that."""


class Manners:
    """Which deliveries the listener does not acknowledge at once. Safe for threads.

    A manner concerns one resource, so that no other test notices.
    """

    def __init__(self) -> None:
        self._known: dict[tuple[str, str], Manner] = {}

    def set(self, resource: str, kind: str, manner: Manner | None) -> None:
        """Let deliveries of a type about a resource be taken in a manner; ``None`` ends that."""
        if manner is None:
            self._known.pop((resource, kind), None)
        else:
            self._known[resource, kind] = manner

    def of(self, body: Any) -> Manner | None:
        """Return the manner in which a delivery is to be taken, ``None`` for the usual one."""
        data = body.get("data") if isinstance(body, dict) else None
        resource = data.get("id") if isinstance(data, dict) else None
        kind = body.get("type") if isinstance(body, dict) else None
        return self._known.get((str(resource), str(kind)))


class Inbox:
    """All deliveries of a run so far, and the means to wait for one. Safe for threads."""

    def __init__(self) -> None:
        self._deliveries: list[Delivery] = []
        self._arrived = threading.Condition()
        self.watcher: Callable[[Delivery], None] = lambda _: None

    def put(self, delivery: Delivery) -> None:
        """Store a delivery and wake all that wait."""
        self.watcher(delivery)
        with self._arrived:
            self._deliveries.append(delivery)
            self._arrived.notify_all()

    def wait(self, wanted: Callable[[Delivery], bool], within: float) -> Delivery | None:
        """Return the first delivery that is wanted, waiting ``within`` seconds for it."""
        until = time.monotonic() + within
        seen = 0
        with self._arrived:
            while True:
                for delivery in self._deliveries[seen:]:
                    if wanted(delivery):
                        return delivery
                seen = len(self._deliveries)
                if not self._arrived.wait(max(0.0, until - time.monotonic())):
                    return None

    def all(self, wanted: Callable[[Delivery], bool]) -> list[Delivery]:
        """Return the wanted deliveries that have arrived, in the order of arrival."""
        with self._arrived:
            return [delivery for delivery in self._deliveries if wanted(delivery)]

    def since(self, number: int, within: float) -> list[Delivery]:
        """Return the deliveries from ``number`` on, waiting ``within`` seconds for the first."""
        with self._arrived:
            self._arrived.wait_for(lambda: len(self._deliveries) > number, within)
            return self._deliveries[number:]

    def next_number(self) -> int:
        """Return how many deliveries have arrived."""
        with self._arrived:
            return len(self._deliveries)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 30.0
    inbox: ClassVar[Inbox]
    manners: ClassVar[Manners]
    follow_path: ClassVar[str]

    def do_POST(self) -> None:
        raw = self._body()
        if raw is None:
            self.close_connection = True
            self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, b"")
            return
        body, _ = decode(raw)
        if self.path == self.follow_path:
            self.manners.set(*_manner_in(body))
            self._answer(HTTPStatus.OK, b"")
            return
        manner = self.manners.of(body)
        with self.lock:
            self.inbox.put(
                Delivery(
                    self.inbox.next_number(),
                    time.time(),
                    {name.lower(): value for name, value in self.headers.items()},
                    body,
                    raw,
                    acknowledged=manner in (None, Manner.SLOW),
                )
            )
        self._acknowledge(manner)

    def _acknowledge(self, manner: Manner | None) -> None:
        if manner is Manner.CLOSED:
            self.close_connection = True
            return
        if manner is Manner.SLOW:
            # To be late is what was asked for; no test waits for it, and no other sender does.
            time.sleep(_SLOW_SECONDS)
        failing = manner is Manner.FAILING
        self._answer(HTTPStatus.INTERNAL_SERVER_ERROR if failing else HTTPStatus.OK, b"")

    def do_GET(self) -> None:
        path, _, number = self.path.partition("?since=")
        if path != self.follow_path or not number.isdigit():
            self._answer(HTTPStatus.NOT_FOUND, b"")
            return
        found = self.inbox.since(int(number), within=1.0)
        self._answer(HTTPStatus.OK, json.dumps([_to_json(one) for one in found]).encode())

    lock: ClassVar[threading.Lock]

    def _body(self) -> bytes | None:
        """Return the body, of a length that was announced or in chunks; ``None`` for too much."""
        if "chunked" not in self.headers.get("transfer-encoding", "").lower():
            length = _number(self.headers.get("content-length", "0"), 10)
            return None if length > _LARGEST_DELIVERY else self.rfile.read(length)
        body = b""
        while size := _number(text(self._line().partition(b";")[0]), 16):
            if size + len(body) > _LARGEST_DELIVERY:
                return None
            body += self.rfile.read(size)
            self._line()
        while self._line().strip():
            pass
        return body

    def _line(self) -> bytes:
        return self.rfile.readline(_LONGEST_LINE)

    def _answer(self, status: HTTPStatus, content: bytes) -> None:
        self.send_response(status)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Say nothing: the journal holds every delivery."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing: a sender that hangs up has not delivered, and may do so again."""


class WebhookListener:
    """An HTTP server on a port of its own that acknowledges every delivery with 200.

    Args:
        listen: ``host:port``; port 0 takes a free one.
        public_url: the URL that targets reach it under, when that differs.

    Raises:
        ListenerError: the address is malformed or taken.
    """

    def __init__(self, listen: str, public_url: str | None = None) -> None:
        host, _, port = listen.rpartition(":")
        if not host or not port.isdigit():
            raise ListenerError(f"webhooks.listen is host:port, got {listen!r}")
        self.inbox = Inbox()
        self._manners = Manners()
        self._secret_path = f"/follow/{secrets.token_urlsafe(16)}"
        handler = type(
            "Handler",
            (_Handler,),
            {
                "inbox": self.inbox,
                "manners": self._manners,
                "follow_path": self._secret_path,
                "lock": threading.Lock(),
            },
        )
        try:
            self._server = _Server((host, int(port)), handler)
        except (OSError, OverflowError) as error:
            cause = error.strerror if isinstance(error, OSError) else "there is no such port"
            raise ListenerError(
                f"cannot listen for webhooks on {listen} (webhooks.listen of the profile): {cause}"
            ) from error
        address = f"http://{host}:{self._server.server_address[1]}"
        self.url = public_url or f"{address}/webhooks"
        """Where the target sends its webhooks."""
        self.follow_url = address + self._secret_path
        """Where other processes of this run read the deliveries."""
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        self._thread.start()

    def treat(self, resource: str, kind: str, manner: Manner | None) -> None:
        """Let deliveries of a type about a resource be taken in a manner; ``None`` ends that."""
        self._manners.set(resource, kind, manner)

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()


class Follower:
    """Fills an inbox of this process from the listener of another one."""

    def __init__(self, follow_url: str) -> None:
        self.inbox = Inbox()
        self._url = follow_url
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def treat(self, resource: str, kind: str, manner: Manner | None) -> None:
        """Let the listener take deliveries of a type about a resource in a manner; as there."""
        wanted = {"resource": resource, "type": kind, "manner": manner}
        httpx.post(self._url, json=wanted, timeout=10.0, trust_env=False).raise_for_status()

    def close(self) -> None:
        """Stop following."""
        self._stopped.set()

    def _follow(self) -> None:
        with httpx.Client(timeout=10.0, trust_env=False) as client:
            while not self._stopped.is_set():
                number = self.inbox.next_number()
                try:
                    found = client.get(f"{self._url}?since={number}").json()
                except httpx.TimeoutException:
                    # Busy machines are slow, and a delivery that is missed fails a check.
                    continue
                except httpx.HTTPError:
                    # The controller is gone, and with it the run.
                    return
                for entry in found:
                    self.inbox.put(_from_json(entry))


def _to_json(delivery: Delivery) -> dict[str, Any]:
    """Return a delivery as it goes to other processes."""
    members: dict[str, Any] = {name: getattr(delivery, name) for name in Delivery.__slots__}
    return {**members, "raw": base64.b64encode(delivery.raw).decode()}


def _from_json(members: Mapping[str, Any]) -> Delivery:
    return Delivery(**{**members, "raw": base64.b64decode(members["raw"])})


def _manner_in(body: Any) -> tuple[str, str, Manner | None]:
    """Return what another process of the run asks for."""
    manner = body["manner"]
    return body["resource"], body["type"], None if manner is None else Manner(manner)


def _number(digits: str, base: int) -> int:
    """Return a length as HTTP spells it; what is none counts as too large."""
    too_large = _LARGEST_DELIVERY + 1
    try:
        number = int(digits.strip(), base)
    except ValueError:
        return too_large
    return number if number >= 0 else too_large
