"""The suite in the part of a platform that opens and funds accounts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.client.actor import Json, filled, members, merged, resource
from conformance.client.external_states import ExternalStates
from conformance.client.http import Answer
from conformance.client.onboarding import standing
from conformance.target.profile import Corridor
from conformance.verdict.decisions import (
    BudgetSpent,
    PreconditionFailed,
    ResourceMissing,
    TriggerFailed,
    TriggerMissing,
)

_ENDS = ("source", "destination")


class Accounts(ExternalStates):
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
        # Money that settles into a rule-based account does not stay there, and an embedded wallet
        # pays by signature alone.
        kept = [a for a in accounts if a.get("type") not in ("RULE_BASED", "EMBEDDED_WALLET")]
        account = next((a for a in kept if _currency(a) == wanted), None)
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
        self.arrive(account, amount)
        # What was paid before may be debited meanwhile, so that it need not rise by all of it.
        seen = self.until(lambda: self.balances(account), lambda found: found[0] > before[0])
        if seen[0] <= before[0]:
            # Should it arrive later, the account holds more than is known of.
            self.movement.deposits.pop(account["id"], None)
            raise PreconditionFailed(f"the deposit of {amount} did not arrive: balance {seen[0]}")
        first = account["id"] not in self.movement.deposits
        self.movement.accounts[account["id"]] = account
        if first and self._was_quoted(account):
            # What it held before cannot be told from what those quotes brought and took.
            return
        self.movement.deposits[account["id"]] = (
            self.movement.deposits.get(account["id"], 0) + amount + (before[1] if first else 0)
        )

    def arrive(self, account: Json, amount: int) -> None:
        """Let a deposit of ``amount`` smallest units settle, and wait for nothing."""
        self.cause(
            "deposit.arrive", accountId=account["id"], amount=amount, currency=_currency(account)
        )

    def expect_deposit(self, account: Json, amount: int) -> None:
        """Let a deposit of ``amount`` smallest units be on its way, which has not settled."""
        self.cause(
            "deposit.await", accountId=account["id"], amount=amount, currency=_currency(account)
        )
        expected = self.movement.expected
        expected[account["id"]] = expected.get(account["id"], 0) + amount

    def return_deposit(self, account: Json, amount: int, *, delivered: bool = True) -> str | None:
        """Let a deposit that settled go back to its sender, and arrive there or not.

        Returns:
            the id of its transaction, where the profile's trigger tells it.
        """
        returned = self.movement.returned
        returned[account["id"]] = returned.get(account["id"], 0) + amount
        told = self.cause(
            "deposit.return" if delivered else "deposit.return_fail",
            accountId=account["id"],
            amount=amount,
            currency=_currency(account),
        ).get("transactionId")
        return told if isinstance(told, str) else None

    def _was_quoted(self, account: Json) -> bool:
        ends = (quote.get(end) or {} for quote in self.movement.quotes.values() for end in _ENDS)
        return any(end.get("accountId") == account["id"] for end in ends)

    def list_internal_accounts(self, customer: Json) -> Answer:
        """Send ``GET /customers/internal-accounts`` for a customer (its ``id`` is enough)."""
        return self.client.call(
            "listCustomerInternalAccounts", query={"customerId": customer["id"]}
        )

    def list_platform_accounts(self, currency: str | None = None) -> Answer:
        """Send ``GET /platform/internal-accounts``, for one currency if one is named."""
        query = {} if currency is None else {"currency": currency}
        return self.client.call("listPlatformInternalAccounts", query=query)

    def fund(self, account: Json, amount: int, currency: str | None = None) -> Answer:
        """Send ``POST /sandbox/internal-accounts/{accountId}/fund``, shaped by the bindings."""
        words = {"{amount}": amount, "{currency}": currency or _currency(account)}
        body = filled(self.profile.bindings.fund, words)
        return self.client.call("fundInternalAccount", path={"accountId": account["id"]}, body=body)

    def internal_accounts(self, customer: Json) -> list[Json]:
        """Return the internal accounts of a customer."""
        return members(self.arranged(self.list_internal_accounts(customer)))

    def platform_accounts(self, currency: str | None = None) -> list[Json]:
        """Return the internal accounts of the platform, in one currency if one is named."""
        return members(self.arranged(self.list_platform_accounts(currency)))

    def account_now(self, account: Json) -> Json:
        """Return an internal account as it is listed now, for its customer or the platform.

        Raises:
            PreconditionFailed: it is not listed any more.
        """
        owner = account.get("customerId")
        listed = self.internal_accounts({"id": owner}) if owner else self.platform_accounts()
        for seen in listed:
            if seen["id"] == account["id"]:
                return seen
        raise PreconditionFailed(f"{account['id']} is no longer listed")

    def account_in(self, account: Json, status: str) -> Json:
        """Return an internal account once it has a status.

        After ``timing.state`` of the profile it is returned as it is then.

        Raises:
            ResourceMissing: it should be CLOSED and is not listed any more.
        """

        def now() -> Json:
            try:
                return self.account_now(account)
            except PreconditionFailed as error:
                if status != "CLOSED":
                    raise
                raise ResourceMissing(f"closed accounts are not shown: {error}") from error

        return self.until(now, lambda seen: seen.get("status") == status)

    def stop(self, account: Json, status: str) -> None:
        """Let an account be closed or frozen: come to CLOSED or FROZEN.

        Raises:
            PreconditionFailed: it is at another status in the end.
            ResourceMissing: it holds money, and is not closed for that.
        """
        trigger = {"CLOSED": "internal_account.close", "FROZEN": "internal_account.freeze"}[status]
        try:
            self.cause(trigger, accountId=account["id"])
        except TriggerFailed as error:
            if status == "CLOSED" and self.balances(account)[0] > 0:
                raise ResourceMissing(f"what holds money is not closed: {error}") from error
            raise
        if status == "CLOSED":
            # What it held goes to its owner, by a way that is not told.
            self.movement.deposits.pop(account["id"], None)
        try:
            seen = self.account_in(account, status).get("status")
        except ResourceMissing as missing:
            self.observe(str(missing))
            return
        if seen != status:
            raise PreconditionFailed(f"{account['id']} is {seen} after {trigger}")

    def awaited_account(self) -> Json:
        """Return an internal account of a new, approved customer that is not provisioned yet.

        One in the usual currency comes before others, and none is a wallet of the customer's own.

        Raises:
            PreconditionFailed: ``internal_account.await`` leaves none of its accounts PENDING.
            ResourceMissing: it leaves none but wallets so.
        """
        listed = self.awaited_accounts()
        pending = [account for account in listed if account.get("status") == "PENDING"]
        # From a wallet nothing goes out without the signature of the customer's device.
        held = [account for account in pending if account.get("type") != "EMBEDDED_WALLET"]
        if held:
            return min(held, key=lambda account: _currency(account) != self.currency)
        if pending:
            raise ResourceMissing("of the customer's accounts none but wallets are PENDING")
        seen = [account.get("status") for account in listed]
        raise PreconditionFailed(f"internal_account.await left the accounts at {seen}")

    def awaited_accounts(self) -> list[Json]:
        """Return the internal accounts of a new, approved customer whose provisioning waits."""
        magic = self.triggers.magic("internal_account.await")
        approvable = self.triggers.maps("customer.approve")
        approval = self.triggers.magic("customer.approve") if approvable else None
        body = self.customer_body(endUserTermsConsent=self.terms_consent())
        owner = resource(self.create_customer(merged(merged(body, approval or {}), magic or {})))
        if magic is None:
            self.cause("internal_account.await", customerId=owner["id"])
        owner = self.approved(owner)
        listed = self.until(lambda: self.internal_accounts(owner), bool)
        return [{**account, "customerId": owner["id"]} for account in listed]

    def balances(self, account: Json) -> tuple[int, int]:
        """Return ``balance`` and ``totalBalance`` of an internal account, in smallest units.

        Where no ``totalBalance`` is given, the balance stands for it.
        """
        seen = self.account_now(account)
        total = seen.get("totalBalance") or seen["balance"]
        return seen["balance"]["amount"], total["amount"]

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

    def corridor_to(self, account: str) -> Corridor:
        """Return the first corridor of the profile to an example of ``fixtures/accounts``.

        Raises:
            ResourceMissing: the profile names none.
        """
        for corridor in self.profile.resources.corridors:
            if corridor.account == account:
                return corridor
        raise ResourceMissing(f"resources.corridors of the profile has none to {account}")

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
