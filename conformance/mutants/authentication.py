"""Mutants of authentication: operations that look at credentials badly, late, or not at all."""

from __future__ import annotations

import base64
import binascii
import json
import re
from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.contract.document import document
from conformance.mutants.mutant import Patch, declare, mutant
from conformance.reference import errors, routes

Allows = Callable[[Any, Any, bool], bool]
"""Tells by the settings, a request's scope and the right answer whether the request may pass."""

_REFERENCE = "conformance.reference"
_APP = f"{_REFERENCE}.app"
_IS_ALLOWED = f"{_APP}:BasicAuth._is_allowed"
_STATUSES = f"{_REFERENCE}.rules:ERROR_STATUS"


# --- Who may pass ---------------------------------------------------------------------------


def is_call(scope: Any, operation: str) -> bool:
    """Return whether a request is a call of an operation."""
    row = routes.OPERATIONS[operation]
    pattern = re.sub(r"\{\w+\}", "[^/]+", row.path)
    return scope["method"] == row.method and bool(re.search(f"{pattern}$", scope["path"]))


def header_of(scope: Any) -> bytes:
    """Return the ``Authorization`` header of a request."""
    return bytes(dict(scope["headers"]).get(b"authorization", b""))


def authorization(allows: Allows) -> Callable[[Patch], None]:
    """Return a patch that decides anew who may pass."""

    def wrapper(original: Callable[..., bool]) -> Callable[..., bool]:
        return lambda auth, scope: allows(auth._settings, scope, original(auth, scope))

    return lambda patch: patch.wrap(_IS_ALLOWED, wrapper)


def pair_of(header: bytes) -> tuple[str, str]:
    """Return what stands before and behind the colon of Basic credentials, as far as it does."""
    scheme, _, encoded = header.partition(b" ")
    try:
        given = base64.b64decode(encoded, validate=True).decode()
    except (ValueError, binascii.Error):
        return "", ""
    user, _, password = given.partition(":")
    return (user, password) if scheme.lower() == b"basic" else ("", "")


def passing(also: Callable[[Any, str, str], bool]) -> Callable[[Patch], None]:
    """Return a patch by which ``also`` lets a pair of a user and a password pass."""

    def allows(settings: Any, scope: Any, right: bool) -> bool:
        given = header_of(scope)
        return right or (given != b"" and also(settings, *pair_of(given)))

    return authorization(allows)


# --- Operation by operation -----------------------------------------------------------------


def without_credentials(operation: str) -> Callable[[Patch], None]:
    """Return a patch by which an operation may be called by anybody."""
    return authorization(
        lambda settings, scope, right: right or (is_call(scope, operation) and not header_of(scope))
    )


def with_any_secret(operation: str) -> Callable[[Patch], None]:
    """Return a patch by which an operation looks at the API token id alone."""
    return authorization(
        lambda settings, scope, right: (
            right
            or (is_call(scope, operation) and pair_of(header_of(scope))[0] == settings.api_token_id)
        )
    )


def without_basic(operation: str) -> Callable[[Patch], None]:
    """Return a patch by which an operation refuses HTTP Basic credentials."""
    return authorization(lambda settings, scope, right: right and not is_call(scope, operation))


def too_late(operation: str, patch: Patch) -> None:
    """Let an operation look at the credentials when its work is done."""

    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        async def call(auth: Any, scope: Any, receive: Any, send: Any) -> None:
            async def swallow(message: Any) -> None:
                pass

            late = scope["type"] == "http" and is_call(scope, operation)
            if late and not auth._is_allowed(scope):
                await auth._app(scope, receive, swallow)
            await original(auth, scope, receive, send)

        return call

    patch.wrap(f"{_APP}:BasicAuth.__call__", wrapper)


UNSEEN = frozenset(
    {
        "createCustomer",
        "createKycLink",
        "sendEmailCode",
        "sendPhoneCode",
        "createBeneficialOwner",
        "createDocument",
        "startFactorReset",
        "completeScaLogin",
        "untrustBeneficiary",
        "confirmUntrust",
        "confirmBeneficiary",
        "challengeOwnership",
        "updateConfig",
    }
)
"""Operations of whose work nothing can be read afterwards, unless their answer came."""

