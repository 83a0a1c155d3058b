"""What a script repeats of recorded exchanges: requests, and the ids that later ones use."""

from __future__ import annotations

import json
import re
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

from conformance.exchange.journal import Exchange
from conformance.exchange.shell import Part, Variable
from conformance.text.addresses import origin
from conformance.text.characters import visible

MAX_CHARS = 1200
"""How much of a text a person wants to read."""

_TOLD = frozenset({"idempotency-key", "service-wallet-signature", "request-id"})
_FORM = "multipart/form-data"

_MAX_MEMBERS = 5_000
_MAX_WIDTH = 500
"""How many members of a response, and of each list and object in it, are searched for ids."""

_MAX_CHARACTERS = 1_000_000
"""How many characters of URLs and bodies one script repeats."""

# A name without a slash stays within the folder of documents, whoever chose it.
FILE = re.compile(r"<file ([\w. -]+), ([\w.+-]+/[\w.+-]+), (\d{1,9}) bytes>", re.ASCII)
"""What stands in the place of a file: its name, its media type, and its size."""

TOO_DEEP = "… (nested too deeply)"
_SHORTENED = re.compile(r"… \((?:\d+ bytes|nested too deeply)\)\Z")
URL = re.compile(r"(https?)://([^/?#]+)(.*)", re.IGNORECASE | re.DOTALL)
"""Scheme, host and the rest."""

# No character of an id means anything else in a URL, in JSON, in a header or in a form.
ID = re.compile(r"(?<![A-Za-z])[A-Za-z]++:[A-Za-z0-9._~:-]+")
ID_IN_URL = re.compile(r"(?<![A-Za-z])[A-Za-z]++(?::|%3A)(?:[A-Za-z0-9._~:-]|%3A)+")
_NAME = re.compile(r"(?!.*\*\*\*)[\x20-\x7e]*")
_CODE = re.compile(r"[A-Z][A-Z0-9_]{1,39}", re.ASCII)
"""A code, as of a currency or a type: what stays the same when a list is made anew."""
_HALF = re.compile("[\ud800-\udfff]")

_MARKS = {
    "***": "*** stands for a secret that was taken out, and is sent as it is.",
    "\ufffd": "Bytes that are no text were recorded as U+FFFD, and are sent as such.",
}
"""What may stand in a request in the place of something else, and what it stands for."""

USUAL_VARIABLES = ("PAYMENTS_API_TOKEN_ID", "PAYMENTS_API_CLIENT_SECRET")
"""The environment variables of the credentials, where a profile names no others."""


_Place = tuple[Any, ...]
"""Where a member stands: the place of what it is a member of, and its name or index; or ``()``."""


@dataclass(frozen=True)
class Row:
    """The first row of a list that has a code at a place of its own.

    Rows that were made at once come in any order, so that an index would find another one.
    """

    at: tuple[str, ...]
    code: str


Step = str | int | Row
"""One of the steps that lead to an id: a member's name, an index, or a row of a list."""


class NotRepeatable(Exception):
    """No command sends this request again; the message says why."""


@dataclass(frozen=True)
class Request:
    """What a command has to send, read once from its exchange."""

    exchange: Exchange
    left_out: bool = False
    """Whether the script is long enough without it."""

    @cached_property
    def form(self) -> Mapping[str, str]:
        """The parts of a form by their names; empty for a request that is none."""
        parts = self.exchange.request_body
        # A hostile request may send JSON, and call it a form.
        is_form = (
            self.exchange.request_headers.get("content-type", "").startswith(_FORM)
            and isinstance(parts, dict)
            and all(isinstance(part, str) for part in parts.values())
        )
        return parts if is_form else {}

    @cached_property
    def body(self) -> str | None:
        """The body as text; ``None`` for a form, and where none was sent."""
        body = self.exchange.request_body
        if self.form:
            return None
        if body is None:
            # A body that was recorded as nothing is the null of JSON.
            sent = self.exchange.request_headers.get("content-length", "0") != "0"
            return "null" if sent else None
        return body if isinstance(body, str) else _as_json(body)

    @property
    def texts(self) -> Collection[str]:
        """All that is sent beside URL and headers."""
        return self.form.values() or (self.body or "",)

    @property
    def headers(self) -> Mapping[str, str]:
        """The headers that do not follow from everything else."""
        sent = self.exchange.request_headers
        told = {name: value for name, value in sent.items() if name in _TOLD}
        return told if self.body is None else {**told, "content-type": sent.get("content-type", "")}

    def has(self, mark: str) -> bool:
        """Return whether a mark stands in anything that is sent."""
        return any(
            mark in text for text in (self.exchange.url, *self.texts, *self.headers.values())
        )

    def ids(self) -> Iterator[str]:
        """Yield what looks like an id in the URL and the body."""
        if not self.left_out:
            for found in ID_IN_URL.finditer(self.exchange.url):
                yield found[0].replace("%3A", ":")
            for text in self.texts:
                yield from ID.findall(text)


