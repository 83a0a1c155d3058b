"""The journal: every exchange and delivery of a run as JSON lines, secrets removed."""

from __future__ import annotations

import codecs
import itertools
import json
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import IO, Any

import msgspec

from conformance.exchange.content import unescaped
from conformance.exchange.delivery import Delivery
from conformance.exchange.folder import GENERATOR
from conformance.exchange.redaction import Redactor

_ENCODER = json.JSONEncoder(default=str)
_FAST_ENCODER = msgspec.json.Encoder()
_ESCAPING = "conformance.escaping"


class BodyForm(StrEnum):
    """In which form the body of an answer is written down."""

    JSON = "json"
    TEXT = "text"
    UNBOUNDED = "unbounded"
    """As text, because it has more brackets, or more levels of them, than are decoded."""
    CUT = "cut"
    """Its beginning alone; the whole may be packed beside it."""
    MASKED = "masked"
    """Without what it told of people, so that nobody can judge it again."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One request and what came back, as written: without secrets.

    ``id`` is unique in the run. ``seconds`` is the time from sending to the last byte, ``at`` the
    time of the last byte in seconds since the epoch. Where no response came, ``status`` is 0 and
    ``error`` says why. ``response_body`` is the decoded JSON value, else the text, else ``None``,
    and ``body_form`` says which. ``packed`` is the whole of a body that is cut, unless it is too
    long for that. ``fault`` is the kind of ``error``. ``told`` says where the client secret stood
    in the answer: in its ``header`` or its ``body``. ``lane`` tells apart what a test does at the
    same time.
    """

    id: str
    test: str
    operation: str
    method: str
    url: str
    request_headers: dict[str, str]
    request_body: Any
    status: int
    response_headers: dict[str, str]
    response_body: Any
    seconds: float
    error: str = ""
    at: float = 0.0
    fault: str = ""
    body_form: BodyForm = BodyForm.JSON
    packed: str = ""
    told: tuple[str, ...] = ()
    lane: int = 0

    @classmethod
    def from_entry(cls, entry: Mapping[str, Any]) -> Exchange:
        """Return the exchange that an entry of a journal holds.

        Raises:
            LookupError, TypeError, ValueError: it holds none.
        """
        members = {name: value for name, value in entry.items() if name != "kind"}
        form = BodyForm(members.pop("body_form", BodyForm.JSON))
        return cls(**members, body_form=form)


class Journal:
    """Writes exchanges and deliveries to one JSON-lines file, as they happen.

    Safe to use from several threads. Whatever is written passes the redactor, so that no caller
    has to think of it.

    Args:
        path: the file.
        worker: name of the process in the run.
        redactor: what removes the secrets.
        run: id of the run, for the head of the file; without one it has no head.

    Raises:
        OSError: the file cannot be made.
    """

    def __init__(self, path: Path, worker: str, redactor: Redactor, run: str = "") -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[str] = path.open("w", encoding="ascii")
        self._lock = threading.Lock()
        self._numbers = itertools.count(1)
        self._worker = worker
        self._redactor = redactor
        self.failure: str | None = None
        """Why an entry could not be written; from then on none is."""
        if run:
            self.write("journal", {"suite": GENERATOR, "run": run, "worker": worker})

    def number(self) -> str:
        """Return the id of the next entry."""
        return f"{self._worker}-{next(self._numbers)}"

    def write(self, kind: str, entry: Mapping[str, Any]) -> None:
        """Append one entry; it is on its way to the disk when this returns.

        Where the disk takes no more, ``failure`` says so: a run is ended by who looks at it
        between two tests, and no test breaks.
        """
        line = self._redactor.text(_spelled({"kind": kind, **entry}))
        with self._lock:
            if self._file.closed or self.failure is not None:
                return
            try:
                self._file.write(line + "\n")
                self._file.flush()
            except OSError as error:
                self.failure = f"{self._file.name}: {error.strerror or error}"

    def exchange(self, exchange: Exchange) -> None:
        """Append one exchange."""
        # What it holds is JSON already; asdict would copy all of it.
        self.write("exchange", {name: getattr(exchange, name) for name in Exchange.__slots__})

    def delivery(self, delivery: Delivery) -> None:
        """Append one webhook delivery."""
        without_secrets = self._redactor.json(delivery.body)
        body = self._redactor.without_people(without_secrets)
        is_whole = delivery.whole and body is without_secrets
        self.write(
            "delivery",
            {
                "number": delivery.number,
                "at": delivery.at,
                "headers": self._redactor.headers(delivery.headers),
                "body": body,
                "raw": self._harmless(delivery.raw) if is_whole else None,
                "acknowledged": delivery.acknowledged,
            },
        )

    def _harmless(self, raw: bytes) -> str | None:
        """Return what a sender signed, as text; ``None`` where it is none or holds a secret."""
        try:
            text = raw.decode()
        except UnicodeDecodeError:
            return None
        spelled = f"{text}\n{unescaped(text)}"
        if self._redactor.finds_secret(spelled) or self._redactor.finds_member(spelled):
            return None
        return text

    def close(self) -> None:
        """Close the file; later entries are dropped."""
        with self._lock:
            try:
                self._file.close()
            except OSError as error:
                self.failure = self.failure or f"{self._file.name}: {error.strerror or error}"


def _spelled(entry: Mapping[str, Any]) -> str:
    """Return an entry as JSON in ASCII: nothing in it can steer the terminal of who reads it."""
    try:
        # With a space after each colon and comma, as the other one writes it.
        line = msgspec.json.format(_FAST_ENCODER.encode(entry), indent=0).decode()
    except (TypeError, UnicodeError):
        # Half surrogate pairs, which it does not take, and what is no JSON.
        line = _ENCODER.encode(entry)
    return line.encode("ascii", _ESCAPING).decode().replace("\x7f", "\\u007f")


def _escape(error: UnicodeError) -> tuple[str, int]:
    """Return the escapes of JSON for the characters that are beyond ASCII, and where they end."""
    assert isinstance(error, UnicodeEncodeError)
    return _ENCODER.encode(error.object[error.start : error.end])[1:-1], error.end


codecs.register_error(_ESCAPING, _escape)
