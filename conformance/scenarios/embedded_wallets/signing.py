"""Payments out of embedded wallets: sent unsigned first, and then again with a signature."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from conformance.exchange.answer import Answer
from conformance.platform.given.embedded_wallets import Demand
from conformance.platform.platform import Platform
from conformance.platform.resource import Json, Resource, arranged_resource
from conformance.scenarios.kit.marks import SETTLING
from conformance.verdict.decisions import PreconditionFailed, ResourceMissing

EXECUTION = "execution"
CREATION = "creation"
WAYS = (EXECUTION, CREATION)
"""The ways to pay from a wallet: execute a quote, or create one with immediatelyExecute."""

UNSIGNED = ("WALLET_SIGNATURE_MISSING", "REQUEST_ID_MISSING")
"""The codes of a refusal for a request without a signature."""

_DEPOSIT_UNITS = 10
_PAYMENT_UNITS = 2
_MAX_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Payment:
    """A payment out of a wallet.

    With a ``quote`` it is the execution of that quote. Without one it is the creation of a quote by
    ``body``, which has immediatelyExecute.
    """

    platform: Platform
    wallet: Resource
    body: Json
    quote: Json | None = None

    def send(self, headers: Mapping[str, str] | None = None) -> Answer:
        """Send the payment with ``headers``; without them it is unsigned."""
        if self.quote is not None:
            return self.platform.api.execute_quote(self.quote["id"], headers=headers)
        return self.platform.api.create_quote(self.body, headers=headers)

    def demand(self) -> Demand:
        """Send the payment unsigned, and return what has to be signed."""
        quotes = () if self.quote is None else (self.quote,)
        return self.platform.wallets.demand(self.send(), *quotes)

    def headers(self) -> dict[str, str]:
        """Send the payment unsigned, and return the headers of its signed retry."""
        demand = self.demand()
        return demand.signed(self.platform.wallets.sign(self.wallet, demand))

    def pay(self) -> Answer:
        """Send the payment unsigned, and then with the signature of the wallet's owner."""
        return self.send(self.headers())

    def of(self, amount: int) -> Payment:
        """Return a payment of another amount, in the smallest unit, to the same account."""
        body = {**self.body, "lockedCurrencyAmount": amount}
        if self.quote is None:
            return replace(self, body=body)
        return replace(
            self, body=body, quote=arranged_resource(self.platform.api.create_quote(body))
        )


def funded_wallet(
    platform: Platform, *, business: bool = False, customer: Json | None = None
) -> Resource:
    """Return the embedded wallet of a customer with a deposit of ten whole units.

    The customer is a new individual by default.
    """
    wallet = platform.wallets.wallet(
        customer=customer or platform.wallets.holder(business=business)
    )
    platform.internal_accounts.deposit(wallet, _DEPOSIT_UNITS * whole_unit(wallet))
    return wallet


def whole_unit(wallet: Resource) -> int:
    """Return one whole unit of a wallet's currency in smallest units.

    It is a million at most, also where the currency has more than six decimals.
    """
    decimals = int(wallet["balance"]["currency"]["decimals"])
    return int(10 ** min(decimals, _MAX_DECIMALS))


def payment(
    platform: Platform,
    wallet: Resource,
    way: str = EXECUTION,
    *,
    amount: int | None = None,
    trigger: str | None = None,
) -> Payment:
    """Return a payment out of a wallet to a new external account; of two whole units by default.

    With a ``trigger`` that decides what becomes of payouts to the account.

    Raises:
        PreconditionFailed: no quote to any of the profile's account types is created.
        ResourceMissing: the creation of a quote is signed, so that its execution need not be.
    """
    owner = wallet.owner
    sending_amount = _PAYMENT_UNITS * whole_unit(wallet) if amount is None else amount
    for name in receiver_examples(platform):
        body = platform.quotes.body(
            wallet,
            platform.external_accounts.account(owner, name, trigger=trigger),
            amount=sending_amount,
        )
        answer = platform.api.create_quote(body)
        if answer.accepted or answer.code in UNSIGNED:
            break
    else:
        raise PreconditionFailed(f"no quote from {wallet['id']} is created: {answer}")
    if way == CREATION:
        return Payment(platform, wallet, {**body, "immediatelyExecute": True})
    if "transactionId" not in answer.body:
        raise ResourceMissing(f"quotes are signed before they are created: {answer}")
    return Payment(platform, wallet, body, arranged_resource(answer))


def create_quote(platform: Platform, wallet: Resource, body: Json) -> Answer:
    """Create a quote from a wallet, with a signature of its owner where one is asked for."""
    answer = platform.api.create_quote(body)
    waits = answer.accepted and "transactionId" not in answer.body
    if not waits and answer.code not in UNSIGNED:
        return answer
    demand = platform.wallets.demand(answer)
    headers = demand.signed(platform.wallets.sign(wallet, demand))
    return platform.api.create_quote(body, headers=headers)


def executed_payments(platform: Platform, wallet: Resource) -> list[str]:
    """Return the transaction ids of the payments that are executed and known as a wallet owner's.

    What comes in is left out.
    """
    return [
        transaction["id"]
        for transaction in platform.transactions.known_of_customer(wallet["customerId"])
        if transaction.get("status") in SETTLING
        and transaction.get("direction") != "CREDIT"
        and transaction.get("type") != "INCOMING"
    ]


def receiver_examples(platform: Platform) -> list[str]:
    """Return the examples of external accounts at the ends of corridors, the likeliest first."""
    corridors = [platform.profile.usual_corridor, *platform.profile.resources.corridors]
    currencies = (platform.wallets.currency, platform.profile.currency)
    sorted_corridors = sorted(corridors, key=lambda corridor: corridor.sending not in currencies)
    return list(dict.fromkeys(corridor.account for corridor in sorted_corridors))
