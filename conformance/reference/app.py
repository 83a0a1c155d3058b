"""The reference implementation as a Starlette application."""

from __future__ import annotations

import base64
import binascii
import hmac
import json
import logging
import re
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NoReturn

from anyio import to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from conformance.reference import errors, fields, routes, rules
from conformance.reference.authentication import agents
from conformance.reference.service import Service
from conformance.reference.unit import Ask, Reply, Upload

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from conformance.reference.routes import Operation
    from conformance.reference.settings import Settings

_log = logging.getLogger(__name__)
# Of broken forms their sender is told.
logging.getLogger("python_multipart").setLevel(logging.ERROR)
_JSON = "application/json"
_FORM = "multipart/form-data"
_MAX_PARTS = 32
_ENDPOINT_FIELDS = (rules.Field("url", "string", required=True, pattern=r"https?://[^\s/]+\S*"),)
_DEEPEST = 32
_ACCEPTED = 202
_NO_CONTENT = 204
_AGENT = "agent"
_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

Endpoint = Callable[[Request], Awaitable[Response]]


def create_app(settings: Settings) -> Starlette:
    """Return the application; its state holds the ``service``, which lifespan starts."""
    service = Service(settings)
    operations = [
        _route(service, row, f"/{settings.version}") for row in routes.OPERATIONS.values()
    ]
    controls = [_route(service, row, "/control") for row in routes.CONTROL]
    webhook = Route("/control/webhook-endpoint", _webhook_endpoint(service), methods=["POST"])

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        service.start()
        yield
        await to_thread.run_sync(service.stop)

    app = Starlette(
        routes=[*operations, *controls, webhook],
        lifespan=lifespan,
        exception_handlers={HTTPException: _unrouted, Exception: _broken},
    )
    app.router.redirect_slashes = False
    app.state.service = service
    app.add_middleware(BasicAuth, settings=settings, service=service)
    return app


class BasicAuth:
    """Lets requests pass that carry credentials, the platform's or an agent's; the others are 401.

    What an agent may do is decided by the operation.
    """

    def __init__(self, app: ASGIApp, settings: Settings, service: Service) -> None:
        self._app = app
        self._settings = settings
        self._service = service

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or refuse it."""
        if scope["type"] == "http" and not self._is_allowed(scope):
            scope[_AGENT] = await self._agent(scope)
        if scope["type"] == "http" and scope.get(_AGENT, "") is None:
            refusal = errors.Refusal(
                "UNAUTHORIZED", "Expected HTTP Basic credentials: the API token id and secret."
            )
            await refuse(refusal, {"WWW-Authenticate": "Basic"})(scope, receive, send)
            return
        await self._app(scope, receive, send)

    async def _agent(self, scope: Scope) -> str | None:
        """Return the customer whom the request's agent acts for; nobody does behind the scenes."""
        token = agents.token_in(dict(scope["headers"]).get(b"authorization", b""))
        if token is None or scope["path"].startswith("/control/"):
            return None
        return await to_thread.run_sync(partial(self._customer_of, token))

    def _customer_of(self, token: str) -> str | None:
        with self._service.unit() as unit:
            return agents.customer_of(unit, token)

    def _is_allowed(self, scope: Scope) -> bool:
        given = dict(scope["headers"]).get(b"authorization", b"")
        return is_authentic(given, self._settings)


def is_authentic(header: bytes, settings: Settings) -> bool:
    """Return whether an ``Authorization`` header carries the platform's credentials."""
    scheme, _, encoded = header.partition(b" ")
    if scheme.lower() != b"basic":
        return False
    try:
        given = base64.b64decode(encoded.strip(), validate=True)
    except (ValueError, binascii.Error):
        return False
    wanted = f"{settings.api_token_id}:{settings.api_client_secret}".encode()
    return hmac.compare_digest(given, wanted)


def respond(status: int, body: Any, headers: dict[str, str] | None = None) -> Response:
    """Return a JSON response; without a body where the status has none."""
    if status == _NO_CONTENT:
        return Response(status_code=status)
    text = json.dumps(body, ensure_ascii=False, separators=(",", ":"))
    return Response(text.encode(), status, headers, media_type=_JSON)


def refuse(refusal: errors.Refusal, headers: dict[str, str] | None = None) -> Response:
    """Return the response of a refusal."""
    return respond(errors.status_of(refusal), errors.view(refusal), headers)


async def read_json(request: Request, limit: int) -> Any:
    """Return the JSON body of a request.

    Raises ``Refusal`` (INVALID_REQUEST_FORMAT) for anything but JSON of at most ``limit`` bytes
    that a database can hold.
    """
    kind = request.headers.get("content-type", _JSON).partition(";")[0].strip().lower()
    if kind != _JSON and not kind.endswith("+json"):
        raise malformed(f"Expected {_JSON}, got {kind[:64]!r}.")
    raw = bytearray()
    async for chunk in request.stream():
        raw += chunk
        if len(raw) > limit:
            raise malformed(f"Expected at most {limit} bytes.")
    try:
        text = raw.decode()
        body = json.loads(text, parse_constant=_no_constant, parse_float=_finite)
    except (ValueError, RecursionError) as error:
        raise malformed("Expected JSON as body.") from error
    if is_deep(body):
        raise malformed(f"Expected at most {_DEEPEST} levels of nesting.")
    if "\\u" in text:
        unstorable = list(unstorable_paths(body))
        if unstorable:
            message = "Expected text without null characters and lone surrogates."
            raise errors.invalid_input(*(errors.field_error(path, message) for path in unstorable))
    return body


