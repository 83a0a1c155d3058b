"""Cards of customers, and the merchants that they pay."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator, Mapping
from typing import Any

from conformance.exchange.answer import Answer
from conformance.exchange.delivery import Delivery
from conformance.platform.given.approved import ApprovedCustomers
from conformance.platform.given.internal_accounts import InternalAccounts
from conformance.platform.part import Context, Part
from conformance.platform.resource import Body, Json, Resource, fill_template, owner_of
from conformance.platform.triggers import Asked
from conformance.verdict.decisions import (
    PreconditionFailed,
    ResourceMissing,
)

ENDS = ("SETTLED", "DECLINED", "VOIDED", "EXCEPTION")
"""The states of card transactions whose names the specification shows."""

PRICE = 2_500
"""What a purchase costs, in the smallest unit."""

_UUID = re.compile(r"[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_EVENT = "CARD_TRANSACTION."


class Cards(Part):
    """Cards, what is bought with them, and what merchants give back."""

    def __init__(
        self, context: Context, approved: ApprovedCustomers, internal_accounts: InternalAccounts
    ) -> None:
        super().__init__(context)
        self._approved = approved
        self._internal_accounts = internal_accounts

    def account(self, *, amount: int = 100_000) -> Resource:
        """Return an internal account of a new individual that can fund a card.

        Whether businesses hold cards is not said.
        """
        self._require_feature("cards")
        currency = self._profile.resources.card_currency
        holder = self._approved.individual(currencies=sorted({self._profile.currency, currency}))
        return self._internal_accounts.account(currency, amount=amount, customer=holder)

    def issue(self, customer_id: str, account: Json) -> Asked:
        """Ask for a card of a customer that spends from an internal account."""
        return self._triggers.ask("card.issue", customerId=customer_id, accountId=account["id"])

    def card(self, account: Json | None = None) -> Resource:
        """Return a new card that spends from an account, by default a new one.

        Returns:
            ``id``, ``accountId``, ``customerId`` and the code of its ``currency``.
        """
        account = account or self.account()
        asked = self.issue(owner_of(account).id, account)
        if not asked.accepted:
            raise PreconditionFailed(f"no card is issued: {asked}", breaks=asked.breaks)
        owner = owner_of(account)
        shown = {
            "id": str(asked.results()["cardId"]),
            "accountId": account["id"],
            "customerId": owner.id,
            "currency": self._profile.resources.card_currency,
        }
        return Resource(shown, owner)

    def funding_actions(self, account: Json) -> list[str]:
        """Return what an internal account says that a card could do with it.

        Raises:
            ResourceMissing: it says nothing, or the profile does not name the member.
        """
        name = self._profile.bindings.card_funding
        if name is None:
            raise ResourceMissing("bindings.card_funding of the profile names no member")
        actions = self._internal_accounts.read(account).get(name)
        if not actions:
            raise ResourceMissing(f"{account['id']} can fund no card")
        return sorted(map(str, actions))

    def filtered(self, card: Json, card_id: str | None = None, **filters: Any) -> list[Body]:
        """Return the transactions of a card, page after page.

        Args:
            card: the card.
            card_id: its id as the filter names it; by default as it was issued.
            filters: further filters.
        """
        query = {**self._api.large_pages, "cardId": card_id or card["id"], **filters}
        return list(self._api.pages("listTransactions", query))

    def transactions(self, card: Json) -> list[Body]:
        """Return the transactions of a card, by either of the two filters that should find them.

        Its customer has no other card.
        """
        owner = self._profile.bindings.transactions_of_customer
        by_type = {"type": "CARD", owner: card["customerId"]} if owner else {}
        found: dict[Any, Body] = {}
        for filters in ({"cardId": card["id"]}, by_type):
            query = {**self._api.large_pages, **filters}
            if filters:
                with contextlib.suppress(PreconditionFailed):
                    rows = self._api.pages("listTransactions", query)
                    found |= {row.get("id"): row for row in rows}
        return list(found.values())

    def charge(self, card: Json, trigger: str = "card.authorize", amount: int = PRICE) -> Body:
        """Let a merchant ask for a purchase, and return its transaction once it is listed.

        Raises:
            PreconditionFailed: it is not listed.
        """
        return self._new_transaction(card, None, trigger, amount)

    def attempt(self, card: Json, trigger: str = "card.authorize", amount: int = PRICE) -> Body:
        """Let a merchant ask for a purchase once the card can be used; as :meth:`charge`."""
        # A card may be issued a moment before that.
        return self._until(
            lambda: self.charge(card, trigger, amount),
            lambda seen: seen.get("cardDeclinedReason") != "CARD_NOT_ACTIVE",
        )

    def approved_purchase(self, card: Json, amount: int = PRICE) -> Body:
        """Return a purchase that is authorized, and not cleared yet.

        Raises:
            PreconditionFailed: it is not approved.
        """
        row = self.attempt(card, amount=amount)
        if row.get("status") in ("DECLINED", "EXCEPTION"):
            raise PreconditionFailed(f"a purchase that nothing stands in the way of is {row}")
        return row

    def settled_purchase(self, card: Json, amount: int = PRICE) -> Body:
        """Return a purchase that is settled.

        Raises:
            PreconditionFailed: it does not come to SETTLED.
        """
        row = self.approved_purchase(card, amount)
        self.cause(card, row, "card.settle", amount)
        return self.arrange_status(card, row, "SETTLED", "CAR-043")

    def cause(self, card: Json, row: Json, trigger: str, amount: int = PRICE) -> None:
        """Let something happen to a purchase; a lapse is of no amount."""
        named = {"cardId": card["id"], "transactionId": row["id"]}
        if trigger != "card.lapse":
            named |= {"amount": amount, "currency": card["currency"]}
        self._triggers.fire(trigger, **named)

    def refund(self, card: Json, purchase: Json, amount: int) -> Body:
        """Let a merchant return a purchase in a payment of its own, and return that, once listed.

        Raises:
            PreconditionFailed: it is not listed.
        """
        return self._new_transaction(card, purchase, "card.refund", amount)

    def read(self, card: Json, row: Json) -> Body:
        """Return a card transaction as it is listed now.

        Raises:
            PreconditionFailed: it is not listed any more.
        """
        for seen in self.transactions(card):
            if seen.get("id") == row["id"]:
                return seen
        raise PreconditionFailed(
            f"GET /transactions does not list {row['id']} any more", breaks=["CAR-010"]
        )

    def at_status(self, card: Json, row: Json, *statuses: str) -> Body:
        """Return a card transaction once its status is one of ``statuses``.

        After ``timing.state`` of the profile it is returned as it is then.
        """
        return self._until(
            lambda: self.read(card, row),
            lambda seen: seen.get("status") in statuses,
            f"card transaction {statuses}",
        )

    def arrange_status(self, card: Json, row: Json, status: str, *moves_on: str) -> Body:
        """Return a card transaction that has come to a status.

        Args:
            card: the card.
            row: the transaction as it was before.
            status: the status.
            moves_on: the requirement that it comes there, where it is known.

        Raises:
            PreconditionFailed: it is at another in the end.
        """
        seen = self.at_status(card, row, status)
        if seen.get("status") != status:
            raise PreconditionFailed(
                f"{row['id']} is {seen.get('status')} in place of {status}",
                breaks=moves_on if seen.get("status") == row.get("status") else (),
            )
        return seen

    def wait_for_return(self, card: Json, purchase: Json, amount: int) -> Body:
        """Return a purchase once it shows that so much of it was returned.

        After ``timing.state`` of the profile it is returned as it is then.
        """
        return self._until(
            lambda: self.read(card, purchase),
            lambda seen: units(seen.get("refundedAmount")) == amount,
        )

    def returned_purchase(self, card: Json, amount: int = PRICE // 5) -> tuple[Body, Body]:
        """Return a purchase with a posted return, and the row of a refund of it.

        Raises:
            PreconditionFailed: the purchase does not show what was returned.
        """
        purchase = self.settled_purchase(card)
        self.cause(card, purchase, "card.return", amount)
        seen = self.wait_for_return(card, purchase, amount)
        if not units(seen.get("refundedAmount")):
            raise PreconditionFailed(f"{purchase['id']} shows no return", breaks=["CAR-061"])
        for row in self.transactions(card):
            # A return of the purchase itself may have a row too.
            if is_same(row.get("originalTransactionId"), purchase["id"]):
                return purchase, row
        return purchase, self.refund(card, purchase, amount)

    def reverse_return(self, card: Json, transaction_id: str) -> Answer:
        """Send ``POST /sandbox/cards/{id}/simulate/return_reversal``, shaped by the bindings."""
        path, body = self.return_reversal(card, transaction_id)
        self._ledger.note_spent(card["accountId"], PRICE)
        return self._api.simulate_return_reversal(path["id"], body)

    def return_reversal(self, card: Json, transaction_id: str) -> tuple[dict[str, str], Body]:
        """Return the path and the body that reverse the return of a refund row."""
        words = {"{cardId}": card["id"], "{transactionId}": transaction_id}
        names = self._profile.bindings
        path = {"id": fill_template(names.return_reversal_id, words)}
        return path, fill_template(names.return_reversal, words)

    def deliveries_about(self, row: Json, known: int = 0) -> list[Delivery]:
        """Return the first webhooks about a card transaction, each once: one more than ``known``.

        After ``timing.event`` of the profile those are returned that have come.
        """
        first: dict[str | None, Delivery] = {}

        def enough(one: Delivery) -> bool:
            if one.concerns(row["id"]) and (one.type or "").startswith(_EVENT):
                first.setdefault(one.id, one)
            return len(first) > known

        self._webhooks.wait_for_any(enough)
        return list(first.values())

    def _new_transaction(
        self, card: Json, purchase: Json | None, trigger: str, amount: int
    ) -> Body:
        known = {row.get("id") for row in self.transactions(card)}
        self._ledger.note_spent(card["accountId"], amount)
        if purchase is None:
            parameters = {"amount": amount, "currency": card["currency"]}
            self._triggers.fire(trigger, cardId=card["id"], **parameters)
        else:
            self.cause(card, purchase, trigger, amount)

        def new() -> Body | None:
            rows = self.transactions(card)
            return next((row for row in rows if row.get("id") not in known), None)

        row = self._until(new, lambda found: found is not None)
        if row is None:
            raise PreconditionFailed(
                f"GET /transactions lists nothing new after {trigger}",
                breaks=["CAR-010"] if not known and self._has_paid(card) else [],
            )
        return row

    def _has_paid(self, card: Json) -> bool:
        """Return whether money has left the account of a card, which only the card spends from."""
        account_id = card["accountId"]
        deposited = self._ledger.deposits.get(account_id)
        account = self._ledger.accounts.get(account_id)
        if deposited is None or account is None:
            return False
        return self._internal_accounts.balance(account) < deposited


def units(value: Any) -> int:
    """Return an amount that stands as an integer or as a money object; 0 for none.

    Raises:
        AssertionError: it is neither.
    """
    if value is None:
        return 0
    amount = value.get("amount") if isinstance(value, Mapping) else value
    assert type(amount) is int, f"no amount: {value!r}"
    return amount


def expect_currency(card: Json, row: Json, member: str) -> None:
    """Assert that an amount that stands as a money object is in the currency of its card."""
    __tracebackhide__ = True
    amount = row.get(member)
    if isinstance(amount, Mapping) and isinstance(amount.get("currency"), Mapping):
        code = amount["currency"].get("code")
        assert code in (None, card["currency"]), f"{member} is in {code}"


def bare_id(card: Json) -> str:
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
    if isinstance(value, Mapping):
        yield value
        for member in value.values():
            yield from objects(member)
