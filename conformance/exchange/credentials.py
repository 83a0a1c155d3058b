"""Credentials in the place of the target's."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, field

import httpx


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
