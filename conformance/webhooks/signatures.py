"""Signatures of webhooks, verified in the form that the profile gives."""

from __future__ import annotations

import base64
import hashlib
import hmac
import re
from collections.abc import Callable, Mapping

from conformance.contract.judge import Finding
from conformance.exchange.delivery import Delivery
from conformance.profile.part import ProfileError
from conformance.profile.webhooks import Signature
from conformance.sut.credentials import problem_of

PRESENT = "EVT-250"
VERIFIES = "EVT-251"

_KEY = "webhooks.signature.key of the profile"
_WORD = re.compile(r"\{([A-Za-z0-9_-]+)\}")
_RAW_ECDSA_BYTES = 64
_MARK = "whsec_"
"""What senders write before a secret in base64, so that it is known for one."""

Check = Callable[[bytes, bytes], bool]
"""Whether a signature is one of a message."""


class Verifier:
    """Verifies the webhooks of a run with one key.

    Raises:
        ProfileError: the key is missing, is none of the algorithm, or is a secret that cannot be
            told from ordinary words.
    """

    def __init__(self, signature: Signature, environ: Mapping[str, str]) -> None:
        self._signature = signature
        self.secrets: tuple[str, ...] = ()
        """The values that no report, journal or message may show."""
        if signature.symmetric:
            secret = environ.get(signature.key)
            if not secret:
                raise ProfileError(f"export {signature.key}, which {_KEY} names")
            if (problem := problem_of(signature.key, secret)) is not None:
                raise ProfileError(problem)
            self.secrets = (secret,)
            self._check = _hmac_check(signature.algorithm, _key_of(signature, secret))
        else:
            self._check = _public_key_check(signature.algorithm, signature.key)

    def findings(self, delivery: Delivery) -> tuple[Finding, ...]:
        """Return what a delivery says about signatures; nothing if it is no webhook."""
        if delivery.type is None:
            return ()
        name = self._signature.header
        if not delivery.headers.get(name.lower()):
            return (Finding(PRESENT, passed=False, detail=f"it has no header {name}"),)
        problem = self.problem(delivery)
        return (
            Finding(PRESENT, passed=True),
            Finding(VERIFIES, passed=problem is None, detail=problem or ""),
        )

    def problem(self, delivery: Delivery) -> str | None:
        """Return what is wrong with the signature of a delivery, ``None`` where it verifies."""
        name = self._signature.header
        given = delivery.headers.get(name.lower(), "")
        candidates = self._candidates(given)
        if not candidates:
            return f"{name} holds nothing that begins with {self._signature.prefix!r}"
        message, missing = self._message(delivery, given)
        if missing:
            return f"webhooks.signature.signed names {missing}, which the delivery does not carry"
        decoded = [self._decode(candidate) for candidate in candidates]
        if not any(decoded):
            return f"{name} is not {self._signature.encoding}"
        if any(one is not None and self._check(one, message) for one in decoded):
            return None
        return f"{name} does not verify by {self._signature.algorithm} over {self._form}"

    @property
    def _form(self) -> str:
        """What is signed with which key, in the words of the profile."""
        message, key = self._signature.signed, "the public key of the profile"
        if self._signature.symmetric:
            spelled = "base64" if self._signature.key_encoding == "base64" else "a text"
            key = f"the secret in {self._signature.key}, which is taken for {spelled}"
        return f"{'the raw body' if message == '{body}' else message}, with {key}"

    def _candidates(self, given: str) -> list[str]:
        prefix = self._signature.prefix
        if not prefix:
            return [given.strip()]
        # Several signatures may stand beside each other while keys are exchanged.
        return re.findall(rf"(?:^|[,;\s]){re.escape(prefix)}([^,;\s]+)", given)

    def _message(self, delivery: Delivery, given: str) -> tuple[bytes, str | None]:
        """Return what is signed, or the name of what it would need."""
        parts: list[bytes] = []
        for number, part in enumerate(_WORD.split(self._signature.signed)):
            if number % 2 == 0:
                parts.append(part.encode())
            elif part == "body":
                parts.append(delivery.raw)
            elif (value := _named(part, delivery.headers, given)) is not None:
                parts.append(value.encode())
            else:
                return b"", part
        return b"".join(parts), None

    def _decode(self, text: str) -> bytes | None:
        try:
            if self._signature.encoding == "hex":
                return bytes.fromhex(text)
            return _base64(text)
        except ValueError:
            return None


