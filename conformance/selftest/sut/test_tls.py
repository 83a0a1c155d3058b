"""TLS: a private authority can be given, and what is wrong with a certificate is told."""

from __future__ import annotations

import contextlib
import hashlib
import http.server
import ipaddress
import json
import re
import ssl
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import certifi
import pytest
import yaml
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from conformance.exchange.client import RecordingClient
from conformance.profile.loading import read_profile
from conformance.profile.model import Profile
from conformance.profile.part import ProfileError
from conformance.selftest.standins import VERSION
from conformance.sut.target import Target, Untrusted
from conformance.sut.tls import VARIABLES, BadAuthority, tls_context

MakeTarget = Callable[..., Target]

LOCAL = x509.SubjectAlternativeName(
    [x509.DNSName("localhost"), x509.IPAddress(ipaddress.ip_address("127.0.0.1"))]
)
ELSEWHERE = x509.SubjectAlternativeName([x509.DNSName("elsewhere.example")])


@dataclass(frozen=True)
class Authority:
    """A private authority: its certificate in PEM, in a file."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate
    file: Path

    @classmethod
    def found(cls, folder: Path, name: str) -> Authority:
        """Make one, with its certificate in a folder."""
        key = ec.generate_private_key(ec.SECP256R1())
        public = key.public_key()
        certificate = (
            _builder(name, name, public)
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(_usage(of_authority=True), critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(public), critical=False)
            .sign(key, hashes.SHA256())
        )
        file = folder / f"{name}.pem"
        file.write_bytes(_pem(certificate))
        return cls(key, certificate, file)

    def issue(
        self, folder: Path, names: x509.SubjectAlternativeName = LOCAL, *, days: int = 1
    ) -> Path:
        """Return a file with a certificate that ends in so many days, and its key."""
        key = ec.generate_private_key(ec.SECP256R1())
        name = self.certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value
        certificate = (
            _builder("server", str(name), key.public_key(), days=days)
            .add_extension(names, critical=False)
            .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
            .add_extension(_usage(of_authority=False), critical=True)
            .add_extension(
                x509.AuthorityKeyIdentifier.from_issuer_public_key(self.key.public_key()),
                critical=False,
            )
            .sign(self.key, hashes.SHA256())
        )
        file = folder / "server.pem"
        file.write_bytes(
            _pem(certificate)
            + key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )
        return file


@pytest.fixture
def authority(tmp_path: Path) -> Authority:
    """A private authority."""
    return Authority.found(tmp_path, "acme")


@pytest.fixture(autouse=True)
def _nothing_set(monkeypatch: pytest.MonkeyPatch) -> None:
    """No variable of this machine names authorities."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


