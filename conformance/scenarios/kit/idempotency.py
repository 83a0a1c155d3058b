"""Keys by which a request is known when it is sent again."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.platform.resource import Json


def key_of_marks(platform: Platform, subject: Json) -> str:
    """Return an ``Idempotency-Key`` of letters, digits and marks, for what has an id in it."""
    key = platform.samples.idempotency_key(subject)
    return f"https://pay.example/Order_{key}?by=a.b+c@example.com,2~1"
