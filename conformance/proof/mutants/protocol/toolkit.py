"""What mutants and conforming variants of several modules change in messages."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeAlias

from starlette.requests import Request
from starlette.responses import Response

from conformance.proof.kit.builders import around
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import app, errors
from conformance.reference.app import BasicAuth

Scope: TypeAlias = Any


Sees = Callable[[str, bytes], bool]
"""Whether a body, by its content type and its bytes, is one that a mutant treats otherwise."""


def crash(_raw: bytes) -> Any:
    raise RuntimeError("the body breaks the service")


def refuse(_raw: bytes) -> Any:
    raise errors.Refusal("INVALID_REQUEST_FORMAT", "The body is not understood.")


def reading(sees: Sees, then: Callable[[bytes], Any] = crash) -> Apply:
    """Return a patch after which ``then`` reads the JSON bodies that ``sees`` is true of."""

    async def read_json(
        original: Callable[..., Awaitable[Any]], request: Request, limit: int
    ) -> Any:
        raw = await request.body()
        if sees(request.headers.get("content-type", ""), raw):
            return then(raw)
        return await original(request, limit)

    return around(app, "read_json", read_json)


def answered_early(patch: Patch, change: Callable[[Scope], Response | None]) -> None:
    """Let ``change`` alter each request, or answer it, before it is routed."""

    async def call(
        original: Function, self: Any, scope: Scope, receive: Function, send: Function
    ) -> None:
        if scope["type"] == "http" and (answer := change(scope)) is not None:
            await answer(scope, receive, send)
            return
        await original(self, scope, receive, send)

    patch.wrap(BasicAuth, "__call__", call)


def raw_path(scope: Scope) -> bytes:
    path: bytes = scope["raw_path"]
    return path
