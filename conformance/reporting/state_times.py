"""How long it took from the request that started it until a resource was seen in a state."""

from __future__ import annotations

import json
import re
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping
from functools import cache
from operator import attrgetter
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from conformance.contract.states import Machine, machine_of, machines
from conformance.reporting.latency import percentiles
from conformance.reporting.report import StateTime
from conformance.text.paths import value_at

TRIGGER = "trigger"
"""Stands for all requests and commands of the profile, as in the journal."""

_OPERATION = re.compile(r'"operation": "(\w+)"')
_STATUS = re.compile(r'"status": (\d+), "response_headers": ')
# In the query of a URL the colon is spelled otherwise.
_ID = re.compile(r"([A-Z][A-Za-z]*)(?::|%3A)([A-Za-z0-9._~-]+)")


class _Resource(NamedTuple):
    """One resource, or one of the members by which it shows a state of its own."""

    machine: str
    identifier: str
    member: str


class _Event(NamedTuple):
    """A request that may have moved a resource, or a message that shows its state.

    ``at`` is in seconds since the epoch: of a request when it was sent, of a message when it came.
    """

    at: float
    action: str = ""
    state: str = ""


class StateTimes:
    """Collects the requests and the states of all resources, and says what took how long.

    Only states count to which the request may have led by the state machine, so that no late
    webhook is taken for news. Of two requests that may have led there the later one counts.
    """

    def __init__(self) -> None:
        self._requests: dict[str, list[_Event]] = defaultdict(list)
        self._states: dict[_Resource, list[_Event]] = defaultdict(list)
        self._made_with: dict[_Resource, str] = {}

    def take_in(self, line: str) -> None:
        """Take in an exchange, as a line of the journal; one that is cut short tells nothing."""
        status, operation = _STATUS.search(line), _OPERATION.search(line)
        # What was refused moves nothing; what got no answer may have.
        if status is None or operation is None or status[1][0] not in "02":
            return
        try:
            entry = json.loads(line)
        except json.JSONDecodeError:
            return
        at = entry["at"]
        if (action := operation[1]) in _actions():
            self._note_request(at - entry["seconds"], action, line)
        body = entry["response_body"]
        path = urlsplit(entry["url"]).path.rpartition("/")[2].replace("%3A", ":")
        for machine in machines():
            if machine.shown.operation == action and isinstance(body, dict):
                self._note_states(at, machine, path, body)
        data = body.get("data") if isinstance(body, dict) else body
        for resource in (body, *(data if isinstance(data, list) else (data,))):
            self._note_resource(at, resource)

    def command(self, entry: Mapping[str, Any]) -> None:
        """Take in a command of the profile; those of older journals have no time."""
        if "at" in entry:
            self._note_request(entry["at"], TRIGGER, json.dumps(entry["command"]))

    def delivery(self, entry: Mapping[str, Any]) -> None:
        """Take in a webhook."""
        body = entry["body"]
        if isinstance(body, dict):
            event = body.get("type")
            told = event.rpartition(".")[2] if isinstance(event, str) else ""
            self._note_resource(entry["at"], body.get("data"), told)

    def by_resource(self) -> tuple[StateTime, ...]:
        """Return the percentiles of each state and the request that it was come to by.

        They are in the order of the state machines; of one, that which was seen most often is the
        first.
        """
        found: dict[tuple[str, str, str], list[float]] = defaultdict(list)
        for resource, states in self._states.items():
            machine = machine_of(resource.machine)
            requests = self._requests_of(resource, machine)
            events = sorted([*states, *requests], key=attrgetter("at"))
            for action, state, seconds in _reached(machine, events):
                found[machine.resource, action, state].append(seconds)
        places = {machine.resource: place for place, machine in enumerate(machines())}
        return tuple(
            StateTime(
                resource=resource,
                request=action,
                state=state,
                times=len(seconds),
                **percentiles(seconds),
            )
            for (resource, action, state), seconds in sorted(
                found.items(), key=lambda item: (places[item[0][0]], -len(item[1]), item[0])
            )
        )

    def _note_request(self, at: float, action: str, text: str) -> None:
        for identifier in {":".join(found) for found in _ID.findall(text)}:
            self._requests[identifier].append(_Event(at, action=action))

    def _note_resource(self, at: float, body: Any, told: str = "") -> None:
        """Note what an object says of its state; ``told`` is what an event says beside it."""
        identifier = body.get("id") if isinstance(body, dict) else None
        if not isinstance(identifier, str):
            return
        for machine in _of_type(identifier.partition(":")[0]):
            self._note_states(at, machine, identifier, body)
            if told in machine.states:
                resource = _Resource(machine.name, identifier, machine.shown.members[0])
                self._states[resource].append(_Event(at, state=told))

    def _note_states(
        self, at: float, machine: Machine, identifier: str, body: Mapping[str, Any]
    ) -> None:
        for member in machine.shown.members:
            state = value_at(body, member)
            if isinstance(state, str) and state in machine.states:
                resource = _Resource(machine.name, identifier, member)
                self._states[resource].append(_Event(at, state=state))
                if isinstance(owner := body.get(machine.shown.made_with), str):
                    self._made_with[resource] = owner

    def _requests_of(self, resource: _Resource, machine: Machine) -> Iterator[_Event]:
        yield from self._requests.get(resource.identifier, ())
        for request in self._requests.get(self._made_with.get(resource, ""), ()):
            if request.action in machine.actions_at(None):
                yield request


def _reached(machine: Machine, events: Collection[_Event]) -> Iterator[tuple[str, str, float]]:
    """Yield which states a resource came to by which request, and after how many seconds.

    Args:
        machine: its state machine.
        events: what is known of it, the earliest first.
    """
    state: str | None = None
    started = _Event(0.0)
    ahead: frozenset[str | None] = frozenset()
    for event in events:
        if event.action:
            if following := _following(machine.name, state, event.action):
                started, ahead = event, following
        elif event.state in ahead:
            yield started.action, event.state, event.at - started.at
            state = event.state
            ahead &= machine.reachable(state, _is_of_the_world) - {state}
        elif not started.action:
            state = event.state


@cache
def _actions() -> frozenset[str]:
    """Return the operations that may move any resource, and what stands for triggers."""
    return frozenset((TRIGGER, *(action for machine in machines() for action in machine.actions)))


@cache
def _of_type(word: str) -> tuple[Machine, ...]:
    """Return the machines of the resources with this type in their ids."""
    return tuple(machine for machine in machines() if word and machine.shown.type == word)


@cache
def _following(name: str, state: str | None, action: str) -> frozenset[str | None]:
    """Return the states that an action may lead to: at once, or as the world goes on.

    Args:
        name: that of the state machine.
        state: where the resource is; None where that was not seen yet.
        action: an operation, or what stands for triggers.
    """
    machine = machine_of(name)
    found: set[str | None] = set()
    for row in machine.transitions:
        by = TRIGGER if _is_trigger(row.action) else row.action
        if by == action and state in (None, row.origin):
            for target in row.targets:
                found |= machine.reachable(target, _is_of_the_world) - {row.origin}
    return frozenset(found)


def _is_trigger(action: str | None) -> bool:
    return action is not None and "." in action


def _is_of_the_world(action: str | None) -> bool:
    """Return whether something happens without a request of a client."""
    return action is None or _is_trigger(action)
