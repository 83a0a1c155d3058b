"""What a transaction shows of its payment, when it is read and where it is listed."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from conformance.exchange.clock import now
from conformance.platform.resource import Json, require_member
from conformance.scenarios.kit.notation import moment
from conformance.text.paths import value_at

LISTED = {
    "TRX-803": "direction",
    "TRX-804": "sentAmount",
    "TRX-805": "receivedAmount",
    "TRX-806": "exchangeRate",
    "TRX-807": "settledAt",
    "TRX-808": "quoteId",
    "TRX-854": "createdAt",
    "TRX-855": "platformFees",
}
"""What a completed payout should show, by its requirement."""

DESCRIBED = {**LISTED, "TRX-809": "description"}
"""The same for a payout whose quote has a description."""

ON_CHAIN = (
    "base_wallet",
    "polygon_wallet",
    "solana_wallet",
    "tron_wallet",
    "plasma_wallet",
    "arbitrum_wallet",
)

ENDS = ("source", "destination")

MAX_CLOCK_DIFFERENCE = timedelta(minutes=15)
"""How far the clock of a target may be ahead of ours."""


def expect_settled_by_now(transaction: Json) -> None:
    """Assert that the settledAt of a transaction lies between its createdAt and now.

    Raises:
        ResourceMissing: it does not show both times.
    """
    __tracebackhide__ = True
    created_at, settled_at = (
        moment(require_member(transaction, name)) for name in ("createdAt", "settledAt")
    )
    # One of the two times may be cut to whole seconds.
    assert settled_at.replace(microsecond=999_999) >= created_at, transaction
    assert settled_at <= now() + MAX_CLOCK_DIFFERENCE, transaction


def on_chain_transactions(transaction: Json) -> list[Any]:
    """Return each ``onChainTransaction`` of a transaction, of its source and its destination."""
    ends = [value_at(transaction, f"{end}.onChainTransaction") for end in ENDS]
    return [end for end in ends if end]
