"""The deliveries that a platform gets, and how it takes them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from conformance.exchange.clock import clock
from conformance.exchange.delivery import Delivery
from conformance.platform.waiting import Patience, place_of
from conformance.profile.model import Profile
from conformance.verdict.decisions import FeatureUndeclared
from conformance.webhooks.inbox import Inbox
from conformance.webhooks.manner import Manner, Treat


class Webhooks:
    """The deliveries of a run; each method that waits needs ``features.webhooks``.

    Where the profile does not declare it they raise :class:`FeatureUndeclared`.
    """

    def __init__(
        self, inbox: Inbox, profile: Profile, patience: Patience, treat: Treat | None = None
    ) -> None:
        self._inbox = inbox
        self._features = profile.features
        self._timing = profile.timing
        self._patience = patience
        self._treat: Treat = treat or (lambda *_: None)

    def wait_for(
        self,
        kind: str,
        resource: str,
        *,
        within: float | None = None,
        where: Callable[[Delivery], bool] = lambda _: True,
    ) -> Delivery | None:
        """Return the first delivery of type ``kind`` about ``resource``; wait for it if need be.

        Args:
            kind: the event's type.
            resource: id of the affected resource.
            within: how long to wait in seconds; by default ``timing.event`` of the profile, or
                less once such an event did not come.
            where: what else must hold for the delivery.
        """

        def wanted(one: Delivery) -> bool:
            return one.type == kind and one.concerns(resource) and where(one)

        self.require()
        return self._wait(wanted, kind) if within is None else self._inbox.wait(wanted, within)

    def wait_for_any(self, wanted: Callable[[Delivery], bool]) -> Delivery | None:
        """Return the first wanted delivery; wait for it as :meth:`wait_for` does."""
        self.require()
        return self._wait(wanted, place_of(wanted))

    def _wait(self, wanted: Callable[[Delivery], bool], kind: str) -> Delivery | None:
        started = clock().monotonic()
        found = None
        try:
            found = self._inbox.wait(wanted, self._patience.seconds(kind, self._timing.event))
        finally:
            self._patience.learn(kind, clock().monotonic() - started, came=found is not None)
        return found

    def mentioning(self, *names: str) -> list[Delivery]:
        """Return all deliveries that hold one of ``names`` anywhere; wait for the first.

        One that broke off and was delivered again is left out, as it was not delivered.
        """
        self.require()
        types = sorted(name.partition(":")[0] for name in names)
        self._wait(
            lambda delivery: delivery.body is not None and delivery.holds(*names),
            f"a webhook that mentions {' or '.join(types)}",
        )
        all_deliveries = self._inbox.all(lambda delivery: delivery.holds(*names))
        return [
            delivery
            for delivery in all_deliveries
            if not any(map(delivery.breaks_off_before, all_deliveries))
        ]

    def about(self, resource: str) -> list[Delivery]:
        """Return all deliveries about ``resource`` that have arrived."""
        return self.all(lambda delivery: delivery.concerns(resource))

    def all(self, wanted: Callable[[Delivery], bool]) -> list[Delivery]:
        """Return all wanted deliveries that have arrived."""
        return self._inbox.all(wanted)

    @contextmanager
    def taking(self, manner: Manner, resource: str, *kinds: str) -> Iterator[None]:
        """Take deliveries about ``resource`` in another manner until the block ends.

        Args:
            manner: how they are taken.
            resource: id of the affected resource; all other deliveries are acknowledged at once.
            kinds: the types of the events.
        """
        self.require()
        try:
            for kind in kinds:
                self._treat(resource, kind, manner)
            yield
        finally:
            for kind in kinds:
                self._treat(resource, kind, None)

    def require(self) -> None:
        """Make certain that the profile declares webhooks."""
        if not self._features.webhooks:
            raise FeatureUndeclared("webhooks")
