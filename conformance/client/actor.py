"""What every part of the suite's acting rests on: requests, causes, events and waiting."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from conformance.client.http import Answer, RecordingClient
from conformance.client.listener import Delivery, Inbox, Manner, Treat
from conformance.client.memory import Memory
from conformance.client.samples import Samples
from conformance.contract.judge import entries
from conformance.target.profile import Corridor, Profile
from conformance.target.triggers import Asked, Triggers
from conformance.verdict.decisions import (
    FeatureUndeclared,
    PreconditionFailed,
    ResourceMissing,
)

Json = dict[str, Any]
T = TypeVar("T")

_LONGEST_PAUSE = 1.0
_MOST_PAGES = 50
_PAGE = 100
_CLOCK_SKEW = timedelta(seconds=2)


@dataclass
class Movement:
    """What a test did to the internal accounts that it funded: the input of the audit.

    ``deposits`` holds by account id what was deposited, ``expected`` what is on its way,
    ``returned`` what may have gone back to its sender, and ``spent`` what cards may have taken at
    most; ``quotes`` the accepted quotes.
    """

    deposits: dict[str, int] = field(default_factory=dict)
    expected: dict[str, int] = field(default_factory=dict)
    returned: dict[str, int] = field(default_factory=dict)
    spent: dict[str, int] = field(default_factory=dict)
    accounts: dict[str, Json] = field(default_factory=dict)
    quotes: dict[str, Json] = field(default_factory=dict)


class Actor:
    """Acts on the target with one client, the profile's triggers and the inbox of webhooks.

    Verbs (``execute``, ``create_quote``) return the :class:`Answer`, whatever it is. Nouns
    (``customer``, ``account``, ``quote``) return the resource, and raise
    :class:`PreconditionFailed` where the target refuses it.
    """

    def __init__(
        self,
        client: RecordingClient,
        triggers: Triggers,
        inbox: Inbox,
        profile: Profile,
        samples: Samples,
    ) -> None:
        self.client = client
        self.profile = profile
        self.samples = samples
        self.movement = Movement()
        self.memory = Memory()
        self.observe: Callable[[str], None] = lambda _: None
        """Notes for the report which of several honest answers was seen."""
        self.triggers = triggers
        self.treat: Treat = lambda *_: None
        self._inbox = inbox

    @property
    def usual_corridor(self) -> Corridor:
        """The corridor of whatever needs no other: the first same-currency one, or the first."""
        corridors = self.profile.resources.corridors
        return next((c for c in corridors if c.sending == c.receiving), corridors[0])

    @property
    def currency(self) -> str:
        """The currency of whatever needs no other."""
        return self.usual_corridor.sending

    def at_once(self, *actions: Callable[[], T]) -> list[T]:
        """Run all actions at the same time, each in a thread of its own."""
        with ThreadPoolExecutor(len(actions)) as pool:
            return [future.result() for future in [pool.submit(action) for action in actions]]

    def cause(self, trigger: str, **parameters: Any) -> Json:
        """Cause ``trigger`` by the profile's way; return its results.

        Raises:
            TriggerMissing: the profile does not map it.
        """
        return self.triggers.fire(trigger, **parameters)

    def ask(self, request: str, **parameters: Any) -> Asked:
        """Send a request of the profile's own, and return its answer, whatever its status.

        Raises:
            TriggerMissing: the profile does not map it.
        """
        return self.triggers.ask(request, **parameters)

    def event(
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
            within: how long to wait in seconds; by default ``timing.event`` of the profile.
            where: what else must hold for the delivery.

        Raises:
            FeatureUndeclared: no webhooks are sent.
        """
        self._demand_webhooks()
        limit = self.profile.timing.event if within is None else within
        return self._inbox.wait(
            lambda d: d.type == kind and d.concerns(resource) and where(d), limit
        )

    def mentions(self, *names: str) -> list[Delivery]:
        """Return all deliveries that hold one of ``names`` anywhere, waiting for the first.

        Raises:
            FeatureUndeclared: no webhooks are sent.
        """
        self._demand_webhooks()

        def holds(delivery: Delivery) -> bool:
            return delivery.holds(*names)

        self._inbox.wait(holds, self.profile.timing.event)
        return self._inbox.all(holds)

    def _demand_webhooks(self) -> None:
        if not self.profile.features.webhooks:
            raise FeatureUndeclared("the profile does not declare features.webhooks")

    def events(self, resource: str) -> list[Delivery]:
        """Return all deliveries about ``resource`` that have arrived."""
        return self._inbox.all(lambda delivery: delivery.concerns(resource))

    @contextmanager
    def receiving(self, manner: Manner, resource: str, *kinds: str) -> Iterator[None]:
        """Take deliveries about ``resource`` in another manner until the block ends.

        Args:
            manner: how they are taken.
            resource: id of the affected resource; all other deliveries are acknowledged at once.
            kinds: the types of the events.

        Raises:
            FeatureUndeclared: no webhooks are sent.
        """
        self._demand_webhooks()
        try:
            for kind in kinds:
                self.treat(resource, kind, manner)
            yield
        finally:
            for kind in kinds:
                self.treat(resource, kind, None)

    def delivery(self, wanted: Callable[[Delivery], bool]) -> Delivery | None:
        """Return the first wanted delivery, waiting ``timing.event`` for it if need be.

        Raises:
            FeatureUndeclared: no webhooks are sent.
        """
        self._demand_webhooks()
        return self._inbox.wait(wanted, self.profile.timing.event)

    def deliveries(self, wanted: Callable[[Delivery], bool]) -> list[Delivery]:
        """Return all wanted deliveries that have arrived."""
        return self._inbox.all(wanted)

    def quiet(self, kind: str, resource: str) -> bool:
        """Return whether no event of type ``kind`` about ``resource`` comes (``timing.quiet``)."""
        return self.event(kind, resource, within=self.profile.timing.quiet) is None

    def until(self, read: Callable[[], T], wanted: Callable[[T], bool]) -> T:
        """Read again and again until the value is wanted or ``timing.state`` has passed.

        Returns:
            the last value read.
        """
        until = time.monotonic() + self.profile.timing.state
        pause = self.profile.timing.poll
        while not wanted(value := read()) and (left := until - time.monotonic()) > 0:
            time.sleep(min(pause, left))
            pause = min(2 * pause, _LONGEST_PAUSE)
        return value

    def pages(self, operation: str, **query: Any) -> Iterator[Json]:
        """Yield what an operation lists, page after page as the profile's bindings turn them."""
        yield from self.pages_at(operation, {}, query)

    def pages_at(self, operation: str, path: Mapping[str, str], query: Json) -> Iterator[Json]:
        """Yield what an operation lists at a path; as above."""
        names = self.profile.bindings
        query = dict(query)
        for _ in range(_MOST_PAGES):
            body = self.arranged(self.client.call(operation, path=path, query=query))
            yield from members(body)
            following = body.get(names.list_next) if isinstance(body, dict) else None
            if not following or not names.list_cursor:
                return
            query[names.list_cursor] = following

    @property
    def large_pages(self) -> Json:
        """The query of as large pages as the suite asks for; none where they have one size."""
        name = self.profile.bindings.list_page_size
        return {name: _PAGE} if name else {}

    def arranged(self, answer: Answer) -> Any:
        """Return the body of an accepted answer; raise ``PreconditionFailed`` otherwise."""
        if not answer.accepted:
            raise PreconditionFailed(f"a step before the check failed: {answer}")
        return answer.body


