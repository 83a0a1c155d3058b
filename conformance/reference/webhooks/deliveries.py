"""Delivering webhooks, again and again until they are acknowledged."""

from __future__ import annotations

import json
import time
from functools import partial
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from typing import TYPE_CHECKING
from urllib.parse import urlsplit, urlunsplit

from conformance.reference.webhooks import signing
from conformance.reference.worker import Worker

if TYPE_CHECKING:
    from conformance.reference.settings import Settings
    from conformance.reference.store import Json

_MAX_DELAY_SECONDS = 1800.0
_MAX_IDLE_SECONDS = 1.0
_MAX_ANSWER_BYTES = 65_536
_CONFLICT = 409


class Deliveries:
    """The queue of webhooks to the platform's endpoint; in the order of their events."""

    def __init__(self, settings: Settings) -> None:
        self.endpoint: str | None = None
        self._settings = settings
        self._worker = Worker("webhooks")
        self._connection = Connection(settings.webhook_timeout_seconds)

    def start(self) -> None:
        """Start delivering."""
        self._worker.start()

    def stop(self) -> None:
        """Drop what is not delivered and stop."""
        self._worker.stop()
        self._connection.close()

    def clear(self) -> None:
        """Drop what is not delivered."""
        self._worker.clear()

    def direct_to(self, url: str) -> None:
        """Send all webhooks from now on to ``url``."""
        self.endpoint = url

    def put(self, event: Json) -> None:
        """Deliver an event, if the platform has an endpoint."""
        if self.endpoint is not None:
            body = json.dumps(event).encode()
            self._worker.after(0, partial(self._deliver, self.endpoint, body, 0))

    def _deliver(self, endpoint: str, body: bytes, attempt: int) -> None:
        if not self._send(endpoint, body):
            delay = retry_delay(self._settings.webhook_retry_seconds, attempt)
            self._worker.after(delay, partial(self._deliver, endpoint, body, attempt + 1))

    def _send(self, endpoint: str, body: bytes) -> bool:
        headers = {"Content-Type": "application/json", **signing.headers(body)}
        status = self._connection.post(endpoint, body, headers)
        return status is not None and is_acknowledged(status)


class Connection:
    """The connection to the origin that was posted to last; it is kept while it is used."""

    def __init__(self, timeout_seconds: float) -> None:
        self._timeout_seconds = timeout_seconds
        self._origin = ("", "")
        self._line: HTTPConnection | None = None
        self._used = 0.0

    def post(self, url: str, body: bytes, headers: dict[str, str]) -> int | None:
        """Return the status of the answer to a POST, or ``None`` where there was none."""
        try:
            line, target = self._line_to(url)
            line.request("POST", target, body, headers)
            answer = line.getresponse()
            answer.read(_MAX_ANSWER_BYTES)
        except (OSError, HTTPException, ValueError):
            self.close()
            return None
        if not answer.isclosed():
            self.close()
        return answer.status

    def close(self) -> None:
        """Close it; the next request opens another."""
        if self._line is not None:
            self._line.close()
            self._line = None

    def _line_to(self, url: str) -> tuple[HTTPConnection, str]:
        parts = urlsplit(url)
        origin, now = (parts.scheme, parts.netloc), time.monotonic()
        # The other side may close what has been idle for a while.
        if origin != self._origin or now - self._used > _MAX_IDLE_SECONDS:
            self.close()
        self._used = now
        if self._line is None:
            kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
            self._line = kind(parts.netloc, timeout=self._timeout_seconds)
            self._origin = origin
        return self._line, urlunsplit(("", "", parts.path or "/", parts.query, ""))


def is_acknowledged(status: int) -> bool:
    """Return whether an answer ends the deliveries of an event: any 2xx, or 409."""
    return 200 <= status < 300 or status == _CONFLICT  # noqa: PLR2004 - HTTP's own numbers


def retry_delay(first: float, attempt: int) -> float:
    """Return the seconds before the next attempt: doubling, at most 30 minutes."""
    return float(min(first * 2 ** min(attempt, 40), _MAX_DELAY_SECONDS))
