"""Looks at what comes before the first test: name, certificate, clock, credentials, base URL."""

from __future__ import annotations

import os
import secrets
import socket
import ssl
import statistics
import time
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from urllib.parse import urlsplit

import httpx

from conformance.cli.checkup.findings import Finding, fine, note, obstacle, problem
from conformance.cli.checkup.nearby import proposal
from conformance.exchange.client import RecordingClient
from conformance.profile.model import Environment, Profile
from conformance.sut.deadline import within
from conformance.sut.errors import TargetError
from conformance.sut.target import (
    BadBaseUrl,
    MissingCredentials,
    NotReady,
    NotTheInterface,
    Target,
    Unreachable,
    Untrusted,
    WrongCredentials,
)
from conformance.sut.tls import BadAuthority, tls_context
from conformance.verdict.decisions import Unmet

MAX_SECONDS = 5.0
"""How long one look at the network may take."""

_SOON_DAYS = 14
# The header has whole seconds, and servers write it anew once a second at most.
_MAX_SKEW_SECONDS = 4.0
_PROBES = 10
_SLOW_SECONDS = 1.0
_ABOVE_A_LIMIT = 2
"""How many times a limit a payment is that is above it on both sides."""

_KEYS: dict[type[TargetError], str] = {
    BadAuthority: "tls.certificate_authority",
    BadBaseUrl: "--base-url",
    MissingCredentials: "credentials",
    Unreachable: "--base-url",
    Untrusted: "tls.certificate_authority",
    WrongCredentials: "credentials",
    NotTheInterface: "--base-url",
    NotReady: "--base-url",
}


def look_at_environment(profile: Profile) -> Iterator[Finding]:
    """Look at what the profile lets a run do."""
    if profile.environment is Environment.SANDBOX:
        yield fine("profile", f"{profile.implementation.name}, a sandbox")
    else:
        yield problem(
            "profile",
            "only safe methods are sent, and next to nothing is decided; if no real money is "
            "moved, say environment: sandbox",
            "environment",
        )
    limit = profile.resources.single_transaction_limit
    if limit is not None and (largest := _ABOVE_A_LIMIT * limit.amount) > profile.budget.amount:
        yield problem(
            "budget",
            f"what is above resources.single_transaction_limit needs a deposit of {largest}, and "
            f"budget.amount is {profile.budget.amount}: its requirements would be inconclusive",
            "budget.amount",
        )


def look_at_name(base_url: str) -> Iterator[Finding]:
    """Look whether the host of the base URL is known."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    try:
        found = within(MAX_SECONDS, lambda: socket.getaddrinfo(host, port, type=socket.SOCK_STREAM))
    except (OSError, UnicodeError, TimeoutError) as error:
        yield obstacle("name", f"the host name {host} is not known: {error}", "--base-url")
        return
    yield fine("name", f"{host} is {', '.join(sorted({str(one[4][0]) for one in found}))}")


def look_at_certificate(base_url: str, profile: Profile) -> Iterator[Finding]:
    """Look who vouches for the target, and until when."""
    parts = urlsplit(base_url)
    host = parts.hostname or ""
    if parts.scheme != "https":
        local = host == "localhost" or host.startswith("127.") or host == "::1"
        told = "plain HTTP: whoever is on the way can read the credentials"
        yield fine("TLS", "none, on this machine") if local else note("TLS", told, "--base-url")
        return
    try:
        with (
            closing(socket.create_connection((host, parts.port or 443), MAX_SECONDS)) as line,
            tls_context(profile, os.environ).wrap_socket(line, server_hostname=host) as secured,
        ):
            certificate = secured.getpeercert() or {}
    except ssl.SSLCertVerificationError as error:
        yield obstacle("TLS", error.verify_message, "tls.certificate_authority")
        return
    ends = datetime.fromtimestamp(ssl.cert_time_to_seconds(str(certificate["notAfter"])), UTC)
    days = (ends - datetime.now(UTC)).days
    told = f"the certificate of {host} is valid until {ends:%Y-%m-%d}"
    yield note("TLS", f"{told}, for {days} days more") if days < _SOON_DAYS else fine("TLS", told)


def resolve(base_url: str, profile: Profile) -> Target | Finding:
    """Return the target, or the finding that keeps it from being one."""
    try:
        return Target.resolve(base_url, profile, os.environ)
    except TargetError as error:
        return _no_target(error, base_url, profile)


def _no_target(error: TargetError, base_url: str, profile: Profile) -> Finding:
    key = _KEYS.get(type(error), "credentials")
    subject = "credentials" if key == "credentials" else "base URL"
    return obstacle(subject, f"{error}{proposal(base_url, profile, error)}", key)


def look_at_target(target: Target) -> Iterator[Finding]:
    """Look whether the interface answers at the base URL, and takes the credentials."""
    names = target.profile.credentials
    try:
        target.check()
    except TargetError as error:
        yield _no_target(error, target.base_url, target.profile)
        return
    yield fine("base URL", f"{target.base_url} answers as the interface does")
    yield fine("credentials", f"those in {names.token_id} and {names.client_secret} are accepted")


def look_at_wrong_credentials(client: RecordingClient) -> Iterator[Finding]:
    """Look whether other credentials are refused."""
    wrong = client.credentials(client_secret=secrets.token_urlsafe())
    answer = client.call("getConfig", auth=wrong)
    if answer.status == httpx.codes.UNAUTHORIZED:
        yield fine("wrong credentials", "are refused with 401")
    else:
        yield problem(
            "wrong credentials",
            f"GET /config answers {answer.status} to a wrong secret, in the place of 401; what "
            "tests say of credentials is about whatever is in front of the target",
            "--base-url",
        )


def look_at_clock(client: RecordingClient) -> Iterator[Finding]:
    """Look how far the clocks of target and suite are apart."""
    before = datetime.now(UTC)
    answer = client.call("getConfig")
    after = datetime.now(UTC)
    told = answer.headers.get("date")
    if told is None:
        yield note("clock", "the target tells no time (header Date)")
        return
    try:
        moment = parsedate_to_datetime(told).astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        yield note("clock", f"the header Date cannot be read: {told}")
        return
    ahead, behind = (moment - after).total_seconds(), (before - moment).total_seconds()
    if max(ahead, behind) <= _MAX_SKEW_SECONDS:
        yield fine("clock", "that of the target goes with that of this machine")
    else:
        side = f"{ahead:.0f} s ahead" if ahead > behind else f"{behind:.0f} s behind"
        yield problem(
            "clock",
            f"that of the target is {side}: what expires does so at another time than the suite "
            "thinks; set one of the clocks",
            "triggers with wait",
        )


def look_at_pace(client: RecordingClient) -> Iterator[Finding]:
    """Look how fast the target answers, and whether it limits the pace of requests."""
    started = time.monotonic()
    taken: list[float] = []
    try:
        while len(taken) < _PROBES and time.monotonic() - started < MAX_SECONDS:
            taken.append(client.call("getConfig").exchange.seconds)
    except Unmet as error:
        yield problem("round trip", str(error), "timing.request")
        return
    trip = statistics.median(taken)
    text = f"GET /config takes {trip * 1000:.0f} ms, at most {max(taken) * 1000:.0f} ms"
    if trip > _SLOW_SECONDS:
        yield note(
            "round trip", f"{text}; raise the limits of waiting", "timing.event, timing.state"
        )
    else:
        yield fine("round trip", text)
