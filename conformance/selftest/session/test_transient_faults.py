"""Transient faults between the suite and a target change no verdict."""

from __future__ import annotations

import http.client
import itertools
import json
import socket
import struct
import threading
from collections.abc import Generator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from conformance.reference.server import BackgroundServer
from conformance.reference.settings import Settings
from conformance.selftest.collection import ROOT
from conformance.selftest.conftest import CLIENT_SECRET, TOKEN_ID
from conformance.selftest.runs import run_within

ONE_IN = 20
SCENARIOS = (
    "conformance/scenarios/quotes/test_quote_execution.py",
    "conformance/scenarios/customers/test_customers.py",
)


class Proxy(ThreadingHTTPServer):
    """Passes requests on to ``target``; one in ``ONE_IN`` safe requests meets a fault instead."""

    daemon_threads = True

    def __init__(self, target: str) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.target = urlsplit(target)
        self.base_url = f"http://127.0.0.1:{self.server_port}{self.target.path}"
        self.faults: list[str] = []
        self._kinds = itertools.cycle(("reset", "502", "503"))
        self._safe = itertools.count(1)
        self._lock = threading.Lock()

    def fault(self) -> str | None:
        """Return the fault that the next safe request meets; ``None`` for most."""
        with self._lock:
            if next(self._safe) % ONE_IN:
                return None
            self.faults.append(next(self._kinds))
            return self.faults[-1]

    def shutdown_request(self, request: Any) -> None:
        """Close a connection at once, so that it can be reset."""
        self.close_request(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors of connections that the client has closed."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    server: Proxy

    def handle_any(self) -> None:
        content = self.rfile.read(int(self.headers.get("content-length", "0")))
        fault = self.server.fault() if self.command == "GET" else None
        if fault == "reset":
            self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self.close_connection = True
            return
        if fault is not None:
            self._reply(int(fault), {"content-type": "text/html"}, b"<h1>Bad Gateway</h1>")
            return
        target = self.server.target
        assert target.hostname
        upstream = http.client.HTTPConnection(target.hostname, target.port)
        try:
            upstream.request(self.command, self.path, content, dict(self.headers))
            answer = upstream.getresponse()
            self._reply(answer.status, dict(answer.getheaders()), answer.read())
        finally:
            upstream.close()

    do_GET = do_POST = do_PATCH = do_PUT = do_DELETE = handle_any  # noqa: N815

    def _reply(self, status: int, headers: dict[str, str], content: bytes) -> None:
        self.send_response_only(status)
        for name, value in headers.items():
            if name.lower() not in ("transfer-encoding", "content-length", "connection"):
                self.send_header(name, value)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)


@pytest.fixture
def proxy() -> Generator[Proxy]:
    """Start a proxy in front of a reference of its own, as a target has one webhook endpoint."""
    settings = Settings(api_token_id=TOKEN_ID, api_client_secret=CLIENT_SECRET)
    with BackgroundServer(settings) as server, Proxy(server.base_url) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, args=[0.05])
        thread.start()
        yield proxy
        proxy.shutdown()
        thread.join()


def verdicts(base_url: str, folder: Path) -> dict[str, str]:
    """Run some scenarios; return the verdicts on the requirements that they name."""
    target = (f"--base-url={base_url}", "--profile=reference")
    run_within(ROOT, *SCENARIOS, *target, f"--report-dir={folder}")
    report = json.loads((folder / "report.json").read_text())
    # Other requirements are decided by webhooks, which may come after the last test.
    names = set(report["plan"]["to_decide"])
    return {
        entry["id"]: entry["verdict"] for entry in report["requirements"] if entry["id"] in names
    }


@pytest.mark.slow
@pytest.mark.usefixtures("credentials")
def test_they_change_no_verdict(reference: BackgroundServer, proxy: Proxy, tmp_path: Path) -> None:
    """One in 20 safe requests meets a reset, a 502 or a 503; all verdicts stay the same."""
    undisturbed = verdicts(reference.base_url, tmp_path / "undisturbed")
    disturbed = verdicts(proxy.base_url, tmp_path / "disturbed")

    assert disturbed == undisturbed
    assert "passed" in disturbed.values()
    assert set(proxy.faults) == {"reset", "502", "503"}
    report = (tmp_path / "disturbed" / "report.json").read_text()
    assert "answered 502 and was asked again" in report
    assert "answered 503 and was asked again" in report