def _named(name: str, headers: Mapping[str, str], given: str) -> str | None:
    """Return the value of a header, or of ``name=value`` within the signature header."""
    if name.lower() in headers:
        return headers[name.lower()]
    found = re.search(rf"(?:^|[,;\s]){re.escape(name)}=([^,;\s]+)", given)
    return found[1] if found else None


def _key_of(signature: Signature, secret: str) -> bytes:
    """Return the bytes that a secret stands for."""
    if signature.key_encoding == "text":
        return secret.encode()
    try:
        return _base64(secret.removeprefix(_MARK))
    except ValueError:
        # The message of the decoder may hold what it could not read, which is secret.
        message = f"the secret in {signature.key} is not base64, as key_encoding says"
        raise ProfileError(message) from None


def _base64(text: str) -> bytes:
    """Return what base64 spells, in the alphabet of URLs too and without its padding."""
    standard = text.replace("-", "+").replace("_", "/").rstrip("=")
    return base64.b64decode(standard + "=" * (-len(standard) % 4), validate=True)


def _hmac_check(algorithm: str, key: bytes) -> Check:
    digest = {"hmac-sha256": hashlib.sha256, "hmac-sha512": hashlib.sha512}[algorithm]

    def check(signature: bytes, message: bytes) -> bool:
        return hmac.compare_digest(hmac.new(key, message, digest).digest(), signature)

    return check


def _public_key_check(algorithm: str, pem: str) -> Check:
    # Runs without signatures need not pay for it.
    from cryptography.exceptions import InvalidSignature  # noqa: PLC0415
    from cryptography.hazmat.primitives import hashes, serialization  # noqa: PLC0415
    from cryptography.hazmat.primitives.asymmetric import (  # noqa: PLC0415
        ec,
        ed25519,
        padding,
        rsa,
        utils,
    )

    try:
        key = serialization.load_pem_public_key(pem.encode())
    except ValueError as error:
        raise ProfileError(f"{_KEY} is no public key in PEM: {error}") from error

    def ecdsa(signature: bytes, message: bytes) -> None:
        assert isinstance(key, ec.EllipticCurvePublicKey)
        by = ec.ECDSA(hashes.SHA256())
        try:
            key.verify(signature, message, by)
        except InvalidSignature:
            if len(signature) != _RAW_ECDSA_BYTES:
                raise
            # The two numbers side by side, as JOSE has it.
            halves = signature[:32], signature[32:]
            numbers = (int.from_bytes(half, "big") for half in halves)
            key.verify(utils.encode_dss_signature(*numbers), message, by)

    def eddsa(signature: bytes, message: bytes) -> None:
        assert isinstance(key, ed25519.Ed25519PublicKey)
        key.verify(signature, message)

    def of_rsa(signature: bytes, message: bytes) -> None:
        assert isinstance(key, rsa.RSAPublicKey)
        key.verify(signature, message, padding.PKCS1v15(), hashes.SHA256())

    kinds = {
        "ecdsa-p256-sha256": (ec.EllipticCurvePublicKey, ecdsa),
        "ed25519": (ed25519.Ed25519PublicKey, eddsa),
        "rsa-sha256": (rsa.RSAPublicKey, of_rsa),
    }
    kind, verify = kinds[algorithm]
    on_other_curve = isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name != "secp256r1"
    if not isinstance(key, kind) or on_other_curve:
        raise ProfileError(f"{_KEY} is no public key of {algorithm}")

    def check(signature: bytes, message: bytes) -> bool:
        try:
            verify(signature, message)
        except InvalidSignature:
            return False
        return True

    return check
