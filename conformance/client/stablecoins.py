"""The suite in the part of a platform that issues stablecoins.

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

from conformance.client.accounts import Accounts
from conformance.client.actor import Json, at, filled, merged, unknown
from conformance.client.http import Answer
from conformance.contract.vocabulary import TRIGGERS
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


class Stablecoins(Accounts):
    """Stablecoins, what is minted and burnt of them, and what stands in the way of it."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._operations_taken: Counter[str] = Counter()
        """By stablecoin, how many operations were accepted."""

    # --- Requests ---------------------------------------------------------------------------

    def register_stablecoin(self, coin: Coin | None = None, **options: Any) -> Answer:
        """Send ``POST /stablecoins``, shaped by the bindings.

        Args:
            coin: whose accounts the body names, where it names any.
            options: further arguments of :meth:`RecordingClient.call`.
        """
        body = self._stablecoin_body("register", coin or Coin(""))
        return self._ask_stablecoins("createStablecoin", **{"body": body, **options})

    def list_stablecoins(self, **options: Any) -> Answer:
        """Send ``GET /stablecoins``."""
        return self._ask_stablecoins("listStablecoins", **options)

    def list_operations(self, coin: Coin, **options: Any) -> Answer:
        """Send ``GET /stablecoins/{stablecoinId}/operations``."""
        return self._ask_stablecoins(
            "listStablecoinOperations", path={"stablecoinId": coin.id}, **options
        )

    def operate(
        self,
        kind: Kind,
        coin: Coin,
        *,
        amount: str | int = AMOUNT,
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
            return self.register_stablecoin(coin, **options)
        body = self._stablecoin_body(kind, coin, amount=amount, provider_account=provider_account)
        answer = self._ask_stablecoins(
            _OPERATIONS[kind], path={"stablecoinId": coin.id}, body=body, **options
        )
        self._operations_taken[coin.id] += answer.accepted
        return answer

    def operated(self, kind: Kind, coin: Coin, **options: Any) -> Answer:
        """Send an operation, and again while what it builds on is not there yet.

        Args:
            kind: what is done.
            coin: the stablecoin.
            options: further arguments of :meth:`operate`.

        Raises:
            TriggerMissing: the stablecoin is not provisioned, and the profile maps no way to it.
        """

        def is_settled(seen: Answer) -> bool:
            vain = seen.code == NOT_PROVISIONED and self.memory.unprovisioned
            return seen.accepted or vain or seen.code not in _UNSETTLED

        answer = self.until(lambda: self.operate(kind, coin, **options), is_settled)
        if answer.code == NOT_PROVISIONED and not self.triggers.maps("stablecoin.provision"):
            self.memory.unprovisioned = True
            raise TriggerMissing(
                f"{coin.id} is not provisioned, and the profile does not map stablecoin.provision"
            )
        return answer

    def stock(self, kind: Kind, coin: Coin, *, times: int = 1) -> None:
        """Mint what some operations of a kind will take: as much for each burn."""
        for _ in range(times if kind == "burn" else 0):
            self.arranged(self.operated("mint", coin))

    def _ask_stablecoins(self, operation: str, **options: Any) -> Answer:
        answer = self.client.call(operation, **options)
        if answer.status in _NOT_OFFERED:
            raise ResourceMissing(f"{operation} is not offered: {answer}")
        return answer

    # --- Resources --------------------------------------------------------------------------

    def registered(self, *kinds: Kind, fate: str | None = None) -> Coin:
        """Register a stablecoin, with the accounts that operations of some kinds name.

        Args:
            kinds: what will be done with it.
            fate: a trigger that is to meet it, for the accounts that it names; it happens at once
                where it is a magic value.
        """
        magic = self.triggers.magic(fate) if fate else None
        about_account = fate is not None and "externalAccountId" in TRIGGERS[fate]
        named: set[Kind] = {"register", *kinds}
        if "burn" in kinds:
            # What is burnt was minted before.
            named.add("mint")
        coin = self._operation_accounts(
            named,
            external=about_account,
            fate=fate if about_account and magic is not None else None,
        )
        body = self._stablecoin_body("register", coin)
        if magic is not None and not about_account:
            body = merged(body, magic)
        answer = self.register_stablecoin(body=body)
        identifier = self.stablecoin_id(self.arranged(answer))
        if not isinstance(identifier, str):
            raise PreconditionFailed(f"bindings.stablecoin_id leads to no text in {answer}")
        return replace(coin, id=identifier)

    def coin(self, *kinds: Kind, fate: str | None = None) -> Coin:
        """Register a stablecoin and let it be provisioned; the arguments are those above."""
        coin = self.registered(*kinds, fate=fate)
        self.provision(coin)
        return coin

    def provision(self, coin: Coin) -> None:
        """Let a stablecoin be provisioned, where that has to be let."""
        if self.triggers.maps("stablecoin.provision"):
            self.cause("stablecoin.provision", stablecoinId=coin.id)

    def befall(self, trigger: str, coin: Coin) -> Json:
        """Let something happen to a stablecoin, or to its link to the external account."""
        known = {"stablecoinId": coin.id, "externalAccountId": coin.external}
        return self.cause(trigger, **{name: known[name] for name in TRIGGERS[trigger]})

    def several_links(self, coin: Coin) -> str:
        """Link a stablecoin to its provider by several accounts, and return one of them."""
        found = self.befall("stablecoin.provider_ambiguous", coin).get(SELECTION)
        if not isinstance(found, str):
            raise TriggerFailed(f"stablecoin.provider_ambiguous returns no {SELECTION}")
        return found

    def unknown_coin(self, coin: Coin) -> Coin:
        """Return a stablecoin that does not exist, with the accounts of another."""
        return replace(coin, id=unknown(coin.id))

    def elsewhere(self, coin: Coin) -> Coin:
        """Return a stablecoin whose external account does not exist."""
        assert coin.external is not None
        return replace(coin, external=unknown(coin.external))

    # --- What is listed ---------------------------------------------------------------------

    def stablecoin_id(self, resource: Any) -> Any:
        """Return what identifies a stablecoin in an answer or a list."""
        return _told(resource, self.profile.bindings.stablecoin_id)

    def operation_id(self, resource: Any) -> Any:
        """Return what identifies an operation in an answer or a list.

        Raises:
            ResourceMissing: it is not told.
        """
        path = self.profile.bindings.stablecoin_operation_id
        found = None if path is None else _told(resource, path)
        if found is None:
            raise ResourceMissing("the answer does not tell the operation's identifier")
        return found

    def lists_stablecoin(self, coin: Coin) -> bool:
        """Return whether a stablecoin is listed, once it is."""
        return self.until(
            lambda: any(self.stablecoin_id(row) == coin.id for row in self.stablecoins()), bool
        )

    def lists_operation(self, coin: Coin, identifier: Any, *, wanted: bool = True) -> bool:
        """Return whether an operation is listed under a stablecoin, once it is as ``wanted``."""
        path = self.profile.bindings.stablecoin_operation_id or ""
        return self.until(
            lambda: any(_told(row, path) == identifier for row in self.operations(coin)),
            lambda seen: seen is wanted,
        )

    def count_operations(self, coin: Coin) -> int:
        """Return how many operations of a stablecoin are listed, once those that were taken are."""
        return self.until(
            lambda: len(self.operations(coin)), lambda seen: seen >= self._operations_taken[coin.id]
        )

    def stablecoins(self) -> list[Any]:
        """Return the stablecoins that are listed."""
        return self._stablecoin_rows("listStablecoins")

    def operations(self, coin: Coin) -> list[Any]:
        """Return the operations that are listed under a stablecoin."""
        return self._stablecoin_rows("listStablecoinOperations", {"stablecoinId": coin.id})

    def _stablecoin_rows(self, operation: str, path: Mapping[str, str] | None = None) -> list[Any]:
        try:
            return list(self.pages_at(operation, path or {}, self.large_pages))
        except PreconditionFailed:
            self._ask_stablecoins(operation, path=path)
            raise

    # --- Bodies -----------------------------------------------------------------------------

    def operation_body(self, kind: Kind, coin: Coin) -> Json:
        """Return the body of an operation, shaped by the bindings."""
        return self._stablecoin_body(kind, coin)

    def _stablecoin_body(
        self,
        kind: Kind,
        coin: Coin,
        *,
        amount: str | int = AMOUNT,
        provider_account: str | None = None,
    ) -> Json:
        template = self._stablecoin_template(kind)
        symbol = _letters(f"{self.samples.reference()} {coin.account} {coin.external}")
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
        body: Json = filled(template, words)
        return body

    def _stablecoin_template(self, kind: Kind) -> Json:
        names = self.profile.bindings
        return {
            "register": names.stablecoin,
            "mint": names.stablecoin_mint,
            "burn": names.stablecoin_burn,
            "external_mint": names.stablecoin_external_mint,
        }[kind]

    def _operation_accounts(self, kinds: set[Kind], *, external: bool, fate: str | None) -> Coin:
        """Return the accounts that the bodies of some kinds name; nothing else of a stablecoin."""
        named = json.dumps([self._stablecoin_template(kind) for kind in sorted(kinds)])
        coin = Coin("")
        owner: Json | None = None
        if "{accountId}" in named:
            funded = self.triggers.maps("deposit.arrive")
            account = self.account(amount=_DEPOSIT if funded else 0)
            owner = {"id": account["customerId"]}
            coin = replace(coin, account=account["id"])
        if external or "{externalAccountId}" in named:
            kind = self.profile.resources.stablecoin_account
            made = self.destination(owner or self.payer(), kind, fate=fate)
            coin = replace(coin, external=made["id"])
        return coin


def _letters(text: str) -> str:
    """Return capitals that follow from a text; ids in it let them differ from run to run."""
    digest = hashlib.sha256(text.encode()).digest()
    return "".join(string.ascii_uppercase[byte % 26] for byte in digest[:_LETTERS])


def _told(resource: Any, path: str) -> Any:
    """Return the member at a dotted path of what came; a list may hold mere identifiers."""
    return resource if isinstance(resource, str) else at(resource, path)
