"""Mutants that generated requests find: crashes on rare input, and rules that are not checked."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from sqlalchemy import select
from starlette.requests import Request

from conformance.proof.kit.builders import Json, Place, around, before, receives
from conformance.proof.kit.tables import with_field, with_row
from conformance.proof.mutant import declare, mutant
from conformance.proof.patch import Apply, Function, Patch
from conformance.reference import app, errors, routes, rules
from conformance.reference.authentication import factor_resets, sca
from conformance.reference.customers import onboarding
from conformance.reference.external_accounts import account_types
from conformance.reference.external_accounts.account_types import ACCOUNT_TYPES
from conformance.reference.internal_accounts import rule_based
from conformance.reference.quotes import quotes
from conformance.reference.store import Customer, InternalAccount
from conformance.reference.unit import Ask, Unit
from conformance.reference.verification import contact, documents, kyc_links, owners, verifications

Spoil = Callable[[Ask], Any]


# --- Crashes --------------------------------------------------------------------------------


def _path_in_ascii(ask: Ask) -> None:
    """Break on an id in the path with other characters than ASCII has."""
    for value in ask.params.values():
        value.encode("ascii")


def _query_in_ascii(ask: Ask) -> None:
    """Break on a query with other characters than ASCII has."""
    for name, value in ask.query.items():
        (name + value).encode("ascii")


def _body_in_ascii(ask: Ask) -> None:
    """Break on a body with other characters than ASCII has."""
    json.dumps(ask.body, ensure_ascii=False).encode("ascii")


def _empty_texts(ask: Ask) -> None:
    """Break on an empty text, of which there is no first character."""
    for value in [ask.body, *(ask.body.values() if isinstance(ask.body, dict) else ())]:
        _ = value[0] if isinstance(value, str) else None


def _object(ask: Ask) -> None:
    """Break on a body that is no object."""
    ask.body.items()


def _known_query(ask: Ask) -> None:
    """Break on a parameter of the query that is not known."""
    for name in ask.query:
        _ = {"limit": int, "cursor": str}[name]


def _file_name_in_ascii(ask: Ask) -> None:
    """Break on a file whose name has other characters than ASCII has."""
    for upload in ask.files.values():
        upload.name.encode("ascii")


def _file_with_content(ask: Ask) -> None:
    """Break on an empty file, of which there is no first byte."""
    for upload in ask.files.values():
        _ = upload.content[0]


def _named_file(ask: Ask) -> None:
    """Break on a form without its file."""
    _ = ask.files["file"]


def _typed_path(ask: Ask) -> None:
    """Break on an id in the path that has no type before a colon."""
    for value in ask.params.values():
        _ = value.split(":")[1]


CRASHES: Mapping[tuple[str, str], tuple[Spoil, ...]] = {
    ("FUZ-001", "createQuote"): (_body_in_ascii, _empty_texts),
    ("FUZ-002", "executeQuote"): (_path_in_ascii,),
    ("FUZ-003", "authorizeQuote"): (_path_in_ascii, _object),
    ("FUZ-004", "listTransactions"): (_query_in_ascii,),
    ("FUZ-005", "approveTransaction"): (_path_in_ascii,),
    ("FUZ-006", "createCustomer"): (_body_in_ascii,),
    ("FUZ-007", "updateCustomer"): (_empty_texts,),
    ("FUZ-008", "getCustomer"): (_path_in_ascii,),
    ("FUZ-009", "getEndUserTerms"): (_known_query,),
    ("FUZ-010", "getConfig"): (_known_query,),
    ("FUZ-011", "updateConfig"): (_object,),
    ("FUZ-012", "listCustomerInternalAccounts"): (_query_in_ascii,),
    ("FUZ-013", "listPlatformInternalAccounts"): (_query_in_ascii,),
    ("FUZ-014", "fundInternalAccount"): (_path_in_ascii, _body_in_ascii),
    ("FUZ-015", "createExternalAccount"): (_empty_texts,),
    ("FUZ-016", "listCustomerExternalAccounts"): (_query_in_ascii,),
    ("FUZ-017", "listPlatformExternalAccounts"): (_known_query,),
    ("FUZ-018", "getExternalAccount"): (_path_in_ascii,),
    ("FUZ-019", "deleteExternalAccount"): (_path_in_ascii,),
    ("FUZ-020", "lookupExternalAccount"): (_path_in_ascii, _query_in_ascii),
    ("FUZ-021", "listDiscoveries"): (_query_in_ascii,),
    ("FUZ-022", "transferIn"): (_body_in_ascii,),
    ("FUZ-023", "transferOut"): (_object,),
    ("FUZ-024", "createKycLink"): (_path_in_ascii, _object),
    ("FUZ-025", "sendEmailCode"): (_path_in_ascii, _typed_path),
    ("FUZ-026", "confirmEmail"): (_path_in_ascii, _object),
    ("FUZ-027", "sendPhoneCode"): (_path_in_ascii, _typed_path),
    ("FUZ-028", "confirmPhone"): (_path_in_ascii, _object),
    ("FUZ-029", "createBeneficialOwner"): (_body_in_ascii, _empty_texts),
    ("FUZ-030", "createDocument"): (
        _body_in_ascii,
        _empty_texts,
        _file_name_in_ascii,
        _file_with_content,
        _named_file,
    ),
    ("FUZ-031", "createVerification"): (_body_in_ascii, _object),
    ("FUZ-032", "listVerifications"): (_query_in_ascii,),
    ("FUZ-039", "startFactorReset"): (_query_in_ascii, _object),
    ("FUZ-040", "getFactorReset"): (_path_in_ascii,),
    ("FUZ-041", "completeFactorReset"): (_path_in_ascii, _object),
    ("FUZ-042", "completeScaLogin"): (_object,),
    ("FUZ-043", "listStablecoins"): (_known_query,),
    ("FUZ-044", "createStablecoin"): (_body_in_ascii, _object),
    ("FUZ-045", "mintStablecoin"): (_path_in_ascii, _object),
    ("FUZ-046", "burnStablecoin"): (_path_in_ascii, _object),
    ("FUZ-047", "listStablecoinOperations"): (_path_in_ascii,),
    ("FUZ-048", "simulateReturnReversal"): (_path_in_ascii, _object),
    ("FUZ-033", "untrustBeneficiary"): (_path_in_ascii, _typed_path),
    ("FUZ-034", "confirmUntrust"): (_path_in_ascii, _object),
    ("FUZ-035", "confirmBeneficiary"): (_path_in_ascii, _object),
    ("FUZ-036", "challengeOwnership"): (_path_in_ascii, _object),
    ("FUZ-037", "verifyOwnership"): (_path_in_ascii, _object),
    ("FUZ-038", "createInternalAccount"): (_body_in_ascii, _object),
}
"""How each operation, under its requirement, may break on input that is rare."""


def _crashing(operation: str, spoil: Spoil) -> Apply:
    row = routes.OPERATIONS[operation]

    def broken(unit: Unit, ask: Ask) -> None:
        spoil(ask)

    return before(row.module, row.function, broken)


for (_requirement, _operation), _spoils in CRASHES.items():
    for _spoil in _spoils:
        declare(
            _requirement,
            _spoil.__name__.strip("_"),
            f"{_operation}: {(_spoil.__doc__ or '').strip('.').lower()}",
            _crashing(_operation, _spoil),
        )


@mutant("FUZ-001", "a body that is nested too deeply exhausts the stack")
def deep_body(patch: Patch) -> None:
    """Go down into whatever comes, and catch what a parser says of wrong JSON alone."""

    def depth(value: Any) -> int:
        inner = value.values() if isinstance(value, dict) else value
        return 1 + max(map(depth, inner), default=0) if isinstance(value, dict | list) else 0

    async def read_json(request: Request, _limit: int) -> Any:
        try:
            body = json.loads(await request.body())
        except ValueError as error:
            raise app.malformed("Expected JSON as body.") from error
        depth(body)
        return body

    patch.replace(app, "read_json", read_json)


@mutant("FUZ-001", "half a character reaches the database")
def half_character(patch: Patch) -> None:
    """Leave texts that no database can hold to the database."""
    patch.replace(app, "unstorable_paths", lambda _value, _path="": [])


@mutant("FUZ-003", "a body that is no object counts as a failure of the service")
def wrong_status(patch: Patch) -> None:
    patch.row(rules, "ERROR_STATUS", "INVALID_REQUEST_FORMAT", 500)


@mutant("FUZ-030", "a form that cannot be taken apart breaks the service", (app, "read_form"))
async def broken_form(original: Callable[..., Any], *arguments: Any) -> Any:
    try:
        return await original(*arguments)
    except errors.Refusal as refusal:
        raise RuntimeError(refusal.reason) from refusal


# --- Lax fields -----------------------------------------------------------------------------

LAX_QUOTE_FIELDS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("any-source-type", "source.sourceType", {"enum": ()}),
    ("any-destination-type", "destination.destinationType", {"enum": ()}),
    ("any-side", "lockedCurrencySide", {"enum": ()}),
    ("long-remittance", "remittanceInformation", {"max_length": None}),
    ("remittance-of-any-kind", "remittanceInformation", {"path": "remittance"}),
    ("execution-of-any-kind", "immediatelyExecute", {"path": "execute"}),
)
"""Name, path and what a row of the quote's fields no longer says."""

