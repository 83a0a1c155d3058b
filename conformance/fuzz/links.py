"""Walks along the links of the OpenAPI document: which request may follow an answer.

A walk begins at each operation whose answers have links. It takes an answer, follows one of its
links, and goes on from all answers that it has. Each request stands on the ground that the suite
lays for its operation, with what the link hands on in its place, and with one or two members of a
body that schemathesis generated for the operation.

Its own state machine is not used: it begins at a third of these operations only, and never at a
quote, as it cannot know that there is ground for it; and the bodies that it makes while it walks
take ten times as long as a whole part of a run may.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.contract.document import Operation, document
from conformance.exchange.answer import Answer
from conformance.fuzz.drawn import ABSENT, Drawn, Query, draw
from conformance.fuzz.requests import SHARED, grounded, send
from conformance.platform.grounds.ground import Ground
from conformance.platform.grounds.request import NOT_LAID, ground
from conformance.platform.platform import Platform
from conformance.text.paths import value_at
from conformance.verdict.decisions import Irrevocable

STEPS = 4
"""How many links are followed in one walk."""

_PARAMETER = re.compile(r"\{(\w+)\}")
_EXPRESSION = re.compile(r"\$(response\.body#/|request\.path\.|request\.query\.)(.+)")


@dataclass(frozen=True, slots=True)
class Link:
    """One link of the document, and what it hands on to a request of its operation."""

    name: str
    operation: Operation
    path: Mapping[str, str]
    query: Mapping[str, str]
    body: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Followed:
    """One request of a walk, and the answer; ``chain`` says what led to it, the first first.

    ``is_read`` tells whether it reads what an answer before it has named.
    """

    answer: Answer
    path: Mapping[str, str]
    query: Query
    chain: tuple[str, ...]
    is_read: bool

    def __str__(self) -> str:
        return " → ".join(self.chain)

    def links(self) -> Iterator[Link]:
        """Yield the links of the answer, as far as it has what they hand on."""
        responses = self.answer.operation.raw["responses"]
        for name, raw in responses.get(str(self.answer.status), {}).get("links", {}).items():
            operation = document().operations[raw["operationId"]]
            given = {one: self._value(said) for one, said in raw.get("parameters", {}).items()}
            body = {one: self._value(said) for one, said in raw.get("requestBody", {}).items()}
            if None in given.values() or None in body.values():
                continue
            places = {known["name"]: known["in"] for known in operation.raw["parameters"]}
            path = {one: str(value) for one, value in given.items() if places[one] == "path"}
            query = {one: str(value) for one, value in given.items() if places[one] == "query"}
            yield Link(name, operation, path, query, body)

    def _value(self, expression: str) -> Any:
        """Return what a runtime expression leads to, None where it leads to nothing."""
        match = _EXPRESSION.fullmatch(expression)
        if match is None:
            return expression
        place, name = match.groups()
        if place.startswith("response"):
            return value_at(self.answer.body, name.replace("/", "."))
        return (self.path if "path" in place else self.query).get(name)


@dataclass
class Walks:
    """All walks of one run along links: what was sent and answered, by operation.

    Args:
        platform: the suite in the part of a platform.
        seed: decides the walks and the generated bodies.
        examples: how many bodies are generated for each operation.
    """

    platform: Platform
    seed: int
    examples: int
    followed: dict[str, list[Followed]] = field(default_factory=lambda: defaultdict(list))
    _times: Counter[str] = field(default_factory=Counter)
    _grounds: dict[str, Ground | None] = field(default_factory=dict)
    _deleted: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self._chance = random.Random(self.seed)  # noqa: S311 - not for secrets

    def walk(self, first: Operation) -> None:
        """Walk from an operation on, as far as the target offers what is needed.

        Raises:
            Unmet: a request could not be sent.
        """
        begun = self._send(Link("", first, {}, {}, {}), ())
        known = [] if begun is None else [begun]
        for _ in range(STEPS):
            links = [(one, link) for one in known for link in one.links()]
            if not links:
                return
            # Those that were followed least often, so that each has its turn.
            fewest = min(self._times[link.name] for _, link in links)
            source, link = self._chance.choice(
                [found for found in links if self._times[found[1].name] == fewest]
            )
            self._times[link.name] += 1
            if (reached := self._send(link, source.chain)) is not None:
                known.append(reached)

    def _send(self, link: Link, chain: tuple[str, ...]) -> Followed | None:
        """Send the request of a link; nothing where the target does not offer what it needs."""
        operation = link.operation
        here = self._ground(operation)
        if here is None or operation.id in SHARED:
            return None
        path, query = {**here.path, **link.path}, {**here.query, **link.query}
        body, live = {**here.body, **link.body}, {**here.live, **link.body}
        here = replace(here, path=path, query=query, body=body, live=live)
        request = grounded(operation, self._drawn(operation, path, query), here, self._chance)
        try:
            answer = send(self.platform, operation, request)
        except Irrevocable:
            return None
        names = set(_PARAMETER.findall(operation.path))
        # The ground may have more, for operations beside this one.
        path = {name: path[name] for name in names & path.keys()}
        resources = set(path.values())
        is_named = bool(names) and names <= link.path.keys()
        is_read = operation.method == "GET" and is_named and not resources & self._deleted
        if operation.method == "DELETE" and answer.accepted:
            self._deleted |= resources
        told = f"{operation.id} [{answer.exchange.id}] {answer.status}"
        followed = Followed(answer, path, query, (*chain, told), is_read)
        self.followed[operation.id].append(followed)
        return followed

    def _drawn(self, operation: Operation, path: Mapping[str, str], query: Query) -> Drawn:
        """Return a request with a body that was generated for its operation, if it takes one."""
        bodies = [one for one in draw(operation.id, self.seed, self.examples) if one.valid]
        if "requestBody" in operation.raw and bodies:
            return replace(self._chance.choice(bodies), path=path, query=query)
        return Drawn(path, query, ABSENT, "", valid=True, note="a link of the document")

    def _ground(self, operation: Operation) -> Ground | None:
        """Return the ground of an operation, laid once; None where it cannot be laid."""
        if operation.id not in self._grounds:
            try:
                self._grounds[operation.id] = ground(operation.id, self.platform)
            except (*NOT_LAID, Irrevocable):
                self._grounds[operation.id] = None
        return self._grounds[operation.id]


def sources() -> list[Operation]:
    """Return the operations whose answers have links."""
    return [
        operation
        for operation in document().operations.values()
        if any(response.get("links") for response in operation.raw["responses"].values())
    ]
