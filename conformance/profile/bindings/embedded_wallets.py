"""Bindings of embedded wallets."""

from __future__ import annotations

from pydantic import (
    Field,
)

from conformance.profile.part import ProfilePart


class EmbeddedWalletBindings(ProfilePart):
    """What the specification leaves open of embedded wallets."""

    wallet_privacy: str | None = Field(
        "privateEnabled",
        description="The member of an embedded wallet that says whether it is private; "
        "null where there is none.",
    )
    wallet_payload: str | None = Field(
        "payloadToSign",
        description="The dotted path of what the customer's device has to sign, in the answer to "
        "an unsigned action of an embedded wallet, in the details of its refusal or "
        "in the quote; null for the body of the request itself.",
    )
    wallet_request: str | None = Field(
        "requestId",
        description="The dotted path of the `Request-Id` of the signed retry, in the same "
        "places; null where the client chooses it.",
    )
    wallet_malformed_signature: str = Field(
        "not a signature", description="A `Service-Wallet-Signature` that cannot be one."
    )
