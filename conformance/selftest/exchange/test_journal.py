"""The journal: entries are written at once, whole, and without secrets."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import quote, quote_plus

import pytest

from conformance.exchange.delivery import Delivery
from conformance.exchange.journal import Exchange, Journal
from conformance.exchange.redaction import Redactor

SECRET = 's3cr3t/+ "quoted" & more'
EXCHANGE = Exchange(
    id="main-1",
    test="test_x",
    operation="getConfig",
    method="GET",
    url="https://api.acme.example/2025-10-13/config",
    request_headers={},
    request_body=None,
    status=200,
    response_headers={},
    response_body={"note": "ü\ud800"},
    seconds=0.1,
)


@pytest.fixture
def journal(tmp_path: Path) -> Generator[Journal]:
    """Return a journal in a folder that does not exist yet."""
    new_journal = Journal(tmp_path / "new" / "main.jsonl", "main", Redactor([SECRET]))
    yield new_journal
    new_journal.close()


def entries(folder: Path) -> list[dict[str, Any]]:
    """Return the entries of the journal on the disk."""
    lines = (folder / "new" / "main.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


class TestWriting:
    """Each entry is one line, written as it happens."""

    def test_an_entry_is_on_the_disk_at_once(self, journal: Journal, tmp_path: Path) -> None:
        """An entry can be read before the journal is closed, so that a killed run leaves it."""
        journal.exchange(EXCHANGE)

        (entry,) = entries(tmp_path)
        assert entry.pop("kind") == "exchange"
        assert Exchange(**entry).url == EXCHANGE.url

    def test_what_has_no_form_in_utf_8_is_written(self, journal: Journal, tmp_path: Path) -> None:
        """A lone surrogate of a target is written and read back."""
        journal.exchange(EXCHANGE)

        assert entries(tmp_path)[0]["response_body"] == {"note": "ü\ud800"}

    @pytest.mark.parametrize(
        "text", ["ü", "\x7f", "\x1b[2J", "\u2028", "\N{GRINNING FACE}", "a\ud800\x7fü"]
    )
    def test_a_line_is_printable(self, journal: Journal, tmp_path: Path, text: str) -> None:
        """Nothing in a line can steer a terminal, and all of it is read back."""
        journal.write("note", {"text": text})

        line = (tmp_path / "new" / "main.jsonl").read_text(encoding="utf-8").removesuffix("\n")
        assert line.isascii()
        assert line.isprintable()
        assert json.loads(line) == {"kind": "note", "text": text}

    def test_entries_of_threads_do_not_mix(self, journal: Journal, tmp_path: Path) -> None:
        """Four threads write whole lines, and each entry gets a new id."""

        def write() -> None:
            for _ in range(50):
                journal.write("note", {"id": journal.number(), "text": "x" * 5000})

        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        notes = entries(tmp_path)
        assert len({entry["id"] for entry in notes}) == 200

    def test_what_comes_after_the_end_is_dropped(self, journal: Journal, tmp_path: Path) -> None:
        """An entry after the journal was closed raises nothing and is not written."""
        journal.close()

        journal.exchange(EXCHANGE)

        assert entries(tmp_path) == []

    def test_a_delivery_is_written_without_secrets(self, journal: Journal, tmp_path: Path) -> None:
        """Headers and body of a delivery are masked, as those of an exchange are."""
        delivery = Delivery(3, 1.5, {"authorization": "x", "a": SECRET}, {"data": SECRET}, b"")

        journal.delivery(delivery)

        (entry,) = entries(tmp_path)
        assert entry["number"] == 3
        assert entry["headers"] == {"authorization": "***", "a": "***"}
        assert entry["body"] == {"data": "***"}


class TestPeople:
    """Outside of a sandbox, what tells who somebody is does not get out."""

    BODY: ClassVar = {
        "id": "Customer:1",
        "fullName": "Ada Lindqvist",
        "birthDate": None,
        "address": {"line1": "1 Main St", "since": 1999, "isHome": True},
        "data": [{"accountInfo": {"accountNumber": 12345678, "accountType": "USD_ACCOUNT"}}],
    }

    def test_members_lose_their_values(self) -> None:
        """Texts become the mask and numbers zero; what tells nobody's name stays."""
        assert Redactor([], of_people=True).without_people(self.BODY) == {
            "id": "Customer:1",
            "fullName": "***",
            "birthDate": None,
            "address": {"line1": "***", "since": 0, "isHome": True},
            "data": [{"accountInfo": {"accountNumber": 0, "accountType": "USD_ACCOUNT"}}],
        }

    def test_people_of_a_sandbox_are_made_up(self) -> None:
        """Nothing is taken out there."""
        assert Redactor([]).without_people(self.BODY) is self.BODY

    def test_what_tells_nothing_is_the_very_value(self) -> None:
        """So that it can be judged again."""
        body = {"id": "Customer:1", "email": None}

        assert Redactor([], of_people=True).without_people(body) is body

    def test_remarks_quote_nobody(self) -> None:
        """What was taken out is taken out of remarks as whole words, until the test ends."""
        redactor = Redactor([], of_people=True)
        redactor.without_people({"firstName": "Ada", "email": "ada@example.com"})

        quoted = redactor.remark("Ada has 'ada@example.com', which is no Adam")
        redactor.forget()

        assert quoted == "*** has '***', which is no Adam"
        assert redactor.remark("Ada") == "Ada"


