"""A server in front of the reference, which passes everything on but what one entry changes."""

from __future__ import annotations

import contextlib
import http.client
import json
import re
import socket
import ssl
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from types import TracebackType
from typing import IO, Any, Self
from urllib.parse import urlsplit

from conformance.selftest.standins import VERSION, Received

_ENDPOINT = "/control/webhook-endpoint"
_DELIVERIES = "/deliveries-of-the-reference"
_ENDLESS_SECONDS = 20.0
_OF_HOP = frozenset({"connection", "content-length", "transfer-encoding", "date", "server"})


@dataclass(frozen=True, slots=True)
class Reply:
    """An HTTP response: status, headers by their lower-case names, and the bytes of the body."""

    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> Any:
        """Return the decoded body; ``None`` where it is empty."""
        return json.loads(self.body) if self.body else None

    def with_json(self, value: Any) -> Reply:
        """Return the reply with another JSON body."""
        return replace(self, body=json.dumps(value).encode())

    def with_headers(self, **headers: str) -> Reply:
        """Return the reply with further headers; underscores in names stand for hyphens."""
        header_values = {name.replace("_", "-"): value for name, value in headers.items()}
        return replace(self, headers={**self.headers, **header_values})

    def head(self, **framing: str) -> bytes:
        """Return the status line and the headers, the ones of ``framing`` last."""
        header_values = {name.replace("_", "-"): value for name, value in framing.items()}
        lines = "".join(
            f"{name}: {value}\r\n" for name, value in {**self.headers, **header_values}.items()
        )
        return f"HTTP/1.1 {self.status} Made Up\r\n{lines}\r\n".encode()


@dataclass(slots=True)
class Turn:
    """One request to the front, and the means to answer it.

    ``number`` counts the requests of the front from 1; ``stopped`` is set when the front stops.
    With ``closes`` the connection ends after the turn.
    """

    connection: socket.socket
    received: Received
    number: int
    stopped: threading.Event
    ask: Callable[[Received], Reply]
    closes: bool = False

    @property
    def line(self) -> str:
        """The method and the path of the request, as in ``GET /2025-10-13/config``."""
        return f"{self.received.method} {self.received.path}"

    def answer(self) -> Reply:
        """Return what the reference answers to the request."""
        return self.ask(self.received)

    def send(self, reply: Reply) -> None:
        """Send a reply with the length of its body."""
        self.raw(reply.head(content_length=str(len(reply.body))) + reply.body)

    def raw(self, content: bytes) -> None:
        """Send bytes as they are."""
        self.connection.sendall(content)


Behaviour = Callable[[Turn], None]
"""Answers one request."""


