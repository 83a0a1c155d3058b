"""The recording client: sends requests, bounds and judges what comes back, writes it all down."""

from __future__ import annotations

import itertools
import json
import os
import time
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, NoReturn

import httpx

from conformance.contract.document import Operation, media_type_of
from conformance.contract.judge import Finding, Judge, MessageFindings
from conformance.contract.sightings import Sightings
from conformance.exchange.answer import Answer
from conformance.exchange.budget import Budget
from conformance.exchange.clock import clock
from conformance.exchange.content import decode, text
from conformance.exchange.credentials import Credentials, Header
from conformance.exchange.cuts import AnswerLost, Cut, LineCut
from conformance.exchange.forms import FORM_HEADERS, Form, form_parts
from conformance.exchange.journal import BodyForm, Exchange, Journal
from conformance.exchange.lanes import lane
from conformance.exchange.network import Transport
from conformance.exchange.outage import Outage
from conformance.exchange.packed import MAX_BODY_BYTES, pack
from conformance.exchange.redaction import Redactor
from conformance.exchange.response import (
    CAPPED,
    MAX_PAUSE_SECONDS,
    TOO_MANY,
    ConnectionBroken,
    Failure,
    Response,
    ResponseTooSlow,
)
from conformance.profile.model import Environment
from conformance.sut.reading import (
    ACCEPT_ENCODING,
    ResponseTooLarge,
    ResponseUnreadable,
    read_bounded,
)
from conformance.sut.target import Target
from conformance.sut.tls import tls_context
from conformance.text.addresses import same_origin, segment
from conformance.text.paths import value_at
from conformance.verdict.decisions import (
    HarnessError,
    Irrevocable,
    ReadOnly,
    TargetLost,
    TriggerFailed,
    Unmet,
    Unusable,
)

MAX_SHOWN_BYTES = 200_000
"""Of longer bodies the beginning is written down, and the whole only once it is compressed."""

_SHOWN_CHARS = 200
_MAX_REDACTED_BYTES = 4096
_MAX_ERROR_CHARS = 300

_MAX_PACE_REPEATS = 5

_FAULT_PAUSES_SECONDS = (0.05, 0.15, 0.45)
_PROBES = ("getConfig", "listTransactions")
_SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
_SHOWN = "shown"
_TARGET = "target"
"""What goes over the wire in the place of the URL's path and query."""

_CUT = "cut"
"""At which moment the line of a request is cut."""


Listener = Callable[[Exchange, tuple[Finding, ...], tuple[str, ...]], None]
"""Told of every exchange, its findings and what was observed beside them."""


