"""Conforming variants of external accounts: states, trust, proofs of ownership, webhooks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

from sqlalchemy import select

from conformance.proof.kit.builders import Json, before, concerning, edited, instead, together
from conformance.proof.kit.edits import ALL, without
from conformance.proof.kit.optional import declare_optional
from conformance.proof.kit.tables import answers
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.proof.variants.protocol.toolkit import is_young
from conformance.reference import errors, routes, rules
from conformance.reference.external_accounts import externals, ownership, trust
from conformance.reference.quotes import limits, parties, quotes
from conformance.reference.store import ExternalAccount, Quote
from conformance.reference.transactions import settlement
from conformance.reference.unit import Ask, Unit

_A_MOMENT = 0.1


# --- What is registered ---------------------------------------------------------------------


@variant("N452", "a customer has no two equal accounts", "apart", (externals, "create"))
def accounts_once(create: Function, unit: Unit, ask: Ask) -> Any:
    shown: Json = create(unit, ask)
    unit.session.flush()
    account = unit.session.get_one(ExternalAccount, shown["id"])
    others = select(ExternalAccount).where(
        ExternalAccount.customer_id == account.customer_id,
        ExternalAccount.account_type == account.account_type,
        ExternalAccount.currency == account.currency,
        ExternalAccount.id != account.id,
        ExternalAccount.deleted.is_(False),
    )
    if account.customer_id and any(
        one.info == account.info for one in unit.session.scalars(others)
    ):
        raise errors.Refusal("CONFLICT", "The customer has this account already.")
    return shown


# --- Who may receive ------------------------------------------------------------------------


@variant(
    "M22",
    "an account whose ownership is not proved receives nothing",
    "other codes",
    (limits, "refuse_unproven"),
    instead,
)
def unproven_refused(_unit: Unit, _amount: int, _currency: str) -> None:
    raise errors.Refusal("EXTERNAL_ACCOUNT_VERIFICATION_REQUIRED", "Prove who owns it.")


@variant("M22", "an account whose ownership is not proved receives any amount", "forms")
def unproven_unlimited(patch: Patch) -> None:
    patch.replace(limits, "refuse_unproven", lambda *_arguments: None)


def _at_execution(patch: Patch, refuse: Callable[[ExternalAccount], None]) -> None:
    """Look at the destination when a quote is executed, and not before."""

    def look(unit: Unit, quote: Quote) -> None:
        if quote.destination_kind == "EXTERNAL":
            refuse(externals.get(unit, quote.destination["accountId"]))

    patch.replace(parties, "refuse_unable", lambda _account: None)
    patch.replace(quotes, "refuse_unreachable", look)


@variant("M23", "an account that cannot receive is refused when its quote is executed", "apart")
def refused_at_execution(patch: Patch) -> None:
    def refuse(account: ExternalAccount) -> None:
        if not externals.can_receive(account):
            raise errors.Refusal("CONFLICT", "The account cannot receive now.")

    _at_execution(patch, refuse)


@variant("M23", "payouts to an account that cannot receive fail", "other apart")
def payouts_fail(patch: Patch) -> None:
    def failing(result_of: Function, unit: Unit, quote: Quote) -> rules.PayoutResult:
        found: rules.PayoutResult = result_of(unit, quote)
        if quote.destination_kind != "EXTERNAL":
            return found
        account = unit.session.get_one(ExternalAccount, quote.destination["accountId"])
        return found if externals.can_receive(account) else rules.PAYOUT_RESULTS["BLOCKED"]

    _at_execution(patch, lambda _account: None)
    patch.wrap(settlement, "result_of", failing)


@variant("N018", "new accounts wait for their verification", "other onboarding")
def pending_until_approved(patch: Patch) -> None:
    patch.replace(externals, "initial_status", lambda owner: "PENDING")


@variant("N018", "new accounts are under review", "onboarding")
def reviewed_until_approved(patch: Patch) -> None:
    patch.replace(externals, "initial_status", lambda owner: "UNDER_REVIEW")


@variant("M88", "an account comes to its status a moment later", "slow", (externals, "reach"))
def moved_later(reach: Function, unit: Unit, account: ExternalAccount, status: str) -> None:
    if account.status == "PENDING_OWNERSHIP_VERIFICATION":
        # A signature is verified synchronously (366).
        reach(unit, account, status)
        return
    name = account.id
    unit.later(_A_MOMENT, lambda at: reach(at, externals.get(at, name), status))


# --- Accounts and lists ---------------------------------------------------------------------


@variant("M53", "an external account needs a customer", "codes", (externals, "create"), before)
def owner_needed(unit: Unit, ask: Ask) -> None:
    if isinstance(ask.body, dict) and ask.body.get("customerId") is None:
        raise errors.invalid_input(errors.field_error("customerId", "Required."))


@variant("M54", "the path of customers' accounts has none of the platform's", "forms")
def platform_not_read(patch: Patch) -> None:
    def owned(get: Function, unit: Unit, ask: Ask) -> Any:
        if externals.get(unit, ask.params["externalAccountId"]).customer_id is None:
            raise errors.Refusal("ACCOUNT_NOT_FOUND", "No customer has this account.")
        return get(unit, ask)

    for name in ("read", "remove"):
        patch.wrap(externals, name, owned)


@variant("M78", "an external account is found by its bare id as well", "codes", (externals, "find"))
def bare_id_found(find: Function, unit: Unit, name: str) -> Any:
    return find(unit, name) or find(unit, f"ExternalAccount:{name}")


@variant(
    "N072",
    "a customer who does not exist has an empty list of external accounts",
    "codes",
    (externals, "list_for_customers"),
)
def nobody_has_nothing(listing: Function, unit: Unit, ask: Ask) -> Any:
    try:
        return listing(unit, ask)
    except errors.Refusal as refusal:
        if refusal.code != "CUSTOMER_NOT_FOUND":
            raise
        return {"data": [], "hasMore": False}


@variant(
    "N026",
    "lists of external accounts are not cut into pages",
    "other codes",
    (externals, "list_for_customers"),
)
def no_pages(listing: Function, unit: Unit, ask: Ask) -> Any:
    query = {key: value for key, value in ask.query.items() if key != "limit"}
    return listing(unit, replace(ask, query={**query, "limit": "100"}))


@variant(
    "N026",
    "the size of a page cannot be chosen",
    "other forms",
    (externals, "list_for_customers"),
    before,
)
def page_size_refused(unit: Unit, ask: Ask) -> None:
    if "limit" in ask.query:
        raise errors.invalid_input(errors.field_error("limit", "There is no such thing."))


@variant("M88", "new external accounts are listed a moment later", "slow")
def listed_later(patch: Patch) -> None:
    def later(listing: Function, unit: Unit, ask: Ask) -> Any:
        body: Json = listing(unit, ask)
        query = select(ExternalAccount).where(
            ExternalAccount.id.in_([row["id"] for row in body["data"]])
        )
        young = {one.id for one in unit.session.scalars(query) if is_young(one)}
        return {**body, "data": [row for row in body["data"] if row["id"] not in young]}

    patch.wrap(externals, "list_for_customers", later)
    patch.wrap(externals, "list_for_platform", later)


@variant("N069", "an account that was deleted can be deleted again", "codes", (externals, "remove"))
def deleted_again(remove: Function, unit: Unit, ask: Ask) -> Any:
    row = unit.session.get(ExternalAccount, ask.params["externalAccountId"])
    return None if row is not None and row.deleted else remove(unit, ask)


# --- Trust ----------------------------------------------------------------------------------


def _unserved(operation: str) -> Apply:
    """Let nothing be served at the path of an operation."""

    def apply(patch: Patch) -> None:
        # One of the two operations has to be there.
        patch.concern(trust, "confirm")

        def gone(_unit: Unit, _ask: Ask) -> Any:
            raise errors.Refusal("NOT_FOUND", "Nothing is served at this path.")

        row = routes.OPERATIONS[operation]
        nothing: Any = SimpleNamespace(gone=gone)
        patch.row(
            routes,
            "OPERATIONS",
            operation,
            replace(row, module=nothing, function="gone", body=False),
        )

    return apply


for _operation, _group in (("confirmUntrust", "codes"), ("confirmBeneficiary", "other codes")):
    declare(
        "M52",
        f"without-{_operation}",
        f"{_operation} is not served",
        _unserved(_operation),
        _group,
    )


def _at_once(patch: Patch) -> None:
    """Take trust away when it is asked for."""

    def untrust(unit: Unit, ask: Ask) -> Json:
        account = externals.get(unit, ask.params["externalAccountId"])
        account.trust = "NONE"
        return {}

    patch.replace(trust, "untrust", untrust)


@variant("N078", "trust is taken away when it is asked for, and needs no confirmation", "forms")
def untrusted_at_once(patch: Patch) -> None:
    _at_once(patch)


@variant("N078", "trust is taken away when it is asked for, and every confirmation is fine", "null")
def confirmed_for_nothing(patch: Patch) -> None:
    def confirm(unit: Unit, ask: Ask) -> Json:
        externals.get(unit, ask.params["externalAccountId"])
        return {}

    _at_once(patch)
    patch.replace(trust, "confirm", confirm)


declare(
    "N078",
    "challenge-not-shown",
    "an untrusting does not show its challenge",
    edited(trust, "untrust", lambda _body: {}),
    "absent",
)


@variant("N078", "what takes trust away answers with the account", "other forms")
def account_answered(patch: Patch) -> None:
    def answers(handler: Function, unit: Unit, ask: Ask) -> Json:
        body: Json = handler(unit, ask)
        return {**externals.view(externals.get(unit, ask.params["externalAccountId"])), **body}

    for name in ("untrust", "confirm"):
        patch.wrap(trust, name, answers)


@variant("N078", "everybody proves who takes trust away", "other codes")
def always_challenged(patch: Patch) -> None:
    patch.replace(trust, "needs_proof", lambda _unit, _account: True)


@variant("M86", "customers who need no strong authentication trust nobody", "codes")
def trust_needs_sca(patch: Patch) -> None:
    def authenticated(handler: Function, unit: Unit, ask: Ask) -> Any:
        account = externals.get(unit, ask.params["externalAccountId"])
        if not trust.needs_proof(unit, account):
            raise errors.Refusal("CONFLICT", "The customer needs no strong authentication.")
        return handler(unit, ask)

    for name in ("untrust", "confirm"):
        patch.wrap(trust, name, authenticated)


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
            answers(_operation, _status),
            _group,
        )


# --- Ownership ------------------------------------------------------------------------------


@variant(
    "N078", "a wrong signature is refused, and remembered", "codes", (ownership, "verify"), edited
)
def wrong_signature_refused(body: Json) -> Any:
    if body["status"] == "UNVERIFIED":
        raise errors.Rejection("INVALID_INPUT", "The signature is not the owner's.")
    return body


@variant(
    "N450",
    "who proves an address has proved it for each account there",
    "absent",
    (ownership, "conclude"),
)
def proved_as_a_place(
    conclude: Function, unit: Unit, account: ExternalAccount, method: str, *, proven: bool
) -> None:
    conclude(unit, account, method, proven=proven)
    own = select(ExternalAccount).where(ExternalAccount.customer_id == account.customer_id)
    for other in unit.session.scalars(own).all():
        if other.info == account.info and externals.is_unproven(other):
            externals.reach(unit, other, account.status)


@variant("N078", "a proof answers with nothing about itself", "other forms")
def proof_not_shown(patch: Patch) -> None:
    for name in ("challenge", "verify"):
        edited(ownership, name, lambda _body: {})(patch)


# --- Webhooks -------------------------------------------------------------------------------


def _with_data(change: Callable[[Json], Json]) -> Apply:
    """Return a patch after which webhooks about external accounts carry other data."""

    def announce(unit: Unit, account: ExternalAccount) -> None:
        unit.emit(externals.STATUS_EVENT, change(externals.view(account)))

    return instead(externals, "announce", announce)


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


@variant(
    "N018",
    "the creation of an external account is a change of its status",
    "codes",
    (externals, "create"),
)
def creation_told(create: Function, unit: Unit, ask: Ask) -> Any:
    body: Json = create(unit, ask)
    unit.session.flush()
    externals.announce(unit, externals.get(unit, body["id"]))
    return body


# --- Members that need not be there ---------------------------------------------------------


declare_optional("external-account", (externals, "read"), "customerId")

declare(
    "M75",
    "external-accounts-without-customerId",
    "no list of external accounts shows customerId",
    edited(externals, "list_for_customers", without(f"data.{ALL}.customerId")),
    "absent",
)


# --- Where something is refused -------------------------------------------------------------


@variant("M22", "external accounts wait for ownership verification and receive already", "codes")
def ownership_not_verified(patch: Patch) -> None:
    waiting = "PENDING_OWNERSHIP_VERIFICATION"
    patch.replace(externals, "initial_status", lambda owner: waiting)
    patch.replace(limits, "refuse_unproven", lambda unit, amount, currency: None)


# --- States ---------------------------------------------------------------------------------


def _told_once_grown(announce: Function, unit: Unit, account: ExternalAccount) -> None:
    """Tell of a new account's status once it is shown."""
    if is_young(account):
        name = account.id
        unit.later(_A_MOMENT, lambda at: announce(at, externals.get(at, name)))
    else:
        announce(unit, account)


