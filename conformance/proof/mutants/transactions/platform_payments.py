"""Mutants of the transactions of the platform's own accounts."""

from __future__ import annotations

from typing import Any

from conformance.proof.kit.builders import Json, edited, skipped
from conformance.proof.kit.edits import put, without
from conformance.proof.mutant import declare, mutant
from conformance.proof.patch import Apply, Patch
from conformance.reference.transactions import settlement, transactions
from conformance.reference.unit import Unit

# --- The platform's own payments ------------------------------------------------------------


@mutant(
    "TRX-600", "payouts of the platform's own money do not settle", (settlement, "settle"), skipped
)
def never_settled(unit: Unit, transaction_id: str, *, released: bool = False) -> bool:
    return transactions.get(unit, transaction_id).customer_id is None


# --- What a transaction tells ---------------------------------------------------------------


def told(member: str, value: Any) -> Apply:
    """Return a patch after which completed transactions show a member."""

    def edit(body: Json) -> Json:
        return put(member, value)(body) if body.get("status") == "COMPLETED" else body

    return edited(transactions, "view", edit)


for _id in ("TRX-601", "TRX-605"):
    declare(
        _id,
        "kept",
        "a completed transaction still says what it waits for",
        told("pendingReason", "COMPLIANCE_REVIEW"),
    )


@mutant("TRX-602", "every payout is said to have settled on a chain")
def always_on_chain(patch: Patch) -> None:
    patch.wrap(
        settlement,
        "network_of",
        lambda original, unit, quote: original(unit, quote) or "SOLANA",
    )


declare(
    "TRX-603",
    "no-reference",
    "a refund has no reference",
    edited(transactions, "view", without("refund.reference")),
)


@mutant("TRX-604", "where a payment from a wallet was settled is not kept")
def deposit_off_chain(patch: Patch) -> None:
    patch.replace(settlement, "record_deposit", lambda *_: None)


# --- What execution leaves as it was --------------------------------------------------------


declare(
    "TRX-606",
    "before-its-time",
    "a transaction settles before it is created",
    edited(
        transactions,
        "view",
        lambda body: {**body, "settledAt": "2025-10-13T00:00:00Z"} if "settledAt" in body else body,
    ),
)