for _name, _path, _changes in LAX_QUOTE_FIELDS:
    declare(
        "FUZ-101",
        _name,
        f"{_path} is taken unseen",
        with_field(rules, "QUOTE_FIELDS", _path, **_changes),
    )


@mutant("FUZ-101", "an amount that is a list counts as its sum", (quotes, "create"))
def amount_of_list(create: routes.Handler, unit: Unit, ask: Ask) -> Any:
    body = ask.body
    if isinstance(body, dict) and isinstance(body.get("lockedCurrencyAmount"), list):
        parts = [part for part in body["lockedCurrencyAmount"] if isinstance(part, int)]
        ask = replace(ask, body={**body, "lockedCurrencyAmount": sum(parts) or 1})
    return create(unit, ask)


@mutant("FUZ-102", "a code that is no text counts as proof")
def code_of_any_kind(patch: Patch) -> None:
    patch.replace(rules, "AUTHORIZE_FIELDS", rules.AUTHORIZE_FIELDS[1:])

    patch.wrap(
        sca,
        "is_proof",
        lambda is_proof, body: not isinstance(body.get("code"), str) or is_proof(body),
    )


@mutant("FUZ-103", "an unknown customerType counts as INDIVIDUAL", (onboarding, "create"))
def unknown_customer_type(create: routes.Handler, unit: Unit, ask: Ask) -> Any:
    body = ask.body
    if isinstance(body, dict) and body.get("customerType") != "BUSINESS":
        ask = replace(ask, body={**body, "customerType": "INDIVIDUAL"})
    return create(unit, ask)