for _operation, _described in document().operations.items():
    _at = f"[{_operation}]"
    declare(
        "AUT-030",
        f"{_operation}-is-open",
        f"{_operation} asks for no credentials",
        without_credentials(_operation),
        at=_at,
    )
    declare(
        "AUT-031",
        f"{_operation}-takes-any-secret",
        f"{_operation} looks at the API token id alone",
        with_any_secret(_operation),
        at=_at,
    )
    declare(
        "AUT-013",
        f"{_operation}-takes-no-basic-credentials",
        f"{_operation} is for agents alone",
        without_basic(_operation),
        at=_at,
    )
    if _described.method != "GET" and _operation not in UNSEEN:
        declare(
            "AUT-042",
            f"{_operation}-looks-late",
            f"{_operation} looks at the credentials when its work is done",
            partial(too_late, _operation),
            at=_at,
        )


# --- Fault by fault -------------------------------------------------------------------------

PASSING: tuple[tuple[str, str, str, Callable[[Any, str, str], bool]], ...] = (
    (
        "AUT-031",
        "any_secret",
        "the secret is not looked at",
        lambda settings, user, password: user == settings.api_token_id,
    ),
    (
        "AUT-032",
        "any_token",
        "the API token id is not looked at",
        lambda settings, user, password: password == settings.api_client_secret,
    ),
    (
        "AUT-033",
        "empty_password",
        "an empty password is not compared",
        lambda settings, user, password: user == settings.api_token_id and not password,
    ),
    (
        "AUT-034",
        "empty_user",
        "an empty username is not compared",
        lambda settings, user, password: not user and password == settings.api_client_secret,
    ),
    (
        "AUT-035",
        "either_order",
        "the pair is compared as a set",
        lambda settings, user, password: (
            {user, password} == {settings.api_token_id, settings.api_client_secret}
        ),
    ),
    (
        "AUT-036",
        "any_case",
        "capitals and small letters of the secret are alike",
        lambda settings, user, password: (
            user == settings.api_token_id and password.lower() == settings.api_client_secret.lower()
        ),
    ),
    (
        "AUT-037",
        "beginning",
        "the password is compared as far as it goes",
        lambda settings, user, password: (
            user == settings.api_token_id
            and password != ""
            and settings.api_client_secret.startswith(password)
        ),
    ),
)
"""Requirement, name, statement, and which pair passes too."""

for _id, _name, _statement, _also in PASSING:
    declare(_id, _name, _statement, passing(_also))


@mutant("AUT-030", "who was let in once is let in again without credentials")
def remembered(patch: Patch) -> None:
    known: set[str] = set()

    def allows(settings: Any, scope: Any, right: bool) -> bool:
        host = str(scope["client"][0])
        if right:
            known.add(host)
        return right or (host in known and not header_of(scope))

    authorization(allows)(patch)


@mutant("AUT-030", "reading needs no credentials")
def reading_is_open(patch: Patch) -> None:
    authorization(
        lambda settings, scope, right: right or (scope["method"] == "GET" and not header_of(scope))
    )(patch)


@mutant("AUT-038", "the scheme is not looked at")
def any_scheme(patch: Patch) -> None:
    def allows(settings: Any, scope: Any, right: bool) -> bool:
        encoded = header_of(scope).rpartition(b" ")[2]
        pair = (settings.api_token_id, settings.api_client_secret)
        return right or pair_of(b"Basic " + encoded) == pair

    authorization(allows)(patch)


@mutant("AUT-039", "credentials that are not in base64 are taken as they are")
def taken_as_they_are(patch: Patch) -> None:
    def allows(settings: Any, scope: Any, right: bool) -> bool:
        given = header_of(scope).partition(b" ")[2].decode("latin-1")
        return right or given == f"{settings.api_token_id}:{settings.api_client_secret}"

    authorization(allows)(patch)


@mutant("AUT-040", "the token id and the secret are compared as one text")
def one_text(patch: Patch) -> None:
    def allows(settings: Any, scope: Any, right: bool) -> bool:
        try:
            given = base64.b64decode(header_of(scope).partition(b" ")[2]).decode()
        except (ValueError, binascii.Error):
            return right
        wanted = settings.api_token_id + settings.api_client_secret
        return right or given.replace(":", "") == wanted

    authorization(allows)(patch)


