"""UMA addresses: how they are written, and whether somebody answers under one."""

from __future__ import annotations

import re

from conformance.reference import errors

_ADDRESS = re.compile(r"\$[a-z0-9._+-]{1,64}@[a-z0-9-]+(\.[a-z0-9-]+)+")
_NOBODY = "$unknown"


def is_address(text: str) -> bool:
    """Return whether a text is written as a UMA address."""
    return _ADDRESS.fullmatch(text.lower()) is not None


def has_receiver(address: str) -> bool:
    """Return whether the counterparty of an address has a receiver of that name."""
    return not address.lower().startswith(_NOBODY)


def refuse_malformed(text: str) -> None:
    """Refuse what is no UMA address."""
    if not is_address(text):
        raise errors.Refusal(
            "INVALID_UMA_ADDRESS", "Expected an address of the form $user@domain.example."
        )


def refuse_nobody(address: str) -> None:
    """Refuse an address under which nobody receives."""
    if not has_receiver(address):
        raise errors.Refusal("UMA_NOT_FOUND", "The counterparty has no receiver of this address.")
