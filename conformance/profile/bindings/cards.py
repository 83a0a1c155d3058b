"""Bindings of cards."""

from __future__ import annotations

from typing import Any

from pydantic import (
    Field,
)

from conformance.profile.part import ProfilePart


class CardBindings(ProfilePart):
    """What the specification leaves open of cards."""

    card_funding: str | None = Field(
        None,
        description="The member of an internal account that lists what a card could do with it; "
        "null where the implementation has none.",
    )
    return_reversal_id: str = Field(
        "{cardId}",
        description="The id in the path of `POST /sandbox/cards/{id}/simulate/return_reversal`; "
        "`{cardId}` and `{transactionId}` (the refund row) are filled in.",
    )
    return_reversal: dict[str, Any] = Field(
        default_factory=lambda: {"transactionId": "{transactionId}"},
        description="The body of the reversal of a card return; `{cardId}` and `{transactionId}` "
        "are filled in.",
    )