@dataclass
class Front:
    """Context manager: a server on a free port of a loopback address, with a behaviour.

    Args:
        behaviour: answers each request; connections are kept alive.
        upstream: the origin of the reference.
        delivers: takes each webhook of the reference; without it the reference delivers itself.
        host: the address to listen on.
        known_as: the host in the base URL, where it is not the address.
        tls: the certificate to show; plain HTTP without it.
    """

    behaviour: Behaviour
    upstream: str
    delivers: Behaviour | None = None
    host: str = "127.0.0.1"
    known_as: str = ""
    tls: ssl.SSLContext | None = None
    received: list[Received] = field(default_factory=list)
    hook: str = ""
    """The URL where the suite listens for webhooks, once it has registered."""

    def __post_init__(self) -> None:
        """Take a free port."""
        family = socket.AF_INET6 if ":" in self.host else socket.AF_INET
        self._socket = socket.create_server((self.host, 0), family=family, backlog=128)
        self._stopped = threading.Event()
        self._connections: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        scheme = "http" if self.tls is None else "https"
        host = self.known_as or (f"[{self.host}]" if ":" in self.host else self.host)
        self.origin = f"{scheme}://{host}:{self._socket.getsockname()[1]}"
        self.base_url = f"{self.origin}/{VERSION}"

    def __enter__(self) -> Self:
        """Start the thread that accepts connections."""
        self._threads[0].start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop, and close all connections."""
        self._stopped.set()
        self.stop_listening()
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def stop_listening(self) -> None:
        """Refuse all further connections."""
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self._connections.append(connection)
            thread = threading.Thread(target=self._serve, args=[connection], daemon=True)
            self._threads.append(thread)
            thread.start()

    def _serve(self, connection: socket.socket) -> None:
        # Whoever is connected may hang up at any time, and is cut off at the end.
        with connection, contextlib.suppress(OSError, ValueError):
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            if self.tls is None:
                self._converse(connection)
                return
            with self.tls.wrap_socket(connection, server_side=True) as secured:
                self._converse(secured)

    def _converse(self, connection: socket.socket) -> None:
        upstream = http.client.HTTPConnection(urlsplit(self.upstream).netloc, timeout=10)
        with contextlib.closing(upstream), connection.makefile("rb") as stream:
            while (received := _read(stream)) is not None:
                self.received.append(received)
                turn = Turn(
                    connection,
                    received,
                    len(self.received),
                    self._stopped,
                    lambda request: self._ask(upstream, request),
                )
                self._answer(turn)
                if turn.closes:
                    return

    def _answer(self, turn: Turn) -> None:
        if self.delivers is None:
            self.behaviour(turn)
        elif turn.received.path == _DELIVERIES:
            self.delivers(replace(turn, ask=lambda request: post(self.hook, request)))
        elif turn.received.path == _ENDPOINT:
            self.hook = json.loads(turn.received.body)["url"]
            body = json.dumps({"url": self.origin + _DELIVERIES}).encode()
            turn.send(turn.ask(replace(turn.received, body=body)))
        else:
            self.behaviour(turn)

    def _ask(self, upstream: http.client.HTTPConnection, request: Received) -> Reply:
        headers = {n: v for n, v in request.headers.items() if n not in (*_OF_HOP, "host")}
        upstream.request(request.method, request.path, request.body or None, headers)
        return _reply(upstream.getresponse())


def post(url: str, request: Received) -> Reply:
    """Post a delivery to ``url`` with its headers and body; return the reply."""
    parts = urlsplit(url)
    headers = {n: v for n, v in request.headers.items() if n not in (*_OF_HOP, "host")}
    with contextlib.closing(http.client.HTTPConnection(parts.netloc, timeout=10)) as connection:
        connection.request("POST", parts.path, request.body, headers)
        return _reply(connection.getresponse())


def _reply(response: http.client.HTTPResponse) -> Reply:
    headers = {n.lower(): v for n, v in response.getheaders() if n.lower() not in _OF_HOP}
    return Reply(response.status, headers, response.read())


def _read(stream: IO[bytes]) -> Received | None:
    """Return the next request of a connection; ``None`` at its end."""
    first = stream.readline(65536)
    if not first.strip():
        return None
    at = time.monotonic()
    method, path, _ = first.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while line := stream.readline(65536).strip().decode("latin-1"):
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    return Received(at, method, path, headers, stream.read(int(headers.get("content-length", "0"))))


# --- Behaviours -----------------------------------------------------------------------------

CONFIG = rf"GET /{VERSION}/config$"
CREATE_CUSTOMER = rf"POST /{VERSION}/customers$"
READ_CUSTOMER = rf"GET /{VERSION}/customers/Customer:[^/?]+$"
ACCOUNTS = rf"GET /{VERSION}/customers/internal-accounts"
CREATE_QUOTE = rf"POST /{VERSION}/quotes$"
EXECUTE = rf"POST /{VERSION}/quotes/[^/]+/execute$"
TRANSACTIONS = rf"GET /{VERSION}/transactions"
INTERFACE = rf"\w+ /{VERSION}/(?!config$)"
"""Requests of the interface after that of the start."""


def pass_on(turn: Turn) -> None:
    """Answer as the reference does."""
    turn.send(turn.answer())


def only(pattern: str, behaviour: Behaviour, otherwise: Behaviour = pass_on) -> Behaviour:
    """Return a behaviour for requests whose method and path match ``pattern``."""
    matcher = re.compile(pattern)

    def behave(turn: Turn) -> None:
        (behaviour if matcher.match(turn.line) else otherwise)(turn)

    return behave


def once(behaviour: Behaviour, otherwise: Behaviour = pass_on) -> Behaviour:
    """Return a behaviour for the first request of each method and path."""
    lines: set[str] = set()
    lock = threading.Lock()

    def behave(turn: Turn) -> None:
        with lock:
            first = turn.line not in lines
            lines.add(turn.line)
        (behaviour if first else otherwise)(turn)

    return behave


def after(number: int, behaviour: Behaviour) -> Behaviour:
    """Return a behaviour that is shown after ``number`` requests."""

    def behave(turn: Turn) -> None:
        (behaviour if turn.number > number else pass_on)(turn)

    return behave


def reply(change: Callable[[Reply], Reply]) -> Behaviour:
    """Return a behaviour that changes the reply of the reference."""
    return lambda turn: turn.send(change(turn.answer()))


def json_body(change: Callable[[Any], Any]) -> Behaviour:
    """Return a behaviour that changes the JSON body of the reference; errors stay."""

    def changed(answer: Reply) -> Reply:
        if not answer.body or answer.status >= 400:
            return answer
        return answer.with_json(change(answer.json()))

    return reply(changed)


def member(name: str, value: Any) -> Behaviour:
    """Return a behaviour that gives one member of the reference's body another value."""
    return json_body(lambda body: {**body, name: value})


