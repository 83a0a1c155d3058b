"""Signatures of webhooks: every algorithm and form, right and wrong, and keys that are none."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, padding, rsa, utils

from conformance.exchange.delivery import Delivery
from conformance.profile.loading import read_profile
from conformance.profile.part import ProfileError
from conformance.profile.webhooks import Signature
from conformance.reference import signing
from conformance.run import load_profile
from conformance.webhooks.signatures import PRESENT, VERIFIES, Verifier

SECRET = "a-secret-of-the-sender"
ENVIRON = {"ACME_SECRET": SECRET}
BODY = '{"id":"Webhook:1", "type":"PAYMENT.DONE", "data":{"text":"Grüße"}}'.encode()

Sign = Callable[[bytes], bytes]

_EC = ec.derive_private_key(7, ec.SECP256R1())
_OTHER_CURVE = ec.derive_private_key(7, ec.SECP384R1())
_ED = ed25519.Ed25519PrivateKey.from_private_bytes(bytes(32))
_RSA = rsa.generate_private_key(65537, 2048)


def _raw_ecdsa(message: bytes) -> bytes:
    numbers = utils.decode_dss_signature(_EC.sign(message, ec.ECDSA(hashes.SHA256())))
    return b"".join(number.to_bytes(32, "big") for number in numbers)


def pem(key: Any) -> str:
    """Return the public half of a key."""
    return str(
        key.public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
        .decode()
    )


SCHEMES: dict[str, tuple[str, str, Sign]] = {
    "hmac-sha256": (
        "hmac-sha256",
        "ACME_SECRET",
        lambda message: hmac.new(SECRET.encode(), message, hashlib.sha256).digest(),
    ),
    "hmac-sha512": (
        "hmac-sha512",
        "ACME_SECRET",
        lambda message: hmac.new(SECRET.encode(), message, hashlib.sha512).digest(),
    ),
    "ecdsa": (
        "ecdsa-p256-sha256",
        pem(_EC),
        lambda message: _EC.sign(message, ec.ECDSA(hashes.SHA256())),
    ),
    "raw-ecdsa": ("ecdsa-p256-sha256", pem(_EC), _raw_ecdsa),
    "ed25519": ("ed25519", pem(_ED), _ED.sign),
    "rsa": (
        "rsa-sha256",
        pem(_RSA),
        lambda message: _RSA.sign(message, padding.PKCS1v15(), hashes.SHA256()),
    ),
}
"""By name the algorithm, the key of the profile, and who signs."""

every_scheme = pytest.mark.parametrize("scheme", SCHEMES)


def verifier(scheme: str, **more: Any) -> Verifier:
    """Return a verifier of a scheme; ``more`` are further members of the profile's signature."""
    algorithm, key, _ = SCHEMES[scheme]
    named = {"header": "X-Signature", "algorithm": algorithm, "key": key, **more}
    return Verifier(Signature.model_validate(named), ENVIRON)


def delivery(signature: str | None, **headers: str) -> Delivery:
    """Return a webhook with a signature header."""
    given = {} if signature is None else {"x-signature": signature}
    return Delivery(0, 0.0, {**given, **headers}, {"type": "PAYMENT.DONE"}, BODY)


def base64_of(content: bytes) -> str:
    """Return bytes in base64."""
    return base64.b64encode(content).decode()


