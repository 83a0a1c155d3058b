"""Whatever a target sends, the client raises no other errors than ``Unmet``."""

from __future__ import annotations

import contextlib
import json
import socket
import threading
from collections.abc import Callable, Generator
from functools import partial
from pathlib import Path
from typing import IO, Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from conformance.contract.judge import Finding, error_code, judge
from conformance.exchange import client as http
from conformance.exchange.answer import Answer
from conformance.exchange.budget import Budget
from conformance.exchange.client import RecordingClient
from conformance.exchange.journal import Journal
from conformance.exchange.redaction import Redactor
from conformance.selftest.standins import Received, StandIn
from conformance.sut.target import Target
from conformance.verdict.decisions import Unmet

OPERATIONS = ("getConfig", "listTransactions", "createQuote", "getCustomer")
ANY = settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
LONE_SURROGATE = b"\xed\xa0\x80"


class Puppet(StandIn):
    """A server that answers every request with the bytes in ``answer``."""

    def __init__(self) -> None:
        self.answer = b""
        super().__init__(self._say)

    def _say(self, connection: socket.socket, _: Received, _stopped: threading.Event) -> None:
        connection.sendall(self.answer)


class Probe:
    """A client of a puppet, with the findings and observations that it has reported."""

    def __init__(self, puppet: Puppet, client: RecordingClient, journal: IO[str]) -> None:
        self.puppet, self.client = puppet, client
        self._journal = journal
        self.findings: list[Finding] = []
        self.observations: list[str] = []
        client.listener = self._hear

    def ask(self, answer: bytes) -> None:
        """Send requests of each kind and use all of each answer; only ``Unmet`` may be raised."""
        self.puppet.answer = answer
        self.findings.clear()
        self.observations.clear()
        for name in OPERATIONS:
            self._use(partial(self.client.call, name, **_parts(name), valid=name != "createQuote"))
        self._use(lambda: self.client.call("getConfig", judged=False))
        self._use(lambda: self.client.stray("getConfig", path="//config"))
        with contextlib.suppress(Unmet):
            status, body = self.client.trigger(
                "POST", f"{self.puppet.origin}/control", {}, secrets=["code"]
            )
            assert isinstance(status, int)
            json.dumps(body, allow_nan=False, ensure_ascii=False).encode()
        # Other programs read it, for which NaN is no JSON.
        for line in self._journal:
            json.loads(line, parse_constant=pytest.fail)
        assert all(len(finding.detail) < 3_000 for finding in self.findings)
        assert all(len(observation) <= 200 for observation in self.observations)
        assert len(self.observations) <= 20 * len(OPERATIONS)

    def _use(self, send: Callable[[], Answer]) -> None:
        answer = None
        with contextlib.suppress(Unmet):
            answer = send()
        if answer is None:
            return
        assert len(repr(answer)) < 3_000
        assert answer.code == error_code(answer.body)
        assert answer.accepted == (200 <= answer.status < 300)
        for assertion in (answer.refused, answer.denied):
            with contextlib.suppress(AssertionError, Unmet):
                assertion("QUOTE_EXPIRED", twin=answer)

    def _hear(self, _: Any, findings: tuple[Finding, ...], observations: tuple[str, ...]) -> None:
        self.findings += findings
        self.observations += observations


def _parts(name: str) -> dict[str, Any]:
    if name == "createQuote":
        return {"body": {}}
    return {"path": {"customerId": "Customer:1"}} if name == "getCustomer" else {}


