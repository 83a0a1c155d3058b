"""The recording client: what it bounds, refuses to send, judges and hides."""

from __future__ import annotations

import base64
import contextlib
import json
import random
import re
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest

from conformance.contract.judge import Finding
from conformance.exchange import client as http
from conformance.exchange.answer import Answer
from conformance.exchange.client import RecordingClient
from conformance.exchange.journal import BodyForm, Exchange
from conformance.exchange.packed import unpack
from conformance.selftest import standins
from conformance.selftest.conftest import CLIENT_SECRET, TOKEN_ID
from conformance.selftest.standins import Behaviour, StandIn
from conformance.sut.reading import ResponseTooLarge
from conformance.verdict.decisions import (
    BudgetSpent,
    HarnessError,
    Irrevocable,
    ReadOnly,
    TargetLost,
    TriggerFailed,
    TwinRefused,
)

Connect = Callable[..., RecordingClient]
Start = Callable[[Behaviour], StandIn]

QUOTE = {
    "source": {"sourceType": "ACCOUNT", "accountId": "InternalAccount:1"},
    "destination": {"destinationType": "ACCOUNT", "accountId": "ExternalAccount:1"},
    "lockedCurrencySide": "SENDING",
    "lockedCurrencyAmount": 10_000,
}


def journal_of(folder: Path) -> str:
    """Return the text of all journals below ``folder``."""
    return "".join(path.read_text() for path in sorted(folder.rglob("*.jsonl")))


