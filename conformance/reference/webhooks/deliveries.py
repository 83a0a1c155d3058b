"""Delivering webhooks, again and again until they are acknowledged."""

from __future__ import annotations

import json
from functools import partial
from typing import TYPE_CHECKING

from conformance.reference.webhooks import signing
from conformance.reference.worker import Worker

if TYPE_CHECKING:
    import httpx

    from conformance.reference.settings import Settings
    from conformance.reference.store import Json

_MAX_DELAY_SECONDS = 1800.0
_CONFLICT = 409


class Deliveries:
    """The queue of webhooks to the platform's endpoint; in the order of their events."""

    def __init__(self, settings: Settings) -> None:
        self.endpoint: str | None = None
        self._settings = settings
        self._worker = Worker("webhooks")
        self._client: httpx.Client | None = None

    def start(self) -> None:
        """Start delivering."""
        self._worker.start()

    def stop(self) -> None:
        """Drop what is not delivered and stop."""
        self._worker.stop()
        if self._client is not None:
            self._client.close()

    def clear(self) -> None:
        """Drop what is not delivered."""
        self._worker.clear()

    def direct_to(self, url: str) -> None:
        """Send all webhooks from now on to ``url``."""
        self.endpoint = url
        # The first delivery need not wait for the client.
        self._worker.after(0, self._warm_up)

    def put(self, event: Json) -> None:
        """Deliver an event, if the platform has an endpoint."""
        if self.endpoint is not None:
            body = json.dumps(event).encode()
            self._worker.after(0, partial(self._deliver, self.endpoint, body, 0))

    def _warm_up(self) -> None:
        self._connect()

    def _connect(self) -> httpx.Client:
        if self._client is None:
            import httpx  # noqa: PLC0415 - a server without webhooks starts sooner

            self._client = httpx.Client(
                timeout=self._settings.webhook_timeout_seconds, trust_env=False
            )
        return self._client

    def _deliver(self, endpoint: str, body: bytes, attempt: int) -> None:
        if not self._send(endpoint, body):
            delay = retry_delay(self._settings.webhook_retry_seconds, attempt)
            self._worker.after(delay, partial(self._deliver, endpoint, body, attempt + 1))

    def _send(self, endpoint: str, body: bytes) -> bool:
        import httpx  # noqa: PLC0415 - see above

        headers = {"Content-Type": "application/json", **signing.headers(body)}
        try:
            response = self._connect().post(endpoint, content=body, headers=headers)
        except (httpx.HTTPError, httpx.InvalidURL):
            return False
        return is_acknowledged(response.status_code)


def is_acknowledged(status: int) -> bool:
    """Return whether an answer ends the deliveries of an event: any 2xx, or 409."""
    return 200 <= status < 300 or status == _CONFLICT  # noqa: PLR2004 - HTTP's own numbers


def retry_delay(first: float, attempt: int) -> float:
    """Return the seconds before the next attempt: doubling, at most 30 minutes."""
    return float(min(first * 2 ** min(attempt, 40), _MAX_DELAY_SECONDS))
