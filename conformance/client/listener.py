"""The webhook listener: takes deliveries, acknowledges them, and lets checks wait for them."""

from __future__ import annotations

import json
import secrets
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, ClassVar

import httpx

from conformance.client.content import decode, text

_LARGEST_DELIVERY = 1024 * 1024
_LONGEST_LINE = 1024


class ListenerError(Exception):
    """The listener cannot be started where the profile asks for it."""


@dataclass(frozen=True, slots=True)
class Delivery:
    """One webhook delivery as it arrived.

    ``body`` is the decoded JSON value, or ``None`` if it was not JSON; ``raw`` are the bytes as
    text. ``at`` is the time of arrival in seconds since the epoch.
    """

    number: int
    at: float
    headers: Mapping[str, str]
    body: Any
    raw: str

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

    def _member(self, name: str) -> str | None:
        value = self.body.get(name) if isinstance(self.body, dict) else None
        return value if isinstance(value, str) else None


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
    follow_path: ClassVar[str]

    def do_POST(self) -> None:
        raw = self._body()
        if raw is None:
            self.close_connection = True
            self._answer(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, b"")
            return
        body, _ = decode(raw)
        with self.lock:
            self.inbox.put(
                Delivery(
                    self.inbox.next_number(),
                    time.time(),
                    {name.lower(): value for name, value in self.headers.items()},
                    body,
                    text(raw),
                )
            )
        self._answer(HTTPStatus.OK, b"")

    def do_GET(self) -> None:
        path, _, number = self.path.partition("?since=")
        if path != self.follow_path or not number.isdigit():
            self._answer(HTTPStatus.NOT_FOUND, b"")
            return
        found = self.inbox.since(int(number), within=1.0)
        content = json.dumps(
            [
                {"number": d.number, "at": d.at, "headers": d.headers, "body": d.body, "raw": d.raw}
                for d in found
            ]
        )
        self._answer(HTTPStatus.OK, content.encode())

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
        self._secret_path = f"/follow/{secrets.token_urlsafe(16)}"
        handler = type(
            "Handler",
            (_Handler,),
            {"inbox": self.inbox, "follow_path": self._secret_path, "lock": threading.Lock()},
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
                    self.inbox.put(Delivery(**entry))


def _number(digits: str, base: int) -> int:
    """Return a length as HTTP spells it; what is none counts as too large."""
    too_large = _LARGEST_DELIVERY + 1
    try:
        number = int(digits.strip(), base)
    except ValueError:
        return too_large
    return number if number >= 0 else too_large
