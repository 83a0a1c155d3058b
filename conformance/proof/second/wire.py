"""HTTP: requests are read, handled with the lock held, and answered in one piece."""

import base64
import binascii
import datetime as dt
import hmac
import json
import logging
import re
from collections.abc import Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qsl, unquote

from conformance.proof.second.call import NO_JSON, Call, Reply, Route
from conformance.proof.second.errors import Refusal
from conformance.proof.second.money import COINS
from conformance.proof.second.persona import Persona
from conformance.proof.second.world import World

VERSION = "/2025-10-13"
BACKSTAGE = "/backstage"
PACE = "RATE_LIMITED"
MAX_BODY = 64 * 1024 * 1024

_TICKERS = frozenset(code for code, found in COINS.items() if found.crypto)

log = logging.getLogger(__name__)


def moment(persona: Persona, value: dt.datetime) -> str:
    """Write a time in the form of the persona."""
    if persona.time_form == "micros":
        return value.strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if persona.time_form == "offset":
        return value.isoformat(timespec="milliseconds")
    return value.strftime("%Y-%m-%dT%H:%M:%SZ")


def dressed(world: World, value: Any) -> Any:
    """Return JSON as the persona shows it: hidden members left out, times written, extras added.

    A null under a name that ends in "!" is shown by every persona.
    """
    persona = world.persona
    if isinstance(value, dt.datetime):
        return moment(persona, value)
    if isinstance(value, list | tuple):
        return [dressed(world, item) for item in value]
    if not isinstance(value, dict):
        return value
    body = {
        name.rstrip("!"): dressed(world, item)
        for name, item in value.items()
        if not name.startswith("_")
        and (item is not None or persona.with_nulls or name.endswith("!"))
    }
    if persona.with_extras and "id" in body:
        body |= {"object": str(body["id"]).partition(":")[0], "metadata": {"tags": []}}
    bitcoin = body.get("code") == "BTC" and "decimals" in body
    if bitcoin and world.has("bitcoin-two-decimals"):
        body["decimals"] = 2
    if body.get("code") in _TICKERS and "symbol" in body and world.has("coins-without-symbol"):
        del body["symbol"]
    return body


class Routes:
    """Finds the handler of a request; fixed paths come before those with parameters."""

    def __init__(self, table: Sequence[Route]) -> None:
        self._table = sorted(
            ((method, path.strip("/").split("/"), handler) for method, path, handler in table),
            key=lambda row: sum(part.startswith("{") for part in row[1]),
        )

    def answer(self, call: Call) -> Reply:
        """Answer a request.

        Raises:
            Refusal: where no route has its path and method, and whatever the handler raises.
        """
        parts = call.path.removeprefix("/").split("/")
        known_path = False
        for method, pattern, handler in self._table:
            params = _match(pattern, parts)
            if params is None:
                continue
            known_path = True
            if method == call.method or (method == "GET" and call.method == "HEAD"):
                call.params = params
                _parse_ids(call)
                return handler(call)
        status = call.world.persona.wrong_method_status if known_path else 404
        raise Refusal("NOT_FOUND", "There is no such operation.", status=status)


_TYPES = {
    "customerId": "Customer",
    "externalAccountId": "ExternalAccount",
    "accountId": "ExternalAccount",
    "quoteId": "Quote",
    "transactionId": "Transaction",
    "resetId": "FactorReset",
}
_UUID = re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}")


def _parse_ids(call: Call) -> None:
    """Fail, by a planted bug, at what stands in a path behind the type of an id, and is no UUID."""
    for name, value in call.params.items():
        kind, _, rest = value.partition(":")
        odd = kind == _TYPES.get(name) and not _UUID.fullmatch(rest)
        odd = odd and call.method == "GET" and call.world.persona.id_form == "uuid"
        if odd and call.world.has("malformed-id-crashes"):
            raise ValueError


def _match(pattern: list[str], parts: list[str]) -> dict[str, str] | None:
    if len(pattern) != len(parts):
        return None
    params = {}
    for wanted, part in zip(pattern, parts, strict=True):
        if wanted.startswith("{"):
            if not part:
                return None
            params[wanted[1:-1]] = unquote(part)
        elif wanted != part:
            return None
    return params