def content(body: bytes, **headers: str) -> Behaviour:
    """Return a behaviour that replaces the body of the reference and adds headers."""
    return reply(lambda answer: replace(answer, body=body).with_headers(**headers))


def body_bytes(change: Callable[[bytes], bytes]) -> Behaviour:
    """Return a behaviour that changes the bytes of the reference's body."""
    return reply(lambda answer: replace(answer, body=change(answer.body)))


def status(code: int, body: Any = None, **headers: str) -> Behaviour:
    """Return a behaviour that answers with a status and a JSON body, whatever was asked."""
    encoded = b"" if body is None else json.dumps(body).encode()
    kind = {} if body is None else {"content_type": "application/json"}

    def behave(turn: Turn) -> None:
        turn.send(Reply(code, {}, encoded).with_headers(**kind, **headers))

    return behave


def sends(raw: bytes, *, closes: bool = True) -> Behaviour:
    """Return a behaviour that sends these bytes as its answer, and closes the connection."""

    def behave(turn: Turn) -> None:
        turn.raw(raw)
        turn.closes = closes

    return behave


def reply_bytes(frame: Callable[[Reply], bytes], *, closes: bool = True) -> Behaviour:
    """Return a behaviour that writes the reply of the reference by ``frame``."""

    def behave(turn: Turn) -> None:
        turn.raw(frame(turn.answer()))
        turn.closes = closes

    return behave


def goes_on(head: bytes, part: bytes, pause: float = 0.0) -> Behaviour:
    """Return a behaviour that sends ``head``, then ``part`` until somebody hangs up."""

    def behave(turn: Turn) -> None:
        turn.closes = True
        turn.raw(head)
        until = time.monotonic() + _ENDLESS_SECONDS
        while not turn.stopped.wait(pause) and time.monotonic() < until:
            turn.raw(part)

    return behave


def hangs(turn: Turn) -> None:
    """Keep the connection open without an answer."""
    turn.closes = True
    turn.stopped.wait(_ENDLESS_SECONDS)


def closes(turn: Turn) -> None:
    """Close the connection without an answer."""
    turn.closes = True


def resets(turn: Turn) -> None:
    """Reset the connection without an answer."""
    turn.closes = True
    linger = b"\1\0\0\0\0\0\0\0"
    turn.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)


def late(seconds: float, behaviour: Behaviour = pass_on) -> Behaviour:
    """Return a behaviour that waits some seconds before another one."""

    def behave(turn: Turn) -> None:
        if not turn.stopped.wait(seconds):
            behaviour(turn)

    return behave
