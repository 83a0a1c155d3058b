"""Conforming variants of embedded wallets: how signatures are asked for and refused.

The specification shows neither what is signed nor which code fits a wrong signature best.
"""

from __future__ import annotations

from typing import Any

from conformance.proof.kit.builders import (
    Json,
    before,
    concerning,
    edited,
    instead,
    recoded,
    together,
)
from conformance.proof.kit.edits import without
from conformance.proof.kit.tables import answers
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import errors, fields, rules
from conformance.reference.embedded_wallets import credentials, embedded_wallets
from conformance.reference.internal_accounts import accounts
from conformance.reference.quotes import quotes
from conformance.reference.store import Credential, Quote, WalletRequest
from conformance.reference.unit import Ask, Unit

_MISSING = "WALLET_SIGNATURE_MISSING"
_INVALID = "WALLET_SIGNATURE_INVALID"
_WRONG = ("WALLET_SIGNATURE_MALFORMED", "WALLET_SIGNATURE_BODY_MISMATCH", _INVALID)


# --- What is signed --------------------------------------------------------------------------


@variant("N039", "a signature is for a session, and any quote is executed with it", "apart")
def signed_session(patch: Patch) -> None:
    def refuse(
        original: Function, request: WalletRequest, wallet: Any, action: str, body: Json | None
    ) -> None:
        executes = action.endswith("/execute")
        original(request, wallet, request.action if executes else action, body)

    patch.wrap(embedded_wallets, "refuse_other", refuse)


# --- The first answer -----------------------------------------------------------------------


def refused_first(code: str) -> Apply:
    """Return a patch by which what is to be signed stands in the details of a refusal."""

    def answer(request: WalletRequest) -> Exception:
        details = embedded_wallets.view(request)
        return errors.Rejection(code, "Sign payloadToSign, and send the request again.", details)

    # What stands in the details may not be taken away.
    return together(instead(embedded_wallets, "answer", answer), concerning(quotes, "create"))


declare(
    "N260",
    "unauthorized-first",
    "a request that nobody has signed is unauthorized",
    refused_first(_MISSING),
    "codes",
)
declare(
    "N260",
    "conflict-first",
    "a request that nobody has signed is in conflict with its wallet",
    refused_first("CONFLICT"),
    "other codes",
)


@variant("N260", "a quote says what is to be signed for its execution", "apart")
def payload_in_quote(patch: Patch) -> None:
    def with_payload(view: Function, unit: Unit, quote: Quote) -> Json:
        body: Json = view(unit, quote)
        source = embedded_wallets.source_account(quote)
        wallet = embedded_wallets.wallet_of(unit, source)
        if wallet is None or quote.status != "PENDING":
            return body
        action = f"POST /quotes/{quote.id}/execute"
        request = embedded_wallets.open_request(unit, wallet, action, None)
        return {**body, **without("expiresAt")(embedded_wallets.view(request))}

    def refused(answer: Function, request: WalletRequest) -> Exception:
        if request.action.endswith("/execute"):
            return errors.Refusal(_MISSING, "Sign the payloadToSign of the quote.")
        demand: Exception = answer(request)
        return demand

    patch.wrap(quotes, "view", with_payload)
    patch.wrap(embedded_wallets, "answer", refused)
    # There is one request to be signed for a quote, which nothing may use up.
    patch.concern(embedded_wallets, "demand_signature")


@variant("N260", "quotes from a wallet are signed as they are created, and not as they execute")
def signed_creation(patch: Patch) -> None:
    demand = embedded_wallets.demand_signature

    def unless_executed(
        original: Function,
        unit: Unit,
        ask: Ask,
        account_id: str | None,
        action: str,
        body: Json | None = None,
    ) -> None:
        if not action.endswith("/execute"):
            original(unit, ask, account_id, action, body)

    def signed(create: Function, unit: Unit, ask: Ask) -> Any:
        if fields.at(ask.body, "immediatelyExecute") is not True:
            account = fields.at(ask.body, "source.accountId")
            if isinstance(account, str):
                demand(unit, ask, account, "POST /quotes", ask.body)
        return create(unit, ask)

    patch.wrap(embedded_wallets, "demand_signature", unless_executed)
    patch.wrap(quotes, "create", signed)


@variant(
    "N260", "what comes without a signature is a new request, whatever its Request-Id", "forms"
)
def asked_again(patch: Patch) -> None:
    patch.replace(
        embedded_wallets, "is_retry", lambda headers: bool(headers.get(embedded_wallets.SIGNATURE))
    )


