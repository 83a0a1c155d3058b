"""The webhook listener: takes deliveries, acknowledges them, and lets checks wait for them."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import hmac
import json
import os
import re
import secrets
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any
from urllib.parse import SplitResult, unquote_to_bytes, urlsplit

import h11

from conformance.exchange.content import decode, text
from conformance.exchange.delivery import Delivery, to_json
from conformance.webhooks.inbox import Inbox
from conformance.webhooks.manner import Manner, Manners

MAX_BODY_BYTES = 1024 * 1024
MAX_HEAD_BYTES = 32 * 1024
MAX_HEADERS = 100
MAX_CHUNKS = 10_000
MAX_DELIVERY_SECONDS = 30.0
"""How long a delivery may take from its first byte to its last."""
MAX_CONNECTIONS = 200

STRANGER = "a request came to the webhook listener that was no delivery to the URL it announced"
"""The observation for each such request."""

_READ_BYTES = 64 * 1024
_BATCH_BYTES = 4 * 1024 * 1024
POLL_SECONDS = 1.0
_LAST_TURNS = 5
"""Turns of the loop in which what was accepted last has begun."""

_LINGER_SECONDS = 1.0
_SLOW_SECONDS = 0.25
_LISTEN = re.compile(r"(?:\[(?P<ipv6>[^\[\]]+)\]|(?P<name>[^:\[\]]+)):(?P<port>[0-9]{1,5})")
_SINCE = re.compile(rb"since=([0-9]{1,9})&wait=([0-9]{1,4})")
_LAST_PORT = 65535
# Listening on all addresses, a process of the same machine is reached on this one.
_LOOPBACK = {"0.0.0.0": "127.0.0.1", "::": "::1"}  # noqa: S104 - nothing is bound to it here


class ListenerError(Exception):
    """The listener cannot be started where the profile asks for it."""


class _Refused(Exception):
    """A delivery is larger than the suite takes; ``status`` is the answer."""

    def __init__(self, status: HTTPStatus, message: str) -> None:
        super().__init__(message)
        self.status = status


@dataclass(eq=False)
class _Connection:
    """One connection of a sender.

    ``busy`` says that a request to a URL of the listener is under way on it.
    """

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    http: h11.Connection = field(
        default_factory=lambda: h11.Connection(h11.SERVER, max_incomplete_event_size=MAX_HEAD_BYTES)
    )
    busy: bool = False

    async def begin(self) -> bool:
        """Wait for the first byte of a request; return whether there is one."""
        if not self.http.trailing_data[0]:
            received = await self.reader.read(_READ_BYTES)
            self.http.receive_data(received)
            return bool(received)
        return True

    async def head(self) -> h11.Request:
        """Return the head of the request.

        Raises:
            h11.RemoteProtocolError: it is not HTTP.
        """
        request = await self._event()
        if not isinstance(request, h11.Request):
            raise h11.RemoteProtocolError("no request")
        return request

    async def body(self, request: h11.Request) -> bytes:
        """Return the body of the request.

        Raises:
            h11.RemoteProtocolError: it is not HTTP, or not whole.
            _Refused: it is too large.
        """
        headers = dict(request.headers)
        if len(request.headers) > MAX_HEADERS:
            raise _Refused(
                HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE, f"more than {MAX_HEADERS} headers"
            )
        too_large = _Refused(
            HTTPStatus.REQUEST_ENTITY_TOO_LARGE,
            f"more than {MAX_BODY_BYTES} bytes or {MAX_CHUNKS} chunks",
        )
        if int(headers.get(b"content-length", b"0")) > MAX_BODY_BYTES:
            raise too_large
        body = bytearray()
        chunks = 0
        while isinstance(event := await self._event(), h11.Data):
            body += event.data
            chunks += 1
            if len(body) > MAX_BODY_BYTES or chunks > MAX_CHUNKS:
                raise too_large
        return bytes(body)

    async def answer(self, status: HTTPStatus, content: bytes = b"", *, last: bool = False) -> None:
        """Answer the request; the ``last`` answer says that the connection ends with it."""
        events = [_answer_head(status, len(content), last=last), h11.EndOfMessage()]
        if content:
            events.insert(1, h11.Data(data=content))
        # In two pieces, the second would wait until the first is acknowledged, some 40 ms.
        self.writer.write(b"".join(self.http.send(event) or b"" for event in events))
        await self.writer.drain()

    async def refuse(self, status: HTTPStatus) -> None:
        """Answer without having read all of the request, and end the connection."""
        if self.http.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            return
        with contextlib.suppress(OSError):
            async with asyncio.timeout(_LINGER_SECONDS):
                await self.answer(status, last=True)
                self.writer.write_eof()
                # Closed at once, it would be reset, and the sender might never see the answer.
                while await self.reader.read(_READ_BYTES):
                    pass

    def go_on(self) -> bool:
        """Prepare for the next request; return whether there may be one."""
        self.busy = False
        if self.http.our_state is not h11.DONE or self.http.their_state is not h11.DONE:
            return False
        self.http.start_next_cycle()
        return True

    def cut(self) -> None:
        """Close the connection; what the system has taken is still sent."""
        self.writer.transport.abort()

    async def _event(self) -> Any:
        while (event := self.http.next_event()) is h11.NEED_DATA:
            if self.http.they_are_waiting_for_100_continue:
                go_on = h11.InformationalResponse(status_code=100, headers=[])
                self.writer.write(self.http.send(go_on) or b"")
            self.http.receive_data(await self.reader.read(_READ_BYTES))
        return event


async def close_server(server: asyncio.Server, listening: socket.socket) -> None:
    """Close a server of this loop once every connection that it has accepted has begun.

    One that comes to a closed server would be left open, and so would one whose conversation is
    cancelled before its first step.
    """
    asyncio.get_running_loop().remove_reader(listening)
    for _ in range(_LAST_TURNS):
        await asyncio.sleep(0)
    server.close()


class WebhookListener:
    """An HTTP server on a port of its own that acknowledges every delivery with 200.

    Only deliveries to a path that ends as :attr:`url` does are taken. All else is answered with
    404 and counted in ``strangers``.

    Args:
        listen: ``host:port``, of IPv6 ``[address]:port``; port 0 takes a free one.
        public_url: the URL that targets reach it under, when that differs.
        registered: whether the run tells the target the URL. It then ends in a secret of the run.

    Raises:
        ListenerError: the address is malformed or taken, or the public URL is malformed.
    """

    def __init__(
        self, listen: str, public_url: str | None = None, *, registered: bool = False
    ) -> None:
        public = _public(public_url) if public_url else None
        listening = _bind(listen)
        bound, port = listening.getsockname()[:2]
        near = f"http://{_in_url(_LOOPBACK.get(bound, bound))}:{port}"
        host = listen.rpartition(":")[0]
        own = near if bound in _LOOPBACK else f"http://{host}:{port}"
        announced = public or urlsplit(f"{own}/webhooks")
        if registered:
            path = f"{announced.path.rstrip('/')}/{secrets.token_hex(16)}"
            announced = announced._replace(path=path)
        self.url = announced.geturl()
        """Where the target sends its webhooks."""
        self.inbox = Inbox()
        self.strangers = 0
        """How many requests were no deliveries to the URL."""
        self.observe: Callable[[str], None] = lambda _: None
        """Told of each stranger."""
        self._ending = _last_segment(announced.path.encode())
        self._follow_path = f"/follow/{secrets.token_urlsafe(16)}"
        self.follow_url = near + self._follow_path
        """Where other processes of this run read the deliveries."""
        self._manners = Manners()
        self._open: dict[_Connection, None] = {}
        self._arrived = asyncio.Event()
        self._stopped = asyncio.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, args=[listening], daemon=True)
        self._thread.start()

    def treat(self, resource: str, kind: str, manner: Manner | None) -> None:
        """Let deliveries of a type about a resource be taken in a manner; ``None`` ends that."""
        self._manners.set(resource, kind, manner)

    def close(self) -> None:
        """Stop listening, and close all connections."""
        # It raises where the listener is closed already.
        with contextlib.suppress(RuntimeError):
            self._loop.call_soon_threadsafe(self._stopped.set)
        self._thread.join()

    def _run(self, listening: socket.socket) -> None:
        with asyncio.Runner(loop_factory=lambda: self._loop) as runner:
            runner.run(self._listen(listening))

    async def _listen(self, listening: socket.socket) -> None:
        server = await asyncio.start_server(self._converse, sock=listening, limit=_READ_BYTES)
        await self._stopped.wait()
        await close_server(server, listening)

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer the requests of one connection until it or the run ends."""
        connection = _Connection(reader, writer)
        self._admit(connection)
        try:
            await self._serve(connection)
        except (OSError, asyncio.CancelledError):
            # A sender that hangs up has not delivered, and may do so again.
            return
        finally:
            self._open.pop(connection, None)
            connection.cut()

    async def _serve(self, connection: _Connection) -> None:
        try:
            while await connection.begin():
                async with asyncio.timeout(MAX_DELIVERY_SECONDS):
                    await self._respond(connection)
                if not connection.go_on():
                    return
                self._move_to_end(connection)
        except h11.RemoteProtocolError as error:
            await self._refuse(connection, HTTPStatus(error.error_status_hint))
        except _Refused as refused:
            self._miss(f"a webhook was refused with {refused.status}: {refused}")
            await self._refuse(connection, refused.status)
        except TimeoutError:
            await self._refuse(connection, HTTPStatus.REQUEST_TIMEOUT)

    def _admit(self, connection: _Connection) -> None:
        """Make room for a connection by ending the one that has been idle for the longest time."""
        if len(self._open) >= MAX_CONNECTIONS:
            idle = next((one for one in self._open if not one.busy), connection)
            self._open.pop(idle, None)
            idle.cut()
        self._open[connection] = None

    def _move_to_end(self, connection: _Connection) -> None:
        # One that has made room for another is not there any more.
        if connection in self._open:
            del self._open[connection]
            self._open[connection] = None

    async def _refuse(self, connection: _Connection, status: HTTPStatus) -> None:
        if not connection.busy:
            self._meet_stranger()
        await connection.refuse(status)

    def _meet_stranger(self) -> None:
        self.strangers += 1
        self.observe(STRANGER)

    async def _respond(self, connection: _Connection) -> None:
        """Answer one request."""
        request = await connection.head()
        path, _, query = request.target.partition(b"?")
        if hmac.compare_digest(path, self._follow_path.encode()):
            connection.busy = True
            await self._hand_on(connection, request, query)
        elif request.method == b"POST" and self._is_own(path):
            connection.busy = True
            await self._take(connection, request)
        else:
            self._meet_stranger()
            await connection.refuse(HTTPStatus.NOT_FOUND)

    def _is_own(self, path: bytes) -> bool:
        return not self._ending or hmac.compare_digest(_last_segment(path), self._ending)

    async def _take(self, connection: _Connection, request: h11.Request) -> None:
        """Keep one delivery and answer it."""
        raw = await connection.body(request)
        body, _ = decode(raw)
        manner = self._manners.of(body)
        delivery = Delivery(
            self.inbox.next_number(),
            time.time(),
            {text(name): value.decode("latin-1") for name, value in request.headers},
            body,
            raw,
            acknowledged=manner in (None, Manner.SLOW),
        )
        kept = self.inbox.put(delivery)
        self._wake_followers()
        if not kept:
            await connection.answer(HTTPStatus.SERVICE_UNAVAILABLE)
            return
        if manner is Manner.CLOSED:
            return
        if manner is Manner.SLOW:
            # To be late is what was asked for; no test waits for it, and no other sender does.
            await asyncio.sleep(_SLOW_SECONDS)
        failing = manner is Manner.FAILING
        await connection.answer(HTTPStatus.INTERNAL_SERVER_ERROR if failing else HTTPStatus.OK)

    async def _hand_on(self, connection: _Connection, request: h11.Request, query: bytes) -> None:
        """Answer another process of the run."""
        body, _ = decode(await connection.body(request))
        since = _SINCE.fullmatch(query)
        if request.method == b"POST" and (asked := _manner_in(body)):
            self._manners.set(*asked)
            await connection.answer(HTTPStatus.OK)
        elif request.method == b"GET" and since:
            await connection.answer(HTTPStatus.OK, await self._arrivals(*map(int, since.groups())))
        else:
            await connection.answer(HTTPStatus.NOT_FOUND)

    async def _arrivals(self, number: int, wait: int) -> bytes:
        """Return as JSON the deliveries from ``number`` on; wait so many ms for the first."""
        if wait and self.inbox.next_number() <= number and self.inbox.missing is None:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(min(wait / 1000, POLL_SECONDS)):
                    await self._arrived.wait()
        entries: list[dict[str, Any]] = []
        size = 0
        known = self.inbox.since(number, 0)
        for delivery in known:
            entries.append(to_json(delivery))
            size += len(delivery.raw)
            if size > _BATCH_BYTES:
                break
        more = len(entries) < len(known)
        told = {"deliveries": entries, "more": more, "missing": self.inbox.missing}
        return json.dumps(told).encode()

    def _miss(self, cause: str) -> None:
        self.inbox.mark_incomplete(cause)
        self._wake_followers()

    def _wake_followers(self) -> None:
        self._arrived.set()
        self._arrived = asyncio.Event()