class TestRedactor:
    """A secret is masked in every form in which it may be written."""

    redactor = Redactor([SECRET])

    @pytest.mark.parametrize(
        "form",
        [
            SECRET,
            base64.b64encode(SECRET.encode()).decode(),
            base64.b64encode(SECRET.encode()).decode().rstrip("="),
            base64.urlsafe_b64encode(SECRET.encode()).decode(),
            quote(SECRET),
            quote(SECRET, safe=""),
            quote_plus(SECRET),
            json.dumps(SECRET)[1:-1],
        ],
    )
    def test_in_every_form(self, form: str) -> None:
        """Plain, base64, URL and JSON forms are masked within a text."""
        assert "***" in self.redactor.text(f"a {form} b")
        assert form not in self.redactor.text(f"a {form} b")

    @pytest.mark.parametrize("before", ["", "u", "us", "usr", "user"])
    @pytest.mark.parametrize("after", ["", "1", "12", "123"])
    def test_within_something_in_base64(self, before: str, after: str) -> None:
        """The secret is masked within a longer text in base64, as in Basic authentication."""
        encoded = base64.b64encode(f"{before}:{SECRET}{after}".encode()).decode()

        masked = self.redactor.text(encoded)

        assert "***" in masked
        # What is left of it are the edges.
        assert len(masked) - 3 <= 4 * (len(before) + len(after) + 4)

    def test_in_headers(self) -> None:
        """Headers that carry secrets are masked whole, and others where the secret stands."""
        masked = self.redactor.headers(
            {"Authorization": "Bearer x", "Set-Cookie": "a=b", "location": f"/x?k={quote(SECRET)}"}
        )

        assert masked == {"Authorization": "***", "Set-Cookie": "***", "location": "/x?k=***"}

    def test_in_json(self) -> None:
        """Values and names at any depth are masked; values of other kinds stay."""
        value = {"a": [{"b": SECRET, SECRET: 1}, True, None, 1.5], "accessToken": "t", "c": "t"}

        assert self.redactor.json(value) == {
            "a": [{"b": "***", "***": 1}, True, None, 1.5],
            "accessToken": "***",
            "c": "t",
        }

    def test_the_longer_of_two_goes_first(self) -> None:
        """A secret that is a part of another leaves no rest of the longer one."""
        assert Redactor(["abcd", "abcdefgh"]).text("abcdefgh abcd") == "*** ***"

    def test_what_is_too_short_is_no_secret(self) -> None:
        """A secret of three characters or fewer is not masked, as it would be found everywhere."""
        assert Redactor(["", "abc"]).text("abc") == "abc"

    def test_what_a_test_learns_is_forgotten(self) -> None:
        """``forget`` drops secrets that a test learned, and keeps those of the run."""
        redactor = Redactor(["of the run"])
        redactor.learn("of a test")
        redactor.learn("of it too")

        masked = redactor.text("of the run, of a test, of it too")
        redactor.forget()

        assert masked == "***, ***, ***"
        assert redactor.text("of the run, of a test, of it too") == "***, of a test, of it too"


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("s3cr3t-Xk3vT9wLq", "***"),
        (12345678, 0),
        (["s3cr3t", 7], ["***", 0]),
        ({"value": "s3cr3t", "old": False}, {"value": "***", "old": False}),
        (None, None),
        ("", ""),
    ],
)
def test_a_secret_member_keeps_its_type(value: object, shown: object) -> None:
    """Nothing of a secret is shown but its type, by which it may be wrong."""
    assert Redactor(()).json({"clientSecret": value}) == {"clientSecret": shown}
