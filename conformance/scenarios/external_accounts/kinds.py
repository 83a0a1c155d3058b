"""Kinds of external accounts, and the corridors of the profile to them."""

from __future__ import annotations

from conformance.platform.platform import Platform
from conformance.profile.resources import Corridor
from conformance.testdata.accounts import AccountExample, account_example
from conformance.verdict.decisions import ResourceMissing

WALLETS = {
    "base_wallet": "WAL-027",
    "polygon_wallet": "WAL-047",
    "solana_wallet": "WAL-125",
    "tron_wallet": "WAL-067",
    "plasma_wallet": "WAL-087",
    "arbitrum_wallet": "WAL-107",
    "spark_wallet": "WAL-145",
}
"""By example the requirement that such wallets need no beneficiary."""


def corridor_to(platform: Platform, kind: str) -> Corridor:
    """Return the first corridor of the profile to a kind of account.

    Where none is to a Lightning account, it is the first one in BTC with such an account.

    Raises:
        ResourceMissing: the profile names no such corridor.
    """
    corridors = platform.profile.resources.corridors
    for corridor in corridors:
        if kind_of(account_example(corridor.account)) == kind:
            return corridor
    for corridor in corridors:
        if kind == "Lightning" and corridor.receiving == "BTC":
            return corridor.model_copy(update={"account": "lightning"})
    raise ResourceMissing(f"resources.corridors of the profile has none to {kind}")


def kind_of(example: AccountExample) -> str:
    """Return the kind of the account in an example, such as ``mobile money``."""
    if example.account_type == "LIGHTNING":
        return "Lightning"
    if example.account_type.endswith("_WALLET"):
        return "crypto wallet"
    return "mobile money" if "phoneNumber" in example.body["accountInfo"] else "bank account"
