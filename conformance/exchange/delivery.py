"""A webhook delivery, as it arrived and as it goes to other processes of a run."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from conformance.exchange.content import decode, text

_BYTES_PER_VALUE = 64


@dataclass(frozen=True)
class Delivery:
    """One webhook delivery as it arrived.

    ``body`` is the decoded JSON value, or ``None`` if it was not JSON; ``raw`` are the bytes.
    ``at`` is the time of arrival in seconds since the epoch. ``acknowledged`` says whether it was
    answered with 200. ``whole`` is false where ``raw`` was made from the body anew, as a recording
    keeps no bytes that hold a secret; no signature can be verified then.
    """

    number: int
    at: float
    headers: Mapping[str, str]
    body: Any
    raw: bytes
    acknowledged: bool = True
    whole: bool = True

    @property
    def text(self) -> str:
        """The raw bytes as text."""
        return text(self.raw)

    @cached_property
    def id(self) -> str | None:
        """The event's id, the same in every delivery of one event."""
        return self._member("id")

    @cached_property
    def type(self) -> str | None:
        """The event's type, for example ``OUTGOING_PAYMENT.COMPLETED``."""
        return self._member("type")

    @property
    def data(self) -> Any:
        """The affected resource."""
        return self.body.get("data") if isinstance(self.body, dict) else None

    @cached_property
    def resource(self) -> str | None:
        """The id of the affected resource, where it is a text."""
        value = self.data.get("id") if isinstance(self.data, dict) else None
        return value if isinstance(value, str) else None

    def concerns(self, resource: str) -> bool:
        """Return whether ``data`` is the resource of that id."""
        return self.resource == resource

    def breaks_off_before(self, other: Delivery) -> bool:
        """Return whether only the beginning of its body arrived, and all of it in ``other``."""
        is_shorter = len(self.raw) < len(other.raw)
        return self.body is None and is_shorter and other.raw.startswith(self.raw)

    def holds(self, *names: str) -> bool:
        """Return whether one of ``names`` stands anywhere in it."""
        shown = self.text
        if "\\" in shown:
            # A sender may write characters of an id as escapes.
            shown += json.dumps(self.body, ensure_ascii=False)
        return any(name in shown for name in names)

    @property
    def memory(self) -> int:
        """About how many bytes of memory it takes, at least."""
        # Decoded, a text takes up to four bytes for a character, and an empty object 64 bytes.
        values = sum(self.raw.count(sign) for sign in (b",", b":", b"[", b"{"))
        characters = len(self.raw) * (1 if self.raw.isascii() else 4)
        headers = sum(len(name) + len(value) for name, value in self.headers.items())
        parts = values + 2 * len(self.headers)
        return len(self.raw) + characters + headers + parts * _BYTES_PER_VALUE

    def _member(self, name: str) -> str | None:
        value = self.body.get(name) if isinstance(self.body, dict) else None
        return value if isinstance(value, str) else None


def to_json(delivery: Delivery) -> dict[str, Any]:
    """Return a delivery as it goes to other processes, which decode the body anew."""
    return {
        "number": delivery.number,
        "at": delivery.at,
        "headers": delivery.headers,
        "raw": base64.b64encode(delivery.raw).decode(),
        "acknowledged": delivery.acknowledged,
    }


def from_json(members: Mapping[str, Any]) -> Delivery:
    """Return the delivery that :func:`to_json` described.

    Raises:
        LookupError, TypeError, ValueError: it did not.
    """
    raw = base64.b64decode(members["raw"])
    body, _ = decode(raw)
    return Delivery(**{**members, "raw": raw, "body": body})