class TestVerifying:
    """What was signed with the key over the raw body, and nothing else."""

    @every_scheme
    def test_a_right_signature_verifies(self, scheme: str) -> None:
        """In both encodings."""
        signature = SCHEMES[scheme][2](BODY)

        assert verifier(scheme).problem(delivery(base64_of(signature))) is None
        assert verifier(scheme, encoding="hex").problem(delivery(signature.hex())) is None

    @every_scheme
    def test_a_signature_of_another_body_does_not(self, scheme: str) -> None:
        """A space is enough."""
        signature = base64_of(SCHEMES[scheme][2](BODY.replace(b", ", b",")))

        assert "does not verify" in str(verifier(scheme).problem(delivery(signature)))

    @every_scheme
    @pytest.mark.parametrize("given", ["????", base64_of(b"short"), base64_of(bytes(64))])
    def test_what_is_no_signature_does_not(self, scheme: str, given: str) -> None:
        """Without an exception."""
        assert verifier(scheme).problem(delivery(given)) is not None

    def test_another_secret_does_not_verify(self) -> None:
        """The message does not show it."""
        signature = base64_of(hmac.new(b"other", BODY, hashlib.sha256).digest())

        problem = str(verifier("hmac-sha256").problem(delivery(signature)))

        assert "does not verify" in problem
        assert SECRET not in problem

    def test_base64_may_be_that_of_urls(self) -> None:
        """And without its padding."""
        signature = base64.urlsafe_b64encode(SCHEMES["rsa"][2](BODY)).decode().rstrip("=")

        assert verifier("rsa").problem(delivery(signature)) is None


class TestForms:
    """Headers and signed texts differ from sender to sender."""

    def test_a_prefix_stands_before_the_signature(self) -> None:
        """Without it there is none."""
        signature = SCHEMES["hmac-sha256"][2](BODY).hex()
        checked = verifier("hmac-sha256", encoding="hex", prefix="sha256=")

        assert checked.problem(delivery(f"sha256={signature}")) is None
        assert "begins with 'sha256='" in str(checked.problem(delivery(signature)))

    def test_a_header_may_hold_the_time_too(self) -> None:
        """It is signed with the body."""
        signature = SCHEMES["hmac-sha256"][2](b"1700000000." + BODY).hex()
        checked = verifier("hmac-sha256", encoding="hex", prefix="v1=", signed="{t}.{body}")

        assert checked.problem(delivery(f"t=1700000000,v1={signature}")) is None
        assert "does not verify" in str(checked.problem(delivery(f"t=1700000001,v1={signature}")))
        assert "names t" in str(checked.problem(delivery(f"v1={signature}")))

    def test_other_headers_may_be_signed(self) -> None:
        """One right signature among several is enough."""
        signature = base64_of(SCHEMES["hmac-sha256"][2](b"msg_1.1700000000." + BODY))
        named = {"webhook-id": "msg_1", "webhook-timestamp": "1700000000"}
        signed = "{Webhook-Id}.{webhook-timestamp}.{body}"
        checked = verifier("hmac-sha256", prefix="v1,", signed=signed)

        assert checked.problem(delivery(f"v1,b2xk v1,{signature}", **named)) is None


class TestFindings:
    """Each delivery decides the two rules."""

    def test_a_right_signature_passes_both(self) -> None:
        """Present, and right."""
        signature = base64_of(SCHEMES["ed25519"][2](BODY))

        found = verifier("ed25519").findings(delivery(signature))

        assert [(one.requirement, one.passed) for one in found] == [
            (PRESENT, True),
            (VERIFIES, True),
        ]

    def test_a_wrong_signature_fails_one(self) -> None:
        """It is there."""
        found = verifier("ed25519").findings(delivery(base64_of(bytes(64))))

        assert [one.passed for one in found] == [True, False]

    def test_a_missing_signature_fails_the_other(self) -> None:
        """There is nothing to verify."""
        (found,) = verifier("ed25519").findings(delivery(None))

        assert (found.requirement, found.passed) == (PRESENT, False)
        assert "X-Signature" in found.detail

    def test_what_is_no_webhook_decides_nothing(self) -> None:
        """A stranger may find the listener."""
        stranger = Delivery(0, 0.0, {}, None, b"hello")

        assert verifier("ed25519").findings(stranger) == ()

    def test_the_reference_signs_as_its_profile_says(self) -> None:
        """With the key of its sandbox."""
        signature = load_profile("reference").webhooks.signature
        assert signature is not None
        assert signature.key == signing.public_key()

        headers = {name.lower(): value for name, value in signing.headers(BODY).items()}

        signed = Delivery(0, 0.0, headers, {"type": "PAYMENT.DONE"}, BODY)
        assert Verifier(signature, {}).problem(signed) is None


