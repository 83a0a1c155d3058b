"""Honest variants of the deprecated transfers, and of the refused claims of invitations."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

from conformance.mutants.mutant import Patch
from conformance.mutants.variant import declare, variant
from conformance.reference import errors, fees, quotes, routes, rules, transactions
from conformance.reference.store import Json
from conformance.reference.unit import Ask, Reply, Unit

Function = Callable[..., Any]

_REFERENCE = "conformance.reference"
_TRANSFERS = f"{_REFERENCE}.transfers"
_BOTH = (f"{_TRANSFERS}:transfer_in", f"{_TRANSFERS}:transfer_out")
_ROUTES = f"{_REFERENCE}.routes:OPERATIONS"


def _answered(change: Callable[[Unit, Json], Any], patch: Patch) -> None:
    """Let both transfers be answered otherwise; ``change`` is given the transaction."""

    def wrapper(transfer: Function) -> Function:
        return lambda unit, ask: change(unit, transfer(unit, ask))

    for place in _BOTH:
        patch.wrap(place, wrapper)


# --- What transfers are answered with -------------------------------------------------------

declare(
    "N085",
    "untold",
    "the answer to a deprecated transfer tells nothing",
    partial(_answered, lambda _unit, _row: {}),
    "null",
)
declare(
    "N085",
    "wrapped",
    "the answer to a deprecated transfer holds the transaction under a name",
    partial(_answered, lambda _unit, row: {"transaction": row}),
    "forms",
)
declare(
    "N085",
    "named",
    "the answer to a deprecated transfer names the transaction, and has an id of its own",
    partial(_answered, lambda _unit, row: {"id": "transfer-17", "transactionId": row["id"]}),
    "other forms",
)
declare(
    "N085",
    "accepted",
    "a deprecated transfer is only accepted, and has no body",
    partial(_answered, lambda _unit, _row: Reply(202, None)),
    "absent",
)


# --- What they cost, and how they are refused -----------------------------------------------


@variant("N270", "deprecated transfers have no fees", "apart")
def free_transfers(patch: Patch) -> None:
    def wrapper(terms_for: Function) -> Function:
        def terms(unit: Unit, order: quotes.Order) -> fees.Terms:
            found: fees.Terms = terms_for(unit, order)
            return replace(found, variable=type(found.variable)(0)) if unmade else found

        return terms

    unmade: list[bool] = []

    def transferring(transfer: Function) -> Function:
        def free(unit: Unit, ask: Ask) -> Any:
            unmade.append(True)
            try:
                return transfer(unit, ask)
            finally:
                unmade.pop()

        return free

    patch.wrap(f"{_REFERENCE}.quotes:terms_for", wrapper)
    for place in _BOTH:
        patch.wrap(place, transferring)


@variant("N085", "a transfer that the balance does not cover fails later", "other apart")
def unfunded_later(patch: Patch) -> None:
    def wrapper(transfer: Function) -> Function:
        def taken(unit: Unit, ask: Ask) -> Any:
            try:
                return transfer(unit, ask)
            except errors.Refusal as refusal:
                if refusal.code != "INSUFFICIENT_FUNDS":
                    raise
                row = transactions.get(unit, _newest(unit, ask))
                quote, row = transactions.locked(unit, row.id)
                quote.status = row.status = "FAILED"
                row.failure_reason = "LIMIT_EXCEEDED"
                return transactions.view(row)

        return taken

    patch.wrap(_BOTH[1], wrapper)


def _newest(unit: Unit, ask: Ask) -> str:
    """Return the transaction of the transfer that was just drawn up."""
    account = ask.body["source"]["accountId"]
    found = transactions.list_all(unit, Ask(query={"senderAccountIdentifier": account}))
    return str(found["data"][0]["id"])


@variant("N271", "deprecated transfers are no outgoing payments to report", "slow")
def unreported(patch: Patch) -> None:
    def wrapper(transfer: Function) -> Function:
        def quiet(unit: Unit, ask: Ask) -> Any:
            view = transfer(unit, ask)
            transactions.get(unit, view["id"], lock=True).type = "TRANSFER"
            return {**view, "type": "TRANSFER"}

        return quiet

    patch.wrap(_BOTH[1], wrapper)


@variant("N272", "deprecated transfers convert as quotes do", "onboarding")
def converting(patch: Patch) -> None:
    patch.replace(f"{_TRANSFERS}:refuse_conversion", lambda *_: None)


def _unknown_ends(code: str, status: int, patch: Patch) -> None:
    def wrapper(ends_of: Function) -> Function:
        def found(unit: Unit, body: Json) -> Any:
            try:
                return ends_of(unit, body)
            except errors.Refusal as refusal:
                if refusal.code != "ACCOUNT_NOT_FOUND":
                    raise
                raise errors.Refusal(code, refusal.reason) from refusal

        return found

    patch.wrap(f"{_TRANSFERS}:ends_of", wrapper)
    if status != rules.ERROR_STATUS.get(code):
        patch.row(f"{_REFERENCE}.rules:ERROR_STATUS", code, status)


for _name, _code, _status, _group in (
    ("transfer-invalid", "INVALID_INPUT", 400, "forms"),
    ("transfer-unprocessable", "UNKNOWN_END", 422, "other forms"),
):
    declare(
        "M41",
        _name,
        f"an account that is not there is refused by a transfer with {_status} {_code}",
        partial(_unknown_ends, _code, _status),
        _group,
    )


@variant("M84", "what carries over from a transfer is refused there", "forms")
def nothing_carried(patch: Patch) -> None:
    def wrapper(transfer: Function) -> Function:
        def strict(unit: Unit, ask: Ask) -> Any:
            body = ask.body if isinstance(ask.body, dict) else {}
            for name in ("remittanceInformation", "purposeOfPayment"):
                if name in body:
                    raise errors.invalid_input(errors.field_error(name, "It is not known here."))
            return transfer(unit, ask)

        return strict

    for place in _BOTH:
        patch.wrap(place, wrapper)


# --- Invitations ----------------------------------------------------------------------------


@variant("N030", "the claim of an invitation is answered without a body", "forms")
def claimed_quietly(patch: Patch) -> None:
    patch.row(_ROUTES, "claimInvitation", replace(routes.OPERATIONS["claimInvitation"], status=204))


@variant("M40", "an invitation that there is not is NOT_FOUND", "codes")
def invitation_not_found(patch: Patch) -> None:
    def wrapper(claim: Function) -> Function:
        def general(unit: Unit, ask: Ask) -> Any:
            try:
                return claim(unit, ask)
            except errors.Refusal as refusal:
                if refusal.code != "INVITATION_NOT_FOUND":
                    raise
                raise errors.Refusal("NOT_FOUND", refusal.reason) from refusal

        return general

    patch.wrap(f"{_REFERENCE}.invitations:claim", wrapper)


@variant("M75", "the refusal of an invitation has no details", "absent")
def no_details(patch: Patch) -> None:
    def wrapper(claim: Function) -> Function:
        def terse(unit: Unit, ask: Ask) -> Any:
            try:
                return claim(unit, ask)
            except errors.Refusal as refusal:
                raise errors.Refusal(refusal.code, refusal.reason) from refusal

        return terse

    patch.wrap(f"{_REFERENCE}.invitations:claim", wrapper)
