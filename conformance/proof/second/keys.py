"""The header `Idempotency-Key`."""

from conformance.proof.second.call import Call
from conformance.proof.second.errors import invalid

MAX_KEY = 255


def checked_key(call: Call, *, needed: bool) -> str:
    """Return the header `Idempotency-Key`, or an empty text.

    Raises:
        Refusal: where it is too long, or missing and needed.
    """
    key = call.headers.get("idempotency-key", "")
    limit = MAX_KEY + 1 if call.world.has("long-key") else MAX_KEY
    if len(key) > limit or (needed and not key and not call.world.has("key-optional")):
        raise invalid(
            "Idempotency-Key",
            f"must have 1 to {MAX_KEY} characters",
            status=call.world.persona.key_status,
        )
    return key
