"""What mutants and conforming variants change in stablecoins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.proof.kit.builders import Place, rescued
from conformance.proof.kit.tables import with_columns
from conformance.proof.patch import Apply, Patch
from conformance.reference import errors
from conformance.reference.stablecoins import stablecoins
from conformance.reference.stablecoins.stablecoins import Order
from conformance.reference.unit import Ask, Unit

HANDLERS: Mapping[str, Place] = {"MINT": (stablecoins, "mint"), "BURN": (stablecoins, "burn")}


def told_by(table: Place, name: str, code: str) -> Apply:
    return with_columns(*table, name, code=code)


def noting(code: str) -> Apply:
    """Return a patch after which what is refused with a code is an operation nevertheless."""

    def note(refusal: errors.Refusal, unit: Unit, ask: Ask) -> Any:
        coin = stablecoins.get(unit, ask.params["stablecoinId"])
        kind = "MINT" if "destination" in ask.body else "BURN"
        end = ask.body[stablecoins.KINDS[kind].end]
        stablecoins.record(unit, coin, Order(kind, 1, end, coin.provider_accounts[0]))
        raise errors.Rejection(refusal.code, refusal.reason) from None

    def apply(patch: Patch) -> None:
        for place in HANDLERS.values():
            rescued(*place, note, code)(patch)

    return apply