def _bind(listen: str) -> socket.socket:
    """Return a socket that listens where ``webhooks.listen`` says.

    Raises:
        ListenerError: the address is malformed or cannot be had.
    """
    form = _LISTEN.fullmatch(listen)
    if form is None:
        raise ListenerError(
            f"webhooks.listen is host:port, got {listen!r}; write it like 127.0.0.1:8099, or "
            "[::1]:8099 for IPv6; port 0 takes a free one"
        )
    place = f"cannot listen for webhooks on {listen} (webhooks.listen of the profile)"
    host, port = form["ipv6"] or form["name"], int(form["port"])
    if port > _LAST_PORT:
        raise ListenerError(f"{place}: there is no such port")
    try:
        known = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        # A name may stand for both; targets that know IPv4 alone are the more frequent ones.
        family, *_, address = min(known, key=lambda one: one[0] is not socket.AF_INET)
        both = family is socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server(address[:2], family=family, dualstack_ipv6=both)
    except socket.gaierror as error:
        raise ListenerError(f"{place}: {error.strerror}") from error
    except OSError as error:
        cause = os.strerror(error.errno) if error.errno else str(error)
        raise ListenerError(f"{place}: {cause}") from error
    except ValueError as error:
        raise ListenerError(f"{place}: there is no such host") from error


