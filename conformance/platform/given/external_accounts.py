"""External accounts, at each of their statuses."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from http import HTTPStatus
from typing import Any, Literal

from conformance.contract.states import machine_of
from conformance.platform.given.approved import ApprovedCustomers
from conformance.platform.given.customers import Customers
from conformance.platform.part import Context, Part
from conformance.platform.resource import (
    Body,
    Json,
    Resource,
    arranged_resource,
    as_resource,
    merged,
)
from conformance.testdata.accounts import AccountExample, account_example, account_examples
from conformance.testdata.beneficiaries import beneficiary_examples
from conformance.testdata.examples import ABSENT, Change, placed
from conformance.text.paths import value_at
from conformance.verdict.decisions import (
    PreconditionFailed,
    ResourceMissing,
    TriggerFailed,
)

WAITING = "PENDING"
UNPROVEN = "PENDING_OWNERSHIP_VERIFICATION"
_LIGHTNING = "LIGHTNING"

LEADS_TO: Mapping[str, str] = {
    "external_account.approve": "ACTIVE",
    "external_account.review": "UNDER_REVIEW",
    "external_account.disable": "INACTIVE",
    "ownership.demand": UNPROVEN,
}
"""The triggers that move an external account, with the status that each leads to."""

BENEFICIARY_PLACES = ("accountInfo.beneficiary", "beneficiary", "accountInfo", "")
"""Where a beneficiary may stand, as ``bindings.beneficiary`` says it; the first is the usual."""

BUSINESS = "a beneficiary is a business"
TYPES = (False, False, False, True)
"""Whether beneficiaries are businesses, in the tests that leave it open."""

EARLIER = (False, False, False, False, True)
"""Whether a customer has another account before, in the tests that leave it open."""

_NEEDS_PROVIDER = frozenset({"BWP_ACCOUNT"})
_IN_REVIEW = ("PENDING", "UNDER_REVIEW")
_TELLING = frozenset({"beneficiaryType", "fullName", "legalName", "businessInfo"})
"""Members of a beneficiary, any of which tells where it stands."""


class ExternalAccounts(Part):
    """Registers external accounts, reads them, and brings them to a status."""

    def __init__(self, context: Context, approved: ApprovedCustomers, customers: Customers) -> None:
        super().__init__(context)
        self._approved = approved
        self._customers = customers
        self._registered: set[tuple[str, str]] = set()

    def of_customer(self, customer: Json) -> list[Resource]:
        """Return the external accounts of a customer."""
        rows = self._api.pages("listCustomerExternalAccounts", {"customerId": customer["id"]})
        return [as_resource(row, customer) for row in rows]

    def of_platform(self) -> list[Resource]:
        """Return the external accounts of the platform."""
        return [as_resource(row) for row in self._api.pages("listPlatformExternalAccounts")]

    def of_platform_by_pages(self, size: int) -> list[Resource]:
        """Return the external accounts of the platform from pages of a size, or all at once."""
        return [
            as_resource(row) for row in self._api.by_pages("listPlatformExternalAccounts", size, {})
        ]

    def institutions(self, country: str, currency: str) -> Sequence[str]:
        """Return the ``bankName`` values that are listed for a country and a currency."""
        corridor = (country, currency)
        if corridor not in self._memory.institutions:
            query = {"country": country, "currency": currency}
            names: list[Any] = []
            with contextlib.suppress(PreconditionFailed):
                names = [row.get("bankName") for row in self._api.pages("listDiscoveries", query)]
            self._memory.institutions[corridor] = [name for name in names if name]
        return self._memory.institutions[corridor]

    def account(
        self, customer: Json, name: str | None = None, *, trigger: str | None = None
    ) -> Resource:
        """Create an external account of a customer.

        Args:
            customer: the owner (its ``id`` is enough).
            name: an example of ``fixtures/accounts``; that of the usual corridor by default. Its
                beneficiary is a business in some of the tests, where such accounts are taken, and
                in some the customer has another account before.
            trigger: a trigger that decides what becomes of payouts to the account.
        """

        def create(magic: Json) -> Resource:
            return self.activate(self._create(customer, name, magic))

        if name is None and trigger is None:
            if self._samples.drawn("an earlier external account", EARLIER):
                self._register_earlier(customer)
            account = self._either(
                BUSINESS,
                TYPES,
                lambda: self._create(customer, None, {}),
                lambda: self._of_business(customer),
            )
            return self.activate(account)
        return self._triggers.arrange(trigger, create, _named)

    def _register_earlier(self, customer: Json) -> None:
        """Register another account of a customer; a number may be the same in each example."""
        body, other = (self.body(customer) for _ in range(2))
        if _without_beneficiary(body) != _without_beneficiary(other):
            self._api.create_external_account(body)

    def _of_business(self, customer: Json) -> Resource | None:
        """Create a usual account whose beneficiary is a business; None where the suite has none."""
        corridor = self._profile.usual_corridor
        bound = self._profile.bindings.accounts.get(corridor.account, {})
        currency = account_example(corridor.account).currency
        business = self._business_for(customer, currency)
        is_other = corridor.account != _usual_name(currency) or "beneficiary" in bound
        if business is None or is_other:
            return None
        body = self.body_with_beneficiary(customer, currency, business)
        return arranged_resource(self._api.create_external_account(body), customer)

    def _create(self, customer: Json, name: str | None, members: Json) -> Resource:
        body = self.body(customer, name, **members)
        registered = (customer["id"], json.dumps(body["accountInfo"], sort_keys=True))
        answer = self._api.create_external_account(body)
        # Some numbers are the same in each account of their example, as they have check digits.
        if answer.status == HTTPStatus.CONFLICT and registered in self._registered:
            raise ResourceMissing(f"a customer cannot have the same account twice: {answer}")
        if not answer.accepted and body["accountInfo"].get("accountType") == _LIGHTNING:
            raise ResourceMissing(f"what receives by Lightning may be looked up: {answer}")
        account = arranged_resource(answer, customer)
        self._registered.add(registered)
        return account

    def activate(self, account: Json) -> Resource:
        """Return an external account once it can receive payments."""
        return self._activated(account, lambda: self.read(account))

    def activate_platforms(self, account: Json) -> Resource:
        """Return an external account of the platform once it can receive payments.

        It is read in the platform's list, as a path for accounts of customers may not have it.
        """
        return self._activated(
            account, lambda: as_resource(self.listed_for_platform(account["id"]) or account)
        )

    def listed_for_platform(self, account_id: str) -> Resource | None:
        """Return the row of an external account in the platform's list; None without one."""
        return _row_of(self.of_platform(), account_id)

    def _activated(self, account: Json, read: Callable[[], Resource]) -> Resource:
        if account.get("status") not in _IN_REVIEW:
            return as_resource(account)
        if self.waits_for_trigger(account):
            self._triggers.fire("external_account.approve", externalAccountId=account["id"])
        return self._until(read, lambda seen: seen.get("status") not in _IN_REVIEW)

    def waits_for_trigger(self, account: Json) -> bool:
        """Return whether an external account is in review, and a trigger ends the review."""
        in_review = account.get("status") in _IN_REVIEW
        return in_review and self._triggers.maps("external_account.approve")

    def body(
        self,
        customer: Json,
        name: str | None = None,
        *,
        change: Change | None = None,
        beneficiary: Json | None = None,
        **members: Any,
    ) -> Body:
        """Return a body that creates an external account of a customer.

        Args:
            customer: the owner (its ``id`` is enough).
            name: an example of ``fixtures/accounts``; that of the usual corridor by default.
            change: what is sent otherwise than in the example.
            beneficiary: who stands behind it; by default who does in the example.
            members: further members, merged into those of the example.

        Raises:
            ResourceMissing: the profile says that accounts of this type are not offered.
        """
        found = account_example(name or self._profile.usual_corridor.account)
        body: Body = self._as_offered(found)
        if change is not None:
            body = change.applied(body)
        if beneficiary is not None:
            body = placed(body, "accountInfo.beneficiary", beneficiary)
        return self._registration(customer, body, members)

    def drawn_business(self, customer: Json, currency: str) -> Json | None:
        """Return a business for a customer's account in a currency, in the tests that draw one."""
        is_drawn = self._samples.drawn(BUSINESS, TYPES)
        return self._business_for(customer, currency) if is_drawn else None

    def _business_for(self, customer: Json, currency: str) -> Json | None:
        """Return a beneficiary that is a business; None where the suite has none for a currency."""
        sender = customer.get("customerType", "INDIVIDUAL")
        found = (
            example.beneficiary
            for example in beneficiary_examples().values()
            if example.beneficiary["beneficiaryType"] == "BUSINESS" and example.form is None
            if example.sender in (None, sender) and currency in example.taken
        )
        return next(found, None)

    def body_with_beneficiary(
        self, customer: Json, currency: str, beneficiary: Mapping[str, Any] | None
    ) -> Body:
        """Return a body that creates an account in a currency, and names a beneficiary or none.

        Args:
            customer: the owner (its ``id`` is enough).
            currency: code of the account's currency.
            beneficiary: who stands behind it, with a ``#`` for each digit of its own.

        Raises:
            ResourceMissing: accounts in this currency are not offered, or not known to the suite.
        """
        name = _usual_name(currency)
        shown = ABSENT if beneficiary is None else beneficiary
        if name in account_examples():
            body = self._as_offered(account_example(name))
        elif currency in self._profile.bindings.further_accounts:
            info = self._profile.bindings.further_accounts[currency]
            body = {"currency": currency, "accountInfo": info}
        else:
            raise ResourceMissing(
                f"bindings.further_accounts of the profile has no account in {currency}"
            )
        return self._registration(customer, placed(body, "accountInfo.beneficiary", shown), {})

    def _registration(self, customer: Json, account: Json, members: Mapping[str, Any]) -> Body:
        """Return the body that registers an account, with digits and a reference of its own."""
        body = {
            "customerId": customer["id"],
            **self._samples.filled(account),
            "platformAccountId": self._samples.own_id(),
        }
        return with_beneficiary_at(merged(body, members), self._profile.bindings.beneficiary)

    def beneficiary_of(self, account: Json) -> Body:
        """Return what an account shows of its beneficiary, wherever that stands.

        What stands under ``businessInfo`` is the beneficiary's own.
        """
        places = (self._profile.bindings.beneficiary, *BENEFICIARY_PLACES)
        for found in (value_at(account, place) for place in places):
            if isinstance(found, Mapping) and _TELLING & found.keys():
                nested = found.get("businessInfo")
                return {**(nested if isinstance(nested, Mapping) else {}), **found}
        return {}

    def account_holder(self, kind: Literal["INDIVIDUAL", "BUSINESS"] | None = None) -> Resource:
        """Create a customer who registers accounts, and need not move money.

        Account setup may go before an approval; the first one shows whether it does. Without a
        ``kind`` it is a business in some of the tests.
        """
        if kind is None and self._approved.draws_business:
            return self._approved.customer()
        members = self._customers.business_members({}) if kind == "BUSINESS" else {}
        return self._account_holder(members)

    def unregistered_business(self) -> Resource:
        """Create an account holder: a business that tells no registrationNumber of its own."""
        return self._account_holder(self._customers.unregistered_business_members())

    def _account_holder(self, members: Body) -> Resource:
        if self._memory.needs_approval is None:
            answer = self._api.create_external_account(self.body(self._newcomer(members)))
            self._memory.needs_approval = not answer.accepted
        if self._memory.needs_approval:
            return self._approved.individual(**members)
        return self._newcomer(members)

    def _newcomer(self, members: Body) -> Resource:
        return arranged_resource(self._api.create_customer(self._customers.body(**members)))

    def _as_offered(self, example: AccountExample) -> Body:
        """Return the body of an example with the names that the implementation has for things."""
        offered = self._profile.resources.account_types
        if offered is not None and example.account_type not in offered:
            raise ResourceMissing(
                f"resources.account_types of the profile has no {example.account_type}"
            )
        body = deepcopy(dict(example.body))
        info = body["accountInfo"]
        if info.get("provider") == "{provider}":
            names = self._profile.bindings.providers.get(example.currency)
            if not names and example.account_type in _NEEDS_PROVIDER:
                raise ResourceMissing(
                    f"bindings.providers of the profile has none for {example.currency}"
                )
            body = placed(body, "accountInfo.provider", names[0] if names else ABSENT)
        if example.country is not None and "bankName" in info:
            listed = self.institutions(example.country, example.currency)
            info["bankName"] = _listed_name(listed, info["bankName"])
        bound = self._profile.bindings.accounts.get(example.name, {})
        return merged(body, {"accountInfo": bound})

    def pullable(self, customer: Json) -> Resource:
        """Create an external account of a customer that money can be pulled from."""
        self._require_feature("pullable_sources")
        return self.account(customer, self._profile.resources.pullable_account)

    def read(self, account: Json) -> Resource:
        """Return an external account as it stands now."""
        owner = account.customer if isinstance(account, Resource) else None
        return arranged_resource(self._api.get_external_account(account["id"]), owner)

    def at_status(self, account: Json, *statuses: str) -> Resource:
        """Return an external account once its status is one of ``statuses``.

        After ``timing.state`` of the profile it is returned as it is then.
        """
        return self._until(
            lambda: self.read(account),
            lambda seen: seen.get("status") in statuses,
            f"external account {statuses}",
        )

    def as_listed(self, customer: Json, account: Json) -> Resource | None:
        """Return an account as its customer's list shows it, once it does; ``None`` if never."""
        return self._until(
            lambda: _row_of(self.of_customer(customer), account["id"]),
            lambda found: found is not None,
        )

    def of_customer_by_pages(self, customer: Json, size: int) -> list[Resource]:
        """Return the external accounts of a customer from pages of a size, where there are such."""
        query = {"customerId": customer["id"]}
        rows = self._api.by_pages("listCustomerExternalAccounts", size, query)
        return [as_resource(row, customer) for row in rows]

    def account_after(self, customer: Json, trigger: str, name: str | None = None) -> Resource:
        """Create an external account of a customer, and let something happen to it.

        Args:
            customer: the owner (its ``id`` is enough).
            trigger: what happens to the account, once it is active or by a magic value at once.
            name: an example of ``fixtures/accounts``; that of the usual corridor by default.
        """
        magic = self._triggers.magic(trigger)
        if magic is not None:
            return self._create(customer, name, magic)
        account = self.account(customer, name)
        if account.get("status") != LEADS_TO.get(trigger):
            self._triggers.fire(trigger, **_named(account))
        return account

    def moved(self, customer: Json, trigger: str, name: str | None = None) -> Resource:
        """Create an external account of a customer and return it once a trigger has moved it.

        Raises:
            PreconditionFailed: it does not come to the status that the trigger leads to.
        """
        account = self.account_after(customer, trigger, name)
        status = LEADS_TO[trigger]
        moves = machine_of("external-account").moving(account.get("status"), status)
        return self.arrange_status(account, status, *moves)

    def arrange_status(self, account: Json, status: str, *moves: str) -> Resource:
        """Return an external account at a status.

        Args:
            account: the account.
            status: the status.
            moves: the requirement that it comes there, where it is known.

        Raises:
            PreconditionFailed: it is at another in the end.
        """
        seen = self.at_status(account, status)
        if seen.get("status") != status:
            raise PreconditionFailed(
                f"{account['id']} is {seen.get('status')}, not {status}", breaks=moves
            )
        return seen

    def approve(self, account: Json) -> None:
        """Let the review of an external account end with approval.

        Where the profile maps no way to it, the sandbox may approve by itself.
        """
        trigger = "external_account.approve"
        if not self._triggers.maps(trigger) and _is_active(self.at_status(account, "ACTIVE")):
            return
        try:
            self._triggers.fire(trigger, externalAccountId=account["id"])
        except TriggerFailed:
            # The sandbox may have ended it in between.
            if not _is_active(self.at_status(account, "ACTIVE")):
                raise

    def awaiting_verification(self, customer: Json) -> Resource:
        """Create an external account of a customer that awaits its verification.

        Raises:
            ResourceMissing: a new account does not wait.
        """
        trigger = "external_account.await"
        mapped = trigger if self._triggers.maps(trigger) else None
        account = self._create(
            customer, None, self._triggers.prepare(mapped, customerId=customer["id"])
        )
        if account.get("status") != WAITING and self.read(account).get("status") != WAITING:
            raise ResourceMissing(f"a new external account is {account.get('status')}")
        return account


