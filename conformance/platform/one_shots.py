"""One-shot triggers of payouts: they happen to the next payout, whichever that is."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.contract.vocabulary import triggers

PAYOUTS = frozenset(
    name
    for name, trigger in triggers().items()
    if trigger.area == "transactions" and trigger.parameters == ("externalAccountId",)
)
"""The triggers that say what becomes of payouts to an external account."""

_STARTS = frozenset({"executeQuote", "transferOut", "deposit.arrive"})
"""What sends money out: the deposit of an account that is swept does too."""

_CONTINUES = frozenset({"authorizeQuote", "approveTransaction"})
"""What sends money out that an earlier request was not enough for."""

_UNDER_WAY = frozenset({"PENDING", "PENDING_AUTHORIZATION", "PROCESSING"})


Until = Callable[[Callable[[], bool], Callable[[bool], bool]], bool]
"""Reads again and again until a value is wanted, and returns the last one."""


@dataclass
class _Armed:
    """A one-shot trigger that waits for its payout.

    ``about`` are the ids that lead to that payout, ``payouts`` the ids of the transactions that it
    may have happened to. ``is_due`` says that it is caused, and has not happened to any yet.
    """

    cause: Callable[[], object]
    about: set[str]
    is_due: bool = False
    payouts: list[str] = field(default_factory=list)


class OneShots:
    """Causes a one-shot trigger right before the payout that a test means, and waits for its end.

    So it happens to no other payout, of the same test or of another one.

    Args:
        status_of: returns the status of a transaction, by its id.
        until: waits for a value, for as long as the profile says.
    """

    def __init__(self, status_of: Callable[[str], object], until: Until) -> None:
        self._status_of = status_of
        self._until = until
        self._armed: list[_Armed] = []

    def arm(self, account: str, cause: Callable[[], object]) -> None:
        """Have a trigger caused before each payout to an external account."""
        self._armed.append(_Armed(cause, {account}))

    def before(self, name: str, parts: Any) -> None:
        """Cause what is due, given the operation or trigger that comes next and what it sends."""
        starts = name in _STARTS or (name == "createQuote" and _is_immediate(parts))
        if not (starts or name in _CONTINUES) or not self._armed:
            return
        if starts:
            # What happened to the payout before may otherwise happen to this one.
            self.settle()
        for armed in self._concerned(parts):
            if not armed.is_due:
                armed.cause()
                armed.is_due = True

    def after(self, parts: Any, body: Any) -> None:
        """Take in what was sent, and the body of its answer."""
        if not isinstance(body, Mapping):
            return
        for armed in self._concerned(parts):
            armed.about.update(_texts(body.get("id"), body.get("quoteId")))
            if armed.is_due:
                armed.payouts.extend(_texts(body.get("transactionId")))

    def settle(self) -> bool:
        """Wait until what is due has happened; return whether it has, for all that can be seen."""
        due = [armed for armed in self._armed if armed.is_due]
        ids = [name for armed in due for name in armed.payouts]
        for armed in due:
            armed.is_due = False
            armed.payouts.clear()

        def is_over() -> bool:
            return not any(self._status_of(name) in _UNDER_WAY for name in ids)

        return bool(ids) and self._until(is_over, bool) if due else True

    def end(self) -> bool:
        """Wait for the end of what is due, and forget all; return whether nothing is left."""
        try:
            return self.settle()
        finally:
            self._armed.clear()

    def _concerned(self, parts: Any) -> Iterator[_Armed]:
        if not self._armed:
            return
        sent = json.dumps(parts, default=str)
        for armed in self._armed:
            if any(name in sent for name in armed.about):
                yield armed


def _is_immediate(parts: Any) -> bool:
    body = parts.get("body") if isinstance(parts, Mapping) else None
    return isinstance(body, Mapping) and bool(body.get("immediatelyExecute"))


def _texts(*values: Any) -> list[str]:
    return [value for value in values if isinstance(value, str) and value]
