"""The recording client: sends requests, bounds and judges what comes back, writes it all down."""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Callable, Collection, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx

from conformance.client.content import decode, text
from conformance.client.journal import Exchange, Journal
from conformance.client.redaction import Redactor
from conformance.client.transcript import visible
from conformance.contract.document import Operation
from conformance.contract.judge import Finding, Judge, Verdict, error_code
from conformance.target.addresses import same_origin
from conformance.target.deadline import within
from conformance.target.profile import Environment
from conformance.target.target import Target
from conformance.target.tls import tls_context
from conformance.verdict.decisions import (
    BudgetSpent,
    HarnessError,
    Irrevocable,
    ReadOnly,
    ResourceMissing,
    TargetLost,
    TriggerFailed,
    TwinRefused,
)

_LARGEST_BODY = 8 * 1024 * 1024
_LONGEST_BY_CHANCE = 8
_REFUSALS = (400, 401, 403, 404, 409, 412, 422, 423, 424)
_UNAUTHORIZED = 401
_TOO_MANY = 429
_LIMIT_CODES = frozenset({"DAILY_VOLUME_LIMIT_EXCEEDED"})
_MOST_REPEATS = 5
_LONGEST_PAUSE = 5.0
_LONGEST_PACE = 600.0
"""Who asks to wait for longer limits something else than the pace of requests."""

_LONGEST_SHOWN = 200_000
_SHOWN_OF_LONG = 200
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_SHOWN = "shown"
_TARGET = "target"
"""What goes over the wire in the place of the URL's path and query."""

# The same in every run, so that two runs send the same bytes.
_FORM_HEADERS = {"content-type": "multipart/form-data; boundary=payments-conformance-9f1c27e4"}


@dataclass(frozen=True, slots=True)
class File:
    """A file as a part of a multipart form."""

    name: str
    media_type: str
    content: bytes = field(repr=False)

    def __str__(self) -> str:
        return f"<file {self.name}, {self.media_type}, {len(self.content)} bytes>"


Form = Mapping[str, str | File]
"""The parts of a multipart form by their names."""


class Flooded(TargetLost):
    """The target sent more than the client is willing to read, or took too long over it."""


@dataclass(frozen=True, slots=True, repr=False)
class Answer:
    """What the target answered to one request.

    ``body`` is the decoded JSON value, or ``None`` where there is none.
    """

    operation: Operation
    status: int
    headers: Mapping[str, str]
    body: Any
    exchange: Exchange

    @property
    def accepted(self) -> bool:
        """Whether the status is a success (2xx)."""
        return httpx.codes.is_success(self.status)

    @property
    def code(self) -> str | None:
        """The ``code`` of the error object, if the body is one."""
        return error_code(self.body)

    def refused(self, *expected: int | str, twin: Answer) -> None:
        """Assert that the request was refused, and for its fault.

        Args:
            expected: HTTP statuses and error codes, one of each of which must have come;
                without a status any documented client error counts, without a code any code.
            twin: the answer to the same request without the fault, sent in the same test.

        Raises:
            TwinRefused: the twin was not accepted, so that the refusal would prove nothing.
            HarnessError: the twin is no call of the same operation.
            AssertionError: the request was accepted, or refused in another way.
        """
        __tracebackhide__ = True
        statuses = [item for item in expected if isinstance(item, int)] or _REFUSALS
        codes = [item for item in expected if isinstance(item, str)]
        # Accepting it may have used up what the twin needs, so the twin does not matter then.
        assert not self.accepted, f"expected a refusal with {_either(statuses)}, got {self}"
        if not twin.accepted:
            raise TwinRefused(f"without the fault it was refused too: {twin}")
        if twin.operation.id != self.operation.id:
            raise HarnessError(f"{twin.operation.id} cannot be the twin of {self.operation.id}")
        assert self.status in statuses, (
            f"expected a refusal with {_either(statuses)}, got {self}\nthe accepted twin: {twin}"
        )
        assert not codes or self.code in codes, (
            f"expected the code {_either(codes)}, got {self}\nthe accepted twin: {twin}"
        )

    def denied(self, *codes: str, twin: Answer) -> None:
        """Assert that the request was refused with 401, and for its credentials.

        Unlike that of another fault, the twin need not be accepted: where it is refused as well,
        but not for its credentials, they are what made the difference.

        Args:
            codes: error codes, one of which must have come; without any, any code.
            twin: the answer to the same request with the right credentials.

        Raises:
            TwinRefused: the right credentials were refused too.
            ResourceMissing: both were refused for something else, so that there is no telling
                whether the credentials would have been looked at.
            AssertionError: the request was accepted, or refused in another way.
        """
        __tracebackhide__ = True
        if not (self.accepted or twin.accepted):
            if twin.status == _UNAUTHORIZED:
                raise TwinRefused(f"with the right credentials it was refused too: {twin}")
            if self.status != _UNAUTHORIZED:
                raise ResourceMissing(f"whoever sends it, it is refused: {self}, {twin}")
        assert not self.accepted, f"expected a refusal with {_UNAUTHORIZED}, got {self}"
        assert self.status == _UNAUTHORIZED, (
            f"expected a refusal with {_UNAUTHORIZED}, got {self}\nthe accepted twin: {twin}"
        )
        assert not codes or self.code in codes, f"expected the code {_either(codes)}, got {self}"

    def __repr__(self) -> str:
        # What ``assert answer.accepted, answer`` shows.
        shown = visible(json.dumps(self.exchange.response_body, ensure_ascii=False))
        if len(shown) > 300:  # noqa: PLR2004
            shown = f"{shown[:300]}…"
        return f"{self.operation.id} → {self.status} {shown}"


