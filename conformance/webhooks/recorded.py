"""The inbox of a run that is judged again: what had arrived by the time of the recording."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from conformance.exchange.clock import RecordedClock
from conformance.exchange.delivery import Delivery
from conformance.webhooks.inbox import Inbox


class RecordedInbox(Inbox):
    """Shows the deliveries of a recording as its clock goes on; to wait for one moves the clock."""

    def __init__(self, deliveries: Sequence[Delivery], clock: RecordedClock) -> None:
        super().__init__()
        self._recorded = list(deliveries)
        self._times = [delivery.at for delivery in deliveries]
        self._clock = clock
        self._judged = 0

    def since(self, number: int, within: float) -> list[Delivery]:
        """Return the deliveries from ``number`` on, waiting ``within`` seconds for the first."""
        if self.next_number() <= number and within > 0:
            following = self._times[number : number + 1]
            end = self._clock.time() + within
            # Set, and not moved on by a difference, which would end beside that moment.
            self._clock.set(min(following[0], end) if following else end)
        self.judge(all_of_them=False)
        return self._recorded[number : self.next_number()]

    def next_number(self) -> int:
        """Return how many deliveries had arrived."""
        return bisect_right(self._times, self._clock.time())

    def judge_from(self, moment: float) -> None:
        """Begin to judge with what arrives from a moment on, in seconds since the epoch.

        Each process of a run judges all that arrives while it runs its tests.
        """
        self._judged = bisect_right(self._times, moment)

    def judge(self, *, all_of_them: bool) -> None:
        """Let the watcher look at what has arrived since it last did, or at all that is left."""
        until = len(self._recorded) if all_of_them else self.next_number()
        for delivery in self._recorded[self._judged : until]:
            self.watcher(delivery)
        self._judged = max(self._judged, until)
