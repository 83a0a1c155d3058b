"""TLS: a private authority can be named, and a wrong certificate has a clear message."""

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
    """A private certificate authority: its key, its certificate, and the PEM file of that."""

    key: ec.EllipticCurvePrivateKey
    certificate: x509.Certificate
    file: Path

    @classmethod
    def create(cls, folder: Path, name: str) -> Authority:
        """Make an authority with its certificate in a folder."""
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
        """Issue a certificate that ends in so many days; return the file with it and its key."""
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
    """Return a private authority."""
    return Authority.create(tmp_path, "acme")


@pytest.fixture(autouse=True)
def _no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    """Unset all variables that name authorities."""
    for name in VARIABLES:
        monkeypatch.delenv(name, raising=False)


class TestPrivateAuthority:
    """A target may have its certificate from a private authority."""

    def test_the_profile_names_it(
        self,
        tmp_path: Path,
        authority: Authority,
        make_target: MakeTarget,
        connect: Callable[..., RecordingClient],
    ) -> None:
        """The check of the start and later requests trust the authority of the profile."""
        tls = {"certificate_authority": str(authority.file)}

        with serve(authority.issue(tmp_path)) as base_url:
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
        """A variable that other tools use may name the file of the authority."""
        monkeypatch.setenv(variable, str(authority.file))

        with serve(authority.issue(tmp_path)) as base_url:
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
        """A variable may list folders, some of which may not exist."""
        folder = tmp_path / "trusted"
        folder.mkdir()
        (folder / f"{subject_hash(authority.certificate):08x}.0").write_bytes(
            authority.file.read_bytes()
        )
        monkeypatch.setenv(variable, f"/absent:{tmp_path}:{folder}")

        with serve(authority.issue(tmp_path)) as base_url:
            make_target(base_url).check()

    def test_the_first_variable_counts(self, authority: Authority, tmp_path: Path) -> None:
        """The first set variable counts alone, and none where the profile names an authority."""
        other = Authority.create(tmp_path, "other")
        environ = {"CURL_CA_BUNDLE": str(other.file), "SSL_CERT_FILE": str(authority.file)}

        by_variable = tls_context(profile_with(), environ)
        by_profile = tls_context(profile_with(other.file), {"SSL_CERT_FILE": "/absent"})

        assert subjects(by_variable) == {"acme"}
        assert "other" in subjects(by_profile)
        assert subjects(by_profile) > subjects(ssl.create_default_context(cafile=certifi.where()))

    def test_one_is_made_for_all(self, authority: Authority) -> None:
        """Equal settings share one context, as making one takes some milliseconds."""
        assert tls_context(profile_with(), {}) is tls_context(profile_with(), {"SSL_CERT_FILE": ""})
        assert tls_context(profile_with(authority.file), {}) is tls_context(
            profile_with(authority.file), {}
        )

    @pytest.mark.parametrize("variable", VARIABLES)
    @pytest.mark.parametrize("content", [None, "", "no certificate"])
    def test_a_variable_that_names_none_is_told(
        self, tmp_path: Path, variable: str, content: str | None
    ) -> None:
        """The message has the variable and its value."""
        file = tmp_path / "authorities.pem"
        if content is not None:
            file.write_text(content)

        with pytest.raises(BadAuthority, match=rf"^{variable} is {re.escape(str(file))}: "):
            tls_context(profile_with(), {variable: str(file)})


class TestMistrust:
    """A certificate that is not trusted is reported before any test."""

    def test_an_unknown_authority_is_asked_for(
        self, tmp_path: Path, authority: Authority, make_target: MakeTarget
    ) -> None:
        """The message names the key of the profile and the variable for the authority."""
        with serve(authority.issue(tmp_path)) as base_url, pytest.raises(Untrusted) as error:
            make_target(base_url).check()

        message = str(error.value)
        assert f"cannot reach {base_url}: the certificate of localhost cannot be trusted" in message
        assert "unable to get local issuer certificate" in message
        assert "tls.certificate_authority of the profile, or in SSL_CERT_FILE" in message

    def test_a_certificate_that_signs_itself_is_asked_for(
        self, tmp_path: Path, make_target: MakeTarget
    ) -> None:
        """The message for a self-signed certificate asks for its authority too."""
        own_authority = Authority.create(tmp_path, "localhost")
        file = tmp_path / "server.pem"
        file.write_bytes(
            own_authority.file.read_bytes()
            + own_authority.key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            )
        )

        with (
            serve(file) as base_url,
            pytest.raises(Untrusted, match=r"self-signed.* SSL_CERT_FILE"),
        ):
            make_target(base_url).check()

    @pytest.mark.parametrize(
        ("names_and_days", "message"),
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
        names_and_days: tuple[x509.SubjectAlternativeName, int],
        message: str,
    ) -> None:
        """A wrong name or a wrong time has its own message, which asks for no authority."""
        tls = {"certificate_authority": str(authority.file)}
        file = authority.issue(tmp_path, names_and_days[0], days=names_and_days[1])

        with serve(file) as base_url, pytest.raises(Untrusted, match=message) as error:
            make_target(base_url, tls=tls).check()

        assert "SSL_CERT_FILE" not in str(error.value)

    def test_an_address_that_is_not_named_is_told(
        self, tmp_path: Path, authority: Authority, make_target: MakeTarget
    ) -> None:
        """The message for an IP address that the certificate does not name has the address."""
        tls = {"certificate_authority": str(authority.file)}

        with serve(authority.issue(tmp_path, ELSEWHERE)) as base_url:
            target = make_target(base_url.replace("localhost", "127.0.0.1"), tls=tls)
            with pytest.raises(Untrusted, match=r"not valid for '127\.0\.0\.1'; use a host name"):
                target.check()


class TestProfile:
    """``tls.certificate_authority`` is a file beside the profile."""

    def test_its_path_is_made_absolute(self, tmp_path: Path, authority: Authority) -> None:
        """The path is made absolute, so that processes in other folders find the file."""
        loaded = read_profile(write_profile(tmp_path, "acme.pem"))

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
        """The message has the key of the profile."""
        with pytest.raises(ProfileError, match=message):
            read_profile(write_profile(tmp_path, name))


@contextlib.contextmanager
def serve(file: Path) -> Iterator[str]:
    """Serve a configuration with the certificate of a file; yield the base URL."""

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


def profile_with(authority: Path | None = None) -> Profile:
    """Return a profile with this authority, or with none."""
    tls = {"certificate_authority": None if authority is None else str(authority)}
    return Profile.model_validate({"implementation": {"name": "x"}, "tls": tls})


def write_profile(folder: Path, authority: str | int) -> Path:
    """Write a profile with this authority and return its path."""
    path = folder / "profile.yaml"
    content = {"implementation": {"name": "x"}, "tls": {"certificate_authority": authority}}
    path.write_text(yaml.safe_dump(content), encoding="utf-8")
    return path


def subjects(context: ssl.SSLContext) -> set[str]:
    """Return the common names of the authorities that a context trusts."""
    return {
        dict(part[0] for part in certificate["subject"]).get("commonName", "")  # type: ignore[misc]
        for certificate in context.get_ca_certs()
    }


def subject_hash(certificate: x509.Certificate) -> int:
    """Return the hash of a subject, which OpenSSL takes for the name of its file."""
    # OpenSSL leaves out the tag and the length of the sequence.
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
