"""Quotes, and the payments that they become."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from conformance.contract.relations import code_of
from conformance.exchange.answer import Answer
from conformance.platform.given.amounts import USUAL, usual_amount
from conformance.platform.given.approved import ApprovedCustomers
from conformance.platform.given.external_accounts import ExternalAccounts
from conformance.platform.given.internal_accounts import InternalAccounts
from conformance.platform.given.transactions import Transactions
from conformance.platform.part import Context, Part
from conformance.platform.resource import Body, Json, Resource, arranged_resource, owner_of
from conformance.profile.resources import Corridor, TransactionLimit
from conformance.testdata.accounts import account_example
from conformance.text.paths import value_at
from conformance.verdict.decisions import (
    PreconditionFailed,
    ResourceMissing,
)

NEVER_COMPLETES = ("FAILED", "EXPIRED", "REFUND_PENDING", "REFUND_COMPLETED", "REFUND_FAILED")
"""Statuses from which no payout completes any more."""

SHARE_OF_USUAL = 2
"""How many tests pay to the usual account for each that draws among those of all corridors."""

INTERNAL = "the internal account of another customer is paid"
OF_ANOTHER = (False, False, False, False, True)
"""Whether it is, in the tests that leave it open."""

AGAIN = (False, False, False, True)
"""Whether a like quote was made before, and left to lie."""

SIDES = ("SENDING", "SENDING", "SENDING", "RECEIVING")
"""``lockedCurrencySide``, in the tests that leave it open."""

SENT = (USUAL, USUAL, 2_547)
"""The amount of a currency with cents that is sent, in the tests that leave it open: a usual one,
or one that is small and not round."""

AT_ONCE = "a payment is executed by the request that creates its quote"
IMMEDIATELY = (False, False, True)
"""Whether it is, in the tests whose payment only has to be under way."""

DESCRIBED: tuple[Body, ...] = ({}, {}, {"description": "Rent, May"})
"""The optional members of a quote, in the tests that leave it open."""

CENTS = 2
_DECIMALS = "balance.currency.decimals"
_OF_A_BANK = "_ACCOUNT"
_AMOUNTS = frozenset({"lockedCurrencySide", "lockedCurrencyAmount"})


class Quotes(Part):
    """Creates quotes between accounts, and executes them."""

    def __init__(
        self,
        context: Context,
        approved: ApprovedCustomers,
        external_accounts: ExternalAccounts,
        internal_accounts: InternalAccounts,
        transactions: Transactions,
    ) -> None:
        super().__init__(context)
        self._approved = approved
        self._external_accounts = external_accounts
        self._internal_accounts = internal_accounts
        self._transactions = transactions

    def require_pulls_abroad(self) -> None:
        """Make certain that what is pulled can go to external accounts.

        Raises:
            ResourceMissing: it goes to internal accounts alone.
        """
        if not self.pulls_abroad():
            raise ResourceMissing("what is pulled goes to internal accounts alone")

    def pulls_abroad(self) -> bool:
        """Return whether what is pulled can go to external accounts; the first one shows it."""
        if self._memory.pulls_abroad is None:
            customer = self._approved.customer()
            source = self._external_accounts.pullable(customer)
            abroad = self._external_accounts.account(customer)
            home = self._internal_accounts.account(amount=0, customer=customer)
            # Where nothing is pulled at all, it is not the destination that is refused.
            self._memory.pulls_abroad = (
                self._api.create_quote(self.body(source, abroad)).accepted
                or not self._api.create_quote(self.body(source, home)).accepted
            )
        return self._memory.pulls_abroad

    def corridor(self, *, same_currency: bool) -> Corridor:
        """Return the first corridor of the profile that is (not) within one currency.

        Raises:
            ResourceMissing: the profile names none.
        """
        for corridor in self._profile.resources.corridors:
            if (corridor.sending == corridor.receiving) is same_currency:
                return corridor
        kind = "same-currency" if same_currency else "cross-currency"
        raise ResourceMissing(f"resources.corridors of the profile has no {kind} one")

    def corridors_from(self, currency: str) -> list[Corridor]:
        """Return the corridors of the profile that send a currency.

        Raises:
            ResourceMissing: the profile names none.
        """
        found = [c for c in self._profile.resources.corridors if c.sending == currency]
        if not found:
            raise ResourceMissing(f"resources.corridors of the profile has none from {currency}")
        return found

    def conversion_from(self, currency: str) -> Corridor:
        """Return the first corridor of the profile from a currency to another one.

        Raises:
            ResourceMissing: the profile names none.
        """
        for corridor in self._profile.resources.corridors:
            if corridor.sending == currency != corridor.receiving:
                return corridor
        raise ResourceMissing(f"resources.corridors of the profile converts no {currency}")

    def corridor_to(self, account: str) -> Corridor:
        """Return the first corridor of the profile to an example of ``fixtures/accounts``.

        Raises:
            ResourceMissing: the profile names none.
        """
        for corridor in self._profile.resources.corridors:
            if corridor.account == account:
                return corridor
        raise ResourceMissing(f"resources.corridors of the profile has none to {account}")

    def ends(
        self, corridor: Corridor, *, amount: int | None = None, customer: Json | None = None
    ) -> tuple[Resource, Resource]:
        """Return a funded internal account and an external account at the ends of a corridor.

        Both belong to one customer, by default a new one; ``amount`` is deposited, in the smallest
        unit, by default enough for ten usual payments.
        """
        source = self._internal_accounts.account(corridor.sending, amount=amount, customer=customer)
        return source, self._external_accounts.account(owner_of(source), corridor.account)

    def create_and_execute(self, body: Json) -> list[Answer]:
        """Create a quote and, if it is accepted, execute it; return the answer of each step."""
        created = self._api.create_quote(body)
        if not created.accepted:
            return [created]
        return [created, self._api.execute_quote(created.body["id"])]

    def largest_transaction(self) -> TransactionLimit:
        """Return the maximum of a single transaction, as the profile gives it.

        Raises:
            ResourceMissing: it gives none.
        """
        limit = self._profile.resources.single_transaction_limit
        if limit is None:
            raise ResourceMissing("the profile gives no resources.single_transaction_limit")
        return limit

    def body(
        self,
        source: Json | None = None,
        destination: Json | None = None,
        *,
        side: str | None = None,
        amount: int | None = None,
        **members: Any,
    ) -> Body:
        """Return the body of a quote from an internal account to an account.

        Args:
            source: the internal account; by default a new customer's, with a usual deposit.
            destination: the receiving account; by default an external one of the same customer. In
                some of the tests that leave the amount open too, it is one of another corridor, or
                the internal account of another customer.
            side: ``lockedCurrencySide``; by default SENDING, and in some of the tests that leave
                the amount open too RECEIVING, where a usual deposit is certain to cover it.
            amount: ``lockedCurrencyAmount`` in the smallest unit; by default a usual one.
            members: further members of the body.
        """
        source = source or self._internal_accounts.account()
        is_open = amount is None and side is None and not members.keys() & _AMOUNTS
        if destination is None:
            destination = self._drawn(source) if is_open else None
        destination = destination or self._external_accounts.account(owner_of(source))
        if side is None:
            draws = is_open and self._covers_received(source, destination)
            side = self._samples.drawn("the side that is locked", SIDES) if draws else SIDES[0]
        if amount is None:
            amount = usual_amount(source if side == SIDES[0] else destination)
            has_cents = amount == USUAL and value_at(source, _DECIMALS) == CENTS
            if is_open and side == SIDES[0] and has_cents:
                amount = self._samples.drawn("the amount that is locked", SENT)
        return {
            "source": {"sourceType": "ACCOUNT", "accountId": source["id"]},
            "destination": {"destinationType": "ACCOUNT", "accountId": destination["id"]},
            "lockedCurrencySide": side,
            "lockedCurrencyAmount": amount,
            **self._purpose(destination),
            **(self._samples.drawn("a description", DESCRIBED) if is_open else {}),
            **members,
        }

    def _covers_received(self, source: Json, destination: Json) -> bool:
        """Return whether a usual deposit pays for a usual amount that is received.

        Of little, such as a satoshi, so many as are deposited may be worth less.
        """
        code = code_of(source.get("balance")) or source.get("currency")
        received = code_of(destination.get("balance")) or destination.get("currency")
        return code in (self._profile.usual_corridor.sending, received)

    def _drawn(self, source: Json) -> Json | None:
        """Return the account that the test draws for a payment; None for the usual one."""
        balance = source.get("balance")
        usual = self._profile.usual_corridor
        if not isinstance(balance, Mapping) or balance["currency"].get("code") != usual.sending:
            return None
        return self._either(
            INTERNAL,
            OF_ANOTHER,
            lambda: self._external_accounts.account(owner_of(source), self._drawn_bank()),
            self._of_another,
        )

    def _drawn_bank(self) -> str | None:
        """Return the example of an external account that the test draws; None for the usual one.

        It is a bank account that a corridor leads to from a usual internal account. Wallets are
        left out, as one may have to be proven first.
        """
        usual = self._profile.usual_corridor
        banks: list[str | None] = [
            corridor.account
            for corridor in self._profile.resources.corridors
            if corridor.sending == usual.sending
            and account_example(corridor.account).account_type.endswith(_OF_A_BANK)
        ]
        usually: list[str | None] = [None] * (SHARE_OF_USUAL * len(banks))
        return self._samples.drawn("the account that is paid", usually + banks)

    def _of_another(self) -> Resource | None:
        """Return the internal account of another customer; None where such are not paid."""
        account = self._internal_accounts.account(amount=0)
        if not self._memory.works.get(INTERNAL):
            body = self.body(self._internal_accounts.account(), account, side=SIDES[0])
            if not self._api.create_quote(body).accepted:
                return None
        return account

    def _purpose(self, destination: Json) -> Body:
        """Return the purpose of a payment whose destination requires one."""
        names = self._profile.bindings
        required = destination.get("currency") in names.purpose_currencies
        if not required or names.purpose_of_payment is None:
            return {}
        return {"purposeOfPayment": names.purpose_of_payment}

    def pending(
        self, source: Json | None = None, destination: Json | None = None, **members: Any
    ) -> Resource:
        """Create a quote that is not executed yet; the arguments are those of :meth:`body`.

        In some of the tests it is the second one of its ends and its amount.
        """
        return self._created(self.body(source, destination, **members))

    def _created(self, body: Body) -> Resource:
        if not body.get("immediatelyExecute") and self._samples.drawn("an earlier quote", AGAIN):
            arranged_resource(self._api.create_quote(body))
        return arranged_resource(self._api.create_quote(body))

    def realtime_body(
        self,
        customer: Json | None = None,
        destination: Json | None = None,
        *,
        currency: str | None = None,
        **members: Any,
    ) -> Body:
        """Return the body of a quote that a payment of the customer funds just in time.

        Args:
            customer: who pays; a new one by default.
            destination: the receiving account; by default an external one of the same customer.
            currency: that of the payment, by default ``resources.realtime_currency``.
            members: further members of the body.
        """
        self._require_feature("realtime_funding")
        owner = customer or self._approved.customer()
        receiver = destination or self._external_accounts.account(owner)
        paid_in = currency or self._profile.resources.realtime_currency
        received = members.get("lockedCurrencySide") == "RECEIVING"
        return {
            "source": {
                "sourceType": "REALTIME_FUNDING",
                "customerId": owner["id"],
                "currency": paid_in,
            },
            "destination": {"destinationType": "ACCOUNT", "accountId": receiver["id"]},
            "lockedCurrencySide": "SENDING",
            "lockedCurrencyAmount": usual_amount(receiver if received else {"currency": paid_in}),
            **self._purpose(receiver),
            **members,
        }

    def realtime(self, customer: Json | None = None, **members: Any) -> Resource:
        """Create a quote that is funded just in time; arguments as in :meth:`realtime_body`."""
        return arranged_resource(self._api.create_quote(self.realtime_body(customer, **members)))

    def execute(self, quote: Json | None = None) -> Resource:
        """Execute a quote (by default a new one) and return it as the execution returned it."""
        return arranged_resource(self._api.execute_quote((quote or self.pending())["id"]))

    def complete(self, quote: Json | None = None) -> Resource:
        """Execute a quote (by default a new one), wait for its payout, return it as executed."""
        executed = self.execute(quote)
        status = self._transactions.at_status(executed, "COMPLETED").get("status")
        if status != "COMPLETED":
            raise PreconditionFailed(
                f"the payout did not complete: its transaction is {status}",
                breaks=["TRX-023"] if status in NEVER_COMPLETES else [],
            )
        return executed

    def payout(
        self,
        source: Json | None = None,
        *,
        account: str | None = None,
        trigger: str | None = None,
        **members: Any,
    ) -> Resource:
        """Execute a new quote to a new external account, and return it as it was created.

        In some of the tests the request that creates it executes it.

        Args:
            source: the internal account; by default a new customer's, with a usual deposit.
            account: the external account's file of ``fixtures/accounts``; that of the usual
                corridor by default.
            trigger: a trigger that decides what becomes of the payout.
            members: further arguments of :meth:`body`.
        """
        source = source or self._internal_accounts.account()
        destination = self._external_accounts.account(owner_of(source), account, trigger=trigger)
        body = self.body(source, destination, **members)

        def executed() -> Resource:
            quote = self._created(body)
            self.execute(quote)
            return quote

        def immediate() -> Resource:
            return self._created({**body, "immediatelyExecute": True})

        return self._either(AT_ONCE, IMMEDIATELY, executed, immediate)
