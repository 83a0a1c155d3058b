"""Targets with right and wrong certificates, and without one."""

from __future__ import annotations

import ipaddress
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from conformance.selftest.hostile.entry import (
    CONFORMANT,
    USAGE,
    Entry,
    Expected,
    RunningTarget,
    Start,
)
from conformance.selftest.hostile.front import Front, pass_on
from conformance.selftest.hostile.scenarios import REQUIREMENTS
from conformance.selftest.standins import Received
from conformance.verdict.plan import RequirementVerdict

AUTHORITY = "authority.pem"
"""The file with the certificate of the authority, in the folder that a run may write in."""


@dataclass
class _Renamed:
    """A running target under another base URL."""

    base_url: str
    received: list[Received]


def certificate(folder: Path, *, host: str = "127.0.0.1", days: int = 2) -> ssl.SSLContext:
    """Return a context with a certificate for ``host``, signed by an authority of its own.

    The certificate is valid from the day before yesterday for ``days`` and one more day; with
    ``days`` of 0 it has expired.
    """
    start = datetime.now(UTC) - timedelta(days=2)
    authority_key, key = (ec.generate_private_key(ec.SECP256R1()) for _ in range(2))
    issuer = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "register of hostile targets")])
    authority = _sign(issuer, issuer, (authority_key, authority_key), (start, 10), None)
    try:
        name: x509.GeneralName = x509.IPAddress(ipaddress.ip_address(host))
    except ValueError:
        name = x509.DNSName(host)
    subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, host)])
    signed_certificate = _sign(subject, issuer, (key, authority_key), (start, days + 1), name)
    (folder / AUTHORITY).write_bytes(authority.public_bytes(serialization.Encoding.PEM))
    chain = folder / "chain.pem"
    chain.write_bytes(
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
        + signed_certificate.public_bytes(serialization.Encoding.PEM)
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(chain)
    return context


def _sign(
    subject: x509.Name,
    issuer: x509.Name,
    keys: tuple[ec.EllipticCurvePrivateKey, ec.EllipticCurvePrivateKey],
    lifetime: tuple[datetime, int],
    name: x509.GeneralName | None,
) -> x509.Certificate:
    key, signer = keys
    start, days = lifetime
    builder = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + timedelta(days=days))
        .add_extension(x509.BasicConstraints(ca=name is None, path_length=None), critical=True)
    )
    if name is not None:
        builder = builder.add_extension(x509.SubjectAlternativeName([name]), critical=False)
    return builder.sign(signer, hashes.SHA256())


def _start_with_tls(*, host: str = "127.0.0.1", days: int = 2) -> Start:
    return lambda upstream, folder: Front(
        pass_on, upstream, tls=certificate(folder, host=host, days=days)
    )


def _with_scheme(before: str, after: str, start: Start) -> Start:
    """Return what starts a target and names it by a URL with another scheme."""

    @contextmanager
    def start_renamed(upstream: str, folder: Path) -> Iterator[RunningTarget]:
        with start(upstream, folder) as front:
            yield _Renamed(front.base_url.replace(before, after, 1), front.received)

    return start_renamed


_REFUSED = Expected((USAGE,), says=("certificate",), at_most=0)

ENTRIES = (
    Entry(
        "tls-of-an-unknown-authority",
        "Shows a certificate of a private authority that the profile does not name.",
        _start_with_tls(),
        Expected((USAGE,), says=("certificate", "tls.certificate_authority"), at_most=0),
        "configuration",
    ),
    Entry(
        "tls-of-another-host",
        "Shows a certificate of a known authority for another host.",
        _start_with_tls(host="other.example"),
        _REFUSED,
        "configuration",
        {"tls": {"certificate_authority": AUTHORITY}},
    ),
    Entry(
        "tls-expired",
        "Shows a certificate of a known authority that expired yesterday.",
        _start_with_tls(days=0),
        _REFUSED,
        "configuration",
        {"tls": {"certificate_authority": AUTHORITY}},
    ),
    Entry(
        "tls-of-a-private-authority",
        "Shows a certificate of a private authority that the profile names.",
        _start_with_tls(),
        Expected((CONFORMANT,), dict.fromkeys(REQUIREMENTS, RequirementVerdict.PASSED)),
        profile={"tls": {"certificate_authority": AUTHORITY}},
    ),
    Entry(
        "tls-spoken-to-http",
        "Speaks TLS where the base URL says http.",
        _with_scheme("https", "http", _start_with_tls()),
        Expected((USAGE,), says=("cannot reach",)),
        "configuration",
    ),
    Entry(
        "http-spoken-to-https",
        "Speaks plain HTTP where the base URL says https.",
        _with_scheme("http", "https", lambda upstream, _: Front(pass_on, upstream)),
        Expected((USAGE,), says=("cannot reach",)),
        "configuration",
    ),
)