class RecordingClient:
    """Sends the requests of a run to its target.

    Everything is bounded: size, depth and time of a response, number of requests, and nothing
    but safe methods goes to a target that is not a sandbox. Redirects are not followed, and cookies
    are not kept. Safe requests are sent again after a fault on the way, and all where the target
    limits their pace; one that no longer answers is given up. Every response is judged against
    the OpenAPI document, and every request that is meant to be valid too. Safe to use from several
    threads.
    """

    def __init__(
        self,
        target: Target,
        judge: Judge,
        journal: Journal,
        budget: Budget,
        redactor: Redactor,
    ) -> None:
        self._target = target
        self._judge = judge
        self._journal = journal
        self._budget = budget
        self.sightings = Sightings(judge.document)
        self._outage = Outage(target.profile.timing.outage)
        self._redact = redactor
        self._client_secret = Redactor((target.client_secret,))
        self._auth = httpx.BasicAuth(target.token_id, target.client_secret)
        self.listener: Listener = lambda *_: None
        self.test = ""
        self._max_seconds = target.profile.timing.request
        self._transport = Transport(tls_context(target.profile, os.environ))
        # It builds the requests. To send them it would follow what answers say: their cookies,
        # encodings and addresses.
        self._http = httpx.Client(
            transport=self._transport,
            trust_env=False,
            headers={"accept": "application/json", "accept-encoding": ACCEPT_ENCODING},
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
    def base_url(self) -> str:
        """What every path of the interface is relative to; without a slash at its end."""
        return self._target.base_url

    @property
    def origin(self) -> str:
        """Scheme, host and port of the target."""
        return self._target.origin

    def conceal(self, *secrets: str) -> None:
        """Keep secrets that the target told out of everything that this test writes from now on."""
        self._redact.learn(*secrets)

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
        cut: Cut | None = None,
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
            cut: at which moment the line is cut; the request is sent once then, and its answer
                is lost.

        Raises:
            AnswerLost: the line was cut, as ``cut`` says.
            HarnessError: the request is meant to be valid and is not.
            ReadOnly: the target is no sandbox and the method is not safe.
            Irrevocable: nothing can undo the operation, and the profile does not permit it.
            BudgetSpent: the profile allows no more requests.
            Unusable: a value, which the target sent, cannot be sent where it would go.
            TargetLost: no complete response came, or none of the implementation.
            ResponseUnreadable: the response is encoded in a way that cannot be decoded.
            TargetGone: the target has not answered for so long that it was given up.
        """
        operation = self._judge.document.operations[name]
        shown = body if form is None else {name: str(part) for name, part in form.items()}
        if valid and (errors := self._judge.request_errors(operation, shown)):
            raise HarnessError(f"the request to {name} was meant to be valid: {'; '.join(errors)}")
        url = operation.path.format(**{k: segment(v) for k, v in (path or {}).items()})
        request = self._build(
            name,
            operation.method,
            self._target.base_url + url,
            params=None if query is None else {k: v for k, v in query.items() if v is not None},
            json=body,
            files=None if form is None else form_parts(form),
            content=content,
            headers={**(FORM_HEADERS if form else {}), **(headers or {})},
        )
        if form is not None:
            request.extensions[_SHOWN] = shown
        if cut is not None:
            request.extensions[_CUT] = cut
        response = self._settle(name, request, auth or self._auth)
        exchange, body = self._note(name, request, response)
        if judged and response.is_gateway_error and not self._is_reached(operation):
            self.listener(exchange, (), ())
            raise TargetLost(
                f"{name} {response} without an error object: what is in front of the "
                "implementation could not reach it"
            )
        message = MessageFindings(())
        alike: tuple[Finding, ...] = ()
        if judged:
            given = shown if valid else None
            alike = self.sightings.answer(
                name, response.status, body, given, by_platform=auth is None
            )
            message = self._judge.response(
                operation,
                response.status,
                media_type_of(response.headers.get("content-type", "")),
                body,
                intended=valid,
                is_json=response.is_json,
                is_bounded=response.is_bounded,
            )
        findings = (*message.findings, *alike, *self._told_secret(name, exchange))
        self.listener(exchange, findings, message.observations)
        return Answer(operation, response.status, response.headers, body, exchange)

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
            ReadOnly, BudgetSpent, Unusable, TargetLost, ResponseUnreadable, TargetGone: as of
                :meth:`call`.
        """
        operation = self._judge.document.operations[name]
        method = method or operation.method
        base = "" if path is not None and path.startswith(self.origin) else self._target.base_url
        url = base + (operation.path if path is None else path)
        request = self._build(name, method, url, content=content, headers=headers)
        request.extensions[_TARGET] = url.removeprefix(self.origin).encode("ascii")
        response = self._settle(name, request, auth or self._auth)
        exchange, body = self._note(name, request, response)
        self.listener(exchange, (), ())
        return Answer(operation, response.status, response.headers, body, exchange)

    def trigger(
        self,
        method: str,
        url: str,
        body: Any,
        secrets: Collection[str] = (),
        headers: Mapping[str, str] | None = None,
    ) -> tuple[int, Any]:
        """Send a request of the profile's triggers; return its status and decoded body.

        The suite's credentials go along only to the origin of the target, and with no
        ``Authorization`` of the profile's own. What the dotted paths in
        ``secrets`` lead to in the answer is written nowhere.

        Raises:
            ReadOnly: the target is no sandbox.
            TriggerFailed: the URL is none.
            TargetLost: no complete response came.
            ResponseUnreadable: the response is encoded in a way that cannot be decoded.
            TargetGone: the target has not answered for so long that it was given up.
        """
        try:
            request = self._http.build_request(method, url, json=body, headers=headers)
        except (httpx.InvalidURL, ValueError) as error:
            raise TriggerFailed(f"the profile leads to {url}, which is no URL: {error}") from error
        ours = same_origin(str(request.url), self._target.origin)
        auth = self._auth if ours and "authorization" not in request.headers else None
        response = self._settle("trigger", request, auth, ours=ours)
        if secrets:
            told = (value_at(response.body, path) for path in secrets)
            self.conceal(*(secret for secret in told if isinstance(secret, str)))
        exchange, _ = self._note("trigger", request, response)
        self.listener(exchange, (), ())
        return response.status, response.body

    def _build(self, name: str, method: str, url: str, **parts: Any) -> httpx.Request:
        try:
            return self._http.build_request(method, url, **parts)
        except (httpx.InvalidURL, TypeError, ValueError) as error:
            raise Unusable(f"the request to {name} cannot be written: {error}") from error

    def _admit(self, method: str, name: str) -> None:
        profile = self._target.profile
        if method not in _SAFE and profile.environment is not Environment.SANDBOX:
            raise ReadOnly(f"{name} changes something, and the profile does not say sandbox")
        if (word := profile.irreversible.lacks(name)) is not None:
            raise Irrevocable(
                f"{name} is not sent: nothing can undo it, and the profile does not say "
                f"{word}: true"
            )
        self._outage.check()
        self._budget.spend(created=method == "POST")

    def _settle(
        self, name: str, request: httpx.Request, auth: httpx.Auth | None, *, ours: bool = True
    ) -> Response:
        """Send a request, again while its answer decides nothing; return the last answer.

        ``ours`` is whether it goes to the target.
        """
        started = clock().monotonic()
        for repeats in itertools.count():
            self._admit(request.method, name)
            outcome = self._exchange(request, auth, name, ours=ours)
            pause = self._pause(
                name, request.method, outcome, repeats, clock().monotonic() - started
            )
            if pause is None:
                break
            exchange = self._written(name, request, outcome)
            self.listener(exchange, (), (f"{name} {outcome} and was asked again",))
            clock().sleep(pause)
        if isinstance(outcome, Failure):
            self._fail(name, request, outcome)
        if (asked := outcome.pause_asked) is not None:
            self.listener(self._written(name, request, outcome), (), ())
            raise TargetLost(
                f"the target limits the pace of requests: {name} answered {TOO_MANY} "
                f"{repeats + 1} times, and asks to wait for {asked:g} s more"
            )
        return outcome

    def _pause(
        self,
        name: str,
        method: str,
        outcome: Response | Failure,
        repeats: int,
        elapsed: float,
    ) -> float | None:
        """Return the seconds after which a request is sent again; ``None`` if it is not."""
        if isinstance(outcome, Response) and (asked := outcome.pause_asked) is not None:
            return min(asked, MAX_PAUSE_SECONDS) if repeats < _MAX_PACE_REPEATS else None
        if isinstance(outcome, Failure):
            faulty = method in _SAFE and isinstance(outcome.error, ConnectionBroken)
        else:
            # Whatever was refused for the pace alone has not been carried out.
            hurried = outcome.limits_requests and name != CAPPED and outcome.wait_asked is None
            faulty = hurried or (method in _SAFE and outcome.is_gateway_error)
        if not faulty or repeats >= len(_FAULT_PAUSES_SECONDS):
            return None
        return _FAULT_PAUSES_SECONDS[repeats] if elapsed < self._max_seconds else None

    def _is_reached(self, operation: Operation) -> bool:
        """Return whether the implementation is reached, although a gateway error says otherwise.

        Where a safe request is answered so again and again while another one is not, it is the
        implementation that breaks over it.
        """
        if operation.method not in _SAFE:
            return False
        name = next(name for name in _PROBES if name != operation.id)
        probe = self._judge.document.operations[name]
        request = self._build(name, probe.method, self._target.base_url + probe.path)
        try:
            response = self._settle(name, request, self._auth)
        except TargetLost:
            return False
        self.listener(self._written(name, request, response), (), ())
        return response.is_answer

    def _told_secret(self, name: str, exchange: Exchange) -> Iterator[Finding]:
        """Yield whether a response keeps the client secret to itself, in header and body."""
        requirement = self._judge.document.raw["x-judge"].get("secret")
        if requirement is None:
            return
        held = exchange.told
        detail = f"{name} answered {exchange.status} with the client secret in its "
        yield Finding(requirement, not held, detail + " and its ".join(held) if held else "")

    def _places_of_secret(self, response: Response) -> tuple[str, ...]:
        """Return where the client secret stands in a response: header, body, both or none."""
        headers = "\n".join(f"{key}: {value}" for key, value in response.headers.items())
        found = self._client_secret.finds_secret
        places = {"header": headers, "body": response.spelled}
        return tuple(place for place, content in places.items() if found(content))

    def _exchange(
        self, request: httpx.Request, auth: httpx.Auth | None, name: str, *, ours: bool = True
    ) -> Response | Failure:
        """Send a request once; ``ours`` is whether it goes to the target."""
        started = time.perf_counter()
        try:
            response, content = self._receive(request, auth)
        except LineCut:
            # The target did not answer, and did not fail to: nothing is known of it.
            cause = f"the suite cut the line {request.extensions[_CUT]}"
            return Failure(time.perf_counter() - started, AnswerLost(f"{name}: {cause}"), cause)
        except (
            httpx.HTTPError,
            httpx.StreamError,
            ResponseTooLarge,
            ResponseUnreadable,
        ) as error:
            seconds = time.perf_counter() - started
            outcome: Response | Failure = self._failure(name, error, seconds)
        else:
            outcome = Response.read(response, content, time.perf_counter() - started)
        if ours and outcome.is_answer:
            self._outage.answered()
        elif ours:
            self._outage.unanswered(f"{name} {outcome}", outcome.seconds)
        return outcome

    def _failure(self, name: str, error: Exception, seconds: float) -> Failure:
        """Return what an exception of :meth:`_receive` means."""
        cause = self._redact.text(str(error) or type(error).__name__)[:_MAX_ERROR_CHARS]
        kind: type[Unmet] = ConnectionBroken
        if isinstance(error, httpx.TimeoutException):
            limit = f"timing.request of the profile, {self._max_seconds:g} s"
            kind, cause = ResponseTooSlow, f"the response took longer than {limit}"
        elif isinstance(error, ResponseTooLarge | ResponseUnreadable):
            kind = type(error)
        elif isinstance(error, httpx.LocalProtocolError):
            kind = Unusable
        failure = self._fault(kind, name, cause, seconds)
        failure.error.__cause__ = error
        return failure

    def _fault(self, kind: type[Unmet], name: str, cause: str, seconds: float) -> Failure:
        """Return the failure of a request to which no answer could be read."""
        told = f"{name}: {cause}"
        if kind is ConnectionBroken:
            told = f"{name} got no complete response from {self._target.base_url}: {cause}"
        elif kind is Unusable:
            told = f"the request to {name} cannot be written: {cause}"
        return Failure(seconds, kind(told), cause)

    def _receive(
        self, request: httpx.Request, auth: httpx.Auth | None
    ) -> tuple[httpx.Response, bytes]:
        if auth is not None:
            request = next(auth.sync_auth_flow(request))
        repeatable = request.method in _SAFE
        cut = request.extensions.get(_CUT)
        with self._transport.attempt(self._max_seconds, repeatable=repeatable, cut=cut) as attempt:
            try:
                response = self._transport.handle_request(request)
            except httpx.TransportError:
                if not (repeatable and attempt.went_stale):
                    raise
                # The server closed the connection while nobody used it.
                response = self._transport.handle_request(request)
            try:
                return response, read_bounded(response, MAX_BODY_BYTES)
            finally:
                response.close()

    def _fail(self, name: str, request: httpx.Request, failure: Failure) -> NoReturn:
        self.listener(self._written(name, request, failure), (), ())
        raise failure.error

    def _written(self, name: str, request: httpx.Request, outcome: Response | Failure) -> Exchange:
        """Write down what came of a request."""
        if isinstance(outcome, Response):
            return self._note(name, request, outcome)[0]
        fault = type(outcome.error).__name__
        return self._write(name, request, outcome.seconds, error=outcome.cause, fault=fault)

    def _note(self, name: str, request: httpx.Request, response: Response) -> tuple[Exchange, Any]:
        """Write down a response; return that, and the body without secrets.

        The body keeps members that carry a secret by their nature, which a scenario may need.
        """
        spelled, body = response.spelled, response.body
        if self._redact.finds_secret(spelled):
            body = self._redact.json(body, members=False)
        shown = self._redact.json(body) if self._redact.finds_member(spelled) else body
        if not response.is_json:
            hides = self._redact.finds_secret(response.unescaped)
            shown = self._redact.text(response.unescaped if hides else response.plain)
        form = BodyForm.JSON if response.is_json else BodyForm.TEXT
        if (masked := self._redact.without_people(shown)) is not shown:
            shown, form = masked, BodyForm.MASKED
        if not response.is_bounded:
            form = BodyForm.UNBOUNDED
        packed = ""
        if len(response.content) > MAX_SHOWN_BYTES:
            nothing_hidden = response.is_json and shown is response.body
            start = response.plain if nothing_hidden else _spelled(shown)
            # Nobody finds a secret in what is compressed.
            packed = "" if form is BodyForm.MASKED else pack(self._redact.text(start))
            form = BodyForm.CUT
            shown = _cut(start, len(response.content))
        exchange = self._write(
            name,
            request,
            response.seconds,
            status=response.status,
            response_headers=self._redact.headers(response.headers),
            response_body=shown,
            body_form=form,
            packed=packed,
            told=self._places_of_secret(response),
        )
        return exchange, body

    def _write(
        self,
        name: str,
        request: httpx.Request,
        seconds: float,
        *,
        status: int = 0,
        response_headers: dict[str, str] | None = None,
        response_body: Any = None,
        error: str = "",
        fault: str = "",
        body_form: BodyForm = BodyForm.JSON,
        packed: str = "",
        told: tuple[str, ...] = (),
    ) -> Exchange:
        exchange = Exchange(
            id=self._journal.number(),
            test=self.test,
            operation=name,
            method=request.method,
            url=self._redact.text(self._url_of(request)),
            request_headers=self._redact.headers(request.headers),
            request_body=self._sent(request),
            status=status,
            response_headers=response_headers or {},
            response_body=response_body,
            seconds=round(seconds, 6),
            error=error,
            at=clock().time(),
            fault=fault,
            body_form=body_form,
            packed=packed,
            told=told,
            lane=lane(),
        )
        self._journal.exchange(exchange)
        return exchange

    def _sent(self, request: httpx.Request) -> Any:
        """Return the body of a request as it is written down."""
        # Files would be long and hard to read.
        if (form := request.extensions.get(_SHOWN)) is not None:
            return self._redact.json(form)
        content = request.read()
        if len(content) > MAX_SHOWN_BYTES:
            return _cut(self._redact.text(text(content[:_MAX_REDACTED_BYTES])), len(content))
        value, is_json = decode(content)
        return self._redact.json(value if is_json else text(content))

    def _url_of(self, request: httpx.Request) -> str:
        """Return the URL as it goes over the wire."""
        if _TARGET not in request.extensions:
            return str(request.url)
        target: bytes = request.extensions[_TARGET]
        return self.origin + target.decode()


def _spelled(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _cut(shown: str, size: int) -> str:
    return f"{shown[:_SHOWN_CHARS]}… ({size} bytes)"
