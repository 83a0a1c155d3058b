"""Credentials of internal accounts: by what their owners make themselves known."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select

from conformance.reference import errors, fields
from conformance.reference.embedded_wallets import devices
from conformance.reference.embedded_wallets.embedded_wallets import is_wallet
from conformance.reference.internal_accounts import accounts
from conformance.reference.rules import Field
from conformance.reference.store import Credential
from conformance.reference.unit import new_id, present, timestamp

if TYPE_CHECKING:
    from conformance.reference.store import Json
    from conformance.reference.unit import Ask, Unit

EXISTS: dict[str, str] = {
    "EMAIL_OTP": "EMAIL_OTP_CREDENTIAL_ALREADY_EXISTS",
    "SMS_OTP": "SMS_OTP_CREDENTIAL_ALREADY_EXISTS",
    "PASSKEY": "PASSKEY_CREDENTIAL_ALREADY_EXISTS",
}
"""The code of a credential that is there already, by its type."""

UNSYNCHRONIZED: dict[str, str] = {
    "EMAIL_OTP": "EMAIL_OTP_CREDENTIAL_SYNC_FAILED",
    "SMS_OTP": "SMS_OTP_CREDENTIAL_SYNC_FAILED",
}
"""The code of a credential that its keeper does not take over, by its type."""

FIELDS = (
    Field("accountId", "string", required=True, min_length=1),
    Field("type", "string", required=True, enum=tuple(EXISTS)),
    Field("credentialId", "string", required=True, min_length=1, when=("type", "PASSKEY")),
    Field("address", "string", min_length=1),
)


def add(unit: Unit, ask: Ask) -> Json:
    """Add a credential to an embedded wallet."""
    body = fields.demand(ask.body, FIELDS)
    account = accounts.get(unit, body["accountId"])
    if not is_wallet(account):
        message = "Expected an embedded wallet."
        raise errors.invalid_input(errors.field_error("accountId", message))
    credential = Credential(
        id=new_id("AuthMethod"),
        account_id=account.id,
        type=body["type"],
        passkey_id=body["credentialId"] if body["type"] == "PASSKEY" else None,
        address=body.get("address"),
        created_at=unit.now,
    )
    refuse_known(unit, credential)
    synchronize(unit, credential)
    unit.session.add(credential)
    return view(credential)


def refuse_known(unit: Unit, credential: Credential) -> None:
    """Refuse a credential that the account has already."""
    query = select(Credential).where(Credential.account_id == credential.account_id)
    if any(is_same(known, credential) for known in unit.session.scalars(query)):
        raise errors.Refusal(EXISTS[credential.type], "The account has this credential already.")


def is_same(known: Credential, credential: Credential) -> bool:
    """Return whether two credentials of an account exclude each other.

    It has one of each type, and as many passkeys as have ids of their own.
    """
    return (known.type, known.passkey_id) == (credential.type, credential.passkey_id)


def synchronize(unit: Unit, credential: Credential) -> None:
    """Hand a credential over to whoever keeps it; raises ``Refusal`` where that fails."""
    code = UNSYNCHRONIZED.get(credential.type)
    if code is not None and not devices.device_of(unit, credential.account_id).in_sync:
        raise errors.Refusal(code, "The credential could not be taken over. Try again.")


def view(credential: Credential) -> Json:
    """Return the credential as clients see it."""
    return present(
        {
            "id": credential.id,
            "accountId": credential.account_id,
            "type": credential.type,
            "credentialId": credential.passkey_id,
            "address": credential.address,
            "createdAt": timestamp(credential.created_at),
        }
    )
