"""Embedded wallets: what leaves one waits for a signature of its customer's device."""

from __future__ import annotations

import base64
import binascii
import json
from typing import TYPE_CHECKING, Any, Final

from conformance.reference import errors
from conformance.reference.embedded_wallets import devices
from conformance.reference.internal_accounts import accounts
from conformance.reference.store import InternalAccount, Quote, WalletRequest
from conformance.reference.unit import after, new_id, timestamp

if TYPE_CHECKING:
    from collections.abc import Mapping

    from conformance.reference.store import Json
    from conformance.reference.unit import Ask, Unit

WALLET: Final = "EMBEDDED_WALLET"
SIGNATURE: Final = "service-wallet-signature"
REQUEST: Final = "request-id"

MISSING: dict[str, str] = {SIGNATURE: "WALLET_SIGNATURE_MISSING", REQUEST: "REQUEST_ID_MISSING"}
"""The headers of a signed retry, each with the code of a retry that lacks it."""

REQUEST_SECONDS: int = 300


def is_wallet(account: InternalAccount) -> bool:
    """Return whether what leaves an account has to be signed."""
    return account.type == WALLET


def wallet_of(unit: Unit, account_id: str | None) -> InternalAccount | None:
    """Return the embedded wallet of an id, or ``None`` where it is something else."""
    account = None if account_id is None else accounts.find(unit, account_id)
    return account if account is not None and is_wallet(account) else None


def source_account(quote: Quote) -> str | None:
    """Return the id of the internal account that a quote is paid from, if it is one."""
    return quote.source["accountId"] if quote.source_kind == "INTERNAL" else None


def demand_signature(
    unit: Unit, ask: Ask, account_id: str | None, action: str, body: Json | None = None
) -> None:
    """Let nothing leave a wallet that is not signed.

    Raises ``Demand`` where nobody has signed, and ``Refusal`` for a retry that is signed wrongly.
    """
    wallet = wallet_of(unit, account_id)
    if wallet is None:
        return
    if not is_retry(ask.headers):
        raise answer(open_request(unit, wallet, action, body))
    refuse_incomplete(ask.headers)
    signature = read_signature(ask.headers[SIGNATURE])
    request = find_request(unit, ask.headers[REQUEST])
    refuse_other(request, wallet, action, body)
    refuse_unverified(unit, request, signature)
    refuse_used(request, unit.now)
    request.used = True


def refuse_unsigned(unit: Unit, quote: Quote) -> None:
    """Refuse what would leave a wallet by a way that takes no signature."""
    if wallet_of(unit, source_account(quote)) is not None:
        raise errors.Refusal(
            MISSING[SIGNATURE], "Nothing leaves the wallet unsigned. Create a quote and sign it."
        )


def is_retry(headers: Mapping[str, str]) -> bool:
    """Return whether a request says that it was asked for a signature before."""
    return any(name in headers for name in (SIGNATURE, REQUEST))


def refuse_incomplete(headers: Mapping[str, str]) -> None:
    """Refuse a retry that lacks one of its headers."""
    for name, code in MISSING.items():
        if not headers.get(name):
            raise errors.Refusal(code, f"A signed retry has the header {name}.")


def read_signature(text: str) -> bytes:
    """Return the signature of a header; raises ``Refusal`` (WALLET_SIGNATURE_MALFORMED)."""
    try:
        signature = base64.b64decode(text, validate=True)
    except (ValueError, binascii.Error):
        signature = b""
    if not devices.is_signature(signature):
        raise errors.Refusal(
            "WALLET_SIGNATURE_MALFORMED", "Expected an ECDSA signature: DER in base64."
        )
    return signature


def open_request(
    unit: Unit, wallet: InternalAccount, action: str, body: Json | None
) -> WalletRequest:
    """Note what has to be signed before an action is carried out."""
    name = new_id("Request")
    request = WalletRequest(
        id=name,
        account_id=wallet.id,
        action=action,
        asked=body or {},
        payload=payload(name, wallet, action, body),
        used=False,
        expires_at=after(unit.now, REQUEST_SECONDS),
        created_at=unit.now,
    )
    unit.session.add(request)
    return request


def payload(request: str, wallet: InternalAccount, action: str, body: Any) -> str:
    """Return the text that the device signs: it tells this action from any other."""
    told = {"requestId": request, "accountId": wallet.id, "action": action, "body": body}
    return json.dumps(told, sort_keys=True, separators=(",", ":"))


def answer(request: WalletRequest) -> Exception:
    """Return what a request is answered that nobody has signed yet."""
    return errors.Demand(view(request))


def view(request: WalletRequest) -> Json:
    """Return what clients are asked for."""
    return {
        "payloadToSign": request.payload,
        "requestId": request.id,
        "expiresAt": timestamp(request.expires_at),
    }


def find_request(unit: Unit, name: str) -> WalletRequest:
    """Return the request that a retry repeats; raises ``Refusal`` (REQUEST_NOT_FOUND)."""
    request = unit.session.get(WalletRequest, name, with_for_update=True)
    if request is None:
        raise errors.Refusal("REQUEST_NOT_FOUND", "No request has the Request-Id of the retry.")
    return request


def refuse_other(
    request: WalletRequest, wallet: InternalAccount, action: str, body: Json | None
) -> None:
    """Refuse a retry that asks for something else than what is signed."""
    if (request.account_id, request.action, request.asked) != (wallet.id, action, body or {}):
        raise errors.Refusal(
            "WALLET_SIGNATURE_BODY_MISMATCH", "The signature is for another request than this one."
        )


def refuse_unverified(unit: Unit, request: WalletRequest, signature: bytes) -> None:
    """Refuse a signature that the wallet's device did not make over the payload."""
    if not devices.verifies(unit, request.account_id, signature, request.payload):
        raise errors.Refusal(
            "WALLET_SIGNATURE_INVALID", "The signature is not the device's over payloadToSign."
        )


def refuse_used(request: WalletRequest, now: int) -> None:
    """Refuse a retry that has been carried out already, or comes too late."""
    if request.used or now >= request.expires_at:
        raise errors.Refusal(
            "WALLET_SIGNATURE_INVALID", "The signature is used up or too old. Send it unsigned."
        )
