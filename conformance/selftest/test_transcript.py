"""Transcripts: what a person reads of the exchanges, and the script that repeats them."""

from __future__ import annotations

import os
import shutil
import subprocess
from email import message_from_bytes
from email.policy import HTTP
from pathlib import Path
from typing import Any

import pytest

from conformance.client.journal import Exchange
from conformance.client.transcript import curl_chain, transcript
from conformance.data import FIXTURES
from conformance.reference.server import BackgroundServer
from conformance.run import Connection
from conformance.selftest.conftest import CLIENT_SECRET, TOKEN_ID
from conformance.selftest.standins import Received, StandIn, answers, echoes
from conformance.target.target import Target
from conformance.verdict.recorder import Recorder

BASE_URL = "https://api.acme.example/pay/2025-10-13"

JSON = {"content-type": "application/json"}

TOOLS = [name for name in ("sh", "curl", "jq") if shutil.which(name) is None]
needs_tools = pytest.mark.skipif(bool(TOOLS), reason=f"not installed: {', '.join(TOOLS)}")
"""The script is for a shell with curl and jq."""


def exchange(number: int = 1, **members: Any) -> Exchange:
    """Return an exchange that differs from the usual one in some members."""
    usual: dict[str, Any] = {
        "id": f"main-{number}",
        "test": "test_x",
        "operation": "getConfig",
        "method": "GET",
        "url": f"{BASE_URL}/config",
        "request_headers": {},
        "request_body": None,
        "status": 200,
        "response_headers": {},
        "response_body": None,
        "seconds": 0.0123,
    }
    if "request_body" in members:
        usual["request_headers"] = JSON
    return Exchange(**{**usual, **members})


