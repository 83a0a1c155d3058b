"""Writes Python scripts that send the requests of a test again, with nothing but Python."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from conformance.exchange.chain import (
    FILE,
    ID,
    ID_IN_URL,
    URL,
    USUAL_VARIABLES,
    Base,
    NotRepeatable,
    Request,
    Row,
    Script,
    Step,
    origin_of,
    requests_of,
)
from conformance.exchange.journal import Exchange
from conformance.exchange.shell import Part, Variable

_HEAD = '''\
#!/usr/bin/env python3
"""Sends the requests of a test again.

Needs Python 3.11, and {token_id} and {client_secret} in the environment.
"""

import base64
import http.client
import json
import os
import pathlib
import re
import sys
from urllib.parse import urlsplit

BASE_URL = os.environ.get("BASE_URL") or {base_url}
PARENT = BASE_URL.rpartition("/")[0]
ORIGIN = "{{0.scheme}}://{{0.netloc}}".format(urlsplit(BASE_URL))
DOCUMENTS = pathlib.Path(os.environ.get("DOCUMENTS") or "fixtures/documents")
SECONDS = 60


def call(method, url, headers=(), body=None):
    """Send a request, print the answer, and return its JSON value."""
    scheme, host, path = re.fullmatch("(?s)(.*?)://([^/?#]*)([^#]*).*", url).groups()
    kinds = {{"http": http.client.HTTPConnection, "https": http.client.HTTPSConnection}}
    connection = kinds[scheme.lower()](host, timeout=SECONDS)
    path = path if path.startswith("/") else "/" + path
    try:
        connection.putrequest(method, path, skip_accept_encoding=True)
        for name, value in headers:
            connection.putheader(name, value)
        if body is not None or method in ("POST", "PUT", "PATCH"):
            connection.putheader("Content-Length", str(len(body or b"")))
        connection.endheaders(body)
        answer = connection.getresponse()
        text = answer.read().decode("utf-8", "replace")
    except (OSError, http.client.HTTPException) as error:
        print(f"no answer: {{error!r}}")
        return None
    finally:
        connection.close()
    # Question marks stand for what could steer the terminal.
    print(answer.status, re.sub("[^\\t\\n -~]", "?", text))
    try:
        return json.loads(text)
    except ValueError:
        return None


def api(method, url, headers=(), body=None):
    """Send a request with the credentials."""
    pair = os.environ[{token_id!r}] + ":" + os.environ[{client_secret!r}]
    token = base64.b64encode(pair.encode()).decode()
    return call(method, url, [("Authorization", "Basic " + token), *headers], body)
'''
_TAKE = '''

def member(row, at):
    """Return what stands at a place of a row, or nothing."""
    for name in at:
        row = row.get(name) if isinstance(row, dict) else None
    return row


def take(answer, *path):
    """Return the id that stands at a place of an answer.

    A step that is a tuple stands for a row of a list: the first with a code at a place.
    """
    for step in path:
        try:
            if isinstance(step, tuple):
                *at, code = step
                answer = next(row for row in answer if member(row, at) == code)
            else:
                answer = answer[step]
        except (LookupError, TypeError, StopIteration):
            sys.exit(f"the answer has no id at {path}")
    if not isinstance(answer, str) or not re.fullmatch("[A-Za-z]+:[A-Za-z0-9._~:-]+", answer):
        sys.exit(f"the answer has no id at {path}")
    return answer
'''
_TEXT = '''

def sent(text):
    """Return the bytes of a text; half a character becomes the bytes that UTF-8 would have."""
    return text.encode("utf-8", "surrogatepass")
'''
_FORM = '''

def form(boundary, *parts):
    """Return a form; a part is a name with a text, or with name, media type and size of a file."""
    for name, *told in parts:
        head = f'--{boundary}\\r\\nContent-Disposition: form-data; name="{name}"'
        if len(told) == 1:
            yield sent(f"{head}\\r\\n\\r\\n{told[0]}\\r\\n")
            continue
        file, media_type, size = told
        path = DOCUMENTS / file
        # It is cut or filled up to the size that was sent.
        content = (path.read_bytes() if path.is_file() else b"")[:size].ljust(size, b"\\0")
        yield sent(f'{head}; filename="{file}"\\r\\nContent-Type: {media_type}\\r\\n\\r\\n')
        yield content + b"\\r\\n"
    yield sent(f"--{boundary}--\\r\\n")
'''
_BOUNDARY = "part-of-the-form-6f1c0d3a"
_UNQUOTABLE = set('"\\\r\n')
_ROOTS = {"BASE_URL": "BASE_URL", "BASE_URL%/*": "PARENT", "ORIGIN": "ORIGIN"}
"""The variables of this script for those that a URL of the target begins with."""


def python_chain(
    exchanges: Iterable[Exchange], base_url: str, variables: tuple[str, str] = USUAL_VARIABLES
) -> str:
    """Return a Python script that repeats the requests, as ``curl_chain`` does with a shell.

    It needs no package. Args and what holds of it are those of ``curl_chain``.
    """
    return _PythonScript(Base.of(base_url), variables).write(list(requests_of(exchanges)))


class _PythonScript(Script):
    """A Python script that is being written."""

    def head(self) -> str:
        """Return what stands above the requests."""
        token_id, client_secret = self.variables
        head = _HEAD.format(
            base_url=_literal(self.base.url), token_id=token_id, client_secret=client_secret
        )
        pieces = (piece for piece in (_TAKE, _TEXT, _FORM) if piece in self.needed)
        return "".join((head, *pieces, "\n\n"))

    def keep(self, number: int, command: str, taken: Mapping[str, list[Step]]) -> Iterator[str]:
        """Yield the lines that send a request and take ids out of its answer."""
        self.needed.add(_TAKE)
        yield f"answer{number} = {command}"
        for variable, path in taken.items():
            steps = ", ".join(ascii(_row(step) if isinstance(step, Row) else step) for step in path)
            yield f"{variable} = take(answer{number}, {steps})"

    def command(self, request: Request) -> str:
        """Return the call of the function that sends a request."""
        exchange = request.exchange
        function, url = self._url(exchange)
        headers = dict(request.headers)
        if request.form:
            headers["content-type"] = f"multipart/form-data; boundary={_BOUNDARY}"
        words = [_literal(_ascii("method", exchange.method)), url]
        if headers or request.body is not None:
            pairs = ", ".join(
                f"({_literal(name)}, {_literal(_latin(name, value))})"
                for name, value in headers.items()
            )
            words.append(f"[{pairs}]")
        if request.form:
            words.append(self._form(request.form))
        elif request.body is not None:
            self.needed.add(_TEXT)
            words.append(f"sent({_expression(*self.parts(ID, request.body))})")
        return f"{function}({', '.join(words)})"

    def _url(self, exchange: Exchange) -> tuple[str, str]:
        """Return the function that sends a request, and the expression of its URL.

        Ids are taken over only after the host, which no answer may choose.
        """
        url = _ascii("URL", exchange.url)
        parts = URL.fullmatch(url)
        if parts is None:
            raise NotRepeatable("this is no URL of HTTP")
        if self.base.origin is None or origin_of(parts) != self.base.origin:
            return "call", _expression(*self.parts(ID_IN_URL, url, parts.start(3)))
        root, covered = self.base.root(parts[3])
        below = self.parts(ID_IN_URL, parts[3][covered:])
        return "api", _expression(Variable(_ROOTS[root]), *below)

    def _form(self, form: Mapping[str, str]) -> str:
        """Return the expression of a form."""
        self.needed.update((_TEXT, _FORM))
        parts = []
        for name, part in form.items():
            if set(name) & _UNQUOTABLE:
                raise NotRepeatable("the name of a part of its form cannot be quoted")
            if file := FILE.fullmatch(part):
                told = f"{_literal(file[1])}, {_literal(file[2])}, {int(file[3])}"
            else:
                told = _expression(*self.parts(ID, part))
            parts.append(f"({_literal(name)}, {told})")
        return f"b''.join(form({', '.join((_literal(_BOUNDARY), *parts))}))"


def _row(row: Row) -> tuple[str, ...]:
    """Return a row as a step of the script's own."""
    return (*row.at, row.code)


def _expression(*parts: Part) -> str:
    """Return the expression of the text that the parts make together."""
    pieces = (
        part.expression if isinstance(part, Variable) else _literal(part) for part in parts if part
    )
    return " + ".join(pieces) or "''"


def _literal(text: str) -> str:
    """Return a literal in ASCII, so that the script holds nothing that is not seen."""
    return ascii(text)


def _ascii(what: str, text: str) -> str:
    """Return what stands in the first line of a request.

    Raises:
        NotRepeatable: Python's client does not send it.
    """
    if not text.isascii() or any(character <= " " or character == "\x7f" for character in text):
        raise NotRepeatable(f"Python does not send a {what} with blanks or what is not ASCII")
    return text


def _latin(name: str, value: str) -> str:
    """Return the value of a header.

    Raises:
        NotRepeatable: Python's client does not send it.
    """
    try:
        value.encode("latin-1")
    except UnicodeEncodeError:
        raise NotRepeatable(f"Python does not send its header {name}") from None
    return value