async def read_form(request: Request, limit: int) -> tuple[dict[str, str], dict[str, Upload]]:
    """Return the texts and the files of a multipart form, by the names of their parts.

    Raises ``Refusal`` (INVALID_REQUEST_FORMAT) for anything but a whole form of at most ``limit``
    bytes without a part twice, and (INVALID_INPUT) for texts that no database can hold.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != _FORM:
        raise errors.Refusal("INVALID_REQUEST_FORMAT", f"Expected {_FORM}, got {kind[:64]!r}.")
    size = 0

    async def bounded() -> AsyncGenerator[bytes, None]:
        nonlocal size
        async for chunk in request.stream():
            size += len(chunk)
            if size > limit:
                raise errors.Refusal(
                    "INVALID_REQUEST_FORMAT", f"Expected a form of at most {limit} bytes."
                )
            yield chunk

    try:
        form = await MultiPartParser(
            request.headers, bounded(), max_files=_MAX_PARTS, max_fields=_MAX_PARTS
        ).parse()
    except (MultiPartException, KeyError, ValueError) as error:
        raise errors.Refusal(
            "INVALID_REQUEST_FORMAT", "Expected a whole multipart form. Check its boundaries."
        ) from error
    texts: dict[str, str] = {}
    files: dict[str, Upload] = {}
    async with AsyncExitStack() as stack:
        for name, part in form.multi_items():
            if name in texts or name in files:
                raise errors.Refusal("INVALID_REQUEST_FORMAT", f"The part {name!r} comes twice.")
            if isinstance(part, str):
                texts[name] = part
            else:
                stack.push_async_callback(part.close)
                files[name] = Upload(
                    part.filename or "", part.content_type or "", await part.read()
                )
    return _clean(texts), files


def malformed(reason: str) -> errors.Refusal:
    """Return the refusal of a body that cannot be read."""
    return errors.Refusal("INVALID_REQUEST_FORMAT", f"{reason} Send a JSON object.")


def is_deep(body: Any) -> bool:
    """Return whether a body is nested deeper than any request has to be."""
    level: list[Any] = [body]
    for _ in range(_DEEPEST):
        level = [
            inner
            for value in level
            if isinstance(value, dict | list)
            for inner in (value.values() if isinstance(value, dict) else value)
        ]
        if not level:
            return False
    return True


def unstorable_paths(value: Any, path: str = "") -> list[str]:
    """Return the paths of texts that no database can hold."""
    if isinstance(value, str):
        return [path] if _UNSTORABLE.search(value) else []
    pairs: list[tuple[Any, Any]] = []
    if isinstance(value, dict):
        if any(_UNSTORABLE.search(name) for name in value):
            return [path]
        pairs = list(value.items())
    elif isinstance(value, list):
        pairs = list(enumerate(value))
    return [
        found
        for name, item in pairs
        for found in unstorable_paths(item, f"{path}.{name}" if path else str(name))
    ]


def _no_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(text: str) -> float:
    value = float(text)
    if value - value != 0:
        raise ValueError(text)
    return value


def _route(service: Service, row: Operation, prefix: str) -> Route:
    return Route(prefix + row.path, _endpoint(service, row), methods=[row.method])


def _endpoint(service: Service, row: Operation) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        operation = routes.OPERATIONS.get(row.id, row)
        try:
            body: Any = None
            files: dict[str, Upload] = {}
            if operation.form:
                body, files = await read_form(request, service.settings.max_upload_bytes)
            elif operation.body:
                body = await read_json(request, service.settings.max_body_bytes)
            ask = Ask(
                _clean(request.path_params),
                _clean(dict(request.query_params)),
                body,
                request.headers,
                files,
                request.scope.get(_AGENT),
            )
            handler = operation.handler
            if ask.agent is not None:
                handler = agents.confined(operation.id, handler)
            answer = await service.serve(handler, ask)
            if isinstance(answer, Reply):
                return respond(answer.status, answer.body)
            return respond(operation.status, answer)
        except errors.Demand as demand:
            return respond(_ACCEPTED, demand.body)
        except errors.Refusal as refusal:
            return refuse(refusal)
        except ClientDisconnect:
            return refuse(malformed("The body ended early."))
        except Exception as error:  # noqa: BLE001 - the server would close the connection
            return await _broken(request, error)

    return endpoint


def _clean(values: dict[str, str]) -> dict[str, str]:
    broken = [name for name, value in values.items() if _UNSTORABLE.search(value)]
    if broken:
        message = "Expected text without null characters."
        raise errors.invalid_input(*(errors.field_error(name, message) for name in broken))
    return values


def _webhook_endpoint(service: Service) -> Endpoint:
    async def endpoint(request: Request) -> Response:
        try:
            body = await read_json(request, service.settings.max_body_bytes)
            url: str = fields.demand(body, _ENDPOINT_FIELDS)["url"]
        except errors.Refusal as refusal:
            return refuse(refusal)
        service.deliveries.direct_to(url)
        return respond(_NO_CONTENT, None)

    return endpoint


UNROUTED: Mapping[int, tuple[str, str]] = {
    404: ("NOT_FOUND", "Nothing is served at this path. See the paths of the interface."),
    405: ("METHOD_NOT_ALLOWED", "This path does not take this method. See the Allow header."),
}
"""Code and reason by the HTTP status of requests that no operation takes."""


async def _unrouted(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    known = error.status_code in UNROUTED
    code, reason = UNROUTED.get(error.status_code, ("INVALID_INPUT", error.detail))
    headers = dict(error.headers) if known and error.headers else None
    return refuse(errors.Refusal(code, reason), headers)


async def _broken(_request: Request, error: Exception) -> Response:
    _log.error("A request failed.", exc_info=error)
    return refuse(errors.Refusal("INTERNAL_ERROR", "The service failed. Report it."))