@pytest.fixture
def probe(
    make_target: Callable[..., Target], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Generator[Probe]:
    """Return a probe of a puppet, without pauses before a request is sent again."""
    monkeypatch.setattr(http, "_FAULT_PAUSES_SECONDS", (0,))
    monkeypatch.setattr(http, "MAX_PAUSE_SECONDS", 0)
    timing, budget = {"outage": 1e6, "request": 5}, {"requests": 10**9, "created": 10**9}
    with Puppet() as puppet, contextlib.ExitStack() as stack:
        target = make_target(puppet.base_url, timing=timing, budget=budget)
        redactor = Redactor(target.secrets)
        journal = Journal(tmp_path / "main.jsonl", "main", redactor)
        stack.callback(journal.close)
        run_budget = Budget.start(tmp_path / "budget", target.profile.budget)
        stack.callback(run_budget.close)
        client = RecordingClient(target, judge(), journal, run_budget, redactor)
        stack.callback(client.close)
        yield Probe(puppet, client, stack.enter_context((tmp_path / "main.jsonl").open()))


def response(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    """Return a whole response with a JSON body; further ``headers`` stand first."""
    length = b"content-length: %d" % len(body)
    lines = (*headers, b"content-type: application/json", length, b"connection: close")
    return b"HTTP/1.1 " + status + b"\r\n" + b"\r\n".join(lines) + b"\r\n\r\n" + body


def json_values() -> st.SearchStrategy[Any]:
    """Return a strategy for values of every kind, with names that the suite looks at."""
    names = st.sampled_from(
        ["code", "reason", "details", "data", "id", "hasMore", "status", "accessToken"]
    )
    codes = st.sampled_from(["QUOTE_EXPIRED", "DAILY_VOLUME_LIMIT_EXCEEDED", "Customer:1"])
    scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | codes
    return st.recursive(
        scalars, lambda inner: st.lists(inner) | st.dictionaries(names | st.text(), inner)
    )


STATUSES = (
    *(b"%d Made Up" % status for status in (200, 201, 204, 205, 206, 299, 301, 302, 304)),
    *(b"%d Made Up" % status for status in (400, 401, 404, 418, 429, 500, 502, 503, 504)),
    *(b"%d Made Up" % status for status in (-1, 0, 99, 100, 101, 599, 600, 999, 1000)),
    *(b"200", b"099 x", b"2\xb20", b"abc", b""),
)
HEADERS = (
    *(b"retry-after: \xb2", b"retry-after: 0", b"retry-after: " + b"9" * 5_000, b"retry-after:"),
    *(b"retry-after: Mon, 01 Jan 0000 00:00:00 GMT", b"content-encoding: gzip", b"x: \x00"),
    *(b"location: http://[::1/", b"location: \xff", b"location: //", b"location: http://a:99999"),
    *(b"set-cookie: a=\xe9; domain=.", b"set-cookie: " + b"=" * 100, b"content-type: \xff/\xb2"),
    *(b"content-type: application/json; charset=utf-16", b"content-type:", b"x-\xe9: 1"),
    *(b"content-type: " + b"a" * 50_000, b"content-length: 5", b"content-length: -1"),
    *(b"content-length: " + b"9" * 40, b"transfer-encoding: chunked", b"transfer-encoding: gzip"),
    *(b": empty", b" folded", b"", b"no colon", b"x: " + b"a" * 200_000, b"x:\xc3\xa9\x80"),
    *(b"\r\n".join(b"x-%d: 1" % n for n in range(3_000)), b"HTTP/1.1 200 OK", b"upgrade: h2c"),
)
BODIES = (
    *(b"null", b"[]", b"[null]", b"1", b"1e999", b"9" * 5_000, b"9" * 400, b"NaN", b"true", b'""'),
    *(
        b"[" * 1_000 + b"]" * 1_000,
        b"[" * 63 + b"]" * 63,
        LONE_SURROGATE,
        b'"' + LONE_SURROGATE + b'"',
        b'"\\ud800"',
    ),
    *(b'{"code": "\\udfff"}', b'{"code": {"a": 1}}', b'{"data": {}}', b'{"data": [1, null, []]}'),
    *(b'{"details": ' + b"9" * 400 + b"}", b"\xff\xfe[\x00]\x00", '{"é": "é"}'.encode("latin-1")),
    *(b'{"code":', b"", b"\x00", b'{"": ""}', b'{"type": [], "data": {"id": 1e999}}'),
)
CHUNKS = (
    *(b"2\r\n{}\r\n", b"0\r\n\r\n", b"g\r\n", b"-1\r\n", b"\r\n", b"2;x=\xff\r\n", b"\x00"),
    *(b"f" * 30 + b"\r\n", b"0\r\nx: 1\r\n\r\n", b"2\r\n{", b"10000"),
)


class TestAnswers:
    """Answers that are wrong in any way."""

    @ANY
    @given(
        json_values().map(lambda value: json.dumps(value).encode()) | st.sampled_from(BODIES),
        st.lists(st.sampled_from(HEADERS), max_size=3),
        st.sampled_from(STATUSES),
    )
    @example(b"{}", [b"retry-after: \xb2"], b"429 Slow")
    def test_no_response_raises_anything_else(
        self, probe: Probe, body: bytes, headers: list[bytes], status: bytes
    ) -> None:
        """Hostile bodies, headers and statuses are sent in all combinations."""
        probe.ask(response(body, *headers, status=status))

    @ANY
    @given(st.binary() | st.binary().map(lambda rest: b"HTTP/1.1 " + rest))
    @example(b"")
    @example(b"<html>HTTP/0.9 had no status line</html>")
    @example(b"HTTP/2 200\r\n\r\n")
    @example(b"HTTP/1.1 100 Continue\r\n\r\n" * 5_000)
    @example(b"HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n" * 5_000 + response(b"{}"))
    @example(b"HTTP/1.1 204 No\r\nconnection: close\r\n\r\n{}")
    @example(b"SSH-2.0-OpenSSH_9.6\r\n")
    @example(b"\x15\x03\x01\x00\x02\x02\x46")
    @example(b"\r\n" * 1_000)
    def test_no_bytes_raise_anything_else(self, probe: Probe, answer: bytes) -> None:
        """The bytes of the answer need not be HTTP."""
        probe.ask(answer)

    @ANY
    @given(st.lists(st.sampled_from(CHUNKS)))
    def test_no_chunks_raise_anything_else(self, probe: Probe, chunks: list[bytes]) -> None:
        """The lengths of chunks may be wrong, and the chunks incomplete."""
        head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"
        probe.ask(head + b"transfer-encoding: chunked\r\n\r\n" + b"".join(chunks))

    def test_what_is_noted_of_an_answer_is_bounded(self, probe: Probe) -> None:
        """Ten thousand unknown members are noted as twenty observations at most."""
        members = {f"{'m' * 300}{number}": 1 for number in range(10_000)}

        probe.ask(response(json.dumps({"supportedCurrencies": [], **members}).encode()))

        assert probe.observations


class TestRequests:
    """Requests with values that came from a target."""

    @pytest.mark.slow
    @ANY
    @given(json_values() | st.text(st.characters()), json_values())
    @example("..", None)
    @example("", [])
    @example("\0", "\ud800")
    @example(["Customer:1"], {"a": [1]})
    @example("a" * 200_000, "a" * 200_000)
    @example("//evil.example/", 10**400)
    def test_no_value_raises_anything_else(self, probe: Probe, identifier: Any, value: Any) -> None:
        """An id stays in its place in the path, or the request is not sent."""
        probe.puppet.answer = response(b"{}")
        probe.puppet.received.clear()

        with contextlib.suppress(Unmet):
            probe.client.call("getCustomer", path={"customerId": identifier}, valid=False)

        for request in probe.puppet.received:
            assert request.path.startswith("/2025-10-13/customers/")
            assert request.path.count("/") == 3
        with contextlib.suppress(Unmet):
            probe.client.call("listTransactions", query={"cursor": value})
        with contextlib.suppress(Unmet):
            probe.client.call("listTransactions", headers={"request-id": value})
        with contextlib.suppress(Unmet):
            probe.client.call("createQuote", body={"note": value}, valid=False)
