"""Bindings of internal accounts."""

from __future__ import annotations

from typing import Any

from pydantic import (
    Field,
)

from conformance.profile.part import ProfilePart


class InternalAccountBindings(ProfilePart):
    """What the specification leaves open of internal accounts."""

    fund: dict[str, Any] = Field(
        default_factory=lambda: {"amount": "{amount}"},
        description="The body of `POST /sandbox/internal-accounts/{accountId}/fund`; `{amount}` "
        "and `{currency}` are filled in.",
    )
    rule_based_account: dict[str, Any] = Field(
        default_factory=lambda: {
            "type": "RULE_BASED",
            "customerId": "{customerId}",
            "currency": "{currency}",
            "label": "{label}",
            "sweepRule": {"destination": {"accountId": "{accountId}"}},
        },
        description="The body of `POST /internal-accounts`; `{customerId}`, `{currency}`, "
        "`{label}`, `{accountId}` (the destination of the sweep: an external account, or an "
        "internal one, which may be that of another customer) and "
        "`{holderAccountId}` (the holder's own account; put it in the place of "
        "`{accountId}` where no other can be the destination) are filled in, and a "
        "member whose value a request does not have is left out.",
    )
