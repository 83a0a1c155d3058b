"""Internal accounts with their balances."""

from __future__ import annotations

from collections.abc import Sequence

from conformance.exchange.answer import Answer
from conformance.platform.given.amounts import DEPOSITS, usual_amount
from conformance.platform.given.approved import ApprovedCustomers
from conformance.platform.given.customers import Customers, verification_status
from conformance.platform.part import Context, Part
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_resource,
    as_resource,
    fill_template,
    merged,
)
from conformance.verdict.decisions import (
    BudgetSpent,
    PreconditionFailed,
    ResourceMissing,
    TriggerFailed,
    TriggerMissing,
    TriggerRefused,
)

SHARE_OF_USUAL = 2
"""How many customers hold what the test needs alone, for each who holds a further currency."""

PARTS = (1, 1, 1, 2)
"""In how many parts the deposit of a new account arrives."""

_BECOMES = {"CLOSED": "ACC-148", "FROZEN": "ACC-154", "FAILED": "ACC-144"}
"""The requirement that an account becomes what it is brought to."""

_LISTING = "listCustomerInternalAccounts"


class InternalAccounts(Part):
    """Internal accounts: funds them, reads them, and brings them to a status."""

    def __init__(self, context: Context, approved: ApprovedCustomers, customers: Customers) -> None:
        super().__init__(context)
        self._approved = approved
        self._customers = customers

    def account(
        self,
        currency: str | None = None,
        *,
        amount: int | None = None,
        customer: Json | None = None,
    ) -> Resource:
        """Return an internal account of a customer, with ``amount`` deposited to it.

        Args:
            currency: code of the account's currency; that of the usual corridor by default.
            amount: deposit in the smallest unit, 0 for none; by default ten usual payments.
            customer: the owner; by default a new customer, who holds a further currency in some of
                the tests.
        """
        wanted = currency or self._profile.currency
        owner = (
            as_resource(customer)
            if customer
            else self._approved.customer(currencies=self._currencies_with(wanted))
        )
        # Accounts may be provisioned a while after their customer.
        accounts = self._until(lambda: self.of_customer(owner), _are_provisioned)
        if not accounts and verification_status(self._customers.read(owner)) == "APPROVED":
            # It may have been waited for briefly, as others get none until they are approved.
            accounts = self._until(
                lambda: self.of_customer(owner), _are_provisioned, "accounts of who is approved"
            )
        # Money that settles into a rule-based account does not stay there, and an embedded wallet
        # pays by signature alone.
        kept = [a for a in accounts if a.get("type") not in ("RULE_BASED", "EMBEDDED_WALLET")]
        account = next((a for a in kept if _currency(a) == wanted), None)
        if account is None and accounts:
            raise ResourceMissing(f"customers get no internal account in {wanted}")
        if account is None and not self._triggers.maps("customer.approve"):
            status = verification_status(owner)
            raise TriggerMissing(
                "customer.approve", f"{owner.id}, at {status}, has no internal account"
            )
        if account is None:
            now = verification_status(self._customers.read(owner))
            has_account = "ACC-021" if owner.get("customerType") == "BUSINESS" else "ACC-020"
            raise PreconditionFailed(
                f"{owner.id} has no internal account; it was created at "
                f"{verification_status(owner)}, and is at {now}",
                breaks=[has_account] if now == "APPROVED" else [],
            )
        # The owner may be left out of the resource of an account that was asked for by owner.
        account = account.but(customerId=owner.id)
        if amount is None:
            amount = DEPOSITS * usual_amount(account)
        if amount:
            self._deposit_in_parts(account, amount)
        return account

    def _currencies_with(self, wanted: str) -> list[str]:
        """Return the currencies of a new customer: the usual one, a wanted one, and a drawn one."""
        held = {self._profile.currency, wanted}
        resources = self._profile.resources
        others = {corridor.sending for corridor in resources.corridors}
        further = sorted(others - held - {resources.wallet_currency})
        usually = [wanted] * max(1, SHARE_OF_USUAL * len(further))
        return sorted({*held, self._samples.drawn("a further currency", usually + further)})

    def _deposit_in_parts(self, account: Json, amount: int) -> None:
        """Let a deposit arrive, in some of the tests in two parts."""
        before = shown_balances(account)
        first = max(1, amount // self._samples.drawn("a deposit in two parts", PARTS))
        self._deposit(account, first, before)
        if rest := amount - first:
            self.deposit(account, rest)

    def deposit(self, account: Json, amount: int) -> None:
        """Let a deposit of ``amount`` smallest units arrive, and wait until it can be spent."""
        self._deposit(account, amount, self.balances(account))

    def _deposit(self, account: Json, amount: int, before: tuple[int, int]) -> None:
        """Let a deposit arrive in an account, of which ``before`` are the balances until now."""
        if amount > self._profile.budget.amount:
            raise BudgetSpent(f"a deposit of {amount} is above budget.amount of the profile")
        self.settle_deposit(account, amount)
        # What was paid before may be debited meanwhile, so that it need not rise by all of it.
        seen = self._until(
            lambda: self.balances(account), lambda found: found[0] > before[0], "deposit"
        )
        if seen[0] <= before[0]:
            # Should it arrive later, the account holds more than is known of.
            self._ledger.deposits.pop(account["id"], None)
            raise PreconditionFailed(
                f"deposit.arrive: the deposit of {amount} did not arrive: balance {seen[0]}",
                breaks=["ACC-013"] if seen[0] < before[0] else [],
            )
        first = account["id"] not in self._ledger.deposits
        self._ledger.accounts[account["id"]] = as_resource(account)
        if first and self._ledger.was_quoted(account):
            # What it held before cannot be told from what those quotes brought and took.
            return
        self._ledger.deposits[account["id"]] = (
            self._ledger.deposits.get(account["id"], 0) + amount + (before[1] if first else 0)
        )

    def settle_deposit(self, account: Json, amount: int) -> None:
        """Let a deposit of ``amount`` smallest units settle, and wait for nothing.

        Where the trigger is refused, the sandbox operation of the specification is tried.
        """
        try:
            self._triggers.fire(
                "deposit.arrive",
                accountId=account["id"],
                amount=amount,
                currency=_currency(account),
            )
        except TriggerRefused:
            if not self.fund(account, amount).accepted:
                raise
            self._observe("deposits arrive by the sandbox operation, as deposit.arrive is refused")

    def announce_deposit(self, account: Json, amount: int) -> None:
        """Let a deposit of ``amount`` smallest units be on its way, which has not settled."""
        self._triggers.fire(
            "deposit.await", accountId=account["id"], amount=amount, currency=_currency(account)
        )
        expected = self._ledger.expected
        expected[account["id"]] = expected.get(account["id"], 0) + amount

    def return_deposit(self, account: Json, amount: int, *, delivered: bool = True) -> str | None:
        """Let a deposit that settled go back to its sender, and arrive there or not.

        Returns:
            the id of its transaction, where the profile's trigger tells it.
        """
        returned = self._ledger.returned
        returned[account["id"]] = returned.get(account["id"], 0) + amount
        told = self._triggers.fire(
            "deposit.return" if delivered else "deposit.return_fail",
            accountId=account["id"],
            amount=amount,
            currency=_currency(account),
        ).get("transactionId")
        return told if isinstance(told, str) else None

    def fund(self, account: Json, amount: int, currency: str | None = None) -> Answer:
        """Send ``POST /sandbox/internal-accounts/{accountId}/fund``, shaped by the bindings."""
        words = {"{amount}": amount, "{currency}": currency or _currency(account)}
        body = fill_template(self._profile.bindings.fund, words)
        return self._api.fund_internal_account(account["id"], body)

    def of_customer(self, customer: Json) -> list[Resource]:
        """Return the internal accounts of a customer."""
        rows = self._api.pages(_LISTING, {"customerId": customer["id"]})
        return [as_resource(row, customer) for row in rows]

    def of_customer_by_pages(self, customer: Json, size: int) -> list[Resource]:
        """Return the internal accounts of a customer from pages of a size, where there are such."""
        rows = self._api.by_pages(_LISTING, size, {"customerId": customer["id"]})
        return [as_resource(row, customer) for row in rows]

    def of_platform(self, currency: str | None = None) -> list[Resource]:
        """Return the internal accounts of the platform, in one currency if one is named."""
        rows = self._api.pages("listPlatformInternalAccounts", {"currency": currency})
        return [as_resource(row) for row in rows]

    def of_platform_by_pages(self, size: int, currency: str) -> list[Resource]:
        """Return the platform's internal accounts in a currency from pages of a size."""
        rows = self._api.by_pages("listPlatformInternalAccounts", size, {"currency": currency})
        return [as_resource(row) for row in rows]

    def read(self, account: Json) -> Resource:
        """Return an internal account as it is listed now, for its customer or the platform.

        Raises:
            PreconditionFailed: it is not listed any more.
        """
        owner = account.get("customerId")
        listed = self.of_customer({"id": owner}) if owner else self.of_platform()
        for seen in listed:
            if seen["id"] == account["id"]:
                return seen
        # Whether what is closed is listed is not said, and the platform has accounts in pages too.
        is_open = account.get("status") == "ACTIVE" and not self._triggers.was_fired(
            "internal_account.close", accountId=account["id"]
        )
        raise PreconditionFailed(
            f"{account['id']} is no longer listed", breaks=["ACC-168"] if owner and is_open else []
        )

    def at_status(self, account: Json, status: str) -> Resource:
        """Return an internal account once it has a status.

        After ``timing.state`` of the profile it is returned as it is then.

        Raises:
            ResourceMissing: it should be CLOSED and is not listed any more.
        """

        def now() -> Resource:
            try:
                return self.read(account)
            except PreconditionFailed as error:
                if status != "CLOSED":
                    shows = [_BECOMES[status]] if status in _BECOMES else []
                    raise PreconditionFailed(str(error), breaks=shows) from error
                raise ResourceMissing(f"closed accounts are not shown: {error}") from error

        return self._until(
            now, lambda seen: seen.get("status") == status, f"internal account {status}"
        )

    def stop(self, account: Json, status: str) -> None:
        """Let an account be closed or frozen: come to CLOSED or FROZEN.

        Raises:
            PreconditionFailed: it is at another status in the end.
            ResourceMissing: it holds money, and is not closed for that.
        """
        trigger = {"CLOSED": "internal_account.close", "FROZEN": "internal_account.freeze"}[status]
        try:
            self._triggers.fire(trigger, accountId=account["id"])
        except TriggerFailed as error:
            if status == "CLOSED" and self.balances(account)[0] > 0:
                raise ResourceMissing(f"what holds money is not closed: {error}") from error
            raise
        if status == "CLOSED":
            # What it held goes to its owner, by a way that is not told.
            self._ledger.deposits.pop(account["id"], None)
        try:
            seen = self.at_status(account, status).get("status")
        except ResourceMissing as missing:
            self._observe(str(missing))
            return
        if seen != status:
            # What holds money may be closed once that has gone to its owner.
            ends = status == "FROZEN" or self.balances(account)[0] == 0
            raise PreconditionFailed(
                f"{account['id']} is {seen} after {trigger}",
                breaks=[_BECOMES[status]] if seen == "ACTIVE" and ends else [],
            )

    def awaited(self) -> Resource:
        """Return an internal account of a new, approved customer that is not provisioned yet.

        One in the usual currency comes before others, and none is a wallet of the customer's own.

        Raises:
            PreconditionFailed: ``internal_account.await`` leaves none of its accounts PENDING.
            ResourceMissing: it leaves none but wallets so.
        """
        listed = self.all_awaited()
        pending = [account for account in listed if account.get("status") == "PENDING"]
        # From a wallet nothing goes out without the signature of the customer's device.
        held = [account for account in pending if account.get("type") != "EMBEDDED_WALLET"]
        if held:
            return min(held, key=lambda account: _currency(account) != self._profile.currency)
        if pending:
            raise ResourceMissing("of the customer's accounts none but wallets are PENDING")
        seen = {str(account.get("status")) for account in listed}
        raise PreconditionFailed(
            f"internal_account.await left the accounts at {seen}",
            # Where they are ACTIVE, the trigger may not have come in time.
            breaks=[] if seen <= {"ACTIVE"} else ["ACC-140"],
        )

    def all_awaited(self) -> list[Resource]:
        """Return the internal accounts of a new, approved customer whose provisioning waits."""
        approval = self._approved.magic_value
        body = self._customers.body(endUserTermsConsent=self._customers.terms_consent())

        def create(magic: Json) -> Resource:
            return arranged_resource(
                self._api.create_customer(merged(merged(body, approval), magic))
            )

        created = self._triggers.arrange(
            "internal_account.await", create, lambda customer: {"customerId": customer.id}
        )
        owner = self._approved.approve(created)
        listed = self._until(lambda: self.of_customer(owner), bool)
        return [account.but(customerId=owner.id) for account in listed]

    def balances(self, account: Json) -> tuple[int, int]:
        """Return ``balance`` and ``totalBalance`` of an internal account, in smallest units.

        Where no ``totalBalance`` is given, the balance stands for it.
        """
        return shown_balances(self.read(account))

    def wait_for_balance(self, account: Json, expected: int) -> int:
        """Return the ``balance`` of an account once it is ``expected``, in smallest units.

        It may be booked or shown a moment late; after ``timing.state`` of the profile it is
        returned as it is then.
        """
        return self._until(lambda: self.balances(account)[0], lambda seen: seen == expected)

    def wait_for_refund(self, account: Json, before: int, fees: int) -> int:
        """Return the ``balance`` of an account once what was taken from it is back.

        Args:
            account: the account that a failed payout left.
            before: its balance before the payout, in smallest units.
            fees: how much the refund may keep.
        """
        return self._until(
            lambda: self.balances(account)[0],
            lambda seen: before - fees <= seen <= before,
            "refund on the balance",
        )

    def wait_for_total(self, account: Json, wanted: range) -> int:
        """Return the ``totalBalance`` of an account once it is one of ``wanted``.

        The balance stands for it where it is not shown.
        """
        return self._until(
            lambda: self.balances(account)[1], lambda seen: seen in wanted, "total balance"
        )

    def balance(self, account: Json) -> int:
        """Return the ``balance`` of a customer's account in the smallest unit."""
        return self.balances(account)[0]

    def wait_for_increase(self, account: Json, before: int, *, at_least: int = 1) -> int:
        """Wait until the balance has grown by ``at_least`` smallest units; return the increase."""
        seen = self._until(
            lambda: self.balance(account), lambda balance: balance >= before + at_least
        )
        return seen - before


def _are_provisioned(accounts: Sequence[Json]) -> bool:
    return bool(accounts) and all(account.get("status") != "PENDING" for account in accounts)


def shown_balances(account: Json) -> tuple[int, int]:
    """Return ``balance`` and ``totalBalance`` that an internal account shows, in smallest units.

    Where no ``totalBalance`` is given, the balance stands for it.
    """
    total = account.get("totalBalance") or account["balance"]
    return account["balance"]["amount"], total["amount"]


def _currency(account: Json) -> str | None:
    code = account.get("balance", {}).get("currency", {}).get("code")
    return code if isinstance(code, str) else None