LAX_ACCOUNT_FIELDS: tuple[tuple[str, str, dict[str, Any]], ...] = (
    ("account-number-of-any-form", "accountInfo.accountNumber", {"pattern": None}),
    ("routing-number-of-any-form", "accountInfo.routingNumber", {"pattern": None}),
    ("no-account-number", "accountInfo.accountNumber", {"required": False}),
    ("no-routing-number", "accountInfo.routingNumber", {"required": False}),
    ("account-number-of-any-kind", "accountInfo.accountNumber", {"path": "accountInfo.account"}),
    ("routing-number-of-any-kind", "accountInfo.routingNumber", {"path": "accountInfo.routing"}),
)
"""Name, path and what a row of the US account's fields no longer says."""


def _lax_account(path: str, changes: Mapping[str, Any]) -> Apply:
    kind = ACCOUNT_TYPES["USD_ACCOUNT"]
    rows = tuple(
        replace(row, **{"required": False, **changes} if "path" in changes else changes)
        if row.path == path
        else row
        for row in kind.fields
    )
    lax = replace(kind, fields=rows)
    return with_row(account_types, "ACCOUNT_TYPES", "USD_ACCOUNT", lax)


for _name, _path, _changes in LAX_ACCOUNT_FIELDS:
    declare("FUZ-104", _name, f"{_path} is taken unseen", _lax_account(_path, _changes))


# --- Lax onboarding -------------------------------------------------------------------------


def _changed(place: Place, change: Callable[[Unit, Any], Any]) -> Apply:
    """Return a patch after which a handler works on what ``change`` makes of the body."""

    def lax(original: routes.Handler, unit: Unit, ask: Ask) -> Any:
        return original(unit, replace(ask, body=change(unit, ask.body)))

    return around(*place, lax)


def _defaults(body: Any, usual: Mapping[str, Any], kinds: Mapping[str, type]) -> Any:
    """Return a body in which the usual stands in the place of what is of another kind."""
    if not isinstance(body, dict):
        return body
    return {**body, **{n: v for n, v in usual.items() if not isinstance(body.get(n), kinds[n])}}


def _some_customer(unit: Unit, kind: str) -> str:
    """Return the newest customer of a kind, which a forgetful client may have meant."""
    query = select(Customer.id).where(Customer.customer_type == kind)
    return str(unit.session.scalar(query.order_by(Customer.created_at.desc()).limit(1)))


def _rule_home(unit: Unit) -> Mapping[str, Any]:
    """Return a rule that sweeps to the newest account."""
    query = select(InternalAccount.id).where(InternalAccount.type != "RULE_BASED")
    newest = unit.session.scalar(query.order_by(InternalAccount.created_at.desc()).limit(1))
    return {"destination": {"accountId": str(newest)}}


