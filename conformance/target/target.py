"""The target of a run: base URL, credentials and profile, checked before anything runs."""

from __future__ import annotations

import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import SplitResult, urlsplit

import httpx

from conformance.target.deadline import within
from conformance.target.profile import Profile
from conformance.target.reading import (
    ACCEPT_ENCODING,
    ResponseTooLarge,
    ResponseUnreadable,
    read_bounded,
)

VERSION = "2025-10-13"
"""The version segment that ends every base URL (specification, Versioning 1)."""

_PATIENCE = 3.0
_LONGEST_CONFIGURATION = 1024 * 1024


class TargetError(Exception):
    """The target cannot be tested as it is configured."""


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


@dataclass(frozen=True)
class Target:
    """Who is tested: where, as whom, and what is known about it.

    ``base_url`` has no slash at its end. The credentials are kept out of ``repr``.
    """

    base_url: str
    token_id: str = field(repr=False)
    client_secret: str = field(repr=False)
    profile: Profile

    @classmethod
    def resolve(cls, base_url: str, profile: Profile, environ: Mapping[str, str]) -> Target:
        """Put together a target from its parts.

        Raises:
            BadBaseUrl: the URL has no scheme, no host or not the version segment, or it has
                something that does not belong there, credentials for example.
            MissingCredentials: a variable that the profile names is not set.
        """
        url = base_url.rstrip("/")
        parts = _parts(url)
        if parts is None:
            raise BadBaseUrl(
                f"the base URL {base_url!r} is not a URL; expected for example "
                f"https://api.example.com/{VERSION}"
            )
        if "@" in parts.netloc:
            raise BadBaseUrl(
                f"the base URL of {parts.hostname} holds credentials, which would get into "
                "reports; take them out and export the variables that the profile names"
            )
        if parts.query or parts.fragment:
            raise BadBaseUrl(
                f"the base URL {base_url} has a query or a fragment; expected it to end in "
                f"{VERSION}"
            )
        if parts.path.rpartition("/")[2] != VERSION:
            raise BadBaseUrl(
                f"the base URL {base_url} does not end in the version segment {VERSION}; "
                f"did you mean {url}/{VERSION} ?"
            )
        names = (profile.credentials.token_id, profile.credentials.client_secret)
        missing = [name for name in names if not environ.get(name)]
        if missing:
            raise MissingCredentials(
                f"the credentials of {url} are not set: export {' and '.join(missing)} "
                "(the profile's key credentials names the variables)"
            )
        return cls(url, environ[names[0]], environ[names[1]], profile)

    @property
    def origin(self) -> str:
        """Scheme, host and port of the base URL."""
        parts = urlsplit(self.base_url)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def secrets(self) -> tuple[str, ...]:
        """The values that no report, journal or message may show."""
        return (self.client_secret, self.token_id)

    def check(self) -> None:
        """Ask the target one safe question, to tell a wrong configuration from a wrong target.

        Raises:
            Unreachable: nothing answers, with the cause.
            WrongCredentials: it answers 401.
            NotTheInterface: it answers 404 or something that is no JSON.
        """
        probe = f"{self.base_url}/config"
        try:
            answer, content = within(_PATIENCE, lambda: self._ask(probe))
        except (TimeoutError, httpx.TimeoutException):
            raise Unreachable(
                f"cannot reach {self.base_url}: no complete answer within {_PATIENCE:.0f} seconds"
            ) from None
        except (httpx.HTTPError, OSError) as error:
            raise Unreachable(f"cannot reach {self.base_url}: {_cause(error, self)}") from error
        if answer.status_code == httpx.codes.UNAUTHORIZED:
            names = self.profile.credentials
            raise WrongCredentials(
                f"{self.base_url} refuses the credentials (GET /config answered 401); "
                f"check the variables {names.token_id} and {names.client_secret}"
            )
        if answer.is_redirect:
            raise NotTheInterface(
                f"{probe} redirects to {answer.headers.get('location')}; "
                "redirects are not followed with credentials, give the final base URL"
            )
        if answer.status_code == httpx.codes.NOT_FOUND or not _is_json(answer, content):
            kind = answer.headers.get("content-type", "no content type")
            raise NotTheInterface(
                f"GET {probe} answered {answer.status_code} with {kind}; expected the platform "
                "configuration as JSON. Is this the base URL of the interface?"
            )

    def _ask(self, url: str) -> tuple[httpx.Response, bytes]:
        """Return the answer to one request and its body.

        Raises:
            NotTheInterface: the body is larger than a mebibyte, or cannot be decoded.
        """
        with (
            httpx.Client(timeout=_PATIENCE, follow_redirects=False, trust_env=False) as client,
            client.stream(
                "GET",
                url,
                auth=(self.token_id, self.client_secret),
                headers={"accept-encoding": ACCEPT_ENCODING},
            ) as answer,
        ):
            try:
                return answer, read_bounded(answer, _LONGEST_CONFIGURATION)
            except (ResponseTooLarge, ResponseUnreadable) as error:
                raise NotTheInterface(
                    f"GET {url} answered {answer.status_code}: {error}"
                ) from error


def from_environment(name: str) -> str | None:
    """Return the environment variable ``name``, or ``None`` where it is not set or empty."""
    return os.environ.get(name) or None


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


def _cause(error: Exception, target: Target) -> str:
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, socket.gaierror):
            return f"the host name {urlsplit(target.base_url).hostname} is not known"
        if isinstance(cause, ConnectionRefusedError):
            return "connection refused; is the server running on this port?"
        cause = cause.__cause__ or cause.__context__
    return str(error) or type(error).__name__
