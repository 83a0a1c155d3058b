"""The inbox of a process that does not listen itself."""

from __future__ import annotations

import threading

import httpx

from conformance.exchange.clock import clock
from conformance.exchange.content import decode
from conformance.exchange.delivery import Delivery, from_json
from conformance.verdict.decisions import HarnessError
from conformance.webhooks.inbox import MOMENT_SECONDS, Inbox
from conformance.webhooks.listener import POLL_SECONDS
from conformance.webhooks.manner import Manner

_MAX_FAILURES = 5
_PAUSE_SECONDS = 0.1
_TIMEOUT_SECONDS = 10.0


class FollowedInbox(Inbox):
    """Asks the listener of another process for its deliveries, whenever somebody looks for one.

    A process that asked for each as it comes would be busy with those of all others.
    """

    def __init__(self, follow_url: str) -> None:
        super().__init__()
        self._url = follow_url
        self._client = httpx.Client(timeout=_TIMEOUT_SECONDS, trust_env=False)
        self._asking = threading.Lock()
        self._failures = 0

    def treat(self, resource: str, kind: str, manner: Manner | None) -> None:
        """Let the listener take deliveries of a type about a resource in a manner; as there.

        Raises:
            HarnessError: the listener does not answer.
        """
        wanted = {"resource": resource, "type": kind, "manner": manner}
        try:
            self._client.post(self._url, json=wanted).raise_for_status()
        except httpx.HTTPError as error:
            # Its message may hold the URL, which is a secret of the run.
            raise HarnessError(
                f"the run's own webhook listener cannot be asked: {type(error).__name__}"
            ) from error

    def close(self) -> None:
        """Close the connections to the listener."""
        self._client.close()

    def since(self, number: int, within: float) -> list[Delivery]:
        """Return the deliveries from ``number`` on; as there, with what the listener has by now."""
        until = clock().monotonic() + within
        while within <= 0 or self.next_number() <= number:
            left = until - clock().monotonic()
            self.catch_up(max(0.0, left))
            if left <= 0 or self._is_lost():
                break
            if self.missing is not None and self.next_number() <= number:
                # The listener waits for none any more.
                clock().sleep(min(left, MOMENT_SECONDS))
                self.catch_up()
                break
        return super().since(number, 0)

    def catch_up(self, within: float = 0.0) -> None:
        """Get what has arrived since the last time, waiting ``within`` seconds for the first."""
        with self._asking:
            more = True
            while more and not self._is_lost():
                try:
                    more = self._fetch(within)
                except httpx.TimeoutException:
                    # Busy machines are slow; what was not told now is told the next time.
                    return
                except (httpx.HTTPError, LookupError, TypeError, ValueError) as error:
                    self._fail(error)
                else:
                    self._failures = 0

    def _fetch(self, within: float) -> bool:
        """Get one batch, and return whether the listener has more."""
        wait = round(min(within, POLL_SECONDS) * 1000)
        url = f"{self._url}?since={self.next_number()}&wait={wait}"
        told, _ = decode(self._client.get(url).raise_for_status().content)
        for delivery in [from_json(entry) for entry in told["deliveries"]]:
            self.put(delivery)
        if told["missing"] is not None:
            self.mark_incomplete(str(told["missing"]))
        return bool(told["more"])

    def _fail(self, error: Exception) -> None:
        self._failures += 1
        if self._is_lost():
            self.mark_incomplete(
                "the run's own webhook listener does not hand on the webhooks any more: "
                f"{type(error).__name__}"
            )
        else:
            clock().sleep(_PAUSE_SECONDS * self._failures)

    def _is_lost(self) -> bool:
        """Return whether the listener has failed so often that it is not asked any more."""
        return self._failures > _MAX_FAILURES
