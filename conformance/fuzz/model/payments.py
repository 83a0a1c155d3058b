"""The oracle: what each payment has done to the balances, by the status of its transaction.

What the specification leaves open is an interval here, and not in the model otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from typing import Any

from conformance.contract.document import document
from conformance.contract.moments import parse_moment
from conformance.contract.states import Machine, machine_of
from conformance.contract.vocabulary import triggers
from conformance.platform.given.transactions import included_fees
from conformance.platform.resource import Json
from conformance.platform.waiting import CLOCK_SKEW

Span = tuple[int, int]
"""The least and the most, in smallest units."""

NOTHING_TAKEN = frozenset({"PENDING", "PENDING_AUTHORIZATION", "EXPIRED"})
_EXECUTIONS = frozenset({"executeQuote", "authorizeQuote", "approveTransaction"})
_RELEASE, _HOLD = ".release", ".hold"
_REFUND = "REFUND_"
_FAILED = "FAILED"


@cache
def table() -> Machine:
    """Return the table of the states of a transaction."""
    return machine_of("transaction")


def fates() -> list[str]:
    """Return the triggers that decide, at an external account, what becomes of its payouts."""
    about_account = ("externalAccountId",)
    held = {_hold_of(action) for action in table().actions if action.endswith(_RELEASE)}
    known = triggers()
    return sorted(
        name
        for name in (table().actions | held) & known.keys()
        if known[name].parameters == about_account
    )


def failing() -> frozenset[str]:
    """Return the fates by which a payout fails."""
    rows = table().transitions
    return frozenset(str(row.action) for row in rows if row.targets == (_FAILED,))


@dataclass
class Payment:
    """A quote that was created, and what has become of it.

    ``status`` is what was seen last of its transaction, None before the first look. ``fate`` is the
    trigger of its destination. ``done`` are the actions that were accepted or caused, ``executed``
    says that an answer told of its execution. ``challenge`` is the one that its customer has to
    answer before it is executed, where there is one.

    What an agent initiated has no quote; ``quote`` has the same members then, but for its id and
    the moment of its expiry.
    """

    quote: Json
    fate: str | None
    status: str | None
    done: set[str] = field(default_factory=lambda: {"createQuote"})
    executed: bool = False
    challenge: Json | None = None

    @property
    def transaction_id(self) -> str:
        """The id of its transaction."""
        return str(self.quote["transactionId"])

    @property
    def is_expired(self) -> bool:
        """Whether it can no longer be executed, by its ``expiresAt`` or by a trigger."""
        return "quote.expire" in self.done

    def may(self, action: str | None) -> bool:
        """Return whether an action may have moved it: by our doing, by the rail or by time."""
        if action is None or action in self.done:
            return True
        if action in document().operations:
            return False
        if action.endswith(_RELEASE):
            return self.fate != _hold_of(action)
        if action == "quote.expire":
            # How long the payment of an agent waits for its approval is open.
            return "expiresAt" not in self.quote or _may_be_over(self.quote)
        if action == "sca.challenge_expire":
            # How a payment ends that was not proved before its quote expired is open.
            return self.challenge is not None and (
                _may_be_over(self.challenge) or self.may("quote.expire")
            )
        return "quoteId" not in triggers()[action].parameters

    def may_become(self, status: str) -> bool:
        """Return whether its transaction may be at a status now.

        One that has failed may show no more than that, whatever its refund has come to.
        """
        shown_failed = status == _FAILED and self.status in self._after(_FAILED)
        return shown_failed or status in self._after(self.status)

    def has_escaped(self, status: str) -> bool:
        """Return whether it is at a status that only the hold of its destination keeps it from.

        The specification allows it, so that the trigger did not hold what it was to hold.
        """
        return not self.may_become(status) and replace(self, fate=None).may_become(status)

    def was_at(self, status: str) -> bool:
        """Return whether its transaction may have been at a status before, or is at it now.

        What was not held, as it was to be, was there nevertheless.
        """
        if self.fate is not None:
            return replace(self, fate=None).was_at(status)
        if status not in self._after(None):
            return False
        shown_failed = self.status == _FAILED and status in self._after(_FAILED)
        return shown_failed or self.status in self._after(status)

    def _after(self, status: str | None) -> frozenset[str | None]:
        return table().reachable(status, self.may)

    def effect(self, account_id: str) -> Span:
        """Return what it has added to the balance of an account."""
        low = high = 0
        if self.quote["source"].get("accountId") == account_id:
            low, high = self._taken()
        if self.quote["destination"].get("accountId") == account_id:
            brought = self.quote["totalReceivingAmount"]
            low += brought if self.status == "COMPLETED" else 0
            high += brought if self.status in ("COMPLETED", "PROCESSING") else 0
        return low, high

    def _taken(self) -> Span:
        sent = self.quote["totalSendingAmount"]
        if self.status in (None, "PENDING") and self._waits:
            # Money that is kept back for it is not available to spend.
            return -sent, 0
        if self.status in NOTHING_TAKEN or not self.done & _EXECUTIONS:
            # One whose customer has not answered a challenge may fail for it.
            return 0, 0
        if self.status == "REFUND_COMPLETED":
            # The fees may be kept.
            return -included_fees(self.quote), 0
        # Of a failure alone it is not known how far its refund is.
        return -sent, 0 if self.status == _FAILED else -sent

    @property
    def _waits(self) -> bool:
        """Whether its approval or the proof of its customer is what it waits for."""
        return "id" not in self.quote or self.challenge is not None

    @property
    def is_moving(self) -> bool:
        """Whether nothing that was caused holds it where it is."""
        return all(self.may(action) for action in table().actions if action.endswith(_RELEASE))

    @property
    def returnable(self) -> int:
        """How much of what it took may still come back, in smallest units."""
        coming = self.status in ("PROCESSING", _FAILED, "REFUND_PENDING")
        return int(self.quote["totalSendingAmount"]) if coming else 0


def balance_span(opening: Span, payments: Iterable[Payment], account_id: str) -> Span:
    """Return between what the balance of an account is, in smallest units.

    Args:
        opening: between what was deposited to it.
        payments: all that may go from it or to it.
        account_id: its id.
    """
    low, high = opening
    for payment in payments:
        least, most = payment.effect(account_id)
        low, high = low + least, high + most
    return low, high


def status_of(transaction: Mapping[str, Any]) -> str:
    """Return the status of a transaction; that of its refund, where it has one that tells it.

    One whose customer has to prove it may tell so, and is PENDING by the table.
    """
    status = str(transaction.get("status"))
    if status == "PENDING_AUTHORIZATION":
        return "PENDING"
    if status == "REFUNDED":
        return "REFUND_COMPLETED"
    refund = transaction.get("refund")
    if status == _FAILED and isinstance(refund, Mapping):
        word = _REFUND + str(refund.get("status")).upper().removeprefix(_REFUND)
        return word if word in table().states else status
    return status


def _may_be_over(lifetime: Mapping[str, Any]) -> bool:
    """Return whether the ``expiresAt`` of a quote or challenge may have passed."""
    end = parse_moment(str(lifetime.get("expiresAt")))
    return end is not None and datetime.now(UTC) + CLOCK_SKEW >= end


def _hold_of(release: str) -> str:
    return release.removesuffix(_RELEASE) + _HOLD
