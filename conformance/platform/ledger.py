"""The ledger of a test: what it did to the internal accounts that it funded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from conformance.exchange.answer import Answer
from conformance.platform.resource import Json, Resource
from conformance.text.paths import value_at

_ISSUANCE = frozenset({"createStablecoin", "mintStablecoin", "burnStablecoin"})


@dataclass
class Ledger:
    """What a test did to the internal accounts that it funded: the input of the audit.

    ``deposits`` holds by account id what was deposited, ``expected`` what is on its way,
    ``returned`` what may have gone back to its sender, and ``spent`` what cards may have taken at
    most, all in smallest units; ``quotes`` the accepted quotes, and ``payers`` by the id of a quote
    the customer that its request named, itself or by an external account of it. ``owners`` are
    those customers by the ids of their external accounts. ``issuing`` are the accounts that
    operations with stablecoins named: what these take from an account, or bring to it, the
    specification leaves open.
    """

    deposits: dict[str, int] = field(default_factory=dict)
    expected: dict[str, int] = field(default_factory=dict)
    returned: dict[str, int] = field(default_factory=dict)
    spent: dict[str, int] = field(default_factory=dict)
    accounts: dict[str, Resource] = field(default_factory=dict)
    quotes: dict[str, Json] = field(default_factory=dict)
    payers: dict[str, str] = field(default_factory=dict)
    owners: dict[str, str] = field(default_factory=dict)
    issuing: set[str] = field(default_factory=set)

    @property
    def known_deposits(self) -> dict[str, int]:
        """The deposits to accounts of which all that moved is known."""
        return {name: paid for name, paid in self.deposits.items() if name not in self.issuing}

    def note(self, answer: Answer) -> None:
        """Take note of an answer: what was accepted may move money."""
        if not answer.accepted:
            return
        sent = answer.exchange.request_body
        if answer.operation.id in _ISSUANCE:
            named = str(sent)
            self.issuing |= {name for name in self.accounts if name in named}
        if answer.operation.id == "createQuote":
            self.note_quote(answer.body)
            pulled = self.owners.get(str(value_at(sent, "source.accountId")))
            _note(self.payers, answer.body, value_at(sent, "source.customerId") or pulled)
        if answer.operation.id == "createExternalAccount":
            _note(self.owners, answer.body, value_at(sent, "customerId"))

    def note_quote(self, quote: Any) -> None:
        """Take note of a quote, if it is one."""
        if isinstance(quote, Mapping) and "id" in quote:
            self.quotes[quote["id"]] = quote

    def note_spent(self, account: str, amount: int) -> None:
        """Take note that a card may have taken ``amount`` smallest units from an account."""
        self.spent[account] = self.spent.get(account, 0) + amount

    def note_transfer(
        self,
        name: str,
        transaction: str,
        ends: tuple[Json, Json],
        amounts: tuple[int, int],
        fees: int = 0,
    ) -> None:
        """Take note of a payment that has no quote.

        Args:
            name: what it is known by.
            transaction: the id of its transaction; empty where it is not known.
            ends: the accounts that it goes from and to.
            amounts: what it takes from the one and brings to the other, in smallest units.
            fees: how much of what it takes may be fees.
        """
        source, destination = ends
        self.quotes[name] = {
            "transactionId": transaction,
            "source": {"accountId": source["id"]},
            "destination": {"accountId": destination["id"]},
            "totalSendingAmount": amounts[0],
            "totalReceivingAmount": amounts[1],
            "feesIncluded": fees,
        }

    def was_quoted(self, account: Mapping[str, Any]) -> bool:
        """Return whether an accepted quote names an account."""
        return any(
            (quote.get(end) or {}).get("accountId") == account["id"]
            for quote in self.quotes.values()
            for end in ("source", "destination")
        )


def _note(customers: dict[str, str], resource: Any, customer: Any) -> None:
    """Note by the id of a resource the customer that its request named, if it named one."""
    if isinstance(customer, str) and isinstance(resource, Mapping):
        customers[str(resource.get("id"))] = customer