class Server(ThreadingHTTPServer):
    """The listening server of one world; `public` and `backstage` are its routes."""

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, address: tuple[str, int], world: World, public: Routes, backstage: Routes
    ) -> None:
        super().__init__(address, Handler)
        self.world, self.public, self.backstage = world, public, backstage

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Log what went wrong with a connection."""
        log.debug("connection of %s broke: %s", client_address, request)


class Handler(BaseHTTPRequestHandler):
    """Reads the requests of one connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    timeout = 120
    server: Server

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Log nothing on its own."""

    def send_error(self, code: int, message: str | None = None, explain: str | None = None) -> None:
        """Answer what is no proper request with an error object."""
        del explain
        self.close_connection = True
        status = code if code < 500 else 400
        body = {"code": "INVALID_REQUEST_FORMAT", "reason": message or "This is no request."}
        self._send(status, json.dumps(body).encode(), "application/json")

    def __getattr__(self, name: str) -> Any:
        """Handle every method alike."""
        if name.startswith("do_"):
            return self._serve
        raise AttributeError(name)

    def _serve(self) -> None:
        world = self.server.world
        try:
            raw = self._body()
        except ValueError:
            self.send_error(400, "The body cannot be read.")
            return
        path, _, query = self.path.partition("?")
        call = Call(
            world=world,
            method=self.command,
            path=path,
            query=dict(parse_qsl(query, keep_blank_values=True)),
            headers={name.lower(): value for name, value in self.headers.items()},
            raw=raw,
        )
        with world.lock:
            status, body, media = self._answered(call)
        if isinstance(body, str):
            payload = body.encode()
            media = media if media == "text/plain" else "text/html"
        else:
            style: dict[str, Any] = {"indent": 2, "sort_keys": True} if world.persona.pretty else {}
            payload = b"" if status == 204 else json.dumps(body, **style).encode()
        self._send(status, payload, media)

    def _answered(self, call: Call) -> tuple[int, Any, str]:
        persona = call.world.persona
        try:
            status, body = self._dispatch(call)
            return status, dressed(call.world, body), _media(call)
        except Refusal as refusal:
            page = _page(call, refusal)
            if page:
                return refusal.status, *page
            if refusal.code == "ACCOUNT_LOCKED" and call.world.has("locked-without-code"):
                return refusal.status, {"error": "locked"}, "application/json"
            if refusal.reason == NO_JSON and call.world.has("broken-json-bare"):
                return 400, {"detail": "JSON parse error"}, "application/json"
            error: dict[str, Any] = {"code": refusal.code, "reason": refusal.reason}
            if refusal.code == "CONFLICT" and call.world.has("conflict-message"):
                error["message"] = error.pop("reason")
            if refusal.details:
                error["details"] = _details(call.world, refusal.details)
            if persona.with_extras:
                error["traceId"] = f"trace-{call.world.number()}"
            return refusal.status, dressed(call.world, error), persona.error_media
        except Exception:
            log.exception("%s %s", call.method, call.path)
            error = {"code": "INTERNAL_ERROR", "reason": "Something went wrong."}
            return 500, error, persona.error_media

    def _dispatch(self, call: Call) -> Reply:
        if call.path.startswith("/hosted/"):
            found = call.world.links.get(call.path.rpartition("/")[2], {})
            if found.get("dead"):
                return 410, "<!doctype html><title>This link is no longer valid</title>"
            return 200, "<!doctype html><title>Onboarding</title>"
        try:
            _authenticate(call)
        except Refusal:
            if not _is_let_in(call):
                raise
        for stem, routes in (
            (VERSION, self.server.public),
            (BACKSTAGE, self.server.backstage),
        ):
            if call.path.startswith(f"{stem}/"):
                _throttle(call.world, stem)
                call.path = call.path.removeprefix(stem)
                return routes.answer(call)
        raise Refusal("NOT_FOUND", "There is nothing here.")

    def _body(self) -> bytes:
        if "chunked" in self.headers.get("Transfer-Encoding", "").lower():
            return self._chunks()
        length = int(self.headers.get("Content-Length") or 0)
        if not 0 <= length <= MAX_BODY:
            raise ValueError
        return self.rfile.read(length)

    def _chunks(self) -> bytes:
        body = b""
        while size := int(self.rfile.readline(32).split(b";")[0], 16):
            if len(body) + size > MAX_BODY:
                raise ValueError
            body += self.rfile.read(size)
            self.rfile.readline(4)
        while self.rfile.readline(1000).strip():
            pass
        return body

    def _send(self, status: int, payload: bytes, media: str) -> None:
        self.send_response(status)
        if status != 204:
            charset = "; charset=utf-8" if self.server.world.persona.with_charset else ""
            self.send_header("Content-Type", media.partition(";")[0] + charset)
            self.send_header("Content-Length", str(len(payload)))
        if status == 429 and PACE.encode() in payload:
            self.send_header("Retry-After", "1")
        if status == 401:
            self.send_header("WWW-Authenticate", "Basic")
        if self.close_connection:
            self.send_header("Connection", "close")
        if self.command == "HEAD":
            payload = b""
        head = b"".join(getattr(self, "_headers_buffer", [])) + b"\r\n"
        self._headers_buffer: list[bytes] = []
        self.wfile.write(head + payload)


def _page(call: Call, refusal: Refusal) -> tuple[str, str] | None:
    """Return what a planted bug refuses with in the place of JSON, and its media type."""
    bare = refusal.status == 401 and "authorization" not in call.headers
    if bare and call.world.has("gateway-refusal-as-text"):
        return "<!doctype html><title>Unauthorized</title>", "text/html"
    if refusal.reason == NO_JSON and call.world.has("malformed-json-answered-as-text"):
        return "Bad Request", "text/plain"
    return None


def _details(world: World, details: dict[str, Any]) -> dict[str, Any]:
    """Return the details of an error, in which a planted bug may have cut the constraints."""
    errors = details.get("errors", [])
    places = [entry for entry in errors if str(entry.get("field")).startswith("address.")]
    if len(places) > 1 and world.has("address-faults-as-one"):
        rest = [entry for entry in errors if entry not in places]
        return details | {"errors": [*rest, places[0] | {"field": "address"}]}
    if errors and world.has("field-as-pointer"):
        return details | {
            "errors": [
                entry | {"field": "/" + entry["field"].replace(".", "/")} for entry in errors
            ]
        }
    nested = any("." in str(entry.get("field")) for entry in errors)
    if nested and world.has("field-without-path"):
        errors = [entry | {"field": entry["field"].rpartition(".")[2]} for entry in errors]
        return details | {"errors": errors}
    if not any("constraint" in entry for entry in errors) or not world.has("constraint-as-text"):
        return details
    return details | {
        "errors": [
            entry | {"constraint": entry["constraint"]["format"]}
            if "constraint" in entry
            else entry
            for entry in errors
        ]
    }


def _throttle(world: World, stem: str) -> None:
    """Refuse each so many requests of the interface for their pace, where the persona does."""
    each = world.persona.throttled_each
    if stem == VERSION and each:
        world.requests += 1
        if world.requests % each == 0:
            raise Refusal(PACE, "Too many requests.", status=429)


def _media(call: Call) -> str:
    """Return the media type of an answer that is no refusal."""
    uploaded = call.method == "POST" and call.path == "/documents"
    if uploaded and call.world.has("upload-answer-as-html"):
        return "text/html"
    if call.path == "/discoveries" and call.world.has("discoveries-sent-as-text"):
        return "text/plain"
    return "application/json"


def _is_let_in(call: Call) -> bool:
    """Tell whether a planted bug answers a request without credentials."""
    if call.path.startswith(f"{VERSION}/sandbox/") and "authorization" not in call.headers:
        return call.world.has("sandbox-without-credentials")
    bare = "authorization" not in call.headers
    if call.path == f"{VERSION}/discoveries" and bare:
        return call.world.has("discoveries-without-credentials")
    terms = call.path == f"{VERSION}/customers/end-user-terms"
    return terms and call.world.has("terms-without-credentials")


def _authenticate(call: Call) -> None:
    scheme, _, given = call.headers.get("authorization", "").partition(" ")
    world = call.world
    if scheme.lower() == "bearer":
        agent = world.agents.get(given.strip())
        if agent:
            call.agent_of = agent["customerId"]
            return
    if scheme.lower() == "basic" and _is_ours(world, given.strip()):
        return
    raise Refusal("UNAUTHORIZED", "The credentials are missing or wrong.")


def _is_ours(world: World, given: str) -> bool:
    try:
        name, _, secret = base64.b64decode(given, validate=True).decode().partition(":")
    except (binascii.Error, UnicodeDecodeError):
        return False
    known = hmac.compare_digest(name.encode(), world.token_id.encode())
    if not known and world.has("unknown-token-not-found"):
        raise Refusal("TOKEN_NOT_FOUND", "There is no such token.", status=401)
    right = hmac.compare_digest(secret.encode(), world.client_secret.encode())
    longer = known and not right and secret.startswith(world.client_secret)
    if longer and world.has("secret-compared-as-prefix"):
        return True
    if known and not right and world.has("wrong-secret-forbidden"):
        raise Refusal("FORBIDDEN", "The secret is wrong.", status=403)
    if right and not known and world.has("any-token-id"):
        return True
    if known and not right and world.known_secret:
        right = world.has("any-secret-after-the-right-one")
    if known and right:
        world.known_secret = True
    return known and (right or world.has("any-secret"))


def form_parts(headers: Mapping[str, str], raw: bytes) -> dict[str, tuple[bytes, str]]:
    """Read `multipart/form-data`: by name the content of each part and its media type.

    Raises:
        ValueError: where the body is no such form.
    """
    media, _, parameters = headers.get("content-type", "").partition(";")
    _, found, boundary = parameters.partition("boundary=")
    if media.strip().lower() != "multipart/form-data" or not found:
        raise ValueError
    mark = b"--" + boundary.partition(";")[0].strip().strip('"').encode()
    parts: dict[str, tuple[bytes, str]] = {}
    for piece in raw.split(mark)[1:-1]:
        head, found_end, content = piece.partition(b"\r\n\r\n")
        if not found_end:
            raise ValueError
        lines = head.decode("utf-8", "replace").split("\r\n")
        fields = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines)
        }
        _, named, rest = fields.get("content-disposition", "").partition('name="')
        if not named:
            raise ValueError
        parts[rest.partition('"')[0]] = (
            content.removesuffix(b"\r\n"),
            fields.get("content-type", "").partition(";")[0].strip().lower(),
        )
    return parts
