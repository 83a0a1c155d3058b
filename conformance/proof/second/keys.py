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
    long = len(key) > MAX_KEY and not (len(key) == MAX_KEY + 1 and call.world.has("long-key"))
    if len(key) == MAX_KEY and call.world.has("longest-key-refused"):
        long = True
    if long and not needed and call.world.has("link-key-unlimited"):
        long = False
    if long or (needed and not key and not call.world.has("key-optional")):
        raise invalid(
            "Idempotency-Key",
            f"must have 1 to {MAX_KEY} characters",
            status=call.world.persona.key_status,
        )
    if len(key) > 64 and call.world.has("key-cut"):
        return key[:64]
    if key != key.lower() and call.world.has("key-case-folded"):
        return key.lower()
    return key
