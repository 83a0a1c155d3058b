"""Running the reference: stand-alone, or in a thread of this process."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket
import sys
import threading
from typing import TYPE_CHECKING, Any, Self, cast

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from conformance.reference.app import create_app
from conformance.reference.settings import Settings

if TYPE_CHECKING:
    from types import TracebackType

    from starlette.applications import Starlette

_HOST = "127.0.0.1"
_START_SECONDS = 10.0
TOKEN_VARIABLE = "PAYMENTS_API_TOKEN_ID"  # noqa: S105 - the name of a variable
SECRET_VARIABLE = "PAYMENTS_API_CLIENT_SECRET"  # noqa: S105 - the name of a variable


class _WholeAnswers:
    """A transport that sends in one piece what is written in one turn of the loop.

    Head and body of an answer are two writes; in two packets they would wake the client twice.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self._loop = asyncio.get_running_loop()
        self._written: list[bytes] = []

    def write(self, data: bytes) -> None:
        """Send ``data`` at the end of this turn."""
        if not self._written:
            self._loop.call_soon(self._send)
        self._written.append(data)

    def close(self) -> None:
        """Close the connection when all is sent."""
        self._send()
        self._transport.close()

    def __getattr__(self, name: str) -> Any:
        """Return what the transport itself has under a name."""
        return getattr(self._transport, name)

    def _send(self) -> None:
        self._transport.write(b"".join(self._written))
        self._written.clear()


class _Protocol(HttpToolsProtocol):
    """HTTP whose answers are sent whole."""

    def connection_made(self, transport: Any) -> None:
        """Take up a connection."""
        super().connection_made(cast("asyncio.Transport", _WholeAnswers(transport)))


class _Server(uvicorn.Server):
    """A server that says when it listens, and leaves no connection behind."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.ready = threading.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        self.ready.set()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Stop, and break off what has not ended in time."""
        await super().shutdown(sockets)
        for connection in list(self.server_state.connections):
            connection.transport.abort()
        # A transport closes its socket in the next turn of the loop.
        await asyncio.sleep(0)


class BackgroundServer:
    """Context manager: the app in a thread of this process, on a free loopback port.

    Raises ``RuntimeError`` when the server does not come up.
    """

    def __init__(self, settings: Settings) -> None:
        self.app: Starlette = create_app(settings)
        self._socket = listen(0)
        self._server = _Server(_config(self.app))
        self._thread = threading.Thread(
            target=self._server.run, args=([self._socket],), name="reference", daemon=True
        )
        self.origin = origin_of(self._socket)
        self.base_url = f"{self.origin}/{settings.version}"
        self.control_url = f"{self.origin}/control"

    def __enter__(self) -> Self:
        """Start the server and wait until it listens."""
        self._thread.start()
        if not self._server.ready.wait(_START_SECONDS) or not self._server.started:
            self._server.should_exit = True
            raise RuntimeError(f"Expected the reference to listen within {_START_SECONDS} s.")
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the server and wait for its thread."""
        self._server.should_exit = True
        self._thread.join()
        self._socket.close()


def listen(port: int) -> socket.socket:
    """Return a socket that is bound to a loopback port (0: any free one)."""
    # With protocol 0 asyncio leaves Nagle's algorithm on, which costs 40 ms a request.
    bound = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    bound.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    bound.bind((_HOST, port))
    return bound


def origin_of(bound: socket.socket) -> str:
    """Return the origin that a bound socket serves."""
    return f"http://{_HOST}:{bound.getsockname()[1]}"


def _config(app: Starlette) -> uvicorn.Config:
    return uvicorn.Config(
        app,
        http=_Protocol,
        lifespan="on",
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        timeout_graceful_shutdown=1,
    )


def _announce_when_ready(server: _Server, line: str) -> None:
    server.ready.wait()
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def _stop_with_parent(server: _Server) -> None:
    # A buffered read would hold a lock that the interpreter wants at its end.
    while os.read(sys.stdin.fileno(), 1024):
        pass
    _stop(server)


def _stop(server: _Server) -> None:
    server.should_exit = True


def main(arguments: list[str] | None = None) -> int:
    """Serve until a signal ends it; prints one JSON line when listening."""
    parser = argparse.ArgumentParser(prog="python -m conformance.reference.server")
    parser.add_argument("--port", type=int, default=0, help="0: any free port")
    parser.add_argument("--database-url", default="sqlite://", help="any SQLAlchemy URL")
    parser.add_argument(
        "--platform-model", choices=("REGULATED", "UNREGULATED"), default="UNREGULATED"
    )
    parser.add_argument("--settlement-seconds", type=float, default=0.02)
    parser.add_argument(
        "--exit-with-parent", action="store_true", help="end when standard input closes"
    )
    chosen = parser.parse_args(arguments)
    missing = [name for name in (TOKEN_VARIABLE, SECRET_VARIABLE) if not os.environ.get(name)]
    if missing:
        parser.error(f"expected credentials in the environment; set {' and '.join(missing)}")
    settings = Settings(
        api_token_id=os.environ[TOKEN_VARIABLE],
        api_client_secret=os.environ[SECRET_VARIABLE],
        database_url=chosen.database_url,
        platform_model=chosen.platform_model,
        settlement_seconds=chosen.settlement_seconds,
    )
    try:
        bound = listen(chosen.port)
    except OSError as error:
        raise SystemExit(
            f"cannot listen on {_HOST}:{chosen.port}: {error.strerror}; choose another --port"
        ) from error
    server = _Server(_config(create_app(settings)))
    origin = origin_of(bound)
    urls = {"base_url": f"{origin}/{settings.version}", "control_url": f"{origin}/control"}
    threading.Thread(
        target=_announce_when_ready, args=(server, json.dumps(urls)), daemon=True
    ).start()
    if chosen.exit_with_parent:
        threading.Thread(target=_stop_with_parent, args=(server,), daemon=True).start()
    # uvicorn raises the signals it took again when it has ended; they are dealt with then.
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda _number, _frame: _stop(server))
    server.run([bound])
    return 0 if server.started else 1


if __name__ == "__main__":
    raise SystemExit(main())
