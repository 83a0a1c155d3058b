"""Embedded wallets of customers, and what their devices sign."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from conformance.exchange.answer import Answer
from conformance.platform.given.approved import ApprovedCustomers
from conformance.platform.given.customers import verification_status
from conformance.platform.given.internal_accounts import InternalAccounts
from conformance.platform.part import Context, Part
from conformance.platform.resource import (
    Json,
    Resource,
    arranged_resource,
)
from conformance.platform.triggers import Asked
from conformance.text.paths import value_at
from conformance.verdict.decisions import (
    PreconditionFailed,
    ResourceMissing,
    TriggerFailed,
)

WALLET = "EMBEDDED_WALLET"
SIGNATURE = "Service-Wallet-Signature"
REQUEST = "Request-Id"


@dataclass(frozen=True, slots=True)
class Demand:
    """What the customer's device has to sign, and the ``Request-Id`` of the signed retry.

    Where devices sign the request itself, it is known by ``method``, ``path`` and ``body`` as sent.
    """

    payload: Any
    request: str
    method: str = "POST"
    path: str = ""
    body: str = ""

    def signed(self, signature: str) -> dict[str, str]:
        """Return the headers of the retry."""
        return {SIGNATURE: signature, REQUEST: self.request}


class EmbeddedWallets(Part):
    """Wallets, and the signatures of the devices that hold their keys."""

    def __init__(
        self, context: Context, approved: ApprovedCustomers, internal_accounts: InternalAccounts
    ) -> None:
        super().__init__(context)
        self._approved = approved
        self._internal_accounts = internal_accounts

    @property
    def currency(self) -> str:
        """The currency in which customers get an embedded wallet.

        Raises:
            ResourceMissing: the profile names none.
        """
        currency = self._profile.resources.wallet_currency
        if currency is None:
            raise ResourceMissing("resources.wallet_currency of the profile names no currency")
        return currency

    def holder(self, *, business: bool = False, sca: bool = False, consent: bool = True) -> Json:
        """Return a new, approved customer who gets an embedded wallet: an individual by default.

        Args:
            business: whether it is a business instead.
            sca: whether it is of a region where money movement needs strong authentication.
            consent: whether its acceptance of the end-user terms is put on file.
        """
        members = {} if self._memory.walletless else self._members
        return self._approved.of_type(business, sca=sca, consent=consent, **members)

    def transacting(self, *, business: bool = False) -> Json:
        """Return a new, approved customer who transacts in the currency of embedded wallets."""
        return self._approved.of_type(business, **self._members)

    def of_customer(self, customer: Json) -> list[Resource]:
        """Return the embedded wallets of a customer, once it has one in the profile's currency.

        They may be provisioned a while after their customer.
        """
        return [
            account.but(customerId=customer["id"])
            for account in self._until(lambda: self._of_customer_now(customer), bool)
        ]

    def wallet(self, *, amount: int = 0, customer: Json | None = None) -> Resource:
        """Return the embedded wallet of a customer, with ``amount`` deposited to it.

        Args:
            amount: deposit in the smallest unit.
            customer: the owner; a new customer by default.
        """
        owner = customer or self.holder()
        found = self.of_customer(owner)
        if not found and customer is None and not self._memory.walletless:
            found = self._provisioned_otherwise()
        if not found:
            raise PreconditionFailed(
                f"{owner['id']} has no embedded wallet in {self.currency}",
                breaks=["EMW-001"] if self._should_have(owner) else [],
            )
        if amount:
            self._internal_accounts.deposit(found[0], amount)
        return found[0]

    def _should_have(self, owner: Json) -> bool:
        """Return whether a customer has to have a wallet: it is approved, and transacts in that."""
        now = arranged_resource(self._api.get_customer(owner["id"]))
        return verification_status(now) == "APPROVED" and self.currency in (
            now.get("currencies") or ()
        )

    def sign(self, wallet: Json, demand: Demand) -> str:
        """Return the signature of the customer's device over what is demanded."""
        return self._signature("wallet.sign", wallet, demand)

    def forge(self, wallet: Json, demand: Demand) -> str:
        """Return the signature of another key over what is demanded."""
        return self._signature("wallet.forge", wallet, demand)

    def demand(self, unsigned: Answer, *others: Json) -> Demand:
        """Return what an unsigned action of a wallet was answered to be signed.

        Args:
            unsigned: the answer to it, whatever its status.
            others: what may hold it in the place of that answer, the quote that is executed for
                example.

        Raises:
            PreconditionFailed: it is nowhere to be found.
        """
        names = self._profile.bindings
        places = [unsigned.body, *_details(unsigned.body), *others]
        payload = (
            _as_sent(unsigned)
            if names.wallet_payload is None
            else _first(places, names.wallet_payload)
        )
        request = (
            self._samples.reference()
            if names.wallet_request is None
            else _first(places, names.wallet_request)
        )
        if payload is None or request is None:
            raise PreconditionFailed(
                f"bindings.wallet_payload and wallet_request of the profile say that there is "
                f"{names.wallet_payload} and {names.wallet_request} to sign: {unsigned!r}"
            )
        asked = unsigned.exchange
        return Demand(
            payload, str(request), asked.method, urlsplit(asked.url).path, _as_sent(unsigned)
        )

    def asks_again(self, answer: Answer | Asked) -> bool:
        """Return whether an answer is no refusal, but asks for a signature."""
        place = self._profile.bindings.wallet_payload
        return answer.accepted and place is not None and _shown(answer.body, place) is not None

    @property
    def _members(self) -> Json:
        return {"currencies": sorted({self._profile.currency, self.currency})}

    def _provisioned_otherwise(self) -> list[Resource]:
        """Return the wallets of a customer who names no currency of theirs, as the next way."""
        self._memory.walletless = True
        found = self.of_customer(self.holder())
        self._memory.walletless = bool(found)
        if found:
            self._observe(f"who transacts in {self.currency} has no embedded wallet, others have")
        return found

    def _of_customer_now(self, customer: Json) -> list[Resource]:
        return [
            account
            for account in self._internal_accounts.of_customer(customer)
            if account.get("type") == WALLET
            and account.get("status") != "PENDING"
            and account["balance"]["currency"]["code"] == self.currency
        ]

    def _signature(self, trigger: str, wallet: Json, demand: Demand) -> str:
        signature = self._triggers.fire(
            trigger,
            accountId=wallet["id"],
            payload=demand.payload,
            requestId=demand.request,
            method=demand.method,
            path=demand.path,
            body=demand.body,
        ).get("signature")
        if not isinstance(signature, str) or not signature:
            raise TriggerFailed(f"trigger {trigger}: the result signature is {signature!r}")
        return signature


def _as_sent(answer: Answer) -> str:
    """Return the body of the request as the text that the client sends it as."""
    body = answer.exchange.request_body
    if body is None:
        return ""
    return json.dumps(body, ensure_ascii=False, separators=(",", ":"))


def _details(body: Any) -> list[Any]:
    # Where the unsigned action is refused, an error object has no other place for it.
    return [body["details"]] if isinstance(body, Mapping) and "details" in body else []


def _first(places: list[Any], path: str) -> Any:
    found = (_shown(place, path) for place in places)
    return next((value for value in found if value is not None), None)


def _shown(value: Any, path: str) -> Any:
    found = value_at(value, path)
    return found if isinstance(found, str | Mapping | list) else None
