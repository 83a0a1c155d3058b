"""Whose certificates are trusted: the usual authorities, or those that a run is told."""

from __future__ import annotations

import os
import ssl
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import httpx

from conformance.profile.model import Profile
from conformance.sut.errors import TargetError
from conformance.text.legible import legible

VARIABLES = ("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE")
"""The first of them that is set names the authorities, where the profile names none."""

_EXPIRED = 10
_NOT_YET_VALID = 9
_OTHER_NAME = (62, 64)


class BadAuthority(TargetError):
    """The certificates of authorities that a run is told cannot be used."""


def tls_context(profile: Profile, environ: Mapping[str, str]) -> ssl.SSLContext:
    """Return what connections to the target are secured with, the same for each call.

    The authority of the profile is trusted beside the usual ones; those of a variable are trusted
    alone.

    Raises:
        BadAuthority: a file or folder cannot be used; the message names the key or variable.
    """
    if profile.tls.certificate_authority is not None:
        return _beside_usual(profile.tls.certificate_authority)
    for name in VARIABLES:
        if value := environ.get(name):
            return _told_by(name, value)
    return _usual()


def mistrust(error: ssl.SSLCertVerificationError, host: str) -> str:
    """Return what is wrong with the certificate of ``host``, and what to do about it."""
    said = f"the certificate of {host} cannot be trusted: {error.verify_message.rstrip('.')}"
    if error.verify_code == _EXPIRED:
        return f"{said}; it has to be renewed"
    if error.verify_code == _NOT_YET_VALID:
        return f"{said}; compare the clocks of both machines"
    if error.verify_code in _OTHER_NAME:
        return f"{said}; use a host name that it is made out to, or have it made out to this one"
    return (
        f"{said}; where a private authority issued it, name the file of that authority's "
        "certificate in tls.certificate_authority of the profile, or in SSL_CERT_FILE"
    )


# Each takes some 20 ms to make.
@cache
def _usual() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)


@cache
def _beside_usual(file: str) -> ssl.SSLContext:
    context = httpx.create_ssl_context(trust_env=False)
    try:
        context.load_verify_locations(cafile=file)
    except OSError as error:
        raise _unusable("tls.certificate_authority of the profile", file, error) from error
    return context


@cache
def _told_by(variable: str, value: str) -> ssl.SSLContext:
    # OpenSSL takes a list of folders, and looks over those that are not there.
    folders = [place for place in value.split(os.pathsep) if Path(place).is_dir()]
    try:
        context = ssl.create_default_context(
            cafile=None if folders else value, capath=folders[0] if folders else None
        )
    except OSError as error:
        raise _unusable(variable, value, error) from error
    for folder in folders[1:]:
        context.load_verify_locations(capath=folder)
    return context


def _unusable(name: str, place: str, error: OSError) -> BadAuthority:
    reason = "it holds no certificate in PEM" if isinstance(error, ssl.SSLError) else error.strerror
    return BadAuthority(
        f"{name} is {legible(place)}: {reason}; expected a file with the certificates of "
        "authorities in PEM"
    )
