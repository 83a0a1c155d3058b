"""Transcripts of exchanges for people, and scripts of curl that repeat the exchanges."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from email import message_from_bytes
from email.policy import HTTP
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from conformance.contract.data import FIXTURES
from conformance.exchange.curl import curl_chain
from conformance.exchange.folder import RunFolder
from conformance.exchange.journal import Exchange
from conformance.exchange.transcript import of_webhook, transcript
from conformance.reference.server import BackgroundServer
from conformance.run import Connection
from conformance.selftest.conftest import CLIENT_SECRET, TOKEN_ID
from conformance.selftest.standins import Received, StandIn, answers, echoes
from conformance.sut.target import Target
from conformance.text.characters import visible
from conformance.verdict.recorder import Recorder

BASE_URL = "https://api.acme.example/pay/2025-10-13"

JSON = {"content-type": "application/json"}
FORM = {"content-type": "multipart/form-data; boundary=seam"}

MISSING_TOOLS = [name for name in ("sh", "curl", "jq") if shutil.which(name) is None]
needs_tools = pytest.mark.skipif(
    bool(MISSING_TOOLS), reason=f"not installed: {', '.join(MISSING_TOOLS)}"
)
"""Scripts need a shell with curl and jq."""


def exchange(number: int = 1, **members: Any) -> Exchange:
    """Return an exchange of getConfig with other members."""
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


TWO_ROWS = [
    {"id": f"InternalAccount:{at}", "status": "ACTIVE", "balance": {"currency": {"code": code}}}
    for at, code in enumerate(("EUR", "USD"), 1)
]


def of_two_rows() -> list[Exchange]:
    """Return a list of two accounts whose currency tells them apart, and a use of the second."""
    rows = [
        {**row, "status": status}
        for row, status in zip(TWO_ROWS, ("ACTIVE", "CLOSED"), strict=True)
    ]
    return [
        exchange(response_body={"data": rows}),
        exchange(2, url=f"{BASE_URL}/internal-accounts/InternalAccount:2"),
    ]


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


# Words of shells, of curl, of JSON and YAML, of URLs, and what steers a terminal.
HOSTILE = (
    *"'\"`\\$;&|<>()*?~#!%@=-:/, \t\r\n\0\x1b\x7f\x9b",
    *("\u202e", "\u2066", "\u200b", "\u2028", "\ufeff", "\u3164", "\ufe0f", "\ud800", "\U000e0041"),
    *(
        "$(touch ran)",
        "`touch ran`",
        "';touch ran;'",
        "\n touch ran\n",
        "${PATH}",
        "$((1/0))",
        "$r1",
    ),
    *("'\"'\"'", "\\'", '\\"', "\\\n", "\\033[2J", "\x1b]0;x\x07", "${id1}", "}", "{a,b}", "[1-3]"),
    *(
        "-o",
        "--config",
        "@ran",
        "<ran",
        "/../",
        "..",
        "%3A",
        "%0a",
        "%s",
        "%d",
        "null",
        "---",
        "- a",
        "&a",
    ),
    *(
        "Quote:1",
        "a:",
        "***",
        "<file ran, a/b, 9 bytes>",
        "; type=a/b",
        "ü",
        "€",
        "\U0001f600",
        "EOF",
    ),
)
hostile = st.lists(st.sampled_from(HOSTILE), max_size=6).map("".join)
argument = hostile.map(lambda text: text.replace("\0", ""))
line = argument.map(lambda text: "".join(text.split("\r")).replace("\n", ""))
runs_scripts = settings(
    max_examples=40,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)

# This curl writes its arguments and its input to files, and prints the next answer.
CURL = """#!/bin/sh
at=$STAND_IN/x
while [ -e "$at.words" ]; do at=${at}x; done
printf '%s\\000' "$@" > "$at.words"
cat > "$at.input"
cat "$at.answer"
"""
# As much of jq as the scripts use, where there is none.
JQ = f"""#!{sys.executable} -IS
import json, sys
value = json.load(sys.stdin)
for name in json.loads(sys.argv[4]):
    value = value[name]
