"""Signatures of webhooks: each algorithm and form, right and wrong, and unusable keys."""

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
from conformance.reference.webhooks import signing
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
    """Return the public half of a key in PEM."""
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
"""By name: the algorithm, the key of the profile, and the function that signs."""

every_scheme = pytest.mark.parametrize("scheme", SCHEMES)


def verifier(scheme: str, **more: Any) -> Verifier:
    """Return the verifier of a scheme; ``more`` are further members of its profile."""
    algorithm, key, _ = SCHEMES[scheme]
    members = {"header": "X-Signature", "algorithm": algorithm, "key": key, **more}
    return Verifier(Signature.model_validate(members), ENVIRON)


def delivery(signature: str | None, **headers: str) -> Delivery:
    """Return a webhook with this signature in its header, or without one."""
    header = {} if signature is None else {"x-signature": signature}
    return Delivery(0, 0.0, {**header, **headers}, {"type": "PAYMENT.DONE"}, BODY)


def base64_of(content: bytes) -> str:
    """Return bytes in base64."""
    return base64.b64encode(content).decode()


class TestVerifying:
    """A signature over the raw body with the right key verifies, and no other."""

    @every_scheme
    def test_a_right_signature_verifies(self, scheme: str) -> None:
        """A signature of each scheme verifies in base64 and in hexadecimal."""
        signature = SCHEMES[scheme][2](BODY)

        assert verifier(scheme).problem(delivery(base64_of(signature))) is None
        assert verifier(scheme, encoding="hex").problem(delivery(signature.hex())) is None

    @every_scheme
    def test_a_signature_of_another_body_does_not(self, scheme: str) -> None:
        """A body that differs by one space does not verify."""
        signature = base64_of(SCHEMES[scheme][2](BODY.replace(b", ", b",")))

        assert "does not verify" in str(verifier(scheme).problem(delivery(signature)))

    @every_scheme
    @pytest.mark.parametrize("signature", ["????", base64_of(b"short"), base64_of(bytes(64))])
    def test_what_is_no_signature_does_not(self, scheme: str, signature: str) -> None:
        """A header that is no base64, too short or only zeros is a problem, and no exception."""
        assert verifier(scheme).problem(delivery(signature)) is not None

    def test_another_secret_does_not_verify(self) -> None:
        """The message does not show the secret."""
        signature = base64_of(hmac.new(b"other", BODY, hashlib.sha256).digest())

        problem = str(verifier("hmac-sha256").problem(delivery(signature)))

        assert "does not verify" in problem
        assert SECRET not in problem

    @pytest.mark.parametrize("mark", ["", "whsec_"])
    def test_the_secret_may_be_bytes(self, mark: str) -> None:
        """A secret in base64 stands for its bytes, whatever marks it for one."""
        form = Signature.model_validate(
            {
                "header": "X-Signature",
                "algorithm": "hmac-sha256",
                "key": "ACME_SECRET",
                "key_encoding": "base64",
            }
        )
        environ = {"ACME_SECRET": mark + base64_of(SECRET.encode())}
        signature = base64_of(SCHEMES["hmac-sha256"][2](BODY))

        assert Verifier(form, environ).problem(delivery(signature)) is None

    def test_base64_may_be_that_of_urls(self) -> None:
        """Base64 for URLs without padding verifies too."""
        signature = base64.urlsafe_b64encode(SCHEMES["rsa"][2](BODY)).decode().rstrip("=")

        assert verifier("rsa").problem(delivery(signature)) is None


class TestForms:
    """Headers and signed texts differ from sender to sender."""

    def test_a_prefix_stands_before_the_signature(self) -> None:
        """A signature with the prefix verifies, and one without it is a problem."""
        signature = SCHEMES["hmac-sha256"][2](BODY).hex()
        form_verifier = verifier("hmac-sha256", encoding="hex", prefix="sha256=")

        assert form_verifier.problem(delivery(f"sha256={signature}")) is None
        assert "begins with 'sha256='" in str(form_verifier.problem(delivery(signature)))

    def test_a_header_may_hold_the_time_too(self) -> None:
        """The time of the header is signed; another time or none is a problem."""
        signature = SCHEMES["hmac-sha256"][2](b"1700000000." + BODY).hex()
        form_verifier = verifier("hmac-sha256", encoding="hex", prefix="v1=", signed="{t}.{body}")

        assert form_verifier.problem(delivery(f"t=1700000000,v1={signature}")) is None
        assert "does not verify" in str(
            form_verifier.problem(delivery(f"t=1700000001,v1={signature}"))
        )
        assert "names t" in str(form_verifier.problem(delivery(f"v1={signature}")))

    def test_other_headers_may_be_signed(self) -> None:
        """The text may have other headers, and one right signature of several is enough."""
        signature = base64_of(SCHEMES["hmac-sha256"][2](b"msg_1.1700000000." + BODY))
        headers = {"webhook-id": "msg_1", "webhook-timestamp": "1700000000"}
        template = "{Webhook-Id}.{webhook-timestamp}.{body}"
        form_verifier = verifier("hmac-sha256", prefix="v1,", signed=template)

        assert form_verifier.problem(delivery(f"v1,b2xk v1,{signature}", **headers)) is None


