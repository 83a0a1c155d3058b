"""Shows exchanges to a person, and as commands that repeat them."""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import Any

from conformance.exchange.journal import Exchange
from conformance.exchange.shell import Part, Variable, spell
from conformance.text.addresses import origin
from conformance.text.characters import visible

_MAX_CHARS = 1200
_TOLD = frozenset({"idempotency-key", "service-wallet-signature", "request-id"})
_FORM = "multipart/form-data"
_MAX_ARGUMENT_BYTES = 120_000
"""Linux takes 131,072 bytes; what a variable holds comes on top."""

_MAX_MEMBERS = 5_000
_MAX_WIDTH = 500
"""How many members of a response, and of each list and object in it, are searched for ids."""

_MAX_CHARACTERS = 1_000_000
"""How many characters of URLs and bodies one script repeats."""

# A name without a slash stays within the folder of documents, whoever chose it.
_FILE = re.compile(r"<file ([\w. -]+), ([\w.+-]+/[\w.+-]+), (\d{1,9}) bytes>", re.ASCII)
_TOO_DEEP = "… (nested too deeply)"
_SHORTENED = re.compile(r"… \((?:\d+ bytes|nested too deeply)\)\Z")
_URL = re.compile(r"(https?)://([^/?#]+)(.*)", re.IGNORECASE | re.DOTALL)

# No character of an id means anything else in a URL, in JSON, in a header or in a form.
_ID = re.compile(r"(?<![A-Za-z])[A-Za-z]++:[A-Za-z0-9._~:-]+")
_ID_IN_URL = re.compile(r"(?<![A-Za-z])[A-Za-z]++(?::|%3A)(?:[A-Za-z0-9._~:-]|%3A)+")
_NAME = re.compile(r"(?!.*\*\*\*)[\x20-\x7e]*")
_ENCODER = json.JSONEncoder(ensure_ascii=False)
_HALF = re.compile("[\ud800-\udfff]")

_HEAD = """\
#!/bin/sh
# Needs curl and jq, {token_id} and {client_secret}.
BASE_URL=${{BASE_URL:-{base_url}}}
# Question marks stand for what is not ASCII in an answer: it could steer the terminal.
call() {{ curl -gsS --path-as-is "$@" | LC_ALL=C tr -c '\\11\\12\\40-\\176' '?'; echo; }}
api() {{ call -u "${token_id}:${client_secret}" "$@"; }}
"""
_ORIGIN = """\
host=${BASE_URL#*://}
ORIGIN=${BASE_URL%%://*}://${host%%/*}
"""
_TAKE = """\
# Takes an id out of an answer: take ANSWER PATH
take() {
    taken=$(printf '%s' "$1" | jq -r --argjson path "$2" 'getpath($path) | strings') || taken=
    case $taken in
        *[!A-Za-z0-9._~:-]*) ;;
        [A-Za-z]*:?*) return ;;
    esac
    printf 'the answer has no id at %s\\n' "$2" >&2
    exit 1
}
"""
_FILES = """\
# Files come from the folder $DOCUMENTS, cut or filled up to the size that was sent.
DOCUMENTS=${DOCUMENTS:-fixtures/documents}
paper() { { cat "$DOCUMENTS/$1" || :; head -c "$2" /dev/zero; } | head -c "$2"; }
"""
_MARKS = {
    "***": "*** stands for a secret that was taken out, and is sent as it is.",
    "\ufffd": "Bytes that are no text were recorded as U+FFFD, and are sent as such.",
}


def transcript(exchanges: Iterable[Exchange]) -> str:
    """Return the requests and responses as text, in the order in which they happened."""
    return visible("\n".join(_describe(exchange) for exchange in exchanges))


USUAL_VARIABLES = ("PAYMENTS_API_TOKEN_ID", "PAYMENTS_API_CLIENT_SECRET")
"""The environment variables of the credentials, where a profile names no others."""


