"""Payments out of embedded wallets, which are sent unsigned first, and then signed."""

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
"""How a payment leaves a wallet: its quote is executed, or created with immediatelyExecute."""

UNSIGNED = ("WALLET_SIGNATURE_MISSING", "REQUEST_ID_MISSING")
"""The codes by which a request is refused that nobody has signed."""

_HELD = 10
_PAID = 2
_MOST_DECIMALS = 6


@dataclass(frozen=True, slots=True)
class Payment:
    """One payment out of a wallet. Without a ``quote``, ``body`` creates and executes one."""

    platform: Platform
    wallet: Resource
    body: Json
    quote: Json | None = None

    def send(self, headers: Mapping[str, str] | None = None) -> Answer:
        """Send it: without ``headers`` unsigned."""
        if self.quote is not None:
            return self.platform.api.execute_quote(self.quote["id"], headers=headers)
        return self.platform.api.create_quote(self.body, headers=headers)

    def demand(self) -> Demand:
        """Send it unsigned, and return what has to be signed."""
        known = () if self.quote is None else (self.quote,)
        return self.platform.wallets.demand(self.send(), *known)

    def headers(self) -> dict[str, str]:
        """Send it unsigned, and return the headers by which its retry is signed."""
        demand = self.demand()
        return demand.signed(self.platform.wallets.sign(self.wallet, demand))

    def pay(self) -> Answer:
        """Send it unsigned and, signed by the device of the wallet's owner, again."""
        return self.send(self.headers())

    def of(self, amount: int) -> Payment:
        """Return another payment to the same account, of another amount."""
        body = {**self.body, "lockedCurrencyAmount": amount}
        if self.quote is None:
            return replace(self, body=body)
        return replace(
            self, body=body, quote=arranged_resource(self.platform.api.create_quote(body))
        )


def funded_wallet(platform: Platform) -> Resource:
    """Return the embedded wallet of a new customer, with a deposit."""
    wallet = platform.wallets.wallet()
    platform.internal_accounts.deposit(wallet, _HELD * whole(wallet))
    return wallet


def whole(wallet: Resource) -> int:
    """Return one whole unit of a wallet's currency, in smallest units; a million at most."""
    decimals = int(wallet["balance"]["currency"]["decimals"])
    return int(10 ** min(decimals, _MOST_DECIMALS))


def payment(
    platform: Platform, wallet: Resource, way: str = EXECUTION, *, amount: int | None = None
) -> Payment:
    """Return a payment out of a wallet to a new external account; of two units by default.

    Raises:
        PreconditionFailed: to none of the accounts at the ends of corridors a quote is created.
        ResourceMissing: the quote itself is signed, so that its execution need not be.
    """
    owner = wallet.owner
    wanted = _PAID * whole(wallet) if amount is None else amount
    for name in _payees(platform):
        body = platform.quotes.body(
            wallet, platform.external_accounts.account(owner, name), amount=wanted
        )
        created = platform.api.create_quote(body)
        if created.accepted or created.code in UNSIGNED:
            break
    else:
        raise PreconditionFailed(f"no quote from {wallet['id']} is created: {created}")
    if way == CREATION:
        return Payment(platform, wallet, {**body, "immediatelyExecute": True})
    if "transactionId" not in created.body:
        raise ResourceMissing(f"quotes are signed before they are created: {created}")
    return Payment(platform, wallet, body, arranged_resource(created))


def moving(platform: Platform, wallet: Resource) -> list[str]:
    """Return the ids of the payments of a wallet's owner that are under way or have arrived."""
    return [
        transaction["id"]
        for transaction in platform.transactions.of_customer(wallet["customerId"])
        if transaction.get("status") in SETTLING and transaction.get("direction") != "CREDIT"
    ]


def _payees(platform: Platform) -> list[str]:
    """Return the files of accounts at the ends of corridors, the likeliest first."""
    corridors = [platform.profile.usual_corridor, *platform.profile.resources.corridors]
    near = (platform.wallets.currency, platform.profile.currency)
    nearest = sorted(corridors, key=lambda corridor: corridor.sending not in near)
    return list(dict.fromkeys(corridor.account for corridor in nearest))