def requests_of(exchanges: Iterable[Exchange]) -> Iterator[Request]:
    """Yield what there is to repeat, as long as there is room in the script."""
    room = _MAX_CHARACTERS
    for exchange in exchanges:
        request = Request(exchange)
        size = len(exchange.url) + sum(map(len, request.texts))
        yield request if size <= room else Request(exchange, left_out=True)
        room -= size if size <= room else 0


@dataclass(frozen=True)
class Base:
    """The base URL of the target: as it is written, its normalised origin, and its path."""

    url: str
    origin: str | None
    path: str

    @classmethod
    def of(cls, url: str) -> Base:
        """Take a base URL apart; one that is no URL of HTTP has an origin that no URL has."""
        parts = URL.fullmatch(url)
        return cls(url, None, "") if parts is None else cls(url, origin_of(parts), parts[3])

    def root(self, rest: str) -> tuple[str, int]:
        """Return what a URL of this origin begins with, and how much of ``rest`` that covers.

        ``rest`` is the URL after its host.
        """
        roots = (
            ("BASE_URL", self.path),
            ("BASE_URL%/*", self.path.rpartition("/")[0]),
            ("ORIGIN", ""),
        )
        return next(
            (variable, len(path))
            for variable, path in roots
            if rest.startswith(path) and rest[len(path) :][:1] in ("", "/", "?", "#")
        )


class Script(ABC):
    """A script that is being written.

    Args:
        base: the base URL of the target.
        variables: the environment variables of token id and client secret.
    """

    def __init__(self, base: Base, variables: tuple[str, str] = USUAL_VARIABLES) -> None:
        self.base = base
        self.variables = variables
        self.needed: set[str] = set()
        """The optional pieces of the script's head that its commands use."""

        self._known: dict[str, Variable] = {}
        """Ids that earlier responses brought, and where the script keeps those that come anew."""

    @abstractmethod
    def head(self) -> str:
        """Return what stands above the requests."""

    @abstractmethod
    def command(self, request: Request) -> str:
        """Return the line that sends a request.

        Raises:
            NotRepeatable: no such line sends it.
        """

    @abstractmethod
    def keep(self, number: int, command: str, taken: Mapping[str, list[Step]]) -> Iterator[str]:
        """Yield the lines that send a request and take ids out of its answer.

        Args:
            number: that of the request.
            command: the line that sends it.
            taken: where in the answer each id stands, by the variable that it goes to.
        """

    def write(self, requests: Sequence[Request]) -> str:
        """Return the whole script."""
        last_use = {name: at for at, request in enumerate(requests) for name in request.ids()}
        lines = [
            line
            for at, request in enumerate(requests)
            for line in self._repeat(at, request, last_use)
        ]
        return "".join((self.head(), *(f"{line}\n" for line in lines)))

    def _repeat(self, at: int, request: Request, last_use: Mapping[str, int]) -> Iterator[str]:
        """Yield the lines that repeat one request, and take over the ids that later ones use."""
        exchange, number = request.exchange, at + 1
        came = f"answered {exchange.status}" if exchange.status else exchange.error or "no answer"
        yield _comment(f"{number}. {exchange.operation}: {cut(came)}")
        try:
            command = self._command(request)
        except NotRepeatable as reason:
            yield _comment(f"Not sent again: {exchange.method} {cut(exchange.url)}: {reason}.")
            return
        for mark, meaning in _MARKS.items():
            if request.has(mark):
                yield _comment(meaning)
        used = _found(
            exchange.response_body,
            lambda value: last_use.get(value, 0) > at and value not in self._known,
        )
        if not used:
            yield command
            return
        taken = {
            f"id{len(self._known) + place}": path for place, path in enumerate(used.values(), 1)
        }
        yield from self.keep(number, command, taken)
        self._known.update(zip(used, map(Variable, taken), strict=True))

    def _command(self, request: Request) -> str:
        if request.left_out:
            told = f"the script is too long for it; the journal has {request.exchange.id}"
            raise NotRepeatable(told)
        for name, value in request.headers.items():
            if "\r" in value or "\n" in value:
                raise NotRepeatable(f"its header {name} has more than one line")
        if request.body is not None and _SHORTENED.search(request.body):
            raise NotRepeatable("its body was not recorded as a whole")
        return self.command(request)

    def parts(self, pattern: re.Pattern[str], text: str, start: int = 0) -> list[Part]:
        """Return ``text`` as parts of a word: from ``start`` on, known ids are variables."""
        parts: list[Part] = []
        end = 0
        for found in pattern.finditer(text, start):
            variable = self._known.get(found[0].replace("%3A", ":"))
            if variable is not None:
                parts += [text[end : found.start()], variable]
                end = found.end()
        return [*parts, text[end:]]


