"""Bindings of stablecoins."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import (
    Field,
    field_validator,
)

from conformance.contract.judge import error_codes
from conformance.contract.vocabulary import nearest
from conformance.profile.part import ProfilePart

StablecoinRequest = Literal["register", "mint", "burn", "external_mint"]


class StablecoinBindings(ProfilePart):
    """What the specification leaves open of stablecoins."""

    stablecoin: dict[str, Any] = Field(
        default_factory=lambda: {
            "name": "{name}",
            "symbol": "{symbol}",
            "baseCurrency": "USD",
            "network": "SOLANA",
            "decimals": 6,
        },
        description="The body that registers a stablecoin; `{name}` and `{symbol}` are filled in, "
        "and whatever is filled in for a mint.",
    )
    stablecoin_mint: dict[str, Any] = Field(
        default_factory=lambda: {
            "amount": "{digits}",
            "destination": {"accountId": "{accountId}"},
        },
        description="The body of a mint; `{amount}` (10000, or what "
        "`stablecoin_unrepresentable` gives), `{digits}` (the amount as text), "
        "`{accountId}` (an internal account with money, which a mint is paid from or goes to, as "
        "the target has it), `{externalAccountId}` and `{stablecoinProviderAccountId}` are filled "
        "in, and a member whose value there is not is left out.",
    )
    stablecoin_burn: dict[str, Any] = Field(
        default_factory=lambda: {"amount": "{digits}", "source": {"accountId": "{accountId}"}},
        description="The body of a burn, filled in as that of a mint.",
    )
    stablecoin_external_mint: dict[str, Any] | None = Field(
        default_factory=lambda: {
            "amount": "{digits}",
            "destination": {"externalAccountId": "{externalAccountId}"},
        },
        description="The body of a mint to an external account, filled in as that of another mint; "
        "null where there is no such mint.",
    )
    stablecoin_unrepresentable: str | int | float | None = Field(
        None,
        description="An amount that no stablecoin of the target can represent, as `{amount}` of a "
        "mint or a burn; null for none.",
    )
    stablecoin_id: str = Field(
        "id",
        description="The dotted path of what identifies a stablecoin, in answers and in lists.",
    )
    stablecoin_operation_id: str | None = Field(
        "id",
        description="The dotted path of what identifies a mint or a burn, in answers and in "
        "lists; null where it is not told.",
    )
    stablecoin_refusals: dict[str, StablecoinRequest] = Field(
        default_factory=dict,
        description="By the code of a refusal, the request that it comes to where it is not the "
        "usual one: `register`, `mint`, `burn` or `external_mint`.",
    )

    @field_validator("stablecoin_refusals")
    @classmethod
    def _known_codes(cls, refusals: Mapping[str, str]) -> Mapping[str, str]:
        for code in refusals:
            if code not in (known := error_codes()):
                hint = nearest(code, known)
                raise ValueError(
                    f"unknown error code {code!r}" + (f"; the nearest is {hint!r}" if hint else "")
                )
        return refusals