@dataclass(frozen=True, slots=True)
class Credentials:
    """The platform's, for wrong ones to be made of."""

    token_id: str = field(repr=False)
    client_secret: str = field(repr=False)


class Header(httpx.Auth):
    """Sends an ``Authorization`` header as it is; ``None`` for none."""

    def __init__(self, value: str | None) -> None:
        self._value = value

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Put the header into the request."""
        if self._value is not None:
            request.headers["Authorization"] = self._value
        yield request


Listener = Callable[[Exchange, tuple[Finding, ...], tuple[str, ...]], None]
"""Told of every exchange, its findings and what was observed beside them."""


class RecordingClient:
    """Sends the requests of a run to its target.

    Everything is bounded: size, depth and time of a response, number of requests, and nothing
    but safe methods goes to a target that is not a sandbox. Redirects are not followed. Every
    response is judged against the OpenAPI document, and every request that is meant to be valid
    too. Safe to use from several threads.
    """

    def __init__(self, target: Target, judge: Judge, journal: Journal) -> None:
        self._target = target
        self._judge = judge
        self._journal = journal
        self._redact, self._redact_echo = _redactors(target.secrets)
        self._hide_secret = Redactor(_surely(target.client_secret), members=())
        self._concealed: tuple[str, frozenset[str]] = ("", frozenset())
        self._sent = 0
        self._created = 0
        self._lock = threading.Lock()
        self._auth = httpx.BasicAuth(target.token_id, target.client_secret)
        self.listener: Listener = lambda *_: None
        self.test = ""
        self._http = httpx.Client(
            verify=tls_context(target.profile, os.environ),
            timeout=httpx.Timeout(target.profile.timing.request),
            follow_redirects=False,
            trust_env=False,
            limits=httpx.Limits(max_connections=64, max_keepalive_connections=64),
            headers={"accept": "application/json"},
        )

    def close(self) -> None:
        """Close all connections."""
        self._http.close()

    def credentials(
        self, *, token_id: str | None = None, client_secret: str | None = None
    ) -> httpx.Auth:
        """Return the target's credentials with other parts in the place of those given."""
        return httpx.BasicAuth(
            token_id or self._target.token_id, client_secret or self._target.client_secret
        )

    def presenting(self, made: Callable[[Credentials], str | None]) -> httpx.Auth:
        """Return an ``Authorization`` header that ``made`` makes of the right credentials."""
        return Header(made(Credentials(self._target.token_id, self._target.client_secret)))

    @property
    def knows_secret(self) -> bool:
        """Whether the client secret, where it is met, is there by no chance."""
        return self._hide_secret.hides

    @property
    def base_url(self) -> str:
        """What every path of the interface is relative to; without a slash at its end."""
        return self._target.base_url

    @property
    def origin(self) -> str:
        """Scheme, host and port of the target."""
        return self._target.origin

    def conceal(self, *secrets: str) -> None:
        """Keep secrets that the target told out of everything that this test writes from now on."""
        with self._lock:
            test, known = self._concealed
            # Those of earlier tests are not met again.
            mine = (known if test == self.test else frozenset()) | set(secrets)
            self._concealed = (self.test, mine)
            self._redact, self._redact_echo = _redactors((*self._target.secrets, *mine))

    def call(
        self,
        name: str,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        form: Form | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        auth: httpx.Auth | None = None,
        valid: bool = True,
        judged: bool = True,
    ) -> Answer:
        """Call the operation ``name`` and return its answer, whatever its status.

        Args:
            name: the ``operationId``.
            path: values of the path's parameters.
            query: values of the query's parameters.
            body: the JSON body; ``None`` sends none.
            form: the parts of a multipart form, to send in the place of ``body``.
            content: bytes to send in the place of ``body``.
            headers: further headers.
            auth: other credentials than the target's.
            valid: whether the request is meant to be valid by the OpenAPI document.
            judged: whether the answer is judged by the document; it cannot be where something in
                front of the implementation may have answered.

        Raises:
            HarnessError: the request is meant to be valid and is not.
            ReadOnly: the target is no sandbox and the method is not safe.
            Irrevocable: nothing can undo the operation, and the profile does not permit it.
            BudgetSpent: the profile allows no more requests.
            TargetLost: no complete response came.
        """
        operation = self._judge.document.operations[name]
        shown = body if form is None else {name: str(part) for name, part in form.items()}
        if valid and (errors := self._judge.request_errors(operation, shown)):
            raise HarnessError(f"the request to {name} was meant to be valid: {'; '.join(errors)}")
        url = operation.path.format(**{k: quote(v, safe=":") for k, v in (path or {}).items()})
        request = self._http.build_request(
            operation.method,
            self._target.base_url + url,
            params=None if query is None else {k: v for k, v in query.items() if v is not None},
            json=body,
            files=None if form is None else _parts(form),
            content=content,
            headers={**(_FORM_HEADERS if form else {}), **(headers or {})},
        )
        if form is not None:
            request.extensions[_SHOWN] = shown
        answer = self._ask(operation, request, auth or self._auth, valid=valid, judged=judged)
        for _ in range(_MOST_REPEATS):
            if (pause := _throttled(answer)) is None:
                break
            time.sleep(pause)
            answer = self._ask(operation, request, auth or self._auth, valid=valid, judged=judged)
        return answer

    def stray(
        self,
        name: str,
        *,
        method: str | None = None,
        path: str | None = None,
        content: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        auth: httpx.Auth | None = None,
    ) -> Answer:
        """Send a request that is almost one of the operation ``name``, and return the answer.

        Who answers what the interface does not have is not certain, so that nothing is judged.

        Args:
            name: the ``operationId``.
            method: another method than that of the operation.
            path: another path, which goes over the wire as it is written; by default below the
                base URL, and below the origin of the target if it begins with the origin.
            content: the body.
            headers: further headers.
            auth: other credentials than the target's.

        Raises:
            ReadOnly, BudgetSpent, TargetLost: as of :meth:`call`.
        """
        operation = self._judge.document.operations[name]
        method = method or operation.method
        base = "" if path is not None and path.startswith(self.origin) else self._target.base_url
        url = base + (operation.path if path is None else path)
        request = self._http.build_request(method, url, content=content, headers=headers)
        sent = url.removeprefix(self.origin).encode("ascii")
        request.extensions[_TARGET] = sent
        self._admit(method, name)
        response, received, seconds = self._send(request, auth or self._auth, name)
        parsed, is_json = decode(received)
        parsed = self._redact_echo.json(parsed)
        exchange = self._note(
            request, response, name, parsed if is_json else text(received), seconds
        )
        self.listener(exchange, (), ())
        return Answer(operation, response.status_code, response.headers, parsed, exchange)

    def _ask(
        self,
        operation: Operation,
        request: httpx.Request,
        auth: httpx.Auth,
        *,
        valid: bool,
        judged: bool,
    ) -> Answer:
        name = operation.id
        self._admit(operation.method, name)
        response, received, seconds = self._send(request, auth, name)
        parsed, is_json = decode(received)
        parsed = self._redact_echo.json(parsed)
        exchange = self._note(
            request, response, name, parsed if is_json else text(received), seconds
        )
        verdict = Verdict(())
        if judged:
            verdict = self._judge.response(
                operation,
                response.status_code,
                response.headers.get("content-type", "").partition(";")[0].strip().lower(),
                parsed,
                intended=valid,
                is_json=is_json,
            )
        findings = (*verdict.findings, *self._told_secret(name, response, received))
        self.listener(exchange, findings, verdict.observations)
        return Answer(operation, response.status_code, response.headers, parsed, exchange)

    def _told_secret(
        self, name: str, response: httpx.Response, received: bytes
    ) -> Iterator[Finding]:
        """Yield whether a response keeps the client secret to itself, in header and body."""
        requirement = self._judge.document.raw["x-judge"].get("secret")
        if requirement is None or not self.knows_secret:
            return
        headers = "\n".join(f"{key}: {value}" for key, value in response.headers.items())
        # Also as the value of a member whose characters are written as escapes.
        value, is_json = decode(received)
        shown = json.dumps(value, ensure_ascii=False) if is_json else ""
        held = [
            place
            for place, content in (("header", headers), ("body", f"{text(received)}\n{shown}"))
            if self._hide_secret.text(content) != content
        ]
        detail = f"{name} answered {response.status_code} with the client secret in its "
        yield Finding(requirement, not held, detail + " and its ".join(held) if held else "")

    def trigger(
        self, method: str, url: str, body: Any, secrets: Collection[str] = ()
    ) -> tuple[int, Any]:
        """Send a request of the profile's triggers; return its status and decoded body.

        The suite's credentials go along only to the origin of the target. What the members of the
        answer hold that ``secrets`` names is written nowhere.

        Raises:
            ReadOnly: the target is no sandbox.
            TriggerFailed: the URL is none.
            TargetLost: no complete response came.
        """
        self._admit(method, "trigger")
        try:
            request = self._http.build_request(method, url, json=body)
        except httpx.InvalidURL as error:
            raise TriggerFailed(f"the profile leads to {url}, which is no URL: {error}") from error
        ours = same_origin(str(request.url), self._target.origin)
        response, received, seconds = self._send(request, self._auth if ours else None, "trigger")
        parsed, is_json = decode(received)
        if secrets and isinstance(parsed, dict):
            told = (parsed.get(name) for name in secrets)
            self.conceal(*(secret for secret in told if isinstance(secret, str)))
        shown = parsed if is_json else text(received)
        exchange = self._note(request, response, "trigger", shown, seconds)
        self.listener(exchange, (), ())
        return response.status_code, parsed

    def _admit(self, method: str, name: str) -> None:
        profile = self._target.profile
        if method not in _SAFE and profile.environment is not Environment.SANDBOX:
            raise ReadOnly(f"{name} changes something, and the profile does not say sandbox")
        if (word := profile.irreversible.lacks(name)) is not None:
            raise Irrevocable(
                f"{name} is not sent: nothing can undo it, and the profile does not say "
                f"{word}: true"
            )
        with self._lock:
            self._sent += 1
            self._created += method == "POST"
            if self._sent > profile.budget.requests:
                raise BudgetSpent(f"budget.requests of {profile.budget.requests} is spent")
            if self._created > profile.budget.created:
                raise BudgetSpent(f"budget.created of {profile.budget.created} is spent")

    def _send(
        self, request: httpx.Request, auth: httpx.Auth | None, name: str
    ) -> tuple[httpx.Response, bytes, float]:
        started = time.perf_counter()
        limit = self._target.profile.timing.request
        try:
            response, content = within(limit, lambda: self._receive(request, auth))
        except (httpx.HTTPError, httpx.StreamError) as error:
            self._fail(request, name, str(error) or type(error).__name__, started)
            raise TargetLost(
                f"{name} got no complete response from {self._target.base_url}: "
                f"{str(error) or type(error).__name__}"
            ) from error
        except TimeoutError:
            message = f"the response took longer than timing.request of the profile, {limit:g} s"
            self._fail(request, name, message, started)
            raise Flooded(f"{name}: {message}") from None
        except Flooded as error:
            self._fail(request, name, str(error), started)
            raise
        return response, content, time.perf_counter() - started

    def _receive(
        self, request: httpx.Request, auth: httpx.Auth | None
    ) -> tuple[httpx.Response, bytes]:
        response = self._http.send(request, auth=auth, stream=True)
        try:
            return response, _bounded(response)
        finally:
            response.close()

    def _fail(self, request: httpx.Request, name: str, error: str, started: float) -> None:
        seconds = time.perf_counter() - started
        exchange = self._note(request, None, name, None, seconds, error=self._redact.text(error))
        self.listener(exchange, (), ())

    def _note(
        self,
        request: httpx.Request,
        response: httpx.Response | None,
        name: str,
        body: Any,
        seconds: float,
        *,
        error: str = "",
    ) -> Exchange:
        # Files would be long and hard to read.
        sent = request.extensions.get(_SHOWN) or _shown(request.read())
        exchange = Exchange(
            id=self._journal.number(),
            test=self.test,
            operation=name,
            method=request.method,
            url=self._redact.text(self._url_of(request)),
            request_headers=self._redact.headers(request.headers),
            request_body=self._redact.json(sent),
            status=0 if response is None else response.status_code,
            response_headers={} if response is None else self._redact.headers(response.headers),
            response_body=self._redact.json(body),
            seconds=round(seconds, 6),
            error=error,
            at=time.time(),
        )
        self._journal.exchange(exchange)
        return exchange

    def _url_of(self, request: httpx.Request) -> str:
        """Return the URL as it goes over the wire."""
        if _TARGET not in request.extensions:
            return str(request.url)
        target: bytes = request.extensions[_TARGET]
        return self.origin + target.decode()


