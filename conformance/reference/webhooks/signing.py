"""Signing webhooks: ECDSA on P-256 over SHA-256 of the raw body, DER, in base64."""

from __future__ import annotations

import base64
from functools import cache
from typing import Final

from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

HEADER: Final = "X-Webhook-Signature"

SANDBOX_KEY: Final = 0x7061796D656E74732D73616E64626F782D776562686F6F6B2D6B6579
"""The private key of every sandbox: known to all, so that platforms can try out verification."""

_ALGORITHM: Final = ec.ECDSA(hashes.SHA256())


@cache
def private_key() -> ec.EllipticCurvePrivateKey:
    """Return the key that webhooks are signed with."""
    return ec.derive_private_key(SANDBOX_KEY, ec.SECP256R1())


def public_key() -> str:
    """Return the key that webhooks are verified with, in PEM."""
    content = (
        private_key()
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    return content.decode()


def sign(body: bytes) -> str:
    """Return the signature of a webhook's body."""
    return base64.b64encode(private_key().sign(body, _ALGORITHM)).decode()


def headers(body: bytes) -> dict[str, str]:
    """Return the headers that a webhook is signed by."""
    return {HEADER: sign(body)}