declare(
    "FUZ-105",
    "roles-of-any-kind",
    "roles of another kind count as none",
    _changed(
        (owners, "create"), lambda _unit, body: _defaults(body, {"roles": []}, {"roles": list})
    ),
)
declare(
    "FUZ-105",
    "share-of-any-kind",
    "a share that is no number counts as 0",
    _changed(
        (owners, "create"),
        lambda _unit, body: _defaults(
            body, {"ownershipPercentage": 0}, {"ownershipPercentage": int}
        ),
    ),
)
declare(
    "FUZ-105",
    "business-guessed",
    "an owner without a business belongs to the newest one",
    _changed(
        (owners, "create"),
        lambda unit, body: _defaults(
            body, {"customerId": _some_customer(unit, "BUSINESS")}, {"customerId": str}
        ),
    ),
)
declare(
    "FUZ-107",
    "customer-guessed",
    "a submission without a customer is about the newest one",
    _changed(
        (verifications, "create"),
        lambda unit, body: _defaults(
            body, {"customerId": _some_customer(unit, "INDIVIDUAL")}, {"customerId": str}
        ),
    ),
)
declare(
    "FUZ-108",
    "redirect-of-any-kind",
    "a redirectUri that is no text is left out",
    _changed(
        (kyc_links, "create"),
        lambda _unit, body: _defaults(body, {"redirectUri": "about:blank"}, {"redirectUri": str}),
    ),
)
declare(
    "FUZ-111",
    "type-assumed",
    "what is not of the type RULE_BASED is taken to be",
    _changed(
        (rule_based, "create"),
        lambda _unit, body: {**body, "type": "RULE_BASED"} if isinstance(body, dict) else body,
    ),
)
declare(
    "FUZ-111",
    "rule-guessed",
    "an account without a rule, or with one of another kind, sweeps to its holder's own",
    _changed(
        (rule_based, "create"),
        lambda unit, body: _defaults(body, {"sweepRule": _rule_home(unit)}, {"sweepRule": dict}),
    ),
)

for _requirement, _place in (
    ("FUZ-109", (contact, "confirm_email")),
    ("FUZ-110", (contact, "confirm_phone")),
):
    declare(
        _requirement,
        "code-of-any-kind",
        "a code that is no text is not compared",
        _changed(
            _place,
            lambda _unit, body: _defaults(body, {"code": rules.SANDBOX_CODE}, {"code": str}),
        ),
    )


@mutant("FUZ-106", "an upload needs no type")
def untyped_document(patch: Patch) -> None:
    usual = {"documentType": "UTILITY_BILL"}
    kinds = {"documentType": str}
    _changed((documents, "create"), lambda _unit, body: _defaults(body, usual, kinds))(patch)


@mutant("FUZ-106", "an upload needs no file")
def document_without_file(patch: Patch) -> None:
    patch.replace(documents, "file_errors", lambda _files: [])


@mutant("FUZ-106", "an identity document needs no number and no authority")
def unnumbered_document(patch: Patch) -> None:
    patch.replace(documents, "type_errors", lambda _form: [])


# --- Fields of requests ---------------------------------------------------------------------


def _guessed(kinds: Mapping[str, type], usual: Json, place: Place) -> Apply:
    """Return a patch after which members of another kind count as the usual ones."""
    return receives(
        *place,
        lambda body: {
            **body,
            **{n: v for n, v in usual.items() if not isinstance(body.get(n), kinds[n])},
        },
    )


declare(
    "FUZ-112",
    "factor-of-any-kind",
    "a factor that is no text counts as TOTP",
    _guessed({"factor": str}, {"factor": "TOTP"}, (factor_resets, "start")),
)
declare(
    "FUZ-113",
    "address-of-any-kind",
    "an address that is no text is not looked at",
    _guessed(
        {"endUserIpAddress": str}, {"endUserIpAddress": "unknown"}, (factor_resets, "complete")
    ),
)


@mutant("FUZ-112", "a start whose body is no object resets TOTP")
def start_of_any_kind(patch: Patch) -> None:
    _objects(patch, (factor_resets, "start"), {"factor": "TOTP", "endUserIpAddress": "unknown"})


@mutant("FUZ-113", "the body of a completion may be of any kind")
def completion_of_any_kind(patch: Patch) -> None:
    _objects(patch, (factor_resets, "complete"), {"endUserIpAddress": "unknown"})


def _objects(patch: Patch, place: Place, usual: Json) -> None:
    def lax(original: Function, unit: Unit, ask: Ask) -> Any:
        return original(unit, ask if isinstance(ask.body, dict) else replace(ask, body=usual))

    patch.wrap(*place, lax)
