"""Honest variants of external accounts: who may receive when, trust, proofs, and their webhooks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from types import SimpleNamespace
from typing import Any

from sqlalchemy import select

from conformance.mutants.fields import answering
from conformance.mutants.honest import Function, is_young, shown
from conformance.mutants.mutant import Patch
from conformance.mutants.variant import declare, variant
from conformance.reference import errors, externals, routes, rules, trust
from conformance.reference.store import ExternalAccount, Quote
from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]

_REFERENCE = "conformance.reference"
_EXTERNALS = f"{_REFERENCE}.externals"
_OWNERSHIP = f"{_REFERENCE}.ownership"
_TRUST = f"{_REFERENCE}.trust"
_ROUTES = f"{_REFERENCE}.routes:OPERATIONS"
_ANNOUNCE = f"{_EXTERNALS}:announce"
_A_MOMENT = 0.1


def wrapped(place: str, wrapper: Callable[[Function], Function]) -> Callable[[Patch], None]:
    """Return a patch that wraps a function."""
    return lambda patch: patch.wrap(place, wrapper)


# --- Who may receive ------------------------------------------------------------------------


@variant("M22", "an account whose ownership is not proved receives nothing", "other codes")
def unproven_refused(patch: Patch) -> None:
    def refuse(_unit: Unit, _amount: int, _currency: str) -> None:
        raise errors.Refusal("EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED", "Prove who owns it.")

    patch.replace(f"{_REFERENCE}.limits:refuse_unproven", refuse)


@variant("M22", "an account whose ownership is not proved receives any amount", "forms")
def unproven_unlimited(patch: Patch) -> None:
    patch.replace(f"{_REFERENCE}.limits:refuse_unproven", lambda *_arguments: None)


def _at_execution(patch: Patch, refuse: Callable[[ExternalAccount], None]) -> None:
    """Look at the destination when a quote is executed, and not before."""

    def look(unit: Unit, quote: Quote) -> None:
        if quote.destination_kind == "EXTERNAL":
            refuse(externals.get(unit, quote.destination["accountId"]))

    patch.replace(f"{_REFERENCE}.parties:refuse_unable", lambda _account: None)
    patch.replace(f"{_REFERENCE}.quotes:refuse_unreachable", look)


@variant("M23", "an account that cannot receive is refused when its quote is executed", "apart")
def refused_at_execution(patch: Patch) -> None:
    def refuse(account: ExternalAccount) -> None:
        if not externals.can_receive(account):
            raise errors.Refusal("CONFLICT", "The account cannot receive now.")

    _at_execution(patch, refuse)


@variant("M23", "payouts to an account that cannot receive fail", "other apart")
def payouts_fail(patch: Patch) -> None:
    def wrapper(result_of: Function) -> Function:
        def failing(unit: Unit, quote: Quote) -> rules.PayoutResult:
            found: rules.PayoutResult = result_of(unit, quote)
            if quote.destination_kind != "EXTERNAL":
                return found
            account = unit.session.get_one(ExternalAccount, quote.destination["accountId"])
            return found if externals.can_receive(account) else rules.PAYOUT_RESULTS["BLOCKED"]

        return failing

    _at_execution(patch, lambda _account: None)
    patch.wrap(f"{_REFERENCE}.settlement:result_of", wrapper)


@variant("N018", "new accounts wait for their verification", "other onboarding")
def pending_until_approved(patch: Patch) -> None:
    patch.replace(f"{_EXTERNALS}:initial_status", lambda owner: "PENDING")


@variant("N018", "new accounts are under review", "onboarding")
def reviewed_until_approved(patch: Patch) -> None:
    patch.replace(f"{_EXTERNALS}:initial_status", lambda owner: "UNDER_REVIEW")


@variant("timing", "an account comes to its status a moment later", "slow")
def moved_later(patch: Patch) -> None:
    def wrapper(reach: Function) -> Function:
        def later(unit: Unit, account: ExternalAccount, status: str) -> None:
            name = account.id
            unit.later(_A_MOMENT, lambda at: reach(at, externals.get(at, name), status))

        return later

    patch.wrap(f"{_EXTERNALS}:reach", wrapper)


# --- Accounts and lists ---------------------------------------------------------------------


@variant("M53", "an external account needs a customer", "codes")
def owner_needed(patch: Patch) -> None:
    def wrapper(create: Function) -> Function:
        def owned(unit: Unit, ask: Ask) -> Any:
            if isinstance(ask.body, dict) and ask.body.get("customerId") is None:
                raise errors.invalid_input(errors.field_error("customerId", "Required."))
            return create(unit, ask)

        return owned

    patch.wrap(f"{_EXTERNALS}:create", wrapper)


@variant("M54", "the path of customers' accounts has none of the platform's", "forms")
def platform_not_read(patch: Patch) -> None:
    def wrapper(get: Function) -> Function:
        def owned(unit: Unit, ask: Ask) -> Any:
            if externals.get(unit, ask.params["externalAccountId"]).customer_id is None:
                raise errors.Refusal("ACCOUNT_NOT_FOUND", "No customer has this account.")
            return get(unit, ask)

        return owned

    for name in ("read", "remove"):
        patch.wrap(f"{_EXTERNALS}:{name}", wrapper)


@variant("M78", "an external account is found by its bare id as well", "codes")
def bare_id_found(patch: Patch) -> None:
    def wrapper(find: Function) -> Function:
        def either(unit: Unit, name: str) -> Any:
            return find(unit, name) or find(unit, f"ExternalAccount:{name}")

        return either

    patch.wrap(f"{_EXTERNALS}:find", wrapper)


@variant("N072", "a customer who does not exist has an empty list of external accounts", "codes")
def nobody_has_nothing(patch: Patch) -> None:
    def wrapper(listing: Function) -> Function:
        def lenient(unit: Unit, ask: Ask) -> Any:
            try:
                return listing(unit, ask)
            except errors.Refusal as refusal:
                if refusal.code != "CUSTOMER_NOT_FOUND":
                    raise
                return {"data": [], "hasMore": False}

        return lenient

    patch.wrap(f"{_EXTERNALS}:list_for_customers", wrapper)


@variant("N026", "lists of external accounts are not cut into pages", "other codes")
def no_pages(patch: Patch) -> None:
    def wrapper(listing: Function) -> Function:
        def whole(unit: Unit, ask: Ask) -> Any:
            query = {key: value for key, value in ask.query.items() if key != "limit"}
            return listing(unit, replace(ask, query={**query, "limit": "100"}))

        return whole

    patch.wrap(f"{_EXTERNALS}:list_for_customers", wrapper)


@variant("N026", "the size of a page cannot be chosen", "other forms")
def page_size_refused(patch: Patch) -> None:
    def wrapper(listing: Function) -> Function:
        def fixed(unit: Unit, ask: Ask) -> Any:
            if "limit" in ask.query:
                raise errors.invalid_input(errors.field_error("limit", "There is no such thing."))
            return listing(unit, ask)

        return fixed

    patch.wrap(f"{_EXTERNALS}:list_for_customers", wrapper)


@variant("timing", "new external accounts are listed a moment later", "slow")
def listed_later(patch: Patch) -> None:
    def wrapper(listing: Function) -> Function:
        def later(unit: Unit, ask: Ask) -> Any:
            body: Json = listing(unit, ask)
            query = select(ExternalAccount).where(
                ExternalAccount.id.in_([row["id"] for row in body["data"]])
            )
            young = {one.id for one in unit.session.scalars(query) if is_young(one)}
            return {**body, "data": [row for row in body["data"] if row["id"] not in young]}

        return later

    patch.wrap(f"{_EXTERNALS}:list_for_customers", wrapper)
    patch.wrap(f"{_EXTERNALS}:list_for_platform", wrapper)


@variant("N069", "an account that was deleted can be deleted again", "codes")
def deleted_again(patch: Patch) -> None:
    def wrapper(remove: Function) -> Function:
        def idempotent(unit: Unit, ask: Ask) -> Any:
            row = unit.session.get(ExternalAccount, ask.params["externalAccountId"])
            return None if row is not None and row.deleted else remove(unit, ask)

        return idempotent

    patch.wrap(f"{_EXTERNALS}:remove", wrapper)


# --- Trust ----------------------------------------------------------------------------------


def _unserved(operation: str, patch: Patch) -> None:
    """Let nothing be served at the path of an operation."""

    def gone(_unit: Unit, _ask: Ask) -> Any:
        raise errors.Refusal("NOT_FOUND", "Nothing is served at this path.")

    row = routes.OPERATIONS[operation]
    nothing: Any = SimpleNamespace(gone=gone)
    patch.row(_ROUTES, operation, replace(row, module=nothing, function="gone", body=False))


for _operation, _group in (("confirmUntrust", "codes"), ("confirmBeneficiary", "other codes")):
    declare(
        "M52",
        f"without-{_operation}",
        f"{_operation} is not served",
        partial(_unserved, _operation),
        _group,
    )


def _at_once(patch: Patch) -> None:
    """Take trust away when it is asked for."""

    def untrust(unit: Unit, ask: Ask) -> Json:
        account = externals.get(unit, ask.params["externalAccountId"])
        account.trust = "NONE"
        return {}

    patch.replace(f"{_TRUST}:untrust", untrust)


@variant("N078", "trust is taken away when it is asked for, and needs no confirmation", "forms")
def untrusted_at_once(patch: Patch) -> None:
    _at_once(patch)


@variant("N078", "trust is taken away when it is asked for, and every confirmation is fine", "null")
def confirmed_for_nothing(patch: Patch) -> None:
    def confirm(unit: Unit, ask: Ask) -> Json:
        externals.get(unit, ask.params["externalAccountId"])
        return {}

    _at_once(patch)
    patch.replace(f"{_TRUST}:confirm", confirm)


@variant("N078", "an untrusting does not show its challenge", "absent")
def challenge_not_shown(patch: Patch) -> None:
    shown(f"{_TRUST}:untrust", lambda _body: {})(patch)


@variant("N078", "what takes trust away answers with the account", "other forms")
def account_answered(patch: Patch) -> None:
    def wrapper(handler: Function) -> Function:
        def answering(unit: Unit, ask: Ask) -> Json:
            body: Json = handler(unit, ask)
            return {**externals.view(externals.get(unit, ask.params["externalAccountId"])), **body}

        return answering

    for name in ("untrust", "confirm"):
        patch.wrap(f"{_TRUST}:{name}", wrapper)


@variant("N078", "everybody proves who takes trust away", "other codes")
def always_challenged(patch: Patch) -> None:
    patch.replace(f"{_TRUST}:needs_proof", lambda _unit, _account: True)


@variant("M86", "customers who need no strong authentication trust nobody", "codes")
def trust_needs_sca(patch: Patch) -> None:
    def wrapper(handler: Function) -> Function:
        def authenticated(unit: Unit, ask: Ask) -> Any:
            account = externals.get(unit, ask.params["externalAccountId"])
            if not trust.needs_proof(unit, account):
                raise errors.Refusal("CONFLICT", "The customer needs no strong authentication.")
            return handler(unit, ask)

        return authenticated

    for name in ("untrust", "confirm"):
        patch.wrap(f"{_TRUST}:{name}", wrapper)


_STATUSES = (
    ("untrustBeneficiary", (202, 204)),
    ("confirmUntrust", (202, 204)),
    ("challengeOwnership", (200, 204)),
    ("verifyOwnership", (202, 204)),
)


for _operation, _statuses in _STATUSES:
    for _status, _group in zip(_statuses, ("absent", "slow"), strict=True):
        declare(
            "N078",
            f"{_operation}-{_status}",
            f"{_operation} is answered with {_status}",
            answering(_operation, _status),
            _group,
        )


# --- Ownership ------------------------------------------------------------------------------


@variant("N078", "a wrong signature is refused, and remembered", "codes")
def wrong_signature_refused(patch: Patch) -> None:
    def wrapper(verify: Function) -> Function:
        def refusing(unit: Unit, ask: Ask) -> Any:
            body: Json = verify(unit, ask)
            if body["status"] == "UNVERIFIED":
                raise errors.Rejection("INVALID_INPUT", "The signature is not the owner's.")
            return body

        return refusing

    patch.wrap(f"{_OWNERSHIP}:verify", wrapper)


@variant("N078", "a proof answers with nothing about itself", "other forms")
def proof_not_shown(patch: Patch) -> None:
    for name in ("challenge", "verify"):
        shown(f"{_OWNERSHIP}:{name}", lambda _body: {})(patch)


# --- Webhooks -------------------------------------------------------------------------------


def _with_data(change: Callable[[Json], Json]) -> Callable[[Patch], None]:
    """Return a patch after which webhooks about external accounts carry other data."""

    def apply(patch: Patch) -> None:
        def announce(unit: Unit, account: ExternalAccount) -> None:
            unit.emit(externals.STATUS_EVENT, change(externals.view(account)))

        patch.replace(_ANNOUNCE, announce)

    return apply


declare(
    "N040",
    "id-alone",
    "webhooks about external accounts carry the id alone",
    _with_data(lambda body: {"id": body["id"]}),
    "absent",
)
declare(
    "N040",
    "null-data",
    "webhooks about external accounts carry null for all but the id",
    _with_data(lambda body: {name: v if name == "id" else None for name, v in body.items()}),
    "null",
)
declare(
    "N040",
    "other-data",
    "webhooks about external accounts carry data of their own",
    _with_data(lambda body: {"id": body["id"], "status": {"from": "A", "to": body["status"]}}),
    "other forms",
)


@variant("N018", "the creation of an external account is a change of its status", "codes")
def creation_told(patch: Patch) -> None:
    def wrapper(create: Function) -> Function:
        def telling(unit: Unit, ask: Ask) -> Any:
            body: Json = create(unit, ask)
            unit.session.flush()
            externals.announce(unit, externals.get(unit, body["id"]))
            return body

        return telling

    patch.wrap(f"{_EXTERNALS}:create", wrapper)
