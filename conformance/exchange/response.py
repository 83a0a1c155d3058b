"""What came of one request, before it is judged."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Self

import httpx

from conformance.contract.judge import error_code, error_codes
from conformance.exchange.content import decode, is_beyond_bounds, text, unescaped
from conformance.sut.reading import (
    retry_after,
)
from conformance.verdict.decisions import (
    TargetLost,
    Unmet,
)

TOO_MANY = 429

_GATEWAY_ERRORS = frozenset({502, 503, 504})

_LIMIT_CODES = frozenset({"DAILY_VOLUME_LIMIT_EXCEEDED"})

CAPPED = "startFactorReset"

"""Its 429 limits how many of them a customer may start in a day (Limits, line 491)."""

MAX_PAUSE_SECONDS = 5.0

MAX_PACE_SECONDS = 600.0

"""Who asks to wait for longer limits something else than the pace of requests."""


class ResponseTooSlow(TargetLost):
    """The target took longer over its response than the client is willing to wait."""


class ConnectionBroken(TargetLost):
    """The target sent no complete response, or none at all."""


@dataclass(frozen=True, slots=True)
class Response:
    """A whole response, as it came.

    ``is_bounded`` says whether the body could be read: what is nested too deep may be JSON or not.
    ``plain`` is the body as text, and ``unescaped`` the same where it has escapes, behind which a
    secret may hide; else it is empty.
    """

    seconds: float
    status: int
    headers: httpx.Headers
    content: bytes
    body: Any
    is_json: bool
    is_bounded: bool
    plain: str
    unescaped: str

    @property
    def spelled(self) -> str:
        """The body as text, in all spellings in which a secret may stand there."""
        return f"{self.plain}\n{self.unescaped}" if self.unescaped else self.plain

    @classmethod
    def read(cls, response: httpx.Response, content: bytes, seconds: float) -> Self:
        """Decode a response of which ``content`` is the body."""
        body, is_json = decode(content)
        plain, free = text(content), ""
        if "\\" in plain:
            free = json.dumps(body, ensure_ascii=False) if is_json else unescaped(plain)
        is_bounded = is_json or not is_beyond_bounds(content)
        status, headers = response.status_code, response.headers
        return cls(seconds, status, headers, content, body, is_json, is_bounded, plain, free)

    @property
    def limits_requests(self) -> bool:
        """Whether it says that there are too many requests, and not too much of something else."""
        return self.status == TOO_MANY and error_code(self.body) not in _LIMIT_CODES

    @property
    def wait_asked(self) -> float | None:
        """For how many seconds the target asks to wait; ``None`` where it does not say."""
        return retry_after(self.headers.get("retry-after", ""), self.headers.get("date", ""))

    @property
    def pause_asked(self) -> float | None:
        """For how many seconds the target asks to wait, where it answered for the pace alone.

        Rates of requests are not shown in the specification (Limits, line 503).
        """
        if not self.limits_requests:
            return None
        after = self.wait_asked
        return after if after is not None and after <= MAX_PACE_SECONDS else None

    @property
    def is_gateway_error(self) -> bool:
        """Whether what is in front of the implementation says that it cannot be reached."""
        return self.status in _GATEWAY_ERRORS and error_code(self.body) not in error_codes()

    @property
    def is_answer(self) -> bool:
        """Whether the implementation itself looked at the request."""
        return not (self.limits_requests or self.is_gateway_error)

    def __str__(self) -> str:
        return f"answered {self.status}"


@dataclass(frozen=True, slots=True)
class Failure:
    """A request without a readable response: the error to raise, and the cause in short."""

    seconds: float
    error: Unmet
    cause: str

    @property
    def is_answer(self) -> bool:
        """Whether it is for what the target sent, and not for its silence."""
        return not isinstance(self.error, ResponseTooSlow | ConnectionBroken)

    def __str__(self) -> str:
        return "got no response"
