"""Mutants of authentication: operations that check credentials wrongly, late, or not at all."""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable
from typing import Any

from conformance.contract.document import document
from conformance.proof.kit.builders import around
from conformance.proof.mutant import declare, mutant
from conformance.proof.mutants.authentication.toolkit import (
    authorization,
    header_of,
    is_call,
    without_basic,
    without_credentials,
)
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import app, errors, rules
from conformance.reference.app import BasicAuth

# --- Who may pass ---------------------------------------------------------------------------


def pair_of(header: bytes) -> tuple[str, str]:
    """Return what stands before and behind the colon of Basic credentials, as far as it does."""
    scheme, _, encoded = header.partition(b" ")
    try:
        given = base64.b64decode(encoded, validate=True).decode()
    except (ValueError, binascii.Error):
        return "", ""
    user, _, password = given.partition(":")
    return (user, password) if scheme.lower() == b"basic" else ("", "")


def passing(also: Callable[[Any, str, str], bool]) -> Apply:
    """Return a patch by which ``also`` lets a pair of a user and a password pass."""

    def allows(settings: Any, scope: Any, right: bool) -> bool:
        given = header_of(scope)
        return right or (given != b"" and also(settings, *pair_of(given)))

    return authorization(allows)


# --- Operation by operation -----------------------------------------------------------------


def with_any_secret(operation: str) -> Apply:
    """Return a patch by which an operation looks at the API token id alone."""
    return authorization(
        lambda settings, scope, right: (
            right
            or (is_call(scope, operation) and pair_of(header_of(scope))[0] == settings.api_token_id)
        )
    )


def too_late(operation: str) -> Apply:
    """Let an operation look at the credentials when its work is done."""

    async def call(
        original: Callable[..., Any], auth: Any, scope: Any, receive: Any, send: Any
    ) -> None:
        async def swallow(message: Any) -> None:
            pass

        late = scope["type"] == "http" and is_call(scope, operation)
        if late and not auth._is_allowed(scope):
            await auth._app(scope, receive, swallow)
        await original(auth, scope, receive, send)

    return around(BasicAuth, "__call__", call)


@mutant(
    "AUT-042",
    "a quote that is executed at once pays before the credentials are looked at",
    (BasicAuth, "__call__"),
)
async def paid_before_it_is_denied(
    original: Function, auth: Any, scope: Any, receive: Any, send: Any
) -> None:
    if scope["type"] != "http" or not is_call(scope, "createQuote") or auth._is_allowed(scope):
        await original(auth, scope, receive, send)
        return
    received: list[Any] = [await receive()]
    while received[-1].get("more_body"):
        received.append(await receive())

    async def again() -> Any:
        return received.pop(0)

    async def swallow(message: Any) -> None:
        pass

    if b"immediatelyExecute" in b"".join(message.get("body", b"") for message in received):
        await auth._app(scope, again, swallow)
    await original(auth, scope, receive, send)