@variant("N018", "external accounts are pending at first, and cannot receive then", "absent")
def external_accounts_pending(patch: Patch) -> None:
    def pending(view: Function, account: ExternalAccount) -> Json:
        body: Json = view(account)
        return {**body, "status": "PENDING"} if is_young(account) else body

    patch.wrap(externals, "view", pending)
    patch.wrap(externals, "announce", _told_once_grown)
    patch.wrap(
        externals,
        "can_receive",
        lambda original, account: original(account) and not is_young(account),
    )


@variant("M23", "external accounts are reviewed at first; execution is refused then", "null")
def external_accounts_under_review(patch: Patch) -> None:
    def reviewed(view: Function, account: ExternalAccount) -> Json:
        body: Json = view(account)
        return {**body, "status": "UNDER_REVIEW"} if is_young(account) else body

    def receivable(start: Function, unit: Unit, quote: Quote, *arguments: Any) -> None:
        account = externals.find(unit, quote.destination.get("accountId", ""))
        if account is not None and is_young(account):
            raise errors.Refusal("INVALID_BANK_ACCOUNT", "the account is under review")
        start(unit, quote, *arguments)

    patch.wrap(externals, "view", reviewed)
    patch.wrap(externals, "announce", _told_once_grown)
    patch.wrap(quotes, "start", receivable)


declare(
    "N078",
    "one-signature",
    "one signature proves the ownership of every account",
    instead(ownership, "signature_of", lambda _message: ownership.SANDBOX_SIGNATURE),
    "codes",
)
declare(
    "N078",
    "signature-of-the-challenge",
    "nothing but a signature of its challenge proves the ownership of an account",
    # Which contradicts the other one.
    together(instead(ownership, "SANDBOX_SIGNATURE", ""), concerning(ownership, "signature_of")),
    "other codes",
)
