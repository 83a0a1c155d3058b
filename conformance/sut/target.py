"""The target of a run: base URL, credentials and profile, checked before anything runs."""

from __future__ import annotations

import base64
import json
import os
import socket
import ssl
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeVar
from urllib.parse import SplitResult, urlsplit

import httpx

from conformance.profile.model import Profile
from conformance.sut.credentials import WeakSecret, problem_of, weakness
from conformance.sut.deadline import within
from conformance.sut.errors import TargetError
from conformance.sut.reading import (
    ACCEPT_ENCODING,
    ResponseTooLarge,
    ResponseUnreadable,
    read_bounded,
    retry_after,
)
from conformance.sut.tls import mistrust, tls_context
from conformance.text.addresses import origin
from conformance.text.legible import MAX_SHOWN_CHARS, legible

E = TypeVar("E", bound=BaseException)

VERSION = "2025-10-13"
"""The version segment that ends every base URL (specification, Versioning 1)."""

# A service that sleeps while nobody asks takes some seconds to wake up.
_PATIENCE = 10.0
_MAX_CONFIGURATION_BYTES = 1024 * 1024
MAX_STARTING_SECONDS = 5.0
"""How long a target that says that it is not ready is asked again."""

_FIRST_PAUSE_SECONDS = 0.1
_NOT_READY = {
    429: "it is asked too often: wait, or let these credentials ask more often",
    500: "it is broken there: its log says why",
    502: "what is in front of it does not reach it: see whether it is running",
    503: "it is not ready: wait until it has started",
    504: "what is in front of it gets no answer from it: see whether it is running",
}


class BadBaseUrl(TargetError):
    """The base URL is not one that the suite can use."""


class MissingCredentials(TargetError):
    """An environment variable that holds a credential is not set."""


class Unreachable(TargetError):
    """Nothing answers at the base URL."""


class WrongCredentials(TargetError):
    """The target refuses the credentials."""


class NotTheInterface(TargetError):
    """Something answers at the base URL, but not this interface."""


class NotReady(TargetError):
    """The target answers, and keeps answering that it cannot."""


class Untrusted(TargetError):
    """The certificate of the target cannot be verified."""


