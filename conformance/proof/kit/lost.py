"""What the reference does where the client is gone before it was answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from conformance.proof.kit.builders import Handler
from conformance.proof.patch import Apply, Patch
from conformance.reference.app import BasicAuth
from conformance.reference.service import Service
from conformance.reference.unit import Ask

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

_MAX_SECONDS = 1.0
"""How long after a request its client may close the line, and count as gone."""

_receive: ContextVar[Receive] = ContextVar("receive")


def where_gone(handler: Handler, act: Callable[[Service, Ask], Any]) -> Apply:
    """Let ``act`` serve the requests of a handler whose client is gone; nobody gets its answer."""

    def apply(patch: Patch) -> None:
        async def remember(
            original: Callable[..., Awaitable[None]],
            app: BasicAuth,
            scope: Scope,
            receive: Receive,
            send: Send,
        ) -> None:
            _receive.set(receive)
            await original(app, scope, receive, send)

        async def serve(
            original: Callable[..., Awaitable[Any]], service: Service, served: Handler, ask: Ask
        ) -> Any:
            if served is handler and await _is_gone():
                return act(service, ask)
            return await original(service, served, ask)

        patch.wrap(BasicAuth, "__call__", remember)
        patch.wrap(Service, "serve", serve)

    return apply


async def _is_gone() -> bool:
    """Return whether the client of the request has closed its line, or does so in a moment."""
    try:
        async with asyncio.timeout(_MAX_SECONDS):
            while (await _receive.get()())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return False
    return True
