"""Stand-ins: small HTTP servers on loopback which misbehave in one way each."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Self

VERSION = "2025-10-13"

Behaviour = Callable[[socket.socket, "Received", threading.Event], None]
"""Answers one request on its connection, until the event says that the server stops."""


@dataclass(frozen=True, slots=True)
class Received:
    """One request as it arrived: ``body`` in bytes, ``at`` a monotonic time in seconds."""

    at: float
    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes


class StandIn:
    """Context manager: a server on a free loopback port that answers by ``behaviour``.

    Each connection carries one request. ``received`` are the requests so far.
    """

    def __init__(self, behaviour: Behaviour) -> None:
        self._behaviour = behaviour
        self._stopped = threading.Event()
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._connections: list[socket.socket] = []
        self._threads = [threading.Thread(target=self._accept, daemon=True)]
        self.received: list[Received] = []
        self.origin = f"http://127.0.0.1:{self._socket.getsockname()[1]}"
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
        with contextlib.suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        for connection in self._connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()

    def finish(self) -> None:
        """Wait until every connection that was accepted so far has been served."""
        for thread in self._threads[1:]:
            thread.join()

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
        # A client may give up before its request is whole.
        with connection, contextlib.suppress(OSError, ValueError):
            received = _read(connection)
            self.received.append(received)
            self._behaviour(connection, received, self._stopped)


def answers(
    status: int = 200,
    body: Any = None,
    *,
    headers: Mapping[str, str] | None = None,
    kind: str = "application/json",
) -> Behaviour:
    """Answer every request with this status and body; a body that is not bytes becomes JSON."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    lines = {"content-type": kind, "content-length": str(len(content)), **(headers or {})}

    def behave(connection: socket.socket, _received: Received, _stopped: threading.Event) -> None:
        connection.sendall(_head(status, lines) + content)

    return behave


def html() -> Behaviour:
    """Answer with the page of a web server that is not the interface."""
    return answers(200, b"<!doctype html><title>Welcome</title>", kind="text/html")


def redirects(location: str) -> Behaviour:
    """Answer with 302 and this location."""
    return answers(302, {}, headers={"location": location})


def floods() -> Behaviour:
    """Send a body without end."""

    def behave(connection: socket.socket, _received: Received, stopped: threading.Event) -> None:
        connection.sendall(_head(200, {"content-type": "application/json"}))
        while not stopped.is_set():
            connection.sendall(b" " * 65536)

    return behave


def hangs() -> Behaviour:
    """Keep the connection open without an answer."""

    def behave(_connection: socket.socket, _received: Received, stopped: threading.Event) -> None:
        stopped.wait()

    return behave


def drips(start: bytes = b"") -> Behaviour:
    """Send ``start``, then a byte now and then, each before any time-out."""

    def behave(connection: socket.socket, _received: Received, stopped: threading.Event) -> None:
        connection.sendall(start)
        while not stopped.wait(0.05):
            connection.sendall(b"x")

    return behave


def drips_header() -> Behaviour:
    """Send a header of endless length, byte by byte."""
    return drips(b"HTTP/1.1 200 OK\r\nx-long: ")


def drips_body() -> Behaviour:
    """Send a body of endless length, byte by byte."""
    return drips(_head(200, {"content-type": "application/json", "content-length": "999999"}))


def dies_half_way() -> Behaviour:
    """Close the connection before the body is whole."""

    def behave(connection: socket.socket, _received: Received, _stopped: threading.Event) -> None:
        lines = {"content-type": "application/json", "content-length": "100"}
        connection.sendall(_head(200, lines) + b'{"id": ')

    return behave


def echoes() -> Behaviour:
    """Answer with path, headers and body of the request, credentials included."""

    def behave(connection: socket.socket, received: Received, stopped: threading.Event) -> None:
        content = {
            "path": received.path,
            "headers": dict(received.headers),
            "body": received.body.decode(),
        }
        headers = {"x-echo": received.headers.get("authorization", "")}
        answers(200, content, headers=headers)(connection, received, stopped)

    return behave


def _head(status: int, headers: Mapping[str, str]) -> bytes:
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return f"HTTP/1.1 {status} Made Up\r\n{lines}connection: close\r\n\r\n".encode()


def _read(connection: socket.socket) -> Received:
    at = time.monotonic()
    with connection.makefile("rb") as stream:
        method, path, _ = stream.readline().decode("latin-1").split(" ", 2)
        headers: dict[str, str] = {}
        while line := stream.readline().strip().decode("latin-1"):
            name, _, value = line.partition(":")
            headers[name.lower()] = value.strip()
        body = stream.read(int(headers.get("content-length", "0")))
    return Received(at, method, path, headers, body)
