"""The suite in the part of a platform that opens and funds accounts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.client.actor import Json, members
from conformance.client.destinations import Destinations
from conformance.client.onboarding import standing
from conformance.target.profile import Corridor
from conformance.verdict.decisions import (
    BudgetSpent,
    PreconditionFailed,
    ResourceMissing,
    TriggerMissing,
)

_ENDS = ("source", "destination")


class Accounts(Destinations):
    """Internal accounts with their balances, and the corridors between accounts."""

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
