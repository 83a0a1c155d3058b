"""Rule-based accounts: further account numbers, and the payments that come in by them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any, Unpack

from conformance.exchange.answer import Answer
from conformance.platform.given.approved import ApprovedCustomers
from conformance.platform.given.external_accounts import ExternalAccounts
from conformance.platform.given.internal_accounts import InternalAccounts
from conformance.platform.operations import OptionsBesideHeaders
from conformance.platform.part import Context, Part
from conformance.platform.resource import (
    Body,
    Json,
    Resource,
    arranged_resource,
    as_resource,
    fill_template,
    owner_of,
)
from conformance.platform.turns import turn
from conformance.testdata.examples import ABSENT
from conformance.verdict.decisions import (
    PreconditionFailed,
    ResourceMissing,
)

RULE_BASED = "RULE_BASED"
CURRENCY = "USD"
"""The only currency of rule-based accounts (Endpoints / Internal accounts, lines 348, 349)."""

_DESTINATION = "usd_account"
_WORD = "{accountId}"
_LABEL = "{label}"
MIN_DIGITS = 4
_NO_NUMBERS = frozenset(
    {
        "accountType",
        "reference",
        "routingNumber",
        "accountHolderName",
        "accountCategory",
        "bankName",
        "assetType",
    }
)
"""What tells no account from another, although it may hold digits."""


class RuleBasedAccounts(Part):
    """Creates rule-based accounts, and lets payments sweep through them."""

    def __init__(
        self,
        context: Context,
        approved: ApprovedCustomers,
        external_accounts: ExternalAccounts,
        internal_accounts: InternalAccounts,
    ) -> None:
        super().__init__(context)
        self._approved = approved
        self._external_accounts = external_accounts
        self._internal_accounts = internal_accounts

    def create(
        self, body: Any, *, key: Any = None, **options: Unpack[OptionsBesideHeaders]
    ) -> Answer:
        """Send ``POST /internal-accounts`` while no test has taken the platform's permission.

        Args:
            body: the body, for example a :meth:`body`.
            key: the ``Idempotency-Key``; a new one by default, and ``ABSENT`` for none.
            options: as in :class:`OptionsBesideHeaders`.
        """
        with self._turn(shared=True):
            return self._create(body, key, **options)

    @contextmanager
    def without_permission(self) -> Iterator[None]:
        """Take the platform's permission for rule-based accounts; give it back at the end.

        Until then only :meth:`create_without_permission` creates any.
        """
        # Whoever waits for a turn of all tests may hold no other one, for which these would wait.
        self._triggers.turn.stay_alone()
        with self._turn(shared=False):
            try:
                self._triggers.fire("rule_based.disable")
                yield
            finally:
                self._triggers.fire("rule_based.enable")

    def create_without_permission(self, body: Json) -> Answer:
        """Send ``POST /internal-accounts`` within :meth:`without_permission`."""
        return self._create(body, None)

    def _create(self, body: Any, key: Any, **options: Unpack[OptionsBesideHeaders]) -> Answer:
        sent = self._samples.idempotency_key(body) if key is None else key
        headers = None if sent is ABSENT else {"Idempotency-Key": sent}
        return self._api.create_internal_account(body, headers=headers, **options)

    def _turn(self, *, shared: bool) -> AbstractContextManager[None]:
        """Keep this process's turn: many may create, and one alone may take the permission."""
        folder = self._memory.folder
        return nullcontext() if folder is None else turn(folder, "rule-based", shared=shared)

    def holder_account(self, **members: Any) -> Resource:
        """Return the account in the right currency of a new individual, where funds may land."""
        currencies = sorted({self._profile.currency, CURRENCY})
        holder = self._approved.individual(**{"currencies": currencies, **members})
        return self._internal_accounts.account(CURRENCY, amount=0, customer=holder)

    def sweep_destination(self, internal_account: Json) -> Resource:
        """Return an account that the sweeps of a holder can go to.

        It is a new external account of the holder, or the holder's own internal one where sweeps go
        to internal accounts alone.
        """
        if not self._sweeps_abroad():
            return as_resource(internal_account, owner_of(internal_account))
        return self._external_destination(internal_account)

    def two_destinations(self, internal_account: Json) -> list[Resource]:
        """Return two accounts that the sweeps of a holder may go to.

        They are external ones, or where sweeps go to internal accounts alone, the holder's own and
        that of another customer.

        Raises:
            ResourceMissing: the profile leaves no choice.
        """
        self.require_choice_of_destination("account")
        if self._sweeps_abroad():
            return [self._external_destination(internal_account) for _ in range(2)]
        return [self.sweep_destination(internal_account), self.holder_account()]

    def external_destination(self, internal_account: Json, **options: Any) -> Resource:
        """Return an external account of a holder, for the sweeps to go to.

        Args:
            internal_account: the holder's account.
            options: further arguments of :meth:`ExternalAccounts.account`.

        Raises:
            ResourceMissing: as of :meth:`require_external_destination`.
        """
        self.require_external_destination()
        return self._external_destination(internal_account, **options)

    def require_external_destination(self) -> None:
        """Make certain that sweeps can go to external accounts.

        Raises:
            ResourceMissing: they go to internal accounts alone, or the profile leaves no choice.
        """
        self.require_choice_of_destination("external account")
        if not self._sweeps_abroad():
            raise ResourceMissing("sweeps go to internal accounts alone")

    def _external_destination(self, internal_account: Json, **options: Any) -> Resource:
        return self._external_accounts.account(owner_of(internal_account), _DESTINATION, **options)

    def _sweeps_abroad(self) -> bool:
        """Return whether an external account can be a destination; the first one shows it."""
        if not self._destination_is_chosen():
            return False
        if self._memory.sweeps_abroad is None:
            home = self.holder_account()
            abroad = self.create(self.body(home, self._external_destination(home)))
            # Where no destination is taken, it is not the destination that is refused.
            self._memory.sweeps_abroad = (
                abroad.accepted or not self.create(self.body(home, home)).accepted
            )
        return self._memory.sweeps_abroad

    def _destination_is_chosen(self) -> bool:
        return _WORD in json.dumps(self._profile.bindings.rule_based_account)

    def body(
        self,
        internal_account: Json,
        destination: Json | None = None,
        *,
        label: str | None = None,
        **other: str | None,
    ) -> Body:
        """Return a body that creates a rule-based account, shaped by the bindings.

        Args:
            internal_account: the holder's account in the same currency.
            destination: where deposits are swept to; a :meth:`sweep_destination` by default.
            label: the label.
            other: another ``currency`` or ``customer`` (its id); ``None`` leaves it out.

        Raises:
            ResourceMissing: the bindings leave no place for a label.
        """
        self._require_feature("rule_based_accounts")
        template = self._profile.bindings.rule_based_account
        if label is not None and _LABEL not in json.dumps(template):
            raise ResourceMissing(f"bindings.rule_based_account of the profile holds no {_LABEL}")
        words = {
            "{customerId}": other.get("customer", internal_account["customerId"]),
            "{currency}": other.get("currency", CURRENCY),
            _LABEL: label,
            _WORD: (destination or self.sweep_destination(internal_account))["id"],
            "{holderAccountId}": internal_account["id"],
        }
        body: Body = fill_template(template, words)
        return body

    def account(
        self,
        internal_account: Json | None = None,
        destination: Json | None = None,
        *,
        label: str | None = None,
    ) -> Resource:
        """Create a rule-based account, and return it once it is provisioned.

        Args:
            internal_account: the holder's in the same currency; a new customer's by default.
            destination: where deposits are swept to; a :meth:`sweep_destination` by default.
            label: the label.
        """
        internal_account = internal_account or self.holder_account()
        body = self.body(internal_account, destination, label=label)
        return self._provisioned(arranged_resource(self.create(body)), internal_account)

    def provided(self, created: Json, internal_account: Json) -> Resource:
        """Return an account of a holder once it has a number, which a pending one may lack."""
        account = as_resource(created, owner_of(internal_account))
        pending = account.get("status") == "PENDING"
        return self._provisioned(account, internal_account) if pending else account

    def _provisioned(self, created: Resource, internal_account: Json) -> Resource:
        """Return an account of a holder once it is listed, and not pending any more."""
        holder = owner_of(internal_account)
        account = created.but(customerId=holder.id)
        seen = self._until(
            lambda: self.as_listed(account),
            lambda found: found is not None and found.get("status") != "PENDING",
        )
        return Resource({**created, **(seen or {}), "customerId": holder.id}, holder)

    def require_choice_of_destination(self, kind: str) -> None:
        """Make certain that the profile lets the suite choose the destination of sweeps.

        Raises:
            ResourceMissing: it does not.
        """
        if not self._destination_is_chosen():
            raise ResourceMissing(
                f"bindings.rule_based_account of the profile has no {_WORD}, so that no {kind} "
                "can be the destination"
            )

    def account_sweeping_to(self, internal_account: Json, destination: Json) -> Resource:
        """Create a rule-based account that sweeps to an internal account; as :meth:`account`.

        Raises:
            ResourceMissing: the target takes no such destination.
        """
        self.require_choice_of_destination("internal account")
        answer = self.create(self.body(internal_account, destination))
        if not answer.accepted:
            raise ResourceMissing(f"an internal account is no destination here: {answer}")
        return self._provisioned(arranged_resource(answer), internal_account)

    def as_listed(self, account: Json) -> Resource | None:
        """Return an account as the list of its holder's shows it, or ``None``."""
        accounts = self._internal_accounts.of_customer(owner_of(account))
        return next((found for found in accounts if found.get("id") == account["id"]), None)

    def of_holder(self, internal_account: Json) -> list[Resource]:
        """Return the rule-based accounts that are listed for a holder."""
        accounts = self._internal_accounts.of_customer(owner_of(internal_account))
        return [account for account in accounts if account.get("type") == RULE_BASED]

    def sweep(self, account: Json, amount: int) -> int:
        """Let a payment settle into a rule-based account, and return what is left there.

        The payment may be booked a moment late, and it may be swept so soon that it never shows.
        """
        known = len(self._webhooks.about(account["id"]))
        self._internal_accounts.settle_deposit(account, amount)
        self._until(
            lambda: (
                any(self._internal_accounts.balances(account))
                or len(self._webhooks.about(account["id"])) > known
            ),
            bool,
        )
        return self._internal_accounts.wait_for_balance(account, 0)


def numbers(account: Json) -> list[str]:
    """Return the numbers by which an account can be paid into.

    Which members go with which kind of instruction is not shown, so that a number may have
    another name than ``accountNumber``.

    Raises:
        PreconditionFailed: the instructions are no list.
    """
    entries = account.get("fundingPaymentInstructions") or []
    if not isinstance(entries, list):
        raise PreconditionFailed(f"fundingPaymentInstructions are no list: {entries!r}")
    infos = [entry.get("accountOrWalletInfo") or {} for entry in entries]
    return [
        str(value)
        for info in infos
        for name, value in info.items()
        if name not in _NO_NUMBERS and sum(map(str.isdigit, str(value))) >= MIN_DIGITS
    ]
