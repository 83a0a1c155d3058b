"""The suite in the part of a platform whose customers have cards, and of the merchants they pay."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from conformance.client.accounts import Accounts
from conformance.client.actor import Json, filled
from conformance.client.http import Answer
from conformance.client.listener import Delivery
from conformance.target.triggers import Asked
from conformance.verdict.decisions import (
    FeatureUndeclared,
    PreconditionFailed,
    ResourceMissing,
)

ENDS = ("SETTLED", "DECLINED", "VOIDED", "EXCEPTION")
"""The states of card transactions whose names the specification shows."""

PRICE = 2_500

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_EVENT = "CARD_TRANSACTION."


class Cards(Accounts):
    """Cards, what is bought with them, and what merchants give back."""

    def card_account(self, *, amount: int = 100_000) -> Json:
        """Return an internal account of a new customer that can fund a card."""
        if not self.profile.features.cards:
            raise FeatureUndeclared("the profile does not declare features.cards")
        return self.account(self.profile.resources.card_currency, amount=amount)

    def issue_card(self, customer_id: str, account: Json) -> Asked:
        """Ask for a card of a customer that spends from an internal account."""
        return self.ask("card.issue", customerId=customer_id, accountId=account["id"])

    def card(self, account: Json | None = None) -> Json:
        """Return a new card that spends from an account, by default a new one.

        Returns:
            ``id``, ``accountId``, ``customerId`` and the code of its ``currency``.
        """
        account = account or self.card_account()
        asked = self.issue_card(account["customerId"], account)
        if not asked.accepted:
            raise PreconditionFailed(f"no card is issued: {asked}")
        return {
            "id": str(asked.results()["cardId"]),
            "accountId": account["id"],
            "customerId": account["customerId"],
            "currency": self.profile.resources.card_currency,
        }

    def funding_actions(self, account: Json) -> list[str]:
        """Return what an internal account says that a card could do with it.

        Raises:
            ResourceMissing: it says nothing, or the profile does not name the member.
        """
        name = self.profile.bindings.card_funding
        if name is None:
            raise ResourceMissing("bindings.card_funding of the profile names no member")
        actions = self.account_now(account).get(name)
        if not actions:
            raise ResourceMissing(f"{account['id']} can fund no card")
        return sorted(map(str, actions))

    def on_card(self, card: Json, card_id: str | None = None, **filters: Any) -> list[Json]:
        """Return the transactions of a card, page after page.

        Args:
            card: the card.
            card_id: its id as the filter names it; by default as it was issued.
            filters: further filters.
        """
        query = {**self.large_pages, "cardId": card_id or card["id"], **filters}
        return list(self.pages("listTransactions", **query))

    def card_rows(self, card: Json) -> list[Json]:
        """Return the transactions of a card, by either of the two filters that should find them.

        Its customer has no other card.
        """
        owner = self.profile.bindings.transactions_of_customer
        by_type = {"type": "CARD", owner: card["customerId"]} if owner else {}
        found: dict[Any, Json] = {}
        for filters in ({"cardId": card["id"]}, by_type):
            query = {**self.large_pages, **filters}
            if filters:
                with contextlib.suppress(PreconditionFailed):
                    found |= {row.get("id"): row for row in self.pages("listTransactions", **query)}
        return list(found.values())

    def charge(self, card: Json, trigger: str = "card.authorize", amount: int = PRICE) -> Json:
        """Let a merchant ask for a purchase, and return its transaction once it is listed.

        Raises:
            PreconditionFailed: it is not listed.
        """
        return self._new_row(card, None, trigger, amount)

    def attempt(self, card: Json, trigger: str = "card.authorize", amount: int = PRICE) -> Json:
        """Let a merchant ask for a purchase once the card can be used; as :meth:`charge`."""
        # A card may be issued a moment before that.
        return self.until(
            lambda: self.charge(card, trigger, amount),
            lambda seen: seen.get("cardDeclinedReason") != "CARD_NOT_ACTIVE",
        )

    def approved_purchase(self, card: Json, amount: int = PRICE) -> Json:
        """Return a purchase that is authorized, and not cleared yet.

        Raises:
            PreconditionFailed: it is not approved.
        """
        row = self.attempt(card, amount=amount)
        if row.get("status") in ("DECLINED", "EXCEPTION"):
            raise PreconditionFailed(f"a purchase that nothing stands in the way of is {row}")
        return row

    def settled_purchase(self, card: Json, amount: int = PRICE) -> Json:
        """Return a purchase that is settled.

        Raises:
            PreconditionFailed: it does not come to SETTLED.
        """
        row = self.approved_purchase(card, amount)
        self.happens(card, row, "card.settle", amount)
        return self.row_at(card, row, "SETTLED")

    def happens(self, card: Json, row: Json, trigger: str, amount: int = PRICE) -> None:
        """Let something happen to a purchase; a lapse is of no amount."""
        named = {"cardId": card["id"], "transactionId": row["id"]}
        if trigger != "card.lapse":
            named |= {"amount": amount, "currency": card["currency"]}
        self.cause(trigger, **named)

    def give_back(self, card: Json, purchase: Json, amount: int) -> Json:
        """Let a merchant return a purchase in a payment of its own, and return that, once listed.

        Raises:
            PreconditionFailed: it is not listed.
        """
        return self._new_row(card, purchase, "card.refund", amount)

    def row_now(self, card: Json, row: Json) -> Json:
        """Return a card transaction as it is listed now.

        Raises:
            PreconditionFailed: it is not listed any more.
        """
        for seen in self.card_rows(card):
            if seen.get("id") == row["id"]:
                return seen
        raise PreconditionFailed(f"GET /transactions does not list {row['id']} any more")

    def row_in(self, card: Json, row: Json, *statuses: str) -> Json:
        """Return a card transaction once its status is one of ``statuses``.

        After ``timing.state`` of the profile it is returned as it is then.
        """
        return self.until(
            lambda: self.row_now(card, row), lambda seen: seen.get("status") in statuses
        )

    def row_at(self, card: Json, row: Json, status: str) -> Json:
        """Return a card transaction that has come to a status.

        Raises:
            PreconditionFailed: it is at another in the end.
        """
        seen = self.row_in(card, row, status)
        if seen.get("status") != status:
            raise PreconditionFailed(f"{row['id']} is {seen.get('status')} in place of {status}")
        return seen

    def returned(self, card: Json, purchase: Json, amount: int) -> Json:
        """Return a purchase once it shows that so much of it was returned.

        After ``timing.state`` of the profile it is returned as it is then.
        """
        return self.until(
            lambda: self.row_now(card, purchase),
            lambda seen: units(seen.get("refundedAmount")) == amount,
        )

    def reversible(self, card: Json, amount: int = PRICE // 5) -> tuple[Json, Json]:
        """Return a purchase with a posted return, and the row of a refund of it.

        Raises:
            PreconditionFailed: the purchase does not show what was returned.
        """
        purchase = self.settled_purchase(card)
        self.happens(card, purchase, "card.return", amount)
        seen = self.returned(card, purchase, amount)
        if not units(seen.get("refundedAmount")):
            raise PreconditionFailed(f"{purchase['id']} shows no return")
        for row in self.card_rows(card):
            # A return of the purchase itself may have a row too.
            if is_same(row.get("originalTransactionId"), purchase["id"]):
                return purchase, row
        return purchase, self.give_back(card, purchase, amount)

    def reverse_return(self, card: Json, transaction_id: str) -> Answer:
        """Send ``POST /sandbox/cards/{id}/simulate/return_reversal``, shaped by the bindings."""
        path, body = self.return_reversal(card, transaction_id)
        self._may_take(card, PRICE)
        return self.client.call("simulateReturnReversal", path=path, body=body)

    def return_reversal(self, card: Json, transaction_id: str) -> tuple[dict[str, str], Json]:
        """Return the path and the body that reverse the return of a refund row."""
        words = {"{cardId}": card["id"], "{transactionId}": transaction_id}
        names = self.profile.bindings
        return {"id": filled(names.return_reversal_id, words)}, filled(names.return_reversal, words)

    def told_of(self, row: Json, known: int = 0) -> list[Delivery]:
        """Return the first webhooks about a card transaction, each once: one more than ``known``.

        After ``timing.event`` of the profile those are returned that have come.
        """
        first: dict[str | None, Delivery] = {}

        def enough(one: Delivery) -> bool:
            if one.concerns(row["id"]) and (one.type or "").startswith(_EVENT):
                first.setdefault(one.id, one)
            return len(first) > known

        self._inbox.wait(enough, self.profile.timing.event)
        return list(first.values())

    def _new_row(self, card: Json, purchase: Json | None, trigger: str, amount: int) -> Json:
        known = {row.get("id") for row in self.card_rows(card)}
        self._may_take(card, amount)
        if purchase is None:
            parameters = {"amount": amount, "currency": card["currency"]}
            self.cause(trigger, cardId=card["id"], **parameters)
        else:
            self.happens(card, purchase, trigger, amount)

        def new() -> Json | None:
            return next((row for row in self.card_rows(card) if row.get("id") not in known), None)

        row = self.until(new, lambda found: found is not None)
        if row is None:
            raise PreconditionFailed(f"GET /transactions lists nothing new after {trigger}")
        return row

    def _may_take(self, card: Json, amount: int) -> None:
        spent = self.movement.spent
        spent[card["accountId"]] = spent.get(card["accountId"], 0) + amount


def units(value: Any) -> int:
    """Return an amount that stands as an integer or as a money object; 0 for none.

    Raises:
        AssertionError: it is neither.
    """
    if value is None:
        return 0
    amount = value.get("amount") if isinstance(value, dict) else value
    assert type(amount) is int, f"no amount: {value!r}"
    return amount


def bare(card: Json) -> str:
    """Return the id of a card without its type.

    Raises:
        ResourceMissing: it is no UUID.
    """
    rest = str(card["id"]).rpartition(":")[2]
    if _UUID.fullmatch(rest) is None:
        raise ResourceMissing(f"the id of {card['id']} is no UUID")
    return rest


def is_same(one: Any, other: Any) -> bool:
    """Return whether two ids, with or without their type, are of one resource."""
    return str(one).rpartition(":")[2] == str(other).rpartition(":")[2]


def objects(value: Any) -> Iterator[Json]:
    """Yield an object, and all objects within it."""
    if isinstance(value, dict):
        yield value
        for member in value.values():
            yield from objects(member)
