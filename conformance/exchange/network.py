"""Connections that keep to the deadline of the request that they carry."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import httpcore
import httpx

from conformance.exchange.cuts import Cut, LineCut

_MAX_CONNECTIONS = 64
_KEEP_ALIVE_SECONDS = 1.0
"""Servers close connections that have been idle for some seconds; the suite does so before."""

_PIECE_BYTES = 65536
_START_BYTES = 16
"""How much is read of an answer that is cut: its status line, or most of that."""


@dataclass(slots=True)
class Attempt:
    """One request on its way: until when it may take, and what its connection saw of it.

    ``cut`` is the moment at which the suite closes the connection, if it does.
    """

    deadline: float
    repeatable: bool
    cut: Cut | None = None
    connected: bool = False
    received: bool = False

    @property
    def went_stale(self) -> bool:
        """Whether nothing came over a connection that had served an earlier request."""
        return not (self.connected or self.received)

    def left(self) -> float:
        """Return the seconds until the deadline; 0 or less where it has passed."""
        return self.deadline - time.monotonic()


class _Current(threading.local):
    attempt: Attempt


_current = _Current()


class Transport(httpx.HTTPTransport):
    """Sends requests over pooled connections, each of which ends at the deadline of its request.

    The time-outs of the HTTP library count from byte to byte, so that a server which sends a byte
    now and then would keep the connection, and the thread that reads it, for ever.
    """

    def __init__(self, verify: ssl.SSLContext | bool = True) -> None:
        """Open no connection yet; ``verify`` says by whom certificates are vouched for."""
        limits = httpx.Limits(
            max_connections=_MAX_CONNECTIONS,
            max_keepalive_connections=_MAX_CONNECTIONS,
            keepalive_expiry=_KEEP_ALIVE_SECONDS,
        )
        super().__init__(verify=verify, trust_env=False, limits=limits)
        # httpx has no parameter for it.
        self._pool._network_backend = self._backend = _Backend()  # noqa: SLF001

    @contextmanager
    def attempt(
        self, seconds: float, *, repeatable: bool, cut: Cut | None = None
    ) -> Iterator[Attempt]:
        """Let what this thread sends and reads in the block end after so many seconds.

        ``repeatable`` is whether the request may be sent again where its connection turns out to
        be closed. Once the server is known to close connections without a word, all others get a
        connection of their own. With ``cut`` the connection is closed at that moment, and
        :class:`LineCut` is raised.
        """
        _current.attempt = attempt = Attempt(time.monotonic() + seconds, repeatable, cut)
        yield attempt
        self._backend.closes_silently |= attempt.went_stale


class _Backend(httpcore.NetworkBackend):
    """Opens connections, and knows whether the server closes those that are idle.

    ``closes_silently`` says that it has closed one within a second, and had not announced it.
    """

    def __init__(self) -> None:
        self._network = httpcore.SyncBackend()
        self.closes_silently = False

    def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ARG002 - the deadline decides
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.NetworkStream:
        attempt = _current.attempt
        attempt.connected = True
        if (left := attempt.left()) <= 0:
            raise httpcore.ConnectTimeout
        stream = self._network.connect_tcp(host, port, left, local_address, socket_options)
        return _Stream(stream, self)


class _Stream(httpcore.NetworkStream):
    """Keeps what is written until there is a piece of it, or until an answer is read.

    The head of a request and its body then go out at once, which wakes the other side once.
    """

    def __init__(self, stream: httpcore.NetworkStream, backend: _Backend) -> None:
        self._stream = stream
        self._backend = backend
        self._unsent = bytearray()
        self._read_at = time.monotonic()

    def read(self, max_bytes: int, timeout: float | None = None) -> bytes:  # noqa: ARG002
        attempt = _current.attempt
        # Whoever does not take all of a request may have answered it nevertheless.
        with suppress(httpcore.WriteError):
            self._send(0)
        self._unsent.clear()
        if attempt.cut is Cut.AFTER_SENDING:
            raise LineCut
        if (left := attempt.left()) <= 0:
            raise httpcore.ReadTimeout
        content = self._stream.read(_START_BYTES if attempt.cut else max_bytes, left)
        self._read_at = time.monotonic()
        attempt.received = attempt.received or bool(content)
        if attempt.cut and content:
            raise LineCut
        return content

    def write(self, buffer: bytes, timeout: float | None = None) -> None:  # noqa: ARG002
        self._unsent += buffer
        self._send(_PIECE_BYTES)

    def _send(self, kept: int) -> None:
        """Send what is unsent, piece by piece, until at most ``kept`` bytes of it are left."""
        while len(self._unsent) > kept:
            if _current.attempt.cut is Cut.BEFORE_SENDING:
                raise LineCut
            if (left := _current.attempt.left()) <= 0:
                raise httpcore.WriteTimeout
            self._stream.write(bytes(self._unsent[:_PIECE_BYTES]), left)
            del self._unsent[:_PIECE_BYTES]

    def close(self) -> None:
        self._stream.close()

    def start_tls(
        self,
        ssl_context: ssl.SSLContext,
        server_hostname: str | None = None,
        timeout: float | None = None,  # noqa: ARG002
    ) -> httpcore.NetworkStream:
        if (left := _current.attempt.left()) <= 0:
            raise httpcore.ConnectTimeout
        return _Stream(self._stream.start_tls(ssl_context, server_hostname, left), self._backend)

    def get_extra_info(self, info: str) -> Any:
        found = self._stream.get_extra_info(info)
        if info == "is_readable":
            # The pool asks this of idle connections; those that can be read are closed by now.
            # That a server does so after some seconds is the custom, and no sign of its haste.
            idle_seconds = time.monotonic() - self._read_at
            self._backend.closes_silently |= bool(found) and idle_seconds < _KEEP_ALIVE_SECONDS
            attempt = _current.attempt
            # A line that is cut is a new one, which nobody else has closed before.
            fresh = self._backend.closes_silently and not attempt.repeatable
            return found or fresh or attempt.cut is not None
        return found