def _public(url: str) -> SplitResult:
    """Return the parts of ``webhooks.public_url``.

    Raises:
        ListenerError: it is malformed.
    """
    try:
        parts = urlsplit(url)
        fine = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        fine = False
    if not fine:
        raise ListenerError(
            f"webhooks.public_url is the URL that the target sends its webhooks to, got {url!r}; "
            "write it like https://hooks.example.com/conformance"
        )
    return parts._replace(fragment="")


@functools.lru_cache(maxsize=64)
def _answer_head(status: HTTPStatus, length: int, *, last: bool) -> h11.Response:
    # Nearly all answers are alike, and each would be checked anew.
    headers = [("content-length", str(length)), *([("connection", "close")] if last else [])]
    return h11.Response(status_code=status, headers=headers, reason=status.phrase)


def _in_url(host: str) -> str:
    return f"[{host}]" if ":" in host else host


def _last_segment(path: bytes) -> bytes:
    return unquote_to_bytes(path.rstrip(b"/").rpartition(b"/")[2])


def _manner_in(body: Any) -> tuple[str, str, Manner | None] | None:
    """Return what another process of the run asks for, ``None`` where that cannot be told."""
    match body:
        case {"resource": str(resource), "type": str(kind), "manner": None}:
            return resource, kind, None
        case {"resource": str(resource), "type": str(kind), "manner": str(manner)}:
            with contextlib.suppress(ValueError):
                return resource, kind, Manner(manner)
    return None
