"""Honest variants of authentication: how a refusal of credentials is put, and what comes first."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from conformance.mutants.authentication import authorization, header_of, is_call
from conformance.mutants.mutant import Patch
from conformance.mutants.variant import variant
from conformance.reference import errors, routes

Function = Callable[..., Any]
Asgi = Callable[..., Any]

_APP = "conformance.reference.app"
_CALL = f"{_APP}:BasicAuth.__call__"


def _refused_as(
    headers: dict[str, str], reason: str | None = None, details: dict[str, Any] | None = None
) -> Callable[[Patch], None]:
    """Return a patch by which the refusal of credentials is put in another way."""

    def wrapper(original: Function) -> Function:
        def refuse(refusal: errors.Refusal, given: dict[str, str] | None = None) -> Any:
            if refusal.code != "UNAUTHORIZED":
                return original(refusal, given)
            told = errors.Refusal(refusal.code, reason or refusal.reason, details)
            return original(told, headers)

        return refuse

    return lambda patch: patch.wrap(f"{_APP}:refuse", wrapper)


@variant("N281", "a refusal of credentials names no scheme in a header", "null")
def no_scheme_named(patch: Patch) -> None:
    _refused_as({})(patch)


@variant("N281", "a refusal of credentials names two schemes and a realm", "forms")
def schemes_named(patch: Patch) -> None:
    header = 'Basic realm="payments", charset="UTF-8", Bearer realm="agents"'
    _refused_as({"WWW-Authenticate": header})(patch)


@variant("N286", "a refusal of credentials says in details what to look at", "codes")
def refusal_with_details(patch: Patch) -> None:
    _refused_as(
        {"WWW-Authenticate": "Basic", "Connection": "close"},
        "Unauthorized",
        {"hint": "Look at the Authorization header.", "errors": []},
    )(patch)


@variant("N280", "the scheme has to be spelled Basic", "other forms")
def spelled_basic(patch: Patch) -> None:
    authorization(lambda settings, scope, right: right and header_of(scope).startswith(b"Basic "))(
        patch
    )


def _first(answers: Callable[[Any], errors.Refusal | None]) -> Callable[[Patch], None]:
    """Return a patch by which something is answered before the credentials are looked at."""

    def wrapper(original: Asgi) -> Asgi:
        async def call(auth: Any, scope: Any, receive: Any, send: Any) -> None:
            refusal = answers(scope) if scope["type"] == "http" else None
            if refusal is None:
                await original(auth, scope, receive, send)
                return
            from conformance.reference import app  # noqa: PLC0415 - the declarations need no server

            await app.refuse(refusal)(scope, receive, send)

        return call

    return lambda patch: patch.wrap(_CALL, wrapper)


@variant("N282", "an unknown path is not found, whoever asks for it", "codes")
def unknown_paths_first(patch: Patch) -> None:
    def answers(scope: Any) -> errors.Refusal | None:
        served = scope["path"].startswith("/control/") or any(
            is_call(scope, operation) for operation in routes.OPERATIONS
        )
        return None if served else errors.Refusal("NOT_FOUND", "There is nothing at this path.")

    _first(answers)(patch)


@variant("N282", "the format of a body is looked at before the credentials", "other codes")
def format_first(patch: Patch) -> None:
    def answers(scope: Any) -> errors.Refusal | None:
        headers = dict(scope["headers"])
        kind = headers.get(b"content-type", b"").partition(b";")[0]
        takes_json = any(
            row.body and is_call(scope, operation) for operation, row in routes.OPERATIONS.items()
        )
        if takes_json and not kind.endswith(b"json"):
            return errors.Refusal("INVALID_REQUEST_FORMAT", "Send JSON.")
        return None

    _first(answers)(patch)


@variant("N285", "logins are not offered, and nobody is asked who they are before that is said")
def no_logins(patch: Patch) -> None:
    def answers(scope: Any) -> errors.Refusal | None:
        if not is_call(scope, "completeScaLogin"):
            return None
        return errors.Refusal("NOT_IMPLEMENTED", "Logins are not offered.")

    _first(answers)(patch)