def _comment(text: str) -> str:
    return "# " + visible(text).replace("\n", "\\n")


def cut(text: str) -> str:
    """Return the beginning of a text that is longer than a person wants to read."""
    return text if len(text) <= MAX_CHARS else f"{text[:MAX_CHARS]}… ({len(text)} characters)"


def origin_of(url: re.Match[str]) -> str | None:
    """Return the normalised origin of a URL that was taken apart; ``None`` where it has none."""
    # What stands behind the host may have no form in a URL, and is sent as it is all the same.
    return origin(f"{url[1]}://{url[2]}")


def _found(body: Any, is_wanted: Callable[[str], bool]) -> dict[str, list[Step]]:
    """Return the wanted ids that a response holds, each with the path to its first place.

    The first place is the nearest to the resource itself. Left out are names that the script
    would not find again.
    """
    found: dict[str, list[Step]] = {}
    for value, place in _members(body, _MAX_MEMBERS):
        if isinstance(value, str) and place and value not in found and is_wanted(value):
            path = _path(place)
            if all(isinstance(name, int) or _NAME.fullmatch(name) for name in path):
                found[value] = list(_steps(body, path))
    return found


def _members(body: Any, most: int) -> Iterator[tuple[Any, _Place]]:
    """Yield a value and what it holds, each with its place, the nearest first."""
    queue: deque[tuple[Any, _Place]] = deque([(body, ())])
    for _ in range(most):
        if not queue:
            break
        value, place = queue.popleft()
        yield value, place
        if isinstance(value, dict):
            members = islice(value.items(), _MAX_WIDTH)
            queue.extend((member, (place, name)) for name, member in members)
        elif isinstance(value, list):
            queue.extend((v, (place, at)) for at, v in enumerate(islice(value, _MAX_WIDTH)))


def _path(place: _Place) -> list[str | int]:
    """Return the names and indices that lead to a place."""
    names = []
    while place:
        place, name = place
        names.append(name)
    return names[::-1]


def _steps(body: Any, path: Sequence[str | int]) -> Iterator[Step]:
    """Yield the steps of a path: rows by what tells them apart from the others, where it does."""
    value = body
    for name in path:
        if isinstance(name, int) and len(value) > 1:
            yield _told_apart(value[:_MAX_WIDTH], name) or name
        else:
            yield name
        value = value[name]


def _told_apart(rows: Sequence[Any], index: int) -> Row | None:
    """Return a row by the code that no other row has there; ``None`` where there is none."""
    others = {code for at, row in enumerate(rows) if at != index for code in _codes(row)}
    return next((code for code in _codes(rows[index]) if code not in others), None)


def _codes(row: Any) -> Iterator[Row]:
    """Yield the codes that a row has, with their places: currencies and types, but no status."""
    for value, place in _members(row, _MAX_WIDTH):
        if isinstance(value, str) and _CODE.fullmatch(value):
            at = _path(place)
            names = tuple(name for name in at if isinstance(name, str) and _NAME.fullmatch(name))
            if at and len(names) == len(at) and "status" not in names[-1].lower():
                yield Row(names, value)


def _as_json(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return TOO_DEEP
    # Half a character has no form but that of an escape.
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)