def after_the_rest(operation: str, *statuses: int) -> Apply:
    """Let an operation refuse what is wrong with a request before its credentials."""

    async def call(
        original: Callable[..., Any], auth: Any, scope: Any, receive: Any, send: Any
    ) -> None:
        late = scope["type"] == "http" and is_call(scope, operation)
        messages: list[Any] = []

        async def keep(message: Any) -> None:
            messages.append(message)

        if late and not auth._is_allowed(scope):
            await auth._app(scope, receive, keep)
        if messages and messages[0]["status"] in statuses:
            for message in messages:
                await send(message)
            return
        await original(auth, scope, receive, send)

    return around(BasicAuth, "__call__", call)


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
    if _described.body_required and _described.form_schema is None:
        declare(
            "AUT-045",
            f"{_operation}-reads-first",
            f"{_operation} refuses a wrong body before wrong credentials",
            after_the_rest(_operation, 400, 422),
            at=_at,
        )
    if "{" in _described.path:
        declare(
            "AUT-046",
            f"{_operation}-searches-first",
            f"{_operation} tells anybody what it does not find",
            after_the_rest(_operation, 404),
            at=_at,
        )
    if _described.method != "GET" and _operation not in UNSEEN:
        declare(
            "AUT-042",
            f"{_operation}-looks-late",
            f"{_operation} looks at the credentials when its work is done",
            too_late(_operation),
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
        "AUT-047",
        "nobody",
        "who gives neither name nor password is let in",
        lambda settings, user, password: not user and not password,
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
    (
        "AUT-044",
        "continued",
        "what follows the secret is not looked at",
        lambda settings, user, password: (
            user == settings.api_token_id and password.startswith(settings.api_client_secret)
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


declare(
    "AUT-030",
    "reading-is-open",
    "reading needs no credentials",
    authorization(
        lambda settings, scope, right: right or (scope["method"] == "GET" and not header_of(scope))
    ),
)


@mutant("AUT-038", "the scheme is not looked at", how=authorization)
def any_scheme(settings: Any, scope: Any, right: bool) -> bool:
    encoded = header_of(scope).rpartition(b" ")[2]
    pair = (settings.api_token_id, settings.api_client_secret)
    return right or pair_of(b"Basic " + encoded) == pair


@mutant("AUT-039", "credentials that are not in base64 are taken as they are", how=authorization)
def taken_as_they_are(settings: Any, scope: Any, right: bool) -> bool:
    given = header_of(scope).partition(b" ")[2].decode("latin-1")
    return right or given == f"{settings.api_token_id}:{settings.api_client_secret}"


@mutant("AUT-040", "the token id and the secret are compared as one text", how=authorization)
def one_text(settings: Any, scope: Any, right: bool) -> bool:
    try:
        given = base64.b64decode(header_of(scope).partition(b" ")[2]).decode()
    except (ValueError, binascii.Error):
        return right
    wanted = settings.api_token_id + settings.api_client_secret
    return right or given.replace(":", "") == wanted


declare(
    "AUT-041",
    "scheme-alone",
    "a scheme without credentials is not compared",
    authorization(
        lambda settings, scope, right: right or header_of(scope).strip().lower() == b"basic"
    ),
)


def _answered_before(meets: Callable[[bytes], bool], code: str) -> Apply:
    """Let a header that ``meets`` a condition be answered with another code."""

    async def call(
        original: Callable[..., Any], auth: Any, scope: Any, receive: Any, send: Any
    ) -> None:
        if scope["type"] == "http" and meets(header_of(scope)):
            response = _app().refuse(errors.Refusal(code, "The header cannot be read."))
            await response(scope, receive, send)
            return
        await original(auth, scope, receive, send)

    return around(BasicAuth, "__call__", call)


declare(
    "AUT-041",
    "not_found",
    "a scheme without credentials finds nothing",
    _answered_before(lambda given: given == b"Basic", "NOT_FOUND"),
)
declare(
    "AUT-039",
    "breaks",
    "credentials that are not in base64 break the server",
    _answered_before(lambda given: given.startswith(b"Basic ") and b":" in given, "INTERNAL_ERROR"),
)


# --- The refusal, and the secret ------------------------------------------------------------


def _app() -> Any:
    # It brings the whole server, which those who only read the declarations need not load.
    from conformance.reference import app  # noqa: PLC0415 - the declarations need no server

    return app


def _called(code: str) -> Apply:
    """Let the refusal of missing and wrong credentials have another code."""

    def apply(patch: Patch) -> None:
        def refuse(
            original: Callable[..., Any],
            refusal: errors.Refusal,
            headers: dict[str, str] | None = None,
        ) -> Any:
            if refusal.code == "UNAUTHORIZED":
                refusal.code = code
            return original(refusal, headers)

        patch.row(rules, "ERROR_STATUS", code, 401)
        patch.wrap(app, "refuse", refuse)

    return apply


for _code in ("INVALID_SIGNATURE", "INVALID_CREDENTIALS"):
    declare(
        "AUT-011",
        f"called-{_code.lower()}",
        f"missing and wrong credentials are called {_code}",
        _called(_code),
    )


@mutant("AUT-030", "missing credentials are forbidden instead")
def forbidden(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "UNAUTHORIZED", 403)


def _refused_with(tell: Callable[[Any, Any], tuple[str, dict[str, str]]]) -> Apply:
    """Let the refusal of credentials say and carry what ``tell`` makes of settings and scope."""

    async def call(
        original: Callable[..., Any], auth: Any, scope: Any, receive: Any, send: Any
    ) -> None:
        if scope["type"] == "http" and not auth._is_allowed(scope):
            reason, headers = tell(auth._settings, scope)
            response = _app().refuse(errors.Refusal("UNAUTHORIZED", reason), headers)
            await response(scope, receive, send)
            return
        await original(auth, scope, receive, send)

    return around(BasicAuth, "__call__", call)


declare(
    "AUT-043",
    "tells-the-secret",
    "a refusal tells which secret was expected",
    _refused_with(
        lambda settings, scope: (f"Expected the secret {settings.api_client_secret}.", {})
    ),
)
declare(
    "AUT-043",
    "repeats-the-header",
    "a refusal repeats the header that was sent",
    _refused_with(
        lambda settings, scope: ("Not authorized.", {"X-Given": header_of(scope).decode()})
    ),
)


@mutant("AUT-043", "the settings of the platform hold its secret")
def settings_hold_the_secret(patch: Patch) -> None:
    def respond(
        original: Callable[..., Any], status: int, body: Any, headers: dict[str, str] | None = None
    ) -> Any:
        if isinstance(body, dict) and "supportedCurrencies" in body:
            body = {**body, "api": json.loads(json.dumps({"secret": _SECRETS[-1]}))}
        return original(status, body, headers)

    def noting(settings: Any, scope: Any, right: bool) -> bool:
        _SECRETS[:] = [settings.api_client_secret]
        return right

    authorization(noting)(patch)
    patch.wrap(app, "respond", respond)


_SECRETS: list[str] = []
"""The secret of the reference that a mutant has met."""
