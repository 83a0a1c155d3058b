"""Stablecoins of the platform.

Neither the shapes nor the methods of these operations are shown (Endpoints / Other endpoint
families, line 415): bodies come from the bindings, and what is not served is not offered.
"""

from __future__ import annotations

import hashlib
import json
import string
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from conformance.contract.vocabulary import TRIGGERS
from conformance.exchange.answer import Answer
from conformance.platform.given.external_accounts import ExternalAccounts
from conformance.platform.given.internal_accounts import InternalAccounts
from conformance.platform.part import Context, Part
from conformance.platform.resource import (
    Body,
    Resource,
    arranged_body,
    fill_template,
    merged,
    owner_of,
    unknown_id,
)
from conformance.text.paths import value_at
from conformance.verdict.decisions import (
    PreconditionFailed,
    ResourceMissing,
    TriggerFailed,
    TriggerMissing,
)

Kind = Literal["register", "mint", "burn", "external_mint"]
"""What is done with a stablecoin; an ``external_mint`` goes to an external account."""

AMOUNT = 10_000
SELECTION = "stablecoinProviderAccountId"
NOT_PROVISIONED = "STABLECOIN_NOT_PROVISIONED"

_OPERATIONS: Mapping[Kind, str] = {
    "mint": "mintStablecoin",
    "burn": "burnStablecoin",
    "external_mint": "mintStablecoin",
}
_UNSETTLED = (NOT_PROVISIONED, "INSUFFICIENT_FUNDS")
"""Codes of what passes with time: it is set up, or what was minted is there."""

_NOT_OFFERED = (405, 501)
_DEPOSIT = 100_000
_LETTERS = 6


@dataclass(frozen=True, slots=True)
class Coin:
    """A stablecoin of the platform, and the accounts that operations with it name.

    ``account`` is an internal account, ``external`` an external one; ``None`` where the bindings
    name none.
    """

    id: str
    account: str | None = None
    external: str | None = None


