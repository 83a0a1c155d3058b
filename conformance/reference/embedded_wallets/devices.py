"""The devices of the owners of embedded wallets: they keep the keys, and sign.

Signatures are ECDSA on P-256 over SHA-256, DER, in base64.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Final

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

from conformance.reference import errors, fields
from conformance.reference.internal_accounts import accounts
from conformance.reference.rules import Field
from conformance.reference.store import WalletDevice

if TYPE_CHECKING:
    from conformance.reference.store import Json
    from conformance.reference.unit import Ask, Unit

DEVICE: Final = "DEVICE"
STRANGER: Final = "STRANGER"
OUT_OF_SYNC: Final = "OUT_OF_SYNC"

_ALGORITHM: Final = ec.ECDSA(hashes.SHA256())
_SIGN_FIELDS = (
    Field("payload", "string", required=True),
    Field("key", "string", required=True, enum=(DEVICE, STRANGER)),
)
_CONDITION_FIELDS = (Field("condition", "string", required=True, enum=(OUT_OF_SYNC,)),)


def device_of(unit: Unit, account_id: str) -> WalletDevice:
    """Return the device behind a wallet; it makes its key when it is first asked for."""
    device = unit.session.get(WalletDevice, account_id)
    if device is None:
        device = WalletDevice(id=account_id, key=_written(_new_key()), in_sync=True)
        unit.session.add(device)
        unit.session.flush()
    return device


def is_signature(content: bytes) -> bool:
    """Return whether bytes have the form of a signature."""
    try:
        decode_dss_signature(content)
    except ValueError:
        return False
    return True


def verifies(unit: Unit, account_id: str, signature: bytes, payload: str) -> bool:
    """Return whether a signature over a payload is that of a wallet's device."""
    key = _read(device_of(unit, account_id).key).public_key()
    try:
        key.verify(signature, payload.encode(), _ALGORITHM)
    except InvalidSignature:
        return False
    return True


def sign(unit: Unit, ask: Ask) -> Json:
    """Let the wallet's device, or a stranger, sign a payload: ``{payload, key}``."""
    body = fields.demand(ask.body, _SIGN_FIELDS)
    device = device_of(unit, _wallet(unit, ask))
    key = _read(device.key) if body["key"] == DEVICE else _new_key()
    signature = key.sign(body["payload"].encode(), _ALGORITHM)
    return {"signature": base64.b64encode(signature).decode()}


def condition(unit: Unit, ask: Ask) -> None:
    """Let the keeper of the wallet's credentials fall out of step: ``{condition}``."""
    fields.demand(ask.body, _CONDITION_FIELDS)
    device_of(unit, _wallet(unit, ask)).in_sync = False


def _wallet(unit: Unit, ask: Ask) -> str:
    account = accounts.get(unit, ask.params["accountId"])
    if account.type != "EMBEDDED_WALLET":
        raise errors.Refusal("ACCOUNT_NOT_FOUND", "No embedded wallet has this id.")
    return account.id


def _new_key() -> ec.EllipticCurvePrivateKey:
    return ec.generate_private_key(ec.SECP256R1())


def _written(key: ec.EllipticCurvePrivateKey) -> str:
    content = key.private_bytes(
        serialization.Encoding.DER,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    return base64.b64encode(content).decode()


def _read(text: str) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_der_private_key(base64.b64decode(text), None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key
