"""Scripts of Python that repeat exchanges: what is sent, and that nothing in it is live."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conformance.exchange.folder import RunFolder
from conformance.exchange.python_script import python_chain
from conformance.reference.server import BackgroundServer
from conformance.run import Connection
from conformance.selftest.conftest import CLIENT_SECRET, TOKEN_ID
from conformance.selftest.exchange.test_transcript import (
    BASE_URL,
    FORM,
    HOSTILE,
    TWO_ROWS,
    exchange,
    form_of,
    of_two_rows,
)
from conformance.selftest.standins import StandIn, answers
from conformance.sut.target import Target
from conformance.verdict.recorder import Recorder


def run(script: str, base_url: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a script with the credentials and the base URL in its environment."""
    return subprocess.run(
        [sys.executable, "-ISc", script],
        env={
            "BASE_URL": base_url,
            "PAYMENTS_API_TOKEN_ID": TOKEN_ID,
            "PAYMENTS_API_CLIENT_SECRET": CLIENT_SECRET,
            "PATH": os.environ["PATH"],
            **environment,
        },
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )


def test_a_recorded_chain_is_sent_again(
    reference_target: Target, reference: BackgroundServer, tmp_path: Path
) -> None:
    """A chain from the first customer to the executed quote succeeds on new resources."""
    connection = Connection.open(reference_target, seed=1, folder=RunFolder(tmp_path, "1"))
    with connection.recording(Recorder("test_x", ())):
        quote = connection.platform("test_x").quotes.execute()
        chain = connection.recent()
    connection.close()

    completed = run(python_chain(chain, reference_target.base_url), reference.base_url)

    assert completed.returncode == 0, completed.stderr
    last = completed.stdout.strip().splitlines()[-1]
    assert last.startswith("200 ")
    assert f'"status":"{quote["status"]}"' in last
    assert quote["id"] not in completed.stdout


def test_what_was_recorded_is_sent_to_the_byte() -> None:
    """Bodies arrive as they were, whatever they hold, and the script itself is ASCII."""
    texts = [{"note": text} for text in HOSTILE if "\ud800" not in text]
    chain = [
        exchange(at, method="POST", url=f"{BASE_URL}/quotes", request_body=body)
        for at, body in enumerate([*texts, *HOSTILE], 1)
    ]
    script = python_chain(chain, BASE_URL)
    with StandIn(answers(200, {})) as server:
        completed = run(script, server.base_url)
        received = [one.body for one in server.received]

    assert completed.returncode == 0, completed.stderr
    assert script.isascii()
    assert [json.loads(body) for body in received[: len(texts)]] == texts
    assert received[len(texts) :] == [text.encode("utf-8", "surrogatepass") for text in HOSTILE]


@pytest.mark.parametrize("answered", [{}, {"id": 7}, {"id": "Quote:1/../x"}, {"id": "Quote:1\n"}])
def test_an_answer_without_the_id_ends_the_script(answered: dict[str, Any]) -> None:
    """What cannot be done with a fresh id is not done with another value."""
    made = exchange(response_body={"id": "Quote:77"})
    chain = [made, exchange(2, url=f"{BASE_URL}/quotes/Quote:77")]
    with StandIn(answers(200, answered)) as server:
        completed = run(python_chain(chain, BASE_URL), server.base_url)

    assert completed.returncode == 1
    assert completed.stderr.strip() == "the answer has no id at ('id',)"
    assert len(server.received) == 1


def test_a_row_is_found_by_its_code() -> None:
    """An id of a list comes from the row with the same currency, in whatever order they are."""
    with StandIn(answers(200, {"data": TWO_ROWS[::-1]})) as server:
        completed = run(python_chain(of_two_rows(), BASE_URL), server.base_url)
        last = server.received[-1].path

    assert completed.returncode == 0, completed.stderr
    assert last.endswith("/InternalAccount:2")


def test_a_form_is_sent_again(tmp_path: Path) -> None:
    """Files of a form come from a folder, and are filled up to the size that they had."""
    (tmp_path / "bill.pdf").write_bytes(b"%PDF-1.4 a bill")
    body = {"documentHolder": "Customer:1", "file": "<file bill.pdf, application/pdf, 18 bytes>"}
    chain = [exchange(method="POST", request_headers=FORM, request_body=body)]
    with StandIn(answers(201, {})) as server:
        completed = run(python_chain(chain, BASE_URL), server.base_url, DOCUMENTS=str(tmp_path))
        assert completed.returncode == 0, completed.stderr
        (received,) = server.received

    file = ("bill.pdf", "application/pdf", b"%PDF-1.4 a bill\0\0\0")
    assert form_of(received) == {"documentHolder": "Customer:1", "file": file}


@pytest.mark.parametrize(
    ("members", "told"),
    [
        ({"url": "gopher://x"}, "this is no URL of HTTP"),
        ({"url": f"{BASE_URL}/a b"}, "a URL with blanks"),
        ({"method": "GET\r\nX: y"}, "a method with blanks"),
        ({"request_headers": {"request-id": "a\nb"}}, "more than one line"),
        ({"request_headers": {"request-id": "€"}}, "does not send its header request-id"),
        ({"request_body": "cut… (9 bytes)"}, "not recorded as a whole"),
    ],
)
def test_what_is_not_sent_again_is_said(members: dict[str, Any], told: str) -> None:
    """What Python's client cannot send is a comment that says why."""
    script = python_chain([exchange(**members)], BASE_URL)

    assert told in script.splitlines()[-1]
    assert script.splitlines()[-1].startswith("# Not sent again: ")


@pytest.mark.parametrize(
    ("url", "call"),
    [
        (f"{BASE_URL}/config", "api('GET', BASE_URL + '/config')"),
        ("https://api.acme.example/control/x", "api('GET', ORIGIN + '/control/x')"),
        ("https://api.acme.example/pay/x", "api('GET', PARENT + '/x')"),
        ("https://evil.example/config", "call('GET', 'https://evil.example/config')"),
        ("https://api.acme.example@evil/x", "call('GET', 'https://api.acme.example@evil/x')"),
    ],
)
def test_the_credentials_go_to_the_target_alone(url: str, call: str) -> None:
    """Only a URL of the target's origin is asked with the credentials."""
    assert python_chain([exchange(url=url)], BASE_URL).splitlines()[-1] == call


def test_an_answer_steers_no_terminal() -> None:
    """What an answer holds is printed in ASCII; a target that is gone ends nothing."""
    with StandIn(answers(200, {"a": "\x1b[2J\u202e"})) as server:
        shown = run(python_chain([exchange()], BASE_URL), server.base_url)
    gone = run(python_chain([exchange(), exchange(2)], BASE_URL), "http://127.0.0.1:1")

    assert shown.returncode == gone.returncode == 0
    assert shown.stdout.startswith("200 ")
    assert "\x1b" not in shown.stdout
    assert shown.stdout.isascii()
    assert gone.stdout.count("no answer: ConnectionRefusedError") == 2