class Stablecoins(Part):
    """Stablecoins, what is minted and burnt of them, and what stands in the way of it."""

    def __init__(
        self,
        context: Context,
        external_accounts: ExternalAccounts,
        internal_accounts: InternalAccounts,
    ) -> None:
        super().__init__(context)
        self._external_accounts = external_accounts
        self._internal_accounts = internal_accounts
        self._accepted: Counter[str] = Counter()
        """By stablecoin, how many operations were accepted."""

    def register(
        self, coin: Coin | None = None, *, provider_account: str | None = None, **options: Any
    ) -> Answer:
        """Send ``POST /stablecoins``, shaped by the bindings.

        Args:
            coin: whose accounts the body names, where it names any.
            provider_account: which of several links to the provider is meant.
            options: further arguments of :meth:`RecordingClient.call`.
        """
        body = self._body("register", coin or Coin(""), provider_account=provider_account)
        return self._ask("createStablecoin", **{"body": body, **options})

    def list_all(self, **options: Any) -> Answer:
        """Send ``GET /stablecoins``."""
        return self._ask("listStablecoins", **options)

    def list_operations(self, coin: Coin, **options: Any) -> Answer:
        """Send ``GET /stablecoins/{stablecoinId}/operations``."""
        return self._ask("listStablecoinOperations", path={"stablecoinId": coin.id}, **options)

    def operate(
        self,
        kind: Kind,
        coin: Coin,
        *,
        amount: str | float = AMOUNT,
        provider_account: str | None = None,
        **options: Any,
    ) -> Answer:
        """Send a mint or a burn of a stablecoin, or register one beside it.

        Args:
            kind: what is done.
            coin: the stablecoin.
            amount: how much of it.
            provider_account: which of several links to the provider is meant.
            options: further arguments of :meth:`RecordingClient.call`.
        """
        if kind == "register":
            return self.register(coin, provider_account=provider_account, **options)
        body = self._body(kind, coin, amount=amount, provider_account=provider_account)
        answer = self._ask(_OPERATIONS[kind], path={"stablecoinId": coin.id}, body=body, **options)
        self._accepted[coin.id] += answer.accepted
        return answer

    def operate_when_ready(self, kind: Kind, coin: Coin, **options: Any) -> Answer:
        """Send an operation, and again while what it builds on is not there yet.

        Args:
            kind: what is done.
            coin: the stablecoin.
            options: further arguments of :meth:`operate`.

        Raises:
            TriggerMissing: the stablecoin is not provisioned, and the profile maps no way to it.
        """

        def is_settled(seen: Answer) -> bool:
            vain = seen.code == NOT_PROVISIONED and self._memory.unprovisioned
            return seen.accepted or vain or seen.code not in _UNSETTLED

        answer = self._until(lambda: self.operate(kind, coin, **options), is_settled)
        if answer.code == NOT_PROVISIONED and not self._triggers.maps("stablecoin.provision"):
            self._memory.unprovisioned = True
            raise TriggerMissing("stablecoin.provision", f"{coin.id} is not provisioned")
        return answer

    def stock(self, kind: Kind, coin: Coin, *, times: int = 1) -> None:
        """Mint what some operations of a kind will take: as much for each burn."""
        for _ in range(times if kind == "burn" else 0):
            arranged_body(self.operate_when_ready("mint", coin))

    def _ask(self, operation: str, **options: Any) -> Answer:
        answer = self._api.call(operation, **options)
        if answer.status in _NOT_OFFERED:
            raise ResourceMissing(f"{operation} is not offered: {answer}")
        return answer

    def registered(self, *kinds: Kind, trigger: str | None = None) -> Coin:
        """Register a stablecoin, with the accounts that operations of some kinds name.

        Args:
            kinds: what will be done with it.
            trigger: what is to happen to it, for the accounts that it names; it happens at once
                where it is a magic value.
        """
        magic = self._triggers.magic(trigger) if trigger else None
        about_account = trigger is not None and "externalAccountId" in TRIGGERS[trigger]
        named: set[Kind] = {"register", *kinds}
        if "burn" in kinds:
            # What is burnt was minted before.
            named.add("mint")
        coin = self._accounts_for(
            named,
            external=about_account,
            trigger=trigger if about_account and magic is not None else None,
        )
        body = self._body("register", coin)
        if magic is not None and not about_account:
            body = merged(body, magic)
        answer = self.register(body=body)
        identifier = self.id_in(arranged_body(answer))
        if not isinstance(identifier, str):
            raise PreconditionFailed(f"bindings.stablecoin_id leads to no text in {answer}")
        return replace(coin, id=identifier)

    def coin(self, *kinds: Kind, trigger: str | None = None) -> Coin:
        """Register a stablecoin and let it be provisioned; the arguments are those above."""
        coin = self.registered(*kinds, trigger=trigger)
        self.provision(coin)
        return coin

    def provision(self, coin: Coin) -> None:
        """Provision the stablecoin by its trigger.

        Does nothing where the target provisions by itself.
        """
        if self._triggers.maps("stablecoin.provision"):
            self._triggers.fire("stablecoin.provision", stablecoinId=coin.id)

    def cause(self, trigger: str, coin: Coin) -> Body:
        """Let something happen to a stablecoin, or to its link to the external account."""
        known = {"stablecoinId": coin.id, "externalAccountId": coin.external}
        return self._triggers.fire(trigger, **{name: known[name] for name in TRIGGERS[trigger]})

    def link_to_several_providers(self, coin: Coin) -> str:
        """Link a stablecoin to its provider by several accounts, and return one of them."""
        found = self.cause("stablecoin.provider_ambiguous", coin).get(SELECTION)
        if not isinstance(found, str):
            raise TriggerFailed(f"stablecoin.provider_ambiguous returns no {SELECTION}")
        return found

    def unknown_coin(self, coin: Coin) -> Coin:
        """Return a stablecoin that does not exist, with the accounts of another."""
        return replace(coin, id=unknown_id(coin.id))

    def with_unknown_account(self, coin: Coin) -> Coin:
        """Return a stablecoin whose external account does not exist."""
        assert coin.external is not None
        return replace(coin, external=unknown_id(coin.external))

    def with_unknown_internal(self, kind: Kind, coin: Coin) -> Coin:
        """Return a stablecoin whose internal account does not exist.

        Raises:
            ResourceMissing: the bindings of the operation name no internal account.
        """
        if coin.account is None or "{accountId}" not in json.dumps(self._template(kind)):
            raise ResourceMissing("the bindings of the operation have no {accountId}")
        return replace(coin, account=unknown_id(coin.account))

    def id_in(self, resource: Any) -> Any:
        """Return what identifies a stablecoin in an answer or a list."""
        return _told(resource, self._profile.bindings.stablecoin_id)

    def operation_id_in(self, resource: Any) -> Any:
        """Return what identifies an operation in an answer or a list.

        Raises:
            ResourceMissing: it is not told.
        """
        path = self._profile.bindings.stablecoin_operation_id
        found = None if path is None else _told(resource, path)
        if found is None:
            raise ResourceMissing("the answer does not tell the operation's identifier")
        return found

    def lists(self, coin: Coin) -> bool:
        """Return whether a stablecoin is listed, once it is."""
        return self._until(lambda: any(self.id_in(row) == coin.id for row in self.rows()), bool)

    def lists_operation(self, coin: Coin, identifier: Any, *, wanted: bool = True) -> bool:
        """Return whether an operation is listed under a stablecoin, once it is as ``wanted``."""
        path = self._profile.bindings.stablecoin_operation_id or ""
        return self._until(
            lambda: any(_told(row, path) == identifier for row in self.operation_rows(coin)),
            lambda seen: seen is wanted,
        )

    def count_operations(self, coin: Coin) -> int:
        """Return how many operations of a stablecoin are listed, once those that were taken are."""
        return self._until(
            lambda: len(self.operation_rows(coin)), lambda seen: seen >= self._accepted[coin.id]
        )

    def rows(self) -> list[Any]:
        """Return the stablecoins that are listed."""
        return self._rows("listStablecoins")

    def operation_rows(self, coin: Coin) -> list[Any]:
        """Return the operations that are listed under a stablecoin."""
        return self._rows("listStablecoinOperations", {"stablecoinId": coin.id})

    def _rows(self, operation: str, path: Mapping[str, str] | None = None) -> list[Any]:
        try:
            return list(self._api.pages(operation, self._api.large_pages, path=path or {}))
        except PreconditionFailed:
            self._ask(operation, path=path)
            raise

    def body(self, kind: Kind, coin: Coin) -> Body:
        """Return the body of an operation, shaped by the bindings."""
        return self._body(kind, coin)

    def _body(
        self,
        kind: Kind,
        coin: Coin,
        *,
        amount: str | float = AMOUNT,
        provider_account: str | None = None,
    ) -> Body:
        template = self._template(kind)
        symbol = _letters(f"{self._samples.reference()} {coin.account} {coin.external}")
        if provider_account is not None and f"{{{SELECTION}}}" not in json.dumps(template):
            template = {**template, SELECTION: f"{{{SELECTION}}}"}
        words = {
            "{name}": f"Conformance {symbol}",
            "{symbol}": symbol,
            "{amount}": amount,
            "{digits}": str(amount),
            "{accountId}": coin.account,
            "{externalAccountId}": coin.external,
            f"{{{SELECTION}}}": provider_account,
        }
        body: Body = fill_template(template, words)
        return body

    def _template(self, kind: Kind) -> Body:
        names: Mapping[Kind, str] = {
            "register": "stablecoin",
            "mint": "stablecoin_mint",
            "burn": "stablecoin_burn",
            "external_mint": "stablecoin_external_mint",
        }
        template: Body = self._profile.bindings.require(names[kind])
        return template

    def _accounts_for(self, kinds: set[Kind], *, external: bool, trigger: str | None) -> Coin:
        """Return the accounts that the bodies of some kinds name; nothing else of a stablecoin."""
        named = json.dumps([self._template(kind) for kind in sorted(kinds)])
        coin = Coin("")
        owner: Resource | None = None
        if "{accountId}" in named:
            funded = self._triggers.maps("deposit.arrive")
            account = self._internal_accounts.account(amount=_DEPOSIT if funded else 0)
            owner = owner_of(account)
            coin = replace(coin, account=account["id"])
        if external or "{externalAccountId}" in named:
            account_type = self._profile.resources.stablecoin_account
            holder = owner or self._external_accounts.account_holder()
            made = self._external_accounts.account(holder, account_type, trigger=trigger)
            coin = replace(coin, external=made["id"])
        return coin


def _letters(text: str) -> str:
    """Return capitals that follow from a text; ids in it let them differ from run to run."""
    digest = hashlib.sha256(text.encode()).digest()
    return "".join(string.ascii_uppercase[byte % 26] for byte in digest[:_LETTERS])


def _told(resource: Any, path: str) -> Any:
    """Return the member at a dotted path of what came; a list may hold mere identifiers."""
    return resource if isinstance(resource, str) else value_at(resource, path)
