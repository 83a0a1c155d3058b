"""Writes shell scripts that send the requests of a test again with curl."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict

from conformance.exchange.chain import (
    FILE,
    ID,
    ID_IN_URL,
    URL,
    USUAL_VARIABLES,
    Base,
    NotRepeatable,
    Request,
    Script,
    Step,
    origin_of,
    requests_of,
)
from conformance.exchange.journal import Exchange
from conformance.exchange.shell import Part, Variable, spell

_MAX_ARGUMENT_BYTES = 120_000
"""Linux takes 131,072 bytes; what a variable holds comes on top."""

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
# A row of a list is the first that has a code at a place.
ROWS='reduce $path[] as $step (.;
    if $step | type == "object"
    then map(select((getpath($step.at)? // null) == $step.code))[0]
    else .[$step] end) | strings'
take() {
    taken=$(printf '%s' "$1" | jq -r --argjson path "$2" "$ROWS") || taken=
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
    return _ShellScript(Base.of(base_url), variables).write(list(requests_of(exchanges)))


class _ShellScript(Script):
    """A shell script that is being written."""

    def head(self) -> str:
        """Return what stands above the requests."""
        token_id, client_secret = self.variables
        head = _HEAD.format(
            base_url=spell(self.base.url.replace("\0", "")),
            token_id=token_id,
            client_secret=client_secret,
        )
        return "".join(
            (head, *(piece for piece in (_ORIGIN, _TAKE, _FILES) if piece in self.needed))
        )

    def keep(self, number: int, command: str, taken: Mapping[str, list[Step]]) -> Iterator[str]:
        """Yield the lines that send a request and take ids out of its answer."""
        self.needed.add(_TAKE)
        yield f"r{number}=$({command}); printf '%s\\n' \"$r{number}\""
        for variable, path in taken.items():
            steps = json.dumps(path, default=asdict)
            yield f'take "$r{number}" {spell(steps)}; {variable}=$taken'

    def command(self, request: Request) -> str:
        """Return the command that sends a request."""
        return " ".join(self._words(request))

    def _words(self, request: Request) -> list[str]:
        """Return the words of the command that repeats a request."""
        exchange, body = request.exchange, request.body
        words = [*self._start(exchange), *_headers(request)]
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
        parts = URL.fullmatch(url)
        if parts is None:
            raise NotRepeatable("this is no URL of HTTP")
        if self.base.origin is None or origin_of(parts) != self.base.origin:
            return ["call", *method, _argument(*self.parts(ID_IN_URL, url, parts.start(3)))]
        root, covered = self.base.root(parts[3])
        if root == "ORIGIN":
            self.needed.add(_ORIGIN)
        below = self.parts(ID_IN_URL, parts[3][covered:])
        return ["api", *method, _argument(Variable(root), *below)]

    def _with_body(self, words: list[str], body: str) -> list[str]:
        """Return the words of a command that sends a body too."""
        if "\0" not in body and _fits(body):
            return [*words, "--data-raw", spell(*self.parts(ID, body))]
        # Neither NUL nor what is very long can be an argument; printf is a part of the shell.
        pieces = body.split("\0")
        form = r"\000".join(["%s"] * len(pieces))
        texts = [spell(*self.parts(ID, piece)) for piece in pieces]
        return ["printf", f"'{form}'", *texts, "|", *words, "--data-binary", "@-"]

    def _with_form(self, words: list[str], form: Mapping[str, str]) -> list[str]:
        """Return the words of a command that sends a form too, its file through a pipe."""
        pipe: list[str] = []
        parts: list[str] = []
        for name, part in form.items():
            if "=" in name:
                raise NotRepeatable("curl cannot send a part of a form with = in its name")
            if file := FILE.fullmatch(part):
                if pipe:
                    raise NotRepeatable("its form has more than one file")
                self.needed.add(_FILES)
                pipe = ["paper", spell(file[1]), file[3], "|"]
                parts += ["--form", _argument(f'{name}=@-;filename="{file[1]}";type={file[2]}')]
            else:
                told = self.parts(ID, f"{name}={part}", len(name) + 1)
                parts += ["--form-string", _argument(*told)]
        return [*pipe, *words, *parts]


def _headers(request: Request) -> Iterator[str]:
    """Yield the words for the headers that are not curl's own to send."""
    for name, value in request.headers.items():
        # A header with nothing after its colon is one that curl leaves out.
        yield from ("-H", _argument(f"{name}: {value}" if value.strip() else f"{name};"))


def _argument(*parts: Part) -> str:
    """Return a word that can be an argument of a command."""
    literals = "".join(part for part in parts if isinstance(part, str))
    if "\0" in literals:
        raise NotRepeatable("no argument of a command holds NUL")
    if not _fits(literals):
        raise NotRepeatable("it is longer than an argument of a command can be")
    return spell(*parts)


def _fits(text: str) -> bool:
    return len(text.encode("utf-8", "surrogatepass")) <= _MAX_ARGUMENT_BYTES