@mutant("AUT-041", "a scheme without credentials is not compared")
def scheme_alone(patch: Patch) -> None:
    authorization(
        lambda settings, scope, right: right or header_of(scope).strip().lower() == b"basic"
    )(patch)


def _answered_before(meets: Callable[[bytes], bool], code: str, patch: Patch) -> None:
    """Let a header that ``meets`` a condition be answered with another code."""

    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        async def call(auth: Any, scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http" and meets(header_of(scope)):
                response = _app().refuse(errors.Refusal(code, "The header cannot be read."))
                await response(scope, receive, send)
                return
            await original(auth, scope, receive, send)

        return call

    patch.wrap(f"{_APP}:BasicAuth.__call__", wrapper)


declare(
    "AUT-041",
    "wrong_format",
    "a scheme without credentials is a request in a wrong format",
    partial(_answered_before, lambda given: given == b"Basic", "INVALID_REQUEST_FORMAT"),
)
declare(
    "AUT-039",
    "breaks",
    "credentials that are not in base64 break the server",
    partial(
        _answered_before,
        lambda given: given.startswith(b"Basic ") and b":" in given,
        "INTERNAL_ERROR",
    ),
)


# --- The refusal, and the secret ------------------------------------------------------------


def _app() -> Any:
    # It brings the whole server, which those who only read the declarations need not load.
    from conformance.reference import app  # noqa: PLC0415 - the declarations need no server

    return app


def _called(code: str, patch: Patch) -> None:
    """Let the refusal of missing and wrong credentials have another code."""

    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        def refuse(refusal: errors.Refusal, headers: dict[str, str] | None = None) -> Any:
            if refusal.code == "UNAUTHORIZED":
                refusal.code = code
            return original(refusal, headers)

        return refuse

    patch.row(_STATUSES, code, 401)
    patch.wrap(f"{_APP}:refuse", wrapper)


for _code in ("INVALID_SIGNATURE", "INVALID_CREDENTIALS"):
    declare(
        "AUT-011",
        f"called-{_code.lower()}",
        f"missing and wrong credentials are called {_code}",
        partial(_called, _code),
    )


@mutant("AUT-030", "missing credentials are forbidden instead")
def forbidden(patch: Patch) -> None:
    patch.row(_STATUSES, "UNAUTHORIZED", 403)


def _refused_with(tell: Callable[[Any, Any], tuple[str, dict[str, str]]], patch: Patch) -> None:
    """Let the refusal of credentials say and carry what ``tell`` makes of settings and scope."""

    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        async def call(auth: Any, scope: Any, receive: Any, send: Any) -> None:
            if scope["type"] == "http" and not auth._is_allowed(scope):
                reason, headers = tell(auth._settings, scope)
                response = _app().refuse(errors.Refusal("UNAUTHORIZED", reason), headers)
                await response(scope, receive, send)
                return
            await original(auth, scope, receive, send)

        return call

    patch.wrap(f"{_APP}:BasicAuth.__call__", wrapper)


@mutant("AUT-043", "a refusal tells which secret was expected")
def tells_the_secret(patch: Patch) -> None:
    _refused_with(
        lambda settings, scope: (f"Expected the secret {settings.api_client_secret}.", {}), patch
    )


@mutant("AUT-043", "a refusal repeats the header that was sent")
def repeats_the_header(patch: Patch) -> None:
    _refused_with(
        lambda settings, scope: ("Not authorized.", {"X-Given": header_of(scope).decode()}), patch
    )


@mutant("AUT-043", "the settings of the platform hold its secret")
def settings_hold_the_secret(patch: Patch) -> None:
    def wrapper(original: Callable[..., Any]) -> Callable[..., Any]:
        def respond(status: int, body: Any, headers: dict[str, str] | None = None) -> Any:
            if isinstance(body, dict) and "supportedCurrencies" in body:
                body = {**body, "api": json.loads(json.dumps({"secret": _SECRETS[-1]}))}
            return original(status, body, headers)

        return respond

    def noting(settings: Any, scope: Any, right: bool) -> bool:
        _SECRETS[:] = [settings.api_client_secret]
        return right

    authorization(noting)(patch)
    patch.wrap(f"{_APP}:respond", wrapper)


_SECRETS: list[str] = []
"""The secret of the reference that a mutant has met."""