class TestPrivateAuthority:
    """A target may have its certificate from an authority of its own."""

    def test_the_profile_names_it(
        self,
        tmp_path: Path,
        authority: Authority,
        make_target: MakeTarget,
        connect: Callable[..., RecordingClient],
    ) -> None:
        """The first question and all further requests trust it."""
        tls = {"certificate_authority": str(authority.file)}

        with serving(authority.issue(tmp_path)) as base_url:
            make_target(base_url, tls=tls).check()
            answer = connect(base_url, tls=tls).call("getConfig")

        assert answer.status == 200

    @pytest.mark.parametrize("variable", ["SSL_CERT_FILE", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"])
    def test_a_variable_names_it(
        self,
        tmp_path: Path,
        authority: Authority,
        make_target: MakeTarget,
        monkeypatch: pytest.MonkeyPatch,
        variable: str,
    ) -> None:
        """As other tools take it."""
        monkeypatch.setenv(variable, str(authority.file))

        with serving(authority.issue(tmp_path)) as base_url:
            make_target(base_url).check()

    @pytest.mark.parametrize("variable", ["SSL_CERT_DIR", "REQUESTS_CA_BUNDLE"])
    def test_a_variable_names_a_folder(
        self,
        tmp_path: Path,
        authority: Authority,
        make_target: MakeTarget,
        monkeypatch: pytest.MonkeyPatch,
        variable: str,
    ) -> None:
        """Or several, of which some may not be there."""
        folder = tmp_path / "trusted"
        folder.mkdir()
        (folder / f"{subject_hash(authority.certificate):08x}.0").write_bytes(
            authority.file.read_bytes()
        )
        monkeypatch.setenv(variable, f"/absent:{tmp_path}:{folder}")

        with serving(authority.issue(tmp_path)) as base_url:
            make_target(base_url).check()

    def test_the_first_variable_counts(self, authority: Authority, tmp_path: Path) -> None:
        """And none where the profile has the key."""
        other = Authority.found(tmp_path, "other")
        environ = {"CURL_CA_BUNDLE": str(other.file), "SSL_CERT_FILE": str(authority.file)}

        told = tls_context(bare(), environ)
        own = tls_context(bare(other.file), {"SSL_CERT_FILE": "/absent"})

        assert subjects(told) == {"acme"}
        assert "other" in subjects(own)
        assert subjects(own) > subjects(ssl.create_default_context(cafile=certifi.where()))

    def test_one_is_made_for_all(self, authority: Authority) -> None:
        """Each costs some milliseconds."""
        assert tls_context(bare(), {}) is tls_context(bare(), {"SSL_CERT_FILE": ""})
        assert tls_context(bare(authority.file), {}) is tls_context(bare(authority.file), {})

    @pytest.mark.parametrize("variable", VARIABLES)
    @pytest.mark.parametrize("content", [None, "", "no certificate"])
    def test_a_variable_that_names_none_is_told(
        self, tmp_path: Path, variable: str, content: str | None
    ) -> None:
        """With its value."""
        file = tmp_path / "authorities.pem"
        if content is not None:
            file.write_text(content)

        with pytest.raises(BadAuthority, match=rf"^{variable} is {re.escape(str(file))}: "):
            tls_context(bare(), {variable: str(file)})


class TestMistrust:
    """What is wrong with a certificate is told before anything runs."""

    def test_an_unknown_authority_is_asked_for(
        self, tmp_path: Path, authority: Authority, make_target: MakeTarget
    ) -> None:
        """By the key of the profile and the variable."""
        with serving(authority.issue(tmp_path)) as base_url, pytest.raises(Untrusted) as told:
            make_target(base_url).check()

        message = str(told.value)
        assert f"cannot reach {base_url}: the certificate of localhost cannot be trusted" in message
        assert "unable to get local issuer certificate" in message
        assert "tls.certificate_authority of the profile, or in SSL_CERT_FILE" in message

    def test_a_certificate_that_signs_itself_is_asked_for(
        self, tmp_path: Path, make_target: MakeTarget
    ) -> None:
        """It is an authority of its own."""
        lonely = Authority.found(tmp_path, "localhost")
        file = tmp_path / "server.pem"
        file.write_bytes(
            lonely.file.read_bytes()
            + lonely.key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )

        with (
            serving(file) as base_url,
            pytest.raises(Untrusted, match=r"self-signed.* SSL_CERT_FILE"),
        ):
            make_target(base_url).check()

    @pytest.mark.parametrize(
        ("issued", "message"),
        [
            ((ELSEWHERE, 1), r"not valid for 'localhost'; use a host name that it is made out to"),
            ((LOCAL, -1), r"certificate has expired; it has to be renewed"),
            ((LOCAL, 3), r"certificate is not yet valid; compare the clocks"),
        ],
        ids=["other name", "expired", "not yet valid"],
    )
    def test_another_fault_is_told(
        self,
        tmp_path: Path,
        authority: Authority,
        make_target: MakeTarget,
        issued: tuple[x509.SubjectAlternativeName, int],
        message: str,
    ) -> None:
        """No authority could mend it."""
        tls = {"certificate_authority": str(authority.file)}
        file = authority.issue(tmp_path, issued[0], days=issued[1])

        with serving(file) as base_url, pytest.raises(Untrusted, match=message) as told:
            make_target(base_url, tls=tls).check()

        assert "SSL_CERT_FILE" not in str(told.value)

    def test_an_address_that_is_not_named_is_told(
        self, tmp_path: Path, authority: Authority, make_target: MakeTarget
    ) -> None:
        """An IP address is a name too."""
        tls = {"certificate_authority": str(authority.file)}

        with serving(authority.issue(tmp_path, ELSEWHERE)) as base_url:
            target = make_target(base_url.replace("localhost", "127.0.0.1"), tls=tls)
            with pytest.raises(Untrusted, match=r"not valid for '127\.0\.0\.1'; use a host name"):
                target.check()


class TestProfile:
    """The key of the profile is a file beside it."""

    def test_its_path_is_made_absolute(self, tmp_path: Path, authority: Authority) -> None:
        """So that processes in other folders find it."""
        loaded = read_profile(written(tmp_path, "acme.pem"))

        assert loaded.tls.certificate_authority == str(authority.file)

    @pytest.mark.parametrize(
        ("name", "message"),
        [
            ("absent.pem", "tls.certificate_authority: .*/absent.pem is no file"),
            (".", "tls.certificate_authority: .* is no file"),
            ("profile.yaml", "tls.certificate_authority: .*profile.yaml holds no certificate"),
            ("a\0b", "tls.certificate_authority: .* is no file|cannot be read"),
            (7, "tls.certificate_authority: .*valid string, got 7"),
        ],
    )
    def test_a_file_that_is_none_is_told(
        self, tmp_path: Path, name: str | int, message: str
    ) -> None:
        """With the key to change."""
        with pytest.raises(ProfileError, match=message):
            read_profile(written(tmp_path, name))


@contextlib.contextmanager
def serving(file: Path) -> Iterator[str]:
    """Serve a configuration with a certificate; yield the base URL."""

    class Configuration(http.server.BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            content = json.dumps({"id": "PlatformConfig:1"}).encode()
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: object) -> None:
            pass

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(file)
    with http.server.HTTPServer(("127.0.0.1", 0), Configuration) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, args=[0.01])
        thread.start()
        try:
            yield f"https://localhost:{server.server_port}/{VERSION}"
        finally:
            server.shutdown()
            thread.join()


def bare(authority: Path | None = None) -> Profile:
    """Return a profile that names an authority, or none."""
    tls = {"certificate_authority": None if authority is None else str(authority)}
    return Profile.model_validate({"implementation": {"name": "x"}, "tls": tls})


def written(folder: Path, authority: str | int) -> Path:
    """Write a profile that names an authority and return its path."""
    path = folder / "profile.yaml"
    content = {"implementation": {"name": "x"}, "tls": {"certificate_authority": authority}}
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def subjects(context: ssl.SSLContext) -> set[str]:
    """Return the common names of the authorities that are trusted."""
    return {
        dict(part[0] for part in certificate["subject"]).get("commonName", "")  # type: ignore[misc]
        for certificate in context.get_ca_certs()
    }


def subject_hash(certificate: x509.Certificate) -> int:
    """Return the hash of a subject by which OpenSSL looks for its file."""
    # Without the head of the sequence, as OpenSSL has it.
    canonical = certificate.subject.public_bytes()[2:]
    return int.from_bytes(hashlib.sha1(canonical).digest()[:4], "little")


def _pem(certificate: x509.Certificate) -> bytes:
    return certificate.public_bytes(serialization.Encoding.PEM)


def _builder(
    name: str, issuer: str, key: ec.EllipticCurvePublicKey, *, days: int = 1
) -> x509.CertificateBuilder:
    start = datetime.now(UTC) + timedelta(days=days - 2)
    return (
        x509.CertificateBuilder()
        .subject_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)]))
        .issuer_name(x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, issuer)]))
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=2))
    )


def _usage(*, of_authority: bool) -> x509.KeyUsage:
    return x509.KeyUsage(
        digital_signature=not of_authority,
        content_commitment=False,
        key_encipherment=False,
        data_encipherment=False,
        key_agreement=False,
        key_cert_sign=of_authority,
        crl_sign=of_authority,
        encipher_only=False,
        decipher_only=False,
    )