class TestKeys:
    """A key that cannot be used is told at once, by the name of its place."""

    def test_an_unset_variable_is_named(self) -> None:
        """It has to be exported."""
        signature = {"header": "X", "algorithm": "hmac-sha256", "key": "ACME_SECRET"}

        with pytest.raises(ProfileError, match="export ACME_SECRET"):
            Verifier(Signature.model_validate(signature), {})

    @pytest.mark.parametrize("secret", ["s3cret!", "whsecret", "createdAt"])
    def test_a_secret_that_is_an_ordinary_word_is_refused(self, secret: str) -> None:
        """It could not be kept out of reports; the variable is told, the value is not."""
        signature = {"header": "X", "algorithm": "hmac-sha256", "key": "ACME_SECRET"}

        with pytest.raises(ProfileError, match="the secret in ACME_SECRET cannot be") as refused:
            Verifier(Signature.model_validate(signature), {"ACME_SECRET": secret})

        assert secret not in str(refused.value)

    def test_a_secret_is_to_be_masked(self) -> None:
        """Public keys are none."""
        assert verifier("hmac-sha512").secrets == (SECRET,)
        assert verifier("rsa").secrets == ()

    @pytest.mark.parametrize(
        ("algorithm", "key"),
        [
            ("ed25519", pem(_EC)),
            ("ecdsa-p256-sha256", pem(_OTHER_CURVE)),
            ("rsa-sha256", pem(_ED)),
            ("rsa-sha256", "-----BEGIN PUBLIC KEY-----\nno key\n-----END PUBLIC KEY-----\n"),
        ],
    )
    def test_a_key_of_something_else_is_refused(self, algorithm: str, key: str) -> None:
        """The place in the profile is told."""
        signature = {"header": "X", "algorithm": algorithm, "key": key}

        with pytest.raises(ProfileError, match=r"webhooks\.signature\.key of the profile is no"):
            Verifier(Signature.model_validate(signature), {})

    @pytest.mark.parametrize(
        ("signature", "message"),
        [
            ({"key": "s3cret!"}, "of hmac it is the name of an environment variable"),
            ({"algorithm": "ed25519"}, "expected a public key in PEM"),
            ({"signed": "{t}"}, "expected a text with {body}"),
            ({"algorithm": "ed25519", "key": "absent.pem"}, "absent.pem cannot be read"),
            ({"algorithm": "md5"}, "webhooks.signature.algorithm"),
        ],
    )
    def test_a_mistake_of_the_profile_is_told(
        self, tmp_path: Path, signature: dict[str, str], message: str
    ) -> None:
        """And never what may be the secret."""
        usual = {"header": "X", "algorithm": "hmac-sha256", "key": "ACME_SECRET"}
        path = written(tmp_path, {**usual, **signature})

        with pytest.raises(ProfileError) as told:
            read_profile(path)

        assert message in str(told.value)
        assert "s3cret!" not in str(told.value)

    def test_a_file_beside_the_profile_holds_the_key(self, tmp_path: Path) -> None:
        """Workers get its content."""
        (tmp_path / "acme.pem").write_text(pem(_EC), encoding="ascii")
        named = {"header": "X", "algorithm": "ecdsa-p256-sha256", "key": "acme.pem"}

        loaded = read_profile(written(tmp_path, named)).webhooks.signature

        assert loaded is not None
        assert loaded.key == pem(_EC)

    def test_the_feature_needs_the_form(self, tmp_path: Path) -> None:
        """Otherwise nothing could be verified."""
        path = tmp_path / "profile.yaml"
        content = {"implementation": {"name": "x"}, "features": {"webhook_signatures": True}}
        path.write_text(yaml.safe_dump(content), encoding="utf-8")

        with pytest.raises(ProfileError, match=r"needs webhooks\.signature"):
            read_profile(path)


def written(folder: Path, signature: dict[str, str]) -> Path:
    """Write a profile with a signature and return its path."""
    path = folder / "profile.yaml"
    content = {"implementation": {"name": "x"}, "webhooks": {"signature": signature}}
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path
