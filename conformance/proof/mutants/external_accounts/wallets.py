"""Mutants of external accounts that are no bank accounts: wallets and Lightning."""

from __future__ import annotations

from typing import Any

from conformance.proof.mutant import mutant
from conformance.proof.mutants.external_accounts.account_rules import (
    declare_guesses,
    declare_kinds,
    declare_rules,
)
from conformance.proof.patch import Function, Patch
from conformance.reference import errors
from conformance.reference.external_accounts.account_types import ACCOUNT_TYPES
from conformance.reference.quotes import quotes
from conformance.reference.quotes.quotes import Order
from conformance.reference.store import Quote
from conformance.reference.unit import Unit

# --- Wallets --------------------------------------------------------------------------------

WALLETS = {
    "BASE_WALLET": (22, ("USDT", "BTC", "USD")),
    "POLYGON_WALLET": (42, ("USDT", "BTC", "USD")),
    "TRON_WALLET": (62, ("USDC", "BTC", "USD")),
    "PLASMA_WALLET": (82, ("USDC", "BTC", "USD")),
    "ARBITRUM_WALLET": (102, ("BTC", "USD")),
    "SOLANA_WALLET": (120, ("USDT", "BTC", "USD")),
    "SPARK_WALLET": (140, ("USDC", "USDT", "USD")),
}
"""By account type the number of its first rule but for two, and the assets that it cannot hold."""

for _type, (_first, _foreign) in WALLETS.items():
    _ids = [f"WAL-{_first + number:03d}" for number in range(9)]
    declare_rules(
        (_ids[number], _type, "address", name, changes)
        for number, name, changes in (
            (1, "optional", {"required": False}),
            (1, "unruled", None),
            (2, "nullable", {"required": False}),
            (3, "or-empty", {"min_length": None}),
            (4, "any-kind", {"kind": "any"}),
        )
    )
    declare_kinds([(_ids[5], _type, "owned", {"beneficiary": True})])
    declare_kinds(
        (_id, _type, f"{_asset.lower()}-too", {"currencies": (*_own, _asset)})
        for _own in (ACCOUNT_TYPES[_type].currencies,)
        for _id, _asset in zip(_ids[6:], _foreign, strict=False)
    )

declare_kinds(
    (
        ("WAL-100", "ARBITRUM_WALLET", "one-asset", {"currencies": ("USDT",)}),
        ("WAL-110", "ARBITRUM_WALLET", "one-asset", {"currencies": ("USDC",)}),
    )
)


# --- Lightning ------------------------------------------------------------------------------

_WAYS = ("lightningAddress", "invoice", "bolt12")


def first_alone(info: Any) -> Any:
    """Return the data of an account with the first of several ways to pay to it."""
    given = [name for name in _WAYS if isinstance(info, dict) and info.get(name) is not None]
    return {k: v for k, v in info.items() if k not in given[1:]} if given else None


declare_kinds(
    (
        *(
            (requirement, "LIGHTNING", "no-way", {"one_of": ()})
            for requirement in ("WAL-167", "WAL-175", "WAL-176", "WAL-177")
        ),
        *(
            (requirement, "LIGHTNING", "any-number", {"exactly_one": False})
            for requirement in ("WAL-168", "WAL-169", "WAL-170", "WAL-171")
        ),
        *(
            (requirement, "LIGHTNING", f"{asset.lower()}-too", {"currencies": ("BTC", asset)})
            for requirement, asset in (("WAL-172", "USDC"), ("WAL-173", "USDT"), ("WAL-174", "USD"))
        ),
    )
)
declare_guesses(
    (requirement, "LIGHTNING", "accountInfo", "first-alone", first_alone)
    for requirement in ("WAL-168", "WAL-169", "WAL-170", "WAL-171")
)
declare_rules(
    (requirement, "LIGHTNING", member, name, changes)
    for name, changes, rules in (
        ("or-empty", {"min_length": None}, ("WAL-178", "WAL-179", "WAL-180")),
        ("any-kind", {"kind": "any"}, ("WAL-181", "WAL-182", "WAL-183")),
    )
    for member, requirement in zip(_WAYS, rules, strict=True)
)


@mutant("WAL-192", "a bolt12 is paid once")
def offer_paid_once(patch: Patch) -> None:
    paid: set[str] = set()

    def draft(original: Function, unit: Unit, order: Order) -> Quote:
        account = order.destination.external
        if account is not None and account.info.get("bolt12"):
            if account.id in paid:
                raise errors.Refusal("INVALID_BANK_ACCOUNT", "The offer was paid already.")
            paid.add(account.id)
        quote: Quote = original(unit, order)
        return quote

    patch.wrap(quotes, "draft", draft)