def resource(answer: Answer) -> Json:
    """Return the resource in an answer.

    Raises:
        PreconditionFailed: the request was refused, or the answer holds no resource.
    """
    if not answer.accepted:
        raise PreconditionFailed(f"a step before the check failed: {answer}")
    if not isinstance(answer.body, dict) or "id" not in answer.body:
        raise PreconditionFailed(f"a step before the check brought no resource: {answer}")
    return answer.body


def members(body: Any) -> list[Json]:
    """Return the members of a list response, which may stand bare, under ``data`` or elsewhere.

    Raises:
        PreconditionFailed: no one list is found in it.
    """
    listed = entries(body)
    if listed is None:
        raise PreconditionFailed(f"expected a list, got {body!r}")
    return listed


def given(resource: Json, member: str) -> Any:
    """Return a member that need not be there.

    Raises:
        ResourceMissing: it is absent or null, so that there is nothing to check.
    """
    value = resource.get(member)
    if value is None:
        raise ResourceMissing(f"{resource.get('id', 'what came')} has no {member}")
    return value


def unknown(identifier: str) -> str:
    """Return an identifier of the same form that no resource has."""
    kind, colon, rest = identifier.partition(":")
    changed = re.sub(r"\d", "9", rest)
    return kind + colon + (changed if changed != rest else f"{rest}9")


def wait_until(moment: datetime) -> None:
    """Return once ``moment`` has passed, also by a clock that is two seconds behind ours."""
    while (left := (moment + _CLOCK_SKEW - datetime.now(UTC)).total_seconds()) > 0:
        time.sleep(left)


def merged(body: Json, values: Mapping[str, Any]) -> Json:
    """Return ``body`` with ``values`` merged in, objects member by member."""
    result = dict(body)
    for name, value in values.items():
        inner = result.get(name)
        if isinstance(value, dict) and isinstance(inner, dict):
            result[name] = merged(inner, value)
        else:
            result[name] = value
    return result


def filled(template: Any, words: Mapping[str, Any]) -> Any:
    """Return a template with its words filled in, less the members whose word has no value."""
    if isinstance(template, dict):
        found = {name: filled(member, words) for name, member in template.items()}
        return {
            name: value
            for name, value in found.items()
            if value is not None or template[name] is None
        }
    if isinstance(template, list):
        return [filled(member, words) for member in template]
    return words.get(template, template) if isinstance(template, str) else template


def at(value: Any, path: str) -> Any:
    """Return what stands at a dotted path, ``None`` where nothing does; the value itself for none.

    A number is a place in a list.
    """
    for name in path.split(".") if path else ():
        if isinstance(value, list) and name.isdigit():
            value = dict(enumerate(value)).get(int(name))
        else:
            value = value.get(name) if isinstance(value, dict) else None
    return value
