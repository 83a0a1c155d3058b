"""Conforming variants of authentication: how credentials are refused, and in which order."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable
from typing import Any

from conformance.proof.kit.builders import around
from conformance.proof.mutants.authentication.toolkit import authorization, header_of, is_call
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import app, errors, routes
from conformance.reference.app import BasicAuth

Asgi = Callable[..., Any]


def _refused_as(
    headers: dict[str, str], reason: str | None = None, details: dict[str, Any] | None = None
) -> Apply:
    """Return a patch by which the refusal of credentials is put in another way."""

    def refuse(
        original: Function, refusal: errors.Refusal, given: dict[str, str] | None = None
    ) -> Any:
        if refusal.code != "UNAUTHORIZED":
            return original(refusal, given)
        told = errors.Refusal(refusal.code, reason or refusal.reason, details)
        return original(told, headers)

    return around(app, "refuse", refuse)


declare(
    "N281",
    "no-scheme-named",
    "a refusal of credentials names no scheme in a header",
    _refused_as({}),
    "null",
)


@variant("N281", "a refusal of credentials names two schemes and a realm", "forms")
def schemes_named(patch: Patch) -> None:
    header = 'Basic realm="payments", charset="UTF-8", Bearer realm="agents"'
    _refused_as({"WWW-Authenticate": header})(patch)


declare(
    "N286",
    "refusal-with-details",
    "a refusal of credentials says in details what to look at",
    _refused_as(
        {"WWW-Authenticate": "Basic", "Connection": "close"},
        "Unauthorized",
        {"hint": "Look at the Authorization header.", "errors": []},
    ),
    "codes",
)
declare(
    "N280",
    "spelled-basic",
    "the scheme has to be spelled Basic",
    authorization(lambda settings, scope, right: right and header_of(scope).startswith(b"Basic ")),
    "other forms",
)


def _first(answers: Callable[[Any], errors.Refusal | None]) -> Apply:
    """Return a patch by which something is answered before the credentials are looked at."""

    async def call(original: Asgi, auth: Any, scope: Any, receive: Any, send: Any) -> None:
        refusal = answers(scope) if scope["type"] == "http" else None
        if refusal is None:
            await original(auth, scope, receive, send)
            return
        from conformance.reference import app  # noqa: PLC0415 - the declarations need no server

        await app.refuse(refusal)(scope, receive, send)

    return around(BasicAuth, "__call__", call)


@variant("N282", "an unknown path is not found, whoever asks for it", "codes", how=_first)
def unknown_paths_first(scope: Any) -> errors.Refusal | None:
    served = scope["path"].startswith("/control/") or any(
        is_call(scope, operation) for operation in routes.OPERATIONS
    )
    return None if served else errors.Refusal("NOT_FOUND", "There is nothing at this path.")


@variant(
    "N282", "the format of a body is looked at before the credentials", "other codes", how=_first
)
def format_first(scope: Any) -> errors.Refusal | None:
    headers = dict(scope["headers"])
    kind = headers.get(b"content-type", b"").partition(b";")[0]
    takes_json = any(
        row.body and is_call(scope, operation) for operation, row in routes.OPERATIONS.items()
    )
    if takes_json and not kind.endswith(b"json"):
        return errors.Refusal("INVALID_REQUEST_FORMAT", "Send JSON.")
    return None


@variant("M91", "credentials that cannot be read are refused with 400", "forms", how=_first)
def unreadable_credentials(scope: Any) -> errors.Refusal | None:
    scheme, _, encoded = header_of(scope).partition(b" ")
    if scheme.lower() != b"basic":
        return None
    try:
        readable = b":" in base64.b64decode(encoded, validate=True)
    except binascii.Error:
        readable = False
    return None if readable else errors.Refusal("INVALID_REQUEST_FORMAT", "They cannot be read.")


@variant(
    "N285",
    "logins are not offered, and nobody is asked who they are before that is said",
    how=_first,
)
def no_logins(scope: Any) -> errors.Refusal | None:
    if not is_call(scope, "completeScaLogin"):
        return None
    return errors.Refusal("NOT_IMPLEMENTED", "Logins are not offered.")
