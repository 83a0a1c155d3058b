"""The connection on which the reference sends its webhooks."""

from __future__ import annotations

from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from conformance.reference.webhooks.deliveries import Connection


class Endpoint(ThreadingHTTPServer):
    """An endpoint that notes the port of each caller and the target of each request."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.callers: list[int] = []
        self.targets: list[str] = []
        self.content = b""
        self.closes = False
        self.url = f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, *_: object) -> None:
        """Say nothing of a caller who has hung up."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Endpoint

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.callers.append(self.client_address[1])
        self.server.targets.append(self.path)
        self.send_response(202)
        self.send_header("Content-Length", str(len(self.server.content)))
        if self.server.closes:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(self.server.content)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture
def endpoint() -> Iterator[Endpoint]:
    """Return an endpoint that listens."""
    with Endpoint() as server:
        Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        yield server
        server.shutdown()


@pytest.fixture
def connection() -> Iterator[Connection]:
    """Return a connection that is closed at the end."""
    opened = Connection(timeout_seconds=5)
    yield opened
    opened.close()


def test_a_connection_serves_all_webhooks(endpoint: Endpoint, connection: Connection) -> None:
    """The endpoint sees one caller."""
    assert [connection.post(f"{endpoint.url}/hook", b"{}", {}) for _ in range(3)] == [202] * 3
    assert len(set(endpoint.callers)) == 1


def test_a_connection_that_was_closed_is_replaced(
    endpoint: Endpoint, connection: Connection
) -> None:
    """No webhook is lost on it."""
    endpoint.closes = True

    assert [connection.post(f"{endpoint.url}/hook", b"{}", {}) for _ in range(3)] == [202] * 3
    assert len(set(endpoint.callers)) == 3


def test_no_more_of_an_answer_is_read_than_has_to_be(
    endpoint: Endpoint, connection: Connection
) -> None:
    """The rest is left unread, with its connection."""
    endpoint.content = b"x" * 1_000_000

    assert [connection.post(f"{endpoint.url}/hook", b"{}", {}) for _ in range(2)] == [202] * 2
    assert len(set(endpoint.callers)) == 2


@pytest.mark.parametrize(
    ("path", "target"), [("", "/"), ("?a=1", "/?a=1"), ("/a/b?c=d&e=%20#f", "/a/b?c=d&e=%20")]
)
def test_the_target_is_that_of_the_url(
    endpoint: Endpoint, connection: Connection, path: str, target: str
) -> None:
    """Path and query are sent, the fragment is not."""
    connection.post(endpoint.url + path, b"{}", {})

    assert endpoint.targets == [target]


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/hook", "http://127.0.0.1:none/", "http://[/"])
def test_an_endpoint_that_cannot_be_reached_has_no_answer(connection: Connection, url: str) -> None:
    """A refused connection, a port that is no number, and a URL that is none."""
    assert connection.post(url, b"{}", {}) is None


def test_another_origin_gets_a_connection_of_its_own(
    endpoint: Endpoint, connection: Connection
) -> None:
    """The second endpoint sees the webhook that is for it."""
    with Endpoint() as other:
        Thread(target=other.serve_forever, args=(0.01,), daemon=True).start()
        for each in (endpoint, other):
            assert connection.post(f"{each.url}/hook", b"{}", {}) == 202
        other.shutdown()

    assert (len(endpoint.callers), len(other.callers)) == (1, 1)
