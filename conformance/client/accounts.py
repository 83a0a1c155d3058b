"""The suite in the part of a platform that opens and funds accounts."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

from conformance.client.actor import Json, members, merged, resource
from conformance.client.http import Answer
from conformance.client.onboarding import standing
from conformance.client.reviews import Reviews
from conformance.target.profile import Corridor
from conformance.verdict.decisions import (
    BudgetSpent,
    FeatureUndeclared,
    PreconditionFailed,
    ResourceMissing,
    TriggerMissing,
)

_IN_REVIEW = ("PENDING", "UNDER_REVIEW")
_ENDS = ("source", "destination")


class Accounts(Reviews):
    """Internal accounts with their balances, and external accounts."""

    def create_external_account(self, body: Json, *, valid: bool = True) -> Answer:
        """Send ``POST /customers/external-accounts``."""
        return self.client.call("createExternalAccount", body=body, valid=valid)

    def account(
        self, currency: str | None = None, *, amount: int = 100_000, customer: Json | None = None
    ) -> Json:
        """Return an internal account of a customer, with ``amount`` deposited to it.

        Args:
            currency: code of the account's currency; that of the usual corridor by default.
            amount: deposit in the smallest unit; 0 for none.
            customer: the owner; a new customer by default.
        """
        wanted = currency or self.currency
        owner = customer or self.customer(currencies=sorted({self.currency, wanted}))
        # Accounts may be provisioned a while after their customer.
        accounts = self.until(lambda: self.internal_accounts(owner), _are_provisioned)
        account = next((a for a in accounts if _currency(a) == wanted), None)
        if account is None and accounts:
            raise ResourceMissing(f"customers get no internal account in {wanted}")
        if account is None and not self.triggers.maps("customer.approve"):
            raise TriggerMissing(
                f"{owner['id']} has no internal account; it is at {standing(owner)}, and the "
                "profile does not map customer.approve"
            )
        if account is None:
            raise PreconditionFailed(
                f"{owner['id']} has no internal account; it was created at {standing(owner)}, and "
                f"is at {standing(self.customer_now(owner))}"
            )
        # The owner may be left out of the resource of an account that was asked for by owner.
        account = {**account, "customerId": owner["id"]}
        if amount:
            self.deposit(account, amount)
        return account

    def deposit(self, account: Json, amount: int) -> None:
        """Let a deposit of ``amount`` smallest units arrive, and wait until it can be spent."""
        if amount > self.profile.budget.amount:
            raise BudgetSpent(f"a deposit of {amount} is above budget.amount of the profile")
        before = self.balances(account)
        self.cause(
            "deposit.arrive", accountId=account["id"], amount=amount, currency=_currency(account)
        )
        seen = self.until(
            lambda: self.balances(account), lambda balances: balances[0] >= before[0] + amount
        )
        if seen[0] < before[0] + amount:
            raise PreconditionFailed(f"the deposit of {amount} did not arrive: balance {seen[0]}")
        first = account["id"] not in self.movement.deposits
        self.movement.accounts[account["id"]] = account
        if first and self._was_quoted(account):
            # What it held before cannot be told from what those quotes brought and took.
            return
        self.movement.deposits[account["id"]] = (
            self.movement.deposits.get(account["id"], 0) + amount + (before[1] if first else 0)
        )

    def _was_quoted(self, account: Json) -> bool:
        ends = (quote.get(end) or {} for quote in self.movement.quotes.values() for end in _ENDS)
        return any(end.get("accountId") == account["id"] for end in ends)

    def internal_accounts(self, customer: Json) -> list[Json]:
        """Return the internal accounts of a customer."""
        answer = self.client.call(
            "listCustomerInternalAccounts", query={"customerId": customer["id"]}
        )
        return members(self.arranged(answer))

    def balances(self, account: Json) -> tuple[int, int]:
        """Return ``balance`` and ``totalBalance`` of a customer's account, in smallest units.

        Where no ``totalBalance`` is given, the balance stands for it.
        """
        for seen in self.internal_accounts({"id": account["customerId"]}):
            if seen["id"] == account["id"]:
                total = seen.get("totalBalance") or seen["balance"]
                return seen["balance"]["amount"], total["amount"]
        raise PreconditionFailed(f"{account['id']} is no longer listed for its customer")

    def balance_at(self, account: Json, expected: int) -> int:
        """Return the ``balance`` of an account once it is ``expected``, in smallest units.

        It may be booked or shown a moment late; after ``timing.state`` of the profile it is
        returned as it is then.
        """
        return self.until(lambda: self.balances(account)[0], lambda seen: seen == expected)

    def destination(
        self, customer: Json, name: str | None = None, *, fate: str | None = None
    ) -> Json:
        """Create an external account of a customer.

        Args:
            customer: the owner (its ``id`` is enough).
            name: a file of ``fixtures/accounts``; that of the usual corridor by default.
            fate: a trigger that decides what becomes of payouts to the account.
        """
        magic = self.triggers.magic(fate) if fate else None
        body = self.destination_body(customer, name, **(magic or {}))
        account = self.active(resource(self.create_external_account(body)))
        if fate and magic is None:
            self.cause(fate, externalAccountId=account["id"])
        return account

    def active(self, account: Json) -> Json:
        """Return an external account once it can receive payments."""
        if account.get("status") not in _IN_REVIEW:
            return account
        if self.triggers.maps("external_account.approve"):
            self.cause("external_account.approve", externalAccountId=account["id"])
        return self.until(
            lambda: resource(
                self.client.call("getExternalAccount", path={"externalAccountId": account["id"]})
            ),
            lambda seen: seen.get("status") not in _IN_REVIEW,
        )

    def destination_body(self, customer: Json, name: str | None = None, **members: Any) -> Json:
        """Return a body that creates an external account of a customer.

        Args:
            customer: the owner (its ``id`` is enough).
            name: a file of ``fixtures/accounts``; that of the usual corridor by default.
            members: further members, merged into those of the file.
        """
        body = {
            "customerId": customer["id"],
            **self.samples.account(name or self.usual_corridor.account),
            "platformAccountId": self.samples.reference(),
        }
        return _bound(merged(body, members), self.profile.bindings.beneficiary)

    def pullable_account(self, customer: Json) -> Json:
        """Create an external account of a customer that money can be pulled from."""
        if not self.profile.features.pullable_sources:
            raise FeatureUndeclared("the profile does not declare features.pullable_sources")
        return self.destination(customer, self.profile.resources.pullable_account)

    def corridor(self, *, same_currency: bool) -> Corridor:
        """Return the first corridor of the profile that is (not) within one currency.

        Raises:
            ResourceMissing: the profile names none.
        """
        for corridor in self.profile.resources.corridors:
            if (corridor.sending == corridor.receiving) is same_currency:
                return corridor
        kind = "same-currency" if same_currency else "cross-currency"
        raise ResourceMissing(f"resources.corridors of the profile has no {kind} one")

    def corridors_from(self, currency: str) -> list[Corridor]:
        """Return the corridors of the profile that send a currency.

        Raises:
            ResourceMissing: the profile names none.
        """
        found = [c for c in self.profile.resources.corridors if c.sending == currency]
        if not found:
            raise ResourceMissing(f"resources.corridors of the profile has none from {currency}")
        return found

    def ends(self, corridor: Corridor, *, amount: int = 100_000) -> tuple[Json, Json]:
        """Return a funded internal account and an external account at the ends of a corridor.

        Both belong to one new customer; ``amount`` is deposited, in the smallest unit.
        """
        source = self.account(corridor.sending, amount=amount)
        return source, self.destination({"id": source["customerId"]}, corridor.account)


def _are_provisioned(accounts: list[Json]) -> bool:
    return bool(accounts) and all(account.get("status") != "PENDING" for account in accounts)


def _currency(account: Mapping[str, Any]) -> str | None:
    code = account.get("balance", {}).get("currency", {}).get("code")
    return code if isinstance(code, str) else None


def _bound(body: Json, place: str) -> Json:
    """Move the beneficiary to where the implementation reads it."""
    moved = deepcopy(body)
    beneficiary = moved["accountInfo"].pop("beneficiary", None)
    if beneficiary is None:
        return moved
    *holders, name = place.split(".")
    node = moved
    for holder in holders:
        node = node.setdefault(holder, {})
    node[name] = beneficiary
    return moved
