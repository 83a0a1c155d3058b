"""A line with a round trip, between the suite and a target.

``python -m conformance.selftest.slow_line http://127.0.0.1:8080 --round-trip=0.05`` starts one by
hand, and prints the origin to ask instead.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import socket
import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Self
from urllib.parse import urlsplit

from conformance.webhooks.listener import close_server

_CHUNK_BYTES = 65536


@dataclass
class SlowLine:
    """Context manager: passes bytes on in both directions, each half a round trip late.

    How much gets through in a second stays as it is. To connect takes a round trip, as it does on
    a real line.

    Args:
        upstream: the origin of the server at the other end.
        round_trip_seconds: how long a byte and the answer to it are on their way together.
        port: the port to listen on; a free one without it.
    """

    upstream: str
    round_trip_seconds: float
    port: int = 0

    def __post_init__(self) -> None:
        """Take the port."""
        self._socket = socket.create_server(("127.0.0.1", self.port))
        self._loop = asyncio.new_event_loop()
        self._closing = asyncio.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    @property
    def origin(self) -> str:
        """The origin to ask in the place of the upstream."""
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def __enter__(self) -> Self:
        """Open the line."""
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Close the line with all its connections."""
        self._loop.call_soon_threadsafe(self._closing.set)
        self._thread.join()

    def _run(self) -> None:
        with contextlib.closing(self._loop):
            self._loop.run_until_complete(self._serve())

    async def _serve(self) -> None:
        server = await asyncio.start_server(self._connect, sock=self._socket)
        await self._closing.wait()
        await close_server(server, self._socket)
        connections = asyncio.all_tasks() - {asyncio.current_task()}
        for connection in connections:
            connection.cancel()
        await asyncio.gather(*connections, return_exceptions=True)
        # What is closed gives its socket back a turn later.
        await asyncio.sleep(0)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        parts = urlsplit(self.upstream)
        with contextlib.closing(writer), contextlib.suppress(OSError):
            await asyncio.sleep(self.round_trip_seconds)
            reader_above, writer_above = await asyncio.open_connection(parts.hostname, parts.port)
            with contextlib.closing(writer_above):
                await asyncio.gather(
                    self._pass_on(reader, writer_above), self._pass_on(reader_above, writer)
                )

    async def _pass_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Pass one direction on until its end; each chunk leaves half a round trip later."""
        on_the_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()
        arriving = asyncio.create_task(self._arrive(on_the_way, writer))
        try:
            while True:
                chunk = await reader.read(_CHUNK_BYTES)
                due = self._loop.time() + self.round_trip_seconds / 2
                on_the_way.put_nowait((due, chunk))
                if not chunk:
                    break
            await arriving
        finally:
            arriving.cancel()

    async def _arrive(
        self, on_the_way: asyncio.Queue[tuple[float, bytes]], writer: asyncio.StreamWriter
    ) -> None:
        while True:
            due, chunk = await on_the_way.get()
            await asyncio.sleep(due - self._loop.time())
            if not chunk:
                writer.close()
                return
            writer.write(chunk)
            await writer.drain()


def main() -> None:
    """Open a line to a server until Ctrl-C."""
    parser = argparse.ArgumentParser(description="Put a round trip between a client and a server.")
    parser.add_argument("upstream", help="the origin of the server, such as http://127.0.0.1:8080")
    parser.add_argument("--round-trip", type=float, default=0.05, metavar="SECONDS")
    parser.add_argument("--port", type=int, default=0)
    given = parser.parse_args()
    with (
        SlowLine(given.upstream, given.round_trip, given.port) as line,
        contextlib.suppress(KeyboardInterrupt),
    ):
        print(line.origin, flush=True)  # noqa: T201 - it is for who started it
        threading.Event().wait()


if __name__ == "__main__":
    main()