def curl_chain(
    exchanges: Iterable[Exchange], base_url: str, variables: tuple[str, str] = USUAL_VARIABLES
) -> str:
    """Return a shell script that repeats the requests with curl.

    ``variables`` are the names of the environment variables of token id and client secret. The
    secrets and the base URL are variables. An id that a response brought and a later request
    uses is taken from the repeated response, so that the chain works on fresh resources. Ids are
    those of the interface, ``Type:id``, of letters, digits and ``._~:-``; any other value is sent
    as it was recorded. The credentials go to the origin of the base URL alone. What no command can
    repeat is a comment that says why.
    """
    return _Script(_Base.of(base_url), variables).write(list(_requests(exchanges)))


_Place = tuple[Any, ...]
"""Where a member stands: the place of what it is a member of, and its name or index; or ``()``."""


class _NotRepeatable(Exception):
    """No command sends this request again; the message says why."""


@dataclass(frozen=True)
class _Request:
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

    def ids(self) -> Iterator[str]:
        """Yield what looks like an id in the URL and the body."""
        if not self.left_out:
            for found in _ID_IN_URL.finditer(self.exchange.url):
                yield found[0].replace("%3A", ":")
            for text in self.texts:
                yield from _ID.findall(text)


def _requests(exchanges: Iterable[Exchange]) -> Iterator[_Request]:
    """Yield what there is to repeat, as long as there is room in the script."""
    room = _MAX_CHARACTERS
    for exchange in exchanges:
        request = _Request(exchange)
        size = len(exchange.url) + sum(map(len, request.texts))
        yield request if size <= room else _Request(exchange, left_out=True)
        room -= size if size <= room else 0


@dataclass(frozen=True)
class _Base:
    """The base URL of the target: as it is written, its normalised origin, and its path."""

    url: str
    origin: str | None
    path: str

    @classmethod
    def of(cls, url: str) -> _Base:
        """Take a base URL apart; one that is no URL of HTTP has an origin that no URL has."""
        parts = _URL.fullmatch(url)
        return cls(url, None, "") if parts is None else cls(url, _origin(parts), parts[3])

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


