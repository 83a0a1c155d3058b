"""The requests that a fuzz test sends: as they were generated, on live ground, and hostile."""

from __future__ import annotations

import hashlib
import json
import random
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from conformance.contract.document import Operation
from conformance.contract.judge import judge
from conformance.exchange.answer import Answer
from conformance.exchange.client import RecordingClient
from conformance.fuzz import forms
from conformance.fuzz.drawn import Drawn, Query, encoded
from conformance.fuzz.faults import Fault
from conformance.platform.grounds.ground import Ground
from conformance.platform.platform import Platform
from conformance.text.paths import value_at

Json = dict[str, Any]

_JSON = "application/json"
_READABLE = ("", _JSON, forms.FORM)
_MAX_OVERLAID = 2
_HOSTILE_SHARE = 4
_KEY = 32
_PLACE = "\uf8ff"

_DEPTH = 2_000
_READABLE_DEPTH = 40


def hostile_texts(depth: int = _DEPTH) -> tuple[str, ...]:
    """Return JSON texts that careless code does not survive, as a member's value or as the body."""
    nested = ("[" * depth + "]" * depth, '{"":' * depth + "0" + "}" * depth)
    return ("null", '"\\u0000"', "9" * 400, *nested)


HOSTILE: tuple[str, ...] = hostile_texts()

HOSTILE_OF_KIND: Mapping[type, tuple[str, ...]] = {
    bool: ("0", '"true"'),
    int: (
        # One beyond what 32 bits, a double and 64 bits hold.
        *("-1", "2147483648", "9007199254740993", "9223372036854775808", "-9223372036854775809"),
        *("0.5", "1e20", "-1e400", "1e-400", '"1"'),
    ),
    str: (
        *('""', '" "', '"\\ud800"', '"\\u202e"', '"' + "x" * 10_000 + '"'),
        '"' + "\N{SKULL}" * 1_000 + '"',
    ),
    list: ("[]", "[null]", "[[]]", "[{}]"),
    dict: ("{}", "[]", '""'),
}
"""The same for the value of a member that usually has a value of the kind."""

SHARED = frozenset({"updateConfig"})
"""Operations on what every user of the target shares: they get no body that might be taken."""

LISTED = frozenset({"createStablecoin"})
"""Operations whose resources are in a list that every test reads, for good.

What an implementation keeps of a member has to leave that list readable for the suite.
"""

_ODD = re.compile(r"[\x00-\x1f\x7f/\\%;?#]")
"""What proxies and routers look at in a URL, and may answer to in their own words."""


@dataclass(frozen=True)
class Prepared:
    """One request as it is going to be sent."""

    path: Mapping[str, str]
    query: Query
    content: bytes | None
    content_type: str
    note: str
    body: Json | None = None
    """The body, where the request is valid by the document."""
    headers: Mapping[str, str] = field(default_factory=dict)
    """Further headers."""
    framed: bool = True
    """Whether the body can be taken apart; a parser before the implementation may tell if not."""
    fault: str | None = None
    """The dotted path of what is wrong in it, "" where that is not known, None where nothing is."""

    @property
    def judged(self) -> bool:
        """Whether it is certain that the implementation itself answers."""
        values = [*self.path.values(), *self.query]
        values += [item for value in self.query.values() for item in _items(value)]
        readable = self.framed and self.content_type in _READABLE
        return readable and not any(map(_ODD.search, values))

    def send(self, client: RecordingClient, operation: Operation) -> Answer:
        """Send the request and return the answer."""
        return client.call(
            operation.id,
            path=self.path,
            query=self.query or None,
            body=self.body,
            content=self.content if self.body is None else None,
            headers={
                **self.headers,
                **({"content-type": self.content_type} if self.content_type else {}),
            },
            valid=self.body is not None,
            judged=self.judged,
        )


def faulty(operation: Operation, fault: Fault, ground: Ground) -> Prepared:
    """Return the request with a faulty body."""
    content, content_type = _sent(operation, fault.body)
    request = Prepared(
        ground.path, ground.query, content, content_type, str(fault), fault=fault.place
    )
    return _keyed(request, ground)


def prepared(
    operation: Operation, drawn: Iterable[Drawn], ground: Ground, key: str, count: int
) -> list[Prepared]:
    """Return the requests to send, none of them twice.

    ``key`` decides what is left to chance; there are up to three hostile ones for each one that
    ``count`` asks for.
    """
    chance = random.Random(key)  # noqa: S311 - not for secrets
    requests = [*_generated(operation, drawn, ground, chance)]
    if "requestBody" in operation.raw:
        hostile = list(_hostile(operation, ground))
        requests += chance.sample(hostile, min(_HOSTILE_SHARE * count, len(hostile)))
    if operation.id in SHARED:
        requests = [request for request in requests if not _is_object(request.content)]
    # What an invalid body leaves in a resource may be shown by the answers after it.
    requests.sort(key=lambda request: request.body is None)
    different = {_identity(request): request for request in requests}
    return [_keyed(request, ground) for request in different.values()]


def send(platform: Platform, operation: Operation, request: Prepared) -> Answer:
    """Send a request, and return the answer; what it moves is audited after the test."""
    answer = request.send(platform.api.client, operation)
    platform.ledger.note(answer)
    return answer


