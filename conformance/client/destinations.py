"""The suite in the part of a platform that registers accounts outside the service."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any, Literal

from conformance.client.account_examples import (
    AccountExample,
    account_example,
    account_examples,
)
from conformance.client.actor import Json, at, members, merged, resource
from conformance.client.examples import ABSENT, Change, placed
from conformance.client.http import Answer
from conformance.client.reviews import Reviews
from conformance.verdict.decisions import FeatureUndeclared, ResourceMissing

_IN_REVIEW = ("PENDING", "UNDER_REVIEW")
_USUAL_PLACES = ("accountInfo.beneficiary", "beneficiary", "accountInfo", "")
_TELLING = frozenset({"beneficiaryType", "fullName", "legalName", "businessInfo"})
"""Members of a beneficiary, any of which tells where it stands."""


class Destinations(Reviews):
    """External accounts, their owners' trust and proofs, the receiver lookup, the discoveries."""

    def create_external_account(self, body: Json, *, valid: bool = True) -> Answer:
        """Send ``POST /customers/external-accounts``."""
        return self.client.call("createExternalAccount", body=body, valid=valid)

    def get_external_account(self, account: Json) -> Answer:
        """Send ``GET /customers/external-accounts/{externalAccountId}``."""
        return self._about("getExternalAccount", account)

    def delete_external_account(self, account: Json) -> Answer:
        """Send ``DELETE /customers/external-accounts/{externalAccountId}``."""
        return self._about("deleteExternalAccount", account)

    def external_accounts(self, customer: Json) -> list[Json]:
        """Return the external accounts of a customer."""
        return list(self.pages("listCustomerExternalAccounts", customerId=customer["id"]))

    def platform_external_accounts(self) -> list[Json]:
        """Return the external accounts of the platform."""
        return list(self.pages("listPlatformExternalAccounts"))

    def untrust(self, account: Json) -> Answer:
        """Ask for the trust in an account to be taken away."""
        return self._about("untrustBeneficiary", account, self.profile.bindings.untrust or None)

    def challenge_ownership(self, account: Json, body: Json, *, valid: bool = True) -> Answer:
        """Start the proof that the customer owns an account."""
        return self._about("challengeOwnership", account, body, valid=valid)

    def verify_ownership(self, account: Json, body: Json, *, valid: bool = True) -> Answer:
        """Complete the proof that the customer owns an account by a signature."""
        return self._about("verifyOwnership", account, body, valid=valid)

    def look_up(self, account: Json, *, valid: bool = True, **query: Any) -> Answer:
        """Send ``GET /receiver/external-account/{accountId}``."""
        return self.client.call(
            "lookupExternalAccount", path={"accountId": account["id"]}, query=query, valid=valid
        )

    def discover(self, country: str, currency: str) -> Answer:
        """Send ``GET /discoveries`` for a country and a currency."""
        return self.client.call("listDiscoveries", query={"country": country, "currency": currency})

    def _about(
        self, operation: str, account: Json, body: Json | None = None, *, valid: bool = True
    ) -> Answer:
        path = {"externalAccountId": account["id"]}
        return self.client.call(operation, path=path, body=body, valid=valid)

    def institutions(self, country: str, currency: str) -> Sequence[str]:
        """Return the ``bankName`` values that are listed for a country and a currency."""
        corridor = (country, currency)
        if corridor not in self.memory.institutions:
            answer = self.discover(country, currency)
            listed = members(answer.body) if answer.accepted else []
            names = [entry.get("bankName") for entry in listed]
            self.memory.institutions[corridor] = [name for name in names if name]
        return self.memory.institutions[corridor]

    def destination(
        self, customer: Json, name: str | None = None, *, fate: str | None = None
    ) -> Json:
        """Create an external account of a customer.

        Args:
            customer: the owner (its ``id`` is enough).
            name: an example of ``fixtures/accounts``; that of the usual corridor by default.
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
            lambda: resource(self.get_external_account(account)),
            lambda seen: seen.get("status") not in _IN_REVIEW,
        )

    def destination_body(
        self,
        customer: Json,
        name: str | None = None,
        *,
        change: Change | None = None,
        **members: Any,
    ) -> Json:
        """Return a body that creates an external account of a customer.

        Args:
            customer: the owner (its ``id`` is enough).
            name: an example of ``fixtures/accounts``; that of the usual corridor by default.
            change: what is sent otherwise than in the example.
            members: further members, merged into those of the example.

        Raises:
            ResourceMissing: the profile says that accounts of this type are not offered.
        """
        found = account_example(name or self.usual_corridor.account)
        body = self._as_offered(found)
        if change is not None:
            body = change.applied(body)
        return self._registration(customer, body, members)

    def body_with(
        self, customer: Json, currency: str, beneficiary: Mapping[str, Any] | None
    ) -> Json:
        """Return a body that creates an account in a currency, and names a beneficiary or none.

        Args:
            customer: the owner (its ``id`` is enough).
            currency: code of the account's currency.
            beneficiary: who stands behind it, with a ``#`` for each digit of its own.

        Raises:
            ResourceMissing: accounts in this currency are not offered, or not known to the suite.
        """
        name = f"{currency.lower()}_account"
        shown = ABSENT if beneficiary is None else beneficiary
        if name in account_examples():
            body = self._as_offered(account_example(name))
        elif currency in self.profile.bindings.further_accounts:
            info = self.profile.bindings.further_accounts[currency]
            body = {"currency": currency, "accountInfo": info}
        else:
            raise ResourceMissing(
                f"bindings.further_accounts of the profile has no account in {currency}"
            )
        return self._registration(customer, placed(body, "accountInfo.beneficiary", shown), {})

    def _registration(self, customer: Json, account: Json, members: Mapping[str, Any]) -> Json:
        """Return the body that registers an account, with digits and a reference of its own."""
        body = {
            "customerId": customer["id"],
            **self.samples.filled(account),
            "platformAccountId": self.samples.reference(),
        }
        return _bound(merged(body, members), self.profile.bindings.beneficiary)

    def shown_beneficiary(self, account: Json) -> Json:
        """Return what an account shows of its beneficiary, wherever that stands.

        What stands under ``businessInfo`` is the beneficiary's own.
        """
        places = (self.profile.bindings.beneficiary, *_USUAL_PLACES)
        for found in (at(account, place) for place in places):
            if isinstance(found, dict) and _TELLING & found.keys():
                nested = found.get("businessInfo")
                return {**(nested if isinstance(nested, dict) else {}), **found}
        return {}

    def payer(self, kind: Literal["INDIVIDUAL", "BUSINESS"] = "INDIVIDUAL") -> Json:
        """Create a customer who registers accounts, and need not move money.

        Account setup may go before an approval; the first one shows whether it does.
        """
        if self.memory.needs_approval is None:
            answer = self.create_external_account(self.destination_body(self._newcomer(kind)))
            self.memory.needs_approval = not answer.accepted
        if self.memory.needs_approval:
            return self.business() if kind == "BUSINESS" else self.customer()
        return self._newcomer(kind)

    def _newcomer(self, kind: str) -> Json:
        members = self._business_members({}) if kind == "BUSINESS" else {}
        return resource(self.create_customer(self.customer_body(**members)))

    def _as_offered(self, example: AccountExample) -> Json:
        """Return the body of an example with the names that the implementation has for things."""
        offered = self.profile.resources.account_types
        if offered is not None and example.account_type not in offered:
            raise ResourceMissing(
                f"resources.account_types of the profile has no {example.account_type}"
            )
        body = deepcopy(dict(example.body))
        info = body["accountInfo"]
        if info.get("provider") == "{provider}":
            names = self.profile.bindings.providers.get(example.currency)
            body = placed(body, "accountInfo.provider", names[0] if names else ABSENT)
        if example.country is not None and "bankName" in info:
            listed = self.institutions(example.country, example.currency)
            info["bankName"] = _listed_name(listed, info["bankName"])
        bound = self.profile.bindings.accounts.get(example.name, {})
        return merged(body, {"accountInfo": bound})

    def pullable_account(self, customer: Json) -> Json:
        """Create an external account of a customer that money can be pulled from."""
        if not self.profile.features.pullable_sources:
            raise FeatureUndeclared("the profile does not declare features.pullable_sources")
        return self.destination(customer, self.profile.resources.pullable_account)


def _listed_name(listed: Sequence[str], usual: str) -> str:
    """Return the listed name that an example means, else the first one, else its own."""
    alike = [name for name in listed if name.casefold() == usual.casefold()]
    return next(iter([*alike, *listed]), usual)


def _bound(body: Json, place: str) -> Json:
    """Move the beneficiary to where the implementation reads it.

    Where its members stand among those of another object, they are merged into it.
    """
    moved = deepcopy(body)
    if not isinstance(moved.get("accountInfo"), dict):
        return moved
    beneficiary = moved["accountInfo"].pop("beneficiary", None)
    if beneficiary is None:
        return moved
    wrapped = beneficiary
    for name in reversed(place.split(".") if place else []):
        wrapped = {name: wrapped}
    return merged(moved, wrapped)
