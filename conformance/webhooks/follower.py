"""The inbox of a process that does not listen itself."""

from __future__ import annotations

import threading

import httpx

from conformance.exchange.content import decode
from conformance.exchange.delivery import from_json
from conformance.verdict.decisions import HarnessError
from conformance.webhooks.inbox import Inbox
from conformance.webhooks.listener import POLL_SECONDS
from conformance.webhooks.manner import Manner

_MAX_FAILURES = 5


class Follower:
    """Fills an inbox of this process from the listener of another one."""

    def __init__(self, follow_url: str) -> None:
        self.inbox = Inbox()
        self._url = follow_url
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._follow, daemon=True)
        self._thread.start()

    def treat(self, resource: str, kind: str, manner: Manner | None) -> None:
        """Let the listener take deliveries of a type about a resource in a manner; as there.

        Raises:
            HarnessError: the listener does not answer.
        """
        wanted = {"resource": resource, "type": kind, "manner": manner}
        try:
            httpx.post(self._url, json=wanted, timeout=10.0, trust_env=False).raise_for_status()
        except httpx.HTTPError as error:
            # Its message may hold the URL, which is a secret of the run.
            raise HarnessError(
                f"the run's own webhook listener cannot be asked: {type(error).__name__}"
            ) from error

    def close(self) -> None:
        """Stop following."""
        self._stopped.set()

    def _follow(self) -> None:
        failures = 0
        with httpx.Client(timeout=10.0, trust_env=False) as client:
            while not self._stopped.is_set():
                try:
                    self._fetch(client)
                except httpx.TimeoutException:
                    # Busy machines are slow, and a delivery that is missed fails a check.
                    continue
                except (httpx.HTTPError, LookupError, TypeError, ValueError) as error:
                    failures += 1
                    if failures > _MAX_FAILURES:
                        self.inbox.mark_incomplete(
                            "the run's own webhook listener does not hand on the webhooks any "
                            f"more: {type(error).__name__}"
                        )
                        return
                    self._stopped.wait(0.1 * failures)
                else:
                    failures = 0

    def _fetch(self, client: httpx.Client) -> None:
        """Get what has arrived since the last time."""
        response = client.get(f"{self._url}?since={self.inbox.next_number()}").raise_for_status()
        told, _ = decode(response.content)
        for delivery in [from_json(entry) for entry in told["deliveries"]]:
            self.inbox.put(delivery)
        if told["missing"] is not None:
            self.inbox.mark_incomplete(str(told["missing"]))
            # There is nothing to wait for any more, but deliveries may still arrive.
            self._stopped.wait(0 if told["deliveries"] else POLL_SECONDS)
