"""Conforming variants of the deprecated transfers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from conformance.proof.kit.builders import Json, instead
from conformance.proof.patch import Apply, Function, Patch
from conformance.proof.variant import declare, variant
from conformance.reference import errors, rules
from conformance.reference.quotes import fees, quotes, transfers
from conformance.reference.transactions import transactions
from conformance.reference.unit import Ask, Reply, Unit

_BOTH = ((transfers, "transfer_in"), (transfers, "transfer_out"))


def _answered(change: Callable[[Unit, Json], Any]) -> Apply:
    """Let both transfers be answered otherwise; ``change`` is given the transaction."""

    def apply(patch: Patch) -> None:
        for place in _BOTH:
            patch.wrap(*place, lambda transfer, unit, ask: change(unit, transfer(unit, ask)))

    return apply


# --- What transfers are answered with -------------------------------------------------------


declare(
    "N085",
    "untold",
    "the answer to a deprecated transfer tells nothing",
    _answered(lambda _unit, _row: {}),
    "null",
)
declare(
    "N085",
    "wrapped",
    "the answer to a deprecated transfer holds the transaction under a name",
    _answered(lambda _unit, row: {"transaction": row}),
    "forms",
)
declare(
    "N085",
    "named",
    "the answer to a deprecated transfer names the transaction, and has an id of its own",
    _answered(lambda _unit, row: {"id": "transfer-17", "transactionId": row["id"]}),
    "other forms",
)
declare(
    "N085",
    "accepted",
    "a deprecated transfer is only accepted, and has no body",
    _answered(lambda _unit, _row: Reply(202, None)),
    "absent",
)


# --- What they cost, and how they are refused -----------------------------------------------


@variant("N270", "deprecated transfers have no fees", "apart")
def free_transfers(patch: Patch) -> None:
    def terms(terms_for: Function, unit: Unit, order: quotes.Order) -> fees.Terms:
        found: fees.Terms = terms_for(unit, order)
        return replace(found, variable=type(found.variable)(0)) if unmade else found

    unmade: list[bool] = []

    def free(transfer: Function, unit: Unit, ask: Ask) -> Any:
        unmade.append(True)
        try:
            return transfer(unit, ask)
        finally:
            unmade.pop()

    patch.wrap(quotes, "terms_for", terms)
    for place in _BOTH:
        patch.wrap(*place, free)


@variant("N085", "a transfer that the balance does not cover fails later", "other apart", _BOTH[1])
def unfunded_later(transfer: Function, unit: Unit, ask: Ask) -> Any:
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


def _newest(unit: Unit, ask: Ask) -> str:
    """Return the transaction of the transfer that was just drawn up."""
    account = ask.body["source"]["accountId"]
    found = transactions.list_all(unit, Ask(query={"senderAccountIdentifier": account}))
    return str(found["data"][0]["id"])


@variant("N271", "deprecated transfers are no outgoing payments to report", "slow", _BOTH[1])
def unreported(transfer: Function, unit: Unit, ask: Ask) -> Any:
    view = transfer(unit, ask)
    transactions.get(unit, view["id"], lock=True).type = "TRANSFER"
    return {**view, "type": "TRANSFER"}


@variant("N272", "deprecated transfers convert as quotes do", "onboarding")
def converting(patch: Patch) -> None:
    patch.replace(transfers, "refuse_conversion", lambda *_: None)


def _unknown_ends(code: str, status: int) -> Apply:
    def apply(patch: Patch) -> None:
        def found(ends_of: Function, unit: Unit, body: Json) -> Any:
            try:
                return ends_of(unit, body)
            except errors.Refusal as refusal:
                if refusal.code != "ACCOUNT_NOT_FOUND":
                    raise
                raise errors.Refusal(code, refusal.reason) from refusal

        patch.wrap(transfers, "ends_of", found)
        if status != rules.ERROR_STATUS.get(code):
            patch.row(rules, "ERROR_STATUS", code, status)

    return apply


for _name, _code, _status, _group in (
    ("transfer-invalid", "INVALID_INPUT", 400, "forms"),
    ("transfer-unprocessable", "UNKNOWN_END", 422, "other forms"),
):
    declare(
        "M41",
        _name,
        f"an account that is not there is refused by a transfer with {_status} {_code}",
        _unknown_ends(_code, _status),
        _group,
    )


@variant("M84", "what carries over from a transfer is refused there", "forms")
def nothing_carried(patch: Patch) -> None:
    def strict(transfer: Function, unit: Unit, ask: Ask) -> Any:
        body = ask.body if isinstance(ask.body, dict) else {}
        for name in ("remittanceInformation", "purposeOfPayment"):
            if name in body:
                raise errors.invalid_input(errors.field_error(name, "It is not known here."))
        return transfer(unit, ask)

    for place in _BOTH:
        patch.wrap(*place, strict)


# --- Invitations ----------------------------------------------------------------------------


@variant(
    "M84", "the deprecated transfers have another body", "codes", (transfers, "_transfer"), instead
)
def transfers_of_another_shape(*_: Any) -> None:
    raise errors.Refusal("INVALID_REQUEST_FORMAT", "another body is expected")


@variant(
    "N085", "the deprecated transfers answer the quote", "other codes", (transfers, "_transfer")
)
def transfers_answer_quotes(transfer: Function, unit: Unit, *arguments: Any) -> Json:
    row = transfer(unit, *arguments)
    return quotes.view(unit, quotes.get(unit, row["quoteId"]))