@dataclass(frozen=True)
class Target:
    """The system under test: its base URL, the credentials for it, and its profile.

    ``base_url`` is spelled as it goes over the wire, and has no slash at its end. The credentials
    are kept out of ``repr``.
    """

    base_url: str
    token_id: str = field(repr=False)
    client_secret: str = field(repr=False)
    profile: Profile
    words: Mapping[str, str] = field(default_factory=dict, repr=False)
    """The secrets of the profile's triggers, by their names."""

    @classmethod
    def resolve(cls, base_url: str, profile: Profile, environ: Mapping[str, str]) -> Target:
        """Put together a target from its parts.

        Raises:
            BadBaseUrl: the URL has no scheme, no host or not the version segment, or it has
                something that does not belong there, credentials for example.
            MissingCredentials: a variable that the profile names is not set.
            WeakSecret: the client secret cannot be told from ordinary words.
        """
        url = base_url.rstrip("/")
        parts = _parts(url)
        if parts is None:
            raise BadBaseUrl(
                f"the base URL {legible(base_url)!r} is not a URL; expected for example "
                f"https://api.example.com/{VERSION}"
            )
        if "@" in parts.netloc:
            raise BadBaseUrl(
                f"the base URL of {parts.hostname} holds credentials, which would get into "
                "reports; take them out and export the variables that the profile names"
            )
        if parts.query or parts.fragment:
            raise BadBaseUrl(
                f"the base URL of {parts.hostname} has a query or a fragment; expected it to end "
                f"in {VERSION}"
            )
        own_origin = origin(url)
        if own_origin is None:
            raise BadBaseUrl(
                f"the base URL {legible(base_url)!r} has a host that cannot be asked; expected "
                f"for example https://api.example.com/{VERSION}"
            )
        url = own_origin + httpx.URL(url).raw_path.decode("ascii").rstrip("/")
        if url.rpartition("/")[2] != VERSION:
            raise BadBaseUrl(
                f"the base URL {legible(base_url)} does not end in the version segment {VERSION}; "
                f"did you mean {url}/{VERSION} ?"
            )
        names = (profile.credentials.token_id, profile.credentials.client_secret)
        missing = [name for name in names if not environ.get(name)]
        if missing:
            raise MissingCredentials(
                f"the credentials of {url} are not set: export {' and '.join(missing)} "
                "(the profile's key credentials names the variables)"
            )
        token_id, client_secret = (environ[name] for name in names)
        if (problem := problem_of(names[1], client_secret)) is not None:
            raise WeakSecret(problem)
        words = {name: _secret(name, place, environ) for name, place in profile.secrets.items()}
        return cls(url, token_id, client_secret, profile, words)

    @property
    def origin(self) -> str:
        """Scheme, host and port of the base URL."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that no report, journal or message may show.

        The token id names the credentials. It is among them where it can be told from ordinary
        words.
        """
        named = () if weakness(self.token_id) else (self.token_id,)
        return (self.client_secret, *named, *self.words.values())

    def check(self) -> None:
        """Ask the target one safe question, to tell a wrong configuration from a wrong target.

        Raises:
            Unreachable: nothing answers, or nothing that is HTTP, with the cause.
            Untrusted: its certificate cannot be verified.
            BadAuthority: the authorities that it should be verified by cannot be read.
            NotReady: it answers 429, 500, 502, 503 or 504, and does so again for five seconds.
            WrongCredentials: it answers 401.
            NotTheInterface: it answers 404 or something that is no JSON.
        """
        probe = f"{self.base_url}/config"
        answer, content = self._answer(probe)
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            names = self.profile.credentials
            raise WrongCredentials(
                f"{self.base_url} refuses the credentials (GET /config answered 401); "
                f"check the variables {names.token_id} and {names.client_secret}"
            )
        if answer.is_redirect:
            raise NotTheInterface(
                f"{probe} redirects to {self._shown(answer.headers.get('location', 'nowhere'))}; "
                "redirects are not followed with credentials, give the final base URL"
            )
        if answer.status_code == httpx.codes.NOT_FOUND or not _is_json(answer, content):
            kind = self._shown(answer.headers.get("content-type", "no content type"))
            raise NotTheInterface(
                f"GET {probe} answered {answer.status_code} with {kind}; expected the platform "
                "configuration as JSON. Is this the base URL of the interface?"
            )

    def _answer(self, probe: str) -> tuple[httpx.Response, bytes]:
        """Return the answer to the question and its body, once the target is ready."""
        until = time.monotonic() + MAX_STARTING_SECONDS
        pauses = _pauses()
        while True:
            answer, content = self._ask_bounded(probe)
            if (advice := _NOT_READY.get(answer.status_code)) is None:
                return answer, content
            headers = answer.headers
            asked = retry_after(headers.get("retry-after", ""), headers.get("date", ""))
            pause = max(next(pauses), asked or 0.0)
            if time.monotonic() + pause > until:
                wanted = f", and asks to wait for {asked:g} seconds" if asked else ""
                raise NotReady(f"GET {probe} answered {answer.status_code}{wanted}; {advice}")
            time.sleep(pause)

    def _ask_bounded(self, probe: str) -> tuple[httpx.Response, bytes]:
        patience = min(_PATIENCE, self.profile.timing.request)
        try:
            return within(patience, lambda: self._ask(probe))
        except TargetError:
            raise
        except (TimeoutError, httpx.TimeoutException):
            raise Unreachable(
                f"cannot reach {self.base_url}: no complete answer within {patience:g} seconds"
            ) from None
        # Whatever a library makes of an answer that is none.
        except Exception as error:
            if (mistrusted := _found(error, ssl.SSLCertVerificationError)) is not None:
                host = urlsplit(self.base_url).hostname or ""
                raise Untrusted(
                    f"cannot reach {self.base_url}: {self._shown(mistrust(mistrusted, host), 600)}"
                ) from error
            cause = self._shown(_cause(error, self))
            raise Unreachable(f"cannot reach {self.base_url}: {cause}") from error

    def _shown(self, text: str, limit: int = MAX_SHOWN_CHARS) -> str:
        """Return what the target sent as a message shows it: short, and without the secrets."""
        pair = f"{self.token_id}:{self.client_secret}"
        for secret in (base64.b64encode(pair.encode()).decode(), *self.secrets):
            text = text.replace(secret, "***")
        return legible(text, limit)

    def _ask(self, url: str) -> tuple[httpx.Response, bytes]:
        """Return the answer to one request and its body.

        Raises:
            NotTheInterface: the body is larger than a mebibyte, or cannot be decoded.
        """
        with (
            httpx.Client(
                verify=tls_context(self.profile, os.environ),
                timeout=_PATIENCE,
                follow_redirects=False,
                trust_env=False,
            ) as client,
            client.stream(
                "GET",
                url,
                auth=(self.token_id, self.client_secret),
                headers={"accept-encoding": ACCEPT_ENCODING},
            ) as answer,
        ):
            try:
                return answer, read_bounded(answer, _MAX_CONFIGURATION_BYTES)
            except (ResponseTooLarge, ResponseUnreadable) as error:
                raise NotTheInterface(
                    f"GET {url} answered {answer.status_code}: {error}"
                ) from error


def _secret(name: str, variable: str, environ: Mapping[str, str]) -> str:
    """Return the secret of the profile that an environment variable holds.

    Raises:
        MissingCredentials: it is not set.
        WeakSecret: it cannot be told from ordinary words.
    """
    value = environ.get(variable)
    if not value:
        raise MissingCredentials(f"secrets.{name} of the profile is not set: export {variable}")
    if (problem := problem_of(variable, value)) is not None:
        raise WeakSecret(problem)
    return value


def _parts(url: str) -> SplitResult | None:
    """Return the parts of an HTTP URL; ``None`` where it is none."""
    try:
        parts = urlsplit(url)
        # Reading the port checks it.
        fine = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:
        return None
    return parts if fine else None


def _is_json(answer: httpx.Response, content: bytes) -> bool:
    if "json" not in answer.headers.get("content-type", "").lower():
        return False
    try:
        json.loads(content)
    except (ValueError, RecursionError):
        return False
    return True


def _pauses() -> Iterator[float]:
    pause = _FIRST_PAUSE_SECONDS
    while True:
        yield pause
        pause *= 2


def _found(error: BaseException, kind: type[E]) -> E | None:
    """Return the first exception of a kind among an error and its causes."""
    cause: BaseException | None = error
    while cause is not None and not isinstance(cause, kind):
        cause = cause.__cause__ or cause.__context__
    return cause


def _cause(error: Exception, target: Target) -> str:
    if _found(error, socket.gaierror):
        return f"the host name {urlsplit(target.base_url).hostname} is not known"
    if _found(error, ConnectionRefusedError):
        return "connection refused; is the server running on this port?"
    return str(error) or type(error).__name__