@dataclass
class _Script:
    """A script that is being written."""

    base: _Base
    variables: tuple[str, str] = USUAL_VARIABLES
    known: dict[str, Variable] = field(default_factory=dict)
    """Ids that earlier responses brought, and where the script keeps those that come anew."""

    needed: set[str] = field(default_factory=set)
    """The optional pieces of the script's head that its commands use."""

    def write(self, requests: list[_Request]) -> str:
        """Return the whole script."""
        last_use = {name: at for at, request in enumerate(requests) for name in request.ids()}
        commands = [
            line
            for at, request in enumerate(requests)
            for line in self._repeat(at, request, last_use)
        ]
        token_id, client_secret = self.variables
        head = _HEAD.format(
            base_url=spell(self.base.url.replace("\0", "")),
            token_id=token_id,
            client_secret=client_secret,
        )
        pieces = [piece for piece in (_ORIGIN, _TAKE, _FILES) if piece in self.needed]
        return "".join((head, *pieces, *(f"{line}\n" for line in commands)))

    def _repeat(self, at: int, request: _Request, last_use: Mapping[str, int]) -> Iterator[str]:
        """Yield the lines that repeat one request, and take over the ids that later ones use."""
        exchange, number = request.exchange, at + 1
        yield _comment(f"{number}. {exchange.operation}: answered {exchange.status or 'nothing'}")
        try:
            command = " ".join(self._command(request))
        except _NotRepeatable as reason:
            yield _comment(f"Not sent again: {exchange.method} {_cut(exchange.url)}: {reason}.")
            return
        for mark, meaning in _MARKS.items():
            if mark in command:
                yield _comment(meaning)
        used = _found(
            exchange.response_body,
            lambda value: last_use.get(value, 0) > at and value not in self.known,
        )
        if not used:
            yield command
            return
        self.needed.add(_TAKE)
        yield f"r{number}=$({command}); printf '%s\\n' \"$r{number}\""
        for name, path in used.items():
            variable = f"id{len(self.known) + 1}"
            self.known[name] = Variable(variable)
            yield f'take "$r{number}" {spell(json.dumps(path))}; {variable}=$taken'

    def _command(self, request: _Request) -> list[str]:
        """Return the words of the command that repeats a request."""
        exchange, body = request.exchange, request.body
        if request.left_out:
            raise _NotRepeatable(f"the script is too long for it; the journal has {exchange.id}")
        words = [*self._start(exchange), *_headers(exchange, body)]
        if request.form:
            return self._with_form(words, request.form)
        return words if body is None else self._with_body(words, body)

    def _start(self, exchange: Exchange) -> list[str]:
        """Return the words for method and URL.

        Ids are taken over only after the host, which no answer may choose.
        """
        url, method = exchange.url, ["-X", _argument(exchange.method)]
        if exchange.method == "HEAD" and exchange.request_body is None:
            # Told by -X, curl would wait for the body that the answer does not have.
            method = ["--head"]
        parts = _URL.fullmatch(url)
        if parts is None:
            raise _NotRepeatable("this is no URL of HTTP")
        if self.base.origin is None or _origin(parts) != self.base.origin:
            return ["call", *method, _argument(*self._parts(_ID_IN_URL, url, parts.start(3)))]
        root, covered = self.base.root(parts[3])
        if root == "ORIGIN":
            self.needed.add(_ORIGIN)
        below = self._parts(_ID_IN_URL, parts[3][covered:])
        return ["api", *method, _argument(Variable(root), *below)]

    def _with_body(self, words: list[str], body: str) -> list[str]:
        """Return the words of a command that sends a body too."""
        if _SHORTENED.search(body):
            raise _NotRepeatable("its body was not recorded as a whole")
        if "\0" not in body and _fits(body):
            return [*words, "--data-raw", spell(*self._parts(_ID, body))]
        # Neither NUL nor what is very long can be an argument; printf is a part of the shell.
        pieces = body.split("\0")
        form = r"\000".join(["%s"] * len(pieces))
        texts = [spell(*self._parts(_ID, piece)) for piece in pieces]
        return ["printf", f"'{form}'", *texts, "|", *words, "--data-binary", "@-"]

    def _with_form(self, words: list[str], form: Mapping[str, str]) -> list[str]:
        """Return the words of a command that sends a form too, its file through a pipe."""
        pipe: list[str] = []
        parts: list[str] = []
        for name, part in form.items():
            if "=" in name:
                raise _NotRepeatable("curl cannot send a part of a form with = in its name")
            if file := _FILE.fullmatch(part):
                if pipe:
                    raise _NotRepeatable("its form has more than one file")
                self.needed.add(_FILES)
                pipe = ["paper", spell(file[1]), file[3], "|"]
                parts += ["--form", _argument(f'{name}=@-;filename="{file[1]}";type={file[2]}')]
            else:
                told = self._parts(_ID, f"{name}={part}", len(name) + 1)
                parts += ["--form-string", _argument(*told)]
        return [*pipe, *words, *parts]

    def _parts(self, pattern: re.Pattern[str], text: str, start: int = 0) -> list[Part]:
        """Return ``text`` as parts of a word: from ``start`` on, known ids are variables."""
        parts: list[Part] = []
        end = 0
        for found in pattern.finditer(text, start):
            variable = self.known.get(found[0].replace("%3A", ":"))
            if variable is not None:
                parts += [text[end : found.start()], variable]
                end = found.end()
        return [*parts, text[end:]]