def _is_active(account: Json) -> bool:
    return account.get("status") == "ACTIVE"


def _usual_name(currency: str) -> str:
    """Return the name of the example of a bank account in a currency."""
    return f"{currency.lower()}_account"


def _without_beneficiary(body: Json) -> Body:
    return {name: value for name, value in body["accountInfo"].items() if name != "beneficiary"}


def _named(account: Resource) -> Body:
    """Return an external account as the triggers about one name it."""
    return {"externalAccountId": account.id}


def _listed_name(listed: Sequence[str], usual: str) -> str:
    """Return the listed name that an example means, else the first one, else its own."""
    alike = [name for name in listed if name.casefold() == usual.casefold()]
    return next(iter([*alike, *listed]), usual)


def with_beneficiary_at(body: Body, place: str) -> Body:
    """Return a body with its beneficiary moved to where the implementation reads it.

    Where its members stand among those of another object, they are merged into it.
    """
    moved = deepcopy(body)
    if not isinstance(moved.get("accountInfo"), Mapping):
        return moved
    beneficiary = moved["accountInfo"].pop("beneficiary", None)
    if beneficiary is None:
        return moved
    wrapped = beneficiary
    for name in reversed(place.split(".") if place else []):
        wrapped = {name: wrapped}
    return merged(moved, wrapped)


def _row_of(rows: Sequence[Resource], account_id: str) -> Resource | None:
    return next((row for row in rows if row.get("id") == account_id), None)
