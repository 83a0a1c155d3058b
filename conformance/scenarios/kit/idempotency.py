"""Keys by which a request is known when it is sent again."""

from __future__ import annotations

from conformance.platform.platform import Platform


def key_of_marks(platform: Platform) -> str:
    """Return an ``Idempotency-Key`` of letters, digits and marks."""
    return f"https://pay.example/Order_{platform.samples.reference()}?by=a.b+c@example.com,2~1"