def run(script: str, base_url: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script with the credentials and the base URL in its environment."""
    return subprocess.run(
        ["sh", "-eu"],
        input=script,
        env={
            "PATH": os.environ["PATH"],
            "BASE_URL": base_url,
            "PAYMENTS_API_TOKEN_ID": TOKEN_ID,
            "PAYMENTS_API_CLIENT_SECRET": CLIENT_SECRET,
            "no_proxy": "*",
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def form_of(received: Received) -> dict[str, Any]:
    """Return the parts of a multipart form; a file as its name, its type and its content."""
    head = f"content-type: {received.headers['content-type']}\r\n\r\n".encode()
    message = message_from_bytes(head + received.body, policy=HTTP)
    form: dict[str, Any] = {}
    for part in message.iter_parts():
        name, content = part.get_param("name", header="content-disposition"), part.get_content()
        file = part.get_filename()
        form[str(name)] = (file, part.get_content_type(), content) if file else content
    return form


class TestTranscript:
    """The exchanges in their order, cut where they are long."""

    def test_request_and_response_stand_together(self) -> None:
        """With the number, the status and the time."""
        shown = transcript(
            [
                exchange(request_body={"a": 1}, response_body={"id": "Quote:1"}, status=201),
                exchange(2, method="DELETE", status=204),
            ]
        )

        assert shown.splitlines() == [
            f"[main-1] GET {BASE_URL}/config",
            '    → {"a": 1}',
            '    ← 201 (12 ms) {"id": "Quote:1"}',
            f"[main-2] DELETE {BASE_URL}/config",
            "    ← 204 (12 ms) null",
        ]

    def test_a_missing_response_has_a_cause(self) -> None:
        """There is no status to show."""
        shown = transcript([exchange(status=0, error="connection refused")])

        assert shown.endswith("    ← no response: connection refused")

    def test_a_long_body_is_cut(self) -> None:
        """Its length is told."""
        shown = transcript([exchange(response_body="x" * 5000)])

        assert shown.endswith("x… (5000 characters)")
        assert len(shown) < 2000


class TestCurlChain:
    """The script repeats the requests against any target."""

    def test_it_holds_no_secret_and_no_base_url_but_as_default(self) -> None:
        """Both are variables."""
        script = curl_chain([exchange()], BASE_URL)

        assert f"BASE_URL=${{BASE_URL:-{BASE_URL}}}" in script
        assert script.count("acme.example") == 1
        assert '-u "$PAYMENTS_API_TOKEN_ID:$PAYMENTS_API_CLIENT_SECRET"' in script
        assert "# 1. getConfig: answered 200" in script

    @needs_tools
    def test_an_id_comes_from_the_repeated_response(self, reference: BackgroundServer) -> None:
        """Recorded ids mean nothing to another target."""
        customer, account = "Customer:recorded", "InternalAccount:recorded"
        chain = [
            exchange(
                1,
                operation="createCustomer",
                method="POST",
                url=f"{BASE_URL}/customers",
                request_body={
                    "customerType": "INDIVIDUAL",
                    "platformCustomerId": 'it\'s "me" $HOME `id` \\n',
                    "region": "US",
                    "currencies": ["USD"],
                    "fullName": "Ada Bauer",
                },
                status=201,
                response_body={"id": customer, "odd-name": customer},
            ),
            exchange(
                2,
                operation="listCustomerInternalAccounts",
                url=f"{BASE_URL}/customers/internal-accounts?customerId=Customer%3Arecorded",
                response_body={"data": [{"id": account, "customerId": customer}]},
            ),
            exchange(
                3,
                operation="trigger",
                method="POST",
                url=f"{BASE_URL.rpartition('/')[0]}/control/customers/{customer}/review",
                request_body={"decision": "APPROVED"},
            ),
            exchange(
                4,
                operation="fundInternalAccount",
                method="POST",
                url=f"{BASE_URL}/sandbox/internal-accounts/{account}/fund",
                request_body={"amount": 4200},
            ),
        ]

        done = run(curl_chain(chain, BASE_URL), reference.base_url)

        assert done.returncode == 0, done.stderr
        assert "recorded" not in done.stdout
        assert '"amount":4200' in done.stdout
        assert "it's" in done.stdout
        assert "$HOME `id`" in done.stdout

    @needs_tools
    def test_what_was_sent_is_sent_again(self) -> None:
        """Body, headers that matter, and bodies that are no JSON."""
        with StandIn(echoes()) as server:
            chain = [
                exchange(
                    method="POST",
                    url=f"{BASE_URL}/quotes",
                    request_headers={**JSON, "idempotency-key": "it's $1", "user-agent": "httpx"},
                    request_body={"note": "a'b\"c $(id) ü"},
                ),
                exchange(
                    2,
                    method="POST",
                    url=f"{BASE_URL}/quotes",
                    request_headers={"content-type": "text/plain"},
                    request_body='{"a":',
                ),
            ]

            done = run(curl_chain(chain, BASE_URL), server.base_url)

            assert done.returncode == 0, done.stderr
            first, second = server.received
        assert first.headers["idempotency-key"] == "it's $1"
        assert first.headers["content-type"] == "application/json"
        assert first.body.decode() == '{"note": "a\'b\\"c $(id) ü"}'
        assert second.headers["content-type"] == "text/plain"
        assert second.body == b'{"a":'

    @needs_tools
    def test_a_form_is_sent_again(self, tmp_path: Path) -> None:
        """Each part by itself; files from a folder, in the size that they had."""
        (tmp_path / "bill.pdf").write_bytes(b"%PDF-1.4 a bill")
        with StandIn(echoes()) as server:
            chain = [
                exchange(
                    method="POST",
                    url=f"{BASE_URL}/documents",
                    request_headers={"content-type": "multipart/form-data; boundary=seam"},
                    request_body={
                        "documentHolder": "Customer:1",
                        "issuingAuthority": "@it's; $1",
                        "file": f"<file {name}, application/pdf, {size} bytes>",
                    },
                )
                for name, size in (("bill.pdf", 18), ("lost.pdf", 5))
            ]

            done = run(curl_chain(chain, BASE_URL), server.base_url, DOCUMENTS=str(tmp_path))

            assert done.returncode == 0, done.stderr
            forms = [form_of(received) for received in server.received]
        told = {"documentHolder": "Customer:1", "issuingAuthority": "@it's; $1"}
        assert forms == [
            {**told, "file": ("bill.pdf", "application/pdf", b"%PDF-1.4 a bill\0\0\0")},
            {**told, "file": ("lost.pdf", "application/pdf", b"\0" * 5)},
        ]

    @needs_tools
    def test_a_recorded_upload_replays(
        self, reference_target: Target, reference: BackgroundServer, tmp_path: Path
    ) -> None:
        """For a holder of its own."""
        connection = Connection.open(reference_target, seed=1, folder=tmp_path)
        with connection.recording(Recorder("test_x", ())):
            platform = connection.platform("test_x")
            holder = platform.applicant()
            platform.document(holder)
            chain = connection.recent()
        connection.close()

        script = curl_chain(chain, reference_target.base_url)
        done = run(script, reference.base_url, DOCUMENTS=str(FIXTURES / "documents"))

        assert done.returncode == 0, done.stderr
        assert '"documentType":"PASSPORT"' in done.stdout
        assert holder["id"] not in done.stdout

    @needs_tools
    def test_the_credentials_go_to_the_target_alone(self) -> None:
        """A trigger may have been caused somewhere else."""
        with StandIn(echoes()) as server, StandIn(echoes()) as elsewhere:
            chain = [
                exchange(url=f"{BASE_URL}/config"),
                exchange(2, operation="trigger", url=f"{elsewhere.origin}/control"),
            ]

            done = run(curl_chain(chain, BASE_URL), server.base_url)

            assert done.returncode == 0, done.stderr
            assert "authorization" in server.received[0].headers
            assert "authorization" not in elsewhere.received[0].headers

    @needs_tools
    def test_one_id_may_begin_as_another_does(self) -> None:
        """Targets may count."""
        with StandIn(answers(200, {"a": "Quote:7", "b": "Quote:78"})) as server:
            chain = [
                exchange(1, response_body={"a": "Quote:1", "b": "Quote:12"}),
                exchange(2, url=f"{BASE_URL}/quotes/Quote:12/execute/Quote:1"),
            ]

            done = run(curl_chain(chain, BASE_URL), server.base_url)

            assert done.returncode == 0, done.stderr
            assert server.received[1].path == "/2025-10-13/quotes/Quote:78/execute/Quote:7"

    @needs_tools
    def test_a_recorded_chain_replays(
        self, reference_target: Target, reference: BackgroundServer, tmp_path: Path
    ) -> None:
        """From the first customer to the executed quote, on resources of its own."""
        connection = Connection.open(reference_target, seed=1, folder=tmp_path)
        with connection.recording(Recorder("test_x", ())):
            platform = connection.platform("test_x")
            executed = platform.executed()
            chain = connection.recent()
        connection.close()

        done = run(curl_chain(chain, reference_target.base_url), reference.base_url)

        assert done.returncode == 0, done.stderr
        last = done.stdout.strip().splitlines()[-1]
        assert f'"status":"{executed["status"]}"' in last
        assert executed["id"] not in done.stdout
