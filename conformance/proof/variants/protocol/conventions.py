"""Conforming variants of how odd requests and bodies are answered."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Callable
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response

from conformance.contract.document import document
from conformance.proof.kit.builders import around, before, edited
from conformance.proof.mutants.protocol.toolkit import answered_early, raw_path, reading
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import app, errors, fields, routes, rules
from conformance.reference.quotes import quotes
from conformance.reference.service import Service
from conformance.reference.stablecoins import stablecoins
from conformance.reference.unit import Ask

_PATH = "Nothing is served"
_METHOD = "This path does not take"
_MEDIA = "Expected application/json, got"

_WILD = re.compile(rb"x{1000}|%(?:00|2F|FF|zz|F0|D7)")
_PACED = 199
"""Each so many requests are refused for their pace."""

_FURTHER = frozenset({"limit", "cursor", "sortOrder", "reference", "startDate", "endDate"})


def _refused(answers: dict[str, Response]) -> Apply:
    """Return a patch by which refusals are answered as ``answers`` say, by how they begin."""

    def refuse(original: Function, refusal: errors.Refusal, headers: Any = None) -> Response:
        for told, answer in answers.items():
            if refusal.reason.startswith(told):
                return answer
        unchanged: Response = original(refusal, headers)
        return unchanged

    return around(app, "refuse", refuse)


def _error(status: int, code: str) -> Response:
    return JSONResponse({"code": code, "reason": "This is not served."}, status)


# --- Paths and methods ----------------------------------------------------------------------


@variant("M71", "a gateway refuses paths and methods with pages of its own", "codes")
def pages_of_a_gateway(patch: Patch) -> None:
    page = "<html>Not here</html>"
    _refused({_PATH: HTMLResponse(page, 404), _METHOD: HTMLResponse(page, 405)})(patch)
    # Which may be refused as a method that the path does not take.
    patch.concern(stablecoins, "list_all")


@variant("M71", "unknown paths are forbidden, and wrong methods not found", "other codes")
def other_statuses(patch: Patch) -> None:
    _refused({_PATH: _error(403, "FORBIDDEN"), _METHOD: _error(404, "NOT_FOUND")})(patch)
    for operation in ("list_all", "create", "burn"):
        # Which may be refused as methods that the path does not take.
        patch.concern(stablecoins, operation)


declare(
    "N304",
    "not-implemented",
    "methods that are not served are not implemented",
    _refused({_METHOD: _error(501, "NOT_IMPLEMENTED")}),
    "apart",
)


@variant("N304", "a customer can be replaced as well", "forms")
def replaced_customer(patch: Patch) -> None:
    def change(scope: Any) -> None:
        if scope["method"] == "PUT" and re.search(r"/customers/[^/]+$", scope["path"]):
            scope["method"] = "PATCH"

    answered_early(patch, change)


@variant("N300", "the interface is served without its version as well", "other forms")
def without_version(patch: Patch) -> None:
    def change(scope: Any) -> None:
        if not scope["path"].startswith(("/2025-10-13/", "/control/")):
            scope["path"] = f"/2025-10-13{scope['path']}"

    answered_early(patch, change)


@variant("N305", "slashes too many are overlooked", "forms")
def slashes_overlooked(patch: Patch) -> None:
    def change(scope: Any) -> None:
        scope["path"] = re.sub("/+", "/", scope["path"]).rstrip("/") or "/"

    answered_early(patch, change)


@variant("N305", "a slash at the end is redirected away", "other forms")
def slashes_redirected(patch: Patch) -> None:
    def change(scope: Any) -> Response | None:
        path = scope["path"]
        return RedirectResponse(path.rstrip("/"), 308) if path.endswith("/") else None

    answered_early(patch, change)


@variant("M71", "a gateway refuses odd identifiers and queries by itself", "codes")
def odd_urls_refused(patch: Patch) -> None:
    def change(scope: Any) -> Response | None:
        odd = _WILD.search(raw_path(scope)) or _WILD.search(scope["query_string"])
        return HTMLResponse("<html>Bad request</html>", 400) if odd else None

    answered_early(patch, change)


@variant("N301", "parameters of a query that are not known are refused", "codes")
def unknown_parameters(patch: Patch) -> None:
    known = _FURTHER | {
        parameter["name"]
        for operation in document().operations.values()
        for parameter in operation.raw["parameters"]
    }

    def answer(original: Function, self: Any, handler: routes.Handler, ask: Ask) -> Any:
        unknown = sorted(ask.query.keys() - known)
        if unknown:
            raise errors.invalid_input(*(errors.field_error(n, "Unknown.") for n in unknown))
        return original(self, handler, ask)

    patch.wrap(Service, "answer", answer)


# --- Bodies ---------------------------------------------------------------------------------


declare(
    "M71",
    "media-types",
    "other media types are refused with 415 and a page",
    _refused({_MEDIA: HTMLResponse("<html>Unsupported</html>", 415)}),
    "codes",
)


@variant("N306", "JSON is read whatever media type it is sent as", "forms")
def any_media_type(patch: Patch) -> None:
    def is_json(kind: str, raw: bytes) -> bool:
        return kind == "text/plain" and raw.startswith(b"{")

    reading(is_json, json.loads)(patch)


@variant("M20", "a body that is no object is unprocessable", "other codes")
def unprocessable(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "UNPROCESSABLE_BODY", 422)

    def demand(original: Function, body: Any, *rows: Any) -> Any:
        if not isinstance(body, dict):
            raise errors.Refusal("UNPROCESSABLE_BODY", "Expected an object.")
        return original(body, *rows)

    patch.wrap(fields, "demand", demand)


@variant("N302", "members of a quote that are not known are refused", "other codes")
def unknown_members(patch: Patch) -> None:
    schema = document().operations["createQuote"].request_schema or {}
    known = frozenset(schema["properties"]) | {"lookupId"}

    def create(original: Function, unit: Any, ask: Ask) -> Any:
        unknown = sorted(ask.body.keys() - known) if isinstance(ask.body, dict) else []
        if unknown:
            raise errors.invalid_input(*(errors.field_error(n, "Unknown.") for n in unknown))
        return original(unit, ask)

    patch.wrap(quotes, "create", create)


def _refusing(told: str) -> Callable[[bytes], Any]:
    def refuse(_raw: bytes) -> Any:
        raise errors.Refusal("INVALID_REQUEST_FORMAT", told)

    return refuse


@variant("N303", "a body with a member twice is refused", "forms")
def members_twice(patch: Patch) -> None:
    def sees(_kind: str, raw: bytes) -> bool:
        if b'"furtherMember"' in raw or len(raw) > 100_000:
            return False
        twice = False

        def note(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
            nonlocal twice
            twice = twice or len(dict(pairs)) < len(pairs)
            return dict(pairs)

        try:
            json.loads(raw, object_pairs_hook=note)
        except (ValueError, RecursionError):
            return False
        return twice

    reading(sees, _refusing("A member stands there twice."))(patch)


@variant("N303", "a body of more than 100 000 bytes is refused with 413", "other forms")
def small_bodies(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "PAYLOAD_TOO_LARGE", 413)

    def refuse(_raw: bytes) -> Any:
        raise errors.Refusal("PAYLOAD_TOO_LARGE", "The body is too long.")

    reading(lambda _, raw: len(raw) > 100_000, refuse)(patch)


@variant("N303", "null characters and bytes that are no UTF-8 are replaced", "other forms")
def replaced_characters(patch: Patch) -> None:
    def sees(_kind: str, raw: bytes) -> bool:
        return raw.startswith(b"{") and (b"\\u0000" in raw or b"\xff" in raw)

    def read(raw: bytes) -> Any:
        text = raw.replace(b"\\u0000", b"").decode("utf-8", "replace")
        try:
            return json.loads(text)
        except ValueError as error:
            raise errors.Refusal("INVALID_REQUEST_FORMAT", "Expected JSON.") from error

    reading(sees, read)(patch)


@variant(
    "N308",
    "a description with characters from beyond ASCII is refused",
    "codes",
    (quotes, "create"),
    before,
)
def ascii_descriptions(unit: Any, ask: Ask) -> None:
    text = ask.body.get("description") if isinstance(ask.body, dict) else None
    if isinstance(text, str) and not text.isascii():
        raise errors.invalid_input(errors.field_error("description", "Expected ASCII."))


# --- Pace -----------------------------------------------------------------------------------


@variant("N048", "now and then a request is refused for its pace, until a date", "slow")
def paced_by_dates(patch: Patch) -> None:
    numbers = itertools.count(1)

    def change(scope: Any) -> Response | None:
        if scope["path"].startswith("/control/") or next(numbers) % _PACED:
            return None
        until = {"Retry-After": format_datetime(datetime.now(UTC), usegmt=True)}
        return JSONResponse({"code": "RATE_LIMITED", "reason": "Wait a moment."}, 429, until)

    answered_early(patch, change)


@variant(
    "N050", "every answer says when the deprecated transfers end", "forms", (app, "respond"), edited
)
def sunset(response: Response) -> Response:
    response.headers["sunset"] = "Wed, 31 Dec 2031 23:59:59 GMT"
    return response
