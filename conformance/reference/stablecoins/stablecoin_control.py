"""The control path of stablecoins: what happens to them, to their providers and to links."""

from __future__ import annotations

from typing import TYPE_CHECKING

from conformance.reference import fields
from conformance.reference.external_accounts import externals
from conformance.reference.rules import Field
from conformance.reference.stablecoins import stablecoins
from conformance.reference.unit import new_id

if TYPE_CHECKING:
    from conformance.reference.store import Json
    from conformance.reference.unit import Ask, Unit

STATUSES: dict[str, str] = {
    "PROVISIONED": stablecoins.PROVISIONED,
    "UNPROVISIONED": stablecoins.UNPROVISIONED,
}


def condition(unit: Unit, ask: Ask) -> None:
    """Let something hold of a stablecoin, or of its link to ``{externalAccountId}``."""
    known = (*STATUSES, *stablecoins.OBSTACLES, *stablecoins.LINK_OBSTACLES)
    body = fields.demand(
        ask.body,
        [
            Field("condition", "string", required=True, enum=known),
            *(
                Field("externalAccountId", "string", required=True, when=("condition", name))
                for name in stablecoins.LINK_OBSTACLES
            ),
        ],
    )
    coin = stablecoins.get(unit, ask.params["stablecoinId"])
    name = body["condition"]
    if name in STATUSES:
        coin.status = STATUSES[name]
    elif name in stablecoins.OBSTACLES:
        coin.conditions = [*coin.conditions, name]
    else:
        account = externals.get(unit, body["externalAccountId"])
        coin.links = {**coin.links, account.id: name}


def link_provider(unit: Unit, ask: Ask) -> Json:
    """Link another account at the provider; return ``{stablecoinProviderAccountId}``."""
    coin = stablecoins.get(unit, ask.params["stablecoinId"])
    added = new_id("StablecoinProviderAccount")
    coin.provider_accounts = [*coin.provider_accounts, added]
    return {"stablecoinProviderAccountId": added}
