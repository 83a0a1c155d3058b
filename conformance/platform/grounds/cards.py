"""The grounds of the operations of cards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from conformance.platform.given.cards import PRICE
from conformance.platform.grounds.ground import Ground
from conformance.platform.platform import Platform

_CARD_TRIGGERS = ("deposit.arrive", "card.issue", "card.authorize", "card.settle", "card.return")


def _reverse_return(platform: Platform) -> Ground:
    if not all(map(platform.triggers.maps, _CARD_TRIGGERS)):
        return Ground(path={"id": platform.samples.reference()})
    card = platform.cards.card()
    _, row = platform.cards.returned_purchase(card)
    path, body = platform.cards.return_reversal(card, row["id"])
    spent = platform.ledger.spent
    # As much as the reversal may take again.
    spent[card["accountId"]] = spent.get(card["accountId"], 0) + PRICE

    def state() -> Any:
        return {
            seen.get("id"): (seen.get("status"), seen.get("refundedAmount"))
            for seen in platform.cards.transactions(card)
        }

    return Ground(path=path, body=body, state=state)


GROUNDS: Mapping[str, Callable[[Platform], Ground]] = {
    "simulateReturnReversal": _reverse_return,
}
