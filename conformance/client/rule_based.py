"""The suite in the part of a platform whose customers have rule-based accounts."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import Any

from conformance.client.accounts import Accounts
from conformance.client.actor import Json, filled, resource
from conformance.client.examples import ABSENT
from conformance.client.http import Answer
from conformance.client.turns import turn
from conformance.verdict.decisions import FeatureUndeclared, PreconditionFailed, ResourceMissing

RULE_BASED = "RULE_BASED"
CURRENCY = "USD"
"""The only currency of rule-based accounts (Endpoints / Internal accounts, lines 348, 349)."""

_DESTINATION = "usd_account"
_WORD = "{accountId}"
_KEY = 32
_FEWEST_DIGITS = 4
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


class RuleBasedAccounts(Accounts):
    """Further account numbers, the requests that mint them, and the payments that come in."""

    def create_internal_account(
        self, body: Any, *, key: Any = None, valid: bool = True, **options: Any
    ) -> Answer:
        """Send ``POST /internal-accounts`` while no test has taken the platform's permission.

        Args:
            body: the body, for example a :meth:`rule_based_body`.
            key: the ``Idempotency-Key``; a new one by default, and ``ABSENT`` for none.
            valid: whether the body is valid by the OpenAPI document.
            options: further arguments of :meth:`RecordingClient.call`.
        """
        with self._turn(shared=True):
            return self._create(body, key, valid=valid, **options)

    @contextmanager
    def without_permission(self) -> Iterator[None]:
        """Take the platform's permission for rule-based accounts; give it back at the end.

        Until then only :meth:`create_without_permission` creates any.
        """
        with self._turn(shared=False):
            try:
                self.cause("rule_based.disable")
                yield
            finally:
                self.cause("rule_based.enable")

    def create_without_permission(self, body: Json) -> Answer:
        """Send ``POST /internal-accounts`` within :meth:`without_permission`."""
        return self._create(body, None, valid=True)

    def _create(self, body: Any, key: Any, *, valid: bool, **options: Any) -> Answer:
        sent = self.new_key(body) if key is None else key
        headers = None if sent is ABSENT else {"Idempotency-Key": sent}
        return self.client.call(
            "createInternalAccount", body=body, headers=headers, valid=valid, **options
        )

    def _turn(self, *, shared: bool) -> AbstractContextManager[None]:
        """Keep this process's turn: many may create, and one alone may take the permission."""
        folder = self.memory.folder
        return nullcontext() if folder is None else turn(folder, "rule-based", shared=shared)

    def new_key(self, subject: Any) -> str:
        """Return an ``Idempotency-Key`` that no other request and no other run has.

        ``subject`` is what the request is about; it holds an id that the target has given.
        """
        about = f"{self.samples.reference()}/{json.dumps(subject, sort_keys=True)}"
        return hashlib.sha256(about.encode()).hexdigest()[:_KEY]

    def home(self, **members: Any) -> Json:
        """Return the account in the right currency of a new individual, where funds may land."""
        currencies = sorted({self.currency, CURRENCY})
        holder = self.customer(**{"currencies": currencies, **members})
        return self.account(CURRENCY, amount=0, customer=holder)

    def payee(self, home: Json, **options: Any) -> Json:
        """Return an external account of a holder, for the sweeps to go to.

        Args:
            home: the holder's account.
            options: further arguments of :meth:`destination`.
        """
        return self.destination({"id": home["customerId"]}, _DESTINATION, **options)

    def rule_based_body(
        self,
        home: Json,
        destination: Json | None = None,
        *,
        label: str | None = None,
        **other: str | None,
    ) -> Json:
        """Return a body that creates a rule-based account, shaped by the bindings.

        Args:
            home: the holder's account in the same currency.
            destination: where deposits are swept to; a new external account by default.
            label: the label.
            other: another ``currency`` or ``customer`` (its id); ``None`` leaves it out.
        """
        if not self.profile.features.rule_based_accounts:
            raise FeatureUndeclared("the profile does not declare features.rule_based_accounts")
        words = {
            "{customerId}": other.get("customer", home["customerId"]),
            "{currency}": other.get("currency", CURRENCY),
            "{label}": label,
            _WORD: (destination or self.payee(home))["id"],
            "{holderAccountId}": home["id"],
        }
        body: Json = filled(self.profile.bindings.rule_based_account, words)
        return body

    def rule_based_account(
        self, home: Json | None = None, destination: Json | None = None, *, label: str | None = None
    ) -> Json:
        """Create a rule-based account, and return it once it is provisioned.

        Args:
            home: the holder's account in the same currency; a new customer's by default.
            destination: where deposits are swept to; a new external account by default.
            label: the label.
        """
        home = home or self.home()
        body = self.rule_based_body(home, destination, label=label)
        return self._provisioned(resource(self.create_internal_account(body)), home)

    def _provisioned(self, created: Json, home: Json) -> Json:
        """Return an account of a holder once it is listed, and not pending any more."""
        account = {**created, "customerId": home["customerId"]}
        seen = self.until(
            lambda: self.as_listed(account),
            lambda found: found is not None and found.get("status") != "PENDING",
        )
        return {**created, **(seen or {}), "customerId": home["customerId"]}

    def sweeps_to(self, kind: str) -> None:
        """Make certain that the profile lets the suite choose the destination of sweeps.

        Raises:
            ResourceMissing: it does not.
        """
        if _WORD not in json.dumps(self.profile.bindings.rule_based_account):
            raise ResourceMissing(
                f"bindings.rule_based_account of the profile has no {_WORD}, so that no {kind} "
                "can be the destination"
            )

    def sweeping_account(self, home: Json, destination: Json) -> Json:
        """Create a rule-based account that sweeps to an internal account; as above.

        Raises:
            ResourceMissing: the target takes no such destination.
        """
        self.sweeps_to("internal account")
        answer = self.create_internal_account(self.rule_based_body(home, destination))
        if not answer.accepted:
            raise ResourceMissing(f"an internal account is no destination here: {answer}")
        return self._provisioned(resource(answer), home)

    def as_listed(self, account: Json) -> Json | None:
        """Return an account as the list of its holder's shows it, or ``None``."""
        accounts = self.internal_accounts({"id": account["customerId"]})
        return next((found for found in accounts if found.get("id") == account["id"]), None)

    def rule_based_accounts(self, home: Json) -> list[Json]:
        """Return the rule-based accounts that are listed for a holder."""
        accounts = self.internal_accounts({"id": home["customerId"]})
        return [account for account in accounts if account.get("type") == RULE_BASED]

    def swept(self, account: Json, amount: int) -> int:
        """Let a payment settle into a rule-based account, and return what is left there.

        The payment may be booked a moment late, and it may be swept so soon that it never shows.
        """
        known = len(self.events(account["id"]))
        self.arrive(account, amount)
        self.until(
            lambda: any(self.balances(account)) or len(self.events(account["id"])) > known, bool
        )
        return self.balance_at(account, 0)

    def balance_of(self, account: Json) -> int:
        """Return the ``balance`` of a customer's account in the smallest unit."""
        return self.balances(account)[0]

    def gain_of(self, account: Json, before: int, *, at_least: int = 1) -> int:
        """Return by how much a balance has grown, once it has by so much at least."""
        seen = self.until(
            lambda: self.balance_of(account), lambda balance: balance >= before + at_least
        )
        return seen - before


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
        if name not in _NO_NUMBERS and sum(map(str.isdigit, str(value))) >= _FEWEST_DIGITS
    ]