class TestFindings:
    """Each delivery decides the two requirements on signatures."""

    def test_a_right_signature_passes_both(self) -> None:
        """A right signature passes the requirements for presence and for verification."""
        signature = base64_of(SCHEMES["ed25519"][2](BODY))

        findings = verifier("ed25519").findings(delivery(signature))

        assert [(finding.requirement, finding.passed) for finding in findings] == [
            (PRESENT, True),
            (VERIFIES, True),
        ]

    def test_a_wrong_signature_fails_one(self) -> None:
        """A wrong signature passes presence and fails verification."""
        findings = verifier("ed25519").findings(delivery(base64_of(bytes(64))))

        assert [finding.passed for finding in findings] == [True, False]

    def test_a_missing_signature_fails_the_other(self) -> None:
        """A missing signature fails presence with the name of the header, and nothing else."""
        (finding,) = verifier("ed25519").findings(delivery(None))

        assert (finding.requirement, finding.passed) == (PRESENT, False)
        assert "X-Signature" in finding.detail

    def test_what_is_no_webhook_decides_nothing(self) -> None:
        """A delivery without a type, as of a stranger, decides nothing."""
        stranger = Delivery(0, 0.0, {}, None, b"hello")

        assert verifier("ed25519").findings(stranger) == ()

    def test_the_reference_signs_as_its_profile_says(self) -> None:
        """The profile of the reference has its public key, and its signatures verify."""
        signature = load_profile("reference").webhooks.signature
        assert signature is not None
        assert signature.key == signing.public_key()

        headers = {name.lower(): value for name, value in signing.headers(BODY).items()}

        webhook = Delivery(0, 0.0, headers, {"type": "PAYMENT.DONE"}, BODY)
        assert Verifier(signature, {}).problem(webhook) is None


class TestKeys:
    """A key that cannot be used is an error that says where it stands."""

    def test_an_unset_variable_is_named(self) -> None:
        """The message says which variable to export."""
        signature = {"header": "X", "algorithm": "hmac-sha256", "key": "ACME_SECRET"}

        with pytest.raises(ProfileError, match="export ACME_SECRET"):
            Verifier(Signature.model_validate(signature), {})

    @pytest.mark.parametrize("secret", ["s3cret!", "whsecret", "createdAt"])
    def test_a_secret_that_is_an_ordinary_word_is_refused(self, secret: str) -> None:
        """The message has the variable and not the secret, which could stand in any report."""
        signature = {"header": "X", "algorithm": "hmac-sha256", "key": "ACME_SECRET"}

        with pytest.raises(ProfileError, match="the secret in ACME_SECRET cannot be") as error:
            Verifier(Signature.model_validate(signature), {"ACME_SECRET": secret})

        assert secret not in str(error.value)

    def test_a_secret_that_is_no_base64_is_told(self) -> None:
        """The message names the variable, and nothing of its value."""
        form = Signature.model_validate(
            {
                "header": "X-Signature",
                "algorithm": "hmac-sha256",
                "key": "ACME_SECRET",
                "key_encoding": "base64",
            }
        )

        with pytest.raises(ProfileError, match="ACME_SECRET is not base64") as error:
            Verifier(form, {"ACME_SECRET": "whsec_9f:1c:77:d0:5e"})

        assert "9f" not in str(error.value)

    def test_a_secret_is_to_be_masked(self) -> None:
        """A shared secret is masked, and a public key is not."""
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
        """A key of another algorithm or no key: the message has the key of the profile."""
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
        """The message has the mistake and not a value that may be the secret."""
        usual = {"header": "X", "algorithm": "hmac-sha256", "key": "ACME_SECRET"}
        path = write_profile(tmp_path, {**usual, **signature})

        with pytest.raises(ProfileError) as error:
            read_profile(path)

        assert message in str(error.value)
        assert "s3cret!" not in str(error.value)

    def test_a_file_beside_the_profile_holds_the_key(self, tmp_path: Path) -> None:
        """The profile gets the content of the file, which workers get with it."""
        (tmp_path / "acme.pem").write_text(pem(_EC), encoding="ascii")
        members = {"header": "X", "algorithm": "ecdsa-p256-sha256", "key": "acme.pem"}

        loaded = read_profile(write_profile(tmp_path, members)).webhooks.signature

        assert loaded is not None
        assert loaded.key == pem(_EC)

    def test_the_feature_needs_the_form(self, tmp_path: Path) -> None:
        """The feature ``webhook_signatures`` without ``webhooks.signature`` is refused."""
        path = tmp_path / "profile.yaml"
        content = {"implementation": {"name": "x"}, "features": {"webhook_signatures": True}}
        path.write_text(yaml.safe_dump(content), encoding="utf-8")

        with pytest.raises(ProfileError, match=r"needs webhooks\.signature"):
            read_profile(path)


def write_profile(folder: Path, signature: dict[str, str]) -> Path:
    """Write a profile with a signature and return its path."""
    path = folder / "profile.yaml"
    content = {"implementation": {"name": "x"}, "webhooks": {"signature": signature}}
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path