@variant("N260", "an empty header is taken as none", "other forms")
def empty_is_none(patch: Patch) -> None:
    names = (embedded_wallets.SIGNATURE, embedded_wallets.REQUEST)
    patch.replace(
        embedded_wallets, "is_retry", lambda headers: any(headers.get(name) for name in names)
    )


# --- Wrong signatures -----------------------------------------------------------------------


def called(*codes: str, name: str) -> Apply:
    """Return a patch by which refusals of wrong signatures have one code."""

    def demand(original: Function, *arguments: Any) -> None:
        try:
            original(*arguments)
        except errors.Refusal as refusal:
            if refusal.code in codes:
                raise errors.Refusal(name, refusal.reason) from refusal
            raise

    def patch(patch: Patch) -> None:
        if name not in rules.ERROR_STATUS:
            patch.row(rules, "ERROR_STATUS", name, 401)
        patch.wrap(embedded_wallets, "demand_signature", demand)

    return patch


declare(
    "N261",
    "all-invalid",
    "every wrong signature is invalid",
    called(*_WRONG[:2], name=_INVALID),
    "codes",
)
declare(
    "N261",
    "all-bad",
    "every wrong signature is a bad signature header",
    called(*_WRONG, name="INVALID_SIGNATURE"),
    "other codes",
)
declare(
    "N261",
    "mismatch",
    "a signature that does not verify belongs to another body",
    called(_INVALID, name=_WRONG[1]),
    "apart",
)


# --- Request ids ----------------------------------------------------------------------------


@variant(
    "N262",
    "a wrong signature uses its Request-Id up",
    "other apart",
    (embedded_wallets, "demand_signature"),
)
def used_up(original: Function, unit: Unit, ask: Ask, *more: Any) -> None:
    try:
        original(unit, ask, *more)
    except errors.Refusal as refusal:
        name = ask.headers.get(embedded_wallets.REQUEST) or ""
        request = unit.session.get(WalletRequest, name)
        if request is None:
            raise
        request.used = True
        raise errors.Rejection(refusal.code, refusal.reason) from refusal


@variant("N262", "a repeated retry is answered as the first one was", "slow")
def answered_again(patch: Patch) -> None:
    known: dict[str, Any] = {}

    def handler(original: Function, unit: Unit, ask: Ask) -> Any:
        name = ask.headers.get(embedded_wallets.REQUEST)
        if name is None or embedded_wallets.SIGNATURE not in ask.headers:
            return original(unit, ask)
        key = f"{name} {ask.headers[embedded_wallets.SIGNATURE]} {ask.params} {ask.body}"
        if key not in known:
            known[key] = original(unit, ask)
        return known[key]

    for name in ("create", "execute"):
        patch.wrap(quotes, name, handler)


declare(
    "N262",
    "unknown-is-wrong",
    "an unknown Request-Id is a wrong signature",
    recoded(embedded_wallets, "find_request", _INVALID),
    "null",
)


# --- Members and credentials ----------------------------------------------------------------

declare(
    "M75",
    "wallet-without-privateEnabled",
    "no wallet says whether it is private",
    edited(accounts, "_view", without("privateEnabled")),
    "absent",
)
declare(
    "N263",
    "credential-200",
    "a credential that is added is answered with 200",
    answers("addCredential", 200),
    "other codes",
)


def there_already(kind: str) -> Apply:
    """Return a patch by which wallets come with a credential of a type."""

    def patch(patch: Patch) -> None:
        def refuse(original: Function, unit: Unit, credential: Credential) -> None:
            if credential.type == kind:
                raise errors.Refusal(credentials.EXISTS[kind], "Every wallet has one.")
            original(unit, credential)

        patch.wrap(credentials, "refuse_known", refuse)

    return patch


declare("N263", "mail-code", "wallets come with an EMAIL_OTP", there_already("EMAIL_OTP"), "forms")
declare(
    "N263", "text-code", "wallets come with an SMS_OTP", there_already("SMS_OTP"), "other forms"
)


@variant("N263", "credentials are added by signed retries", "apart", (credentials, "add"), before)
def signed_credentials(unit: Unit, ask: Ask) -> None:
    body = fields.demand(ask.body, credentials.FIELDS)
    action = "POST /auth/credentials"
    embedded_wallets.demand_signature(unit, ask, body["accountId"], action, body)


@variant("N264", "a passkey is registered once for all accounts", "codes")
def one_account_each(patch: Patch) -> None:
    owners: dict[str, str] = {}

    def refuse(original: Function, unit: Unit, credential: Credential) -> None:
        original(unit, credential)
        name = credential.passkey_id
        if name is not None and owners.setdefault(name, credential.id) != credential.id:
            raise errors.Refusal(credentials.EXISTS["PASSKEY"], "It is registered already.")

    patch.wrap(credentials, "refuse_known", refuse)