class TestBounds:
    """Nothing that a target sends blocks the suite or fills its memory."""

    def test_a_flood_is_cut(
        self, stand_in: Start, connect: Connect, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """A body above the limit of bytes raises ResponseTooLarge; the test lowers the limit."""
        monkeypatch.setattr(http, "MAX_BODY_BYTES", 100_000)
        client = connect(stand_in(standins.floods()).base_url)

        with pytest.raises(ResponseTooLarge, match="larger than 100000 bytes"):
            client.call("getConfig")

    @pytest.mark.parametrize(
        "behaviour",
        [
            pytest.param(standins.hangs(), id="hanging"),
            pytest.param(standins.drips_header(), id="dripping header"),
            pytest.param(standins.drips_body(), id="dripping body"),
        ],
    )
    def test_a_slow_response_is_given_up(
        self, stand_in: Start, connect: Connect, behaviour: Behaviour
    ) -> None:
        """A response has ``timing.request`` from sending to its last byte."""
        client = connect(stand_in(behaviour).base_url, timing={"request": 0.3})
        started = time.monotonic()

        with pytest.raises(TargetLost):
            client.call("getConfig")

        assert time.monotonic() - started < 2

    @pytest.mark.parametrize(
        ("seconds", "attempts"),
        [pytest.param("0", 6, id="pace"), pytest.param("86399", 1, id="limit of a day")],
    )
    def test_only_who_limits_the_pace_is_asked_again(
        self, stand_in: Start, connect: Connect, seconds: str, attempts: int
    ) -> None:
        """A 429 is asked again where ``retry-after`` is short, and counts where it is a day."""
        body = {"code": "RATE_LIMITED", "reason": "Too many."}
        target = stand_in(standins.answers(429, body, headers={"retry-after": seconds}))

        client = connect(target.base_url)
        expectation = pytest.raises(
            TargetLost, match="limits the pace of requests: getConfig answered"
        )

        with expectation if attempts > 1 else contextlib.nullcontext():
            assert client.call("getConfig").status == 429

        assert len(target.received) == attempts

    def test_a_deep_body_is_not_judged(self, stand_in: Start, connect: Connect) -> None:
        """A body of more levels than 64 may be JSON: it is observed, and fails nothing."""
        deep = b'{"a":' * 100_000 + b"1" + b"}" * 100_000
        client = connect(stand_in(standins.answers(200, deep)).base_url)
        findings: list[Finding] = []
        observed: list[str] = []

        def listen(_exchange: Exchange, new: Iterable[Finding], seen: Iterable[str]) -> None:
            findings.extend(new)
            observed.extend(seen)

        client.listener = listen

        answer = client.call("getConfig")

        assert answer.body is None
        assert {finding.requirement for finding in findings} == {"CNV-001", "AUT-043"}
        assert all(finding.passed for finding in findings)
        assert observed == ["getConfig answered 200 with a body too deep or too long to be read"]

    @pytest.mark.parametrize("body", [b"NaN", b'{"id": Infinity}', b"{'id': 1}", b"\xff", b"{"])
    def test_what_is_no_json_is_kept_as_text(
        self, stand_in: Start, connect: Connect, body: bytes
    ) -> None:
        """The body of the answer is ``None``, and the exchange keeps the text as evidence."""
        client = connect(stand_in(standins.answers(200, body)).base_url)

        answer = client.call("getConfig")

        assert answer.body is None
        assert answer.exchange.response_body == body.decode("utf-8", "replace")

    def test_half_a_surrogate_pair_upsets_nothing(
        self, stand_in: Start, connect: Connect, tmp_path: Path
    ) -> None:
        """A lone surrogate, which UTF-8 cannot encode, becomes a question mark."""
        client = connect(stand_in(standins.answers(200, b'{"id": "\\ud800 \\u00e9"}')).base_url)

        answer = client.call("getConfig")

        assert answer.body == {"id": "? é"}
        assert r"? \u00e9" in journal_of(tmp_path)

    @pytest.mark.parametrize(
        ("behaviour", "message"),
        [
            (standins.dies_half_way(), "getConfig got no complete response from http://127"),
            (lambda *_: None, "Server disconnected without sending a response"),
        ],
        ids=["half an answer", "none"],
    )
    def test_a_broken_connection_is_told(
        self, stand_in: Start, connect: Connect, behaviour: Behaviour, message: str
    ) -> None:
        """A connection that breaks raises TargetLost with the cause."""
        client = connect(stand_in(behaviour).base_url)

        with pytest.raises(TargetLost, match=message):
            client.call("getConfig")

    def test_a_request_without_response_stands_in_the_journal(
        self, stand_in: Start, connect: Connect, tmp_path: Path
    ) -> None:
        """Journal and listener get the exchange, with status 0 and the cause."""
        client = connect(stand_in(standins.dies_half_way()).base_url)
        exchanges: list[Exchange] = []
        client.listener = lambda exchange, _findings, _observations: exchanges.append(exchange)

        with pytest.raises(TargetLost):
            client.call("getConfig")

        entries = [json.loads(line) for line in journal_of(tmp_path).splitlines()]
        assert {(entry["operation"], entry["status"]) for entry in entries} == {("getConfig", 0)}
        assert all("peer closed connection" in entry["error"] for entry in entries)
        assert [exchange.id for exchange in exchanges] == [entry["id"] for entry in entries]


class TestSafety:
    """What the client does not send."""

    def test_redirects_are_not_followed(self, stand_in: Start, connect: Connect) -> None:
        """The answer is the 302 itself, as the credentials would go along with a redirect."""
        elsewhere = stand_in(standins.answers())
        client = connect(stand_in(standins.redirects(f"{elsewhere.origin}/config")).base_url)

        answer = client.call("getConfig")

        assert answer.status == 302
        assert elsewhere.received == []

    @pytest.mark.parametrize(
        ("operation", "more"),
        [
            ("createQuote", {"body": QUOTE}),
            ("updateConfig", {"body": {}, "valid": False}),
            ("deleteExternalAccount", {"path": {"externalAccountId": "ExternalAccount:1"}}),
        ],
        ids=["POST", "PATCH", "DELETE"],
    )
    def test_nothing_is_changed_outside_of_a_sandbox(
        self, stand_in: Start, connect: Connect, operation: str, more: dict[str, Any]
    ) -> None:
        """POST, PATCH and DELETE raise ReadOnly, and nothing is sent."""
        server = stand_in(standins.answers())
        client = connect(server.base_url, environment="production")

        with pytest.raises(ReadOnly, match=f"{operation} changes something"):
            client.call(operation, **more)

        assert server.received == []

    def test_nothing_is_minted_without_the_word_for_it(
        self, stand_in: Start, connect: Connect
    ) -> None:
        """A final account number needs ``irreversible.account_numbers``, in a sandbox too."""
        server = stand_in(standins.answers())
        client = connect(server.base_url, environment="sandbox")

        with pytest.raises(Irrevocable, match=r"does not say irreversible\.account_numbers: true"):
            client.call("createInternalAccount", body={}, valid=False)

        assert server.received == []

    def test_numbers_are_minted_with_the_word_for_it(
        self, stand_in: Start, connect: Connect
    ) -> None:
        """With ``irreversible.account_numbers: true`` the request is sent."""
        server = stand_in(standins.answers())
        irreversible = {"account_numbers": True}
        client = connect(server.base_url, environment="sandbox", irreversible=irreversible)

        client.call("createInternalAccount", body={}, valid=False)

        assert [request.method for request in server.received] == ["POST"]

    def test_nothing_is_triggered_outside_of_a_sandbox(
        self, stand_in: Start, connect: Connect
    ) -> None:
        """The request of a trigger raises ReadOnly too, and nothing is sent."""
        server = stand_in(standins.answers())
        client = connect(server.base_url, environment="production")

        with pytest.raises(ReadOnly):
            client.trigger("POST", f"{server.origin}/control", {})

        assert server.received == []

    def test_reading_is_allowed_outside_of_a_sandbox(
        self, stand_in: Start, connect: Connect
    ) -> None:
        """A GET is sent in production, as it changes nothing."""
        server = stand_in(standins.answers())

        connect(server.base_url, environment="production").call("getConfig")

        assert [request.method for request in server.received] == ["GET"]

    def test_the_budget_of_requests_is_kept(self, stand_in: Start, connect: Connect) -> None:
        """Of eight threads with a budget of three requests, three send one."""
        server = stand_in(standins.answers())
        client = connect(server.base_url, budget={"requests": 3})

        def call(_: int) -> bool:
            try:
                client.call("getConfig")
            except BudgetSpent:
                return False
            return True

        with ThreadPoolExecutor(8) as pool:
            sent = list(pool.map(call, range(8)))

        assert sent.count(True) == 3
        assert len(server.received) == 3

    def test_the_budget_of_resources_is_kept(self, stand_in: Start, connect: Connect) -> None:
        """Reading does not count as a created resource."""
        server = stand_in(standins.answers())
        client = connect(server.base_url, budget={"created": 1})
        client.call("getConfig")
        client.call("createQuote", body=QUOTE)

        with pytest.raises(BudgetSpent, match=r"budget\.created of 1 is spent"):
            client.call("createQuote", body=QUOTE)

        assert [request.method for request in server.received] == ["GET", "POST"]

    def test_an_invalid_request_that_is_meant_to_be_valid_is_not_sent(
        self, stand_in: Start, connect: Connect
    ) -> None:
        """HarnessError names the mistake of the suite, which is not held against the target."""
        server = stand_in(standins.answers())
        client = connect(server.base_url)
        body = {**QUOTE, "lockedCurrencyAmount": "10000"}

        with pytest.raises(HarnessError, match="createQuote was meant to be valid: lockedCurr"):
            client.call("createQuote", body=body)

        assert server.received == []

    def test_an_invalid_request_can_be_sent_on_purpose(
        self, stand_in: Start, connect: Connect
    ) -> None:
        """With ``valid=False`` the body is sent as it is."""
        server = stand_in(standins.answers())

        connect(server.base_url).call("createQuote", body={"x": 1}, valid=False)

        assert json.loads(server.received[0].body) == {"x": 1}

    def test_credentials_go_to_the_target_alone(self, stand_in: Start, connect: Connect) -> None:
        """A trigger at the origin of the target gets credentials, one at another does not."""
        server, elsewhere = stand_in(standins.answers()), stand_in(standins.answers())
        client = connect(server.base_url)

        client.trigger("POST", f"{server.origin}/control", {})
        client.trigger("POST", f"{elsewhere.origin}/control", {})

        assert "authorization" in server.received[0].headers
        assert "authorization" not in elsewhere.received[0].headers

    @pytest.mark.parametrize("host", ["api.acme.example.evil.example", "api.acme.example@evil"])
    def test_a_host_that_begins_alike_is_another(
        self, connect: Connect, monkeypatch: pytest.MonkeyPatch, host: str
    ) -> None:
        """A host whose name begins like that of the target gets no credentials."""
        client = connect("https://api.acme.example/2025-10-13")
        credentials: list[httpx.Auth | None] = []

        def receive(_request: httpx.Request, auth: httpx.Auth | None) -> Any:
            credentials.append(auth)
            return httpx.Response(204), b""

        monkeypatch.setattr(client, "_receive", receive)
        client.trigger("POST", f"https://{host}/control", {})

        assert credentials == [None]

    def test_a_trigger_that_leads_nowhere_is_told(self, connect: Connect) -> None:
        """A trigger with a wrong URL raises TriggerFailed with that URL."""
        client = connect("https://api.acme.example/2025-10-13")

        with pytest.raises(TriggerFailed, match=r"http://\[::1/x, which is no URL"):
            client.trigger("POST", "http://[::1/x", {})


class TestRequests:
    """How the client writes a request."""

    def test_path_and_query_are_filled_in(self, stand_in: Start, connect: Connect) -> None:
        """Ids are encoded except for their colon; a query value of ``None`` is left out."""
        server = stand_in(standins.answers())
        client = connect(server.base_url)

        client.call("executeQuote", path={"quoteId": "Quote:../1?x"})
        client.call("listTransactions", query={"status": "PENDING", "cursor": None})

        assert [request.path for request in server.received] == [
            "/2025-10-13/quotes/Quote:..%2F1%3Fx/execute",
            "/2025-10-13/transactions?status=PENDING",
        ]

    def test_bytes_can_be_sent_as_they_are(self, stand_in: Start, connect: Connect) -> None:
        """``content`` sends bytes that are no JSON."""
        server = stand_in(standins.answers())

        connect(server.base_url).call("createQuote", content=b'{"a":', valid=False)

        assert server.received[0].body == b'{"a":'

    def test_other_credentials_can_be_sent(self, stand_in: Start, connect: Connect) -> None:
        """``auth`` sends a wrong secret, or no credentials."""
        server = stand_in(standins.answers())
        client = connect(server.base_url)

        client.call("getConfig", auth=client.credentials(client_secret="wrong"))
        client.call("getConfig", auth=httpx.Auth())

        wrong = base64.b64encode(f"{TOKEN_ID}:wrong".encode()).decode()
        assert server.received[0].headers["authorization"] == f"Basic {wrong}"
        assert "authorization" not in server.received[1].headers

    def test_every_response_is_judged(self, stand_in: Start, connect: Connect) -> None:
        """The listener gets the exchange with its findings and observations."""
        client = connect(stand_in(standins.html()).base_url)
        reports: list[tuple[Exchange, tuple[Finding, ...], tuple[str, ...]]] = []
        client.listener = lambda *report: reports.append(report)
        client.test = "test_x"

        client.call("getConfig")

        exchange, findings, _ = reports[0]
        assert (exchange.id, exchange.test, exchange.operation) == ("main-1", "test_x", "getConfig")
        assert [f.requirement for f in findings if not f.passed] == ["CNV-002"]


class TestStrayRequests:
    """A stray request is sent as it is written, and its answer is not judged."""

    @pytest.mark.parametrize(
        "path", ["//config/", "/config?a=%zz", "/a/%2e%2e/%FF%00", "/./config"]
    )
    def test_their_path_is_sent_as_it_is(
        self, stand_in: Start, connect: Connect, path: str
    ) -> None:
        """The path is neither encoded nor made shorter, in the request and in the exchange."""
        server = stand_in(standins.html())
        client = connect(server.base_url)
        reports: list[tuple[Finding, ...]] = []
        client.listener = lambda _, findings, __: reports.append(findings)

        answer = client.stray("getConfig", method="PUT", path=path, content=b"{")

        request = server.received[0]
        assert (request.method, request.path, request.body) == ("PUT", f"/2025-10-13{path}", b"{")
        assert answer.exchange.url == server.base_url + path
        assert answer.operation.id == "getConfig"
        assert reports == [()]

    def test_they_may_leave_the_base_url(self, stand_in: Start, connect: Connect) -> None:
        """A stray request may have a path outside of the base URL at the same origin."""
        server = stand_in(standins.answers())
        client = connect(server.base_url)

        client.stray("getConfig", path=f"{server.origin}/other/config")

        assert server.received[0].path == "/other/config"

    def test_they_change_nothing_outside_of_a_sandbox(
        self, stand_in: Start, connect: Connect
    ) -> None:
        """The method of the request decides: a PUT raises ReadOnly under any operation."""
        server = stand_in(standins.answers())
        client = connect(server.base_url, environment="production")

        with pytest.raises(ReadOnly):
            client.stray("getConfig", method="PUT")

        assert server.received == []

    def test_a_long_body_is_written_down_in_part(self, stand_in: Start, connect: Connect) -> None:
        """The exchange has the first 200 characters of a long request body, and its length."""
        client = connect(stand_in(standins.answers()).base_url)

        answer = client.stray("createQuote", content=b"a" * 300_000)

        assert answer.exchange.request_body == "a" * 200 + "… (300000 bytes)"


class TestSecrets:
    """Nothing that is written shows the credentials."""

    def test_they_are_nowhere_in_the_journal(
        self, stand_in: Start, connect: Connect, tmp_path: Path
    ) -> None:
        """Credentials are masked in headers, URLs and bodies of request and response."""
        client = connect(stand_in(standins.echoes()).base_url)
        pair = f"{TOKEN_ID}:{CLIENT_SECRET}"
        encoded = base64.b64encode(CLIENT_SECRET.encode()).decode()

        client.call(
            "createQuote",
            query={"key": CLIENT_SECRET},
            body={"note": f"my secret is {CLIENT_SECRET}", "coded": encoded},
            headers={"x-token": TOKEN_ID},
            valid=False,
        )
        client.call("getConfig")

        journal = journal_of(tmp_path)
        for secret in (TOKEN_ID, CLIENT_SECRET, encoded, base64.b64encode(pair.encode()).decode()):
            assert secret not in journal
        assert '"authorization": "***"' in journal

    def test_a_part_of_something_in_base64_is_found(
        self, stand_in: Start, connect: Connect, tmp_path: Path
    ) -> None:
        """The secret is masked in base64, whatever stands before and after it."""
        client = connect(stand_in(standins.echoes()).base_url)

        for before in ("", "a", "ab", "abc"):
            text = f"{before}{CLIENT_SECRET}z"
            encoded = base64.b64encode(text.encode()).decode()
            client.call("createQuote", body={"note": encoded}, valid=False)

        for word in re.findall(r"[A-Za-z0-9+/]{16,}", journal_of(tmp_path)):
            decoded = base64.b64decode(word + "=" * (-len(word) % 4))
            assert CLIENT_SECRET.encode() not in decoded

    def test_an_echoed_secret_gets_into_no_assertion(
        self, stand_in: Start, connect: Connect
    ) -> None:
        """The answer that a scenario compares and prints has the secret masked."""
        answer = connect(stand_in(standins.echoes()).base_url).call("getConfig")

        assert answer.body["headers"]["authorization"].startswith("Basic ***")
        assert CLIENT_SECRET not in str(answer)

    def test_members_that_are_secret_by_nature_are_not_written(
        self, stand_in: Start, connect: Connect, tmp_path: Path
    ) -> None:
        """``accessToken`` is in the answer for the scenario, and not in the journal."""
        client = connect(stand_in(standins.answers(200, {"accessToken": "t0p"})).base_url)

        answer = client.call("getConfig")

        assert answer.body == {"accessToken": "t0p"}
        assert "t0p" not in journal_of(tmp_path)

    def test_a_credential_that_a_trigger_tells_is_concealed(
        self, stand_in: Start, connect: Connect, tmp_path: Path
    ) -> None:
        """The caller gets the credential; it is masked in the journal and in later answers."""
        token = "agent-9c1f27e4b05d"
        control = stand_in(standins.answers(201, {"credential": token}))
        client = connect(stand_in(standins.echoes()).base_url)

        _, body = client.trigger("POST", f"{control.origin}/agents", {}, secrets=["credential"])
        answer = client.call("getConfig", headers={"x-agent": f"Bearer {token}"})

        assert body == {"credential": token}
        assert token not in str(answer)
        assert token not in journal_of(tmp_path)


class TestRefusals:
    """``refused`` counts a refusal only beside an accepted twin."""

    @pytest.fixture
    def ask(self, stand_in: Start, connect: Connect) -> Callable[..., Answer]:
        """Return a function that gives the answer of a target with this status and code."""

        def ask(status: int, code: str | None = None, name: str = "getConfig") -> Answer:
            body = {"code": code, "reason": "x"} if code else {}
            return connect(stand_in(standins.answers(status, body)).base_url).call(
                name, body=QUOTE if name == "createQuote" else None
            )

        return ask

    @pytest.mark.parametrize(
        ("status", "code", "broken"),
        [
            (200, None, ()),
            (400, "INVALID_INPUT", ("CFG-001",)),
            (404, "NOT_FOUND", ("CFG-001",)),
            (409, "CODE_OF_ITS_OWN", ("CFG-001",)),
            (400, "CODE_OF_ITS_OWN", ()),
            (400, "QUOTE_RATE_UNAVAILABLE", ()),
            (401, "UNAUTHORIZED", ()),
            (500, None, ()),
        ],
    )
    def test_a_refusal_without_a_reason_breaks_what_the_operation_names(
        self, ask: Callable[..., Answer], status: int, code: str | None, broken: tuple[str, ...]
    ) -> None:
        """It breaks a requirement if it blames the request."""
        assert ask(status, code).breaks == broken

    def test_a_purpose_that_a_destination_requires_breaks_nothing(
        self, connect: Connect, stand_in: Start
    ) -> None:
        """Some destinations require a purposeOfPayment, and others none."""
        errors = [{"field": "purposeOfPayment", "reason": "is required"}]
        body = {"code": "INVALID_INPUT", "details": {"errors": errors}}
        client = connect(stand_in(standins.answers(400, body)).base_url)

        asked, told = (
            client.call("createQuote", body=QUOTE | more)
            for more in ({}, {"purposeOfPayment": "GIFT"})
        )

        assert asked.breaks == ()
        assert told.breaks != ()

    def test_status_and_code_have_to_fit(self, ask: Callable[..., Answer]) -> None:
        """Of several statuses and codes one of each is enough, and none need be given."""
        refusal, twin = ask(400, "QUOTE_EXPIRED"), ask(200)

        refusal.refused(400, 409, "QUOTE_EXPIRED", "QUOTE_RATE_UNAVAILABLE", twin=twin)
        refusal.refused("QUOTE_EXPIRED", twin=twin)
        refusal.refused(twin=twin)

    @pytest.mark.parametrize(
        ("expected", "message"),
        [
            ((409,), "expected a refusal with 409, got getConfig → 400"),
            ((400, "A", "B"), "expected the code A or B, got getConfig → 400"),
        ],
    )
    def test_another_refusal_fails(
        self, ask: Callable[..., Answer], expected: tuple[int | str, ...], message: str
    ) -> None:
        """The message shows the refusal that came, and the accepted twin."""
        refusal, twin = ask(400, "QUOTE_EXPIRED"), ask(200)

        with pytest.raises(AssertionError, match=message) as error:
            refusal.refused(*expected, twin=twin)

        assert "the accepted twin: getConfig → 200" in str(error.value)

    @pytest.mark.parametrize("status", [200, 302, 500])
    def test_what_is_no_refusal_fails(self, ask: Callable[..., Answer], status: int) -> None:
        """200, 302 and the server error 500 are no refusals."""
        with pytest.raises(AssertionError, match="expected a refusal with 400 or 401 or"):
            ask(status).refused(twin=ask(200))

    def test_a_refused_twin_proves_nothing(self, ask: Callable[..., Answer]) -> None:
        """Where the twin was refused as well, the check is inconclusive."""
        with pytest.raises(TwinRefused, match="was refused as well: getConfig"):
            ask(400, "X").refused(400, twin=ask(400, "X"))

    def test_a_twin_of_another_operation_is_a_mistake(self, ask: Callable[..., Answer]) -> None:
        """A twin of another operation raises HarnessError, as it is not the same request."""
        with pytest.raises(HarnessError, match="createQuote cannot be the twin of getConfig"):
            ask(400).refused(twin=ask(201, name="createQuote"))


def test_an_answer_is_shown_in_short(stand_in: Start, connect: Connect) -> None:
    """``repr`` of an answer, as assertions print it, cuts a long body."""
    client = connect(stand_in(standins.answers(200, {"note": "x" * 1000})).base_url)

    text = repr(client.call("getConfig"))

    assert text.startswith('getConfig → 200 {"note": "xxx')
    assert text.endswith("…")
    assert len(text) < 350


class TestLongAnswers:
    """Bodies of more than 200,000 bytes."""

    @pytest.mark.parametrize(
        ("body", "start"),
        [
            (b'{"note": "' + b"x" * 300_000 + b'"}', '{"note": "xxx'),
            (b"<html>" + b"x" * 300_000, "<html>xxx"),
            (b'{"accessToken": "t0p", "note": "' + b"x" * 300_000 + b'"}', '{"accessToken": "***"'),
            (b'["' + CLIENT_SECRET.encode() + b'", "' + b"x" * 300_000 + b'"]', '["***", "xxx'),
            (CLIENT_SECRET.encode() + b"x" * 300_000, "***xxx"),
        ],
        ids=["JSON", "text", "a secret member", "a secret", "a secret in text"],
    )
    def test_they_are_written_down_in_part(
        self, stand_in: Start, connect: Connect, tmp_path: Path, body: bytes, start: str
    ) -> None:
        """The exchange has the start of the body without secrets, its length, and all packed."""
        client = connect(stand_in(standins.answers(200, body)).base_url)

        answer = client.call("getConfig")

        text = answer.exchange.response_body
        assert text.startswith(start)
        assert text.endswith(f"… ({len(body)} bytes)")
        assert len(text) < 300
        whole = unpack(answer.exchange.packed)
        assert whole.startswith(start)
        assert len(whole) >= 300_000
        assert not {CLIENT_SECRET, "t0p"}.intersection(whole.split('"'))
        assert CLIENT_SECRET not in journal_of(tmp_path) + repr(answer) + whole

    def test_what_cannot_be_packed_is_written_down_in_part(
        self, stand_in: Start, connect: Connect
    ) -> None:
        """A body that is long even when it is compressed is not packed."""
        noise = random.Random(1).randbytes(400_000).hex()
        client = connect(stand_in(standins.answers(200, {"note": noise})).base_url)

        exchange = client.call("getConfig").exchange

        assert exchange.packed == ""
        assert exchange.body_form is BodyForm.CUT

    def test_what_they_do_wrong_is_told_in_short(self, stand_in: Start, connect: Connect) -> None:
        """The detail names the first wrong entry, and is found within ten seconds."""
        rows = [{"id": f"Customer:{number}"} for number in range(200_000)]
        client = connect(stand_in(standins.answers(200, {"data": rows})).base_url)
        details: list[str] = []
        client.listener = lambda _, findings, __: details.extend(f.detail for f in findings)
        started = time.process_time()

        client.call("listTransactions")

        assert time.process_time() - started < 10
        assert '*.id: "Customer:0" does not match "^Transaction:.+$"' in details
        assert max(map(len, details)) <= 1_000
