"""The inbox: all deliveries of a run, and the means to wait for one."""

from __future__ import annotations

import threading
from collections.abc import Callable

from conformance.exchange.clock import clock
from conformance.exchange.delivery import Delivery
from conformance.verdict.decisions import Reason, Unmet

MAX_DELIVERIES = 100_000

MAX_KEPT_BYTES = 512 * 1024 * 1024

"""How much memory the deliveries of a run may take; 1 KB of JSON takes some 7 KB when decoded."""

_TOLD = 200
MOMENT_SECONDS = 1.0
"""For how long a delivery may be on its way beside one that is missing."""


class DeliveriesMissing(Unmet):
    """Some deliveries could not be kept, so that the absence of one proves nothing."""

    reason = Reason.UNREADABLE


class Inbox:
    """All deliveries of a run so far, and the means to wait for one. Safe for threads.

    Once a delivery could not be kept, whoever misses one is told so by an exception.
    """

    def __init__(self) -> None:
        self._deliveries: list[Delivery] = []
        self._bytes = 0
        self._is_full = False
        self._arrived = threading.Condition()
        self.watcher: Callable[[Delivery], None] = lambda _: None
        self.missing: str | None = None
        """Why deliveries are missing, ``None`` where none is."""

    def put(self, delivery: Delivery) -> bool:
        """Store a delivery and wake all that wait; return whether there was room for it."""
        self._bytes += delivery.memory
        if len(self._deliveries) >= MAX_DELIVERIES or self._bytes > MAX_KEPT_BYTES:
            self._is_full = True
            self.mark_incomplete(
                f"the target sent more webhooks than the suite keeps ({MAX_DELIVERIES} of "
                f"together {MAX_KEPT_BYTES // 1024**2} MiB in memory)"
            )
            return False
        try:
            self.watcher(delivery)
        except Exception as error:  # noqa: BLE001 - whatever it is, later deliveries have to arrive
            self.mark_incomplete(
                f"webhook {delivery.number} could not be judged: "
                f"{type(error).__name__}: {str(error)[:_TOLD]}"
            )
        with self._arrived:
            self._deliveries.append(delivery)
            self._arrived.notify_all()
        return True

    def mark_incomplete(self, cause: str) -> None:
        """Note why deliveries are missing; the first cause stays. Wakes all that wait."""
        with self._arrived:
            self.missing = self.missing or cause
            self._arrived.notify_all()

    def clear(self) -> None:
        """Lose all deliveries, as what comes from now on is of another target."""
        with self._arrived:
            self._deliveries.clear()
            self._bytes, self._is_full, self.missing = 0, False, None

    def wait(self, wanted: Callable[[Delivery], bool], within: float) -> Delivery | None:
        """Return the first delivery that is wanted, waiting ``within`` seconds for it.

        Raises:
            DeliveriesMissing: it is not there, but some deliveries could not be kept.
        """
        until = clock().monotonic() + within
        seen = 0
        while True:
            # They are looked at without the lock, so that others arrive meanwhile.
            with clock().waiting():
                fresh = self.since(seen, until - clock().monotonic())
            for delivery in fresh:
                if wanted(delivery):
                    return delivery
            if not fresh or clock().monotonic() >= until:
                self._demand_all()
                return None
            seen += len(fresh)

    def all(self, wanted: Callable[[Delivery], bool]) -> list[Delivery]:
        """Return the wanted deliveries that have arrived, in the order of arrival.

        Raises:
            DeliveriesMissing: some could not be kept.
        """
        found = [delivery for delivery in self.since(0, 0) if wanted(delivery)]
        self._demand_all()
        return found

    def since(self, number: int, within: float) -> list[Delivery]:
        """Return the deliveries from ``number`` on, waiting ``within`` seconds for the first.

        Where one is missing, it waits for a moment alone, and not at all where no more are kept.
        """

        def is_there() -> bool:
            return len(self._deliveries) > number

        with self._arrived:
            self._arrived.wait_for(lambda: is_there() or self.missing is not None, within)
            if self.missing is not None and not self._is_full:
                self._arrived.wait_for(is_there, min(within, MOMENT_SECONDS))
            return self._deliveries[number:]

    def next_number(self) -> int:
        """Return how many deliveries have arrived."""
        with self._arrived:
            return len(self._deliveries)

    def _demand_all(self) -> None:
        if self.missing is not None:
            raise DeliveriesMissing(self.missing)