print(value if isinstance(value, str) else "")
"""


@dataclass(frozen=True)
class Replay:
    """The result of a script: the words and the input of each call of curl, status and errors."""

    calls: Sequence[list[bytes]]
    inputs: Sequence[bytes]
    status: int
    errors: str
    leftovers: Sequence[str]
    """The files that the script left in the folder in which it ran."""


def replay(script: str, answers: Sequence[Any], shell: str = "sh") -> Replay:
    """Run a script in an empty folder, with stand-ins for curl and no other tools than it needs."""
    with tempfile.TemporaryDirectory() as name:
        tools, notes, here = (Path(name) / part for part in ("tools", "notes", "here"))
        for folder in (tools, notes, here):
            folder.mkdir()
        stand_ins = {"curl": CURL} if shutil.which("jq") else {"curl": CURL, "jq": JQ}
        for tool, content in stand_ins.items():
            (tools / tool).write_text(content)
            (tools / tool).chmod(0o755)
        for tool in {"cat", "head", "jq", "touch", "tr"} - stand_ins.keys():
            (tools / tool).symlink_to(str(shutil.which(tool)))
        for number, answer in enumerate(answers, 1):
            content_of_answer = json.dumps(answer, ensure_ascii=False).encode(
                "utf-8", "surrogatepass"
            )
            (notes / f"{'x' * number}.answer").write_bytes(content_of_answer)
        (notes / "script").write_text(script, encoding="utf-8")
        completed = subprocess.run(
            [str(shutil.which(shell)), "-eu", str(notes / "script")],
            cwd=here,
            env={
                "PATH": str(tools),
                "STAND_IN": str(notes),
                "PAYMENTS_API_TOKEN_ID": "token",
                "PAYMENTS_API_CLIENT_SECRET": "secret",
            },
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=30,
            check=False,
        )
        words = sorted(notes.glob("*.words"))
        return Replay(
            [path.read_bytes().split(b"\0")[:-1] for path in words],
            [path.with_suffix(".input").read_bytes() for path in words],
            completed.returncode,
            completed.stderr.decode(errors="replace"),
            sorted(path.name for path in here.iterdir()),
        )


def octets(*words: str) -> list[bytes]:
    """Return the arguments of a call of curl as bytes, with those that every call has."""
    return [word.encode("utf-8", "surrogatepass") for word in ("-gsS", "--path-as-is", *words)]


def is_plain(text: str) -> bool:
    """Return whether a text has only visible characters and newlines."""
    return visible(text) == text


def to_target(*words: str) -> list[bytes]:
    """Return the arguments of a call of the target, with credentials, as bytes."""
    return octets("-u", "token:secret", *words)


def form_of(received: Received) -> dict[str, Any]:
    """Return the parts of a multipart form by name; a file as its name, type and content."""
    head = f"content-type: {received.headers['content-type']}\r\n\r\n".encode()
    message = message_from_bytes(head + received.body, policy=HTTP)
    form: dict[str, Any] = {}
    for part in message.iter_parts():
        name, content = part.get_param("name", header="content-disposition"), part.get_content()
        file = part.get_filename()
        form[str(name)] = (file, part.get_content_type(), content) if file else content
    return form


class TestTranscript:
    """A transcript shows exchanges in their order, and cuts what is long."""

    def test_request_and_response_stand_together(self) -> None:
        """A transcript has id, request, status, time and response of each exchange."""
        text = transcript(
            [
                exchange(request_body={"a": 1}, response_body={"id": "Quote:1"}, status=201),
                exchange(2, method="DELETE", status=204),
            ]
        )

        assert text.splitlines() == [
            f"[main-1] GET {BASE_URL}/config",
            '    → {"a": 1}',
            '    ← 201 (12 ms) {"id": "Quote:1"}',
            f"[main-2] DELETE {BASE_URL}/config",
            "    ← 204 (12 ms) null",
        ]

    def test_a_missing_response_has_a_cause(self) -> None:
        """An exchange without a response shows the cause in the place of a status."""
        text = transcript([exchange(status=0, error="connection refused")])

        assert text.endswith("    ← no response: connection refused")

    def test_a_long_body_is_cut(self) -> None:
        """The start of a long body is shown, with its length in characters."""
        text = transcript([exchange(response_body="x" * 5000)])

        assert text.endswith("x… (5000 characters)")
        assert len(text) < 2000

    def test_a_body_without_end_is_cut(self) -> None:
        """A body of 100,000 levels and one of a million numbers are cut without an error."""
        deep: Any = "x"
        for _ in range(100_000):
            deep = [deep]

        text = transcript([exchange(request_body=deep, response_body={"a": list(range(10**6))})])

        assert len(text) < 4000
        assert text.endswith("… (more than 1200 characters)")

    def test_no_line_of_an_answer_passes_for_one_of_ours(self) -> None:
        """Further lines of a body are indented more than lines of the transcript."""
        body = f"no\n[main-2] DELETE {BASE_URL}\n    ← 204 (1 ms) null"
        text = transcript([exchange(response_body=body)])

        assert [line for line in text.splitlines() if not line.startswith("      ")] == [
            f"[main-1] GET {BASE_URL}/config",
            "    ← 200 (12 ms) no",
        ]

    def test_a_webhook_has_its_headers(self) -> None:
        """A webhook is shown with its time, its headers and its body."""
        text = of_webhook(0.25, {"Host": "platform.example", "X": "a\nb"}, {"type": "PAID"})

        assert text.splitlines() == [
            "The webhook came at 1970-01-01T00:00:00.250+00:00:",
            "    Host: platform.example",
            "    X: a",
            "      b",
            '    {"type": "PAID"}',
        ]

    @given(hostile, hostile)
    @settings(derandomize=True, database=None)
    def test_nothing_steers_the_terminal(self, name: str, value: str) -> None:
        """URL, bodies and errors of a hostile target are shown as visible characters alone."""
        text = transcript(
            [
                exchange(url=f"{BASE_URL}/{value}", request_body={name: [value]}),
                exchange(response_body=value),
                exchange(status=0, error=value),
            ]
        )

        assert is_plain(text)
        assert is_plain(of_webhook(1.0, {name: value}, {name: [value]}))

    @pytest.mark.parametrize(
        "char", ["\u3164", "\ufe0f", "\u2800", "\u115f", "\U000e0100", "\u034f"]
    )
    def test_what_looks_like_nothing_is_shown(self, char: str) -> None:
        """Letters, marks and symbols that no font draws are shown as escapes."""
        assert visible(f"a{char}b\n") == "a" + char.encode("unicode_escape").decode() + "b\n"

    def test_what_people_write_is_left_as_it_is(self) -> None:
        """Texts of any script, with marks on letters and line breaks, stay as they are."""
        text = "Zoë\nЖы ¿qué? 東京 हिन्दी عربى 😀 e\u0301"

        assert visible(text) == text


class TestCurlChain:
    """A script repeats the requests of exchanges against any target."""

    def test_it_holds_no_secret_and_no_base_url_but_as_default(self) -> None:
        """Credentials come from variables; the base URL stands once, as a default."""
        script = curl_chain([exchange()], BASE_URL)

        assert f"BASE_URL=${{BASE_URL:-{BASE_URL}}}" in script
        assert script.count("acme.example") == 1
        assert '-u "$PAYMENTS_API_TOKEN_ID:$PAYMENTS_API_CLIENT_SECRET"' in script
        assert "# 1. getConfig: answered 200" in script

    @needs_tools
    def test_an_id_comes_from_the_repeated_response(self, reference: BackgroundServer) -> None:
        """Each recorded id is replaced by the id at the same place in the new response."""
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

        completed = run(curl_chain(chain, BASE_URL), reference.base_url)

        assert completed.returncode == 0, completed.stderr
        assert "recorded" not in completed.stdout
        assert '"amount":4200' in completed.stdout
        assert "it's" in completed.stdout
        assert "$HOME `id`" in completed.stdout

    @needs_tools
    def test_a_row_is_found_by_its_code(self) -> None:
        """An id of a list comes from the row with the same currency, in whatever order they are."""
        with StandIn(answers(200, {"data": TWO_ROWS[::-1]})) as server:
            completed = run(curl_chain(of_two_rows(), BASE_URL), server.base_url)
            last = server.received[-1].path

        assert completed.returncode == 0, completed.stderr
        assert last.endswith("/InternalAccount:2")

    @needs_tools
    def test_what_was_sent_is_sent_again(self) -> None:
        """Bodies, JSON or not, and the headers that matter arrive as they were recorded."""
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

            completed = run(curl_chain(chain, BASE_URL), server.base_url)

            assert completed.returncode == 0, completed.stderr
            first, second = server.received
        assert first.headers["idempotency-key"] == "it's $1"
        assert first.headers["content-type"] == "application/json"
        assert first.body.decode() == '{"note": "a\'b\\"c $(id) ü"}'
        assert second.headers["content-type"] == "text/plain"
        assert second.body == b'{"a":'

    @needs_tools
    def test_a_form_is_sent_again(self, tmp_path: Path) -> None:
        """Files of a form come from a folder, and are filled up to the size that they had."""
        (tmp_path / "bill.pdf").write_bytes(b"%PDF-1.4 a bill")
        with StandIn(echoes()) as server:
            chain = [
                exchange(
                    method="POST",
                    url=f"{BASE_URL}/documents",
                    request_headers=FORM,
                    request_body={
                        "documentHolder": "Customer:1",
                        "issuingAuthority": "@it's; $1",
                        "file": f"<file {name}, application/pdf, {size} bytes>",
                    },
                )
                for name, size in (("bill.pdf", 18), ("lost.pdf", 5))
            ]

            completed = run(curl_chain(chain, BASE_URL), server.base_url, DOCUMENTS=str(tmp_path))

            assert completed.returncode == 0, completed.stderr
            forms = [form_of(received) for received in server.received]
        texts = {"documentHolder": "Customer:1", "issuingAuthority": "@it's; $1"}
        assert forms == [
            {**texts, "file": ("bill.pdf", "application/pdf", b"%PDF-1.4 a bill\0\0\0")},
            {**texts, "file": ("lost.pdf", "application/pdf", b"\0" * 5)},
        ]

    @needs_tools
    def test_a_recorded_upload_replays(
        self, reference_target: Target, reference: BackgroundServer, tmp_path: Path
    ) -> None:
        """The upload of a document is repeated for a customer that the script creates."""
        connection = Connection.open(reference_target, seed=1, folder=RunFolder(tmp_path, "1"))
        with connection.recording(Recorder("test_x", ())):
            platform = connection.platform("test_x")
            holder = platform.customers.applicant()
            platform.verification.documents.document(holder)
            chain = connection.recent()
        connection.close()

        script = curl_chain(chain, reference_target.base_url)
        completed = run(script, reference.base_url, DOCUMENTS=str(FIXTURES / "documents"))

        assert completed.returncode == 0, completed.stderr
        assert '"documentType":"PASSPORT"' in completed.stdout
        assert holder["id"] not in completed.stdout

    @needs_tools
    def test_the_credentials_go_to_the_target_alone(self) -> None:
        """A trigger at another origin is repeated without credentials."""
        with StandIn(echoes()) as server, StandIn(echoes()) as elsewhere:
            chain = [
                exchange(url=f"{BASE_URL}/config"),
                exchange(2, operation="trigger", url=f"{elsewhere.origin}/control"),
            ]

            completed = run(curl_chain(chain, BASE_URL), server.base_url)

            assert completed.returncode == 0, completed.stderr
            assert "authorization" in server.received[0].headers
            assert "authorization" not in elsewhere.received[0].headers

    @needs_tools
    def test_one_id_may_begin_as_another_does(self) -> None:
        """Ids such as Quote:1 and Quote:12 are told apart."""
        with StandIn(answers(200, {"a": "Quote:7", "b": "Quote:78"})) as server:
            chain = [
                exchange(1, response_body={"a": "Quote:1", "b": "Quote:12"}),
                exchange(2, url=f"{BASE_URL}/quotes/Quote:12/execute/Quote:1"),
            ]

            completed = run(curl_chain(chain, BASE_URL), server.base_url)

            assert completed.returncode == 0, completed.stderr
            assert server.received[1].path == "/2025-10-13/quotes/Quote:78/execute/Quote:7"

    @needs_tools
    def test_a_recorded_chain_replays(
        self, reference_target: Target, reference: BackgroundServer, tmp_path: Path
    ) -> None:
        """A chain from the first customer to the executed quote succeeds on new resources."""
        connection = Connection.open(reference_target, seed=1, folder=RunFolder(tmp_path, "1"))
        with connection.recording(Recorder("test_x", ())):
            platform = connection.platform("test_x")
            quote = platform.quotes.execute()
            chain = connection.recent()
        connection.close()

        completed = run(curl_chain(chain, reference_target.base_url), reference.base_url)

        assert completed.returncode == 0, completed.stderr
        last = completed.stdout.strip().splitlines()[-1]
        assert f'"status":"{quote["status"]}"' in last
        assert quote["id"] not in completed.stdout


class TestHostileValues:
    """No value of a target runs as a command, leads elsewhere or gets lost in a script."""

    def test_an_id_cannot_close_its_quote(self) -> None:
        """An id with quotes and a command arrives as one argument."""
        name = "a:'$(touch x)'"
        answer = {"id": name, "other": "a:'"}
        url = f"{BASE_URL}/quotes/{name}/a:'"
        chain = [
            exchange(1, method="POST", request_body={}, response_body=answer),
            exchange(2, url=url, request_body={"id": name}),
        ]

        result = replay(curl_chain(chain, BASE_URL), [answer, {}])

        assert (result.status, result.errors, result.leftovers) == (0, "", [])
        kind = "content-type: application/json"
        assert result.calls == [
            to_target("-X", "POST", f"{BASE_URL}/config", "-H", kind, "--data-raw", "{}"),
            to_target("-X", "GET", url, "-H", kind, "--data-raw", json.dumps({"id": name})),
        ]

    @given(base=argument, member=argument, value=argument, header=line, kind=line, body=hostile)
    @runs_scripts
    def test_what_was_recorded_is_sent_to_the_byte(
        self, *, base: str, member: str, value: str, header: str, kind: str, body: str
    ) -> None:
        """Hostile texts arrive unchanged as URL, header, media type and body, beside an id."""
        base_url = f"https://acme.example/{base}/2025-10-13"
        identifier = "Quote:0f-1"
        answer = {member: {"id": identifier, value: f"a:{value}"}}
        url = f"{base_url}/quotes/{identifier}/{value}?{member}"
        text = f"{value}|{identifier}|{body}"
        chain = [
            exchange(1, method="POST", url=f"{base_url}/quotes", response_body=answer),
            exchange(2, method="PUT", url=url, request_headers={"idempotency-key": header}),
            exchange(3, method="GET", url=f"https://acme.example.evil/{value}"),
            exchange(4, url=base_url, request_headers={"content-type": kind}, request_body=text),
            exchange(5, url=base_url, request_body={member: [body]}),
        ]
        headers = [
            f"{name}: {content}" if content.strip() else f"{name};"
            for name, content in (("idempotency-key", header), ("content-type", kind))
        ]
        data = ["--data-binary", "@-"] if "\0" in text else ["--data-raw", text]

        script = curl_chain(chain, base_url)
        result = replay(script, [answer, *[{}] * 4])

        assert (result.status, result.errors, result.leftovers) == (0, "", []), script
        assert result.calls[:4] == [
            to_target("-X", "POST", f"{base_url}/quotes"),
            to_target("-X", "PUT", url, "-H", headers[0]),
            octets("-X", "GET", f"https://acme.example.evil/{value}"),
            to_target("-X", "GET", base_url, "-H", headers[1], *data),
        ], script
        assert result.inputs[3] == (text.encode("utf-8", "surrogatepass") if "\0" in text else b"")
        assert json.loads(result.calls[4][-1]) == {member: [body]}
        assert is_plain(script)

    @given(name=argument, part=argument, file=argument)
    @runs_scripts
    def test_a_form_is_sent_to_the_byte(self, name: str, part: str, file: str) -> None:
        """Hostile parts of a form arrive unchanged; a file name with a folder opens no file."""
        name = name.replace("=", "")
        body = {name: part, f"{name}2": f"<file ../{file}, a/b, 9 bytes>"}
        chain = [exchange(request_headers=FORM, request_body=body)]

        script = curl_chain(chain, BASE_URL)
        result = replay(script, [{}])

        assert (result.status, result.errors, result.leftovers) == (0, "", []), script
        words = [
            word
            for name, content in body.items()
            for word in ("--form-string", f"{name}={content}")
        ]
        assert result.calls == [to_target("-X", "GET", f"{BASE_URL}/config", *words)], script
        assert is_plain(script)

    @pytest.mark.parametrize(
        "new_id",
        [
            "..",
            "Quote:1/../../x",
            "Quote:1 -o ran",
            "$(touch ran)",
            "Quote:1\nx",
            "Quote:é",
            "",
            None,
            7,
        ],
    )
    def test_a_fresh_answer_leads_nowhere_else(self, new_id: Any) -> None:
        """A new response without a usable id ends the script with exit status 1 and a message."""
        chain = [
            exchange(1, method="POST", response_body={"id": "Quote:1"}),
            exchange(2, method="DELETE", url=f"{BASE_URL}/quotes/Quote:1"),
        ]

        result = replay(curl_chain(chain, BASE_URL), [{"id": new_id}, {}])

        assert result.status == 1
        assert result.errors == 'the answer has no id at ["id"]\n'
        assert (len(result.calls), result.leftovers) == (1, [])

    def test_an_answer_chooses_no_host(self) -> None:
        """New values are put into paths only; the host of a URL stays as it was recorded."""
        chain = [
            exchange(1, response_body={"a": "https://acme.example", "b": "acme:80"}),
            exchange(2, url="https://acme.example/x/acme:80"),
            exchange(3, url="http://acme:80/x"),
        ]

        result = replay(curl_chain(chain, BASE_URL), [{"a": "ftp://evil", "b": "evil:80"}, {}, {}])

        assert [call[-1] for call in result.calls[1:]] == [
            b"https://acme.example/x/evil:80",
            b"http://acme:80/x",
        ]

    @pytest.mark.parametrize(
        ("target", "url", "expected"),
        [
            ("https://acme.example/v", "https://ACME.example:443/v/x", "https://acme.example/v/x"),
            ("HTTP://LocalHost:80/v", "http://localhost/control", "HTTP://LocalHost:80/control"),
            ("https://acme.example/a/v", "https://acme.example/a/x", "https://acme.example/a/x"),
            ("https://acme.example/a/v", "https://acme.example/av", "https://acme.example/av"),
            ("https://acme.example/a/v", "https://acme.example/a/vx", "https://acme.example/a/vx"),
            ("http://[::1]:8080/v", "http://[::1]:8080", "http://[::1]:8080"),
        ],
    )
    def test_the_credentials_go_to_the_origin(self, target: str, url: str, expected: str) -> None:
        """Credentials go with each URL of the origin of the target, however it is written."""
        result = replay(curl_chain([exchange(url=url)], target), [{}])

        assert result.calls == [to_target("-X", "GET", expected)]

    @pytest.mark.parametrize(
        "url",
        [
            "https://acme.example.evil/v",
            "https://acme.example:444/v",
            "http://acme.example/v",
            "https://acme.example@evil/v",
            "https://evil/https://acme.example/v",
            "https://acme.example\\@evil/v",
        ],
    )
    def test_the_credentials_go_nowhere_else(self, url: str) -> None:
        """A URL of another origin gets no credentials, however much it looks like the target."""
        result = replay(curl_chain([exchange(url=url)], "https://acme.example/v"), [{}])

        assert result.calls == [octets("-X", "GET", url)]

    @pytest.mark.parametrize(
        ("members", "reason"),
        [
            ({"url": f"{BASE_URL}/\0"}, "no argument of a command holds NUL"),
            ({"url": "file:///etc/passwd"}, "this is no URL of HTTP"),
            ({"url": "--config=x"}, "this is no URL of HTTP"),
            ({"request_headers": {"request-id": "a\r\nb: c"}}, "more than one line"),
            ({"request_headers": {"request-id": "a\0"}}, "no argument of a command holds NUL"),
            ({"request_headers": {"request-id": "é" * 99_999}}, "longer than an argument"),
            ({"request_body": f"{'x' * 200}… (250000 bytes)"}, "was not recorded as a whole"),
            ({"request_body": "x" * 1_000_001}, "the journal has main-1"),
        ],
    )
    def test_what_no_command_repeats_is_said(self, members: dict[str, Any], reason: str) -> None:
        """A request that no command can repeat becomes a comment of one line with the reason."""
        script = curl_chain([exchange(operation="a\nb", **members), exchange(2)], BASE_URL)
        result = replay(script, [{}])

        assert result.calls == [to_target("-X", "GET", f"{BASE_URL}/config")]
        (comment,) = [line for line in script.splitlines() if "Not sent again" in line]
        assert reason in comment
        assert len(comment) < 2000
        assert is_plain(script)

    def test_what_was_taken_out_is_told(self) -> None:
        """A comment says that *** stands for a secret that was taken out."""
        script = curl_chain([exchange(request_body={"code": "***"})], BASE_URL)

        assert "\n# *** stands for a secret that was taken out" in script

    def test_a_script_is_bounded(self) -> None:
        """Long bodies and answers of many members leave the script below 1.1 million characters."""
        answer = {"data": [{"id": f"Quote:{at}"} for at in range(9_000)]}
        deep: Any = "Quote:1"
        for _ in range(100_000):
            deep = {"a": deep}
        chain = [
            exchange(1, response_body=answer),
            exchange(2, response_body=deep, request_body=deep),
            *(exchange(at, request_body=f"{'é' * 200_000}") for at in range(3, 40)),
            exchange(40, url=f"{BASE_URL}/quotes/Quote:1"),
        ]

        script = curl_chain(chain, BASE_URL)

        assert len(script) < 1_100_000
        assert script.endswith("""api -X GET "${BASE_URL}"'/quotes/'"${id1}"\n""")

    @needs_tools
    def test_curl_takes_everything_as_it_is(self) -> None:
        """Brackets and dots in a path, @ or NUL in a body, and long bodies arrive unchanged."""
        bodies = ["@/etc/hostname", "a\0b\0\n", "é" * 99_000, "-x", ""]
        with StandIn(answers(200, {})) as server:
            chain = [
                exchange(
                    method="PUT",
                    url=f"{BASE_URL}/[1-3]/{{a,b}}/../..//.?q='%27&x[]=#",
                    request_headers={"content-type": "text/plain", "request-id": ""},
                    request_body=body,
                )
                for body in bodies
            ]
            chain.append(exchange(method="HEAD"))
            chain.append(exchange(request_headers={**JSON, "content-length": "4"}))

            result = run(curl_chain(chain, BASE_URL), server.base_url)

            received = list(server.received)
        assert (result.returncode, result.stderr) == (0, "")
        assert [request.body.decode() for request in received] == [*bodies, "", "null"]
        assert [request.method for request in received] == [*["PUT"] * len(bodies), "HEAD", "GET"]
        path = "/2025-10-13/[1-3]/{a,b}/../..//.?q='%27&x[]="
        assert {request.path for request in received[: len(bodies)]} == {path}
        assert received[0].headers["request-id"] == ""
        assert received[0].headers["content-type"] == "text/plain"

    @needs_tools
    def test_an_answer_steers_no_terminal(self) -> None:
        """The script prints a question mark for each byte that is no printable ASCII."""
        content = '{"id": "Quote:1", "x": "\x1b[2J\x9b\u202e\\\\033"}\n'.encode()
        with StandIn(answers(200, content)) as server:
            chain = [
                exchange(1, response_body={"id": "Quote:1"}),
                exchange(2, url=f"{BASE_URL}/quotes/Quote:1"),
            ]

            result = run(curl_chain(chain, BASE_URL), server.base_url)

        assert result.stderr == ""
        printed = '{"id": "Quote:1", "x": "?[2J?????\\\\033"}'
        assert result.stdout.split("\n") == [printed, printed, "", ""]
