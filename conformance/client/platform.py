"""The suite in the part of a platform: verbs send a request, nouns arrange a resource."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

from conformance.client.http import Answer, RecordingClient
from conformance.client.listener import Delivery, Inbox
from conformance.client.samples import Samples
from conformance.target.profile import Corridor, Profile
from conformance.target.triggers import Triggers
from conformance.verdict.decisions import (
    BudgetSpent,
    FeatureUndeclared,
    PreconditionFailed,
    ResourceMissing,
)

Json = dict[str, Any]
T = TypeVar("T")

FAILED = ("FAILED", "REFUND_PENDING", "REFUND_COMPLETED", "REFUND_FAILED", "REFUNDED")
"""What the transaction of a failed payout may say: that it failed, or how its refund stands."""

_CONSENT_GIVEN = "2026-01-15T09:00:00Z"
_MOST_CHALLENGES = 5
_MOST_PAGES = 50
_PAGE = 100
_LONGEST_PAUSE = 1.0
_CLOCK_SKEW = timedelta(seconds=2)
_IN_REVIEW = ("PENDING", "UNDER_REVIEW")


@dataclass
class Movement:
    """What a test did to the internal accounts that it funded: the input of the audit.

    ``deposits`` holds by account id what was deposited; ``quotes`` the accepted quotes.
    """

    deposits: dict[str, int] = field(default_factory=dict)
    accounts: dict[str, Json] = field(default_factory=dict)
    quotes: dict[str, Json] = field(default_factory=dict)


class Platform:
    """Acts on the target as a platform would.

    Verbs (``execute``, ``create_quote``) return the :class:`Answer`, whatever it is. Nouns
    (``customer``, ``account``, ``quote``) return the resource, and raise
    :class:`PreconditionFailed` where the target refuses it.
    """

    def __init__(
        self,
        client: RecordingClient,
        triggers: Triggers,
        inbox: Inbox,
        profile: Profile,
        samples: Samples,
    ) -> None:
        self.client = client
        self.profile = profile
        self.samples = samples
        self.movement = Movement()
        self.observe: Callable[[str], None] = lambda _: None
        """Notes for the report which of several honest answers was seen."""
        self._triggers = triggers
        self._inbox = inbox

    @property
    def currency(self) -> str:
        """The currency of the first corridor, which is that of whatever needs no other."""
        return self.profile.resources.corridors[0].sending

    # Verbs

    def create_quote(self, body: Json, *, valid: bool = True) -> Answer:
        """Send ``POST /quotes``."""
        answer = self.client.call("createQuote", body=body, valid=valid)
        if answer.accepted and isinstance(answer.body, dict) and "id" in answer.body:
            self.movement.quotes[answer.body["id"]] = answer.body
        return answer

    def execute(self, quote: Json) -> Answer:
        """Send ``POST /quotes/{quoteId}/execute``."""
        return self.client.call("executeQuote", path={"quoteId": quote["id"]})

    def authorize(self, quote: Json, proof: Json | None = None, *, valid: bool = True) -> Answer:
        """Send ``POST /quotes/{quoteId}/authorize``, with the sandbox's right code by default."""
        body = {"code": self.profile.bindings.sca_code} if proof is None else proof
        return self.client.call(
            "authorizeQuote", path={"quoteId": quote["id"]}, body=body, valid=valid
        )

    def authorize_fully(self, quote: Json) -> Answer:
        """Bring proof after proof until none is asked for any more; return the last answer."""
        answer = self.authorize(quote)
        for _ in range(_MOST_CHALLENGES):
            if not answer.accepted or answer.body.get("status") != "PENDING_AUTHORIZATION":
                break
            answer = self.authorize(quote)
        return answer

    def list_transactions(self, *, valid: bool = True, **filters: Any) -> Answer:
        """Send ``GET /transactions`` with ``filters`` as its query."""
        return self.client.call("listTransactions", query=filters, valid=valid)

    def approve(self, transaction_id: str) -> Answer:
        """Send ``POST /transactions/{transactionId}/approve``."""
        return self.client.call("approveTransaction", path={"transactionId": transaction_id})

    def transfer_in(self, source: Json, destination: Json, amount: int) -> Answer:
        """Send the deprecated ``POST /transfer-in``, whose shape is not shown."""
        return self.client.call("transferIn", body=_transfer(source, destination, amount))

    def transfer_out(self, source: Json, destination: Json, amount: int) -> Answer:
        """Send the deprecated ``POST /transfer-out``, whose shape is not shown."""
        return self.client.call("transferOut", body=_transfer(source, destination, amount))

    def create_customer(self, body: Json, *, valid: bool = True) -> Answer:
        """Send ``POST /customers``."""
        return self.client.call("createCustomer", body=body, valid=valid)

    def update_customer(self, customer: Json, body: Json, *, valid: bool = True) -> Answer:
        """Send ``PATCH /customers/{customerId}``."""
        return self.client.call(
            "updateCustomer", path={"customerId": customer["id"]}, body=body, valid=valid
        )

    def create_external_account(self, body: Json, *, valid: bool = True) -> Answer:
        """Send ``POST /customers/external-accounts``."""
        return self.client.call("createExternalAccount", body=body, valid=valid)

    def transfer(self, body: Json) -> list[Answer]:
        """Create a quote and, if it is accepted, execute it; return the answer of each step."""
        created = self.create_quote(body)
        return [created, self.execute(created.body)] if created.accepted else [created]

    def at_once(self, *actions: Callable[[], T]) -> list[T]:
        """Run all actions at the same time, each in a thread of its own."""
        with ThreadPoolExecutor(len(actions)) as pool:
            return [future.result() for future in [pool.submit(action) for action in actions]]

    # Causes

    def cause(self, trigger: str, **parameters: Any) -> Json:
        """Cause ``trigger`` by the profile's way; return its results.

        Raises:
            TriggerMissing: the profile does not map it.
        """
        return self._triggers.fire(trigger, **parameters)

    # Nouns

    def terms_consent(self) -> Json:
        """Return an ``endUserTermsConsent`` to the current terms, shaped by the bindings."""
        terms = self._arranged(self.client.call("getEndUserTerms"))
        words = {
            "{now}": _CONSENT_GIVEN,
            "{version}": terms.get(self.profile.bindings.terms_version),
        }
        consent = self.profile.bindings.terms_consent
        return {k: words.get(v, v) if isinstance(v, str) else v for k, v in consent.items()}

    def customer_body(self, **members: Any) -> Json:
        """Return a body that creates an individual customer who may move money.

        ``members`` replace the usual ones; ``None`` leaves a member out.
        """
        body = {
            "customerType": "INDIVIDUAL",
            "platformCustomerId": self.samples.reference(),
            "region": "US",
            "currencies": [self.currency],
            "fullName": self.samples.full_name(),
            "birthDate": "1985-03-14",
            "nationality": "US",
            "email": f"{self.samples.reference()}@example.com",
            "phoneNumber": f"+1415555{self.samples.digits(4)}",
            "idType": "SSN",
            "identifier": self.samples.social_security_number(),
            "address": {
                "line1": "500 Market Street",
                "city": "San Francisco",
                "state": "CA",
                "postalCode": "94105",
                "country": "US",
            },
            **self.profile.bindings.customer,
            **members,
        }
        return {name: value for name, value in body.items() if value is not None}

    def customer(self, *, consent: bool = True, **members: Any) -> Json:
        """Create an individual customer who may move money.

        Args:
            consent: whether the acceptance of the end-user terms is put on file.
            members: customer fields that differ from the usual ones.
        """
        if consent:
            members.setdefault("endUserTermsConsent", self.terms_consent())
        customer = resource(self.create_customer(self.customer_body(**members)))
        status = customer.get("kycStatus") or customer.get("kybStatus")
        if status != "APPROVED" and self._triggers.maps("customer.approve"):
            self.cause("customer.approve", customerId=customer["id"])
            self.until(
                lambda: self._arranged(
                    self.client.call("getCustomer", path={"customerId": customer["id"]})
                ),
                lambda seen: (seen.get("kycStatus") or seen.get("kybStatus")) == "APPROVED",
            )
        return customer

    def changed(self, customer: Json, **members: Any) -> Json:
        """Change members of a customer and return it."""
        return resource(self.update_customer(customer, members))

    def business(self, **members: Any) -> Json:
        """Create a business customer who may move money."""
        person = ("fullName", "birthDate", "nationality", "idType", "identifier")
        return self.customer(
            **{
                **dict.fromkeys(person),
                "customerType": "BUSINESS",
                "businessInfo": {
                    "legalName": f"{self.samples.full_name()} Trading LLC",
                    "country": "US",
                    "taxId": f"12-3{self.samples.digits(6)}",
                    "incorporatedOn": "2014-06-02",
                    "registrationNumber": self.samples.digits(9),
                },
                **members,
            }
        )

    def sca_customer(self, **members: Any) -> Json:
        """Create a customer of a region where money movement needs strong authentication."""
        if not self.profile.features.sca:
            raise FeatureUndeclared("the profile does not declare features.sca")
        region = self.profile.bindings.sca_region
        return self.customer(
            **{
                "region": region,
                "nationality": region,
                "idType": None,
                "identifier": None,
                "phoneNumber": f"+4915123{self.samples.digits(6)}",
                "address": {
                    "line1": "Am Markt 3",
                    "city": "Berlin",
                    "postalCode": "10115",
                    "country": region,
                },
                **members,
            }
        )

    def account(
        self, currency: str | None = None, *, amount: int = 100_000, customer: Json | None = None
    ) -> Json:
        """Return an internal account of a customer, with ``amount`` deposited to it.

        Args:
            currency: code of the account's currency; that of the first corridor by default.
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
        if account is None:
            raise PreconditionFailed(
                f"{owner['id']} has no internal account; it is at "
                f"{owner.get('kycStatus') or owner.get('kybStatus')}, and the profile maps "
                f"customer.approve{'' if self._triggers.maps('customer.approve') else ' not'}"
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
        self.movement.deposits[account["id"]] = (
            self.movement.deposits.get(account["id"], 0) + amount + (before[1] if first else 0)
        )

    def internal_accounts(self, customer: Json) -> list[Json]:
        """Return the internal accounts of a customer."""
        answer = self.client.call(
            "listCustomerInternalAccounts", query={"customerId": customer["id"]}
        )
        return members(self._arranged(answer))

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
        self, customer: Json, name: str = "usd_account", *, fate: str | None = None
    ) -> Json:
        """Create an external account of a customer.

        Args:
            customer: the owner (its ``id`` is enough).
            name: a file of ``fixtures/accounts``.
            fate: a trigger that decides what becomes of payouts to the account.
        """
        magic = self._triggers.magic(fate) if fate else None
        body = self.destination_body(customer, name, **(magic or {}))
        account = self._active(resource(self.create_external_account(body)))
        if fate and magic is None:
            self.cause(fate, externalAccountId=account["id"])
        return account

    def _active(self, account: Json) -> Json:
        """Return an external account once it can receive payments."""
        if account.get("status") not in _IN_REVIEW:
            return account
        if self._triggers.maps("external_account.approve"):
            self.cause("external_account.approve", externalAccountId=account["id"])
        return self.until(
            lambda: resource(
                self.client.call("getExternalAccount", path={"externalAccountId": account["id"]})
            ),
            lambda seen: seen.get("status") not in _IN_REVIEW,
        )

    def destination_body(self, customer: Json, name: str = "usd_account", **members: Any) -> Json:
        """Return a body that creates an external account of a customer.

        Args:
            customer: the owner (its ``id`` is enough).
            name: a file of ``fixtures/accounts``.
            members: further members, merged into those of the file.
        """
        body = {
            "customerId": customer["id"],
            **self.samples.account(name),
            "platformAccountId": self.samples.reference(),
        }
        return _bound(_merged(body, members), self.profile.bindings.beneficiary)

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

    def ends(self, corridor: Corridor, *, amount: int = 100_000) -> tuple[Json, Json]:
        """Return a funded internal account and an external account at the ends of a corridor.

        Both belong to one new customer; ``amount`` is deposited, in the smallest unit.
        """
        source = self.account(corridor.sending, amount=amount)
        return source, self.destination({"id": source["customerId"]}, corridor.account)

    def quote_body(
        self,
        source: Json | None = None,
        destination: Json | None = None,
        *,
        side: str = "SENDING",
        amount: int = 10_000,
        **members: Any,
    ) -> Json:
        """Return the body of a quote from an internal account to an account.

        Args:
            source: the internal account; by default a new customer's, with 100 000 deposited.
            destination: the receiving account; by default an external one of the same customer.
            side: ``lockedCurrencySide``.
            amount: ``lockedCurrencyAmount`` in the smallest unit.
            members: further members of the body.
        """
        source = source or self.account()
        destination = destination or self.destination({"id": source["customerId"]})
        return {
            "source": {"sourceType": "ACCOUNT", "accountId": source["id"]},
            "destination": {"destinationType": "ACCOUNT", "accountId": destination["id"]},
            "lockedCurrencySide": side,
            "lockedCurrencyAmount": amount,
            **members,
        }

    def quote(
        self, source: Json | None = None, destination: Json | None = None, **members: Any
    ) -> Json:
        """Create a quote; the arguments are those of :meth:`quote_body`."""
        return resource(self.create_quote(self.quote_body(source, destination, **members)))

    def realtime_quote_body(
        self, customer: Json | None = None, *, currency: str | None = None, **members: Any
    ) -> Json:
        """Return the body of a quote that a payment of the customer funds just in time.

        ``currency`` is that of the payment, by default ``resources.realtime_currency``.
        """
        if not self.profile.features.realtime_funding:
            raise FeatureUndeclared("the profile does not declare features.realtime_funding")
        owner = customer or self.customer()
        return {
            "source": {
                "sourceType": "REALTIME_FUNDING",
                "customerId": owner["id"],
                "currency": currency or self.profile.resources.realtime_currency,
            },
            "destination": {
                "destinationType": "ACCOUNT",
                "accountId": self.destination(owner)["id"],
            },
            "lockedCurrencySide": "SENDING",
            "lockedCurrencyAmount": 10_000,
            **members,
        }

    def realtime_quote(self, customer: Json | None = None, **members: Any) -> Json:
        """Create a quote that is funded just in time."""
        return resource(self.create_quote(self.realtime_quote_body(customer, **members)))

    def executed(self, quote: Json | None = None) -> Json:
        """Execute a quote (by default a new one) and return it as the execution returned it."""
        return resource(self.execute(quote or self.quote()))

    def completed(self, quote: Json | None = None) -> Json:
        """Execute a quote (by default a new one), wait for its payout, return it as executed."""
        executed = self.executed(quote)
        status = self.transaction_in(executed, "COMPLETED").get("status")
        if status != "COMPLETED":
            raise PreconditionFailed(f"the payout did not complete: its transaction is {status}")
        return executed

    def payout(
        self,
        source: Json | None = None,
        *,
        account: str = "usd_account",
        fate: str | None = None,
        **members: Any,
    ) -> Json:
        """Execute a new quote to a new external account, and return it as it was created.

        Args:
            source: the internal account; by default a new customer's, with 100 000 deposited.
            account: the external account's file of ``fixtures/accounts``.
            fate: a trigger that decides what becomes of the payout.
            members: further arguments of :meth:`quote_body`.
        """
        source = source or self.account()
        destination = self.destination({"id": source["customerId"]}, account, fate=fate)
        quote = self.quote(source, destination, **members)
        self.executed(quote)
        return quote

    def initiated(self, source: Json, *, amount: int = 10_000) -> Json:
        """Let an agent of the source's owner initiate a payout that waits for approval.

        Returns:
            ``transactionId``, ``source`` and ``destination`` as in a quote.
        """
        destination = self.destination({"id": source["customerId"]})
        found = self.cause(
            "agent.initiate",
            customerId=source["customerId"],
            accountId=source["id"],
            externalAccountId=destination["id"],
            amount=amount,
        )
        payment = {
            "transactionId": found["transactionId"],
            "source": {"accountId": source["id"]},
            "destination": {"accountId": destination["id"]},
        }
        sent = self.transaction(payment).get("sentAmount")
        if isinstance(sent, dict):
            amounts = {"totalSendingAmount": sent["amount"], "totalReceivingAmount": 0}
            self.movement.quotes[payment["transactionId"]] = {**payment, **amounts}
        return payment

    def sca_account(self) -> Json:
        """Return an internal account, with a deposit, of a new customer who needs SCA."""
        return self.account(customer=self.sca_customer())

    def challenged(
        self, customer: Json | None = None, *, source: Json | None = None, **members: Any
    ) -> Json:
        """Return an executed quote that waits for its customer's authorization.

        Args:
            customer: the owner of a new source; by default a new customer who needs SCA.
            source: the internal account, in place of a new one.
            members: further arguments of :meth:`quote_body`.
        """
        source = source or self.account(customer=customer or self.sca_customer())
        executed = self.executed(self.quote(source, **members))
        if executed.get("status") != "PENDING_AUTHORIZATION":
            raise PreconditionFailed(
                f"the quote of a customer of an SCA region was executed to {executed.get('status')}"
            )
        return executed

    def authorized(self, quote: Json) -> Json:
        """Satisfy the challenges of a quote one after the other, and return it as it is then."""
        authorized = resource(self.authorize_fully(quote))
        if authorized.get("status") == "PENDING_AUTHORIZATION":
            raise PreconditionFailed("each valid proof was followed by another challenge")
        return authorized

    def transactions(self, customer_id: str | None = None, **filters: Any) -> Iterator[Json]:
        """Yield the listed transactions, page after page."""
        names = self.profile.bindings
        query: Json = {}
        if names.list_page_size:
            query[names.list_page_size] = _PAGE
        if names.transactions_of_customer and customer_id:
            query[names.transactions_of_customer] = customer_id
        for _ in range(_MOST_PAGES):
            body = self._arranged(self.client.call("listTransactions", query={**query, **filters}))
            yield from members(body)
            following = body.get(names.list_next) if isinstance(body, dict) else None
            if not following or not names.list_cursor:
                return
            query[names.list_cursor] = following

    def transaction(self, quote: Json) -> Json:
        """Return the transaction of a quote as it stands now, once it is listed."""
        wanted = quote["transactionId"]
        owner = self._owner(quote)

        def listed() -> Json | None:
            return next((t for t in self.transactions(owner) if t.get("id") == wanted), None)

        transaction = self.until(listed, lambda found: found is not None)
        if transaction is None:
            raise PreconditionFailed(f"GET /transactions does not list {wanted}")
        return transaction

    def transaction_in(self, quote: Json, *statuses: str) -> Json:
        """Return the transaction of a quote once its status is one of ``statuses``.

        After ``timing.state`` of the profile it is returned as it is then.
        """
        return self.until(
            lambda: self.transaction(quote), lambda seen: seen.get("status") in statuses
        )

    def failed(self, quote: Json) -> Json:
        """Return the transaction of a quote once it has failed, whether refunded yet or not."""
        return self.transaction_in(quote, *FAILED)

    def refunding(self, quote: Json) -> Json:
        """Return the transaction of a quote once it has a refund."""
        return self.until(
            lambda: self.transaction(quote), lambda seen: isinstance(seen.get("refund"), dict)
        )

    def refunded(self, quote: Json) -> Json:
        """Return the transaction of a quote once its refund no longer says that it is pending."""
        return self.until(lambda: self.transaction(quote), _refund_is_over)

    # Events

    def event(
        self,
        kind: str,
        resource: str,
        *,
        within: float | None = None,
        where: Callable[[Delivery], bool] = lambda _: True,
    ) -> Delivery | None:
        """Return the first delivery of type ``kind`` about ``resource``; wait for it if need be.

        Args:
            kind: the event's type.
            resource: id of the affected resource.
            within: how long to wait in seconds; by default ``timing.event`` of the profile.
            where: what else must hold for the delivery.
        """
        limit = self.profile.timing.event if within is None else within
        return self._inbox.wait(
            lambda d: d.type == kind and d.concerns(resource) and where(d), limit
        )

    def mentions(self, *names: str) -> list[Delivery]:
        """Return all deliveries that hold one of ``names`` anywhere, waiting for the first."""

        def holds(delivery: Delivery) -> bool:
            # A sender may write characters of an id as escapes.
            shown = json.dumps(delivery.body, ensure_ascii=False)
            return any(name in shown or name in delivery.raw for name in names)

        self._inbox.wait(holds, self.profile.timing.event)
        return self._inbox.all(holds)

    def events(self, resource: str) -> list[Delivery]:
        """Return all deliveries about ``resource`` that have arrived."""
        return self._inbox.all(lambda delivery: delivery.concerns(resource))

    def quiet(self, kind: str, resource: str) -> bool:
        """Return whether no event of type ``kind`` about ``resource`` comes (``timing.quiet``)."""
        return self.event(kind, resource, within=self.profile.timing.quiet) is None

    # Waiting

    def until(self, read: Callable[[], T], wanted: Callable[[T], bool]) -> T:
        """Read again and again until the value is wanted or ``timing.state`` has passed.

        Returns:
            the last value read.
        """
        until = time.monotonic() + self.profile.timing.state
        pause = self.profile.timing.poll
        while not wanted(value := read()) and time.monotonic() < until:
            time.sleep(pause)
            pause = min(2 * pause, _LONGEST_PAUSE)
        return value

    def _owner(self, quote: Json) -> str | None:
        source = quote.get("source", {})
        account = self.movement.accounts.get(source.get("accountId", ""), {})
        owner = account.get("customerId") or source.get("customerId")
        return owner if isinstance(owner, str) else None

    def _arranged(self, answer: Answer) -> Any:
        if not answer.accepted:
            raise PreconditionFailed(f"a step before the check failed: {answer}")
        return answer.body


def resource(answer: Answer) -> Json:
    """Return the resource in an answer.

    Raises:
        PreconditionFailed: the request was refused, or the answer holds no resource.
    """
    if not answer.accepted:
        raise PreconditionFailed(f"a step before the check failed: {answer}")
    if not isinstance(answer.body, dict) or "id" not in answer.body:
        raise PreconditionFailed(f"a step before the check brought no resource: {answer}")
    return answer.body


def members(body: Any) -> list[Json]:
    """Return the members of a list response, which may stand bare, under ``data`` or elsewhere.

    Raises:
        PreconditionFailed: no one list is found in it.
    """
    if not isinstance(body, dict):
        lists = [body]
    elif isinstance(body.get("data"), list):
        lists = [body["data"]]
    else:
        lists = [value for value in body.values() if isinstance(value, list)]
    if len(lists) != 1 or not isinstance(lists[0], list):
        raise PreconditionFailed(f"expected a list, got {body!r}")
    return lists[0]


def given(resource: Json, member: str) -> Any:
    """Return a member that need not be there.

    Raises:
        ResourceMissing: it is absent or null, so that there is nothing to check.
    """
    value = resource.get(member)
    if value is None:
        raise ResourceMissing(f"{resource.get('id')} has no {member}")
    return value


def unknown(identifier: str) -> str:
    """Return an identifier of the same form that no resource has."""
    kind, colon, rest = identifier.partition(":")
    changed = re.sub(r"\d", "9", rest)
    return kind + colon + (changed if changed != rest else f"{rest}9")


def wait_until(moment: datetime) -> None:
    """Return once ``moment`` has passed, also by a clock that is two seconds behind ours."""
    while (left := (moment + _CLOCK_SKEW - datetime.now(UTC)).total_seconds()) > 0:
        time.sleep(left)


def _refund_is_over(transaction: Json) -> bool:
    refund = transaction.get("refund")
    return isinstance(refund, dict) and "PENDING" not in str(refund.get("status")).upper()


def _transfer(source: Json, destination: Json, amount: int) -> Json:
    return {
        "source": {"accountId": source["id"]},
        "destination": {"accountId": destination["id"]},
        "amount": amount,
    }


def _are_provisioned(accounts: list[Json]) -> bool:
    return bool(accounts) and all(account.get("status") != "PENDING" for account in accounts)


def _currency(account: Mapping[str, Any]) -> str | None:
    code = account.get("balance", {}).get("currency", {}).get("code")
    return code if isinstance(code, str) else None


def _merged(body: Json, values: Mapping[str, Any]) -> Json:
    merged = dict(body)
    for name, value in values.items():
        inner = merged.get(name)
        if isinstance(value, dict) and isinstance(inner, dict):
            merged[name] = _merged(inner, value)
        else:
            merged[name] = value
    return merged


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
