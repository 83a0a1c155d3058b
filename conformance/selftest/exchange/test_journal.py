"""The journal: what happened stands there at once, whole, and without secrets."""

from __future__ import annotations

import base64
import json
import threading
from collections.abc import Generator
from pathlib import Path
from typing import Any
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
    """A journal in a folder that does not exist yet."""
    writing = Journal(tmp_path / "new" / "main.jsonl", "main", Redactor([SECRET]))
    yield writing
    writing.close()


def entries(folder: Path) -> list[dict[str, Any]]:
    """Return the entries that are on the disk."""
    lines = (folder / "new" / "main.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


class TestWriting:
    """One line each, as it happens."""

    def test_an_entry_is_on_the_disk_at_once(self, journal: Journal, tmp_path: Path) -> None:
        """A killed run leaves what it did."""
        journal.exchange(EXCHANGE)

        (entry,) = entries(tmp_path)
        assert entry.pop("kind") == "exchange"
        assert Exchange(**entry).url == EXCHANGE.url

    def test_what_has_no_form_in_utf_8_is_written(self, journal: Journal, tmp_path: Path) -> None:
        """A target may send it."""
        journal.exchange(EXCHANGE)

        assert entries(tmp_path)[0]["response_body"] == {"note": "ü\ud800"}

    def test_entries_of_threads_do_not_mix(self, journal: Journal, tmp_path: Path) -> None:
        """Each line is whole, and each id is new."""

        def write() -> None:
            for _ in range(50):
                journal.write("note", {"id": journal.number(), "text": "x" * 5000})

        threads = [threading.Thread(target=write) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

        written = entries(tmp_path)
        assert len({entry["id"] for entry in written}) == 200

    def test_what_comes_after_the_end_is_dropped(self, journal: Journal, tmp_path: Path) -> None:
        """A late webhook does not break the end of a run."""
        journal.close()

        journal.exchange(EXCHANGE)

        assert entries(tmp_path) == []

    def test_a_delivery_is_written_without_secrets(self, journal: Journal, tmp_path: Path) -> None:
        """As an exchange is."""
        sent = Delivery(3, 1.5, {"authorization": "x", "a": SECRET}, {"data": SECRET}, b"")

        journal.delivery(sent)

        (entry,) = entries(tmp_path)
        assert entry["number"] == 3
        assert entry["headers"] == {"authorization": "***", "a": "***"}
        assert entry["body"] == {"data": "***"}


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
        """Wherever it stands."""
        assert "***" in self.redactor.text(f"a {form} b")
        assert form not in self.redactor.text(f"a {form} b")

    @pytest.mark.parametrize("before", ["", "u", "us", "usr", "user"])
    @pytest.mark.parametrize("after", ["", "1", "12", "123"])
    def test_within_something_in_base64(self, before: str, after: str) -> None:
        """The header of Basic authentication is such."""
        whole = base64.b64encode(f"{before}:{SECRET}{after}".encode()).decode()

        left = self.redactor.text(whole)

        assert "***" in left
        # What is left of it are the edges.
        assert len(left) - 3 <= 4 * (len(before) + len(after) + 4)

    def test_in_headers(self) -> None:
        """Those that carry secrets by their nature are masked whole."""
        masked = self.redactor.headers(
            {"Authorization": "Bearer x", "Set-Cookie": "a=b", "location": f"/x?k={quote(SECRET)}"}
        )

        assert masked == {"Authorization": "***", "Set-Cookie": "***", "location": "/x?k=***"}

    def test_in_json(self) -> None:
        """In values and in names, at any depth; other kinds of values stay."""
        value = {"a": [{"b": SECRET, SECRET: 1}, True, None, 1.5], "accessToken": "t", "c": "t"}

        assert self.redactor.json(value) == {
            "a": [{"b": "***", "***": 1}, True, None, 1.5],
            "accessToken": "***",
            "c": "t",
        }

    def test_the_longer_of_two_goes_first(self) -> None:
        """One may be part of the other."""
        assert Redactor(["abcd", "abcdefgh"]).text("abcdefgh abcd") == "*** ***"

    def test_what_is_too_short_is_no_secret(self) -> None:
        """It would be found everywhere."""
        assert Redactor(["", "abc"]).text("abc") == "abc"

    def test_what_a_test_learns_is_forgotten(self) -> None:
        """A long run does not look for all that it ever heard of."""
        redactor = Redactor(["of the run"])
        redactor.learn("of a test")
        redactor.learn("of it too")

        told = redactor.text("of the run, of a test, of it too")
        redactor.forget()

        assert told == "***, ***, ***"
        assert redactor.text("of the run, of a test, of it too") == "***, of a test, of it too"
