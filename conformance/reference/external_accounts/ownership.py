"""Proof that a customer owns an external account."""

from __future__ import annotations

import base64
import hmac
from typing import TYPE_CHECKING, Final

from conformance.reference import errors, fields
from conformance.reference.external_accounts import externals
from conformance.reference.rules import Field
from conformance.reference.unit import after, new_id, timestamp

if TYPE_CHECKING:
    from conformance.reference.store import ExternalAccount, Json
    from conformance.reference.unit import Ask, Unit

METHODS: Final = ("WALLET_SIGNATURE", "LIVENESS")
CHALLENGE_FIELDS = (Field("method", "string", required=True, enum=METHODS),)
PROOF_FIELDS = (
    Field("signature", "string", required=True, min_length=1),
    Field("signatureScheme", "string", nullable=True),
)
TRANSITIONS: dict[tuple[str, bool], str] = {
    ("PENDING_OWNERSHIP_VERIFICATION", True): "ACTIVE",
    ("PENDING_OWNERSHIP_VERIFICATION", False): "UNVERIFIED",
}
"""The next status, by the present one and whether the proof succeeded."""

SANDBOX_SIGNATURE = "c2lnbmVk"
"""What the sandbox takes for the owner's signature of any message."""

_SANDBOX_KEY = b"the key of every owner in the sandbox"


def challenge(unit: Unit, ask: Ask) -> Json:
    """Start the proof: by a signature, or by a hosted liveness check."""
    account = externals.get(unit, ask.params["externalAccountId"])
    method: str = fields.demand(ask.body, CHALLENGE_FIELDS)["method"]
    if not externals.is_unproven(account):
        raise errors.Refusal(
            "INVALID_STATE_TRANSITION", f"The account is {account.status}: no proof is asked for."
        )
    account.challenge = new_challenge(unit, account, method)
    return account.challenge


def new_challenge(unit: Unit, account: ExternalAccount, method: str) -> Json:
    """Return a new challenge, with what is to be signed or where the check takes place."""
    nonce = new_id("OwnershipChallenge")
    shown = {
        "WALLET_SIGNATURE": {"messageToSign": f"I own {account.id} ({nonce})."},
        "LIVENESS": {"verificationLink": f"https://liveness.example/{nonce}"},
    }
    expires_at = after(unit.now, unit.settings.challenge_lifetime_seconds)
    return {"method": method, **shown[method], "expiresAt": timestamp(expires_at)}


def verify(unit: Unit, ask: Ask) -> Json:
    """Complete a proof by signature; returns the account as it is then."""
    account = externals.get(unit, ask.params["externalAccountId"])
    body = fields.demand(ask.body, PROOF_FIELDS)
    message = (account.challenge or {}).get("messageToSign", "")
    proven = is_signature(body["signature"], message)
    conclude(unit, account, "WALLET_SIGNATURE", proven=proven)
    return externals.view(account)


def is_signature(text: str, message: str) -> bool:
    """Return whether a text is the owner's signature of a message, in base64."""
    known = (SANDBOX_SIGNATURE, signature_of(message))
    return any(hmac.compare_digest(text.encode(), one.encode()) for one in known)


def signature_of(message: str) -> str:
    """Return what the owner's wallet makes of a message in the sandbox."""
    return base64.b64encode(hmac.digest(_SANDBOX_KEY, message.encode(), "sha256")).decode()


def conclude(unit: Unit, account: ExternalAccount, method: str, *, proven: bool) -> None:
    """End the proof that was started; raises ``Refusal`` where there is none of the method."""
    begun = account.challenge
    reached = TRANSITIONS.get((account.status, proven))
    if begun is None or begun["method"] != method or reached is None:
        raise errors.Refusal("INVALID_STATE_TRANSITION", "No such proof was started.")
    expiry = fields.parse_timestamp(begun["expiresAt"])
    if expiry is None or unit.now >= expiry:
        raise errors.Refusal("INVALID_STATE_TRANSITION", "The challenge has expired. Start again.")
    account.challenge = None
    externals.reach(unit, account, reached)
