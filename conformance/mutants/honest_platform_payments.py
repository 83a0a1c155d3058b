"""Honest variants of what quotes and transactions tell, and of who names a mobile operator how."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from conformance.mutants.honest import shown, without
from conformance.mutants.mutant import Patch
from conformance.mutants.variant import declare, variant
from conformance.reference import accounts, fields, settlement
from conformance.reference.store import Quote, Transaction
from conformance.reference.unit import Ask, Unit

Json = dict[str, Any]
Handler = Callable[[Unit, Ask], Any]

_REFERENCE = "conformance.reference"
_QUOTE = f"{_REFERENCE}.quotes:view"
_TRANSACTION = f"{_REFERENCE}.transactions:view"
_CREATE_ACCOUNT = f"{_REFERENCE}.externals:create"


# --- What a transaction tells ---------------------------------------------------------------


def waiting(body: Json) -> Json:
    """Say of a pending transaction that its customer is waited for."""
    return {**body, "pendingReason": "AWAITING_CUSTOMER"} if body["status"] == "PENDING" else body


declare(
    "N321",
    "customer-awaited",
    "a transaction that waits to be executed says so",
    shown(_TRANSACTION, waiting),
    "forms",
)


def unreferenced(body: Json) -> Json:
    """Leave the reference of a refund out that is not delivered."""
    refund = body.get("refund")
    if not refund or refund["status"] == "COMPLETED":
        return body
    return {**body, "refund": without("reference", refund)}


declare(
    "N324",
    "referenced-when-delivered",
    "a refund gets its reference when it is delivered",
    shown(_TRANSACTION, unreferenced),
    "absent",
)


@variant("N326", "a payment from a wallet is shown on the side of its receiver", "forms")
def received_on_chain(patch: Patch) -> None:
    def record_deposit(quote: Quote, transaction: Transaction) -> None:
        source = transaction.source
        original(quote, transaction)
        told = transaction.source.get("onChainTransaction")
        if told is not None:
            transaction.source = source
            transaction.destination = {**transaction.destination, "onChainTransaction": told}

    original = settlement.record_deposit
    patch.replace(f"{_REFERENCE}.settlement:record_deposit", record_deposit)


# --- What a quote tells ---------------------------------------------------------------------


def texts(body: Json) -> Json:
    """Show the parts of a rate as texts."""
    details = {name: str(value) for name, value in body["rateDetails"].items()}
    return {**body, "rateDetails": details}


declare("N323", "texts", "the parts of a rate are texts", shown(_QUOTE, texts), "codes")
declare(
    "N323",
    "none",
    "the parts of a rate are not shown",
    shown(_QUOTE, partial(without, "rateDetails")),
    "absent",
)


@variant("N325", "Bitcoin is received on Lightning alone", "codes")
def lightning_alone(patch: Patch) -> None:
    def instructions_for(currency: str, digits: str) -> list[Json]:
        found = original(currency, digits)
        if currency != "BTC":
            return found
        kinds = [entry["accountOrWalletInfo"]["accountType"] for entry in found]
        return [found[kinds.index("LIGHTNING")]]

    original = accounts.instructions_for
    patch.replace(f"{_REFERENCE}.accounts:instructions_for", instructions_for)


# --- Mobile operators -----------------------------------------------------------------------


@variant("N006", "operators are known by their names in any case", "forms")
def operators_in_any_case(patch: Patch) -> None:
    def wrapper(original: Handler) -> Handler:
        def create(unit: Unit, ask: Ask) -> Any:
            name = fields.at(ask.body, "accountInfo.provider")
            if isinstance(name, str):
                ask.body["accountInfo"]["provider"] = name.upper()
            return original(unit, ask)

        return create

    patch.wrap(_CREATE_ACCOUNT, wrapper)