def _keyed(request: Prepared, ground: Ground) -> Prepared:
    """Return a request with the headers of its ground, in which ``{key}`` is its own."""
    own = hashlib.sha256(_identity(request).encode()).hexdigest()[:_KEY]
    headers = {name: value.replace("{key}", own) for name, value in ground.headers.items()}
    return replace(request, headers=headers)


def _sent(operation: Operation, body: Any) -> tuple[bytes, str]:
    """Return the bytes and the content type of a body."""
    if operation.form_schema is None:
        return encoded(body), _JSON
    return encoded(body, forms.files_of(operation.form_schema)), forms.FORM


def _generated(
    operation: Operation, drawn: Iterable[Drawn], ground: Ground, chance: random.Random
) -> Iterator[Prepared]:
    unknown: set[tuple[str, ...]] = set()
    for request in drawn:
        if request.valid:
            # Whatever else it carries, an unknown parent in the path is what it is answered by.
            parents = tuple(request.path.values())
            if not parents or parents not in unknown:
                yield _prepared(request, request.path, request.query)
            unknown.add(parents)
            yield grounded(operation, request, ground, chance)
        else:
            # The mistake is elsewhere, and an unknown parent would be refused before it.
            path, query = _parents(request, ground)
            yield _prepared(request, path, query)


def _prepared(request: Drawn, path: Mapping[str, str], query: Query) -> Prepared:
    fault = None if request.valid else ""
    return Prepared(path, query, request.content, request.content_type, request.note, fault=fault)


def grounded(
    operation: Operation, request: Drawn, ground: Ground, chance: random.Random
) -> Prepared:
    """Return a valid request with live parents, in whose body little else is generated."""
    path, query = _parents(request, ground)
    if not isinstance(request.body, dict):
        return _prepared(request, path, query)
    count = min(chance.randint(1, _MAX_OVERLAID), len(request.body))
    names = chance.sample(sorted(request.body), count)
    overlay = {name: _alive(request.body[name], name, ground) for name in names}
    body = {**ground.body, **overlay}
    if request.files is not None:
        content, content_type = _sent(operation, body)
        note = f"{request.note}; of it {', '.join(names)} in a live form"
        return Prepared(path, query, content, content_type, note)
    errors = judge().request_errors(operation, body)
    if errors and (required := (operation.request_schema or {}).get("required")):
        # What was generated may fit nothing but the members that were generated with it.
        names = sorted({*names, *required} & request.body.keys())
        body = {**body, **{name: _alive(request.body[name], name, ground) for name in names}}
        errors = judge().request_errors(operation, body)
    note = f"{request.note}; of it {', '.join(names)} on live ground"
    kept, fault = (None, "") if errors else (body, None)
    return Prepared(path, query, encoded(body), request.content_type, note, kept, fault=fault)


def _parents(request: Drawn, ground: Ground) -> tuple[Mapping[str, str], Query]:
    path = {name: ground.path.get(name, value) for name, value in request.path.items()}
    query = {
        name: ground.query.get(name, value) if isinstance(value, str) else value
        for name, value in request.query.items()
    }
    return path, query


def _alive(value: Any, place: str, ground: Ground) -> Any:
    """Return a generated value with live values at the places that name resources."""
    if isinstance(value, dict):
        return {name: _alive(member, f"{place}.{name}", ground) for name, member in value.items()}
    return ground.live.get(place, value) if isinstance(value, str) else value


def _hostile(operation: Operation, ground: Ground) -> Iterator[Prepared]:
    """Yield requests with a hostile text as the body, or as one of its members."""
    if operation.form_schema is not None:
        for note, content_type, content in forms.hostile(ground.body):
            yield Prepared(ground.path, {}, content, content_type, note, framed=False, fault="")
        return
    for value in HOSTILE:
        yield _raw(value, ground, "")
    kept = hostile_texts(_READABLE_DEPTH) if operation.id in LISTED else HOSTILE
    for place in _places(operation, ground.body):
        text = json.dumps(_marked(ground.body, place))
        usual = value_at(ground.body, ".".join(place))
        # Of a member that is not sent nothing is known.
        kinds = [str, int] if usual is None else [type(usual)]
        for value in (*kept, *(one for kind in kinds for one in HOSTILE_OF_KIND.get(kind, ()))):
            hostile = text.replace(json.dumps(_PLACE), value)
            yield _raw(hostile, ground, ".".join(place))


def _places(operation: Operation, body: Json) -> Iterator[tuple[str, ...]]:
    """Yield the members that the document names or ``body`` has, and those of its objects."""
    schema = operation.request_schema or {}
    parts = (schema, *schema.get("allOf", ()))
    for name in sorted({*body}.union(*(part.get("properties", {}) for part in parts))):
        yield (name,)
        if isinstance(body.get(name), dict):
            yield from ((name, inner) for inner in sorted(body[name]))


def _marked(body: Json, place: tuple[str, ...]) -> Json:
    name, *rest = place
    return {**body, name: _marked(body[name], tuple(rest)) if rest else _PLACE}


def _raw(text: str, ground: Ground, fault: str) -> Prepared:
    note = f"a hostile {fault or 'body'}"
    return Prepared(ground.path, ground.query, text.encode(), _JSON, note, fault=fault)


def _is_object(content: bytes | None) -> bool:
    return content is not None and content.lstrip().startswith(b"{")


def _identity(request: Prepared) -> str:
    return repr((request.path, request.query, request.content, request.content_type))


def _items(value: str | list[str]) -> list[str]:
    return value if isinstance(value, list) else [value]