def _redactors(secrets: Iterable[str]) -> tuple[Redactor, Redactor]:
    """Return what removes secrets from what is written, and from what an answer echoes.

    Credentials that an answer echoes would get into the messages of assertions. Short ones may
    stand in an answer by chance, and are masked where it is written only.
    """
    known = tuple(secrets)
    echoed = (secret for secret in known if _surely(secret))
    return Redactor(known), Redactor(echoed, members=())


def _surely(secret: str) -> tuple[str, ...]:
    """Return a secret that stands nowhere by chance; none where it is too short for that."""
    return (secret,) if len(secret) > _LONGEST_BY_CHANCE else ()


def _parts(form: Form) -> list[tuple[str, tuple[str | None, str | bytes, str | None]]]:
    return [
        (name, (part.name, part.content, part.media_type))
        if isinstance(part, File)
        else (name, (None, part, None))
        for name, part in form.items()
    ]


def _bounded(response: httpx.Response) -> bytes:
    parts: list[bytes] = []
    size = 0
    for part in response.iter_bytes():
        size += len(part)
        if size > _LARGEST_BODY:
            raise Flooded(f"the response is larger than {_LARGEST_BODY} bytes")
        parts.append(part)
    return b"".join(parts)


def _shown(content: bytes) -> Any:
    if len(content) > _LONGEST_SHOWN:
        return f"{text(content[:_SHOWN_OF_LONG])}… ({len(content)} bytes)"
    value, is_json = decode(content)
    return value if is_json else text(content)


def _throttled(answer: Answer) -> float | None:
    """Return for how many seconds the target asks to wait, where it answered for the pace alone.

    Rates of requests are not shown in the specification (Limits, line 503).
    """
    after = answer.headers.get("retry-after", "")
    if answer.status != _TOO_MANY or answer.code in _LIMIT_CODES or not after.isdigit():
        return None
    if float(after) > _LONGEST_PACE:
        return None
    return min(float(after), _LONGEST_PAUSE)


def _either(options: Iterable[object]) -> str:
    return " or ".join(map(str, options))