def _headers(exchange: Exchange, body: str | None) -> Iterator[str]:
    """Yield the words for the headers that are not curl's own to send."""
    told = {name: value for name, value in exchange.request_headers.items() if name in _TOLD}
    if body is not None:
        told["content-type"] = exchange.request_headers.get("content-type", "")
    for name, value in told.items():
        if "\r" in value or "\n" in value:
            raise _NotRepeatable(f"its header {name} has more than one line")
        # A header with nothing after its colon is one that curl leaves out.
        header = f"{name}: {value}" if value.strip() else f"{name};"
        yield from ("-H", _argument(header))


def _origin(url: re.Match[str]) -> str | None:
    # What stands behind the host may have no form in a URL, and is sent as it is all the same.
    return origin(f"{url[1]}://{url[2]}")


def _argument(*parts: Part) -> str:
    """Return a word that can be an argument of a command."""
    literals = "".join(part for part in parts if isinstance(part, str))
    if "\0" in literals:
        raise _NotRepeatable("no argument of a command holds NUL")
    if not _fits(literals):
        raise _NotRepeatable("it is longer than an argument of a command can be")
    return spell(*parts)


def _fits(text: str) -> bool:
    return len(text.encode("utf-8", "surrogatepass")) <= _MAX_ARGUMENT_BYTES


def _comment(text: str) -> str:
    return "# " + visible(text).replace("\n", "\\n")


def _found(body: Any, is_wanted: Callable[[str], bool]) -> dict[str, list[Any]]:
    """Return the wanted ids that a response holds, each with the path to its first place.

    The first place is the nearest to the resource itself. Left out are names that the script
    would not find again.
    """
    found: dict[str, list[Any]] = {}
    queue: deque[tuple[Any, _Place]] = deque([(body, ())])
    for _ in range(_MAX_MEMBERS):
        if not queue:
            break
        value, place = queue.popleft()
        if isinstance(value, dict):
            members = islice(value.items(), _MAX_WIDTH)
            queue.extend((member, (place, name)) for name, member in members)
        elif isinstance(value, list):
            queue.extend((v, (place, at)) for at, v in enumerate(islice(value, _MAX_WIDTH)))
        elif isinstance(value, str) and place and value not in found and is_wanted(value):
            path = _path(place)
            if all(isinstance(name, int) or _NAME.fullmatch(name) for name in path):
                found[value] = path
    return found


def _path(place: _Place) -> list[Any]:
    """Return the names and indices that lead to a place."""
    names = []
    while place:
        place, name = place
        names.append(name)
    return names[::-1]


def _describe(exchange: Exchange) -> str:
    lines = [f"[{exchange.id}] {exchange.method} {_cut(exchange.url)}"]
    if exchange.request_body is not None:
        lines.append(f"    → {_short(exchange.request_body)}")
    if exchange.error:
        lines.append(f"    ← no response: {_cut(exchange.error)}")
    else:
        lines.append(
            f"    ← {exchange.status} ({exchange.seconds * 1000:.0f} ms) "
            f"{_short(exchange.response_body)}"
        )
    # No line of a message can pass for one of the transcript.
    return "\n".join(line.replace("\n", "\n      ") for line in lines)


def _short(value: Any) -> str:
    """Return the start of a body as text; of a long one no more is written than is shown."""
    if isinstance(value, str):
        return _cut(value)
    text = ""
    try:
        for piece in _ENCODER.iterencode(value):
            text += piece
            if len(text) > _MAX_CHARS:
                return f"{text[:_MAX_CHARS]}… (more than {_MAX_CHARS} characters)"
    except RecursionError:
        return text + _TOO_DEEP
    return text


def _cut(text: str) -> str:
    return text if len(text) <= _MAX_CHARS else f"{text[:_MAX_CHARS]}… ({len(text)} characters)"


def _as_json(value: Any) -> str:
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return _TOO_DEEP
    # Half a character has no form but that of an escape.
    return _HALF.sub(lambda half: f"\\u{ord(half[0]):04x}", text)
